"""Plane meshes of cross-sections: from a mesh, from four-sided patches, or of the plies of a tube.

Points are (y, z) from the beam's line.  Cells become triangles of 6 nodes and quadrilaterals of 8, which run from y to
z around.  A mesh that hangs together badly would give a wrong torsion constant without a word, so it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.declarations.kinds import shown
from fem_mbs.elements.solids.material import turned
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.properties.materials import Material
from fem_mbs.properties.section_solver import PlaneSection, SectionCells
from fem_mbs.properties.solids import SolidMaterial, solid_material_of

__all__ = ["MeshedSection", "Ply", "mesh_of_patches", "mesh_of_tube", "meshed_section"]

_TURNED = {"triangle6": [0, 2, 1, 5, 4, 3], "quad8": [0, 3, 2, 1, 7, 6, 5, 4]}
_QUADRATIC = {"triangle": "triangle6", "quad": "quad8", "triangle6": "triangle6", "quad8": "quad8"}
_AROUND = 64  # cells around a tube
MOST = 20_000  # cells of a section


@dataclass(frozen=True)
class Ply:
    """One ply of a laminate: material, thickness [m] and the angle of its first axis against the beam [deg]."""

    material: Material | SolidMaterial
    thickness: float
    angle: float


@dataclass(frozen=True, eq=False)
class MeshedSection:
    """A mesh of a section with its materials.

    Attributes:
        points: (n, 2).
        cells: kind and nodes (e, k) of each block.
        materials: of each block the number (e,) of the material of its cells; -1: that of the beam.
        known: these materials.
        axes: of each block (e, 3, 3), columns: material axes over (x, y, z), or None.
    """

    points: np.ndarray
    cells: list[tuple[str, np.ndarray]]
    materials: list[np.ndarray]
    known: list[Material | SolidMaterial] = field(default_factory=list)
    axes: list[np.ndarray] | None = None

    @property
    def needs_material(self) -> bool:
        """Return whether some cells take the beam's material."""
        return any((own < 0).any() for own in self.materials)

    def moved(self, origin: np.ndarray, angle: float) -> MeshedSection:
        """Return the section with ``origin`` on the line, then turned about the line by an angle [rad]."""
        c, s = math.cos(angle), math.sin(angle)
        points = (self.points - origin) @ np.array([[c, s], [-s, c]])
        axes = self.axes
        if axes is not None:
            R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            axes = [R @ a for a in axes]
        return MeshedSection(points, self.cells, self.materials, self.known, axes)

    def solve(self, material: Material | None) -> PlaneSection:
        """Return the solutions of the section; ``material`` is that of the beam."""
        known = [*self.known, *([] if material is None else [material])]  # -1 is the last one
        stiffness = np.array([solid_material_of(m).stiffness for m in known])
        density = np.array([m.density for m in known])
        cells = []
        for k, ((kind, nodes), which) in enumerate(zip(self.cells, self.materials, strict=True)):
            own = stiffness[which]
            if self.axes is not None:
                own = turned(own, self.axes[k])
            cells.append(SectionCells(kind, nodes, own, density[which]))
        return PlaneSection(self.points, cells)

    @property
    def outline(self) -> np.ndarray:
        """Return the points (k, 2) on the border."""
        edges, _ = _border(self.cells)
        return self.points[np.unique(edges)]


def meshed_section(mesh: Mesh, regions: Mapping[str, Any], owner: Owner, scale: float = 1.0) -> MeshedSection:
    """Return the section of a mesh of plane cells, its x being z of the section and its y being y.

    Args:
        regions: sets of cells -> materials; cells of no set take the beam's material.
        scale: factor on the coordinates.

    Raises:
        ModelError: cells that are not plane, sets that overlap or are unknown, a mesh that does not hang together.
    """
    blocks = [(k, b) for k, b in enumerate(mesh.blocks) if b.kind in _QUADRATIC and len(b.cells)]
    other = sorted({b.kind for b in mesh.blocks if b.kind not in _QUADRATIC and not b.kind.startswith("line")})
    if other or not blocks:
        found = ", ".join(other) or "none"
        raise ModelError(
            f"a section needs plane cells, the mesh has {found}", owner=owner, key="file",
            remedy=f"give {', '.join(_QUADRATIC)}",
        )  # fmt: skip
    x, y, z = scale * mesh.points.T
    used = np.unique(np.concatenate([b.cells.ravel() for _, b in blocks]))
    if np.ptp(z[used]) > 1e-9 * max(np.ptp(x[used]), np.ptp(y[used])):
        raise ModelError("the mesh of a section must lie in its x-y plane", owner=owner, key="file")
    which = {k: np.full(len(b.cells), -1) for k, b in blocks}
    known: list[Any] = []
    for name, material in regions.items():
        if name not in mesh.cell_sets:
            there = ", ".join(mesh.cell_sets) or "none"
            raise ModelError(f'the mesh has no set of cells "{name}"', owner=owner, key="regions", value=name,
                             remedy=f"there are {there}")  # fmt: skip
        for k, rows in mesh.cell_sets[name]:
            if k not in which:
                continue
            if (which[k][rows] >= 0).any():
                raise ModelError(f'region "{name}" overlaps another one', owner=owner, key="regions", value=name)
            which[k][rows] = len(known)
        known.append(material)
    points, cells = _quadratic(np.column_stack((y, x)), [(b.kind, np.asarray(b.cells)) for _, b in blocks])
    return _checked(points, cells, [which[k] for k, _ in blocks], known, None, owner)


