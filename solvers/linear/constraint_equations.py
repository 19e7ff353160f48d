"""Linear constraint equations A u = b by exact elimination: u = T q + u0.

    A (m, n) sparse, some dofs held at values       u (n,) = T (n, n_free) q (n_free,) + u0 (n,)
    K_red = T^T K T,   M_red = T^T M T,   f_red = T^T (f - K u0)

Each equation gives one *dependent* dof, its preferred one (the first term of an *EQUATION, the nodes of a rigid body,
the slave side of a tie) or one that is chosen, for instance where other equations nearly cancel the preferred one.
With the pivots scaled to one the dependent dofs obey
(I + N) u_d = b - A_f u_f, where N says which equations use dependent dofs of others.  Strongly connected groups of N
(Tarjan 1972, doi:10.1137/0201010) are cycles, which are solved jointly; what is left is a chain, N is nilpotent, and

    (I + N)^-1 = (I - N) (I + N^2) (I + N^4) ...

is exact after log2(length of the longest chain) products of sparse matrices.  Equations that find no dependent dof of
their own in this way have the others substituted into them and try again; the last few hundred are left to a
factorisation Q R with column pivoting (Businger & Golub 1965, doi:10.1007/BF01436084).  An equation of which nothing is
left repeats others (it is dropped and reported) or contradicts them.

Theory: docs/theory.md, section 6, "Linear constraint equations by elimination".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.sparse import coo_matrix, csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components

from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.libraries import lu_factors

__all__ = ["ConstraintConflict", "Elimination", "Redundant", "eliminate"]

#: A coefficient below this, over the largest that its equation has had, is zero: no equation is left, no pivot either.
VANISHED = 1e-11
#: A right side below this, over what it was summed from, agrees with an equation of which nothing is left.
AGREES = 1e-9
#: Dofs that may become dependent in an equation without a preferred one, over its largest coefficient.
_PIVOT = 0.1
#: Round-off in the rows of T and of substituted equations, over their largest entries.
_DUST = 1e-15
#: Joint solution of cycles: their longest, and the smallest singular value over the largest.
_CYCLE, _REGULAR = 200, 1e-7
#: The preferred dof of an equation is replaced if the other equations divide its coefficient by more than this:
#: T grows by the factor, and matrices T^T K T lose twice as many digits.  The factor does not depend on units.
_GROWTH = 100.0
#: Equations left to Q R at a time, and rounds of substitution before.
_DENSE, _ROUNDS = 1200, 2


class ConstraintConflict(ValueError):
    """Constraint equations that cannot hold together.

    ``equations`` (rows of A) and ``dofs`` concerned, as tuples of int.
    """

    def __init__(self, message: str, equations: Sequence[int], dofs: Sequence[int]):
        super().__init__(message)
        self.equations = tuple(int(i) for i in equations)
        self.dofs = tuple(int(i) for i in dofs)


@dataclass(frozen=True)
class Redundant:
    """An equation that was dropped, and the others from which it follows (none: held dofs satisfy it)."""

    equation: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class Elimination:
    """The elimination u = T q + u0 and its record.

    ``T`` (n, n_free) csr, identity in the rows of the ``free`` dofs (n_free,); ``u0`` (n,), zero there; ``dependent``
    (k,) dofs and their ``equations`` (k,); ``held`` dofs; ``redundant`` equations; ``cycles``: groups of equations that
    used each other's preferred dofs and were solved jointly; ``replaced``: equations whose preferred dof could not be
    the dependent one.
    """

    A: csr_matrix
    T: csr_matrix
    u0: np.ndarray
    free: np.ndarray
    dependent: np.ndarray
    equations: np.ndarray
    held: np.ndarray
    redundant: tuple[Redundant, ...]
    cycles: tuple[tuple[int, ...], ...]
    replaced: np.ndarray

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Return u (n,) or (n, k) of q (n_free,) or (n_free, k).  Increments and mode shapes: `T` alone."""
        q = np.asarray(q)
        return self.T @ q + (self.u0 if q.ndim == 1 else self.u0[:, None])

    def reduce(self, K: csr_matrix) -> csr_matrix:
        """Return T^T K T (n_free, n_free) of K (n, n), in compressed sparse rows; K need not be symmetric."""
        K = csr_matrix(K)
        rows, columns = K[self.free], self.dependent
        reduced = rows[:, self.free]
        if columns.size:
            Td = self.T[columns]
            side = Td.T @ K[columns]
            inner = side[:, columns] @ Td
            reduced = reduced + (side[:, self.free] + rows[:, columns] @ Td + inner)  # few entries, then all
        return csr_matrix(reduced)

    def reduce_force(self, f: np.ndarray, K: csr_matrix | None = None) -> np.ndarray:
        """Return T^T (f - K u0), (n_free,); ``K`` may be left out where u0 is zero.

        Raises:
            ValueError: u0 is not zero and no K is given.
        """
        f = np.asarray(f, dtype=float)
        if np.any(self.u0):
            if K is None:
                raise ValueError("The equations are inhomogeneous: give the matrix that multiplies u0")
            f = f - K @ self.u0
        return self.T.T @ f

    @cached_property
    def _pivots(self):
        """Return the factors of A[equations, dependent], square and regular."""
        return lu_factors(self.A[self.equations][:, self.dependent].tocsc())

    def multipliers(self, residual: np.ndarray) -> np.ndarray:
        """Return the multipliers (m,) of K u + A^T lambda = f from ``residual`` (n,) = f - K u of a solution.

        Those of redundant equations are zero.  The forces of the equations are -A^T lambda, those of the supports
        `reactions`.
        """
        lam = np.zeros(self.A.shape[0])
        if self.dependent.size:
            lam[self.equations] = self._pivots.solve(np.asarray(residual, dtype=float)[self.dependent], "T")
        return lam

    def reactions(self, residual: np.ndarray) -> np.ndarray:
        """Return the forces (n,) on the held dofs, K u - f + A^T lambda, from ``residual`` (n,) = f - K u of a
        solution.

        They are zero at all other dofs.
        """
        forces = np.zeros(self.A.shape[1])
        forces[self.held] = (self.A.T @ self.multipliers(residual) - residual)[self.held]
        return forces


