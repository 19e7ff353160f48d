"""Torsion springs between parts that tilt: their angle is the twist about the axis, whatever axes the model has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve

K, FREE = 7.0, 0.3
AXIS = np.array([0.48, 0.6, 0.64])
INERTIA = np.array([0.5, 0.7, 0.9])
SPIN = np.array([1.5, -0.8, 0.9])
MOVING = ("a", "b")


def pair(h: float, turn: Rotation, **options) -> Model:
    """Two bodies on balls, joined by a torsion spring, that tilt against each other by more than a right angle."""
    m = Model(3)
    for name, sign in zip(MOVING, (1.0, -1.0), strict=True):
        start = turn * Rotation.from_rotvec([0.2 * sign, -0.4, 0.7])
        m.body(name, mass=1.0, inertia=INERTIA, position=(0.0, 0.0, 0.0), rotation=start.as_rotvec())
        m.joint(f"ball {name}", "spherical", a="ground", b=name, point=(0.0, 0.0, 0.0))
        m.initial(name, spin=turn.apply(sign * SPIN))
        m.sensor(name, "rotation", on=name)
    m.torsion_spring("shaft", "a", "b", stiffness=K, angle=FREE, axis=turn.apply(AXIS))
    m.transient_step(1.2, h, **options)
    return m


def matrices(s) -> np.ndarray:
    """Return the rotations since the start (2, n, 3, 3) of both bodies."""
    return np.array([Rotation.from_rotvec(s.sensor(name).values).as_matrix() for name in MOVING])


def reference(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same rotations and the cosines of the tilt, by scipy.

    The potential is k (phi - free)^2/2 with the twist phi = 2 atan2(r.n, w) of the quaternion (w, r) from a to b, whose
    gradient by the spin of b is (n_a + n_b)/(1 + n_a.n_b).
    """
    starts = [Rotation.from_rotvec([0.2 * sign, -0.4, 0.7]) for sign in (1.0, -1.0)]

    def turned(q):
        return Rotation.from_quat(q / np.linalg.norm(q))

    def rates(_, y):
        R = [turned(y[:4]), turned(y[4:8])]  # since the start
        w = [y[8:11], y[11:14]]
        n = [r.apply(AXIS) for r in R]
        q = (R[0].inv() * R[1]).as_quat()
        phi = 2.0 * np.arctan2(q[:3] @ AXIS, q[3])
        phi = (phi + np.pi) % (2.0 * np.pi) - np.pi
        moment = -K * (phi - FREE) * (n[0] + n[1]) / (1.0 + n[0] @ n[1])
        out = []
        for r, spin in zip(R, w, strict=True):
            x, scalar = r.as_quat()[:3], r.as_quat()[3]
            out.append(0.5 * np.append(scalar * spin + np.cross(spin, x), -spin @ x))
        for r, spin, start, sign in zip(R, w, starts, (-1.0, 1.0), strict=True):
            J = (r * start).as_matrix() @ np.diag(INERTIA) @ (r * start).as_matrix().T
            out.append(np.linalg.solve(J, sign * moment - np.cross(spin, J @ spin)))
        return np.concatenate(out)

    first = np.concatenate([[0, 0, 0, 1], [0, 0, 0, 1], SPIN, -SPIN])
    found = solve_ivp(rates, (0.0, t[-1]), first, t_eval=t, rtol=1e-11, atol=1e-12).y.T
    R = np.array([[turned(q).as_matrix() for q in found[:, k : k + 4]] for k in (0, 4)])
    n = R @ AXIS
    return R, np.einsum("ti,ti->t", n[0], n[1])


@pytest.mark.parametrize("rule", ["midpoint", "hht"])
def test_the_angle_is_the_twist(rule):
    """The motion of scipy, with the second order."""
    t = np.linspace(0.0, 1.2, 7)
    R, tilt = reference(t)
    assert tilt.min() < 0.0  # more than a right angle
    errors = []
    for h in (0.02, 0.01, 0.005):
        s = solve(pair(h, Rotation.identity(), rule=rule))
        errors.append(np.abs(matrices(s)[:, :: round(0.2 / h)] - R).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.15)
    assert errors[-1] < 5e-3


def test_a_turned_model_turns_alike():
    """All axes of the model turn along, those across the axis of the spring differently: R = Q R Q^T."""
    turn = Rotation.from_rotvec([0.9, -1.3, 0.5])
    plain, turned = matrices(solve(pair(0.02, Rotation.identity()))), matrices(solve(pair(0.02, turn)))
    Q = turn.as_matrix()
    np.testing.assert_allclose(turned, Q @ plain @ Q.T, atol=1e-9)
