"""Solid elements beyond the contract: patch tests, zero modes, closed forms, orders of convergence, buckling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse.linalg import spsolve
from solid_meshes import Part, grid

from fem_mbs.contract import KINETIC, LEDGER, LX, LZ, PX, STRAIN
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import plane, shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.material import isotropic, orthotropic, thermal_strain, turned
from fem_mbs.elements.solids.strains import inverse3
from fem_mbs.errors import ModelError

SOLIDS = list(solid.KINDS)
E, NU = 210.0, 0.3


def order_of(name):
    """Polynomial degree that the element holds completely."""
    return 2 if shapes.n_nodes(solid.KINDS[name][0]) in (10, 15, 20) else 1


def part_of(name, counts, size=None, distort=0.0, C=None, **options):
    cell = solid.KINDS[name][0]
    X, cells = grid(cell, counts, size, distort)
    C = isotropic(E, NU) if C is None else C
    return Part(name, X, cells, solid.parameters(X[cells], C, **options))


def on_boundary(X, size=(1, 1, 1)):
    return np.any((np.abs(X) < 1e-9) | (np.abs(X - np.array(size)) < 1e-9), axis=1)


def solve_dirichlet(part, held, u):
    """Displacements (m, dim) with those of the nodes ``held`` as in u, no forces elsewhere (linear elements)."""
    K = part.tangent()
    free = np.flatnonzero(~np.repeat(held, part.dim))
    u = np.where(held[:, None], u, 0.0)
    load = -(part.force(part.X + u)).ravel()[free]
    flat = u.ravel().copy()
    flat[free] = spsolve(K[free][:, free].tocsc(), load)
    return flat.reshape(u.shape)


# --- tables ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cell", shapes.CELLS)
def test_shapes_are_interpolating_with_right_gradients(cell):
    x = shapes.local_nodes(cell)
    assert np.allclose(shapes.shape_functions(cell, x), np.eye(len(x)), atol=1e-14)
    p = np.random.default_rng(0).uniform(0.1, 0.4, (5, x.shape[1]))
    g = shapes.gradients(cell, p)
    assert np.abs(g.sum(axis=2)).max() < 1e-14
    for k in range(x.shape[1]):
        d = np.zeros(x.shape[1])
        d[k] = 1e-5
        difference = (shapes.shape_functions(cell, p + d) - shapes.shape_functions(cell, p - d)) / 2e-5
        assert np.abs(difference - g[:, k]).max() < 1e-9


@pytest.mark.parametrize("cell", shapes.CELLS)
def test_determinants_are_those_of_the_jacobians(cell):
    """On rotated and distorted cells, more than fit into one chunk of the evaluation."""
    rng = np.random.default_rng(2)
    x = shapes.local_nodes(cell)
    count, p = 700, rng.uniform(0.1, 0.4, (160, x.shape[1]))
    turned = x @ rng.standard_normal((count, x.shape[1], x.shape[1]))
    X = turned + 0.1 * rng.standard_normal((count, *x.shape))
    exact = np.linalg.det(np.einsum("eni,qkn->eqik", X, shapes.gradients(cell, p)))
    assert np.abs(shapes.determinants(cell, X, p) - exact).max() < 1e-12 * np.abs(exact).max()


def test_inverse_of_a_matrix():
    J = np.random.default_rng(3).standard_normal((3, 3)) + 2.0 * np.eye(3)
    inverse = np.empty((3, 3))
    assert inverse3(J, inverse) == pytest.approx(np.linalg.det(J), rel=1e-14)
    assert inverse == pytest.approx(np.linalg.inv(J), abs=1e-14)


@pytest.mark.parametrize("cell", shapes.FACES)
def test_faces_close_the_cell_and_point_outwards(cell):
    """The integral of the normal over all faces is zero, that of x.n the dimension times the volume."""
    rng = np.random.default_rng(1)
    X = shapes.local_nodes(cell) + 0.05 * rng.uniform(-1, 1, shapes.local_nodes(cell).shape)
    dim = X.shape[1]
    total, flux = np.zeros(dim), 0.0
    for face, nodes in shapes.FACES[cell]:
        assert len(nodes) == shapes.n_nodes(face)
        p, w = shapes.exact_rule(face)
        T = shapes.jacobians(face, X[None, list(nodes)], p)[0]
        normal = np.cross(T[:, :, 0], T[:, :, 1]) if dim == 3 else np.stack((T[:, 1, 0], -T[:, 0, 0]), axis=1)
        x = shapes.shape_functions(face, p) @ X[list(nodes)]
        total += w @ normal
        flux += w @ np.einsum("qi,qi->q", x, normal)
    volume = shapes.volumes(cell, X[None])[0]
    assert volume > 0
    assert np.abs(total).max() < 1e-13
    assert flux == pytest.approx(dim * volume, rel=1e-12)


def distorted_cell(cell):
    """The nodes of a distorted, stretched cell, at x > 0."""
    X = shapes.local_nodes(cell)
    X = X + 0.15 * np.random.default_rng(8).uniform(-1.0, 1.0, X.shape)
    return X * (1.0, 2.0, 0.7)[: X.shape[1]] + 3.0


@pytest.mark.parametrize("name", solid.KINDS)
def test_gradients_and_volumes_at_integration_points_in_space(name):
    """The gradients reproduce linear fields; the volumes are determinants times weights."""
    kind, (cell, integration, modes) = list(solid.KINDS).index(name), solid.KINDS[name]
    X = distorted_cell(cell)
    n, (x, weights) = len(X), shapes.rule(cell, integration)
    g, w = np.zeros((len(weights), 3, n)), np.zeros(len(weights))
    gm = np.zeros((len(weights) if modes else 0, 3, 3))
    solid._geometry(kind, solid.parameters(X[None], np.eye(6))[0], n, g, w, gm, np.zeros((3, 3)), np.zeros((3, 3)))
    assert np.abs(np.einsum("qia,aj->qij", g, X) - np.eye(3)).max() < 1e-12
    assert np.abs(g.sum(axis=2)).max() < 1e-12
    J = np.einsum("ai,qka->qik", X, shapes.gradients(cell, x))
    assert w == pytest.approx(weights * np.linalg.det(J), rel=1e-12)


@pytest.mark.parametrize("name", plane.KINDS)
def test_gradients_and_volumes_at_integration_points_in_the_plane(name):
    """Rings have the quotients N/X of the hoop strain too, and the volume of one radian."""
    kind, (cell, integration, ring) = list(plane.KINDS).index(name), plane.KINDS[name]
    X = distorted_cell(cell)
    n, (x, weights) = len(X), shapes.rule(cell, integration)
    g, w = np.zeros((len(weights), 3, n)), np.zeros(len(weights))
    par = np.zeros(plane.NODES + 2 * n)
    par[plane.THICKNESS], par[plane.NODES :] = 1.3, X.ravel()
    plane._geometry(kind, par, n, g, w)
    assert np.abs(np.einsum("qia,aj->qij", g[:, :2], X) - np.eye(2)).max() < 1e-12
    assert np.abs(g[:, :2].sum(axis=2)).max() < 1e-12
    N, J = shapes.shape_functions(cell, x), np.einsum("ai,qka->qik", X, shapes.gradients(cell, x))
    radius = N @ X[:, 0]
    assert w == pytest.approx(1.3 * weights * np.linalg.det(J) * (radius if ring else 1.0), rel=1e-12)
    assert g[:, 2] == pytest.approx(N / radius[:, None] if ring else np.zeros_like(N), rel=1e-12)


@pytest.mark.parametrize("key", shapes.RULES, ids=str)
def test_rules_integrate_their_degree(key):
    """Volumes of cells with straight sides, and moments of second (linear cells: first) degree."""
    p, w = shapes.RULES[key]
    q, v = shapes.exact_rule(key[0])
    dim = p.shape[1]
    degree = 1 if shapes.n_nodes(key[0]) in (3, 4, 6) else 2
    for powers in np.ndindex(*(3,) * dim):
        if sum(powers) <= degree:
            a, b = w @ np.prod(p**powers, axis=1), v @ np.prod(q**powers, axis=1)
            assert a == pytest.approx(b, abs=1e-14)


def test_folded_cells_are_seen():
    X = shapes.local_nodes("tetra10")[None]
    assert shapes.smallest_jacobian("tetra10", X)[0] > 0
    turned_over = X[:, [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]]
    assert shapes.smallest_jacobian("tetra10", turned_over)[0] < 0
    shapes.check_cells("tetra10", X, 'Solid "part"')
    with pytest.raises(ModelError, match='Solid "part": tetra10 17 counts its nodes the wrong way'):
        shapes.check_cells("tetra10", turned_over, 'Solid "part"', [17])
    with pytest.raises(ModelError, match="tetra10 2 is flat or folds"):
        shapes.check_cells("tetra10", np.concatenate((X, X * (1, 1, 0))), 'Solid "part"')
    with pytest.raises(ModelError, match="x = -1; the axis is y"):
        shapes.check_cells("quad", shapes.local_nodes("quad")[None], 'Ring "r"', axisymmetric=True)


# --- constant strain -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SOLIDS)
def test_patch_of_distorted_cells_solves_constant_strain(name):
    part = part_of(name, (2, 2, 2), distort=0.25, nonlinear=0)
    A = np.array(((1.0, 0.3, -0.2), (0.5, -0.7, 0.4), (0.1, 0.6, 0.8)))
    exact = part.X @ A.T
    held = on_boundary(part.X)
    assert not held.all()
    u = solve_dirichlet(part, held, exact)
    assert np.abs(u - exact).max() < 1e-12 * np.abs(exact).max()
    stress, strain = part.stresses(part.X + u)
    wanted = np.array((A[0, 0], A[1, 1], A[2, 2], A[0, 1] + A[1, 0], A[1, 2] + A[2, 1], A[2, 0] + A[0, 2]))
    assert np.abs(strain - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert np.abs(stress - isotropic(E, NU) @ wanted).max() < 1e-12 * E * np.abs(wanted).max()


@pytest.mark.parametrize("name", SOLIDS)
def test_patch_of_large_homogeneous_strain_balances(name):
    """A finite homogeneous deformation, turned, leaves inner nodes without force; its energy is the closed form."""
    rng = np.random.default_rng(3)
    C = turned(
        orthotropic((10.0, 7.0, 4.0), (0.2, 0.25, 0.3), (3.0, 2.0, 1.5)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    )
    part = part_of(name, (2, 2, 2), distort=0.25, C=C)
    F = np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    x = part.X @ F.T + np.array((3.0, -2.0, 1.0))
    G = (F.T @ F - np.eye(3)) / 2
    strain = np.array((G[0, 0], G[1, 1], G[2, 2], 2 * G[0, 1], 2 * G[1, 2], 2 * G[2, 0]))
    force = part.force(x)
    assert np.abs(force[~on_boundary(part.X)]).max() < 1e-12 * np.abs(force).max()
    assert part.report(LEDGER, x)[STRAIN] == pytest.approx(strain @ C @ strain / 2, rel=1e-12)
    # sum of f (x) X = volume times the first Piola-Kirchhoff stress F S
    s = C @ strain
    S = np.array(((s[0], s[3], s[5]), (s[3], s[1], s[4]), (s[5], s[4], s[2])))
    assert np.abs(force.T @ part.X - F @ S).max() < 1e-12 * np.abs(F @ S).max()


# --- zero modes ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SOLIDS)
def test_zero_modes(name):
    cell = solid.KINDS[name][0]
    X = shapes.local_nodes(cell)
    X = X + 0.05 * np.random.default_rng(2).uniform(-1, 1, X.shape)
    part = Part(name, X, np.arange(len(X))[None], solid.parameters(X[None], isotropic(E, NU)))
    values = np.linalg.eigvalsh(part.tangent().toarray())
    zero = int((np.abs(values) < 1e-11 * values[-1]).sum())
    assert values[0] > -1e-11 * values[-1]
    assert zero == {"solid_hexahedron20_reduced": 12, "solid_wedge_reduced": 7}.get(name, 6)


@pytest.mark.parametrize(
    ("name", "counts", "zero"),
    [
        ("solid_hexahedron20_reduced", (2, 1, 2), 6),
        ("solid_hexahedron20_reduced", (3, 1, 1), 6 + 4),
        ("solid_wedge_reduced", (1, 1, 1), 6),
    ],
)
def test_zero_modes_of_meshes(name, counts, zero):
    """Modes of reduced integration do not spread over a mesh, but along a single row of elements."""
    part = part_of(name, counts)
    values = np.linalg.eigvalsh(part.tangent().toarray())
    assert (np.abs(values) < 1e-10 * values[-1]).sum() == zero


# --- closed forms ----------------------------------------------------------------------------------------------------
def _bending(X):
    """Pure bending about z of an isotropic bar along x (St. Venant; Timoshenko & Goodier, section 102), curvature 1."""
    x, y, z = X.T
    return np.stack((x * y, (NU * (z * z - y * y) - x * x) / 2, -NU * y * z), axis=1)


@pytest.mark.parametrize("name", [n for n in SOLIDS if order_of(n) == 2 or "incompatible" in n])
def test_pure_bending_is_exact(name):
    """Quadratic tetrahedra hold it on any straight-sided mesh, the others on one of boxes (incompatible modes: one
    element high)."""
    size = (4.0, 1.0, 1.0)
    counts = (4, 1, 1) if "incompatible" in name else (4, 2, 2)
    part = part_of(name, counts, size, 0.15 if "tetra" in name else 0.0, nonlinear=0)
    held = np.abs(part.X[:, 0] * (part.X[:, 0] - 4.0)) < 1e-9
    part.X[:, 1:] -= 0.5
    part.par[:, solid.NODES :] = part.X[part.cells].reshape(len(part.cells), -1)
    exact = 1e-3 * _bending(part.X)
    if "incompatible" in name:
        # the modes of the cross-section are inside the elements: the corners see the mean of theirs
        exact[:, 1] -= 1e-3 * NU * (part.X[:, 2] ** 2 - part.X[:, 1] ** 2) / 2
        exact[:, 2] = 1e-3 * -NU * part.X[:, 1] * part.X[:, 2]
    u = solve_dirichlet(part, held, exact)
    assert np.abs(u - exact).max() < 1e-11 * np.abs(exact).max()
    stress, _ = part.stresses(part.X + u)
    p, _w = shapes.rule(*solid.KINDS[name][:2])
    y = np.einsum("qn,en->eq", shapes.shape_functions(solid.KINDS[name][0], p), part.X[part.cells][:, :, 1])
    assert np.abs(stress[..., 0] - 1e-3 * E * y).max() < 1e-11 * E * 1e-3
    assert np.abs(stress[..., 1:]).max() < 1e-10 * E * 1e-3


def test_uniaxial_stretch_of_the_material():
    """A bar with nu = 0 stretched by a: force E (a^3 - a)/2 per area, also in compression."""
    for stretch in (1.5, 0.8):
        part = part_of("solid_hexahedron", (1, 1, 1), C=isotropic(E, 0.0))
        x = part.X * np.array((stretch, 1, 1))
        force = part.force(x)[part.X[:, 0] > 0.5, 0].sum()
        assert force == pytest.approx(E * (stretch**3 - stretch) / 2, rel=1e-13)


@pytest.mark.parametrize("name", SOLIDS)
def test_free_heating_is_stress_free(name):
    strain0 = thermal_strain(1.2e-5, 100.0)
    part = part_of(name, (2, 2, 2), distort=0.2, nonlinear=0, strain0=strain0)
    x = part.X * (1 + 1.2e-3)
    assert np.abs(part.force(x)).max() < 1e-14 * E
    assert np.abs(part.stresses(x)[0]).max() < 1e-13 * E
    held = part.stresses(part.X)[0]
    assert np.allclose(held[..., :3], -E / (1 - 2 * NU) * 1.2e-3, rtol=1e-12)


# --- convergence -----------------------------------------------------------------------------------------------------
def _harmonic(X):
    """Gradient of a harmonic function: it balances in every isotropic body without body force."""
    x, y, z = (X * np.array((np.sqrt(2.0), 1.0, 1.0))).T
    e = np.exp(x)
    return np.stack(
        (np.sqrt(2.0) * e * np.sin(y) * np.cos(z), e * np.cos(y) * np.cos(z), -e * np.sin(y) * np.sin(z)), 1
    )


def _l2_error(part, cell, u):
    p, w = shapes.exact_rule(cell)
    N, X = shapes.shape_functions(cell, p), part.X[part.cells]
    det = np.linalg.det(shapes.jacobians(cell, X, p))
    points = np.einsum("qn,eni->eqi", N, X)
    error = np.einsum("qn,eni->eqi", N, u[part.cells]) - _harmonic(points.reshape(-1, 3)).reshape(points.shape)
    return np.sqrt(np.einsum("eqi,eqi,eq,q->", error, error, det, w))


@pytest.mark.parametrize("name", SOLIDS)
def test_order_of_convergence(name):
    """Displacements of a smooth solution converge with order p + 1 in L2."""
    cell, p = solid.KINDS[name][0], order_of(name)
    errors = []
    counts = (3, 6) if p == 2 else (6, 12)
    for n in counts:
        part = part_of(name, (n, n, n), nonlinear=0)
        u = solve_dirichlet(part, on_boundary(part.X), _harmonic(part.X))
        errors.append(_l2_error(part, cell, u))
    slope = np.log2(errors[0] / errors[1])
    assert slope == pytest.approx(p + 1, abs=0.17)
    assert errors[1] < (1.5e-3 if p == 2 else 1.2e-2)


# --- initial stresses ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["solid_hexahedron20_reduced", "solid_tetra10", "solid_hexahedron_incompatible"])
@pytest.mark.parametrize("nonlinear", [0, 1])
def test_buckling_of_a_column(name, nonlinear):
    """Clamped column under its axial load: Euler's load with the shear correction of Engesser."""
    L, b = 12.0, 1.0
    part = part_of(name, (8, 1, 2), (L, b, b), C=isotropic(E, 0.0), nonlinear=nonlinear)
    held = np.repeat(part.X[:, 0] < 1e-9, 3)
    free = np.flatnonzero(~held)
    K = part.tangent().toarray()[np.ix_(free, free)]
    load = 1.0 / b**2
    stress = np.zeros((len(part.cells), len(part.type.outputs) // 12, 2, 6))
    stress[..., 0, 0] = -load
    stressed = Part(name, part.X, part.cells, part.type.prestress(part.par, stress.reshape(len(stress), -1), 1.0))
    Kg = stressed.tangent().toarray()[np.ix_(free, free)] - K
    assert np.abs(Kg - Kg.T).max() < 1e-12 * np.abs(Kg).max()
    factor = 1.0 / eigh(-Kg, K, eigvals_only=True, subset_by_index=[len(free) - 1, len(free) - 1])[0]
    euler = np.pi**2 * E * b**4 / 12 / (4 * L * L)
    exact = euler / (1 + euler / (5 / 6 * E / 2 * b * b))
    assert factor == pytest.approx(exact, rel=1e-2 if name != "solid_tetra10" else 3e-2)
    # twice the stress, half the factor: prestress adds up
    again = part.type.prestress(stressed.par, stress.reshape(len(stress), -1), -1.0)
    assert np.abs(Part(name, part.X, part.cells, again).tangent() - part.tangent()).max() < 1e-13 * np.abs(K).max()


def test_types_say_what_they_give():
    t = element_type("solid_tetra10")
    assert t.par[t.column("C14")] == "C14 [Pa]"
    assert len(t.outputs) == 4 * 12
    assert t.outputs[0] == "S_xx 1 [Pa]"
    assert t.outputs[-1] == "gamma_zx 4 [-]"


# --- inertia ---------------------------------------------------------------------------------------------------------
def _mass_part(cell, form, counts, size, density=2.5, distort=0.2):
    X, cells = grid(cell, counts, size, distort)
    kind = "solid" if len(counts) == 3 else "plane"
    par = solid_mass.mass_parameters(cell, X[cells], density, thickness=0.5, lumped=form == "lumped")
    return Part(f"{kind}_{form}_{cell}", X, cells, par)


@pytest.mark.parametrize("cell", solid_mass.CELLS3)
@pytest.mark.parametrize("form", ["mass", "lumped"])
def test_mass_of_a_box(cell, form):
    """Momenta of a spinning box: its mass, and of consistent masses of quadratic cells its tensor of inertia."""
    size = np.array((2.0, 1.0, 0.5))
    part = _mass_part(cell, form, (2, 2, 2), size)
    w, v0 = np.array((0.3, -0.5, 0.8)), np.array((1.0, 2.0, -0.5))
    x = part.X - size / 2
    ledger = part.report(LEDGER, x, v=v0 + np.cross(w, x))
    m = 2.5 * size.prod()
    J = m / 12 * (np.sum(size**2) - size**2)
    assert np.allclose(ledger[PX : PX + 3], m * v0, rtol=1e-12)
    if form == "mass":  # the velocity of a rigid motion is linear in the positions, which every cell holds
        assert np.allclose(ledger[LX : LZ + 1], J * w, rtol=1e-12)
        assert ledger[KINETIC] == pytest.approx((m * v0 @ v0 + w @ (J * w)) / 2, rel=1e-12)
    else:
        assert (part.par[:, solid_mass.FIRST :] > 0).all()
    weight = -part.force(x, gravity=(0.0, 0.0, -9.81)).sum(axis=0)
    assert np.allclose(weight, (0, 0, -9.81 * m), atol=1e-12)


@pytest.mark.parametrize("cell", solid_mass.CELLS2)
def test_mass_of_plane_and_axisymmetric_cells(cell):
    X, cells = grid(cell, (2, 2), (2.0, 1.0), 0.2)
    flat = solid_mass.mass_parameters(cell, X[cells], 3.0, thickness=0.5)
    assert flat[:, 0].sum() == pytest.approx(3.0, rel=1e-13)
    X[:, 0] += 1.0
    ring = solid_mass.mass_parameters(cell, X[cells], 3.0, thickness=2 * np.pi, axisymmetric=True)
    assert ring[:, 0].sum() == pytest.approx(3.0 * np.pi * (3**2 - 1), rel=1e-13)


@pytest.mark.parametrize("form", ["mass", "lumped"])
def test_frequencies_of_a_bar(form):
    """Longitudinal waves in a bar without lateral contraction: from above with consistent masses."""
    L, density = 3.0, 2.0
    part = part_of("solid_hexahedron20", (6, 1, 1), (L, 0.1, 0.1), C=isotropic(E, 0.0))
    mass = _mass_part("hexahedron20", form, (6, 1, 1), (L, 0.1, 0.1), density, 0.0)
    along = np.arange(0, part.X.size, 3)  # only displacements along the bar, fixed at one end
    along = along[part.X[:, 0] > 1e-9]
    K, M = part.tangent().toarray()[np.ix_(along, along)], mass.tangent().toarray()[np.ix_(along, along)]
    w = np.sqrt(eigh(K, M, eigvals_only=True)[:2])
    exact = np.pi / (2 * L) * np.sqrt(E / density) * np.array((1, 3))
    assert np.allclose(w, exact, rtol=1.5e-2 if form == "lumped" else 5e-4)
    if form == "mass":
        assert (w > exact).all()
