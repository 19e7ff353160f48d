"""Parts that reports of several step kinds have."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry

__all__ = ["CountCheck", "EigenvaluesAlong", "EnergyBalance", "Event", "Spin", "StartReport"]


@dataclass(frozen=True, kw_only=True)
class EnergyBalance(Record):
    """The energy of a step in time, and the error with which works account for its changes."""

    range: float | None = entry("of the total energy", unit="J")
    closing_error: float | None = entry("largest absolute value over the step", unit="J")
    closing_error_relative: float | None = entry("over the range")
    final: dict[str, float | None] = entry("columns of the energy ledger at the end", unit="J")


@dataclass(frozen=True, kw_only=True)
class Spin(Record):
    """The steady rotation with which a step starts."""

    speed: float = entry(unit="rad/s")
    speed_of_the_steps: float = entry("at which time steps turn by the angle that this speed gives", unit="rad/s")


@dataclass(frozen=True, kw_only=True)
class StartReport(Record):
    """How the velocities of the start were made consistent; empty where the step before has left them."""

    method: str | None = entry(optional=True)
    largest_change: float | None = entry("of a velocity", unit="m/s, rad/s", optional=True)
    spin: Spin | None = entry(optional=True)


@dataclass(frozen=True, kw_only=True)
class Event(Record):
    """Something that a sensor has set off."""

    name: str = entry()
    time: float = entry(unit="s")
    action: str = entry(enum=["stop", "on", "off", "switch"])
    velocity_change: float | None = entry("largest, where a driver changed its speed at once", optional=True)


@dataclass(frozen=True, kw_only=True)
class EigenvaluesAlong(Record):
    """Complex modes along a step, every few steps or points."""

    time: list[float] = entry(unit="s")
    load_factor: list[float] | None = entry("of static steps", optional=True)
    path_length: list[float] | None = entry("of paths", unit="m", optional=True)
    values: list[list[list[float] | None]] = entry(
        "[instant][branch]: [real, imaginary] [1/s], null where a branch was not found"
    )
    stable: bool = entry("no damping ratio below -1e-6 among those found")
    unstable_from: dict[str, float] | None = entry("the first instant with growth", optional=True)


@dataclass(frozen=True, kw_only=True)
class CountCheck(Record):
    """The number of eigenvalues by a count of signs, beside the number of those found."""

    expected: int = entry("up to the last one found")
    found: int = entry()
