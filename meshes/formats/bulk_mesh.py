"""Read the mesh of Nastran bulk data (.bdf, .nas, .fem): grid points and elements with points of their own.

Cells of one property make a cell set, grid points of one set of supports a node set (``SPC_1``); sets of case control
that HyperMesh names ($HMSET) keep their names.  A property is called ``PID_1``, or as HyperMesh ($HMNAME PROP) and
Femap name it in comments.  Properties, materials, loads and solutions are not read: such a deck is to be run itself
(`fem_mbs.decks`).
"""

from __future__ import annotations

import re

import numpy as np

from fem_mbs.errors import MeshError, ModelError
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.formats.found import Found
from fem_mbs.meshes.formats.meshio_formats import settled
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.meshes.nastran.deck import BulkDeck
from fem_mbs.meshes.nastran.reader import read_bulk_mesh
from fem_mbs.meshes.nastran.systems import find_grids

__all__ = ["read_bdf"]

#: Entry -> fields of its grid points, number of corners, cell with corners only and with all mid-side points.
_ELEMENTS: dict[str, tuple[tuple[str, ...], int, str, str]] = {
    **dict.fromkeys(("CBAR", "CBEAM"), (("ga", "gb"), 2, "line", "")),
    **dict.fromkeys(("CROD", "CONROD"), (("g1", "g2"), 2, "line", "")),
    **dict.fromkeys(("CTRIA3", "CTRIAR"), (("g1", "g2", "g3"), 3, "triangle", "")),
    **dict.fromkeys(("CQUAD4", "CQUADR"), (("g1", "g2", "g3", "g4"), 4, "quad", "")),
    "CTRIA6": (tuple(f"g{k}" for k in range(1, 7)), 3, "triangle", "triangle6"),
    "CQUAD8": (tuple(f"g{k}" for k in range(1, 9)), 4, "quad", "quad8"),
    "CTETRA": (("nodes",), 4, "tetra", "tetra10"),
    "CPENTA": (("nodes",), 6, "wedge", "wedge15"),
    "CHEXA": (("nodes",), 8, "hexahedron", "hexahedron20"),
}
_READ = (
    *_ELEMENTS, "GRID", "GRDSET", "CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S", "SPC", "SPC1",
)  # fmt: skip
#: Where the nodes of our order stand in Nastran's, which has the edges upward before those of the top.
_ORDER = {
    "wedge15": (*range(9), 12, 13, 14, 9, 10, 11),
    "hexahedron20": (*range(12), 16, 17, 18, 19, 12, 13, 14, 15),
}
_COUNT = {"triangle6": 6, "quad8": 8, "tetra10": 10, "wedge15": 15, "hexahedron20": 20}
_HYPERMESH = re.compile(r'^\$HMNAME\s+PROPS?\s+(\d+)\s*"([^"]+)"', re.M)
_FEMAP = re.compile(r"^\$\s*Femap(?: with [^:]*?)? Property (\d+) : *([^\r\n]+?) *$", re.M | re.I)
_SETS = re.compile(r'^\$HMSET\s+(\d+)\s+([12])\s*"([^"]+)"', re.M)


