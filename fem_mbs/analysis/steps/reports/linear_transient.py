"""The report of small motions over time."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import EnergyBalance, StartReport
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

__all__ = ["LinearTransientReport"]


@dataclass(frozen=True, kw_only=True)
class LinearTransientReport(StepReport, type="transient", linear=True):
    """Small motions over time about the state before."""

    rule: str = entry("of the integration", given=True)
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    equations: int = entry("unknowns of the linear system", given=True)
    factorisations: int = entry("of its matrix", given=True)
    iterations: int = entry("one per time step")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    energy: EnergyBalance = entry()
