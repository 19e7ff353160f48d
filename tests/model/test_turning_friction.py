"""Friction of surfaces that slide and turn at once: bushes on shafts, discs and rings on planes, profiles on each
other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipe, ellipk

from fem_mbs.analysis.run import solve
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.model.model import Model

MU, SLOW, G = 0.3, 0.05, 9.81
MASS, RADIUS, INERTIA = 2.0, 0.04, 0.005


def closing(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


def lost(solution):
    return solution.summary["steps"][-1]["energy"]["final"]["dissipated"]


# --- bushes on shafts ------------------------------------------------------------------------------------------------
def bush(h=1e-3, duration=0.3, speed=1.5, spin=40.0, weight=True, point=(0.0, 0.0, 0.0), **friction):
    """A body on a shaft along (3, 0, 4)/5 that lies across the weight."""
    axis = np.array((0.6, 0.0, 0.8))
    model = Model(3, gravity=(0.0, -G if weight else 0.0, 0.0))
    model.body("bush", (0.0,) * 3, MASS, (INERTIA,) * 3)
    model.joint("shaft", "cylindrical", "ground", "bush", point=point, axis=axis)
    model.friction("rub", "shaft", coefficient=MU, smoothing=SLOW, radius=RADIUS, **friction)
    model.initial("bush", velocity=speed * axis, spin=spin * axis)
    model.sensor("v", "velocity", on="bush")
    model.sensor("w", "angular velocity", on="bush")
    for quantity in ("force", "moment", "normal force", "sliding speed"):
        model.sensor(quantity, "element", on="rub", element=0, quantity=quantity)
    model.transient_step(duration, h, frames=0)
    return model, axis


def rates(solution, axis):
    step = solution.steps[-1]
    return step.series["sensor/v"] @ axis, step.series["sensor/w"].reshape(-1, 3) @ axis


def test_sliding_and_spin_of_a_free_bush_end_by_a_power_law():
    """d ln v/d ln w = J/(m r^2) for every law of friction (closed form), order 2; the loss is booked."""
    errors = []
    for h in (4e-3, 2e-3):
        model, axis = bush(h)
        solution = solve(model)
        v, w = rates(solution, axis)
        errors.append(np.abs(v / v[0] - (w / w[0]) ** (INERTIA / (MASS * RADIUS**2))).max())
        assert abs(closing(solution)) < 1e-12
        energy = 0.5 * MASS * v**2 + 0.5 * INERTIA * w**2
        assert lost(solution) == pytest.approx(energy[0] - energy[-1], rel=1e-10)
    assert v[-1] < 0.6 * v[0]
    assert errors[1] < 1e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("length", [None, 0.2])
def test_bush_pressed_by_a_changing_force(length):
    """Against an ODE of speed and spin; without an overhang both ends of a bush bear half of the force."""
    model, axis = bush(5e-4, duration=0.4, weight=False, normal="2*t", length=length)
    model.force("press", "bush", (0.0, "6 + 5*sin(20*t)", 0.0))
    solution = solve(model)

    def slow(t, y):
        N = 6.0 + 5.0 * np.sin(20.0 * t) + 2.0 * t
        s = np.hypot(y[0], RADIUS * y[1])
        f = MU * N * np.tanh(s / SLOW) / s
        return -f * y[0] / MASS, -f * RADIUS**2 * y[1] / INERTIA

    t = solution.steps[-1].time
    expected = solve_ivp(slow, (0.0, 0.4), (1.5, 40.0), t_eval=t, rtol=1e-10, atol=1e-12).y
    v, w = rates(solution, axis)
    assert np.abs(v - expected[0]).max() < 2e-6
    assert np.abs(w - expected[1]).max() < 5e-5
    assert abs(closing(solution)) < 1e-11


def test_a_driven_spin_lets_a_bush_slide():
    """What spins by r w creeps at v = r w F/sqrt(mu^2 N^2 - F^2) under an axial force F < mu N (closed form)."""
    axis = np.array((0.6, 0.0, 0.8))
    model = Model(3, gravity=(0.0, -G, 0.0))
    model.body("bush", (0.0,) * 3, MASS, (INERTIA,) * 3)
    model.joint("shaft", "cylindrical", "ground", "bush", point=(0.0,) * 3, axis=axis, function="100*t")
    model.friction("rub", "shaft", coefficient=MU, smoothing=1e-4, radius=RADIUS)
    model.force("push", "bush", tuple(2.0 * axis))
    model.initial("bush", spin=100.0 * axis)
    model.sensor("v", "velocity", on="bush")
    model.sensor("moment", "element", on="rub", element=0, quantity="moment")
    model.transient_step(15.0, 0.01, frames=0)
    solution = solve(model)
    N = MASS * G
    v = RADIUS * 100.0 * 2.0 / np.sqrt((MU * N) ** 2 - 4.0)
    assert solution.steps[-1].series["sensor/v"][-1] @ axis == pytest.approx(v, rel=1e-6)
    held = RADIUS * np.sqrt((MU * N) ** 2 - 4.0)
    assert solution.steps[-1].series["sensor/moment"][-1, 0] == pytest.approx(held, rel=1e-6)
    assert abs(closing(solution)) < 1e-10


@pytest.mark.parametrize("overhang", [0.05, 0.3])
@pytest.mark.parametrize("turned", [0.0, 1.1])
def test_both_ends_of_a_bush_bear_force_and_moment(overhang, turned):
    """A weight beside the bush, by the lever: F (1/2 +- c/l); likewise after a turn about the axis, and in motion."""
    axis, length = np.array((0.6, 0.0, 0.8)), 0.2
    model, _ = bush(speed=0.0, spin=0.0, point=tuple(-overhang * axis), length=length)
    expected = MASS * G * (abs(0.5 + overhang / length) + abs(0.5 - overhang / length))
    model.steps.clear()
    model.joint_spring("hold", "shaft", 100.0, coordinate="displacement")
    if turned:
        model.moment("twist", "bush", tuple(turned * axis))
        model.joint_spring("twisted", "shaft", 1.0, coordinate="angle")
    else:
        model.joint_spring("twisted", "shaft", 1.0, coordinate="angle")
    model.static_step()
    solution = solve(model)
    assert solution.steps[-1].series["sensor/normal force"][-1, 0] == pytest.approx(expected, rel=1e-9)


def test_a_spinning_bush_is_pressed_by_its_lever():
    """The same in a transient: the mass is round, so that only its weight loads the bush; order 2."""
    length, overhang = 0.2, 0.3
    model, axis = bush(1e-3, speed=0.5, spin=60.0, point=tuple(-overhang * np.array((0.6, 0.0, 0.8))), length=length)
    solution = solve(model)
    N = solution.steps[-1].series["sensor/normal force"][1:, 0]
    assert N == pytest.approx(2.0 * overhang / length * MASS * G, rel=1e-9)
    v, w = rates(solution, axis)
    assert np.abs(v / v[0] - (w / w[0]) ** (INERTIA / (MASS * RADIUS**2))).max() < 2e-4
    assert abs(closing(solution)) < 1e-11


@pytest.mark.parametrize("kind", ["bush", "disc"])
def test_tangent(kind):
    """The whole tangent of a step, columns of multipliers and the turn of the bush included."""
    if kind == "bush":
        model, _ = bush(point=(0.1, 0.02, 0.3), length=0.2)
    else:
        model = disc(0.02)
    assert tangent_check(model, 5e-4, size=0.01).error < 1e-6


# --- discs and rings on planes ---------------------------------------------------------------------------------------
def even(eps):
    """Force/(mu N) and moment/(mu N R) of a disc that presses evenly, eps = v/(R w), in complete elliptic integrals
    (Farkas, Bartels, Unger & Wolf 2003)."""
    if eps <= 1.0:
        E, K = ellipe(eps**2), ellipk(min(eps**2, 1.0 - 1e-16))
        force = 4.0 / (3.0 * np.pi * eps) * ((eps**2 + 1.0) * E + (eps**2 - 1.0) * K)
        return force, 4.0 / (9.0 * np.pi) * ((4.0 - 2.0 * eps**2) * E + (eps**2 - 1.0) * K)
    E, K = ellipe(eps**-2), ellipk(eps**-2)
    force = 4.0 / (3.0 * np.pi) * ((eps**2 + 1.0) * E - (eps**2 - 1.0) * K)
    return force, 4.0 * eps / (9.0 * np.pi) * ((4.0 - 2.0 * eps**2) * E + (2.0 * eps**2 - 5.0 + 3.0 / eps**2) * K)


def ring_sum(v, W, hole, smoothing, n=400):
    """The same integrals for every law and ring by a fine grid, in axes of the motion: f_V, f_W."""
    rho = np.sqrt(hole**2 + (1.0 - hole**2) * (np.arange(n) + 0.5) / n)[:, None]
    phi = 2.0 * np.pi * (np.arange(2 * n) + 0.5) / (2 * n)
    x, y = rho * np.cos(phi), rho * np.sin(phi)
    sx, sy = v - W * y, W * x
    g = np.tanh(np.hypot(sx, sy) / smoothing) / np.hypot(sx, sy)
    return (g * sx).mean(), (g * (x * sy - y * sx)).mean()


def disc(smoothing, speed=(0.6, 0.8), spin=20.0, h=2e-3, duration=0.3, radius=0.1, inner=None, J=None, **more):
    """A puck of 2 kg on a plane that leans in no direction of the axes."""
    n = np.array((2.0, -1.0, 2.0)) / 3.0
    u, v = np.array((1.0, 2.0, 0.0)) / np.sqrt(5.0), np.cross(n, (1.0, 2.0, 0.0)) / np.sqrt(5.0)
    J = 0.5 * MASS * radius**2 if J is None else J
    model = Model(3, gravity=-G * n)
    model.body("puck", (0.0,) * 3, MASS, (J, J, J))
    model.joint("table", "planar", "ground", "puck", point=(0.0,) * 3, axis=n)
    model.friction("rub", "table", coefficient=MU, smoothing=smoothing, radius=radius, inner_radius=inner, **more)
    model.initial("puck", velocity=speed[0] * u + speed[1] * v, spin=spin * n)
    model.sensor("v", "velocity", on="puck")
    model.sensor("w", "angular velocity", on="puck")
    for quantity in ("force", "moment", "normal force"):
        model.sensor(quantity, "element", on="rub", element=0, quantity=quantity)
    model.transient_step(duration, h, frames=0)
    return model


@pytest.mark.parametrize("eps", [0.05, 0.4, 0.653, 0.98, 1.05, 2.0, 20.0])
def test_force_and_moment_of_a_disc_are_elliptic_integrals(eps):
    """Nearly sharp friction, at the first step of a disc."""
    model = disc(1e-7, (0.6 * eps, 0.8 * eps), 10.0, h=1e-8, duration=1e-8)
    series = solve(model).steps[-1].series
    force, moment = even(eps)
    N = MASS * G
    assert series["sensor/force"][-1, 0] == pytest.approx(MU * N * force, abs=4e-5 * MU * N)
    assert series["sensor/moment"][-1, 0] == pytest.approx(MU * N * 0.1 * moment, abs=4e-5 * MU * N * 0.1)


@pytest.mark.parametrize("inner", [None, 0.06])
def test_a_sliding_spinning_puck(inner):
    """Against an ODE with the integrals summed on a fine grid: speed, spin, a straight path; the loss is booked."""
    model = disc(0.02, inner=inner, h=1e-3)
    solution = solve(model)
    hole = 0.0 if inner is None else inner / 0.1

    def slow(_, y):
        force, moment = ring_sum(y[0], 0.1 * y[1], hole, 0.02, 120)
        return -MU * G * force, -MU * MASS * G * 0.1 * moment / (0.5 * MASS * 0.01)

    t = solution.steps[-1].time
    expected = solve_ivp(slow, (0.0, t[-1]), (1.0, 20.0), t_eval=t, rtol=1e-8, atol=1e-9).y
    v, w = solution.steps[-1].series["sensor/v"], solution.steps[-1].series["sensor/w"].reshape(-1, 3)
    assert np.abs(np.linalg.norm(v, axis=1) - expected[0]).max() < 1e-4
    assert np.abs(np.linalg.norm(w, axis=1) - expected[1]).max() < 2e-3
    assert np.abs(np.cross(v, v[0])).max() < 1e-11
    assert abs(closing(solution)) < 1e-11
    energy = 0.5 * MASS * (1.0 - (v[-1] ** 2).sum()) + 0.25 * MASS * 0.01 * (400.0 - (w[-1] ** 2).sum())
    assert lost(solution) == pytest.approx(energy, rel=1e-10)


def test_sliding_and_spin_end_together():
    """v/(R w) tends to 0.653 for a homogeneous disc, whatever the start (Farkas et al. 2003)."""
    for start in ((0.03, 30.0), (2.0, 4.0)):
        model = disc(1e-6, (start[0], 0.0), start[1], h=5e-4, duration=1.2)
        series = solve(model).steps[-1].series
        v, w = np.linalg.norm(series["sensor/v"], axis=1), np.linalg.norm(series["sensor/w"].reshape(-1, 3), axis=1)
        late = np.flatnonzero(v < 2e-2)[0]
        assert v[late] > 1e-3
        assert v[late] / (0.1 * w[late]) == pytest.approx(0.653, abs=0.02)
        assert v[-1] + 0.1 * w[-1] < 1e-4


def test_a_running_belt_turns_no_disc_and_drags_it():
    """A belt below a disc at rest: the force of sliding alone, and its work is that of a driver."""
    n = np.array((2.0, -1.0, 2.0)) / 3.0
    model = disc(1e-3, (0.0, 0.0), 0.0, speed_=None) if False else disc(1e-3, (0.0, 0.0), 0.0, duration=0.05)
    model = Model(3, gravity=-G * n)
    model.body("puck", (0.0,) * 3, MASS, (0.01,) * 3)
    model.joint("table", "planar", "ground", "puck", point=(0.0,) * 3, axis=n)
    way = np.array((1.0, 2.0, 0.0)) / np.sqrt(5.0)
    model.friction(
        "belt", "table", coefficient=MU, smoothing=1e-3, radius=0.1, speed=5.0, direction=tuple(way)
    )
    model.sensor("v", "velocity", on="puck")
    model.sensor("w", "angular velocity", on="puck")
    model.transient_step(0.1, 1e-3, frames=0)
    solution = solve(model)
    series = solution.steps[-1].series
    assert series["sensor/v"][-1] == pytest.approx(MU * G * 0.1 * way, rel=1e-9, abs=1e-12)
    assert np.abs(series["sensor/w"]).max() < 1e-9
    final = solution.summary["steps"][-1]["energy"]["final"]
    assert final["driver work"] == pytest.approx(MU * MASS * G * 5.0 * 0.1, rel=1e-9)
    assert abs(closing(solution)) < 1e-12
