"""Dry friction in joints and between points: laws of motion, losses in the ledger, what presses, errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fem_mbs.analysis.run import solve
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model

MU, SLOW, G = 0.3, 0.05, 9.81


def block(dim, kind, h=0.002, duration=0.6, speed=2.0, friction=True, **step):
    """A block of 2 kg on a horizontal joint; its weight presses."""
    down = (0.0, -G) if dim == 2 else (0.0, 0.0, -G)
    model = Model(dim, gravity=down)
    inertia = 0.1 if dim == 2 else (0.1, 0.2, 0.15)
    model.body("block", (0.0,) * dim, 2.0, inertia)
    x, n = np.eye(dim)[0], np.eye(dim)[-1]
    places = {"a": "block", "b": "ground"} if kind == "slider" else {"a": "ground", "b": "block"}
    axis = n if kind in ("point_on_plane", "planar") else x
    model.joint("rail", kind, places["a"], places["b"], point=(0.0,) * dim, axis=axis)
    if kind == "slider":
        model.fix("block", ["rotation"])
    if friction:
        model.friction("drag", "rail", coefficient=MU, smoothing=SLOW)
    model.initial("block", velocity=speed * x)
    model.sensor("v", "velocity", on="block")
    model.transient_step(duration, h, frames=0, **step)
    return model


def slowed(t, speed=2.0, mu=MU):
    """v' = -mu g tanh(v/v_s) has sinh(v/v_s) = sinh(v0/v_s) exp(-mu g t/v_s)."""
    return SLOW * np.arcsinh(np.sinh(speed / SLOW) * np.exp(-mu * G * t / SLOW))


