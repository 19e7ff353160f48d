"""Blows with restitution and the contact after them: laws, momenta, ledger, statuses, restart, bad input.

Published cases and closed forms of motions are in validation/pereira_nikravesh_1993_blows.py.
"""

from __future__ import annotations

import io
import shutil
from typing import Any

import numpy as np
import pytest

from fem_mbs import Model, ModelError, linearise, run, solve
from fem_mbs.analysis.blows.impulses import Reach
from fem_mbs.analysis.blows.laws import LAWS, Blow, single_blow
from fem_mbs.analysis.blows.rounds import resolve
from fem_mbs.analysis.blows.zeros import zero
from fem_mbs.elements.contact import impact
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model
from fem_mbs.validation.case import energy_error


# --- laws ------------------------------------------------------------------------------------------------------------
def inverse_mass(rng, dim):
    """Inverse masses of a random body at a point, and random speeds of approach."""
    B = rng.normal(size=(dim, dim + 1))
    v = rng.normal(size=dim)
    v[0] = -abs(v[0]) - 0.1
    return B @ B.T, v


def lost(A, v, p):
    return -p @ (v + 0.5 * A @ p)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("seed", range(12))
def test_blows_along_the_impulse_never_gain(law, dim, seed):
    rng = np.random.default_rng(seed)
    A, v = inverse_mass(rng, dim)
    mu, e = rng.uniform(0.0, 1.5), rng.uniform(0.0, 1.0)
    p, mode = single_blow(A, v, Blow(law, e, mu, mu))
    assert p[0] > 0.0
    assert np.linalg.norm(p[1:]) <= mu * p[0] * (1.0 + 1e-9)
    assert lost(A, v, p) >= -1e-9
    after = v + A @ p
    assert after[0] >= -1e-9
    assert mode in ("stick", "slip", "reverse slip")
    if mode == "stick":
        assert np.abs(after[1:]).max() < 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_without_friction_all_laws_are_one(seed):
    A, v = inverse_mass(np.random.default_rng(seed), 3)
    impulses = [single_blow(A, v, Blow(law, 0.4, 0.0, 0.0))[0] for law in LAWS]
    assert np.ptp(impulses, axis=0).max() == 0.0
    assert (v + A @ impulses[0])[0] == pytest.approx(-0.4 * v[0], rel=1e-13)
    assert lost(A, v, impulses[0]) == pytest.approx(0.5 * (1 - 0.16) * v[0] ** 2 / A[0, 0], rel=1e-12)  # eq. 60


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("seed", range(3))
def test_blows_in_space_against_small_steps(law, seed):
    """Coulomb's law at each of many small steps of the normal impulse, to first order."""
    rng = np.random.default_rng(100 + seed)
    A, v0 = inverse_mass(rng, 3)
    mu, e = 0.3, 0.6
    p, _ = single_blow(A, v0, Blow(law, e, mu, mu))
    n = 20000
    dp, v, q, work, given, compressed = p[0] / n, v0.copy(), np.zeros(3), 0.0, 0.0, None
    while True:
        slip = np.linalg.norm(v[1:])
        f = -mu * v[1:] / slip
        if slip < 2.0 * mu * dp * np.linalg.norm(A):
            wanted = np.linalg.solve(A[1:, 1:], -v[1:] / dp - A[1:, 0])
            f = wanted if np.linalg.norm(wanted) <= mu else mu * wanted / np.linalg.norm(wanted)
        step = dp * np.concatenate(([1.0], f))
        before, v, q = v[0], v + A @ step, q + step
        if compressed is None:
            work -= 0.5 * (before + v[0]) * dp
            compressed = q[0] if v[0] >= 0.0 else None
        else:
            given += 0.5 * (before + v[0]) * dp
        if compressed is not None and (q[0] >= (1 + e) * compressed if law == "poisson" else given >= e * e * work):
            break
    assert np.abs(p - q).max() < 2e-3 * np.linalg.norm(p)


