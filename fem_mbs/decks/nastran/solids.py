"""Solids of a Nastran deck: CHEXA, CPENTA, CTETRA with PSOLID."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.nastran.made import add_middles, blanks_filled
from fem_mbs.decks.nastran.model import Conversion, Group, isotropic, one_of
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["FACES", "find_solids", "make_solids"]

#: Type -> number of corners, cell with corners only, with all mid-side points, and the order of these in the model.
_CELLS = {
    "CTETRA": (4, "tetra", "tetra10", list(range(10))),
    "CPENTA": (6, "wedge", "wedge15", [*range(9), 12, 13, 14, 9, 10, 11]),
    "CHEXA": (8, "hexahedron", "hexahedron20", [*range(12), 16, 17, 18, 19, 12, 13, 14, 15]),
}
_CORNERS4 = [(0, 1), (1, 2), (2, 3), (3, 0)]
#: Type -> corners at the ends of the edges, in the order of the mid-side points of the entry.
_EDGES = {
    "CTETRA": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "CPENTA": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)],
    "CHEXA": [*_CORNERS4, (0, 4), (1, 5), (2, 6), (3, 7), *((a + 4, b + 4) for a, b in _CORNERS4)],
}
FACES = shapes.FACES
#: Cell -> order of its nodes that gives a mirrored cell its volume back: bottom and top, or two corners, exchanged.
_MIRRORED = {
    "tetra": [0, 2, 1, 3],
    "tetra10": [0, 2, 1, 3, 6, 5, 4, 7, 9, 8],
    "wedge": [3, 4, 5, 0, 1, 2],
    "wedge15": [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8, 12, 13, 14],
    "hexahedron": [4, 5, 6, 7, 0, 1, 2, 3],
    "hexahedron20": [4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 16, 17, 18, 19],
}


def _formulation(conv: Conversion, type_: str, cell: str, card: Card) -> str:
    """Return the element of the model for a PSOLID, with a note where MSC Nastran's differs."""
    full = card["isop"] in ("FULL", 1)
    if card["fctn"] not in ("SMECH", "STRUCTUR"):
        raise UnsupportedError(f"FCTN = {card['fctn']} is not supported", place=card.where, remedy="use SMECH")
    if cell in ("tetra", "tetra10", "wedge15"):
        return "standard"
    if cell == "hexahedron20":
        if not full:
            conv.note(
                "CHEXA with 20 grid points: full integration; MSC Nastran reduces that of shear",
                Effect.DIFFERS,
                card.where,
            )
        return "standard"
    if full:
        return "standard"
    if cell == "wedge":
        conv.note(
            "CPENTA with 6 grid points has no bubble functions here; MSC Nastran's bends more softly",
            Effect.DIFFERS,
            card.where,
        )
        return "standard"
    conv.note(
        "CHEXA with 8 grid points has incompatible modes instead of MSC Nastran's bubble functions or "
        "reduced shear; both bend without locking, distorted elements differ",
        Effect.DIFFERS,
        card.where,
    )
    return "incompatible"


def _points(card: Card) -> list[int]:
    """Return the grid points of a solid in the order of its entry, corners or all, 0 where a mid-side one is blank."""
    corners, _, _, order = _CELLS[card.name]
    nodes = list(card["nodes"])
    while len(nodes) > corners and not nodes[-1]:
        nodes.pop()
    if len(nodes) < corners or any(not n for n in nodes[:corners]):
        raise ModelError(f"{card.name} {card.id} needs {corners} corners", place=card.where)
    if len(nodes) == corners:
        return nodes
    if len(nodes) > len(order):
        raise ModelError(f"{card.name} {card.id} has {len(nodes)} grid points, at most {len(order)}", place=card.where)
    return [int(n or 0) for n in nodes] + [0] * (len(order) - len(nodes))


