"""Springs with the hysteresis of Bouc & Wen: `bouc_wen_spring`, `bouc_wen_slide`, `bouc_wen_torsion` (2/3).

On a coordinate s of two ends (`fem_mbs.elements.joints.coordinate`) acts, against its growth, with x = s - free,

    F = a k x + (1 - a) k z + c x',   dz/dx = 1 - (b sgn(z dx) + (1 - b)) |z/y|^n

(Bouc 1967; Wen 1976, with A = 1, beta = b/y^n, gamma = (1 - b)/y^n): k the stiffness at first, a k the one after
yielding, y the limit of z, b >= 1/2.  The law is independent of the rate, so it is integrated over the path by the
mid-point rule,

    z1 - z0 = dx g(z_m, sgn dx),   z_m = (z0 + z1)/2,   F_m = a k x_m + (1 - a) k z_m.

As z_m (z1 - z0) = (z1^2 - z0^2)/2 and z dx = z dz + z (1 - dz/dx) dx, the work of F is the change of
a k x^2/2 + (1 - a) k z^2/2 and the loss (1 - a) k |z/y|^n (b |z dx| + (1 - b) z dx) >= 0, exactly.  One-state rules:
the force at the end of the same step.  Where the path is none, as in linearisations, the tangent is the mean of both
ways, dz/dx = 1 - (1 - b) |z/y|^n.

A path longer than y in one step is refused, since it would carry z beyond its limit.  ``hist`` holds, after the
coordinate's column, z, s at the end of the last step, whether these are known, and the longest path of a step over y.
Outputs: F, s and z at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import DECAY, LEDGER, ONE_STATE, OUTPUT, RULE, H, inline, inner
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.registry import Watch
from fem_mbs.elements.springs.jenkins import book

__all__ = ["TYPES"]

FREE, STIFFNESS, DAMPING, SHARE, LIMIT, EXPONENT, UNLOADING = range(7)  # columns of par: k, c, a, y, n, b
_Z, _S, _KNOWN, _PATH = range(1, 5)  # columns of hist
_ITERATIONS, _START = 60, 1000
_WARN, _MOST = 0.3, 1.0  # of the path of a step over y


@inner
def _rate(par, e, z, way):
    """Return dz/dx at z on a path in the direction ``way`` (1, -1; 0: the mean of both), and its derivative by z."""
    y, n, b = par[e, LIMIT], par[e, EXPONENT], par[e, UNLOADING]
    side = 1.0 if z > 0 else (-1.0 if z < 0 else 0.0)
    factor = b * side * way + 1.0 - b
    w = abs(z) / y
    power = w ** (n - 1.0)
    return 1.0 - factor * w * power, -factor * n * power * side / y


@inner
def _middle(par, e, z0, dx):
    """Return the mean of z over a path dx from z0, and its derivative by dx: Newton's method between bounds."""
    way = 1.0 if dx > 0 else (-1.0 if dx < 0 else 0.0)
    reach = 0.5 * abs(dx) * (1.0 + abs(2.0 * par[e, UNLOADING] - 1.0)) + par[e, LIMIT] * 1e-14
    low, high = min(z0, -par[e, LIMIT]) - reach, max(z0, par[e, LIMIT]) + reach
    z = z0
    for _ in range(_ITERATIONS):
        g, by = _rate(par, e, z, way)
        rest = z - z0 - 0.5 * dx * g
        if rest > 0:
            high = z
        else:
            low = z
        step = rest / (1.0 - 0.5 * dx * by)
        new = z - step
        if not low <= new <= high:
            new = 0.5 * (low + high)
        done = abs(new - z) <= 2e-16 * par[e, LIMIT]
        z = new
        if done:
            break
    g, by = _rate(par, e, z, way)
    return z, 0.5 * g / (1.0 - 0.5 * dx * by)


@inner
def _path(ctl, hist, e, s1, ds):
    """Return the path of the step; one-state rules see the end alone, and remember where the last step ended."""
    return s1 - hist[e, _S] if ctl[RULE] == ONE_STATE else ds


@inner
def _hysteretic(par, e):
    return (1.0 - par[e, SHARE]) * par[e, STIFFNESS]


@inner
def _decay(ctl, par, e, dx, change, by):
    """Return the force added by a rule with numerical damping, and its derivative by s1."""
    if ctl[DECAY] == 0 or change * dx <= 0:
        return 0.0, 0.0
    a, elastic = ctl[DECAY] / ctl[H], par[e, SHARE] * par[e, STIFFNESS]
    return a * (elastic * dx + _hysteretic(par, e) * change), a * (elastic + 2.0 * _hysteretic(par, e) * by)