def closing(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


def lost(solution):
    return solution.summary["steps"][-1]["energy"]["final"]["dissipated"]


KINDS = [
    (2, "prismatic"), (2, "point_on_line"), (2, "slider"), (3, "prismatic"), (3, "point_on_line"), (3, "slider"),
    (3, "point_on_plane"), (3, "planar"),
]  # fmt: skip


@pytest.mark.parametrize(("dim", "kind"), KINDS)
def test_block_on_a_rail_slows_down_as_coulomb_says(dim, kind):
    """v(t) of the smooth law in closed form, second order in h; the weight is what presses."""
    errors = []
    for h in (0.004, 0.002):
        solution = solve(block(dim, kind, h=h))
        v = solution.sensor("v").values[:, 0]
        errors.append(np.abs(v - slowed(solution.steps[0].time)).max())
        assert abs(closing(solution)) < 1e-12
        assert lost(solution) == pytest.approx(0.5 * 2.0 * (4.0 - v[-1] ** 2), rel=1e-12)
    assert errors[1] < 2e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


def bearing(dim, h, friction=True, duration=0.8, **step):
    """A physical pendulum in a bearing of radius 0.05 m, thrown round."""
    model = Model(dim, gravity=(0.0, -G, 0.0)[:dim])
    model.body("rod", (0.4, 0.0, 0.0)[:dim], 1.5, 0.1 if dim == 2 else (0.02, 0.1, 0.1))
    axis = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.joint("pin", "revolute", "ground", "rod", point=(0.0,) * dim, **axis)
    if friction:
        model.friction("bearing", "pin", coefficient=MU, smoothing=SLOW, radius=0.05)
        model.sensor("N", "element", on="bearing", element=0, quantity="normal force")
    model.initial_speed("rod", "rotation", 9.0, **axis)
    model.sensor("angle", "joint", on="pin")
    model.transient_step(duration, h, frames=0, **step)
    return model


def pendulum_of(t_end):
    """The same as an ODE: the bearing's force depends on the acceleration, which depends on its friction."""
    m, c, J, r = 1.5, 0.4, 0.1, 0.05

    def force(a, q, w):
        along, across = np.array((np.cos(q), np.sin(q))), np.array((-np.sin(q), np.cos(q)))
        return m * (c * (a * across - w * w * along) + np.array((0.0, G)))

    def balance(a, q, w):
        drag = MU * r * np.linalg.norm(force(a, q, w)) * np.tanh(r * w / SLOW)
        return (J + m * c * c) * a + m * G * c * np.cos(q) + drag

    def rates(_, y):
        return y[1], brentq(balance, -1e3, 1e3, args=tuple(y), xtol=1e-13)

    found = solve_ivp(rates, (0.0, t_end), (0.0, 9.0), rtol=1e-10, atol=1e-11)
    a = brentq(balance, -1e3, 1e3, args=tuple(found.y[:, -1]), xtol=1e-13)
    return found.y[0, -1], np.linalg.norm(force(a, *found.y[:, -1]))


@pytest.mark.parametrize("dim", [2, 3])
def test_bearing_is_pressed_by_weight_and_centrifugal_force(dim):
    """Against the ODE with its implicit acceleration; order 2, the loss booked to round-off."""
    reference, _ = pendulum_of(0.8)
    errors = []
    for h in (0.004, 0.002):
        solution = solve(bearing(dim, h))
        errors.append(abs(float(solution.sensor("angle").values[-1, 0]) - reference))
        assert abs(closing(solution)) < 1e-11
        assert lost(solution) > 1.0
    assert errors[1] < 1.5e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("dim", [2, 3])
def test_bearing_by_the_generalised_alpha_rule(dim):
    """One-state rules have the same friction; their ledger closes to the second order."""
    reference, normal = pendulum_of(0.8)
    found = []
    for h in (0.004, 0.002):
        solution = solve(bearing(dim, h, rule="generalised-alpha"))
        found.append((abs(float(solution.sensor("angle").values[-1, 0]) - reference), abs(closing(solution))))
    (e0, c0), (e1, c1) = found
    assert e1 < 3e-4
    assert np.log2(e0 / e1) == pytest.approx(2.0, abs=0.3)
    assert np.log2(c0 / c1) == pytest.approx(2.0, abs=0.3)
    assert solution.steps[-1].series["sensor/N"][-1, 0] == pytest.approx(normal, rel=2e-4)


@pytest.mark.parametrize("dim", [2, 3])
def test_given_normal_force_between_points(dim):
    """A block pressed to the ground by N(t), rising: the impulse of the friction follows from that of N."""
    model = block(dim, "point_on_line" if dim == 2 else "point_on_plane", friction=False)
    model.gravity = np.zeros(dim)
    n = np.eye(dim)[-1]
    model.friction("pad", a="ground", b="block", axis=n, normal="4 + 3*t", coefficient=MU, smoothing=SLOW)
    solution = solve(model)
    t = solution.steps[0].time
    impulse = MU * (4.0 * t + 1.5 * t**2) / 2.0
    expected = SLOW * np.arcsinh(np.sinh(2.0 / SLOW) * np.exp(-impulse / SLOW))
    assert np.abs(solution.sensor("v").values[:, 0] - expected).max() < 1e-6
    assert abs(closing(solution)) < 1e-12


@pytest.mark.parametrize("dim", [2, 3])
def test_running_surface_drags(dim):
    """A block on a belt, held by a spring: at rest k x = mu N; in motion the belt's work and the loss are booked."""
    model = block(dim, "point_on_line" if dim == 2 else "point_on_plane", friction=False, speed=0.0, duration=1.0)
    model.node("wall", -np.eye(dim)[0])
    model.fix("wall")
    model.spring("spring", "wall", "block", stiffness=50.0)
    where = {} if dim == 2 else {"direction": (1.0, 0.0, 0.0)}
    model.friction("belt", "rail", coefficient=MU, smoothing=SLOW, speed=0.1, **where)
    model.sensor("x", "displacement", on="block")
    model.steps.clear()
    model.static_step()
    model.transient_step(0.2, 0.002, frames=0)
    solution = solve(model)
    pull = MU * 2.0 * G * np.tanh(0.1 / SLOW)
    assert solution.steps[0].series["sensor/x"][-1, 0] == pytest.approx(pull / 50.0, rel=1e-9)
    assert np.abs(solution.steps[1].series["sensor/x"][:, 0] - pull / 50.0).max() < 1e-10
    final = solution.summary["steps"][1]["energy"]["final"]
    assert final["driver work"] == pytest.approx(pull * 0.1 * 0.2, rel=1e-8)
    assert final["dissipated"] == pytest.approx(final["driver work"], rel=1e-8)


def test_two_ways_on_a_plane():
    """On a plane the force is against the sliding velocity, whatever its direction: the path stays straight."""
    model = block(3, "point_on_plane", speed=0.0)
    model.initial("block", velocity=(1.2, 1.6, 0.0))
    solution = solve(model)
    v = solution.sensor("v").values
    assert np.abs(v[:, 1] * 1.2 - v[:, 0] * 1.6).max() < 1e-12
    assert np.abs(np.hypot(v[:, 0], v[:, 1]) - slowed(solution.steps[0].time)).max() < 2e-5


def test_falling_law_lets_a_block_on_a_belt_swing():
    """Stribeck's law has a negative slope at the belt's speed: what is at rest leaves it; against the ODE."""
    mu, mu0, w0, v, k, m = 0.2, 0.5, 0.3, 0.4, 80.0, 2.0
    model = block(2, "point_on_line", friction=False, speed=0.0)
    model.node("wall", (-1.0, 0.0))
    model.fix("wall")
    model.spring("spring", "wall", "block", stiffness=k)
    law = {"coefficient": mu, "static": mu0, "stribeck": w0, "smoothing": SLOW}
    model.friction("belt", "rail", speed=v, **law)
    model.sensor("x", "displacement", on="block")
    model.steps.clear()
    model.transient_step(3.0, 0.002, frames=0)
    solution = solve(model)

    def rates(_, y):
        w = y[1] - v
        return y[1], (-k * y[0] - m * G * np.tanh(w / SLOW) * (mu + (mu0 - mu) * np.exp(-((w / w0) ** 2)))) / m

    t = solution.steps[0].time
    x = solve_ivp(rates, (0.0, 3.0), (0.0, 0.0), t_eval=t, rtol=1e-9, atol=1e-11).y[0]
    assert np.abs(solution.steps[-1].series["sensor/x"][:, 0] - x).max() < 2e-3 * np.abs(x).max()
    assert np.ptp(x[t > 2.0]) > 0.1
    assert abs(closing(solution)) < 1e-11


def bead(dim):
    """A bead of 2 kg on a held wire."""
    model = Model(dim, gravity=(0.0, -G) if dim == 2 else (0.0, 0.0, -G))
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("wire", "circle", diameter=0.004)
    model.line("wire", (-1.0,) + (0.0,) * (dim - 1), (3.0,) + (0.0,) * (dim - 1), n=3)
    model.trusses("wire", on="wire", section="wire", material="steel")
    model.fix("wire")
    model.node("bead", (0.1,) + (0.0,) * (dim - 1))
    model.point_mass("bead mass", "bead", 2.0)
    model.joint("eye", "along_beam", "wire", "bead")
    model.friction("drag", "eye", coefficient=MU, smoothing=SLOW)
    model.initial("bead", velocity=2.0 * np.eye(dim)[0])
    model.sensor("v", "velocity", on="bead")
    model.sensor("way", "joint", on="eye")
    model.sensor("N", "element", on="drag", element=0, quantity="normal force")
    model.transient_step(0.6, 0.002, frames=0)
    return model


@pytest.mark.parametrize("dim", [2, 3])
def test_bead_on_a_wire(dim):
    """Of the joint's force only the part across the wire presses."""
    solution = solve(bead(dim))
    assert np.abs(solution.sensor("v").values[:, 0] - slowed(solution.steps[0].time)).max() < 2e-5
    assert solution.steps[-1].series["sensor/N"][1:, 0] == pytest.approx(2.0 * G, rel=1e-9)
    assert abs(closing(solution)) < 1e-11


def crank(**friction):
    """A slider-crank of an elastic rod, with friction in the slider."""
    model = Model(2, gravity=(0.0, -G))
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("rod", "circle", diameter=0.01)
    model.line("crank", (0.0, 0.0), (0.1, 0.1), n=1)
    model.line("rod", (0.1, 0.1), (0.6, 0.0), n=4)
    for part in ("crank", "rod"):
        model.beams(part, on=part, section="rod", material="steel")
    model.point_mass("piston", "rod:end", 0.5)
    model.joint("shaft", "pin", "ground", "crank:start", point=(0.0, 0.0))
    model.joint("pin", "pin", "crank:end", "rod:start")
    model.joint("guide", "slider", "rod:end", axis=(1.0, 0.0))
    model.friction("piston ring", "guide", coefficient=0.2, smoothing=0.02)
    if friction:
        model.friction("crank pin", "pin", **friction)
    model.initial_speed("crank:start", "rotation", 20.0)
    return model


def test_friction_in_an_elastic_mechanism_is_booked():
    """Joints whose nodes coincide keep their multipliers where these press; the ledger closes to round-off."""
    model = crank(coefficient=0.1, smoothing=0.02, radius=0.01)
    model.transient_step(0.2, 5e-4, frames=0)
    solution = solve(model)
    assert abs(closing(solution)) < 1e-10
    assert lost(solution) > 0.01
    assert "pin" not in dict(solution.compiled.merged_joints)
    assert "pin" in dict(crank().compile().merged_joints)


def test_tangent_of_models_with_friction():
    """The whole tangent of a step, columns of multipliers included."""
    model = crank(coefficient=0.1, smoothing=2.0, radius=0.1)
    model.transient_step(0.2, 5e-4)
    found = tangent_check(model, 5e-4, size=0.01)
    assert found.error < 1e-6
    assert found.asymmetry > 1e-6


def test_model_file(tmp_path):
    """The tables make the same calls."""
    (tmp_path / "m.toml").write_text(
        """
        dimension = 2
        gravity = [0, -9.81]
        [[body]]
        name = "block"
        position = [0, 0]
        mass = 2.0
        inertia = 0.1
        [[joint]]
        name = "rail"
        type = "prismatic"
        a = "ground"
        b = "block"
        point = [0, 0]
        axis = [1, 0]
        [[friction]]
        name = "drag"
        joint = "rail"
        coefficient = 0.3
        smoothing = 0.05
        normal = "1 + 0*t"
        [[initial]]
        on = "block"
        velocity = [2, 0]
        [[sensor]]
        name = "v"
        kind = "velocity"
        on = "block"
        [[step]]
        type = "transient"
        duration = 0.1
        h = 0.002
        """
    )
    solution = solve(load_model(tmp_path / "m.toml"))
    mu = MU * (2.0 * G + 1.0) / (2.0 * G)
    assert np.abs(solution.steps[-1].series["sensor/v"][:, 0] - slowed(solution.steps[0].time, mu=mu)).max() < 2e-5


def test_joints_that_repeat_each_other_share_the_load():
    """Two rails that each would do: what presses both is the weight, however they share it."""
    model = block(2, "prismatic", friction=False)
    model.joint("second", "prismatic", "ground", "block", point=(0.1, 0.0), axis=(1.0, 0.0))
    for joint in ("rail", "second"):
        model.friction(f"drag {joint}", joint, coefficient=MU, smoothing=SLOW)
        model.sensor(joint, "element", on=f"drag {joint}", element=0, quantity="normal force")
    solution = solve(model)
    assert np.abs(solution.sensor("v").values[:, 0] - slowed(solution.steps[0].time)).max() < 2e-5
    assert (solution.steps[-1].series["sensor/rail"] + solution.steps[-1].series["sensor/second"])[
        1:, 0
    ] == pytest.approx(2.0 * G, rel=1e-9)
    assert abs(closing(solution)) < 1e-12


def test_linear_steps_refuse_running_surfaces():
    """Their matrices have no place for forces that depend on multipliers."""
    model = block(2, "prismatic", friction=False)
    model.friction("belt", "rail", coefficient=MU, smoothing=SLOW, speed=1.0)
    model.steps.clear()
    model.modes_step(1)
    with pytest.raises(ModelError, match="complex_modes"):
        solve(model)


def test_campbell_refuses_friction_in_joints():
    model = block(3, "prismatic")
    model.rotor("rotor", axis=(1.0, 0.0, 0.0))
    model.steps.clear()
    model.campbell_step("rotor", speeds=[1.0, 2.0])
    with pytest.raises(ModelError, match="stability_map"):
        solve(model)


GOOD = {"joint": "rail", "coefficient": 0.1, "smoothing": 0.01}
BAD = [
    ({"coefficient": -0.1}, "coefficient = -0.1"),
    ({"smoothing": 0.0}, "smoothing = 0.0"),
    ({"static": 0.2}, "static and stribeck"),
    ({"radius": 0.1}, "has no radius"),
    ({"normal": -2.0}, "must not be negative"),
    ({"joint": "hip"}, "hip"),
    ({"joint": "held"}, '"weld" joint'),
    ({"a": "ground"}, "with joint remove"),
    ({"joint": None}, "give either joint, or a and b"),
    ({"joint": None, "a": "ground", "b": "block", "axis": (0.0, 1.0)}, "needs its normal force"),
    ({"joint": None, "a": "ground", "b": "block", "normal": 1.0}, "axis"),
    ({"joint": None, "a": "block", "b": "block", "normal": 1.0, "axis": (0.0, 1.0)}, "both ends"),
    ({"direction": (1.0, 0.0)}, "add its speed"),
    ({"direction": (1.0, 0.0), "speed": 1.0}, "one way only"),
    ({"joint": "hinge"}, "needs the radius"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_errors(change, message):
    """One clear error each."""
    model = block(2, "prismatic", friction=False)
    model.body("other", (0.0, 1.0), 1.0, 0.1)
    model.body("third", (0.0, 1.0), 1.0, 0.1)
    model.joint("held", "weld", "block", "other", point=(0.0, 1.0))
    model.joint("hinge", "pin", "block", "third", point=(0.0, 1.0))
    with pytest.raises(ModelError, match=message):
        model.friction("drag", **{**GOOD, **change})


def test_one_friction_per_joint_and_nothing_beside_it_along_a_beam():
    model = block(2, "prismatic")
    with pytest.raises(ModelError, match="has friction already"):
        model.friction("more", **GOOD)
    model = bead(2)
    model.joint_spring("spring", "eye", 10.0)
    with pytest.raises(ModelError, match='"spring" works along the same line'):
        solve(model)
    with pytest.raises(ModelError, match="direction"):
        block(3, "point_on_plane", friction=False).friction("belt", "rail", coefficient=0.1, smoothing=0.1, speed=1.0)


def weights_on_a_rope(heavy, dim=2, **loss):
    """Two weights on a rope over a drum; the ratio -2 is that of a block and tackle."""
    up = np.eye(dim)[1]
    model = Model(dim, gravity=-G * up)
    for i, (name, mass) in enumerate((("light", 1.0), ("heavy", heavy))):
        at = float(i) * np.eye(dim)[0]
        model.body(name, at, mass, 0.1 if dim == 2 else (0.1, 0.1, 0.1))
        model.joint(f"line {name}", "prismatic", "ground", name, point=at, axis=up)
    model.gear("rope", "line light", "line heavy", ratio=-2.0)
    model.friction("drum", "rope", smoothing=1e-4, **loss)
    model.sensor("v", "velocity", on="light")
    for key in "ab":
        model.sensor(f"loss {key}", "element", on=f"drum:{key}", element=0, quantity="force")
    model.transient_step(0.1, 5e-4, frames=0)
    return model


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("heavy", [5.0, 0.05])
@pytest.mark.parametrize("loss", [{"coefficient": 0.2, "wrap": 3.0}, {"efficiency": 0.7}], ids=["rope", "efficiency"])
def test_ropes_lose_by_eytelwein_or_efficiency(dim, heavy, loss):
    """What drives pulls 1/eta times as much, eta = e^(-mu phi), whichever of both it is."""
    eta = loss.get("efficiency", np.exp(-0.6))
    solution = solve(weights_on_a_rope(heavy, dim, **loss))
    # generalised forces on x (light, up) and on 2 x: heavy m drives where 2 m eta > 1
    force = 2.0 * heavy * eta if 2.0 * heavy * eta > 1.0 else 2.0 * heavy / eta
    expected = G * (force - 1.0) / (1.0 + 2.0 * force)
    t, v = solution.steps[0].time, solution.sensor("v").values[:, 1]
    late = t > 0.05
    assert np.polyfit(t[late], v[late], 1)[0] == pytest.approx(expected, rel=1e-9)
    assert abs(closing(solution)) < 1e-12
    a, b = (solution.steps[-1].series[f"sensor/loss {key}"][-1, 0] for key in "ab")
    assert abs(a) == pytest.approx(2.0 * abs(b), rel=1e-12)


@pytest.mark.parametrize("ratio", [0.02, -0.02])
def test_rack_and_pinion_lose_power_either_way(ratio):
    """A driven pinion lifts a rack, and a heavy rack drives the pinion: power out is eta times power in."""
    eta, J, m = 0.85, 2e-4, 1.5
    for moment in (1.0, 0.0):
        model = Model(2, gravity=(0.0, -G))
        model.body("pinion", (0.0, 0.0), 1.0, J)
        model.body("rack", (1.0, 0.0), m, 0.1)
        model.joint("shaft", "revolute", "ground", "pinion", point=(0.0, 0.0))
        model.joint("rail", "prismatic", "ground", "rack", point=(1.0, 0.0), axis=(0.0, 1.0))
        model.gear("teeth", "shaft", "rail", ratio=ratio)
        model.friction("loss", "teeth", efficiency=eta, smoothing=1e-3)
        model.moment("drive", "pinion", moment * np.sign(ratio))
        model.sensor("v", "velocity", on="rack")
        model.transient_step(0.05, 1e-4, frames=0)
        solution = solve(model)
        p = abs(ratio)
        expected = (
            p * (moment - m * G * p / eta) / (J + m * p * p / eta) if moment else -p * p * m * G / (J / eta + m * p * p)
        )
        t, v = solution.steps[0].time, solution.sensor("v").values[:, 1]
        late = t > 0.025
        assert np.polyfit(t[late], v[late], 1)[0] == pytest.approx(expected, rel=1e-4)
        assert abs(closing(solution)) < 1e-11


def turning(kind, **step):
    """A heavy body turns about its centre in a loaded ball or universal joint, or on a screw."""
    model = Model(3, gravity=(0.0, 0.0, -G))
    model.body("block", (0.0,) * 3, 2.0, (0.02, 0.03, 0.04))
    axes = {"spherical": {}, "pin": {}, "universal": {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}}
    axes["screw"] = {"axis": (0, 0, 1), "lead": -0.03}
    model.joint("seat", kind, "ground", "block", point=(0.0,) * 3, **axes[kind])
    model.friction("rub", "seat", coefficient=MU, smoothing=0.05, radius=0.02, static=0.4, stribeck=0.3)
    spin = {"universal": (8.0, 0.0, 0.0), "screw": (0.0, 0.0, 8.0)}.get(kind, (3.0, -6.0, 4.0))
    model.initial("block", spin=spin, velocity=(0.0, 0.0, -0.03 * 8.0 / (2 * np.pi) if kind == "screw" else 0.0))
    model.sensor("w", "angular velocity", on="block")
    model.transient_step(0.2, step.pop("h", 1e-3), frames=0, **step)
    return model


@pytest.mark.parametrize("kind", ["spherical", "pin", "universal", "screw"])
def test_turning_joints_book_their_loss(kind):
    """The ledger closes to round-off, and the whole tangent of a step is right."""
    solution = solve(turning(kind))
    assert lost(solution) > 0.01
    assert abs(closing(solution)) < 1e-11
    assert tangent_check(turning(kind), 1e-3, size=0.01).error < 1e-6


def test_friction_of_a_ball_joint_reports_moment_force_and_speed():
    """The weight presses, the surface slides with r w, and the moment is r N m(r w)."""
    model = turning("spherical")
    model.steps.clear()
    model.transient_step(3e-3, 1e-3)
    for name in ("moment", "normal force", "sliding speed"):
        model.sensor(name, "element", on="rub", quantity=name)
    series = solve(model).steps[0].series
    w = np.linalg.norm(series["sensor/w"], axis=1)
    speed = 0.02 * 0.5 * (w[:-1] + w[1:])
    m = np.tanh(speed / 0.05) * (MU + (0.4 - MU) * np.exp(-((speed / 0.3) ** 2)))
    assert series["sensor/normal force"][1:, 0] == pytest.approx(2.0 * G, rel=1e-9)
    assert series["sensor/sliding speed"][1:, 0] == pytest.approx(speed, rel=1e-4)
    assert series["sensor/moment"][1:, 0] == pytest.approx(0.02 * 2.0 * G * m, rel=1e-4)


def test_ball_joint_turns_as_euler_s_equations_with_friction():
    """An unsymmetric body about its fixed centre, N = m g: against the ODE; order 2, one-state rules likewise."""
    J = np.array((0.02, 0.03, 0.04))

    def rates(_, w):
        speed = 0.02 * np.linalg.norm(w)
        m = np.tanh(speed / 0.05) * (MU + (0.4 - MU) * np.exp(-((speed / 0.3) ** 2)))
        return (-np.cross(w, J * w) - 0.02 * 2.0 * G * m * 0.02 * w / speed) / J

    body = solve_ivp(rates, (0.0, 0.2), (3.0, -6.0, 4.0), rtol=1e-11, atol=1e-12).y[:, -1]
    for rule in ({}, {"rule": "generalised-alpha"}):
        errors = []
        for h in (2e-3, 1e-3):
            solution = solve(turning("spherical", h=h, **rule))
            w = solution.sensor("w").values[-1]
            errors.append(abs(np.linalg.norm(w) - np.linalg.norm(body)) / np.linalg.norm(body))
        assert errors[1] < 1e-4
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


DRIVES = [
    ("rope", {}, "either an efficiency"),
    ("rope", {"efficiency": 0.9, "coefficient": 0.1}, "either an efficiency"),
    ("rope", {"efficiency": 1.1}, "efficiency = 1.1 must be at most 1"),
    ("rope", {"efficiency": 0.0}, "efficiency = 0.0"),
    ("rope", {"efficiency": 0.9, "wrap": 1.0}, "wrap belongs to coefficient"),
    ("rope", {"coefficient": 0.1}, "add wrap"),
    ("rope", {"coefficient": 0.1, "wrap": -1.0}, "wrap = -1.0"),
    ("rope", {"efficiency": 0.9, "radius": 0.1}, "radius has no meaning in a gear"),
    ("rope", {"efficiency": 0.9, "normal": 5.0}, "normal has no meaning in a gear"),
    ("rack", {"coefficient": 0.1, "wrap": 1.0}, "give efficiency"),
    ("rail", {"efficiency": 0.9}, "efficiency has no meaning"),
    ("rail", {}, "needs its coefficient"),
    ("screw", {"coefficient": 0.1}, "needs the radius"),
    ("screw", {"coefficient": 0.1, "radius": 0.1, "normal": 1.0}, "normal has no meaning"),
    ("ball", {"coefficient": 0.1}, "needs the radius"),
    ("ball", {"coefficient": 0.1, "radius": 0.1, "speed": 1.0}, "speed has no meaning"),
    ("sleeve", {"coefficient": 0.1}, "needs the radius"),
    ("sleeve", {"coefficient": 0.1, "radius": 0.1, "speed": 1.0}, "speed has no meaning"),
    ("sleeve", {"coefficient": 0.1, "radius": 0.1, "direction": (1, 0, 0)}, "direction has no meaning"),
    ("sleeve", {"coefficient": 0.1, "radius": 0.1, "length": 0.0}, "length = 0.0"),
    ("sleeve", {"coefficient": 0.1, "radius": 0.1, "inner_radius": 0.05}, "inner_radius has no meaning"),
    ("ball", {"coefficient": 0.1, "radius": 0.1, "length": 0.05}, "length has no meaning"),
    ("rope", {"efficiency": 0.9, "length": 0.05}, "length has no meaning"),
    ("table", {"coefficient": 0.1, "inner_radius": 0.05}, "add its radius"),
    ("table", {"coefficient": 0.1, "radius": 0.05, "inner_radius": 0.05}, "must be less than radius = 0.05"),
    ("cage", {"coefficient": 0.1, "radius": 0.05}, '"constant_velocity" joint, whose friction is not known'),
]


@pytest.mark.parametrize(("joint", "keys", "message"), DRIVES)
def test_errors_of_gears_and_turning_joints(joint, keys, message):
    model = Model(3)
    for i, name in enumerate(("rail", "second", "screw", "ball", "sleeve", "table", "cage")):
        model.body(f"part {i}", (float(i), 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
        kinds = {"ball": "spherical", "sleeve": "cylindrical", "table": "planar", "cage": "constant_velocity"}
        kind = {"screw": "screw", **kinds}.get(name, "prismatic")
        more = {"spherical": {}, "screw": {"axis": (0, 0, 1), "lead": 0.1}}.get(kind, {"axis": (0, 0, 1)})
        model.joint(name, kind, "ground", f"part {i}", point=(float(i), 0.0, 0.0), **more)
    model.gear("rope", "rail", "second", ratio=1.0)
    model.gear("rack", "sleeve", "second", ratio=0.1)
    with pytest.raises(ModelError, match=message):
        model.friction("drag", joint, smoothing=0.01, **keys)


def test_copies_of_gears_keep_their_loss():
    """A mirrored rope with friction is the image of the original."""
    model = weights_on_a_rope(5.0, efficiency=0.7)
    named = ["light", "heavy", "line light", "line heavy", "rope", "drum", "v"]
    model.copy(named, mirror={"normal": (1.0, 0.0), "point": (3.0, 0.0)})
    solution = solve(model)
    v, image = (solution.sensor(name).values for name in ("v", "v copy"))
    assert np.abs(v).max() > 0.1
    assert np.abs(v * (-1.0, 1.0) - image).max() < 1e-10


@pytest.mark.parametrize(("quantity", "stays"), [("normal force", False), ("sliding speed", False), ("moment", True)])
def test_friction_of_a_screw_has_no_normal_force_to_show(quantity, stays):
    """What presses is the multiplier of the ratio, a moment here; the other joints show a force along a unit vector."""
    model = turning("screw")
    model.sensor("x", "element", on="rub:angle", quantity=quantity)
    if stays:
        assert np.abs(solve(model).sensor("x").values).max() > 0.0
        return
    with pytest.raises(ModelError, match=rf'quantity = "{quantity}"; its elements have moment, angle'):
        solve(model)
