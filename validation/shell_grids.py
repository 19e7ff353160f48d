"""Meshes and loads of the shell benchmarks: mapped squares and octants of spheres, in any kind of cell.

A case asks for a kind of cell by its name, so that all kinds run over the same problems.  `CELLS` are the kinds that
the package has shells for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs import Mesh, Model

__all__ = ["CELLS", "mesh_of", "octant", "on_edge", "quarter_disc", "shell", "square", "with_middles"]

CELLS = ("quad", "triangle", "quad8", "triangle6")

# Corners, then middles of the sides, in half cells; triangles cut the cell along its first diagonal.
_SQUARE = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
_HALVES = (((0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 1)), ((0, 0), (2, 2), (0, 2), (1, 1), (1, 2), (0, 1)))
_LOCAL = {
    "quad": (_SQUARE[:4],),
    "quad8": (_SQUARE,),
    "triangle": tuple(t[:3] for t in _HALVES),
    "triangle6": _HALVES,
}
# the same cells seen from the other side
_FLIPPED = {
    "quad": (0, 3, 2, 1),
    "quad8": (0, 3, 2, 1, 7, 6, 5, 4),
    "triangle": (0, 2, 1),
    "triangle6": (0, 2, 1, 5, 4, 3),
}


def _lattice(nx: int, ny: int, cell: str) -> tuple[np.ndarray, np.ndarray]:
    """Return places (n, 2) in the unit square and cells (e, k) of nx by ny squares."""
    row = 2 * ny + 1
    first = (2 * np.arange(nx)[:, None] * row + 2 * np.arange(ny)).ravel()
    cells = np.concatenate([first[:, None] + np.array([i * row + j for i, j in local]) for local in _LOCAL[cell]])
    used, cells = np.unique(cells, return_inverse=True)
    uv = np.column_stack((used // row / (2.0 * nx), used % row / (2.0 * ny)))
    return uv, cells.reshape(-1, len(_LOCAL[cell][0]))


def mesh_of(points: np.ndarray, cell: str, cells: np.ndarray, **sets: Any) -> Mesh:
    """Return the mesh of cells (e, k) of one kind."""
    blocks: Any = [(cell, cells)]
    return Mesh(points, blocks, **sets)


def with_middles(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) and cells (e, 2 k) with a node in the middle of each straight side of cells (e, k)."""
    k = cells.shape[1]
    sides = np.sort(np.stack((cells, np.roll(cells, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    sides, number = np.unique(sides, axis=0, return_inverse=True)
    middles = points[sides].mean(axis=1)
    return np.concatenate((points, middles)), np.column_stack((cells, len(points) + number.reshape(-1, k)))


def square(
    place: Callable[[np.ndarray, np.ndarray], Sequence[ArrayLike]],
    nx: int,
    ny: int,
    cell: str = "quad",
    flip: bool = False,
) -> Mesh:
    """Return the mesh of the unit square, nx by ny cells, mapped by ``place(u, v)`` to x, y, z.

    Sets of nodes: edges "left", "right" (u = 0, 1), "bottom", "top" (v = 0, 1) in the order along them, corners "a",
    "b", "c", "d" from (0, 0) around, "middle" of the right edge, and "centre"; the last two only where a node is there.
    The set of cells is "body".  ``flip`` turns the normals to the other side.
    """
    uv, cells = _lattice(nx, ny, cell)
    u, v = uv.T
    points = np.column_stack([np.broadcast_to(c, u.shape) for c in place(u, v)])
    sets = {}
    for name, at, value, along in (("left", u, 0, v), ("right", u, 1, v), ("bottom", v, 0, u), ("top", v, 1, u)):
        edge = np.flatnonzero(at == value)
        sets[name] = edge[np.argsort(along[edge])]
    places = {"a": (0, 0), "b": (1, 0), "c": (1, 1), "d": (0, 1), "middle": (1, 0.5), "centre": (0.5, 0.5)}
    sets |= {name: np.flatnonzero((uv == at).all(axis=1)) for name, at in places.items()}
    sets = {name: nodes for name, nodes in sets.items() if nodes.size}
    if flip:
        cells = cells[:, _FLIPPED[cell]]
    return mesh_of(points, cell, cells, node_sets=sets, cell_sets={"body": [(0, np.arange(len(cells)))]})


def octant(radius: float, n: int, cell: str = "quad") -> Mesh:
    """Return the mesh of an octant of a sphere: three squares of n by n cells that meet in its middle.

    Sets of nodes: "A", "B", "C" on the axes x, y, z, and the edges "x = 0", "y = 0", "z = 0".
    """
    uv, local = _lattice(n, n, cell)
    edges = np.eye(3)
    points, cells = [], []
    for k in range(3):
        # from a corner of the octant to the middles of both edges there, and to the middle of the face
        p, q, r = edges[k], edges[(k + 1) % 3], edges[(k + 2) % 3]
        corners = (p, (p + q) / 2.0, (p + q + r) / 3.0, (p + r) / 2.0)
        a, b, c, d = (corner / np.linalg.norm(corner) for corner in corners)
        u, v = uv[:, :1], uv[:, 1:]
        x = (1 - u) * (1 - v) * a + u * (1 - v) * b + u * v * c + (1 - u) * v * d
        cells.append(local + k * len(uv))
        points.append(radius * x / np.linalg.norm(x, axis=1)[:, None])
    every = np.concatenate(points)
    _, first, number = np.unique(np.round(every / radius, 9), axis=0, return_index=True, return_inverse=True)
    X = every[first]
    zero = np.abs(X) < 1e-9 * radius
    sets = {f"{axis} = 0": np.flatnonzero(zero[:, k]) for k, axis in enumerate("xyz")}
    sets |= {name: np.flatnonzero(zero.sum(axis=1) * ~zero[:, k] == 2) for k, name in enumerate("ABC")}
    return mesh_of(X, cell, number.ravel()[np.concatenate(cells)], node_sets=sets)


def quarter_disc(radius: float, n: int, cell: str = "quad") -> Mesh:
    """Return the mesh of a quarter of a disc in the x-y plane: three squares of n by n cells.

    Sets of nodes: "centre", "rim", the radii "x = 0" and "y = 0", and their ends "A" on x and "B" on y; the set of
    cells is "body".
    """
    ball = octant(1.0, n, cell)
    x, y, z = ball.points.T
    r = radius * np.arccos(np.clip(z, 0.0, 1.0)) / (0.5 * np.pi)
    points = np.column_stack((r * np.cos(np.arctan2(y, x)), r * np.sin(np.arctan2(y, x)), 0.0 * r))
    names = {"C": "centre", "z = 0": "rim"}
    sets = {names.get(name, name): nodes for name, nodes in ball.node_sets.items()}
    cells = ball.blocks[0].cells
    return mesh_of(points, cell, cells, node_sets=sets, cell_sets={"body": [(0, np.arange(len(cells)))]})


def shell(mesh: Mesh, E: float, nu: float, thickness: float, density: float = 0.0, **options: Any) -> Model:
    """Return the model of an isotropic shell "shell" on the mesh "s"."""
    model = Model(3, "shell")
    model.material("material", E=E, nu=nu, density=density)
    model.mesh("s", mesh)
    model.shells("shell", on="s", material="material", thickness=thickness, **options)
    return model


def on_edge(model: Model, edge: str, total: ArrayLike, kind: str = "force") -> None:
    """Spread a force [N] or a moment [N m] of components (3,) evenly over an edge of equal sides of cells; or (n, 3),
    where its direction changes along the nodes of the edge."""
    mesh = model.meshes["s"][0]
    nodes = mesh.node_sets[edge]
    if mesh.blocks[0].cells.shape[1] in (3, 4):
        share = np.full(len(nodes), 1.0)
        share[[0, -1]] = 0.5
    else:
        share = np.where(np.arange(len(nodes)) % 2, 4.0, 2.0)
        share[[0, -1]] = 1.0
    share /= share.sum()
    add = model.force if kind == "force" else model.moment
    parts = share[:, None] * np.asarray(total, float)
    for i, (node, part) in enumerate(zip(nodes, parts, strict=True)):
        add(f"{kind} {edge} {i}", int(node), tuple(part))
