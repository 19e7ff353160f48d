"""The report of small displacements under loads."""

from __future__ import annotations

from dataclasses import dataclass

from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

__all__ = ["LinearStaticReport", "Reactions"]


@dataclass(frozen=True, kw_only=True)
class Reactions(Record):
    """Sum of what supports and motions exert, and its moment about the origin."""

    force: list[float] = entry(unit="N")
    moment: list[float] = entry(unit="N m")


@dataclass(frozen=True, kw_only=True)
class LinearStaticReport(StepReport, type="static", linear=True):
    """Small displacements about the state before."""

    time: float = entry("at which functions of time are taken", unit="s", given=True)
    largest_displacement: float = entry(unit="m")
    largest_displacement_at: str = entry("node")
    reactions: Reactions = entry()
    strain_energy: float = entry(unit="J")
