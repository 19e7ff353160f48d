"""What CONTRIBUTING promises: a joint, a sensor and a mesh format are one file each, known everywhere by one call.

The files are `toy_joint.py` and `toy_sensor.py` here, `tests/meshes/toy_format.py`; a step is
`tests/transient/toy_step.py`.
"""

import sys

import numpy as np
import pytest
from places import ROOT

from fem_mbs import MeshError, Model, ModelError, load_model
from fem_mbs.meshes.formats import reader
from fem_mbs.model.connections import joint_kinds
from fem_mbs.model.sensors import kinds
from fem_mbs.modelfile.inventory import inventory
from fem_mbs.modelfile.json_schema import model_schema
from fem_mbs.modelfile.reference import reference
from fem_mbs.modelfile.writer import write_model

sys.path += [str(ROOT / "tests" / "model"), str(ROOT / "tests" / "meshes")]


@pytest.fixture(scope="module", autouse=True)
def toys():
    """The three toys, registered for the tests of this file alone."""
    formats, joints, sensors = list(reader.MESH_FORMATS), dict(joint_kinds.JOINT_KINDS), kinds.sensor_kinds()
    import toy_format
    import toy_joint
    import toy_sensor

    yield toy_format, toy_joint, toy_sensor
    reader.MESH_FORMATS[:] = formats
    for known, before in ((joint_kinds.JOINT_KINDS, joints), (kinds.registry(), sensors)):
        for name in set(known) - set(before):
            del known[name]


TEXT = """\
dimension = 2
[[node]]
name = "n"
position = [0.0, 1.0]
[[body]]
name = "a"
position = [0.0, 0.0]
mass = 1.0
inertia = 0.1
[[body]]
name = "b"
position = [2.0, 1.0]
mass = 1.0
inertia = 0.2
[[point_mass]]
at = "n"
mass = 1.0
[[joint]]
name = "coupling"
type = "oldham"
a = "a"
b = "b"
[[sensor]]
name = "middle"
kind = "middle"
a = "a"
b = "b"
weight = 0.25
"""


def python() -> Model:
    model = Model(2)
    model.node("n", (0.0, 1.0))
    model.body("a", (0.0, 0.0), 1.0, 0.1)
    model.body("b", (2.0, 1.0), 1.0, 0.2)
    model.point_mass("point_mass 1", "n", 1.0)
    model.joint("coupling", "oldham", "a", "b")
    model.sensor("middle", "middle", a="a", b="b", weight=0.25)
    return model


def test_a_joint_and_a_sensor_are_known_everywhere(tmp_path):
    (tmp_path / "model.toml").write_text(TEXT, encoding="utf-8")
    model = load_model(tmp_path / "model.toml")
    assert model.specifications == python().specifications
    write_model(model, tmp_path / "again.toml")
    assert load_model(tmp_path / "again.toml").specifications == model.specifications
    compiled = model.compile()
    sensor = compiled.sensors[0]
    assert sensor.columns == ["middle.x", "middle.y"]
    assert sensor.evaluate(np.array([[0.0, 0.0, 2.0, 1.0]]), np.zeros((1, 1))).tolist() == [[0.5, 0.25]]
    assert [b.type.name for b in model.building.blocks for name, *_ in b.groups if name == "coupling"] == ["angle2"]
    text = "\n".join(inventory())
    assert "two parallel shafts turn by the same angle" in text
    assert "a, b, weight" in text
    assert '"oldham"' in reference()
    assert "| `middle` | `a`, `b`, [`weight`] | Position between two places. |" in reference()
    schema = model_schema()["properties"]
    assert "oldham" in schema["joint"]["items"]["properties"]["type"]["enum"]
    assert any(case["if"]["properties"]["kind"]["const"] == "middle" for case in schema["sensor"]["items"]["allOf"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight = 0.25", "wieght = 0.25", r'\[\[sensor\]\] "middle": unknown key "wieght"; did you mean "weight"'),
        ("weight = 0.25", "weight = 'half'", r'\[\[sensor\]\] "middle": weight = "half" must be a number'),
        ('a = "a"\nb = "b"\nweight', 'a = "a"\nweight', r'\[\[sensor\]\] "middle": "b" is missing'),
        ('type = "oldham"', 'type = "oldam"', r'\[\[joint\]\] "coupling": type = "oldam" must be one of .*"oldham"\?'),
    ],
)
def test_wrong_keys_of_toys_are_refused_with_their_place(tmp_path, old, new, message):
    (tmp_path / "model.toml").write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / "model.toml")


def test_a_mesh_format_is_known_everywhere(tmp_path, toys):
    (tmp_path / "rod.chain").write_text("0 0 0\n1 0 0\n2 0 0\n", encoding="utf-8")
    model = Model(2)
    model.mesh("rod", tmp_path / "rod.chain")
    assert model.positions.tolist() == [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    assert model.nodes_of("rod:start").tolist() == [0]
    assert "chain: points, one per line" in "\n".join(inventory())
    (tmp_path / "bad.chain").write_text("0 zero 0\n", encoding="utf-8")
    with pytest.raises(MeshError, match=r"bad\.chain: .*write three numbers"):
        model.mesh("bad", tmp_path / "bad.chain")
    other = reader.MeshFormat((".chain",), "another", "", toys[0].read_chain)
    with pytest.raises(MeshError, match=r'"another": \.chain belongs to chain'):
        reader.register_format(other)


def test_names_are_taken_once(toys):
    with pytest.raises(ModelError, match='Joint: there is a kind "pin" already'):
        joint_kinds.register_joint("pin", toys[1].KIND)

    class Other(toys[2].Middle):
        pass

    with pytest.raises(ModelError, match='Sensor: there is a kind "middle" already'):
        kinds.register_sensor(Other)


CALLS = {
    "section": lambda m: m.section("s", "circle", diamter=1.0),
    "beams": lambda m: m.beams("s", on="x", section="y", materail="z"),
    "sensor": lambda m: m.sensor("s", "position", onn="x"),
    "line": lambda m: m.line("s", (0.0, 0.0), (1.0, 0.0), number=3),
    "solid_material": lambda m: m.solid_material("s", E=1.0, mu=0.3),
    "model": lambda _: Model(2, titel="s"),
}


@pytest.mark.parametrize("name", CALLS)
def test_unknown_arguments_of_calls(name):
    with pytest.raises(ModelError, match='unknown key "') as caught:
        CALLS[name](Model(2))
    assert caught.value.owner.word
    assert caught.value.key
    assert caught.value.remedy


def test_other_wrong_arguments_of_calls():
    model = Model(2)
    with pytest.raises(ModelError, match='Body "a": "mass" is missing; add mass'):
        model.body("a", (0.0, 0.0))
    with pytest.raises(ModelError, match='Body "a": name is given twice'):
        model.body("a", (0.0, 0.0), 1.0, 1.0, name="b")
    with pytest.raises(ModelError, match="7 comes without its keyword"):
        model.node("a", (0.0, 0.0), 7)
