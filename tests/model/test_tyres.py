"""Tyres: frames, flight, slip laws, roads, energy, copies, files, restarts, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import CASES
from places import ROOT
from scipy.integrate import quad
from scipy.linalg import eigvals, null_space
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from fem_mbs import linearise
from fem_mbs.analysis.run import run, solve
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.elements.tyres import tyre
from fem_mbs.elements.tyres.layout import ENTRIES, NUMBERS, RELAXATION, SLIP_LAW, TAIL
from fem_mbs.elements.tyres.slip import CURVES
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model

G, RADIUS, K, MASS = 9.81, 0.3, 2e5, 300.0
SINK = MASS * G / K
LAWS = {
    "linear": {"slip_stiffness": (6e4, 5e4)},
    "brush": {"slip_law": "brush", "slip_stiffness": (6e4, 5e4), "peak_load": 4000.0},
    "magic": {"slip_law": "magic", "magic_x": (11.0, 1.6, -0.2), "magic_y": (9.0, 1.3, -1.0)},
}
ALL = {"friction": (0.9, 0.8), "camber_thrust": 0.1, "trail": 0.03, "rolling_resistance": 0.015, "crown": 0.05}


def wheel(h=2e-3, duration=0.1, turn=None, velocity=(10.0, -0.5, 0.0), spin=(0.2, 30.0, 0.3), lean=0.05, **tyre):
    """Return a free wheel that slips, turned as a whole with road and weight by ``turn``; it leans about x."""
    R = np.eye(3) if turn is None else turn.as_matrix()
    model = Model(3, gravity=R @ (0.0, 0.0, -G))
    leaning = Rotation.from_rotvec((lean, 0.0, 0.0)).as_matrix()
    model.body(
        "wheel",
        R @ (0.0, 0.0, RADIUS * np.cos(lean) - SINK),
        MASS,
        (4.0, 6.0, 4.0),
        rotation=Rotation.from_matrix(R @ leaning).as_rotvec(),
    )
    law = LAWS["linear"] | {"damping": 0.05} | tyre
    model.tyre(
        "tyre",
        "wheel",
        axis=R @ leaning @ (0.0, 1.0, 0.0),
        radius=RADIUS,
        normal=R @ (0.0, 0.0, 1.0),
        stiffness=K,
        **law,
    )
    model.initial("wheel", velocity=R @ velocity, spin=R @ spin)
    for name in (
        "normal force",
        "longitudinal force",
        "lateral force",
        "aligning moment",
        "slip",
        "slip angle",
        "camber",
    ):
        model.sensor(name, "tyre", on="tyre", quantity=name)
    model.sensor("place", "position", on="wheel")
    model.sensor("velocity", "velocity", on="wheel")
    model.sensor("spin", "angular velocity", on="wheel")
    model.transient_step(duration, h, frames=0)
    return model


def last(solution, name, row=-1):
    return solution.steps[-1].series[f"sensor/{name}"][row]


def closing(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


@pytest.mark.parametrize("relaxation", [None, (0.3, 0.4)], ids=["no states", "states"])
@pytest.mark.parametrize("law", LAWS)
def test_energy_closes_and_tangents_are_exact(law, relaxation):
    model = wheel(**LAWS["linear"] | {"slip_stiffness": None} | LAWS[law], **ALL, relaxation=relaxation)
    solution = solve(model)
    assert closing(solution) < 1e-11
    assert solution.steps[0].series["ledger"][-1, 3] > 1.0
    # (at random velocities, most of them far from the kinks of the speed of transport)
    assert max(tangent_check(model, 2e-4, size=0.01, seed=k).error for k in (0, 2, 5)) < 1e-8


@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
def test_a_turned_world_is_the_same(relaxation):
    """Road, weight, wheel and motion turned as a whole: the results are turned."""
    turn = Rotation.from_rotvec((0.4, -1.1, 0.7))
    found = [solve(wheel(turn=t, relaxation=relaxation, **ALL)) for t in (None, turn)]
    for name in (
        "normal force",
        "longitudinal force",
        "lateral force",
        "aligning moment",
        "slip",
        "slip angle",
        "camber",
    ):
        a, b = (last(s, name) for s in found)
        assert b == pytest.approx(a, rel=1e-9, abs=1e-9), name
    for name in ("place", "velocity", "spin"):
        a, b = (last(s, name) for s in found)
        np.testing.assert_allclose(b, turn.apply(a), rtol=1e-9, atol=1e-9)


def test_mirrored_motion_has_mirrored_forces():
    """About the plane through the direction of travel: side forces, aligning moments and cambers change their signs."""
    a = solve(wheel(**ALL))
    b = solve(wheel(velocity=(10.0, 0.5, 0.0), spin=(-0.2, 30.0, -0.3), lean=-0.05, **ALL))
    signs = {
        "normal force": 1,
        "longitudinal force": 1,
        "slip": 1,
        "lateral force": -1,
        "aligning moment": -1,
        "camber": -1,
    }
    for name, sign in signs.items():
        assert last(b, name) == pytest.approx(sign * last(a, name), rel=1e-9), name
        assert abs(last(a, name)) > 1e-4, name


def instant(kappa=0.0, side=0.0, lean=0.0, load=3000.0, **tyre):
    """Return forces and moment of a wheel in its first microsecond, by their names."""
    model = Model(3)
    leaning = Rotation.from_rotvec((lean, 0.0, 0.0))
    model.body("wheel", (0.0, 0.0, RADIUS * np.cos(lean) - load / K), 1e6, (1e6, 1e6, 1e6), rotation=(lean, 0.0, 0.0))
    model.tyre(
        "tyre", "wheel", axis=leaning.apply((0.0, 1.0, 0.0)), radius=RADIUS, rolling_radius=RADIUS, stiffness=K,
        friction=10.0, slip_stiffness=(6e4, 5e4), **tyre,
    )  # fmt: skip
    spin = 20.0 * (1.0 + kappa) / RADIUS
    model.initial("wheel", velocity=(20.0, -20.0 * side, 0.0), spin=leaning.apply((0.0, spin, 0.0)))
    names = ("normal force", "longitudinal force", "lateral force", "aligning moment")
    for name in names:
        model.sensor(name, "tyre", on="tyre", quantity=name)
    model.transient_step(1e-6, 1e-6, frames=0)
    solution = solve(model)
    return {name: last(solution, name)[0] for name in names}


def test_signs_and_slopes_of_the_forces():
    """A fast spin pushes forward, a velocity to the right pushes to the left and turns the wheel to the right, a wheel
    that leans to the right pushes to the right."""
    assert instant(kappa=0.01)["longitudinal force"] == pytest.approx(600.0, rel=1e-6)
    right = instant(side=0.01, trail=0.04)
    assert right["lateral force"] == pytest.approx(500.0, rel=1e-6)
    q = 500.0 / (3.0 * 10.0 * 3000.0)
    trail = 0.04 * (1.0 - q) ** 3 / (1.0 - q + q * q / 3.0)
    assert right["aligning moment"] == pytest.approx(-500.0 * trail, rel=1e-4)  # (slip_speed)
    lean = instant(lean=0.1, camber_thrust=0.2)
    assert lean["lateral force"] == pytest.approx(-0.2 * 5e4 * np.sin(0.1), rel=1e-6)
    assert lean["normal force"] == pytest.approx(3000.0, rel=1e-9)


@pytest.mark.parametrize("load", [1000.0, 4000.0, 9000.0])
def test_slip_stiffness_is_largest_at_the_peak_load(load):
    stiffness = 6e4 * np.sin(2.0 * np.arctan(load / 4000.0))
    assert instant(kappa=0.01, load=load, peak_load=4000.0)["longitudinal force"] == pytest.approx(
        0.01 * stiffness, rel=1e-6
    )


def test_rolling_backwards():
    """The same slips backwards: the longitudinal force of the turned wheel, whose trail is behind again."""
    turned = Rotation.from_rotvec((0.0, 0.0, np.pi))
    a = solve(wheel(lean=0.0, spin=(0.0, 30.0, 0.0), trail=0.03, camber_thrust=0.0))
    b = solve(wheel(lean=0.0, spin=(0.0, -30.0, 0.0), trail=0.03, velocity=turned.apply((10.0, -0.5, 0.0))))
    for name in ("longitudinal force", "lateral force"):
        assert last(b, name) == pytest.approx(-last(a, name), rel=1e-9)
    assert last(b, "aligning moment") == pytest.approx(last(a, "aligning moment"), rel=1e-9)


@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
def test_no_force_off_the_road(relaxation):
    model = Model(3, gravity=(0.0, 0.0, -G))
    model.body("wheel", (0.0, 0.0, 2.0), MASS, (4.0, 6.0, 4.0))
    model.tyre(
        "tyre", "wheel", axis=(0.0, 1.0, 0.0), radius=RADIUS, stiffness=K, relaxation=relaxation, **LAWS["linear"]
    )
    model.initial("wheel", velocity=(5.0, 1.0, 0.0), spin=(0.0, 70.0, 0.0))
    model.sensor("velocity", "velocity", on="wheel")
    model.sensor("spin", "angular velocity", on="wheel")
    model.transient_step(0.2, 0.01, frames=0)
    solution = solve(model)
    np.testing.assert_allclose(last(solution, "velocity"), (5.0, 1.0, -0.2 * G), atol=1e-10)
    np.testing.assert_allclose(last(solution, "spin"), (0.0, 70.0, 0.0), atol=1e-9)


@pytest.mark.parametrize("lean", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("crown", [0.0, 0.1])
def test_elastic_bounce_keeps_its_energy(lean, crown):
    """Without damping and friction a leaning wheel that falls and bounces loses nothing, at large steps."""
    model = wheel(5e-3, 1.0, lean=lean, crown=crown, friction=1e-12, damping=0.0, velocity=(3.0, 0.0, -1.0))
    solution = solve(model)
    total = solution.steps[0].series["ledger"][:, :3].sum(axis=1)
    assert np.ptp(total) < 1e-10 * np.abs(total).max()
    assert np.nanmin(solution.steps[0].series["sensor/normal force"]) == 0.0


def test_friction_ellipse_bounds_the_forces():
    mu = (0.9, 0.8)
    for law in CURVES:
        solution = solve(
            wheel(
                2e-3, 0.02, **LAWS["linear"] | {"slip_stiffness": None} | LAWS[law], friction=mu, spin=(0.0, 10.0, 0.0)
            )
        )
        N, x, y = (last(solution, n)[0] for n in ("normal force", "longitudinal force", "lateral force"))
        size = np.hypot(x / mu[0], y / mu[1]) / N
        assert 0.7 < size < 1.0 + 1e-12, law


def test_steady_slips_need_no_states():
    """Rolled far in a frame that holds its slips, deflections give the forces of a tyre without."""
    forces = []
    for relaxation in (None, (0.2, 0.3)):
        model = Model(3)
        model.body("wheel", (0.0, 0.0, RADIUS - SINK), 1e12, (1e12, 1e12, 1e12))
        model.tyre(
            "tyre",
            "wheel",
            axis=(0.0, 1.0, 0.0),
            radius=RADIUS,
            stiffness=K,
            relaxation=relaxation,
            slip_law="brush",
            slip_stiffness=(6e4, 5e4),
            friction=0.9,
            camber_thrust=0.2,
        )
        model.initial("wheel", velocity=(10.0, -0.5, 0.0), spin=(0.0, 36.0, 0.0))
        for name in ("longitudinal force", "lateral force"):
            model.sensor(name, "tyre", on="tyre", quantity=name)
        model.transient_step(1.0, 5e-3, frames=0)
        solution = solve(model)
        forces.append([last(solution, name)[0] for name in ("longitudinal force", "lateral force")])
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-5)


@pytest.mark.parametrize("relaxation", [None, 0.3], ids=["no states", "states"])
def test_brush_of_large_theoretical_slip(relaxation):
    """The brush model's force at a slip between zero and sliding: mu N (1 - (1 - q)^3), q = K s/(3 mu N)."""
    model = Model(3)
    model.body("wheel", (0.0, 0.0, RADIUS - SINK), 1e12, (1e12, 1e12, 1e12))
    model.tyre(
        "tyre",
        "wheel",
        axis=(0.0, 1.0, 0.0),
        radius=RADIUS,
        rolling_radius=RADIUS,
        stiffness=K,
        relaxation=relaxation,
        slip_law="brush",
        slip_stiffness=6e4,
        friction=0.9,
    )
    model.initial("wheel", velocity=(10.0, 0.0, 0.0), spin=(0.0, 10.5 / RADIUS, 0.0))
    model.sensor("force", "tyre", on="tyre", quantity="longitudinal force")
    model.transient_step(1.0, 1e-2, frames=0)
    N, slip = K * SINK, 0.5 / 10.5
    q = 6e4 * slip / (3.0 * 0.9 * N)
    assert last(solve(model), "force")[0] == pytest.approx(0.9 * N * (1.0 - (1.0 - q) ** 3), rel=1e-5)


