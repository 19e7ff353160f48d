"""Sensor of contacts: their forces, gaps and places, over all elements of a contact."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, TEXT
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_OUT

__all__ = ["Contact"]

#: Quantity -> outputs of the elements that it is made of, unit, and whether it belongs to the middle of steps.
_QUANTITIES = {
    "force": (("normal force",), "N", True),
    "friction force": (("friction force",), "N", True),
    "gap": (("gap",), "m", False),
    "touching": (("normal force",), "-", False),
    "place": (("normal force", "part a", "part b", "place 1", "place 2"), "-", False),
}


class _Contact(Sensor):
    nonlinear = True

    def prepare(self, on, quantity):
        known = sorted({
            name for block in self.model.blocks if "contact" in block.type.name or "pair" in block.type.name
            for name, _, _ in block.groups
        })  # fmt: skip
        if on not in known:
            raise ModelError(
                f'"{on}" is no contact', owner=self.owner, key="on", value=on,
                remedy=f"there are {', '.join(known) or 'none'}",
            )  # fmt: skip
        self.on, self.quantity = on, quantity
        self.outputs, self.unit, self.mid_step = _QUANTITIES[quantity]
        if quantity == "place":
            self.columns = [f"{self.name}.{column}" for column in self.outputs[1:]]
            self.places = tuple(range(4))

    def bind(self, compiled):
        found = []
        for block in compiled.system.blocks:
            for name, first, last in block.groups:
                if name != self.on or not {"normal force", "gap"} <= set(block.type.quantities):
                    continue
                names = block.type.quantities
                missing = [output for output in self.outputs if output not in names]
                if missing:
                    raise ModelError(
                        f'"{self.on}" has no {missing[0]}', owner=self.owner, key="quantity", value=self.quantity,
                        remedy=f"it has {', '.join(q for q, v in _QUANTITIES.items() if set(v[0]) <= set(names))}",
                    )  # fmt: skip
                compiled.system.watch(block)
                at = block.first_output + len(names) * np.arange(first, last)[:, None]
                places = at + [names.index(output) for output in self.outputs]
                found += [(REC_OUT, int(k)) for k in places.ravel()]
        assert found, f"no block of {self.on}"
        return found

    def evaluate(self, values, ledger):
        table = values.reshape(len(values), -1, len(self.outputs))
        if self.quantity == "gap":
            least = table[:, :, 0].min(axis=1, keepdims=True)
            return np.where(np.isfinite(least), least, np.nan)
        if self.quantity == "touching":
            return (table[:, :, 0] > 0.0).sum(axis=1, keepdims=True).astype(float)
        if self.quantity != "place":
            return table[:, :, 0].sum(axis=1, keepdims=True)
        strongest = table[:, :, 0].argmax(axis=1)
        rows = np.arange(len(table))
        found = table[rows, strongest, 1:]
        return np.where(table[rows, strongest, :1] > 0.0, found, np.nan)


@dataclass(frozen=True, eq=False)
class Contact(SensorRequest):
    """What a contact does, over all that touch in it: the sum of normal forces, of friction forces (their sizes), the
    smallest gap (negative: penetration; nan: nothing is near), the number of elements that press, or, of beams and
    faces that deform, the place where the force is largest: numbers of both parts, and the places on them from 0 to 1
    (of faces the area coordinates of the second and third corner)."""

    sensor = _Contact

    kind: str = kind_key("contact")
    on: Any = key(NAME, "contact", kw_only=True)
    quantity: str = key(TEXT, "what is measured", "force", choices=tuple(_QUANTITIES), kw_only=True)
