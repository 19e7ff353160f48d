"""Convert a deck (`fem_mbs.meshes.abaqus.reader`) to a `Model`: nodes, elements, materials, sections, masses, springs.

`Conversion` holds what is known while a deck becomes a model: which node and element became what, and notes on what was
not used.  Constraints, loads, steps and prints are modules of their own; docs/decks.md says what of a deck is used.

Solids become one part of the model per section and element type, beams and trusses likewise; the three nodes of a B32
give two beams, so that its middle node stays a node of the model.  Node k of the deck is node k of the model.
"""

from __future__ import annotations

import re
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
    BeamSection,
    Deck,
    DeckStep,
    Material,
    MembraneSection,
    Orientation,
    ShellSection,
    SolidSection,
)
from fem_mbs.meshes.abaqus.elements import FAMILIES, MECHANICAL
from fem_mbs.meshes.abaqus.reader import element_place
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.meshes.vocabulary import Effect, Use, Word
from fem_mbs.model.model import Model

__all__ = [
    "Conversion", "Group", "Note", "axes_at", "constants", "density_of", "element_kind", "element_words",
    "expansion_of", "find_groups", "make_mesh", "material_of", "stiffness_matrix",
]  # fmt: skip

#: Shapes of solids -> cell, and the letters that choose their integration or are without effect on it.
SOLIDS = {
    "C3D4": ("tetra", {"": "standard"}),
    "C3D10": ("tetra10", {"": "standard"}),
    "C3D6": ("wedge", {"": "reduced"}),
    "C3D15": ("wedge15", {"": "standard"}),
    "C3D8": ("hexahedron", {"": "standard", "I": "incompatible", "R": "incompatible"}),
    "C3D20": ("hexahedron20", {"": "standard", "R": "reduced"}),
}
#: Plane and axisymmetric elements: shape without family -> cell and letters; family -> state.
PLANES = {
    "3": ("triangle", {"": "standard"}),
    "6": ("triangle6", {"": "standard"}),
    "4": ("quad", {"": "standard", "R": "standard"}),
    "8": ("quad8", {"": "standard", "R": "reduced"}),
}
STATES = {"plane stress": "stress", "plane strain": "strain", "axisymmetric": "axisymmetric"}
#: Letters that change the formulation a little, and what they ask for.
_VARIANTS = {"H": "hybrid pressure", "M": "the modified formulation"}
#: What is said of bricks with one integration point.
_ONE_POINT = (
    "taken with full integration and incompatible modes, which enhanced hourglass control stands for; other hourglass "
    "control is softer or stiffer where few elements bend; stresses are printed as means of the element"
)
_ONE_POINT_PLANE = (
    "taken with full integration; where few elements bend across a section, this is too stiff: with n square ones in "
    "plane stress by the part .35/n^2, with hourglass control less"
)
#: Of elements of first order with all their points, in decks of Abaqus.
_AT_POINTS = (
    "every point has its own change of volume; Abaqus takes the mean of the element, which is softer where Poisson's "
    "ratio is near .5, and a little where few elements bend"
)
_VOLUME = ("C3D8", "CPE4", "CAX4")
#: Of thin shells, which take no shear across.
_THIN = "taken as a shell with transverse shear; thick shells are softer so"
_BEAMS = {"B31": 2, "B32": 3, "B33": 2, "PIPE31": 2, "PIPE32": 3}
#: Lines in the x-y plane, which take the place of those in space and are held there.
_FLAT = {
    "B21": "B31",
    "B22": "B32",
    "B23": "B33",
    "PIPE21": "PIPE31",
    "PIPE22": "PIPE32",
    "T2D2": "T3D2",
    "T2D3": "T3D3",
}
_TRUSSES = {"T3D2": 2, "T3D3": 3}
_SHELLS = {"S3": "triangle", "STRI3": "triangle", "S4": "quad", "S6": "triangle6", "STRI65": "triangle6", "S8": "quad8"}
_MEMBRANES = {"M3D3": "triangle", "M3D4": "quad"}
#: Elements of a `Group` -> section that they need, and its keyword; others have *SOLID SECTION.
_SECTIONS: dict[str, tuple[type, str]] = {
    "beam": (BeamSection, "BEAM"),
    "shell": (ShellSection, "SHELL"),
    "membrane": (MembraneSection, "MEMBRANE"),
}
#: Families without elements of their own in the model: their sections, or constraints, say what they are.
_POINTS = ("mass", "rotary inertia", "spring", "dashpot", "distributing coupling", "rigid", "connector")
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
            axes[inside] = axes_at(self.deck.orientations[coupling.orientation], self.deck.x[nodes[inside]])
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