def eliminate(
    A: csr_matrix,
    b: np.ndarray | None = None,
    preferred: np.ndarray | None = None,
    held: np.ndarray | None = None,
    values: np.ndarray | None = None,
    scale: np.ndarray | None = None,
) -> Elimination:
    """Return T and u0 of all u (n,) with A u = b that have the held dofs at their values.

    Args:
        A: sparse (m, n), one equation per row.
        b: right sides (m,), zero if None.
        preferred: (m,) int, the dof that is to be dependent, -1 for any; another dof of the equation takes its place
            where it is held or is the dependent one of another equation already.
        held: dofs (h,) with given ``values`` (h,), zero if None.
        scale: (n,) usual sizes of the dofs, in any unit (metres for displacements, radians for rotations); where no dof
            is preferred, one with a large share in the equation becomes the dependent one.

    Raises:
        ConstraintConflict: the equations contradict each other or the held dofs.
        ValueError: wrong shapes, a dof out of range or held twice, numbers that are not finite.
    """
    A = csr_matrix(A, dtype=float, copy=True)
    A.sum_duplicates()
    m, n = A.shape
    b = np.zeros(m) if b is None else np.array(b, dtype=float)
    preferred = np.full(m, -1) if preferred is None else np.asarray(preferred, dtype=np.int64)
    held = np.zeros(0, dtype=np.int64) if held is None else np.asarray(held, dtype=np.int64)
    values = np.zeros(held.size) if values is None else np.asarray(values, dtype=float)
    scale = np.ones(n) if scale is None else np.asarray(scale, dtype=float)
    for name, array, shape in (
        ("b", b, m),
        ("preferred", preferred, m),
        ("values", values, held.size),
        ("scale", scale, n),
    ):
        if array.shape != (shape,):
            raise ValueError(f"{name} must have shape ({shape},), not {array.shape}")
    if not all(np.isfinite(x).all() for x in (A.data, b, values, scale)):
        raise ValueError("Constraint equations must have finite coefficients, right sides, values and scales")
    if preferred.size and (preferred.min() < -1 or preferred.max() >= n):
        raise ValueError(f"preferred dofs must be -1 or in 0 ... {n - 1}")
    if held.size and (held.min() < 0 or held.max() >= n or np.unique(held).size < held.size):
        raise ValueError(f"held dofs must be in 0 ... {n - 1}, each once")
    return _Eliminator(A, b, preferred, held, values, scale).run()