def test_statics_stand_on_the_tyre():
    """Weight and vertical stiffness in equilibrium; along the road something else must hold the wheel."""
    for relaxation in (None, 0.3):
        model = Model(3, gravity=(0.0, 0.0, -G))
        model.body("wheel", (0.0, 0.0, RADIUS - 1e-4), MASS, (4.0, 6.0, 4.0))
        model.fix("wheel", ["x", "y", "rotation x", "rotation y", "rotation z"])
        model.tyre(
            "tyre",
            "wheel",
            axis=(0.0, 1.0, 0.0),
            radius=RADIUS,
            relaxation=relaxation,
            slip_stiffness=5e4,
            table=[(0.0, 0.0), (0.005, 500.0), (0.03, 6000.0)],
        )
        model.sensor("depth", "tyre", on="tyre", quantity="penetration")
        model.static_step()
        depth = brentq(lambda y: np.interp(y, (0.0, 0.005, 0.03), (0.0, 500.0, 6000.0)) - MASS * G, 0.0, 0.03)
        assert last(solve(model), "depth")[0] == pytest.approx(depth, rel=1e-8)


def test_poles_of_a_standing_wheel():
    """Small motions swing on the carcass, K/S along and across the wheel, and on the vertical stiffness."""
    model = Model(3, gravity=(0.0, 0.0, -G))
    model.body("wheel", (0.0, 0.0, RADIUS - SINK), MASS, (4.0, 6.0, 4.0))
    model.fix("wheel", ["rotation x", "rotation y", "rotation z"])
    model.tyre(
        "tyre",
        "wheel",
        axis=(0.0, 1.0, 0.0),
        radius=RADIUS,
        stiffness=K,
        relaxation=(0.2, 0.4),
        slip_stiffness=(6e4, 5e4),
    )
    model.transient_step(1e-3, 1e-3, frames=0)
    model.complex_modes_step(count=4)
    found = np.array(solve(model).steps[-1].summary["eigenvalues"])
    swings = np.sort(found[found[:, 1] > 1.0, 1])
    np.testing.assert_allclose(swings, np.sqrt(np.array((5e4 / 0.4, K, 6e4 / 0.2)) / MASS), rtol=1e-8)
    assert np.abs(found[:, 0]).max() < 1e-5


