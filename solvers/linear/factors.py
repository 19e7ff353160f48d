"""Factors of large symmetric matrices K - s M, for eigenvalue problems of parts: L L^T, or L D L^T with its inertia.

`Pencil` keeps K and M on one pattern, so that the symbolic work is done once for all shifts.  `PositiveFactors` is
CHOLMOD's supernodal L L^T in a nested dissection order (METIS; Chen, Davis, Hager & Rajamanickam 2008,
doi:10.1145/1391989.1391995) for positive definite matrices: the fast one, whose work is done by BLAS.  For indefinite
matrices CHOLMOD has simplicial L D L^T only, without BLAS; `IndefiniteFactors` therefore gives SuperLU the order of
METIS and keeps it from exchanging rows, which makes U = D L^T: 3.5 times as fast for a solid of 1e5 dofs, in 2.5 times
the memory, so beyond `MOST_LU` dofs simplicial it is.

All matrices are scaled to unit diagonals first: what counts as a small pivot does not depend on units.  CHOLMOD
runs with 32 bit indices, and with 64 bit ones where factors have more than 2^31 entries (SuperLU's may not); METIS
counts the entries of the matrix itself in 32 bits on most systems.  Numbers are double precision: CHOLMOD before 5 has
no other, and 16 digits are none too many for the lowest modes of a fine mesh.  A process with the factors of a bar of
quadratic tetrahedra (10 times as long as thick) takes 0.8 GB for 1e5 dofs and 2.8 GB for 2.6e5, growing with n^(4/3);
with an inertia by SuperLU 3 GB for 1e5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags

from fem_mbs.solvers.linear.libraries import (
    Effort,
    ExactlySingular,
    LinearSolveError,
    NotPositiveDefinite,
    TooLarge,
    analyse,
    has_cholmod,
    lower_triangle,
    one_blas_thread,
    symmetric_lu,
)

__all__ = ["IndefiniteFactors", "Pencil", "PositiveFactors"]

#: Pivots of a matrix with unit diagonal below this are round-off: the matrix is singular.
WEAK = 1e-14
#: Dofs up to which indefinite matrices go to SuperLU.
MOST_LU = 150_000
_ORDER = "metis"
_SEED = 11


class Pencil:
    """K - s M for any s: symmetric K, M (n, n), scaled to |a_ii| of order one, with one pattern.

    ``scale`` (n,): A of a solution is diag(scale) (K - s M) diag(scale).
    """

    def __init__(self, K, M=None):
        K = _columns(K)
        n = K.shape[0]
        if K.shape != (n, n) or (M is not None and M.shape != (n, n)):
            raise ValueError("Matrices of an eigenvalue problem must be square and of one size")
        M = csc_matrix((n, n)) if M is None else _columns(M)
        diagonal, mass = np.abs(K.diagonal()), np.abs(M.diagonal())
        # a dof without stiffness counts by its mass, as if it belonged to a typical frequency
        diagonal = np.where(diagonal > 0.0, diagonal, mass * (diagonal.sum() / mass.sum() if mass.any() else 1.0))
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        pattern = _union(K, M)
        self.n, self.indptr, self.indices = n, pattern.indptr, pattern.indices
        self._K, self._M = (_on(pattern, a) for a in (K, M))
        columns = np.repeat(np.arange(n), np.diff(self.indptr))
        self._lower = self.indices >= columns
        self._lower_indptr = np.concatenate(([0], np.cumsum(np.bincount(columns[self._lower], minlength=n))))
        self.mass_free = not M.nnz
        self.order: np.ndarray | None = None  # found by METIS
        self.symbolic = None  # CHOLMOD's, for L L^T
        self.effort = Effort()
        self.width: type = np.int32  # of CHOLMOD's indices

    def release(self) -> None:
        """Free the memory of the matrices: no more factorisations are possible, solutions with existing factors are."""
        self._K = self._M = self._lower = self.indices = self.symbolic = None

    def at(self, shift: float) -> csc_matrix:
        """Return the whole matrix diag(scale) (K - s M) diag(scale)."""
        values = self._K - shift * self._M if shift else self._K.copy()
        values *= self.scale[self.indices]
        values *= np.repeat(self.scale, np.diff(self.indptr))
        return csc_matrix((values, self.indices, self.indptr), shape=(self.n, self.n))

    def diagonal(self, shift: float) -> np.ndarray:
        """Return the diagonal (n,) of `at`."""
        at = np.flatnonzero(self._lower)[self._lower_indptr[:-1]]  # sorted columns begin their lower part with it
        return (self._K[at] - shift * self._M[at]) * self.scale**2

    def lower(self, shift: float, springs: np.ndarray | None = None) -> Any:
        """Return the lower triangle of `at` for CHOLMOD; ``springs`` (n,) add to the diagonal."""
        values = self._K[self._lower]
        if shift:
            values -= shift * self._M[self._lower]
        rows = self.indices[self._lower].astype(self.width, copy=False)
        values *= self.scale[rows]
        values *= np.repeat(self.scale, np.diff(self._lower_indptr))
        if springs is not None:
            values[self._lower_indptr[:-1]] += springs
        return lower_triangle(values, rows, self._lower_indptr.astype(self.width))

    def analysed(self, A: Any, supernodal: bool) -> Any:
        """Return CHOLMOD's analysis of the lower triangle A; the analysis for L L^T is kept, with its order."""
        if supernodal and self.symbolic is not None:
            return self.symbolic
        found = analyse(A, supernodal, _ORDER)
        self.order = found.order
        self.effort.analyses += 1
        if supernodal:
            self.symbolic = found
        return found


