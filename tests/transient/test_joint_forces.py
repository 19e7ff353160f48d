"""Forces on joint coordinates and between points: nonlinear springs, stops, motors, controllers, users' functions,
bushings, dense nodal masses.  What all element types share is in test_element_contract.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from fem_mbs.analysis.run import run, solve
from fem_mbs.analysis.start.initial import consistent_velocities, initial_accelerations
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.elements.laws import hinge_mean, piecewise, piecewise_at, piecewise_energy, piecewise_mean
from fem_mbs.errors import AnalysisError, ModelError, ResultsError
from fem_mbs.meshes.generate import grid2d
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model
from fem_mbs.results.reader import Results

TABLE = [(-0.6, -40.0), (-0.1, -3.0), (0.15, 2.0), (0.4, 5.0), (0.9, 60.0)]


def slide(dim, h=0.01, duration=2.0, mass=2.0, speed=3.0, **step):
    """A body that slides along x without gravity; the coordinate of "rail" is its x."""
    model = Model(dim)
    model.body("block", (0.0,) * dim, mass, 0.1 if dim == 2 else (0.1, 0.2, 0.15))
    model.joint("rail", "prismatic", "ground", "block", point=(0.0,) * dim, axis=(1.0, 0.0, 0.0)[:dim])
    model.initial_speed("block", "x", speed)
    model.sensor("x", "joint", on="rail")
    model.transient_step(duration, h, frames=0, **step)
    return model


def pendulum(dim, h=0.01, duration=2.0, spin=7.0, **step):
    """A physical pendulum about z, in space with a skewed inertia."""
    gravity = (0.0, -9.81, 0.0)[:dim]
    model = Model(dim, gravity=gravity)
    J = [[0.1, 0.02, 0.01], [0.02, 0.2, -0.03], [0.01, -0.03, 0.15]]
    model.body("rod", (0.4, 0.3, 0.0)[:dim], 1.5, 0.1 if dim == 2 else J)
    axis = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.joint("pin", "revolute", "ground", "rod", point=(0.0,) * dim, **axis)
    model.initial_speed("rod", "rotation", spin, **axis)
    model.sensor("angle", "joint", on="pin")
    model.transient_step(duration, h, frames=0, **step)
    return model


def error(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


# --- laws ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("interpolation", ["linear", "spline"])
def test_mean_of_a_table_is_its_integral(interpolation):
    """Mean, energy and derivative of the mean against adaptive quadrature, within and across pieces, both ways."""
    rows = piecewise(TABLE, interpolation, stiffness=1.3, cubic=-0.7)
    par, n = rows.reshape(1, -1), len(rows)
    knots = [x for x, _ in TABLE]
    rng = np.random.default_rng(1)
    for x0, x1 in rng.uniform(-1.2, 1.4, (40, 2)):
        inside = [x for x in knots if min(x0, x1) < x < max(x0, x1)]
        whole, _ = quad(lambda x: piecewise_at(par, 0, 0, n, x)[0], x0, x1, points=inside or None, epsabs=1e-12)
        mean, slope = piecewise_mean(par, 0, 0, n, x0, x1)
        assert mean * (x1 - x0) == pytest.approx(whole, abs=1e-11)
        change = piecewise_energy(par, 0, 0, n, x1) - piecewise_energy(par, 0, 0, n, x0)
        assert change == pytest.approx(whole, abs=1e-11)
        e = 1e-6
        difference = [piecewise_mean(par, 0, 0, n, x0, x1 + k * e)[0] for k in (1, -1)]
        assert slope == pytest.approx((difference[0] - difference[1]) / (2 * e), rel=1e-6, abs=1e-7)
    for x, F in TABLE:
        assert piecewise_at(par, 0, 0, n, x)[0] == pytest.approx(F + 1.3 * x - 0.7 * x**3, abs=1e-12)
    # beyond its ends along the last slopes
    slope = piecewise_at(rows.reshape(1, -1), 0, 0, n, 0.9 + 1e-12)[1]
    plain = piecewise(TABLE, interpolation)
    f1, f2 = (piecewise_at(plain.reshape(1, -1), 0, 0, n, x)[0] for x in (1.0, 2.0))
    assert f2 - f1 == pytest.approx(slope - 1.3 + 3 * 0.7 * 0.9**2)
    assert piecewise_energy(par, 0, 0, n, 0.0) == pytest.approx(0.0, abs=1e-14)


def test_mean_does_not_cancel():
    """Of steps of 1e-12 the mean is the force itself, also across a knot."""
    par = piecewise(TABLE).reshape(1, -1)
    n = par.size // 6
    for x in (0.2, 0.15 - 4e-13):
        mean, slope = piecewise_mean(par, 0, 0, n, x, x + 1e-12)
        assert mean == pytest.approx(piecewise_at(par, 0, 0, n, x)[0], rel=1e-10)
        assert 0.0 < slope < 11.0
    assert hinge_mean(-4e-13, 6e-13)[0] == pytest.approx(1.8e-13, rel=1e-12)


def test_hinge_is_the_integral():
    rng = np.random.default_rng(3)
    for y0, y1 in rng.normal(size=(50, 2)):
        mean, slope = hinge_mean(y0, y1)
        assert mean * (y1 - y0) == pytest.approx(0.5 * (max(y1, 0) ** 2 - max(y0, 0) ** 2), abs=1e-14)
        e = 1e-6
        assert slope == pytest.approx((hinge_mean(y0, y1 + e)[0] - hinge_mean(y0, y1 - e)[0]) / (2 * e), abs=1e-5)


# --- springs ---------------------------------------------------------------------------------------------------------
LAWS = {
    "table": {"table": TABLE, "damping_table": [(-2.0, -3.0), (-0.5, -2.5), (0.0, 0.0), (1.0, 1.0), (4.0, 9.0)]},
    "spline": {"table": TABLE, "interpolation": "spline", "preload": 1.5},
    "cubic": {"stiffness": 20.0, "cubic": 150.0, "damping": 0.3},
    "stops": {"stops": [-0.3, 0.5], "stop_stiffness": 900.0, "stop_damping": 0.05, "stiffness": 3.0},
}


def sprung(kind, dim, law, **options):
    if kind == "slide":
        model = slide(dim, **options)
        model.joint_spring("spring", "rail", free=0.05, **law)
    elif kind == "torsion":
        model = pendulum(dim, **options)
        axis = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
        model.torsion_spring("spring", "ground", "rod", angle=0.05, **law, **axis)
    else:
        model = pendulum(dim, **options)
        law = {**law, "stops": [0.9, 1.6]} if "stops" in law else law
        model.spring("spring", "rod", "ground", length=1.0, point_b=(1.2, -0.5, 0.1)[:dim], **law)
    return model


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", ["slide", "torsion", "length"])
def test_ledger_closes(kind, dim, law):
    """Ledger to 1e-11 of the energies at steps that cross knots and stops; dissipation never negative."""
    solution = solve(sprung(kind, dim, LAWS[law], h=0.02))
    assert error(solution) < 1e-11
    assert np.ptp(solution.steps[0].ledger("strain")) > 0.1
    loss = solution.steps[0].ledger("dissipated")
    assert np.diff(loss).min() >= -1e-13
    assert (loss[-1] > 1e-3) == (law != "spline")


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("kind", ["slide", "torsion", "length"])
def test_tangent_of_a_step(kind, law):
    found = tangent_check(sprung(kind, 3, LAWS[law]), h=0.05)
    assert found.error < 1e-7


def test_stiffness_as_table_polynomial_and_number_agree():
    """One spring said in three ways: the same motion."""
    values = []
    for law in ({"stiffness": 20.0}, {"table": [(-1, -20), (1, 20)]}, {"table": [(0, 0), (1, 5)], "stiffness": 15.0}):
        model = pendulum(3)
        model.joint_spring("spring", "pin", **law)
        values.append(solve(model).sensor("angle").values)
    assert np.abs(values[1] - values[0]).max() < 1e-10
    assert np.abs(values[2] - values[0]).max() < 1e-10


@pytest.mark.parametrize("dim", [2, 3])
def test_many_turns(dim):
    """A cubic torsion spring wound over more than five turns and back keeps its energy."""
    model = pendulum(dim, spin=60.0, duration=3.0)
    model.joint_spring("spring", "pin", cubic=0.002)
    solution = solve(model)
    angle = solution.sensor("angle").values[:, 0]
    assert angle.max() > 10 * np.pi
    assert angle.min() < angle.max() - 10 * np.pi
    strain = solution.steps[0].ledger("strain")
    assert strain == pytest.approx(0.002 * angle**4 / 4, rel=1e-12, abs=1e-9)
    assert error(solution) < 1e-11


def test_static_cubic_spring():
    """Statics of a cubic spring with preload against the root of its force; the sensor of the spring reads the load."""
    model = Model(2)
    model.body("block", (0.0, 0.0), 1.0, 0.1)
    model.joint("rail", "prismatic", "ground", "block", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.joint_spring("spring", "rail", stiffness=10.0, cubic=300.0, preload=-2.0)
    model.force("pull", "block", (25.0, 0.0))
    model.sensor("x", "joint", on="rail")
    model.sensor("F", "element", on="spring", quantity="force")
    model.static_step(4)
    solution = solve(model)
    root = brentq(lambda x: 10 * x + 300 * x**3 - 27.0, 0.0, 1.0)
    assert solution.sensor("x").values[-1, 0] == pytest.approx(root, rel=1e-10)
    assert solution.steps[-1].series["sensor/F"][-1, 0] == pytest.approx(25.0, rel=1e-10)


# --- stops -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damping", [0.0, 0.02, 0.4])
def test_restitution_of_a_stop(damping):
    """Hunt & Crossley: phi(v) = v/b - ln(1 + b v)/b^2 is equal before and after; the stop pushes only."""
    v0 = 3.0
    model = slide(2, h=1e-4, duration=0.5, speed=v0)
    model.joint_spring("stop", "rail", stops=[-np.inf, 0.5], stop_stiffness=2e4, stop_damping=damping)
    model.sensor("v", "velocity", on="block")
    model.sensor("F", "element", on="stop", quantity="force")
    solution = solve(model)

    def phi(v):
        return 0.5 * v * v if damping == 0.0 else v / damping - np.log1p(damping * v) / damping**2

    low = -v0 if damping == 0.0 else max(-v0, -(1 - 1e-12) / damping)
    after = brentq(lambda v: phi(v) - phi(v0), low * (1 + 1e-9 if damping == 0.0 else 1.0), -1e-9)
    assert solution.sensor("v").values[-1, 0] == pytest.approx(after, rel=1e-4)
    assert np.nanmin(solution.steps[-1].series["sensor/F"]) >= 0.0
    assert np.nanmax(solution.steps[-1].series["sensor/F"]) > 500.0
    assert error(solution) < 1e-11


def test_stop_never_pulls_when_torn_away():
    """A stop with heavy damping lets go of a block that a force tears out of it."""
    model = slide(2, speed=0.0, h=1e-3, duration=0.2)
    model.joint_spring("stop", "rail", stops=[0.2, np.inf], stop_stiffness=100.0, stop_damping=0.5)
    model.force("tear", "block", (400.0, 0.0))
    model.sensor("F", "element", on="stop", quantity="force")
    solution = solve(model)
    assert (
        np.nanmax(solution.steps[-1].series["sensor/F"]) <= 0.0
    )  # the lower stop pushes up: against the growth it is negative
    assert np.nanmin(solution.steps[-1].series["sensor/F"]) < -10.0
    inside = solution.sensor("x").values[1:, 0] < 0.19
    assert (solution.steps[-1].series["sensor/F"][1:, 0][inside] == 0.0).sum() > 5  # faster than 1/b it has let go
    assert np.diff(solution.steps[0].ledger("dissipated")).min() >= 0.0
    assert error(solution) < 1e-11


# --- motors ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dim", [2, 3])
def test_motor_of_given_force(dim):
    """F(t) = 4 cos(3 t) on a free slide: x = 4/(9 m) (1 - cos 3 t); its work is the kinetic energy."""
    model = slide(dim, h=1e-3, speed=0.0)
    model.motor("drive", "rail", force="4*cos(3*t)")
    model.sensor("F", "element", on="drive", quantity="force")
    solution = solve(model)
    t = solution.steps[0].time
    assert np.abs(solution.sensor("x").values[:, 0] - 4 / (9 * 2.0) * (1 - np.cos(3 * t))).max() < 1e-6
    assert solution.steps[-1].series["sensor/F"][1:, 0] == pytest.approx(4 * np.cos(3 * (t[1:] - 5e-4)), abs=1e-12)
    ledger = solution.steps[0]
    assert ledger.ledger("load work") == pytest.approx(ledger.ledger("kinetic"), abs=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_motor_of_given_speed(dim):
    """The coordinate is the integral of the speed, to round-off, over many turns; the driver's work is booked."""
    model = pendulum(dim, spin=0.0, duration=4.0)
    model.initial_speeds.clear()
    model.motor("drive", "pin", speed="20*sin(t)**2")
    model.sensor("M", "joint", on="pin", quantity="drive moment")
    solution = solve(model)
    t = solution.steps[0].time
    exact = 10 * t - 5 * np.sin(2 * t)
    moment = solution.steps[-1].series["sensor/M"][1:, 0]
    work = np.cumsum(moment * np.diff(exact))
    assert work == pytest.approx(solution.steps[0].ledger("driver work")[1:], abs=1e-9)
    assert exact[-1] > 10 * np.pi
    assert np.abs(solution.sensor("angle").values[:, 0] - exact).max() < 1e-11
    assert np.abs(solution.steps[0].ledger("driver work")).max() > 1.0
    assert error(solution) < 1e-11


