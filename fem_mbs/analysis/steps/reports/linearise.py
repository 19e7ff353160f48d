"""The report of matrices of small motions."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

__all__ = ["LineariseReport"]


@dataclass(frozen=True, kw_only=True)
class LineariseReport(StepReport, type="linearise"):
    """Matrices of small motions about a state, and a linear model with inputs and outputs."""

    time: float = entry(unit="s", given=True)
    equations: int = entry(given=True)
    constraints: int = entry(given=True)
    frame: str = entry(enum=["fixed", "rotating"])
    rotor: str = entry("that turns steadily, empty: none")
    speed: float | None = entry("of the rotor", unit="rad/s", given=True)
    asymmetry: dict[str, float] = entry("of C and K, over their largest entries", given=True)
    states: int | None = entry("of the state-space model", optional=True)
    inputs: list[str] | None = entry("of the state-space model", optional=True)
    outputs: list[str] | None = entry("of the state-space model", optional=True)
    files: list[str] = entry("written beside the results")
