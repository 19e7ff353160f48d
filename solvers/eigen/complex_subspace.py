"""Galerkin subspace of a quadratic pencil with an approximate inverse: complex modes of large parts by block solutions.

    L(p) = p^2 M + p C + K,     H = (N + N^T) / 2 positive definite,     N = L(s)

The pencil is projected from both sides on one real space V of orthonormal columns: V^T L(p) V b = 0 gives approximate
right vectors x = V b, its transpose left ones.  H has CHOLMOD's fast factors (`positive_part`), N has none that are
as fast.  So V grows by H^-1 applied to the residuals of the wanted pairs, right and left ones together (Davidson 1975,
doi:10.1016/0021-9991(75)90065-0; for quadratic pencils Tisseur & Meerbergen 2001, doi:10.1137/S0036144500381988): with
N in place of H this would be inverse iteration about s, and what H leaves out the projection makes up for.  N itself is
never solved with, and all solutions of a round are made together, since the factors are read from memory once for all
of them.

One space serves both sides: with symmetric K and M and skew C, the undamped rotor, left vectors are the conjugates of
right ones.  A projection on one space is as well conditioned as H: |N x| >= x.H x, so it has no breakdowns.

Theory: docs/theory.md, section 9, "Large parts".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil, magnitudes, times

__all__ = ["GalerkinSubspace", "Ritz"]

_START = 3  # blocks of the first space: corrections make more of a column than random blocks do
_DEPENDENT = 1e-10  # length of a column outside of the others, over its own, that is rounding
_OUTSIDE, _PASSES = 0.5, 6  # the same of a column that is known to be outside, but for what rounding has added
_ALIKE = 3e-3  # of the largest residual of unit size: directions with less of it wait for the next round
_MORE = 64  # columns for which memory is taken at least
_THIN = 0.2  # of the entries: a difference from the transpose with fewer replaces a second product
_ROUNDING, _CANCELLED = 1e-15, 1e-14  # of the largest entry, and of a product from its terms
_SEED = 17


@dataclass(frozen=True)
class Ritz:
    """Values ``p`` (j,), all of them, with coefficients ``right``, ``left`` (k, j) of vectors in V, no conjugation."""

    p: np.ndarray
    right: np.ndarray
    left: np.ndarray


class _Matrix:
    """A (n, n) and its transpose for products with many columns."""

    def __init__(self, A: csr_matrix):
        self.A = A
        self.more, self.sign = None, 1.0
        x = np.random.default_rng(_SEED).standard_normal((A.shape[0], 1))
        Ax, ATx, sizes = A @ x, A.T @ x, magnitudes(A) @ np.abs(x)
        for sign in (1.0, -1.0):
            # rows that differ do so for a random vector
            rows = np.flatnonzero(np.abs(Ax - sign * ATx) > _CANCELLED * sizes.max(initial=0.0))
            if np.diff(A.indptr)[rows].sum() > _THIN * A.nnz:
                continue
            more = csr_matrix(A[rows] - sign * A[:, rows].T)
            more.data[np.abs(more.data) <= _ROUNDING * np.abs(A.data).max(initial=0.0)] = 0.0
            more.eliminate_zeros()
            some = np.flatnonzero(np.diff(more.indptr))
            self.rows, self.more, self.sign = rows[some], more[some], sign
            break

    def projected(self, V: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return V^T A Z, Z^T A V and Z^T A Z."""
        AZ = self.A @ Z
        right = V.T @ AZ
        if self.more is None:
            left = (self.A.T @ Z).T @ V
        else:  # A^T Z = +-(A Z - more Z)
            left = self.sign * (right - V[self.rows].T @ (self.more @ Z)).T
        return right, left, Z.T @ AZ

    def transposed(self, X: np.ndarray) -> np.ndarray:
        """Return A^T X."""
        if self.more is None:
            return self.A.T @ X
        AX = self.A @ X
        AX[self.rows] -= self.more @ X
        return self.sign * AX


