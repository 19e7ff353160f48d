"""Series of sensors: means, peaks, spectra; load factors of paths."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, run, solve
from fem_mbs.errors import ResultsError
from fem_mbs.plot.figures import plot_sensor
from fem_mbs.results.reader import Results
from fem_mbs.results.series import Series


def wave(n: int = 200, duration: float = 2.0) -> Series:
    """3 + 4 sin at 5 Hz, and 2 cos at 20 Hz, over whole periods."""
    t = np.arange(n) * duration / n
    values = np.column_stack((3.0 + 4.0 * np.sin(2 * np.pi * 5.0 * t), 2.0 * np.cos(2 * np.pi * 20.0 * t)))
    return Series("wave", t, values, ["a", "b"], ["m", "m/s^2"])


def test_rms_and_peaks():
    assert wave(4000).rms() == pytest.approx([np.sqrt(9.0 + 8.0), np.sqrt(2.0)], rel=1e-3)
    assert wave(4000).peak_to_peak() == pytest.approx([8.0, 4.0])
    # straight lines between uneven rows: the square of x from 0 to 2 is 4/3 on the average
    line = Series("line", np.array([0.0, 0.5, 2.0, 2.0]), np.array([[0.0], [0.5], [2.0], [2.0]]), ["x"], ["m"])
    assert line.rms() == pytest.approx([np.sqrt(4.0 / 3.0)], rel=1e-14)


def test_spectrum_has_the_amplitudes():
    s = wave().spectrum()
    assert s.along == ("frequency", "Hz") and s.units == ["m", "m/s^2"] and s.t[1] == pytest.approx(0.5)
    expected = np.zeros((len(s.t), 2))
    expected[0, 0], expected[10, 0], expected[40, 1] = 3.0, 4.0, 2.0
    assert s.values == pytest.approx(expected, abs=1e-12)
    assert wave().spectrum("hann").values[10, 0] == pytest.approx(4.0, rel=1e-6)
    # the highest frequency of an even number of rows has one line only
    t = np.arange(8.0)
    assert Series("last", t, np.cos(np.pi * t)[:, None], ["x"], [""]).spectrum().values[-1] == pytest.approx([1.0])


def test_psd_integrates_to_the_variance():
    s = wave().psd()
    assert s.units == ["(m)^2/Hz", "(m/s^2)^2/Hz"]
    assert s.values.sum(axis=0) * s.t[1] == pytest.approx([8.0, 2.0], rel=1e-6)
    noise = Series("n", np.arange(4096) * 0.01, np.random.default_rng(1).normal(size=(4096, 1)), ["x"], ["N"])
    density = noise.psd(rows=128).values[5:-5]
    assert density.mean() == pytest.approx(1.0 / 50.0, rel=0.1)  # white: the variance over half the sampling rate


def noise(seed: int, count: int = 20_000) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count)


def series(values: np.ndarray, start: int = 0, name: str = "x") -> Series:
    """Return one column at 100 Hz."""
    return Series(name, 0.01 * (start + np.arange(len(values))), values[:, None], [name], ["m"])


def test_transfer_is_that_of_a_filter():
    """y_n = x_n + 2 x_(n-3): H = 1 + 2 exp(-i 3 w h); coherence 1, with noise of variance 9 |H|^2/(|H|^2 + 9)."""
    x = noise(1)
    y = x.copy()
    y[3:] += 2.0 * x[:-3]
    h1, shared = (getattr(series(y, name="y"), call)(series(x), 1024) for call in ("transfer", "coherence"))
    expected = 1.0 + 2.0 * np.exp(-6j * np.pi * h1.t * 0.01)
    assert h1.units == ["(m)/(m)"] and h1.along == ("frequency", "Hz") and h1.columns == ["y"]
    # the delay of 3 rows in 1024 leaks about their ratio
    np.testing.assert_allclose(h1.values[2:-2, 0], expected[2:-2], atol=0.02)
    assert shared.values[2:-2].min() > 0.998 and shared.values.max() <= 1.0 + 1e-12
    noisy = series(y + 3.0 * noise(2), name="y").coherence(series(x), 256).values[2:-2, 0]
    f = np.fft.rfftfreq(256, 0.01)[2:-2]
    power = np.abs(1.0 + 2.0 * np.exp(-6j * np.pi * f * 0.01)) ** 2
    assert noisy.mean() == pytest.approx(np.mean(power / (power + 9.0)), abs=0.02)
    assert series(noise(5), name="y").coherence(series(x), 256).values.mean() < 0.05


def test_transfer_takes_the_times_that_both_have():
    x = noise(1, 2000)
    whole = series(2.0 * x[100:], 100).transfer(series(x), 256)
    np.testing.assert_allclose(whole.values, 2.0, rtol=1e-12)
    np.testing.assert_allclose(series(2.0 * x).transfer(series(x[100:], 100), 256).values, 2.0, rtol=1e-12)
    both = Series("b", 0.01 * np.arange(2000), np.column_stack((noise(3, 2000), x)), ["a", "x"], ["N", "m"])
    found = series(2.0 * x).transfer(both, column="x")
    np.testing.assert_allclose(found.values, 2.0, rtol=1e-12)
    assert found.units == ["(m)/(m)"] and series(x).transfer(both, column="a").units == ["(m)/(N)"]


@pytest.mark.parametrize(
    ("excitation", "options", "words"),
    [
        (series(noise(1, 64)), {"rows": 64}, "two half overlapping segments"),
        (series(noise(1, 64)), {"rows": 2}, "of 4 rows or more"),
        (series(np.ones(64)), {}, "it is constant"),
        (Series("x", 0.02 * np.arange(64), noise(1, 64)[:, None], ["x"], ["m"]), {}, "same times"),
        (Series("x", 0.01 * np.arange(64) + 0.005, noise(1, 64)[:, None], ["x"], ["m"]), {}, "same times"),
        (series(noise(1, 64), 1000), {}, "same times"),
        (Series("x", 0.01 * np.arange(64), np.ones((64, 2)), ["p", "q"], ["m", "m"]), {}, "one of p, q"),
        (series(noise(1, 64)), {"column": "z"}, "one of x"),
    ],
)
@pytest.mark.parametrize("call", ["transfer", "coherence"])
def test_transfers_without_an_answer(excitation, options, words, call):
    with pytest.raises(ResultsError, match=words):
        getattr(series(noise(2, 64), name="y"), call)(excitation, **options)


@pytest.mark.parametrize(
    ("change", "call", "words"),
    [
        ({"t": np.array([0.0, 1.0, 3.0, 4.0])}, "spectrum", "evenly spaced"),
        ({"t": np.array([0.0, 1.0, 3.0, 4.0])}, "psd", "evenly spaced"),
        ({"along": ("load factor", "-")}, "spectrum", "evenly spaced in time"),
        ({"t": np.array([0.0, 1.0, 0.5, 2.0])}, "rms", "grows"),
        ({"t": np.zeros(4)}, "rms", "grows"),
        ({"values": np.ones((4, 1)) * 1j}, "rms", "real values"),
        ({"values": np.full((4, 1), np.nan)}, "peak_to_peak", "none"),
    ],
)
def test_what_has_no_answer(change, call, words):
    given = {"t": np.arange(4.0), "values": np.ones((4, 1)), "along": ("time", "s"), **change}
    series = Series("x", columns=["x"], units=["m"], **given)
    with pytest.raises(ResultsError, match=words):
        getattr(series, call)()


def test_paths_have_the_load_factor_as_their_axis(tmp_path):
    """A spring that is pulled in four increments: displacement F/k times the load factor."""
    m = Model(2)
    m.node("wall", (0.0, 0.0))
    m.node("mass", (1.0, 0.0))
    m.point_mass("mass", "mass", 2.0)
    m.fix("wall")
    m.fix("mass", ["y"])
    m.spring("spring", "wall", "mass", stiffness=800.0)
    m.force("push", "mass", (1.0, 0.0), 4.0)
    m.sensor("place", "displacement", on="mass")
    m.static_step(increments=4, name="pull")
    for results in (solve(m), run(m, tmp_path)):
        s = results.sensor("place", "pull")
        assert s.along == ("load factor", "-") and s.t == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
        assert s.values[:, 0] == pytest.approx(s.t * 4.0 / 800.0, abs=1e-12)
        assert not results.sensor("place").t.any()  # of all steps one after another: the time
    (table,) = tmp_path.glob("sensors-*.csv")
    rows = np.genfromtxt(table.read_text().splitlines(), delimiter=",", skip_header=1)
    assert table.read_text().startswith("time [s],load factor [-],")
    assert rows[:, 1] == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert plot_sensor(Results.open(tmp_path), "place", tmp_path / "place.svg").stat().st_size
