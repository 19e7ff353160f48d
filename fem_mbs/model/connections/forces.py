"""Motors, controllers and users' own forces of the model builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    ANY,
    FUNCTION,
    NAME,
    NUMBER,
    NUMBER_OR_INF,
    NUMBER_OR_VECTOR,
    PLACE,
    PLACES,
    SQUARE,
    TEXT,
    VECTOR,
    VECTOR_ANY,
)
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET
from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import Derivative, Integral, TimeFunction
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import drive, joint_coordinate
from fem_mbs.model.parts.bodies import add_eccentric
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.callbacks import Callback

__all__ = [
    "Bushing",
    "Motor",
    "NodalMass",
    "UserForce",
    "checked_symmetric",
    "clock_index",
    "law_of_time",
    "worked_on",
]

_KINDS = {LENGTH: "length", OFFSET: "offset", ANGLE: "angle"}


def worked_on(building: Building, owner: str, joint, coordinate, a, b, point_a, point_b):
    """Return kind, nodes, columns and start of the coordinate of a joint, or of the distance of two points; its
    name."""
    if (joint is None) == (a is None):
        raise ModelError("give either joint, or a and b, the ends of a distance", owner=owner)
    if joint is not None:
        if any(v is not None for v in (b, point_a, point_b)):
            raise ModelError(
                "b, point_a and point_b belong to a distance", owner=owner, remedy="with joint remove them"
            )
        key, c = joint_coordinate(building, joint, coordinate, owner)
        return ANGLE if c.angular else OFFSET, c, key
    if b is None:
        raise ModelError("a distance needs its other end", owner=owner, remedy="add b")
    if coordinate is not None:
        raise ModelError(
            f"coordinate = {coordinate!r} belongs to a joint",
            owner=owner,
            key="coordinate",
            value=coordinate,
            remedy="between two points remove it",
        )
    nodes, columns = [], {}
    for end, place, point in (("a", a, point_a), ("b", b, point_b)):
        node, offset = building.point(place, point, owner)
        nodes.append(node)
        columns.update({f"a{c}_{end}": float(v) for c, v in zip("xyz"[: building.dimension], offset, strict=True)})
    names = "xyz"[: building.dimension]
    ends = [
        building.global_point(n, np.array([columns[f"a{c}_{end}"] for c in names]))
        for n, end in zip(nodes, "ab", strict=True)
    ]
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if length == 0.0:
        raise ModelError(
            "its two points coincide, so that their distance has no direction", owner=owner, remedy="move one"
        )
    return LENGTH, JointCoordinate(False, tuple(nodes), columns, length), "length"


def law_of_time(building: Building, spec, owner: str) -> TimeFunction:
    return spec if isinstance(spec, TimeFunction) else make_function(spec, owner=owner, functions=building.functions)


def _numbers(value, n: int, owner: str, key: str) -> np.ndarray:
    try:
        v = np.asarray(value, float)
    except (TypeError, ValueError):
        v = np.empty(0)
    if v.shape != (n,) or not np.isfinite(v).all():
        raise ModelError(f"{key} = {value!r} must be {n} finite numbers", owner=owner, key=key, value=value)
    return v


def _definite(building: Building, value, owner: str, key: str, positive: bool = False) -> np.ndarray:
    """Return a symmetric matrix (n, n) without negative eigenvalues, from its diagonal or in full; None: zeros."""
    n = 3 * (building.dimension - 1)
    if value is None:
        return np.zeros((n, n))
    try:
        M = np.asarray(value, float)
    except (TypeError, ValueError):
        M = np.empty(0)
    M = np.diag(M) if M.shape == (n,) else M
    if M.shape != (n, n) or not np.isfinite(M).all():
        raise ModelError(f"{key} must be {n} numbers, a diagonal, or {n}x{n} finite numbers", owner=owner)
    return checked_symmetric(M, owner, key, positive)


def checked_symmetric(M: np.ndarray, owner: str, key: str, positive: bool = False) -> np.ndarray:
    """Return the symmetric part of a matrix (n, n) without negative eigenvalues.

    Raises:
        ModelError: it is not symmetric, or not positive semidefinite (with ``positive``: definite).
    """
    # rows have different units: judged after scaling to a unit diagonal
    d = np.sqrt(np.abs(np.diag(M)))
    scaled = M / np.where(d > 0.0, d, 1.0)[:, None] / np.where(d > 0.0, d, 1.0)
    skew = np.abs(scaled - scaled.T)
    if skew.max() > 1e-9:
        i, j = np.unravel_index(int(skew.argmax()), skew.shape)
        raise ModelError(
            f"{key} is not symmetric: entry ({i + 1}, {j + 1}) is {M[i, j]:g}, its mirror {M[j, i]:g}",
            owner=owner,
            remedy="make them equal",
        )
    lowest = float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0])
    if lowest < -1e-9 or (positive and lowest < 1e-12):
        what = "positive definite" if positive else "positive semidefinite"
        raise ModelError(
            f"{key} has the eigenvalue {lowest:.3g} (scaled to a unit diagonal), it must be {what}",
            owner=owner,
            remedy="check signs and coupling entries",
        )
    return 0.5 * (M + M.T)


def clock_index(building: Building, owner: str) -> float:
    """Return the index of the function that is the time itself."""
    if building.clock is None:
        building.clock = make_function({"kind": "constant_speed", "rate": 1.0}, owner=owner)
    return float(building.function_index(building.clock, owner, load=False))


@dataclass(frozen=True, eq=False)
class Motor(Declaration):
    """Motors and controllers on coordinates of joints, or between points (laws as Python functions:
    `Model.user_force`).

    Add a motor on a coordinate of a joint, or (a, b) on the distance of two points; positive where it grows.

    Args:
        coordinate: as for `joint_spring`.
        force: f(t), a force [N] or moment [N m]; a load.
        speed: instead: the rate of the coordinate as a function of time [m/s], [rad/s], whatever force that takes.
        position: a controller's reference r(t) for the coordinate, counted from the start [m], [rad]; it gives
            kp (r - q) + kd (r' - q'); without it r = 0.
        kp, kd: gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
        limit: largest magnitude of the whole force; None: none.
    """

    owner = "Motor"

    name: str = key(NAME, "in messages and results", shows='"motor 1", ...')
    joint: str | None = key(TEXT, "name of a joint; or a and b", None, shows="none")
    coordinate: str | None = key(TEXT, "of the joint, as of a joint_spring", None, shows="the first")
    force: Any = key(
        FUNCTION,
        "force or moment in the direction in which the coordinate grows",
        None,
        shows="none",
        kw_only=True,
        unit="N or N m",
    )
    speed: Any = key(
        FUNCTION,
        "instead: rate of the coordinate, whatever force that takes",
        None,
        shows="none",
        kw_only=True,
        unit="m/s or rad/s",
    )
    position: Any = key(
        FUNCTION,
        "a controller's reference r of the coordinate since the start",
        None,
        shows="0",
        kw_only=True,
        unit="m or rad",
    )
    kp: float = key(NUMBER, "gain of r - q", 0.0, kw_only=True, unit="N/m or N m/rad")
    kd: float = key(NUMBER, "gain of r' - q'", 0.0, kw_only=True, unit="N s/m or N m s/rad")
    limit: float | None = key(
        NUMBER_OR_INF, "largest magnitude of force and controller together", None, shows="none", kw_only=True
    )
    a: Any = key(PLACE, "instead of joint: one end of a distance", None, shows="none", kw_only=True)
    b: Any = key(PLACE, "its other end", None, shows="none", kw_only=True)
    point_a: Any = key(
        VECTOR, "where on a, in global coordinates of the start", None, shows="its node", kw_only=True, unit="m"
    )
    point_b: Any = key(VECTOR, "where on b", None, shows="its node", kw_only=True, unit="m")

    def build(self, building: Building) -> None:
        kp = self.kp
        kd = self.kd
        limit = self.limit
        owner = building.label("Motor", self.name)
        kind, c, key = worked_on(
            building, owner, self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b
        )
        kp, kd = building.number(kp, owner, "kp", 0.0), building.number(kd, owner, "kd", 0.0)
        if self.speed is not None:
            if self.force is not None or self.position is not None or kp or kd or limit is not None:
                raise ModelError(
                    "a motor with a given speed takes any force", owner=owner, remedy="remove force, position, gains"
                )
            if kind == LENGTH:
                raise ModelError(
                    "speed is for the coordinate of a joint",
                    owner=owner,
                    remedy="between points give position and gains",
                )
            if key in building.joints[self.joint].driven:
                raise ModelError(
                    f'the {key} of joint "{self.joint}" is driven already',
                    owner=owner,
                    remedy="remove one of the drives",
                )
            building.joints[self.joint].driven[key] = self.name
            law = Integral(law_of_time(building, self.speed, owner))
            drive(building, self.name, c, building.function_index(law, owner, load=False))
            return
        if self.position is not None and not (kp or kd):
            raise ModelError("position is a controller's reference", owner=owner, remedy="add its gain kp (and kd)")
        if self.force is None and not (kp or kd):
            raise ModelError(
                "it does nothing", owner=owner, remedy="give force, speed, or position with the gains kp and kd"
            )
        limit = np.inf if limit is None else limit
        if isinstance(limit, str) or not limit > 0.0:
            raise ModelError(f"limit = {limit!r} must be a positive number", owner=owner, key="limit", value=limit)
        indices = {"function": -1, "reference": -1, "reference rate": -1}
        if self.force is not None:
            indices["function"] = building.function_index(law_of_time(building, self.force, owner), owner, load=True)
        if self.position is not None:
            law = law_of_time(building, self.position, owner)
            indices["reference"] = building.function_index(law, owner, load=False)
            if kd:
                indices["reference rate"] = building.function_index(Derivative(law), owner, load=False)
        building.add_block(
            self.name,
            f"motor_{_KINDS[kind]}{building.dimension}",
            [c.nodes],
            start=c.start,
            kp=kp,
            kd=kd,
            limit=float(limit),
            **indices,
            **c.columns,
        )


@dataclass(frozen=True, eq=False)
class UserForce(Declaration):
    """Add a force by a Python function, on a coordinate of a joint, on the distance of two points, or on points.

    Args:
        function: on a coordinate ``f(q, rate, t)`` -> force or moment in the direction of its growth; q counts from
            the start [m], [rad] (of a distance: the length itself).  On points (``at``) ``f(x, v, t)`` -> (n, dim)
            [N] with positions and velocities (n, dim) of the n points in global axes; the force on a point may
            depend on this point only.
        tangent: the same arguments -> derivatives by q and by the rate; on points two arrays (n, dim, dim), the
            last index that of the derivative; None: central differences.
        at: place or list of places; ``point`` of a body, in global coordinates of the start.

    It is asked in every iteration, with the state of the middle of the step (Newmark and statics: of its end), and
    must depend on its arguments only.  Its work is booked as that of loads.

    Raises:
        ModelError: also while running, if the function fails or returns no finite force.
    """

    owner = "User force"

    name: str = key(ANY, "of the force")
    joint: str | None = key(ANY, "name of a joint; or a and b", None)
    function: Callable[..., Any] | None = key(ANY, "force(t, x, v) of the coordinate", None)
    tangent: Callable[..., Any] | None = key(
        ANY,
        "the same arguments -> derivatives by q and by the rate; on points two arrays (n, dim, dim), the last index"
        " that of the derivative; None: central differences",
        None,
    )
    coordinate: str | None = key(ANY, "of the joint, as of a joint_spring", None, kw_only=True)
    at: Any = key(
        ANY, "place or list of places; ``point`` of a body, in global coordinates of the start", None, kw_only=True
    )
    point: Any = key(ANY, "where, in global coordinates of the start", None, kw_only=True, unit="m")
    a: Any = key(ANY, "instead of joint: one end", None, kw_only=True)
    b: Any = key(ANY, "its other end", None, kw_only=True)
    point_a: Any = key(ANY, "where on a", None, kw_only=True, unit="m")
    point_b: Any = key(ANY, "where on b", None, kw_only=True, unit="m")

    def build(self, building: Building) -> None:
        owner = building.label("User force", self.name)
        for word, value in (("function", self.function), ("tangent", self.tangent)):
            if not callable(value) and not (word == "tangent" and value is None):
                raise ModelError(f"{word} = {value!r} cannot be called", owner=owner, remedy="give a Python function")
        columns: dict[str, float] = {"callback": len(building.callbacks), "clock": clock_index(building, owner)}
        if self.at is None:
            if self.point is not None:
                raise ModelError(
                    "point belongs to at, a place", owner=owner, remedy="use point_a, point_b for a distance"
                )
            kind, c, _ = worked_on(
                building, owner, self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b
            )
            columns |= {"start": 0.0 if kind == LENGTH else c.start, **c.columns}
            building.add_block(self.name, f"user_{_KINDS[kind]}{building.dimension}", [c.nodes], **columns)
            building.callbacks.append(Callback(owner, self.function, self.tangent, 0))
            return
        if any(v is not None for v in (self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b)):
            raise ModelError(
                "at is for forces on points", owner=owner, remedy="remove joint, coordinate, a, b, point_a and point_b"
            )
        nodes = building.nodes_of(self.at, owner)
        if self.point is not None:
            node, offset = building.point(self.at, self.point, owner)
            nodes = np.array([node])
            columns |= {f"a{c}": float(v) for c, v in zip("xyz"[: building.dimension], offset, strict=True)}
        if len(nodes) == 0:
            raise ModelError(f"at = {self.at!r} has no nodes", owner=owner, key="at", value=self.at)
        building.add_block(self.name, f"user_point{building.dimension}", nodes, **columns)
        building.callbacks.append(Callback(owner, self.function, self.tangent, building.dimension))


@dataclass(frozen=True, eq=False)
class Bushing(Declaration):
    """Elastic mounts: matrices between frames of two parts.

    Add an elastic mount: stiffness and damping matrices between frames of two parts, alike at the start.

    Args:
        stiffness, damping: n diagonal entries or (n, n), symmetric, positive semidefinite; n = 6, displacements
            then rotations [N/m, N/rad, N m/rad]; in the plane 3: x, y, rotation.
        point: where both frames are, in global coordinates of the start; or point_a and point_b; None: the nodes.
        rotation: of the frame's axes at the start: plane an angle, space axis times angle, (3,) [rad]; None: the
            global axes.
        frame: of the displacements: "first", which moves with a, or "mean", half-way between both.
        preload: n forces and moments at the start, in the frame, positive as stiffness times strain.

    In space the rotations are the rotation vector of b against a; more than 4.7 rad end the analysis.  Reported
    moments act on b about its point (frame "mean": about the middle of both points).
    """

    owner = "Bushing"

    name: str = key(NAME, "in messages and results", shows='"bushing 1", ...')
    a: str | int = key(PLACE, "one part")
    b: str | int = key(PLACE, "other part", "ground")
    stiffness: Any = key(
        SQUARE,
        "diagonal or matrix over displacements and rotations, 6 or 6x6, in the plane 3 or 3x3 (x, y, rotation)",
        None,
        shows="none",
        unit="N/m, N/rad, N m/rad",
    )
    damping: Any = key(SQUARE, "likewise, over their rates", None, shows="none", unit="N s/m, N s/rad, N m s/rad")
    point: Any = key(
        VECTOR,
        "where both frames are, in global coordinates of the start",
        None,
        shows="the nodes",
        kw_only=True,
        unit="m",
    )
    point_a: Any = key(VECTOR, "where on a", None, shows="point", kw_only=True, unit="m")
    point_b: Any = key(VECTOR, "where on b", None, shows="point", kw_only=True, unit="m")
    rotation: Any = key(
        NUMBER_OR_VECTOR,
        "of the axes at the start: angle; space: axis times angle",
        None,
        shows="global axes",
        kw_only=True,
        unit="rad",
    )
    frame: str = key(
        TEXT,
        'of the displacements: "first" (moves with a) or "mean" (half-way between both)',
        "first",
        kw_only=True,
        choices=("first", "mean"),
    )
    preload: Any = key(
        VECTOR_ANY, "forces and moments at the start, in the frame", None, shows="none", kw_only=True, unit="N, N m"
    )

    def build(self, building: Building) -> None:
        owner = building.label("Bushing", self.name)
        n = 3 * (building.dimension - 1)
        S, C = (
            _definite(building, self.stiffness, owner, "stiffness"),
            _definite(building, self.damping, owner, "damping"),
        )
        if not S.any() and not C.any():
            raise ModelError("it has no force", owner=owner, remedy="give stiffness or damping")
        if self.point is not None and (self.point_a is not None or self.point_b is not None):
            raise ModelError("give either point, or point_a and point_b", owner=owner)
        nodes = [building.turning_node(p, owner) for p in (self.a, self.b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'both ends are "{self.a}"', owner=owner, remedy="take two different places")
        places = [p if p is not None else self.point for p in (self.point_a, self.point_b)]
        for i, (node, other) in enumerate((nodes, nodes[::-1])):
            if places[i] is None and node < 0:  # ground: where the other end is
                places[i] = places[1 - i] if places[1 - i] is not None else building.position(other)
        offsets = [building.point(p, x, owner)[1] for p, x in zip((self.a, self.b), places, strict=True)]
        axes = building.turned_axes(self.rotation, owner)
        turned = [building.rotation_matrix(k).T @ axes for k in nodes]  # axes in columns
        ends = [building.global_point(k, o) for k, o in zip(nodes, offsets, strict=True)]
        start = np.zeros(n)
        start[: building.dimension] = axes.T @ (ends[1] - ends[0])
        if building.dimension == 2:
            start[2] = building.start_angle(nodes[1]) - building.start_angle(nodes[0])
        names = "xyz"[: building.dimension]
        columns: dict[str, float] = {"mean frame": 0.5 if self.frame == "mean" else 0.0}
        for end, letter, offset, R in zip("ab", "ef", offsets, turned, strict=True):
            columns |= {f"a{c}_{end}": float(v) for c, v in zip(names, offset, strict=True)}
            columns |= {
                f"{letter}{i + 1}{c}": float(R[p, i]) for i in range(building.dimension) for p, c in enumerate(names)
            }
        force = np.zeros(n) if self.preload is None else _numbers(self.preload, n, owner, "preload")
        columns |= {f"start {i + 1}": float(v) for i, v in enumerate(start)}
        columns |= {f"preload {i + 1}": float(v) for i, v in enumerate(force)}
        for letter, matrix in (("S", S), ("C", C)):
            columns |= {f"{letter}{i + 1}{j + 1}": float(matrix[i, j]) for i in range(n) for j in range(i, n)}
        building.add_block(self.name, f"bushing{building.dimension}", [nodes], **columns)


@dataclass(frozen=True, eq=False)
class NodalMass(Declaration):
    """Dense mass matrices that turn with their nodes.

    Add a dense mass matrix that turns with each node of a place: T = (v, omega).M (v, omega)/2 in the node's
    axes.

    Args:
        matrix: (6, 6), in the plane (3, 3): velocity, then angular velocity; symmetric positive definite, in the
            node's body axes (the global ones at the start, unless the node is a turned body's) [kg, kg m, kg m^2].

    A matrix of a rigid body (A = m I, skew coupling, admissible inertia) is taken as that, in directors; any other,
    of added or condensed masses, by Kirchhoff's equations (`fem_mbs.elements.masses.nodal_mass`).  Where A = m I,
    gravity acts on m at the centre that the coupling's skew part says; where it is not, the matrix has no weight.
    """

    owner = "Nodal mass"

    name: str = key(NAME, "in messages and results", shows='"nodal_mass 1", ...')
    at: Any = key(PLACES, "on each node of it")
    matrix: Any = key(
        SQUARE,
        "6x6 over velocity and angular velocity in the node's axes, in the plane 3x3; symmetric, positive",
        unit="kg, kg m, kg m^2",
    )

    def build(self, building: Building) -> None:
        owner = building.label("Nodal mass", self.name)
        nodes = building.nodes_of(self.at, owner)
        dim = building.dimension
        M = _definite(building, self.matrix, owner, "matrix", positive=True)
        building.rotational.update(int(node) for node in nodes)
        A, B, C = M[:dim, :dim], M[:dim, dim:], M[dim:, dim:]
        m = float(np.trace(A)) / dim
        one_mass = bool(np.abs(A - m * np.eye(dim)).max() <= 1e-12 * m)
        centre = np.zeros(dim)
        if one_mass:  # B = -m c~, in the plane m (-cy, cx)
            centre = np.array([B[1, 0], -B[0, 0]]) / m if dim == 2 else 0.5 / m * np.array(
                [B[1, 2] - B[2, 1], B[2, 0] - B[0, 2], B[0, 1] - B[1, 0]]
            )  # fmt: skip
        if one_mass and dim == 2 and not B.any():
            building.add_block(self.name, "mass2", nodes, mass=m, inertia=float(C[0, 0]))
            return
        if one_mass and dim == 3 and np.abs(B + B.T).max() <= 1e-12 * (np.abs(B).max() + m):
            tilde = np.array([[0, -centre[2], centre[1]], [centre[2], 0, -centre[0]], [-centre[1], centre[0], 0.0]])
            J = C + m * tilde @ tilde  # about the centre
            euler = 0.5 * np.trace(J) * np.eye(3) - J
            if np.linalg.eigvalsh(euler)[0] >= -1e-9 * np.trace(C):
                add_eccentric(building, self.name, nodes, m, np.tile(centre, (len(nodes), 1)), J)
                return
        entries = {f"M{i + 1}{j + 1}": float(M[i, j]) for i in range(len(M)) for j in range(i, len(M))}
        entries |= {f"c{c}": float(v) for c, v in zip("xyz"[:dim], centre, strict=True)}
        building.add_block(self.name, f"nodal_mass{dim}", nodes, mass=m if one_mass else 0.0, **entries)