def test_poles_of_a_car_that_runs_straight(tmp_path):
    """All poles of the example, most of whose unknowns nothing holds, are those of its matrices by LAPACK."""
    text = (ROOT / "examples/lane_change/model.toml").read_text(encoding="utf-8")
    text = text.replace("rolling_resistance = 0.012", "").replace("duration = 5.0", "duration = 0.005")
    path = tmp_path / "car.toml"
    path.write_text(text, encoding="utf-8")
    lin = linearise(load_model(path))
    Z = null_space(lin.G.toarray())
    M, C, K = (Z.T @ a.toarray() @ Z for a in (lin.M, lin.C, lin.K))
    one, none = np.eye(len(M)), np.zeros_like(M)
    p = eigvals(np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]]))
    p = p[np.isfinite(p) & (np.abs(p) > 0.1) & (np.abs(p) < 1e6) & (p.imag >= 0.0)]
    model = load_model(path)
    model.complex_modes_step(count=24)
    found = np.array(solve(model).steps[-1].summary["eigenvalues"]) @ (1.0, 1j)
    found = found[np.abs(found) > 0.1]
    assert len(found) == len(p) == 16
    for q in p:
        assert np.abs(found - q).min() < 1e-6 * abs(q)


def test_a_wheel_comes_to_rest_and_stays():
    """Braked to a stop, a wheel springs back by the deflection of its carcass and no farther."""
    model = Model(3, gravity=(0.0, 0.0, -G))
    model.body("wheel", (0.0, 0.0, RADIUS - SINK), MASS, (4.0, 6.0, 4.0))
    model.fix("wheel", ["rotation x", "rotation y", "rotation z"])
    model.tyre(
        "tyre",
        "wheel",
        axis=(0.0, 1.0, 0.0),
        radius=RADIUS,
        stiffness=K,
        relaxation=0.3,
        retardation=0.02,
        friction=0.8,
        slip_stiffness=6e4,
    )
    model.initial("wheel", velocity=(2.0, 0.0, 0.0))
    model.sensor("place", "position", on="wheel")
    model.sensor("velocity", "velocity", on="wheel")
    model.transient_step(3.0, 2e-3, frames=0)
    solution = solve(model)
    x = solution.steps[0].series["sensor/place"][:, 0]
    braking = 2.0**2 / (2.0 * 0.8 * G)
    assert x.max() == pytest.approx(braking, abs=0.3 * 0.8 * MASS * G / 6e4)
    assert 0.0 < x.max() - x[-1] < 0.3 * 0.8 * MASS * G / 6e4
    assert np.linalg.norm(last(solution, "velocity")) < 1e-4


