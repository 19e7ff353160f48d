"""Print tables of complex modes, rotors and stability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.late import late_module
from fem_mbs.results.modes.eigenvalues import (
    Branches,
    as_complex,
    campbell_branches,
    damping_ratio,
    eigenvalue_path,
    onsets,
    unstable,
)
from fem_mbs.units import Shown, Units

if TYPE_CHECKING:
    from rich.table import Table

    from fem_mbs.analysis.steps import complex_modes, harmonic, stability_map
    from fem_mbs.analysis.steps.rotors import campbell, unbalance
    from fem_mbs.results.reader import Step
else:
    complex_modes = late_module("fem_mbs.analysis.steps.complex_modes")
    harmonic = late_module("fem_mbs.analysis.steps.harmonic")
    campbell = late_module("fem_mbs.analysis.steps.rotors.campbell")
    unbalance = late_module("fem_mbs.analysis.steps.rotors.unbalance")
    stability_map = late_module("fem_mbs.analysis.steps.stability_map")

__all__ = [
    "campbell_sentences", "campbell_tables", "complex_modes_sentences", "complex_modes_tables", "harmonic_tables",
    "make_table", "map_tables", "path_sentences", "path_tables", "unbalance_tables",
]  # fmt: skip

_MAX_ONSETS = 6  # of losses of stability told
_MAX_ROWS = 60  # of modes, critical speeds and responses shown


def make_table(*columns: str) -> Table:
    """Return a plain table with its first column left-aligned; texts keep their square brackets."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    class Plain(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells), **options)

    table = Plain(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if number == 0 else "right")
    return table


def complex_modes_tables(step: Step) -> Iterator[Table]:
    """Yield the table of eigenvalues of a step of complex modes."""
    report = step.report_as(complex_modes.ComplexModesReport)
    if report is not None:
        yield _complex_modes(step.name, report, step.units)


def campbell_tables(step: Step) -> Iterator[Table]:
    """Yield the table of critical speeds."""
    report = step.report_as(campbell.CampbellReport)
    if report is not None and report.critical_speeds:
        yield _critical_speeds(step.name, report.critical_speeds, step.units)


def unbalance_tables(step: Step) -> Iterator[Table]:
    """Yield the table of largest responses to unbalance."""
    report = step.report_as(unbalance.UnbalanceReport)
    if report is not None:
        yield _unbalance(step.name, report, step.units)


def harmonic_tables(step: Step) -> Iterator[Table]:
    """Yield the table of peaks of a harmonic response."""
    report = step.report_as(harmonic.HarmonicReport)
    if report is not None and report.peaks:
        yield _harmonic(step.name, report, step.units)


def map_tables(step: Step) -> Iterator[Table]:
    """Yield the tables of a stability map: its points, and over one parameter its branches."""
    report = step.report_as(stability_map.StabilityMapReport)
    if report is None:
        return
    yield _map(step.name, report, step.units)
    if len(report.parameters) == 1:
        yield from path_tables(step)


def path_tables(step: Step) -> Iterator[Table]:
    """Yield the table of eigenvalues along a step, if there are any."""
    branches = eigenvalue_path(step)
    if branches is not None:
        yield _path(step.name, branches, step.units)


def complex_modes_sentences(step: Step) -> Iterator[str]:
    """Yield sentences on growing modes with marks of `rich`; names keep their square brackets."""
    from rich.markup import escape

    report = step.report_as(complex_modes.ComplexModesReport)
    if report is None:
        return
    grows = unstable(as_complex(report.eigenvalues)) if report.eigenvalues else np.zeros(0, bool)
    where = ""
    if report.rotor and report.speed is not None:
        speed = step.units.of("rad/s")
        where = f', rotor "{escape(report.rotor)}" at {speed(report.speed):.6g} {speed.unit}'
    words = {"multi-blade": "in multi-blade coordinates", "periodic": "by harmonics of the turn"}
    frame = words.get(report.frame, f"seen from the {report.frame} frame")
    seen = f", {frame}" if report.rotor and report.frame else ""
    if report.stable if report.stable is not None else not grows.any():
        yield f"no mode grows{where}{seen}"
    else:
        count = int(grows.sum())
        yield f"[bold red]unstable[/]: {count} {'mode grows' if count == 1 else 'modes grow'}{where}{seen}"


