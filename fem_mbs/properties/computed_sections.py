"""Sections whose stiffness is computed: shapes "mesh", "thin_walled" and "laminated_tube".

A section is read here (`read_computed`) and solved for the beam's material when a beam asks; `ComputedSection` keeps
what it found.  `fem_mbs.properties.section_solver` and `fem_mbs.properties.thin_walled` are the theories.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.properties.materials import Material, check_sign, finite_number
from fem_mbs.properties.section_meshes import MeshedSection, Ply, mesh_of_patches, mesh_of_tube, meshed_section
from fem_mbs.properties.shapes import COMPUTED_SHAPES
from fem_mbs.properties.thin_walled import ThinWalls

__all__ = ["ComputedSection", "read_computed"]

_ORIGINS = ("centroid", "shear_centre")
_ZERO = 1e-6  # of EA: couplings below are round-off
_UNEVEN = 1e-3  # the same of shear, which a mesh without the symmetry of its section couples a little
Find = Callable[[str], Any]


@dataclass(eq=False)
class ComputedSection:
    """A section and its solutions for the materials of beams.

    Attributes:
        source: its mesh or walls, with ``solve(material)``, ``moved``, ``outline`` and ``needs_material``.
        origin: point [y, z] of the source that lies on the beam's line, or "centroid" or "shear_centre".
        rotate: angle of the source about the line [rad].
    """

    owner: Owner
    source: MeshedSection | ThinWalls
    origin: Any = (0.0, 0.0)
    rotate: float = 0.0
    _found: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": {}}

    def solved(self, material: Material | None) -> Any:
        """Return the solutions with the line at the origin.

        Raises:
            ModelError: cells lack a material, or all have one of their own and the beam names another.
        """
        if self.source.needs_material and material is None:
            raise ModelError("some of its cells have no material", owner=self.owner,
                             remedy="name that of the beam, or give each region its own")  # fmt: skip
        if not self.source.needs_material and material is not None:
            raise ModelError(
                f'all of its cells have materials of their own, so "{material.name}" of the beam would have no effect',
                owner=self.owner, remedy="remove the beam's material",
            )  # fmt: skip
        key = None if material is None else (material.E, material.G, material.nu, material.density)
        if key not in self._found:
            origin = self.origin
            if isinstance(origin, str):
                origin = getattr(self.source.solve(material), origin)
            placed = self.source.moved(np.asarray(origin, float), self.rotate)
            self._found[key] = placed.solve(material), placed.outline
        return self._found[key][0]

    def outline(self, material: Material | None) -> np.ndarray:
        """Return points (k, 2) of the border, from the line [m]."""
        self.solved(material)
        key = None if material is None else (material.E, material.G, material.nu, material.density)
        return self._found[key][1]

    def fibres(self, material: Material | None) -> dict[str, tuple[float, float]]:
        """Return the points of the border that are farthest along +y, -y, -z and +z."""
        border, centre = self.outline(material), self.solved(material).centroid
        size = float(np.ptp(border, axis=0).max())
        found = {}
        for name, axis, sign in (("top", 0, 1.0), ("bottom", 0, -1.0), ("left", 1, -1.0), ("right", 1, 1.0)):
            along = sign * border[:, axis]
            far = border[along >= along.max() - 1e-9 * size]
            y, z = far[np.abs(far[:, 1 - axis] - centre[1 - axis]).argmin()]
            found[name] = (float(y), float(z))
        return found

    def stresses(self, material: Material | None, points: np.ndarray, owner: Owner) -> np.ndarray:
        """Return stresses (k, 6, 6), components (xx, xy, xz, yy, zz, yz) per unit of each force, at points (k, 2).

        Raises:
            ModelError: a point lies outside of the material.
        """
        try:
            found = self.solved(material).stresses(points)
        except ValueError as error:
            raise ModelError(f"{error}", owner=owner, key="fibre", remedy="give [y, z] from the beam's line") from None
        return found[:, [0, 3, 5, 1, 2, 4]]

    def diagonal(self, material: Material | None, needs: str) -> dict[str, float]:
        """Return stiffnesses and inertias of an element that knows no couplings: a plane beam or a truss.

        Raises:
            ModelError: centroid, shear centre, mass or principal axes are such that there are couplings.
        """
        s = self.solved(material)
        C = s.stiffness
        size = math.sqrt(s.area)
        unit = np.array([1.0, 1.0, 1.0, size, size, size])
        scaled = np.abs(C) / C[0, 0] / np.outer(unit, unit)
        names = ("N", "Vy", "Vz", "T", "My", "Mz")
        plane = (0, 1, 5)
        pairs = [(0, 5), (0, 4)] if needs == "truss" else [
            (i, j) for i in plane for j in range(6) if i != j and (i < j or j not in plane)
        ]  # fmt: skip
        for i, j in pairs:
            if scaled[i, j] > (_UNEVEN if needs != "truss" and i == 1 and j in (2, 3) else _ZERO):
                raise ModelError(
                    f"its {names[i]} and {names[j]} are coupled (centroid {shown(s.centroid.round(9).tolist())}, shear "
                    f"centre {shown(s.shear_centre.round(9).tolist())} from the line), which a {needs} has not",
                    owner=self.owner, remedy='give origin = "centroid" or another rotate, or a beam in space',
                )  # fmt: skip
        if s.mass and abs(s.mass_centre[0]) > 1e-6 * size:
            raise ModelError("its mass centre is off the line", owner=self.owner, remedy="use a beam in space")
        keys = ("EA", "GAy", "GAz", "GJ", "EIy", "EIz")
        found = {key: float(C[i, i]) for i, key in enumerate(keys)}
        return {**found, "rhoA": s.mass, "rhoIy": float(s.second[1, 1]), "rhoIz": float(s.second[0, 0])}


# --- reading ---------------------------------------------------------------------------------------------------------
def read_computed(name: str, shape: str, given: Mapping[str, Any], find: Find) -> ComputedSection:
    """Return a computed section from its keys; ``find`` gives a material by its name.

    Raises:
        ModelError: a key that the shape has not, or a value that it cannot use.
    """
    owner = Owner("Section", name)
    for key in given:
        if key not in COMPUTED_SHAPES[shape]:
            raise ModelError(
                f'unknown key "{key}" for shape "{shape}"', owner=owner, key=key,
                remedy=f"its keys are {', '.join(COMPUTED_SHAPES[shape])}.",
            )  # fmt: skip
    rotate = math.radians(finite_number(given.get("rotate", 0.0), owner, "rotate"))
    origin = given.get("origin", [0.0, 0.0])
    if isinstance(origin, str):
        if origin not in _ORIGINS:
            raise ModelError(
                f'origin = "{origin}" must be "centroid", "shear_centre" or [y, z]', owner=owner, key="origin",
                value=origin,
            )  # fmt: skip
    else:
        origin = tuple(_numbers(origin, 2, owner, "origin"))
    readers: dict[str, Callable[..., MeshedSection | ThinWalls]] = {
        "mesh": _read_mesh, "thin_walled": _read_walls, "laminated_tube": _read_tube,
    }  # fmt: skip
    return ComputedSection(owner, readers[shape](given, find, owner), origin, rotate)


def _numbers(value: Any, count: int, owner: Owner, key: str) -> list[float]:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != count:
        raise ModelError(f"{key} = {shown(value)} must be {count} numbers", owner=owner, key=key, value=value)
    return [finite_number(v, owner, key) for v in value]


def _tables(value: Any, needed: Sequence[str], others: Sequence[str], owner: Owner, key: str) -> list[dict[str, Any]]:
    """Return a list of tables with the keys ``needed`` and perhaps ``others``."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(v, Mapping) for v in value):
        raise ModelError(f"{key} must be a list of tables", owner=owner, key=key, value=value)
    for number, item in enumerate(value, 1):
        missing = [k for k in needed if k not in item]
        unknown = [k for k in item if k not in (*needed, *others)]
        if missing or unknown:
            what = f'"{missing[0]}" is missing' if missing else f'unknown key "{unknown[0]}"'
            raise ModelError(
                f"{key}, number {number}: {what}", owner=owner, key=key, value=dict(item),
                remedy=f"its keys are {', '.join((*needed, *others))}",
            )  # fmt: skip
    return [dict(item) for item in value]