# --- elements --------------------------------------------------------------------------------------------------------
def element_kind(family: str, shape: str, type_: str) -> tuple[str, str, str] | None:
    """Return what elements of a deck are in the model: kind, cell and element of a `Group`; None if there is none.

    ``type_``: the type in the deck, which is the shape and letters; H, M and T are passed over.
    """
    rest = re.sub("[HMT]", "", type_[len(shape) :])
    shape = _FLAT.get(shape, shape)
    if family == "beam" and shape in _BEAMS and rest in ("", "R"):  # not OS, a section that warps
        return "beam", "line2", "beam"
    if family == "truss" and shape in _TRUSSES and not rest:
        return "truss", "line2", "truss"
    if family == "shell" and shape in _SHELLS and rest in ("", "R", "R5"):
        return "shell", _SHELLS[shape], "shell"
    if family == "membrane" and shape in _MEMBRANES and rest in ("", "R"):
        return "shell", _MEMBRANES[shape], "membrane"
    if family != "solid" and (family not in STATES or "CPEG" in shape):
        return None
    cell, elements = (SOLIDS if family == "solid" else PLANES).get(shape if family == "solid" else shape[-1], ("", {}))
    return ("solid", cell, elements[rest]) if rest in elements else None


def element_words() -> list[Word]:
    """Return types of elements with what becomes of them; of types that are used also those with a letter R or I."""
    found = []
    for family, head, ends in FAMILIES:
        for shape in (head + end for end in ends):
            if family in _POINTS and family in MECHANICAL:
                found.append(Word(shape, Use.USED, family))
                continue
            names = [shape + letter for letter in ("", "R", "I") if element_kind(family, shape, shape + letter)]
            found += [Word(name, Use.USED, f"{family}; other letters than H, M and T are refused") for name in names]
            if not names:
                use = Use.STOPPED if family in MECHANICAL else Use.REFUSED
                found.append(Word(shape, use, f"{family} elements are not computed"))
    return found


def _check_nodes(conv: Conversion, group: Group) -> None:
    """Refuse elements with a node twice, and nodes of plane elements beside the plane.

    Raises:
        ModelError: with the line of the element.
    """
    order = np.sort(group.nodes, axis=1)
    twice = order[:, 1:] == order[:, :-1]
    if twice.any():
        row, k = divmod(int(np.argmax(twice)), twice.shape[1])
        raise ModelError(
            f"element {conv.deck.element_name(group.ids[row])} has node {conv.name_of(order[row, k])} twice",
            place=element_place(conv.deck.source, int(group.ids[row])),
            remedy="give it different nodes",
        )
    z = conv.deck.x[group.nodes][..., 2]
    if (group.state or group.flat) and z.any():
        row, k = divmod(int(np.argmax(z != 0.0)), z.shape[1])
        raise ModelError(
            f"node {conv.name_of(group.nodes[row, k])} of plane element "
            f"{conv.deck.element_name(group.ids[row])} has z = {z[row, k]:g}",
            place=element_place(conv.deck.source, int(group.ids[row])),
            remedy="plane elements lie in the plane z = 0",
        )


