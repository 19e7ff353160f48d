"""The compiled model: arrays for the solvers, and the tables to find things in them.

`fem_mbs.system.compile` makes it.  Here it is asked: for names, states, forces and outputs of elements, scales of
constraints, and for the same model with other parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.compiling.in_advance import compile_kernels
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.side_by_side import evaluate
from fem_mbs.system.blocks import Block, Nodes
from fem_mbs.system.callbacks import Callback, serve

__all__ = ["Compiled", "Driven", "coordinates", "joined_parameters", "prepare"]

#: What owners of functions are called in messages, by the first parts of their element types.
_OWNERS = {
    "Motor": "Motor",
    "Servo": "Motor",
    "Hydraulic": "Hydraulic actuator",
    "Cylinder": "Hydraulic actuator",
    "Friction": "Friction",
}
_ROUND_OFF = 1e-14  # of a diagonal, over the largest
_JOINT = 4  # columns of the matrix of a joint that take as long as one of another element


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
    is a weak reference to what `fem_mbs.system.tangent.matrices_of` has made; ``picks`` are numbers of blocks with
    those of the elements of this process, where several processes share the model out; ``start`` then gives copies of
    the `coordinates`, which stand once per machine until they are changed.
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
    picks: list[tuple[int, np.ndarray]] | None = field(default=None, repr=False)
    start: Callable[[], np.ndarray] | None = field(default=None, repr=False)

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
                    kind = next((word for k, word in _OWNERS.items() if kind.startswith(k)), kind)
                    kind = "Equation" if block.type.name.startswith("equation") else kind
                    return Owner(kind, block.label(int(rows[0])))
        return Owner(f"Function {index + 1}")

    def has_drivers(self) -> bool:
        """Return whether time functions move dofs or joints."""
        joints = [b for b in self.blocks if b.type.multipliers and "function" in b.type.par]
        return bool(self.driven.dofs.size) or any((b.par[:, b.type.column("function")] >= 0.0).any() for b in joints)

    def refuse_impacts(self, owner: str, reason: str, remedy: str) -> None:
        """Refuse a model with impacts.

        Raises:
            ModelError: naming the impact.
        """
        for block in self.blocks:
            if block.type.unilateral:
                raise ModelError(f'impact "{block.label(0)}" {reason}', owner=owner, remedy=remedy)

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
    def silent(self) -> np.ndarray:
        """Return the multipliers (n_mult,) bool whose constraints do not act: open locks, and joints that have
        broken."""
        return self.system.equation[self.first_multiplier : -1] < 0

    @property
    def movable(self) -> np.ndarray:
        """Return whether each dof (first_multiplier,) moves: not held, not driven, and no state variable."""
        first = self.first_multiplier
        return (self.system.equation[:first] >= 0) & (self.system.kind[:first] != S.STATE)

    def refuse_states(self, owner: str, what: str, remedy: str) -> None:
        """Refuse a model with state variables.

        Args:
            what: does not know their equations.

        Raises:
            ModelError: naming the first one.
        """
        if self.system.states.size:
            raise ModelError(
                f"{self.name_of(int(self.system.states[0]))} has an equation of first order, which {what} not know",
                owner=owner, remedy=remedy,
            )  # fmt: skip

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
        Q = self.start() if self.start is not None else coordinates(self.dimension, self.nodes, self.offset, N)
        V, D = np.zeros((3, N)), np.zeros((2, nr + 1, width))
        where = np.flatnonzero(self.nodes.rotational)
        if self.dimension == 2:
            angle = self.nodes.rotation[where]
            D[:, :nr, 0], D[:, :nr, 1] = np.cos(angle), np.sin(angle)
            D[:, nr, 0] = 1.0
        else:
            D[:, :nr] = self.nodes.rotation[where].reshape(-1, 9)
            D[:, nr] = np.eye(3).ravel()
        widest = max([b.type.local_dofs for b in self.blocks] + [C.N_LEDGER])
        n_eq = self.n_equations
        outputs = sum(b.count * len(b.type.outputs) for b in self.blocks)
        elements = sum(b.count for b in self.blocks)
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
            peak=np.zeros(S.N_KIND),
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
        prepare(self.blocks, reports=True)
        forces = np.array([C.address(b.type.force) for b in self.blocks], np.int64)
        reports = np.array([C.address(b.type.report) for b in self.blocks], np.int64)
        return forces, reports

    def element_arrays(
        self, job: int, ctl: np.ndarray, fun: np.ndarray, state: S.State, blocks: Sequence[Block] | None = None
    ) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
        """Yield the element vectors and matrices of all blocks at ``state``: (block, fe (n, m), ke (n, m, m)).

        It serves the few assemblies outside the step loop (initial conditions, scales), in the order of ``blocks``.
        """
        prepare(self.blocks if blocks is None else blocks)
        for block in self.blocks if blocks is None else blocks:
            n, m = block.size, block.type.local_dofs
            fe, ke = np.zeros((n, m)), np.zeros((n, m, m))
            hist = self.block_history(block)
            if "callback" in block.type.par:
                serve(block, hist, self.callbacks, ctl, fun, state)
            # equations of joints take little for each of their entries
            evaluate(
                C.runner(block.type.force, n * m * (min(m, _JOINT) if block.type.multipliers else m)), job, 0, n, ctl,
                block.par, block.dof, block.rot, hist, fun, state.Q, state.D, state.V, state.DD, state.U, fe, ke,
            )  # fmt: skip
            yield block, fe, ke

    def report_plainly(self, job: int, ctl: np.ndarray, fun: np.ndarray, state: S.State, ledger: np.ndarray) -> None:
        """Do the job START, or LEDGER with the energies of the elements, like the compiled step but block by block."""
        for block in self.blocks:
            n, rows = block.size, slice(block.first_element, block.first_element + block.size)
            if job == C.START and not block.type.hist:
                continue
            fe = np.zeros((n, C.N_LEDGER))
            evaluate(
                C.runner(block.type.report, n * block.type.local_dofs**2), job, 0, n, ctl, block.par, block.dof,
                block.rot, self.block_history(block), fun, state.Q, state.D, state.V, state.DD, state.U, fe,
                np.zeros((0, 0, 0)),
            )  # fmt: skip
            if job == C.LEDGER:
                ledger += fe.sum(axis=0)
                state.work[rows] += fe[:, C.LOAD_WORK] + fe[:, C.DRIVER_WORK] - fe[:, C.DISSIPATED]
                state.energy[rows] = fe[:, C.KINETIC] + fe[:, C.STRAIN]

    def watched(self, block: Block, state: S.State) -> np.ndarray:
        """Return the quantities (n, watched) that limit the elements of a block, at row 1 of ``state``."""
        table, n = np.zeros((block.size, block.type.watched)), block.size
        evaluate(
            C.runner(block.type.report, n * block.type.local_dofs**2), C.WATCH, 0, n, np.zeros(C.N_CTL), block.par,
            block.dof, block.rot, self.block_history(block), np.zeros((1, 3)), state.Q, state.D, state.V, state.DD,
            state.U, table, np.zeros((0, 0, 0)),
        )  # fmt: skip
        return table

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
        evaluate(
            C.runner(block.type.report, (last - first) * block.type.local_dofs**2), C.OUTPUT, first, last, ctl,
            block.par, block.dof, block.rot, self.block_history(block).copy(), fun,
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
        C.runner(source.type.force, (high - low) * m * m)(
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
            par=joined_parameters(blocks, table),
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
        size[self.system.states] = 0.0  # their equations are no forces
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


def coordinates(dimension: int, nodes: Nodes, offset: np.ndarray, N: int) -> np.ndarray:
    """Return the coordinates (2, N) of a model at its start, at both ends of a step.

    Args:
        offset: (nodes + 1,) first dof of each node.
    """
    Q = np.zeros((2, N))
    for i in range(dimension):
        Q[:, offset[:-1] + i] = nodes.x[:, i]
    for number, value in nodes.states.items():
        Q[:, offset[-1] + number] = value
    if dimension == 2:
        where = np.flatnonzero(nodes.rotational)
        Q[:, offset[where] + 2] = nodes.rotation[where]
    return Q


def prepare(blocks: Sequence[Block], reports: bool = False) -> None:
    """Compile the kernels of blocks that are missing, all at once, unless they run as Python."""
    if not C.is_plain():
        functions = [f for b in blocks for f in (b.type.force, *([b.type.report] if reports else []))]
        compile_kernels([k for k in map(C.kernel_of, functions) if k is not None])


def joined_parameters(blocks: list[Block], table: np.ndarray) -> np.ndarray:
    """Return the parameters of all blocks in one array, which they view from now on; set their places in ``table``."""
    par = np.concatenate([np.empty(0), *[block.par.ravel() for block in blocks]])
    at = 0
    for row, block in zip(table, blocks, strict=True):
        row[S.N_PAR], row[S.O_PAR] = block.par.shape[1], at
        block.par = par[at : at + block.par.size].reshape(block.par.shape)
        at += block.par.size
    return par