def _columns(A) -> csc_matrix:
    """Return a symmetric matrix in sorted compressed columns, which are the rows of compressed rows."""
    A = A.T if isinstance(A, csr_matrix) and A.dtype == float else csc_matrix(A, dtype=float)
    if not A.has_sorted_indices:
        A = A.sorted_indices()
    return A


def _union(K: csc_matrix, M: csc_matrix) -> csc_matrix:
    """Return a matrix with the pattern of both and the whole diagonal, zeros kept."""
    n = K.shape[0]
    if not M.nnz or _alike(K, M):
        columns = np.repeat(np.arange(n, dtype=np.int32), np.diff(K.indptr))
        if np.count_nonzero(K.indices == columns) == n:
            return K
    ones = (csc_matrix((np.ones(a.nnz, np.int8), a.indices, a.indptr), shape=(n, n)) for a in (K, M))
    pattern = csc_matrix(sum(ones) + diags(np.ones(n)))
    pattern.sort_indices()
    return pattern


def _alike(a, b) -> bool:
    return a.nnz == b.nnz and np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def _on(pattern, a) -> np.ndarray:
    """Return the values of ``a`` on a pattern that contains its own; the values themselves where both are equal."""
    if _alike(a, pattern):
        return a.data
    n = pattern.shape[0]
    keys = np.repeat(np.arange(n, dtype=np.int64), np.diff(pattern.indptr)) * n + pattern.indices
    own = np.repeat(np.arange(n, dtype=np.int64), np.diff(a.indptr)) * n + a.indices
    values = np.zeros(pattern.indices.size)
    values[np.searchsorted(keys, own)] = a.data
    return values


