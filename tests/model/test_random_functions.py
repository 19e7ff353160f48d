"""Random functions of time: their spectra back by Welch's method, mean squares, seeds, delays, and wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.signal import welch

from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import make_function

TABLE = {"kind": "random", "frequencies": [1.0, 4.0, 20.0], "densities": [0.5, 2.0, 0.1]}
ROAD = {"kind": "random", "road": "C", "speed": 20.0}


def by_logarithms(f: np.ndarray) -> np.ndarray:
    """The density of TABLE."""
    return np.exp(np.interp(np.log(f), np.log(TABLE["frequencies"]), np.log(TABLE["densities"])))


@pytest.mark.parametrize("spacing", ["linear", "logarithmic"])
@pytest.mark.parametrize("lines", [7, 500])
def test_mean_square_is_the_integral_of_the_density(spacing, lines):
    """The sum of a^2/2, against quadrature, for any number of lines."""
    found = np.sum(make_function(TABLE | {"lines": lines, "spacing": spacing}).amplitudes ** 2) / 2.0
    parts = [quad(by_logarithms, a, b, epsabs=1e-13)[0] for a, b in ((1.0, 4.0), (4.0, 20.0))]
    assert found == pytest.approx(sum(parts), rel=1e-12)
    narrow = make_function(TABLE | {"lines": lines, "spacing": spacing, "lowest": 2.0, "highest": 3.0})
    assert np.sum(narrow.amplitudes**2) / 2.0 == pytest.approx(quad(by_logarithms, 2.0, 3.0)[0], rel=1e-12)
    linear = {"kind": "random", "frequencies": [0.0, 2.0, 3.0], "densities": [0.0, 4.0, 4.0], "interpolation": "linear"}
    assert np.sum(make_function(linear).amplitudes ** 2) / 2.0 == pytest.approx(4.0 + 4.0, rel=1e-12)


def test_density_of_1_over_f_has_the_logarithm_as_its_integral():
    one = {"kind": "random", "frequencies": [1.0, 100.0], "densities": [3.0, 0.03], "lines": 9}
    assert np.sum(make_function(one).amplitudes ** 2) / 2.0 == pytest.approx(3.0 * np.log(100.0), rel=1e-12)


def test_welch_finds_the_density_of_the_road():
    """ISO 8608, class C: G(0.1) = 256e-6 m^3; S(f) = G(f/v)/v."""
    v = 20.0
    function = make_function(ROAD | {"lines": 1500, "seed": 3, "lowest": 0.5, "highest": 60.0})  # no line is aliased
    h = 1.0 / 128.0
    t = np.arange(2**14) * h
    f, density = welch(function(t), 1.0 / h, nperseg=2048)
    inside = (f > 1.0) & (f < 50.0)
    expected = 256e-6 * (f[inside] / v / 0.1) ** -2.0 / v
    ratio = density[inside] / expected
    # 15 segments, half overlapped: a deviation of about 1/sqrt(10) per line, and of the mean of n lines 1/sqrt(10 n)
    assert np.mean(ratio) == pytest.approx(1.0, abs=4.0 / np.sqrt(10.0 * inside.sum() / 2.0))
    assert np.std(ratio) < 0.5
    for low, high in ((1.0, 4.0), (4.0, 16.0), (16.0, 50.0)):  # the slope: bands by themselves
        part = (f[inside] >= low) & (f[inside] < high)
        assert np.mean(ratio[part]) == pytest.approx(1.0, abs=4.0 / np.sqrt(10.0 * part.sum() / 2.0))


def test_roads_of_all_classes_and_of_a_number():
    base = make_function({"kind": "random", "roughness": 16e-6, "speed": 10.0})
    for k, name in enumerate("ABCDEFGH"):
        road = make_function({"kind": "random", "road": name, "speed": 10.0})
        np.testing.assert_allclose(road.amplitudes, 2.0**k * base.amplitudes, rtol=1e-14)
    # w = 3: the mean square from quadrature of its power law
    steep = make_function(
        {"kind": "random", "roughness": 1e-6, "exponent": 3.0, "speed": 10.0, "lowest": 1, "highest": 9}
    )
    expected = quad(lambda f: 1e-6 * (f / 1.0) ** -3.0 / 10.0, 1.0, 9.0, epsabs=0.0)[0]
    assert np.sum(steep.amplitudes**2) / 2.0 == pytest.approx(expected, rel=1e-12)


def test_seeds_and_delays():
    t = np.linspace(0.0, 3.0, 50)
    first, again, other = (make_function(ROAD | {"seed": k}) for k in (1, 1, 2))
    assert first(t).tobytes() == again(t).tobytes()
    assert abs(np.corrcoef(first(t), other(t))[0, 1]) < 0.99
    # the rear axle, 2.82 m behind at 20 m/s, sees what the front axle has seen
    rear = make_function(ROAD | {"seed": 1, "delay": 0.141})
    np.testing.assert_allclose(rear(t + 0.141), first(t), atol=1e-12)
    # numbers that numpy promises to keep: PCG64(0), upper 53 bits
    assert make_function(ROAD).phases[:2] / (2 * np.pi) == pytest.approx(
        [0.6369616873214543, 0.2697867137638703], rel=1e-15
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "random"}, "0 of them"),
        (ROAD | {"roughness": 1e-6}, "2 of them"),
        (ROAD | {"road": "J"}, "'J'"),
        ({"kind": "random", "road": "A"}, 'needs "speed"'),
        (ROAD | {"speed": 0}, "speed = 0"),
        (ROAD | {"frequencies": [1, 2]}, '"frequencies" belongs'),
        (ROAD | {"lowest": 0}, "lowest = 0"),
        (ROAD | {"lowest": 9, "highest": 3}, "below highest"),
        (ROAD | {"lines": 2.5}, "whole number"),
        (ROAD | {"lines": 0}, "from 1 to"),
        (ROAD | {"seed": -1}, "seed = -1"),
        (ROAD | {"spacing": "log"}, "spacing"),
        (TABLE | {"speed": 3}, '"speed" belongs to a road'),
        (TABLE | {"lowest": 0.5}, "leaves the table"),
        (TABLE | {"densities": [1, 0, 1]}, 'interpolation = "linear"'),
        (TABLE | {"densities": [1, 1]}, "as many of each"),
        (TABLE | {"frequencies": [1, 1, 2]}, "must increase"),
        (TABLE | {"densities": [1, -1, 1], "interpolation": "linear"}, r"densities\[1\] = -1"),
        (TABLE | {"densities": [0, 0, 0], "interpolation": "linear"}, "all densities are 0"),
    ],
)
def test_wrong_input(spec, words):
    with pytest.raises(ModelError, match=words):
        make_function(spec, "road")
