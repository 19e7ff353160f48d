"""The reference of the beam benchmarks against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from fem_mbs.validation.case import extrapolated
from fem_mbs.validation.exact_beam import cantilever, matrix_of, quaternion_of

FLEXIBLE = np.diag([0.2, 0.3, 0.1, 1.0, 0.5, 2.0])  # strains of order 1


def test_quaternions_and_rotations():
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = rng.normal(size=4)
        R = matrix_of(q)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
        np.testing.assert_allclose(matrix_of(quaternion_of(R)), R, atol=1e-14)


def test_pure_moment_stretches_nothing_and_bends_to_an_arc():
    moment, length = 1.1, 2.0
    end = cantilever(length, FLEXIBLE, moment=(0.0, 0.0, moment), intervals=8)[-1]
    k = moment * FLEXIBLE[5, 5]
    np.testing.assert_allclose(
        end.place(length), [np.sin(k * length) / k, (1.0 - np.cos(k * length)) / k, 0.0], atol=1e-10
    )
    np.testing.assert_allclose(end.forces(0.5 * length), [0.0, 0.0, 0.0, 0.0, 0.0, moment], atol=1e-12)


def test_extension_and_torsion_of_any_size():
    end = cantilever(2.0, FLEXIBLE, (3.0, 0.0, 0.0), (1.5, 0.0, 0.0), intervals=4)[-1]
    np.testing.assert_allclose(end.place(2.0), [2.0 * (1.0 + 3.0 * 0.2), 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(end.rotation(2.0)[:, 1], [0.0, np.cos(3.0), np.sin(3.0)], atol=1e-9)


def test_elastica():
    """Inextensible cantilever under a dead force across it, P L^2/EI = 5, by elliptic integrals."""
    end = cantilever(1.0, np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), (0.0, 5.0, 0.0), intervals=16)[-1]
    slope = np.arctan2(end.rotation(1.0)[1, 0], end.rotation(1.0)[0, 0])
    m = 0.5 * (1.0 + np.sin(slope))
    start = np.arcsin(np.sqrt(0.5 / m))
    assert ellipk(m) - ellipkinc(start, m) == pytest.approx(np.sqrt(5.0), abs=1e-9)
    deflection = 1.0 - 2.0 / np.sqrt(5.0) * (ellipe(m) - ellipeinc(start, m))
    np.testing.assert_allclose(end.place(1.0), [np.sqrt(2.0 * np.sin(slope) / 5.0), deflection, 0.0], atol=1e-9)


def test_curved_and_twisted_beam_without_load():
    """A helix of radius r and rise p per radian has the curvature r/(r^2 + p^2) and the torsion p/(r^2 + p^2)."""
    r, p, angle = 0.8, 0.3, 2.5
    speed = np.hypot(r, p)
    tangent, normal = np.array([0.0, r, p]) / speed, np.array([-1.0, 0.0, 0.0])
    R = np.stack([tangent, normal, np.cross(tangent, normal)], axis=1)
    end = cantilever(
        angle * speed, FLEXIBLE, x=(r, 0.0, 0.0), R=R, curvature=(p / speed**2, 0.0, r / speed**2), intervals=8
    )[-1]
    np.testing.assert_allclose(end.place(angle * speed), [r * np.cos(angle), r * np.sin(angle), p * angle], atol=1e-11)


def test_loads_inside_beside_the_line_and_along_it_are_in_equilibrium():
    f, m, arm, load = (0.4, -0.6, 0.5), (0.2, 0.3, -0.1), (0.0, 0.2, -0.1), np.array([0.1, 0.2, -0.3])
    inner = [(0.75, (0.3, 0.2, -0.4), (0.1, -0.2, 0.3), (0.0, -0.1, 0.2))]
    state = cantilever(1.5, FLEXIBLE, f, m, arm=arm, inner=inner, line_load=load, intervals=16)[-1]
    force = np.array(f) + inner[0][1] + 1.5 * load
    np.testing.assert_allclose(state.forces(0.0)[:3], force, atol=1e-11)
    at_end = state.place(1.5) + state.rotation(1.5) @ arm
    at_middle = state.place(0.75) + state.rotation(0.75) @ inner[0][3]
    moment = np.array(m) + inner[0][2] + np.cross(at_end, f) + np.cross(at_middle, inner[0][1])
    # the line load acts on the line: by the trapezoidal rule, with its error in h^2 taken out
    lever = []
    for k in (4, 2, 1):
        x, s = state.y[::k, :3], state.s[::k]
        lever.append(0.5 * np.diff(s) @ (x[1:] + x[:-1]))
    np.testing.assert_allclose(
        state.forces(0.0)[3:], moment + np.cross(extrapolated(lever, 2.0), load), rtol=0.0, atol=1e-6
    )


def test_order_eight():
    ends = [
        cantilever(2.0, FLEXIBLE, (0.3, -0.5, 0.4), (0.2, 0.1, -0.3), intervals=n)[-1].place(2.0) for n in (2, 4, 32)
    ]
    errors = [np.linalg.norm(x - ends[-1]) for x in ends[:2]]
    assert np.log2(errors[0] / errors[1]) > 7.0


def test_no_equilibrium_is_said():
    # without bending stiffness it bears no force across it
    with pytest.raises(ArithmeticError, match="no equilibrium beyond the load factor"):
        cantilever(1.0, np.diag([0.5, 0.5, 0.5, np.inf, np.inf, np.inf]), (1.0, 1.0, 0.0), intervals=2)


def test_extrapolation_takes_out_even_powers():
    h = np.array([0.3, 0.1, 0.1 / 3.0])
    np.testing.assert_allclose(extrapolated(2.0 + 5.0 * h**2 - 7.0 * h**4, 3.0), 2.0, atol=1e-14)
