"""When the iterations of a step end: small residuals, increments at round-off, and corrections that are known to be
small without another evaluation of the residual.

A correction d_i solves K d_i = -r_i.  With one tangent for all iterations of a step they shrink by the rate
theta = |d_i| / |d_(i-1)|, and so do the residuals (Hairer & Wanner 1996, section IV.8, eqs 8.8 to 8.11).  So the
correction after d_i is about theta d_i, and the step can end with d_i where this is small enough; an evaluation of the
residual would only confirm it.  Small enough is what `energy_tolerance` asks for: the next correction is at most this
share of the increments of the step, it changes multipliers by at most this share of the largest one, and the work of
what is left of the residual over the step, which is the error of its energy balance, is a small part of what the
tolerance leaves for the rest of the run.  Without this tolerance only evaluated residuals and increments count.

From a tangent formed at the first guess, the second correction is of the order of |d_1|^2.  Its ratio to |d_1|^2 is
remembered from steps that have made it, so that in smooth motion a step may end with its first correction.  This ratio
is measured anew every few steps, where the first correction is larger than those that it was measured with, and where
the energy of a step shows that it was wrong.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.contract import inline, inner
from fem_mbs.solvers.stepping.layout import (
    CLOSING,
    CTOL,
    ENERGY,
    ETOL,
    FLOOR_T,
    FLOOR_X,
    FRESH,
    HIGHEST,
    ITERATION,
    LARGEST_KINETIC,
    LENGTH,
    LOWEST,
    MULTIPLIER,
    NEXT_L,
    NEXT_T,
    NEXT_W,
    NEXT_X,
    POSITION,
    REACH,
    ROTATION,
    RTOL,
    STATE,
    SURE,
    WORK,
    WORST,
    WORST_VALUE,
)

__all__ = ["book_energy", "constraints_met", "enough", "forget", "settled", "small_residual", "work_of_residual"]

_SETTLED = 1e-9  # change of multipliers over the largest one, below which they have converged
_FAST = 0.02  # rate below which corrections shrink like a geometric series
_SAFETY = 4.0  # factor of estimated corrections: the first rate of a step is a fraction of the later ones
_WIDER = 2.0  # first corrections over the one that a remembered ratio was measured with, up to which it serves
_STEPS_SURE = 8  # number of successive steps for which a remembered ratio serves
_SHARE = 0.1  # of the energy error that the tolerance leaves to the rest of the run, for one step


@inline
def small_residual(system, state, real, counter):
    """Return whether every free row is small against the largest contribution of its kind; remember the worst."""
    r, peak = state.residual, state.peak
    worst, at = 0.0, -1
    tx = real[RTOL] * peak[POSITION]
    tt = real[RTOL] * max(peak[ROTATION], 1e-3 * peak[POSITION] * real[LENGTH])
    for k in system.unknown:
        kind = system.kind[k]
        limit = tx if kind == POSITION else (tt if kind == ROTATION else real[CTOL] * system.row_scale[k])
        if kind == STATE:  # its row is the error of the step in units of the variable
            limit *= max(1.0, abs(state.Q[1, k]))
        a = abs(r[k])
        if not a <= worst * limit:
            worst, at = a / limit if limit > 0.0 else np.inf, k
            if np.isnan(a):
                break
    counter[WORST] = at
    real[WORST_VALUE] = worst
    return worst <= 1.0


@inner
def constraints_met(system, state, real):
    """Return whether all constraints hold to some units of round-off at the last iterate.

    Where constraints depend on each other, the increments of the nodes tell nothing about those that contradict.
    """
    for k in system.unknown:
        if system.kind[k] == MULTIPLIER and not abs(state.residual[k]) <= 1e3 * real[CTOL] * system.row_scale[k]:
            return False
    return True


@inner
def settled(system, state):
    """Return whether the last increment has changed the multipliers by less than `_SETTLED` times the largest one.

    Where forces depend on multipliers, small increments of the nodes do not show that the multipliers have converged.
    """
    change, largest = multiplier_change(system, state)
    return change <= _SETTLED * largest


@inline
def multiplier_change(system, state):
    """Return the largest change of a multiplier by the last correction, and the largest multiplier."""
    change = largest = 0.0
    for i in range(system.unknown.size):
        k = system.unknown[i]
        if system.kind[k] == MULTIPLIER:
            change = max(change, abs(state.rhs[i]))
            largest = max(largest, abs(state.U[k]))
    return change, largest


@inline
def work_of_residual(system, state, sf):
    """Return the sum of |r U| over all rows [J]: a bound of the error of a step's energy balance.

    Discrete forces of the mid-point rule do exactly the work by which energies change, so that r . U is all that is
    missing.
    """
    work = 0.0
    for k in system.unknown:
        work += abs(state.residual[k] * state.U[k])
    return work / sf


@inner
def enough(system, state, real, counter, size_x, size_t, norm, last):
    """Return whether what the next correction would change need not be computed, and by which ratio it is smaller.

    Args:
        size_x, size_t: the last correction of displacements [m] and of rotations.
        norm, last: size of the last correction over the model's length, and of the one before it (0: there is none).
    """
    change, largest = multiplier_change(system, state)
    if last > 0.0:
        rate = norm / last
        if counter[ITERATION] == 2 and counter[FRESH] == 0:
            scale = 1.0 / (last * last)
            real[REACH], real[SURE] = last, 0.0
            real[NEXT_X], real[NEXT_T] = size_x * scale, size_t * scale
            real[NEXT_L] = change * scale
            real[NEXT_W] = real[WORK] * scale
        if not rate <= _FAST:
            return False, rate
        ratio = _SAFETY * rate
        x, t, change, work = ratio * size_x, ratio * size_t, ratio * change, ratio * real[WORK]
    else:
        known = counter[FRESH] == 0 and 0.0 < norm <= _WIDER * real[REACH] and real[SURE] < _STEPS_SURE
        if not known:
            return False, 1.0
        f = _SAFETY * norm * norm
        x, t, change, work = f * real[NEXT_X], f * real[NEXT_T], f * real[NEXT_L], f * real[NEXT_W]
        rate = max(x / real[LENGTH], t) / norm
        real[SURE] += 1.0
    moved = 0.0
    for k in system.unknown:
        if system.kind[k] == POSITION:
            moved = max(moved, abs(state.U[k]) / real[LENGTH])
        elif system.kind[k] == ROTATION:
            moved = max(moved, abs(state.U[k]))
    moved *= real[ETOL]
    fine = x <= max(moved * real[LENGTH], real[FLOOR_X]) and t <= max(moved, real[FLOOR_T])
    return fine and change <= real[ETOL] * largest and work <= _SHARE * energy_left(real), rate


@inline
def energy_left(real):
    """Return the error of the energy [J] that `energy_tolerance` leaves: its share of the energy that parts and loads
    have exchanged so far, less the error that there is."""
    scale = max(real[HIGHEST] - real[LOWEST], real[LARGEST_KINETIC])
    return max(real[ETOL] * scale - abs(real[CLOSING]), 0.0)


@inner
def book_energy(row, real):
    """Enter the energies of a step in the account of `energy_left`.

    Args:
        row: of the ledger: energies at the end of the step, works over it.
    """
    energy = row[C.KINETIC] + row[C.STRAIN] + row[C.POTENTIAL]
    error = energy - real[ENERGY] + row[C.DISSIPATED] - row[C.LOAD_WORK] - row[C.DRIVER_WORK]
    if not abs(error) <= _SHARE * energy_left(real):
        forget(real)
    real[ENERGY] = energy
    real[CLOSING] += error
    real[LOWEST] = min(real[LOWEST], energy - real[CLOSING])
    real[HIGHEST] = max(real[HIGHEST], energy - real[CLOSING])
    real[LARGEST_KINETIC] = max(real[LARGEST_KINETIC], row[C.KINETIC] - max(real[CLOSING], 0.0))


@inline
def forget(real):
    """Drop the remembered size of second corrections."""
    real[REACH] = 0.0
