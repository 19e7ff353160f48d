"""Models and results folders that released versions wrote: this version reads, draws and computes them.

Each folder of `tests/data/released` is named by a version, and holds a model file and the results that it made of it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from fem_mbs import Results, ResultsError, load_model, run

RELEASED = sorted(p for p in (ROOT / "tests" / "data" / "released").iterdir() if p.is_dir())
_NAMES = [p.name for p in RELEASED]


@pytest.fixture(params=RELEASED, ids=_NAMES)
def released(request, tmp_path) -> Path:
    """A copy of a version's folder: drawing and reports write into results."""
    return Path(shutil.copytree(request.param, tmp_path / request.param.name))


def test_every_released_version_is_there():
    """The changelog names the released versions."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## \[(\d[^\]]*)\]", text, re.M)) == _NAMES


def test_results_are_read(released):
    results = Results.open(released / "results")
    assert results.complete
    assert results.header["version"] == released.name
    assert [step.type for step in results.steps] == ["static", "modes", "transient"]
    table = np.genfromtxt(released / "results" / "sensors-3-transient.csv", delimiter=",", skip_header=1)
    tip = results.sensor("tip", step="transient")
    np.testing.assert_allclose(np.column_stack([tip.t, tip.values]), table[:, :3], rtol=1e-12)
    assert results.report is not None
    assert results.report.version == released.name


def test_results_are_drawn_and_reported(released, fem_mbs):
    for command in ("plot", "report", "export"):
        code, _, err = fem_mbs(command, released / "results")
        assert code == 0, err
    figures = {path.name for path in (released / "results" / "figures").iterdir()}
    assert {"ledger.png", "momenta.png", "sensors.png", "deformed.png"} <= figures
    assert list((released / "results").glob("results-*.xdmf"))  # one for each step


def test_the_model_gives_the_same_results(released):
    """To round-off of the increments' Newton-Raphson iterations, which a version may end earlier or later."""
    before = Results.open(released / "results")
    run(load_model(released / "model.toml"), released / "again")
    now = Results.open(released / "again")
    for name in ("tip", "pin force"):
        ours, theirs = now.sensor(name, step="transient"), before.sensor(name, step="transient")
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-8, atol=1e-9)
    frequencies = [step.report.frequencies_hz for step in (now.steps[1], before.steps[1])]
    np.testing.assert_allclose(*frequencies, rtol=1e-9)


def test_a_run_of_another_version_is_not_continued(released):
    """The state of a restart point belongs to the version that wrote it: an error names this version and the remedy."""
    message = rf"another fem-mbs \({re.escape(released.name)} wrote them\).*run it from its start into another folder"
    with pytest.raises(ResultsError, match=message):
        run(load_model(released / "model.toml"), released / "results", restart=-1)
