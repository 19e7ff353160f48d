"""How the keys of declarations follow a movement.

A copy is a declaration of its own, made from another one by a `Movement` (x -> t + Q x, where Q may be a reflection)
and new names.  `RULES` says for every kind of thing how its keys follow; what has no rule is refused.

A mirrored thing is the image that one sees: points, directions and forces are those of the image (Q v); axes of
rotation, moments and angular velocities are axial vectors (det(Q) Q v), so that a driven angle is the image of that of
the original.  Section axes are (ex, ey) of the image; ez, by the right hand, is opposite to the image of ez, so that
sections which are not symmetric get mirrored ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.model.connections.actuators.hydraulic import HydraulicActuator
from fem_mbs.model.connections.actuators.motors import Motor
from fem_mbs.model.connections.couplings import Coupling
from fem_mbs.model.connections.forces import Bushing
from fem_mbs.model.connections.joints import Gear, Joint, JointSpring, Motion, Support
from fem_mbs.model.connections.locks import Lock
from fem_mbs.model.connections.paths.curves import Curve
from fem_mbs.model.connections.surfaces.contact import Contact
from fem_mbs.model.connections.surfaces.friction import Friction
from fem_mbs.model.connections.surfaces.impact import Impact
from fem_mbs.model.connections.surfaces.tyres import Tyre
from fem_mbs.model.connections.ties import Tie
from fem_mbs.model.copies.events import copied_event
from fem_mbs.model.copies.movement import Copying, Movement, reflection
from fem_mbs.model.copies.signs import joint_sign, scaled
from fem_mbs.model.geometry import Mirror, NamedNode, PlacedMesh
from fem_mbs.model.loads.forces import Force, LineLoad, Moment
from fem_mbs.model.materials import CrossSection
from fem_mbs.model.parts.beams import Beam
from fem_mbs.model.parts.bodies import PointMass, RigidBody, Spring, TorsionSpring, Truss
from fem_mbs.model.parts.mass_matrix import MassMatrix
from fem_mbs.model.parts.reduced import MovingPart, PartLoad
from fem_mbs.model.parts.rotors import Disc
from fem_mbs.model.parts.shells import Shell
from fem_mbs.model.parts.solids import Plane, Pressure, Solid, Traction
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.model.watching import EventRule
from fem_mbs.rotations import rotation_matrices, rotation_vectors

__all__ = ["RULES", "moved"]

Rule = Callable[[Any, Copying], dict[str, Any]]


def _reversed_law(said: Any) -> dict[str, Any]:
    """Return the law of a spring whose coordinate counts in the other direction."""
    out: dict[str, Any] = {}
    for name in ("angle", "free", "preload"):
        value = getattr(said, name, None)
        if value:
            out[name] = -value
    for name in ("table", "damping_table"):
        rows = getattr(said, name)
        if rows is not None and np.size(rows):
            out[name] = (-np.asarray(rows, float))[::-1].tolist()
    if said.stops is not None:
        out["stops"] = [-said.stops[1], -said.stops[0]]
    return out


def _points(*names: str) -> Rule:
    """Return the rule of keys that are points."""

    def rule(said: Any, c: Copying) -> dict[str, Any]:
        return {n: c.movement.point(getattr(said, n)) for n in names if getattr(said, n) is not None}

    return rule


def _vectors(*names: str, axial: bool = False) -> Rule:
    """Return the rule of keys that are directions."""

    def rule(said: Any, c: Copying) -> dict[str, Any]:
        out = {}
        for n in names:
            value = getattr(said, n)
            if value is None:
                continue
            if any(isinstance(v, str) for v in value) if np.ndim(value) else isinstance(value, str):
                c.refuse(said, f"{n} has expressions of coordinates", "write the copy by hand, or give numbers")
            out[n] = c.movement.axial(value) if axial else c.movement.direction(value)
        return out

    return rule


def _all(*rules: Rule) -> Rule:
    def rule(said: Any, c: Copying) -> dict[str, Any]:
        return {k: v for each in rules for k, v in each(said, c).items()}

    return rule


def _plain_value(*names: str) -> Rule:
    """Return the rule of keys that do not change, but must not depend on coordinates."""

    def rule(said: Any, c: Copying) -> dict[str, Any]:
        for n in names:
            if isinstance(getattr(said, n), str):
                c.refuse(said, f"{n} is an expression of coordinates", "write the copy by hand, or give a number")
        return {}

    return rule


# ---- parts -----------------------------------------------------------------------------------------------------------
def _axes_of(said: Any, c: Copying, angle: Any, rotation: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (3, 3) of the copy, and the reflection S of body axes that makes them right-handed: Q R S."""
    m = c.movement
    R = (
        rotation_matrices([0.0, 0.0, angle or 0.0])
        if m.dimension == 2
        else rotation_matrices(rotation if rotation is not None else [0, 0, 0])
    )
    S = np.eye(3)
    if m.mirrors:
        S[1 if m.dimension == 2 else 2, 1 if m.dimension == 2 else 2] = -1.0
    return m.Q @ R @ S, S


