"""Extract single numbers of a run under stable names: the columns of a sweep's table.

A name is STEP.KEY with the key of summary.json (``transient.energy.closing_error_relative``); members of lists are
counted from 1 (``modes.frequency_3``, ``buckling.load_factor_1``); of sensors there are the statistics of
`fem_mbs.results.series` (``transient.tip.x.absmax``).  docs/sweeps.md lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.declarations.steps import step_kinds
from fem_mbs.records import Record, entries
from fem_mbs.results.series import STATISTICS, of_step
from fem_mbs.sweeps.names import TABLES, step_names

if TYPE_CHECKING:
    from fem_mbs.results.reader import Results
    from fem_mbs.results.report import StepReport

__all__ = ["Quantity", "collect"]

#: Name, value, unit ("" where there is none).
Quantity = tuple[str, float, str]

_MOST = 200  # members of one list


def collect(results: Results) -> list[Quantity]:
    """Return all quantities of a finished run, in the order of its steps."""
    out: list[tuple[str, Any, str]] = []
    for name, step in zip(step_names(step.name for step in results.steps), results.steps):
        report = step.report
        found = [] if report is None else [*_singles(report), *_lists(report), *_own(report)]
        pairs = [*found, *_sensors(results, step)]
        out += [(f"{name}.{key}", value, unit) for key, value, unit in pairs]
    summary = results.report
    if summary is not None:
        for check in summary.checks or []:
            out.append((f"check.{check.case}", check.measured, ""))
            out.append((f"check.{check.case}.pass", float(check.passed), ""))
        out += [(f"parameter.{name}", value, "") for name, value in (summary.parameters or {}).items()]
        out.append(("model.unknowns", summary.model.unknowns, ""))
    return [(name, float(value), unit) for name, value, unit in out if _is_number(value) and math.isfinite(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number))


def _singles(report: StepReport) -> Iterator[Quantity]:
    """Yield the single numbers of a report, but for those that it was given."""
    for item in entries(type(report)):
        value = getattr(report, item.name)
        if _is_number(value) and not item.given:
            yield item.key, value, item.unit
        elif item.key in TABLES and isinstance(value, Record):
            for inner in entries(type(value)):
                if _is_number(getattr(value, inner.name)):
                    yield f"{item.key}.{inner.key}", getattr(value, inner.name), inner.unit
    energy = getattr(report, "energy", None)
    for inner, number in ((energy and energy.final) or {}).items():
        yield f"energy.final.{inner}", number, "J"


def _lists(report: StepReport) -> Iterator[Quantity]:
    """Yield the members of those lists of a report whose members have a name."""
    for item in entries(type(report)):
        if item.member:
            for k, value in enumerate((getattr(report, item.name) or [])[:_MOST], 1):
                yield f"{item.member}_{k}", value, item.unit


def _own(report: StepReport) -> Iterator[Quantity]:
    """Yield the quantities that only steps of the kind with this report have."""
    for kind in step_kinds().values():
        if kind.Report is type(report):
            yield from kind.quantities(report)


def _sensors(results: Results, step: Any) -> Iterator[Quantity]:
    """Yield the statistics of sensors."""
    for name, found in of_step(results, step):
        for word, value in found.named():
            if value is not None:
                yield f"{name}.{word}", value, (found.unit or "") if STATISTICS[word] else "s"
