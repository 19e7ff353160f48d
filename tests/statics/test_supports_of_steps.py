"""Supports and motions of single nonlinear steps: released in statics and transients, arriving, prescribed anew.

References are closed forms of Bernoulli's beam, runs without the support, and the conservation of energy.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from fem_mbs import ConvergenceError, Model, ModelError, load_model, run, solve

EI, RHO = 1.0, 1.0


def cantilever(dimension: int = 2, n: int = 8) -> Model:
    """Length 1, inextensible and rigid in shear as far as rounding allows, clamped at the start."""
    m = Model(dimension)
    if dimension == 2:
        m.section("s", "stiffness", EA=1e6, EI=EI, rhoA=RHO)
    else:
        m.section("s", "stiffness", EA=1e6, EIy=EI, EIz=EI, GJ=1.0, rhoA=RHO)
    zero = (0.0,) * (dimension - 2)
    m.line("b", (0.0, 0.0, *zero), (1.0, 0.0, *zero), n)
    m.beams("b", "b", "s")
    m.fix("b:start")
    m.sensor("u", "displacement", on="b:end")
    return m


def held(m: Model) -> Model:
    m.sensor("R", "reaction", on="b:end")
    return m


def middle(m: Model) -> int:
    nodes = m.nodes_of("b")
    return int(nodes[len(nodes) // 2])


def last(solution, step: int, sensor: str) -> np.ndarray:
    return solution.steps[step].series[f"sensor/{sensor}"][-1]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("duration", [0.0, 2.0])
def test_a_released_prop_leaves_the_cantilever(dimension, duration):
    """The prop carries 5/16 of a small force at mid-span; released in equal parts, the tip sinks in equal parts, to
    that of the cantilever, 5 P L^3/(48 E I). Large forces lead to the elastica of a model that never had the prop."""
    down = (0.0, -1.0) if dimension == 2 else (0.0, -1.0, 0.0)
    for size in (1e-4, 4.0):
        m = cantilever(dimension)
        m.fix("b:end", ["y"], group="prop")
        m.force("F", middle(m), np.multiply(size, down))
        m.static_step(4, "held", duration=duration, supports="prop")
        m.static_step(4, "released", duration=duration, vary=[] if duration else "all")
        m.static_step(1, "again", duration=duration, vary=[] if duration else "all")
        solution = solve(held(m))
        _, released, again = solution.steps
        R = last(solution, 0, "R")
        w = released.series["sensor/u"][:, 1]
        alone = cantilever(dimension)
        alone.force("F", middle(alone), np.multiply(size, down))
        alone.static_step(4)
        free = last(solve(alone), 0, "u")
        np.testing.assert_allclose(w[-1], free[1], rtol=1e-9)
        np.testing.assert_allclose(again.series["sensor/u"][-1], released.series["sensor/u"][-1], atol=1e-12)
        if size < 1.0:
            np.testing.assert_allclose(R[0], 5.0 / 16.0 * size, rtol=1e-5)
            np.testing.assert_allclose(w[-1], -5.0 / 48.0 * size, rtol=1e-5)
            np.testing.assert_allclose(w, w[-1] * np.linspace(0.0, 1.0, 5), rtol=1e-5)
            # the reaction fades along the way: it does the work - R w / 2, the force that of its path
            energy = released.series["ledger"]
            np.testing.assert_allclose(energy[-1, 6], 0.0, atol=1e-9 * energy[-1, 1])
        np.testing.assert_array_equal(released.series["sensor/R"][1:], 0.0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_released_clamp(dimension):
    """Clamped at both ends under a dead force: forces and moments of a clamp fade together, to the cantilever's
    equilibrium under its own load."""
    free = []
    for clamped in (True, False):
        m = cantilever(dimension)
        if clamped:
            m.fix("b:end", [*"xyz"[:dimension], "rotation"], group="clamp")
        m.force("F", middle(m), (0.1, -2.0, 1.0)[:dimension])
        m.static_step(4, supports="clamp" if clamped else "")
        if clamped:
            m.static_step(4, "released")
        free.append(last(solve(m), -1, "u"))
    np.testing.assert_allclose(free[0], free[1], rtol=1e-9)


def test_a_bent_beam_swings_free():
    """Bent by a prescribed tip displacement d, then let go: the tip swings by the modes of the cantilever, whose shares
    of the static shape add up to it; the first one has 0.9707 of it, 3.5160 rad/s, and energy stays to round-off."""
    m = cantilever()
    m.motion("pull", "b:end", "y", 1e-3, group="pull")
    m.static_step(2, "bend", supports="pull")
    period = 2.0 * np.pi / 3.516015
    m.transient_step(2.0 * period, period / 400, "swing", frames=0)
    solution = solve(held(m))
    np.testing.assert_allclose(last(solution, 0, "u")[1], 1e-3, rtol=1e-12)
    np.testing.assert_allclose(last(solution, 0, "R")[0], 3e-3, rtol=1e-5)
    swing = solution.steps[1]
    t, w = swing.series["time"], swing.series["sensor/u"][:, 1]
    roots = np.array([1.8751040687, 4.6940911330, 7.8547574382])
    sigma = (np.cosh(roots) + np.cos(roots)) / (np.sinh(roots) + np.sin(roots))
    x = np.linspace(0.0, 1.0, 20001)
    modes = [
        np.cosh(r * x) - np.cos(r * x) - s * (np.sinh(r * x) - np.sin(r * x)) for r, s in zip(roots, sigma, strict=True)
    ]
    shape = 1e-3 * (1.5 * x**2 - 0.5 * x**3)
    shares = [trapezoid(shape * p, x) / trapezoid(p * p, x) * p[-1] for p in modes]
    assert shares[0] == pytest.approx(0.9707e-3, rel=1e-3)
    wanted = sum(a * np.cos(r**2 * (t - t[0])) for a, r in zip(shares, roots, strict=True))
    assert np.abs(w - wanted).max() < 1e-5
    ledger = swing.series["ledger"]
    assert np.abs(ledger[:, :3].sum(axis=1) - ledger[0, :3].sum()).max() < 1e-11 * ledger[0, 1]
    assert np.abs(ledger[:, 3:6]).max() < 1e-12 * ledger[0, 1]  # a release does no work


@pytest.mark.parametrize("dimension", [2, 3])
def test_energy_of_a_large_release(dimension):
    """Tip turned by more than a radian, then free: energy stays to round-off from the moment of release."""
    m = cantilever(dimension)
    m.motion("pull", "b:end", "y", 0.7, group="pull")
    m.static_step(8, "bend", supports="pull")
    m.transient_step(0.5, 0.005, "swing", frames=0)
    m.sensor("turn", "rotation", on="b:end")
    solution = solve(m)
    assert np.linalg.norm(last(solution, 0, "turn")) > 0.9
    first, swing = solution.steps
    ledger = swing.series["ledger"]
    assert ledger[0, 1] == pytest.approx(first.series["ledger"][-1, 1], rel=1e-13)
    assert ledger[:, 0].max() > 0.3 * ledger[0, 1]
    assert np.abs(ledger[:, :3].sum(axis=1) - ledger[0, 1]).max() < 1e-10 * ledger[0, 1]


def test_a_support_that_arrives():
    """A tip force bends by P/3; held there, further force at the tip does nothing, and the support holds it; a motion
    then brings the tip from there to another place, in equal parts; at last it goes back to the start."""
    m = cantilever()
    P = 1e-3
    m.force("F", "b:end", (0.0, P))
    m.force("G", "b:end", (0.0, P))
    m.fix("b:end", ["y"], group="here", present=True)
    m.motion("push", "b:end", "y", 4e-4, group="push")
    m.fix("b:end", ["y"], group="back")
    m.static_step(2, "load", vary="F")
    m.static_step(2, "hold", vary="G", supports="here")
    m.static_step(4, "push", supports="push", vary=[])
    m.static_step(4, "back", supports="back", vary=[])
    m.static_step(4, "free", vary=[])
    solution = solve(held(m))
    at = [last(solution, i, "u")[1] for i in range(5)]
    np.testing.assert_allclose(at[:2], P / 3.0, rtol=1e-5)
    assert at[1] == at[0]
    np.testing.assert_allclose(last(solution, 1, "R")[0], -P, rtol=1e-9)
    way = solution.steps[2].series["sensor/u"][:, 1]
    np.testing.assert_allclose(way, at[1] + (4e-4 - at[1]) * np.linspace(0.0, 1.0, 5), rtol=1e-12)
    np.testing.assert_allclose(last(solution, 2, "R")[0], 3.0 * 4e-4 - 2.0 * P, rtol=1e-5)
    # what the driver does is the integral of its force over its way
    ledger = solution.steps[2].series["ledger"]
    np.testing.assert_allclose(ledger[:, 6], 0.0, atol=1e-9 * P * P)
    mean = 0.5 * (last(solution, 1, "R")[0] + last(solution, 2, "R")[0])
    np.testing.assert_allclose(ledger[-1, 5], mean * (4e-4 - at[1]), rtol=1e-6)
    assert abs(at[3]) < 1e-15
    np.testing.assert_allclose(at[4], 2.0 * P / 3.0, rtol=1e-5)


def test_a_motion_of_time_arrives():
    """With a duration the motion follows its function from where the step finds the node: at the end it is there."""
    m = cantilever()
    m.force("F", "b:end", (0.0, 3e-3))
    m.motion("lift", "b:end", "y", {"kind": "expression", "expression": "1e-3*t"}, group="lift")
    m.static_step(1, "load", duration=1.0)
    m.static_step(4, "lift", duration=1.0, supports="lift")
    solution = solve(m)
    way, t = solution.steps[1].series["sensor/u"][:, 1], solution.steps[1].series["time"]
    s = t - 1.0
    first = way[0]
    np.testing.assert_allclose(first, 1e-3, rtol=1e-5)
    np.testing.assert_allclose(way, 1e-3 * t + (first - 1e-3) * (1.0 - s), rtol=1e-12)


def test_a_stop_in_motion():
    """Two masses fly along with a spring between them; one is stopped: its kinetic energy goes to the driver, in one
    blow, and the other one swings on the spring."""
    m = Model(2)
    for name, x in (("a", 0.0), ("b", 1.0)):
        m.node(name, (x, 0.0))
        m.point_mass(f"mass {name}", name, 2.0)
    m.spring("k", "a", "b", stiffness=8.0)
    m.initial("all", velocity=(1.0, 0.0))
    m.fix("a", ["y"])
    m.fix("b", ["y"])
    m.fix("a", ["x"], group="stop", present=True)
    m.transient_step(0.5, 0.005, "fly", frames=0)
    m.transient_step(1.0, 0.005, "stopped", frames=0, supports="stop")
    m.sensor("b", "displacement", on="b")
    solution = solve(m)
    fly, stopped = solution.steps
    np.testing.assert_allclose(fly.series["ledger"][-1, 0], 2.0, rtol=1e-12)
    ledger = stopped.series["ledger"]
    np.testing.assert_allclose(ledger[0, [0, 5]], (1.0, -1.0), rtol=1e-12)
    assert np.abs(ledger[:, 6]).max() < 1e-12
    t = stopped.series["time"] - 0.5
    x = stopped.series["sensor/b"][:, 0]
    assert np.abs(x - (0.5 + 0.5 * np.sin(2.0 * t))).max() < 1e-4


def test_a_motion_that_arrives_in_a_transient():
    """It is at its place after the first time step, which a warning tells; the driver's work closes the ledger."""
    m = Model(2)
    m.node("a", (0.0, 0.0))
    m.node("b", (1.0, 0.0))
    m.point_mass("mass", "b", 2.0)
    m.spring("k", "a", "b", stiffness=8.0)
    m.fix("a", ["y"])
    m.fix("b", ["y"])
    m.fix("a", ["x"], group="here", present=True)
    m.motion("push", "a", "x", 0.1, group="push")
    m.transient_step(0.01, 0.005, "rest", frames=0, supports="here")
    m.transient_step(1.0, 0.005, "pushed", frames=0, supports="push")
    m.sensor("a", "displacement", on="a")
    m.sensor("b", "displacement", on="b")
    solution = solve(m)
    pushed = solution.steps[1]
    assert "have moved node" in " ".join(pushed.summary["warnings"])
    a, b, t = (pushed.series[k] for k in ("sensor/a", "sensor/b", "time"))
    assert a[0, 0] == 0.0 and np.ptp(a[1:, 0]) == 0.0 and a[-1, 0] == pytest.approx(0.1)
    # the spring is compressed over half of the first time step
    wanted = 0.1 * (1.0 - np.cos(2.0 * (t - t[0])))
    assert np.abs(b[:, 0] - wanted).max() < 2e-3
    ledger = pushed.series["ledger"]
    assert ledger[-1, 5] > 0.039
    assert np.abs(ledger[:, 6]).max() < 1e-12


