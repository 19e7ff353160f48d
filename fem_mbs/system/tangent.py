"""Residual, stiffness, damping, mass and constraints of a compiled model at one state.

All analyses outside the compiled step loop get their matrices here: starts, linear steps, stability, reduction, prints.
They use `Tangent`: one model, one state, one `Level` of loads.  Below it, stiffness, mass and damping are the same
tangent of the elements with other weights in the control values (`control`).  So all have one pattern, which is found
once per model (`matrices_of`), and element matrices are never held all at a time.  Other parameters are an overlay
(`Compiled.with_parameters`), which the pattern serves too (`Matrices.of`).

Theory: docs/theory.md, sections 8 and 9, "The matrices".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple
from weakref import ref

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, vstack

from fem_mbs import contract as C
from fem_mbs.solvers.distributed.matrix import compressed
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.solvers.stepping.pattern import element_slots, matrix_pattern
from fem_mbs.solvers.stepping.side_by_side import TOGETHER, add_matrices, evaluate
from fem_mbs.system.blocks import Block, chosen_rows
from fem_mbs.system.callbacks import serve
from fem_mbs.system.compiled import Compiled, prepare
from fem_mbs.system.rate_stiffness import rate_stiffness
from fem_mbs.system.states import at_rest, crosses

__all__ = ["ElementSet", "Level", "Matrices", "Tangent", "constraint_rows", "control", "function_table", "matrices_of"]

_TILE = 1 << 22  # entries of element matrices that `Matrices.tiles` holds at a time
#: Entries of element matrices from which on their places are found again rather than kept beside factors.
_MANY = 100_000_000
#: Part of the entries of a matrix below which some elements fill one of their own; fewer entries are not worth it.
_FEW, _SMALL = 0.02, 2000
_ROUND_OFF = 1e-13  # of opposite entries of element matrices, over the largest entry of the matrix
#: First parts of the names of element types whose forces depend on velocities by damping, or spins, alone.
_CONTINUA = (
    "solid_", "plane_", "axisymmetric_", "beam", "exact_beam", "strain_beam", "corotational_beam", "truss",
    "linear_mass",
)  # fmt: skip


class Level(NamedTuple):
    """Levels of the loads: values (n_fun,) of the time functions, and ``gravity`` (dimension,) [m/s^2], empty for
    none."""

    values: np.ndarray
    gravity: Sequence[float] | np.ndarray = ()


def control(
    stiffness: float = 0.0,
    damping: float = 0.0,
    mass: float = 0.0,
    gravity: Sequence[float] | np.ndarray = (),
    *,
    joints: float | None = None,
    h: float = 1.0,
    factor: float = 1.0,
    rule: float = C.ONE_STATE,
    decay: float = 0.0,
) -> np.ndarray:
    """Return control values (N_CTL,) with which elements give the residual and a tangent.

    At one state the tangent is stiffness/2 K + damping C + mass M: K needs ``stiffness`` = 2, since the state is both
    ends of the step (`fem_mbs.contract`).

    Args:
        gravity: (dimension,) [m/s^2].
        joints: in place of ``stiffness`` for the share of joint forces in K.
        h: length of a step [s].
        factor: of the momentum rows.
        rule: ONE_STATE or TWO_STATE.
        decay: damping [s] that the rule adds to that of elements.
    """
    ctl = np.zeros(C.N_CTL)
    ctl[C.H], ctl[C.SF], ctl[C.SK], ctl[C.RULE] = h, factor, factor * stiffness, rule
    ctl[C.TWO] = stiffness if joints is None else joints
    ctl[C.WV], ctl[C.WA], ctl[C.DECAY] = damping, mass, decay
    ctl[C.GX : C.GX + len(gravity)] = gravity
    return ctl


def function_table(values: np.ndarray) -> np.ndarray:
    """Return values (n_fun,) of time functions as kernels take them, (n_fun, 3): the same at all times of a step."""
    fun = np.zeros((max(len(values), 1), 3))
    fun[: len(values)] = values[:, None]
    return fun


def constraint_rows(
    compiled: Compiled, ctl: np.ndarray, fun: np.ndarray, state: State, scaled: bool = False
) -> csr_matrix:
    """Return the Jacobian (m, N) of the joints' constraints with respect to increments and spins at a state.

    Args:
        scaled: rows have the scales of their multipliers, as in a tangent; without, they are those of the constraints.

    Rows of constraints that do not act are empty.
    """
    first, acts = compiled.first_multiplier, ~compiled.silent
    rows, cols, values = [np.empty(0, int)], [np.empty(0, int)], [np.empty(0)]
    joints = [b for b in compiled.blocks if b.type.multipliers]
    for block, _fe, ke in compiled.element_arrays(C.TANGENT, ctl, fun, state, joints):
        nd = block.type.node_dofs
        m = block.dof[:, nd:] - first
        G = ke[:, nd:, :nd]
        rows.append(np.repeat(m, nd, axis=1).ravel())
        cols.append(np.tile(block.dof[:, None, :nd], (1, m.shape[1], 1)).ravel())
        G = G if scaled else G / block.par[:, block.type.scale][:, None, None]
        values.append((G * acts[m][:, :, None]).ravel())
    place, entries = (np.concatenate(rows), np.concatenate(cols)), np.concatenate(values)
    return csr_matrix((entries, place), shape=(compiled.n_dof - 1 - first, compiled.n_dof))


def matrices_of(compiled: Compiled) -> Matrices:
    """Return the assembler of a compiled model's matrices; it is made once while a reference to it exists."""
    made = compiled.assembler() if compiled.assembler is not None else None
    if made is None:
        made = Matrices(compiled)
        compiled.assembler = ref(made)
    return made.of(compiled)