def _body(said: RigidBody, c: Copying) -> dict[str, Any]:
    R, S = _axes_of(said, c, said.angle, said.rotation)
    out: dict[str, Any] = {"position": c.movement.point(said.position)}
    turned = c.movement.mirrors or not np.array_equal(c.movement.Q, np.eye(3))
    if turned and c.movement.dimension == 2:
        out["angle"] = float(np.arctan2(R[1, 0], R[0, 0]))
    elif turned:
        out["rotation"] = rotation_vectors(R).tolist()
    if c.movement.mirrors and np.ndim(said.inertia) == 2:
        out["inertia"] = (S @ np.asarray(said.inertia, float) @ S).tolist()
    if c.movement.mirrors and said.visual is not None:
        c.refuse(said, "its visual cannot be mirrored", "give the copy a body of its own, or no visual")
    return out


def _mesh(said: PlacedMesh, c: Copying) -> dict[str, Any]:
    m = c.movement
    turn = (
        np.zeros(3)
        if said.rotate is None
        else np.zeros(3) + ([0.0, 0.0, said.rotate] if np.ndim(said.rotate) == 0 else np.asarray(said.rotate, float))
    )
    shift = np.zeros(3) if said.translate is None else m.padded(said.translate)
    placed = Movement(rotation_matrices(np.deg2rad(turn)), shift, m.dimension)
    if said.mirror is not None:
        placed = reflection(said.mirror, m.dimension).after(placed)
    whole = m.after(placed)
    out: dict[str, Any] = {"mirror": None}
    if whole.mirrors:  # a mirror at x = 0 in the mesh's own axes comes last: M whole is a rotation
        plane = Mirror([1.0, 0.0] if m.dimension == 2 else [1.0, 0.0, 0.0], None)
        out["mirror"] = plane
        whole = reflection(plane, m.dimension).after(whole)
    vector = np.rad2deg(rotation_vectors(whole.Q))
    out["rotate"] = float(vector[2]) if m.dimension == 2 else vector.tolist()
    out["translate"] = whole.t[: m.dimension].tolist()
    return out


def _beam(said: Beam, c: Copying) -> dict[str, Any]:
    m, out = c.movement, dict[str, Any]()
    if m.dimension == 2:
        return out
    if said.orientation is None:
        axes = np.eye(3) if said.default_axes is None else np.asarray(said.default_axes, float)
        # without orientation ey is z x ex, or the y axis: the first is a product of vectors
        out["default_axes"] = [m.direction(axes[0]), m.direction(axes[1]), m.axial(axes[2])]
    else:
        out |= _vectors("orientation")(said, c)
    if not m.mirrors:
        return out
    for n in ("offset", "offset_start", "offset_end"):
        value = getattr(said, n)
        if value is not None:
            out[n] = [value[0], value[1], -value[2]]
    if said.twist is not None:
        out["twist"] = (-np.asarray(said.twist, float)).tolist()
    names = [said.section] if isinstance(said.section, str) else list(said.section)
    found = [_mirrored_section(name, c) for name in names]
    out["section"] = found[0] if isinstance(said.section, str) else found
    return out


