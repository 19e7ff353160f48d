"""Eigenvalues along transients and load paths: closed forms, branches, restarts, nothing else changed."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA

from fem_mbs import Model, ModelError, Results, run, solve


def strut(n: int = 6) -> Model:
    """A simply supported column with EA so large that it stays as long as it is; k_crit = pi^2 EI/L^2."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e7, EI=20.0, rhoA=1.0)
    m.line("l", (0, 0), (1, 0), n)
    m.beams("b", "l", "s")
    m.fix("l:start", ["x", "y"])
    m.fix("l:end", ["y"])
    m.force("push", "l:end", (-(np.pi**2) * 20.0, 0.0))
    return m


def test_squares_of_frequencies_fall_with_the_load():
    """w_n^2 = (n pi)^4 EI/(rho A L^4) (1 - P/(n^2 P_1)) of a column with pinned ends (Timoshenko)."""
    m = strut()
    m.static_step(increments=8, until=0.8, eigenvalues={"every": 2, "count": 2})
    (step,) = solve(m).steps
    found = step.summary["eigenvalues"]
    np.testing.assert_allclose(found["load_factor"], [0.0, 0.2, 0.4, 0.6, 0.8], atol=1e-12)
    values = np.array(found["values"])
    for n in (1, 2):
        exact = (n * np.pi) ** 2 * np.sqrt(20.0 * (1.0 - np.array(found["load_factor"]) / n**2))
        np.testing.assert_allclose(values[:, n - 1, 1], exact, rtol=2e-3 * n**2)
    assert found["stable"] is True
    series = step.series["eigenvalues"]
    assert series.shape == (9, 2, 2)
    np.testing.assert_array_equal(series[::2], values)
    assert np.isnan(series[1::2]).all()


def test_eigenvalues_follow_what_events_switch():
    """A rod on a torsion spring under a push along it, w^2 = (k - P L)/J, until that is switched off."""
    m = Model(2)
    m.body("rod", (0.5, 0.0), mass=1.2, inertia=0.1)
    m.joint("hinge", "revolute", "ground", "rod", point=(0.0, 0.0))
    m.joint_spring("spring", "hinge", 40.0)
    m.force("push", "rod", (-30.0, 0.0), point=(1.0, 0.0))
    m.body("clock", (0.0, 1.0), mass=1.0, inertia=0.1)
    m.fix("clock", ["y", "rotation"])
    m.motion("time", "clock", "x", "t")
    m.sensor("clock", "displacement", on="clock")
    m.event("off", "clock.x", 0.105, action="off", target="push")
    m.transient_step(0.2, 0.01, frames=0, eigenvalues={"every": 4, "count": 1})
    (step,) = solve(m).steps
    found = step.summary["eigenvalues"]
    # the row of the event comes in addition
    np.testing.assert_allclose(found["time"][:3], [0.0, 0.04, 0.08], atol=1e-12)
    assert 0.105 < found["time"][3] < 0.12 and len(found["time"]) == 6
    squares = np.array(found["values"])[:, 0, 1] ** 2
    np.testing.assert_allclose(squares, np.where(np.array(found["time"]) < 0.105, 10.0, 40.0) / 0.4, rtol=1e-10)
    rows = np.flatnonzero(np.isfinite(step.series["eigenvalues"][:, 0, 0]))
    np.testing.assert_array_equal(rows, np.arange(0, 21, 4))


def test_growth_beyond_the_buckling_load():
    m = strut()
    m.static_step(increments=6, until=1.2, eigenvalues={"every": 1, "count": 2})
    found = solve(m).steps[0].summary["eigenvalues"]
    assert found["stable"] is False
    assert found["unstable_from"]["load_factor"] == pytest.approx(1.2)
    first, second = np.array(found["values"][-1])
    assert first[0] == pytest.approx(np.pi**2 * np.sqrt(20.0 * 0.2), rel=0.02)
    assert first[1] == 0.0
    # the root that decays has not pushed out the second mode
    assert second[1] == pytest.approx(4.0 * np.pi**2 * np.sqrt(20.0 * (1.0 - 1.2 / 4.0)), rel=0.01)


def test_branches_keep_their_places_where_frequencies_cross():
    """An oscillator of constant frequency, and the column whose first frequency falls below that."""
    m = strut()
    m.body("c", (0, 1), mass=1.0, inertia=0.1)
    m.nodal_spring("y", "c", "y", 30.0**2)
    m.fix("c", ["x", "rotation"])
    m.static_step(increments=9, until=0.9, eigenvalues={"every": 1, "count": 2})
    w = np.array(solve(m).steps[0].summary["eigenvalues"]["values"])[:, :, 1]
    constant = int(np.abs(w - 30.0).sum(axis=0).argmin())
    np.testing.assert_allclose(w[:, constant], 30.0, rtol=1e-9)
    assert w[0, 1 - constant] > 40.0
    assert w[-1, 1 - constant] < 20.0


