"""A sensor in one file, as a package beside fem-mbs would add one: the middle of two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NUMBER, PLACE
from fem_mbs.model.sensors.kinds import register_sensor
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_Q


class _Middle(Sensor):
    unit = "m"

    def prepare(self, a: Any, b: Any, weight: float) -> None:
        self.nodes = [self.model.node_of(place, self.owner, frames=True) for place in (a, b)]
        self.weight, self.size = weight, self.model.dimension
        self.columns = [f"{self.name}.{c}" for c in "xyz"[: self.size]]

    def bind(self, compiled: Any) -> list[tuple[int, int]]:
        return [(REC_Q, int(k)) for node in self.nodes for k in compiled.system.position_dofs(node)]

    def evaluate(self, values: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        return (1.0 - self.weight) * values[:, : self.size] + self.weight * values[:, self.size :]


@dataclass(frozen=True, eq=False)
class Middle(SensorRequest):
    """Position between two places."""

    sensor = _Middle

    kind: str = kind_key("middle")
    a: Any = key(PLACE, "first place", kw_only=True)
    b: Any = key(PLACE, "second place", kw_only=True)
    weight: float = key(NUMBER, "share of the second", 0.5, kw_only=True)


register_sensor(Middle)
