"""Declarations of generated meshes: what stands under a mesh instead of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    CELL_COUNT,
    COUNT_OR_COUNTS,
    COUNTS,
    CURVES,
    FRACTIONS,
    GROUPS,
    NUMBER,
    NUMBER_OR_SEVERAL,
    POINTS,
    TABLES,
    TEXT,
    VECTOR,
    WHOLES,
)  # fmt: skip
from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes import grids
from fem_mbs.meshes.cells import CELL_KINDS, PLANE_KINDS, SOLID_KINDS
from fem_mbs.meshes.generate import arc, line, polyline
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = [
    "GRIDS", "Arc", "Block", "Box", "Inline", "Line", "Patch", "Polyline", "Rectangle", "Ring", "Source", "Tube",
    "inline_of",
]  # fmt: skip

_PLANE = ", ".join(f'"{kind}"' for kind in PLANE_KINDS)
_SOLID = ", ".join(f'"{kind}"' for kind in SOLID_KINDS)
_NAMED = "points by fractions of the way, 0 to 1: sets of one node; between nodes they divide a cell"
_GRADING = "length of the last cell by that of the first: one ratio, or one for each direction"


@dataclass(frozen=True, eq=False)
class Source(Declaration):
    """The shape from which a mesh is generated."""

    owner = "Mesh"

    def mesh(self) -> Mesh:
        """Return the mesh.

        Raises:
            MeshError: values of which no mesh can be made.
        """
        raise NotImplementedError

    def flat_point(self) -> Any:
        """Return a point with two numbers of a curve, which a model in space must refuse; None if there is none.

        Grids of plane cells may have points of two numbers.
        """
        return None


@dataclass(frozen=True, eq=False)
class Line(Source):
    """A straight line of equal cells."""

    owner = "Line"

    start: Any = key(VECTOR, "first end", unit="m")
    end: Any = key(VECTOR, "second end", unit="m")
    n: Any = key(CELL_COUNT, "number of equal cells")
    points: Any = key(FRACTIONS, _NAMED, None, shows="none")

    def mesh(self) -> Mesh:
        return line(self.start, self.end, self.n, self.points)

    def flat_point(self) -> Any:
        return next((x for x in (self.start, self.end) if np.size(x) == 2), None)


@dataclass(frozen=True, eq=False)
class Polyline(Source):
    """Straight segments through points."""

    owner = "Polyline"

    points: Any = key(POINTS, "corners; the last equal to the first: closed", unit="m")
    n: Any = key(COUNT_OR_COUNTS, "number of cells of each segment")
    named: Any = key(FRACTIONS, f"{_NAMED}, of the whole length", None, shows="none")

    def mesh(self) -> Mesh:
        return polyline(self.points, self.n, self.named)

    def flat_point(self) -> Any:
        return next((x for x in self.points if np.size(x) == 2), None)


@dataclass(frozen=True, eq=False)
class Arc(Source):
    """Chords of an arc or a ring."""

    owner = "Arc"

    center: Any = key(VECTOR, "centre of the circle", unit="m")
    radius: Any = key(NUMBER, "", unit="m")
    angles: Any = key(VECTOR, "first and last angle; 360 apart: a ring", unit="deg")
    n: Any = key(CELL_COUNT, "number of equal chords")
    normal: Any = key(VECTOR, "axis of the circle", [0.0, 0.0, 1.0])
    points: Any = key(FRACTIONS, f"{_NAMED}, of the angle", None, shows="none")

    def mesh(self) -> Mesh:
        return arc(self.center, self.radius, self.angles, self.n, self.normal, self.points)


@dataclass(frozen=True, eq=False)
class Rectangle(Source):
    """Plane cells in a rectangle along x and y."""

    owner = "Rectangle"

    size: Any = key(VECTOR, "width and height", unit="m")
    n: Any = key(COUNTS, "numbers of cells along x and y")
    start: Any = key(VECTOR, "lower left corner", [0.0, 0.0], unit="m")
    kind: str = key(TEXT, f"of the cells: {_PLANE}", "quad", choices=PLANE_KINDS)
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)

    def mesh(self) -> Mesh:
        return grids.rectangle(self.size, self.n, self.start, self.kind, self.grading)


@dataclass(frozen=True, eq=False)
class Box(Source):
    """Solid cells in a box along x, y and z."""

    owner = "Box"

    size: Any = key(VECTOR, "lengths along x, y and z", unit="m")
    n: Any = key(COUNTS, "numbers of cells along x, y and z")
    start: Any = key(VECTOR, "corner of the smallest coordinates", [0.0, 0.0, 0.0], unit="m")
    kind: str = key(TEXT, f"of the cells: {_SOLID}", "hexahedron", choices=SOLID_KINDS)
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)

    def mesh(self) -> Mesh:
        return grids.box(self.size, self.n, self.start, self.kind, self.grading)


@dataclass(frozen=True, eq=False)
class Patch(Source):
    """Plane cells between four edges."""

    owner = "Patch"

    corners: Any = key(POINTS, "four, in turn; bottom goes from the first to the second", unit="m")
    n: Any = key(COUNTS, "numbers of cells along bottom and left")
    kind: str = key(TEXT, f"of the cells: {_PLANE}", "quad", choices=PLANE_KINDS)
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)
    edges: Any = key(
        CURVES,
        'points inside of curved edges, by "bottom", "right", "top", "left" (left to right, upwards); one: an arc of a '
        "circle, several: a cubic spline",
        None,
        shows="straight",
        unit="m",
    )

    def mesh(self) -> Mesh:
        return grids.patch(self.corners, self.n, self.kind, self.grading, self.edges)


@dataclass(frozen=True, eq=False)
class Block(Source):
    """Solid cells between eight corners."""

    owner = "Block"

    corners: Any = key(POINTS, "four of the bottom, counter-clockwise from above, and those above them", unit="m")
    n: Any = key(COUNTS, "numbers of cells from the first corner to the second, to the fourth, to the fifth")
    kind: str = key(TEXT, f"of the cells: {_SOLID}", "hexahedron", choices=SOLID_KINDS)
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)

    def mesh(self) -> Mesh:
        return grids.block(self.corners, self.n, self.kind, self.grading)


@dataclass(frozen=True, eq=False)
class Ring(Source):
    """A sector of an annulus, or with a height of a hollow cylinder."""

    owner = "Ring"

    radii: Any = key(VECTOR, "inner and outer radius", unit="m")
    n: Any = key(COUNTS, "numbers of cells along the radius, around, and along the height")
    angles: Any = key(VECTOR, "first and last angle; 360 apart: a whole ring", [0.0, 360.0], unit="deg")
    height: Any = key(NUMBER, "of solid cells, along the normal", None, shows="plane cells", unit="m")
    center: Any = key(VECTOR, "centre of the bottom", [0.0, 0.0], unit="m")
    normal: Any = key(VECTOR, "axis", [0.0, 0.0, 1.0])
    kind: str | None = key(
        TEXT, "of the cells, as of rectangle or box", None, shows='"quad" or "hexahedron"',
        choices=(*PLANE_KINDS, *SOLID_KINDS),
    )  # fmt: skip
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)

    def mesh(self) -> Mesh:
        return grids.ring(
            self.radii, self.n, self.angles, self.height, self.center, self.normal, self.kind, self.grading
        )


@dataclass(frozen=True, eq=False)
class Tube(Source):
    """A sector of the surface of a cylinder, for shells; normals point outwards."""

    owner = "Tube"

    radius: Any = key(NUMBER, "", unit="m")
    height: Any = key(NUMBER, "along the normal", unit="m")
    n: Any = key(COUNTS, "numbers of cells around and along the height")
    angles: Any = key(VECTOR, "first and last angle; 360 apart: a whole tube", [0.0, 360.0], unit="deg")
    center: Any = key(VECTOR, "centre of the bottom", [0.0, 0.0, 0.0], unit="m")
    normal: Any = key(VECTOR, "axis", [0.0, 0.0, 1.0])
    kind: str = key(TEXT, f"of the cells: {_PLANE}", "quad", choices=PLANE_KINDS)
    grading: Any = key(NUMBER_OR_SEVERAL, _GRADING, 1.0)

    def mesh(self) -> Mesh:
        return grids.tube(
            self.radius, self.height, self.n, self.angles, self.center, self.normal, self.kind, self.grading
        )


@dataclass(frozen=True, eq=False)
class Inline(Source):
    """Nodes and cells that stand in the file itself."""

    owner = "Mesh"

    nodes: Any = key(POINTS, "coordinates", unit="m")
    cells: Any = key(
        TABLES, f"tables {{kind, nodes = [[...]]}}, of {', '.join(CELL_KINDS)}; with `numbers` where not 1, 2 ...", []
    )
    numbers: Any = key(WHOLES, "of the nodes, by which cells and sets call them", None, shows="1, 2 ...")
    node_sets: Any = key(GROUPS, "numbers of nodes by name", None, shows="none")
    cell_sets: Any = key(GROUPS, "numbers of cells by name", None, shows="none")
    facet_sets: Any = key(GROUPS, "[number of a cell, its facet from 1 as Abaqus counts] by name", None, shows="none")

    def mesh(self) -> Mesh:
        ids = np.arange(1, len(self.nodes) + 1) if self.numbers is None else np.asarray(self.numbers, np.int64)
        if not self.nodes or ids.shape != (len(self.nodes),):
            raise MeshError(f"inline: {len(self.nodes)} nodes with {ids.size} numbers; give one number for each node")
        blocks, start = [], 1
        for i, table in enumerate(self.cells, 1):
            if not {"kind", "nodes"} <= set(table) <= {"kind", "nodes", "numbers"}:
                raise MeshError(f"inline: cells {i} must have kind and nodes, and may have numbers, nothing else")
            kind, rows = table["kind"], _rows(table["nodes"], f"nodes of cells {i}")
            if kind not in CELL_KINDS:
                raise MeshError(f"inline: cells {i} of an unknown kind {kind!r}; there are {', '.join(CELL_KINDS)}")
            if rows.shape[1:] != (CELL_KINDS[kind],):
                raise MeshError(f"inline: cells {i} need {CELL_KINDS[kind]} nodes each ({kind})")
            own = np.asarray(table.get("numbers", np.arange(start, start + len(rows))))
            blocks.append(CellBlock(kind, _found(rows, ids, f"cells {i}", "node"), own))
            start += len(rows)
        found = Mesh(
            np.asarray(self.nodes, float),
            blocks,
            {k: _found(_rows(v, k), ids, f'node set "{k}"', "node") for k, v in (self.node_sets or {}).items()},
            point_ids=ids,
            source="inline",
            format="inline",
        )
        places = [(b, block.ids) for b, block in enumerate(found.blocks)]
        cells = {k: _cells_of(places, _rows(v, k), k) for k, v in (self.cell_sets or {}).items()}
        facets = {}
        for name, pairs in (self.facet_sets or {}).items():
            rows = _rows(pairs, name)
            if rows.shape[1:] != (2,):
                raise MeshError(f'inline: facet set "{name}" must be a list of [cell, facet]')
            facets[name] = [(b, at, rows[which, 1] - 1) for b, at, which in _in_blocks(places, rows[:, 0], name)]
        return Mesh(
            found.points, found.blocks, found.node_sets, cells, found.point_ids, "inline", "inline", facet_sets=facets
        )


def _rows(values: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.empty(0, float)
    if found.size == 0 or found.dtype.kind not in "iu":
        raise MeshError(f"inline: {what} must be lists of whole numbers of equal length")
    return found.astype(np.int64)


def _found(wanted: np.ndarray, ids: np.ndarray, what: str, kind: str) -> np.ndarray:
    """Return the places of numbers among ``ids``."""
    order = np.argsort(ids, kind="stable")
    at = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
    missing = wanted[ids[at] != wanted]
    if missing.size:
        raise MeshError(f"inline: {what} names {kind} {missing[0]}, which there is not")
    return at


def _in_blocks(
    places: list[tuple[int, np.ndarray]], numbers: np.ndarray, name: str
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return block, cells in it and which of the numbers they are."""
    _found(numbers, np.concatenate([np.empty(0, np.int64), *[ids for _, ids in places]]), f'set "{name}"', "cell")
    out = []
    for b, ids in places:
        which = np.flatnonzero(np.isin(numbers, ids))
        if which.size:
            out.append((b, _found(numbers[which], ids, f'set "{name}"', "cell"), which))
    return out