@pytest.mark.parametrize("dim", [2, 3])
def test_controller_with_limit(dim):
    """A saturated controller: never more than its limit, at the limit for some time, ledger closed."""
    model = pendulum(dim, spin=0.0, duration=3.0)
    model.motor("drive", "pin", position="1.2*sin(4*t)", kp=300.0, kd=15.0, limit=18.0)
    model.sensor("M", "element", on="drive", quantity="moment")
    solution = solve(model)
    moment = solution.steps[-1].series["sensor/M"][1:, 0]
    assert np.abs(moment).max() == 18.0
    assert 5 < (np.abs(moment) == 18.0).sum() < len(moment) - 5
    assert error(solution) < 1e-11


def test_motor_between_points():
    """A cylinder: kp about the starting length is a spring of that stiffness."""
    values = []
    for motor in (False, True):
        model = pendulum(3)
        if motor:
            model.motor("cylinder", a="rod", b="ground", point_b=(1.2, -0.5, 0.1), kp=60.0, kd=2.0)
        else:
            model.spring("cylinder", "rod", "ground", 60.0, 2.0, point_b=(1.2, -0.5, 0.1))
        values.append(solve(model).sensor("angle").values)
    assert np.abs(values[1] - values[0]).max() < 1e-10


def test_motor_in_statics_and_newmark():
    """A motor's force is a load that a static step brings in; Newmark's rule agrees to O(h^2)."""
    model = slide(2)
    model.steps.clear()
    model.initial_speeds.clear()
    model.joint_spring("spring", "rail", stiffness=50.0)
    model.motor("drive", "rail", force=10.0)
    model.static_step(2)
    assert solve(model).steps[-1].series["sensor/x"][-1, 0] == pytest.approx(0.2, rel=1e-12)
    ends = []
    for rule in ("midpoint", "newmark"):
        model = pendulum(3, h=0.001, duration=0.5, rule=rule)
        model.motor("drive", "pin", position="sin(5*t)", kp=30.0, kd=2.0, force="2*t")
        ends.append(solve(model).steps[-1].series["sensor/angle"][-1, 0])
    assert ends[0] == pytest.approx(ends[1], abs=2e-5)


