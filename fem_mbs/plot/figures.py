"""Figures of results: the energy ledger, sensors, momenta, the deformed model, its animation, eigenvalues and rotors.

Every function takes a `fem_mbs.results.reader.Results` and a path, and writes the file. matplotlib is imported when the
first figure is drawn, without a display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.campbell import CampbellReport
from fem_mbs.analysis.steps.static import StaticReport
from fem_mbs.declarations.steps import function_of, recorded_kind
from fem_mbs.errors import DiskFullError, ResultsError
from fem_mbs.plot.campbell import plot_campbell, plot_unbalance
from fem_mbs.plot.cyclic import plot_diameters, plot_wheel_shapes
from fem_mbs.plot.harmonic import plot_response
from fem_mbs.plot.model import animate, plot_deformed, plot_shapes
from fem_mbs.plot.scene import time_label
from fem_mbs.plot.stability import plot_eigenvalues, plot_roots, plot_stability_map
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.eigenvalues import campbell_branches, eigenvalue_path, is_damped
from fem_mbs.results.fields import is_continuum
from fem_mbs.results.reader import Results, Step
from fem_mbs.results.series import sensor_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.mac import Mac

__all__ = [
    "animate",
    "campbell_figures",
    "diameters_figures",
    "load_path_figures",
    "map_figures",
    "nothing_drawn",
    "path_figures",
    "plot_all",
    "plot_campbell",
    "plot_deformed",
    "plot_diameters",
    "plot_eigenvalues",
    "plot_ledger",
    "plot_mac",
    "plot_momenta",
    "plot_path",
    "plot_response",
    "plot_roots",
    "plot_sensor",
    "plot_shapes",
    "plot_stability_map",
    "plot_unbalance",
    "plot_wheel_shapes",
    "roots_figures",
    "shapes_figures",
    "unbalance_figures",
]

_CRITICAL = {"limit": "o", "bifurcation": "s", "jump": "D"}  # markers of critical points
_MAX_POINTS = 3000  # of a curve in a figure


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)


def _thin(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve of at most a few thousand points with the same look: the extremes of each stretch are kept."""
    n = len(time)
    if n <= _MAX_POINTS:
        return time, values
    stretch = -(-2 * n // _MAX_POINTS)
    keep = []
    for start in range(0, n, stretch):
        part = values[start : start + stretch]
        if np.all(np.isnan(part)):
            keep.append(start)
        else:
            keep += sorted({start + int(np.nanargmin(part)), start + int(np.nanargmax(part))})
    rows = np.unique([0, *keep, n - 1])
    return time[rows], values[rows]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unit(unit: str) -> str:
    return re.sub(r"(?<=[a-zA-Z])([23])\b", lambda m: "²³"["23".index(m[1])], unit).replace("*", " ")


def _with_unit(text: str, unit: str) -> str:
    return f"{_capital(text)} [{_unit(unit)}]" if unit else _capital(text)


def plot_ledger(results: Results, path: str | Path) -> Path:
    """Draw the energies and works over time, and below them the error by which the ledger does not close.

    The error is relative to the largest change of any of the energies; zero is drawn at the lower edge.
    """
    ledger = results.ledger()
    step = results.steps_with("ledger")[-1]
    time, error = ledger["time"], ledger["closing error"]
    names = [name for name in ledger if name not in ("time", "total", "closing error")]
    spans = {name: float(np.nanmax(ledger[name]) - np.nanmin(ledger[name])) for name in names}
    scale = max([*spans.values(), float(np.nanmax(np.abs(ledger["total"])))]) or 1.0
    drawn = [name for name in names if np.nanmax(np.abs(ledger[name])) > 1e-12 * scale]
    with style():
        figure = make_figure(7.4, 4.8)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1.0))
        for name in drawn:
            dashed = "work" in name.lower() or "dissip" in name.lower() or "damp" in name.lower()
            upper.plot(*_thin(time, ledger[name]), ls="--" if dashed else "-", label=_capital(name))
        upper.plot(*_thin(time, ledger["total"]), color="#777777", lw=1.0, zorder=1, label="Total energy")
        upper.set_title(f"{results.header['title']}: energy" if results.header["title"] else "Energy")
        upper.set_ylabel("Energy, work [J]")
        _legend(upper)
        relative = np.abs(error) / scale
        floor = 1e-18
        worst = float(np.nanmax(relative))
        low = max(floor, float(np.nanmin(relative[relative > 0], initial=1.0)))
        low = 10.0 ** np.floor(np.log10(max(low, worst * 1e-6, 1e-17)))
        lower.semilogy(*_thin(time, np.maximum(relative, low)), color="#444444", lw=0.8)
        lower.set_ylim(low, max(10.0 ** np.ceil(np.log10(max(worst, low)) + 0.3), 1e-13))
        lower.set_ylabel("Closing error,\nrelative [-]")
        lower.text(1.01, 1.0, f"Largest:\n{worst:.1e}", transform=lower.transAxes, va="top", fontsize=8.5)
        lower.set_xlabel(time_label(step))
        lower.set_xlim(*_limits(time))
        figure.align_ylabels()
        return save_figure(figure, path)