def campbell_sentences(step: Step) -> Iterator[str]:
    """Yield sentences on the speeds at which branches lose their stability, with marks of `rich`."""
    report = step.report_as(campbell.CampbellReport)
    if report is not None:
        yield from _onset_sentences(campbell_branches(report)[0], "speed", step.units.of("rad/s"), step.units.of("Hz"))


def path_sentences(step: Step) -> Iterator[str]:
    """Yield sentences on where branches along a step lose their stability, with marks of `rich`."""
    from rich.markup import escape

    branches = eigenvalue_path(step)
    if branches is not None:
        what, _, unit = branches.label.removesuffix("]").rpartition(" [")
        name = escape(what[:1].lower() + what[1:])
        yield from _onset_sentences(branches, name, step.units.of(unit.strip("-")), step.units.of("Hz"))


def _onset_sentences(branches: Branches, name: str, shown: Shown, hertz: Shown) -> Iterator[str]:
    found = onsets(branches)
    first = unstable(branches.values[:1]).any() if len(branches.values) else False
    if first:
        value = shown(float(branches.parameter[0]))
        yield f"[bold red]unstable[/] at the first {name}, {value:.6g} {shown.unit}".rstrip()
    for onset in found[:_MAX_ONSETS]:
        at = f" at {hertz(onset.frequency):.5g} {hertz.unit}" if onset.kind == "flutter" else ""
        value = f"{name} {shown(onset.at):.6g} {shown.unit}".rstrip()
        yield f"[bold red]{onset.kind}[/]{at} " + (f"up to {value}" if onset.ends else f"from {value} on")
    if len(found) > _MAX_ONSETS:
        yield f"and {len(found) - _MAX_ONSETS} more changes of stability"
    if not found and not first:
        yield f"stable over all {'speeds' if name == 'speed' else 'points'} looked at"


def _complex_modes(name: str, report: complex_modes.ComplexModesReport, units: Units) -> Table:
    """Return a table of frequencies, damping ratios, eigenvalues and residuals; growing modes in red."""
    values = as_complex(report.eigenvalues)
    hertz, rate = units.of("Hz"), units.of("1/s")
    heads = [f"frequency [{hertz.unit}]", "damping ratio [%]", f"Re p [{rate.unit}]", f"Im p [{rate.unit}]", "residual"]
    blades = report.blades or []
    heads += ["blades"] if blades else []
    table = make_table(f"{name}: mode", *heads)
    residuals = report.residuals or []
    rigid = report.rigid_body_modes or 0
    if rigid:
        worst = f"{max(residuals[:rigid]):.1e}" if residuals else ""
        table.add_row(f"1 to {rigid}" if rigid > 1 else "1", "rigid-body", "", "", "", worst)
    grows = unstable(values)
    last = min(len(values), rigid + _MAX_ROWS)
    for k in range(rigid, last):
        p = values[k]
        still = abs(p.imag) <= 1e-9 * abs(p)
        row = (
            str(k + 1),
            "" if still else f"{hertz(abs(p.imag) / (2.0 * np.pi)):.6g}",
            _rounded(100.0 * float(damping_ratio(values[k : k + 1])[0]), 1e-4),
            _rounded(p.real, 1e-6 * abs(p)),
            _rounded(p.imag, 1e-9 * abs(p)),
            f"{residuals[k]:.1e}" if k < len(residuals) else "",
            *((blades[k].name,) if k < len(blades) else ()),
        )
        table.add_row(*row, style="red" if grows[k] else None)
    if last < len(values):
        table.add_row(f"and {len(values) - last} more")
    return table


def _speed_units(units: Units) -> list[Units]:
    """Return units for the columns of a speed: those of the results, and rpm if that is another unit."""
    per_minute = Units(units.base, {"speed": "rpm"})
    return [units] if units.of("rad/s") == per_minute.of("rad/s") else [units, per_minute]


def _rounded(value: float, noise: float) -> str:
    """Return a number, 0 if it is below the noise."""
    return "0" if abs(value) <= noise else f"{value:.6g}"


