"""Servo valves of hydraulic actuators: the law of their opening, and the flow through an edge.

With q = s - start and e = r(t) - q the law asks for the opening

    u* = f(t) + kp e + kd e' - kf p,   limited to -limit .. limit,

p the load pressure.  The flow through an edge with the pressure difference y p_s is K u r(y), with
r(y) = y/(y^2 + d^2)^(1/4) -> sqrt(y), d = 1e-3 (Merritt 1967, ch. 5).  r keeps its slope finite where the difference
vanishes, beyond which oil flows back.

The flow has a corner where the valve closes: it opens another edge to the other side.  The slope by u of a closed valve
(|u| <= 1e-12, so that round-off chooses no side) is the mean of both.
"""

from __future__ import annotations

from fem_mbs.contract import inner
from fem_mbs.elements.common import time_value
from fem_mbs.elements.joints.coordinate import Coordinate

__all__ = ["COLUMNS", "KD", "KF", "KP", "asked", "opened", "opening_columns"]

# first columns of par of actuators with a valve
START, FUNCTION, REFERENCE, REFERENCE_RATE, KP, KD, KF, LIMIT = range(8)
COLUMNS = 8
_NEAR = 1e-6  # d^2
_CLOSED = 1e-12  # opening of a closed valve


def opening_columns(s: Coordinate) -> tuple[str, ...]:
    """Return the names of the first columns on a coordinate."""
    return (
        f"start [{s.unit}]", "function", "reference", "reference rate", f"kp [1/{s.unit}]", f"kd [s/{s.unit}]",
        "kf [1/Pa]", "limit",
    )  # fmt: skip


@inner
def asked(par, e, fun, time, s, rate, p):
    """Return the opening that the law asks for, and 1, or 0 where the limit cuts it off."""
    error = time_value(fun, par[e, REFERENCE], time, 0.0) - (s - par[e, START])
    u = time_value(fun, par[e, FUNCTION], time, 0.0) + par[e, KP] * error - par[e, KF] * p
    u += par[e, KD] * (time_value(fun, par[e, REFERENCE_RATE], time, 0.0) - rate)
    cut = min(max(u, -par[e, LIMIT]), par[e, LIMIT])
    return cut, (1.0 if cut == u else 0.0)


@inner
def opened(u, above, below):
    """Return r and its derivative by its argument at an opening u: ``above`` and ``below`` are the pressure differences
    over the supply at the edges that u > 0 and u < 0 open."""
    if -_CLOSED <= u <= _CLOSED:
        return 0.5 * (_edge(above)[0] + _edge(below)[0]), 0.0
    return _edge(above if u > 0 else below)


@inner
def _edge(y):
    """Return r(y), and its derivative."""
    w = y * y + _NEAR
    root = w**-0.25
    return y * root, root * (1.0 - 0.5 * y * y / w)
