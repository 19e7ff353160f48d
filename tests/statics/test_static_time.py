"""Static steps that follow time: loads, motions and equations by their functions, one increment after the other."""

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.errors import ConvergenceError


def spring(**options):
    """A mass on a spring along x."""
    m = Model(2, **options)
    m.node("a", (1.0, 0.0))
    m.point_mass("m", "a", 1.0)
    m.spring("s", "a", "ground", 100.0, point_b=(0.0, 0.0))
    m.fix("a", "y")
    m.sensor("u", "displacement", on="a")
    m.sensor("work", "energy", quantity="load work")
    return m


def test_loads_follow_time():
    """u = F(t)/k at every time, the work of the load by the trapezoidal rule, and time goes on from step to step."""
    m = spring()
    m.force("F", "a", (1.0, 0.0), "20*t + 5*t**2")
    m.static_step(8, duration=2.0, name="one")
    m.static_step(4, duration=1.0, name="two")
    m.transient_step(0.1, 0.01)
    s = solve(m)
    for step, times in ((0, np.linspace(0.0, 2.0, 9)), (1, np.linspace(2.0, 3.0, 5))):
        assert s.steps[step].time == pytest.approx(times, abs=1e-14)
        assert s.step_at(step).series["sensor/u"][:, 0] == pytest.approx((20 * times + 5 * times**2) / 100, abs=1e-12)
    assert s.steps[0].frames["time"] == pytest.approx(s.steps[0].time)
    # exact for a linear spring
    assert s.steps[0].series["sensor/work"][-1, 0] == pytest.approx(60.0**2 / 200.0, rel=1e-12)
    assert s.summary["steps"][1]["t_end"] == 3.0
    assert s.steps[2].time[0] == 3.0
    # the transient starts at rest where the load of that time holds it
    assert s.steps[2].series["sensor/u"][0, 0] == pytest.approx(1.05, abs=1e-12)


def test_frames_of_a_second_step_are_at_its_times():
    m = Model(2)
    m.node("a", (0.0, 0.0))
    m.node("b", (1.0, 0.0))
    m.spring("s", "a", "b", stiffness=10.0)
    m.fix("a")
    m.fix("b", ["y"])
    m.force("f", "b", (1.0, 0.0))
    for name in ("first", "second"):
        m.static_step(increments=2, duration=0.8, name=name)
    for start, step in zip((0.0, 0.8), solve(m).steps, strict=True):
        assert step.frames["time"] == pytest.approx(start + np.array([0.0, 0.4, 0.8]))


def test_motions_and_equations_follow_time():
    m = Model(2)
    for i, n in enumerate("ab"):
        m.node(n, (i + 1.0, 0.0))
        m.point_mass(f"m{n}", n, 1.0)
        m.sensor(n, "displacement", on=n)
    m.spring("s1", "a", "ground", 100.0, point_b=(0.0, 0.0))
    m.spring("s2", "a", "b", 50.0)
    m.fix(["a", "b"], "y")
    m.node("c", (3.0, 0.0))
    m.point_mass("mc", "c", 1.0)
    m.spring("s3", "b", "c", 50.0)
    m.fix("c", "y")
    m.motion("pull", "c", "x", "0.1*sin(t)")
    m.equations("eq", [0, 0], [m.node_of("a"), m.node_of("b")], [0, 0], [1.0, -0.5], 0.03, "t**2")
    m.sensor("c", "displacement", on="c")
    m.sensor("work", "energy", quantity="driver work")
    m.static_step(20, duration=2.0)
    s = solve(m)
    t = s.steps[0].time
    a, b, c = (s.sensor(n).values[:, 0] for n in "abc")
    assert c == pytest.approx(0.1 * np.sin(t), abs=1e-14)
    assert a - 0.5 * b == pytest.approx(0.03 * t**2, abs=1e-14)
    # balance with the forces lambda and -lambda/2 of the equation
    assert 100 * a + 50 * (a - b) == pytest.approx(-2 * (50 * (b - a) + 50 * (b - c)), abs=1e-11)
    # what drives the model goes into its springs
    energy = 50 * a**2 + 25 * (b - a) ** 2 + 25 * (c - b) ** 2
    assert s.steps[-1].series["sensor/work"][:, 0] == pytest.approx(energy, abs=1e-4 * energy.max())
    assert energy[-1] > 0.1


