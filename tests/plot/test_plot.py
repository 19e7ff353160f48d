"""Figures and animations: drawn from synthetic motions, looked at by counting pixels."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fem_mbs.errors import ResultsError
from fem_mbs.plot import figures as plot
from fem_mbs.plot import series
from fem_mbs.plot.model import draw_deformed
from fem_mbs.plot.scene import Scene, find_quantity
from fem_mbs.plot.style import COLOURS
from fem_mbs.results.modes.shapes import largest_phase
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter
from fem_mbs.rotations import rotation_matrices
from fem_mbs.units import split_unit

Image = pytest.importorskip("PIL.Image")

CRANK, ROD, SPEED, N_EL = 0.15, 0.30, 124.8, 4


def write_slider_crank(directory: Path, n: int = 60) -> Results:
    """Kinematics of a slider-crank whose rod bends in a half-sine."""
    s = np.linspace(0, ROD, N_EL + 1)
    nodes = np.zeros((N_EL + 3, 3))
    nodes[: N_EL + 1, 0] = CRANK + s
    nodes[N_EL + 1 :, 0] = CRANK / 2, CRANK + ROD
    crank, slider = N_EL + 1, N_EL + 2
    rod = {"name": "rod", "type": "beam2d", "connectivity": np.column_stack([np.arange(N_EL), np.arange(1, N_EL + 1)])}
    header = {
        "title": "Slider-crank",
        "version": "0",
        "dimension": 2,
        "nodes": nodes,
        "node_names": {"middle": N_EL // 2},
        "blocks": [{**rod, "outputs": ["bending moment [N m]", "strain energy [J]"]}],
        "bodies": [
            {"name": "crank", "node": crank, "points": [[-CRANK / 2, 0, 0], [CRANK / 2, 0, 0]]},
            {"name": "slider", "node": slider, "points": [[-0.02, -0.01, 0], [0.02, -0.01, 0], [0.02, 0.01, 0]]},
        ],
        "sensors": [
            {"name": "slider", "kind": "position", "unit": "m", "columns": ["x", "y"], "mid_step": False},
            {
                "name": "bearing",
                "kind": "reaction",
                "unit": ["N", "N", "N m"],
                "columns": ["x", "y", "moment"],
                "mid_step": True,
            },
        ],
        "ledger": ["kinetic", "strain", "driver work", "dissipation"],
        "supports": [
            {"node": crank, "point": [-CRANK / 2, 0, 0], "components": ["x", "y"]},
            {"node": slider, "components": ["y", "rotation"]},
            {"node": 0, "components": ["rotation"]},
        ],
        "joints": [{"name": "pin", "type": "pin", "node": 0}, {"name": "wrist", "type": "pin", "node": N_EL}],
    }
    writer = ResultsWriter(directory, header)
    writer.begin_step("run", "transient", {})
    for k, t in enumerate(np.linspace(0, 2 * np.pi / SPEED, n)):
        angle = SPEED * t
        pin = CRANK * np.array([np.cos(angle), np.sin(angle)])
        end = pin[0] + np.sqrt(ROD**2 - pin[1] ** 2)
        slope, bend = np.arctan2(-pin[1], end - pin[0]), 0.02 * np.sin(1.7 * angle)
        u, du = bend * np.sin(np.pi * s / ROD), bend * np.pi / ROD * np.cos(np.pi * s / ROD)
        position, rotation = np.zeros_like(nodes), np.zeros_like(nodes)
        position[: N_EL + 1, 0] = pin[0] + np.cos(slope) * s - np.sin(slope) * u
        position[: N_EL + 1, 1] = pin[1] + np.sin(slope) * s + np.cos(slope) * u
        position[crank, :2], position[slider, 0] = pin / 2, end
        rotation[: N_EL + 1, 2], rotation[crank, 2] = slope + np.arctan(du), angle
        moment = 200 * bend * np.sin(np.pi * np.column_stack([s[:-1], s[1:]]) / ROD)
        work = 2 * np.cos(2 * angle) + 50 * bend**2
        series = {
            "time": [t],
            "ledger": [[10 + 2 * np.cos(2 * angle), 50 * bend**2, work + 1e-14 * (-1) ** k, 0.0]],
            "sensor/slider": [[end, 0.0]],
            "sensor/bearing": [[np.nan] * 3 if k == 0 else [5 * np.sin(angle), 3.0, (-1.0) ** k]],
            "linear momentum": [[np.cos(angle), np.sin(angle)]],
            "angular momentum": [[0.25]],
        }
        frames = {"time": [t], "displacement": (position - nodes)[None], "rotation": rotation[None]}
        frames |= {"rod/bending moment [N m]": moment[None], "rod/strain energy [J]": (moment**2).sum(axis=1)[None]}
        writer.append(series, frames if k % 4 == 0 else None)
    writer.end_step()
    writer.close()
    return Results.open(directory)


def write_chain(directory: Path, n: int = 12) -> Results:
    """A chain of trusses in space that swings as a conical pendulum, a block of points at its end, and a clamp."""
    s = np.linspace(0, 1, 7)
    nodes = np.column_stack([s, 0 * s, 0 * s])
    header = {
        "title": "Chain",
        "version": "0",
        "dimension": 3,
        "nodes": nodes,
        "blocks": [
            {"name": "chain", "type": "truss", "connectivity": np.column_stack([np.arange(6), np.arange(1, 7)])},
            {"name": "bob", "type": "point", "connectivity": [[6]]},
        ],
        "supports": [{"node": 0}],
    }
    writer = ResultsWriter(directory, header)
    writer.begin_step("swing", "transient", {})
    for t in np.linspace(0, 1, n):
        turn = np.array([np.cos(t) * np.sin(1.0), np.sin(t) * np.sin(1.0), -np.cos(1.0)])
        frames = {
            "time": [t],
            "displacement": (s[:, None] * turn - nodes)[None],
            "chain/normal force [N]": (10 - s[1:])[None],
        }
        writer.append({"time": [t]}, frames)
    writer.end_step()
    writer.close()
    return Results.open(directory)


@pytest.fixture(scope="module")
def crank(tmp_path_factory):
    return write_slider_crank(tmp_path_factory.mktemp("crank"))


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    return write_chain(tmp_path_factory.mktemp("chain"))


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


def count(picture: np.ndarray, colour: str, tolerance: int = 12) -> int:
    """Return how many pixels have a colour given as "#rrggbb"."""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return int((np.abs(picture - wanted).max(axis=2) <= tolerance).sum())


# ---------------------------------------------------------------------------------------------- figures


def test_plot_all_draws_every_figure(crank, tmp_path):
    paths = plot.plot_all(crank, tmp_path)
    assert [path.name for path in paths] == [
        "ledger.png",
        "momenta.png",
        "sensors.png",
        "deformed.png",
    ]
    for path in paths:
        picture = pixels(path)
        assert picture.shape[1] == pytest.approx(7.4 * 170, abs=2)
        assert count(picture, "#ffffff") > 0.5 * picture.shape[0] * picture.shape[1], path  # no clutter
        assert picture[0].min() == picture[-1].min() == picture[:, 0].min() == 255, path  # nothing is cut off
    ledger = pixels(paths[0])
    for colour in COLOURS[:3]:  # kinetic, strain, work; the dissipation is zero and left out
        assert count(ledger, colour) > 500
    assert count(ledger, COLOURS[3]) == 0


def test_plot_all_of_a_run_without_frames(tmp_path):
    writer = ResultsWriter(tmp_path, {"title": "", "version": "", "dimension": 2, "nodes": np.zeros((1, 2))})
    writer.begin_step("s", "transient")
    writer.append({"time": [0.0, 1.0]})
    writer.end_step()
    writer.close()
    assert plot.plot_all(Results.open(tmp_path)) == []


def test_figures_go_beside_the_results_and_make_room_for_a_new_run(tmp_path):
    results = write_chain(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in plot.plot_all(results)] == ["figures/deformed.png"]
    write_chain(tmp_path)
    assert not list((tmp_path / "figures").iterdir())


def test_deformed_shapes_are_coloured_by_time(crank, tmp_path):
    import matplotlib as mpl

    picture = pixels(plot.plot_deformed(crank, tmp_path / "a.png", times=[0.005, 0.02]))
    colours = [mpl.colors.to_hex(mpl.colormaps["viridis"](value)) for value in (0.0, 1.0)]
    assert all(count(picture, colour) > 1000 for colour in colours)
    assert count(picture, "#c9ccd1", 3) > 300  # the reference


def test_deformed_shapes_in_a_quantity_and_in_space(crank, chain, tmp_path):
    picture = pixels(plot.plot_deformed(crank, tmp_path / "a.png", times=4, quantity="bending moment"))
    red, blue = picture[..., 0] - picture[..., 2] > 80, picture[..., 2] - picture[..., 0] > 80
    assert red.sum() > 500 and blue.sum() > 500  # moments of both signs
    picture = pixels(plot.plot_deformed(chain, tmp_path / "b.png", quantity="normal force"))
    assert (picture.max(axis=2) - picture.min(axis=2) > 60).sum() > 2000


def test_long_curves_keep_their_extremes():
    time = np.linspace(0, 1, 500_000)
    values = np.sin(40 * time)
    values[123_456] = 7.0
    values[1000:2000] = np.nan
    thin_time, thin_values = series.thin(time, values)
    assert len(thin_time) <= series.MAX_POINTS + 2 and np.nanmax(thin_values) == 7.0
    assert (thin_time[0], thin_time[-1]) == (0.0, 1.0) and np.all(np.diff(thin_time) > 0)
    assert np.isnan(thin_values).any()


# ---------------------------------------------------------------------------------------------- animations


def test_the_view_follows_a_node(crank, tmp_path):
    """The followed node stays where it is at the start, distances between nodes are those of the frame."""
    item = next(step for step in crank.steps if len(step.frame_times) > 1)
    plain, along = Scene(crank, item), Scene(crank, item)
    along.followed = node = crank.node("middle")
    last = along.frames - 1
    here, there = plain.state(last)[0], along.state(last)[0]
    assert np.abs(here[node] - plain.nodes[node]).max() > 0.01
    np.testing.assert_allclose(there[node], along.nodes[node], atol=1e-12)
    np.testing.assert_allclose(there - there[node], here - here[node], atol=1e-12)
    np.testing.assert_allclose(along.path(node, last), along.nodes[node], atol=1e-12)
    path = plot.animate(
        crank, tmp_path / "a.gif", fps=5, size=(240, 160), quantity="none", follow="middle", seconds=0.5
    )
    assert path.stat().st_size > 0
    with pytest.raises(ResultsError, match="leave follow out"):
        plot.animate(crank, tmp_path / "b.gif", follow="middle", trail="middle")


def test_gif(crank, tmp_path):
    path = plot.animate(
        crank, tmp_path / "a.gif", fps=20, size=(480, 320), quantity="none", trail="middle", seconds=0.5
    )
    with Image.open(path) as movie:
        assert (movie.n_frames, movie.size, movie.info["duration"]) == (10, (480, 320), 50)
        frames = []
        for number in range(movie.n_frames):
            movie.seek(number)
            frames.append(np.asarray(movie.convert("RGB"), dtype=int))
    trail = [int((frame[..., 0] - frame[..., 2] > 60).sum()) for frame in frames]
    assert trail[0] < trail[4] < trail[8]  # the path grows
    for before, after in pairwise(frames):
        assert (before != after).any(axis=2).sum() > 200
        assert (before[:, :40] == after[:, :40]).all()  # axis labels stand still
    assert count(frames[0], "#ffffff", 0) > 0.8 * 480 * 320  # the paper is white


def test_gif_in_space(chain, tmp_path):
    path = plot.animate(chain, tmp_path / "deep" / "a.gif", quantity="none", size=(300, 240))
    with Image.open(path) as movie:
        assert movie.n_frames == 12
        movie.seek(6)
        assert count(np.asarray(movie.convert("RGB"), dtype=int), "#0072B2", 40) > 50


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_mp4(crank, tmp_path):
    path = plot.animate(crank, tmp_path / "a.mp4", size=(321, 241), seconds=0.4)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_mp4_needs_ffmpeg_and_failures_of_it_are_reported(crank, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ResultsError, match="MP4 needs the program ffmpeg"):
        plot.animate(crank, tmp_path / "a.mp4")
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    program.chmod(0o755)
    if subprocess.run([str(program)], capture_output=True).returncode != 1:
        pytest.skip("cannot run scripts here")
    with pytest.raises(ResultsError, match="no such codec"):
        plot.animate(crank, tmp_path / "a.mp4", seconds=0.2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ffmpeg"]


# ---------------------------------------------------------------------------------------------- geometry


def test_beams_are_drawn_as_cubics(crank):
    scene = Scene(crank, crank.steps[0])
    frame = 7
    position, rotation = scene.state(frame)
    ((name, points, s),) = scene.curves(frame)
    assert name == "rod" and points.shape == (N_EL, 9, 3)
    np.testing.assert_allclose(points[:, 0], position[:N_EL], atol=1e-15)
    np.testing.assert_allclose(points[:, -1], position[1 : N_EL + 1], atol=1e-15)
    for element in range(N_EL):  # the derivative at the start is the length times the director there
        cubic = np.polynomial.Polynomial.fit(s, points[element, :, 1], 3, domain=[0, 1], window=[0, 1])
        assert cubic.deriv()(0.0) == pytest.approx(ROD / N_EL * rotation[element, 1, 0], rel=1e-10)


def test_bodies_and_symbols_turn_with_their_nodes(crank):
    scene = Scene(crank, crank.steps[0])
    for frame in (0, 5, 11):
        angle = SPEED * scene.times[frame]
        (centre, points), _ = scene.body_lines(frame)
        np.testing.assert_allclose(points[0], 0, atol=1e-15)
        np.testing.assert_allclose(points[1][:2], CRANK * np.array([np.cos(angle), np.sin(angle)]), atol=1e-15)
        np.testing.assert_allclose(scene.places(scene.symbols[0], frame)[0][0], 0, atol=1e-15)
        np.testing.assert_allclose(centre, points[1] / 2, atol=1e-15)
    low, high = scene.extent(list(range(scene.frames)))
    assert low[0] == pytest.approx(-CRANK, rel=0.05) and high[0] == pytest.approx(CRANK + ROD + 0.02)


def test_rotation_matrices():
    vectors = np.array([[0, 0, 0], [0, 0, np.pi / 2], [1e-9, 0, 0], [0.3, -1.2, 2.0]])
    matrices = rotation_matrices(vectors)
    np.testing.assert_allclose(
        matrices @ matrices.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-14
    )
    np.testing.assert_allclose(matrices[1], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(matrices[2][2, 1], 1e-9)
    np.testing.assert_allclose(matrices[3] @ vectors[3], vectors[3])
    assert np.trace(matrices[3]) == pytest.approx(1 + 2 * np.cos(np.linalg.norm(vectors[3])))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (None, "Bending moment [N m]"),
        ("strain energy", "Strain energy [J]"),
        ("strain energy [J]", "Strain energy [J]"),
        ("none", None),
    ],
)
def test_quantities_by_name(crank, name, found):
    quantity = find_quantity(crank, crank.steps[0], name)
    assert (quantity.label if quantity else None) == found
    if found == "Bending moment [N m]":
        assert quantity.signed and quantity.range[0] == -quantity.range[1]
        assert quantity.ends("rod", 3, N_EL).shape == (N_EL, 2)
        assert np.isnan(quantity.ends("other", 3, 2)).all()


def test_the_two_ends_of_an_element_are_one_quantity(tmp_path):
    header = {"title": "", "version": "", "dimension": 2, "nodes": np.eye(3)}
    block = {"name": "b", "type": "beam2", "connectivity": [[0, 1], [1, 2]]}
    writer = ResultsWriter(tmp_path, {**header, "blocks": [block]})
    writer.begin_step("s", "transient")
    frames = {
        "time": [0.0],
        "displacement": np.zeros((1, 3, 3)),
        "b/M_p [N m]": [[1.0, 2.0]],
        "b/M_q [N m]": [[2.0, 3.0]],
    }
    writer.append({"time": [0.0]}, {**frames, "b/N [N]": [[4.0, 5.0]]})
    writer.flush()
    results = Results.open(tmp_path)
    for name in (None, "M", "bending moment"):
        quantity = find_quantity(results, results.steps[0], name)
        assert quantity.label == "Bending moment [N m]"
        assert quantity.ends("b", 0, 2).tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert find_quantity(results, results.steps[0], "normal force").ends("b", 0, 2).tolist() == [[4, 4], [5, 5]]
    writer.fail("")


def write_curves(directory: Path, ledger: np.ndarray, sensors: list[dict]) -> Results:
    """A point at rest with given energies, and sensors of value one."""
    block = {"name": "p", "type": "point", "connectivity": [[0]]}
    header = {"title": "", "version": "0", "dimension": 3, "nodes": np.zeros((1, 3)), "blocks": [block]}
    writer = ResultsWriter(directory, header | {"ledger": ["kinetic", "strain"], "sensors": sensors})
    writer.begin_step("run", "transient", {})
    for t, row in enumerate(ledger):
        values = {f"sensor/{sensor['name']}": [[1.0] * len(sensor["columns"])] for sensor in sensors}
        writer.append({"time": [t], "ledger": [row], **values})
    writer.end_step()
    writer.close()
    return Results.open(directory)


@pytest.mark.parametrize(("constant", "label"), [(1e6, "Change of energy, work [J]"), (20.0, "Energy, work [J]")])
def test_a_constant_energy_does_not_hide_changes(tmp_path, drawn, constant, label):
    swing = np.sin(np.arange(9.0))
    results = write_curves(tmp_path / "r", np.column_stack((constant - swing, swing)), [])
    plot.plot_ledger(results, tmp_path / "a.png")
    axes = drawn[0].axes[0]
    assert axes.get_ylabel() == label
    curves = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    start = constant if constant > 1e3 else 0.0
    np.testing.assert_allclose(curves["Kinetic"], constant - swing - start, atol=1e-8)
    np.testing.assert_allclose(curves["Total energy"], constant - start, atol=1e-8)


def test_coordinates_of_joints_are_angles_or_displacements(tmp_path, drawn):
    kinds = {"hinge": "rad", "slide": "m"}
    sensors = [
        {"name": name, "kind": "joint", "unit": unit, "columns": [""], "mid_step": False}
        for name, unit in kinds.items()
    ]
    results = write_curves(tmp_path / "r", np.ones((3, 2)), sensors)
    for name, label in (("hinge", "Joint angle [rad]"), ("slide", "Joint displacement [m]")):
        plot.plot_sensor(results, name, tmp_path / "a.png")
        assert drawn[-1].axes[0].get_ylabel().replace("\n", " ") == label


def test_outputs_of_elements_are_named_by_their_quantity(tmp_path, drawn):
    quantities = {"bend": ("element", "M_q", "N m"), "pull": ("element", "N", "N"), "press": ("contact", "force", "N")}
    sensors = [
        {"name": name, "kind": kind, "quantity": quantity, "unit": unit, "columns": [name], "mid_step": False}
        for name, (kind, quantity, unit) in quantities.items()
    ]
    results = write_curves(tmp_path / "r", np.ones((3, 2)), sensors)
    for name, label in (("bend", "Moment M_q [N m]"), ("pull", "Force N [N]"), ("press", "Force [N]")):
        plot.plot_sensor(results, name, tmp_path / "a.png")
        assert drawn[-1].axes[0].get_ylabel() == label


def test_last_tick_label_above_an_empty_panel_is_not_cut(tmp_path, drawn):
    names = ["a", "b", "c", "d", "e"]
    sensors = [{"name": name, "kind": "angle", "unit": "rad", "columns": [name], "mid_step": False} for name in names]
    results = write_curves(tmp_path / "r", np.ones((3, 2)), sensors)
    (page,) = plot.sensor_pages(results)
    plot.plot_sensor_page(results, page, tmp_path / "a.png")
    figure = drawn[-1]
    figure.canvas.draw()
    for axes in figure.axes:
        for label in axes.get_xticklabels():
            assert not label.get_visible() or label.get_window_extent().x1 <= figure.bbox.x1


def test_shapes_of_a_part_beside_a_colour_bar_stand_in_the_middle_of_their_panels(tmp_path, drawn):
    """A long part reaches over the square of its axes: it must not leave its panel, nor be covered by the next one."""
    nodes = np.array([[x, y, 0.0] for x in (0.0, 1.0, 2.0, 3.0) for y in (0.0, 0.5)])
    quads = [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(3)]
    block = {"name": "plate", "type": "shell_quad", "cell": "quad", "connectivity": quads}
    header = {"title": "Plate", "version": "0", "dimension": 3, "nodes": nodes, "blocks": [block]}
    writer = ResultsWriter(tmp_path / "r", header)
    writer.begin_step("modes", "modes", {})
    shapes = np.zeros((3, len(nodes), 3))
    shapes[..., 2] = 0.1 * np.sin(np.arange(1, 4)[:, None] * nodes[:, 0])
    writer.append({"time": [1.0, 2.0, 3.0]}, {"time": [1.0, 2.0, 3.0], "displacement": shapes})
    writer.end_step({"frequencies_hz": [1.0, 2.0, 3.0]})
    writer.close()
    plot.plot_shapes(Results.open(tmp_path / "r"), 0, tmp_path / "a.png")
    figure = drawn[-1]
    figure.canvas.draw()
    *panels, bar = figure.axes
    for axes in panels:
        assert not axes.patch.get_visible()
        given, taken = axes.get_position(original=True), axes.get_position()
        assert abs(given.x0 + given.x1 - taken.x0 - taken.x1) < 1e-9
    assert bar.get_position().x0 > panels[-1].get_position().x1


def test_vibrations_at_peaks_of_a_response_are_drawn_where_they_are_largest(tmp_path, drawn):
    """At a resonance a vibration is a quarter of a period behind the load: its real part alone would look at rest."""
    nodes = np.array([[x, y, 0.0] for x in (0.0, 1.0) for y in (0.0, 1.0)])
    block = {"name": "plate", "type": "shell_quad", "cell": "quad", "connectivity": [[0, 2, 3, 1]]}
    header = {"title": "t", "version": "0", "dimension": 3, "nodes": nodes, "blocks": [block]}
    f = np.linspace(1.0, 9.0, 17)
    response = sum(a / (g**2 - f**2 + 2j * 0.02 * g * f) for a, g in ((1.0, 3.0), (2.0, 7.0)))
    u = np.zeros((17, 4, 3), complex)
    u[:, 2:, 2] = 1e-3 * response[:, None]
    writer = ResultsWriter(tmp_path / "r", header)
    writer.begin_step("response", "harmonic", {})
    columns = {"time": f, "displacement": u.real, "displacement imaginary": u.imag}
    writer.append({"time": f}, columns)
    writer.end_step({})
    writer.close()
    results = Results.open(tmp_path / "r")
    ((draw, name),) = plot.shapes_figures(results.steps[0])
    draw(results, 0, tmp_path / "a.png")
    *panels, _ = drawn[-1].axes
    assert name == "shapes" and [axes.get_title().partition(": ")[2] for axes in panels] == ["3 Hz", "7 Hz"]
    phase = largest_phase(results.steps[0], int(np.flatnonzero(f == 3.0)[0]))
    assert abs(np.real(u[f == 3.0][0, 2, 2] * np.exp(1j * phase))) == pytest.approx(abs(u[f == 3.0][0, 2, 2]), rel=1e-6)
    assert drawn[-1].get_supxlabel() == "2 of 17 vibrations, at the largest peaks"


def test_a_shape_that_twists_and_bends_is_drawn_without_waves(tmp_path):
    """A beam along x moves by w(x) and twists by more than 1 rad: its line is w, as without the twist."""
    x = np.linspace(0.0, 1.0, 6)
    nodes = np.column_stack((x, np.zeros((6, 2))))
    block = {"name": "beam", "type": "exact_beam3", "connectivity": [[k, k + 1] for k in range(5)]}
    header = {"title": "t", "version": "0", "dimension": 3, "nodes": nodes, "blocks": [block]}
    writer = ResultsWriter(tmp_path / "r", header)
    writer.begin_step("modes", "modes", {})
    u = np.zeros((1, 6, 3))
    u[0, :, 2] = 0.1 * x**2
    theta = np.column_stack((1.5 * x, -0.2 * x, np.zeros(6)))  # linear increments: twist, and -dw/dx about y
    angle = np.linalg.norm(theta, axis=1, keepdims=True)
    turn = np.divide(2.0 * np.arctan(0.5 * angle) * theta, angle, out=np.zeros_like(theta), where=angle > 0.0)
    columns = {"time": [1.0], "displacement": u, "rotation": turn[None]}
    writer.append({"time": [1.0]}, columns)
    writer.end_step({"frequencies_hz": [1.0]})
    writer.close()
    results = Results.open(tmp_path / "r")
    ((_, points, _),) = Scene(results, results.steps[0]).curves(0)
    np.testing.assert_allclose(points[..., 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(points[..., 2], 0.1 * points[..., 0] ** 2, atol=1e-6)  # frames have single precision


def test_labels_of_a_tall_model_in_space_are_not_cut(tmp_path):
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 3.4], [3.0, 0.0, 4.2]])
    block = {"name": "mast", "type": "truss", "connectivity": [[0, 1], [1, 2]]}
    header = {"title": "Mast", "version": "0", "dimension": 3, "nodes": nodes, "blocks": [block]}
    writer = ResultsWriter(tmp_path / "r", header)
    writer.begin_step("rest", "static", {})
    writer.append({"time": [0.0]}, {"time": [0.0], "displacement": np.zeros((1, 3, 3))})
    writer.end_step()
    writer.close()
    figure = draw_deformed(Results.open(tmp_path / "r"))
    figure.canvas.draw()
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis, figure.axes[0].zaxis):
        label = axis.label.get_window_extent()
        assert label.x0 > 0.0 < label.y0 and label.x1 < figure.bbox.x1


def test_colours_of_a_gif_cover_rare_ones():
    from fem_mbs.plot.animation import _choose_colours, _Palette

    rng = np.random.default_rng(1)
    pixels = np.full((20_000, 3), 255, np.uint8)
    pixels[:5000] = rng.integers(0, 40, (5000, 1))  # many greys
    pixels[7:20] = 253, 231, 37
    colours = _choose_colours(pixels, np.array([[200, 30, 30]], np.uint8))
    assert len(colours) <= 256
    assert colours[0].tolist() == [255, 255, 255]  # the commonest
    assert {tuple(c) for c in colours.tolist()} <= {tuple(p) for p in [*pixels.tolist(), [200, 30, 30]]}
    for wanted in ([255, 255, 255], [253, 231, 37], [200, 30, 30]):
        red, green, blue = wanted
        pixels = np.array([red | green << 8 | blue << 16 | 255 << 24, 0xFFFFFFFF], np.uint32)
        assert colours[_Palette(colours).numbers(pixels)].tolist() == [wanted, [255, 255, 255]]


@pytest.mark.parametrize(("name", "parts"), [("a [N m]", ("a", "N m")), ("a", ("a", "")), ("a[1]", ("a[1]", ""))])
def test_units_of_names(name, parts):
    assert split_unit(name) == parts


# ---------------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r, d: plot.plot_sensor(r, "nose", d / "a.png"), 'no sensor "nose"'),
        (lambda r, d: plot.plot_deformed(r, d / "a.png", quantity="heat"), 'no element quantity "heat"'),
        (lambda r, d: plot.plot_deformed(r, d / "a.png", times=[]), "no times given"),
        (lambda r, d: plot.plot_deformed(r, d / "a.png", step=4), "1 steps, no number 4"),
        (lambda r, d: plot.plot_ledger(r, d / "a.xyz"), "cannot be written"),
        (lambda r, d: plot.animate(r, d / "a.avi"), 'unknown ending ".avi"'),
        (lambda r, d: plot.animate(r, d / "a.gif", trail="nose"), 'no node "nose"'),
    ],
)
def test_wrong_requests(crank, tmp_path, ask, message):
    with pytest.raises(ResultsError, match=message):
        ask(crank, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_a_result_does_not_hold(chain, tmp_path):
    with pytest.raises(ResultsError, match="no momenta"):
        plot.plot_momenta(chain, tmp_path / "a.png")
    with pytest.raises(ResultsError, match='no step holds "ledger"'):
        plot.plot_ledger(chain, tmp_path / "a.png")


def rows(directory, step, series, dimension=3, nodes=((0, 0, 0), (1, 0, 0)), frames=None, **header):
    """Results of one step."""
    head = {"title": "t", "version": "0", "dimension": dimension, "nodes": np.array(nodes, float), **header}
    writer = ResultsWriter(directory, head)
    writer.begin_step("s", step)
    writer.append(series, frames)
    writer.end_step({})
    writer.close({})
    return Results.open(directory)


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved, to look at."""
    found = []
    for module in ("series", "model"):
        monkeypatch.setattr(
            f"fem_mbs.plot.{module}.save_figure", lambda figure, path: found.append(figure) or Path(path)
        )
    return found


