"""Elastic-plastic springs with kinematic hardening: `plastic_spring`, `plastic_slide`, `plastic_torsion` (2/3).

On a coordinate s of two ends (`fem_mbs.elements.joints.coordinate`) acts, against its growth, F = k e with the elastic
part e = s - free - p.  The plastic part p flows where |k e - H p| = F_y, H p the back stress: beyond the yield force
the tangent stiffness is k H/(k + H).  Without hardening (H = 0) it is a plastic hinge (Dias & Pereira 1993), or a
spring in series with a dry slider (Jenkins 1962).

Over a step, in which s runs one way, acts the mean of F along the path: an elastic part, then a plastic one.  Its work
is the change of k e^2/2 + H p^2/2 and the loss F_y |p1 - p0|, exactly.  A dashpot c s' in parallel adds its own loss.
One-state rules: the force at the state, with p from the state at the start of the step.

``hist`` holds p after the coordinate's column.  Outputs: F, s and p at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import DECAY, LEDGER, ONE_STATE, OUTPUT, RULE, H, inline, inner
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.springs.jenkins import book, flow, mean_force

__all__ = ["TYPES"]

FREE, STIFFNESS, DAMPING, YIELD, HARDENING = range(5)  # columns of par
_P = 1  # column of hist


@inner
def _flow(par, e, p, s):
    """Return the plastic part at the coordinate s, which is reached from the plastic part p in one go."""
    return flow(par[e, STIFFNESS], par[e, HARDENING], par[e, YIELD], p, s - par[e, FREE])


@inner
def _mean(par, e, p, s0, ds):
    """Return the mean of the force over the path from s0 to s0 + ds, and its derivative by s1; p at s0."""
    return mean_force(par[e, STIFFNESS], par[e, HARDENING], par[e, YIELD], p, s0 - par[e, FREE], ds)


@inner
def _decay(ctl, par, e, p, s0, s1, ds):
    """Return the force added by a rule with numerical damping, and its derivative by s1."""
    if ctl[DECAY] == 0:
        return 0.0, 0.0
    a = ctl[DECAY] / ctl[H]
    k, hardening = par[e, STIFFNESS], par[e, HARDENING]
    after = _flow(par, e, p, s1)
    slope = k if after == p else k * hardening / (k + hardening)
    change = k * (s1 - s0 - (after - p))
    return (a * change, a * slope) if change * ds > 0 else (0.0, 0.0)


@inline
def plastic_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    p, c = hist[e, _P], par[e, DAMPING]
    if ctl[RULE] == ONE_STATE:
        k, hardening = par[e, STIFFNESS], par[e, HARDENING]
        after = _flow(par, e, p, s1)
        slope = k if after == p else k * hardening / (k + hardening)
        return k * (s1 - par[e, FREE] - after) + c * rate, slope, c
    mean, slope = _mean(par, e, p, s0, ds)
    extra, by_extra = _decay(ctl, par, e, p, s0, s1, ds)
    return mean + extra + c * rate, 2 * (slope + by_extra), c


@inner
def plastic_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    p, c, k = hist[e, _P], par[e, DAMPING], par[e, STIFFNESS]
    end = s0 + ds if ctl[RULE] != ONE_STATE else s1
    after = _flow(par, e, p, end)
    if ctl[RULE] == ONE_STATE:
        force = k * (s1 - par[e, FREE] - after)
        loss = 0.5 * c * (rate0 + rate1) * ds
    else:
        force = _mean(par, e, p, s0, ds)[0]
        extra = _decay(ctl, par, e, p, s0, s1, ds)[0]
        loss = (extra + c * rate1) * ds
        force += extra
    if job == LEDGER:
        stored = 0.5 * k * (s1 - par[e, FREE] - after) ** 2 + 0.5 * par[e, HARDENING] * after * after
        book(ctl, f, stored, loss, par[e, YIELD] * abs(after - p))
    elif job == OUTPUT:
        f[0] = force + c * rate1
        f[1] = s1
        f[2] = after


@inner
def plastic_commit(ctl, par, e, tail, hist, s0, s1, ds):
    """Keep the plastic part of the accepted step."""
    hist[e, _P] = _flow(par, e, hist[e, _P], s1 if ctl[RULE] == ONE_STATE else s0 + ds)


_LAW = Law(
    par=lambda s: (
        f"free [{s.unit}]", f"stiffness [{s.force_unit}/{s.unit}]", f"damping [{s.force_unit} s/{s.unit}]",
        f"yield force [{s.force_unit}]", f"hardening [{s.force_unit}/{s.unit}]",
    ),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]", f"plastic {s.name} [{s.unit}]"),
    force=plastic_force,
    report=plastic_report,
    commit=plastic_commit,
    memory=1,
    path=True,
)  # fmt: skip

TYPES = {
    f"plastic_{name}{d}": coordinate_force(f"plastic_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("spring", LENGTH), ("slide", OFFSET), ("torsion", ANGLE))
    for d in (2, 3)
}
