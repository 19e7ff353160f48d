"""The equilibrium problem of a compiled model: residual, tangent, moves, and the signs of its eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs, dpbtrf
from scipy.sparse import csc_matrix, csr_matrix, diags

from fem_mbs import contract as C
from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import AnalysisError
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.linear.saddle import DENSE, negative_count, negative_determinant
from fem_mbs.solvers.linear.solver import LinearSolver, SingularMatrixError
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping import side_by_side, stepper
from fem_mbs.system.passages import may_pass, refuse_passages

__all__ = ["COUNTED", "UNSYMMETRIC", "Problem"]

_DIFFERENCE = 1e-5  # of the load factor, where motions follow it
_ROUND_OFF = 8.0 * 2.0**-52
_LOOSE = 1e-13  # stiffness against the load, over that of the parts, that counts as none
COUNTED = 5000  # equations up to which negative eigenvalues are counted unasked
_DENSE = 40  # equations up to which all eigenvalues are found for that
_FAR = 10.0  # displacement over the model's size, or rotation, beyond which a tangent is useless
UNSYMMETRIC = 1e-6  # skew share of the stiffness beyond which a warning names it
_NEAR = 1e-3  # displacement over the model's size, or rotation, beyond which a tangent does not estimate the round-off
_ZERO = 1e-12  # eigenvalue of the scaled stiffness that counts as zero


class Problem:
    """The problem that `fem_mbs.solvers.equilibria.continuation` solves; unknowns are the equations of the system."""

    def __init__(self, compiled: CompiledModel, stepping: Stepping, set_factor, motions: bool):
        self.system, self.stepping = compiled.system, stepping
        self.set, self.motions = set_factor, motions
        arrays = self.system.system
        self.unknown = arrays.unknown
        kind = arrays.kind[self.unknown]
        self.node = kind != S.MULTIPLIER
        self.moves = self.node & (kind != S.STATE)  # of what forces and displacements have work
        self.weight = np.select([kind == S.POSITION, kind == S.ROTATION], [self.system.length**-2, 1.0], 0.0)
        self.asymmetry = self.skew = 0.0  # largest so far, and of the last count
        self.force = 1.0
        self.before: np.ndarray | None = None  # time functions (1, n_fun) at the last equilibrium
        self.chunk: Chunk  # of the last equilibrium, after the first
        self.restart()
        self._passes = may_pass(self.system)
        self._lu: Any = None
        self._factored: LinearSolver | None = None  # the solver that holds factors of the last tangent
        self._noise = np.zeros(self.unknown.size)
        self._none = np.zeros(self.system.n_dof)

    @property
    def state(self) -> S.State:
        """Return the state of the stepping, whose matrix has other entries when other parts touch."""
        return self.stepping.state

    def restart(self) -> None:
        """Restart the increments from the present start of the step."""
        state, mult = self.state, self.system.system.kind == S.MULTIPLIER
        state.U[~mult] = 0.0
        state.U[mult] = state.Q[0, mult]

    def _assemble(self, job: int, factor: float) -> bool:
        self.set(factor)
        now = np.array([self.stepping.t0])
        self._funs = self.stepping.evaluate(now, now, now)
        s = self.stepping
        if self.system.callbacks or s.pairs:  # they are asked at the configuration, which the first call makes
            stepper.equilibrium(
                C.FORCE, s.kernels, self.system.system, s.ctl, self._funs[0], self.state, s.real, s.counter
            )  # fmt: skip
            s.renew_pairs()
            self.system.serve(s.ctl, self._funs[0], self.state, slopes=job == C.TANGENT)
        given = s.kernels, self.system.system, s.ctl, self._funs[0], self.state
        if side_by_side.threads_for(self.system.system.table) == 1:
            return stepper.equilibrium(job, *given, s.real, s.counter)
        stepper.equilibrium(stepper.PLACE, *given, s.real, s.counter)
        s.assemble(job, s.ctl, self._funs[0])
        return stepper.equilibrium(stepper.JUDGE, *given, s.real, s.counter)

    def residual(self, factor: float) -> tuple[np.ndarray, bool]:
        small = self._assemble(C.FORCE, factor)
        r = self.state.residual[self.unknown].copy()
        return r, bool(small or (np.abs(r) <= self._noise).all())

    def factorise(self, factor: float, stiffen: float = 0.0) -> None:
        """Factor the tangent with the springs of ``held``."""
        self._assemble(C.TANGENT, factor)
        system = self.system
        if stiffen > 0.0:
            self.state.values[system.diagonal] += self.held(stiffen)
        band, n = system.bandwidth, system.n_equations
        if system.banded:
            table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)
            size = np.abs(table).max(axis=1)
        else:
            assert system.pattern is not None
            size = np.maximum.reduceat(np.abs(self.state.values[:-1]), system.pattern[0][:-1])
        self._diagonal = np.where(self.moves, size, 0.0)
        # residual by round-off of the coordinates; a smaller one carries no information
        self._noise = _ROUND_OFF * system.length * size
        redundancy, solver = self.stepping.redundancy, self.stepping.solver
        self._factored = solver
        if solver is not None:
            try:
                redundancy.factor(solver, self.state.values[:-1])
            except SingularMatrixError as error:
                raise AnalysisError(str(error)) from None
            return
        self.state.values[system.diagonal] -= redundancy.share
        lu, pivots, info = dgbtrf(np.array(table.T, order="F"), band, band)
        if info != 0:
            raise AnalysisError(f"the tangent is singular at {system.name_of(int(self.unknown[max(info - 1, 0)]))}")
        self._lu = lu, pivots, band
        redundancy.find_null(self._solve)

    def _solve(self, b: np.ndarray) -> np.ndarray:
        if self._factored is not None:
            return self._factored.solve(b)
        lu, pivots, band = self._lu
        return dgbtrs(lu, band, band, b, pivots)[0]

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = self._solve(b)
        self.stepping.redundancy.balance(self._none, x)  # least increments of multipliers that are not determined
        return x

    def load(self, factor: float) -> np.ndarray:
        d = _DIFFERENCE if self.motions else 0.5
        after = self.residual(factor + d)[0]
        before = self.residual(factor - d)[0]
        self.set(factor)
        return (after - before) / (2.0 * d)

    def move(self, x: np.ndarray) -> bool:
        self.state.rhs[:] = x
        size_x, size_t = stepper.compose(self.system.system, self.state)
        if not max(size_x / self.system.length, size_t) <= _NEAR:
            self._noise[:] = 0.0
        return size_x <= 1e-13 * self.system.length and size_t <= 1e-13

    def increment(self) -> np.ndarray:
        return np.where(self.node, self.state.U[self.unknown], 0.0)

    def save(self) -> Any:
        s = self.state
        return [a.copy() for a in (s.Q, s.D, s.U, s.past, s.reaction, s.work, self.system.system.hist)]

    def restore(self, token: Any) -> None:
        s = self.state
        for a, b in zip((s.Q, s.D, s.U, s.past, s.reaction, s.work, self.system.system.hist), token, strict=True):
            a[:] = b
        self._noise[:] = 0.0

    def accept(self, factor: float) -> None:
        """Commit the configuration; its rows stay in ``chunk``, and works are taken from the last equilibrium to it."""
        self._assemble(C.FORCE, factor)
        s = self.stepping
        if self._passes:
            before, after = ((self.state.Q[k], self.state.D[k]) for k in (0, 1))
            refuse_passages(self.system, before, after, "in an increment")
        now = self._funs[:, :, C.T1].copy()
        self._funs[:, :, C.T0] = now if self.before is None else self.before
        self.before = now
        output = s.buffers(1, 1)
        c = s.counter
        c[S.STEP], c[S.N_FRAMES], c[S.STEP_OFFSET], c[S.FRAME_EVERY] = 0, 0, 0, 1
        stepper.accept(s.kernels, s.reports, self.system.system, self.state, output, s.ctl, self._funs[0], c, s.real)
        self.chunk = s.take(output, 1, np.array([s.t0]))
        s.step += 1
        self.state.U[self.unknown[self.node]] = 0.0
        self.state.U[self.system.system.driven] = 0.0

    # --- how far loads move, and whether an equilibrium stays ------------------------------------------------------
    def take_force(self, factor: float) -> None:
        """Store the largest force of an element at the present configuration, the unit of `held`; moments are
        divided by the model's size."""
        self.residual(factor)
        peak = self.state.peak
        self.force = float(max(peak[S.POSITION], peak[S.ROTATION] / self.system.length)) or 1.0

    def held(self, stiffen: float) -> np.ndarray:
        """Return the stiffness (n,) of springs that hold the nodes: ``stiffen`` times the largest force over the
        model's size."""
        return stiffen * self.force * self.system.length * self.weight

    def size(self) -> float:
        """Return the largest displacement over the model's size, or rotation, since the last equilibrium."""
        return float((np.abs(self.increment()) * np.sqrt(self.weight)).max(initial=0.0))

    def reach(self, factor: float, level: Callable[[float], float], sampled: float) -> float:
        """Return the motion (as `size`) that the tangent at the present configuration predicts for an increment of the
        loads.

        It is infinite where the model has unconstrained motions or is at a critical point.  ``level(part)`` sets the
        loads to a part of the increment and returns their factor.
        """
        if not self.moves.any():
            return 0.0
        try:
            here = self.residual(level(0.0))[0]
            # with what is out of balance there, as at the start of parts with prestress
            change = here + (self.residual(level(sampled))[0] - here) / sampled
            level(0.0)
            self.factorise(factor)
            forces = np.where(self.moves, change, 0.0)
            x = self.solve(-forces)
            soft, stiff = abs(float(x @ forces)), float((self._diagonal * x * x).sum())
            if not np.isfinite(stiff) or soft < _LOOSE * stiff:
                return np.inf
            if not self.moves.all():  # constraints move their unknowns even in a loose model
                x += self.solve(forces - change)
        except AnalysisError:
            return np.inf
        finally:
            level(0.0)
        x[~self.moves] = 0.0
        far = float((np.abs(x) * np.sqrt(self.weight)).max(initial=0.0))
        return far if far <= _FAR else np.inf

    def definite(self, factor: float, stiffen: float) -> bool:
        """Return whether the tangent with the springs of ``held`` has positive eigenvalues only; assumed for large
        models."""
        return self.system.n_equations > COUNTED or self.falling(factor, stiffen) == 0

    def falling(self, factor: float, stiffen: float = 0.0) -> int:
        """Return the number of negative eigenvalues of the tangent with the springs of ``held``, on the null space of
        the constraints.

        Zeros, of directions in which a model is free, do not count.
        """
        if not self.node.any():
            return 0
        self._assemble(C.TANGENT, factor)
        self.state.values[self.system.diagonal] += self.held(stiffen)
        if self.quick and self._positive():
            return 0
        K, G = self._parts()
        return negative_count(_lifted(K), G, _DENSE)

    @property
    def quick(self) -> bool:
        """Return whether a Cholesky factorisation of the band can show that no eigenvalue is negative."""
        return bool(self.system.banded and self.node.all())

    def diverging(self) -> bool:
        """Return whether the determinant of the tangent that `falling` has assembled is negative on the null space of
        the constraints: the equilibrium is unstable with any mass."""
        K, G = self._parts(whole=True)
        return negative_determinant(_lifted(K), G)

    def _positive(self) -> bool:
        """Return whether the symmetric part of the assembled band, with zeros moved up a little, is positive
        definite."""
        lower, size, _ = self._symmetric_band()
        lower[0] += _ZERO * size
        return dpbtrf(lower, lower=1)[1] == 0

    def _symmetric_band(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the lower band (band + 1, n) of the symmetric part of the assembled matrix, the largest entries (n,)
        of its columns, and the largest difference from its transpose over the largest entry."""
        band, n = self.system.bandwidth, self.system.n_equations
        table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)
        lower, apart = np.zeros((band + 1, n)), 0.0
        for d in range(band + 1):  # entry (j + d, j) stands in column j, (j, j + d) in column j + d
            below, above = table[: n - d, 2 * band + d], table[d:, 2 * band - d]
            lower[d, : n - d] = 0.5 * (below + above)
            apart = max(apart, float(np.abs(below - above).max(initial=0.0)))
        size = np.abs(table).max(axis=1)
        return lower, size, apart / (float(size.max(initial=0.0)) or 1.0)

    def negative(self, factor: float) -> int:
        self._assemble(C.TANGENT, factor)
        if self.quick and self.node.any():
            lower, _, self.skew = self._symmetric_band()
            self.asymmetry = max(self.asymmetry, self.skew)
            if dpbtrf(lower, lower=1)[1] == 0:  # as long as no pivot is negative, no eigenvalue is
                return 0
        return negative_count(*self._parts())

    def reverses(self, count: int) -> bool:
        return self.diverging() if self.skew > UNSYMMETRIC else bool(count % 2)

    def _parts(self, whole: bool = False) -> tuple[Any, Any]:
        """Return the symmetric part of the stiffness, or all of it, and the constraints' gradient: arrays of small
        models, where eigenvalues are found of arrays, or sparse matrices."""
        A = self._matrix(dense=not whole and self.system.n_equations <= DENSE)
        K, G = A[self.node][:, self.node], A[~self.node][:, self.node]
        size = abs(K).max() if K.size else 0.0
        if size:
            self.skew = float(abs(K - K.T).max() / size)
            self.asymmetry = max(self.asymmetry, self.skew)
        return (K if whole else 0.5 * (K + K.T)), G

    def _matrix(self, dense: bool) -> np.ndarray | csr_matrix:
        system, n = self.system, self.system.n_equations
        if not system.banded:
            assert system.pattern is not None
            indptr, indices = system.pattern
            A = csc_matrix((self.state.values[:-1], indices, indptr), shape=(n, n))
            return A.toarray() if dense else A.tocsr()
        band = system.bandwidth
        table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)[:, band:]
        row, column, inside = self._places
        if dense:
            A = np.zeros((n, n))
            A[row, column] = table[inside]
            return A
        entries = table[inside]
        some = entries != 0.0
        return csr_matrix((entries[some], (row[some], column[some])), shape=(n, n))

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows and columns of the entries of a banded matrix, and which of a table (n, 2 band + 1) these are."""
        band, n = self.system.bandwidth, self.system.n_equations
        row = np.arange(n)[:, None] + np.arange(-band, band + 1)
        inside = (row >= 0) & (row < n)
        column = np.broadcast_to(np.arange(n)[:, None], row.shape)
        return row[inside], column[inside], inside

    def blame(self) -> str:
        worst = int(self.stepping.counter[S.WORST])
        return self.system.name_of(worst) if worst >= 0 else "an unknown place"


def _lifted(K: Any) -> Any:
    """Return a stiffness, an array or a sparse matrix, with zeros moved up a little."""
    if isinstance(K, np.ndarray):
        return K + np.diag(_ZERO * np.abs(K).max(axis=1, initial=0.0))
    return K + diags(_ZERO * abs(K).max(axis=1).toarray().ravel())