def read_bdf(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read the mesh of bulk data; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`.

    The file and what it includes are read from the disk; ``data`` gives the names that stand in comments.
    """
    deck = read_bulk_mesh(where, _READ)
    try:
        grids = find_grids(deck)
    except ModelError as error:
        raise MeshError(str(error)) from None
    if not len(grids.ids):
        raise MeshError(f"{where}: holds no grid points (GRID); save it anew")
    found = Found(where, "Nastran bulk data", grids.x, grids.ids, [], kinds)
    members = _cells(found, deck)
    text = data.decode("latin-1")
    named = {int(k): name.strip() for pattern in (_HYPERMESH, _FEMAP) for k, name in pattern.findall(text)}
    for pid, parts in sorted(members.items()):
        name = named.get(pid, f"PID_{pid}")
        name = f"{name} {pid}" if list(named.values()).count(name) > 1 else name
        for dimension in sorted({DIMENSION[found.blocks[b].kind] for b in parts}):
            same = [(b, np.array(c)) for b, c in parts.items() if DIMENSION[found.blocks[b].kind] == dimension]
            found.add_cells(name, same, "a property")
    _node_sets(found, deck)
    _named_sets(found, deck, text)
    other = sorted({entry.name for entry in deck.unknown})
    if other:
        found.skipped.append(f"entries that are no mesh: {', '.join(other)}")
    return found.mesh()


def _index(found: Found, nodes: np.ndarray, place: str) -> np.ndarray:
    """Return rows of grid points by their numbers, which rise."""
    at = np.minimum(np.searchsorted(found.point_ids, nodes), len(found.point_ids) - 1)
    missing = found.point_ids[at] != nodes
    if missing.any():
        raise MeshError(f"{place}: there is no grid point {nodes.ravel()[missing.ravel().argmax()]}; add a GRID")
    return at


def _cells(found: Found, deck: BulkDeck) -> dict[int, dict[int, list[int]]]:
    """Enter the cells of each kind; return property -> block -> its cells."""
    rows: dict[str, list[tuple[int, int, list[int], str]]] = {}
    for name, (fields, corners, small, large) in _ELEMENTS.items():
        for card in deck.of(name):
            nodes = [n or 0 for n in (card["nodes"] if fields == ("nodes",) else [card[f] for f in fields])]
            while nodes and not nodes[-1]:
                nodes.pop()
            kind = small if len(nodes) == corners else large
            if 0 in nodes or len(nodes) != _COUNT.get(kind, corners):
                found.others[f"{name} with a part of its mid-side points"] += 1
                continue
            pid = int(card["pid"]) if "pid" in card.values else 0
            rows.setdefault(kind, []).append((card.id, pid, nodes, card.where))
    members: dict[int, dict[int, list[int]]] = {}
    for kind, entries in rows.items():
        if kind not in found.kinds:
            found.others[kind] += len(entries)
            continue
        table = np.array([nodes for _, _, nodes, _ in entries], np.int64)
        known = np.isin(table, found.point_ids).all(axis=1)
        at = _index(found, table, entries[int(known.argmin())][3])
        cells = settled(kind, at[:, list(_ORDER.get(kind, range(table.shape[1])))], found.points)
        for k, (_, pid, _, _) in enumerate(entries):
            if pid:
                members.setdefault(pid, {}).setdefault(len(found.blocks), []).append(k)
        found.blocks.append(CellBlock(found.kinds[kind], cells, np.array([number for number, *_ in entries], np.int64)))
    return members


def _existing(found: Found, ids: np.ndarray, known: np.ndarray, owner: str, what: str) -> np.ndarray:
    """Return the numbers of a set that are known, and note those that are not, which THRU may run over."""
    there = np.isin(ids, known)
    if not there.all():
        gone = ids[~there]
        shown = ", ".join(map(str, gone[:5])) + (" ..." if len(gone) > 5 else "")
        found.skipped.append(f"{owner} names {what}s that are not there ({len(gone)}): {shown}")
    return ids[there]


def _node_sets(found: Found, deck: BulkDeck) -> None:
    """Enter the grid points of each set of supports."""
    held: dict[int, list[int]] = {}
    for card in deck.of("SPC1"):
        ids = found.point_ids.tolist() if card["ids"] == "ALL" else card["ids"]
        held.setdefault(card["sid"], []).extend(ids)
    for card in deck.of("SPC"):
        held.setdefault(card["sid"], []).extend(g for g in (card["g1"], card["g2"]) if g)
    for number, ids in sorted(held.items()):
        nodes = np.unique(np.array(ids, np.int64))
        nodes = _existing(found, nodes, found.point_ids, f"the set of supports {number}", "grid point")
        if len(nodes):
            found.add_nodes(f"SPC_{number}", _index(found, nodes, ""), "a set of supports")


def _named_sets(found: Found, deck: BulkDeck, text: str) -> None:
    """Enter the sets of case control that HyperMesh names: of grid points (1) and of elements (2)."""
    for number, kind, name in _SETS.findall(text):
        ids = np.array(sorted(deck.sets.get(int(number)) or ()), np.int64)
        if kind == "1":
            ids = _existing(found, ids, found.point_ids, f'the set "{name}"', "grid point")
            if len(ids):
                found.add_nodes(name, _index(found, ids, ""), "a set of case control")
            continue
        parts = [(b, np.flatnonzero(np.isin(block.ids, ids))) for b, block in enumerate(found.blocks)]
        parts = [(b, rows) for b, rows in parts if len(rows)]
        for dimension in sorted({DIMENSION[found.blocks[b].kind] for b, _ in parts}):
            same = [p for p in parts if DIMENSION[found.blocks[p[0]].kind] == dimension]
            found.add_cells(name, same, "a set of case control")
