"""Inverse steps: forces of drivers against closed forms, run forward again, kinematic systems, errors, files."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.model.sensors.sensor import node_values
from fem_mbs.modelfile.read import load_model

G = 9.81
TURNS = {"a": "0.8*(1 - cos(3*t))", "b": "-1.2*(1 - cos(2*t))"}


def two_link(h: float = 0.02, torques=None, dynamic: bool = True, duration: float = 1.0) -> Model:
    """Two rigid links in the plane; without torques their joints are driven."""
    m = Model(2, gravity=(0, -G))
    m.body("1", mass=2.0, inertia=0.2, position=(0.5, 0))
    m.body("2", mass=1.0, inertia=0.1, position=(1.4, 0))
    for name, (a, b), place in (("a", ("ground", "1"), (0, 0)), ("b", ("1", "2"), (1, 0))):
        m.joint(name, "revolute", a, b, point=place, function=None if torques else TURNS[name])
        m.sensor(name, "joint", on=name)
    if torques is None:
        m.inverse_step(duration, h, dynamic=dynamic)
        return m
    m.moment("on 1", "1", 1.0, function=torques["a"])
    m.moment("on 2", "2", 1.0, function=torques["b"])
    m.moment("back on 1", "1", -1.0, function=torques["b"])
    m.transient_step(duration, h)
    return m


def exact_torques(t):
    """Lagrange's equations of the two links, angles counted from the horizontal."""
    q1, v1, a1 = 0.8 * (1 - np.cos(3 * t)), 2.4 * np.sin(3 * t), 7.2 * np.cos(3 * t)
    p, w, b = -1.2 * (1 - np.cos(2 * t)), -2.4 * np.sin(2 * t), -4.8 * np.cos(2 * t)
    q2, v2, a2 = q1 + p, v1 + w, a1 + b
    c, s = np.cos(q2 - q1), np.sin(q2 - q1)
    second = (0.1 + 0.16) * a2 + 0.4 * (c * a1 + s * v1**2) + G * 0.4 * np.cos(q2)
    first = (0.2 + 2.0 * 0.25 + 1.0) * a1 + 0.4 * (c * a2 - s * v2**2) + G * 2.0 * np.cos(q1)
    return {"a": first + second, "b": second}


def test_torques_are_of_second_order():
    errors = {"a": [], "b": []}
    for h in (0.02, 0.01, 0.005):
        solution = solve(two_link(h))
        found = solution.drives()
        t = found.t
        exact = exact_torques(t)
        for name in "ab":
            off = np.abs(found[f"drive {name}"] - exact[name])
            assert off[[0, -1]].max() < 3.0 * off[1:-1].max()  # the ends are extrapolated
            errors[name].append(off[1:-1].max())
        assert solution.summary["steps"][0]["energy"]["closing_error_relative"] < 1e-10
    for name, (first, second, third) in errors.items():
        assert np.log2(first / second) == pytest.approx(2.0, abs=0.2), name
        assert np.log2(second / third) == pytest.approx(2.0, abs=0.2), name
        assert third < 0.01


def test_forces_run_forward_give_the_motion_back():
    off = []
    for h in (0.02, 0.01):
        inverse = solve(two_link(h))
        found = inverse.drives()
        t = found.t
        torques = {n: {"kind": "spline", "times": t, "values": found[f"drive {n}"]} for n in "ab"}
        forward = solve(two_link(h, torques))
        off.append(
            max(
                np.abs(forward.steps[-1].series[f"sensor/{n}"] - inverse.steps[-1].series[f"sensor/{n}"]).max()
                for n in "ab"
            )
        )
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.1)
    assert off[1] < 1e-3


def test_quasi_static_torques_hold_the_weights():
    solution = solve(two_link(0.01, dynamic=False))
    found = solution.drives()
    t = found.t
    q1 = 0.8 * (1 - np.cos(3 * t))
    second = G * 0.4 * np.cos(q1 - 1.2 * (1 - np.cos(2 * t)))
    assert found["drive b"] == pytest.approx(second, abs=1e-10)
    assert found["drive a"] == pytest.approx(second + G * 2.0 * np.cos(q1), abs=1e-10)
    assert solution.summary["steps"][0]["rule"] == "static"


