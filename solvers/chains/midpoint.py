"""Mid-point rule for trees of rigid segments in joint coordinates q and conjugate momenta p.

Hamilton's equations q' = dH/dp, p' = -dH/dq - C q' with H = p^T A(q)^-1 p/2 + V(q) (van Holten, eqs 6, 8, 9) are taken
with discrete derivatives whose products with the increments add up to the change of H:

    (q1 - q0)/h = (A(q0)^-1 + A(q1)^-1) (p0 + p1)/4
    (p1 - p0)/h = -D - C (q1 - q0)/h

H is quadratic in p, so the first is exact for the mean of the energies at q0 and q1.  D is the discrete gradient of
G(q) = (H(q, p0) + H(q, p1))/2 (Gonzalez 1996, eq. 2.8): its gradient in the middle, and the multiple of W (q1 - q0)
that makes D . (q1 - q0) = G(q1) - G(q0).  W is the diagonal of A in the middle, without the entries of cyclic
coordinates: their momenta stay constant.  So the energy changes by what the dampers take, h |q'|_C^2, at any h; the
rule is symmetric and of second order.
"""

from __future__ import annotations

import numpy as np
from numba import types

from fem_mbs import contract as C
from fem_mbs.contract import declare, inner, kernel
from fem_mbs.solvers.chains.layout import CHAIN, WORK
from fem_mbs.solvers.chains.recurrences import factor, hold, matrix, move, place, potential, slopes, solve

__all__ = ["FAILED", "advance", "conjugate", "states"]

#: Answer of `advance`: the step did not converge.
FAILED = -1
_ITERATIONS = 60
_ROUND_OFF = 4.0 * 2.0**-52  # of the increments of a step
_STALLED = 1e-9  # corrections that have twice not fallen are round-off below this
_QUARTER = 0.5 * np.pi  # turn of a hinge in a step beyond which no step is taken
# rows of the workspace of `advance`
_Q1, _P1, _MIDDLE, _CHANGE, _RHS, _X, _Y, _STEP = range(8)


@inner
def _kinetic(lower, p, x):
    """Return p^T A^-1 p/2 [J] for the Cholesky factor of A."""
    solve(lower, p, x)
    value = 0.0
    for i in range(p.size):
        value += 0.5 * p[i] * x[i]
    return value


@inner
def _set(chain, work, q):
    """Set place, energy matrix and its factor; False: the matrix is singular."""
    place(chain, work, q)
    matrix(chain, work)
    return factor(work.matrix, work.factor)


@inner
def _end_momenta(work, start, change, p0, h, v, sums, other):
    """Set the momenta v[_P1] at the end: (p0 + p1)/2 = 2 A0 (A0 + A1)^-1 A1 (q1 - q0)/h; False: not positive."""
    n = p0.size
    for i in range(n):
        value = 0.0
        for j in range(n):
            sums[i, j] = start[i, j] + work.matrix[i, j]
            value += work.matrix[i, j] * change[j]
        v[_X, i] = value / h
    if not factor(sums, other):
        return False
    solve(other, v[_X], v[_Y])
    for i in range(n):
        value = 0.0
        for j in range(n):
            value += start[i, j] * v[_Y, j]
        v[_P1, i] = 4.0 * value - p0[i]
    return True


@inner
def _correction(chain, work, change, gain, noise):
    """Add the correction of the discrete gradient, whose product with the change is the energy that the gradient in the
    middle lacks of ``gain`` [J]; none, where that is below the round-off ``noise`` [J] of the energies."""
    size = 0.0
    for i in range(change.size):
        gain -= work.slope[i] * change[i]
        if chain.cyclic[i] == 0:
            size += work.matrix[i, i] * change[i] * change[i]
    if size > 0.0 and abs(gain) > noise:
        for i in range(change.size):
            if chain.cyclic[i] == 0:
                work.slope[i] += gain * work.matrix[i, i] * change[i] / size