class ElementSet:
    """Some elements of a compiled model, as `Matrices` take them; the numbering is that of the model.

    Args:
        picks: numbers of blocks with the numbers (k,) of the elements of each.
        par: parameters (k, n_par) in place of the model's own, for some of these pairs, by their places in ``picks``.
    """

    def __init__(
        self, compiled: Compiled, picks: Sequence[tuple[int, np.ndarray]], par: dict[int, np.ndarray] | None = None
    ):
        self.n_dof, self.dummy, self.callbacks = compiled.n_dof, compiled.dummy, compiled.callbacks
        self.blocks: list[Block] = []
        self._histories = {}
        for number, (i, elements) in enumerate(picks):
            whole = compiled.blocks[i]
            if whole.share is not None:
                elements = np.searchsorted(whole.share.elements, elements)
            block = copy(whole)
            block.groups, block.nodes = [(whole.type.name, 0, len(elements))], whole.nodes[elements]
            everything = len(elements) == whole.size and np.array_equal(elements, np.arange(whole.size))
            if everything and par is None and not whole.type.multipliers:  # (whose scales change): no copies
                self.blocks.append(block)
                self._histories[id(block)] = compiled.block_history(whole).copy()
                continue
            given = None if par is None else par.get(number)
            block.par = np.ascontiguousarray(chosen_rows(whole.par, whole.type, elements) if given is None else given)
            block.dof, block.rot = np.ascontiguousarray(whole.dof[elements]), np.ascontiguousarray(whole.rot[elements])
            self.blocks.append(block)
            self._histories[id(block)] = compiled.block_history(whole)[elements]

    def block_history(self, block: Block) -> np.ndarray:
        return self._histories[id(block)]

    def renumbered(self, dofs: np.ndarray, rows: np.ndarray) -> ElementSet:
        """Return the elements with the dofs (k,) and the rows (r,) of directors that they touch alone, ascending, as
        numbers; the last of each are the dummy entry and the identity."""
        other = copy(self)
        other.n_dof, other.dummy, other.blocks, other._histories = dofs.size, dofs.size - 1, [], {}
        for block in self.blocks:
            own = copy(block)
            own.dof = np.searchsorted(dofs, block.dof).astype(np.int32)
            own.rot = np.searchsorted(rows, block.rot).astype(np.int32)
            other.blocks.append(own)
            other._histories[id(own)] = self._histories[id(block)]
        return other


