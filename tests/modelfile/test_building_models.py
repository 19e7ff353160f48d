"""The examples of docs/building-models.md: every model file compiles, every piece of Python runs."""

import re
import tomllib

import pytest
from places import ROOT

from fem_mbs import load_model
from fem_mbs.modelfile.json_schema import model_schema

TEXT = (ROOT / "docs" / "building-models.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
PIECES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_model_files(number, tmp_path):
    (tmp_path / "model.toml").write_text(FILES[number], encoding="utf-8")
    for name, table in re.findall(r"^# (\S+\.csv):\n((?:# .*\n)+)", FILES[number], re.MULTILINE):
        (tmp_path / name).write_text(table.replace("# ", ""), encoding="utf-8")
    model = load_model(tmp_path / "model.toml")
    compiled = model.compile()
    assert compiled.system.blocks
    assert not model.warnings


def test_the_schema_accepts_them():
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft7Validator(model_schema())
    for text in FILES:
        assert not [e.message for e in check.iter_errors(tomllib.loads(text))]
    data = tomllib.loads(FILES[0])
    data["support"] = [{"on": ["beam:start"], "components": 3.0, "hold": "h"}]
    assert any("hold" in e.message for e in check.iter_errors(data))


@pytest.mark.parametrize("number", range(len(PIECES)))
def test_pieces_of_python(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.toml").write_text(FILES[0], encoding="utf-8")
    found: dict = {}
    exec(PIECES[number], found)
    found["model"].compile()
