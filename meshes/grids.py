"""Generate structured meshes of plane and solid cells: rectangles, boxes, patches and blocks, rings and tubes.

Every generator maps a lattice of the unit square or cube.  Cells of any kind are cut from its boxes: triangles and
wedges are halves, tetrahedra are the six of Kuhn (1960), which fit from box to box.  Nodes between corners are mapped
like all others, so that quadratic cells follow curved edges.

Sets: the cell set ``all``, a facet set for each side, and node sets for the edges of solids and for the corners, which
bear the names of the sides that meet there ("bottom_left", "top_back_right").  Wrong arguments raise MeshError.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, FACETS, PLANE_KINDS, SOLID_KINDS
from fem_mbs.meshes.generate import circle_axes, count_of, point_of, points_of
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["block", "box", "patch", "rectangle", "ring", "tube"]

Map = Callable[[np.ndarray], np.ndarray]

#: Names of the sides where a parameter is 0 and 1, axis by axis.
_PLANE = (("left", "right"), ("bottom", "top"))
_SOLID = (("left", "right"), ("front", "back"), ("bottom", "top"))
_RING = (("inner", "outer"), ("start", "end"), ("bottom", "top"))
_TUBE = (("start", "end"), ("bottom", "top"))
_MOST_RATIO = 1e6  # of the last cell to the first


# ---- shapes ----------------------------------------------------------------------------------------------------------
def rectangle(
    size: Sequence[float],
    n: Sequence[int],
    start: Sequence[float] = (0.0, 0.0),
    kind: str = "quad",
    grading: Sequence[float] | float = 1.0,
) -> Mesh:
    """Return a rectangle along x and y.  Sides: left, right, bottom, top.

    Args:
        size: (width, height) [m].
        n: numbers of cells along x and y.
        start: (2,) or (3,) lower left corner [m].
        kind: of the cells, "quad", "quad8", "triangle" or "triangle6".
        grading: length of the last cell by that of the first, of each direction or of both.
    """
    lengths, corner = _sizes("rectangle", size, 2), point_of("rectangle", "start", start)
    return _grid("rectangle", n, kind, grading, lambda s: corner + np.pad(s * lengths, ((0, 0), (0, 1))), _PLANE)


def box(
    size: Sequence[float],
    n: Sequence[int],
    start: Sequence[float] = (0.0, 0.0, 0.0),
    kind: str = "hexahedron",
    grading: Sequence[float] | float = 1.0,
) -> Mesh:
    """Return a box along x, y and z.  Sides: left and right (x), front and back (y), bottom and top (z).

    Args:
        size: (3,) lengths [m].
        n: numbers of cells along x, y and z.
        start: (3,) corner of the smallest coordinates [m].
        kind: of the cells, "hexahedron", "hexahedron20", "wedge", "wedge15", "tetra" or "tetra10".
        grading: length of the last cell by that of the first, of each direction or of all.
    """
    lengths, corner = _sizes("box", size, 3), points_of("box", {"start": start}, size=3)[0]
    return _grid("box", n, kind, grading, lambda s: corner + s * lengths, _SOLID)


def patch(
    corners: Sequence[Sequence[float]],
    n: Sequence[int],
    kind: str = "quad",
    grading: Sequence[float] | float = 1.0,
    edges: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> Mesh:
    """Return a patch between four edges, by transfinite interpolation (Gordon and Hall, 1973).

    Args:
        corners: (4, 2) or (4, 3) in turn [m]; bottom goes from the first to the second, right on to the third, top from
            the fourth to the third, left from the first to the fourth.
        n: numbers of cells along bottom and left.
        kind, grading: as of `rectangle`.
        edges: points inside of edges that are curved, by "bottom", "right", "top", "left", in the direction above: one
            point makes an arc of a circle, several make a cubic spline over their distances.
    """
    if len(corners) != 4:
        raise MeshError(f"patch: {len(corners)} corners; give 4")
    c = points_of("patch", {f"corner {i}": x for i, x in enumerate(corners, 1)})
    ends = {"bottom": (c[0], c[1]), "right": (c[1], c[2]), "top": (c[3], c[2]), "left": (c[0], c[3])}
    unknown = next((name for name in edges or () if name not in ends), None)
    if unknown is not None:
        raise MeshError(f'patch: unknown edge "{unknown}"; there are {", ".join(ends)}')
    curves = {name: _curve(name, *ends[name], (edges or {}).get(name, ())) for name in ends}

    def place(s: np.ndarray) -> np.ndarray:
        u, v = s[:, :1], s[:, 1:]
        sides = (
            (1 - v) * curves["bottom"](u) + v * curves["top"](u) + (1 - u) * curves["left"](v) + u * curves["right"](v)
        )
        return sides - ((1 - u) * (1 - v) * c[0] + u * (1 - v) * c[1] + u * v * c[2] + (1 - u) * v * c[3])

    return _grid("patch", n, kind, grading, place, _PLANE)


def block(
    corners: Sequence[Sequence[float]],
    n: Sequence[int],
    kind: str = "hexahedron",
    grading: Sequence[float] | float = 1.0,
) -> Mesh:
    """Return a block with eight corners and straight edges.  Sides as of `box`.

    Args:
        corners: (8, 3): the four of the bottom, counter-clockwise seen from the top, then those above them [m].
        n: numbers of cells from the first corner to the second, to the fourth, and to the fifth.
        kind, grading: as of `box`.
    """
    if len(corners) != 8:
        raise MeshError(f"block: {len(corners)} corners; give 8")
    c = np.array(points_of("block", {f"corner {i}": x for i, x in enumerate(corners, 1)}, size=3))
    where = np.array(_corners(3))[[0, 1, 3, 2, 4, 5, 7, 6]]

    def place(s: np.ndarray) -> np.ndarray:
        shares = np.prod(np.where(where[None, :, :] == 1, s[:, None, :], 1.0 - s[:, None, :]), axis=2)
        return shares @ c

    return _grid("block", n, kind, grading, place, _SOLID)


def ring(
    radii: Sequence[float],
    n: Sequence[int],
    angles: Sequence[float] = (0.0, 360.0),
    height: float | None = None,
    center: Sequence[float] = (0.0, 0.0),
    normal: Sequence[float] = (0.0, 0.0, 1.0),
    kind: str | None = None,
    grading: Sequence[float] | float = 1.0,
) -> Mesh:
    """Return a sector of an annulus, or with ``height`` of a hollow cylinder.

    Sides: inner and outer, start and end (none of a whole ring), with a height bottom and top.

    Args:
        radii: (inner, outer) [m], both positive.
        n: numbers of cells along the radius, around, and along the height.
        angles: (first, last) about the normal as of `fem_mbs.meshes.generate.arc` [deg]; 360 apart: a whole ring.
        height: along the normal [m]; None: plane cells.
        center: (2,) or (3,) of the bottom [m].
        normal: (3,) axis.
        kind: of the cells, as of `rectangle` or `box`; None: "quad" or "hexahedron".
        grading: as of these.
    """
    middle, (e1, e2, axis) = point_of("ring", "center", center), circle_axes("ring", normal)
    if np.shape(radii) != (2,) or not 0.0 < radii[0] < radii[1] < np.inf:
        raise MeshError(f"ring: radii {radii!r} must be two positive numbers [m], the inner one first")
    first, last, closed = _angles("ring", angles)
    solid = height is not None
    length = _sizes("ring", [height], 1)[0] if solid else 0.0
    if closed and len(n) > 1 and n[1] < 3:
        raise MeshError(f"ring: a whole ring of {n[1]} cells lies on itself; give 3 or more around")

    def place(s: np.ndarray) -> np.ndarray:
        turn = first + (last - first) * s[:, 1:2]
        r = radii[0] + (radii[1] - radii[0]) * s[:, :1]
        rise = length * s[:, 2:3] if solid else 0.0
        return middle + r * (np.cos(turn) * e1 + np.sin(turn) * e2) + rise * axis

    chosen = kind or ("hexahedron" if solid else "quad")
    return _grid("ring", n, chosen, grading, place, _RING[: 2 + solid], closed=1 if closed else None)


def tube(
    radius: float,
    height: float,
    n: Sequence[int],
    angles: Sequence[float] = (0.0, 360.0),
    center: Sequence[float] = (0.0, 0.0, 0.0),
    normal: Sequence[float] = (0.0, 0.0, 1.0),
    kind: str = "quad",
    grading: Sequence[float] | float = 1.0,
) -> Mesh:
    """Return a sector of the surface of a cylinder, whose cells have their normals outwards, for shells.

    Sides: start and end (none of a whole tube), bottom and top.

    Args:
        radius: [m].
        height: along the normal [m].
        n: numbers of cells around and along the height.
        angles, center, normal: as of `ring`.
        kind, grading: as of `rectangle`.
    """
    middle, (e1, e2, axis) = point_of("tube", "center", center), circle_axes("tube", normal)
    r, length = _sizes("tube", [radius, height], 2)
    first, last, closed = _angles("tube", angles)
    if closed and len(n) > 0 and n[0] < 3:
        raise MeshError(f"tube: a whole tube of {n[0]} cells lies on itself; give 3 or more around")

    def place(s: np.ndarray) -> np.ndarray:
        turn = first + (last - first) * s[:, :1]
        return middle + r * (np.cos(turn) * e1 + np.sin(turn) * e2) + length * s[:, 1:2] * axis

    return _grid("tube", n, kind, grading, place, _TUBE, closed=0 if closed else None)


# ---- the lattice -----------------------------------------------------------------------------------------------------
def _grid(
    source: str,
    n: Sequence[int],
    kind: str,
    grading: Sequence[float] | float,
    place: Map,
    sides: Sequence[tuple[str, str]],
    closed: int | None = None,
) -> Mesh:
    """Return the mesh of a lattice; ``place`` maps parameters (m, d) to points (m, 3), ``closed`` is the axis whose
    last nodes are its first."""
    d = len(sides)
    kinds = PLANE_KINDS if d == 2 else SOLID_KINDS
    if kind not in kinds:
        raise MeshError(f'{source}: kind "{kind}" of cells; use one of {", ".join(kinds)}')
    if np.shape(n) != (d,):
        raise MeshError(f"{source}: n {n!r} must be {d} whole numbers of cells")
    counts = np.array([count_of(source, "n", v) for v in n])
    if float(np.prod(counts.astype(float))) > 5e6:
        raise MeshError(f"{source}: {' x '.join(map(str, counts))} cells are more than 5 million")
    ratios = _ratios(source, grading, d)
    fine = 2 if CELL_KINDS[kind] > len(_cells(kind)[0]) else 1
    axes = [_parameters(int(c), r, fine) for c, r in zip(counts, ratios, strict=True)]
    sizes = fine * counts + 1
    strides = np.concatenate([[1], np.cumprod(sizes)[:-1]])
    first = np.stack(np.meshgrid(*(np.arange(c) for c in counts[::-1]), indexing="ij"), axis=-1).reshape(-1, d)[:, ::-1]

    def number(offsets: Any) -> np.ndarray:
        """Return the lattice points (n, k) at offsets (k, d), in boxes, from the first corners of the boxes."""
        at = fine * first[:, None, :] + np.rint(fine * np.asarray(offsets, float)).astype(np.int64)
        if closed is not None:
            at[..., closed] %= sizes[closed] - 1
        return at @ strides

    cells = np.stack([number(_with_middles(kind, corners)) for corners in _cells(kind)], axis=1)
    used, cells = np.unique(cells.reshape(-1, CELL_KINDS[kind]), return_inverse=True)
    cells = cells.reshape(-1, CELL_KINDS[kind])
    place_of = (used[:, None] // strides) % sizes
    points = place(np.stack([axis[i] for axis, i in zip(axes, place_of.T, strict=True)], axis=1))
    _check_boxes(source, points, np.searchsorted(used, number(_corners(d))))
    on = {
        name: place_of[:, a] == (0 if end == 0 else sizes[a] - 1)
        for a, names in enumerate(sides) if a != closed for end, name in enumerate(names)
    }  # fmt: skip
    return Mesh(
        points=points,
        blocks=[CellBlock(kind, cells)],
        node_sets=_meetings(sides, on),
        cell_sets={"all": [(0, np.arange(len(cells)))]},
        facet_sets={name: [_facets_on(kind, cells, there)] for name, there in on.items()},
        source=source,
        format="generated",
    )


def _corners(d: int) -> list[tuple[int, ...]]:
    """Return the corners of a box, the first axis fastest."""
    return [corner[::-1] for corner in itertools.product((0, 1), repeat=d)]


def _cells(kind: str) -> list[list[tuple[int, ...]]]:
    """Return the corners of the cells of one box."""
    quad: list[tuple[int, ...]] = [(0, 0), (1, 0), (1, 1), (0, 1)]
    halves = [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    if kind.startswith("quad"):
        return [quad]
    if kind.startswith("triangle"):
        return halves
    if kind.startswith("hexahedron"):
        return [[(*c, z) for z in (0, 1) for c in quad]]
    if kind.startswith("wedge"):
        return [[(*c, z) for z in (0, 1) for c in half] for half in halves]
    found = []
    for a, b, c in itertools.permutations(range(3)):  # Kuhn: along the axes in every order
        path = np.zeros((4, 3), int)
        for step, axis in enumerate((a, b, c), 1):
            path[step:, axis] = 1
        even = (b - a) % 3 == 1
        found.append([tuple(path[i].tolist()) for i in ((0, 1, 2, 3) if even else (0, 2, 1, 3))])
    return found


def _with_middles(kind: str, corners: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return corners and the middles of edges (k, d) of a cell."""
    found = np.zeros((CELL_KINDS[kind], len(corners[0])))
    found[: len(corners)] = corners
    for _, nodes in FACETS[kind]:
        if len(nodes) > 2 and max(nodes) >= len(corners):
            ends = nodes[: len(nodes) // 2] if DIMENSION[kind] == 3 else nodes[:2]
            for i, middle in enumerate(nodes[len(ends) :]):
                found[middle] = (found[ends[i]] + found[ends[(i + 1) % len(ends)]]) / 2.0
    return found


def _parameters(n: int, ratio: float, fine: int) -> np.ndarray:
    """Return parameters 0 to 1 of the lattice along an axis: cells whose lengths grow by equal ratios."""
    lengths = np.ones(n) if n == 1 else ratio ** (np.arange(n) / (n - 1))
    s = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum() if ratio != 1.0 else np.linspace(0.0, 1.0, n + 1)
    s[-1] = 1.0
    if fine == 1:
        return s
    out = np.empty(2 * n + 1)
    out[::2], out[1::2] = s, (s[:-1] + s[1:]) / 2.0
    return out


def _check_boxes(source: str, points: np.ndarray, corners: np.ndarray) -> None:
    """Refuse boxes (n, 2**d) that are folded or turned inside out."""
    d = int(np.log2(corners.shape[1]))
    x = points[corners]
    plane = bool(np.all(points[:, 2] == points[0, 2]))
    worst, best = np.inf, -np.inf
    normal: np.ndarray | None = None
    for i, offset in enumerate(_corners(d)):
        steps = [
            (1 - 2 * offset[a]) * (x[:, i ^ (1 << a)] - x[:, i]) for a in range(d)
        ]  # along the axes, from every corner
        lengths = np.prod([np.linalg.norm(s, axis=1) for s in steps], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            if d == 3:
                value = np.einsum("ij,ij->i", steps[0], np.cross(steps[1], steps[2])) / lengths
            else:
                across = np.cross(steps[0], steps[1])
                normal = across if normal is None else normal
                value = across[:, 2] / lengths if plane else np.sign(np.einsum("ij,ij->i", across, normal))
        value = np.where(np.isfinite(value), value, 0.0)
        worst, best = min(worst, float(value.min())), max(best, float(value.max()))
    if best < 0.0:
        raise MeshError(f"{source}: its cells are turned inside out; give its corners in the other order")
    if worst <= 1e-9:
        raise MeshError(f"{source}: cells are folded or have a side without length; move its corners or edges")


def _facets_on(kind: str, cells: np.ndarray, on: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Return block, cells and local numbers of the facets whose nodes are all ``on`` a side."""
    found = [np.flatnonzero(on[cells[:, nodes]].all(axis=1)) for _, nodes in FACETS[kind]]
    numbers = np.concatenate([np.full(len(rows), i) for i, rows in enumerate(found)])
    return 0, np.concatenate(found), numbers


def _meetings(sides: Sequence[tuple[str, str]], on: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the nodes where two or three sides meet; names go from the last axis to the first."""
    found = {}
    for count in range(2, len(sides) + 1):
        for axes in itertools.combinations(reversed(range(len(sides))), count):
            for names in itertools.product(*(sides[a] for a in axes)):
                if all(name in on for name in names):
                    found["_".join(names)] = np.flatnonzero(np.logical_and.reduce([on[name] for name in names]))
    return found


# ---- arguments -------------------------------------------------------------------------------------------------------
def _sizes(source: str, values: Sequence[float | None], count: int) -> np.ndarray:
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,) or not (np.isfinite(found) & (found > 0.0)).all():
        raise MeshError(f"{source}: {values!r} must be {count} positive number{'s' * (count > 1)} [m]")
    return found


def _ratios(source: str, grading: Sequence[float] | float, d: int) -> list[float]:
    given = [grading] * d if np.ndim(grading) == 0 else list(grading)  # type: ignore[arg-type]
    if len(given) != d or not all(1.0 / _MOST_RATIO <= float(g) <= _MOST_RATIO for g in given):  # type: ignore[arg-type]
        raise MeshError(
            f"{source}: grading {grading!r} must be a positive ratio of the last cell to the first, or {d} of them"
        )
    return [float(g) for g in given]  # type: ignore[arg-type]


def _angles(source: str, angles: Sequence[float]) -> tuple[float, float, bool]:
    """Return the first and last angle [rad], and whether they close a ring."""
    if np.shape(angles) != (2,) or not np.isfinite(angles).all() or not 0.0 < angles[1] - angles[0] <= 360.0:
        raise MeshError(f"{source}: angles {angles!r} must be two numbers [deg], the last larger by at most 360")
    return np.deg2rad(angles[0]), np.deg2rad(angles[1]), angles[1] - angles[0] == 360.0


def _curve(name: str, a: np.ndarray, b: np.ndarray, inside: Sequence[Sequence[float]]) -> Map:
    """Return the curve of parameters (m, 1) from a to b: a line, an arc through one point, a spline through more."""
    between = [point_of("patch", f"point {i} of {name}", x) for i, x in enumerate(inside, 1)]
    if not between:
        return lambda s: a + s * (b - a)
    if len(between) > 1:
        from scipy.interpolate import CubicSpline

        x = np.array([a, *between, b])
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        if (np.diff(s) == 0.0).any():
            raise MeshError(f"patch: two points of {name} are the same; remove one")
        spline = CubicSpline(s / s[-1], x)
        return lambda u: spline(u[:, 0])
    p, q = between[0] - a, b - a
    across = np.cross(p, q)
    square = across @ across
    if square <= 1e-20 * (p @ p) * (q @ q):
        raise MeshError(f"patch: the point of {name} lies on the line between its ends; remove it")
    centre = a + np.cross(across, (q @ q) * p - (p @ p) * q) / (2.0 * square)
    e1 = a - centre
    axis = across / np.sqrt(square)
    e2 = np.cross(axis, e1)
    # counted against the normal of a, point, b: the way from a over the point to b
    total = np.arctan2((b - centre) @ e2, (b - centre) @ e1) % (2.0 * np.pi)
    middle = np.arctan2((between[0] - centre) @ e2, (between[0] - centre) @ e1) % (2.0 * np.pi)
    if middle > total:
        total -= 2.0 * np.pi
    return lambda s: centre + np.cos(total * s) * e1 + np.sin(total * s) * e2
