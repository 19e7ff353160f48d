"""The two changed states of a difference: their start along a derivative, their residuals, and their end of the
step."""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import copy
from fem_mbs.contract import inner, kernel
from fem_mbs.solvers.differentiation.layout import REACTIONS
from fem_mbs.solvers.stepping import stepper
from fem_mbs.solvers.stepping.assembly import assemble, prescribed_rows, share
from fem_mbs.solvers.stepping.layout import FRAME_EVERY, MIDPOINT, POSITION, RESTART_EVERY, RULE_KIND, STEP

__all__ = ["adopt", "apart", "begin_change", "both_forces", "close", "forces", "keep", "spread", "spread_state"]


@inner
def keep(system, state, follow):
    """Copy the state at the start of a step into ``follow``."""
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
    """Set the parameters and the start of the step of a changed state: those of the run plus e times their derivatives
    with respect to parameter p."""
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
    """Call `spread` from Python."""
    spread(follow, system, own_system, own, p, e)


@inner
def under(follow, row, n_steps, ctl, fun, own_ctl, own_fun, p, e):
    """Set the control values and time functions of a changed state: those of the run plus e times their derivatives."""
    for k in range(ctl.size):
        own_ctl[k] = ctl[k] + e * follow.dctl[p, k]
    at = p * n_steps + row
    for i in range(fun.shape[0]):
        for j in range(3):
            own_fun[i, j] = fun[i, j] + e * follow.dfuns[at, i, j]


@inner
def drive(system, own_system, own, fun):
    """Set the increments of the driven dofs of a changed state from its own functions and places."""
    for i in range(system.driven.size):
        k = system.driven[i]
        step = own_system.driven_reference[i] + fun[system.driver[i], C.T1] - own.Q[0, k]
        own.U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, own.U)


@inner
def forces(job, kernels, own_system, own, ctl, fun, real, counter):
    """Assemble the residual at the unknowns of a state; for the job TANGENT also the matrix."""
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
def begin_change(follow, system, state, own_system, own, ctl, fun, p, row, n_steps, e, up):
    """Set a changed state to the start of a step, changed by e, with the unknowns of the run's step and its own driven
    dofs.

    ``row``: index of the step among ``n_steps``; ``up``: whether it is the state ``plus``.
    """
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
def close(
    kernels, reports, follow, system, plus_system, plus, minus_system, minus, one, own_counter, counter, real,
):  # fmt: skip
    """End the step of both changed states; rows 0 and 1 of ``one`` get their recorded values."""
    if follow.flags[REACTIONS] == 1:
        reactions(kernels, plus_system, plus, follow.ctl_plus, follow.fun_plus, real, counter)
        reactions(kernels, minus_system, minus, follow.ctl_minus, follow.fun_minus, real, counter)
    else:
        stepper.present(plus_system, plus, follow.ctl_plus[C.H], real, counter)
        stepper.present(minus_system, minus, follow.ctl_minus[C.H], real, counter)
    own_counter[RULE_KIND], own_counter[FRAME_EVERY], own_counter[RESTART_EVERY] = counter[RULE_KIND], 0, 0
    own_counter[STEP] = 0
    stepper.commit(kernels, reports, plus_system, plus, one, follow.ctl_plus, follow.fun_plus, own_counter, real)
    own_counter[STEP] = 1
    stepper.commit(kernels, reports, minus_system, minus, one, follow.ctl_minus, follow.fun_minus, own_counter, real)


@inner
def apart(system, plus_system, minus_system):
    """Return whether an event has happened to only one of both changed states, for example the onset of contact or of
    yield: an entry of its history is zero in one state and not in the other."""
    count = 0
    for k in range(system.hist.size):
        count += (plus_system.hist[k] == 0.0) != (minus_system.hist[k] == 0.0)
    return count > 0


@inner
def adopt(follow, system, plus_system, minus_system, plus, minus, one, p, row, half):
    """Store the derivatives at the end of a step, and those of the recorded values: ``half`` = 1/(2 e) times the
    difference of both changed states."""
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