def test_newton_takes_the_direction_that_loses_most():
    """In space, against a scan of all directions; the paper's formula 61."""
    A, v = inverse_mass(np.random.default_rng(3), 3)
    v[1:] = (2.0, -1.0)
    p, mode = single_blow(A, v, Blow("newton", 0.5, 0.1, 0.1))
    assert mode != "stick"
    assert (v + A @ p)[0] == pytest.approx(-0.5 * v[0], rel=1e-12)
    scan = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 3000):
        along = np.array((1.0, 0.1 * np.cos(angle), 0.1 * np.sin(angle)))
        q = along * (-1.5 * v[0] / (A[0] @ along))
        scan.append(lost(A, v, q))
    assert lost(A, v, p) >= max(scan) - 1e-12


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_several_blows_at_once(law, mu, seed):
    """Nothing approaches afterwards, impulses press, speeds follow; without friction nothing is gained."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(6, 9))
    A, v = B @ B.T, rng.normal(size=(3, 2))
    out = resolve(A, v, [Blow(law, 0.5, mu, mu)] * 3, np.zeros(3))
    assert (out.speed[:, 0] > -1e-8).all()
    assert (out.impulse[:, 0] >= -1e-12).all()
    assert np.abs(out.speed - v - (A @ out.impulse.ravel()).reshape(3, 2)).max() < 1e-11
    if not mu:
        assert np.abs(out.impulse[:, 1]).max() == 0.0
        assert out.loss.sum() >= -1e-12


# --- models ----------------------------------------------------------------------------------------------------------
def falling(e=0.5, position=(0.0, 1.0), **law) -> Model:
    model = Model(2, "ball", gravity=(0.0, -9.81))
    model.body("ball", position, mass=2.0, inertia=0.1)
    law = {"point": (0.0, 0.0), "axis": (0.0, 1.0), "restitution": e, **law}
    model.impact("floor", "ground", "ball", **law)
    return model


def tumbling(restarts=0, frames=0, sensors=True) -> Model:
    """A hinged pair of rods with balls at their ends, which fall, hit a floor and each other's wall, and slide."""
    model = Model(2, "tumbling rods", gravity=(0.0, -9.81))
    model.body("one", (-0.4, 0.6), mass=1.0, inertia=0.06)
    model.body("two", (0.4, 0.7), mass=0.5, inertia=0.03)
    model.joint("knee", "revolute", "one", "two", point=(0.0, 0.65))
    model.initial("one", velocity=(1.0, 0.0))
    model.initial("two", velocity=(1.0, 0.0))
    both = ["one", "two"]
    model.impact("floor", "ground", both, ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.5, coefficient=0.2)
    model.impact("wall", "ground", both, ball=0.1, point=(0.7, 0.0), axis=(-1.0, 0.0), restitution=0.8, coefficient=0.1)
    for name in both:
        model.sensor(name, "position", on=name)
        model.sensor(f"speed of {name}", "velocity", on=name)
    model.sensor("force", "element", on="floor", element=0, quantity="normal force")
    model.sensor("impulse", "element", on="floor", element=1, quantity="normal impulse")
    model.transient_step(1.2, 4e-3, frames=frames, restarts=restarts)
    return model


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("approach", [1e-7, 1e-10, 1e-12])
def test_rounds_end_where_slip_is_much_faster_than_approach(law, approach):
    rng = np.random.default_rng(5)
    B = rng.normal(size=(4, 7))
    A = 0.1 * B @ B.T + 2.0 * np.eye(4)
    v = np.array([[-approach, 1.0], [-1.5 * approach, -0.7]])
    out = resolve(A, v, [Blow(law, 0.5, 0.3, 0.3)] * 2, np.full(2, np.inf))
    assert not out.cut
    assert out.rounds < 100
    assert out.impulse[:, 0].max() > 0.1 * approach
    assert out.speed[:, 0].min() > -1e-12


