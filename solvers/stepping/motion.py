"""Configuration, velocities and directors at the end of a step from the unknowns U, and the first guess of U."""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.contract import inline, inner, kernel
from fem_mbs.solvers.stepping.assembly import share
from fem_mbs.solvers.stepping.layout import (
    ALPHA_F,
    ALPHA_M,
    BETA,
    GAMMA,
    HISTORY,
    MULTIPLIER,
    ORDER,
    POSITION,
    PREDICTOR,
    ROTATION,
    RULE_KIND,
    STATE,
    STATIC,
)
from fem_mbs.solvers.stepping.predictor import turn_parts, weights_of


@inline
def configure(system, state, one_state):
    """Set the configuration at the end of the step from U: positions, directors, and in one-state rules angles."""
    Q, D, U = state.Q, state.D, state.U
    for k in system.positions:
        Q[1, k] = Q[0, k] + U[k]
    for k in system.states:
        Q[1, k] = Q[0, k] + U[k]
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if plane:
            k = system.rotations[i, 0]
            u = 0.5 * U[k]
            f = 1.0 / (1.0 + u * u)
            c, s = (1.0 - u * u) * f, 2.0 * u * f
            a, b = D[0, i, 0], D[0, i, 1]
            D[1, i, 0], D[1, i, 1] = c * a - s * b, s * a + c * b
            if one_state:
                Q[1, k] = Q[0, k] + 2.0 * np.arctan(u)
        else:
            x, y, z = U[system.rotations[i, 0]], U[system.rotations[i, 1]], U[system.rotations[i, 2]]
            f = 1.0 / (1.0 + 0.25 * (x * x + y * y + z * z))
            # cay = I + f (t~ + t~^2/2)
            for j in range(3):
                a, b, c = D[0, i, j], D[0, i, 3 + j], D[0, i, 6 + j]
                p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
                D[1, i, j] = a + f * (p + 0.5 * (y * r - z * q))
                D[1, i, 3 + j] = b + f * (q + 0.5 * (z * p - x * r))
                D[1, i, 6 + j] = c + f * (r + 0.5 * (x * q - y * p))


@inner
def velocities(system, state, h, real, newmark):
    """Set the velocities (and accelerations of Newmark's family) at the end of the step.

    u = h v0 + h^2 ((1/2 - beta) a0 + beta a1) and v1 = v0 + h ((1 - gamma) a0 + gamma a1) with the algorithmic
    acceleration a of (1 - am) a1 + am a0 = (1 - af) dv/dt_1 + af dv/dt_0 (Arnold & Bruels 2007, eqs 9-11).
    """
    D, V, U = state.D, state.V, state.U
    beta, gamma = real[BETA], real[GAMMA]
    # mid-point: v1 = 2 u/h - v0, which is Newmark's formula with gamma/beta = 2
    f = gamma / (beta * h)
    g = 1.0 - gamma / beta
    ga = h * (1.0 - 0.5 * gamma / beta) if newmark else 0.0
    fa = (1.0 - real[ALPHA_M]) / (1.0 - real[ALPHA_F])
    f0 = real[ALPHA_M] / (1.0 - real[ALPHA_F])
    fv = real[ALPHA_F] / (1.0 - real[ALPHA_F])
    for k in system.positions:
        if newmark:
            a0 = state.past[2, k]
            a = U[k] / (beta * h * h) - V[0, k] / (beta * h) - (0.5 / beta - 1.0) * a0
            V[1, k] = f * U[k] + g * V[0, k] + ga * a0
            V[2, k] = fa * a + f0 * a0 - fv * state.past[3, k]
        else:
            V[1, k] = f * U[k] + g * V[0, k]
    for k in system.states:
        V[1, k] = f * U[k] + g * V[0, k]
        if newmark:
            a0 = state.past[2, k]
            a = U[k] / (beta * h * h) - V[0, k] / (beta * h) - (0.5 / beta - 1.0) * a0
            V[1, k] += ga * a0
            V[2, k] = fa * a + f0 * a0 - fv * state.past[3, k]
    nr = system.rotations.shape[1]
    for i in range(system.rotations.shape[0]):
        for j in range(nr):
            k = system.rotations[i, j]
            # W in body axes: the Cayley vector keeps its components through its own rotation
            u = U[k]
            if nr == 3:
                u = (
                    D[0, i, j] * U[system.rotations[i, 0]]
                    + D[0, i, 3 + j] * U[system.rotations[i, 1]]
                    + D[0, i, 6 + j] * U[system.rotations[i, 2]]
                )
            V[1, k] = f * u + g * V[0, k]
            if newmark:
                a0 = state.past[2, k]
                a = u / (beta * h * h) - V[0, k] / (beta * h) - (0.5 / beta - 1.0) * a0
                V[1, k] += ga * a0
                V[2, k] = fa * a + f0 * a0 - fv * state.past[3, k]


@kernel
def director_velocities(system, state, h, newmark):
    """Set the rates of directors at the end: by the mid-point recursion, or omega x d in one-state rules."""
    D, V, DD = state.D, state.V, state.DD
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if not newmark:
            for j in range(D.shape[2]):
                DD[1, i, j] = 2.0 * (D[1, i, j] - D[0, i, j]) / h - DD[0, i, j]
        elif plane:
            w = V[1, system.rotations[i, 0]]
            DD[1, i, 0], DD[1, i, 1] = -w * D[1, i, 1], w * D[1, i, 0]
        else:
            a, b, c = (
                V[1, system.rotations[i, 0]],
                V[1, system.rotations[i, 1]],
                V[1, system.rotations[i, 2]],
            )
            for j in range(3):
                x, y, z = D[1, i, 3 * j], D[1, i, 3 * j + 1], D[1, i, 3 * j + 2]
                # row j of R W~
                DD[1, i, 3 * j], DD[1, i, 3 * j + 1], DD[1, i, 3 * j + 2] = y * c - z * b, z * a - x * c, x * b - y * a


