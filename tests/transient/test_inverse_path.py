"""Efforts for a given path: the round trip through a forward run of another model, minimum phase, and bad input."""

import shutil

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.special import betainc

from fem_mbs import Model, reduce_part, run, solve
from fem_mbs.errors import ModelError
from fem_mbs.system.dense import DenseAssembly, DenseTangents, states_of
from fem_mbs.system.states import director_velocities, instant, moved
from fem_mbs.system.tangent import Level, Tangent

T, H = 0.25, 2.5e-3
PATH = f"0.01*(t/{T}-sin(2*pi*t/{T})/(2*pi))"


def link(function=None) -> Model:
    """A slender link with a mass at its tip and a torque at its hub."""
    m = Model(2, "link")
    m.section("link", "stiffness", EA=4e6, EI=33.3333, rhoA=0.2715, rhoI=0.0)
    m.line("link", (0.0, 0.0), (1.0, 0.0), 2)
    m.beams("link", "link", "link")
    m.joint("hub", "revolute", "ground", "link:start", point=(0.0, 0.0), function=function)
    m.point_mass("tip", "link:end", 0.1)
    m.sensor("tip", "displacement", on="link:end")
    m.sensor("turn", "rotation", on="link:start")
    return m


def test_forward_run_of_the_efforts_follows_the_path():
    m = link()
    m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"])
    found = solve(m)
    report = found.steps[-1].report
    assert not report.minimum_phase and report.growing_zeros > 0
    # closed form: 2 g^2 sqrt(EI/rho A)/L^2, tan g = -tanh g; two elements are 0.7 % off
    assert report.slowest_growing_zero == pytest.approx(123.9522, rel=1e-2)
    drives = found.drives()
    before = drives.t < report.path_start - 1e-9
    assert np.abs(drives.values[before]).max() > 0.05 * np.abs(drives.values).max()
    assert max(report.left_at_ends) < 1e-2
    forward = link()
    table = {"kind": "spline", "times": drives.t, "values": drives.values[:, 0]}
    forward.motor("torque", joint="hub", force=table)
    forward.transient_step(report.t_end, H)
    tip = solve(forward).steps[-1].series["sensor/tip"][:, 1]
    s = np.clip(drives.t - report.path_start, 0.0, T)
    path = 0.01 * (s / T - np.sin(2.0 * np.pi * s / T) / (2.0 * np.pi))
    assert np.abs(tip - path).max() < 1e-6  # tolerance 1e-4 of 0.01 m
    assert np.abs(tip - path).max() == pytest.approx(report.path_errors[0], rel=1e-3)


@pytest.mark.long
def test_collocated_output_is_the_causal_solution():
    """Against the driver of the joint that has the output (`inverse` step), by second order in h."""
    off = []
    for h in (2.0 * H, H):
        m = link()
        m.inverse_path_step(T, h, outputs={"turn": PATH}, efforts=["hub"], frames=0)
        found = solve(m)
        report, efforts = found.steps[-1].report, found.drives()
        # ten steps before the path belong to the differences and splines of its kink
        assert report.minimum_phase and report.pre_action == pytest.approx(10.0 * h)
        assert report.forward_runs == 1 and report.path_errors[0] < 1e-6
        driven = link(function=f"({PATH})*(t < {T}) + 0.01*(t >= {T})")
        driven.inverse_step(T, h, frames=0)
        causal = solve(driven).drives()  # in the middle of steps
        inside = (causal.t > 0.1 * T) & (causal.t < 0.9 * T)
        mine = CubicSpline(efforts.t, efforts.values[:, 0])(causal.t + report.path_start)
        off.append(np.abs(mine - causal.values[:, 0])[inside].max() / np.abs(causal.values).max())
    assert off[1] < 5e-4 and 3.0 < off[0] / off[1] < 5.0


