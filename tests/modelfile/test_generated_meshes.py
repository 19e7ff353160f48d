"""Meshes that a model file generates or holds itself: the same as calls in Python, and written back."""

import numpy as np
import pytest
from test_model_text import arrays

from fem_mbs import Mesh, MeshError, Model, ModelError, load_model
from fem_mbs.meshes import grids
from fem_mbs.meshes.mesh import CellBlock

STEEL = "[material.steel]\nE = 2.1e11\nnu = 0.3\ndensity = 7850\n"
PLATE = (
    "dimension = 2\n[parameters]\nh = 0.1\nn = 4\n"
    + STEEL
    + """
[mesh.plate]
{mesh}
[[plane]]
name = "plate"
on = "plate"
material = "steel"
thickness = "h/10"
[[support]]
on = "plate:{held}"
[[traction]]
on = "plate:{loaded}"
vector = [0, 1e3]
[[step]]
type = "linear_static"
"""
)
SHAPES = {
    "rectangle": (
        'rectangle = {size = ["10*h", "h"], n = ["2*n", 2], kind = "quad8", grading = [2, 1]}',
        lambda: grids.rectangle((1.0, 0.1), (8, 2), kind="quad8", grading=(2, 1)),
        "left", "right",
    ),
    "patch": (
        'patch = {corners = [[0, 0], [1, 0], [1, 1], [0, 1]], n = [3, 3], edges = {top = [["5*h", "12*h"]]}}',
        lambda: grids.patch([(0, 0), (1, 0), (1, 1), (0, 1)], (3, 3), edges={"top": [(0.5, 1.2)]}),
        "bottom", "top",
    ),
    "ring": (
        'ring = {radii = ["h", 0.3], n = [2, "n"], angles = [0, 90], kind = "triangle6"}',
        lambda: grids.ring((0.1, 0.3), (2, 4), (0, 90), kind="triangle6"),
        "start", "end",
    ),
}  # fmt: skip


def load(tmp_path, text):
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    return load_model(path)


def check_saved(model, tmp_path, said=True):
    """A saved model is read back as the same."""
    model.save(tmp_path / "saved.toml")
    again = load_model(tmp_path / "saved.toml")
    assert arrays(again.compile()) == arrays(model.compile())
    assert np.array_equal(again.positions, model.positions)
    if said:
        assert again.specifications == model.specifications
    return again


@pytest.mark.parametrize("shape", SHAPES)
def test_grids_of_files(shape, tmp_path):
    mesh, made, held, loaded = SHAPES[shape]
    model = load(tmp_path, PLATE.format(mesh=mesh, held=held, loaded=loaded))
    python = Model(2)
    python.solid_material("steel", E=2.1e11, nu=0.3, density=7850)
    python.mesh("plate", made())
    python.planes("plate", on="plate", material="steel", thickness=0.01)
    assert model.positions == pytest.approx(python.positions, abs=1e-15)
    one, other = model.building.blocks, python.building.blocks
    for mine, its in zip(one, other, strict=False):
        assert mine.par == pytest.approx(its.par, rel=1e-13)
        assert np.array_equal(mine.nodes, its.nodes)
    check_saved(model, tmp_path)
    assert '"10*h"' in (tmp_path / "saved.toml").read_text() or shape != "rectangle"


def test_solids_and_shells_of_files(tmp_path):
    model = load(
        tmp_path,
        STEEL
        + """
[mesh.bar.box]
size = [1.0, 0.1, 0.1]
n = [4, 1, 1]
kind = "hexahedron20"
[mesh.wedge.block]
corners = [[2,0,0],[3,0,0],[3,1,0],[2,1,0],[2,0,1],[3,0,1],[3,1,1],[2,1,1]]
n = [1, 1, 1]
[mesh.pipe.ring]
radii = [0.1, 0.2]
height = 0.5
n = [1, 8, 2]
center = [5, 0, 0]
[mesh.shell.tube]
radius = 0.5
height = 1.0
n = [8, 2]
center = [8, 0, 0]
[[solid]]
name = "all"
on = ["bar", "wedge", "pipe"]
material = "steel"
[[shell]]
name = "shell"
on = "shell"
material = "steel"
thickness = 0.01
[[pressure]]
on = "bar:top"
value = 1e5
[[support]]
on = ["bar:left", "wedge:bottom", "pipe:bottom", "shell:bottom"]
""",
    )
    check_saved(model, tmp_path)
    python = Model()
    python.grid("bar", "box", size=(1.0, 0.1, 0.1), n=(4, 1, 1), kind="hexahedron20")
    n = len(python.positions)
    assert np.array_equal(model.positions[:n], python.positions)
    with pytest.raises(ModelError, match=r'unknown kind "bx".*did you mean "box"'):
        python.grid("b", "bx", size=(1, 1, 1), n=(1, 1, 1))


