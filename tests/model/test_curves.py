"""Curves and the joints on them: fitting, kinks, rollers, contact of profiles, linear steps, copies, files."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from fem_mbs import Model, ModelError, linearise, load_model, run, solve
from fem_mbs.elements.paths import curve as elements
from fem_mbs.errors import AnalysisError
from fem_mbs.validation.case import constancy, energy_error

ROUND = {"range": (0.0, 2.0 * np.pi), "closed": True}


def bead(curve: dict, at, dimension: int = 2, **options) -> Model:
    """A bead on a curve that is fixed in space."""
    m = Model(dimension, gravity=-9.81 * np.eye(dimension)[1])
    m.curve("wire", **curve)
    m.node("bead", at)
    m.point_mass("m", "bead", 0.5)
    m.joint("bore", "point_on_curve", "ground", "bead", curve="wire", **options)
    m.sensor("place", "position", on="bead")
    m.sensor("way", "joint", on="bore")
    return m


# --- curves ----------------------------------------------------------------------------------------------------------
def test_coordinates_are_arc_lengths():
    """An ellipse has the length of the complete elliptic integral, a helix that of its slope."""
    from scipy.special import ellipe

    m = Model(2)
    m.curve("c", x="0.5*cos(t)", y="0.3*sin(t)", **ROUND)
    spline = m.building.curves["c"]
    assert spline.length == pytest.approx(4.0 * 0.5 * ellipe(1.0 - 0.36), rel=1e-9)
    s = np.linspace(0.0, spline.length, 100)
    assert np.linalg.norm(spline(s, 1), axis=1) == pytest.approx(1.0, abs=1e-7)
    assert spline(s + spline.length) == pytest.approx(spline(s), abs=1e-12)
    m = Model(3)
    m.curve("c", x="cos(t)", y="sin(t)", z="0.5*t", range=(0.0, 5.0))
    assert m.building.curves["c"].length == pytest.approx(5.0 * np.sqrt(1.25), rel=1e-9)


def test_points_file_and_place(tmp_path):
    """The same curve by points, from a file, and turned to its place."""
    t = np.linspace(0.0, 2.0, 21)
    points = np.column_stack((t, 0.2 * np.sin(3.0 * t)))
    path = tmp_path / "curve.csv"
    path.write_text("x [m], y [m]\n" + "\n".join(f"{x:.17g}, {y:.17g}" for x, y in points), encoding="utf-8")
    turn, shift = 0.7, np.array((3.0, -1.0))
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    m = Model(2)
    m.curve("a", points=points)
    m.curve("b", file=str(path))
    m.curve("c", points=points, position=shift, rotation=turn)
    curves = m.building.curves
    s = np.linspace(0.0, curves["a"].length, 50)
    assert curves["b"](s) == pytest.approx(curves["a"](s), abs=1e-14)
    assert curves["c"](s) == pytest.approx(curves["a"](s) @ R.T + shift, abs=1e-13)
    for p in points:
        assert curves["a"](np.array([curves["a"].nearest(p)]))[0] == pytest.approx(p, abs=1e-9)


WRONG_CURVES = [
    ({}, "it needs either points, a file, or functions"),
    ({"points": [(0, 0), (1, 0)], "y": "x", "range": (0, 1)}, "it needs either points, a file, or functions"),
    ({"points": [(0, 0)]}, "1 points are no curve"),
    ({"points": [(0, 0), (1, 0, 0)]}, "points must have 2 numbers each"),
    ({"points": [(0, 0), (0, 0), (1, 1)]}, "points 1 and 2 coincide"),
    ({"points": [(0, 0), (1, 0), (1, 1)]}, r"it turns by 90 degrees at its point 2, \(1, 0\)"),
    ({"points": [(0, 0), (1, 0), (1, 1), (0, 1)], "closed": True}, "it turns by 90 degrees at its point"),
    ({"y": "abs(x)", "range": (-1, 1)}, r"it has a kink of 90 degrees at \(0, 0\)"),
    ({"y": "sqrt((x - 0.1)**2)", "range": (-1, 1)}, r"curve has a kink near \(0\.\d+, .*\)"),
    ({"y": "x", "range": (1, 0)}, r"range = \(1, 0\) must be two finite numbers"),
    ({"y": "x"}, "range = None must be two finite numbers"),
    ({"x": "t", "range": (0, 1)}, "y missing; give y of x, or x, y of t"),
    ({"y": "log(x)", "range": (-1, 1)}, "its value is"),
    ({"x": "cos(t)", "y": "sin(t)", "range": (0, 3), "closed": True}, "its ends are .* m apart"),
    ({"x": "cos(t)*(1 + t*(6.283185307179586 - t))", "y": "sin(t)*(1 + t*(6.283185307179586 - t))", **ROUND},
     r"kink"),
    ({"points": [(0, 0), (1, 0)], "range": (0, 1)}, "range belongs to functions"),
    ({"x": "1", "y": "2", "range": (0, 1)}, "stands still"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), WRONG_CURVES)
def test_wrong_curves(given, message):
    with pytest.raises(ModelError, match=message):
        Model(2).curve("c", **given)


def test_a_smooth_switch_is_no_kink():
    """Pieces of a function that join smoothly are one curve, with a knot where they join."""
    m = Model(2)
    m.curve("c", y="0.1*(x - 0.3)**3 if x > 0.3 else 0", range=(0.0, 1.0))
    curve = m.building.curves["c"]
    s = np.linspace(0.0, curve.length, 200)
    x, y = curve(s).T
    assert y == pytest.approx(0.1 * np.maximum(x - 0.3, 0.0) ** 3, abs=2e-9)


def test_a_file_without_the_columns(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("u, y\n0, 0\n1, 1\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r'Curve "c": file ".*c.csv" has no column x; it has u, y; name them x, y'):
        Model(2).curve("c", file=str(path))


# --- points and rollers ----------------------------------------------------------------------------------------------
def test_bead_in_space_conserves_with_its_part():
    """A bead on a helix of a free body: energy and both momenta to round-off, over several laps of pieces."""
    m = Model(3)
    m.body("a", (0.0, 0.0, 0.0), 2.0, (0.3, 0.4, 0.5), rotation=(0.2, 0.1, -0.3))
    m.curve("wire", x="cos(t)", y="sin(t)", z="0.3*t", range=(-20.0, 20.0))
    m.node("bead", (1.0, 0.0, 0.0))
    m.point_mass("m", "bead", 0.5)
    m.joint("bore", "point_on_curve", "a", "bead", curve="wire")
    m.initial("a", spin=(0.5, 1.0, -0.4))
    m.initial("bead", velocity=(0.1, 2.0, 0.6))
    m.sensor("way", "joint", on="bore")
    m.transient_step(4.0, 0.02, frames=0)
    solution = solve(m)
    step = solution.steps[0]
    assert np.ptp(solution.sensor("way").values) > 5.0
    assert energy_error(step, constant=True) < 1e-11
    assert constancy(step, "linear momentum") < 1e-11
    assert constancy(step, "angular momentum") < 1e-11


def test_small_motions_on_a_parabola():
    """About the bottom of y = c x^2/2 a bead has the circular frequency (c g)^(1/2)."""
    m = bead({"y": "1.5*x**2", "range": (-1.0, 1.0)}, (0.0, 0.0))
    m.static_step()  # the force of the wire
    m.modes_step(1)
    assert solve(m).steps[1].summary["frequencies_hz"][0] == pytest.approx(
        np.sqrt(3.0 * 9.81) / (2.0 * np.pi), rel=1e-5
    )  # of its curvature


def test_equilibrium_on_a_slope_with_a_spring():
    """A joint spring along the curve holds the bead on a straight slope: k s = m g sin."""
    m = bead({"points": [(-1.0, -0.75), (1.0, 0.75)]}, (0.0, 0.0))
    m.joint_spring("spring", "bore", 80.0)
    m.sensor("force", "reaction", on="bore")
    m.static_step()
    solution = solve(m)
    assert solution.sensor("way").values[-1, 0] == pytest.approx(-0.5 * 9.81 * 0.6 / 80.0, rel=1e-9)
    # all of the force at the bead, the spring's along the curve too
    assert solution.sensor("force").values[-1] == pytest.approx([0.0, -0.5 * 9.81, 0.0], abs=1e-9)


def test_driven_along_a_closed_curve():
    """A driver takes the bead round a circle twice; work of the driver is the change of energy."""
    m = bead({"x": "0.5*cos(t)", "y": "0.5*sin(t)", **ROUND}, (0.5, 0.0), function="3.2*t")
    m.sensor("drive", "joint", on="bore", quantity="drive force")
    m.transient_step(2.0, 0.01, frames=0)
    solution = solve(m)
    step = solution.steps[0]
    angle = 6.4 * step.time
    assert solution.sensor("place").values == pytest.approx(
        0.5 * np.column_stack((np.cos(angle), np.sin(angle))), abs=1e-8
    )
    assert energy_error(step) < 1e-10
    power = solution.steps[-1].series["sensor/drive"][1:, 0] * np.diff(3.2 * step.time)
    assert power.sum() == pytest.approx(step.ledger("driver work")[-1], rel=1e-9)


def test_friction_on_a_curve():
    """On a straight slope the bead slides down with g (sin - mu cos)."""
    m = bead({"points": [(-9.0, -6.75), (1.0, 0.75)]}, (0.0, 0.0))
    m.friction("rub", "bore", coefficient=0.3, smoothing=1e-4)
    m.transient_step(1.0, 0.005, frames=0)
    solution = solve(m)
    way = -0.5 * 9.81 * (0.6 - 0.3 * 0.8)
    assert solution.sensor("way").values[-1, 0] == pytest.approx(way, rel=2e-3)
    assert energy_error(solution.steps[0]) < 1e-9


def test_rollers_that_do_not_fit():
    def roller(radius, y):
        m = Model(2)
        m.curve("track", y="0.5*x**2", range=(-2.0, 2.0))
        m.body("b", (0.0, y), 1.0, 0.1)
        m.joint("j", "point_on_curve", "ground", "b", point=(0.0, y), curve="track", radius=radius)
        return m

    roller(0.9, 0.9)
    roller(1.5, -1.5)  # outside
    with pytest.raises(
        ModelError, match=r'Joint "j": a roller of radius 1.2 m does not fit .* bends with (1|0\.999\d*) m at \(.*0\)'
    ):
        roller(1.2, 1.2)
    with pytest.raises(ModelError, match=r"its point is 0\.1 m off a roller's radius of 0.9 m beside"):
        roller(0.9, 1.0)
    with pytest.raises(ModelError, match=r"radius = -1\.0 must be a finite number greater than 0"):
        roller(-1.0, 1.0)
    m = Model(2)  # a lane that is too narrow: the path of the roller crosses itself
    m.curve("lane", x="0.5*sin(t)", y="0.3*sin(2*t) + 0.6*t", range=(0.0, 3.0))
    m.curve("eight", x="sin(t)", y="sin(2*t)", **ROUND)
    m.body("b", (0.0, 0.0), 1.0, 0.1)
    with pytest.raises(ModelError, match="crosses itself"):
        m.joint("j", "cam", "ground", "b", curve="eight", curve_b="eight")


# --- profiles --------------------------------------------------------------------------------------------------------
def test_restart_and_symbols(tmp_path):
    """A continued run of rolling profiles has the same bits; curves and joints are drawn."""
    m = Model(2)
    m.body("a", (0.0, 0.0), 2.0, 0.3)
    m.body("b", (1.0, 0.0), 1.5, 0.2)
    m.curve("ca", x="0.6*cos(t)", y="0.3*sin(t)", **ROUND)
    m.curve("cb", x="1.0 + 0.4*cos(t)", y="0.5*sin(t)", **ROUND)
    m.joint("touch", "rolling_curves", "a", "b", curve="ca", curve_b="cb")
    m.initial("a", spin=2.0)
    m.sensor("u", "joint", on="touch", quantity="displacement_b")
    m.sensor("R", "reaction", on="touch")
    m.transient_step(0.4, 0.01, restarts=2)
    whole = run(m, tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    again = run(m, tmp_path / "b", restart=0)
    for name in ("u", "R"):
        assert np.array_equal(whole.sensor(name).values, again.sensor(name).values)
    assert [(j["name"], j["glyph"]) for j in whole.header["joints"]] == [("touch", "gear")]
    assert {s["name"] for s in whole.header["symbols"] if s["kind"] == "curve"} == {"ca", "cb"}


def test_reaction_of_a_flat_follower_at_rest():
    """A weight lies on a fixed disc by a flat side: the reaction is its weight, through the contact."""
    m = Model(2, gravity=(0.0, -9.81))
    m.curve("disc", x="0.3*cos(t)", y="0.3*sin(t)", **ROUND)
    m.curve("flat", points=[(-1.0, 0.3), (1.0, 0.3)])
    m.body("b", (0.0, 0.4), 2.0, 0.1)
    m.joint("guide", "prismatic", "ground", "b", point=(0.0, 0.4), axis=(0.0, 1.0))
    m.joint("touch", "curve_on_curve", "ground", "b", curve="disc", curve_b="flat")
    m.sensor("R", "reaction", on="touch")
    m.static_step()
    assert solve(m).sensor("R").values[-1] == pytest.approx([0.0, -2.0 * 9.81, 0.0], abs=1e-9)


def test_profiles_that_do_not_fit():
    def pair(first, second, position=(0.0, 0.0)):
        m = Model(2)
        m.curve("ca", **first)
        m.curve("cb", **second)
        m.body("b", (1.0, 0.0), 1.0, 0.1)
        m.joint("j", "cam", "ground", "b", curve="ca", curve_b="cb")
        return m

    disc = {"x": "0.5*cos(t)", "y": "0.5*sin(t)", **ROUND}
    with pytest.raises(ModelError, match=r'Joint "j": its profiles are 0\.1 m apart.*at \(0\.5, .*\)'):
        pair(disc, {"x": "1.0 + 0.4*cos(t)", "y": "0.4*sin(t)", **ROUND})
    line = {"points": [(-1.0, 0.0), (1.0, 0.0)]}
    with pytest.raises(ModelError, match="both profiles have the same curvature at"):
        pair(line, {"points": [(-1.0, 0.0), (2.0, 0.0)]})
    m = Model(2)
    with pytest.raises(ModelError, match='Joint "j": it needs its curve; add curve'):
        m.body("b", (1.0, 0.0), 1.0, 0.1)
        m.joint("j", "cam", "ground", "b")
    with pytest.raises(ModelError, match='Joint "j2": no curve "disk"'):
        m.joint("j2", "point_on_curve", "ground", "b", point=(0.5, 0.0), curve="disk")
    with pytest.raises(ModelError, match='Joint "j3": a "pin" joint has no curve; remove it'):
        m.joint("j3", "pin", "ground", "b", point=(0.5, 0.0), curve="disk")
    m = Model(3)
    m.body("b", (1.0, 0.0, 0.0), 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(ModelError, match='a "cam" joint is one of the plane; in space there are'):
        m.joint("j", "cam", "ground", "b", curve="c", curve_b="d")


@pytest.mark.parametrize("radius", [0.4, 0.9, 1.3])
def test_round_followers_in_a_round_hollow_fit_by_their_curvatures(radius):
    """In a hollow of radius 1 the follower bends by 1/r against it: the difference over the sum."""
    m = Model(2)
    m.curve("hollow", x="cos(t)", y="sin(t)", **ROUND)
    m.curve("round", x=f"{1.0 - radius} + {radius}*cos(t)", y=f"{radius}*sin(t)", **ROUND)
    m.body("b", (1.0 - radius, 0.0), 1.0, 0.1)
    m.joint("j", "cam", "ground", "b", point=(1.0, 0.0), curve="hollow", curve_b="round")
    (par,) = [b.par for b in m.compile(False).system.blocks if b.type.name == "curve_on_curve2"]
    wanted = (1.0 / radius - 1.0) / (1.0 / radius + 1.0)
    for a, b in ((0.0, 0.0), (1.0, 2.0), (4.0, 0.3)):
        found = elements._interference(par, 0, a, b, np.zeros((5, 2)))
        assert abs(found) == pytest.approx(abs(wanted), abs=1e-4)


def test_a_cam_that_cuts_into_its_follower():
    """A hollow of the cam that is narrower than the round follower: an error where it begins, with joint and time."""
    m = Model(2)
    m.curve("cam", x="(0.5 + 0.1*cos(4*t))*cos(t)", y="(0.5 + 0.1*cos(4*t))*sin(t)", **ROUND)
    m.body("cam", (0.0, 0.0), 1.0, 0.1)
    m.joint("shaft", "revolute", "ground", "cam", point=(0.0, 0.0), function="t")
    m.curve("round", x="1.2 + 0.6*cos(t)", y="0.6*sin(t)", **ROUND)
    m.body("follower", (1.2, 0.0), 1.0, 0.1)
    m.joint("guide", "prismatic", "ground", "follower", point=(1.2, 0.0), axis=(1.0, 0.0))
    m.joint("touch", "cam", "cam", "follower", point=(0.6, 0.0), curve="cam", curve_b="round")
    m.transient_step(1.0, 0.01, frames=0)
    with pytest.raises(AnalysisError, match=r'Joint "touch": .*cut into each other.* at t = ') as found:
        solve(m)
    assert "traceback" not in str(found.value).lower()


def test_off_the_end():
    m = bead({"points": [(0.0, 0.0), (1.0, 0.0)]}, (0.5, 0.0))
    m.initial("bead", velocity=(2.0, 0.0))
    m.transient_step(1.0, 0.01, frames=0)
    with pytest.raises(AnalysisError, match=r'Joint "bore": way beyond the end .*make the curve longer'):
        solve(m)


def test_assembly_brings_parts_onto_curves():
    """A bead and a cam that stand apart are brought together, by the least movement."""
    m = Model(2)
    m.assembly()
    m.curve("c", x="cos(t)", y="sin(t)", **ROUND)
    m.body("b", (1.3, 0.2), 1.0, 0.1)
    m.joint("j", "point_on_curve", "ground", "b", point=(1.3, 0.2), curve="c")
    m.curve("d", x="-2.2 + 0.8*cos(t)", y="0.8*sin(t)", **ROUND)
    m.body("e", (-2.2, 0.0), 1.0, 0.1)
    m.joint("guide", "prismatic", "ground", "e", point=(-2.2, 0.0), axis=(1.0, 0.0))
    m.joint("k", "cam", "ground", "e", curve="c", curve_b="d")
    for name in "be":
        m.sensor(name, "position", on=name)
    m.transient_step(0.02, 0.01, frames=0)
    solution = solve(m)
    assert np.linalg.norm(solution.sensor("b").values[0]) == pytest.approx(1.0, abs=1e-9)
    assert solution.sensor("e").values[0] == pytest.approx((-1.8, 0.0), abs=1e-9)


def test_linearised_bead():
    """A bead at the bottom of y = c x^2/2 is an oscillator of the circular frequency (c g)^(1/2)."""
    m = bead({"y": "1.5*x**2", "range": (-1.0, 1.0)}, (0.0, 0.0))
    m.force("push", "bead", (1.0, 0.0), function="0*t")
    m.static_step()
    s = linearise(m).state_space("push", ["place"])
    assert np.abs(np.linalg.eigvals(s.A).imag) == pytest.approx(np.sqrt(3.0 * 9.81), rel=1e-5)


# --- files and copies ------------------------------------------------------------------------------------------------
def test_copies_move_as_their_images():
    """Turned and mirrored images of a body on a curve move as the images of the original."""
    for how, Q, points in (
        ({"rotate": {"angle": 40.0}}, np.array([[np.cos(0.6981317), -np.sin(0.6981317)],
                                                [np.sin(0.6981317), np.cos(0.6981317)]]), False),
        ({"mirror": {"normal": [1.0, 0.0], "point": [-3.0, 0.0]}}, np.diag((-1.0, 1.0)), True),
    ):  # fmt: skip
        m = Model(2)
        if points:
            t = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
            m.curve("track", points=np.column_stack((0.5 * np.cos(t), 0.3 * np.sin(t))), closed=True, rotation=0.2)
        else:
            m.curve("track", x="0.5*cos(t)", y="0.3*sin(t)", **ROUND, rotation=0.2)
        start = 0.5 * np.array((np.cos(0.2), np.sin(0.2)))
        m.body("b", start + (0.1, 0.0), 1.0, 0.1)
        m.joint("bore", "point_on_curve", "ground", "b", point=start, curve="track", function="0.4*sin(t)")
        m.sensor("x", "displacement", on="b")
        m.force("F", "b", (0.3, 0.2))
        m.transient_step(1.0, 0.01, frames=0)
        m.copy(["track", "b", "bore", "x", "F"], **how)
        solution = solve(m)
        mine, image = (solution.sensor(name).values for name in ("x", "x copy"))
        assert np.abs(mine).max() > 0.1
        assert image == pytest.approx(mine @ Q.T, abs=1e-8)
    m = Model(2)
    m.curve("track", y="x", range=(0.0, 1.0))
    m.transient_step(1.0, 0.01)
    with pytest.raises(ModelError, match="a curve of a file or of functions cannot be mirrored"):
        m.copy("track", mirror={"normal": [1.0, 0.0]})
        m.compile()


def test_model_file(tmp_path):
    (tmp_path / "track.csv").write_text("x, y\n0, 0\n1, 0.1\n2, 0.3\n3, 0.6\n", encoding="utf-8")
    path = tmp_path / "m.toml"
    path.write_text(
        """
dimension = 2
gravity = [0, -9.81]
[parameters]
height = 0.5
[[curve]]
name = "wire"
y = "height*x**2"
range = [-1, 1]
[[curve]]
name = "track"
file = "track.csv"
[[node]]
name = "bead"
position = [0.2, 0.02]
[[point_mass]]
name = "m"
at = "bead"
mass = 1.0
[[joint]]
name = "bore"
type = "point_on_curve"
a = "ground"
b = "bead"
curve = "wire"
[[sensor]]
name = "x"
kind = "position"
on = "bead"
[[step]]
type = "transient"
duration = 0.5
h = 0.01
""",
        encoding="utf-8",
    )
    x = solve(load_model(path)).sensor("x").values
    assert np.ptp(x[:, 0]) > 0.1
    assert x[:, 1] == pytest.approx(0.5 * x[:, 0] ** 2, abs=1e-8)
