"""Generate meshes, and write a mesh to a Gmsh file.

All generators give two-node cells in one block, the cell set ``all`` and node sets for their ends, so that their sets
are used like those of a file.  Wrong arguments raise MeshError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["arc", "circle_axes", "count_of", "grid2d", "line", "point_of", "points_of", "polyline", "write_msh"]


#: Fractions of a way that differ by less are one node.
_NEAR = 1e-9


# ---- generators ------------------------------------------------------------------------------------------------------


def line(start: Sequence[float], end: Sequence[float], n: int, named: Mapping[str, float] | None = None) -> Mesh:
    """Return n equal cells from start to end, (2,) or (3,) [m].  Sets: all; points start, end, and those of ``named``.

    ``named`` are fractions of the way from start to end, 0 to 1, by name.  A fraction between nodes gets a node of its
    own, which divides the cell.
    """
    a, b = points_of("line", {"start": start, "end": end})
    n = count_of("line", "n", n)
    if np.array_equal(a, b):
        raise MeshError(f"line: start and end are both {tuple(a.tolist())}; give two points")
    s, sets = _with_named("line", np.linspace(0.0, 1.0, n + 1), named, closed=False)
    path = np.linspace(a, b, n + 1) if len(s) == n + 1 else a + s[:, None] * (b - a)
    path[-1] = b
    return _chain("line", path, closed=False, node_sets=sets)


def polyline(
    points: Sequence[Sequence[float]],
    n_per_segment: int | Sequence[int],
    named: Mapping[str, float] | None = None,
) -> Mesh:
    """Return straight segments through the points (m, 2) or (m, 3) [m], each of n cells (one number, or one per
    segment).

    Sets: all, segment_1, ...; points start, end, corners (all the given points), corner_1, ...  If the last point is
    the first one, the chain is closed and start and end are one node.  ``named``: as of `line`, fractions of the whole
    length.
    """
    if len(points) < 2:
        raise MeshError(f"polyline: {len(points)} points; give at least 2")
    corners = points_of("polyline", {f"point {i}": x for i, x in enumerate(points, 1)})
    m = len(corners) - 1
    given = list(n_per_segment) if isinstance(n_per_segment, Sequence | np.ndarray) else [n_per_segment] * m
    if len(given) != m:
        raise MeshError(
            f"polyline: n_per_segment has {len(given)} entries for {m} segments; give one for each, or one number"
        )
    counts = [count_of("polyline", f"n_per_segment of segment {i}", n) for i, n in enumerate(given, 1)]
    for i, (a, b) in enumerate(pairwise(corners), 1):
        if np.array_equal(a, b):
            raise MeshError(f"polyline: points {i} and {i + 1} are both {tuple(a.tolist())}; remove one")
    closed = np.array_equal(corners[0], corners[-1])
    if closed and m < 3:
        raise MeshError("polyline: a closed chain needs 3 segments at least; it would lie on itself")
    pieces = [np.linspace(corners[i], corners[i + 1], counts[i], endpoint=False) for i in range(m)]
    path = np.concatenate([*pieces, corners[-1:]])
    starts = np.concatenate([[0], np.cumsum(counts)])
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    far /= far[-1]
    s, sets = _with_named("polyline", far, named, closed)
    if len(s) > len(far):
        path = np.stack([np.interp(s, far, path[:, i]) for i in range(3)], axis=1)
        starts = np.searchsorted(s, far[starts])
    at = starts % starts[-1] if closed else starts
    node_sets = {"corners": at} | {f"corner_{i}": at[i - 1 : i] for i in range(1, m + (1 if closed else 2))}
    cell_sets = {f"segment_{i + 1}": [(0, np.arange(starts[i], starts[i + 1]))] for i in range(m)}
    return _chain("polyline", path, closed, node_sets | _apart("polyline", sets, node_sets), cell_sets)


def arc(
    center: Sequence[float],
    radius: float,
    angles: tuple[float, float],
    n: int,
    normal: Sequence[float] = (0.0, 0.0, 1.0),
    named: Mapping[str, float] | None = None,
) -> Mesh:
    """Return n equal chords of a circle, with all nodes on it.  Sets: all; points start, end, and those of ``named``.

    ``center`` (2,) or (3,) [m], ``radius`` [m]; ``angles`` (first, last) [deg] turn about ``normal`` (3,), counted from
    the projection of the x axis on the circle's plane (of the y axis if the normal is along x).  A difference of 360
    gives a closed ring, whose start and end are one node.  ``named``: as of `line`, fractions of the angle.
    """
    middle, (e1, e2, _) = point_of("arc", "center", center), circle_axes("arc", normal)
    n = count_of("arc", "n", n)
    if not (np.ndim(radius) == 0 and np.isfinite(radius) and radius > 0):
        raise MeshError(f"arc: radius {radius!r} must be a positive number [m]")
    if np.shape(angles) != (2,) or not np.isfinite(angles).all():
        raise MeshError(f"arc: angles {angles!r} must be two finite numbers [deg]: first, last")
    first, last = (float(a) for a in angles)
    if not 0 < abs(last - first) <= 360:
        raise MeshError(f"arc: angles {first:g} and {last:g} deg must differ by more than 0 and at most 360 deg")
    closed = abs(last - first) == 360
    if closed and n < 3:
        raise MeshError(f"arc: a ring of {n} cells lies on itself; give n = 3 or more")
    s, sets = _with_named("arc", np.linspace(0.0, 1.0, n + 1), named, closed)
    degrees = np.linspace(first, last, n + 1) if len(s) == n + 1 else first + s * (last - first)
    turn = np.deg2rad(degrees)[:, None]
    path = middle + radius * (np.cos(turn) * e1 + np.sin(turn) * e2)
    return _chain("arc", path, closed, node_sets=sets)


def grid2d(
    size: tuple[float, float],
    cells: tuple[int, int],
    origin: Sequence[float] = (0.0, 0.0),
    diagonals: str = "none",
) -> Mesh:
    """Return a lattice of bars in the x-y plane, for trusses and nets.

    ``size`` (width, height) [m] in ``cells`` (along x, along y) fields from the lower left corner ``origin``;
    ``diagonals``: "none", "rising" (lower left to upper right), "falling" or "both" (crossing, not connected).
    Sets: all, horizontal, vertical, diagonal; points left, right, bottom, top, and the corners bottom_left, ...
    """
    base = point_of("grid2d", "origin", origin)
    if np.shape(cells) != (2,):
        raise MeshError(f"grid2d: cells {cells!r} must be two whole numbers: along x, along y")
    nx, ny = (count_of("grid2d", "cells", n) for n in cells)
    if np.shape(size) != (2,) or not all(np.isfinite(v) and v > 0 for v in size):
        raise MeshError(f"grid2d: size {size!r} must be two positive numbers [m]")
    if diagonals not in ("none", "rising", "falling", "both"):
        raise MeshError(f'grid2d: diagonals {diagonals!r}; use "none", "rising", "falling" or "both"')
    node = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)  # row by row from the bottom
    x, y = np.meshgrid(np.linspace(0, size[0], nx + 1), np.linspace(0, size[1], ny + 1))
    parts = {
        "horizontal": np.stack([node[:, :-1], node[:, 1:]], axis=-1).reshape(-1, 2),
        "vertical": np.stack([node[:-1], node[1:]], axis=-1).reshape(-1, 2),
        "diagonal": np.concatenate(
            [np.stack([node[:-1, :-1], node[1:, 1:]], axis=-1).reshape(-1, 2)] * (diagonals in ("rising", "both"))
            + [np.stack([node[1:, :-1], node[:-1, 1:]], axis=-1).reshape(-1, 2)] * (diagonals in ("falling", "both"))
            + [np.empty((0, 2), dtype=np.int64)]
        ),
    }
    ends = np.cumsum([0] + [len(part) for part in parts.values()])
    cell_sets = {"all": [(0, np.arange(ends[-1]))]}
    cell_sets |= {name: [(0, np.arange(a, b))] for name, a, b in zip(parts, ends[:-1], ends[1:], strict=True) if b > a}
    return Mesh(
        points=base + np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]),
        blocks=[CellBlock("line2", np.concatenate(list(parts.values())))],
        node_sets={
            "left": node[:, 0],
            "right": node[:, -1],
            "bottom": node[0],
            "top": node[-1],
            "bottom_left": node[:1, 0],
            "bottom_right": node[:1, -1],
            "top_left": node[-1:, 0],
            "top_right": node[-1:, -1],
        },
        cell_sets=cell_sets,
        source="grid2d",
        format="generated",
    )


def _with_named(
    source: str, s: np.ndarray, named: Mapping[str, float] | None, closed: bool
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the fractions of nodes with those of named points among them, and the node sets of these."""
    given = dict(named or {})
    for name, at in given.items():
        if isinstance(at, bool) or not isinstance(at, (int, float, np.number)) or not 0.0 <= at <= 1.0:
            raise MeshError(f"{source}: point {name} = {at!r} must be a fraction of the way, 0 to 1")
        if not name.strip() or name in ("all", "start", "end"):
            raise MeshError(f'{source}: a point cannot be called "{name}"; choose another name')
    wanted = np.array([float(v) for v in given.values()])
    near = np.abs(wanted[:, None] - s).min(axis=1, initial=1.0)
    merged = np.unique(np.concatenate([s, wanted[near > _NEAR]]))
    apart = np.concatenate([[True], np.diff(merged) > _NEAR])
    merged = merged[apart] if len(merged) > len(s) else s
    places = {name: int(np.abs(merged - at).argmin()) for name, at in given.items()}
    last = len(merged) - 1
    return merged, {name: np.array([0 if closed and i == last else i]) for name, i in places.items()}


