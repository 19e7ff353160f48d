"""What a run has given, in a few tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fem_mbs.results import Results

__all__ = ["assembly_sentences", "print_report"]

_MAX_ROWS = 24  # of sensors shown; all are in the tables on disk


def print_report(console: Console, results: Results) -> None:
    """Print steps, sensors, checks and where the results are."""
    console.print()
    if "assembly" in results.summary:
        for sentence in assembly_sentences(results.summary["assembly"]):
            console.print(_plain(sentence), soft_wrap=True)
    console.print(_steps(results))
    for step in results.steps:
        for table in _findings(step):
            console.print(table)
    for step in results.steps:
        happened = step.summary.get("events", [])
        for event in happened[:_MAX_ROWS]:
            console.print(f'event "{_plain(event["name"])}" at t = {event["time"]:.9g} s: {event["action"]}')
        if len(happened) > _MAX_ROWS:
            console.print(f"and {len(happened) - _MAX_ROWS} more events, see summary.json")
    for step in results.steps:
        for sentence in step.summary.get("warnings", []):
            console.print(f'[yellow]step "{_plain(step.name)}":[/] {_plain(sentence)}', soft_wrap=True)
    if results.header["sensors"]:
        console.print(_sensors(results))
    checks = results.summary.get("checks", [])
    if checks:
        console.print(_checks(checks))
    for sentence in results.summary.get("warnings", []):
        console.print(f"[yellow]note:[/] {_plain(sentence)}", soft_wrap=True)
    for sentence in results.summary.get("skipped", []):
        console.print(f"not used: {sentence}", soft_wrap=True)
    console.print(
        f"results in {results.directory} (summary.json, results.h5, results.xdmf, sensors-*.csv)", soft_wrap=True
    )
    console.print(
        f"figures: fem-mbs plot {results.directory}; animation: fem-mbs animate {results.directory}", soft_wrap=True
    )


def assembly_sentences(report: dict[str, Any]) -> Iterator[str]:
    """What an assembly has closed and moved, in words."""
    gaps = report["gaps"]
    shown = ", ".join(f"{name} ({gap:.3g})" for name, gap in list(gaps.items())[:8])
    more = f" and {len(gaps) - 8} more" if len(gaps) > 8 else ""
    if not report["iterations"]:
        yield "assembly: nothing to do, the joints are closed"
        return
    yield (
        f"assembly: {report['iterations']} iterations; open were {shown or 'no joints'}{more}, "
        f"now by at most {report['largest_gap']:.2g}"
    )
    for entry in report["moved"][:12]:
        yield (
            f"  {entry['place']} moved by up to {entry['displacement']:.4g} m, turned by up to "
            f"{np.rad2deg(entry['rotation']):.4g} degrees"
        )
    if len(report["moved"]) > 12:
        yield f"  and {len(report['moved']) - 12} more"
    for sentence in report["warnings"]:
        yield f"  warning: {sentence}"


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _steps(results: Results) -> Table:
    table = _table("step", "rule", "time steps", "iterations per step", "energy closing error / range", "seconds")
    for step in results.steps:
        s = step.summary
        n = s.get("n_steps", s.get("increments", 0))
        energy = s.get("energy", {})
        table.add_row(
            _plain(step.name),
            s.get("rule", s.get("type", "")),
            str(n) + (f" ({s['halved_steps']} halved)" if s.get("halved_steps") else ""),
            f"{s['iterations'] / n:.2f}" if n and "iterations" in s else "",
            f"{energy['closing_error_relative']:.2e}" if energy.get("closing_error_relative") is not None else "",
            f"{s['seconds']:.2f}" if "seconds" in s else "",
        )
    return table


def _findings(step: Any) -> Iterator[Table]:
    """Frequencies, load factors and critical points of a step."""
    s = step.summary
    name = _plain(step.name)
    if "frequencies_hz" in s:
        table = _table(f"{name}: mode", "frequency [Hz]", "(rad/s)", "residual")
        rigid = s["rigid_body_modes"]
        if rigid:
            table.add_row(f"1 to {rigid}" if rigid > 1 else "1", "rigid-body", "", f"{max(s['residuals'][:rigid]):.1e}")
        for k in range(rigid, len(s["frequencies_hz"])):
            f = s["frequencies_hz"][k]
            table.add_row(str(k + 1), f"{f:.6g}", f"{2.0 * np.pi * f:.6g}", f"{s['residuals'][k]:.1e}")
        yield table
    if "load_factors" in s:
        table = _table(f"{name}: shape", "load factor", "residual")
        for k, (factor, residual) in enumerate(zip(s["load_factors"], s["residuals"], strict=True), 1):
            table.add_row(str(k), f"{factor:.6g}", f"{residual:.1e}")
        yield table
    if s.get("critical_points"):
        table = _table(f"{name}: critical point", "load factor", "+-", "negative eigenvalues")
        for point in s["critical_points"]:
            count = f"{point['negative_before']} to {point['negative_after']}"
            table.add_row(point["kind"], f"{point['load_factor']:.6g}", f"{point['error']:.1e}", count)
        yield table


def _sensors(results: Results) -> Table:
    from fem_mbs.results import sensor_units

    table = _table("sensor", "unit", "start", "minimum", "maximum", "end")
    rows = []
    for sensor in results.header["sensors"]:
        if not results.steps_with(f"sensor/{sensor['name']}"):
            continue
        _, values, columns = results.sensor(sensor["name"])
        for column, unit, series in zip(columns, sensor_units(sensor, len(columns)), values.T, strict=True):
            good = series[np.isfinite(series)]
            numbers = (good[0], good.min(), good.max(), good[-1]) if good.size else ()
            rows.append((_plain(column), unit, *(f"{v:.6g}" for v in numbers)))
    for row in rows[:_MAX_ROWS]:
        table.add_row(*row)
    if len(rows) > _MAX_ROWS:
        table.add_row(f"and {len(rows) - _MAX_ROWS} more")
    return table


def _checks(checks: list[dict[str, Any]]) -> Table:
    table = _table("check", "measured", "reference", "tolerance", "at [s]", "", "source")
    table.columns[-1].justify = "left"
    for check in checks:
        measured, time = check["measured"], check["time"]
        table.add_row(
            _plain(check["case"]),
            "none" if measured is None else f"{measured:.6g}",
            f"{check['reference']:.6g}",
            f"{check['tolerance']:.2g}",
            "" if time is None else f"{time:.5g}",
            "[green]pass[/]" if check["pass"] else "[bold red]FAILED[/]",
            _plain(check["source"]),
        )
    return table


def _plain(text: str) -> str:
    """Text with square brackets as they are."""
    from rich.markup import escape

    return escape(text)