# --- users' forces ---------------------------------------------------------------------------------------------------
def pd(q, rate, t):
    return 30.0 * (np.sin(5 * t) - q) + 2.0 * (5 * np.cos(5 * t) - rate)


@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
@pytest.mark.parametrize("tangent", [None, lambda q, rate, t: (-30.0, -2.0)])
def test_user_force_is_the_motor_it_says(rule, tangent):
    """A user's PD law moves as the motor with the same gains, with as many iterations."""
    by_motor, by_user = pendulum(3, rule=rule), pendulum(3, rule=rule)
    by_motor.motor("drive", "pin", position="sin(5*t)", kp=30.0, kd=2.0)
    by_user.user_force("drive", "pin", pd, tangent)
    a, b = solve(by_motor), solve(by_user)
    assert np.abs(a.sensor("angle").values - b.sensor("angle").values).max() < 2e-9
    assert abs(a.summary["steps"][0]["iterations"] - b.summary["steps"][0]["iterations"]) <= 4
    if rule == "midpoint":
        assert error(b) < 1e-11
        work = [s.steps[0].ledger("load work") for s in (a, b)]
        assert np.abs(work[0] - work[1]).max() < 1e-10


@pytest.mark.parametrize("kind", ["slide", "torsion", "length"])
def test_user_force_is_the_spring_it_says(kind):
    """A nonlinear law on every kind of coordinate: agreement with the exact mean to O(h^2)."""
    stiffness, cubic = 20.0, 150.0
    spring = sprung(kind, 3, {"stiffness": stiffness, "cubic": cubic}, h=0.001, duration=0.5)
    user = slide(3, h=0.001, duration=0.5) if kind == "slide" else pendulum(3, h=0.001, duration=0.5)
    start = 1.0 if kind == "length" else 0.05

    def law(q, rate, t):
        return -stiffness * (q - start) - cubic * (q - start) ** 3

    if kind == "length":
        user.user_force("f", function=law, a="rod", b="ground", point_b=(1.2, -0.5, 0.1))
    else:
        user.user_force("f", "rail" if kind == "slide" else "pin", law)
    sensor = "x" if kind == "slide" else "angle"
    a, b = solve(spring), solve(user)
    assert np.abs(a.steps[-1].series[f"sensor/{sensor}"] - b.steps[-1].series[f"sensor/{sensor}"]).max() < 2e-4
    assert error(b) < 1e-11


@pytest.mark.parametrize("dim", [2, 3])
def test_user_force_on_points(dim):
    """Quadratic drag on a falling mass against v = vt tanh(g t/vt), with and without a tangent; eccentric."""
    c, m, g = 0.4, 2.0, 9.81

    def drag(x, v, t):
        return -c * v * np.linalg.norm(v, axis=1, keepdims=True)

    def by_v(x, v, t):
        speed = np.linalg.norm(v, axis=1)[:, None, None]
        outer = v[:, :, None] * v[:, None, :]
        return np.zeros_like(outer), -c * (speed * np.eye(dim) + outer / np.where(speed > 0, speed, 1.0))

    for tangent in (None, by_v):
        model = Model(dim, gravity=(0.0, -g, 0.0)[:dim])
        for i in range(3):
            model.node(f"n{i}", (float(i), 0.0, 0.0)[:dim])
            model.point_mass(f"m{i}", f"n{i}", m)
        model.user_force("drag", at=["n0", "n1", "n2"], function=drag, tangent=tangent)
        model.sensor("v", "velocity", on="n2")
        model.transient_step(1.5, 0.005, frames=0)
        solution = solve(model)
        t, v = solution.steps[0].time, solution.steps[-1].series["sensor/v"][:, 1]
        terminal = np.sqrt(m * g / c)
        assert np.abs(v + terminal * np.tanh(g * t / terminal)).max() < 1e-4
        assert error(solution) < 1e-11
    model = pendulum(dim)
    model.user_force("drag", at="rod", function=drag, point=(0.8, 0.6, 0.0)[:dim])
    assert tangent_check(model, h=0.05).error < 1e-4  # the law between evaluations is linear, its tangent differences
    solution = solve(model)
    assert error(solution) < 1e-11
    assert solution.steps[0].ledger("load work")[-1] < -1.0


