"""Draw quantities of a sweep's variants over the changed parameters, as lines or maps, and derivatives of sensors with
respect to parameters over the time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ResultsError
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.series import SLOPES, columns_of
from fem_mbs.sweeps.names import step_names
from fem_mbs.sweeps.table import SweepParameter, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.reader import Results
    from fem_mbs.sweeps.sensitivities import Sensitivities
    from fem_mbs.units import Units

__all__ = ["plot_held_sensitivities", "plot_sensitivities", "plot_sweep"]

_PANELS = 6  # unless quantities are chosen
_MOST_PANELS = 16
_MAP_FROM = 6  # values of both parameters from which two of numbers make a map
_MOST_LINES = 12  # with a name each
_FAILED = "#B22222"


def plot_sweep(table: SweepTable, path: str | Path, quantities: Sequence[str] | None = None) -> Path:
    """Draw quantities (names or patterns, by default the most telling ones that vary) over the swept parameter; a list
    such as frequencies in one panel.  Of several parameters the one with the most numbers is the axis, and there is a
    line for all values of the others; two parameters with at least six numbers each make maps.

    Raises ResultsError if no variant is done, or a pattern fits no quantity.
    """
    names = table.choose(quantities, _MOST_PANELS if quantities else 4 * _PANELS)
    if not names:
        raise ResultsError(f'Figure: no variant of the sweep "{table.directory}" has a quantity that varies')
    varied = table.varied
    mapped = not table.zipped and len(varied) == 2 and all(_fine(table.parameters[k]) for k in varied)
    along = max(varied, key=lambda k: _weight(table, k))
    single = table.zipped or len(varied) == 1
    families = _families(names) if single else [[name] for name in names]
    families = families[: _MOST_PANELS if quantities else _PANELS]
    columns = min(len(families), 3 if len(families) > 4 else 2)
    rows = -(-len(families) // columns)
    with style():
        figure = make_figure(max(5.2, 3.9 * columns) + (0.0 if single or mapped else 1.2), 0.5 + 2.8 * rows)
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, family in zip(panels.flat, families):
            if mapped:
                _map(figure, axes, table, family[0])
            else:
                _lines(axes, table, along, family)
            axes.set_title(_family_title(family), fontsize=9.0, weight="normal")
        for axes in panels.flat[len(families) :]:
            axes.set_axis_off()
        if not mapped and not single:
            handles, labels = panels.flat[0].get_legend_handles_labels()
            if handles and len(handles) <= _MOST_LINES + 1:
                others = [table.parameters[k].label for k in varied if k != along]
                figure.legend(handles, labels, loc="outside right upper", title=", ".join(others))
        figure.suptitle(table.title, x=0.01, ha="left", fontsize=10.0, weight="bold")
        return save_figure(figure, path)


def _fine(p: SweepParameter) -> bool:
    return p.numeric and len(p.values) >= _MAP_FROM


def _weight(table: SweepTable, k: int) -> tuple[bool, int, int]:
    """Return the rank of a parameter for the axis: numbers before words, then the one with most values, then the
    first."""
    p = table.parameters[k]
    return p.numeric, 0 if table.zipped else len(p.values), -k


def _families(names: list[str]) -> list[list[str]]:
    """Group members of one list into one panel."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(re.sub(r"_\d+$", "_", name), []).append(name)
    return list(found.values())


def _family_title(family: list[str]) -> str:
    return family[0] if len(family) == 1 else re.sub(r"_\d+$", "", family[0])


def _unit_label(table: SweepTable, name: str) -> str:
    unit = table.unit(name).unit
    return f"{_short(name)} [{unit}]" if unit else _short(name)


_EXTREMES = {"absmax": "largest |{}|", "max": "largest {}", "min": "smallest {}", "end": "last {}"}


def _short(name: str) -> str:
    rest, _, last = name.rpartition(".")
    if last in _EXTREMES:  # of a sensor, after the name of its step
        return _EXTREMES[last].format(rest.partition(".")[2] or rest)
    return re.sub(r"_\d+$", "", name.rpartition(".")[2]).replace("_", " ")


