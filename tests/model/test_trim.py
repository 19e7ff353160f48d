"""Trimmed starts: static equilibrium before a transient, and rotors that go on turning steadily."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.modelfile.read import load_model

SPEED = 30.0


def rotor(
    dimension=2, drive: str | None = "joint", h=1e-3, steps=4189, point=(0, 0, 0), rule="midpoint", **beam
) -> Model:
    """A flexible blade on a hub; in space it stands askew, droops under its weight, and flaps on a sprung hinge."""
    space = dimension == 3
    place = np.array(point, float)[:dimension]
    m = Model(dimension, gravity=(0, 0, -9.81) if space else None)
    m.material("alloy", E=7e10, nu=0.3, density=2700)
    m.section("blade", "rectangle", height=0.01, width=0.02)
    start, end = np.array([0.1, 0, 0])[:dimension], np.array([1.1, 0.1, 0.1])[:dimension]
    m.body("hub", mass=1.0, inertia=(0.01, 0.01, 0.02) if space else 0.02, position=place)
    m.line("blade", place + start, place + end, n=5)
    m.beams("blade", on="blade", section="blade", material="alloy", **beam)
    z = {"axis": (0, 0, 1)} if space else {}
    if space:
        m.joint("flap", "revolute", "hub", "blade:start", axis=(0, 1, 0))
        m.joint_spring("root", "flap", 200.0)
    else:
        m.joint("root", "weld", "hub", "blade:start")
    m.joint(
        "bearing", "revolute", "ground", "hub", point=place, function=f"{SPEED}*t" if drive == "joint" else None, **z
    )
    if drive == "motion":
        m.motion("drive", "hub", "rotation", f"{SPEED}*t")
    m.centrifugal("turning", SPEED, point=place, spin=True, **z)
    m.sensor("radius", "distance", a="blade:end", b="hub")
    m.sensor("tip", "position", on="blade:end")
    m.sensor("angle", "joint", on="bearing")
    m.static_step(increments=4)
    m.transient_step(steps * h, h, frames=0, rule=rule)
    return m


@pytest.mark.parametrize(
    ("dimension", "drive", "options"),
    [
        (2, "joint", {}),
        (2, "motion", {}),
        (2, None, {"mass": "lumped"}),
        (3, "joint", {}),
        (3, None, {"strains": "corotational"}),
        (3, "joint", {"point": (0.3, -0.2, 0.1), "strains": "corotational"}),
    ],
)
def test_a_trimmed_rotor_stays_steady(dimension, drive, options):
    """20 turns at 30 rad/s; the tip keeps its radius and its height to round-off."""
    s = solve(rotor(dimension, drive, **options))
    step, radius = s.steps[1], s.steps[-1].series["sensor/radius"][:, 0]
    assert step.time[-1] * SPEED / (2 * np.pi) > 19.9
    assert np.ptp(radius) < 1e-11 * radius[0]
    if dimension == 3:
        assert np.ptp(s.steps[-1].series["sensor/tip"][:, 2]) < 1e-11
    turned = s.steps[-1].series["sensor/angle"][1:, 0]
    assert turned - turned[0] == pytest.approx(SPEED * (step.time[1:] - step.time[1]), abs=1e-9)
    assert np.ptp(step.ledger("kinetic")) < 1e-10 * step.ledger("kinetic")[0]
    unstrained = np.hypot(1.1, 0.1) if dimension == 2 else np.sqrt(1.1**2 + 0.1**2 + 0.1**2)
    assert abs(radius[0] - unstrained) > 1e-6
    start = step.summary["start"]
    assert start["spin"]["speed"] == SPEED
    assert start["spin"]["speed_of_the_steps"] == pytest.approx(2e3 * np.tan(0.5e-3 * SPEED), rel=1e-14)


def test_large_steps_are_steady_too():
    """0.45 rad per step, a thousand steps."""
    s = solve(rotor(2, "joint", h=0.015, steps=1000))
    assert np.ptp(s.steps[-1].series["sensor/radius"]) < 1e-11


def test_without_a_trim_the_blade_rings():
    m = rotor(3, "joint", steps=500)
    del m.steps[0]
    assert np.ptp(solve(m).steps[-1].series["sensor/tip"][:, 2]) > 1e-3


def test_trim_is_the_static_state_of_that_speed():
    """A truss with a mass at its end, N = m w'^2 r, r = L (1 + N/EA)."""
    w, h, EA, mass = 20.0, 0.01, 1e4, 2.0
    m = Model(2)
    m.section("bar", "stiffness", EA=EA, rhoA=0.0)
    m.body("hub", mass=1.0, inertia=1.0, position=(0, 0))
    m.line("bar", (0, 0), (1, 0), n=1)
    m.trusses("bar", on="bar", section="bar")
    m.point_mass("ball", "bar:end", mass)
    m.joint("pin", "pin", "bar:start", "hub", point=(0, 0))
    m.joint("axle", "revolute", "ground", "hub", point=(0, 0), function=f"{w}*t")
    m.centrifugal("turning", w, spin=True)
    m.sensor("radius", "distance", a="bar:end", b="hub")
    m.static_step(increments=2)
    m.transient_step(100 * h, h)
    s = solve(m)
    of_step = 2.0 / h * np.tan(0.5 * h * w)
    expected = 1.0 / (1.0 - mass * of_step**2 / EA)
    assert s.steps[0].series["sensor/radius"][-1, 0] == pytest.approx(expected, rel=1e-12)
    assert s.steps[-1].series["sensor/radius"][:, 0] == pytest.approx(expected, rel=1e-11)