def test_what_varies_while_time_passes():
    """Gravity by the load factor, the force by its function."""
    m = spring(gravity=(10.0, 0.0))
    m.force("F", "a", (1.0, 0.0), "3*t")
    m.static_step(5, duration=2.0, vary="gravity", name="both")
    m.static_step(2, duration=1.0, name="after")
    s = solve(m)
    t = s.steps[0].time
    assert s.steps[0].series["sensor/u"][1:, 0] == pytest.approx((5.0 * t + 3.0 * t)[1:] / 100, abs=1e-12)
    t = s.steps[1].time
    assert s.steps[1].series["sensor/u"][1:, 0] == pytest.approx((10.0 + 3.0 * t)[1:] / 100, abs=1e-12)


def beam(**options):
    """A slender cantilever that rolls up under a moment at its end."""
    m = Model(2)
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.section("s", "rectangle", width=0.02, height=0.005)
    m.line("l", (0.0, 0.0), (1.0, 0.0), 8)
    m.beams("b", "l", "s", "steel")
    m.fix("l:start")
    EI = 2e11 * 0.02 * 0.005**3 / 12
    m.moment("M", "l:end", EI, "t")
    m.sensor("turn", "rotation", on="l:end")
    m.static_step(**options)
    return m


def test_increments_are_cut_and_end_on_time():
    """An end moment of 10 rad per increment: halved where Newton-Raphson does not get there, and the end is exact."""
    s = solve(beam(increments=2, duration=20.0))
    step = s.summary["steps"][0]
    assert step["cut_increments"] > 0
    assert s.steps[0].time[-1] == 20.0
    assert s.sensor("turn").values[:, 0] == pytest.approx(s.steps[0].time, rel=1e-9, abs=1e-9)


def test_where_time_cannot_go_on():
    """A link that a motion wants to stretch: the error says until when there were equilibria, up to 0.4 s."""
    m = Model(2)
    m.node("a", (0.6, 0.8))
    m.point_mass("m", "a", 1.0)
    m.joint("link", "distance", "a", "ground", point_b=(0.0, 0.0))
    m.motion("pull", "a", "x", "t")
    m.spring("s", "a", "ground", 1.0, point_b=(0.6, 3.0))
    m.static_step(5, duration=1.0)
    with pytest.raises(ConvergenceError, match=r'Step "static" at t = 0\.(399\d*|4) s: '):
        solve(m)


def test_same_as_quasi_static_inverse():
    """A driven four-bar with weight: the same equilibria as those of an inverse step without inertia."""
    found = []
    for inverse in (True, False):
        m = Model(2, gravity=(0.0, -9.81))
        m.body("crank", (0.1, 0.0), 1.0, 0.01)
        m.body("rod", (0.45, 0.0), 2.0, 0.05)
        m.joint("O", "revolute", "ground", "crank", point=(0.0, 0.0), function="0.3*t + t**2")
        m.joint("A", "pin", "crank", "rod", point=(0.2, 0.0))
        m.joint("slide", "slider", "rod", axis=(1.0, 0.0), point=(0.7, 0.0))
        m.spring("s", "rod", "ground", 300.0, point_b=(1.5, 0.0))
        m.sensor("rod", "position", on="rod")
        m.sensor("O", "reaction", on="O")
        if inverse:
            m.inverse_step(1.5, 0.1, dynamic=False)
        else:
            m.static_step(15, duration=1.5)
        s = solve(m)
        found.append(np.column_stack((s.steps[-1].series["sensor/rod"], s.steps[-1].series["sensor/O"]))[1:])
    assert np.ptp(found[0][:, 0]) > 0.05
    assert np.abs(found[0] - found[1]).max() < 1e-9 * np.abs(found[0]).max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": -1.0}, "duration = -1.0 must be a number of at least 0"),
        ({"duration": 1.0, "control": "arc"}, "time passes under load control only"),
        ({"duration": 1.0, "stability": True}, "time passes under load control only"),
    ],
)
def test_bad_durations(options, message):
    m = spring()
    m.force("F", "a", (1.0, 0.0))
    with pytest.raises(ModelError, match=message):
        m.static_step(**options)
        solve(m)
