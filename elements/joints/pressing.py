"""What friction reads of its joint, and what it books: the norm |lambda| of up to three multipliers, and losses.

The multipliers are the last local unknowns of the element, their scales the last columns of its parameters.
"""

from __future__ import annotations

import math

from fem_mbs.contract import DISSIPATED, DRIVER_WORK, LOAD_WORK, ONE_STATE, RULE, SF, WA, WV, inner

__all__ = ["READS", "book_friction", "multiplier_columns", "pressing_force", "pressing_force_at"]

READS = 3


@inner
def pressing_force(ctl, par, dof, U, e, tail):
    """Return the norm |lambda| of the multipliers of the iterate, a force."""
    at = dof.shape[1] - READS
    total = 0.0
    for k in range(READS):
        total += (par[e, tail + k] * U[dof[e, at + k]]) ** 2
    return math.sqrt(total) / ctl[SF]


@inner
def pressing_force_at(par, dof, Q, e, tail, state):
    """Return |lambda| at an end of a step of a one-state rule."""
    at = dof.shape[1] - READS
    total = 0.0
    for k in range(READS):
        total += (par[e, tail + k] * Q[state, dof[e, at + k]]) ** 2
    return math.sqrt(total)


@inner
def multiplier_columns(ctl, par, dof, U, e, tail, pressing, by_pressing, row, K):
    """Add the columns of the multipliers to K: ``by_pressing`` times the gradient of |lambda|, along row (n,)."""
    if pressing == 0:
        return
    at = dof.shape[1] - READS
    for k in range(READS):
        scale = par[e, tail + k]
        direction = scale * U[dof[e, at + k]] / (ctl[SF] * pressing)
        for i in range(row.shape[0]):
            K[i, at + k] += by_pressing * scale * direction * row[i]


@inner
def book_friction(ctl, f, work, given):
    """Book the work of the friction force and of the drive of a running surface; the difference is dissipated."""
    if ctl[RULE] == ONE_STATE and ctl[WV] == 0 and ctl[WA] == 0:
        f[LOAD_WORK] = -work  # statics has no time: nothing dissipates, book it as work of loads
        return
    f[DRIVER_WORK] = given
    f[DISSIPATED] = work + given