def slider_crank(h: float, n: int, torque=None) -> Model:
    """A closed loop with a flexible rod; the crank makes 2 rad on a cycloid, or as a moment drives it."""
    m = Model(2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("rod", "circle", diameter=0.02)
    m.body("crank", mass=3.0, inertia=0.05, position=(0.15, 0.0))
    m.line("rod", (0.3, 0), (1.3, 0), n)
    m.beams("rod", on="rod", section="rod", material="steel")
    drive = "2*t - sin(2*pi*t)/pi" if torque is None else None
    m.joint("main", "revolute", "ground", "crank", point=(0, 0), function=drive)
    m.joint("pin", "pin", "crank", "rod:start")
    m.joint("slide", "slider", "rod:end", axis=(1, 0))
    m.point_mass("block", "rod:end", 2.0)
    m.sensor("turn", "joint", on="main")
    if torque is None:
        m.inverse_step(1.0, h)
    else:
        m.moment("motor", "crank", 1.0, function=torque)
        m.transient_step(1.0, h)
    return m


def test_closed_loop_with_a_flexible_rod():
    off = []
    for h in (0.01, 0.005):
        inverse = solve(slider_crank(h, 4))
        found = inverse.drives()
        t = found.t
        forward = solve(slider_crank(h, 4, {"kind": "spline", "times": t, "values": found["drive main"]}))
        off.append(np.abs(forward.steps[-1].series["sensor/turn"] - inverse.steps[-1].series["sensor/turn"]).max())
    assert off[1] < 2e-3
    assert off[0] / off[1] > 3.0


def test_purely_kinematic_systems():
    """No dof is free: Newton's law for one body."""
    m = Model(2, gravity=(0, -G))
    m.body("a", mass=2.0, inertia=0.3, position=(0, 0))
    m.motion("x", "a", "x", "t**2")
    m.motion("y", "a", "y", "sin(t)")
    m.motion("turn", "a", "rotation", "0.5*t**2")
    m.inverse_step(1.0, 0.01)
    found = solve(m).drives()
    t = found.t
    assert found["drive x"] == pytest.approx(4.0, abs=1e-9)
    assert found["drive y"] == pytest.approx(2.0 * (G - np.sin(t)), abs=1e-4)
    assert found["drive turn"] == pytest.approx(0.3, abs=1e-5)
    m.steps.clear()
    m.inverse_step(1.0, 0.1, dynamic=False)
    found = solve(m).drives()
    t = found.t
    assert found["drive x"] == pytest.approx(0.0, abs=1e-12)
    assert found["drive y"] == pytest.approx(2.0 * G, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("revolute", {"axis": (0, 0, 1), "function": "t**2"}, 2 * (0.3 + 2 * 0.25)),
        ("cylindrical", {"axis": (0, 0, 1), "function": "t**2", "displacement": "0.5*t**2"}, (2 * (1 + G), 1.6)),
        ("prismatic", {"axis": (0, 0, 1), "function": "t**2"}, 2 * (2 + G)),
        ("planar", {"axis": (0, 1, 0), "function": 0.0}, None),
    ],
)
def test_driven_joints_in_space(kind, options, expected):
    m = Model(3, gravity=(0, 0, -G))
    m.body("a", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    m.joint("j", kind, "ground", "a", point=(0, 0, 0), **options)
    m.inverse_step(1.0, 0.005)
    if expected is None:
        with pytest.raises(
            ModelError, match=r"beside what is driven \(j\) the model can move in 2 ways without strain"
        ):
            solve(m)
        return
    found = solve(m).drives()
    values = found["drive j"]
    assert np.abs(values - np.array(expected)).max() < 1e-4


def test_angle_joint_in_space_tells_its_moment():
    m = Model(3, gravity=(0, 0, -G))
    m.body("a", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    m.joint("ball", "spherical", "a", "ground", point=(0, 0, 0))
    m.joint("turn", "angle", "ground", "a", axis=(0, 0, 1), function="t**2")
    m.sensor("moment", "joint", on="turn", quantity="drive moment")
    m.inverse_step(1.0, 0.005)
    solution = solve(m)
    assert solution.drives()["drive turn"] == pytest.approx(1.6, abs=1e-4)
    assert solution.steps[-1].series["sensor/moment"][5:, 0] == pytest.approx(1.6, abs=1e-3)
    work = np.cumsum(solution.steps[-1].series["sensor/moment"][1:, 0] * np.diff(solution.steps[0].time ** 2))
    assert work == pytest.approx(solution.steps[0].ledger("driver work")[1:], abs=1e-9)


def test_position_joint():
    m = Model(2, gravity=(0, -G))
    m.body("a", mass=2.0, inertia=0.3, position=(0, 0))
    m.joint("lift", "position", "a", axis=(0, 1), point=(0, 0), function="t**3")
    m.joint("guide", "slider", "a", axis=(0, 1), point=(0, 0))
    m.joint("upright", "angle", "ground", "a", function=0.0)
    m.inverse_step(1.0, 0.01)
    found = solve(m).drives()
    t = found.t
    assert found["drive lift"] == pytest.approx(2.0 * (G + 6.0 * t), abs=1e-9)


def test_nothing_driven():
    m = Model(2)
    m.body("a", mass=2.0, inertia=0.3, position=(0, 0))
    m.inverse_step(1.0, 0.01)
    with pytest.raises(ModelError, match='Step "inverse": nothing is driven; add motions'):
        solve(m)


def test_drivers_that_contradict():
    m = Model(2)
    m.body("a", mass=2.0, inertia=0.3, position=(1, 0))
    m.joint("hinge", "revolute", "ground", "a", point=(0, 0), function="t")
    m.motion("up", "a", "y", "2*t")
    m.inverse_step(1.0, 0.01)
    with pytest.raises(ModelError, match="contradict each other by"):
        solve(m)


def test_a_quasi_static_step_goes_on_from_a_restart_point(tmp_path):
    m = two_link(0.01, dynamic=False)
    m.steps[0].options["restarts"] = 1
    whole = run(m, tmp_path / "out").drives(0).values
    m = two_link(0.01, dynamic=False)
    m.steps[0].options["restarts"] = 1
    assert np.array_equal(run(m, tmp_path / "out", restart=0).drives(0).values, whole)


def test_drive_sensor_of_something_else():
    m = two_link()
    with pytest.raises(ModelError, match='no motion or driven joint "c"; there are a, b'):
        m.sensor("s", "drive", on="c")


def test_node_values():
    t = np.arange(8) * 0.1
    middle = t - 0.05
    alternating = np.where(np.arange(8) % 2, 0.3, -0.3)
    raw = (middle**2 + alternating)[:, None]
    raw[0] = np.nan
    assert node_values(t, raw, True)[:, 0] == pytest.approx(t**2 + 0.0025, abs=1e-14)
    assert node_values(t, raw, False) is raw
    assert np.isfinite(node_values(t[:2], raw[:2], True)).all()


FILE = """
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "arm"
mass = 2.0
inertia = 0.2
position = [0.5, 0.0]
[[joint]]
name = "shoulder"
type = "revolute"
a = "ground"
b = "arm"
point = [0.0, 0.0]
DRIVE
[[sensor]]
name = "angle"
kind = "joint"
on = "shoulder"
STEP
"""


def test_from_a_model_file_and_back(tmp_path):
    """The table of torques of one run is the load of the next; a continued run gives the same bits."""
    inverse, forward = tmp_path / "inverse.toml", tmp_path / "forward.toml"
    step = '[[step]]\ntype = "inverse"\nduration = 1.0\nh = 0.01\nrestarts = 1'
    inverse.write_text(FILE.replace("DRIVE", 'function = "1 - cos(2*t)"').replace("STEP", step))
    results = run(load_model(inverse), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert summary["steps"][0]["drivers"] == ["shoulder"]
    (table,) = (tmp_path / "out").glob("drives-*.csv")
    assert table.name == "drives-1-inverse.csv"
    text = table.read_bytes()
    drives = results.drives(0)
    t, names, values = drives.t, drives.labels, drives.values
    assert names == ["drive shoulder [N m]"]
    q = 1 - np.cos(2 * t)
    assert values[:, 0] == pytest.approx((0.2 + 0.5) * 4.0 * np.cos(2 * t) + 2.0 * G * 0.5 * np.cos(q), abs=2e-3)
    run(load_model(inverse), tmp_path / "out", restart=-1)
    assert table.read_bytes() == text
    step = '[[moment]]\non = "arm"\nvalue = 1.0\n'
    step += 'function = { kind = "csv", file = "out/drives-1-inverse.csv", interpolation = "spline" }\n'
    step += '[[step]]\ntype = "transient"\nduration = 1.0\nh = 0.01'
    forward.write_text(FILE.replace("DRIVE", "").replace("STEP", step))
    angle = solve(load_model(forward)).steps[-1].series["sensor/angle"][:, 0]
    assert angle == pytest.approx(q, abs=5e-4)
