"""Linear response of a model about a static state: its matrices there, and constraints eliminated from them.

The tangent at the state comes from the same kernels as every step: stiffness with its geometric part, the share of the
multipliers, and that of loads which turn with the model.  Joints and equations are rows of constraints in it, which are
eliminated exactly (`fem_mbs.solvers.constraint_equations`), so that the problems left are symmetric and sparse, of the
size of what can move on its own.  Of large mechanisms, in which everything hangs together by joints, that would be a
dense matrix; they keep their constraints (`fem_mbs.solvers.eigen`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

from fem_mbs import contract as C
from fem_mbs.analysis.initial import function_jets
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.redundancy import constraint_labels, find_constraints, sentences
from fem_mbs.assembly import Block
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.matrices import Matrices, Picked
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S
from fem_mbs.solvers.constraint_equations import ConstraintConflict, Elimination, eliminate
from fem_mbs.solvers.eigen import Saddle
from fem_mbs.solvers.factors import NotPositiveDefinite, Pencil, PositiveFactors
from fem_mbs.solvers.linear import LinearSolveError

__all__ = ["Linearised", "Response"]

#: Of shapes in figures: largest displacement over the size of the model.
_SHAPE = 0.1
#: Constraints over unknowns of a large mechanism, and its size.
_MECHANISM, _LARGE = 0.25, 1500
_REFINEMENTS = 2
_LOOSE = "the model is loose; hold it, so that every motion strains something"


@dataclass(frozen=True)
class Response:
    """Small displacements under loads: increments ``u`` (N,) of positions and rotations, ``y`` (m,) of the multipliers'
    unknowns, the loads' functions ``mask`` (n_fun,) at their ``values`` (n_fun,), whether the weight is among them, and
    ``forces`` (N,) of supports and motions on the model."""

    u: np.ndarray
    y: np.ndarray
    mask: np.ndarray
    values: np.ndarray
    weight: bool
    forces: np.ndarray


class Linearised:
    """Stiffness, mass, damping and constraints of a model at a state, under loads at their levels.

    Problems live on independent unknowns q (n_q,), u = T q over the dofs of nodes.  ``preload``: a linear response from
    the state; everything is then linear about the place displaced by it, under the stresses that the linear solution
    has there (not those of the strains of second order which large displacements would add), its loads and
    multipliers.  Elements with linear kinematics know no other place: they get the stresses only.
    """

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float, loading: Loading, matrices: Matrices | None = None,
        preload: Response | None = None,
    ):  # fmt: skip
        system = compiled.system
        self.compiled, self.system, self.loading, self.t = compiled, system, loading, t
        self.first = first = system.first_multiplier
        self.matrices = matrices or Matrices(system)
        self.owned = np.flatnonzero(system.system.equation[:first] >= 0)
        self.multipliers = np.arange(first, system.n_dof - 1)
        self.values = function_jets(compiled, t)[:, 0]
        self.loads = np.asarray(compiled.loads, bool)
        self.state = system.initial_state()
        self.incremental = preload is not None or not np.array_equal(state.Q[0], self.state.Q[0])
        self.state.Q[:], self.state.D[:] = state.Q[0], state.D[0]
        self.state.U[self.multipliers] = state.Q[0, self.multipliers]
        self.preload = preload
        self.ctl = self._control(stiffness=2.0)
        self._stressed: dict[int, np.ndarray] = {}
        if preload is not None:
            self._preload(preload)
        self.residual, tangent = self.assemble(self.ctl, self._fun())
        self._skewed = self.matrices.skewed
        self._tangent: csr_matrix | None = tangent
        rows = tangent[self.multipliers][:, :first] if self.multipliers.size else csr_matrix((0, first))
        self.constraints = vstack((rows, system.sharing()[:, :first])).tocsr()
        m = self.constraints.shape[0]
        self.eliminated = not (m > _MECHANISM * self.owned.size and self.owned.size > _LARGE)
        self.asymmetry = 0.0
        self._positive: PositiveFactors | None = None

    def _preload(self, response: Response) -> None:
        """Go to the displaced place of a response, with the stresses and loads that it has there.

        Elements that know large displacements have a strain of second order there, which the stresses of a linear
        solution do not hold: it is taken out again.
        """
        start, moved = self.state, self.moved(response.u)
        before = self._outputs(start, self._blocks(stresses=True), stresses=True)
        changes = self.output_changes(response.u, stresses=True)
        there = self._outputs(moved, list(changes), stresses=True)
        for i, change in changes.items():
            block = self.system.blocks[i]
            extra = before[i] + change - there[i]
            if "nonlinear" in block.type.par:
                small = block.par[:, block.type.column("nonlinear")] == 0.0
                extra[small] = change[small]
                extra += self._heat(i, self._fun(), self._table(self.loading.factors * self.values))
            self._stressed[i] = np.ascontiguousarray(block.type.prestress(block.par, extra, 1.0))
        self.state.Q[:], self.state.D[:] = moved.Q[0], moved.D[0]
        self.state.U[self.multipliers] += response.y

    # --- kernels ---------------------------------------------------------------------------------------------------
    def _control(self, stiffness: float = 0.0, mass: float = 0.0, damping: float = 0.0) -> np.ndarray:
        ctl = np.zeros(C.N_CTL)
        ctl[C.H], ctl[C.SF], ctl[C.SK], ctl[C.TWO] = 1.0, 1.0, stiffness, stiffness
        ctl[C.RULE], ctl[C.WA], ctl[C.WV] = C.ONE_STATE, mass, damping
        if stiffness:
            self.loading.gravity(ctl)
            if self.preload is not None and self.preload.weight:
                self._add_weight(ctl)
        return ctl

    def _add_weight(self, ctl: np.ndarray) -> None:
        gravity = self.compiled.model.gravity
        ctl[C.GX : C.GX + len(gravity)] += gravity

    def values_now(self) -> np.ndarray:
        """Values (n_fun,) of the time functions at the level of the state."""
        now = self.loading.factors * self.values
        if self.preload is not None:
            held = self.preload.mask
            now = np.where(held, self.preload.values, 0.0) + np.where(held & ~self.loads, 0.0, now)
        return now

    def _fun(self, mask: np.ndarray | None = None, values: np.ndarray | None = None) -> np.ndarray:
        """Values of the time functions as kernels take them: at the level of the state, with those of ``mask``."""
        now = self.values_now()
        if mask is not None:
            values = self.values if values is None else values
            # loads act in addition, motions and equations have one value
            now = np.where(mask, values, 0.0) + np.where(mask & ~self.loads, 0.0, now)
        return self._table(now)

    @staticmethod
    def _table(values: np.ndarray) -> np.ndarray:
        """Values (n_fun,) of the time functions as kernels take them, the same at all times of a step."""
        fun = np.zeros((max(len(values), 1), 3))
        fun[: len(values)] = values[:, None]
        return fun

    def _weighed(self, weight: bool) -> np.ndarray:
        """Control values with the weight of the model in addition."""
        ctl = self.ctl.copy()
        if weight:
            self._add_weight(ctl)
        return ctl

    @contextmanager
    def _under_stress(self) -> Iterator[None]:
        """The elements' parameters with the stresses of the preload."""
        blocks = self.system.blocks
        kept = {i: blocks[i].par for i in self._stressed}
        for i, par in self._stressed.items():
            blocks[i].par = par
        try:
            yield
        finally:
            for i, par in kept.items():
                blocks[i].par = par

    def assemble(self, ctl, fun, blocks: Sequence[Block] | None = None) -> tuple[np.ndarray, csr_matrix]:
        """Residual (N,) and tangent (N, N) at the state."""
        with self._under_stress():
            return self.matrices.tangent(ctl, fun, self.state, blocks)

    def force(self, ctl, fun, blocks: Sequence[Block] | None = None) -> np.ndarray:
        """Residual (N,) at the state."""
        with self._under_stress():
            return self.matrices.force(ctl, fun, self.state, blocks)

    # --- matrices --------------------------------------------------------------------------------------------------
    @property
    def tangent(self) -> csr_matrix:
        """Tangent over all dofs (N, N); made again if it was released."""
        if self._tangent is None:
            self._tangent = self.assemble(self.ctl, self._fun())[1]
        return self._tangent

    def release(self) -> None:
        """Give the memory of the matrices over all dofs back, which large parts need for their factors."""
        self._tangent = None
        self.__dict__.pop("mass_matrix", None)

    @cached_property
    def mass_matrix(self) -> csr_matrix:
        """Mass over all dofs (N, N)."""
        blocks = [block for block in self.system.blocks if block.type.inertia]
        M = self.assemble(self._control(mass=1.0), self._fun(), blocks)[1]
        return csr_matrix(0.5 * (M + M.T)) if self.matrices.skewed else M

    def of_elements(self, picked: Picked, mass: bool = True) -> tuple[csr_matrix, csr_matrix]:
        """Symmetric stiffness and mass (zero, if that is not asked for) of some elements over the dofs of nodes."""
        matrices, n, found = Matrices(picked), self.first, []
        inert = [block for block in picked.blocks if block.type.inertia] if mass else []
        for ctl, blocks in ((self.ctl, picked.blocks), (self._control(mass=1.0), inert)):
            A = matrices.tangent(ctl, self._fun(), self.state, blocks)[1][:n][:, :n] if blocks else csr_matrix((n, n))
            found.append(csr_matrix(0.5 * (A + A.T)) if matrices.skewed else A)
        return found[0], found[1]

    @cached_property
    def damping_matrix(self) -> csr_matrix:
        """Damping over all dofs (N, N): forces per velocity, which kernels add to their stiffness."""
        fun = self._fun()
        both = self.assemble(self._control(stiffness=2.0, damping=1.0), fun)[1]
        both.data -= self.assemble(self.ctl, fun)[1].data
        return both

    @cached_property
    def elimination(self) -> Elimination:
        """u = T q, with joints and equations at rest."""
        return self.eliminate()

    def eliminate(self, right: np.ndarray | None = None, moved: np.ndarray | None = None) -> Elimination:
        """u = T q + u0 with right sides (m,) of the constraints and displacements (first,) of what is prescribed.

        Raises:
            ModelError: constraints contradict each other, naming them.
        """
        held = np.setdiff1d(np.arange(self.first), self.owned)
        size = np.ones(self.first)
        size[self.system.system.kind[: self.first] == S.POSITION] = self.system.length
        try:
            return eliminate(
                self.constraints, right, self._preferred(), held, None if moved is None else moved[held],
                strict=True, scale=size,
            )  # fmt: skip
        except ConstraintConflict as conflict:
            raise ModelError(f"Model: {self._conflict(conflict)}") from None

    def _preferred(self) -> np.ndarray:
        """The dof of each constraint that is to depend on the others, -1 for any."""
        preferred = np.full(self.constraints.shape[0], -1)
        preferred[: self.multipliers.size] = self.system.preferred_dofs()
        return preferred

    def _conflict(self, conflict: ConstraintConflict) -> str:
        labels = constraint_labels(self.system)
        names = list(dict.fromkeys(str(labels[i]) for i in conflict.equations if i < labels.size))
        shown = ", ".join(f'"{name}"' for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        dofs = ", ".join(self.system.name_of(i) for i in conflict.dofs[:3])
        where = f" ({dofs})" if dofs else ""
        if conflict.kind == "used twice":
            return (
                f"{shown}: a dof is the dependent one (the first term) of two equations{where}; begin one with another "
                "term"
            )
        if conflict.kind == "held and dependent":
            return (
                f"{shown}: the dependent dof (the first term) is held by a support or motion{where}; begin with "
                "another term, or remove the support"
            )
        return f"{shown}: these constraints contradict each other{where}; change their values or remove one"

    def reduce(self, A: csr_matrix) -> csr_matrix:
        """T^T A T of a matrix (N, N); without elimination its part of the unknowns."""
        if self.eliminated and self.elimination.dependent.size:
            return self.elimination.reduce(self._node_part(A))
        return self.matrices.submatrix(A, self.elimination.free if self.eliminated else self.owned)

    def _node_part(self, A: csr_matrix) -> csr_matrix:
        return A[: self.first][:, : self.first]

    @cached_property
    def stiffness(self) -> csr_matrix:
        """Symmetric part of the stiffness over the unknowns of problems, at the place and stresses of the preload."""
        K = self.reduce(self.tangent)
        if self._skewed and K.nnz:
            skew = abs(K - K.T)
            self.asymmetry = float(skew.max() / max(abs(K).max(), 1e-300))
            K = csr_matrix(0.5 * (K + K.T))
        return K

    @cached_property
    def mass(self) -> csr_matrix:
        """Mass matrix over the unknowns of problems."""
        return self.reduce(self.mass_matrix)

    @cached_property
    def rows(self) -> csr_matrix:
        """Constraints over the unknowns of problems that are left (none, where they are eliminated)."""
        if self.eliminated:
            return csr_matrix((0, self.stiffness.shape[0]))
        return self.constraints[:, self.owned]

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Increments (N,) or (N, k) of all dofs from those of the unknowns of problems."""
        whole = np.zeros((self.system.n_dof, *q.shape[1:]))
        if self.eliminated:
            whole[: self.first] = self.elimination.T @ q
        else:
            whole[self.owned] = q
        return whole

    # --- linear response -------------------------------------------------------------------------------------------
    def respond(self, mask: np.ndarray, weight: bool, whole: bool = False, owner: str = "Buckling") -> Response:
        """Small displacements from the state under loads of ``mask`` (n_fun,) and, by ``weight``, of gravity.

        ``whole``: what the state leaves out of balance vanishes too, and supports, motions and equations of ``mask`` go
        where they belong; else the difference which the loads make.

        Raises:
            AnalysisError: the model is loose or unstable, naming a dof.
        """
        r = self.force(self._weighed(weight), self._fun(mask))
        if not whole or self.preload is not None:
            r -= self.residual
        f = -r[: self.first]
        u, forces = np.zeros(self.system.n_dof), np.zeros(self.system.n_dof)
        if self.eliminated:
            found = self.elimination
            if whole:
                right = np.zeros(self.constraints.shape[0])
                right[: self.multipliers.size] = -r[self.multipliers]
                found = self.eliminate(right, self._prescribed(mask))
            K = self._node_part(self.tangent)
            q = self._solve(found.T.T @ (f - K @ found.u0), owner)
            u[: self.first] = found.T @ q + found.u0
            left = f - K @ u[: self.first]
            y = found.multipliers(left)
            forces[: self.first] = found.reactions(left)
        elif whole:
            raise AnalysisError(f"{owner}: the mechanism is too large for linear statics; take a static step")
        else:
            try:
                u[self.owned], y = Saddle(self.stiffness, self.rows).solve(f[self.owned])
            except LinearSolveError:
                raise AnalysisError(f"{owner}: {_LOOSE}") from None
        return Response(u, y[: self.multipliers.size], mask, self.values.copy(), weight, forces)

    def _prescribed(self, mask: np.ndarray) -> np.ndarray:
        """Ways (first,) that supports and motions of ``mask`` have to go from the state."""
        arrays = self.system.system
        moved = np.zeros(self.first)
        at = np.array(arrays.driven, np.int64)
        if at.size:
            wanted = arrays.driven_reference + self._fun(mask)[arrays.driver, 0]
            moved[at] = wanted - self.state.Q[0, at]
        return moved

    def _solve(self, f: np.ndarray, owner: str) -> np.ndarray:
        """K q = f by L L^T, refined."""
        if not f.size:  # everything is prescribed
            return f
        K = self.stiffness
        q = self._factors(owner).solve(f)
        for _ in range(_REFINEMENTS):
            q = q + self._factors(owner).solve(f - K @ q)
        return q

    def _factors(self, owner: str) -> PositiveFactors:
        if self._positive is None:
            pencil = Pencil(self.stiffness)
            try:
                self._positive = PositiveFactors(pencil)
            except NotPositiveDefinite as error:
                raise AnalysisError(f"{owner}: {self._looseness(error)}") from None
            except LinearSolveError as error:
                raise AnalysisError(f"{owner}: the stiffness cannot be factored: {error}") from None
        return self._positive

    def _looseness(self, error: NotPositiveDefinite) -> str:
        """What moves without resistance, or against less than none."""
        K = self.stiffness
        if K.shape[0] == 0:
            return _LOOSE
        D = diags(np.where(K.diagonal() > 0.0, K.diagonal(), 1.0))
        pencil = Pencil(K, D)
        x = np.random.default_rng(7).standard_normal(K.shape[0])
        for shift in (-1e-9, -1e-6, -1e-3, -1.0):
            try:
                factors = PositiveFactors(pencil, shift)
            except (NotPositiveDefinite, LinearSolveError):
                continue
            for _ in range(4):
                x = factors.solve(D @ x)
                x /= np.abs(x).max()
            value = float(x @ (K @ x)) / float(x @ (D @ x))
            size = np.abs(self.expand(x)[: self.first])
            size[self.system.system.kind[: self.first] != S.POSITION] *= 1e-3 * self.system.length
            name = self.system.name_of(int(size.argmax()))
            if value < -1e-9:
                return f"the state is unstable already (most of all {name} moves away); lower the loads before"
            return f"{_LOOSE}; what moves freely shows at {name}"
        return _LOOSE

    def moved(self, u: np.ndarray) -> S.State:
        """The state moved by increments u (N,): positions, and rotations by their Cayley vectors."""
        state = self.system.initial_state()
        state.Q[0], state.D[0] = self.state.Q[0], self.state.D[0]
        state.U[:] = u
        S.configure(self.system.system, state, True)
        state.Q[0], state.D[0] = state.Q[1], state.D[1]
        state.U[:] = self.state.U
        return state

    def _blocks(self, stresses: bool) -> list[int]:
        """Numbers of the blocks that have outputs, or whose stresses stiffen them."""
        return [
            i for i, b in enumerate(self.system.blocks)
            if b.type.outputs and not b.type.multipliers and (b.type.prestress is not None or not stresses)
        ]  # fmt: skip

    def _heat(self, i: int, loaded: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """Change of the stresses of a block between two levels of loads, at the same place: what temperatures do.

        Only where kinematics are linear; other elements turn these stresses with them by themselves.
        """
        block = self.system.blocks[i]
        change = self._outputs(self.state, [i], fun=loaded)[i] - self._outputs(self.state, [i], fun=plain)[i]
        change[block.par[:, block.type.column("nonlinear")] != 0.0] = 0.0
        return change

    def _outputs(
        self,
        state: S.State,
        blocks: Sequence[int],
        mask: np.ndarray | None = None,
        fun: np.ndarray | None = None,
        stresses: bool = False,
    ) -> dict[int, np.ndarray]:
        """OUTPUT tables of blocks at a state, by their numbers; or the ``stresses`` that their `prestress` takes."""
        tables = {}
        fun = self._fun(mask) if fun is None else fun
        with self._under_stress():
            for i in blocks:
                block = self.system.blocks[i]
                own = stresses and block.type.stresses > 0
                job = C.STRESSES if own else C.OUTPUT
                table = np.zeros((block.size, block.type.stresses if own else len(block.type.outputs)))
                hist = self.system.block_history(block).copy()
                block.type.report(
                    job, 0, block.size, self.ctl, block.par, block.dof, block.rot, hist, fun,
                    state.Q, state.D, state.V, state.DD, state.U, table, np.zeros((0, 0, 0)),
                )  # fmt: skip
                tables[i] = table
        return tables

    def output_changes(self, u: np.ndarray, stresses: bool = False) -> dict[int, np.ndarray]:
        """Change of all outputs along linear displacements u, by central differences of order 4; or of the ``stresses``
        of those blocks that these stiffen."""
        blocks = self._blocks(stresses)
        kind = self.system.system.kind
        turns = np.abs(u[kind == S.ROTATION]).max(initial=0.0)
        size = max(np.abs(u[kind == S.POSITION]).max(initial=0.0) / self.system.length, turns)
        if size == 0.0:
            return {i: np.zeros_like(v) for i, v in self._outputs(self.state, blocks, stresses=stresses).items()}
        e = 1e-3 / size
        p1, m1, p2, m2 = (
            self._outputs(self.moved(k * e * u), blocks, stresses=stresses) for k in (1.0, -1.0, 2.0, -2.0)
        )
        return {i: (8.0 * (p1[i] - m1[i]) - (p2[i] - m2[i])) / (12.0 * e) for i in p1}

    def geometric_stiffness(self, response: Response) -> csr_matrix:
        """Change of the tangent (N, N) that a response brings: by stresses, multipliers and the loads themselves, at
        the same geometry.

        It is linear in the response.  A difference of tangents loses the digits by which they agree, so it is taken
        of a multiple of the response that changes the tangent by about its own size.
        """
        stresses = self.output_changes(response.u, stresses=True)
        loaded, unloaded = self._fun(response.mask, response.values), self._fun()
        for i in stresses:
            if "nonlinear" in self.system.blocks[i].type.par:
                stresses[i] = stresses[i] + self._heat(i, loaded, unloaded)
        plain = self.tangent
        change, size = self._tangent_change(response, stresses, 1.0), abs(plain).max()
        most = abs(change).max()
        if not 0.0 < most < 0.25 * size:
            return change
        factor = 2.0 ** np.floor(np.log2(size / most))
        return csr_matrix(self._tangent_change(response, stresses, factor) / factor)

    def _tangent_change(self, response: Response, stresses: dict[int, np.ndarray], factor: float) -> csr_matrix:
        """Difference of the tangents with ``factor`` times the response and without."""
        kept = [block.par for block in self.system.blocks]
        U = self.state.U.copy()
        ctl = self.ctl + factor * (self._weighed(response.weight) - self.ctl)
        try:
            for i, table in stresses.items():
                block = self.system.blocks[i]
                par = self._stressed.get(i, block.par)
                block.par = np.ascontiguousarray(block.type.prestress(par, table, factor))
            self.state.U[self.multipliers] += factor * response.y
            fun = self._fun(response.mask, factor * response.values)
            residual, loaded = self.matrices.tangent(ctl, fun, self.state)
        finally:
            for block, par in zip(self.system.blocks, kept, strict=True):
                block.par = par
            self.state.U[:] = U
        return csr_matrix(loaded - self.tangent + self._half_turn(residual - self.residual))

    def _half_turn(self, residual: np.ndarray) -> csr_matrix:
        """What the tangent on the rotation group misses of a second derivative where moments (N,) are out of balance.

        Stresses of the linear solution balance the loads at the moved geometry, not quite at that of the state.
        """
        rotations = self.system.system.rotations
        shape = (self.system.n_dof, self.system.n_dof)
        if rotations.shape[1] != 3 or not len(rotations):
            return csr_matrix(shape)
        a, b, c = rotations.T
        x, y, z = 0.5 * residual[a], 0.5 * residual[b], 0.5 * residual[c]
        rows, cols = np.concatenate((c, b, a, c, b, a)), np.concatenate((b, c, c, a, a, b))
        return csr_matrix((np.concatenate((x, -x, y, -y, z, -z)), (rows, cols)), shape=shape)

    @property
    def redundancy(self) -> list[str]:
        """What is to be said of constraints that repeat others."""
        if not self.multipliers.size:
            return []
        diagonal = self.mass_matrix.diagonal()
        found = find_constraints(self.system, self.tangent[self.multipliers], diagonal)
        return list(sentences(found, constraint_labels(self.system), "in this state").values()) if found.loops else []

    # --- states of results -----------------------------------------------------------------------------------------
    def shapes(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """States (k, ...) displaced by mode vectors (N, k), scaled so that the largest displacement is a tenth of the
        model's size (where nothing is displaced: the largest rotation a tenth of a radian)."""
        kind = self.system.system.kind
        Q, D, U = [], [], []
        for x in vectors.T:
            size = np.abs(x[kind == S.POSITION]).max(initial=0.0) / self.system.length
            if size < 1e-6 * np.abs(x).max(initial=0.0):
                size = np.abs(x).max()
            x = _SHAPE / size * x if size > 0.0 else 0.0 * x
            U.append(x)
            if not self.system.nodes.rotational.any():
                Q.append(self.state.Q[0] + x)
                D.append(self.state.D[0])
                continue
            state = self.moved(x)
            Q.append(state.Q[0].copy())
            D.append(state.D[0].copy())
        k, n = len(Q), self.system.n_dof
        return {
            "Q": np.array(Q).reshape(k, n),
            "V": np.zeros((k, n)),
            "D": np.array(D),
            "U": np.array(U).reshape(k, n),  # the displacements themselves
            "out": np.zeros((k, self.state.out.size)),
            "energy": np.zeros((k, self.state.energy.size)),
        }

    def displaced(self, u: np.ndarray, mask: np.ndarray | None = None, outputs: bool = True) -> dict[str, np.ndarray]:
        """The state (1, ...) with small displacements u (N,), outputs and strain energies of elements linear about it,
        under loads of ``mask`` (n_fun,).

        About the start outputs are whole ones, about other states the changes that the displacements bring.
        """
        state = self.moved(u)
        out, energy = self.state.out.copy(), self.state.energy.copy()
        found = {"Q": state.Q[:1], "V": np.zeros((1, u.size)), "D": state.D[:1]}
        found |= {"out": out[None], "energy": energy[None]}
        if not outputs:
            return found
        blocks = self._blocks(stresses=False)
        with_loads, without = self._outputs(self.state, blocks, mask), {}
        if self.incremental:
            without = self._outputs(self.state, blocks)
        for i, change in self.output_changes(u).items():
            first = self.system.blocks[i].first_output
            out[first : first + change.size] = (with_loads[i] + change - without.get(i, 0.0)).ravel()
        elastic = [b for b in self.system.blocks if b.type.prestress is not None or "function" not in b.type.par]
        internal = [b for b in elastic if not b.type.multipliers and not b.type.inertia]
        fun = self._fun(mask)
        with self._under_stress():
            for block, first, last, fe, ke in self.matrices.tiles(C.TANGENT, self.ctl, fun, self.state, internal):
                x = u[block.dof[first:last]]
                stored = self._stored(block, first, last, fun)
                at = block.first_element + first
                energy[at : at + last - first] = (
                    stored + np.einsum("ei,ei->e", fe, x) + 0.5 * np.einsum("ei,eij,ej->e", x, ke, x)
                )
        return found

    def _stored(self, block: Block, first: int, last: int, fun: np.ndarray) -> np.ndarray:
        """Strain energies of elements at the state."""
        table = np.zeros((last - first, C.N_LEDGER))
        hist = self.system.block_history(block).copy()
        state = self.state
        block.type.report(
            C.LEDGER, first, last, self.ctl, block.par, block.dof, block.rot, hist, fun,
            state.Q, state.D, state.V, state.DD, state.U, table, np.zeros((0, 0, 0)),
        )  # fmt: skip
        return table[:, C.STRAIN]

    def nodal(self, values: np.ndarray) -> np.ndarray:
        """Forces and moments (nodes, 6) of nodes from values (N,) of dofs."""
        system, dim = self.system, self.system.dimension
        n = system.nodes.x.shape[0]
        out = np.zeros((n, 6))
        for i in range(dim):
            out[:, i] = values[system.offset[:n] + i]
        turning = np.flatnonzero(system.nodes.rotational)
        for i in range(system.rotation_dofs):
            out[turning, 5 if dim == 2 else 3 + i] = values[system.offset[turning] + dim + i]
        return out
