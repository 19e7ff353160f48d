"""The window draws the scenes of the page; drawn without a screen, and skipped where pyvista is not installed."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from drawn_models import block, frame

from fem_mbs import InputError, Results, ResultsError, solve
from fem_mbs.cli.show import show_file
from fem_mbs.decks.notes import Accept
from fem_mbs.plot.scene import find_quantity

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyvista
except ImportError:
    pyvista = None

needs_pyvista = pytest.mark.skipif(pyvista is None, reason="pyvista is not installed (extra: window)")


def bar() -> Results:
    """A block under a load, and its modes, in millimetres."""
    m = block()
    m.force("pull", "body:x1", (1e6, 0.0, -1e6))
    m.units(length="mm", stress="MPa")
    m.static_step(1)
    m.modes_step(3)
    return solve(m)


@pytest.fixture(scope="module")
def results() -> Results:
    return bar()


@pytest.fixture
def window(results):
    from fem_mbs.show.window import Window

    found = Window(results, off_screen=True)
    yield found
    found.plotter.close()


def surface(window):
    """Return the surface as it is drawn now."""
    return next(iter(window.plotter.meshes))


@needs_pyvista
def test_the_surface_moves_with_the_frame(window, results):
    scene = window.scene
    nodes, _, triangles = scene.skin.vertices()
    assert surface(window).n_cells == len(triangles)
    u = results.steps[0].frames["displacement"]
    for number in (0, -1):
        window.go_to(number)
        expected = results.header["nodes"] + scene.scale * u[number]
        np.testing.assert_allclose(surface(window).points, expected[nodes], rtol=1e-6, atol=1e-6)
    window.enlarge(3.0)
    np.testing.assert_allclose(
        surface(window).points, (results.header["nodes"] + 3.0 * u[-1])[nodes], rtol=1e-6, atol=1e-6
    )
    with pytest.raises(ResultsError, match="has 2 frames, no number 2"):
        window.go_to(2)


@needs_pyvista
def test_fields_are_in_units_of_display(window, results):
    window.go_to(-1)
    nodes, _, _ = window.scene.skin.vertices()
    stress = find_quantity(results, results.steps[0], "von Mises").at_nodes(1)[0]
    np.testing.assert_allclose(surface(window).point_data["value"], 1e-6 * stress[nodes], rtol=1e-6)
    assert list(window.plotter.scalar_bars.keys()) == ["von Mises stress [MPa]"]
    window.colour_by("displacement")
    u = np.linalg.norm(results.steps[0].frames["displacement"][-1], axis=1)
    np.testing.assert_allclose(surface(window).point_data["value"], 1e3 * u[nodes], rtol=1e-6)
    window.colour_by(None)
    assert "value" not in surface(window).point_data and not list(window.plotter.scalar_bars.keys())
    with pytest.raises(ResultsError, match="no element quantity"):
        window.colour_by("colour")


@needs_pyvista
def test_shapes_swing_about_the_state(window, results):
    window.go_to_step(1)
    window.go_to(1)
    assert "modes" in window.title and "Hz" in window.title
    nodes = window.scene.skin.vertices()[0]
    rest = window.scene.state(None)[0][nodes]
    out = np.array(surface(window).points)
    window.swing(np.pi)
    np.testing.assert_allclose(surface(window).points - rest, rest - out, atol=1e-6)
    window.swing(np.pi / 2.0)
    np.testing.assert_allclose(surface(window).points, rest, atol=1e-6)
    window.go_to_step(2)  # the first one again
    assert window.scene.step.name == "static"


@needs_pyvista
def test_what_is_picked_is_told(window, results):
    window.go_to(-1)
    place = window.scene.state(1)[0][11]
    stress = find_quantity(results, results.steps[0], "von Mises").at_nodes(1)[0][11]
    told = window.told_at(place + 1e-6)
    length = ", ".join(f"{1e3 * v:.6g}" for v in place)
    assert told == f"node 11 at ({length}) mm; von Mises stress [MPa]: {1e-6 * stress:.5g}"


@needs_pyvista
def test_a_model_shows_its_symbols_bodies_and_sets(tmp_path):
    from fem_mbs.show.window import Window

    window = Window(frame(), off_screen=True)
    assert window.title == "start" and window.fields == []
    assert window.told_at((2.5, 0.0, 0.0)).startswith('revolute joint "pivot"')
    plain = np.asarray(window.plotter.screenshot(return_img=True), int)
    assert (plain < 200).any(axis=2).sum() > 1000  # something is drawn on white
    window.switch("joints", False)
    assert window.told_at((2.5, 0.0, 0.0)).startswith("node")
    window.switch("axes", True)
    window.switch("names", True)
    window.mark_set("rod:end")
    other = np.asarray(window.plotter.screenshot(return_img=True), int)
    orange = (np.abs(other - np.array([0xE6, 0x9F, 0x00])).max(axis=2) < 60).sum()
    assert orange > 10 + (np.abs(plain - np.array([0xE6, 0x9F, 0x00])).max(axis=2) < 60).sum()
    with pytest.raises(ResultsError, match=r'no set "x": there are rod'):
        window.mark_set("x")
    with pytest.raises(ResultsError, match=r'no layer "x": there are nodes'):
        window.switch("x", True)
    assert window.picture(tmp_path / "a.png").stat().st_size > 1000
    window.plotter.close()


@needs_pyvista
def test_without_a_screen_no_window_opens(monkeypatch):
    monkeypatch.setattr("fem_mbs.show.window.has_screen", lambda: False)
    monkeypatch.setattr("pyvista.OFF_SCREEN", False)
    with pytest.raises(ResultsError, match="there is no screen: write a page"):
        frame().show(window=True)


def test_without_pyvista_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(ResultsError, match=r"pyvista is not installed: .* pip install 'fem-mbs\[window\]'"):
        frame().show(window=True)
    path = tmp_path / "m.toml"
    frame().save(path)
    with pytest.raises(ResultsError, match="pyvista is not installed"):
        show_file(path, None, False, None, False, Accept.of(False, False), window=True)
    with pytest.raises(InputError, match="--window writes no file"):
        show_file(path, tmp_path / "a.html", False, None, False, Accept.of(False, False), window=True)
