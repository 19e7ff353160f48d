"""Linear spring-dampers on a joint coordinate: `slide` on a displacement, `torsion` on an angle.

Over a step the force F = k ((s0 + s1)/2 - free) + c ds/h acts against the growth of the coordinate s, at one state
F = k (s - free) + c s'; its work is V1 - V0 + c ds^2/h.  Without stiffness and damping the element only measures s.

Coordinates, their discrete gradients and limits: `fem_mbs.elements.joints.coordinate`.  Outputs: F, and s at the end of
the step.  `fem_mbs.elements.springs.spring` is the same law on a length, defined at length zero as well.
"""

from __future__ import annotations

from fem_mbs.contract import DECAY, DISSIPATED, LEDGER, ONE_STATE, OUTPUT, RULE, STRAIN, inline, inner
from fem_mbs.elements.common import DAMPING, FREE, STIFFNESS, spring_prestress
from fem_mbs.elements.joints.coordinate import ANGLE, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force

__all__ = ["TYPES"]


@inline
def linear_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    stiffness = par[e, STIFFNESS]
    damping = par[e, DAMPING] + ctl[DECAY] * stiffness
    return stiffness * (0.5 * (s0 + s1) - par[e, FREE]) + damping * rate, stiffness, damping


@inner
def linear_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    stiffness = par[e, STIFFNESS]
    damping = par[e, DAMPING] + ctl[DECAY] * stiffness
    if job == LEDGER:
        f[STRAIN] = 0.5 * stiffness * (s1 - par[e, FREE]) ** 2
        f[DISSIPATED] = damping * 0.5 * (rate0 + rate1) * ds
    elif job == OUTPUT:
        s = s1 if ctl[RULE] == ONE_STATE else 0.5 * (s0 + s1)
        f[0] = stiffness * (s - par[e, FREE]) + damping * rate1
        f[1] = s1


_LAW = Law(
    par=lambda s: (
        f"stiffness [{s.force_unit}/{s.unit}]", f"damping [{s.force_unit} s/{s.unit}]", f"{s.name} [{s.unit}]"
    ),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]"),
    force=linear_force,
    report=linear_report,
    prestress=spring_prestress,
)  # fmt: skip

TYPES = {
    f"{name}{d}": coordinate_force(f"{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("slide", OFFSET), ("torsion", ANGLE))
    for d in (2, 3)
}
