"""Runs of the same input give the same bits: derivatives however the clock divides steps into chunks, and every kind of
step in two processes with other hashes of names and other numbers of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fem_mbs import sensitivities
from fem_mbs.analysis.transient.stepping import Stepping
from tests.sensitivity import sensitive_models as models


def accelerated(**options):
    model = models.oscillator(**options)
    model.sensor("a", "acceleration", on="a")
    return model


@pytest.mark.parametrize(
    ("build", "values"),
    [
        (partial(accelerated, duration=0.5), {"m": 2.0, "k": 50.0}),
        (partial(models.pendulum, duration=0.1), {"length": 1.0}),
        (partial(models.beam, duration=0.1), {"diameter": 0.01}),
        (partial(models.stop, duration=0.1), {"stiffness": 685.7}),
    ],
)
def test_chunks_of_steps_change_no_bit_of_derivatives(monkeypatch, build, values):
    """The pace of a run decides how many steps come at once."""
    found = []
    for length in (1, 7, 1000):
        monkeypatch.setattr(Stepping, "chunk_length", lambda self, pace, left, length=length: min(left, length))
        found.append(sensitivities(build, values).columns.of)
    for name, column in found[0].items():
        for other in found[1:]:
            np.testing.assert_array_equal(other[name].slopes, column.slopes, name)


_EVERY_STEP = """
import hashlib, sys
from pathlib import Path
import numpy as np
from fem_mbs import load_model, solve
from tests.step_cases import STEPS, case

file = Path(sys.argv[1])
for kind in STEPS:
    file.write_text(case(kind))
    for step in solve(load_model(file)).steps:
        for name, values in step.series.items():
            print(kind, step.name, name, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest())
"""


def test_every_step_gives_the_same_bits_in_another_process(tmp_path):
    found = []
    for number in ("1", "2"):
        given = {**os.environ, "PYTHONHASHSEED": number, "FEM_MBS_THREADS": number}
        given["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
        ran = subprocess.run(
            [sys.executable, "-c", _EVERY_STEP, tmp_path / f"{number}.toml"], env=given, capture_output=True, text=True
        )
        assert not ran.returncode, ran.stderr
        found.append(ran.stdout.splitlines())
    assert len(found[0]) > 50
    assert found[0] == found[1]
