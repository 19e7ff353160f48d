"""Shapes of rigid bodies that are only looked at."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

from fem_mbs import Model, ModelError, load_model
from fem_mbs.input_files import inputs_of
from fem_mbs.meshes.formats.shapes import box, cylinder, read_shape, sphere
from fem_mbs.modelfile.writer import write_model
from fem_mbs.plot.scene import Scene, at_start


def enclosed(points: np.ndarray, triangles: np.ndarray) -> float:
    """Volume within a closed surface with normals outwards."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def closed(triangles: np.ndarray) -> bool:
    """Whether every edge is passed once in each direction."""
    edges = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    forward = {tuple(edge) for edge in edges.tolist()}
    return len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


def test_primitive_shapes_are_closed_and_have_their_volume():
    points, triangles = box(np.array([1.0, 2.0, 3.0]))
    assert closed(triangles)
    assert enclosed(points, triangles) == pytest.approx(6.0)
    n = 32
    points, triangles = cylinder(0.5, 2.0, n)
    assert closed(triangles)
    assert enclosed(points, triangles) == pytest.approx(0.5 * n * np.sin(2.0 * np.pi / n) * 0.25 * 2.0)
    points, triangles = sphere(0.5, 96)
    assert enclosed(points, triangles) == pytest.approx(4.0 / 3.0 * np.pi * 0.125, rel=3e-3)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 0.5)


@pytest.mark.parametrize("ending", ["stl", "obj"])
def test_files_of_shapes(tmp_path, ending):
    points, triangles = box(np.array([1.0, 2.0, 3.0]))
    meshio.Mesh(points, [("triangle", triangles)]).write(tmp_path / f"box.{ending}")
    read, cells = read_shape(tmp_path / f"box.{ending}")
    assert enclosed(read, cells) == pytest.approx(6.0, rel=1e-6)


def body(**options) -> Model:
    m = Model(3)
    m.body("a", (1.0, 2.0, 3.0), 1.0, (1.0, 1.0, 1.0), rotation=(0.0, 0.0, np.pi / 2), **options)
    return m


def test_shapes_stand_in_the_axes_of_their_body():
    """The body axis x points along y: a box 0.5 along x from the node stands 0.5 along y from it."""
    m = body(visual={"shape": "box", "size": [0.2, 0.4, 0.6], "position": [0.5, 0.0, 0.0], "colour": "#ff0000"})
    results = at_start(m)
    ((colour, corners),) = Scene(results, results.steps[0]).visuals(None)
    assert colour == "#ff0000"
    flat = corners.reshape(-1, 3)
    np.testing.assert_allclose(flat.min(axis=0), [0.8, 2.4, 2.7], atol=1e-12)
    np.testing.assert_allclose(flat.max(axis=0), [1.2, 2.6, 3.3], atol=1e-12)


def test_files_of_model_files_stand_beside_them_and_are_inputs(tmp_path):
    points, triangles = box(np.ones(3))
    folder = tmp_path / "parts"
    folder.mkdir()
    meshio.Mesh(points, [("triangle", triangles)]).write(folder / "one.stl")
    text = 'dimension = 3\n[[body]]\nname = "a"\nposition = [0, 0, 0]\nmass = 1\ninertia = [1, 1, 1]\nvisual = %s\n'
    for given in ('"one.stl"', '[{file = "one.stl", scale = 2}, {shape = "sphere", radius = 0.1}]'):
        path = folder / "model.toml"
        path.write_text(text % given)
        visuals = load_model(path).bodies["a"].visuals
        assert len(visuals[0].triangles) == 12
        assert folder / "one.stl" in inputs_of(path)
        write_model(load_model(path), tmp_path / "copy.toml")
        again = load_model(tmp_path / "copy.toml").bodies["a"].visuals
        assert [len(v.triangles) for v in again] == [len(v.triangles) for v in visuals]
        np.testing.assert_allclose(again[0].points, visuals[0].points)


@pytest.mark.parametrize(
    ("visual", "text"),
    [
        ("none.stl", "there is no such file"),
        ("model.step", "unknown ending"),
        ({"shape": "cone"}, "must have a shape of box, cylinder, sphere"),
        ({"shape": "box"}, 'must have "size" for a box'),
        ({"shape": "sphere", "radius": -1.0}, "must have a positive radius"),
        ({"shape": "box", "size": [1.0, 2.0]}, "must have 3 positive numbers as size"),
        ({"shape": "sphere", "radius": 1.0, "size": [1.0, 1.0, 1.0]}, 'unknown key "size"'),
        ({"shape": "sphere", "radius": 1.0, "colour": "red"}, "must have a colour like"),
        ({"shape": "sphere", "radius": 1.0, "position": [0.0, "x", 0.0]}, "must be a number"),
        ({}, "either file or shape"),
        ([], "at least one shape"),
        (3.0, "must be a file, or tables"),
    ],
)
def test_wrong_shapes(visual, text):
    with pytest.raises(ModelError, match='Body "a": visual') as caught:
        body(visual=visual)
    assert text in str(caught.value)


def test_damaged_files(tmp_path):
    path = tmp_path / "one.stl"
    path.write_text("solid x\nfacet normal a b c\n")
    with pytest.raises(ModelError, match="visual"):
        body(visual=str(path))
