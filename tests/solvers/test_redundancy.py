"""Joints that repeat each other, configurations that are singular, and joints that contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, lil_matrix

import fem_mbs.system.compile
from fem_mbs import ConvergenceError, Model, ModelError, solve
from fem_mbs.analysis.run import run
from fem_mbs.analysis.start import redundancy
from fem_mbs.analysis.start.mobility import mobility
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.cli.check import explain
from fem_mbs.results.reader import Results
from fem_mbs.solvers.linear.redundancy import dependencies, independent_rows
from fem_mbs.solvers.linear.saddle import Saddle
from fem_mbs.solvers.stepping import gauge
from fem_mbs.system.tangent import constraint_rows
from fem_mbs.validation.jimenez_1993_bricard import build as bricard


# --- ranks -----------------------------------------------------------------------------------------------------------
def loops_of(loops):
    return [(loop.rows.tolist(), loop.rank) for loop in loops if len(loop.dependent)]


def test_dependent_rows_are_found_and_told_apart():
    """Two loops, an empty row, units from 1e-6 to 1e6; the rest of the rows is in neither."""
    rng = np.random.default_rng(3)
    G = rng.standard_normal((20, 30))
    G[4] = G[1] - 2.0 * G[2]
    G[11] = G[9] + G[10]
    G[12] = 3.0 * G[9]
    G[17] = 0.0
    columns = 10.0 ** rng.uniform(-3, 3, 30)
    rows = 10.0 ** rng.uniform(-3, 3, 20)
    found = dependencies(csr_matrix(rows[:, None] * G * columns), columns)
    assert loops_of(found) == [([1, 2, 4], 2), ([9, 10, 11, 12], 2), ([17], 0)]
    for loop in found:
        if len(loop.rows) > 1:
            unit = G[loop.rows] / np.linalg.norm(G[loop.rows], axis=1, keepdims=True)
            assert np.abs(loop.null.T @ unit).max() < 1e-12
            np.testing.assert_allclose(loop.null.T @ loop.null, np.eye(len(loop.dependent)), atol=1e-12)
    keep = independent_rows(csr_matrix(G))
    assert keep.sum() == np.linalg.matrix_rank(G) == np.linalg.matrix_rank(G[keep])


@pytest.mark.parametrize("away", [0.0, 1e-9, 1e-6, 5e-5, 2e-4, 1.0])
def test_few_rows_far_from_dependence_are_seen_at_once(away, monkeypatch):
    """Whether all rows are looked at first changes nothing in what is found of them."""
    rng = np.random.default_rng(5)
    G = rng.standard_normal((6, 9))
    G[5] = G[0] + G[1] + away * G[5]
    first = dependencies(csr_matrix(G))
    monkeypatch.setattr("fem_mbs.solvers.linear.redundancy._SMALL", 0)
    again = dependencies(csr_matrix(G))
    assert loops_of(first) == loops_of(again)
    assert [loop.rows.tolist() for loop in first] == [loop.rows.tolist() for loop in again]
    assert bool(first) == (np.linalg.svd(G / np.linalg.norm(G, axis=1, keepdims=True))[1].min() < 1e-4)


@pytest.mark.parametrize("misfit", [0.0, 1e-6, 1e-2])
def test_long_loop_without_dense_matrices(misfit):
    """n differences of neighbours around a ring sum to zero; independent ones have singular values down to pi/n."""
    n = 5000
    G = lil_matrix((n, n + 1))
    for i in range(n):
        G[i, i], G[i, (i + 1) % n] = -1.0, 1.0
    G[n - 1, n] = misfit * n**0.5  # the ring's own combination spreads it over all rows
    found = dependencies(G.tocsr())
    if misfit == 0.0:
        assert loops_of(found) == [(list(range(n)), n - 1)]
    elif misfit == 1e-6:
        assert not loops_of(found)
        assert found[0].smallest == pytest.approx(misfit / 2**0.5, rel=1e-3)
    else:
        assert not found


def test_saddle_point_with_dependent_rows_has_the_solution_of_independent_ones():
    rng = np.random.default_rng(1)
    A = np.diag(rng.uniform(1.0, 1e6, 40))
    G = rng.standard_normal((6, 40))
    G = np.vstack((G, G[0] - G[3], 1e3 * G[5]))
    b, c = rng.standard_normal(40), G @ rng.standard_normal(40)
    x, y = Saddle(csr_matrix(A), csr_matrix(G)).solve(b, c)
    np.testing.assert_allclose(A @ x + G.T @ y, b, atol=1e-9 * np.abs(G.T @ y).max())
    np.testing.assert_allclose(G @ x, c, rtol=1e-9, atol=1e-9 * np.abs(c).max())


# --- transients ------------------------------------------------------------------------------------------------------
def four_bar(dimension: int, kinds=("revolute",) * 4, **options) -> Model:
    """Four-bar linkage of unequal rods falling under gravity: revolutes about z in space, pins in the plane."""
    space = dimension == 3
    m = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    P = np.array([(0.0, 0.0, 0.0), (0.3, 0.8, 0.0), (1.4, 1.1, 0.0), (1.5, 0.0, 0.0)])[:, :dimension]
    for i, (p, q) in enumerate(zip(P[:-1], P[1:], strict=True)):
        J, angle = np.linalg.norm(q - p) ** 2 / 12.0 + 0.01, np.arctan2(*(q - p)[1::-1])
        inertia, turn = ((0.02, J, J), {"rotation": (0.0, 0.0, angle)}) if space else (J, {"angle": angle})
        m.body(f"bar {i + 1}", 0.5 * (p + q), 1.0 + i, inertia, **turn)
    places = ["ground", "bar 1", "bar 2", "bar 3", "ground"]
    for i in range(4):
        axis = {"axis": (0.0, 0.0, 1.0)} if space and kinds[i] == "revolute" else {}
        m.joint(f"R{i + 1}", kinds[i] if space else "pin", places[i], places[i + 1], point=P[i], **axis)
    m.sensor("p", "position", on="bar 2", point=P[2])
    m.sensor("F", "reaction", on="R2")
    m.transient_step(**{"duration": 2.0, "h": 0.01, "frames": 0, **options})
    return m


def summary(solution, step=-1):
    return solution.steps[step].summary


def test_four_bar_in_space_moves_as_in_the_plane():
    """Three surplus constraints change neither motion nor reactions nor the number of iterations."""
    plane, space = solve(four_bar(2)), solve(four_bar(3))
    np.testing.assert_allclose(space.sensor("p").values[:, :2], plane.sensor("p").values, atol=1e-11)
    assert np.abs(space.sensor("p").values[:, 2]).max() < 1e-15
    F = plane.steps[-1].series["sensor/F"][1:]
    np.testing.assert_allclose(space.steps[-1].series["sensor/F"][1:, :2], F[:, :2], atol=1e-10 * np.abs(F).max())
    assert (
        np.abs(space.steps[-1].series["sensor/F"][1:, 2:]).max() < 1e-10 * np.abs(F).max()
    )  # out of the plane: least, hence none
    assert summary(space)["iterations"] <= summary(plane)["iterations"] + 5
    assert summary(space)["energy"]["closing_error_relative"] < 1e-11
    assert summary(plane)["warnings"] == []
    (warning,) = summary(space)["warnings"]
    assert '"R1", "R2", "R3", "R4": 20 constraints of rank 17 at the start, 3 repeat others' in warning
    assert "in all 20 constraints of rank 17 on 18 free dofs" in warning


def test_constraints_that_suffice_say_nothing():
    """Revolute, universal and spherical joints in a loop: nothing repeats, the matrix stays as it is."""
    m = four_bar(3, ("revolute", "spherical", "spherical", "revolute"))
    assert summary(solve(m))["warnings"] == []
    compiled = m.compile()
    assert mobility(compiled, compiled.system.initial_state()).redundant == 0


@pytest.mark.parametrize("newton", ["chord", "full"])
@pytest.mark.parametrize("solver", ["cholmod", "superlu"])
def test_wide_models_agree_with_narrow_ones(monkeypatch, solver, newton):
    if solver == "cholmod":
        pytest.importorskip("sksparse")
    narrow = solve(bricard(0.01, 1.0))
    monkeypatch.setattr(fem_mbs.system.compile, "BAND_LIMIT", 0)
    wide = solve(bricard(0.01, 1.0, solver=solver, newton=newton))
    np.testing.assert_allclose(wide.steps[-1].series["sensor/P3"], narrow.steps[-1].series["sensor/P3"], atol=1e-11)
    for i in range(1, 7):
        np.testing.assert_allclose(
            wide.steps[-1].series[f"sensor/F{i}"][1:], narrow.steps[-1].series[f"sensor/F{i}"][1:], atol=2e-3
        )
    assert summary(wide)["energy"]["closing_error_relative"] < 1e-11
    assert summary(wide)["iterations"] <= 2.2 * summary(wide)["n_steps"]


def test_multipliers_are_those_of_least_norm():
    """After some steps of Bricard's mechanism the multipliers are orthogonal, in the norm of the effective masses, to
    the combination of constraint forces that does nothing, found here by a dense decomposition."""
    m = bricard(0.002, 1.0)
    compiled = m.compile()
    state = compiled.system.initial_state()
    stepping = Stepping(
        compiled.system, list(compiled.functions), state, m.gravity, rule="midpoint", t0=0.0, h=0.002,
        settings=Settings(),
    )  # fmt: skip
    stepping.begin()
    stepping.run(200, lambda chunk: None)
    known = stepping.redundancy
    assert known.mode == gauge.DEPENDENT
    multipliers = state.U[known.first : -1].copy()
    state.U[:] = 0.0
    state.Q[1], state.D[1] = state.Q[0], state.D[0]
    G = constraint_rows(compiled.system, stepping.ctl, np.zeros((1, 3)), state, scaled=True).toarray()
    w = np.linalg.svd(G)[0][:, -1]
    assert np.abs(w @ G).max() < 1e-12
    s = known.rank.weight[known.rows]
    share = abs(w @ (s * multipliers)) / np.sqrt((w @ (s * w)) * (multipliers @ (s * multipliers)))
    assert share < 5e-3  # the null vector of mid-step differs from that of the end by O(h)


def test_many_surplus_constraints_of_one_loop(monkeypatch):
    """Beyond a limit the dependent multipliers are zero, not least: same motion, and the drivers do their work."""
    least = solve(driven("t**2/2", "t**2/2"))
    monkeypatch.setattr(redundancy, "MOST", 0)
    zero = solve(driven("t**2/2", "t**2/2"))
    np.testing.assert_allclose(zero.steps[-1].series["sensor/P3"], least.steps[-1].series["sensor/P3"], atol=1e-12)
    M = [zero.steps[-1].series[f"sensor/{name}"][1:, 4] for name in ("M1", "M2")]
    both = least.steps[-1].series["sensor/M1"][1:, 4] + least.steps[-1].series["sensor/M2"][1:, 4]
    assert np.abs(both).max() > 0.1
    np.testing.assert_allclose(M[0] + M[1], both, atol=1e-5 * np.abs(both).max())
    assert min(np.abs(m).max() for m in M) < 1e-9 * np.abs(both).max()
    assert summary(zero)["energy"]["closing_error_relative"] < 1e-12
    assert summary(zero)["iterations"] <= summary(least)["iterations"] + 5
    assert "some are taken as zero" in summary(zero)["warnings"][0]


def test_newmarks_rule_too():
    plane, space = solve(four_bar(2, rule="newmark")), solve(four_bar(3, rule="newmark"))
    np.testing.assert_allclose(space.sensor("p").values[:, :2], plane.sensor("p").values, atol=1e-9)


def test_a_continued_run_gives_the_same_bits(tmp_path):
    m = bricard(0.01, 1.0, restarts=2)
    whole = run(m, tmp_path / "whole")
    run(m, tmp_path / "parts")
    parts = run(m, tmp_path / "parts", restart=0)
    for name in ("P3", "F3"):
        np.testing.assert_array_equal(whole.sensor(name).values, parts.sensor(name).values)
    steps = [Results.open(tmp_path / folder).summary["steps"][0] for folder in ("whole", "parts")]
    assert steps[0]["warnings"] == steps[1]["warnings"] != []


@pytest.mark.parametrize("h", [0.01, 0.001])
def test_loops_that_are_apart_only_where_the_model_is_drawn(h):
    """A shaft bent by a universal joint between two bearings: as drawn, its three surplus constraints are two loops
    without common rows, in all other positions they are one.

    The energy closes, the driver's moment is J q' q''/w with tan q = tan(w t)/cos b, and the bearings bear what bodies
    of this size can ask for.
    """
    b, w, J = 1.0, 2.0, 0.1
    c, s = np.cos(b), np.sin(b)
    m = Model(dimension=3)
    m.body("a", (-0.5, 0.0, 0.0), 1.0, (J, J, J))
    m.body("b", (0.5 * c, 0.5 * s, 0.0), 1.0, (J, J, J))
    speed = {"kind": "constant_speed", "rate": w}
    m.joint("in", "revolute", "ground", "a", point=(-1, 0, 0), axis=(1, 0, 0), function=speed)
    m.joint("cross", "universal", "a", "b", point=(0, 0, 0), axis=(0, 0, 1), axis_b=(-s, c, 0))
    m.joint("out", "revolute", "ground", "b", point=(c, s, 0), axis=(c, s, 0))
    for joint in ("in", "out"):
        m.sensor(joint, "reaction", on=joint)
    m.sensor("drive", "drive", on="in")
    m.sensor("q", "joint", on="out")
    m.transient_step(1.5, h, frames=0)
    solution = solve(m)
    assert "3 repeat others" in summary(solution)["warnings"][0]
    assert summary(solution)["energy"]["closing_error_relative"] < 1e-12
    assert max(np.abs(solution.steps[-1].series[f"sensor/{joint}"][1:]).max() for joint in ("in", "out")) < 10.0
    t = solution.steps[0].time
    # tan q = tan(w t)/cos b has the rate w cos b/(1 - sin^2 b cos^2(w t)); the cross tells where w t begins
    turn = w * t
    for start in (0.0, 0.5 * np.pi):
        q = np.arctan2(np.sin(turn + start), np.cos(turn + start) * c)
        q = np.unwrap(q) - q[0]
        if np.abs(q - solution.sensor("q").values[:, 0]).max() < 1e-9:
            break
    else:
        pytest.fail("the output shaft does not follow the joint's law")
    turn = turn[1:-1] + start
    below = 1.0 - s * s * np.cos(turn) ** 2
    rate = w * c / below
    change = w * c * s * s * 2.0 * w * np.sin(turn) * np.cos(turn) / below**2
    moment = J * rate * change / w
    found = solution.steps[-1].series["sensor/drive"][1:, 0]
    found = 0.5 * (found[1:] + found[:-1])  # multipliers alternate about their values at the ends of steps
    np.testing.assert_allclose(np.abs(found), np.abs(moment), atol=60.0 * h * h * np.abs(moment).max())


# --- drivers ---------------------------------------------------------------------------------------------------------
def driven(*functions) -> Model:
    """Bricard's mechanism with drivers of its first rod."""
    m = bricard(0.01, 0.5)
    for i, function in enumerate(functions):
        m.joint(f"driver {i + 1}", "angle", "ground", "rod 1", axis=(0.0, 1.0, 0.0), function=function)
        m.sensor(f"M{i + 1}", "reaction", on=f"driver {i + 1}")
    return m


