"""Campbell diagrams, critical speeds and responses to unbalance."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA
from test_rotors import two_discs

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.modelfile.read import load_model
from fem_mbs.solvers.eigen import complex_modes
from fem_mbs.validation import zorzi_nelson_1977_internal_damping as internal_damping


def jeffcott(k=(4e4, 4e4), c=(20.0, 20.0), mass=2.0, polar=0.02, diametral=0.05):
    """A disc in the middle of a rigid shaft, 0.3 m long, its ends on springs and dampers; analytic in everything."""
    m = Model(3)
    m.node("hub", (0, 0, 0))
    m.disc("disc", "hub", mass, polar, diametral, axis=(1, 0, 0))
    m.fix("hub", ["x"])
    for end, x in (("left", -0.15), ("right", 0.15)):
        m.node(end, (x, 0, 0))
        for axis, stiffness, damping in zip("yz", k, c, strict=True):
            m.nodal_spring(f"{end} {axis}", end, axis, 0.5 * stiffness, 0.5 * damping)
    m.coupling("shaft", "hub", ["left", "right"])
    m.rotor("rotor", axis=(1, 0, 0))
    return m


def only(m):
    return solve(m).summary["steps"][-1]


def branch(summary, whirl, near):
    """The branch of that sense at the last speed nearest to a value."""
    some = [b for b in summary["branches"] if b["whirl"][-1] == whirl]
    return min(some, key=lambda b: abs(complex(*b["eigenvalues"][-1]) - near))


def test_critical_speeds_of_two_discs():
    """91.788, 96.296, 271.25, 300.35 rad/s (benchmark), by branches and by the eigenproblem in the speed."""
    m = two_discs()
    m.campbell_step("rotor", np.linspace(0.0, 400.0, 9), count=6)
    s = only(m)
    assert s["frame"] == "fixed" and not s["warnings"] and all(s["stable"])
    assert s["largest_residual"] < 1e-8 and s["biorthogonality"] < 1e-10
    speeds = [c["speed"] for c in s["critical_speeds"]]
    np.testing.assert_allclose(speeds, (91.788, 96.296, 271.252, 300.352), rtol=1e-5)
    assert [c["whirl"] for c in s["critical_speeds"]] == ["backward", "forward", "backward", "forward"]
    for c in s["critical_speeds"]:
        assert abs(complex(*c["direct"]) - c["speed"]) < 1e-9 * c["speed"]
        assert abs(c["eigenvalue"][1] - c["speed"]) < 1e-9 * c["speed"]
    assert {b["whirl"][0] for b in s["branches"]} == {"none"}  # at rest nothing whirls


def test_gyroscopic_branches():
    """Tilting of a disc: Id p^2 -+ i Ip Omega p + k = 0, begun where both are equal; lines of two orders."""
    speeds = np.linspace(0.0, 300.0, 13)
    m = jeffcott(c=(0.0, 0.0), polar=0.09)
    m.campbell_step("rotor", speeds, count=4, orders=[1.0, 2.0])
    s = only(m)
    half = 0.5 * 0.09 * speeds / 0.05
    for sense, sign in (("forward", 1.0), ("backward", -1.0)):
        expected = sign * half + np.sqrt(half**2 + 900.0 / 0.05)
        got = np.array(branch(s, sense, 1j * expected[-1])["eigenvalues"])
        np.testing.assert_allclose(got[:, 1], expected, rtol=1e-10)
        np.testing.assert_allclose(got[:, 0], 0.0, atol=1e-8)
    # k^2 Id - k Ip = cond/Omega^2: forward whirl of a flat disc meets no line of the first order
    tilting = [c for c in s["critical_speeds"] if abs(c["speed"] - np.sqrt(4e4 / 2.0) / c["order"]) > 1e-6]
    expected = sorted(
        (np.sqrt(900.0 / (k * k * 0.05 - sign * k * 0.09)), sense)
        for k in (1.0, 2.0)
        for sense, sign in (("forward", 1.0), ("backward", -1.0))
        if k * k * 0.05 > sign * k * 0.09
    )
    expected = [e for e in expected if e[0] < 300.0]
    assert [c["whirl"] for c in tilting] == [e[1] for e in expected]
    np.testing.assert_allclose([c["speed"] for c in tilting], [e[0] for e in expected], rtol=1e-10)


def test_branches_cross():
    """A tilting mode that rises through a pair of equal lateral ones, whose vectors are arbitrary, is followed."""
    speeds = np.array([0.0, 40.0, 160.0, 300.0])
    m = jeffcott(c=(0.0, 0.0), polar=0.06)
    m.campbell_step("rotor", speeds, count=4)
    s = only(m)
    half = 0.5 * 0.06 * speeds / 0.05
    rising = half + np.sqrt(half**2 + 900.0 / 0.05)
    lateral = np.sqrt(2e4)
    assert (rising[0] < lateral) and (rising[-1] > lateral)
    found = np.array([np.array(b["eigenvalues"])[:, 1] for b in s["branches"]])
    for expected, copies in ((rising, 1), (rising - 2.0 * half, 1), (np.full(4, lateral), 2)):
        assert (np.abs(found - expected).max(axis=1) < 1e-7).sum() == copies


def test_almost_equal_modes():
    """Modes that differ by 1e-4 at rest turn into both whirls at once."""
    m = jeffcott(k=(4e4, 4.001e4), c=(0.0, 0.0), polar=0.09)
    speeds = np.linspace(0.0, 300.0, 4)
    m.campbell_step("rotor", speeds, count=4)
    s = only(m)
    assert not s["warnings"]
    half = 0.5 * 0.09 * speeds / 0.05
    for sense, sign in (("forward", 1.0), ("backward", -1.0)):
        expected = sign * half + np.sqrt(half**2 + 900.0 / 0.05)
        got = np.array(branch(s, sense, 1j * expected[-1])["eigenvalues"])
        np.testing.assert_allclose(got[:, 1], expected, rtol=3e-4)


def test_rotating_frame():
    """A flat shaft in equal springs: critical speeds where nothing oscillates in its frame, one per direction of it."""
    m = two_discs((1e6, 1e6), section=("rectangle", {"width": 0.05, "height": 0.045}))
    m.campbell_step("rotor", np.linspace(10.0, 130.0, 7), count=4)
    s = only(m)
    assert s["frame"] == "rotating" and s["orders"] == [0.0]
    speeds = [c["speed"] for c in s["critical_speeds"]]
    assert len(speeds) == 2 and {c["whirl"] for c in s["critical_speeds"]} == {"forward"}
    m = two_discs((1e6, 1e6), section=("rectangle", {"width": 0.05, "height": 0.045}))
    m.campbell_step("rotor", [speeds[0] - 0.1, speeds[0] + 0.1, speeds[1] - 0.1, speeds[1] + 0.1], count=2)
    assert only(m)["stable"] == [True, False, False, True]  # between them the shaft is thrown out
    # statics at the critical speed: the response to unbalance grows across it and changes its sign
    for critical in speeds:
        m = two_discs((1e6, 1e6), section=("rectangle", {"width": 0.05, "height": 0.045}))
        near = [critical * (1.0 - 1e-5), critical * (1.0 + 1e-5)]
        m.unbalance_step("rotor", near, [{"at": 2, "amount": 1e-3, "phase": 0.6}])
        r = only(m)["response"]
        y = next(e for e in r if e["direction"] == "y")
        assert min(y["amplitude"]) > 0.01
        turn = abs(np.angle(np.exp(1j * (y["phase"][1] - y["phase"][0]))))
        assert abs(turn - np.pi) < 1e-2


@pytest.mark.parametrize("frame", ["fixed", "rotating"])
def test_unbalance_of_a_disc(frame):
    """u Omega^2 / (k - m Omega^2 + i c Omega), circular, by the phase of the unbalance; dampers turn the rotor's frame
    into one without constant ... springs, so they are left out of that one."""
    c = 20.0
    m = jeffcott(c=(c, c))
    speeds = np.array([20.0, 100.0, 141.0, 300.0])
    m.unbalance_step("rotor", speeds, [{"at": "hub", "amount": 3e-4, "phase": 0.7}], frame=frame)
    s = only(m)
    X = 3e-4 * speeds**2 * np.exp(0.7j) / (4e4 - 2.0 * speeds**2 + 1j * c * speeds)
    by = {e["direction"]: e for e in s["response"]}
    assert set(by) == {"y", "z", "major"}
    for direction, expected in (("y", X), ("z", -1j * X)):
        got = np.array(by[direction]["amplitude"]) * np.exp(1j * np.array(by[direction]["phase"]))
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    np.testing.assert_allclose(by["major"]["amplitude"], np.abs(X), rtol=1e-9)


def test_unbalance_between_unequal_springs():
    """Two directions with resonances of their own; orbits are ellipses, their longest axes those of each direction."""
    m = jeffcott(k=(4e4, 5e4), c=(20.0, 30.0))
    speeds = np.array([60.0, 150.0])
    m.unbalance_step("rotor", speeds, [{"at": "hub", "amount": 3e-4}])
    by = {e["direction"]: e for e in only(m)["response"]}
    X = np.array([3e-4 * speeds**2 / (k - 2.0 * speeds**2 + 1j * c * speeds) for k, c in ((4e4, 20.0), (5e4, 30.0))])
    np.testing.assert_allclose(by["y"]["amplitude"], np.abs(X[0]), rtol=1e-9)
    np.testing.assert_allclose(by["z"]["amplitude"], np.abs(X[1]), rtol=1e-9)
    t = np.linspace(0.0, 2.0 * np.pi, 100001)
    orbit = np.real(np.array([X[0], -1j * X[1]])[:, :, None] * np.exp(1j * t))
    np.testing.assert_allclose(by["major"]["amplitude"], np.linalg.norm(orbit, axis=0).max(axis=1), rtol=1e-8)


def test_unbalance_in_the_plane():
    m = Model(2)
    m.node("hub", (0, 0))
    m.disc("disc", "hub", 2.0, 0.01)
    for axis in "xy":
        m.nodal_spring(axis, "hub", axis, 4e4, 20.0)
    m.rotor("rotor")
    m.unbalance_step("rotor", [100.0], [{"at": "hub", "amount": 3e-4}])
    s = only(m)
    expected = 3.0 / (4e4 - 2e4 + 2e3j)
    x, y = (next(e for e in s["response"] if e["direction"] == d) for d in "xy")
    assert abs(x["amplitude"][0] * np.exp(1j * x["phase"][0]) - expected) < 1e-12
    assert abs(y["amplitude"][0] * np.exp(1j * y["phase"][0]) + 1j * expected) < 1e-12


@pytest.mark.parametrize("frame", ["rotating", "periodic"])
def test_what_an_unbalance_pushes_along_the_axis_does_not_oscillate(frame):
    """A mass on springs that couple y with x of the shaft: across the axis it runs around, along it it rests."""
    m = Model(3)
    m.body("shaft", position=(0, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("bearing", "revolute", "ground", "shaft", point=(0, 0, 0), axis=(1, 0, 0))
    m.body("mass", position=(0, 0, 0), mass=2.0, inertia=(0.1, 0.1, 0.1))
    k = np.diag([3e4, 4e4, 6e4, 1e4, 1e4, 1e4])
    k[0, 1] = k[1, 0] = 1.5e4
    m.bushing("springs", "shaft", "mass", stiffness=k.tolist())
    m.rotor("rotor", axis=(1, 0, 0), on=["shaft", "mass"])
    w, phase = 60.0, 0.7
    m.unbalance_step("rotor", [w], [{"at": "mass", "amount": 3e-4, "phase": phase}], frame=frame)
    step = only(m)
    force = 3e-4 * w**2
    y = force * np.cos(phase) / (4e4 - 1.5e4**2 / 3e4 - 2.0 * w**2)
    z = force * np.sin(phase) / (6e4 - 2.0 * w**2)
    by = {e["direction"]: e for e in step["response"]}
    assert set(by) == {"y", "z", "major"}
    for direction in by:
        assert by[direction]["amplitude"] == pytest.approx([np.hypot(y, z)], rel=1e-6)
    share = 100.0 * 0.5 * abs(y) / np.hypot(y, z)
    assert [f"move by up to {share:.2g} % of the first" in text for text in step["warnings"]] == [True]


def test_resonance_without_damping_is_refused():
    m = jeffcott(c=(0.0, 0.0))
    m.unbalance_step("rotor", [float(np.sqrt(2e4))], [{"at": "hub", "amount": 1e-4}])
    with pytest.raises(Exception, match="critical speed, and nothing damps"):
        solve(m)


FILE = """
[material.steel]
E = 211e9
G = 81.2e9
density = 7810

