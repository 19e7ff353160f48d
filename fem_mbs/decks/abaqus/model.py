"""Convert a deck (`fem_mbs.meshes.abaqus.reader`) to a `Model`: nodes, elements, materials, sections, masses, springs.

`Conversion` holds what is known while a deck becomes a model: which node and element became what, and notes on what was
not used.  Constraints, loads, steps and prints are modules of their own; docs/decks.md lists the keywords.

Solids become one part of the model per section and element type, beams and trusses likewise; the three nodes of a B32
give two beams, so that its middle node stays a node of the model.  Node k of the deck is node k of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.decks.notes import Note
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import (
    Deck,
    DeckStep,
    Orientation,
)
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.model import Model

__all__ = ["Conversion", "Group", "Note", "axes_at", "make_mesh"]

#: Of the largest coordinate: nodes nearer than this are one place.
_SAME = 1e-12


@dataclass
class Group:
    """Elements of a deck that are one named part of the model.

    kind "solid", "shell" (of membranes too), "beam" or "truss"; type as in the deck; cell: kind of the mesh's cells;
    rule "full" or "reduced"; ids (n,) of the deck; nodes (n, k) of the model, in the deck's order; axes (n, 3, 3)
    material axes in rows, or None; state "stress", "strain" or "axisymmetric" of plane elements, whose kind is
    "solid", else ""; flat: lines of the x-y plane.
    """

    name: str
    kind: str
    type: str
    cell: str
    element: str
    rule: str
    ids: np.ndarray
    nodes: np.ndarray
    section: Any  # the Section that belongs to the family of the group's elements
    axes: np.ndarray | None = None
    state: str = ""
    flat: bool = False

    @property
    def is_line(self) -> bool:
        """Whether the cells of the mesh are lines."""
        return self.kind in ("beam", "truss")

    @property
    def lines(self) -> np.ndarray:
        """Line cells (m, 2) of beams and trusses, one or two per element, in their order."""
        if self.nodes.shape[1] == 2:
            return self.nodes
        return np.stack((self.nodes[:, :2], self.nodes[:, 1:]), axis=1).reshape(-1, 2)


@dataclass
class Conversion:
    """State of the conversion of a deck; see the module. The model is created when the elements are known."""

    deck: Deck
    model: Model = None  # type: ignore[assignment]
    groups: list[Group] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    #: node whose displacements are rotations -> node that turns (of rigid bodies)
    turning: dict[int, int] = field(default_factory=dict)
    #: equations of the model that a step removes -> its number
    removed: dict[str, int] = field(default_factory=dict)
    #: dofs (node, component) that equations make dependent on others -> where
    dependent: dict[tuple[int, int], str] = field(default_factory=dict)
    #: nodes that supports hold by equations
    inclined: set[int] = field(default_factory=set)
    #: nodes (m,) and components (m,) of the terms of equations
    equated: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    #: name of a part of the model -> file and line of what it stands for
    places: dict[str, str] = field(default_factory=dict)
    #: number of a step -> part by which CalculiX's beams are stiffer in it, and why
    beyond: dict[int, tuple[float, str]] = field(default_factory=dict)
    #: the largest thermal strain that steps with NLGEOM treat otherwise than CalculiX
    stretch: float = 0.0
    #: names of motions; those of rotations with their node and axis
    drivers: list[str] = field(default_factory=list)
    turned: list[tuple[str, int, int]] = field(default_factory=list)
    #: step of the deck (its index) -> groups of supports that it has besides those of all steps
    step_supports: dict[int, list[str]] = field(default_factory=dict)
    #: step of the deck (its index) -> keys (m,), six per node, of the dofs that supports hold in it
    held: dict[int, np.ndarray] = field(default_factory=dict)
    #: groups of supports that hold free motions of rigid bodies -> keys (m,) of their dofs, six per node
    free: dict[str, np.ndarray] = field(default_factory=dict)
    #: step of the deck (its index) -> names of motions of supports that shake in it -> how
    shaken: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: names of facet sets -> their faces: (group, rows of its elements, local faces from 0)
    facets: dict[str, list[tuple[Group, np.ndarray, np.ndarray]]] = field(default_factory=dict)
    #: names of cell sets of shells -> their cells: (group, rows of its elements)
    cells: dict[str, list[tuple[Group, np.ndarray]]] = field(default_factory=dict)
    #: pre-tension sections: cuts and what their sides are (`fem_mbs.decks.abaqus.constraints.pretension`)
    cuts: list[Any] = field(default_factory=list)
    used: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    rotational: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    def __post_init__(self) -> None:
        self.used = np.zeros(len(self.deck.node_ids), bool)
        self.rotational = np.zeros(len(self.deck.node_ids), bool)
        self._sort()

    def _sort(self) -> None:
        self._order = np.argsort(self.deck.node_ids, kind="stable")
        self._sorted = self.deck.node_ids[self._order]

    @property
    def plane(self) -> bool:
        """Whether the model is one in the plane."""
        return any(g.state for g in self.groups)

    @property
    def flat(self) -> bool:
        """Whether the model has lines of the x-y plane, and is held in it."""
        return any(g.flat for g in self.groups)

    @property
    def bent(self) -> bool:
        """Whether constraints are nonlinear; CalculiX then takes every step as geometrically nonlinear, Abaqus not."""
        if self.deck.of_abaqus:
            return False
        kinds = {m.kind for m in self.deck.mpcs}
        return bool(kinds & {"BEAM", "LINK", "STRAIGHT", "PLANE"}) or bool(self.deck.rigid_bodies)

    @property
    def nlgeom(self) -> bool:
        """Whether any step of the deck is geometrically nonlinear."""
        return self.bent or any(step.nlgeom for step in self.deck.steps)

    def orientation(self, name: str) -> Orientation:
        """Return an orientation that something uses; note an origin, which CalculiX does not read."""
        found = self.deck.orientations[name]
        if found.system == "rectangular" and np.any(found.c) and not self.deck.of_abaqus:
            self.note(
                f"{found.where}: the axes of the orientation {name} start from its point c, as in Abaqus (CalculiX "
                "reads a and b alone)", Effect.DIFFERS,
            )  # fmt: skip
        return found

    @property
    def uncoupled(self) -> np.ndarray:
        """Keys (m,), six per node, of the rotations of reference nodes that *DISTRIBUTING does not name: what acts on
        them has no effect in CalculiX, unless an element uses the node."""
        keys = []
        for coupling in self.deck.couplings:
            ref = self.node(coupling.ref_node)
            if coupling.kind == "distributing" and not any((group.nodes == ref).any() for group in self.groups):
                keys += [6 * ref + d for d in (3, 4, 5) if d + 1 not in coupling.dofs]
        return np.array(keys, np.int64)

    def is_nonlinear(self, step: DeckStep) -> bool:
        """Return whether a step is geometrically nonlinear."""
        return step.nlgeom or self.bent

    @cached_property
    def temperature_states(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The initial temperatures (nodes,) and those at the end of all steps, if these are there from the end of the
        first general step on; else None.

        Temperatures change in the first general step at most, and only where that and all others are linear STATIC.
        """
        deck = self.deck
        now = np.zeros(len(deck.node_ids))
        for c in deck.initial_conditions:
            if c.kind == "TEMPERATURE":
                now[self.nodes(c.nodes)] = c.value
        states, first = [now], now
        for step in deck.steps:
            given = bool(step.temperatures) or "TEMPERATURE" in step.new
            if given and (step.procedure != "STATIC" or step.perturbation or self.is_nonlinear(step)):
                return None
            now = first.copy() if "TEMPERATURE" in step.new else now.copy()
            for t in step.temperatures:
                if t.amplitude is not None:
                    return None
                now[self.nodes(t.nodes)] = t.value
            if not step.perturbation and step.procedure in ("STATIC", "DYNAMIC", "MODAL DYNAMIC"):
                states.append(now)
        used = np.unique(np.concatenate([g.nodes.ravel() for g in self.groups]))
        values = np.array([state[used] for state in states])
        general = [s for s in deck.steps if not s.perturbation and s.procedure in ("DYNAMIC", "MODAL DYNAMIC")]
        bent = any(self.is_nonlinear(s) for s in deck.steps)
        changes = bool((values != values[0]).any())
        if (values[1:] != values[-1]).any() or (changes and (general or bent)):
            return None
        return states[0], states[-1]

    @cached_property
    def temperatures(self) -> tuple[float, float] | None:
        """The initial temperature and that at the end of all steps, if both are the same everywhere; else None."""
        if self.temperature_states is None:
            return None
        used = np.unique(np.concatenate([g.nodes.ravel() for g in self.groups]))
        first, last = (state[used] for state in self.temperature_states)
        if (first != first[0]).any() or (last != last[0]).any():
            return None
        return float(first[0]), float(last[0])

    def note(self, text: str, effect: Effect = Effect.DROPPED) -> None:
        """Keep a sentence on what the model lacks, once."""
        if all(text != n.text for n in self.notes):
            self.notes.append(Note(text, effect))

    def nodes(self, ids: ArrayLike) -> np.ndarray:
        """Return nodes (m,) of the model for node ids of the deck."""
        return self._order[np.searchsorted(self._sorted, np.asarray(ids))]

    def name_of(self, node: int) -> str:
        """Return the deck's name of a node of the model."""
        return self.deck.node_name(int(self.deck.node_ids[node]))

    def node(self, id_: int) -> int:
        return int(self.nodes([id_])[0])

    def element_groups(self, ids: np.ndarray) -> Iterable[tuple[Group, np.ndarray]]:
        """Yield groups that hold some of these elements, with the rows (m,) of those in the group, as ``ids`` come."""
        ids = np.asarray(ids)
        for group in self.groups:
            order = np.argsort(group.ids, kind="stable")
            at = np.minimum(np.searchsorted(group.ids[order], ids), len(order) - 1)
            rows = order[at]
            inside = group.ids[rows] == ids
            if inside.any():
                yield group, rows[inside]

    def double(self, nodes: np.ndarray) -> np.ndarray:
        """Add doubles of nodes (n,) to the deck and return them (n,): they have their temperatures, initial velocities
        and thicknesses, and are in no set."""
        deck = self.deck
        ids = deck.node_ids[nodes]
        new = int(deck.node_ids.max()) + 1 + np.arange(len(nodes))

        def extended(entries):
            return tuple(
                replace(e, nodes=np.concatenate((e.nodes, new[np.isin(ids, e.nodes)])))
                if np.isin(e.nodes, ids).any() else e for e in entries
            )  # fmt: skip

        thickness = dict(deck.nodal_thickness)
        thickness |= {b: thickness[a] for a, b in zip(ids.tolist(), new.tolist(), strict=True) if a in thickness}
        self.deck = replace(
            deck, node_ids=np.concatenate((deck.node_ids, new)), x=np.concatenate((deck.x, deck.x[nodes])),
            initial_conditions=extended(deck.initial_conditions), nodal_thickness=thickness,
            steps=tuple(replace(step, temperatures=extended(step.temperatures)) for step in deck.steps),
        )  # fmt: skip
        self.used = np.concatenate((self.used, self.used[nodes]))
        self.rotational = np.concatenate((self.rotational, self.rotational[nodes]))
        first = len(deck.node_ids)
        self._sort()
        return first + np.arange(len(nodes))

    def transform_of(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return local axes (m, 3, 3), in rows, at nodes (m,) of the model, and which have some (m,) bool.

        These are the axes of a transform, or of the orientation of a distributing coupling at its reference node.
        """
        nodes = np.asarray(nodes)
        axes, has = np.tile(np.eye(3), (len(nodes), 1, 1)), np.zeros(len(nodes), bool)
        for t in self.deck.transforms:
            inside = np.isin(nodes, self.nodes(t.nodes))
            if inside.any():
                axes[inside] = _axes(t.system, t.a, t.b, np.zeros(3), self.deck.x[nodes[inside]], t.where)
                has |= inside
        for coupling in self.deck.couplings:
            if coupling.kind != "distributing" or coupling.orientation is None or self.deck.of_abaqus:
                continue  # the directions of the node are global
            inside = nodes == self.node(coupling.ref_node)
            axes[inside] = axes_at(self.orientation(coupling.orientation), self.deck.x[nodes[inside]])
            has |= inside
        return axes, has


# --- axes ------------------------------------------------------------------------------------------------------------
def _axes(system: str, a, b, c, x: np.ndarray, where: str) -> np.ndarray:
    """Return local axes (n, 3, 3), in rows, at points x (n, 3)."""
    a, b, c = (np.asarray(v, float) for v in (a, b, c))
    if system == "cylindrical":
        axis = b - a
        if not np.linalg.norm(axis) > 0.0:
            raise ModelError("both points of the axis are the same", place=where, remedy="give two different ones")
        axis = axis / np.linalg.norm(axis)
        arm = x - a
        radial = arm - np.outer(arm @ axis, axis)
        size = np.linalg.norm(radial, axis=1)
        on_axis = size <= _SAME * max(float(np.abs(arm).max(initial=0.0)), 1e-300)
        if on_axis.any():
            across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
            radial[on_axis], size[on_axis] = across, np.linalg.norm(across)
        radial /= size[:, None]
        return np.stack((radial, np.cross(axis, radial), np.broadcast_to(axis, radial.shape)), axis=1)
    first, second = a - c, b - c
    third = np.cross(first, second)
    if not np.linalg.norm(third) > 1e-12 * np.linalg.norm(first) * np.linalg.norm(second):
        raise ModelError(
            "the points of the axes lie on one line with their origin", place=where, remedy="give two directions"
        )
    e1, e3 = first / np.linalg.norm(first), third / np.linalg.norm(third)
    return np.broadcast_to(np.array([e1, np.cross(e3, e1), e3]), (len(x), 3, 3)).copy()


def axes_at(orientation: Orientation, x: np.ndarray, elements: np.ndarray | None = None) -> np.ndarray:
    """Return material axes (n, 3, 3), in rows, of an orientation at points x (n, 3) of elements (n,).

    Raises:
        ModelError: its points define no axes; UnsupportedError: they are those of elements, and there are none.
    """
    o = orientation
    axes = _axes(o.system, o.a, o.b, o.c, np.asarray(x, float), o.where)
    if o.others and elements is None:
        raise UnsupportedError(
            f"the orientation {o.name} by a *DISTRIBUTION is supported for solids and shells only", place=o.where,
            remedy="give the points a and b",
        )  # fmt: skip
    for ids, a, b, c in o.others:
        mine = np.isin(np.asarray(elements), ids)
        axes[mine] = _axes(o.system, a, b, c, np.asarray(x, float)[mine], o.where)
    if o.axis and o.angle:
        c, s = np.cos(np.deg2rad(o.angle)), np.sin(np.deg2rad(o.angle))
        j, k = o.axis % 3, (o.axis + 1) % 3
        turned = axes.copy()
        turned[:, j], turned[:, k] = c * axes[:, j] + s * axes[:, k], c * axes[:, k] - s * axes[:, j]
        axes = turned
    return axes


def _source(deck: Deck) -> str:
    return deck.files[0] if deck.files else deck.source


def make_mesh(conv: Conversion) -> None:
    """Create the deck's nodes and cells as the mesh "deck" of the model, with its node sets and the facet sets of loads
    and ties."""
    deck = conv.deck
    blocks, sets, number = [], {}, {}
    first = 1
    for i, group in enumerate(conv.groups):
        lines = group.is_line
        cells = group.lines if lines else group.nodes
        ids = np.arange(first, first + len(cells)) if lines else group.ids
        if lines:  # halves of elements need numbers that no other cell has
            ids = _free_ids(conv, group, len(cells))
        blocks.append(CellBlock(group.cell, cells, ids))
        sets[f"part {i + 1}"] = [(i, np.arange(len(cells)))]
        number[id(group)] = i
    sets |= {name: [(number[id(g)], rows) for g, rows in entries] for name, entries in conv.cells.items()}
    facet_sets = {
        name: [(number[id(g)], rows, faces) for g, rows, faces in entries] for name, entries in conv.facets.items()
    }
    named = {name: ids for name, ids in deck.nsets.items() if name not in sets and name not in facet_sets}
    ends = np.cumsum([len(ids) for ids in named.values()])[:-1]
    rows = np.split(deck.nodes_in(np.concatenate([*named.values(), np.empty(0, int)])), ends)
    node_sets = dict(zip(named, rows, strict=False))  # without sets there is one empty piece
    mesh = Mesh(
        deck.x, blocks, node_sets, sets, deck.node_ids, _source(deck), "Abaqus", facet_sets=facet_sets
    )  # fmt: skip
    conv.model.mesh("deck", mesh, unused="drop")


def _free_ids(conv: Conversion, group: Group, n: int) -> np.ndarray:
    """Return numbers of line cells: those of the elements, of the second halves of three-node elements free ones."""
    if n == len(group.ids):
        return group.ids
    largest = max(int(b.ids.max()) for b in conv.deck.blocks) + 1
    halved = (g for g in conv.groups[: conv.groups.index(group)] if g.is_line and g.nodes.shape[1] == 3)
    before = sum(len(g.ids) for g in halved)
    other = largest + before + np.arange(len(group.ids))
    return np.column_stack((group.ids, other)).ravel()
