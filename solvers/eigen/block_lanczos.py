"""Block Lanczos for the largest eigenvalues of an operator that is self-adjoint in an inner product: A x = t x.

    x.B A y = y.B A x,      B symmetric, positive semi-definite;      modes: A = (K - s M)^-1 M, B = M, t = 1/(w^2 - s)

A factor of a large part is read from memory for every solution, which takes longer than the arithmetic: a solution of
eight columns costs little more than twice that of one.  ARPACK asks for one column at a time.  Here a block of columns
goes on together (Golub & Underwood 1977; Grimes, Lewis & Simon 1994, doi:10.1137/S0895479888151111)::

    A Q_j = Q_(j-1) C_(j-1)^T + Q_j H_jj + Q_(j+1) C_j

with all vectors orthogonalised against all others in every step.  The basis is condensed to the best Ritz vectors where
it has reached its limit (thick restart; Wu & Simon 2000, doi:10.1137/S0895479898334605).

A block of b columns finds b copies of a multiple eigenvalue, no more.  `BlockLanczos.widen` adds random vectors,
orthogonal to the whole basis, to the next block: they bring further copies, and cost columns of solutions that are made
anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BlockLanczos", "SlowError", "largest"]

#: Gram matrices of scaled columns have no eigenvalue below this; what is smaller is found in the next pass.
_FLOOR = 1e-13
_PASSES = 6
#: Length of columns before they are orthonormal over that after, up to which one projection on the basis is enough.
_SAFE = 100.0
#: Components in the basis, and difference of the Gram matrix from the identity, of vectors that need no other pass.
_CLEAN, _NEAR = 1e-12, 1e-7
#: Length of a column, over that of its image before the projection, that is rounding; of a random vector.
_NOTHING, _SPANNED = 1e-15, 1e-10
#: Relative residual of the wanted pairs at which the search for further copies begins, steps that it takes at least,
#: and the growth of a Ritz value that tells of a new one.
_SETTLED, _SEARCH, _SAME = 1e-5, 3, 1e-7
_ROWS = 65_536  # rows of the basis condensed at a time, which bounds the memory for it


class BlockLanczos:
    """The recurrence, with at most ``most`` basis vectors.

    Args:
        apply: returns A X (n, k) for blocks X (n, k) and B X (n, k).
        inner: B, sparse (n, n).
        draw: returns k random vectors (n, k) in the range of A.
        most: columns of the basis, at least twice what is kept at a restart.

    Attributes:
        steps: applications of the operator to a block; ``exhausted``: the basis spans all that A reaches.
    """

    def __init__(
        self,
        apply: Callable[[np.ndarray, np.ndarray], np.ndarray],
        inner: Any,
        draw: Callable[[int], np.ndarray],
        most: int,
        block: int,
    ):
        self._apply, self._inner, self._draw = apply, inner, draw
        self._most, self.block = most, max(min(block, most), 1)
        self.steps = self._size = self._kept = 0
        self.exhausted = False
        first = draw(self.block)
        self._V = np.empty((first.shape[0], most), order="F")
        self._H = np.zeros((most, most))
        self._coupling = np.zeros((0, 0))  # of the next block to the last ``_kept`` columns
        self._next = (first[:, :0], first[:, :0])  # Q, B Q
        self._add(first)

    @property
    def basis(self) -> np.ndarray:
        """Return the basis (n, m), orthonormal in the inner product."""
        return self._V[:, : self._size]

    # --- recurrence ------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Apply the operator to the next block, which joins the basis."""
        Q, BQ = self._next
        r, m, kept = Q.shape[1], self._size, slice(self._size - self._kept, self._size)
        new = slice(m, m + r)
        self._V[:, new] = Q
        W = self._apply(Q, BQ)
        self.steps += 1
        own = BQ.T @ W
        own = 0.5 * (own + own.T)
        W -= self._V[:, kept] @ self._coupling.T
        W -= Q @ own
        self._H[new, new] = own
        self._H[new, kept], self._H[kept, new] = self._coupling, self._coupling.T
        along = np.sqrt((own**2).sum(axis=0) + (self._coupling**2).sum(axis=1))
        self._size = m + r
        Q, BQ, self._coupling = self._orthonormal(W, along)
        self._next, self._kept = (Q, BQ), r
        if not Q.shape[1]:
            self._fresh(self.block)

    def widen(self, more: int) -> None:
        """Add ``more`` random vectors to the next block."""
        if not self.exhausted:
            self._add(self._draw(more))

    def _fresh(self, more: int) -> None:
        """Go on from random vectors, where the basis is invariant; end where it spans everything."""
        self._add(self._draw(more))
        self.exhausted = self._next[0].shape[1] == 0

    def _add(self, W: np.ndarray) -> None:
        Q, BQ = self._next
        old = Q.shape[1]
        room = self._V.shape[0] - self._size - old
        W = W[:, : max(room, 0)]
        new, image, _ = self._orthonormal(W, None, Q)
        self._next = np.hstack((Q, new)), np.hstack((BQ, image))
        self._coupling = np.vstack((self._coupling, np.zeros((new.shape[1], self._kept))))

    def _orthonormal(self, W: np.ndarray, along: np.ndarray | None, beside: np.ndarray | None = None):
        """Return Q (n, r), B Q, and C (r, b) with W = Q C + (what lies in the basis and ``beside`` it).

        ``along`` (b,): sizes of the parts of the columns that have been taken off already; None for random columns,
        whose size is that in the inner product.
        """
        V = self.basis
        C = np.eye(W.shape[1])
        again = True  # whether rounding may have left components in the basis
        scale, least = (np.zeros(W.shape[1]), _SPANNED) if along is None else (along, _NOTHING)
        for attempt in range(_PASSES):
            if not W.shape[1]:
                break
            BW = self._inner @ W
            h = V.T @ BW if again else V[:, :0].T @ BW
            before = np.einsum("ik,ik->k", W, BW)
            gram = W.T @ BW - h.T @ h
            if beside is not None and beside.shape[1]:
                g = beside.T @ BW
                gram -= g.T @ g
                W -= beside @ g
                h = np.vstack((h, g))
            gram = 0.5 * (gram + gram.T)
            off = np.abs(h).max(initial=0.0)
            near = np.abs(gram - np.eye(len(gram))).max()
            if attempt and off < _CLEAN and near < _NEAR:
                turn = np.eye(len(gram)) - 0.5 * (gram - np.eye(len(gram)))
                return W @ turn, BW @ turn, (2.0 * np.eye(len(gram)) - turn) @ C
            if again:
                W -= V @ h[: V.shape[1]]
            size = np.sqrt(np.maximum(np.diag(gram), 0.0))
            if attempt == 0:
                scale = np.sqrt(scale**2 + np.maximum(before, 0.0))
            live = np.any(size[:, None] * np.abs(C) > least * scale, axis=1)
            W, C, gram, size = W[:, live], C[live], gram[np.ix_(live, live)], size[live]
            w, z = np.linalg.eigh(gram / np.outer(size, size))
            root = np.sqrt(np.maximum(w, _FLOOR))
            # rounding in the basis is magnified as the columns are
            shrunk = np.sqrt(np.maximum(before[live], 0.0)) / size
            again = attempt > 0 or not shrunk.max(initial=0.0) < _SAFE * root.min(initial=1.0)
            W = W @ (z / size[:, None] / root)
            C = (z.T * root[:, None] * size) @ C
        return W, self._inner @ W, C

    # --- Ritz pairs ------------------------------------------------------------------------------------------------
    def ritz(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Ritz values t (m,) by falling magnitude, estimates (m,) of |A x - t x|, and coefficients (m, m)."""
        t, S = np.linalg.eigh(self._H[: self._size, : self._size])
        order = np.argsort(-np.abs(t), kind="stable")
        t, S = t[order], S[:, order]
        return t, np.linalg.norm(self._coupling @ S[self._size - self._kept :], axis=0), S

    @property
    def full(self) -> bool:
        """Whether the next block has no place in the basis."""
        return self._size + self._next[0].shape[1] > self._most

    def condense(self, t: np.ndarray, S: np.ndarray, wanted: int) -> None:
        """Keep the ``wanted`` first Ritz vectors as the basis, and half of the others as far as there is room."""
        ahead = self._next[0].shape[1]
        keep = max(min((wanted + self._size) // 2, self._most - 2 * ahead), min(wanted, self._most - ahead))
        last = S[self._size - self._kept :, :keep]
        self.rotate(S[:, :keep])
        self._H[:] = 0.0
        self._H[:keep, :keep] = np.diag(t[:keep])
        self._coupling = self._coupling @ last
        self._kept = keep

    def rotate(self, S: np.ndarray) -> np.ndarray:
        """Overwrite the basis by its products with S (m, k), and return them (n, k), without another basis in memory.

        Only `condense` goes on from there.
        """
        m, k = S.shape
        for first in range(0, self._V.shape[0], _ROWS):
            rows = self._V[first : first + _ROWS]
            rows[:, :k] = rows[:, :m] @ S
        self._size = k
        return self._V[:, :k]


class SlowError(Exception):
    """The iteration has not converged in the steps it was given."""


def largest(
    lanczos: BlockLanczos,
    leading: Callable[[np.ndarray, np.ndarray], int],
    steps: int,
    tolerance: float = 1e-13,
    probe: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Extend the basis until the largest Ritz pairs have converged; return `BlockLanczos.ritz` and how many those are.

    Args:
        leading: tells from Ritz values and estimates how many pairs are wanted; it may ask for more than there are.
        steps: the most applications of the operator.
        tolerance: estimate of |A x - t x| over |t| in the norm of the inner product.
        probe: number of random vectors that look for further copies, and again as long as they find some.

    Raises:
        SlowError: not converged after ``steps``.
    """
    seen: np.ndarray | None = None
    begun = 0
    while not lanczos.exhausted:
        if lanczos.steps >= steps:
            raise SlowError
        lanczos.step()
        t, left, S = lanczos.ritz()
        k = leading(t, left)
        size = np.abs(t[:k])
        error = float((left[:k] / np.where(size > 0.0, size, 1.0)).max(initial=0.0)) if t.size >= k else np.inf
        if probe and seen is None and error <= _SETTLED:
            seen, begun = size, lanczos.steps
            lanczos.widen(probe)
        elif error <= tolerance and not probe:
            return t, left, S, k
        elif error <= tolerance and seen is not None and lanczos.steps - begun >= _SEARCH:
            if size.size == seen.size and np.all(size <= (1.0 + _SAME) * seen):
                return t, left, S, k
            seen, begun = size, lanczos.steps
            lanczos.widen(probe)
        if lanczos.full:
            lanczos.condense(t, S, k)
    t, left, S = lanczos.ritz()
    return t, left, S, min(leading(t, left), t.size)