SENSOR = {"name": "bolt", "kind": "displacement", "unit": "m", "columns": ["bolt.x", "bolt.y"], "mid_step": False}


def test_values_of_linear_statics_are_bars(tmp_path, drawn):
    results = rows(tmp_path, "linear_static", {"time": [0.0], "sensor/bolt": [[1.0, -2.0]]}, sensors=[SENSOR])
    plot.plot_sensor(results, "bolt", "x.png")
    (axes,) = drawn[0].axes
    assert [bar.get_width() for bar in axes.patches] == [1.0, -2.0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["bolt.x", "bolt.y"]
    assert axes.get_xlabel() == "Displacement [m]"


def test_a_sensor_along_a_path_is_drawn_and_written_over_the_load_factor(tmp_path, drawn):
    series = {"time": np.zeros(4), "load factor": np.array([0.0, 1.0, 0.5, 2.0]), "path length": np.arange(4.0)}
    results = rows(tmp_path, "static", series | {"sensor/bolt": np.ones((4, 2))}, sensors=[SENSOR])
    plot.plot_sensor(results, "bolt", "x.png")
    (axes,) = drawn[0].axes
    assert axes.get_xlabel() == "Load factor [-]"
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), series["load factor"])
    lines = results.write_sensors_csv()[0].read_text().splitlines()
    assert lines[0].split(",")[:3] == ["time [s]", "load factor [-]", "path length [m]"]
    assert lines[3].split(",")[:3] == ["0.0", "0.5", "2.0"]


