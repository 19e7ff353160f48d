"""Draw eigenvalues in the complex plane or along a path, and stability maps over two parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.complex_modes import ComplexModesReport
from fem_mbs.analysis.steps.rotors.campbell import CampbellReport
from fem_mbs.analysis.steps.stability_map import MapParameter, StabilityMapReport
from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_axis, name_bar
from fem_mbs.plot.frequency.campbell import UNSTABLE, draws, find_step, outlined, title_of
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.modes.eigenvalues import (
    Branches,
    Onset,
    as_complex,
    campbell_branches,
    eigenvalue_path,
    is_damped,
    onsets,
    parameter_label,
    unstable,
    upper_half,
)
from fem_mbs.units import Shown, Units, split_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.reader import Results

__all__ = ["plot_eigenvalues", "plot_roots", "plot_stability_map"]

_RATIOS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of damping, as rays
_MOST_RAYS = 4
_MOST_NUMBERS = 30  # of roots that get one


# --- the complex plane -----------------------------------------------------------------------------------------------
def plot_roots(results: Results, step: int, path: str | Path) -> Path:
    """Draw eigenvalues in the complex plane, growth rate over frequency, with rays of equal damping ratio: of a step of
    complex modes a point each, with its number; of a Campbell diagram, or a step that has looked for eigenvalues along
    its way, a curve each (root locus), coloured by speed, load factor or time.

    Raises ResultsError if the step has no eigenvalues.
    """
    item = results.steps[step]
    if draws(item, "roots_figures"):
        find_step(results, step, "roots_figures")
        modes = item.report_as(ComplexModesReport)
        values = upper_half(as_complex(modes.eigenvalues if modes is not None else []))
        branches, rigid = None, modes.rigid_body_modes or 0 if modes is not None else 0
    else:
        diagram, rigid = item.report_as(CampbellReport), 0
        branches = eigenvalue_path(item) if diagram is None else campbell_branches(diagram)[0]
        values = branches.values if branches is not None else np.empty(0, complex)
    if not np.isfinite(values).any():
        raise ResultsError(f'Figure: step "{item.name}" has no eigenvalues to draw')
    with style(results):
        figure = make_figure(7.4, 4.6)
        axes = figure.subplots()
        _plane(axes, values[np.isfinite(values)])
        if branches is None:
            _points(axes, values, rigid)
        else:
            _locus(figure, axes, branches, results.units)
        axes.set_title(title_of(results, item))
        name_axis(axes.xaxis, "Growth rate Re p [1/s]", results.units)
        name_axis(axes.yaxis, "Frequency Im p / 2π [Hz]", results.units)
        return save_figure(figure, path)


def _plane(axes: Axes, values: np.ndarray) -> None:
    """Set the limits, shade the unstable half, draw rays of equal damping ratio."""
    top = float(values.imag.max(initial=0.0)) / (2.0 * np.pi)
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    low, high = float(values.real.min(initial=0.0)), float(values.real.max(initial=0.0))
    if high - low < 1e-3 * size:  # undamped: rounding is not to be looked at
        low, high = min(low, -1e-3 * size), max(high, 1e-3 * size)
    margin = 0.09 * (high - low)
    low, high = low - margin, high + 1.5 * margin
    top = 1.1 * top if top > 1e-6 * size else size / (2.0 * np.pi)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.03 * top, top)
    axes.axvspan(0.0, high, color=UNSTABLE, alpha=0.07, lw=0.0, zorder=0)
    axes.text(high, top, "unstable ", ha="right", va="top", fontsize=8.0, color=UNSTABLE)
    axes.axvline(0.0, color="#555555", lw=0.8, zorder=1)
    # rays well apart: each reaches the upper edge left of the one before, or the left edge below it
    drawn, last = 0, 0.0
    for ratio in _RATIOS:
        slope = 2.0 * np.pi * ratio / np.sqrt(1.0 - ratio**2)  # |Re| per Hz
        x, y = (-slope * top, top) if slope * top < -low else (low, -low / slope)
        place = np.arctan2(-x / (high - low), y / top)  # angle in the picture
        if place - last < 0.13 or drawn == _MOST_RAYS:
            continue
        drawn, last = drawn + 1, place
        axes.plot([0.0, x], [0.0, y], color="#bbbbbb", lw=0.8, ls=(0, (4, 3)), zorder=1)
        text = f"{100.0 * ratio:g} %"
        axes.text(0.97 * x, 0.97 * y, text, fontsize=7.5, color="#888888", ha="center", va="top", **outlined())


def _points(axes: Axes, values: np.ndarray, rigid: int) -> None:
    """Draw eigenvalues (k,) with their numbers."""
    grows = unstable(values)
    for mask, colour in ((~grows, COLOURS[0]), (grows, UNSTABLE)):
        chosen = np.flatnonzero(mask & np.isfinite(values))
        chosen = chosen[chosen >= rigid]
        axes.plot(
            values[chosen].real, values[chosen].imag / (2.0 * np.pi), "x", ms=6.5, mew=1.8, color=colour, zorder=4
        )
    if rigid:
        axes.plot(0.0, 0.0, "o", ms=6.0, mfc="white", mec="#555555", mew=1.4, zorder=4)
    places: dict[tuple[int, int], list[int]] = {}
    spans = np.array([np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())])
    for k in np.flatnonzero(np.isfinite(values))[:_MOST_NUMBERS]:
        # numbers of roots that lie on each other share a label
        here = np.array([values[k].real, values[k].imag / (2.0 * np.pi)]) / spans
        near = (key for key in places if np.hypot(key[0] / 60 - here[0], key[1] / 60 - here[1]) < 0.025)
        places.setdefault(next(near, (round(60 * here[0]), round(60 * here[1]))), []).append(int(k))
    for members in places.values():
        at = values[members[0]]
        text = ", ".join(str(k + 1) for k in members[:4]) + (" ..." if len(members) > 4 else "")
        if rigid and members[0] < rigid:
            text = f"1 to {rigid}: rigid-body" if rigid > 1 else "1: rigid-body"
        axes.annotate(
            text, (at.real, at.imag / (2.0 * np.pi)), (6, 4), textcoords="offset points", fontsize=8.0, zorder=5,
            **outlined(),
        )  # fmt: skip


def _locus(figure: Any, axes: Axes, branches: Branches, units: Units) -> None:
    """Draw curves of eigenvalues coloured by the parameter: a ring where they begin, a dot where they end."""
    import matplotlib as mpl
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    rows = np.arange(len(branches.parameter))
    x = branches.parameter
    norm = Normalize(float(x.min()), float(x.max()) if np.ptp(x) else float(x.min()) + 1.0)
    scale = mpl.cm.ScalarMappable(norm, mpl.colormaps["viridis"])
    for column in branches.values.T:
        points = np.column_stack((column.real, column.imag / (2.0 * np.pi)))
        have = rows[np.isfinite(points).all(axis=1)]
        if not len(have):
            continue
        pieces = np.stack((points[have[:-1]], points[have[1:]]), axis=1)
        colours = scale.to_rgba((x[have[:-1]] + x[have[1:]]) / 2.0)
        axes.add_collection(LineCollection(pieces, colors=colours, linewidths=2.0, zorder=3, capstyle="round"))
        for row, fill in ((have[0], "white"), (have[-1], scale.to_rgba(x[have[-1]]))):
            axes.plot(*points[row], "o", ms=4.5, mfc=fill, mec=scale.to_rgba(x[row]), mew=1.3, zorder=4)
    bar = figure.colorbar(scale, cax=axes.inset_axes((1.03, 0.0, 0.025, 1.0)))
    name_bar(bar, branches.label, units)
    bar.outline.set_visible(False)


# --- along a way -----------------------------------------------------------------------------------------------------
def plot_eigenvalues(results: Results, step: int, path: str | Path) -> Path:
    """Draw frequencies over the load factor or time of a step that has computed eigenvalues along its path. Draw growth
    rates below if motions grow or are damped. Mark the onset of flutter and divergence.

    Raises ResultsError if the step has no eigenvalues along its way.
    """
    item = results.steps[step]
    branches = eigenvalue_path(item)
    if branches is None:
        raise ResultsError(
            f'Figure: step "{item.name}" has no eigenvalues along its way: give it eigenvalues = {{...}}'
        )
    x, f = branches.parameter, branches.frequencies
    found = onsets(branches)
    damped = is_damped(branches.values)
    grows = unstable(branches.values)
    with style(results):
        figure = make_figure(7.4, 5.8 if damped else 4.2)
        if damped:
            upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
        else:
            upper, lower = figure.subplots(), None
        for k in range(f.shape[1]):
            colour = COLOURS[k % len(COLOURS)]
            curve = _with_onsets(branches, k, found)
            harm = np.where(curve[3], curve[1], np.nan)
            upper.plot(curve[0], curve[1], lw=1.5, color=colour, zorder=3)
            upper.plot(curve[0], harm, color=UNSTABLE, lw=6.5, alpha=0.28, zorder=2, solid_capstyle="butt")
            if lower is not None:
                lower.plot(curve[0], curve[2], lw=1.5, color=colour, zorder=3)
            if len(x) <= 60:  # where they were computed
                upper.plot(x, f[:, k], ".", ms=4.0, color=colour, zorder=3)
                if lower is not None:
                    lower.plot(x, _without_noise(branches.values[:, k]), ".", ms=4.0, color=colour, zorder=3)
        highest = float(np.nanmax(f, initial=0.0))
        upper.set_ylim(-0.02 * highest if highest else -1.0, 1.08 * highest or 1.0)
        name_axis(upper.yaxis, "Frequency [Hz]", results.units)
        upper.set_title(title_of(results, item))
        if lower is not None:
            lower.axhline(0.0, color="#555555", lw=0.8, zorder=1)
            bottom, top = lower.get_ylim()
            lower.axhspan(0.0, max(top, 0.0) * 2.0 + 1e-300, color=UNSTABLE, alpha=0.07, lw=0.0, zorder=0)
            lower.set_ylim(bottom, max(top, 0.08 * (top - bottom)))
            name_axis(lower.yaxis, "Growth rate [1/s]", results.units)
        name_axis((upper if lower is None else lower).xaxis, branches.label, results.units)
        span = float(np.ptp(x)) or 1.0
        upper.set_xlim(float(x.min()) - 0.01 * span, float(x.max()) + 0.01 * span)
        for onset in found:
            marker = "o" if onset.kind == "flutter" else "s"
            upper.plot(onset.at, onset.frequency, marker, ms=6.0, mfc="white", mec="#222222", mew=1.4, zorder=5)
        _onset_legend(upper, found, bool(grows.any()), results.units.of(split_unit(branches.label)[1]))
        figure.align_ylabels()
        return save_figure(figure, path)


def _without_noise(values: np.ndarray) -> np.ndarray:
    """Return growth rates with those of the size of rounding set to zero."""
    return np.where(np.abs(values.real) <= 1e-6 * np.abs(values), 0.0, values.real)


def _with_onsets(branches: Branches, k: int, found: list[Onset]) -> tuple[np.ndarray, ...]:
    """Return parameter, frequency [Hz], growth rate [1/s] and instability (bool) along a branch, including the points
    of onset between its rows."""
    x, f, growth = branches.parameter, branches.frequencies[:, k], _without_noise(branches.values[:, k])
    grows = unstable(branches.values)[:, k]
    for onset in reversed(found):  # from the end: rows before keep their numbers
        if k in (onset.branch, onset.partner):
            x, f = np.insert(x, onset.row, onset.at), np.insert(f, onset.row, onset.frequency)
            growth, grows = np.insert(growth, onset.row, 0.0), np.insert(grows, onset.row, k == onset.branch)
    return x, f, growth, grows


def _onset_legend(axes: Axes, found: list[Onset], grows: bool, shown: Shown) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=UNSTABLE, lw=6.5, alpha=0.28, label="unstable")] if grows else []
    for onset in found[:8]:
        marker = "o" if onset.kind == "flutter" else "s"
        text = f"{onset.kind} {'up to' if onset.ends else 'from'} {shown(onset.at):.4g}"
        handles.append(Line2D([], [], marker=marker, ls="", ms=6.0, mfc="white", mec="#222222", mew=1.4, label=text))
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)


# --- maps ------------------------------------------------------------------------------------------------------------
def plot_stability_map(results: Results, step: int, path: str | Path) -> Path:
    """Draw the largest growth rate over two parameters, with the boundary between stable and unstable; divergence
    (what grows does not oscillate) is hatched.  Points without a state stay empty; points of the boundary that were
    sought by halving are dots.  A step that asks what = "frequency" has the frequency of what grows most as its colour.
    A map over one parameter is drawn as eigenvalues along a way.

    Raises ResultsError if the step is no stability map, or its table does not fit its parameters.
    """
    item = find_step(results, step, "map_figures")
    report = item.report_as(StabilityMapReport)
    if report is not None and len(report.parameters or []) == 1:
        return plot_eigenvalues(results, step, path)
    (first, second), growth, frequency = _table(item.name, report)
    x, y = np.asarray(first.values), np.asarray(second.values)
    known = growth[np.isfinite(growth)]
    if not known.size:
        raise ResultsError(f'Figure: step "{item.name}" has found no eigenvalue at any point')
    size = max(float(np.abs(known).max()), 2.0 * np.pi * float(np.nanmax(np.abs(frequency), initial=0.0)), 1e-300)
    growth = np.where(np.abs(growth) <= 1e-6 * size, 0.0, growth)  # rounding is not growth
    field, bend = _through_zero(growth)
    with style(results):
        figure = make_figure(7.4, 4.8)
        axes = figure.subplots()
        axes.set_facecolor("#f4f4f4")  # points without a state
        if report is not None and report.what == "frequency" and np.isfinite(frequency).any():
            _map_frequencies(figure, axes, x, y, frequency, results.units)
        else:
            _map_colours(figure, axes, x, y, growth, field, bend, results.units)
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        if np.nanmin(field) < 0.0 < np.nanmax(field):
            axes.contour(x, y, field.T, levels=[0.0], colors="#111111", linewidths=1.8, zorder=4)
        _map_regions(axes, x, y, growth, frequency, field, size)
        for place in (report and report.boundary) or []:
            axes.plot(*place, ".", ms=5.0, color="#111111", zorder=5)
        axes.set_title(title_of(results, item))
        name_axis(axes.xaxis, parameter_label(first), results.units)
        name_axis(axes.yaxis, parameter_label(second), results.units)
        axes.grid(False)
        return save_figure(figure, path)


def _through_zero(growth: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return a field (n, m) that passes through zero where the growth rate g does, more evenly, and its function of g.

    Beyond a loss of stability g goes as a root, before it g is flat at -d (d: damping): for one degree of freedom
    g (g + 2 d) is the negative stiffness, linear in a load.  Where g is flat that goes on straight from beyond.
    """
    d = float(-np.nanmin(growth, initial=0.0))
    d = min(d, 0.5 * float(np.nanmax(growth, initial=0.0))) or d

    def bend(g: np.ndarray) -> np.ndarray:
        return g * (np.abs(g) + 2.0 * d)

    field = bend(growth)
    most = float(np.nanmax(np.abs(field), initial=0.0))
    grows = np.nan_to_num(growth) > 0.0
    flat = np.maximum(-growth, 0.0)  # the damping here
    straight = np.full((4, *growth.shape), np.nan)  # from each side
    for k, (side, axis) in enumerate(((1, 0), (-1, 0), (1, 1), (-1, 1))):
        one, two = _shifted(growth, side, axis), _shifted(growth, 2 * side, axis)
        # far more than it changes on this side
        jump = (one - growth > 4.0 * np.abs(growth - _shifted(growth, -side, axis))) & (one > 0.0) & ~grows
        near, far = one * (one + 2.0 * flat), two * (two + 2.0 * flat)
        gap = np.where(far > near, far - near, np.nan)
        share = np.clip(np.where(np.isnan(gap), 0.5, near / gap), 0.02, 0.98)  # of the way from beyond
        smooth = np.where((one > 0.0) & ~grows, field, np.nan)
        straight[k] = np.where(jump, -bend(one) * (1.0 - share) / share, smooth)
    found = np.where(np.isnan(straight), -np.inf, straight).max(axis=0)
    field = np.where(np.isfinite(found), found, field)
    return np.where(~grows & np.isfinite(field), np.minimum(field, -1e-6 * most), field), bend