def box(law, e, mu):
    """Five balls of different speeds in a box that is open above."""
    model = Model(2, "box", gravity=(0.0, -9.81))
    names = [f"ball {k}" for k in range(5)]
    speeds = ((2.0, 0.3), (-1.0, -0.5), (1.5, -2.0), (-2.0, 1.0), (0.4, -1.2))
    for k, (name, speed) in enumerate(zip(names, speeds, strict=True)):
        model.body(name, (0.15 + 0.3 * (k % 3), 0.13 + 0.28 * (k // 3)), mass=1.0, inertia=4e-3)
        model.initial(name, velocity=speed)
    law = {"restitution": e, "coefficient": mu, "law": law, "ball": 0.1}
    for name, point, axis in (("floor", 0.0, (0.0, 1.0)), ("left", 0.0, (1.0, 0.0)), ("right", 0.9, (-1.0, 0.0))):
        model.impact(name, "ground", names, point=(point, 0.0), axis=axis, **law)
    model.impact("balls", names, names, surface="sphere", radius=0.1, **law)
    return model


@pytest.mark.parametrize("law", LAWS)
def test_five_balls_in_a_box(law, monkeypatch):
    """The loss of all blows is that of the ledger, which closes; balls among each other keep their momentum."""
    momenta, strike = [], Reach.strike

    def kept(self, impulse):
        # of blows without the ground
        struck = self.which[np.abs(impulse).max(axis=1) > 0.0]
        apart = all("ground" not in self.contacts.place(int(i))[1:] for i in struck)
        before = self.state.V[0].copy()
        out = strike(self, impulse)
        if apart:
            dofs = self.contacts.compiled.first_multiplier // 3
            momenta.append((self.state.V[0] - before)[: 3 * dofs].reshape(dofs, 3)[:, :2].sum(axis=0))
        return out

    monkeypatch.setattr(Reach, "strike", kept)
    model = box(law, 0.8, 0.3)
    model.transient_step(0.25, 2.5e-3, frames=0)
    step = solve(model).steps[0]
    report = step.report
    assert len(report.blows) > 10
    assert min(blow.loss for blow in report.blows) > -1e-12
    assert report.warnings == []
    assert energy_error(step) < 1e-12
    assert sum(blow.loss for blow in report.blows) == pytest.approx(step.ledger("dissipated")[-1], rel=0.05)
    assert len(momenta) > 3
    assert np.abs(momenta).max() < 1e-13


def test_zeros_of_functions_that_are_dear():
    """A parabola takes three values; no function takes many, and the last value is that at the zero."""
    for f, most in (
        (lambda x: 0.3 - x - 0.5 * x * x, 3), (lambda x: np.cos(1.4 * x) - 0.4, 7), (lambda x: 1e-9 - x**9, 60),
        (lambda x: 1.0 if x < 0.123 else -1.0, 60),
    ):  # fmt: skip
        tried = []
        x = zero(lambda x, f=f, tried=tried: tried.append(x) or f(x), 0.0, f(0.0), 1.0, f(1.0), 1e-14)
        assert f(x - 1e-12) > 0.0 > f(x + 1e-12)
        assert tried[-1] == x
        assert len(tried) <= most


def test_table_and_figure_of_blows(tmp_path):
    """The table shows the first blows and counts the others."""
    from rich.console import Console

    from fem_mbs.cli.report import blow_tables
    from fem_mbs.plot.figures import figure_jobs

    model = Model(2, "bounces", gravity=(0.0, -9.81))
    model.body("ball", (0.0, 0.02), mass=1.0, inertia=0.1)
    model.impact("floor", "ground", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.95)
    model.transient_step(1.9, 1e-2, frames=0)
    results = run(model, tmp_path / "out")
    blows = results.steps[0].report.blows
    assert len(blows) > 24
    (table,) = blow_tables(results.steps[0])
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(table)
    text = console.export_text()
    assert "floor: ball on ground" in text
    assert f"{blows[0].time:.9g}" in text
    assert f"... and {len(blows) - 24} more" in text
    jobs = [job for job in figure_jobs(results) if job.name.startswith("blows")]
    assert len(jobs) == 1
    assert jobs[0].draw(tmp_path / "blows.png").stat().st_size > 1000


def test_ledger_and_momenta_of_many_blows():
    step = solve(tumbling()).steps[0]
    report = step.report
    assert len(report.blows) > 10
    assert {b.ball for b in report.blows} == {"one", "two"}
    assert report.energy.closing_error_relative < 1e-9  # round-off of places over short legs
    assert report.constraint_error < 1e-12
    assert sum(b.loss for b in report.blows) <= report.energy.final["dissipated"] + 1e-4
    assert all(b.loss > -1e-12 for b in report.blows)
    two = [b for b in report.blows if b.impact == "floor" and b.ball == "two"]
    assert step.series["sensor/impulse"][-1, 0] == pytest.approx(sum(b.normal_impulse for b in two), rel=1e-12)
    assert all(set(b.joint_impulses) == {"knee"} for b in report.blows)


def test_momenta_over_a_blow_of_free_bodies():
    """Two spheres that meet eccentrically with friction keep all momenta; the ledger loses what the blow reports."""
    model = Model(3, "spheres")
    for name, x, v in (("one", (0.0, 0.0, 0.0), (1.0, 0.2, 0.0)), ("two", (0.3, 0.05, 0.02), (-0.5, 0.0, 0.3))):
        model.body(name, x, mass=1.0 if name == "one" else 3.0, inertia=(0.01, 0.02, 0.03))
        model.initial(name, velocity=v, spin=(3.0, -2.0, 5.0))
    model.impact("blow", "one", "two", surface="sphere", radius=0.1, ball=0.1, restitution=0.6, coefficient=0.4)
    model.transient_step(0.2, 1e-2, frames=0)
    step = solve(model).steps[0]
    (blow,) = step.report.blows
    momenta = np.column_stack([np.asarray(step.series[n]) for n in ("linear momentum", "angular momentum")])
    assert np.abs(momenta - momenta[0]).max() < 1e-12
    kinetic = step.ledger("kinetic")
    assert kinetic[0] - kinetic[-1] == pytest.approx(blow.loss, rel=1e-11)
    assert blow.friction_impulse > 0.0


@pytest.mark.parametrize("restart", [0, 1])
def test_restart_gives_the_same_bits(tmp_path, restart):
    whole = run(tumbling(restarts=2, frames=4), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(tumbling(restarts=2, frames=4), tmp_path / "copy", restart=restart)
    for kind in ("series", "frames"):
        left, right = (getattr(r.steps[0], kind) for r in (whole, again))
        for name in left:
            assert np.array_equal(np.asarray(left[name]), np.asarray(right[name]), equal_nan=True), name
    for key in ("blows", "impacts", "energy", "iterations"):
        assert whole.summary["steps"][0][key] == again.summary["steps"][0][key]


def test_results_do_not_depend_on_windows_of_steps(monkeypatch):
    from fem_mbs.analysis.blows import stepping

    one = solve(tumbling()).steps[0]
    monkeypatch.setattr(stepping, "_WINDOW", 5)
    monkeypatch.setattr(stepping, "_CHUNK", 7)
    two = solve(tumbling()).steps[0]
    for name in one.series:
        assert np.array_equal(np.asarray(one.series[name]), np.asarray(two.series[name]), equal_nan=True), name
    assert one.report.blows == two.report.blows


def test_an_event_of_a_sensor_between_blows():
    """Located within a step in which blows happen, too; blows before and after it are told."""
    model = falling(0.5)
    model.sensor("place", "position", on="ball")
    model.event("up", sensor="place.y", value=0.2, direction="falling", action="stop")
    model.transient_step(2.0, 0.1, frames=0)
    report = solve(model).steps[0].report
    assert report.events[0].time == pytest.approx(np.sqrt(2.0 * 0.8 / 9.81), rel=1e-12)
    assert report.blows == []


def test_rests_at_the_start_and_is_lifted():
    """A ball that lies there leaves when a force lifts it; the force is that of the weight before."""
    model = falling(0.5, (0.0, 0.0))
    model.sensor("force", "element", on="floor", quantity="normal force")
    model.sensor("place", "position", on="ball")
    model.force("lift", "ball", (0.0, 1.0), function="40*t")
    model.transient_step(1.0, 5e-3, frames=0)
    step = solve(model).steps[0]
    leaves = 2.0 * 9.81 / 40.0
    force = step.series["sensor/force"][1:, 0]
    middle = step.time[1:] - 2.5e-3
    assert np.abs(force - np.maximum(2.0 * 9.81 - 40.0 * middle, 0.0)).max() < 0.11  # one step at the release
    assert step.series["sensor/place"][-1, 1] == pytest.approx(40.0 / 2.0 * (1.0 - leaves) ** 3 / 6.0, rel=1e-4)
    assert step.report.blows == []


def test_static_friction_holds_longer():
    model = Model(2, "block", gravity=(0.0, -9.81))
    model.body("block", (0.0, 0.0), mass=1.0, inertia=0.1)
    model.fix("block", "rotation")
    model.impact(
        "floor", "ground", "block", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.0, coefficient=0.3, static=0.5
    )
    model.force("pull", "block", (1.0, 0.0), function="10*t")
    model.sensor("speed", "velocity", on="block")
    model.sensor("friction", "element", on="floor", quantity="friction force")
    model.transient_step(1.0, 2e-3, frames=0)
    step = solve(model).steps[0]
    slips = 0.5 * 9.81 / 10.0
    exact = 5.0 * (1.0 - slips**2) - 0.3 * 9.81 * (1.0 - slips)
    # the instant of slip is found to the middle of a step, where friction then falls by .2 m g
    assert step.series["sensor/speed"][-1, 0] == pytest.approx(exact, abs=2e-3 * 0.2 * 9.81)
    assert step.series["sensor/friction"][-1, 0] == pytest.approx(0.3 * 9.81, rel=1e-9)
    assert step.report.energy.closing_error_relative < 1e-12


def test_slip_that_ends_sticks():
    """A block on a slope goes up, stops and stays where the slope is less than the angle of friction."""
    slope, mu = 0.2, 0.4
    model = Model(2, "slope", gravity=(-9.81 * np.sin(slope), -9.81 * np.cos(slope)))
    model.node("block", (0.0, 0.0))
    model.point_mass("mass", "block", 1.0)
    model.initial("block", velocity=(2.0, 0.0))
    model.impact("slope", "ground", "block", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.0, coefficient=mu)
    model.sensor("place", "position", on="block")
    model.sensor("friction", "element", on="slope", quantity="friction force")
    model.transient_step(1.0, 1e-2, frames=0)
    step = solve(model).steps[0]
    brakes = 9.81 * (np.sin(slope) + mu * np.cos(slope))
    assert step.series["sensor/place"][-1, 0] == pytest.approx(2.0**2 / (2.0 * brakes), rel=1e-10)
    assert step.series["sensor/friction"][-1, 0] == pytest.approx(9.81 * np.sin(slope), rel=1e-6)


def test_a_flexible_beam_is_hit():
    """The blow finds the inverse mass of the beam's mass matrix; the beam vibrates on with all of the rest."""
    model = Model(2, "beam")
    model.material("steel", E=2.1e11, density=7800.0)
    model.section("bar", "rectangle", height=0.01, width=0.02)
    model.node("root", (0.0, 0.0))
    model.node("tip", (1.0, 0.0))
    model.beams("beam", ["root", "tip"], "bar", material="steel")
    model.fix("root")
    model.body("ball", (1.0, 0.05), mass=0.1, inertia=1e-4)
    model.initial("ball", velocity=(0.0, -1.0))
    model.impact("blow", "ball", "tip", surface="sphere", radius=0.04, ball=0.0, restitution=0.7)
    model.transient_step(0.02, 2e-4, frames=0)
    compiled = model.compile()
    report = solve(model).steps[0].report
    blow = report.blows[0]
    # independent of the blow: impulses by dense algebra with the assembled mass of the free dofs
    from fem_mbs.system.states import instant
    from fem_mbs.system.tangent import Level, Tangent

    system = compiled.system
    M = Tangent(system, instant(system, system.initial_state()), Level(np.zeros(len(compiled.functions)))).M
    free = np.flatnonzero(system.system.equation[: system.first_multiplier] >= 0)
    dense = np.asarray(M[free][:, free].todense())
    tip, ball = (system.offset[model.building.node_of(name, "")] + 1 for name in ("tip", "ball"))
    g = np.zeros(len(free))
    g[np.flatnonzero(free == ball)], g[np.flatnonzero(free == tip)] = 1.0, -1.0
    impulse = 1.7 / (g @ np.linalg.solve(dense, g))
    assert blow.normal_impulse == pytest.approx(impulse, rel=1e-11)
    assert blow.time == pytest.approx(0.01, rel=1e-12)
    assert report.energy.closing_error_relative < 1e-9


@pytest.mark.parametrize("surface", ["sphere", "cylinder", "capsule", "box", "triangles"])
def test_every_surface(surface):
    """A ball that falls on the top of a surface at z = 0 goes up again with half its speed."""
    model = Model(3, surface, gravity=(0.0, 0.0, -9.81))
    model.body("ball", (0.01, 0.02, 0.3), mass=1.0, inertia=np.full(3, 0.004))
    keys = {
        "sphere": {"radius": 100.0, "point": (0.01, 0.02, -100.0)},
        "cylinder": {"radius": 100.0, "point": (0.01, 0.02, -100.0), "axis": (1.0, 0.0, 0.0)},
        "capsule": {"radius": 2.0, "length": 3.0, "point": (0.0, 0.02, -2.0), "axis": (1.0, 0.0, 0.0)},
        "box": {"size": (1.0, 2.0, 0.5), "point": (0.0, 0.0, -0.25)},
        "triangles": {"triangles": {"shape": "box", "size": (1.0, 2.0, 0.5)}, "point": (0.0, 0.0, -0.25)},
    }[surface]
    model.impact("blow", "ground", "ball", surface=surface, ball=0.1, restitution=0.5, coefficient=0.2, **keys)
    model.transient_step(0.3, 1e-2, frames=0)
    report = solve(model).steps[0].report
    fall = np.sqrt(2.0 * 9.81 * 0.2)
    assert report.blows[0].time == pytest.approx(fall / 9.81, rel=1e-9)
    assert report.blows[0].separation == pytest.approx(0.5 * fall, rel=1e-9)


def test_a_driven_surface_gives_its_work():
    """A floor that a motion drives upwards: the ball takes energy from the driver, and the ledger closes."""
    model = Model(2, "driven floor")
    model.body("plate", (0.0, 0.0), mass=1.0, inertia=1.0)
    model.motion("up", on="plate", component="y", function="1.5*t")
    model.fix("plate", "x")
    model.fix("plate", "rotation")
    model.body("ball", (0.0, 0.3), mass=1.0, inertia=0.1)
    model.impact("floor", "plate", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.5)
    model.sensor("speed", "velocity", on="ball")
    model.transient_step(0.4, 1e-2, frames=0)
    step = solve(model).steps[0]
    assert step.series["sensor/speed"][-1, 1] == pytest.approx(1.5 * 1.5, rel=1e-12)
    assert step.report.energy.closing_error_relative < 1e-12
    assert step.ledger("driver work")[-1] == pytest.approx(1.5 * 2.25, rel=1e-12)  # impulse times speed


def test_a_gain_of_newtons_law_is_told():
    """Slip that reverses, as in the double pendulum of Kane: a warning names the pair and the remedy."""
    from fem_mbs.validation.pereira_nikravesh_1993_blows import build

    gain = solve(build("newton", 1.0, 0.6)).steps[0].report
    assert gain.blows[0].loss < 0.0
    assert "gains" in gain.warnings[0]
    assert 'law = "poisson"' in gain.warnings[0]
    assert solve(build("poisson", 1.0, 0.6)).steps[0].report.blows[0].loss > 0.0


def test_model_file_and_copies(tmp_path):
    """A model file holds all keys; a copy has an impact of its own."""
    model = falling(0.3, coefficient=0.2, static=0.3, law="stronge", least_speed=1e-3)
    model.transient_step(0.6, 1e-2, frames=0)
    path = tmp_path / "model.toml"
    write_model(model, path)
    same = solve(load_model(path)).steps[0].report
    assert same.blows == solve(model).steps[0].report.blows
    assert "[[impact]]" in path.read_text(encoding="utf-8")


# --- bad input -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"restitution": 1.2}, "restitution = 1.2 would gain energy"),
        ({"restitution": -0.1}, "restitution = -0.1"),
        ({"restitution": float("nan")}, "restitution = nan must be a finite number"),
        ({"position": (0.0, -0.01)}, '"ball" overlaps with the plane of "ground" at the start by 0.01'),
        ({"stiffness": 1e5}, 'unknown key "stiffness"'),
        ({"coefficient": -1.0}, "coefficient = -1"),
        ({"coefficient": 0.5, "static": 0.2}, "static = 0.2 is below coefficient = 0.5"),
        ({"law": "hertz"}, 'law = "hertz" must be one of'),
        ({"least_speed": -1.0}, "least_speed = -1"),
    ],
)
def test_bad_keys(keys, words):
    with pytest.raises(ModelError, match=words.replace("(", r"\(")):
        falling(**{"e": keys.pop("restitution", 0.5), **keys})


def test_blow_and_force_at_once():
    model = falling()
    model.contact("other", "ground", "ball", point=(0.0, 0.0), axis=(1.0, 0.0), stiffness=1e5, overlap=1.0)
    with pytest.raises(ModelError, match="the same pair has forces of contact and blows"):
        model.contact("soft", "ground", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=1e5)


def rod_over_ground(*laws: tuple[str, dict[str, Any]]) -> Model:
    """Beams above the ground, and contacts or impacts with it, each with changes of its keys."""
    model = Model(3)
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
    model.line("line", (0.03, 0.11, 0.2), (0.43, 0.19, 0.2), 3)
    model.beams("rod", "line", "rod")
    for kind, keys in laws:
        own = {"stiffness": 1e5} if kind == "contact" else {"restitution": 0.5}
        getattr(model, kind)(kind, "ground", keys.pop("on"), ball=0.02, **own, **keys)
    return model


@pytest.mark.parametrize("surface", ["plane", "triangles"])
@pytest.mark.parametrize("on", [{"on": "rod", "along": True}, {"on": "line:all"}], ids=["line", "nodes"])
@pytest.mark.parametrize("turned", [False, True], ids=["force first", "blow first"])
def test_blow_and_force_at_once_along_lines_and_on_triangles(surface, on, turned):
    """A node of a line is a ball, too; another offset of the surface is another pair."""

    def keys(height=0.0):
        place = {"point": (0.0, 0.0, height)}
        if surface == "plane":
            return place | {"axis": (0.0, 0.0, 1.0)}
        return place | {"surface": "triangles", "triangles": {"shape": "box", "size": (2.0, 2.0, 0.2)}}

    def laws(height=0.0):
        both = [("contact", on | keys()), ("impact", {"on": "line:all"} | keys(height))]
        return both[::-1] if turned else both

    rod_over_ground(*laws(-0.01))
    first, second = ('"impact', '"contact') if turned else ('"contact', '"impact')
    with pytest.raises(ModelError, match=f"forces of contact and blows, by {first}.* and {second}"):
        rod_over_ground(*laws())


@pytest.mark.parametrize(
    ("step", "options", "words"),
    [
        ("transient", {"duration": 1.0, "h": 0.01, "rule": "hht"}, 'impact "floor" is not for rule = "hht"'),
        ("transient", {"duration": 1.0, "h": 0.01, "rule": "explicit"}, 'is not for rule = "explicit"'),
        ("transient", {"duration": 1.0, "h": 0.01, "adaptive": 1e-5}, "makes its blows within equal steps"),
        ("static", {}, "acts by blows in time, which a step of type static"),
        ("modes", {"count": 1}, "a step of type modes does not have"),
    ],
)
def test_steps_that_cannot_do_it(step, options, words):
    model = falling()
    getattr(model, f"{step}_step")(**options)
    with pytest.raises(ModelError, match=words):
        solve(model)


def test_no_small_motions():
    model = falling()
    model.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match='impact "floor" has no small motions'):
        linearise(model)


def test_blows_without_loss_and_without_end(monkeypatch):
    """A ball that bounces for ever with far too long steps: an error that says so, not a run without end."""
    model = falling(1.0, (0.0, 1e-7))
    model.transient_step(10.0, 10.0, frames=0)
    from fem_mbs import AnalysisError
    from fem_mbs.analysis.blows import stepping

    monkeypatch.setattr(stepping, "_MOST", 30)
    with pytest.raises(AnalysisError, match=r"more than \d+ blows in the step"):
        solve(model)


@pytest.mark.parametrize("hit", [False, True])
def test_a_blow_elsewhere_leaves_a_vibrating_beam_its_energy(hit):
    """Rates of directors differ from w x d by h^2 in the mid-point rule; a blow changes them and resets none."""
    model = Model(3)
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
    model.line("rod", (0.0, -0.5, 1.0), (0.0, 0.5, 1.0), 5)
    model.beams("beam", "rod", "rod")
    model.fix("rod:start")
    model.initial("rod:end", velocity=(0.0, 0.0, -5.0))
    model.node("ball", (3.0, 0.0, 0.12))
    model.point_mass("mass", "ball", 1.0)
    model.initial("ball", velocity=(0.0, 0.0, -20.0))
    if hit:
        model.impact("floor", "ground", "ball", point=(3.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), restitution=0.5)
    model.transient_step(0.04, 5e-4, frames=0)
    step = solve(model).steps[0]
    assert energy_error(step) < 1e-13
    assert (step.ledger("dissipated")[-1] > 100.0) == hit


# --- tangential restitution ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_slip_that_is_given_back(law, dim, seed):
    """Equal coefficients turn the velocity round where friction suffices; less friction gives no more than its limit,
    and slip without e_t all through the blow stays what it is."""
    rng = np.random.default_rng(seed)
    A, v = inverse_mass(rng, dim)
    e = rng.uniform(0.1, 1.0)
    if -np.linalg.solve(A, v)[0] > 0.01 and -np.linalg.solve(A, v * np.r_[1.0 + e, np.ones(dim - 1)])[0] > 0.01:
        p, mode = single_blow(A, v, Blow(law, e, 1e3, 1e3, e))
        assert v + A @ p == pytest.approx(-e * v, abs=1e-9)
        assert mode == "reverse slip"
        assert lost(A, v, p) == pytest.approx(0.5 * (1.0 - e * e) * v @ np.linalg.solve(A, v), rel=1e-9)
    else:
        assert seed in (4, 6)  # where sticking would pull
    mu = rng.uniform(0.05, 0.6)
    plain, how = single_blow(A, v, Blow(law, e, mu, mu))
    p, mode = single_blow(A, v, Blow(law, e, mu, mu, 0.7))
    assert np.linalg.norm(p[1:]) <= mu * p[0] * (1.0 + 1e-9)
    if how == "slip":
        assert np.array_equal(p, plain)


@pytest.mark.parametrize("law", LAWS)
def test_several_blows_give_slip_back_together(law):
    """Of places that have nothing in common, like each alone."""
    A = np.kron(np.diag((1.0, 2.0)), np.diag((1.0, 3.5)))
    v = np.array([[-1.0, 0.6], [-0.5, -0.4]])
    blows = [Blow(law, 0.5, 2.0, 2.0, 0.8), Blow(law, 0.9, 2.0, 2.0, 0.3)]
    out = resolve(A, v, blows, np.zeros(2))
    assert out.speed == pytest.approx(np.array([[0.5, -0.48], [0.45, 0.12]]), abs=1e-12)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"tangential": 1.2, "coefficient": 0.3}, "tangential = 1.2 would gain energy; take a number between 0 and 1"),
        ({"tangential": 0.5}, "tangential = 0.5 needs friction, which gives slip back; give coefficient"),
        ({"tangential": -0.5, "coefficient": 0.3}, "tangential = -0.5"),
    ],
)
def test_wrong_tangential_restitution(law, words):
    with pytest.raises(ModelError, match=words):
        falling(**law)