def find_solids(conv: Conversion) -> None:
    """Sort the solids of the deck into parts of the model.

    Raises:
        ModelError: grid points, properties or shapes that are not there, with file and line.
    """
    parts: dict[tuple[str, int, int], list[tuple[Card, list[int]]]] = {}
    cards = [(card, _points(card)) for card in conv.deck.of("CHEXA", "CPENTA", "CTETRA")]
    add_middles(conv, ((card, nodes, _EDGES[card.name]) for card, nodes in cards if 0 in nodes))
    for card, given in cards:
        _, _, _, order = _CELLS[card.name]
        nodes = blanks_filled(conv, card, given, _EDGES[card.name]) if 0 in given else given
        nodes = [nodes[k] for k in order] if len(nodes) == len(order) else nodes
        parts.setdefault((card.name, card["pid"], len(nodes)), []).append((card, nodes))
    properties = {card.id: card for card in conv.deck.of("PSOLID")}
    for (type_, pid, count), members in parts.items():
        first = members[0][0]
        if pid not in properties:
            one_of(conv, ("PSOLID",), pid, "property of solids", first.where)
        corners, small, large, _ = _CELLS[type_]
        cell = small if count == corners else large
        element = _formulation(conv, type_, cell, properties[pid])
        ids = np.array([card.id for card, _ in members])
        table = _indices(conv, members)
        mirrored = shapes.volumes(cell, conv.grids.x[table]) < 0.0  # Nastran takes both orders
        table[mirrored] = table[mirrored][:, _MIRRORED[cell]]
        name = f"PSOLID {pid} {type_}" + (f"{count}" if count != corners else "")
        conv.groups.append(Group(name, "solid", type_, cell, element, ids, table, properties[pid]))
        conv.used[table.ravel()] = True
        _check(conv, conv.groups[-1], [card for card, _ in members])


def _indices(conv: Conversion, members: list[tuple[Card, list[int]]]) -> np.ndarray:
    """Return nodes (n, k) of solids."""
    table = np.array([nodes for _, nodes in members])
    if not np.isin(table, conv.grids.ids).all():
        for card, nodes in members:
            conv.grids.indices(nodes, card.where)
    return conv.grids.indices(table, members[0][0].where)


def _check(conv: Conversion, group: Group, cards: list[Card]) -> None:
    twice = np.diff(np.sort(group.nodes, axis=1), axis=1) == 0
    if twice.any():
        card = cards[int(np.argmax(twice.any(axis=1)))]
        raise ModelError(f"{card.name} {card.id} names a grid point twice", place=card.where)
    X = conv.grids.x[group.nodes]
    try:
        shapes.check_cells(group.cell, X, group.type, group.ids.tolist())
    except ModelError as error:
        worst = int(np.argmin(shapes.smallest_jacobian(group.cell, X)))
        raise ModelError(f"{error}", place=cards[worst].where) from None


def make_solids(conv: Conversion) -> None:
    """Create the solid parts of the model.

    Raises:
        ModelError: materials that are not there, or not for solids.
    """
    for i, group in enumerate(conv.groups):
        if group.kind != "solid":
            continue
        material, orientation = _material(conv, group)
        options: dict[str, Any] = {"element": group.element, "orientation": orientation}
        conv.model.solids(
            group.name, f"deck:part {i + 1}", material, mass="consistent" if conv.coupled else "lumped", **options
        )


def _material(conv: Conversion, group: Group) -> tuple[str, np.ndarray | None]:
    """Return the name of the material, and its axes (n, 3, 3) where it has some."""
    mid, where = group.section["mid"], group.section.where
    anisotropic = next((card for card in conv.deck.of("MAT9") if card.id == mid), None)
    name = f"material {mid}"
    if anisotropic is None:
        m = isotropic(conv, mid, where)
        if name not in conv.model.solid_materials:
            if not m.E > 0.0:
                raise ModelError("solids need E > 0", place=m.where)
            conv.model.solid_material(name, E=m.E, nu=m.nu, density=m.rho, expansion=m.alpha)
        return name, None
    cordm = group.section["cordm"]
    if cordm == -1:
        raise UnsupportedError(
            "CORDM = -1, axes of the elements, is not supported", place=where, remedy="give a coordinate system"
        )
    if name not in conv.model.solid_materials:
        C = np.zeros((6, 6))
        for i in range(6):
            for j in range(i, 6):
                C[i, j] = C[j, i] = anisotropic[f"c{i + 1}{j + 1}"]
        d = np.sqrt(np.abs(np.diag(C)))
        if not (d > 0.0).all() or not np.linalg.eigvalsh(C / np.outer(d, d))[0] > 0.0:
            raise ModelError("the stiffness of the material is not positive definite", place=anisotropic.where)
        expansion = [anisotropic[f"a{k}"] for k in range(1, 7)]
        conv.model.solid_material(
            name, stiffness=C, density=anisotropic["rho"] * conv.wtmass, expansion=tuple(expansion)
        )
    if not cordm:
        return name, None
    middle = conv.grids.x[group.nodes].mean(axis=1)
    return name, np.array(conv.grids.system(cordm, where).axes_at(middle))
