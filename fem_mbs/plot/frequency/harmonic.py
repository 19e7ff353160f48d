"""Figures over the frequency: harmonic response of a sensor, transfer function and coherence of two sensors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_axis
from fem_mbs.plot.frequency.campbell import title_of
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fem_mbs.results.reader import Results

__all__ = ["plot_response", "plot_transfer"]

_DECADES = 1e-7  # of the largest amplitude, below which nothing is drawn
_LOG = 20.0  # ratio of the highest to the lowest frequency from which on the axis is logarithmic


def plot_response(results: Results, sensor: str, step: int, path: str | Path) -> Path:
    """Draw amplitudes (logarithmic) and phases of a sensor in a step of harmonic response.

    Raises ResultsError for an unknown sensor, or if the step has no response of it.
    """
    from fem_mbs.results.series import sensor_units

    item = results.steps[step]
    frequencies, values, columns = results.response(sensor, step)
    units = sensor_units(results.sensor_entry(sensor), len(columns))
    most = np.nanmax(np.abs(values), initial=0.0)
    if not most > 0.0:
        raise ResultsError(f'Figure: sensor "{sensor}" does not respond in step "{item.name}"')
    # one panel per unit: columns of a reaction are forces and moments
    panels = list(dict.fromkeys(units))
    with style(results):
        figure = make_figure(7.8, 2.6 + 2.2 * len(panels))
        axes = figure.subplots(len(panels) + 1, 1, sharex=True, height_ratios=[1.6] * len(panels) + [1.0])
        marker = "o" if len(frequencies) == 1 else ""
        for k, (name, unit, a) in enumerate(zip(columns, units, values.T, strict=True)):
            size = np.abs(a)
            among = max(float(np.abs(values[:, j]).max()) for j, u in enumerate(units) if u == unit)
            shown = np.where(size > _DECADES * among, size, np.nan)
            if not np.isfinite(shown).any():
                continue
            colour = COLOURS[k % len(COLOURS)]
            panel = axes[panels.index(unit)]
            panel.semilogy(frequencies, shown, color=colour, marker=marker, label=name)
            phase = np.where(np.isnan(shown), np.nan, np.rad2deg(np.angle(a)))
            axes[-1].plot(*_interrupted(frequencies, phase), color=colour, marker=marker)
        for unit, panel in zip(panels, axes[:-1], strict=True):
            name_axis(panel.yaxis, f"Amplitude [{unit}]" if unit else "Amplitude", results.units)
            if panel.get_lines():
                panel.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)
        _phase_axis(axes[-1])
        low, high = float(frequencies[0]), float(frequencies[-1])
        if low > 0.0 and high > _LOG * low:
            axes[-1].set_xscale("log")
        name_axis(axes[-1].xaxis, "Frequency [Hz]", results.units)
        axes[-1].set_xlim(low, high if high > low else low + 1.0)
        axes[0].set_title(f"{title_of(results, item)}, {sensor}")
        figure.align_ylabels()
        return save_figure(figure, path)


def plot_transfer(
    results: Results,
    sensor: str,
    excitation: str,
    path: str | Path,
    step: int | str | None = None,
    rows: int | None = None,
    column: str | None = None,
) -> Path:
    """Draw the transfer function H1 from one sensor to another, and their coherence.

    Args:
        sensor, excitation: names of sensors.
        step: number or name of a step in time; None: all of them.
        rows, column: as of `fem_mbs.results.series.Series.transfer`.

    Raises:
        ResultsError: as `Series.transfer`, or there is no such sensor or step.
    """
    y, x = results.sensor(sensor, step), results.sensor(excitation, step)
    h1, shared = y.transfer(x, rows, column=column), y.coherence(x, rows, column=column)
    inside = slice(1, None)  # windows remove the mean, so nothing is known at 0 Hz
    f = h1.t[inside]
    with style(results):
        figure = make_figure(7.8, 6.4)
        size, phase, coherence = figure.subplots(3, 1, sharex=True, height_ratios=(1.6, 1.0, 1.0))
        units = [results.units.of(unit) for unit in h1.units]
        for k, name in enumerate(h1.columns):
            a, colour = units[k](h1.values[inside, k]), COLOURS[k % len(COLOURS)]
            if np.abs(a).any():
                size.loglog(f, np.where(a != 0.0, np.abs(a), np.nan), color=colour, label=name)
                phase.plot(*_interrupted(f, np.rad2deg(np.angle(a))), color=colour)
            coherence.plot(f, shared.values[inside, k], color=colour)
        if len(h1.columns) > 1 and size.get_lines():
            size.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)
        names = ", ".join(dict.fromkeys(unit.unit for unit in units if unit.unit))
        size.set_ylabel(f"|H1| [{names}]" if names else "|H1|")
        _phase_axis(phase)
        coherence.set_ylabel("Coherence")
        coherence.set_ylim(0.0, 1.05)
        name_axis(coherence.xaxis, "Frequency [Hz]", results.units)
        coherence.set_xlim(f[0], f[-1])
        title = results.header["title"]
        size.set_title(f"{title}: {sensor} / {excitation}" if title else f"{sensor} / {excitation}")
        figure.align_ylabels()
        return save_figure(figure, path)


def _interrupted(x: np.ndarray, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve of phases [deg] that is interrupted where it jumps from one edge to the other."""
    jumps = np.flatnonzero(np.abs(np.diff(phase)) > 180.0) + 1
    return np.insert(x, jumps, np.nan), np.insert(phase, jumps, np.nan)


def _phase_axis(axes: Axes) -> None:
    axes.set_ylim(-190.0, 190.0)
    axes.set_yticks([-180, -90, 0, 90, 180])
    axes.set_ylabel("Phase [deg]")
