"""Events: their time to round-off, what stops, loads that come and go, drivers that change, errors, files."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.modelfile.read import load_model

G = 9.81


def ball(height=2.0, velocity=0.0, gravity=G, h=0.05, duration=2.0, **step) -> Model:
    """A point mass that falls: the mid-point rule is exact."""
    m = Model(2, gravity=(0, -gravity))
    m.node("ball", (0, height))
    m.point_mass("mass", "ball", 2.0)
    m.initial("ball", velocity=(1.0, velocity))
    m.sensor("place", "position", on="ball")
    m.sensor("speed", "velocity", on="ball")
    m.transient_step(duration, h, **step)
    return m


def happened(solution, step: int = 0):
    return [(e["name"], e["time"]) for e in solution.steps[step].summary["events"]]


def test_a_fall_ends_on_the_ground():
    m = ball()
    m.event("ground", "place.y", 0.0, "falling")
    s = solve(m)
    exact = np.sqrt(2 * 2.0 / G)
    ((name, time),) = happened(s)
    assert name == "ground" and time == pytest.approx(exact, abs=1e-13)
    assert s.steps[0].summary["t_end"] == s.steps[0].time[-1] == time
    assert s.sensor("place").values[-1] == pytest.approx([exact, 0.0], abs=1e-13)
    assert s.sensor("speed").values[-1, 1] == pytest.approx(-np.sqrt(2 * G * 2.0), rel=1e-12)
    assert s.steps[0].summary["energy"]["closing_error_relative"] < 1e-12
    assert s.steps[0].summary["n_steps"] == len(s.steps[0].time) - 1 == int(exact / 0.05) + 1


@pytest.mark.parametrize(("direction", "index"), [("rising", 0), ("falling", 1), ("both", 0)])
def test_directions(direction, index):
    """Thrown upwards past a height: on the way up, or on the way down."""
    m = ball(0.0, velocity=8.0)
    m.event("height", "place.y", 2.0, direction)
    root = np.sqrt(8.0**2 - 2 * G * 2.0)
    assert happened(solve(m))[0][1] == pytest.approx(((8 - root) / G, (8 + root) / G)[index], abs=1e-12)


@pytest.mark.parametrize("rule", ["midpoint", "newmark", "hht", "generalised-alpha"])
def test_a_load_goes_off_in_every_rule(rule):
    """A spring loses its load on the way: the free oscillation after it, to second order."""
    found = []
    for h in (0.02, 0.01, 0.005):
        m = Model(2)
        m.node("mass", (1.0, 0.0))
        m.point_mass("m", "mass", 2.0)
        m.fix("mass", "y")
        m.spring("k", "ground", "mass", 50.0, point_a=(0.0, 0.0))
        m.force("pull", "mass", (10.0, 0.0))
        m.sensor("place", "position", on="mass")
        m.transient_step(2.0, h, rule=rule)
        m.event("half", "place.x", 1.2, "rising", action="off", target="pull")
        s = solve(m)
        found.append((happened(s)[0][1], s.steps[-1].series["sensor/place"][-1, 0]))
    turn = np.arccos(0.0) / 5.0  # the pull alone would swing about 1.2
    phase = 5.0 * (2.0 - turn)
    exact = 1.0 + 0.2 * np.cos(phase) + 0.2 * np.sin(phase)
    times, ends = np.array(found).T
    assert times[-1] == pytest.approx(turn, abs=2e-4)
    errors = np.abs(ends - exact)
    assert errors[-1] < 2e-3
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2.0, abs=0.4)


def test_what_starts_at_the_value_does_not_pass_it_at_once():
    m = ball(0.0, velocity=8.0)
    m.event("back", "place.y", 0.0)
    assert happened(solve(m)) == [("back", pytest.approx(16.0 / G, abs=1e-12))]


def test_without_an_event_nothing_changes():
    m = ball()
    plain = solve(ball())
    m.event("never", "place.y", 100.0)
    s = solve(m)
    assert happened(s) == []
    assert s.sensor("place").values == pytest.approx(plain.sensor("place").values, abs=1e-13)


def test_the_next_step_goes_on_from_there():
    m = ball()
    m.event("ground", "place.y", 0.0, "falling")
    m.transient_step(0.5, 0.05, name="below")
    s = solve(m)
    time = np.sqrt(2 * 2.0 / G)
    assert s.steps[1].time[0] == pytest.approx(time, abs=1e-13)
    assert s.steps[-1].series["sensor/place"][-1, 1] == pytest.approx(2.0 - G / 2 * (time + 0.5) ** 2, abs=1e-12)


def test_loads_come_and_go():
    """Pushed by 6 N to x = 1, free, and braked by 4 N from x = 2 until it stands."""
    m = Model(2)
    m.node("slide", (0, 0))
    m.point_mass("mass", "slide", 2.0)
    m.force("push", "slide", (6.0, 0.0))
    m.force("brake", "slide", (-4.0, 0.0))
    m.sensor("place", "position", on="slide")
    m.sensor("speed", "velocity", on="slide")
    m.event("let go", "place.x", 1.0, "rising", "off", "push")
    m.event("catch", "place.x", 2.0, "rising", "on", ["brake"])
    m.event("rest", "speed.x", 0.0, "falling")
    m.transient_step(10.0, 0.04)
    s = solve(m)
    first = np.sqrt(2.0 / 3.0)
    v = 3.0 * first
    times = [first, first + 1.0 / v, first + 1.0 / v + v / 2.0]
    assert [t for _, t in happened(s)] == pytest.approx(times, abs=1e-12)
    assert s.sensor("place").values[-1, 0] == pytest.approx(2.0 + v**2 / 4.0, abs=1e-12)
    assert s.steps[0].summary["energy"]["closing_error_relative"] < 1e-12
    assert (np.diff(s.steps[0].time) > 0).all()


def test_a_thruster_keeps_a_ball_in_a_band():
    """On below 1 m, off above: many events, the energy ledger closes over all of them."""
    m = ball(1.5, h=0.02, duration=10.0)
    m.force("thrust", "ball", (0.0, 2.0 * G * 2.0))
    m.event("fire", "place.y", 1.0, "falling", "on", "thrust")
    m.event("out", "place.y", 1.0, "rising", "off", "thrust")
    s = solve(m)
    period = 4.0 * np.sqrt(2.0 * 0.5 / G)
    times = [t for _, t in happened(s)]
    assert times == pytest.approx(period * (0.25 + 0.5 * np.arange(len(times))), abs=1e-9)
    assert len(times) == int((10.0 / period - 0.25) / 0.5) + 1
    assert s.steps[0].time[-1] == pytest.approx(10.0, abs=1e-12)
    assert s.steps[0].summary["energy"]["closing_error_relative"] < 1e-10


def test_a_load_takes_another_function():
    m = ball(0.0, gravity=0.0)
    m.force("pull", "ball", (0.0, 2.0))
    m.event("turn", "place.y", 0.5, "rising", "switch", "pull", "-3 + 6*t")
    s = solve(m)
    t = s.steps[0].time[-1] - 1.0
    assert happened(s)[0][1] == pytest.approx(1.0, abs=1e-13)
    assert s.sensor("speed").values[-1, 1] == pytest.approx(1.0 - 3.0 * t + 3.0 * t**2, abs=1e-12)


def test_a_driver_stops_at_once():
    """A driven arm with a free second one is held at 1 rad: the free one goes on; the blow is the driver's work."""
    m = Model(2)
    m.body("arm", mass=2.0, inertia=0.2, position=(0.5, 0))
    m.body("flail", mass=1.0, inertia=0.1, position=(1.4, 0))
    m.joint("drive", "revolute", "ground", "arm", point=(0, 0), function="2*t")
    m.joint("pin", "revolute", "arm", "flail", point=(1, 0))
    m.sensor("angle", "joint", on="drive")
    m.sensor("other", "rotation", on="flail")
    m.event("stop", "angle", 1.0, "rising", "switch", "drive", 0.0)
    m.transient_step(2.0, 0.01)
    s = solve(m)
    assert happened(s) == [("stop", pytest.approx(0.5, abs=1e-12))]
    t, angle = s.steps[0].time, s.sensor("angle").values[:, 0]
    assert angle == pytest.approx(np.minimum(2 * t, 1.0), abs=1e-12)
    late = t > 0.5 + 1e-9
    assert np.ptp(np.diff(s.sensor("other").values[late, 0]) / np.diff(t[late])) < 1e-9
    assert s.steps[0].summary["energy"]["closing_error_relative"] < 1e-12
    kinetic = s.steps[0].ledger("kinetic")
    assert kinetic[late].max() < 0.5 * kinetic[1] and kinetic[late].min() > 0.01 * kinetic[1]


