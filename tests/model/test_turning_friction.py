"""Friction of surfaces that slide and turn at once: bushes on shafts, discs and rings on planes, profiles on each
other."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from fem_mbs import load_model, run, sensitivities
from fem_mbs.analysis.run import solve
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.modelfile.writer import write_model

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
    assert v[-1] < 0.65 * v[0]
    assert errors[1] < 5e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("length", [None, 0.2])
def test_bush_pressed_by_a_changing_force(length):
    """Against an ODE of speed and spin; without an overhang both ends of a bush bear half of the force."""
    model, axis = bush(5e-4, duration=0.4, weight=False, normal="2*t", length=length)
    model.force("press", "bush", (0.0, 1.0, 0.0), function="6 + 5*sin(20*t)")
    solution = solve(model)

    def slow(t, y):
        N = 6.0 + 5.0 * np.sin(20.0 * t) + 2.0 * t
        s = np.hypot(y[0], RADIUS * y[1])
        f = MU * N * np.tanh(s / SLOW) / s
        return -f * y[0] / MASS, -f * RADIUS**2 * y[1] / INERTIA

    t = solution.steps[-1].time
    expected = solve_ivp(slow, (0.0, 0.4), (1.5, 40.0), t_eval=t, rtol=1e-10, atol=1e-12).y
    v, w = rates(solution, axis)
    assert np.abs(v - expected[0]).max() < 1e-5
    assert np.abs(w - expected[1]).max() < 3e-4
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
    model.transient_step(30.0, 0.02, frames=0)
    solution = solve(model)
    N = MASS * G
    v = RADIUS * 100.0 * 2.0 / np.sqrt((MU * N) ** 2 - 4.0)
    assert solution.steps[-1].series["sensor/v"][-1] @ axis == pytest.approx(v, rel=1e-6)
    held = RADIUS * np.sqrt((MU * N) ** 2 - 4.0)
    assert solution.steps[-1].series["sensor/moment"][-1, 0] == pytest.approx(held, rel=1e-6)
    assert abs(closing(solution)) < 1e-10


def test_modes_about_a_spinning_bush():
    """It creeps under an axial force by a damper of mu N/(r w): the eigenvalue -mu g/(r w) (closed form)."""
    model = Model(3, gravity=(0.0, -G, 0.0))
    model.body("bush", (0.0,) * 3, MASS, (INERTIA,) * 3)
    model.joint("shaft", "cylindrical", "ground", "bush", point=(0.0,) * 3, axis=(1.0, 0.0, 0.0), function="100*t")
    model.friction("rub", "shaft", coefficient=MU, smoothing=1e-3, radius=RADIUS)
    model.initial("bush", spin=(100.0, 0.0, 0.0))
    model.joint_spring("spring", "shaft", 50.0, coordinate="displacement")
    model.transient_step(0.002, 1e-3, frames=0)
    model.complex_modes_step(2)
    found = np.asarray(solve(model).steps[-1].summary["eigenvalues"], float)
    damping = MU * G / (RADIUS * 100.0)
    assert found[0] == pytest.approx((-0.5 * damping, np.sqrt(25.0 - 0.25 * damping**2)), rel=1e-8)


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
    assert np.abs(N / (2.0 * overhang / length * MASS * G) - 1.0).max() < 1e-9
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
    """A homogeneous disc keeps v/(R w) = 0.653 to its rest, and every other start tends to it (Farkas et al. 2003).

    The ratio of the decelerations there is that of the speeds: f = 2 eps t.
    """
    end = brentq(lambda eps: even(eps)[0] - 2.0 * eps * even(eps)[1], 0.3, 0.95)
    assert end == pytest.approx(0.653, abs=5e-4)
    for eps in (0.3, end, 1.5):
        series = solve(disc(1e-4, (eps, 0.0), 10.0, h=1e-3, duration=round(0.8 * max(eps, 0.7), 2))).steps[-1].series
        v, w = np.linalg.norm(series["sensor/v"], axis=1), np.linalg.norm(series["sensor/w"].reshape(-1, 3), axis=1)
        moving = v > 0.04
        ratio = v[moving] / (0.1 * w[moving])
        if eps == end:
            assert np.abs(ratio - end).max() < 1e-3
        else:
            assert (np.diff(np.abs(ratio - end)) < 0.0).all()
            assert abs(ratio[-1] - end) < 0.7 * abs(eps - end)
        assert v[-1] + 0.1 * w[-1] < 1e-4


def test_a_running_belt_turns_no_disc_and_drags_it():
    """A belt below a disc at rest: the force of sliding alone, and its work is that of a driver."""
    n = np.array((2.0, -1.0, 2.0)) / 3.0
    model = Model(3, gravity=-G * n)
    model.body("puck", (0.0,) * 3, MASS, (0.01,) * 3)
    model.joint("table", "planar", "ground", "puck", point=(0.0,) * 3, axis=n)
    way = np.array((1.0, 2.0, 0.0)) / np.sqrt(5.0)
    model.friction("belt", "table", coefficient=MU, smoothing=1e-3, radius=0.1, speed=5.0, direction=tuple(way))
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


# --- profiles on each other ------------------------------------------------------------------------------------------
def wedge(push, opposite=False, by_points=False):
    """A wedge of 3 kg with the slope 1/4 that moves along x below the round foot of a follower of 2 kg."""
    model = Model(2, gravity=(0.0, -G))
    alpha = np.arctan(0.25)
    model.body("wedge", (0.0, -0.1), 3.0, 0.1)
    model.joint("floor", "prismatic", "ground", "wedge", point=(0.0, -0.1), axis=(1.0, 0.0))
    ends = np.array([(-2.0, -0.5), (2.0, 0.5)])
    model.curve("slope", points=ends[::-1] if opposite else ends)
    at = np.array((0.0, 0.05 / np.cos(alpha)))
    if by_points:
        angle = 2.0 * np.pi * np.arange(200) / 200
        foot = {"points": 0.05 * np.column_stack((np.cos(angle), np.sin(angle))) + at}
    else:
        foot = {"x": "0.05*cos(t)", "y": "0.05*sin(t)", "range": (0.0, 2.0 * np.pi), "position": at}
    model.curve("foot", closed=True, **foot)
    model.body("follower", (0.0, 0.3), 2.0, 0.1)
    model.joint("guide", "prismatic", "ground", "follower", point=(0.0, 0.3), axis=(0.0, 1.0))
    model.joint("touch", "cam", "wedge", "follower", curve="slope", curve_b="foot")
    model.friction("rub", "touch", coefficient=MU, smoothing=1e-4)
    model.force("push", "wedge", (push, 0.0))
    model.sensor("v", "velocity", on="wedge")
    for quantity in ("normal force", "sliding speed"):
        model.sensor(quantity, "element", on="rub", element=0, quantity=quantity)
    model.transient_step(0.2, 1e-3, frames=0)
    return model, alpha


@pytest.mark.parametrize("opposite", [False, True])
@pytest.mark.parametrize(("push", "way"), [(-20.0, 1.0), (5.0, -1.0)])
def test_wedge_lifts_and_lowers_its_follower(push, way, opposite):
    """The wedge needs W tan(alpha +- rho), tan(rho) = mu (closed form), whichever way its profile is drawn."""
    model, alpha = wedge(push, opposite)
    solution = solve(model)
    # between both masses the force H = V tan(alpha + way rho), V = m (g + a tan(alpha)); a of the wedge along -x
    tangent = np.tan(alpha + way * np.arctan(MU))
    a = (-push - 2.0 * G * tangent) / (3.0 + 2.0 * np.tan(alpha) * tangent)
    step = solution.steps[-1]
    v = -step.series["sensor/v"][:, 0]
    late = step.time > 0.1
    assert np.polyfit(step.time[late], v[late], 1)[0] == pytest.approx(a, rel=1e-6)
    N = 2.0 * (G + a * np.tan(alpha)) * np.cos(np.arctan(MU)) / np.cos(alpha + way * np.arctan(MU))
    assert step.series["sensor/normal force"][-1, 0] == pytest.approx(N, rel=1e-6)
    slip = abs(v[-2:].mean()) / np.cos(alpha)
    assert abs(step.series["sensor/sliding speed"][-1, 0]) == pytest.approx(slip, rel=1e-6)
    assert abs(closing(solution)) < 1e-11


def cam(driven, h=1e-3, duration=0.5, **more):
    """An eccentric disc below a flat follower with a spring; the shaft is driven, or runs out."""
    R, e = 0.05, 0.02
    model = Model(2, gravity=(0.0, -G))
    model.body("cam", (0.0, 0.0), 1.0, 0.01)
    model.joint("shaft", "revolute", "ground", "cam", point=(0.0, 0.0), function="7*t" if driven else None)
    model.curve("disc", x=f"{e} + {R}*cos(t)", y=f"{R}*sin(t)", range=(0.0, 2.0 * np.pi), closed=True)
    model.body("follower", (0.0, R), 0.8, 0.01)
    model.joint("guide", "prismatic", "ground", "follower", point=(0.0, R), axis=(0.0, 1.0))
    model.curve("flat", points=[(-0.1, R), (0.1, R)])
    model.joint("touch", "cam", "cam", "follower", curve="disc", curve_b="flat")
    model.joint_spring("spring", "guide", 400.0, free=-0.06)
    model.friction("rub", "touch", coefficient=MU, smoothing=0.02, **more)
    if not driven:
        model.initial("cam", spin=7.0)
        model.initial("follower", velocity=(0.0, 7.0 * e))
    model.sensor("w", "angular velocity", on="cam")
    model.sensor("angle", "joint", on="shaft")
    model.sensor("N", "element", on="rub", element=0, quantity="normal force")
    model.sensor("F", "element", on="rub", element=0, quantity="force")
    model.transient_step(duration, h, frames=0)
    return model


def flat_follower(angle, w, a):
    """Return normal force and moment on the cam for its angle, rate and angular acceleration."""
    R, e = 0.05, 0.02
    lift = e * np.sin(angle)
    N = 0.8 * (G + e * np.cos(angle) * a - lift * w * w) + 400.0 * (lift + 0.06)
    return N, N * e * np.cos(angle) + MU * np.tanh(w * (R + lift) / 0.02) * N * (R + lift)


def test_driven_cam_under_a_flat_follower():
    """The force of a follower that a spring presses, and the work of the drive, which is what friction takes in whole
    turns (closed form of the smooth law; order 2)."""
    errors = []
    turn = 2.0 * np.pi / 7.0
    for n in (400, 800):
        solution = solve(cam(True, turn / n, turn))
        t = solution.steps[-1].time
        middle = 7.0 * (t[1:] - 0.5 * turn / n)
        N, moment = flat_follower(middle, 7.0, 0.0)
        errors.append(np.abs(solution.steps[-1].series["sensor/N"][1:, 0] - N)[5:].max() / N.max())
        assert abs(closing(solution)) < 1e-8
        work = np.mean(moment) * 2.0 * np.pi
    assert errors[1] < 1e-4
    assert lost(solution) == pytest.approx(work, rel=1e-4)


def test_cam_that_runs_out_under_its_follower():
    """Against an ODE of the angle, whose acceleration presses the follower in turn; order 2."""

    def run(_, y):
        free = flat_follower(y[0], y[1], 0.0)[1]
        return y[1], -free / (0.01 + flat_follower(y[0], y[1], 1.0)[1] - free)

    errors = []
    for h in (2e-3, 1e-3):
        solution = solve(cam(False, h, 0.4))
        t = solution.steps[-1].time
        expected = solve_ivp(run, (0.0, t[-1]), (0.0, 7.0), t_eval=t, rtol=1e-10, atol=1e-12).y[0]
        errors.append(np.abs(solution.steps[-1].series["sensor/angle"][:, 0] - expected).max())
        assert abs(closing(solution)) < 1e-11
    assert errors[1] < 2e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_profiles_refuse_what_would_count_as_pressing():
    with pytest.raises(ModelError, match="remove normal"):
        cam(True, normal=1.0)
    model = cam(True)
    model.joint_spring("along", "touch", 10.0)
    with pytest.raises(ModelError, match='"along" works along the same line'):
        model.compile()


# --- as other elements -----------------------------------------------------------------------------------------------
MODELS = {
    "bush": lambda **more: bush(duration=0.1, point=(0.1, 0.02, 0.3), length=0.2, **more)[0],
    "disc": lambda **more: disc(0.02, h=1e-3, duration=0.1, **more),
    "cam": lambda **more: cam(False, duration=0.1, **more),
}


@pytest.mark.parametrize("kind", MODELS)
def test_model_files_and_restarts(kind, tmp_path):
    """A written model runs with the same bits, and goes on from a restart point with them."""
    model = MODELS[kind]()
    model.steps[-1] = replace(model.steps[-1], options={**model.steps[-1].options, "restarts": 1})
    whole = run(model, tmp_path / "whole")
    write_model(model, tmp_path / "model.toml")
    again = run(load_model(tmp_path / "model.toml"), tmp_path / "again")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    later = run(model, tmp_path / "copy", restart=0)
    for name, values in whole.steps[0].series.items():
        np.testing.assert_array_equal(values, again.steps[0].series[name])
        np.testing.assert_array_equal(values, later.steps[0].series[name])


@pytest.mark.parametrize("kind", MODELS)
def test_rules_with_one_state_agree(kind):
    """Generalised-alpha comes to the motion of the mid-point rule, and books nearly its loss."""
    model = MODELS[kind]()
    found = solve(model)
    model.steps[-1] = replace(model.steps[-1], options={**model.steps[-1].options, "rule": "generalised-alpha"})
    other = solve(model)
    name = "sensor/w"
    scale = np.abs(found.steps[0].series[name]).max()
    assert np.abs(found.steps[0].series[name] - other.steps[0].series[name]).max() < 2e-4 * scale
    assert lost(other) == pytest.approx(lost(found), rel=2e-4)


def test_sensitivities_follow_radius_and_length():
    """Derivatives of the last speed by the numbers of a friction, against differences of runs."""

    def build(coefficient=MU, radius=RADIUS, length=0.2):
        model = Model(3, gravity=(0.0, -G, 0.0))
        model.body("bush", (0.0,) * 3, MASS, (INERTIA,) * 3)
        model.joint("shaft", "cylindrical", "ground", "bush", point=(0.3, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
        model.friction("rub", "shaft", coefficient=coefficient, smoothing=SLOW, radius=radius, length=length)
        model.initial("bush", velocity=(1.5, 0.0, 0.0), spin=(40.0, 0.0, 0.0))
        model.sensor("v", "velocity", on="bush")
        model.transient_step(0.05, 1e-3, frames=0)
        return model

    values = {"coefficient": MU, "radius": RADIUS, "length": 0.2}
    found = sensitivities(build, values)
    column = next(name for name in found.columns.of if name.endswith("v.x"))
    for k, (name, value) in enumerate(values.items()):
        ends = [solve(build(**{name: value * f})).sensor("v").values[-1, 0] for f in (1.0 + 1e-4, 1.0 - 1e-4)]
        slope = found.columns.of[column].slopes[k][-1]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2e-4 * value), rel=1e-5)


def test_mirrored_profiles_rub_as_their_image():
    model, _ = wedge(-20.0, by_points=True)
    model.copy(
        ["wedge", "follower", "floor", "guide", "slope", "foot", "touch", "rub", "push", "v"],
        mirror={"normal": (1.0, 0.0), "point": (5.0, 0.0)},
    )
    solution = solve(model)
    v, image = (solution.sensor(name).values for name in ("v", "v copy"))
    assert np.abs(v).max() > 0.1
    assert np.abs(v * (-1.0, 1.0) - image).max() < 1e-9
