"""Balls that would pass through the surface of a body in a static increment.

The forces of `fem_mbs.elements.contact.ball` see both ends of an increment, not what lies between them: a ball that an
iteration throws through a sphere or a box is free behind it.  Its centre is taken to move straight from p0 to p1 in the
axes of the surface.  It has passed the surface where, with the smallest gap s on the way,

- s < 0 and both ends are free, or their normals differ by more than 90 degrees,
- the centre ends in the core of a box, where nothing pushes it, or
- s lies below the gaps of both ends by more than an eighth of the way: a ball that slides around a circle of the radius
  R comes to that on a chord of the length R.

The condition also refuses some increments without a passage, as a long slide around an edge.  They are made
shorter.

Limit: outsides of triangles are looked at in places that lie a radius of the ball apart, at least 16 and at most 256.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.elements.contact.surface import CORE, SURFACE
from fem_mbs.elements.contact.triangles import BALL, mesh_gaps

__all__ = ["crossed_core", "crossed_triangles"]

_DEEP = 1.0 / 8.0  # of the way: a gap on it below those of its ends
_FEWEST, _MOST = 16, 256  # places on the way at which triangles are looked at
_NEAREST = 60  # halvings of the way until the nearest place: round-off

State = tuple[np.ndarray, np.ndarray]


def crossed_core(block: Any, before: State, after: State) -> np.ndarray:
    """Return the numbers (m,) of the elements of a block whose ball passes through its sphere, cylinder or box.

    Args:
        block: of a type of `fem_mbs.elements.contact.ball` or `fem_mbs.elements.contact.line`.
        before, after: coordinates (N,) and directors (rows, width) at both ends of the increment.
    """
    if not _closed(block.par).any():
        return np.empty(0, int)
    p0, p1 = (_centres(block, *state) for state in (before, after))
    least, g0, g1, turned = _over_core(block.par, p0, p1)
    return _through(np.linalg.norm(p1 - p0, axis=1), least, g0, g1, turned)


def crossed_triangles(block: Any, before: State, after: State) -> np.ndarray:
    """Return the numbers (m,) of the elements of a block whose ball passes through its triangles, as `crossed_core`."""
    p0, p1 = (np.ascontiguousarray(_centres(block, *state)) for state in (before, after))
    way = np.linalg.norm(p1 - p0, axis=1)
    return _through(way, *_over_triangles(block.par, p0, p1, way), np.zeros(len(way), bool))


def _through(way: np.ndarray, least: np.ndarray, g0: np.ndarray, g1: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """Return where a ball passes its surface, from the least gap on the way and the gaps at its ends, (n,) each."""
    free = (g0 >= 0.0) & (g1 >= 0.0)
    below = np.minimum(np.minimum(g0, g1), 0.0) - least
    return np.flatnonzero(((least < 0.0) & (free | turned)) | (below > _DEEP * way))


def _closed(par: np.ndarray) -> np.ndarray:
    """Return which surfaces (n,) are touched from outside and have another side."""
    return (par[:, SURFACE + 1] == CORE) & (par[:, SURFACE + 3] > 0.0)


def _centres(block: Any, Q: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return the coordinates (n, dim) of the centres of the balls in the axes of their surfaces."""
    kind, par = block.type, block.par
    dim, n = kind.dimension, kind.end_dofs
    first = kind.column("e1x")
    frame = par[:, first : first + 3 * dim * dim].reshape(-1, dim, 3, dim)
    places = [Q[block.dof[:, n * end : n * end + dim]] for end in range(kind.ends)]
    R = [_rotations(D[block.rot[:, end]], dim) for end in range(2)]
    if kind.ends == 3:
        z = par[:, kind.column("place 1")][:, None]
        ball = (1.0 - z) * places[1] + z * places[2]
    else:
        ball = places[1] + np.einsum("nij,nj->ni", R[1], frame[:, 0, 2])
    way = ball - places[0] - np.einsum("nij,nj->ni", R[0], frame[:, 0, 1])
    return np.einsum("nkj,nij,ni->nk", frame[:, :, 0], R[0], way)


def _rotations(D: np.ndarray, dim: int) -> np.ndarray:
    """Return the rotation matrices (n, dim, dim) of rows of directors."""
    if dim == 3:
        return D.reshape(-1, 3, 3)
    c, s = D[:, 0], D[:, 1]
    return np.stack((c, -s, s, c), axis=1).reshape(-1, 2, 2)


def _over_core(
    par: np.ndarray, p0: np.ndarray, p1: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the least gap on the way, the gaps at its ends, and whether normals turn by more than 90 degrees or are
    lost, (n,) each."""
    half = par[:, SURFACE + 4 : SURFACE + 4 + p0.shape[1]]
    reach = par[:, SURFACE + 2] + par[:, SURFACE]

    def beyond(p: np.ndarray, half: np.ndarray) -> np.ndarray:
        return np.asarray(np.sign(p) * np.maximum(np.abs(p) - half, 0.0))

    ends = [beyond(p, half) for p in (p0, p1)]
    g0, g1 = (np.linalg.norm(c, axis=1) - reach for c in ends)
    closed = _closed(par)
    least = np.where(closed, np.minimum(g0, g1), 0.0)
    near = np.flatnonzero(closed & (g0 < np.linalg.norm(p1 - p0, axis=1)))  # a gap falls by no more than the way
    start, way, half = p0[near], (p1 - p0)[near], half[near]
    low, high = np.zeros((len(near), 1)), np.ones((len(near), 1))
    for _ in range(_NEAREST if len(near) else 0):  # the distance to a convex core is convex: its slope tells the side
        middle = 0.5 * (low + high)
        falls = (beyond(start + middle * way, half) * way).sum(axis=1, keepdims=True) < 0.0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    nearest = np.linalg.norm(beyond(start + 0.5 * (low + high) * way, half), axis=1) - reach[near]
    least[near] = np.minimum(least[near], nearest)
    turned = np.einsum("ni,ni->n", *ends) < 0.0
    swallowed = ends[0].any(axis=1) & ~ends[1].any(axis=1)
    return least, g0, g1, (turned | swallowed) & closed


def _over_triangles(
    par: np.ndarray, p0: np.ndarray, p1: np.ndarray, way: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the least gap on the way and the gaps at its ends, (n,) each."""
    steps = way.max(initial=0.0) / max(float(par[:, BALL].min(initial=np.inf)), 1e-300)
    count = int(np.clip(steps, _FEWEST, _MOST))
    g0, g1, gap = (np.empty(len(p0)) for _ in range(3))
    mesh_gaps(par, p0, g0)
    mesh_gaps(par, p1, g1)
    least = np.minimum(g0, g1)
    if (g0 < way).any():  # a gap falls by no more than the way
        for t in np.arange(1, count) / count:
            mesh_gaps(par, np.ascontiguousarray(p0 + t * (p1 - p0)), gap)
            least = np.minimum(least, gap)
    return least, g0, g1
