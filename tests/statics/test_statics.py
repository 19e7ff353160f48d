"""Static steps of models: paths with limit points and bifurcations, controls, levels of loads, wrong input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipk

from fem_mbs import ConvergenceError, Model, ModelError, run, solve
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.solvers.linear.saddle import negative_count, negative_determinant
from fem_mbs.solvers.stepping import layout as S


def arch(dimension: int = 2, load: float = 1.0) -> Model:
    """Von Mises' truss: two bars from (-1, 0) and (1, 0) to the apex (0, 0.3), EA = 1000, and the ``load`` on it."""
    model = Model(dimension)
    model.section("bar", "stiffness", EA=1000.0, rhoA=0.0)
    z = (0.0,) * (dimension - 2)
    for name, x, y in (("left", -1.0, 0.0), ("right", 1.0, 0.0), ("apex", 0.0, 0.3)):
        model.node(name, (x, y, *z))
    model.trusses("bar 1", ["left", "apex"], "bar")
    model.trusses("bar 2", ["right", "apex"], "bar")
    model.fix("left")
    model.fix("right")
    if dimension == 3:
        model.fix("apex", ["z"])
    model.force("P", "apex", (0.0, -load, *z))
    model.sensor("apex", "displacement", on="apex")
    return model


def arch_load(w: float) -> float:
    """Load at the deflection w, engineering strain."""
    h, length = 0.3 - w, np.hypot(1.0, 0.3)
    now = np.hypot(1.0, h)
    return -2.0 * 1000.0 * (now - length) / length * h / now


LIMIT = minimize_scalar(lambda w: -arch_load(w), bounds=(0.0, 0.3), method="bounded", options={"xatol": 1e-12})


def test_stable_points_need_no_eigenvalues(monkeypatch):
    """A Cholesky factorisation of the band tells that a point is stable; others take all eigenvalues."""
    counts = []

    def counted(*given):
        counts.append(negative_count(*given))
        return counts[-1]

    monkeypatch.setattr("fem_mbs.analysis.statics.problem.negative_count", counted)
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(control="arc", until=-0.5 * LIMIT.fun, stability=True)
    assert (solve(model).steps[0].series["negative eigenvalues"] == 0).all() and not counts
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(control="arc", until=30.0, stability=True)
    found = solve(model).steps[0]
    assert [point["kind"] for point in found.summary["critical_points"]] == ["limit", "limit"]
    assert set(counts) == {1} and found.series["negative eigenvalues"].max() == 1


@pytest.mark.parametrize("dimension", [2, 3])
def test_snap_through_by_arc_length(dimension):
    model = arch(dimension)
    model.fix("apex", ["x"])  # no sideways bifurcation
    model.static_step(control="arc", until=30.0, stability=True, tolerance=1e-9)
    solution = solve(model)
    step = solution.steps[0]
    w, load = -solution.sensor("apex").values[:, 1], step.series["load factor"]
    assert load[-1] == step.summary["load_factor"] == 30.0
    assert np.abs(load - [arch_load(x) for x in w]).max() < 1e-8 * np.abs(load).max()
    found = step.summary["critical_points"]
    assert [c["kind"] for c in found] == ["limit", "limit"]
    assert found[0]["load_factor"] == pytest.approx(-LIMIT.fun, rel=1e-7)
    assert found[1]["load_factor"] == pytest.approx(LIMIT.fun, rel=1e-7)
    count = step.series["negative eigenvalues"]
    assert (count[(w > LIMIT.x + 1e-3) & (w < 0.6 - LIMIT.x - 1e-3)] == 1).all()
    assert (count[w < LIMIT.x - 1e-3] == 0).all()
    assert step.summary["iterations"] < 6 * step.summary["increments"] + 40


def test_displacement_control_passes_the_limit():
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(control="displacement", on="apex", component="y", displacement=-0.3, increments=12)
    solution = solve(model)
    w = -solution.sensor("apex").values[:, 1]
    assert w == pytest.approx(np.linspace(0.0, 0.3, 13), abs=1e-12)
    assert solution.steps[0].series["load factor"] == pytest.approx([arch_load(x) for x in w], abs=1e-8)


