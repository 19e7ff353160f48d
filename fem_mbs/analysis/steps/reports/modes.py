"""The report of natural modes."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.analysis.steps.reports.common import CountCheck
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["Components", "LeftOut", "ModesReport", "Participation"]


@dataclass(frozen=True, kw_only=True)
class LeftOut(Record):
    """How many of the modes found lie outside of the bounds that are asked for."""

    below: int = entry()
    above: int = entry()


@dataclass(frozen=True, kw_only=True)
class Components(Record):
    """What was kept of components, of modes by component mode synthesis."""

    cutoff_hz: float = entry(unit="Hz")
    kept: dict[str, int] = entry("free modes by component, rigid-body ones included")
    unknowns: int = entry()
    dofs: int = entry("of all components, those of interfaces in each")
    seconds: dict[str, float] = entry(unit="s")


@dataclass(frozen=True, kw_only=True)
class Participation(Record):
    """Participation factors and effective masses, in translations and rotations about the axes of coordinates."""

    directions: list[str] = entry()
    factors: list[list[float]] = entry("[mode][direction]")
    effective_mass: list[list[float]] = entry("[mode][direction]", unit="kg, kg m^2")
    total: list[float] = entry("mass by direction", unit="kg, kg m^2")
    sums: list[float] = entry("shares of the total mass of all modes, by direction")


@dataclass(frozen=True, kw_only=True)
class ModesReport(StepReport, type="modes"):
    """Natural frequencies and modes about a state."""

    frequencies_hz: list[float] = entry(
        "ascending, rigid-body modes first as 0; negative: rate of growth over 2 pi", unit="Hz", member="frequency"
    )
    rigid_body_modes: int = entry(minimum=0)
    residuals: list[float] = entry()
    asymmetry: float = entry("of the stiffness, of which the symmetric part is taken", given=True)
    equations: int = entry(given=True)
    components: Components | None = entry(optional=True)
    count_check: CountCheck | None = entry(optional=True)
    backward_errors: list[float] | None = entry(optional=True)
    shifts: list[float] | None = entry("where the matrix was factored", unit="1/s^2", optional=True)
    factorisations: int | None = entry(optional=True, given=True)
    solves: int | None = entry(optional=True, given=True)
    left_out: LeftOut | None = entry(optional=True)
    participation: Participation = entry()