def test_a_spin_speeds_up_no_deflection_in_the_air():
    """A wheel that skids off an edge forgets its deflection: it lands as a new one."""
    model = wheel(2e-3, 0.4, relaxation=0.3, lean=0.0, velocity=(10.0, 0.0, 3.0), spin=(0.0, 10.0, 0.0), friction=0.1)
    model.sensor("deflection", "state", on="tyre", state="deflection x")
    solution = solve(model)
    normal = solution.steps[0].series["sensor/normal force"][:, 0]
    flying = np.flatnonzero(normal == 0.0)[-1]
    assert abs(last(solution, "deflection", flying)[0]) < 1e-4


def test_rough_road_along_a_direction():
    """The height counts along its direction, and the wheel climbs it."""
    heights = []
    for heading in (0.0, 0.5 * np.pi):
        turn = Rotation.from_rotvec((0.0, 0.0, heading))
        model = Model(3, gravity=(0.0, 0.0, -G))
        model.body("wheel", (0.0, 0.0, RADIUS - SINK), MASS, (4.0, 6.0, 4.0))
        model.fix("wheel", ["rotation x", "rotation z"]) if not heading else None
        model.tyre(
            "tyre",
            "wheel",
            axis=turn.apply((0.0, 1.0, 0.0)),
            radius=RADIUS,
            stiffness=1e7,
            damping=0.5,
            slip_stiffness=6e4,
            profile={"kind": "table", "times": [0.0, 2.0, 6.0, 10.0], "values": [0.0, 0.0, 0.1, 0.1]},
            length=10.0,
            along=(1.0, 0.0, 0.0),
        )
        model.initial("wheel", velocity=turn.apply((4.0, 0.0, 0.0)), spin=turn.apply((0.0, 4.0 / RADIUS, 0.0)))
        model.sensor("place", "position", on="wheel")
        model.transient_step(1.9, 1e-3, frames=0)
        heights.append(last(solve(model), "place")[2])
    assert heights[0] == pytest.approx(RADIUS + 0.1, abs=0.01)
    assert heights[1] == pytest.approx(RADIUS, abs=0.01)


