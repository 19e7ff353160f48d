"""Dry friction with a smooth law, in joints and between points: `friction_offset`, `_angle` (2/3), `friction_ball3`.

On one coordinate s of two ends (`fem_mbs.elements.joints.coordinate`), with the sliding velocity

    w = r s' - v(t)        (r = 1, of angles the radius; v: speed of a running surface of end a),

acts against w the force N m(|w|), on angles r times as a moment, with a law that is smooth at zero,

    m(w) = tanh(w/w_s) (mu + (mu_0 - mu) exp(-(w/w_0)^2))        (Coulomb; Stribeck 1902; mu_0 = mu without),

and N = f(t) + |lambda|, lambda the multipliers of another joint that press the surfaces together.  The force is
sampled as in motors: s' = (s1 - s0)/h, lambda of the step; one-state rules: the values at the end.  It acts
through the exact quotients of the coordinates.  Its work is that of a loss N m(w) w h >= 0 and of the drive of the
running surface, both booked.  Below w_s the surfaces creep: the law has no true sticking.

In a ball joint the surface slides with r w, w the relative angular velocity in spatial axes, and the moment
-r N m(|r w|) w/|w| acts on end b, its opposite on end a.  Over a step w = (U_b - U_a)/h of the Cayley vectors U: the
rows are constant, the work of the moment is its product with U_b - U_a, and both momenta are kept.

Where the multiplier is the whole force between a point and the line that it slides along (``along`` = 1), its component
along the line is the friction itself: |lambda|^2 = N^2 (1 + m^2), hence N = |lambda|/sqrt(1 + m^2), f = 0.

K gets the columns of the multipliers, d F/d lambda: the tangent is unsymmetric, and constraint forces are no longer the
transposed constraint gradients.  Outputs: force or moment against the motion, N and w (of the step; in one-state rules
at its end), and the coordinates at the end (none of a ball).
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    T0,
    T1,
    TANGENT,
    TM,
    H,
    inline,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear, time_value
from fem_mbs.elements.coordinates import end_velocities, rate_row
from fem_mbs.elements.joints.coordinate import ANGLE, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.joints.pressing import (
    READS,
    book_friction,
    multiplier_columns,
    pressing_force,
    pressing_force_at,
)
from fem_mbs.elements.laws import friction_coefficient, friction_slopes
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par; the scales of the multipliers are the last ones
MU = 0  # first of the four of `friction_coefficient`
RADIUS, FUNCTION, SPEED, ALONG = range(4, 8)
_BALL_SCALES = 8
_PAR = ("coefficient", "static coefficient", "Stribeck speed [m/s]", "smoothing speed [m/s]", "radius [m]", "function",
        "reference rate", "along")  # fmt: skip
_SCALES = tuple(f"scale {k + 1}" for k in range(READS))


@inner
def _pressed(par, e, m, given, pressing):
    """Return the normal force N, dN/d|lambda| and dN/dm."""
    if par[e, ALONG] == 0:
        return given + pressing, 1.0, 0.0
    share = 1 / math.sqrt(1 + m * m)
    return pressing * share, share, -pressing * m * share**3


# --- one coordinate --------------------------------------------------------------------------------------------------
@inline
def friction_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    r = par[e, RADIUS]
    m, slope = friction_coefficient(par, e, MU, r * rate - time_value(fun, par[e, SPEED], TM, 0.0))
    given = time_value(fun, par[e, FUNCTION], TM, 0.0)
    N, _, by_m = _pressed(par, e, m, given, pressing_force(ctl, par, dof, U, e, tail))
    return r * N * m, 0.0, r * r * (N + m * by_m) * slope


@inner
def friction_columns(job, ctl, par, e, tail, dof, fun, U, rate, row, fe, ke, k):
    """Zero the rows of the multipliers, and write the columns by which the force depends on them."""
    n = row.shape[0]
    for i in range(n, n + READS):
        fe[k, i] = 0.0
    if job != TANGENT:
        return
    K = ke[k]
    for i in range(n, n + READS):
        for j in range(n + READS):
            K[i, j] = K[j, i] = 0.0
    r = par[e, RADIUS]
    m, _ = friction_coefficient(par, e, MU, r * rate - time_value(fun, par[e, SPEED], TM, 0.0))
    pressing = pressing_force(ctl, par, dof, U, e, tail)
    _, by_pressing, _ = _pressed(par, e, m, time_value(fun, par[e, FUNCTION], TM, 0.0), pressing)
    multiplier_columns(ctl, par, dof, U, e, tail, pressing, r * m * by_pressing, row, K)


@inner
def _sampled(par, e, fun, time, rate, pressing):
    """Return friction force against the motion at the radius, normal force N, sliding velocity w and surface speed
    v."""
    v = time_value(fun, par[e, SPEED], time, 0.0)
    w = par[e, RADIUS] * rate - v
    m, _ = friction_coefficient(par, e, MU, w)
    N = _pressed(par, e, m, time_value(fun, par[e, FUNCTION], time, 0.0), pressing)[0]
    return m * N, N, w, v


@inner
def friction_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    r = par[e, RADIUS]
    if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
        before, _, _, v0 = _sampled(par, e, fun, T0, rate0, pressing_force_at(par, dof, Q, e, tail, 0))
        force, N, w, v1 = _sampled(par, e, fun, T1, rate1, pressing_force_at(par, dof, Q, e, tail, 1))
        work = 0.5 * (before + force) * r * ds
        moved = -0.5 * (before * v0 + force * v1) * ctl[H]
    else:
        force, N, w, v1 = _sampled(par, e, fun, TM, rate1, pressing_force(ctl, par, dof, U, e, tail))
        work = force * r * ds
        moved = -force * v1 * ctl[H]
    if job == LEDGER:
        book_friction(ctl, f, work, moved)
    elif job == OUTPUT:
        f[0] = r * force
        f[1] = N
        f[2] = w
        f[3] = s1


# --- relative rotation -----------------------------------------------------------------------------------------------
@inner
def _slid(ctl, par, e, dof, U, vel, w):
    """Fill w (3,) with the sliding velocity r (w_b - w_a) of the step, or from ``vel`` of one-state rules, and return
    its size."""
    size = 0.0
    for i in range(3):
        if ctl[RULE] == ONE_STATE:
            w[i] = par[e, RADIUS] * (vel[9 + i] - vel[3 + i])
        else:
            w[i] = par[e, RADIUS] * (U[dof[e, 9 + i]] - U[dof[e, 3 + i]]) / ctl[H]
        size += w[i] * w[i]
    return math.sqrt(size)


@kernel
def _ball_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    row, rate, G = np.zeros((3, 12)), scratch(3, 12), np.zeros((12, 12))
    vel, w, along = np.zeros(12), scratch(3), scratch(12)
    one_state = ctl[RULE] == ONE_STATE
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        r = par[e, RADIUS]
        for k in range(3):
            row[k, 3 + k], row[k, 9 + k] = -r, r
        if one_state:
            end_velocities(V, D, dof, rot, 1, e, vel)
        g, _, bend = friction_slopes(par, e, MU, _slid(ctl, par, e, dof, U, vel, w))
        pressing = pressing_force(ctl, par, dof, U, e, _BALL_SCALES)
        N = time_value(fun, par[e, FUNCTION], TM, 0.0) + pressing
        for i in range(12):
            along[i] = g * (w[0] * row[0, i] + w[1] * row[1, i] + w[2] * row[2, i])
            fe[e - e0, i] = ctl[SF] * N * along[i]
        if job != TANGENT:
            continue
        K = ke[e - e0]
        factor = ctl[SF]
        for k in range(3):
            if one_state:
                rate_row(ctl, row[k], G, vel, rate[k])
            else:
                for j in range(12):
                    rate[k, j] = row[k, j]
        if not one_state:
            factor = ctl[SK] / ctl[H]
        for i in range(12):
            for j in range(12):
                total = 0.0
                for k in range(3):
                    for p in range(3):
                        total += (bend * w[k] * w[p] + (g if k == p else 0.0)) * row[k, i] * rate[p, j]
                K[i, j] = factor * N * total
        multiplier_columns(ctl, par, dof, U, e, _BALL_SCALES, pressing, 1.0, along, K)


@kernel
def _ball_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    vel, w = np.zeros(12), scratch(3)
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        f = fe[e - e0]
        work = N = m = size = 0.0
        for state in range(2):  # both ends, or twice the step
            time = TM if not one_state else (T0 if state == 0 else T1)
            if one_state:
                end_velocities(V, D, dof, rot, state, e, vel)
                pressing = pressing_force_at(par, dof, Q, e, _BALL_SCALES, state)
            else:
                pressing = pressing_force(ctl, par, dof, U, e, _BALL_SCALES)
            size = _slid(ctl, par, e, dof, U, vel, w)
            N = time_value(fun, par[e, FUNCTION], time, 0.0) + pressing
            m = friction_slopes(par, e, MU, size)[1]
            work += 0.5 * N * m * size * ctl[H]
        if job == LEDGER:
            book_friction(ctl, f, work, 0.0)
        elif job == OUTPUT:
            f[0], f[1], f[2] = par[e, RADIUS] * N * m, N, size


def _ball_type():
    return ElementType(
        name="friction_ball3",
        dimension=3,
        ends=2,
        rotational=True,
        par=(*_PAR, *_SCALES),
        outputs=("moment [N m]", "normal force [N]", "sliding speed [m/s]"),
        force=_ball_force,
        report=_ball_report,
        reads=READS,
    )


_LAW = Law(
    par=lambda s: _PAR,
    outputs=lambda s: (
        f"{s.force} [{s.force_unit}]", "normal force [N]", "sliding speed [m/s]", f"{s.name} [{s.unit}]"
    ),
    force=friction_force,
    report=friction_report,
    columns=friction_columns,
    appended=_SCALES,
    reads=READS,
)  # fmt: skip

TYPES = {
    f"friction_{name}{d}": coordinate_force(f"friction_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("offset", OFFSET), ("angle", ANGLE))
    for d in (2, 3)
} | {"friction_ball3": _ball_type()}
