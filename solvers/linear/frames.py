"""Matrices and vectors of nodes in the frames of the parts that they belong to.

A part that turns by R takes its stiffness along: with T = diag(R, R, ...) it is T K T^T, and an isotropic mass is
T M T^T = M.  So factors made in the frame of a part serve for as long as its strains change little, however far it
turns.  Over a mid-point step the forces act in the middle frame R_m and the unknowns are displacements in the last
frame R_1 (``docs/theory.md``, "Parts that turn"):

    A = T_m (P M + c K) T_1^T,   P = T_m^T T_1, a turn by half of that of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import kernel

__all__ = ["NodeFrames"]


@kernel
def _turn_blocks(dim, indptr, indices, values, node, first, part, left, right):
    """Replace values of compressed columns by T_m^T A T_1; ``node`` (n,) is the node that begins at an equation, or
    -1."""
    a = np.zeros((3, 3))
    n = indptr.size - 1
    c = 0
    while c < n:
        own = node[c]
        width = 1 if own < 0 else dim
        begin, length = indptr[c], indptr[c + 1] - indptr[c]
        t = 0
        while t < length:
            other = node[indices[begin + t]]
            height = 1 if other < 0 else dim
            for i in range(height):
                for j in range(width):
                    a[i, j] = values[begin + j * length + t + i]
            for i in range(height):
                for j in range(width):
                    s = 0.0
                    for k in range(height):
                        x = 0.0
                        for m in range(width):
                            x += a[k, m] * (right[part[own], m, j] if own >= 0 else 1.0)
                        s += x * (left[part[other], k, i] if other >= 0 else 1.0)
                    values[begin + j * length + t + i] = s
            t += height
        c += width


class NodeFrames:
    """The nodes whose equations are turned with their part, of a matrix in compressed columns."""

    def __init__(self, first: np.ndarray, part: np.ndarray, dimension: int, indptr: np.ndarray, indices: np.ndarray):
        """Take the first equations (m,) of nodes with ``dimension`` consecutive ones, their parts (m,), and the
        pattern.

        Nodes whose columns have different patterns are left out; so are those whose equations appear apart in a column.
        """
        self._dim = dimension
        self._indptr, self._indices = indptr, indices
        self._first, self._part = np.empty(0, np.int64), np.empty(0, np.int64)
        keep = self._alike(np.asarray(first, np.int64))
        self._first, self._part = np.asarray(first, np.int64)[keep], np.asarray(part, np.int64)[keep]
        self._node = np.full(len(indptr) - 1, -1, np.int64)
        self._node[self._first] = np.arange(self._first.size)
        self._at = self._first[:, None] + np.arange(dimension)

    def _alike(self, first: np.ndarray) -> np.ndarray:
        """Return which nodes have columns of one pattern (the pattern is symmetric, so their rows come together)."""
        lengths = np.diff(self._indptr)
        sums = np.concatenate(([0], np.cumsum(self._indices.astype(np.int64) ** 2 % 1_000_003)))
        keys = sums[self._indptr[1:]] - sums[self._indptr[:-1]]
        keep = np.ones(first.size, bool)
        for k in range(1, self._dim):
            keep &= (lengths[first] == lengths[first + k]) & (keys[first] == keys[first + k])
        return keep

    @property
    def count(self) -> int:
        """Return the number of nodes that are turned."""
        return self._first.size

    def matrix(self, values: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Replace the values of A by those of T_m^T A T_1, with the rotations ``left`` R_m and ``right`` R_1 (p, d, d)
        of the parts."""
        _turn_blocks(
            self._dim, self._indptr, self._indices, values, self._node, self._first, self._part, left, right
        )  # fmt: skip

    def into(self, b: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return T^T b of a vector b (n,)."""
        y = b.copy()
        y[self._at] = np.einsum("aji,aj->ai", rotations[self._part], b[self._at])
        return y

    def back(self, x: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return T x of a vector x (n,)."""
        y = x.copy()
        y[self._at] = np.einsum("aij,aj->ai", rotations[self._part], x[self._at])
        return y