# --- blows and the rest of the model ---------------------------------------------------------------------------------
def beam_that_falls(**law):
    model = Model(2, gravity=(0.0, -9.81))
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, rhoA=1.0, rhoI=1e-4)
    model.line("line", (-0.5, 0.01), (0.5, 0.03), 6)
    model.beams("beam", "line", "rod")
    model.impact("floor", "ground", "line:all", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=0.5, **law)
    model.initial("line:all", velocity=(0.5, 0.0))
    model.transient_step(0.06, 5e-4, frames=0)
    return model


@pytest.mark.parametrize("law", [{}, {"coefficient": 0.3, "tangential": 0.3}], ids=["smooth", "rough"])
def test_blows_on_nodes_of_a_beam_close_the_energy(law):
    """Its rates of directors are those of its steps: what they and the blow have in common is booked."""
    step = solve(beam_that_falls(**law)).steps[0]
    assert len(step.report.blows) > 10
    lost = step.ledger("dissipated")
    assert lost[-1] > 1e-3
    assert (np.diff(lost) >= -1e-10).all()
    assert energy_error(step) < 1e-10


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "free"])
def test_a_blow_passes_through_a_lock(locked):
    """A hinge that a lock holds makes one rod of two: closed forms of a blow with the effective mass of either."""
    model = Model(2)
    for name, x in (("a", -0.5), ("b", 0.5)):
        model.body(name, (x, 0.0), mass=1.0, inertia=1.0 / 12.0)
    model.joint("knee", "revolute", "a", "b", point=(0.0, 0.0))
    if locked:
        model.lock("hold", "knee")
    model.node("tip", (1.0, 0.0))
    model.coupling("end", "b", ["tip"])
    model.body("ball", (1.0, 0.25), mass=0.5, inertia=0.01)
    model.initial("ball", velocity=(0.0, -1.0))
    model.impact("hit", "ball", "tip", surface="sphere", radius=0.1, ball=0.1, restitution=0.6)
    model.sensor("ball", "velocity", on="ball")
    model.transient_step(0.07, 1e-3, frames=0)
    step = solve(model).steps[0]
    # 1/m of the tip: a rod of 2 kg and 2 m, or two rods of 1 kg and 1 m with a hinge (velocities by the impulse 1:
    # of the hinge 2 (b's other end), force there -1/2)
    tip = 0.5 + 1.5 if locked else 4.0 - 0.5
    mass = 1.0 / (2.0 + tip)
    assert step.series["sensor/ball"][-1, 1] == pytest.approx(-1.0 + 1.6 * mass / 0.5, abs=1e-6)
    assert step.ledger("dissipated")[-1] == pytest.approx(0.5 * mass * (1.0 - 0.36), rel=1e-9)
    assert energy_error(step) < 1e-12


