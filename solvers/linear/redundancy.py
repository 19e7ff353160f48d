"""Dependent rows of a sparse constraint matrix: which rows share a dependency, and which combinations vanish.

Small pivots of L D L^T = R R^T + eps I, R being G with unit rows, give candidates at the cost of one sparse
factorisation, whatever the size (the pivot of a row is the squared distance to the span of those eliminated before it).
The projection of each candidate on the other rows gives the combination that nearly vanishes; its non-zeros are the
rows concerned.  Groups of candidates that share rows, *loops*, are then judged by singular values: of their own rows,
dense, or for long loops of R^T on the span of the combinations (Rayleigh-Ritz).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csc_matrix, csr_matrix, diags, identity, vstack
from scipy.sparse.csgraph import connected_components

from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.libraries import lu_factors, one_blas_thread

__all__ = ["DEPENDENT", "NEAR", "Loop", "dependencies", "independent_rows"]

#: Singular values of unit rows below this count as zero: round-off, and remainders of a singular configuration.
DEPENDENT = 1e-7
#: Below this, rows are reported as nearly dependent.
NEAR = 1e-4
_SHIFT = 1e-12  # of R R^T: keeps the factors of dependent rows harmless
_PIVOT = 1e-7  # squared distance below which a row is a candidate; long chains have pivots of 1/n
_SUPPORT = 1e-6  # entries of a combination below this are leakage
_EMPTY = 1e-13  # size of a row, over the largest, that counts as no row at all
_AGREE = 1e-6  # share of right sides beyond which they contradict each other
_DENSE = 400  # rows of a loop up to which its rank is found from all of them
_BATCH = 64  # candidates at a time
_SMALL = 200  # rows up to which their distance from dependence is found of all of them first


@dataclass(frozen=True)
class Loop:
    """Rows (r,) of G that share dependencies, with their ``size`` (r,).

    ``rank`` of these rows; an orthonormal basis ``null`` (r, k) of the combinations of the unit rows that vanish; k
    rows ``dependent`` (k,) whose removal leaves the others independent; the ``smallest`` singular value that does not
    count as zero (infinite if none is small).  k = 0: nearly dependent.
    """

    rows: np.ndarray
    size: np.ndarray
    rank: int
    null: np.ndarray
    dependent: np.ndarray
    smallest: float

    def clash(self, right: np.ndarray) -> np.ndarray:
        """Return the rows with contradictory right sides of G x = right (m,); none if all agree.

        They are the rows of a combination that vanishes while the same combination of right sides does not.
        """
        if not self.null.size:
            return self.rows
        b = right[self.rows] / self.size
        v = self.null @ (self.null.T @ b)
        largest = np.abs(v).max()
        if not largest > _AGREE * np.abs(b).max():
            return self.rows[:0]
        return self.rows[np.abs(v) > 0.03 * largest]


def dependencies(G: csr_matrix, weights: np.ndarray | None = None) -> list[Loop]:
    """Return loops of dependent, and of nearly dependent, rows of G (m, n), ordered by their first row.

    Args:
        weights: sizes (n,) by which the columns are divided first, such as the square roots of masses.
    """
    G = csr_matrix(G)
    m = G.shape[0]
    if m == 0:
        return []
    if weights is not None:
        G = csr_matrix(G @ diags(1.0 / weights))
    size = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
    empty = size <= _EMPTY * size.max(initial=0.0)
    one = np.ones(1)
    found = [Loop(np.array([i]), one, 0, one[:, None], np.array([i]), np.inf) for i in np.flatnonzero(empty)]
    rows = np.flatnonzero(~empty)
    if rows.size:
        R = csr_matrix(diags(1.0 / size[rows]) @ G[rows])
        found += [
            replace(loop, rows=rows[loop.rows], size=size[rows[loop.rows]], dependent=rows[loop.dependent])
            for loop in _loops(R)
        ]
    return sorted(found, key=lambda loop: int(loop.rows[0]))


def independent_rows(G: csr_matrix, weights: np.ndarray | None = None) -> np.ndarray:
    """Return a mask (m,) of rows of G (m, n) that have its full rank; ``weights`` as in `dependencies`."""
    keep = np.ones(G.shape[0], bool)
    for loop in dependencies(G, weights):
        keep[loop.dependent] = False
    return keep


def _loops(R: csr_matrix) -> Iterator[Loop]:
    if R.shape[0] <= _SMALL and _apart(R):
        return
    with one_blas_thread():
        V = _combinations(R)
    if V.shape[0] == 0:
        return
    # candidates that share rows belong together
    number, of = connected_components(V @ V.T, directed=False)
    for i in range(number):
        own = V[np.flatnonzero(of == i)]
        rows = np.unique(own.indices)
        loop = _judge(csr_matrix(R[rows]), rows, own[:, rows].toarray().T)
        if loop is not None:
            yield loop


def _apart(R: csr_matrix) -> bool:
    """Return whether unit rows are farther from dependence than `NEAR`: then so are any of them (Cauchy's interlacing
    theorem), and there is no loop."""
    S = (R @ R.T).toarray()
    S[np.diag_indices(len(S))] -= (1.001 * NEAR) ** 2
    return dpotrf(S, lower=1)[1] == 0


def _combinations(R: csr_matrix) -> csr_matrix:
    """Return combinations of rows that nearly vanish, one per row of the result (c, m).

    Each is a candidate less its projection on the rows that are no candidates.
    """
    m = R.shape[0]
    S = csc_matrix(R @ R.T)
    lu = _factors(S + csc_matrix(_SHIFT * identity(m)))
    candidates = np.sort(np.argsort(lu.perm_c)[lu.U.diagonal() < _PIVOT])
    if candidates.size == 0:
        return csr_matrix((0, m))
    others = np.setdiff1d(np.arange(m), candidates)
    inner = csc_matrix(S[others][:, others])
    lu = _factors(inner) if others.size else None
    parts = []
    for first in range(0, len(candidates), _BATCH):
        some = candidates[first : first + _BATCH]
        V = np.zeros((m, len(some)))
        V[some, np.arange(len(some))] = 1.0
        if lu is not None:
            right = S[others][:, some].toarray()
            y = lu.solve(right)
            V[others] = -(y + lu.solve(right - inner @ y))
        V[np.abs(V) < _SUPPORT * np.abs(V).max(axis=0)] = 0.0
        parts.append(csr_matrix(V.T))
    return csr_matrix(vstack(parts))


def _factors(S: csc_matrix):
    return lu_factors(S, "MMD_AT_PLUS_A", 0.0, symmetric=True)


def _judge(R: csr_matrix, rows: np.ndarray, V: np.ndarray) -> Loop | None:
    """Return the loop of these rows, R (r, n) of G alone, with candidates V (r, c); None if it is far from
    dependent."""
    R = R[:, np.unique(R.indices)]
    if len(rows) <= _DENSE:
        basis, values, _ = np.linalg.svd(R.toarray(), full_matrices=True)
        values = np.concatenate((values, np.zeros(len(rows) - len(values))))
    else:
        Q = scipy.linalg.qr(V, mode="economic")[0]
        _, values, turn = np.linalg.svd(R.T @ Q, full_matrices=False)
        basis = Q @ turn.T
    zero = values < DEPENDENT
    k = int(zero.sum())
    near = values[~zero]
    smallest = float(near.min(initial=np.inf))
    if k == 0:
        if smallest >= NEAR:
            return None
        weak = np.abs(basis[:, int(values.argmin())])
        rows = rows[weak > 0.03 * weak.max()]
        return Loop(rows, np.ones(len(rows)), len(rows), np.zeros((0, 0)), np.zeros(0, int), smallest)
    null = basis[:, zero]
    # the pivots of a QR factorisation are rows that the combinations hold most of
    _, _, order = scipy.linalg.qr(null.T, mode="economic", pivoting=True)
    return Loop(
        rows, np.ones(len(rows)), len(rows) - k, null, rows[np.sort(order[:k])], smallest if smallest < NEAR else np.inf
    )
