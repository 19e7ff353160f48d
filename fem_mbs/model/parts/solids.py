"""Solid and plane parts of the model builder: cells of a mesh, their materials, and loads on their faces.

Formulations, one switch per part (``element``):

    standard      full integration: C3D4, C3D10, C3D6, C3D15, C3D8, C3D20; CPS, CPE, CAX 3, 4, 6, 8
    incompatible  hexahedron: C3D8I, nine incompatible modes, bends without locking
    reduced       hexahedron20: C3D20R, wedge: one point over the triangle, quad8: CPS8R ...

Cells of a part without the variant keep the standard one; a part of which no cell has it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    FUNCTION,
    MATERIAL_AXES,
    NAME,
    NUMBER,
    NUMBER_OR_EXPRESSION,
    PLACES,
    TEXT,
    VELOCITY,
    shown,
)
from fem_mbs.declarations.steps import step_kind
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import loads as solid_loads
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import material as solid_material
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import DIMENSION, facets_of
from fem_mbs.model.building import Building
from fem_mbs.model.parts.cells import add_block, add_rows, cell_owners, cell_runs, kinds_of_cells
from fem_mbs.properties.shells import ShellGroup
from fem_mbs.properties.solids import SolidGroup, solid_material_of

__all__ = ["Plane", "Pressure", "Solid", "Traction", "check_masses"]

FORMULATIONS = ("standard", "incompatible", "reduced")
MASSES = ("consistent", "lumped", "reduced", "incompatible")
STATES = ("stress", "strain", "axisymmetric")
KINEMATICS = ("nonlinear", "linear")
_PIECE = 1 << 16
_FACES = {"line2": "line"}  # facet of a mesh -> cell of the load's element type


def _variant(family: str, kind: str, element: str) -> str:
    """Return element type of a kind of cell in a formulation; "" where there is none."""
    name = f"{family}_{kind}" + ("" if element == "standard" else f"_{element}")
    return name if name in (solid.KINDS if family == "solid" else solid_plane.KINDS) else ""


def _add_part(
    building: Building, part: Solid | Plane, owner: Owner, dimension: int, family: str, state: str = "",
    thickness: Any = 1.0,
) -> None:  # fmt: skip
    """Add the elements of a solid or plane part, and their masses.

    Args:
        dimension: of the cells, 3 or 2.
        family: of the element types: "solid", "plane" or "axisymmetric".
        state: of a plane part: "stress", "strain" or "axisymmetric".
        thickness: of a plane part [m], a number or one per element.

    Raises:
        ModelError: an option that these cells do not take; MeshError: cells that do not exist.
    """
    if part.mass == "incompatible" and part.element != "incompatible":
        raise ModelError(
            'mass = "incompatible" is that of incompatible modes',
            owner=owner,
            remedy='use element = "incompatible", or mass = "consistent"',
        )
    chosen = solid_material_of(
        building.find("material", part.material, {**building.materials, **building.solid_materials}, owner)
    )
    damping = building.number(part.damping, owner, "damping", 0.0)
    mass_damping = building.number(part.mass_damping, owner, "mass_damping", 0.0)
    runs = cell_runs(building, owner, part.on, dimension)
    count = sum(len(cells) for *_, cells in runs)
    orientation = part.orientation
    if isinstance(orientation, dict):
        orientation = _cylindrical_axes(building, owner, orientation, runs)
    axes = _material_axes(owner, orientation, count)
    if state == "axisymmetric":
        thickness = 2.0 * np.pi
    thick = _per_element(owner, "thickness", thickness, count)
    kinds = list(dict.fromkeys(kind for _, _, kind, _ in runs))
    if not any(_variant(family, kind, part.element) for kind in kinds):
        raise ModelError(
            f"no {part.element} elements for {', '.join(kinds)}", owner=owner, remedy='use element = "standard"'
        )
    for cells in kinds_of_cells(building, "Solid", part.name, runs):
        group = SolidGroup(
            name=cells.name, part=part.name, kind=cells.kind, rule="", type="", nodes=cells.nodes, places=cells.places,
            ids=cells.ids, material=chosen, state=state, thickness=thick[cells.where],
            axes=axes[cells.where] if axes is not None and axes.ndim == 3 else axes,
        )  # fmt: skip
        group.type = _variant(family, cells.kind, part.element) or _variant(family, cells.kind, "standard")
        table = solid.KINDS if family == "solid" else solid_plane.KINDS
        group.rule = table[group.type][1]
        _add_group(building, owner, group, part.kinematics == "nonlinear", part.mass, damping, mass_damping)


def _add_group(
    building: Building, owner, group: SolidGroup, nonlinear: bool, mass: str, beta: float, alpha: float
) -> None:
    """Add blocks of stiffness and mass of one kind of cells."""
    ring = group.state == "axisymmetric"
    meshes = " and ".join(dict.fromkeys(f'"{place[0]}"' for place in group.places))
    cells = _Cells(
        group.kind, group.rule, group.state, group.nodes, building.positions, group.material.stiffness, group.axes,
        group.thickness,
    )  # fmt: skip
    group.quality = cells.checked(f"{owner}, mesh {meshes}", group.ids)
    if group.state:
        try:
            cells.elasticity(np.arange(len(group.nodes)))
        except ValueError as error:
            raise ModelError(f"{error}", owner=owner) from error
    stiffness = _Stiffnesses(cells, float(nonlinear), beta)
    add_rows(building, group.name, group.type, group.nodes, stiffness, beta)
    lumped, points = mass == "lumped", group.rule if mass in ("reduced", "incompatible") else None
    family, form = "plane" if group.state else "solid", "lumped" if lumped else "mass"
    inside = None
    if mass == "incompatible" and group.type == "solid_hexahedron_incompatible":
        inside, form = stiffness, "condensed"
    density = group.material.density
    masses = _Masses(cells, density, alpha, lumped, ring, points, inside)
    group.nonlinear, group.volumes = nonlinear, masses.volumes
    if density > 0.0:
        add_rows(building, group.name, f"{family}_{form}_{group.kind}", group.nodes, masses, alpha)
    building.solid_groups[group.name] = group
    building.groups[group.name] = group.nodes


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of one kind, from which parameters are made.

    ``nodes`` (n, k); ``positions`` of all nodes; ``stiffness`` (6, 6) [Pa] of the material; ``axes`` and
    ``thicknesses`` are those of `SolidGroup`.
    """

    kind: str
    rule: str
    state: str
    nodes: np.ndarray
    positions: np.ndarray
    stiffness: np.ndarray
    axes: np.ndarray | None
    thicknesses: np.ndarray | None

    def x(self, elements: np.ndarray) -> np.ndarray:
        """Return the positions (k, nodes, dim) [m] of the nodes of some elements."""
        return self.positions[self.nodes[elements]]

    def elasticity(self, elements: np.ndarray) -> np.ndarray:
        """Return the stiffness of some elements in global axes: (k, ...), or one for all.

        Raises:
            ValueError: the plane of the part is no plane of symmetry of the material.
        """
        axes = self.axes if self.axes is None or self.axes.ndim == 2 else self.axes[elements]
        C = self.stiffness if axes is None else solid_material.turned(self.stiffness, _columns(axes))
        return solid_material.plane(C, self.state) if self.state else C

    def thickness(self, elements: np.ndarray) -> Any:
        return self.thicknesses[elements] if self.state and self.thicknesses is not None else 1.0

    def checked(self, owner: str, ids: np.ndarray) -> float:
        """Return the worst ratio of Jacobians in an element.

        Raises:
            ModelError: cells are flat or inside out.
        """
        ring, worst = self.state == "axisymmetric", 1.0
        for some in _pieces(len(self.nodes)):
            X = self.x(some)
            try:
                shapes.check_cells(self.kind, X, owner, ids[some], self.rule, axisymmetric=ring)
            except ModelError:  # the message counts all of them
                whole = self.x(np.arange(len(self.nodes)))
                shapes.check_cells(self.kind, whole, owner, ids, self.rule, axisymmetric=ring)
            worst = min(worst, float(shapes.smallest_jacobian(self.kind, X, self.rule).min()))
        return worst


