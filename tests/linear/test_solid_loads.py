"""Plane and axisymmetric solids, pressures and tractions on faces, against closed forms and published values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve
from solid_meshes import Part, boundary_faces, grid

from fem_mbs.contract import LEDGER, LOAD_WORK, ONE_STATE, STRAIN, TWO_STATE
from fem_mbs.elements.solids import loads as solid_loads
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import recovery as solid_recovery
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.material import isotropic, plane

E, NU = 210.0, 0.3
PLANE = [n for n in solid_plane.KINDS if n.startswith("plane")]
RINGS = [n for n in solid_plane.KINDS if n.startswith("axisymmetric")]
SPACE = list(solid.KINDS)


def plane_part(name, X, cells, kind="stress", nu=NU, modulus=E, **options):
    C = plane(isotropic(modulus, nu), "axisymmetric" if name in RINGS else kind)
    return Part(name, X, cells, solid_plane.parameters(X[cells], C, **options))


def solve(part, held, load, u=None):
    """Linear displacements (m, dim); ``held`` (m, dim) components are as in u (zero)."""
    u = np.zeros(part.X.shape) if u is None else np.where(held, u, 0.0)
    free = np.flatnonzero(~held.ravel())
    rest = (np.asarray(load) - part.force(part.X + u)).ravel()[free]
    flat = u.ravel().copy()
    flat[free] += spsolve(part.tangent()[free][:, free].tocsc(), rest)
    return flat.reshape(u.shape)


def pressures(cell, X, cells, value=1.0, chosen=None, prefix="pressure_", **columns):
    """Parts of the pressure on all outer faces of a mesh, or on those whose nodes all are ``chosen`` (m,)."""
    parts = []
    for face, nodes in boundary_faces(cell, cells).items():
        if chosen is not None:
            nodes = nodes[chosen[nodes].all(axis=1)]
        if not len(nodes):
            continue
        t = solid_loads.TYPES[prefix + face]
        par = np.zeros((len(nodes), len(t.par)))
        par[:, :2] = -1, value
        for name, number in columns.items():
            par[:, t.column(name)] = number
        parts.append(Part(t.name, X, nodes, par))
    return parts


# --- plane and axisymmetric elements ---------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["stress", "strain"])
@pytest.mark.parametrize("name", PLANE)
def test_plane_patch(name, kind):
    X, cells = grid(solid_plane.KINDS[name][0], (3, 3), distort=0.25)
    part = plane_part(name, X, cells, kind, nonlinear=0, thickness=0.3)
    exact = X @ np.array(((0.5, 0.3), (-0.2, 0.4))).T
    edge = np.any((X < 1e-9) | (X > 1 - 1e-9), axis=1)
    u = solve(part, np.repeat(edge[:, None], 2, axis=1), np.zeros_like(X), exact)
    assert np.abs(u - exact).max() < 1e-12
    stress, strain = part.stresses(X + u)
    assert np.abs(strain - (0.5, 0.4, 0.0, 0.1)).max() < 1e-12
    factor = E / (1 - NU**2) if kind == "stress" else E / (1 + NU) / (1 - 2 * NU)
    a, b = (1, NU) if kind == "stress" else (1 - NU, NU)
    sx, sy = factor * (a * 0.5 + b * 0.4), factor * (b * 0.5 + a * 0.4)
    wanted = (sx, sy, 0.0 if kind == "stress" else NU * (sx + sy), E / 2 / (1 + NU) * 0.1)
    assert np.abs(stress - wanted).max() < 1e-12 * E


@pytest.mark.parametrize("name", RINGS)
def test_axisymmetric_patch(name):
    """Equal radial and hoop strain with an axial one balances everywhere."""
    X, cells = grid(solid_plane.KINDS[name][0], (3, 3), distort=0.0 if "reduced" in name else 0.25)
    X[:, 0] += 0.5
    part = plane_part(name, X, cells, nonlinear=0, thickness=2 * np.pi)
    exact = X * (0.3, -0.2)
    edge = np.any((np.abs(X - (1.0, 0.5)) > 0.5 - 1e-9), axis=1)
    u = solve(part, np.repeat(edge[:, None], 2, axis=1), np.zeros_like(X), exact)
    assert np.abs(u - exact).max() < 1e-12
    assert np.abs(part.stresses(X + u)[1] - (0.3, -0.2, 0.3, 0.0)).max() < 1e-12


@pytest.mark.parametrize("name", PLANE + RINGS)
def test_zero_modes_in_the_plane(name):
    cell = solid_plane.KINDS[name][0]
    X = shapes.local_nodes(cell) + 0.05 * np.random.default_rng(2).uniform(-1, 1, shapes.local_nodes(cell).shape)
    X[:, 0] += 2.0
    part = plane_part(name, X, np.arange(len(X))[None], "strain")
    values = np.linalg.eigvalsh(part.tangent().toarray())
    zero = int((np.abs(values) < 1e-11 * values[-1]).sum())
    # the hoop strain sees the one mode that four points do not see in the plane
    assert zero == (1 if name in RINGS else 3) + (name in ("plane_quad8_reduced", "axisymmetric_triangle"))
    X, cells = grid(cell, (2, 2))
    X[:, 0] += 1.0
    values = np.linalg.eigvalsh(plane_part(name, X, cells, "strain").tangent().toarray())
    assert int((np.abs(values) < 1e-11 * values[-1]).sum()) == (1 if name in RINGS else 3)


@pytest.mark.parametrize("name", PLANE)
def test_large_strain_in_the_plane(name):
    """A turned homogeneous deformation has the closed form's energy and leaves inner nodes without force."""
    X, cells = grid(solid_plane.KINDS[name][0], (3, 3), distort=0.25)
    part = plane_part(name, X, cells, "strain", thickness=0.7)
    F = np.array(((1.3, -0.6), (0.8, 1.1)))
    G = (F.T @ F - np.eye(2)) / 2
    strain = np.array((G[0, 0], G[1, 1], 0, 2 * G[0, 1]))
    x = X @ F.T
    force = part.force(x)
    inner = np.all((X > 1e-9) & (X < 1 - 1e-9), axis=1)
    assert np.abs(force[inner]).max() < 1e-12 * np.abs(force).max()
    wanted = 0.7 * strain @ plane(isotropic(E, NU), "strain") @ strain / 2
    assert part.report(LEDGER, x)[STRAIN] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "n", "tolerance"),
    [
        ("plane_quad", 32, 1e-2),
        ("plane_triangle6", 8, 1e-2),
        ("plane_quad8", 8, 5e-3),
        ("plane_quad8_reduced", 8, 5e-3),
    ],
)
def test_cook_membrane(name, n, tolerance):
    """Cook's skew panel (1974, J. Struct. Div. ASCE 100, 1851-1863): tip deflection 23.96 (E = 1, nu = 1/3)."""
    cell = solid_plane.KINDS[name][0]
    X, cells = grid(cell, (n, n))
    s, t = X.T
    X = np.stack((48 * s, (1 - s) * 44 * t + s * (44 + 16 * t)), axis=1)
    part = plane_part(name, X, cells, nu=1 / 3, modulus=1.0, nonlinear=0)
    edges = boundary_faces(cell, cells)
    face, nodes = next(iter(edges.items()))
    nodes = nodes[(s[nodes] > 1 - 1e-9).all(axis=1)]
    load = Part(f"traction_{face}", X, nodes, solid_loads.traction_parameters(face, X[nodes], (0.0, 1 / 16)))
    u = solve(part, np.repeat(s[:, None] < 1e-9, 2, axis=1), -load.force())
    tip = np.argmin(np.hypot(s - 1, t - 0.5))
    assert u[tip, 1] == pytest.approx(23.96, rel=tolerance)