def test_load_control_says_that_the_path_turns_back():
    model = arch()
    model.fix("apex", ["x"])
    model.section("post", "stiffness", EA=1000.0, rhoA=0.0)
    model.static_step(until=0.999 * -LIMIT.fun, increments=4)
    w = -solve(model).steps[-1].series["sensor/apex"][-1, 1]
    assert arch_load(w) == pytest.approx(-0.999 * LIMIT.fun, rel=1e-9)
    model.steps.clear()
    # the far branch is found, or the step says that it cannot go on; it never stops between
    model.static_step(until=-1.5 * LIMIT.fun, increments=4)
    try:
        solution = solve(model)
    except ConvergenceError as error:
        assert 'control = "arc"' in str(error)
    else:
        w = -solution.steps[-1].series["sensor/apex"][-1, 1]
        assert arch_load(w) == pytest.approx(-1.5 * LIMIT.fun, rel=1e-9)


def test_load_control_that_looks_at_stability_ends_at_the_limit_point():
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(until=-1.5 * LIMIT.fun, increments=4, stability=True, tolerance=1e-9)
    solution = solve(model)
    step = solution.steps[0].summary
    (found,) = step["critical_points"]
    assert (found["kind"], found["negative_before"], found["negative_after"]) == ("limit", 0, 1)
    assert found["load_factor"] == pytest.approx(-LIMIT.fun, rel=1e-8)
    assert -0.999 * LIMIT.fun < step["load_factor"] < -LIMIT.fun
    (text,) = step["failures"]
    assert f'the path has a limit point at {-LIMIT.fun:.6g}; control = "arc" follows it beyond' in text
    w, load = -solution.sensor("apex").values[:, 1], solution.steps[0].series["load factor"]
    assert load == pytest.approx([arch_load(x) for x in w], rel=1e-8, abs=1e-8)
    assert w.max() < LIMIT.x


@pytest.mark.parametrize("increments", [3, 4])
@pytest.mark.parametrize("unit", [1.0, 1e4, 1e-4])
def test_snap_through_under_load_control_is_told(unit, increments):
    """The far branch is reached, and the load factors between which the equilibrium jumps enclose the limit load.

    A load that is given in another unit, with another factor, is the same load.
    """
    model = arch(load=unit)
    model.fix("apex", ["x"])
    model.static_step(until=-1.5 * LIMIT.fun / unit, increments=increments)
    solution = solve(model)
    step = solution.steps[0].summary
    ((low, high),) = np.array(step["snap_through"]) * unit
    assert low <= -LIMIT.fun <= high
    assert high - low < 5e-3 * -LIMIT.fun
    w = -solution.sensor("apex").values[:, 1]
    load = solution.steps[0].series["load factor"] * unit
    assert w[-1] > 0.6
    assert [arch_load(x) for x in w] == pytest.approx(load, rel=1e-8, abs=1e-8)
    assert step["negative_eigenvalues"] == 0
    assert any("snap-through between load factor" in text for text in step["warnings"])


def test_hard_increments_are_no_jump():
    """One increment far into the nonlinear range of a cantilever: nothing is said."""
    model = column(n=8)
    model.force("side", "beam:end", (5.0, 0.0))
    model.static_step(vary=["side"])
    step = solve(model).steps[0].summary
    assert (step["warnings"], step["snap_through"], step["negative_eigenvalues"]) == ([], [], 0)


# --- what is loose at the start --------------------------------------------------------------------------------------
def hanging(angle: float, dimension: int = 2, **options) -> Model:
    """A steel rod of 1 m hung at its upper end, an angle beside the vertical."""
    model = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.section("rod", "circle", diameter=0.01)
    z = (0.0,) * (dimension - 2)
    model.line("arm", (0.0, 0.0, *z), (np.sin(angle), -np.cos(angle), *z), 8)
    model.beams("arm", "arm", "rod", "steel")
    if dimension == 2:
        model.fix("arm:start", ["x", "y"])
    else:
        model.joint("hinge", "revolute", "ground", "arm:start", axis=(0, 0, 1))
    model.sensor("tip", "position", on="arm:end")
    model.static_step(**options)
    return model


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"increments": 4}, {"stability": True}, {"stability": True, "increments": 4}], ids=str
)
@pytest.mark.parametrize("angle", [10.0, 100.0, 170.0])
def test_rod_beside_the_vertical_hangs_down(dimension, options, angle):
    solution = solve(hanging(np.radians(angle), dimension, **options))
    x, y = solution.sensor("tip").values[-1, :2]
    assert (x, y) == pytest.approx((0.0, -1.0), abs=1e-6)
    step = solution.steps[0]
    assert step.summary["warnings"] == []
    if "stability" in options:
        assert step.series["negative eigenvalues"][-1] == 0
    else:
        assert step.summary["negative_eigenvalues"] == 0


