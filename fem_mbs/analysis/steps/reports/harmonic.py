"""The report of harmonic response."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["HarmonicLoad", "HarmonicReport", "Peak"]


@dataclass(frozen=True, kw_only=True)
class HarmonicLoad(Record):
    """A load that acts."""

    name: str = entry("all, or all others: those that nothing was said of")
    amplitude: float = entry("of its function, of several the largest")
    phase: float = entry(unit="degrees")


@dataclass(frozen=True, kw_only=True)
class Peak(Record):
    """The largest response of a column of a sensor."""

    sensor: str = entry()
    column: str = entry()
    unit: str = entry()
    amplitude: float = entry("the largest")
    frequency: float = entry("at which it is", unit="Hz")
    phase: float = entry("there, of amplitude cos(2 pi f t + phase)", unit="degrees")


@dataclass(frozen=True, kw_only=True)
class HarmonicReport(StepReport, type="harmonic"):
    """Steady vibrations over the frequency."""

    time: float = entry("at which amplitudes were taken from functions", unit="s", given=True)
    method: str = entry(enum=["direct", "modal"])
    frequencies: list[float] = entry(unit="Hz")
    loads: list[HarmonicLoad] = entry()
    modes: int | None = entry("of the modal method", optional=True)
    natural_frequencies: list[float] | None = entry("of these", unit="Hz", optional=True)
    residual_vectors: int | None = entry("of the modal method", optional=True)
    structural: float = entry("loss factor")
    peaks: list[Peak] = entry()
    equations: int = entry(given=True)
    seconds: float = entry("wall time", unit="s")
