"""Explicit Newton-Euler steps with incremental rotation matrices: first order, no Newton-Raphson, no multipliers.

Zhanal & Portes, "Numerical simulation of body movements", eqs 2-11: the forces at the start of the step give the
accelerations, a = F/m and, in spatial axes, A = R J^-1 (R^T M - W x J W) (eqs 4 and 7); velocities and spins are
advanced by them, then the places with the new velocities, and each rotation matrix by that of the angle |w| h about the
axis of w (eqs 9-11; its Cayley vector is 2 tan(|w| h/2) w/|w|):

    v1 = v0 + h a,   x1 = x0 + h v1,   w1 = w0 + h A,   R1 = C(w1/|w1|, |w1| h) R0.

The mass and the forces are those of the one-state kernels, so whatever has a mass of its own may be attached to the
bodies; the step is stable as long as h is below 2/w of the highest frequency.  It keeps linear momentum, and neither
energy nor angular momentum: a baseline to compare with.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import copy, part, scratch
from fem_mbs.contract import inner, kernel
from fem_mbs.solvers.stepping.assembly import assemble
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.layout import (
    BANDED,
    DONE,
    FACTORISATIONS,
    ITERATION,
    KL,
    KU,
    NEED_FACTOR,
    NOT_CONVERGED,
    PHASE,
    SINGULAR,
    STEP,
    TURNED,
    WORST,
    WORST_VALUE,
)
from fem_mbs.solvers.stepping.motion import configure
from fem_mbs.solvers.stepping.stepper import commit, turned

__all__ = ["advance"]

_BEGIN, _UPDATE = 0, 1


@inner
def _move(system, state, h):
    """Set velocities and increments of the step from the accelerations in ``rhs``; False: they are not finite."""
    V, D, U = state.V, state.D, state.U
    U[:] = 0.0
    copy(V[0], V[1])
    for i in range(system.unknown.size):
        if not np.isfinite(state.rhs[i]):
            return False
        U[system.unknown[i]] = state.rhs[i]
    for k in system.positions:
        V[1, k] = V[0, k] + h * U[k]
        U[k] = h * V[1, k]
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        ka = system.rotations[i, 0]
        if plane:
            V[1, ka] = V[0, ka] + h * U[ka]
            U[ka] = 2.0 * np.tan(0.5 * h * V[1, ka])
            continue
        kb, kc = system.rotations[i, 1], system.rotations[i, 2]
        R = D[0, i]
        x = R[0] * V[0, ka] + R[1] * V[0, kb] + R[2] * V[0, kc] + h * U[ka]
        y = R[3] * V[0, ka] + R[4] * V[0, kb] + R[5] * V[0, kc] + h * U[kb]
        z = R[6] * V[0, ka] + R[7] * V[0, kb] + R[8] * V[0, kc] + h * U[kc]
        # the rotation is about w itself: body axes of the start and of the end see the same components
        V[1, ka] = R[0] * x + R[3] * y + R[6] * z
        V[1, kb] = R[1] * x + R[4] * y + R[7] * z
        V[1, kc] = R[2] * x + R[5] * y + R[8] * z
        w = np.sqrt(x * x + y * y + z * z)
        f = 2.0 * np.tan(0.5 * h * w) / w if w > 0.0 else h
        U[ka], U[kb], U[kc] = f * x, f * y, f * z
    return True


@inner
def _accelerations(system, state):
    """Set the accelerations V[2] from ``rhs``, those of rotations in body axes."""
    V, D = state.V, state.D
    V[2, :] = 0.0
    for i in range(system.unknown.size):
        V[2, system.unknown[i]] = state.rhs[i]
    if system.rotations.shape[1] == 3:
        for i in range(system.rotations.shape[0]):
            ka, kb, kc = system.rotations[i, 0], system.rotations[i, 1], system.rotations[i, 2]
            R = D[0, i]
            x, y, z = V[2, ka], V[2, kb], V[2, kc]
            V[2, ka] = R[0] * x + R[3] * y + R[6] * z
            V[2, kb] = R[1] * x + R[4] * y + R[7] * z
            V[2, kc] = R[2] * x + R[5] * y + R[8] * z


@kernel
def advance(kernels, reports, system, state, output, ctl, funs, counter, real):
    """Make the steps of ``funs`` (n_steps, n_fun, 3), as `fem_mbs.solvers.stepping.stepper.advance` does and with its
    answers.

    ``ctl`` has SF = WA = 1 and SK = WV = 0, so that a tangent is the mass.
    """
    ctl, funs, counter, real = C.borrow(ctl), C.borrow(funs), C.borrow(counter), C.borrow(real)
    Q, D, V = state.Q, state.D, state.V
    n = system.unknown.size
    kl, ku = counter[KL], counter[KU]
    width = 2 * kl + ku + 1
    gravity = scratch(3)
    for i in range(3):
        gravity[i] = ctl[C.GX + i]
    while counter[STEP] < funs.shape[0]:
        fun = funs[counter[STEP]]
        if counter[PHASE] == _BEGIN:
            state.U[:] = 0.0
            configure(system, state, True)
            for row in range(2):
                copy(Q[0], state.Qw[row])
                copy(D[0], state.Dw[row])
            state.Uw[:] = 0.0
            # the mass alone: at rest and without weight; then the forces, at zero acceleration
            for job in (C.TANGENT, C.FORCE):
                for i in range(3):
                    ctl[C.GX + i] = 0.0 if job == C.TANGENT else gravity[i]
                for k in range(V.shape[1]):
                    V[1, k] = 0.0 if job == C.TANGENT else V[0, k]
                    V[2, k] = 0.0
                assemble(job, kernels, system, ctl, fun, state.Qw, state.Dw, V, state.DD, state.Uw, state)
            for i in range(n):
                state.rhs[i] = -state.residual[system.unknown[i]]
                if not np.isfinite(state.rhs[i]):
                    counter[WORST] = system.unknown[i]
                    return NOT_CONVERGED
            counter[ITERATION] = 0
            counter[PHASE] = _UPDATE
            counter[FACTORISATIONS] += 1
            if counter[BANDED] == 0:
                return NEED_FACTOR
            ab = part(state.values, 0, n, width)
            bad = band_factor(n, kl, ku, ab, state.pivot)
            if bad >= 0:
                counter[WORST] = system.unknown[bad]
                counter[PHASE] = _BEGIN
                return SINGULAR
            band_solve(n, kl, ku, ab, state.pivot, state.rhs)
        if counter[PHASE] == _UPDATE:
            # the remainders in the rows of held dofs are the reactions
            _accelerations(system, state)
            assemble(C.FORCE, kernels, system, ctl, fun, state.Qw, state.Dw, V, state.DD, state.Uw, state)
            counter[PHASE] = _BEGIN
            if not _move(system, state, ctl[C.H]):
                counter[WORST] = -1
                return NOT_CONVERGED
            if turned(system, state.U, counter, real):
                return TURNED
            configure(system, state, True)
            real[WORST_VALUE] = 0.0
            commit(kernels, reports, system, state, output, ctl, fun, counter, real)
    return DONE
