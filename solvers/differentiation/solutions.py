"""Solutions of differentiated steps: first guesses, right sides by differences, corrections, sizes of the differences.

A solution is guessed from those of the last steps.  The residuals of both changed states, at their guessed ends, give a
correction of it, by the factors that the run has left or by the step's own tangent.  What a correction leaves is
estimated by how much corrections shrink, which steps with two of them tell.
"""

from __future__ import annotations

from fem_mbs.contract import inner
from fem_mbs.solvers.differentiation.layout import (
    COUNT,
    CUTS,
    DEFECT,
    FLOOR,
    KEPT,
    LAST,
    LEFT,
    N_PAST,
    OWN,
    OWN_RATE,
    RATE,
    ROUND,
    UNEVEN,
)
from fem_mbs.solvers.stepping.layout import POSITION, ROTATION, STATE
from fem_mbs.solvers.stepping.motion import update

__all__ = [
    "AGAIN", "BEGIN", "CUT", "MET", "MOST_CUTS", "SLOW", "TIMES", "adapt", "another_size", "corrected", "differ", "due",
    "guess", "learn", "right_side", "step_size", "weigh",
]  # fmt: skip

#: What a correction asks for: nothing, another one, or another one by the step's own tangent.
MET, AGAIN, SLOW = 0, 1, 2

#: Changes of positions over the model's length, and of rotations, in a difference: least and largest.
_LEAST, _MOST = 1e-8, 3e-5
_SHARE = 100.0  # change of a parameter over its size, at most, over that of positions
TIMES = 3.0  # between the sizes of differences that are compared
_LIGHT = 0.01  # weight of round-off in multipliers, against that in motions
_EVERY = 16  # steps between two in which solutions are corrected twice, and sizes of differences adapted
_EARLY, _LATER = 128, 32  # number of first steps to which this applies, and the same of others
BEGIN = 3  # first steps, in all of which this is done
_POOR = 1e-8  # last correction over the solution, above which it counts as an error
_ROUNDS = 4
_SHRINKS = 0.3  # ratio of two corrections, above which they are round-off
_FORGET = 0.5  # share of an earlier ratio that is kept
_LEVEL = 0.9  # the same of the largest right side
_NOTHING = 1e-13  # change of positions over the model's length, and of rotations, that is round-off
_KINK = 0.05  # part of a difference that has no sign, from which on a law has a kink there
#: The same, from which on smaller differences are tried: where it is _SUDDEN times as much as usual, and anyway.
_UNEVEN, _VERY = 1e-5, 0.005
_SUDDEN = 10.0
_LESS = (
    0.5  # of it that a smaller difference must leave, or else it has no kink beside it, but round-off or a kink in it
)
CUT = 0.03  # of a difference whose sides lie on both sides of an event or a kink
MOST_CUTS = 2
_ROUND_OFF = 1e-9  # differences of the residual over the largest element force, below which they tell nothing of kinks
_NONE = 1e-12  # the same of their part without a sign


@inner
def due(flags):
    """Return whether solutions of the step are checked, and the sizes of differences chosen anew."""
    count = flags[COUNT]
    return count < BEGIN or count % (_EVERY if count < _EARLY else _LATER) == 0


@inner
def step_size(system, follow, p, length, h):
    """Return the step of the differences with respect to a parameter."""
    size = 1.0 / _SHARE
    for k in system.positions:
        size = max(size, abs(follow.dQ[p, k]) / length, h * abs(follow.dV[p, k]) / length)
    for i in range(system.rotations.shape[0]):
        for j in range(follow.D.shape[1]):
            size = max(size, abs(follow.dD[p, i, j]), h * abs(follow.dDD[p, i, j]))
    return follow.motion[p] / size