def test_user_force_in_statics():
    """Static equilibrium with a user's nonlinear force, by load increments and along a path."""
    for options in ({}, {"control": "arc"}):
        model = slide(2)
        model.steps.clear()
        model.initial_speeds.clear()
        model.user_force("law", "rail", lambda q, rate, t: -10 * q - 300 * q**3)
        model.force("pull", "block", (25.0, 0.0))
        model.static_step(5, **options)
        solution = solve(model)
        x, factor = solution.steps[-1].series["sensor/x"][:, 0], solution.steps[0].series["load factor"]
        assert factor[-1] >= 1.0
        assert 10 * x + 300 * x**3 == pytest.approx(25.0 * factor, rel=1e-8, abs=1e-8)


def test_user_force_restarts_bit_equal(tmp_path):
    """A run continued from a restart point repeats the bits; with another function it is refused."""

    def build(gain=30.0):
        model = pendulum(2, duration=1.0, restarts=3)
        model.user_force("law", "pin", lambda q, rate, t: -gain * np.sin(q) - 2.0 * rate + np.cos(9 * t))
        return model

    run(build(), tmp_path / "a")
    whole = Results.open(tmp_path / "a").sensor("angle").values.copy()
    run(build(), tmp_path / "a", restart=1)
    assert np.array_equal(Results.open(tmp_path / "a").sensor("angle").values, whole)
    other = pendulum(2, duration=1.0, restarts=3)
    other.user_force("law", "pin", lambda q, rate, t: -30.0 * np.cos(q) - 2.0 * rate + np.cos(9 * t))
    for changed in (build(gain=31.0), other):
        with pytest.raises(ResultsError, match="another model"):
            run(changed, tmp_path / "a", restart=1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda q, rate, t: 1 / 0, 'User force "law".*failed at t = .*ZeroDivisionError'),
        (lambda q, rate, t: [1.0, 2.0], 'User force "law".*must return a number'),
        (lambda q, rate, t: "much", 'User force "law".*must return a number'),
        (lambda q, rate, t: None, 'User force "law".*must return a number'),
        (lambda q, rate, t: 0.0 if t < 0.1 else np.nan, 'User force "law".*at t = 0.1.*finite'),
        (lambda q: 0.0, 'User force "law".*TypeError'),
    ],
)
def test_user_force_errors(function, message):
    model = pendulum(2)
    model.user_force("law", "pin", function)
    with pytest.raises(ModelError, match=message):
        solve(model)


def test_user_force_tangent_errors():
    model = pendulum(2)
    model.user_force("law", "pin", lambda q, rate, t: 0.0, tangent=lambda q, rate, t: 1.0)
    with pytest.raises(ModelError, match=r'User force "law": its tangent returned 1.0 .* must return a number and a'):
        solve(model)


