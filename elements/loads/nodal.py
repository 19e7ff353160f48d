"""Loads: dead forces `force2/3` and follower forces `follower2/3` at a point, moments `moment2/3`, `line_load2/3`.

Formulation: the load is f(t) times a constant vector (fixed in space), f sampled in the middle of a step (at its end by
one-state rules).  A force on an eccentric point P = x + R a enters the rows of (dx, theta) as (F, r_m x F) with the
mean arm r_m, so its work is F.(P1 - P0) exactly.  A plane moment M is conjugate to the angle itself and enters the
vartheta row times dangle/vartheta; its work is M dangle.

- A follower force rotates with its end: over a step R_m F, R_m the mean of the rotation matrices at both its ends.
- A moment in space is f (M + R_m B): M fixed in direction (axial), B fixed in the body (follower); half and half is
  semitangential (Ziegler, Principles of structural stability, 1968): its virtual work to second order is that of the
  rotation vector, so its load stiffness is symmetric.  It has no potential in general; over a step it does the work
  m.theta (theta the Cayley vector of the step), which is booked, and changes angular momentum at exactly the rate m.
- A line load is a constant force on each coordinate y of a beam's elastic line (positions and directors of both ends,
  in the plane positions and axes e): its potential is linear in y, so its work is exact.

Parameters: index of the time function (negative: constant, f = 1), vector or moment, offset in body axes.
One-state rules book the mean of f at both ends times the movement.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
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
from fem_mbs.elements.kinematics import (
    DP,
    P0,
    P1,
    R0,
    R1,
    cayley_tangent,
    cayley_vector,
    cross,
    point,
    relative_angle,
    rotate,
)
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: FUNCTION of all; LOAD, force or moment, and after a force the offset of its point; BODY_MOMENT of
# `moment3`; AXIS and its ends, LINE2, of `line_load2`; LINE3, both ends, of `line_load3`
FUNCTION, LOAD, BODY_MOMENT = 0, 1, 4
AXIS, LINE2, LINE3 = 1, 3, 1


@inner
def _mean_factor(ctl, fun, index):
    """Return the factor of a load for its work over a step."""
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
        point(Q, D, U, dof, rot, e, 0, par, LOAD + dim, P, B, J)
        factor = time_value(fun, par[e, FUNCTION], TM, 1.0)
        force = par[e, LOAD : LOAD + dim]
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
        point(Q, D, U, dof, rot, e, 0, par, LOAD + dim, P, B, J)
        factor = _mean_factor(ctl, fun, par[e, FUNCTION])
        for i in range(dim):
            movement = P[P1, i] - P[P0, i] if ctl[RULE] == ONE_STATE else P[DP, i]
            f[LOAD_WORK] += factor * par[e, LOAD + i] * movement


@kernel
def _moment2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        moment = time_value(fun, par[e, FUNCTION], TM, 1.0) * par[e, LOAD]
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
        fe[e - e0, LOAD_WORK] = _mean_factor(ctl, fun, par[e, FUNCTION]) * par[e, LOAD] * angle


@inner
def _mean_turned(D, row, par, e, column, out):
    """Fill out (3,) with the mean of R (par[e, column:]) at both ends of the step."""
    x, y, z = par[e, column], par[e, column + 1], par[e, column + 2]
    for i in range(3):
        out[i] = 0.5 * (
            (D[0, row, 3 * i] + D[1, row, 3 * i]) * x
            + (D[0, row, 3 * i + 1] + D[1, row, 3 * i + 1]) * y
            + (D[0, row, 3 * i + 2] + D[1, row, 3 * i + 2]) * z
        )


@kernel
def _moment3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    m, b, s, t = scratch(3), scratch(3), scratch(3), scratch(3)
    T = scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        factor = time_value(fun, par[e, FUNCTION], TM, 1.0)
        _mean_turned(D, rot[e, 0], par, e, BODY_MOMENT, m)
        for i in range(3):
            fe[e - e0, 3 + i] = -ctl[SF] * factor * (par[e, LOAD + i] + m[i])
        if job != TANGENT:
            continue
        rotate(D, 1, rot[e, 0], par[e, BODY_MOMENT], par[e, BODY_MOMENT + 1], par[e, BODY_MOMENT + 2], b)
        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T)
        for j in range(3):
            s[0], s[1], s[2] = T[0, j], T[1, j], T[2, j]
            cross(s, b, t)
            for i in range(3):
                ke[e - e0, 3 + i, 3 + j] = -0.5 * ctl[SK] * factor * t[i]


@kernel
def _report_moment3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    theta, m = scratch(3), scratch(3)
    for e in range(e0, e1):
        if ctl[RULE] == ONE_STATE:
            cayley_vector(D[0, rot[e, 0]], D[1, rot[e, 0]], theta)
        else:
            for i in range(3):
                theta[i] = U[dof[e, 3 + i]]
        factor = _mean_factor(ctl, fun, par[e, FUNCTION])
        _mean_turned(D, rot[e, 0], par, e, BODY_MOMENT, m)
        for i in range(3):
            fe[e - e0, LOAD_WORK] += factor * (par[e, LOAD + i] + m[i]) * theta[i]


# --- follower forces -------------------------------------------------------------------------------------------------
@inner
def _follower_vectors(D, row, par, e, dim, mean, end):
    """Fill ``mean`` and ``end`` with the force, rotated with the end: the mean over the step, and the force at its
    end."""
    if dim == 3:
        _mean_turned(D, row, par, e, LOAD, mean)
        rotate(D, 1, row, par[e, LOAD], par[e, LOAD + 1], par[e, LOAD + 2], end)
        return
    for state in range(2):
        c, s = D[state, row, 0], D[state, row, 1]
        x, y = c * par[e, LOAD] - s * par[e, LOAD + 1], s * par[e, LOAD] + c * par[e, LOAD + 1]
        if state == 0:
            mean[0], mean[1] = x, y
        else:
            end[0], end[1] = x, y
    mean[0], mean[1] = 0.5 * (mean[0] + end[0]), 0.5 * (mean[1] + end[1])


@kernel
def _follower(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P = np.empty((5, dim))
    B = np.empty((dim, 3 * (dim - 1)))
    J = np.empty((dim, 3 * (dim - 1)))
    force, end = np.empty(dim), np.empty(dim)
    arm, s, t, m = scratch(3), scratch(3), scratch(3), scratch(3)
    T = scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        point(Q, D, U, dof, rot, e, 0, par, LOAD + dim, P, B, J)
        factor = time_value(fun, par[e, FUNCTION], TM, 1.0)
        _follower_vectors(D, rot[e, 0], par, e, dim, force, end)
        add_force(f, -ctl[SF] * factor, force, B, 0)
        if job != TANGENT:
            continue
        K = ke[e - e0]
        c = -ctl[SK] * factor
        add_arm_tangent(K, c, force, J, 0)
        # the mean direction turns with half of the end's spin
        if dim == 2:
            v = U[dof[e, 2]]
            c *= 0.5 / (1.0 + 0.25 * v * v)
            x, y = -end[1] * c, end[0] * c
            rx, ry = 0.5 * (P[R0, 0] + P[R1, 0]), 0.5 * (P[R0, 1] + P[R1, 1])
            K[0, 2] += x
            K[1, 2] += y
            K[2, 2] += rx * y - ry * x
            continue
        for i in range(3):
            arm[i] = 0.5 * (P[R0, i] + P[R1, i])
        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T)
        for j in range(3):
            s[0], s[1], s[2] = T[0, j], T[1, j], T[2, j]
            cross(s, end, t)
            cross(arm, t, m)
            for i in range(3):
                K[i, 3 + j] += 0.5 * c * t[i]
                K[3 + i, 3 + j] += 0.5 * c * m[i]


@kernel
def _report_follower(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    P = np.empty((5, dim))
    B = np.empty((dim, 3 * (dim - 1)))
    J = np.empty((dim, 3 * (dim - 1)))
    force, end = np.empty(dim), np.empty(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        point(Q, D, U, dof, rot, e, 0, par, LOAD + dim, P, B, J)
        factor = _mean_factor(ctl, fun, par[e, FUNCTION])
        _follower_vectors(D, rot[e, 0], par, e, dim, force, end)
        for i in range(dim):
            movement = P[P1, i] - P[P0, i] if ctl[RULE] == ONE_STATE else P[DP, i]
            f[LOAD_WORK] += factor * force[i] * movement


# --- line loads ------------------------------------------------------------------------------------------------------
@kernel
def _line2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    for e in range(e0, e1):
        f = fe[e - e0]
        factor = -ctl[SF] * time_value(fun, par[e, FUNCTION], TM, 1.0)
        ex, ey = par[e, AXIS], par[e, AXIS + 1]
        for a in range(2):
            n, o, v = rot[e, a], LINE2 + 4 * a, U[dof[e, 3 * a + 2]]
            c0, s0, c1, s1 = D[0, n, 0], D[0, n, 1], D[1, n, 0], D[1, n, 1]
            x1, y1 = c1 * ex - s1 * ey, s1 * ex + c1 * ey
            xm, ym = 0.5 * (x1 + c0 * ex - s0 * ey), 0.5 * (y1 + s0 * ex + c0 * ey)
            gx, gy = par[e, o + 2], par[e, o + 3]
            f[3 * a], f[3 * a + 1] = factor * par[e, o], factor * par[e, o + 1]
            f[3 * a + 2] = factor * (xm * gy - ym * gx)
            if job == TANGENT:
                for i in range(3):
                    for j in range(6):
                        ke[e - e0, 3 * a + i, j] = 0.0
                k = -ctl[SK] * time_value(fun, par[e, FUNCTION], TM, 1.0) * 0.5 / (1.0 + 0.25 * v * v)
                ke[e - e0, 3 * a + 2, 3 * a + 2] = -k * (x1 * gx + y1 * gy)


@kernel
def _report_line2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    for e in range(e0, e1):
        ex, ey = par[e, AXIS], par[e, AXIS + 1]
        work = 0.0
        for a in range(2):
            n, o = rot[e, a], LINE2 + 4 * a
            for i in range(2):
                k = dof[e, 3 * a + i]
                work += par[e, o + i] * (Q[1, k] - Q[0, k] if ctl[RULE] == ONE_STATE else U[k])
            dc, ds = D[1, n, 0] - D[0, n, 0], D[1, n, 1] - D[0, n, 1]
            work += par[e, o + 2] * (dc * ex - ds * ey) + par[e, o + 3] * (ds * ex + dc * ey)
        fe[e - e0, LOAD_WORK] = _mean_factor(ctl, fun, par[e, FUNCTION]) * work


@kernel
def _line3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    d, d1, g, t, s = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
    T = scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        value = time_value(fun, par[e, FUNCTION], TM, 1.0)
        for a in range(2):
            n, o, r = rot[e, a], LINE3 + 12 * a, 6 * a + 3
            for i in range(3):
                f[6 * a + i] = -ctl[SF] * value * par[e, o + i]
            if job == TANGENT:
                cayley_tangent(U[dof[e, r]], U[dof[e, r + 1]], U[dof[e, r + 2]], T)
            for k in range(3):
                for i in range(3):
                    d1[i] = D[1, n, 3 * i + k]
                    d[i] = 0.5 * (D[0, n, 3 * i + k] + d1[i])
                    g[i] = par[e, o + 3 + 3 * k + i]
                cross(d, g, t)
                for i in range(3):
                    f[r + i] -= ctl[SF] * value * t[i]
                if job == TANGENT:
                    for j in range(3):
                        s[0], s[1], s[2] = T[0, j], T[1, j], T[2, j]
                        cross(s, d1, t)
                        cross(t, g, d)
                        for i in range(3):
                            ke[e - e0, r + i, r + j] -= 0.5 * ctl[SK] * value * d[i]


@kernel
def _report_line3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    for e in range(e0, e1):
        work = 0.0
        for a in range(2):
            n, o = rot[e, a], LINE3 + 12 * a
            for i in range(3):
                k = dof[e, 6 * a + i]
                work += par[e, o + i] * (Q[1, k] - Q[0, k] if ctl[RULE] == ONE_STATE else U[k])
                for b in range(3):
                    work += par[e, o + 3 + 3 * b + i] * (D[1, n, 3 * i + b] - D[0, n, 3 * i + b])
        fe[e - e0, LOAD_WORK] = _mean_factor(ctl, fun, par[e, FUNCTION]) * work


def _type(name, dimension, par, force, report, ends=1):
    return ElementType(
        name=name, dimension=dimension, ends=ends, rotational=True, par=("function", *par), force=force, report=report
    )


def _names(symbol, unit, axes):
    return tuple(f"{symbol}{c} [{unit}]" for c in axes)


TYPES = {
    t.name: t
    for t in (
        _type("force2", 2, _names("F", "N", "xy") + _names("a", "m", "xy"), _force_at_point, _report_at_point),
        _type("force3", 3, _names("F", "N", "xyz") + _names("a", "m", "xyz"), _force_at_point, _report_at_point),
        _type("moment2", 2, ("M [N m]",), _moment2, _report_moment2),
        _type("moment3", 3, _names("M", "N m", "xyz") + _names("B", "N m", "xyz"), _moment3, _report_moment3),
        _type("follower2", 2, _names("F", "N", "xy") + _names("a", "m", "xy"), _follower, _report_follower),
        _type("follower3", 3, _names("F", "N", "xyz") + _names("a", "m", "xyz"), _follower, _report_follower),
        _type(
            "line_load2",
            2,
            ("ex", "ey", *(f"F{y}{c}_{end} [N]" for end in "pq" for y in ("", "e") for c in "xy")),
            _line2,
            _report_line2,
            2,
        ),
        _type(
            "line_load3",
            3,
            tuple(f"F{y}{c}_{end} [N]" for end in "pq" for y in ("", "1", "2", "3") for c in "xyz"),
            _line3,
            _report_line3,
            2,
        ),
    )
}
