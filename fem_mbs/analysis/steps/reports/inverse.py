"""The report of inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import EigenvaluesAlong, EnergyBalance, StartReport
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

__all__ = ["InverseReport"]


@dataclass(frozen=True, kw_only=True)
class InverseReport(StepReport, type="inverse"):
    """Driving forces of a motion that drivers prescribe."""

    rule: str = entry("with inertia, or quasi-static", given=True, enum=["midpoint", "static"])
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    iterations: int = entry("of Newton-Raphson")
    factorisations: int = entry("of the tangent", given=True)
    halved_steps: int = entry("time steps that were divided to converge")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    constraint_error: float = entry(
        "largest error of a constraint at the end: lengths over the model's size, angles in rad"
    )
    energy: EnergyBalance = entry()
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)
    linear_momentum: list[float] = entry("at the end", unit="N s")
    angular_momentum: list[float] = entry("at the end, about the origin", unit="N m s")
    drivers: list[str] = entry("motions and joints whose forces were sought")
    redundant_constraints: int | None = entry("that repeat others, so that shares of forces are arbitrary")
    dynamic: bool = entry("whether inertia acts", given=True)
