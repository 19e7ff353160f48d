"""Sensors of a model as a whole, of reduced parts and of state variables: energies, coordinates of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, TEXT, WHOLE, shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_Q

__all__ = ["Energy", "Modal", "State"]

#: Columns of the energy ledger, and their sum.
_ENERGIES = ("kinetic", "strain", "potential", "dissipated", "load work", "driver work", "closing error", "total")


class _Modal(Sensor):
    def prepare(self, on, mode):
        placed = self.model.find("reduced part", on, self.model.reduced_parts, self.owner)
        count = len(placed.scalars)
        if mode is not None and (isinstance(mode, bool) or not isinstance(mode, int) or not 1 <= mode <= count):
            raise ModelError(
                f'mode = {shown(mode)} must be a whole number from 1 to {count}, as "{on}" has',
                owner=self.owner,
                key="mode",
                value=mode,
            )
        self.scalars = placed.scalars if mode is None else placed.scalars[[mode - 1]]
        self.columns = [f"{self.name}.{k + 1}" for k in range(count)] if mode is None else [self.name]

    def bind(self, compiled):
        return [(REC_Q, compiled.system.first_scalar + int(k)) for k in self.scalars]

    def evaluate(self, values, ledger):
        return values


class _State(Sensor):
    def prepare(self, on, state):
        known = {s.of: s.of for s in self.model.states.values()}
        self.model.find("motor, actuator or force with state variables", on, known, self.owner)
        own = {s.name: number for number, s in self.model.states.items() if s.of == on}
        if state is not None:
            self.model.find(f'state variable of "{on}":', state, own, self.owner)
            own = {state: own[state]}
        self.numbers = list(own.values())
        found = [self.model.states[number] for number in self.numbers]
        self.sizes = np.array([s.size for s in found])
        self.unit = [s.unit for s in found] if state is None else found[0].unit
        self.columns = [f"{self.name}.{s.name}" for s in found] if state is None else [self.name]

    def bind(self, compiled):
        return [(REC_Q, compiled.system.first_scalar + number) for number in self.numbers]

    def evaluate(self, values, ledger):
        return values * self.sizes


class _Energy(Sensor):
    unit, nonlinear = "J", True

    def prepare(self, quantity):
        self.quantity = quantity
        self.index = _ENERGIES.index(quantity)

    def bind(self, compiled):
        return []

    def evaluate(self, values, ledger):
        return (ledger[:, :3].sum(axis=1) if self.quantity == "total" else ledger[:, self.index])[:, None]


@dataclass(frozen=True, eq=False)
class Modal(SensorRequest):
    """Coordinates of a reduced part [m]: of one shape (`mode`, 1 is the lowest), or of all."""

    sensor = _Modal

    kind: str = kind_key("modal")
    on: Any = key(NAME, "reduced part", kw_only=True)
    mode: int | None = key(WHOLE, "number of a shape, 1 is the lowest", None, kw_only=True)


@dataclass(frozen=True, eq=False)
class State(SensorRequest):
    """State variables of a motor (`integral`, `filtered`, `actuator`), a hydraulic actuator (`pressure`, `opening`) or
    a user's force: one, or all."""

    sensor = _State

    kind: str = kind_key("state")
    on: Any = key(NAME, "motor, hydraulic actuator or user's force", kw_only=True)
    state: str | None = key(TEXT, "name of the state variable", None, shows="all", kw_only=True)


@dataclass(frozen=True, eq=False)
class Energy(SensorRequest):
    """ "total" (kinetic, strain and potential), or a column of the energy ledger [J]; works and losses since the start
    of the step."""

    sensor = _Energy

    kind: str = kind_key("energy")
    quantity: str = key(TEXT, "one of", "total", choices=_ENERGIES, kw_only=True)