def mesh_of_patches(patches: Sequence[Mapping[str, Any]], known: list[Any], owner: Owner) -> MeshedSection:
    """Return the section of four-sided patches.

    Args:
        patches: each with "corners", four [y, z] around it, "n" = [cells along its first and second side], and a number
            "material" of ``known``, -1: the beam's.  Sides that patches share have the same number of cells.  "angle"
            [deg], None for none: the first material axis lies in the plane of x and the second side, at this angle to
            x.
    """
    from fem_mbs.elements.solids.shapes import shape_functions

    points, nodes, which, axes = [], [], [], []
    count = 0
    for patch in patches:
        a, b = patch["n"]
        i, j = (g.ravel() for g in np.meshgrid(np.arange(2 * a + 1), np.arange(2 * b + 1), indexing="ij"))
        local = np.column_stack((i / a - 1.0, j / b - 1.0))
        points.append(shape_functions("quad", local) @ np.array(patch["corners"], float))
        at = count + np.arange(len(i)).reshape(2 * a + 1, 2 * b + 1)
        r, s = (2 * g.ravel() for g in np.meshgrid(np.arange(a), np.arange(b), indexing="ij"))
        places = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
        nodes.append(np.column_stack([at[r + p, s + q] for p, q in places]))
        which.append(np.full(a * b, patch["material"]))
        axes.append(np.broadcast_to(_ply_axes(patch), (a * b, 3, 3)))
        count += len(i)
    merged, cells = _merged(np.concatenate(points), np.concatenate(nodes))
    turns = None if all(p.get("angle") is None for p in patches) else [np.concatenate(axes)]
    return _checked(merged, [("quad8", cells)], [np.concatenate(which)], known, turns, owner)


def _ply_axes(patch: Mapping[str, Any]) -> np.ndarray:
    """Return the material axes (3, 3) of a patch in its columns: those of x, y and z where it has no angle."""
    if patch.get("angle") is None:
        return np.eye(3)
    side = np.array(patch["corners"][2]) - np.array(patch["corners"][1])
    along = np.append(0.0, side / np.linalg.norm(side))
    c, s = math.cos(math.radians(patch["angle"])), math.sin(math.radians(patch["angle"]))
    first = np.array([c, 0.0, 0.0]) + s * along
    second = np.array([-s, 0.0, 0.0]) + c * along
    return np.column_stack((first, second, np.cross(first, second)))


