"""Moments of mass and shapes: against the mass matrices of models, rigid motions and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.reduction.invariants import inertia_coordinates, moments
from fem_mbs.errors import ModelError


def linearised(model):
    compiled = model.compile(stepping=False)
    return Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))


def frame(turned=0.0):
    """Beams in space of all mass kinds, a turned body, masses with offset; on no axis."""
    m = Model(dimension=3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("bar", "rectangle", width=0.02, height=0.05)
    c, s = np.cos(turned), np.sin(turned)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    points = np.array([[0.1, 0.2, 0.3], [1.0, 0.4, 0.5], [0.7, 1.3, -0.2]]) @ R.T
    m.line("a", points[0], points[1], n=3)
    m.line("b", points[1], points[2], n=2)
    up = R @ (0.3, 0.1, 1.0)
    m.beams("a", on="a", section="bar", material="steel", orientation=up)
    m.beams("b", on="b", section="bar", material="steel", orientation=up, mass="lumped")
    m.joint("joint", "weld", "a:end", "b:start")
    m.body("block", points[2] + R @ (0.0, 0.1, 0.2), 2.0, (0.02, 0.03, 0.035), rotation=(0.4, -0.2, 0.9))
    m.joint("end", "weld", "b:end", "block")
    m.point_mass("lump", "a:start", 0.7, offset=R @ (0.05, 0.02, -0.03))
    return m


def plane_frame():
    m = Model(dimension=2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.section("bar", "rectangle", width=0.02, height=0.05)
    m.line("a", (0.2, 0.1), (1.0, 0.7), n=3)
    m.beams("a", on="a", section="bar", material="steel")
    m.body("disc", (1.2, 0.9), 3.0, 0.04, angle=0.3)
    m.joint("end", "weld", "a:end", "disc")
    return m


def solid(cell="tetra10", **options):
    m = Model(dimension=3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("box", box_mesh(cell, (2, 1, 1), (0.3, 0.1, 0.2)))
    m.solids("box", on="box", material="steel", **options)
    return m


def plate():
    m = Model(dimension=2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("box", box_mesh("quad8", (3, 2), (0.3, 0.1)))
    m.planes("box", on="box", material="steel", thickness=0.02)
    return m


PARTS = {
    "frame": frame,
    "plane frame": plane_frame,
    "tetra10": solid,
    "lumped": lambda: solid("hexahedron", mass="lumped"),
    "inside": lambda: solid("hexahedron", element="incompatible", mass="incompatible"),
    "plate": plate,
}


def rigid_columns(linear, origin):
    """(N, r) displacements of unit translations and turns about a point."""
    system = linear.system
    dim, n = system.dimension, system.nodes.x.shape[0]
    x = system.nodes.x - origin
    turning = np.flatnonzero(system.nodes.rotational)
    T = np.zeros((system.n_dof, 3 if dim == 2 else 6))
    at = system.offset[:n]
    for a in range(dim):
        T[at + a, a] = 1.0
    if dim == 2:
        T[at, 2], T[at + 1, 2] = -x[:, 1], x[:, 0]
        T[system.offset[turning] + 2, 2] = 1.0
        return T
    for a in range(3):
        T[at[:, None] + np.arange(3), 3 + a] = np.cross(np.eye(3)[a], x)
        T[system.offset[turning] + 3 + a, 3 + a] = 1.0
    return T


@pytest.mark.parametrize("part", PARTS)
def test_they_agree_with_the_mass_matrix(part):
    """Sums of the moments are T^T M T, the mass, and the products with rigid motions."""
    linear = linearised(PARTS[part]())
    system, M = linear.system, linear.mass_matrix
    dim = system.dimension
    rng = np.random.default_rng(3)
    T = rng.normal(size=(system.n_dof, 4))
    T[system.first_multiplier :] = 0.0
    origin = np.array([0.3, -0.2, 0.1])[:dim]
    found = moments(linear, T, origin)
    rigid = rigid_columns(linear, origin)
    scale = np.abs(T.T @ M @ T).max()
    assert np.abs(sum(found.quadratic[a, a] for a in range(dim)) - T.T @ M @ T).max() < 1e-12 * scale
    R = rigid.T @ M @ rigid
    np.testing.assert_allclose(found.mass, R[0, 0], rtol=1e-12)
    S = rigid.T @ M @ T
    np.testing.assert_allclose(found.linear, S[:dim], atol=1e-12 * np.abs(S).max())
    pairs = [(0, 1)] if dim == 2 else [(1, 2), (2, 0), (0, 1)]
    for k, (a, b) in enumerate(pairs):  # e_c x c . Phi = c_a Phi_b - c_b Phi_a
        twist = found.mixed[a, b] - found.mixed[b, a]
        np.testing.assert_allclose(twist, S[dim + k], atol=1e-12 * np.abs(S).max())
    if dim == 3:
        J = np.trace(found.second) * np.eye(3) - found.second
        np.testing.assert_allclose(J, R[3:, 3:], atol=1e-12 * R[3:, 3:].max())
        c = found.first
        np.testing.assert_allclose(R[3:, :3], [[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]], atol=1e-12)
    else:
        np.testing.assert_allclose(np.trace(found.second), R[2, 2], rtol=1e-12)
        np.testing.assert_allclose(R[2, :2], (-found.first[1], found.first[0]), atol=1e-12 * found.mass)


@pytest.mark.parametrize("part", PARTS)
def test_rigid_shapes_repeat_the_moments_of_the_mass(part):
    linear = linearised(PARTS[part]())
    dim = linear.system.dimension
    found = moments(linear, rigid_columns(linear, np.zeros(dim)))
    np.testing.assert_allclose(found.linear[:, :dim], found.mass * np.eye(dim), atol=1e-12 * found.mass)
    for a in range(dim):
        np.testing.assert_allclose(found.mixed[:, a, a], found.first, atol=1e-12 * found.mass)
    size = np.abs(found.second).max()
    # a turn about axis k: Phi = e_k x c
    if dim == 2:
        np.testing.assert_allclose(found.mixed[:, 0, 2], -found.second[:, 1], atol=1e-12 * size)
        np.testing.assert_allclose(found.quadratic[1, 1, 2, 2], found.second[0, 0], atol=1e-12 * size)
    else:
        np.testing.assert_allclose(found.mixed[:, 1, 3], -found.second[:, 2], atol=1e-12 * size)
        np.testing.assert_allclose(found.quadratic[1, 2, 3, 4], found.second[2, 0], atol=1e-12 * size)
        np.testing.assert_allclose(found.quadratic[1, 2, 3, 3], -found.second[2, 1], atol=1e-12 * size)


def test_a_turned_part_has_turned_moments():
    a, b = linearised(frame()), linearised(frame(0.7))
    c, s = np.cos(0.7), np.sin(0.7)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    # (the axes of the body stay: its inertia tensor does not turn; its place and that of all others do)
    T = np.random.default_rng(5).normal(size=(a.system.n_dof, 2))
    turned = T.copy()
    nodes = a.system.nodes
    for first in np.concatenate((a.system.offset[: len(nodes.x)], a.system.offset[nodes.rotational.nonzero()[0]] + 3)):
        turned[first : first + 3] = R @ T[first : first + 3]
    one, two = moments(a, T), moments(b, turned)
    np.testing.assert_allclose(two.first, R @ one.first, rtol=1e-12)
    np.testing.assert_allclose(two.linear, R @ one.linear, atol=1e-10)
    x = a.system.nodes.x @ R.T
    np.testing.assert_allclose(b.system.nodes.x, x, atol=1e-12)


def test_kinetic_energy_of_a_moving_flexible_part():
    """r = x + d_a (c_a + Phi_a q) with any frame and speeds: the sum over masses is that over the moments."""
    linear = linearised(frame())
    rng = np.random.default_rng(8)
    T = rng.normal(size=(linear.system.n_dof, 3))
    found, y = moments(linear, T), inertia_coordinates(linear)
    d, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    q = rng.normal(size=3)
    J = found.matrix()
    # rates of 1, c_a, Phi_ak in the order of the matrix
    rates = np.vstack((x, d, np.concatenate([np.outer(q, d[a]) for a in range(3)])))
    size = y.one.size
    shapes = (y.shift @ T).reshape(3, size, 3)
    dy = np.outer(y.one, x) + np.einsum("ia,ab->ib", y.place, d) + np.einsum("aik,k,ab->ib", shapes, q, d)
    brute = 0.5 * np.einsum("ib,ib->", dy, y.M @ dy)
    np.testing.assert_allclose(0.5 * np.einsum("ij,ib,jb->", J, rates, rates), brute, rtol=1e-12)


def test_masses_without_a_distribution_are_refused():
    m = frame()
    m.nodal_mass("added", "a:start", np.diag((1.0, 2.0, 3.0, 0.1, 0.1, 0.1)))
    linear = linearised(m)
    with pytest.raises(ModelError, match='nodal mass "added"'):
        moments(linear, np.zeros((linear.system.n_dof, 1)))
    m = Model(dimension=2)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("ring", box_mesh("quad", (1, 1), (1.0, 1.0)))
    m.planes("ring", on="ring", material="steel", state="axisymmetric")
    linear = linearised(m)
    with pytest.raises(ModelError, match='"ring" is axisymmetric'):
        moments(linear, np.zeros((linear.system.n_dof, 1)))


def test_shapes_need_all_rows():
    linear = linearised(plate())
    with pytest.raises(ModelError, match="need a row for each"):
        moments(linear, np.zeros((3, 1)))
