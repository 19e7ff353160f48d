"""Forces of users' Python functions: `user_length`, `user_offset`, `user_angle` on a coordinate of two ends,
`user_point` on a point.

Python calls the function outside the compiled loop, at every iterate (`fem_mbs.system.callbacks`).  Its arguments come
from the report job SAMPLE: coordinate and rate, or position and velocity, in the middle of the step (one-state rules:
at its end), and the time.  Its value comes back in `hist`, as a linear law about the arguments q*, q'*,

    F = F* + Fq (q - q*) + Fv (q' - q'*),

so that kernels, tangents and ledger see the same smooth force; at the converged iterate it is the function's value.
Its work F (q1 - q0), F.(P1 - P0) of a point, is booked as that of loads.

Ends as in `fem_mbs.elements.joints.coordinate`; a point is eccentric in its end.  Outputs: the force on the coordinate
or point; the coordinate at the end of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SAMPLE,
    SF,
    START,
    T1,
    TANGENT,
    TM,
    WV,
    H,
    inline,
    inner,
    kernel,
)
from fem_mbs.elements.common import add_arm_tangent, add_force, clear, time_value
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate
from fem_mbs.elements.registry import ElementType

__all__ = ["CALLBACK", "FORCE_AT", "TYPES", "rate_gradient"]

START_VALUE, CALLBACK, CLOCK = range(3)  # columns of par of a force on a coordinate
POINT = 0  # column of par of a force on a point: its offset, callback and clock follow
# columns of hist of a force on a coordinate; column 0 is the angle at the start of the step
FORCE_AT, COORDINATE_AT, RATE_AT, BY_COORDINATE, BY_RATE = range(1, 6)


# --- on a coordinate -------------------------------------------------------------------------------------------------
@inner
def _law(hist, e, q, rate):
    force = hist[e, FORCE_AT] + hist[e, BY_COORDINATE] * (q - hist[e, COORDINATE_AT])
    return force + hist[e, BY_RATE] * (rate - hist[e, RATE_AT])


@inline
def user_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    force = _law(hist, e, 0.5 * (s0 + s1) - par[e, START_VALUE], rate)
    return -force, -hist[e, BY_COORDINATE], -hist[e, BY_RATE]


@inner
def user_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    one_state = ctl[RULE] == ONE_STATE
    q = (s1 if one_state else 0.5 * (s0 + s1)) - par[e, START_VALUE]
    force = _law(hist, e, q, rate1)
    if job == LEDGER:
        if one_state:  # work by the trapezoidal rule
            before = _law(hist, e, s0 - par[e, START_VALUE], rate0)
            f[LOAD_WORK] = 0.5 * (before + force) * ds
        else:
            f[LOAD_WORK] = force * ds
    elif job == OUTPUT:
        f[0] = force
        f[1] = s1
    elif job == SAMPLE:
        f[0], f[1] = q, rate1
        f[2] = time_value(fun, par[e, CLOCK], T1 if one_state else TM, 0.0)


# --- on a point ------------------------------------------------------------------------------------------------------
@inner
def _point_law(hist, e, dim, x, v, out):
    """Fill out (dim,) with F* + Fx (x - x*) + Fv (v - v*)."""
    for i in range(dim):
        out[i] = hist[e, i]
        for j in range(dim):
            out[i] += hist[e, 3 * dim + i * dim + j] * (x[j] - hist[e, dim + j])
            out[i] += hist[e, (3 + dim) * dim + i * dim + j] * (v[j] - hist[e, 2 * dim + j])


@inner
def rate_gradient(ctl, J, w, dv):
    """Fill dv (dim, n) with the derivative of the velocity of the point: J/h, or WV J + dtheta x (w x r) at a state."""
    one_state = ctl[RULE] == ONE_STATE
    for i in range(J.shape[0]):
        for j in range(J.shape[1]):
            dv[i, j] = (ctl[WV] if one_state else 1 / ctl[H]) * J[i, j]
    if not one_state:
        return
    if J.shape[0] == 2:
        dv[0, 2] -= w[1]
        dv[1, 2] += w[0]
        return
    dv[0, 4] += w[2]
    dv[0, 5] -= w[1]
    dv[1, 5] += w[0]
    dv[1, 3] -= w[2]
    dv[2, 3] += w[1]
    dv[2, 4] -= w[0]


@kernel
def _force_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    one_state = ctl[RULE] == ONE_STATE
    P, B, J = np.empty((5, dim)), np.empty((dim, n)), np.empty((dim, n))
    x, v, w, F = np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    dv = np.empty((dim, n))
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        point(Q, D, U, dof, rot, e, 0, par, POINT, P, B, J)
        if one_state:
            point_rate(V, D, dof, rot, 1, e, 0, P[R1], v, w)
        for i in range(dim):
            x[i] = 0.5 * (P[P0, i] + P[P1, i])
            if not one_state:
                v[i] = P[DP, i] / ctl[H]
        _point_law(hist, e, dim, x, v, F)
        add_force(fe[e - e0], -ctl[SF], F, B, 0)
        if job != TANGENT:
            continue
        K = ke[e - e0]
        # dx = J/2 (one-state: J)
        rate_gradient(ctl, J, w, dv)
        by_x = 1.0 if one_state else 0.5
        for i in range(n):
            for j in range(n):
                total = 0.0
                for p in range(dim):
                    for r in range(dim):
                        part = by_x * hist[e, 3 * dim + p * dim + r] * J[r, j]
                        part += hist[e, (3 + dim) * dim + p * dim + r] * dv[r, j]
                        total += B[p, i] * part
                K[i, j] = -ctl[SF] * total
        # in one-state rules the arm changes by its full derivative, not by half
        add_arm_tangent(K, -ctl[SF] * (2.0 if one_state else 1.0), F, J, 0)


@kernel
def _report_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == START or job == COMMIT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    one_state = ctl[RULE] == ONE_STATE
    P, B, J = np.empty((5, dim)), np.empty((dim, n)), np.empty((dim, n))
    x, v, w, F, before = np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        point(Q, D, U, dof, rot, e, 0, par, POINT, P, B, J)
        if one_state:
            point_rate(V, D, dof, rot, 0, e, 0, P[R0], v, w)
            _point_law(hist, e, dim, P[P0], v, before)
            point_rate(V, D, dof, rot, 1, e, 0, P[R1], v, w)
        for i in range(dim):
            x[i] = P[P1, i] if one_state else 0.5 * (P[P0, i] + P[P1, i])
            if not one_state:
                v[i] = P[DP, i] / ctl[H]
        _point_law(hist, e, dim, x, v, F)
        if job == LEDGER:
            for i in range(dim):
                if one_state:
                    f[LOAD_WORK] += 0.5 * (before[i] + F[i]) * (P[P1, i] - P[P0, i])
                else:
                    f[LOAD_WORK] += F[i] * P[DP, i]
        elif job == OUTPUT:
            for i in range(dim):
                f[i] = F[i]
        elif job == SAMPLE:
            for i in range(dim):
                f[i], f[dim + i] = x[i], v[i]
            f[2 * dim] = time_value(fun, par[e, POINT + dim + 1], T1 if one_state else TM, 0.0)


_LAW = Law(
    par=lambda s: (f"start [{s.unit}]", "callback", "clock"),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]"),
    force=user_force,
    report=user_report,
    memory=5,
)


def _point_type(dimension):
    axes = "xyz"[:dimension]
    return ElementType(
        name=f"user_point{dimension}",
        dimension=dimension,
        ends=1,
        rotational=True,
        par=(*(f"a{c} [m]" for c in axes), "callback", "clock"),
        hist=3 * dimension + 2 * dimension**2,
        outputs=tuple(f"force {c} [N]" for c in axes),
        force=_force_point,
        report=_report_point,
    )


TYPES = {
    f"user_{name}{d}": coordinate_force(f"user_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("length", LENGTH), ("offset", OFFSET), ("angle", ANGLE))
    for d in (2, 3)
} | {f"user_point{d}": _point_type(d) for d in (2, 3)}
