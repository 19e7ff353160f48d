"""Flexible parts, rigid bodies, masses and springs of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    CELLS,
    FLAG,
    INERTIA,
    NAME,
    NUMBER,
    PAIRS,
    PLACE,
    PLACES,
    SHAPES,
    STOPS,
    TABLE_POINTS,
    TEXT,
    VECTOR,
    shown,
)
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import spring_on
from fem_mbs.model.connections.spring_laws import INTERPOLATIONS, SLIDERS, exponent_key, law_of, unloading_key
from fem_mbs.model.parts.beams import director_columns, line_mass, line_stiffness
from fem_mbs.model.parts.visuals import visuals_of
from fem_mbs.model.records import Body
from fem_mbs.properties.beams import SectionLine
from fem_mbs.properties.stresses import LineGroup
from fem_mbs.rotations import rotation_matrices
from fem_mbs.system.blocks import GROUND

__all__ = ["PointMass", "RigidBody", "Spring", "TorsionSpring", "Truss", "add_eccentric"]

TRUSS_STRAINS = {"corotational": 0, "green": 1, "average": 2}


def inertia_columns(J: np.ndarray) -> dict[str, float]:
    return {f"J{c}": J["xyz".index(c[0]), "xyz".index(c[1])] for c in ("xx", "yy", "zz", "xy", "yz", "zx")}


def _inertia_matrix(inertia, owner: str) -> np.ndarray:
    try:
        J = np.asarray(inertia, float)
    except (TypeError, ValueError):
        J = np.empty(0)
    J = np.diag(J) if J.shape == (3,) else J
    if J.shape != (3, 3) or not np.isfinite(J).all() or not np.allclose(J, J.T):
        raise ModelError(
            f"inertia = {shown(inertia)} must be 3 numbers or a symmetric 3x3 matrix",
            owner=owner,
            key="inertia",
            value=inertia,
        )
    a, b, c = np.linalg.eigvalsh(J)
    if a < 0.0 or c > (a + b) * (1.0 + 1e-9):
        raise ModelError(
            f"principal moments of inertia ({a:g}, {b:g}, {c:g}) belong to no mass distribution",
            owner=owner,
            remedy="each must be positive and at most the sum of the other two",
        )
    return J


def add_eccentric(building: Building, name: str, nodes, mass: float, a: np.ndarray, J: np.ndarray) -> None:
    """Add masses at the offsets a (n, 3) (body axes), with the inertia J about them.

    Mass centre x + R a, Euler tensor of the directors; the other end is the ground, which takes no part.
    """
    M = np.zeros((len(nodes), 8, 8))
    place = np.concatenate([np.ones((len(nodes), 1)), a], axis=1)
    M[:, :4, :4] = mass * place[:, :, None] * place[:, None, :]
    M[:, 1:4, 1:4] += 0.5 * np.trace(J) * np.eye(3) - J
    ends = np.column_stack([nodes, np.full(len(nodes), GROUND)])
    building.add_block(name, "director_mass3", ends, mass=mass, **director_columns(M))


@dataclass(frozen=True, eq=False)
class Truss(Declaration):
    """Trusses and cables on the line cells of a mesh.

    Add trusses, or with ``tension_only`` cables, on line cells; see `fem_mbs.elements.springs.truss`.

    Args:
        strain: "corotational", "green" (total-Lagrangian) or "average" (mean unit vectors, for comparison).
        prestress: axial force at the start [N].
        damping: of the rate of length [N s/m].
        mass_damping: proportional to the mass, alpha [1/s].
        mass: "lumped" or "consistent" (linear).
    """

    owner = "Truss"

    name: str = key(NAME, "of the group of elements", shows='"truss 1", ...')
    on: Any = key(CELLS, "line cells of the trusses or cables")
    section: str = key(TEXT, "name of a section")
    material: str | None = key(TEXT, 'name of a material; not needed by sections of shape "stiffness"', None)
    strain: str = key(
        TEXT,
        '"corotational", "green" (total-Lagrangian) or "average" (to compare)',
        "corotational",
        choices=TRUSS_STRAINS,
    )
    tension_only: bool = key(FLAG, "a cable: no force in compression", False)
    prestress: float = key(NUMBER, "axial force at the start", 0.0, unit="N")
    damping: float = key(NUMBER, "of the rate of length", 0.0, unit="N s/m")
    mass_damping: float = key(NUMBER, "proportional to the mass, alpha", 0.0, unit="1/s")
    mass: str = key(TEXT, '"lumped" or "consistent" (linear)', "lumped", choices=("lumped", "consistent"))

    def build(self, building: Building) -> None:
        owner = building.label("Truss", self.name)
        s = line_stiffness(building, owner, self.material, self.section, "truss")
        cells = building.line_cells(owner, self.on)
        x = building.positions
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        building.add_block(
            self.name,
            f"truss{building.dimension}",
            cells,
            EA=s.EA,
            length=length,
            strain=float(TRUSS_STRAINS[self.strain]),
            tension_only=float(self.tension_only),
            prestress=building.number(self.prestress, owner, "prestress"),
            damping=building.number(self.damping, owner, "damping", 0.0),
        )
        building.groups[self.name] = cells
        cross = building.sections[self.section]
        material = None if self.material is None else building.plain_material(owner, self.material)
        zero = np.zeros(len(cells))
        building.line_groups[self.name] = LineGroup(
            self.name, SectionLine(cross, cross, material), zero, zero + 1.0, length, truss=True
        )
        if s.rhoA > 0.0:
            alpha = building.number(self.mass_damping, owner, "mass_damping", 0.0)
            line_mass(building, self.name, cells, s.rhoA * length, np.zeros_like(length), self.mass, alpha)


@dataclass(frozen=True, eq=False)
class RigidBody(Declaration):
    """Rigid bodies.

    Add a rigid body with its node at the mass centre.

    Args:
        inertia: plane: about the mass centre; space: (3,) principal or (3, 3), in body axes [kg m^2].
        angle: plane: rotation of the body axes at the start [rad].
        rotation: space: axis times angle of the body axes at the start, (3,) [rad].
        visual: surfaces that are drawn, without any effect on the motion: a file, a table, or a list of them.
    """

    owner = "Body"

    name: str = key(NAME, "by which other tables call it")
    position: Any = key(VECTOR, "of the mass centre at the start", unit="m")
    mass: float = key(NUMBER, "", unit="kg")
    inertia: Any = key(
        INERTIA, "about the mass centre; in space 3 principal or 3x3 moments in body axes", unit="kg m^2"
    )
    angle: float = key(NUMBER, "plane: rotation of the body axes at the start", 0.0, unit="rad")
    rotation: Any = key(VECTOR, "space: axis times angle of the body axes at the start", None, shows="none", unit="rad")
    visual: Any = key(
        SHAPES,
        "what `show`, figures and animations draw: an STL or OBJ file, a table {file, scale} or "
        '{shape = "box", size}, {shape = "cylinder", radius, length} (about z), {shape = "sphere", radius}, each with '
        "position, rotation (axis times angle) and colour, in body axes from the mass centre; or a list of these",
        None,
        shows="lines to its joints",
        kw_only=True,
    )

    def build(self, building: Building) -> None:
        mass = self.mass
        inertia = self.inertia
        building.new_place("Body", self.name)
        owner = building.label("Body", self.name)
        x = building.vector(self.position, owner, "position")
        mass = building.number(mass, owner, "mass", 0.0)
        node = building.add_nodes(x[None, :])
        building.names.add(self.name, None, 1)
        building.bodies[self.name] = Body(self.name, node, visuals=visuals_of(self.visual, owner))
        building.rotational.add(node)
        for word, where, other in (("rotation", 3, "angle"), ("angle", 2, "rotation")):
            if np.any(getattr(self, word)) and building.dimension != where:
                raise ModelError(
                    f"{word} is for {'space' if where == 3 else 'the plane'}",
                    owner=owner,
                    key=word,
                    value=getattr(self, word),
                    remedy=f"give {other}",
                )
        if building.dimension == 2:
            building.rotations[node] = building.number(self.angle, owner, "angle")
            inertia = building.number(inertia, owner, "inertia", 0.0)
            building.add_block(self.name, "mass2", [[node]], mass=mass, inertia=inertia)
            return
        J = _inertia_matrix(inertia, owner)
        if self.rotation is not None:
            building.rotations[node] = rotation_matrices(building.vector(self.rotation, owner, "rotation"))
        building.add_block(self.name, "rigid3", [[node]], mass=mass, **inertia_columns(J))


@dataclass(frozen=True, eq=False)
class PointMass(Declaration):
    """Masses at nodes.

    Add a mass at a node or at each node of a set.

    Args:
        inertia: about the mass centre, where the node rotates: plane a number; space (3,) principal or (3, 3), in
            the node's body axes (the global ones at the start, unless the node is a turned body's) [kg m^2].
        offset: space: of the mass centre from the node, global axes of the start, turning with the node [m].
    """

    owner = "Point mass"

    name: str = key(NAME, "in messages and results", shows='"point_mass 1", ...')
    at: Any = key(PLACES, "on each node of it")
    mass: float = key(NUMBER, "", unit="kg")
    inertia: Any = key(
        INERTIA,
        "about the mass centre: plane a number; space 3 principal or 3x3, in the node's axes: "
        "the global ones at the start, of a body its own",
        0.0,
        unit="kg m^2",
    )
    offset: Any = key(
        VECTOR,
        "space: of the mass centre from the node, in global axes at the start, turning with it",
        None,
        shows="none",
        unit="m",
    )

    def build(self, building: Building) -> None:
        mass = self.mass
        owner = building.label("Point mass", self.name)
        nodes = building.each_of(self.at, owner)
        mass = building.number(mass, owner, "mass", 0.0)
        if building.dimension == 2:
            if self.offset is not None:
                raise ModelError(
                    "an offset is for space", owner=owner, remedy="in the plane use a body joined by a weld"
                )
            building.add_block(
                self.name, "mass2", nodes, mass=mass, inertia=building.number(self.inertia, owner, "inertia", 0.0)
            )
            return
        if np.ndim(self.inertia) == 0:
            if building.number(self.inertia, owner, "inertia") != 0.0:
                raise ModelError(
                    f"inertia = {shown(self.inertia)} is for the plane",
                    owner=owner,
                    key="inertia",
                    value=self.inertia,
                    remedy="in space give 3 numbers or 3x3",
                )
            J = np.zeros((3, 3))
        else:
            J = _inertia_matrix(self.inertia, owner)
        arm = np.zeros(3) if self.offset is None else building.vector(self.offset, owner, "offset")
        if not J.any() and not arm.any():
            building.add_block(self.name, "mass3", nodes, mass=mass)
            return
        building.needs_rotation += [(owner, int(node)) for node in nodes]
        if not arm.any():
            building.add_block(self.name, "rigid3", nodes, mass=mass, **inertia_columns(J))
            return
        add_eccentric(
            building,
            self.name,
            nodes,
            mass,
            np.array([R.T @ arm for R in building.rotation_matrices(nodes)]),
            J,
        )


@dataclass(frozen=True, eq=False)
class Spring(Declaration):
    """Spring-dampers between two points.

    Add a spring-damper between two points: stiffness [N/m], damping [N s/m], free length (None: that of the
    start).

    Args:
        cubic: k3 [N/m^3] of a force k3 x^3, x = length - free length, which adds to the others.
        preload: force at x = 0 [N], tension positive.
        table: (k, 2), x [m], rising, and force [N]; beyond its ends it goes on along its last slopes.
        interpolation: of the table, "linear" or "spline" (natural, cubic).
        damping_table: (k, 2), rate [m/s] and force [N], linear in between.
        stops: least and largest length [m], -inf or inf where there is none.
        stop_stiffness: of the stops [N/m].
        stop_damping: b [s/m] of their force k y (1 + b y'), y the overlap (Hunt & Crossley 1975); never below zero.
        yield_force: the force [N] beyond which the spring flows; what flows is lost, and the rest springs back.
        hardening: tangent stiffness [N/m] beyond it, less than the stiffness (kinematic hardening).
        exponent: n >= 1 of the law of Bouc & Wen, with which the force approaches the yield force smoothly; None: the
            spring yields at once.
        unloading: beta/(beta + gamma) of that law, at least 1/2, where it unloads along its stiffness.
        sliders: pairs (n, 2) of stiffness [N/m] and yield force [N] of springs that slip, in parallel to the stiffness
            (Iwan 1966).
    """

    owner = "Spring"

    name: str = key(NAME, "in messages and results", shows='"spring 1", ...')
    a: str | int = key(PLACE, "one end")
    b: str | int = key(PLACE, "other end")
    stiffness: float | None = key(NUMBER, "", None, shows="0", unit="N/m")
    damping: float = key(NUMBER, "", 0.0, unit="N s/m")
    length: float | None = key(NUMBER, "free length", None, shows="that of the start", unit="m")
    point_a: Any = key(VECTOR, "where on a, in global coordinates of the start", None, shows="its node", unit="m")
    point_b: Any = key(VECTOR, "where on b", None, shows="its node", unit="m")
    cubic: float = key(NUMBER, "k of a force k x^3, x the length less the free length", 0.0, kw_only=True, unit="N/m^3")
    preload: float = key(NUMBER, "force at x = 0", 0.0, kw_only=True, unit="N")
    table: Any = key(
        TABLE_POINTS, "[x, force]; goes on along its last slopes", None, shows="none", kw_only=True, unit="m, N"
    )
    interpolation: str = key(
        TEXT, 'of the table: "linear" or "spline" (natural, cubic)', "linear", kw_only=True, choices=INTERPOLATIONS
    )
    damping_table: Any = key(
        TABLE_POINTS, "[rate, force], linear in between", None, shows="none", kw_only=True, unit="m/s, N"
    )
    stops: Any = key(STOPS, "least and largest length, inf for none", None, shows="none", kw_only=True, unit="m")
    stop_stiffness: float | None = key(
        NUMBER, "of the stops", None, shows="required by stops", kw_only=True, unit="N/m"
    )
    stop_damping: float = key(
        NUMBER, "b of the stops' force k y (1 + b y') with the overlap y", 0.0, kw_only=True, unit="s/m"
    )
    yield_force: float | None = key(
        NUMBER, "beyond which it flows: a plastic hinge, a spring in series with dry friction", None, shows="none",
        kw_only=True, unit="N",
    )  # fmt: skip
    hardening: float = key(
        NUMBER, "tangent stiffness beyond the yield force (kinematic hardening)", 0.0, kw_only=True, unit="N/m"
    )
    exponent: float | None = exponent_key()
    unloading: float | None = unloading_key()
    sliders: Any = key(PAIRS, SLIDERS, None, shows="none", kw_only=True, unit="N/m, N")

    def build(self, building: Building) -> None:
        length = self.length
        owner = building.label("Spring", self.name)
        node_a, off_a = building.point(self.a, self.point_a, owner, key="point_a")
        node_b, off_b = building.point(self.b, self.point_b, owner, key="point_b")
        if node_a == node_b and np.allclose(off_a, off_b):
            raise ModelError(f'both ends are the same point of "{self.a}"', owner=owner)
        if length is None:
            length = float(np.linalg.norm(building.global_point(node_b, off_b) - building.global_point(node_a, off_a)))
        length = building.number(length, owner, "length", 0.0)
        names = "xyz"[: building.dimension]
        columns = {
            f"a{c}_{end}": float(v)
            for end, offset in (("a", off_a), ("b", off_b))
            for c, v in zip(names, offset, strict=True)
        }
        found = law_of(building, owner, self)
        nodes = [[node_a, node_b]]
        if found.linear:
            kind = f"spring{building.dimension}"
            building.add_block(
                self.name, kind, nodes, stiffness=found.stiffness, damping=found.damping, length=length, **columns
            )
            return
        kind = f"{found.family}_spring{building.dimension}{found.suffix}"
        building.add_block(self.name, kind, nodes, found.table, free=length, **columns, **found.columns)


@dataclass(frozen=True, eq=False)
class TorsionSpring(Declaration):
    """Torsional spring-dampers between two parts.

    Add a torsional spring-damper [N m/rad], [N m s/rad] on the angle by which b turns more than a since the
    start.

    ``angle`` is the relative angle at which it is free [rad]; ``axis`` (space only) its axis at the start; the
    others as for `spring`, over the angle less the free one [rad]; ``stops`` are angles since the start.

    In space the angle is the twist about the axis: b stands in a as if it had first turned about the axis by this
    angle, and then tilted about a direction across it.  Its moment is along the mean of the axis in a and in b, so it
    also bends parts that tilt.  Tilting by half a turn is the limit.
    """

    owner = "Torsion spring"

    name: str = key(NAME, "in messages and results", shows='"torsion_spring 1", ...')
    a: str | int = key(PLACE, "one end")
    b: str | int = key(PLACE, "other end, whose angle against a counts")
    stiffness: float | None = key(NUMBER, "", None, shows="0", unit="N m/rad")
    damping: float = key(NUMBER, "", 0.0, unit="N m s/rad")
    angle: float = key(NUMBER, "relative angle since the start at which it is free", 0.0, unit="rad")
    axis: Any = key(
        VECTOR,
        "space: its axis at the start, fixed in both parts",
        None,
        shows="required in space",
    )
    cubic: float = key(
        NUMBER, "k of a force k x^3, x the angle less the free angle", 0.0, kw_only=True, unit="N m/rad^3"
    )
    preload: float = key(NUMBER, "force at x = 0", 0.0, kw_only=True, unit="N m")
    table: Any = key(
        TABLE_POINTS, "[x, force]; goes on along its last slopes", None, shows="none", kw_only=True, unit="rad, N m"
    )
    interpolation: str = key(
        TEXT, 'of the table: "linear" or "spline" (natural, cubic)', "linear", kw_only=True, choices=INTERPOLATIONS
    )
    damping_table: Any = key(
        TABLE_POINTS, "[rate, force], linear in between", None, shows="none", kw_only=True, unit="rad/s, N m"
    )
    stops: Any = key(
        STOPS, "least and largest angle since the start, inf for none", None, shows="none", kw_only=True, unit="rad"
    )
    stop_stiffness: float | None = key(
        NUMBER, "of the stops", None, shows="required by stops", kw_only=True, unit="N m/rad"
    )
    stop_damping: float = key(
        NUMBER, "b of the stops' force k y (1 + b y') with the overlap y", 0.0, kw_only=True, unit="s/rad"
    )
    yield_force: float | None = key(
        NUMBER, "beyond which it flows: a plastic hinge, a spring in series with dry friction", None, shows="none",
        kw_only=True, unit="N m",
    )  # fmt: skip
    hardening: float = key(
        NUMBER, "tangent stiffness beyond the yield force (kinematic hardening)", 0.0, kw_only=True, unit="N m/rad"
    )
    exponent: float | None = exponent_key()
    unloading: float | None = unloading_key()
    sliders: Any = key(PAIRS, SLIDERS, None, shows="none", kw_only=True, unit="N m/rad, N m")

    def build(self, building: Building) -> None:
        owner = building.label("Torsion spring", self.name)
        nodes = [building.turning_node(p, owner) for p in (self.a, self.b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'both ends are "{self.a}"', owner=owner, remedy="join two different places")
        turn = building.relative_angle(owner, nodes, self.axis)
        found = law_of(building, owner, self, turn.start)
        spring_on(building, self.name, turn, found, building.number(self.angle, owner, "angle"))
