"""Figures of results: the energy ledger, sensors, momenta, the deformed model, and its animation.

Every function takes a `fem_mbs.results.Results` and a path, and writes the file. matplotlib is imported when the first
figure is drawn, without a display.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.plot_scene import find_quantity, time_label
from fem_mbs.plot_stage import Stage
from fem_mbs.results import Results, Step, sensor_units
from fem_mbs.results_fields import is_continuum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fem_mbs.results_mac import Mac

__all__ = [
    "animate",
    "plot_all",
    "plot_deformed",
    "plot_ledger",
    "plot_mac",
    "plot_momenta",
    "plot_path",
    "plot_sensor",
    "plot_shapes",
]

# Okabe & Ito's colours, told apart with any kind of colour vision; the yellow one is left out (too pale on white).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MAX_POINTS = 3000  # of a curve in a figure


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl
    from cycler import cycler

    settings = {
        "font.family": "DejaVu Sans",
        "font.size": 9.0,
        "axes.titlesize": 10.0,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 8.0,
        "axes.labelsize": 9.0,
        "axes.edgecolor": "#555555",
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.formatter.limits": (-3, 4),
        "axes.formatter.use_mathtext": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "xtick.color": "#333333",
        "ytick.color": "#333333",
        "xtick.labelsize": 8.0,
        "ytick.labelsize": 8.0,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "lines.linewidth": 1.5,
        "figure.dpi": 100.0,
        "savefig.dpi": 170.0,
    }
    with mpl.rc_context(settings):
        yield


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Figure, path: str | Path) -> Path:
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(target)
    except (OSError, ValueError) as exc:
        raise ResultsError(
            f'Figure "{target}": cannot be written ({exc}): give another path, such as figure.png'
        ) from exc
    return target


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
    with _style():
        figure = _figure(7.4, 4.8)
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
        return _save(figure, path)


def _limits(time: np.ndarray) -> tuple[float, float]:
    low, high = float(np.min(time)), float(np.max(time))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def plot_sensor(results: Results, name: str, path: str | Path) -> Path:
    """Draw all columns of a sensor over time, one panel per unit."""
    time, values, columns = results.sensor(name)
    item = results.steps_with(f"sensor/{name}")
    if all("load factor" in found.series and not np.ptp(found.series["time"]) for found in item):
        # the last step, over its load factor
        _, values, columns = results.sensor(name, item[-1].number)
        time = item[-1].series["load factor"]
    sensor = next(sensor for sensor in results.header["sensors"] if sensor["name"] == name)
    step = results.steps_with(f"sensor/{name}")[-1]
    units = sensor_units(sensor, len(columns))
    panels = list(dict.fromkeys(units))
    with _style():
        figure = _figure(7.4, 2.6 + 1.6 * (len(panels) - 1) + 0.4)
        all_axes = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
        for axes, unit in zip(all_axes, panels, strict=True):
            for column, (label, own) in enumerate(zip(columns, units, strict=True)):
                if own == unit:
                    axes.plot(*_thin(time, values[:, column]), label=label)
            shown = [label for label, own in zip(columns, units, strict=True) if own == unit]
            kind = str(sensor.get("kind") or name)
            if len(shown) == 1 < len(columns):
                kind = f"{kind}, {shown[0]}"
            axes.set_ylabel(_with_unit(kind, unit))
            if len(shown) > 1:
                _legend(axes)
            axes.set_xlim(*(_limits(time) if len(time) else (0.0, 1.0)))
        all_axes[0].set_title(name)
        all_axes[-1].set_xlabel(time_label(step))
        figure.align_ylabels()
        return _save(figure, path)


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
        raise ResultsError(f'Results folder "{results.directory}": step {step + 1} has no displacement sensor to draw')
    load = item.series["load factor"]
    count = item.series["negative eigenvalues"] if "negative eigenvalues" in item.series else np.zeros(len(load))
    with _style():
        figure = _figure(7.4, 4.2)
        axes = figure.subplots()
        for label, values in curves:
            (line,) = axes.plot([], [], label=label)
            # a stretch is stable where both of its ends are
            for k in range(len(load) - 1):
                stable = max(count[k], count[k + 1]) <= 0
                axes.plot(values[k : k + 2], load[k : k + 2], color=line.get_color(), ls="-" if stable else (0, (2, 1)))
            for point in item.summary.get("critical_points", []):
                length = item.series["path length"]
                x = np.interp(point["path_length"], length, values)
                marker = "o" if point["kind"] == "limit" else "s"
                axes.plot(x, point["load_factor"], marker, color=line.get_color(), ms=5.0, mfc="white")
        kinds = {point["kind"] for point in item.summary.get("critical_points", [])}
        for kind, marker in (("limit", "o"), ("bifurcation", "s")):
            if kind in kinds:
                axes.plot([], [], marker, color="#555555", mfc="white", ms=5.0, label=f"{kind} point")
        if (count > 0).any():
            axes.plot([], [], color="#555555", ls=(0, (2, 1)), label="unstable")
        axes.set_title(f"{results.header['title']}: {item.name}" if results.header["title"] else item.name)
        axes.set_xlabel("Displacement [m], angle [rad]")
        axes.set_ylabel("Load factor [-]")
        _legend(axes)
        return _save(figure, path)


def plot_shapes(results: Results, step: int, path: str | Path, most: int = 4) -> Path:
    """Draw the first shapes of a modal or buckling step beside each other, each over the undeformed model.

    Solid and plane parts are coloured by the size of the displacement, of which the largest is one in every shape.
    """
    item = results.steps[step]
    values = item.summary.get("frequencies_hz") or item.summary.get("load_factors") or []
    first = item.summary.get("rigid_body_modes", 0)
    chosen = list(range(first, min(len(values), first + most))) or list(range(min(len(values), most)))
    columns, rows = min(len(chosen), 2), -(-len(chosen) // 2)
    with _style():
        figure = _figure(3.6 * columns, 3.3 * rows)
        stage = Stage(results, item)
        quantity = find_quantity(results, item, "displacement") if stage.scene.skin is not None else None
        if quantity is not None:
            figure.set_size_inches(3.6 * columns + 0.8, 3.1 * rows)
        for place, frame in enumerate(chosen, 1):
            stage.set_up(
                figure, [frame], title=_shape_title(item, frame), quantity=quantity, times=False, fit=False,
                place=(rows, columns, place), bar=False,
            )  # fmt: skip
            stage.draw_reference()
            stage.draw_frame(frame)
            stage.draw_symbols(frame)
        if stage.scale is not None:
            bar = figure.colorbar(stage.scale, ax=figure.axes, shrink=0.6, aspect=30, pad=0.05)
            bar.set_label(quantity.label)
            bar.outline.set_visible(False)
        return _save(figure, path)


def plot_mac(found: Mac, path: str | Path, labels: tuple[str, str] = ("", "")) -> Path:
    """Draw the modal assurance criterion between two sets of shapes as a table of coloured squares.

    `labels` names the two results.
    """
    rows, columns = found.matrix.shape
    with _style():
        width = float(np.clip(0.42 * columns + 2.6, 4.2, 12.0))
        figure = _figure(width, float(np.clip(0.42 * rows + 1.7, 3.2, 12.0)))
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
        return _save(figure, path)


def plot_momenta(results: Results, path: str | Path) -> Path:
    """Draw the linear and the angular momentum over time.

    Raises ResultsError if the run stored none.
    """
    kinds = [kind for kind in ("linear momentum", "angular momentum") if any(kind in s.series for s in results.steps)]
    if not kinds:
        raise ResultsError(f'Results folder "{results.directory}": no momenta in it: they come with transient steps')
    units = {"linear momentum": "kg m/s", "angular momentum": "kg m²/s"}
    with _style():
        figure = _figure(7.4, 1.0 + 2.0 * len(kinds))
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
        return _save(figure, path)


def _step_with_frames(results: Results, step: int | None) -> Step:
    if step is not None:
        if not -len(results.steps) <= step < len(results.steps):
            raise ResultsError(f'Results folder "{results.directory}": {len(results.steps)} steps, no number {step}')
        return results.steps[step]
    found = [item for item in results.steps if "displacement" in item.frames]
    found = [item for item in found if item.type in ("transient", "inverse")] or found
    found = [item for item in found if item.type not in ("modes", "buckling")] or found
    if not found:
        raise ResultsError(
            f'Results folder "{results.directory}": no frames with displacements: store some during the run'
        )
    return found[-1]


def plot_deformed(
    results: Results,
    path: str | Path,
    times: Sequence[float] | int | None = None,
    quantity: str | None = None,
    step: int | None = None,
    magnify: float | None = None,
) -> Path:
    """Draw the reference shape lightly and over it the shapes at some times, coloured by time.

    `times` are instants [s], of which the nearest frames are taken, or a number of frames spread over the step (by
    default 6). With a `quantity` (the name of an element output) the colour shows that instead.

    Models with solid or plane parts are drawn side by side, by default at the end of a static step and at 4 times of
    others, coloured by the von Mises stress or, where there is none, by the displacement; `quantity` may also be
    "stress xx" and the like, or "displacement". `magnify` enlarges the displacements; by default those of solid and
    plane parts that could not be seen are enlarged by a round number, which the title tells.
    Raises ResultsError if there are no frames or no such quantity.
    """
    item = _step_with_frames(results, step)
    with _style():
        stage = Stage(results, item)
        surface = stage.scene.skin is not None
        available = item.frame_times
        if times is None:
            times = 6 if not surface else 1 if item.type == "static" else 4
        if isinstance(times, int):
            low = 0 if not surface or times > 1 else len(available) - 1
            chosen = np.unique(np.linspace(low, len(available) - 1, max(times, 1)).round().astype(int)).tolist()
        else:
            chosen = sorted({int(np.argmin(np.abs(available - time))) for time in times})
        if not chosen:
            raise ResultsError("Figure of the deformed shape: no times given: give at least one")
        shown = find_quantity(results, item, quantity) if quantity is not None or surface else None
        if magnify is not None:
            stage.scene.magnify(magnify)
        elif surface:
            stage.scene.magnify(_magnification(stage, chosen))
        if surface:
            return _save(_side_by_side(results, stage, chosen, shown), path)
        figure = _figure(7.4, 5.0)
        stage.set_up(figure, chosen, title=results.header["title"], quantity=shown, times=len(chosen) > 1, fit=True)
        stage.draw_reference()
        for frame in chosen:
            stage.draw_frame(frame)
        stage.draw_symbols(chosen[-1])
        return _save(figure, path)


def _magnification(stage: Stage, frames: list[int]) -> float:
    """By which displacements are to be enlarged to be seen: 1 where they are, else a round number."""
    scene = stage.scene
    size = float(np.max(np.ptp(scene.nodes, axis=0)))
    largest = max(float(np.abs(scene.state(frame)[0] - scene.nodes).max()) for frame in frames)
    if largest == 0.0 or largest > 0.02 * size:
        return 1.0
    wanted = 0.06 * size / largest
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= wanted))


def _side_by_side(results: Results, stage: Stage, frames: list[int], quantity: Any) -> Figure:
    """Draw a figure of solid or plane parts: a panel per frame, one range of colours for all."""
    if quantity is not None and hasattr(quantity, "fit"):
        quantity.fit(frames)
    columns, rows = min(len(frames), 2), -(-len(frames) // 2)
    alone = len(frames) == 1
    figure = _figure(7.4, 5.0) if alone else _figure(3.6 * columns + 0.8, 3.1 * rows)
    item, scale = stage.scene.step, stage.scene.scale
    enlarged = f"displacements x {scale:g}" if scale != 1.0 else ""
    title = results.header["title"]
    for place, frame in enumerate(frames, 1):
        label = f"{time_label(item).partition(' [')[0]} {stage.scene.times[frame]:.5g}"
        named = ", ".join(word for word in (title or item.name, enlarged) if word) if alone else label
        stage.set_up(
            figure, [frame], title=named, quantity=quantity, times=False, fit=alone, place=(rows, columns, place),
            bar=alone,
        )  # fmt: skip
        stage.draw_reference()
        stage.draw_frame(frame)
        stage.draw_symbols(frame)
    if not alone:
        if stage.scale is not None:
            bar = figure.colorbar(stage.scale, ax=figure.axes, shrink=0.6, aspect=30, pad=0.05)
            bar.set_label(quantity.label)
            bar.outline.set_visible(False)
        words = ", ".join(word for word in (title, enlarged) if word)
        if words:
            figure.suptitle(words, x=0.02, ha="left", fontsize=10.0, fontweight="bold")
    return figure


def plot_all(results: Results, directory: str | Path | None = None) -> list[Path]:
    """Draw every figure that the results allow into a folder (by default `figures` beside the results)."""
    target = Path(directory) if directory is not None else results.directory / "figures"
    paths = []
    series = {name for step in results.steps for name in step.series}
    moving = any(step.type in ("transient", "inverse") for step in results.steps)
    if "ledger" in series and moving:
        paths.append(plot_ledger(results, target / "ledger.png"))
    if series & {"linear momentum", "angular momentum"} and moving:
        paths.append(plot_momenta(results, target / "momenta.png"))
    for step in results.steps:
        label = f"{step.number + 1}-" + re.sub(r"[^A-Za-z0-9_+-]+", "_", step.name).strip("_")
        if step.type == "static" and len(step.series.get("load factor", ())) > 3 and not np.ptp(step.series["time"]):
            with suppress(ResultsError):  # no displacement was watched
                paths.append(plot_path(results, step.number, target / f"path-{label}.png"))
        elif step.type in ("modes", "buckling") and len(step.frame_times):
            paths.append(plot_shapes(results, step.number, target / f"shapes-{label}.png"))
    for sensor in results.header["sensors"]:
        if f"sensor/{sensor['name']}" in series:
            label = re.sub(r"[^A-Za-z0-9_+-]+", "_", sensor["name"]).strip("_")
            paths.append(plot_sensor(results, sensor["name"], target / f"sensor-{label}.png"))
    drawn = [s for s in results.steps if "displacement" in s.frames and s.type not in ("modes", "buckling")]
    if len(drawn) > 1 and any(is_continuum(block) for block in results.header["blocks"]):
        for step in drawn:
            label = f"{step.number + 1}-" + re.sub(r"[^A-Za-z0-9_+-]+", "_", step.name).strip("_")
            paths.append(plot_deformed(results, target / f"deformed-{label}.png", step=step.number))
    elif drawn:
        paths.append(plot_deformed(results, target / "deformed.png"))
    return paths


def animate(
    results: Results,
    path: str | Path,
    quantity: str | None = None,
    fps: int = 25,
    size: tuple[int, int] = (800, 500),
    *,
    step: int | None = None,
    trail: str | int | None = None,
    seconds: float = 8.0,
    mode: int | None = None,
    magnify: float = 1.0,
) -> Path:
    """Write an animation of a step as GIF or MP4, by the ending of `path`.

    `quantity` is what colours the model: an output of elements (by default a bending moment or an energy, if there is
    one), of solid and plane parts "von Mises" (their default), "stress xx" or "displacement"; "none" for plain lines.
    `trail` is a node whose path is drawn behind it, by name or number. At most `fps` * `seconds` frames are taken. MP4
    needs the program ffmpeg.

    Of a modal or buckling step one shape is shown swinging: number `mode`, counted from 1 (by default the first that is
    no rigid-body motion). Displacements are as they are, or `magnify` times as large.
    Raises ResultsError for an unknown ending, quantity, node or mode, and if ffmpeg is missing.
    """
    from fem_mbs.plot_animation import write_movie

    target = Path(path)
    item = _step_with_frames(results, step)
    node = results.node(trail) if trail is not None else None
    with _style():
        stage = Stage(results, item)
        count = stage.scene.frames
        take = np.unique(
            np.linspace(0, count - 1, min(count, max(2, round(fps * seconds)))).round().astype(int)
        ).tolist()
        swing = np.full(len(take), magnify)
        title = results.header["title"]
        if item.type in ("modes", "buckling"):
            shape = _shape(results, item, mode)
            stage.scene.swings = True
            length = max(2, round(fps * min(seconds, 2.0)))
            take, swing = [shape] * length, magnify * np.sin(2.0 * np.pi * np.arange(length) / length)
            title = ", ".join(word for word in (title, _shape_title(item, shape)) if word)
        elif mode is not None:
            raise ResultsError(f'Animation of step "{item.name}": it has no modes; leave mode out')
        stage.scene.magnify(magnify)
        shown = find_quantity(results, item, quantity)
        figure = _figure(size[0] / 100, size[1] / 100)
        title = textwrap.shorten(title, max(10, size[0] // 10 - 25), placeholder=" ...")
        stage.set_up(figure, sorted(set(take)), title=title, quantity=shown, times=False, fit=False)
        stage.draw_reference()

        def draw(number: int) -> list[Any]:
            stage.clear()
            stage.scene.magnify(swing[number])
            if node is not None:
                stage.draw_trail(node, take[: number + 1])
            stage.draw_frame(take[number])
            stage.draw_symbols(take[number])
            if not stage.scene.swings:
                stage.show_time(take[number])
            return stage.frame_artists()

        draw(0)
        stage.finish()
        stage.clear()
        write_movie(figure, draw, len(take), target, fps)
    return target


def _shape(results: Results, step: Step, mode: int | None) -> int:
    """Frame of a shape by its number, counted from 1."""
    count = len(step.frame_times)
    if mode is None:
        return min(int(step.summary.get("rigid_body_modes", 0)), count - 1)
    if not 1 <= mode <= count:
        raise ResultsError(f'Animation of step "{step.name}": there is no mode {mode}; give 1 to {count}')
    return mode - 1


def _shape_title(step: Step, shape: int) -> str:
    """Number of a shape and its frequency or load factor."""
    if "frequencies_hz" in step.summary:
        return f"{shape + 1}: {step.summary['frequencies_hz'][shape]:.5g} Hz"
    if "load_factors" in step.summary:
        return f"{shape + 1}: factor {step.summary['load_factors'][shape]:.5g}"
    return f"{step.name} {shape + 1}"