def _cells_of(places: list[tuple[int, np.ndarray]], numbers: np.ndarray, name: str) -> list[tuple[int, np.ndarray]]:
    return [(b, at) for b, at, _ in _in_blocks(places, numbers, name)]


def inline_of(mesh: Mesh) -> Inline:
    """Return the declaration that makes a mesh again."""
    x = mesh.points if mesh.points[:, 2].any() else mesh.points[:, :2]
    ids = mesh.point_ids
    plain = np.array_equal(ids, np.arange(1, len(ids) + 1))
    counted, cells = 1, []
    for block in mesh.blocks:
        table: dict[str, Any] = {"kind": block.kind, "nodes": ids[block.cells].tolist()}
        if not np.array_equal(block.ids, np.arange(counted, counted + len(block.ids))):
            table["numbers"] = block.ids.tolist()
        counted += len(block.ids)
        cells.append(table)
    blocks = mesh.blocks

    def joined(parts: Mapping[str, Any], rows: Any) -> dict[str, Any] | None:
        return {name: [row for part in group for row in rows(*part)] for name, group in parts.items()} or None

    return Inline(
        nodes=x.tolist(),
        cells=cells,
        numbers=None if plain else ids.tolist(),
        node_sets={name: ids[nodes].tolist() for name, nodes in mesh.node_sets.items()} or None,
        cell_sets=joined(mesh.cell_sets, lambda b, at: blocks[b].ids[at].tolist()),
        facet_sets=joined(mesh.facet_sets, lambda b, at, n: np.stack((blocks[b].ids[at], n + 1), axis=1).tolist()),
    )


#: Grids of plane and solid cells by the names of their keys.
GRIDS: dict[str, type[Source]] = {
    "rectangle": Rectangle, "patch": Patch, "box": Box, "block": Block, "ring": Ring, "tube": Tube,
}  # fmt: skip
