"""What linear steps report, for every kind of sensor, against differences of nonlinear steps and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation
from solid_meshes import grid

from fem_mbs import Model, solve
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import ModelError
from fem_mbs.meshes.mesh import CellBlock, Mesh

E = 2e11


def turned(seed: int) -> np.ndarray:
    return np.eye(3) if seed == 0 else Rotation.random(random_state=seed).as_matrix()


def machine(follower: bool = False, elimination: bool = True, seed: int = 0, size: float = 1.0) -> Model:
    """Two beams with a hinge, a body on a universal joint and a bushing, a slider and springs, loaded far enough to
    turn it all by tenths of a radian."""
    Q = turned(seed)
    m = Model(3, gravity=Q @ [0.0, 0.0, -9.81], elimination=elimination)

    def at(*x):
        return tuple(Q @ np.array(x, float))

    m.material("steel", E=E, nu=0.3, density=7800)
    m.section("strip", "rectangle", width=0.012, height=0.01)
    m.section("rope", "stiffness", EA=200.0, rhoA=0.01)
    for name, ends in (("a", (at(0, 0, 0), at(0.5, 0, 0))), ("b", (at(0.5, 0, 0), at(1, 0, 0)))):
        m.line(name, *ends, 3)
        m.beams(name, name, "strip", "steel", orientation=at(0, 1, 0))
    m.fix("a:start")
    m.joint("hinge", "revolute", "a:end", "b:start", axis=at(0, 0, 1))
    m.joint_spring("coil", "hinge", 400.0)
    turn = tuple(Rotation.from_matrix(Q).as_rotvec())
    m.body("block", at(1.1, 0.05, 0.02), 0.1, (1e-4,) * 3, rotation=turn)
    m.joint("cross", "universal", "b:end", "block", point=at(1, 0, 0), axis=at(0, 0, 1), axis_b=at(0, 1, 0))
    m.bushing("pad", "block", "ground", [300.0] * 3 + [30.0] * 3, point=at(1.1, 0.05, 0.02), rotation=turn)
    m.body("slider", at(0.5, 0.4, 0.0), 0.2, (1e-4,) * 3, rotation=turn)
    m.joint("rail", "prismatic", "ground", "slider", axis=at(0, 1, 0), point=at(0.5, 0.4, 0))
    m.spring("tie", "slider", "a:end", 2e3, point_b=at(0.5, 0, 0))
    m.line("rope", at(1, 0.5, 0.1), at(0.5, 0.45, 0.3), 1)
    m.trusses("rope", "rope", "rope")
    m.fix("rope:start")
    m.spring("stay", "rope:end", "slider", 800.0, point_b=at(0.5, 0.4, 0))
    m.spring("side", "rope:end", "ground", 900.0, point_b=at(0.2, 0.2, 0.5))
    m.force("F", "block", at(-50, 18, 15))
    m.force("G", "a:end", at(-30, 10, 15), follower=follower)
    m.force("H", "slider", at(5, -60, 20))
    m.force("P", "rope:end", at(-3, 2, 4))
    if follower:  # (other moments have no potential in space, either)
        m.moment("T", "b:end", at(3, 2, -1), kind="follower")
    m.force("X", "block", size * np.array(at(0.0, 0.3, 1.0)))
    m.force("Y", "slider", size * np.array(at(0.5, 1.0, 0.2)))
    s = m.sensor
    s("position", "position", on="block", point=at(1.2, 0.1, 0.1))
    s("displacement", "displacement", on="b:end")
    s("rotation", "rotation", on="block")
    s("distance", "distance", a="b:end", b="slider")
    s("angle", "angle", a="a:end", b="block")
    s("deflection", "deflection", on="a:end", a="a:start", b="b:end")
    s("share", "deflection", on="a:end", a="a:start", b="b:end", relative=True)
    s("moment", "element", on="b", element=1, quantity="My 1")
    s("bushing", "element", on="pad", quantity="force x")
    s("lift", "element", on="pad", quantity="displacement z")
    s("coil", "element", on="coil", quantity="moment")
    s("spring", "element", on="tie", quantity="force")
    s("strain", "strain", on="rope")
    s("force", "force", on="a", element=0)
    s("support", "reaction", on="a:start")
    s("anchor", "reaction", on="rope:start")
    s("hinge", "reaction", on="hinge")
    s("cross", "reaction", on="cross")
    s("rail", "reaction", on="rail")
    s("hinge angle", "joint", on="hinge")
    s("way", "joint", on="rail")
    s("strain energy", "energy", quantity="strain")
    s("potential", "energy", quantity="potential")
    m.static_step(4, vary=["F", "G", "H", "P", *["T"] * follower, "gravity"], name="state")
    return m


@pytest.mark.parametrize(("follower", "elimination", "seed"), [(False, True, 0), (True, True, 1), (True, False, 0)])
def test_every_sensor_against_differences_of_nonlinear_statics(follower, elimination, seed):
    """About a loaded state: total less state is the derivative of the nonlinear step; so is the increment."""
    size, little = 2e-2, 0.05
    found = {}
    for part in (-2.0, -1.0, little, 1.0, 2.0):
        m = machine(follower, elimination, seed)
        m.static_step(1, vary=["X", "Y"], until=part * size)
        found[part] = solve(m)

    def slope(value):
        """Central differences of order four."""
        near, far = value(found[1.0]) - value(found[-1.0]), value(found[2.0]) - value(found[-2.0])
        return (8.0 * near - far) / (12.0 * size)

    m = machine(follower, elimination, seed)
    m.linear_static_step("total", loads=["X", "Y"])
    m.linear_static_step("increment", loads=["X", "Y"], report="increment")
    linear = solve(m)
    assert ("unsymmetric" in " ".join(linear.steps[1].summary["warnings"])) == follower
    for sensor in linear.compiled.sensors:
        name = sensor.name
        state, total, increment = (linear.step_at(i).series[f"sensor/{name}"][-1] for i in range(3))
        exact = slope(lambda run, name=name: run.steps[-1].series[f"sensor/{name}"][-1])
        # differences of axial forces of a steel strip lose eight digits
        error = 2e-6 * np.abs(exact).max() + 2e-8 * np.abs(state).max()
        assert np.abs(state).max() > 0.0, name
        assert np.abs(exact).max() > 0.0, name
        if sensor.kind != "energy":
            assert np.abs(total - state - exact).max() < error, name
        assert np.abs(total - state - increment).max() < 1e-9 * np.abs(state).max(), name
    # energies but for terms of second order in the load
    m = machine(follower, elimination, seed, little * size)
    m.linear_static_step("increment", loads=["X", "Y"], report="increment")
    small = solve(m)
    for name in ("strain energy", "potential"):
        exact = found[little].steps[-1].series[f"sensor/{name}"][-1] - linear.steps[0].series[f"sensor/{name}"][-1]
        assert small.steps[-1].series[f"sensor/{name}"][-1] == pytest.approx(exact, rel=2e-5), name
    frames = [step.frames for step in linear.steps]
    for key in ("displacement", "rotation"):
        exact = slope(lambda run, key=key: run.steps[1].frames[key][-1])
        assert frames[2][key][-1] == pytest.approx(exact, abs=1e-6 * np.abs(exact).max()), key
        assert frames[1][key][-1] == pytest.approx(frames[0][key][-1] + exact, abs=1e-6 * np.abs(exact).max()), key


def test_every_sensor_in_the_plane():
    """The same in the plane, with a driven support and about a state with its motion."""

    def model(load: float = 1.0) -> Model:
        m = Model(2, gravity=(0.0, -9.81))
        m.material("steel", E=E, nu=0.3, density=7800)
        m.section("strip", "rectangle", width=0.012, height=0.01)
        m.line("a", (0, 0), (0.6, 0), 3)
        m.beams("a", "a", "strip", "steel")
        m.fix("a:start")
        m.body("arm", (0.9, 0.0), 0.2, 1e-3)
        m.joint("pin", "revolute", "a:end", "arm", point=(0.6, 0))
        m.joint_spring("coil", "pin", 300.0)
        m.body("foot", (1.2, 0.3), 0.1, 1e-3)
        m.spring("strut", "arm", "foot", 4e3, point_a=(1.2, 0.0))
        m.motion("lift", "foot", "y", 0.0)
        m.fix("foot", ["x", "rotation"])
        m.bushing("pad", "ground", "arm", [500.0, 700.0, 20.0], point=(0.9, 0.0))
        m.force("F", "arm", (20.0, -70.0), point=(1.0, 0.05))
        m.moment("T", "a:end", 30.0)
        m.force("X", "arm", (0.4 * load, load))
        m.sensor("position", "position", on="arm", point=(1.0, 0.1))
        m.sensor("rotation", "rotation", on="arm")
        m.sensor("distance", "distance", a="a:end", b="foot")
        m.sensor("angle", "angle", a="a:end", b="arm")
        m.sensor("deflection", "deflection", on="a:end", a="a:start", b="foot")
        m.sensor("hinge", "reaction", on="pin")
        m.sensor("clamp", "reaction", on="a:start")
        m.sensor("lift", "drive", on="lift")
        m.sensor("turn", "joint", on="pin")
        m.sensor("coil", "element", on="coil", quantity="moment")
        m.sensor("strut", "element", on="strut", quantity="force")
        m.sensor("pad", "element", on="pad", quantity="moment")
        m.static_step(4, vary=["F", "T", "gravity"], name="state")
        return m

    size, found = 1e-3, []
    for sign in (1.0, -1.0):
        m = model()
        m.static_step(1, vary=["X"], until=sign * size)
        found.append(solve(m))
    m = model()
    m.linear_static_step(loads=["X"])
    linear = solve(m)
    for sensor in linear.compiled.sensors:
        name = sensor.name
        state, total = (linear.step_at(i).series[f"sensor/{name}"][-1] for i in range(2))
        exact = (found[0].steps[-1].series[f"sensor/{name}"][-1] - found[1].steps[-1].series[f"sensor/{name}"][-1]) / (
            2.0 * size
        )
        assert np.abs(exact).max() > 0.0, name
        assert total - state == pytest.approx(exact, abs=2e-6 * np.abs(exact).max() + 1e-8 * np.abs(state).max()), name


def test_stresses_of_solids():
    """Cauchy stresses about a loaded state change with the stresses, and as the old ones turn with the material."""

    def model(until: float | None) -> Model:
        m = Model(3, fields=["stress", "points"])
        m.mesh("bar", Mesh(*bar_of_cubes(4)))
        m.solid_material("rubber", E=1e6, nu=0.3, density=1000.0)
        m.solids("bar", "bar", "rubber")
        m.fix("bar:ROOT")
        m.force("F", "bar:TIP", (50.0, 10.0, 4.0))
        m.force("X", "bar:TIP", (0.0, 1.0, 0.5))
        m.static_step(4, vary=["F"], name="state")
        if until is None:
            m.linear_static_step(loads=["X"])
            m.linear_static_step("alone", loads=["X"], report="increment")
        else:
            m.static_step(1, vary=["X"], until=until)
        return m

    size, key = 1e-3, "bar/points stress [Pa]"
    up, down = (solve(model(sign * size)).steps[1].frames[key][-1] for sign in (1.0, -1.0))
    exact = (up - down) / (2.0 * size)
    state, total, alone = (step.frames[key][-1] for step in solve(model(None)).steps)
    assert np.abs(state).max() > 10.0 * np.abs(exact).max()
    assert alone == pytest.approx(exact, abs=1e-6 * np.abs(exact).max())
    assert total - state == pytest.approx(exact, abs=1e-6 * np.abs(exact).max())


def bar_of_cubes(n: int) -> tuple:
    """Points, cells and node sets of n cubes in a row."""
    x, c = grid("hexahedron", (n, 1, 1), (0.1 * n, 0.1, 0.1))
    sets = {"ROOT": np.flatnonzero(x[:, 0] == 0.0), "TIP": np.flatnonzero(np.isclose(x[:, 0], 0.1 * n))}
    return x, [CellBlock("hexahedron", c)], sets


@pytest.mark.parametrize("kind", ["revolute", "weld", "prismatic", "spherical"])
@pytest.mark.parametrize("elimination", [True, False])
def test_forces_of_joints(kind, elimination):
    """Between two beams in a row: what is behind the joint, by statics; in harmonic response at rest the same."""
    push = np.array([0.1, 0.2, 0.3])

    def model(step: str) -> Model:
        m = Model(3, elimination=elimination)
        m.material("steel", E=E, nu=0.3, density=7800)
        m.section("strip", "rectangle", width=0.012, height=0.01)
        for name, x in (("a", 0.0), ("b", 0.5)):
            m.line(name, (x, 0, 0), (x + 0.5, 0, 0), 3)
            m.beams(name, name, "strip", "steel")
        m.fix("a:start")
        m.joint("j", kind, "a:end", "b:start", **({"axis": (0, 0, 1)} if kind in ("revolute", "prismatic") else {}))
        m.bushing("hold", "b:start", "ground", [1.0, 1.0, 500.0] + [40.0] * 3, point=(0.5, 0, 0))
        m.force("F", "b:end", push)
        m.sensor("force", "reaction", on="j")
        m.sensor("clamp", "reaction", on="a:start")
        m.sensor("hold", "element", on="hold", quantity="force z")
        if step == "harmonic":
            m.harmonic_step([1e-4])
        else:
            m.linear_static_step()
        return m

    static = solve(model("linear_static"))
    force, clamp = static.steps[-1].series["sensor/force"][-1], static.steps[-1].series["sensor/clamp"][-1]
    assert force[:3] == pytest.approx(-clamp[:3], abs=1e-9)  # the beam between carries it to the wall
    assert np.abs(force[:3]).max() > 0.05
    harmonic = solve(model("harmonic"))
    assert harmonic.response("force").values[-1] == pytest.approx(force, abs=1e-5)


def test_dampers_in_linear_transients():
    """A mass of two welded bodies on a spring and damper, pushed at once: forces from the closed form of its motion."""
    k, c, m1, m2, F = 200.0, 30.0, 1.5, 0.5, 5.0
    m = Model(2)
    m.node("wall", (0, 0))
    m.fix("wall")
    m.body("one", (1.0, 0.0), m1, 0.1, angle=0.4)
    m.body("two", (1.2, 0.0), m2, 0.1)
    m.joint("weld", "weld", "one", "two", point=(1.1, 0.0))
    m.fix("one", ["y", "rotation"])
    m.spring("spring", "wall", "one", k, c)
    m.force("F", "two", (F, 0.0))
    m.sensor("x", "displacement", on="two")
    m.sensor("v", "velocity", on="two", point=(1.3, 0.2))
    m.sensor("spring", "element", on="spring", quantity="force")
    m.sensor("wall", "reaction", on="wall")
    m.sensor("weld", "reaction", on="weld")
    # the same oscillator at a joint in rotation and on a bushing
    m.body("wheel", (0.0, 3.0), 2.0, 2.0)
    m.joint("axle", "revolute", "ground", "wheel", point=(0, 3))
    m.joint_spring("coil", "axle", k, damping=c)
    m.moment("T", "wheel", F)
    m.sensor("coil", "element", on="coil", quantity="moment")
    m.body("block", (5.0, 3.0), 2.0, 0.3)
    m.bushing("pad", "ground", "block", [k, k, 20.0], [c, c, 4.0], point=(5, 3))
    m.force("G", "block", (F, 0.0))
    m.sensor("pad", "element", on="pad", quantity="force x")
    m.linear_transient_step(0.3, 2e-4)
    s = solve(m)
    t = s.steps[0].time
    M = m1 + m2
    w, d = np.sqrt(k / M), c / (2.0 * M)
    wd = np.sqrt(w * w - d * d)
    decay = np.exp(-d * t)
    x = F / k * (1.0 - decay * (np.cos(wd * t) + d / wd * np.sin(wd * t)))
    v = F / (M * wd) * decay * np.sin(wd * t)
    a = F / (M * wd) * decay * (wd * np.cos(wd * t) - d * np.sin(wd * t))
    force = k * x + c * v
    assert c * np.abs(v).max() > 0.5 * np.abs(force).max()
    assert s.sensor("x").values[:, 0] == pytest.approx(x, abs=1e-5 * x.max())
    assert s.sensor("v").values[:, 0] == pytest.approx(v, abs=1e-5 * v.max())
    for name in ("spring", "coil", "pad"):
        assert s.steps[-1].series[f"sensor/{name}"][:, 0] == pytest.approx(force, abs=2e-5 * force.max()), name
    assert s.steps[-1].series["sensor/wall"][:, 0] == pytest.approx(-force, abs=2e-5 * force.max())
    assert np.abs(s.steps[-1].series["sensor/weld"][:, 0]) == pytest.approx(np.abs(F - m2 * a), abs=2e-5 * F)


@pytest.mark.parametrize("dimension", [2, 3])
def test_readings_are_linear_in_the_load(dimension):
    """However large the displacements: also rotations, lengths, angles and points away from nodes."""

    def readings(load: float) -> dict[str, np.ndarray]:
        m = Model(dimension)
        end, arm, away = ((1, 0), (1.2, 0.3), (2, 1)) if dimension == 2 else ((1, 0, 0), (1.2, 0.3, 0.1), (2, 1, 0.5))
        torsion = {"GJ": 1.0} if dimension == 3 else {}
        m.section("rod", "stiffness", EA=1e6, GA=1e6, EI=1.0, rhoA=1.0, rhoI=1.0, **torsion)
        m.line("rod", (0,) * dimension, end, 4)
        m.beams("rod", "rod", "rod")
        m.fix("rod:start")
        m.body("hand", arm, 1.0, 1.0 if dimension == 2 else (1.0,) * 3)
        m.joint("wrist", "weld", "rod:end", "hand", point=end)
        m.node("away", away)
        m.point_mass("m", "away", 1.0)
        m.fix("away")
        m.moment("M", "rod:end", load if dimension == 2 else (0.6 * load, 0.3 * load, load))
        m.force("F", "hand", np.array((0.1, 0.2, -0.1))[:dimension] * load)
        m.sensor("position", "position", on="hand", point=np.array(arm) + 0.2)
        m.sensor("rotation", "rotation", on="rod:end")
        m.sensor("distance", "distance", a="rod:end", b="away")
        m.sensor("angle", "angle", a="ground", b="hand")
        m.sensor("deflection", "deflection", on="rod:end", a="rod:start", b="away")
        m.sensor("straight", "deflection", on="hand", a="rod:start", b="rod:end")
        m.sensor("moment", "element", on="rod", element=1, quantity="My 1" if dimension == 3 else "M_p")
        m.sensor("weld", "reaction", on="wrist")
        m.linear_static_step()
        s = solve(m)
        return {sensor.name: s.steps[-1].series[f"sensor/{sensor.name}"][-1] for sensor in s.compiled.sensors}

    start, small, large = (readings(load) for load in (0.0, 1e-3, 10.0))
    for name in start:
        slope = (small[name] - start[name]) / 1e-3
        assert np.abs(slope).max() > 0.0, name
        assert large[name] - start[name] == pytest.approx(10.0 * slope, rel=1e-6, abs=1e-7), name


def test_lengths_that_are_zero_at_rest_vibrate():
    """The deflection of a straight beam and the angle of an unturned node, about which they have no derivative, get the
    largest length over a period: of a circular motion its radius."""
    m = Model(3)
    m.section("rod", "stiffness", EA=1e6, GA=1e6, GJ=10.0, EI=8.0, rhoA=0.1, rhoI=1e-5)
    m.line("rod", (0, 0, 0), (1, 0, 0), 4)
    m.beams("rod", "rod", "rod")
    m.fix("rod:start")
    m.node("far", (2, 0, 0))
    m.point_mass("m", "far", 1.0)
    m.fix("far")
    m.force("Fy", "rod:end", (0, 1.0, 0))
    m.force("Fz", "rod:end", (0, 0, 1.0))
    m.sensor("u", "displacement", on="rod:end")
    m.sensor("turn", "rotation", on="rod:end")
    m.sensor("deflection", "deflection", on="rod:end", a="rod:start", b="far")
    m.sensor("angle", "angle", a="ground", b="rod:end")
    m.harmonic_step([2.0], name="line")
    m.harmonic_step([2.0], name="circle", loads=["Fy", "Fz"], phases={"Fz": 90.0})
    m.harmonic_step([2.0], name="ellipse", loads=["Fy", "Fz"], amplitudes={"Fz": 0.5}, phases={"Fz": 50.0})
    s = solve(m)
    for i in range(3):
        for name, vector in (("deflection", "u"), ("angle", "turn")):
            w = s.response(vector, i).values[0]
            phase = np.linspace(0.0, 2.0 * np.pi, 20001)
            largest = np.linalg.norm((w[:, None] * np.exp(1j * phase)).real, axis=0).max()
            found = s.response(name, i).values[0, 0]
            assert abs(found) == pytest.approx(largest, rel=1e-6), (i, name)
            # at the phase of the amplitude the vector is longest
            assert np.linalg.norm((w * np.exp(-1j * np.angle(found))).real) == pytest.approx(largest, rel=1e-6)


def test_lengths_without_a_derivative_are_no_outputs():
    m = Model(3)
    m.section("rod", "stiffness", EA=1e6, GA=1e6, GJ=10.0, EI=8.0, rhoA=0.1, rhoI=1e-5)
    m.line("rod", (0, 0, 0), (1, 0, 0), 2)
    m.beams("rod", "rod", "rod")
    m.fix("rod:start")
    m.force("F", "rod:end", (0, 1.0, 0))
    m.sensor("bent", "angle", a="ground", b="rod:end")
    m.linearise_step(inputs=["F"], sensors=["bent"])
    with pytest.raises(ModelError, match=r'"bent" \(angle\) is the length of a vector that is zero'):
        solve(m)


@pytest.mark.parametrize("option", ["time", "duration"])
def test_loads_of_the_state_change_to_the_time_of_the_step(option):
    """As the reference says: F = 1 + t is 1 N in the state and 3 N at the time of the step, which names G alone."""
    m = Model(2)
    m.body("b", (0.0, 0.0), mass=1.0, inertia=0.1)
    for component in ("x", "y", "rotation"):
        m.nodal_spring(component, "b", component, 100.0)
    m.force("F", "b", (1.0, 0.0), function="1 + t")
    m.force("G", "b", (0.0, 1.0))
    m.sensor("u", "position", on="b")
    m.static_step(2)  # both act in the state
    m.linear_static_step(loads=["G"])
    m.linear_static_step("later", loads=["G"], **{option: 2.0})
    s = solve(m)
    found = [s.sensor("u", k).values[-1] for k in (1, 2)]
    np.testing.assert_allclose(found, [[0.01, 0.02], [0.03, 0.02]], rtol=1e-12)
    assert "loads that the state carries change" in step_kind("linear_static").Options.keys()[option].text


def test_what_a_preload_has_done_is_in_the_totals():
    """About the place of a linear static step its values count; small loads add what they add alone."""

    def model(*, preload: bool) -> Model:
        m = Model(3)
        m.material("steel", E=E, nu=0.3, density=7800)
        m.section("strip", "rectangle", width=0.012, height=0.01)
        m.line("a", (0, 0, 0), (1, 0, 0), 4)
        m.beams("a", "a", "strip", "steel")
        m.fix("a:start")
        m.spring("k", "a:end", "ground", 1e4, point_b=(1, 1, 0))
        m.force("P", "a:end", (0, 5.0, 1.0))
        m.force("X", "a:end", (0, 1e-3, 0))
        m.sensor("u", "displacement", on="a:end")
        m.sensor("k", "element", on="k", quantity="force")
        m.sensor("R", "reaction", on="a:start")
        m.sensor("turn", "rotation", on="a:end")
        m.linear_static_step("hold", loads=["P"])
        if preload:
            m.linear_static_step("on", loads=["X"], preload="hold")
            m.linear_static_step("alone", loads=["X"], preload="hold", report="increment")
            m.linear_transient_step(1e-3, 1e-4, "still", loads=[], preload="hold")
        else:
            m.linear_static_step("on", loads=["X"])
        return m

    s, plain = solve(model(preload=True)), solve(model(preload=False))
    for name in ("u", "k", "R", "turn"):
        hold, on, alone = (s.step_at(i).series[f"sensor/{name}"][-1] for i in range(3))
        add = plain.steps[1].series[f"sensor/{name}"][-1]
        assert on == pytest.approx(hold + alone, abs=1e-12 * np.abs(hold).max()), name
        assert alone == pytest.approx(add, abs=0.02 * np.abs(add).max()), name
        assert s.steps[3].series[f"sensor/{name}"][-1] == pytest.approx(hold, abs=1e-9 * np.abs(hold).max()), name


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (lambda m: (m.linear_static_step("a"), m.linear_static_step("b", preload="a"), m.modes_step(2, preload="b")),
         'preload = "b" is itself about the preload "a"'),
        (lambda m: (m.linear_static_step("a"), m.linear_static_step("b", preload="a"),
                    m.linear_transient_step(0.1, 0.01, start="b")), 'start = "b" is about preload = "a"'),
        (lambda m: (m.linear_static_step("a"), m.static_step(name="s"), m.modes_step(2, preload="a")),
         'step "s" has moved the model since'),
        (lambda m: m.linear_static_step(report="all"), 'report = "all" must be one of "total", "increment"'),
    ],
)  # fmt: skip
def test_refused(steps, message):
    m = machine()
    m.steps.clear()
    with pytest.raises(ModelError, match=message):
        steps(m)
        solve(m)


def column(P: float, follower: bool, n: int = 10) -> Model:
    """A clamped column, pressed by P times its number; EI = 100 N m2, 1 m long."""
    m = Model(2)
    m.section("rod", "stiffness", EA=1e7, EI=100.0, GA=float("inf"), rhoA=1.0, rhoI=1e-6)
    m.line("a", (0, 0), (1, 0), n)
    m.beams("a", "a", "rod")
    m.fix("a:start")
    m.force("P", "a:end", (-P, 0.0), follower=follower)
    m.force("X", "a:end", (0, 1.0))
    m.sensor("u", "displacement", on="a:end")
    m.sensor("turn", "rotation", on="a:end")
    m.sensor("clamp", "reaction", on="a:start")
    m.static_step(4, vary=["P"], name="press")
    return m


@pytest.mark.parametrize("P", [50.0, 150.0, 800.0])
def test_a_push_across_a_column_under_a_following_load(P):
    """EI w'' = X (1 - x) + P (w1 - w - w1' (1 - x)): with k^2 = P / EI,  w1 = X (sin k - k cos k) / (k P),  the end's
    turn w1' = X (1 - cos k) / P; beyond the load at which the symmetric part of the stiffness is positive, too."""
    m = column(P, True, n=16)
    m.linear_static_step(loads=["X"], report="increment")
    m.linear_transient_step(4.0, 0.01, "late", loads=["X"], rule="newmark", report="increment") if P < 100 else None
    m.harmonic_step([1e-3], loads=["X"], name="slow")
    s = solve(m)
    k = np.sqrt(P / 100.0)
    w, turn = (np.sin(k) - k * np.cos(k)) / (k * P), (1.0 - np.cos(k)) / P
    assert s.steps[1].series["sensor/u"][-1][1] == pytest.approx(w, rel=1e-3)
    assert s.steps[1].series["sensor/turn"][-1][0] == pytest.approx(turn, rel=1e-3)
    # the clamp carries the push and what the turned load exerts across
    assert s.steps[1].series["sensor/clamp"][-1][1] == pytest.approx(-1.0 + P * turn, abs=2e-3)
    assert s.steps[1].series["sensor/clamp"][-1][2] == pytest.approx(-1.0 - P * w + P * turn, abs=2e-3)
    assert s.response("u").values[0] == pytest.approx(s.steps[1].series["sensor/u"][-1], rel=1e-4, abs=1e-12)
    assert "complex_modes" in s.steps[1].summary["warnings"][0]


@pytest.mark.parametrize("kind", ["revolute", "universal"])
def test_buckling_about_a_state_with_a_following_load_knows_no_direction(kind):
    """However the model stands in space, and whatever its joints leave independent there."""
    found = []
    for seed in (0, 1, 2):
        Q = turned(seed)
        m = Model(3)

        def at(*x, Q=Q):
            return tuple(Q @ np.array(x, float))

        m.material("steel", E=E, nu=0.3, density=7800)
        m.section("strip", "rectangle", width=0.012, height=0.01)
        m.line("a", at(0, 0, 0), at(1, 0, 0), 4)
        m.beams("a", "a", "strip", "steel", orientation=at(0, 1, 0))
        m.fix("a:start")
        turn = tuple(Rotation.from_matrix(Q).as_rotvec())
        m.body("c", at(1.1, 0.05, 0.02), 0.1, (1e-4,) * 3, rotation=turn)
        second = {"axis_b": at(0, 1, 0)} if kind == "universal" else {}
        m.joint("j", kind, "a:end", "c", point=at(1, 0, 0), axis=at(0, 0, 1), **second)
        m.bushing("pad", "c", "ground", [300] * 3 + [30] * 3, point=at(1.1, 0.05, 0.02), rotation=turn)
        m.force("F", "c", at(-50, 18, 15))
        m.force("G", "a:end", at(-30, 10, 15), follower=True)
        m.static_step(increments=4)
        m.buckling_step(3)
        summary = solve(m).steps[-1].summary
        assert max(summary["residuals"]) < 1e-8
        assert "flutter" in " ".join(summary["warnings"])
        found.append(summary["load_factors"])
    assert found[1] == pytest.approx(found[0], rel=1e-7)
    assert found[2] == pytest.approx(found[0], rel=1e-7)


def test_a_column_under_a_following_load_does_not_buckle():
    """Beck's column has no load of divergence that its mesh resolves; a dead load has Euler's."""
    m = column(1.0, False, n=16)
    m.buckling_step(2, loads=["P"], sign="positive")
    assert solve(m).steps[-1].summary["load_factors"][0] + 1.0 == pytest.approx(np.pi**2 / 4.0 * 100.0, rel=1e-4)
    m = column(1.0, True, n=16)
    m.buckling_step(2, loads=["P"], sign="positive")
    summary = solve(m).steps[-1].summary
    assert not [f for f in summary["load_factors"] if f < 1e4]
    assert "flutter" in " ".join(summary["warnings"])


def test_transients_about_a_state_with_a_following_load():
    """A small push on a column that a following load presses: rows are those of the nonlinear transient, forces too."""
    size, found = 1e-4, {}
    for last in ("linear", "nonlinear"):
        m = column(150.0, True, n=6)
        m.sensor("shear", "element", on="a", element=0, quantity="Q")
        if last == "linear":
            m.linear_transient_step(0.3, 1e-3, loads=["X"], rule="newmark", report="increment")
        else:
            m.force("small", "a:end", (0, size))
            m.reserved_loads = ["X"]
            m.transient_step(0.3, 1e-3, rule="newmark")
        found[last] = solve(m)
    linear, nonlinear = found["linear"], found["nonlinear"]
    for name in ("u", "turn", "clamp", "shear"):
        exact = (
            nonlinear.steps[1].series[f"sensor/{name}"][1:] - nonlinear.steps[0].series[f"sensor/{name}"][-1]
        ) / size
        error = np.abs(linear.steps[1].series[f"sensor/{name}"][1:] - exact).max(axis=0)
        assert (error < 2e-4 * np.abs(exact).max(axis=0).max()).all(), name
    assert linear.steps[1].summary["warnings"]


def test_bearings_with_unsymmetric_matrices():
    """Statics and a transient of a mass on a bearing against its 2 x 2 matrices."""
    S, D, load = np.array([[50.0, 20.0], [-10.0, 40.0]]), np.array([[1.0, 0.6], [-0.2, 0.8]]), np.array((1.0, 2.0))
    m = Model(2)
    m.body("b", (0.3, 0.1), mass=1.0, inertia=1.0)
    m.bearing("x", "b", stiffness=S, damping=D)
    m.fix("b", ["rotation"])
    m.force("f", "b", load)
    m.sensor("way", "displacement", on="b")
    for axis in "uv":
        m.sensor(axis, "element", on="x", element=0, quantity=f"force {axis}")
    m.linear_static_step()
    m.linear_transient_step(1.0, 5e-4)
    m.harmonic_step([1.0])
    s = solve(m)
    assert s.steps[0].series["sensor/way"][-1] == pytest.approx(np.linalg.solve(S, load), rel=1e-9)
    assert [s.steps[0].series[f"sensor/{axis}"][-1].item() for axis in "uv"] == pytest.approx(load, rel=1e-9)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-S, -D]])
    rest = np.concatenate((np.linalg.solve(S, load), np.zeros(2)))
    z = rest - scipy.linalg.expm(A) @ rest
    assert s.steps[1].series["sensor/way"][-1] == pytest.approx(z[:2], rel=1e-4)
    force = S @ z[:2] + D @ z[2:]
    assert [s.steps[1].series[f"sensor/{axis}"][-1].item() for axis in "uv"] == pytest.approx(force, rel=2e-4)
    w = 2.0 * np.pi
    u = np.linalg.solve(S + 1j * w * D - w * w * np.eye(2), load)
    assert s.response("way").values[0] == pytest.approx(u, rel=1e-9)


