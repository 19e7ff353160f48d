"""Torsional spring-dampers between two ends: `torsion2` (plane), `torsion3` (space, about a common axis).

Formulation: a moment M = k ((phi0 + phi1)/2 - angle) + c dphi/h over the step, M = k (phi - angle) + c phi' at one
state, on the relative angle phi of end b against end a.  M resists: its work over a step is V1 - V0 + c dphi^2/h.

- Plane: phi is the difference of the (unwrapped) rotations; in the vartheta rows M enters times
  ``kappa = dphi/(vartheta_b - vartheta_a)``, so that its work is M dphi and its resultant zero, exactly.
- Space: phi is the angle of z = (C, S) with C = u.b, S = v.b; u and v are fixed to end a, b to end b, all three across
  the axis (u, v, axis right-handed and orthonormal).  With z0, z1 of lengths n0, n1 and directions e0, e1, the exact
  quotient is  grad phi = dphi/(2 tan(dphi/2)) g.(grad C, grad S)|_m,  g = 2 R90 (e0 + e1)/((n0 + n1)(1 + e0.e1)), and
  grad C|_m on end b is the moment b_m x u_m.  `hist` holds phi at the start of the step, so any number of turns counts.

Limits: |dphi| < pi per step; in space b must not line up with the axis (C = S = 0 has no angle).
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    START,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear
from fem_mbs.elements.kinematics import (
    atan_quotient,
    cayley_tangent,
    cross,
    relative_angle,
    rotate,
    spin,
)
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]


# --- plane -----------------------------------------------------------------------------------------------------------
@kernel
def _force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, damping, rest = par[e, 0], par[e, 1], par[e, 2]
        a, b = dof[e, 2], dof[e, 5]
        dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
        moment = stiffness * (Q[0, b] - Q[0, a] + 0.5 * dphi - rest)
        if one_state:
            moment += damping * (V[1, b] - V[1, a])
            by_rate = damping * ctl[WV] * sf  # also where sk = 0: the mass alone is asked for
        else:
            moment += damping * dphi / h
            by_rate = sk * damping / h
        f[2] = -sf * moment * kappa
        f[5] = sf * moment * kappa
        if job == TANGENT:
            K = ke[e - e0]
            slope = 0.5 * sk * stiffness + by_rate
            kb = slope * kappa / (1 + 0.25 * U[b] * U[b]) + sk * moment * by_b
            ka = -slope * kappa / (1 + 0.25 * U[a] * U[a]) + sk * moment * by_a
            K[2, 2], K[2, 5] = -ka, -kb
            K[5, 2], K[5, 5] = ka, kb


@kernel
def _report2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, damping, rest = par[e, 0], par[e, 1], par[e, 2]
        a, b = dof[e, 2], dof[e, 5]
        phi0 = Q[0, b] - Q[0, a]
        if ctl[RULE] == ONE_STATE:
            dphi = Q[1, b] - Q[1, a] - phi0
            phi = phi0 + dphi
            rate = V[1, b] - V[1, a]
            mean_rate = 0.5 * (rate + V[0, b] - V[0, a])
        else:
            dphi = relative_angle(U[b], U[a])[0]
            phi = phi0 + 0.5 * dphi
            rate = mean_rate = dphi / ctl[H]
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (phi0 + dphi - rest) ** 2
            f[DISSIPATED] = damping * mean_rate * dphi
        else:
            f[0] = stiffness * (phi - rest) + damping * rate
            f[1] = phi0 + dphi


# --- space -----------------------------------------------------------------------------------------------------------
# rows of the array W of vectors (spatial axes): u, v, b at the start of the step, at its end, and their means
_U0, _V0, _B0, _U1, _V1, _B1, _UM, _VM, _BM = 0, 1, 2, 3, 4, 5, 6, 7, 8


@inner
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def _vectors(D, rot, par, e, W):
    """Fills W (9, 3) and returns C0, S0, C1, S1."""
    for state in range(2):
        for i in range(3):
            row, column = 3 * state + i, 3 + 3 * i
            end = 1 if i == 2 else 0
            rotate(D, state, rot[e, end], par[e, column], par[e, column + 1], par[e, column + 2], W[row])
    for i in range(3):
        for j in range(3):
            W[6 + i, j] = 0.5 * (W[i, j] + W[3 + i, j])
    return _dot(W[_U0], W[_B0]), _dot(W[_V0], W[_B0]), _dot(W[_U1], W[_B1]), _dot(W[_V1], W[_B1])


@inner
def _angle_step(U, dof, e, W, c0, s0, c1, s1, mc, ms):
    """mc, ms (3,) = grad C, grad S on end b at mid-step; returns sin and cos of dphi, the sine without cancellation."""
    cross(W[_BM], W[_UM], mc)
    cross(W[_BM], W[_VM], ms)
    dc = ds = 0.0
    for i in range(3):
        theta = U[dof[e, 9 + i]] - U[dof[e, 3 + i]]
        dc += theta * mc[i]
        ds += theta * ms[i]
    nn = math.sqrt((c0 * c0 + s0 * s0) * (c1 * c1 + s1 * s1))
    return (c0 * ds - s0 * dc) / nn, (c0 * c1 + s0 * s1) / nn


@inner
def _nearest(c, s, near):
    """Angle of (c, s), of all its turns the one nearest to `near`."""
    angle = math.atan2(s, c)
    return angle + 2 * math.pi * math.floor((near - angle) / (2 * math.pi) + 0.5)


@kernel
def _force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    W = np.empty((9, 3))
    mc, ms, q, q1, m, wa, wb, x, y = (
        np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3),
        np.empty(3),
    )  # fmt: skip
    T = np.empty((2, 3, 3))
    Z = np.empty((2, 6))  # d(C1, S1)/d(theta_a, theta_b)
    M = np.empty((3, 6))  # d m / d(theta_a, theta_b)
    angle_row, rate_row = np.empty(6), np.empty(6)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, damping, rest = par[e, 0], par[e, 1], par[e, 2]
        c0, s0, c1, s1 = _vectors(D, rot, par, e, W)
        sn, cs = _angle_step(U, dof, e, W, c0, s0, c1, s1, mc, ms)
        dphi = math.atan2(sn, cs)
        n0, n1 = math.sqrt(c0 * c0 + s0 * s0), math.sqrt(c1 * c1 + s1 * s1)
        ex, ey = c1 / n1, s1 / n1  # e1
        hx, hy = c0 / n0 + ex, s0 / n0 + ey  # e0 + e1
        tau = sn / (1 + cs)  # tan(dphi/2)
        quotient, dquotient = atan_quotient(tau)
        beta = 2 * quotient / ((n0 + n1) * (1 + cs))
        gc, gs = -beta * hy, beta * hx  # gradient of phi by C and S
        for i in range(3):
            q[i] = gc * W[_UM, i] + gs * W[_VM, i]
            q1[i] = gc * W[_U1, i] + gs * W[_V1, i]
        cross(W[_BM], q, m)  # gradient of phi by theta_b, minus that by theta_a
        if one_state:
            spin(V, D, dof, rot, 1, e, 0, wa)
            spin(V, D, dof, rot, 1, e, 1, wb)
            moment = stiffness * (_nearest(c1, s1, hist[e, 0]) - rest) + damping * (_dot(wb, m) - _dot(wa, m))
            slope = 0.5 * stiffness
        else:
            moment = stiffness * (hist[e, 0] + 0.5 * dphi - rest) + damping * dphi / h
            slope = 0.5 * stiffness + damping / h
        for i in range(3):
            f[3 + i] = -sf * moment * m[i]
            f[9 + i] = sf * moment * m[i]
        if job != TANGENT:
            continue
        K = ke[e - e0]

        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T[0])
        cayley_tangent(U[dof[e, 9]], U[dof[e, 10]], U[dof[e, 11]], T[1])
        cross(W[_B1], W[_U1], x)  # spin of b -> C1
        cross(W[_B1], W[_V1], y)
        for end in range(2):
            sign = 1.0 if end == 1 else -1.0
            for j in range(3):
                k = 3 * end + j
                Z[0, k] = sign * (x[0] * T[end, 0, j] + x[1] * T[end, 1, j] + x[2] * T[end, 2, j])
                Z[1, k] = sign * (y[0] * T[end, 0, j] + y[1] * T[end, 1, j] + y[2] * T[end, 2, j])
        # d beta = (bx, by).dz1, d e1 = R90 e1 dphi, so that d(gc, gs) = R90 (e0 + e1) d beta - beta e1 dphi
        turn = (0.5 * dquotient / quotient * (1 + tau * tau) + sn / (1 + cs)) / n1
        bx = beta * (-ey * turn - ex / (n0 + n1))
        by = beta * (ex * turn - ey / (n0 + n1))
        for k in range(6):
            angle_row[k] = (ex * Z[1, k] - ey * Z[0, k]) / n1
            dbeta = bx * Z[0, k] + by * Z[1, k]
            dgc = -hy * dbeta - beta * ex * angle_row[k]
            dgs = hx * dbeta - beta * ey * angle_row[k]
            end = 1 if k >= 3 else 0
            for i in range(3):
                x[i] = T[end, i, k - 3 * end]
            if end == 1:  # d b_m x q
                cross(x, W[_B1], y)
                cross(y, q, x)
            else:  # b_m x d q
                cross(x, q1, y)
                cross(W[_BM], y, x)
            for i in range(3):
                M[i, k] = mc[i] * dgc + ms[i] * dgs + 0.5 * x[i]
        for i in range(3):
            for k in range(6):
                entry = sk * (m[i] * slope * angle_row[k] + moment * M[i, k])
                column = k + 3 if k < 3 else k + 6
                K[9 + i, column] = entry
                K[3 + i, column] = -entry
        if one_state and damping != 0:
            # phi' = (w_b - w_a).m;  dw = dtheta x w + WV dtheta, and M is half of dm
            cross(wa, m, x)
            cross(wb, m, y)
            for j in range(3):
                rate_row[j] = -x[j] - ctl[WV] * m[j]
                rate_row[3 + j] = y[j] + ctl[WV] * m[j]
            for k in range(6):
                for i in range(3):
                    rate_row[k] += 2 * (wb[i] - wa[i]) * M[i, k]
            for i in range(3):
                for k in range(6):
                    entry = sf * damping * m[i] * rate_row[k]
                    column = k + 3 if k < 3 else k + 6
                    K[9 + i, column] += entry
                    K[3 + i, column] -= entry


@inner
def _rate3(V, D, dof, rot, state, e, W, c, s, x, y):
    """d phi/dt at a state, with (c, s) = (C, S) there."""
    row = 3 * state
    cross(W[row + 2], W[row], x)  # b x u
    cross(W[row + 2], W[row + 1], y)
    for i in range(3):
        x[i] = (c * y[i] - s * x[i]) / (c * c + s * s)
    spin(V, D, dof, rot, state, e, 1, y)
    rate = _dot(x, y)
    spin(V, D, dof, rot, state, e, 0, y)
    return rate - _dot(x, y)


@kernel
def _report3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    one_state = ctl[RULE] == ONE_STATE
    W = np.empty((9, 3))
    x, y = np.empty(3), np.empty(3)
    for e in range(e0, e1):
        stiffness, damping, rest = par[e, 0], par[e, 1], par[e, 2]
        c0, s0, c1, s1 = _vectors(D, rot, par, e, W)
        if job == START:
            hist[e, 0] = math.atan2(s1, c1)
            continue
        if one_state:
            phi = phi1 = _nearest(c1, s1, hist[e, 0])
            dphi = phi1 - hist[e, 0]
        else:
            sn, cs = _angle_step(U, dof, e, W, c0, s0, c1, s1, x, y)
            dphi = math.atan2(sn, cs)
            phi = hist[e, 0] + 0.5 * dphi
            phi1 = hist[e, 0] + dphi
        if job == COMMIT:
            hist[e, 0] = _nearest(c1, s1, phi1)  # not the sum: round-off must not add up
            continue
        f = fe[e - e0]
        if one_state:
            rate = _rate3(V, D, dof, rot, 1, e, W, c1, s1, x, y)
            mean_rate = 0.5 * (rate + _rate3(V, D, dof, rot, 0, e, W, c0, s0, x, y))
        else:
            rate = mean_rate = dphi / ctl[H]
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (phi1 - rest) ** 2
            f[DISSIPATED] = damping * mean_rate * dphi
        elif job == OUTPUT:
            f[0] = stiffness * (phi - rest) + damping * rate
            f[1] = phi1


_COMMON = ("stiffness [N m/rad]", "damping [N m s/rad]", "angle [rad]")
_OUTPUTS = ("moment [N m]", "angle [rad]")

TYPES = {
    "torsion2": ElementType(
        name="torsion2",
        dimension=2,
        ends=2,
        rotational=True,
        par=_COMMON,
        outputs=_OUTPUTS,
        force=_force2,
        report=_report2,
    ),
    "torsion3": ElementType(
        name="torsion3",
        dimension=3,
        ends=2,
        rotational=True,
        par=(*_COMMON, *(f"{v}{c}" for v in ("u", "v", "b") for c in "xyz")),
        hist=1,
        outputs=_OUTPUTS,
        force=_force3,
        report=_report3,
    ),
}
