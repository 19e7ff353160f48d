"""Figures of results: the energy ledger, sensors, momenta, the deformed model, its animation, eigenvalues and rotors.

Every function takes a `fem_mbs.results.reader.Results` and a path, and writes the file. matplotlib is imported when the
first figure is drawn, without a display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.steps.rotors.campbell import CampbellReport
from fem_mbs.declarations.steps import function_of, recorded_kind
from fem_mbs.errors import DiskFullError, ResultsError
from fem_mbs.files import file_word
from fem_mbs.late import dataclass
from fem_mbs.plot.frequency.campbell import plot_campbell, plot_unbalance
from fem_mbs.plot.frequency.cyclic import plot_diameters, plot_wheel_shapes
from fem_mbs.plot.frequency.harmonic import plot_response, plot_transfer
from fem_mbs.plot.frequency.stability import plot_eigenvalues, plot_roots, plot_stability_map
from fem_mbs.plot.model import animate, plot_deformed, plot_shapes, shape_pages
from fem_mbs.plot.series import (
    plot_blows,
    plot_ledger,
    plot_momenta,
    plot_path,
    plot_sensor,
    plot_sensor_page,
    sensor_pages,
)
from fem_mbs.plot.style import make_figure, save_figure, style
from fem_mbs.plot.sweep import plot_held_sensitivities
from fem_mbs.progress import say, waiting
from fem_mbs.results.fields import is_continuum
from fem_mbs.results.modes.eigenvalues import campbell_branches, eigenvalue_path, is_damped
from fem_mbs.results.reader import Results, Step

if TYPE_CHECKING:
    from fem_mbs.results.modes.mac import Mac

__all__ = [
    "FORMATS",
    "FigureJob",
    "animate",
    "blow_figures",
    "campbell_figures",
    "diameters_figures",
    "figure_jobs",
    "load_path_figures",
    "map_figures",
    "nothing_drawn",
    "path_figures",
    "plot_all",
    "plot_blows",
    "plot_campbell",
    "plot_deformed",
    "plot_diameters",
    "plot_eigenvalues",
    "plot_held_sensitivities",
    "plot_ledger",
    "plot_mac",
    "plot_momenta",
    "plot_path",
    "plot_response",
    "plot_roots",
    "plot_sensor",
    "plot_shapes",
    "plot_stability_map",
    "plot_transfer",
    "plot_transfers",
    "plot_unbalance",
    "plot_wheel_shapes",
    "roots_figures",
    "shapes_figures",
    "unbalance_figures",
]

#: Formats of files of figures.
FORMATS = ("png", "svg", "pdf")


def plot_mac(found: Mac, path: str | Path, labels: tuple[str, str] = ("", "")) -> Path:
    """Draw the modal assurance criterion between two sets of shapes as a table of coloured squares.

    `labels` names the two results.
    """
    rows, columns = found.matrix.shape
    with style():
        width = float(np.clip(0.42 * columns + 2.6, 4.2, 12.0))
        figure = make_figure(width, float(np.clip(0.42 * rows + 1.7, 3.2, 12.0)))
        axes = figure.subplots()
        image = axes.imshow(found.matrix, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        marks = [f"{k + 1}: {v:.4g}" for k, v in enumerate(found.frequencies_a)]
        axes.set_yticks(range(rows), marks)
        axes.set_xticks(range(columns), [f"{k + 1}: {v:.4g}" for k, v in enumerate(found.frequencies_b)], rotation=90)
        axes.tick_params(length=0)
        for side, label, name in zip((axes.set_ylabel, axes.set_xlabel), labels, found.names, strict=True):
            side(f"{label or name}: {found.quantity}")
        if found.matrix.size <= 900:
            for (i, j), value in np.ndenumerate(found.matrix):
                if value >= 0.05:
                    colour = "white" if value > 0.6 else "#333333"
                    axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=7.0)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=24)
        bar.set_label("MAC [-]")
        bar.outline.set_visible(False)
        axes.set_title("Modal assurance criterion")
        return save_figure(figure, path)


@contextmanager
def _if_possible() -> Iterator[None]:
    """Leave out a figure that the results do not allow; a full disk still raises its error."""
    try:
        yield
    except DiskFullError:
        raise
    except ResultsError:
        pass


Figures = Iterator[tuple[Callable[..., Path], str]]


def shapes_figures(step: Step) -> Figures:
    """Yield the figures of the shapes of a step, a page for every few of them."""
    for page in range(shape_pages(step)):
        yield partial(plot_shapes, page=page), "shapes" if page == 0 else f"shapes-page{page + 1}"


def roots_figures(step: Step) -> Figures:
    """Yield the figure of eigenvalues in the complex plane."""
    yield plot_roots, "roots"


def campbell_figures(step: Step) -> Figures:
    """Yield the Campbell diagram, and the eigenvalues in the complex plane where there is damping."""
    yield plot_campbell, "campbell"
    report = step.report_as(CampbellReport)
    if report is not None and report.branches and is_damped(campbell_branches(report)[0].values):
        yield plot_roots, "roots"


def diameters_figures(step: Step) -> Figures:
    """Yield the figures of frequencies by nodal diameters, and of shapes of the whole wheel."""
    yield plot_diameters, "diameters"
    if len(step.frame_times):
        yield plot_wheel_shapes, "wheel"


def unbalance_figures(step: Step) -> Figures:
    """Yield the figure of responses to unbalance."""
    yield plot_unbalance, "unbalance"


def map_figures(step: Step) -> Figures:
    """Yield the stability map."""
    yield plot_stability_map, "stability"


def load_path_figures(step: Step) -> Figures:
    """Yield the load-displacement path of a step that has one."""
    if len(step.series.get("load factor", ())) > 3 and not np.ptp(step.series["time"]):
        yield plot_path, "path"


def path_figures(step: Step) -> Figures:
    """Yield eigenvalues along a step, if there are any."""
    branches = eigenvalue_path(step)
    if branches is not None:
        yield plot_eigenvalues, "eigenvalues"
        if is_damped(branches.values):
            yield plot_roots, "roots"


def blow_figures(step: Step) -> Figures:
    """Yield the blows of a step, if there are any."""
    if getattr(step.report, "blows", None):
        yield plot_blows, "blows"


@dataclass(frozen=True)
class FigureJob:
    """A figure that results allow.

    Attributes:
        name: of its file, without an ending.
        step: number of the step that it shows; None: several.
        draw: writes it to a path; it raises ResultsError where the results turn out not to allow it.
    """

    name: str
    step: int | None
    draw: Callable[[Path], Path]


def figure_jobs(results: Results) -> Iterator[FigureJob]:
    """Yield the figures that results allow, in the order in which `plot_all` draws them."""
    series = {name for step in results.steps for name in step.series}
    moving = any(recorded_kind(step.type).passes_time for step in results.steps)
    if "ledger" in series and moving:
        yield FigureJob("ledger", None, partial(plot_ledger, results))
    if series & {"linear momentum", "angular momentum"} and moving:
        yield FigureJob("momenta", None, partial(plot_momenta, results))
    for step in results.steps:
        for entry in recorded_kind(step.type).figures:
            for draw, name in function_of(entry)(step):
                yield FigureJob(f"{name}-{_label(step)}", step.number, partial(draw, results, step.number))
    numbers: dict[int | None, int] = {}
    for page in sensor_pages(results):
        numbers[page.step] = number = numbers.get(page.step, 0) + 1
        label = "" if page.step is None else f"-{_label(results.steps[page.step])}"
        more = "" if number == 1 else f"-page{number}"
        yield FigureJob(f"sensors{label}{more}", page.step, partial(plot_sensor_page, results, page))
    if results.sensitivity_parameters:
        yield FigureJob("sensitivities", None, partial(plot_held_sensitivities, results))
    for step in results.steps:
        for sensor in results.header["sensors"]:
            if f"response/{sensor['name']}" in step.series:
                name = f"response-{_label(step)}-{file_word(sensor['name'])}"
                yield FigureJob(name, step.number, partial(plot_response, results, sensor["name"], step.number))
    drawn = [s for s in results.steps if "displacement" in s.frames and not recorded_kind(s.type).shapes]
    if len(drawn) > 1 and any(is_continuum(block) for block in results.header["blocks"]):
        for step in drawn:
            draw = partial(plot_deformed, results, step=step.number)
            yield FigureJob(f"deformed-{_label(step)}", step.number, draw)
    elif drawn:
        yield FigureJob("deformed", None, partial(plot_deformed, results))


@waiting()
def plot_all(results: Results, directory: str | Path | None = None, format: str = "png") -> list[Path]:
    """Draw every figure that the results allow into a folder (by default `figures` beside the results).

    Args:
        results: of a run.
        directory: folder of the files.
        format: "png", "svg" or "pdf".

    Raises:
        ResultsError: another format, or files that cannot be written.
    """
    if format not in FORMATS:
        raise ResultsError(f'Figures: format "{format}" is unknown: give one of {", ".join(FORMATS)}')
    target = Path(directory) if directory is not None else results.folder() / "figures"
    paths = []
    for number, job in enumerate(figure_jobs(results), 1):
        say(f"drawing figure {number}: {job.name}")
        path = target / f"{job.name}.{format}"
        results.take(path)
        with _if_possible():  # no displacement was watched, or nothing was found
            paths.append(job.draw(path))
    return paths


@waiting()
def plot_transfers(
    results: Results, pairs: Sequence[str], directory: str | Path | None = None, format: str = "png"
) -> list[Path]:
    """Draw transfer functions and coherences of pairs "SENSOR:EXCITATION" into a folder, as `plot_all` does.

    An excitation that has several columns names one of them: "SENSOR:EXCITATION:COLUMN".

    Raises:
        ResultsError: a pair that is none, or as of `plot_transfer` and `plot_all`.
    """
    if format not in FORMATS:
        raise ResultsError(f'Figures: format "{format}" is unknown: give one of {", ".join(FORMATS)}')
    target = Path(directory) if directory is not None else results.folder() / "figures"
    paths = []
    for pair in pairs:
        sensor, excitation, *column = pair.split(":")[:3] if ":" in pair else ("", "")
        if not (sensor and excitation and all(column)) or pair.count(":") > 2:
            raise ResultsError(f'Figures: "{pair}" is no pair of sensors; give SENSOR:EXCITATION[:COLUMN]')
        path = target / f"transfer-{'-'.join(map(file_word, (sensor, excitation, *column)))}.{format}"
        results.take(path)
        paths.append(plot_transfer(results, sensor, excitation, path, column=column[0] if column else None))
    return paths


def _label(step: Step) -> str:
    return f"{step.number + 1}-{file_word(step.name)}"


def nothing_drawn(results: Results) -> str:
    """Return why `plot_all` draws no figure of results, and what to do.

    Raises:
        ResultsError: the results hold no states.
    """
    if any(len(step.series) or len(step.frames) for step in results.steps):
        return f"{results.where}: nothing that it holds has a figure; add sensors to the model"
    remedy = "wait for the run" if results.status == "running" else "run the model again"
    raise ResultsError(f"{results.where}: it holds no states (status of the run: {results.status}); {remedy}")
