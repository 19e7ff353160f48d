"""Friction between the lengths of beams, and of balls on beams.

References are conservation, closed forms, and the same contact with a surface of a body.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.run import run
from fem_mbs.validation.case import constancy, energy_error

MU, G = 0.3, 9.81


def soft(model, name, start, end, n, velocity=None):
    """Beams of a soft rod of 1 kg/m."""
    if "rod" not in model.building.sections:
        shear = {} if model.dimension == 2 else {"GJ": 40.0}
        model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, rhoA=1.0, rhoI=1e-4, **shear)
    model.line(f"{name} line", start, end, n)
    model.beams(name, f"{name} line", "rod")
    if velocity is not None:
        model.initial(f"{name} line:all", velocity=velocity)


def rub(model, a, b, **law):
    law = {"radius": 0.02, "stiffness": 1e6, "ball": 0.02, "along": True, "smoothing": 0.01, "coefficient": MU} | law
    model.contact("touch", a, b, surface="beams", **law)
    model.sensor("force", "contact", on="touch")
    model.sensor("friction", "contact", on="touch", quantity="friction force")


def kept(step):
    """Momenta are kept, the energy closes, and friction of a good part of MU N takes energy all the time."""
    assert np.nanmax(step.series["sensor/friction"]) > 0.5 * MU * np.nanmax(step.series["sensor/force"]) > 1.0
    lost = step.ledger("dissipated")
    assert lost[-1] > 1e-3
    assert (np.diff(lost) >= -1e-14).all()
    assert energy_error(step) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


@pytest.mark.parametrize(
    ("start", "end", "velocity", "law"),
    [
        ((0.013, -0.5, 0.045), (0.013, 0.5, 0.045), (0.5, 0.3, -2.0), {}),
        ((-0.4, 0.0, 0.045), (0.45, 0.0, 0.045), (0.5, 0.0, -1.0), {"damping": 0.2}),
        ((-0.4, 0.004, 0.045), (0.45, -0.003, 0.047), (0.3, 0.2, -1.0), {"static": 0.4, "stribeck": 0.1}),
        ((0.52, 0.01, 0.045), (0.53, 0.0, 0.6), (0.0, 0.3, -1.0), {}),
    ],
    ids=["crossing", "parallel", "nearly parallel", "end on an end"],
)
def test_rubbing_beams_keep_the_momenta_and_lose_energy(start, end, velocity, law):
    model = Model(3)
    soft(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
    soft(model, "two", start, end, 6, velocity)
    rub(model, "one", "two", **law)
    model.transient_step(0.04, 2e-4, frames=0)
    kept(solve(model).steps[0])


def test_rubbing_beams_in_the_plane_keep_the_momenta():
    model = Model(2)
    soft(model, "one", (-0.5, 0.0), (0.5, 0.0), 4)
    soft(model, "two", (-0.4, 0.045), (0.5, 0.06), 4, (1.0, -2.0))
    rub(model, "one", "two")
    model.transient_step(0.03, 2e-4, frames=0)
    kept(solve(model).steps[0])


@pytest.mark.parametrize("turns", [True, False], ids=["a body", "a point"])
def test_a_ball_that_slides_on_a_beam_keeps_the_momenta(turns):
    """Friction turns a body, and acts at the centre of a point without rotations."""
    model = Model(3)
    soft(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
    if turns:
        model.body("ball", (0.013, 0.005, 0.07), mass=0.5, inertia=np.full(3, 5e-4))
        model.initial("ball", velocity=(1.0, 0.2, -1.0), spin=(3.0, 8.0, 1.0))
    else:
        model.node("ball", (0.013, 0.005, 0.07))
        model.point_mass("ball mass", "ball", 0.5)
        model.initial("ball", velocity=(1.0, 0.2, -1.0))
    rub(model, "one", "ball", along=False, ball=0.04)
    model.transient_step(0.03, 2e-4, frames=0)
    kept(solve(model).steps[0])


def test_a_cable_without_rotations_rubs_on_a_beam():
    """Friction acts at its axis."""
    model = Model(3)
    soft(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
    model.line("two line", (0.013, -0.5, 0.045), (0.013, 0.5, 0.045), 6)
    model.section("wire", "stiffness", EA=1e5, rhoA=1.0)
    model.trusses("two", "two line", "wire")
    model.initial("two line:all", velocity=(1.0, 0.3, -2.0))
    rub(model, "one", "two")
    model.transient_step(0.02, 2e-4, frames=0)
    kept(solve(model).steps[0])


def bar_on_rails(turns=True, speed=1.0, duration=0.45):
    """A bar of the radius 0.03 across two rails at rest, pressed by its weight."""
    model = Model(3, gravity=(0.0, 0.0, -G))
    model.section("rail", "stiffness", EA=1e8, EI=1e6, GA=1e8, GJ=1e6, rhoA=1.0, rhoI=1e-3)
    model.section("bar", "stiffness", EA=1e8, EI=1e5, GA=1e8, GJ=1e5, rhoA=2.0, rhoI=2.0 * 0.03**2 / 4.0)
    rails = []
    for name, y in (("left", -0.2), ("right", 0.2)):
        model.line(f"{name} line", (-0.2, y, 0.0), (0.7, y, 0.0), 9)
        model.beams(name, f"{name} line", "rail")
        model.fix(f"{name} line:all")
        rails.append(name)
    height = 0.05 - 0.5 * 1.2 * G / 1e6
    model.line("bar line", (0.0, -0.3, height), (0.0, 0.3, height), 4)
    model.beams("bar", "bar line", "bar")
    if not turns:
        model.fix("bar line:all", ["rotation y"])
    model.initial("bar line:all", velocity=(speed, 0.0, 0.0))
    rub(model, rails, "bar", ball=0.03, exponent=1.0, smoothing=1e-4, overlap=1e-3)
    model.sensor("v", "velocity", on="bar line:start")
    model.sensor("x", "position", on="bar line:start")
    model.transient_step(duration, 1e-3, frames=0)
    return model


def test_a_bar_that_slides_on_rails_begins_to_roll():
    """v = v_0 - mu g t until it rolls with v_0/(1 + J/(m r^2)) = 2/3 v_0: closed form of a cylinder."""
    step = solve(bar_on_rails()).steps[0]
    v = step.series["sensor/v"][:, 0]
    # (the first steps start the elastic contact: its force swings by a part of a percent)
    assert v[50] == pytest.approx(1.0 - MU * G * 0.05, rel=1e-3)
    assert v[-1] == pytest.approx(2.0 / 3.0, rel=5e-4)  # (the ends of the bar swing)
    assert step.ledger("dissipated")[-1] == pytest.approx(0.5 * 1.2 / 3.0, rel=1e-3)


def test_a_bar_that_does_not_turn_stops():
    """After v_0^2/(2 mu g): closed form; what sticks creeps by less than the smoothing."""
    step = solve(bar_on_rails(turns=False, speed=0.8, duration=0.35)).steps[0]
    assert step.series["sensor/x"][-1, 0] == pytest.approx(0.64 / (2.0 * MU * G), rel=2e-3)
    assert abs(step.series["sensor/v"][-1, 0]) < 1e-3


def test_newmark_steps_rub_like_midpoint_steps():
    """The force of a state, and its tangent."""
    lost = []
    for rule in ("midpoint", "newmark"):
        model = Model(3)
        soft(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 3)
        soft(model, "two", (0.013, -0.5, 0.041), (0.013, 0.5, 0.041), 3, (0.5, 0.3, -2.0))
        rub(model, "one", "two", damping=0.1)
        model.transient_step(0.004, 2e-5, rule=rule, frames=0)
        lost.append(solve(model).steps[0].ledger("dissipated")[-1])
    assert lost[0] > 1e-2
    assert lost[1] == pytest.approx(lost[0], rel=2e-3)


def test_rubbing_beams_go_on_from_a_restart_point_with_the_same_bits(tmp_path):
    def made():
        model = Model(3)
        soft(model, "one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
        soft(model, "two", (0.013, -0.5, 0.045), (0.013, 0.5, 0.045), 6, (3.0, 0.3, -2.0))
        rub(model, "one", "two", margin=0.01)
        model.transient_step(0.04, 5e-4, frames=4, restarts=3)
        return model

    whole = run(made(), tmp_path / "whole")
    again = run(made(), tmp_path / "whole", restart=1)
    one, two = ({name: np.array(s) for name, s in r.steps[0].series.items()} for r in (whole, again))
    assert np.nanmax(one["sensor/friction"]) > 10.0
    for name, series in one.items():
        assert np.array_equal(series, two[name], equal_nan=True), name


def test_parts_without_rotations_are_refused():
    model = Model(3)
    model.section("wire", "stiffness", EA=1e5, rhoA=1.0)
    for name, start, end in (("one", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)), ("two", (0.0, -0.5, 0.05), (0.0, 0.5, 0.05))):
        model.line(f"{name} line", start, end, 2)
        model.trusses(name, f"{name} line", "wire")
    with pytest.raises(ModelError, match=r'"one line 1" to "one line 2" and .* have no rotations.*beams or bodies'):
        rub(model, "one", "two")
