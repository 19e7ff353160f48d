"""A point that slides along flexible beams and cables."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.errors import AnalysisError
from fem_mbs.validation.case import constancy, energy_error


def wire(dimension: int, n: int = 6, held: str = "both", gravity: bool = True, reverse: bool = False, **stiffness):
    """A bead on a wire of length 2 along x."""
    e = np.eye(dimension)
    model = Model(dimension, gravity=-9.81 * e[1] if gravity else None)
    more = {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3}
    given = {"EA": 2e4, "GA": 8e3, "rhoA": 1.1, **(more if dimension == 3 else {"EI": 20.0, "rhoI": 3e-3}), **stiffness}
    model.section("s", "stiffness", **given)
    ends = (2.0 * e[0], 0.0 * e[0]) if reverse else (0.0 * e[0], 2.0 * e[0])
    model.line("w", *ends, n)
    model.beams("wire", "w", "s")
    if held != "none":
        model.fix("w:start")
    if held == "both":
        model.fix("w:end", ["x", "y", "z"][:dimension])
    model.node("bead", 0.31 * e[0])
    model.point_mass("m", "bead", 0.5)
    model.sensor("bead", "position", on="bead")
    return model


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [2, 3])
def test_energy_across_elements(dimension, reverse):
    """The bead runs over several elements of a sagging wire; energy to round-off, the constraint too."""
    model = wire(dimension, reverse=reverse)
    model.joint("bore", "along_beam", "wire", "bead")
    model.initial("bead", velocity=3.0 * np.eye(dimension)[0])
    model.sensor("way", "joint", on="bore")
    model.transient_step(0.5, 0.005, frames=0)
    solution = solve(model)
    step = solution.steps[0]
    way = solution.sensor("way").values[:, 0] * (-1.0 if reverse else 1.0)
    assert way[-1] > 1.2
    assert energy_error(step) < 1e-11
    assert step.summary["constraint_error"] < 1e-14
    assert step.summary["iterations"] < 6 * step.summary["n_steps"]


@pytest.mark.parametrize("dimension", [2, 3])
def test_free_flight(dimension):
    """Energy and linear momentum exactly, angular momentum nearly."""
    drift = []
    for h in (0.01, 0.005):
        model = wire(dimension, held="none", gravity=False)
        model.joint("bore", "along_beam", "wire", "bead")
        model.initial("w", velocity=np.eye(dimension)[1], spin=8.0 if dimension == 2 else (0.3, 0.2, 8.0))
        model.initial("bead", velocity=(2.0, 3.0, 0.0)[:dimension])
        model.transient_step(0.3, h, frames=0)
        step = solve(model).steps[0]
        assert energy_error(step, constant=True) < 1e-11
        assert constancy(step, "linear momentum") < 1e-11
        drift.append(constancy(step, "angular momentum"))
    assert drift[0] < 1e-5
    assert drift[1] < 0.6 * drift[0]


def test_straight_rigid_wire_that_turns():
    """s'' = w^2 s on a stiff wire that is driven at a constant speed."""
    model = wire(2, held="none", gravity=False, EA=1e8, EI=1e6, GA=np.inf, rhoA=1e-3, rhoI=0.0)
    model.joint("bore", "along_beam", "wire", "bead")
    model.motion("turn", "w:start", "rotation", "3*t")
    model.fix("w:start", ["x", "y"])
    model.initial("bead", velocity=(0.0, 0.93))
    model.sensor("way", "joint", on="bore")
    model.transient_step(0.5, 0.001, frames=0)
    solution = solve(model)
    t = solution.steps[0].time
    assert solution.sensor("way").values[:, 0] == pytest.approx(0.31 * (np.cosh(3.0 * t) - 1.0), abs=2e-4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_statics_of_a_driven_point(dimension):
    """A weight on a pinned beam, moved along it by a driver: deflection F a^2 b^2/(3 EI L) under it."""
    model = (
        wire(dimension, n=32, gravity=False, GA=np.inf, EIz=20.0)
        if dimension == 3
        else wire(2, 32, gravity=False, GA=np.inf)
    )
    model.joint("bore", "along_beam", "wire", "bead", function="0.4*t")
    model.fix("w:end", ["rotation"])
    model.force("F", "bead", -0.5 * np.eye(dimension)[1])
    model.sensor("force", "reaction", on="bore")
    model.static_step(vary=["F"])
    deflection = solve(model).sensor("bead").values[-1, 1]
    a, b = 0.31, 2.0 - 0.31
    assert deflection == pytest.approx(-0.5 * (a * b) ** 3 / (3 * 20.0 * 8.0), rel=2e-3)  # clamped at both ends


def test_slide_of_a_pulley_along_a_cable():
    """Along trusses the line has corners: the bead still keeps its energy."""
    model = Model(2, gravity=(0.0, -9.81))
    model.section("rope", "stiffness", EA=1e4, EI=1.0, rhoA=0.1)
    model.polyline("w", [(0.0, 0.0), (1.0, -0.4), (2.0, 0.0)], [3, 3])
    model.trusses("rope", "w", "rope")
    for end in ("start", "end"):
        model.fix(f"w:{end}")
    model.node("trolley", (0.5, -0.2))
    model.point_mass("m", "trolley", 2.0)
    model.joint("wheel", "along_beam", "rope", "trolley")
    model.sensor("way", "joint", on="wheel")
    model.transient_step(0.4, 0.002, frames=0)
    solution = solve(model)
    assert energy_error(solution.steps[0]) < 1e-10
    assert solution.sensor("way").values[-1, 0] > 0.2


def test_off_the_end():
    model = wire(2, gravity=False)
    model.joint("bore", "along_beam", "wire", "bead")
    model.initial("bead", velocity=(5.0, 0.0))
    model.transient_step(1.0, 0.005, frames=0)
    with pytest.raises(AnalysisError, match=r'Joint "bore": way beyond the end .* make the line longer'):
        solve(model)


def test_wrong_lines():
    model = wire(2)
    with pytest.raises(ModelError, match='Joint "j": a = "wires" is no beam or truss; there are wire'):
        model.joint("j", "along_beam", "wires", "bead")
    model = wire(2)
    model.node("far", (0.5, 0.1))
    with pytest.raises(ModelError, match=r'Joint "j": its point is 0\.1 m off the line of "wire"'):
        model.joint("j", "along_beam", "wire", "far")
    with pytest.raises(ModelError, match="is a node of the line itself"):
        wire(2).joint("j", "along_beam", "wire", "w:start")
    model = Model(2)
    model.section("s", "stiffness", EA=1.0, EI=1.0, rhoA=1.0)
    model.polyline("w", [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)], 1)
    model.beams("wire", "w", "s")
    model.node("bead", (0.5, 0.0))
    with pytest.raises(ModelError, match="are not one open line"):
        model.joint("j", "along_beam", "wire", "bead")


@pytest.mark.parametrize("strains", ["generalised", "corotational"])
def test_curved_beams_are_found(strains):
    """The place on a curved beam is that on its cubic, to round-off."""
    model = Model(3)
    model.section("s", "stiffness", EA=1e4, GA=np.inf, GJ=10.0, EIy=10.0, EIz=10.0, rhoA=1.0, rhoI=0.0)
    model.arc("w", (0.0, 0.0, 0.0), 1.0, (0.0, 90.0), 4)
    model.beams("wire", "w", "s", strains=strains, curved=True)
    model.fix("w:start")
    model.node("bead", (np.cos(0.7), np.sin(0.7), 0.0))
    model.point_mass("m", "bead", 0.1)
    with pytest.raises(ModelError, match="off the line"):  # the cubics leave the circle by a little
        model.joint("bore", "along_beam", "wire", "bead")


@pytest.mark.parametrize("dimension", [2, 3])
def test_results_folder(tmp_path, dimension):
    """Figures have a symbol for the sliding joint; a continued run has the same bits."""
    model = wire(dimension, gravity=False)
    model.joint("bore", "along_beam", "wire", "bead")
    model.initial("bead", velocity=np.eye(dimension)[0])
    model.transient_step(0.2, 0.01, restarts=2)
    whole = run(model, tmp_path / "a")
    assert [j["name"] for j in whole.header["joints"]] == ["bore"]
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    again = run(model, tmp_path / "b", restart=0)
    assert np.array_equal(whole.sensor("bead").values, again.sensor("bead").values)


def test_the_rate_along_the_line_is_no_change_of_velocities():
    """Velocities that fit are not said to be changed, whichever rate of the way follows from them."""
    for method in ("auto", "given"):
        model = wire(2)
        model.joint("bore", "along_beam", "wire", "bead")
        model.initial("bead", velocity=(3.0, 0.0), method=method)
        model.sensor("way", "joint", on="bore")
        model.transient_step(0.01, 0.001, frames=0)
        solution = solve(model)
        assert solution.summary["steps"][0]["start"]["largest_change"] < 1e-12
        assert np.diff(solution.steps[-1].series["sensor/way"][:, 0])[0] == pytest.approx(3e-3, rel=1e-2)


def test_reaction_on_whatever_element():
    """The reaction of the joint is there on all elements of the line: the weight of a bead that is at rest."""
    for x in (0.31, 0.9):
        model = wire(2)
        model.joint("bore", "along_beam", "wire", "bead", function=f"{x - 0.31}*t")
        model.sensor("r", "reaction", on="bore")
        model.static_step(6)
        model.static_step(4, duration=1.0, name="way")
        r = solve(model).steps[-1].series["sensor/r"][-1]
        assert r[1] == pytest.approx(-0.5 * 9.81, rel=0.05)