@pytest.mark.parametrize("name", RINGS)
def test_thick_cylinder(name):
    """Lame's cylinder in plane strain under inner pressure; the error at the bore falls with the declared order."""
    cell, a, b, p = solid_plane.KINDS[name][0], 1.0, 2.0, 0.01 * E
    errors = []
    for n in (4, 8):
        X, cells = grid(cell, (n, 1), (b - a, 1 / n))
        X[:, 0] += a
        part = plane_part(name, X, cells, nonlinear=0, thickness=2 * np.pi)
        loads = pressures(cell, X, cells, p, X[:, 0] < a + 1e-9, "axisymmetric_pressure_", thickness=2 * np.pi)
        held = np.stack((np.zeros(len(X), bool), np.ones(len(X), bool)), axis=1)
        u = solve(part, held, -sum(part_.force() for part_ in loads))
        r = X[:, 0]
        exact = (1 + NU) / E * p * a**2 / (b**2 - a**2) * ((1 - 2 * NU) * r + b**2 / r)
        errors.append(np.abs(u[:, 0] - exact).max() / exact.max())
    quadratic = shapes.n_nodes(cell) > 4
    assert errors[1] < (1e-4 if quadratic else 1e-2)
    if "reduced" in name:
        assert errors[0] < 1e-12  # these four points make a strip of elements exact at the nodes
    else:
        assert np.log2(errors[0] / errors[1]) > (2.5 if quadratic else 1.6)


