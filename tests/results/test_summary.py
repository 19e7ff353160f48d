"""summary.json is what its schema says, for finished and for failed runs."""

from __future__ import annotations

import json

import jsonschema
import pytest
from places import SCHEMA

from fem_mbs import Model, ModelError, run


def model() -> Model:
    m = Model(2, "swing", gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e4, EI=20.0, rhoA=1.0)
    m.line("a", (0, 0), (1, 0), 2)
    m.beams("a", "a", "s")
    m.fix("a:start")
    m.static_step()
    m.transient_step(0.05, 0.01)
    return m


def test_finished_run(tmp_path):
    run(model(), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert [s["type"] for s in summary["steps"]] == ["static", "transient"]
    assert summary["status"] == "done"


def test_failed_run(tmp_path):
    m = model()
    m.force("f", "a:end", (0.0, 1.0), function="sqrt(0.02 - t)")
    with pytest.raises(ModelError):
        run(m, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert summary["status"].startswith("failed: ")


def test_schema_refuses_a_wrong_summary():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"title": "", "version": "1", "model": {}, "steps": [], "status": "done"}, SCHEMA)
