"""Pages of results and models for notebooks: a picture, tables of steps, sensors and energies, as one piece of HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from fem_mbs.display import html_table
from fem_mbs.errors import FemMbsError
from fem_mbs.model.model import Model
from fem_mbs.plot.model import draw_deformed
from fem_mbs.plot.scene import at_start
from fem_mbs.plot.style import style
from fem_mbs.results.reader import Results

__all__ = ["page"]

_MOST_NODES = 20_000  # of models that are drawn: a page appears within a second
_MOST_VALUES = 5e6  # numbers of the sensors that are read
_DPI = 80.0


def page(thing: Results | Model) -> str:
    """Return the HTML of results or of a model.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(thing, Results):
        return _results(thing)
    if isinstance(thing, Model):
        return _model(thing)
    raise TypeError(f"there is no page of a {type(thing).__name__}")


def _results(results: Results) -> str:
    title = results.header["title"] or "Results"
    state = "" if results.complete else f" ({escape(results.status)})"
    counts = results.header["model"]
    where = "in memory" if results.directory is None else str(results.directory)
    lines = [
        f"<h4>{escape(title)}{state}</h4>",
        f"<p>{counts['nodes']} nodes, {counts['unknowns']} unknowns; {escape(where)}</p>",
        _picture(results),
        html_table("Steps", ("step", "kind", "rows", "notes"), map(_step, results.steps)),
        html_table("Sensors", ("sensor", "unit", "start", "minimum", "maximum", "end"), _sensors(results)),
        *_energies(results),
    ]
    return _whole(lines)


def _model(model: Model) -> str:
    joints, sensors = len(model.joints), len(model.sensors)
    lines = [
        f"<h4>{escape(model.title or 'Model')}</h4>",
        f"<p>{model.dimension} dimensions, {model.n_nodes} nodes, {joints} joints, {sensors} sensors</p>",
        _start(model),
        html_table("Elements", ("group", "elements"), ((name, len(cells)) for name, cells in model.groups.items())),
        html_table("Joints", ("joint", "kind"), ((name, joint.kind) for name, joint in model.joints.items())),
        html_table("Sensors", ("sensor", "kind"), ((sensor.name, sensor.kind) for sensor in model.sensors)),
        html_table("Steps", ("step", "kind", "options"), ((s.name, s.kind, _options(s.options)) for s in model.steps)),
    ]
    return _whole(lines)


def _whole(lines: Iterable[str]) -> str:
    return f'<div class="fem-mbs">{"".join(lines)}</div>'


def _options(options: dict[str, Any]) -> str:
    text = ", ".join(f"{key} = {value!r}" for key, value in options.items())
    return text if len(text) < 80 else f"{text[:77]}..."


def _step(step: Any) -> tuple[str, ...]:
    report = step.report
    failures = list(report.failures or []) if report else []
    warnings = list(report.warnings or []) if report else []
    notes = [*(f"failed: {text}" for text in failures), *warnings] if report else ["has not ended"]
    rows = len(step.time) if "time" in step.series else 0
    return step.name, step.type, str(rows), "; ".join(notes)


def _sensors(results: Results) -> Iterable[tuple[str, ...]]:
    """Yield column, unit, first, smallest, largest and last value of all sensors in time."""
    left = _MOST_VALUES
    for sensor in results.header["sensors"]:
        steps = [step for step in results.steps if f"sensor/{sensor['name']}" in step.series]
        left -= sum(len(step.time) for step in steps) * max(len(sensor.get("columns") or []), 1)
        if not steps or left < 0:
            continue
        series = results.sensor(sensor["name"])
        for column, unit, values in zip(series.columns, series.units, series.values.T, strict=True):
            good = values[np.isfinite(values)]
            numbers = (good[0], good.min(), good.max(), good[-1]) if good.size else ()
            yield (column, unit, *(f"{v:.6g}" for v in numbers), *[""] * (4 - len(numbers)))


def _energies(results: Results) -> Iterable[str]:
    """Yield the table of energies at the end of every step in time."""
    energies = ((step.name, getattr(step.report, "energy", None)) for step in results.steps)
    found = [(name, energy.final) for name, energy in energies if energy is not None and energy.final]
    if not found:
        return
    names = list(found[0][1])
    rows = ((step, *(_number(final.get(name)) for name in names)) for step, final in found)
    yield html_table("Energies at the end [J]", ("step", *names), rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _picture(results: Results) -> str:
    """Return the deformed shape as an inline image, "" of large models and where there are no frames."""
    if len(results.header["nodes"]) > _MOST_NODES:
        return ""
    try:
        with style():
            figure = draw_deformed(results)
            figure.set_dpi(_DPI)
            stream = BytesIO()
            figure.savefig(stream, format="png", dpi=_DPI)
    except FemMbsError:
        return ""
    return f'<img alt="shape" src="data:image/png;base64,{b64encode(stream.getvalue()).decode()}">'


def _start(model: Model) -> str:
    """Return the picture of a model at its start; "" of large ones and of those that cannot be compiled yet."""
    if not 0 < model.n_nodes <= _MOST_NODES:
        return ""
    try:
        return _picture(at_start(model))
    except FemMbsError as error:
        return f"<p>no picture: {escape(str(error))}</p>"
