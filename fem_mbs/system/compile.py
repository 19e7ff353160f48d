"""From a model's blocks to the frozen arrays that the compiled step works on.

Numbering: each node has its position dofs and, where an element, body or joint needs it, rotation dofs; coordinates
that belong to no node (modal ones) follow, which count as positions, then multipliers; the last one is the dummy entry,
to which missing and ground dofs point.  The sparsity pattern is built once: every element matrix entry knows its place
in the value array, whether that is a band (narrow models, factored in compiled code) or compressed columns (wide
models, factored by CHOLMOD or SuperLU).
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from fem_mbs import contract as C
from fem_mbs.elements.registry import ElementType, element_type
from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.stepping import stepper as S
from fem_mbs.solvers.stepping.pattern import element_slots, matrix_pattern
from fem_mbs.system.callbacks import Callback, serve

__all__ = ["GROUND", "Block", "Compiled", "Nodes", "compile_system", "make_block", "merge_blocks"]

#: Node index that stands for ground in connectivity tables.
GROUND = -1

#: Half-bandwidth up to which the compiled banded solver serves; beyond it the sparse solvers are faster.
BAND_LIMIT = 60
_ROUND_OFF = 1e-14  # of a diagonal, over the largest


def _by_name(element: ElementType) -> str | tuple[Any, ...]:
    """Return what pickle writes of an element type: its name, or all of it if the registry has no such type."""
    try:
        known = element_type(element.name) is element
    except KeyError:
        known = False
    return (element_type, (element.name,)) if known else element.__reduce_ex__(2)


# A process that gets a model would compile kernels that came with it again, and ignore those on disk.
copyreg.pickle(ElementType, _by_name)


@dataclass
class Nodes:
    """Nodes of a model.

    ``x`` (n, dim) positions [m] at the start, ``rotational`` (n,) whether a node has rotation dofs, ``rotation``
    rotation at the start: the angle [rad], shape (n,), in the plane, the matrix, shape (n, 3, 3), in space.
    ``names`` says what to call a node in a message; ``scalars`` does so of coordinates that belong to no node.
    """

    x: np.ndarray
    rotational: np.ndarray
    rotation: np.ndarray
    names: Sequence[str]
    scalars: Sequence[str] = ()


@dataclass(eq=False)
class Block:
    """Equal elements: their type, end nodes (n, ends) and parameters (n, n_par).

    The parameters of a compiled model stand once: ``par`` of its blocks are views into ``System.par``.
    ``groups`` names runs of elements as the user did: (label, first, past the last).  ``joint`` (n,): elements with the
    same number have their multipliers in common; None: each has its own.  ``preferred`` (n_multipliers, 2): node and
    component of the dof that each multiplier's row should make dependent in an elimination, node -1: any; None: all of
    them any.  ``reads`` (n,): of types that read multipliers, the names of the joints whose they are ("": none);
    ``owners`` (n, type.reads, 2): where these stand, block and element, -1: nowhere.  ``scalars`` (n, type.scalars):
    numbers of their coordinates that belong to no node.  ``along``: runs of elements that act along those of a group of
    beams, one by one: (first, past the last, the group, local dof of the beams at which their own dofs begin); section
    forces contain them.
    """

    groups: list[tuple[str, int, int]]
    type: ElementType
    nodes: np.ndarray
    par: np.ndarray
    watched: bool = False
    joint: np.ndarray | None = None
    preferred: np.ndarray | None = None
    reads: list[str] | None = None
    owners: np.ndarray | None = None
    scalars: np.ndarray | None = None
    along: list[tuple[int, int, str, int]] = field(default_factory=list)
    dof: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32))
    rot: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32))
    first_element: int = 0
    first_output: int = 0

    @property
    def size(self) -> int:
        return self.nodes.shape[0]

    @property
    def n_multipliers(self) -> int:
        joints = self.size if self.joint is None else int(self.joint.max(initial=-1)) + 1
        return joints * self.type.multipliers

    def lies_along(self, group: str, first_dof: int = 0) -> None:
        """Declare that the elements act along the beams of a group, one by one; their dofs begin there at
        ``first_dof``."""
        self.along = [(0, self.size, group, first_dof)]

    def label(self, element: int) -> str:
        """Return the user's name of the group that an element belongs to."""
        for name, first, last in self.groups:
            if first <= element < last:
                return name
        return self.type.name

    def row_label(self, element: int) -> str:
        """Return `label`, and which of the group's constraints with shared multipliers it is, where there are
        several."""
        label = self.label(element)
        if self.joint is not None:
            first, last = next((a, b) for name, a, b in self.groups if a <= element < b)
            numbers = self.joint[first:last]
            if numbers.max() > numbers.min():
                return f"{label}, row {self.joint[element] - numbers.min() + 1}"
        return label


@dataclass
class Driven:
    """Prescribed dofs that move: dof = reference + f(t); ``owners`` say what moves them (`Motion "crank"`)."""

    dofs: np.ndarray
    functions: np.ndarray
    owners: list[Owner]

    @property
    def names(self) -> list[str]:
        return [owner.name for owner in self.owners]


