"""The mass of incompatible modes: against Guyan's condensation in numpy, in linear fields, in models and in decks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from solid_meshes import box_mesh

from fem_mbs import Model, solve
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.errors import ModelError

DENSITY = 2.3


def distorted(rng):
    return shapes.local_nodes("hexahedron") + 0.2 * rng.uniform(-1.0, 1.0, (8, 3))


def anisotropic(rng):
    A = rng.normal(size=(6, 6))
    return A @ A.T + 3.0 * np.eye(6)


def strain_matrix(g):
    """(6, 3 k) of gradients (3, k)."""
    B = np.zeros((6, g.shape[1], 3))
    for i in range(3):
        j = (i + 1) % 3
        B[i, :, i] = g[i]
        B[3 + i, :, i], B[3 + i, :, j] = g[j], g[i]
    return B.reshape(6, -1)


def with_modes(X, C):
    """Stiffness and mass (33, 33) over the nodes and the three vectors of the modes."""
    points, weights = shapes.rule("hexahedron")
    dN, N = shapes.gradients("hexahedron", points), shapes.shape_functions("hexahedron", points)
    J0 = shapes.gradients("hexahedron", np.zeros((1, 3)))[0] @ X
    K, M = np.zeros((33, 33)), np.zeros((33, 33))
    for q, w in enumerate(weights):
        J = dN[q] @ X
        det = np.linalg.det(J)
        inner = np.linalg.inv(J0) @ np.diag(-2.0 * points[q]) * np.linalg.det(J0) / det
        B = strain_matrix(np.hstack((np.linalg.solve(J, dN[q]), inner)))
        n = np.kron(np.concatenate((N[q], 1.0 - points[q] ** 2)), np.eye(3))
        K += w * det * B.T @ C @ B
        M += DENSITY * w * det * n.T @ n
    return K, M


def matrix(par):
    """Mass (24, 24) of a parameter row."""
    M = np.kron(solid_mass.masses_of(par[None, : solid_condensed.INSIDE], 8)[0], np.eye(3))
    Z = par[solid_condensed.INSIDE : solid_condensed.SPRING].reshape(3, 24)
    m = M @ np.tile(np.eye(3), (8, 1))
    return M + m @ Z + Z.T @ m.T + M.sum() / 3.0 * Z.T @ Z


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_condensed_mass_of_nodes_and_modes(seed):
    rng = np.random.default_rng(seed)
    X, C = distorted(rng), anisotropic(rng)
    K, M = with_modes(X, C)
    T = np.vstack((np.eye(24), -np.linalg.solve(K[24:, 24:], K[24:, :24])))
    wanted = T.T @ M @ T
    (par,) = solid_condensed.condensed_parameters(solid.parameters(X[None], C), DENSITY)
    assert np.abs(matrix(par) - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert np.abs(wanted - M[:24, :24]).max() > 0.05 * np.abs(wanted).max()


def test_linear_fields_have_the_standard_mass():
    """Translations, turns and homogeneous strains: the modes are at rest in them."""
    rng = np.random.default_rng(5)
    X = distorted(rng)
    (par,) = solid_condensed.condensed_parameters(solid.parameters(X[None], anisotropic(rng)), DENSITY)
    fields = np.column_stack([np.ravel(row) for row in (*np.repeat(np.eye(3)[:, None], 8, axis=1),)])
    gradients = np.eye(9).reshape(9, 3, 3)
    fields = np.hstack((fields, np.column_stack([(X @ G.T).ravel() for G in gradients])))
    standard = np.kron(solid_mass.mass_matrices("hexahedron", X[None], DENSITY)[0], np.eye(3))
    a, b = fields.T @ matrix(par) @ fields, fields.T @ standard @ fields
    assert np.abs(a - b).max() < 1e-13 * np.abs(b).max()
    assert np.linalg.eigvalsh(matrix(par))[0] > 0.0


def bar(mass="incompatible", element="incompatible", counts=(6, 1, 1), fixed=True):
    model = Model(3)
    model.mesh("m", box_mesh("hexahedron", counts, (3.0, 0.4, 0.3), distort=0.2))
    model.solid_material("steel", 2.1e11, 0.3, density=7800.0)
    model.solids("rod", "m", "steel", element=element, mass=mass)
    if fixed:
        model.fix("m:x0")
    return model


def test_assembled_matrix_is_that_of_the_elements():
    model = bar()
    compiled = model.compile(False)
    linear = Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
    (block,) = [b for b in compiled.system.blocks if b.type.inertia]
    wanted = np.zeros((compiled.system.n_dof,) * 2)
    for par, dof in zip(block.par, block.dof, strict=True):
        wanted[np.ix_(dof, dof)] += matrix(par)
    wanted[compiled.system.dummy], wanted[:, compiled.system.dummy] = 0.0, 0.0
    got = linear.mass_matrix.toarray()
    assert np.abs(got - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert model.solid_groups["rod"].mass.sum() == pytest.approx(7800.0 * 3.0 * 0.4 * 0.3, rel=1e-12)


def whole_problem(model, free):
    """Frequencies [Hz] of all unknowns, nodes' and modes', in numpy; of the nodes ``free``."""
    (group,) = model.solid_groups.values()
    C, n = model.solid_materials["steel"].stiffness, 3 * len(model.positions)
    size = n + 9 * len(group.nodes)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    for e, nodes in enumerate(group.nodes):
        k, m = with_modes(model.positions[nodes], C)
        at = np.concatenate(((3 * nodes[:, None] + np.arange(3)).ravel(), n + 9 * e + np.arange(9)))
        K[np.ix_(at, at)] += k
        M[np.ix_(at, at)] += 7800.0 / DENSITY * m
    keep = np.concatenate(((3 * free[:, None] + np.arange(3)).ravel(), np.arange(n, size)))
    K, M = K[np.ix_(keep, keep)], M[np.ix_(keep, keep)]
    # (M is singular, K perhaps too: eigenvalues of M over those of the positive K + s M)
    shift = 1e-2 * np.trace(K) / np.trace(M)
    values = 1.0 / eigh(M, K + shift * M, eigvals_only=True)[::-1][:20] - shift
    return np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi)


@pytest.mark.parametrize("held", [True, False])
def test_modes_are_those_of_nodes_and_modes_together(held):
    """Exactly, and not only at first order; a free bar has its six rigid modes and nothing else has its mass."""
    model = bar(fixed=held)
    model.modes_step(12)
    done = solve(model).summary["steps"][0]
    wanted = whole_problem(model, np.flatnonzero(model.positions[:, 0] > 1e-9) if held else np.arange(28))
    first = 0 if held else 6
    assert done["rigid_body_modes"] == first
    assert np.allclose(done["frequencies_hz"][first:], wanted[first:12], rtol=1e-9)
    assert done["equations"] == 3 * (24 if held else 28) + 3 * 6
    if not held:
        assert done["participation"]["total"][:3] == pytest.approx([7800.0 * 0.36] * 3, rel=1e-12)
        assert done["participation"]["sums"][:3] == pytest.approx([1.0] * 3, rel=1e-9)


def test_large_problems_and_bands_find_the_same():
    """Lanczos and the dense solution, the lowest modes and a counted band; the standard mass is stiffer."""
    lists = {}
    for name, mass, options in (
        ("lowest", "incompatible", {"count": 8, "check": "inertia"}),
        ("band", "incompatible", {"count": 20, "band": (0.0, 900.0)}),
        ("standard", "consistent", {"count": 8}),
    ):
        model = bar(mass, counts=(30, 3, 2))
        model.modes_step(**options)
        done = solve(model).summary["steps"][0]
        lists[name] = np.array(done["frequencies_hz"])
        if "count_check" in done:
            assert done["count_check"]["expected"] == done["count_check"]["found"]
    few = min(len(lists["band"]), 8)
    assert few >= 4
    assert np.allclose(lists["band"][:few], lists["lowest"][:few], rtol=1e-9)
    assert 1.0 < (lists["standard"] / lists["lowest"])[5] < 1.1


def test_joints_are_eliminated_from_the_coupling():
    """A free end that must stay plane makes the bar stiffer, and its bending hardly so."""
    frequencies = []
    for tied in (False, True):
        model = bar()
        nodes = np.flatnonzero(np.abs(model.positions[:, 0] - 3.0) < 1e-9)
        if tied:
            model.node("centre", (3.0, 0.2, 0.15))
            model.coupling("plate", "centre", nodes)
        model.modes_step(4)
        frequencies.append(solve(model).summary["steps"][0]["frequencies_hz"])
    ratio = np.array(frequencies[1]) / np.array(frequencies[0])
    assert (ratio > 1.0).all()
    assert ratio[0] < 1.02


def test_linear_transients_know_it_and_others_refuse_it():
    model = bar()
    model.linear_transient_step(1e-3, 1e-4)
    assert solve(model).summary["steps"]
    model = bar()
    model.transient_step(1e-3, 1e-4, name="run")
    with pytest.raises(
        ModelError, match='Solid "rod": mass = "incompatible" does not turn with the part, so step "run"'
    ):
        model.compile()
    with pytest.raises(
        ModelError, match='mass = "incompatible" is that of incompatible modes; use element = "incompat'
    ):
        bar(element="standard")
