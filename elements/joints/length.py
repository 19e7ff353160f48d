"""Joints with multipliers on one length or one angle of two shafts: `distance2/3`, `constant_velocity3`.

``distance``           (|P_b - P_a|^2 - l(t)^2)/(2 l0) = 0 with l = l0 + f(t): a rigid or a driven link between points.
                       Quadratic, so its gradient at the mean of both distances is an exact quotient; in metres
``constant_velocity3`` u_a.v_b - v_a.u_b = 0 for the directions u, v across either shaft: both turn by the same angle
                       (both axes have the same angle to the plane that bisects their bend).  At a bend of half a turn
                       the condition vanishes, and beyond it another root begins; an error comes before.  `hist` holds
                       the largest bend since the start, also within steps

f is a time function (a negative index: 0).  A driver that moves g = c(q) - F(t) gives the model the work
-lambda (F1 - F0).  Conventions as in `fem_mbs.elements.joints.basic`.  Outputs: `distance`: the force on end a at its
point, in global axes, and the force along the link, positive in tension; "drive force" on the distance, positive where
it does positive work as the distance grows, and the distance at the end of the step; `constant_velocity3`: the moment
that it exerts on end a.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.compiling.arrays import copy, scratch
from fem_mbs.contract import (
    COMMIT,
    DRIVER_WORK,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    START,
    T0,
    T1,
    TANGENT,
    TWO,
    inner,
    kernel,
)
from fem_mbs.elements.common import add_arm_tangent, add_force, clear, step_multiplier, time_value
from fem_mbs.elements.coordinates import constraint_rows, direction_rows
from fem_mbs.elements.kinematics import P0, P1, cross, point, rotate
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

# columns of par: SCALE of all; FUNCTION, LENGTH and POINTS, both offsets, of `distance`; PAIRS, the vectors u_a, v_b,
# then v_a, u_b, of `constant_velocity3`
SCALE = 0
FUNCTION, LENGTH, POINTS = 1, 2, 3
PAIRS = (1, 7)


# --- distance of two points ------------------------------------------------------------------------------------------
@kernel
def _distance(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    P, B, J = np.empty((2, 5, dim)), np.empty((2, dim, nd)), np.empty((2, dim, nd))
    mean, end = np.empty(dim), np.empty(dim)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        length = par[e, LENGTH]
        scale = par[e, SCALE] / length
        multiplier = scale * U[dof[e, 2 * nd]]
        for k in range(2):
            point(Q, D, U, dof, rot, e, k, par, POINTS + dim * k, P[k], B[k], J[k])
        wanted = length + time_value(fun, par[e, FUNCTION], T1, 0.0)
        g = -0.5 * wanted * wanted
        for i in range(dim):
            end[i] = P[1, P1, i] - P[0, P1, i]
            mean[i] = 0.5 * (end[i] + P[1, P0, i] - P[0, P0, i])
            g += 0.5 * end[i] * end[i]
        f[2 * nd] = scale * g
        for k in range(2):
            sign = 1.0 if k == 1 else -1.0
            add_force(f, sign * multiplier, mean, B[k], k)
            if job != TANGENT:
                continue
            K = ke[e - e0]
            add_arm_tangent(K, ctl[TWO] * sign * multiplier, mean, J[k], k)
            for j in range(nd):
                for i in range(dim):
                    K[k * nd + j, 2 * nd] += sign * scale * mean[i] * B[k, i, j]
                    K[2 * nd, k * nd + j] += sign * scale * end[i] * J[k, i, j]
                for m in range(2):  # the mean distance changes by half of that of the end
                    other = sign if m == 1 else -sign
                    for c in range(nd):
                        for i in range(dim):
                            K[k * nd + j, m * nd + c] += 0.5 * ctl[TWO] * multiplier * other * B[k, i, j] * J[m, i, c]


@kernel
def _report_distance(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    P, B, J = np.empty((2, 5, dim)), np.empty((2, dim, nd)), np.empty((2, dim, nd))
    for e in range(e0, e1):
        f = fe[e - e0]
        index = dof[e, 2 * nd]
        length = par[e, LENGTH]
        if job == LEDGER:
            f0, f1 = time_value(fun, par[e, FUNCTION], T0, 0.0), time_value(fun, par[e, FUNCTION], T1, 0.0)
            moved = (f1 - f0) * (1.0 + 0.5 * (f0 + f1) / length)
            f[DRIVER_WORK] = -step_multiplier(ctl, Q, U, par[e, SCALE], index) * moved
            continue
        start = mean = end = 0.0
        density = par[e, SCALE] / ctl[SF] * U[index] / length
        for k in range(2):
            point(Q, D, U, dof, rot, e, k, par, POINTS + dim * k, P[k], B[k], J[k])
        for i in range(dim):
            d0, d1 = P[1, P0, i] - P[0, P0, i], P[1, P1, i] - P[0, P1, i]
            if ctl[RULE] == ONE_STATE:
                d0 = d1
            middle = 0.5 * (d0 + d1)
            f[i] = density * middle
            start += d0 * d0
            mean += middle * middle
            end += d1 * d1
        f[dim] = density * math.sqrt(mean)
        f[dim + 1] = -0.5 * density * (math.sqrt(start) + math.sqrt(end))
        f[dim + 2] = math.sqrt(end)


# --- constant velocity -----------------------------------------------------------------------------------------------
@kernel
def _constant_velocity(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    W, T = scratch(8, 3), scratch(2, 3, 3)
    row, row1, r, r1 = scratch(12), scratch(12), scratch(12), scratch(12)
    G, g = scratch(12, 12), scratch(12, 12)
    for e in range(e0, e1):
        error = direction_rows(job, D, U, dof, rot, e, par, PAIRS[0], W, T, row, row1, G)
        error -= direction_rows(job, D, U, dof, rot, e, par, PAIRS[1], W, T, r, r1, g)
        for i in range(12):
            row[i] -= r[i]
            if job == TANGENT:
                row1[i] -= r1[i]
                for j in range(12):
                    G[i, j] -= g[i, j]
        constraint_rows(job, ctl, par[e, SCALE], U[dof[e, 12]], error, row, row1, G, fe, ke, e - e0)


@inner
def _shaft(D, rot, par, e, state, T, N, n):
    """Fill n (3,) with the components of the shaft of end b in the triad (u, v, shaft) of end a at a state.

    T (3, 3) and N (3, 3) are work arrays.
    """
    for k in range(2):
        u, v = PAIRS if k == 0 else (PAIRS[1] + 3, PAIRS[0] + 3)
        rotate(D, state, rot[e, k], par[e, u], par[e, u + 1], par[e, u + 2], N[0])
        rotate(D, state, rot[e, k], par[e, v], par[e, v + 1], par[e, v + 2], N[1])
        cross(N[0], N[1], N[2])
        if k == 0:
            copy(N, T)
    for i in range(3):
        n[i] = T[i, 0] * N[2, 0] + T[i, 1] * N[2, 1] + T[i, 2] * N[2, 2]


@inner
def _bend(n):
    return math.atan2(math.sqrt(n[0] * n[0] + n[1] * n[1]), n[2])


@kernel
def _report_constant_velocity(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == START or job == COMMIT:
        T, N, n, mean = scratch(3, 3), scratch(3, 3), scratch(3), scratch(3)
        for e in range(e0, e1):
            _shaft(D, rot, par, e, 0, T, N, mean)
            _shaft(D, rot, par, e, 1, T, N, n)
            for i in range(3):
                mean[i] += n[i]
            seen = max(_bend(n), _bend(mean))
            hist[e, 0] = seen if job == START else max(seen, hist[e, 0])
        return
    if job != OUTPUT:  # does no work: nothing to book
        return
    A, B, C, M = scratch(2, 3), scratch(2, 3), scratch(3), scratch(2, 3)
    for e in range(e0, e1):
        for pair in range(2):
            at = PAIRS[pair]
            for state in range(2):
                rotate(D, state, rot[e, 0], par[e, at], par[e, at + 1], par[e, at + 2], A[state])
                rotate(D, state, rot[e, 1], par[e, at + 3], par[e, at + 4], par[e, at + 5], B[state])
            for i in range(3):
                M[0, i], M[1, i] = A[1, i], B[1, i]
                if ctl[RULE] != ONE_STATE:
                    M[0, i], M[1, i] = 0.5 * (A[0, i] + A[1, i]), 0.5 * (B[0, i] + B[1, i])
            cross(M[1], M[0], C)
            for i in range(3):
                part = par[e, SCALE] / ctl[SF] * U[dof[e, 12]] * C[i]
                fe[e - e0, i] += part if pair == 0 else -part


_BEND = Watch(
    2.6, 3.0, "the bend of the shafts",
    "at half a turn the joint does not constrain their rotation; hold the bend by stops, or take a spherical joint",
    kind="Joint", history=0,
)  # fmt: skip


def _distance_type(dimension):
    axes = "xyz"[:dimension]
    return ElementType(
        name=f"distance{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=("scale", "function", "length [m]", *(f"a{c}_{end} [m]" for end in "ab" for c in axes)),
        multipliers=1,
        scale=0,
        outputs=(*(f"force {c} [N]" for c in axes), "tension [N]", "drive force [N]", "distance [m]"),
        force=_distance,
        report=_report_distance,
    )


TYPES = {
    t.name: t
    for t in (
        _distance_type(2),
        _distance_type(3),
        ElementType(
            name="constant_velocity3",
            dimension=3,
            ends=2,
            rotational=True,
            par=("scale", *(f"{v}{c}" for v in ("u_a", "v_b", "v_a", "u_b") for c in "xyz")),
            multipliers=1,
            scale=0,
            angular=True,
            hist=1,
            watches=(_BEND,),
            outputs=tuple(f"moment {c} [N m]" for c in "xyz"),
            force=_constant_velocity,
            report=_report_constant_velocity,
        ),
    )
}