def test_arc_length_path():
    m = strut()
    m.force("aside", "l:end", (0.0, 0.0))
    m.nodal_spring("side", "l:end", "rotation", 1e-3)
    m.static_step(
        increments=10, until=0.5, control="arc", size=1e-4, largest=1e-4, points=400, vary="push",
        eigenvalues={"every": 20, "count": 1},
    )  # fmt: skip
    found = solve(m).steps[0].summary["eigenvalues"]
    assert len(found["path_length"]) == len(found["load_factor"]) == len(found["values"])
    load, w = np.array(found["load_factor"]), np.array(found["values"])[:, 0, 1]
    np.testing.assert_allclose(w, np.pi**2 * np.sqrt(20.0 * (1.0 - load)), rtol=3e-3)


def swing(**options) -> Model:
    """A pendulum on a hinge with a coil; its stiffness, and so p, depends on the angle."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0.5, 0), mass=2.0, inertia=0.1)
    m.joint("j", "revolute", "ground", "b", point=(0, 0))
    m.sensor("angle", "rotation", on="b")
    m.sensor("speed", "velocity", on="b")
    m.transient_step(0.4, 0.01, **options)
    return m


def test_pendulum_in_motion():
    """p^2 = (m g l sin(angle) - m l^2 w^2)/(J + m l^2) at every instant of a swing.

    The second term is that of matrices held in the coordinates of nodes: the point of the joint then goes on on the
    tangent of its circle (docs/theory.md, section 9).
    """
    m = swing(eigenvalues={"every": 5, "count": 2})
    (step,) = solve(m).steps
    found = step.summary["eigenvalues"]
    assert len(found["time"]) == 9
    plain = solve(swing())
    np.testing.assert_array_equal(plain.sensor("angle").values, step.series["sensor/angle"])
    angle = step.series["sensor/angle"][::5, 0]
    spin = step.series["sensor/speed"][::5, 1] / (0.5 * np.cos(angle))
    p2 = (2.0 * 9.81 * 0.5 * np.sin(angle) - 2.0 * 0.25 * spin**2) / (0.1 + 2.0 * 0.25)
    values = np.array([[0.0, 0.0] if v is None else v for row in found["values"] for v in row[:1]]) @ [1.0, 1j]
    np.testing.assert_allclose((values**2).real[1:], p2[1:], rtol=1e-3)  # velocities are of second order
    assert np.isnan(step.series["eigenvalues"][1:5]).all()


def test_folder_and_restart(tmp_path):
    m = swing(eigenvalues={"every": 5, "count": 2}, restarts=3)
    first = run(m, tmp_path / "out").steps[0]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    whole, values = first.summary["eigenvalues"], first.series["eigenvalues"][:]
    angle = first.series["sensor/angle"][:]
    run(m, tmp_path / "out", restart=1)
    again = Results.open(tmp_path / "out").steps[0]
    assert again.summary["eigenvalues"]["time"] == whole["time"]
    np.testing.assert_allclose(again.series["eigenvalues"][:], values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again.series["sensor/angle"][:], angle)


def test_model_file(tmp_path):
    from fem_mbs import load_model

    text = """
dimension = 2
[[body]]
name = "b"
position = [0, 0]
mass = 2.0
inertia = 0.1
[[nodal_spring]]
name = "s"
on = "b"
component = "x"
stiffness = 800.0
[[support]]
on = "b"
components = ["y", "rotation"]
[[step]]
type = "transient"
duration = 0.1
h = 0.05
eigenvalues = {every = 1, count = 1}
"""
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    found = solve(load_model(path)).steps[0].summary["eigenvalues"]
    np.testing.assert_allclose(np.array(found["values"])[:, 0, 1], 20.0, rtol=1e-12)
    path.write_text(text.replace("{every = 1, count = 1}", "3"), encoding="utf-8")
    with pytest.raises(ModelError, match="eigenvalues = 3 must be a table"):
        load_model(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "must be a table with the keys every"),
        ({"evry": 3}, 'unknown key "eigenvalues.evry"; did you mean "every"'),
        ({"every": 0}, "every = 0 must be a whole number"),
        ({"count": 1.5}, "count = 1.5 must be a whole number"),
        ({"which": "all"}, 'which = "all" must be one of'),
        ({"near": "x"}, r'near = "x" must be a frequency \[Hz\], or a list of two'),
    ],
)
def test_wrong_options(given, message):
    with pytest.raises(ModelError, match=message):
        solve(swing(eigenvalues=given))
