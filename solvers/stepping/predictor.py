"""First guesses from the increments of steps before.

Increments are extrapolated by a polynomial through the last two, three or four of them.  Which number is best depends
on how well steps resolve the motion: a vibration by w in steps of h > 1/w is made larger by higher orders.  So each
step compares its increments with what all orders would have guessed (`choose_order`), and the next one takes the order
that was best of late.

Nodes of continua that turn have no rotation that could be extrapolated.  Increments of positions extrapolated along
straight lines strain a part that turns by phi per step by some phi^2, which for a stiff part is a stress far from that
of the solution: Newton-Raphson then begins in a bad place.  Here the best rigid motion of each connected part over the
last two steps is extrapolated instead and its shape is kept, where that strain is larger than the change of its shape
in the last step.

All is written in loops over numbers: array expressions and `np.linalg` take longer to compile, mostly for the texts of
their errors.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import cleared, copy, integers, scratch
from fem_mbs.contract import inline, inner
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.layout import (
    HISTORY,
    LENGTH,
    MIDPOINT,
    MISS,
    MOST_INCREMENTS,
    MULTIPLIER,
    NEWMARK,
    ORDER,
    POSITION,
    PREDICTOR,
    RULE_KIND,
)

__all__ = ["choose_order", "keep_increments", "turn_parts", "weights_of"]

_SWEEPS = 6
_FADING = 0.7  # of errors of first guesses, from step to step
_EXTRAPOLATION = 3  # the predictor


@inline
def weights_of(order):
    """Return the weights of the last four increments in their extrapolation from ``order`` of them, 2 to 4."""
    if order < 3.0:
        return 2.0, -1.0, 0.0, 0.0
    if order < 4.0:
        return 3.0, -3.0, 1.0, 0.0
    return 4.0, -6.0, 4.0, -1.0


@inline
def keep_increments(state, counter):
    """Store the increments of a step for the first guesses of the next ones, where its rule needs them."""
    newmark = counter[RULE_KIND] == NEWMARK  # which keeps accelerations in the last two rows
    if not newmark and counter[RULE_KIND] != MIDPOINT:
        return
    if not newmark:
        copy(state.past[2], state.past[3])
        copy(state.past[1], state.past[2])
    copy(state.past[0], state.past[1])
    copy(state.U, state.past[0])
    counter[HISTORY] = min(counter[HISTORY] + 1, 2 if newmark else MOST_INCREMENTS)


@inner
def choose_order(system, state, real, counter):
    """Choose the number of increments that the next step extrapolates, by the increments of this one, U, and those of
    the steps before it."""
    if counter[RULE_KIND] != MIDPOINT or counter[PREDICTOR] != _EXTRAPOLATION or counter[HISTORY] < 2:
        return
    first = real[ORDER] == 0.0  # no values of the last steps
    U, past = state.U, state.past
    e2 = e3 = e4 = 0.0
    for k in system.unknown:
        if system.kind[k] != MULTIPLIER:
            scale = 1.0 / real[LENGTH] if system.kind[k] == POSITION else 1.0
            # differences of rising order, of this increment and those before it
            d2 = U[k] - 2.0 * past[0, k] + past[1, k]
            d2_before = past[0, k] - 2.0 * past[1, k] + past[2, k]
            d3 = d2 - d2_before
            d4 = d3 - d2_before + (past[1, k] - 2.0 * past[2, k] + past[3, k])
            e2, e3, e4 = max(e2, scale * abs(d2)), max(e3, scale * abs(d3)), max(e4, scale * abs(d4))
    best, least = 2, 0.0
    for i, e in ((0, e2), (1, e3), (2, e4)):
        known = counter[HISTORY] >= i + 2
        miss = max(e, 0.0 if first else _FADING * real[MISS + i]) if known else 0.0
        real[MISS + i] = miss
        if known and (i == 0 or miss < least):
            best, least = i + 2, miss
    real[ORDER] = min(best, min(counter[HISTORY] + 1, MOST_INCREMENTS))


@inner
def fit(dofs, dim, Q, past, before, R, a, b):
    """Fit the rigid motion x -> b + R (x - a) of a step to the nodes with first dofs ``dofs``.

    The step is the last one, or with ``before`` the one before it.
    """
    n = dofs.size
    for i in range(3):
        a[i], b[i] = 0.0, 0.0
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
    for k in dofs:
        for j in range(dim):
            end = Q[0, k + j] - (past[0, k + j] if before else 0.0)
            b[j] += end / n
            a[j] += (end - past[1 if before else 0, k + j]) / n
    J, r = scratch(3, 3), scratch(3)
    x, y = cleared(3), cleared(3)
    full, pivot = scratch(3, 7), integers(3)
    for _ in range(_SWEEPS):
        # small rotation d from R (x - a) to y - b: sum of (|x|^2 I - x x^T) d = sum of x cross y
        for i in range(3):
            r[i] = 0.0
            for j in range(3):
                J[i, j] = 0.0
        for k in dofs:
            for j in range(dim):
                end = Q[0, k + j] - (past[0, k + j] if before else 0.0)
                y[j] = end - b[j]
            for i in range(3):
                x[i] = 0.0
                for j in range(dim):
                    end = Q[0, k + j] - (past[0, k + j] if before else 0.0)
                    x[i] += R[i, j] * (end - past[1 if before else 0, k + j] - a[j])
            square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
            for i in range(3):
                J[i, i] += square
                for j in range(3):
                    J[i, j] -= x[i] * x[j]
            r[0] += x[1] * y[2] - x[2] * y[1]
            r[1] += x[2] * y[0] - x[0] * y[2]
            r[2] += x[0] * y[1] - x[1] * y[0]
        trace = J[0, 0] + J[1, 1] + J[2, 2]
        if not trace > 0.0:
            return
        for i in range(3):
            J[i, i] += 1e-12 * trace  # nodes in a line turn about it freely
            for j in range(3):
                full[j, 4 + i - j] = J[i, j]  # two bands on either side
        if band_factor(3, 2, 2, full, pivot) >= 0:
            return
        band_solve(3, 2, 2, full, pivot, r)
        for i in range(3):
            r[i] *= 0.5
        turn(r, R)
        if r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < 2.5e-27:
            break


@inner
def turn(d, R):
    """Replace R by cay(2 d) R."""
    s = 2.0 / (1.0 + d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    for j in range(3):
        x, y, z = R[0, j], R[1, j], R[2, j]
        u0 = x + d[1] * z - d[2] * y
        u1 = y + d[2] * x - d[0] * z
        u2 = z + d[0] * y - d[1] * x
        R[0, j] += s * (d[1] * u2 - d[2] * u1)
        R[1, j] += s * (d[2] * u0 - d[0] * u2)
        R[2, j] += s * (d[0] * u1 - d[1] * u0)


@inner
def turn_parts(system, Q, past, U):
    """Replace the first guess U of the positions of parts that turn."""
    dim = 2 if system.rotations.shape[1] == 1 else 3
    R1, R2, R = scratch(3, 3), scratch(3, 3), scratch(3, 3)
    a1, b1, a2, b2 = cleared(3), cleared(3), cleared(3), cleared(3)
    for p in range(system.part.size - 1):
        dofs = system.part_dofs[system.part[p] : system.part[p + 1]]
        fit(dofs, dim, Q, past, False, R1, a1, b1)
        phi = 0.0
        for i in range(3):
            for j in range(3):
                phi += 0.5 * (R1[i, j] - (1.0 if i == j else 0.0)) ** 2
        size, change = 0.0, 0.0
        for k in dofs:
            for i in range(dim):
                moved = b1[i]
                for j in range(dim):
                    moved += R1[i, j] * (Q[0, k + j] - past[0, k + j] - a1[j])
                size = max(size, abs(Q[0, k + i] - b1[i]))
                change = max(change, abs(Q[0, k + i] - moved))
        if not phi * size > change:
            continue
        fit(dofs, dim, Q, past, True, R2, a2, b2)
        for i in range(3):
            for j in range(3):
                R[i, j] = 0.0
                for k in range(3):
                    for m in range(3):
                        R[i, j] += R1[i, k] * R2[m, k] * R1[m, j]
        for k in dofs:
            for i in range(dim):
                if system.equation[k + i] >= 0:
                    x = 3.0 * b1[i] - 2.0 * a1[i] - b2[i] + a2[i] - Q[0, k + i]
                    for j in range(dim):
                        x += R[i, j] * (Q[0, k + j] - b1[j])
                    U[k + i] = x
