"""Joints between moving parts: what they keep exactly, what they take away, their drivers, springs and sensors."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs import run as run_to_folder
from fem_mbs.analysis.context import make_context
from fem_mbs.analysis.header import make_header
from fem_mbs.analysis.run import run_steps
from fem_mbs.analysis.solution import Solution
from fem_mbs.analysis.start.initial import started
from fem_mbs.analysis.start.mobility import mobility

#: kind, options, freedoms that the joint takes away
SPACE = [
    pytest.param("spherical", {}, 3, id="spherical"),
    pytest.param("weld", {}, 6, id="weld"),
    pytest.param("revolute", {"axis": (1, 2, 2)}, 5, id="revolute"),
    pytest.param("universal", {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}, 4, id="universal"),
    pytest.param("universal", {"axis": (1, 0, 0), "axis_b": (0.5, 1, 0.2)}, 4, id="universal-skew"),
    pytest.param("cylindrical", {"axis": (1, 2, 2)}, 4, id="cylindrical"),
    pytest.param("prismatic", {"axis": (1, 2, 2)}, 5, id="prismatic"),
    pytest.param("planar", {"axis": (1, 2, 2)}, 3, id="planar"),
    pytest.param("screw", {"axis": (1, 2, 2), "lead": 0.3}, 5, id="screw"),
    pytest.param("constant_velocity", {"axis": (1, 2, 2)}, 4, id="constant-velocity"),
    pytest.param("constant_velocity", {"axis": (1, 2, 2), "axis_b": (1, 1, 3)}, 4, id="constant-velocity-bent"),
    pytest.param("point_on_line", {"axis": (1, 2, 2)}, 2, id="point-on-line"),
    pytest.param("point_on_plane", {"axis": (1, 2, 2)}, 1, id="point-on-plane"),
    pytest.param("distance", {"point_b": (1.3, 0.9, 0.3)}, 1, id="distance"),
    pytest.param("point_on_curve", {"curve": "track"}, 2, id="point-on-curve"),
]
PLANE = [
    pytest.param("pin", {}, 2, id="pin"),
    pytest.param("weld", {}, 3, id="weld"),
    pytest.param("revolute", {}, 2, id="revolute"),
    pytest.param("prismatic", {"axis": (3, 4)}, 2, id="prismatic"),
    pytest.param("point_on_line", {"axis": (3, 4)}, 1, id="point-on-line"),
    pytest.param("distance", {"point_b": (1.3, 0.9)}, 1, id="distance"),
    pytest.param("point_on_curve", {"curve": "track"}, 1, id="point-on-curve"),
    pytest.param("curve_on_curve", {"curve": "ellipse", "curve_b": "wheel"}, 1, id="curve-on-curve"),
    pytest.param("cam", {"curve": "ellipse", "curve_b": "wheel"}, 1, id="cam"),
    pytest.param("rolling_curves", {"curve": "ellipse", "curve_b": "wheel"}, 2, id="rolling-curves"),
]
#: Closed curves through the point of the joints.
CURVES = {
    2: {
        "track": {"x": "0.3 + 0.3*cos(t)", "y": "0.2 + 0.2*sin(t)"},
        "ellipse": {"x": "0.3 + 0.3*cos(t)", "y": "0.2 + 0.4*sin(t)"},
        "wheel": {"x": "1.2 + 0.6*cos(t)", "y": "0.2 + 0.5*sin(t)"},
    },
    3: {"track": {"x": "0.3 + 0.3*cos(t)", "y": "0.2 + 0.2*sin(t)", "z": "0.1 + 0.1*sin(2*t)"}},
}
#: Places along curves, which are unknowns of the joints.
OWN = {"point_on_curve": 1, "curve_on_curve": 2, "cam": 2, "rolling_curves": 2}
POINT = {2: (0.6, 0.2), 3: (0.6, 0.2, 0.1)}


def pair(kind, options, dimension=3, ground=False, moving=True):
    """Two bodies, turned at the start and free (or one on the ground), with a joint "link" between them."""
    m = Model(dimension)
    if dimension == 3:
        if not ground:
            m.body("a", (0.1, -0.2, 0.3), 2.0, (0.3, 0.4, 0.5), rotation=(0.4, -0.7, 0.2))
        m.body("b", (1.2, 0.4, -0.1), 1.5, (0.2, 0.3, 0.25), rotation=(-0.3, 0.5, 1.1))
        velocity = {"a": (0.3, -0.2, 0.5), "b": (-0.1, 0.4, 0.2)}
        spin = {"a": (1.0, 2.0, -0.5), "b": (-0.7, 1.5, 0.8)}
    else:
        if not ground:
            m.body("a", (0.1, -0.2), 2.0, 0.3, angle=0.4)
        m.body("b", (1.2, 0.4), 1.5, 0.2, angle=-0.9)
        velocity, spin = {"a": (0.3, -0.2), "b": (-0.1, 0.4)}, {"a": 1.3, "b": -0.8}
    for name, given in CURVES[dimension].items():
        if name in options.values():
            m.curve(name, **given, range=(0.0, 2.0 * np.pi), closed=True)
    m.joint("link", kind, "ground" if ground else "a", "b", point=POINT[dimension], **options)
    for name in m.bodies if moving else ():
        m.initial(name, velocity=velocity[name], spin=spin[name])
    return m


def run(model):
    """Solution, and the largest error of a constraint at the end [m] or [rad]."""
    solution = Solution()
    context = make_context(model, solution)
    solution.compiled = context.compiled
    run_steps(context)
    t = np.float64(solution.steps[-1].time[-1])
    values = np.array([f(t) for f in context.compiled.functions])
    state = context.state
    for a in (state.Q, state.D):
        a[1] = a[0]
    state.U[:] = 0
    errors = started(context.compiled, state, values).gaps
    return solution, np.abs(errors).max()


def closed(step):
    """The energy ledger closes to round-off."""
    scale = np.abs(step.series["ledger"][:, :6]).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * scale


def change(values):
    """Largest change of a vector (n, k) over its size."""
    return np.abs(values - values[0]).max() / np.abs(values).max()


# --- ideal joints ----------------------------------------------------------------------------------------------------
def conserve(m, ground, duration=20.0):
    m.transient_step(duration, 0.02, frames=0)
    solution, error = run(m)
    step = solution.steps[0]
    assert len(step.time) == round(duration / 0.02) + 1
    assert change(step.series["ledger"][:, :3].sum(axis=1)) < 1e-10
    if not ground:
        assert change(step.series["linear momentum"]) < 1e-10
        assert change(step.series["angular momentum"]) < 1e-10
    assert error < 1e-12
    assert np.ptp(solution.steps[0].series["ledger"][:, 0]) < 1e-9  # free flight: nothing but kinetic energy


@pytest.mark.parametrize("ground", [False, True])
@pytest.mark.parametrize(("kind", "options", "taken"), SPACE)
def test_joint_in_space_conserves(kind, options, taken, ground):
    if kind == "weld" and ground:
        return  # nothing moves
    # free shafts of a constant-velocity joint soon bend by half a turn, where it ends
    conserve(pair(kind, options, 3, ground), ground, 1.0 if kind == "constant_velocity" else 20.0)


@pytest.mark.parametrize("ground", [False, True])
@pytest.mark.parametrize(("kind", "options", "taken"), PLANE)
def test_joint_in_the_plane_conserves(kind, options, taken, ground):
    if kind == "weld" and ground:
        return
    conserve(pair(kind, options, 2, ground), ground)


def count(m):
    m.elimination = False
    m.transient_step(1.0, 0.1)
    compiled = m.compile()
    return mobility(compiled, compiled.system.initial_state())


@pytest.mark.parametrize(("kind", "options", "taken"), SPACE)
def test_freedoms_in_space(kind, options, taken):
    m = count(pair(kind, options))
    assert (m.multipliers - OWN.get(kind, 0), m.redundant, m.strain_free) == (taken, 0, 12 - taken)


@pytest.mark.parametrize(("kind", "options", "taken"), PLANE)
def test_freedoms_in_the_plane(kind, options, taken):
    m = count(pair(kind, options, 2))
    assert (m.multipliers - OWN.get(kind, 0), m.redundant, m.strain_free) == (taken, 0, 6 - taken)


def test_static_step_and_newmark_know_the_joints():
    """A pendulum on a revolute joint hangs at rest, and swings by Newmark's rule without opening the joint."""
    m = Model(3, gravity=(0, 0, -9.81))
    m.body("bob", (0.3, 0.0, -0.4), 2.0, (0.1, 0.1, 0.1))
    m.joint("hip", "revolute", "ground", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    m.joint_spring("k", "hip", 50.0, damping=0.5)
    m.sensor("phi", "joint", on="hip")
    m.static_step()
    m.transient_step(1.0, 0.01, rule="newmark")
    solution, error = run(m)
    phi = solution.steps[0].series["sensor/phi"][-1, 0]
    # moment about +y of a weight at (x, z): x m g
    x = 0.3 * np.cos(phi) - 0.4 * np.sin(phi)
    assert 50.0 * phi == pytest.approx(2.0 * 9.81 * x, rel=1e-9)
    assert np.abs(solution.steps[-1].series["sensor/phi"] - phi).max() < 1e-9
    assert error < 1e-12


# --- drivers ---------------------------------------------------------------------------------------------------------
def test_driven_revolute_over_many_turns():
    """Two free bodies turned against each other by 30 rad: the angle is f(t), the works close, the momenta stay."""
    m = pair("revolute", {"axis": (1, 2, 2), "function": "2.2*t + 0.4*sin(2*t) + 0.1*t**2"})
    m.sensor("phi", "joint", on="link")
    m.sensor("M", "joint", on="link", quantity="drive moment")
    m.sensor("R", "reaction", on="link")
    m.transient_step(8.0, 0.02, frames=0)
    m.transient_step(4.0, 0.01, frames=0)  # turns count on
    solution, error = run(m)
    angle = lambda t: 2.2 * t + 0.4 * np.sin(2 * t) + 0.1 * t**2  # noqa: E731
    for i, step in enumerate(solution.steps):
        np.testing.assert_allclose(solution.step_at(i).series["sensor/phi"][:, 0], angle(step.time), rtol=0, atol=1e-12)
        closed(step)
    assert angle(12.0) > 6 * 2 * np.pi
    assert error < 1e-12
    step = solution.steps[0]
    assert change(step.series["linear momentum"]) < 1e-10
    assert change(step.series["angular momentum"]) < 1e-10
    power = solution.steps[0].series["sensor/M"][1:, 0] * np.diff(angle(step.time))
    assert power.sum() == pytest.approx(step.ledger("driver work")[-1], rel=1e-10)
    assert [c.partition(".")[2] for c in m.compile().sensors[2].columns] == [
        *("force x", "force y", "force z", "moment x", "moment y", "moment z"),
    ]


def test_driven_cylindrical_is_a_screw():
    """Angle and displacement of two free bodies driven together: both follow, the works of both drivers add up."""
    m = pair("cylindrical", {"axis": (1, 2, 2), "function": "4*t", "displacement": "0.3*sin(3*t)"})
    m.sensor("phi", "joint", on="link", quantity="angle")
    m.sensor("s", "joint", on="link", quantity="displacement")
    m.sensor("F", "joint", on="link", quantity="drive force")
    m.sensor("M", "joint", on="link", quantity="drive moment")
    m.transient_step(8.0, 0.02, frames=0)
    solution, error = run(m)
    step = solution.steps[0]
    np.testing.assert_allclose(solution.sensor("phi").values[:, 0], 4 * step.time, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.sensor("s").values[:, 0], 0.3 * np.sin(3 * step.time), rtol=0, atol=1e-12)
    closed(step)
    assert error < 1e-12
    work = solution.steps[-1].series["sensor/F"][1:, 0] @ np.diff(0.3 * np.sin(3 * step.time))
    work += solution.steps[-1].series["sensor/M"][1:, 0] @ np.diff(4 * step.time)
    assert work == pytest.approx(step.ledger("driver work")[-1], rel=1e-10)
    assert change(step.series["angular momentum"]) < 1e-10


@pytest.mark.parametrize("dimension", [2, 3])
def test_driven_prismatic_chain(dimension):
    """A telescope of two driven slides on a driven turning base: the tip is where the functions say."""
    m = Model(dimension)
    pad = (0,) * (dimension - 2)
    for i in range(3):
        inertia = 0.1 if dimension == 2 else (0.1, 0.2, 0.3)
        m.body(f"tube {i}", (0.5 * i, 0.0, *pad), 1.0, inertia)
    axis = {} if dimension == 2 else {"axis": (0, 0, 1)}
    m.joint("base", "revolute", "ground", "tube 0", point=(0, 0, *pad), function="2.5*t", **axis)
    for i in range(2):
        f = ("0.4*sin(2*t)", "0.3*t")[i]
        m.joint(f"slide {i}", "prismatic", f"tube {i}", f"tube {i + 1}", (0.5, 0.2, *pad), (1, 0, *pad), f)
        m.sensor(f"s{i}", "joint", on=f"slide {i}")
    m.sensor("phi", "joint", on="base")
    m.sensor("tip", "position", on="tube 2")
    m.transient_step(6.0, 0.02, frames=0)
    solution, error = run(m)
    t = solution.steps[0].time
    phi, r = 2.5 * t, 1.0 + 0.4 * np.sin(2 * t) + 0.3 * t
    np.testing.assert_allclose(solution.sensor("phi").values[:, 0], phi, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.steps[-1].series["sensor/s0"][:, 0], 0.4 * np.sin(2 * t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.steps[-1].series["sensor/s1"][:, 0], 0.3 * t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.sensor("tip").values[:, 0], r * np.cos(phi), rtol=0, atol=3e-12)
    np.testing.assert_allclose(solution.sensor("tip").values[:, 1], r * np.sin(phi), rtol=0, atol=3e-12)
    closed(solution.steps[0])
    assert error < 1e-12


def test_driven_universal_shaft():
    """Two shafts at 40 degrees: the second leads and lags as tan(phi_2) = tan(phi_1) cos(beta), over many turns."""
    beta = np.radians(40.0)
    out = (np.cos(beta), np.sin(beta), 0.0)
    m = Model(3)
    m.body("in", (-0.5, 0, 0), 1.0, (0.1, 0.2, 0.2))
    m.body("out", (0.5 * out[0], 0.5 * out[1], 0), 1.0, (0.1, 0.2, 0.2))
    m.joint("motor", "revolute", "ground", "in", point=(-1, 0, 0), axis=(1, 0, 0), function="5*t")
    # the yoke of the first shaft lies across the plane of the shafts, that of the second in it
    yoke = np.array((-np.sin(beta), np.cos(beta), 0))
    m.joint("cross", "universal", "in", "out", (0, 0, 0), (0, 0, 1), axis_b=yoke)
    m.joint("bearing", "slider", "out", point=out, axis=out)  # it holds what the other joints do not
    m.sensor("end", "position", on="out", point=out)
    m.sensor("yoke", "position", on="out", point=out + yoke)
    m.sensor("bend", "joint", on="cross", quantity="angle")
    m.sensor("bend_b", "joint", on="cross", quantity="angle_b")
    m.transient_step(6.0, 0.01, frames=0)
    solution, error = run(m)
    a = 5 * solution.steps[0].time
    arm = solution.sensor("yoke").values - solution.sensor("end").values
    b = np.unwrap(np.arctan2(arm[:, 2], arm @ yoke))
    assert b[-1] > 4 * 2 * np.pi
    np.testing.assert_allclose(np.sin(b) * np.cos(a), np.sin(a) * np.cos(b) * np.cos(beta), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.sensor("end").values, np.tile(out, (len(a), 1)), rtol=0, atol=1e-12)
    for name in ("bend", "bend_b"):  # a bend of the joint goes to and fro between twice the angle of the shafts
        assert np.abs(solution.steps[-1].series[f"sensor/{name}"]).max() < 2 * beta + 1e-9
    assert np.ptp(solution.sensor("bend").values) == pytest.approx(2 * beta, rel=1e-3)
    closed(solution.steps[0])
    assert error < 1e-12


def test_newmark_follows_a_driver_over_many_turns():
    m = pair("revolute", {"axis": (1, 2, 2), "function": "3*t"})
    m.sensor("phi", "joint", on="link")
    m.transient_step(5.0, 0.01, frames=0, rule="newmark")
    solution, error = run(m)
    np.testing.assert_allclose(solution.sensor("phi").values[:, 0], 3 * solution.steps[0].time, rtol=0, atol=1e-11)
    assert error < 1e-12


def test_drive_moment_in_the_plane():
    """A wheel is spun up by its motor: drive moment = J times its angular acceleration, work = kinetic energy."""
    m = Model(2)
    m.body("wheel", (0, 0), 1.0, 0.7)
    m.joint("axle", "revolute", "ground", "wheel", point=(0, 0), function="1.5*t**2")
    m.sensor("M", "joint", on="axle", quantity="drive moment")
    m.sensor("R", "reaction", on="axle")
    m.transient_step(5.0, 0.001, frames=0)
    solution, _ = run(m)
    np.testing.assert_allclose(solution.steps[-1].series["sensor/M"][1:, 0], 0.7 * 3.0, rtol=1e-3)
    np.testing.assert_allclose(solution.steps[-1].series["sensor/R"][1:, 2], -0.7 * 3.0, rtol=1e-3)
    assert solution.steps[0].ledger("driver work")[-1] == pytest.approx(0.35 * 15.0**2, rel=1e-3)
    closed(solution.steps[0])


def test_restart_remembers_turns(tmp_path):
    """A run continued after three turns of a driven joint and of a measured one gives the same bits."""

    def model():
        m = pair("cylindrical", {"axis": (1, 2, 2), "function": "9*t"})
        m.joint_spring("k", "link", 0.2)
        m.sensor("phi", "joint", on="link")
        m.sensor("s", "joint", on="link", quantity="displacement")
        m.transient_step(4.0, 0.02, frames=0, restarts=3)
        return m

    whole = run_to_folder(model(), tmp_path)
    first = {name: whole.sensor(name).values.copy() for name in ("phi", "s")}
    again = run_to_folder(model(), tmp_path, restart=1)
    for name, values in first.items():
        np.testing.assert_array_equal(values, again.sensor(name).values)
    np.testing.assert_allclose(first["phi"][-1], 36.0, rtol=0, atol=1e-12)


# --- springs ---------------------------------------------------------------------------------------------------------
def test_rotor_on_a_torsion_spring_turns_more_than_ten_times():
    """A rotor on its axle winds up a spring of the joint: phi = w/n sin(n t), here 14 turns to either side."""
    J, k, w = 0.5, 0.02, 18.0
    n = np.sqrt(k / J)
    m = Model(3)
    m.body("rotor", (0, 0, 0), 3.0, (0.4, 0.3, J))
    m.joint("axle", "revolute", "ground", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    m.joint_spring("spiral", "axle", k)
    m.initial_speed("rotor", "rotation", w, axis=(0, 0, 1))
    m.sensor("phi", "joint", on="axle")
    m.transient_step(40.0, 0.005, frames=0)
    solution, _ = run(m)
    step = solution.steps[0]
    phi = solution.sensor("phi").values[:, 0]
    assert phi.max() > 10 * 2 * np.pi
    assert phi.min() < -10 * 2 * np.pi
    np.testing.assert_allclose(phi, w / n * np.sin(n * step.time), rtol=0, atol=0.25)  # a step turns 2 atan(h w/2)
    np.testing.assert_allclose(step.ledger("strain"), k / 2 * phi**2, rtol=1e-12, atol=1e-12)
    closed(step)


def test_start_with_a_loaded_spring_that_a_mechanism_sees_as_negative_stiffness():
    """There are no least strain rates then: the start is the projection, which the driver decides here."""

    def model():
        m = Model(3)
        m.body("a", (0, 0, 0), 1.0, (1, 1, 1))
        m.body("b", (1, 0, 0), 1.0, (1, 1, 1))
        m.joint("hip", "universal", "ground", "a", point=(-1, 0, 0), axis=(0, 1, 0), axis_b=(0, 0, 1))
        m.joint("axle", "revolute", "a", "b", point=(0.5, 0, 0), axis=(1, 0, 0), function="2*t")
        m.joint_spring("k", "hip", 3.0, free=0.2, coordinate="angle_b")
        m.transient_step(1.0, 0.01, frames=0)
        return m

    solution = solve(model())
    assert solution.steps[0].summary["start"]["method"] == "projection"
    closed(solution.steps[0])
    m = model()
    m.initial(method="strain-free")
    with pytest.raises(ModelError, match="finds no least strain rates"):
        solve(m)


def test_springs_on_all_coordinates_conserve():
    """Bodies on a cylindrical joint with springs on both coordinates: energy and momenta stay; dampers only lose."""
    for damping in (0.0, 0.3):
        m = pair("cylindrical", {"axis": (1, 2, 2)})
        m.joint_spring("turn", "link", 3.0, damping=damping, free=0.5)
        m.joint_spring("slide", "link", 40.0, damping=damping, free=-0.1, coordinate="displacement")
        m.transient_step(20.0, 0.02, frames=0)
        solution, error = run(m)
        step = solution.steps[0]
        energy = step.series["ledger"][:, :3].sum(axis=1)
        assert change(energy + step.ledger("dissipated")) < 1e-10
        assert np.ptp(step.ledger("strain")) > 0.1
        assert change(step.series["linear momentum"]) < 1e-10
        assert change(step.series["angular momentum"]) < 1e-10
        assert np.all(np.diff(step.ledger("dissipated")) >= 0)
        assert error < 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
def test_spring_on_a_slide(dimension):
    """A mass on a sloping slide hangs from the joint's spring: elongation m g sin(slope)/k, reaction across."""
    pad = (0,) * (dimension - 2)
    m = Model(dimension, gravity=(0, -9.81, *pad))
    m.body("cart", (1, 1, *pad), 2.0, 0.1 if dimension == 2 else (0.1, 0.1, 0.1))
    m.joint("rail", "prismatic", "ground", "cart", point=(1, 1, *pad), axis=(4, 3, *pad))
    m.joint_spring("k", "rail", 500.0)
    m.sensor("s", "joint", on="rail")
    m.sensor("R", "reaction", on="rail")
    m.static_step()
    solution = solve(m)
    assert solution.sensor("s").values[-1, 0] == pytest.approx(-2 * 9.81 * 0.6 / 500, rel=1e-10)
    # on end a, the ground: the weight's share across the rail, at the joint's point
    across = 2 * 9.81 * 0.8
    values = dict(zip(solution.compiled.sensors[1].columns, solution.steps[-1].series["sensor/R"][-1], strict=True))
    assert values["R.force x"] == pytest.approx(0.6 * across, rel=1e-10)
    assert values["R.force y"] == pytest.approx(-0.8 * across, rel=1e-10)
    s = solution.sensor("s").values[-1, 0]
    moment = values["R.moment" if dimension == 2 else "R.moment z"]
    assert moment == pytest.approx(-s * across, rel=1e-9)


def test_flexible_parts_have_joints_too():
    """A plane beam that slides on a turning one: energy is kept, and both ends of the slide are nodes of beams."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e4, EI=5.0, rhoA=1.0, rhoI=1e-3)
    m.line("arm", (0, 0), (1, 0), 3)
    m.line("rod", (1, 0), (2, 0), 3)
    m.beams("arm", "arm", "s")
    m.beams("rod", "rod", "s")
    m.joint("axle", "revolute", "ground", "arm:start")
    m.joint("slide", "prismatic", "arm:end", "rod:start", axis=(1, 0))
    m.joint_spring("k", "slide", 20.0)
    m.initial_speed("arm:start", "rotation", 2.0)
    m.sensor("s", "joint", on="slide")
    m.sensor("phi", "joint", on="axle")
    m.transient_step(5.0, 0.005, frames=0)
    solution, error = run(m)
    closed(solution.steps[0])
    assert solution.sensor("s").values.max() > 0.2
    assert solution.sensor("phi").values[-1, 0] > 2.0
    assert error < 1e-12


# --- model file, names, figures, messages -----------------------------------------------------------------------------
MODEL = """
dimension = 3

[function.turn]
kind = "expression"
expression = "2*t"

[[body]]
name = "a"
position = [0, 0, 0]
mass = 1
inertia = [1, 1, 1]

[[body]]
name = "b"
position = [1, 0, 0]
mass = 1
inertia = [1, 1, 1]

[[joint]]
name = "hip"
type = "universal"
a = "ground"
b = "a"
point = [-1, 0, 0]
axis = [0, 1, 0]
axis_b = [0, 0, 1]

[[joint]]
name = "screw"
type = "cylindrical"
a = "a"
b = "b"
point = [0.5, 0, 0]
axis = [1, 0, 0]
function = "turn"
displacement = "0.1*sin(t)"

[[joint_spring]]
joint = "hip"
stiffness = 3
damping = 0.1
free = 0.2
coordinate = "angle_b"

[[sensor]]
name = "bend"
kind = "joint"
on = "hip"

[[sensor]]
name = "M"
kind = "joint"
on = "screw"
quantity = "drive moment"

[[step]]
type = "transient"
duration = 1.0
h = 0.01
"""


def test_model_file(tmp_path):
    """The file gives what the calls give."""
    path = tmp_path / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    m = Model(3)
    m.function("turn", {"kind": "expression", "expression": "2*t"})
    m.body("a", (0, 0, 0), 1, (1, 1, 1))
    m.body("b", (1, 0, 0), 1, (1, 1, 1))
    m.joint("hip", "universal", "ground", "a", (-1, 0, 0), (0, 1, 0), axis_b=(0, 0, 1))
    m.joint("screw", "cylindrical", "a", "b", (0.5, 0, 0), (1, 0, 0), "turn", "0.1*sin(t)")
    m.joint_spring("joint_spring 1", "hip", 3, damping=0.1, free=0.2, coordinate="angle_b")
    m.sensor("bend", "joint", on="hip")
    m.sensor("M", "joint", on="screw", quantity="drive moment")
    m.transient_step(1.0, 0.01)
    ours, theirs = solve(m), solve(load_model(path))
    for name, values in ours.steps[0].series.items():
        np.testing.assert_array_equal(values, theirs.steps[0].series[name], err_msg=name)
    assert np.abs(ours.steps[-1].series["sensor/M"][1:]).max() > 0.01


def test_one_symbol_for_a_joint():
    m = pair("cylindrical", {"axis": (1, 2, 2), "function": "t", "displacement": "0"})
    m.joint("hold", "revolute", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1))
    m.joint("tip", "weld", "b", point=(2, 0, 0))
    m.transient_step(1.0, 0.1)
    header = make_header(m.compile())
    assert {j["name"]: j["type"] for j in header["joints"]} == {
        "link": "cylindrical",
        "hold": "revolute",
        "tip": "weld",
    }
    assert len(header["joints"]) == 3
    assert sorted(s["name"] for s in header["supports"]) == ["hold", "tip"]


def test_open_joint_is_refused():
    """A driver that starts elsewhere leaves the joint open; the message names the joint, whatever it is made of."""
    for kind, unit in (("revolute", "rad"), ("prismatic", "m")):
        m = pair(kind, {"axis": (1, 2, 2), "function": "0.3 + t"})
        m.transient_step(1.0, 0.1)
        with pytest.raises(ModelError, match=f'Joint "link": it is open by 0.3 {unit} at the start'):
            solve(m)


def add(*args, dimension=3, **options):
    """What a joint (or, with `spring`, `sensor`, what works on it) says to wrong input."""
    m = Model(dimension)
    pad = (0,) * (dimension - 2)
    for name, x in (("a", 0.0), ("b", 1.0)):
        m.body(name, (x, 0, *pad), 1.0, 1.0 if dimension == 2 else (1, 1, 1))
    m.joint("hip", *args, **{"point": (0.5, 0, *pad), **options})
    return m


WRONG = [
    (("revolute", "a", "b"), {}, "in space it needs its axis; add axis"),
    (("prismatic", "a", "b"), {"dimension": 2}, "it needs its axis; add axis"),
    (("cylindrical", "a", "b"), {"axis": (0, 0, 0)}, r"axis \(0.0, 0.0, 0.0\) has no length"),
    (("planar", "a", "b"), {"axis": (0, 1)}, r"axis = \[0, 1\] must be 3 finite numbers"),
    (("universal", "a", "b"), {"axis": (1, 0, 0)}, "it needs its axis_b; add axis_b"),
    (("universal", "a", "b"), {"axis": (1, 0, 0), "axis_b": (-2, 0, 0)}, "axis and axis_b are parallel"),
    (("universal", "a", "b"), {"axis": (1, 0, 0), "axis_b": (0, 1, 0), "function": "t"}, "has no function; remove it"),
    (("revolute", "a", "b"), {"axis": (1, 0, 0), "displacement": "t"}, "has no displacement; remove it"),
    (("spherical", "a", "b"), {"point": (1, 0, 0), "axis_b": (1, 0, 0)}, "has no axis_b; remove it"),
    (("revolute", "a", "a"), {"axis": (1, 0, 0)}, 'both ends are "a"; join two different places'),
    (("prismatic", "ground", "ground"), {"axis": (1, 0, 0)}, 'both ends are "ground"'),
    (("angle", "a", "a"), {"axis": (1, 0, 0), "function": "t", "point": None}, 'both ends are "a"'),
    (("revolute", "a", "b"), {"axis": (1, 0, 0), "point": None}, "say where the joint is with point"),
    (("revolut", "a", "b"), {"axis": (1, 0, 0)}, 'did you mean "revolute"'),
    (("universal", "a", "b"), {"dimension": 2, "axis": (1, 0)}, 'a "universal" joint is one of space'),
    (("revolute", "a", "b"), {"dimension": 2, "axis": (1, 0)}, 'a "revolute" joint has no axis; remove it'),
    (("revolute", "a", "c"), {"axis": (1, 0, 0)}, 'no body, node or mesh "c"'),
]


@pytest.mark.parametrize(("args", "options", "message"), WRONG)
def test_wrong_joint(args, options, message):
    with pytest.raises(ModelError, match=f'^Joint "hip": .*{message}'):
        add(*args, **options)


def test_wrong_springs_and_sensors():
    def model():
        return add("cylindrical", "a", "b", axis=(1, 0, 0))

    for call, message in (
        (lambda m: m.joint_spring("k", "hop", 1.0), 'Joint spring "k": no joint "hop"; did you mean "hip"'),
        (lambda m: m.joint_spring("k", "hip", -1.0), "stiffness = -1.0 must be a finite number of at least 0"),
        (lambda m: m.joint_spring("k", "hip", 1.0, coordinate="slide"), '"slide"|\'slide\'; "hip" has angle, displace'),
        (lambda m: m.sensor("s", "joint", on="hop"), 'Sensor "s": no joint "hop"'),
        (lambda m: m.sensor("s", "joint"), '"on" is missing'),
        (
            lambda m: m.sensor("s", "joint", on="hip", quantity="speed"),
            'quantity = "speed"; "hip" has angle, displacement, drive moment, drive force; .*kind "reaction"',
        ),
    ):
        with pytest.raises(ModelError, match=message):
            call(model())
    m = add("spherical", "a", "b")
    with pytest.raises(ModelError, match='a "spherical" joint like "hip" has no coordinate'):
        m.joint_spring("k", "hip", 1.0)
    m = model()
    m.sensor("M", "joint", on="hip", quantity="drive moment")
    m.transient_step(1.0, 0.1)
    with pytest.raises(ModelError, match='"hip" has no drive moment'):
        m.compile()


def test_a_node_without_rotation_has_no_axis():
    m = Model(3)
    m.material("steel", E=2e11, density=7800.0)
    m.section("r", "circle", diameter=0.01)
    m.line("bar", (0, 0, 0), (1, 0, 0), 1)
    m.trusses("bar", "bar", "r", "steel")
    m.joint("hip", "revolute", "ground", "bar:start", axis=(0, 0, 1))
    m.transient_step(1.0, 0.1)
    with pytest.raises(ModelError, match=r'Joint "hip": node ".*" has no rotation'):
        m.compile()


def test_speed_of_a_driven_joint():
    """A joint driven at a speed turns as one whose function is that times t; it starts with it."""
    found = []
    for given in ({"speed": 30.0}, {"function": "30*t"}):
        m = Model(2)
        m.body("crank", (0.2, 0.0), mass=1.0, inertia=0.1)
        m.joint("axle", "revolute", "ground", "crank", point=(0.0, 0.0), **given)
        m.sensor("angle", "joint", on="axle")
        m.transient_step(0.1, 0.01, frames=0)
        found.append(solve(m).steps[-1].series["sensor/angle"])
    np.testing.assert_allclose(*found, rtol=1e-13, atol=1e-15)
    assert found[0][-1] == pytest.approx(3.0)


def test_speed_where_it_makes_no_sense():
    m = Model(2)
    m.body("crank", (0.2, 0.0), mass=1.0, inertia=0.1)
    with pytest.raises(ModelError, match="function and speed both"):
        m.joint("a", "revolute", "ground", "crank", point=(0.0, 0.0), speed=1.0, function="t")
    with pytest.raises(ModelError, match="has no speed"):
        m.joint("b", "weld", "ground", "crank", point=(0.0, 0.0), speed=1.0)
    with pytest.raises(ModelError, match="speed"):
        m.joint("c", "revolute", "ground", "crank", point=(0.0, 0.0), speed="fast")


def test_axes_of_a_body_are_turned_by_the_key_of_its_dimension():
    """The other key was left aside without a word."""
    with pytest.raises(ModelError, match='Body "a": rotation is for space; give angle'):
        Model(2).body("a", (0.0, 0.0), 1.0, 1.0, rotation=0.3)
    with pytest.raises(ModelError, match='Body "a": angle is for the plane; give rotation'):
        Model(3).body("a", (0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0), angle=0.3)
    Model(2).body("a", (0.0, 0.0), 1.0, 1.0, angle=0.3)
    Model(3).body("a", (0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0), rotation=(0.0, 0.0, 0.3))
