"""The report of a transient."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import EigenvaluesAlong, EnergyBalance, Event, StartReport
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["AdaptiveSteps", "TransientReport"]


@dataclass(frozen=True, kw_only=True)
class AdaptiveSteps(Record):
    """Adaptive time steps; the number of steps of the report then counts rows, and h is their interval."""

    tolerance: float = entry("largest local error of a step")
    accepted: int = entry("time steps")
    rejected: int = entry("time steps")
    computed: int = entry("steps solved: whole, in halves, and again")
    smallest_step: float = entry(unit="s")
    largest_step: float = entry(unit="s")


@dataclass(frozen=True, kw_only=True)
class TransientReport(StepReport, type="transient"):
    """Steps in time."""

    rule: str = entry(
        "of the integration",
        given=True,
        enum=["midpoint", "decaying", "generalised-alpha", "hht", "newmark", "explicit"],
    )
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    adaptive: AdaptiveSteps | None = entry("adaptive steps only", optional=True)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    iterations: int = entry("of Newton-Raphson")
    factorisations: int = entry("of the tangent", given=True)
    halved_steps: int = entry("time steps that were divided to converge")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    events: list[Event] | None = entry(
        "in the order in which they happened; only where the model has events", optional=True
    )
    constraint_error: float = entry(
        "largest error of a constraint at the end: lengths over the model's size, angles in rad"
    )
    energy: EnergyBalance = entry()
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)
    linear_momentum: list[float] = entry("at the end", unit="N s")
    angular_momentum: list[float] = entry("at the end, about the origin", unit="N m s")
