"""Rotors with periodic coefficients: ground resonance of hinged blades on uneven supports, against Floquet's theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from fem_mbs import Model, ModelError, solve

HUB, MASS, HINGE, ARM, SPRING = 80.0, 3.0, 0.3, 2.0, 300.0
SUPPORT, DAMPER = (9e4, 5e4), 60.0


def helicopter(blades: int, speed: float, lag_damper: float = 10.0, driven: bool = True, **options) -> Model:
    """A hub in the plane on two unequal springs, at a constant speed, or free, with hinged blades (Coleman)."""
    m = Model(2)
    m.node("hub", (0.0, 0.0))
    m.point_mass("mass", "hub", HUB)
    for axis, stiffness in zip("xy", SUPPORT, strict=True):
        m.nodal_spring(f"k{axis}", "hub", axis, stiffness, DAMPER)
    m.body("disc", mass=1e-3, inertia=1e-2, position=(0.0, 0.0))
    m.joint("axle", "pin", "hub", "disc", point=(0.0, 0.0))
    if driven:
        m.motion("turn", "disc", "rotation", 0.0)
    for b in range(blades):
        a = 2.0 * np.pi * b / blades
        way = np.array([np.cos(a), np.sin(a)])
        m.body(f"b{b}", mass=MASS, inertia=1e-9, position=tuple((HINGE + ARM) * way))
        m.joint(f"hinge {b}", "revolute", "disc", f"b{b}", point=tuple(HINGE * way))
        m.torsion_spring(f"lag {b}", "disc", f"b{b}", SPRING, lag_damper)
    m.rotor("rotor", on=["disc", *(f"b{b}" for b in range(blades))])
    m.complex_modes_step(rotor="rotor", speed=speed, **options)
    return m


def floquet(blades: int, speed: float, lag_damper: float = 10.0) -> np.ndarray:
    """Characteristic exponents from the monodromy matrix of Lagrange's equations, by scipy."""
    n, ml = blades + 2, MASS * ARM

    def f(t: float, y: np.ndarray) -> np.ndarray:
        psi = speed * t + 2.0 * np.pi * np.arange(blades) / blades
        s, c = np.sin(psi), np.cos(psi)
        A, C, K = np.zeros((3, n, n))
        A[:2, :2] = (HUB + 1e-3 + blades * MASS) * np.eye(2)
        C[:2, :2], K[:2, :2] = DAMPER * np.eye(2), np.diag(SUPPORT)
        A[0, 2:], A[2:, 0], A[1, 2:], A[2:, 1] = -ml * s, -ml * s, ml * c, ml * c
        C[0, 2:], C[1, 2:] = -2.0 * ml * speed * c, -2.0 * ml * speed * s
        K[0, 2:], K[1, 2:] = ml * speed**2 * s, -ml * speed**2 * c
        A[2:, 2:] = (ml * ARM + 1e-9) * np.eye(blades)
        C[2:, 2:] = lag_damper * np.eye(blades)
        K[2:, 2:] = (SPRING + ml * HINGE * speed**2) * np.eye(blades)
        Y = y.reshape(2 * n, -1)
        return np.vstack((Y[n:], -np.linalg.solve(A, C @ Y[n:] + K @ Y[:n]))).ravel()

    T = 2.0 * np.pi / speed
    Y = solve_ivp(f, (0.0, T), np.eye(2 * n).ravel(), rtol=1e-9, atol=1e-11).y[:, -1].reshape(2 * n, 2 * n)
    return np.log(np.linalg.eigvals(Y).astype(complex)) / T


def distances(found: np.ndarray, exact: np.ndarray, speed: float) -> np.ndarray:
    """Return the distances of eigenvalues from those of Floquet, whose imaginary parts are known up to the speed."""
    exact = np.concatenate((exact, exact.conj()))
    gap = found[:, None] - exact
    turn = (gap.imag + 0.5 * speed) % speed - 0.5 * speed
    return np.abs(gap.real + 1j * turn).min(axis=1)


def eigenvalues(model: Model) -> tuple[np.ndarray, dict]:
    step = solve(model).summary["steps"][-1]
    return np.array([complex(*p) for p in step["eigenvalues"]]), step


@pytest.mark.parametrize(("blades", "speed", "unstable"), [(4, 40.0, True), (3, 20.0, False), (2, 40.0, False)])
def test_ground_resonance_has_the_exponents_of_floquet(blades, speed, unstable):
    p, step = eigenvalues(helicopter(blades, speed, frame="periodic", count=blades + 2))
    exact = floquet(blades, speed)
    assert len(p) == blades + 2 and step["frame"] == "periodic"
    assert distances(p, exact, speed).max() < 1e-6
    assert p.real.max() == pytest.approx(exact.real.max(), abs=1e-7)
    assert step["stable"] is not unstable


def test_blades_on_even_supports_are_the_same_by_harmonics_and_with_constant_coefficients(monkeypatch):
    """Where a frame with constant coefficients exists, both ways agree up to multiples of the speed."""
    monkeypatch.setattr("test_periodic_rotors.SUPPORT", (7e4, 7e4))
    p, _ = eigenvalues(helicopter(3, 30.0, frame="periodic", count=5))
    q, step = eigenvalues(helicopter(3, 30.0, count=5))
    assert step["frame"] == "rotating"
    assert distances(p, q, 30.0).max() < 1e-7


def test_without_that_frame_there_is_one_error_that_names_it():
    # four blades have multi-blade coordinates since these exist (test_multiblade.py); two have none
    with pytest.raises(ModelError, match='frame = "periodic"'):
        solve(helicopter(2, 40.0))
    with pytest.raises(ModelError, match='harmonics = 5 belongs to frame = "periodic"'):
        solve(helicopter(4, 40.0, harmonics=5))
    with pytest.raises(ModelError, match="needs a speed"):
        solve(helicopter(4, 0.0, frame="periodic"))


def test_too_few_harmonics_are_said():
    _, step = eigenvalues(helicopter(2, 20.0, frame="periodic", count=4, harmonics=2))
    assert any("give more harmonics" in w for w in step["warnings"])