@pytest.mark.parametrize(
    ("dimension", "end"), [(3, (0, 0, 3)), (3, (0, 3, 0)), (3, (3, 0, 0)), (2, (100, 120)), (2, (3, 120)), (2, (1, 0))]
)
def test_labels_stand_within_the_figure(tmp_path, drawn, dimension, end):
    """Also of narrow models, and of flat ones as high as wide."""
    nodes = [np.zeros(dimension), np.array(end, float)]
    blocks = [{"name": "b", "type": "truss", "connectivity": [[0, 1]], "outputs": []}]
    u = np.zeros((2, 2, 3))
    frames = {"time": [0.0, 1.0], "displacement": u}
    results = rows(tmp_path, "transient", {"time": [0.0, 1.0]}, dimension, nodes, frames, blocks=blocks)
    plot.plot_deformed(results, "x.png")
    (figure,) = drawn
    figure.draw_without_rendering()
    whole = figure.bbox.padded(1.0)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis, getattr(axes, "zaxis", None)):
            if axis is not None and axis.label.get_text():
                box = axis.label.get_window_extent()
                assert whole.x0 <= box.x0 and box.x1 <= whole.x1, axis.label.get_text()
                assert whole.y0 <= box.y0 and box.y1 <= whole.y1, axis.label.get_text()


