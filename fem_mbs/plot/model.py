"""Pictures of the model: shapes, deformations, animations."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.complex_modes import ComplexModesReport
from fem_mbs.analysis.steps.cyclic_modes import CyclicModesReport
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.plot.axes import name_bar
from fem_mbs.plot.scene import find_quantity, time_label
from fem_mbs.plot.stage import Stage
from fem_mbs.plot.style import make_figure, save_figure, style
from fem_mbs.results.modes.shapes import amplitudes, has_shapes, largest_phase
from fem_mbs.results.reader import Results, Step
from fem_mbs.units import Units, split_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "animate", "draw_deformed", "draw_start", "plot_deformed", "plot_model", "plot_shapes", "rigid_shapes",
    "shape_pages", "shape_title",
]  # fmt: skip

_SHAPES = 6  # on a page
_MOST_PAGES = 10
_LATER = "#9cc3e0"  # of a complex shape a quarter of a period later


def shape_pages(step: Step) -> int:
    """Return the number of pages that the shapes of a step fill, rigid-body motions left out where there are others.

    Vibrations at the frequencies of a response, which are alike, have one page.
    """
    count = len(step.frame_times)
    if _vibrates(step):
        return min(count, 1)
    first = rigid_shapes(step)
    return min(-(-(count - first if count > first else count) // _SHAPES), _MOST_PAGES)


def _vibrates(step: Step) -> bool:
    """Return whether the shapes of a step are those of a harmonic response."""
    return recorded_kind(step.type).shapes == "vibration"


def _resonances(results: Results, step: Step, most: int) -> list[int]:
    """Return the numbers of at most ``most`` frames of a harmonic response, ascending: at the largest peaks of the
    displacement."""
    sizes = np.array([amplitudes(results, step, k).max(initial=0.0) for k in range(len(step.frame_times))])
    beside = np.pad(sizes, 1, constant_values=-np.inf)
    peaks = np.flatnonzero((sizes >= beside[:-2]) & (sizes > beside[2:]))
    return sorted(peaks[np.argsort(-sizes[peaks], kind="stable")][:most].tolist())


def plot_shapes(results: Results, step: int, path: str | Path, most: int | None = None, page: int = 0) -> Path:
    """Draw shapes of a modal or buckling step beside each other, each over the state that it belongs to.

    Solid and plane parts are coloured by the size of the displacement, of which the largest is one in every shape. Of
    complex modes lines are drawn at phase 0 and, lighter, a quarter of a period later, with the orbits of nodes. Of a
    harmonic response the vibrations at its largest peaks are drawn.

    Args:
        results: of a run.
        step: number of the step.
        path: of the file.
        most: shapes in the figure; None: 6.
        page: which of the pages with so many shapes, from 0.
    """
    item = results.steps[step]
    count = len(item.frame_times)
    most = _SHAPES if most is None else most
    low = rigid_shapes(item)
    first = (low if count > low else 0) + page * most
    chosen = list(range(first, min(count, first + most)))
    if _vibrates(item):
        chosen = _resonances(results, item, most) if page == 0 else []
    if not chosen:
        raise ResultsError(f'Figure: step "{item.name}" has no shapes for page {page + 1}')
    columns = 2 if len(chosen) in (2, 4) else min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    with style(results):
        figure = make_figure(3.6 * columns, 3.3 * rows)
        left = count - low - _MOST_PAGES * most if page == _MOST_PAGES - 1 else 0
        more = f"and {left} more shapes" if left > 0 else ""
        if _vibrates(item) and count > len(chosen):
            more = f"{len(chosen)} of {count} vibrations, at the largest peaks"
        if more:
            figure.supxlabel(more, x=0.98, ha="right", fontsize=8.5)
        stage = Stage(results, item)
        stage.scene.swings = stage.scene.complex
        if not stage.scene.flat:  # no empty paper beside long parts
            height = float(np.clip(3.4 * stage.aspect(chosen) + 0.7, 1.7, 3.3))
            figure.set_size_inches(3.6 * columns, height * rows)
        quantity = find_quantity(results, item, "displacement") if stage.scene.skin is not None else None
        if quantity is not None:
            figure.set_size_inches(3.6 * columns + 0.8, figure.get_figheight())
        figure.set_figheight(figure.get_figheight() + 0.3)
        title = ": ".join(word for word in (results.header["title"], item.name) if word)
        words = textwrap.shorten(title, int(12 * figure.get_figwidth()), placeholder=" ...")
        figure.suptitle(words, x=0.01, ha="left", fontsize=10.0, fontweight="bold")
        for place, frame in enumerate(chosen, 1):
            stage.set_up(
                figure, [frame], title=shape_title(item, frame, results.units), quantity=quantity, times=False,
                fit=False, place=(rows, columns, place), bar=False,
            )  # fmt: skip
            stage.draw_reference()
            if stage.scene.complex and quantity is None:
                stage.scene.magnify(1.0, 0.5 * np.pi)
                stage.draw_frame(frame, _LATER)
                stage.scene.magnify(1.0)
                stage.draw_orbits(frame)
            elif stage.scene.complex:
                stage.scene.magnify(1.0, largest_phase(item, frame))
            stage.draw_frame(frame)
            stage.draw_symbols(frame, loads=False)
        if stage.scale is not None:
            bar = figure.colorbar(stage.scale, ax=figure.axes, shrink=0.6, aspect=30, pad=0.05, panchor=False)
            name_bar(bar, quantity.label, results.units)
            bar.outline.set_visible(False)
        elif stage.scene.complex:
            figure.set_figheight(figure.get_figheight() + (0.3 if columns > 1 else 0.65))
            stage.explain_phases(_LATER, 3 if columns > 1 else 1)
        return save_figure(figure, path)


def _step_with_frames(results: Results, step: int | None) -> Step:
    if step is not None:
        return results.step_at(step)
    found = [item for item in results.steps if "displacement" in item.frames]
    found = [item for item in found if recorded_kind(item.type).passes_time] or found
    found = [item for item in found if not has_shapes(item)] or found
    if not found:
        raise ResultsError(
            f"{results.where}: no frames with displacements; steps of modes keep them, steps in time and statics with "
            "frames = n"
        )
    return found[-1]


def plot_deformed(
    results: Results,
    path: str | Path,
    times: Sequence[float] | int | None = None,
    quantity: str | None = None,
    step: int | None = None,
    magnify: float | None = None,
) -> Path:
    """Draw the reference shape lightly and over it the shapes at some times, coloured by time.

    `times` are instants [s], of which the nearest frames are taken, or a number of frames spread over the step (by
    default 6). With a `quantity` (the name of an element output) the colour shows that instead.

    Models with solid or plane parts are drawn side by side, by default at the end of a static step and at 4 times of
    others, coloured by the von Mises stress or, where there is none, by the displacement; `quantity` may also be
    "stress xx" and the like, or "displacement". `magnify` enlarges the displacements; by default those of solid and
    plane parts that could not be seen are enlarged by a round number, which the title tells.
    Raises ResultsError if there are no frames or no such quantity.
    """
    with style(results):
        return save_figure(draw_deformed(results, times, quantity, step, magnify), path)


def draw_deformed(
    results: Results,
    times: Sequence[float] | int | None = None,
    quantity: str | None = None,
    step: int | None = None,
    magnify: float | None = None,
) -> Figure:
    """Return the figure that `plot_deformed` writes; arguments and errors as there."""
    item = _step_with_frames(results, step)
    with style(results):
        stage = Stage(results, item)
        surface = stage.scene.skin is not None
        available = item.frame_times
        if times is None:
            times = 6 if not surface else 1 if recorded_kind(item.type).path else 4
        if isinstance(times, int):
            low = 0 if not surface or times > 1 else len(available) - 1
            chosen = np.unique(np.linspace(low, len(available) - 1, max(times, 1)).round().astype(int)).tolist()
        else:
            chosen = sorted({int(np.argmin(np.abs(available - time))) for time in times})
        if not chosen:
            raise ResultsError("Figure of the deformed shape: no times given: give at least one")
        shown = find_quantity(results, item, quantity) if quantity is not None or surface else None
        if magnify is not None:
            stage.scene.magnify(magnify)
        elif surface:
            stage.scene.magnify(stage.scene.visible_scale(chosen))
        if surface:
            return _side_by_side(results, stage, chosen, shown)
        figure = make_figure(7.4, 5.0)
        stage.set_up(figure, chosen, title=results.header["title"], quantity=shown, times=len(chosen) > 1, fit=True)
        stage.draw_reference()
        for frame in chosen:
            stage.draw_frame(frame)
        stage.draw_symbols(chosen[-1])
        return figure


def plot_model(results: Results, path: str | Path, size: tuple[float, float] = (7.4, 5.0)) -> Path:
    """Draw a model at its start with all of its symbols and their names.

    `size` is width and height of the figure [inch]. Other arguments and errors are those of `plot_deformed`.
    """
    with style(results):
        return save_figure(draw_start(results, size), path)


def draw_start(results: Results, size: tuple[float, float] = (7.4, 5.0)) -> Figure:
    """Return the figure that `plot_model` writes; arguments and errors as there."""
    with style(results):
        stage = Stage(results, _step_with_frames(results, None))
        figure = make_figure(*size)
        stage.set_up(figure, [0], title=results.header["title"], quantity=None, times=False, fit=True)
        stage.draw_frame(0)
        stage.draw_symbols(0, whole=True)
        stage.draw_names(0)
        return figure


def _side_by_side(results: Results, stage: Stage, frames: list[int], quantity: Any) -> Figure:
    """Draw a figure of solid or plane parts: a panel per frame, one range of colours for all."""
    if quantity is not None and hasattr(quantity, "fit"):
        quantity.fit(frames)
    columns, rows = min(len(frames), 2), -(-len(frames) // 2)
    alone = len(frames) == 1
    figure = make_figure(7.4, 5.0) if alone else make_figure(3.6 * columns + 0.8, 3.1 * rows)
    item, scale = stage.scene.step, stage.scene.scale
    stage.marks_largest = True
    enlarged = f"displacements x {scale:g}" if scale != 1.0 else ""
    title = results.header["title"]
    for place, frame in enumerate(frames, 1):
        text, unit = split_unit(time_label(item))
        shown_time = results.units.of(unit)
        value = f"{shown_time(float(stage.scene.times[frame])):.5g}"
        label = " ".join(word for word in (text, value, shown_time.unit.replace("-", "")) if word)
        named = ", ".join(word for word in (title or item.name, enlarged) if word) if alone else label
        stage.set_up(
            figure, [frame], title=named, quantity=quantity, times=False, fit=alone, place=(rows, columns, place),
            bar=alone, together=frames,
        )  # fmt: skip
        stage.draw_reference()
        stage.draw_frame(frame)
        stage.draw_symbols(frame)
        stage.tell_largest(alone)
    if not alone:
        if stage.scale is not None:
            bar = figure.colorbar(stage.scale, ax=figure.axes, shrink=0.6, aspect=30, pad=0.05, panchor=False)
            name_bar(bar, quantity.label, results.units)
            bar.outline.set_visible(False)
        words = ", ".join(word for word in (title, enlarged) if word)
        if words:
            figure.suptitle(words, x=0.02, ha="left", fontsize=10.0, fontweight="bold")
    return figure


def animate(
    results: Results,
    path: str | Path,
    quantity: str | None = None,
    fps: int = 25,
    size: tuple[int, int] = (800, 500),
    *,
    step: int | None = None,
    trail: str | int | None = None,
    follow: str | int | None = None,
    seconds: float = 8.0,
    mode: int | None = None,
    magnify: float = 1.0,
) -> Path:
    """Write an animation of a step as GIF or MP4, by the ending of `path`.

    `quantity` is what colours the model: an output of elements (by default a bending moment or an energy, if there is
    one), of solid and plane parts "von Mises" (their default), "stress xx" or "displacement"; "none" for plain lines.
    `trail` is a node whose path is drawn behind it, by name or number. `follow` is a node or body, for
    example of a vehicle, with which the view moves along. At most `fps` * `seconds` frames are taken. MP4 needs the
    program ffmpeg.

    Of a modal or buckling step one shape is shown swinging: number `mode`, counted from 1 (by default the first that is
    no rigid-body motion), a complex one as Re(u exp(i phi)), with the orbits of nodes. Displacements are as they
    are, or `magnify` times as large.
    Raises ResultsError for an unknown ending, quantity, node or mode, and if ffmpeg is missing.
    """
    from fem_mbs.plot.animation import write_movie

    target = Path(path)
    item = _step_with_frames(results, step)
    node = results.node(trail) if trail is not None else None
    followed = results.node(follow) if follow is not None else None
    if followed is not None and (has_shapes(item) or node is not None):
        what = "shapes do not travel" if has_shapes(item) else "a trail needs a fixed view"
        raise ResultsError(f'Animation of step "{item.name}": {what}; leave follow out')
    with style(results):
        stage = Stage(results, item)
        stage.fineness = 100.0
        stage.scene.followed = followed
        count = stage.scene.frames
        take = np.unique(
            np.linspace(0, count - 1, min(count, max(2, round(fps * seconds)))).round().astype(int)
        ).tolist()
        swing, phases = np.full(len(take), magnify), np.zeros(len(take))
        title = results.header["title"]
        if has_shapes(item):
            shape = _shape(item, mode)
            stage.scene.swings = True
            length = max(2, round(fps * min(seconds, 2.0)))
            phases = 2.0 * np.pi * np.arange(length) / length
            take, swing = [shape] * length, magnify * (1.0 if stage.scene.complex else np.sin(phases)) + 0.0 * phases
            title = ", ".join(word for word in (title, shape_title(item, shape, results.units)) if word)
        elif mode is not None:
            raise ResultsError(f'Animation of step "{item.name}": it has no modes; leave mode out')
        stage.scene.magnify(magnify)
        shown = find_quantity(results, item, quantity)
        figure = make_figure(size[0] / 100, size[1] / 100)
        title = textwrap.shorten(title, max(10, size[0] // 10 - 25), placeholder=" ...")
        stage.set_up(figure, sorted(set(take)), title=title, quantity=shown, times=False, fit=False)
        if followed is None:
            stage.draw_reference()

        def draw(number: int) -> list[Any]:
            stage.clear()
            stage.scene.magnify(swing[number], phases[number])
            if stage.scene.complex:
                stage.draw_orbits(take[number])
            if node is not None:
                stage.draw_trail(node, take[: number + 1])
            stage.draw_frame(take[number])
            stage.draw_symbols(take[number], loads=not stage.scene.swings)
            if not stage.scene.swings:
                stage.show_time(take[number])
            return stage.frame_artists()

        draw(0)
        stage.finish()
        stage.clear()
        write_movie(figure, draw, len(take), target, fps, stage.shaded())
    return target


def rigid_shapes(step: Step) -> int:
    """Return the number of rigid-body modes, which are the first shapes of a step."""
    return getattr(step.report, "rigid_body_modes", None) or 0


def _shape(step: Step, mode: int | None) -> int:
    """Return the frame of a shape by its number, counted from 1."""
    count = len(step.frame_times)
    if mode is None:
        return min(rigid_shapes(step), count - 1)
    if not 1 <= mode <= count:
        raise ResultsError(f'Animation of step "{step.name}": there is no mode {mode}; give 1 to {count}')
    return mode - 1


def _hertz(units: Units, frequency: float) -> str:
    shown = units.of("Hz")
    return f"{shown(float(frequency)):.5g} {shown.unit}"


def _rate(units: Units, value: float) -> str:
    shown = units.of("1/s")
    return f"{shown(float(value)):.4g} {shown.unit}"


def shape_title(step: Step, shape: int, units: Units) -> str:
    """Return the number of a shape and its frequency, with the damping ratio of complex ones, or its load factor."""
    report = step.report
    if recorded_kind(step.type).shapes == "vibration":
        return f"{shape + 1}: {_hertz(units, step.frame_times[shape])}"
    frequencies = getattr(report, "frequencies_hz", None)
    if frequencies is None:
        factors = getattr(report, "load_factors", None)
        return f"{step.name} {shape + 1}" if factors is None else f"{shape + 1}: factor {factors[shape]:.5g}"
    text = f"{shape + 1}: {_hertz(units, frequencies[shape])}"
    if isinstance(report, CyclicModesReport):
        return f"{text}, nodal diameter {report.nodal_diameters[shape]}"
    if not isinstance(report, ComplexModesReport):
        return text
    if shape < rigid_shapes(step):
        return f"{shape + 1}: rigid-body motion"
    growth, circular = report.eigenvalues[shape]
    size = float(np.hypot(growth, circular))
    if abs(circular) <= 1e-6 * size:
        return f"{shape + 1}: {'grows' if growth > 0.0 else 'decays'} with {_rate(units, abs(growth))}"
    if growth > 1e-6 * size:
        return f"{text}, grows with {_rate(units, growth)}"
    return f"{text}, damping {-100.0 * growth / size:.3g} %" if growth < -1e-6 * size else text
