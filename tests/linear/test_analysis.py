"""Analyses through the public interface: starts, statics, orders, step control, sparse systems, initial speeds."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import ConvergenceError, Model, ModelError, solve
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.meshes.generate import grid2d


def cantilever(n: int, load: float) -> Model:
    """Inextensible, unshearable cantilever of length 1 and EI = 1 with a dead tip load."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e6, EI=1.0, rhoA=1.0)
    m.line("b", (0, 0), (1, 0), n)
    m.beams("b", "b", "s")
    m.fix("b:start")
    m.force("F", "b:end", (0, load))
    m.sensor("u", "displacement", on="b:end")
    m.static_step(increments=4)
    return m


# P L^2/EI, deflection and shortening over L (elliptic integrals)
ELASTICA = [(1.0, 0.30172, 0.05643), (2.0, 0.49346, 0.16064), (5.0, 0.71379, 0.38763), (10.0, 0.81061, 0.55500)]


@pytest.mark.parametrize(("load", "w", "u"), ELASTICA)
def test_static_elastica(load, w, u):
    tip = solve(cantilever(16, load)).sensor("u").values[-1]
    np.testing.assert_allclose(tip, (-u, w), atol=3e-5)


def test_static_gravity_then_transient_rests():
    """A beam that hangs in equilibrium stays there: nothing moves in the transient that follows."""
    m = Model(2, gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e6, EI=50.0, rhoA=2.0)
    m.line("b", (0, 0), (1, 0), 6)
    m.beams("b", "b", "s")
    m.fix("b:start")
    m.sensor("v", "velocity", on="b:end")
    m.sensor("R", "reaction", on="b:start")
    m.static_step(increments=2)
    m.transient_step(0.2, 0.01)
    solution = solve(m)
    assert np.abs(solution.steps[-1].series["sensor/v"]).max() < 1e-7
    np.testing.assert_allclose(solution.steps[0].series["sensor/R"][-1], (0.0, 2 * 9.81, 9.81), rtol=2e-2, atol=1e-8)


def pendulum(h: float, duration: float = 1.0, **options) -> Model:
    """Two beams, a body and a spring, hanging from a pin and released."""
    m = Model(2, gravity=(0, -9.81))
    m.section("s", "stiffness", EA=100.0, EI=1.0, rhoA=1.0, rhoI=1e-3)
    m.line("a", (0, 0), (1, 0), 3)
    m.beams("a", "a", "s")
    m.fix("a:start", ["x", "y"])
    m.body("b", (1.3, 0), mass=0.5, inertia=0.02)
    m.joint("elbow", "pin", "a:end", "b", point=(1, 0))
    m.spring("k", "b", "ground", 5.0, point_b=(1.3, 1.0))
    m.sensor("x", "position", on="b")
    m.transient_step(duration, h, frames=0, **options)
    return m


def test_midpoint_is_of_second_order():
    def end(h):
        return solve(pendulum(h)).sensor("x").values[-1]

    best = end(1 / 51200)  # the axial waves must be resolved
    errors = [float(np.linalg.norm(end(h) - best)) for h in (1 / 1600, 1 / 3200)]
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.1
    assert errors[0] < 5e-6


@pytest.mark.parametrize("length", [1, 3, 1000])
def test_results_do_not_depend_on_chunks(length, monkeypatch):
    whole = solve(pendulum(0.01))
    monkeypatch.setattr(Stepping, "chunk_length", lambda self, pace, remaining: min(length, remaining))
    cut = solve(pendulum(0.01))
    for name, values in whole.steps[0].series.items():
        np.testing.assert_array_equal(values, cut.steps[0].series[name], err_msg=name)


@pytest.mark.parametrize("solver", ["superlu", "auto"])
def test_wide_model_conserves_and_equals_the_banded_solution(solver, monkeypatch):
    def run():
        m = Model(2, gravity=(0, -9.81))
        m.section("s", "stiffness", EA=1e4, rhoA=1.0)
        m.mesh("g", grid2d((1.2, 0.8), (6, 4), diagonals="rising"))
        m.trusses("t", "g", "s")
        m.fix("g:left")
        m.sensor("x", "position", on="g:top_right")
        m.transient_step(0.3, 0.01, solver=solver)
        return solve(m)

    banded = run()
    monkeypatch.setattr("fem_mbs.system.compile.BAND_LIMIT", 0)
    wide = run()
    assert banded.summary["model"]["solver"].startswith("banded")
    assert wide.summary["model"]["solver"] == "sparse"
    np.testing.assert_allclose(wide.steps[-1].series["sensor/x"], banded.steps[-1].series["sensor/x"], atol=1e-9)
    assert wide.steps[0].summary["energy"]["closing_error_relative"] < 1e-11


def chain(*speeds, **options) -> Model:
    m = Model(2)
    m.material("steel", E=2e11, density=7800.0)
    m.section("r", "circle", diameter=0.02)
    for name, x in (("a", 0.0), ("b", 1.0)):
        m.line(name, (x, 0), (x + 1, 0), 4)
        m.beams(name, name, "r", "steel")
    m.fix("a:start", ["x", "y"])
    m.joint("elbow", "pin", "a:end", "b:start")
    m.initial_speed("a:start", "rotation", 2.0)
    m.initial_speed("b:start", "rotation", -5.0, against="a:end")
    m.sensor("v", "velocity", on="b:end")
    m.transient_step(0.01, 1e-3, **options)
    return m


def test_initial_speeds_of_joints_strain_nothing():
    """Shoulder 2 rad/s, elbow -5 rad/s: the tip moves with 2 * 1 + (2 - 5) * 1 as if the links were rigid."""
    solution = solve(chain())
    np.testing.assert_allclose(solution.sensor("v").values[0], (0.0, -1.0), atol=1e-9)
    assert solution.steps[0].ledger("strain").max() < 1e-3 * solution.steps[0].ledger("kinetic")[0]


def test_contradicting_speeds_are_named():
    m = chain()
    m.initial_speed("b:start", "rotation", 1.0, against="a:end")
    with pytest.raises(ModelError, match="contradict"):
        solve(m)


def test_step_that_cannot_converge_is_refused():
    m = pendulum(0.5, 0.5, max_iterations=1, halvings=1)
    with pytest.raises(ConvergenceError, match=r'node "|constraint of "'):
        solve(m)


def test_failed_step_is_made_in_parts():
    solution = solve(pendulum(0.25, 0.5, max_iterations=4, halvings=6))
    assert solution.steps[0].summary["halved_steps"] > 0
    assert len(solution.steps[0].time) == 3
    assert solution.steps[0].summary["energy"]["closing_error_relative"] < 1e-11


def test_damping_is_booked():
    m = pendulum(0.01)
    m.torsion_spring("d", "ground", "b", 0.0, damping=0.3)
    step = solve(m).steps[0]
    loss = step.ledger("dissipated")
    assert np.all(np.diff(loss) >= 0.0)
    assert loss[-1] > 0.01
    assert np.abs(step.ledger("closing error")).max() < 1e-11 * step.ledger("kinetic").max()


def test_function_that_ends_is_named():
    m = pendulum(0.01)
    m.force("push", "b", (1.0, 0.0), function="sqrt(0.5 - t)")
    with pytest.raises(ModelError, match=r'Force "push": its function is nan at t = 0\.5'):
        solve(m)