def _read_mesh(given: Mapping[str, Any], find: Find, owner: Owner) -> MeshedSection:
    if ("file" in given) == ("patches" in given):
        raise ModelError('shape "mesh" needs either "file" or "patches"', owner=owner)
    if "file" in given:
        regions = given.get("regions", {})
        if not isinstance(regions, Mapping) or not all(isinstance(v, str) for v in regions.values()):
            raise ModelError(
                f"regions = {shown(regions)} must be a table of sets of cells and materials", owner=owner, key="regions"
            )
        scale = check_sign(finite_number(given.get("scale", 1.0), owner, "scale"), owner, "scale")
        materials = {name: find(material) for name, material in regions.items()}
        return meshed_section(read_mesh(given["file"], "all"), materials, owner, scale)
    for key in ("scale", "regions"):
        if key in given:
            raise ModelError(f"{key} belongs to a file; patches have none", owner=owner, key=key)
    known: dict[str, tuple[int, Any]] = {}
    patches = _tables(given["patches"], ("corners", "n"), ("material", "angle"), owner, "patches")
    for patch in patches:
        corners = patch["corners"]
        if not isinstance(corners, (list, tuple)) or len(corners) != 4:
            raise ModelError(
                f"corners = {shown(corners)} must be 4 points, [y, z]", owner=owner, key="corners", value=corners
            )
        patch["corners"] = [_numbers(corner, 2, owner, "corners") for corner in corners]
        n = patch["n"]
        if not isinstance(n, (list, tuple)) or len(n) != 2 or not all(type(k) is int and 1 <= k <= 1000 for k in n):
            raise ModelError(f"n = {shown(n)} must be two whole numbers from 1", owner=owner, key="n", value=n)
        if patch.get("angle") is not None:
            patch["angle"] = finite_number(patch["angle"], owner, "angle")
            if patch["corners"][1] == patch["corners"][2]:
                raise ModelError("a patch with an angle needs a second side", owner=owner, key="corners")
        patch["material"] = _number_of(patch.get("material"), known, find)
    return mesh_of_patches(patches, [found for _, found in known.values()], owner)