@dataclass(frozen=True, eq=False)
class _Stiffnesses:
    """Makes parameters of stiffness of elements, as `Block.rows` does."""

    cells: _Cells
    nonlinear: float
    beta: float

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        cells = self.cells
        X, C = cells.x(elements), cells.elasticity(elements)
        if cells.state:
            return solid_plane.parameters(X, C, cells.thickness(elements), self.nonlinear, self.beta)
        return solid.parameters(X, C, self.nonlinear, self.beta)


@dataclass(frozen=True, eq=False)
class _Masses:
    """Makes parameters of mass of elements, as `Block.rows` does; ``inside``: those of stiffness, of elements whose
    incompatible modes have mass."""

    cells: _Cells
    density: float
    alpha: float
    lumped: bool
    ring: bool
    points: str | None
    inside: _Stiffnesses | None

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        par = self._of_volumes(elements)
        # (what follows are no masses)
        last = None if self.inside is None else solid_condensed.INSIDE
        par[:, solid_mass.MASS] *= self.density
        par[:, solid_mass.FIRST : last] *= self.density
        return par

    def _of_volumes(self, elements: np.ndarray) -> np.ndarray:
        if self.inside is not None:
            return solid_condensed.condensed_parameters(self.inside(elements), 1.0, self.alpha)
        cells = self.cells
        return solid_mass.mass_parameters(
            cells.kind, cells.x(elements), 1.0, self.alpha, cells.thickness(elements), self.lumped, self.ring,
            self.points,
        )  # fmt: skip

    def volumes(self) -> np.ndarray:
        """Return the volumes (n,) [m^3] of all cells."""
        pieces = _pieces(len(self.cells.nodes))
        return np.concatenate([np.empty(0), *(self._of_volumes(some)[:, solid_mass.MASS] for some in pieces)])