def _mirrored_section(name: str, c: Copying) -> str:
    """Return the name of a section with z reversed; the same where that changes nothing."""
    section = c.sections.get(name)
    if section is None:
        return name
    changes: dict[str, Any] = {}
    if section.file is not None:
        c.refuse(section, "a section from a table cannot be mirrored", "give the copy beams and a table of its own")
    for n in ("centroid", "shear_centre", "mass_centre"):
        value = getattr(section, n)
        if value is not None and value[1] != 0.0:
            changes[n] = [value[0], -value[1]]
    for n in ("rotate", "Iyz"):
        value = getattr(section, n)
        if value:
            changes[n] = -value
    changes |= _mirrored_drawing(section, c)
    D = np.diag([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
    for n in ("stiffness", "mass"):
        value = getattr(section, n)
        if value is not None and not np.array_equal(D @ np.asarray(value, float) @ D, value):
            changes[n] = (D @ np.asarray(value, float) @ D).tolist()
    if not changes:
        return name
    other = c.rename(name)
    c.made[other] = replace(section, name=other, **changes)
    return other


def _mirrored_drawing(section: CrossSection, c: Copying) -> dict[str, Any]:
    """Return the keys of a section's own drawing, as of walls, with z reversed."""

    def image(point: Any) -> list[float]:
        return [point[0], -point[1]]

    out: dict[str, Any] = {}
    tables = [*(section.patches or ()), *(section.plies or ())]
    materials = [c.materials[name] for table in tables if (name := table.get("material")) in c.materials]
    if any(material.stiffness is not None for material in materials):
        c.refuse(section, "its anisotropic material cannot be mirrored", "give orthotropic constants")
    if section.patches:  # angles are between the beam and a side, which both are those of the image
        out["patches"] = [{**patch, "corners": [image(p) for p in patch["corners"]]} for patch in section.patches]
    if section.walls:
        out["walls"] = [{**wall, "points": [image(p) for p in wall["points"]]} for wall in section.walls]
    if section.plies and any(ply.get("angle") for ply in section.plies):
        out["plies"] = [{**ply, "angle": -ply.get("angle", 0.0)} for ply in section.plies]
    if section.origin is not None and not isinstance(section.origin, str) and section.origin[1]:
        out["origin"] = image(section.origin)
    return out


def _mass_axes(said: PointMass, c: Copying) -> dict[str, Any]:
    out: dict[str, Any] = _vectors("offset")(said, c)
    if c.movement.dimension == 2 or said.inertia is None or not np.ndim(said.inertia):
        return out
    own = {d.name for d in c.said_of(RigidBody)} | {d.name for d in c.said_of(MovingPart)}
    places = list(said.at) if isinstance(said.at, (list, tuple)) else [said.at]
    turning = [str(place).partition(":")[0] in own for place in places]
    J = np.asarray(said.inertia, float)
    J = np.diag(J) if J.ndim == 1 else J
    Q = c.movement.Q
    if any(turning):  # the numbers are in axes of bodies, which the copies of these carry along
        shared = any(c.reference(place, ("body", "part")) == place for place in places)
        if (shared or not all(turning)) and not np.array_equal(Q, np.eye(3)):
            c.refuse(
                said, "its inertia is in the axes of a body that is not copied, or of several sorts of nodes",
                "copy the body too, or give each place a mass of its own",
            )  # fmt: skip
        Q = np.diag([1.0, 1.0, c.movement.sign])
    out["inertia"] = (Q @ J @ Q.T).tolist()
    return out


def _isotropic(said: Any, c: Copying) -> bool:
    material = c.materials.get(said.material) if isinstance(said.material, str) else None
    if material is None:
        return True
    return material.stiffness is None and all(
        np.ndim(v) == 0 for v in (material.E, material.nu, material.G, material.expansion)
    )


def _solid(said: Any, c: Copying) -> dict[str, Any]:
    if _isotropic(said, c) or np.array_equal(c.movement.Q, np.eye(3)):
        return {"orientation": said.orientation}
    material = c.materials[said.material]
    if c.movement.mirrors and (material.stiffness is not None or np.size(material.expansion) == 6):
        c.refuse(said, "its anisotropic material cannot be mirrored", "give orthotropic constants, or write it by hand")
    given = said.orientation
    if isinstance(given, Mapping):
        point = given.get("point")
        return {
            "orientation": {"axis": c.movement.direction(given["axis"])}
            | ({"point": c.movement.point(point)} if point is not None else {"point": c.movement.point([0.0] * 3)})
        }
    rows = np.eye(3) if given is None else np.asarray(given, float)
    turned = rows @ c.movement.Q.T
    turned[2] *= c.movement.sign  # right-handed again; orthotropic materials do not know the difference
    return {"orientation": turned.tolist()}


def _shell(said: Shell, c: Copying) -> dict[str, Any]:
    out = _plain_value("thickness", "offset")(said, c)
    same = np.array_equal(c.movement.Q, np.eye(3))
    if said.orientation is not None:
        out |= _vectors("orientation")(said, c)
    elif not same and (said.layers or not _isotropic(said, c)):
        out["orientation"] = c.movement.direction([1.0, 0.0, 0.0])
    if c.movement.mirrors and said.layers:
        out["layers"] = [{**layer, "angle": -layer.get("angle", 0.0)} for layer in said.layers]
    return out


# ---- connections -----------------------------------------------------------------------------------------------------
#: Joints whose axis is one of rotation; the axes of the others are directions of a displacement.
_TURNING = ("revolute", "cylindrical", "screw", "universal", "constant_velocity", "planar", "angle")


def _joint(said: Joint, c: Copying) -> dict[str, Any]:
    out = _points("point", "point_b")(said, c)
    turning = said.kind in _TURNING and c.movement.dimension == 3
    out |= _vectors("axis", "axis_b", axial=turning)(said, c)
    if not c.movement.mirrors:
        return out
    if said.displacement is not None:
        out["displacement"] = scaled(said.displacement, -1.0)  # along the axial axis, against the image
    if said.lead is not None:
        out["lead"] = -said.lead  # a right-handed screw is a left-handed one in the mirror
    if c.movement.dimension == 2 and said.kind in ("revolute", "angle"):
        out["function"] = scaled(said.function, -1.0)
        if said.speed is not None:
            out["speed"] = -said.speed
    return out


def _bushing(said: Bushing, c: Copying) -> dict[str, Any]:
    out = _points("point", "point_a", "point_b")(said, c)
    plane = c.movement.dimension == 2
    given = said.rotation
    R, S = _axes_of(said, c, given if plane else 0.0, None if plane else given)
    out["rotation"] = float(np.arctan2(R[1, 0], R[0, 0])) if plane else rotation_vectors(R).tolist()
    if c.movement.mirrors:
        s = np.diag(S)
        D = np.diag([s[0], s[1], -1.0]) if plane else np.diag([*s, *(-s)])
        for n in ("stiffness", "damping"):
            value = getattr(said, n)
            if value is not None and np.ndim(value) == 2:
                out[n] = (D @ np.asarray(value, float) @ D).tolist()
        if said.preload is not None:
            out["preload"] = (D @ np.asarray(said.preload, float)).tolist()
    return out


def _contact(said: Contact | Impact, c: Copying) -> dict[str, Any]:
    out = _all(_points("point"), _vectors("axis"))(said, c)
    if said.facets is not None:
        c.refuse(said, "its surface is that of a mesh, which stays", "give the copy one of its own")
    if said.surface == "triangles" and c.movement.mirrors:
        c.refuse(said, "its triangles cannot be mirrored", "give the copy one of its own")
    if said.surface in ("box", "triangles"):
        plane = c.movement.dimension == 2
        R, _ = _axes_of(said, c, said.rotation if plane else 0.0, None if plane else said.rotation)
        out["rotation"] = float(np.arctan2(R[1, 0], R[0, 0])) if plane else rotation_vectors(R).tolist()
    return out


def _tyre(said: Tyre, c: Copying) -> dict[str, Any]:
    """Move the wheel; the copy rolls on the same road."""
    out = _all(_points("point"), _vectors("axis", axial=True))(said, c)
    if said.profile is not None and said.along is None:
        normal = [0.0, 0.0, 1.0] if said.normal is None else said.normal
        out["along"] = np.cross(said.axis, normal).tolist()
    return out


def _torsion(said: TorsionSpring, c: Copying) -> dict[str, Any]:
    out = _vectors("axis", axial=True)(said, c)
    return out | (_reversed_law(said) if c.movement.mirrors and c.movement.dimension == 2 else {})


def _support(said: Support, c: Copying) -> dict[str, Any]:
    return {} if said.components is None else {"components": c.components(said, said.components)}


def _motion(said: Motion, c: Copying) -> dict[str, Any]:
    sign = c.component_sign(said.component)
    return {"component": c.components(said, said.component), "function": scaled(said.function, sign)}


def _coupling(said: Coupling, c: Copying) -> dict[str, Any]:
    return {} if said.components is None else {"components": c.components(said, said.components)}


def _line_load(said: LineLoad, c: Copying) -> dict[str, Any]:
    if said.axes != "local":
        return _all(_vectors("vector"), _vectors("moment", axial=True))(said, c)
    _vectors("vector", "moment")(said, c)  # refuses expressions of coordinates
    if not c.movement.mirrors:
        return {}  # its axes go with the part
    if ":" in str(said.on) and said.on not in {d.name for d in c.said_of(Beam)}:
        # edges are followed counter-clockwise about the normal, in the mirror the other way round
        vector: tuple[float, ...] = (-1.0, 1.0, 1.0)
        moment = (1.0, -1.0, -1.0)
    else:  # ez of the section is opposite to the image of ez, in the plane ey to that of ey
        vector, moment = ((1.0, -1.0) if c.movement.dimension == 2 else (1.0, 1.0, -1.0)), (1.0, 1.0, 1.0)
    out: dict[str, Any] = {"vector": [s * float(v) for s, v in zip(vector, said.vector, strict=True)]}
    if said.moment is not None:
        out["moment"] = [s * float(v) for s, v in zip(moment, said.moment, strict=True)]
    return out


def _moment(said: Moment, c: Copying) -> dict[str, Any]:
    return {"value": c.movement.axial(said.value)}


def _nothing(said: Any, c: Copying) -> dict[str, Any]:
    return {}


def _curve(said: Curve, c: Copying) -> dict[str, Any]:
    m = c.movement
    if m.mirrors and said.points is None:
        c.refuse(said, "a curve of a file or of functions cannot be mirrored", "give points, or write it by hand")
    plane = m.dimension == 2
    R, S = _axes_of(said, c, said.rotation if plane else 0.0, None if plane else said.rotation)
    out: dict[str, Any] = {"position": m.point([0.0] * m.dimension if said.position is None else said.position)}
    out["rotation"] = float(np.arctan2(R[1, 0], R[0, 0])) if plane else rotation_vectors(R).tolist()
    if m.mirrors:
        out["points"] = (np.asarray(said.points, float) @ S[: m.dimension, : m.dimension]).tolist()
    return out


def _mass_matrix(said: MassMatrix, c: Copying) -> dict[str, Any]:
    n = 0 if said.matrix is None else len(said.matrix)
    # one row per node, of nodes named one by one: the same in all directions
    by_nodes = isinstance(said.on, (list, tuple)) and n == len(said.on)
    if not by_nodes and not np.array_equal(c.movement.Q, np.eye(3)):
        c.refuse(said, "its axes may differ by direction", "give one row per node, or write it by hand")
    return {}


def _gear(said: Gear, c: Copying) -> dict[str, Any]:
    joints = {n: c.reference(getattr(said, n), ("joint",)) for n in ("a", "b")}
    copied = {n: name != getattr(said, n) for n, name in joints.items()}
    if not any(copied.values()):
        c.refuse(said, "neither of its joints is copied", "name one of them in of, or leave out the gear")
    a, b = (joint_sign(c, getattr(said, n), getattr(said, f"coordinate_{n}")) if copied[n] else 1.0 for n in ("a", "b"))
    return joints | {"ratio": a * b * said.ratio}


def _lock(said: Lock, c: Copying) -> dict[str, Any]:
    if c.reference(said.joint, ("joint",)) == said.joint:
        c.refuse(said, f'its joint "{said.joint}" is not copied, and is locked already', "name the joint in of")
    sign = joint_sign(c, said.joint, said.coordinate)
    return {} if said.value is None else {"value": sign * said.value}


def _friction(said: Friction, c: Copying) -> dict[str, Any]:
    out = _all(_points("point"), _vectors("axis", "direction"))(said, c)
    joint = c.reference(said.joint, ("joint", "gear"))
    if said.joint is not None and joint == said.joint:
        c.refuse(said, f'its joint "{said.joint}" is not copied, and has friction already', "name the joint in of")
    if c.movement.mirrors and c.movement.dimension == 2 and said.speed is not None:
        # without a joint a running surface counts along the direction that is a quarter turn from its normal
        out["speed"] = scaled(said.speed, -1.0 if said.joint is None else joint_sign(c, said.joint, None))
    return out | {"joint": joint}


def _part(said: MovingPart, c: Copying) -> dict[str, Any]:
    m = c.movement
    if m.mirrors:
        c.refuse(said, "a reduced part cannot be mirrored", "reduce the mirrored model, and place that")
    start = [0.0] * m.dimension if said.position is None else said.position
    out: dict[str, Any] = {"position": m.point(start)}
    if not np.array_equal(m.Q, np.eye(3)):
        plane = m.dimension == 2
        R, _ = _axes_of(said, c, said.rotation if plane else 0.0, None if plane else said.rotation)
        out["rotation"] = float(np.arctan2(R[1, 0], R[0, 0])) if m.dimension == 2 else rotation_vectors(R).tolist()
    return out


def _part_load(said: PartLoad, c: Copying) -> dict[str, Any]:
    part = c.reference(said.part, ("part",))
    if part == said.part:
        c.refuse(said, f'its part "{said.part}" is not copied', "name the part in of, or leave out the load")
    return {"part": part}


#: Kind of declaration -> how its keys follow a movement; references and names are changed by `copies_of`.
RULES: dict[type[Declaration], Rule] = {
    NamedNode: _points("position"),
    PlacedMesh: _mesh,
    RigidBody: _body,
    Beam: _beam,
    Truss: _nothing,
    Solid: _solid,
    Plane: _solid,
    Shell: _shell,
    PointMass: _mass_axes,
    MassMatrix: _mass_matrix,
    Disc: _vectors("axis", axial=True),
    Spring: _points("point_a", "point_b"),
    TorsionSpring: _torsion,
    Tie: _nothing,
    Coupling: _coupling,
    Support: _support,
    Motion: _motion,
    Curve: _curve,
    Joint: _joint,
    JointSpring: _nothing,  # see `moved`
    Motor: _points("point_a", "point_b"),
    HydraulicActuator: _points("point_a", "point_b"),
    Bushing: _bushing,
    Contact: _contact,
    Impact: _contact,
    Tyre: _tyre,
    Force: _all(_vectors("vector"), _points("point")),
    Moment: _moment,
    LineLoad: _line_load,
    Pressure: _plain_value("value"),
    Traction: _vectors("vector"),
    Gear: _gear,
    Lock: _lock,
    Friction: _friction,
    MovingPart: _part,
    PartLoad: _part_load,
    EventRule: copied_event,
}


#: Keys of actuators that change their sign with that of the coordinate.
_REVERSED: dict[type, tuple[str, ...]] = {
    Motor: ("force", "speed", "position", "initial_integral", "initial_force"),
    HydraulicActuator: ("opening", "position", "initial_pressure", "initial_opening"),
}


def _other_chambers(said: HydraulicActuator, c: Copying) -> dict[str, Any]:
    """Return the data of the chambers of a cylinder whose coordinate changes sign: both chambers are exchanged."""
    if said.kf:
        c.refuse(said, "its feedback of the pressure of two chambers cannot be mirrored", "write the copy by hand")
    capacity_b = said.capacity if said.capacity_b is None else said.capacity_b
    return {
        "area": said.area_b, "area_b": said.area, "capacity": capacity_b, "capacity_b": said.capacity,
        "initial_pressure": said.initial_pressure_b, "initial_pressure_b": said.initial_pressure,
    }  # fmt: skip


def _image_fibres(said: SensorRequest, c: Copying) -> dict[str, Any]:
    """Return the images of the fibres that a sensor looks at: across the section axis that is opposite to the image of
    the original's, ez, in the plane ey."""
    on = getattr(said, "on", None)
    if not c.movement.mirrors or not any(on in c.names.get(t, ()) for t in ("beam", "truss")):
        return {}
    plane = c.movement.dimension == 2
    first, second = ("top", "bottom") if plane else ("right", "left")

    def image(fibre: Any) -> Any:
        if isinstance(fibre, str):
            return " ".join({first: second, second: first}.get(word, word) for word in fibre.split())
        return [-fibre[0], fibre[1]] if plane else [fibre[0], -fibre[1]]

    out: dict[str, Any] = {}
    if getattr(said, "fibre", None) is not None:
        out["fibre"] = image(said.fibre)  # type: ignore[attr-defined]
    if getattr(said, "fibres", None) is not None:
        out["fibres"] = [image(fibre) for fibre in said.fibres]  # type: ignore[attr-defined]
    return out


def moved(said: Any, c: Copying) -> dict[str, Any]:
    """Return the keys of a declaration that follow the movement of a copy.

    Raises:
        ModelError: it cannot be copied so.
    """
    if isinstance(said, SensorRequest):
        points = {
            n: c.movement.point(v) for n in ("point", "point_a", "point_b") if (v := getattr(said, n, None)) is not None
        }
        return points | _image_fibres(said, c)
    out = RULES[type(said)](said, c)
    if isinstance(said, (JointSpring, Motor, HydraulicActuator)) and joint_sign(c, said.joint, said.coordinate) < 0.0:
        if isinstance(said, JointSpring):
            out |= _reversed_law(said)
        else:
            out |= {n: scaled(getattr(said, n), -1.0) for n in _REVERSED[type(said)]}
            if isinstance(said, HydraulicActuator) and said.area_b is not None:
                out |= _other_chambers(said, c)
    return out
