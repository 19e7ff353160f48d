"""Create and write figures in a common style: colours, fonts, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.errors import ResultsError
from fem_mbs.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MAP", "SIGNED_MAP", "colour_table", "make_figure", "save_figure", "style"]

MAP = "viridis"
SIGNED_MAP = "coolwarm"  # grey at zero, so that it shows on white

# Okabe & Ito's colours, told apart with any kind of colour vision; the yellow one is left out (too pale on white).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


@contextmanager
def style() -> Iterator[None]:
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


def colour_table(name: str, n: int = 33) -> list[list[int]]:
    """Return ``n`` colours of a map of matplotlib as numbers from 0 to 255, from its lower end to its upper one."""
    import matplotlib as mpl

    return [[round(255 * v) for v in mpl.colormaps[name](k / (n - 1))[:3]] for k in range(n)]


def make_figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path) -> Path:
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target, "Figure") as part:
            figure.savefig(part, format=target.suffix.removeprefix(".") or "png")
    except (OSError, ValueError) as exc:
        raise ResultsError(
            f'Figure "{target}": cannot be written ({exc}): give another path, such as figure.png'
        ) from exc
    return target