# --- bushings --------------------------------------------------------------------------------------------------------
def random_matrix(n, seed=1, scale=1.0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return scale * (A @ A.T + np.eye(n))


def two_bodies(dim, a="one", b="two", frame="first", damping=None, spin=3.0, **options):
    model = Model(dim)
    J = 0.1 if dim == 2 else (0.1, 0.2, 0.15)
    model.body("one", (0.0, 0.0, 0.0)[:dim], 1.0, J)
    model.body("two", (0.3, 0.1, -0.2)[:dim], 2.0, J)
    n = 3 * (dim - 1)
    model.bushing(
        "mount", a, b, stiffness=random_matrix(n, scale=300.0), damping=damping, point=(0.2, 0.05, 0.0)[:dim],
        rotation=0.4 if dim == 2 else (0.1, -0.5, 0.3), frame=frame, **options,
    )  # fmt: skip
    w = spin if dim == 2 else (spin, 1.0, -2.0)
    model.initial("one", velocity=(1.0, -0.5, 0.3)[:dim], spin=w)
    model.sensor("x", "position", on="two")
    model.transient_step(2.0, 0.01, frames=0)
    return model


@pytest.mark.parametrize("frame", ["first", "mean"])
def test_damping_of_a_bushing_is_that_of_the_rates_of_its_displacements(frame):
    """At the ends of steps of a one-state rule; differences of the rows give these rates to second order."""
    stiffness = np.array([[300.0, 40.0, -20.0], [40.0, 200.0, 30.0], [-20.0, 30.0, 15.0]])
    damping = np.array([[3.0, 0.4, 0.2], [0.4, 2.0, -0.3], [0.2, -0.3, 0.5]])
    errors = []
    for h in (2e-3, 1e-3):
        model = Model(2)
        model.body("one", (0.0, 0.0), 1.0, 0.1)
        model.body("two", (0.3, 0.1), 2.0, 0.1)
        model.bushing("mount", "one", "two", stiffness, damping=damping, point=(0.2, 0.05), rotation=0.4, frame=frame)
        model.initial("one", velocity=(1.0, -0.5), spin=3.0)
        names = ("force x", "force y", "moment", "displacement x", "displacement y", "angle")
        for name in names:
            model.sensor(name, "element", on="mount", quantity=name)
        model.transient_step(0.04, h, frames=0, rule="newmark")
        solution = solve(model)
        rows = np.column_stack([solution.sensor(name).values[1:, 0] for name in names])
        rates = (rows[2:, 3:] - rows[:-2, 3:]) / (2.0 * h)
        force, displacements = rows[1:-1, :3], rows[1:-1, 3:]
        errors.append(np.abs(force - displacements @ stiffness - rates @ damping).max() / np.abs(rates @ damping).max())
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("frame", ["first", "mean"])
@pytest.mark.parametrize("dim", [2, 3])
def test_bushing_conserves(dim, frame):
    """Energy and both momenta of two bodies in a coupled bushing; with damping the ledger."""
    n = 3 * (dim - 1)
    solution = solve(two_bodies(dim, frame=frame, spin=2.0))
    assert error(solution) < 1e-11
    assert solution.steps[0].ledger("strain").max() > 0.1
    momenta = np.column_stack([solution.steps[0].series[k] for k in solution.steps[0].series if "momentum" in k])
    assert np.abs(momenta - momenta[0]).max() < 1e-11 * np.abs(momenta).max()
    damped = solve(two_bodies(dim, frame=frame, damping=random_matrix(n, 5, 0.1), spin=2.0))
    assert error(damped) < 1e-11
    assert damped.steps[0].ledger("dissipated")[-1] > 0.1


@pytest.mark.parametrize("dim", [2, 3])
def test_bushing_frames(dim):
    """In the mean frame both ends may be exchanged ; in the first they may not."""
    values = {}
    for frame in ("first", "mean"):
        one, other = (solve(two_bodies(dim, *ends, frame=frame)) for ends in (("one", "two"), ("two", "one")))
        values[frame] = np.abs(one.sensor("x").values - other.sensor("x").values).max()
    assert values["mean"] < 1e-9
    assert values["first"] > 1e-6


@pytest.mark.parametrize("dim", [2, 3])
def test_bushing_small_deflection(dim):
    """Statics under small loads: S^-1 f about the axes of the frame; outputs are the loads, preload included."""
    n = 3 * (dim - 1)
    S = random_matrix(n, scale=1e4)
    model = Model(dim)
    model.body("b", (0.1,) * dim, 1.0, 0.1 if dim == 2 else (0.1, 0.2, 0.15))
    turn = 0.4 if dim == 2 else np.array((0.1, -0.5, 0.3))
    model.bushing("mount", "ground", "b", stiffness=S, rotation=turn)
    c, s = np.cos(0.4), np.sin(0.4)
    if dim == 2:
        R = np.array([[c, -s], [s, c]])
    else:
        from scipy.spatial.transform import Rotation

        R = Rotation.from_rotvec(turn).as_matrix()
    force = 1e-2 * np.array((1.0, -2.0, 0.5))[:dim]
    model.force("f", "b", R @ force)
    moment = 1e-2 * (0.7 if dim == 2 else np.array((0.3, 0.7, -0.2)))
    model.moment("m", "b", moment if dim == 2 else R @ moment)
    names = ["x", "y", "z"][:dim]
    for c in names:
        model.sensor(f"u{c}", "element", on="mount", quantity=f"displacement {c}")
        model.sensor(f"f{c}", "element", on="mount", quantity=f"force {c}")
    model.static_step()
    solution = solve(model)
    load = np.concatenate((force, np.atleast_1d(moment)))
    u = np.linalg.solve(S, load)
    assert [solution.steps[-1].series[f"sensor/u{c}"][-1, 0] for c in names] == pytest.approx(u[:dim], rel=1e-4)
    assert [solution.steps[-1].series[f"sensor/f{c}"][-1, 0] for c in names] == pytest.approx(force, rel=1e-4)


@pytest.mark.parametrize("frame", ["first", "mean"])
@pytest.mark.parametrize("phi", [0.3, 1.3, 2.5, np.pi, 4.0])
def test_bushing_moment_is_that_of_the_angle(frame, phi):
    """About one axis the moment that is reported and the one that a drive needs are stiffness times angle."""
    model = Model(3)
    model.body("b", (0.0, 0.0, 0.0), 1.0, (0.1,) * 3)
    model.joint("j", "revolute", "ground", "b", point=(0, 0, 0), axis=(0, 0, 1), function=f"{phi}*t")
    model.bushing("mount", "ground", "b", [1e3] * 3 + [5.0] * 3, point=(0, 0, 0), frame=frame)
    for name, quantity in (("M", "moment z"), ("phi", "rotation z")):
        model.sensor(name, "element", on="mount", quantity=quantity)
    model.sensor("drive", "drive", on="j")
    model.static_step(increments=10, duration=1.0)
    solution = solve(model)
    assert solution.steps[-1].series["sensor/M"][-1, 0] == pytest.approx(5.0 * phi, rel=1e-10)
    assert solution.steps[-1].series["sensor/drive"][-1, 0] == pytest.approx(5.0 * phi, rel=1e-10)
    assert solution.steps[-1].series["sensor/phi"][-1, 0] == pytest.approx(phi, rel=1e-10)


def bushing_energy(S, d, R, frame):
    """Energy of a bushing whose frames were alike and global, with scipy's rotation vector: P_b - P_a and R of b."""
    from scipy.spatial.transform import Rotation

    psi = Rotation.from_matrix(R).as_rotvec()
    u = Rotation.from_rotvec(0.5 * psi).inv().apply(d) if frame == "mean" else d
    z = np.concatenate((u, psi))
    return 0.5 * z @ S @ z


@pytest.mark.parametrize("frame", ["first", "mean"])
def test_bushing_at_large_rotations(frame):
    """Equilibrium under a general load against derivatives of an energy from scipy's rotation
    vectors; the forces and moments that are reported are the loads."""
    from scipy.spatial.transform import Rotation

    S = random_matrix(6, seed=3, scale=10.0)
    S += np.diag((200.0, 300.0, 250.0, 10.0, 20.0, 30.0))
    model = Model(3)
    model.body("b", (0.0, 0.0, 0.0), 1.0, (0.1, 0.2, 0.15))
    model.bushing("mount", "ground", "b", S, frame=frame)
    z = np.concatenate(((0.1, -0.05, 0.1), (1.2, -0.9, 0.8)))
    force, moment = np.split(S @ z, 2)
    model.force("f", "b", force)
    model.moment("m", "b", moment)
    model.sensor("x", "displacement", on="b")
    model.sensor("turn", "rotation", on="b")
    for kind in ("force", "moment", "rotation"):
        for c in "xyz":
            model.sensor(f"{kind} {c}", "element", on="mount", quantity=f"{kind} {c}")
    model.static_step(increments=10)
    solution = solve(model)
    d, psi = solution.sensor("x").values[-1], solution.steps[-1].series["sensor/turn"][-1]
    assert 1.2 < np.linalg.norm(psi) < 3.0
    R = Rotation.from_rotvec(psi)

    def energy(shift, turn):
        return bushing_energy(S, d + shift, (Rotation.from_rotvec(turn) * R).as_matrix(), frame)

    def slope(which, k, h=1e-3):
        e = np.zeros((2, 3))
        e[which, k] = h
        return (8 * (energy(*e) - energy(*-e)) - energy(*(2 * e)) + energy(*(-2 * e))) / (12 * h)

    assert [slope(0, k) for k in range(3)] == pytest.approx(force, rel=1e-7, abs=1e-7)
    assert [slope(1, k) for k in range(3)] == pytest.approx(moment, rel=1e-7, abs=1e-7)
    shown = {
        k: np.array([solution.steps[-1].series[f"sensor/{k} {c}"][-1, 0] for c in "xyz"])
        for k in ("force", "moment", "rotation")
    }
    assert shown["rotation"] == pytest.approx(psi, abs=1e-9)
    axes = Rotation.identity() if frame == "first" else Rotation.from_rotvec(0.5 * psi)
    about = moment if frame == "first" else moment + 0.5 * np.cross(d, force)  # of b's point, of the middle
    assert axes.apply(shown["force"]) == pytest.approx(force, abs=1e-8)
    assert axes.apply(shown["moment"]) == pytest.approx(about, abs=1e-8)


def test_plane_bushing_in_its_half_way_frame():
    """Half a turn leaves the stiffness of the half-way frame what it is: u = S^-1 f along its axes."""
    model = Model(2)
    model.body("b", (0.0, 0.0), 1.0, 0.1)
    model.bushing("mount", "ground", "b", [100.0, 300.0, 5.0], frame="mean")
    model.motion("turn", "b", "rotation", "3*t")
    model.force("f", "b", (7.0, 2.0))
    model.sensor("x", "displacement", on="b")
    model.static_step(increments=10, duration=1.0)
    c, s = np.cos(1.5), np.sin(1.5)
    axes = np.array([[c, -s], [s, c]])
    expected = axes @ ((axes.T @ (7.0, 2.0)) / (100.0, 300.0))
    assert solve(model).sensor("x").values[-1] == pytest.approx(expected, rel=1e-9)


def test_bushing_beyond_its_range():
    """Space: the rotation vector ends at a full turn.  More than three quarters are refused by name, also where the
    parts come back before anybody looks; warned of before."""

    def spun(spin, **options):
        model = Model(3)
        model.body("b", (0.0, 0.0, 0.0), 1.0, (0.1, 0.1, 0.1))
        model.bushing("mount", "ground", "b", stiffness=[10.0] * 6)
        model.initial("b", spin=(0.0, 0.0, spin))  # amplitude spin/10
        model.sensor("turn", "element", on="mount", quantity="rotation z")
        model.transient_step(**{"duration": 0.65, "h": 0.005, "frames": 0, "restarts": 0} | options)
        return solve(model)

    with pytest.raises(AnalysisError, match=r'Bushing "mount": the relative rotation .* is 4\.9 rad'):
        spun(49.0)
    assert any('Bushing "mount"' in w for w in spun(44.0).summary["steps"][0]["warnings"])
    half = spun(34.0, duration=0.1 * np.pi, h=0.05 * np.pi / 400)
    assert not half.summary["steps"][0]["warnings"]
    assert np.nanmax(half.steps[-1].series["sensor/turn"]) == pytest.approx(3.4, rel=1e-4)


# --- dense nodal masses ----------------------------------------------------------------------------------------------
def rigid_matrix(mass, c, J):
    tilde = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0.0]])
    return np.block([[mass * np.eye(3), -mass * tilde], [mass * tilde, J - mass * tilde @ tilde]])


