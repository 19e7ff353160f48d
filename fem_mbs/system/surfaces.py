"""Closest points on facets of meshes: linear and quadratic lines, triangles and quadrilaterals.

Candidates come from a tree of the middles of the facets: a facet whose middle is farther away than the best point so
far plus the largest facet's radius cannot be nearer.  On each candidate the foot of the perpendicular is found by
Newton's rule; where it lies outside, the closest point lies on an edge, where the same is done along the edge, and else
in a corner.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.solids import shapes
from fem_mbs.late import dataclass

__all__ = ["Foot", "closest_points"]

_EDGES = {
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "triangle6": ((0, 1, 3), (1, 2, 4), (2, 0, 5)),
    "quad8": ((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 0, 7)),
}
_LINES = {2: "line", 3: "line3"}
_INSIDE = 1e-9  # in local coordinates
_ITERATIONS = 30
_CHUNK = 200_000  # pairs of a point and a facet at a time


@dataclass(frozen=True)
class Foot:
    """Closest points (n,): the ``group`` of facets and the ``facet`` in it, ``distance`` [m] and ``weights`` (n, k) of
    the facet's nodes, zeros after the last of them."""

    group: np.ndarray
    facet: np.ndarray
    distance: np.ndarray
    weights: np.ndarray


def closest_points(points: np.ndarray, facets: list[tuple[str, np.ndarray]]) -> Foot:
    """Return the closest point on facets for each of ``points`` (n, dim).

    Args:
        facets: kind ("line2", "line3", "triangle", "triangle6", "quad", "quad8") and nodes' positions (m, k, dim).
    """
    from scipy.spatial import cKDTree

    n = len(points)
    width = max(X.shape[1] for _, X in facets)
    group = np.concatenate([np.full(len(X), i) for i, (_, X) in enumerate(facets)])
    number = np.concatenate([np.arange(len(X)) for _, X in facets])
    middle = np.concatenate([X.mean(axis=1) for _, X in facets])
    radius = np.concatenate([np.linalg.norm(X - X.mean(axis=1)[:, None], axis=2).max(axis=1) for _, X in facets])
    radius *= 1.25  # the outline of a quadratic facet can bulge beyond its nodes, by less than a quarter
    reach = float(radius.max())
    tree = cKDTree(middle)
    best = Foot(np.full(n, -1), np.full(n, -1), np.full(n, np.inf), np.zeros((n, width)))
    open_, tried, count = np.arange(n), 0, 1
    while open_.size:
        distance, near = (a.reshape(open_.size, -1) for a in tree.query(points[open_], k=count))
        rows, columns = np.nonzero(distance[:, tried:] - radius[near[:, tried:]] <= best.distance[open_][:, None])
        _improve(best, points, open_[rows], near[rows, tried + columns], facets, group, number)
        tried = count
        if count == len(middle):
            break
        open_ = open_[distance[:, -1] - reach <= best.distance[open_]]
        count = min(6 * count, len(middle))
    return best


def _improve(best: Foot, points, rows, candidates, facets, group, number) -> None:
    """Replace the best points of ``rows`` by those candidates that are nearer."""
    for g, (kind, X) in enumerate(facets):
        mine = np.flatnonzero(group[candidates] == g)
        for start in range(0, mine.size, _CHUNK):
            part = mine[start : start + _CHUNK]
            row, facet = rows[part], number[candidates[part]]
            distance, weights = _project("line" if kind == "line2" else kind, X[facet], points[row])
            order = np.lexsort((distance, row))
            first = order[np.flatnonzero(np.diff(row[order], prepend=-1))]  # the nearest of each point
            better = first[distance[first] < best.distance[row[first]]]
            to = row[better]
            best.group[to], best.facet[to], best.distance[to] = g, facet[better], distance[better]
            best.weights[to] = 0.0
            best.weights[to, : weights.shape[1]] = weights[better]


