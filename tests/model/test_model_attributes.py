"""What can be set of a model in Python, and flags of its calls: wrong names and values are refused, none is dropped."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import InputError, Model, ModelError, linearise, run, solve


def pendulum() -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.body("rod", mass=2.0, inertia=0.3, position=(0.5, 0.0))
    m.joint("hinge", "revolute", a="ground", b="rod", point=(0.0, 0.0))
    m.sensor("place", "position", on="rod")
    m.transient_step(0.2, 0.01)
    return m


def test_gravity_can_be_set_as_it_is_given():
    """The same numbers as of a model that is made with it; a list of the caller is copied."""
    m, g = pendulum(), np.array([0.0, -1.62])
    m.gravity = g
    g[:] = 0.0
    other = Model(2, gravity=[0.0, -1.62])
    for declaration in m.specifications:
        other.add(declaration)
    other.transient_step(0.2, 0.01)
    assert np.array_equal(solve(m).sensor("place").values, solve(other).sensor("place").values)
    m.gravity = None
    assert not m.gravity.any()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gravity", (0.0, 0.0, -9.81), r"gravity = \[0.0, 0.0, -9.81\] must be 2 finite numbers"),
        ("gravity", "moon", 'gravity = "moon" must be 2 finite numbers'),
        ("gravitiy", (0.0, 0.0), 'gravitiy cannot be set; did you mean "gravity"?'),
        ("fields", ("stress",), 'fields cannot be set; did you mean "field_names"?'),
        ("field_names", "stresses", 'there is no field "stresses"'),
        ("elimination", "no", 'elimination = "no" must be True or False'),
        ("dimension", 3, "dimension cannot be set; it follows from the calls of the model"),
        ("spring", 3.0, "spring cannot be set"),
    ],
)
def test_what_cannot_be_set_is_refused(name, value, message):
    m = pendulum()
    with pytest.raises(ModelError, match=message.replace("?", "[?]")):
        setattr(m, name, value)


def test_tables_of_a_model_are_read_only():
    """A joint that is taken from the table would stay in the model."""
    m = pendulum()
    with pytest.raises(AttributeError):
        m.joints.pop("hinge")
    with pytest.raises(TypeError):
        m.parameters["length"] = 2.0


def test_flags_are_true_or_false():
    """Texts and numbers were taken for their truth, "no" for True."""
    m = pendulum()
    m.body("end", mass=1.0, inertia=0.1, position=(1.0, 0.0))
    chord = {"on": "rod", "a": "end", "b": "ground", "point_b": (0.0, 1.0)}
    with pytest.raises(ModelError, match='Sensor "sag": relative = "no" must be True or False'):
        m.sensor("sag", "deflection", **chord, relative="no")
    with pytest.raises(ModelError, match="relative = 1 must be True or False"):
        m.sensor("sag", "deflection", **chord, relative=1)
    m.sensor("sag", "deflection", **chord, relative=np.True_)
    assert m.sensors[-1].unit == "-"
    with pytest.raises(ModelError, match='Model: elimination = "no" must be True or False'):
        Model(2, elimination="no")


def test_the_name_of_a_file_is_no_model(tmp_path):
    """Python's own AttributeError told of an attribute that no user knows."""
    remedy = "fem_mbs[.]load_model reads a model file"
    with pytest.raises(InputError, match=rf"^solve\(\) takes a model, not 'machine[.]toml'; {remedy}$"):
        solve("machine.toml")
    with pytest.raises(InputError, match=rf"^run\(\) takes a model, not 'machine[.]toml'; {remedy}$"):
        run("machine.toml", tmp_path / "out")
    with pytest.raises(InputError, match=rf"^linearise\(\) takes a model, not None; {remedy}$"):
        linearise(None)
    assert not (tmp_path / "out").exists()