def test_copies_roll_on_the_same_road():
    """An image and a shifted copy give what wheels written by hand give."""

    def pair(copied):
        model = Model(3, gravity=(0.0, 0.0, -G))
        sides = (1.0,) if copied else (1.0, -1.0)
        for side in sides:
            name = "" if side > 0 else " copy"
            model.body(f"wheel{name}", (0.0, side, RADIUS - SINK), MASS, (4.0, 6.0, 4.0))
            model.tyre(
                f"tyre{name}",
                f"wheel{name}",
                axis=(0.0, 1.0, 0.0),
                radius=RADIUS,
                stiffness=K,
                trail=0.02,
                relaxation=0.3,
                profile="0.01*sin(2*t)",
                length=8.0,
                along=(1.0, 0.0, 0.0),
                **LAWS["linear"],
            )
        if copied:
            model.copy(["wheel", "tyre"], mirror={"normal": (0.0, 1.0, 0.0)})
        for side, name in ((1.0, "wheel"), (-1.0, "wheel copy")):
            model.initial(name, velocity=(6.0, -0.3 * side, 0.0), spin=(0.0, 20.0, 0.0))
            model.sensor(name, "position", on=name)
        model.sensor("side", "tyre", on="tyre", quantity="lateral force")
        model.sensor("side copy", "tyre", on="tyre copy", quantity="lateral force")
        model.transient_step(0.2, 2e-3, frames=0)
        return solve(model)

    a, b = pair(True), pair(False)
    for name in ("wheel", "wheel copy", "side", "side copy"):
        np.testing.assert_allclose(last(a, name), last(b, name), rtol=1e-12)
    assert last(a, "side copy") == pytest.approx(-last(a, "side"), rel=1e-9)


