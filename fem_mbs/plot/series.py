"""Figures of series over time or load factors: sensors, the energy ledger, momenta, load paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.static import StaticReport
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.plot.axes import capital, name_axis, pretty
from fem_mbs.plot.scene import time_label
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.series import sensor_columns, sensor_units
from fem_mbs.units import split_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.reader import Results, Step

__all__ = [
    "SensorPage", "plot_blows", "plot_ledger", "plot_momenta", "plot_path", "plot_sensor", "plot_sensor_page",
    "sensor_pages", "thin",
]  # fmt: skip

_CRITICAL = {"limit": "o", "bifurcation": "s", "jump": "D"}  # markers of critical points
MAX_POINTS = 3000  # of a curve in a figure
_PANELS = 12  # on a page
_HIDING = 50.0  # an energy so many times as large as all changes hides them
_BARS = 36  # on a page
_OVERHANG = 0.3  # room at the right for half of a tick label that the layout does not measure [inches]
_OF_SYMBOLS = {"N": "force", "N m": "moment", "N/m": "force per length", "N m/m": "moment per length"}  # by units


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)


def thin(time: np.ndarray, values: np.ndarray, most: int = MAX_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve of at most about ``most`` points with the same look: the extremes of each stretch are kept."""
    n = len(time)
    if n <= most:
        return time, values
    stretch = -(-2 * n // most)
    count = -(-n // stretch)
    padded = np.full(count * stretch, np.nan)
    padded[:n] = values
    parts = padded.reshape(count, stretch)
    missing = np.isnan(parts)
    first = stretch * np.arange(count)
    low = np.where(missing, np.inf, parts).argmin(axis=1)
    high = np.where(missing, -np.inf, parts).argmax(axis=1)
    gap = missing.all(axis=1)  # a stretch without values stays a gap
    rows = np.unique(np.concatenate(([0, n - 1], first[gap], (first + low)[~gap], (first + high)[~gap])))
    return time[rows], values[rows]


def _limits(time: np.ndarray) -> tuple[float, float]:
    low, high = float(np.min(time)), float(np.max(time))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


# --- sensors ---------------------------------------------------------------------------------------------------------
@dataclass
class _Panel:
    """Curves of one sensor with one unit over an abscissa."""

    title: str
    label: str  # of the ordinate, with the declared unit
    x: np.ndarray
    curves: list[tuple[str, np.ndarray]]


@dataclass(frozen=True)
class SensorPage:
    """Sensors that stand in one figure.

    ``step``: number of the step that they are seen in; None: all steps in time, one after another.  ``sensors``: their
    names.  ``bars``: the step has one row, whose numbers are bars.
    """

    step: int | None
    sensors: tuple[str, ...]
    bars: bool = False


def sensor_pages(results: Results) -> Iterator[SensorPage]:
    """Yield the pages that show all sensors: those of steps in time together, those of other steps each on its own."""
    timed = [item for item in results.steps if recorded_kind(item.type).passes_time]
    joined = any(len(item.series.get("time", ())) for item in timed)
    steps: list[Step | None] = [None] if joined else []
    steps += [item for item in results.steps if item not in timed]
    for item in steps:
        of = timed if item is None else [item]
        # sensors of a kind stand beside each other, in the order of the first of them
        kinds = list(dict.fromkeys(str(sensor.get("kind")) for sensor in results.header["sensors"]))
        told = sorted(results.header["sensors"], key=lambda sensor: kinds.index(str(sensor.get("kind"))))
        told = [sensor for sensor in told if any(f"sensor/{sensor['name']}" in one.series for one in of)]
        bars = item is not None and len(item.series.get("time", ())) == 1
        sizes = [_size_of(sensor, of, bars) for sensor in told]
        page: list[str] = []
        room = most = _BARS if bars else _PANELS
        for sensor, size in zip(told, sizes, strict=True):
            if page and size > room:
                yield SensorPage(None if item is None else item.number, tuple(page), bars)
                page, room = [], most
            page.append(sensor["name"])
            room -= size
        if page:
            yield SensorPage(None if item is None else item.number, tuple(page), bars)


def _size_of(sensor: dict[str, Any], steps: list[Step], bars: bool) -> int:
    """Return the number of panels of a sensor, or of its bars."""
    column = next(
        step.column(f"sensor/{sensor['name']}") for step in steps if f"sensor/{sensor['name']}" in step.series
    )
    count = int(np.prod(column.shape[1:], dtype=int))
    return count if bars else len(set(sensor_units(sensor, count)))


def plot_sensor_page(results: Results, page: SensorPage, path: str | Path) -> Path:
    """Draw the sensors of a page: small panels over one abscissa, or bars."""
    title = results.header["title"]
    name = "" if page.step is None else results.steps[page.step].name
    title = ": ".join(word for word in (title, name) if word) or "Sensors"
    if page.bars:
        return _plot_bars(results, page, title, path)
    panels = [panel for name in page.sensors for panel in _panels(results, name, page.step)]
    return _plot_panels(results, panels, _abscissa(results, page.sensors[0], page.step), title, path)


def plot_sensor(results: Results, name: str, path: str | Path, step: int | str | None = None) -> Path:
    """Draw all columns of one sensor over time, a panel per unit; those of a path over its load factor, and single
    values, as linear statics give, as bars.

    ``step`` is a number or a name; without it steps in time are drawn one after another, of others the last.

    Raises ResultsError for an unknown sensor or step.
    """
    results.sensor(name)
    found = results.steps_with(f"sensor/{name}", step)
    if step is None and not recorded_kind(found[-1].type).passes_time:
        found = found[-1:]
    number = found[0].number if len(found) == 1 else None
    if sum(len(item.series["time"]) for item in found) == 1:
        return _plot_bars(results, SensorPage(found[0].number, (name,), True), f"{name}: {found[0].name}", path)
    panels = list(_panels(results, name, number))
    return _plot_panels(results, panels, _abscissa(results, name, number), name, path)


def _abscissa(results: Results, sensor: str, step: int | None) -> str:
    """Return the label of what the rows of a sensor go by."""
    item = results.steps_with(f"sensor/{sensor}", step)[-1]
    return "Load factor [-]" if item.is_path else time_label(item)


def _panels(results: Results, name: str, step: int | None) -> Iterator[_Panel]:
    """Yield the panels of a sensor: one for each unit of its columns."""
    found = results.sensor(name, step)
    sensor = next(sensor for sensor in results.header["sensors"] if sensor["name"] == name)
    for unit in dict.fromkeys(found.units):
        kind = _quantity(sensor, unit)
        own = [k for k, other in enumerate(found.units) if other == unit]
        words = [_without(found.columns[k], name) for k in own]
        label = kind if len(own) > 1 or len(found.columns) == 1 else f"{kind}, {words[0]}"
        curves = [(word, found.values[:, k]) for word, k in zip(words, own, strict=True)]
        yield _Panel(name, f"{capital(label)} [{unit}]" if unit else capital(label), found.t, curves)


def _quantity(sensor: dict[str, Any], unit: str) -> str:
    """Return the label of a quantity with ``unit`` that a sensor measures: the output of an element, contact, tyre or
    lock, the kind of a joint coordinate, else the kind of the sensor."""
    kind = str(sensor.get("kind") or sensor["name"])
    quantity = str(sensor.get("quantity") or "")
    if kind == "joint":
        return {"rad": "joint angle", "m": "joint displacement"}.get(unit, quantity or kind)
    if kind not in ("element", "contact", "tyre", "lock") or not quantity:
        return kind
    if re.search("[a-z]{3}", quantity):  # a word
        return quantity
    return f"{_OF_SYMBOLS.get(unit, 'element')} {quantity}"  # a symbol such as M_q


def _without(column: str, name: str) -> str:
    """Return the name of a column without that of its sensor before it."""
    return column.removeprefix(name).strip(" .:/") or column


def _plot_panels(results: Results, panels: list[_Panel], abscissa: str, title: str, path: str | Path) -> Path:
    """Draw panels over one abscissa below each other, many in two columns."""
    units = results.units
    columns = 1 if len(panels) <= 3 else 2
    rows = -(-len(panels) // columns)
    alone = all(panel.title == title for panel in panels)
    with style(results):
        figure = make_figure(7.4 if columns == 1 else 10.0, 0.7 + (1.9 if alone else 2.0) * rows + (rows == 1) * 0.6)
        table = figure.subplots(rows, columns, sharex=True, squeeze=False)
        places = list(table.T.flat) if columns == 2 else list(table.flat)
        for axes, panel in zip(places, panels, strict=False):
            for text, values in panel.curves:
                axes.plot(*thin(panel.x, values), label=text)
            name_axis(axes.yaxis, panel.label, units)
            _fit_label(axes, rows)
            if not alone:
                axes.set_title(panel.title, fontsize=9.0)
            if len(panel.curves) > 1:
                if alone or len(panel.curves) > 6:
                    _legend(axes)
                else:
                    axes.legend(
                        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(panel.curves), fontsize=8.0,
                        borderaxespad=0.1, handlelength=1.2, columnspacing=1.0, handletextpad=0.5,
                    )  # fmt: skip
        x = [panel.x for panel in panels if len(panel.x)]
        places[0].set_xlim(*(_limits(np.concatenate(x)) if x else (0.0, 1.0)))
        for axes in places[len(panels) :]:
            axes.remove()
        for column in range(columns):
            last = [axes for k, axes in enumerate(places[: len(panels)]) if k // rows == column][-1:]
            for axes in last:
                name_axis(axes.xaxis, abscissa, units)
                axes.tick_params(labelbottom=True)
                # of a shorter column it takes the place of an empty panel, not room between the rows
                axes.xaxis.set_in_layout((column + 1) * rows <= len(panels) or columns == 1)
        if columns * rows > len(panels):
            engine: Any = figure.get_layout_engine()
            left, low, width, height = engine.get()["rect"]
            engine.set(rect=(left, low, width - _OVERHANG / figure.get_figwidth(), height))
        if alone:
            places[0].set_title(title)
        else:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11.0, fontweight="bold")
        figure.align_ylabels()
        return save_figure(figure, path)


def _fit_label(axes: Axes, rows: int) -> None:
    """Break a long label of an ordinate before its unit."""
    text = axes.get_ylabel()
    if len(text) > 24:
        axes.set_ylabel("\n[".join(text.rsplit(" [", 1)))


def _plot_bars(results: Results, page: SensorPage, title: str, path: str | Path) -> Path:
    """Draw the numbers of sensors in a step of one row as bars, a panel for each kind and unit."""
    panels: dict[str, list[tuple[str, float]]] = {}
    for name in page.sensors:
        found = results.sensor(name, page.step)
        sensor = next(sensor for sensor in results.header["sensors"] if sensor["name"] == name)
        for k, (column, unit) in enumerate(zip(sensor_columns(sensor, len(found.columns)), found.units, strict=True)):
            kind = capital(_quantity(sensor, unit))
            label = f"{kind} [{unit}]" if unit else kind
            alone = column if len(page.sensors) == 1 else f"{name} {_without(column, name)}"
            panels.setdefault(label, []).append((name if column == name else alone, float(found.values[-1, k])))
    with style(results):
        sizes = [len(bars) for bars in panels.values()]
        figure = make_figure(7.4, float(np.clip(0.5 + sum(0.28 * size + 0.75 for size in sizes), 1.8, 14.0)))
        all_axes = np.atleast_1d(figure.subplots(len(panels), 1, height_ratios=[size + 0.4 for size in sizes]))
        for axes, (label, bars) in zip(all_axes, panels.items(), strict=True):
            text, unit = split_unit(label)
            shown = results.units.of(unit)
            drawn = axes.barh(range(len(bars)), [shown(value) for _, value in bars], height=0.72)
            axes.bar_label(drawn, fmt=" %.4g ", fontsize=8.5)
            axes.set_yticks(range(len(bars)), [word for word, _ in bars])
            axes.set_ylim(len(bars) - 0.4, -0.6)  # the first on top
            axes.axvline(0.0, color="#555555", lw=0.8)
            axes.margins(x=0.2)
            axes.grid(axis="y", visible=False)
            axes.set_xlabel(f"{text} [{pretty(shown.unit)}]" if unit else text)
        all_axes[0].set_title(title)
        return save_figure(figure, path)


# --- energies, momenta, paths ----------------------------------------------------------------------------------------
def plot_blows(results: Results, step: int, path: str | Path) -> Path:
    """Draw the normal speeds of approach of all blows of a step over time, and below them their losses.

    Raises ResultsError if the step has no blows.
    """
    item = results.steps[step]
    blows = getattr(item.report, "blows", None)
    if not blows:
        raise ResultsError(f'Figure: step "{item.name}" has no blows')
    names = list(dict.fromkeys(blow.impact for blow in blows))
    with style(results):
        figure = make_figure(7.4, 4.8)
        upper, lower = figure.subplots(2, 1, sharex=True)
        for name in names:
            own = [blow for blow in blows if blow.impact == name]
            time = [blow.time for blow in own]
            upper.plot(time, [blow.approach for blow in own], ".", ms=4, label=name)
            lower.plot(time, [blow.loss for blow in own], ".", ms=4)
        upper.set_title(f"{results.header['title']}: blows" if results.header["title"] else "Blows")
        name_axis(upper.yaxis, "Approach [m/s]", results.units)
        name_axis(lower.yaxis, "Loss [J]", results.units)
        name_axis(lower.xaxis, time_label(item), results.units)
        lower.set_xlim(*_limits(item.time))
        _legend(upper)
        figure.align_ylabels()
        return save_figure(figure, path)


def plot_ledger(results: Results, path: str | Path) -> Path:
    """Draw the energies and works over time, and below them the error by which the ledger does not close.

    The error is relative to the largest change of any of the energies; zero is drawn at the lower edge. Where a
    constant energy, such as that of a fast rotor, would hide all changes, the changes since the start are drawn.
    """
    ledger = results.ledger()
    step = results.steps_with("ledger")[-1]
    time, error = ledger["time"], ledger["closing error"]
    names = [name for name in ledger if name not in ("time", "total", "closing error")]
    spans = {name: float(np.nanmax(ledger[name]) - np.nanmin(ledger[name])) for name in names}
    scale = max([*spans.values(), float(np.nanmax(np.abs(ledger["total"])))]) or 1.0
    drawn = [name for name in names if np.nanmax(np.abs(ledger[name])) > 1e-12 * scale]
    changes = max(spans.values(), default=0.0)
    start = max((abs(float(ledger[name][0])) for name in names), default=0.0)
    hidden = 1e-9 * start < changes < start / _HIDING
    shown = {name: ledger[name] - (ledger[name][0] if hidden else 0.0) for name in (*drawn, "total")}
    with style(results):
        figure = make_figure(7.4, 4.8)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1.0))
        for name in drawn:
            dashed = "work" in name.lower() or "dissip" in name.lower() or "damp" in name.lower()
            upper.plot(*thin(time, shown[name]), ls="--" if dashed else "-", label=capital(name))
        upper.plot(*thin(time, shown["total"]), color="#777777", lw=1.0, zorder=1, label="Total energy")
        upper.set_title(f"{results.header['title']}: energy" if results.header["title"] else "Energy")
        name_axis(upper.yaxis, "Change of energy, work [J]" if hidden else "Energy, work [J]", results.units)
        _legend(upper)
        relative = np.abs(error) / scale
        floor = 1e-18
        worst = float(np.nanmax(relative))
        low = max(floor, float(np.nanmin(relative[relative > 0], initial=1.0)))
        low = 10.0 ** np.floor(np.log10(max(low, worst * 1e-6, 1e-17)))
        lower.semilogy(*thin(time, np.maximum(relative, low)), color="#444444", lw=0.8)
        lower.set_ylim(low, max(10.0 ** np.ceil(np.log10(max(worst, low)) + 0.3), 1e-13))
        lower.set_ylabel("Closing error,\nrelative [-]")
        lower.text(1.01, 1.0, f"Largest:\n{worst:.1e}", transform=lower.transAxes, va="top", fontsize=8.5)
        name_axis(lower.xaxis, time_label(step), results.units)
        lower.set_xlim(*_limits(time))
        figure.align_ylabels()
        return save_figure(figure, path)


def plot_momenta(results: Results, path: str | Path) -> Path:
    """Draw the linear and the angular momentum over time.

    Raises ResultsError if the run stored none.
    """
    kinds = [kind for kind in ("linear momentum", "angular momentum") if any(kind in s.series for s in results.steps)]
    if not kinds:
        raise ResultsError(f"{results.where}: no momenta in it: they come with transient steps")
    units = {"linear momentum": "kg m/s", "angular momentum": "kg m^2/s"}
    with style(results):
        figure = make_figure(7.4, 1.0 + 2.0 * len(kinds))
        all_axes = np.atleast_1d(figure.subplots(len(kinds), 1, sharex=True))
        for axes, kind in zip(all_axes, kinds, strict=True):
            steps = results.steps_with(kind)
            time = np.concatenate([step.series["time"] for step in steps])
            data = np.concatenate([step.series[kind].reshape(len(step.series["time"]), -1) for step in steps])
            letters = "z" if data.shape[1] == 1 else "xyz"
            for column in range(data.shape[1]):
                axes.plot(
                    *thin(time, data[:, column]), color=COLOURS["xyz".index(letters[column])], label=letters[column]
                )
            spread = float(np.nanmax(data) - np.nanmin(data))
            size = float(np.nanmax(np.abs(data)))
            if size > 0 and spread < 1e-9 * size:  # constant: show it as such, not its round-off magnified
                axes.set_ylim(np.nanmin(data) - 0.1 * size, np.nanmax(data) + 0.1 * size)
            elif size == 0:
                axes.set_ylim(-1, 1)
            name_axis(axes.yaxis, f"{capital(kind)} [{units[kind]}]", results.units)
            axes.set_ylabel(axes.get_ylabel().replace(" [", "\n["))
            axes.set_xlim(*_limits(time))
            _legend(axes)
        title = results.header["title"]
        all_axes[0].set_title(f"{title}: momenta" if title else "Momenta")
        name_axis(all_axes[-1].xaxis, time_label(steps[-1]), results.units)
        figure.align_ylabels()
        return save_figure(figure, path)


def plot_path(results: Results, step: int, path: str | Path) -> Path:
    """Draw the load factor of a static step over every displacement that a sensor saw, critical points marked; where
    stability was looked at, unstable parts are dashed.

    Raises ResultsError if the step has no displacement sensor.
    """
    item = results.steps[step]
    curves = []
    for sensor in results.header["sensors"]:
        if sensor.get("kind") not in ("displacement", "rotation", "distance", "deflection", "angle", "joint"):
            continue
        if f"sensor/{sensor['name']}" not in item.series:
            continue
        _, values, columns = results.sensor(sensor["name"], step)
        size = np.nanmax(np.abs(values), initial=0.0)
        units = sensor_units(sensor, len(columns))
        curves += [
            (c, results.units.of(unit)(v), unit)
            for c, v, unit in zip(columns, values.T, units, strict=True)
            if np.ptp(v) > 1e-6 * size
        ]
    if not curves:
        raise ResultsError(f"{results.where}: step {step + 1} has no displacement sensor to draw")
    report = item.report_as(StaticReport)
    criticals = [] if report is None else report.critical_points or []
    load = item.series["load factor"]
    count = item.series["negative eigenvalues"] if "negative eigenvalues" in item.series else np.zeros(len(load))
    with style(results):
        figure = make_figure(7.4, 4.2)
        axes = figure.subplots()
        for label, values, _ in curves:
            (line,) = axes.plot([], [], label=label)
            # a stretch is stable where both of its ends are
            for k in range(len(load) - 1):
                stable = max(count[k], count[k + 1]) <= 0
                axes.plot(values[k : k + 2], load[k : k + 2], color=line.get_color(), ls="-" if stable else (0, (2, 1)))
            for point in criticals:
                length = item.series["path length"]
                x = np.interp(point.path_length, length, values)
                marker = _CRITICAL[point.kind]
                axes.plot(x, point.load_factor, marker, color=line.get_color(), ms=5.0, mfc="white")
        kinds = {point.kind for point in criticals}
        for kind, marker in _CRITICAL.items():
            if kind in kinds:
                label = "jump of the stiffness" if kind == "jump" else f"{kind} point"
                axes.plot([], [], marker, color="#555555", mfc="white", ms=5.0, label=label)
        if (count > 0).any():
            axes.plot([], [], color="#555555", ls=(0, (2, 1)), label="unstable")
        axes.set_title(f"{results.header['title']}: {item.name}" if results.header["title"] else item.name)
        length, angle = (results.units.of(unit) for unit in ("m", "rad"))
        present = {unit for _, _, unit in curves}
        words = {"m": f"Displacement [{pretty(length.unit)}]", "rad": f"Angle [{pretty(angle.unit)}]"}
        axes.set_xlabel(", ".join(words[unit] for unit in words if unit in present))
        axes.set_ylabel("Load factor [-]")
        _legend(axes)
        return save_figure(figure, path)
