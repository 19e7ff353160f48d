"""Motors, controllers and users' own forces of the model builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.callbacks import Callback
from fem_mbs.elements.joint_coordinate import ANGLE, LENGTH, OFFSET
from fem_mbs.errors import ModelError
from fem_mbs.functions import Derivative, Integral, TimeFunction, make_function
from fem_mbs.model_base import JointCoordinate, ModelBase

__all__ = ["Forces"]

_KINDS = {LENGTH: "length", OFFSET: "offset", ANGLE: "angle"}


class Forces(ModelBase):
    """What works on coordinates of joints and between points."""

    def _worked_on(self, owner: str, joint, coordinate, a, b, point_a, point_b):
        """Kind, nodes, columns and start of the coordinate of a joint, or of the distance of two points; its name."""
        if (joint is None) == (a is None):
            raise ModelError(f"{owner}: give either joint, or a and b, the ends of a distance")
        if joint is not None:
            if any(v is not None for v in (b, point_a, point_b)):
                raise ModelError(f"{owner}: b, point_a and point_b belong to a distance; with joint remove them")
            key, c = self._joint_coordinate(joint, coordinate, owner)
            return ANGLE if c.angular else OFFSET, c, key
        if b is None:
            raise ModelError(f"{owner}: a distance needs its other end; add b")
        if coordinate is not None:
            raise ModelError(f"{owner}: coordinate = {coordinate!r} belongs to a joint; between two points remove it")
        nodes, columns = [], {}
        for end, place, point in (("a", a, point_a), ("b", b, point_b)):
            node, offset = self._point(place, point, owner)
            nodes.append(node)
            columns.update({f"a{c}_{end}": float(v) for c, v in zip("xyz"[: self.dimension], offset, strict=True)})
        names = "xyz"[: self.dimension]
        ends = [
            self._global(n, np.array([columns[f"a{c}_{end}"] for c in names]))
            for n, end in zip(nodes, "ab", strict=True)
        ]
        length = float(np.linalg.norm(ends[1] - ends[0]))
        if length == 0.0:
            raise ModelError(f"{owner}: its two points coincide, so that their distance has no direction; move one")
        return LENGTH, JointCoordinate(False, tuple(nodes), columns, length), "length"

    # --- motors ----------------------------------------------------------------------------------------------------
    def motor(
        self, name: str, joint: str | None = None, coordinate: str | None = None, *, force=None, speed=None,
        position=None, kp: float = 0.0, kd: float = 0.0, limit: float = np.inf, a=None, b=None, point_a=None,
        point_b=None,
    ) -> None:  # fmt: skip
        """A motor on a coordinate of a joint, or (a, b) on the distance of two points; positive where it grows.

        Args:
            coordinate: as for `joint_spring`.
            force: f(t), a force [N] or moment [N m]; a load.
            speed: instead: the rate of the coordinate as a function of time [m/s], [rad/s], whatever force that takes.
            position: a controller's reference r(t) for the coordinate, counted from the start [m], [rad]; it gives
                kp (r - q) + kd (r' - q'); without it r = 0.
            kp, kd: gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
            limit: largest magnitude of the whole force.
        """
        owner = self._label("Motor", name)
        kind, c, key = self._worked_on(owner, joint, coordinate, a, b, point_a, point_b)
        kp, kd = self._number(kp, owner, "kp", 0.0), self._number(kd, owner, "kd", 0.0)
        if speed is not None:
            if force is not None or position is not None or kp or kd or limit != np.inf:
                raise ModelError(f"{owner}: a motor with a given speed takes any force; remove force, position, gains")
            if kind == LENGTH:
                raise ModelError(f"{owner}: speed is for the coordinate of a joint; between points give position and gains")
            if key in self.joints[joint].driven:
                raise ModelError(f'{owner}: the {key} of joint "{joint}" is driven already; remove one of the drives')
            self.joints[joint].driven.add(key)
            law = Integral(self._law_of_time(speed, owner))
            self._drive(name, c, self._function(law, owner, load=False))
            return
        if position is not None and not (kp or kd):
            raise ModelError(f"{owner}: position is a controller's reference; add its gain kp (and kd)")
        if force is None and not (kp or kd):
            raise ModelError(f"{owner}: it does nothing; give force, speed, or position with the gains kp and kd")
        if np.isnan(limit) or not limit > 0.0:
            raise ModelError(f"{owner}: limit = {limit!r} must be a positive number")
        indices = {"function": -1, "reference": -1, "reference rate": -1}
        if force is not None:
            indices["function"] = self._function(self._law_of_time(force, owner), owner, load=True)
        if position is not None:
            law = self._law_of_time(position, owner)
            indices["reference"] = self._function(law, owner, load=False)
            if kd:
                indices["reference rate"] = self._function(Derivative(law), owner, load=False)
        self._add(
            name, f"motor_{_KINDS[kind]}{self.dimension}", [c.nodes], coordinate=kind, start=c.start, kp=kp, kd=kd,
            limit=float(limit), **indices, **c.columns,
        )  # fmt: skip

    def _law_of_time(self, spec, owner: str) -> TimeFunction:
        return spec if isinstance(spec, TimeFunction) else make_function(spec, name=owner, functions=self.functions)

    # --- users' forces ---------------------------------------------------------------------------------------------
    def user_force(
        self, name: str, joint: str | None = None, function: Callable[..., Any] | None = None,
        tangent: Callable[..., Any] | None = None, *, coordinate: str | None = None, at=None, point=None, a=None, b=None,
        point_a=None, point_b=None,
    ) -> None:  # fmt: skip
        """A force that a Python function gives, on a coordinate of a joint, on the distance of two points, or on points.

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
        owner = self._label("User force", name)
        for key, value in (("function", function), ("tangent", tangent)):
            if not callable(value) and not (key == "tangent" and value is None):
                raise ModelError(f"{owner}: {key} = {value!r} cannot be called; give a Python function")
        columns: dict[str, float] = {"callback": len(self._callbacks), "clock": self._clock(owner)}
        if at is None:
            if point is not None:
                raise ModelError(f"{owner}: point belongs to at, a place; use point_a, point_b for a distance")
            kind, c, _ = self._worked_on(owner, joint, coordinate, a, b, point_a, point_b)
            columns |= {"coordinate": kind, "start": 0.0 if kind == LENGTH else c.start, **c.columns}
            self._add(name, f"user_{_KINDS[kind]}{self.dimension}", [c.nodes], **columns)
            self._callbacks.append(Callback(owner, function, tangent, 0))
            return
        if any(v is not None for v in (joint, coordinate, a, b, point_a, point_b)):
            raise ModelError(f"{owner}: at is for forces on points; remove joint, coordinate, a, b, point_a and point_b")
        nodes = self.nodes_of(at, owner)
        if point is not None:
            node, offset = self._point(at, point, owner)
            nodes = np.array([node])
            columns |= {f"a{c}": float(v) for c, v in zip("xyz"[: self.dimension], offset, strict=True)}
        if len(nodes) == 0:
            raise ModelError(f"{owner}: at = {at!r} has no nodes")
        self._add(name, f"user_point{self.dimension}", nodes, **columns)
        self._callbacks.append(Callback(owner, function, tangent, self.dimension))

    def _clock(self, owner: str) -> float:
        """The index of the function that is the time itself."""
        if self._time is None:
            self._time = make_function({"kind": "constant_speed", "rate": 1.0}, name=owner)
        return float(self._function(self._time, owner, load=False))