def _shifted(field: np.ndarray, by: int, axis: int) -> np.ndarray:
    """Return the values `by` places farther along an axis, NaN beyond the edge."""
    padded = np.pad(field, [(2, 2) if k == axis else (0, 0) for k in range(2)], constant_values=np.nan)
    return np.take(padded, np.arange(field.shape[axis]) + 2 + by, axis)


def _table(name: str, report: StabilityMapReport | None) -> tuple[list[MapParameter], np.ndarray, np.ndarray]:
    """Return parameters with their values ascending, and growth rates [1/s] and frequencies [Hz] as tables (n, m).

    n and m are the numbers of values of the first and the second parameter.
    """
    given = (report and report.parameters) or []
    growth = np.array((report and report.growth) or [], float)
    shape = tuple(len(p.values) for p in given)
    if len(given) != 2 or growth.shape != shape or min(shape) < 2:
        raise ResultsError(
            f'Figure: step "{name}" has growth rates of shape {growth.shape} for parameters of {shape} values: a '
            "map needs two parameters of at least two values each"
        )
    frequency = np.array((report and report.frequency) or np.full(shape, np.nan), float)
    parameters = []
    for axis, parameter in enumerate(given):
        values = np.asarray(parameter.values, float)
        order = np.argsort(values)
        growth, frequency = np.take(growth, order, axis), np.take(frequency, order, axis)
        parameters.append(replace(parameter, values=values[order].tolist()))
    return parameters, growth, frequency


