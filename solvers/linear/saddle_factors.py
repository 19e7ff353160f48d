"""Factors of unsymmetric saddle points, real or complex, for solutions with the matrix and with its transpose."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.sparse import bmat, csc_matrix, diags

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.linear.factors import Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import Effort, ExactlySingular, LinearSolveError, has_cholmod, lu_factors
from fem_mbs.solvers.linear.positive_part import ROUND_OFF, PositivePart
from fem_mbs.solvers.linear.solver import LinearSolver, make_solver

__all__ = ["SINGULAR_GROWTH", "SaddleFactors", "SingularShift", "supernodal"]

#: |A| |x| / |b| (norms) of equilibrated matrices beyond which a shift counts as an eigenvalue.
SINGULAR_GROWTH = 1e13
#: Backward error of a solution with the factors that is accepted; that of rough ones where they take iterations.
_ACCEPTED, _ROUGH = 1e-11, 1e-12
_REFINEMENTS = 3
#: Part of the diagonal which, added, makes singular matrices positive definite.
_NEARLY = 1e-10
#: Rows from which on real matrices go to CHOLMOD; without constraints, where its supernodal factors serve.
LARGE, SUPERNODAL = 20_000, 5_000
#: How many times as many unsymmetric matrices have, without and with constraints, for the simplicial ones, and what
#: counts as symmetric.
_UNSYMMETRIC, _CONSTRAINED, _SKEW = 2, 3, 1e-10
_SEED = 5


class SingularShift(AnalysisError):
    """The shifted matrix is singular to working precision: the shift is an eigenvalue, or the pencil is singular."""


def supernodal(n: int, m: int) -> bool:
    """Return whether the symmetric parts of real matrices of n rows with m constraints get CHOLMOD's supernodal
    factors, where they are positive definite."""
    return not m and n > min(SUPERNODAL, LARGE)


class SaddleFactors:
    """Factors of [[A, G^T], [G, 0]]: A (n, n) unsymmetric, real or complex, G (m, n) of full rank; other ``columns``
    (n, m) may stand for G^T.

    SuperLU: an ordering of the symmetrised pattern with threshold pivoting first; where solutions are not accurate,
    partial pivoting.  Of large real matrices CHOLMOD, where it is installed, factors the symmetric part: of more than
    `SUPERNODAL` rows without constraints by its supernodal L L^T if that is positive definite, the fast one for parts
    (`fem_mbs.solvers.linear.positive_part`); of more than `LARGE` rows, unsymmetric ones of twice as many (three times,
    with constraints), by the L D L^T of `fem_mbs.solvers.linear.solver`, quasi-definite if A is positive.
    Refinement or GMRES on the matrix itself, or on its transpose, make solutions exact.

    Raises:
        SingularShift: the matrix is singular to working precision: the norm of the inverse, over that of the matrix, is
            beyond ``limit``; or, where its shift is ``movable``, CHOLMOD has found it not to be positive definite:
            it may be singular, which another factorisation would tell, but beside it none is needed.
    """

    def __init__(self, A, G, effort: Effort, columns=None, limit: float = SINGULAR_GROWTH, movable: bool = False):
        self.n, self.m, self.effort, self.limit = A.shape[0], G.shape[0], effort, limit
        columns = G.T if columns is None else columns
        self.N = csc_matrix(bmat([[A, columns], [G, None]])) if self.m else csc_matrix(A)
        self.dtype = self.N.dtype
        self.iterated: list[LinearSolver] | None = None
        self.positive: PositivePart | None = None
        if self.dtype == float and has_cholmod():
            if supernodal(self.n, self.m):
                self._factor_positive_part(movable)
            if self.positive is None and self._beyond_superlu():
                self._factor_symmetric_part()
        if self.positive is None and self.iterated is None:
            self._factor_all()

    def _beyond_superlu(self) -> bool:
        """Return whether to factor the symmetric part, with which solutions of unsymmetric matrices take iterations."""
        size = self.n + self.m
        if size <= LARGE or size > (_CONSTRAINED if self.m else _UNSYMMETRIC) * LARGE:
            return size > LARGE
        return bool(abs(self.N - self.N.T).max() <= _SKEW * abs(self.N).max())

    def _factor_positive_part(self, movable: bool) -> None:
        """Factor the symmetric part by a supernodal L L^T, where it is positive definite and there are no constraints.

        Raises:
            SingularShift: it is positive semi-definite up to rounding, as of a part that can move freely.
        """
        if self.m or not self.N.diagonal().min() > 0.0:
            return
        self.effort.factorisations += 1
        with suppress(LinearSolveError):  # and let go of what the attempt holds
            self.positive = PositivePart(self.N)
        if self.positive is not None:
            # pivots of rounding may be positive
            b = np.random.default_rng(_SEED).standard_normal(self.n)
            growth = self.positive.size * np.abs(self.positive.factors.solve(b)).max() / np.abs(b).max()
            if not growth <= self.limit:
                raise SingularShift("The shifted matrix is singular to working precision")
            return
        if movable:
            raise SingularShift("The shifted matrix is not positive definite")
        S = 0.5 * (self.N + self.N.T)
        self.effort.factorisations += 1
        try:
            PositiveFactors(Pencil(S, diags(S.diagonal())), -_NEARLY)
        except LinearSolveError:
            return
        raise SingularShift("The shifted matrix is singular to working precision")

    def _factor_symmetric_part(self) -> None:
        """Factor the matrix by CHOLMOD, and its transpose where that differs."""
        N = self.N + csc_matrix((np.zeros(self.n + self.m), (np.arange(self.n + self.m),) * 2), shape=self.N.shape)
        both = [N] if abs(N - N.T).max() <= 1e-15 * abs(N).max() else [N, csc_matrix(N.T)]
        made = []
        for a in both:
            a.sum_duplicates()
            solver = make_solver(a.shape[0], a.indptr, a.indices, np.arange(a.shape[0]) >= self.n, "cholmod")
            try:
                solver.factor(a.data)
            except LinearSolveError:
                return  # singular, or too far from definite: SuperLU finds out
            finally:
                self.effort.factorisations += solver.counts.factorisations
            made.append(solver)
            if solver.counts.superlu:
                return  # CHOLMOD could not; one factorisation by SuperLU serves the transpose as well
        self.iterated = made

    def _factor_all(self) -> None:
        b = np.random.default_rng(_SEED).standard_normal(self.n + self.m)
        size = abs(self.N).sum(axis=1).max()
        error = np.inf
        for order, threshold in (("MMD_AT_PLUS_A", 0.1), ("COLAMD", 1.0)):
            self._factor(order, threshold)
            self.steps = 0
            while True:
                x = self._solve(b.astype(self.dtype), False)
                error = self._error(x, b)
                if error <= ROUND_OFF or self.steps == _REFINEMENTS or not np.isfinite(error):
                    break
                self.steps += 1
            self.growth = float(size * np.abs(x).max() / np.abs(b).max())
            if error <= _ACCEPTED or self.growth > self.limit:
                break
        if not self.growth <= self.limit or not np.isfinite(error):
            raise SingularShift("The shifted matrix is singular to working precision")
        if not error <= _ACCEPTED:
            raise AnalysisError(f"Complex modes: the shifted matrix cannot be factored well (error {error:.1e})")

    def _factor(self, order: str, threshold: float) -> None:
        self.effort.factorisations += 1
        try:
            self.lu = lu_factors(self.N, order, threshold)
        except ExactlySingular:
            raise SingularShift("The shifted matrix is exactly singular") from None

    def _error(self, x: np.ndarray, b: np.ndarray) -> float:
        bound = (abs(self.N) @ np.abs(x)).max() + np.abs(b).max()
        return float(np.abs(self.N @ x - b).max() / bound)

    def _solve(self, b: np.ndarray, transposed: bool, rough: bool = False) -> np.ndarray:
        if self.positive is not None:
            x = self.positive.solve(b.reshape(b.shape[0], -1), transposed, _ROUGH if rough else ROUND_OFF)
            self.effort.corrections += self.positive.corrections
            self.positive.corrections = 0
            if self.positive.error <= _ACCEPTED:
                return x.reshape(b.shape)
            self.positive = None  # far from symmetric, it seems
            self._factor_all()
        if self.iterated is not None:
            solver = self.iterated[-1 if transposed else 0]
            before = solver.counts.refinements + solver.counts.krylov
            x = np.column_stack([solver.solve(c) for c in b.reshape(b.shape[0], -1).T]).reshape(b.shape)
            self.effort.corrections += solver.counts.refinements + solver.counts.krylov - before
            return x
        kind = "T" if transposed else "N"
        x = self.lu.solve(b, kind)
        if self.steps == 0:
            return x
        N = self.N.T if transposed else self.N
        for _ in range(self.steps):
            x = x + self.lu.solve(b - N @ x, kind)
        return x

    def nearly(self, b: np.ndarray) -> np.ndarray:
        """Return H^-1 b (n, k) with the symmetric part H of the matrix, of which alone there are factors (`positive`
        is not None)."""
        assert self.positive is not None
        self.effort.solves += b.shape[1]
        return self.positive.nearly(b)

    def solve(self, b: np.ndarray, transposed: bool = False, rough: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return x (n,) or (n, k) and y (m,) or (m, k) of A x + G^T y = b, G x = 0; A^T instead of A if ``transposed``.

        ``rough``: where solutions take iterations, these may end some digits before rounding."""
        if not self.m:
            return self.solve_full(b, transposed, rough), np.zeros((0, *b.shape[1:]))
        full = np.zeros((self.n + self.m, *b.shape[1:]), np.result_type(b, self.dtype))
        full[: self.n] = b
        x = self.solve_full(full, transposed, rough)
        return x[: self.n], x[self.n :]

    def solve_full(self, b: np.ndarray, transposed: bool = False, rough: bool = False) -> np.ndarray:
        """Return the solution of the whole system for any right side (n + m,) or (n + m, k)."""
        columns = 1 if b.ndim == 1 else b.shape[1]
        self.effort.solves += columns
        if np.iscomplexobj(b) and not np.issubdtype(self.dtype, np.complexfloating):
            parts = b.reshape(self.n + self.m, -1)
            x = self._solve(np.hstack((parts.real, parts.imag)), transposed, rough)
            return (x[:, :columns] + 1j * x[:, columns:]).reshape(b.shape)
        return self._solve(b, transposed, rough)
