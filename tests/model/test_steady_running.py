"""Steady running: balances, drives and steering as unknowns, what follows, mistakes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, solve

G, MASS, WHEEL, R = 9.81, 400.0, 15.0, 0.3
CORNERS = {"fl": (1.0, 0.6), "fr": (1.0, -0.6), "rl": (-1.1, 0.6), "rr": (-1.1, -0.6)}


def car(speed=15.0, radius=0.0, resistance=0.0, steering=False, **tyre):
    """Return a car on four sprung wheels, whose front ones may be steered together."""
    m = Model(3, gravity=(0.0, 0.0, -G))
    m.body("car", (0.0, 0.0, 0.6), MASS, (100.0, 400.0, 450.0))
    for name, (x, y) in CORNERS.items():
        at, holder = (x, y, R), f"{name} strut"
        m.body(holder, at, 5.0, (0.1, 0.1, 0.1))
        m.joint(f"{name} slide", "prismatic", "car", holder, point=at, axis=(0.0, 0.0, 1.0))
        m.joint_spring(f"{name} spring", f"{name} slide", stiffness=2e4, damping=800.0)
        if steering and x > 0.0:
            m.body(f"{name} knuckle", at, 2.0, (0.05, 0.05, 0.05))
            m.joint(f"{name} pin", "revolute", holder, f"{name} knuckle", point=at, axis=(0.0, 0.0, 1.0))
            holder = f"{name} knuckle"
        m.body(f"{name} wheel", at, WHEEL, (0.4, 0.7, 0.4))
        m.joint(f"{name} hub", "revolute", holder, f"{name} wheel", point=at, axis=(0.0, 1.0, 0.0))
        law = {"stiffness": 1.5e5, "damping": 0.01, "slip_stiffness": (4e4, 3e4), "rolling_resistance": resistance}
        m.tyre(f"{name} tyre", f"{name} wheel", axis=(0.0, 1.0, 0.0), radius=R, slip_speed=1e-3, **(law | tyre))
        m.sensor(f"{name} load", "tyre", on=f"{name} tyre")
    if steering:
        m.gear("rod", "fl pin", "fr pin", ratio=1.0)
        m.motor("steer", joint="fl pin", force=0.0)
        m.sensor("angle", "joint", on="fl pin")
    m.force("drive", "car", (1.0, 0.0, 0.0), function=0.0, follower=True)
    m.sensor("velocity", "velocity", on="car")
    m.sensor("spin", "angular velocity", on="car")
    m.sensor("place", "position", on="car")
    if radius:
        m.running("car", velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, speed / radius), centre=(0.0, radius, 0.0))
    else:
        m.running("car", velocity=(speed, 0.0, 0.0))
    return m


def weight(steering=False):
    return G * (MASS + 4.0 * (WHEEL + 5.0) + (4.0 if steering else 0.0))


@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
@pytest.mark.parametrize("curve", ["linear", "brush"])
def test_the_drive_balances_resistance_and_drag(curve, relaxation):
    m = car(resistance=0.015, relaxation=relaxation, slip_law=curve)
    m.force("drag", "car", (-200.0, 0.0, 0.0))
    m.steady_running_step("drive")
    m.transient_step(1.0, 0.01, frames=0)
    solution = solve(m)
    report = solution.steps[0].report
    # the arm of the rolling resistance is r_e, not the height of the axle: of the order of the slip less than 1e-3
    assert report.efforts["drive"] == pytest.approx(200.0 + 0.015 * weight(), rel=2e-3)
    assert report.missing_power is None
    assert report.out_of_balance < 1e-12
    velocity = solution.steps[1].series["sensor/velocity"]
    assert np.abs(velocity - (15.0, 0.0, 0.0)).max() < 1e-8


def test_without_efforts_the_summary_tells_the_missing_power():
    m = car(resistance=0.015)
    m.steady_running_step()
    report = solve(m).steps[0].report
    assert report.missing_force == pytest.approx(0.015 * weight(), rel=2e-3)
    assert report.missing_power == pytest.approx(15.0 * report.missing_force, rel=1e-12)
    assert report.spins["fl wheel"] == pytest.approx(15.0 / R, rel=0.02)


def test_a_drive_at_the_wheels():
    """A moment on both rear hubs by one engine behind a gear on a solid axle."""
    m = car(resistance=0.015)
    m.joint("axle", "weld", "rl wheel", "rr wheel", point=(-1.1, 0.0, R))
    m.motor("engine", joint="rl hub", force=0.0)
    m.steady_running_step(["engine"])
    m.transient_step(0.2, 0.001, frames=0)
    solution = solve(m)
    moment = solution.steps[0].report.efforts["engine"]
    assert moment == pytest.approx(0.015 * weight() * R, rel=0.03)
    # a motor's moment on a shaft that turns by w h in a step is off by (w h)^2/12
    assert np.ptp(solution.steps[1].series["sensor/velocity"][:, 0]) < 2e-5


@pytest.mark.parametrize("radius", [40.0, 400.0])
def test_a_curve_goes_on_steadily(radius):
    """Drive and steering keep the circle; the balances of force and moment hold; time steps follow to second order."""
    m = car(radius=radius, resistance=0.01, steering=True)
    m.steady_running_step(["drive", "steer"])
    m.transient_step(0.6, 0.005, frames=0)
    solution = solve(m)
    series = solution.steps[0].series
    loads = {name: series[f"sensor/{name} load"][0, 0] for name in CORNERS}
    assert sum(loads.values()) == pytest.approx(weight(True), rel=1e-2)  # some side force at the drive, if it rolls
    a = 15.0**2 / radius
    outer = loads["fr"] + loads["rr"] - loads["fl"] - loads["rl"]
    assert outer * 0.6 == pytest.approx(a * (MASS * 0.6 + 4.0 * 20.0 * R), rel=0.2)
    place = solution.steps[1].series["sensor/place"][:, :2]
    far = np.linalg.norm(place - (0.0, radius), axis=1)
    assert np.ptp(far) < 3e-3
    speed = np.linalg.norm(solution.steps[1].series["sensor/velocity"][:, :2], axis=1)
    np.testing.assert_allclose(speed, 15.0, rtol=1e-4)


def test_small_motions_about_it():
    """Modes of a driven car in steady running are those of a state without accelerations."""
    m = car(resistance=0.015)
    m.steady_running_step("drive")
    m.complex_modes_step(8)
    step = solve(m).steps[1]
    assert step.report.stable
    assert not any("held at this instant" in warning for warning in step.report.warnings)


def test_its_equations_have_the_tangent_of_their_differences():
    """Displacements, spins and efforts, in a curve, with gyroscopic moments and discs that roll."""
    from fem_mbs.analysis.loading import Loading
    from fem_mbs.analysis.statics import running as steady
    from fem_mbs.errors import Owner
    from fem_mbs.system.states import moved

    m = Model(3, gravity=(0.0, 0.0, -G))
    m.body("pilot", (0.1, 0.05, 0.6), 3.0, (0.2, 0.3, 0.25))
    m.body("wheel", (0.0, 0.0, R), 2.0, (0.05, 0.1, 0.05))
    m.joint("hub", "revolute", "pilot", "wheel", point=(0.0, 0.0, R), axis=(0.0, 1.0, 0.0))
    m.joint("floor", "rolling_disc", "wheel", point=(0.0, 0.0, R), axis=(0.0, 1.0, 0.0), radius=R, crown=0.1)
    m.spring("tie", "pilot", "wheel", 50.0, 2.0, 0.1, point_a=(0.1, 0.0, 0.6), point_b=(0.0, 0.0, R))
    m.motor("drive", joint="hub", force=1.3)
    m.running("pilot", velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.7), centre=(0.0, 4.0, 0.0))
    compiled = m.compile()
    loading = Loading(compiled)
    loading.all_on()
    number = next(i for i, load in enumerate(compiled.loads) if load and compiled.functions[i](0.0) == 1.3)
    run = steady._Running(compiled, compiled.system.initial_state(), 0.0, loading, [number], Owner("Step", "s"))
    rng = np.random.default_rng(3)
    size = run.system.n_dof
    u = np.zeros(size)
    u[run.dofs] = 0.1 * rng.normal(size=run.dofs.size)
    state = moved(run.system, run.start, u)
    state.U[run.first : -1] = rng.normal(size=size - 1 - run.first)
    it = steady._Iterate(state, run.speeds * 1.2, np.array([1.3]), np.zeros(len(run.system.system.shared)))
    here = steady._Equations(run, it, 1.0)
    A = here._matrix(np.inf).toarray()
    n, k = run.dofs.size, here.Z.shape[1]
    rows = [*range(n), *range(n + k + 1, A.shape[0])]
    kept = [*run.dofs, *range(run.first, here.force.size)]
    for j in range(n + k + 1):

        def force(step, j=j):
            v, speeds, efforts = np.zeros(size), it.speeds.copy(), it.efforts.copy()
            if j < n:
                v[run.dofs[j]] = step
            elif j < n + k:
                speeds = speeds + step * here.Z[:, j - n]
            else:
                efforts = efforts + step
            there = moved(run.system, here.here.state, v)
            there.U[run.first : -1] = here.here.state.U[run.first : -1]
            return steady._Equations(run, steady._Iterate(there, speeds, efforts, it.others), 1.0).force[kept]

        change = (force(1e-5) - force(-1e-5)) / 2e-5
        assert np.abs(A[rows, j] - change).max() < 2e-6 * max(np.abs(change).max(), 1.0), j


def _second(m):
    m.body("other", (9.0, 9.0, 1.0), 1.0, (1.0, 1.0, 1.0))
    m.running("other", velocity=(1.0, 0.0, 0.0))


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e5])
def test_upwards_is_against_gravity_in_any_unit(unit):
    """Gravity across the way, along it, and none."""
    from fem_mbs.analysis.statics.running import _Running

    def upwards(gravity, along):
        return _Running._upwards(
            SimpleNamespace(level=SimpleNamespace(gravity=np.array(gravity) * unit)), np.array(along)
        )

    assert upwards((3.0, 0.0, -4.0), (1.0, 0.0, 0.0)) == pytest.approx((-0.6, 0.0, 0.8))
    for gravity in ((-9.81, 0.0, 0.0), (0.0, 0.0, 0.0)):
        assert abs(upwards(gravity, (1.0, 0.0, 0.0))[0]) == 0.0


@pytest.mark.parametrize(
    ("change", "efforts", "message"),
    [
        (lambda m: m, ["engine"], r'efforts: there is no load, motion, driven joint or equation "engine"'),
        (lambda m: m, ["drive", "drive"], r"must be at most 3 different names"),
        (lambda m: m.building.runnings.clear(), [], r"nothing runs; add \[\[running\]\]"),
        (_second, [], r"2 mechanisms run \(car, other\)"),
        (lambda m: m.force("side", "car", (0.0, 50.0, 0.0)), ["drive"], r"are left over, most at"),
    ],
)
def test_mistakes(change, efforts, message):
    m = car(resistance=0.01)
    change(m)
    m.steady_running_step(efforts)
    with pytest.raises((ModelError, AnalysisError), match=message):
        solve(m)


def test_a_model_in_the_plane_is_refused():
    m = Model(2)
    m.body("a", (0.0, 0.0), 1.0, 1.0)
    m.running("a", velocity=(1.0, 0.0))
    m.steady_running_step()
    with pytest.raises(ModelError, match="steady running is for models in space"):
        solve(m)


def test_a_sled_without_wheels():
    """Nothing spins: the drive balances a drag, and the way is held by a planar joint."""
    m = Model(3, gravity=(0.0, 0.0, -G))
    m.body("sled", (0.0, 0.0, 0.3), 20.0, (1.0, 2.0, 3.0))
    m.joint("snow", "planar", "ground", "sled", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.force("drag", "sled", (-70.0, 0.0, 0.0))
    m.force("drive", "sled", (1.0, 0.0, 0.0), function=0.0, follower=True)
    m.running("sled", velocity=(3.0, 0.0, 0.0))
    m.steady_running_step("drive")
    report = solve(m).steps[0].report
    assert report.efforts["drive"] == pytest.approx(70.0, rel=1e-9)
    assert report.spins == {}
