"""Print the results of a run in tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.cli.report_stability import make_table
from fem_mbs.declarations.steps import function_of, recorded_kind
from fem_mbs.late import late_module
from fem_mbs.units import Units

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fem_mbs.analysis.steps import buckling, cyclic_modes, linear_static, modes, static
    from fem_mbs.results.modes.mac import Mac
    from fem_mbs.results.reader import Results, Step
    from fem_mbs.results.report import CheckReport, ClosingReport, CountCheck, StepReport
else:
    buckling = late_module("fem_mbs.analysis.steps.buckling")
    cyclic_modes = late_module("fem_mbs.analysis.steps.cyclic_modes")
    linear_static = late_module("fem_mbs.analysis.steps.linear_static")
    modes = late_module("fem_mbs.analysis.steps.modes")
    static = late_module("fem_mbs.analysis.steps.static")

__all__ = [
    "assembly_sentences", "blow_tables", "buckling_tables", "cyclic_modes_tables", "linear_static_tables",
    "modes_tables", "print_mac", "print_report", "static_tables",
]  # fmt: skip

_MAX_ROWS = 24  # of sensors shown; all are in the tables on disk
_MAX_MODES = 60  # of modes shown
_MAX_DIAMETERS = 8  # in one table
_MAC_COLUMNS = 12  # of a matrix of the modal assurance criterion


def print_report(console: Console, results: Results, said: Collection[str] = ()) -> None:
    """Print steps, sensors, checks and where the results are; not what was ``said`` of the input before the run."""
    console.print()
    summary = results.report
    if summary is not None and summary.assembly is not None:
        for sentence in assembly_sentences(summary.assembly, results.units):
            console.print(_plain(sentence), soft_wrap=True)
    console.print(_steps(results))
    for step in results.steps:
        for table in _findings(step):
            console.print(table)
    for step in results.steps:
        happened = getattr(step.report, "events", None) or []
        for event in happened[:_MAX_ROWS]:
            at = results.units.of("s")
            when = f"{at(event.time):.9g} {at.unit}"
            lost = results.units.of("J")
            loss = "" if event.loss is None else f", loss {lost(event.loss):.6g} {lost.unit}"
            console.print(f'event "{_plain(event.name)}" at t = {when}: {_plain(event.action)}{loss}')
        if len(happened) > _MAX_ROWS:
            console.print(f"and {len(happened) - _MAX_ROWS} more events, see summary.json")
    for step in results.steps:
        counted = getattr(step.report, "count_check", None)
        if counted is not None:
            console.print(_counted(_plain(step.name), counted), soft_wrap=True)
    for step in results.steps:
        entry = recorded_kind(step.type).sentences
        for sentence in function_of(entry)(step) if entry else ():
            console.print(f'step "{_plain(step.name)}": {sentence}', soft_wrap=True)
    for step in results.steps:
        report = step.report
        for sentence in (report and report.failures) or []:
            console.print(f'[bold red]step "{_plain(step.name)}":[/] {_plain(sentence)}', soft_wrap=True)
        for sentence in (report and report.warnings) or []:
            console.print(f'[yellow]step "{_plain(step.name)}":[/] {_plain(sentence)}', soft_wrap=True)
    recorded = {key for step in results.steps for key in step.series}
    sensors = [s for s in results.header["sensors"] if f"sensor/{s['name']}" in recorded]
    if sensors:
        from fem_mbs.results.store import kept_open

        with kept_open():
            console.print(_sensors(results, sensors))
    if summary is not None:
        if summary.checks:
            console.print(_checks(summary.checks))
        for sentence in summary.departures or []:
            console.print(f"[bold red]not the deck's results:[/] {_plain(sentence)}", soft_wrap=True)
        for sentence in summary.warnings or []:
            console.print(f"[yellow]note:[/] {_plain(sentence)}", soft_wrap=True)
        for sentence in summary.skipped or []:
            if sentence in said:
                continue
            console.print(f"not used: {sentence}", markup=False, soft_wrap=True)
    folder = results.folder()
    names = ("summary.json", "results.h5", "results*.xdmf", "sensors-*.csv", "response-*.csv", "drives-*.csv")
    written = ", ".join(name for name in names if any(folder.glob(name)))
    console.print(f"results in {folder} ({written})", markup=False, soft_wrap=True)
    hint = f"figures: fem-mbs plot {folder}"
    if any("displacement" in step.frames for step in results.steps):
        hint += f"; animation: fem-mbs animate {folder}; in space: fem-mbs show {folder}"
    console.print(hint, markup=False, soft_wrap=True)


def assembly_sentences(report: ClosingReport, units: Units) -> Iterator[str]:
    """Yield sentences on the joints that closing has closed and the parts that it has moved."""
    gaps, length = report.gaps, units.of("m")
    shown = ", ".join(f"{name} ({gap:.3g})" for name, gap in list(gaps.items())[:8])
    more = f" and {len(gaps) - 8} more" if len(gaps) > 8 else ""
    if not report.iterations:
        yield "assembly: nothing to do, the joints are closed"
        return
    yield (
        f"assembly: {report.iterations} iterations; open were {shown or 'no joints'}{more}, "
        f"now by at most {report.largest_gap:.2g}"
    )
    for entry in report.moved[:12]:
        yield (
            f"  {entry.place} moved by up to {length(entry.displacement):.4g} {length.unit}, turned by up to "
            f"{np.rad2deg(entry.rotation):.4g} degrees"
        )
    if len(report.moved) > 12:
        yield f"  and {len(report.moved) - 12} more"
    for sentence in report.warnings:
        yield f"  warning: {sentence}"


def _steps(results: Results) -> Table:
    """Return a row for each step; columns in which no step has anything are left out."""
    heads = ("step", "rule", "time steps", "iterations per step", "energy closing error / range", "seconds")
    rows = []
    for step in results.steps:
        report = step.report
        adaptive, iterations, rule, seconds = (
            getattr(report, name, None) for name in ("adaptive", "iterations", "rule", "seconds")
        )
        n = getattr(report, "n_steps", None) or getattr(report, "increments", None) or 0
        # a step under control is computed whole and in halves, some of them again; rows are something else
        per = n if adaptive is None else adaptive.computed
        kind = recorded_kind(step.type)
        title = report.type if report is not None else ""
        if kind.linear and title != step.type:
            title = step.type.replace("_", " ")
        rows.append(
            (
                step.name,
                title if rule is None else rule,
                (_count_of_steps(report, n) if n else ""),
                f"{iterations / per:.2f}" if per and iterations is not None else "",
                _closing(report),
                f"{seconds:.2f}" if seconds is not None else "",
            )
        )
    told = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    table = make_table(*(heads[k] for k in told))
    for row in rows:
        table.add_row(*(row[k] for k in told))
    return table


def _closing(report: StepReport | None) -> Text:
    """Return the closing error of the energy over its range, with what was asked for; red where the step has failed."""
    from rich.text import Text

    energy = getattr(report, "energy", None)
    error = energy and energy.closing_error_relative
    failed = bool(report and report.failures)
    words = ([] if error is None else [f"{error:.2e}"]) + ["FAILED"] * failed
    if energy is not None and error is not None and energy.tolerance is not None:
        words.insert(1, f"(asked for: {energy.tolerance:g})")
    return Text(" ".join(words), style="bold red" if failed else "")


def _count_of_steps(report: StepReport | None, n: int) -> str:
    adaptive, halved = getattr(report, "adaptive", None), getattr(report, "halved_steps", None)
    if adaptive is not None:
        again = f", {adaptive.rejected} repeated" if adaptive.rejected else ""
        return f"{adaptive.accepted} adaptive ({n} rows{again})"
    return str(n) + (f" ({halved} halved)" if halved else "")


def _findings(step: Step) -> Iterator[Table]:
    """Yield the tables of a step, as its kind has them."""
    for entry in recorded_kind(step.type).tables:
        yield from function_of(entry)(step)


def modes_tables(step: Step) -> Iterator[Table]:
    """Yield the table of frequencies of a modal step."""
    report = step.report_as(modes.ModesReport)
    if report is not None and report.frequencies_hz is not None:
        yield _modes(step.name, report, step.units)


def cyclic_modes_tables(step: Step) -> Iterator[Table]:
    """Yield the table of frequencies [Hz] by nodal diameters: a row per mode, a column per nodal diameter."""
    report = step.report_as(cyclic_modes.CyclicModesReport)
    if report is None or not report.frequencies_hz:
        return
    diameters = sorted(set(report.nodal_diameters))
    pairs = list(zip(report.nodal_diameters, report.frequencies_hz, strict=True))
    columns = [[f for n, f in pairs if n == wanted] for wanted in diameters]
    for first in range(0, len(diameters), _MAX_DIAMETERS):
        shown = slice(first, first + _MAX_DIAMETERS)
        heads = [f"diameters {n}" for n in diameters[shown]]
        hertz = step.units.of("Hz")
        table = make_table(f"{step.name}: frequencies [{hertz.unit}]", *heads)
        for k in range(min(_MAX_MODES, max(map(len, columns[shown])))):
            table.add_row(str(k + 1), *(f"{hertz(own[k]):.6g}" if k < len(own) else "" for own in columns[shown]))
        yield table


def blow_tables(step: Step) -> Iterator[Table]:
    """Yield the table of the first blows of a transient with impacts."""
    blows = getattr(step.report, "blows", None)
    if not blows:
        return
    s, speed, impulse, energy = (step.units.of(unit) for unit in ("s", "m/s", "N s", "J"))
    heads = [
        f"time [{s.unit}]", f"approach [{speed.unit}]", f"normal impulse [{impulse.unit}]",
        f"friction impulse [{impulse.unit}]", f"loss [{energy.unit}]", "ends with",
    ]  # fmt: skip
    table = make_table(f"{step.name}: blow", *heads)
    for blow in blows[:_MAX_ROWS]:
        table.add_row(
            f"{blow.impact}: {blow.ball} on {blow.surface}",
            f"{s(blow.time):.9g}",
            f"{speed(blow.approach):.4g}",
            f"{impulse(blow.normal_impulse):.4g}",
            f"{impulse(blow.friction_impulse):.4g}",
            f"{energy(blow.loss):.4g}",
            f"{blow.mode}, rests" if blow.rests else blow.mode,
        )
    if len(blows) > _MAX_ROWS:
        table.add_row(f"... and {len(blows) - _MAX_ROWS} more, see summary.json")
    yield table


def buckling_tables(step: Step) -> Iterator[Table]:
    """Yield the table of load factors of a buckling step."""
    report = step.report_as(buckling.BucklingReport)
    if report is not None and report.load_factors is not None:
        table = make_table(f"{step.name}: shape", "load factor", "residual")
        residuals: Sequence[float | None] = report.residuals or [None] * len(report.load_factors)
        for k, (factor, residual) in enumerate(zip(report.load_factors, residuals, strict=True), 1):
            table.add_row(str(k), f"{factor:.6g}", "" if residual is None else f"{residual:.1e}")
        yield table


def linear_static_tables(step: Step) -> Iterator[Table]:
    """Yield the largest displacement and the reactions of a linear static step."""
    report = step.report_as(linear_static.LinearStaticReport)
    if report is not None:
        yield _linear_static(step.name, report, step.units)


def static_tables(step: Step) -> Iterator[Table]:
    """Yield the critical points of a static step."""
    report = step.report_as(static.StaticReport)
    if report is not None and report.critical_points:
        table = make_table(f"{step.name}: critical point", "load factor", "+-", "negative eigenvalues")
        for point in report.critical_points:
            count = f"{point.negative_before} to {point.negative_after}"
            table.add_row(point.kind, f"{point.load_factor:.6g}", f"{point.error:.1e}", count)
        yield table


def _counted(name: str, check: CountCheck) -> str:
    """Return a sentence that compares the count of eigenvalues with the modes found."""
    expected, found = check.expected, check.found
    if expected == found:
        return f'step "{name}": the count of eigenvalues proves that no mode is missing ({found})'
    return (
        f'[yellow]step "{name}":[/] {expected} modes lie up to the highest one, {found} were found; ask for more modes'
    )


def _modes(name: str, report: modes.ModesReport, units: Units) -> Table:
    """Return frequencies with residuals and, where they are known, effective masses in per cent of the whole.

    Directions without mass are left out; the last row sums over all modes, also over those not shown.
    """
    frequencies, residuals = report.frequencies_hz, report.residuals or []
    part = report.participation
    directions = part.directions if part is not None else []
    total = np.asarray(part.total if part is not None else [], float)
    effective = np.asarray(part.effective_mass if part is not None else [], float)
    effective = effective.reshape(len(frequencies), -1 if len(total) else 0)
    shown = np.flatnonzero(total > 0.0)
    share = 100.0 * effective[:, shown] / total[shown]
    heads = [f"{directions[k]} [%]" for k in shown]
    hertz, speed = units.of("Hz"), Units(units.base).of("rad/s")  # circular frequencies are no speeds of rotors
    table = make_table(f"{name}: mode", f"frequency [{hertz.unit}]", f"({speed.unit})", "residual", *heads)
    if len(shown):
        table.caption = "x, y, z: effective mass over total mass; rx, ry, rz: the same of moments of inertia"

    def percent(values: np.ndarray) -> list[str]:
        return [f"{v:.2f}" if abs(v) >= 0.005 else "" for v in values]

    def residual(part: list[float]) -> str:
        return f"{max(part):.1e}" if part else ""

    rigid = report.rigid_body_modes or 0
    if rigid:
        label = f"1 to {rigid}" if rigid > 1 else "1"
        table.add_row(label, "rigid-body", "", residual(residuals[:rigid]), *percent(share[:rigid].sum(axis=0)))
    last = min(len(frequencies), rigid + _MAX_MODES)
    for k in range(rigid, last):
        f = frequencies[k]
        row = (str(k + 1), f"{hertz(f):.6g}", f"{2.0 * np.pi * f:.6g}", residual(residuals[k : k + 1]))
        table.add_row(*row, *percent(share[k]))
    if last < len(frequencies):
        table.add_row(f"and {len(frequencies) - last} more")
    if len(shown):
        table.add_row("all", "", "", "", *percent(share.sum(axis=0)))
    return table


def _linear_static(name: str, report: linear_static.LinearStaticReport, units: Units) -> Table:
    table = make_table(name, "x", "y", "z", "largest")
    if report.largest_displacement is not None:
        label, factor = units.column("displacement [m]")
        table.add_row(label, "", "", "", f"{factor * report.largest_displacement:.6g}")
    for key, label in (("force", "sum of reactions [N]"), ("moment", "their moment about the origin [N m]")):
        values = getattr(report.reactions, key, None)
        if values is not None:
            least = 1e-10 * max(map(abs, values), default=0.0)  # below that is round-off
            label, factor = units.column(label)
            shown = [factor * v if abs(v) > least else 0.0 for v in [*values, *[0.0] * (3 - len(values))]]
            table.add_row(label, *(f"{v:.6g}" for v in shown))
    return table


def print_mac(console: Console, found: Mac) -> None:
    """Print the modal assurance criterion: the whole matrix where it is small, and the best pairs."""
    rows, columns = found.matrix.shape
    length = found.units.of("m")
    console.print(
        f'{rows} shapes of "{_plain(found.names[0])}" and {columns} of "{_plain(found.names[1])}", compared at '
        f"{found.nodes} nodes; two that count as one lie {length(found.largest_distance):.3g} {length.unit} apart "
        "at most",
        soft_wrap=True,
    )
    if columns <= _MAC_COLUMNS:
        from rich.text import Text

        table = make_table("MAC", *(f"{k + 1}: {v:.4g}" for k, v in enumerate(found.frequencies_b)))
        for k, (value, row) in enumerate(zip(found.frequencies_a, found.matrix, strict=True)):
            table.add_row(f"{k + 1}: {value:.4g}", *(Text(f"{v:.3f}", style="bold" if v >= 0.9 else "") for v in row))
        console.print(table)
    table = make_table("first", found.quantity, "most like", found.quantity, "difference", "MAC")
    for i, j, value in found.pairs:
        a, b = found.frequencies_a[i], found.frequencies_b[j]
        difference = f"{100.0 * (b / a - 1.0):+.3g} %" if a else ""
        table.add_row(str(i + 1), f"{a:.6g}", str(j + 1), f"{b:.6g}", difference, f"{value:.6f}")
    console.print(table)


def _sensors(results: Results, sensors: list[dict[str, Any]]) -> Table:
    from fem_mbs.results.series import column_count, sensor_units

    table = make_table("sensor", "unit", "start", "minimum", "maximum", "end")
    left = 0
    for sensor in sensors:
        if table.row_count == _MAX_ROWS:  # the table is full: the columns count, their values are not read
            left += column_count(results, sensor)
            continue
        _, values, columns = results.sensor(sensor["name"])
        own = zip(columns, sensor_units(sensor, len(columns)), values.T, strict=True)
        for column, unit, series in (item for k, item in enumerate(own) if k not in sensor.get("places", [])):
            if table.row_count == _MAX_ROWS:
                left += 1
                continue
            shown = results.units.of(unit)
            good = shown(series[np.isfinite(series)])
            numbers = (good[0], good.min(), good.max(), good[-1]) if good.size else ()
            table.add_row(column, shown.unit, *(f"{v:.6g}" for v in numbers))
    if left:
        table.add_row(f"and {left} more")
    return table


def _checks(checks: list[CheckReport]) -> Table:
    from rich.text import Text

    table = make_table("check", "measured", "reference", "tolerance", "at [s]", "", "source")
    table.columns[-1].justify = "left"
    for check in checks:
        measured, time = check.measured, check.time
        table.add_row(
            check.case,
            "none" if measured is None else f"{measured:.6g}",
            f"{check.reference:.6g}",
            f"{check.tolerance:.2g}",
            "" if time is None else f"{time:.5g}",
            Text("pass", style="green") if check.passed else Text("FAILED", style="bold red"),
            check.source,
        )
    return table


def _plain(text: str) -> str:
    """Return a text whose square brackets are no marks of `rich`."""
    from rich.markup import escape

    return escape(text)
