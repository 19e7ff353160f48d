"""The report of stability over parameters."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["MapParameter", "StabilityMapReport"]


@dataclass(frozen=True, kw_only=True)
class MapParameter(Record):
    """A parameter of the map."""

    name: str = entry()
    unit: str = entry()
    values: list[float] = entry()


@dataclass(frozen=True, kw_only=True)
class StabilityMapReport(StepReport, type="stability_map"):
    """The largest growth rate over one or two parameters."""

    what: str = entry("that figures show", enum=["growth", "frequency"])
    parameters: list[MapParameter] = entry("one or two; rows go with the first, columns with the second")
    growth: list[list[float | None]] = entry("largest real part, null: no state or no modes", unit="1/s")
    frequency: list[list[float | None]] = entry("of the mode that has it", unit="Hz")
    stable: list[list[bool]] = entry()
    boundary: list[list[float]] = entry("points at which stability is lost, where refine asks for them")
    time: float = entry(unit="s", given=True)
