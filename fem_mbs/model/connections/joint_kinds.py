"""Kinds of joints: one function and one line of `JOINT_KINDS` each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import (
    JointRequest,
    add_coordinate,
    align,
    check_different,
    couple,
    ends_of,
    guide,
    hold,
    joint_displacement,
    offset_columns,
    point_along,
    relative_rotation,
    set_direction,
    turn_of,
    turning_ends,
)
from fem_mbs.model.connections.paths.profiles import curve_on_curve, point_on_curve, rolling_curves
from fem_mbs.model.connections.paths.sliding import along_beam, cylindrical_along_beam, prismatic_along_beam
from fem_mbs.model.connections.surfaces.discs import rolling_disc
from fem_mbs.units import unit_of

__all__ = ["JOINT_KINDS", "JointKind", "register_joint"]


def pin(building: Building, j: JointRequest) -> None:
    ends = ends_of(building, j)
    building.add_block(j.name, f"point{building.dimension}", [ends.nodes], **offset_columns(building, ends))
    if building.dimension == 2:
        building.joints[j.name].coordinates["angle"] = building.relative_angle(j.owner, ends.nodes, None)


def weld(building: Building, j: JointRequest) -> None:
    pin(building, j)
    building.joints[j.name].coordinates.clear()
    relative_rotation(building, j, np.array([0.0, 0.0, 1.0]), -1)


def revolute(building: Building, j: JointRequest) -> None:
    pin(building, j)
    nodes = turning_ends(building, j)
    if building.dimension == 3:
        align(building, j, nodes)
    add_coordinate(
        building, j, "angle", building.relative_angle(j.owner, nodes, j.axis, turn=turn_of(building, j)), j.function
    )


def universal(building: Building, j: JointRequest) -> None:
    a, b = building.axis(j.axis, j.owner), building.axis(j.axis_b, j.owner, "axis_b")
    if np.linalg.norm(np.cross(a, b)) < 1e-6:
        raise ModelError(
            "axis and axis_b are parallel",
            owner=j.owner,
            remedy="give the axes of both yokes, which lie across each other",
        )
    pin(building, j)
    nodes = turning_ends(building, j)
    set_direction(building, j, nodes, a, b)
    add_coordinate(building, j, "angle", building.relative_angle(j.owner, nodes, a, b))
    # seen from b a turns the other way, so about the opposite axis it turns the same way
    add_coordinate(building, j, "angle_b", building.relative_angle(j.owner, nodes[::-1], -b, a))


def cylindrical(building: Building, j: JointRequest) -> None:
    ends = ends_of(building, j)
    nodes = turning_ends(building, j)
    u, v, n = building.triad(j.owner, j.axis).T
    guide(building, j, ends, (u, v))
    align(building, j, nodes)
    add_coordinate(
        building, j, "angle", building.relative_angle(j.owner, nodes, n, turn=turn_of(building, j)), j.function
    )
    add_coordinate(building, j, "displacement", joint_displacement(building, ends, n), j.displacement)


def prismatic(building: Building, j: JointRequest) -> None:
    ends = ends_of(building, j)
    if building.dimension == 2:
        n = building.axis(j.axis, j.owner)
        across = [np.array([-n[1], n[0]])]
    else:
        *across, n = building.triad(j.owner, j.axis).T
    guide(building, j, ends, across)
    relative_rotation(building, j, n, -1)
    add_coordinate(building, j, "displacement", joint_displacement(building, ends, n), j.function)


def planar(building: Building, j: JointRequest) -> None:
    ends = ends_of(building, j)
    nodes = turning_ends(building, j)
    n = building.axis(j.axis, j.owner)
    guide(building, j, ends, (n,))
    align(building, j, nodes)
    add_coordinate(
        building, j, "angle", building.relative_angle(j.owner, nodes, n, turn=turn_of(building, j)), j.function
    )


def slider(building: Building, j: JointRequest) -> None:
    node, offset, n, x = point_along(building, j)
    across = [np.array([-n[1], n[0]])] if building.dimension == 2 else list(building.triad(j.owner, n).T[:2])
    for direction in across:
        hold(building, j.name, node, offset, direction, x, -1)


def driven_position(building: Building, j: JointRequest) -> None:
    if j.function is None:
        raise ModelError(
            'a "position" joint needs the function of its displacement', owner=j.owner, remedy="add function = ..."
        )
    node, offset, n, x = point_along(building, j)
    hold(building, j.name, node, offset, n, x, building.function_index(j.function, j.owner, load=False))


def driven_angle(building: Building, j: JointRequest) -> None:
    if j.function is None:
        raise ModelError('an "angle" joint needs the function of its angle', owner=j.owner, remedy="add function = ...")
    nodes = relative_rotation(building, j, j.axis, building.function_index(j.function, j.owner, load=False))
    add_coordinate(building, j, "angle", building.relative_angle(j.owner, nodes, j.axis))
    building.joints[j.name].driven["angle"] = j.name


def _guided_ends(building: Building, j: JointRequest):
    """Return ends of a joint where a point of b runs on a line or plane of a: by default b's node."""
    where = j.point
    if where is None and j.b != "ground" and j.b not in building.bodies:
        where = building.position(building.node_of(j.b, j.owner))
    return ends_of(building, replace(j, point=where))