def mesh_of_tube(inner: float, plies: Sequence[Ply], owner: Owner) -> MeshedSection:
    """Return the section of a round tube of plies, from the inside to the outside; ``inner``: its inner radius [m]."""
    layers = [(k, ply, 1 if len(plies) > 1 else 2) for k, ply in enumerate(plies)]
    radii, number, angle = [inner], [], []
    for k, ply, parts in layers:
        radii += [radii[-1] + ply.thickness / parts * (i + 1) for i in range(parts)]
        number += [k] * parts
        angle += [math.radians(ply.angle)] * parts
    rings = np.interp(np.arange(2 * len(number) + 1), np.arange(0, 2 * len(number) + 1, 2), radii)
    theta = math.pi * np.arange(2 * _AROUND) / _AROUND
    points = (rings[:, None, None] * np.stack((np.cos(theta), np.sin(theta)), axis=-1)).reshape(-1, 2)
    r, s = (2 * g.ravel() for g in np.meshgrid(np.arange(len(number)), np.arange(_AROUND), indexing="ij"))
    places = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
    width = 2 * _AROUND
    nodes = np.column_stack([(r + p) * width + (s + q) % width for p, q in places])
    used = np.unique(nodes)
    cells = np.searchsorted(used, nodes)
    middle, turn = theta[s + 1], np.array(angle)[r // 2]
    zero, one = np.zeros_like(middle), np.ones_like(middle)
    x = np.stack((one, zero, zero), axis=-1)
    around = np.stack((zero, -np.sin(middle), np.cos(middle)), axis=-1)
    first = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * around
    second = -np.sin(turn)[:, None] * x + np.cos(turn)[:, None] * around
    axes = np.stack((first, second, np.cross(first, second)), axis=-1)
    return _checked(
        points[used], [("quad8", cells)], [np.array(number)[r // 2]], [p.material for p in plies], [axes], owner
    )


# --- making of meshes ------------------------------------------------------------------------------------------------
def _merged(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points and cells with one node where several are at the same place."""
    size = float(np.ptp(points, axis=0).max())
    _, first, inverse = np.unique(np.round(points / (1e-7 * size)), axis=0, return_index=True, return_inverse=True)
    return _used(points[first], inverse.ravel()[cells])


def _used(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    used = np.unique(cells)
    return points[used], np.searchsorted(used, cells)


def _quadratic(points: np.ndarray, blocks: list[tuple[str, np.ndarray]]) -> tuple[np.ndarray, list[Any]]:
    """Return points and blocks of quadratic cells; nodes in the middle of the sides of linear ones are added."""
    out = []
    for kind, nodes in blocks:
        if kind in ("triangle", "quad"):
            k = nodes.shape[1]
            sides = np.sort(np.stack((nodes, np.roll(nodes, -1, axis=1)), axis=-1).reshape(-1, 2), axis=1)
            pairs, inverse = np.unique(sides, axis=0, return_inverse=True)
            middle = len(points) + inverse.reshape(-1, k)
            points = np.vstack((points, points[pairs].mean(axis=1)))
            nodes = np.hstack((nodes, middle))
        out.append((_QUADRATIC[kind], nodes))
    # middles that two blocks have made
    kinds, sizes = [k for k, _ in out], [n.shape for _, n in out]
    flat = np.concatenate([n.ravel() for _, n in out])
    merged, again = _merged(points, flat)
    parts = np.split(again, np.cumsum([a * b for a, b in sizes])[:-1])
    return merged, [(k, p.reshape(s)) for k, p, s in zip(kinds, parts, sizes, strict=True)]


def _border(cells: list[tuple[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (m, 3), ends and middle, of one cell only, and the number of cells at each side of all."""
    sides = []
    for _, nodes in cells:
        k = nodes.shape[1] // 2
        corner = nodes[:, :k]
        sides.append(np.stack((corner, np.roll(corner, -1, axis=1), nodes[:, k:]), axis=-1).reshape(-1, 3))
    every = np.concatenate(sides)
    every[:, :2] = np.sort(every[:, :2], axis=1)
    unique, count = np.unique(every, axis=0, return_counts=True)
    return unique[count == 1], count


def _checked(
    points: np.ndarray, cells: list[Any], which: list[np.ndarray], known: list[Any], axes: Any, owner: Owner
) -> MeshedSection:
    """Return a section whose mesh is in one piece and whose cells have an area.

    Raises:
        ModelError: naming what is wrong with the mesh.
    """
    total = sum(len(nodes) for _, nodes in cells)
    if total > MOST:
        raise ModelError(f"{total} cells are more than {MOST}", owner=owner, remedy="take a coarser mesh")
    turned_cells = []
    for kind, nodes in cells:
        y, z = np.moveaxis(points[nodes[:, : nodes.shape[1] // 2]], -1, 0)
        area = 0.5 * np.sum(y * np.roll(z, -1, axis=1) - z * np.roll(y, -1, axis=1), axis=1)
        if (np.abs(area) <= 1e-14 * np.ptp(points, axis=0).max() ** 2).any():
            raise ModelError(f"cell {int(np.abs(area).argmin()) + 1} has no area", owner=owner)
        turned_cells.append((kind, np.where((area < 0.0)[:, None], nodes[:, _TURNED[kind]], nodes)))
    n = len(points)
    rows = np.concatenate([np.repeat(nodes[:, 0], nodes.shape[1]) for _, nodes in turned_cells])
    columns = np.concatenate([nodes.ravel() for _, nodes in turned_cells])
    pieces, _ = connected_components(coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n)), directed=False)
    border, count = _border(turned_cells)
    if (count > 2).any():
        raise ModelError("more than two cells meet at one side", owner=owner, remedy="remove cells that overlap")
    place = _hanging(points, border)
    if place is not None:
        raise ModelError(
            f"at [y, z] = {shown(place.tolist())} a node of one cell lies inside of the side of another",
            owner=owner, remedy="divide sides that touch into the same cells",
        )  # fmt: skip
    if pieces > 1:
        raise ModelError(f"the mesh has {pieces} pieces that do not touch", owner=owner, remedy="join them")
    return MeshedSection(points, turned_cells, which, known, axes)


def _hanging(points: np.ndarray, border: np.ndarray) -> np.ndarray | None:
    """Return a corner on the border that lies inside of another side of the border; None if there is none."""
    a, b = points[border[:, 0]], points[border[:, 1]]
    way = b - a
    length = np.linalg.norm(way, axis=1)
    corners = np.unique(border[:, :2])
    for start in range(0, len(corners), 500):
        some = corners[start : start + 500]
        arm = points[some][:, None] - a
        along = np.einsum("kmi,mi->km", arm, way) / length**2
        across = np.abs(arm[..., 0] * way[:, 1] - arm[..., 1] * way[:, 0]) / length
        inside = (along > 1e-3) & (along < 1.0 - 1e-3) & (across < 1e-4 * length)
        if inside.any():
            return points[some[int(np.flatnonzero(inside.any(axis=1))[0])]]
    return None
