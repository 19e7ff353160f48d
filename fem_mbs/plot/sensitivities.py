"""Draw derivatives of sensors with respect to parameters over the time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.plot.style import COLOURS, make_figure, save_figure, style

if TYPE_CHECKING:
    from fem_mbs.sweeps.sensitivities import Sensitivities

__all__ = ["plot_sensitivities"]

_PANELS = 6


def plot_sensitivities(found: Sensitivities, path: str | Path, quantities: Sequence[str] = ()) -> Path:
    """Draw relative sensitivities p dx/dp over the largest |x| of columns of sensors over the time, a line for each
    parameter p; the derivative itself of a parameter that is zero.

    Args:
        quantities: whose columns are drawn; none: those that depend most on the parameters.

    Raises:
        ResultsError: no column varies.
    """
    assert found.columns is not None
    values = np.array([v or 1.0 for v in found.parameters.values()])
    relative = {}
    for name, column in found.columns.of.items():
        size = float(np.abs(column.values).max(initial=0.0))
        if size > 0.0 and len(column.t) > 1 and np.ptp(column.t) > 0.0:
            relative[name] = column.t, column.slopes * values[:, None] / size
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
                label = list(found.parameters)[k]
                axes.plot(t, line, color=COLOURS[k % len(COLOURS)], label=label)
            axes.set_title(name, fontsize=9.0, weight="normal")
            axes.set_xlabel("Time [s]")
            axes.set_ylabel("Relative sensitivity [-]")
        for axes in panels.flat[len(names) :]:
            axes.set_axis_off()
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper")
        figure.suptitle(found.title, x=0.01, ha="left", fontsize=10.0, weight="bold")
        return save_figure(figure, path)
