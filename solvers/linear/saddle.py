"""Saddle points of symmetric matrices with constraints of any rank: solutions, counts of negative eigenvalues.

    [[A, G^T], [G, 0]]       A (n, n) symmetric, sparse;  G (m, n) sparse

Unknowns are divided by the roots of the diagonal of A and rows of G have unit length, so that nothing depends on units.
Unsymmetric A with independent constraints: `fem_mbs.solvers.linear.saddle_factors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf
from scipy.sparse import bmat, csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.linear.libraries import ExactlySingular, lu_factors, symmetric_lu
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.solver import make_solver

__all__ = ["DENSE", "Saddle", "negative_count", "negative_determinant", "null_space", "without_reactions"]

#: Unknowns up to which problems are solved dense.
DENSE = 300
#: Regularisation of unit rows that keeps nearly dependent ones solvable, of judged factors and of others; refinement
#: takes it out again, in so many corrections.
_REGULAR, _TOLERANT = 1e-12, 1e-13
_JUDGED, _DIRECT = 2, 3
#: Regularisation in the count of negative pivots, which keeps dependent rows regular.
_PENALTY = 1e-7
_SEED = 7


class Saddle:
    """Factors of [[A, C], [G, -damping]]: A (n, n), G (m, n) of any rank, C = G^T or other ``columns`` (n, m).

    Rows of G that depend on others are left out, their multipliers are zero: what these could add has no force.

    Args:
        least: smallest scale of an unknown, over the largest: what has next to no diagonal entry, such as a coordinate
            along a beam, must not outweigh all else in the rows of G.
        damping: regularisation of the unit rows of G that belongs to the problem (Levenberg-Marquardt); all rows stay.
        judged: the solver of `fem_mbs.solvers.linear.solver`, CHOLMOD where it is installed, refines solutions to
            round-off and finds matrices that are singular to working precision; else SuperLU with partial pivoting
            solves what can be solved.

    Raises:
        LinearSolveError: the matrix is singular, to working precision (``judged``) or exactly (`ExactlySingular`).
    """

    def __init__(self, A, G, columns=None, least: float = 0.0, damping: float = 0.0, judged: bool = True):
        n = A.shape[0]
        d = np.sqrt(np.abs(A.diagonal()))
        largest = d.max(initial=0.0)
        d[d == 0.0] = largest * (least or 1e-3) or 1.0
        self.d = d = np.maximum(d, largest * least)
        self.keep = np.ones(G.shape[0], bool) if damping else independent_rows(G, d)
        kept = np.flatnonzero(self.keep)
        self.m = m = kept.size
        D = diags(1.0 / d)
        scaled = D @ A @ D
        rows, self.norm = _unit_rows(csr_matrix(G)[kept] @ D)
        sides = rows.T if columns is None else D @ csr_matrix(columns)[:, kept] @ diags(1.0 / self.norm)

        def matrix(regular: float):
            if not m:
                return scaled.tocsc()
            return bmat([[scaled, sides], [rows, -regular * identity(m) if regular else None]], format="csc")

        self.A = matrix(damping)
        regular = self.A if damping else matrix(_REGULAR if judged else _TOLERANT)
        self.refinements = (1 if damping else _DIRECT) if not judged else _JUDGED if m else 0
        if judged:
            regular = regular + diags(np.zeros(n + m))  # the whole diagonal belongs to the pattern
            regular.sort_indices()
            solver = make_solver(n + m, regular.indptr, regular.indices, np.arange(n + m) >= n)
            solver.factor(regular.data)
            self._apply = solver.solve
        else:
            self._apply = lu_factors(regular).solve

    def solve(self, b: np.ndarray, c: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return x (n,), y (m,) of A x + C y = b, G x - damping y = c (zero if None); y is zero for rows left out."""
        right = np.concatenate((b / self.d, np.zeros(self.m) if c is None else c[self.keep] / self.norm))
        x = self._apply(right)
        for _ in range(self.refinements):
            x = x + self._apply(right - self.A @ x)
        n = self.d.size
        y = np.zeros(self.keep.size)
        y[self.keep] = x[n:] / self.norm
        return x[:n] / self.d, y


def without_reactions(R: np.ndarray, G: Any) -> np.ndarray:
    """Return forces R (n, k) without the part that constraints G (m, n) balance: R - G^T y of the least norm."""
    if not G.shape[0] or not R.shape[1]:
        return R
    saddle = Saddle(identity(R.shape[0], format="csr"), G)
    return np.column_stack([saddle.solve(r)[0] for r in R.T])


def _unit_rows(G) -> tuple[csr_matrix, np.ndarray]:
    """Return G with rows of unit length, and their former lengths (m,), 1 for empty rows."""
    norm = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
    norm[norm == 0.0] = 1.0
    return diags(1.0 / norm) @ G, norm