def point_on_line(building: Building, j: JointRequest) -> None:
    ends = _guided_ends(building, j)
    if building.dimension == 2:
        n = building.axis(j.axis, j.owner)
        across = [np.array([-n[1], n[0]])]
    else:
        *across, n = building.triad(j.owner, j.axis).T
    guide(building, j, ends, across)
    add_coordinate(building, j, "displacement", joint_displacement(building, ends, n), j.function)


def point_on_plane(building: Building, j: JointRequest) -> None:
    guide(building, j, _guided_ends(building, j), (building.axis(j.axis, j.owner),))


def constant_velocity(building: Building, j: JointRequest) -> None:
    pin(building, j)
    nodes = turning_ends(building, j)
    triad = building.triad(j.owner, j.axis)
    n, other = triad[:, 2], building.axis(j.axis if j.axis_b is None else j.axis_b, j.owner, "axis_b")
    bend = float(n @ other)
    if bend < -1.0 + 1e-6:
        raise ModelError("axis and axis_b point against each other", owner=j.owner, remedy="turn one of them round")
    # the triad of b is that of a, turned from axis to axis_b about what is across both
    w = np.cross(n, other)
    skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    turned = (np.eye(3) + skew + skew @ skew / (1.0 + bend)) @ triad
    columns = {}
    for end, node, vectors in (("a", nodes[0], triad), ("b", nodes[1], turned)):
        local = building.rotation_matrix(node).T @ vectors
        for k, name in enumerate("uv"):
            columns.update({f"{name}_{end}{c}": float(v) for c, v in zip("xyz", local[:, k], strict=True)})
    building.add_block(j.name, "constant_velocity3", [nodes], **columns)


def distance(building: Building, j: JointRequest) -> None:
    node_a, off_a = building.point(j.a, j.point, j.owner)
    node_b, off_b = building.point(j.b, j.point_b, j.owner, key="point_b")
    check_different(j, node_a, node_b)
    length = float(np.linalg.norm(building.global_point(node_b, off_b) - building.global_point(node_a, off_a)))
    if length <= 1e-9 * max(1.0, float(np.abs(building.positions).max())):
        raise ModelError(
            f"its points are {length:g} {unit_of('m')} apart",
            owner=j.owner,
            remedy=(
                'a link needs a length: give point and point_b, or use a "'
                f'{"pin" if building.dimension == 2 else "spherical"}" joint'
            ),
        )
    names = "xyz"[: building.dimension]
    columns = {f"a{c}_a": float(v) for c, v in zip(names, off_a, strict=True)}
    columns.update({f"a{c}_b": float(v) for c, v in zip(names, off_b, strict=True)})
    index = -1 if j.function is None else building.function_index(j.function, j.owner, load=False)
    nodes = [(node_a, node_b)]
    building.add_block(j.name, f"distance{building.dimension}", nodes, function=float(index), length=length, **columns)


def screw(building: Building, j: JointRequest) -> None:
    if j.lead is None:
        raise ModelError(
            f"a screw needs its lead, the slide per turn [{unit_of('m')}]", owner=j.owner, remedy="add lead = ..."
        )
    lead = building.number(j.lead, j.owner, "lead")
    if lead == 0.0:
        raise ModelError("lead = 0 lets it turn without sliding", owner=j.owner, remedy="use a revolute joint")
    cylindrical(building, j)
    c = building.joints[j.name].coordinates
    couple(building, j.name, c["angle"], c["displacement"], lead / (2.0 * math.pi))