class _Eliminator:
    """Holds the equations that are still to be used, in the dofs that are still independent."""

    def __init__(self, A, b, preferred, held, values, scale):
        self.A0, self.preferred, self.scale = A, preferred, scale
        m, n = A.shape
        self.n, self.held = n, held
        self.is_held = np.zeros(n, dtype=bool)
        self.is_held[held] = True
        self.owner = np.full(n, -1)  # equation that made a dof dependent
        self.u0 = np.zeros(n)
        self.u0[held] = values
        self.T = diags((~self.is_held).astype(float), format="csr")
        self.T.eliminate_zeros()
        # the rows left, their numbers, the largest coefficient each has had, and what its right side was summed from
        self.rows = np.arange(m)
        self.size = _largest(A)
        self.b = b - A @ self.u0
        self.b_size = np.abs(b) + abs(A) @ np.abs(self.u0)
        self.A = _without(A, self.is_held)
        self.combination = identity(m, format="csr")  # of the given equations
        self.redundant: list[Redundant] = []
        self.cycles: list[tuple[int, ...]] = []
        self.replaced: list[np.ndarray] = []

    def run(self) -> Elimination:
        rounds = 0
        self._sift()
        while self.rows.size:
            if rounds >= _ROUNDS and self.rows.size <= _DENSE:
                self._finish()
                break
            self.first = rounds == 0
            self._round()
            self._sift()
            rounds += 1
        dependent = np.flatnonzero(self.owner >= 0)
        free = np.flatnonzero((self.owner < 0) & ~self.is_held)
        replaced = np.concatenate(self.replaced) if self.replaced else np.zeros(0, dtype=np.int64)
        T = self.T[:, free].tocsr()
        T.sort_indices()
        self.redundant.sort(key=lambda found: found.equation)
        return Elimination(
            self.A0, T, self.u0, free, dependent, self.owner[dependent], self.held, tuple(self.redundant),
            tuple(self.cycles), np.sort(replaced),
        )  # fmt: skip

    # --- what is left of the equations -----------------------------------------------------------------------------
    def _sift(self) -> None:
        """Remove equations without terms.

        Raises:
            ConstraintConflict: one of them has a right side.
        """
        largest = _largest(self.A)
        gone = largest <= VANISHED * self.size
        for i in np.flatnonzero(gone & (np.abs(self.b) > AGREES * self.b_size)):
            self._contradiction(self.combination[[i]], self.b[i])
        for i in np.flatnonzero(gone):
            self._drop(self.rows[i], self.combination[[i]])
        self._keep(~gone)

    def _keep(self, mask: np.ndarray) -> None:
        if mask.all():
            return
        at = np.flatnonzero(mask)
        self.A, self.combination = self.A[at], self.combination[at]
        self.rows, self.size, self.b, self.b_size = self.rows[at], self.size[at], self.b[at], self.b_size[at]

    def _members(self, combination) -> np.ndarray:
        weight = np.abs(combination.data) * self._given_size[combination.indices]
        return np.sort(combination.indices[weight > 1e-9 * weight.max(initial=0.0)])

    @cached_property
    def _given_size(self) -> np.ndarray:
        return _largest(self.A0)

    def _contradiction(self, combination, gap: float) -> None:
        members = self._members(combination)
        if not members.size:
            members = np.unique(combination.indices)  # only a right-hand side
        dofs = np.unique(self.A0[members].indices)
        if len(members) > 1:
            text = f"Equations {', '.join(map(str, members))} contradict each other by {abs(gap):.3g}"
        elif dofs.size:
            text = f"Equation {members[0]} contradicts the values of the held dofs it uses by {abs(gap):.3g}"
        else:
            text = f"Equation {members[0]} has no terms, but the right side {gap:.3g}"
        raise ConstraintConflict(text, members.tolist(), dofs.tolist())

    def _drop(self, row: int, combination) -> None:
        members = self._members(combination)
        self.redundant.append(Redundant(int(row), tuple(int(i) for i in members if i != row)))

    # --- one round -------------------------------------------------------------------------------------------------
    def _round(self) -> None:
        """Make one dof of as many equations as possible dependent, and substitute these into the others."""
        at, pivots = self._candidates()
        values = np.asarray(self.A[at, pivots]).ravel()
        A = diags(1.0 / values) @ self.A[at]
        b, b_size = self.b[at] / values, self.b_size[at] / np.abs(values)
        link = self._between(A, pivots)
        W = None
        if link.nnz:
            keep, W, label = self._break_cycles(link, at)
            if W is not None:
                A, b, b_size = W @ A, W @ b, abs(W) @ b_size
            if not keep.all():
                at, pivots, label = at[keep], pivots[keep], label[keep]
                A, b, b_size = A[keep], b[keep], b_size[keep]
                values_kept = values[keep]
                W = None if W is None else W[keep][:, keep]
            else:
                values_kept = values
            link = self._between(A, pivots, label if W is not None else None)
        else:
            values_kept = values
        is_pivot = np.zeros(self.n, dtype=bool)
        is_pivot[pivots] = True
        # (I + N) u_d = b - A u_f, by doubling; the last columns carry b, its size, and the combinations
        N = -link
        X, x, x_size = _without(A, is_pivot), b, b_size
        rest = np.ones(self.rows.size, dtype=bool)
        rest[at] = False
        combination = None
        if rest.any():
            combination = diags(1.0 / values_kept) @ self.combination[at]
            combination = W @ combination if W is not None else combination
        while N.nnz:
            X, x, x_size = X + N @ X, x + N @ x, x_size + abs(N) @ x_size
            if combination is not None:
                combination = combination + N @ combination
            N = _pattern_product(N)
        self._use(at, pivots, X, x, x_size, combination, rest)

    def _between(self, A, pivots, label: np.ndarray | None = None) -> csr_matrix:
        """Return which rows use the pivots of which others, (k, k) with empty diagonal; nothing within groups
        ``label``, whose pivots have been separated."""
        column = np.full(self.n, -1)
        column[pivots] = np.arange(pivots.size)
        A = A.tocoo()
        other = column[A.col]
        keep = (other >= 0) & (other != A.row)
        if label is not None:
            keep &= label[A.row] != label[other]
        return csr_matrix((A.data[keep], (A.row[keep], other[keep])), shape=(pivots.size, pivots.size))

    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (k,), and a dof (k,) for each that may become dependent, all different."""
        A, m = self.A, self.rows.size
        row = np.repeat(np.arange(m), np.diff(A.indptr))
        share = np.abs(A.data)
        wanted = self.preferred[self.rows]
        pivot = np.full(m, -1)
        given = np.abs(np.asarray(self.A0[self.rows, np.maximum(wanted, 0)])).ravel() / _GROWTH
        found = (A.indices == wanted[row]) & (share > np.maximum(VANISHED * self.size, given)[row])
        pivot[row[found]] = A.indices[found]
        lost = (wanted >= 0) & (pivot < 0)
        if lost.any():
            self.replaced.append(self.rows[lost])
            self.preferred = self.preferred.copy()
            self.preferred[self.rows[lost]] = -1
        # others: a dof with a large share, used by as few equations as possible, none that is preferred elsewhere
        uses = np.bincount(A.indices, minlength=self.n)
        share = share * self.scale[A.indices]
        reserved = np.zeros(self.n, dtype=bool)
        reserved[pivot[pivot >= 0]] = True
        largest = np.zeros(m)
        open_ = (pivot < 0)[row] & ~reserved[A.indices]
        np.maximum.at(largest, row[open_], share[open_])
        open_ &= share >= _PIVOT * largest[row]
        entries = np.flatnonzero(open_)
        if entries.size:
            order = entries[np.lexsort((-share[entries], uses[A.indices[entries]], row[entries]))]
            first = np.ones(order.size, dtype=bool)
            first[1:] = row[order[1:]] != row[order[:-1]]
            pivot[row[order[first]]] = A.indices[order[first]]
        at = np.flatnonzero(pivot >= 0)
        # the first equation that asks for a dof has it
        _, first = np.unique(pivot[at], return_index=True)
        at = at[np.sort(first)]
        return at, pivot[at]

    def _break_cycles(self, link, at) -> tuple[np.ndarray, csr_matrix | None, np.ndarray]:
        """Return rows to keep (k,), a matrix (k, k) that separates the pivots within cycles, and the cycle of every
        row.

        Of a cycle that is singular or too long, those rows stay that use pivots of earlier ones only.
        """
        k = link.shape[0]
        count, label = connected_components(link, directed=True, connection="strong")
        keep = np.ones(k, dtype=bool)
        if count == k:
            return keep, None, label
        length = np.bincount(label)
        order = np.argsort(label, kind="stable")
        start = np.concatenate(([0], np.cumsum(length)))
        asked = self.preferred[self.rows[at]] >= 0
        B = identity(k, format="csr") + link
        rows, cols, data = [np.flatnonzero(length[label] == 1)], [np.flatnonzero(length[label] == 1)], []
        data.append(np.ones(rows[0].size))
        bad = np.zeros(count, dtype=bool)
        for s in np.unique(length[length > 1]):
            groups = np.flatnonzero(length == s)
            members = order[start[groups][:, None] + np.arange(s)]
            # (later rounds only meet what is left of the same cycles)
            for group in members[asked[members].all(axis=1)] if self.first else ():
                self.cycles.append(tuple(int(i) for i in np.sort(self.rows[at[group]])))
            if s > _CYCLE:
                bad[groups] = True
                continue
            blocks = _blocks(B, members, label, groups, count)
            singular = np.linalg.svd(blocks, compute_uv=False)
            fine = singular[:, -1] > _REGULAR * singular[:, 0]
            inverse = np.linalg.inv(blocks[fine])
            mild = np.abs(np.diagonal(inverse, axis1=1, axis2=2)).max(axis=1) <= _GROWTH
            fine[fine] = mild
            bad[groups[~fine]] = True
            members, inverse = members[fine], inverse[mild]
            rows.append(np.repeat(members, s, axis=1).ravel())
            cols.append(np.tile(members, (1, s)).ravel())
            data.append(inverse.ravel())
        spoilt = np.flatnonzero(bad[label])
        if spoilt.size:
            a, c = link.nonzero()
            keep[a[(label[a] == label[c]) & bad[label[a]] & (c > a)]] = False
            rows.append(spoilt)
            cols.append(spoilt)
            data.append(np.ones(spoilt.size))
            # the rest of them is a chain, not a group
            label = label.copy()
            label[spoilt] = count + np.arange(spoilt.size)
        W = csr_matrix((np.concatenate(data), (np.concatenate(rows), np.concatenate(cols))), shape=(k, k))
        return keep, W, label

    def _use(self, at, pivots, X, x, x_size, combination, rest) -> None:
        """Substitute u_d = x - X u_f for the dofs ``pivots`` into the rows ``rest``."""
        X = _clean(X, _largest(X))
        k = pivots.size
        is_pivot = np.zeros(self.n, dtype=bool)
        is_pivot[pivots] = True
        self.owner[pivots] = self.rows[at]
        # T' = identity but for the pivots' rows
        X = X.tocoo()
        stay = np.flatnonzero(~is_pivot & ~self.is_held)
        T = csr_matrix(
            (
                np.concatenate((np.ones(stay.size), -X.data)),
                (np.concatenate((stay, pivots[X.row])), np.concatenate((stay, X.col))),
            ),
            shape=(self.n, self.n),
        )
        u = np.zeros(self.n)
        u[pivots] = x
        first = self.owner >= 0
        if first.sum() == k:  # nothing to compose with yet
            self.T, self.u0 = T, self.u0 + u
        else:
            self.u0 = self.u0 + self.T @ u
            self.T = self.T @ T
            self.T = _clean(self.T, _largest(self.T))
        at_rest = np.flatnonzero(rest)
        if not at_rest.size:
            self._keep(rest)
            return
        u_size = np.zeros(self.n)
        u_size[pivots] = x_size
        A, numbers = self.A[at_rest], self.rows[at_rest]
        share = A[:, pivots]
        self.combination = (self.combination[at_rest] - share @ combination).tocsr()
        substituted = abs(share) @ abs(X.tocsr())
        self.size = np.maximum(self.size[at_rest], _largest(substituted))
        self.b_size = self.b_size[at_rest] + abs(A) @ u_size
        self.b = self.b[at_rest] - A @ u
        self.A = _clean((A @ T).tocsr(), self.size)
        self.rows = numbers

    # --- the last ones ---------------------------------------------------------------------------------------------
    def _finish(self) -> None:
        """Choose dependent dofs of all remaining equations by Q R with column pivoting, one connected group after
        the other."""
        A, m = self.A, self.rows.size
        touch = (abs(A) @ abs(A).T).tocsr()
        groups, label = connected_components(touch, directed=False)
        found = []
        for g in range(groups):
            at = np.flatnonzero(label == g)
            columns = np.unique(A[at].indices)
            dense = A[at][:, columns].toarray()
            norm = np.abs(dense).max(axis=1)
            unit = dense / norm[:, None]
            _, r, order = scipy.linalg.qr(unit.T, mode="economic", pivoting=True)
            steps = np.abs(np.diag(r))
            # the remainder of a row is compared with all terms that were substituted into it
            loss = (self.size[at] / norm)[order][: steps.size]
            rank = int((steps > VANISHED * np.maximum(loss, steps[0])).sum())
            keep, rest = np.sort(order[:rank]), order[rank:]
            for i in rest:
                y = np.linalg.lstsq(unit[keep].T, unit[i], rcond=None)[0] * norm[i] / norm[keep]
                combination = self.combination[[at[i]]] - csr_matrix(y) @ self.combination[at[keep]]
                gap = self.b[at[i]] - y @ self.b[at[keep]]
                if abs(gap) > AGREES * (self.b_size[at[i]] + np.abs(y) @ self.b_size[at[keep]]):
                    self._contradiction(combination.tocsr(), gap)
                self._drop(self.rows[at[i]], combination.tocsr())
            # preferred dofs first
            weight = self.scale[columns].copy()
            wanted = self.preferred[self.rows[at[keep]]]
            weight[np.isin(columns, wanted[wanted >= 0])] *= 1e3
            _, _, order = scipy.linalg.qr(unit[keep] * weight, mode="economic", pivoting=True)
            pivot, other = np.sort(order[:rank]), np.sort(order[rank:])
            lu = scipy.linalg.lu_factor(unit[np.ix_(keep, pivot)])
            X = scipy.linalg.lu_solve(lu, unit[np.ix_(keep, other)])
            x = scipy.linalg.lu_solve(lu, self.b[at[keep]] / norm[keep])
            lost = (wanted >= 0) & ~np.isin(wanted, columns[pivot])
            if lost.any():
                self.replaced.append(self.rows[at[keep][lost]])
            found.append((at[keep], columns[pivot], columns[other], X, x))
        if not found:
            return
        at = np.concatenate([f[0] for f in found])
        pivots = np.concatenate([f[1] for f in found])
        start = np.cumsum([0, *(f[0].size for f in found)])
        widths = [f[2].size for f in found]
        X = coo_matrix(
            (
                np.concatenate([f[3].ravel() for f in found]),
                (
                    np.repeat(np.arange(start[-1]), np.repeat(widths, np.diff(start))),
                    np.concatenate([np.tile(f[2], f[0].size) for f in found]),
                ),
            ),
            shape=(at.size, self.n),
        ).tocsr()
        self._use(at, pivots, X, np.concatenate([f[4] for f in found]), None, None, np.zeros(m, dtype=bool))


def _without(A, columns: np.ndarray) -> csr_matrix:
    """Return A without its entries in ``columns`` (n,) bool."""
    A = A.tocoo()
    keep = ~columns[A.col] & (A.data != 0.0)
    return csr_matrix((A.data[keep], (A.row[keep], A.col[keep])), shape=A.shape)


def _largest(A) -> np.ndarray:
    """Return the largest magnitude in each row."""
    return abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(A.shape[0])


def _clean(A, size: np.ndarray) -> csr_matrix:
    """Return A without entries at the round-off of the ``size`` of its rows."""
    A = A.tocoo()
    keep = np.abs(A.data) > _DUST * size[A.row]
    return csr_matrix((A.data[keep], (A.row[keep], A.col[keep])), shape=A.shape)


def _pattern_product(N) -> csr_matrix:
    N = (N @ N).tocsr()
    N.eliminate_zeros()
    return N


def _blocks(B, members: np.ndarray, label: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """Return the dense diagonal blocks (g, s, s) of B for the ``members`` (g, s) of ``groups``."""
    g, s = members.shape
    place, number = np.full(B.shape[0], -1), np.full(count, -1)
    place[members] = np.arange(s)
    number[groups] = np.arange(g)
    rows = members.ravel()
    part = B[rows].tocoo()
    row = rows[part.row]
    keep = label[row] == label[part.col]
    blocks = np.zeros((g, s, s))
    np.add.at(blocks, (number[label[row[keep]]], place[row[keep]], place[part.col[keep]]), part.data[keep])
    return blocks
