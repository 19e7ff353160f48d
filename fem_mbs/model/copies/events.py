"""How events follow a movement: what they look at, the value that it passes, and what they switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.model.connections.actuators.hydraulic import HydraulicActuator
from fem_mbs.model.connections.actuators.motors import Motor
from fem_mbs.model.connections.joints import Joint, Motion
from fem_mbs.model.connections.locks import Lock
from fem_mbs.model.copies.movement import Copying
from fem_mbs.model.copies.signs import driven_sign, joint_sign, scaled
from fem_mbs.model.sensors.drives import JointCoordinate
from fem_mbs.model.sensors.locks import LockState
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.model.watching import EventRule

__all__ = ["copied_event"]

_POLAR = ("position", "displacement", "velocity", "acceleration")
_AXIAL = ("rotation", "angular velocity", "angular acceleration")
#: Sensors whose values are those of the image.
_SAME = ("energy", "distance", "largest displacement", "largest stress", "work", "strain", "force")
_TARGETS = ("force", "moment", "line_load", "pressure", "traction", "motor", "hydraulic", "friction", "motion", "joint",
            "part_load", "lock", "support")  # fmt: skip
_TURNED = {"rising": "falling", "falling": "rising", "both": "both"}


def copied_event(said: EventRule, c: Copying) -> dict[str, Any]:
    """Return the keys of an event that follow a movement: names of its sensor and targets, the value, the direction
    and the function.

    Raises:
        ModelError: nothing that it names is copied; its sensor measures what is none of the moved one's columns;
            targets whose functions count in different senses.
    """
    targets = [said.target] if isinstance(said.target, str) else list(said.target or ())
    renamed = [c.reference(word, _TARGETS) for word in targets]
    sensor, column = _sensor(said, c)
    out: dict[str, Any] = {}
    if sensor is None and renamed == targets:
        c.refuse(said, "nothing that it names is copied", "leave it out of the copy")
    if sensor is not None:
        name, sign, shift = _image(said, sensor, column, c)
        value = sign * said.value + shift
        out |= {"sensor": c.rename(sensor.name) + name, "value": value}
        out["direction"] = said.direction if sign > 0.0 else _TURNED[said.direction]
    if targets:
        out["target"] = renamed[0] if isinstance(said.target, str) else renamed
    if said.function is not None:
        signs = {_target_sign(word, c) for word, new in zip(targets, renamed, strict=True) if new != word}
        if len(signs) > 1:
            c.refuse(said, "its function counts in different senses in the mirror", "write one event for each target")
        out["function"] = scaled(said.function, signs.pop() if signs else 1.0)
    return out


def _sensor(said: EventRule, c: Copying) -> tuple[SensorRequest | None, str]:
    """Return the copied sensor that an event looks at, None: it is shared; and the rest of the column's name."""
    for sensor in sorted(c.said_of(SensorRequest), key=lambda s: -len(s.name)):
        if said.sensor == sensor.name or said.sensor.startswith(f"{sensor.name}."):
            copied = sensor.name in c.names.get("sensor", ())
            return (sensor if copied else None), said.sensor[len(sensor.name) :]
    return None, ""


def _image(said: EventRule, sensor: SensorRequest, column: str, c: Copying) -> tuple[str, float, float]:
    """Return the rest of the name of the column that measures the image, the sign with which it does, and a shift."""
    m, kind = c.movement, sensor.kind
    if np.array_equal(m.Q, np.eye(3)) and kind != "position":
        return column, 1.0, 0.0
    if isinstance(sensor, JointCoordinate):
        return column, joint_sign(c, sensor.on, column[1:] or None), 0.0
    if isinstance(sensor, LockState):
        lock = next(d for d in c.said_of(Lock) if d.name == sensor.on)
        signed = sensor.quantity != "state"
        return column, joint_sign(c, lock.joint, lock.coordinate) if signed else 1.0, 0.0
    if kind == "largest displacement" and getattr(sensor, "component", "size") != "size":
        c.refuse(said, f'a "{kind}" sensor of one component has other values there',
                 "write the copy of the event by hand")  # fmt: skip
    if kind in _SAME:
        return column, 1.0, 0.0
    frames = [getattr(sensor, key, None) for key in ("axes", "relative_to")]
    if kind not in (*_POLAR, *_AXIAL) or any(frames):
        if not m.mirrors and kind != "reaction" and all(c.reference(f, _BODIES) != f for f in frames if f):
            return column, 1.0, 0.0  # as an observer who is copied too sees it
        c.refuse(said, f'a "{kind}" sensor has other values there', "write the copy of the event by hand")
    if kind in _AXIAL and m.dimension == 2:
        return column, m.sign, 0.0
    if column[1:] not in tuple("xyz"):
        c.refuse(said, f'"{said.sensor}" is no component', 'name one, "NAME.x"')
    word = column[1:]
    new = c.components(said, word)
    sign = c.component_sign(f"rotation {word}" if kind in _AXIAL else word)
    return f".{new}", sign, float(m.t["xyz".index(new)]) if kind == "position" else 0.0


_BODIES = ("mesh", "node", "body", "part")


def _target_sign(word: str, c: Copying) -> float:
    """Return the sign of the function of the copy of a load or driver."""
    found: Sequence[Any] = [d for d in c.said_of(object) if getattr(d, "name", None) == word]
    for d in found:
        if isinstance(d, Motion):
            return c.component_sign(d.component)
        if isinstance(d, Joint):
            return driven_sign(c, d)
        if isinstance(d, (Motor, HydraulicActuator)) and d.joint is not None:
            return joint_sign(c, d.joint, d.coordinate)
    return 1.0
