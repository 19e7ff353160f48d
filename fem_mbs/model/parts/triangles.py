"""Surfaces of triangles for contact: from shapes, files or faces of a mesh; joined, checked and turned outwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.parts.cells import cell_owners
from fem_mbs.model.parts.visuals import visuals_of

__all__ = ["surface_triangles", "triangle_columns"]

#: Corners that are closer than this part of the size of the surface are one.
_JOINED = 1e-9
#: Triangles of a facet by the number of its corners, counter-clockwise like the facet.
_CUT = {3: ((0, 1, 2),), 4: ((0, 1, 2), (0, 2, 3))}


def surface_triangles(
    building: Building, owner: Owner, given: Any, facets: str | None, inside: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return corners (n, 3) [m] and triangles (t, 3), counter-clockwise seen from the side of the balls.

    Closed surfaces are turned by the sign of their volume; open ones are taken as they are, or turned by ``inside``.

    Raises:
        ModelError: no surface, one with edges that three triangles or two of opposite directions share.
    """
    if (given is None) == (facets is None):
        raise ModelError(
            "a surface of triangles is given by one of triangles and facets", owner=owner, key="triangles",
            remedy='name a file by triangles, or faces of a mesh ("mesh:set") by facets',
        )  # fmt: skip
    if facets is not None:
        parts = _of_mesh(building, owner, facets)
    else:
        parts = [(made.points, made.triangles) for made in visuals_of(given, owner, "triangles")]
    before = np.cumsum([0] + [len(x) for x, _ in parts])
    points = np.concatenate([x for x, _ in parts])
    triangles = np.concatenate([t + k for (_, t), k in zip(parts, before, strict=False)])
    size = float(np.ptp(points, axis=0).max())
    if size == 0.0:
        raise ModelError("the surface of triangles has no size", owner=owner, remedy="check its file or its scale")
    _, first, which = np.unique(np.round(points / (_JOINED * size)), axis=0, return_index=True, return_inverse=True)
    points, triangles = points[first], which.ravel()[triangles]
    x = points[triangles]
    area = np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1)
    longest = np.linalg.norm(np.roll(x, -1, axis=1) - x, axis=2).max(axis=1)
    triangles = triangles[area > 1e-9 * longest**2]
    if not len(triangles):
        raise ModelError("the surface has no triangle with an area", owner=owner, remedy="check its file")
    closed = _closed(points, triangles, owner)
    x = points[triangles]
    volume = float(np.einsum("ti,ti->", x[:, 0], np.cross(x[:, 1], x[:, 2])))
    if inside != (closed and volume < 0.0):
        triangles = triangles[:, ::-1]
    return points, np.ascontiguousarray(triangles)


def _of_mesh(building: Building, owner: Owner, facets: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return triangles of a set of plane cells, or of faces of solid cells that no part uses; by their corners."""
    mesh, colon, name = facets.partition(":")
    part, start = building.find("mesh", mesh, building.meshes, owner)
    if not colon:
        known = ", ".join(f"{mesh}:{k}" for k in (*part.cell_sets, *part.facet_sets)) or "none"
        raise ModelError(
            f'facets = "{facets}" must name a set ("mesh:set")', owner=owner, key="facets", remedy=f"there are {known}"
        )
    if name in part.facet_sets:
        used = [(block, cells) for block, cells, _ in part.facets(name)]
        found = [nodes for _, nodes in part.facet_nodes(name)]
    else:
        used = part.cells_of(name, 2)
        found = [part.blocks[block].cells[cells] for block, cells in used]
    if any((cell_owners(building, mesh, block)[cells] >= 0).any() for block, cells in used):
        raise ModelError(
            f'"{facets}" is of elements that deform, and the surface of a contact is rigid', owner=owner, key="facets",
            remedy="read the mesh once more by another name",
        )  # fmt: skip
    building.spare_nodes.append((mesh, np.unique(np.concatenate([nodes.ravel() for nodes in found]))))
    points = building.positions[start : start + len(part.points)]
    result = []
    for nodes in found:
        corners = 3 if nodes.shape[1] in (3, 6) else 4
        if nodes.shape[1] not in (3, 4, 6, 8):
            raise ModelError(f'"{facets}" holds edges, no faces', owner=owner, key="facets", remedy="name faces")
        result += [(points, nodes[:, list(cut)]) for cut in _CUT[corners]]
    return result


def _closed(points: np.ndarray, triangles: np.ndarray, owner: Owner) -> bool:
    """Return whether a surface is closed.

    Raises:
        ModelError: more than two triangles meet at an edge, or two that are turned differently.
    """
    ends = np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2)
    directed, count = np.unique(ends, axis=0, return_counts=True)
    if (count > 1).any():
        at = points[directed[int(np.argmax(count))]].mean(axis=0)
        where = ", ".join(f"{v:.6g}" for v in at)
        raise ModelError(
            f"triangles of the surface that meet at ({where}) are turned differently, or there are more than two",
            owner=owner, remedy="repair the surface: inside and outside must be clear",
        )  # fmt: skip
    return 2 * len(np.unique(np.sort(directed, axis=1), axis=0)) == len(directed)


def triangle_columns(
    building: Building, owner: Owner, ball: float, depth: Any, first: int, closed: bool
) -> dict[str, float]:
    """Return the columns of `mesh_contact3` that say its surface; ``first`` is the place of its first triangle.

    Raises:
        ModelError: a depth of a closed surface, or none where points touch an open one.
    """
    if closed and depth is not None:
        raise ModelError("a closed surface has no depth", owner=owner, key="depth", remedy="remove depth")
    if not closed and depth is None and ball == 0.0:
        raise ModelError(
            "the surface is open, so points need a depth behind it", owner=owner, key="depth",
            remedy="give depth, ball, or a closed surface",
        )  # fmt: skip
    reach = ball if depth is None else building.number(depth, owner, "depth", 0.0, strict=True)
    return {"ball radius": ball, "first triangle": float(first), "depth": np.inf if closed else reach}