@dataclass
class Compiled:
    """A compiled model: arrays for the solvers and the tables to find things in them.

    ``at_end`` (n_record,) bool are recorded values that belong to the end of a step, whatever its rule; ``assembler``
    is a weak reference to what `fem_mbs.system.tangent.matrices_of` has made.
    """

    dimension: int
    nodes: Nodes
    blocks: list[Block]
    offset: np.ndarray
    rot_row: np.ndarray
    n_dof: int
    system: S.System
    banded: bool
    bandwidth: int
    pattern: tuple[np.ndarray, np.ndarray] | None
    diagonal: np.ndarray
    length: float
    driven: Driven
    fixed: np.ndarray
    callbacks: list[Callback] = field(default_factory=list)
    at_end: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    assembler: Callable | None = field(default=None, repr=False)

    @property
    def dummy(self) -> int:
        """Return the index of the last entry of dof vectors, which is no unknown: missing dofs and the ground point
        at it."""
        return self.n_dof - 1

    @property
    def n_equations(self) -> int:
        return self.system.unknown.size

    @property
    def rotation_dofs(self) -> int:
        return 1 if self.dimension == 2 else 3

    def position_dofs(self, node: int) -> np.ndarray:
        return self.offset[node] + np.arange(self.dimension)

    def nodal(self, values: np.ndarray) -> np.ndarray:
        """Return values of nodes (nodes, 6), three of positions and three of rotations, from those of all dofs (N,).

        They are zero where a node has no such dof.  From (N, k) they are (k, nodes, 6).
        """
        n, dim = self.nodes.x.shape[0], self.dimension
        out = np.zeros((*values.shape[1:], n, 6))
        for i in range(dim):
            out[..., i] = values[self.offset[:n] + i].T
        turning = np.flatnonzero(self.nodes.rotational)
        for i in range(self.rotation_dofs):
            out[..., turning, 5 if dim == 2 else 3 + i] = values[self.offset[turning] + dim + i].T
        return out

    def name_of(self, dof: int) -> str:
        """Return a text for messages that names a dof: node and component, or joint and row."""
        if dof >= self.first_multiplier:
            for block in self.blocks:
                if not block.type.multipliers:
                    continue
                found = np.flatnonzero((block.dof[:, block.type.node_dofs :] == dof).any(axis=1))
                if found.size:
                    return f'constraint of "{block.row_label(int(found[0]))}"'
            return "the dummy entry"
        if dof >= self.first_scalar:
            return self.nodes.scalars[dof - self.first_scalar]
        node = int(np.searchsorted(self.offset, dof, side="right") - 1)
        k = dof - self.offset[node]
        component = (
            "xyz"[k] if k < self.dimension else ("rotation" if self.dimension == 2 else f"rotation {'xyz'[k - 3]}")
        )
        return f'node "{self.nodes.names[node]}", {component}'

    def function_owner(self, index: int) -> Owner:
        """Return a text for messages that names the motion or load of a time function."""
        for name, function in zip(self.driven.owners, self.driven.functions, strict=True):
            if function == index:
                return name
        for block in self.blocks:
            for column in {"function", "reference", "reference rate"} & set(block.type.par):
                rows = np.flatnonzero(block.par[:, block.type.column(column)] == index)
                if rows.size:
                    kind = "Joint" if block.type.multipliers else block.type.name.rstrip("23").capitalize()
                    kind = next((k for k in ("Motor", "Friction") if kind.startswith(k)), kind)
                    kind = "Equation" if block.type.name.startswith("equation") else kind
                    return Owner(kind, block.label(int(rows[0])))
        return Owner(f"Function {index + 1}")

    def driven_lengths(self) -> list[tuple[int, float, str]]:
        """Return time functions that change distances, the least length [m] that each adds to, and the joint's name."""
        found = []
        for block in self.blocks:
            if block.type.name in ("distance2", "distance3"):
                index = block.par[:, block.type.column("function")].astype(int)
                length = block.par[:, block.type.column("length")]
                for i in np.unique(index[index >= 0]):
                    row = np.flatnonzero(index == i)[int(length[index == i].argmin())]
                    found.append((int(i), float(length[row]), block.label(int(row))))
        return found

    def sharing(self) -> csr_matrix:
        """Return rows (n, N) that are zero where dofs with a shared unknown move equally."""
        shared = self.system.shared
        n = len(shared)
        rows = np.tile(np.arange(n), 2)
        values = np.repeat((1.0, -1.0), n)
        return csr_matrix((values, (rows, shared.T.ravel())), shape=(n, self.n_dof))

    @property
    def first_multiplier(self) -> int:
        return self.n_dof - 1 - sum(b.n_multipliers for b in self.blocks)

    @property
    def first_scalar(self) -> int:
        """Return the first dof of the coordinates that belong to no node."""
        return int(self.offset[-1])

    def preferred_dofs(self) -> np.ndarray:
        """Return dof (m,) that each multiplier's row should make dependent in an elimination, -1: any."""
        first = self.first_multiplier
        out = np.full(self.n_dof - 1 - first, -1, np.int64)
        at = 0
        for block in self.blocks:
            if block.preferred is not None:
                node, component = block.preferred.T
                dof = np.where(node >= 0, self.offset[node] + component, -1)
                if block.type.scalars:  # (nobody's wish, so no error where it is held)
                    dof[(dof >= 0) & (self.system.equation[dof] < 0)] = -1
                out[at : at + block.n_multipliers] = dof
            at += block.n_multipliers
        return out

    def watch(self, block: Block) -> None:
        """Evaluate the outputs of a block in every step, not only for frames."""
        block.watched = True
        self.system.table[self.blocks.index(block), S.WATCHED] = 1

    def initial_state(self) -> S.State:
        """Return a state at rest in the positions of the model, with new work arrays."""
        N, nr = self.n_dof, int(self.nodes.rotational.sum())
        width = 2 if self.dimension == 2 else 9
        Q, V, D = np.zeros((2, N)), np.zeros((3, N)), np.zeros((2, nr + 1, width))
        n = self.nodes.x.shape[0]
        for i in range(self.dimension):
            Q[:, self.offset[:n] + i] = self.nodes.x[:, i]
        where = np.flatnonzero(self.nodes.rotational)
        if self.dimension == 2:
            angle = self.nodes.rotation[where]
            Q[:, self.offset[where] + 2] = angle
            D[:, :nr, 0], D[:, :nr, 1] = np.cos(angle), np.sin(angle)
            D[:, nr, 0] = 1.0
        else:
            D[:, :nr] = self.nodes.rotation[where].reshape(-1, 9)
            D[:, nr] = np.eye(3).ravel()
        widest = max([b.type.local_dofs for b in self.blocks] + [C.N_LEDGER])
        n_eq = self.n_equations
        outputs = sum(b.size * len(b.type.outputs) for b in self.blocks)
        elements = sum(b.size for b in self.blocks)
        return S.State(
            Q=Q,
            D=D,
            V=V,
            DD=np.zeros_like(D),
            U=np.zeros(N),
            past=np.zeros((4, N)),
            reaction=np.zeros((2, N)),
            residual=np.zeros(N),
            values=np.zeros(self.n_values + 1),
            rhs=np.zeros(n_eq),
            pivot=np.zeros(n_eq, np.int64),
            out=np.zeros(outputs),
            energy=np.zeros(elements),
            work=np.zeros(elements + self.driven.dofs.size),
            fe=np.zeros(S.TILE * max([widest] + [len(b.type.outputs) for b in self.blocks])),
            ke=np.zeros(S.TILE * widest * widest),
            along=np.zeros(sum(b.size * b.type.node_dofs for b in self.blocks if b.type.sections)),
            peak=np.zeros(4),
            Qw=np.zeros((2, N)),
            Dw=np.zeros_like(D),
            Uw=np.zeros(N),
        )

    @property
    def n_values(self) -> int:
        if self.banded:
            return self.n_equations * (3 * self.bandwidth + 1)
        return 0 if self.pattern is None else self.pattern[1].size

    def kernels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return addresses (force, report) of the kernels of the blocks, for the compiled step."""
        forces = np.array([C.address(b.type.force) for b in self.blocks], np.int64)
        reports = np.array([C.address(b.type.report) for b in self.blocks], np.int64)
        return forces, reports

    def element_arrays(
        self, job: int, ctl: np.ndarray, fun: np.ndarray, state: S.State, blocks: Sequence[Block] | None = None
    ) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
        """Yield the element vectors and matrices of all blocks at ``state``: (block, fe (n, m), ke (n, m, m)).

        It serves the few assemblies outside the step loop (initial conditions, scales), in the order of ``blocks``.
        """
        for block in self.blocks if blocks is None else blocks:
            n, m = block.size, block.type.local_dofs
            fe, ke = np.zeros((n, m)), np.zeros((n, m, m))
            hist = self.block_history(block)
            if "callback" in block.type.par:
                serve(block, hist, self.callbacks, ctl, fun, state)
            block.type.force(
                job, 0, n, ctl, block.par, block.dof, block.rot, hist, fun,
                state.Q, state.D, state.V, state.DD, state.U, fe, ke,
            )  # fmt: skip
            yield block, fe, ke

    def block_history(self, block: Block) -> np.ndarray:
        start = sum(b.size * b.type.hist for b in self.blocks[: self.blocks.index(block)])
        return self.system.hist[start : start + block.size * block.type.hist].reshape(block.size, block.type.hist)

    def outputs(
        self,
        number: int,
        ctl: np.ndarray,
        fun: np.ndarray,
        state: S.State,
        first: int = 0,
        last: int | None = None,
        acting: bool = True,
    ) -> np.ndarray:
        """Return the table (n, n_out) of the OUTPUT job for elements ``first`` to ``last`` (all) of a block, by its
        number.

        It is that of ``state``; section forces include the forces ``acting`` along the elements.
        """
        block = self.blocks[number]
        last = block.size if last is None else last
        table = np.zeros((last - first, len(block.type.outputs)))
        if acting:
            for _, own, source, begin, count, dof in self.system.links[self.system.links[:, 0] == number].tolist():
                self._act(table, self.blocks[source], max(first, own), min(last, own + count), begin - own, dof, first,
                          ctl, fun, state)  # fmt: skip
        block.type.report(
            C.OUTPUT, first, last, ctl, block.par, block.dof, block.rot, self.block_history(block).copy(), fun,
            state.Q, state.D, state.V, state.DD, state.U, table, np.zeros((0, 0, 0)),
        )  # fmt: skip
        return table

    def _act(self, table, source: Block, low: int, high: int, shift: int, dof: int, first: int, ctl, fun, state):
        """Add the forces of a source on the beams ``low`` to ``high`` to their rows of a table that begins at
        ``first``; the source's elements are those of the beams plus ``shift``."""
        if low >= high:
            return
        m, each = source.type.local_dofs, source.type.end_dofs
        fe = np.zeros((high - low, m))
        source.type.force(
            C.FORCE, low + shift, high + shift, ctl, source.par, source.dof, source.rot,
            self.block_history(source), fun, state.Q, state.D, state.V, state.DD, state.U, fe, np.zeros((0, 0, 0)),
        )  # fmt: skip
        ends = 3 * (self.dimension - 1)
        i = np.arange(m)
        table[low - first : high - first, dof + i // each * ends + i % each] += fe / ctl[C.SF]

    def serve(self, ctl: np.ndarray, fun: np.ndarray, state: S.State, slopes: bool = True) -> None:
        """Evaluate the users' functions at the iterate of ``state``; see `fem_mbs.system.callbacks.serve`."""
        for block in self.blocks:
            if "callback" in block.type.par:
                serve(block, self.block_history(block), self.callbacks, ctl, fun, state, slopes)

    def with_parameters(self, par: Mapping[int, np.ndarray]) -> Compiled:
        """Return a model with other element parameters; this one keeps its own.

        The new model has parameters, element histories and row scales of its own, and shares all other arrays.

        Args:
            par: parameters (n, n_par) of some blocks, by their numbers; rows of tables may differ in length.
        """
        blocks, table = [copy(block) for block in self.blocks], self.system.table.copy()
        for i, own in par.items():
            blocks[i].par = own
        system = self.system._replace(
            table=table,
            par=_joined(blocks, table),
            hist=self.system.hist.copy(),
            row_scale=self.system.row_scale.copy(),
        )
        return replace(self, blocks=blocks, system=system)

    def set_scales(self, ctl: np.ndarray, fun: np.ndarray, state: S.State) -> np.ndarray | None:
        """Scale every constraint with its effective mass, so that the saddle point's condition does not depend on h.

        With s = 1/(G diag(K)^-1 G^T) the blocks s G and K of the step's matrix are of one size (Bottasso, Bauchau &
        Cardona 2007); the scale goes into the parameter column of the joint.  Multipliers in the state are scaled anew,
        so that their forces stay.  Returns the diagonal of K (N,), None without joints.
        """
        joints = [b for b in self.blocks if b.type.multipliers]
        if not joints:
            return None
        before = [block.par[:, block.type.scale].copy() for block in joints]
        for block in joints:
            block.par[:, block.type.scale] = 1.0
        diagonal = np.zeros(self.n_dof)
        for block, _fe, ke in self.element_arrays(C.TANGENT, ctl, fun, state):
            nd = block.type.node_dofs
            np.add.at(diagonal, block.dof[:, :nd], np.einsum("eii->ei", ke)[:, :nd])
        flexibility = np.zeros(self.n_dof)
        # round-off of stiffness that is none, as of a body that reactions load, has no reciprocal
        size = diagonal * np.where(self.system.kind == S.POSITION, self.length**2, 1.0)
        least = max(_ROUND_OFF * size.max(initial=0.0), 1e-150)
        free = (self.system.equation >= 0) & (size > least) & (diagonal > 1e-150)
        flexibility[free] = 1.0 / diagonal[free]
        arrays = self.element_arrays(C.TANGENT, ctl, fun, state, joints)
        for (block, _fe, ke), last in zip(arrays, before, strict=True):
            nd = block.type.node_dofs
            G = ke[:, nd:, :nd]
            soft = flexibility[block.dof[:, :nd]]
            c = np.einsum("emj,ej->em", G * G, soft).max(axis=1)
            # of what has flexibility only where the gradient is round-off
            c[c <= _ROUND_OFF**2 * (G * G).max(axis=(1, 2), initial=0.0) * soft.max(axis=1, initial=0.0)] = 0.0
            if block.joint is not None:  # one scale for what has its multipliers in common
                c = np.bincount(block.joint, c)[block.joint]
            scale = np.where(c > 0.0, 1.0 / np.where(c > 0.0, c, 1.0), 1.0)
            block.par[:, block.type.scale] = scale
            # forces scale G^T lambda go on from an earlier step
            state.Q[:, block.dof[:, nd:]] *= (last / scale)[:, None]
            unit = 1.0 if block.type.angular else self.length
            self.system.row_scale[block.dof[:, nd:]] = (scale * unit)[:, None]
        for block in self.blocks:
            if block.owners is not None:
                scales = block.par[:, len(block.type.par) - block.type.reads : len(block.type.par)]
                number, element = block.owners.transpose(2, 0, 1)
                for i, joint in enumerate(self.blocks):
                    if joint.type.multipliers:
                        scales[number == i] = joint.par[element[number == i], joint.type.scale]
        return diagonal


def _number(dimension: int, nodes: Nodes, blocks: list[Block]):
    n = nodes.x.shape[0]
    nrot = 1 if dimension == 2 else 3
    per_node = dimension + nrot * nodes.rotational.astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(per_node)))
    rot_row = np.full(n, int(nodes.rotational.sum()), np.int64)
    rot_row[nodes.rotational] = np.arange(nodes.rotational.sum())
    count = int(offset[-1])
    first_scalar, count = count, count + len(nodes.scalars)
    multipliers = sum(b.n_multipliers for b in blocks)
    N = count + multipliers + 1
    dummy = N - 1
    first_element = first_output = 0
    for block in blocks:
        t = block.type
        dof = np.full((block.size, t.local_dofs), dummy, np.int32)
        rot = np.full((block.size, t.ends), int(nodes.rotational.sum()), np.int32)
        for a in range(t.ends):
            node = block.nodes[:, a]
            real = node >= 0
            base = offset[node[real]]
            for i in range(dimension):
                dof[real, a * t.end_dofs + i] = base + i
            if t.rotational:
                turning = real & nodes.rotational[np.where(real, node, 0)]
                base = offset[node[turning]] + dimension
                for i in range(nrot):
                    dof[turning, a * t.end_dofs + dimension + i] = base + i
                rot[turning, a] = rot_row[node[turning]]
        if t.scalars and block.scalars is not None:
            dof[:, t.ends * t.end_dofs : t.node_dofs] = first_scalar + block.scalars
        if t.multipliers:
            joint = np.arange(block.size) if block.joint is None else block.joint
            dof[:, t.node_dofs :] = count + joint[:, None] * t.multipliers + np.arange(t.multipliers)
            count += block.n_multipliers
        block.dof, block.rot = dof, rot
        block.first_element, block.first_output = first_element, first_output
        first_element += block.size
        first_output += block.size * len(t.outputs)
    for block in blocks:
        if block.type.reads:
            _link(block, blocks)
    return offset, rot_row, N