def _pieces(count: int) -> list[np.ndarray]:
    """Return the numbers of elements in pieces, which bound the memory of what is made of them."""
    return [np.arange(first, min(first + _PIECE, count)) for first in range(0, count, _PIECE)]


def check_masses(building: Building, steps: Any) -> None:
    """Refuse transients with masses that do not turn with their part."""
    moving = next((step for step in steps if step_kind(step.kind).passes_time), None)
    block = next((b for b in building.blocks if b.type.name in solid_condensed.TYPES), None)
    if moving is not None and block is not None:
        raise ModelError(
            f'mass = "incompatible" does not turn with the part, so step "{moving.name}" would not keep the '
            "angular momentum",
            owner=Owner("Solid", block.label(0)),
            remedy='use mass = "consistent", or a linear transient step',
        )


def _material_axes(owner: str, orientation, count: int) -> np.ndarray | None:
    if orientation is None:
        return None
    try:
        axes = np.asarray(orientation, float)
    except (TypeError, ValueError):
        axes = np.empty(0)
    if axes.shape not in ((3, 3), (count, 3, 3)):
        raise ModelError(
            f"orientation must be 3x3, material axes in rows, or one such matrix per element ({count}), not "
            f"of shape {axes.shape}",
            owner=owner,
        )
    error = np.abs(axes @ np.swapaxes(axes, -1, -2) - np.eye(3)).max(axis=(-1, -2))
    if not (error < 1e-6).all() or (np.linalg.det(axes) < 0.0).any():
        raise ModelError("orientation must hold right-handed unit vectors at right angles in its rows", owner=owner)
    return axes