def test_what_has_yielded_in_a_step_that_is_cut_comes_back():
    """A spring is drawn out at a constant speed; an event in the middle of a step does not make it yield further."""
    stiffness, limit, speed = 1000.0, 40.0, 0.3
    m = Model(2)
    m.node("end", (1.0, 0.0))
    m.point_mass("mass", "end", 2.0)
    m.fix("end", ["y"])
    m.initial("end", velocity=(speed, 0.0))
    m.motion("pull", "end", "x", f"{speed}*t")
    m.spring("link", "ground", "end", stiffness, point_a=(0.0, 0.0), yield_force=limit)
    m.force("other", "end", (1.0, 0.0))
    m.sensor("place", "position", on="end")
    m.sensor("force", "element", on="link", quantity="force")
    m.event("middle", "place.x", 1.15037, "rising", "off", "other")
    m.transient_step(1.0, 0.02)
    s = solve(m)
    assert happened(s) == [("middle", pytest.approx(0.15037 / speed, abs=1e-12))]
    step = s.steps[0]
    place, force = step.series["sensor/place"][:, 0], step.series["sensor/force"][:, 0]
    beyond = place[:-1] > 1.0 + limit / stiffness
    assert beyond.sum() > 30 and force[1:][beyond] == pytest.approx(limit, rel=1e-12)
    assert step.ledger("dissipated")[-1] == pytest.approx(limit * (speed - limit / stiffness), rel=1e-9)
    assert step.summary["energy"]["closing_error_relative"] < 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_energy_goes_on_where_springs_turn(dimension):
    """A flywheel on a torsion spring loses its moment on the way: the balance closes over the event."""
    z = (0.0,) * (dimension - 2)
    m = Model(dimension)
    m.body("wheel", mass=2.0, inertia=0.4 if dimension == 2 else (0.4, 0.4, 0.4), position=(0.0, 0.0, *z))
    m.joint(
        "axle", "revolute", "ground", "wheel", point=(0.0, 0.0, *z), **({} if dimension == 2 else {"axis": (0, 0, 1)})
    )
    m.joint_spring("coil", "axle", 8.0)
    m.moment("push", "wheel", 6.0 if dimension == 2 else (0.0, 0.0, 6.0))
    m.sensor("angle", "joint", on="axle")
    m.event("let go", "angle", 1.0, "rising", "off", "push")
    m.transient_step(1.0, 0.02)
    s = solve(m)
    # about M/k = 0.75 by w^2 = 20 it reaches 1 at cos(w t) = -1/3
    assert happened(s) == [("let go", pytest.approx(np.arccos(-1.0 / 3.0) / np.sqrt(20.0), rel=2e-3))]
    step = s.steps[0]
    assert step.summary["energy"]["closing_error_relative"] < 1e-12
    work = step.ledger("load work")[-1]
    # in space its rotation in a step counts as 2 tan(angle/2): up to w = 3/s in steps of 0.02 s, less than 1e-3 more
    assert work == pytest.approx(6.0, rel=1e-9 if dimension == 2 else 1e-3)
    total = step.ledger("kinetic") + step.ledger("strain")
    assert total[step.time > happened(s)[0][1]] == pytest.approx(work, rel=1e-9)