@inner
def _step(chain, work, q0, p0, h, size, v, start, start_factor, sums, other):
    """Make a step from (q0, p0) to (v[_Q1], v[_P1]); return the number of iterations, or FAILED."""
    n = q0.size
    if not _set(chain, work, q0):
        return FAILED
    for i in range(n):
        for j in range(n):
            start[i, j], start_factor[i, j] = work.matrix[i, j], work.factor[i, j]
    solve(start_factor, p0, v[_X])
    for i in range(n):
        v[_CHANGE, i] = h * v[_X, i]
    at_start, low = _kinetic(start_factor, p0, v[_X]), potential(chain, work, q0)
    noise = 8.0 * 2.0**-52 * (at_start + abs(low))
    q1, p1, middle, change = v[_Q1], v[_P1], v[_MIDDLE], v[_CHANGE]
    least, stalled = np.inf, 0
    for iteration in range(1, _ITERATIONS + 1):
        for i in range(n):
            q1[i] = q0[i] + change[i]
            middle[i] = q0[i] + 0.5 * change[i]
        if not _set(chain, work, q1) or not _end_momenta(work, start, change, p0, h, v, sums, other):
            return FAILED
        kinetic = _kinetic(work.factor, p0, v[_X]) + _kinetic(work.factor, p1, v[_X])
        before = at_start + _kinetic(start_factor, p1, v[_X])
        after = potential(chain, work, q1)
        gain = 0.5 * (kinetic - before) + after - low
        if not _set(chain, work, middle):
            return FAILED
        for i in range(n):
            work.slope[i] = 0.0
        for p in range(2):
            solve(work.factor, p0 if p == 0 else p1, work.rate)
            slopes(chain, work, middle, 0.5)
        _correction(chain, work, change, gain, noise)
        for i in range(n):
            v[_RHS, i] = -(p1[i] - p0[i] + h * work.slope[i] + chain.damping[i] * change[i])
            for j in range(n):
                sums[i, j] = 2.0 * work.matrix[i, j] / h
            sums[i, i] += 0.5 * h * chain.stiffness[i] + chain.damping[i]
        if not factor(sums, other):
            return FAILED
        solve(other, v[_RHS], v[_STEP])
        largest, moved = 0.0, 1e-6
        for i in range(n):
            unit = size if chain.slides[i] == 1 else 1.0
            largest = max(largest, abs(v[_STEP, i]) / unit)
            moved = max(moved, abs(change[i]) / unit)
            if chain.slides[i] == 0 and abs(change[i]) > _QUARTER:
                return FAILED
        if not np.isfinite(largest):
            return FAILED
        stalled = stalled + 1 if largest >= 0.9 * least else 0
        if largest <= _ROUND_OFF * moved or (largest < _STALLED * moved and stalled == 2):
            return iteration
        least = min(least, largest)
        for i in range(n):
            change[i] += v[_STEP, i]
    return FAILED


@kernel
def advance(chain, work, q, p, h, size, v, matrices, iterations):
    """Make the steps of ``iterations`` (m,) from the rows 0 of q and p (m + 1, n); return how many have converged.

    Args:
        size: length [m] that slides are measured by.
        v: workspace (8, n).
        matrices: workspace (4, n, n).
    """
    q, p, v, matrices = C.borrow(q), C.borrow(p), C.borrow(v), C.borrow(matrices)
    for k in range(iterations.size):
        found = _step(
            chain, work, q[k], p[k], h, size, v, matrices[0], matrices[1], matrices[2], matrices[3]
        )  # fmt: skip
        if found == FAILED:
            return k
        iterations[k] = found
        for i in range(q.shape[1]):
            q[k + 1, i], p[k + 1, i] = v[_Q1, i], v[_P1, i]
    return iterations.size


@kernel
def states(chain, work, q, p, turns, places, spins, speeds):
    """Set turns (m, n, 9), mass centres (m, n, 3), angular velocities and velocities of them (m, n, 3), all global.

    Returns:
        Whether the energy matrix was regular at all rows of q and p (m, n).
    """
    for row in range(q.shape[0]):
        if not _set(chain, work, q[row]):
            return False
        solve(work.factor, p[row], work.rate)
        move(chain, work)
        for k in range(q.shape[1]):
            c, xi = work.place[k], work.spin[k]
            for j in range(9):
                turns[row, k, j] = work.turn[k, j]
            for j in range(3):
                a, b = (j + 1) % 3, (j + 2) % 3
                places[row, k, j] = c[j]
                spins[row, k, j] = xi[j]
                speeds[row, k, j] = xi[3 + j] + xi[a] * c[b] - xi[b] * c[a]
    return True


@kernel
def conjugate(chain, work, q, spins, speeds, p):
    """Set the momenta p (n,) conjugate to q (n,) of segments with angular velocities and velocities of their mass
    centres (n, 3), global: p_i = dT/dq'_i is the momentum of what hangs on i along the unit twist of i."""
    place(chain, work, q)
    for k in range(q.size):
        c = work.place[k]
        for j in range(3):
            a, b = (j + 1) % 3, (j + 2) % 3
            work.spin[k, j] = spins[k, j]
            work.spin[k, 3 + j] = speeds[k, j] - spins[k, a] * c[b] + spins[k, b] * c[a]
    hold(chain, work)
    for k in range(q.size):
        p[k] = 0.0
        for j in range(6):
            p[k] += work.held[k, j] * work.unit[k, j]


_F1, _F2, _F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
declare(advance, (CHAIN, WORK, _F2, _F2, types.float64, types.float64, _F2, _F3, types.int64[::1]))
declare(states, (CHAIN, WORK, _F2, _F2, _F3, _F3, _F3, _F3))
declare(conjugate, (CHAIN, WORK, _F1, _F2, _F2, _F1))