def _cylindrical_axes(building: Building, owner: str, given: dict, runs) -> np.ndarray:
    """Return radial, tangential and axial directions (n, 3, 3) at the middles of cells."""
    if "axis" not in given or not set(given) <= {"axis", "point"}:
        raise ModelError(
            f'orientation = {shown(given)} must have the keys "axis" and "point"',
            owner=owner,
            key="orientation",
            value=given,
        )
    line = []
    for word, value in (("axis", given["axis"]), ("point", given.get("point", (0.0, 0.0, 0.0)))):
        v = np.asarray(value, float) if np.ndim(value) == 1 else np.empty(0)
        if v.shape != (3,) or not np.isfinite(v).all() or (word == "axis" and not v.any()):
            raise ModelError(
                f"orientation: {word} = {shown(value)} must be 3 finite numbers, of an axis not all 0", owner=owner
            )
        line.append(v)
    axis, point = line[0] / np.linalg.norm(line[0]), line[1]
    middles = [
        building.meshes[m][0].points[building.meshes[m][0].blocks[b].cells[c]].mean(axis=1) for m, b, _, c in runs
    ]
    radial = np.concatenate(middles) - point
    radial = radial - (radial @ axis)[:, None] * axis
    length = np.linalg.norm(radial, axis=1)
    if (length <= 1e-9 * length.max()).any():
        raise ModelError(
            "orientation: the middle of an element lies on the axis", owner=owner, remedy="move it or the axis"
        )
    radial /= length[:, None]
    return np.stack((radial, np.cross(axis, radial), np.broadcast_to(axis, radial.shape)), axis=1)


def _per_element(owner: str, key: str, value, count: int) -> np.ndarray:
    try:
        v = np.asarray(value, float)
    except (TypeError, ValueError):
        v = np.empty((0, 0))
    if v.shape not in ((), (count,)) or not np.isfinite(v).all() or (v <= 0.0).any():
        raise ModelError(f"{key} must be a number greater than 0, or one per element ({count})", owner=owner)
    return np.broadcast_to(v, (count,)).copy()