def _limits(time: np.ndarray) -> tuple[float, float]:
    low, high = float(np.min(time)), float(np.max(time))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def plot_sensor(results: Results, name: str, path: str | Path) -> Path:
    """Draw all columns of a sensor over time, one panel per unit; those of a path over its load factor, and single
    values, as linear statics give, as bars."""
    time, values, columns = results.sensor(name)
    item = results.steps_with(f"sensor/{name}")
    sensor = next(sensor for sensor in results.header["sensors"] if sensor["name"] == name)
    label = time_label(item[-1])
    if all("load factor" in found.series and not np.ptp(found.series["time"]) for found in item):
        # the last step, over its load factor
        _, values, columns = results.sensor(name, item[-1].number)
        time, label = item[-1].series["load factor"], "Load factor [-]"
    elif not np.ptp(time):
        titles = [found.name for found in item for _ in range(len(found.series["time"]))]
        return _plot_values(sensor, titles, values, columns, path)
    units = sensor_units(sensor, len(columns))
    panels = list(dict.fromkeys(units))
    with style():
        figure = make_figure(7.4, 2.6 + 1.6 * (len(panels) - 1) + 0.4)
        all_axes = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
        for axes, unit in zip(all_axes, panels, strict=True):
            for column, (text, own) in enumerate(zip(columns, units, strict=True)):
                if own == unit:
                    axes.plot(*_thin(time, values[:, column]), label=text)
            shown = [text for text, own in zip(columns, units, strict=True) if own == unit]
            kind = str(sensor.get("kind") or name)
            if len(shown) == 1 < len(columns):
                kind = f"{kind}, {shown[0]}"
            axes.set_ylabel(_with_unit(kind, unit))
            if len(shown) > 1:
                _legend(axes)
            axes.set_xlim(*(_limits(time) if len(time) else (0.0, 1.0)))
        all_axes[0].set_title(name)
        all_axes[-1].set_xlabel(label)
        figure.align_ylabels()
        return save_figure(figure, path)


def _plot_values(
    sensor: dict[str, Any], titles: list[str], values: np.ndarray, columns: list[str], path: str | Path
) -> Path:
    """Draw single values (rows, columns) of a sensor as bars with their numbers, a panel per unit; `titles` of rows."""
    units = sensor_units(sensor, len(columns))
    panels = {unit: [k for k, own in enumerate(units) if own == unit] for unit in dict.fromkeys(units)}
    with style():
        height = sum(0.35 * len(rows) * len(titles) + 0.8 for rows in panels.values())
        figure = make_figure(7.4, float(np.clip(height + 0.5, 1.8, 12.0)))
        sizes = [len(rows) for rows in panels.values()]
        all_axes = np.atleast_1d(figure.subplots(len(panels), 1, height_ratios=sizes))
        for axes, (unit, chosen) in zip(all_axes, panels.items(), strict=True):
            width = 0.8 / len(titles)
            for row, title in enumerate(titles):
                place = np.arange(len(chosen)) + (row - (len(titles) - 1) / 2) * width
                bars = axes.barh(place, values[row, chosen], height=0.9 * width, label=title)
                axes.bar_label(bars, fmt=" %.4g ", fontsize=8.5)
            axes.set_yticks(range(len(chosen)), [columns[k] for k in chosen])
            axes.set_ylim(len(chosen) - 0.4, -0.6)  # the first on top
            axes.axvline(0.0, color="#555555", lw=0.8)
            axes.margins(x=0.2)
            axes.set_xlabel(_with_unit(str(sensor.get("kind") or sensor["name"]), unit))
        if len(titles) > 1:
            _legend(all_axes[0])
        all_axes[0].set_title(sensor["name"] if len(titles) > 1 else f"{sensor['name']}: {titles[0]}")
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
        curves += [(c, v) for c, v in zip(columns, values.T, strict=True) if np.ptp(v) > 1e-6 * size]
    if not curves:
        raise ResultsError(f"{results.where}: step {step + 1} has no displacement sensor to draw")
    report = item.report_as(StaticReport)
    criticals = [] if report is None else report.critical_points or []
    load = item.series["load factor"]
    count = item.series["negative eigenvalues"] if "negative eigenvalues" in item.series else np.zeros(len(load))
    with style():
        figure = make_figure(7.4, 4.2)
        axes = figure.subplots()
        for label, values in curves:
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
        axes.set_xlabel("Displacement [m], angle [rad]")
        axes.set_ylabel("Load factor [-]")
        _legend(axes)
        return save_figure(figure, path)


