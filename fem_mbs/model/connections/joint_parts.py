"""Building blocks of joints: points that meet, guides, axes that stay aligned, coordinates, drives and springs on
them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.spring_laws import SpringLaw
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.blocks import GROUND
from fem_mbs.units import unit_of

__all__ = [
    "JointEnds",
    "JointRequest",
    "add_coordinate",
    "align",
    "check_different",
    "component_number",
    "couple",
    "drive",
    "drivers",
    "ends_of",
    "guide",
    "hold",
    "joint_coordinate",
    "joint_displacement",
    "measure_joint",
    "node_displacement",
    "offset_columns",
    "point_along",
    "relative_rotation",
    "set_direction",
    "spring_on",
    "turn_of",
    "turning_ends",
]


@dataclass(frozen=True)
class JointRequest:
    """Arguments of a joint."""

    owner: str
    name: str
    a: str | int
    b: str | int
    point: Any
    axis: Any
    function: Any
    displacement: Any
    axis_b: Any
    point_b: Any
    lead: Any
    curve: Any = None
    curve_b: Any = None
    radius: Any = None
    crown: Any = None


@dataclass(frozen=True)
class JointEnds:
    """Both ends of a joint: nodes, and the offsets of the joint in their axes."""

    nodes: tuple[int, int]
    offsets: tuple[np.ndarray, np.ndarray]


def _least_rotation(b: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) about b x a that brings b to a, unit vectors less than a right angle apart or little
    more."""
    w = np.cross(b, a)
    S = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + S + S @ S / (1.0 + float(a @ b))


def component_number(building: Building, owner: str, component: str) -> int:
    names = ("x", "y", "rotation") if building.dimension == 2 else ("x", "y", "z")
    if component not in names:
        raise ModelError(
            f"component {component!r} must be one of {', '.join(names)}", owner=owner, key="component", value=component
        )
    return names.index(component)


def drivers(building: Building) -> list[str]:
    """Return names of the motions and of the joints that functions drive, in the order in which they were made."""
    names = [owner.name for _, _, _, owner in building.driven]
    for block in building.blocks:
        t = block.type
        if t.multipliers and "function" in t.par and (block.par[:, t.column("function")] >= 0.0).any():
            names += [label for label, _, _ in block.groups if label in building.joints]
    return list(dict.fromkeys(names))


def _meeting_point(building: Building, owner: str, a: str | int, b: str | int, point):
    """Return the common point of two places: the given point, or the node of a place that is not a body."""
    if point is not None:
        return building.vector(point, owner, "point")
    found = _own_places(building, a, b, owner)
    if not found:
        raise ModelError(
            "rigid bodies have many points", owner=owner, remedy="say where the joint is with point = [...]"
        )
    if len(found) == 2 and building.assembling is None:
        gap = float(np.linalg.norm(found[1] - found[0]))
        if gap > 1e-9 * max(1.0, float(np.abs(found[0]).max())):
            raise ModelError(
                f'"{a}" and "{b}" are {gap:g} {unit_of("m")} apart',
                owner=owner,
                remedy="move one, give the point of the joint, or ask for an assembly before it",
            )
    return found[0]


def _own_places(building: Building, a: str | int, b: str | int, owner: str = "Joint") -> list[np.ndarray]:
    """Return positions of those of two places that are nodes, not bodies."""
    bodies = building.bodies
    nodes = [p for p in (a, b) if not isinstance(p, str) or (p != "ground" and p not in bodies)]
    return [building.position(building.node_of(p, owner)) for p in nodes]


def turn_of(building: Building, j: JointRequest):
    """Return rotation that brings axis_b onto axis, the shortest; None: they are one."""
    if j.axis_b is None or j.axis is None:
        return None
    a, b = building.axis(j.axis, j.owner), building.axis(j.axis_b, j.owner, "axis_b")
    if building.dimension == 2:
        return float(np.arctan2(b[0] * a[1] - b[1] * a[0], a @ b))
    if np.linalg.norm(np.cross(b, a)) < 1e-12:
        if float(a @ b) < 0.0:
            raise ModelError("axis_b is opposite to axis", owner=j.owner, remedy="turn one of them round")
        return None
    if float(a @ b) > 0.0:
        return _least_rotation(b, a)
    # half a turn about b, then one about the bisector; what round-off leaves of that is a small rotation
    half = (a + b) / np.linalg.norm(a + b)
    turn = (2.0 * np.outer(half, half) - np.eye(3)) @ (2.0 * np.outer(b, b) - np.eye(3))
    return _least_rotation(turn @ b, a) @ turn