#: Constraints whose multipliers are forces between two points along unit vectors.
_FORCES = ("point", "position", "offset", "beam_slide")


def _link(block: Block, blocks: list[Block]) -> None:
    """Point the last local dofs of elements that read multipliers at those of their joints which no function drives."""
    first = block.type.node_dofs + block.type.multipliers
    block.owners = np.full((block.size, block.type.reads, 2), -1, np.int64)
    for element, name in enumerate(block.reads or ()):
        found = []
        for number, joint in enumerate(blocks) if name else ():
            t = joint.type
            if not t.multipliers or t.name[:-1] not in _FORCES:
                continue
            driven = joint.par[:, t.column("function")] >= 0.0 if "function" in t.par else np.zeros(joint.size, bool)
            rows = [i for label, a, b in joint.groups if label == name for i in range(a, b) if not driven[i]]
            if joint.joint is not None:  # multipliers in common are read once
                rows = [i for k, i in enumerate(rows) if joint.joint[i] not in joint.joint[rows[:k]]]
            found += [(number, i, d) for i in rows for d in joint.dof[i, t.node_dofs :]]
        if name and not 0 < len(found) <= block.type.reads:
            raise ModelError(
                f'joint "{name}" has {len(found)} constraint forces where 1 to {block.type.reads} are expected',
                owner=Owner("Friction", block.label(element)),
                remedy="use a joint that guides a point",
            )
        for k, (number, i, d) in enumerate(found):
            block.dof[element, first + k] = d
            block.owners[element, k] = number, i