def test_equal_drivers_share_the_moment():
    one, two = solve(driven("t**2/2")), solve(driven("t**2/2", "t**2/2"))
    M = one.steps[-1].series["sensor/M1"][1:, 4]
    assert np.abs(M).max() > 0.1
    for name in ("M1", "M2"):
        np.testing.assert_allclose(two.steps[-1].series[f"sensor/{name}"][1:, 4], 0.5 * M, atol=1e-5 * np.abs(M).max())
    for solution in (one, two):
        energy = summary(solution)["energy"]
        assert energy["closing_error_relative"] < 1e-12
        assert abs(energy["final"]["driver work"]) > 0.1
    np.testing.assert_allclose(two.steps[-1].series["sensor/P3"], one.steps[-1].series["sensor/P3"], atol=1e-12)


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        (("t/2", "0.6*t"), ModelError, r'joint "driver 1" and joint "driver 2" contradict each other'),
        (("t**2/2", "0.6*t**2"), ConvergenceError, r'constraints of "driver 1", "driver 2" contradict each other'),
        (("t**3", "2*t**3"), ConvergenceError, r'constraints of "driver 1", "driver 2" contradict each other'),
    ],
)
def test_drivers_that_fight_are_named(functions, error, message):
    with pytest.raises(error, match=message):
        solve(driven(*functions))


