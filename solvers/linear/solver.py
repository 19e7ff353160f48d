r"""Sparse direct solvers for one matrix pattern with changing values: SuperLU (scipy) and CHOLMOD (scikit-sparse).

The matrix ``A`` (n, n) comes in compressed sparse columns.  It is nearly symmetric (the discrete tangent of a two-state
rule is symmetric up to the rotation within a step) and may be a KKT matrix with zero diagonals for the multipliers::

    A = [[K, H],      K: momentum rows, 2 M/h^2 + tangents,   H ~ G^T: constraint forces,
         [G, 0]]      G: constraint gradients

CHOLMOD (an extra, about three times faster) factors the symmetric *quasi-definite* neighbour

    S = (A + A^T)/2 - diag(0, delta),    delta_j = 1e-9 (G diag(K)^-1 G^T)_jj

as L D L^T, without the couplings of unknowns ``apart`` (few, with equations of another kind: state variables), which
exists for every symmetric ordering when K is positive definite (Vanderbei 1995,
doi:10.1137/0805005), so that the symbolic analysis is done once per pattern.  Iterative refinement, or flexible GMRES
(`fem_mbs.solvers.linear.krylov`) where the asymmetry is larger, then solve the true system to round-off.  Where that
contracts too slowly, or S has no factors (K singular or indefinite), SuperLU takes over, and keeps the job for the next
factorisations.  All decisions depend on the matrices alone, never on clocks: two equal sequences of calls after
`reset` give bit-equal answers.

SuperLU factors A in a symmetric ordering of A + A^T, found once per pattern, with threshold pivoting; partial pivoting
in the COLAMD order takes over where refinement shows that this was not stable.

Residuals are judged in equilibrated variables (rows and columns divided by their own scales), hence independent of the
units of the unknowns.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from functools import cache
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csc_array, csc_matrix

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distinct import distinct
from fem_mbs.solvers.linear.broyden import Broyden
from fem_mbs.solvers.linear.frames import NodeFrames
from fem_mbs.solvers.linear.krylov import flexible_gmres
from fem_mbs.solvers.linear.libraries import (
    ExactlySingular,
    LinearSolveError,
    analyse,
    cholmod_status,
    has_cholmod,
    lower_triangle,
    lu_factors,
    one_blas_thread,
)
from fem_mbs.solvers.linear.supernodal import SupernodalFactors, serves

__all__ = [
    "CholmodSolver",
    "Counts",
    "LinearSolver",
    "SingularMatrixError",
    "SuperLUSolver",
    "TurningSolver",
    "make_solver",
    "solver_names",
]

log = logging.getLogger("fem_mbs")

#: backward error |r| / (|A| |x| + |b|) aimed at, in equilibrated variables (a few units of round-off)
ROUND_OFF = 2e-15
#: backward error that is still accepted when refinement stagnates
ACCEPTED = 1e-13
#: the same in the units of the matrix, which a poor equilibration would hide
_OWN_UNITS = 1e-12
#: |A| |x| / |b| beyond which no digit of x is left: the matrix is singular to working precision
SINGULAR_GROWTH = 1e15
#: pivots of an equilibrated matrix below this are round-off
SINGULAR_PIVOT = 8e-16
#: Stiffness of an unknown, over what a constraint finds at its stiffest end, that is none: what a massless node has of
#: the forces of its constraints.
NO_STIFFNESS = 1e-10
#: relative regularisation of the multiplier block
DELTA = 1e-9
#: refinement is preferred to GMRES while the residual shrinks by this factor
REFINE_RATE = 0.1
#: GMRES steps worth one factorisation by SuperLU
MAX_KRYLOV = 30
#: factorisations left to SuperLU after CHOLMOD failed once; doubled with every failure in a row up to the second number
PATIENCE = (4, 64)
#: SuperLU calls BLAS on dense blocks large enough for threads (and slow with them) from about this size
THREADS_MATTER = 1000
#: Size of a diagonal entry, over the largest of its column, from which on SuperLU takes it as the pivot.
_THRESHOLD = 0.1


#: Rotations (p, d, d) of the rows and of the columns of parts.
Rotations = tuple[np.ndarray, np.ndarray]


class SingularMatrixError(LinearSolveError):
    """The matrix is singular to working precision or not finite; ``index`` is the equation or unknown (0 <= index < n).

    For a zero row or column it is that row or column, else the unknown with the largest part in the null vector: the
    dof that moves most without a force, or the multiplier of a redundant constraint.
    """

    def __init__(self, index: int, reason: str):
        super().__init__(f"The system matrix is singular at equation {index}: {reason}", index)
        self.reason = reason


@dataclass
class Counts:
    """Effort since construction: numeric factorisations by kind, solves, solves with the factors inside them."""

    factorisations: int = 0
    cholmod: int = 0
    superlu: int = 0
    analyses: int = 0
    solves: int = 0
    refinements: int = 0
    krylov: int = 0


class LinearSolver(Protocol):
    """Interface of a linear solver for Newton-Raphson."""

    name: str
    counts: Counts

    def factor(self, values: np.ndarray) -> None:
        """Take the entries of A, shape (nnz,), and factor it.

        Raises:
            SingularMatrixError: the matrix is singular.
        """

    def solve(self, rhs: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
        """Return x (n,) with A x = rhs.

        ``tolerance`` bounds the backward error |r| / (|A| |x| + |b|) of the equilibrated system: round-off by default;
        Newton-Raphson, which corrects itself, saves refinements with 1e-8 or so.

        Raises:
            LinearSolveError: the tolerance cannot be reached.
        """

    def reset(self) -> None:
        """Forget all knowledge of earlier matrices: the next call does what a new solver would do."""


class TurningSolver(LinearSolver, Protocol):
    """A solver whose factors are taken along by the parts that turn."""

    @property
    def keeps(self) -> bool:
        """Return whether a factorisation costs so many solutions that factors should be kept."""

    def take_frames(self, frames: NodeFrames) -> None:
        """Take the nodes of parts that turn."""

    def factor(self, values: np.ndarray, rotations: Rotations | None = None) -> None:
        """Factor as `LinearSolver.factor` does, in the frames that parts have by these rotations."""

    def approximate(self, rhs: np.ndarray, rotations: Rotations, begins: bool) -> np.ndarray:
        """Return an increment (n,) of a quasi-Newton iteration by the factors alone, which are those of a matrix at
        other rotations; ``begins``: it is the first one of a sequence, else it follows the one returned last."""


class _Pattern:
    """A fixed pattern in compressed sparse columns with its current values."""

    def __init__(
        self, n: int, indptr: np.ndarray, indices: np.ndarray, multipliers: np.ndarray | None,
        apart: np.ndarray | None = None,
    ):  # fmt: skip
        self.n = int(n)
        self.apart = np.zeros(n, dtype=bool) if apart is None else np.array(apart, dtype=bool)
        self.indptr = np.ascontiguousarray(indptr, dtype=np.int32)
        self.rows = np.ascontiguousarray(indices, dtype=np.int32)
        self.multipliers = np.zeros(n, dtype=bool) if multipliers is None else np.array(multipliers, dtype=bool)
        nnz = len(self.rows)
        if self.n < 1:
            raise ValueError("A linear system needs at least one unknown")
        if self.indptr.shape != (n + 1,) or self.indptr[0] != 0 or self.indptr[-1] != nnz:
            raise ValueError(f"indptr must have shape ({n + 1},) and run from 0 to {nnz}")
        for name, mask in (("multipliers", self.multipliers), ("apart", self.apart)):
            if mask.shape != (n,):
                raise ValueError(f"{name} must have shape ({n},), not {mask.shape}")
        if np.any(np.diff(self.indptr) < 0) or (nnz and (self.rows.min() < 0 or self.rows.max() >= n)):
            raise ValueError("indptr must not decrease and indices must be in 0 ... n - 1")
        self.cols = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.indptr))
        self.keys = self.cols.astype(np.int64) * n + self.rows  # ascending by column, then row
        if np.any(np.diff(self.keys) <= 0):
            raise ValueError("indices must ascend within each column, without duplicates")
        self.matrix = csc_array((np.zeros(nnz), self.rows, self.indptr), shape=(n, n))
        self.values = self.matrix.data

    def take(self, values: np.ndarray) -> None:
        """Copy the values of a matrix.

        Raises:
            SingularMatrixError: a value is not finite.
        """
        values = np.asarray(values, dtype=float)
        if values.shape != self.values.shape:
            raise ValueError(f"values must have shape {self.values.shape}, not {values.shape}")
        self.values[:] = values
        if not np.isfinite(self.values.sum()):  # one pass; a sum may overflow, so look again
            bad = np.flatnonzero(~np.isfinite(self.values))
            if len(bad):
                k = bad[0]
                raise SingularMatrixError(
                    int(self.rows[k]), f"its coefficient for unknown {self.cols[k]} is {self.values[k]}"
                )

    def check_zero_lines(self) -> None:
        """Raise SingularMatrixError for the first row or column without a nonzero entry."""
        size = np.abs(self.values)
        for kind, index in (("row", self.rows), ("column", self.cols)):
            empty = np.flatnonzero(np.bincount(index, weights=size, minlength=self.n) == 0.0)
            if len(empty):
                more = f" (and {len(empty) - 1} more)" if len(empty) > 1 else ""
                raise SingularMatrixError(int(empty[0]), f"all entries of its {kind} are zero{more}")


class _Refined(ABC):
    """Common part: solve with approximate factors, corrected on the true matrix until round-off.

    A subclass provides ``_apply(b)`` (solve with the factors) and sets ``_row``, ``_col`` (n,): the equilibrated matrix
    is ``diag(_row) A diag(_col)``, and ``_norm``, the largest row sum of its absolute values (of the first matrix after
    `reset`: a yardstick that barely changes); ``_own_norm`` is that of A itself.
    """

    name = ""

    def __init__(self, pattern: _Pattern):
        self._p = pattern
        self.counts = Counts()
        self._factored = False
        self._row = self._col = np.ones(pattern.n)
        self._norm = self._own_norm = 0.0

    @abstractmethod
    def factor(self, values: np.ndarray) -> None:
        """Factor as `LinearSolver.factor` says."""

    @abstractmethod
    def solve(self, rhs: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
        """Solve as `LinearSolver.solve` says."""

    @abstractmethod
    def reset(self) -> None:
        """Reset as `LinearSolver.reset` says."""

    def _right_side(self, rhs: np.ndarray) -> np.ndarray:
        if not self._factored:
            raise RuntimeError("solve() was called before factor()")
        b = np.asarray(rhs, dtype=float)
        if b.shape != (self._p.n,):
            raise ValueError(f"rhs must have shape ({self._p.n},), not {b.shape}")
        if not np.isfinite(b.sum()) and not np.all(np.isfinite(b)):
            i = int(np.flatnonzero(~np.isfinite(b))[0])
            raise LinearSolveError(f"The right-hand side of equation {i} is {b[i]}", i)
        return b

    def _set_norm(self) -> None:
        p = self._p
        size = np.abs(p.values) * self._col[p.cols]
        self._norm = float((np.bincount(p.rows, weights=size, minlength=p.n) * self._row).max())
        self._own_norm = float(np.bincount(p.rows, weights=np.abs(p.values), minlength=p.n).max())

    def _error(self, r: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
        """Return the normwise backward error of the equilibrated system (Rigal & Gaches 1967)."""
        bound = self._norm * float(np.abs(x / self._col).max()) + float(np.abs(b * self._row).max())
        return float(np.abs(r * self._row).max()) / bound if bound > 0.0 else 0.0

    def _own_error(self, r: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
        """Return the normwise backward error of the system in its own units."""
        bound = self._own_norm * float(np.abs(x).max()) + float(np.abs(b).max())
        return float(np.abs(r).max()) / bound if bound > 0.0 else 0.0

    def _grown(self, x: np.ndarray, b: np.ndarray) -> int | None:
        """Return an unknown that is out of all proportion, so that x is a null vector, else None."""
        y = np.abs(x / self._col)
        i = int(y.argmax())
        if not np.isfinite(y[i]) or self._norm * y[i] > SINGULAR_GROWTH * float(np.abs(b * self._row).max()):
            return i
        return None

    @abstractmethod
    def _apply(self, b: np.ndarray) -> np.ndarray:
        """Return the solution with the factors."""

    def _refine(self, x: np.ndarray, r: np.ndarray, b: np.ndarray, error: float, tolerance: float, steps: int):
        """Refine a solution while this contracts well, and return x, r, error and the rate of the last step."""
        rate = 0.0
        for _ in range(steps):
            if error <= tolerance or rate > REFINE_RATE:
                break
            x_new = x + self._apply(r)
            r_new = b - self._p.matrix @ x_new
            error_new = self._error(r_new, x_new, b)
            self.counts.refinements += 1
            rate = error_new / error
            if not rate < 1.0:  # stagnation at round-off, divergence or NaN: keep the better one
                break
            x, r, error = x_new, r_new, error_new
        return x, r, error, rate


class SuperLUSolver(_Refined):
    """SuperLU through scipy, in an equilibrated and, from the second matrix on, permuted form."""

    name = "superlu"

    def __init__(self, pattern: _Pattern):
        super().__init__(pattern)
        self.reset()

    def reset(self) -> None:
        """Reset as `LinearSolver.reset` says.  The ordering stays, but the first matrix is factored unpermuted."""
        self._order: np.ndarray | None = None  # position in the factors -> unknown
        self._check_pivots = True
        self._norm = 0.0

    def check_pivots(self) -> None:
        """Look for vanishing pivots in the next factorisation."""
        self._check_pivots = True

    def factor(self, values: np.ndarray) -> None:
        """Factor as `LinearSolver.factor` says."""
        self._factored = False
        self._p.take(values)
        if self._norm == 0.0:
            self._equilibrate()
        self._factor()
        self._factored = True

    def _equilibrate(self) -> None:
        """Set row and column scales by repeated division by the square root of the largest entry (Ruiz 2001).

        K is scaled first, then the multipliers (and massless dofs) to match, since their units are independent of the
        stiffness.  The logarithms of the largest entries halve in each round: six rounds suffice for units 1e12 apart.
        The scales are kept for the matrices that follow, until one of those is not solved well with them.
        """
        p = self._p
        p.check_zero_lines()
        size = np.abs(p.values)
        starts = p.indptr[:-1]

        def largest(scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            row = np.zeros(p.n)
            np.maximum.at(row, p.rows, scaled)
            return row, np.maximum.reduceat(scaled, starts)

        self._row, self._col = np.ones(p.n), np.ones(p.n)
        stiffness = np.where(p.multipliers[p.rows] | p.multipliers[p.cols], 0.0, size)
        if p.multipliers.any():
            own, _ = largest(stiffness)
            coupling = np.flatnonzero(p.multipliers[p.rows] & ~p.multipliers[p.cols])
            weak = _without_stiffness(own, p.rows[coupling], p.cols[coupling], size[coupling])
            stiffness[weak[p.rows] | weak[p.cols]] = 0.0
        for _ in range(6):
            row, col = largest(stiffness * self._row[p.rows] * self._col[p.cols])
            self._row[row > 0.0] /= np.sqrt(row[row > 0.0])
            self._col[col > 0.0] /= np.sqrt(col[col > 0.0])
        if p.multipliers.any():
            no_row, no_col = row == 0.0, col == 0.0
            row, col = largest(size * self._row[p.rows] * self._col[p.cols])
            self._row[no_row] /= row[no_row]
            self._col[no_col] /= col[no_col]
        self._scale = self._row[p.rows] * self._col[p.cols]
        self._set_norm()

    def _factor(self, partial_pivoting: bool = False) -> None:
        p = self._p
        self._partial = partial_pivoting
        self.counts.factorisations += 1
        self.counts.superlu += 1
        if partial_pivoting or self._order is None:
            A = self._scaled()
            self._permutation = None
            if partial_pivoting:
                self._lu = self._factors(A, "COLAMD")
            else:
                self.counts.analyses += 1
                self._lu = self._factors(A, "MMD_AT_PLUS_A", _THRESHOLD, True)
                self._set_order(np.argsort(self._lu.perm_c))
        else:
            np.multiply(p.values, self._scale, out=self._work)
            np.take(self._work, self._gather, out=self._permuted.data)
            self._permutation = self._order
            self._lu = self._factors(self._permuted, "NATURAL", _THRESHOLD, True)
        if self._check_pivots:
            # scipy copies both factors for this: only on the first matrix, and on those that CHOLMOD found suspicious.
            if np.abs(self._lu.U.diagonal()).min() < SINGULAR_PIVOT:
                raise SingularMatrixError(*self._null_vector())
            self._check_pivots = False

    def _scaled(self) -> csc_matrix:
        p = self._p
        return csc_matrix((p.values * self._scale, p.rows, p.indptr), shape=(p.n, p.n))

    def _factors(self, A: csc_matrix, *options):
        try:
            if self._p.n < THREADS_MATTER:
                return lu_factors(A, *options)
            with one_blas_thread():
                return lu_factors(A, *options)
        except ExactlySingular as error:
            raise SingularMatrixError(*self._null_vector()) from error

    def _set_order(self, order: np.ndarray) -> None:
        """Prepare the symmetric permutation of the pattern: entry k of the permuted matrix is entry _gather[k] of A."""
        p = self._p
        place = np.empty(p.n, dtype=np.int64)
        place[order] = np.arange(p.n)
        rows, cols = place[p.rows], place[p.cols]
        self._gather = np.argsort(cols * p.n + rows)
        indptr = np.zeros(p.n + 1, dtype=np.int32)
        np.cumsum(np.bincount(cols, minlength=p.n), out=indptr[1:])
        self._work = np.empty(len(p.values))
        self._permuted = csc_matrix(
            (np.empty(len(p.values)), rows[self._gather].astype(np.int32), indptr), shape=(p.n, p.n)
        )
        self._order = order

    def _null_vector(self) -> tuple[int, str]:
        """Return the unknown with the largest part in the null vector, by inverse iteration on a slightly shifted
        matrix."""
        p = self._p
        p.check_zero_lines()
        A = self._scaled()
        # A shift that keeps a KKT matrix with a semi-definite K regular: + for K, - for the multipliers.
        sign = np.where(p.multipliers, -1.0, 1.0)
        shift = csc_matrix((sign * 1e-9, (np.arange(p.n), np.arange(p.n))), shape=(p.n, p.n))
        x = np.cos(np.arange(p.n))  # any vector that is not orthogonal to the null space
        try:
            lu = lu_factors((A + shift).tocsc())
            for _ in range(3):
                x = lu.solve(x)
                x /= np.abs(x).max()
        except ExactlySingular:
            return 0, "no pivot was found"
        i = int(np.abs(x).argmax())
        if p.multipliers[i]:
            return i, "this constraint depends on others (redundant or contradictory)"
        return i, "this unknown can change without any force"

    def _apply(self, b: np.ndarray) -> np.ndarray:
        c = b * self._row
        order = self._permutation
        if order is None:
            return self._lu.solve(c) * self._col
        x = np.empty_like(c)
        x[order] = self._lu.solve(c[order])
        return x * self._col

    def solve(self, rhs: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
        """Solve as `LinearSolver.solve` says."""
        b = self._right_side(rhs)
        self.counts.solves += 1
        accepted = max(ACCEPTED, tolerance)
        x, error = self._solve(b, tolerance)
        if error > accepted and not self._partial:
            # Old scales or threshold pivoting do not suit these values: once more with new ones and partial pivoting.
            self._factored = False
            self._equilibrate()
            self._factor(partial_pivoting=True)
            self._factored = True
            x, error = self._solve(b, tolerance)
        if not error <= accepted:
            i = int(np.abs((b - self._p.matrix @ x) * self._row).argmax())
            raise LinearSolveError(
                f"The linear system was not solved: relative residual {error:.1e}, worst in equation {i}", i
            )
        return x

    def _solve(self, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
        x = self._apply(b)
        i = self._grown(x, b)
        if i is not None:
            raise SingularMatrixError(i, "the solution has no bound (singular to working precision)")
        r = b - self._p.matrix @ x
        x, _, error, _ = self._refine(x, r, b, self._error(r, x, b), tolerance, steps=5)
        return x, error


def _without_stiffness(k: np.ndarray, rows: np.ndarray, cols: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of unknowns whose positive stiffness k (n,) counts as none.

    Seen through the entries g of their constraints (multipliers' ``rows``, unknowns' ``cols``) it is below
    `NO_STIFFNESS` times that of the stiffest end of a constraint.
    """
    weak = np.zeros(k.size, bool)
    g = np.abs(g)
    largest = np.zeros(k.size)
    np.maximum.at(largest, rows, g)
    some = np.flatnonzero((k[cols] > 0.0) & (g > 1e-6 * largest[rows]))  # (others are round-off, and no end)
    if some.size:
        stiffness = k[cols[some]] / g[some] ** 2
        stiffest = np.zeros(k.size)
        np.maximum.at(stiffest, rows[some], stiffness)
        weak[cols[some[stiffness < NO_STIFFNESS * stiffest[rows[some]]]]] = True
    return weak