def test_a_blow_at_the_start_is_made_there():
    model = falling(e=0.5, position=(0.0, 0.0))
    model.initial("ball", velocity=(0.0, -1.0))
    model.sensor("speed", "velocity", on="ball")
    model.transient_step(0.01, 1e-3, frames=0)
    step = solve(model).steps[0]
    (blow,) = step.report.blows
    assert blow.time == 0.0
    assert blow.separation == pytest.approx(0.5, abs=1e-12)
    assert step.series["sensor/speed"][-1, 1] == pytest.approx(0.5 - 0.0981, abs=1e-9)
    assert step.ledger("dissipated")[-1] == pytest.approx(0.5 * 2.0 * 0.75, rel=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_ball_falls_on_a_pile_at_rest(e):
    """The blow passes through what rests; without loss the ball above gets the speed back: closed form."""
    model = Model(2, gravity=(0.0, -9.81))
    names = [f"ball {k}" for k in range(4)]
    for k, name in enumerate(names):
        model.body(name, (0.0, 0.1 + 0.2 * k + (0.2 if k == 3 else 0.0)), mass=1.0, inertia=1.0)
    model.impact("floor", "ground", names[0], ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), restitution=e)
    model.impact("pile", names, names, surface="sphere", radius=0.1, ball=0.1, restitution=e)
    for name in names:
        model.sensor(name, "velocity", on=name)
    model.transient_step(0.25, 1e-3, frames=0)
    step = solve(model).steps[0]
    speed = np.sqrt(2.0 * 9.81 * 0.2)
    top = step.series[f"sensor/{names[3]}"][-1, 1]
    assert energy_error(step) < 1e-8
    if e == 1.0:
        assert top == pytest.approx(speed - 9.81 * (0.25 - speed / 9.81), abs=1e-6)
        assert step.ledger("dissipated")[-1] < 1e-9
    if e == 0.0:
        assert abs(top) < 1e-8
        assert step.ledger("dissipated")[-1] == pytest.approx(9.81 * 0.2, rel=1e-9)


@pytest.mark.parametrize(
    ("gradient", "kept", "axis"),
    [((0.1, -0.9, 0.3), 0, 1), ((0.1, -0.9, 0.3), 2, 1), ((0.6, -0.9, 0.3), 0, 0), ((0.0, 0.2, -1.0), 1, 2),
     ((-1.0, 0.0), 1, 0), ((0.8, 0.7), 1, 1)],
)  # fmt: skip
def test_the_axis_of_slip_is_the_nearest_to_the_normal_or_the_last_one(gradient, kept, axis):
    """The axis before stays while it is more than half as near."""
    memory = np.zeros((1, 20))
    memory[0, impact.AXIS] = kept
    impact._nearest_axis(memory, 0, np.array(gradient))
    assert memory[0, impact.AXIS] == axis
