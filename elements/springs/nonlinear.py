"""Nonlinear spring-dampers with stops, on lengths, displacements and angles: `nonlinear_spring`, `_slide`, `_torsion`.

On a coordinate s of two ends (`fem_mbs.elements.joints.coordinate`), x = s - free, r its rate, acts

    F = preload + mean F(x) + D(r) + k (mean <s - upper>) <1 + b r> - k (mean <lower - s>) <1 - b r>,   <y> = max(y, 0)

against its growth, means over the step (exact difference quotients of the potentials, `fem_mbs.elements.laws`), r =
(s1 - s0)/h; one-state rules: the values at the state.  F(x), D(r) are piecewise cubics: tables, splines, polynomials.
The stops are penalties, with the damping of Hunt & Crossley (1975), F = k y (1 + b y'), which starts and ends at zero
and, cut off at zero, never pulls.  The work over a step is V1 - V0 plus the dissipation; resultant and moment vanish.

After the named parameters follow the pieces of F and of D, 6 numbers each.  Outputs: F, and s at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import DECAY, DISSIPATED, LEDGER, ONE_STATE, OUTPUT, RULE, STRAIN, H, inline, inner
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.laws import ROW, hinge_mean, piecewise_at, piecewise_energy, piecewise_mean

__all__ = ["TYPES"]

FREE, PRELOAD, LOWER, UPPER, STIFF, DAMP, PIECES, RATE_PIECES = range(8)  # columns of par


@inner
def _conservative(par, e, tail, s0, s1):
    """Return the means over the step of the forces of spring, upper and lower stop, then their derivatives by s1."""
    free = par[e, FREE]
    n = int(par[e, PIECES])
    force, slope = piecewise_mean(par, e, tail, n, s0 - free, s1 - free)
    k = par[e, STIFF]
    up, by_up = hinge_mean(s0 - par[e, UPPER], s1 - par[e, UPPER])
    low, by_low = hinge_mean(par[e, LOWER] - s0, par[e, LOWER] - s1)
    return force + par[e, PRELOAD], k * up, k * low, slope, k * by_up, k * by_low


@inner
def _loss(par, e, tail, up, low, rate):
    """Return the dissipative part of the force, its derivative by the rate, and the factors of the stops' slopes."""
    n = int(par[e, RATE_PIECES])
    table = tail + ROW * int(par[e, PIECES])
    force, by_rate = piecewise_at(par, e, table, n, rate)
    b = par[e, DAMP]
    # never below zero: a stop does not pull
    up_factor, low_factor = max(1 + b * rate, 0.0), max(1 - b * rate, 0.0)
    if up_factor > 0:
        by_rate += b * up
    if low_factor > 0:
        by_rate += b * low
    return force + up * (up_factor - 1) - low * (low_factor - 1), by_rate, up_factor, low_factor


@inner
def _elastic(par, e, tail, s):
    """Return the force of spring and stops at s, and its slope."""
    force, slope = piecewise_at(par, e, tail, int(par[e, PIECES]), s - par[e, FREE])
    k = par[e, STIFF]
    up, low = s - par[e, UPPER], par[e, LOWER] - s
    if up > 0:
        force, slope = force + k * up, slope + k
    if low > 0:
        force, slope = force - k * low, slope + k
    return force, slope


@inner
def _decay(ctl, par, e, tail, s0, s1, ds):
    """Return the force a (F1 - F0) of a rule with numerical damping, and its slope.

    Both are zero where the force falls with s, since it would gain energy there.
    """
    if ctl[DECAY] == 0:
        return 0.0, 0.0
    a = ctl[DECAY] / ctl[H]
    after, slope = _elastic(par, e, tail, s1)
    change = after - _elastic(par, e, tail, s0)[0]
    return (a * change, a * slope) if change * ds > 0 else (0.0, 0.0)


@inline
def nonlinear_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    force, up, low, slope, by_up, by_low = _conservative(par, e, tail, s0, s1)
    loss, by_rate, up_factor, low_factor = _loss(par, e, tail, up, low, rate)
    extra, by_extra = _decay(ctl, par, e, tail, s0, s1, ds)
    slope += by_up * up_factor + by_low * low_factor + by_extra
    return force + up - low + loss + extra, 2 * slope, by_rate


@inner
def nonlinear_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
        force, up, low, _, _, _ = _conservative(par, e, tail, s0, s0)
        before = _loss(par, e, tail, up, low, rate0)[0]
        force, up, low, _, _, _ = _conservative(par, e, tail, s1, s1)
        loss = _loss(par, e, tail, up, low, rate1)[0]
        dissipated = 0.5 * (before + loss) * ds
    else:
        force, up, low, _, _, _ = _conservative(par, e, tail, s0, s1)
        loss = _loss(par, e, tail, up, low, rate1)[0] + _decay(ctl, par, e, tail, s0, s1, ds)[0]
        dissipated = loss * ds
    if job == LEDGER:
        x = s1 - par[e, FREE]
        beyond = max(s1 - par[e, UPPER], 0.0) ** 2 + max(par[e, LOWER] - s1, 0.0) ** 2
        f[STRAIN] = par[e, PRELOAD] * x + 0.5 * par[e, STIFF] * beyond
        f[STRAIN] += piecewise_energy(par, e, tail, int(par[e, PIECES]), x)
        f[DISSIPATED] = dissipated
    elif job == OUTPUT:
        f[0] = force + up - low + loss
        f[1] = s1


def _prestress(par, outputs, factor):
    """Return parameters with the force outputs[:, 0] times ``factor`` added to the preload."""
    par = par.copy()
    par[:, PRELOAD] += factor * outputs[:, 0]
    return par


_LAW = Law(
    par=lambda s: (
        f"free [{s.unit}]", f"preload [{s.force_unit}]", f"lower [{s.unit}]", f"upper [{s.unit}]",
        f"stop stiffness [{s.force_unit}/{s.unit}]", f"stop damping [s/{s.unit}]", "pieces", "rate pieces",
    ),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]"),
    force=nonlinear_force,
    report=nonlinear_report,
    tables=True,
    prestress=_prestress,
)  # fmt: skip

TYPES = {
    f"nonlinear_{name}{d}": coordinate_force(f"nonlinear_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("spring", LENGTH), ("slide", OFFSET), ("torsion", ANGLE))
    for d in (2, 3)
}