def test_newmark_starts_with_the_speed_itself():
    s = solve(rotor(2, "joint", steps=50, rule="newmark"))
    start = s.steps[1].summary["start"]["spin"]
    assert start["speed_of_the_steps"] == start["speed"] == SPEED


def test_a_clamped_model_cannot_turn():
    m = Model(2)
    m.section("s", "stiffness", EA=1e4, EI=2.0, rhoA=0.5)
    m.line("a", (0, 0), (1, 0), n=6)
    m.beams("a", on="a", section="s")
    m.fix("a:start")
    m.centrifugal("turning", 5.0, spin=True)
    m.static_step()
    m.transient_step(0.1, 0.01)
    with pytest.raises(
        ModelError, match=r'Centrifugal load "turning": the model cannot turn as a whole: node .* joints'
    ):
        solve(m)


def test_a_wrong_speed_of_the_driver():
    m = rotor(2, None, steps=10)
    m.joint("motor", "angle", "ground", "hub", function="29*t")
    with pytest.raises(ModelError, match="the model cannot turn as a whole"):
        solve(m)


def test_steps_beyond_a_quarter_of_a_turn_are_refused():
    with pytest.raises(ModelError, match=r"h = 0\.2 s is more than a quarter of a turn"):
        solve(rotor(2, "joint", h=0.2, steps=5))


def test_static_equilibrium_as_a_start():
    """A cantilever that a static step has bent hangs still in the transient after it."""
    m = Model(2, gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e4, EI=2.0, rhoA=0.5)
    m.line("a", (0, 0), (1, 0), n=6)
    m.beams("a", on="a", section="s")
    m.fix("a:start")
    m.sensor("tip", "displacement", on="a:end")
    m.static_step(increments=3)
    m.transient_step(1.0, 0.01)
    tip = solve(m).steps[-1].series["sensor/tip"]
    assert tip[0, 1] < -0.1
    assert np.abs(tip - tip[0]).max() < 1e-10


def test_from_a_model_file(tmp_path):
    path = tmp_path / "rotor.toml"
    path.write_text("""
dimension = 2
[section.bar]
shape = "stiffness"
EA = 1e4
EI = 10.0
rhoA = 0.5
[mesh.arm]
line = { start = [0, 0], end = [1, 0], n = 4 }
[[beam]]
name = "arm"
on = "arm"
section = "bar"
[[support]]
on = "arm:start"
components = ["x", "y"]
[[motion]]
name = "shaft"
on = "arm:start"
component = "rotation"
function = "20*t"
[[centrifugal]]
speed = 20
spin = true
[[sensor]]
name = "radius"
kind = "distance"
a = "arm:start"
b = "arm:end"
[[step]]
type = "static"
increments = 2
[[step]]
type = "transient"
duration = 1.0
h = 0.01
restarts = 1
""")
    results = run(load_model(path), tmp_path / "out")
    _, radius, _ = results.sensor("radius")
    assert radius[0, 0] > 1.001 and np.ptp(radius) < 1e-11
    again = run(load_model(path), tmp_path / "out", restart=-1)
    assert np.array_equal(again.sensor("radius").values, radius)
