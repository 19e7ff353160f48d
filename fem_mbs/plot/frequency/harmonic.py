"""Figures of harmonic response: amplitudes and phases of a sensor over the frequency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_axis
from fem_mbs.plot.frequency.campbell import title_of
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style

if TYPE_CHECKING:
    from fem_mbs.results.reader import Results

__all__ = ["plot_response"]

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
            # interrupted where it jumps from one edge to the other
            jumps = np.flatnonzero(np.abs(np.diff(phase)) > 180.0) + 1
            x, y = (np.insert(v, jumps, np.nan) for v in (frequencies, phase))
            axes[-1].plot(x, y, color=colour, marker=marker)
        for unit, panel in zip(panels, axes[:-1], strict=True):
            name_axis(panel.yaxis, f"Amplitude [{unit}]" if unit else "Amplitude", results.units)
            if panel.get_lines():
                panel.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)
        axes[-1].set_ylim(-190.0, 190.0)
        axes[-1].set_yticks([-180, -90, 0, 90, 180])
        axes[-1].set_ylabel("Phase [deg]")
        low, high = float(frequencies[0]), float(frequencies[-1])
        if low > 0.0 and high > _LOG * low:
            axes[-1].set_xscale("log")
        name_axis(axes[-1].xaxis, "Frequency [Hz]", results.units)
        axes[-1].set_xlim(low, high if high > low else low + 1.0)
        axes[0].set_title(f"{title_of(results, item)}, {sensor}")
        figure.align_ylabels()
        return save_figure(figure, path)