@pytest.mark.parametrize(("until", "end"), [(0.5, 1.0), (1.5, -1.0)])
def test_rod_between_two_forces_follows_the_one_that_remains(until, end):
    """Two forces cancel at the factor 1, where the rod may point anywhere; then one of them changes."""
    model = Model(2)
    model.section("rod", "stiffness", EA=1e6, EI=1e3, rhoA=0.0)
    model.line("rod", (0.0, 0.0), (0.3, 0.954), 2)
    model.beams("rod", "rod", "rod")
    model.fix("rod:start", ["x", "y"])
    model.force("right", "rod:end", (10.0, 0.0))
    model.force("left", "rod:end", (-10.0, 0.0))
    model.sensor("tip", "position", on="rod:end")
    model.static_step(stability=True)
    model.static_step(vary=["left"], until=until, stability=True)
    solution = solve(model)
    assert solution.steps[0].series["sensor/tip"][-1] == pytest.approx((0.3, 0.954), abs=1e-6)
    length = np.hypot(0.3, 0.954) * (1.0 + 5.0 / 1e6)
    assert solution.steps[1].series["sensor/tip"][-1] == pytest.approx((end * length, 0.0), abs=1e-5)
    assert solution.steps[1].series["negative eigenvalues"][-1] == 0


@pytest.mark.parametrize("options", [{}, {"stability": True}], ids=str)
def test_rod_upright_is_told_to_be_unstable(options):
    solution = solve(hanging(np.pi, **options))
    assert solution.sensor("tip").values[-1, 1] == pytest.approx(1.0, abs=1e-6)
    (warning,) = solution.steps[0].summary["warnings"]
    assert "unstable" in warning
    assert "1 negative eigenvalues" in warning


def test_buckled_column_under_load_control_is_told():
    """Beyond Euler's load the straight column stays an equilibrium, and is said to be unstable from there on."""
    model = column()
    model.static_step(until=5.0, increments=8)
    step = solve(model).steps[0].summary
    assert step["negative_eigenvalues"] == 1
    (warning,) = step["warnings"]
    # the last increment before pi^2/4 = 2.467
    assert "equilibria are unstable from load factor 1.875 to the end" in warning


# --- goals -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"until": 30.0, "points": 4}, "short of until = 30; take more points"),
        ({"until": 1.0, "branch": 2}, "branch = 2: the path has no bifurcations up to load factor 1;"),
    ],
)
def test_goals_that_are_not_reached_are_failures(tmp_path, fem_mbs, options, words):
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(control="arc", **options)
    (failure,) = solve(model).steps[0].summary["failures"]
    assert words in failure
    text = """
dimension = 2
[section.bar]
shape = "stiffness"
EA = 1000.0
rhoA = 0.0
[mesh.bar]
line = { start = [-1, 0], end = [0, 0.3], n = 1 }
[[truss]]
on = "bar"
section = "bar"
[[support]]
on = "bar:start"
[[support]]
on = "bar:end"
components = ["x"]
[[force]]
on = "bar:end"
vector = [0, -1]
[[step]]
type = "static"
control = "arc"
"""
    path = tmp_path / "model.toml"
    path.write_text(text + "\n".join(f"{k} = {v}" for k, v in options.items()), encoding="utf-8")
    code, out, err = fem_mbs("run", path, "-o", tmp_path / "out")
    assert code == 1
    assert words.split(";")[0] in err
    assert "FAILED" in out


# --- bifurcations ----------------------------------------------------------------------------------------------------
def column(dimension: int = 2, strains: str = "natural", n: int = 16) -> Model:
    """Clamped column along y, EI = L = 1, practically inextensible."""
    model = Model(dimension)
    model.section("beam", "stiffness", EA=1e6, EI=1.0, GA=np.inf, GJ=1.0, rhoA=0.0, rhoI=0.0)
    model.line("beam", np.zeros(dimension), np.eye(dimension)[1], n)
    model.beams("beam", "beam", "beam", strains=strains)
    model.fix("beam:start")
    if dimension == 3:
        model.fix("beam", ["z"])
    model.force("P", "beam:end", -np.eye(dimension)[1])
    model.sensor("top", "displacement", on="beam:end")
    return model


