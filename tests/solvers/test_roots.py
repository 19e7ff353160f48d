"""Roots between two ends (`fem_mbs.solvers.roots`): places in closed form, and the number of values asked for."""

from __future__ import annotations

import math

import pytest

from fem_mbs.solvers.roots import root_between

CLOSE = 1e-15
CASES = {
    "line": (lambda x: 3.0 * x - 0.6, 0.2),
    "parabola": (lambda x: x * x - 0.3, math.sqrt(0.3)),
    "cosine": (lambda x: math.cos(math.pi * x), 0.5),
    "falling": (lambda x: math.exp(-9.0 * x) - 0.05, math.log(20.0) / 9.0),
    "flat": (lambda x: (x - 0.37) ** 9, 0.37),
    "steep": (lambda x: math.atan(1e6 * (x - 0.613)), 0.613),
    "jump": (lambda x: -1.0 if x < 0.7182 else 2.0, 0.7182),
    "near an end": (lambda x: math.sqrt(x) - 1e-6, 1e-12),
}


@pytest.mark.parametrize("name", CASES)
def test_place(name):
    f, root = CASES[name]
    found = root_between(f, (0.0, 1.0), (f(0.0), f(1.0)), CLOSE)
    assert found == pytest.approx(root, rel=0, abs=1e-9 if name == "flat" else 4e-15)
    assert root_between(f, (1.0, 0.0), (f(1.0), f(0.0)), CLOSE) == pytest.approx(found, rel=0, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_effort(name):
    """A smooth course needs a few values, any at most thrice those of halving (50 to 1e-15)."""
    f, _ = CASES[name]
    asked = []
    root_between(lambda x: asked.append(x) or f(x), (0.0, 1.0), (f(0.0), f(1.0)), CLOSE)
    assert all(0.0 < x < 1.0 for x in asked)
    assert len(asked) <= (12 if name in ("line", "parabola", "cosine", "falling") else 150)


def test_ends():
    """A root at an end is that end, and no value is asked for."""
    assert root_between(pytest.fail, (0.0, 1.0), (0.0, 2.0), CLOSE) == 0.0
    assert root_between(pytest.fail, (0.0, 1.0), (-2.0, 0.0), CLOSE) == 1.0
