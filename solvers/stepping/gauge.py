"""Newton's matrix of a system whose constraints depend on each other, compiled.

Where k rows of G depend on the others, [[K, H], [G, 0]] has k null vectors, multipliers without any force.  The same
number of *dependent* rows i get -s_i on the diagonal, s_i being the scale of the row: the increment of a consistent
system solves the regular matrix up to terms of second order, so that Newton-Raphson converges as without redundancy, on
unchanged residuals.  The null vectors are the solutions of the regular matrix for the unit vectors of the dependent
rows; taking their share out of the multipliers leaves those of least norm, sum s_i Lambda_i^2 (in one unit: energy),
whichever rows are called dependent.  Loops without common rows share one right side.  Where a loop has too many of
them for that, the multipliers of its dependent rows are kept at zero instead: their equations become those of -s_i
(Lambda_i + dLambda_i), which the others make vanish.

The regular matrix is as good as the choice of its dependent rows: where a null vector has the share z_i in the row i
that stands for it, and unit length, the condition number grows with 1/z_i^2.  As a mechanism moves, z_i changes; where
it has become small against its value when the row was chosen, another choice is asked for.

Near an isolated singular configuration nothing is redundant; there all multipliers get -1e-8 s_i, and Newton-Raphson
corrects what this changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.compiling.array_records import array_record
from fem_mbs.contract import inner, kernel

__all__ = [
    "DEPENDENT",
    "MODE",
    "NEAR",
    "PLAIN",
    "SLIGHT",
    "Rank",
    "balance",
    "lowest_pivot",
    "null_vector",
    "regularise",
]

# --- flags -----------------------------------------------------------------------------------------------------------
MODE, WATCHED, KNOWN, SMALL = 0, 1, 2, 3
N_FLAGS = 4
#: Modes: the matrix as it is; dependent rows; all multipliers slightly regular.
PLAIN, DEPENDENT, NEAR = 0, 1, 2

SLIGHT = 1e-8
#: Number of the null vector, for dependent rows whose multipliers stay zero.
NONE = 2**30


class Rank(NamedTuple):
    """Knowledge of dependent constraints; arrays have one entry per equation, but for the first two."""

    flags: np.ndarray  # (4,) int64: mode; whether to watch pivots; whether they are known; a pivot has become small
    limit: np.ndarray  # (2,) ratios to their first values that count as small: of a pivot, of a share in a null vector
    weight: np.ndarray  # (n,) scale s of a constraint, 0 for momentum rows
    loop: np.ndarray  # (n,) int32: loop of dependent constraints, or -1
    dependent: np.ndarray  # (n,) int32: null vector that begins in this row, NONE, or -1
    null: np.ndarray  # (k, n) null vectors; loops side by side in each
    count: np.ndarray  # (number of loops,) int32: null vectors of each loop
    sums: np.ndarray  # (number of loops,) workspace
    pivots: np.ndarray  # (n,) pivots of the first tangent
    share: np.ndarray  # (n,) first square of a dependent row's share in its null vector, 0: not known yet

    @staticmethod
    def plain(n: int) -> Rank:
        """Return the knowledge of n equations before any is found."""
        return Rank(
            np.zeros(N_FLAGS, np.int64), np.zeros(2), np.zeros(n), np.full(n, -1, np.int32),
            np.full(n, -1, np.int32), np.zeros((0, n)), np.zeros(0, np.int32), np.zeros(0), np.zeros(n), np.zeros(n),
        )  # fmt: skip


#: Type of the record in compiled code.
RANK = array_record(
    Rank, {"f8 2": "null", "f8 1": "limit weight sums pivots share", "i8 1": "flags", "i4 1": "loop dependent count"}
)


@inner
def regularise(rank, values, first, stride):
    """Subtract from the diagonal, entry i at ``values[first + i * stride]``, what the mode asks for."""
    mode = rank.flags[MODE]
    for i in range(rank.weight.size):
        if mode == NEAR:
            values[first + i * stride] -= SLIGHT * rank.weight[i]
        elif rank.dependent[i] >= 0:
            values[first + i * stride] -= rank.weight[i]


@inner
def null_vector(rank, c):
    """Make row c of ``null``, the solution for the unit vectors of its dependent rows, orthonormal loop by loop."""
    z, sums = rank.null[c], rank.sums
    n = z.size
    sums[:] = 0.0
    for i in range(n):
        if rank.loop[i] < 0 or c >= rank.count[rank.loop[i]]:
            z[i] = 0.0
        else:
            sums[rank.loop[i]] += rank.weight[i] * z[i] * z[i]
    for i in range(n):
        if rank.dependent[i] == c:
            share = rank.weight[i] / sums[rank.loop[i]]
            if rank.share[i] == 0.0:
                rank.share[i] = share
            if not share > rank.limit[1] ** 2 * rank.share[i]:
                rank.flags[SMALL] = 1  # this row hardly depends on the others any more: choose another
        if rank.loop[i] >= 0 and sums[rank.loop[i]] > 0.0:
            z[i] /= np.sqrt(sums[rank.loop[i]])
    for _ in range(2):  # twice is enough (Kahan)
        for b in range(c):
            y = rank.null[b]
            sums[:] = 0.0
            for i in range(n):
                if rank.loop[i] >= 0:
                    sums[rank.loop[i]] += rank.weight[i] * y[i] * z[i]
            for i in range(n):
                if rank.loop[i] >= 0:
                    z[i] -= sums[rank.loop[i]] * y[i]
        sums[:] = 0.0
        for i in range(n):
            if rank.loop[i] >= 0:
                sums[rank.loop[i]] += rank.weight[i] * z[i] * z[i]
        for i in range(n):
            if rank.loop[i] >= 0 and sums[rank.loop[i]] > 0.0:
                z[i] /= np.sqrt(sums[rank.loop[i]])


@inner
def start_vector(rank, c):
    """Set the right side whose solution is null vector c."""
    z = rank.null[c]
    for i in range(z.size):
        z[i] = 1.0 * rank.weight[i] if rank.dependent[i] == c else 0.0


@inner
def release(rank, unknown, U, b):
    """Change the right side b of an increment so that the multipliers without null vectors become zero."""
    for i in range(b.size):
        if rank.dependent[i] == NONE:
            b[i] += rank.weight[i] * U[unknown[i]]


@inner
def balance(rank, unknown, U, x):
    """Change the increment x so that the multipliers in U + x have no share of the null vectors."""
    for c in range(rank.null.shape[0]):
        z, sums = rank.null[c], rank.sums
        sums[:] = 0.0
        for i in range(x.size):
            if rank.loop[i] >= 0:
                sums[rank.loop[i]] += rank.weight[i] * z[i] * (U[unknown[i]] + x[i])
        for i in range(x.size):
            if rank.loop[i] >= 0:
                x[i] -= sums[rank.loop[i]] * z[i]


@inner
def lowest_pivot(rank, values, first, stride):
    """Compare the pivots with those of the first tangent; set a flag when one has become small."""
    known = rank.flags[KNOWN] == 1
    for i in range(rank.pivots.size):
        p = abs(values[first + i * stride])
        if not known:
            rank.pivots[i] = p
        elif p < rank.limit[0] * rank.pivots[i]:
            rank.flags[SMALL] = 1
    rank.flags[KNOWN] = 1


@kernel
def set_null(rank, c, z):
    """Use a solution z (n,) of the sparse solver as null vector c."""
    rank.null[c, :] = z
    null_vector(rank, c)


@kernel
def balance_increment(rank, unknown, U, x):
    """Change increments of the sparse solver as `balance` does."""
    balance(rank, unknown, U, x)
