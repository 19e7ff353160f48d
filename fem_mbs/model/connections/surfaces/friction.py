"""Dry friction of the model builder: in joints, pressed by their own forces, and between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FUNCTION, NAME, NUMBER, PLACE, TEXT, VECTOR
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import law_of_time
from fem_mbs.model.connections.joint_parts import joint_coordinate
from fem_mbs.model.connections.surfaces.drive_friction import (
    add_friction,
    rub_ball,
    rub_gear,
    rub_screw,
    rub_universal,
)
from fem_mbs.model.connections.surfaces.turning_friction import rub_cylinder, rub_disc
from fem_mbs.model.records import JointCoordinate, JointData
from fem_mbs.system.blocks import GROUND, Block

__all__ = ["Friction", "check_path_ends"]

#: Joints of two profiles that touch.
_PROFILES = ("curve_on_curve", "cam")
#: Joints along a line or curve, whose own force presses, and those that hold a point or a bearing otherwise.
_ALONG = ("along_beam", "cylindrical_along_beam", "prismatic_along_beam", "point_on_curve", *_PROFILES)
#: Their elements.
_LINES = ("beam_slide", "cylindrical_slide", "prismatic_slide", "point_on_curve", "curve_on_curve")
#: Kinds of joints whose surfaces turn, and so need a radius; the others slide.
_TURNING = ("pin", "spherical", "revolute", "universal", "screw", "cylindrical")
_KINDS = (*_TURNING, "prismatic", "slider", "point_on_line", "point_on_plane", "planar", *_ALONG, "gear")


@dataclass(frozen=True)
class _Guide:
    """A point of node b that a joint keeps from moving along direction e: nodes, e and both points in the axes of their
    nodes."""

    nodes: tuple[int, int]
    e: np.ndarray
    offsets: tuple[np.ndarray, np.ndarray]


def _rubbed(building: Building, owner: str, joint: str) -> JointData:
    """Return a joint that can have friction, and has none yet."""
    found = building.find("joint", joint, building.joints, owner)
    if found.kind not in _KINDS:
        raise ModelError(
            f'joint "{joint}" is a "{found.kind}" joint, whose friction is not known',
            owner=owner,
            remedy=f"there are {', '.join(_KINDS)}",
        )
    if any(joint in (block.reads or ()) for block in building.blocks):
        raise ModelError(f'joint "{joint}" has friction already', owner=owner, remedy="keep one")
    return found


def _refuse(said: Friction, owner: str, what: str, *names: str) -> None:
    """Refuse keys that mean nothing in a joint of this kind."""
    for name in names:
        if getattr(said, name) is not None:
            raise ModelError(f"{name} has no meaning in {what}", owner=owner, key=name, remedy="remove it")


def _rub_joint(building: Building, owner: str, law, said: Friction) -> None:
    joint, name, direction = said.joint, said.name, said.direction
    assert joint is not None
    found = building.joints[joint]
    turning = found.kind in _TURNING
    if turning != (said.radius is not None) and found.kind != "planar":
        what = "needs the radius of its bearing; add radius" if turning else "has no radius; remove it"
        raise ModelError(f'a "{found.kind}" joint {what}', owner=owner)
    if said.radius is not None:
        law["radius"] = building.number(said.radius, owner, "radius", 0.0, strict=True)
    elif said.inner_radius is not None:
        raise ModelError("inner_radius is that of a ring", owner=owner, key="inner_radius", remedy="add its radius")
    if found.kind == "cylindrical":
        rub_cylinder(building, owner, name, law, joint, said.length)
        return
    if found.kind == "screw":
        rub_screw(building, name, law, joint, law["radius"])
        return
    if found.kind == "universal":
        rub_universal(building, name, law, joint)
        return
    if turning and not found.coordinates:
        rub_ball(building, owner, name, law, joint)
        return
    if found.kind in _ALONG:
        if said.normal is not None:
            raise ModelError("along a line the joint's own force presses", owner=owner, remedy="remove normal")
        if found.driven:
            raise ModelError(
                f'joint "{joint}" is driven along its line, by forces that would count as pressing',
                owner=owner,
                remedy="remove the driver or the friction",
            )
        law["along"] = 1.0
    guides = _guides(building, joint)
    if not turning and building.dimension == 3 and len(guides) == 1:  # a plane
        plane = _plane_columns(building, owner, law, guides[0], direction)
        if said.radius is None:
            _rub_plane(building, name, law, guides[0], plane, joint)
        else:
            rub_disc(building, owner, name, law, joint, plane, said.inner_radius)
        return
    if direction is not None:
        raise ModelError(f'joint "{joint}" slides one way only', owner=owner, remedy="remove direction")
    if found.kind in _PROFILES:
        coordinate = _between_profiles(building, joint)
    elif found.coordinates:
        coordinate = joint_coordinate(building, joint, None, owner)[1]
    else:
        coordinate = _along_guides(building, guides)
    add_friction(building, name, law, coordinate, joint)


def _between_profiles(building: Building, joint: str) -> JointCoordinate:
    """Return the coordinate whose rate is the slip of two profiles: the place along the profile of a, minus that along
    the profile of b, or plus it where the profiles run in opposite directions."""
    a, b = (building.joints[joint].coordinates[key] for key in ("displacement", "displacement_b"))
    block = next(x for x in building.blocks if x.groups[0][0] == joint and x.type.name == "curve_on_curve2")
    way = -1.0 if abs(block.par[0, block.type.column("side")]) == 1.0 else 1.0
    columns = {k: a.columns[k] + (way if k[0] == "e" else 1.0) * b.columns[k] for k in a.columns}
    return JointCoordinate(False, a.nodes, columns)


def _guides(building: Building, joint: str) -> list[_Guide]:
    """Return the constrained directions of a joint, one per constraint."""
    names, found = "xyz"[: building.dimension], []
    for block in building.blocks:
        if block.groups[0][0] != joint or block.type.name[:-1] not in ("offset", "position"):
            continue
        t = block.type

        def values(key: str, row: np.ndarray, t=t) -> np.ndarray:
            return np.array([row[t.column(key.format(c))] for c in names])

        for nodes, row in zip(block.nodes, block.par, strict=True):
            if row[t.column("function")] >= 0.0:
                continue
            if len(nodes) == 2:
                offsets = values("a{}_a", row), values("a{}_b", row)
                found.append(_Guide((int(nodes[0]), int(nodes[1])), values("e{}", row), offsets))
            else:
                offset = values("a{}", row)
                at = building.global_point(int(nodes[0]), offset)
                found.append(_Guide((GROUND, int(nodes[0])), values("n{}", row), (at, offset)))
    return found


def _along_guides(building: Building, guides: list[_Guide]) -> JointCoordinate:
    """Return the displacement of the guided point across the directions in which it is held."""
    g = guides[0]
    e = np.array([g.e[1], -g.e[0]]) if building.dimension == 2 else np.cross(guides[0].e, guides[1].e)
    return JointCoordinate(False, g.nodes, _point_columns(building, e, g.offsets))


def _point_columns(building: Building, e: np.ndarray, offsets) -> dict[str, float]:
    names = "xyz"[: building.dimension]
    columns = {f"e{c}": float(v) for c, v in zip(names, e, strict=True)}
    for end, offset in zip("ab", offsets, strict=True):
        columns.update({f"a{c}_{end}": float(v) for c, v in zip(names, offset, strict=True)})
    return columns


def _rub_points(building: Building, owner: str, name: str, law, a, b, point, axis, direction) -> None:
    if a is None or b is None:
        raise ModelError("give either joint, or a and b, the surface and the point that slides on it", owner=owner)
    node, offset = building.point(b, point, owner)
    surface = building.turning_node(a, owner)
    if node == surface:
        raise ModelError(f'both ends are "{a}"', owner=owner, remedy="take two different places")
    normal = building.axis(axis, owner)
    R = np.eye(building.dimension) if surface == GROUND else building.rotation_matrix(surface)
    at = building.global_point(node, offset)
    other = at if surface == GROUND else np.zeros(building.dimension)
    guide = _Guide((surface, node), R.T @ normal, (other, offset))
    if building.dimension == 3:
        _rub_plane(building, name, law, guide, _plane_columns(building, owner, law, guide, direction), "")
        return
    if direction is not None:
        raise ModelError(
            "in the plane the surface runs along its only direction", owner=owner, remedy="remove direction"
        )
    add_friction(building, name, law, _along_guides(building, [guide]), "")


def _plane_columns(building: Building, owner: str, law, guide: _Guide, direction) -> dict[str, float]:
    """Return the columns of two displacements across the normal, the first along ``direction`` (of a running surface).

    The columns of the first direction are ex, ey, ez and its points; those of the second have the same names with a 2.
    """
    u, v, n = building.triad(owner, guide.e).T
    if direction is not None:
        R = np.eye(3) if guide.nodes[0] == GROUND else building.rotation_matrix(guide.nodes[0])
        u = R.T @ building.axis(direction, owner, "direction")
        u = u - (u @ n) * n
        if np.linalg.norm(u) < 1e-6:
            raise ModelError("direction stands on the surface", owner=owner, remedy="give one along it")
        u /= np.linalg.norm(u)
        v = np.cross(n, u)
    elif law["reference rate"] >= 0.0:
        raise ModelError("a surface that runs needs to know where to", owner=owner, remedy="add direction")
    columns = {}
    for e, second in ((u, ""), (v, "2")):
        points = _point_columns(building, e, guide.offsets)
        columns.update({f"{key}{second}": x for key, x in points.items()})
    return columns


def _rub_plane(building: Building, name: str, law, guide: _Guide, plane: dict[str, float], joint: str) -> None:
    """Add friction with two displacements across the normal, ``plane``: their columns."""
    block = building.add_block(name, "friction_plane3", [guide.nodes], **plane, **law)
    block.reads = [joint]


def check_path_ends(building: Building) -> None:
    """Refuse springs and drivers along a line whose joint force is the normal force of friction.

    Raises:
        ModelError: naming friction and what works beside it.
    """
    for block in building.blocks:
        if "along" not in block.type.par or not block.par[0, block.type.column("along")]:
            continue
        way = int(block.nodes[0, 1])
        for other in building.blocks:
            if other is block or other.type.name[:-1] in _LINES or not (other.nodes == way).any():
                continue
            if not _idle(other):
                raise ModelError(
                    f'"{other.groups[0][0]}" works along the same line, and its force would count as pressing',
                    owner=Owner("Friction", block.groups[0][0]),
                    remedy="remove one of them",
                )


def _idle(block: Block) -> bool:
    """Return whether a block holds a spring without stiffness, as sensors add it."""
    t = block.type
    known = [t.column(key) for key in ("stiffness", "damping") if any(p.startswith(key) for p in t.par)]
    return t.name[:-1] == "slide" and not block.par[:, known].any()


@dataclass(frozen=True, eq=False)
class Friction(Declaration):
    """Dry friction in joints and between points.

    Add Coulomb friction in a joint, or (a, b) where a point of b slides on a surface of a.

    The force coefficient N tanh(w/smoothing) acts against the sliding velocity w; N is the size of the joint's
    constraint force at every instant, and what ``normal`` adds.  In a pin or revolute joint it is a moment, with
    ``radius`` as its arm, in a universal joint one about each axis, in a ball joint ("spherical", in space "pin") one
    against the relative angular velocity.  In a screw it acts along the thread.  In joints that guide points
    ("prismatic", "slider", "point_on_line", "point_on_plane", "planar", along beams and on curves) it acts at the
    point; moments that a prismatic joint bears do not press.

    A cylindrical joint slips along its axis and about it at once, by |(v, ``radius`` w)|: a bush that spins slides more
    easily. With ``length``, both ends of the bush press, from the joint's force and moment; the middle of the bush is
    the joint's point in b. A planar joint with a ``radius`` is a disc of uniform pressure, with ``inner_radius``
    as well a ring: the force and the moment of its friction depend on both sliding and spin, and both motions end at
    the same time. Profiles ("curve_on_curve", "cam") have friction at their point of contact.

    Gears and racks lose the part 1 - ``efficiency`` of the power that goes through them, whichever coordinate drives.
    In a rope over pulleys (a gear of two displacements) ``coefficient`` and ``wrap`` say the ratio of the forces,
    e^(coefficient wrap).  Such a loss is two elements, called NAME:a and NAME:b, on both coordinates; that of a screw
    NAME:angle and NAME:displacement, of a universal joint NAME:angle and NAME:angle_b.

    Args:
        coefficient: mu, of Coulomb's law; with gears and racks give ``efficiency`` instead.
        smoothing: sliding speed [m/s] up to which the force rises (to 76 % of mu N); below it surfaces creep.  In a
            gear it is a rate of the coordinate a [rad/s or m/s].
        radius: of pin, ball, revolute and cylindrical joints, of the pins of universal joints, mean one of a screw's
            thread, of a round contact in a planar joint [m].
        inner_radius: of a planar joint whose contact is a ring [m]; less than ``radius``.
        length: of the bush of a cylindrical joint [m]; without it only the force of the joint presses, not its moment.
        efficiency: of a gear, a rack or a rope, power out over power in, in (0, 1].
        wrap: of a rope, the angle by which it wraps its pulleys or drums [rad].
        static, stribeck: coefficient at small speeds, which goes over to ``coefficient`` like exp(-(w/stribeck)^2).
        normal: normal force as a function of time, a load [N]; with joints in addition to their own.
        speed: of a running surface of a along the coordinate, function of time [m/s]: a belt, a disc; what moves it
            gives energy to the model, booked as that of drivers.
        a, b, point, axis: without a joint: the surface of a with the normal ``axis``, the point of b (global
            coordinates of the start; None: its node).
        direction: in space, on surfaces that run: where to.
    """

    owner = "Friction"

    name: str = key(NAME, "in messages and results", shows='"friction 1", ...')
    joint: str | None = key(
        TEXT,
        "name of a joint: pin, spherical, revolute, universal, screw, cylindrical, prismatic, slider, point_on_line, "
        "point_on_plane, planar, along_beam and its kin, point_on_curve, curve_on_curve, cam, or of a gear; its force "
        "presses; or a and b",
        None,
        shows="none",
    )
    coefficient: float | None = key(
        NUMBER, "mu; of gears and racks efficiency instead", None, shows="none", kw_only=True
    )
    smoothing: float = key(
        NUMBER,
        "sliding speed up to which the force rises, like tanh(w/smoothing); of a gear, the rate of its coordinate a",
        kw_only=True,
        unit="m/s; gear: rad/s or m/s",
    )
    radius: float | None = key(
        NUMBER,
        "of the bearing, shaft, ball or pins of turning joints; of a screw, mean radius of the thread; planar joints: "
        "of a round contact, whose friction also resists spin",
        None,
        shows="none",
        kw_only=True,
        unit="m",
    )
    inner_radius: float | None = key(
        NUMBER, "planar joints with radius: inner radius of a ring", None, shows="0", kw_only=True, unit="m"
    )
    length: float | None = key(
        NUMBER, "cylindrical joints: of the bush in b, whose two ends bear force and moment", None,
        shows="none: only the force presses", kw_only=True, unit="m",
    )  # fmt: skip
    efficiency: float | None = key(
        NUMBER, "gears, racks, ropes: power out over power in", None, shows="none", kw_only=True
    )
    wrap: float | None = key(
        NUMBER,
        "ropes, with coefficient: angle by which they wrap their pulleys",
        None,
        shows="none",
        kw_only=True,
        unit="rad",
    )
    static: float | None = key(NUMBER, "coefficient at small speeds", None, shows="coefficient", kw_only=True)
    stribeck: float | None = key(
        NUMBER, "with static: speed w_0 of its decay, exp(-(w/w_0)^2)", None, shows="none", kw_only=True, unit="m/s"
    )
    normal: Any = key(
        FUNCTION,
        "normal force, with a joint in addition to its own; a load",
        None,
        shows="none",
        kw_only=True,
        unit="N",
    )
    speed: Any = key(
        FUNCTION, "of a running surface of a along the coordinate", None, shows="0", kw_only=True, unit="m/s"
    )
    a: str | int | None = key(PLACE, "instead of joint: the part with the surface", None, shows="none", kw_only=True)
    b: str | int | None = key(PLACE, "the part whose point slides on it", None, shows="none", kw_only=True)
    point: Any = key(
        VECTOR, "where on b, in global coordinates of the start", None, shows="its node", kw_only=True, unit="m"
    )
    axis: Any = key(VECTOR, "normal of the surface", None, shows="none", kw_only=True)
    direction: Any = key(VECTOR, "space: where a running surface runs to", None, shows="none", kw_only=True)

    def build(self, building: Building) -> None:
        owner = building.label("Friction", self.name)
        kind = "" if self.joint is None else _rubbed(building, owner, self.joint).kind
        self._check_kind(building, owner, kind)
        law = {
            "smoothing speed": building.number(self.smoothing, owner, "smoothing", 0.0, strict=True),
            "radius": 1.0, "function": -1.0, "reference rate": -1.0,
            **{f"scale {k}": 1.0 for k in (1, 2, 3)},
        }  # fmt: skip
        if self.joint is not None and kind == "gear":
            given = self.efficiency, self.coefficient, self.wrap
            rub_gear(building, owner, self.name, law, self.joint, *given)
            return
        law["coefficient"] = building.number(self.coefficient, owner, "coefficient", 0.0)
        if (self.static is None) != (self.stribeck is None):
            raise ModelError("static and stribeck belong together", owner=owner, remedy="give both or none")
        if self.static is not None:
            law["static coefficient"] = building.number(self.static, owner, "static", 0.0)
            law["Stribeck speed"] = building.number(self.stribeck, owner, "stribeck", 0.0, strict=True)
        if self.normal is not None:
            if isinstance(self.normal, (int, float)) and not isinstance(self.normal, bool) and not self.normal >= 0.0:
                raise ModelError(
                    f"normal = {self.normal!r} must not be negative",
                    owner=owner,
                    key="normal",
                    value=self.normal,
                    remedy="surfaces press, they do not pull",
                )
            law["function"] = building.function_index(law_of_time(building, self.normal, owner), owner, load=True)
        if self.speed is not None:
            law["reference rate"] = building.function_index(law_of_time(building, self.speed, owner), owner, load=False)
        elif self.direction is not None:
            raise ModelError(
                "direction is that of a running surface", owner=owner, remedy="add its speed, or remove it"
            )
        if self.joint is None:
            _rub_points(building, owner, self.name, law, self.a, self.b, self.point, self.axis, self.direction)
            if self.radius is not None or self.normal is None:
                what = "has no radius; remove it" if self.radius is not None else "needs its normal force; add normal"
                raise ModelError(f"friction between points {what}", owner=owner)
            return
        _rub_joint(building, owner, law, self)

    def _check_kind(self, building: Building, owner: str, kind: str) -> None:
        """Refuse keys that mean nothing in a joint of this kind ("": between points), and ask for the loss."""
        if kind and any(v is not None for v in (self.a, self.b, self.point, self.axis)):
            raise ModelError(
                "a, b, point and axis belong to friction between points", owner=owner, remedy="with joint remove them"
            )
        if kind == "gear":
            _refuse(
                self, owner, "a gear", "radius", "inner_radius", "length", "static", "stribeck", "normal", "speed",
                "direction",
            )  # fmt: skip
            if (self.coefficient is None) == (self.efficiency is None):
                raise ModelError(
                    "a gear has either an efficiency, or as a rope coefficient and wrap", owner=owner, remedy="give one"
                )
            return
        what = f'a "{kind}" joint' if kind else "friction between points"
        _refuse(self, owner, what, "efficiency", "wrap")
        if kind != "cylindrical":
            _refuse(self, owner, what, "length")
        if kind != "planar":
            _refuse(self, owner, what, "inner_radius")
        if self.coefficient is None:
            raise ModelError(f"{what} needs its coefficient", owner=owner, remedy="add coefficient = ...")
        if kind == "screw":  # the scale of its normal force is that of its thread
            _refuse(self, owner, what, "normal", "speed", "direction")
        if kind in ("universal", "cylindrical") or (kind in ("pin", "spherical") and building.dimension == 3):
            _refuse(self, owner, what, "speed", "direction")
