"""Figures of rotors: the Campbell diagram, and the response to unbalance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.rotors.campbell import CampbellReport, CriticalSpeed
from fem_mbs.analysis.steps.rotors.unbalance import UnbalanceReport, WhirlAmplitude
from fem_mbs.declarations.steps import StepKind, recorded_kind, step_kinds
from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_axis
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.modes.eigenvalues import Branches, campbell_branches, damping_ratio, is_damped, unstable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.reader import Results
    from fem_mbs.units import Units

__all__ = ["UNSTABLE", "find_step", "outlined", "plot_campbell", "plot_unbalance", "title_of"]

_WHIRL = {
    "forward": "#0072B2", "backward": "#D55E00", "mixed": "#009E73", "collective": "#CC79A7", "differential": "#E69F00",
    "support": "#56B4E9", "none": "#777777",
}  # fmt: skip
_NAMES = {
    "forward": "forward whirl", "backward": "backward whirl", "mixed": "forward and backward",
    "collective": "collective", "differential": "differential", "support": "support", "none": "no whirl",
}  # fmt: skip
UNSTABLE = "#C2185B"  # the halo of what grows
_MOST_LISTED = 12  # critical speeds in the margin
_MOST_CURVES = 8  # of responses in one figure
_DIRECTIONS = {"major": "long half axis"}
_LINES = ("-", (0, (4, 2)), (0, (1, 1.5)), "-.")  # by direction: y and z of a round rotor lie on each other


def title_of(results: Results, step: Any) -> str:
    """Return the title of the model and the name of a step, for results on disk and in memory."""
    title = results.header["title"]
    return f"{title}: {step.name}" if title else step.name


def draws(item: Any, figures: str) -> bool:
    """Return whether the kind of a step has a figure; ``figures`` names its function in `fem_mbs.plot.figures`."""
    return _has(recorded_kind(item.type), figures)


def _has(kind: StepKind, figures: str) -> bool:
    return any(entry.endswith(f":{figures}") for entry in kind.figures)


def find_step(results: Results, step: int, figures: str) -> Any:
    """Return a step by its number; its kind must have a figure.

    Raises ResultsError if there is no such step, if it is of another kind, or has not ended.
    """
    where, item = results.where, results.step_at(step)
    if not draws(item, figures):
        known = ", ".join(f"{k}" for k, other in enumerate(results.steps) if draws(other, figures)) or "none"
        wanted = " or ".join(kind.name for kind in step_kinds().values() if _has(kind, figures))
        raise ResultsError(
            f'{where}: step {step} ("{item.name}") is of type {item.type}, not {wanted}; of that are {known}'
        )
    if not item.ended:
        raise ResultsError(f'{where}: step {step} ("{item.name}") has not come to its end; run it again')
    return item


# --- Campbell diagram ------------------------------------------------------------------------------------------------
def plot_campbell(results: Results, step: int, path: str | Path) -> Path:
    """Draw the frequencies of a step `campbell` over the speed: branches coloured by their whirl, lines of the orders
    of excitation, critical speeds numbered and listed; what is unstable has a halo.  Where there is damping, a second
    panel shows the damping ratios.

    Raises:
        ResultsError: the step is no Campbell diagram, or has no branches.
    """
    item = find_step(results, step, "campbell_figures")
    report = item.report_as(CampbellReport)
    assert report is not None  # of the kind, and ended: see find_step
    branches, whirl = campbell_branches(report)
    if not np.isfinite(branches.values).any():
        raise ResultsError(f'Figure: step "{item.name}" has found no eigenvalues to draw')
    # whatever never oscillates is no frequency: overdamped or at rest
    size = np.nanmax(np.abs(branches.values))
    moves = np.nanmax(np.nan_to_num(branches.values.imag), axis=0) > 1e-6 * size
    shown = Branches(branches.parameter, branches.label, branches.values[:, moves])
    whirl = whirl[:, moves]
    damped = is_damped(branches.values)
    with style(results):
        figure = make_figure(8.2, 6.2 if damped else 4.8)
        if damped:
            axes, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.5, 1.0))
        else:
            axes, lower = figure.subplots(), None
        top = _frequency_panel(axes, shown, whirl, report)
        if lower is not None:
            name_axis(lower.yaxis, _damping_panel(lower, branches, whirl, moves), results.units)
        name_axis((axes if lower is None else lower).xaxis, "Speed [rad/s]", results.units)
        if results.units.of("rad/s").unit == "rad/s":
            rpm = axes.secondary_xaxis("top", functions=(lambda w: w * 30.0 / np.pi, lambda n: n * np.pi / 30.0))
            rpm.set_xlabel("Speed [1/min]", labelpad=5.0)
            rpm.tick_params(colors="#555555")
        axes.set_ylim(0.0, top)
        name_axis(axes.yaxis, "Frequency [Hz]", results.units)
        if report.frame == "rotating":
            axes.set_ylabel(f"{axes.get_ylabel()},\nseen from the rotor")
        axes.set_title(title_of(results, item), pad=10.0)
        _campbell_legend(axes, shown, whirl, report, results.units)
        figure.align_ylabels()
        return save_figure(figure, path)


def _frequency_panel(axes: Axes, branches: Branches, whirl: np.ndarray, report: CampbellReport) -> float:
    """Draw branches, orders and critical speeds; return the upper limit of the frequencies [Hz]."""
    x, f = branches.parameter, branches.frequencies
    low, high = float(x.min()), float(x.max())
    top = 1.06 * float(np.nanmax(f, initial=0.0)) or 1.0
    grows = unstable(branches.values)
    for k in range(f.shape[1]):
        _whirl_line(axes, x, f[:, k], whirl[:, k], lw=1.7, zorder=4)
        halo = np.where(grows[:, k], f[:, k], np.nan)
        axes.plot(x, halo, color=UNSTABLE, lw=6.5, alpha=0.28, solid_capstyle="butt", zorder=2.5)
    for order in _orders(report):
        _order_line(axes, order, low, high, top)
    places: list[tuple[float, float, list[int]]] = []  # numbers of marks on each other share a label
    for number, critical in enumerate(report.critical_speeds or [], 1):
        at = critical.speed
        y = _order_of(critical) * at / (2.0 * np.pi)
        if not low <= at <= high:
            continue
        colour = _colour(critical.whirl)
        axes.plot(at, y, "o", ms=6.5, mfc="white", mec=colour, mew=1.6, zorder=6, clip_on=False)
        near = (p for p in places if np.hypot((p[0] - at) / (high - low), (p[1] - y) / top) < 0.025)
        place = next(near, None)
        if place is None:
            places.append((at, y, [number]))
        else:
            place[2].append(number)
    for at, y, numbers in places:
        if numbers[0] <= _MOST_LISTED:
            axes.annotate(
                ", ".join(map(str, numbers)), (at, y), (-6, 5), textcoords="offset points", fontsize=8.0, ha="right",
                color="#222222", zorder=7, **outlined(),
            )  # fmt: skip
    axes.set_xlim(low, high if high > low else low + 1.0)
    return top


def outlined(width: float = 2.2) -> dict[str, Any]:
    """Return the options of a text that stays readable on curves."""
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=width, foreground="white")]}


def _whirl_line(axes: Axes, x: np.ndarray, y: np.ndarray, whirl: np.ndarray, **options: Any) -> None:
    """Draw a curve, each half of a piece in the colour of its end."""
    from matplotlib.collections import LineCollection

    middle = np.column_stack(((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2))
    points = np.column_stack((x, y))
    pieces = np.concatenate((np.stack((points[:-1], middle), axis=1), np.stack((middle, points[1:]), axis=1)))
    colours = [_colour(word) for word in (*whirl[:-1], *whirl[1:])]
    fine = np.isfinite(pieces).all(axis=(1, 2))
    lines = LineCollection(pieces[fine], colors=[c for c, ok in zip(colours, fine, strict=True) if ok], **options)
    lines.set_capstyle("round")
    axes.add_collection(lines)


def _colour(whirl: str | None) -> str:
    return _WHIRL.get(whirl or "none", _WHIRL["none"])


def _order_of(critical: CriticalSpeed) -> float:
    return 1.0 if critical.order is None else critical.order


def _orders(report: CampbellReport) -> list[float]:
    """Return the orders of excitation, as often per turn in the frame of the eigenvalues; without any, once per turn in
    the fixed frame (unbalance), which rests in the rotating one."""
    found = {float(order) for order in report.orders or []}
    found |= {_order_of(critical) for critical in report.critical_speeds or []}
    return sorted(found) or [0.0 if report.frame == "rotating" else 1.0]


def _order_line(axes: Axes, order: float, low: float, high: float, top: float) -> None:
    """Draw f = order speed / 2 pi with its name; order 0 is the abscissa."""
    slope = order / (2.0 * np.pi)
    if slope == 0.0:
        return
    end = min(high, top / slope)
    axes.plot([low, end], [slope * low, slope * end], color="#555555", lw=0.9, ls=(0, (5, 3)), zorder=2)
    if slope * end > 0.12 * top:
        room = end - 0.012 * (high - low)
        axes.text(
            room, slope * room, f"{order:g}x", ha="right", va="bottom" if slope * end < 0.9 * top else "top",
            fontsize=8.0, color="#555555", zorder=5, **outlined(),
        )  # fmt: skip


def _damping_panel(axes: Axes, branches: Branches, whirl: np.ndarray, moves: np.ndarray) -> str:
    """Draw damping ratios in per cent, below zero the rotor is unstable; return the label of the ordinate.

    Draw growth rates where something grows without oscillating, since damping ratios do not show that.
    """
    x, values = branches.parameter, branches.values
    oscillates, grows = values.imag > 1e-6 * np.abs(values), unstable(values)
    rates = bool((grows & ~oscillates).any())
    measure = values.real if rates else 100.0 * damping_ratio(values)
    # overdamped roots are harmless, and would make the scale too large for the rest
    measure = np.where(oscillates | grows, measure, np.nan)
    if rates:
        measure = np.where(np.abs(values.real) <= 1e-6 * np.abs(values), 0.0, measure)
        measure[~(oscillates | grows)] = np.nan
    for number, k in enumerate(np.flatnonzero(moves)):
        _whirl_line(axes, x, measure[:, k], whirl[:, number], lw=1.5, zorder=4)
    axes.plot(x, np.where(grows, measure, np.nan), color=UNSTABLE, lw=1.5, zorder=5)
    drawn = measure[np.isfinite(measure)]
    low, high = float(np.min(drawn, initial=0.0)), float(np.max(drawn, initial=0.0))
    margin = 0.08 * (high - low) or 1.0
    low, high = low - margin, high + margin
    axes.axhspan(*((0.0, high) if rates else (low, 0.0)), color=UNSTABLE, alpha=0.07, lw=0.0, zorder=0)
    axes.axhline(0.0, color="#555555", lw=0.8, zorder=1)
    axes.set_ylim(low, high)
    return "Growth rate [1/s]" if rates else "Damping ratio [%]"


def _campbell_legend(axes: Axes, branches: Branches, whirl: np.ndarray, report: CampbellReport, units: Units) -> None:
    from matplotlib.lines import Line2D

    present = [word for word in _WHIRL if (whirl[np.isfinite(branches.values)] == word).any()]
    handles = [Line2D([], [], color=_WHIRL[word], lw=2.0, label=_NAMES[word]) for word in present]
    if unstable(branches.values).any():
        handles.append(Line2D([], [], color=UNSTABLE, lw=6.5, alpha=0.28, label="unstable"))
    if max(_orders(report)) > 0.0:
        handles.append(Line2D([], [], color="#555555", lw=0.9, ls=(0, (5, 3)), label="order of excitation"))
    criticals = report.critical_speeds or []
    if criticals:
        handles += [Line2D([], [], ls="", label=text) for text in ("", units.label("Critical speeds [rad/s]"))]
    several = len(_orders(report)) > 1
    for number, critical in enumerate(criticals[:_MOST_LISTED], 1):
        order = f" ({_order_of(critical):g}x)" if several else ""
        colour = _colour(critical.whirl)
        text = f"{number}: {units.of('rad/s')(critical.speed):.5g}{order}"
        handles.append(Line2D([], [], marker="o", ls="", ms=6.0, mfc="white", mec=colour, mew=1.5, label=text))
    if len(criticals) > _MOST_LISTED:
        handles.append(Line2D([], [], ls="", label=f"and {len(criticals) - _MOST_LISTED} more"))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)


# --- unbalance -------------------------------------------------------------------------------------------------------
def plot_unbalance(results: Results, step: int, path: str | Path) -> Path:
    """Draw amplitudes and phases of a step `unbalance` over the speed.  Critical speeds of a Campbell diagram of the
    same rotor are thin lines.

    Of more than eight responses only the long half axes of the orbits are drawn, of these the eight largest, which the
    legend tells.
    Raises ResultsError if the step is none of unbalance, or has no response.
    """
    item = find_step(results, step, "unbalance_figures")
    report = item.report_as(UnbalanceReport)
    assert report is not None  # of the kind, and ended: see find_step
    speeds = np.asarray(report.speeds, float)
    entries = [entry for entry in report.response or [] if len(entry.amplitude)]
    if not entries:
        raise ResultsError(f'Figure: step "{item.name}" has no response to draw: name nodes or sensors')
    chosen, left_out = _choose(entries)
    places = list(dict.fromkeys(entry.at for entry in chosen))
    directions = list(dict.fromkeys(entry.direction for entry in chosen))
    units = list(dict.fromkeys(_unit(entry) for entry in chosen))
    angles = any(entry.phase for entry in chosen)
    with style(results):
        figure = make_figure(8.2, 1.2 + 2.2 * len(units) + (1.8 if angles else 0.0))
        all_axes = np.atleast_1d(
            figure.subplots(len(units) + angles, 1, sharex=True, height_ratios=[1.6] * len(units) + [1.0] * angles)
        )
        panels, phases = all_axes[: len(units)], all_axes[-1] if angles else None
        for entry in chosen:
            at, direction = entry.at, entry.direction
            # one place: a colour per direction; else a colour per place, and lines by direction
            number = directions.index(direction) if len(places) == 1 else places.index(at)
            colour, ls = COLOURS[number % len(COLOURS)], _LINES[directions.index(direction) % len(_LINES)]
            amplitude = np.array(entry.amplitude, float)
            amplitude = np.where(amplitude > 0.0, amplitude, np.nan)
            label = f"{at}, {_DIRECTIONS.get(direction, direction)}" if direction else at
            panels[units.index(_unit(entry))].semilogy(speeds, amplitude, color=colour, ls=ls, label=label)
            if entry.phase:
                phase = np.where(np.isnan(amplitude), np.nan, np.rad2deg(np.array(entry.phase, float)))
                phases.plot(*_unwound(speeds, phase), color=colour, ls=ls)
        for unit, axes in zip(units, panels, strict=True):
            _decades(axes, [np.array(e.amplitude, float) for e in chosen if _unit(e) == unit])
            name_axis(axes.yaxis, f"Amplitude [{unit}]", results.units)
            more = f"and {left_out} smaller ones" if left_out and axes is panels[-1] else None
            axes.legend(
                loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=2.2, title=more,
                title_fontsize=8.0, alignment="left",
            )  # fmt: skip
        if phases is not None:
            phases.set_ylim(-190.0, 190.0)
            phases.set_yticks([-180, -90, 0, 90, 180])
            phases.set_ylabel("Phase [deg]")
        _mark_criticals(results, report, list(all_axes))
        panels[0].set_title(title_of(results, item))
        name_axis(all_axes[-1].xaxis, "Speed [rad/s]", results.units)
        all_axes[-1].set_xlim(float(speeds.min()), float(speeds.max()) if np.ptp(speeds) else float(speeds.min()) + 1.0)
        figure.align_ylabels()
        return save_figure(figure, path)


def _choose(entries: list[WhirlAmplitude]) -> tuple[list[WhirlAmplitude], int]:
    """Return the responses to draw and how many are left out: of many places the long half axes of the orbits only, and
    of these the largest; never what does not move."""
    if len(entries) > _MOST_CURVES:
        entries = [entry for entry in entries if entry.direction == "major"] or entries
    peaks = [float(np.nanmax(np.array(entry.amplitude, float), initial=0.0)) for entry in entries]
    order = sorted(range(len(entries)), key=lambda k: -peaks[k])[:_MOST_CURVES]
    chosen = [entries[k] for k in sorted(order) if peaks[k] > 1e-9 * max(peaks)] or [entries[order[0]]]
    return chosen, len(entries) - len(chosen)


def _unit(entry: WhirlAmplitude) -> str:
    return "rad" if entry.direction.startswith("r") else "m"


def _decades(axes: Axes, amplitudes: list[np.ndarray]) -> None:
    """Show at most five decades below the largest amplitude."""
    sizes = np.concatenate(amplitudes)
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    if sizes.size:
        top = float(sizes.max())
        axes.set_ylim(max(float(sizes.min()) * 0.7, 1e-5 * top), 1.6 * top)


def _unwound(x: np.ndarray, degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve of angles within +-180 degrees, interrupted where it jumps from one edge to the other."""
    wrapped = (degrees + 180.0) % 360.0 - 180.0
    jumps = np.flatnonzero(np.abs(np.diff(wrapped)) > 180.0) + 1
    return np.insert(x, jumps, np.nan), np.insert(wrapped, jumps, np.nan)


def _mark_criticals(results: Results, report: UnbalanceReport, panels: list[Axes]) -> None:
    speeds = report.speeds
    for other in results.steps:
        diagram = other.report_as(CampbellReport)
        if diagram is None or diagram.rotor != report.rotor:
            continue
        for critical in diagram.critical_speeds or []:
            if min(speeds) <= critical.speed <= max(speeds) and _order_of(critical) == 1.0:
                for axes in panels:
                    axes.axvline(critical.speed, color="#999999", lw=0.8, ls=(0, (2, 2)), zorder=1)
