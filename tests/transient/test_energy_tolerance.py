"""Steps that are iterated to an energy tolerance: what it promises, and that nothing else changes."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console
from scipy.integrate import solve_ivp

from fem_mbs.analysis.run import run, solve
from fem_mbs.cli.report import print_report
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Model
from fem_mbs.results.reader import Results


def slider_crank(tolerance: float = 0.0, steps: int = 300, **options) -> Model:
    """A stiff rod on a driven crank: axial vibrations that the steps do not resolve."""
    model = Model(2, "crank")
    model.material("steel", E=2.07e11, nu=0.3, density=7830.0)
    model.section("round", "circle", diameter=0.006)
    model.line("rod", (0.15, 0.0), (0.45, 0.0), 4)
    model.beams("rod", "rod", "round", "steel")
    model.body("crank", position=(0.0, 0.0), mass=0.1, inertia=1e-3)
    model.joint("axle", "pin", "crank", point=(0.0, 0.0))
    model.motion("drive", "crank", "rotation", "125*t")
    model.joint("crank pin", "pin", "crank", "rod:start")
    model.joint("slider", "slider", "rod:end", axis=(1.0, 0.0))
    model.sensor("place", "position", on="rod:end")
    model.sensor("force", "reaction", on="crank pin")
    h = options.pop("h", 1e-4)
    model.transient_step(steps * h, h, frames=0, energy_tolerance=tolerance, **options)
    return model


def beam_in_space(tolerance: float = 0.0, **options) -> Model:
    """A clamped beam with a force across that ends, then free vibrations."""
    model = Model(3, "beam")
    model.section("beam", "stiffness", EA=1e6, GA=1e6, GJ=1e3, EI=1e3, rhoA=1.0, rhoI=10.0)
    model.line("beam", (0.0, 0.0, 0.0), (10.0, 0.0, 0.0), 4)
    model.beams("beam", "beam", "beam", orientation=(0.0, 0.0, 1.0))
    model.fix("beam:start")
    model.force(
        "pulse", "beam:end", (0.0, 1.0, 2.0), function={"kind": "table", "times": [0, 1, 2, 9], "values": [0, 9, 0, 0]}
    )
    model.sensor("place", "position", on="beam:end")
    model.transient_step(6.0, 0.02, frames=0, energy_tolerance=tolerance, **options)
    return model


def chain(tolerance: float = 0.0, **options) -> Model:
    """Rigid rods on spherical joints in space, let go from the horizontal."""
    model = Model(3, "chain", gravity=(0.0, -9.81, 2.0))
    for i in range(6):
        model.body(f"rod {i}", (i + 0.5, 0.0, 0.0), 1.0, (1e-3, 1 / 12, 1 / 12))
        model.joint(
            f"joint {i}", "spherical", f"rod {i - 1}" if i else "ground", f"rod {i}", point=(float(i), 0.0, 0.0)
        )
    model.sensor("place", "position", on="rod 5")
    duration = options.pop("duration", 1.5)
    model.transient_step(duration, options.pop("h", 0.005), frames=0, energy_tolerance=tolerance, **options)
    return model


def ball(tolerance: float = 0.0, **options) -> Model:
    """A ball that falls on a plane and bounces with friction: contact comes and goes, forces depend on others."""
    model = Model(2, "ball", gravity=(0.0, -9.81))
    model.body("ball", (0.0, 0.3), 1.0, 4e-3)
    model.initial("ball", velocity=(1.0, 0.0))
    model.contact(
        "floor", "ground", "ball", ball=0.1, point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=2e5, coefficient=0.3,
        smoothing=1e-2,
    )  # fmt: skip
    model.sensor("place", "position", on="ball")
    model.transient_step(1.0, 5e-4, frames=0, energy_tolerance=tolerance, **options)
    return model


CASES = {"slider-crank": slider_crank, "beam in space": beam_in_space, "chain": chain}


def place(solution) -> np.ndarray:
    return solution.sensor("place").values


@pytest.mark.parametrize("name", CASES)
def test_the_energy_and_the_motion_are_as_exact_as_asked(name):
    exact = solve(CASES[name]())
    size = np.ptp(place(exact), axis=0).max()
    iterations = [exact.steps[0].report.iterations]
    assert exact.steps[0].report.energy.tolerance is None
    assert exact.steps[0].report.energy.closing_error_relative < 2e-12
    for tolerance in (1e-9, 1e-6, 1e-4):
        found = solve(CASES[name](tolerance))
        report = found.steps[0].report
        assert report.energy.tolerance == tolerance
        assert report.energy.closing_error_relative <= tolerance
        assert np.abs(place(found) - place(exact)).max() <= 10.0 * tolerance * size
        assert not report.warnings
        iterations.append(report.iterations)
    assert iterations == sorted(iterations, reverse=True)
    assert iterations[2] < 0.75 * iterations[0]


def test_forces_of_joints_follow():
    exact, found = solve(slider_crank()), solve(slider_crank(1e-8))
    force = exact.sensor("force").values
    assert np.nanmax(np.abs(found.sensor("force").values - force)) < 1e-4 * np.nanmax(np.abs(force))


def test_a_motion_from_rest_begins():
    """The increments of the first steps are tiny beside all energies: they must not be taken for nothing."""

    def pendulum(tolerance: float) -> Model:
        model = Model(2, "pendulum", gravity=(0.0, -9.81))
        model.body("bob", (1.0, 0.0), 1.0, 0.0)
        model.joint("hinge", "pin", "bob", point=(0.0, 0.0))
        model.sensor("place", "position", on="bob")
        model.transient_step(0.5, 1e-4, frames=0, energy_tolerance=tolerance)
        return model

    end = solve_ivp(lambda t, y: (y[1], -9.81 * np.cos(y[0])), (0.0, 0.5), (0.0, 0.0), rtol=1e-11, atol=1e-12).y[0, -1]
    for tolerance in (0.0, 1e-6, 1e-3):
        found = place(solve(pendulum(tolerance)))[-1]
        assert np.abs(found - (np.cos(end), np.sin(end))).max() < 1e-6 + tolerance


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_the_order_of_the_rule_stays(tolerance):
    places = [place(solve(chain(tolerance, duration=0.4, h=0.4 / n)))[-1] for n in (640, 160, 80)]
    errors = [np.abs(p - places[0]).max() for p in places[1:]]
    # against steps of a fourth and an eighth: errors of h^2 give 4 (1 - 1/64) / (1 - 1/16)
    assert abs(errors[1] / errors[0] - 4.2) < 0.2


def test_adaptive_steps_keep_the_tolerance():
    exact = solve(slider_crank(0.0, 50, h=2e-4, adaptive=1e-5))
    found = solve(slider_crank(1e-7, 50, h=2e-4, adaptive=1e-5))
    report = found.steps[0].report
    assert report.energy.closing_error_relative <= 1e-7
    assert report.iterations < exact.steps[0].report.iterations
    assert np.abs(place(found) - place(exact)).max() < 1e-5


def test_contact_keeps_the_tolerance():
    for tolerance in (1e-9, 1e-6):
        report = solve(ball(tolerance)).steps[0].report
        assert report.energy.closing_error_relative <= tolerance


def test_a_run_goes_on_from_a_restart_point_with_the_same_bits(tmp_path):
    whole = run(slider_crank(1e-6, restarts=3), tmp_path / "whole")
    again = run(slider_crank(1e-6, restarts=3), tmp_path / "whole", restart=1)
    memory = solve(slider_crank(1e-6))
    for name in ("place", "force"):
        assert np.array_equal(whole.sensor(name).values, again.sensor(name).values, equal_nan=True)
        assert np.array_equal(whole.sensor(name).values, memory.sensor(name).values, equal_nan=True)
    assert np.array_equal(whole.steps[0].series["iterations"], memory.steps[0].series["iterations"])


def test_the_summary_says_what_was_asked_for(tmp_path):
    run(slider_crank(1e-6, 50), tmp_path / "asked")
    energy = json.loads((tmp_path / "asked" / "summary.json").read_text(encoding="utf-8"))["steps"][0]["energy"]
    assert energy["tolerance"] == 1e-6
    assert 0.0 < energy["closing_error_relative"] <= 1e-6
    run(slider_crank(0.0, 50), tmp_path / "exact")
    energy = json.loads((tmp_path / "exact" / "summary.json").read_text(encoding="utf-8"))["steps"][0]["energy"]
    assert "tolerance" not in energy
    for name, shown in (("asked", True), ("exact", False)):
        text = io.StringIO()
        print_report(Console(file=text, width=200), Results.open(tmp_path / name))
        assert ("(asked for: 1e-06)" in text.getvalue()) == shown


@pytest.mark.parametrize("value", [-1e-6, 1e-13, 2e-3, float("nan"), "fine", True])
def test_values_that_make_no_sense(value):
    with pytest.raises(ModelError, match="energy_tolerance"):
        solve(slider_crank(value))


@pytest.mark.parametrize("rule", ["newmark", "hht", "generalised-alpha", "explicit", "hamiltonian"])
def test_other_rules_have_no_such_energy(rule):
    with pytest.raises(ModelError, match="energy_tolerance belongs to rule") as error:
        solve(slider_crank(1e-6, rule=rule))
    assert error.value.key == "energy_tolerance"
