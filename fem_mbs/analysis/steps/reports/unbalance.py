"""The report of an unbalance response."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["UnbalanceReport", "WhirlAmplitude"]


@dataclass(frozen=True, kw_only=True)
class WhirlAmplitude(Record):
    """The response of a node in one direction."""

    at: str = entry("node")
    direction: str = entry("major: half the longest axis of the orbit", enum=["x", "y", "z", "major"])
    amplitude: list[float] = entry("by speed", unit="m")
    phase: list[float] | None = entry(
        "a of amplitude cos(speed t + a), the rotor's first direction across its axis lying there at t = 0", unit="rad"
    )


@dataclass(frozen=True, kw_only=True)
class UnbalanceReport(StepReport, type="unbalance"):
    """Steady response of a rotor to unbalances over its speed."""

    rotor: str = entry()
    frame: str = entry("in which it was computed; results are seen from outside", enum=["fixed", "rotating"])
    speeds: list[float] = entry(unit="rad/s")
    response: list[WhirlAmplitude] = entry()
    seconds: float = entry("wall time", unit="s")