class GalerkinSubspace:
    """The space V of a pencil without constraints.

    Args:
        rng: source of random vectors.

    Attributes:
        V: (n, k), orthonormal; ``small``: V^T M V, V^T C V, V^T K V, (k, k) each.
    """

    def __init__(self, pencil: QuadraticPencil, rng: np.random.Generator):
        self.pencil, self.rng = pencil, rng
        self.matrices = [_Matrix(a) for a in (pencil.M, pencil.C, pencil.K)]
        self._columns, self.size = np.zeros((pencil.n, 0), order="F"), 0
        self.small = [np.zeros((0, 0))] * 3

    def about(self, s: float, solve: Callable[[np.ndarray], np.ndarray]) -> None:
        """Set the shift s, real, and ``solve``: H^-1 B of B (n, k).  V stays as it is."""
        self.s, self.solve = s, solve

    @property
    def V(self) -> np.ndarray:
        return self._columns[:, : self.size]

    # --- growth ----------------------------------------------------------------------------------------------------
    def explore(self, columns: int, blocks: int = _START) -> None:
        """Add a block Krylov space of random vectors: H^-1 applied to forces of mass and of damping in turn."""
        M, Cs = self.pencil.M, csr_matrix(self.pencil.C + 2.0 * self.s * self.pencil.M)
        X = self.rng.standard_normal((self.pencil.n, min(columns, self.pencil.n)))
        for k in range(blocks):
            X = self.add(self.solve((Cs if k % 3 == 2 else M) @ X))
            if X.shape[1] == 0:
                break

    def add(self, Z: np.ndarray) -> np.ndarray:
        """Make V larger by the columns Z (n, j), and return the new ones, orthonormal to all others."""
        Z = self._outside(Z)
        if Z.shape[1]:
            k, j = self.size, Z.shape[1]
            for i, matrix in enumerate(self.matrices):
                whole = np.empty((k + j, k + j))
                whole[:k, :k] = self.small[i]
                whole[:k, k:], whole[k:, :k], whole[k:, k:] = matrix.projected(self.V, Z)
                self.small[i] = whole
            self._append(Z)
        return Z

    def _append(self, Z: np.ndarray) -> None:
        """Make V larger by the columns Z (n, j), in memory that is there for some more."""
        k, last = self.size, self.size + Z.shape[1]
        if last > self._columns.shape[1]:
            more = np.empty((self.pencil.n, last + max(last // 2, _MORE)), order="F")
            more[:, :k] = self.V
            self._columns = more
        self._columns[:, k:last], self.size = Z, last

    def _outside(self, Z: np.ndarray) -> np.ndarray:
        """Return an orthonormal basis of what the columns Z (n, j) add to V."""
        size = np.linalg.norm(Z, axis=0)
        Z = Z[:, size > 0.0] / size[size > 0.0]
        least = _DEPENDENT
        for _ in range(_PASSES):  # more than one for what rounding has left, which may lie within V
            Z = Z - self.V @ (self.V.T @ Z)
            size = np.linalg.norm(Z, axis=0)
            if size.min(initial=1.0) > _OUTSIDE and least == _OUTSIDE:
                break
            Z = Z[:, size > least] / size[size > least]
            if Z.shape[1] == 0:
                return Z
            Q, R, _ = scipy.linalg.qr(Z, mode="economic", pivoting=True)
            Z, least = Q[:, np.abs(np.diag(R)) > least], _OUTSIDE
        return scipy.linalg.qr(Z, mode="economic")[0]

    def condense(self, right: np.ndarray, left: np.ndarray) -> None:
        """Keep the real span of right and left vectors by their coefficients (k, j)."""
        some = np.hstack((right.real, right.imag, left.real, left.imag))
        size = np.linalg.norm(some, axis=0)
        some = some[:, size > 0.0] / size[size > 0.0]
        Q, R, _ = scipy.linalg.qr(some, mode="economic", pivoting=True)
        Q = Q[:, np.abs(np.diag(R)) > _DEPENDENT]
        self._columns = np.asfortranarray(self.V @ Q)
        self.size = Q.shape[1]
        self.small = [Q.T @ a @ Q for a in self.small]

    # --- pairs -----------------------------------------------------------------------------------------------------
    def ritz(self) -> Ritz:
        """Return the finite Ritz values with their coefficients, by QR of the projected pencil's inverse about s."""
        M, C, K = self.small
        k, s = self.size, self.s
        N, Cs = K + s * C + s**2 * M, C + 2.0 * s * M
        lu = scipy.linalg.lu_factor(N)
        by_damping, by_mass = scipy.linalg.lu_solve(lu, Cs), scipy.linalg.lu_solve(lu, M)
        unit = 1.0 / max(np.sqrt(np.linalg.norm(by_mass, 2)), np.linalg.norm(by_damping, 2), 1e-300)
        A = np.block([[-by_damping, -unit * by_mass], [np.eye(k) / unit, np.zeros((k, k))]])
        theta, left, right = scipy.linalg.eig(A, left=True, right=True)
        some = np.abs(theta) > 1e-13 * np.abs(theta).max(initial=0.0)
        w = scipy.linalg.lu_solve(lu, left[:k, some].conj(), trans=1)
        x = right[:k, some]
        return Ritz(s + 1.0 / theta[some], x / np.linalg.norm(x, axis=0), w / np.linalg.norm(w, axis=0))

    def vectors(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the vectors (n, j) with coefficients (k, j)."""
        return times(self.V, coefficients)

    def residuals(
        self, p: np.ndarray, right: np.ndarray, left: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return L(p) x and L(p)^T w (n, j), complex, of pairs by their coefficients, and the larger of their sizes
        over the sums of the norms of their terms (j,)."""
        out, sizes = [], np.zeros(p.size)
        for coefficients, transposed in ((right, False), (left, True)):
            X = self.vectors(coefficients)
            total, terms = np.zeros_like(X), np.zeros(p.size)
            for matrix, power in zip(self.matrices, (2, 1, 0), strict=True):
                parts = np.hstack((X.real, X.imag))
                AX = matrix.transposed(parts) if transposed else matrix.A @ parts
                term = (AX[:, : p.size] + 1j * AX[:, p.size :]) * p**power
                terms += np.linalg.norm(term, axis=0)
                total += term
            out.append(total)
            sizes = np.maximum(sizes, np.linalg.norm(total, axis=0) / np.maximum(terms, 1e-300))
        return out[0], out[1], sizes

    def cancelled(self, p: np.ndarray, right: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the norms (j,) of |K| |x| + |p C| |x| + |p^2 M| |x|, from which the residuals of pairs cancel: of
        right vectors and, with the transposed matrices, of left ones."""
        x, w = (np.abs(self.vectors(coefficients)) for coefficients in (right, left))
        forward, back = np.zeros_like(x), np.zeros_like(w)
        for A, k in zip((self.pencil.M, self.pencil.C, self.pencil.K), (2, 1, 0), strict=True):
            a = magnitudes(A)
            forward += (a @ x) * np.abs(p) ** k
            back += (a.T @ w) * np.abs(p) ** k
        return np.linalg.norm(forward, axis=0), np.linalg.norm(back, axis=0)

    def correct(self, right: np.ndarray, left: np.ndarray) -> int:
        """Make V larger by H^-1 of residuals (n, j), complex; directions in which they are alike are taken once.

        Return how many columns were added.
        """
        R = np.hstack((right.real, right.imag, left.real, left.imag))
        j = right.shape[1]
        sizes = [np.linalg.norm(r, axis=0) for r in (right, left)]
        R /= np.maximum(np.concatenate((sizes[0], sizes[0], sizes[1], sizes[1])), 1e-300)
        values, vectors = np.linalg.eigh(R.T @ R)
        keep = values > (_ALIKE**2) * values.max(initial=0.0)
        return self.add(self.solve(R @ vectors[:, keep])).shape[1] if j else 0
