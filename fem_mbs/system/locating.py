"""Find the cells of a mesh that contain points, and the weights of their nodes there.

In cells that fill the space (solids in space, plane cells in the plane) the local coordinates of a point are found by
Newton's rule on X(r) = x.  Candidates come from a tree of the middles of the cells.  A point that lies in none of them
takes the closest point on the surfaces: the outline of those cells, and cells of one dimension less (shells in space).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.elements.solids import shapes
from fem_mbs.late import dataclass
from fem_mbs.system.surfaces import closest_points

__all__ = ["Located", "locate"]

_INSIDE = 1e-6  # in local coordinates
_ITERATIONS = 25
_CHUNK = 100_000  # pairs of a point and a cell at a time
_FACET = {"line": "line2"}  # names of lines among those of `closest_points`

Cells = Sequence[tuple[str, np.ndarray]]


@dataclass(frozen=True)
class Located:
    """Where points (n,) lie: values at the points are sum of ``weights`` (n, k) times those at ``nodes`` (n, k).

    ``distance`` (n,) [m] of each point from that place, 0 in cells; ``size`` (n,) [m] largest extent of the cell or
    facet there.
    """

    nodes: np.ndarray
    weights: np.ndarray
    distance: np.ndarray
    size: np.ndarray


def locate(points: np.ndarray, x: np.ndarray, cells: Cells) -> Located:
    """Return the places of ``points`` (n, dim) in cells, or the closest ones on their surfaces.

    Args:
        x: (nodes, dim) [m] positions of the nodes.
        cells: kind, as in `fem_mbs.elements.solids.shapes`, and nodes (m, k).
    """
    dim, n = points.shape[1], len(points)
    filling = [(kind, table) for kind, table in cells if shapes.dimension(kind) == dim and len(table)]
    width = max(table.shape[1] for _, table in cells)
    found = Located(np.zeros((n, width), np.int64), np.zeros((n, width)), np.full(n, np.inf), np.zeros(n))
    if filling:
        _in_cells(found, points, x, filling)
    outside = np.flatnonzero(np.isinf(found.distance))
    found.nodes[outside], found.weights[outside] = 0, 0.0
    facets = _outline(filling) + [(kind, table) for kind, table in cells if shapes.dimension(kind) == dim - 1]
    if outside.size:
        foot = closest_points(points[outside], [(_FACET.get(kind, kind), x[table]) for kind, table in facets])
        for g, (_, table) in enumerate(facets):
            mine = np.flatnonzero(foot.group == g)
            k, rows = table.shape[1], outside[mine]
            found.nodes[rows, :k] = table[foot.facet[mine]]
            found.weights[rows, :k] = foot.weights[mine, :k]
            found.size[rows] = _extent(x[table[foot.facet[mine]]])
        found.distance[outside] = foot.distance
    return found


def _extent(X: np.ndarray) -> np.ndarray:
    """Return the largest extent (m,) of cells X (m, k, dim)."""
    return np.ptp(X, axis=1).max(axis=1) if len(X) else np.zeros(0)


def _in_cells(found: Located, points: np.ndarray, x: np.ndarray, cells: Cells) -> None:
    """Fill in the points that lie in cells; their distance becomes 0."""
    from scipy.spatial import cKDTree

    group = np.concatenate([np.full(len(table), g) for g, (_, table) in enumerate(cells)])
    number = np.concatenate([np.arange(len(table)) for _, table in cells])
    middle = np.concatenate([x[table].mean(axis=1) for _, table in cells])
    radius = np.concatenate(
        [np.linalg.norm(x[table] - x[table].mean(axis=1)[:, None], axis=2).max(axis=1) for _, table in cells]
    )
    radius *= 1.25  # the faces of a quadratic cell can bulge beyond its nodes, by less than a quarter
    reach, tree = float(radius.max()), cKDTree(middle)
    excess = np.full(len(points), np.inf)
    open_, tried, count = np.arange(len(points)), 0, min(8, len(middle))
    while open_.size:
        distance, near = (a.reshape(open_.size, -1) for a in tree.query(points[open_], k=count))
        rows, columns = np.nonzero(distance[:, tried:] <= radius[near[:, tried:]])
        at, candidates = open_[rows], near[rows, tried + columns]
        for g, (kind, table) in enumerate(cells):
            mine = np.flatnonzero(group[candidates] == g)
            for start in range(0, mine.size, _CHUNK):
                part = mine[start : start + _CHUNK]
                _try(found, excess, points, at[part], x, kind, table[number[candidates[part]]])
        tried = count
        if count == len(middle):
            break
        open_ = open_[(excess[open_] > _INSIDE) & (distance[:, -1] <= reach)]
        count = min(6 * count, len(middle))
    found.distance[excess <= _INSIDE] = 0.0


def _try(found: Located, excess: np.ndarray, points, rows: np.ndarray, x, kind: str, nodes: np.ndarray) -> None:
    """Take the cells (kind, nodes (m, k)) for the points ``rows`` (m,), where these lie less outside than before."""
    X = x[nodes]
    r, good = _local(kind, X, points[rows])
    over = np.where(good, _excess(kind, r), np.inf)
    order = np.lexsort((over, rows))
    best = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    best = best[over[best] < excess[rows[best]]]
    to, k = rows[best], nodes.shape[1]
    excess[to] = over[best]
    found.nodes[to], found.weights[to] = 0, 0.0
    found.nodes[to, :k] = nodes[best]
    found.weights[to, :k] = shapes.shape_functions(kind, r[best])
    found.size[to] = _extent(X[best])


def _local(kind: str, X: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return local coordinates (m, dim) of points (m, dim) in cells X (m, k, dim), and whether they were found."""
    r = np.tile(shapes.local_nodes(kind).mean(axis=0), (len(X), 1))
    good, active = np.zeros(len(X), bool), np.arange(len(X))
    for _ in range(_ITERATIONS):
        here = r[active]
        gap = points[active] - np.einsum("nk,nkd->nd", shapes.shape_functions(kind, here), X[active])
        J = np.swapaxes(shapes.gradients(kind, here) @ X[active], 1, 2)
        regular = np.abs(np.linalg.det(J)) > 0.0
        active, here, gap, J = active[regular], here[regular], gap[regular], J[regular]
        move = np.linalg.solve(J, gap[..., None])[..., 0]
        size = np.abs(move).max(axis=1, initial=0.0)
        r[active] = here + np.clip(move, -1.0, 1.0)
        good[active] = size < 1e-9
        lost = np.abs(r[active]).max(axis=1, initial=0.0) > 4.0  # far outside
        good[active[lost]] = False
        active = active[(size > 1e-14) & ~lost]
        if not active.size:
            break
    return r, good


