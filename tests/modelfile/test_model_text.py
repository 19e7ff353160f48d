"""A model is written as a model file from its declarations, and read back as the same model."""

import json
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from fem_mbs import Model, ModelError
from fem_mbs.modelfile.json_schema import model_schema
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import model_data, model_text, write_model

#: Examples whose mesh a script beside them makes; tests/cli runs them.
PREPARED = {Path("examples/slider_crank/solid.toml")}
FILES = sorted({p.relative_to(ROOT) for p in (ROOT / "examples").rglob("*.toml") if "sweep" not in p.stem} - PREPARED)


def arrays(compiled):
    blocks = [(b.type.name, b.groups, b.nodes.tolist(), b.par.tolist()) for b in compiled.system.blocks]
    t = np.array([0.0, 0.3, 1.7])
    sensors = [(s.name, s.kind, s.columns, s.unit, s.first, s.last) for s in compiled.sensors]
    return blocks, [f(t).tolist() for f in compiled.functions], sensors


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_model_file_is_written_and_read_back(path, tmp_path):
    model = load_model(ROOT / path)
    write_model(model, tmp_path / "again.toml")
    again = load_model(tmp_path / "again.toml")
    assert again.specifications == model.specifications
    assert [(s.kind, s.name) for s in again.steps] == [(s.kind, s.name) for s in model.steps]
    assert model_text(model_data(again)) == (tmp_path / "again.toml").read_text(encoding="utf-8")
    assert arrays(again.compile()) == arrays(model.compile())


@pytest.mark.parametrize("path", FILES, ids=str)
def test_compiling_changes_nothing(path):
    model = load_model(ROOT / path)
    text = model_text(model_data(model))
    first = arrays(model.compile())
    assert arrays(model.compile()) == first
    assert model_text(model_data(model)) == text


def test_what_was_said_does_not_change_with_the_arrays_of_the_caller():
    model = Model(2)
    x = np.array([1.0, 2.0])
    model.node("a", x)
    x[0] = 5.0
    assert model_data(model)["node"] == [{"name": "a", "position": [1.0, 2.0]}]


@pytest.mark.parametrize("case", ["function", "block"])
def test_what_no_file_can_hold_is_refused(case):
    model = Model(2)
    model.body("a", (0.0, 0.0), 1.0, 1.0)
    model.body("b", (1.0, 0.0), 1.0, 1.0)
    if case == "function":
        model.user_force("f", at="a", function=lambda x, v, t: -x)
        message = "User force: a UserForce of Python has no table"
    else:
        model.building.add_block("m", "mass2", [[0]], mass=1.0, inertia=1.0)
        message = "no declaration describes"
    with pytest.raises(ModelError, match=message):
        model_data(model)


def test_schema_is_up_to_date(checkout):
    found = json.loads((checkout / "docs" / "model.schema.json").read_text(encoding="utf-8"))
    assert found == model_schema(), "run python -m fem_mbs.modelfile.json_schema > docs/model.schema.json"


def test_schema_accepts_the_examples_and_refuses_a_wrong_key():
    import tomllib

    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft7Validator(model_schema())
    for path in FILES:
        data = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))
        assert not [e.message for e in check.iter_errors(data)], path
    data["node"] = [{"name": "a", "positoin": [0.0, 0.0]}]
    assert any("positoin" in e.message for e in check.iter_errors(data))