def _order(equation_of: np.ndarray, blocks: list[Block], n_eq: int):
    """Return reverse Cuthill-McKee order of the equations and the half-bandwidth it gives."""
    if not blocks or n_eq == 0:
        return np.arange(n_eq), 0
    indptr, r = matrix_pattern(n_eq, [equation_of[block.dof] for block in blocks])
    graph = csr_matrix((np.ones(r.size, np.int8), r, indptr), shape=(n_eq, n_eq))
    c = np.repeat(np.arange(n_eq, dtype=np.int32), np.diff(indptr))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(n_eq, np.int64)
    place[order] = np.arange(n_eq)
    natural = int(np.abs(r - c).max(initial=0))
    ordered = int(np.abs(place[r] - place[c]).max(initial=0))
    return (np.arange(n_eq), natural) if natural <= ordered else (place, ordered)


def compile_system(
    dimension: int, nodes: Nodes, blocks: list[Block], fixed: np.ndarray, driven: list[tuple[int, int, int, Owner]],
    shared: np.ndarray | None = None, stepping: bool = True,
) -> Compiled:  # fmt: skip
    """Number the dofs, and build pattern, slots and tables.

    Args:
        fixed: (n, 2) pairs (node, component) held where they are.
        driven: (node, component, time function, what moves it) of dofs that follow reference + f(t).
        shared: (m, 3) nodes a, b and 0 (they share displacements) or 1 (rotations), all free; see `elimination`.
        stepping: order the equations and find the places of element matrices for the compiled step, which analyses
            about one state do without (`fem_mbs.system.tangent`).

    Raises:
        ModelError: nothing is free to move, or a dof is both fixed and driven.
    """
    offset, rot_row, N = _number(dimension, nodes, blocks)
    kind, rotations = _kinds(dimension, nodes, offset, N)
    n, nrot = nodes.x.shape[0], 1 if dimension == 2 else 3
    fixed_dofs, driven_dofs = _prescribed(nodes, offset, fixed, driven)
    followers = _followers(shared, offset, dimension, nrot, N)
    equation, unknown, band = _equations(blocks, N, (fixed_dofs, driven_dofs), followers, stepping)
    banded = stepping and (band <= BAND_LIMIT or unknown.size <= BAND_LIMIT)
    pattern, slots, diagonal = None, np.empty(0, np.int32), np.empty(0, np.int64)
    if stepping:
        pattern, slots, diagonal = _places([equation[b.dof] for b in blocks], unknown.size, band if banded else -1)
    table = _table(blocks)
    links = _along(blocks, table)
    initial = np.zeros(N)
    for i in range(dimension):
        initial[offset[:n] + i] = nodes.x[:, i]
    turning = np.flatnonzero(nodes.rotational)
    if dimension == 2:
        initial[offset[turning] + 2] = nodes.rotation[turning]
    part, part_dofs = _continua(blocks, offset, n)
    system = S.System(
        table=table,
        dof=_flat([b.dof for b in blocks], np.int32),
        rot=_flat([b.rot for b in blocks], np.int32),
        par=_joined(blocks, table),
        hist=np.zeros(sum(block.size * block.type.hist for block in blocks)),
        slot=slots,
        equation=equation,
        unknown=unknown,
        kind=kind,
        positions=np.flatnonzero(kind == S.POSITION).astype(np.int32),
        rotations=rotations,
        driven=driven_dofs,
        driver=np.array([d[2] for d in driven], np.int32),
        driven_reference=initial[driven_dofs] if len(driven) else np.zeros(0),
        row_scale=np.ones(N),
        part=part,
        part_dofs=part_dofs,
        shared=followers.astype(np.int32),
        links=links,
        holding=_holding(blocks, equation),
        record=np.zeros((0, 2), np.int32),
    )
    return Compiled(
        dimension=dimension,
        nodes=nodes,
        blocks=blocks,
        offset=offset,
        rot_row=rot_row,
        n_dof=N,
        system=system,
        banded=banded,
        bandwidth=band,
        pattern=pattern,
        diagonal=diagonal,
        length=_length(nodes, blocks),
        driven=Driven(driven_dofs, system.driver, [d[3] for d in driven]),
        fixed=fixed_dofs,
    )


