"""Figure of wheels of equal sectors: frequencies by nodal diameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.steps.cyclic_modes import CyclicModesReport
from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_axis
from fem_mbs.plot.frequency.campbell import title_of
from fem_mbs.plot.model import plot_shapes
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style
from fem_mbs.results.modes.shapes import whole_wheel

if TYPE_CHECKING:
    from fem_mbs.results.reader import Results

__all__ = ["plot_diameters", "plot_wheel_shapes"]


def plot_wheel_shapes(results: Results, step: int, path: str | Path) -> Path:
    """Draw the first shapes of a step of modes by nodal diameters over the whole wheel.

    Raises ResultsError if the model has no cyclic symmetry.
    """
    return plot_shapes(whole_wheel(results), step, path)


def plot_diameters(results: Results, step: int, path: str | Path) -> Path:
    """Draw the frequencies of a step of modes by nodal diameters over these; modes of one number are joined.

    Raises ResultsError if the step has none.
    """
    item = results.steps[step]
    report = item.report_as(CyclicModesReport)
    if report is None or not report.frequencies_hz:
        raise ResultsError(f'{results.where}: step "{item.name}" holds no modes by nodal diameters')
    number, f = np.array(report.nodal_diameters), np.array(report.frequencies_hz)
    order = np.concatenate([np.arange(np.count_nonzero(number == n)) for n in np.unique(number)])
    with style(results):
        figure = make_figure(7.4, 4.2)
        axes = figure.subplots()
        for k in range(int(order.max()) + 1):
            mine = order == k
            axes.plot(number[mine], f[mine], "o-", lw=0.8, ms=4.0, color=COLOURS[k % len(COLOURS)], label=str(k + 1))
        axes.set_xticks(np.unique(number))
        axes.set_xlabel("Nodal diameter [-]")
        name_axis(axes.yaxis, "Frequency [Hz]", results.units)
        axes.set_title(title_of(results, item))
        axes.legend(title="Mode", loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)
        return save_figure(figure, path)
