"""Bodies that slide along beams and turn with them: conservation, statics, modes, drivers, reduced parts."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from flexible_parts import reduced

from fem_mbs import Model, ModelError, load_model, run, solve
from fem_mbs.errors import AnalysisError
from fem_mbs.validation.case import constancy, energy_error

KINDS = [
    pytest.param("prismatic_along_beam", 2, id="prismatic-plane"),
    pytest.param("cylindrical_along_beam", 3, id="cylindrical"),
    pytest.param("prismatic_along_beam", 3, id="prismatic-space"),
]
STIFF = {"EA": 2e4, "GA": 8e3, "rhoA": 1.1}
MORE = {3: {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3}, 2: {"EI": 20.0, "rhoI": 3e-3}}


def wire(dimension: int, n: int = 6, arc: bool = False) -> Model:
    """A beam of length 2 along x, or a quarter of a circle of radius 1."""
    pad = (0.0,) * (dimension - 2)
    m = Model(dimension)
    m.section("s", "stiffness", **STIFF, **MORE[dimension])
    if arc:
        m.arc("w", (0.0, 0.0, *pad), 1.0, (0.0, 90.0), n)
    else:
        m.line("w", (0.0, 0.0, *pad), (2.0, 0.0, *pad), n)
    m.beams("wire", "w", "s")
    return m


def with_slider(m: Model, kind: str, point, off=(0.05, 0.1, 0.02), line="wire", **options) -> Model:
    """Add a body beside a point of the line, which slides there."""
    dimension = m.dimension
    point = np.asarray(point, float)[:dimension]
    turned = {"angle": 0.3} if dimension == 2 else {"rotation": (0.2, 0.3, 0.4)}
    inertia = 0.01 if dimension == 2 else (0.01, 0.02, 0.015)
    m.body("b", point + np.asarray(off)[:dimension], 0.5, inertia, **turned)
    m.joint("bore", kind, line, "b", point=point, **options)
    return m


@pytest.mark.parametrize("arc", [False, True])
@pytest.mark.parametrize(("kind", "dimension"), KINDS)
def test_free_flight_over_elements(kind, dimension, arc):
    """Energy and both momenta to round-off, while the slider passes from element to element."""
    m = wire(dimension, arc=arc)
    place = (np.cos(0.3), np.sin(0.3), 0.0) if arc else (0.31, 0.0, 0.0)
    with_slider(m, kind, place)
    m.initial("w", velocity=np.eye(dimension)[1], spin=4.0 if dimension == 2 else (0.3, 0.2, 4.0))
    m.initial("b", velocity=(2.0, 1.0, 0.0)[:dimension])
    m.sensor("way", "joint", on="bore")
    m.transient_step(0.3, 0.005, frames=0)
    solution = solve(m)
    step = solution.steps[0]
    way = solution.sensor("way").values[:, 0]
    assert np.ptp(way) > (0.25 if arc else 0.5)  # the elements are 0.26 and 0.33 long
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11
    assert step.summary["constraint_error"] < 1e-13
    assert step.summary["iterations"] < 8 * step.summary["n_steps"]


@pytest.mark.parametrize("rule", ["newmark", "hht", "generalised-alpha"])
def test_other_rules_hold_the_constraints(rule):
    m = with_slider(wire(2), "prismatic_along_beam", (0.31, 0.0))
    m.fix("w:start", ["x", "y", "rotation"])
    m.initial("b", velocity=(2.0, 0.0))
    m.transient_step(0.2, 0.005, rule=rule, frames=0)
    assert solve(m).steps[0].summary["constraint_error"] < 1e-12


@pytest.mark.parametrize(("kind", "dimension"), KINDS)
def test_statics_of_a_moment_on_the_slider(kind, dimension):
    """A cantilever whose slider, held by a driver, takes moments: M a/EI, and T a/GJ where it follows the sections."""
    m = wire(dimension, n=7)
    m.fix("w:start", ["x", "y", "rotation"] if dimension == 2 else
          ["x", "y", "z", "rotation x", "rotation y", "rotation z"])  # fmt: skip
    a = 6.0 / 7.0  # at a node: within an element a moment is carried as that of its ends
    with_slider(m, kind, (a, 0.0, 0.0), off=(0.0, 0.0, 0.0), function="0*t")
    bend = 20.0
    twist = kind == "prismatic_along_beam" and dimension == 3
    moment = 0.02 if dimension == 2 else (0.015 if twist else 0.0, 0.0, 0.02)
    m.moment("M", "b", moment)
    if kind == "cylindrical_along_beam":
        m.bushing("soft", "ground", "b", np.array((0.0, 0.0, 0.0, 1e-6, 0.0, 0.0)), point=(a, 0.0, 0.0))
    m.sensor("turn", "rotation", on="b")
    m.sensor("force", "reaction", on="bore")
    m.static_step(vary=["M"])
    solution = solve(m)
    turn = np.atleast_1d(solution.sensor("turn").values[-1])
    assert turn[-1] == pytest.approx(0.02 * a / bend, rel=1e-4)
    if twist:
        assert turn[0] == pytest.approx(0.015 * a / 15.0, rel=1e-3)
    reaction = solution.sensor("force").values[-1]
    assert reaction[-1] == pytest.approx(0.02, rel=1e-6)  # on the beam


@pytest.mark.parametrize(("kind", "dimension"), KINDS)
def test_moment_on_the_line_is_that_about_the_point_where_the_slider_is(kind, dimension):
    """A force on a body beside the line: the joint gives the line this force, and its moment about the point."""
    m = wire(dimension, n=1)
    for place in ("w:start", "w:end"):
        m.fix(place)
    off, force = (0.05, 0.4, -0.3), (0.0, -0.2, 0.5)
    with_slider(m, kind, (1.2, 0.0, 0.0), off=off, function="0*t")
    if kind == "cylindrical_along_beam":
        m.bushing("soft", "ground", "b", np.array((0.0, 0.0, 0.0, 1e-6, 0.0, 0.0)), point=(1.2, 0.0, 0.0))
        force = (0.0, 0.5 * off[1], 0.5 * off[2])  # nothing else holds its rotation
    m.force("F", "b", force[:dimension])
    m.sensor("on the line", "reaction", on="bore")
    m.linear_static_step()
    found = solve(m).sensor("on the line").values[-1]
    moment = np.cross(off, force) if dimension == 3 else np.cross((*off[:2], 0.0), (*force[:2], 0.0))[2:]
    assert found == pytest.approx([*force[:dimension], *moment], abs=1e-9)


def test_small_motions_about_the_bottom_of_an_arc():
    """A body on a held arc swings like a compound pendulum: (m g r/(m r^2 + J))^(1/2)."""
    m = Model(2, gravity=(0.0, -9.81))
    m.section("s", "stiffness", EA=1e6, EI=1e4, rhoA=1.0)
    m.arc("w", (0.0, 0.0), 2.0, (-150.0, -30.0), 12)
    m.beams("wire", "w", "s")
    m.fix("w", ["x", "y", "rotation"])
    m.body("b", (0.0, -1.9), 3.0, 0.4)
    m.joint("bore", "prismatic_along_beam", "wire", "b", point=(0.0, -2.0))
    m.static_step()
    m.modes_step(1)
    found = np.array(solve(m).steps[1].summary["frequencies_hz"])
    exact = np.sqrt(3.0 * 9.81 * 1.9 / (3.0 * 1.9**2 + 0.4)) / (2.0 * np.pi)
    assert found[0] == pytest.approx(exact, rel=2e-3)


def test_driver_spring_and_restart(tmp_path):
    """A driver moves the slider along the line, a spring holds another one; a continued run has the same bits."""
    m = with_slider(wire(3), "prismatic_along_beam", (0.31, 0.0, 0.0), function="0.5*t")
    m.fix("w:start", ["x", "y", "z", "rotation x", "rotation y", "rotation z"])
    m.body("c", (1.7, 0.1, 0.0), 0.2, (0.01, 0.01, 0.01))
    m.joint("other", "cylindrical_along_beam", "wire", "c", point=(1.7, 0.0, 0.0))
    m.joint_spring("spring", "other", 50.0)
    m.sensor("way", "joint", on="bore")
    m.sensor("drive", "joint", on="bore", quantity="drive force")
    m.sensor("place", "position", on="c")
    m.transient_step(0.4, 0.01, restarts=2)
    solution = solve(m)
    step = solution.steps[0]
    assert solution.sensor("way").values[:, 0] == pytest.approx(0.5 * step.time, abs=1e-12)
    assert energy_error(step) < 1e-10
    power = solution.steps[-1].series["sensor/drive"][1:, 0] * np.diff(0.5 * step.time)
    assert power.sum() == pytest.approx(step.ledger("driver work")[-1], rel=1e-9)
    whole = run(m, tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    again = run(m, tmp_path / "b", restart=0)
    for name in ("way", "place"):
        assert np.array_equal(whole.sensor(name).values, again.sensor(name).values)
    assert {j["name"]: j["glyph"] for j in whole.header["joints"]} == {"bore": "slide", "other": "sleeve"}


@pytest.mark.parametrize(
    ("kind", "dimension"), [("along_beam", 2), ("prismatic_along_beam", 2), ("prismatic_along_beam", 3)]
)
def test_along_interfaces_of_a_reduced_part(kind, dimension):
    """A reduced beam with interfaces at its nodes: the path of a driven slider is that on the beam itself."""
    pad = (0.0,) * (dimension - 2)

    def finish(m: Model, line, start, end) -> np.ndarray:
        components = ["x", "y", "rotation"] if dimension == 2 else [
            "x", "y", "z", "rotation x", "rotation y", "rotation z"]  # fmt: skip
        m.fix(start, components)
        m.fix(end, components)
        with_slider(m, kind, (0.31, 0.0, 0.0), off=(0.0, 0.0, 0.0), line=line, function="0.6*t")
        m.force("F", "b", -0.5 * np.eye(dimension)[1])
        m.sensor("place", "position", on="b")
        m.static_step(vary=["F"])
        m.static_step(6, duration=1.0, name="way")
        solution = solve(m)
        return solution.steps[-1].series["sensor/place"]

    whole = Model(dimension)
    whole.section("s", "stiffness", **STIFF, **MORE[dimension])
    whole.polyline("w", [(0.25 * k, 0.0, *pad) for k in range(9)], 1)
    whole.beams("wire", "w", "s")
    part = reduced(whole, {f"i{k}": k for k in range(9)}, 0)
    m = Model(dimension)
    m.reduced_part("boom", part)
    found = finish(m, "boom" if dimension == 2 else [f"boom:i{k}" for k in range(9)], "boom:i0", "boom:i8")
    m = Model(dimension)
    m.section("s", "stiffness", **STIFF, **MORE[dimension])
    m.polyline("w", [(0.25 * k, 0.0, *pad) for k in range(9)], 1)
    m.beams("wire", "w", "s")
    direct = finish(m, "wire", "w:start", "w:end")
    assert np.abs(direct[:, 1]).max() > 1e-3
    assert np.abs(found - direct).max() < 0.02 * np.abs(direct[:, 1]).max()


def test_motion_along_a_reduced_part_conserves():
    whole = wire(3, n=4)
    part = reduced(whole, {f"i{k}": k for k in range(5)})
    m = Model(3)
    m.reduced_part("boom", part)
    with_slider(m, "prismatic_along_beam", (0.31, 0.0, 0.0), line="boom")
    m.initial("boom", velocity=(0.0, 1.0, 0.0), spin=(0.3, 0.2, 2.0))
    m.initial("b", velocity=(2.0, 1.0, 0.0))
    m.sensor("way", "joint", on="bore")
    m.transient_step(0.3, 0.005, frames=0)
    solution = solve(m)
    step = solution.steps[0]
    assert np.ptp(solution.sensor("way").values) > 0.5
    assert energy_error(step, constant=True) < 1e-10
    assert constancy(step, "linear momentum") < 1e-10
    assert constancy(step, "angular momentum") < 1e-10


def test_friction_along_the_line():
    """On a straight stiff beam a slider slows down by mu N, N its weight."""
    m = Model(2, gravity=(0.0, -9.81))
    m.section("s", "stiffness", EA=1e8, EI=1e7, rhoA=1.0)
    m.line("w", (0.0, 0.0), (4.0, 0.0), 4)
    m.beams("wire", "w", "s")
    m.fix("w", ["x", "y", "rotation"])
    m.body("b", (0.5, 0.0), 2.0, 0.1)
    m.joint("bore", "prismatic_along_beam", "wire", "b", point=(0.5, 0.0))
    m.friction("rub", "bore", coefficient=0.2, smoothing=1e-3)
    m.initial("b", velocity=(2.0, 0.0))
    m.sensor("speed", "velocity", on="b")
    m.transient_step(0.5, 0.005, frames=0)
    solution = solve(m)
    speed = solution.sensor("speed").values[:, 0]
    assert speed[-1] == pytest.approx(2.0 - 0.2 * 9.81 * 0.5, rel=1e-3)
    assert energy_error(solution.steps[0]) < 1e-9


def test_off_the_end_and_wrong_lines(tmp_path):
    m = with_slider(wire(2), "prismatic_along_beam", (1.8, 0.0))
    m.initial("b", velocity=(5.0, 0.0))
    m.transient_step(1.0, 0.005, frames=0)
    with pytest.raises(AnalysisError, match=r'Joint "bore": way beyond the end .* at t = .* make the line longer'):
        solve(m)
    with pytest.raises(ModelError, match='Joint "bore": a "cylindrical_along_beam" joint is one of space'):
        with_slider(wire(2), "cylindrical_along_beam", (0.3, 0.0))
    with pytest.raises(ModelError, match=r'Joint "bore": its point is 0\.1 m off the line of "wire"'):
        with_slider(wire(2), "prismatic_along_beam", (0.3, 0.1))
    with pytest.raises(ModelError, match=r'Joint "bore": a = "wires" is no beam or truss; there are wire'):
        with_slider(wire(2), "prismatic_along_beam", (0.3, 0.0), line="wires")
    m = Model(2)
    m.section("s", "stiffness", EA=1.0, EI=1.0, rhoA=1.0)
    m.polyline("w", [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], 2)
    m.beams("wire", "w", "s")
    with pytest.raises(ModelError, match='Joint "bore": its line has a corner of 90 degrees at node "w 3"'):
        with_slider(m, "prismatic_along_beam", (0.3, 0.0))
    m = Model(2)
    m.section("s", "stiffness", EA=1.0, EI=1.0, rhoA=1.0)
    m.line("w", (0.0, 0.0), (1.0, 0.0), 2)
    m.trusses("wire", "w", "s")
    with pytest.raises(ModelError, match=r'Joint "bore": "wire" is a truss, whose nodes do not turn; use "along_beam"'):
        with_slider(m, "prismatic_along_beam", (0.3, 0.0))
    with pytest.raises(ModelError, match=r'Joint "bore": a line needs two different nodes or more, not 1'):
        with_slider(wire(2), "prismatic_along_beam", (0.3, 0.0), line=["w:start"])
    with pytest.raises(ModelError, match='Joint "j": "w:start" is a node of the line itself'):
        wire(2).joint("j", "prismatic_along_beam", "wire", "w:start")
    with pytest.raises(ModelError, match=r'Joint "j": .*2 nodes where one is needed'):
        wire(2).joint("j", "pin", ["w:start", "w:end"], "ground", point=(0.0, 0.0))


def test_model_file(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        """
dimension = 2
[mesh.w]
line = { start = [0, 0], end = [2, 0], n = 4 }
[section.s]
shape = "stiffness"
EA = 2e4
EI = 20.0
rhoA = 1.0
[[beam]]
name = "wire"
on = "w"
section = "s"
[[body]]
name = "b"
position = [0.3, 0.1]
mass = 0.5
inertia = 0.1
[[joint]]
name = "bore"
type = "prismatic_along_beam"
a = ["w:start", "w:end"]
b = "b"
point = [0.3, 0.0]
speed = 0.5
[[sensor]]
name = "way"
kind = "joint"
on = "bore"
[[step]]
type = "transient"
duration = 0.1
h = 0.01
""",
        encoding="utf-8",
    )
    solution = solve(load_model(path))
    assert solution.sensor("way").values[-1, 0] == pytest.approx(0.05, abs=1e-12)
