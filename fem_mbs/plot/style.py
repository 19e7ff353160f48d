"""Create and write figures in a common style: colours, fonts, sizes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem_mbs.errors import ResultsError
from fem_mbs.files import replacing
from fem_mbs.plot.axes import plain_numbers
from fem_mbs.plot.marks import current_mark, marked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fem_mbs.results.reader import Results

__all__ = ["COLOURS", "DPI", "MAP", "SIGNED_MAP", "colour_table", "make_figure", "save_figure", "style"]

WARNING = "#B22222"
DPI = 170.0  # of pictures
MAP = "viridis"
SIGNED_MAP = "coolwarm"  # grey at zero, so that it shows on white

# Okabe & Ito's colours, told apart with any kind of colour vision; the yellow one is left out (too pale on white).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


@contextmanager
def style(results: Results | None = None) -> Iterator[None]:
    """Give figures their looks; those of ``results`` carry the marks of these (`fem_mbs.plot.marks`)."""
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
        "savefig.dpi": DPI,
    }
    with mpl.rc_context(settings), marked(results):
        yield


def colour_table(name: str, n: int = 33) -> list[list[int]]:
    """Return ``n`` colours of a map of matplotlib as numbers from 0 to 255, from its lower end to its upper one."""
    import matplotlib as mpl

    return [[round(255 * v) for v in mpl.colormaps[name](k / (n - 1))[:3]] for k in range(n)]


def make_figure(width: float, height: float) -> Figure:
    """Return an empty figure [inches]; a mark of its results stands at the lower edge."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height))
    text = current_mark()
    low = 0.22 / height if text else 0.0
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0.0, low, 1.0, 1.0 - low)))
    if text:
        words = textwrap.shorten(text, max(30, int(17 * width)), placeholder=" ...")
        figure.text(0.01, 0.05 / height, words, fontsize=7.5, color=WARNING, va="bottom").set_in_layout(False)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure; the ending of the path chooses the format.

    Raises:
        ResultsError: an unknown ending, or a file that cannot be written.
    """
    target = Path(path)
    form = target.suffix.removeprefix(".") or "png"
    for axes in figure.axes:
        plain_numbers(axes)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target, "Figure") as part:
            if form == "png":
                _write_png(figure, part)
            elif form == "svg":
                _write_svg(figure, part)
            else:
                figure.savefig(part, format=form)
    except (OSError, ValueError) as exc:
        raise ResultsError(
            f'Figure "{target}": cannot be written ({exc}): give another path, such as figure.png'
        ) from exc
    return target


def _write_png(figure: Figure, path: Path) -> None:
    """Draw a figure and write its pixels; ``savefig`` would draw it twice, the first time for the layout alone."""
    from matplotlib import rcParams
    from PIL import Image

    dpi = rcParams["savefig.dpi"]
    figure.set_dpi(float(dpi) if dpi != "figure" else figure.get_dpi())
    canvas: Any = figure.canvas
    engine = figure.get_layout_engine()
    if engine is not None and any(axes.get_aspect() != "auto" for axes in figure.axes):
        engine.execute(figure)  # labels beside axes of one scale find their room in the second layout
    canvas.draw()
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    picture.convert("RGB").save(path, format="png", dpi=(figure.dpi, figure.dpi), compress_level=2)


def _write_svg(figure: Figure, path: Path) -> None:
    """Draw a figure and write it as SVG, without the draw of ``savefig`` for the layout alone."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)  # whose texts are those that the layout measures
    figure.set_dpi(72.0)  # the unit of such a file is a point
    engine = figure.get_layout_engine()
    if engine is not None:
        for _ in range(1 + any(axes.get_aspect() != "auto" for axes in figure.axes)):
            engine.execute(figure)
        figure.set_layout_engine(None)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