[section.shaft]
shape = "circle"
diameter = 0.05

[mesh.shaft]
line = { start = [0, 0, 0], end = [1.5, 0, 0], n = 3 }

[[beam]]
name = "shaft"
on = "shaft"
section = "shaft"
material = "steel"

[[disc]]
name = "disc"
at = "shaft:end"
mass = 30
polar = 0.3
diametral = 0.2
axis = [1, 0, 0]

[[nodal_spring]]
on = ["shaft:start", "shaft:end"]
component = "y"
stiffness = 1e6
damping = 200.0

[[nodal_spring]]
on = ["shaft:start", "shaft:end"]
component = "z"
stiffness = 8e5

[[support]]
on = "shaft:start"
components = ["x"]

[[rotor]]
name = "rotor"
axis = [1, 0, 0]

[[step]]
type = "campbell"
rotor = "rotor"
speeds = { start = 0, end = 300, n = 3 }
count = 2

[[step]]
type = "unbalance"
rotor = "rotor"
speeds = [50, 100]
unbalances = [{ at = "shaft:end", amount = 1e-3 }]
at = ["shaft:start"]
"""


def test_model_file(tmp_path):
    path = tmp_path / "rotor.toml"
    path.write_text(FILE)
    results = run(load_model(path), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    campbell, unbalance = summary["steps"]
    assert campbell["speeds"] == [0.0, 100.0, 200.0, 300.0] and len(campbell["branches"]) == 2
    assert unbalance["response"][0]["at"] == "shaft 1"
    np.testing.assert_allclose(
        results.steps[0].series["frequency"][:, 0] * 2.0 * np.pi,
        np.array(campbell["branches"][0]["eigenvalues"])[:, 1],
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.campbell_step("motor", [1.0, 2.0]), 'no rotor "motor"; did you mean "rotor"'),
        (lambda m: m.campbell_step("rotor", [2.0, 1.0]), "1 rad/s comes after 2 rad/s"),
        (lambda m: m.campbell_step("rotor", []), "speeds"),
        (lambda m: m.campbell_step("rotor", {"start": 1.0, "end": 2.0}), "start, end and n"),
        (lambda m: m.campbell_step("rotor", [1.0], frame="turning"), 'frame = "turning"'),
        (lambda m: m.campbell_step("rotor", [1.0], orders=[-1.0]), "orders"),
        (lambda m: m.campbell_step("rotor", [1.0], turns=3), 'unknown key "turns"'),
        (lambda m: m.unbalance_step("rotor", [1.0], []), "unbalances"),
        (lambda m: m.unbalance_step("rotor", [1.0], [{"at": "hub"}]), "at, amount and phase"),
        (lambda m: m.unbalance_step("rotor", [1.0], [{"at": "hub", "amount": -1.0}]), "amount = -1.0"),
        (lambda m: m.unbalance_step("rotor", [1.0], [{"at": "hub", "amount": 1.0}], at="shaft"), "shaft"),
    ],
)
def test_wrong_steps(call, said):
    m = jeffcott()
    with pytest.raises(ModelError, match=said):
        call(m)
        solve(m)


def test_unbalance_beside_the_rotor():
    m = jeffcott()
    m.body("post", (0, 1, 0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.fix("post")
    m.rotor("disc", axis=(1, 0, 0), on="hub")
    m.unbalance_step("disc", [1.0], [{"at": "post", "amount": 1.0}])
    with pytest.raises(ModelError, match="is on no part of"):
        solve(m)


def test_equal_frequencies_at_all_speeds():
    """A disc in the middle of its shaft: two modes of its place have one frequency at all speeds, so that any sum of
    them is a mode and they have no sense; those of its tilting part from each other and are known again down to rest.
    """
    m = Model(3)
    m.section("shaft", "stiffness", EA=1e8, EI=2000.0, GA=np.inf, GJ=1600.0, rhoA=1e-6, rhoI=1e-9)
    m.line("shaft", (0, 0, 0), (1, 0, 0), 4)
    m.beams("shaft", "shaft", "shaft")
    m.disc("disc", 2, 10.0, 0.2, 0.1, axis=(1, 0, 0))
    for end in ("start", "end"):
        m.bearing(end, f"shaft:{end}", stiffness=1e6, damping=500.0, axis=(1, 0, 0))
    m.fix("shaft:start", "x")
    m.rotor("rotor", axis=(1, 0, 0))
    m.campbell_step("rotor", {"start": 0.0, "end": 200.0, "n": 10}, count=4)
    m.unbalance_step("rotor", [0.0, 50.0], [{"at": 2, "amount": 1e-3}])
    campbell, unbalance = (s.summary for s in solve(m).steps)
    assert campbell["warnings"] == []
    for branch in campbell["branches"]:
        assert len(set(branch["whirl"][1:])) == 1
    assert sorted(b["whirl"][1] for b in campbell["branches"]) == ["backward", "forward", "none", "none"]
    # nothing pulls at rest, also where nothing holds the rotor's angle; at 50 rad/s as a mass on springs
    k, W, mass = 1.0 / (1.0 / 96000.0 + 1.0 / (2e6 + 50j * 1000.0)), 50.0, 10.0
    major = next(r for r in unbalance["response"] if r["direction"] == "major")["amplitude"]
    assert major[0] == 0.0
    assert major[1] == pytest.approx(abs(1e-3 * W**2 / (k - mass * W**2)), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"speeds": [0.0, 1.0]}, '"rotor" is missing; add rotor'),
        ({"rotor": "rotor"}, '"speeds" is missing; add speeds'),
        ({"rotor": "rotor", "speeds": [10.0]}, "at least two"),
    ],
)
def test_what_a_diagram_needs(options, said):
    m = Model(3)
    m.body("b", (0, 0, 0), 1.0, (1.0, 1.0, 1.0))
    m.rotor("rotor", axis=(1, 0, 0))
    with pytest.raises(ModelError, match=said):
        m.campbell_step(**options)
        solve(m)


def test_modes_below_a_crowd_of_eigenvalues(monkeypatch):
    """Damping by b K crowds eigenvalues at -1/b, next to the four modes wanted: what lies there is not asked for."""
    monkeypatch.setattr(complex_modes, "_ROUNDS", 60)  # gives up sooner
    speeds = (261.0, 539.25, 1047.0, 1444.0)
    m = internal_damping.build(16)
    m.campbell_step("shaft", speeds, count=4)
    step = solve(m).summary["steps"][-1]
    found = np.array([b["eigenvalues"] for b in step["branches"]]) @ (1.0, 1j)
    for speed, row in zip(speeds, found.T, strict=True):
        true = internal_damping.exact(speed)
        both = np.concatenate((true, true.conj()))  # backward whirl turns the other way
        # (2 pi/16)^4/720 of bending, (2 pi/16)^2 of a splitting of 3e-3
        assert (np.abs(both[:, None] - row).min(axis=0) <= 5e-4 * np.abs(row)).all()
    forward = [c for c in step["critical_speeds"] if c["whirl"] == "forward"]
    assert len(forward) == 2
    for c in forward:  # the shaft does not see a whirl that turns with it
        assert abs(c["eigenvalue"][0]) <= 1e-8 * c["speed"]
        assert c["direct"][0] == pytest.approx(c["speed"], rel=1e-9)
    assert step["warnings"] == []
