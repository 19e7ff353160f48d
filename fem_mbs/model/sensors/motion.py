"""Sensors of places: positions, velocities, rotations, distances and angles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import FLAG, PLACE, VECTOR
from fem_mbs.errors import ModelError
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_D, REC_Q, REC_V

__all__ = ["Angle", "Deflection", "Displacement", "Distance", "Position", "Rotation", "Velocity"]


class _Point:
    """A point of a node or body: its records and its position from them."""

    def __init__(self, model, place: str, point, owner: str):
        if place == "ground":
            raise ModelError('"ground" does not move', owner=owner, remedy="name a node or body")
        if point is None:
            self.node, self.offset = model.node_of(place, owner, frames=True), np.zeros(model.dimension)
        else:
            self.node, self.offset = model.point(place, point, owner, frames=True)
        self.eccentric = bool(np.any(self.offset))
        self.dim = model.dimension
        self.start = model.global_point(self.node, self.offset)

    def bind(self, system) -> list[tuple[int, int]]:
        records = [(REC_Q, int(k)) for k in system.position_dofs(self.node)]
        if self.eccentric:
            width = 2 if self.dim == 2 else 9
            row = int(system.rot_row[self.node])
            records += [(REC_D, row * width + i) for i in range(width)]
        return records

    @property
    def size(self) -> int:
        """Number of records."""
        return self.dim + self.eccentric * (2 if self.dim == 2 else 9)

    def arm(self, values: np.ndarray) -> np.ndarray:
        """Return R a (n, dim) from the records of this point."""
        d = values[:, self.dim :]
        if self.dim == 2:
            (c, s), (a, b) = d[:, :2].T, self.offset
            return np.column_stack((c * a - s * b, s * a + c * b))
        return d[:, :9].reshape(-1, 3, 3) @ self.offset

    def position(self, values: np.ndarray) -> np.ndarray:
        x = values[:, : self.dim]
        return x + self.arm(values) if self.eccentric else x


class _Position(Sensor):
    def prepare(self, on, point):
        self.point = _Point(self.model, on, point, self.owner)
        self.columns = [f"{self.name}.{c}" for c in "xyz"[: self.model.dimension]]

    def bind(self, compiled):
        return self.point.bind(compiled.system)

    def evaluate(self, values, ledger):
        return self.point.position(values)


class _Displacement(_Position):
    def evaluate(self, values, ledger):
        return self.point.position(values) - self.point.start


class _Velocity(_Position):
    unit = "m/s"

    def bind(self, compiled):
        system, p = compiled.system, self.point
        records = p.bind(system)
        self.split = len(records)
        records += [(REC_V, int(k)) for k in system.position_dofs(p.node)]
        if p.eccentric:
            first = system.offset[p.node] + p.dim
            records += [(REC_V, int(first) + i) for i in range(1 if p.dim == 2 else 3)]
        return records

    def evaluate(self, values, ledger):
        p, dim = self.point, self.point.dim
        v = values[:, self.split : self.split + dim]
        if not p.eccentric:
            return v
        w = values[:, self.split + dim :]
        if dim == 2:
            arm = p.arm(values)
            return v + w * np.column_stack((-arm[:, 1], arm[:, 0]))
        R = values[:, dim : dim + 9].reshape(-1, 3, 3)
        return v + np.einsum("nij,nj->ni", R, np.cross(w, p.offset))


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
        from scipy.spatial.transform import Rotation

        start = self.model.rotation_matrix(self.node)
        return Rotation.from_matrix(values.reshape(-1, 3, 3) @ start.T).as_rotvec()


def rotation_records(system: Any, node: int) -> list[tuple[int, int]]:
    if system.dimension == 2:
        return [(REC_Q, int(system.offset[node]) + 2)]
    row = int(system.rot_row[node])
    return [(REC_D, 9 * row + i) for i in range(9)]


class _Distance(Sensor):
    def prepare(self, a, b, point_a, point_b):
        self.points = [_Point(self.model, a, point_a, self.owner), _Point(self.model, b, point_b, self.owner)]

    def bind(self, compiled):
        return [r for p in self.points for r in p.bind(compiled.system)]

    def split(self, values):
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
    def prepare(self, on, a, b, relative):
        self.points = [_Point(self.model, place, None, self.owner) for place in (on, a, b)]
        chord = float(np.linalg.norm(self.points[2].start - self.points[1].start))
        if chord == 0.0:
            raise ModelError(f'"{a}" and "{b}" are at the same place, there is no chord between them', owner=self.owner)
        self.factor = 1.0 / chord if relative else 1.0
        self.unit = "-" if relative else "m"

    def vector(self, values):
        if self.model.dimension == 2:
            return None
        p, a, b = self.split(values)
        chord = b - a
        return self.factor * np.cross(chord, p - a) / np.linalg.norm(chord, axis=1)[:, None]

    def evaluate(self, values, ledger):
        if self.model.dimension == 3:
            return np.linalg.norm(self.vector(values), axis=1)[:, None]
        p, a, b = self.split(values)
        chord = b - a
        w = (chord[:, 0] * (p - a)[:, 1] - chord[:, 1] * (p - a)[:, 0]) / np.linalg.norm(chord, axis=1)
        return (self.factor * w)[:, None]


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
        from scipy.spatial.transform import Rotation

        turned, at = [], 0
        for n in self.nodes:
            if n >= 0:
                R = values[:, at : at + 9].reshape(-1, 3, 3)
                turned.append(R @ self.model.rotation_matrix(n).T)
                at += 9
            else:
                turned.append(np.broadcast_to(np.eye(3), (len(values), 3, 3)))
        relative = np.einsum("nij,nik->njk", turned[0], turned[1])
        return Rotation.from_matrix(relative).as_rotvec()


_POINT = "of a body, in global coordinates of the start; else its node"


@dataclass(frozen=True, eq=False)
class Position(SensorRequest):
    """Of a node, or of a point of a body [m]."""

    sensor = _Position

    kind: str = kind_key("position")
    on: Any = key(PLACE, "what is looked at", kw_only=True)
    point: Any = key(VECTOR, _POINT, None, unit="m", kw_only=True)


@dataclass(frozen=True, eq=False)
class Displacement(Position):
    """Since the start [m]."""

    sensor = _Displacement

    kind: str = kind_key("displacement")


@dataclass(frozen=True, eq=False)
class Velocity(Position):
    """Of a node, or of a point of a body [m/s]."""

    sensor = _Velocity

    kind: str = kind_key("velocity")


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
    a: Any = key(PLACE, "first place", kw_only=True)
    b: Any = key(PLACE, "second place", kw_only=True)
    point_a: Any = key(VECTOR, "of a", None, unit="m", kw_only=True)
    point_b: Any = key(VECTOR, "of b", None, unit="m", kw_only=True)


@dataclass(frozen=True, eq=False)
class Deflection(SensorRequest):
    """Distance of a point from the chord between a and b, in the plane positive to its left [m]; relative = true: over
    the length of the chord at the start."""

    sensor = _Deflection

    kind: str = kind_key("deflection")
    on: Any = key(PLACE, "what is looked at", kw_only=True)
    a: Any = key(PLACE, "first place", kw_only=True)
    b: Any = key(PLACE, "second place", kw_only=True)
    relative: bool = key(FLAG, "divided by the distance of a and b at the start", False, kw_only=True)


@dataclass(frozen=True, eq=False)
class Angle(SensorRequest):
    """By which b has turned more than a [rad]."""

    sensor = _Angle

    kind: str = kind_key("angle")
    a: Any = key(PLACE, "first place", kw_only=True)
    b: Any = key(PLACE, "second place", kw_only=True)