@pytest.mark.parametrize(("dimension", "strains"), [(2, "natural"), (2, "generalised"), (3, "corotational")])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_post_buckling_of_a_column(dimension, strains, side):
    """Euler's load, and the elastica beyond: P/P_cr = (2 K(p)/pi)^2 at the deflection 2 p/K(p)."""
    model = column(dimension, strains)
    model.static_step(
        control="arc", until=10.0, increments=20, on="beam:end", component="x", displacement=0.4 * side, branch=1,
        branch_size=0.02, points=60, tolerance=1e-8,
    )  # fmt: skip
    solution = solve(model)
    step = solution.steps[0]
    critical = step.summary["critical_points"][0]
    assert critical["kind"] == "bifurcation"
    assert critical["load_factor"] == pytest.approx(0.25 * np.pi**2, rel=1e-4)
    x, load = np.abs(solution.sensor("top").values[:, 0]), step.series["load factor"]
    assert x[-1] == pytest.approx(0.4, rel=1e-12)  # the path ends there, not beyond
    for at, value in zip(x[-5:], load[-5:], strict=True):
        p = brentq(lambda p, at=at: 2.0 * p / ellipk(p * p) - at, 1e-6, 0.95)
        assert value == pytest.approx(ellipk(p * p) ** 2, rel=3e-3 if strains == "generalised" else 3e-4)
    assert (step.series["negative eigenvalues"][x > 1e-6] == 0).all()
    assert np.sign(solution.sensor("top").values[-1, 0]) == side


def test_unstable_path_goes_on_without_a_branch():
    model = column()
    model.static_step(until=30.0, increments=10, stability=True)
    step = solve(model).steps[0]
    loads = [c["load_factor"] for c in step.summary["critical_points"]]
    assert loads == pytest.approx([0.25 * np.pi**2, 2.25 * np.pi**2], rel=1e-3)
    assert step.series["negative eigenvalues"][-1] == 2
    assert step.summary["load_factor"] == 30.0


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-10, 1e-12])
def test_bracket_that_meets_the_singular_tangent_itself(tolerance):
    """Steep two-bar truss: its sideways stiffness is one pivot, which vanishes in points that the search visits."""
    model = Model(2, "steep truss")
    model.section("bar", "stiffness", EA=1000.0, rhoA=0.0)
    model.polyline("roof", [(-100.0, 0.0), (0.0, 250.0), (100.0, 0.0)], 1)
    model.trusses("bars", "roof", "bar")
    for end in ("start", "end"):
        model.fix(f"roof:{end}", ["x", "y"])
    model.force("P", "roof:corner_2", (0.0, -1.0))
    model.static_step(
        control="arc", until=np.inf, on="roof:corner_2", component="y", displacement=-120.0, size=0.002, largest=0.01,
        points=300, stability=True, tolerance=tolerance,
    )  # fmt: skip
    start = np.hypot(100.0, 250.0)

    def sideways(y):
        length = np.hypot(100.0, y)
        return (100.0 / length) ** 2 - (start / length - 1.0) * (y / length) ** 2

    y = brentq(sideways, 150.0, 240.0, xtol=1e-13)
    load = 2000.0 * (1.0 / np.hypot(100.0, y) - 1.0 / start) * y
    found = solve(model).steps[0].summary["critical_points"][0]
    assert found["kind"] == "bifurcation"
    assert found["load_factor"] == pytest.approx(load, rel=max(tolerance, 1e-9))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_branch_where_guys_slacken(side):
    """A hinged strut with two guys: both slacken at a load where the stiffness aside jumps from that of the guys to
    that of the strut's force, which is negative.  The strut leans over then, against one guy."""
    EA, pull, length = 1000.0, 20.0, np.sqrt(2.0)
    model = Model(2)
    model.section("bar", "stiffness", EA=EA, rhoA=0.0)
    for name, x, y in (("left", -1.0, 0.0), ("foot", 0.0, 0.0), ("right", 1.0, 0.0), ("top", 0.0, 1.0)):
        model.node(name, (x, y))
    model.trusses("strut", ["foot", "top"], "bar")
    model.trusses("guy 1", ["left", "top"], "bar", tension_only=True, prestress=pull)
    model.trusses("guy 2", ["right", "top"], "bar", tension_only=True, prestress=pull)
    for name in ("left", "foot", "right"):
        model.fix(name)
    model.force("P", "top", (0.0, -1.0))
    model.sensor("top", "displacement", on="top")
    model.static_step(
        control="arc", until=60.0, increments=60, branch=1, branch_size=0.001 * side, tolerance=1e-9, largest=0.02
    )
    solution = solve(model)
    step = solution.steps[0]
    (found,) = step.summary["critical_points"]
    height = np.sqrt((length * (1.0 - pull / EA)) ** 2 - 1.0)  # of the top with slack guys
    assert (found["kind"], found["negative_before"], found["negative_after"]) == ("jump", 0, 1)
    assert found["load_factor"] == pytest.approx(EA * (1.0 - height), rel=1e-7)
    assert any("the stiffness jumps at load factor" in text for text in step.summary["warnings"])

    def force(x, y):
        """Of all bars on the top."""
        total = np.zeros(2)
        for foot, whole, tension in ((0.0, 1.0, 0.0), (-1.0, length, pull), (1.0, length, pull)):
            along = np.array([x - foot, y])
            now = np.linalg.norm(along)
            n = EA * (now / whole - 1.0) + tension
            total -= (max(n, 0.0) if tension else n) * along / now
        return total

    x, y = solution.sensor("top").values[:, 0], 1.0 + solution.sensor("top").values[:, 1]
    load = step.series["load factor"]
    assert np.array([force(*at) for at in zip(x, y, strict=True)]) == pytest.approx(
        np.column_stack([0.0 * load, load]), abs=1e-6
    )
    aside = np.abs(x) > 1e-6
    assert aside.sum() > 5
    assert set(np.sign(x[aside])) == {side}
    assert load[-1] == step.summary["load_factor"] == 60.0
    assert (step.series["negative eigenvalues"] == 0).all()