def turning_wheel(dimension: int) -> Model:
    """A wheel on an axle at 2 rad/s; in space its angle is an output of the joint."""
    z = (0.0,) * (dimension - 2)
    m = Model(dimension)
    m.body("wheel", (0.0, 0.0, *z), 1.0, 0.1 if dimension == 2 else (0.1, 0.1, 0.1))
    axis = {} if dimension == 2 else {"axis": (0, 0, 1)}
    m.joint("axle", "revolute", "ground", "wheel", point=(0.0, 0.0, *z), **axis)
    m.initial("wheel", spin=2.0 if dimension == 2 else (0.0, 0.0, 2.0))
    m.sensor("angle", "joint", on="axle")
    return m


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_joint_that_begins_beyond_the_value_does_not_pass_it(dimension):
    """A wheel turns past 1 rad in the first step, and goes on from 2 rad in the next."""
    m = turning_wheel(dimension)
    m.force("other", "wheel", np.eye(dimension)[0])
    m.event("past", "angle", 1.0, "rising", "off", "other")
    for _ in range(2):
        m.transient_step(1.0, 0.03125)
    s = solve(m)
    assert happened(s) == [("past", pytest.approx(0.5, abs=1e-3))]
    assert happened(s, 1) == []


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_joint_may_pass_the_value_in_the_first_step(dimension):
    m = turning_wheel(dimension)
    m.event("past", "angle", 1.0, "rising")
    m.transient_step(1.2, 0.6)
    # a part of length t of the first step turns by 2 atan(t)
    assert happened(solve(m)) == [("past", pytest.approx(np.tan(0.5), abs=1e-12))]