TEXT = """
title = "wheel"
dimension = 3
gravity = [0, 0, -9.81]

[function.bumps]
kind = "random"
frequencies = [0.1, 1.0, 4.0]
densities = [1e-4, 1e-4, 1e-6]
lines = 50
seed = 3

[[body]]
name = "wheel"
position = [0.0, 0.0, 0.28]
mass = 300.0
inertia = [4.0, 6.0, 4.0]

[[tyre]]
name = "tyre"
wheel = "wheel"
axis = [0, 1, 0]
radius = 0.3
stiffness = 2e5
damping = 0.01
slip_law = "magic"
magic_x = [11.0, 1.6, -0.2]
magic_y = [9.0, 1.3, -1.0]
friction = [0.9, 0.8]
relaxation = [0.3, 0.4]
profile = "bumps"
length = 5.0
spacing = 0.05

[[initial]]
on = "wheel"
velocity = [8.0, -0.3, 0.0]
spin = [0.0, 25.0, 0.0]

[[sensor]]
name = "slip"
kind = "tyre"
on = "tyre"
quantity = "slip angle"

[[step]]
type = "transient"
duration = 0.2
h = 2e-3
restarts = 2
"""


def test_file_round_trip_and_restart(tmp_path):
    path, again = tmp_path / "wheel.toml", tmp_path / "again.toml"
    path.write_text(TEXT, encoding="utf-8")
    whole = run(load_model(path), tmp_path / "out").sensor("slip").values
    write_model(load_model(path), again)
    np.testing.assert_array_equal(run(load_model(again), tmp_path / "out2").sensor("slip").values, whole)
    np.testing.assert_array_equal(run(load_model(path), tmp_path / "out", restart=0).sensor("slip").values, whole)
    assert np.abs(whole[1:]).max() > 0.01