def thrown(dim, add, h=0.01, duration=1.0):
    model = Model(dim, gravity=(0.0, -9.81, 0.0)[:dim])
    model.node("n", (0.2, 0.1, -0.3)[:dim])
    add(model)
    model.initial(velocity=(1.0, 2.0, 0.5)[:dim], spin=4.0 if dim == 2 else (3.0, 1.0, -4.0))
    model.sensor("x", "position", on="n")
    model.transient_step(duration, h, frames=0)
    return model


_C, _J = np.array((0.1, 0.2, -0.1)), np.array([[0.1, 0.02, 0.01], [0.02, 0.15, -0.03], [0.01, -0.03, 0.2]])


def test_nodal_mass_of_a_rigid_body():
    """A matrix of an eccentric rigid body moves as the point mass with offset, bit by bit; also in gravity."""
    M = rigid_matrix(2.0, _C, _J)
    matrix = solve(thrown(3, lambda m: m.nodal_mass("m", "n", M)))

    def point_mass(m):
        m.building.rotational.add(0)
        m.point_mass("m", "n", 2.0, inertia=_J, offset=_C)

    mass = solve(thrown(3, point_mass))
    assert np.abs(matrix.sensor("x").values - mass.sensor("x").values).max() < 1e-12
    assert matrix.summary["model"]["elements"] == {"director_mass3": 1}


def dense(m, M, c=(0.0, 0.0, 0.0), mass=0.0):
    """The element of dense masses, whatever the matrix is."""
    dim = m.dimension
    m.building.rotational.add(0)
    n = len(M)
    entries = {f"M{i + 1}{j + 1}": M[i, j] for i in range(n) for j in range(i, n)}
    entries |= {f"c{a}": v for a, v in zip("xyz"[:dim], c, strict=False)}
    m.building.add_block("m", f"nodal_mass{dim}", [[0]], mass=mass, **entries)


def test_dense_form_of_a_rigid_body_converges_to_it():
    """Kirchhoff's form of a rigid body with weight: second order towards the director form."""
    M = rigid_matrix(2.0, _C, _J)
    deviation = []
    for h in (0.01, 0.005, 0.0025):
        a = solve(thrown(3, lambda m: dense(m, M, _C, 2.0), h=h))
        b = solve(thrown(3, lambda m: m.nodal_mass("m", "n", M), h=h))
        assert error(a) < 1e-11
        deviation.append(np.abs(a.sensor("x").values[-1] - b.sensor("x").values[-1]).max())
    slopes = np.log2(np.array(deviation[:-1]) / deviation[1:])
    assert slopes == pytest.approx(2.0, abs=0.15)
    assert deviation[-1] < 1e-3


@pytest.mark.parametrize("dim", [2, 3])
def test_dense_mass_keeps_energy_and_momenta(dim):
    """A dense matrix without weight, thrown: energy and both momenta to round-off at a large step."""
    M = random_matrix(3 * (dim - 1), seed=4)
    solution = solve(thrown(dim, lambda m: m.nodal_mass("m", "n", M), h=0.05, duration=20.0))
    step = solution.steps[0]
    assert solution.summary["model"]["elements"] == {f"nodal_mass{dim}": 1}
    kinetic = step.ledger("kinetic")
    assert np.ptp(kinetic) < 1e-11 * kinetic[0]
    momenta = np.column_stack([step.series[k] for k in step.series if "momentum" in k])
    assert np.abs(momenta - momenta[0]).max() < 1e-11 * np.abs(momenta).max()