# --- levels of loads -------------------------------------------------------------------------------------------------
def test_loads_are_raised_one_after_the_other():
    """A dead load stays while another is varied; a load that no step has named does not act."""
    model = Model(2)
    model.section("beam", "stiffness", EA=1e4, EI=10.0, GA=np.inf, rhoA=0.0, rhoI=0.0)
    model.line("beam", (0.0, 0.0), (1.0, 0.0), 2)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start")
    small = 1e-5
    model.force("first", "beam:end", (0.0, small))
    model.force("second", "beam:end", (small, 0.0))
    model.force("third", "beam:end", (0.0, 5.0 * small))
    model.sensor("tip", "displacement", on="beam:end")
    model.static_step(vary=["first"], name="a")
    model.static_step(vary=["second"], until=2.0, name="b")
    model.static_step(vary="first", until=0.5, name="c")
    solution = solve(model)
    ends = [solution.step_at(k).series["sensor/tip"][-1] for k in range(3)]
    y, x = small / 30.0, small / 1e4
    assert ends[0] == pytest.approx([0.0, y], rel=1e-6, abs=1e-12)
    assert ends[1] == pytest.approx([2.0 * x, y], rel=1e-4)
    assert ends[2] == pytest.approx([2.0 * x, 0.5 * y], rel=1e-4)


def test_motion_as_the_load_factor():
    """A support that moves with the load factor: imposed displacement."""
    model = arch()
    model.fix("apex", ["x"])
    model.motion("push", "apex", "y", "-0.3")
    model.steps.clear()
    model.static_step(vary=["push"], increments=6)
    model.sensor("reaction", "reaction", on="apex")
    solution = solve(model)
    w = -solution.sensor("apex").values[:, 1]
    assert w == pytest.approx(np.linspace(0.0, 0.3, 7), abs=1e-12)


