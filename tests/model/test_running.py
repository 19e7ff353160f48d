"""Running starts: rigid motions, wheels that roll, drive lines, what does not belong, mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs.modelfile.writer import write_model

G, STIFFNESS = 9.81, 2e5
PLACES = {"front left": (1.2, 0.7), "front right": (1.2, -0.7), "rear left": (-1.3, 0.7), "rear right": (-1.3, -0.7)}


def car(radii=(0.3, 0.25), speed=20.0, spin=None, welded=(), running=True, centre=None, **tyre) -> Model:
    """Return a car on four sprung wheels that touch the road."""
    m = Model(3, gravity=(0.0, 0.0, -G))
    m.body("car", (0.0, 0.0, 0.6), 1000.0, (300.0, 1200.0, 1300.0))
    for name, (x, y) in PLACES.items():
        r = radii[0] if x > 0.0 else radii[1]
        at = (x, y, r)
        m.body(f"{name} upright", at, 20.0, (0.5, 0.5, 0.5))
        m.joint(f"{name} strut", "prismatic", "car", f"{name} upright", point=at, axis=(0.0, 0.0, 1.0))
        m.joint_spring(f"{name} spring", f"{name} strut", stiffness=3e4, damping=2000.0)
        m.body(f"{name} wheel", at, 25.0, (0.6, 1.1, 0.6))
        kind = {"kind": "weld"} if name in welded else {"kind": "revolute", "axis": (0.0, 1.0, 0.0)}
        m.joint(f"{name} hub", a=f"{name} upright", b=f"{name} wheel", point=at, **kind)
        law = {"slip_stiffness": (6e4, 5e4), "stiffness": STIFFNESS, "damping": 0.01} | tyre
        m.tyre(f"{name} tyre", f"{name} wheel", axis=(0.0, 1.0, 0.0), radius=r, **law)
        m.sensor(f"{name} spin", "angular velocity", on=f"{name} wheel")
        m.sensor(f"{name} slip", "tyre", on=f"{name} tyre", quantity="slip")
        m.sensor(f"{name} depth", "tyre", on=f"{name} tyre", quantity="penetration")
        m.sensor(f"{name} velocity", "velocity", on=f"{name} wheel")
    m.sensor("velocity", "velocity", on="car")
    m.sensor("place", "position", on="car")
    if running:
        m.running("car", velocity=(speed, 0.0, 0.0), spin=spin, centre=centre)
    return m


def start(m: Model, h=1e-3, n=1):
    m.transient_step(n * h, h, frames=0)
    return solve(m)


def first(solution, name):
    return solution.steps[-1].series[f"sensor/{name}"][0]


@pytest.mark.parametrize("rolling_radius", [None, 0.22])
@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
def test_wheels_of_different_radii_roll(relaxation, rolling_radius):
    solution = start(car(relaxation=relaxation, rolling_radius=rolling_radius))
    np.testing.assert_allclose(first(solution, "velocity"), (20.0, 0.0, 0.0), atol=1e-12)
    for name, (x, _) in PLACES.items():
        radius = rolling_radius or (0.3 if x > 0.0 else 0.25)
        np.testing.assert_allclose(first(solution, f"{name} spin"), (0.0, 20.0 / radius, 0.0), rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(first(solution, f"{name} velocity"), (20.0, 0.0, 0.0), atol=1e-11)


def test_in_a_curve_outer_wheels_turn_faster():
    w, radius = 0.25, 80.0
    solution = start(car(speed=0.0, spin=(0.0, 0.0, w), centre=(0.0, radius, 0.0)))
    np.testing.assert_allclose(first(solution, "velocity"), (w * radius, 0.0, 0.0), atol=1e-11)
    for name, (x, y) in PLACES.items():
        np.testing.assert_allclose(first(solution, f"{name} velocity"), (w * (radius - y), w * x, 0.0), atol=1e-11)
        spin = w * (radius - y) / (0.3 if x > 0.0 else 0.25)
        np.testing.assert_allclose(first(solution, f"{name} spin"), (0.0, spin, w), rtol=1e-11, atol=1e-11)


def test_steady_after_a_static_step():
    """Statics bring the car to rest on its springs; from there it runs with constant energy and speed."""
    m = car()
    m.static_step()
    solution = start(m, h=0.01, n=100)
    series = solution.steps[-1].series
    for name, (x, _) in PLACES.items():
        depth = series[f"sensor/{name} depth"].ravel()
        assert depth[0] > 5e-3 and np.ptp(depth) < 1e-11
        spin = series[f"sensor/{name} spin"][:, 1]
        np.testing.assert_allclose(spin, 20.0 / ((0.3 if x > 0.0 else 0.25) - depth[0] / 3.0), rtol=1e-11)
        assert np.nanmax(np.abs(series[f"sensor/{name} slip"])) < 1e-11
    assert np.ptp(series["sensor/velocity"], axis=0).max() < 1e-9
    assert np.ptp(series["sensor/place"][:, 2]) < 1e-11
    total = series["ledger"][:, :3].sum(axis=1)
    assert np.ptp(total) < 1e-10 * total[0]
    assert abs(series["ledger"][-1, 3]) < 1e-10 * total[0]


@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
def test_the_missing_power_is_that_of_resistances(relaxation):
    """Rolling resistance f N r_e w with r_e w = V, and a drag; a force of the same size leaves nothing missing."""
    depth, drag = 0.01, 80.0
    resistance = 0.015 * 4.0 * STIFFNESS * depth
    for force in (0.0, resistance + drag):
        m = car(rolling_resistance=0.015, relaxation=relaxation, slip_speed=1e-3, road=(0.0, 0.0, depth))
        m.force("push", "car", (force - drag, 0.0, 0.0))
        missing = start(m).summary["steps"][-1]["start"]["missing_power"]
        assert missing == pytest.approx((resistance + drag - force) * 20.0, rel=1e-8, abs=1e-4)


def test_an_axle_without_differential():
    """Both rear wheels on one shaft roll straight ahead; in a curve either one slides by W b/2."""
    for spin in (None, (0.0, 0.0, 0.5)):
        m = car(spin=spin)
        m.joint("axle", "weld", "rear left wheel", "rear right wheel", point=(-1.3, 0.0, 0.25))
        if spin is None:
            np.testing.assert_allclose(first(start(m), "rear left spin"), (0.0, 80.0, 0.0), atol=1e-9)
            continue
        with pytest.raises(ModelError, match=r'Tyre "rear .*": it would slide by 0\.35 m/s'):
            start(m)


def test_the_drive_line_turns_with_the_wheels():
    """A gear, and a torsion spring behind it: the engine and what only a spring turns go along."""
    m = car()
    for name, x in (("engine", 0.3), ("flywheel", 0.1)):
        m.body(name, (x, 0.0, 0.6), 50.0, (1.0, 1.0, 1.0))
        m.sensor(name, "angular velocity", on=name)
    m.joint("engine shaft", "revolute", "car", "engine", point=(0.3, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
    m.joint("flywheel shaft", "revolute", "car", "flywheel", point=(0.1, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
    m.torsion_spring("shaft", "engine", "flywheel", 500.0, axis=(0.0, 1.0, 0.0))
    m.gear("gear", "rear left hub", "engine shaft", ratio=4.0)
    solution = start(m)
    for name in ("engine", "flywheel"):
        np.testing.assert_allclose(first(solution, name), (0.0, 320.0, 0.0), rtol=1e-9, atol=1e-9)


def test_what_only_the_ground_connects_stays():
    m = car()
    m.body("post", (9.0, 0.0, 1.0), 5.0, (1.0, 1.0, 1.0))
    m.joint("foot", "prismatic", "ground", "post", point=(9.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))
    m.sensor("post", "velocity", on="post")
    np.testing.assert_array_equal(first(start(m), "post"), 0.0)


def test_two_vehicles_and_initial_velocities_add_up():
    m = car()
    m.body("scooter", (0.0, 9.0, 0.4), 10.0, (1.0, 1.0, 1.0))
    m.running("scooter", velocity=(-3.0, 0.0, 0.0), spin=(0.0, 0.0, 1.0))
    m.initial("scooter", velocity=(0.0, 1.0, 0.5))
    m.sensor("scooter", "velocity", on="scooter")
    m.sensor("scooter spin", "angular velocity", on="scooter")
    solution = start(m)
    np.testing.assert_allclose(first(solution, "scooter"), (-3.0, 1.0, 0.5), atol=1e-12)
    np.testing.assert_allclose(first(solution, "scooter spin"), (0.0, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(first(solution, "velocity"), (20.0, 0.0, 0.0), atol=1e-12)


def test_a_wheel_on_a_slope_of_its_road():
    """Rolling is along the road: the rim turns with the speed along the slope."""
    m = Model(3)
    m.body("wheel", (2.0, 0.0, 0.5), 10.0, (1.0, 1.0, 1.0))
    m.tyre(
        "tyre", "wheel", axis=(0.0, 1.0, 0.0), radius=0.3, rolling_radius=0.3, stiffness=STIFFNESS,
        slip_stiffness=1e4, profile="0.1*t", length=8.0,
    )  # fmt: skip
    m.body("fork", (2.0, 0.0, 0.8), 5.0, (1.0, 1.0, 1.0))
    m.joint("hub", "revolute", "fork", "wheel", point=(2.0, 0.0, 0.5), axis=(0.0, 1.0, 0.0))
    m.running("fork", velocity=(4.0, 0.0, 0.4))
    m.sensor("spin", "angular velocity", on="wheel")
    found = first(start(m), "spin")[1]
    assert found == pytest.approx(np.hypot(4.0, 0.4) / 0.3, rel=1e-5)  # (a spline with level ends)


def test_a_pinion_on_a_rack_in_the_plane():
    """A disc whose angle follows the way of its frame, which runs."""
    m = Model(2)
    m.body("frame", (0.0, 0.5), 3.0, 1.0)
    m.body("disc", (0.0, 0.5), 2.0, 0.3)
    m.joint("axle", "revolute", "frame", "disc", point=(0.0, 0.5))
    m.joint("slide", "prismatic", "ground", "frame", point=(0.0, 0.5), axis=(1.0, 0.0))
    m.gear("teeth", "slide", "axle", ratio=-2.0)
    m.running("frame", velocity=(3.0, 0.0))
    m.sensor("spin", "angular velocity", on="disc")
    assert np.ravel(first(start(m), "spin"))[-1] == pytest.approx(-6.0, rel=1e-11)


def test_model_files_and_restarts_keep_it(tmp_path):
    text = write_model(car(spin=(0.0, 0.0, 0.1)), tmp_path / "car.toml") or (tmp_path / "car.toml").read_text()
    assert "[[running]]" in text
    again = start(load_model(tmp_path / "car.toml"))
    np.testing.assert_array_equal(
        first(again, "front left spin"), first(start(car(spin=(0.0, 0.0, 0.1))), "front left spin")
    )


def two_runs():
    m = car()
    m.running("front left wheel", velocity=(20.0, 0.0, 0.0))
    return m


def as_given():
    m = car()
    m.initial(velocity=(0.0, 0.0, 0.0), method="given")
    return m


def on_rails():
    m = car()
    m.joint("rail", "prismatic", "ground", "car", point=(0.0, 0.0, 0.6), axis=(0.0, 0.0, 1.0))
    return m


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: car(welded=("front left",)), r'Tyre "front left tyre": it would slide by 20 m/s'),
        (lambda: two_runs(), r'Running "front left wheel": its mechanism runs with "car" already'),
        (lambda: as_given(), r'method = "given"'),
        (lambda: car(centre=(0.0, 1.0, 0.0)), r"centre = .* belongs to a spin"),
        (lambda: car(speed=float("nan")), r"velocity = .* must be 3 finite numbers"),
        (lambda: on_rails(), r'"rail".*contradict each other by 20'),
    ],
    ids=["slides", "twice", "given", "centre", "nan", "rails"],
)  # fmt: skip
def test_mistakes(model, message):
    with pytest.raises(ModelError, match=message):
        start(model())
