"""Pictures of the validation report, as SVG: models, and curves against published ones, time or step size."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.plot.axes import plain_numbers
from fem_mbs.plot.series import thin
from fem_mbs.plot.style import DPI, save_figure
from fem_mbs.plot.style import style as figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from fem_mbs.model.model import Model

__all__ = ["draw_curves", "draw_model"]

_LINES: dict[str, dict[str, Any]] = {
    "-": {"linestyle": "-"},
    "--": {"linestyle": (0, (5, 2.5)), "linewidth": 1.3},
    ":": {"linestyle": (0, (1, 2)), "linewidth": 1.3},
    "o": {"linestyle": "none", "marker": "o", "markersize": 4.5},
    "o-": {"linestyle": "-", "marker": "o", "markersize": 4.5},
}

_POINTS = 1500  # of a curve: four on a point of the paper
_MARGIN = 3.0  # around what is drawn [points]


def draw_curves(
    title: str,
    curves: Sequence[tuple[np.ndarray, np.ndarray, str, str]],
    x: str,
    y: str,
    scale: str = "linear",
    equal: bool = False,
    size: tuple[float, float] = (6.2, 3.7),
) -> bytes:
    """Return one pair of axes as SVG.

    Args:
        title: above the axes.
        curves: (x (n,), y (n,), label, style) with style "-", "--", ":", "o", "o-" or "bar" (bars, as wide as there is
            room between those of all curves); empty label: not in the legend.
        x, y: labels of the axes.
        scale: "linear", "log" (ordinate) or "loglog".
        equal: the same unit on both axes (trajectories).
        size: [inch].

    Raises:
        ModelError: an unknown style or scale, or a curve whose x and y differ in length.
    """
    if scale not in ("linear", "log", "loglog"):
        raise ModelError(f'Figure "{title}": scale {scale!r} must be "linear", "log" or "loglog"')
    from matplotlib.figure import Figure

    with figure_style():
        figure = Figure(figsize=size)
        axes = figure.add_axes((0.1, 0.14, 0.88, 0.76))
        for abscissa, ordinate, label, style in curves:
            if style not in (*_LINES, "bar"):
                names = ", ".join(map(repr, (*_LINES, "bar")))
                raise ModelError(f'Figure "{title}": style {style!r} must be one of {names}')
            a, b = np.asarray(abscissa, float), np.asarray(ordinate, float)
            if a.shape != b.shape or a.ndim != 1:
                raise ModelError(
                    f'Figure "{title}": curve "{label}" has x {a.shape} and y {b.shape}; give equal lengths'
                )
            if style == "bar":
                axes.bar(a, b, _room(curves), label=label or None)
                continue
            if style in ("-", "--", ":") and not equal:
                a, b = thin(a, b, _POINTS)
            axes.plot(a, b, label=label or None, **_LINES[style])
        if scale != "linear":
            axes.set_yscale("log")
        if scale == "loglog":
            axes.set_xscale("log")
        if equal:
            axes.set_aspect("equal", adjustable="datalim")
        heading = axes.set_title(title, y=1.0)  # without y each draw would lay the ordinate out once more to find it
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        plain_numbers(axes)

        def place(renderer: Any) -> None:
            _fit(figure, axes, heading, renderer)
            if any(label for _, _, label, _ in curves):
                _add_legend(axes, renderer)

        return _svg(figure, place)


def _svg(figure: Figure, place: Callable[[Any], None]) -> bytes:
    """Return a figure as SVG after ``place`` has laid it out; a layout engine would draw the whole figure once more."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG

    FigureCanvasSVG(figure)
    figure.set_dpi(72.0)
    text = io.StringIO()
    width, height = figure.bbox.size
    renderer = RendererSVG(width, height, text, image_dpi=DPI, metadata={"Date": None, "Creator": None})
    place(renderer)
    figure.draw(renderer)
    renderer.finalize()
    return text.getvalue().encode()


def _fit_all(figure: Figure, axes: Axes, renderer: Any) -> None:
    """Place axes of equal scales so that they, their labels and all that is drawn in them fill the figure."""
    outer = axes.get_tightbbox(renderer, for_layout_only=True)  # (the frame has its final aspect then)
    if outer is None:  # nothing is drawn
        return
    frame, size = axes.get_window_extent(), np.asarray(figure.bbox.size)
    start = np.subtract(frame.min, outer.min) + _MARGIN
    end = size - np.subtract(outer.max, frame.max) - _MARGIN
    axes.set_position((*(start / size), *((end - start) / size)))


def _fit(figure: Figure, axes: Axes, heading: Text, renderer: Any) -> None:
    """Place axes so that they, their labels and the heading fill the figure."""
    axes.apply_aspect()
    frame, power = axes.get_window_extent(), axes.yaxis.get_offset_text()
    labels = (axis.get_tightbbox(renderer, for_layout_only=True) for axis in (axes.xaxis, axes.yaxis))
    outer = [frame, *(box for box in labels if box is not None)]
    above = max(power.get_window_extent(renderer).ymax - frame.ymax, 0.0) if power.get_text() else 0.0
    title = heading.get_window_extent(renderer)
    low = np.min([box.min for box in outer], axis=0)
    high = np.max([box.max for box in outer], axis=0)
    high[1] = max(high[1], title.ymax + above)
    size = np.asarray(figure.bbox.size)
    start = frame.min - low + _MARGIN
    end = size - (high - frame.max) - _MARGIN
    axes.set_position((*(start / size), *((end - start) / size)))
    heading.set_y(1.0 + above / (end - start)[1])  # over the power of ten of the ordinate
    axes.apply_aspect()


def _add_legend(axes: Axes, renderer: Any) -> None:
    """Add a legend where it hides the least; the place is sought once here, while "best" seeks it twice per draw."""
    legend = axes.legend(loc="best", handlelength=1.8, frameon=True, framealpha=0.85, edgecolor="none")
    corner = legend.get_window_extent(renderer).min
    legend.set_loc(tuple(axes.transAxes.inverted().transform(corner)))


def draw_model(model: Model) -> bytes:
    """Return a drawing (SVG) of a model at its start, with all of its symbols and their names.

    Raises:
        ModelError: the model is not complete.
    """
    from fem_mbs.plot.model import draw_start
    from fem_mbs.plot.scene import at_start

    with figure_style():
        figure = draw_start(at_start(model), (5.0, 3.4))
        axes = figure.axes[0]
        if axes.name == "3d":
            with tempfile.TemporaryDirectory() as folder:
                return save_figure(figure, Path(folder) / "model.svg").read_bytes()
        figure.set_layout_engine(None)
        plain_numbers(axes)
        return _svg(figure, lambda renderer: _fit_all(figure, axes, renderer))


def _room(curves: Sequence[tuple[np.ndarray, np.ndarray, str, str]]) -> float:
    """Return the width of bars: the least distance between two of them."""
    at = np.unique(np.concatenate([np.asarray(a, float) for a, _, _, style in curves if style == "bar"]))
    return float(np.diff(at).min(initial=1.0))
