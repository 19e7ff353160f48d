"""Matrices and vectors of nodes in the frames of the parts that they belong to.

A part that turns by R takes its stiffness along: with T = diag(R, R, ...) it is T K T^T, and an isotropic mass is
T M T^T = M.  So factors made in the frame of a part serve for as long as its strains change little, however far it
turns.  Over a mid-point step the forces act in the middle frame R_m and the unknowns are displacements in the last
frame R_1 (docs/performance.md):

    A = T_m (P M + c K) T_1^T,   P = T_m^T T_1, a turn by half of that of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import kernel

__all__ = ["NodeFrames", "turn_blocks"]


@kernel
def turn_blocks(dim, indptr, indices, values, node, axis, part, left, right):
    """Replace values of compressed columns by T_m^T A T_1; ``node`` (n,) is the node of an equation, or -1, and
    ``axis`` (n,) its direction."""
    a = np.zeros((3, 3))
    n = indptr.size - 1
    c = 0
    while c < n:
        own = node[c]
        width = 1 if own < 0 else dim
        begin, length = indptr[c], indptr[c + 1] - indptr[c]
        t = 0
        while t < length:
            r = indices[begin + t]
            other = node[r]
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
                            x += a[k, m] * (right[part[own], axis[c + m], axis[c + j]] if own >= 0 else 1.0)
                        s += x * (left[part[other], axis[r + k], axis[r + i]] if other >= 0 else 1.0)
                    values[begin + j * length + t + i] = s
            t += height
        c += width


class NodeFrames:
    """The nodes whose equations are turned with their part, of a matrix in compressed columns."""

    def __init__(self, equations: np.ndarray, part: np.ndarray, indptr: np.ndarray, indices: np.ndarray):
        """Take the equations (m, dimension) of nodes, along the axes, their parts (m,), and the pattern (symmetric,
        sorted).

        Nodes whose equations are not neighbours with the same pattern are left out; so are those with prescribed ones
        (-1).
        """
        equations = np.asarray(equations, np.int64)
        self._dim = equations.shape[1]
        self._indptr, self._indices = indptr, indices
        first = equations.min(axis=1)
        keep = np.flatnonzero((first >= 0) & (np.ptp(equations, axis=1) == self._dim - 1))
        keep = keep[self._alike(first[keep])]
        self._at, self._part = equations[keep], np.asarray(part, np.int64)[keep]
        self._node = np.full(len(indptr) - 1, -1, np.int64)
        self._axis = np.zeros(len(indptr) - 1, np.int64)
        self._node[self._at] = np.arange(len(keep))[:, None]
        self._axis[self._at] = np.arange(self._dim)

    def _alike(self, first: np.ndarray) -> np.ndarray:
        """Return which nodes have columns of one pattern, whose rows therefore come together, too."""
        if not len(self._indices):
            return np.zeros(first.size, bool)
        lengths = np.diff(self._indptr)
        beside = np.repeat(lengths, lengths)
        beside += np.arange(len(beside), dtype=beside.dtype)  # the same place in the next column, if both are as long
        np.minimum(beside, len(beside) - 1, out=beside)
        other = self._indices[beside] != self._indices
        differences = np.concatenate(([0], np.cumsum(other)))
        same = differences[self._indptr[1:]] == differences[self._indptr[:-1]]
        same[:-1] &= lengths[:-1] == lengths[1:]
        same[-1] = False
        alike = np.ones(first.size, bool)
        for k in range(self._dim - 1):
            alike &= same[first + k]
        return alike

    @property
    def count(self) -> int:
        """Return the number of nodes that are turned."""
        return len(self._at)

    def matrix(self, values: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Replace the values of A by those of T_m^T A T_1, with the rotations ``left`` R_m and ``right`` R_1 (p, d, d)
        of the parts."""
        if self.count:
            turn_blocks(
                self._dim, self._indptr, self._indices, values, self._node, self._axis, self._part, left, right
            )  # fmt: skip

    def into(self, b: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return T^T b of a vector b (n,)."""
        if not self.count:
            return b
        y = b.copy()
        y[self._at] = np.einsum("aji,aj->ai", rotations[self._part], b[self._at])
        return y

    def back(self, x: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return T x of a vector x (n,)."""
        if not self.count:
            return x
        y = x.copy()
        y[self._at] = np.einsum("aij,aj->ai", rotations[self._part], x[self._at])
        return y
