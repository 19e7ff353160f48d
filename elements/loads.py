"""Dead loads: `force2`, `force3` at a point, `moment2`, `moment3` on an end.

Formulation: the load is f(t) times a constant vector (fixed in space), f sampled in the middle of a step (at its end by
one-state rules).  A force on an eccentric point P = x + R a enters the rows of (dx, theta) as (F, r_m x F) with the
mean arm r_m, so its work is F.(P1 - P0) exactly.  A plane moment M is conjugate to the angle itself and enters the
vartheta row times dangle/vartheta; its work is M dangle.  A moment vector in space has no potential: over a step it
does the work M.theta (theta the Cayley vector of the step), which is booked; it turns momentum at exactly the rate M.

Parameters: index of the time function (negative: constant, f = 1), vector or moment, offset in body axes.
One-state rules book the mean of f at both ends times the movement.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    RULE,
    SF,
    SK,
    T0,
    T1,
    TANGENT,
    TM,
    inner,
    kernel,
)
from fem_mbs.elements.common import add_arm_tangent, add_force, clear, time_value
from fem_mbs.elements.kinematics import DP, P0, P1, cayley_vector, point, relative_angle
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]


@inner
def _mean_factor(ctl, fun, index):
    """Factor of a load for the work over a step."""
    if ctl[RULE] == ONE_STATE:
        return 0.5 * (time_value(fun, index, T0, 1.0) + time_value(fun, index, T1, 1.0))
    return time_value(fun, index, TM, 1.0)


@kernel
def _force_at_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P = np.empty((5, dim))
    B = np.empty((dim, 3 * (dim - 1)))
    J = np.empty((dim, 3 * (dim - 1)))
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        point(Q, D, U, dof, rot, e, 0, par, 1 + dim, P, B, J)
        factor = time_value(fun, par[e, 0], TM, 1.0)
        force = par[e, 1 : 1 + dim]
        add_force(fe[e - e0], -ctl[SF] * factor, force, B, 0)
        if job == TANGENT:
            add_arm_tangent(ke[e - e0], -ctl[SK] * factor, force, J, 0)


@kernel
def _report_at_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    P = np.empty((5, dim))
    B = np.empty((dim, 3 * (dim - 1)))
    J = np.empty((dim, 3 * (dim - 1)))
    for e in range(e0, e1):
        f = fe[e - e0]
        point(Q, D, U, dof, rot, e, 0, par, 1 + dim, P, B, J)
        factor = _mean_factor(ctl, fun, par[e, 0])
        for i in range(dim):
            movement = P[P1, i] - P[P0, i] if ctl[RULE] == ONE_STATE else P[DP, i]
            f[LOAD_WORK] += factor * par[e, 1 + i] * movement


@kernel
def _moment2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        moment = time_value(fun, par[e, 0], TM, 1.0) * par[e, 1]
        _, kappa, slope, _ = relative_angle(U[dof[e, 2]], 0.0)
        fe[e - e0, 2] = -ctl[SF] * moment * kappa
        if job == TANGENT:
            ke[e - e0, 2, 2] = -ctl[SK] * moment * slope


@kernel
def _report_moment2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    for e in range(e0, e1):
        n = dof[e, 2]
        angle = Q[1, n] - Q[0, n] if ctl[RULE] == ONE_STATE else relative_angle(U[n], 0.0)[0]
        fe[e - e0, LOAD_WORK] = _mean_factor(ctl, fun, par[e, 0]) * par[e, 1] * angle


@kernel
def _moment3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        factor = time_value(fun, par[e, 0], TM, 1.0)
        for i in range(3):
            fe[e - e0, 3 + i] = -ctl[SF] * factor * par[e, 1 + i]


@kernel
def _report_moment3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    theta = np.empty(3)
    for e in range(e0, e1):
        if ctl[RULE] == ONE_STATE:
            cayley_vector(D[0, rot[e, 0]], D[1, rot[e, 0]], theta)
        else:
            for i in range(3):
                theta[i] = U[dof[e, 3 + i]]
        factor = _mean_factor(ctl, fun, par[e, 0])
        for i in range(3):
            fe[e - e0, LOAD_WORK] += factor * par[e, 1 + i] * theta[i]


def _type(name, dimension, par, force, report):
    return ElementType(
        name=name, dimension=dimension, ends=1, rotational=True, par=("function", *par), force=force, report=report
    )


def _names(symbol, unit, axes):
    return tuple(f"{symbol}{c} [{unit}]" for c in axes)


TYPES = {
    t.name: t
    for t in (
        _type("force2", 2, _names("F", "N", "xy") + _names("a", "m", "xy"), _force_at_point, _report_at_point),
        _type("force3", 3, _names("F", "N", "xyz") + _names("a", "m", "xyz"), _force_at_point, _report_at_point),
        _type("moment2", 2, ("M [N m]",), _moment2, _report_moment2),
        _type("moment3", 3, _names("M", "N m", "xyz"), _moment3, _report_moment3),
    )
}