@inner
def adapt(system, follow, p, length):
    """Choose the change of positions in the next differences from solutions of three sizes e, 3 e and 9 e.

    Differences of solutions are round-off of order 1/e, or errors of order e^2: with n/e and t e^2 their sum is least
    at e^3 = n/(2 t).  Both are taken relative to the solutions, of motions and of multipliers.
    """
    motion, change_1, change_2 = 0.0, 0.0, 0.0
    force, change_3 = 0.0, 0.0
    for i in range(follow.total.size):
        kind = system.kind[system.unknown[i]]
        x, d1, d2 = follow.total[i], follow.probes[0, i] - follow.total[i], follow.probes[1, i] - follow.probes[0, i]
        if kind == POSITION or kind == ROTATION:
            unit = 1.0 / length if kind == POSITION else 1.0
            motion = max(motion, unit * abs(x))
            change_1, change_2 = max(change_1, unit * abs(d1)), max(change_2, unit * abs(d2))
        else:
            force, change_3 = max(force, abs(x)), max(change_3, abs(d1))
    if not motion > 0.0:
        return
    grown = change_2 / motion / (TIMES**4 - TIMES**2)
    noise = max(change_1 - change_2 / TIMES**2, 0.0) / motion
    if force > 0.0:
        noise = max(noise, _LIGHT * change_3 / force)
    factor = TIMES
    if 2.0 * grown * TIMES**3 > noise:
        factor = max((noise / (2.0 * grown)) ** (1.0 / 3.0), 1.0 / TIMES)
    follow.motion[p] = min(max(follow.motion[p] * factor, _LEAST), _MOST)


@inner
def right_side(system, follow, plus, minus, e):
    """Set ``x`` to the right side of the solution from the residuals of both changed states."""
    for i in range(follow.x.size):
        k = system.unknown[i]
        follow.x[i] = -(plus.residual[k] - minus.residual[k]) / (2.0 * e)


@inner
def largest(system, x, length):
    """Return the largest displacement over the model's length, rotation, or change of a state variable in x (n_eq,)."""
    size = 0.0
    for i in range(x.size):
        kind = system.kind[system.unknown[i]]
        if kind == POSITION:
            size = max(size, abs(x[i]) / length)
        elif kind == ROTATION or kind == STATE:
            size = max(size, abs(x[i]))
    return size


@inner
def guess(follow, p):
    """Set ``total`` to the solution by a polynomial through those of the last steps; return whether there is one."""
    order = min(follow.order[p], follow.known[p])
    a, b, c = 1.0, 0.0, 0.0
    if order == 2:
        a, b = 2.0, -1.0
    elif order == 3:
        a, b, c = 3.0, -3.0, 1.0
    past = follow.past_x[p]
    for i in range(follow.total.size):
        follow.total[i] = a * past[0, i] + b * past[1, i] + c * past[2, i] if order > 0 else 0.0
    return order > 0


@inner
def learn(system, follow, p, length):
    """Keep the solution, and choose the number of solutions to extrapolate that would have met it best."""
    past, x = follow.past_x[p], follow.total
    best, order = largest(system, x, length), 0
    for n in range(1, follow.known[p] + 1):
        a, b, c = 1.0, 0.0, 0.0
        if n == 2:
            a, b = 2.0, -1.0
        elif n == 3:
            a, b, c = 3.0, -3.0, 1.0
        error = 0.0
        for i in range(x.size):
            kind = system.kind[system.unknown[i]]
            unit = 1.0 / length if kind == POSITION else (1.0 if kind == ROTATION or kind == STATE else 0.0)
            error = max(error, unit * abs(x[i] - a * past[0, i] - b * past[1, i] - c * past[2, i]))
        if error < best:
            best, order = error, n
    if follow.known[p] < N_PAST:
        follow.known[p] += 1
        order = max(order, 1)
    follow.order[p] = order
    for i in range(x.size):
        past[2, i], past[1, i], past[0, i] = past[1, i], past[0, i], x[i]


@inner
def differ(system, follow, plus_system, plus, minus_system, minus, one_state, x, e):
    """Change the unknowns of both states by e x to either side; return the larger of displacement over e, and of
    rotation over e."""
    for i in range(x.size):
        plus.rhs[i], minus.rhs[i] = e * x[i], -e * x[i]
    change_x, change_t = update(plus_system, plus, one_state)
    update(minus_system, minus, one_state)
    return change_x / e, change_t / e