def find_groups(conv: Conversion) -> None:
    """Sort the elements of the deck into parts of the model.

    Raises:
        ModelError: element types that are not supported, all of them in one message.
    """
    deck = conv.deck
    unsupported: list[Any] = []
    taken: set[Any] = set()
    place = ""
    for block in deck.blocks:
        kind = element_kind(block.family, block.shape, block.type)
        if block.family in _POINTS:
            if block.family in ("mass", "rotary inertia", "spring", "dashpot", "connector"):
                conv.used[conv.nodes(block.nodes.ravel())] = True
            continue
        if kind is None:
            n = len(block.ids)
            if not unsupported:
                place = element_place(deck.source, int(block.ids[0]))
            first = deck.element_name(block.ids[0])
            unsupported.append(f"{block.type} ({n} element{'s' * (n > 1)}, the first is {first})")
            continue
        if kind[0] == "solid" and block.shape == "C3D8" and "R" in block.type:
            conv.note(f"{block.type}: {_ONE_POINT}", Effect.DIFFERS)
        if kind[0] == "solid" and block.shape[-1] == "4" and block.family in STATES and "R" in block.type:
            conv.note(f"{block.type}: {_ONE_POINT_PLANE}", Effect.DIFFERS)
        if deck.of_abaqus and block.type in _VOLUME:
            conv.note(f"{block.type}: {_AT_POINTS}", Effect.DIFFERS)
        if block.type in ("STRI3", "STRI65") or block.type.endswith("R5"):
            conv.note(f"{block.type}: {_THIN}", Effect.DIFFERS)
        for letter, what in _VARIANTS.items() if kind[0] == "solid" else ():
            if letter in block.type[len(block.shape) :]:
                told = f"{block.type}: taken as {block.type.replace(letter, '', 1)}, without {what}"
                conv.note(told, Effect.DIFFERS)
        index = deck.section_index(block.ids)
        for s in np.unique(index):
            rows = index == s
            if s < 0:
                place = element_place(deck.source, int(block.ids[rows][0]))
                first = deck.element_name(block.ids[rows][0])
                raise ModelError(
                    f"{rows.sum()} elements of type {block.type} have no section (the first is {first})",
                    place=place,
                    remedy="the deck is cut off, or lacks a *SECTION for their set",
                )
            section = deck.sections[s]
            expected, word = _SECTIONS.get(kind[2], (SolidSection, "SOLID"))
            if not isinstance(section, expected):
                raise ModelError(
                    f"elements of type {block.type} cannot have this section",
                    place=section.where,
                    remedy=f"give them *{word} SECTION",
                )
            if isinstance(section, MembraneSection):
                section = section.of_shell()
            name = section.elset
            if name in taken:
                name = f"{section.elset} {block.type}"
            while name in taken:
                name += "'"
            taken.add(name)
            nodes = conv.nodes(block.nodes[rows].ravel()).reshape(rows.sum(), -1)
            rule = "reduced" if kind[2] == "reduced" else "full"
            group = Group(name, kind[0], block.type, kind[1], kind[2], rule, block.ids[rows], nodes, section)
            group.state = STATES.get(block.family, "")
            group.flat = block.shape in _FLAT
            if section.orientation is not None and kind[0] == "solid":
                group.axes = axes_at(deck.orientations[section.orientation], deck.x[nodes].mean(axis=1), group.ids)
            conv.groups.append(group)
            conv.places[name] = conv.places[f"section of {name}"] = section.where
            _check_nodes(conv, group)
            conv.used[nodes.ravel()] = True
            if kind[2] in ("beam", "shell"):
                conv.rotational[nodes.ravel()] = True
    if unsupported:
        raise UnsupportedError(f"element types that are not supported: {'; '.join(unsupported)}", place=place)
    plane = [g for g in conv.groups if g.state]
    if plane and len(plane) < len(conv.groups):
        other = next(g for g in conv.groups if not g.state)
        raise UnsupportedError(
            f"plane elements ({plane[0].type}) together with others ({other.type}) are not supported",
            place=element_place(deck.source, int(plane[0].ids[0])),
        )
    mpc = next((m for m in deck.mpcs if m.kind not in ("PIN", "TIE")), None)
    if plane and mpc is not None:
        raise UnsupportedError(f"the MPC {mpc.kind} of plane models is not supported", place=mpc.where,
                               remedy="use *COUPLING")  # fmt: skip
    if any(g.state == "axisymmetric" for g in conv.groups) and (deck.rigid_bodies or deck.couplings):
        raise UnsupportedError("rigid bodies and couplings of axisymmetric models are not supported",
                               place=[*deck.rigid_bodies, *deck.couplings][0].where)  # fmt: skip
    turned = next((b for b in deck.rigid_bodies if b.rotation_node), None)
    if plane and turned is not None:
        raise UnsupportedError("ROT NODE of plane models is not supported", place=turned.where,
                               remedy="give rotations to the REF NODE")  # fmt: skip
    _check_flat(conv)
    if not conv.groups and not deck.sections:
        raise ModelError(
            "the deck has no elements with properties",
            place=deck.end,
            remedy="there is nothing to compute (the file may have been cut off)",
        )


def _check_flat(conv: Conversion) -> None:
    """Refuse lines of the plane beside other elements, and constraints of their nodes that turn in space.

    Raises:
        UnsupportedError: with the line of the element or constraint.
    """
    deck = conv.deck
    other = next((g for g in conv.groups if not g.flat), None)
    if not conv.flat:
        return
    if other is not None:
        raise UnsupportedError(
            f"elements {other.type} beside beams or trusses of the plane are not supported",
            place=element_place(deck.source, int(other.ids[0])),
        )
    for constraint in (*deck.rigid_bodies, *deck.couplings, *deck.mpcs):
        raise UnsupportedError(
            "rigid bodies, couplings and MPCs of beams of the plane are not supported", place=constraint.where,
            remedy="use beams of space",
        )  # fmt: skip


def _source(deck: Deck) -> str:
    return deck.files[0] if deck.files else deck.source


