"""Solutions dU/dp of differentiated steps: guesses, right sides by differences, corrections, sizes of the differences.

A solution is extrapolated from those of the last steps.  The difference of the residuals of both changed states, at the
ends of the step that the guess gives, is the right side of a correction.  It is solved with the factors that the run
has left, or with the tangent at the end of the step.  The error after a correction is estimated by the ratio of
successive corrections, which is measured in steps with at least two of them.
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
    SYSTEMATIC,
    UNEVEN,
)
from fem_mbs.solvers.stepping.layout import POSITION, ROTATION, STATE
from fem_mbs.solvers.stepping.motion import update

__all__ = [
    "AGAIN", "BEGIN", "CUT", "MET", "MOST_CUTS", "SLOW", "TIMES", "adapt", "another_size", "corrected", "differ", "due",
    "guess", "learn", "right_side", "step_size", "weigh",
]  # fmt: skip

#: Answers of `corrected`: converged; correct again; correct again with the tangent at the end of the step.
MET, AGAIN, SLOW = 0, 1, 2

#: Smallest and largest change of positions over the model's length, and of rotations [rad], in a difference.
_LEAST, _MOST = 1e-8, 3e-5
_SHARE = 100.0  # largest change of a parameter over its size, over the change of positions
TIMES = 3.0  # ratio of the sizes of differences that are compared
_LIGHT = 0.01  # weight of round-off in multipliers, against that in motions
# every so many steps solutions are corrected at least twice, and sizes of differences adapted
_EVERY = 16  # in the first _EARLY steps
_EARLY, _LATER = 128, 32  # number of these first steps; the interval after them
BEGIN = 3  # first steps, in all of which this is done
_POOR = 1e-8  # last correction over the solution, above which the solution has not converged
_ROUNDS = 4  # largest number of corrections after the first one
_SHRINKS = 0.3  # ratio of successive corrections, above which they no longer improve the solution
_FORGET = 0.5  # factor of the earlier ratio of corrections, as a lower bound of the new one
_LEVEL = 0.9  # factor by which the maximum of right sides decays
_NOTHING = 1e-13  # change of positions over the model's length, and of rotations [rad], that is round-off
_KINK = 0.05  # unevenness above which a kink is counted
#: Unevenness above which smaller differences are tried: if it is also _SUDDEN times the usual one; in any case.
_UNEVEN, _VERY = 1e-5, 0.005
_SUDDEN = 10.0
#: Factor by which a smaller difference must reduce the unevenness; otherwise its cause is round-off, or a kink at the
#: state itself.
_LESS = 0.5
CUT = 0.03  # factor of a difference whose two states lie on different sides of an event or a kink
MOST_CUTS = 2  # largest number of such reductions
_ROUND_OFF = 1e-9  # odd part of the residuals over the largest element force, below which kinks cannot be detected
_NONE = 1e-12  # even part over the largest element force, below which there is no kink


@inner
def due(flags):
    """Return whether this step corrects its solutions at least twice and adapts the sizes of differences."""
    count = flags[COUNT]
    return count < BEGIN or count % (_EVERY if count < _EARLY else _LATER) == 0


@inner
def step_size(system, follow, p, length, h):
    """Return the change e of the scaled parameter p in differences; ``length`` [m] of the model, step ``h`` [s]."""
    size = 1.0 / _SHARE
    for k in system.positions:
        size = max(size, abs(follow.dQ[p, k]) / length, h * abs(follow.dV[p, k]) / length)
    for i in range(system.rotations.shape[0]):
        for j in range(follow.D.shape[1]):
            size = max(size, abs(follow.dD[p, i, j]), h * abs(follow.dDD[p, i, j]))
    return follow.motion[p] / size


@inner
def adapt(system, follow, p, length):
    """Choose ``motion`` of parameter p for the next differences, from the solutions for the sizes e, 3 e and 9 e.

    The error of a solution is round-off n/e plus t e^2, which is least at e^3 = n/(2 t).  The differences of the three
    solutions give n and t.  Both are relative to the solution, of motions and of multipliers.

    Round-off has any sign, truncation the same one in all steps: a member that turns along a line is strained by e^2/2
    in each, and its stiffness acts against the far smaller one that holds it.  So truncation has a weight.
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
    grown *= follow.reals[SYSTEMATIC]
    if force > 0.0:
        noise = max(noise, _LIGHT * change_3 / force)
    factor = TIMES
    if 2.0 * grown * TIMES**3 > noise:
        factor = max((noise / (2.0 * grown)) ** (1.0 / 3.0), 1.0 / TIMES)
    follow.motion[p] = min(max(follow.motion[p] * factor, _LEAST), _MOST)


@inner
def right_side(system, follow, plus, minus, e):
    """Set ``x`` to the right side of a correction: the difference of the residuals of both changed states over -2 e."""
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
    """Set ``total`` to the solution of parameter p extrapolated from the last ``order`` steps, zero without any; return
    whether there is one."""
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
    """Store the solution ``total`` of parameter p.  Choose the order of the next extrapolation: the one that would have
    predicted this solution best."""
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
    """Change the unknowns of the two states by e x and by -e x; return the largest displacement [m] and the largest
    rotation [rad], both over e."""
    for i in range(x.size):
        plus.rhs[i], minus.rhs[i] = e * x[i], -e * x[i]
    change_x, change_t = update(plus_system, plus, one_state)
    update(minus_system, minus, one_state)
    return change_x / e, change_t / e


@inner
def parts(system, plus, minus, length):
    """Return the sizes of the even part (sum) and of the odd part (difference) of the residuals of both changed states:
    the largest force, or moment over the model's length, of each [N]."""
    even, odd = 0.0, 0.0
    for k in system.unknown:
        if system.kind[k] == POSITION or system.kind[k] == ROTATION:
            unit = 1.0 if system.kind[k] == POSITION else 1.0 / length
            even = max(even, unit * abs(plus.residual[k] + minus.residual[k]))
            odd = max(odd, unit * abs(plus.residual[k] - minus.residual[k]))
    return even, odd


@inner
def unevenness(system, follow, plus, minus, p, length, e, guessed):
    """Return the unevenness: the even part of the residuals of both changed states over their odd part.

    It is small for smooth laws, and large where a law has different slopes on the two sides of the state.  It is 0
    where the parts are round-off.  If the solution was guessed, the odd part is only the error of the guess; then the
    odd part without a guess is estimated: ``force`` times the solution, at least ``level``.
    """
    even, odd = parts(system, plus, minus, length)
    if guessed:
        odd = e * max(follow.force[p] * largest(system, follow.total, length), follow.level[p])
    peak = max(plus.peak[POSITION], plus.peak[ROTATION] / length)
    return even / odd if odd > _ROUND_OFF * peak and even > _NONE * peak else 0.0


@inner
def another_size(system, follow, plus, minus, p, length, e, guessed):
    """Detect kinks of laws between both changed states; return whether the differences are to be repeated with another
    size, which ``flags[CUTS]`` gives."""
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
    """Set ``force`` and ``level`` from the residuals of states that are changed at the start of the step, but not yet
    in their unknowns."""
    size = largest(system, follow.past_x[p, 0], length)
    odd = parts(system, plus, minus, length)[1] / e
    follow.level[p] = max(odd, _LEVEL * follow.level[p])
    if size > 0.0:
        follow.force[p] = odd / size


@inner
def corrected(system, follow, plus_system, plus, minus_system, minus, length, one_state, e):
    """Change the unknowns of both states by the correction ``x``; return MET, AGAIN or SLOW."""
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
