"""Locks, latches, brakes, and joints that break: closed forms, equal welded and free models, every analysis, errors."""

from __future__ import annotations

import json
import shutil

import jsonschema
import numpy as np
import pytest
from places import SCHEMA
from scipy.integrate import solve_ivp

from fem_mbs import AnalysisError, Model, ModelError, linearise, load_model, run, solve
from fem_mbs.analysis.run import inspect
from fem_mbs.analysis.start.mobility import mobility
from fem_mbs.declarations.steps import step_kind
from fem_mbs.report.page import report_text
from fem_mbs.sweeps.names import declared_names

G = 9.81


def events(solution, step: int = 0) -> list[tuple[str, str, float]]:
    return [(e["name"], e["action"], e["time"]) for e in solution.steps[step].summary["events"]]


def error(solution, step: int = 0) -> float:
    return solution.steps[step].summary["energy"]["closing_error_relative"]


# --- equal models ----------------------------------------------------------------------------------------------------
def chain(dimension: int, how: str, kind: str = "revolute") -> Model:
    """An elastic beam with a body at its end, which carries another body on a joint: welded, locked, open or free."""
    z = (0.0,) * (dimension - 2)
    m = Model(dimension, gravity=(0.0, -G, *z))
    m.material("steel", 2e9, 0.3, density=2000.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("rod", (0.0, 0.0, *z), (1.0, 0.0, *z), 3)
    m.beams("arm", "rod", section="bar", material="steel")
    m.fix("rod:start", ["x", "y", "z", "rotation"][:dimension] + ["rotation"])
    inertia = 0.02 if dimension == 2 else (0.01, 0.02, 0.03)
    m.body("a", (1.1, 0.05, *z), 0.5, inertia)
    m.body("b", (1.3, 0.0, *z), 0.4, inertia)
    m.joint("clamp", "weld", "rod:end", "a", point=(1.0, 0.0, *z))
    axis = (
        {}
        if dimension == 2 and kind == "revolute"
        else {"axis": (1.0, 0.2, *z) if kind == "prismatic" else (0.2, 0.3, 1.0)}
    )
    if kind == "universal":
        axis["axis_b"] = (0.5, 1.0, 0.0)
    m.joint(
        "pivot", "weld" if how == "weld" else kind, "a", "b", point=(1.2, 0.05, *z), **({} if how == "weld" else axis)
    )
    if how in ("locked", "open"):
        for key in m.joints["pivot"].coordinates:
            m.lock(f"lock {key}", "pivot", key, locked=how == "locked")
    m.sensor("tip", "position", on="b")
    return m


JOINTS = [*((2, kind) for kind in ("revolute", "prismatic")),
          *((3, kind) for kind in ("revolute", "prismatic", "cylindrical", "universal"))]  # fmt: skip


@pytest.mark.parametrize(("dimension", "kind"), JOINTS)
@pytest.mark.parametrize(("how", "other"), [("locked", "weld"), ("open", "free")])
def test_a_locked_chain_is_the_welded_one_and_an_open_one_is_free(dimension, kind, how, other):
    found = []
    for each in (how, other):
        m = chain(dimension, each, kind)
        m.transient_step(0.2, 0.01, frames=0)
        s = solve(m)
        assert error(s) < 1e-10 and not s.steps[0].summary["warnings"]
        found.append(s.sensor("tip").values)
    assert found[0] == pytest.approx(found[1], abs=1e-11)


@pytest.mark.parametrize(("how", "other"), [("locked", "weld"), ("open", "free")])
def test_every_analysis_sees_the_lock(how, other):
    """Frequencies, complex modes, a state-space model, buckling, statics, linear statics and transients."""
    frequencies, places, poles = [], [], []
    for each in (how, other):
        m = chain(2, each)
        m.spring("keeper", "ground", "b", 50.0, point_a=(1.3, -1.0), point_b=(1.3, 0.0))
        m.force("push", "b", (3.0, 1.0))
        m.static_step()
        m.modes_step(4)
        m.complex_modes_step(4)
        m.linear_static_step(loads="push", name="more")
        m.buckling_step(1, loads="push")
        m.linear_transient_step(0.1, 0.01, loads="push")
        s = solve(m)
        frequencies.append(next(step.series["frequency"] for step in s.steps if step.name == "modes"))
        places.append(np.vstack([step.series["sensor/tip"] for step in s.steps if "sensor/tip" in step.series]))
        m.steps[1:] = []
        poles.append(np.sort(np.linalg.eigvals(linearise(m).state_space().A).imag))
    assert frequencies[0] == pytest.approx(frequencies[1], rel=1e-9)
    assert places[0] == pytest.approx(places[1], abs=1e-9)
    assert poles[0] == pytest.approx(poles[1], rel=1e-6, abs=1e-5)


def test_mobility_counts_the_lock():
    counts = {}
    for how in ("locked", "weld", "open", "free"):
        m = chain(3, how)
        m.transient_step(0.1, 0.01)
        start = inspect(m)
        found = mobility(start.compiled, start.state)
        counts[how] = found.free - found.multipliers, found.strain_free, found.redundant
    assert counts["locked"] == counts["weld"] and counts["open"] == counts["free"]
    assert counts["open"][1] == counts["locked"][1] + 1


def test_a_lock_that_repeats_others_is_told():
    """A four-bar linkage whose two locks hold the same: the second repeats the first, and is redundant."""
    m = Model(2, gravity=(0.0, -G))
    for name, place in (("left", (0.0, 0.5)), ("top", (0.5, 1.0)), ("right", (1.0, 0.5))):
        m.body(name, place, 1.0, 0.1)
    for name, a, b, point in (
        ("a", "ground", "left", (0.0, 0.0)), ("b", "left", "top", (0.0, 1.0)),
        ("c", "top", "right", (1.0, 1.0)), ("d", "ground", "right", (1.0, 0.0)),
    ):  # fmt: skip
        m.joint(name, "revolute", a, b, point)
    m.body("clock", (0.0, 9.0), 1.0, 1.0)
    m.joint("hand", "prismatic", "ground", "clock", (0.0, 9.0), axis=(1.0, 0.0))
    m.initial("clock", velocity=(1.0, 0.0))
    m.sensor("time", "joint", on="hand")
    m.lock("one", "a")
    m.lock("two", "d", locked=False)
    m.event("twice", "time", 0.1, "rising", "lock", "two")
    m.transient_step(0.2, 0.01)
    s = solve(m)
    (warning,) = s.steps[0].summary["warnings"]
    assert "1 repeats others" in warning and "at t = 0.1 s" in warning and '"two"' in warning
    assert error(s) < 1e-10


# --- blows -----------------------------------------------------------------------------------------------------------
def discs(dimension: int = 2) -> Model:
    """Two discs on one axis, J = 2 and 3, with 5 and -1 rad/s; they are joined when the first has turned by 1 rad."""
    m = Model(dimension)
    z = (0.0,) * (dimension - 2)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    for name, J, w in (("a", 2.0, 5.0), ("b", 3.0, -1.0)):
        m.body(name, (0.0, 0.0, *z), 1.0, J if dimension == 2 else (0.6 * J, 0.7 * J, J))
        m.initial(name, spin=w if dimension == 2 else (0.0, 0.0, w))
    m.joint("bearing", "revolute", "ground", "a", (0.0, 0.0, *z), **axis)
    m.joint("clutch", "revolute", "a", "b", (0.0, 0.0, *z), **axis)
    m.lock("pawl", "clutch", locked=False)
    m.sensor("turn", "joint", on="bearing")
    for quantity in ("force", "speed", "coordinate", "state", "impulse"):
        m.sensor(quantity, "lock", on="pawl", quantity=quantity)
    m.event("meet", "turn", 1.0, "rising", "lock", "pawl")
    m.transient_step(1.0, 0.01)
    return m


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("rule", ["midpoint", "generalised-alpha"])
def test_two_discs_are_joined(dimension, rule):
    m = discs(dimension)
    m.steps[0].options["rule"] = rule
    s = solve(m)
    first, second = s.steps[0].summary["events"]
    w = (2.0 * 5.0 - 3.0) / 5.0
    assert (first["name"], first["action"], second["name"], second["action"]) == ("meet", "lock", "pawl", "lock")
    assert second["impulse"] == pytest.approx(3.0 * (w + 1.0), rel=1e-12)
    assert second["loss"] == pytest.approx(0.5 * (2.0 * 25.0 + 3.0 - 5.0 * w**2), rel=1e-12)
    final = s.steps[0].summary["energy"]["final"]
    assert final["kinetic"] == pytest.approx(0.5 * 5.0 * w**2, rel=1e-9)
    assert final["dissipated"] == pytest.approx(second["loss"], rel=1e-9)
    assert error(s) < (1e-12 if rule == "midpoint" else 1e-6)
    assert s.sensor("speed").values[[0, -1], 0] == pytest.approx([-6.0, 0.0], abs=1e-9)
    assert s.sensor("state").values[[0, -1], 0].tolist() == [0.0, 1.0]
    assert s.sensor("impulse").values[[0, -1], 0] == pytest.approx([0.0, second["impulse"]])
    held = s.sensor("coordinate").values[s.steps[0].time > first["time"] + 1e-6, 0]
    assert np.ptp(held) < 1e-13
    assert s.steps[0].summary["angular_momentum"][-1] == pytest.approx(7.0, rel=1e-12)


def test_a_latch_beyond_a_turn_stops_a_geared_pair_in_space():
    """It closes at 7 rad; the impulse is that of both inertias, J + 4 J; a support of another part goes meanwhile."""
    m = Model(3)
    for name, x, w in (("a", 0.0, 5.0), ("b", 2.0, -10.0)):
        m.body(name, (x, 0.0, 0.0), 1.0, (1.0, 1.0, 1.5))
        m.joint(f"axle {name}", "revolute", "ground", name, (x, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        m.initial(name, spin=(0.0, 0.0, w))
    m.gear("teeth", "axle a", "axle b", -2.0)
    m.lock("stop", "axle a", value=7.0)
    m.sensor("turn", "joint", on="axle a")
    m.sensor("other", "joint", on="axle b")
    m.body("block", (4.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    m.fix("block", ["x", "y"], name="prop")
    m.force("push", "block", (3.0, 0.0, 0.0))
    m.sensor("place", "position", on="block")
    m.event("away", "turn", 4.0, "rising", "break", "prop")
    m.transient_step(2.0, 0.01)
    s = solve(m)
    away, stop = s.steps[0].summary["events"]
    assert (away["action"], stop["action"]) == ("break", "lock")
    assert stop["time"] == pytest.approx(1.4, rel=1e-3)
    assert stop["impulse"] == pytest.approx(-1.5 * 5.0 - 2.0 * 1.5 * 10.0, rel=1e-6)
    assert stop["loss"] == pytest.approx(0.75 * (25.0 + 100.0), rel=1e-10)
    assert s.sensor("turn").values[-1, 0] == pytest.approx(7.0, abs=1e-12)
    assert s.sensor("other").values[-1, 0] == pytest.approx(-14.0, abs=1e-12)
    assert s.sensor("place").values[-1, 0] == pytest.approx(4.0 + 1.5 * (2.0 - away["time"]) ** 2, rel=1e-9)
    assert error(s) < 1e-12


def test_two_locks_that_close_at_once_share_the_loss():
    """A chain of three bars that turn about their joints: dense equations of the blow with both multipliers."""
    m = Model(2)
    spins = (1.0, -2.0, 3.5)
    v = np.zeros(2)
    for i, (name, w) in enumerate(zip("abc", spins, strict=True)):
        m.body(name, (0.5 + i, 0.0), 1.0, 1.0 / 12.0)
        m.initial(name, velocity=v + (0.0, 0.5 * w), spin=w)
        v = v + (0.0, w)
        m.joint(f"to {name}", "revolute", "abc"[i - 1] if i else "ground", name, (float(i), 0.0))
    m.lock("one", "to b", locked=False)
    m.lock("two", "to c", locked=False)
    m.sensor("speed", "lock", on="one", quantity="speed")
    m.sensor("angle", "joint", on="to a")
    m.event("all", "angle", 1e-9, "rising", "lock", ["one", "two"])
    m.transient_step(0.01, 0.001)
    s = solve(m)
    # straight bars: place of the middles = G w, J of each bar
    G = np.array([[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.5]])
    M = G.T @ G + np.eye(3) / 12.0
    C = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    w = np.array(spins)
    blow = np.linalg.solve(np.block([[M, C.T], [C, np.zeros((2, 2))]]), [*(M @ w), 0.0, 0.0])
    one, two = s.steps[0].summary["events"][1:]
    assert [one["impulse"], two["impulse"]] == pytest.approx(-blow[3:], rel=1e-7)
    assert [one["loss"], two["loss"]] == pytest.approx(0.5 * blow[3:] * (C @ w), rel=1e-7)
    assert s.sensor("speed").values[-1, 0] == pytest.approx(0.0, abs=1e-12)
    assert error(s) < 1e-11


def test_sweeps_and_pages_tell_of_locks(tmp_path):
    m = discs()
    assert {"transient.event.pawl.time", "transient.event.pawl.impulse", "transient.event.pawl.loss"} <= set(
        declared_names(m.compile())
    )
    results = run(m, tmp_path / "out")
    step = results.steps[0]
    found = {name: value for name, value, _ in step_kind("transient").quantities(step.report)}
    page = report_text(results)
    assert "loss [J]" in page and "<td>21.6</td>" in page.replace(' class="number"', "")
    assert found["event.pawl.impulse"] == pytest.approx(7.2) and found["event.pawl.loss"] == pytest.approx(21.6)


def test_results_do_not_depend_on_the_length_of_chunks():
    """The same event, seen in one chunk or in many."""
    m = discs()
    m.event("late", "turn", 1.5, "rising", "release", "pawl")
    whole = solve(m)
    m.steps[0].options["eigenvalues"] = {"count": 1, "every": 1}
    cut = solve(m)
    assert events(whole) == events(cut)
    assert np.array_equal(whole.sensor("force").values, cut.sensor("force").values, equal_nan=True)


def pendulum_reference(w: tuple[float, float], latch: float, t_end: float) -> tuple[float, np.ndarray, float]:
    """Return when a double pendulum latches straight, both angles and speeds at the end, and the impulse.

    Bars of 1 kg and 1 m, absolute angles p from the vertical, q = p2 - p1; dense equations and their solution by
    scipy; in the blow M v1 + C^T y = M v0, C v1 = 0.
    """

    def matrices(p, v):
        c, s = np.cos(p[1] - p[0]), np.sin(p[1] - p[0])
        M = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
        f = np.array([0.5 * s * v[1] ** 2 - 1.5 * G * np.sin(p[0]), -0.5 * s * v[0] ** 2 - 0.5 * G * np.sin(p[1])])
        return M, f

    def free(t, y):
        M, f = matrices(y[:2], y[2:])
        return [*y[2:], *np.linalg.solve(M, f)]

    def straight(t, y):
        return y[1] - y[0] - latch

    straight.terminal = True
    start = solve_ivp(free, (0.0, t_end), [0.0, -0.8, *w], events=straight, rtol=1e-12, atol=1e-13)
    t, y = start.t[-1], start.y[:, -1]
    M, _ = matrices(y[:2], y[2:])
    C = np.array([[-1.0, 1.0]])
    K = np.block([[M, C.T], [C, np.zeros((1, 1))]])
    after = np.linalg.solve(K, [*(M @ y[2:]), 0.0])

    def locked(t, y):
        M, f = matrices(y[:2], y[2:])
        return [*y[2:], *np.linalg.solve(np.block([[M, C.T], [C, np.zeros((1, 1))]]), [*f, 0.0])[:2]]

    end = solve_ivp(locked, (t, t_end), [*y[:2], *after[:2]], rtol=1e-12, atol=1e-13)
    return t, end.y[:, -1], -after[2]


def pendulum(h: float, w: tuple[float, float], latch: float, t_end: float) -> Model:
    m = Model(2, gravity=(0.0, -G))
    p = (0.0, -0.8)
    ends = np.cumsum([[0.0, 0.0], [np.sin(p[0]), -np.cos(p[0])], [np.sin(p[1]), -np.cos(p[1])]], axis=0)
    for i, name in enumerate(("upper", "lower")):
        m.body(name, 0.5 * (ends[i] + ends[i + 1]), 1.0, 1.0 / 12.0, angle=p[i])
    m.joint("hip", "revolute", "ground", "upper", (0.0, 0.0))
    m.joint("knee", "revolute", "upper", "lower", ends[1])
    m.lock("latch", "knee", value=latch + 0.8)
    m.initial_speed("upper", "rotation", w[0])
    m.initial_speed("lower", "rotation", w[1])
    for name in ("hip", "knee"):
        m.sensor(name, "joint", on=name)
    m.transient_step(t_end, h)
    return m


def test_a_double_pendulum_latches_straight():
    """Against scipy's solution of the dense equations, at second order."""
    t, y, impulse = pendulum_reference((1.0, 4.0), 0.0, 0.8)
    errors = []
    for h in (0.01, 0.005):
        s = solve(pendulum(h, (1.0, 4.0), 0.0, 0.8))
        (event,) = s.steps[0].summary["events"]
        assert (event["name"], event["action"]) == ("latch", "lock")
        end = np.array([s.sensor("hip").values[-1, 0], event["time"], event["impulse"]])
        errors.append(np.abs(end - [y[0], t, impulse]))
        assert s.sensor("knee").values[-1, 0] == pytest.approx(0.8, abs=1e-13)
        assert error(s) < 1e-12
    assert errors[1] == pytest.approx([0.0, 0.0, 0.0], abs=2e-3)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.4)


# --- brakes ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_brake_stops_a_rotor_and_holds_it_to_its_limit(dimension):
    """J = 2, M = 3: it stops after w J/M = 4 s and J w^2/(2 M) = 12 rad, holds 3 N m to 11 s, slips back at 19 s."""
    m = Model(dimension)
    z = (0.0,) * (dimension - 2)
    plane = dimension == 2
    m.body("rotor", (0.0, 0.0, *z), 1.0, 2.0 if plane else (1.0, 1.0, 2.0))
    m.joint("bearing", "revolute", "ground", "rotor", (0.0, 0.0, *z), **({} if plane else {"axis": (0.0, 0.0, 1.0)}))
    m.initial("rotor", spin=6.0 if plane else (0.0, 0.0, 6.0))
    m.lock("brake", "bearing", limit=3.0)
    load = {"kind": "table", "times": [0.0, 5.0, 15.0, 20.0, 30.0], "values": [0.0, 0.0, 5.0, -5.0, -5.0]}
    m.moment("load", "rotor", 1.0 if plane else (0.0, 0.0, 1.0), load)
    m.sensor("angle", "lock", on="brake", quantity="coordinate")
    m.sensor("moment", "lock", on="brake")
    m.sensor("state", "lock", on="brake", quantity="state")
    m.transient_step(22.0, 0.01, frames=0)
    s = solve(m)
    found = events(s)
    assert [e[1] for e in found] == ["lock", "slip", "lock", "slip"]
    # from 11 s on M = 0.5 (t - 5) to 15 s, then -2 (t - 15) + 5, against 3 N m
    assert [e[2] for e in found] == pytest.approx([4.0, 11.0, 18.2362, 19.0], abs=6e-4)
    angle, moment, t = s.sensor("angle").values[:, 0], s.sensor("moment"), s.sensor("angle").t
    assert angle[(t > 4.1) & (t < 10.9)] == pytest.approx(12.0, abs=2e-4)
    assert np.ptp(angle[(t > 4.01) & (t < 10.99)]) < 1e-12
    still, slips = ((moment.t > a) & (moment.t < b) for a, b in ((5.1, 10.9), (11.1, 18.1)))
    assert moment.values[still, 0] == pytest.approx(-0.5 * (moment.t[still] - 5.0), abs=1e-9)
    assert moment.values[slips, 0] == pytest.approx(-3.0, abs=1e-12)
    assert error(s) < 1e-11
    lost = s.steps[0].summary["energy"]["final"]["dissipated"]
    assert lost == pytest.approx(3.0 * (12.0 + np.abs(np.diff(angle[t > 4.0])).sum()), rel=1e-3)


def braked_rotor(factor, spin=0.0, moment=2.0, rule="midpoint", duration=6.0, h=0.01):
    m = Model(2)
    m.body("rotor", (0.0, 0.0), 1.0, 2.0)
    m.joint("bearing", "revolute", "ground", "rotor", (0.0, 0.0))
    m.initial("rotor", spin=spin)
    m.lock("brake", "bearing", limit=3.0, slip=2.4, factor=factor)
    m.moment("load", "rotor", moment)
    m.sensor("w", "angular velocity", on="rotor")
    for quantity in ("force", "limit"):
        m.sensor(quantity, "lock", on="brake", quantity=quantity)
    m.transient_step(duration, h, frames=0, rule=rule)
    return m


@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
def test_a_brake_that_wears_lets_its_rotor_go(rule):
    """The limit 3 (1 - t/10) falls to the load 2 at t = 10/3; then J w' = 2 - 2.4 (1 - t/10), closed form."""
    s = solve(braked_rotor("1 - t/10", rule=rule))
    assert events(s) == [("brake", "slip", pytest.approx(10.0 / 3.0, abs=1e-9 if rule == "midpoint" else 0.011))]
    start = events(s)[0][2]
    w = 0.5 * (-0.4 * (6.0 - start) + 0.12 * (36.0 - start**2))
    assert s.sensor("w").values[-1, 0] == pytest.approx(w, rel=1e-5)
    limit = s.sensor("limit")
    assert limit.values[1:, 0] == pytest.approx(3.0 * (1.0 - limit.t[1:] / 10.0), abs=1e-9)
    assert error(s) < (1e-11 if rule == "midpoint" else 1e-4)


def test_a_brake_that_is_pressed_harder_and_harder():
    """J w' = -2.4 t/5 stops w = 1.2 after sqrt(10) s and holds; below zero the factor is zero."""
    s = solve(braked_rotor("t/5", spin=1.2, moment=0.0))
    # J w0 = 0.24 t^2
    assert events(s)[-1] == ("brake", "lock", pytest.approx(np.sqrt(10.0), abs=2e-5))
    assert s.sensor("w").values[-1, 0] == 0.0
    assert s.steps[0].summary["energy"]["final"]["dissipated"] == pytest.approx(1.44, rel=1e-9)
    assert error(s) < 1e-11
    free = solve(braked_rotor("-t", spin=1.2, moment=0.0, duration=1.0))
    assert free.sensor("w").values[-1, 0] == pytest.approx(1.2, rel=1e-12)
    assert free.sensor("limit").values[-1, 0] == 0.0


def test_statics_and_restarts_know_the_factor(tmp_path):
    m = braked_rotor(0.5)
    m.steps.clear()
    m.static_step()
    with pytest.raises(AnalysisError, match=r'needs a moment of 2 in "brake", which slips at 1\.5'):
        solve(m)
    m = braked_rotor("1 - t/10")
    m.steps.clear()
    m.transient_step(6.0, 0.01, frames=0, restarts=3)
    whole = run(m, tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(m, tmp_path / "copy", restart=1)
    for name, values in whole.steps[0].series.items():
        np.testing.assert_array_equal(values, again.steps[0].series[name])


def test_errors_of_factors():
    m = braked_rotor("1")
    m.body("other", (1.0, 0.0), 1.0, 1.0)
    m.joint("hinge", "revolute", "rotor", "other", (0.5, 0.0))
    with pytest.raises(ModelError, match="factor belongs to a brake"):
        m.lock("pin", "hinge", breaks_at=2.0, factor="t")
    m.lock("bolt", "hinge", breaks_at=2.0)
    with pytest.raises(ModelError, match='lock "bolt" has no limit'):
        m.sensor("none", "lock", on="bolt", quantity="limit")


def test_a_brake_closes_on_a_motion_and_is_released():
    """It slips with less than it holds, from the time of an event; released, the mass goes on."""
    m = Model(2)
    m.body("cart", (0.0, 0.0), 2.0, 1.0)
    m.joint("rail", "prismatic", "ground", "cart", (0.0, 0.0), axis=(1.0, 0.0))
    m.initial("cart", velocity=(4.0, 0.0))
    m.lock("brake", "rail", locked=False, limit=8.0, slip=5.0)
    m.sensor("way", "joint", on="rail")
    m.sensor("speed", "velocity", on="cart")
    m.event("on", "way", 2.0, "rising", "lock", "brake")
    m.event("off", "speed.x", 1.0, "falling", "release", "brake")
    m.transient_step(3.0, 0.01)
    s = solve(m)
    assert events(s) == [
        ("on", "lock", pytest.approx(0.5, abs=1e-12)), ("brake", "slip", pytest.approx(0.5, abs=1e-12)),
        ("off", "release", pytest.approx(0.5 + 3.0 / 2.5, abs=1e-10)),
    ]  # fmt: skip
    assert s.sensor("speed").values[-1, 0] == pytest.approx(1.0, abs=1e-10)
    assert s.steps[0].summary["energy"]["final"]["dissipated"] == pytest.approx(0.5 * 2.0 * (16.0 - 1.0), rel=1e-10)


def test_a_brake_transmits_no_impulse():
    """Three discs on one axis: a clutch joins the first two, the third hangs on the second by a brake.

    Its finite moment has no impulse: the third keeps its speed in the blow, and is dragged along afterwards.
    """
    m = Model(2)
    J, w = np.array([2.0, 1.0, 4.0]), np.array([6.0, 0.0, 0.0])
    for name, inertia, spin in zip("abc", J, w, strict=True):
        m.body(name, (0.0, 0.0), 1.0, inertia)
        m.initial(name, spin=spin)
        m.sensor(name, "angular velocity", on=name)
    m.joint("bearing", "revolute", "ground", "a", (0.0, 0.0))
    m.joint("clutch", "revolute", "a", "b", (0.0, 0.0))
    m.joint("hub", "revolute", "b", "c", (0.0, 0.0))
    m.lock("pawl", "clutch", locked=False)
    m.lock("brake", "hub", limit=3.0)
    m.sensor("turn", "joint", on="bearing")
    m.event("meet", "turn", 0.3, "rising", "lock", "pawl")
    m.transient_step(4.0, 0.01)
    s = solve(m)
    blow, slip, rest = s.steps[0].summary["events"][1:]
    assert (blow["name"], rest["name"], rest["action"]) == ("pawl", "brake", "lock")
    assert slip["name"] == "brake" and slip["action"] == "slip"
    common = 12.0 / 3.0
    assert blow["impulse"] == pytest.approx(common, rel=1e-10)
    assert blow["loss"] == pytest.approx(0.5 * (2.0 * 36.0 - 3.0 * common**2), rel=1e-10)
    # 3 N m on J = 3 and 4 until the speeds are equal, 12/7
    assert rest["time"] - blow["time"] == pytest.approx(common / (1.0 + 0.75), rel=1e-3)
    assert [s.sensor(name).values[-1, 0] for name in "abc"] == pytest.approx([12.0 / 7.0] * 3, rel=1e-10)
    assert error(s) < 1e-12


def test_dry_friction_keeps_a_block_in_its_band():
    """A spring pulls a block that a brake holds: it comes to rest where |k x| is below the limit, as in closed form.

    Half a swing between turning points takes pi/w, each less by 2 F/k.
    """
    m, k, F = 2.0, 50.0, 4.0
    model = Model(2)
    model.body("block", (1.0, 0.0), m, 1.0)
    model.joint("rail", "prismatic", "ground", "block", (1.0, 0.0), axis=(1.0, 0.0))
    model.joint_spring("spring", "rail", k, free=-0.9)
    model.lock("brake", "rail", limit=F)
    model.sensor("way", "joint", on="rail")
    model.transient_step(4.0, 0.001, frames=0)
    s = solve(model)
    x, turns = 0.9, 0
    while k * abs(x) > F:
        x, turns = -np.sign(x) * (abs(x) - 2.0 * F / k), turns + 1
    assert s.sensor("way").values[-1, 0] + 0.9 == pytest.approx(x, abs=1e-5)
    stops = [t for _, action, t in events(s) if action == "lock"]
    assert stops == pytest.approx(np.pi / np.sqrt(k / m) * np.arange(1, turns + 1), abs=2e-5)
    assert error(s) < 1e-10


def test_a_pin_breaks_for_good():
    m = Model(2)
    m.body("cart", (0.0, 0.0), 2.0, 1.0)
    m.joint("rail", "prismatic", "ground", "cart", (0.0, 0.0), axis=(1.0, 0.0))
    m.lock("pin", "rail", breaks_at=5.0)
    m.force("pull", "cart", (2.0, 0.0), "t")
    m.sensor("way", "joint", on="rail")
    m.event("again", "way", 1.0, "rising", "lock", "pin")
    m.transient_step(4.0, 0.01)
    s = solve(m)
    assert events(s)[0] == ("pin", "break", pytest.approx(2.5, abs=1e-9))
    # m a = 2 t from 2.5 s on; the event cannot close it again
    exact = (4.0**3 - 2.5**3) / 6.0 - 2.5**2 / 2.0 * 1.5
    assert s.sensor("way").values[-1, 0] == pytest.approx(exact, rel=1e-4)


# --- what breaks -----------------------------------------------------------------------------------------------------
def hung(kind: str, rule: str = "midpoint", h: float = 0.01) -> Model:
    """A weight of 2 kg below a joint or support that breaks at 30 N, pulled by 2 N/s."""
    m = Model(3, gravity=(0.0, 0.0, -G))
    m.body("weight", (0.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.3))
    if kind == "support":
        m.fix("weight", ["x", "y", "z", "rotation"], name="hook", breaks_at=30.0)
    else:
        axis = (
            {"axis": (0.0, 0.0, 1.0)}
            if kind == "prismatic"
            else {"axis": (0.0, 1.0, 0.0)}
            if kind == "revolute"
            else {}
        )
        m.joint("hook", kind, "ground", "weight", (0.0, 0.0, 1.0), breaks_at=30.0, **axis)
    m.force("pull", "weight", (0.0, 0.0, -1.0), {"kind": "table", "times": [0.0, 20.0], "values": [0.0, 40.0]})
    m.sensor("place", "position", on="weight")
    m.transient_step(8.0, h, rule=rule)
    return m


@pytest.mark.parametrize("rule", ["midpoint", "newmark", "generalised-alpha"])
@pytest.mark.parametrize("kind", ["weld", "spherical", "revolute", "support"])
def test_a_weight_falls_when_its_joint_breaks(kind, rule):
    s = solve(hung(kind, rule))
    t = (30.0 - 2.0 * G) / 2.0
    assert events(s) == [("hook", "break", pytest.approx(t, abs=1e-9))]
    left = 8.0 - t
    exact = -(30.0 / 2.0) * left**2 / 2.0 - left**3 / 6.0
    assert s.sensor("place").values[-1, 2] == pytest.approx(exact, rel=1e-5)
    assert error(s) < (1e-12 if rule == "midpoint" else 1e-3)
    assert abs(s.steps[0].summary["energy"]["final"]["dissipated"]) < 1e-12


def test_a_moment_breaks_a_weld():
    m = Model(2)
    m.body("arm", (1.0, 0.0), 2.0, 0.5)
    m.joint("root", "weld", "ground", "arm", (0.0, 0.0), breaks_at_moment=6.0)
    m.force("push", "arm", (0.0, 1.0), "2*t")
    m.sensor("place", "position", on="arm")
    m.transient_step(5.0, 0.01)
    s = solve(m)
    assert events(s) == [("root", "break", pytest.approx(3.0, abs=1e-9))]
    assert s.sensor("place").values[-1, 1] == pytest.approx((5.0**3 - 3.0**3) / 6.0 - 9.0 / 2.0 * 2.0, rel=1e-4)


def test_an_event_breaks_a_joint_and_its_lock():
    """A rotor that a lock holds to a shaft flies off with the velocity that it has; energy and momenta stay."""
    m = Model(2)
    m.body("hub", (0.0, 0.0), 1.0, 1.0)
    m.body("blade", (1.0, 0.0), 1.0, 0.1)
    m.joint("axle", "revolute", "ground", "hub", (0.0, 0.0))
    m.joint("root", "revolute", "hub", "blade", (0.5, 0.0))
    m.lock("collar", "root")
    m.initial("hub", spin=2.0)
    m.initial("blade", velocity=(0.0, 2.0), spin=2.0)
    m.sensor("angle", "joint", on="axle")
    m.sensor("place", "position", on="blade")
    m.event("off", "angle", 0.5, "rising", "break", "root")
    m.transient_step(1.0, 0.01)
    s = solve(m)
    t, w = 0.25, 2.0
    phase = 0.5
    exact = np.array([np.cos(phase), np.sin(phase)]) + (1.0 - t) * w * np.array([-np.sin(phase), np.cos(phase)])
    assert events(s) == [("off", "break", pytest.approx(t, abs=1e-4))]
    assert s.sensor("place").values[-1] == pytest.approx(exact, abs=2e-4)
    assert s.steps[0].summary["energy"]["final"]["kinetic"] == pytest.approx(0.5 * (1.0 + 0.1 + 1.0) * 4.0, rel=1e-12)


def test_later_steps_see_what_has_closed_and_broken():
    m = discs()
    m.joint_spring("spring", "bearing", 20.0)
    m.modes_step(1)
    s = solve(m)
    # both discs on the spring of the first
    assert s.steps[1].series["frequency"][0] == pytest.approx(np.sqrt(20.0 / 5.0) / (2.0 * np.pi), rel=1e-9)


# --- files, results, copies ------------------------------------------------------------------------------------------
def test_a_file_holds_locks_and_what_breaks(tmp_path):
    m = hung("revolute")
    m.lock("catch", "hook", locked=False, value=0.3, ready=False)
    m.sensor("catch force", "lock", on="catch")
    m.sensor("height", "position", on="weight")
    m.event("arm", "height.z", -1.0, "falling", "lock", "catch")
    m.save(tmp_path / "model.toml")
    again = load_model(tmp_path / "model.toml")
    first, second = solve(m), solve(again)
    assert events(first) == events(second)
    assert np.array_equal(first.sensor("place").values, second.sensor("place").values)
    results = run(again, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    jsonschema.validate(summary, SCHEMA)
    assert summary["steps"][0]["events"][0]["action"] == "break" and results.sensor("catch force").values.any() == 0


def test_a_locked_model_without_events_restarts_with_the_same_bits(tmp_path):
    m = chain(3, "locked")
    m.transient_step(0.2, 0.01, restarts=3)
    whole = run(m, tmp_path / "out").sensor("tip").values.copy()
    again = run(m, tmp_path / "out", restart=1).sensor("tip").values
    assert np.array_equal(whole, again)


def eventful() -> Model:
    """A pendulum that latches and is let go, a brake that slips and holds, a load that an event switches, a pin that
    breaks, in two transients."""
    m = pendulum(0.01, (1.0, 4.0), 0.0, 0.8)
    m.body("rotor", (3.0, 0.0), 1.0, 2.0)
    m.joint("bearing", "revolute", "ground", "rotor", (3.0, 0.0))
    m.initial("rotor", spin=0.2)
    m.lock("brake", "bearing", limit=5.0)
    m.moment("load", "rotor", 1.0, "20*t")
    m.body("weight", (5.0, 0.0), 1.0, 1.0)
    m.joint("hook", "weld", "ground", "weight", (5.0, 1.0), breaks_at=14.0)
    m.force("pull", "weight", (0.0, -1.0), "8*t")
    m.sensor("height", "position", on="weight")
    m.sensor("turn", "joint", on="bearing")
    m.sensor("moment", "lock", on="brake")
    m.event("let go", "hip", 0.4, "rising", "release", "latch")
    m.event("push", "turn", 0.1, "rising", "switch", "load", "2 + 3*t")
    m.steps[0].options["restarts"] = 6
    m.transient_step(0.6, 0.01, name="more", restarts=3)
    return m


def test_a_run_goes_on_from_any_restart_point_with_the_same_bits(tmp_path):
    m = eventful()
    sensors = ("hip", "knee", "height", "turn", "moment")
    whole = run(m, tmp_path / "out")
    first = {name: whole.sensor(name).values.copy() for name in sensors}
    told = [step["events"] for step in json.loads((tmp_path / "out" / "summary.json").read_text())["steps"]]
    assert {e["action"] for events in told for e in events} >= {"lock", "release", "slip", "break", "switch"}
    count = len(whole.restart_points)
    assert count >= 7
    for i in (0, 3, count - 1):
        again = run(m, tmp_path / "out", restart=i)
        for name in sensors:
            assert np.array_equal(again.sensor(name).values, first[name], equal_nan=True), (i, name)
        summary = json.loads((tmp_path / "out" / "summary.json").read_text())
        assert [step["events"] for step in summary["steps"]] == told


# --- bad input -------------------------------------------------------------------------------------------------------
def hinge() -> Model:
    m = Model(2)
    m.body("bar", (0.5, 0.0), 1.0, 0.1)
    m.joint("hinge", "revolute", "ground", "bar", (0.0, 0.0))
    m.sensor("angle", "joint", on="hinge")
    m.transient_step(0.1, 0.01)
    return m


def driven() -> Model:
    m = hinge()
    m.body("other", (1.5, 0.0), 1.0, 0.1)
    m.joint("motor", "revolute", "bar", "other", (1.0, 0.0), function="t")
    return m


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda m: m.lock("l", "hing"), 'no joint "hing"; did you mean "hinge"?'),
        (lambda m: m.lock("l", "hinge", "displacement"), '"hinge" has angle'),
        (lambda m: m.lock("l", "motor"), "nothing is left to lock"),
        (lambda m: m.lock("l", "hinge", limit=0.0), "limit = 0.0 must be a finite number greater than 0"),
        (lambda m: m.lock("l", "hinge", limit=2.0, slip=3.0), "more than the limit"),
        (lambda m: m.lock("l", "hinge", slip=3.0), "slip belongs to a brake"),
        (lambda m: m.lock("l", "hinge", limit=2.0, value=1.0), "a brake holds where it stops"),
        (lambda m: m.lock("l", "hinge", limit=2.0, breaks_at=1.0), "a brake slips at its limit"),
        (lambda m: m.lock("l", "hinge", breaks_at=-1.0), "breaks_at = -1.0 must be a finite number greater than 0"),
        (lambda m: m.lock("l", "hinge", ready=False), "ready belongs to an open lock with a value"),
        (lambda m: (m.lock("l", "hinge"), m.lock("k", "hinge")), '"l" locks the angle of "hinge" already'),
        (lambda m: m.event("e", "angle", 1.0, "rising", "lock", "x"), 'no lock "x"'),
        (lambda m: m.event("e", "angle", 1.0, "rising", "lock"), "needs a target"),
        (lambda m: m.event("e", "angle", 1.0, "rising", "break", "x"), 'no joint or named support "x"'),
        (lambda m: m.sensor("s", "lock", on="x"), 'no lock "x"'),
        (lambda m: m.joint("w", "weld", "bar", "other", (1.0, 0.0), breaks_at=0.0), "breaks_at = 0.0 must be"),
        (lambda m: m.fix("bar", breaks_at=2.0), "a support that breaks needs a name"),
        (lambda m: m.fix("bar", group="g", name="n", breaks_at=2.0), "do not break"),
        (lambda m: m.fix("bar", name="n", breaks_at=-2.0), "breaks_at = -2.0 must be"),
    ],
)  # fmt: skip
def test_bad_input(make, text):
    m = driven()
    with pytest.raises(ModelError) as told:
        make(m)
    assert text in str(told.value)


def test_what_has_no_moment_does_not_break_by_one():
    m = hinge()
    m.body("ball", (2.0, 0.0), 1.0, 0.1)
    m.joint("tip", "pin", "bar", "ball", (1.0, 0.0), breaks_at_moment=2.0)
    with pytest.raises(ModelError, match='Joint "tip": it has no moment that could break it'):
        solve(m)
    m = hinge()
    m.body("block", (3.0, 0.0), 1.0, 1.0)
    m.fix("block", ["x", "y"], name="foot", breaks_at_moment=2.0)
    with pytest.raises(ModelError, match='Support "foot": it has no moment that could break it'):
        solve(m)


def test_a_shaken_support_does_not_break():
    m = Model(2)
    m.body("block", (3.0, 0.0), 1.0, 1.0)
    m.body("weight", (4.0, 0.0), 1.0, 1.0)
    m.joint("rod", "revolute", "block", "weight", (3.0, 0.0))
    m.fix("block", ["x", "y"], name="foot", breaks_at=2.0)
    m.base_excitation("quake", (1.0, 0.0), displacement="0.1*t**2")
    m.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match=r'Support "foot": .* follows a base excitation'):
        solve(m)


def test_limits_that_no_step_looks_at_are_told():
    m = hung("weld")
    m.steps.clear()
    m.linear_static_step()
    s = solve(m)
    assert any("looked at in transients and static steps only" in w and '"hook"' in w for w in s.summary["warnings"])


@pytest.mark.parametrize("duration", [None, 15.0])
@pytest.mark.parametrize("kind", ["weld", "spherical", "support"])
def test_statics_end_where_a_joint_or_support_would_break(kind, duration):
    """The hook bears 30 N: the weight of 19.6 N, and not the pull that grows to 30 N beside it."""
    m = hung(kind)
    m.steps.clear()
    m.static_step()
    assert solve(m).steps[0].series["sensor/place"][-1] == pytest.approx(0.0, abs=1e-12)
    if duration is None:
        m.force("more", "weight", (0.0, 0.0, -12.0))
        m.steps.clear()
        m.static_step(name="loaded")
        told = r'load factor 1 needs a force of 31\.62 in "hook", which breaks at 30'
    else:
        m.static_step(15, duration=duration, name="loaded")  # 2 N/s: 31.62 N at t = 6 s
        told = r't = 6 s needs a force of 31\.62 in "hook", which breaks at 30'
    with pytest.raises(AnalysisError, match=f'Step "loaded": the equilibrium at {told}'):
        solve(m)


@pytest.mark.parametrize("key", ["limit", "breaks_at"])
@pytest.mark.parametrize(("moment", "holds"), [(3.0, True), (-3.0, True), (3.01, False), (-3.01, False)])
def test_statics_end_where_a_brake_or_pin_would_give_way(key, moment, holds):
    m = hinge()
    m.steps.clear()
    m.lock("brake", "hinge", **{key: 3.0})
    m.moment("twist", "bar", moment)
    m.static_step(4)
    if holds:
        assert solve(m).steps[0].series["sensor/angle"] == pytest.approx(0.0, abs=1e-12)
        return
    does = "slips" if key == "limit" else "breaks"
    with pytest.raises(AnalysisError, match=rf'needs a moment of 3\.01 in "brake", which {does} at 3'):
        solve(m)


def test_a_lock_at_a_value_where_the_joint_is_not_is_refused():
    m = hinge()
    m.lock("l", "hinge", locked=True, value=0.2)
    with pytest.raises(ModelError, match=r"open by 0\.2 rad"):
        solve(m)


# --- several brakes --------------------------------------------------------------------------------------------------
def braked(speeds: tuple[float, ...]) -> Model:
    """Oscillators, each with a brake that begins to slip at its own time and holds for a while at each reversal."""
    m = Model(2)
    for i, speed in enumerate(speeds):
        m.body(f"b{i}", (0.0, float(i)), 1.0, 1.0)
        m.joint(f"way{i}", "prismatic", "ground", f"b{i}", point=(0.0, float(i)), axis=(1.0, 0.0))
        m.joint_spring(f"spring{i}", f"way{i}", 30.0)
        m.lock(f"brake{i}", f"way{i}", limit=2.0, slip=1.6, locked=False)
        m.initial(f"b{i}", velocity=(speed, 0.0))
        m.sensor(f"x{i}", "joint", on=f"way{i}")
        m.event(f"on{i}", sensor=f"x{i}", value=0.1, direction="rising", action="lock", target=f"brake{i}")
    m.transient_step(3.0, h=0.01)
    return m


@pytest.mark.parametrize("change", [1e-9, 1e-5, 1e-2, 0.1])
def test_brakes_do_not_miss_their_stop_where_another_one_slips_again(change):
    """An event at the start of a step tells nothing of what passes later in that step."""
    speeds = (3.0, 3.0 + change)
    both = solve(braked(speeds))
    stops = [e[2] for e in events(both) if e[0] == "brake1" and e[1] == "lock"]
    alone = solve(braked(speeds[1:]))
    reference = [e[2] for e in events(alone) if e[1] == "lock" and e[0] == "brake0"]
    assert len(reference) >= 5
    np.testing.assert_allclose(stops, reference, atol=2e-3)
    assert both.sensor("x1").values[-1] == pytest.approx(alone.sensor("x0").values[-1], abs=2e-4)


@pytest.mark.parametrize(("limit", "slip", "stiffness"), [(12.0, 2.0, 30.0), (20.0, 1.0, 15.0), (16.0, 1.0, 10.0)])
def test_brakes_of_equal_mechanisms_hold_together(limit, slip, stiffness):
    """A mechanism and its image, so that their brakes stop within round-off of each other: that which
    stops first does not send the other through its stop."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("a", (0.3, 0.1, 0.0), 2.0, (0.05, 0.06, 0.07))
    m.body("b", (0.6, 0.1, -0.2), 1.0, (0.02, 0.03, 0.025))
    m.joint("hip", "revolute", "ground", "a", point=(0.0, 0.0, 0.0), axis=(0.2, 1.0, 0.1))
    m.joint("knee", "spherical", "a", "b", point=(0.5, 0.1, 0.0))
    m.joint_spring("coil", "hip", stiffness)
    m.lock("brake", "hip", limit=limit, slip=slip, locked=False)
    m.sensor("angle", "joint", on="hip")
    m.event("on", sensor="angle", value=0.1, direction="rising", action="lock", target="brake")
    of = ["a", "b", "hip", "knee", "coil", "brake", "angle", "on"]
    m.copy(of, prefix="image ", mirror={"normal": (1.0, 2.0, 0.0), "point": (3.0, 0.0, 0.0)})
    m.transient_step(1.0, h=2e-3)
    results = solve(m)
    stops = [[e[2] for e in events(results) if e[:2] == (name, "lock")] for name in ("brake", "image brake")]
    assert stops[0]
    np.testing.assert_allclose(*stops, atol=1e-6)
    a, b = (results.sensor(name).values for name in ("angle", "image angle"))
    np.testing.assert_allclose(a, b, atol=1e-6 * np.abs(a).max())
