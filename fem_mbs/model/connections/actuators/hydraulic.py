"""Hydraulic actuators on coordinates of joints, or between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FUNCTION, NAME, NUMBER, PLACE, TEXT, VECTOR
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import KINDS, law_of_time, reference_indices, worked_on
from fem_mbs.model.records import StateVariable

__all__ = ["HydraulicActuator"]


@dataclass(frozen=True, eq=False)
class HydraulicActuator(Declaration):
    """Hydraulic cylinders and rotary actuators with servo valves, whose pressure is a state variable.

    Add a hydraulic actuator on a coordinate of a joint, or (a, b) on the distance of two points; positive pressure lets
    it grow.

    Args:
        coordinate: as for `joint_spring`.
        area: of the piston [m^2]; rotary: volume per radian [m^3].
        capacity: volume of oil per load pressure [m^3/Pa]; of a symmetric cylinder in its middle V/(4 E), V the volume
            of both chambers and E the bulk modulus.  With area_b that of chamber a alone, V_a/E.
        area_b: of the piston on the side of the rod, which pulls; the chambers then have a pressure each.
        capacity_b: V_b/E of that chamber; None: as of the other one.
        gain: flow per opening of the valve, without load [m^3/s].  Of two chambers with a supply, flow through one edge
            at the whole supply pressure: a cylinder of two equal areas without load, with half of the supply pressure
            in both chambers, moves by gain/sqrt(2).
        leakage: flow per load pressure, with the flow-pressure coefficient of the valve [m^3/(s Pa)]; of two chambers
            per difference of their pressures.
        drain: flow of each of two chambers per pressure to the tank [m^3/(s Pa)].
        supply: pressure [Pa] from which the flow decreases with the load, as that of a symmetric valve; None: the flow
            is gain times opening.
        friction: viscous [N s/m], [N m s/rad].
        opening: of the valve, u(t) [-]; a load.
        position: a controller's reference r(t) for the coordinate, counted from the start: the valve opens by
            kp (r - q) + kd (r' - q') as well; without it r = 0.
        kf: feedback of the pressure, which closes the valve [1/Pa]; of two chambers of p_a - p_b area_b/area.
        limit: largest opening.
        spool_time: time constant [s] with which the valve opens; None: at once.

    C p' = Q - leakage p - area q', force = area p - friction q' (Leimbach & Hahn 1993, eq. 16).  The state variables
    are `pressure` and `opening`; of two chambers (`fem_mbs.elements.actuators.cylinder`) `pressure a`, `pressure b` and
    `opening`.  What the oil stores, C p^2/2, counts as strain energy, p Q as work of loads.
    """

    owner = "Hydraulic actuator"

    name: str = key(NAME, "in messages and results", shows='"hydraulic 1", ...')
    joint: str | None = key(TEXT, "name of a joint; or a and b", None, shows="none")
    coordinate: str | None = key(TEXT, "of the joint, as of a joint_spring", None, shows="the first")
    area: float = key(NUMBER, "of the piston; rotary: volume per radian", kw_only=True, unit="m^2 or m^3/rad")
    capacity: float = key(NUMBER, "volume of oil per load pressure", kw_only=True, unit="m^3/Pa")
    gain: float = key(
        NUMBER,
        "flow per opening of the valve, without load; of two chambers with a supply, through one edge at the whole "
        "supply pressure",
        0.0, kw_only=True, unit="m^3/s",
    )  # fmt: skip
    area_b: float | None = key(
        NUMBER, "on the side of the rod; the chambers then have a pressure each", None, shows="one pressure",
        kw_only=True, unit="m^2 or m^3/rad",
    )  # fmt: skip
    capacity_b: float | None = key(
        NUMBER, "of the chamber on the side of the rod", None, shows="capacity", kw_only=True, unit="m^3/Pa"
    )
    leakage: float = key(NUMBER, "flow per load pressure", 0.0, kw_only=True, unit="m^3/(s Pa)")
    drain: float = key(
        NUMBER, "flow of each of two chambers per pressure, to the tank", 0.0, kw_only=True, unit="m^3/(s Pa)"
    )
    supply: float | None = key(
        NUMBER, "pressure of the supply, at which no oil flows", None, shows="flow = gain x opening", kw_only=True,
        unit="Pa",
    )  # fmt: skip
    friction: float = key(NUMBER, "viscous friction", 0.0, kw_only=True, unit="N s/m or N m s/rad")
    opening: Any = key(FUNCTION, "of the valve", None, shows="0", kw_only=True, unit="-")
    position: Any = key(
        FUNCTION, "a controller's reference r of the coordinate since the start", None, shows="0", kw_only=True,
        unit="m or rad",
    )  # fmt: skip
    kp: float = key(NUMBER, "opening per r - q", 0.0, kw_only=True, unit="1/m or 1/rad")
    kd: float = key(NUMBER, "opening per r' - q'", 0.0, kw_only=True, unit="s/m or s/rad")
    kf: float = key(
        NUMBER, "opening per pressure, against it; of two chambers per p_a - p_b area_b/area", 0.0, kw_only=True,
        unit="1/Pa",
    )  # fmt: skip
    limit: float | None = key(NUMBER, "largest opening", None, shows="none", kw_only=True, unit="-")
    spool_time: float | None = key(
        NUMBER, "time constant with which the valve opens", None, shows="at once", kw_only=True, unit="s"
    )
    initial_pressure: float = key(NUMBER, "at the start", 0.0, kw_only=True, unit="Pa")
    initial_pressure_b: float = key(
        NUMBER, "at the start, of the chamber on the side of the rod", 0.0, kw_only=True, unit="Pa"
    )
    initial_opening: float = key(NUMBER, "at the start, with spool_time", 0.0, kw_only=True, unit="-")
    a: Any = key(PLACE, "instead of joint: one end of a distance", None, shows="none", kw_only=True)
    b: Any = key(PLACE, "its other end", None, shows="none", kw_only=True)
    point_a: Any = key(
        VECTOR, "where on a, in global coordinates of the start", None, shows="its node", kw_only=True, unit="m"
    )
    point_b: Any = key(VECTOR, "where on b", None, shows="its node", kw_only=True, unit="m")

    def build(self, building: Building) -> None:
        owner = building.label("Hydraulic actuator", self.name)
        kind, c, _ = worked_on(building, owner, self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b)
        positive = {name: building.number(getattr(self, name), owner, name, 0.0, strict=True)
                    for name in ("area", "capacity")}  # fmt: skip
        others = {name: building.number(getattr(self, name), owner, name, 0.0)
                  for name in ("gain", "leakage", "friction", "kp", "kd", "kf")}  # fmt: skip
        given = {
            column: absent if value is None else building.number(value, owner, name, 0.0, strict=True)
            for name, column, value, absent in (
                ("supply", "supply", self.supply, np.inf), ("limit", "limit", self.limit, np.inf),
                ("spool_time", "spool time", self.spool_time, 0.0),
            )
        }  # fmt: skip
        self._check(owner, others)
        family = "hydraulic" if self.area_b is None else "cylinder"
        if self.area_b is not None:
            capacity = self.capacity if self.capacity_b is None else self.capacity_b
            positive["area b"] = building.number(self.area_b, owner, "area_b", 0.0, strict=True)
            positive["capacity b"] = building.number(capacity, owner, "capacity_b", 0.0, strict=True)
            others["drain"] = building.number(self.drain, owner, "drain", 0.0)
        index = -1
        if self.opening is not None:
            index = building.function_index(law_of_time(building, self.opening, owner), owner, load=True)
        block = building.add_block(
            self.name,
            f"{family}_{KINDS[kind]}{building.dimension}",
            [c.nodes],
            start=c.start,
            function=index,
            **reference_indices(building, self.position, owner, rate=others["kd"] > 0.0),
            **positive,
            **others,
            **given,
            **c.columns,
        )
        building.add_states(block, self._states(building, owner, positive))

    def _states(self, building: Building, owner: str, given: dict[str, float]) -> list[StateVariable | None]:
        """Return the state variables, in the order of the element."""

        def pressure(name: str, key: str, capacity: float) -> StateVariable:
            # over the root of 1/C its square is twice the energy of the oil, and matrices are balanced
            start = building.number(getattr(self, key), owner, key)
            return StateVariable(self.name, name, "Pa", start, float(capacity**-0.5))

        opened = building.number(self.initial_opening, owner, "initial_opening")
        opening = StateVariable(self.name, "opening", "-", opened, 1.0) if self.spool_time else None
        if self.area_b is None:
            return [pressure("pressure", "initial_pressure", given["capacity"]), opening]
        return [
            pressure("pressure a", "initial_pressure", given["capacity"]),
            pressure("pressure b", "initial_pressure_b", given["capacity b"]),
            opening,
        ]

    def _check(self, owner: str, gains: dict[str, float]) -> None:
        """Refuse what has no effect.

        Raises:
            ModelError: a law of the valve without flow, a reference without gains, an opening without its time.
        """
        for name in ("capacity_b", "drain", "initial_pressure_b"):
            value = getattr(self, name)
            if value and self.area_b is None:
                raise ModelError(
                    f"{name} = {value:g} belongs to area_b", owner=owner, key=name, value=value,
                    remedy="add area_b, or remove it",
                )  # fmt: skip
        asks = self.opening is not None or any(gains[name] for name in ("kp", "kd", "kf"))
        if asks and gains["gain"] == 0.0:
            raise ModelError("its valve opens without any flow", owner=owner, remedy="add gain")
        if gains["gain"] > 0.0 and not asks and not self.initial_opening:
            raise ModelError(
                "nothing opens its valve", owner=owner, remedy="give opening, or gains kp, kd, kf; or remove gain"
            )
        if self.position is not None and not (gains["kp"] or gains["kd"]):
            raise ModelError("position is a controller's reference", owner=owner, remedy="add its gain kp (and kd)")
        if self.initial_opening and not self.spool_time:
            raise ModelError(
                f"initial_opening = {self.initial_opening:g} belongs to spool_time", owner=owner,
                key="initial_opening", value=self.initial_opening, remedy="add spool_time, or remove it",
            )  # fmt: skip
