"""Compiled stepping of a block system: assembly, Newton-Raphson and the step loop in one piece of machine code.

Small models are bound by call overhead, so a whole run of steps is one call: `advance` predicts, assembles, solves and
commits step after step, writes the ledger, the recorded values and the frames into buffers, and comes back to Python
when

    DONE             the requested steps are made
    NEED_FACTOR      the matrix is wide: factor ``values`` and solve for ``rhs`` outside, then call again
    NEED_SOLVE       the same with the factors at hand
    NOT_CONVERGED    Newton-Raphson failed at step ``counter[STEP]``; the state is that of its start
    NEED_USER        forces of users' functions are to be found at the iterate: write them into ``hist``, call again
    NEED_ASSEMBLY    assemble the residual, and the matrix if ``counter[REFACTOR]`` or ``counter[FULL]`` is 1, at the
                     iterate outside, by several threads, then call again
    SINGULAR         the banded matrix has no pivot in equation ``counter[WORST]``
    TURNED           a node, that of dof ``counter[WORST]``, turns by more than a quarter of a turn in step
                     ``counter[STEP]``; the state is that of its start

(reverse communication, as ARPACK does it).  The solver knows blocks of elements by their arrays and the addresses of
their two kernels only; see `fem_mbs.contract`.

Newton-Raphson keeps the factors of a step's first tangent while they contract the increment well (chord iterations),
since a tangent at the predicted state is as good as its prediction; ``full`` forms a new one in every iteration.
Convergence is judged per kind of row (forces, moments, constraints) against the largest element contribution of that
kind, and on increments that reach round-off or what the user asks for: `fem_mbs.solvers.stepping.convergence`.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import copy, part
from fem_mbs.contract import inner, kernel
from fem_mbs.solvers.stepping import gauge as G
from fem_mbs.solvers.stepping.assembly import along, assemble, look, prescribed_rows, report, share
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.convergence import (
    book_energy,
    constraints_met,
    enough,
    forget,
    settled,
    small_residual,
    work_of_residual,
)
from fem_mbs.solvers.stepping.layout import (
    ALPHA_F,
    ALPHA_M,
    BANDED,
    DONE,
    ETOL,
    FACTORISATIONS,
    FLOOR_T,
    FLOOR_X,
    FRAME_EVERY,
    FRESH,
    FULL,
    HISTORY,
    ITERATION,
    KL,
    KU,
    LENGTH,
    MAX_ITERATIONS,
    MIDPOINT,
    MULTIPLIER,
    N_FRAMES,
    NEED_ASSEMBLY,
    NEED_FACTOR,
    NEED_SOLVE,
    NEED_USER,
    NEWMARK,
    NO_LEDGER,
    NORM,
    NOT_CONVERGED,
    ORDER,
    OUTSIDE,
    PATIENT,
    PHASE,
    POSITION,
    READS,
    REC_D,
    REC_Q,
    REC_REACTION,
    REC_V,
    REC_WORK,
    REFACTOR,
    RESTART_EVERY,
    RULE_KIND,
    SINGULAR,
    SLOW,
    STATIC,
    STEP,
    STEP_OFFSET,
    TOTAL_ITERATIONS,
    TURN,
    TURNED,
    USER,
    WORK,
    WORST,
    WORST_VALUE,
)
from fem_mbs.solvers.stepping.motion import configure, director_velocities, normalise, predict, update, velocities
from fem_mbs.solvers.stepping.predictor import choose_order, keep_increments

#: Jobs of `equilibrium` beside those of elements.
PLACE, JUDGE = 2, 3
_BEGIN, _ASSEMBLE, _UPDATE, _COMMIT = 0, 1, 2, 3
_ROUND_OFF = 4.0 * 2.0**-52
_MOST_SETTLING = 10  # number of iterations after which a step no longer waits for this
# A tangent is kept for the next iteration if the increment has shrunk to this share of the last one:
_ENOUGH = 0.2  # where a factorisation costs as much as many solutions
_CHORD = 0.03  # where it costs as much as few
_QUICK = 1e-3  # where a tangent of these steps did not serve for two iterations (SLOW)
_UNSOLVED = 1e3  # residual over its tolerance before the last correction, above which round-off does not explain it
_QUARTER = 2.0  # Cayley vector of a quarter of a turn, 2 tan(pi/4)


@inner
def turned(system, U, counter, real):
    """Return whether a node turns by more than a quarter of a turn in the step; ``counter[WORST]`` names it then.

    Two nodes that turn by less turn by less than half a turn against each other, so that all angles between them are
    known.  ``real[TURN]`` keeps the largest Cayley vector of a rotation in a step.
    """
    largest = real[TURN] ** 2
    for i in range(system.rotations.shape[0]):
        size = 0.0
        for j in range(system.rotations.shape[1]):
            size += U[system.rotations[i, j]] ** 2
        if size > _QUARTER**2:
            counter[WORST] = system.rotations[i, 0]
            return True
        largest = max(largest, size)
    real[TURN] = np.sqrt(largest)
    return False


@inner
def present(system, state, h, real, counter):
    """Set the configuration of U, and the arrays with both ends alike that kernels of one-state rules get."""
    one_state = counter[RULE_KIND] != MIDPOINT
    configure(system, state, one_state)
    if not one_state:
        return
    if counter[RULE_KIND] == NEWMARK:
        velocities(system, state, h, real, True)
    for row in range(2):
        copy(state.Q[1], state.Qw[row])
        copy(state.D[1], state.Dw[row])
    for k in range(state.U.size):
        # no increment, but the multipliers
        state.Uw[k] = state.U[k] if system.kind[k] == MULTIPLIER else 0.0


@inner
def commit(kernels, reports, system, state, output, ctl, fun, counter, real):
    """Accept the step: set velocities, write ledger, outputs and frame, then make its end the start of the next."""
    Q, D, V, DD, U = state.Q, state.D, state.V, state.DD, state.U
    rule = counter[RULE_KIND]
    newmark = rule == NEWMARK
    h, sf = ctl[C.H], ctl[C.SF]
    normalise(system, D)
    for i in range(system.rotations.shape[0]):
        if system.rotations.shape[1] == 1:
            k = system.rotations[i, 0]
            Q[1, k] = Q[0, k] + 2.0 * np.arctan(0.5 * U[k])
        else:
            for j in range(3):
                k = system.rotations[i, j]
                Q[1, k] = Q[0, k] + U[k]
    for i in range(system.driven.size):
        # no accumulated round-off in what is prescribed
        k = system.driven[i]
        Q[1, k] = system.driven_reference[i] + fun[system.driver[i], C.T1]
    if rule == MIDPOINT or newmark:
        velocities(system, state, h, real, newmark)
    if rule != STATIC:
        director_velocities(system, state, h, rule != MIDPOINT)
    for k in range(Q.shape[1]):
        if system.kind[k] == MULTIPLIER:
            Q[1, k] = U[k] / sf
        state.reaction[1, k] = state.residual[k] / sf if system.equation[k] < 0 and system.kind[k] < MULTIPLIER else 0.0
    step = counter[STEP]
    number = counter[STEP_OFFSET] + step + 1
    frame = counter[FRAME_EVERY] > 0 and number % counter[FRAME_EVERY] == 0
    row = output.ledger[step]
    row[:] = 0.0
    if system.links.shape[0] > 0:
        if rule != MIDPOINT:
            for k in range(2):
                copy(Q[1], state.Qw[k])
                copy(D[1], state.Dw[k])
            for k in range(U.size):
                state.Uw[k] = U[k] if system.kind[k] == MULTIPLIER else 0.0
            along(kernels, system, ctl, fun, state.Qw, state.Dw, V, DD, state.Uw, state, frame)
        else:
            along(kernels, system, ctl, fun, Q, D, V, DD, U, state, frame)
    for job in (C.LEDGER, C.OUTPUT, C.COMMIT):
        if job != C.LEDGER or counter[NO_LEDGER] == 0:
            report(job, reports, system, ctl, fun, state, row, frame)
    if output.watched.shape[0] > 0:
        look(reports, system, ctl, fun, state, output.watched, step)
    for i in range(system.driven.size):
        k = system.driven[i]
        f = state.reaction[1, k]
        if rule != MIDPOINT:  # one-state rules: the mean of both ends
            f = 0.5 * (f + state.reaction[0, k])
        work = f * (U[k] if rule == MIDPOINT else Q[1, k] - Q[0, k])
        row[C.DRIVER_WORK] += work
        state.work[state.energy.size + i] += work
    output.iterations[step] = counter[ITERATION]
    output.residuals[step] = real[WORST_VALUE]
    for i in range(system.record.shape[0]):
        source, k = system.record[i, 0], system.record[i, 1]
        if source == REC_Q:
            v = Q[1, k]
        elif source == REC_V:
            v = V[1, k]
        elif source == REC_D:
            v = D[1, k // D.shape[2], k % D.shape[2]]
        elif source == REC_REACTION:
            v = state.reaction[1, k]
        elif source == REC_WORK:
            v = state.work[k]
        else:
            v = state.out[k]
        output.values[step, i] = v
    if frame:
        n = counter[N_FRAMES]
        copy(Q[1], output.frame_Q[n])
        copy(V[1], output.frame_V[n])
        copy(D[1], output.frame_D[n])
        copy(state.out, output.frame_out[n])
        copy(state.energy, output.frame_energy[n])
        output.frame_step[n] = number
        counter[N_FRAMES] = n + 1
    if newmark:
        am, af = real[ALPHA_M], real[ALPHA_F]
        for k in range(V.shape[1]):
            a = (1.0 - af) * V[2, k] + af * state.past[3, k] - am * state.past[2, k]
            state.past[2, k] = a / (1.0 - am)
            state.past[3, k] = V[2, k]
    keep_increments(state, counter)
    copy(Q[1], Q[0])
    copy(D[1], D[0])
    copy(V[1], V[0])
    copy(DD[1], DD[0])
    copy(state.reaction[1], state.reaction[0])
    counter[STEP] = step + 1
    counter[TOTAL_ITERATIONS] += counter[ITERATION]
    if counter[RESTART_EVERY] > 0 and number % counter[RESTART_EVERY] == 0:
        counter[REFACTOR] = 1


@kernel
def equilibrium(job, kernels, system, ctl, fun, state, real, counter):
    """Assemble the residual (and tangent) of statics at the configuration of U, driven dofs included.

    With the job PLACE it only sets that configuration, and with JUDGE it takes an assembly that was made outside.

    Returns:
        Whether the residual is small.
    """
    if job == JUDGE:
        return small_residual(system, state, real, counter)
    Q, U = state.Q, state.U
    for i in range(system.driven.size):
        k = system.driven[i]
        step = system.driven_reference[i] + fun[system.driver[i], C.T1] - Q[0, k]
        U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, U)
    configure(system, state, True)
    for row in range(2):
        copy(Q[1], state.Qw[row])
        copy(state.D[1], state.Dw[row])
    for k in range(U.size):
        state.Uw[k] = U[k] if system.kind[k] == MULTIPLIER else 0.0
    if job == PLACE:
        return False
    assemble(job, kernels, system, ctl, fun, state.Qw, state.Dw, state.V, state.DD, state.Uw, state)
    return small_residual(system, state, real, counter)


@kernel
def compose(system, state):
    """Add the increment in ``rhs`` to U on the rotation group; return the size of its displacements and rotations."""
    return update(system, state, True)


@kernel
def accept(kernels, reports, system, state, output, ctl, fun, counter, real):
    """Make the end of a static step its start, and write ledger, outputs, records and frame of it."""
    commit(kernels, reports, system, state, output, ctl, fun, counter, real)


# In one piece: it leaves for Python in the middle of a step, and goes on in the phase that it left.
@kernel
def advance(kernels, reports, system, state, output, ctl, funs, counter, real, rank):
    """Make the steps of ``funs`` (n_steps, n_fun, 3); see the module's docstring for the answers.

    With ``rank.flags[SMALL]`` set it returns after the step in which a pivot has become small.  It is one long function
    on purpose: it leaves and resumes in the middle of a step (``counter[PHASE]``), so its phases share one loop, and
    each phase that calls a kernel would be compiled once per caller.
    """
    ctl, funs, counter, real = C.borrow(ctl), C.borrow(funs), C.borrow(counter), C.borrow(real)
    n_steps = funs.shape[0]
    one_state = counter[RULE_KIND] != MIDPOINT
    h = ctl[C.H]
    Q, D, U = state.Q, state.D, state.U
    # values that the kernels use: with a one-state rule the same at both ends of the step
    Qk, Dk, Uk = (state.Qw, state.Dw, state.Uw) if one_state else (Q, D, U)
    n = system.unknown.size
    banded = counter[BANDED] == 1
    kl, ku = counter[KL], counter[KU]
    width = 2 * kl + ku + 1
    while counter[STEP] < n_steps and not (counter[PHASE] == _BEGIN and rank.flags[G.SMALL] == 1):
        fun = funs[counter[STEP]]
        if counter[PHASE] == _BEGIN:
            counter[ITERATION] = 0
            counter[FRESH] = -1
            if counter[SLOW] == 1:  # the tangent kept at the end of a step is too old for the next
                counter[REFACTOR] = 1
            if (counter[STEP_OFFSET] + counter[STEP]) % 8 == 0:
                counter[SLOW] = 0  # try chord iterations again
            if counter[RULE_KIND] == STATIC:
                counter[SLOW] = 1  # load increments are large: no tangent serves twice
            real[NORM] = 0.0
            # increments below this are round-off of the coordinates, which grow as a model flies away
            far = real[LENGTH]
            for k in system.positions:
                far = max(far, abs(Q[0, k]))
            real[FLOOR_X] = _ROUND_OFF * far
            real[FLOOR_T] = _ROUND_OFF
            if banded or counter[HISTORY] == 0 or rank.flags[G.MODE] == G.DEPENDENT:
                # narrow matrices cost less than a stale tangent's extra iterations; wide ones are kept while they serve
                # (but null vectors must be those of the step)
                counter[REFACTOR] = 1
            if counter[HISTORY] == 0:
                real[ORDER] = 0.0
                forget(real)
            predict(system, state, ctl, fun, counter, real)
            counter[PHASE] = _ASSEMBLE
        if counter[PHASE] == _ASSEMBLE:
            tangent = counter[REFACTOR] == 1 or counter[FULL] == 1
            job = C.TANGENT if tangent else C.FORCE
            present(system, state, h, real, counter)
            if counter[USER] == 1:
                counter[USER] = 2
                return NEED_USER
            if counter[OUTSIDE] == 1:
                counter[OUTSIDE] = 2
                return NEED_ASSEMBLY
            if counter[USER] == 2:
                counter[USER] = 1
            if counter[OUTSIDE] == 2:
                counter[OUTSIDE] = 1
            else:
                # one call for all rules, since every call of a compiled function may be compiled into the caller
                assemble(job, kernels, system, ctl, fun, Qk, Dk, state.V, state.DD, Uk, state)
            if small_residual(system, state, real, counter):
                counter[PHASE] = _COMMIT
            else:
                if counter[ITERATION] >= counter[MAX_ITERATIONS] or np.isnan(real[WORST_VALUE]):
                    counter[PHASE] = _BEGIN
                    counter[REFACTOR] = 1
                    return NOT_CONVERGED
                if real[ETOL] > 0.0:
                    real[WORK] = work_of_residual(system, state, ctl[C.SF])
                for i in range(n):
                    state.rhs[i] = -state.residual[system.unknown[i]]
                if rank.flags[G.MODE] == G.DEPENDENT:
                    G.release(rank, system.unknown, U, state.rhs)
                counter[PHASE] = _UPDATE
                if tangent:
                    counter[FRESH] = counter[ITERATION]
                    counter[REFACTOR] = 0
                    counter[FACTORISATIONS] += 1
                if banded:
                    ab = part(state.values, 0, n, width)
                    if tangent:
                        if rank.flags[G.MODE] != G.PLAIN:
                            G.regularise(rank, state.values, kl + ku, width)
                        bad = band_factor(n, kl, ku, ab, state.pivot)
                        if bad >= 0:
                            counter[WORST] = system.unknown[bad]
                            counter[PHASE] = _BEGIN
                            counter[REFACTOR] = 1
                            return SINGULAR
                        for c in range(rank.null.shape[0]):
                            G.start_vector(rank, c)
                            band_solve(n, kl, ku, ab, state.pivot, rank.null[c])
                            G.null_vector(rank, c)
                        if rank.flags[G.WATCHED] == 1:
                            G.lowest_pivot(rank, state.values, kl + ku, width)
                    band_solve(n, kl, ku, ab, state.pivot, state.rhs)
                    G.balance(rank, system.unknown, U, state.rhs)
                else:
                    return NEED_FACTOR if tangent else NEED_SOLVE
        if counter[PHASE] == _UPDATE:
            size_x, size_t = update(system, state, one_state)
            counter[ITERATION] += 1
            counter[PHASE] = _ASSEMBLE
            norm = max(size_x / real[LENGTH], size_t)
            if np.isnan(norm):
                counter[PHASE] = _BEGIN
                counter[REFACTOR] = 1
                return NOT_CONVERGED
            last = real[NORM]
            real[NORM] = norm
            floor = size_x <= real[FLOOR_X] and size_t <= real[FLOOR_T]
            if floor and counter[READS] == 1 and counter[ITERATION] < _MOST_SETTLING and not settled(system, state):
                # only multipliers still change: drivers prescribe all motion, or friction by the multipliers was zero
                # in the tangent
                floor = False
                counter[REFACTOR] = 1
            # increments that no longer shrink and are just above round-off: nothing more to gain
            moving = size_x > 1e3 * real[FLOOR_X] or size_t > 1e3 * real[FLOOR_T]
            stalled = last > 0.0 and norm > 0.3 * last and not moving
            # (a tangent formed anew in every iteration is never two iterations old)
            met = rank.flags[G.MODE] == G.PLAIN or constraints_met(system, state, real)
            stalled = stalled and (counter[ITERATION] >= 3 or counter[ITERATION] - counter[FRESH] >= 2)
            rate = norm / last if last > 0.0 else 0.0
            done = met and (floor or stalled)
            earlier = counter[FRESH] < 0  # all iterations had the factors of an earlier step
            if done and earlier and real[WORST_VALUE] > _UNSOLVED and not settled(system, state):
                # where constraints prescribe all motion, multipliers still change when the coordinates have converged
                done = False
                counter[REFACTOR] = 1
            if real[ETOL] > 0.0 and met and not done and counter[READS] == 0:
                done, rate = enough(system, state, real, counter, size_x, size_t, norm, last)
            if done:
                # the last correction belongs to the step: what it leaves of the residual, and the forces of supports
                real[WORST_VALUE] *= rate
                present(system, state, h, real, counter)
                prescribed_rows(kernels, system, ctl, fun, Qk, Dk, state.V, state.DD, Uk, state)
                counter[PHASE] = _COMMIT
            elif counter[PATIENT] == 1 and counter[SLOW] == 0:
                # (near round-off increments shrink no longer, whatever the factors are)
                if moving and last > 0.0 and norm > _ENOUGH * last and counter[ITERATION] - counter[FRESH] >= 2:
                    counter[REFACTOR] = 1
                    if counter[FRESH] >= 0:  # the tangent of this step does not serve well either
                        counter[SLOW] = 1
            else:
                if last > 0.0 and norm > _CHORD * last and counter[ITERATION] - counter[FRESH] >= 2:
                    counter[SLOW] = 1
                # the tangent's error is of the order of the increment; close to the solution the same tangent shrinks
                # the next increment as much as it has shrunk the last one
                quick = last > 0.0 and norm < (_QUICK if moving else _CHORD) * last
                if norm > 1e-2 or (counter[SLOW] == 1 and not quick):
                    counter[REFACTOR] = 1
        if counter[PHASE] == _COMMIT:
            if counter[RULE_KIND] != STATIC and turned(system, U, counter, real):
                counter[PHASE] = _BEGIN
                counter[REFACTOR] = 1
                return TURNED
            if real[ETOL] > 0.0:  # errors of better guesses have one sign over many steps, which round-off has not
                choose_order(system, state, real, counter)
            step = counter[STEP]
            commit(kernels, reports, system, state, output, ctl, fun, counter, real)
            if real[ETOL] > 0.0 and counter[NO_LEDGER] == 0:
                book_energy(output.ledger[step], real)
            counter[PHASE] = _BEGIN
    return DONE
