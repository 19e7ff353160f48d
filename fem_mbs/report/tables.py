"""Tables of a report, from results: texts of heads and cells, in units of display."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.steps import function_of, recorded_kind
from fem_mbs.late import dataclass
from fem_mbs.results.reader import Results, Step
from fem_mbs.units import QUANTITIES

__all__ = [
    "TableText", "check_table", "count_table", "element_table", "energy_table", "sensor_table", "step_sentences",
    "step_table", "step_tables", "unit_table",
]  # fmt: skip

_MOST_SENSORS = 200  # rows


@dataclass(frozen=True)
class TableText:
    """A table as texts: heads (k,) and rows of k cells; the first column stands at the left."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def count_table(results: Results) -> TableText:
    """Return the size of the model."""
    header = results.header
    counts = header["model"]
    rows = [
        ("Dimensions", str(header["dimension"])),
        ("Nodes", str(counts.get("nodes", len(header["nodes"])))),
        ("Unknowns", str(counts.get("unknowns", ""))),
        ("Multipliers", str(counts.get("multipliers", ""))),
        ("Rigid bodies", str(len(header["bodies"]))),
        ("Joints", str(len(header.get("joints", [])))),
        ("Sensors", str(len(header["sensors"]))),
        ("Solver", str(counts.get("solver", ""))),
    ]
    gravity = np.asarray(header.get("gravity", ()), float)
    if gravity.any():
        shown = results.units.of("m/s^2")
        rows.append(("Gravity", f"({', '.join(f'{v:.6g}' for v in shown(gravity))}) {shown.unit}"))
    return TableText(("Model", ""), [row for row in rows if row[1] not in ("", "0")])


def element_table(results: Results) -> TableText:
    """Return the numbers of elements by type."""
    elements = results.header["model"].get("elements", {})
    return TableText(("Type of element", "number"), [(name, str(count)) for name, count in elements.items()])


def unit_table(results: Results) -> TableText:
    """Return the units of the model's numbers and of the report."""
    units = results.units
    rows = []
    for name, quantity in QUANTITIES.items():
        base, shown = type(units)(units.base).of(quantity.declared), units.of(quantity.declared)
        if name in ("length", "mass", "time", "force", "stress", "angle") or base != shown:
            rows.append((name, base.unit, shown.unit))
    return TableText(("Quantity", "model and results.h5", "this report"), rows)


def step_table(results: Results) -> TableText:
    """Return the table of computed steps: a row per step."""
    rows = []
    for number, step in enumerate(results.steps, 1):
        report = step.report
        steps = getattr(report, "n_steps", None) or getattr(report, "increments", None)
        seconds = getattr(report, "seconds", None)
        seconds = sum(seconds.values()) if isinstance(seconds, dict) else seconds
        state = "not ended" if report is None else "FAILED" if report.failures else "done"
        energy = getattr(report, "energy", None)
        closing, asked = getattr(energy, "closing_error_relative", None), getattr(energy, "tolerance", None)
        rows.append(
            (
                f"{number}. {step.name}",
                step.type.replace("_", " "),
                getattr(report, "rule", None) or "",
                "" if not steps else str(steps),
                "" if closing is None else f"{closing:.1e}" + ("" if asked is None else f" (asked for: {asked:g})"),
                "" if seconds is None else f"{seconds:.2f}",
                state,
            )
        )
    heads = ("Step", "kind", "rule", "time steps, increments", "energy error / range", "wall time [s]", "state")
    used = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    return TableText([heads[k] for k in used], [[row[k] for k in used] for row in rows])


def step_tables(step: Step) -> Iterator[TableText]:
    """Yield the tables of a step, which its kind has for the terminal."""
    for entry in recorded_kind(step.type).tables:
        for table in function_of(entry)(step):
            columns = [[_plain(cell) for cell in column.cells] for column in table.columns]
            rows = list(zip(*columns, strict=False))
            if rows:
                yield TableText([_plain(column.header) for column in table.columns], rows)


def step_sentences(step: Step) -> list[str]:
    """Return the sentences that the kind of a step has for the terminal."""
    from rich.text import Text

    entry = recorded_kind(step.type).sentences
    return [Text.from_markup(sentence).plain for sentence in function_of(entry)(step)] if entry else []


def _plain(cell: Any) -> str:
    """Return the text of a cell of `rich`."""
    return str(getattr(cell, "plain", cell))


def energy_table(results: Results) -> TableText:
    """Return the energies at the end of every step in time."""
    energies = ((step.name, getattr(step.report, "energy", None)) for step in results.steps)
    found = [(name, energy) for name, energy in energies if energy is not None and energy.final]
    names = list(found[0][1].final) if found else []
    shown = results.units.of("J")

    def text(value: float | None) -> str:
        return "" if value is None else f"{shown(value):.6g}"

    rows = [
        (step, *(text(energy.final.get(name)) for name in names), text(energy.closing_error)) for step, energy in found
    ]
    heads = [f"{name} [{shown.unit}]" for name in (*names, "largest closing error")]
    return TableText(("At the end of step", *heads), rows)


def sensor_table(results: Results) -> TableText:
    """Return the first, smallest, largest and last value of the columns of all sensors."""
    rows: list[Sequence[str]] = []
    recorded = {key for step in results.steps for key in step.series}
    for sensor in results.header["sensors"]:
        if f"sensor/{sensor['name']}" not in recorded:
            continue
        if len(rows) >= _MOST_SENSORS:
            rows.append((f"more in sensors-*.csv, from {sensor['name']} on", *[""] * 6))
            break
        series = results.sensor(sensor["name"])
        for column, unit, values in zip(series.columns, series.units, series.values.T, strict=True):
            shown = results.units.of(unit)
            good = shown(values[np.isfinite(values)])
            numbers = (good[0], good.min(), good.max(), good[-1]) if good.size else ()
            texts = (*(f"{value:.6g}" for value in numbers), *[""] * (4 - len(numbers)))
            rows.append((column, str(sensor.get("kind") or ""), shown.unit, *texts))
    return TableText(("Sensor", "kind", "unit", "start", "smallest", "largest", "end"), rows)


def check_table(results: Results) -> TableText:
    """Return the checks of the model, in the units of their sensors in the model."""
    summary = results.report
    rows = []
    for check in (summary.checks if summary is not None else None) or []:
        measured = "none" if check.measured is None else f"{check.measured:.6g}"
        time = "" if check.time is None else f"{check.time:.5g}"
        state = "pass" if check.passed else "FAILED"
        rows.append(
            (check.case, measured, f"{check.reference:.6g}", f"{check.tolerance:.2g}", time, state, check.source)
        )
    return TableText(("Check", "measured", "reference", "tolerance", "at time", "", "source"), rows)
