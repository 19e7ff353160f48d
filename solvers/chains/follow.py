"""Enters the states of a tree of segments in the arrays of a model, as accepted time steps."""

from __future__ import annotations

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import kernel
from fem_mbs.solvers.stepping.layout import ITERATION, STEP, TURNED, WORST
from fem_mbs.solvers.stepping.stepper import commit

__all__ = ["follow"]

_QUARTER = 2.0  # Cayley vector of a quarter of a turn


@kernel
def follow(
    kernels, reports, system, state, output, ctl, funs, counter, real, bodies, offsets, frames, iterations, turns,
    places, spins, speeds,
):  # fmt: skip
    """Commit the rows of ``turns`` (m, n, 9), ``places``, ``spins`` and ``speeds`` (m, n, 3) of segments as steps.

    Args:
        bodies: (nb, 4) of each body: its segment, first position dof, first rotation dof, row of the directors.
        offsets: (nb, 3) from the mass centre of the segment, in its axes.
        frames: (nb, 9) axes of the bodies in those of the segments.
        iterations: (m,) that the steps took.

    Returns:
        0, or TURNED where a body turns by more than a quarter of a turn in a step.
    """
    ctl, funs, counter, real = C.borrow(ctl), C.borrow(funs), C.borrow(counter), C.borrow(real)
    Q, D, V, U = state.Q, state.D, state.V, state.U
    plane = D.shape[2] == 2
    R, S = scratch(9), cleared(9)
    arm, spin = scratch(3), scratch(3)
    for row in range(places.shape[0]):
        fun = funs[counter[STEP]]
        U[:] = 0.0
        for b in range(bodies.shape[0]):
            k, at, turn, d = bodies[b, 0], bodies[b, 1], bodies[b, 2], bodies[b, 3]
            T = turns[row, k]
            for i in range(3):
                arm[i], spin[i] = 0.0, spins[row, k, i]
                for j in range(3):
                    arm[i] += T[3 * i + j] * offsets[b, j]
                    R[3 * i + j] = 0.0
                    for m in range(3):
                        R[3 * i + j] += T[3 * i + m] * frames[b, 3 * m + j]
            for i in range(2 if plane else 3):
                j, m = (i + 1) % 3, (i + 2) % 3
                Q[1, at + i] = places[row, k, i] + arm[i]
                U[at + i] = Q[1, at + i] - Q[0, at + i]
                V[1, at + i] = speeds[row, k, i] + spin[j] * arm[m] - spin[m] * arm[j]
            if plane:
                c, s = R[0], R[3]
                a0, b0 = D[0, d, 0], D[0, d, 1]
                # half of the tangent of half the angle between both states
                cosine, sine = a0 * c + b0 * s, a0 * s - b0 * c
                U[turn] = 2.0 * sine / (1.0 + cosine)
                D[1, d, 0], D[1, d, 1] = c, s
                V[1, turn] = spin[2]
                size = U[turn] ** 2
            else:
                trace = 0.0
                for i in range(3):
                    for j in range(3):
                        S[3 * i + j] = 0.0
                        for m in range(3):
                            S[3 * i + j] += R[3 * i + m] * D[0, d, 3 * j + m]
                    trace += S[4 * i]
                f = 2.0 / (1.0 + trace)
                U[turn], U[turn + 1], U[turn + 2] = f * (S[7] - S[5]), f * (S[2] - S[6]), f * (S[3] - S[1])
                size = 0.0
                for i in range(3):
                    size += U[turn + i] ** 2
                    V[1, turn + i] = R[i] * spin[0] + R[3 + i] * spin[1] + R[6 + i] * spin[2]
                for i in range(9):
                    D[1, d, i] = R[i]
            if not size <= _QUARTER * _QUARTER:
                counter[WORST] = turn
                return TURNED
        counter[ITERATION] = iterations[row]
        commit(kernels, reports, system, state, output, ctl, fun, counter, real)
    return 0
