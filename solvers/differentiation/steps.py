"""Derivatives of time steps with respect to parameters: compiled direct differentiation with the tangents of the run.

A step solves R(U; s_0, p) = 0 for its unknowns U, from the state s_0 at its start under parameters p; its end is a
function s_1(U; s_0, p).  Its derivatives with respect to p are (Dias & Pereira 1993, eqs 22-28, for the equations of
motion; here for the discrete step, so that they are exact for the computed motion)

    K dU/dp = -(R_s0 ds_0/dp + R_p),    ds_1/dp = s_U dU/dp + s_s0 ds_0/dp + s_p,

where K is the tangent at the end of the iterations.  All other products are central differences of the residual and of
the end of the step along one direction, (dU/dp, ds_0/dp, 1).  They take two evaluations of the elements per parameter
and correction, whatever the number of unknowns, and only the two kernels of each element type.  The derivatives of
element parameters, places of supports, weight and time functions are given.

Solutions dU/dp are guessed, and corrected with the factors that the run has left (`solutions`).  Where this converges
slowly, the tangent at the end of the step is formed and factored once for all parameters.

Parameters are scaled: a change by 1 is a change by the size of the parameter.  The changes in differences are small
against the size of the model, against 1 rad, and against the parameter.

`advance` makes steps and differentiates each of them.  Like `fem_mbs.solvers.stepping.stepper` it returns to Python for
work there.  It returns NEED_TANGENT when a sparse solver must factor ``plus.values``, and NEED_DERIVATIVE when it must
solve for ``follow.x``: with these factors if ``flags[OWN]`` is set, else with those of the run.  SINGULAR_TANGENT means
that the tangent has no pivot in equation ``counter[WORST]``: there the motion has no derivatives.
"""

from __future__ import annotations

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import copy, part
from fem_mbs.contract import inner, kernel
from fem_mbs.solvers.differentiation.layout import (
    COUNT,
    CUTS,
    HELD,
    KEPT,
    LONE,
    MEAN,
    NUMBER,
    OWN,
    PHASE,
    PROBE,
    RESIDUAL,
    ROUND,
    SOLVED,
    SPENT,
    STEPPING,
    TANGENT,
)
from fem_mbs.solvers.differentiation.solutions import (
    AGAIN,
    BEGIN,
    CUT,
    MOST_CUTS,
    SLOW,
    TIMES,
    adapt,
    another_size,
    corrected,
    differ,
    due,
    guess,
    learn,
    right_side,
    step_size,
    weigh,
)
from fem_mbs.solvers.differentiation.states import adopt, apart, begin_change, both_forces, close, forces, keep, spread
from fem_mbs.solvers.stepping import gauge as G
from fem_mbs.solvers.stepping import stepper
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.layout import (
    BANDED,
    DONE,
    FACTORISATIONS,
    FULL,
    HISTORY,
    KL,
    KU,
    LENGTH,
    MIDPOINT,
    REFACTOR,
    RULE_KIND,
    STATIC,
    STEP,
    WORST,
)
from fem_mbs.solvers.stepping.layout import PHASE as STEPPER_PHASE

__all__ = ["NEED_DERIVATIVE", "NEED_TANGENT", "SINGULAR_TANGENT", "advance"]

#: Answers of `advance` besides those of the stepper.
NEED_TANGENT, NEED_DERIVATIVE, SINGULAR_TANGENT = 20, 21, 22

_HOLD = 32  # number of successive steps whose tangents are formed, once corrections converge slowly
#: Number of corrections that take as long as a new tangent: plane models, models in space, sparse systems.
_PLANE, _SPACE, _SPARSE = 1.2, 3.0, 5.0


@inner
def own_tangent(flags, counter, rank):
    """Return whether the tangent at the end of the step must be formed: the run has left no factors of a similar one,
    or corrections with them have converged slowly.

    The stepper may have left a banded matrix that it has not factored.
    """
    if flags[LONE] == 1 or counter[RULE_KIND] == STATIC or rank.flags[G.MODE] != G.PLAIN:
        return True
    if flags[COUNT] < BEGIN or flags[COUNT] < flags[HELD] or counter[FACTORISATIONS] == 0:
        return True
    return counter[BANDED] == 1 and (counter[REFACTOR] == 1 or counter[FULL] == 1)


@inner
def judge(system, follow, counter, n_par):
    """Decide whether the next `_HOLD` steps form their tangents, because corrections take longer in the mean."""
    flags, reals = follow.flags, follow.reals
    if flags[OWN] == 0 and not due(flags):
        reals[MEAN] += 0.2 * (flags[SPENT] - reals[MEAN])
        worth = _SPARSE if counter[BANDED] == 0 else (_PLANE if system.rotations.shape[1] == 1 else _SPACE)
        if reals[MEAN] > worth:
            flags[HELD], reals[MEAN] = flags[COUNT] + _HOLD, 0.0


