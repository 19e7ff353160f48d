"""Motors and controllers on lengths, displacements and angles: `motor_length`, `motor_offset`, `motor_angle`.

On a coordinate q = s - start of two ends (`fem_mbs.elements.joints.coordinate`) works, in the direction of its growth,

    F = f(t) + kp (r(t) - q) + kd (r'(t) - q'),   cut off at +-limit,

with f, r, r' at the middle of the step, q the mean of both ends and q' = (q1 - q0)/h; one-state rules: the values at
the end.  The force acts through the exact quotient of the coordinate, so that its work is F (q1 - q0), booked as that
of loads.  f is a load that static steps may scale; r and r' are motions.

Outputs: F, and s at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import COMMIT, LEDGER, LOAD_WORK, ONE_STATE, OUTPUT, RULE, START, T0, T1, TM, H, inner, kernel
from fem_mbs.elements.common import time_value
from fem_mbs.elements.coordinates import dot, end_velocities, spring_rows
from fem_mbs.elements.joints.coordinate import (
    ANGLE,
    LENGTH,
    OFFSET,
    coordinate_columns,
    coordinate_count,
    coordinate_rate,
    coordinate_rows,
    coordinate_step,
    coordinate_turns,
    workspace,
)
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns after those of the coordinate
_START, _FUNCTION, _REFERENCE, _RATE, _KP, _KD, _LIMIT = range(7)


@inner
def _motor(par, e, c, fun, time, s, rate):
    """Force, and its gains that are left where it is cut off: kp, kd."""
    kp, kd, limit = par[e, c + _KP], par[e, c + _KD], par[e, c + _LIMIT]
    force = time_value(fun, par[e, c + _FUNCTION], time, 0.0)
    force += kp * (time_value(fun, par[e, c + _REFERENCE], time, 0.0) - (s - par[e, c + _START]))
    force += kd * (time_value(fun, par[e, c + _RATE], time, 0.0) - rate)
    if abs(force) > limit:
        return (limit if force > 0 else -limit), 0.0, 0.0
    return force, kp, kd


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P, B, J, W, T, Z, X, row, row1, vel, G = workspace(dim)
    for e in range(e0, e1):
        c = coordinate_count(int(par[e, 0]), dim)
        s0, s1, ds = coordinate_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G)
        if ctl[RULE] == ONE_STATE:
            end_velocities(V, D, dof, rot, 1, e, vel)
            rate = dot(row, vel)
        else:
            rate = ds / ctl[H]
        force, kp, kd = _motor(par, e, c, fun, TM, 0.5 * (s0 + s1), rate)
        spring_rows(job, ctl, kp, kd, -force, row, row1, G, vel, fe, ke, e - e0)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P, B, J, W, T, Z, X, row, row1, _, G = workspace(dim)
    for e in range(e0, e1):
        if job == START or job == COMMIT:
            coordinate_turns(job == START, D, U, dof, rot, hist, e, par, W, T, Z, row, row1, G, ctl)
            continue
        f = fe[e - e0]
        c = coordinate_count(int(par[e, 0]), dim)
        s0, s1, ds = coordinate_step(ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G)
        if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
            rate = coordinate_rate(V, D, dof, rot, 0, e, par, P, W, Z, X)
            before = _motor(par, e, c, fun, T0, s0, rate)[0]
            rate = coordinate_rate(V, D, dof, rot, 1, e, par, P, W, Z, X)
            force = _motor(par, e, c, fun, T1, s1, rate)[0]
            work = 0.5 * (before + force) * ds
        else:
            force = _motor(par, e, c, fun, TM, 0.5 * (s0 + s1), ds / ctl[H])[0]
            work = force * ds
        if job == LEDGER:
            f[LOAD_WORK] = work
        elif job == OUTPUT:
            f[0] = force
            f[1] = s1


def _type(kind, dimension):
    name, force, length = {
        LENGTH: ("length", "N", "m"),
        OFFSET: ("offset", "N", "m"),
        ANGLE: ("angle", "N m", "rad"),
    }[kind]
    what = "moment" if kind == ANGLE else "force"
    coordinate = {LENGTH: "length", OFFSET: "displacement", ANGLE: "angle"}[kind]
    return ElementType(
        name=f"motor_{name}{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            *coordinate_columns(kind, dimension),
            f"start [{length}]", "function", "reference", "reference rate",
            f"kp [{force}/{length}]", f"kd [{force} s/{length}]", f"limit [{force}]",
        ),
        hist=1,
        outputs=(f"{what} [{force}]", f"{coordinate} [{length}]"),
        force=_force,
        report=_report,
    )  # fmt: skip


TYPES = {t.name: t for t in (_type(kind, d) for kind in (LENGTH, OFFSET, ANGLE) for d in (2, 3))}