def _words(value: Any) -> str:
    return value if isinstance(value, str) else shown(value, 30)


# --- lines -----------------------------------------------------------------------------------------------------------
def _lines(axes: Axes, table: SweepTable, along: int, family: list[str]) -> None:
    parameter = table.parameters[along]
    if parameter.numeric:
        x = np.array([row.values[along] for row in table.rows], float)
    else:  # in the order in which they were given
        places = {_words(v): k for k, v in enumerate(parameter.values)}
        x = np.array([places[_words(row.values[along])] for row in table.rows], float)
    groups: dict[str, list[int]] = {}
    for k, row in enumerate(table.rows):
        rest = () if table.zipped else (row.values[n] for n in table.varied if n != along)
        groups.setdefault(", ".join(map(_words, rest)), []).append(k)
    colours = _colours(len(groups) if len(groups) > 1 else len(family))
    number = 0
    for label, members in groups.items():
        rows = np.array(members)[np.argsort(x[members], kind="stable")]
        for name in family:
            text = label if len(family) == 1 else re.search(r"\d+$", name)[0]
            marker: dict[str, Any] = {"marker": "o", "ms": 3.5} if len(rows) <= 60 else {}
            style_ = "-" if parameter.numeric else ":"
            axes.plot(
                x[rows],
                table.unit(name)(table.column(name)[rows]),
                style_,
                color=colours[number % len(colours)],
                label=text,
                **marker,
            )
            number += 1
    failed = np.array([row.status == "failed" for row in table.rows])
    if failed.any():
        there = np.unique(x[failed])
        axes.plot(
            there, np.zeros(len(there)), "x", color=_FAILED, ms=6.0, mew=1.5, clip_on=False, label="failed",
            transform=axes.get_xaxis_transform(), zorder=5,
        )  # fmt: skip
    if len(family) > 1 and len(family) <= _MOST_LINES:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.2)
    elif failed.any() and len(groups) == 1:
        axes.legend(loc="best", handlelength=1.2, handles=axes.get_lines()[-1:])
    if not parameter.numeric:
        axes.set_xticks(range(len(parameter.values)), [_words(v) for v in parameter.values])
        if max(len(_words(v)) for v in parameter.values) * len(parameter.values) > 40:
            axes.tick_params("x", rotation=30)
    else:
        axes.locator_params("x", nbins=7)
    axes.set_xlabel(parameter.path + ("".join(f", {p.label}" for p in table.parameters[1:]) if table.zipped else ""))
    axes.set_ylabel(_unit_label(table, family[0]))


def _colours(count: int) -> list[Any]:
    """Return the colours of lines: distinct ones for few lines, a scale for many."""
    import matplotlib as mpl

    return list(COLOURS) if count <= len(COLOURS) else list(mpl.colormaps["viridis"](np.linspace(0.0, 0.92, count)))


# --- maps ------------------------------------------------------------------------------------------------------------
def _map(figure: Any, axes: Axes, table: SweepTable, name: str) -> None:
    """Draw one quantity over two parameters; mark failed variants by a cross."""
    first, second = (table.parameters[k] for k in table.varied)
    shape = (len(first.values), len(second.values))
    x = np.array(first.values, float)
    y = np.array(second.values, float)
    z = np.ma.masked_invalid(table.unit(name)(table.column(name)).reshape(shape)).T
    order_x, order_y = np.argsort(x), np.argsort(y)
    z = z[np.ix_(order_y, order_x)]
    if z.count() == 0:
        axes.text(0.5, 0.5, "no values", ha="center", transform=axes.transAxes)
        return
    filled = axes.pcolormesh(x[order_x], y[order_y], z, shading="nearest", cmap="viridis", rasterized=True)
    if np.ptp(z.compressed()) > 0.0 and min(shape) > 1:
        lines = axes.contour(x[order_x], y[order_y], z, levels=7, colors="white", linewidths=0.8)
        axes.clabel(lines, fontsize=7.0, fmt="%.4g")
    bar = figure.colorbar(filled, ax=axes)
    bar.set_label(_unit_label(table, name))
    bar.outline.set_visible(False)
    failed = [[row.values[k] for k in table.varied] for row in table.rows if row.status == "failed"]
    if failed:
        axes.plot(*zip(*failed), "x", color=_FAILED, ms=5.0, mew=1.2)
    axes.grid(False)
    axes.set_xlabel(first.path)
    axes.set_ylabel(second.path)


