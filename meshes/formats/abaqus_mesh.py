"""Read the mesh of a deck of Abaqus or CalculiX (.inp): nodes, elements, sets and surfaces; instances in their places.

Node sets, element sets and surfaces keep their names, in decks of instances INSTANCE.NAME.  A surface of shells is a
set of cells, which have no sides; what it has of their side SNEG is called NAME@back.  Materials, sections, loads and
steps are not read: a deck with these is to be run itself (`fem_mbs.decks`).
"""

from __future__ import annotations

import numpy as np

from fem_mbs.meshes.abaqus.mesh import DeckMesh
from fem_mbs.meshes.abaqus.reader import read_deck_mesh
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.formats.found import BACK, Found
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["read_inp"]

_SOLIDS = {4: "tetra", 10: "tetra10", 6: "wedge", 15: "wedge15", 8: "hexahedron", 20: "hexahedron20"}
_PLANES = {3: "triangle", 6: "triangle6", 4: "quad", 8: "quad8"}
_LINES = {2: "line", 3: "line3"}
_FAMILIES = {
    "solid": _SOLIDS, "continuum shell": _SOLIDS, "heat": {**_SOLIDS, **_PLANES}, "beam": _LINES, "truss": _LINES,
    **dict.fromkeys(
        ("plane stress", "plane strain", "axisymmetric", "shell", "membrane", "surface", "rigid"), _PLANES
    ),
}  # fmt: skip


def read_inp(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read the mesh of a deck; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`.

    The deck and what it includes are read from the disk, ``data`` is not needed.
    """
    deck, unread = read_deck_mesh(where)
    found = Found(where, "Abaqus", deck.x, deck.node_ids, [], kinds)
    if unread:
        found.skipped.append(f"keywords of the deck that are no mesh: {', '.join(unread)}")
    order = np.argsort(deck.node_ids, kind="stable")
    ids = deck.node_ids[order]

    def at(nodes: np.ndarray) -> np.ndarray:
        return order[np.searchsorted(ids, nodes)]

    number = {}  # blocks of the deck -> blocks of the mesh
    for i, block in enumerate(deck.blocks):
        kind = _FAMILIES.get(block.family, {}).get(block.nodes.shape[1])
        if kind is None or kind not in kinds:
            found.others[kind or block.type] += len(block.ids)
            continue
        cells = at(block.nodes.ravel()).reshape(block.nodes.shape)
        number[i] = len(found.blocks)
        cells = cells[:, [0, 2, 1]] if kind == "line3" else cells  # the deck has the middle between the ends
        found.blocks.append(CellBlock(kinds[kind], cells, block.ids))
    for name, nodes in deck.nsets.items():
        if len(nodes):
            found.add_nodes(name, at(nodes), "a node set")
    for name, elements in deck.elsets.items():
        parts = [
            (number[i], rows)
            for i, block in enumerate(deck.blocks)
            if i in number and (rows := np.flatnonzero(np.isin(block.ids, elements))).size
        ]
        for dimension in sorted({DIMENSION[found.blocks[b].kind] for b, _ in parts}):
            same = [(b, rows) for b, rows in parts if DIMENSION[found.blocks[b].kind] == dimension]
            found.add_cells(name, same, "an element set")
    _surfaces(found, deck, number, at)
    found.skipped += [f"{note.name}: {note.reason}" for note in deck.log.entries() if note.effect is Effect.DIFFERS]
    return found.mesh()


def _surfaces(found: Found, deck: DeckMesh, number: dict[int, int], at) -> None:
    """Enter surfaces of solids and plane elements as facet sets, of shells as cell sets, of nodes as node sets."""
    top = max((DIMENSION[block.kind] for block in found.blocks), default=0)
    for name, surface in deck.surfaces.items():
        if surface.kind == "node":
            if name not in found.node_sets and len(surface.nodes):
                found.add_nodes(name, at(surface.nodes), "a surface")
            continue
        if name in found.cell_sets:
            found.skipped.append(f'surface "{name}": an element set has its name')
            continue
        sides: list[tuple[int, np.ndarray, np.ndarray]] = []
        cells: dict[str, list[tuple[int, np.ndarray]]] = {"": [], BACK: []}
        left = 0
        for i, block in enumerate(deck.blocks):
            mine = np.isin(surface.elements, block.ids)
            if i not in number or not mine.any():
                continue
            sorter = np.argsort(block.ids, kind="stable")
            rows = sorter[np.searchsorted(block.ids, surface.elements[mine], sorter=sorter)]
            labels = surface.faces[mine]
            if block.family in ("shell", "membrane", "surface", "rigid"):
                known = np.zeros(len(rows), bool)
                for suffix, words in (("", ("SPOS", "S2")), (BACK, ("SNEG", "S1"))):
                    mine = np.isin(labels, words)
                    known |= mine
                    if mine.any():
                        cells[suffix].append((number[i], np.unique(rows[mine])))
                left += int((~known).sum())
            elif DIMENSION[found.blocks[number[i]].kind] == top:
                sides.append((number[i], rows, np.array([int(label[1:]) - 1 for label in labels])))
            else:
                left += len(rows)
        if sides:
            found.sides[name] = sides
        for suffix, parts in cells.items():
            if parts:
                taken = f"{name}{suffix}" in found.cell_sets or (sides and not suffix)
                found.add_cells(f"{name}{'@shells' if taken else ''}{suffix}", parts, "a surface")
        if left or not (sides or cells[""] or cells[BACK]):
            what = ("1 edge of shells" if left == 1 else f"{left} edges of shells") if left else "no cells of the mesh"
            found.skipped.append(f'surface "{name}": {what}')
