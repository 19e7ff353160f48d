"""Motors, controllers and users' own forces of the model builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET
from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import Derivative, Integral, TimeFunction, make_function
from fem_mbs.model.building import Building
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.callbacks import Callback

__all__ = ["Forces"]

_KINDS = {LENGTH: "length", OFFSET: "offset", ANGLE: "angle"}


class Forces(Building):
    """Forces on coordinates of joints and between points."""

    # methods of other classes, which `Model` adds
    _joint_coordinate: Callable[..., Any]
    _drive: Callable[..., Any]
    _add_eccentric: Callable[..., Any]

    def _worked_on(self, owner: str, joint, coordinate, a, b, point_a, point_b):
        """Return kind, nodes, columns and start of the coordinate of a joint, or of the distance of two points; its
        name."""
        if (joint is None) == (a is None):
            raise ModelError(f"{owner}: give either joint, or a and b, the ends of a distance")
        if joint is not None:
            if any(v is not None for v in (b, point_a, point_b)):
                raise ModelError(f"{owner}: b, point_a and point_b belong to a distance; with joint remove them")
            key, c = self.joint_coordinate(joint, coordinate, owner)
            return ANGLE if c.angular else OFFSET, c, key
        if b is None:
            raise ModelError(f"{owner}: a distance needs its other end; add b")
        if coordinate is not None:
            raise ModelError(f"{owner}: coordinate = {coordinate!r} belongs to a joint; between two points remove it")
        nodes, columns = [], {}
        for end, place, point in (("a", a, point_a), ("b", b, point_b)):
            node, offset = self.point(place, point, owner)
            nodes.append(node)
            columns.update({f"a{c}_{end}": float(v) for c, v in zip("xyz"[: self.dimension], offset, strict=True)})
        names = "xyz"[: self.dimension]
        ends = [
            self.global_point(n, np.array([columns[f"a{c}_{end}"] for c in names]))
            for n, end in zip(nodes, "ab", strict=True)
        ]
        length = float(np.linalg.norm(ends[1] - ends[0]))
        if length == 0.0:
            raise ModelError(f"{owner}: its two points coincide, so that their distance has no direction; move one")
        return LENGTH, JointCoordinate(False, tuple(nodes), columns, length), "length"

    # --- motors ----------------------------------------------------------------------------------------------------
    def motor(
        self,
        name: str,
        joint: str | None = None,
        coordinate: str | None = None,
        *,
        force: Any = None,
        speed: Any = None,
        position: Any = None,
        kp: float = 0.0,
        kd: float = 0.0,
        limit: float | None = None,
        a: Any = None,
        b: Any = None,
        point_a: Any = None,
        point_b: Any = None,
    ) -> None:
        """Add a motor on a coordinate of a joint, or (a, b) on the distance of two points; positive where it grows.

        Args:
            coordinate: as for `joint_spring`.
            force: f(t), a force [N] or moment [N m]; a load.
            speed: instead: the rate of the coordinate as a function of time [m/s], [rad/s], whatever force that takes.
            position: a controller's reference r(t) for the coordinate, counted from the start [m], [rad]; it gives
                kp (r - q) + kd (r' - q'); without it r = 0.
            kp, kd: gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
            limit: largest magnitude of the whole force; None: none.
        """
        owner = self.label("Motor", name)
        kind, c, key = self._worked_on(owner, joint, coordinate, a, b, point_a, point_b)
        kp, kd = self.number(kp, owner, "kp", 0.0), self.number(kd, owner, "kd", 0.0)
        if speed is not None:
            if force is not None or position is not None or kp or kd or limit is not None:
                raise ModelError(f"{owner}: a motor with a given speed takes any force; remove force, position, gains")
            if kind == LENGTH:
                raise ModelError(
                    f"{owner}: speed is for the coordinate of a joint; between points give position and gains"
                )
            if key in self.joints[joint].driven:
                raise ModelError(f'{owner}: the {key} of joint "{joint}" is driven already; remove one of the drives')
            self.joints[joint].driven[key] = name
            law = Integral(self._law_of_time(speed, owner))
            self.drive(name, c, self.function_index(law, owner, load=False))
            return
        if position is not None and not (kp or kd):
            raise ModelError(f"{owner}: position is a controller's reference; add its gain kp (and kd)")
        if force is None and not (kp or kd):
            raise ModelError(f"{owner}: it does nothing; give force, speed, or position with the gains kp and kd")
        limit = np.inf if limit is None else limit
        if isinstance(limit, str) or not limit > 0.0:
            raise ModelError(f"{owner}: limit = {limit!r} must be a positive number")
        indices = {"function": -1, "reference": -1, "reference rate": -1}
        if force is not None:
            indices["function"] = self.function_index(self._law_of_time(force, owner), owner, load=True)
        if position is not None:
            law = self._law_of_time(position, owner)
            indices["reference"] = self.function_index(law, owner, load=False)
            if kd:
                indices["reference rate"] = self.function_index(Derivative(law), owner, load=False)
        self.add_block(
            name, f"motor_{_KINDS[kind]}{self.dimension}", [c.nodes], start=c.start, kp=kp, kd=kd,
            limit=float(limit), **indices, **c.columns,
        )  # fmt: skip

    def _law_of_time(self, spec, owner: str) -> TimeFunction:
        return spec if isinstance(spec, TimeFunction) else make_function(spec, name=owner, functions=self.functions)

    # --- users' forces ---------------------------------------------------------------------------------------------
    def user_force(
        self,
        name: str,
        joint: str | None = None,
        function: Callable[..., Any] | None = None,
        tangent: Callable[..., Any] | None = None,
        *,
        coordinate: str | None = None,
        at: Any = None,
        point: Any = None,
        a: Any = None,
        b: Any = None,
        point_a: Any = None,
        point_b: Any = None,
    ) -> None:
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
        owner = self.label("User force", name)
        for key, value in (("function", function), ("tangent", tangent)):
            if not callable(value) and not (key == "tangent" and value is None):
                raise ModelError(f"{owner}: {key} = {value!r} cannot be called; give a Python function")
        columns: dict[str, float] = {"callback": len(self.callbacks), "clock": self._clock(owner)}
        if at is None:
            if point is not None:
                raise ModelError(f"{owner}: point belongs to at, a place; use point_a, point_b for a distance")
            kind, c, _ = self._worked_on(owner, joint, coordinate, a, b, point_a, point_b)
            columns |= {"start": 0.0 if kind == LENGTH else c.start, **c.columns}
            self.add_block(name, f"user_{_KINDS[kind]}{self.dimension}", [c.nodes], **columns)
            self.callbacks.append(Callback(owner, function, tangent, 0))
            return
        if any(v is not None for v in (joint, coordinate, a, b, point_a, point_b)):
            raise ModelError(
                f"{owner}: at is for forces on points; remove joint, coordinate, a, b, point_a and point_b"
            )
        nodes = self.nodes_of(at, owner)
        if point is not None:
            node, offset = self.point(at, point, owner)
            nodes = np.array([node])
            columns |= {f"a{c}": float(v) for c, v in zip("xyz"[: self.dimension], offset, strict=True)}
        if len(nodes) == 0:
            raise ModelError(f"{owner}: at = {at!r} has no nodes")
        self.add_block(name, f"user_point{self.dimension}", nodes, **columns)
        self.callbacks.append(Callback(owner, function, tangent, self.dimension))

    # --- bushings --------------------------------------------------------------------------------------------------
    def bushing(
        self,
        name: str,
        a: str,
        b: str = "ground",
        stiffness: Any = None,
        damping: Any = None,
        *,
        point: Any = None,
        point_a: Any = None,
        point_b: Any = None,
        rotation: Any = None,
        frame: str = "first",
        preload: Any = None,
    ) -> None:
        """Add an elastic mount: stiffness and damping matrices between frames of two parts, alike at the start.

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
        owner = self.label("Bushing", name)
        n = 3 * (self.dimension - 1)
        S, C = self._definite(stiffness, owner, "stiffness"), self._definite(damping, owner, "damping")
        if not S.any() and not C.any():
            raise ModelError(f"{owner}: it has no force; give stiffness or damping")
        if frame not in ("first", "mean"):
            raise ModelError(f'{owner}: frame = {frame!r} must be "first" or "mean"')
        if point is not None and (point_a is not None or point_b is not None):
            raise ModelError(f"{owner}: give either point, or point_a and point_b")
        nodes = [self.turning_node(p, owner) for p in (a, b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'{owner}: both ends are "{a}"; take two different places')
        places = [p if p is not None else point for p in (point_a, point_b)]
        for i, (node, other) in enumerate((nodes, nodes[::-1])):
            if places[i] is None and node < 0:  # ground: where the other end is
                places[i] = places[1 - i] if places[1 - i] is not None else self.position(other)
        offsets = [self.point(p, x, owner)[1] for p, x in zip((a, b), places, strict=True)]
        axes = self._frame(rotation, owner)
        turned = [self.rotation_matrix(k).T @ axes for k in nodes]  # axes in columns
        ends = [self.global_point(k, o) for k, o in zip(nodes, offsets, strict=True)]
        start = np.zeros(n)
        start[: self.dimension] = axes.T @ (ends[1] - ends[0])
        if self.dimension == 2:
            start[2] = self.start_angle(nodes[1]) - self.start_angle(nodes[0])
        names = "xyz"[: self.dimension]
        columns: dict[str, float] = {"mean frame": 0.5 if frame == "mean" else 0.0}
        for end, letter, offset, R in zip("ab", "ef", offsets, turned, strict=True):
            columns |= {f"a{c}_{end}": float(v) for c, v in zip(names, offset, strict=True)}
            columns |= {
                f"{letter}{i + 1}{c}": float(R[p, i]) for i in range(self.dimension) for p, c in enumerate(names)
            }
        force = np.zeros(n) if preload is None else self._numbers(preload, n, owner, "preload")
        columns |= {f"start {i + 1}": float(v) for i, v in enumerate(start)}
        columns |= {f"preload {i + 1}": float(v) for i, v in enumerate(force)}
        for letter, matrix in (("S", S), ("C", C)):
            columns |= {f"{letter}{i + 1}{j + 1}": float(matrix[i, j]) for i in range(n) for j in range(i, n)}
        self.add_block(name, f"bushing{self.dimension}", [nodes], **columns)

    def _frame(self, rotation, owner: str) -> np.ndarray:
        """Return axes (dim, dim), in columns, turned from the global ones."""
        if self.dimension == 2:
            angle = 0.0 if rotation is None else self.number(rotation, owner, "rotation")
            return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        if rotation is None:
            return np.eye(3)
        from scipy.spatial.transform import Rotation

        return Rotation.from_rotvec(self.vector(rotation, owner, "rotation")).as_matrix()

    def _numbers(self, value, n: int, owner: str, key: str) -> np.ndarray:
        try:
            v = np.asarray(value, float)
        except (TypeError, ValueError):
            v = np.empty(0)
        if v.shape != (n,) or not np.isfinite(v).all():
            raise ModelError(f"{owner}: {key} = {value!r} must be {n} finite numbers")
        return v

    def _definite(self, value, owner: str, key: str, positive: bool = False) -> np.ndarray:
        """Return a symmetric matrix (n, n) without negative eigenvalues, from its diagonal or in full; None: zeros."""
        n = 3 * (self.dimension - 1)
        if value is None:
            return np.zeros((n, n))
        try:
            M = np.asarray(value, float)
        except (TypeError, ValueError):
            M = np.empty(0)
        M = np.diag(M) if M.shape == (n,) else M
        if M.shape != (n, n) or not np.isfinite(M).all():
            raise ModelError(f"{owner}: {key} must be {n} numbers, a diagonal, or {n}x{n} finite numbers")
        # rows have different units: judged after scaling to a unit diagonal
        d = np.sqrt(np.abs(np.diag(M)))
        scaled = M / np.where(d > 0.0, d, 1.0)[:, None] / np.where(d > 0.0, d, 1.0)
        skew = np.abs(scaled - scaled.T)
        if skew.max() > 1e-9:
            i, j = np.unravel_index(int(skew.argmax()), skew.shape)
            raise ModelError(
                f"{owner}: {key} is not symmetric: entry ({i + 1}, {j + 1}) is {M[i, j]:g}, its mirror {M[j, i]:g}; "
                "make them equal"
            )
        lowest = float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0])
        if lowest < -1e-9 or (positive and lowest < 1e-12):
            what = "positive definite" if positive else "positive semidefinite"
            raise ModelError(
                f"{owner}: {key} has the eigenvalue {lowest:.3g} (scaled to a unit diagonal), it must be {what}; check "
                "signs and coupling entries"
            )
        return 0.5 * (M + M.T)

    # --- nodal masses ----------------------------------------------------------------------------------------------
    def nodal_mass(self, name: str, at: Any, matrix: Any) -> None:
        """Add a dense mass matrix that turns with each node of a place: T = (v, omega).M (v, omega)/2 in the node's
        axes.

        Args:
            matrix: (6, 6), in the plane (3, 3): velocity, then angular velocity; symmetric positive definite, in the
                node's body axes (the global ones at the start, unless the node is a turned body's) [kg, kg m, kg m^2].

        A matrix of a rigid body (A = m I, skew coupling, admissible inertia) is taken as that, in directors; any other,
        of added or condensed masses, by Kirchhoff's equations (`fem_mbs.elements.masses.nodal_mass`).  Where A = m I,
        gravity acts on m at the centre that the coupling's skew part says; where it is not, the matrix has no weight.
        """
        owner = self.label("Nodal mass", name)
        nodes = self.nodes_of(at, owner)
        dim = self.dimension
        M = self._definite(matrix, owner, "matrix", positive=True)
        self.rotational.update(int(node) for node in nodes)
        A, B, C = M[:dim, :dim], M[:dim, dim:], M[dim:, dim:]
        m = float(np.trace(A)) / dim
        one_mass = bool(np.abs(A - m * np.eye(dim)).max() <= 1e-12 * m)
        centre = np.zeros(dim)
        if one_mass:  # B = -m c~, in the plane m (-cy, cx)
            centre = np.array([B[1, 0], -B[0, 0]]) / m if dim == 2 else 0.5 / m * np.array(
                [B[1, 2] - B[2, 1], B[2, 0] - B[0, 2], B[0, 1] - B[1, 0]]
            )  # fmt: skip
        if one_mass and dim == 2 and not B.any():
            self.add_block(name, "mass2", nodes, mass=m, inertia=float(C[0, 0]))
            return
        if one_mass and dim == 3 and np.abs(B + B.T).max() <= 1e-12 * (np.abs(B).max() + m):
            tilde = np.array([[0, -centre[2], centre[1]], [centre[2], 0, -centre[0]], [-centre[1], centre[0], 0.0]])
            J = C + m * tilde @ tilde  # about the centre
            euler = 0.5 * np.trace(J) * np.eye(3) - J
            if np.linalg.eigvalsh(euler)[0] >= -1e-9 * np.trace(C):
                self._add_eccentric(name, nodes, m, np.tile(centre, (len(nodes), 1)), J)
                return
        entries = {f"M{i + 1}{j + 1}": float(M[i, j]) for i in range(len(M)) for j in range(i, len(M))}
        entries |= {f"c{c}": float(v) for c, v in zip("xyz"[:dim], centre, strict=True)}
        self.add_block(name, f"nodal_mass{dim}", nodes, mass=m if one_mass else 0.0, **entries)

    def _clock(self, owner: str) -> float:
        """Return the index of the function that is the time itself."""
        if self.clock is None:
            self.clock = make_function({"kind": "constant_speed", "rate": 1.0}, name=owner)
        return float(self.function_index(self.clock, owner, load=False))
