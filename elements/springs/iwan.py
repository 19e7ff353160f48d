"""Springs with dry sliders in parallel: families `iwan_spring{2,3}_`, `iwan_slide{2,3}_`, `iwan_torsion{2,3}_`.

On a coordinate s of two ends (`fem_mbs.elements.joints.coordinate`) acts, against its growth, with x = s - free,

    F = k x + c x' + sum of k_i (x - p_i),   |k_i (x - p_i)| <= F_i,

n springs in series with dry sliders (Jenkins) beside a linear one (Iwan 1966): a force that begins to slip bit by bit.
Over a step, in which x runs one way, acts the mean of the force along the path (`fem_mbs.elements.springs.jenkins`), so
its work is the change of k x^2/2 + sum of k_i (x - p_i)^2/2 and the loss, the sum of F_i |change of p_i|, exactly.
One-state rules: the force at the state, with p from the state at the start of the step.

``hist`` holds p_i after the coordinate's column.  The number of sliders is the end of the type's name; all share one
compiled code.  Outputs: F, s and the number of sliders that slip in the step.
"""

from __future__ import annotations

from fem_mbs.contract import DECAY, LEDGER, ONE_STATE, OUTPUT, RULE, H, inline, inner
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.springs.jenkins import book, flow, mean_force

__all__ = ["make_type"]

FREE, STIFFNESS, DAMPING = range(3)  # columns of par; k_i, F_i are the last ones
_P = 1  # first column of hist
_PLACES = {"spring": LENGTH, "slide": OFFSET, "torsion": ANGLE}


@inner
def _at_end(par, e, tail, hist, x):
    """Return the elastic force at the end of the path at x, and its slope."""
    force = slope = par[e, STIFFNESS]
    force *= x
    for i in range((par.shape[1] - tail) // 2):
        k, p = par[e, tail + 2 * i], hist[e, _P + i]
        after = flow(k, 0.0, par[e, tail + 2 * i + 1], p, x)
        force += k * (x - after)
        slope += k if after == p else 0.0
    return force, slope


@inner
def _decay(ctl, par, e, tail, hist, x0, dx):
    """Return the force added by a rule with numerical damping, and its derivative by s1."""
    if ctl[DECAY] == 0:
        return 0.0, 0.0
    a = ctl[DECAY] / ctl[H]
    extra, slope = par[e, STIFFNESS] * dx, par[e, STIFFNESS]
    for i in range((par.shape[1] - tail) // 2):
        k, p = par[e, tail + 2 * i], hist[e, _P + i]
        after = flow(k, 0.0, par[e, tail + 2 * i + 1], p, x0 + dx)
        change = k * (dx - (after - p))
        if change * dx > 0:
            extra += change
            slope += k if after == p else 0.0
    return a * extra, a * slope


@inner
def _mean(par, e, tail, hist, x0, dx):
    """Return the mean of the elastic force over the path, and its derivative by s1."""
    mean, slope = par[e, STIFFNESS] * (x0 + 0.5 * dx), 0.5 * par[e, STIFFNESS]
    for i in range((par.shape[1] - tail) // 2):
        force, by = mean_force(par[e, tail + 2 * i], 0.0, par[e, tail + 2 * i + 1], hist[e, _P + i], x0, dx)
        mean += force
        slope += by
    return mean, slope


@inline
def iwan_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    c = par[e, DAMPING]
    if ctl[RULE] == ONE_STATE:
        force, slope = _at_end(par, e, tail, hist, s1 - par[e, FREE])
        return force + c * rate, slope, c
    mean, slope = _mean(par, e, tail, hist, s0 - par[e, FREE], ds)
    extra, by_extra = _decay(ctl, par, e, tail, hist, s0 - par[e, FREE], ds)
    return mean + extra + c * rate, 2 * (slope + by_extra), c


@inner
def iwan_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    c, one_state = par[e, DAMPING], ctl[RULE] == ONE_STATE
    end = (s1 if one_state else s0 + ds) - par[e, FREE]
    lost, slipping, stored = 0.0, 0.0, 0.5 * par[e, STIFFNESS] * end * end
    for i in range((par.shape[1] - tail) // 2):
        k, p = par[e, tail + 2 * i], hist[e, _P + i]
        after = flow(k, 0.0, par[e, tail + 2 * i + 1], p, end)
        lost += par[e, tail + 2 * i + 1] * abs(after - p)
        slipping += 0.0 if after == p else 1.0
        stored += 0.5 * k * (end - after) ** 2
    if one_state:
        force = _at_end(par, e, tail, hist, end)[0]
        loss = 0.5 * c * (rate0 + rate1) * ds
    else:
        extra = _decay(ctl, par, e, tail, hist, s0 - par[e, FREE], ds)[0]
        force = _mean(par, e, tail, hist, s0 - par[e, FREE], ds)[0] + extra
        loss = (extra + c * rate1) * ds
    if job == LEDGER:
        book(ctl, f, stored, loss, lost)
    elif job == OUTPUT:
        f[0] = force + c * rate1
        f[1] = s1
        f[2] = slipping


@inner
def iwan_commit(ctl, par, e, tail, hist, s0, s1, ds):
    """Keep the plastic parts of the accepted step."""
    end = (s1 if ctl[RULE] == ONE_STATE else s0 + ds) - par[e, FREE]
    for i in range((par.shape[1] - tail) // 2):
        hist[e, _P + i] = flow(par[e, tail + 2 * i], 0.0, par[e, tail + 2 * i + 1], hist[e, _P + i], end)


def make_type(name: str, dimension: int, n: int) -> ElementType:
    """Return the type of a spring with n sliders."""
    kind = name.removeprefix("iwan_").rpartition("_")[0][:-1]

    def appended(i: int, s) -> tuple[str, str]:
        return f"stiffness {i} [{s.force_unit}/{s.unit}]", f"yield force {i} [{s.force_unit}]"

    s = coordinate(_PLACES[kind], dimension)
    law = Law(
        par=lambda s: (
            f"free [{s.unit}]", f"stiffness [{s.force_unit}/{s.unit}]", f"damping [{s.force_unit} s/{s.unit}]"
        ),
        outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]", "slipping"),
        force=iwan_force,
        report=iwan_report,
        commit=iwan_commit,
        appended=tuple(entry for i in range(1, n + 1) for entry in appended(i, s)),
        memory=n,
        path=True,
    )  # fmt: skip
    return coordinate_force(name, dimension, s, law)
