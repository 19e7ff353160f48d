"""Linear response of a model about a static state: its matrices there, and constraints eliminated from them.

The tangent at the state comes from the same kernels as every step: stiffness with its geometric part, the share of the
multipliers, and that of loads which turn with the model.  Joints and equations are rows of constraints in it, which are
eliminated exactly (`fem_mbs.solvers.linear.constraint_equations`), so that the problems left are sparse, of the size of
what can move on its own, and symmetric unless loads follow the model.  Of large mechanisms, in which everything hangs
together by joints, that would be a dense matrix; they keep their constraints (`fem_mbs.solvers.linear.saddle`).

What such an analysis reports is linear in what it finds: values at the state plus their derivatives times the small
displacements, velocities and multipliers (`fem_mbs.analysis.linear.sensors` for sensors).

Theory: docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_matrix, diags

from fem_mbs.analysis.linear.equilibrium import LOOSE, Equilibrium
from fem_mbs.analysis.linear.reported import Reported, apart
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.start.redundancy import constraint_labels, find_constraints, sentences
from fem_mbs.errors import AnalysisError, LooseError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.connections.cyclic import rows_of_faces
from fem_mbs.model.connections.terms import rows_of_names
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.distributed.matrix import compressed
from fem_mbs.solvers.linear.constraint_equations import ConstraintConflict, Elimination, eliminate
from fem_mbs.solvers.linear.libraries import LinearSolveError
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import at_rest, body_axes, director_velocities, instant, moved, spatial_axes
from fem_mbs.system.tangent import ElementSet, Level, Matrices, Tangent, matrices_of
from fem_mbs.units import unit_of

Found = TypeVar("Found")

__all__ = ["LARGE", "MOVES", "SYMMETRIC", "UNSYMMETRIC", "Linearised", "Response", "keeps_constraints", "unit_factors"]

#: Unknowns up to which constraints are always eliminated, and constraints over unknowns from which on larger models
#: keep them (`keeps_constraints`).
LARGE, MECHANISM = 1500, 0.25
#: Displacements of a preload over the size of the model, beyond which linear steps refuse it.
_FARTHEST = 1.0
#: Difference of opposite entries of a stiffness, over the root of their diagonal entries, that rounding leaves.
SYMMETRIC = 1e-10
#: Relative steps of differences: of displacements (radians, over the model's length), of velocities [1/s].
_STEP, _RATE = 1e-3, 1e-2
#: Size below which values count as zero: a function that has just begun to rise has such displacements and rates.
_NOTHING = 1e-290
#: Beginning of sentences on states in motion.
MOVES = "the state moves"
#: Warning of steps about a state with an unsymmetric stiffness.
UNSYMMETRIC = (
    "the stiffness is unsymmetric (loads follow the model, or have no potential) and is used as it is; the state may "
    "be unstable by flutter, which a step of complex_modes shows"
)


def keeps_constraints(constraints: int, unknowns: int) -> bool:
    """Return whether a problem keeps its constraints.

    Large mechanisms keep them: joints connect all their parts, so that elimination would leave dense matrices.
    """
    return constraints > MECHANISM * unknowns and unknowns > LARGE


@dataclass(frozen=True)
class Response:
    """Small displacements under loads.

    Attributes:
        u: (N,) increments of positions and rotations.
        y: (m,) increments of the multipliers' unknowns.
        mask, values: (n_fun,) functions of the loads, and their values at the time t [s].
        weight: whether the weight is among the loads.
        forces: (N,) additional forces of supports and motions on the model.
        totals: the reported quantities at the end, arrays as of `Reported.base`, with ``readings`` (k,)
            of all sensors.
    """

    u: np.ndarray
    y: np.ndarray
    mask: np.ndarray
    values: np.ndarray
    weight: bool
    forces: np.ndarray
    t: float = 0.0
    totals: dict[str, np.ndarray] = field(default_factory=dict)


class Linearised:
    """Stiffness, mass, damping and constraints of a model at a state, under loads at their levels.

    Problems live on independent unknowns q (n_q,), u = T q over the dofs of nodes.  ``preload`` is a linear response
    from the state.  Everything is then linear about the place displaced by it, with the stresses that the linear
    solution has there (without the strains of second order of large displacements), its loads and multipliers.
    Elements with linear kinematics have no displaced place: they get the stresses only.
    ``supports``: groups of supports that hold besides those of all steps; ``without``: names of equations that do not
    act.
    """

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float, loading: Loading, preload: Response | None = None,
        supports: Sequence[str] = (), without: Sequence[str] = (),
    ):  # fmt: skip
        system = compiled.system
        self.compiled, self.system, self.loading, self.t = compiled, system, loading, t
        system.refuse_impacts(Owner("Linearisation"), "has no small motions", "take contact in place of the impact")
        self.first = first = system.first_multiplier
        self.matrices = self.assembler(system)
        free = system.system.equation[:first] >= 0
        for name in supports:
            free[compiled.step_supports[name]] = False
        self.owned = self.made_once(lambda: np.flatnonzero(free))
        self.multipliers = np.arange(first, system.n_dof - 1)
        self.values = function_jets(compiled, t)[:, 0]
        self.loads = np.asarray(compiled.loads, bool)
        self.moves = bool(np.any(state.V[0]))  # velocities of the state, which is taken at rest
        self.state = at_rest(instant(system, state))
        self.incremental = preload is not None or not np.array_equal(state.Q[0], system.initial_state().Q[0])
        self.preload = preload
        if preload is not None:
            self._preload(preload)
        #: The matrices over all dofs, under the loads of the state.
        self.here = Tangent(self.system, self.state, self.level(), self.matrices)
        self.constraints = self.constraint_rows()
        self.silent = np.zeros(self.constraints.shape[0], bool)  # constraints that do not act
        if without:
            self.silent[rows_of_names(system, without)] = True
            self.constraints = csr_matrix(diags(np.where(self.silent, 0.0, 1.0)) @ self.constraints)
            self.constraints.eliminate_zeros()
        self.residual = self.here.residual
        explicit = rows_of_faces(compiled).size  # a node follows one or a few others
        self.eliminated = not keeps_constraints(self.constraints.shape[0] - explicit, self.owned.size)
        self.asymmetry = 0.0
        self._unsymmetric = False

    # --- what a distributed model makes in another way ----------------------------------------------------------------
    def assembler(self, system: Compiled) -> Matrices:
        """Return the assembler of the matrices of a compiled model."""
        return matrices_of(system)

    def made_once(self, make: Callable[[], Found]) -> Found:
        """Return the arrays of ``make`` over all dofs, which processes of a machine may share."""
        return make()

    @property
    def writes(self) -> bool:
        """Return whether this process writes results."""
        return True

    def constraint_rows(self) -> csr_matrix:
        """Return the constraints (m, first) at the state, then rows of dofs that share an unknown."""
        return self.here.G[:, : self.first]

    def joint_rows(self) -> csr_matrix:
        """Return the rows (m, N) of the multipliers in the tangent."""
        return self.tangent[self.multipliers]

    def whole_table(self, number: int, table: np.ndarray) -> np.ndarray:
        """Return the table (n, ...) of all elements of a block, by its number, from that of the elements here; no rows
        where nothing is written of it."""
        return table

    def table_everywhere(self, number: int, table: np.ndarray) -> np.ndarray:
        """Return `whole_table` on every process."""
        return table

    def own_elements(self) -> list[Block]:
        """Return the elements that count here: those of all processes are the elements of the model, each once."""
        return list(self.system.blocks)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over all processes of what their `own_elements` give."""
        return values

    def total(self, number: int, value: float) -> float:
        """Return the sum over all elements of a block, by its number, of a value that is summed over those here."""
        return value

    def _preload(self, response: Response) -> None:
        """Move to the displaced place of a response, with its stresses and loads.

        Elements with large displacements have a strain of second order there, which the stresses of a linear solution
        do not contain; it is subtracted.

        Raises:
            AnalysisError: the displacements exceed the size of the model, as those of loose models do.
        """
        far = float(np.abs(response.u[self.system.system.positions]).max(initial=0.0))
        if far > _FARTHEST * self.system.length:
            raise AnalysisError(
                f"the displacements of the preload reach {far:.3g} {unit_of('m')} in a model of the size "
                f"{self.system.length:.3g} {unit_of('m')}, too far for a linear step; support the model in the preload "
                "step, or take a static step"
            )
        here, moved = self.level(), self.moved(response.u)
        before = self.outputs(self.state, self._blocks(stresses=True), stresses=True)
        changes, stresses = self.output_changes(response.u, stresses=True), {}
        there = self.outputs(moved, list(changes), stresses=True)
        for i, change in changes.items():
            block = self.system.blocks[i]
            extra = before[i] + change - there[i]
            if "nonlinear" in block.type.par:
                small = block.par[:, block.type.column("nonlinear")] == 0.0
                extra[small] = change[small]
                extra += self._heat(i, here, here._replace(values=self.loading.factors * self.values))
            stresses[i] = extra
        self.system = self._under(stresses)
        self.compiled = replace(self.compiled, system=self.system)
        self.matrices = self.matrices.of(self.system)
        self.state.Q[:], self.state.D[:] = moved.Q[0], moved.D[0]
        self.state.U[self.multipliers] += response.y

    # --- loads -----------------------------------------------------------------------------------------------------
    def values_now(self) -> np.ndarray:
        """Return values (n_fun,) of the time functions at the level of the state."""
        now = self.loading.factors * self.values
        if self.preload is not None:
            held = self.preload.mask
            now = np.where(held, self.preload.values, 0.0) + np.where(held & ~self.loads, 0.0, now)
        return now

    def level(self, mask: np.ndarray | None = None, values: np.ndarray | None = None, weight: bool = False) -> Level:
        """Return the level of loads in the state, with those of ``mask`` (n_fun,) at their ``values`` (n_fun,; None:
        those of the functions at t), and with the ``weight`` of the model, in addition."""
        now, gravity = self.values_now(), np.asarray(self.compiled.model.gravity, float)
        if mask is not None:
            values = self.values if values is None else values
            # loads act in addition, motions and equations have one value
            now = np.where(mask, values, 0.0) + np.where(mask & ~self.loads, 0.0, now)
        share = self.loading.weight * gravity
        if self.preload is not None and self.preload.weight:
            share = share + gravity
        return Level(now, share + gravity if weight else share)

    def force(self, level: Level | None = None, blocks: Sequence[Block] | None = None) -> np.ndarray:
        """Return the forces (N,) of these blocks (all, if None) out of balance under a level of loads (None: that of
        the state), with the gaps of constraints in the rows of their multipliers."""
        return (self.here if level is None else self.here.under(level)).force(blocks)

    # --- matrices --------------------------------------------------------------------------------------------------
    @property
    def tangent(self) -> csr_matrix:
        """Return the tangent over all dofs (N, N); it is made again if it was released."""
        return self.here.K

    @property
    def balanced_tangent(self) -> csr_matrix:
        """Return the tangent (N, N) without the effect of unbalanced moments at free nodes.

        Where moments are out of balance, as about a preload or in motion, they alone make the tangent on the rotation
        group unsymmetric.
        """
        out, rotations = self.residual.copy(), self.system.system.rotations
        free = np.zeros(out.size, bool)
        free[self.owned] = True
        out[~free] = 0.0
        K = self.tangent
        if not rotations.size or np.abs(out[rotations]).max() <= SYMMETRIC * abs(K.diagonal()[rotations]).max():
            return K
        return compressed(K + self._half_turn(out))

    def release(self) -> None:
        """Free the memory of the matrices over all dofs, which large parts need for their factors."""
        self.here.release()
        self.matrices.release()

    @property
    def mass_matrix(self) -> csr_matrix:
        """Return the mass over all dofs (N, N)."""
        return self.here.M

    @property
    def damping_matrix(self) -> csr_matrix:
        """Return the damping over all dofs (N, N): forces per velocity."""
        return self.here.C

    def of_elements(self, some: ElementSet, mass: bool = True) -> tuple[csr_matrix, csr_matrix]:
        """Return symmetric stiffness and mass (zero without ``mass``) of some elements over the dofs of nodes."""
        n, here, matrices = self.first, self.here, Matrices(some)
        K = csr_matrix((n, n))
        if some.blocks:
            K = matrices.tangent(here.control(2.0), here.functions, self.state)[1][:n][:, :n]
        K = csr_matrix(0.5 * (K + K.T)) if matrices.skewed else K
        return K, matrices.mass(here.functions, self.state)[:n][:, :n] if mass else csr_matrix((n, n))

    @cached_property
    def elimination(self) -> Elimination:
        """Return the elimination u = T q, with joints and equations at rest."""
        return self.eliminate()

    def eliminate(self, right: np.ndarray | None = None, moved: np.ndarray | None = None) -> Elimination:
        """Return u = T q + u0 with right sides (m,) of the constraints and prescribed displacements (first,).

        Raises:
            ModelError: constraints contradict each other, naming them.
        """
        return self.made_once(lambda: self._eliminate(right, moved))

    def _eliminate(self, right: np.ndarray | None, moved: np.ndarray | None) -> Elimination:
        held = np.setdiff1d(np.arange(self.first), self.owned)
        size = np.ones(self.first)
        size[self.system.system.kind[: self.first] == S.POSITION] = self.system.length
        if right is not None:
            right = np.where(self.silent, 0.0, right)
        try:
            return eliminate(
                self.constraints, right, self.preferred(), held, None if moved is None else moved[held],
                scale=size,
            )  # fmt: skip
        except ConstraintConflict as conflict:
            raise ModelError(self._conflict(conflict), owner=Owner("Model")) from None

    def preferred(self) -> np.ndarray:
        """Return the dof (m,) of each constraint that an elimination is to make dependent, -1 for any."""
        preferred = np.full(self.constraints.shape[0], -1)
        preferred[: self.multipliers.size] = self.system.preferred_dofs()
        preferred[self.silent] = -1
        return preferred

    def _conflict(self, conflict: ConstraintConflict) -> str:
        labels = constraint_labels(self.system)
        names = list(dict.fromkeys(str(labels[i]) for i in conflict.equations if i < labels.size))
        shown = ", ".join(f'"{name}"' for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        dofs = ", ".join(self.system.name_of(i) for i in conflict.dofs[:3])
        where = f" ({dofs})" if dofs else ""
        return f"{shown}: these constraints contradict each other{where}; change their values or remove one"

    def reduce(self, A: csr_matrix) -> csr_matrix:
        """Return T^T A T of a matrix (N, N); without elimination its part of the unknowns."""
        if self.eliminated and self.elimination.dependent.size:
            return self.elimination.reduce(self._node_part(A))
        return self.matrices.submatrix(A, self.elimination.free if self.eliminated else self.owned)

    def _node_part(self, A: csr_matrix) -> csr_matrix:
        return A[: self.first][:, : self.first]

    @cached_property
    def whole_stiffness(self) -> csr_matrix:
        """Return the stiffness over the unknowns of problems, at the place and stresses of the preload.

        It is unsymmetric where loads follow the model.
        """
        return self.reduce(self.balanced_tangent)

    @cached_property
    def stiffness(self) -> csr_matrix:
        """Return the symmetric part of `whole_stiffness`; all of it where the model is ``unsymmetric``."""
        K = self.whole_stiffness
        if not self.here.skewed or not K.nnz:
            return K
        skew = csr_matrix(K - K.T)
        self.asymmetry = float(abs(skew).max() / max(abs(K).max(), 1e-300))
        d = unit_factors(K.diagonal())
        self._unsymmetric = bool(abs(diags(d) @ skew @ diags(d)).max() > SYMMETRIC)
        return csr_matrix(0.5 * (K + K.T))

    @property
    def unsymmetric(self) -> bool:
        """Return whether the stiffness is unsymmetric beyond rounding."""
        return self.stiffness is not None and self._unsymmetric

    @cached_property
    def mass(self) -> csr_matrix:
        """Return the mass matrix over the unknowns of problems."""
        return self.reduce(self.mass_matrix)

    @cached_property
    def rows(self) -> csr_matrix:
        """Return the constraints left over the unknowns of problems (none, where they are eliminated)."""
        if self.eliminated:
            return csr_matrix((0, self.stiffness.shape[0]))
        return self.constraints[:, self.owned]

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Return increments (N,) or (N, k) of all dofs from those of the unknowns of problems."""
        whole = np.zeros((self.system.n_dof, *q.shape[1:]))
        if self.eliminated:
            whole[: self.first] = self.elimination.T @ q
        else:
            whole[self.owned] = q
        return whole

    # --- what is solved with it, and what is reported of it ---------------------------------------------------------
    @cached_property
    def equilibrium(self) -> Equilibrium:
        """Return a solver for the stiffness that keeps its factors."""
        return Equilibrium(self)

    @cached_property
    def reported(self) -> Reported:
        """Return the quantities that steps report, at the state and about it."""
        return Reported(self)

    # --- linear response -------------------------------------------------------------------------------------------
    def respond(
        self, mask: np.ndarray, weight: bool, whole: bool = False, owner: str = "Buckling",
        kept: np.ndarray | None = None,
    ) -> Response:  # fmt: skip
        """Return small displacements from the state under loads of ``mask`` (n_fun,) and, by ``weight``, of gravity.

        ``whole``: the forces out of balance at the state act too, and supports, motions and equations of ``mask`` take
        their prescribed values, supports the displacements ``kept`` (first,) if given; else return the difference that
        the loads cause.

        Raises:
            AnalysisError: the model can move freely or is unstable, naming a dof.
        """
        level = self.level(mask, weight=weight)
        r = self.force(level)
        if not whole or self.preload is not None:
            r -= self.residual
        f = -r[: self.first]
        u, forces = np.zeros(self.system.n_dof), np.zeros(self.system.n_dof)
        if self.eliminated:
            found = self.elimination
            if whole:
                right = np.zeros(self.constraints.shape[0])
                right[: self.multipliers.size] = -r[self.multipliers]
                found = self.eliminate(right, self.prescribed(level) + (0.0 if kept is None else kept))
            K = self._node_part(self.balanced_tangent)
            q = self.equilibrium.solve(found.T.T @ (f - K @ found.u0), owner)
            u[: self.first] = found.T @ q + found.u0
            left = f - K @ u[: self.first]
            y = found.multipliers(left)
            forces[: self.first] = found.reactions(left)
            if whole and self.preload is None:  # f holds what supports exert at the state
                forces -= self.held(self.residual)
        elif whole:
            raise AnalysisError(f"{owner}: the mechanism is too large for linear statics; take a static step")
        elif self.unsymmetric:
            u[self.owned], y = self.equilibrium.solve_whole(f[self.owned], owner)
        else:
            try:
                u[self.owned], y = factor(self.stiffness, self.rows, "saddle").solve(f[self.owned])
            except LinearSolveError:
                raise LooseError(LOOSE, owner=owner) from None
        return Response(u, y[: self.multipliers.size], mask, self.values.copy(), weight, forces, self.t)

    def held(self, values: np.ndarray) -> np.ndarray:
        """Return values (N,) at the dofs of nodes that supports and motions hold, zero elsewhere."""
        out = np.zeros(self.system.n_dof)
        held = np.setdiff1d(np.arange(self.first), self.owned)
        out[held] = values[held]
        return out

    def prescribed(self, level: Level) -> np.ndarray:
        """Return the displacements (first,) of supports and motions from the state to their values at a level."""
        arrays = self.system.system
        moved = np.zeros(self.first)
        at = np.array(arrays.driven, np.int64)
        if at.size:
            moved[at] = arrays.driven_reference + level.values[arrays.driver] - self.state.Q[0, at]
        return moved

    def moved(self, u: np.ndarray) -> S.State:
        """Return the state moved by increments u (N,): positions, and rotations by their Cayley vectors."""
        return moved(self.system, self.state, u)

    def _blocks(self, stresses: bool) -> list[int]:
        """Return numbers of the blocks that have outputs, or whose stresses stiffen them."""
        return [
            i for i, b in enumerate(self.system.blocks)
            if b.type.outputs and not b.type.multipliers and (b.type.prestress is not None or not stresses)
        ]  # fmt: skip

    def _heat(self, i: int, loaded: Level, plain: Level) -> np.ndarray:
        """Return the change of the stresses of a block between two levels of loads at the same place, from
        temperatures.

        This is needed only where kinematics are linear; other elements rotate these stresses themselves.
        """
        block = self.system.blocks[i]
        change = self.outputs(self.state, [i], loaded)[i] - self.outputs(self.state, [i], plain)[i]
        change[block.par[:, block.type.column("nonlinear")] != 0.0] = 0.0
        return change

    def outputs(
        self, state: S.State, blocks: Sequence[int], level: Level | None = None, stresses: bool = False
    ) -> dict[int, np.ndarray]:
        """Return the OUTPUT tables of blocks at a state, by their numbers, under a level of loads (None: that of the
        state at which this is linear); or the ``stresses`` that their `prestress` takes."""
        at = Tangent(self.system, state, self.level() if level is None else level, self.matrices)
        return {i: at.outputs(i, stresses) for i in blocks}

    def output_changes(
        self, u: np.ndarray, stresses: bool = False, v: np.ndarray | None = None, y: np.ndarray | None = None,
        blocks: Sequence[int] | None = None, a: np.ndarray | None = None,
    ) -> dict[int, np.ndarray]:  # fmt: skip
        """Return the changes of all outputs along linear displacements u (N,), by central differences of order 4.

        Velocities v and accelerations a (N,) have spins in spatial axes; y (m,) are multipliers' unknowns.  With
        ``stresses`` return the changes of the stresses of those blocks that these stiffen; with ``blocks`` those of
        these blocks.
        """
        blocks = self._blocks(stresses) if blocks is None else list(blocks)
        kind = self.system.system.kind
        own = [self.system.blocks[i] for i in blocks]
        widths = [(b.type.stresses if stresses else 0) or len(b.type.outputs) for b in own]
        found = {i: np.zeros((b.size, width)) for i, b, width in zip(blocks, own, widths, strict=True)}

        def size(x: np.ndarray) -> float:
            turns = np.abs(x[kind == S.ROTATION]).max(initial=0.0)
            return max(np.abs(x[kind == S.POSITION]).max(initial=0.0) / self.system.length, turns)

        def add(at, step: float) -> None:
            p1, m1, p2, m2 = (self.outputs(at(k * step), blocks, stresses=stresses) for k in (1.0, -1.0, 2.0, -2.0))
            for i in found:
                found[i] += (8.0 * apart(p1[i], m1[i]) - apart(p2[i], m2[i])) / (12.0 * step)

        if size(u) > _NOTHING:
            add(lambda e: self.moved(e * u), _STEP / size(u))
        if v is not None and size(v) > _NOTHING:
            add(lambda e: self._swung(e * v), _RATE / size(v))
        if a is not None and size(a) > 1e-200:  # its inverse is a number
            add(lambda e: self._accelerated(e * a), 1.0 / size(a))
        if y is not None and np.any(y):
            here = np.abs(self.state.U[self.multipliers]).max()
            add(lambda e: self._pressed(e * y), max(1.0, here / np.abs(y).max()))
        return found

    def _swung(self, v: np.ndarray) -> S.State:
        """Return the state with velocities v (N,), spins in spatial axes."""
        state = self._copied()
        state.V[0] = self.body(v)
        director_velocities(self.system, state)
        return state

    def _accelerated(self, a: np.ndarray) -> S.State:
        """Return the state with accelerations a (N,), of spins in spatial axes."""
        state = self._copied()
        state.V[2] = self.body(a)
        return state

    def _pressed(self, y: np.ndarray) -> S.State:
        """Return the state with y (m,) added to the unknowns of the multipliers."""
        state = self._copied()
        state.U[self.multipliers] += y
        return state

    def _copied(self) -> S.State:
        state = self.system.initial_state()
        state.Q[:], state.D[:], state.U[:] = self.state.Q[0], self.state.D[0], self.state.U
        return state

    def body(self, v: np.ndarray) -> np.ndarray:
        """Return velocities (N,) as states keep them, spins in body axes, from those with spins in spatial axes."""
        return body_axes(self.system, self.state, v)

    def spatial(self, v: np.ndarray) -> np.ndarray:
        """Return velocities (N,) with spins in spatial axes from those of states."""
        return spatial_axes(self.system, self.state, v)

    def geometric_stiffness(self, response: Response) -> csr_matrix:
        """Return the change of the tangent (N, N) by a response: by stresses, multipliers and the loads, at the same
        geometry.

        It is linear in the response.  A difference of tangents loses the digits in which they agree, so it is computed
        for a multiple of the response that changes the tangent by about its own size.
        """
        stresses = self.output_changes(response.u, stresses=True)
        loaded, unloaded = self.level(response.mask, response.values), self.level()
        for i in stresses:
            if "nonlinear" in self.system.blocks[i].type.par:
                stresses[i] = stresses[i] + self._heat(i, loaded, unloaded)
        plain = self.tangent
        change, size = self._tangent_change(response, stresses, 1.0), abs(plain).max()
        most = abs(change).max()
        if not 0.0 < most < 0.25 * size:
            return change
        factor = 2.0 ** np.floor(np.log2(size / most))
        return compressed(self._tangent_change(response, stresses, factor) / factor)

    def _tangent_change(self, response: Response, stresses: dict[int, np.ndarray], factor: float) -> csr_matrix:
        """Return the difference of the tangents with ``factor`` times the response and without it."""
        level, plain = self.level(response.mask, factor * response.values), self.here.level
        if response.weight:
            gravity = np.asarray(self.compiled.model.gravity, float)
            level = level._replace(gravity=np.asarray(plain.gravity) + factor * gravity)
        state = self.state._replace(U=self.state.U.copy())
        state.U[self.multipliers] += factor * response.y
        there = self.here.of(self._under(stresses, factor)).under(level, state)
        return compressed(there.K - self.tangent + self._half_turn(there.residual - self.residual))

    def _under(self, stresses: dict[int, np.ndarray], factor: float = 1.0) -> Compiled:
        """Return the compiled model with ``factor`` times the ``stresses`` of blocks added."""
        blocks = self.system.blocks
        return self.system.with_parameters(
            {
                i: blocks[i].type.prestress(blocks[i].par, table, factor) for i, table in stresses.items()
                if blocks[i].size  # other processes may have all of its elements
            }
        )  # fmt: skip

    def _half_turn(self, residual: np.ndarray) -> csr_matrix:
        """Return the part of the second derivative that the tangent on the rotation group lacks under unbalanced
        moments (N,).

        Stresses of the linear solution balance the loads at the displaced geometry, not exactly at that of the state.
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
    def notes(self) -> list[str]:
        """Return sentences on redundant constraints, and on velocities of the state."""
        return [
            *self.redundancy,
            *[f"{MOVES}: the step is about its place at rest, without its velocities"] * self.moves,
        ]

    @property
    def redundancy(self) -> list[str]:
        """Return sentences on redundant constraints."""
        if not self.multipliers.size:
            return []
        diagonal = self.mass_matrix.diagonal()
        found = find_constraints(self.system, self.joint_rows(), diagonal)
        faces = rows_of_faces(self.compiled)  # where supports hold them the equations of sectors say nothing new
        loops = [loop for loop in found.loops if not np.isin(loop.rows, faces).all()]
        found = replace(found, loops=loops)
        return list(sentences(found, constraint_labels(self.system), "in this state").values()) if loops else []


def unit_factors(diagonal: np.ndarray) -> np.ndarray:
    """Return factors (n,) of rows and columns with which a matrix has a unit diagonal."""
    d = np.abs(diagonal)
    return 1.0 / np.sqrt(np.maximum(d, 1e-14 * max(d.max(), 1e-300)))