def ends_of(building: Building, j: JointRequest) -> JointEnds:
    """Return nodes of both places and where on them the joint is."""
    where = _meeting_point(building, j.owner, j.a, j.b, j.point)
    where_b = where if j.point_b is None else building.vector(j.point_b, j.owner, "point_b")
    if j.point is None and building.assembling is not None and len(_own_places(building, j.a, j.b)) == 2:
        where, where_b = _own_places(building, j.a, j.b)  # each its own node, wherever it stands
    node_a, off_a = building.point(j.a, where, j.owner)
    node_b, off_b = building.point(j.b, where_b, j.owner)
    check_different(j, node_a, node_b)
    return JointEnds((node_a, node_b), (off_a, off_b))


def check_different(j: JointRequest, node_a: int, node_b: int) -> None:
    if node_a == node_b:
        raise ModelError(f'both ends are "{j.a}"', owner=j.owner, remedy="join two different places")


def turning_ends(building: Building, j: JointRequest) -> tuple[int, int]:
    nodes = building.turning_node(j.a, j.owner), building.turning_node(j.b, j.owner)
    check_different(j, *nodes)
    return nodes


def offset_columns(building: Building, ends: JointEnds) -> dict[str, float]:
    names = "xyz"[: building.dimension]
    return {
        f"a{c}_{end}": float(v)
        for end, offset in zip("ab", ends.offsets, strict=True)
        for c, v in zip(names, offset, strict=True)
    }


def joint_displacement(building: Building, ends: JointEnds, direction: np.ndarray) -> JointCoordinate:
    """Return the displacement of b's point against a's along a direction fixed in a."""
    local = building.rotation_matrix(ends.nodes[0]).T @ direction
    columns = {f"e{c}": float(v) for c, v in zip("xyz"[: building.dimension], local, strict=True)}
    return JointCoordinate(False, ends.nodes, {**columns, **offset_columns(building, ends)})


def node_displacement(building: Building, a: int, b: int, direction: np.ndarray) -> JointCoordinate:
    """Return the displacement of node b against node a (-1: ground) along a direction fixed in a, zero at the
    start."""
    offset = np.zeros(building.dimension)
    x = building.position(b)
    c = joint_displacement(building, JointEnds((a, b), (x if a == GROUND else offset, offset)), direction)
    start = 0.0 if a == GROUND else float((x - building.position(a)) @ direction)
    return JointCoordinate(False, c.nodes, c.columns, start)


def set_direction(
    building: Building, j: JointRequest, nodes, a: np.ndarray, b: np.ndarray, cosine: float | None = None
) -> None:
    """Keep the angle between a direction of each end, or prescribe its cosine."""
    columns = {}
    for key, node, vector in zip("ab", nodes, (a, b), strict=True):
        local = building.rotation_matrix(node).T @ vector
        columns.update({f"{key}{c}": v for c, v in zip("xyz", local, strict=True)})
    cosine = float(a @ b) if cosine is None else cosine
    building.add_block(j.name, "direction3", [nodes], cosine=cosine if abs(cosine) > 1e-15 else 0.0, **columns)


def align(building: Building, j: JointRequest, nodes) -> None:
    """Align the joint's axis at both ends."""
    u, v, n = building.triad(j.owner, j.axis).T
    turn = turn_of(building, j)
    for across in (u, v):
        set_direction(building, j, nodes, n, across if turn is None else turn.T @ across, 0.0)


def guide(building: Building, j: JointRequest, ends: JointEnds, directions) -> None:
    """Constrain the displacement of b's point against a's along these directions of a."""
    for direction in directions:
        drive(building, j.name, joint_displacement(building, ends, direction), -1)


def relative_rotation(building: Building, j: JointRequest, axis, index: int) -> tuple[int, int]:
    """Constrain the relative rotation, except a given function about the axis."""
    nodes = turning_ends(building, j)
    turn = turn_of(building, j)
    if building.dimension == 2:
        drive(building, j.name, building.relative_angle(j.owner, nodes, None, turn=turn), index)
        return nodes
    u, v, n = building.triad(j.owner, axis).T
    triad = np.column_stack((n, u, v))  # the driven turn is about the first vector
    columns = {}
    for key, node in zip("ab", nodes, strict=True):
        stands = triad if turn is None or key == "a" else turn.T @ triad
        local = building.rotation_matrix(node).T @ stands
        columns.update({f"{key}{i + 1}{k + 1}": local[i, k] for i in range(3) for k in range(3)})
    building.add_block(j.name, "orientation3", [nodes], function=float(index), **columns)
    return nodes


def add_coordinate(building: Building, j: JointRequest, key: str, coordinate: JointCoordinate, function=None) -> None:
    """Add a coordinate of the joint, driven if there is a function."""
    building.joints[j.name].coordinates[key] = coordinate
    if function is not None:
        building.joints[j.name].driven[key] = j.name
        drive(building, j.name, coordinate, building.function_index(function, j.owner, load=False))


