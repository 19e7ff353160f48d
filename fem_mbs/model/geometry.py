"""Declarations of meshes and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY,
    CELL_COUNT,
    COUNT_OR_COUNTS,
    FILE,
    NAME,
    NUMBER,
    NUMBER_OR_VECTOR,
    POINTS,
    TEXT,
    VECTOR,
    shown,
)  # fmt: skip
from fem_mbs.errors import ModelError, Owner
from fem_mbs.meshes.formats.reader import MESH_FORMATS, read_mesh
from fem_mbs.meshes.generate import arc, line, polyline
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.building import Building

__all__ = ["Arc", "Line", "NamedNode", "PlacedMesh", "Polyline"]


@dataclass(frozen=True, eq=False)
class Line(Declaration):
    """A straight line of equal cells."""

    owner = "Line"

    start: Any = key(VECTOR, "first end", unit="m")
    end: Any = key(VECTOR, "second end", unit="m")
    n: Any = key(CELL_COUNT, "number of equal cells")


@dataclass(frozen=True, eq=False)
class Polyline(Declaration):
    """Straight segments through points."""

    owner = "Polyline"

    points: Any = key(POINTS, "corners; the last equal to the first: closed", unit="m")
    n: Any = key(COUNT_OR_COUNTS, "number of cells of each segment")


@dataclass(frozen=True, eq=False)
class Arc(Declaration):
    """Chords of an arc or a ring."""

    owner = "Arc"

    center: Any = key(VECTOR, "centre of the circle", unit="m")
    radius: Any = key(NUMBER, "", unit="m")
    angles: Any = key(VECTOR, "first and last angle; 360 apart: a ring", unit="deg")
    n: Any = key(CELL_COUNT, "number of equal chords")
    normal: Any = key(VECTOR, "axis of the circle", [0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class PlacedMesh(Declaration):
    """Nodes, cells and named sets, from a file or generated.

    They are placed at translate + scale * R x.

    Args:
        mesh: a `Mesh`, or the path of a mesh file; or one of file, line, polyline and arc.
        rotate: angle in the plane [deg], or in space axis times angle, (3,) [deg].
        unused: "error" or "drop": what to do with mesh nodes that no element, body or joint uses.
        cells: of a file: "lines", "all" (plane and solid cells too), or "auto": all, and where no solids, plane
            elements or shells come on the mesh, nodes that only their cells use are left out.
    """

    owner = "Mesh"

    name: str = key(NAME, "by which other tables call it", file=None)
    mesh: Mesh | str | Path | None = key(ANY, "a mesh, or the path of a mesh file", None, file=None)
    file: str | None = key(
        FILE,
        f"a mesh file ({', '.join(f'{form.name} {form.suffixes[0]}' for form in MESH_FORMATS)}); a relative path "
        "starts at the model file",
        None,
        kw_only=True,
    )
    line: Line | None = key(Line, "instead of file: a straight line; sets all, start, end", None, kw_only=True)
    polyline: Polyline | None = key(
        Polyline,
        "instead of file: straight segments; sets all, segment_1 ..., start, end, corner_1 ...",
        None,
        kw_only=True,
    )
    arc: Arc | None = key(Arc, "instead of file: an arc or a ring; sets all, start, end", None, kw_only=True)
    scale: float = key(NUMBER, "factor on the coordinates (0.001 for a mesh in mm)", 1.0)
    rotate: Any = key(NUMBER_OR_VECTOR, "angle, in space axis times angle", None, shows="none", unit="deg")
    translate: Any = key(VECTOR, "shift, after scale and rotate", None, shows="none", unit="m")
    unused: str = key(TEXT, '"error" or "drop": mesh nodes that nothing uses', "error", choices=("error", "drop"))
    cells: str = key(
        TEXT,
        'of a file: "lines" or "all" (plane and solid cells too); "auto": all where a [[solid]], [[plane]] or '
        "[[shell]] names the mesh",
        "auto",
        choices=("auto", "lines", "all"),
    )

    def build(self, building: Building) -> None:
        building.new_place("Mesh", self.name)
        owner = Owner("Mesh", self.name)
        mesh = self._source(building, owner)
        rotation = None
        if self.rotate is not None:
            from scipy.spatial.transform import Rotation

            if building.dimension == 2:
                vector = np.array([0.0, 0.0, building.number(self.rotate, owner, "rotate")])
            else:
                vector = building.vector(self.rotate, owner, "rotate")
            rotation = Rotation.from_rotvec(np.deg2rad(vector)).as_matrix()
        mesh = mesh.transformed(self.scale, rotation, self.translate)
        if building.dimension == 2 and np.abs(mesh.points[:, 2]).max(initial=0.0) > 0.0:
            i = int(np.abs(mesh.points[:, 2]).argmax())
            raise ModelError(
                f"node {mesh.point_ids[i]} has z = {mesh.points[i, 2]:g}, but the model is plane",
                owner=owner,
                remedy="use dimension = 3 or a mesh in the x-y plane",
            )
        first = building.add_nodes(mesh.points)
        building.names.add(self.name, mesh.point_ids, len(mesh.points))
        building.meshes[self.name] = (mesh, first)
        if self.unused == "drop":
            building.droppable.append((first, first + len(mesh.points)))

    def _source(self, building: Building, owner: str) -> Mesh:
        """Return the mesh as it is given, read or generated."""
        sources = [k for k in ("mesh", "file", "line", "polyline", "arc") if getattr(self, k) is not None]
        if len(sources) != 1:
            both = f"not {' and '.join(sources)}" if sources else "one of them is missing"
            raise ModelError("give either file, line, polyline or arc", owner=owner, remedy=f"{both}")
        if self.line is not None:
            return line(self.line.start, self.line.end, self.line.n)
        if self.polyline is not None:
            return polyline(self.polyline.points, self.polyline.n)
        if self.arc is not None:
            a = self.arc
            return arc(a.center, a.radius, a.angles, a.n, a.normal)
        if isinstance(self.mesh, Mesh):
            return self.mesh
        path = self.file if self.mesh is None else self.mesh
        assert path is not None
        if "\0" in str(path):
            raise ModelError(f"file = {shown(str(path))} is not a path", owner=owner)
        mesh = read_mesh(path, "lines" if self.cells == "lines" else "all")
        if self.cells == "auto":
            building.spare_nodes.append((self.name, mesh.only_in_cells()))
        return mesh


@dataclass(frozen=True, eq=False)
class NamedNode(Declaration):
    """Single nodes."""

    owner = "Node"

    name: str = key(NAME, "by which other tables call it")
    position: ArrayLike = key(VECTOR, "at the start", unit="m")

    def build(self, building: Building) -> None:
        building.new_place("Node", self.name)
        x = building.vector(self.position, Owner("Node", self.name), "position")
        building.named_nodes[self.name] = building.add_nodes(x[None, :])
        building.names.add(self.name, None, 1)