def plot_mac(found: Mac, path: str | Path, labels: tuple[str, str] = ("", "")) -> Path:
    """Draw the modal assurance criterion between two sets of shapes as a table of coloured squares.

    `labels` names the two results.
    """
    rows, columns = found.matrix.shape
    with style():
        width = float(np.clip(0.42 * columns + 2.6, 4.2, 12.0))
        figure = make_figure(width, float(np.clip(0.42 * rows + 1.7, 3.2, 12.0)))
        axes = figure.subplots()
        image = axes.imshow(found.matrix, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        marks = [f"{k + 1}: {v:.4g}" for k, v in enumerate(found.frequencies_a)]
        axes.set_yticks(range(rows), marks)
        axes.set_xticks(range(columns), [f"{k + 1}: {v:.4g}" for k, v in enumerate(found.frequencies_b)], rotation=90)
        axes.tick_params(length=0)
        for side, label, name in zip((axes.set_ylabel, axes.set_xlabel), labels, found.names, strict=True):
            side(f"{label or name}: {found.quantity}")
        if found.matrix.size <= 900:
            for (i, j), value in np.ndenumerate(found.matrix):
                if value >= 0.05:
                    colour = "white" if value > 0.6 else "#333333"
                    axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=7.0)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=24)
        bar.set_label("MAC [-]")
        bar.outline.set_visible(False)
        axes.set_title("Modal assurance criterion")
        return save_figure(figure, path)


def plot_momenta(results: Results, path: str | Path) -> Path:
    """Draw the linear and the angular momentum over time.

    Raises ResultsError if the run stored none.
    """
    kinds = [kind for kind in ("linear momentum", "angular momentum") if any(kind in s.series for s in results.steps)]
    if not kinds:
        raise ResultsError(f"{results.where}: no momenta in it: they come with transient steps")
    units = {"linear momentum": "kg m/s", "angular momentum": "kg m²/s"}
    with style():
        figure = make_figure(7.4, 1.0 + 2.0 * len(kinds))
        all_axes = np.atleast_1d(figure.subplots(len(kinds), 1, sharex=True))
        for axes, kind in zip(all_axes, kinds, strict=True):
            steps = results.steps_with(kind)
            time = np.concatenate([step.series["time"] for step in steps])
            data = np.concatenate([step.series[kind].reshape(len(step.series["time"]), -1) for step in steps])
            letters = "z" if data.shape[1] == 1 else "xyz"
            for column in range(data.shape[1]):
                axes.plot(
                    *_thin(time, data[:, column]), color=COLOURS["xyz".index(letters[column])], label=letters[column]
                )
            spread = float(np.nanmax(data) - np.nanmin(data))
            size = float(np.nanmax(np.abs(data)))
            if size > 0 and spread < 1e-9 * size:  # constant: show it as such, not its round-off magnified
                axes.set_ylim(np.nanmin(data) - 0.1 * size, np.nanmax(data) + 0.1 * size)
            elif size == 0:
                axes.set_ylim(-1, 1)
            axes.set_ylabel(f"{_capital(kind)}\n[{units[kind]}]")
            axes.set_xlim(*_limits(time))
            _legend(axes)
        title = results.header["title"]
        all_axes[0].set_title(f"{title}: momenta" if title else "Momenta")
        all_axes[-1].set_xlabel(time_label(steps[-1]))
        figure.align_ylabels()
        return save_figure(figure, path)


@contextmanager
def _if_possible() -> Iterator[None]:
    """Leave out a figure that the results do not allow; a full disk still raises its error."""
    try:
        yield
    except DiskFullError:
        raise
    except ResultsError:
        pass


Figures = Iterator[tuple[Callable[..., Path], str]]