def drive(building: Building, label: str, c: JointCoordinate, index: int) -> None:
    """Prescribe a coordinate by a function, or (-1) keep its value."""
    kind = f"offset{building.dimension}" if not c.angular else ("angle2" if building.dimension == 2 else "hinge3")
    start = {"angle" if c.angular else "displacement": c.start}
    building.add_block(label, kind, [c.nodes], function=float(index), **start, **c.columns)


def point_along(building: Building, j: JointRequest):
    if j.b != "ground":
        raise ModelError(f'this type works against "ground" only, not "{j.b}"', owner=j.owner)
    if j.axis is None:
        raise ModelError("it needs its direction", owner=j.owner, remedy="add axis = [...]")
    node, offset = building.point(j.a, j.point, j.owner)
    check_different(j, node, GROUND)
    place = building.global_point(node, offset) if j.point_b is None else building.vector(j.point_b, j.owner, "point_b")
    return node, offset, building.axis(j.axis, j.owner), place


def hold(building: Building, name, node, offset, direction, x, index) -> None:
    names = "xyz"[: building.dimension]
    building.add_block(
        name,
        f"position{building.dimension}",
        [[node]],
        function=float(index),
        position=float(direction @ x),
        **{f"n{c}": v for c, v in zip(names, direction, strict=True)},
        **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
    )


def joint_coordinate(building: Building, joint: str, coordinate: str | None, owner: str) -> tuple[str, JointCoordinate]:
    """Return name and data of a coordinate of a joint (None: its only or first one).

    Raises:
        ModelError: no such joint, or it has no such coordinate.
    """
    found = building.find("joint", joint, building.joints, owner)
    names = ", ".join(found.coordinates)
    if not found.coordinates:
        raise ModelError(f'a "{found.kind}" joint like "{joint}" has no coordinate to work on', owner=owner)
    key = next(iter(found.coordinates)) if coordinate is None else coordinate
    if key not in found.coordinates:
        raise ModelError(
            f"coordinate = {coordinate!r}",
            owner=owner,
            key="coordinate",
            value=coordinate,
            remedy=f'"{joint}" has {names}',
        )
    c = found.coordinates[key]
    if c.angular:
        building.needs_rotation += [(owner, node) for node in c.nodes if node != GROUND]
    return key, c


def spring_on(building: Building, label: str, c: JointCoordinate, law: SpringLaw, free: float) -> None:
    kind = f"{'torsion' if c.angular else 'slide'}{building.dimension}"
    if law.linear:
        start = {"angle" if c.angular else "displacement": c.start + free}
        values = {"stiffness": law.stiffness, "damping": law.damping, **start}
        building.add_block(label, kind, [c.nodes], **values, **c.columns)
        return
    values = {"free": c.start + free, **law.columns}
    building.add_block(label, f"{law.family}_{kind}{law.suffix}", [c.nodes], law.table, **values, **c.columns)


def measure_joint(building: Building, joint: str, key: str) -> str:
    """Output a coordinate of a joint by a spring without stiffness; return its label."""
    label = f"{joint}.{key}"
    if key not in building.joints[joint].measured:
        building.label("Joint coordinate", label)
        building.joints[joint].measured.add(key)
        spring_on(building, label, building.joints[joint].coordinates[key], SpringLaw(0.0, 0.0), 0.0)
    return label


def couple(building: Building, label: str, a: JointCoordinate, b: JointCoordinate, ratio: float) -> None:
    """Constrain b = ratio a since the start in the joint ``label``, as a condition in radians where there is an
    angle."""
    factors = (1.0, -1.0 / ratio) if a.angular and not b.angular else (ratio, -1.0)
    if a.angular == b.angular and abs(ratio) > 1.0:
        factors = (1.0, -1.0 / ratio)
    building.joints[label].coupled = (a, factors[0]), (b, factors[1])
    columns: dict[Any, Any] = {}
    for end, c in (("a", a), ("b", b)):
        values = list(c.columns.values())
        kinds = [f"{v}{x}_{end}" for v in "uvbc" for x in "xyz"[: building.dimension]]
        columns.update(zip(kinds, values + [0.0] * (len(kinds) - len(values)), strict=True))
    kind = "coupling" if a.angular or b.angular else "pulley"
    building.add_block(
        label,
        f"{kind}{building.dimension}",
        [(*a.nodes, *b.nodes)],
        angular_a=float(a.angular),
        angular_b=float(b.angular),
        factor_a=factors[0],
        factor_b=factors[1],
        value=factors[0] * a.start + factors[1] * b.start,
        **columns,
    )