def _excess(kind: str, r: np.ndarray) -> np.ndarray:
    """Return by how much local coordinates (m, dim) lie outside of a cell, 0 inside."""
    if kind.startswith(("tri", "tet")):
        return np.maximum(np.maximum(-r, 0.0).max(axis=1), r.sum(axis=1) - 1.0).clip(0.0)
    if kind.startswith("wedge"):
        flat = np.maximum(np.maximum(-r[:, :2], 0.0).max(axis=1), r[:, :2].sum(axis=1) - 1.0)
        return np.maximum(flat, np.abs(r[:, 2]) - 1.0).clip(0.0)
    return (np.abs(r).max(axis=1) - 1.0).clip(0.0)


def _outline(cells: Cells) -> list[tuple[str, np.ndarray]]:
    """Return the facets (kind, nodes) that belong to one cell only."""
    parts: dict[str, list[np.ndarray]] = {}
    for kind, table in cells:
        for facet, local in shapes.FACES[kind]:
            parts.setdefault(facet, []).append(table[:, list(local)])
    found = []
    for facet, tables in parts.items():
        nodes = np.concatenate(tables)
        _, first, count = np.unique(np.sort(nodes, axis=1), axis=0, return_index=True, return_counts=True)
        found.append((facet, nodes[first[count == 1]]))
    return [(facet, nodes) for facet, nodes in found if len(nodes)]
