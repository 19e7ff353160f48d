"""Shells of the model builder: triangles and quadrilaterals of a mesh in space, with their sections and masses."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    LAYERS,
    NAME,
    NUMBER,
    NUMBER_OR_EXPRESSION,
    NUMBER_OR_SEVERAL,
    ORIENTATION,
    PLACES,
    TEXT,
    shown,
)
from fem_mbs.elements.shells.mass import mean_powers, pairs_of, shell_masses, surface_shares
from fem_mbs.elements.shells.membrane import membrane_rows
from fem_mbs.elements.shells.natural import CELLS as FLAT
from fem_mbs.elements.shells.stiffness import membrane_stiffness
from fem_mbs.elements.shells.surface import CELLS, CORNERS, area_vectors, curvatures, frames, normals, rows_of
from fem_mbs.elements.solids.mass import mass_rows
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.parts.cells import add_rows, cell_runs, kinds_of_cells
from fem_mbs.properties.shells import (
    Layer,
    ShellGroup,
    ShellSection,
    make_shell_section,
    residual_flexibility,
    side_angles,
)
from fem_mbs.properties.solids import SolidMaterial, solid_material_of

__all__ = ["Shell"]

ELEMENTS = ("standard", "membrane", "residual")
MASSES = ("consistent", "lumped")
#: Largest ratio of the stiffnesses of layers: beyond it round-off takes the softer ones.
_LIKE = 1e12


@dataclass(frozen=True, eq=False)
class Shell(Declaration):
    """Shells on triangles and quadrilaterals of a mesh in space.

    Add shells on the triangles (of 3 or 6 nodes) and quadrilaterals (of 4 or 8) of a mesh in space; nodes have
    positions and rotations.  The normal of an element follows from the order of its nodes by the right hand.

    Args:
        on: "mesh", "mesh:set", or a list of them.
        material: name of a material; of one layer.
        thickness: [m], a number, an expression of x, y, z of the nodes, one per element (n,), or one per node of every
            element (n, 3 to 8); linear between the nodes.
        layers: tables {"material", "thickness" [m], "angle" [degrees]}, from the bottom to the top along the normal;
            the angle turns the first axis of the material from that of the element about the normal.
        offset: distance [m] of the middle of the thickness from the nodes along the normal: a number, an expression, or
            one per element.
        orientation: direction whose projection is the first axis of the element, three numbers or expressions of x, y,
            z of the middle of the element, or (n, 3); None: the x axis, where that is the normal the y axis.
        shear_correction: factor on the transverse shear stiffness, one or one per axis; None: from equilibrium, 5/6 of
            a homogeneous section.
        bending_factor: on the bending stiffness of one material, 12 I/h^3, of plates whose core only holds their faces
            apart; stresses are those of the strains, linear over the thickness.
        bending_material: name of the material that resists curvatures, where it is another one than that of the
            membrane (homogenised ribs, holes); stresses are those of the first by the strains of the middle, and of
            this by the rest.
        element: "standard"; "membrane": without stiffness against bending and transverse shear, nodes have positions
            alone; "residual": quadrilaterals of 4 nodes have residual bending flexibility, as MSC Nastran's CQUAD4
            (`fem_mbs.properties.shells.residual_flexibility`), others are standard.
        mass: "consistent" or "lumped" (at the nodes).
        damping: proportional to stiffness, beta [s] (Kelvin-Voigt).
        mass_damping: proportional to mass, alpha [1/s].

    The group of results has the name of the part; a part of several kinds of cells has one for each, "NAME triangle",
    "NAME quad", "NAME triangle6" and "NAME quad8".

    Raises:
        ModelError: no such material or cells, cells of other kinds or of another part, cells that are flat or fold over
            themselves, values that are not positive.
    """

    owner = "Shell"

    name: str = key(NAME, "of the part and its results", shows='"shell 1", ...')
    on: Any = key(PLACES, "triangles and quadrilaterals of a mesh: mesh, mesh:set, or a list of them")
    material: str | None = key(TEXT, "name of a material", None, shows="**required**, or layers")
    thickness: Any = key(
        NUMBER_OR_EXPRESSION,
        "a number, or an expression of x, y, z of the nodes, linear between these",
        None,
        shows="**required**, or layers",
        unit="m",
    )
    layers: Any = key(
        LAYERS,
        "instead: {material, thickness, angle} from the bottom to the top along the normal",
        None,
        shows="none",
        kw_only=True,
        unit="m, deg",
    )
    offset: Any = key(
        NUMBER_OR_EXPRESSION,
        "distance of the middle of the thickness from the nodes along the normal",
        0.0,
        kw_only=True,
        unit="m",
    )
    orientation: Any = key(
        ORIENTATION,
        "direction whose projection is the first axis of the element, numbers or expressions of x, y, z of its middle",
        None,
        shows="x axis",
        kw_only=True,
    )
    shear_correction: Any = key(
        NUMBER_OR_SEVERAL,
        "factor on the transverse shear stiffness, one or one per axis",
        None,
        shows="from equilibrium",
        kw_only=True,
    )
    bending_factor: float = key(NUMBER, "factor on the bending stiffness of one material, 12 I/h^3", 1.0, kw_only=True)
    bending_material: str | None = key(
        TEXT, "that resists bending, of one material", None, shows="the material", kw_only=True
    )
    element: str = key(
        TEXT,
        '"standard"; "membrane": without bending, nodes have positions alone; "residual": quadrilaterals of 4 nodes '
        "whose sides bend as cubic polynomials",
        "standard",
        kw_only=True,
        choices=ELEMENTS,
    )
    mass: str = key(TEXT, '"consistent" or "lumped"', "consistent", kw_only=True, choices=MASSES)
    damping: float = key(NUMBER, "proportional to the stiffness, beta", 0.0, kw_only=True, unit="s")
    mass_damping: float = key(NUMBER, "proportional to the mass, alpha", 0.0, kw_only=True, unit="1/s")

    def build(self, building: Building) -> None:
        owner = building.label("Shell", self.name)
        if building.dimension != 3:
            raise ModelError("shells are for dimension = 3", owner=owner, remedy="in the plane use planes or beams")
        section, total = _section(building, owner, self)
        beta = building.number(self.damping, owner, "damping", 0.0)
        alpha = building.number(self.mass_damping, owner, "mass_damping", 0.0)
        runs = cell_runs(building, owner, self.on, 2)
        other = next((kind for _, _, kind, _ in runs if kind not in FLAT), None)
        if other is not None and self.element == "membrane":
            raise ModelError(
                f"there are no membranes for {other} cells",
                owner=owner,
                remedy=f"mesh with cells of first order ({', '.join(FLAT)})",
            )
        corners = [_corners(building, run) for run in runs]
        middles = np.concatenate([x.mean(axis=1) for x in corners])
        thickness = _thicknesses(owner, total if total else self.thickness, corners)
        offset = _values(building, owner, "offset", self.offset, middles)
        family = "shell"
        if self.element == "membrane":
            family = "membrane"
            if offset.any() or self.shear_correction is not None or self.bending_factor != 1.0:
                other = "bending_factor" if self.shear_correction is None else "shear_correction"
                key_ = "offset" if offset.any() else other
                raise ModelError(
                    f"membranes have no {key_}: they do not bend", owner=owner, key=key_,
                    remedy=f'remove {key_}, or use element = "standard"',
                )  # fmt: skip
        axis = _directions(building, owner, self.orientation, middles)
        groups = []
        for cells in kinds_of_cells(building, "Shell", self.name, runs):
            X = building.positions[cells.nodes]
            _check(owner, cells.kind, X, cells.ids)
            h = thickness[cells.where, : CELLS[cells.kind]]
            groups.append(
                ShellGroup(
                    name=cells.name,
                    part=self.name,
                    kind=cells.kind,
                    type=f"{family}_{cells.kind}",
                    nodes=cells.nodes,
                    places=cells.places,
                    ids=cells.ids,
                    section=section,
                    corners=h,
                    powers=mean_powers(X, h),
                    offset=offset[cells.where],
                    axes=frames(X, axis[cells.where]),
                    heat=np.zeros((*cells.nodes.shape, 2)),
                    curvature=np.zeros((*cells.nodes.shape, 2, 2)),
                )
            )
        if family == "shell":
            _set_drilling(building, groups)
        if self.element == "residual":
            for group in groups:
                if group.kind == "quad":
                    bending = group.stiffness[0][:, 3:, 3:]
                    group.residual = residual_flexibility(building.positions[group.nodes], group.axes, bending)
        for group in groups:
            if group.bends:
                matrix, _ = group.stiffness
                group.curvature = curvatures(building.positions[group.nodes], group.offset, group.axes, matrix)
            _add(building, group, beta, alpha, self.mass == "lumped")


def _section(building: Building, owner: Owner, shell: Shell) -> tuple[ShellSection, float]:
    """Return the section, and the thickness of all layers, 0 where there are none."""

    def material(name: Any) -> SolidMaterial:
        known = {**building.materials, **building.solid_materials}
        return solid_material_of(building.find("material", name, known, owner))

    correction = None
    if shell.shear_correction is not None:
        given = np.atleast_1d(np.asarray(shell.shear_correction, float))
        if given.shape not in ((1,), (2,)) or not (np.isfinite(given) & (given > 0.0)).all():
            raise ModelError(
                f"shear_correction = {shown(shell.shear_correction)} must be one or two numbers greater than 0",
                owner=owner, key="shear_correction", value=shell.shear_correction,
            )  # fmt: skip
        correction = [float(given[0]), float(given[-1])]
    factor = building.number(shell.bending_factor, owner, "bending_factor", 0.0, strict=True)
    if shell.layers is None:
        if shell.material is None or shell.thickness is None:
            missing = "material" if shell.material is None else "thickness"
            raise ModelError(f'"{missing}" is missing', owner=owner, key=missing, remedy="give it, or layers")
        bending = None if shell.bending_material is None else material(shell.bending_material)
        if bending is not None and shell.element == "membrane":
            raise ModelError("membranes do not bend", owner=owner, key="bending_material",
                             value=shell.bending_material, remedy="remove it")  # fmt: skip
        return make_shell_section([Layer(material(shell.material), 1.0)], correction, factor, bending), 0.0
    if shell.material is not None or shell.thickness is not None:
        key_ = "material" if shell.material is not None else "thickness"
        raise ModelError("layers have materials and thicknesses of their own", owner=owner, remedy=f"remove {key_}")
    alone = {"bending_factor": factor != 1.0, "bending_material": shell.bending_material is not None}
    for key_, there in alone.items():
        if there:
            raise ModelError(
                f"{key_} is for one material", owner=owner, key=key_, value=getattr(shell, key_),
                remedy="remove layers",
            )  # fmt: skip
    layers = []
    for i, layer in enumerate(shell.layers, 1):
        thickness = building.number(layer.get("thickness"), owner, f"thickness of layer {i}", 0.0, strict=True)
        angle = building.number(layer.get("angle", 0.0), owner, f"angle of layer {i}")
        layers.append(Layer(material(layer.get("material")), thickness, float(np.radians(angle))))
    peaks = [float(np.abs(layer.material.stiffness).max()) for layer in layers]
    if max(peaks) > _LIKE * min(peaks):
        raise ModelError(
            f"layer {peaks.index(max(peaks)) + 1} is {max(peaks) / min(peaks):.1e} times stiffer than layer "
            f"{peaks.index(min(peaks)) + 1}, which the sum of both cannot hold",
            owner=owner, key="layers",
            remedy=f"give stiffnesses within a factor {_LIKE:g}, or leave the softer one out",
        )  # fmt: skip
    return make_shell_section(layers, correction), sum(layer.thickness for layer in layers)


def _corners(building: Building, run) -> np.ndarray:
    mesh, block, _, cells = run
    part, start = building.meshes[mesh]
    return building.positions[start + part.blocks[block].cells[cells]]


def _thicknesses(owner: Owner, value: Any, corners: list[np.ndarray]) -> np.ndarray:
    """Return thicknesses (n, k) at the nodes of elements, whose positions (m, k, 3) are given in turn.

    They are those of a number, an expression of x, y, z, one number per element, or one per node of every element.

    The columns after the last node of an element hold its last value.
    """
    n, k = sum(len(x) for x in corners), max(x.shape[1] for x in corners)
    X = np.concatenate([np.pad(x, ((0, 0), (0, k - x.shape[1]), (0, 0)), "edge") for x in corners])
    if isinstance(value, str):
        found = np.broadcast_to(
            np.asarray(compile_expression(value, ("x", "y", "z"))(*np.moveaxis(X, 2, 0)), float), (n, k)
        )
    else:
        try:
            found = np.asarray(value, float)
        except (TypeError, ValueError):
            found = np.full(2, np.nan)
        if found.ndim == 1 and found.shape == (n,):
            found = found[:, None]
        if found.shape in ((), (n, 1), (n, k)):
            found = np.broadcast_to(found, (n, k)).copy()
            last = np.repeat([x.shape[1] for x in corners], [len(x) for x in corners])
            for column in range(1, k):
                found[:, column] = np.where(column < last, found[:, column], found[:, column - 1])
    if found.shape != (n, k) or not np.isfinite(found).all():
        raise ModelError(
            f"thickness = {shown(value)} must be a finite number, an expression of x, y, z, one per element ({n}), or "
            f"one per node of every element ({n}, {k})",
            owner=owner, key="thickness", value=value,
        )  # fmt: skip
    if (found <= 0.0).any():
        raise ModelError(
            f"thickness = {found.min():g} must be greater than 0",
            owner=owner, key="thickness", value=float(found.min()),
        )  # fmt: skip
    return found


def _values(building: Building, owner: Owner, key_: str, value: Any, x: np.ndarray) -> np.ndarray:
    """Return values (n,) of a number, an expression of the middles x (n, 3), or one number per element."""
    if isinstance(value, str):
        found = np.asarray(compile_expression(value, ("x", "y", "z"))(*x.T), float)
    else:
        try:
            found = np.asarray(value, float)
        except (TypeError, ValueError):
            found = np.full(2, np.nan)
    if found.shape not in ((), (len(x),)) or not np.isfinite(found).all():
        raise ModelError(
            f"{key_} = {shown(value)} must be a finite number, an expression of x, y, z, or one per element ({len(x)})",
            owner=owner, key=key_, value=value,
        )  # fmt: skip
    return np.broadcast_to(found, (len(x),)).copy()


def _directions(building: Building, owner: Owner, value: Any, x: np.ndarray) -> np.ndarray:
    """Return directions (n, 3) of the first axes."""
    if value is None:
        return np.broadcast_to(np.array((1.0, 0.0, 0.0)), x.shape)
    if np.ndim(value) == 2:
        found = np.asarray(value, float)
    elif not isinstance(value, str) and np.ndim(value) == 1 and len(value) == 3:
        found = np.column_stack([_values(building, owner, "orientation", entry, x) for entry in value])
    else:
        found = np.empty(0)
    if found.shape != x.shape or not np.isfinite(found).all() or not found.any(axis=1).all():
        raise ModelError(
            f"orientation = {shown(value)} must be 3 numbers or expressions of x, y, z, not all 0, or 3 numbers per "
            "element",
            owner=owner, key="orientation", value=value,
        )  # fmt: skip
    return found


def _check(owner: Owner, kind: str, X: np.ndarray, ids: np.ndarray) -> None:
    """Refuse cells without area, and those that fold over themselves."""
    n = CORNERS[X.shape[1]]
    if X.shape[1] == n:
        corner = np.stack([np.cross(X[:, (a + 1) % n] - X[:, a], X[:, a - 1] - X[:, a]) for a in range(n)], axis=1)
    else:
        corner = area_vectors(X)
    mean = corner.mean(axis=1)
    size = np.ptp(X, axis=1).max(axis=1) ** 2
    least = np.einsum("eac,ec->ea", corner, mean).min(axis=1)
    bad = np.flatnonzero(~(least > (1e-9 * size) ** 2))
    if bad.size:
        number = ids[bad[0]]
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise ModelError(
            f"{kind} {number}{more} has no area or folds over itself", owner=owner, key="cell", value=int(number),
            remedy="mend the mesh there",
        )  # fmt: skip


def _set_drilling(building: Building, groups: list[ShellGroup]) -> None:
    """Set the share of rotations about the normal in the strains of triangles.

    A facet of a curved surface with the side L and the angle phi to its neighbours would make membrane strains
    of the order L phi of a change of curvature, which lock where L phi is large against the thickness.
    """
    if all(group.kind != "triangle" for group in groups):
        return
    groups = [group for group in groups if group.nodes.shape[1] <= 4]
    a, b, smooth = side_angles(groups)
    angle = np.zeros(sum(group.nodes.size for group in groups))
    np.maximum.at(angle, a, smooth)
    np.maximum.at(angle, b, smooth)
    at = 0
    for group in groups:
        count = group.nodes.size
        phi = angle[at : at + count].reshape(group.nodes.shape).max(axis=1)
        X = building.positions[group.nodes]
        longest = ((X - np.roll(X, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
        group.drilling = 1.0 / (1.0 + longest * phi / group.thickness**2)
        at += count


def _add(building: Building, group: ShellGroup, beta: float, alpha: float, lumped: bool) -> None:
    """Add blocks of stiffness and mass of one kind of cells."""
    group.area = surface_shares(building.positions[group.nodes], lumped).sum(axis=(1, 2))
    group.mass = group.area * group.thickness * group.section.inertia[0]
    turned = None
    if group.bends and any(int(node) in building.rotations for node in np.unique(group.nodes)):
        turned = np.array([[building.rotation_matrix(int(node)) for node in row] for row in group.nodes])
    cells = _Cells(group, building.positions, turned)
    add_rows(building, group.name, group.type, group.nodes, _Stiffnesses(cells, beta), beta)
    if group.bends:
        building.rotational.update(np.unique(group.nodes).tolist())
    if group.section.inertia[0] > 0.0 and group.bends:
        ends = group.nodes[:, pairs_of(group.nodes.shape[1])].reshape(-1, 2)
        add_rows(building, group.name, "director_mass3", ends, _PairMasses(cells, alpha, lumped), alpha)
    elif group.section.inertia[0] > 0.0:
        kind = f"solid_{'lumped' if lumped else 'mass'}_{group.kind}"
        add_rows(building, group.name, kind, group.nodes, _Masses(cells, alpha, lumped), alpha)
    building.shell_groups[group.name] = group
    building.groups[group.name] = group.nodes


@dataclass(frozen=True, eq=False)
class _Cells:
    """The shells of a group, from which parameters are made.

    ``positions`` of all nodes; ``turned`` (n, k, 3, 3): rotation matrices of the elements' nodes at the start,
    None for identities.
    """

    group: ShellGroup
    positions: np.ndarray
    turned: np.ndarray | None

    def some(self, elements: np.ndarray) -> tuple[ShellGroup, np.ndarray, np.ndarray | None]:
        """Return the group of some elements alone, positions (k, nodes, 3) [m] and rotations of their nodes."""
        some = self.group.some(elements)
        return some, self.positions[some.nodes], None if self.turned is None else self.turned[elements]


@dataclass(frozen=True, eq=False)
class _Stiffnesses:
    """Makes parameters of stiffness of elements, as `Block.rows` does."""

    cells: _Cells
    beta: float

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        some, X, turned = self.cells.some(elements)
        if some.bends:
            return rows_of(X, some.offset, some.axes, *some.stiffness, some.drilling, self.beta, turned)
        matrix, _ = some.stiffness
        stiffness = membrane_stiffness(X, some.axes, matrix)
        return membrane_rows(X, stiffness.matrix, stiffness.middle, self.beta)


@dataclass(frozen=True, eq=False)
class _Masses:
    """Makes parameters of mass of membranes, as `Block.rows` does."""

    cells: _Cells
    alpha: float
    lumped: bool

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        some, X, _ = self.cells.some(elements)
        per_area = some.thickness * some.section.inertia[0]
        return mass_rows(per_area[:, None, None] * surface_shares(X, self.lumped), self.alpha, self.lumped)


@dataclass(frozen=True, eq=False)
class _PairMasses:
    """Makes parameters of mass of pairs of nodes of shells that bend, one element's after the other's, as `Block.rows`
    does."""

    cells: _Cells
    alpha: float
    lumped: bool

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        pairs = len(pairs_of(self.cells.group.nodes.shape[1]))
        elements, place = np.unique(numbers // pairs, return_inverse=True)
        some, X, turned = self.cells.some(elements)
        directors = normals(X)
        directors = directors if turned is None else np.einsum("eaji,eaj->eai", turned, directors)
        inertia = some.section.inertia * some.powers
        M = shell_masses(surface_shares(X, self.lumped), directors, inertia, some.offset)
        M = M[place.ravel(), numbers % pairs]
        rows, columns = np.triu_indices(8)
        total = M[:, 0, 0] + 2.0 * M[:, 0, 4] + M[:, 4, 4]
        return np.column_stack((total, np.full(total.size, self.alpha), M[:, rows, columns]))
