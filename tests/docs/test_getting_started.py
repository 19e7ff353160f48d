"""The first page of the documentation: its model file and its Python make the same model, and both run."""

import re
import tomllib

import numpy as np
import pytest

from fem_mbs import Results, load_model, run


@pytest.fixture(scope="module")
def blocks(checkout):
    text = (checkout / "docs" / "getting-started.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```(toml|python)\n(.*?)```", text, flags=re.DOTALL))


def test_file_and_python_give_the_same_results(blocks, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crank.toml").write_text(blocks["toml"], encoding="utf-8")
    of_file = run(load_model("crank.toml"), "out")
    exec(compile(blocks["python"], "getting-started", "exec"), {})  # the page says what it prints
    assert "(1999, 3)" in capsys.readouterr().out
    of_python = Results.open("crank-out")
    sensors = [entry["name"] for entry in of_file.header["sensors"]]
    assert sensors == [entry["name"] for entry in tomllib.loads(blocks["toml"])["sensor"]]
    for name in sensors:
        np.testing.assert_array_equal(of_file.sensor(name).values, of_python.sensor(name).values)
    assert of_file.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-12
    assert (tmp_path / "crank-out" / "figures" / "ledger.png").is_file()


def test_links_lead_to_pages(checkout):
    docs = checkout / "docs"
    for name in re.findall(r"\]\(([\w/-]+\.md)\)", (docs / "getting-started.md").read_text(encoding="utf-8")):
        assert (docs / name).is_file(), name