@pytest.mark.parametrize("coil", [False, True])
def test_the_blow_of_a_driver_counts_where_springs_turn(coil):
    """A driven arm is held at 1 rad; what its free end stores in a spring is no work of the blow."""
    m = Model(2)
    m.body("arm", mass=2.0, inertia=0.2, position=(0.5, 0))
    m.body("flail", mass=1.0, inertia=0.1, position=(1.4, 0))
    m.joint("drive", "revolute", "ground", "arm", point=(0, 0), function="2*t")
    m.joint("pin", "revolute", "arm", "flail", point=(1, 0))
    if coil:
        m.joint_spring("coil", "pin", 30.0)
    m.initial("flail", spin=7.0)
    m.sensor("angle", "joint", on="drive")
    m.event("stop", "angle", 1.0, "rising", "switch", "drive", 0.0)
    m.transient_step(1.0, 0.01)
    step = solve(m).steps[0]
    assert step.summary["energy"]["closing_error_relative"] < 1e-12
    # once the arm stands, its drive does no work
    late = step.time > 0.5 + 1e-9
    assert np.ptp(step.ledger("driver work")[late]) < 1e-12


def test_the_earliest_of_two_events_in_a_step_counts():
    m = ball(h=0.5)
    m.event("low", "place.y", 1.0, "falling")
    m.event("right", "place.x", 0.42, "rising", "stop")
    s = solve(m)
    assert happened(s) == [("right", pytest.approx(0.42, abs=1e-13))]


def test_flexible_model_between_chunks():
    """A pendulum of beams passes the vertical, thousands of steps after its start; all rows before are the same."""

    def pendulum(event):
        m = Model(2, gravity=(0, -G))
        m.section("s", "stiffness", EA=1e4, EI=10.0, rhoA=1.0)
        m.line("rod", (0, 0), (1, 0), n=4)
        m.beams("rod", on="rod", section="s")
        m.fix("rod:start", ["x", "y"])
        m.sensor("tip", "position", on="rod:end")
        if event:
            m.event("vertical", "tip.x", 0.0)
        m.transient_step(1.0, 2e-4, frames=20)
        return solve(m)

    free, stopped = pendulum(False), pendulum(True)
    t, x = free.steps[0].time, free.steps[-1].series["sensor/tip"]
    row = int(np.flatnonzero(x[:, 0] < 0.0)[0])
    ((_, time),) = happened(stopped)
    assert t[row - 1] < time < t[row]
    assert time == pytest.approx(np.interp(0.0, x[[row, row - 1], 0], t[[row, row - 1]]), abs=1e-3 * 2e-4)
    assert stopped.steps[-1].series["sensor/tip"][:-1] == pytest.approx(x[:row], abs=1e-9)
    assert abs(stopped.steps[-1].series["sensor/tip"][-1, 0]) < 1e-13
    assert len(stopped.steps[0].frames["time"]) == len(np.flatnonzero(free.steps[0].frames["time"] < time)) + 1