def test_dense_mass_obeys_kirchhoff():
    """Against the body's equations p' + W x p = 0, h' + W x h + V x p = 0 by an explicit integrator; slope 2."""
    M = random_matrix(6, seed=4)

    def rates(t, y):
        R, V, W = y[3:12].reshape(3, 3), y[12:15], y[15:18]
        p, h = np.split(M @ y[12:18], 2)
        accelerations = np.linalg.solve(M, -np.concatenate((np.cross(W, p), np.cross(W, h) + np.cross(V, p))))
        spin = np.array([[0, -W[2], W[1]], [W[2], 0, -W[0]], [-W[1], W[0], 0]])
        return np.concatenate((R @ V, (R @ spin).ravel(), accelerations))

    start = np.concatenate(((0.2, 0.1, -0.3), np.eye(3).ravel(), (1.0, 2.0, 0.5), (3.0, 1.0, -4.0)))
    exact = solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]
    deviation = [
        np.abs(solve(thrown(3, lambda m: m.nodal_mass("m", "n", M), h=h)).sensor("x").values[-1] - exact).max()
        for h in (0.01, 0.005, 0.0025)
    ]
    assert np.log2(np.array(deviation[:-1]) / deviation[1:]) == pytest.approx(2.0, abs=0.1)
    assert deviation[-1] < 1e-3


def eccentric(m, kind, c, J, mass=2.0):
    m.node("n", (0.0, 0.0, 0.0))
    if kind == "director":
        m.building.rotational.add(0)
        m.point_mass("m", "n", mass, inertia=J, offset=c)
    else:
        dense(m, rigid_matrix(mass, c, J), c, mass)


@pytest.mark.parametrize("kind", ["director", "dense"])
def test_modes_of_an_eccentric_mass_under_its_weight(kind):
    """A physical pendulum, w^2 = m g c/(J + m c^2): its weight is no part of the mass matrix."""
    c, mass, J = 0.3, 2.0, np.diag([0.1, 0.2, 0.15])
    model = Model(3, gravity=(0.0, -9.81, 0.0))
    eccentric(model, kind, np.array((0.0, -c, 0.0)), J)
    model.joint("pin", "revolute", "ground", "n", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.static_step()
    model.modes_step(1)
    exact = np.sqrt(mass * 9.81 * c / (0.15 + mass * c * c)) / (2 * np.pi)
    assert solve(model).steps[1].series["frequency"] == pytest.approx([exact], rel=1e-8)


@pytest.mark.parametrize("kind", ["director", "dense"])
def test_newmark_starts_an_eccentric_spinning_mass(kind):
    """First accelerations in flight: the centre falls with g, the spin obeys Euler's equations."""
    c, J, w = np.array((0.1, 0.2, -0.1)), np.diag([0.1, 0.2, 0.15]), np.array((3.0, 1.0, -2.0))
    model = Model(3, gravity=(0.0, -9.81, 0.0))
    eccentric(model, kind, c, J)
    model.initial(velocity=(1.0, 2.0, 3.0), spin=w)
    model.transient_step(1.0, 0.01, rule="newmark")
    compiled = model.compile()
    state = compiled.system.initial_state()
    consistent_velocities(compiled, state, 0.0)
    a = initial_accelerations(compiled, state, 0.0)
    centre = a[:3] + np.cross(a[3:6], c) + np.cross(w, np.cross(w, c))
    assert centre == pytest.approx((0.0, -9.81, 0.0), abs=1e-10)
    assert J @ a[3:6] + np.cross(w, J @ w) == pytest.approx(np.zeros(3), abs=1e-10)


def test_modes_of_a_dense_mass_on_a_bushing():
    """Frequencies of M on S against the generalised eigenvalues; counts of the block's unknowns are right."""
    M, S = random_matrix(6, seed=4), random_matrix(6, seed=7, scale=1e3)
    model = Model(3)
    model.node("n", (0.2, 0.1, -0.3))
    model.nodal_mass("m", "n", M)
    model.bushing("mount", "ground", "n", stiffness=S)
    model.modes_step(6)
    found = solve(model).steps[0].series["frequency"]
    exact = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, S)).real)) / (2 * np.pi)
    assert found == pytest.approx(exact, rel=1e-8)


def test_buckling_on_a_nonlinear_spring():
    """A rod on a torsion spring under a load P: k/L of the spring's slope at its present deflection."""
    model = Model(2)
    model.body("rod", (0.0, 0.5), 1.0, 0.1)
    model.joint("pin", "revolute", "ground", "rod", point=(0.0, 0.0))
    model.joint_spring("spring", "pin", stiffness=30.0, cubic=900.0)
    model.force("P", "rod", (0.0, -1.0), point=(0.0, 1.0))
    model.buckling_step(1)
    factor = solve(model).steps[0].series["load factor"]
    assert factor == pytest.approx([30.0], rel=1e-8)