@inner
def parts(system, plus, minus, length):
    """Return the parts of the residuals of both changed states that keep and that change their sign: the largest
    moments over the model's length, or forces, of each."""
    even, odd = 0.0, 0.0
    for k in system.unknown:
        if system.kind[k] == POSITION or system.kind[k] == ROTATION:
            unit = 1.0 if system.kind[k] == POSITION else 1.0 / length
            even = max(even, unit * abs(plus.residual[k] + minus.residual[k]))
            odd = max(odd, unit * abs(plus.residual[k] - minus.residual[k]))
    return even, odd


@inner
def unevenness(system, follow, plus, minus, p, length, e, guessed):
    """Return how much of the change of the residual has no sign, as where a law has another slope on each side of the
    state; 0 where all of it is round-off.

    At a guess, differences of residuals are what it has missed; without it they would be ``force`` times the solution.
    """
    even, odd = parts(system, plus, minus, length)
    if guessed:
        odd = e * max(follow.force[p] * largest(system, follow.total, length), follow.level[p])
    peak = max(plus.peak[POSITION], plus.peak[ROTATION] / length)
    return even / odd if odd > _ROUND_OFF * peak and even > _NONE * peak else 0.0


@inner
def another_size(system, follow, plus, minus, p, length, e, guessed):
    """Judge whether laws have a kink between both changed states; return whether differences of another size, reduced
    by ``flags[CUTS]``, are to be tried."""
    flags, reals = follow.flags, follow.reals
    uneven, before = unevenness(system, follow, plus, minus, p, length, e, guessed), reals[UNEVEN]
    reals[UNEVEN] = uneven
    smaller = flags[CUTS] < MOST_CUTS and follow.motion[p] * CUT ** (flags[CUTS] + 1) >= reals[FLOOR]
    if flags[CUTS] == 0 and flags[KEPT] == 0:
        usual = follow.usual[p]
        follow.usual[p] += 0.2 * (uneven / e - usual)
        if smaller and (uneven > max(_SUDDEN * usual * e, _UNEVEN) or uneven > _VERY):
            flags[CUTS] = 1
            return True
    elif flags[KEPT] == 0:
        if uneven > _LESS * before:
            flags[CUTS], flags[KEPT] = 0, 1
            return True
        if smaller and uneven > _UNEVEN:
            flags[CUTS] += 1
            return True
    if uneven > _KINK:
        follow.kinks[p] += 1
    return False


@inner
def weigh(system, follow, plus, minus, p, length, e):
    """Set ``force`` and ``level`` by the residuals of states that are changed at the start of the step only."""
    size = largest(system, follow.past_x[p, 0], length)
    odd = parts(system, plus, minus, length)[1] / e
    follow.level[p] = max(odd, _LEVEL * follow.level[p])
    if size > 0.0:
        follow.force[p] = odd / size


@inner
def corrected(system, follow, plus_system, plus, minus_system, minus, length, one_state, e):
    """Change the unknowns of both states by the correction; return what is asked for then."""
    flags, reals = follow.flags, follow.reals
    change_x, change_t = differ(system, follow, plus_system, plus, minus_system, minus, one_state, follow.x, e)
    change, size = max(change_x / length, change_t), largest(system, follow.total, length)
    ratio = change / size if size > 0.0 else 0.0
    known = OWN_RATE if flags[OWN] == 1 else RATE
    last = reals[LAST]
    reals[LAST] = ratio
    if flags[ROUND] == 0:
        return AGAIN if ratio > 0.0 and (due(flags) or ratio * reals[known] > reals[LEFT]) else MET
    rate = ratio / last if last > 0.0 else 0.0
    if flags[ROUND] == 1:
        reals[known] = min(max(rate, _FORGET * reals[known]), 1.0)
    if not ratio * min(rate, 1.0) > reals[LEFT]:
        return MET
    if rate < _SHRINKS and flags[ROUND] < _ROUNDS:
        return AGAIN
    if ratio > _POOR and change * e > _NOTHING:
        if flags[OWN] == 0:
            return SLOW
        reals[DEFECT] = max(reals[DEFECT], ratio)
    return MET