def null_space(G: Any) -> np.ndarray:
    """Return an orthonormal basis (n, n - rank) of the null space of G (m, n), by a QR factorisation with pivoting."""
    m, n = G.shape
    if m == 0:
        return np.eye(n)
    dense = _full(G)
    size = np.linalg.norm(dense, axis=1, keepdims=True)
    q, r, _ = scipy.linalg.qr((dense / np.where(size > 0.0, size, 1.0)).conj().T, pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > 1e-11 * pivots.max(initial=1.0)).sum())
    return q[:, rank:]


def _full(A: Any) -> np.ndarray:
    return A if isinstance(A, np.ndarray) else A.toarray()


# --- inertia ---------------------------------------------------------------------------------------------------------
def _by_largest(K, G) -> tuple[csr_matrix, csr_matrix]:
    """Return K and G divided by the roots of the largest entries in the rows of K."""
    K, G = csr_matrix(K), csr_matrix(G)
    d = np.sqrt(abs(K).max(axis=1).toarray().ravel())
    d[d == 0.0] = 1.0
    D = diags(1.0 / d)
    return D @ K @ D, G @ D


def negative_determinant(K: Any, G: Any) -> bool:
    """Return whether the determinant of K (n, n), which may be unsymmetric, on the null space of G (m, n) is negative.

    det(K + s^2 M) is positive for large s and any mass M, so that it has a real positive root s then.

    Raises:
        AnalysisError: the matrix is singular.
    """
    Ks, Gs = _by_largest(K, G)
    m = Gs.shape[0]
    if m:
        Gs, _ = _unit_rows(Gs)
        Ks = bmat([[Ks, Gs.T], [Gs, -_PENALTY * identity(m)]])
    try:
        lu = lu_factors(Ks.tocsc())
    except ExactlySingular as error:
        raise AnalysisError("the stiffness is singular") from error
    odd = m + int((lu.U.diagonal() < 0.0).sum())
    for order in (lu.perm_r, lu.perm_c):
        n = order.size
        cycles = connected_components(csr_matrix((np.ones(n), (np.arange(n), order)), shape=(n, n)), directed=False)[0]
        odd += n - cycles
    return bool(odd % 2)


def _dense_count(K: np.ndarray, G: np.ndarray) -> int:
    d = np.sqrt(np.abs(K).max(axis=1))
    d[d == 0.0] = 1.0
    A = K / d[:, None] / d
    if len(G):
        Z = null_space(G / d)
        A = Z.T @ (A @ Z)
    if not A.size or dpotrf(A, lower=1)[1] == 0:  # as long as no pivot is negative, no eigenvalue is
        return 0
    values = scipy.linalg.eigvalsh(A)
    return int((values < -1e-14 * np.abs(values).max(initial=0.0)).sum())


def negative_count(K: Any, G: Any, dense: int = DENSE) -> int:
    """Return the number of negative eigenvalues of the symmetric K (n, n) on the null space of G (m, n), which are
    sparse or, where they are small, arrays.

    Problems up to n = ``dense`` take all eigenvalues, which resolves zeros best.  Large problems take the inertia of an
    L D L^T factorisation of the quasi-definite [[K + rho G^T G, G^T], [G, -delta]] (Vanderbei 1995,
    doi:10.1137/0805005; Sylvester's law).  Its negative pivots are those of the constraints and the wanted ones,
    provided that no pivot is tiny, which the backward error of a solution tells; else the matrix is shifted slightly
    and factored again.

    Raises:
        AnalysisError: the factorisation breaks down every time.
    """
    n, m = K.shape[0], G.shape[0]
    if n == 0:
        return 0
    if n <= dense:
        return _dense_count(_full(K), _full(G))
    Ks, Gs = _by_largest(K, G)
    Gs, _ = _unit_rows(Gs)
    rng = np.random.default_rng(_SEED)
    for move, order in ((0.0, "MMD_AT_PLUS_A"), (1e-11, "MMD_AT_PLUS_A"), (-1e-11, "COLAMD"), (1e-10, "NATURAL")):
        A = bmat([[Ks + Gs.T @ Gs + move * identity(n), Gs.T], [Gs, -_PENALTY * identity(m)]]) if m else (
            Ks + move * identity(n)
        )  # fmt: skip
        A = A.tocsc()
        try:
            lu, pivots = symmetric_lu(A, order)
        except ExactlySingular:
            continue
        b = rng.standard_normal(n + m)
        x = lu.solve(b)
        error = np.abs(A @ x - b).max() / (abs(A) @ np.abs(x) + np.abs(b)).max()
        if error < 1e-8:
            return int((pivots < 0.0).sum()) - m
    raise AnalysisError(
        "Count of negative eigenvalues: the matrix is singular; the model is loose or at a critical point"
    )