def crane(gravity: float = 9.81) -> Model:
    """A carriage on a rail with a bob that swings below it, without damping."""
    m = Model(2, "crane", gravity=(0.0, -gravity))
    m.body("carriage", (0.0, 0.0), 5.0, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.body("bob", (0.0, -1.0), 2.0, 0.0)
    m.joint("hinge", "revolute", "carriage", "bob", point=(0.0, 0.0))
    m.sensor("carriage", "position", on="carriage")
    m.sensor("bob", "position", on="bob")
    return m


#: From rest to rest over s = 0 ... 1, with four continuous derivatives.
LAW = 0.5 * Polynomial([0.0] * 5 + [126.0, -420.0, 540.0, -315.0, 70.0])


def _text(duration: float) -> str:
    s = f"(t/{duration})"
    return f"0.5*{s}**5*(126 - 420*{s} + 540*{s}**2 - 315*{s}**3 + 70*{s}**4)"


def test_undamped_zeros_are_causal():
    """The carriage follows a path, the bob swings and goes on: scipy's solution of l q'' = -g sin q - x'' cos q."""
    duration, h = 1.0, 0.02
    m = crane()
    m.inverse_path_step(duration, h, outputs={"carriage.x": _text(duration)}, efforts=["rail"], after=0.5, frames=0)
    found = solve(m)
    report, drives = found.steps[-1].report, found.drives()
    assert report.minimum_phase and report.forward_runs == 1 and max(report.errors) < 1e-4
    assert report.zeros[0] == pytest.approx([0.0, np.sqrt(9.81)], abs=1e-9)

    def path(t, order):
        return np.where(
            (t > 0.0) & (t < duration), LAW.deriv(order)(np.clip(t / duration, 0.0, 1.0)) / duration**order, 0.0
        )

    def rates(t, y):
        return [y[1], -9.81 * np.sin(y[0]) - path(t, 2) * np.cos(y[0])]

    t = np.clip(drives.t - report.path_start, 0.0, None)
    swing = solve_ivp(rates, (0.0, t[-1]), [0.0, 0.0], t_eval=np.unique(t), rtol=1e-10, atol=1e-12, max_step=0.01).y
    q, w = (np.interp(t, np.unique(t), a) for a in swing)
    a = np.array([rates(now, (p, v))[1] for now, p, v in zip(t, q, w, strict=True)])
    force = 7.0 * path(t, 2) + 2.0 * (a * np.cos(q) - w**2 * np.sin(q))
    assert np.abs(drives.values[:, 0] - force).max() < 2e-3 * np.abs(force).max()


def _nothing(m: Model) -> None:
    pass


def _force_of_users(m: Model) -> None:
    m.user_force("brake", "hinge", lambda q, v, t: -8.0 * np.sin(q) - 2.0 * v - v * abs(v))


def _force_with_a_state(m: Model) -> None:
    m.user_force("brake", "hinge", lambda q, v, t, z: (-2.0 * v - 3.0 * z[0], (v - z) / 0.1), states=["z"])


@pytest.mark.parametrize("add", [_nothing, _force_of_users, pytest.param(_force_with_a_state, marks=pytest.mark.long)])
def test_forward_run_leaves_a_smooth_path_by_the_fourth_order(add):
    """What the collocation and the mid-point rule differ by in order h^2 is corrected."""
    off = []
    for h in (0.04, 0.02):
        m = crane()
        add(m)
        m.inverse_path_step(1.0, h, outputs={"carriage.x": _text(1.0)}, efforts=["rail"], frames=0)
        off.append(solve(m).steps[-1].report.errors[0])
    assert off[1] < 1e-6 and np.log2(off[0] / off[1]) == pytest.approx(4.0, abs=0.5)


def test_string_of_many_beams_needs_one_forward_run():
    """Round-off of the equilibrium at the start is no impulse: the chain of eight beams would amplify it."""
    m = Model(2, "string")
    m.section("rope", "stiffness", EA=1e5, GA=1e4, EI=1e-3, rhoA=0.5, rhoI=0.0)
    m.body("carriage", (0.0, 0.0), 5.0, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.line("rope", (0.0, 0.0), (0.0, -1.0), 8)
    m.beams("rope", "rope", "rope")
    m.joint("hinge", "revolute", "carriage", "rope:start", point=(0.0, 0.0))
    m.point_mass("load", "rope:end", 2.0)
    m.force("pull", "rope:end", (0.0, -20.0))
    m.sensor("load", "displacement", on="rope:end")
    s = np.linspace(0.0, 1.0, 1001)
    path = {"kind": "spline", "times": list(s), "values": list(2e-3 * betainc(10.0, 10.0, s))}
    m.inverse_path_step(1.0, 0.01, outputs={"load.x": path}, efforts=["rail"], frames=0)
    report = solve(m).steps[-1].report
    assert report.growing_zeros > 0 and report.errors[0] < 1e-6


def test_path_of_a_flat_system_begins_without_drift():
    """Winch and trolley: the window holds the oscillations of the collocation before the path."""
    m = Model(2, "crane", gravity=(0.0, -9.81))
    m.body("carriage", (0.0, 0.0), 4.0, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.body("drum", (0.0, 0.0), 1.0, 0.0)
    m.joint("hinge", "revolute", "carriage", "drum", point=(0.0, 0.0))
    m.body("load", (0.0, -1.0), 2.0, 0.0)
    m.joint("winch", "prismatic", "drum", "load", point=(0.0, -1.0), axis=(0.0, -1.0))
    m.sensor("load", "position", on="load")
    path = {"load.x": _text(2.0), "load.y": f"0.6*{_text(2.0)}"}
    m.inverse_path_step(2.0, 0.02, outputs=path, efforts=["rail", "winch"], frames=0)
    assert solve(m).steps[-1].report.errors[0] < 1e-4


@pytest.mark.long
def test_spatial_arm_round_trip():
    """Three joints move the tip of a flexible forearm along a line in space; the efforts repeat it in another model."""

    def arm() -> Model:
        m = Model(3, "arm")
        m.section("forearm", "stiffness", EA=4e5, GA=1e5, GJ=50.0, EI=60.0, rhoA=0.3, rhoI=1e-5)
        m.body("post", (0.0, 0.0, 0.2), 2.0, (0.05, 0.05, 0.03))
        m.body("upper", (0.25, 0.0, 0.5), 1.0, (0.01, 0.03, 0.03))
        m.line("forearm", (0.5, 0.0, 0.6), (0.9, 0.1, 0.4), 2)
        m.beams("forearm", "forearm", "forearm", damping=1e-3)
        m.joint("yaw", "revolute", "ground", "post", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        m.joint("pitch", "revolute", "post", "upper", point=(0.0, 0.0, 0.4), axis=(0.0, 1.0, 0.0))
        m.joint("elbow", "revolute", "upper", "forearm:start", point=(0.5, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
        m.body("load", (0.9, 0.1, 0.4), 0.5, (1e-3, 1e-3, 1e-3))
        m.joint("grip", "weld", "forearm:end", "load")
        m.sensor("tip", "position", on="forearm:end")
        return m

    way, duration, h = np.array([-0.15, 0.2, 0.1]), 0.5, 5e-3
    m = arm()
    m.inverse_path_step(
        duration, h, efforts=["yaw", "pitch", "elbow"], frames=0,
        outputs={
            f"tip.{c}": f"{a}*(t/{duration}-sin(2*pi*t/{duration})/(2*pi))" for c, a in zip("xyz", way, strict=True)
        },
    )  # fmt: skip
    found = solve(m)
    report, drives = found.steps[-1].report, found.drives()
    forward = arm()
    for k, name in enumerate(("yaw", "pitch", "elbow")):
        table = {"kind": "spline", "times": drives.t, "values": drives.values[:, k]}
        forward.motor(f"torque {name}", joint=name, force=table)
    forward.transient_step(report.t_end, h, frames=0)
    assert np.abs(report.path_errors).max() < 1e-4 * np.linalg.norm(way)
    tip = solve(forward).steps[-1].series["sensor/tip"]
    s = np.clip((drives.t - report.path_start) / duration, 0.0, 1.0)
    path = tip[0] + (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))[:, None] * way
    assert np.abs(tip - path).max() < 1.01 * np.abs(report.path_errors).max() + 1e-8


def test_same_bits_from_a_restart_point(tmp_path):
    def model() -> Model:
        m = link()
        m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"], frames=5, restarts=3)
        return m

    whole = run(model(), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(model(), tmp_path / "copy", restart=0)
    assert again.complete
    for name, values in whole.steps[-1].series.items():
        assert np.array_equal(values, again.steps[-1].series[name], equal_nan=True), name


@pytest.mark.long
def test_reduced_part():
    """The link as a reduced part in space, against the frequency integral of the validation case of the link."""
    free = Model(3)
    free.section("link", "stiffness", EA=4e6, GA=1e6, GJ=30.0, EI=33.3333, rhoA=0.2715, rhoI=1e-5)
    free.line("link", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
    free.beams("link", "link", "link", damping=1e-4)
    m = Model(3)
    m.reduced_part("arm", reduce_part(free, {"hub": "link:start", "tip": "link:end"}, modes=3))
    m.joint("hub", "revolute", "ground", "arm:hub", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.point_mass("load", "arm:tip", 0.1)
    m.sensor("tip", "position", on="arm:tip")
    m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"], frames=0)
    found = solve(m)
    assert not found.steps[-1].report.minimum_phase
    assert 50.0 * np.abs(found.drives().values).max() == pytest.approx(8.80119, rel=1e-3)


def test_prismatic_effort():
    """A carriage on a slope: m a + m g sin(slope), in closed form."""
    slope, mass, duration, h = 0.3, 2.0, 1.0, 0.01
    axis = (np.cos(slope), np.sin(slope))
    m = Model(2, gravity=(0.0, -9.81))
    m.body("carriage", (0.0, 0.0), mass, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=axis)
    m.sensor("place", "position", on="carriage")
    m.inverse_path_step(duration, h, outputs={"place.x": "0.2*(t-sin(2*pi*t)/(2*pi))"}, efforts=["rail"])
    found = solve(m)
    assert found.steps[-1].report.minimum_phase
    drives = found.drives()
    t = np.clip(drives.t - found.steps[-1].report.path_start, 0.0, duration)
    force = mass * (0.4 * np.pi * np.sin(2.0 * np.pi * t) / axis[0] + 9.81 * axis[1])
    assert np.abs(drives.values[:, 0] - force).max() < 5e-3 * np.abs(force).max()


def hanging(elements: int) -> Model:
    """A carriage with a load on a stiff, flexible rope."""
    m = Model(2, "crane", gravity=(0.0, -9.81))
    m.section("rope", "stiffness", EA=1e5, GA=1e4, EI=0.5, rhoA=0.1, rhoI=1e-5)
    m.body("carriage", (0.0, 0.0), 5.0, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.line("rope", (0.0, 0.0), (0.0, -1.0), elements)
    m.beams("rope", "rope", "rope")
    m.joint("hinge", "revolute", "carriage", "rope:start", point=(0.0, 0.0))
    m.point_mass("load", "rope:end", 2.0)
    m.sensor("load", "position", on="rope:end")
    return m


def test_load_on_a_flexible_rope_needs_one_forward_run():
    """Newton's method converges where the stiffness of the rope turns from step to step."""
    m = hanging(3)
    m.inverse_path_step(2.0, 0.02, outputs={"load.x": _text(2.0)}, efforts=["rail"], frames=0)
    report = solve(m).steps[-1].report
    assert not report.minimum_phase and report.forward_runs == 1 and report.errors[0] < 5e-5


def test_matrices_of_many_states_are_those_of_each():
    """Damped beams and joints in space, in motion."""
    compiled = _moving_arm().compile()
    system, rng = compiled.system, np.random.default_rng(3)
    states = []
    for _ in range(2):
        u = 0.1 * rng.uniform(-1.0, 1.0, system.n_dof)
        state = instant(system, moved(system, system.initial_state(), u))
        state.V[:] = rng.uniform(-1.0, 1.0, system.n_dof)
        state.V[2] = rng.uniform(-1.0, 1.0, system.n_dof)
        state.Q[:, system.first_multiplier :] = 0.0
        state.U[:] = 0.0
        for a in (state.V, state.Q):
            a[:, system.dummy] = 0.0
        director_velocities(system, state)
        state.V[2] = rng.uniform(-1.0, 1.0, system.n_dof)
        states.append(state)
    none = np.zeros((2, len(compiled.functions)))
    Q, D, V, A = (
        np.array([a[i] for a in arrays])
        for arrays, i in (
            ([s.Q for s in states], 0),
            ([s.D for s in states], 0),
            ([s.V for s in states], 0),
            ([s.V for s in states], 2),
        )
    )
    many = DenseTangents(DenseAssembly(system), states_of(system, Q, D, V, A, none), np.zeros(3))
    C, K = many.damped
    for i, state in enumerate(states):
        one = Tangent(system, state, Level(none[0]))
        for found, exact in ((many.M[i], one.M), (C[i], one.C), (K[i], one.K)):
            dense = exact.toarray()[:-1, :-1]
            assert np.abs(found - dense).max() < 1e-8 * np.abs(dense).max()
        force = one.force()[:-1]
        assert np.abs(many.force()[i] - force).max() < 1e-10 * np.abs(force).max()


def _moving_arm() -> Model:
    m = Model(3, "arm")
    m.section("arm", "stiffness", EA=4e3, GA=1e3, GJ=50.0, EI=60.0, rhoA=0.3, rhoI=1e-2)
    m.body("post", (0.0, 0.0, 0.2), 2.0, (0.05, 0.06, 0.03))
    m.line("arm", (0.0, 0.0, 0.4), (0.9, 0.1, 0.4), 2)
    m.beams("arm", "arm", "arm", damping=1e-3)
    m.joint("yaw", "revolute", "ground", "post", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.joint("pitch", "revolute", "post", "arm:start", point=(0.0, 0.0, 0.4), axis=(0.0, 1.0, 0.0))
    return m


def test_too_many_masses_between_effort_and_output_are_refused():
    m = Model(2, "string")
    m.section("rope", "stiffness", EA=1e5, rhoA=0.5)
    m.body("carriage", (0.0, 0.0), 5.0, 0.1)
    m.joint("rail", "prismatic", "ground", "carriage", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.line("rope", (0.0, 0.0), (0.0, -1.0), 8)
    m.trusses("rope", "rope", "rope")
    m.joint("hinge", "pin", "carriage", "rope:start", point=(0.0, 0.0))
    m.point_mass("load", "rope:end", 2.0)
    m.force("pull", "rope:end", (0.0, -20.0))
    m.sensor("load", "displacement", on="rope:end")
    m.inverse_path_step(1.0, 0.01, outputs={"load.x": f"0.02*{_text(1.0)}"}, efforts=["rail"], frames=0)
    with pytest.raises(ModelError, match="high derivatives of the path"):
        solve(m)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"efforts": ["hip"]}, 'no joint "hip"'),
        ({"outputs": {"tip.x": PATH, "tip.y": PATH}}, "1 efforts (hub) cannot move 2 outputs"),
        ({"outputs": {"tip.z": PATH}}, 'no column "tip.z"'),
        ({"outputs": {"tip.y": "0.1*t"}}, "the velocity of \"tip.y\" jumps by 0.1"),
        ({"outputs": {"tip.y": "1+0*t"}}, "counts from there"),
        ({"outputs": {"tip.y": "0*t"}}, "nothing moves"),
        ({"outputs": {"tip.y": f"400*{PATH}"}}, "the path cannot be followed"),
        ({"before": 0.0}, "the window is too short"),
    ],
)  # fmt: skip
def test_bad_input_ends_in_one_error(options, text):
    with pytest.raises(ModelError) as caught:
        m = link()
        m.inverse_path_step(T, H, **{"outputs": {"tip.y": PATH}, "efforts": ["hub"], **options})
        solve(m)
    assert text in str(caught.value)


def test_driven_joint_is_refused():
    m = link(function="0*t")
    with pytest.raises(ModelError, match="is driven"):
        m.inverse_path_step(T, H, outputs={"tip.y": PATH}, efforts=["hub"])
