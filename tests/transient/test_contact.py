"""Contact of balls with surfaces: conservation, restitution, friction, rest, linearisation, errors.

References are closed forms, or scipy solutions of one degree of freedom in the test.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fem_mbs import Model, ModelError, solve
from fem_mbs.elements.contact.law import power_mean
from fem_mbs.validation.case import constancy, energy_error

UP = (0.0, 0.0, 1.0)


def ball(model, name, position, velocity=(0.0, 0.0, 0.0), spin=None, mass=1.0, radius=0.1):
    inertia = 0.4 * mass * radius**2
    model.body(name, position, mass=mass, inertia=inertia if model.dimension == 2 else np.full(3, inertia))
    model.initial(name, velocity=velocity, **({} if spin is None else {"spin": spin}))


@pytest.mark.parametrize("exponent", [1.0, 1.5, 3.0])
@pytest.mark.parametrize(("a", "b"), [(0.2, 0.9), (0.5, 0.5 + 1e-9), (0.7, 0.7), (-0.3, 0.4), (0.6, -0.2), (0.3, 0.0)])
def test_mean_of_a_power(a, b, exponent):
    """Against the integral; the derivative against differences."""
    from scipy.integrate import quad

    def mean(b):
        if a == b:
            return a**exponent
        return quad(lambda t: max(a + t * (b - a), 0.0) ** exponent, 0.0, 1.0, points=[-a / (b - a)] * (a * b < 0))[0]

    value, slope = power_mean(exponent, a, b)
    assert value == pytest.approx(mean(b), rel=1e-9)
    assert slope == pytest.approx((mean(b + 1e-5) - mean(b - 1e-5)) / 2e-5, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("surface", ["sphere", "capsule", "box", "cylinder"])
def test_elastic_blows_of_free_bodies_keep_energy_and_momenta(surface):
    """A ball hits a body that turns, off its centre, in steps that are long against the blow."""
    shape = {
        "sphere": {"radius": 0.3},
        "capsule": {"radius": 0.2, "length": 0.6, "axis": (0.3, 1.0, 0.2)},
        "box": {"size": (0.5, 0.4, 0.3), "radius": 0.02, "rotation": (0.3, 0.2, 0.9)},
        "cylinder": {"radius": 0.25, "axis": (0.0, 1.0, 0.3)},
    }[surface]
    model = Model(3)
    model.body("block", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.05, 0.08, 0.06))
    model.initial("block", spin=(0.5, 1.0, 2.0))
    ball(model, "ball", (-0.6, 0.08, 0.05), (3.0, 0.2, 0.1), (1.0, 2.0, 3.0))
    model.contact("blow", "block", "ball", surface=surface, ball=0.1, stiffness=1e6, **shape)
    model.sensor("force", "element", on="blow", quantity="normal force")
    model.transient_step(0.4, 1e-3, frames=0)
    step = solve(model).steps[0]
    assert np.nanmax(step.series["sensor/force"]) > 100.0
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-12
    assert constancy(step, "angular momentum") < 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
def test_friction_between_free_balls_keeps_the_momenta(dimension):
    model = Model(dimension)
    if dimension == 3:
        ball(model, "one", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 3.0, 9.0))
        ball(model, "two", (0.25, 0.05, 0.02), (-1.0, 0.0, 0.0), (5.0, 0.0, -4.0))
    else:
        ball(model, "one", (0.0, 0.0), (1.0, 0.0), 9.0)
        ball(model, "two", (0.25, 0.05), (-1.0, 0.0), -4.0)
    model.contact(
        "blow", ["one", "two"], ["one", "two"], surface="sphere", radius=0.1, ball=0.1, stiffness=1e6,
        coefficient=0.3, static=0.5, stribeck=0.1, smoothing=0.01, restitution=0.8,
    )  # fmt: skip
    model.transient_step(0.1, 1e-4, frames=0)
    step = solve(model).steps[0]
    lost = step.ledger("dissipated")
    assert lost[-1] > 0.05
    assert (np.diff(lost) >= -1e-15).all()
    assert energy_error(step) < 1e-11
    assert constancy(step, "linear momentum", scale=1.0) < 1e-12
    assert constancy(step, "angular momentum") < 1e-12


@pytest.mark.parametrize(
    ("model_name", "e"),
    [("lankarani", 0.9), ("lankarani", 0.5), ("flores", 0.5), ("flores", 0.2), ("gonthier", 0.5), ("gonthier", 0.2)],
)
def test_restitution(model_name, e):
    """Against the equation of one degree of freedom; the default gives the coefficient that is asked for."""
    stiffness, mass, speed = 1e6, 0.5, 2.0
    factor = 0.75 * (1 - e * e) if model_name == "lankarani" else 1.6 * (1 - e) / e
    if model_name == "gonthier":
        factor = brentq(lambda c: (1 + c) * np.exp(-c * (1 + e)) - (1 - c * e), 0.01, 1 / e)

    def rate(_, x):
        return [x[1], -stiffness * max(x[0], 0.0) ** 1.5 * max(1 + factor * x[1] / speed, 0.0) / mass]

    out = solve_ivp(rate, (0.0, 0.02), (0.0, speed), rtol=1e-11, atol=1e-13)
    reference = -out.y[1, -1] / speed
    model = Model(3)
    ball(model, "ball", (0.0, 0.0, 0.11), (0.3, 0.0, -speed), mass=mass)
    model.contact(
        "floor", "ground", "ball", ball=0.1, point=(0.0, 0.0, 0.0), axis=UP, stiffness=stiffness, restitution=e,
        restitution_model=model_name,
    )  # fmt: skip
    model.sensor("speed", "velocity", on="ball")
    model.transient_step(0.03, 2e-6, frames=0)
    step = solve(model).steps[0]
    found = step.series["sensor/speed"][-1, 2] / speed
    assert found == pytest.approx(reference, rel=1e-4)
    if model_name == "gonthier":
        assert found == pytest.approx(e, rel=1e-4)
    assert energy_error(step) < 1e-10


def test_indentation_stays_until_the_contact_ends():
    """A second, weaker blow of a mass on a spring meets the surface where the first one left it: no force before."""
    model = Model(3)
    ball(model, "ball", (0.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    model.contact(
        "floor", "ground", "ball", point=(0.0, 0.0, 0.0), axis=UP, stiffness=1e5, restitution=0.6,
        restitution_model="indentation",
    )  # fmt: skip
    model.sensor("force", "element", on="floor", quantity="normal force")
    model.sensor("gap", "element", on="floor", quantity="gap")
    model.transient_step(0.05, 1e-5, frames=0)
    step = solve(model).steps[0]
    force, depth = step.series["sensor/force"].ravel()[1:], -step.series["sensor/gap"].ravel()[1:]
    deepest = (2.5 / 2e5) ** 0.4
    assert depth.max() == pytest.approx(deepest, rel=1e-4)
    back = int(depth.argmax())
    touching = force[back:] > 0.0
    assert depth[back:][touching].min() == pytest.approx((1 - 0.36) * deepest, rel=1e-2)
    assert float(step.ledger("kinetic")[-1]) == pytest.approx(0.5 * 0.36, rel=1e-4)
    assert energy_error(step) < 1e-10


def test_table_of_the_normal_force_follows_the_power_that_it_samples():
    depth = np.linspace(0.0, 0.02, 400)

    def run(**law):
        model = Model(2)
        ball(model, "ball", (0.0, 0.15), (0.0, -2.0))
        model.contact("floor", "ground", "ball", ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), **law)
        model.sensor("place", "position", on="ball")
        model.transient_step(0.1, 1e-4, frames=0)
        return solve(model).steps[0]

    power, table = run(stiffness=1e5), run(table=np.column_stack((depth, 1e5 * depth**1.5)))
    assert np.abs(power.series["sensor/place"] - table.series["sensor/place"]).max() < 1e-5
    assert energy_error(table, constant=True) < 1e-12


def test_disc_slides_into_rolling_in_the_plane():
    """v -> v0/(1 + J/(m R^2))."""
    model = Model(2, gravity=(0.0, -9.81))
    sinks = 9.81 / 1e6
    ball(model, "disc", (0.0, 0.1 - sinks), (1.0, 0.0))
    model.contact(
        "floor", "ground", "disc", ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=1e6, exponent=1.0,
        coefficient=0.2, smoothing=1e-3, overlap=1e-4,
    )  # fmt: skip
    model.sensor("speed", "velocity", on="disc")
    model.sensor("spin", "angular velocity", on="disc")
    model.transient_step(0.5, 1e-3, frames=0)
    step = solve(model).steps[0]
    assert step.series["sensor/speed"][-1, 0] == pytest.approx(1 / 1.4, rel=1e-9)
    assert 0.1 * float(step.series["sensor/spin"][-1].ravel()[-1]) == pytest.approx(-1 / 1.4, rel=1e-9)


def test_a_ball_rests_on_the_floor_and_vibrates_about_it():
    """Statics: K y^1.5 = m g.  Modes about it: w^2 = 1.5 K y^.5/m."""
    stiffness = 1e7
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    ball(model, "ball", (0.0, 0.0, 0.1 - 1e-5))
    model.fix("ball", ["x", "y", "rotation"])
    model.contact(
        "floor", "ground", "ball", ball=0.1, point=(0.0, 0.0, 0.0), axis=UP, stiffness=stiffness, overlap=1e-3
    )
    model.static_step()
    model.modes_step(1)
    model.sensor("gap", "element", on="floor", quantity="gap")
    solution = solve(model)
    depth = (9.81 / stiffness) ** (2 / 3)
    assert -solution.steps[0].series["sensor/gap"].ravel()[-1] == pytest.approx(depth, rel=1e-9)
    frequency = np.sqrt(1.5 * stiffness * np.sqrt(depth)) / (2 * np.pi)
    assert solution.steps[1].report.frequencies_hz[0] == pytest.approx(frequency, rel=1e-9)


def test_a_run_that_is_cut_in_a_blow_goes_on_alike(tmp_path):
    """What the contact remembers (speed of approach, indentation) goes from step to step."""

    def run(parts):
        model = Model(3)
        for name, side in (("left", -1.0), ("right", 1.0)):
            ball(model, name, (0.1 * side, 0.0, 0.0), (-side, 0.0, 0.0))
        for law in ({"restitution": 0.5, "name": "one"},):
            model.contact(
                law.pop("name"), "left", "right", surface="sphere", radius=0.1, ball=0.1, stiffness=1e6, **law
            )
        model.sensor("speed", "velocity", on="right")
        for part in parts:
            model.transient_step(part, 1e-5, frames=0)
        return solve(model).steps[-1].series["sensor/speed"][-1, 0]

    assert run([1e-3, 9e-3]) == pytest.approx(run([1e-2]), rel=1e-12)


def test_order_of_the_speed_after_elastic_contact_with_gravity():
    """The state after a smooth blow converges with the second order."""

    def place(h):
        model = Model(3, gravity=(0.0, 0.0, -9.81))
        ball(model, "ball", (0.0, 0.0, 0.12), (0.0, 0.0, -1.0))
        model.contact("floor", "ground", "ball", ball=0.1, point=(0.0, 0.0, 0.0), axis=UP, stiffness=1e4)
        model.sensor("place", "position", on="ball")
        model.transient_step(0.1, h, frames=0)
        return solve(model).steps[0].series["sensor/place"][-1, 2]

    exact = solve_ivp(
        lambda _, x: [x[1], -9.81 + 1e4 * max(0.1 - x[0], 0.0) ** 1.5], (0.0, 0.1), (0.12, -1.0), rtol=1e-12, atol=1e-14
    ).y[0, -1]
    errors = [abs(place(h) - exact) for h in (1e-3, 2.5e-4)]
    assert errors[1] < 2e-6
    assert np.log2(errors[0] / errors[1]) / 2 > 1.7


def base(**changes):
    model = Model(3)
    ball(model, "one", (0.0, 0.0, 1.0))
    ball(model, "two", (0.0, 0.5, 1.0))
    contact = {"point": (0.0, 0.0, 0.0), "axis": UP, "stiffness": 1e5, "ball": 0.1, "a": "ground", "b": "one"}
    contact |= changes
    contact = {k: v for k, v in contact.items() if v is not None}
    a, b = contact.pop("a"), contact.pop("b")
    model.contact("floor", a, b, **contact)
    model.transient_step(0.1, 0.01)
    solve(model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"point": (0.0, 0.0, 0.95)}, '"one" overlaps with the plane of "ground" at the start by 0.05'),
        ({"restitution": 1.2}, "restitution = 1.2 would gain energy"),
        ({"restitution": 0.0}, "restitution"),
        ({"restitution": 0.5, "damping": 1.0}, "damping and restitution exclude each other"),
        ({"stiffness": None}, "it has no normal force"),
        ({"modulus": 1e9}, "stiffness and modulus, which exclude each other"),
        ({"radius": 0.1}, "a plane has no radius"),
        ({"surface": "sphere", "axis": None}, "a sphere needs radius"),
        ({"surface": "sphere", "radius": 0.1}, "a sphere has no axis"),
        ({"surface": "sphere", "axis": None, "radius": 0.05, "inside": True}, "a ball of radius 0.1 does not fit"),
        ({"inside": True}, "a plane has no inside"),
        ({"point": None}, "a surface of the ground needs its point"),
        ({"coefficient": 0.3}, "coefficient and smoothing of friction belong together"),
        ({"a": ["one", "two"], "b": ["one", "two"]}, "balls that touch each other are spheres"),
        ({"a": "one", "surface": "sphere", "axis": None, "point": None, "radius": 0.1}, "nothing that could touch"),
        ({"surface": "cylinder", "radius": 0.1, "modulus": 1e9, "stiffness": None}, "modulus is for balls on planes"),
        ({"table": [[0.0, 0.0], [1.0, 2.0]], "stiffness": None, "restitution": 0.5, "restitution_model": "indentation"},
         "indentation unloads along a power"),
        ({"table": [[0.1, 0.0], [1.0, 2.0]], "stiffness": None}, "table must begin with"),
        ({"axis": (0.0, 0.0, 0.0)}, "has no length"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error(changes, message):
    with pytest.raises(ModelError, match='Contact "floor"') as error:
        base(**changes)
    assert message in str(error.value)


def test_hertz_stiffness_of_an_effective_modulus():
    model = Model(3)
    ball(model, "one", (0.0, 0.0, 0.0), radius=0.1)
    ball(model, "two", (0.4, 0.0, 0.0), radius=0.1)
    model.contact("blow", "one", "two", surface="sphere", radius=0.3, ball=0.1, modulus=3e9)
    stiffness = model.building.blocks[-1].par[0, 0]
    assert stiffness == pytest.approx(4 / 3 * 3e9 * np.sqrt(0.1 * 0.3 / 0.4), rel=1e-14)


@pytest.mark.parametrize("rule", ["newmark", "generalised-alpha"])
def test_a_block_that_slides_is_braked_from_the_first_step_on(rule):
    """v = 2 - mu g t: rules that begin with accelerations had none of the friction at the start."""
    m = Model(2, gravity=(0.0, -10.0))
    m.body("block", (0.0, 0.1), 1.0, 1e3)
    m.contact(
        "floor", "ground", "block", point=(0.0, 0.0), axis=(0.0, 1.0), ball=0.1 + 10.0 / 1e4, stiffness=1e4,
        exponent=1.0, coefficient=0.3, smoothing=1e-3, overlap=0.01,
    )  # fmt: skip
    m.initial(velocity=(2.0, 0.0))
    m.sensor("v", "velocity", on="block")
    m.transient_step(0.1, 0.01, rule=rule)
    v = solve(m).sensor("v")
    np.testing.assert_allclose(v.values[:, 0], 2.0 - 3.0 * v.t, rtol=1e-9)


@pytest.mark.parametrize("model", ["gonthier", "flores", "lankarani", "indentation"])
def test_a_ball_that_touches_at_the_start_loses_as_one_that_comes(model):
    """Within round-off of touching, as where axes are turned, it had no speed of approach, and so lost nothing."""
    speeds = []
    for gap in (1e-3, 0.0, -1e-13):
        m = Model(3)
        m.body("ball", (0.0, 0.0, 0.1 + gap), mass=1.0, inertia=np.full(3, 0.01))
        m.initial("ball", velocity=(0.0, 0.0, -1.0))
        m.contact(
            "floor", "ground", "ball", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), ball=0.1, stiffness=1e6,
            restitution=0.6, restitution_model=model,
        )  # fmt: skip
        m.sensor("v", "velocity", on="ball")
        m.transient_step(0.02, 2e-5, frames=0)
        speeds.append(solve(m).sensor("v").values[-1, 2])
    assert 0.5 < speeds[0] < 0.8
    np.testing.assert_allclose(speeds[1:], speeds[0], rtol=1e-6)