@inner
def normalise(system, D):
    """Make the directors of row 1 orthonormal again, up to the square of their round-off."""
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if plane:
            c, s = D[1, i, 0], D[1, i, 1]
            f = 1.5 - 0.5 * (c * c + s * s)
            D[1, i, 0], D[1, i, 1] = f * c, f * s
        else:
            # one Newton step of the polar decomposition: R (3 I - R^T R)/2
            R = D[1, i]
            g00 = R[0] * R[0] + R[3] * R[3] + R[6] * R[6]
            g11 = R[1] * R[1] + R[4] * R[4] + R[7] * R[7]
            g22 = R[2] * R[2] + R[5] * R[5] + R[8] * R[8]
            g01 = R[0] * R[1] + R[3] * R[4] + R[6] * R[7]
            g02 = R[0] * R[2] + R[3] * R[5] + R[6] * R[8]
            g12 = R[1] * R[2] + R[4] * R[5] + R[7] * R[8]
            for j in range(3):
                a, b, c = R[3 * j], R[3 * j + 1], R[3 * j + 2]
                R[3 * j] = 1.5 * a - 0.5 * (a * g00 + b * g01 + c * g02)
                R[3 * j + 1] = 1.5 * b - 0.5 * (a * g01 + b * g11 + c * g12)
                R[3 * j + 2] = 1.5 * c - 0.5 * (a * g02 + b * g12 + c * g22)


@inner
def predict(system, state, ctl, fun, counter, real):
    """Set the first guess of U, and the given increments of driven dofs."""
    U, past, Q, V, D = state.U, state.past, state.Q, state.V, state.D
    h = ctl[C.H]
    kind = counter[PREDICTOR]
    history = counter[HISTORY]
    if kind >= 2 and history == 0:
        kind = 1
    elif kind == 3 and history == 1:
        kind = 2
    still = counter[RULE_KIND] == STATIC
    c0, c1, c2, c3 = weights_of(max(real[ORDER], 2.0))
    for k in system.unknown:
        if system.kind[k] == MULTIPLIER:
            U[k] = ctl[C.SF] * Q[0, k]  # the last multipliers are the best guess
            continue
        if still or kind == 0:
            U[k] = 0.0
        elif kind == 2:
            U[k] = past[0, k]
        elif kind == 3:
            U[k] = c0 * past[0, k] + c1 * past[1, k] + c2 * past[2, k] + c3 * past[3, k]
        else:
            U[k] = h * V[0, k]
    if kind == 1 and not still and system.rotations.shape[1] == 3:
        for i in range(system.rotations.shape[0]):
            a, b, c = system.rotations[i, 0], system.rotations[i, 1], system.rotations[i, 2]
            for j in range(3):
                k = system.rotations[i, j]
                if system.equation[k] >= 0:
                    U[k] = h * (D[0, i, 3 * j] * V[0, a] + D[0, i, 3 * j + 1] * V[0, b] + D[0, i, 3 * j + 2] * V[0, c])
    if kind == 3 and not still:
        turn_parts(system, Q, past, U)
    for i in range(system.driven.size):
        k = system.driven[i]
        step = system.driven_reference[i] + fun[system.driver[i], C.T1] - Q[0, k]
        U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, U)


@inline
def update(system, state, one_state):
    """Add the increment in ``rhs`` to U; return the largest displacement in it, and the largest rotation or relative
    change of a state variable."""
    U, x = state.U, state.rhs
    size_x, size_t = 0.0, 0.0
    for i in range(x.size):
        k = system.unknown[i]
        d = x[i]
        kind = system.kind[k]
        if kind == ROTATION and one_state:
            continue
        U[k] += d
        if kind == POSITION:
            size_x = max(size_x, abs(d))
            if np.isnan(d):
                size_x = np.nan
        elif kind == ROTATION:
            size_t = max(size_t, abs(d))
            if np.isnan(d):
                size_t = np.nan
        elif kind == STATE:
            size_t = max(size_t, abs(d) / max(1.0, abs(state.Q[1, k])))
            if np.isnan(d):
                size_t = np.nan
    if one_state:
        # increments are spins at the current state: compose them with the rotation of the step
        nr = system.rotations.shape[1]
        for i in range(system.rotations.shape[0]):
            if nr == 1:
                k = system.rotations[i, 0]
                j = system.equation[k]
                if j >= 0:
                    d = x[j]
                    size_t = max(size_t, abs(d))
                    U[k] = (U[k] + d) / (1.0 - 0.25 * U[k] * d)
            else:
                ka, kb, kc = system.rotations[i, 0], system.rotations[i, 1], system.rotations[i, 2]
                ja, jb, jc = system.equation[ka], system.equation[kb], system.equation[kc]
                a = x[ja] if ja >= 0 else 0.0
                b = x[jb] if jb >= 0 else 0.0
                c = x[jc] if jc >= 0 else 0.0
                p, q, r = U[ka], U[kb], U[kc]
                size_t = max(size_t, abs(a), abs(b), abs(c))
                f = 1.0 / (1.0 - 0.25 * (a * p + b * q + c * r))
                U[ka] = f * (a + p + 0.5 * (b * r - c * q))
                U[kb] = f * (b + q + 0.5 * (c * p - a * r))
                U[kc] = f * (c + r + 0.5 * (a * q - b * p))
    share(system, U)
    return size_x, size_t
