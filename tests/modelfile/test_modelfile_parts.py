"""Tables [[part]] of model files: reduced parts from files of their own and reduced on the fly; what goes wrong."""

from __future__ import annotations

import meshio
import numpy as np
import pytest
from flexible_parts import beam

from fem_mbs import Model, reduce_part, solve
from fem_mbs.cli.check import explain
from fem_mbs.errors import ModelError
from fem_mbs.modelfile.read import load_model
from fem_mbs.parts.files import write_matrix_market
from fem_mbs.parts.formats import write_part as any_format
from fem_mbs.parts.hdf5 import write_part

PART = """
dimension = 2
[material.steel]
E = 2.1e11
nu = 0.3
density = 7850.0
[section.bar]
shape = "rectangle"
width = 0.02
height = 0.01
[mesh.rod]
line = {start = [0.0, 0.0], end = [1.0, 0.0], n = 4}
[[beam]]
name = "rod"
on = "rod"
section = "bar"
material = "steel"
"""

MODEL = """
dimension = 2
gravity = [0.0, -9.81]
[[part]]
name = "arm"
%s
position = [0.5, 0.2]
rotation = 0.3
modes = 4
damping = 0.01
stiffening = "inertia"
reference = "rod:start"
[[joint]]
type = "pin"
name = "hinge"
a = "ground"
b = "arm:rod:start"
point = [0.5, 0.2]
[[sensor]]
name = "tip"
kind = "position"
on = "arm:rod:end"
[[sensor]]
name = "q"
kind = "modal"
on = "arm"
[[step]]
type = "transient"
duration = 0.2
h = 0.002
"""

FLY = 'file = "part.toml"\nreduce = {interfaces = ["rod:start", "rod:end"], modes = 6, stiffening = "rod:start"}'


def write(folder, text, part=PART):
    (folder / "part.toml").write_text(part)
    path = folder / "model.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("file", ["part.h5", "part.pch", "part folder"])
def test_parts_in_other_units_are_refused(file, tmp_path):
    """A part in mm and t stood in a model in m and kg, a million times too stiff, without a word."""
    told = write(tmp_path, MODEL % FLY, f'units = {{ base = "mm t s" }}\n{PART}')
    refused = r'the numbers of its part are in "mm t s", those of this model in "m kg s"'
    with pytest.raises(ModelError, match=refused):
        load_model(told).compile()
    kept = reduce_part(load_model(tmp_path / "part.toml"), {"rod:start": "rod:start", "rod:end": "rod:end"})
    any_format(tmp_path / file, kept)
    read = f'file = "{file}"'
    text = (MODEL % read).replace("stiffening", "# stiffening")
    path = write(tmp_path, text)
    with pytest.raises(ModelError, match=refused):
        load_model(path).compile()
    path.write_text(f'units = {{ base = "mm t s" }}\n{text}')
    assert load_model(path).compile()


def test_a_thickness_belongs_to_plane_meshes(tmp_path):
    """It was left out in silence."""
    flown = FLY.replace("modes = 6", "modes = 6, thickness = 0.1")
    with pytest.raises(ModelError, match="a thickness belongs to plane meshes"):
        load_model(write(tmp_path, MODEL % flown))


def test_notes_on_the_file_of_a_part_are_warnings(tmp_path):
    """What a mesh or a deck has and the part lacks went unsaid."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 2, 0]], float)
    cells = [("quad", [[0, 1, 2, 3]]), ("line4", [[0, 3, 4, 1]])]
    meshio.Mesh(points, cells, point_data={"left": [1, 0, 0, 1, 0]}).write(tmp_path / "part.vtu")
    read = 'file = "part.vtu"\nreduce = {interfaces = "left", material = "1e9,0.3,1e3", modes = 2, kind = "rigid"}'
    text = f'dimension = 2\n[[part]]\nname = "arm"\n{read}\n[[step]]\ntype = "modes"\n'
    model = load_model(write(tmp_path, text))
    assert any("1 line4 cell" in warning for warning in model.warnings)


def test_a_part_without_units_is_in_si(tmp_path):
    """That is what a model file without [units] means; a part whose units nobody knows, such as of a deck, is taken."""
    path = write(tmp_path, f'units = {{ base = "mm t s" }}\n{MODEL % FLY}')
    with pytest.raises(ModelError, match='in "m kg s", those of this model in "mm t s"'):
        load_model(path).compile()
    part = reduce_part(beam(4, dimension=2), {"rod:start": "rod:start", "rod:end": "rod:end"})
    model = Model(2)
    model.units(base="mm t s")
    model.reduced_part("arm", part)
    assert model.compile()


def test_a_file_says_what_the_builder_does(tmp_path):
    """Reduced on the fly, read from a part's own file, or by the calls: the same motion."""
    part = reduce_part(
        beam(4, dimension=2), {"rod:start": "rod:start", "rod:end": "rod:end"}, modes=6, stiffening="rod:start"
    )
    write_part(tmp_path / "arm.h5", part)
    m = Model(2, gravity=(0.0, -9.81))
    m.reduced_part(
        "arm", part, position=(0.5, 0.2), rotation=0.3, modes=4, damping=0.01, stiffening="inertia",
        reference="rod:start",
    )  # fmt: skip
    m.joint("hinge", "pin", "ground", "arm:rod:start", point=(0.5, 0.2))
    m.sensor("tip", "position", on="arm:rod:end")
    m.transient_step(0.2, 0.002)
    called = solve(m).sensor("tip").values
    path = write(tmp_path, MODEL % FLY)
    flown = solve(load_model(path))
    np.testing.assert_allclose(flown.sensor("tip").values, called, rtol=0.0, atol=1e-9)
    assert flown.steps[-1].series["sensor/q"].shape == (101, 4)
    read = solve(load_model(write(tmp_path, MODEL % 'file = "arm.h5"'))).sensor("tip").values
    np.testing.assert_allclose(read, called, rtol=0.0, atol=1e-9)
    write_matrix_market(tmp_path / "arm", part)
    read = solve(load_model(write(tmp_path, MODEL % 'file = "arm"'))).sensor("tip").values
    np.testing.assert_allclose(read, called, rtol=0.0, atol=1e-9)
    assert any('reduced part "arm"' in line and "4 shapes" in line for line in explain(path))


