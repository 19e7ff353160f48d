"""Faces of contact that deform: of solid parts and shells, cut into triangles between their nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.lines import MARGIN
from fem_mbs.model.parts.reduced_surface import SURFACE, reduced_faces, reduced_of
from fem_mbs.system.near_parts import FacePairing

__all__ = ["face_pairing", "face_triangles"]

#: Triangles of a face by its number of nodes, counter-clockwise like the face; those of quadratic faces are straight
#: between all nodes.
_CUT = {
    3: ((0, 1, 2),),
    4: ((0, 1, 2), (0, 2, 3)),
    6: ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
    8: ((0, 4, 7), (1, 5, 4), (2, 6, 5), (3, 7, 6), (4, 5, 6), (4, 6, 7)),
}
#: Part of the smaller height of two neighbours in which one takes turns with the other on either side of their edge.
_TURN = 0.25


def face_triangles(building: Building, owner: Owner, given: Any, key: str = "a") -> np.ndarray:
    """Return the nodes (n, 3) of triangles of "mesh:set", faces of solid cells or plane cells, of shells, or of a
    reduced part ("part:surface", "part:interface").

    Raises:
        ModelError: there is none of this name, or it has no faces.
    """
    found: list[np.ndarray] = []
    places = list(given) if isinstance(given, (list, tuple)) else [given]
    reduced: dict[str, list[str]] = {}
    for name in places:
        part = reduced_of(building, name)
        if part is not None:
            reduced.setdefault(part, []).append(str(name))
    for part, of in reduced.items():
        found += _cut(owner, key, ", ".join(of), reduced_faces(building, owner, part, of))
    for name in places:
        if reduced_of(building, name) is not None:
            continue
        mesh, colon, part_set = str(name).partition(":")
        if name in building.shell_groups:
            tables = [building.groups[name]]
        elif colon and mesh in building.meshes:
            own, start = building.meshes[mesh]
            if part_set in own.facet_sets:
                tables = [start + nodes for _, nodes in own.facet_nodes(part_set)]
            else:
                tables = [start + own.blocks[block].cells[cells] for block, cells in own.cells_of(part_set, 2)]
        else:
            known = ", ".join([
                *(f'"{mesh}:{k}"' for mesh, (own, _) in building.meshes.items() for k in own.facet_sets),
                *(f'"{k}"' for k in building.shell_groups),
                *(f'"{k}:{SURFACE}"' for k in building.reduced_parts),
            ])  # fmt: skip
            raise ModelError(
                f'{key} = "{name}" names no faces', owner=owner, key=key, value=name,
                remedy=f'name faces of a solid ("mesh:set"), shells or a reduced part; there are {known or "none"}',
            )  # fmt: skip
        found += _cut(owner, key, str(name), tables)
    triangles = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
    if not len(triangles):
        raise ModelError(f"{key} names no faces", owner=owner, key=key, value=given, remedy="name faces")
    return triangles


def _cut(owner: Owner, key: str, name: str, tables: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Return the triangles (n, 3) that faces (n, k) are cut into."""
    found = []
    for nodes in tables:
        if nodes.shape[1] not in _CUT:
            raise ModelError(
                f'{key} = "{name}" has faces of {nodes.shape[1]} nodes', owner=owner, key=key, value=name,
                remedy="name faces of solids or shells, of 3, 4, 6 or 8 nodes",
            )  # fmt: skip
        found += [nodes[:, list(cut)] for cut in _CUT[nodes.shape[1]]]
    return found


def face_pairing(
    building: Building, owner: Owner, triangles: np.ndarray, b: np.ndarray, reach: float, margin: float | None,
    at: np.ndarray | None = None, stiffness: np.ndarray | None = None,
) -> FacePairing:  # fmt: skip
    """Return the pairing of triangles (t, 3) with balls at nodes b (n, 1), or at places ``at`` (n,) of lines between
    their nodes b (n, 2), of the ``stiffness`` (n,), which touch at the distance ``reach`` [m].

    Raises:
        ModelError: a triangle has no area.
    """
    x = building.positions[triangles]
    edge = np.roll(x, 1, axis=1) - np.roll(x, -1, axis=1)  # opposite to each corner
    length = np.linalg.norm(edge, axis=2)
    twice = np.linalg.norm(np.cross(edge[:, 0], edge[:, 1]), axis=1)
    if not (twice > 1e-12 * length.max(axis=1) ** 2).all():
        where = building.node_name(int(triangles[int(np.argmin(twice)), 0]))
        raise ModelError(f'the face at node "{where}" has no area', owner=owner, remedy="mend the mesh")
    height = twice[:, None] / length
    ends = np.sort(np.stack((np.roll(triangles, 1, axis=1), np.roll(triangles, -1, axis=1)), axis=2), axis=2)
    _, which, shared = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    least = np.full(len(shared), np.inf)
    np.minimum.at(least, which, height.ravel())
    used, corner, count = np.unique(triangles.ravel(), return_inverse=True, return_counts=True)
    border = np.isin(used, ends.reshape(-1, 2)[shared[which] == 1])
    turns = np.where(border, 0.0, 4.0 / count - 1.0)
    return FacePairing(
        owner=owner, a=triangles, b=b, at=at, stiffness=stiffness, reach=reach,
        widths=_TURN * least[which].reshape(-1, 3) / height,
        margin=0.25 * MARGIN * max(reach, 0.5 * float(np.median(length))) if margin is None else margin,
        heights=height, corners=turns[corner.ravel()].reshape(-1, 3),
    )  # fmt: skip
