"""L L^T by blocks of columns (supernodes), where BLAS does the work, for the matrices of a step loop.

CHOLMOD has it for positive definite matrices only.  Those of a step with constraints,

    S = [[K, G^T], [G, -D]],      K positive definite, D >= 0 diagonal,

are factored by K = L L^T and the dense Schur complement C = D + G K^-1 G^T of the few multipliers (Benzi, Golub &
Liesen 2005, section 5): y = C^-1 (G K^-1 a - b), x = K^-1 a - Y y, with Y = K^-1 G^T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.solvers.linear.libraries import NotPositiveDefinite, analyse, lower_triangle, one_blas_thread

__all__ = ["SupernodalFactors", "serves"]

#: Unknowns from which on supernodes pay: below, analysis and BLAS on small blocks cost more than they save.
LEAST = 1500
#: Entries per unknown of one triangle of the matrices of solids: there the order of METIS is the best, and no other is
#: looked at.
_SOLID = 25
#: Multipliers up to which a dense Schur complement serves: each costs a solution per factorisation.
MOST_MULTIPLIERS = 48
#: Unknowns from which on factors may have more entries than integers of 32 bits count.
LONG = 150_000


def serves(n: int, multipliers: int) -> bool:
    """Return whether a matrix of n unknowns, ``multipliers`` of them those of constraints, is one for these factors."""
    return n >= LEAST and multipliers <= MOST_MULTIPLIERS


class SupernodalFactors:
    """Factors of S for one pattern with changing values."""

    def __init__(self, rows: np.ndarray, indptr: np.ndarray, multipliers: np.ndarray):
        """Take the lower triangle of S in compressed columns, and the mask (n,) of its multipliers."""
        n = len(indptr) - 1
        cols = np.repeat(np.arange(n), np.diff(indptr))
        self._n, self._m = n, np.flatnonzero(multipliers)
        self._inner = np.flatnonzero(~multipliers)
        self._factor: Any = None
        number = np.cumsum(~multipliers) - 1
        both = ~multipliers[rows] & ~multipliers[cols]
        self._own = np.flatnonzero(both) if self._m.size else slice(None)
        integers = np.int64 if n >= LONG else np.int32
        starts = np.zeros(self._inner.size + 1, integers)
        np.cumsum(np.bincount(number[cols[both]], minlength=self._inner.size), out=starts[1:])
        self._K = lower_triangle(np.zeros(int(starts[-1])), number[rows[both]].astype(integers), starts)
        place = np.cumsum(multipliers) - 1
        coupling = np.flatnonzero(multipliers[rows] != multipliers[cols])
        swap = multipliers[cols[coupling]]
        self._coupling = coupling
        self._g_row = place[np.where(swap, cols[coupling], rows[coupling])]
        self._g_col = number[np.where(swap, rows[coupling], cols[coupling])]
        self._m_diagonal = np.asarray(indptr)[:-1][self._m]

    def factor(self, values: np.ndarray) -> None:
        """Factor the matrix with these values of its lower triangle.

        Raises:
            NotPositiveDefinite: the Schur complement is not, or K is not, where supernodes pay.  Elsewhere the library
                makes L D L^T of K, which indefinite matrices have, too; the caller finds out what it is worth.
            LinearSolveError: memory is short.
        """
        self._K.data[:] = values[self._own]
        with one_blas_thread():
            if self._factor is None:
                order = "metis" if self._K.nnz > _SOLID * self._inner.size else "default"
                self._factor = analyse(self._K, supernodal=None, order=order)
            self._factor.factor(self._K)
            if not self._m.size:
                return
            shape = self._m.size, self._inner.size
            self._G = csr_matrix((values[self._coupling], (self._g_row, self._g_col)), shape=shape)
            self._Y = self._factor.solve(np.asfortranarray(self._G.T.toarray()))
            C = self._G @ self._Y
            C[np.diag_indices_from(C)] -= values[self._m_diagonal]
        try:
            self._C = scipy.linalg.cho_factor(0.5 * (C + C.T))
        except scipy.linalg.LinAlgError:
            raise NotPositiveDefinite("The constraints depend on each other") from None

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return x (n,) of S x = b."""
        if not self._m.size:
            return self._factor.solve(b)
        u = self._factor.solve(b[self._inner])
        y = scipy.linalg.cho_solve(self._C, self._G @ u - b[self._m])
        x = np.empty(self._n)
        x[self._inner], x[self._m] = u - self._Y @ y, y
        return x