def _project(kind: str, X: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distance (n,) to a facet X (n, k, dim) each, and weights (n, k) of the closest point."""
    if kind in ("line", "line3"):
        return _on_line(kind, X, points)
    r, found = _perpendicular(kind, X, points)
    inside = found & _within(kind, r)
    weights = shapes.shape_functions(kind, _clamped(kind, r))
    distance = np.where(inside, np.linalg.norm(np.einsum("nk,nkd->nd", weights, X) - points, axis=1), np.inf)
    outside = np.flatnonzero(~inside)
    for edge in _EDGES[kind]:
        nodes = list(edge)
        d, w = _on_line(_LINES[len(edge)], X[outside][:, nodes], points[outside])
        nearer = d < distance[outside]
        rows = outside[nearer]
        distance[rows], weights[rows] = d[nearer], 0.0
        weights[rows[:, None], nodes] = w[nearer]
    return distance, weights


def _on_line(kind: str, X: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the results of `_project` for lines: ends, and feet of perpendiculars between them."""
    k = X.shape[1]
    weights = np.zeros((len(points), k))
    ends = np.linalg.norm(X[:, :2] - points[:, None], axis=2)
    weights[np.arange(len(points)), ends.argmin(axis=1)] = 1.0
    distance = ends.min(axis=1)
    # a curved line can have several feet: from both halves
    for start in (0.0,) if k == 2 else (-0.5, 0.5, 0.0):
        r, found = _perpendicular(kind, X, points, np.array([start]))
        w = shapes.shape_functions(kind, np.clip(r, -1.0, 1.0))
        d = np.linalg.norm(np.einsum("nk,nkd->nd", w, X) - points, axis=1)
        nearer = found & (np.abs(r[:, 0]) <= 1.0 + _INSIDE) & (d < distance)
        distance = np.where(nearer, d, distance)
        weights[nearer] = w[nearer]
    return distance, weights


def _perpendicular(kind: str, X: np.ndarray, points: np.ndarray, start: np.ndarray | None = None):
    """Return local coordinates (n, m) where the line to the point is at right angles to the facet, and whether they
    were found there: Newton's rule on (x(r) - p).x_r = 0, with the curvature left out where it would lead away."""
    if start is None:
        start = np.array((1.0, 1.0)) / 3.0 if kind.startswith("tri") else np.zeros(2)
    r = np.tile(start, (len(X), 1))
    curved = kind not in ("line", "triangle")
    found = np.zeros(len(X), bool)
    active = np.arange(len(X))
    for _ in range(_ITERATIONS):
        here = r[active]
        gap = np.einsum("nk,nkd->nd", shapes.shape_functions(kind, here), X[active]) - points[active]
        T = shapes.gradients(kind, here) @ X[active]
        b = (T @ gap[..., None])[..., 0]
        A = T @ np.swapaxes(T, 1, 2)
        if curved:
            bent = A + _curvature(kind, here, X[active], gap)
            good = _smallest(bent) > 0.05 * _smallest(A)
            A[good] = bent[good]
        move = -_solved(A, b)
        if not curved:
            return r + move, ~found
        size = np.abs(move).max(axis=1)
        r[active] = np.clip(here + np.clip(move, -1.0, 1.0), -3.0, 3.0)
        found[active] = size < 1e-10
        lost = np.abs(r[active]).max(axis=1) >= 3.0  # far outside: an edge is nearer
        active = active[(size > 1e-14) & ~lost]
        if not active.size:
            break
    return r, found


def _smallest(A: np.ndarray) -> np.ndarray:
    """Return the smallest eigenvalue (n,) of symmetric matrices (n, m, m), m = 1 or 2."""
    if A.shape[1] == 1:
        return A[:, 0, 0]
    half, apart = 0.5 * (A[:, 0, 0] + A[:, 1, 1]), 0.5 * (A[:, 0, 0] - A[:, 1, 1])
    return half - np.hypot(apart, A[:, 0, 1])


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return A^-1 b (n, m), m = 1 or 2."""
    if A.shape[1] == 1:
        return b / A[:, 0]
    (p, q, s), (x, y) = (A[:, 0, 0], A[:, 0, 1], A[:, 1, 1]), b.T
    return np.column_stack((s * x - q * y, p * y - q * x)) / (p * s - q * q)[:, None]


def _curvature(kind: str, r: np.ndarray, X: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return gap.x_rs (n, m, m): second derivatives by differences, exact up to cubic shape functions."""
    m, h = r.shape[1], 0.5
    out = np.empty((len(r), m, m))
    for j in range(m):
        shift = np.zeros(m)
        shift[j] = h
        slope = (shapes.gradients(kind, r + shift) - shapes.gradients(kind, r - shift)) / (2.0 * h)
        out[:, :, j] = np.einsum("nmk,nkd,nd->nm", slope, X, gap)
    return 0.5 * (out + np.swapaxes(out, 1, 2))


def _within(kind: str, r: np.ndarray) -> np.ndarray:
    if kind.startswith("tri"):
        return (r >= -_INSIDE).all(axis=1) & (r.sum(axis=1) <= 1.0 + _INSIDE)
    return (np.abs(r) <= 1.0 + _INSIDE).all(axis=1)


def _clamped(kind: str, r: np.ndarray) -> np.ndarray:
    if not kind.startswith("tri"):
        return np.clip(r, -1.0, 1.0)
    r = np.clip(r, 0.0, 1.0)
    return r / np.maximum(r.sum(axis=1), 1.0)[:, None]