def _apart(source: str, sets: dict[str, np.ndarray], others: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return named points, none of which has the name of another set."""
    for name in sets:
        if name in others or name.startswith("segment_"):
            raise MeshError(f'{source}: a point cannot be called "{name}", as a set is; choose another name')
    return sets


def _chain(source: str, path: np.ndarray, closed: bool, node_sets=None, cell_sets=None) -> Mesh:
    """Return cells from each point of the path (n + 1, 3) to the next; of a closed path the last point is the first
    node."""
    n = len(path) - 1
    after = np.arange(1, n + 1)
    if closed:
        path, after[-1] = path[:-1], 0
    return Mesh(
        points=path,
        blocks=[CellBlock("line2", np.column_stack([np.arange(n), after]))],
        node_sets={"start": np.zeros(1, np.int64), "end": after[-1:]} | (node_sets or {}),
        cell_sets={"all": [(0, np.arange(n))]} | (cell_sets or {}),
        source=source,
        format="generated",
    )


def circle_axes(what: str, normal: Sequence[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two directions in the plane of a circle, from which and towards which angles count, and its axis, (3,).

    The first is the projection of the x axis on the plane; of the y axis if the normal is along x.
    """
    axis = points_of(what, {"normal": normal}, size=3)[0]
    length = np.linalg.norm(axis)
    if length == 0:
        raise MeshError(f"{what}: normal (0, 0, 0) has no length; give the axis of the circle")
    axis = axis / length
    along_x = np.hypot(axis[1], axis[2]) < 1e-8
    e1 = np.array([0.0, 1.0, 0.0] if along_x else [1.0, 0.0, 0.0])
    e1 = e1 - (e1 @ axis) * axis
    e1 /= np.linalg.norm(e1)
    return e1, np.cross(axis, e1), axis


def point_of(what: str, name: str, value: Any) -> np.ndarray:
    """Return a point (3,) of 2 or 3 numbers."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        x = np.empty(0)
    if x.shape not in ((2,), (3,)) or not np.isfinite(x).all():
        raise MeshError(f"{what}: {name} {value!r} must be 2 or 3 finite numbers")
    return x if len(x) == 3 else np.append(x, 0.0)


def points_of(what: str, values: Mapping[str, Any], size: int | None = None) -> list[np.ndarray]:
    """Return points (3,) from ``values``, whose keys name them in messages.

    All must have ``size`` numbers, by default as many as the first.  So a point with a missing third number is an
    error.
    """
    points = [point_of(what, name, value) for name, value in values.items()]
    wanted = size or (len(next(iter(values.values()))) if values else 0)
    for name, value in values.items():
        if len(value) != wanted:
            as_others = "" if size else f", as {next(iter(values))} has"
            raise MeshError(f"{what}: {name} {value!r} must be {wanted} numbers{as_others}; give all coordinates")
    return points


def count_of(what: str, name: str, n: Any) -> int:
    """Return a number of cells."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise MeshError(f"{what}: {name} is {n!r}; give a whole number of cells, 1 or more")
    return int(n)


# ---- writer ----------------------------------------------------------------------------------------------------------


def write_msh(mesh: Mesh, path: str | Path, version: str = "4.1") -> None:
    """Write the mesh as a Gmsh text file ("4.1" or "2.2"), every set as a physical group.

    Coordinates are written with all digits; numbers of nodes and cells, order and sets come back from `read_mesh`.  One
    entity per combination of groups stands for the curves of the geometry, since a mesh has none.  Format:
    https://gmsh.info/doc/texinfo/gmsh.html#File-formats
    """
    if version not in ("4.1", "2.2"):
        raise MeshError(f'write_msh: version {version!r}; use "4.1" or "2.2"')
    if not any(len(block.cells) for block in mesh.blocks):
        raise MeshError(f"write_msh: the mesh {mesh.source} has no cells; there is nothing to write")
    for name in [*mesh.node_sets, *mesh.cell_sets]:
        if not name or any(ord(c) < 32 for c in name):
            raise MeshError(f"write_msh: the set name {name!r} is empty or has control characters; rename the set")

    # groups of each marked point and of each cell
    of_point: dict[int, list[int]] = {}
    for tag, nodes in enumerate(mesh.node_sets.values(), 1):
        for i in nodes.tolist():
            of_point.setdefault(i, []).append(tag)
    of_cell: list[list[list[int]]] = [[[] for _ in block.cells] for block in mesh.blocks]
    for tag, parts in enumerate(mesh.cell_sets.values(), 1):
        for block, cells in parts:
            for i in cells.tolist():
                of_cell[block][i].append(tag)
    curves: dict[tuple[int, ...], int] = {}
    for tags in (tuple(tags) for block in of_cell for tags in block):
        curves.setdefault(tags, len(curves) + 1)

    out = ["$MeshFormat", f"{version} 0 8", "$EndMeshFormat"]
    names = [(0, tag, name) for tag, name in enumerate(mesh.node_sets, 1)]
    names += [(1, tag, name) for tag, name in enumerate(mesh.cell_sets, 1)]
    if names:
        out += ["$PhysicalNames", str(len(names))]
        out += [f'{dimension} {tag} "{name}"' for dimension, tag, name in names]
        out += ["$EndPhysicalNames"]
    out += (_body_41 if version == "4.1" else _body_22)(mesh, of_point, of_cell, curves)
    try:
        Path(path).write_text("\n".join(out) + "\n", encoding="utf-8")
    except OSError as error:
        raise MeshError(f"write_msh: {path} cannot be written ({error}); check folder and permissions") from error


_GMSH_CODE = {"line2": 1, "line3": 8}


def _rows(values: np.ndarray) -> list[str]:
    """Return numbers separated by blanks, floats with the shortest digits that give them back."""
    return [" ".join(map(repr, row)) for row in values.tolist()]


def _body_41(mesh: Mesh, of_point: dict, of_cell: list, curves: dict) -> list[str]:
    low, high = _rows(np.stack([mesh.points.min(axis=0), mesh.points.max(axis=0)]))
    out = ["$Entities", f"{len(of_point)} {len(curves)} 0 0"]
    marked = {i: entity for entity, i in enumerate(of_point, 1)}
    positions = _rows(mesh.points[list(of_point)]) if of_point else []
    for (i, tags), x in zip(of_point.items(), positions, strict=True):
        out.append(f"{marked[i]} {x} {len(tags)} {' '.join(map(str, tags))}")
    for tags, entity in curves.items():
        out.append(" ".join(map(str, [entity, low, high, len(tags), *tags, 0])))
    n = len(mesh.points)
    ids = mesh.point_ids.tolist()
    out += ["$EndEntities", "$Nodes", f"1 {n} {min(ids)} {max(ids)}", f"1 1 0 {n}"]
    out += [*map(str, ids), *_rows(mesh.points), "$EndNodes"]

    blocks: list[tuple[str, list[str]]] = []  # runs of cells of one entity and type, so that the order is kept
    cell_ids = np.concatenate([block.ids for block in mesh.blocks])
    fresh = int(cell_ids.max()) + 1
    for k, (i, entity) in enumerate(marked.items()):
        blocks.append((f"0 {entity} 15", [f"{fresh + k} {ids[i]}"]))
    for block, groups in zip(mesh.blocks, of_cell, strict=True):
        rows = _rows(np.column_stack([block.ids, mesh.point_ids[block.cells]]))
        for row, tags in zip(rows, groups, strict=True):
            head = f"1 {curves[tuple(tags)]} {_GMSH_CODE[block.kind]}"
            if not blocks or blocks[-1][0] != head:
                blocks.append((head, []))
            blocks[-1][1].append(row)
    total = sum(len(rows) for _, rows in blocks)
    out += ["$Elements", f"{len(blocks)} {total} {int(cell_ids.min())} {fresh + len(marked) - 1}"]
    for head, rows in blocks:
        out += [f"{head} {len(rows)}", *rows]
    return [*out, "$EndElements"]


def _body_22(mesh: Mesh, of_point: dict, of_cell: list, curves: dict) -> list[str]:
    ids = mesh.point_ids.tolist()
    out = ["$Nodes", str(len(ids))]
    out += [f"{i} {x}" for i, x in zip(ids, _rows(mesh.points), strict=True)]
    rows = []
    fresh = int(max(block.ids.max() for block in mesh.blocks if len(block.cells))) + 1
    for entity, (i, tags) in enumerate(of_point.items(), 1):
        for tag in tags:
            rows.append(f"{fresh} 15 2 {tag} {entity} {ids[i]}")
            fresh += 1
    for block, groups in zip(mesh.blocks, of_cell, strict=True):
        nodes = _rows(mesh.point_ids[block.cells])
        for number, tags, cell in zip(block.ids.tolist(), groups, nodes, strict=True):
            # the format repeats a cell in several groups; the first row carries its number
            for k, tag in enumerate(tags or [0]):
                rows.append(
                    f"{number if k == 0 else fresh} {_GMSH_CODE[block.kind]} 2 {tag} {curves[tuple(tags)]} {cell}"
                )
                fresh += k > 0
    return [*out, "$EndNodes", "$Elements", str(len(rows)), *rows, "$EndElements"]
