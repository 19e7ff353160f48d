"""Surfaces of solid and plane parts: which facets are outside, and pictures of them."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import boundary_faces, grid

from fem_mbs.elements.solids.shapes import CELLS
from fem_mbs.errors import ResultsError
from fem_mbs.plot import figures as plot
from fem_mbs.plot import model, surface
from fem_mbs.plot.model import draw_deformed
from fem_mbs.plot.raster import Pixels
from fem_mbs.plot.scene import find_quantity
from fem_mbs.plot.stage import Stage
from fem_mbs.plot.style import make_figure, style
from fem_mbs.plot.surface import Skin, normals, outer_facets
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter

Image = pytest.importorskip("PIL.Image")

SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"]


def header_of(X, blocks, dimension=3, **more) -> dict:
    nodes = np.hstack([X, np.zeros((len(X), 3 - X.shape[1]))])
    named = [{"type": "", "region": 0, "group": "p", "name": f"p {k}", **b} for k, b in enumerate(blocks)]
    return {"title": "Part", "version": "", "dimension": dimension, "nodes": nodes, "blocks": named, **more}


def write(directory, cell: str, counts, kind: str = "static", extra=(), supports=()) -> Results:
    """A bar along x, bent and stressed more and more; with `extra` a mast on it."""
    dim = CELLS[cell][0]
    size = (3.0, 1.0, 1.0)[:dim]
    X, cells = grid(cell, counts, size=size)
    header = header_of(X, [{"cell": cell, "connectivity": cells}], dim, supports=list(supports))
    if extra:
        header["nodes"] = np.vstack((header["nodes"], [[3.0, 0.5, 1.5]]))
        tip = int(np.argmin(np.linalg.norm(X - (3.0, 0.5, 1.0), axis=1)))
        header["blocks"].append({"name": "mast", "type": "beam3d", "connectivity": [[tip, len(X)]]})
    header["fields"] = [
        {"name": "stress [Pa]", "components": ["xx", "yy", "zz", "xy", "yz", "zx"]},
        {"name": "von Mises stress [Pa]", "components": [""]},
    ]
    writer = ResultsWriter(directory, header)
    writer.begin_step("bend", kind)
    nodes = header["nodes"]
    for t in (0.0, 0.5, 1.0):
        u = np.zeros((1, len(nodes), 3))
        u[0, :, 1] = 0.05 * t * nodes[:, 0] ** 2
        frames = {"time": [t], "displacement": u, "rotation": np.zeros_like(u)}
        if kind == "static":
            stress = np.zeros((1, len(nodes), 6), np.float32)
            stress[0, :, 0] = 1e6 * t * (3.0 - nodes[:, 0]) * (0.5 - nodes[:, 1])
            frames |= {"stress [Pa]": stress, "von Mises stress [Pa]": np.abs(stress[:, :, 0])}
        writer.append({"time": [t]}, frames)
    writer.end_step({"frequencies_hz": [1.0, 2.0, 3.0]} if kind == "modes" else {})
    writer.close()
    return Results.open(directory)


def pixels(path, frame: int = 0) -> np.ndarray:
    with Image.open(path) as image:
        if frame:
            image.seek(frame)
        return np.asarray(image.convert("RGB"), dtype=int)


def coloured(picture: np.ndarray) -> int:
    return int((picture.max(axis=2) - picture.min(axis=2) > 60).sum())


# ---------------------------------------------------------------------------------------------- geometry


@pytest.mark.parametrize("cell", SOLIDS)
def test_facets_outside_are_those_that_occur_once(cell):
    X, cells = grid(cell, (4, 3, 2), distort=0.1)
    found = {kind: nodes for kind, nodes, _ in outer_facets([(cell, cells)])}
    want = boundary_faces(cell, cells)
    assert {k: len(v) for k, v in found.items()} == {k: len(v) for k, v in want.items() if len(v)}
    for kind, nodes in found.items():
        assert {tuple(sorted(row)) for row in nodes.tolist()} == {tuple(sorted(r)) for r in want[kind].tolist()}
    # closed: areas sum to nothing, and the volume is that of the unit box, outwards
    skin = Skin(header_of(X, [{"cell": cell, "connectivity": cells}]))
    pieces = skin.polygons(X)
    area = normals(pieces)
    assert np.abs(area.sum(axis=0)).max() < 1e-12
    assert np.einsum("mi,mi->", area, pieces.mean(axis=1)) / 3 == pytest.approx(1.0, rel=0.02)
    assert np.linalg.norm(area, axis=1).sum() == pytest.approx(6.0, rel=1e-9)


def test_parts_that_share_nodes_hide_what_is_between_them():
    _, cells = grid("hexahedron", (2, 1, 1))
    together = outer_facets([("hexahedron", cells[:1]), ("hexahedron", cells[1:])])
    assert [(kind, len(nodes)) for kind, nodes, _ in together] == [("quad", 10)]
    assert np.bincount(together[0][2]).tolist() == [5, 5]


def test_edges_of_a_box_and_of_an_area():
    X, cells = grid("hexahedron20", (3, 2, 2))
    skin = Skin(header_of(X, [{"cell": "hexahedron20", "connectivity": cells}]))
    assert skin.sharp.sum() == 4 * (3 + 2 + 2) and len(skin.edges) == 64
    on_edge = ((np.abs(skin.nodes) < 1e-12) | (np.abs(skin.nodes - 1.0) < 1e-12)).sum(axis=1) >= 2
    assert on_edge[skin.edges[skin.sharp]].all()
    np.testing.assert_allclose(skin.lines(X)[:, [0, -1]], X[skin.edges[:, :2]], atol=1e-14)
    X, cells = grid("quad8", (3, 2))
    skin = Skin(header_of(X, [{"cell": "quad8", "connectivity": cells}], 2))
    assert skin.sharp.sum() == 10 and len(skin.edges) == 17


@pytest.mark.parametrize("cell", ["triangle6", "quad8", "tetra10", "hexahedron20"])
def test_values_on_pieces_are_those_of_the_shape_functions(cell):
    X, cells = grid(cell, (2, 2, 1)[: CELLS[cell][0]])
    skin = Skin(header_of(X, [{"cell": cell, "connectivity": cells}], CELLS[cell][0]))
    position = skin.nodes.copy()
    pieces = skin.polygons(position)
    linear = position @ (1.0, -2.0, 0.5)
    np.testing.assert_allclose(skin.at_corners({0: linear}), pieces @ (1.0, -2.0, 0.5), atol=1e-12)
    assert skin.at_corners({0: linear}).shape == pieces.shape[:2] and len(skin) > 4 * skin.count


def test_many_facets_are_thinned_out(monkeypatch):
    monkeypatch.setattr(surface, "_MOST_FACETS", 20_000)
    X, cells = grid("hexahedron", (70, 70, 60))
    skin = Skin(header_of(X, [{"cell": "hexahedron", "connectivity": cells}]))
    assert skin.count == 2 * (70 * 70 + 2 * 70 * 60) and 5000 < len(skin) <= 20_000
    area = normals(skin.polygons(X))
    assert np.linalg.norm(area, axis=1).sum() == pytest.approx(6.0, rel=0.1)
    np.testing.assert_allclose(skin.at_corners({0: np.full(len(X), 2.5)}), 2.5)


# ---------------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize(("cell", "counts"), [("tetra10", (3, 1, 1)), ("quad8", (4, 2)), ("wedge", (3, 1, 1))])
def test_deformed_shape_with_stresses(tmp_path, cell, counts):
    results = write(tmp_path / "r", cell, counts)
    one = pixels(plot.plot_deformed(results, tmp_path / "a.png"))
    assert one.shape[1] == pytest.approx(7.4 * 170, abs=2)
    assert coloured(one) > 0.05 * one.shape[0] * one.shape[1]
    assert one[0].min() == one[-1].min() == one[:, 0].min() == 255  # nothing is cut off
    signed = pixels(plot.plot_deformed(results, tmp_path / "b.png", quantity="stress xx"))
    assert (signed[..., 0] - signed[..., 2] > 80).sum() > 1000 < (signed[..., 2] - signed[..., 0] > 80).sum()
    three = pixels(plot.plot_deformed(results, tmp_path / "c.png", times=3, quantity="displacement"))
    assert coloured(three) > 3000


@pytest.mark.parametrize(("cell", "counts"), [("hexahedron", (4, 1, 1)), ("triangle6", (6, 2))])
def test_frames_drawn_in_pixels_are_those_drawn_in_axes(tmp_path, cell, counts):
    """Until the layout is fixed a surface is an image in its axes, of any resolution; then it stands in the pixels."""
    results = write(tmp_path / "r", cell, counts)
    with style():
        stage, figure = Stage(results, results.steps[0]), make_figure(4.0, 3.0)
        stage.fineness = 100.0
        quantity = find_quantity(results, results.steps[0], None)
        stage.set_up(figure, [0, 1, 2], title="", quantity=quantity, times=False, fit=False)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        pictures = []
        for finish in (False, True):
            stage.draw_frame(2)
            if finish:
                assert any(isinstance(artist, Pixels) for artist in stage.frame_artists())
            figure.canvas.draw()
            pictures.append(np.array(figure.canvas.buffer_rgba())[..., :3].astype(float))
            stage.clear()
            stage.finish()
    assert coloured(pictures[0]) > 5000
    assert coloured(pictures[1]) == pytest.approx(coloured(pictures[0]), rel=0.06)
    shifts = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]
    apart = [np.abs(np.roll(pictures[1], shift, axis=(0, 1)) - pictures[0]).max(axis=2) for shift in shifts]
    assert np.argmin([a.mean() for a in apart]) == 0  # at the same place
    inside = np.ptp(pictures[0], axis=2) > 60
    assert np.median(apart[0][inside]) <= 4.0  # in the same colours; sampling anew smears edges


def test_panels_of_one_figure_show_one_size(tmp_path):
    results = write(tmp_path / "r", "quad8", (4, 2))
    figure = draw_deformed(results, times=3)
    panels = [axes for axes in figure.axes if axes.get_title("left")]
    assert len(panels) == 3 and len({axes.get_xlim() for axes in panels}) == 1


def test_shapes_tell_model_and_step(tmp_path):
    results = write(tmp_path / "r", "triangle", (6, 2), "modes")
    figures = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "save_figure", lambda figure, path: figures.append(figure) or path)
        plot.plot_shapes(results, 0, tmp_path / "a.png")
    assert figures[0].get_suptitle() == "Part: bend"


@pytest.mark.parametrize(("cell", "counts"), [("hexahedron20", (4, 1, 1)), ("triangle", (6, 2))])
def test_shapes_and_their_animation(tmp_path, cell, counts):
    results = write(tmp_path / "r", cell, counts, "modes")
    picture = pixels(plot.plot_shapes(results, 0, tmp_path / "a.png"))
    assert coloured(picture) > 0.03 * picture.shape[0] * picture.shape[1]
    path = plot.animate(results, tmp_path / "a.gif", fps=8, size=(400, 300), mode=3, seconds=1.0)
    with Image.open(path) as movie:
        assert movie.n_frames == 8
    there, back = pixels(path, 2), pixels(path, 6)
    assert (there != back).any(axis=2).sum() > 500
    with pytest.raises(ResultsError, match="there is no mode 4; give 1 to 3"):
        plot.animate(results, tmp_path / "b.gif", mode=4)


def test_a_mixed_model_with_supports_and_what_can_be_shown(tmp_path):
    held = [{"node": n, "components": ["x", "y", "z"]} for n in range(20)]
    results = write(tmp_path / "r", "hexahedron", (6, 2, 2), extra=True, supports=held)
    path = plot.plot_deformed(results, tmp_path / "a.png")
    assert coloured(pixels(path)) > 20_000
    quantity = find_quantity(results, results.steps[0], None)
    assert quantity.label == "von Mises stress [Pa]" and quantity.range == (0.0, pytest.approx(1.5e6))
    assert find_quantity(results, results.steps[0], "displacement").range[1] == pytest.approx(0.45)
    with pytest.raises(ResultsError, match=r'no element quantity "heat".*"displacement", "stress xx"'):
        find_quantity(results, results.steps[0], "heat")
    assert [p.name for p in plot.plot_all(results, tmp_path)] == ["deformed.png"]
    with pytest.raises(ResultsError, match="it has no modes"):
        plot.animate(results, tmp_path / "b.gif", mode=1)


def test_small_displacements_are_enlarged_by_a_round_number(tmp_path):
    results = write(tmp_path / "r", "hexahedron", (3, 1, 1))
    stage = Stage(results, results.steps[0])
    assert stage.scene.visible_scale([2]) == 1.0
    stage.scene.magnify(1e-4)  # as if they were so small
    assert stage.scene.visible_scale([2]) == 2000.0
