"""The report of load increments and equilibrium paths."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import EigenvaluesAlong
from fem_mbs.records import ABSENT, Absent, Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["CriticalPoint", "StaticReport"]


@dataclass(frozen=True, kw_only=True)
class CriticalPoint(Record):
    """A point of an equilibrium path at which the number of negative eigenvalues of the stiffness changes."""

    kind: str = entry("limit, bifurcation or other")
    load_factor: float = entry()
    path_length: float = entry(unit="m")
    error: float = entry("of the load factor")
    negative_before: int = entry("negative eigenvalues before it")
    negative_after: int = entry("negative eigenvalues after it")


@dataclass(frozen=True, kw_only=True)
class StaticReport(StepReport, type="static"):
    """Equilibria at rising load factors, or along a path."""

    t_start: float = entry(unit="s", given=True)
    t_end: float = entry("later than t_start where time passes over the increments", unit="s", given=True)
    increments: int = entry("or points of the path", minimum=1)
    cut_increments: int = entry("increments that were divided to converge")
    iterations: int = entry("of Newton-Raphson")
    strain_energy: float = entry("at the end", unit="J")
    negative_eigenvalues: int | Absent | None = entry(
        "of the stiffness at the end, without a path; null: not counted", default=ABSENT
    )
    snap_through: list[list[float]] | None = entry(
        "load factors, or times, between which the equilibrium jumped", optional=True
    )
    critical_points: list[CriticalPoint] | None = entry("of paths", optional=True)
    load_factor: float = entry("at the end")
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)
