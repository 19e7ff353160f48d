"""Sensors of accelerations and of angular velocities, in the axes of bodies and relative to them: closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fem_mbs import Model, ModelError, run, solve
from fem_mbs.results.reader import Results

G = 9.81
MOTION = ("displacement", "velocity", "acceleration")


def orders(errors: list) -> np.ndarray:
    """Return the orders of convergence of errors for steps that are halved."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def pendulum(h: float, rule: str = "midpoint", **options) -> Model:
    """A plane rod on a hinge, released from the horizontal."""
    m = Model(2, gravity=(0.0, -G))
    m.body("rod", mass=2.0, inertia=0.3, position=(0.5, 0.0))
    m.joint("hinge", "revolute", a="ground", b="rod", point=(0.0, 0.0))
    m.sensor("tip", "acceleration", on="rod", point=(1.2, 0.0))
    m.sensor("own", "acceleration", on="rod", point=(1.2, 0.0), axes="rod")
    m.sensor("spin", "angular velocity", on="rod")
    m.sensor("turn", "angular acceleration", on="rod")
    m.transient_step(0.8, h, rule=rule, **options)
    return m


def swing(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return angle, angular velocity and angular acceleration of the rod of `pendulum`, by scipy."""
    k = 2.0 * G * 0.5 / (0.3 + 2.0 * 0.25)
    found = solve_ivp(lambda t, y: [y[1], -k * np.cos(y[0])], (0.0, 0.8), [0.0, 0.0], rtol=1e-11, atol=1e-12, t_eval=t)
    return (*found.y, -k * np.cos(found.y[0]))


@pytest.mark.parametrize("rule", ["midpoint", "newmark", "hht"])
def test_accelerations_of_a_pendulum_are_of_second_order(rule):
    errors: dict[str, list[float]] = {name: [] for name in ("tip", "own", "spin", "turn")}
    for h in (0.02, 0.01, 0.005):
        s = solve(pendulum(h, rule))
        for name, found in errors.items():
            t, values, _ = s.sensor(name)
            angle, w, alpha = swing(t)
            radial, across = -1.2 * w**2, 1.2 * alpha
            exact = {
                "tip": np.column_stack((
                    np.cos(angle) * radial - np.sin(angle) * across, np.sin(angle) * radial + np.cos(angle) * across
                )),
                "own": np.column_stack((radial, across)),
                "spin": w[:, None],
                "turn": alpha[:, None],
            }[name]  # fmt: skip
            found.append(float(np.abs(values - exact).max()))
    for name, found in errors.items():
        assert orders(found) == pytest.approx([2.0, 2.0], abs=0.25), (name, found)
        assert found[-1] < 2e-2


def test_an_observer_on_a_turntable_sees_centrifugal_and_coriolis_accelerations():
    """A mass moves along a straight line over a table that turns at w: r = R^T (r0 + v t), and its derivatives."""
    w, r0, v = 3.0, np.array([0.4, -0.2]), np.array([0.5, 0.7])
    errors = []
    for h in (0.02, 0.01):
        m = Model(2)
        m.body("table", mass=1.0, inertia=1.0, position=(0.0, 0.0))
        m.joint("axle", "revolute", a="ground", b="table", point=(0.0, 0.0))
        m.node("ball", r0)
        m.point_mass("ball", "ball", 1.0)
        m.initial("table", spin=w)
        m.initial("ball", velocity=v)
        for kind in ("position", *MOTION):
            m.sensor(kind, kind, on="ball", relative_to="table", axes="table")
        m.sensor("in space", "velocity", on="ball", relative_to="table")
        m.transient_step(0.5, h)
        s = solve(m)
        worst = []
        for kind in ("position", *MOTION, "in space"):
            t, values, _ = s.sensor(kind)
            c = (r0[0] + 1j * r0[1] + (v[0] + 1j * v[1]) * t) * np.exp(-1j * w * t)
            rate = (v[0] + 1j * v[1]) * np.exp(-1j * w * t)
            exact = {
                "position": c, "displacement": c - c[0], "velocity": rate - 1j * w * c,
                "acceleration": -2j * w * rate - w**2 * c, "in space": (rate - 1j * w * c) * np.exp(1j * w * t),
            }[kind]  # fmt: skip
            worst.append(np.abs(values - np.column_stack((exact.real, exact.imag))).max())
        errors.append(worst)
    assert orders([e[:-1] for e in errors]) == pytest.approx(np.full((1, 4), 2.0), abs=0.05)
    assert errors[0][-1] < 1e-13  # nothing is integrated but straight lines


def test_a_body_that_precesses():
    """A symmetric body turns freely: about its axis by s, which goes round the momentum at the rate p."""
    A, B, p, lean = 0.2, 0.05, 4.0, 0.5
    # the momentum is A p along z; along the axis: A p cos(lean) = B (p cos(lean) + spin)
    spin = (A - B) / B * p * np.cos(lean)
    axis = np.array([np.sin(lean), 0.0, np.cos(lean)])
    w0 = p * np.array([0.0, 0.0, 1.0]) + spin * axis
    start = Rotation.from_rotvec([0.0, lean, 0.0])
    inertia = start.as_matrix() @ np.diag([A, A, B]) @ start.as_matrix().T
    errors = []
    for h in (0.01, 0.005, 0.0025):
        m = Model(3)
        m.body("top", mass=1.0, inertia=inertia, position=(0, 0, 0))
        m.body("other", mass=1.0, inertia=np.eye(3), position=(1, 0, 0))
        m.initial("top", spin=w0)
        m.initial("other", spin=(0.0, 0.0, p))
        m.sensor("w", "angular velocity", on="top")
        m.sensor("alpha", "angular acceleration", on="top")
        m.sensor("own", "angular acceleration", on="top", axes="top")
        m.sensor("seen", "angular acceleration", on="top", relative_to="other")
        m.sensor("tip", "acceleration", on="top", point=tuple(axis), axes="other", relative_to="other")
        m.transient_step(0.5, h)
        found = solve(m)
        worst = []
        for name in ("w", "alpha", "own", "seen", "tip"):
            t, values, _ = found.sensor(name)
            turn = Rotation.from_rotvec(np.outer(p * t, [0, 0, 1]))
            n = turn.apply(axis)
            alpha = np.cross([0, 0, p], spin * n)
            R = turn * Rotation.from_rotvec(np.outer(spin * t, axis))
            exact = {
                "w": p * np.array([0, 0, 1.0]) + spin * n, "alpha": alpha, "own": R.inv().apply(alpha),
                "seen": np.zeros_like(n), "tip": p**2 * turn.inv().apply([1.0, 0.0, 0.0]),
            }[name]  # fmt: skip
            worst.append(np.abs(values - exact).max())
        errors.append(worst)
    for column in np.array(errors).T:
        assert orders(column) == pytest.approx([2.0, 2.0], abs=0.3), errors


def test_the_observer_and_the_axes_are_independent():
    """A velocity relative to a body in the axes of another one, and the ground, which is neither."""
    m = Model(2)
    m.body("a", mass=1.0, inertia=1.0, position=(0.0, 0.0))
    m.body("b", mass=1.0, inertia=1.0, position=(2.0, 0.0))
    m.initial("a", spin=2.0, velocity=(1.0, 0.0))
    m.initial("b", spin=-1.0, velocity=(0.0, 3.0))
    m.sensor("seen", "velocity", on="b", point=(2.0, 0.5), relative_to="a", axes="b")
    m.sensor("plain", "velocity", on="b", point=(2.0, 0.5))
    m.sensor("ground", "velocity", on="b", point=(2.0, 0.5), relative_to="ground", axes="ground")
    m.sensor("spin", "angular velocity", on="b", relative_to="a")
    m.transient_step(0.4, 0.01)
    s = solve(m)
    t = s.sensor("seen").t
    arm = 0.5j * np.exp(-1j * t)
    place, own = 2.0 + 3.0j * t + arm - t, 3.0j - 1j * arm
    exact = (own - 1.0 - 2.0j * place) * np.exp(1j * t)
    assert s.sensor("seen").values == pytest.approx(np.column_stack((exact.real, exact.imag)), abs=5e-5)
    assert np.array_equal(s.sensor("ground").values, s.sensor("plain").values)
    assert s.sensor("spin").values == pytest.approx(-3.0)


M, K, C, F = 2.0, 800.0, 3.0, 5.0


def oscillator(damping: float = C) -> Model:
    """A mass on a spring along x, which begins at .01 m."""
    m = Model(2)
    m.node("wall", (0.0, 0.0))
    m.node("mass", (1.0, 0.0))
    m.point_mass("mass", "mass", M)
    m.fix("wall")
    m.fix("mass", ["y"])
    m.spring("spring", "wall", "mass", stiffness=K, damping=damping)
    m.force("push", "mass", (1.0, 0.0), F)
    for kind in MOTION:
        m.sensor(kind, kind, on="mass")
    return m


def test_harmonic_accelerations():
    m = oscillator()
    f = np.array([0.5, 3.0, 8.0])
    m.harmonic_step(f.tolist(), loads=["push"])
    w = 2.0 * np.pi * f
    u = F / (K - M * w**2 + 1j * C * w)
    s = solve(m)
    for power, kind in enumerate(MOTION):
        assert s.response(kind).values[:, 0] == pytest.approx((1j * w) ** power * u, rel=1e-10)


def test_accelerations_of_linear_transients_are_those_at_the_ends_of_steps():
    """A force that is there at once: M a = F cos(w t); exact by modes, of second order by the mid-point rule."""
    w, errors = np.sqrt(K / M), []
    for h in (0.01, 0.005):
        m = oscillator(0.0)
        m.linear_transient_step(0.3, h, loads=["push"], name="steps")
        m.linear_transient_step(0.3, h, loads=["push"], name="modes", modes=1, report="increment", time=0.0)
        s = solve(m)
        found = s.sensor("acceleration", "modes")
        assert found.values[:, 0] == pytest.approx(F / M * np.cos(w * found.t), abs=1e-9)
        found = s.sensor("acceleration", "steps")
        assert found.t[0] == 0.0
        errors.append(float(np.abs(found.values[:, 0] - F / M * np.cos(w * found.t)).max()))
    assert orders(errors) == pytest.approx([2.0], abs=0.2)


def test_tables_hold_accelerations_at_the_times_of_the_rows(tmp_path):
    """A mass under a force that grows: a = F t/M is linear, so that the table has it to round-off."""
    m = Model(2)
    m.node("mass", (0.0, 0.0))
    m.point_mass("mass", "mass", M)
    m.force("push", "mass", (1.0, 0.0), "5.0*t")
    m.sensor("acceleration", "acceleration", on="mass")
    m.transient_step(0.1, 0.01)
    run(m, tmp_path)
    (path,) = tmp_path.glob("sensors-*.csv")
    head, *rows = path.read_text().splitlines()
    assert head == "time [s],acceleration acceleration.x [m/s^2],acceleration acceleration.y [m/s^2]"
    table = np.genfromtxt(rows[1:-1], delimiter=",")
    assert table[:, 1] == pytest.approx(2.5 * table[:, 0], abs=1e-12)
    assert rows[0] == "0.0,," and rows[-1].endswith(",,")
    raw = Results.open(tmp_path).sensor("acceleration", raw=True)
    assert raw.t == pytest.approx(np.arange(10) * 0.01 + 0.005)


def test_nothing_accelerates_in_statics():
    m = oscillator()
    m.static_step()
    m.linear_static_step()
    s = solve(m)
    assert not s.sensor("acceleration", 0).values[1:].any()  # the first row belongs to no step
    assert not s.sensor("acceleration", 1).values.any()


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("velocity", {"relative_to": "a"}, "relative to itself"),
        ("acceleration", {"axes": "ball"}, 'node "ball" has no rotation'),
        ("acceleration", {"relative_to": "ball"}, 'node "ball" has no rotation'),
        ("angular velocity", {"on": "ball"}, 'node "ball" has no rotation'),
        ("angular acceleration", {"axes": "a"}, "no meaning in the plane"),
        ("displacement", {"axes": "nowhere"}, "nowhere"),
        ("angular velocity", {"on": "ground"}, "does not move"),
        ("rotation", {"axes": "a"}, "axes"),
    ],
)
def test_wrong_combinations(kind, options, words):
    m = Model(2)
    m.body("a", mass=1.0, inertia=1.0, position=(0.0, 0.0))
    m.node("ball", (1.0, 0.0))
    m.point_mass("ball", "ball", 1.0)
    with pytest.raises(ModelError, match=words):
        m.sensor("s", kind, **{"on": "a", **options})
        m.compile()


def test_no_event_can_wait_for_an_acceleration():
    m = pendulum(0.01)
    with pytest.raises(ModelError, match="belongs to the middle of time steps"):
        m.event("stop", "turn", 0.0, "falling")


def test_accelerations_between_rows_of_adaptive_steps():
    """Of up to 12.3 rad/s^2: the error of the velocities over the distance of the rows, which the tolerance lessens."""
    errors = []
    for tolerance in (1e-6, 1e-8):
        s = solve(pendulum(0.02, adaptive=tolerance))
        t, values, _ = s.sensor("turn")
        errors.append(float(np.abs(values[:, 0] - swing(t)[2]).max()))
    assert errors[0] < 0.1 and errors[1] < 0.4 * errors[0]


def test_the_step_that_an_event_cuts_counts_with_its_own_length():
    m = pendulum(0.01)
    m.sensor("place", "position", on="rod")
    m.event("low", "place.y", -0.31, "falling")
    s = solve(m)
    t, values, _ = s.sensor("turn", raw=True)
    assert t[-1] == pytest.approx(0.5 * (0.33 + s.steps[0].time[-1])) and s.steps[0].time[-1] < 0.335
    assert values[-1] == pytest.approx(swing(t)[2][-1:], abs=3e-3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_distances_and_deflections_from_points_of_the_ground(dimension):
    """From the position of a swinging rod by plane geometry."""
    flat = (0.0,) * (dimension - 2)
    m = Model(dimension, gravity=(0.0, -G, *flat))
    m.body("rod", mass=2.0, inertia=0.3 if dimension == 2 else (0.1, 0.2, 0.3), position=(0.5, 0.0, *flat))
    hinge = {"point": (0.0, 0.0, *flat)} | ({} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)})
    m.joint("hinge", "revolute", a="ground", b="rod", **hinge)
    m.sensor("tip", "position", on="rod", point=(1.2, 0.0, *flat))
    fixed, other = np.array([0.4, 2.0, *flat]), np.array([-1.0, 0.5, *flat])
    m.sensor("way", "distance", a="ground", point_a=fixed, b="rod", point_b=(1.2, 0.0, *flat))
    chord = {"a": "ground", "point_a": fixed, "b": "ground", "point_b": other}
    m.sensor("off", "deflection", on="rod", point=(1.2, 0.0, *flat), **chord)
    m.sensor("across", "deflection", on="rod", point=(1.2, 0.0, *flat), **chord, axes="ground")
    m.sensor("string", "deflection", on="ground", point=other, a="ground", point_a=fixed, b="rod")
    m.sensor("rod", "position", on="rod")
    m.transient_step(0.5, 0.01)
    s = solve(m)
    got = {name: s.sensor(name).values for name in ("tip", "way", "off", "across", "string", "rod")}
    assert np.ptp(got["way"]) > 0.3
    np.testing.assert_allclose(got["way"][:, 0], np.linalg.norm(got["tip"] - fixed, axis=1), rtol=1e-12)

    def left_of(p, a, b):
        """Return the distance of points from lines, positive to their left, in space without its sign."""
        chord, r = b - a, p - a
        area = chord[..., 0] * r[..., 1] - chord[..., 1] * r[..., 0]
        way = area / np.linalg.norm(chord, axis=-1)
        return way if dimension == 2 else np.abs(way)

    np.testing.assert_allclose(got["off"][:, 0], left_of(got["tip"], fixed, other), rtol=1e-12)
    np.testing.assert_allclose(got["string"][:, 0], left_of(other, fixed, got["rod"]), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(got["across"], axis=1), np.abs(got["off"][:, 0]), rtol=1e-12)
    assert np.abs(got["across"] @ (other - fixed)).max() < 1e-12


def test_points_of_the_ground_alone_are_refused():
    m = Model(2)
    m.body("rod", mass=2.0, inertia=0.3, position=(0.5, 0.0))
    with pytest.raises(ModelError, match='Sensor "way": points of "ground" do not move; name a node or body'):
        m.sensor("way", "distance", a="ground", point_a=(0.0, 0.0), b="ground", point_b=(1.0, 0.0))
    with pytest.raises(ModelError, match=r'a point of "ground" needs its coordinates; add point_a = \[...\]'):
        m.sensor("path", "distance", a="ground", b="rod")
    with pytest.raises(ModelError, match='"ground" needs its coordinates; add point_b'):
        m.sensor("off", "deflection", on="rod", a="ground", point_a=(0.0, 0.0), b="ground")