# --- pressure and traction -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SPACE)
def test_hydrostatic_pressure_on_distorted_blocks(name):
    """Pressure on all faces of a block: one hydrostatic stress; consistent nodal forces of all faces and cells."""
    cell, p = solid.KINDS[name][0], 3.0
    X, cells = grid(cell, (2, 2, 2), distort=0.2)
    X = X @ np.array(((1.0, 0.3, -0.2), (0.1, 1.2, 0.2), (0.0, -0.3, 0.9)))  # slanted faces
    part = Part(name, X, cells, solid.parameters(X[cells], isotropic(E, NU), nonlinear=0))
    load = -sum(q.force() for q in pressures(cell, X, cells, p))
    assert np.abs(load.sum(axis=0)).max() < 1e-13
    assert np.abs(np.cross(X, load).sum(axis=0)).max() < 1e-13
    exact = -p * (1 - 2 * NU) / E * (X - X[0])
    # three nodes hold the rigid motions where the exact solution puts them
    held = np.zeros(X.shape, bool)
    held[[0, 1, 3]] = True  # not on one line
    u = solve(part, held, load, exact)
    assert np.abs(u - exact).max() < 1e-11 * np.abs(exact).max()
    stress = part.stresses(X + u)[0]
    assert np.abs(stress - (-p, -p, -p, 0, 0, 0)).max() < 1e-10 * p