WRONG = {
    "no such file": ('file = "nothing.h5"', "nothing.h5"),
    "not reduced": ('file = "part.toml"', r"part.toml is no reduced part \(.h5, .SID_FEM, a folder\); add reduce"),
    "interface": (FLY.replace('"rod:end"', '"and"'), 'there is no such node or set; did you mean "end"'),
    "method": (FLY.replace("modes = 6", 'method = "magic"'), 'method = "magic" must be one of guyan'),
    "reference": (
        FLY.replace('["rod:start", ', "[").replace('stiffening = "rod:start"', "cutoff = 900.0"),
        'must be "mean" or one of its interfaces, rod:end',
    ),
    "stiffening": (FLY.replace(', stiffening = "rod:start"', ""), "the part has no geometric stiffness; reduce it"),
    "rigid": (
        FLY.replace('"rod:start", "rod:end"', '"rod:start"').replace("modes = 6", "modes = 0"),
        "reduced to rigid-body motions alone",
    ),
    "itself": (FLY.replace("part.toml", "model.toml"), "the file is a part of itself"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes_name_file_and_table(tmp_path, mistake):
    text, message = WRONG[mistake]
    with pytest.raises(ModelError, match=message) as error:
        load_model(write(tmp_path, MODEL % text))
    assert "model.toml, [[part]]" in str(error.value)
    assert "\n" not in str(error.value)


def test_places_and_sensors_of_a_part(tmp_path):
    """A sensor may look at one shape; a wrong interface is told from those that there are."""
    text = MODEL % FLY
    whole = solve(load_model(write(tmp_path, text))).steps[-1].series["sensor/q"]
    path = write(tmp_path, text.replace('kind = "modal"\n', 'kind = "modal"\nmode = 2\n'))
    np.testing.assert_array_equal(solve(load_model(path)).steps[-1].series["sensor/q"].ravel(), whole[:, 1])
    with pytest.raises(ModelError, match="mode = 5 must be a whole number from 1 to 4"):
        load_model(write(tmp_path, text.replace('kind = "modal"\n', 'kind = "modal"\nmode = 5\n')))
    with pytest.raises(ModelError, match='"arm" has no interface "nose"; there are "arm:rod:start", "arm:rod:end"'):
        load_model(write(tmp_path, text.replace('"arm:rod:end"', '"arm:nose"')))


@pytest.mark.parametrize("key", ["stiffness", "mass"])
def test_numbers_that_are_not_finite(tmp_path, key):
    import h5py

    part = reduce_part(beam(4, dimension=2), {"rod:start": "rod:start", "rod:end": "rod:end"}, modes=2)
    write_part(tmp_path / "arm.h5", part)
    with h5py.File(tmp_path / "arm.h5", "a") as file:
        file[key][0, 0] = np.nan
    with pytest.raises(ModelError, match=f"arm.h5: its {key} holds numbers that are not finite"):
        load_model(write(tmp_path, MODEL % 'file = "arm.h5"'))


def test_stresses_are_kept_where_asked_for(tmp_path):
    """A part of beams has none that could be kept."""
    text = MODEL % FLY.replace("modes = 6", "modes = 6, stress = true")
    with pytest.raises(ModelError, match="solid and plane parts, and it has none"):
        load_model(write(tmp_path, text))
    assert load_model(write(tmp_path, MODEL % FLY)).reduced_parts["arm"].part.recovery.stress is None
