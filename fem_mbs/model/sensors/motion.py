"""Sensors of places: positions, velocities, accelerations, rotations, distances and angles.

Theory: docs/theory.md, section 3, "Accelerations".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import FLAG, PLACE, VECTOR, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.rotations import rotation_vectors
from fem_mbs.solvers.stepping.layout import REC_D, REC_Q, REC_V

__all__ = [
    "Acceleration",
    "Angle",
    "AngularAcceleration",
    "AngularVelocity",
    "Deflection",
    "Displacement",
    "Distance",
    "ObservedPoint",
    "Position",
    "Rotation",
    "Velocity",
]


class ObservedPoint:
    """A point of a node or body: its records, and position, directions and velocities from them.

    Args:
        turns: the node must turn, and its directions are recorded.
        moves: velocities are recorded; the angular one if the node turns or the point is not the node.
    """

    def __init__(self, model, place: str, point, owner: Owner, turns: bool = False, moves: bool = False):
        if place == "ground":
            raise ModelError('"ground" does not move', owner=owner, remedy="name a node or body")
        if point is not None:
            self.node, self.offset = model.point(place, point, owner, frames=True)
        else:
            find = model.turning_node if turns else model.node_of
            self.node, self.offset = find(place, owner, frames=True), np.zeros(model.dimension)
        self.eccentric = bool(np.any(self.offset))
        self.turns, self.moves = turns or self.eccentric, moves
        self.dim = model.dimension
        self.start = model.global_point(self.node, self.offset)
        self.start_directions = model.rotation_matrix(self.node)
        spin = 1 if self.dim == 2 else 3
        sizes = (self.dim, (2 if self.dim == 2 else 9) * self.turns, self.dim * moves, spin * moves * self.turns)
        self._at = np.cumsum((0, *sizes))

    def bind(self, system) -> list[tuple[int, int]]:
        records = [(REC_Q, int(k)) for k in system.position_dofs(self.node)]
        if self.turns:
            records += direction_records(system, self.node)
        if self.moves:
            records += [(REC_V, int(k)) for k in system.position_dofs(self.node)]
        if self.moves and self.turns:
            first = int(system.offset[self.node]) + self.dim
            records += [(REC_V, first + i) for i in range(1 if self.dim == 2 else 3)]
        return records

    @property
    def size(self) -> int:
        """Number of records."""
        return int(self._at[-1])

    def _of(self, values: np.ndarray, i: int) -> np.ndarray:
        return values[:, self._at[i] : self._at[i + 1]]

    def directions(self, values: np.ndarray) -> np.ndarray:
        """Return R (n, dim, dim), whose columns are the axes of the node, from the records of this point."""
        d = self._of(values, 1)
        if self.dim == 3:
            return d.reshape(-1, 3, 3)
        c, s = d.T
        return np.stack((c, -s, s, c), axis=1).reshape(-1, 2, 2)

    def arm(self, values: np.ndarray) -> np.ndarray:
        """Return R a (n, dim) from the records of this point."""
        return self.directions(values) @ self.offset

    def position(self, values: np.ndarray) -> np.ndarray:
        x = self._of(values, 0)
        return x + self.arm(values) if self.eccentric else x

    def spin(self, values: np.ndarray) -> np.ndarray:
        """Return the angular velocity (n, 1) or (n, 3) in global axes."""
        w = self._of(values, 3)
        return w if self.dim == 2 else np.einsum("nij,nj->ni", self.directions(values), w)

    def velocity(self, values: np.ndarray) -> np.ndarray:
        v = self._of(values, 2)
        return v + _cross(self.spin(values), self.arm(values)) if self.eccentric else v


class GroundPoint:
    """A point of the ground, which records nothing."""

    size = 0

    def __init__(self, model, point, owner: Owner, key: str):
        _, self.start = model.point("ground", point, owner, key=key)

    def bind(self, system) -> list[tuple[int, int]]:
        return []

    def position(self, values: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.start, (len(values), len(self.start)))


def _points(model, places: dict[str, tuple[Any, Any]], owner: Owner) -> list[ObservedPoint | GroundPoint]:
    """Return what is looked at of places and their points in global coordinates of the start, by the keys of the
    points; one of the places must move."""
    if all(place == "ground" for place, _ in places.values()):
        raise ModelError('points of "ground" do not move', owner=owner, remedy="name a node or body")
    return [
        GroundPoint(model, point, owner, key) if place == "ground" else ObservedPoint(model, place, point, owner)
        for key, (place, point) in places.items()
    ]


def _cross(w: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return w x r for angular velocities (n, 1) of the plane or (n, 3)."""
    return w * np.column_stack((-r[:, 1], r[:, 0])) if r.shape[1] == 2 else np.cross(w, r)


