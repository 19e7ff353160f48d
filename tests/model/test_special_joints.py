"""Guided points, links, constant velocity, screws, gears: what they couple, drive and keep."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, load_model, solve
from fem_mbs.analysis.start.initial import consistent_velocities, initial_accelerations
from fem_mbs.analysis.transient.watch import Watcher
from fem_mbs.validation.case import constancy, energy_error

X, Y, Z = np.eye(3)


def two_wheels(axis_b=Z, **spins) -> Model:
    """Two wheels on axles in the ground, along z and along ``axis_b``."""
    model = Model(3)
    model.body("a", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.2, 0.2, 0.3))
    model.body("b", (1.0, 0.0, 0.0), mass=1.0, inertia=(0.2, 0.25, 0.08))
    model.joint("axle a", "revolute", "ground", "a", point=(0.0, 0.0, 0.0), axis=Z)
    model.joint("axle b", "revolute", "ground", "b", point=(1.0, 0.0, 0.0), axis=axis_b)
    for name, joint in (("angle a", "axle a"), ("angle b", "axle b")):
        model.sensor(name, "joint", on=joint)
    return model


@pytest.mark.parametrize(("ratio", "axis_b"), [(-0.4, Z), (2.5, Y)])
def test_gears_share_a_torque(ratio, axis_b):
    """J_a + ratio^2 J_b turns under the torque on a, over many turns."""
    model = two_wheels(axis_b)
    model.gear("gear", "axle a", "axle b", ratio)
    model.moment("M", "a", (0.0, 0.0, 2.0))
    model.sensor("teeth", "reaction", on="gear")
    model.transient_step(4.0, 0.002, frames=0)
    solution = solve(model)
    step = solution.steps[0]
    inertia = 0.3 + ratio**2 * (0.08 if axis_b is Z else 0.25)
    a, b = solution.steps[-1].series["sensor/angle a"][:, 0], solution.steps[-1].series["sensor/angle b"][:, 0]
    assert a == pytest.approx(step.time**2 / inertia, rel=3e-4)
    assert max(a[-1], abs(b[-1])) > 2.0 * np.pi
    assert b == pytest.approx(ratio * a, rel=1e-11, abs=1e-12)
    assert energy_error(step) < 1e-11
    on_a, on_b = solution.steps[-1].series["sensor/teeth"][100, :2]  # moments on the wheels' coordinates
    assert on_b == pytest.approx((inertia - 0.3) / ratio * 2.0 / inertia, rel=1e-4)
    assert on_a == pytest.approx(-ratio * on_b, rel=1e-9)


def test_rack_and_pinion():
    """A pinion of radius r drives a rack: acceleration M/r/(m + J/r^2)."""
    model = Model(3)
    model.body("pinion", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.2, 0.2, 0.3))
    model.body("rack", (0.0, 0.2, 0.0), mass=1.5, inertia=(0.1, 0.1, 0.1))
    model.joint("axle", "revolute", "ground", "pinion", point=(0.0, 0.0, 0.0), axis=Z)
    model.joint("rail", "prismatic", "ground", "rack", point=(0.0, 0.2, 0.0), axis=X)
    model.gear("teeth", "axle", "rail", -0.2)
    model.moment("M", "pinion", (0.0, 0.0, 0.7))
    model.sensor("way", "joint", on="rail")
    model.transient_step(3.0, 0.01, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    assert solution.sensor("way").values[:, 0] == pytest.approx(-0.5 * 0.7 / 0.2 / (1.5 + 0.3 / 0.04) * t**2, rel=2e-4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rope_over_a_pulley(dimension):
    """Atwood's machine: (m2 - m1) g/(m1 + m2)."""
    down = -np.eye(dimension)[1]
    model = Model(dimension, gravity=9.81 * down)
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    for k, mass in enumerate((1.0, 1.5)):
        model.body(f"{k}", np.eye(dimension)[0] * k, mass=mass, inertia=inertia)
        model.joint(f"rail {k}", "prismatic", "ground", f"{k}", point=np.eye(dimension)[0] * k, axis=-down)
    model.gear("rope", "rail 0", "rail 1", -1.0)
    model.sensor("way", "joint", on="rail 0")
    model.transient_step(2.0, 0.01, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    assert solution.sensor("way").values[:, 0] == pytest.approx(0.5 * 9.81 * 0.2 * t**2, rel=1e-9, abs=1e-13)


def test_gears_in_the_plane():
    model = Model(2)
    for name, x, J in (("a", 0.0, 0.3), ("b", 1.0, 0.08)):
        model.body(name, (x, 0.0), mass=1.0, inertia=J)
        model.joint(f"axle {name}", "revolute", "ground", name, point=(x, 0.0))
        model.sensor(name, "joint", on=f"axle {name}")
    model.gear("gear", "axle a", "axle b", -2.5)
    model.moment("M", "a", 2.0)
    model.transient_step(4.0, 0.002, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    assert solution.steps[-1].series["sensor/a"][:, 0] == pytest.approx(t**2 / (0.3 + 6.25 * 0.08), rel=3e-4)
    assert solution.steps[-1].series["sensor/b"] == pytest.approx(
        -2.5 * solution.steps[-1].series["sensor/a"], rel=1e-12, abs=1e-13
    )
    assert energy_error(solution.steps[0]) < 1e-11


def test_planets_keep_momentum():
    """Gears between bodies that move freely: energy and both momenta."""
    model = Model(3)
    model.body("carrier", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.3, 0.4, 0.5))
    for name, x, axis in (("sun", 0.0, Z), ("planet", 0.7, (0.0, 0.3, 1.0))):
        model.body(name, (x, 0.0, 0.1), mass=1.0, inertia=(0.1, 0.12, 0.2))
        model.joint(f"axle {name}", "revolute", "carrier", name, point=(x, 0.0, 0.1), axis=axis)
    model.gear("teeth", "axle sun", "axle planet", -1.7)
    model.initial("all", velocity=(0.1, 0.2, -0.1), spin=(0.4, -0.3, 0.8))
    model.initial_speed("sun", "rotation", 3.0, against="carrier", axis=Z)
    model.sensor("sun", "joint", on="axle sun")
    model.sensor("planet", "joint", on="axle planet")
    model.transient_step(20.0, 0.02, frames=0)
    solution = solve(model)
    step = solution.steps[0]
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11
    assert solution.sensor("planet").values == pytest.approx(-1.7 * solution.sensor("sun").values, abs=1e-10)
    assert abs(solution.sensor("sun").values[-1, 0]) > 6.0 * np.pi


def test_a_nut_on_a_screw():
    """Under its weight along the axis: m g = (m + J (2 pi/lead)^2) s''."""
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.body("nut", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.004))
    model.joint("screw", "screw", "ground", "nut", point=(0.0, 0.0, 0.0), axis=Z, lead=0.1)
    model.sensor("way", "joint", on="screw", quantity="displacement")
    model.sensor("angle", "joint", on="screw", quantity="angle")
    model.transient_step(2.0, 0.001, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    way = -0.5 * 9.81 * 2.0 / (2.0 + 0.004 * (20.0 * np.pi) ** 2) * t**2
    assert solution.sensor("way").values[:, 0] == pytest.approx(way, rel=1e-3)
    assert solution.sensor("angle").values == pytest.approx(
        20.0 * np.pi * solution.sensor("way").values, rel=1e-11, abs=1e-12
    )


def test_shafts_of_a_constant_velocity_joint_turn_alike():
    """Through a bend of 50 degrees, where a universal joint swings by tan^2/2."""
    bend = np.radians(50.0)
    other = np.array((np.cos(bend), np.sin(bend), 0.0))
    angles = {}
    for kind in ("constant_velocity", "universal"):
        model = Model(3)
        model.body("in", (-1.0, 0.0, 0.0), mass=1.0, inertia=(0.2, 0.3, 0.3))
        model.body("out", tuple(other), mass=1.0, inertia=(0.2, 0.2, 0.2))
        model.joint("drive", "revolute", "ground", "in", point=(-1.0, 0.0, 0.0), axis=X, function="5*t**2")
        # the joint holds one point of the shaft, a ring another: no bearing says anything twice
        model.joint("ring", "point_on_line", "ground", "out", point=other, axis=other)
        if kind == "universal":
            options = {"axis": Z, "axis_b": np.cross(Z, other)}
        else:
            options = {"axis": X, "axis_b": other}
        model.joint("joint", kind, "in", "out", point=(0.0, 0.0, 0.0), **options)
        model.sensor("in", "joint", on="drive")
        model.sensor("out", "rotation", on="out")
        model.transient_step(2.0, 0.005, frames=0)
        solution = solve(model)
        angles[kind] = (
            solution.steps[-1].series["sensor/in"][:, 0],
            np.unwrap(solution.steps[-1].series["sensor/out"] @ other),
        )
        assert energy_error(solution.steps[0]) < 1e-10
    a, b = angles["constant_velocity"]
    assert a[-1] == pytest.approx(20.0, rel=1e-12)
    assert b == pytest.approx(a, abs=1e-10)
    a, b = angles["universal"]
    assert np.abs(b - a).max() > 0.1


@pytest.mark.parametrize(("spin", "h"), [((0.3, 8.0, 0.0), 0.01), ((0.0, 8.0, 0.0), 0.06), ((0.0, 0.0, 8.0), 0.09)])
def test_a_constant_velocity_joint_does_not_fold(spin, h):
    """A bend of half a turn is refused, also where a step passes it and the shafts are apart again when one looks."""
    model = Model(3)
    model.body("out", (0.0, 0.0, 0.0), mass=1.0, inertia=(0.2, 0.3, 0.3))
    model.joint("joint", "constant_velocity", "ground", "out", point=(0.0, 0.0, 0.0), axis=X)
    model.initial("out", spin=spin)
    model.transient_step(8 * 0.09, h, frames=0)
    with pytest.raises(AnalysisError, match='Joint "joint": the bend of the shafts'):
        solve(model)


def test_a_constant_velocity_joint_warns_before_it_folds():
    model = Model(3)
    model.body("out", (0.0, 0.0, 0.0), mass=1.0, inertia=(0.2, 0.3, 0.3))
    model.joint("joint", "constant_velocity", "ground", "out", point=(0.0, 0.0, 0.0), axis=X)
    model.initial("out", spin=(0.0, 1.0, 0.0))
    model.transient_step(2.7, 0.05, frames=0)
    assert any('Joint "joint": the bend' in w for w in solve(model).summary["steps"][0]["warnings"])


def test_a_joint_found_on_another_root_is_refused():
    """What steps too large may do, done by hand: an axis turned backwards, a weld turned by a third of a turn, a
    constant-velocity joint with a shaft turned by half a turn are told from what they should be."""
    model = Model(3)
    for k, kind in enumerate(("revolute", "weld", "constant_velocity")):
        model.body(kind, (float(k), 0.0, 0.0), 1.0, (0.1, 0.2, 0.25))
        axis = {} if kind == "weld" else {"axis": X}
        model.joint(f"j{k}", kind, "ground", kind, point=(float(k), 0.0, 0.0), **axis)
    model.transient_step(0.1, 0.01)
    compiled = model.compile()
    watcher = Watcher(compiled.system)
    D = compiled.system.initial_state().D[0]
    watcher.look(watcher.table(), np.zeros(1), D)
    third = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for k, turned in enumerate((np.diag((-1.0, 1.0, -1.0)), third, np.diag((1.0, -1.0, -1.0)))):
        wrong = D.copy()
        wrong[k] = turned.ravel()
        with pytest.raises(AnalysisError, match=f'Joint "j{k}": .* stands turned'):
            watcher.look(watcher.table(), np.zeros(1), wrong)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rod_without_mass_is_a_pendulum(dimension):
    """A point mass on a rigid link: period of small swings, and the tension at rest."""
    e = np.eye(dimension)
    model = Model(dimension, gravity=-9.81 * e[1])
    model.node("bob", np.sin(0.05) * 2.0 * e[0] - np.cos(0.05) * 2.0 * e[1])
    model.point_mass("m", "bob", 3.0)
    model.joint("rod", "distance", "ground", "bob", point=0.0 * e[0])
    model.sensor("bob", "position", on="bob")
    model.sensor("force", "reaction", on="rod")
    period = 2.0 * np.pi * np.sqrt(2.0 / 9.81)
    model.transient_step(period, period / 400, frames=0)
    solution = solve(model)
    x = solution.sensor("bob").values
    assert np.linalg.norm(x, axis=1) == pytest.approx(2.0, abs=1e-13)
    assert x[-1, 0] == pytest.approx(x[0, 0], rel=1e-4)
    assert solution.compiled.sensors[1].columns[-1] == "force.tension"
    assert solution.steps[-1].series["sensor/force"][100, -1] == pytest.approx(3.0 * 9.81, rel=3e-3)
    assert energy_error(solution.steps[0]) < 1e-11


def test_a_link_that_is_drawn_in_does_work():
    """A skater: the angular momentum m l^2 w stays while the rope is drawn in; the drive's work is the energy."""
    model = Model(3)
    model.node("m", (1.0, 0.0, 0.0))
    model.point_mass("mass", "m", 2.0)
    model.joint("rope", "distance", "ground", "m", point=(0.0, 0.0, 0.0), function="-0.5*sin(t)**2")
    model.initial("m", velocity=(0.0, 1.0, 0.0))
    model.sensor("v", "velocity", on="m")
    model.transient_step(0.5 * np.pi, np.pi / 2000, frames=0)
    solution = solve(model)
    step = solution.steps[0]
    assert np.linalg.norm(solution.sensor("v").values[-1]) == pytest.approx(2.0, rel=1e-4)
    assert step.ledger("driver work")[-1] == pytest.approx(3.0, rel=2e-4)
    assert energy_error(step) < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


def test_a_bead_on_a_turning_wire():
    """Driven along the line of a body, and free on it: r'' = w^2 r."""
    model = Model(3)
    model.body("wire", (0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.node("bead", (0.5, 0.0, 0.0))
    model.point_mass("mass", "bead", 1.0)
    model.joint("axle", "revolute", "ground", "wire", point=(0.0, 0.0, 0.0), axis=Z, function="2*t")
    model.joint("bore", "point_on_line", "wire", "bead", axis=X)
    model.sensor("way", "joint", on="bore")
    model.initial("bead", velocity=(0.0, 1.0, 0.0))
    model.transient_step(1.0, 0.001, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    assert solution.sensor("way").values[:, 0] == pytest.approx(0.5 * np.cosh(2.0 * t) - 0.5, rel=1e-4, abs=1e-6)
    assert energy_error(solution.steps[0]) < 1e-11


WRONG = {
    "lead missing": ("screw", {"axis": Z, "point": (0, 0, 0)}, "a screw needs its lead"),
    "lead zero": ("screw", {"axis": Z, "point": (0, 0, 0), "lead": 0.0}, "lead = 0 lets it turn without sliding"),
    "no length": ("distance", {"point": (0, 0, 1), "point_b": (0, 0, 1)}, "its points are 0 m apart"),
    "against": (
        "constant_velocity",
        {"axis": Z, "axis_b": -Z, "point": (0, 0, 0)},
        "axis and axis_b point against each other",
    ),
    "axis": ("point_on_plane", {"axis": (0, 0, 0), "point": (0, 0, 0)}, "has no length"),
    "key": ("point_on_plane", {"axis": Z, "point": (0, 0, 0), "lead": 1.0}, "has no lead; remove it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_joints(name):
    kind, options, text = WRONG[name]
    with pytest.raises(ModelError, match=f'Joint "j": .*{text}'):
        two_wheels().joint("j", kind, "a", "b", **options)


def test_wrong_gears():
    model = two_wheels()
    for args, text in (
        (("axle a", "axle c", 1.0), 'no joint "axle c"'),
        (("axle a", "axle a", 1.0), 'both coordinates are the angle of "axle a"'),
        (("axle a", "axle b", 0.0), "ratio = 0"),
        (("axle a", "axle b", 1.0, "displacement"), "coordinate = 'displacement'"),
    ):
        with pytest.raises(ModelError, match=f"Gear .*{text}"):
            model.gear(f"gear {text}", *args)
    plane = Model(2)
    plane.body("a", (0.0, 0.0), 1.0, 1.0)
    with pytest.raises(ModelError, match=r'a "screw" joint is one of space'):
        plane.joint("j", "screw", "ground", "a", point=(0.0, 0.0), lead=0.1)


FILE = """
[[body]]
name = "a"
position = [0.0, 0.0, 0.0]
mass = 2.0
inertia = [0.2, 0.2, 0.3]
[[body]]
name = "b"
position = [1.0, 0.0, 0.0]
mass = 1.0
inertia = [0.2, 0.2, 0.1]
[[joint]]
name = "axle"
type = "revolute"
a = "ground"
b = "a"
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "nut"
type = "screw"
a = "ground"
b = "b"
point = [1.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
lead = 0.2
[[joint]]
name = "link"
type = "point_on_plane"
a = "a"
b = "b"
point = [1.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.0]
[[gear]]
a = "axle"
b = "nut"
ratio = 2.0
coordinate_b = "angle"
[[step]]
type = "transient"
duration = 0.1
h = 0.01
"""


def test_model_file(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(FILE)
    model = load_model(path)
    kinds = sorted(b.type.name for b in model.compile().system.blocks)
    assert "coupling3" in kinds
    assert model.joints["nut"].kind == "screw"


def test_accelerations_of_a_driven_double_pendulum():
    """The saddle point of masses and joints against the eliminated equation (Russell & Willmert, eqs 28, 31)."""
    g, speed, angle, spin, m, tip = 9.81, 4.0, 0.7, 2.5, 0.3, 0.2
    model = Model(2, gravity=(0.0, -g))
    model.body("1", (0.0, -0.5), mass=m, inertia=m / 12.0)
    centre = np.array((0.5 * np.sin(angle), -1.0 - 0.5 * np.cos(angle)))
    model.body("2", centre, mass=m, inertia=m / 12.0)
    end = np.array((np.sin(angle), -1.0 - np.cos(angle)))
    model.node("tip", end)
    model.point_mass("tip mass", "tip", tip)
    model.joint("axis", "revolute", "ground", "1", point=(0.0, 0.0), function={"kind": "constant_speed", "rate": speed})
    model.joint("elbow", "pin", "1", "2", point=(0.0, -1.0))
    model.joint("end", "pin", "2", "tip", point=end)
    model.initial_speed("1", "rotation", speed)
    model.initial_speed("2", "rotation", spin)
    model.transient_step(0.1, 0.1)
    compiled = model.compile()
    state = compiled.system.initial_state()
    consistent_velocities(compiled, state, 0.0)
    a = initial_accelerations(compiled, state, 0.0)
    expected = -(0.5 * m + tip) * (np.sin(angle) * speed**2 + g * np.sin(angle)) / (m / 3.0 + tip)
    node = model.bodies["2"].node
    assert a[compiled.system.offset[node] + 2] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("static", [False, True])
def test_a_distance_must_not_vanish(static):
    """A link that a function draws through zero would go on with its length inside out: refused, with the time."""
    model = Model(2)
    model.node("m", (1.0, 0.0))
    model.point_mass("mass", "m", 2.0)
    model.joint("rope", "distance", "ground", "m", point=(0.0, 0.0), function="-t")
    model.spring("s", "m", "ground", 10.0, point_b=(0.0, 3.0))
    if static:
        model.static_step(12, duration=1.2)
    else:
        model.transient_step(1.2, 0.01)
    with pytest.raises(
        ModelError, match=r'Joint "rope": at t = (1|1.0\d*) s its distance would be -?\d.*greater than zero'
    ):
        solve(model)


@pytest.mark.parametrize("kind", ["spring", "motor", "distance"])
def test_a_point_of_the_ground_is_asked_for_by_its_key(kind):
    m = Model(2)
    m.body("b", (1.0, 0.0), mass=1.0, inertia=1.0)
    calls = {
        "spring": lambda: m.spring("s", "ground", "b", stiffness=1.0),
        "motor": lambda: m.motor("s", a="ground", b="b", force=1.0),
        "distance": lambda: m.joint("s", "distance", "b", "ground"),
    }
    with pytest.raises(ModelError, match=rf"add {'point_b' if kind == 'distance' else 'point_a'} = "):
        calls[kind]()