def _number_of(name: str | None, known: dict[str, tuple[int, Any]], find: Find) -> int:
    """Return the number of a material among those ``known``, to which it is added; -1 for that of the beam."""
    if name is None:
        return -1
    if name not in known:
        known[name] = (len(known), find(name))
    return known[name][0]


def _read_walls(given: Mapping[str, Any], find: Find, owner: Owner) -> ThinWalls:
    if "walls" not in given:
        raise ModelError('shape "thin_walled" needs "walls"', owner=owner)
    known: dict[str, tuple[int, Any]] = {}
    ends, thickness, which = [], [], []
    for wall in _tables(given["walls"], ("points", "thickness"), ("material",), owner, "walls"):
        points = wall["points"]
        if not isinstance(points, (list, tuple)) or len(points) < 2:
            raise ModelError(f"points = {shown(points)} must be 2 points or more", owner=owner, key="points")
        line = np.array([_numbers(p, 2, owner, "points") for p in points])
        if (np.linalg.norm(np.diff(line, axis=0), axis=1) == 0.0).any():
            raise ModelError("a wall has two equal points one after the other", owner=owner, key="points", value=points)
        t = check_sign(finite_number(wall["thickness"], owner, "thickness"), owner, "thickness")
        number = _number_of(wall.get("material"), known, find)
        ends += list(np.stack((line[:-1], line[1:]), axis=1))
        thickness += [t] * (len(line) - 1)
        which += [number] * (len(line) - 1)
    for name, (_, material) in known.items():
        if not isinstance(material, Material):
            raise ModelError(f'thin walls need isotropic materials, "{name}" is none', owner=owner, remedy="use a mesh")
    walls = ThinWalls(np.array(ends), np.array(thickness), np.array(which), [m for _, m in known.values()])
    _check_walls(walls, owner)
    return walls


def _check_walls(walls: ThinWalls, owner: Owner) -> None:
    """Refuse walls that do not hang together at their ends, or make one straight line."""
    size = float(np.ptp(walls.ends.reshape(-1, 2), axis=0).max())
    keys = np.round(walls.ends.reshape(-1, 2) / (1e-7 * size))
    _, joint = np.unique(keys, axis=0, return_inverse=True)
    joint = joint.reshape(-1, 2)
    group = np.arange(int(joint.max()) + 1)
    for _ in range(len(joint)):
        low = np.minimum(group[joint[:, 0]], group[joint[:, 1]])
        before = group.copy()
        np.minimum.at(group, joint[:, 0], low)
        np.minimum.at(group, joint[:, 1], low)
        if (before == group).all():
            break
    if len(set(group.tolist())) > 1:
        raise ModelError(
            "its walls do not all touch", owner=owner, key="walls",
            remedy="walls meet where their points are equal; give a point where one ends on another",
        )  # fmt: skip
    a, way = walls.ends[:, 0], walls.ends[:, 1] - walls.ends[:, 0]
    length = np.linalg.norm(way, axis=1)
    arm = walls.ends.reshape(-1, 2)[:, None] - a
    along = np.einsum("kmi,mi->km", arm, way) / length**2
    across = np.abs(arm[..., 0] * way[:, 1] - arm[..., 1] * way[:, 0]) / length
    inside = (along > 1e-6) & (along < 1.0 - 1e-6) & (across < 1e-6 * size)
    if inside.any():
        place = walls.ends.reshape(-1, 2)[int(np.flatnonzero(inside.any(axis=1))[0])]
        raise ModelError(
            f"at [y, z] = {shown(place.tolist())} a wall ends inside of another", owner=owner, key="walls",
            remedy="give the other wall a point there",
        )  # fmt: skip
    spread = np.linalg.svd(walls.ends.reshape(-1, 2) - walls.ends.reshape(-1, 2).mean(axis=0), compute_uv=False)
    if spread[1] < 1e-9 * spread[0]:
        raise ModelError("its walls make one straight line", owner=owner, remedy='use shape "rectangle"')


def _read_tube(given: Mapping[str, Any], find: Find, owner: Owner) -> MeshedSection:
    for key in ("inner_diameter", "plies"):
        if key not in given:
            raise ModelError(f'shape "laminated_tube" needs "{key}"', owner=owner)
    inner = check_sign(finite_number(given["inner_diameter"], owner, "inner_diameter"), owner, "inner_diameter")
    plies = []
    for ply in _tables(given["plies"], ("material", "thickness"), ("angle",), owner, "plies"):
        t = check_sign(finite_number(ply["thickness"], owner, "thickness"), owner, "thickness")
        plies.append(Ply(find(ply["material"]), t, finite_number(ply.get("angle", 0.0), owner, "angle")))
    return mesh_of_tube(0.5 * inner, plies, owner)
