"""Sensor of locks, latches and brakes."""

from __future__ import annotations

from typing import Any

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, TEXT
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_OUT

__all__ = ["LockState"]

_QUANTITIES = ("force", "coordinate", "speed", "state", "impulse", "limit")


class _Lock(Sensor):
    def prepare(self, on, quantity):
        self.on, self.quantity = on, quantity
        self.data = self.model.find("lock", on, self.model.locks, self.owner)
        if quantity == "limit" and self.data.limit is None:
            raise ModelError(
                f'lock "{on}" has no limit', owner=self.owner, key="quantity", value=quantity,
                remedy="measure that of a brake",
            )  # fmt: skip
        self.mid_step = quantity in ("force", "limit")
        force, way = ("N m", "rad") if self.data.coordinate.angular else ("N", "m")
        self.unit = {
            "force": force, "coordinate": way, "speed": f"{way}/s", "state": "-", "impulse": f"{force} s",
            "limit": force,
        }[quantity]  # fmt: skip

    def bind(self, compiled):
        angular, records = self.data.coordinate.angular, []
        names = {
            "force": ("drive moment", "moment") if angular else ("drive force", "force"),
            "coordinate": ("angle",) if angular else ("displacement",),
        }.get(self.quantity, (self.quantity,))
        for block in compiled.system.blocks:
            quantities = block.type.quantities
            brake = block.type.name.startswith("brake")
            wanted = names[-1] if brake else names[0]
            if not (brake or (self.quantity == "force" and block.type.multipliers)):
                continue
            for label, first, _ in block.groups:
                if label == self.on:
                    compiled.system.watch(block)
                    at = block.first_output + first * len(quantities)
                    records.append((REC_OUT, at + quantities.index(wanted)))
        return records

    def evaluate(self, values, ledger):
        total = values.sum(axis=1, keepdims=True)
        return total - self.data.coordinate.start if self.quantity == "coordinate" else total


@dataclass(frozen=True, eq=False)
class LockState(SensorRequest):
    """Of the lock or brake called so: its "force" [N], [N m] on the coordinate, positive with its growth (that of a
    brake while it slips, too); the "coordinate" since the start [m], [rad] and its "speed"; its "state": 0 open, 1
    closed, 2 slipping; the sum of the "impulse"s [N s], [N m s] with which it has closed; the "limit" of a brake
    [N], [N m], multiplied by its factor."""

    sensor = _Lock

    kind: str = kind_key("lock")
    on: Any = key(NAME, "lock", kw_only=True)
    quantity: str = key(TEXT, "quantity of the lock", "force", choices=_QUANTITIES, kw_only=True)
