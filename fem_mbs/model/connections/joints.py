"""Declarations of supports, motions, joints, gears and springs of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    COMPONENTS,
    FLAG,
    FUNCTION,
    NAME,
    NUMBER,
    PAIRS,
    PLACE,
    PLACES,
    STOPS,
    TABLE_POINTS,
    TEXT,
    VECTOR,
)
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_kinds import JOINT_KINDS
from fem_mbs.model.connections.joint_parts import JointRequest, component_number, couple, joint_coordinate, spring_on
from fem_mbs.model.connections.locks import breaking
from fem_mbs.model.connections.spring_laws import INTERPOLATIONS, SLIDERS, exponent_key, law_of, unloading_key
from fem_mbs.model.records import JointData

__all__ = ["Gear", "Joint", "JointSpring", "Motion", "Support"]


@dataclass(frozen=True, eq=False)
class Support(Declaration):
    """Nodes that do not move.

    Hold nodes where they are; ``components`` of "x", "y", "z", "rotation" (None: all that a node has), in space
    also "rotation x", "rotation y", "rotation z", about the global axes.  Supports with a ``group`` hold only in the
    steps that name it in ``supports``: where the step finds the nodes (``present``), else at their places of the start,
    to which a static step brings them in proportion.
    """

    owner = "Support"

    on: Any = key(PLACES, "nodes that are held where they are")
    components: Sequence[str] | None = key(
        COMPONENTS,
        'of "x", "y", "z", "rotation", in space "rotation x", "rotation y", "rotation z"',
        None,
        shows="all that a node has",
    )
    group: str = key(
        TEXT, "they hold only in steps that name the group in `supports`", "",
        shows="they hold in all steps",
    )  # fmt: skip
    present: bool = key(
        FLAG,
        "of a group: they hold where the step before has left the nodes, else where these are at the start, to "
        "which a static step brings them in proportion and a transient in its first time step",
        False,
    )
    name: str = key(TEXT, "by which events that break it call it; needed where it breaks", "")
    breaks_at: float | None = key(
        NUMBER, "sum of the forces on its nodes beyond which it is gone, in transients", None, shows="never", unit="N"
    )
    breaks_at_moment: float | None = key(
        NUMBER, "sum of its moments about its nodes beyond which it is gone, in transients", None, shows="never",
        unit="N m",
    )  # fmt: skip

    def build(self, building: Building) -> None:
        if not self.name and (self.breaks_at is not None or self.breaks_at_moment is not None):
            raise ModelError(
                "a support that breaks needs a name", owner=Owner("Support", self.on, "on"), key="name",
                remedy="add name, by which the report of the run tells of it",
            )  # fmt: skip
        if not self.name:
            self._hold(building)
            return
        owner = building.label("Support", self.name)
        if self.group:
            raise ModelError(
                "supports of single steps come and go with the steps, and do not break", owner=owner, key="group",
                value=self.group, remedy="remove group, or name and breaks_at",
            )  # fmt: skip
        before = len(building.fixed)
        self._hold(building)
        pairs = building.fixed[before:]
        building.breakings[self.name] = breaking(
            building, owner, self.breaks_at, self.breaks_at_moment, "support", pairs
        )

    def _hold(self, building: Building) -> None:
        """Enter the components that are held."""
        components = self.components
        owner = Owner("Support", self.on, "on")
        if self.present and not self.group:
            raise ModelError("present belongs to supports with a group", owner=owner, key="present")
        fixed = building.fixed
        if self.group:
            fixed = building.hold_in_steps(self.group, [], owner, present=self.present)
        nodes = building.nodes_of(self.on, owner)
        if isinstance(components, str):
            components = [components]
        for component in components or (["x", "y", "z"][: building.dimension]):
            if component == "rotation" and building.dimension == 3:
                fixed += [(int(n), 3 + k) for n in nodes for k in range(3)]
                continue
            if building.dimension == 3 and component in ("rotation x", "rotation y", "rotation z"):
                fixed += [(int(n), 3 + "xyz".index(component[-1])) for n in nodes]
                continue
            k = component_number(building, owner, component)
            if component == "rotation":
                building.needs_rotation += [(owner, int(n)) for n in nodes]
            fixed += [(int(n), k) for n in nodes]
        if components is None:
            rotations = [2] if building.dimension == 2 else [3, 4, 5]
            fixed += [(int(n), -k) for n in nodes for k in rotations]


@dataclass(frozen=True, eq=False)
class Motion(Declaration):
    """Coordinates that follow a function of time.

    Prescribe a motion: a coordinate of nodes or a body follows its start value + f(t).  Motions with a ``group`` do so
    only in the steps that name it in ``supports``.
    """

    owner = "Motion"

    name: str = key(NAME, "in messages and results", shows='"motion 1", ...')
    on: str | int = key(PLACES, "driven nodes or body")
    component: str = key(TEXT, '"x", "y", "z" or (plane) "rotation"')
    function: Any = key(FUNCTION, "displacement or angle since the start", unit="m or rad")
    group: str = key(
        TEXT,
        "it acts only in statics and transients that name the group in `supports`: a static step brings the nodes from "
        "where it finds them to the function in proportion, a transient in its first time step", "",
        shows="it acts in all steps",
    )  # fmt: skip

    def build(self, building: Building) -> None:
        owner = building.label("Motion", self.name)
        k = component_number(building, owner, self.component)
        index = building.function_index(self.function, owner, load=False)
        for node in building.nodes_of(self.on, owner):
            if self.component == "rotation":
                building.needs_rotation.append((owner, int(node)))
            entry = (int(node), k, index, owner)
            if self.group:
                building.hold_in_steps(self.group, [(int(node), k)], owner)
                building.step_motions.setdefault(self.group, []).append(entry)
            else:
                building.driven.append(entry)


@dataclass(frozen=True, eq=False)
class Joint(Declaration):
    """Joints between two parts, or a part and the ground.

    Add a joint between two places.

    Kinds:
        "pin" or "spherical": the point of a and the point of b coincide.
        "weld": and no relative rotation.
        "revolute": b turns against a about ``axis`` (in the plane: a pin); function: drives this angle.
        "universal": b turns about ``axis``, fixed in a, and about ``axis_b``, fixed in b, both through the point.
        "cylindrical": b turns about ``axis`` and slides along it; function: drives the angle, displacement: the
            slide.
        "prismatic": b slides along ``axis`` of a without turning; function: drives the slide.
        "planar": b slides and turns on the plane of a with the normal ``axis``; function: drives the angle.
        "screw": "cylindrical", and b slides by ``lead`` [m] per turn; function: drives the angle.
        "constant_velocity": the shafts, along ``axis`` in a and ``axis_b`` in b (None: the same), turn by the same
            angle through any bend.
        "point_on_line": the point of b runs along ``axis`` of a; function: drives its path length.
        "point_on_plane": the point of b stays on the plane of a with the normal ``axis``.
        "along_beam": the point of b slides along the elastic line of a, the name of a beam or truss, of a reduced
            part (through its interfaces) or a list of nodes; function: drives its path length along it.
        "cylindrical_along_beam": and b has an axis along the tangent, about which it turns.
        "prismatic_along_beam": and b turns with the tangent; in space it does not turn against the sections.
        "point_on_curve": the point of b moves along ``curve``, fixed in a; with ``radius`` a roller on it, whose axis
            the point is; function: drives its path length.
        "curve_on_curve" or "cam": ``curve``, fixed in a, and ``curve_b``, fixed in b, touch and slide; function: drives
            the place of contact on ``curve``.
        "rolling_curves": they roll without slip.
        "rolling_disc": the wheel a is a disc of ``radius`` with the centre ``point`` and the ``axis`` of its spin.  It
            rolls without slip on a plane of the ground and cannot leave it.  ``point_b`` is a point of the plane (None:
            where the wheel touches at the start), ``axis_b`` the normal of the plane towards the wheel (None: z).
        "distance": the points ``point`` of a and ``point_b`` of b keep their distance; function: changes it [m].
        "slider": the point of a moves along ``axis`` through its place at the start (b must be "ground").
        "position": the point of a moves by f(t) along ``axis`` (b must be "ground").
        "angle": b turns by f(t) more than a (in space about ``axis``).

    Args:
        point: where the joint is, in global coordinates of the start; None: the node of a or b.
        function, displacement: angle [rad] or displacement [m] since the start; any number of turns.
        speed: [rad/s] or [m/s], instead of a function: it grows steadily.
        breaks_at, breaks_at_moment: what acts on its coordinates (springs, motors, friction, gears) stays, but locks.
        point_b, axis_b: where point and axis are in b, for parts that stand apart or askew and that `assembly`
            brings together (b as it stands in the model; of the ground where they shall be).
        curve, curve_b: names of curves (`Model.curve`).  ``point`` of two profiles: near their contact, where they are
            nearest at several places.
        radius: of a roller or a wheel [m].
        crown: radius [m] of the section of the wheel's tread; 0: a sharp edge; equal to ``radius``: a ball.
    """

    owner = "Joint"

    name: str = key(NAME, "in messages and results", shows='"joint 1", ...')
    kind: str = key(TEXT, "what it leaves free", file="type", choices=JOINT_KINDS)
    a: Any = key(
        PLACES, "one part (along beams: the name of a beam, truss or reduced part, or a list of nodes in their order)"
    )
    b: str | int = key(PLACE, "other part", "ground")
    point: Any = key(
        VECTOR,
        "where, in global coordinates of the start; required between bodies, or a body and the "
        "ground, which have many points",
        None,
        shows="the node of a or b",
        unit="m",
    )
    axis: Any = key(
        VECTOR,
        "at the start: of rotation or sliding; of a universal or constant-velocity joint the one in a; of a planar "
        "one or a plane its normal; of a rolling_disc the axis of its spin",
        None,
    )
    function: Any = key(
        FUNCTION,
        "drives the angle (revolute, cylindrical, planar, screw, angle), the displacement (prismatic, position, "
        "point_on_line) or the distance, since the start",
        None,
        unit="rad or m",
    )
    displacement: Any = key(FUNCTION, "drives the displacement of a cylindrical joint, since the start", None, unit="m")
    axis_b: Any = key(
        VECTOR,
        "the axis in b: of a universal or constant-velocity joint, of a rolling_disc the normal of the plane, or where "
        "parts stand askew and are to be assembled",
        None,
    )
    point_b: Any = key(
        VECTOR,
        "the point in b: of a distance, of a rolling_disc a point of the plane, or where parts stand apart and are to "
        "be assembled",
        None,
        shows="point; of a distance: the node of b",
        unit="m",
    )
    lead: Any = key(NUMBER, "of a screw: slide per turn", None, unit="m")
    curve: Any = key(TEXT, "name of the curve that is fixed in a", None, shows="none", kw_only=True)
    curve_b: Any = key(TEXT, "of two profiles: name of the curve that is fixed in b", None, shows="none", kw_only=True)
    radius: Any = key(
        NUMBER, "of point_on_curve: of a roller on the curve, whose axis the point is; of a rolling_disc: of the disc",
        None, shows="none", kw_only=True, unit="m",
    )  # fmt: skip
    crown: Any = key(
        NUMBER, "of a rolling_disc: radius of the section of its tread; equal to radius: a ball", None, shows="0",
        kw_only=True, unit="m",
    )  # fmt: skip
    speed: Any = key(
        NUMBER, "of a driven joint that moves steadily, instead of its function", None, unit="rad/s or m/s"
    )
    breaks_at: float | None = key(
        NUMBER, "force of the joint beyond which its parts come apart, in transients", None, shows="never",
        kw_only=True, unit="N",
    )  # fmt: skip
    breaks_at_moment: float | None = key(
        NUMBER, "moment of the joint about its point in a beyond which its parts come apart, in transients", None,
        shows="never", kw_only=True, unit="N m",
    )  # fmt: skip

    def build(self, building: Building) -> None:
        name = self.name
        function = self.function
        owner = building.label("Joint", name)
        found = JOINT_KINDS[self.kind]
        known = found.keys if building.dimension == 3 else found.plane_keys
        if known is None:
            here, there = ("space", "the plane") if building.dimension == 3 else ("the plane", "space")
            kinds = [
                name for name, other in JOINT_KINDS.items()
                if (other.keys if building.dimension == 3 else other.plane_keys) is not None
            ]  # fmt: skip
            raise ModelError(
                f'a "{self.kind}" joint is one of {there}',
                owner=owner,
                remedy=f"in {here} there are {', '.join(kinds)}",
            )
        if self.speed is not None:
            if function is not None:
                raise ModelError("function and speed both say how it moves", owner=owner, remedy="remove one")
            if "function" not in known:
                raise ModelError(f'a "{self.kind}" joint has no speed', owner=owner, remedy="remove it")
            function = make_function(
                {"kind": "constant_speed", "rate": building.number(self.speed, owner, "speed")}, owner=owner
            )
        given = {
            "point": self.point,
            "axis": self.axis,
            "function": function,
            "displacement": self.displacement,
            "axis_b": self.axis_b,
            "point_b": self.point_b,
            "lead": self.lead,
            "curve": self.curve,
            "curve_b": self.curve_b,
            "radius": self.radius,
            "crown": self.crown,
        }
        for word, value in given.items():
            if value is not None and word not in known:
                raise ModelError(f'a "{self.kind}" joint has no {word}', owner=owner, remedy="remove it")
        if self.breaks_at is not None or self.breaks_at_moment is not None:
            if self.kind == "along_beam":
                raise ModelError(
                    'a joint "along_beam" does not break', owner=owner, key="breaks_at",
                    remedy="break a joint between its point and the part",
                )  # fmt: skip
            building.breakings[name] = breaking(building, owner, self.breaks_at, self.breaks_at_moment, "joint")
        building.joints[name] = JointData(self.kind)
        found.build(building, JointRequest(owner, name, self.a, self.b, **given))


@dataclass(frozen=True, eq=False)
class JointSpring(Declaration):
    """Spring-dampers on the coordinate of a joint.

    Add a spring-damper on a coordinate of a joint: [N m/rad], [N m s/rad] on an angle, [N/m], [N s/m] on a
    slide.

    Args:
        free: value of the coordinate, zero at the start, at which the spring is free [rad] or [m].
        coordinate: "angle" or "displacement", of a universal joint also "angle_b"; None: the joint's first one.
        stops: values of the coordinate; they and the rest as for `spring`, over the coordinate less ``free``.
    """

    owner = "Joint spring"

    name: str = key(NAME, "in messages and results", shows='"joint_spring 1", ...')
    joint: str = key(TEXT, "name of a joint")
    stiffness: float | None = key(NUMBER, "", None, shows="0", unit="N m/rad or N/m")
    damping: float = key(NUMBER, "", 0.0, unit="N m s/rad or N s/m")
    free: float = key(NUMBER, "coordinate since the start at which it is free", 0.0, unit="rad or m")
    coordinate: str | None = key(
        TEXT,
        '"angle", "displacement"; of a universal joint "angle" (about its axis in a), "angle_b"',
        None,
        shows="the first",
    )
    cubic: float = key(
        NUMBER,
        "k of a force k x^3, x the coordinate less its free value",
        0.0,
        kw_only=True,
        unit="N/m^3 or N m/rad^3",
    )
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
    stops: Any = key(
        STOPS, "least and largest coordinate since the start, inf for none", None, shows="none", kw_only=True, unit="m"
    )
    stop_stiffness: float | None = key(
        NUMBER, "of the stops", None, shows="required by stops", kw_only=True, unit="N/m"
    )
    stop_damping: float = key(
        NUMBER, "b of the stops' force k y (1 + b y') with the overlap y", 0.0, kw_only=True, unit="s/m"
    )
    yield_force: float | None = key(
        NUMBER, "beyond which it flows: a plastic hinge, a spring in series with dry friction", None, shows="none",
        kw_only=True, unit="N m or N",
    )  # fmt: skip
    hardening: float = key(
        NUMBER,
        "tangent stiffness beyond the yield force (kinematic hardening)",
        0.0,
        kw_only=True,
        unit="N m/rad or N/m",
    )
    exponent: float | None = exponent_key()
    unloading: float | None = unloading_key()
    sliders: Any = key(PAIRS, SLIDERS, None, shows="none", kw_only=True, unit="N/m, N or N m/rad, N m")

    def build(self, building: Building) -> None:
        owner = building.label("Joint spring", self.name)
        _, c = joint_coordinate(building, self.joint, self.coordinate, owner)
        found = law_of(building, owner, self, c.start)
        spring_on(building, self.name, c, found, building.number(self.free, owner, "free"))


@dataclass(frozen=True, eq=False)
class Gear(Declaration):
    """Gears, racks and pulleys: coordinates of two joints in a fixed ratio.

    Couple the coordinates of two joints: the change of b since the start is ``ratio`` times that of a.

    Two angles: a pair of gears; an angle and a displacement: pinion and rack, ratio the pitch radius [m/rad]; two
    displacements: a rope over pulleys.  Without play; friction and loss are those of `Friction` on the gear's name:
    the joints stand for the bearings, the gear for the teeth.

    Args:
        a, b: names of joints.
        ratio: change of b's coordinate over change of a's; negative where they go opposite ways.
        coordinate_a, coordinate_b: "angle" or "displacement"; None: the joint's first one.

    Raises:
        ModelError: no such joint or coordinate, the same coordinate twice, ratio = 0.
    """

    owner = "Gear"

    name: str = key(NAME, "in messages and results", shows='"gear 1", ...')
    a: str = key(TEXT, "name of a joint")
    b: str = key(TEXT, "name of a joint")
    ratio: float = key(NUMBER, "what b's coordinate moves over what a's moves", unit="-, m/rad (rack) or rad/m")
    coordinate_a: str | None = key(TEXT, '"angle" or "displacement" of a', None, shows="the first")
    coordinate_b: str | None = key(TEXT, '"angle" or "displacement" of b', None, shows="the first")

    def build(self, building: Building) -> None:
        ratio = self.ratio
        owner = building.label("Gear", self.name)
        key_a, of_a = joint_coordinate(building, self.a, self.coordinate_a, owner)
        key_b, of_b = joint_coordinate(building, self.b, self.coordinate_b, owner)
        if (self.a, key_a) == (self.b, key_b):
            raise ModelError(
                f'both coordinates are the {key_a} of "{self.a}"', owner=owner, remedy="couple two different ones"
            )
        ratio = building.number(ratio, owner, "ratio")
        if ratio == 0.0:
            raise ModelError(
                "ratio = 0 would hold b's coordinate", owner=owner, remedy="drive it by a constant function instead"
            )
        building.joints[self.name] = JointData("gear")
        couple(building, self.name, of_a, of_b, ratio)