def shapes_figures(step: Step) -> Figures:
    """Yield the figure of the shapes of a step."""
    if len(step.frame_times):
        yield plot_shapes, "shapes"


def roots_figures(step: Step) -> Figures:
    """Yield the figure of eigenvalues in the complex plane."""
    yield plot_roots, "roots"


def campbell_figures(step: Step) -> Figures:
    """Yield the Campbell diagram, and the eigenvalues in the complex plane where there is damping."""
    yield plot_campbell, "campbell"
    report = step.report_as(CampbellReport)
    if report is not None and report.branches and is_damped(campbell_branches(report)[0].values):
        yield plot_roots, "roots"


def diameters_figures(step: Step) -> Figures:
    """Yield the figures of frequencies by nodal diameters, and of shapes of the whole wheel."""
    yield plot_diameters, "diameters"
    if len(step.frame_times):
        yield plot_wheel_shapes, "wheel"


def unbalance_figures(step: Step) -> Figures:
    """Yield the figure of responses to unbalance."""
    yield plot_unbalance, "unbalance"


def map_figures(step: Step) -> Figures:
    """Yield the stability map."""
    yield plot_stability_map, "stability"


def load_path_figures(step: Step) -> Figures:
    """Yield the load-displacement path of a step that has one."""
    if len(step.series.get("load factor", ())) > 3 and not np.ptp(step.series["time"]):
        yield plot_path, "path"


def path_figures(step: Step) -> Figures:
    """Yield eigenvalues along a step, if there are any."""
    branches = eigenvalue_path(step)
    if branches is not None:
        yield plot_eigenvalues, "eigenvalues"
        if is_damped(branches.values):
            yield plot_roots, "roots"


def plot_all(results: Results, directory: str | Path | None = None) -> list[Path]:
    """Draw every figure that the results allow into a folder (by default `figures` beside the results)."""
    target = Path(directory) if directory is not None else results.folder() / "figures"
    paths = []

    def place(name: str) -> Path:
        results.take(target / name)
        return target / name

    series = {name for step in results.steps for name in step.series}
    moving = any(recorded_kind(step.type).passes_time for step in results.steps)
    if "ledger" in series and moving:
        paths.append(plot_ledger(results, place("ledger.png")))
    if series & {"linear momentum", "angular momentum"} and moving:
        paths.append(plot_momenta(results, place("momenta.png")))
    for step in results.steps:
        label = f"{step.number + 1}-" + re.sub(r"[^A-Za-z0-9_+-]+", "_", step.name).strip("_")
        for entry in recorded_kind(step.type).figures:
            for draw, name in function_of(entry)(step):
                with _if_possible():  # no displacement was watched, or nothing was found
                    paths.append(draw(results, step.number, place(f"{name}-{label}.png")))
    for sensor in results.header["sensors"]:
        if f"sensor/{sensor['name']}" in series:
            label = re.sub(r"[^A-Za-z0-9_+-]+", "_", sensor["name"]).strip("_")
            paths.append(plot_sensor(results, sensor["name"], place(f"sensor-{label}.png")))
    for step in results.steps:
        for sensor in results.header["sensors"]:
            if f"response/{sensor['name']}" in step.series:
                words = (f"{step.number + 1}", step.name, sensor["name"])
                label = "-".join(re.sub(r"[^A-Za-z0-9_+-]+", "_", word).strip("_") for word in words)
                with _if_possible():  # it does not respond
                    paths.append(plot_response(results, sensor["name"], step.number, place(f"response-{label}.png")))
    drawn = [s for s in results.steps if "displacement" in s.frames and not recorded_kind(s.type).shapes]
    if len(drawn) > 1 and any(is_continuum(block) for block in results.header["blocks"]):
        for step in drawn:
            label = f"{step.number + 1}-" + re.sub(r"[^A-Za-z0-9_+-]+", "_", step.name).strip("_")
            paths.append(plot_deformed(results, place(f"deformed-{label}.png"), step=step.number))
    elif drawn:
        paths.append(plot_deformed(results, place("deformed.png")))
    return paths


def nothing_drawn(results: Results) -> str:
    """Return why `plot_all` draws no figure of results, and what to do.

    Raises:
        ResultsError: the results hold no states.
    """
    if any(len(step.series) or len(step.frames) for step in results.steps):
        return f"{results.where}: nothing that it holds has a figure; add sensors to the model"
    remedy = "wait for the run" if results.status == "running" else "run the model again"
    raise ResultsError(f"{results.where}: it holds no states (status of the run: {results.status}); {remedy}")
