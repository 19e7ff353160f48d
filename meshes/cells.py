"""Kinds of cells that a mesh can hold: nodes, dimension, facets.  Tables and vectorised searches, nothing else.

Nodes come in the order that meshio, VTK and Abaqus share (corners, then mid-side nodes).  Facets are numbered from 0 as
Abaqus numbers its faces S1, S2, ... (the Abaqus Elements Guide), their nodes so that the normal points outwards; they
are those of `fem_mbs.elements.solids.shapes.FACES`, which knows shape functions too (a test compares the two).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = [
    "CELL_KINDS", "DIMENSION", "FACETS", "LINE_KINDS", "MIRRORED", "PLANE_KINDS", "SOLID_KINDS", "dimension_of",
    "facets_of", "match_facets", "mirrored_facets",
]  # fmt: skip

LINE_KINDS = {"line2": 2, "line3": 3}
"""Kinds of line cells, and their nodes per cell; those of line3 are end, end, middle (Gmsh, VTK)."""

PLANE_KINDS = {"triangle": 3, "triangle6": 6, "quad": 4, "quad8": 8}
SOLID_KINDS = {"tetra": 4, "tetra10": 10, "hexahedron": 8, "hexahedron20": 20, "wedge": 6, "wedge15": 15}
CELL_KINDS = {**LINE_KINDS, **PLANE_KINDS, **SOLID_KINDS}
"""All kinds of cells, and their nodes per cell."""

DIMENSION = {**dict.fromkeys(LINE_KINDS, 1), **dict.fromkeys(PLANE_KINDS, 2), **dict.fromkeys(SOLID_KINDS, 3)}

#: How words of formats for plane and solid cells begin.
_WORDS = {
    2: ("tri", "quad", "polygon", "ctria", "cquad"),
    3: ("tetra", "hex", "wed", "pyr", "polyhedron", "ctetra", "chexa", "cpenta", "cpyram"),
}


def dimension_of(word: str) -> int:
    """Return the dimension of a cell of any kind, known here or not, by a format's word for it; 0: not plane or
    solid."""
    return next((dim for dim, words in _WORDS.items() if word.lower().startswith(words)), 0)


_TRIANGLE, _QUAD = ((0, 1, 3), (1, 2, 4), (2, 0, 5)), ((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 0, 7))
_TETRA = ((0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (2, 0, 3, 6, 7, 9))
_HEXAHEDRON = (
    (0, 3, 2, 1, 11, 10, 9, 8),
    (4, 5, 6, 7, 12, 13, 14, 15),
    (0, 1, 5, 4, 8, 17, 12, 16),
    (1, 2, 6, 5, 9, 18, 13, 17),
    (2, 3, 7, 6, 10, 19, 14, 18),
    (3, 0, 4, 7, 11, 16, 15, 19),
)
_WEDGE = (
    (0, 2, 1, 8, 7, 6),
    (3, 4, 5, 9, 10, 11),
    (0, 1, 4, 3, 6, 13, 9, 12),
    (1, 2, 5, 4, 7, 14, 10, 13),
    (2, 0, 3, 5, 8, 12, 11, 14),
)


def _facets(quadratic, corners: int, kinds: dict[int, str]):
    """Return facets (kind, nodes) of a quadratic cell, or of the linear one with that many corners."""
    rows = quadratic if corners == 0 else tuple(tuple(k for k in f if k < corners) for f in quadratic)
    return tuple((kinds[len(f)], f) for f in rows)


_LINEAR, _QUADRATIC = {2: "line2", 3: "triangle", 4: "quad"}, {3: "line3", 6: "triangle6", 8: "quad8"}

FACETS: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "triangle": _facets(_TRIANGLE, 3, _LINEAR),
    "triangle6": _facets(_TRIANGLE, 0, _QUADRATIC),
    "quad": _facets(_QUAD, 4, _LINEAR),
    "quad8": _facets(_QUAD, 0, _QUADRATIC),
    "tetra": _facets(_TETRA, 4, _LINEAR),
    "tetra10": _facets(_TETRA, 0, _QUADRATIC),
    "hexahedron": _facets(_HEXAHEDRON, 8, _LINEAR),
    "hexahedron20": _facets(_HEXAHEDRON, 0, _QUADRATIC),
    "wedge": _facets(_WEDGE, 6, _LINEAR),
    "wedge15": _facets(_WEDGE, 0, _QUADRATIC),
}
"""kind -> its facets: (kind of the facet, its nodes in the cell)."""


def _mirrored(kind: str, corners: list[int]) -> list[int]:
    """Return an order of all nodes of a cell from one of its corners: middles go with their edges."""
    ends = {}
    for _, f in FACETS[kind]:
        half = len(f) // 2 if DIMENSION[kind] == 3 else 2
        for i, middle in enumerate(f[half:] if max(f) >= len(corners) else ()):
            ends[middle] = frozenset((f[i], f[(i + 1) % half]))
    places = {edge: middle for middle, edge in ends.items()}
    return corners + [places[frozenset(corners[n] for n in ends[middle])] for middle in sorted(ends)]


MIRRORED: dict[str, list[int]] = {
    kind: _mirrored(kind, corners)
    for kinds, corners in (
        (("triangle", "triangle6"), [0, 2, 1]),
        (("quad", "quad8"), [1, 0, 3, 2]),
        (("tetra", "tetra10"), [0, 2, 1, 3]),
        (("hexahedron", "hexahedron20"), [1, 0, 3, 2, 5, 4, 7, 6]),
        (("wedge", "wedge15"), [0, 2, 1, 3, 5, 4]),
    )
    for kind in kinds
}
"""kind -> the order of its nodes in which the image of a cell in a mirror has the sense of the cell."""


def mirrored_facets(kind: str) -> np.ndarray:
    """Return, for each facet of a cell, its number in the cell whose nodes are in the order of `MIRRORED`."""
    place = np.argsort(MIRRORED[kind])  # of each old node
    sets = [frozenset(nodes) for _, nodes in FACETS[kind]]
    return np.array([sets.index(frozenset(int(place[n]) for n in nodes)) for _, nodes in FACETS[kind]])


def facets_of(kind: str, cells: np.ndarray, numbers: np.ndarray) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """Yield facets of cells (m, k) with local numbers (m,), by kind of facet: (kind, rows of the input, nodes (r,
    nodes))."""
    table = FACETS[kind]
    for facet_kind in dict.fromkeys(name for name, _ in table):
        mine = [i for i, (name, _) in enumerate(table) if name == facet_kind]
        rows = np.flatnonzero(np.isin(numbers, mine))
        if rows.size:
            local = np.array([table[i][1] if i in mine else table[mine[0]][1] for i in range(len(table))])
            yield facet_kind, rows, np.take_along_axis(cells[rows], local[numbers[rows]], axis=1)


def match_facets(
    blocks: Iterable[tuple[int, str, np.ndarray]], wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which facets of cells have exactly the corner nodes ``wanted`` (m, c).

    Args:
        blocks: (block number, kind, cells (n, k)) to search in.
        wanted: nodes of the corners in any order, c is 2, 3 or 4.

    Returns:
        (m,) block, cell in it and local facet; -1 where there is none.  Where two cells share a facet (inside a body),
        the first counts.
    """
    corners = wanted.shape[1]
    where = np.full((3, len(wanted)), -1)
    keys, places = [], []
    for number, kind, cells in blocks:
        for i, (facet_kind, local) in enumerate(FACETS[kind]):
            plain = {"line2": 2, "line3": 2, "triangle": 3, "triangle6": 3, "quad": 4, "quad8": 4}[facet_kind]
            if plain == corners:
                keys.append(np.sort(cells[:, local[:corners]], axis=1))
                n = len(cells)
                places.append(np.stack([np.full(n, number), np.arange(n), np.full(n, i)]))
    if not keys or not len(wanted):
        return where[0], where[1], where[2]
    known, place = np.concatenate(keys), np.concatenate(places, axis=1)
    # only facets with all their nodes on the wanted ones can match: few are left to sort
    on = np.zeros(max(int(known.max()), int(wanted.max())) + 1, bool)
    on[wanted] = True
    near = np.flatnonzero(on[known].all(axis=1))
    _, names = np.unique(np.concatenate([known[near], np.sort(wanted, axis=1)]), axis=0, return_inverse=True)
    names = names.reshape(-1)
    first = np.full(int(names.max()) + 1, -1)
    first[names[: near.size][::-1]] = near[::-1]
    found = first[names[near.size :]]
    hit = found >= 0
    where[:, hit] = place[:, found[hit]]
    return where[0], where[1], where[2]