def _face_values(building: Building, owner: str, key: str, value, x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values (m,) of a load at the middles x (m, dim) of faces, which are numbers ``at`` of all its
    faces."""
    if isinstance(value, str):
        named = {c: x[:, i] for i, c in enumerate("xyz"[: building.dimension])}
        v = np.asarray(compile_expression(value, tuple(named))(*named.values()), float)
    else:
        try:
            v = np.asarray(value, float)
        except (TypeError, ValueError):
            v = np.full(2, np.nan)
        v = v[at] if v.ndim == 1 and len(v) > at.max() and at.size else v
    if v.shape not in ((), (len(x),)) or not np.isfinite(v).all():
        raise ModelError(
            f"{key} = {shown(value)} must be a finite number, an expression, or one per face",
            owner=owner,
            key=key,
            value=value,
        )
    return np.broadcast_to(v, (len(x),))


def _facets(building: Building, owner: str, on):
    """Yield faces that a load acts on: kind of facet, nodes (m, k), numbers in all, thickness (m,) or None, the
    group of their cells."""
    before = 0
    places = [on] if isinstance(on, str) else list(on)
    named: dict[tuple[str, int], set[tuple[int, int]]] = {}
    for place in places:
        mesh, colon, name = str(place).partition(":")
        part, start = building.find("mesh", mesh, building.meshes, owner)
        if not colon:
            sets = [*part.facet_sets]
            if building.dimension == 3:  # cells of shells
                surfaces = [b for b, block in enumerate(part.blocks) if DIMENSION[block.kind] == 2]
                sets += [
                    k for k, held in part.cell_sets.items() if k not in sets and {b for b, _ in held} & {*surfaces}
                ]
            known = ", ".join(f"{mesh}:{k}" for k in sets) or "none"
            raise ModelError(
                f'on = "{place}" must name a set of faces ("mesh:set")', owner=owner, remedy=f"there are {known}"
            )
        if name in part.cell_sets and name not in part.facet_sets and building.dimension == 3:
            for block, cells in part.cells_of(name, 2):
                if len(places) > 1:
                    _take(building, owner, named, mesh, block, cells, 0)
                yield from _surface(building, owner, str(place), mesh, block, np.asarray(cells), before)
                before += len(cells)
            continue
        for block, cells, facets in part.facets(name):
            if len(places) > 1:
                _take(building, owner, named, mesh, block, cells, facets)
            taken = cell_owners(building, mesh, block)[cells]
            if (taken < 0).any():
                number = part.blocks[block].ids[cells[np.argmax(taken < 0)]]
                raise ModelError(
                    f'"{place}" holds faces of cell {number}, which no solid or plane part uses',
                    owner=owner,
                    remedy="give the part before its loads",
                )
            kind = part.blocks[block].kind
            for g in np.unique(taken):
                group = building.cell_groups[g]
                if isinstance(group, ShellGroup):
                    raise ModelError(
                        f'"{place}" holds edges of shell "{group.part}"',
                        owner=owner,
                        remedy="name a set of its cells",
                    )
                mine = np.flatnonzero(taken == g)
                thickness = None
                if group.state:
                    elements = group.elements(mesh, block, len(part.blocks[block].cells))
                    thickness = group.thickness[elements[cells[mine]]]
                table = part.blocks[block].cells[cells[mine]]
                for facet, rows, nodes in facets_of(kind, table, facets[mine]):
                    yield (
                        facet, start + nodes, before + mine[rows],
                        None if thickness is None else thickness[rows], group,
                    )  # fmt: skip
            before += len(cells)


def _take(
    building: Building, owner: str, taken: dict, mesh: str, block: int, cells: np.ndarray, facets: np.ndarray | int
) -> None:
    """Enter faces of a set among those ``taken`` by the sets before it, by mesh and block.

    Raises:
        ModelError: a set before it holds one of them, so that the load would act on this face twice.
    """
    mine = np.column_stack(np.broadcast_arrays(cells, facets))
    before = taken.setdefault((mesh, block), set())
    faces = {(int(cell), int(facet)) for cell, facet in mine}
    if twice := faces & before:
        number = building.meshes[mesh][0].blocks[block].ids[min(twice)[0]]
        raise ModelError(
            f'a face of cell {number} of mesh "{mesh}" is named twice in on', owner=owner,
            remedy="keep one of the sets",
        )  # fmt: skip
    before |= faces


def _surface(building: Building, owner: str, place: str, mesh: str, block: int, cells: np.ndarray, before: int):
    """Yield facets as `_facets` does, for cells of shells, whose faces are on top, along the normal."""
    part, start = building.meshes[mesh]
    taken = cell_owners(building, mesh, block)[cells]
    groups = building.cell_groups
    for g in np.unique(taken):
        if g < 0 or not isinstance(groups[g], ShellGroup):
            number = part.blocks[block].ids[cells[np.argmax(taken == g)]]
            raise ModelError(
                f'"{place}" holds cell {number}, which is no shell',
                owner=owner,
                remedy="give the shell before its loads, or name a set of faces",
            )
        mine = np.flatnonzero(taken == g)
        nodes = start + part.blocks[block].cells[cells[mine]]
        yield part.blocks[block].kind, nodes, before + mine, None, groups[g]


# Keys that solids and plane parts share.
_AXES_TEXT = "material axes in rows; or {axis = [...], point = [...]}: radial, tangential and axial ones about an axis"


def _element_key() -> Any:
    return key(
        TEXT,
        '"standard" (full integration), "incompatible" (hexahedra: incompatible modes) or "reduced" (hexahedron20, '
        "quad8, wedge)",
        "standard",
        kw_only=True,
        choices=FORMULATIONS,
    )


def _kinematics_key() -> Any:
    return key(
        TEXT,
        '"nonlinear" (large displacements, total-Lagrangian) or "linear"',
        "nonlinear",
        kw_only=True,
        choices=KINEMATICS,
    )


def _mass_key() -> Any:
    return key(
        TEXT,
        '"consistent", "lumped" or "reduced" (consistent, with the points of the stiffness); of element = '
        '"incompatible" also "incompatible" (with that of the modes within elements; for linear steps)',
        "consistent",
        kw_only=True,
        choices=MASSES,
    )


@dataclass(frozen=True, eq=False)
class Solid(Declaration):
    """Solid elements on the cells of a mesh.

    Add solid elements on the tetrahedra, hexahedra and wedges of a mesh.

    Args:
        on: "mesh", "mesh:set", or a list of them.
        material: name of a `material` or a `solid_material`.
        element: "standard", "incompatible" or "reduced"; see `fem_mbs.model.parts.solids`.
        orientation: material axes in the rows of (3, 3), or of (n, 3, 3), one per element in the order of the cells
            (sets in the order given, blocks of the mesh in order); or {"axis": (3,), "point": (3,)}: radial,
            tangential and axial ones about a line, at the middles of the elements; None: the global axes.
        kinematics: "nonlinear" (total-Lagrangian, large displacements) or "linear" (small ones).
        mass: "consistent", "lumped", or "reduced": consistent, with the integration points of the stiffness, as
            CalculiX integrates all its solids (singular in parts with fewer points than nodes); of
            element = "incompatible" also "incompatible": with that of the modes within elements, as CalculiX has,
            for linear steps (see `fem_mbs.elements.solids.condensed`); other cells of the part have "reduced".
        damping: proportional to stiffness, beta [s] (Kelvin-Voigt).
        mass_damping: proportional to mass, alpha [1/s].

    The group of results has the name of the part; a part of several kinds of cells has one per kind, "NAME kind".

    Raises:
        ModelError: no such material or cells, cells that belong to another part, or are flat or inside out (named
            by their number in the mesh), orientation without right angles.
    """

    owner = "Solid"

    name: str = key(NAME, "of the part and its results", shows='"solid 1", ...')
    on: Any = key(PLACES, "tetrahedra, hexahedra and wedges of a mesh: mesh, mesh:set, or a list of them")
    material: str = key(TEXT, "name of a material")
    element: str = _element_key()
    orientation: Any = key(MATERIAL_AXES, _AXES_TEXT, None, shows="global axes", kw_only=True)
    kinematics: str = _kinematics_key()
    mass: str = _mass_key()
    damping: float = key(NUMBER, "proportional to the stiffness, beta", 0.0, kw_only=True, unit="s")
    mass_damping: float = key(NUMBER, "proportional to the mass, alpha", 0.0, kw_only=True, unit="1/s")

    def build(self, building: Building) -> None:
        owner = building.label("Solid", self.name)
        if building.dimension != 3:
            raise ModelError("solids are for dimension = 3", owner=owner, remedy="in the plane use planes")
        _add_part(building, self, owner, 3, "solid")


@dataclass(frozen=True, eq=False)
class Plane(Declaration):
    """Elements of plane stress, plane strain or rotational symmetry.

    Add elements of plane stress, plane strain or rotational symmetry on triangles and quadrilaterals.

    Args:
        state: "stress", "strain" or "axisymmetric" (about the y axis, x the radius; forces and masses are those of
            the whole ring).
        thickness: [m], a number or one per element; not of axisymmetric parts.

    The others as for `solids`; the plane must be a plane of symmetry of the material.
    """

    owner = "Plane part"

    name: str = key(NAME, "of the part and its results", shows='"plane 1", ...')
    on: Any = key(PLACES, "triangles and quadrilaterals of a mesh: mesh, mesh:set, or a list of them")
    material: str = key(TEXT, "name of a material")
    state: str = key(
        TEXT,
        '"stress", "strain" or "axisymmetric" (about the y axis; forces of the whole ring)',
        "stress",
        kw_only=True,
        choices=STATES,
    )
    thickness: Any = key(NUMBER, "not of axisymmetric parts", 1.0, kw_only=True, unit="m")
    element: str = _element_key()
    orientation: Any = key(MATERIAL_AXES, _AXES_TEXT, None, shows="global axes", kw_only=True)
    kinematics: str = _kinematics_key()
    mass: str = _mass_key()
    damping: float = key(NUMBER, "proportional to the stiffness, beta", 0.0, kw_only=True, unit="s")
    mass_damping: float = key(NUMBER, "proportional to the mass, alpha", 0.0, kw_only=True, unit="1/s")

    def build(self, building: Building) -> None:
        owner = building.label("Plane part", self.name)
        if building.dimension != 2:
            raise ModelError("plane elements are for dimension = 2", owner=owner, remedy="in space use solids")
        ring = self.state == "axisymmetric"
        if ring and not (np.ndim(self.thickness) == 0 and self.thickness == 1.0):
            raise ModelError("an axisymmetric part is a whole ring", owner=owner, remedy="remove thickness")
        family = "axisymmetric" if ring else "plane"
        _add_part(building, self, owner, 2, family, self.state, self.thickness)


@dataclass(frozen=True, eq=False)
class Pressure(Declaration):
    """Pressures on faces of solids, edges of plane parts and shells.

    Apply a pressure [Pa] on faces of solids or edges of plane parts, against the outward normal, or on shells, against
    their normal, which it follows: value * f(t).

    Args:
        on: "mesh:set" of a facet set, of shells a set of cells, or a list of them; the cells must have elements.
        value: a number, an expression of x, y, z of the middle of the face, or one number per face.
        integration: "exact", or "reduced": on faces of solids with the few points that CalculiX takes for elements
            like theirs, which differs where faces are distorted or curved.

    Raises:
        ModelError: no such facet set, faces of cells without elements, values that are not finite.
    """

    owner = "Pressure"

    name: str = key(NAME, "in messages and results", shows='"pressure 1", ...')
    on: Any = key(PLACES, "mesh:set of faces of solids, edges of plane parts or cells of shells, or a list of them")
    value: Any = key(
        NUMBER_OR_EXPRESSION,
        "against the outward normal, which it follows; expressions of x, y, z of the middle of a face",
        unit="Pa",
    )
    function: Any = key(FUNCTION, "factor on it", None, shows="1.0")
    integration: str = key(
        TEXT,
        '"exact", or "reduced": on faces of solids with the few points that CalculiX takes',
        "exact",
        choices=("exact", "reduced"),
    )

    def build(self, building: Building) -> None:
        owner = building.label("Pressure", self.name)
        index = float(building.function_index(self.function, owner, load=True))
        for facet, nodes, at, thickness, group in _facets(building, owner, self.on):
            p = _face_values(building, owner, "value", self.value, building.positions[nodes].mean(axis=1), at)
            columns = [np.full(len(nodes), index), p] + ([thickness] if building.dimension == 2 else [])
            ring = group.state == "axisymmetric"
            kind = f"{'axisymmetric_' if ring else ''}pressure_{_FACES.get(facet, facet)}"
            if self.integration == "reduced" and not group.state:
                kind += solid_loads.reduced_face(group.kind, group.rule, facet)
            add_block(building, self.name, kind, nodes, np.column_stack(columns))


@dataclass(frozen=True, eq=False)
class Traction(Declaration):
    """Dead loads on faces of solids, edges of plane parts and shells.

    Apply a traction [Pa] on faces of solids, edges of plane parts or shells, constant in direction: vector * f(t), per
    area of the undeformed face.

    Args:
        vector: (dimension,) numbers, expressions of x, y, z of the middle of the face, or numbers per face.

    The others as for `pressure`.
    """

    owner = "Traction"

    name: str = key(NAME, "in messages and results", shows='"traction 1", ...')
    on: Any = key(PLACES, "mesh:set of faces of solids, edges of plane parts or cells of shells, or a list of them")
    vector: Any = key(
        VELOCITY, "per undeformed area, fixed in direction; expressions of x, y, z of the middle of a face", unit="Pa"
    )
    function: Any = key(FUNCTION, "factor on it", None, shows="1.0")

    def build(self, building: Building) -> None:
        owner = building.label("Traction", self.name)
        if isinstance(self.vector, str) or np.ndim(self.vector) < 1 or len(self.vector) != building.dimension:
            raise ModelError(
                f"vector = {shown(self.vector)} must be {building.dimension} numbers or expressions",
                owner=owner,
                key="vector",
                value=self.vector,
            )
        index = float(building.function_index(self.function, owner, load=True))
        for facet, nodes, at, thickness, group in _facets(building, owner, self.on):
            ring = group.state == "axisymmetric"
            X = building.positions[nodes]
            t = np.column_stack([_face_values(building, owner, "vector", v, X.mean(axis=1), at) for v in self.vector])
            face = _FACES.get(facet, facet)
            par = solid_loads.traction_parameters(
                face, X, t, index, 1.0 if thickness is None else thickness, axisymmetric=ring
            )
            add_block(building, self.name, f"traction_{face}", nodes, par)


def _columns(axes: np.ndarray) -> np.ndarray:
    return np.swapaxes(axes, -1, -2)
