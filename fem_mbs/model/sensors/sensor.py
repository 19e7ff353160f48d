"""Base classes of all sensors: the declaration, and the object that records and evaluates.

A kind of sensor is a subclass of `SensorRequest`, which says what its keys are, and one of `Sensor`, which finds places
in a model (`prepare`), says what a compiled model records (`bind`), and turns records into columns (`evaluate`).

Values that belong to the middle of a step (forces, strains, reactions) are marked ``mid_step``; readers average two
consecutive ones by default (docs/theory.md, section 3).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import NAME, TEXT
from fem_mbs.errors import Owner
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from fem_mbs.model.building import Building

__all__ = ["Sensor", "SensorRequest", "kind_key", "node_values"]


def node_values(time: np.ndarray, values: np.ndarray, mid_step: bool) -> np.ndarray:
    """Return values (n, k) of a sensor at the times of its rows.

    Those that belong to the middle of steps (row i: between row i - 1 and i) become means of two consecutive ones,
    which takes out what alternates from step to step; at both ends the parabola through the next three means goes on
    (the nearest one where there are fewer).  Second order in the time step.
    """
    if not mid_step:
        return values
    out = np.full(values.shape, np.nan)
    out[1:-1] = 0.5 * (values[1:-1] + values[2:])
    if len(out) >= 5:
        out[0] = 3.0 * out[1] - 3.0 * out[2] + out[3]
        out[-1] = 3.0 * out[-2] - 3.0 * out[-3] + out[-4]
    else:
        out[0], out[-1] = values[min(1, len(values) - 1)], values[-1]
    return out


class Sensor:
    """A sensor of a model: `bound` makes that of a compiled model, whose ``evaluate`` turns recorded values (n, k) into
    columns.

    Attributes:
        given: what its declaration says beside its name.
        rate: the sensor measures a rate: `evaluate` gives what is derived by time, `turned` the columns.
        of_time: rows of steps that pass time have its values at their times, `at`.
        nonlinear: its values are no linear function of small changes of its records; it is left out of responses.
        at_state: of a nonlinear one, small changes of places have no part in it.
        places: numbers of the columns that tell where something is; no mean of two rows has a meaning.
        first, last: of a bound sensor, the range of its values in a row of the record.
    """

    on: Any  # of most kinds: the place, as given
    unit: str | list[str] = "m"  # a list: one for each column
    mid_step = False
    rate = False
    of_time = False
    nonlinear = False
    at_state = False
    places: tuple[int, ...] = ()

    def __init__(self, building: Any, said: SensorRequest):
        self.model, self.name, self.kind = building, said.name, said.kind
        self.owner = Owner("Sensor", said.name)
        self.first = self.last = 0
        self.columns: list[str] = [said.name]
        self.given = {k: getattr(said, k) for k in said.own_keys()}
        self.prepare(**self.given)

    def prepare(self, **options: Any) -> None:
        """Resolve places."""

    def bound(self, compiled: Any, first: int) -> tuple[Sensor, list[tuple[int, int]]]:
        """Return the sensor of a compiled model, and its records there from column ``first`` on.

        A record is a pair of a source (REC_Q ... of `fem_mbs.solvers.stepping.layout`) and an index.  The sensor of the
        model stays as it is.

        Raises:
            ModelError: the compiled model has no such quantity.
        """
        own = copy(self)
        records = own.bind(compiled)
        own.first, own.last = first, first + len(records)
        return own, records

    def bind(self, compiled: Any) -> list[tuple[int, int]]:
        """Return the records of a compiled model (see `bound`), and set columns and units that depend on it.

        `bound` calls this on a copy.
        """
        raise NotImplementedError

    def evaluate(self, values: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def at_times(self, time: np.ndarray) -> np.ndarray:
        """Return the columns (n, k) of a sensor ``of_time`` at times (n,) [s]."""
        raise NotImplementedError

    def turned(self, rates: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the columns (n, k) of a sensor of a rate.

        ``rates`` (n, k) are those of what `evaluate` gives; ``values`` are the records at the same instants, or the
        means of the records around them.
        """
        return rates

    def vector(self, values: np.ndarray) -> np.ndarray | None:
        """Return the vector whose length is the value, (n, m) [m] or [rad]; else None.

        Where it is zero the value has no derivative, but the vector has."""
        return None

    @property
    def header(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            **({"quantity": self.given["quantity"]} if self.given.get("quantity") else {}),
            "unit": self.unit,
            "columns": self.columns,
            "mid_step": self.mid_step,
            **({"rate": True} if self.rate else {}),
            **({"places": list(self.places)} if self.places else {}),
        }


def kind_key(name: str) -> Any:
    """Return the field that names the kind of a sensor."""
    return key(
        TEXT,
        "what it measures, one of the kinds below" if not name else "what it measures",
        name,
        needed=True,
        choices=(name,) if name else (),
    )


@dataclass(frozen=True, eq=False)
class SensorRequest(Declaration):
    """Quantities written at every time step.

    The keys of a kind are those of its own class; ``sensor`` is what it is built into.
    """

    owner = "Sensor"
    sensor: ClassVar[type[Sensor]]

    name: str = key(NAME, "of its columns in the results")
    kind: str = kind_key("")

    @classmethod
    def own_keys(cls) -> list[str]:
        """Return the names of the keys that belong to the kind."""
        shared = SensorRequest.keys()
        return [name for name in cls.keys() if name not in shared]  # noqa: SIM118 (a class, no mapping)

    def build(self, building: Building) -> None:
        building.new_name("Sensor", self.name, building.sensor_names)
        building.sensors.append(self.sensor(building, self))
        building.sensor_names.add(self.name)