@inline
def bouc_wen_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    z0, c, elastic, own = hist[e, _Z], par[e, DAMPING], par[e, SHARE] * par[e, STIFFNESS], _hysteretic(par, e)
    dx = _path(ctl, hist, e, s1, ds)
    zm, by = _middle(par, e, z0, dx)
    if ctl[RULE] == ONE_STATE:
        return elastic * (s1 - par[e, FREE]) + own * (2.0 * zm - z0) + c * rate, elastic + 2.0 * own * by, c
    extra, by_extra = _decay(ctl, par, e, dx, 2.0 * (zm - z0), by)
    force = elastic * (s0 + 0.5 * ds - par[e, FREE]) + own * zm + extra + c * rate
    return force, elastic + 2.0 * (own * by + by_extra), c


@inner
def bouc_wen_report(job, ctl, par, e, tail, dof, hist, fun, Q, U, s0, s1, ds, rate0, rate1, f):
    z0, c, elastic, own = hist[e, _Z], par[e, DAMPING], par[e, SHARE] * par[e, STIFFNESS], _hysteretic(par, e)
    one_state = ctl[RULE] == ONE_STATE
    dx = _path(ctl, hist, e, s1, ds)
    zm, by = _middle(par, e, z0, dx)
    z1 = 2.0 * zm - z0
    end = (s1 if one_state else s0 + ds) - par[e, FREE]
    # z dx less z dz, in a form that is not negative
    power = (abs(zm) / par[e, LIMIT]) ** par[e, EXPONENT]
    lost = own * power * (par[e, UNLOADING] * abs(zm * dx) + (1.0 - par[e, UNLOADING]) * zm * dx)
    if one_state:
        force = elastic * end + own * z1
        loss = 0.5 * c * (rate0 + rate1) * ds
    else:
        extra = _decay(ctl, par, e, dx, z1 - z0, by)[0]
        force = elastic * (end - 0.5 * ds) + own * zm + extra
        loss = (extra + c * rate1) * ds
    if job == LEDGER:
        book(ctl, f, 0.5 * elastic * end * end + 0.5 * own * z1 * z1, loss, lost)
    elif job == OUTPUT:
        f[0] = force + c * rate1
        f[1] = s1
        f[2] = z1


@inner
def bouc_wen_commit(ctl, par, e, tail, hist, s0, s1, ds):
    """Keep z and s of the accepted step; at the first start z follows the path from the free coordinate."""
    if hist[e, _KNOWN] == 0:
        hist[e, _KNOWN] = 1.0
        z = 0.0
        part = (s1 - par[e, FREE]) / _START
        for _ in range(_START if part != 0 else 0):
            z = 2.0 * _middle(par, e, z, part)[0] - z
        hist[e, _Z], hist[e, _S] = z, s1
        return
    dx = _path(ctl, hist, e, s1, ds)
    hist[e, _Z] = 2.0 * _middle(par, e, hist[e, _Z], dx)[0] - hist[e, _Z]
    hist[e, _S] = s1 if ctl[RULE] == ONE_STATE else s0 + ds
    hist[e, _PATH] = max(hist[e, _PATH], abs(dx) / par[e, LIMIT])


_WATCH = Watch(
    _WARN, _MOST, "the path in one step, over the elongation at which the spring yields,",
    "take smaller steps, or more increments", kind="Spring", unit="-", history=_PATH,
)  # fmt: skip

_LAW = Law(
    par=lambda s: (
        f"free [{s.unit}]", f"stiffness [{s.force_unit}/{s.unit}]", f"damping [{s.force_unit} s/{s.unit}]",
        "share", f"limit [{s.unit}]", "exponent", "unloading",
    ),
    outputs=lambda s: (f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]", f"z [{s.unit}]"),
    force=bouc_wen_force,
    report=bouc_wen_report,
    commit=bouc_wen_commit,
    memory=4,
    path=True,
    at_end=("z",),
    watches=(_WATCH,),
)  # fmt: skip

TYPES = {
    f"bouc_wen_{name}{d}": coordinate_force(f"bouc_wen_{name}{d}", d, coordinate(kind, d), _LAW)
    for name, kind in (("spring", LENGTH), ("slide", OFFSET), ("torsion", ANGLE))
    for d in (2, 3)
}
