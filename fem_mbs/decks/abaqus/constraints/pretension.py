"""Pre-tension sections of a deck: cuts through parts, whose nodes get doubles, and beams that give way to an equation.

The elements of the surface get the doubles, as in CalculiX.  The first direction of the control node is the shortening
of the section; its force is the tension.  Equations tie both sides (`fem_mbs.model.connections.pretension`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import MeshError, ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import PretensionSection
from fem_mbs.meshes.cuts import Facets, cut_cells, mean_normal
from fem_mbs.model.connections.pretension import section_terms

__all__ = ["cut_sections", "remove_beams", "section_equations"]


@dataclass(frozen=True)
class Cut:
    """A section in the model: nodes (n,), their doubles (n,), the control node and the direction (3,)."""

    nodes: np.ndarray
    doubles: np.ndarray
    control: int
    direction: np.ndarray
    where: str
    beam: bool = False  # instead of a beam: the sides move freely across the direction


def remove_beams(conv: Conversion) -> None:
    """Take the beams of pre-tension sections away: as in CalculiX, the section stands for the beam.

    Raises:
        ModelError: the section names no two-node beam.
    """
    for section in conv.deck.pretensions:
        if section.element is None:
            continue
        block = next((b for b in conv.deck.blocks if section.element in b.ids), None)
        if block is None or block.shape != "B31":
            raise ModelError(
                f"element {conv.deck.element_name(section.element)} is no B31", place=section.where,
                remedy="name a two-node beam, or a SURFACE",
            )  # fmt: skip
        a, b = conv.nodes(block.nodes[block.ids == section.element][0])
        n = section.normal
        if n is None:
            n = conv.deck.x[b] - conv.deck.x[a]
        conv.cuts.append(
            Cut(np.array([b]), np.array([a]), conv.node(section.node), n / np.linalg.norm(n), section.where, True)
        )
        keep = block.ids != section.element
        blocks = [replace(k, ids=k.ids[keep], nodes=k.nodes[keep]) if k is block else k for k in conv.deck.blocks]
        conv.deck = replace(conv.deck, blocks=tuple(k for k in blocks if len(k.ids)))


def cut_sections(conv: Conversion) -> None:
    """Cut the parts along the surfaces of pre-tension sections: their elements get doubles of the nodes there.

    Raises:
        ModelError: a surface that does not cut a part, with its line.
    """
    for section in conv.deck.pretensions:
        if section.element is not None:
            continue
        blocks = [(group.cell, group.lines if group.is_line else group.nodes) for group in conv.groups]
        facets = _facets(conv, section)
        try:
            nodes, doubled = cut_cells(blocks, facets)
            direction = section.normal
            if direction is None:
                direction = mean_normal(blocks, facets, conv.deck.x)
        except MeshError as error:
            raise ModelError(f"surface {section.surface}: {error}", place=section.where) from None
        doubles = conv.double(nodes)
        to = np.arange(len(conv.deck.node_ids))
        to[nodes] = doubles
        for group, mask in zip(conv.groups, doubled, strict=True):
            if mask.any():
                group.nodes = np.where(mask, to[group.nodes], group.nodes)
        direction = direction / np.linalg.norm(direction)
        conv.cuts.append(Cut(nodes, doubles, conv.node(section.node), direction, section.where))


def _facets(conv: Conversion, section: PretensionSection) -> Facets:
    """Return the faces of the surface: number of the group, rows (m,) of its elements, local facets (m,) from 0."""
    surface = conv.deck.surfaces[section.surface]
    if surface.kind != "element":
        raise ModelError(f"surface {section.surface} holds nodes; give one of element faces", place=section.where)
    labels, elements = np.asarray(surface.faces), np.asarray(surface.elements)
    found = []
    for label in np.unique(labels):
        for group, rows in conv.element_groups(elements[labels == label]):
            shell = group.kind == "shell"
            edge = str(label)[0] == "E"
            number = int(str(label)[1:]) - (3 if shell and not edge else 1) if str(label)[1:].isdigit() else -1
            if group.kind not in ("solid", "shell") or number < 0:
                raise UnsupportedError(
                    f"surface {section.surface}: a pre-tension section through face {label} of {group.type} is not "
                    "supported", place=section.where, remedy="name faces of solids, or edges of shells",
                )  # fmt: skip
            at = next(i for i, g in enumerate(conv.groups) if g is group)
            found.append((at, rows, np.full(len(rows), number)))
    return found


def section_equations(conv: Conversion, add: Callable[..., None]) -> None:
    """Tie the sides of all sections; ``add`` takes nodes, components and coefficients of an equation, and its line."""
    dim = 2 if conv.plane else 3
    for cut in conv.cuts:
        if cut.beam:
            k = np.flatnonzero(np.abs(cut.direction) > 1e-10)
            k = k[np.argsort(-np.abs(cut.direction[k]), kind="stable")]
            n = cut.direction[k]
            ends = [cut.nodes[0]] * len(k) + [cut.doubles[0]] * len(k) + [cut.control]
            add(ends, [*k, *k, 0], [*n, *-n, 1.0], cut.where)
            continue
        turning = conv.rotational[cut.nodes]
        terms = section_terms(cut.nodes, cut.doubles, cut.control, cut.direction[:dim], turning)
        rows, nodes, components, values = terms
        for i in range(int(rows.max()) + 1):
            mine = rows == i
            add(nodes[mine], components[mine], values[mine], cut.where)