def _map_colours(
    figure: Any,
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    growth: np.ndarray,
    field: np.ndarray,
    bend: Callable,
    units: Units,
) -> None:
    """Fill growth in reds and decay in blues on one scale; very small damping in one pale blue."""
    import matplotlib as mpl
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.ticker import MaxNLocator

    low, high = min(float(np.nanmin(growth)), 0.0), max(float(np.nanmax(growth)), 0.0)
    most = max(-low, high) or 1.0
    above = np.asarray(MaxNLocator(10).tick_values(0.0, high) if high > 0.0 else [])
    below = np.asarray(MaxNLocator(10).tick_values(low, 0.0) if -low > 0.05 * most else [])
    below, above = below[below < 0.0], above[above > 0.0]
    reds, blues = mpl.colormaps["Reds"], mpl.colormaps["Blues"]
    levels = np.concatenate((below, [0.0], above))
    middles = (levels[1:] + levels[:-1]) / 2.0
    colours = [(reds if m > 0.0 else blues)(0.08 + 0.85 * abs(m) / most) for m in middles]
    bounds = bend(levels)
    if not below.size:
        colours, bounds = ["#dbe9f6", *colours], np.concatenate(([-np.inf], bounds))
    else:
        bounds[0] = -np.inf
    if above.size:
        bounds[-1] = np.inf
    finite = np.nan_to_num(np.clip(bounds, -1e300, 1e300))
    filled = axes.contourf(x, y, np.ma.masked_invalid(field).T, levels=finite, colors=colours, zorder=1)
    filled.set_edgecolor("face")  # no hair lines between the colours
    if len(levels) < 2:
        return  # stable everywhere
    shown = levels if below.size else np.concatenate(([-(levels[1] - levels[0])], levels))
    scale = mpl.cm.ScalarMappable(BoundaryNorm(shown, len(colours)), ListedColormap(colours))
    bar = figure.colorbar(scale, ax=axes, aspect=26, pad=0.02, ticks=levels, spacing="proportional")
    bar.minorticks_off()
    name_bar(bar, "Largest growth rate [1/s]", units)
    bar.outline.set_visible(False)