@pytest.mark.parametrize("cell", ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge15"])
@pytest.mark.parametrize("rule", [TWO_STATE, ONE_STATE])
def test_work_of_pressure_is_the_change_of_volume(cell, rule):
    """A constant pressure on a closed surface does the work -p times the change of the volume, at any step."""
    rng = np.random.default_rng(4)
    X, cells = grid(cell, (1, 1, 1))
    x0, x1 = X + 0.2 * rng.normal(size=X.shape), X + 0.2 * rng.normal(size=X.shape)
    loads = pressures(cell, X, cells, 2.5)
    work = sum(q.report(LEDGER, x1, x0=x0, rule=rule)[LOAD_WORK] for q in loads)
    change = (shapes.volumes(cell, x1[cells]) - shapes.volumes(cell, x0[cells])).sum()
    assert work == pytest.approx(-2.5 * change, rel=1e-12)
    force = sum(q.force(x1, x0=x0) for q in loads)
    assert np.sum(force * (x1 - x0)) == pytest.approx(2.5 * change, rel=1e-12)
    # its tangent at a state is that of a potential
    K = sum(q.tangent(x1) for q in loads).toarray()
    assert np.abs(K - K.T).max() < 1e-13 * np.abs(K).max()


@pytest.mark.parametrize("cell", ["triangle", "quad8"])
@pytest.mark.parametrize("ring", [False, True])
def test_work_of_pressure_on_edges(cell, ring):
    rng = np.random.default_rng(5)
    X, cells = grid(cell, (1, 1))
    X[:, 0] += 1.0
    x0, x1 = X + 0.1 * rng.normal(size=X.shape), X + 0.1 * rng.normal(size=X.shape)
    prefix = "axisymmetric_pressure_" if ring else "pressure_"
    loads = pressures(cell, X, cells, 2.5, prefix=prefix, thickness=0.4)

    def volume(x):
        p, w = shapes.exact_rule(cell)
        det = np.linalg.det(shapes.jacobians(cell, x[cells], p))
        radius = np.einsum("qn,en->eq", shapes.shape_functions(cell, p), x[cells][:, :, 0]) if ring else 1.0
        return 0.4 * np.sum(det * radius * w)

    work = sum(q.report(LEDGER, x1, x0=x0, rule=TWO_STATE)[LOAD_WORK] for q in loads)
    assert work == pytest.approx(-2.5 * (volume(x1) - volume(x0)), rel=1e-12)


def test_pressure_turns_with_the_face():
    """A face turned by a rigid rotation bears the turned force; a dead traction stays."""
    X, cells = grid("quad8", (1, 1), (2.0, 1.0))
    X = np.hstack((X, np.zeros((len(X), 1))))
    follower = Part("pressure_quad8", X, cells, np.array([[-1, 4.0]]))
    dead = Part("traction_quad8", X, cells, solid_loads.traction_parameters("quad8", X[cells], (0, 0, -4.0)))
    assert np.allclose(follower.force(), dead.force(), atol=1e-14)
    assert -follower.force().sum(axis=0)[2] == pytest.approx(-8.0, rel=1e-13)
    R = np.array(((0.0, 0, 1), (0, 1, 0), (-1, 0, 0)))
    assert np.allclose(follower.force(X @ R.T), follower.force() @ R.T, atol=1e-14)
    assert np.allclose(dead.force(X @ R.T), dead.force(), atol=1e-14)


@pytest.mark.parametrize("face", solid_loads.FACES3)
def test_traction_has_the_moments_of_the_area(face):
    """Nodal shares: their sum is the area, their first moments those of a slanted, distorted face."""
    X = shapes.local_nodes(face) + 0.1 * np.random.default_rng(6).uniform(-1, 1, shapes.local_nodes(face).shape)
    X = np.hstack((X, X @ np.array([[0.5], [-0.3]])))
    weights = solid_loads.nodal_weights(face, X[None])[0]
    p, w = shapes.exact_rule(face)
    T = shapes.jacobians(face, X[None], p)[0]
    area = np.linalg.norm(np.cross(T[:, :, 0], T[:, :, 1]), axis=1) * w
    assert weights.sum() == pytest.approx(area.sum(), rel=1e-13)
    assert np.allclose(weights @ X, area @ (shapes.shape_functions(face, p) @ X), rtol=1e-13)


def test_areas_of_nodes_on_a_cone():
    """A slanted edge about the axis: 2 pi L (2 r_1 + r_2)/6 and 2 pi L (r_1 + 2 r_2)/6, by linear shape functions."""
    r, z = np.array((0.3, 0.8)), np.array((0.1, 0.7))
    length, round_ = np.hypot(*(np.diff(r), np.diff(z))).item(), 2.0 * np.pi
    weights = solid_loads.nodal_weights("line", np.column_stack((r, z))[None], round_, axisymmetric=True)[0]
    assert weights == pytest.approx(round_ * length / 6.0 * np.array((2 * r[0] + r[1], r[0] + 2 * r[1])), rel=1e-13)


# --- published benchmarks --------------------------------------------------------------------------------------------
def _ellipses(s, t):
    """Points of NAFEMS LE1 and LE10: from the inner ellipse (2, 1) (s = 0) to the outer (3.25, 2.75), t = 0 on the y
    axis (point B), 1 on the x axis (point D is the inner end)."""
    angle = np.pi / 2 * (1 - t)
    inner = np.stack((2.0 * np.cos(angle), 1.0 * np.sin(angle)), axis=-1)
    outer = np.stack((3.25 * np.cos(angle), 2.75 * np.sin(angle)), axis=-1)
    return inner + s[..., None] * (outer - inner)


def _nafems_modulus():
    return isotropic(210e3, 0.3)  # N/mm^2 = MPa; lengths in m


@pytest.mark.parametrize(
    ("name", "counts", "tolerance"), [("plane_quad8", (8, 12), 5e-3), ("plane_quad8_reduced", (16, 30), 1.2e-2)]
)
def test_nafems_le1_elliptic_membrane(name, counts, tolerance):
    """NAFEMS standard benchmark LE1 (1990): sigma_yy = 92.7 MPa at point D, outward pressure of 10 MPa outside."""
    cell, integration, _ = solid_plane.KINDS[name]
    X, cells = grid(cell, counts)
    s, t = X.T.copy()
    X = _ellipses(s, t)
    cells = cells[:, [0, 3, 2, 1, 7, 6, 5, 4]]  # t runs clockwise
    C = plane(_nafems_modulus(), "stress")
    part = Part(name, X, cells, solid_plane.parameters(X[cells], C, 0.1, nonlinear=0))
    loads = pressures(cell, X, cells, -10.0, s > 1 - 1e-9, thickness=0.1)
    held = np.stack((t < 1e-9, t > 1 - 1e-9), axis=1)
    u = solve(part, held, -sum(q.force() for q in loads))
    stress = part.stresses(X + u)[0]
    nodal = solid_recovery.nodal_average(cell, cells, stress, len(X), integration)
    d = np.argmin(np.hypot(X[:, 0] - 2.0, X[:, 1]))
    assert nodal[d, 1] == pytest.approx(92.7, rel=tolerance)


@pytest.mark.parametrize(
    ("name", "counts", "tolerance"),
    [
        ("solid_hexahedron20", (6, 8, 4), 1.2e-2),
        ("solid_hexahedron20_reduced", (6, 8, 4), 1e-2),
        ("solid_wedge15", (6, 8, 2), 1.5e-2),
    ],
)
def test_nafems_le10_thick_plate(name, counts, tolerance):
    """NAFEMS standard benchmark LE10 (1990): sigma_yy = -5.38 MPa at D on top of a thick plate under 1 MPa."""
    cell, integration, _ = solid.KINDS[name]
    X, cells = grid(cell, counts)
    s, t, z = X.T.copy()
    X = np.column_stack((_ellipses(s, 1 - t), 0.6 * (z - 0.5)))
    part = Part(name, X, cells, solid.parameters(X[cells], _nafems_modulus(), nonlinear=0))
    loads = pressures(cell, X, cells, 1.0, z > 1 - 1e-9)
    held = np.zeros(X.shape, bool)
    held[t < 1e-9, 1] = True  # symmetry about y = 0 (D) and x = 0
    held[t > 1 - 1e-9, 0] = True
    held[s > 1 - 1e-9, :2] = True  # the outer edge holds in the plane, its middle also upwards
    held[(s > 1 - 1e-9) & (np.abs(z - 0.5) < 1e-9), 2] = True
    u = solve(part, held, -sum(q.force() for q in loads))
    stress = part.stresses(X + u)[0]
    nodal = solid_recovery.nodal_average(cell, cells, stress, len(X), integration)
    d = np.argmin(np.linalg.norm(X - (2.0, 0.0, 0.3), axis=1))
    assert nodal[d, 1] == pytest.approx(-5.38, rel=tolerance)


@pytest.mark.parametrize("kind", sorted(solid_loads.REDUCED))
def test_few_points_are_enough_for_plane_parallelograms(kind):
    """On straight faces pressures of few points equal the exact ones; on bent ones the triangle and the quadrilateral
    of eight nodes differ, while a bilinear one keeps its resultant."""
    face = kind.removesuffix("_reduced")
    rng = np.random.default_rng(4)
    flat = shapes.local_nodes(face) @ rng.normal(size=(2, 3))
    bent = flat + 0.2 * rng.normal(size=flat.shape)
    forces = {}
    for name in (kind, face):
        t = solid_loads.TYPES[f"pressure_{name}"]
        for key, X in (("flat", flat), ("bent", bent)):
            forces[name, key] = Part(t.name, X, np.arange(len(X))[None], np.array([[-1.0, 2.0]])).force()
    size = np.abs(forces[face, "flat"]).max()
    if face == "quad":
        assert np.allclose(forces[kind, "bent"].sum(axis=0), forces[face, "bent"].sum(axis=0), atol=1e-13 * size)
    else:
        assert np.allclose(forces[kind, "flat"], forces[face, "flat"], atol=1e-13 * size)
    assert np.abs(forces[kind, "bent"] - forces[face, "bent"]).max() > 1e-3 * size
