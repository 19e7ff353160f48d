"""Rotation helpers of the elements: against closed forms, numpy's linear algebra and differences on the group."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fem_mbs.elements.kinematics import (
    DP,
    P0,
    P1,
    R0,
    R1,
    atan_quotient,
    cayley_tangent,
    cayley_vector,
    point,
    point_rate,
    relative_angle,
)


def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def cay(theta):
    half = tilde(theta) / 2
    return np.linalg.solve(np.eye(3) - half, np.eye(3) + half)


def central(function, x, step=1e-4):
    """Fourth-order central difference."""
    near, far = (function(x + k * step) - function(x - k * step) for k in (1, 2))
    return (8 * near - far) / (12 * step)


@pytest.mark.parametrize("u", [0.0, 1e-12, 1e-3, 0.05, 0.0999, 0.1, 0.1001, 0.7, 30.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_atan_quotient(u, sign):
    f, df = atan_quotient(sign * u)
    assert f == pytest.approx(math.atan(u) / u if u else 1.0, rel=4e-16)
    assert df == pytest.approx(central(lambda x: atan_quotient(x)[0], sign * u), abs=1e-11)


def test_atan_quotient_is_continuous_where_the_series_ends():
    below, above = atan_quotient(np.nextafter(0.1, 0)), atan_quotient(0.1)
    assert below[0] == pytest.approx(above[0], rel=1e-15)
    assert below[1] == pytest.approx(above[1], rel=1e-12)


@pytest.mark.parametrize(
    ("vb", "va"),
    [
        (0.3, -0.2),
        (5.0, -0.1),
        (1e-9, -3e-9),
        (2.0 + 1e-9, 2.0),
        (7.0, 7.0),
        (0.0, 0.0),
        (-7.46, 7.46),  # 150 degrees either way: 300 degrees between the ends
        (2.0, -2.0),  # exactly 180 degrees between the ends
        (1e6, -1e6),
    ],
)
def test_relative_angle(vb, va):
    """kappa (vb - va) is the difference of the angles; derivatives by differences; nothing cancels."""
    dphi, kappa, by_b, by_a = relative_angle(vb, va)
    assert dphi == pytest.approx(2 * math.atan(vb / 2) - 2 * math.atan(va / 2), rel=1e-14, abs=3e-16)
    assert kappa * (vb - va) == pytest.approx(dphi, rel=1e-14)
    if vb == va:
        assert kappa == pytest.approx(1 / (1 + va * va / 4), rel=1e-15)
    scale = max(1.0, abs(vb))
    step = 1e-3 * scale
    size = 1e-8 * max(abs(by_b), kappa / scale)
    assert by_b == pytest.approx(central(lambda x: relative_angle(x, va)[1], vb, step), abs=size)
    assert by_a == pytest.approx(central(lambda x: relative_angle(vb, x)[1], va, step), abs=size)


def test_relative_angle_is_antisymmetric_and_turns_with_the_frame():
    """kappa of (b, a) and (a, b) are equal; a rotation of both ends changes vb - va but not dphi."""
    rng = np.random.default_rng(1)
    for vb, va in rng.normal(size=(20, 2)):
        forward, back = relative_angle(vb, va), relative_angle(va, vb)
        assert forward[0] == pytest.approx(-back[0], rel=1e-15)
        assert forward[1] == pytest.approx(back[1], rel=1e-15)
        assert forward[2] == pytest.approx(back[3], rel=1e-12, abs=1e-16)
        common = 0.3
        turned = [(v + common) / (1 - v * common / 4) for v in (vb, va)]
        assert relative_angle(*turned)[0] == pytest.approx(forward[0], rel=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.2, 2.6])
def test_cayley_tangent(angle):
    """Spin = T delta theta: cay(theta + delta) cay(theta)^T = I + spin~ + O(delta^2)."""
    rng = np.random.default_rng(2)
    axis = rng.normal(size=3)
    theta = 2 * math.tan(angle / 2) * axis / np.linalg.norm(axis)
    T = np.empty((3, 3))
    cayley_tangent(*theta, T)
    for j, e in enumerate(np.eye(3)):
        # cay(spin) = cay(theta + delta) cay(theta)^T; antisymmetric part of the difference quotient
        d = central(lambda x, e=e: cay(theta + x * e) @ cay(theta).T, 0.0)
        assert np.allclose([d[2, 1], d[0, 2], d[1, 0]], T[:, j], atol=1e-11)


@pytest.mark.parametrize("angle", [0.0, 1e-8, 0.5, 2.6, 3.0])
def test_cayley_vector(angle):
    rng = np.random.default_rng(3)
    A = cay(rng.normal(size=3))
    axis = rng.normal(size=3)
    theta = 2 * math.tan(angle / 2) * axis / np.linalg.norm(axis)
    out = np.empty(3)
    cayley_vector(A.ravel(), (cay(theta) @ A).ravel(), out)
    assert np.allclose(out, theta, rtol=1e-12, atol=1e-15)


def one_end(dim, rng, U):
    """Arrays of one end with a random state 0, moved by U: the arguments of `point` up to its outputs."""
    nd = 3 * (dim - 1)
    Q, D = np.zeros((2, nd + 1)), np.zeros((2, 2, 2 if dim == 2 else 9))
    Q[0, :dim] = rng.normal(size=dim)
    Q[1] = Q[0] + U
    if dim == 2:
        angle = rng.uniform(-3, 3)
        for row, a in enumerate((angle, angle + 2 * math.atan(U[2] / 2))):
            D[row, 0] = math.cos(a), math.sin(a)
    else:
        R = cay(3 * rng.normal(size=3))
        D[0, 0], D[1, 0] = R.ravel(), (cay(U[3:6]) @ R).ravel()
    dof, rot = np.arange(nd, dtype=np.int32)[None], np.zeros((1, 1), np.int32)
    return Q, D, U, dof, rot, 0, 0, rng.normal(size=(1, dim + 1)), 1


def filled(dim, seed, U):
    nd = 3 * (dim - 1)
    P, B, J = np.empty((5, dim)), np.empty((dim, nd)), np.empty((dim, nd))
    arguments = one_end(dim, np.random.default_rng(seed), U)
    point(*arguments, P, B, J)
    return arguments, P, B, J


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("size", [1e-10, 1.0])
def test_point(dim, size):
    """Positions, B U = P1 - P0 without cancellation, J = dP1/dU."""
    nd = 3 * (dim - 1)
    U = np.append(size * np.random.default_rng(4).normal(size=nd), 0.0)
    (Q, D, *_, par, column), P, B, J = filled(dim, 5, U)
    offset = par[0, column:]
    for row, (position, arm) in enumerate(((P0, R0), (P1, R1))):
        d = D[row, 0]
        R = np.array([[d[0], -d[1]], [d[1], d[0]]]) if dim == 2 else d.reshape(3, 3)
        assert np.allclose(P[arm], R @ offset, rtol=1e-14)
        assert np.allclose(P[position], Q[row, :dim] + R @ offset, rtol=1e-14)
    assert np.allclose(P[DP], B @ U[:nd], rtol=1e-13, atol=1e-14 * size)
    assert np.allclose(P[DP], P[P1] - P[P0], rtol=0, atol=1e-14)
    for j in range(nd):
        e = np.eye(nd + 1)[j]
        assert np.allclose(J[:, j], central(lambda x, e=e: filled(dim, 5, U + x * e)[1][P1], 0.0), atol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_point_rate(dim):
    """The velocity of a point is its movement in a short step with that velocity."""
    nd = 3 * (dim - 1)
    rng = np.random.default_rng(6)
    V = np.zeros((3, nd + 1))
    V[0, :nd] = rng.normal(size=nd)
    U = np.zeros(nd + 1)
    (_, D, _, dof, rot, *_), P, _, _ = filled(dim, 7, U)

    def moved(t):
        step = t * V[0]
        if dim == 3:
            step[3:6] = D[0, 0].reshape(3, 3) @ step[3:6]  # W is in body axes
        return filled(dim, 7, step)[1][P1]

    v, c = np.empty(dim), np.empty(dim)
    point_rate(V, D, dof, rot, 0, 0, 0, P[R0], v, c)
    assert np.allclose(v, central(moved, 0.0), atol=1e-10)
    assert np.allclose(v - c, V[0, :dim], rtol=1e-14)
