"""Supports, prescribed motions and joints of the model builder."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import make_function
from fem_mbs.model.connections.special_joints import SpecialJoints
from fem_mbs.model.connections.spring_laws import SpringLaw, spring_law
from fem_mbs.model.records import Joint, JointCoordinate
from fem_mbs.system.compile import GROUND

__all__ = ["JOINT_KINDS", "JointKind", "Joints"]


@dataclass(frozen=True)
class _Request:
    """Arguments of a joint."""

    owner: str
    name: str
    a: str
    b: str
    point: Any
    axis: Any
    function: Any
    displacement: Any
    axis_b: Any
    point_b: Any
    lead: Any


@dataclass(frozen=True)
class _Ends:
    """Both ends of a joint: nodes, and the offsets of the joint in their axes."""

    nodes: tuple[int, int]
    offsets: tuple[np.ndarray, np.ndarray]


def _least_rotation(b: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) about b x a that brings b to a, unit vectors less than a right angle apart or little
    more."""
    w = np.cross(b, a)
    S = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + S + S @ S / (1.0 + float(a @ b))


class Joints(SpecialJoints):
    """Supports, motions, joints."""

    # --- supports, motions, joints ---------------------------------------------------------------------------------
    def _component(self, owner: str, component: str) -> int:
        names = ("x", "y", "rotation") if self.dimension == 2 else ("x", "y", "z")
        if component not in names:
            raise ModelError(f"{owner}: component {component!r} must be one of {', '.join(names)}")
        return names.index(component)

    def fix(self, on: Any, components: Sequence[str] | None = None) -> None:
        """Hold nodes where they are; ``components`` of "x", "y", "z", "rotation" (None: all that a node has), in space
        also "rotation x", "rotation y", "rotation z", about the global axes."""
        owner = f'Support on "{on}"'
        nodes = self.nodes_of(on, owner)
        if isinstance(components, str):
            components = [components]
        for component in components or (["x", "y", "z"][: self.dimension]):
            if component == "rotation" and self.dimension == 3:
                self.fixed += [(int(n), 3 + k) for n in nodes for k in range(3)]
                continue
            if self.dimension == 3 and component in ("rotation x", "rotation y", "rotation z"):
                self.fixed += [(int(n), 3 + "xyz".index(component[-1])) for n in nodes]
                continue
            k = self._component(owner, component)
            if component == "rotation":
                self.needs_rotation += [(owner, int(n)) for n in nodes]
            self.fixed += [(int(n), k) for n in nodes]
        if components is None:
            rotations = [2] if self.dimension == 2 else [3, 4, 5]
            self.fixed += [(int(n), -k) for n in nodes for k in rotations]  # where the node turns out to have them

    def motion(self, name: str, on: str, component: str, function: Any) -> None:
        """Prescribe a motion: a coordinate of nodes or a body follows its start value + f(t)."""
        owner = self.label("Motion", name)
        k = self._component(owner, component)
        index = self.function_index(function, owner, load=False)
        for node in self.nodes_of(on, owner):
            if component == "rotation":
                self.needs_rotation.append((owner, int(node)))
            self.driven.append((int(node), k, index, owner))

    def joint(
        self,
        name: str,
        kind: str,
        a: str,
        b: str = "ground",
        point: Any = None,
        axis: Any = None,
        function: Any = None,
        displacement: Any = None,
        axis_b: Any = None,
        point_b: Any = None,
        lead: Any = None,
        speed: Any = None,
    ) -> None:
        """Add a joint between two places.

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
            "along_beam": the point of b slides along the elastic line of a, the name of a beam or truss; function:
                drives its path length along it.
            "distance": the points ``point`` of a and ``point_b`` of b keep their distance; function: changes it [m].
            "slider": the point of a moves along ``axis`` through its place at the start (b must be "ground").
            "position": the point of a moves by f(t) along ``axis`` (b must be "ground").
            "angle": b turns by f(t) more than a (in space about ``axis``).

        Args:
            point: where the joint is, in global coordinates of the start; None: the node of a or b.
            function, displacement: angle [rad] or displacement [m] since the start; any number of turns.
            speed: [rad/s] or [m/s], instead of a function: it grows steadily.
            point_b, axis_b: where point and axis are in b, for parts that stand apart or askew and that `assembly`
                brings together (b as it stands in the model; of the ground where they shall be).
        """
        owner = self.label("Joint", name)
        if kind not in JOINT_KINDS:
            close = difflib.get_close_matches(str(kind), list(JOINT_KINDS), n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(f"{owner}: unknown type {kind!r}{hint}; there are {', '.join(JOINT_KINDS)}")
        found = JOINT_KINDS[kind]
        known = found.keys if self.dimension == 3 else found.plane_keys
        if known is None:
            plane = ", ".join(name for name, other in JOINT_KINDS.items() if other.plane_keys is not None)
            raise ModelError(f'{owner}: a "{kind}" joint is one of space; in the plane there are {plane}')
        if speed is not None:
            if function is not None:
                raise ModelError(f"{owner}: function and speed both say how it moves; remove one")
            if "function" not in known:
                raise ModelError(f'{owner}: a "{kind}" joint has no speed; remove it')
            function = make_function({"kind": "constant_speed", "rate": self.number(speed, owner, "speed")}, name=owner)
        given = {
            "point": point, "axis": axis, "function": function, "displacement": displacement, "axis_b": axis_b,
            "point_b": point_b, "lead": lead,
        }  # fmt: skip
        for key, value in given.items():
            if value is not None and key not in known:
                raise ModelError(f'{owner}: a "{kind}" joint has no {key}; remove it')
        self.joints[name] = Joint(kind)
        getattr(self, found.method)(_Request(owner, name, a, b, **given))

    def drivers(self) -> list[str]:
        """Return names of the motions and of the joints that functions drive, in the order in which they were made."""
        names = [owner.partition('"')[2].removesuffix('"') for _, _, _, owner in self.driven]
        for block in self.blocks:
            t = block.type
            if t.multipliers and "function" in t.par and (block.par[:, t.column("function")] >= 0.0).any():
                names += [label for label, _, _ in block.groups if label in self.joints]
        return list(dict.fromkeys(names))

    # --- the kinds -------------------------------------------------------------------------------------------------
    def _pin(self, j: _Request) -> None:
        ends = self._ends(j)
        self.add_block(j.name, f"point{self.dimension}", [ends.nodes], **self._offsets(ends))
        if self.dimension == 2:
            self.joints[j.name].coordinates["angle"] = self.relative_angle(j.owner, ends.nodes, None)

    def _weld(self, j: _Request) -> None:
        self._pin(j)
        self.joints[j.name].coordinates.clear()
        self._relative_rotation(j, np.array([0.0, 0.0, 1.0]), -1)

    def _revolute(self, j: _Request) -> None:
        self._pin(j)
        nodes = self._turning_ends(j)
        if self.dimension == 3:
            self._align(j, nodes)
        self._coordinate(j, "angle", self.relative_angle(j.owner, nodes, j.axis, turn=self._turn(j)), j.function)

    def _universal(self, j: _Request) -> None:
        a, b = self.axis(j.axis, j.owner), self.axis(j.axis_b, j.owner, "axis_b")
        if np.linalg.norm(np.cross(a, b)) < 1e-6:
            raise ModelError(
                f"{j.owner}: axis and axis_b are parallel; give the axes of both yokes, which lie across each other"
            )
        self._pin(j)
        nodes = self._turning_ends(j)
        self._direction(j, nodes, a, b)
        self._coordinate(j, "angle", self.relative_angle(j.owner, nodes, a, b))
        # seen from b a turns the other way, so about the opposite axis it turns the same way
        self._coordinate(j, "angle_b", self.relative_angle(j.owner, nodes[::-1], -b, a))

    def _cylindrical(self, j: _Request) -> None:
        ends = self._ends(j)
        nodes = self._turning_ends(j)
        u, v, n = self.triad(j.owner, j.axis).T
        self._guide(j, ends, (u, v))
        self._align(j, nodes)
        self._coordinate(j, "angle", self.relative_angle(j.owner, nodes, n, turn=self._turn(j)), j.function)
        self._coordinate(j, "displacement", self._displacement(ends, n), j.displacement)

    def _prismatic(self, j: _Request) -> None:
        ends = self._ends(j)
        if self.dimension == 2:
            n = self.axis(j.axis, j.owner)
            across = [np.array([-n[1], n[0]])]
        else:
            *across, n = self.triad(j.owner, j.axis).T
        self._guide(j, ends, across)
        self._relative_rotation(j, n, -1)
        self._coordinate(j, "displacement", self._displacement(ends, n), j.function)

    def _planar(self, j: _Request) -> None:
        ends = self._ends(j)
        nodes = self._turning_ends(j)
        n = self.axis(j.axis, j.owner)
        self._guide(j, ends, (n,))
        self._align(j, nodes)
        self._coordinate(j, "angle", self.relative_angle(j.owner, nodes, n, turn=self._turn(j)), j.function)

    def _slider(self, j: _Request) -> None:
        node, offset, n, x = self._along(j)
        across = [np.array([-n[1], n[0]])] if self.dimension == 2 else list(self.triad(j.owner, n).T[:2])
        for direction in across:
            self._hold(j.name, node, offset, direction, x, -1)

    def _driven_position(self, j: _Request) -> None:
        if j.function is None:
            raise ModelError(
                f'{j.owner}: a "position" joint needs the function of its displacement; add function = ...'
            )
        node, offset, n, x = self._along(j)
        self._hold(j.name, node, offset, n, x, self.function_index(j.function, j.owner, load=False))

    def _driven_angle(self, j: _Request) -> None:
        if j.function is None:
            raise ModelError(f'{j.owner}: an "angle" joint needs the function of its angle; add function = ...')
        nodes = self._relative_rotation(j, j.axis, self.function_index(j.function, j.owner, load=False))
        self._coordinate(j, "angle", self.relative_angle(j.owner, nodes, j.axis))
        self.joints[j.name].driven["angle"] = j.name

    # --- what they are made of -------------------------------------------------------------------------------------
    def _meeting_point(self, owner: str, a: str, b: str, point):
        """Return the common point of two places: the given point, or the node of a place that is not a body."""
        if point is not None:
            return self.vector(point, owner, "point")
        found = self._own_places(a, b, owner)
        if not found:
            raise ModelError(f"{owner}: rigid bodies have many points; say where the joint is with point = [...]")
        if len(found) == 2 and self.assembling is None:
            gap = float(np.linalg.norm(found[1] - found[0]))
            if gap > 1e-9 * max(1.0, float(np.abs(found[0]).max())):
                raise ModelError(
                    f'{owner}: "{a}" and "{b}" are {gap:g} m apart; move one, give the point of the joint, or ask for '
                    "an assembly before it"
                )
        return found[0]

    def _own_places(self, a: str, b: str, owner: str = "Joint") -> list[np.ndarray]:
        """Return positions of those of two places that are nodes, not bodies."""
        return [self.position(self.node_of(p, owner)) for p in (a, b) if p != "ground" and p not in self.bodies]

    def _turn(self, j: _Request):
        """Return rotation that brings axis_b onto axis, the shortest; None: they are one."""
        if j.axis_b is None or j.axis is None:
            return None
        a, b = self.axis(j.axis, j.owner), self.axis(j.axis_b, j.owner, "axis_b")
        if self.dimension == 2:
            return float(np.arctan2(b[0] * a[1] - b[1] * a[0], a @ b))
        if np.linalg.norm(np.cross(b, a)) < 1e-12:
            if float(a @ b) < 0.0:
                raise ModelError(f"{j.owner}: axis_b is opposite to axis; turn one of them round")
            return None
        if float(a @ b) > 0.0:
            return _least_rotation(b, a)
        # half a turn about b, then one about the bisector; what round-off leaves of that is a small rotation
        half = (a + b) / np.linalg.norm(a + b)
        turn = (2.0 * np.outer(half, half) - np.eye(3)) @ (2.0 * np.outer(b, b) - np.eye(3))
        return _least_rotation(turn @ b, a) @ turn

    def _ends(self, j: _Request) -> _Ends:
        """Return nodes of both places and where on them the joint is."""
        where = self._meeting_point(j.owner, j.a, j.b, j.point)
        where_b = where if j.point_b is None else self.vector(j.point_b, j.owner, "point_b")
        if j.point is None and self.assembling is not None and len(self._own_places(j.a, j.b)) == 2:
            where, where_b = self._own_places(j.a, j.b)  # each its own node, wherever it stands
        node_a, off_a = self.point(j.a, where, j.owner)
        node_b, off_b = self.point(j.b, where_b, j.owner)
        self._different(j, node_a, node_b)
        return _Ends((node_a, node_b), (off_a, off_b))

    def _different(self, j: _Request, node_a: int, node_b: int) -> None:
        if node_a == node_b:
            raise ModelError(f'{j.owner}: both ends are "{j.a}"; join two different places')

    def _turning_ends(self, j: _Request) -> tuple[int, int]:
        nodes = self.turning_node(j.a, j.owner), self.turning_node(j.b, j.owner)
        self._different(j, *nodes)
        return nodes

    def _offsets(self, ends: _Ends) -> dict[str, float]:
        names = "xyz"[: self.dimension]
        return {
            f"a{c}_{end}": float(v)
            for end, offset in zip("ab", ends.offsets, strict=True)
            for c, v in zip(names, offset, strict=True)
        }

    def _displacement(self, ends: _Ends, direction: np.ndarray) -> JointCoordinate:
        """Return the displacement of b's point against a's along a direction fixed in a."""
        local = self.rotation_matrix(ends.nodes[0]).T @ direction
        columns = {f"e{c}": float(v) for c, v in zip("xyz"[: self.dimension], local, strict=True)}
        return JointCoordinate(False, ends.nodes, {**columns, **self._offsets(ends)})

    def node_displacement(self, a: int, b: int, direction: np.ndarray) -> JointCoordinate:
        """Return the displacement of node b against node a (-1: ground) along a direction fixed in a, zero at the
        start."""
        offset = np.zeros(self.dimension)
        x = self.position(b)
        c = self._displacement(_Ends((a, b), (x if a == GROUND else offset, offset)), direction)
        start = 0.0 if a == GROUND else float((x - self.position(a)) @ direction)
        return JointCoordinate(False, c.nodes, c.columns, start)

    def _direction(self, j: _Request, nodes, a: np.ndarray, b: np.ndarray, cosine: float | None = None) -> None:
        """Keep the angle between a direction of each end, or prescribe its cosine."""
        columns = {}
        for key, node, vector in zip("ab", nodes, (a, b), strict=True):
            local = self.rotation_matrix(node).T @ vector
            columns.update({f"{key}{c}": v for c, v in zip("xyz", local, strict=True)})
        cosine = float(a @ b) if cosine is None else cosine
        self.add_block(j.name, "direction3", [nodes], cosine=cosine if abs(cosine) > 1e-15 else 0.0, **columns)

    def _align(self, j: _Request, nodes) -> None:
        """Align the joint's axis at both ends."""
        u, v, n = self.triad(j.owner, j.axis).T
        turn = self._turn(j)
        for across in (u, v):
            self._direction(j, nodes, n, across if turn is None else turn.T @ across, 0.0)

    def _guide(self, j: _Request, ends: _Ends, directions) -> None:
        """Constrain the displacement of b's point against a's along these directions of a."""
        for direction in directions:
            self.drive(j.name, self._displacement(ends, direction), -1)

    def _relative_rotation(self, j: _Request, axis, index: int) -> tuple[int, int]:
        """Constrain the relative rotation, except a given function about the axis."""
        nodes = self._turning_ends(j)
        turn = self._turn(j)
        if self.dimension == 2:
            self.drive(j.name, self.relative_angle(j.owner, nodes, None, turn=turn), index)
            return nodes
        u, v, n = self.triad(j.owner, axis).T
        triad = np.column_stack((n, u, v))  # the driven turn is about the first vector
        columns = {}
        for key, node in zip("ab", nodes, strict=True):
            stands = triad if turn is None or key == "a" else turn.T @ triad
            local = self.rotation_matrix(node).T @ stands
            columns.update({f"{key}{i + 1}{k + 1}": local[i, k] for i in range(3) for k in range(3)})
        self.add_block(j.name, "orientation3", [nodes], function=float(index), **columns)
        return nodes

    def _coordinate(self, j: _Request, key: str, coordinate: JointCoordinate, function=None) -> None:
        """Add a coordinate of the joint, driven if there is a function."""
        self.joints[j.name].coordinates[key] = coordinate
        if function is not None:
            self.joints[j.name].driven[key] = j.name
            self.drive(j.name, coordinate, self.function_index(function, j.owner, load=False))

    def drive(self, label: str, c: JointCoordinate, index: int) -> None:
        """Prescribe a coordinate by a function, or (-1) keep its value."""
        kind = f"offset{self.dimension}" if not c.angular else ("angle2" if self.dimension == 2 else "hinge3")
        start = {"angle" if c.angular else "displacement": c.start}
        self.add_block(label, kind, [c.nodes], function=float(index), **start, **c.columns)

    def _along(self, j: _Request):
        if j.b != "ground":
            raise ModelError(f'{j.owner}: this type works against "ground" only, not "{j.b}"')
        if j.axis is None:
            raise ModelError(f"{j.owner}: it needs its direction; add axis = [...]")
        node, offset = self.point(j.a, j.point, j.owner)
        self._different(j, node, GROUND)
        place = self.global_point(node, offset) if j.point_b is None else self.vector(j.point_b, j.owner, "point_b")
        return node, offset, self.axis(j.axis, j.owner), place

    def _hold(self, name, node, offset, direction, x, index) -> None:
        names = "xyz"[: self.dimension]
        self.add_block(
            name,
            f"position{self.dimension}",
            [[node]],
            function=float(index),
            position=float(direction @ x),
            **{f"n{c}": v for c, v in zip(names, direction, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    # --- on joint coordinates --------------------------------------------------------------------------------------
    def joint_coordinate(self, joint: str, coordinate: str | None, owner: str) -> tuple[str, JointCoordinate]:
        """Return name and data of a coordinate of a joint (None: its only or first one).

        Raises:
            ModelError: no such joint, or it has no such coordinate.
        """
        found = self.find("joint", joint, self.joints, owner)
        names = ", ".join(found.coordinates)
        if not found.coordinates:
            raise ModelError(f'{owner}: a "{found.kind}" joint like "{joint}" has no coordinate to work on')
        key = next(iter(found.coordinates)) if coordinate is None else coordinate
        if key not in found.coordinates:
            raise ModelError(f'{owner}: coordinate = {coordinate!r}; "{joint}" has {names}')
        c = found.coordinates[key]
        if c.angular:
            self.needs_rotation += [(owner, node) for node in c.nodes if node != GROUND]
        return key, c

    def joint_spring(
        self,
        name: str,
        joint: str,
        stiffness: float | None = None,
        damping: float = 0.0,
        free: float = 0.0,
        coordinate: str | None = None,
        *,
        cubic: float = 0.0,
        preload: float = 0.0,
        table: Any = None,
        interpolation: str = "linear",
        damping_table: Any = None,
        stops: Any = None,
        stop_stiffness: float | None = None,
        stop_damping: float = 0.0,
    ) -> None:
        """Add a spring-damper on a coordinate of a joint: [N m/rad], [N m s/rad] on an angle, [N/m], [N s/m] on a
        slide.

        Args:
            free: value of the coordinate, zero at the start, at which the spring is free [rad] or [m].
            coordinate: "angle" or "displacement", of a universal joint also "angle_b"; None: the joint's first one.
            stops: values of the coordinate; they and the rest as for `spring`, over the coordinate less ``free``.
        """
        owner = self.label("Joint spring", name)
        _, c = self.joint_coordinate(joint, coordinate, owner)
        found = spring_law(
            self, owner, start=c.start, stiffness=stiffness, damping=damping,
            cubic=cubic, preload=preload, table=table, interpolation=interpolation, damping_table=damping_table,
            stops=stops, stop_stiffness=stop_stiffness, stop_damping=stop_damping,
        )  # fmt: skip
        self.spring_on(name, c, found, self.number(free, owner, "free"))

    def spring_on(self, label: str, c: JointCoordinate, law: SpringLaw, free: float) -> None:
        kind = f"{'torsion' if c.angular else 'slide'}{self.dimension}"
        if law.linear:
            start = {"angle" if c.angular else "displacement": c.start + free}
            values = {"stiffness": law.stiffness, "damping": law.damping, **start}
            self.add_block(label, kind, [c.nodes], **values, **c.columns)
            return
        values = {"free": c.start + free, **law.columns}
        self.add_block(label, f"nonlinear_{kind}", [c.nodes], law.table, **values, **c.columns)

    def measure_joint(self, joint: str, key: str) -> str:
        """Output a coordinate of a joint by a spring without stiffness; return its label."""
        label = f"{joint}.{key}"
        if key not in self.joints[joint].measured:
            self.label("Joint coordinate", label)
            self.joints[joint].measured.add(key)
            self.spring_on(label, self.joints[joint].coordinates[key], SpringLaw(0.0, 0.0), 0.0)
        return label


@dataclass(frozen=True)
class JointKind:
    """A kind of `Model.joint`: what it is in one line, the method of `Joints` that builds it, the keys that it takes.

    ``plane_keys`` are those in the plane; None: there is no such joint in the plane.
    """

    text: str
    method: str
    keys: tuple[str, ...]
    plane_keys: tuple[str, ...] | None


def _kind(text: str, method: str, keys: str, plane: str | None = "same") -> JointKind:
    """A kind from its keys in words; ``plane``: those in the plane, "same" or None."""
    in_plane = keys if plane == "same" else plane
    return JointKind(text, method, tuple(keys.split()), None if in_plane is None else tuple(in_plane.split()))


#: All kinds of `Model.joint`.
JOINT_KINDS: dict[str, JointKind] = {
    "pin": _kind("two points coincide", "_pin", "point point_b"),
    "spherical": _kind("two points coincide (another name of pin)", "_pin", "point point_b"),
    "weld": _kind("two points coincide, no relative rotation", "_weld", "point point_b"),
    "revolute": _kind(
        "rotation about an axis only; its angle can be driven",
        "_revolute", "point axis function point_b axis_b", "point function point_b",
    ),
    "universal": _kind(
        "two points coincide, rotation about an axis of either part",
        "_universal", "point axis axis_b point_b", None,
    ),
    "cylindrical": _kind(
        "rotation about an axis and displacement along it; both can be driven",
        "_cylindrical", "point axis function displacement point_b axis_b", None,
    ),
    "prismatic": _kind(
        "displacement along an axis, no relative rotation; can be driven",
        "_prismatic", "point axis function point_b axis_b",
    ),
    "planar": _kind(
        "displacement in a plane and rotation about its normal; its angle can be driven",
        "_planar", "point axis function point_b axis_b", None,
    ),
    "screw": _kind(
        "rotation about an axis and displacement along it by a lead per turn; its angle can be driven",
        "_screw", "point axis function lead point_b axis_b", None,
    ),
    "constant_velocity": _kind(
        "two points coincide, two shafts turn by the same angle through any bend",
        "_constant_velocity", "point axis axis_b point_b", None,
    ),
    "point_on_line": _kind(
        "a point moves along a line of the other part; can be driven",
        "_point_on_line", "point axis function point_b",
    ),
    "point_on_plane": _kind(
        "a point stays on a plane of the other part", "_point_on_plane", "point axis point_b", None
    ),
    "distance": _kind(
        "two points keep their distance, or change it as driven", "_distance", "point point_b function"
    ),
    "along_beam": _kind(
        "a point slides along the elastic line of a beam or truss; can be driven", "_along_beam", "point function"
    ),
    "slider": _kind("a point moves along a line fixed in space", "_slider", "point axis point_b"),
    "position": _kind(
        "a point moves by a function of time along a direction", "_driven_position", "point axis function point_b"
    ),
    "angle": _kind("a relative angle is a function of time", "_driven_angle", "axis function"),
}  # fmt: skip
