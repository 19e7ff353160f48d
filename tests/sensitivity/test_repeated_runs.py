"""Runs of the same input give the same derivatives to the bit, however the clock divides them into chunks."""

from __future__ import annotations

from functools import partial

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
