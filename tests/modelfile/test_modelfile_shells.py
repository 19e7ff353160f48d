"""Shells in model files: the table makes the call, `fem-mbs check` explains it."""

from __future__ import annotations

import meshio
import numpy as np
import pytest
from meshio import gmsh
from typer.testing import CliRunner

from fem_mbs import Model, load_model
from fem_mbs.cli.main import app
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.meshes.formats.reader import read_mesh

TEXT = """
[material.ply]
E = [140e9, 10e9, 10e9]
nu = [0.3, 0.3, 0.4]
G = [5e9, 5e9, 3.5e9]
density = 1600.0

[mesh.m]
file = "plate.msh"

[[shell]]
name = "skin"
on = "m:body"
layers = [
    {material = "ply", thickness = 0.002},
    {material = "ply", thickness = 0.001, angle = 45.0},
]
offset = 0.0015
orientation = [0, "1 + x", 0]
mass = "lumped"

[[support]]
on = "m:left"

[[pressure]]
on = "m:body"
value = 1e3

[[step]]
type = "linear_static"
"""

MEMBRANE = """
[material.steel]
E = 210e9
nu = 0.3
density = 7800.0
expansion = 1.2e-5

[mesh.m]
file = "plate.msh"

[[shell]]
name = "skin"
on = "m:body"
material = "steel"
thickness = 1e-3
element = "membrane"

[[support]]
on = "m:left"

[[temperature]]
on = "skin"
value = "-10*(1 + x)"

[[step]]
type = "static"
"""


@pytest.fixture
def folder(tmp_path):
    """A plate of 2 x 2 quadrilaterals and its left edge in Gmsh's format, and the model file beside it."""
    u, v = np.meshgrid((0.0, 0.5, 1.0), (0.0, 0.5, 1.0))
    i = np.arange(9).reshape(3, 3)
    quads = np.stack((i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]), axis=-1).reshape(-1, 4)
    left = np.column_stack((i[:-1, 0], i[1:, 0]))
    tags = [np.full(len(quads), 1), np.full(len(left), 2)]
    mesh = meshio.Mesh(
        np.column_stack((u.ravel(), v.ravel(), 0 * u.ravel())),
        [("quad", quads), ("line", left)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"body": np.array([1, 2]), "left": np.array([2, 1])},
    )
    gmsh.write(tmp_path / "plate.msh", mesh, "2.2", binary=False)
    (tmp_path / "model.toml").write_text(TEXT)
    return tmp_path


def test_the_table_makes_the_call(folder):
    model = load_model(folder / "model.toml")
    same = Model(3)
    same.material("ply", [140e9, 10e9, 10e9], [0.3, 0.3, 0.4], 1600.0, G=[5e9, 5e9, 3.5e9])
    same.mesh("m", read_mesh(folder / "plate.msh", "all"))
    layers = [{"material": "ply", "thickness": 0.002}, {"material": "ply", "thickness": 0.001, "angle": 45.0}]
    same.shells(
        "skin", "m:body", layers=layers, offset=0.0015, orientation=[0.0, "1 + x", 0.0], mass="lumped"
    )  # fmt: skip
    same.fix("m:left")
    same.pressure("pressure 1", "m:body", 1e3)
    assert len(model.building.blocks) == len(same.building.blocks) == 3
    for a, b in zip(model.building.blocks, same.building.blocks, strict=True):
        assert (a.type, a.groups) == (b.type, b.groups)
        assert np.array_equal(a.par, b.par)
        assert np.array_equal(a.nodes, b.nodes)
    group = model.shell_groups["skin"]
    assert group.mass.sum() == pytest.approx(1600.0 * 0.003, rel=1e-12)
    np.testing.assert_allclose(group.axes[:, 0], np.tile((0.0, 1.0, 0.0), (4, 1)))


def test_check_explains(folder):
    result = CliRunner().invoke(app, ["check", str(folder / "model.toml")])
    text = " ".join(result.output.split())
    assert result.exit_code == 0, result.output
    assert 'shell "skin": 4 quads, 2 layers, thickness 0.003 m: area 1 m^2, mass 4.8 kg' in text
    assert "1 pressure: pressure 1" in text
    assert "is not used" not in text


def test_membranes_and_temperatures(folder):
    """The temperature of an element is the mean of its nodes; its strains are those of the free element."""
    (folder / "model.toml").write_text(MEMBRANE)
    model = load_model(folder / "model.toml")
    group = model.shell_groups["skin"]
    np.testing.assert_allclose(group.heat, np.repeat([[(-12.5, 0.0)], [(-17.5, 0.0)]] * 2, 4, axis=1))
    block = next(b for b in model.building.blocks if b.type.name == "membrane_quad")
    first = block.type.column("T1")
    chord = np.array((0.5, 0.5, 0.5, 0.5, 0.5**0.5, 0.5**0.5)) ** 2
    np.testing.assert_allclose(block.par[:, first:], 1.2e-5 * np.outer(group.heat[:, 0, 0], chord))
    result = CliRunner().invoke(app, ["check", str(folder / "model.toml")])
    assert 'membrane "skin": 4 quads, 1 layer' in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("angle = 45.0", "angel = 45.0", "layer 2 has an unknown key"),
        ('{material = "ply", thickness = 0.002}', '{material = "ply"}', 'layer 1 has no "thickness"'),
        ("thickness = 0.002", "thickness = -0.002", "thickness of layer 1"),
        ("thickness = 0.002", 'thickness = "a"', 'no parameter is called "a"'),
        ('"m:body"\nlayers', '"m:left"\nlayers', "holds line2 cells and no plane cells"),
        ('material = "ply", thickness = 0.002', 'material = "play", thickness = 0.002', 'did you mean "ply"'),
        ('"1 + x"', '"1 + w"', "unknown"),
        ('mass = "lumped"', 'mass = "most"', "must be one of"),
        ('on = "m:body"\nvalue', 'on = "m:left"\nvalue', "edges of shell"),
    ],
)
def test_wrong_input_is_one_error(folder, old, new, message):
    assert old in TEXT
    (folder / "model.toml").write_text(TEXT.replace(old, new))
    with pytest.raises((ModelError, MeshError), match=message):
        load_model(folder / "model.toml")