class PositiveFactors:
    """L L^T of K - s M; NotPositiveDefinite if that has a negative eigenvalue or is singular to working precision.

    With ``pins`` (p,), dofs, springs of that ``stiffness`` hold them; unit diagonals measure it.
    ``weakest``: the smallest pivot of the matrix with unit diagonal.
    """

    def __init__(
        self, pencil: Pencil, shift: float = 0.0, pins: np.ndarray | None = None, stiffness: float = 0.0
    ):  # fmt: skip
        self.pencil, self.shift = pencil, shift
        springs = None if pins is None else np.bincount(pins, minlength=pencil.n) * stiffness
        diagonal = pencil.diagonal(shift) + (0.0 if springs is None else springs)
        if not diagonal.min(initial=1.0) > 0.0:
            raise NotPositiveDefinite("The matrix has a diagonal entry that is not positive", int(diagonal.argmin()))
        with one_blas_thread():
            if has_cholmod():
                factors = _cholmod(pencil, shift, supernodal=True, springs=springs)
                self._solve, self.weakest = factors.solve, factors.weakest()
            else:
                try:
                    A = pencil.at(shift)
                    self._solve, pivots = _superlu(pencil, A if springs is None else A + diags(springs, format="csc"))
                except LinearSolveError as error:
                    raise NotPositiveDefinite(str(error)) from None
                self.weakest = float(pivots.min())
        pencil.effort.factorisations += 1
        if not self.weakest > WEAK:
            raise NotPositiveDefinite(f"The matrix is singular: smallest pivot {self.weakest:.1e} of its diagonal")

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return x of (K - s M) x = b, (n,) or (n, k)."""
        return _scaled_solve(self.pencil, self._solve, b)

    def solve_scaled(self, b: np.ndarray) -> np.ndarray:
        """Return x of diag(scale) (K - s M) diag(scale) x = b, (n, k)."""
        self.pencil.effort.solves += b.shape[1]
        return self._solve(b)


class IndefiniteFactors:
    """L D L^T of K - s M, without exchange of rows, and ``negative``: the number of its negative eigenvalues.

    By Sylvester's law of inertia that is the number of modes below s (M positive semi-definite).  LinearSolveError
    where a tiny pivot has spoilt the factors, as happens next to an eigenvalue: move the shift.
    """

    def __init__(self, pencil: Pencil, shift: float = 0.0):
        self.pencil, self.shift = pencil, shift
        A = pencil.at(shift)
        with one_blas_thread():
            if has_cholmod() and pencil.n > MOST_LU:
                factors = _cholmod(pencil, shift, supernodal=False)
                self._solve, pivots = factors.solve, factors.pivots()
            else:
                self._solve, pivots = _superlu(pencil, A)
        pencil.effort.factorisations += 1
        self.negative = int((pivots < 0.0).sum())
        b = np.random.default_rng(_SEED).standard_normal(pencil.n)
        x = self._solve(b)
        error = np.abs(A @ x - b).max() / (abs(A) @ np.abs(x) + np.abs(b)).max()
        if not error < 1e-9:
            raise LinearSolveError(
                f"The factors of K - s M lost their digits to a small pivot (backward error {error:.0e})"
            )

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return x of (K - s M) x = b, (n,) or (n, k)."""
        return _scaled_solve(self.pencil, self._solve, b)


def _scaled_solve(pencil: Pencil, solve, b: np.ndarray) -> np.ndarray:
    scale = pencil.scale if b.ndim == 1 else pencil.scale[:, None]
    pencil.effort.solves += 1 if b.ndim == 1 else b.shape[1]
    return scale * solve(scale * b)


def _superlu(pencil: Pencil, A: csc_matrix):
    """Return a function that solves with U = D L^T, and the diagonal D."""
    if pencil.order is None and has_cholmod():
        pencil.analysed(pencil.lower(0.0), supernodal=True)
    order = pencil.order
    try:
        lu, pivots = symmetric_lu(A) if order is None else symmetric_lu(A[order][:, order].tocsc(), "NATURAL")
    except ExactlySingular:
        raise LinearSolveError("A pivot of K - s M is zero: the shift is an eigenvalue") from None
    if order is None:
        return lu.solve, pivots

    def solve(b: np.ndarray) -> np.ndarray:
        x = np.empty_like(b)
        x[order] = lu.solve(np.ascontiguousarray(b[order]) if b.ndim == 1 else np.asfortranarray(b[order]))
        return x

    return solve, pivots


def _cholmod(pencil: Pencil, shift: float, supernodal: bool, springs: np.ndarray | None = None):
    """Return CHOLMOD's factors: supernodal by the pencil's analysis, which earlier factors keep a copy of, or
    simplicial."""
    A = pencil.lower(shift, springs)
    try:
        factors = pencil.analysed(A, supernodal)
        if supernodal:
            factors = factors.copy()
        factors.factor(A)
    except TooLarge:
        if pencil.width is np.int64:
            raise
        pencil.width, pencil.symbolic = np.int64, None
        return _cholmod(pencil, shift, supernodal, springs)
    return factors
