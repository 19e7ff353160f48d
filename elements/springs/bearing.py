"""Bearings whose stiffness and damping depend on the speed: `bearing2` (plane), `bearing3` (space).

The force between the nodes a and b is linear in their relative displacement across an axis,

    F = K(Omega) d + C(Omega) d',   d = (e.(x_a - x_b), f.(x_a - x_b)) - d(start),   Omega = n.(w_a - w_b),

with 2x2 matrices that need not be symmetric, by linear interpolation between rows of a table, constant beyond its ends.
The directions e, f, n are fixed in space (in the plane: x, y and the normal), so the element is for housings that do
not rotate.  Omega is the relative spin.  Over a step d is the mean of both ends and

    Omega = (n.theta_a F(|theta_a|/2) - n.theta_b F(|theta_b|/2))/h,   F(u) = atan(u)/u,

the rotation angles of the Cayley vectors along the axis, divided by the step length.

Energy: the symmetric part S of K in the first row of the table has the potential d.S d/2.  The work of K(Omega) - S
comes from the rotation and is booked as that of loads.  The work of C and of the rule's damping is booked as
dissipation, which is negative where C supplies energy.

Parameters: n, e, f (space), d at the start, number of rows, rows (Omega, K row by row, C row by row).
Outputs: forces along e and f (positive where a is displaced so), displacements at the end of the step, Omega.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.kinematics import atan_quotient, spin
from fem_mbs.elements.registry import ElementType

__all__ = ["ROW", "TYPES", "VECTORS"]

ROW = 9  # numbers of a row of the table: speed, K, C


VECTORS = 0  # column of par of n, e and f, in space only; `_start` counts the others


@inner
def _start(dim):
    """Return the column of the displacements at the start; the number of rows follows them, then the rows."""
    return VECTORS if dim == 2 else VECTORS + 9


@inner
def _direction(p, dim, k, i):
    """Return component i of n (k = 0), e (1) or f (2)."""
    if dim == 3:
        return p[VECTORS + 3 * k + i]
    return 1.0 if k == i + 1 else 0.0


@inner
def _matrices(p, dim, speed, K, C, DK, DC):
    """Fill K, C (2, 2) at a speed, and DK, DC with their derivatives by the speed."""
    first = _start(dim) + 3
    n = int(p[first - 1])
    row, part, by = first, 0.0, 0.0
    if n > 1 and speed > p[first]:
        low, high = 0, n - 1
        while low < high - 1:
            middle = (low + high) // 2
            if speed >= p[first + ROW * middle]:
                low = middle
            else:
                high = middle
        row = first + ROW * low
        by = 1.0 / (p[row + ROW] - p[row])
        part = (speed - p[row]) * by
        if part > 1.0:
            part, by = 1.0, 0.0
    following = row + ROW if n > 1 else row
    for i in range(2):
        for j in range(2):
            at = 1 + 2 * i + j
            K[i, j] = p[row + at] + part * (p[following + at] - p[row + at])
            DK[i, j] = by * (p[following + at] - p[row + at])
            at += 4
            C[i, j] = p[row + at] + part * (p[following + at] - p[row + at])
            DC[i, j] = by * (p[following + at] - p[row + at])


@inner
def _reference(p, dim, S):
    """Fill S with the symmetric part of K in the first row of the table."""
    first = _start(dim) + 3
    S[0, 0], S[1, 1] = p[first + 1], p[first + 4]
    S[0, 1] = S[1, 0] = 0.5 * (p[first + 2] + p[first + 3])


@inner
def _across(p, dim, x, dof, d):
    """Write e.(x_a - x_b) and f.(x_a - x_b) to d."""
    n = 3 * (dim - 1)
    for k in range(2):
        d[k] = 0.0
        for i in range(dim):
            d[k] += _direction(p, dim, k + 1, i) * (x[dof[i]] - x[dof[n + i]])


@inner
def _spin_at(p, dim, V, D, dof, rot, e, state, x, y):
    """Return the relative spin at a state; x, y get the angular velocities of a and b (space)."""
    if dim == 2:
        return V[state, dof[e, 2]] - V[state, dof[e, 5]]
    spin(V, D, dof, rot, state, e, 0, x)
    spin(V, D, dof, rot, state, e, 1, y)
    speed = 0.0
    for i in range(3):
        speed += p[i] * (x[i] - y[i])
    return speed


@inner
def _turned(p, dim, U, dof, end, slope):
    """Return the angle by which an end turns about the axis over the step.

    ``slope`` (1 or 3) gets its derivative by the Cayley vector.
    """
    if dim == 2:
        v = U[dof[3 * end + 2]]
        slope[0] = 1 / (1 + 0.25 * v * v)
        return v * atan_quotient(0.5 * v)[0]
    along, square = 0.0, 0.0
    for i in range(3):
        v = U[dof[6 * end + 3 + i]]
        along += p[i] * v
        square += v * v
    u = 0.5 * np.sqrt(square)
    f, df = atan_quotient(u)
    by = -2 / 3 if u < 1e-8 else df / u  # (d F/d theta) = F'(u)/u theta/4
    for i in range(3):
        slope[i] = f * p[i] + 0.25 * by * along * U[dof[6 * end + 3 + i]]
    return along * f


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    turns = n - dim
    one_state = ctl[RULE] == ONE_STATE
    h = ctl[H]
    K, C, S, DK, DC = scratch(2, 2), scratch(2, 2), scratch(2, 2), scratch(2, 2), scratch(2, 2)
    d, d1, rate, F, by_speed = scratch(2), scratch(2), scratch(2), scratch(2), scratch(2)
    x, y = scratch(3), scratch(3)
    slope = np.zeros(2 * turns)
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        start = _start(dim)
        if one_state:
            speed = _spin_at(p, dim, V, D, dof, rot, e, 1, x, y)
            _across(p, dim, V[1], dof[e], rate)
        else:
            speed = _turned(p, dim, U, dof[e], 0, slope[:turns]) / h
            speed -= _turned(p, dim, U, dof[e], 1, slope[turns:]) / h
            _across(p, dim, U, dof[e], rate)
            for k in range(2):
                rate[k] /= h
        _across(p, dim, Q[0], dof[e], d)
        _across(p, dim, Q[1], dof[e], d1)
        _matrices(p, dim, speed, K, C, DK, DC)
        _reference(p, dim, S)
        for k in range(2):
            d[k] = 0.5 * (d[k] + d1[k]) - p[start + k]
        for k in range(2):
            F[k], by_speed[k] = 0.0, 0.0
            for m in range(2):
                C[k, m] += ctl[DECAY] * S[k, m]
                F[k] += K[k, m] * d[m] + C[k, m] * rate[m]
                by_speed[k] += DK[k, m] * d[m] + DC[k, m] * rate[m]
        for i in range(n):
            f[i] = f[n + i] = 0.0
        for i in range(dim):
            total = 0.0
            for k in range(2):
                total += F[k] * _direction(p, dim, k + 1, i)
            f[i], f[n + i] = ctl[SF] * total, -ctl[SF] * total
        if job != TANGENT:
            continue
        T = ke[e - e0]
        for i in range(2 * n):
            for j in range(2 * n):
                T[i, j] = 0.0
        by_rate = ctl[WV] if one_state else 1 / h
        for i in range(dim):
            for j in range(dim):
                total = 0.0
                for k in range(2):
                    for m in range(2):
                        c = 0.5 * ctl[SK] * K[k, m] + ctl[SF] * by_rate * C[k, m]
                        total += _direction(p, dim, k + 1, i) * c * _direction(p, dim, m + 1, j)
                T[i, j] = T[n + i, n + j] = total
                T[i, n + j] = T[n + i, j] = -total
        if one_state:  # d(n.w) = n.(WV theta + theta x w)
            for end in range(2):
                sign = 1.0 if end == 0 else -1.0
                if dim == 2:
                    slope[end] = sign * ctl[WV]
                    continue
                w = x if end == 0 else y
                for i in range(3):
                    j, k = (i + 1) % 3, (i + 2) % 3
                    slope[3 * end + i] = sign * (ctl[WV] * p[i] + w[j] * p[k] - w[k] * p[j])
        else:
            for i in range(turns):
                slope[i] /= h
                slope[turns + i] /= -h
        for i in range(dim):
            total = 0.0
            for k in range(2):
                total += by_speed[k] * _direction(p, dim, k + 1, i)
            for end in range(2):
                for j in range(turns):
                    T[i, n * end + dim + j] = ctl[SF] * total * slope[turns * end + j]
                    T[n + i, n * end + dim + j] = -ctl[SF] * total * slope[turns * end + j]


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    turns = 1 if dim == 2 else 3
    one_state = ctl[RULE] == ONE_STATE
    K, C, S, DK, DC = scratch(2, 2), scratch(2, 2), scratch(2, 2), scratch(2, 2), scratch(2, 2)
    d0, d1, change, rate, elastic, damping = (
        scratch(2),
        scratch(2),
        scratch(2),
        scratch(2),
        cleared(2),
        cleared(2),
    )
    x, y, slope = scratch(3), scratch(3), np.empty(turns)
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        start = _start(dim)
        _reference(p, dim, S)
        _across(p, dim, Q[0], dof[e], d0)
        if one_state:
            _across(p, dim, Q[1], dof[e], d1)
            for k in range(2):
                d0[k] -= p[start + k]
                d1[k] -= p[start + k]
                change[k] = d1[k] - d0[k]
                elastic[k] = damping[k] = 0.0
        else:
            _across(p, dim, U, dof[e], change)
            for k in range(2):
                d0[k] -= p[start + k]
                d1[k] = d0[k] + change[k]
                elastic[k] = damping[k] = 0.0
        speed = 0.0
        # one state: works by the trapezoidal rule, from the forces of both ends; else the force of the step
        for state in range(0 if one_state and job == LEDGER else 1, 2):
            weight = 0.5 if one_state and job == LEDGER else 1.0
            if one_state:
                speed = _spin_at(p, dim, V, D, dof, rot, e, state, x, y)
                _across(p, dim, V[state], dof[e], rate)
            else:
                speed = _turned(p, dim, U, dof[e], 0, slope) / ctl[H]
                speed -= _turned(p, dim, U, dof[e], 1, slope) / ctl[H]
                for k in range(2):
                    rate[k] = change[k] / ctl[H]
            _matrices(p, dim, speed, K, C, DK, DC)
            for k in range(2):
                for m in range(2):
                    at = 0.5 * (d0[m] + d1[m])
                    if one_state:
                        at = d1[m] if state == 1 else d0[m]
                    elastic[k] += weight * K[k, m] * at
                    damping[k] += weight * (C[k, m] + ctl[DECAY] * S[k, m]) * rate[m]
        for k in range(2):
            if job == OUTPUT:
                f[k], f[2 + k] = elastic[k] + damping[k], d1[k]
                continue
            conservative, stress = 0.0, 0.0
            for m in range(2):
                conservative += 0.5 * S[k, m] * (d0[m] + d1[m])
                stress += S[k, m] * d1[m]
            f[STRAIN] += 0.5 * stress * d1[k]
            f[LOAD_WORK] -= (elastic[k] - conservative) * change[k]
            f[DISSIPATED] += damping[k] * change[k]
        if job == OUTPUT:
            f[4] = speed


def _linear(dim: int, par: np.ndarray) -> bool:
    """Return whether no table of these bearings has more than one row: directions are fixed in space."""
    return bool((par[:, _start(dim) + 2] == 1.0).all())


def _type(dim):
    directions = tuple(f"{v}{c}" for v in "nef" for c in "xyz") if dim == 3 else ()
    pairs = ("uu", "uv", "vu", "vv")
    return ElementType(
        name=f"bearing{dim}",
        dimension=dim,
        ends=2,
        rotational=True,
        par=(
            *directions, "start u [m]", "start v [m]", "rows", "speed [rad/s]",
            *(f"K{p} [N/m]" for p in pairs),
            *(f"C{p} [N s/m]" for p in pairs),
        ),
        outputs=("force u [N]", "force v [N]", "displacement u [m]", "displacement v [m]", "speed [rad/s]"),
        force=_force,
        report=_report,
        tables=True,
        linear=partial(_linear, dim),
    )  # fmt: skip


TYPES = {f"bearing{dim}": _type(dim) for dim in (2, 3)}
