"""The reports of all step kinds: importing this module makes `fem_mbs.results.report.report_of` know them."""

from __future__ import annotations

from fem_mbs.analysis.steps.reports.buckling import BucklingReport
from fem_mbs.analysis.steps.reports.campbell import CampbellReport
from fem_mbs.analysis.steps.reports.complex_modes import ComplexModesReport
from fem_mbs.analysis.steps.reports.harmonic import HarmonicReport
from fem_mbs.analysis.steps.reports.inverse import InverseReport
from fem_mbs.analysis.steps.reports.linear_static import LinearStaticReport
from fem_mbs.analysis.steps.reports.linear_transient import LinearTransientReport
from fem_mbs.analysis.steps.reports.linearise import LineariseReport
from fem_mbs.analysis.steps.reports.modes import ModesReport
from fem_mbs.analysis.steps.reports.stability_map import StabilityMapReport
from fem_mbs.analysis.steps.reports.static import StaticReport
from fem_mbs.analysis.steps.reports.transient import TransientReport
from fem_mbs.analysis.steps.reports.unbalance import UnbalanceReport

__all__ = ["REPORTS"]

#: One report class per step kind.
REPORTS = (
    TransientReport,
    InverseReport,
    StaticReport,
    LinearStaticReport,
    LinearTransientReport,
    ModesReport,
    BucklingReport,
    ComplexModesReport,
    LineariseReport,
    StabilityMapReport,
    CampbellReport,
    UnbalanceReport,
    HarmonicReport,
)