def _critical_speeds(name: str, criticals: list[campbell.CriticalSpeed], units: Units) -> Table:
    speeds = [of.of("rad/s") for of in _speed_units(units)]
    table = make_table(f"{name}: critical speed", *(f"[{shown.unit}]" for shown in speeds), "order", "whirl")
    for k, found in enumerate(criticals[:_MAX_ROWS], 1):
        order = 1.0 if found.order is None else found.order
        cells = [f"{shown(found.speed):.6g}" for shown in speeds]
        table.add_row(str(k), *cells, f"{order:g}", found.whirl or "")
    if len(criticals) > _MAX_ROWS:
        table.add_row(f"and {len(criticals) - _MAX_ROWS} more")
    return table


def _unbalance(name: str, report: unbalance.UnbalanceReport, units: Units) -> Table:
    shown = [of.of("rad/s") for of in _speed_units(units)]
    heads = (f"at [{speed.unit}]" for speed in shown)
    table = make_table(f"{name}: response", "largest amplitude", "unit", *heads, "phase there [deg]")
    speeds = np.asarray(report.speeds, float)
    for entry in report.response[:_MAX_ROWS]:
        amplitude = np.array(entry.amplitude, float)
        label = " ".join(word for word in (entry.at, entry.direction) if word)
        if not np.isfinite(amplitude).any():
            table.add_row(label)
            continue
        k = int(np.nanargmax(amplitude))
        phase = f"{np.rad2deg(entry.phase[k]):.1f}" if entry.phase else ""
        size = units.of("rad" if entry.direction.startswith("r") else "m")
        cells = [f"{speed(float(speeds[k])):.6g}" for speed in shown]
        table.add_row(label, f"{size(float(amplitude[k])):.6g}", size.unit, *cells, phase)
    if len(report.response) > _MAX_ROWS:
        table.add_row(f"and {len(report.response) - _MAX_ROWS} more")
    return table


def _harmonic(name: str, report: harmonic.HarmonicReport, units: Units) -> Table:
    hertz = units.of("Hz")
    table = make_table(f"{name}: sensor", "unit", "largest amplitude", f"at [{hertz.unit}]", "phase there [deg]")
    for entry in report.peaks[:_MAX_ROWS]:
        shown = units.of(entry.unit)
        row = (f"{shown(entry.amplitude):.6g}", f"{hertz(entry.frequency):.6g}", f"{entry.phase:.1f}")
        table.add_row(entry.column, shown.unit, *row)
    if len(report.peaks) > _MAX_ROWS:
        table.add_row(f"and {len(report.peaks) - _MAX_ROWS} more")
    return table


def _map(name: str, report: stability_map.StabilityMapReport, units: Units) -> Table:
    growth = np.array(report.growth, float)
    known = growth[np.isfinite(growth)]
    table = make_table(
        f"{name}: points", "stable", "unstable", "without a state", units.label("largest growth rate [1/s]")
    )
    size = float(np.abs(known).max(initial=0.0))
    if report.frequency:
        size = max(size, 2.0 * np.pi * float(np.nanmax(np.abs(np.array(report.frequency, float)), initial=0.0)))
    grows = int((known > 1e-6 * size).sum())
    most = f"{known.max():.6g}" if known.size else ""
    table.add_row(str(growth.size), str(known.size - grows), str(grows), str(growth.size - known.size), most)
    return table


def _path(name: str, branches: Branches, units: Units) -> Table:
    """Return frequencies and growth rates at the first and the last point of each branch."""
    what, _, unit = branches.label.removesuffix("]").rpartition(" [")
    shown, hertz = units.of(unit), units.of("Hz")
    unit = "" if unit == "-" else f" {shown.unit}"
    values = (hertz.unit, units.label("Re p [1/s]"))
    table = make_table(f"{name}: eigenvalue", f"from {what.lower()}", *values, "to", *values)
    for k, column in enumerate(branches.values.T[:_MAX_ROWS], 1):
        have = np.flatnonzero(np.isfinite(column))
        row = [str(k)]
        for i in (have[0], have[-1]):
            p = column[i]
            row += [
                f"{shown(float(branches.parameter[i])):.5g}{unit}",
                f"{hertz(float(p.imag) / (2.0 * np.pi)):.6g}",
                _rounded(p.real, 1e-6 * abs(p)),
            ]
        table.add_row(*row)
    return table