def test_joint_that_is_open_is_named():
    m = bricard()
    m.joint("far", "position", "rod 3", point=(0.5, -1.0, 1.0), axis=(1.0, 0.0, 0.0), function="0.01 + t")
    with pytest.raises(ModelError, match=r'"far": it is open by 0\.01 m'):
        solve(m)


def test_joint_between_held_parts_is_no_constraint():
    m = Model(2, gravity=(0.0, -9.81))
    m.body("wall", (0.0, 0.0), 1.0, 1.0)
    m.fix("wall", ["x", "y", "rotation"])
    m.joint("anchor", "pin", "ground", "wall", point=(0.1, 0.0))
    m.body("bob", (1.0, 0.0), 1.0, 0.1)
    m.joint("hinge", "pin", "wall", "bob", point=(0.0, 0.0))
    m.transient_step(1.0, 0.01, frames=0)
    found = summary(solve(m))
    assert found["energy"]["closing_error_relative"] < 1e-12
    assert '"anchor": 2 constraints of rank 0 at the start, 2 repeat others' in found["warnings"][0]


# --- singular configurations -----------------------------------------------------------------------------------------
def parallelogram(dimension: int, function: str, flat: bool, h: float = 0.01, duration: float = 2.0) -> Model:
    """Legs of 1 m, ground and coupler of 2 m, the first leg driven; at the start upright or flat."""
    space = dimension == 3
    m = Model(dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    leg = (1.0, 0.0) if flat else (0.0, 1.0)
    P = np.array([(0.0, 0.0), leg, (leg[0] + 2.0, leg[1]), (2.0, 0.0)])
    P = np.column_stack((P, np.zeros(4)))[:, :dimension]
    for i, (p, q) in enumerate(zip(P[:-1], P[1:], strict=True)):
        J = float((q - p) @ (q - p)) / 12.0
        m.body(f"bar {i + 1}", 0.5 * (p + q), 1.0, (0.05 + J, 0.05 + J, J) if space else J)
    axis = {"axis": (0.0, 0.0, 1.0)} if space else {}
    places = ["ground", "bar 1", "bar 2", "bar 3", "ground"]
    for i in range(4):
        m.joint(f"R{i + 1}", "revolute" if space else "pin", places[i], places[i + 1], point=P[i], **axis)
    m.joint("drive", "angle", "ground", "bar 1", function=function, **axis)
    m.sensor("p", "position", on="bar 3", point=P[2])
    m.transient_step(duration, h, frames=0)
    return m


@pytest.mark.parametrize("h", [0.01, 0.025])
@pytest.mark.parametrize("dimension", [2, 3])
def test_steps_that_end_in_a_singular_configuration_go_on(dimension, h):
    """All bars in line at t = 1 s, exactly at the end of a step: the linkage stays a parallelogram, the energy
    closes, and the configuration is reported."""
    solution = solve(parallelogram(dimension, "pi*t**2/2", flat=False, h=h))
    t, p = solution.steps[0].time, solution.sensor("p").values
    angle = 0.5 * np.pi * (1.0 + t**2)
    np.testing.assert_allclose(p[:, :2], np.column_stack((2.0 + np.cos(angle), np.sin(angle))), atol=1e-7)
    assert summary(solution)["energy"]["closing_error_relative"] < 1e-12
    assert summary(solution)["halved_steps"] == 0
    if h == 0.01:
        assert "at t = 1 s" in " ".join(summary(solution)["warnings"])


@pytest.mark.parametrize("dimension", [2, 3])
def test_wide_models_pass_singular_configurations(monkeypatch, dimension):
    monkeypatch.setattr(fem_mbs.system.compile, "BAND_LIMIT", 0)
    solution = solve(parallelogram(dimension, "pi*t**2/2", flat=False))
    t, p = solution.steps[0].time, solution.sensor("p").values
    angle = 0.5 * np.pi * (1.0 + t**2)
    np.testing.assert_allclose(p[:, :2], np.column_stack((2.0 + np.cos(angle), np.sin(angle))), atol=1e-7)
    assert summary(solution)["energy"]["closing_error_relative"] < 1e-10


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_flat_start_is_no_redundancy_of_what_follows(monkeypatch, dimension, wide):
    """In line at the start one more constraint seems to repeat others, but only there."""
    if wide:
        monkeypatch.setattr(fem_mbs.system.compile, "BAND_LIMIT", 0)
    solution = solve(parallelogram(dimension, "3*t", flat=True, duration=0.5))
    t, p = solution.steps[0].time, solution.sensor("p").values
    np.testing.assert_allclose(p[:, :2], np.column_stack((2.0 + np.cos(3.0 * t), np.sin(3.0 * t))), atol=1e-7)
    assert summary(solution)["energy"]["closing_error_relative"] < 1e-9
    seen = {2: "8 constraints of rank 7", 3: "23 constraints of rank 17"}[dimension]
    assert seen in summary(solution)["warnings"][0]


# --- statics, modes, buckling ----------------------------------------------------------------------------------------
def column(twice: bool, n: int = 6) -> Model:
    """A clamped column of two beams with a weight on top, welded together once or twice."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("strip", "rectangle", width=0.02, height=0.03)
    for name, a, b in (("low", 0.0, 0.5), ("high", 0.5, 1.0)):
        m.line(name, (0.0, 0.0, a), (0.0, 0.0, b), n)
        m.beams(name, name, "strip", "steel", orientation=(0.0, 1.0, 0.0))
    m.fix("low:start")
    for i in range(1 + twice):
        m.joint(f"weld {i + 1}", "weld", "low:end", "high:start")
    m.joint("guide", "slider", "high:end", axis=(0.0, 0.0, 1.0))
    if twice:
        m.joint("guide again", "slider", "high:end", axis=(0.0, 0.0, 1.0))
    m.force("push", "high:end", (0.0, 0.0, -1000.0))
    m.force("side", "low:end", (30.0, 20.0, 0.0))
    m.sensor("u", "displacement", on="low:end")
    m.sensor("F", "reaction", on="weld 1")
    return m


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("control", ["load", "arc"])
def test_statics_of_what_is_joined_twice(monkeypatch, wide, control):
    if wide:
        monkeypatch.setattr(fem_mbs.system.compile, "BAND_LIMIT", 0)
    found = []
    for twice in (False, True):
        m = column(twice)
        m.static_step(control=control, stability=control == "arc")
        found.append(solve(m))
    once, twice = found
    u = once.steps[-1].series["sensor/u"][-1]
    np.testing.assert_allclose(twice.steps[-1].series["sensor/u"][-1], u, atol=1e-8 * np.abs(u).max())
    F = once.steps[-1].series["sensor/F"][-1]
    np.testing.assert_allclose(twice.steps[-1].series["sensor/F"][-1], 0.5 * F, atol=1e-6 * np.abs(F).max())
    assert summary(twice)["iterations"] <= summary(once)["iterations"] + 2
    assert '"weld 1", "weld 2": 12 constraints of rank 6' in summary(twice)["warnings"][0]
    assert '"guide", "guide again": 4 constraints of rank 2' in summary(twice)["warnings"][1]


@pytest.mark.parametrize("n", [6, 40])
def test_modes_and_buckling_of_what_is_joined_twice(n):
    """Dense and sparse."""
    found = []
    for twice in (False, True):
        m = column(twice, n)
        m.static_step()
        m.modes_step(3)
        m.buckling_step(2, loads=["push"])
        found.append(solve(m))
    for step, key in ((1, "frequencies_hz"), (2, "load_factors")):
        np.testing.assert_allclose(summary(found[1], step)[key], summary(found[0], step)[key], rtol=1e-7)
        assert max(summary(found[1], step)["residuals"]) < 1e-6
        assert "12 constraints of rank 6 in this state" in summary(found[1], step)["warnings"][0]
        assert not any("repeat" in w for w in summary(found[0], step)["warnings"])


def test_static_equilibrium_of_an_overconstrained_mechanism():
    """Bricard's mechanism hangs on springs: moments and weight balance as its potential says."""
    m = bricard()
    m.steps.clear()
    for joint in ("R2", "R5"):
        m.joint_spring(f"spring {joint}", joint, 40.0)
    m.static_step(increments=3)
    solution = solve(m)
    q = [solution.steps[-1].series[f"sensor/q{i}"][-1, 0] for i in (1, 2, 5)]
    # the same by energies along the motion, from a slow run by a driver
    m = bricard(0.005, 0.2)
    m.joint("driver", "angle", "ground", "rod 1", axis=(0.0, 1.0, 0.0), function="t")
    moved = solve(m)
    angle, q2, q5 = (moved.steps[-1].series[f"sensor/q{i}"][:, 0] for i in (1, 2, 5))
    energy = moved.steps[0].ledger("potential") + 20.0 * (q2**2 + q5**2)
    lowest = np.polynomial.Polynomial.fit(angle, energy, 8).deriv().roots()
    lowest = lowest[(np.abs(lowest.imag) < 1e-12) & (lowest.real > 0.0) & (lowest.real < 0.2)].real
    assert q[0] == pytest.approx(lowest[0], rel=1e-6)
    assert q[1] == pytest.approx(np.interp(q[0], angle, q2), rel=1e-3)
    assert "30 constraints of rank 29" in summary(solution)["warnings"][0]


# --- checks ----------------------------------------------------------------------------------------------------------
def test_mobility_of_a_large_model():
    """Beyond the size of dense ranks the constraints are still counted."""
    m = Model(3, gravity=(0.0, -9.81, 0.0))
    n = 120
    for i in range(n):
        m.body(f"b{i}", (i + 0.5, 0.0, 0.0), 1.0, (0.1, 0.1, 0.1))
    for i in range(n + 1):
        a, b = f"b{i - 1}" if i else "ground", f"b{i}" if i < n else "ground"
        m.joint(f"J{i}", "revolute", a, b, point=(float(i), 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.transient_step(0.1, 0.01)
    compiled = m.compile()
    found = mobility(compiled, compiled.system.initial_state())
    # around the loop two translations and one rotation too few, and in line one more along the chain
    assert (found.free, found.multipliers, found.redundant, found.strain_free) == (6 * n, 5 * (n + 1), 4, None)
    assert '"J0", "J1"' in found.sentences[0]
    assert f"rank {5 * (n + 1) - 4}" in found.sentences[0]


def test_check_names_the_joints(tmp_path):
    path = tmp_path / "twice.toml"
    path.write_text(
        """
dimension = 2
[[body]]
name = "wheel"
position = [0, 0]
mass = 1.0
inertia = 1.0
[[joint]]
name = "axle"
type = "pin"
a = "wheel"
point = [0, 0]
[[joint]]
name = "axle again"
type = "pin"
a = "wheel"
point = [0, 0]
[[step]]
type = "transient"
duration = 1.0
h = 0.1
""",
        encoding="utf-8",
    )
    text = "\n".join(explain(path))
    assert "mobility: 3 free dofs - 4 constraints = -1 + 2 (constraints that repeat others)" in text
    assert 'note: "axle", "axle again": 4 constraints of rank 2 at the start, 2 repeat others' in text