# One long function, like that of the stepper: it returns to Python in the middle of a step and continues in the phase
# in which it returned.
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
    while True:
        if flags[PHASE] == STEPPING:
            if flags[LONE] == 0:
                at_start = counter[STEPPER_PHASE] == 0
                if counter[STEP] >= n_steps or (at_start and rank.flags[G.SMALL] == 1):
                    return DONE
                if at_start:
                    keep(system, state, follow)
                    if counter[HISTORY] == 0:
                        follow.known[:] = 0  # kept solutions belong to steps that do not precede this one
                answer = stepper.advance(
                    kernels, reports, system, state, output, ctl, funs[: counter[STEP] + 1], counter, real, rank
                )
                if answer != DONE:
                    return answer
            flags[NUMBER], flags[SPENT] = 0, 0
            flags[OWN] = 1 if own_tangent(flags, counter, rank) else 0
            flags[PHASE] = TANGENT
        row = 0 if flags[LONE] == 1 else counter[STEP] - 1
        fun = funs[row]
        if flags[PHASE] == TANGENT:
            flags[ROUND], flags[CUTS], flags[KEPT] = 0, 0, 0
            flags[PROBE] = 2 if due(flags) else 0
            flags[PHASE] = RESIDUAL
            if flags[OWN] == 1:
                spread(follow, system, plus_system, plus, 0, 0.0)
                copy(state.U, plus.U)
                forces(C.TANGENT, kernels, plus_system, plus, ctl, fun, real, counter)
                if counter[BANDED] == 0:
                    return NEED_TANGENT
                if rank.flags[G.MODE] != G.PLAIN:
                    G.regularise(rank, plus.values, kl + ku, width)
                bad = band_factor(n, kl, ku, part(plus.values, 0, n, width), plus.pivot)
                if bad >= 0:
                    counter[WORST] = system.unknown[bad]
                    return SINGULAR_TANGENT
        p = flags[NUMBER]
        if flags[PHASE] == RESIDUAL:
            if flags[ROUND] == 0:
                e = step_size(system, follow, p, real[LENGTH], ctl[C.H]) * TIMES ** flags[PROBE] * CUT ** flags[CUTS]
                follow.size[p] = e
                begin_change(follow, system, state, plus_system, plus, ctl, fun, p, row, n_steps, e, True)
                begin_change(follow, system, state, minus_system, minus, ctl, fun, p, row, n_steps, -e, False)
                guessed = guess(follow, p)
                if guessed:
                    if flags[PROBE] == 2:
                        both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter)
                        weigh(system, follow, plus, minus, p, real[LENGTH], e)
                    differ(system, follow, plus_system, plus, minus_system, minus, one_state, follow.total, e)
                both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter)
                if flags[PROBE] == 0:
                    if another_size(system, follow, plus, minus, p, real[LENGTH], e, guessed):
                        continue
                right_side(system, follow, plus, minus, e)
            flags[PHASE] = SOLVED
            if counter[BANDED] == 0:
                return NEED_DERIVATIVE
            if flags[OWN] == 1:
                band_solve(n, kl, ku, part(plus.values, 0, n, width), plus.pivot, follow.x)
            else:
                band_solve(n, kl, ku, part(state.values, 0, n, width), state.pivot, follow.x)
            G.balance(rank, system.unknown, follow.zero, follow.x)
        if flags[PHASE] == SOLVED:
            e = follow.size[p]
            for i in range(n):
                follow.total[i] += follow.x[i]
            if flags[ROUND] == 0 and flags[PROBE] > 0:
                flags[PROBE] -= 1
                copy(follow.total, follow.probes[flags[PROBE]])
                flags[PHASE] = RESIDUAL
                continue
            if flags[ROUND] == 0 and due(flags) and flags[CUTS] == 0:
                adapt(system, follow, p, real[LENGTH])
            answer = corrected(system, follow, plus_system, plus, minus_system, minus, real[LENGTH], one_state, e)
            if answer == AGAIN:
                both_forces(kernels, follow, plus_system, plus, minus_system, minus, real, counter)
                right_side(system, follow, plus, minus, e)
                flags[ROUND] += 1
                flags[SPENT] += 1
                flags[PHASE] = RESIDUAL
                continue
            if answer == SLOW:
                flags[OWN], flags[HELD] = 1, flags[COUNT] + _HOLD
                flags[PHASE] = TANGENT
                continue
            close(kernels, reports, follow, system, plus_system, plus, minus_system, minus, one, own_counter, counter,
                  real)  # fmt: skip
            if apart(system, plus_system, minus_system):
                if flags[CUTS] < MOST_CUTS:
                    flags[CUTS] += 1
                    flags[KEPT] = 1
                    flags[PROBE] = flags[ROUND] = 0
                    flags[PHASE] = RESIDUAL
                    continue
                follow.kinks[p] += 1
            adopt(follow, system, plus_system, minus_system, plus, minus, one, p, row, 0.5 / e)
            if flags[LONE] == 0:
                learn(system, follow, p, real[LENGTH])
            flags[NUMBER] += 1
            flags[CUTS] = flags[ROUND] = flags[KEPT] = 0
            flags[PROBE] = 2 if due(flags) else 0
            flags[PHASE] = RESIDUAL
            if flags[NUMBER] == n_par:
                judge(system, follow, counter, n_par)
                flags[COUNT] += 1
                flags[PHASE] = STEPPING
                if flags[LONE] == 1:
                    return DONE
