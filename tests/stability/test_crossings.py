"""Roots of functions that are dear to evaluate, as crossings of a Campbell diagram are."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.analysis.rotors.crossings import interpolated_root, root_between


def counted(f):
    calls = []

    def g(x):
        calls.append(x)
        return f(x)

    return g, calls


@pytest.mark.parametrize("first", [1.2, 1.4142, 1.9])
def test_roots_are_found_in_few_evaluations(first):
    f, calls = counted(lambda x: x * x - 2.0)
    assert root_between(f, (1.0, 2.0), (-1.0, 2.0), first, 1e-13) == pytest.approx(np.sqrt(2.0), abs=2e-13)
    assert len(calls) <= (4 if first == 1.4142 else 7)


def test_the_root_stays_between_the_ends():
    """A secant would leave the bracket: Brent's method goes on."""
    f, calls = counted(lambda x: np.arctan(50.0 * (x - 0.1)))
    found = root_between(f, (0.0, 1.0), (f(0.0), f(1.0)), 0.9, 1e-13)
    assert found == pytest.approx(0.1, abs=1e-12)
    assert min(calls) >= 0.0
    assert max(calls) <= 1.0


def test_rounding_of_the_function_does_not_keep_it_going():
    rng = np.random.default_rng(1)
    f, calls = counted(lambda x: x - 3.0 + 1e-12 * rng.standard_normal())
    assert root_between(f, (2.0, 5.0), (-1.0, 2.0), 3.1, 1e-14) == pytest.approx(3.0, abs=2e-11)
    assert len(calls) <= 7


def test_a_root_at_the_guess():
    assert root_between(lambda x: x - 3.0, (2.0, 5.0), (-1.0, 2.0), 3.0, 1e-14) == 3.0


def test_interpolated_roots_of_a_cubic_are_exact_and_lie_between_their_points():
    x = np.linspace(0.0, 5.0, 6)
    y = (x - 0.5) * (x - 2.3) * (x - 4.6)
    assert interpolated_root(x, y, 2) == pytest.approx(2.3, abs=1e-12)
    assert 0.0 <= interpolated_root(x, y, 0) <= 1.0
    assert 4.0 <= interpolated_root(x, y, 4) <= 5.0
    assert interpolated_root(x[:2], np.array([-1.0, 3.0]), 0) == pytest.approx(0.25)
