"""Component mode synthesis of a model: its components by free-interface modes, coupled without interface coordinates.

The elements of a model are distributed to its components (`Model.component`).  An element without a component, such as
a spring to the ground or a mass, goes to the component that has all its nodes.  Springs between components, and other
elements with nodes in several, are links.  Their stiffness acts between the components' interface coordinates, in
statics exactly; their masses move with the displacements of the components there.  Constraints (joints, equations,
couplings) within a component are eliminated in it; those between components, and dofs that several use, are conditions
of compatibility.  Nodes that only constraints use (references of couplings) belong to the first component to which
these connect them.

All of it is about the start, at rest and without loads, where stiffnesses are those of the elements alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from time import perf_counter

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.components import part_name
from fem_mbs.model.model import Model
from fem_mbs.solvers.eigen.modes import RealModes, as_modes
from fem_mbs.solvers.linear.constraint_equations import ConstraintConflict, eliminate
from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.reduction.substructures import Coupled, Reduced, Substructure, couple
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.tangent import ElementSet
from fem_mbs.units import in_units_of_model, unit_of

__all__ = ["Assembly", "Part", "assemble_components", "component_modes"]


@dataclass(eq=False)
class Part:
    """A component of a model: ``picks``, its elements by blocks and what group (-1: given to it) they belong to;
    ``dofs`` of the model that it has; ``T`` (dofs, n): these by its independent ones; ``substructure``."""

    name: str
    picks: list[tuple[int, np.ndarray]]
    dofs: np.ndarray
    T: csr_matrix
    substructure: Substructure

    def reduce(self, A: csr_matrix) -> csr_matrix:
        """Return T^T A T: a matrix over the dofs of nodes, reduced to the independent dofs of the component."""
        A = A[self.dofs][:, self.dofs]
        return csr_matrix(self.T.T @ A @ self.T)


@dataclass(eq=False)
class Assembly:
    """A model in the modes of its components.

    ``coupled``: the reduced system; ``parts``; ``links``: elements between components, over the ``ends`` (s,), dofs of
    the model whose displacements are the last interface coordinates; ``seconds``: what took how long.
    """

    model: Model
    linear: Linearised
    parts: list[Part]
    coupled: Coupled
    conditions: int
    links: list[tuple[int, np.ndarray]]
    ends: np.ndarray
    link_matrices: tuple[np.ndarray, np.ndarray]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def frequencies(self) -> np.ndarray:
        """Return the frequencies (n_p,) [Hz] of all system modes; rigid-body modes of a free model come first, about
        zero."""
        return self.coupled.frequencies

    @property
    def kept(self) -> dict[str, int]:
        """Return the numbers of free modes of each component, rigid-body ones included."""
        return {part.name: r.kept for part, r in zip(self.parts, self.coupled.parts, strict=True)}

    @property
    def dofs(self) -> int:
        """Return the number of dofs of all components together, those of interfaces counted in each."""
        return sum(part.substructure.size for part in self.parts)

    def shapes(self, vectors: np.ndarray | None = None, count: int | None = None) -> np.ndarray:
        """Return displacements (N, k) of all dofs of the model for amplitudes (n_p, k); None: of the first ``count``
        system modes (all), of unit modal mass."""
        vectors = self.coupled.vectors[:, :count] if vectors is None else vectors
        whole = np.zeros((self.linear.system.n_dof, vectors.shape[1]))
        for c in reversed(range(len(self.parts))):  # of shared dofs the first component has the word
            whole[self.parts[c].dofs] = self.parts[c].T @ self.coupled.displacements(c, vectors)
        return whole

    def full_modes(self, count: int, changes: tuple[csr_matrix, csr_matrix] | None = None) -> np.ndarray:
        """Return frequencies (count,) [Hz] of the whole model without reduction, for comparison; ``changes`` of its
        stiffness and mass over the dofs of nodes."""
        from fem_mbs.solvers.eigen.modes import real_modes

        linear = self.linear
        K, M = linear.stiffness, linear.mass
        if changes is not None:
            n, nodes = linear.system.n_dof, linear.first
            whole = [csr_matrix((A.data, A.indices, np.pad(A.indptr, (0, n - nodes), "edge")), (n, n)) for A in changes]
            K, M = K + linear.reduce(whole[0]), M + linear.reduce(whole[1])
        values = real_modes(K, M, count, G=linear.rows).values
        return np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)


@in_units_of_model
@one_blas_thread()  # matrices are small or sparse: more threads only wait for each other
def assemble_components(
    model: Model,
    *,
    cutoff: float | Mapping[str, float] | None = None,
    modes: int | Mapping[str, int] | None = None,
) -> Assembly:
    """Return component modes of a model, coupled (Hutton & Smith 1993, equations 1 to 3).

    Args:
        model: with components (`Model.component`).
        cutoff: frequency [Hz] up to which elastic modes of the components are kept, for all, or by their names; what a
            component says itself comes first.
        modes: number of elastic modes instead.

    Raises:
        ModelError: no components, or elements and settings that belong to none.
        AnalysisError: a component without modes; the model is free of mass or unstable.
    """
    return _assembled(model, cutoff, modes)


def component_modes(linear: Linearised, cutoff: float, count: int, owner: str) -> tuple[RealModes, dict]:
    """Return the ``count`` lowest modes of a model by synthesis of its components, and their entries of a summary.

    The modes are over the unknowns of problems.

    Raises:
        AnalysisError: the state is not the start without loads, the mechanism is too large for elimination, or as
            `assemble_components`.
    """
    loads = linear.loading.factors[linear.loads]
    if linear.incremental or np.any(loads) or linear.loading.weight:
        raise AnalysisError(
            f"{owner}: component modes are about the start, at rest and without loads; put the step first, or leave "
            "component_cutoff out"
        )
    if not linear.eliminated:
        raise AnalysisError(f"{owner}: the mechanism is too large for component modes; leave component_cutoff out")
    assembly = _assembled(linear.compiled.model, cutoff, None, linear)
    shapes = assembly.shapes(count=count)[linear.elimination.free]
    rigid = int(assembly.coupled.rigid[:count].sum())
    about = {
        "cutoff_hz": cutoff, "kept": assembly.kept, "unknowns": assembly.coupled.size, "dofs": assembly.dofs,
        "seconds": {k: round(v, 4) for k, v in assembly.seconds.items()},
    }  # fmt: skip
    return as_modes(linear.stiffness, linear.mass, shapes, rigid), about


def _assembled(model: Model, cutoff, modes, linear: Linearised | None = None) -> Assembly:
    start = perf_counter()
    split = _Split(model, linear)
    settings = [_setting(model, part.name, cutoff, modes) for part in split.parts]
    seconds = {"matrices": perf_counter() - start}
    reduced = []
    for part, setting in zip(split.parts, settings, strict=True):
        start = perf_counter()
        reduced.append(Reduced(part.substructure, part.substructure.modes(**setting)))
        seconds[f"modes of {part.name}"] = perf_counter() - start
    start = perf_counter()
    coupled = couple(reduced, split.conditions, *split.link_matrices)
    seconds["coupling"] = perf_counter() - start
    return Assembly(
        model, split.linear, split.parts, coupled, split.conditions, split.links, split.ends, split.link_matrices,
        seconds,
    )  # fmt: skip


def _setting(model: Model, name: str, cutoff, modes) -> dict:
    """Return the number of modes to keep of a component, as `Substructure.modes` takes it.

    Raises:
        ModelError: neither a number nor a cut-off, or both, or one that makes no sense.
    """
    own = model.components[name]
    if own.modes is not None or own.cutoff is not None:
        return {"count": own.modes, "cutoff": own.cutoff}
    for given, what in ((cutoff, "cutoff"), (modes, "modes")):
        if isinstance(given, Mapping):
            for key in given:
                model.building.find("component", key, model.components, f"Components: {what}")
    at = [given.get(name) if isinstance(given, Mapping) else given for given in (cutoff, modes)]
    if (at[0] is None) == (at[1] is None):
        raise ModelError("give a cut-off frequency or a number of modes", owner=Owner("Component", name))
    if at[0] is not None and not (np.isfinite(at[0]) and at[0] > 0.0):
        raise ModelError(
            f"cutoff = {shown(at[0])} must be a positive frequency [{unit_of('Hz')}]",
            owner=Owner("Component", name),
            key="cutoff",
            value=at[0],
        )
    if at[1] is not None and (isinstance(at[1], bool) or not isinstance(at[1], (int, np.integer)) or at[1] < 0):
        raise ModelError(
            f"modes = {shown(at[1])} must be a whole number of at least 0",
            owner=Owner("Component", name),
            key="modes",
            value=at[1],
        )
    return {"cutoff": at[0], "count": at[1]}


class _Split:
    """Holds a model's elements and constraints, distributed to its components."""

    def __init__(self, model: Model, linear: Linearised | None = None):
        if not model.components:
            raise ModelError(
                "the model has none", owner=Owner("Components"), remedy="name sets of its groups with [[component]]"
            )
        if linear is None:
            compiled = model.compile(stepping=False)
            linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
        self.model, self.system, self.linear = model, linear.system, linear
        self.system.refuse_states(Owner("Components"), "undamped modes do", "leave controllers and actuators out")
        self.first = self.linear.first
        self.live = np.zeros(self.first, bool)
        self.live[self.linear.owned] = True
        self.names = list(model.components)
        self._deal()
        A = csr_matrix(self.linear.constraints[:, : self.first])
        A.data[~self.live[A.indices]] = 0.0
        A.eliminate_zeros()
        self._adopt(A)
        self._links()
        self._interface(A)

    # --- elements --------------------------------------------------------------------------------------------------
    def _deal(self) -> None:
        """Distribute elements and dofs to components: own elements, links without a component, and the others."""
        model, blocks = self.model, self.system.blocks
        number = {g: c for c, name in enumerate(self.names) for g in model.components[name].groups}
        owner = [np.full(block.size, -1) for block in blocks]
        for block, own in zip(blocks, owner, strict=True):
            for label, first, last in block.groups:
                own[first:last] = number.get(part_name(model, label), -1)
        self.uses = uses = np.zeros((len(self.names), self.first), bool)
        for block, own in zip(blocks, owner, strict=True):
            for c in np.unique(own[own >= 0]):
                dof = block.dof[own == c][:, : block.type.node_dofs].ravel()
                uses[c, dof[dof < self.first]] = True
        uses &= self.live
        for block, own in zip(blocks, owner, strict=True):
            if block.type.reads:
                continue
            free = np.flatnonzero(own < 0)
            dof = block.dof[free][:, : block.type.node_dofs]
            outside = (dof >= self.first) | ~self.live[np.minimum(dof, self.first - 1)]
            has = (uses[:, np.minimum(dof, self.first - 1)] | outside).all(axis=2) & ~outside.all(axis=1)
            own[free] = np.where(has.any(axis=0), has.argmax(axis=0), -1)
        picks = [[(i, np.flatnonzero(own == c)) for i, own in enumerate(owner)] for c in range(len(self.names))]
        self.picks = [[(i, elements) for i, elements in found if elements.size] for found in picks]
        loose = [(i, np.flatnonzero(own < 0)) for i, own in enumerate(owner)]
        self.links = [(i, e) for i, e in loose if e.size and not blocks[i].type.reads]

    def _adopt(self, A: csr_matrix) -> None:
        """Give dofs that only constraints use to components."""
        pattern = csr_matrix((np.ones(A.nnz), A.indices, A.indptr), A.shape)
        lonely = self.live & ~self.uses.any(axis=0) & (np.diff(pattern.tocsc().indptr) > 0)
        while lonely.any():
            found = False
            for c in range(len(self.names)):
                rows = pattern @ self.uses[c].astype(float) > 0.0
                mine = lonely & (pattern.T @ rows.astype(float) > 0.0)
                self.uses[c] |= mine
                lonely &= ~mine
                found |= bool(mine.any())
            if not found:
                return

    def _links(self) -> None:
        """Assemble stiffness and mass of the elements that join components, over the dofs of these."""
        if not self.links:
            self.ends, self.link_matrices = np.zeros(0, np.int64), (np.zeros((0, 0)), np.zeros((0, 0)))
            return
        K, M = self.linear.of_elements(ElementSet(self.system, self.links))
        moved = (abs(K) + abs(M)) @ np.ones(self.first) > 0.0
        self.ends = np.flatnonzero(moved & self.live)
        lost = self.ends[~self.uses[:, self.ends].any(axis=0)]
        if lost.size:
            labels = [
                part_name(self.model, self.system.blocks[i].label(int(e)))
                for i, elements in self.links
                for e in elements[(self.system.blocks[i].dof[elements] == lost[0]).any(axis=1)]
            ]
            raise ModelError(
                f'{self.system.name_of(int(lost[0]))}, to which "{labels[0]}" is joined, belongs to no component',
                owner=Owner("Components"),
                remedy=f'add "{labels[0]}", or what is there, to the groups of one',
            )
        self.link_matrices = tuple(A[self.ends][:, self.ends].toarray() for A in (K, M))

    # --- interface -------------------------------------------------------------------------------------------------
    def _interface(self, A: csr_matrix) -> None:
        """Set up the coupling rows of components after the eliminations within them."""
        uses, n = self.uses, len(self.names)
        owner = uses.argmax(axis=0)  # whose displacement a shared dof has in constraints and links
        entries: list[tuple[np.ndarray, ...]] = []  # component, row, dof, coefficient
        copies = np.argwhere(uses & (np.arange(n)[:, None] != owner)).T
        row = np.arange(copies.shape[1])
        entries.append((owner[copies[1]], row, copies[1], np.ones(row.size)))
        entries.append((copies[0], row, copies[1], -np.ones(row.size)))
        outside = (abs(A) @ (~uses).T.astype(float)) > 0.0  # (m, n) whether a row has dofs that a component has not
        empty = np.diff(A.indptr) == 0
        inner = np.where(outside.all(axis=1) | empty, -1, (~outside).argmax(axis=1))
        between = csr_matrix(A[(inner < 0) & ~empty])
        across = between.tocoo()
        entries.append((owner[across.col], copies.shape[1] + across.row, across.col, across.data))
        self.conditions = copies.shape[1] + between.shape[0]
        entries.append(
            (owner[self.ends], self.conditions + np.arange(self.ends.size), self.ends, np.ones(self.ends.size))
        )
        component, rows, dofs, values = (np.concatenate(a) for a in zip(*entries, strict=True))
        b = self.conditions + self.ends.size
        self.parts = []
        for c, name in enumerate(self.names):
            own = np.flatnonzero(uses[c])
            if not own.size:
                raise ModelError(
                    "supports hold all of it", owner=Owner("Component", name), remedy="remove the component"
                )
            mine = component == c
            R = coo_matrix((values[mine], (rows[mine], dofs[mine])), shape=(b, self.first)).tocsr()[:, own]
            T = self._inner(name, own, A, np.flatnonzero(inner == c))
            K, M = self.linear.of_elements(ElementSet(self.system, self.picks[c]))
            part = Part(name, self.picks[c], own, T, None)  # type: ignore[arg-type]
            part.substructure = Substructure(name, part.reduce(K), part.reduce(M), csr_matrix(R @ T))
            self.parts.append(part)

    def _inner(self, name: str, own: np.ndarray, A: csr_matrix, rows: np.ndarray) -> csr_matrix:
        """Return u = T q of a component by the constraints within it."""
        if not rows.size:
            return identity(own.size, format="csr")
        preferred = self.linear.preferred()[rows]
        at = np.minimum(np.searchsorted(own, preferred), own.size - 1)
        preferred = np.where(own[at] == preferred, at, -1)
        size = np.where(self.system.system.kind[own] == S.POSITION, self.system.length, 1.0)
        try:
            return eliminate(A[rows][:, own], None, preferred, scale=size).T
        except ConstraintConflict as conflict:
            raise AnalysisError(
                f'Component "{name}": constraints within it contradict each other: {conflict}'
            ) from None
