"""The quadratic pencil p^2 M + p C + K on the null space of constraints, scaled, and its inverse about a shift.

    (p^2 M + p C + K) x + G^T y = 0,   G x = 0,          (n unknowns, m constraints)

M may be singular, C and K unsymmetric, G of any rank.  Other columns H may stand for G^T, of forces that depend on
multipliers (friction), of independent constraints.  With p = s + q the state v = (x, q x / nu) has the inverse operator
(Doan, Geradin & Kill, eq. 3.4, in the form that needs no inverse of M)

    A v = (-S (C_s x + nu M r), x / nu),       A v = v / q,      C_s = C + 2 s M,   K_s = K + s C + s^2 M
    A^T (a, b) = (C_s^T w + b / nu, nu M^T w),  w = -S^T a,

where S b is the x of K_s x + G^T y = b, G x = 0: one sparse factorisation.  Transposes are without conjugation
throughout.

Inside, unknowns are divided by scales d_i and time by a unit, both taken from the diagonals such that a change of units
changes neither: what is small, or a residual, does not depend on whether lengths are metres or millimetres.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csc_matrix, csr_matrix, diags, hstack, identity, vstack
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.linear.libraries import Effort, has_cholmod, one_blas_thread
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.saddle_factors import SINGULAR_GROWTH, SingularShift, supernodal
from fem_mbs.solvers.linear.service import factor

__all__ = ["Inverse", "QuadraticPencil", "Repeats", "absolutely", "inexact", "magnitudes", "selected", "times"]

_SEED = 5
_SMALL = 200_000  # entries of K up to which absolute values of matrices are kept
_FULL = 150  # unknowns up to which products are those of full arrays
_HELD = 1e-3  # least frequency of an unknown that counts as held, over the upper quartile
_APART = 1e6  # ratio of scales from which on the constraints say more than the diagonals


class Repeats:
    """Results for arrays that come again from pencil to pencil, bit by bit, as those of the extension of a shaft do at
    all speeds.

    They are kept for the last arrays of each name, and are not to be changed.
    """

    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[tuple, Any]] = {}

    def result(self, name: Hashable, given: Sequence[np.ndarray | float], make: Callable[[], Any]) -> Any:
        """Return the result for some arrays and numbers, which ``make`` makes unless it is known."""
        last = self._last.get(name)
        if last is None or len(last[0]) != len(given) or not all(map(np.array_equal, last[0], given)):
            last = self._last[name] = tuple(given), make()
        return last[1]


class QuadraticPencil:
    """M, C, K (n, n) and G (m, n), scaled.

    Attributes:
        M, C, K: scaled, sparse; rows (m, n), columns (n, m): G and G^T, independent rows only (``keep`` tells which) of
            unit size, and what takes rigid-body motions out.
        d (n,): unknown = d * scaled unknown; ``time``: p = scaled p / time.
        given: M, C, K (n, n) in given units.
        repeats: results that pencils have in common.

    Raises:
        ValueError: shapes that do not fit, or values that are not finite.
    """

    def __init__(self, M, C, K, G=None, columns=None):
        n = K.shape[0]
        G = csr_matrix((0, n)) if G is None else G
        given = {"M": M, "C": C, "K": K}
        for name, a in given.items():
            if a.ndim != 2 or a.shape != (n, n):
                raise ValueError(f"{name} has shape {a.shape}; it must be ({n}, {n}) like K")
        if G.ndim != 2 or G.shape[1] != n:
            raise ValueError(f"G has shape {G.shape}; it must be (m, {n}), one row per constraint")
        M, C, K, G = (_floating(csr_matrix(a)) for a in (M, C, K, G))
        for name, a in (("M", M), ("C", C), ("K", K), ("G", G)):
            if not np.all(np.isfinite(a.data)):
                i, j = (int(x[~np.isfinite(a.tocoo().data)][0]) for x in (a.tocoo().row, a.tocoo().col))
                raise ValueError(f"{name}[{i}, {j}] is {a[i, j]}; all entries must be finite")
        if not np.isrealobj(G.data):
            raise ValueError("G must be real")
        if columns is not None:
            columns = _floating(csr_matrix(columns))
            if columns.shape != (n, G.shape[0]):
                raise ValueError(f"columns has shape {columns.shape}; it must be ({n}, {G.shape[0]}) like G^T")
            if not np.isrealobj(columns.data) or not np.all(np.isfinite(columns.data)):
                raise ValueError("columns must be real and finite")
        if n == 0:
            raise AnalysisError("Complex modes: the model has no unknowns")
        if M.count_nonzero() == 0 and C.count_nonzero() == 0:
            raise AnalysisError(
                "Complex modes: nothing that can move has a mass; give the parts a density or add masses"
            )
        self.n, self.given = n, (M, C, K)
        self.real = all(np.isrealobj(a.data) for a in (M, C, K))
        self.omega = _frequency(M, C, K)
        self.time = 1.0 / self.omega
        self.d = _within_constraints(_scales(K, C, M, self.omega), M, G)
        self.M, self.C, self.K = (_scaled(a, self.d, self.omega**k) for a, k in ((M, 2), (C, 1), (K, 0)))
        self.M.eliminate_zeros()
        self.keep = independent_rows(G, 1.0 / self.d) if G.shape[0] else np.zeros(0, bool)
        self.norm, self.rows, self.columns = np.zeros(0), csr_matrix((0, n)), csr_matrix((n, 0))
        if self.keep.any():
            D = diags(self.d)
            rows = csr_matrix(G[np.flatnonzero(self.keep)] @ D)
            self.norm = np.sqrt(np.asarray(abs(rows).power(2).sum(axis=1)).ravel())
            self.rows = csr_matrix(diags(1.0 / self.norm) @ rows)
            self.columns = csr_matrix(self.rows.T)
            if columns is not None:
                self._check_columns(G, columns)
                self.columns = csr_matrix(D @ columns[:, np.flatnonzero(self.keep)] @ diags(1.0 / self.norm))
        self.m = self.constraints = self.rows.shape[0]
        self.effort = Effort()
        self.repeats = Repeats()
        self.motions: tuple[np.ndarray, np.ndarray] | None = None
        if self.m >= n:
            raise AnalysisError(f"Complex modes: {self.m} independent constraints leave none of {n} unknowns free")

    def _check_columns(self, G, columns) -> None:
        """Check that the columns of dependent rows of G are the same combinations as the rows, so that forces are
        unique.

        Raises:
            AnalysisError: they are not.
        """
        keep, left = np.flatnonzero(self.keep), np.flatnonzero(~self.keep)
        if left.size == 0:
            return
        D = diags(self.d)
        shares = factor(self.rows @ self.rows.T, kind="plain").solve((self.rows @ (G[left] @ D).T).toarray())
        off = (D @ columns[:, left]).toarray() - (D @ columns[:, keep] @ diags(1.0 / self.norm)) @ shares
        if np.abs(off).max() > 1e-9 * abs(D @ columns).max():
            raise AnalysisError(
                "Complex modes: friction depends on the force of a constraint that others repeat, and so on what "
                f"nobody knows (row {int(left[np.abs(off).max(axis=0).argmax()])} of G); let it act in a joint that "
                "holds alone"
            )

    @cached_property
    def MT(self) -> csc_matrix:
        """Return the transpose of M, by columns: nothing is copied."""
        return self.M.T

    @cached_property
    def CT(self) -> csc_matrix:
        return self.C.T

    @cached_property
    def KT(self) -> csc_matrix:
        return self.K.T

    def without(self, motions: np.ndarray) -> QuadraticPencil:
        """Return this pencil with rigid-body motions (n, r), in given units, removed by projectors.

        With R these motions and L those of the transposed matrices, displacements get the constraints L^T M x = 0, and
        inertia forces M R c balance the resultants of the forces: borders of the saddle point that make it regular.

        Raises:
            ValueError: the motions are dependent, are held by K, C or G, or have no mass.
        """
        R = np.asarray(motions, float)
        if R.ndim != 2 or R.shape[0] != self.n or not np.all(np.isfinite(R)):
            raise ValueError(f"rigid_motions must have shape ({self.n}, r) and finite entries, not shape {R.shape}")
        R = R / self.d[:, None]
        size = np.linalg.norm(R, axis=0)
        R, triangle = np.linalg.qr(R / np.where(size > 0.0, size, 1.0))
        if np.abs(np.diag(triangle)).min(initial=1.0) < 1e-10:
            raise ValueError("rigid_motions are dependent")
        if np.abs(self.rows @ R).max(initial=0.0) > 1e-8:
            raise ValueError("rigid_motions violate the constraints")
        self._never_resists(R, (("K", self.K), ("C", self.C)))
        L = R
        skewed = ((self.K, self.KT), (self.M, self.MT), (self.rows, csr_matrix(self.columns.T)))
        if any(a.nnz and abs(a - b).max() > 1e-13 for a, b in skewed):
            L = np.linalg.qr(self._left_motions(R))[0]
        self._never_resists(L, (("K^T", self.KT), ("C^T", self.CT)))
        mass = L.T @ (self.M @ R)
        if np.linalg.svd(mass, compute_uv=False).min() <= 1e-12 * abs(self.M).max():
            raise ValueError("rigid_motions: one of them moves no mass")
        return self.take_out(R, L)

    def take_out(self, R: np.ndarray, L: np.ndarray) -> QuadraticPencil:
        """Return this pencil without right and left rigid-body motions (n, r), scaled, that K, C and G do not
        resist."""
        other = copy(self)
        other.__dict__.pop("full", None)
        rows, columns = csr_matrix(L.T @ self.M), csr_matrix(self.M @ R)
        other.rows = csr_matrix(vstack((self.rows, rows))) if self.m else rows
        other.columns = csr_matrix(hstack((self.columns, columns))) if self.m else columns
        other.m = other.rows.shape[0]
        other.motions = (R, L)
        return other

    def _never_resists(self, X: np.ndarray, matrices) -> None:
        for name, a in matrices:
            force = a @ X
            if self.constraints and np.any(force):
                # reactions take what they can: columns of the matrix, rows of its transpose
                rows = self.rows if name.endswith("T") else csr_matrix(self.columns[:, : self.constraints].T)
                force, _ = factor(identity(self.n, format="csc"), rows, "general", effort=self.effort).solve(force)
            size = np.linalg.norm(abs(a) @ np.abs(X), axis=0)
            worst = np.max(np.linalg.norm(force, axis=0) / np.where(size > 0.0, size, 1.0), initial=0.0)
            if worst > 1e-8:
                raise ValueError(
                    f"rigid_motions: {name} resists them ({worst:.1e} of its entries); use a shift instead"
                )

    def _left_motions(self, R: np.ndarray) -> np.ndarray:
        """Return L (n, r) with K^T L + G^T y = 0, G L = 0, from a bordered matrix."""
        rows = csr_matrix(vstack((self.rows, csr_matrix(R.T))))
        columns = csr_matrix(hstack((self.columns, csr_matrix(self.M @ R))))
        try:
            factors = factor(csc_matrix(self.K), rows, "general", effort=self.effort, columns=columns)
        except SingularShift:
            raise ValueError("rigid_motions are not all of them, or one moves no mass; use a shift instead") from None
        right = np.zeros((self.n + rows.shape[0], R.shape[1]))
        right[-R.shape[1] :] = np.eye(R.shape[1])
        return factors.solve_full(right, transposed=True)[: self.n]

    def parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the numbers of the unknowns (k,) and constraints (j,) of each part that nothing couples to the others.

        Bending, torsion and extension of a straight shaft along an axis of the model are three.
        """
        n = self.n
        constraints = ((self.rows, n, 0), (self.columns, 0, n)) if self.m else ()
        places = [(A, A.data != 0.0, down, right) for A, down, right in (
            (self.M, 0, 0), (self.C, 0, 0), (self.K, 0, 0), *constraints
        )]  # fmt: skip
        given = [array for A, some, _, _ in places for array in (A.indptr, A.indices, some)]
        return self.repeats.result("parts", given, lambda: self._connected(places))

    def _connected(self, places) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return what `parts` does, from the entries (bool) of each matrix that are not zero, and its first row and
        column among all."""
        n, rows, columns = self.n, [], []
        for A, some, down, right in places:
            rows.append(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[some] + down)
            columns.append(A.indices[some] + right)
        row, column = np.concatenate(rows), np.concatenate(columns)
        linked = csr_matrix((np.ones(row.size, bool), (row, column)), shape=(n + self.m, n + self.m))
        number, of = connected_components(linked, directed=False)
        return [(np.flatnonzero(of[:n] == i), np.flatnonzero(of[n:] == i)) for i in range(number)]

    def part(self, unknowns: np.ndarray, rows: np.ndarray) -> QuadraticPencil:
        """Return the pencil of some ascending unknowns and constraints, to which nothing couples the others."""
        other = copy(self)
        for name in ("full", "moving", "operators", "_kept", "MT", "CT", "KT"):
            other.__dict__.pop(name, None)
        other.M, other.C, other.K = (self._selected(name, unknowns) for name in "MCK")
        other.rows, other.columns = csr_matrix((0, unknowns.size)), csr_matrix((unknowns.size, 0))
        if rows.size:
            other.rows, other.columns = self.rows[rows][:, unknowns], self.columns[unknowns][:, rows]
        other.n, other.m = unknowns.size, rows.size
        other.constraints = int((rows < self.constraints).sum())
        other.d = self.d[unknowns]
        return other

    def given_rows(self, unknowns: np.ndarray) -> list[np.ndarray]:
        """Return rows of M, C and K of ascending unknowns (k,) in given units: lengths, columns and entries of each."""
        here = np.zeros(self.n, bool)
        here[unknowns] = True
        out = []
        for A in self.given:
            lengths = np.diff(A.indptr)
            some = np.repeat(here, lengths)
            out += [lengths[unknowns], A.indices[some], A.data[some]]
        return out

    def _selected(self, name: str, unknowns: np.ndarray) -> csr_matrix:
        """Return rows and columns of ascending unknowns (k,) of M, C or K."""
        A = getattr(self, name)
        places, indices, indptr = self.repeats.result(
            ("selected", name, int(unknowns[0])), (unknowns, A.indptr, A.indices), lambda: _places(A, unknowns)
        )
        return csr_matrix((A.data[places], indices, indptr), shape=(unknowns.size,) * 2)

    def multipliers(self, y: np.ndarray) -> np.ndarray:
        """Return the multipliers (m, k) in given units from scaled ones; those of dependent rows are zero."""
        out = np.zeros((self.keep.size, y.shape[1]), y.dtype)
        out[self.keep] = y[: self.constraints] / self.norm[:, None]
        return out

    @cached_property
    def moving(self) -> int:
        """Return the number of unknowns with masses (or dampers, where there are no masses)."""
        for A in (self.M, self.C):
            used = np.bincount(A.indices, minlength=self.n) + np.diff(A.indptr)
            if used.any():
                break
        return int((used > 0).sum())

    @cached_property
    def full(self) -> tuple[np.ndarray, ...]:
        """Return M, C, K, rows and columns (scaled) as full arrays, of small problems."""
        return tuple(a.toarray() for a in (self.M, self.C, self.K, self.rows, self.columns))

    @cached_property
    def operators(self) -> tuple[Any, Any, Any]:
        """Return M, C, K (scaled) for products: full arrays of small problems, for which fewer calls are made."""
        if self.n > _FULL:
            return self.M, self.C, self.K
        M, C, K, *_ = self.full
        return M, C, K

    def shifted(self, s: complex) -> csr_matrix:
        """Return K + s C + s^2 M (scaled)."""
        return csc_matrix(self.K + s * self.C + s**2 * self.M)

    def forces(
        self, p: np.ndarray, x: np.ndarray, transposed: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K x, p C x, p^2 M x (n, k) of pairs p (k,), x (n, k)."""
        M, C, K = (A.T if transposed else A for A in self.operators)
        return times(K, x), times(C, x) * p, times(M, x) * p**2

    @cached_property
    def _kept(self) -> list[csr_matrix]:
        return [abs(A) for A in self.operators[::-1]]

    @property
    def absolute(self) -> list[csr_matrix]:
        """Return |K|, |C| and |M|; only those of small problems are kept."""
        return [magnitudes(a) for a in (self.K, self.C, self.M)] if self.K.nnz > _SMALL else self._kept

    def _reactions(self, y: np.ndarray, transposed: bool) -> np.ndarray:
        return (self.rows.T if transposed else self.columns) @ y

    def residuals(
        self, p: np.ndarray, x: np.ndarray, y: np.ndarray, absolute: list[csr_matrix], transposed: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (k,): |(p^2 M + p C + K) x + G^T y| over the sum of the norms of its four terms, and over
        that of the absolute values from which they cancel.

        The violation of G x = 0 is added to the numerator; ``absolute``: as the attribute.
        """
        terms = (*self.forces(p, x, transposed), self._reactions(y, transposed))
        norms = [np.linalg.norm(t, axis=0) for t in terms]
        off = np.linalg.norm(sum(terms), axis=0) + np.linalg.norm(
            (self.columns.T if transposed else self.rows) @ x, axis=0
        )
        a = np.abs(x)
        sizes = [(A.T if transposed else A) @ a for A in absolute]
        factors = (1.0, np.abs(p), np.abs(p) ** 2)
        largest = norms[3] + sum(np.linalg.norm(x * by, axis=0) for x, by in zip(sizes, factors, strict=True))
        # a rigid-body motion has no forces at all: what it cancels from is the measure then
        size = np.maximum(sum(norms), 1e-300)
        return off / size, off / np.where(largest > 0.0, largest, 1.0)

    def products(self, p: np.ndarray, w: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return w_i.((p_i + p_j) M + C) x_j (k, k): diagonal for pairs of different p, with w.L'(p) x on it."""
        M, C, _ = self.operators
        return (p[:, None] + p[None, :]) * (w.T @ times(M, x)) + w.T @ times(C, x)


def absolutely(A: csr_matrix, x: np.ndarray, transposed: bool = False) -> np.ndarray:
    """Return |A| x (n, k), or |A|^T x; |A| is not kept, for matrices of large parts take much memory."""
    a = magnitudes(A)
    return (a.T if transposed else a) @ x


def magnitudes(A: csr_matrix) -> csr_matrix:
    """Return |A|, which shares its pattern with A."""
    return csr_matrix((np.abs(A.data), A.indices, A.indptr), shape=A.shape)


def selected(A: csr_matrix, dofs: np.ndarray) -> csr_matrix:
    """Return rows and columns of ascending ``dofs`` (n,) of a matrix (N, N)."""
    places, indices, indptr = _places(A, dofs)
    return csr_matrix((A.data[places], indices, indptr), shape=(dofs.size,) * 2)


def _places(A: csr_matrix, dofs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which entries of a matrix are in rows and columns of ascending ``dofs`` (n,), their columns among these,
    and where rows begin."""
    number = np.full(A.shape[0], -1, A.indices.dtype)
    number[dofs] = np.arange(dofs.size)
    columns = number[A.indices]
    keep = (columns >= 0) & np.repeat(number >= 0, np.diff(A.indptr))
    indptr = np.concatenate(([0], np.cumsum(keep)))[A.indptr]
    return np.flatnonzero(keep), columns[keep], np.append(indptr[dofs], indptr[-1])


def times(A: Any, x: np.ndarray) -> np.ndarray:
    """Return A x (n, k), without a complex copy of a real matrix."""
    if isinstance(A, np.ndarray) or np.iscomplexobj(A.data) or not np.iscomplexobj(x):
        return A @ x
    parts = A @ np.hstack((x.real, x.imag))
    return parts[:, : x.shape[1]] + 1j * parts[:, x.shape[1] :]


def inexact(pencil: QuadraticPencil) -> bool:
    """Return whether of the matrices of a pencil only the symmetric parts would get factors."""
    return pencil.real and supernodal(pencil.n, pencil.m) and has_cholmod()


def _floating(a):
    return a if a.dtype in (np.float64, np.complex128) else a.astype(complex if a.dtype.kind == "c" else float)


def _frequency(M, C, K) -> float:
    """Return the median of the frequencies of single unknowns: sqrt(K_ii / M_ii), or K_ii / C_ii, or C_ii / M_ii.

    Those far below the upper quartile do not count: of unknowns that nothing holds, as of a vehicle, the stiffness is
    that of small residual forces, or of rounding.
    """
    m, c, k = (np.abs(a.diagonal()) for a in (M, C, K))
    for a, b, power in ((k, m, 0.5), (k, c, 1.0), (c, m, 1.0)):
        both = (a > 0.0) & (b > 0.0)
        if both.any():
            found = (a[both] / b[both]) ** power
            return float(np.median(found[found >= _HELD * np.quantile(found, 0.75)]))
    for a, b, power in ((K, M, 0.5), (K, C, 1.0), (C, M, 1.0)):
        if a.count_nonzero() and b.count_nonzero():
            return float((abs(a).max() / abs(b).max()) ** power)
    return 1.0


def _scaled(A: csr_matrix, d: np.ndarray, by: float) -> csr_matrix:
    """Return by diag(d) A diag(d), without products of sparse matrices."""
    data = A.data * np.repeat(d, np.diff(A.indptr)) * d[A.indices]
    return csr_matrix((by * data, A.indices.copy(), A.indptr.copy()), shape=A.shape)


def _scales(K: csr_matrix, C: csr_matrix, M: csr_matrix, omega: float) -> np.ndarray:
    """Return d (n,) with d_i size_ii d_i = 1, size = |K| + omega |C| + omega^2 |M|; where the diagonal is zero, by the
    coupling to the others."""
    diagonal = np.abs(K.diagonal()) + omega * np.abs(C.diagonal()) + omega**2 * np.abs(M.diagonal())
    d = np.zeros(diagonal.size)
    some = diagonal > 0.0
    d[some] = 1.0 / np.sqrt(diagonal[some])
    if some.all():
        return d
    size = abs(K) + omega * abs(C) + omega**2 * abs(M)
    both = size.maximum(size.T)
    for _ in range(3):
        empty = np.flatnonzero(d == 0.0)
        if empty.size == 0:
            break
        reach = csr_matrix(both[empty] @ diags(d)).max(axis=1).toarray().ravel()
        found = reach > 0.0
        d[empty[found]] = 1.0 / reach[found]
    d[d == 0.0] = np.median(d[d > 0.0]) if (d > 0.0).any() else 1.0
    return d


def _within_constraints(d: np.ndarray, M: csr_matrix, G: csr_matrix) -> np.ndarray:
    """Return scales d (n,); constraints bound those of unknowns without mass.

    The stiffness of such an unknown, as of a node of a reduced part, may be that of a reaction alone, whose rounding
    stands there where the reaction is zero.
    """
    if not G.nnz:
        return d
    known = M.diagonal() != 0.0
    rows = csr_matrix(abs(G))
    rows.eliminate_zeros()
    row, at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices
    if known[at].all():
        return d
    d = d.copy()
    for _ in range(3):  # bounds of one pass give bounds of others in the next
        size = np.zeros(rows.shape[0])
        np.maximum.at(size, row, np.where(known[at], rows.data * d[at], 0.0))
        some = ~known[at] & (size[row] > 0.0)
        if not some.any():
            break
        most = np.full(d.size, np.inf)
        np.minimum.at(most, at[some], size[row[some]] / rows.data[some])
        far = d > _APART * most
        d[far] = most[far]
        known[at[some]] = True
    return d


class Inverse:
    """The operator A of the module's docstring for a pencil and a shift s (scaled), with its transpose.

    ``movable``: another shift beside this one would do; see `SaddleFactors`.
    """

    def __init__(self, pencil: QuadraticPencil, s: complex, limit: float = SINGULAR_GROWTH, movable: bool = False):
        self.pencil, self.s = pencil, s
        real = pencil.real and np.imag(s) == 0.0
        if real:
            self.s = s = float(np.real(s))
        self.dtype = np.dtype(float if real else complex)
        with one_blas_thread():
            self.factors = factor(
                pencil.shifted(s), pencil.rows, "general", effort=pencil.effort, columns=pencil.columns, limit=limit,
                movable=movable,
            )  # fmt: skip
        # massless unknowns need no velocities: nothing sees them, and rounding errors would gather there
        used = np.bincount(pencil.M.indices, minlength=pencil.n) + np.diff(pencil.M.indptr)
        self.moving = (used > 0).astype(float)[:, None]
        self.Cs = csr_matrix(pencil.C + 2.0 * s * pencil.M)
        self.CsT = self.Cs.T
        self.size = 2 * pencil.n

    @property
    def approximate(self) -> bool:
        """Return whether only the symmetric part has factors, so that exact solutions take iterations."""
        return self.factors.positive is not None

    @cached_property
    def unit(self) -> float:
        """Return about the |q| nearest to the shift, so that displacements and velocities of wanted modes have one
        size."""
        rng = np.random.default_rng(_SEED)
        M = self.pencil.M
        x = self.factors.solve(M @ rng.standard_normal(self.pencil.n))[0]
        a = np.linalg.norm(x)
        if a == 0.0:
            x = self.factors.solve(self.Cs @ rng.standard_normal(self.pencil.n))[0]
            a = np.linalg.norm(x)
        if a == 0.0:
            raise AnalysisError("Complex modes: no mass can move; remove a support or give the parts a density")
        by_mass = np.linalg.norm(self.factors.solve(M @ x)[0]) / a
        by_damping = np.linalg.norm(self.factors.solve(self.Cs @ x)[0]) / a
        return 1.0 / max(np.sqrt(by_mass), by_damping, 1e-300)

    @cached_property
    def state_forces(self) -> tuple[csr_matrix, csr_matrix]:
        """Return [C_s, nu M] (n, 2n) and its transpose, for one product with a vector in place of two."""
        both = csr_matrix(hstack((self.Cs, self.unit * self.pencil.M)))
        return both, both.T

    def right(self, v: np.ndarray) -> np.ndarray:
        """Return A v (2n,), as accurately as the recurrence needs."""
        x = self.factors.solve(self.state_forces[0] @ v, rough=True)[0]
        return np.concatenate((-x, self.moving[:, 0] * v[: self.pencil.n] / self.unit))

    def left(self, v: np.ndarray) -> np.ndarray:
        """Return A^T v (2n,)."""
        n = self.pencil.n
        out = self.state_forces[1] @ -self.factors.solve(v[:n], transposed=True, rough=True)[0]
        out[:n] += self.moving[:, 0] * v[n:] / self.unit
        return out

    def start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return random right and left vectors (2n,), free of infinite eigenvalues and within the constraints.

        The left one is (K_s x, nu^2 M v) of the right one (x, v): without damping A is skew in the inner product of the
        energy, left vectors go on to be such images of right ones, and there are no breakdowns; with little damping
        they are rare.  One step of power iteration brings displacements onto the constraints, another the velocities;
        together they also remove the chains of two vectors that belong to infinite eigenvalues of a singular M.
        """
        n = self.pencil.n
        d = rng.standard_normal(self.size)
        if self.dtype != float:
            d = d + 1j * rng.standard_normal(self.size)
        M, C, K = self.pencil.M, self.pencil.C, self.pencil.K
        force = K @ d[:n] + self.s * (C @ d[:n]) + self.s**2 * (M @ d[:n])
        g = np.concatenate((force, self.unit**2 * (M @ d[n:]))).conj()
        for _ in range(2):
            d, g = self.right(d), self.left(g)
            d, g = d / (np.linalg.norm(d) or 1.0), g / (np.linalg.norm(g) or 1.0)
        return d, g

    def pairs(self, p: np.ndarray, v: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return better p, v, z from right and left vectors v, z (2n, k) of A, and x, y, w, mu.

        These are right and left vectors (n, k) of the pencil with multipliers (m, k).  The values p are closed under
        conjugation for real operators.  One step of subspace iteration on both sides, and Rayleigh-Ritz with
        well-conditioned bases, recover what many steps of the recurrence have lost to rounding.
        """
        n = self.pencil.n
        if self.dtype == float:
            upper, rising = p.imag >= 0.0, p.imag > 0.0
            v, z = (np.hstack((a[:, upper].real, a[:, rising].imag)) for a in (v, z))
        v, z = (np.linalg.qr(a / np.linalg.norm(a, axis=0))[0] for a in (v, z))
        v = self._right_all(v)[0]
        z = self._left_all(z)[0]
        v, z = (np.linalg.qr(a)[0] for a in (v, z))
        image, y = self._right_all(v)
        back, w, mu = self._left_all(z)
        product = z.T @ v
        theta, left, right = scipy.linalg.eig(np.linalg.solve(product, z.T @ image), left=True, right=True)
        left = np.linalg.solve(product.T, left.conj())
        x, y = _unit_size(image[:n] @ right, y @ right)
        w, mu = _unit_size(w @ left, mu @ left)
        return self.s + 1.0 / theta, image @ right, back @ left, x, y, w, mu

    def _right_all(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A v (2n, k) and the multipliers (m, k) of its displacements."""
        n = self.pencil.n
        x, y = self.factors.solve(self.Cs @ v[:n] + self.unit * (self.pencil.M @ v[n:]))
        return np.vstack((-x, self.moving * v[:n] / self.unit)), -y

    def _left_all(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return A^T z (2n, k), and the w (n, k) of z with its multipliers (m, k)."""
        n = self.pencil.n
        w, mu = self.factors.solve(z[:n], transposed=True)
        return np.vstack((self.moving * z[n:] / self.unit - self.CsT @ w, -self.unit * (self.pencil.MT @ w))), -w, -mu

    def improve(self, p: np.ndarray, x: np.ndarray, transposed: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return one step of inverse iteration on pairs p (k,) (scaled), x (n, k): new x of unit size, with its y (m,
        k)."""
        q = p - self.s
        M, C = (self.pencil.MT, self.CsT) if transposed else (self.pencil.M, self.Cs)
        return _unit_size(*self.factors.solve(-(C @ x) * q - (M @ x) * q**2, transposed))


def _unit_size(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = np.linalg.norm(x, axis=0)
    size[size == 0.0] = 1.0
    return x / size, y / size
