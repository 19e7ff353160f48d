"""The report of complex modes."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["ComplexModesReport", "EigenvalueEffort"]


@dataclass(frozen=True, kw_only=True)
class EigenvalueEffort(Record):
    """What the search for eigenvalues has taken."""

    factorisations: int = entry()
    solves: int = entry()
    steps: int = entry("of the two-sided recurrence")
    breakdowns: int = entry("of the recurrence")
    corrections: int = entry()


@dataclass(frozen=True, kw_only=True)
class ComplexModesReport(StepReport, type="complex_modes"):
    """Eigenvalues and shapes of small motions about a state that may move."""

    eigenvalues: list[list[float]] = entry(
        "p of exp(p t), [real, imaginary] [1/s], one of each conjugate pair, rigid-body motions first as 0"
    )
    frequencies_hz: list[float] = entry("|imaginary|/2 pi", unit="Hz", member="frequency")
    damping_ratios: list[float] = entry("-real/|p|", member="damping_ratio")
    residuals: list[float] = entry("of right or left vectors, the larger")
    backward_errors: list[float] = entry()
    biorthogonality: float = entry("largest product of left and right vectors of two modes", given=True)
    rigid_body_modes: int = entry(minimum=0)
    zeros: int = entry("eigenvalues 0 that these stand for", given=True, minimum=0)
    frame: str = entry(enum=["fixed", "rotating"])
    rotor: str = entry("that turns steadily, empty: none")
    speed: float | None = entry("of the rotor, or of the frame", unit="rad/s", given=True)
    basis: str | None = entry("modal step whose shapes span the motions, empty: none", optional=True)
    stable: bool = entry("no damping ratio below -1e-6 among the modes found")
    time: float = entry(unit="s", given=True)
    covered: list[float | None] | None = entry(
        "of right-most modes: |imaginary| and |real| up to which was looked, null: all", unit="1/s", optional=True
    )
    equations: int = entry(given=True)
    constraints: int = entry(given=True)
    shifts: list[list[float]] = entry("where matrices were factored, [real, imaginary]", unit="1/s")
    effort: EigenvalueEffort = entry()