def test_results_on_disk(tmp_path):
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(control="arc", until=30.0, stability=True, points=40)
    results = run(model, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"][0]["critical_points"][0]["kind"] == "limit"
    assert results.steps[0].series["load factor"].shape == results.steps[0].series["path length"].shape


# --- wrong input -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"control": "force"}, 'control = "force" must be one of'),
        ({"control": "displacement"}, "needs on, component and displacement"),
        ({"control": "arc", "on": "apex"}, "belong together"),
        ({"control": "displacement", "on": "apex", "component": "z", "displacement": 1.0}, 'component = "z"'),
        ({"control": "displacement", "on": "apex", "component": "x", "displacement": 1.0}, "is held or driven"),
        ({"control": "displacement", "on": "top", "component": "y", "displacement": 1.0}, '"top"'),
        ({"vary": ["Q"]}, 'there is no load, motion, driven joint or equation "Q"; there is only P'),
        ({"branch": 1}, "needs control"),
        ({"control": "arc", "branch": 1, "branch_size": 0.0}, "branch_size = 0"),
        ({"control": "arc", "size": -1.0}, "size = -1.0"),
        ({"control": "arc", "tolerance": 0.0}, "tolerance = 0.0"),
        ({"points": 0}, "points = 0 must be a whole number"),
        ({"size": 0.1}, 'size = 0.1 belongs to control = "arc"'),
        (
            {"control": "displacement", "on": "apex", "component": "y", "displacement": -0.1, "largest": 0.1},
            'largest = 0.1 belongs to control = "arc"',
        ),
        ({"stability": True, "spherical": 1.0}, 'spherical = 1.0 belongs to control = "arc"'),
        ({"points": 20}, "points = 20 belongs to a path"),
        ({"on": "apex", "component": "y", "displacement": -0.1}, 'on = "apex" belongs to a path'),
        ({"control": "arc", "ramp": False}, "ramp = false belongs to load increments, not to a path"),
        ({"stability": True, "ramp": False}, "ramp = false belongs to load increments, not to a path"),
        ({"control": "arc", "tolerance": 1e-3}, "tolerance = 0.001 belongs to stability = true"),
        ({"control": "arc", "stability": True, "branch_size": 0.1}, "branch_size = 0.1 belongs to a branch"),
        ({"speed": 3}, 'unknown key "speed"'),
    ],
)
def test_wrong_input(options, text):
    model = arch()
    model.fix("apex", ["x"])
    with pytest.raises(ModelError, match=text.replace("(", r"\(")):
        model.static_step(**options)
        solve(model)


