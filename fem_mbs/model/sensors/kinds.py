"""The registry of sensors: one line per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fem_mbs.declarations.declaration import choose
from fem_mbs.declarations.docstrings import argument_text
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import default
from fem_mbs.model.sensors.contacts import Contact
from fem_mbs.model.sensors.drives import Drive, Effort, JointCoordinate
from fem_mbs.model.sensors.elements import Element, Force, LayerStress, Strain, Tyre, Work
from fem_mbs.model.sensors.locks import LockState
from fem_mbs.model.sensors.motion import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Deflection,
    Displacement,
    Distance,
    Position,
    Rotation,
    Velocity,
)
from fem_mbs.model.sensors.parts import LargestDisplacement, LargestStress
from fem_mbs.model.sensors.reactions import Reaction
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest
from fem_mbs.model.sensors.stresses import Stress, StressEnvelope
from fem_mbs.model.sensors.system import Energy, Modal, State

__all__ = ["make_sensor", "on_sensor", "register_sensor", "registry", "sensor_docstring", "sensor_kind", "sensor_kinds"]

_KINDS: dict[str, type[SensorRequest]] = {}
_hooks: list[Callable[[], None]] = []


def register_sensor(declaration: type[SensorRequest]) -> None:
    """Add a kind of sensor: the builder, model files, their reference and schema, and `fem-mbs list` know it then.

    Raises:
        ModelError: there is another kind of the same name.
    """
    name = default(declaration, "kind")
    if _KINDS.get(name, declaration) is not declaration:
        raise ModelError(f'there is a kind "{name}" already', owner=Owner("Sensor"), remedy="choose another name")
    _KINDS[name] = declaration
    for hook in _hooks:
        hook()


def on_sensor(hook: Callable[[], None]) -> None:
    """Call ``hook`` now, and whenever a kind is added later."""
    _hooks.append(hook)
    hook()


def registry() -> dict[str, type[SensorRequest]]:
    """Return the registry itself."""
    return _KINDS


def sensor_kinds() -> dict[str, type[SensorRequest]]:
    """Return the declarations of all kinds by their names."""
    return dict(_KINDS)


def sensor_kind(name: Any, owner: Owner) -> type[SensorRequest]:
    """Return the declaration of a kind.

    Raises:
        ModelError: there is none of this name.
    """
    return choose(_KINDS, name, owner)


def make_sensor(building: Any, name: str, kind: str, options: Mapping[str, Any]) -> Sensor:
    """Return a sensor of a model.

    Raises:
        ModelError: unknown kind, key or place.
    """
    declaration = sensor_kind(kind, Owner("Sensor", name))
    return declaration.sensor(building, declaration.call((name,), options))


def sensor_docstring() -> str:
    """Return the docstring of `Model.sensor`: the kinds with their keys."""
    lines = ["Add a named quantity written at every time step.", "", "Kinds and their keys:"]
    for name, kind in _KINDS.items():
        keys = kind.keys()
        words = ", ".join(k if keys[k].required else f"{k} (optional)" for k in kind.own_keys())
        lines.append(f"    {name}: {words}. {kind.purpose()}")
    texts: dict[str, dict[str, None]] = {}  # of every key, those of all kinds
    for kind in _KINDS.values():
        for key, said in kind.keys().items():
            texts.setdefault(key, {})[argument_text(said)] = None
    texts["kind"] = {"what it measures, one of those above": None}
    return "\n".join([*lines, "", "Args:", *(f"    {key}: {'; or '.join(said)}" for key, said in texts.items())])


register_sensor(Position)
register_sensor(Displacement)
register_sensor(Velocity)
register_sensor(Acceleration)
register_sensor(Rotation)
register_sensor(AngularVelocity)
register_sensor(AngularAcceleration)
register_sensor(Distance)
register_sensor(Deflection)
register_sensor(Angle)
register_sensor(Element)
register_sensor(LayerStress)
register_sensor(Stress)
register_sensor(StressEnvelope)
register_sensor(LargestStress)
register_sensor(LargestDisplacement)
register_sensor(Strain)
register_sensor(Force)
register_sensor(Reaction)
register_sensor(Contact)
register_sensor(Tyre)
register_sensor(JointCoordinate)
register_sensor(Drive)
register_sensor(LockState)
register_sensor(Effort)
register_sensor(Work)
register_sensor(Modal)
register_sensor(State)
register_sensor(Energy)
