"""Elements of a deck: what each type is in the model, and the parts (`Group`) that they become."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion, Group, axes_at
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import (
    BeamSection,
    Deck,
    ElementBlock,
    MembraneSection,
    ShellSection,
    SolidSection,
)
from fem_mbs.meshes.abaqus.elements import FAMILIES, MECHANICAL
from fem_mbs.meshes.abaqus.reader import element_place
from fem_mbs.meshes.vocabulary import Effect, Use, Word

__all__ = ["element_kind", "element_words", "find_groups"]

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
#: Note on bricks with one integration point.
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


def element_kind(family: str, shape: str, type_: str) -> tuple[str, str, str] | None:
    """Return kind, cell and element of the `Group` that stands for elements of a deck; None if there is none.

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
    unsupported: list[str] = []
    place = ""
    for block in deck.blocks:
        if block.family in _POINTS:
            if block.family in ("mass", "rotary inertia", "spring", "dashpot", "connector"):
                conv.used[conv.nodes(block.nodes.ravel())] = True
            continue
        kind = element_kind(block.family, block.shape, block.type)
        if kind is None:
            n = len(block.ids)
            place = place or element_place(deck.source, int(block.ids[0]))
            first = deck.element_name(block.ids[0])
            unsupported.append(f"{block.type} ({n} element{'s' * (n > 1)}, the first is {first})")
            continue
        _note_type(conv, block, kind)
        index = deck.section_index(block.ids)
        for s in np.unique(index):
            _add_group(conv, block, kind, index == s, None if s < 0 else deck.sections[s])
    if unsupported:
        raise UnsupportedError(f"element types that are not supported: {'; '.join(unsupported)}", place=place)
    _check_plane(conv)
    _check_flat(conv)
    if not conv.groups and not deck.sections:
        raise ModelError(
            "the deck has no elements with properties",
            place=deck.end,
            remedy="there is nothing to compute (the file may have been cut off)",
        )


def _note_type(conv: Conversion, block: ElementBlock, kind: tuple[str, str, str]) -> None:
    """Note where elements of the deck's type differ from those of the model."""
    type_, shape = block.type, block.shape
    told: list[str] = []
    if kind[0] == "solid" and shape == "C3D8" and "R" in type_:
        told.append(_ONE_POINT)
    if kind[0] == "solid" and shape[-1] == "4" and block.family in STATES and "R" in type_:
        told.append(_ONE_POINT_PLANE)
    if conv.deck.of_abaqus and type_ in _VOLUME:
        told.append(_AT_POINTS)
    if type_ in ("STRI3", "STRI65") or type_.endswith("R5"):
        told.append(_THIN)
    if kind[0] == "solid":
        variants = [(letter, what) for letter, what in _VARIANTS.items() if letter in type_[len(shape) :]]
        told += [f"taken as {type_.replace(letter, '', 1)}, without {what}" for letter, what in variants]
    for text in told:
        conv.note(f"{type_}: {text}", Effect.DIFFERS)


def _add_group(
    conv: Conversion, block: ElementBlock, kind: tuple[str, str, str], rows: np.ndarray, section: Any
) -> None:
    """Make the elements in ``rows`` (a mask) of a block, which share a section or None, a part of the model.

    Raises:
        ModelError: they have no section, one of another kind of element, or bad nodes.
    """
    deck = conv.deck
    if section is None:
        raise ModelError(
            f"{rows.sum()} elements of type {block.type} have no section (the first is "
            f"{deck.element_name(block.ids[rows][0])})",
            place=element_place(deck.source, int(block.ids[rows][0])),
            remedy="the deck is cut off, or lacks a *SECTION for their set",
        )
    expected, word = _SECTIONS.get(kind[2], (SolidSection, "SOLID"))
    if not isinstance(section, expected):
        raise ModelError(
            f"elements of type {block.type} cannot have this section",
            place=section.where,
            remedy=f"give them *{word} SECTION",
        )
    if isinstance(section, MembraneSection):
        section = section.of_shell()
    taken = {group.name for group in conv.groups}
    name = section.elset if section.elset not in taken else f"{section.elset} {block.type}"
    while name in taken:
        name += "'"
    nodes = conv.nodes(block.nodes[rows].ravel()).reshape(rows.sum(), -1)
    rule = "reduced" if kind[2] == "reduced" else "full"
    group = Group(name, kind[0], block.type, kind[1], kind[2], rule, block.ids[rows], nodes, section)
    group.state = STATES.get(block.family, "")
    group.flat = block.shape in _FLAT
    if section.orientation is not None and kind[0] == "solid":
        group.axes = axes_at(conv.orientation(section.orientation), deck.x[nodes].mean(axis=1), group.ids)
    _check_nodes(conv, group)
    conv.groups.append(group)
    conv.places[name] = conv.places[f"section of {name}"] = section.where
    conv.used[nodes.ravel()] = True
    if kind[2] in ("beam", "shell"):
        conv.rotational[nodes.ravel()] = True


def _check_plane(conv: Conversion) -> None:
    """Refuse plane elements beside others, and constraints that their models do not have.

    Raises:
        UnsupportedError: with the line of the element or constraint.
    """
    deck = conv.deck
    plane = [g for g in conv.groups if g.state]
    if not plane:
        return
    other = next((g for g in conv.groups if not g.state), None)
    if other is not None:
        raise UnsupportedError(
            f"plane elements ({plane[0].type}) together with others ({other.type}) are not supported",
            place=element_place(deck.source, int(plane[0].ids[0])),
        )
    mpc = next((m for m in deck.mpcs if m.kind not in ("PIN", "TIE")), None)
    if mpc is not None:
        raise UnsupportedError(f"the MPC {mpc.kind} of plane models is not supported", place=mpc.where,
                               remedy="use *COUPLING")  # fmt: skip
    tied = _tied(deck)
    if tied and any(g.state == "axisymmetric" for g in plane):
        raise UnsupportedError("rigid bodies and couplings of axisymmetric models are not supported", place=tied[0])
    turned = next((b for b in deck.rigid_bodies if b.rotation_node), None)
    if turned is not None:
        raise UnsupportedError("ROT NODE of plane models is not supported", place=turned.where,
                               remedy="give rotations to the REF NODE")  # fmt: skip


def _check_flat(conv: Conversion) -> None:
    """Refuse lines of the plane beside other elements, and constraints of their nodes that turn in space.

    Raises:
        UnsupportedError: with the line of the element or constraint.
    """
    deck = conv.deck
    if not conv.flat:
        return
    other = next((g for g in conv.groups if not g.flat), None)
    if other is not None:
        raise UnsupportedError(
            f"elements {other.type} beside beams or trusses of the plane are not supported",
            place=element_place(deck.source, int(other.ids[0])),
        )
    tied = [*_tied(deck), *(mpc.where for mpc in deck.mpcs)]
    if tied:
        raise UnsupportedError("rigid bodies, couplings and MPCs of beams of the plane are not supported",
                               place=tied[0], remedy="use beams of space")  # fmt: skip


def _tied(deck: Deck) -> list[str]:
    """Return where the rigid bodies and the couplings of a deck stand."""
    return [*(body.where for body in deck.rigid_bodies), *(coupling.where for coupling in deck.couplings)]
