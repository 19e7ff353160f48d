"""The report of a Campbell diagram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["CampbellReport", "CriticalSpeed", "WhirlBranch"]

Whirl = Literal["forward", "backward", "mixed", "none"]


@dataclass(frozen=True, kw_only=True)
class WhirlBranch(Record):
    """A branch of eigenvalues over the speed."""

    eigenvalues: list[list[float]] = entry("[re, im] by speed, im >= 0", unit="1/s")
    whirl: list[Whirl] = entry("by speed; none: along lines, or not across the axis")


@dataclass(frozen=True, kw_only=True)
class CriticalSpeed(Record):
    """A speed at which an order of the speed excites a mode."""

    speed: float = entry(unit="rad/s")
    branch: int | None = entry("from 0; null: none that was followed")
    whirl: Whirl = entry("of the mode")
    order: float = entry()
    eigenvalue: list[float] = entry("[re, im]", unit="1/s")
    direct: list[float] | None = entry(
        "speed by the direct search, [re, im]; null: matrices are not quadratic in the speed", unit="rad/s"
    )


@dataclass(frozen=True, kw_only=True)
class CampbellReport(StepReport, type="campbell"):
    """Eigenvalues of a rotor over its speed."""

    rotor: str = entry()
    frame: str = entry("in which the eigenvalues are", enum=["fixed", "rotating"])
    speeds: list[float] = entry(unit="rad/s")
    orders: list[float] = entry("of excitation")
    branches: list[WhirlBranch] = entry()
    critical_speeds: list[CriticalSpeed] = entry()
    stable: list[bool] = entry("by speed")
    largest_residual: float = entry(given=True)
    biorthogonality: float = entry(given=True)
    seconds: float = entry("wall time", unit="s")