INLINE = """
dimension = 2
[material.m]
E = 1e9
density = 1e3
[section.s]
shape = "circle"
diameter = 0.1
[mesh.frame.inline]
nodes = [[0, 0], [0, 1], [1, 1], [1, 0]]
numbers = [10, 20, 30, 40]
cells = [{kind = "line2", nodes = [[10, 20], [20, 30]]}, {kind = "line2", nodes = [[30, 40]], numbers = [7]}]
node_sets = {feet = [10, 40], corner = [20]}
cell_sets = {beam = [2], columns = [1, 7]}
[[beam]]
name = "b"
on = "frame"
material = "m"
section = "s"
[[support]]
on = "frame:feet"
[[force]]
on = "frame:corner"
vector = [1, 0]
"""


def test_nodes_and_cells_in_the_file(tmp_path):
    model = load(tmp_path, INLINE)
    mesh, _ = model.meshes["frame"]
    assert mesh.points[:, :2].tolist() == [[0, 0], [0, 1], [1, 1], [1, 0]]
    assert mesh.lines("columns").tolist() == [[0, 1], [2, 3]]
    assert mesh.nodes_of("feet").tolist() == [0, 3]
    assert model.node_name(2) == "frame 30"
    check_saved(model, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("numbers = [10, 20, 30, 40]", "numbers = [10, 20, 30]", "4 nodes with 3 numbers"),
        ("numbers = [10, 20, 30, 40]", "numbers = [10, 20, 30, 30]", "number 30 is given 2 times|names node 40"),
        ("[[30, 40]]", "[[30, 50]]", "cells 2 names node 50"),
        ("[[30, 40]]", "[[30, 40, 10]]", "cells 2 need 2 nodes"),
        ('"line2", nodes = [[30', '"line5", nodes = [[30', "unknown kind 'line5'; there are line2"),
        ("feet = [10, 40]", "feet = [11]", 'node set "feet" names node 11'),
        ("beam = [2]", "beam = [3]", 'set "beam" names cell 3'),
        ("beam = [2]", "beam = 2", "must be a list of whole numbers"),
        ("numbers = [7]", "number = [7]", "may have numbers, nothing else"),
        ("[mesh.frame.inline]", "[mesh.frame.rectangle]\nsize = [1, 1]\nn = [2]\n[mesh.frame.inline]", "2 or 3 whole"),
        ("[mesh.frame.inline]", "[mesh.frame]\nline = {start = [0, 0], end = [1, 0], n = 1}\n[mesh.frame.inline]",
         "give either file, line, .* or inline; not line and inline"),
    ],
    ids=range(11),
)  # fmt: skip
def test_wrong_meshes_in_files(old, new, message, tmp_path):
    assert old in INLINE
    with pytest.raises((ModelError, MeshError), match=message):
        load(tmp_path, INLINE.replace(old, new))


def test_meshes_of_python_are_written_with_their_cells(tmp_path):
    """Numbers of nodes and cells, sets of all kinds and several blocks come back."""
    box = grids.box((1.0, 1.0, 1.0), (2, 1, 1))
    mesh = Mesh(
        box.points,
        [CellBlock("hexahedron", box.blocks[0].cells[:1], [5]), CellBlock("hexahedron", box.blocks[0].cells[1:], [9])],
        {"tip": [0]},
        {"second": [(1, [0])]},
        np.arange(100, 112),
        facet_sets={"ends": [(0, [0], [5]), (1, [0], [3])]},
    )
    model = Model()
    model.solid_material("steel", E=2.1e11, nu=0.3, density=7850)
    model.mesh("m", mesh)
    model.solids("s", on="m", material="steel")
    model.pressure("p", on="m:ends", value=1e3)
    again = check_saved(model, tmp_path, said=False)
    found, _ = again.meshes["m"]
    assert found.point_ids.tolist() == mesh.point_ids.tolist()
    assert [b.ids.tolist() for b in found.blocks] == [[5], [9]]
    assert [[p.tolist() for p in part[1:]] for part in found.facet_sets["ends"]] == [[[0], [5]], [[0], [3]]]
    assert found.nodes_of("second").tolist() == mesh.nodes_of("second").tolist()


def test_named_points_of_lines_in_files(tmp_path):
    model = load(
        tmp_path,
        "dimension = 2\n[parameters]\na = 0.3\n[mesh.m]\nunused = 'drop'\n[mesh.m.line]\nstart = [0, 0]\nend = [2, 0]\n"
        "n = 4\npoints = {tip_quarter = 0.25, held = 'a'}\n[[point_mass]]\nname = 'p'\nat = 'm:held'\nmass = 1.0\n"
        "[[point_mass]]\nname = 'q'\nat = 'm:tip_quarter'\nmass = 1.0\n",
    )
    assert model.position(model.node_of("m:held")).tolist() == pytest.approx([0.6, 0.0])
    assert model.position(model.node_of("m:tip_quarter")).tolist() == [0.5, 0.0]
    with pytest.raises(ModelError, match=r"points.*b = 1.5 must be a number from 0 to 1"):
        load(tmp_path, "[mesh.m.line]\nstart = [0, 0, 0]\nend = [2, 0, 0]\nn = 4\npoints = {b = 1.5}\n")