def make_mesh(conv: Conversion) -> None:
    """Create the deck's nodes and cells as the mesh "deck" of the model, with the facet sets of loads and ties."""
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
    mesh = Mesh(
        deck.x, blocks, cell_sets=sets, facet_sets=facet_sets, point_ids=deck.node_ids, source=_source(deck),
        format="Abaqus",
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


# --- materials and sections ------------------------------------------------------------------------------------------
def constants(
    conv: Conversion, material: Material, table: np.ndarray, temperature: np.ndarray, what: str
) -> np.ndarray:
    """Return the values (k,) of a table over temperature (m, k) at the temperature of the deck.

    That is the one at the end of its linear STATIC steps, if it is the same everywhere, else the initial one, by
    default zero, with a note.
    """
    if len(table) == 1 or (table == table[0]).all():
        return table[0]
    at = conv.temperatures
    if at is None:
        start = sorted({c.value for c in conv.deck.initial_conditions if c.kind == "TEMPERATURE"}) or [0.0]
        conv.note(
            f"{material.where}: {what} of {material.name} depends on temperature, which varies in the deck; its value "
            f"at {start[0]:g} is taken"
        )
        return _interpolated(table, temperature, start[0])
    conv.note(
        f"{material.where}: {what} of {material.name} depends on temperature; its value at {at[1]:g} is taken",
        Effect.NONE,
    )
    return _interpolated(table, temperature, at[1])


def _interpolated(table: np.ndarray, temperature: np.ndarray, at: float) -> np.ndarray:
    order = np.argsort(temperature)
    return np.array([np.interp(at, temperature[order], column[order]) for column in table.T])


def material_of(conv: Conversion, name: str | None, where: str) -> Material:
    if name is None or name not in conv.deck.materials:
        raise ModelError("the section names no material of the deck", place=where, remedy="give MATERIAL=...")
    material = conv.deck.materials[name]
    if material.elastic is None and material.others:
        raise UnsupportedError(
            f"*{material.others[0]} of the material {name}, which the section of {where} needs, is not supported",
            place=material.where,
            remedy="give *ELASTIC instead",
        )
    if material.elastic is None:
        raise ModelError(
            f"the material {name} has no elastic constants, which the section of {where} needs",
            place=material.where,
            remedy="add *ELASTIC",
        )
    for keyword in material.others:
        conv.note(f"{material.where}: *{keyword} of the material {name} is not used")
    return material


def density_of(conv: Conversion, material: Material) -> float:
    """Return mass per volume, 0 where none is given."""
    if material.density is None:
        return 0.0
    return float(constants(conv, material, material.density[:, :1], material.density[:, 1], "the density")[0])


def stiffness_matrix(conv: Conversion, material: Material) -> np.ndarray:
    """Return matrix (6, 6) of a solid material, components xx, yy, zz, xy, yz, zx with gammas.

    Raises:
        ModelError: its constants belong to no material.
    """
    from fem_mbs.elements.solids.material import isotropic, orthotropic

    e = material.elastic
    assert e is not None  # `material_of` refuses such a material
    c = [float(v) for v in constants(conv, material, e.constants, e.temperature, "the elasticity")]
    try:
        if e.kind == "isotropic":
            return isotropic(c[0], c[1])
        if e.kind == "engineering constants":
            if min(*c[:3], *c[6:9]) <= 0.0:
                raise ValueError("the moduli of elasticity and shear must be greater than 0")
            return orthotropic(tuple(c[:3]), tuple(c[3:6]), tuple(c[6:9]))
    except ValueError as error:
        raise ModelError(f"material {material.name}: {error}", place=material.where) from None
    order = (0, 1, 2, 3, 5, 4)  # the deck's 11, 22, 33, 12, 13, 23
    C = np.zeros((6, 6))
    if e.kind == "orthotropic":
        C[0, 0], C[0, 1], C[1, 1], C[0, 2], C[1, 2], C[2, 2] = c[:6]
        C[3, 3], C[4, 4], C[5, 5] = c[6:9]
    elif e.kind == "anisotropic":
        k = 0
        for j in range(6):
            for i in range(j + 1):
                C[i, j] = c[k]
                k += 1
    else:
        raise ModelError(f"{e.kind} elasticity of {material.name} is for shells, not for solids", place=material.where)
    C = C + np.triu(C, 1).T
    C = C[np.ix_(order, order)]
    d = np.sqrt(np.abs(np.diag(C)))
    if not (np.diag(C) > 0.0).all() or not np.linalg.eigvalsh(C / np.outer(d, d))[0] > 0.0:
        raise ModelError(f"the elastic constants of {material.name} are not positive definite", place=material.where)
    return C


def expansion_of(conv: Conversion, material: Material) -> tuple[float, ...] | None:
    """Return coefficients of thermal expansion: 1, 3 (11, 22, 33) or 6 (11, 22, 33, 12, 13, 23), or None."""
    e = material.expansion
    if e is None:
        return None
    at = conv.temperatures
    if len(e.coefficients) > 1 and at is not None and at[0] != at[1]:
        # secants from the temperature ``zero``: the strain from the initial temperature on has another secant
        first, last = (_interpolated(e.coefficients, e.temperature, T) * (T - e.zero) for T in at)
        return tuple(float(v) for v in (last - first) / (at[1] - at[0]))
    row = constants(conv, material, e.coefficients, e.temperature, "the expansion")
    return tuple(float(v) for v in row)
