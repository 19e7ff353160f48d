"""Surfaces of triangles that are only looked at: STL and OBJ files, boxes, cylinders, spheres."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.formats.found import quietly

__all__ = ["SHAPE_FILES", "box", "cylinder", "read_shape", "sphere"]

#: Ending of a file -> meshio's module that reads it.
SHAPE_FILES = {".stl": "meshio.stl", ".obj": "meshio.obj"}

Shape = tuple[np.ndarray, np.ndarray]


def read_shape(path: str | Path) -> Shape:
    """Return points (n, 3) and triangles (t, 3) of an STL or OBJ file; polygons of four corners are cut.

    Raises:
        MeshError: no such file, another ending, a damaged file, or one without faces.
    """
    where = Path(path)
    module = SHAPE_FILES.get(where.suffix.lower())
    if module is None:
        raise MeshError(f"{where}: unknown ending of a shape: give a file {' or '.join(SHAPE_FILES)}")
    if not where.is_file():
        raise MeshError(f"{where}: there is no such file")

    def read() -> tuple[np.ndarray, list[np.ndarray]]:
        raw = import_module(module).read(str(where))
        faces = [np.asarray(block.data, int) for block in raw.cells if block.type == "triangle"]
        quads = [np.asarray(block.data, int) for block in raw.cells if block.type == "quad"]
        faces += [quad[:, corners] for quad in quads for corners in ([0, 1, 2], [0, 2, 3])]
        return np.asarray(raw.points, float), faces

    (points, faces), _ = quietly(str(where), read)
    if not faces or not len(points) or not np.isfinite(points).all():
        raise MeshError(f"{where}: holds no triangles with finite corners: save a surface")
    triangles = np.concatenate(faces)
    wrong = (triangles < 0) | (triangles >= len(points))
    if wrong.any():
        raise MeshError(f"{where}: a face names corner {triangles[wrong][0] + 1} of {len(points)}: save it anew")
    return points, triangles


def box(size: np.ndarray) -> Shape:
    """Return a box with edges of lengths (3,) [m] along the axes, its centre at the origin."""
    corners = (np.indices((2, 2, 2)).reshape(3, -1).T - 0.5) * size
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return corners, np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))


def cylinder(radius: float, length: float, n: int = 32) -> Shape:
    """Return a cylinder about the z axis [m], its centre at the origin."""
    turn = 2.0 * np.pi * np.arange(n) / n
    ring = np.column_stack((radius * np.cos(turn), radius * np.sin(turn)))
    ends = [np.column_stack((ring, np.full(n, z))) for z in (-0.5 * length, 0.5 * length)]
    points = np.concatenate((*ends, [[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]]))
    i = np.arange(n)
    j = (i + 1) % n
    sides = [np.column_stack((i, j, n + j)), np.column_stack((i, n + j, n + i))]
    caps = [np.column_stack((j, i, np.full(n, 2 * n))), np.column_stack((n + i, n + j, np.full(n, 2 * n + 1)))]
    return points, np.concatenate((*sides, *caps))


def sphere(radius: float, n: int = 24) -> Shape:
    """Return a sphere [m] with its centre at the origin, of ``n`` pieces around and half as many from pole to pole."""
    rows = n // 2
    polar, turn = np.meshgrid(np.pi * np.arange(rows + 1) / rows, 2.0 * np.pi * np.arange(n) / n, indexing="ij")
    points = radius * np.stack((np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)), axis=-1)
    a, b = (v.ravel() for v in np.meshgrid(np.arange(rows), np.arange(n), indexing="ij"))
    here, beside, below, across = a * n + b, a * n + (b + 1) % n, (a + 1) * n + b, (a + 1) * n + (b + 1) % n
    triangles = np.concatenate((np.column_stack((here, below, across)), np.column_stack((here, across, beside))))
    flat = points.reshape(-1, 3)
    area = np.linalg.norm(np.cross(flat[triangles[:, 1]] - flat[triangles[:, 0]],
                                   flat[triangles[:, 2]] - flat[triangles[:, 0]]), axis=1)  # fmt: skip
    return flat, triangles[area > 1e-12 * radius**2]
