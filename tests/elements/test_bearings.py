"""Bearings with unsymmetric matrices and tables over the speed: statics, transients, stability."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.modelfile.read import load_model

MASS, K, C = 2.0, 8e4, 60.0
W = np.sqrt(K / MASS)
TOP = 1000.0


def film(speed):
    """Stiffness of a film that turns with half the speed of the shaft: K d + C (d' - (Omega/2) n x d)."""
    return [[K, 0.5 * C * speed], [-0.5 * C * speed, K]]


def disc_in_film():
    """A disc that cannot tilt, in a film; the axis is x."""
    m = Model(3)
    m.node("disc", (0.1, 0.2, -0.3))
    m.disc("disc", "disc", MASS, 0.01, axis=(1, 0, 0))
    m.fix("disc", ["x", "rotation y", "rotation z"])
    m.bearing("film", "disc", stiffness=[film(0.0), film(TOP)], damping=[C, C], axis=(1, 0, 0), speeds=[0.0, TOP])
    m.rotor("rotor", axis=(1, 0, 0), point=(0, 0.2, -0.3))
    return m


def exact(speed):
    """p of forward whirl: m p^2 + c (p - i Omega/2) + k = 0 for y + i z."""
    return max(np.roots([MASS, C, K - 0.5j * C * speed]), key=lambda p: p.imag)


def test_half_speed_whirl():
    """Eigenvalues over the speed to round-off; unstable, forward, beyond twice the natural frequency."""
    m = disc_in_film()
    speeds = np.array([0.0, 200.0, 2.0 * W - 1.0, 2.0 * W + 1.0, 900.0])
    m.campbell_step("rotor", speeds, count=2)
    s = solve(m).summary["steps"][-1]
    assert s["stable"] == [True, True, True, False, False] and not s["warnings"]
    forward = next(b for b in s["branches"] if b["whirl"][-1] == "forward")
    got = np.array(forward["eigenvalues"]) @ (1.0, 1j)
    np.testing.assert_allclose(got, [exact(v) for v in speeds], rtol=1e-9)
    # the matrices are linear in the speed: the direct search knows the critical speeds too
    c = next(c for c in s["critical_speeds"] if c["whirl"] == "forward")
    assert abs(exact(c["speed"]).imag - c["speed"]) < 1e-8
    # p = i Omega: -m W^2 + i c W/2 + k = 0
    expected = max(np.roots([-MASS, 0.5j * C, K]), key=lambda w: w.real)
    assert abs(complex(*c["direct"]) - expected) < 1e-8


def test_kinked_table():
    """Between rows that no parabola fits, critical speeds come from the branches alone."""
    m = Model(3)
    m.node("disc", (0, 0, 0))
    m.disc("disc", "disc", MASS, 0.01, axis=(0, 0, 1))
    m.fix("disc", ["z", "rotation x", "rotation y"])
    table = [6e4, 8e4, 8.5e4]
    m.bearing("b", "disc", stiffness=table, axis=(0, 0, 1), speeds=[0.0, 150.0, 400.0])
    m.rotor("rotor", axis=(0, 0, 1))
    m.campbell_step("rotor", [10.0, 100.0, 300.0, 500.0], count=2)
    s = solve(m).summary["steps"][-1]
    assert any("goes from 0 to 400" in text for text in s["warnings"])
    speeds = [c["speed"] for c in s["critical_speeds"]]
    assert len(speeds) == 2 and all(c["direct"] is None for c in s["critical_speeds"])
    for speed in speeds:
        k = np.interp(speed, [0.0, 150.0, 400.0], table)
        assert abs(np.sqrt(k / MASS) - speed) < 1e-9 * speed


@pytest.mark.parametrize(
    ("axis", "turning", "told"),
    [((0, 0, 1), ["disc"], None), ((0, 0, -1), ["disc"], -300.0), ((0, 0, 1), ["disc", "ring"], None),
     ((0, 0, 2), ["ring"], -300.0)],
)  # fmt: skip
@pytest.mark.parametrize("step", ["complex_modes", "unbalance", "campbell", "linearise"])
def test_tables_that_the_speed_about_their_axis_leaves_are_told(axis, turning, told, step):
    """The speed counts about the bearing's axis, of its node a less that of b."""
    m = Model(3)
    for name in ("disc", "ring"):
        m.node(name, (0, 0, 0))
        m.disc(name, name, MASS, 0.01, axis=(0, 0, 1))
        m.fix(name, ["z", "rotation x", "rotation y"])
    m.bearing("outer", "ring", stiffness=1.3e5, axis=(0, 0, 1))
    m.bearing("b", "disc", "ring", stiffness=[6e4, 8e4], axis=axis, speeds=[0.0, 400.0])
    m.rotor("rotor", axis=(0, 0, 1), on=turning)
    if step in ("complex_modes", "linearise"):
        getattr(m, f"{step}_step")(rotor="rotor", speed=300.0)
    elif step == "unbalance":
        m.unbalance_step("rotor", [100.0, 300.0], [{"at": turning[0], "amount": 1e-3}])
    else:
        m.campbell_step("rotor", [100.0, 300.0], count=2)
    said = [text for text in solve(m).summary["steps"][-1]["warnings"] if "table of bearing" in text]
    assert len(said) == (told is not None)
    assert told is None or f"turns with {told:g} rad/s about its axis" in said[0]


@pytest.mark.parametrize(("speed", "rule"), [(300.0, "midpoint"), (700.0, "midpoint"), (700.0, "newmark")])
def test_transient(speed, rule):
    """A turning disc runs as its eigenvalue says, growing or not, and the ledger closes: what grows is fed in."""
    m = disc_in_film()
    m.sensor("y", "displacement", on="disc")
    a = 1e-4
    p = exact(speed)
    m.initial(spin=(speed, 0, 0), centre=(0, 0.2, -0.3))
    # the start of the forward mode: displacement zero, velocity of a whirl about it is another mode; look at late times
    m.force(
        "push", "disc", (0, a * K, 0), function={"kind": "table", "times": [0, 1e-3, 1.1e-3, 9], "values": [1, 1, 0, 0]}
    )
    m.transient_step(0.3, 2e-5 if rule == "midpoint" else 5e-5, rule=rule)
    s = solve(m)
    step = s.summary["steps"][-1]
    if rule == "midpoint":
        assert step["energy"]["closing_error_relative"] < 1e-10
    t, u = s.steps[0].time, s.sensor("y").values
    z = u[:, 1] + 1j * u[:, 2]
    back = min(np.roots([MASS, C, K - 0.5j * C * speed]), key=lambda q: q.real)
    # both modes of y + i z by least squares
    late = t > 2e-3
    modes = np.exp(np.outer(t[late], (p, back)))
    parts = np.linalg.lstsq(modes, z[late], rcond=None)[0]
    off = np.abs(modes @ parts - z[late]).max() / np.abs(z[late]).max()
    assert off < 2e-3
    work = s.steps[0].ledger("load work")[-1]
    assert (work > 0.0) and (np.abs(z[-1]) > np.abs(z[late][0])) == (p.real > 0.0)


def test_statics_and_outputs():
    """Displacement under a load by the unsymmetric matrix at rest; forces of the sensor."""
    m = Model(2)
    m.body("b", (0.3, 0.1), mass=1.0, inertia=1.0)
    S = np.array([[5.0, 2.0], [-1.0, 4.0]])
    m.bearing("x", "b", stiffness=S)
    m.fix("b", ["rotation"])
    m.force("f", "b", (1.0, 2.0))
    m.sensor("u", "displacement", on="b")
    for k in ("force u", "force v", "displacement u"):
        m.sensor(k, "element", on="x", element=0, quantity=k)
    m.static_step()
    s = solve(m)
    u = np.linalg.solve(S, (1.0, 2.0))
    np.testing.assert_allclose(s.sensor("u").values[-1][:2], u, rtol=1e-9)
    np.testing.assert_allclose(
        [s.steps[-1].series[f"sensor/{k}"][-1].item() for k in ("force u", "force v")], (1.0, 2.0), rtol=1e-9
    )
    np.testing.assert_allclose(s.steps[-1].series["sensor/displacement u"][-1].item(), u[0], rtol=1e-9)


def test_directions():
    """Stiffness along a direction across an axis of any direction, between two nodes."""
    n = np.array((1.0, 2.0, 2.0)) / 3.0
    e = np.cross(n, (0.0, 0.0, 1.0))
    e /= np.linalg.norm(e)
    m = Model(3)
    m.body("a", (0, 0, 0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.body("b", (1, 0, 0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.fix("b")
    m.fix("a", ["rotation x", "rotation y", "rotation z"])
    m.bearing("k", "a", "b", stiffness=[3.0, 7.0], axis=tuple(n), direction=tuple(e + 0.3 * n))
    for i, axis in enumerate(np.eye(3)):
        m.nodal_spring(f"s{i}", "a", tuple(axis), 1.0)
    m.force("f", "a", tuple(e))
    m.sensor("u", "displacement", on="a")
    m.static_step()
    np.testing.assert_allclose(solve(m).sensor("u").values[-1], e / 4.0, atol=1e-9)


FILE = """
[[node]]
name = "n"
position = [0, 0, 0]

[[disc]]
name = "d"
at = "n"
mass = 2
polar = 0.01
axis = [1, 0, 0]

[[support]]
on = "n"
components = ["x"]

[[bearing]]
name = "film"
a = "n"
stiffness = [[[8e4, 0], [0, 8e4]], [[8e4, 3e4], [-3e4, 8e4]]]
damping = [60, 60]
axis = [1, 0, 0]
speeds = [0, 1000]

[[rotor]]
name = "rotor"
axis = [1, 0, 0]

[[step]]
type = "campbell"
rotor = "rotor"
speeds = [100, 500]
count = 4
"""


def test_model_file(tmp_path):
    path = tmp_path / "film.toml"
    path.write_text(FILE)
    s = solve(load_model(path)).summary["steps"][-1]
    got = [complex(*b["eigenvalues"][-1]) for b in s["branches"]]
    assert min(abs(p - exact(500.0)) for p in got) < 1e-7
    path.write_text(FILE.replace("damping = [60, 60]", "damping = [60, 60, 60]"))
    with pytest.raises(ModelError, match=r'\[\[bearing\]\] "film": damping .* a list of 2, one per speed'):
        load_model(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "it has no force"),
        ({"stiffness": [1.0, 2.0, 3.0]}, "1, 2, 4 or 2x2 numbers"),
        ({"stiffness": 1.0, "axis": None}, "needs its axis"),
        ({"stiffness": 1.0, "direction": (2, 0, 0)}, "lies along the axis"),
        ({"stiffness": [1.0, 2.0], "speeds": [2.0, 1.0]}, "increasing numbers"),
        ({"stiffness": [1.0, 2.0, 3.0], "speeds": [1.0, 2.0]}, "a list of 2, one per speed"),
        ({"stiffness": 1.0, "b": "disc"}, "two different places"),
    ],
)
def test_wrong_bearings(options, said):
    m = disc_in_film()
    given = {"axis": (1, 0, 0), **options}
    with pytest.raises(ModelError, match=said):
        m.bearing("b", "disc", **given)


def test_numerical_damping_is_that_of_the_symmetric_part_of_the_first_matrix():
    """The decaying rule adds decay h S de/dt to elastic forces: the same as the mid-point rule with more damping."""
    first, decay, h = np.array([[3e4, 7e3], [-2e3, 9e4]]), 0.4, 1e-3
    more = decay * h * 0.5 * (first + first.T)

    def path(damping, **rule):
        m = Model(3)
        m.node("shaft", (0.1, -0.2, 0.3))
        m.initial(velocity=(0.0, 3.0, -5.0))
        m.disc("disc", "shaft", MASS, 0.01, axis=(1, 0, 0))
        m.fix("shaft", ["x", "rotation"])
        m.bearing(
            "bearing", "shaft", stiffness=[first, 2.0 * first], damping=[damping, damping], speeds=[0.0, TOP],
            axis=(1, 0, 0), direction=(0, 1, 0),
        )  # fmt: skip
        m.sensor("u", "displacement", on="shaft")
        m.transient_step(0.05, h, **rule)
        return solve(m).sensor("u").values

    C0 = np.array([[20.0, 1.0], [2.0, 40.0]])
    decaying = path(C0, rule="decaying", decay=decay)
    assert np.abs(decaying - path(C0 + more)).max() < 1e-11
    assert np.abs(decaying - path(C0)).max() > 1e-3