def test_a_jump_that_no_step_can_make():
    """A slender beam cannot follow a jump of a tenth of its length in one time step: the error tells of the jump."""
    m = cantilever()
    m.motion("pull", "b:end", "y", 0.1, group="pull")
    m.transient_step(0.01, 0.005, "pushed", frames=0, supports="pull", halvings=1)
    with pytest.raises(ConvergenceError, match="supports that arrive have moved node"):
        solve(m)


FILE = """
dimension = 2
[section.s]
shape = "stiffness"
EA = 1e6
EI = 1.0
rhoA = 1.0
[mesh.b.polyline]
points = [[0, 0], [1, 0]]
n = 4
[[beam]]
name = "b"
on = "b"
section = "s"
[[support]]
on = "b:start"
[[motion]]
name = "pull"
on = "b:end"
component = "y"
function = 0.1
group = "pull"
[[sensor]]
name = "u"
kind = "displacement"
on = "b:end"
[[step]]
type = "static"
increments = 2
supports = ["pull"]
[[step]]
type = "transient"
duration = 0.1
h = 0.005
supports = ["pull"]
[[step]]
type = "transient"
name = "free"
duration = 0.2
h = 0.005
restarts = 3
"""


def test_a_model_file_and_its_restart(tmp_path):
    """The file makes the same; a run that goes on from a restart point behind the release gives the same bits."""
    path = tmp_path / "model.toml"
    path.write_text(FILE, encoding="utf-8")
    whole = run(load_model(path), tmp_path / "out")
    held = whole.steps[1].series["sensor/u"][:, 1]
    np.testing.assert_allclose(held, 0.1, rtol=1e-14)
    assert not whole.steps[1].summary["warnings"]  # it stands where the static step has left it
    free = np.array(whole.steps[2].series["sensor/u"])
    assert free[:, 1].min() < 0.08
    again = run(load_model(path), tmp_path / "out", restart=1)
    np.testing.assert_array_equal(np.array(again.steps[2].series["sensor/u"]), free)


def test_what_is_refused():
    m = cantilever()
    m.fix("b:end", ["y"], group="prop")
    m.static_step(supports="prop")
    m.force("F", "b:end", (0.0, 1.0))
    m.static_step(4, "path", control="arc")
    with pytest.raises(ModelError, match="along a path"):
        solve(m)
    m = cantilever()
    m.motion("one", "b:end", "y", 0.1, group="one")
    m.motion("two", "b:end", "y", 0.2, group="two")
    m.static_step(supports=["one", "two"])
    with pytest.raises(ModelError, match="another group"):
        solve(m)
    m = cantilever(3)
    m.force("F", "b:end", (0.0, 1.0, 0.0))
    m.fix("b:end", ["rotation"], group="turn")
    m.static_step(2)
    m.static_step(2, "back", supports="turn")
    with pytest.raises(ModelError, match=r"has turned by 0\.4"):
        solve(m)
    m = cantilever()
    m.motion("a", "b:start", "y", 0.1, group="one")
    m.static_step(supports="one")
    with pytest.raises(ModelError, match="held or moved"):
        solve(m)
