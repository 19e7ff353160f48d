"""Derivatives of time steps with respect to parameters, compiled: direct differentiation with the step's own tangent.

A step solves R(U; s_0, p) = 0 for its unknowns U, from the state s_0 at its start under parameters p; its end is a
function s_1(U; s_0, p).  Its derivatives with respect to p are (Dias & Pereira 1993, eqs 22-28, for the equations of
motion; here for the discrete step, so that they are those of the computed motion, not of the exact one)

    K dU/dp = -(R_s0 ds_0/dp + R_p),    ds_1/dp = s_U dU/dp + s_s0 ds_0/dp + s_p,

K being the tangent at the end of the iterations, factored once for all parameters.  The products on the right sides are
central differences of the residual and of the end of the step along one direction, (ds_0/dp, 1): two evaluations of the
elements per parameter, whatever the number of unknowns, for each element that has a force and a report.  What a
parameter changes (element parameters, places of supports, weight, time functions) is given as derivatives.

Parameters are scaled: a change by 1 is one of the size of the parameter.  The steps of the differences are small
against the sizes of the model and of its rotations, and against the parameter.

`advance` makes steps and differentiates each of them.  It comes back to Python as `fem_mbs.solvers.stepping.stepper`
does, and besides when a sparse solver is to factor ``plus.values`` (NEED_TANGENT), or to solve for ``follow.x``
(NEED_DERIVATIVE); SINGULAR_TANGENT is a tangent without a pivot in equation
``counter[WORST]``, at which motions have no derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs import contract as C
from fem_mbs.array_records import array_record
from fem_mbs.arrays import copy, part
from fem_mbs.contract import inner, kernel
from fem_mbs.solvers.stepping import gauge as G
from fem_mbs.solvers.stepping import stepper
from fem_mbs.solvers.stepping.assembly import assemble, prescribed_rows, share
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.layout import (
    BANDED,
    DONE,
    FRAME_EVERY,
    KL,
    KU,
    LENGTH,
    MIDPOINT,
    POSITION,
    RESTART_EVERY,
    ROTATION,
    RULE_KIND,
    STEP,
    WORST,
)
from fem_mbs.solvers.stepping.layout import PHASE as STEPPER_PHASE
from fem_mbs.solvers.stepping.motion import update

__all__ = [
    "CAREFUL", "DEFECT", "LONE", "NEED_DERIVATIVE", "NEED_TANGENT", "N_FLAGS", "N_REALS", "PHASE", "SINGULAR_TANGENT",
    "STEPPING", "Follow", "advance", "spread_state",
]  # fmt: skip

#: Answers of `advance` besides those of the stepper.
NEED_TANGENT, NEED_DERIVATIVE, SINGULAR_TANGENT = 20, 21, 22

# --- flags -----------------------------------------------------------------------------------------------------------
PHASE, NUMBER, ROUND, CAREFUL, LONE, COUNT, PROBE, CUTS = range(8)
N_FLAGS = 8
# --- phases ----------------------------------------------------------------------------------------------------------
STEPPING, TANGENT, RESIDUAL, SOLVED = range(4)
# --- real values -----------------------------------------------------------------------------------------------------
FIRST = 0  # size of the first solution of a step, before its corrections
DEFECT = 1  # largest last correction over the first solution, where corrections have not become small
LAST = 2  # last correction over the first solution
N_REALS = 3

#: Changes of positions over the model's length, and of rotations, in a difference: least and largest.
_LEAST, _MOST = 1e-8, 3e-5
_SHARE = 100.0  # change of a parameter over its size, at most, over that of positions
_TIMES = 3.0  # between the sizes of differences that are compared
_LIGHT = 0.01  # weight of round-off in multipliers, against that in motions
_EVERY = 16  # steps between two in which solutions are checked by a second one, and sizes of differences adapted
_BEGIN = 3  # first steps, in all of which this is done
_MET = 1e-8  # change of a solution by a second one, below which one is enough
_ROUNDS = 4
_SHRINKS = 0.3  # ratio of two corrections, above which they are round-off
_NOTHING = 1e-13  # change of positions over the model's length, and of rotations, that is round-off
_KINK = 0.05  # part of a difference that has no sign, from which on a law has a kink there
_CUT = 0.03  # of a difference whose sides lie on both sides of an event
_CUTS = 2
_ROUND_OFF = 1e-9  # differences of the residual over the largest element force, below which they tell nothing of kinks


class Follow(NamedTuple):
    """Derivatives of a state with respect to scaled parameters, the first index of those with a ``d``; and the start of
    the running step."""

    flags: np.ndarray  # (N_FLAGS,) int64
    reals: np.ndarray  # (N_REALS,)
    motion: np.ndarray  # (n_par,) changes of positions over the model's length, and of rotations, in differences
    size: np.ndarray  # (n_par,) steps of the differences
    probes: np.ndarray  # (2, n_eq) solutions of larger differences
    kinks: np.ndarray  # (n_par,) int64: steps in which laws had a kink
    x: np.ndarray  # (n_eq,) right side, then solution
    zero: np.ndarray  # (N,) zeros
    Q: np.ndarray  # (N,) start of the step
    D: np.ndarray  # (nr, ..)
    V: np.ndarray
    DD: np.ndarray
    past: np.ndarray  # (4, N)
    reaction: np.ndarray
    work: np.ndarray
    hist: np.ndarray
    dQ: np.ndarray  # (n_par, N) derivatives at the start of the step, then at its end
    dD: np.ndarray  # (n_par, nr, ..)
    dV: np.ndarray
    dDD: np.ndarray
    dpast: np.ndarray  # (n_par, 4, N)
    dreaction: np.ndarray
    dwork: np.ndarray
    dhist: np.ndarray
    dpar: np.ndarray  # (n_par, parameters of all elements)
    dplace: np.ndarray  # (n_par, n_driven) of the places of supports
    dctl: np.ndarray  # (n_par, N_CTL) of the weight
    dfuns: np.ndarray  # (n_par * n_steps, n_fun, 3) time functions, steps of a parameter side by side
    dvalues: np.ndarray  # (n_par, n_steps, n_record) results: recorded values
    dledger: np.ndarray  # (n_par, n_steps, N_LEDGER)
    fun_plus: np.ndarray  # (n_fun, 3)
    fun_minus: np.ndarray
    ctl_plus: np.ndarray
    ctl_minus: np.ndarray


FOLLOW = array_record(
    Follow,
    {
        "f8 3": "dD dDD dpast dfuns dvalues dledger",
        "f8 2": "D DD past dQ dV dreaction dwork dhist dpar dplace dctl fun_plus fun_minus probes",
        "f8 1": "reals motion size x zero Q V reaction work hist ctl_plus ctl_minus",
        "i8 1": "flags kinks",
    },
)


@inner
def keep(system, state, follow):
    """Remember the start of a step."""
    for k in range(follow.Q.size):
        follow.Q[k], follow.V[k], follow.reaction[k] = state.Q[0, k], state.V[0, k], state.reaction[0, k]
    for i in range(follow.D.shape[0]):
        for j in range(follow.D.shape[1]):
            follow.D[i, j], follow.DD[i, j] = state.D[0, i, j], state.DD[0, i, j]
    copy(state.past, follow.past)
    copy(state.work, follow.work)
    copy(system.hist, follow.hist)


@inner
def spread(follow, system, own_system, own, p, e):
    """Set parameters, and the start of a step, changed by e times their derivatives with respect to parameter p."""
    for k in range(follow.Q.size):
        own.Q[0, k] = follow.Q[k] + e * follow.dQ[p, k]
        own.V[0, k] = follow.V[k] + e * follow.dV[p, k]
        own.reaction[0, k] = follow.reaction[k] + e * follow.dreaction[p, k]
        for i in range(4):
            own.past[i, k] = follow.past[i, k] + e * follow.dpast[p, i, k]
    for i in range(follow.D.shape[0]):
        for j in range(follow.D.shape[1]):
            own.D[0, i, j] = follow.D[i, j] + e * follow.dD[p, i, j]
            own.DD[0, i, j] = follow.DD[i, j] + e * follow.dDD[p, i, j]
    for k in range(follow.work.size):
        own.work[k] = follow.work[k] + e * follow.dwork[p, k]
    for k in range(follow.hist.size):
        own_system.hist[k] = follow.hist[k] + e * follow.dhist[p, k]
    for k in range(system.par.size):
        own_system.par[k] = system.par[k] + e * follow.dpar[p, k]
    for k in range(system.driven.size):
        own_system.driven_reference[k] = system.driven_reference[k] + e * follow.dplace[p, k]
    for k in range(system.row_scale.size):
        own_system.row_scale[k] = system.row_scale[k]


@kernel
def spread_state(follow, system, own_system, own, p, e):
    """Do what `spread` does, for a start that Python goes on with."""
    spread(follow, system, own_system, own, p, e)


@inner
def under(follow, row, n_steps, ctl, fun, own_ctl, own_fun, p, e):
    """Set control values and time functions of a step, changed by e times their derivatives."""
    for k in range(ctl.size):
        own_ctl[k] = ctl[k] + e * follow.dctl[p, k]
    at = p * n_steps + row
    for i in range(fun.shape[0]):
        for j in range(3):
            own_fun[i, j] = fun[i, j] + e * follow.dfuns[at, i, j]


@inner
def drive(system, own_system, own, fun):
    """Set the increments of driven dofs, as the first guess of a step does."""
    for i in range(system.driven.size):
        k = system.driven[i]
        step = own_system.driven_reference[i] + fun[system.driver[i], C.T1] - own.Q[0, k]
        own.U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, own.U)


@inner
def forces(job, kernels, own_system, own, ctl, fun, real, counter):
    """Assemble the residual, for TANGENT the matrix too, at the unknowns of a state."""
    stepper.present(own_system, own, ctl[C.H], real, counter)
    if counter[RULE_KIND] == MIDPOINT:
        assemble(job, kernels, own_system, ctl, fun, own.Q, own.D, own.V, own.DD, own.U, own)
    else:
        assemble(job, kernels, own_system, ctl, fun, own.Qw, own.Dw, own.V, own.DD, own.Uw, own)


@inner
def reactions(kernels, own_system, own, ctl, fun, real, counter):
    """Assemble the residual of the prescribed dofs at the unknowns of a state."""
    stepper.present(own_system, own, ctl[C.H], real, counter)
    if counter[RULE_KIND] == MIDPOINT:
        prescribed_rows(kernels, own_system, ctl, fun, own.Q, own.D, own.V, own.DD, own.U, own)
    else:
        prescribed_rows(kernels, own_system, ctl, fun, own.Qw, own.Dw, own.V, own.DD, own.Uw, own)


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
    for i in range(follow.x.size):
        kind = system.kind[system.unknown[i]]
        x, d1, d2 = follow.x[i], follow.probes[0, i] - follow.x[i], follow.probes[1, i] - follow.probes[0, i]
        if kind == POSITION or kind == ROTATION:
            unit = 1.0 / length if kind == POSITION else 1.0
            motion = max(motion, unit * abs(x))
            change_1, change_2 = max(change_1, unit * abs(d1)), max(change_2, unit * abs(d2))
        else:
            force, change_3 = max(force, abs(x)), max(change_3, abs(d1))
    if not motion > 0.0:
        return
    grown = change_2 / motion / (_TIMES**4 - _TIMES**2)
    noise = max(change_1 - change_2 / _TIMES**2, 0.0) / motion
    if force > 0.0:
        noise = max(noise, _LIGHT * change_3 / force)
    factor = _TIMES
    if 2.0 * grown * _TIMES**3 > noise:
        factor = max((noise / (2.0 * grown)) ** (1.0 / 3.0), 1.0 / _TIMES)
    follow.motion[p] = min(max(follow.motion[p] * factor, _LEAST), _MOST)


@inner
def right_side(system, follow, plus, minus, e):
    """Set ``x`` to the right side of the solution from the residuals of both changed states."""
    for i in range(follow.x.size):
        k = system.unknown[i]
        follow.x[i] = -(plus.residual[k] - minus.residual[k]) / (2.0 * e)


@inner
def has_kink(system, plus, minus, length):
    """Return whether the residual has another slope on each side of the state."""
    even, odd, peak = 0.0, 0.0, 0.0
    for k in system.unknown:
        if system.kind[k] == POSITION or system.kind[k] == ROTATION:
            unit = 1.0 if system.kind[k] == POSITION else 1.0 / length
            even = max(even, unit * abs(plus.residual[k] + minus.residual[k]))
            odd = max(odd, unit * abs(plus.residual[k] - minus.residual[k]))
    peak = max(plus.peak[POSITION], plus.peak[ROTATION] / length)
    return odd > _ROUND_OFF * peak and even > _KINK * odd


@inner
def apart(system, plus_system, minus_system):
    """Return whether an event has happened to one of both changed states only: a contact that begins and keeps its
    speed of approach, a spring that yields.  What it keeps then jumps between them."""
    count = 0
    for k in range(system.hist.size):
        count += (plus_system.hist[k] == 0.0) != (minus_system.hist[k] == 0.0)
    return count > 0


@inner
def adopt(follow, system, plus_system, minus_system, plus, minus, one, p, row, half):
    """Store the differences of the ends of a step, and of the values recorded there, over 1/half."""
    for k in range(follow.Q.size):
        follow.dQ[p, k] = half * (plus.Q[0, k] - minus.Q[0, k])
        follow.dV[p, k] = half * (plus.V[0, k] - minus.V[0, k])
        follow.dreaction[p, k] = half * (plus.reaction[0, k] - minus.reaction[0, k])
        for i in range(4):
            follow.dpast[p, i, k] = half * (plus.past[i, k] - minus.past[i, k])
    for i in range(follow.D.shape[0]):
        for j in range(follow.D.shape[1]):
            follow.dD[p, i, j] = half * (plus.D[0, i, j] - minus.D[0, i, j])
            follow.dDD[p, i, j] = half * (plus.DD[0, i, j] - minus.DD[0, i, j])
    for k in range(follow.work.size):
        follow.dwork[p, k] = half * (plus.work[k] - minus.work[k])
    for k in range(follow.hist.size):
        follow.dhist[p, k] = half * (plus_system.hist[k] - minus_system.hist[k])
    for k in range(system.record.shape[0]):
        follow.dvalues[p, row, k] = half * (one.values[0, k] - one.values[1, k])
    for k in range(C.N_LEDGER):
        follow.dledger[p, row, k] = half * (one.ledger[0, k] - one.ledger[1, k])


@inner
def due(flags):
    """Return whether solutions of the step are checked, and the sizes of differences chosen anew."""
    return flags[COUNT] < _BEGIN or flags[COUNT] % _EVERY == 0


@inner
def begin_change(follow, system, state, own_system, own, ctl, fun, p, row, n_steps, e, up):
    """Set a changed state at the start of a step, with the unknowns of the step and its own driven dofs."""
    own_ctl = follow.ctl_plus if up else follow.ctl_minus
    own_fun = follow.fun_plus if up else follow.fun_minus
    spread(follow, system, own_system, own, p, e)
    under(follow, row, n_steps, ctl, fun, own_ctl, own_fun, p, e)
    copy(state.U, own.U)
    drive(system, own_system, own, own_fun)


@inner
def both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter):
    """Assemble the residuals of both changed states."""
    forces(C.FORCE, kernels, plus_system, plus, follow.ctl_plus, follow.fun_plus, real, counter)
    forces(C.FORCE, kernels, minus_system, minus, follow.ctl_minus, follow.fun_minus, real, counter)


@inner
def corrected(system, follow, plus_system, plus, minus_system, minus, length, one_state, e):
    """Change the unknowns of both states by the solution; return whether another solution shall correct it."""
    flags, reals = follow.flags, follow.reals
    for i in range(follow.x.size):
        plus.rhs[i], minus.rhs[i] = e * follow.x[i], -e * follow.x[i]
    change_x, change_t = update(plus_system, plus, one_state)
    update(minus_system, minus, one_state)
    change = max(change_x / length, change_t) / e
    if flags[ROUND] == 0:
        reals[FIRST] = change
        return flags[CAREFUL] == 1 or due(flags)
    ratio = change / reals[FIRST] if reals[FIRST] > 0.0 else 0.0
    last = reals[LAST]
    reals[LAST] = ratio
    if not ratio > _MET:
        return False
    if flags[ROUND] == 1:
        return True
    shrinks = ratio < _SHRINKS * last
    if shrinks:  # what is left is no round-off: later steps are corrected too
        flags[CAREFUL] = 1
        if flags[ROUND] < _ROUNDS:
            return True
    if change * e > _NOTHING:
        reals[DEFECT] = max(reals[DEFECT], ratio)
    return False


@inner
def close(
    kernels, reports, follow, system, plus_system, plus, minus_system, minus, one, own_counter, counter, real,
):  # fmt: skip
    """Accept the step of both changed states; rows 0 and 1 of ``one`` get what they record."""
    reactions(kernels, plus_system, plus, follow.ctl_plus, follow.fun_plus, real, counter)
    reactions(kernels, minus_system, minus, follow.ctl_minus, follow.fun_minus, real, counter)
    own_counter[RULE_KIND], own_counter[FRAME_EVERY], own_counter[RESTART_EVERY] = counter[RULE_KIND], 0, 0
    own_counter[STEP] = 0
    stepper.commit(kernels, reports, plus_system, plus, one, follow.ctl_plus, follow.fun_plus, own_counter, real)
    own_counter[STEP] = 1
    stepper.commit(kernels, reports, minus_system, minus, one, follow.ctl_minus, follow.fun_minus, own_counter, real)


# In one piece, as the stepper's: it leaves for Python in the middle of a step, and goes on in the phase that it left.
@kernel
def advance(
    kernels, reports, system, state, output, ctl, funs, counter, real, rank, follow, plus_system, plus, minus_system,
    minus, one, own_counter,
):  # fmt: skip
    """Make the steps of ``funs`` (n_steps, n_fun, 3) and differentiate each; see the module's docstring.

    With ``follow.flags[LONE]`` set, the last step of the state, of the first row of ``funs``, is differentiated alone.
    ``plus`` and ``minus`` are states that are changed in both directions; ``one`` holds two rows of output for them.
    """
    ctl, funs, counter, real = C.borrow(ctl), C.borrow(funs), C.borrow(counter), C.borrow(real)
    flags = follow.flags
    n_steps = funs.shape[0]
    one_state = counter[RULE_KIND] != MIDPOINT
    n, kl, ku = system.unknown.size, counter[KL], counter[KU]
    width = 2 * kl + ku + 1
    n_par = follow.size.size
    if flags[LONE] == 1 and flags[PHASE] == STEPPING:
        flags[PHASE] = TANGENT
    while True:
        if flags[PHASE] == STEPPING:
            at_start = counter[STEPPER_PHASE] == 0
            if flags[LONE] == 1 or counter[STEP] >= n_steps or (at_start and rank.flags[G.SMALL] == 1):
                return DONE
            if at_start:
                keep(system, state, follow)
            answer = stepper.advance(
                kernels, reports, system, state, output, ctl, funs[: counter[STEP] + 1], counter, real, rank
            )
            if answer != DONE:
                return answer
            flags[PHASE] = TANGENT
        row = 0 if flags[LONE] == 1 else counter[STEP] - 1
        fun = funs[row]
        if flags[PHASE] == TANGENT:
            spread(follow, system, plus_system, plus, 0, 0.0)
            copy(state.U, plus.U)
            forces(C.TANGENT, kernels, plus_system, plus, ctl, fun, real, counter)
            flags[PHASE], flags[NUMBER], flags[ROUND] = RESIDUAL, 0, 0
            flags[PROBE] = 2 if due(flags) else 0
            if counter[BANDED] == 0:
                return NEED_TANGENT
            if rank.flags[G.MODE] != G.PLAIN:
                G.regularise(rank, plus.values, kl + ku, width)
            ab = part(plus.values, 0, n, width)
            bad = band_factor(n, kl, ku, ab, plus.pivot)
            if bad >= 0:
                counter[WORST] = system.unknown[bad]
                return SINGULAR_TANGENT
        p = flags[NUMBER]
        if flags[PHASE] == RESIDUAL:
            if flags[ROUND] == 0:
                e = step_size(system, follow, p, real[LENGTH], ctl[C.H]) * _TIMES ** flags[PROBE] * _CUT ** flags[CUTS]
                follow.size[p] = e
                begin_change(follow, system, state, plus_system, plus, ctl, fun, p, row, n_steps, e, True)
                begin_change(follow, system, state, minus_system, minus, ctl, fun, p, row, n_steps, -e, False)
                both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter)
                if flags[PROBE] == 0 and flags[CUTS] == 0 and has_kink(system, plus, minus, real[LENGTH]):
                    follow.kinks[p] += 1
                right_side(system, follow, plus, minus, e)
            flags[PHASE] = SOLVED
            if counter[BANDED] == 0:
                return NEED_DERIVATIVE
            band_solve(n, kl, ku, part(plus.values, 0, n, width), plus.pivot, follow.x)
            G.balance(rank, system.unknown, follow.zero, follow.x)
        if flags[PHASE] == SOLVED:
            e = follow.size[p]
            if flags[ROUND] == 0 and flags[PROBE] > 0:
                flags[PROBE] -= 1
                copy(follow.x, follow.probes[flags[PROBE]])
                flags[PHASE] = RESIDUAL
                continue
            if flags[ROUND] == 0 and due(flags) and flags[CUTS] == 0:
                adapt(system, follow, p, real[LENGTH])
            again = corrected(system, follow, plus_system, plus, minus_system, minus, real[LENGTH], one_state, e)
            if again:
                both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter)
                right_side(system, follow, plus, minus, e)
                flags[ROUND] += 1
                flags[PHASE] = RESIDUAL
                continue
            close(kernels, reports, follow, system, plus_system, plus, minus_system, minus, one, own_counter, counter,
                  real)  # fmt: skip
            if apart(system, plus_system, minus_system):
                if flags[CUTS] < _CUTS:
                    flags[CUTS] += 1
                    flags[PROBE] = flags[ROUND] = 0
                    flags[PHASE] = RESIDUAL
                    continue
                follow.kinks[p] += 1
            adopt(follow, system, plus_system, minus_system, plus, minus, one, p, row, 0.5 / e)
            flags[NUMBER] += 1
            flags[CUTS] = 0
            flags[ROUND] = 0
            flags[PROBE] = 2 if due(flags) else 0
            flags[PHASE] = RESIDUAL
            if flags[NUMBER] == n_par:
                flags[COUNT] += 1
                flags[PHASE] = STEPPING
                if flags[LONE] == 1:
                    return DONE