def test_bending_of_beams_in_space_is_one_quantity_and_the_default(tmp_path):
    outputs = ["N [N]", "My 1 [N m]", "My 2 [N m]", "Mz 1 [N m]", "Mz 2 [N m]"]
    blocks = [{"name": "b", "type": "strain_beam3", "connectivity": [[0, 1]], "outputs": outputs}]
    frames = {"time": [0.0], "displacement": np.zeros((1, 2, 3)), "b/energy [J]": [[9.0]]}
    frames |= {f"b/{name}": [[value]] for name, value in zip(outputs, (7.0, 3.0, -6.0, 4.0, 8.0), strict=True)}
    results = rows(tmp_path, "static", {"time": [0.0]}, frames=frames, blocks=blocks)
    for name in (None, "bending moment", "Bending moment [N m]"):
        quantity = find_quantity(results, results.steps[0], name)
        assert quantity.label == "Bending moment [N m]"
        np.testing.assert_allclose(quantity.ends("b", 0, 1), [[5.0, 10.0]])
    assert find_quantity(results, results.steps[0], "My 1").label == "My 1 [N m]"


def test_point_masses_are_drawn(tmp_path, drawn):
    masses = [{"node": 1, "point": [0.0, 0.5, 0.0]}]
    blocks = [{"name": "b", "type": "truss", "connectivity": [[0, 1]], "outputs": []}]
    turned = np.zeros((1, 2, 3))
    turned[0, 1] = (0.0, 0.0, np.pi / 2.0)
    frames = {"time": [0.0], "displacement": np.zeros((1, 2, 3)), "rotation": turned}
    results = rows(tmp_path, "transient", {"time": [0.0]}, frames=frames, blocks=blocks, masses=masses)
    plot.plot_deformed(results, "x.png")
    marks = [np.array(line.get_data_3d()).T for line in drawn[0].axes[0].lines]
    assert any(m.shape == (1, 3) and np.allclose(m, [[0.5, 0.0, 0.0]]) for m in marks)


def test_figures_draw_springs_loads_and_shapes_of_bodies(tmp_path):
    """A picture has the colours of what it draws, and none of what the model lacks."""
    from fem_mbs import Model
    from fem_mbs.plot.glyphs import COLOURS
    from fem_mbs.plot.model import plot_deformed
    from fem_mbs.plot.scene import at_start

    def picture(name: str, **what: bool) -> np.ndarray:
        m = Model(2)
        shape = {"shape": "box", "size": [0.4, 0.2, 0.2], "colour": "#123456"} if what.get("shape") else None
        m.body("a", (1.0, 0.0), 1.0, 1.0, visual=shape)
        m.joint("pin", "pin", "a", "ground", point=(0.0, 0.0))
        if what.get("spring"):
            m.spring("s", "a", "ground", 10.0, 1.0, point_b=(1.0, 1.0))
        if what.get("force"):
            m.force("f", "a", (0.0, 1.0))
        return pixels(plot_deformed(at_start(m), tmp_path / f"{name}.png"))

    bare = picture("bare")
    for what, colour in (("spring", COLOURS["springs"]), ("force", COLOURS["loads"]), ("shape", "#123456")):
        assert count(bare, colour) == 0
        assert count(picture(what, **{what: True}), colour, 40) > 60, what