def _turned(R: np.ndarray, vectors: np.ndarray, back: bool = False) -> np.ndarray:
    """Return R v, or R^T v with ``back``, of vectors (n, dim)."""
    return np.einsum("nji,nj->ni" if back else "nij,nj->ni", R, vectors)


def _orthonormal(R: np.ndarray) -> np.ndarray:
    """Return the rotations (n, dim, dim) nearest to the mean of two rotations each: half-way between them."""
    u, _, vt = np.linalg.svd(R)
    return u @ vt


class _Seen(Sensor):
    """A vector of the motion of a place, in axes and relative to a body that moves, if these are named."""

    moves = False  # velocities are recorded

    def place(self, on: Any, point: Any, axes: Any, relative_to: Any, turns: bool = False) -> None:
        """Find the place, the observer and the axes; ``turns``: the place itself must turn."""
        model, owner = self.model, self.owner
        self.points = {"on": ObservedPoint(model, on, point, owner, turns, self.moves)}
        if relative_to not in (None, "ground"):
            self.points["observer"] = ObservedPoint(model, relative_to, None, owner, True, self.moves)
            if self.points["observer"].node == self.points["on"].node:
                raise ModelError(
                    f'"{on}" is looked at relative to itself', owner=owner, key="relative_to", value=relative_to,
                    remedy="name another node or body, or remove it",
                )  # fmt: skip
        if axes not in (None, "ground"):
            self.points["axes"] = ObservedPoint(model, axes, None, owner, True)

    def bind(self, compiled):
        return [r for p in self.points.values() for r in p.bind(compiled.system)]

    def split(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return the records of each point."""
        at, out = 0, {}
        for name, p in self.points.items():
            out[name] = values[:, at : at + p.size]
            at += p.size
        return out

    def in_axes(self, vectors: np.ndarray, own: dict[str, np.ndarray]) -> np.ndarray:
        """Return vectors (n, dim) of global axes in those asked for."""
        if "axes" not in own:
            return vectors
        return _turned(_orthonormal(self.points["axes"].directions(own["axes"])), vectors, back=True)

    def by_observer(self, vectors: np.ndarray, own: dict[str, np.ndarray], back: bool) -> np.ndarray:
        """Return vectors (n, dim) of global axes in those of the observer, or ``back``; without one as they are."""
        if "observer" not in own or vectors.shape[1] == 1:
            return vectors
        return _turned(_orthonormal(self.points["observer"].directions(own["observer"])), vectors, back=not back)

    def turned(self, rates, values):
        own = self.split(values)
        return self.in_axes(self.by_observer(rates, own, back=True), own)


class _Position(_Seen):
    def prepare(self, on, point, axes, relative_to):
        self.place(on, point, axes, relative_to)
        self.columns = [f"{self.name}.{c}" for c in "xyz"[: self.model.dimension]]

    def evaluate(self, values, ledger):
        own = self.split(values)
        r = self.points["on"].position(own["on"])
        if "observer" in own:
            r = r - self.points["observer"].position(own["observer"])
        return self.in_axes(r, own)


class _Displacement(_Position):
    def evaluate(self, values, ledger):
        own, point, body = self.split(values), self.points["on"], self.points.get("observer")
        if body is None:
            return self.in_axes(point.position(own["on"]) - point.start, own)
        start = body.start_directions.T @ (point.start - body.start)
        carried = body.position(own["observer"]) + body.directions(own["observer"]) @ start
        return self.in_axes(point.position(own["on"]) - carried, own)


class _Velocity(_Position):
    unit, moves = "m/s", True

    def relative(self, own):
        """Return the velocity in global axes, of an observer as he sees it."""
        point, body = self.points["on"], self.points.get("observer")
        v = point.velocity(own["on"])
        if body is None:
            return v
        there = own["observer"]
        r = point.position(own["on"]) - body.position(there)
        return v - body.velocity(there) - _cross(body.spin(there), r)

    def evaluate(self, values, ledger):
        own = self.split(values)
        return self.in_axes(self.relative(own), own)


class _Acceleration(_Velocity):
    unit, mid_step, rate = "m/s^2", True, True

    def evaluate(self, values, ledger):
        own = self.split(values)
        return self.by_observer(self.relative(own), own, back=False)


class _AngularVelocity(_Seen):
    unit, moves = "rad/s", True

    def prepare(self, on, axes, relative_to):
        plane = self.model.dimension == 2
        if plane and axes is not None:
            raise ModelError(
                f"axes = {shown(axes)} have no meaning in the plane, where all turn about its normal",
                owner=self.owner, key="axes", value=axes, remedy="remove them",
            )  # fmt: skip
        self.place(on, None, axes, relative_to, turns=True)
        self.columns = [self.name] if plane else [f"{self.name}.{c}" for c in "xyz"]

    def relative(self, own):
        """Return the angular velocity in global axes, of an observer as he sees it."""
        w = self.points["on"].spin(own["on"])
        return w - self.points["observer"].spin(own["observer"]) if "observer" in own else w

    def evaluate(self, values, ledger):
        own = self.split(values)
        return self.in_axes(self.relative(own), own)


class _AngularAcceleration(_AngularVelocity):
    unit, mid_step, rate = "rad/s^2", True, True

    def evaluate(self, values, ledger):
        own = self.split(values)
        return self.by_observer(self.relative(own), own, back=False)


class _Rotation(Sensor):
    unit = "rad"

    def prepare(self, on):
        self.node = self.model.turning_node(on, self.owner, frames=True)
        if self.node < 0:
            raise ModelError('"ground" does not turn', owner=self.owner, remedy="name a node or body")
        self.columns = [self.name] if self.model.dimension == 2 else [f"{self.name}.{c}" for c in "xyz"]

    def bind(self, compiled):
        return rotation_records(compiled.system, self.node)

    def evaluate(self, values, ledger):
        if self.model.dimension == 2:
            return values - self.model.start_angle(self.node)
        start = self.model.rotation_matrix(self.node)
        return rotation_vectors(values.reshape(-1, 3, 3) @ start.T)


def rotation_records(system: Any, node: int) -> list[tuple[int, int]]:
    if system.dimension == 2:
        return [(REC_Q, int(system.offset[node]) + 2)]
    return direction_records(system, node)


def direction_records(system: Any, node: int) -> list[tuple[int, int]]:
    """Return the records of the directions of a node: cosine and sine of its angle, in space its rotation matrix."""
    width = 2 if system.dimension == 2 else 9
    first = width * int(system.rot_row[node])
    return [(REC_D, first + i) for i in range(width)]


class _Distance(Sensor):
    def prepare(self, a, b, point_a, point_b):
        self.points = _points(self.model, {"point_a": (a, point_a), "point_b": (b, point_b)}, self.owner)

    def bind(self, compiled):
        return [r for p in self.points for r in p.bind(compiled.system)]

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        at, out = 0, []
        for p in self.points:
            out.append(p.position(values[:, at : at + p.size]))
            at += p.size
        return out

    def vector(self, values):
        a, b = self.split(values)
        return b - a

    def evaluate(self, values, ledger):
        return np.linalg.norm(self.vector(values), axis=1)[:, None]


class _Deflection(_Distance):
    def prepare(self, on, a, b, point, point_a, point_b, relative, axes):
        places = {"point": (on, point), "point_a": (a, point_a), "point_b": (b, point_b)}
        self.points = _points(self.model, places, self.owner)
        chord = float(np.linalg.norm(self.points[2].start - self.points[1].start))
        if chord == 0.0:
            raise ModelError(f'"{a}" and "{b}" are at the same place, there is no chord between them', owner=self.owner)
        self.factor = 1.0 / chord if relative else 1.0
        self.unit = "-" if relative else "m"
        self.axes: ObservedPoint | None = None
        self.seen = axes is not None  # components instead of a size
        if axes not in (None, "ground"):
            self.axes = ObservedPoint(self.model, axes, None, self.owner, True)
        if self.seen:
            self.columns = [f"{self.name}.{c}" for c in "xyz"[: self.model.dimension]]

    def bind(self, compiled):
        own = super().bind(compiled)
        return own if self.axes is None else own + self.axes.bind(compiled.system)

    def vector(self, values):
        if self.model.dimension == 2 or self.seen:
            return None
        p, a, b = self.split(values)
        chord = b - a
        return self.factor * np.cross(chord, p - a) / np.linalg.norm(chord, axis=1)[:, None]

    def evaluate(self, values, ledger):
        if self.seen:
            return self._components(values)
        if self.model.dimension == 3:
            return np.linalg.norm(self.vector(values), axis=1)[:, None]
        p, a, b = self.split(values)
        chord = b - a
        w = (chord[:, 0] * (p - a)[:, 1] - chord[:, 1] * (p - a)[:, 0]) / np.linalg.norm(chord, axis=1)
        return (self.factor * w)[:, None]

    def _components(self, values: np.ndarray) -> np.ndarray:
        """Return the components (n, dim) of the way from the chord to the point, across the chord."""
        p, a, b = self.split(values)
        chord = b - a
        share = np.einsum("ni,ni->n", p - a, chord) / np.einsum("ni,ni->n", chord, chord)
        across = self.factor * (p - a - share[:, None] * chord)
        if self.axes is None:
            return across
        return _turned(_orthonormal(self.axes.directions(values[:, -self.axes.size :])), across, back=True)


class _Angle(Sensor):
    unit = "rad"

    def prepare(self, a, b):
        self.nodes = [self.model.turning_node(place, self.owner, frames=True) for place in (a, b)]

    def bind(self, compiled):
        return [r for n in self.nodes if n >= 0 for r in rotation_records(compiled.system, n)]

    def evaluate(self, values, ledger):
        if self.model.dimension == 3:
            return np.linalg.norm(self.vector(values), axis=1)[:, None]
        angles, at = [], 0
        for n in self.nodes:
            angles.append(values[:, at] - self.model.start_angle(n) if n >= 0 else 0.0)
            at += n >= 0
        return np.reshape(angles[1] - angles[0], (-1, 1))

    def vector(self, values):
        if self.model.dimension == 2:
            return None
        turned, at = [], 0
        for n in self.nodes:
            if n >= 0:
                R = values[:, at : at + 9].reshape(-1, 3, 3)
                turned.append(R @ self.model.rotation_matrix(n).T)
                at += 9
            else:
                turned.append(np.broadcast_to(np.eye(3), (len(values), 3, 3)))
        relative = np.einsum("nij,nik->njk", turned[0], turned[1])
        return rotation_vectors(relative)


_POINT = "of a body, in global coordinates of the start; else its node"
_POINT_A = 'of a body or of "ground", in global coordinates of the start; else its node'
_AXES = "node or body in whose axes, which turn with it, the components are; else global ones"
_RELATIVE = "node or body with which the observer moves and turns; else the ground"


@dataclass(frozen=True, eq=False)
class Position(SensorRequest):
    """Of a node, or of a point of a body [m]; relative to a body: from its node."""

    sensor = _Position

    kind: str = kind_key("position")
    on: Any = key(PLACE, "what is looked at", kw_only=True)
    point: Any = key(VECTOR, _POINT, None, unit="m", kw_only=True)
    axes: Any = key(PLACE, _AXES, None, kw_only=True)
    relative_to: Any = key(PLACE, _RELATIVE, None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Displacement(Position):
    """Since the start [m]; relative to a body: from the place to which the body alone would have carried it."""

    sensor = _Displacement

    kind: str = kind_key("displacement")


@dataclass(frozen=True, eq=False)
class Velocity(Position):
    """Of a node, or of a point of a body [m/s]; relative to a body: as an observer who turns with it sees it."""

    sensor = _Velocity

    kind: str = kind_key("velocity")


@dataclass(frozen=True, eq=False)
class Acceleration(Position):
    """Of a node, or of a point of a body [m/s^2]: its velocity's change over a time step, in the middle of the step;
    relative to a body: as an observer who turns with it sees it."""

    sensor = _Acceleration

    kind: str = kind_key("acceleration")


@dataclass(frozen=True, eq=False)
class AngularVelocity(SensorRequest):
    """Of a node or body [rad/s]; relative to a body: less that of the body."""

    sensor = _AngularVelocity

    kind: str = kind_key("angular velocity")
    on: Any = key(PLACE, "what is looked at", kw_only=True)
    axes: Any = key(PLACE, _AXES, None, kw_only=True)
    relative_to: Any = key(PLACE, _RELATIVE, None, kw_only=True)


@dataclass(frozen=True, eq=False)
class AngularAcceleration(AngularVelocity):
    """Of a node or body [rad/s^2]: its angular velocity's change over a time step, in the middle of the step; relative
    to a body: as an observer who turns with it sees it."""

    sensor = _AngularAcceleration

    kind: str = kind_key("angular acceleration")


@dataclass(frozen=True, eq=False)
class Rotation(SensorRequest):
    """Since the start: angle, in space rotation vector [rad]."""

    sensor = _Rotation

    kind: str = kind_key("rotation")
    on: Any = key(PLACE, "what is looked at", kw_only=True)


@dataclass(frozen=True, eq=False)
class Distance(SensorRequest):
    """Between two places [m]."""

    sensor = _Distance

    kind: str = kind_key("distance")
    a: Any = key(PLACE, 'first place, or "ground"', kw_only=True)
    b: Any = key(PLACE, 'second place, or "ground"', kw_only=True)
    point_a: Any = key(VECTOR, _POINT_A, None, unit="m", kw_only=True)
    point_b: Any = key(VECTOR, _POINT_A, None, unit="m", kw_only=True)


@dataclass(frozen=True, eq=False)
class Deflection(SensorRequest):
    """Distance of a point from the chord between a and b, in the plane positive to its left [m]; with axes the
    components of the way across the chord, with their signs; relative = true: over the length of the chord at the
    start."""

    sensor = _Deflection

    kind: str = kind_key("deflection")
    on: Any = key(PLACE, "what is looked at", kw_only=True)
    a: Any = key(PLACE, 'first place, or "ground"', kw_only=True)
    b: Any = key(PLACE, 'second place, or "ground"', kw_only=True)
    point: Any = key(VECTOR, _POINT, None, unit="m", kw_only=True)
    point_a: Any = key(VECTOR, _POINT_A, None, unit="m", kw_only=True)
    point_b: Any = key(VECTOR, _POINT_A, None, unit="m", kw_only=True)
    relative: bool = key(FLAG, "divided by the distance of a and b at the start", False, kw_only=True)
    axes: Any = key(
        PLACE,
        'node or body in whose axes, which turn with it, the components x, y, z are given, "ground": global ones; '
        "else the distance alone",
        None,
        kw_only=True,
    )


@dataclass(frozen=True, eq=False)
class Angle(SensorRequest):
    """By which b has turned more than a [rad]."""

    sensor = _Angle

    kind: str = kind_key("angle")
    a: Any = key(PLACE, "first place", kw_only=True)
    b: Any = key(PLACE, "second place", kw_only=True)