def _kinds(dimension: int, nodes: Nodes, offset: np.ndarray, N: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the kind (N,) of each dof, and the rotation dofs (nr, 1 or 3) of the nodes that have them."""
    kind = np.full(N, S.MULTIPLIER, np.int8)
    kind[-1] = S.SINK
    n, nrot = nodes.x.shape[0], 1 if dimension == 2 else 3
    for i in range(dimension):
        kind[offset[:n] + i] = S.POSITION
    kind[offset[-1] : offset[-1] + len(nodes.scalars)] = S.POSITION
    turning = np.flatnonzero(nodes.rotational)
    rotations = (offset[turning][:, None] + dimension + np.arange(nrot)).astype(np.int32).reshape(-1, nrot)
    kind[rotations] = S.ROTATION
    return kind, rotations


def _prescribed(
    nodes: Nodes, offset: np.ndarray, fixed: np.ndarray, driven: list[tuple[int, int, int, Owner]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the dofs that are fixed, ascending, and those that are driven, in the order given.

    Raises:
        ModelError: a dof is both, or driven twice.
    """
    fixed_dofs = np.unique(offset[fixed[:, 0]] + fixed[:, 1]) if len(fixed) else np.empty(0, np.int64)
    driven_dofs = np.array([offset[d[0]] + d[1] for d in driven], np.int32)
    for owner, dof in zip([d[3] for d in driven], driven_dofs, strict=True):
        if dof in fixed_dofs:
            node = int(np.searchsorted(offset, dof, side="right") - 1)
            raise ModelError(
                f'node "{nodes.names[node]}" is already held in this direction',
                owner=owner,
                remedy="remove the support or the motion",
            )
        if np.count_nonzero(driven_dofs == dof) > 1:
            node = int(np.searchsorted(offset, dof, side="right") - 1)
            raise ModelError(
                f'node "{nodes.names[node]}" is already driven in this direction by another motion',
                owner=owner,
                remedy="keep one of them",
            )
    return fixed_dofs, driven_dofs


def _equations(
    blocks: list[Block], N: int, prescribed: tuple[np.ndarray, np.ndarray], followers: np.ndarray, stepping: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the equation (N,) of each dof, -1: none, the dof (n_eq,) of each equation, and the half-bandwidth.

    Raises:
        ModelError: nothing is free to move.
    """
    free = np.ones(N, bool)
    free[-1] = False  # the dummy entry
    for dofs in (*prescribed, followers[:, 0]):
        free[dofs] = False
    n_eq = int(free.sum())
    if n_eq == 0 and len(prescribed[1]) == 0:
        raise ModelError(
            "every degree of freedom is held, nothing can move", owner=Owner("Model"), remedy="remove a support"
        )
    equation = np.full(N, -1, np.int32)
    equation[free] = np.arange(n_eq)
    equation[followers[:, 0]] = equation[followers[:, 1]]
    place, band = _order(equation, blocks, n_eq) if stepping else (np.arange(n_eq), n_eq)
    equation[free] = place
    equation[followers[:, 0]] = equation[followers[:, 1]]
    unknown = np.empty(n_eq, np.int32)
    unknown[place] = np.flatnonzero(free)
    return equation, unknown, band


def _places(
    tables: list[np.ndarray], n_eq: int, band: int
) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray, np.ndarray]:
    """Return the pattern of the step's matrix, the place of every element matrix entry, and those of the diagonal.

    Args:
        tables: equations (n, m) of the elements' dofs, one table per block.
        band: half-bandwidth of a banded matrix, which needs no pattern; -1: compressed columns.

    Raises:
        ModelError: the matrix has more entries than 32-bit indices count.
    """
    if band >= 0:
        width, pattern, slots = 3 * band + 1, None, []
        entries = n_eq * width
        for eq in tables:
            m = eq.shape[1]
            r, c = np.repeat(eq, m, axis=1), np.tile(eq, (1, m))
            inside = (r >= 0) & (c >= 0)
            slots.append(np.where(inside, c.astype(np.int64) * width + 2 * band + r - c, entries).ravel())
        diagonal = np.arange(n_eq, dtype=np.int64) * width + 2 * band
    else:
        indptr, indices = matrix_pattern(n_eq, tables)
        entries = indices.size
        pattern = (indptr.astype(np.int32), indices)
        slot, diagonal = element_slots(indptr, indices, tables)
        slots = [slot]
    if entries >= 2**31 - 1:
        raise ModelError(
            f"its matrix has {entries} entries, more than 32-bit indices can count",
            owner=Owner("Model"),
            remedy="split the model",
        )
    return pattern, _flat(slots, np.int32), diagonal


def _table(blocks: list[Block]) -> np.ndarray:
    """Return sizes and places in the flat arrays (blocks, N_TABLE), except those of parameters and links."""
    table = np.zeros((len(blocks), S.N_TABLE), np.int64)
    at = dict.fromkeys((S.O_DOF, S.O_ROT, S.O_HIST, S.O_SLOT), 0)
    for row, block in zip(table, blocks, strict=True):
        t, size = block.type, block.size
        row[S.N_EL], row[S.N_LOC], row[S.N_END] = size, t.local_dofs, t.ends
        row[S.N_HIST], row[S.N_OUT] = t.hist, len(t.outputs)
        row[S.O_OUT], row[S.O_EL], row[S.WATCHED] = block.first_output, block.first_element, block.watched
        row[S.INERTIA], row[S.O_ALONG] = t.inertia, -1
        for column, step in (
            (S.O_DOF, size * t.local_dofs),
            (S.O_ROT, size * t.ends),
            (S.O_HIST, size * t.hist),
            (S.O_SLOT, size * t.local_dofs**2),
        ):
            row[column] = at[column]
            at[column] += step
    return table


def _flat(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    """Return all entries of some arrays one after the other."""
    return np.concatenate([np.empty(0, dtype), *[np.ravel(a) for a in arrays]]).astype(dtype, copy=False)


def _length(nodes: Nodes, blocks: list[Block]) -> float:
    """Return the size of a model [m]: the diagonal of its nodes' box; for a single point, the extent of its joints."""
    span = nodes.x.max(axis=0) - nodes.x.min(axis=0) if len(nodes.x) else np.zeros(1)
    length = float(np.linalg.norm(span))
    if length > 0.0:
        return length
    return max([float(np.abs(b.par).max(initial=0.0)) for b in blocks if b.type.multipliers] or [1.0])


def _joined(blocks: list[Block], table: np.ndarray) -> np.ndarray:
    """Return the parameters of all blocks in one array, which they view from now on; ``table`` is told their places."""
    par = np.concatenate([np.empty(0), *[block.par.ravel() for block in blocks]])
    at = 0
    for row, block in zip(table, blocks, strict=True):
        row[S.N_PAR], row[S.O_PAR] = block.par.shape[1], at
        block.par = par[at : at + block.par.size].reshape(block.par.shape)
        at += block.par.size
    return par


def _along(blocks: list[Block], table: np.ndarray) -> np.ndarray:
    """Return the elements that act along beams (n, 6), and write to ``table`` where the forces on the beams of a block
    begin.

    A row holds block and first element of the beams, block, first element and number of the acting elements, and their
    first local dof.
    """
    links = []
    size = 0
    for b, block in enumerate(blocks):
        if not block.type.sections:
            continue
        places = {name: (first, last) for name, first, last in block.groups}
        found = [
            (b, places[name][0], s, first, last - first, dof)
            for s, source in enumerate(blocks) for first, last, name, dof in source.along
            if name in places and last - first == places[name][1] - places[name][0]
        ]  # fmt: skip
        if found:
            links += found
            table[b, S.O_ALONG] = size
            size += block.size * block.type.node_dofs
    return np.array(links, np.int64).reshape(-1, 6)


def _holding(blocks: list[Block], equation: np.ndarray) -> np.ndarray:
    """Return ranges (n, 3) of elements that act on prescribed dofs: block, first, last (exclusive)."""
    prescribed = equation < 0
    prescribed[-1] = False  # the dummy entry
    ranges = [np.empty((0, 3), np.int64)]
    for b, block in enumerate(blocks):
        acts = prescribed[block.dof].any(axis=1).astype(np.int8)
        edge = np.flatnonzero(np.diff(acts, prepend=0, append=0)).reshape(-1, 2)
        ranges.append(np.column_stack((np.full(len(edge), b), edge)))
    return np.concatenate(ranges)


def _continua(blocks: list[Block], offset: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return connected parts of plane and solid elements: where the nodes of each begin, and the first dofs of all."""
    first, last = [], []
    for block in blocks:
        if block.type.prestress is not None and block.type.ends > 2 and not block.type.rotational:
            first.append(np.repeat(block.nodes[:, 0], block.type.ends - 1))
            last.append(block.nodes[:, 1:].ravel())
    if not first:
        return np.zeros(1, np.int32), np.zeros(0, np.int32)
    a, b = np.concatenate(first), np.concatenate(last)
    graph = coo_matrix((np.ones(a.size, np.int8), (a, b)), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    nodes = np.unique(np.concatenate((a, b)))
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    _, begin = np.unique(part[nodes], return_index=True)
    return np.append(begin, nodes.size).astype(np.int32), offset[nodes].astype(np.int32)


def _followers(shared: np.ndarray | None, offset, dimension: int, nrot: int, N: int) -> np.ndarray:
    """Return dofs (n, 2) that share an unknown: the one without an equation, and the one that has it."""
    if shared is None or not len(shared):
        return np.zeros((0, 2), np.int64)
    a, b = [], []
    for kind, first, count in ((0, 0, dimension), (1, dimension, nrot)):
        pairs = shared[shared[:, 2] == kind]
        for i in range(first, first + count):
            a.append(offset[pairs[:, 0]] + i)
            b.append(offset[pairs[:, 1]] + i)
    rows, cols = np.concatenate(a), np.concatenate(b)
    _, part = connected_components(coo_matrix((np.ones(rows.size), (rows, cols)), shape=(N, N)), directed=False)
    touched = np.unique(np.concatenate((rows, cols)))
    leader = np.full(N, N, np.int64)
    np.minimum.at(leader, part[touched], touched)
    lead = leader[part[touched]]
    return np.column_stack((touched, lead))[touched != lead]


def make_block(label: str, type_name: str, nodes: ArrayLike, table: ArrayLike = (), **columns: Any) -> Block:
    """Return a block of one group from parameter columns by name (scalars are repeated); ``table`` ends each row."""
    t = element_type(type_name)
    nodes = np.asarray(nodes, np.int64).reshape(-1, t.ends)
    par = np.zeros((nodes.shape[0], len(t.par)))
    for name, value in columns.items():
        par[:, t.column(name)] = value
    if t.scale >= 0:
        par[:, t.scale] = 1.0
    par = np.hstack((par, np.tile(np.asarray(table, float).ravel(), (nodes.shape[0], 1))))
    return Block([(label, 0, nodes.shape[0])], t, nodes, par)


def merge_blocks(blocks: list[Block]) -> list[Block]:
    """Return one block per element type, in the order of first appearance: a kernel call serves many elements."""
    by_type: dict[str, list[Block]] = {}
    for block in blocks:
        by_type.setdefault(block.type.name, []).append(block)
    merged = []
    for parts in by_type.values():
        groups, along, at = [], [], 0
        for part in parts:
            groups += [(name, first + at, last + at) for name, first, last in part.groups]
            along += [(first + at, last + at, name, dof) for first, last, name, dof in part.along]
            at += part.size
        nodes = np.concatenate([p.nodes for p in parts])
        width = max(p.par.shape[1] for p in parts)  # types with tables have rows of different lengths
        par = np.concatenate([np.pad(p.par, ((0, 0), (0, width - p.par.shape[1]))) for p in parts])
        joint = None
        if any(p.joint is not None for p in parts):
            own = [np.arange(p.size) if p.joint is None else p.joint for p in parts]
            before = np.cumsum([0] + [int(j.max(initial=-1)) + 1 for j in own])
            joint = np.concatenate([j + first for j, first in zip(own, before, strict=False)])
        preferred = None
        if any(p.preferred is not None for p in parts):
            none = [np.full((p.n_multipliers, 2), -1) if p.preferred is None else p.preferred for p in parts]
            preferred = np.concatenate(none)
        reads = [name for p in parts for name in p.reads or [""] * p.size] if parts[0].type.reads else None
        scalars = np.concatenate([p.scalars for p in parts]) if parts[0].type.scalars else None
        merged.append(
            Block(
                groups, parts[0].type, nodes, par, joint=joint, preferred=preferred, reads=reads, scalars=scalars,
                along=along,
            )
        )  # fmt: skip
    return merged
