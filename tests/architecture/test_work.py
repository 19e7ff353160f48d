"""Work of single loads, motors, dampers, motions and joints: their sum is that of the energy ledger."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from fem_mbs import Model, run, solve


def machine(dimension: int = 3, **step) -> Model:
    """A driven crank, a motor with a damper on a rail, a force, a motion; a pin that is ideal."""
    space = dimension == 3
    model = Model(dimension, gravity=-9.81 * np.eye(dimension)[1])
    z = {"axis": (0.0, 0.0, 1.0)} if space else {}
    x = np.eye(dimension)[0]
    for k, name in enumerate(("crank", "rod", "cart")):
        inertia = (0.1, 0.12, 0.15) if space else 0.15
        model.body(name, (k + 0.5) * x, mass=1.0 + k, inertia=inertia)
    model.joint("axle", "revolute", "ground", "crank", point=0.0 * x, function="2*t**2", **z)
    model.joint("pin", "revolute", "crank", "rod", point=x, **z)
    model.joint("rail", "prismatic", "ground", "cart", point=2.5 * x, axis=x)
    model.joint_spring("damper", "rail", 3.0, damping=0.7)
    model.motor("motor", joint="rail", force="5*sin(3*t)")
    model.force("push", "rod", 0.4 * x)
    model.node("table", 4.0 * x)
    model.point_mass("table mass", "table", 1.0)
    model.spring("tie", "cart", "table", 20.0)
    model.motion("shake", "table", "x", "0.1*sin(2*t)**2")
    model.fix("table", ["y", "z"][: dimension - 1])
    for name in ("axle", "pin", "damper", "motor", "push", "shake"):
        model.sensor(name, "work", on=name)
    model.sensor("angle", "joint", on="axle")
    model.sensor("drive", "joint", on="axle", quantity="drive moment")
    model.transient_step(2.0, 0.01, **{"frames": 0, **step})
    return model


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("step", [{}, {"rule": "newmark"}, {"adaptive": 1e-5}], ids=["midpoint", "newmark", "adaptive"])
def test_works_add_up(dimension, step):
    solution = solve(machine(dimension, **step))
    s = solution.steps[0]
    work = {name: solution.sensor(name).values[:, 0] for name in ("axle", "pin", "damper", "motor", "push", "shake")}
    size = max(np.abs(w).max() for w in work.values())
    assert work["axle"] + work["shake"] == pytest.approx(s.ledger("driver work"), abs=1e-10 * size)
    assert work["motor"] + work["push"] == pytest.approx(s.ledger("load work"), abs=1e-10 * size)
    assert work["damper"] == pytest.approx(-s.ledger("dissipated"), abs=1e-10 * size)
    assert not work["pin"].any()
    assert all(np.abs(work[name]).max() > 1e-3 for name in work if name != "pin")


def test_work_of_a_drive_is_moment_times_angle():
    solution = solve(machine())
    raw, angle = solution.steps[0].series["sensor/drive"][:, 0], solution.sensor("angle").values[:, 0]
    expected = np.concatenate(([0.0], np.cumsum(raw[1:] * np.diff(angle))))
    work = solution.steps[-1].series["sensor/axle"][:, 0]
    assert work == pytest.approx(expected, abs=1e-10 * np.abs(work).max())


@pytest.mark.parametrize("step", [{}, {"adaptive": 1e-5}], ids=["equal", "adaptive"])
def test_restart(tmp_path, step):
    """A continued run has the same bits."""
    whole = run(machine(restarts=3, **step), tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    again = run(machine(restarts=3, **step), tmp_path / "b", restart=1)
    for name in ("axle", "damper", "motor", "push", "shake"):
        assert np.array_equal(whole.sensor(name).values, again.sensor(name).values)


def test_wrong_name():
    with pytest.raises(Exception, match='"engine" is no load, motor, spring, motion or joint'):
        machine().sensor("w", "work", on="engine")


def test_works_go_on_through_events():
    """A load that goes off, and a driver that changes its speed at once: the blow is its work."""
    model = Model(2)
    model.body("b", (0.0, 0.0), 1.0, 1.0)
    model.force("F", "b", (1.0, 0.0))
    model.force("G", "b", (0.0, 0.1))
    model.spring("damper", "b", "ground", 0.0, damping=0.5, point_b=(-5.0, 0.0))
    model.sensor("place", "position", on="b")
    for name in ("F", "G", "damper"):
        model.sensor(name, "work", on=name)
    model.event("e", "place.x", value=0.1, action="off", target="G")
    model.transient_step(1.0, 0.05)
    solution = solve(model)
    step = solution.steps[0]
    assert solution.steps[-1].series["sensor/F"][:, 0] + solution.steps[-1].series["sensor/G"][:, 0] == pytest.approx(
        step.ledger("load work"), abs=1e-13
    )
    assert solution.steps[-1].series["sensor/damper"][:, 0] == pytest.approx(-step.ledger("dissipated"), abs=1e-13)

    model = Model(2)
    model.body("b", (0.0, 0.0), 1.0, 1.0)
    model.joint("axle", "revolute", "ground", "b", point=(0.0, 0.0), function="t")
    model.sensor("work", "work", on="axle")
    model.sensor("angle", "joint", on="axle")
    model.event("faster", "angle", value=0.1, action="switch", target="axle", function="3*t")
    model.transient_step(0.2, 0.01)
    solution = solve(model)
    assert solution.steps[-1].series["sensor/work"][-1, 0] == pytest.approx(0.5 * (9.0 - 1.0), rel=1e-9)
    assert solution.steps[0].ledger("driver work")[-1] == pytest.approx(4.0, rel=1e-9)


def test_energy_error_of_what_does_not_move():
    """At rest under its weight, far from the origin: the closing error is measured against the energies, not against a
    range that is round-off itself."""
    model = Model(2, gravity=(0.0, -9.81))
    model.node("a", (0.0, 1000.0))
    model.point_mass("m", "a", 5.0)
    model.spring("s", "a", "ground", 1000.0, point_b=(0.0, 1002.0))
    model.static_step()
    model.transient_step(1.0, 0.01)
    energy = solve(model).steps[1].summary["energy"]
    assert energy["range"] < 1e-8
    assert 0.0 <= energy["closing_error_relative"] < 1e-12