def _map_frequencies(
    figure: Any, axes: Axes, x: np.ndarray, y: np.ndarray, frequency: np.ndarray, units: Units
) -> None:
    """Fill by the frequency of the mode of largest growth rate."""
    from matplotlib.ticker import MaxNLocator

    most = float(np.nanmax(frequency)) or 1.0
    levels = MaxNLocator(12).tick_values(0.0, most)
    filled = axes.contourf(x, y, np.ma.masked_invalid(frequency).T, levels=levels, cmap="viridis", zorder=1, alpha=0.75)
    bar = figure.colorbar(filled, ax=axes, aspect=26, pad=0.02)
    name_bar(bar, "Frequency of what grows most or decays least [Hz]", units)
    bar.outline.set_visible(False)


def _map_regions(
    axes: Axes, x: np.ndarray, y: np.ndarray, growth: np.ndarray, frequency: np.ndarray, field: np.ndarray, size: float
) -> None:
    """Hatch regions of divergence, and name the regions."""
    import matplotlib as mpl
    from scipy.ndimage import distance_transform_edt

    grows = np.isfinite(growth) & (growth > 0.0)
    still = np.abs(2.0 * np.pi * frequency) <= 1e-3 * np.maximum(np.abs(growth), 1e-6 * size)
    divergence = grows & np.isfinite(frequency) & still
    if divergence.any():
        # up to the boundary: each stable point takes the kind of the nearest unstable one
        nearest = tuple(distance_transform_edt(~grows, return_distances=False, return_indices=True))
        inside = np.where(divergence[nearest], field, -np.abs(field))
        with mpl.rc_context({"hatch.color": "#7a1240", "hatch.linewidth": 0.7}):
            axes.contourf(
                x, y, np.ma.masked_invalid(inside).T, levels=[0.0, 1e9], colors="none", hatches=["///"], zorder=2
            )
    stable = np.isfinite(growth) & ~grows
    for mask, word in ((stable, "stable"), (grows & ~divergence, "flutter"), (divergence, "divergence")):
        place = _middle_of(mask)
        if place is not None:
            axes.text(
                x[place[0]], y[place[1]], word, ha="center", va="center", fontsize=9.0, fontweight="bold",
                color="#222222", zorder=5, **outlined(3.0),
            )  # fmt: skip


def _middle_of(mask: np.ndarray) -> tuple[int, int] | None:
    """Return the point of a region farthest from other regions and edges; None if the region is too small for a
    label."""
    from scipy.ndimage import distance_transform_edt

    framed = np.pad(mask, 1)
    if mask.sum() < 0.02 * mask.size or distance_transform_edt(framed).max() < 1.9:
        return None
    distance = distance_transform_edt(framed, sampling=[1.0 / n for n in mask.shape])[1:-1, 1:-1]
    place = np.unravel_index(int(np.argmax(distance)), mask.shape)
    return int(place[0]), int(place[1])