def test_user_force_in_a_wide_model():
    """The sparse solver's requests and the users' alternate: drag on all nodes of a net."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.section("rope", "stiffness", EA=1e3, rhoA=0.1)
    model.mesh("net", grid2d((1.0, 1.0), (24, 24)))
    model.trusses("net", "net", "rope")
    model.fix(["net:bottom_left", "net:top_right"])
    model.user_force("drag", at="net", function=lambda x, v, t: -0.05 * v * np.abs(v))
    model.transient_step(0.1, 0.002, frames=0)
    assert not model.compile().system.banded
    solution = solve(model)
    assert error(solution) < 1e-10
    assert solution.steps[0].ledger("load work")[-1] < -1e-3


# --- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.joint_spring("s", "pin"), "no force; give stiffness"),
        (lambda m: m.joint_spring("s", "pin", table=[(0, 0)]), "at least two points"),
        (lambda m: m.joint_spring("s", "pin", table=[(0, 0), (1, 1), (1, 2)]), "x must rise"),
        (lambda m: m.joint_spring("s", "pin", 1.0, interpolation="cubic"), "linear"),
        (lambda m: m.joint_spring("s", "pin", damping_table=[(-1, 1), (1, -1)]), "drives instead of"),
        (lambda m: m.joint_spring("s", "pin", damping_table=[(-1, -2), (1, 4)]), "at rest"),
        (lambda m: m.joint_spring("s", "pin", damping_table=[(0, 0), (1, 3), (2, 1)]), "falls at its ends"),
        (lambda m: m.joint_spring("s", "pin", stops=[1.0, -1.0], stop_stiffness=1.0), "must be less"),
        (lambda m: m.joint_spring("s", "pin", stops=[-1.0, 1.0]), "add stop_stiffness"),
        (lambda m: m.joint_spring("s", "pin", 1.0, stop_damping=1.0), "belong to stops"),
        (lambda m: m.motor("s"), "give either joint"),
        (lambda m: m.motor("s", "pin"), "does nothing"),
        (lambda m: m.motor("s", "pin", position=1.0), "add its gain"),
        (lambda m: m.motor("s", "pin", force=1.0, limit=0.0), "positive number"),
        (lambda m: m.motor("s", "pin", speed=1.0, kp=3.0), "remove force, position, gains"),
        (lambda m: [m.motor(n, "pin", speed=1.0) for n in "st"], "driven already"),
        (lambda m: m.motor("s", a="rod", b="ground", speed=1.0, point_b=(9, 9)), "coordinate of a joint"),
        (lambda m: m.user_force("s", "pin", 3.0), "cannot be called"),
        (lambda m: m.user_force("s", "pin", pd, at="rod"), "remove joint"),
        (lambda m: m.bushing("s", "rod"), "no force"),
        (lambda m: m.bushing("s", "rod", stiffness=[1.0, 2.0]), "3 numbers"),
        (lambda m: m.bushing("s", "rod", stiffness=[1.0, 2.0, -3.0]), "eigenvalue"),
        (lambda m: m.bushing("s", "rod", stiffness=np.triu(np.ones((3, 3)))), "not symmetric"),
        (lambda m: m.bushing("s", "rod", stiffness=[1.0] * 3, frame="last"), "frame"),
        (lambda m: m.nodal_mass("s", "rod", np.zeros((3, 3))), "positive definite"),
        (lambda m: m.nodal_mass("s", "rod", np.eye(6)), "3x3"),
    ],
)
def test_refused(call, message):
    model = pendulum(2)
    with pytest.raises(ModelError, match=message) as found:
        call(model)
    assert '"s"' in str(found.value) or '"t"' in str(found.value)
    assert "\n" not in str(found.value)


# --- the model file --------------------------------------------------------------------------------------------------
TEXT = """
dimension = 2
gravity = [0.0, -9.81]

[[body]]
name = "rod"
position = [0.4, 0.3]
mass = 1.5
inertia = 0.1

[[body]]
name = "hub"
position = [0.0, 1.0]
mass = 1.0
inertia = 0.2

[[nodal_mass]]
name = "water"
at = "hub"
matrix = [[2.0, 0.1, 0.2], [0.1, 3.0, 0.0], [0.2, 0.0, 0.5]]

[[joint]]
name = "pin"
type = "revolute"
a = "ground"
b = "rod"
point = [0.0, 0.0]

[[joint_spring]]
name = "hinge spring"
joint = "pin"
table = [[-1.0, -3.0], [0.0, 0.0], [1.0, 8.0]]
interpolation = "spline"
stops = [-inf, 1.5]
stop_stiffness = 300.0
stop_damping = 0.1

[[spring]]
name = "link"
a = "rod"
b = "hub"
cubic = 40.0
preload = 1.0
damping_table = [[-1, -2], [0, 0], [3, 9]]

[[torsion_spring]]
name = "twist"
a = "rod"
b = "hub"
stiffness = 2.0
cubic = 0.5

[[motor]]
name = "drive"
joint = "pin"
force = "2*sin(t)"
position = {kind = "harmonic", amplitude = 0.3, omega = 4.0}
kp = 20.0
kd = 1.0
limit = 30.0

[[bushing]]
name = "mount"
a = "hub"
stiffness = [500.0, 600.0, 7.0]
damping = [[1.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 0.2]]
frame = "mean"
rotation = 0.2

[[sensor]]
name = "angle"
kind = "joint"
on = "pin"

[[step]]
type = "transient"
duration = 1.0
h = 0.01
"""


def test_model_file(tmp_path):
    """The file gives the bits that the same calls give."""
    path = tmp_path / "model.toml"
    path.write_text(TEXT)
    m = Model(2, gravity=(0.0, -9.81))
    m.body("rod", (0.4, 0.3), 1.5, 0.1)
    m.body("hub", (0.0, 1.0), 1.0, 0.2)
    m.nodal_mass("water", "hub", [[2.0, 0.1, 0.2], [0.1, 3.0, 0.0], [0.2, 0.0, 0.5]])
    m.spring("link", "rod", "hub", cubic=40.0, preload=1.0, damping_table=[[-1, -2], [0, 0], [3, 9]])
    m.torsion_spring("twist", "rod", "hub", 2.0, cubic=0.5)
    m.joint("pin", "revolute", "ground", "rod", point=(0.0, 0.0))
    m.joint_spring(
        "hinge spring", "pin", table=[[-1.0, -3.0], [0.0, 0.0], [1.0, 8.0]], interpolation="spline",
        stops=[-np.inf, 1.5], stop_stiffness=300.0, stop_damping=0.1,
    )  # fmt: skip
    law = {"kind": "harmonic", "amplitude": 0.3, "omega": 4.0}
    m.motor("drive", "pin", force="2*sin(t)", position=law, kp=20.0, kd=1.0, limit=30.0)
    m.bushing(
        "mount", "hub", stiffness=[500.0, 600.0, 7.0], damping=[[1.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 0.2]],
        frame="mean", rotation=0.2,
    )  # fmt: skip
    m.sensor("angle", "joint", on="pin")
    m.transient_step(1.0, 0.01)
    a, b = solve(load_model(path)), solve(m)
    assert np.array_equal(a.sensor("angle").values, b.sensor("angle").values)
    assert error(a) < 1e-11


@pytest.mark.parametrize("form", ["joint_spring", "spring"])
def test_linear_steps_take_the_mean_of_both_senses_of_a_damper(form):
    """As harmonic balance does: they took the sense in which the coordinate grows."""
    table = [[-1.0, -20.0], [0.0, 0.0], [1.0, 60.0]]
    m = Model(3)
    m.body("mass", (0.0, 0.0, 1.0), mass=10.0, inertia=np.ones(3))
    m.joint("guide", "prismatic", a="ground", b="mass", axis=(0.0, 0.0, 1.0), point=(0.0, 0.0, 1.0))
    m.joint_spring("spring", "guide", stiffness=1000.0)
    if form == "spring":
        m.spring("damper", "mass", "ground", point_b=(0.0, 0.0, 3.0), damping_table=table)
    else:
        m.joint_spring("damper", "guide", damping_table=table)
    m.complex_modes_step(count=1)
    ((real, imaginary),) = solve(m).steps[0].report.eigenvalues
    assert real == pytest.approx(-40.0 / 20.0, rel=1e-9)
    assert real**2 + imaginary**2 == pytest.approx(100.0, rel=1e-9)
