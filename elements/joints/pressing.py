"""Functions of all friction elements: the normal force from the multipliers of a joint, and the work that is booked.

The normal force is the norm |lambda| of three multipliers.  They are the last local unknowns of the element (unused
ones are the dummy dof, which is zero), and their scales the columns of par from ``tail`` on.
"""

from __future__ import annotations

import math

from fem_mbs.contract import DISSIPATED, DRIVER_WORK, LOAD_WORK, ONE_STATE, RULE, SF, WA, WV, inner

__all__ = ["READS", "book_friction", "multiplier_columns", "pressing_force", "pressing_force_at"]

READS = 3  # multipliers that an element reads


@inner
def pressing_force(ctl, par, dof, U, e, tail):
    """Return the norm |lambda| [N] of the multipliers of the iterate U (N,)."""
    at = dof.shape[1] - READS
    total = 0.0
    for k in range(READS):
        total += (par[e, tail + k] * U[dof[e, at + k]]) ** 2
    return math.sqrt(total) / ctl[SF]


@inner
def pressing_force_at(par, dof, Q, e, tail, state):
    """Return |lambda| [N] at the end ``state`` (0 or 1) of a step of a one-state rule; Q (2, N)."""
    at = dof.shape[1] - READS
    total = 0.0
    for k in range(READS):
        total += (par[e, tail + k] * Q[state, dof[e, at + k]]) ** 2
    return math.sqrt(total)


@inner
def multiplier_columns(ctl, par, dof, U, e, tail, pressing, by_pressing, row, K):
    """Add the derivatives of the friction by the multipliers to K (n + READS, n + READS).

    ``pressing``: |lambda|; ``by_pressing``: derivative by |lambda| of the friction, which acts along row (n,).
    """
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
    """Book the work of a step: ``given`` [J] by the drive of a running surface, ``work`` + ``given`` as dissipated.

    ``work`` [J] is the work of the friction on the coordinates, positive against their motion.
    """
    if ctl[RULE] == ONE_STATE and ctl[WV] == 0 and ctl[WA] == 0:
        f[LOAD_WORK] = -work  # statics has no time: nothing dissipates, book it as work of loads
        return
    f[DRIVER_WORK] = given
    f[DISSIPATED] = work + given
