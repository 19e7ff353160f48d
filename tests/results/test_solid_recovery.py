"""Stresses at nodes, invariants and true stresses against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import Part, grid

from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import recovery as solid_recovery
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.material import isotropic, orthotropic, plane, turned


@pytest.mark.parametrize("key", shapes.RULES, ids=str)
def test_extrapolation_holds_what_the_points_determine(key):
    """Constants always, linear fields where there are points enough."""
    cell, name = key
    A = solid_recovery.extrapolation(cell, name)
    nodes, points = shapes.local_nodes(cell), shapes.rule(cell, name)[0]
    assert A.shape == (len(nodes), len(points))
    assert np.allclose(A.sum(axis=1), 1.0, atol=1e-13)
    slope = np.array((0.7, -0.4, 1.3))[: nodes.shape[1]]
    if len(points) == 1:
        slope[:] = 0
    if key == ("wedge", "reduced"):
        slope[:2] = 0  # two points know the way along the wedge only
    assert np.allclose(A @ (points @ slope + 2), nodes @ slope + 2, atol=1e-13)


def test_nodal_average_of_a_linear_field():
    X, cells = grid("tetra10", (2, 2, 2), distort=0.2)
    points = solid_recovery.point_positions("tetra10", X[cells])
    values = np.stack((points @ (1.0, 2.0, 3.0), points[..., 0] ** 0), axis=-1)
    nodal = solid_recovery.nodal_average("tetra10", cells, values, len(X) + 1)
    assert np.allclose(nodal[:-1, 0], X @ (1.0, 2.0, 3.0), atol=1e-12)
    assert np.allclose(nodal[:-1, 1], 1.0)
    assert np.isnan(nodal[-1]).all()


def test_nodal_average_weighs_cells():
    cells = np.array([[0, 1], [1, 2]])
    values = np.array([[[1.0]], [[4.0]]])
    pair = solid_recovery.nodal_average("triangle", np.array([[0, 1, 2], [1, 3, 2]]), values, 4, weights=(1.0, 2.0))
    assert np.allclose(pair[:, 0], (1.0, 3.0, 3.0, 4.0))
    assert cells.shape == (2, 2)


def test_von_mises_and_principal_values():
    uniaxial = np.array((7.0, 0, 0, 0, 0, 0))
    assert solid_recovery.von_mises(uniaxial) == pytest.approx(7.0)
    shear = np.array((0, 0, 0, 2.0, 0, 0))
    assert solid_recovery.von_mises(shear) == pytest.approx(2 * np.sqrt(3))
    assert np.allclose(solid_recovery.principal(shear), (2, 0, -2))
    assert solid_recovery.von_mises(np.array((-3.0, -3, -3, 0))) == pytest.approx(0)
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    T = Q @ np.diag((5.0, 1.0, -2.0)) @ Q.T
    row = np.array((T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[1, 2], T[2, 0]))
    values, axes = solid_recovery.principal_axes(row)
    assert np.allclose(values, (5, 1, -2))
    assert np.allclose(T @ axes, axes * values)
    wanted = np.sqrt(((5 - 1) ** 2 + (1 + 2) ** 2 + (5 + 2) ** 2) / 2)
    assert solid_recovery.von_mises(row) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="6 components"):
        solid_recovery.principal(np.zeros(5))


@pytest.mark.parametrize("name", solid.KINDS)
def test_true_stress_of_a_stretched_and_turned_bar(name):
    """St. Venant-Kirchhoff bar with nu = 0 stretched by a along x: S = E (a^2 - 1)/2, true stress S a, turned."""
    cell, integration, _ = solid.KINDS[name]
    X, cells = grid(cell, (1, 1, 1))
    part = Part(name, X, cells, solid.parameters(X[cells], isotropic(210.0, 0.0)))
    a, R = 1.2, np.array(((0.0, 0, 1), (1, 0, 0), (0, 1, 0)))
    x = X * (a, 1, 1) @ R.T
    S, E = solid_recovery.outputs(part.report(1, x))
    assert np.allclose(E[..., 0], (a * a - 1) / 2)
    true = solid_recovery.cauchy_stresses(cell, X[cells], x[cells], S, integration)
    assert np.allclose(true, (0, 210 * (a * a - 1) / 2 * a, 0, 0, 0, 0), atol=1e-11)  # x has turned to y


def test_true_stress_about_an_axis():
    X, cells = grid("quad8", (2, 2))
    X[:, 0] += 1.0
    C = plane(isotropic(210.0, 0.3), "axisymmetric")
    part = Part("axisymmetric_quad8", X, cells, solid_plane.parameters(X[cells], C, 2 * np.pi))
    x = 1.1 * X
    S, _ = solid_recovery.outputs(part.report(1, x), 4)
    true = solid_recovery.cauchy_stresses("quad8", X[cells], x[cells], S, axisymmetric=True)
    wanted = 210.0 / (1 - 2 * 0.3) * (1.1**2 - 1) / 2 / 1.1
    assert np.allclose(true, (wanted, wanted, wanted, 0), atol=1e-11)


# --- materials -------------------------------------------------------------------------------------------------------
def test_materials():
    C = orthotropic((10.0, 10.0, 10.0), (0.3, 0.3, 0.3), (10 / 2.6,) * 3)
    assert np.allclose(C, isotropic(10.0, 0.3), rtol=1e-13)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert np.allclose(turned(isotropic(10.0, 0.3), Q), isotropic(10.0, 0.3), atol=1e-13)
    stress = plane(isotropic(10.0, 0.3), "stress")
    assert np.allclose(stress[:2, :2], 10 / 0.91 * np.array(((1, 0.3), (0.3, 1))))
    assert np.allclose(stress[2], 0)
    # a quarter turn about z exchanges the axes
    C = orthotropic((10.0, 7.0, 4.0), (0.2, 0.25, 0.3), (3.0, 2.0, 1.5))
    quarter = turned(C, np.array(((0.0, -1, 0), (1, 0, 0), (0, 0, 1))))
    assert np.allclose(quarter[1, 1], C[0, 0])
    assert np.allclose(quarter[5, 5], C[4, 4])
    # the energy of a strain does not depend on the frame
    rng = np.random.default_rng(3)
    e = rng.normal(size=(3, 3))
    e = e + e.T
    local = Q.T @ e @ Q

    def row(t):
        return np.array((t[0, 0], t[1, 1], t[2, 2], 2 * t[0, 1], 2 * t[1, 2], 2 * t[2, 0]))

    assert row(e) @ turned(C, Q) @ row(e) == pytest.approx(row(local) @ C @ row(local), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: isotropic(-1.0, 0.3), "E > 0"),
        (lambda: isotropic(1.0, 0.5), "nu"),
        (lambda: orthotropic((1.0, 1.0, 1.0), (0.9, 0.9, 0.9), (1.0, 1.0, 1.0)), "not positive"),
        (lambda: plane(isotropic(1.0, 0.3), "shell"), "kind"),
        (lambda: plane(turned(orthotropic((9.0, 1.0, 1.0), (0, 0, 0), (1, 1, 1)), _TILTED), "strain"), "couples"),
        (lambda: shapes.rule("tetra", "reduced"), "no 'reduced' integration"),
        (lambda: shapes.n_nodes("pyramid"), "no cell 'pyramid'"),
    ],
)
def test_wrong_numbers_are_named(call, match):
    with pytest.raises((ValueError, KeyError), match=match):
        call()


_TILTED = np.array(((0.8, 0, -0.6), (0, 1, 0), (0.6, 0, 0.8)))
