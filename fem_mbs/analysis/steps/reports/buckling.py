"""The report of linear buckling."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import CountCheck
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

__all__ = ["BucklingReport"]


@dataclass(frozen=True, kw_only=True)
class BucklingReport(StepReport, type="buckling"):
    """Load factors at which a state loses stability."""

    load_factors: list[float] = entry("by magnitude, of both signs", member="load_factor")
    residuals: list[float] = entry()
    asymmetry: float = entry("of the geometric stiffness", given=True)
    equations: int = entry(given=True)
    complex_factors: int | None = entry(
        "of loads without a potential, left out among the lowest", optional=True, minimum=0
    )
    count_check: CountCheck | None = entry(optional=True)