@dataclass(frozen=True)
class JointKind:
    """A kind of `Model.joint`: what it is in one line, the function that builds it, the keys that it takes.

    ``keys`` are those in space, ``plane_keys`` those in the plane; None: there is no such joint there.
    """

    text: str
    build: Callable[[Building, JointRequest], None]
    keys: tuple[str, ...] | None
    plane_keys: tuple[str, ...] | None


def _kind(
    text: str, build: Callable[[Building, JointRequest], None], keys: str | None, plane: str | None = "same"
) -> JointKind:
    """A kind from its keys in words, None: not in space; ``plane``: those in the plane, "same" or None."""
    in_space, in_plane = (None if k is None else tuple(k.split()) for k in (keys, keys if plane == "same" else plane))
    return JointKind(text, build, in_space, in_plane)


#: All kinds of `Model.joint`.
JOINT_KINDS: dict[str, JointKind] = {
    "pin": _kind("two points coincide", pin, "point point_b"),
    "spherical": _kind("two points coincide (another name of pin)", pin, "point point_b"),
    "weld": _kind("two points coincide, no relative rotation", weld, "point point_b"),
    "revolute": _kind(
        "rotation about an axis only; its angle can be driven",
        revolute, "point axis function point_b axis_b", "point function point_b",
    ),
    "universal": _kind(
        "two points coincide, rotation about an axis of either part",
        universal, "point axis axis_b point_b", None,
    ),
    "cylindrical": _kind(
        "rotation about an axis and displacement along it; both can be driven",
        cylindrical, "point axis function displacement point_b axis_b", None,
    ),
    "prismatic": _kind(
        "displacement along an axis, no relative rotation; can be driven",
        prismatic, "point axis function point_b axis_b",
    ),
    "planar": _kind(
        "displacement in a plane and rotation about its normal; its angle can be driven",
        planar, "point axis function point_b axis_b", None,
    ),
    "screw": _kind(
        "rotation about an axis and displacement along it by a lead per turn; its angle can be driven",
        screw, "point axis function lead point_b axis_b", None,
    ),
    "constant_velocity": _kind(
        "two points coincide, two shafts turn by the same angle through any bend",
        constant_velocity, "point axis axis_b point_b", None,
    ),
    "point_on_line": _kind(
        "a point moves along a line of the other part; can be driven",
        point_on_line, "point axis function point_b",
    ),
    "point_on_plane": _kind(
        "a point stays on a plane of the other part", point_on_plane, "point axis point_b", None
    ),
    "distance": _kind(
        "two points keep their distance, or change it as driven", distance, "point point_b function"
    ),
    "along_beam": _kind(
        "a point slides along the elastic line of a beam or truss, or along nodes; can be driven",
        along_beam, "point function",
    ),
    "cylindrical_along_beam": _kind(
        "a body slides along a beam, its axis along the tangent, and turns about it; can be driven",
        cylindrical_along_beam, "point function", None,
    ),
    "prismatic_along_beam": _kind(
        "a body slides along a beam and turns with its tangent, in space with its sections; can be driven",
        prismatic_along_beam, "point function",
    ),
    "point_on_curve": _kind(
        "a point, or the axis of a roller, moves along a curve of the other part; can be driven",
        point_on_curve, "point curve function", "point curve radius function",
    ),
    "curve_on_curve": _kind(
        "two profiles touch and slide; can be driven", curve_on_curve, None, "point curve curve_b function"
    ),
    "cam": _kind(
        "two profiles touch and slide (another name of curve_on_curve)",
        curve_on_curve, None, "point curve curve_b function",
    ),
    "rolling_curves": _kind(
        "two profiles touch and roll without slip; can be driven",
        rolling_curves, None, "point curve curve_b function",
    ),
    "rolling_disc": _kind(
        "a disc or ball rolls on a plane of the ground without slip",
        rolling_disc, "point axis axis_b point_b radius crown", None,
    ),
    "slider": _kind("a point moves along a line fixed in space", slider, "point axis point_b"),
    "position": _kind(
        "a point moves by a function of time along a direction", driven_position, "point axis function point_b"
    ),
    "angle": _kind("a relative angle is a function of time", driven_angle, "axis function"),
}  # fmt: skip


def register_joint(name: str, kind: JointKind) -> None:
    """Add a kind of joint: the builder, model files, their reference and schema, and `fem-mbs list` know it then.

    Raises:
        ModelError: there is another kind of the same name.
    """
    if JOINT_KINDS.get(name, kind) is not kind:
        raise ModelError(f'there is a kind "{name}" already', owner=Owner("Joint"), remedy="choose another name")
    JOINT_KINDS[name] = kind
