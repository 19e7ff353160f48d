"""Outputs of locks and forces of slipping brakes on a coordinate: `brake_offset2/3`, `brake_angle2/3`.

A lock is a constraint on a coordinate s of two ends (`offset`, `angle2`, `hinge3`) that acts while the lock is closed.
The element here stands beside it.  Its parameters change at events alone:

force     D of a brake that slips, positive if it pushes towards growing s; its work c D (s1 - s0) is dissipated,
          since D is against the motion as long as the brake slips.  Zero otherwise
state     0: open, 1: closed, 2: slipping
impulse   sum of the impulses with which the lock has closed, in the direction of the growth of s
limit     force that a brake holds; zero of other locks
factor    index of the function of time c(t) >= 0 that multiplies both forces of a brake; negative index: c = 1

Outputs: c D; s and ds/dt at the end of the step; state; impulse; c times the limit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    START,
    T0,
    T1,
    TM,
    WA,
    WV,
    inline,
    inner,
    kernel,
)
from fem_mbs.elements.common import time_value
from fem_mbs.elements.joints.coordinate import ANGLE, OFFSET, Coordinate, coordinate
from fem_mbs.elements.joints.coordinate_force import Law, coordinate_force
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

FORCE, STATE, IMPULSE, LIMIT, FACTOR = range(5)  # columns of par
_FIRST = 5  # column of the coordinate's parameters


@inner
def _factor(par, e, fun, column):
    """Return the factor c of both forces at a time ``column`` (T0, TM, T1) of the step; negative values count as
    zero."""
    return max(time_value(fun, par[e, FACTOR], column, 1.0), 0.0)


@inline
def brake_force(ctl, par, e, tail, dof, hist, fun, U, s0, s1, ds, rate):
    """Return the force against the growth of s, which neither place nor rate change."""
    return -par[e, FORCE] * _factor(par, e, fun, TM), 0.0, 0.0


@functools.cache
def _report(workspace, step, rate_at, turns, vectors: int) -> Callable:
    """Return the report kernel, whose rate is that of the end of the step in every rule: a brake stops there."""

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        dim = 2 if D.shape[2] == 2 else 3
        n = 6 * (dim - 1)
        work = workspace(dim)
        row, row1, G = np.empty(n), np.empty(n), np.empty((n, n))
        ends = np.empty(ctl.size)
        for i in range(ctl.size):
            ends[i] = ctl[i]
        ends[RULE] = ONE_STATE
        for e in range(e0, e1):
            if job == START or job == COMMIT:
                turns(job == START, ctl, D, U, dof, rot, hist, e, par, _FIRST, work, row, row1, G)
                continue
            _, s1, ds = step(ctl, Q, D, U, dof, rot, hist, e, par, _FIRST, work, row, row1, G)
            f = fe[e - e0]
            if job == LEDGER:
                # statics has no time: nothing dissipates, it counts as work of loads, like that of friction
                still = ctl[RULE] == ONE_STATE and ctl[WV] == 0 and ctl[WA] == 0
                if ctl[RULE] == ONE_STATE:
                    force = 0.5 * par[e, FORCE] * (_factor(par, e, fun, T0) + _factor(par, e, fun, T1))
                else:
                    force = par[e, FORCE] * _factor(par, e, fun, TM)
                f[LOAD_WORK if still else DISSIPATED] = (force if still else -force) * ds
            elif job == OUTPUT:
                step(ends, Q, D, U, dof, rot, hist, e, par, _FIRST, work, row, row1, G)
                factor = _factor(par, e, fun, T1 if ctl[RULE] == ONE_STATE else TM)
                f[0] = par[e, FORCE] * factor
                f[1] = s1
                f[2] = rate_at(V, D, dof, rot, 1, e, work)
                f[3] = par[e, STATE]
                f[4] = par[e, IMPULSE]
                f[5] = par[e, LIMIT] * factor

    return report


def _type(name: str, dimension: int, s: Coordinate) -> ElementType:
    law = Law(
        par=lambda s: (
            f"force [{s.force_unit}]", "state", f"impulse [{s.force_unit} s]", f"limit [{s.force_unit}]", "factor"
        ),
        outputs=lambda s: (
            f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]", f"speed [{s.unit}/s]", "state",
            f"impulse [{s.force_unit} s]", f"limit [{s.force_unit}]",
        ),
        force=brake_force,
        report=None,
    )  # fmt: skip
    return coordinate_force(name, dimension, s, law, _report(s.workspace, s.step, s.rate, s.turns, s.vectors))


TYPES = {
    f"brake_{name}{d}": _type(f"brake_{name}{d}", d, coordinate(kind, d))
    for name, kind in (("offset", OFFSET), ("angle", ANGLE))
    for d in (2, 3)
}
