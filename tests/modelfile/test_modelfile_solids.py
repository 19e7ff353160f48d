"""Solid and plane parts in model files: the tables make the calls, `fem-mbs check` explains them."""

from __future__ import annotations

from dataclasses import replace

import meshio
import numpy as np
import pytest
from meshio import gmsh
from solid_meshes import box_mesh
from typer.testing import CliRunner

from fem_mbs import Model, load_model, solve
from fem_mbs.cli.main import app
from fem_mbs.errors import ModelError
from fem_mbs.meshes.formats.reader import read_mesh

HEAD = """
[material.steel]
E = 2e6
nu = 0.3
density = 1000.0
expansion = 1e-3

[mesh.m]
file = "part.msh"
"""
SOLID = f"""{HEAD}
[[solid]]
name = "body"
on = "m:body"
material = "steel"
element = "incompatible"
kinematics = "linear"
mass = "lumped"
damping = 0.01
mass_damping = 0.1

[[support]]
on = "m:x0"

[[pressure]]
name = "wind"
on = "m:z1"
value = "1 + x"
function = "t"

[[traction]]
on = ["m:x1"]
vector = [0.0, 0.0, "y"]

[[temperature]]
on = "body"
value = 300.0
reference = 290.0

[[step]]
type = "static"
"""


def gmsh_part(path, cell, counts, size):
    """A Gmsh file with the groups body, and its sides x0, x1, y0 ... as surface or line groups."""
    mesh = box_mesh(cell, counts, size)
    dim = len(counts)
    blocks, groups = [(cell, mesh.blocks[0].cells)], [np.full(len(mesh.blocks[0].cells), 1)]
    names = {"body": np.array([1, dim])}
    for tag, side in enumerate(mesh.facet_sets, 2):
        for kind, nodes in mesh.facet_nodes(side):
            blocks.append(({"line2": "line"}.get(kind, kind), nodes))
            groups.append(np.full(len(nodes), tag))
        names[side.removesuffix(" faces")] = np.array([tag, dim - 1])
    raw = meshio.Mesh(
        mesh.points, blocks, cell_data={"gmsh:physical": groups, "gmsh:geometrical": groups}, field_data=names
    )
    gmsh.write(path, raw, "2.2", binary=False)


def test_tables_make_the_calls(tmp_path):
    gmsh_part(tmp_path / "part.msh", "hexahedron", (4, 2, 2), (1.0, 0.2, 0.1))
    (tmp_path / "model.toml").write_text(SOLID)
    model = load_model(tmp_path / "model.toml")
    same = Model(3)
    same.material("steel", E=2e6, nu=0.3, density=1000.0, expansion=1e-3)
    same.mesh("m", read_mesh(tmp_path / "part.msh", "all"))
    same.solids(
        "body", "m:body", "steel", element="incompatible", kinematics="linear", mass="lumped", damping=0.01,
        mass_damping=0.1,
    )  # fmt: skip
    same.fix("m:x0")
    same.pressure("wind", "m:z1", "1 + x", function="t")
    same.traction("traction 1", "m:x1", (0.0, 0.0, "y"))
    same.temperature("temperature 1", "body", 300.0, reference=290.0)
    assert len(model.building.blocks) == len(same.building.blocks) == 4
    for a, b in zip(model.building.blocks, same.building.blocks, strict=True):
        assert (a.type, a.groups) == (b.type, b.groups)
        assert np.array_equal(a.par, b.par) and np.array_equal(a.nodes, b.nodes)
    solve(model)


def test_check_explains(tmp_path):
    gmsh_part(tmp_path / "part.msh", "hexahedron", (4, 2, 2), (1.0, 0.2, 0.1))
    (tmp_path / "model.toml").write_text(SOLID)
    result = CliRunner().invoke(app, ["check", str(tmp_path / "model.toml")])
    text = " ".join(result.output.split())
    assert result.exit_code == 0, result.output
    assert "45 points" in text and "16 hexahedron cells" in text
    assert "m:z1 (8 quads, 8 faces)" in text
    assert (
        'solid "body": 16 hexahedron, incompatible, material steel: volume 0.02 m^3, mass 20 kg, '
        "worst ratio of Jacobians in an element 1" in text
    )
    assert "1 pressure: wind" in text and "1 temperature: temperature 1" in text
    assert "note: material" not in text


