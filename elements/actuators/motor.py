"""Motors and controllers on lengths, displacements and angles: `motor_length`, `motor_offset`, `motor_angle`.

On a coordinate q = s - start of two ends (`fem_mbs.elements.joints.coordinate`) acts, in the direction of its growth,

    F = f(t) + kp (r(t) - q) + kd (r'(t) - q'),   limited to -limit .. limit,

with f, r, r' at the middle of the step, q the mean of both ends and q' = (q1 - q0)/h; one-state rules: the values at
the end.  The force acts through the discrete gradient of the coordinate, so that its work is F (q1 - q0), which the
ledger books as work of loads.  f is a load that static steps may scale; r and r' are motions.

Outputs: F, and s at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import LEDGER, LOAD_WORK, ONE_STATE, OUTPUT, RULE, T0, T1, TM, inline, inner
from fem_mbs.elements.common import time_value
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force

__all__ = ["TYPES"]

START, FUNCTION, REFERENCE, REFERENCE_RATE, KP, KD, LIMIT = range(7)  # columns of par


@inner
def _motor(par, e, fun, time, s, rate):
    """Return the force and its gains kp, kd, which are zero where the limit cuts off the force."""
    kp, kd, limit = par[e, KP], par[e, KD], par[e, LIMIT]
    force = time_value(fun, par[e, FUNCTION], time, 0.0)
    force += kp * (time_value(fun, par[e, REFERENCE], time, 0.0) - (s - par[e, START]))
    force += kd * (time_value(fun, par[e, REFERENCE_RATE], time, 0.0) - rate)
    if abs(force) > limit:
        return (limit if force > 0 else -limit), 0.0, 0.0
    return force, kp, kd


@inline
def motor_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    force, kp, kd = _motor(par, e, fun, TM, 0.5 * (s0 + s1), rate)
    return -force, kp, kd


@inner
def motor_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
        force = _motor(par, e, fun, T1, s1, rate1)[0]
        work = 0.5 * (_motor(par, e, fun, T0, s0, rate0)[0] + force) * ds
    else:
        force = _motor(par, e, fun, TM, 0.5 * (s0 + s1), rate1)[0]
        work = force * ds
    if job == LEDGER:
        f[LOAD_WORK] = work
    elif job == OUTPUT:
        f[0] = force
        f[1] = s1


_LAW = Law(
    par=lambda s: (
        f"start [{s.unit}]", "function", "reference", "reference rate",
        f"kp [{s.force_unit}/{s.unit}]", f"kd [{s.force_unit} s/{s.unit}]", f"limit [{s.force_unit}]",
    ),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]"),
    force=motor_force,
    report=motor_report,
)  # fmt: skip

TYPES = {
    f"motor_{name}{d}": coordinate_force(f"motor_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("length", LENGTH), ("offset", OFFSET), ("angle", ANGLE))
    for d in (2, 3)
}