def plot_sensitivities(found: Sensitivities, path: str | Path, quantities: Sequence[str] = ()) -> Path:
    """Draw relative sensitivities p dx/dp over the largest |x| of columns of sensors over the time, a line for each
    parameter p; the derivative itself of a parameter that is zero.

    Args:
        quantities: whose columns are drawn; none: those that depend most on the parameters.

    Raises:
        ResultsError: no column varies.
    """
    assert found.columns is not None
    columns = {name: (own.t, own.values, own.slopes) for name, own in found.columns.of.items()}
    return _plot_slopes(found.title, found.parameters, columns, path, quantities, found.solution.units)


def plot_held_sensitivities(results: Results, path: str | Path, quantities: Sequence[str] = ()) -> Path:
    """Draw the derivatives that results hold, as `plot_sensitivities` does.

    Raises:
        ResultsError: they hold none, or no column varies.
    """
    parameters, columns = results.sensitivity_parameters, {}
    steps = list(step_names(step.name for step in results.steps))
    for label, step in zip(steps, results.steps, strict=True):
        for header in results.header["sensors"] if SLOPES in step.info else []:
            own = results.sensor(header["name"], step.number)
            by = [results.sensitivity(header["name"], name, step.number).values for name in parameters]
            for k, column, _ in columns_of(header, own.values.shape[1]):
                good = np.isfinite(own.values[:, k])
                slopes = np.array([values[good, k] for values in by])
                columns[f"{label}.{column}"] = np.asarray(own.t)[good], np.asarray(own.values)[good, k], slopes
    return _plot_slopes(str(results.header["title"]), parameters, columns, path, quantities, results.units)


def _plot_slopes(
    title: str, parameters: Mapping[str, float],
    columns_by_name: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], path: str | Path,
    quantities: Sequence[str], units: Units,
) -> Path:  # fmt: skip
    """Draw derivatives (n_par, n) of columns with values (n,) at t (n,)."""
    time = units.of("s")
    scales = np.array([v or 1.0 for v in parameters.values()])
    relative = {}
    for name, (t, values, slopes) in columns_by_name.items():
        size = float(np.abs(values).max(initial=0.0))
        if size > 0.0 and len(t) > 1 and np.ptp(t) > 0.0:
            relative[name] = t, slopes * scales[:, None] / size
    asked = [name for name in relative if any(q.startswith((f"{name}.", f"{name}@")) for q in quantities)]
    largest = {name: float(np.abs(lines).max(initial=0.0)) for name, (_, lines) in relative.items()}
    names = asked or [name for name in sorted(relative, key=lambda n: -largest[n]) if largest[name] > 0.0]
    names = names[:_PANELS]
    if not names:
        raise ResultsError("Figure: no sensor over time depends on the parameters")
    columns = min(len(names), 2)
    rows = -(-len(names) // columns)
    with style():
        figure = make_figure(max(5.2, 4.2 * columns) + 1.2, 0.6 + 2.6 * rows)
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, name in zip(panels.flat, names):
            t, lines = relative[name]
            for k, line in enumerate(lines):
                label = list(parameters)[k]
                axes.plot(time(t), line, color=COLOURS[k % len(COLOURS)], label=label)
            axes.set_title(name, fontsize=9.0, weight="normal")
            axes.set_xlabel(f"Time [{time.unit}]")
            axes.set_ylabel("Relative sensitivity [-]")
        for axes in panels.flat[len(names) :]:
            axes.set_axis_off()
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.0, weight="bold")
        return save_figure(figure, path)
