"""Sensors of coordinates of joints and of what drives them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import NAME, TEXT, shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.connections.joint_parts import drivers, joint_coordinate, measure_joint
from fem_mbs.model.sensors.motion import rotation_records
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_OUT, REC_REACTION

__all__ = ["Drive", "Effort", "JointCoordinate"]


class _Joint(Sensor):
    drives: ClassVar[dict[str, bool]] = {"drive moment": True, "drive force": False}  # angular or not

    def prepare(self, on, quantity):
        self.on, self.quantity, self.plane = on, quantity, None
        if quantity in self.drives:
            self.model.find("joint", on, self.model.joints, self.owner)
            self.label, self.mid_step = on, True
            self.unit = "N m" if self.drives[quantity] else "N"
            return
        known = self.model.find("joint", on, self.model.joints, self.owner).coordinates
        if quantity is not None and quantity not in known:
            choices = ", ".join((*known, *self.drives))
            raise ModelError(
                f"quantity = {shown(quantity)}",
                owner=self.owner,
                key="quantity",
                value=quantity,
                remedy=f'"{on}" has {choices}; its force and moment are those of a sensor of kind "reaction"',
            )
        key, c = joint_coordinate(self.model, on, quantity, self.owner)
        self.unit = "rad" if c.angular else "m"
        self.quantity = "angle" if c.angular else "displacement"
        if c.angular and self.model.dimension == 2:
            self.plane = c
        else:
            self.label = measure_joint(self.model, on, key)

    def bind(self, compiled):
        if self.plane is not None:
            return [r for n in self.plane.nodes if n >= 0 for r in rotation_records(compiled.system, n)]
        labels = {self.label, *(self.model.joints[self.on].driven.values() if self.mid_step else ())}
        for block in compiled.system.blocks:
            names = block.type.quantities
            if self.quantity not in names:
                continue
            for label, first, _ in block.groups:
                driven = not self.mid_step or block.par[first, block.type.column("function")] >= 0.0
                if label in labels and driven:
                    compiled.system.watch(block)
                    return [(REC_OUT, block.first_output + first * len(names) + names.index(self.quantity))]
        raise ModelError(f'"{self.on}" has no {self.quantity}', owner=self.owner, remedy="see its reaction")

    def evaluate(self, values, ledger):
        if self.plane is None:
            return values
        a, b = self.plane.nodes
        angle = (values[:, -1] if b >= 0 else 0.0) - (values[:, 0] if a >= 0 else 0.0)
        return np.reshape(angle - self.plane.start, (-1, 1))


class _Drive(Sensor):
    """The driving force on the coordinate of a motion or a driven joint, positive with its growth."""

    mid_step = True

    def prepare(self, on):
        known = dict.fromkeys(drivers(self.model))
        self.model.find("motion or driven joint", on, known, self.owner)
        self.on = on

    def bind(self, compiled):
        system = compiled.system
        parts: dict[str, list[tuple[int, int]]] = {}
        for owner, dof in zip(system.driven.owners, system.driven.dofs, strict=True):
            if owner.name == self.on:
                node = int(np.searchsorted(system.offset, dof, side="right") - 1)
                angular = dof - system.offset[node] >= system.dimension
                parts.setdefault("moment" if angular else "force", []).append((REC_REACTION, int(dof)))
        for block in system.blocks:
            names = block.type.quantities
            if not block.type.multipliers or "function" not in block.type.par:
                continue
            for label, first, last in block.groups:
                for e in range(first, last if label == self.on else first):
                    if block.par[e, block.type.column("function")] < 0.0:
                        continue
                    system.watch(block)
                    moment = "drive moment" in names
                    at = block.first_output + e * len(names) + names.index("drive moment" if moment else "drive force")
                    parts.setdefault("moment" if moment else "force", []).append((REC_OUT, at))
        self.unit = ["N m" if key == "moment" else "N" for key in parts]
        self.columns = [self.name] if len(parts) == 1 else [f"{self.name}.{key}" for key in parts]
        self.groups, records = [], []
        for found in parts.values():
            self.groups.append((len(records), len(records) + len(found)))
            records += found
        return records

    def evaluate(self, values, ledger):
        return np.column_stack([values[:, a:b].sum(axis=1) for a, b in self.groups])


class _Effort(Sensor):
    """The force of a motor as its function says it at the ends of steps, without what gains and limits do."""

    of_time = True

    def prepare(self, on):
        known = {label: None for block in _motors(self.model) for label, _, _ in block.groups}
        self.model.find("motor", on, known, self.owner)
        self.on = on

    def bind(self, compiled):
        for block in _motors(compiled.system):
            for label, first, _ in block.groups:
                if label == self.on:
                    self._compiled, self._function = compiled, int(block.par[first, block.type.column("function")])
                    self.unit = block.type.outputs[0].rpartition("[")[2].rstrip("]")
                    compiled.system.watch(block)
                    return [(REC_OUT, block.first_output + first * len(block.type.outputs))]
        raise ModelError(f'"{self.on}" is no motor', owner=self.owner)

    def evaluate(self, values, ledger):
        return values

    def at_times(self, time):
        if self._function < 0:
            return np.zeros((len(time), 1))
        return np.reshape(self._compiled.functions[self._function](time), (-1, 1))


def _motors(holder: Any) -> list[Any]:
    """Return the blocks of motors of a building or a compiled system."""
    return [block for block in holder.blocks if block.type.name.startswith("motor_")]


@dataclass(frozen=True, eq=False)
class JointCoordinate(SensorRequest):
    """Of the joint called so: a coordinate since the start, "angle" or "angle_b" [rad], "displacement" [m] (the first,
    if there is no quantity), or what drives it, "drive moment" [N m], "drive force" [N]."""

    sensor = _Joint

    kind: str = kind_key("joint")
    on: Any = key(NAME, "joint", kw_only=True)
    quantity: str | None = key(TEXT, "coordinate or driver of the joint", None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Drive(SensorRequest):
    """What the motion or driven joint called so does on its coordinate [N], [N m]: positive where it does positive work
    as the coordinate grows."""

    sensor = _Drive

    kind: str = kind_key("drive")
    on: Any = key(NAME, "motion or driven joint", kw_only=True)


@dataclass(frozen=True, eq=False)
class Effort(SensorRequest):
    """The force of the motor called so as its function says it, at the ends of steps [N], [N m]: what a path step has
    found, without what gains and limits do."""

    sensor = _Effort

    kind: str = kind_key("effort")
    on: Any = key(NAME, "motor", kw_only=True)