def test_carcass_holds_the_work_along_the_ray_to_its_deflection():
    """Below the friction the linear law is F_i = K_i t u_i/S_i g(t x), x = |K_i u_i/(S_i mu_i N)|: int F.du in closed
    form but for one integral, which scipy evaluates."""
    par = np.array([CASES["relaxing_tyre3"]["linear"].par(np.random.default_rng(1))], float)
    stiffness, depth, u = par[0, 0], 1.3, np.array([14.0, -9.0])
    N = stiffness * depth
    mu, K = (par[0, SLIP_LAW + first : SLIP_LAW + first + 2] for first in (2, 4))
    per_length = K * u / par[0, RELAXATION : RELAXATION + 2]
    x = np.linalg.norm(per_length / (mu * N))
    assert 0.3 < x < 0.6  # far from a straight line, and no sliding
    mean = quad(lambda t: t * (1.0 + (t * x) ** 4 / (1.0 - t * x)), 0.0, 1.0, epsabs=1e-14)[0]
    found = tyre._carcass(par, 0, TAIL, depth, u, np.zeros((NUMBERS, ENTRIES)), np.zeros((5, ENTRIES)))
    assert found == pytest.approx(mean * (per_length @ u), rel=1e-7)


MISTAKES = {
    "below": ({"road": (0.0, 0.0, 1.0)}, "the centre of the wheel is 0.714715 m below the road"),
    "axis": ({"axis": (0.0, 0.0, 0.0)}, "axis \\(0.0, 0.0, 0.0\\) has no length"),
    "flat": ({"axis": (0.0, 0.0, 1.0)}, "the wheel lies flat"),
    "no stiffness": ({"stiffness": None}, "it has no normal force"),
    "no slips": ({"slip_stiffness": None}, 'slip_law = "linear" needs slip_stiffness'),
    "no magic": (
        {"slip_law": "magic", "slip_stiffness": None, "magic_x": (9.0, 1.3, 0.0)},
        'slip_law = "magic" needs magic_y',
    ),
    "no load": (
        {
            "slip_law": "magic",
            "slip_stiffness": None,
            "magic_x": (9.0, 1.3, 0.0),
            "magic_y": (9.0, 1.3, 0.0),
            "peak_load": 1.0,
        },
        'slip_law = "magic" has no peak_load',
    ),
    "magic": (
        {"slip_law": "magic", "slip_stiffness": None, "magic_x": (9.0, 1.3), "magic_y": (9.0, 1.3, 0.0)},
        "must be \\[B, C, E\\]",
    ),
    "pair": ({"friction": (1.0, -1.0)}, "friction = .* must be one or two positive numbers"),
    "crown": ({"crown": 0.4}, "crown = 0.4 must be less than radius"),
    "retardation": ({"retardation": 0.1}, "retardation belongs to relaxation"),
    "length": ({"profile": "t"}, "a profile needs its length"),
    "spacing": ({"spacing": 0.1}, "spacing belongs to a profile"),
    "fine": ({"profile": "t", "length": 1e4, "spacing": 1e-3}, "more than 50000 places"),
    "ground": ({"wheel": "ground", "point": (0.0, 0.0, 1.0)}, '"ground" is no wheel'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    given, message = MISTAKES[mistake]
    model = Model(3)
    model.body("wheel", (0.0, 0.0, RADIUS - SINK), MASS, (4.0, 6.0, 4.0))
    keys = {"wheel": "wheel", "axis": (0.0, 1.0, 0.0), "radius": RADIUS, "stiffness": K, **LAWS["linear"]} | given
    with pytest.raises(ModelError, match=message) as caught:
        model.tyre("tyre", **keys)
    assert 'Tyre "tyre"' in str(caught.value)


def test_tyres_are_for_space():
    model = Model(2)
    model.body("wheel", (0.0, 0.3), MASS, 6.0)
    with pytest.raises(ModelError, match="a tyre is for models in space"):
        model.tyre("tyre", "wheel", axis=(0.0, 1.0), radius=RADIUS, stiffness=K, slip_stiffness=1e4)
