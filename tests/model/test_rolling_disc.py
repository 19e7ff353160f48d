"""Discs that roll without slip: closed forms, energy, rules, small motions, mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, linearise, load_model, solve
from fem_mbs.modelfile.writer import write_model

G, R, MASS = 9.81, 0.3, 2.0
POLAR, ACROSS = 0.11, 0.06


def coin(crown=0.0, rule="midpoint", h=5e-3, duration=1.0, normal=(0.0, 0.0, 1.0), velocity=(), lean=0.0, **step):
    """Return a disc with the axis y, which leans about x."""
    m = Model(3, gravity=(0.0, 0.0, -G))
    n = np.asarray(normal) / np.linalg.norm(normal)
    height = (R - crown) * np.cos(lean) + crown
    axis = (0.0, np.cos(lean), np.sin(lean))
    inertia = np.diag((ACROSS, POLAR, ACROSS)) if crown < R else np.eye(3) * POLAR
    m.body("disc", height * n, MASS, inertia, rotation=(lean, 0.0, 0.0))
    m.joint("floor", "rolling_disc", "disc", point=height * n, axis=axis, axis_b=n, radius=R, crown=crown)
    for what in velocity:
        m.initial("disc", **what)
    m.sensor("place", "position", on="disc")
    m.sensor("speed", "velocity", on="disc")
    m.sensor("spin", "angular velocity", on="disc")
    m.sensor("force", "reaction", on="floor")
    m.transient_step(duration, h, rule=rule, frames=0, **step)
    return m


def total(step):
    return step.series["ledger"][:, :3].sum(axis=1)


@pytest.mark.parametrize("rule", ["midpoint", "generalised-alpha", "hht"])
def test_a_ball_rolls_down_a_slope(rule):
    """a = g sin/(1 + J/(m r^2)) = 5/7 g sin of a homogeneous ball; N = m g cos, T = m (g sin - a)."""
    slope = 0.3
    m = coin(crown=R, rule=rule, normal=(np.sin(slope), 0.0, np.cos(slope)))
    step = solve(m).steps[-1]
    a = G * np.sin(slope) / (1.0 + POLAR / (MASS * R**2))
    down = np.array((np.cos(slope), 0.0, -np.sin(slope)))
    np.testing.assert_allclose(step.series["sensor/speed"] @ down, a * step.time, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(step.series["sensor/spin"][-1], (0.0, a / R, 0.0), rtol=1e-4, atol=1e-6)
    force = step.series["sensor/force"][-1, :3]
    up = np.array((np.sin(slope), 0.0, np.cos(slope)))
    assert force @ up == pytest.approx(MASS * G * np.cos(slope), rel=1e-3)
    assert force @ down == pytest.approx(-MASS * (G * np.sin(slope) - a), rel=1e-2)


@pytest.mark.parametrize("crown", [0.0, 0.08, R])
def test_rolling_keeps_energy_and_does_not_slip(crown):
    """A coin that leans, spins and rolls: energy to round-off, the point that touches rests to second order."""
    m = coin(crown, velocity=[{"spin": (0.3, 9.0, 1.5)}], lean=0.2, h=2e-3)
    solution = solve(m)
    step = solution.steps[-1]
    energy = total(step)
    assert np.ptp(energy) < 1e-11 * energy[0]
    assert step.summary["constraint_error"] < 1e-12
    assert np.ptp(step.series["sensor/place"][:, 1]) > 0.02  # it turns off its way


def test_a_coin_rolls_in_a_circle():
    """Steady precession of a thin disc (Routh 1905, art. 241): a leaning coin that rolls about a vertical axis through
    a point of the plane at the distance b of its centre from it."""
    lean, turn = 0.25, 2.0
    # moments about the point that touches: with the spin s about its axis, turn Omega, circle rho of the centre
    c, s_ = np.cos(lean), np.sin(lean)

    def moment(spin):
        # angular momentum about the centre, rolling V = R w_axis, V = Omega rho; left-hand turn about +z
        w = np.array((0.0, 0.0, turn)) + spin * np.array((0.0, c, s_))
        axis = np.array((0.0, c, s_))
        H = ACROSS * w + (POLAR - ACROSS) * (w @ axis) * axis
        arm = -R * np.array((0.0, -s_, c))  # from the centre to the point that touches
        v = -np.cross(w, arm)
        force = MASS * (np.cross((0.0, 0.0, turn), v) + np.array((0.0, 0.0, G)))
        return (np.cross((0.0, 0.0, turn), H) - np.cross(arm, force))[0], v

    from scipy.optimize import brentq

    spin = brentq(lambda w: moment(w)[0], -60.0, 60.0)
    _, v = moment(spin)
    w = np.array((0.0, 0.0, turn)) + spin * np.array((0.0, c, s_))
    m = coin(velocity=[{"velocity": tuple(v), "spin": tuple(w)}], lean=lean, h=1e-3, duration=1.0)
    step = solve(m).steps[-1]
    place = step.series["sensor/place"]
    assert np.ptp(place[:, 2]) < 1e-5
    centre = np.array((0.0, v[0] / turn, 0.0))
    far = np.linalg.norm(place[:, :2] - centre[:2], axis=1)
    np.testing.assert_allclose(far, abs(v[0]) / turn, rtol=1e-3)
    assert abs(v[0]) / turn > 0.1


def test_upright_rolling_is_stable_above_the_critical_speed():
    """A thin disc that rolls upright is stable if w^2 > g m R ACROSS / (POLAR (POLAR + m R^2)) (Routh 1905)."""
    critical = np.sqrt(G * MASS * R * ACROSS / (POLAR * (POLAR + MASS * R**2)))
    for factor in (0.9, 1.1):
        w = factor * critical
        m = coin(velocity=[{"velocity": (w * R, 0.0, 0.0), "spin": (0.0, w, 0.0)}], h=1e-4, duration=1e-4)
        m.complex_modes_step(3)
        p = np.array([complex(*pair) for pair in solve(m).steps[-1].report.eigenvalues])
        J = POLAR + MASS * R**2
        square = (w**2 * POLAR * J / ACROSS - MASS * G * R) / (ACROSS + MASS * R**2)
        expected = 1j * np.sqrt(square) if square > 0.0 else np.sqrt(-square)
        assert np.abs(p - expected).min() < 1e-6 * abs(expected)


def test_model_file(tmp_path):
    m = coin(0.1, lean=0.1)
    write_model(m, tmp_path / "coin.toml")
    one, other = solve(m), solve(load_model(tmp_path / "coin.toml"))
    np.testing.assert_array_equal(one.steps[0].series["sensor/place"], other.steps[0].series["sensor/place"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": None}, r"a disc needs its radius"),
        ({"radius": -1.0}, r"radius"),
        ({"crown": 0.4}, r"crown = 0.4 must be at most radius = 0.3"),
        ({"axis": (0.0, 0.0, 1.0)}, r"along the normal of the plane: the disc lies flat"),
        ({"b": "other"}, r'a disc rolls on the ground, not on "other"'),
        ({"point_b": (0.0, 0.0, -0.1)}, r'Joint "floor": it is open by 0\.1 m at the start'),
    ],
)
def test_mistakes(options, message):
    m = Model(3)
    for name, x in (("disc", 0.0), ("other", 1.0)):
        m.body(name, (x, 0.0, R), MASS, (ACROSS, POLAR, ACROSS))
    given = {"point": (0.0, 0.0, R), "axis": (0.0, 1.0, 0.0), "radius": R} | options
    m_error = pytest.raises(ModelError, match=message)
    with m_error:
        m.joint("floor", "rolling_disc", "disc", **given)
        m.transient_step(0.1, 0.01)
        solve(m)


def test_rules_without_damping_and_state_spaces_are_refused():
    for options in ({"rule": "newmark"}, {"rule": "hht", "alpha": 0.0}):
        with pytest.raises(ModelError, match=r'without damping knows no constraints of velocities, but "floor" rolls'):
            solve(coin(**options))
    m = coin(velocity=[{"velocity": (3.0, 0.0, 0.0), "spin": (0.0, 10.0, 0.0)}])
    with pytest.raises(ModelError, match="discs that roll without slip bind velocities"):
        linearise(m).state_space()