class CholmodSolver(_Refined):
    """L D L^T of the quasi-definite neighbour by CHOLMOD, corrected on the true matrix; SuperLU where that fails."""

    name = "cholmod"

    def __init__(self, pattern: _Pattern):
        super().__init__(pattern)
        self._ldl: Any = None
        self._lu = SuperLUSolver(pattern)
        self._lu.counts = self.counts
        p, n = pattern, pattern.n
        # Lower triangle of A + A^T with a full diagonal; entry k of S is (A[first_k] + A[second_k]) / 2, where the
        # index nnz stands for an entry that A does not have.
        lower = distinct(
            np.concatenate(
                [
                    np.minimum(p.cols, p.rows).astype(np.int64) * n + np.maximum(p.cols, p.rows),
                    np.arange(n, dtype=np.int64) * (n + 1),
                ]
            )
        )
        cols, rows = lower // n, lower % n
        indptr = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(np.bincount(cols, minlength=n), out=indptr[1:])
        self._first = self._find(lower)
        self._second = self._find(rows * n + cols)
        self._S = lower_triangle(np.zeros(len(lower)), rows.astype(np.int32), indptr)
        self._diagonal = indptr[:-1]  # the diagonal is the first entry of each column of a lower triangle
        self._padded = np.zeros(len(p.rows) + 1)
        # Entries that couple a multiplier (row or column) with an ordinary unknown.
        mask = p.multipliers
        coupling = np.flatnonzero(mask[rows] != mask[cols])
        swap = mask[cols[coupling]]
        self._coupling = coupling
        self._g_row = np.where(swap, cols[coupling], rows[coupling])
        self._g_col = np.where(swap, rows[coupling], cols[coupling])
        self._m = np.flatnonzero(mask)
        self._cut = np.flatnonzero((rows != cols) & (p.apart[rows] | p.apart[cols]))
        self._apart = np.flatnonzero(p.apart)
        self._blocks: SupernodalFactors | None = None
        self._frames: NodeFrames | None = None
        self._turned: Rotations | None = None
        self._broyden = Broyden()
        self.reset()

    def _find(self, keys: np.ndarray) -> np.ndarray:
        p = self._p
        at = np.searchsorted(p.keys, keys)
        at[at == len(p.keys)] = 0
        return np.where(p.keys[at] == keys, at, len(p.keys)) if len(p.keys) else at

    def reset(self) -> None:
        """Reset as `LinearSolver.reset` says."""
        self._wait = 0  # factorisations left to SuperLU
        self._patience = PATIENCE[0]
        self._probe = True
        self._norm = 0.0
        self._supernodal = serves(self._p.n, len(self._m))
        self._lu.reset()

    @property
    def keeps(self) -> bool:
        """Return whether factors should be kept, as `TurningSolver.keeps` says."""
        return serves(self._p.n, len(self._m))

    def take_frames(self, frames: NodeFrames) -> None:
        """Take frames as `TurningSolver.take_frames` says."""
        self._frames = frames

    def factor(self, values: np.ndarray, rotations: Rotations | None = None) -> None:
        """Factor as `TurningSolver.factor` says."""
        self._factored = False
        self._turned = rotations if self._frames is not None else None
        self._p.take(values)
        if self._wait > 0:
            self._wait -= 1
            self._lu.factor(values)
            self._use_lu = True
        else:
            self._use_lu = not (self._factor_ldl() and self._probed())
            if self._use_lu:
                self._give_up()
        self._factored = True

    def _probed(self) -> bool:
        """Return whether the factors of the first matrix serve for any right-hand side.

        The regularisation hides redundant constraints, and vanishing pivots a mechanism, as long as the right-hand side
        happens to be consistent; a general one does not converge, and SuperLU then says what is singular.
        """
        if not self._probe:
            return True
        self._probe = False
        return self._corrected(np.cos(1.7 * np.arange(self._p.n)) / self._row, ROUND_OFF) is not None

    def _give_up(self) -> None:
        """Factor the current matrix by SuperLU, which also factors the next ones."""
        self._wait, self._patience = self._patience, min(2 * self._patience, PATIENCE[1])
        self._lu.check_pivots()
        self._lu.factor(self._p.values)
        self._use_lu = True

    def _factor_ldl(self) -> bool:
        p = self._p
        padded, S = self._padded, self._S.data
        padded[:-1] = p.values
        if self._frames is not None and self._turned is not None:
            self._frames.matrix(padded, *self._turned)
        np.take(padded, self._first, out=S)
        S += padded[self._second]
        S *= 0.5
        if self._apart.size:
            S[self._cut] = 0.0
            own = np.abs(S[self._diagonal[self._apart]])
            S[self._diagonal[self._apart]] = np.where(own > 0.0, own, 1.0)
        diagonal = S[self._diagonal]
        if self._m.size:
            scale = k = np.where(p.multipliers, 1.0, diagonal)
            g = S[self._coupling]
            k[(k > 0.0) & (k < 1e-150)] = 0.0  # next to nothing has no reciprocal
            if not k.min() > 0.0 and not self._strengthen(k, g):
                return False  # K is not positive definite
            schur = np.bincount(self._g_row, weights=g * g / k[self._g_col], minlength=p.n)[self._m]
            if not schur.min() > 0.0:
                return False  # a constraint without a gradient
            S[self._diagonal[self._m]] -= DELTA * schur  # relative, so that it means the same in all units
            scale[self._m] = schur
        else:
            scale = diagonal
            if not scale.min() > 0.0:
                return False
        self._row = self._col = 1.0 / np.sqrt(scale)
        if self._norm == 0.0:
            self._set_norm()
        self.counts.factorisations += 1
        self.counts.cholmod += 1
        if self._supernodal and self._factor_blocks():
            return True
        if self._ldl is None:
            self._ldl = analyse(self._S, supernodal=False, quiet=False)
            self.counts.analyses += 1
        try:
            self._ldl.factor(self._S)
        except LinearSolveError:  # a pivot is zero
            return False
        self._factors = self._ldl
        return True

    def _factor_blocks(self) -> bool:
        """Factor S by supernodes; where its K is not positive definite, leave it and the following ones to L D L^T."""
        if self._blocks is None:
            self._blocks = SupernodalFactors(self._S.indices, self._S.indptr, self._p.multipliers)
            self.counts.analyses += 1
        try:
            self._blocks.factor(self._S.data)
        except LinearSolveError:
            self._supernodal = False
            return False
        self._factors = self._blocks
        return True

    def _strengthen(self, k: np.ndarray, g: np.ndarray) -> bool:
        """Give unknowns without stiffness of their own, as those of a massless node that follows others, a little.

        Their constraints give them the stiffness k = max g^2/s, with the compliance s at the other end.  A small part
        of k on the diagonal makes the matrix quasi-definite, and the correction of solutions removes its effect.

        Returns:
            False if no constraint holds them, or if their own stiffness is negative by more than a tenth of k.
        """
        S, weak = self._S.data, k <= 0.0
        ends = k[self._g_col]
        firm = ends > 0.0
        compliance = np.bincount(self._g_row[firm], weights=g[firm] ** 2 / ends[firm], minlength=k.size)
        held = np.flatnonzero(~firm & (compliance[self._g_row] > 0.0))
        stiffness = np.zeros(k.size)
        np.maximum.at(stiffness, self._g_col[held], g[held] ** 2 / compliance[self._g_row[held]])
        if not np.all((stiffness[weak] > 0.0) & (-k[weak] <= 0.1 * stiffness[weak])):
            return False
        S[self._diagonal[weak]] = DELTA * stiffness[weak]
        k[weak] = stiffness[weak]
        return True

    def _apply(self, b: np.ndarray) -> np.ndarray:
        return self._by_factors(b, self._turned)

    def _by_factors(self, b: np.ndarray, rotations: Rotations | None) -> np.ndarray:
        if rotations is None or self._frames is None:
            return self._factors.solve(b)
        return self._frames.back(self._factors.solve(self._frames.into(b, rotations[0])), rotations[1])

    def approximate(self, rhs: np.ndarray, rotations: Rotations, begins: bool) -> np.ndarray:
        """Solve as `TurningSolver.approximate` says."""
        if self._use_lu or self._turned is None:
            return self.solve(rhs)
        self.counts.solves += 1
        x = self._by_factors(self._right_side(rhs), rotations)
        if begins:
            self._broyden.restart()
        return self._broyden.step(x, self._col)

    def _grown(self, x: np.ndarray, b: np.ndarray) -> int | None:
        if self._m.size:
            # Multipliers that the regularisation alone keeps from growing: redundant constraints.
            size = np.abs(x[self._m] / self._col[self._m]).max()
            if DELTA * size > 0.1 * np.abs(b * self._row).max():
                return int(self._m[0])
        return super()._grown(x, b)

    def solve(self, rhs: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
        """Solve as `LinearSolver.solve` says."""
        b = self._right_side(rhs)
        if not self._use_lu:
            x = self._corrected(b, tolerance)
            if x is not None:
                self.counts.solves += 1
                self._patience = PATIENCE[0]
                return x
            self._factored = False
            self._give_up()
            self._factored = True
        return self._lu.solve(b, tolerance)

    def _corrected(self, b: np.ndarray, tolerance: float) -> np.ndarray | None:
        """Solve by iterative refinement, then by GMRES; return None where neither converges."""
        x = self._apply(b)
        if self._grown(x, b) is not None:
            return None
        r = b - self._p.matrix @ x
        x, r, error, rate = self._refine(x, r, b, self._error(r, x, b), tolerance, steps=8)
        left = MAX_KRYLOV
        while error > tolerance and left > 0:
            if error <= ACCEPTED and rate > REFINE_RATE:
                break  # round-off of an ill-conditioned matrix
            x, steps, arrived = self._gmres(x, r, left, tolerance / error)
            left -= steps
            r = b - self._p.matrix @ x
            before, error = error, self._error(r, x, b)
            rate = error / before
            if not (arrived and rate < 0.5):
                break
        if error > max(ACCEPTED, tolerance) or self._grown(x, b) is not None:
            return None
        # Scales that do not suit the matrix hide errors of single rows, as where entries between multipliers exceed
        # those that the stiffness gives them.
        return x if self._own_error(r, x, b) <= max(_OWN_UNITS, tolerance) else None

    def _gmres(self, x: np.ndarray, r: np.ndarray, steps: int, reduction: float) -> tuple[np.ndarray, int, bool]:
        """Do one cycle of flexible GMRES in equilibrated variables; return the new x, the steps taken, and whether
        it arrived."""
        scale = self._row
        d, steps, arrived = flexible_gmres(
            lambda z: (self._p.matrix @ z) * scale, lambda v: self._apply(v / scale), r * scale, steps, reduction
        )
        self.counts.krylov += steps
        return x + d, steps, arrived


@cache
def _notice() -> None:
    """Log once per process that the slower solver is in use."""
    log.warning("Linear solver: %s", cholmod_status()[1])


_SOLVERS = {"superlu": SuperLUSolver, "cholmod": CholmodSolver}


def solver_names() -> tuple[str, ...]:
    """Return the names that `make_solver` knows besides "auto"."""
    return tuple(_SOLVERS)


def make_solver(
    n: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    multipliers: np.ndarray | None = None,
    prefer: str = "auto",
    apart: np.ndarray | None = None,
) -> LinearSolver:
    """Return a solver for n equations whose matrix has this pattern (compressed sparse columns, sorted, no duplicates).

    Args:
        indptr, indices: (n + 1,) and (nnz,), the pattern.
        multipliers: (n,) bool, the unknowns that are Lagrange multipliers.
        apart: (n,) bool, the few unknowns whose equations are no forces: S leaves out their couplings.
        prefer: "auto" (CHOLMOD if it is installed, else SuperLU with one notice in the log), "superlu" or "cholmod".

    Raises:
        ModelError: an unknown or missing solver.
        ValueError: a bad pattern.
    """
    if prefer != "auto" and prefer not in _SOLVERS:
        raise ModelError(f'Linear solver "{prefer}" is not known; choose "auto", {" or ".join(map(repr, _SOLVERS))}')
    if prefer == "auto":
        prefer = "cholmod" if has_cholmod() else "superlu"
        if prefer == "superlu":
            _notice()
    return _SOLVERS[prefer](_Pattern(n, indptr, indices, multipliers, apart))