def test_a_mesh_without_solids_keeps_its_lines_only(tmp_path):
    gmsh_part(tmp_path / "part.msh", "quad", (4, 2), (1.0, 0.2))
    text = f"""dimension = 2
{HEAD}
[section.s]
shape = "rectangle"
width = 0.01
height = 0.01
[[beam]]
on = "m:y0"
section = "s"
material = "steel"
"""
    (tmp_path / "model.toml").write_text(text)
    with pytest.raises(ModelError, match="no element, body or joint uses node"):  # the other sides, as ever
        load_model(tmp_path / "model.toml").compile()
    kept = load_model(tmp_path / "model.toml")
    assert kept.meshes["m"][0].read.keys() == {"points", "line2", "node sets", "cell sets"}
    everything = Model(2)
    everything.material("steel", E=2e6, nu=0.3, density=1000.0)
    everything.section("s", "rectangle", width=0.01, height=0.01)
    everything.mesh("m", tmp_path / "part.msh")
    for side in ("x0", "x1", "y0", "y1"):
        everything.beams(side, f"m:{side}", "s", "steel")
    compiled = everything.compile()  # inner nodes of cells that no part stands on are left out
    assert len(everything.positions) == 15
    assert compiled.system.n_equations == 3 * 12


def test_plane_part_with_orthotropic_material_about_an_axis(tmp_path):
    gmsh_part(tmp_path / "part.msh", "quad8", (3, 2), (1.0, 0.2))
    (tmp_path / "model.toml").write_text(
        """dimension = 2
[material.wood]
E = [1e6, 2e6, 3e6]
nu = [0.1, 0.2, 0.3]
G = [1e6, 2e6, 3e6]
expansion = [1e-3, 2e-3, 3e-3]
density = 500.0
[mesh.m]
file = "part.msh"
translate = [1.0, 0.0]
[[plane]]
on = "m"
material = "wood"
state = "axisymmetric"
element = "reduced"
orientation = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
[[support]]
on = "m:y0"
components = "y"
[[step]]
type = "static"
"""
    )
    model = load_model(tmp_path / "model.toml")
    group = model.solid_groups["plane 1"]
    assert group.type == "axisymmetric_quad8_reduced"
    assert group.mass.sum() == pytest.approx(500.0 * np.pi * (4.0 - 1.0) * 0.2, rel=1e-12)
    solve(model)


def test_cylindrical_axes():
    model = Model(3)
    model.solid_material("wood", E=(1e6, 2e6, 3e6), nu=(0.1, 0.2, 0.3), G=(1e6, 2e6, 3e6), density=1.0)
    model.mesh("m", replace(box_mesh("tetra", (2, 2, 2), (1.0, 1.0, 1.0))))
    model.solids("body", "m", "wood", orientation={"axis": [0, 0, 2], "point": [3.0, 3.0, 0.0]})
    group = model.solid_groups["body"]
    middle = model.positions[group.nodes].mean(axis=1) - (3.0, 3.0, 0.0)
    radial = middle * (1, 1, 0) / np.linalg.norm(middle[:, :2], axis=1)[:, None]
    assert np.allclose(group.axes[:, 0], radial)
    assert np.allclose(group.axes[:, 1], np.cross((0, 0, 1), radial))
    assert np.allclose(group.axes[:, 2], (0, 0, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('element = "incompatible"', 'element = "best"', r'\[\[solid\]\] "body": element = .best. must be one of'),
        ('on = "m:body"', 'on = "m:bdy"', 'no set "bdy" in the mesh.*Did you mean "body"'),
        ('material = "steel"', 'material = "stel"', r'\[\[solid\]\] "body": no material "stel"; did you mean "steel"'),
        ('value = "1 + x"', "value = [1.0]", r"value = \[1.0\] must be a number or an expression of x, y, z"),
        (
            'vector = [0.0, 0.0, "y"]',
            "vector = [0.0, 0.0]",
            r"\[\[traction\]\] number 1: vector = .* must be 3 numbers",
        ),
        ("E = 2e6", "", r'\[material.steel\]: "E" is missing'),
        ("E = 2e6", "stiffness = [1.0]", r"\[material.steel\]: .*stiffness"),
        ("damping = 0.01", "orientation = 3", r"orientation = 3 must be 3 lists of 3 numbers, or a table"),
        ("damping = 0.01", "orientation = {point = [0, 0, 0]}", "must be 3 lists of 3 numbers, or a table"),
        ('file = "part.msh"', 'file = "part.msh"\ncells = "some"', 'cells = "some" must be'),
        (
            'file = "part.msh"',
            'file = "part.msh"\ncells = "lines"',
            "mesh curves|no line cells|has no tetrahedra|no set",
        ),
        ("value = 300.0", 'value = "q"', r"\[\[temperature\]\] number 1: .*q"),
    ],
)
def test_refused(tmp_path, old, new, message):
    gmsh_part(tmp_path / "part.msh", "hexahedron", (1, 1, 1), (1.0, 1.0, 1.0))
    assert old in SOLID
    (tmp_path / "model.toml").write_text(SOLID.replace(old, new, 1))
    with pytest.raises(Exception, match=message) as caught:
        load_model(tmp_path / "model.toml")
    assert str(caught.value).startswith(str(tmp_path / "model.toml")) or "part.msh" in str(caught.value)
