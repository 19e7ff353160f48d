"""Declarations of meshes and nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY,
    FILE,
    NAME,
    NUMBER,
    NUMBER_OR_VECTOR,
    TEXT,
    VECTOR,
    shown,
)  # fmt: skip
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.formats.reader import MESH_FORMATS, read_mesh
from fem_mbs.meshes.making import made
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.building import Building
from fem_mbs.model.parts.grids import Arc, Block, Box, Inline, Line, Patch, Polyline, Rectangle, Ring, Source, Tube
from fem_mbs.rotations import rotation_matrices

__all__ = ["Mirror", "NamedNode", "PlacedMesh"]


@dataclass(frozen=True, eq=False)
class Mirror(Declaration):
    """A plane on which things are reflected; in plane models a line."""

    owner = "Mirror"

    normal: Any = key(VECTOR, "across the plane")
    point: Any = key(VECTOR, "of the plane", None, shows="the origin", unit="m")

    def plane(self, dimension: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the unit normal (3,) and a point (3,) [m] of the plane.

        Raises:
            ModelError: they are not vectors of the model, or the normal has no length.
        """
        found = []
        for name, value in (("normal", self.normal), ("point", self.point)):
            if value is not None and len(value) != dimension:
                text = f"{name} = {shown(list(value))} must have {dimension} numbers"
                raise ModelError(text, owner=self.thing, key=name, value=value)
            vector = np.zeros(3)
            vector[:dimension] = 0.0 if value is None else value
            found.append(vector)
        length = np.linalg.norm(found[0])
        if length == 0.0:
            raise ModelError("normal has no length", owner=self.thing, key="normal", remedy="give a direction")
        return found[0] / length, found[1]


@dataclass(frozen=True, eq=False)
class PlacedMesh(Declaration):
    """Nodes, cells and named sets, from a file or generated.

    They are placed at translate + scale * R x.

    Args:
        mesh: a `Mesh`, or the path of a mesh file; or one of file, line, polyline, arc, rectangle, patch, box, block,
            ring, tube and inline.
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
    rectangle: Rectangle | None = key(
        Rectangle, "instead of file: plane cells; sides left, right, bottom, top", None, kw_only=True
    )
    patch: Patch | None = key(
        Patch, "instead of file: plane cells between four edges; sides left, right, bottom, top", None, kw_only=True
    )
    box: Box | None = key(
        Box, "instead of file: solid cells; sides left, right, front, back, bottom, top", None, kw_only=True
    )
    block: Block | None = key(Block, "instead of file: solid cells between eight corners", None, kw_only=True)
    ring: Ring | None = key(
        Ring,
        "instead of file: annulus or hollow cylinder; sides inner, outer, start, end, bottom, top",
        None,
        kw_only=True,
    )
    tube: Tube | None = key(
        Tube, "instead of file: surface of a cylinder; sides start, end, bottom, top", None, kw_only=True
    )
    inline: Inline | None = key(Inline, "instead of file: nodes and cells in the model file", None, kw_only=True)
    scale: float = key(NUMBER, "factor on the coordinates (0.001 for a mesh in mm)", 1.0)
    rotate: Any = key(NUMBER_OR_VECTOR, "angle, in space axis times angle", None, shows="none", unit="deg")
    translate: Any = key(VECTOR, "shift, after scale and rotate", None, shows="none", unit="m")
    mirror: Mirror | None = key(Mirror, "reflect on a plane, after rotate and translate", None, kw_only=True)
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
        rotation = None
        if self.rotate is not None:
            if building.dimension == 2:
                vector = np.array([0.0, 0.0, building.number(self.rotate, owner, "rotate")])
            else:
                vector = building.vector(self.rotate, owner, "rotate")
            rotation = rotation_matrices(np.deg2rad(vector))
        mirror = None if self.mirror is None else self.mirror.plane(building.dimension)

        def make() -> Mesh:
            placed = self._source(building, owner).transformed(self.scale, rotation, self.translate)
            return placed if mirror is None else placed.mirrored(*mirror)

        mesh = made(make)
        if self.cells == "auto" and (self.file is not None or isinstance(self.mesh, (str, Path))):
            building.spare_nodes.append((self.name, mesh.only_in_cells()))
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
        shapes = [
            name for name, said in self.keys().items() if isinstance(said.kind, type) and issubclass(said.kind, Source)
        ]
        sources = [k for k in ("mesh", "file", *shapes) if getattr(self, k) is not None]
        if len(sources) != 1:
            both = f"not {' and '.join(sources)}" if sources else "one of them is missing"
            known = ", ".join(["file", *shapes[:-1]])
            raise ModelError(f"give either {known} or {shapes[-1]}", owner=owner, remedy=f"{both}")
        source = getattr(self, sources[0])
        if isinstance(source, Source):
            flat = source.flat_point() if building.dimension == 3 else None
            if flat is not None:
                raise ModelError(
                    f"{sources[0]} has the point {shown(flat)} of two numbers, but the model is in space",
                    owner=owner, remedy="give all three coordinates",
                )  # fmt: skip
            return source.mesh()
        if isinstance(self.mesh, Mesh):
            return self.mesh
        path = self.file if self.mesh is None else self.mesh
        assert path is not None
        if "\0" in str(path):
            raise ModelError(f"file = {shown(str(path))} is not a path", owner=owner)
        return read_mesh(path, "lines" if self.cells == "lines" else "all")


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