# --- after other steps -----------------------------------------------------------------------------------------------
def rods(ball: bool, h: float = 0.0) -> Model:
    """A rod on a hinge with a spring, perhaps a second one on a ball joint and a bushing; two steps of h, then rest."""
    model = Model(3, gravity=(0.0, 0.0, -1.0))
    model.body("rod", (0.3, 0.0, -0.2), 2.0, (0.02, 0.05, 0.06))
    model.joint("hinge", "revolute", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    model.joint_spring("coil", "hinge", 600.0, damping=5.0)
    if ball:
        model.body("rod 2", (0.6, 0.1, -0.9), 1.0, (0.02, 0.05, 0.06))
        model.joint("ball", "spherical", "rod", "rod 2", point=(0.6, 0, -0.4))
        model.bushing("pad", "rod 2", "ground", [3e3] * 3 + [80.0] * 3, point=(0.6, 0.1, -0.9))
    model.sensor("p", "position", on="rod")
    if h:
        model.transient_step(2 * h, h, frames=0)
    model.static_step()
    return model


@pytest.mark.parametrize("ball", [False, True])
@pytest.mark.parametrize("h", [1e-3, 0.1])
def test_statics_of_joints_after_a_transient(ball, h):
    """Multipliers go on as forces, whatever scales the constraints have; round-off of stiffness gives none."""
    solution = solve(rods(ball, h))
    assert solution.steps[-1].summary["warnings"] == []
    assert solution.steps[-1].summary["increments"] == 1
    assert solution.steps[-1].series["sensor/p"][-1] == pytest.approx(
        solve(rods(ball)).steps[-1].series["sensor/p"][-1], abs=1e-9
    )
    if not ball:  # 600 turn = 2 g (lever arm)
        turn = brentq(lambda a: 600.0 * a - 2.0 * (0.3 * np.cos(a) - 0.2 * np.sin(a)), 0.0, 0.1)
        c, s = np.cos(turn), np.sin(turn)
        assert solution.steps[-1].series["sensor/p"][-1] == pytest.approx(
            (0.3 * c - 0.2 * s, 0.0, -0.2 * c - 0.3 * s), rel=1e-9
        )


@pytest.mark.parametrize("options", [{"control": "arc"}, {"control": "displacement", "displacement": -0.1}])
def test_paths_of_preloaded_models_begin_at_their_equilibrium(options):
    """A bar on a pin with a coil of 10 Nm/rad that is wound by 0.1 rad; the coil bears the load times its lever arm."""
    model = Model(2)
    model.body("bar", (1.0, 0.0), 1.0, 0.1)
    model.joint("pin", "pin", "bar", point=(0.0, 0.0))
    model.joint_spring("coil", "pin", 10.0, preload=1.0)
    model.force("P", "bar", (0.0, -1.0))
    model.sensor("x", "position", on="bar")
    place = {"on": "bar", "component": "y"} if "displacement" in options else {}
    model.static_step(until=2.0, points=30, **options, **place)
    solution = solve(model)
    step = solution.steps[0]
    assert "out of balance at the start, load factor 0" in step.summary["warnings"][0]
    x, y = solution.sensor("x").values.T
    turn = np.arctan2(y, x)
    assert abs(turn[0]) == pytest.approx(0.1, rel=1e-9)
    assert 10.0 * (turn - turn[0]) == pytest.approx(-step.series["load factor"] * x, abs=1e-8)
    assert len(x) >= 2


# --- loads without a potential ---------------------------------------------------------------------------------------
def clamped(**loads: tuple[float, float, float]) -> Model:
    """A clamped rod of 1 m along x with EI = GJ = 100."""
    model = Model(3)
    model.section("s", "stiffness", EA=1e6, GA=1e6, GJ=100.0, EI=100.0, rhoA=1.0, rhoI=1e-3)
    model.line("rod", (0, 0, 0), (1, 0, 0), 16)
    model.beams("rod", "rod", "s")
    model.fix("rod:start")
    for name, vector in loads.items():
        if name == "moment":
            model.moment(name, "rod:end", vector)
        else:
            model.force(name, "rod:end", vector, follower=name == "follower")
    model.sensor("tip", "position", on="rod:end")
    model.static_step(increments=10)
    return model


@pytest.mark.parametrize("loads", [{"moment": (0, 0, 200 * np.pi)}, {"follower": (-1500.0, 0, 0)}])
def test_symmetric_parts_prove_nothing_of_loads_without_a_potential(loads):
    """Rolled up to a circle; Beck's column below its load of flutter, 20.05 EI/l^2, where it is stable."""
    solution = solve(clamped(**loads))
    step = solution.steps[0].summary
    assert step["negative_eigenvalues"] is None
    assert not any("are unstable" in text for text in step["warnings"])
    assert any("does not tell whether equilibria are stable" in text for text in step["warnings"])
    assert step["cut_increments"] == 0
    if "moment" in loads:
        assert np.abs(solution.sensor("tip").values[-1]).max() < 1e-3


def test_negative_determinants_prove_divergence():
    """In one plane, of P a quarter follows: divergence from cos kl = -1/3 on, 365 N."""
    model = clamped(dead=(-300.0, 0, 0), follower=(-100.0, 0, 0))
    model.fix("rod", ["y"])
    step = solve(model).steps[0].summary
    assert "equilibria are unstable from load factor 0.9 to the end" in step["warnings"][-1]
    assert any("are unstable" in t and "determinant of the unsymmetric stiffness" in t for t in step["warnings"])


def test_signs_of_determinants_on_a_null_space():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(20):
        K, G = rng.standard_normal((7, 7)), rng.standard_normal((3, 7))
        Z = null_space(G)
        found.append(negative_determinant(K, G))
        assert found[-1] == (np.linalg.det(Z.T @ K @ Z) < 0.0)
    assert len(set(found)) == 2


@pytest.mark.parametrize(
    ("dimension", "strains"),
    [(2, "exact"), (2, "natural"), (2, "generalised"), (3, "exact"), (3, "generalised"), (3, "corotational")],
)
def test_loads_beyond_the_law_of_a_beam_are_told(dimension, strains):
    """A tenfold length by a load in newtons that were meant as kilonewtons: the result says that it has no meaning."""
    m = Model(dimension)
    more = {} if dimension == 2 else {"GJ": 100.0}
    m.section("s", "stiffness", EA=1e6, GA=1e6, EI=100.0, rhoA=1.0, rhoI=1e-3, **more)
    m.line("l", (0.0,) * dimension, (1.0, *(0.0,) * (dimension - 1)), 4)
    m.beams("b", "l", "s", strains=strains)
    m.fix("l:start")
    m.force("F", "l:end", (9.0 * 1e6, *(0.0,) * (dimension - 1)))
    m.sensor("tip", "displacement", on="l:end")
    m.static_step(10)
    s = solve(m)
    assert s.sensor("tip").values[-1, 0] == pytest.approx(9.0, rel=1e-9)
    (warning,) = s.summary["steps"][0]["warnings"]
    assert 'Beam "b": the change of length over the unstrained length reached 9 m/m in element' in warning


def test_loads_beyond_all_equilibria_end_in_an_error():
    """Round-off of a diverged iterate does not pass for balance."""
    with pytest.raises(ConvergenceError, match="did not converge"):
        solve(bent(1e30))


def test_iterations_are_bounded():
    """One iteration finds no equilibrium of a load that bends a cantilever by a quarter turn, eight do."""
    with pytest.raises(ConvergenceError, match="did not converge in 1 iterations"):
        solve(bent(1e4, max_iterations=1))
    found = [solve(bent(1e4, max_iterations=n)).sensor("tip").values[-1] for n in (8, 25)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def bent(force: float, **options) -> Model:
    """A steel cantilever of 1 m, 10 mm thick, with a force across at its tip."""
    m = Model(2)
    m.material("steel", E=2e11, nu=0.3, density=7800)
    m.section("rod", "circle", diameter=0.01)
    m.line("l", (0.0, 0.0), (1.0, 0.0), 4)
    m.beams("b", "l", "rod", "steel")
    m.fix("l:start")
    m.force("F", "l:end", (0.0, force))
    m.sensor("tip", "displacement", on="l:end")
    m.static_step(1, **options)
    return m


@pytest.mark.parametrize("rest", [5e-9, 1e-3])
def test_iterations_that_end_at_round_off(monkeypatch, rest):
    """Iterations that come no further than round-off of the forces end there, with a warning; others do not."""
    original = Stepping.single

    def stuck(self, on_chunk, funs=None):
        if self.real[S.RTOL] < 1e-9:
            self.real[S.WORST_VALUE] = rest / self.real[S.RTOL]
            raise ConvergenceError("no further")
        original(self, on_chunk, funs)

    monkeypatch.setattr(Stepping, "single", stuck)
    model = arch()
    model.fix("apex", ["x"])
    model.static_step(4, until=5.0)
    solution = solve(model)  # where the residuals are no round-off, the way down finds equilibria
    w = -solution.sensor("apex").values[:, 1]
    assert solution.steps[0].series["load factor"] == pytest.approx([arch_load(x) for x in w], abs=1e-5)
    assert ["residuals end at 1e-08" in text for text in solution.summary["steps"][0]["warnings"]] == [True] * (
        rest < 1e-7
    )


@pytest.mark.parametrize(("degrees", "unstable"), [(30.0, True), (88.0, False), (120.0, False)])
def test_a_static_step_after_a_transient_tells_the_stability_of_the_equilibrium_that_it_finds(degrees, unstable):
    """A bar stands on a hinge and falls; where the transient leaves it is no equilibrium, upright is an unstable one.

    At 88 degrees from upright the stiffness at the start is negative, that of the equilibrium found is positive.
    """
    a = np.radians(degrees)
    m = Model(2, gravity=(0.0, -9.81))
    m.body("bar", (0.5 * np.sin(a), 0.5 * np.cos(a)), 1.0, 0.1)
    m.joint("hinge", "revolute", "ground", "bar", point=(0.0, 0.0))
    m.sensor("place", "position", on="bar")
    m.transient_step(0.02, 0.01, frames=0)
    m.static_step()
    step = solve(m).steps[-1]
    assert step.series["sensor/place"][-1] == pytest.approx([0.0, 0.5 if unstable else -0.5], abs=1e-6)
    assert step.summary["negative_eigenvalues"] == int(unstable)
    assert any("unstable from load factor 1" in w for w in step.summary["warnings"]) == unstable


@pytest.mark.parametrize("held", [False, True])
def test_a_screw_that_friction_shall_hold_in_statics_is_told_to_take_a_lock(held):
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("nut", (0.0, 0.0, 0.0), 50.0, (1.0, 1.0, 1.0))
    m.joint("screw", "screw", "ground", "nut", point=(0.0,) * 3, axis=(0.0, 0.0, 1.0), lead=0.01)
    m.friction("thread", "screw", coefficient=0.15, smoothing=1e-4, radius=0.02)
    m.sensor("place", "position", on="nut")
    m.static_step()
    if held:
        m.lock("stick", "screw")
        assert solve(m).steps[0].series["sensor/place"][-1] == pytest.approx([0.0] * 3, abs=1e-12)
        return
    with pytest.raises(ConvergenceError, match=r"friction \(thread:angle, thread:displacement\) holds nothing at rest"):
        solve(m)