def test_shapes_without_displacements_stay_where_they_are():
    """A mode of other unknowns alone moves nothing, and divides nothing by its size."""
    m = Model(2)
    m.section("rope", "stiffness", EA=200.0, rhoA=0.01)
    m.line("rope", (0.0, 0.0), (1.0, 0.0), 2)
    m.trusses("rope", "rope", "rope")
    compiled = m.compile(False)
    linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
    still, moving = np.zeros(compiled.system.n_dof), np.zeros(compiled.system.n_dof)
    moving[0] = 7.0
    shapes = linear.reported.shapes(np.column_stack((still, moving)))
    assert (shapes["Q"][0] == linear.state.Q[0]).all() and (shapes["U"][0] == 0.0).all()
    assert shapes["U"][1, 0] == pytest.approx(0.1 * compiled.system.length)


@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_rotations_of_linear_steps_count_from_the_given_angle(angle):
    m = Model(2)
    m.body("b", (0.0, 0.0), 1.0, 1.0, angle=angle)
    m.joint("hinge", "revolute", "ground", "b", point=(0.0, 0.0))
    m.joint_spring("k", "hinge", 50.0)
    m.moment("M", "b", 2.0)
    m.linear_static_step()
    rotation = np.asarray(solve(m).steps[0].frames["rotation"])[-1]
    assert rotation[0] == pytest.approx([0.0, 0.0, 2.0 / 50.0], rel=1e-12)
