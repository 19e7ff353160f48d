"""Motors and controllers on coordinates of joints, or between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FUNCTION, NAME, NUMBER, NUMBER_OR_INF, PLACE, TEXT, VECTOR
from fem_mbs.elements.joints.coordinate import LENGTH
from fem_mbs.errors import ModelError
from fem_mbs.functions.laws import Integral
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import KINDS, law_of_time, reference_indices, worked_on
from fem_mbs.model.connections.joint_parts import drive
from fem_mbs.model.records import JointCoordinate, StateVariable

__all__ = ["Motor"]


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
            kp (r - q) + kd (r' - q') + the integral of ki (r - q); without it r = 0.
        kp, kd: gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
        ki: gain of the integral of r - q [N/(m s)], [N m/(rad s)].
        filter_time: time constant T [s] of the derivative: kd acts on z' instead of r' - q', T z' = r - q - z.
        lag: time constant [s] of the actuator: its force follows what the controller asks for.
        limit: largest magnitude of the whole force; None: none.
        tracking_time: time [s] in which the integral gives back what the limit cuts off; None: it goes on growing.

    The integral part, the filter and the actuator are state variables (`integral`, `filtered`, `actuator`, of sensors
    of the kind "state").  Static steps find their equilibrium, in which an integral has brought r - q to zero.
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
    ki: float = key(NUMBER, "gain of the integral of r - q", 0.0, kw_only=True, unit="N/(m s) or N m/(rad s)")
    filter_time: float | None = key(
        NUMBER, "time constant of a filter of first order before kd", None, shows="none", kw_only=True, unit="s"
    )
    lag: float | None = key(
        NUMBER, "time constant of the actuator, whose force follows the controller", None, shows="none", kw_only=True,
        unit="s",
    )  # fmt: skip
    limit: float | None = key(
        NUMBER_OR_INF, "largest magnitude of force and controller together", None, shows="none", kw_only=True
    )
    tracking_time: float | None = key(
        NUMBER, "in which the integral gives back what the limit cuts off", None, shows="the integral goes on",
        kw_only=True, unit="s",
    )  # fmt: skip
    initial_integral: float = key(NUMBER, "integral part at the start", 0.0, kw_only=True, unit="N or N m")
    initial_force: float = key(NUMBER, "force of an actuator with a lag at the start", 0.0, kw_only=True,
                               unit="N or N m")  # fmt: skip
    a: Any = key(PLACE, "instead of joint: one end of a distance", None, shows="none", kw_only=True)
    b: Any = key(PLACE, "its other end", None, shows="none", kw_only=True)
    point_a: Any = key(
        VECTOR, "where on a, in global coordinates of the start", None, shows="its node", kw_only=True, unit="m"
    )
    point_b: Any = key(VECTOR, "where on b", None, shows="its node", kw_only=True, unit="m")

    def build(self, building: Building) -> None:
        owner = building.label("Motor", self.name)
        kind, c, key = worked_on(
            building, owner, self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b
        )
        gains = {name: building.number(getattr(self, name), owner, name, 0.0) for name in ("kp", "ki", "kd")}
        if self.speed is not None:
            self._drive(building, owner, kind, c, key)
            return
        if self.position is not None and not any(gains.values()):
            raise ModelError("position is a controller's reference", owner=owner, remedy="add its gain kp (ki, kd)")
        if self.force is None and not any(gains.values()):
            raise ModelError(
                "it does nothing", owner=owner, remedy="give force, speed, or position with the gains kp and kd"
            )
        limit = np.inf if self.limit is None else self.limit
        if isinstance(limit, str) or not limit > 0.0:
            raise ModelError(f"limit = {limit!r} must be a positive number", owner=owner, key="limit", value=limit)
        times = self._times(building, owner, gains, float(limit))
        index = -1
        if self.force is not None:
            index = building.function_index(law_of_time(building, self.force, owner), owner, load=True)
        remembers = bool(gains["ki"] or times["filter time"] or times["lag"])
        reference = reference_indices(
            building, self.position, owner, rate=gains["kd"] > 0.0 and not times["filter time"]
        )
        own = {**gains, **times} if remembers else {"kp": gains["kp"], "kd": gains["kd"]}
        block = building.add_block(
            self.name,
            f"{'servo' if remembers else 'motor'}_{KINDS[kind]}{building.dimension}",
            [c.nodes],
            start=c.start,
            function=index,
            limit=float(limit),
            **reference,
            **own,
            **c.columns,
        )
        if remembers:
            self._remember(building, owner, block, kind == LENGTH or not c.angular)

    def _drive(self, building: Building, owner: str, kind: int, c: JointCoordinate, key: str) -> None:
        """Let the coordinate follow the integral of the speed."""
        asked = (self.force, self.position, self.limit, self.filter_time, self.lag, self.tracking_time)
        given = (self.kp, self.kd, self.ki, self.initial_integral, self.initial_force)
        if any(v is not None for v in asked) or any(given):
            raise ModelError(
                "a motor with a given speed takes any force", owner=owner, remedy="remove force, position, gains"
            )
        if kind == LENGTH:
            raise ModelError(
                "speed is for the coordinate of a joint",
                owner=owner,
                remedy="between points give position and gains",
            )
        assert self.joint is not None
        if key in building.joints[self.joint].driven:
            raise ModelError(
                f'the {key} of joint "{self.joint}" is driven already',
                owner=owner,
                remedy="remove one of the drives",
            )
        building.joints[self.joint].driven[key] = self.name
        law = Integral(law_of_time(building, self.speed, owner))
        drive(building, self.name, c, building.function_index(law, owner, load=False))

    def _times(self, building: Building, owner: str, gains: dict[str, float], limit: float) -> dict[str, float]:
        """Return the columns of the time constants, zero for none.

        Raises:
            ModelError: one of them, or a value at the start, belongs to what the motor does not have.
        """
        found = {}
        for name in ("filter_time", "lag", "tracking_time"):
            value = getattr(self, name)
            found[name.replace("_", " ")] = (
                0.0 if value is None else building.number(value, owner, name, 0.0, strict=True)
            )
        for name, needed, there in (
            ("filter_time", "kd", gains["kd"] > 0.0), ("tracking_time", "ki", gains["ki"] > 0.0),
            ("tracking_time", "limit", limit < np.inf), ("initial_integral", "ki", gains["ki"] > 0.0),
            ("initial_force", "lag", found["lag"] > 0.0),
        ):  # fmt: skip
            value = getattr(self, name)
            if value and not there:
                raise ModelError(
                    f"{name} = {value:g} belongs to {needed}", owner=owner, key=name, value=value,
                    remedy=f"add {needed}, or remove it",
                )  # fmt: skip
        return found

    def _remember(self, building: Building, owner: str, block: Any, straight: bool) -> None:
        """Give the element its state variables, those that its gains and times need."""
        force, place = ("N", "m") if straight else ("N m", "rad")
        started = {name: building.number(getattr(self, name), owner, name) for name in
                   ("initial_integral", "initial_force")}  # fmt: skip
        reference = 0.0 if self.position is None else float(law_of_time(building, self.position, owner)(np.float64(0)))
        states = (
            StateVariable(self.name, "integral", force, started["initial_integral"], 1.0) if self.ki else None,
            # of a controller that has been at rest: the derivative begins with zero
            StateVariable(self.name, "filtered", place, reference, 1.0) if self.filter_time else None,
            StateVariable(self.name, "actuator", force, started["initial_force"], 1.0) if self.lag else None,
        )
        building.add_states(block, states)