WRONG = [
    ({"sensor": "plaze.y"}, 'no sensor "plaze.y"'),
    ({"sensor": "force"}, '"force" belongs to the middle of time steps'),
    ({"direction": "up"}, 'direction = "up" must be one of "rising", "falling", "both"'),
    ({"action": "explode"}, 'action = "explode" must be one of "stop", "on", "off", "switch"'),
    ({"action": "off"}, 'action = "off" needs a target'),
    ({"target": "push"}, '"stop" has no target; remove it'),
    ({"action": "switch", "target": "push"}, 'function belongs to the action "switch"'),
    ({"action": "off", "target": "push", "function": 1.0}, 'function belongs to the action "switch"'),
    ({"value": "high"}, 'value = "high" must be a number'),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_events(options, message):
    m = ball()
    m.motion("hold", "ball", "x", 0.0)
    m.sensor("force", "reaction", on="ball")
    with pytest.raises(ModelError, match=f'^Event "e": .*{message}'):
        m.event("e", **{"sensor": "place.y", **options})


@pytest.mark.parametrize(
    ("event", "step", "message"),
    [
        ({"sensor": "place"}, {}, 'Event "e": sensor "place" is not one column; name one of place.x, place.y'),
        ({"sensor": "place.y", "action": "off", "target": "pull"}, {}, 'Event "e": target: there is no load "pull"'),
        ({"sensor": "place.y", "action": "off", "target": "gravity"}, {}, "gravity cannot be switched"),
        ({"sensor": "place.y", "action": "off", "target": "f"}, {"adaptive": 1e-6}, "events are located within equal"),
    ],
)
def test_events_that_cannot_be(event, step, message):
    m = ball(**step)
    m.force("f", "ball", (1.0, 0.0))
    m.event("e", **event)
    with pytest.raises(ModelError, match=message):
        solve(m)


def test_from_a_model_file(tmp_path):
    path = tmp_path / "fall.toml"
    path.write_text("""
dimension = 2
gravity = [0, -9.81]
[[node]]
name = "ball"
position = [0.0, 2.0]
[[point_mass]]
at = "ball"
mass = 1.0
[[force]]
name = "parachute"
on = "ball"
vector = [0.0, 9.81]
[[sensor]]
name = "place"
kind = "position"
on = "ball"
[[event]]
name = "open"
sensor = "place.y"
value = 1.0
direction = "falling"
action = "on"
target = "parachute"
[[event]]
name = "ground"
sensor = "place.y"
[[step]]
type = "transient"
duration = 5.0
h = 0.1
""")
    results = run(load_model(path), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert summary["status"] == "done"
    first, second = summary["steps"][0]["events"]
    v = np.sqrt(2 * G)
    assert (first["name"], first["action"]) == ("open", "on")
    assert second["time"] == pytest.approx(v / G + 1.0 / v, abs=1e-12)
    t, values, _ = results.sensor("place")
    assert t[-1] == second["time"] and values[-1, 1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("loads", "there"), [((), "there is none"), (("f",), "there is only f"), (("f", "g"), "there are f, g")]
)
def test_names_of_targets_that_do_not_exist(loads, there):
    """What there is to be turned off: grammar for none, one and several; gravity is no target."""
    model = Model(2, gravity=(0.0, -9.81))
    model.node("a", (0.0, 0.0))
    model.point_mass("m", "a", 1.0)
    model.sensor("y", "position", on="a")
    for name in loads:
        model.force(name, "a", (1.0, 0.0))
    model.event("e", "y.y", -1.0, action="off", target="pull")
    model.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match=f'Event "e": target: there is no load "pull"; {there}$'):
        solve(model)


def test_a_motor_is_a_target():
    model = Model(2)
    model.body("rotor", (0.0, 0.0), 1.0, 2.0)
    model.joint("axle", "pin", "rotor", "ground", point=(0.0, 0.0))
    model.motor("drive", joint="axle", force=-4.0)
    model.sensor("angle", "rotation", on="rotor")
    model.event("cut", "angle", 1.0, action="off", target="drive")
    model.transient_step(2.0, 0.01)
    solution = solve(model)
    t, angle = solution.steps[0].time, solution.sensor("angle").values[:, 0]
    assert angle[t <= 1.0] == pytest.approx(t[t <= 1.0] ** 2, abs=1e-3)
    late = t > 1.1
    assert np.diff(angle[late]) == pytest.approx(2.0 * np.diff(t[late]), rel=1e-3)  # w = 2 from then on


@pytest.mark.parametrize("rule", ["midpoint", "newmark", "generalised-alpha"])
@pytest.mark.parametrize("part", [0.2, 1e-3, 1e-7])
def test_short_steps_before_events_have_the_forces_and_accelerations_of_long_ones(part, rule):
    """An event that changes nothing, a part of a step after the start of this: rows are those of the run without."""

    def pendulum(event: bool) -> Model:
        m = Model(3, gravity=(0.0, 0.0, -9.81))
        m.body("b", (0.3, 0.0, -0.4), 2.0, (0.1, 0.2, 0.3))
        m.joint("hip", "spherical", "ground", "b", point=(0.0, 0.0, 0.0))
        m.initial("b", spin=(1.0, 3.0, 2.0), centre=(0.0, 0.0, 0.0))
        m.body("clock", (0.0, 5.0, 0.0), 1.0, (1.0, 1.0, 1.0))
        m.initial("clock", velocity=(1.0, 0.0, 0.0))
        m.force("nothing", "b", (0.0, 0.0, 0.0))
        m.sensor("R", "reaction", on="hip")
        m.sensor("a", "acceleration", on="b")
        m.sensor("alpha", "angular acceleration", on="b")
        m.sensor("time", "displacement", on="clock")
        if event:
            m.event("now", sensor="time.x", value=0.1 + 2e-3 * part, action="off", target="nothing")
        m.transient_step(0.2, h=2e-3, rule=rule)
        return m

    plain, parted = solve(pendulum(False)), solve(pendulum(True))
    assert parted.steps[0].summary["events"][0]["time"] == pytest.approx(0.1 + 2e-3 * part, abs=1e-9)
    for name in ("R", "a", "alpha"):
        mine, other = parted.sensor(name, raw=True), plain.sensor(name, raw=True)
        there = np.column_stack([np.interp(mine.t[3:-2], other.t[1:], y) for y in other.values[1:].T])
        # forces change by 1 % in a step
        np.testing.assert_allclose(mine.values[3:-2], there, atol=0.015 * np.abs(there).max())


def test_a_value_that_rises_in_the_first_step_of_a_chunk(monkeypatch):
    """1 + sin(wt)/2 falls through 1 at half a period, which is not awaited, and rises through it at the end of the
    period: in the first step after 8 chunks of 16 steps."""
    monkeypatch.setattr(Stepping, "chunk_length", lambda self, *given: 1)
    h = 0.05
    period = 128.5 * h
    omega = 2.0 * np.pi / period
    m = Model(2)
    m.node("p", (1.0, 0.0))
    m.point_mass("mass", "p", 1.0)
    m.spring("s", "p", "ground", omega**2, point_b=(0.0, 0.0))
    m.fix("p", "y")
    m.initial("p", velocity=(0.5 * omega, 0.0))
    m.sensor("place", "position", on="p")
    m.event("rises", "place.x", 1.0, "rising")
    m.transient_step(10.0, h, frames=0)
    ((_, time),) = happened(solve(m))
    assert time == pytest.approx(period * (1.0 + (omega * h) ** 2 / 12.0), rel=1e-5)  # the lag of the mid-point rule


def test_a_driver_goes_on_from_where_it_is():
    """The function that it follows after the event begins with 0.3, which is no jump of the driver."""
    m = Model(2)
    m.node("p", (0.0, 0.0))
    m.point_mass("mass", "p", 1.0)
    m.fix("p", "y")
    m.motion("drive", "p", "x", "t")
    m.sensor("place", "position", on="p")
    m.event("faster", "place.x", 0.5, "rising", "switch", "drive", "0.3 + 2*t")
    m.transient_step(1.0, 0.05, frames=0)
    solution = solve(m)
    t = solution.steps[-1].time
    exact = np.where(t < 0.5, t, 0.5 + 2.0 * (t - 0.5))
    assert solution.sensor("place").values[:, 0] == pytest.approx(exact, abs=1e-9)