class _Places:
    """The pattern of a model's matrices, and the places of element matrix entries in it; made when they are needed."""

    def __init__(self, compiled: Compiled | ElementSet):
        self._compiled = compiled
        #: The last selection of `Matrices.submatrix`: dofs, entries, indices and indptr.
        self.cut: tuple | None = None

    def _tables(self) -> list[np.ndarray]:
        dummy = self._compiled.dummy
        return [np.where(block.dof == dummy, -1, block.dof) for block in self._compiled.blocks]

    @cached_property
    def pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Return indptr and indices of the compressed columns."""
        return matrix_pattern(self._compiled.n_dof, self._tables())

    @cached_property
    def slot(self) -> np.ndarray:
        """Return the places (k,) of all entries of element matrices."""
        return element_slots(*self.pattern, self._tables())[0]

    def release(self, beyond: int) -> None:
        """Free the memory of more than so many places; the next use finds them again."""
        slot = self.__dict__.get("slot")
        if slot is not None and slot.size > beyond:
            del self.slot, self.pattern
            self.cut = None


class Matrices:
    """Assembles forces (N,) and tangents (N, N) over all dofs of a model, prescribed ones and multipliers included.

    The last row and column are those of the dummy entry, and empty.  ``ctl`` (N_CTL,) are control values (`control`),
    ``fun`` (n_fun, 3) values of the time functions (`function_table`).
    """

    def __init__(self, compiled: Compiled | ElementSet):
        self.compiled = compiled
        self._places = _Places(compiled)  # copies share them
        sizes = [block.size * block.type.local_dofs**2 for block in compiled.blocks]
        self._first = np.concatenate(([0], np.cumsum(sizes)))
        #: Whether opposite entries of element matrices of the last tangent differed.
        self.skewed = False

    def release(self, beyond: int = _MANY) -> None:
        """Free the memory of the places of element matrix entries, if there are more than so many; the next use finds
        them again."""
        self._places.release(beyond)

    def of(self, compiled: Compiled) -> Matrices:
        """Return an assembler with the same pattern for a model of the same numbering, as `Compiled.with_parameters`
        makes them."""
        return self.on(compiled)

    def on(self, elements: Compiled | ElementSet) -> Matrices:
        """Return an assembler with the same pattern for a model, or the same part of a model, of the same numbering."""
        if elements is self.compiled:
            return self
        other = copy(self)
        other.compiled = elements
        return other

    @property
    def size(self) -> int:
        """Return the number of entries of a matrix."""
        return self._places.pattern[1].size

    def places(self, block: Block, first: int, last: int) -> np.ndarray:
        """Return the places (k,) of the entries of elements ``first`` ... ``last`` - 1 of a block in a matrix."""
        number = next(i for i, other in enumerate(self.compiled.blocks) if other is block)
        each = block.type.local_dofs**2
        begin = self._first[number]
        return self._places.slot[begin + first * each : begin + last * each]

    def tiles(
        self, job: int, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> Iterator[tuple[Block, int, int, np.ndarray, np.ndarray]]:
        """Yield (block, first, last, fe (k, m), ke (k, m, m)) of elements first ... last - 1; the arrays are used
        again."""
        for block, fe, evaluated in self._evaluators(job, ctl, fun, state, blocks):
            m = block.type.local_dofs
            ke = np.zeros((len(fe), m, m))
            for first in range(0, block.size, len(fe)):
                last = min(first + len(fe), block.size)
                own = fe[: last - first], ke[: last - first]
                evaluated(first, last, *own)
                yield block, first, last, *own

    def _evaluators(
        self, job: int, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None
    ) -> Iterator[tuple[Block, np.ndarray, Callable[..., None]]]:
        """Yield (block, fe (k, m), evaluated) for every block, k elements being a tile; ``evaluated(first, last, fe,
        ke)`` evaluates some elements."""
        prepare(self.compiled.blocks if blocks is None else blocks)
        for block in self.compiled.blocks if blocks is None else blocks:
            m = block.type.local_dofs
            hist = self.compiled.block_history(block)
            if "callback" in block.type.par:
                serve(block, hist, self.compiled.callbacks, ctl, fun, state)
            function = C.runner(block.type.force, block.size * m * m)

            def evaluated(first, last, fe, ke, block=block, hist=hist, function=function) -> None:
                evaluate(
                    function, job, first, last, ctl, block.par, block.dof, block.rot, hist, fun,
                    state.Q, state.D, state.V, state.DD, state.U, fe, ke,
                )  # fmt: skip

            yield block, np.zeros((max(1, min(_TILE // (m * m), block.size)), m)), evaluated

    def tangent(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> tuple[np.ndarray, csr_matrix]:
        """Return the residual (N,) and the tangent (N, N) of these blocks (all, if None); few elements of a large model
        fill a matrix with their entries alone."""
        n = self.compiled.n_dof
        indptr, indices = self._places.pattern
        if blocks is not None and sum(b.size * b.type.local_dofs**2 for b in blocks) < _FEW * indices.size - _SMALL:
            return self._tangent_of_few(ctl, fun, state, blocks)
        r, values = np.zeros(n), np.zeros(indices.size)
        skew = 0.0
        for block, fe, evaluated in self._evaluators(C.TANGENT, ctl, fun, state, blocks):
            m = block.type.local_dofs
            step = min(len(fe), max(1, TOGETHER // (m * m)))
            ke = np.zeros((step, m, m))
            for first in range(0, block.size, len(fe)):
                last = min(first + len(fe), block.size)
                for low in range(first, last, step):
                    high = min(low + step, last)
                    evaluated(low, high, fe[low - first : high - first], ke[: high - low])
                    places = self.places(block, low, high)
                    skew = max(skew, add_matrices(block.dof[low:high], ke[: high - low], places, values))
                r += np.bincount(block.dof[first:last].ravel(), fe[: last - first].ravel(), n)
        r[self.compiled.dummy] = 0.0
        largest = max(values.max(initial=0.0), -values.min(initial=0.0))  # (no copy: there are many)
        self.skewed = skew > _ROUND_OFF * largest
        if self.skewed:
            return r, csr_matrix(csc_matrix((values, indices, indptr), shape=(n, n)))
        # opposite places exist in pairs, so that columns of a symmetric matrix are its rows
        return r, csr_matrix((values, indices, indptr), shape=(n, n))

    def _tangent_of_few(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block]
    ) -> tuple[np.ndarray, csr_matrix]:
        n, dummy = self.compiled.n_dof, self.compiled.dummy
        r, rows, columns, values = np.zeros(n), [np.empty(0, int)], [np.empty(0, int)], [np.empty(0)]
        for block, first, last, fe, ke in self.tiles(C.TANGENT, ctl, fun, state, blocks):
            dof, m = block.dof[first:last], block.type.local_dofs
            r += np.bincount(dof.ravel(), fe.ravel(), n)
            rows.append(np.repeat(dof, m, axis=1).ravel())
            columns.append(np.tile(dof, (1, m)).ravel())
            values.append(ke.flatten())
        r[dummy] = 0.0
        place, entries = np.array((np.concatenate(rows), np.concatenate(columns))), np.concatenate(values)
        keep = (place != dummy).all(axis=0)
        A = csr_matrix((entries[keep], place[:, keep]), shape=(n, n))
        self.skewed = bool(abs(A - A.T).max() > _ROUND_OFF * abs(A).max())
        return r, A

    def mass(self, fun: np.ndarray, state: State) -> csr_matrix:
        """Return the mass (N, N), symmetric: at rest and without weight the elements' tangent contains nothing else."""
        blocks = [block for block in self.compiled.blocks if block.type.inertia]
        if not blocks:
            return csr_matrix((self.compiled.n_dof,) * 2)
        M = self.tangent(control(mass=1.0), fun, at_rest(state), blocks)[1]
        return csr_matrix(0.5 * (M + M.T)) if self.skewed else M

    def submatrix(self, A: csr_matrix, dofs: np.ndarray) -> csr_matrix:
        """Return rows and columns of ascending ``dofs`` of a matrix (N, N)."""
        places = self._places
        whole, known = places.pattern
        if A.nnz != known.size or not np.array_equal(A.indices, known):
            return A[dofs][:, dofs]
        if places.cut is None or not np.array_equal(dofs, places.cut[0]):
            number = np.full(self.compiled.n_dof, -1, np.int32)
            number[dofs] = np.arange(dofs.size)
            columns = number[known]
            keep = columns >= 0
            keep &= np.repeat(number >= 0, np.diff(whole))
            counts = np.add.reduceat(keep, whole[:-1], dtype=np.int64)  # (no row is empty: the diagonal is there)
            indptr = np.concatenate(([0], np.cumsum(counts[dofs])))
            places.cut = (dofs, keep, columns[keep], indptr)
        _, keep, indices, indptr = places.cut
        return csr_matrix((A.data[keep], indices, indptr), shape=(dofs.size, dofs.size))

    def force(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> np.ndarray:
        """Return the residual (N,) alone."""
        r = np.zeros(self.compiled.n_dof)
        for block, first, last, fe, _ in self.tiles(C.FORCE, ctl, fun, state, blocks):
            r += np.bincount(block.dof[first:last].ravel(), fe.ravel(), r.size)
        r[self.compiled.dummy] = 0.0
        return r


class Tangent:
    """The linear equations of a model about one state, under one level of loads.

        M a + C v + K u + G^T y = -residual,   G u = 0

    u are increments of positions and of rotations (rotation vectors in spatial axes), y those of the multipliers'
    unknowns.  All matrices are over all dofs (N, N), prescribed ones and multipliers included; they are assembled when
    they are first asked for.  At rest K is the elements' tangent as it is.  Where the model moves, inertia forces and
    damping add their shares: with body-fixed rates W and A = dW/dt the exact variations on the rotation group are

        dW = R^T phi',   dA = R^T (phi'' - w x phi'),   w = R W,

    so C is that of the elements, which take dA = R^T phi'' alone, less M [w]_x in the columns of rotations.

    Args:
        compiled: the model.
        state: one instant (`fem_mbs.system.states.instant`); it is not changed.
        level: loads and gravity.
        matrices: of the model; None: `matrices_of` it, when they are needed.
    """

    def __init__(self, compiled: Compiled, state: State, level: Level, matrices: Matrices | None = None):
        self.compiled, self.state, self.level = compiled, state, level
        self.functions = function_table(level.values)
        if matrices is not None:
            self.matrices = matrices
        self._skewed: bool | None = None  # not known before K is assembled

    @cached_property
    def matrices(self) -> Matrices:
        """Return the assembler, with the pattern of the model."""
        return matrices_of(self.compiled)

    def under(self, level: Level, state: State | None = None) -> Tangent:
        """Return the tangent under another level of loads, and at another state if one is given."""
        return Tangent(self.compiled, self.state if state is None else state, level, self.__dict__.get("matrices"))

    def at(self, state: State) -> Tangent:
        """Return the tangent at another state."""
        return self.under(self.level, state)

    def of(self, compiled: Compiled) -> Tangent:
        """Return the tangent of a model with other parameters (`Compiled.with_parameters`) at the same state."""
        return Tangent(compiled, self.state, self.level, self.matrices.of(compiled))

    # --- what elements give ----------------------------------------------------------------------------------------
    def control(
        self, stiffness: float = 0.0, damping: float = 0.0, mass: float = 0.0, joints: float | None = None
    ) -> np.ndarray:
        """Return control values (N_CTL,) of the elements with the gravity of the level; see `control`."""
        return control(stiffness, damping, mass, self.level.gravity, joints=joints)

    def assemble(self, ctl: np.ndarray, blocks: Sequence[Block] | None = None) -> tuple[np.ndarray, csr_matrix]:
        """Return the residual (N,) and the tangent (N, N) of these blocks (all, if None) with control values.

        Constraints that do not act have empty rows and columns.
        """
        r, A = self.matrices.tangent(ctl, self.functions, self.state, blocks)
        acts = self._acts
        return (r, A) if acts is None else (r * acts, self._acting(A, acts))

    @cached_property
    def _acts(self) -> np.ndarray | None:
        """Return zeros (N,) at multipliers whose constraints do not act, and ones; None where all act."""
        silent = self.compiled.silent
        if not silent.any():
            return None
        out = np.ones(self.compiled.n_dof)
        out[self.compiled.first_multiplier : -1][silent] = 0.0
        return out

    @staticmethod
    def _acting(A: csr_matrix, acts: np.ndarray) -> csr_matrix:
        """Return a matrix (N, N) with zeros in rows and columns; its pattern stays."""
        A.data *= acts[A.indices] * np.repeat(acts, np.diff(A.indptr))
        return A

    def force(self, blocks: Sequence[Block] | None = None) -> np.ndarray:
        """Return the forces (N,) of these blocks (all, if None) that are out of balance at the state.

        They include inertia forces, multipliers and gaps of constraints.
        """
        r = self.matrices.force(self._dynamic, self.functions, self.state, blocks)
        return r if self._acts is None else r * self._acts

    @property
    def _dynamic(self) -> np.ndarray:
        """Return control values with which elements return forces of a state in motion; at rest those of statics."""
        return self.control(2.0, mass=1.0 if self.moving else 0.0)

    @cached_property
    def largest_force(self) -> float:
        """Return the largest entry of the force of any element on nodes."""
        tiles = self.matrices.tiles(C.FORCE, self._dynamic, self.functions, self.state)
        return max((float(np.abs(fe[:, : b.type.node_dofs]).max(initial=0.0)) for b, _, _, fe, _ in tiles), default=0.0)

    def outputs(self, number: int, stresses: bool = False) -> np.ndarray:
        """Return the OUTPUT table (n, n_out) of a block by its number, as in statics.

        With ``stresses`` return instead the table that the block's `prestress` takes.
        """
        ctl, state, block = self.control(2.0), self.state, self.compiled.blocks[number]
        if not stresses or block.type.stresses == 0:
            return self.compiled.outputs(number, ctl, self.functions, state, acting=not stresses)
        table = np.zeros((block.size, block.type.stresses))
        self._report(C.STRESSES, block, 0, block.size, table)
        return table

    def ledger(self, block: Block, first: int, last: int) -> np.ndarray:
        """Return the rows (k, N_LEDGER) of the energy ledger of the elements ``first`` ... ``last`` - 1 of a block."""
        table = np.zeros((last - first, C.N_LEDGER))
        self._report(C.LEDGER, block, first, last, table)
        return table

    def _report(self, job: int, block: Block, first: int, last: int, table: np.ndarray) -> None:
        s = self.state
        C.runner(block.type.report, (last - first) * block.type.local_dofs**2)(
            job, first, last, self.control(2.0), block.par, block.dof, block.rot,
            self.compiled.block_history(block).copy(), self.functions, s.Q, s.D, s.V, s.DD, s.U, table,
            np.zeros((0, 0, 0)),
        )  # fmt: skip

    # --- the motion of the state -----------------------------------------------------------------------------------
    @property
    def moving(self) -> bool:
        """Return whether the state has velocities or accelerations."""
        return bool(np.any(self.state.V))

    @cached_property
    def speed(self) -> float:
        """Return a scale of the angular velocities in the state [rad/s]; 1 at rest."""
        arrays, V = self.compiled.system, self.state.V[0]
        turning = float(np.abs(V[arrays.rotations]).max(initial=0.0)) if arrays.rotations.size else 0.0
        return max(turning, float(np.abs(V[arrays.positions]).max(initial=0.0)) / self.compiled.length) or 1.0

    @cached_property
    def spins(self) -> np.ndarray:
        """Return angular velocities (nr, 3) of the nodes with rotations, in spatial axes; none in the plane."""
        rows = self.compiled.system.rotations
        if self.compiled.dimension == 2 or not rows.size:
            return np.zeros((0, 3))
        R = self.state.D[0, : len(rows)].reshape(-1, 3, 3)
        return np.einsum("nij,nj->ni", R, self.state.V[0, rows])

    # --- matrices --------------------------------------------------------------------------------------------------
    @cached_property
    def residual(self) -> np.ndarray:
        """Return the forces (N,) that are out of balance at the state, gaps of constraints included."""
        return self.force()

    @cached_property
    def K(self) -> csr_matrix:
        """Return the stiffness (N, N), with the constraints in the rows and columns of their multipliers."""
        if self.moving:
            self._skewed = True  # as far as it is looked at: gyroscopic forces and rates of joints
            return self.inertial[1] + self.elastic[1]
        residual, K = self.assemble(self.control(2.0))
        self.__dict__["residual"], self._skewed = residual, self.matrices.skewed  # one pass gives both
        return K

    @property
    def skewed(self) -> bool:
        """Return whether opposite entries of element matrices may differ in K, which is assembled to know it."""
        if self._skewed is None:
            self.K  # noqa: B018
        return bool(self._skewed)

    @cached_property
    def C(self) -> csr_matrix:
        """Return the damping (N, N): forces per velocity."""
        if self.moving:
            return self.inertial[0] + self.elastic[0]
        return self.damping(self.compiled.blocks)

    @cached_property
    def M(self) -> csr_matrix:
        """Return the mass (N, N), symmetric."""
        return self.matrices.mass(self.functions, self.state)

    @cached_property
    def G(self) -> csr_matrix:
        """Return the constraints (m, N): joints and equations with the scales of their multipliers, then dofs that
        share an unknown."""
        first, N = self.compiled.first_multiplier, self.compiled.n_dof
        if first == N - 1 and not len(self.compiled.system.shared):
            return csr_matrix((0, N))
        rows = (self.elastic[1] if self.moving else self.K)[first:-1]
        return vstack((rows, self.compiled.sharing())).tocsr()

    def release(self) -> None:
        """Free the memory of the matrices; the next use makes them again."""
        for name in ("K", "C", "M", "inertial", "elastic"):
            self.__dict__.pop(name, None)

    def of_nodes(
        self, stiffness: float = 0.0, mass: float = 0.0, joints: float | None = None,
        blocks: Sequence[Block] | None = None,
    ) -> csr_matrix:  # fmt: skip
        """Return the symmetric part of a tangent of these blocks (all, if None) over the dofs of nodes (n, n); see
        `control`."""
        first = self.compiled.first_multiplier
        A = self.assemble(self.control(stiffness, mass=mass, joints=joints), blocks)[1][:first, :first]
        return csr_matrix(0.5 * (A + A.T))

    def damping(self, blocks: Sequence[Block], weight: float = 0.0) -> csr_matrix:
        """Return the share (N, N) of some blocks in C without the inertia forces of a moving model.

        Elements' tangents are affine in the weight of velocities; 0: what `damping_weight` returns.
        """
        damped = velocity_dependent(blocks)
        weight = weight or self.damping_weight(damped)
        if weight == 0.0:
            return csr_matrix((self.compiled.n_dof, self.compiled.n_dof))
        plus, minus = (self.assemble(self.control(2.0, damping=a * weight), damped)[1] for a in (1.0, -1.0))
        return compressed((plus - minus) / (2.0 * weight))

    def damping_weight(self, blocks: Sequence[Block]) -> float:
        """Return a weight of velocities that leaves the digits of dampers next to stiff parts, over 1; 0: nothing
        damps."""
        if not blocks:
            return 0.0
        plus, minus = (self.assemble(self.control(2.0, damping=a), blocks)[1] for a in (1.0, -1.0))
        size = 0.5 * abs(plus - minus).max()
        return max(abs(plus + minus).max() / size, 1.0) if size > 0.0 else 0.0

    @cached_property
    def inertial(self) -> tuple[csr_matrix, csr_matrix]:
        """Return the shares (N, N) of inertia forces and weight in C and K of a moving state.

        Elements' tangents are affine in the weights of velocities and accelerations.
        """
        w, blocks = self.speed, velocity_dependent([b for b in self.compiled.blocks if b.type.inertia])
        turn = crosses(self.compiled.n_dof, self.compiled.system.rotations, self.spins)
        turning = -(self.M @ turn)
        if not blocks:
            return turning, csr_matrix(turning.shape)
        plus, minus, back = (
            self.assemble(self.control(2.0, damping=a * w, mass=b * w * w), blocks)[1]
            for a, b in ((1.0, 1.0), (-1.0, 1.0), (0.0, -1.0))
        )
        return (plus - minus) / (2.0 * w) + turning, 0.5 * (0.5 * (plus + minus) + back)

    @cached_property
    def elastic(self) -> tuple[csr_matrix, csr_matrix]:
        """Return the shares (N, N) of all other elements in C and K of a moving state, joints and loads included."""
        others = [block for block in self.compiled.blocks if not block.type.inertia]
        K = self.assemble(self.control(2.0), others)[1]
        return self.damping(others), K + rate_stiffness(self, velocity_dependent(others))

    # --- constraints without the scales of multipliers --------------------------------------------------------------
    @cached_property
    def gaps(self) -> np.ndarray:
        """Return the gaps (n_mult,) of the joints' constraints: lengths, angles, or left less right sides of
        equations; zero where they do not act."""
        system, first = self.compiled, self.compiled.first_multiplier
        g = np.zeros(system.n_dof)
        joints = [b for b in system.blocks if b.type.multipliers]
        for block, fe, _ke in system.element_arrays(C.FORCE, self.control(), self.functions, self.state, joints):
            nd = block.type.node_dofs
            np.add.at(g, block.dof[:, nd:], fe[:, nd:] / block.par[:, [block.type.scale]])
        return np.where(system.silent, 0.0, g[first:-1])

    @cached_property
    def gradients(self) -> csr_matrix:
        """Return the Jacobian (m, N) of the constraints without scales, with respect to increments; then rows of
        dofs that share an unknown."""
        G = constraint_rows(self.compiled, self.control(), self.functions, self.state)
        return vstack((G, self.compiled.sharing())).tocsr()

    @cached_property
    def slides(self) -> np.ndarray:
        """Return G v (n_mult,) of the nonholonomic constraints G v = 0, without scales; zero in other rows."""
        system, first = self.compiled, self.compiled.first_multiplier
        v = np.zeros(system.n_dof)
        rolling = [b for b in system.blocks if b.type.nonholonomic]
        ctl = self.control(damping=1.0)
        for block, fe, _ke in system.element_arrays(C.FORCE, ctl, self.functions, self.state, rolling):
            nd = block.type.node_dofs
            np.add.at(v, block.dof[:, nd:], fe[:, nd:] / block.par[:, [block.type.scale]])
        return np.where(system.silent, 0.0, v[first:-1])

    @cached_property
    def steering(self) -> csr_matrix:
        """Return H (n_mult, N), the derivative of G v by displacements u for nonholonomic constraints: G u' + H u = 0.

        Its rows are scaled like those of G; other rows are empty.
        """
        w = self.speed
        rolling = [b for b in self.compiled.blocks if b.type.nonholonomic]
        plus, minus = (self.assemble(self.control(2.0, damping=a * w), rolling)[1] for a in (1.0, -1.0))
        return csr_matrix(0.5 * w * (plus - minus)[self.compiled.first_multiplier : -1])


def velocity_dependent(blocks: Sequence[Block]) -> list[Block]:
    """Return those of blocks whose forces may depend on velocities: not undamped continua and nodes."""
    return [
        block for block in blocks
        if not block.type.name.startswith(_CONTINUA) or block.type.multipliers or block.damped
        or (block.type.inertia and block.type.rotational)
    ]  # fmt: skip
