"""Shells of all four cells against closed forms; the printed benchmarks are those of the validation.

Sze: K. Y. Sze, X. H. Liu, S. H. Lo, Popular benchmark problems for geometric nonlinear analysis of shells, Finite
Elements in Analysis and Design 40 (2004) 1551-1569.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from shell_meshes import ALL, LINEAR, flat, grid, last, linear_of, model_of, moved, support_simply

from fem_mbs import Mesh, Model, ModelError, solve
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.shells import membrane
from fem_mbs.elements.shells.natural import Columns, reference_values
from fem_mbs.properties.shells import Layer, make_shell_section
from fem_mbs.properties.solids import make_solid_material
from fem_mbs.validation.shell_grids import on_edge

CELLS = pytest.mark.parametrize("cell", LINEAR)
EVERY = pytest.mark.parametrize("cell", ALL)
MASSES = pytest.mark.parametrize("mass", ["consistent", "lumped"])


# --- the element -----------------------------------------------------------------------------------------------------
@CELLS
def test_natural_strains_of_an_arc_are_exact(cell):
    """A strip rolled to an arc of 0.8 rad has the bending strains of its curvature, the membrane strain that frees its
    sections of normal force, -(h^2/12) |d_j - d_i|^2 per side and diagonal, and no other."""
    mesh = grid(lambda u, v: (1.5 * u, v, 0 * u), 1, 1, cell)
    model = model_of(mesh, 1.0, 0.0, 0.1)
    block = next(b for b in model.building.blocks if b.type.name == f"shell_{cell}")
    psi, n = 0.8, block.nodes.shape[1]
    X = mesh.points[block.nodes]
    angle = psi * X[..., 0] / 1.5
    c, s, o, e = np.cos(angle), np.sin(angle), 0 * angle, 0 * angle + 1
    R = np.moveaxis(np.array([[c, o, -s], [o, e, o], [s, o, c]]), (0, 1), (-2, -1))
    x = np.stack((1.5 / psi * s, X[..., 1], 1.5 / psi * (1 - c)), axis=-1)
    columns, par = Columns(n), block.par.copy()
    term = element_type(f"shell_{cell}")
    _turn(par, columns, R)
    p = reference_values(par, x) - block.par[:, columns.reference : columns.stress]
    k = columns.lines
    chord = X[:, _ends(n, 1)] - X[:, _ends(n, 0)]
    exact = chord[..., 0] ** 2 * psi / 1.5
    assert np.abs(p[:, k + n : 2 * k + n] + exact).max() < 2e-3 * exact.max()  # psi^4/360
    p[:, k + n : 2 * k + n] = 0.0
    p[:, :k] += 0.1**2 / 12.0 * (2.0 * np.sin(0.5 * psi * np.abs(chord[..., 0]) / 1.5)) ** 2
    assert np.abs(p).max() < 2e-3
    assert term.local_dofs == 6 * n


def _turn(par, columns, R):
    """Turn the vectors of the nodes of the table par by R (e, n, 3, 3)."""
    n = columns.nodes
    lines = np.array(_lines(n))
    owner = np.concatenate((
        np.tile(np.arange(n), 2), np.repeat(np.arange(n), 2), lines.ravel(), lines.ravel(), lines[n:].ravel()
    ))  # fmt: skip
    vectors = par[:, columns.vector : columns.curve].reshape(len(par), -1, 3)
    par[:, columns.vector : columns.curve] = np.einsum("evij,evj->evi", R[:, owner], vectors).reshape(len(par), -1)


@CELLS
def test_turns_of_nodes_about_the_normal_are_no_bending_in_the_surface(cell):
    """They lengthened the sides of an element, so that compressive forces drove alternating ones."""
    mesh = grid(lambda u, v: (1.5 * u, v, 0 * u), 1, 1, cell)
    model = model_of(mesh, 1.0, 0.0, 0.1)
    block = next(b for b in model.building.blocks if b.type.name == f"shell_{cell}")
    n, par = block.nodes.shape[1], block.par.copy()
    columns, angle = Columns(n), 0.3 * np.resize([1.0, -1.0], block.nodes.shape)
    c, s, o, e = np.cos(angle), np.sin(angle), 0 * angle, 0 * angle + 1
    _turn(par, columns, np.moveaxis(np.array([[c, -s, o], [s, c, o], [o, o, e]]), (0, 1), (-2, -1)))
    p = reference_values(par, mesh.points[block.nodes]) - block.par[:, columns.reference : columns.stress]
    drilling = slice(columns.lines, columns.lines + n)
    assert np.abs(p[:, drilling]).min() > 0.1
    p[:, drilling] = 0.0
    assert np.abs(p).max() < 1e-15


def test_a_cylinder_of_few_cells_buckles_as_a_cylinder():
    """Under axial compression: E h^2/R/sqrt(3 (1 - nu^2)) (Timoshenko & Gere 1961, section 11.1). With three elements
    per half wave turns of nodes about the normal alone buckled at .35 of that."""
    E, radius, h, height = 7e10, 1.0, 0.01, 1.0
    classical = E * h**2 / radius / np.sqrt(3.0)
    half = np.pi * np.sqrt(radius * h) / 12.0**0.25  # length of the half waves of rings
    found = []
    for rows in (15, 30):
        model = Model(3)
        model.material("m", E=E, nu=0.0, density=2700.0)
        model.mesh("c", tube={"radius": radius, "height": height, "n": (72, rows)})
        model.shells("c", on="c", material="m", thickness=h)
        model.fix("c:bottom", ["x", "y", "z"])
        model.fix("c:top", ["x", "y"])
        model.line_load("press", "c:top", (0.0, 0.0, -1.0))
        model.buckling_step(count=1, sign="positive")
        results = solve(model)
        found.append(results.steps[0].report.load_factors[0] / classical)
        assert np.linalg.norm(results.steps[0].frames["displacement"][0], axis=1).max() > 1e-3
    # a membrane force N takes N L^2/12 from the bending stiffness D: (pi L/half)^2/12 of it
    error = (np.pi * height / 15 / half) ** 2 / 12.0
    assert abs(found[0] - 1.0) < error
    assert abs(found[1] - 1.0) < error / 4.0


def _lines(n):
    return ((0, 1), (1, 2), (2, 0)) if n == 3 else ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3))


def _ends(n, end):
    return [line[end] for line in _lines(n)]


_BENT = np.array(
    ((-1, -1.1, 0.1), (1.2, -0.9, 0), (1, 1, 0.2), (-1.1, 0.9, -0.1), (0.1, -1, 0.2), (1.15, 0.1, 0.25), (0, 1, 0.2),
     (-1, 0.1, 0.1), (0.1, 0.05, 0.1))
)  # fmt: skip


@EVERY
@pytest.mark.parametrize("thickness", [0.2, 0.01])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_six_rigid_motions_and_no_other(cell, thickness, offset):
    """A curved or warped, distorted element without support has six zero eigenvalues; others are those of bending or
    larger."""
    X = _BENT[{"quad": [0, 1, 2, 3], "triangle": [0, 1, 3], "quad8": range(8), "triangle6": [0, 1, 3, 4, 8, 7]}[cell]]
    n = 6 * len(X)
    K = linear_of(model_of(Mesh(X, [(cell, np.arange(len(X))[None])]), 1.0, 0.3, thickness, offset=offset))
    K = K.tangent.toarray()[:n, :n]
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    assert np.abs(values[:6]).max() < 1e-12 * values[-1]
    assert values[6] > 3e-5 * thickness**2 * values[-1]


# --- statics ---------------------------------------------------------------------------------------------------------
@EVERY
def test_pinched_cylinder(cell):
    """A cylinder with diaphragms (1.8248e-5 under a unit force)."""

    def cylinder(a, b):
        t = a * np.pi / 2
        return 300 * np.sin(t), 300 * b, 300 * np.cos(t)

    n, tolerance = {"quad": (16, 0.07), "triangle": (16, 0.07), "quad8": (8, 0.01), "triangle6": (14, 0.03)}[cell]
    model = model_of(grid(cylinder, n, n, cell, flip=True), 3e6, 0.3, 3.0)
    model.fix("s:top", ["x", "z", "rotation y"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.force("F", "s:a", (0.0, 0.0, -0.25))
    assert moved(model, "s:a", "z") == pytest.approx(-1.8248e-5, rel=tolerance)


def test_raasch_hook():
    """A hook of two arcs in shear at its end: 4.9352 (Knight, AIAA Journal 35 (1997) 107-113)."""

    def place(a, b):
        s, first = a * (14 * np.pi / 3 + 46 * np.pi * 5 / 6), 14 * np.pi / 3
        t, c = np.minimum(s, first) / 14, np.pi / 3 - np.maximum(s - first, 0.0) / 46
        x = np.where(s <= first, 14 * np.sin(t), 60 * np.sin(np.pi / 3) - 46 * np.sin(c))
        y = np.where(s <= first, 14 * (1 - np.cos(t)), 14 - 60 * np.cos(np.pi / 3) + 46 * np.cos(c))
        return x, y, 20 * b

    model = model_of(grid(place, 72, 10), 3300.0, 0.35, 2.0)
    model.fix("s:left")
    on_edge(model, "right", (0.0, 0.0, 1.0))
    assert moved(model, "s:middle", "z") == pytest.approx(4.9352, rel=0.01)


# --- modes and buckling ----------------------------------------------------------------------------------------------
@EVERY
@MASSES
def test_modes_of_a_simply_supported_plate(cell, mass):
    """Kirchhoff's frequencies pi/2 (m^2 + n^2)/a^2 sqrt(D/rho h)."""
    E, nu, h, rho, n = 200e9, 0.3, 0.01, 8000.0, 12 if cell in LINEAR else 6
    model = model_of(grid(flat(1, 1), n, n, cell), E, nu, h, rho, mass=mass)
    support_simply(model)
    model.fix("s", ["x", "y", "rotation z"])
    model.modes_step(4)
    found = np.array(solve(model).steps[0].report.frequencies_hz)
    D = E * h**3 / 12 / (1 - nu**2)
    exact = np.pi / 2 * np.array((2.0, 5.0, 5.0, 8.0)) * np.sqrt(D / (rho * h))
    np.testing.assert_allclose(found, exact, rtol=0.02 if cell == "quad8" else 0.035)


@EVERY
def test_modes_of_a_thick_plate(cell):
    """Mindlin's frequencies of a simply supported square plate, h/a = 0.1 (J. Appl. Mech. 18 (1951), eq. 37)."""
    E, nu, h, rho, a, n = 200e9, 0.3, 1.0, 8000.0, 10.0, 12 if cell in LINEAR else 6
    model = model_of(grid(flat(a, a), n, n, cell), E, nu, h, rho)
    support_simply(model)
    model.fix("s", ["x", "y", "rotation z"])
    model.modes_step(4)
    D, S, m, j = E * h**3 / 12 / (1 - nu**2), 5 / 6 * E / (2 * (1 + nu)) * h, rho * h, rho * h**3 / 12
    exact = []
    for modes in (2, 5, 5, 8):
        k2 = modes * (np.pi / a) ** 2
        # (w^2 m/S - k^2)(w^2 j - D k^2) = m w^2
        exact.append(np.sqrt(np.roots((m * j / S, -(m * D * k2 / S + k2 * j + m), D * k2**2)).min()) / (2 * np.pi))
    found = np.array(solve(model).steps[0].report.frequencies_hz)
    np.testing.assert_allclose(found, exact, rtol=0.04 if cell == "triangle" else 0.03)


@EVERY
def test_plate_buckles(cell):
    """A simply supported square plate under uniaxial compression: N = 4 pi^2 D/b^2 (Bryan 1891)."""
    E, nu, h, n = 200e9, 0.3, 0.01, 12 if cell in LINEAR else 6
    model = model_of(grid(flat(1, 1), n, n, cell), E, nu, h)
    support_simply(model)
    model.fix("s:left", ["x"])
    model.fix("s:a", ["y"])
    on_edge(model, "right", (-4 * np.pi**2 * E * h**3 / 12 / (1 - nu**2), 0.0, 0.0))
    model.buckling_step(count=1)
    (factor,) = solve(model).steps[0].report.load_factors
    assert factor == pytest.approx(1.0, rel=0.03 if cell == "triangle6" else 0.015)


# --- large rotations -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cell", "n", "tolerance"),
    [("quad", 8, 0.005), ("quad", 16, 0.005 / 16), ("triangle", 8, 0.04), ("quad8", 8, 0.005), ("triangle6", 8, 0.005)],
)
def test_strip_rolls_up(cell, n, tolerance):
    """A cantilever under an end moment becomes a full circle of n elements (Sze, section 3.2).  The error of an arc in
    cells of 4 nodes falls with the fourth power of its angle (docs/theory.md)."""
    model = model_of(grid(flat(12, 1), n, 1, cell), 1.2e6, 0.0, 0.1)
    model.fix("s:left")
    on_edge(model, "right", (0.0, -50 * np.pi / 3, 0.0), "moment")
    model.sensor("x", "position", on="s:b")
    model.static_step(increments=6)
    found = solve(model)
    phi = 2 * np.pi * found.steps[0].series["load factor"][1:]
    exact = np.column_stack((12 / phi * np.sin(phi), 0 * phi, 12 / phi * (1 - np.cos(phi))))
    assert np.abs(found.sensor("x").values[1:] - exact).max() < tolerance * 12


def end_angle(cell, h, n=4):
    """Return the angle [rad] of the end of a strip of length 1 under the moment that bends it by 1 rad, nu = 0."""
    model = model_of(grid(flat(1, 0.1), n, 1, cell), 1e6, 0.0, h)
    model.fix("s:left")
    for edge in ("bottom", "top"):
        model.fix(f"s:{edge}", ["y", "rotation x", "rotation z"])
    on_edge(model, "right", (0.0, -1e6 * 0.1 * h**3 / 12.0, 0.0), "moment")
    model.sensor("end", "rotation", on="s:b")
    model.static_step(increments=8)
    return np.linalg.norm(solve(model).sensor("end").values[-1])


@CELLS
def test_moment_of_a_thick_strip_is_that_of_its_curvature(cell):
    """M = D k, whatever the thickness over the radius; an arc of 1/4 rad per element leaves 1e-5, triangles more, which
    the thin strip tells."""
    thin, thick = end_angle(cell, 0.01), end_angle(cell, 0.2)
    assert thick / thin == pytest.approx(1.0, abs=1e-3)
    if cell == "quad":
        assert thick == pytest.approx(1.0, abs=3e-4)


def test_a_thick_strip_of_tied_strains_bends_too_far_by_a_known_part():
    """Bending strains x,s.d,s stretch with the middle: the angle is (h k)^2/6 too large, to the next order."""
    thin, thick = end_angle("quad8", 0.01, 8), end_angle("quad8", 0.1, 8)
    assert thick / thin - 1.0 == pytest.approx(0.1**2 / 6.0, rel=0.1)


def arch(h, half, coupled):
    """Return the deflection under a force of 1 in the middle of a hinged arch of radius 1, width 1, E = 1e6, nu = 0.

    Castigliano's theorem with the energy of Winkler's sections, integral of E (e + z k)^2/(1 + z) dz, or that of thin
    ones, and shear with 5/6; ``half`` [rad] is half of the angle.
    """
    E = 1e6
    moments = [quad(lambda z, n=n: z**n / (1.0 + z), -h / 2, h / 2)[0] for n in range(3)]
    if not coupled:
        moments = [h, 0.0, h**3 / 12.0]
    flexibility = np.linalg.inv(E * np.array([moments[:2], moments[1:]]))
    shear = 1.0 / (5.0 / 6.0 * E / 2.0 * h)

    def forces(angle, hinge):  # normal force, moment, shear force by the force (2,) of the right hinge on the arch
        t, n = np.array((np.cos(angle), -np.sin(angle))), np.array((np.sin(angle), np.cos(angle)))
        arm = np.array((np.sin(half) - np.sin(angle), np.cos(half) - np.cos(angle)))
        return np.array((hinge @ t, arm[1] * hinge[0] - arm[0] * hinge[1])), hinge @ n

    def product(a, b):
        def density(angle):
            (f, q), (g, r) = forces(angle, a), forces(angle, b)
            return f @ flexibility @ g + shear * q * r

        return quad(density, 0.0, half)[0]

    across, up = np.array((-1.0, 0.0)), np.array((0.0, 0.5))
    thrust = -product(across, up) / product(across, across)
    return 2.0 * (product(up, up) + thrust * product(across, up))


def middle_of_arch(cell, n, h, half):
    def place(u, v):
        return np.sin(half * u), 0.1 * v, np.cos(half * u)

    model = model_of(grid(place, n, 1, cell), 1e6, 0.0, h)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["x", "z"])
    for edge in ("bottom", "top"):
        model.fix(f"s:{edge}", ["y", "rotation x", "rotation z"])
    on_edge(model, "left", (0.0, 0.0, -0.05))
    return -moved(model, "s:a", "z")


def test_tied_strains_are_those_of_thick_arches_natural_strains_those_of_thin_ones():
    """A hinged arch of h/R = 0.04 with a rise of 0.8 h, where stretch and bending take like shares of the energy."""
    thick, thin = arch(0.04, 0.25, True), arch(0.04, 0.25, False)
    assert thick - thin > 0.005 * thick  # ten times what is asked below, which tells the two apart
    assert middle_of_arch("quad8", 8, 0.04, 0.25) == pytest.approx(thick, rel=5e-4)
    assert middle_of_arch("quad", 48, 0.04, 0.25) == pytest.approx(thin, rel=5e-4)


@EVERY
@MASSES
def test_energy_and_momenta_are_exact_in_free_flight(cell, mass):
    """A warped, eccentric shell, thrown by a pulse, keeps energy and both momenta to round-off at large rotations."""
    n = (3, 2) if cell in LINEAR else (2, 1)
    mesh = grid(lambda a, b: (a, 0.6 * b + 0.1 * a, 0.05 * a * b), *n, cell)
    model = model_of(mesh, 2e9, 0.3, 0.01, 1500.0, offset=0.004, mass=mass)
    model.force("F", "s:c", (40.0, 10.0, 60.0), function="sin(50*pi*t) if t < 0.02 else 0")
    model.transient_step(0.05, 0.001)
    step = solve(model).steps[0]
    free = step.time > 0.0205
    energy = step.series["ledger"][free, :3].sum(axis=1)
    assert np.ptp(energy) < 1e-10 * energy.mean()
    assert np.ptp(step.series["ledger"][free, 1]) > 0.01 * energy.mean()  # it vibrates
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name][free]
        assert np.ptp(values, axis=0).max() < 1e-10 * np.abs(values).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * energy.mean()


@pytest.mark.parametrize("rule", ["newmark", "hht", "generalised-alpha"])
def test_rules_that_start_from_accelerations(rule):
    """A clamped, damped plate under a sudden force moves as by the mid-point rule."""
    found = []
    for name in ("midpoint", rule):
        mesh = grid(lambda a, b: (a, 0.6 * b, 0.05 * a * b), 3, 2)
        model = model_of(mesh, 2e9, 0.3, 0.01, 1500.0, damping=1e-4, mass_damping=0.1)
        model.fix("s:left")
        model.force("F", "s:c", (0.0, 0.0, 20.0))
        model.sensor("u", "displacement", on="s:c")
        model.transient_step(0.02, 0.0005, rule=name)
        found.append(solve(model).sensor("u").values[:, 2])
    assert np.abs(found[0]).max() > 0.005
    np.testing.assert_allclose(found[1], found[0], atol=0.01 * np.abs(found[0]).max())


# --- sections --------------------------------------------------------------------------------------------------------
def test_sections_of_layers():
    """A, B, D of layers against their sums, and the shear stiffness against closed forms."""
    E1, E2, nu12, G12, G13, G23 = 140e9, 10e9, 0.3, 5e9, 5e9, 3.5e9
    ply = make_solid_material("ply", [E1, E2, E2], [nu12, nu12, 0.4], [G12, G13, G23], None, 1600.0, 0.0)
    nu21 = nu12 * E2 / E1
    Q11, Q22, Q12 = E1 / (1 - nu12 * nu21), E2 / (1 - nu12 * nu21), nu12 * E2 / (1 - nu12 * nu21)
    # a homogeneous section has the factor 5/6
    single = make_shell_section([Layer(ply, 1.0)])
    np.testing.assert_allclose(single.shear, 5 / 6 * np.diag((G13, G23)), atol=1e-3)
    np.testing.assert_allclose(single.matrix[3:, 3:] * 12, single.matrix[:3, :3], rtol=1e-12)
    assert single.matrix[0, 0] == pytest.approx(Q11, rel=1e-12)
    # [0/90]: B11 = -B22 = (Q22 - Q11) h^2/8, D11 = D22
    cross = make_shell_section([Layer(ply, 0.5, 0.0), Layer(ply, 0.5, np.pi / 2)])
    A, B, D = cross.matrix[:3, :3], cross.matrix[:3, 3:], cross.matrix[3:, 3:]
    assert A[0, 0] == pytest.approx((Q11 + Q22) / 2, rel=1e-12)
    assert B[0, 0] == pytest.approx((Q22 - Q11) / 8, rel=1e-12)
    assert B[1, 1] == pytest.approx(-B[0, 0], rel=1e-12)
    assert D[0, 0] == pytest.approx((Q11 + Q22) / 24, rel=1e-12)
    # 45 degrees: Q16 = (Q11 - Q22)/4
    turned = make_shell_section([Layer(ply, 1.0, np.pi / 4)])
    assert turned.matrix[0, 2] == pytest.approx((Q11 - Q22) / 4, rel=1e-12)
    assert turned.matrix[0, 0] == pytest.approx((Q11 + Q22 + 2 * Q12 + 4 * G12) / 4, rel=1e-12)
    np.testing.assert_allclose(
        single.stiffness(0.2 ** np.array([[1.0, 2.0, 3.0]]))[0][0, 3:, 3:], 0.2**3 * single.matrix[3:, 3:]
    )


def test_sandwich_shear_stiffness():
    """A sandwich with thin stiff faces has the shear stiffness G d^2/c of its core (Allen 1969, section 2.7)."""
    face, core = (make_solid_material(n, E, 0.3, None, None, 0.0, 0.0) for n, E in (("face", 70e9), ("core", 70e6)))
    t, c = 0.001, 0.1
    section = make_shell_section([Layer(face, t), Layer(core, c), Layer(face, t)])
    h, d, G = c + 2 * t, c + t, 70e6 / 2.6
    assert section.stiffness(h ** np.array([[1.0, 2.0, 3.0]]))[1][0, 0, 0] == pytest.approx(G * d**2 / c, rel=0.01)


@EVERY
def test_cross_ply_cantilever_bends_as_its_section(cell):
    """An unsymmetric [0/90] strip under an end moment: curvature by the compliance of A, B, D, extension likewise."""
    model = Model(3)
    model.material("ply", E=[140e9, 10e9, 10e9], nu=[0.0, 0.0, 0.0], G=[5e9, 5e9, 3.5e9], density=0.0)
    model.mesh("s", grid(flat(1, 0.1), 5, 1, cell))
    layers = [{"material": "ply", "thickness": 0.002}, {"material": "ply", "thickness": 0.003, "angle": 90.0}]
    model.shells("shell", on="s", layers=layers)
    model.fix("s:left")
    on_edge(model, "right", (0.0, -1.0, 0.0), "moment")
    model.sensor("u", "displacement", on="s:b")
    model.linear_static_step()
    u = solve(model).sensor("u").values[-1]
    z = np.array((-0.0025, -0.0005, 0.0025))
    A, B, D = (np.diff(z**k / k) @ (140e9, 10e9) for k in (1, 2, 3))
    strain, curvature = np.linalg.solve(0.1 * np.array(((A, B), (B, D))), (0.0, -1.0))
    tolerance = 0.02 if cell == "triangle" else 1e-8  # a held edge needs moments about the normal
    assert u[2] == pytest.approx(-curvature / 2, rel=tolerance)
    assert u[0] == pytest.approx(strain, rel=tolerance)


@EVERY
def test_offset_shell_is_the_shell_on_shifted_nodes(cell):
    """Free frequencies with nodes on the bottom face, with half of the thickness as offset; the total mass."""
    found = []
    for offset in (0.0, 0.05):
        place = grid(lambda a, b, o=offset: (a, 0.3 * b, 0 * a - o), 3, 1, cell)
        model = model_of(place, 1e9, 0.3, 0.1, 1000.0, offset=offset)
        assert model.shell_groups["shell"].mass.sum() == pytest.approx(30.0, rel=1e-12)
        model.modes_step(9)
        found.append(np.array(solve(model).steps[0].report.frequencies_hz))
    np.testing.assert_allclose(found[1][-3:], found[0][-3:], rtol=1e-6)


def test_masses_and_thickness_by_an_expression():
    """Total mass and group data of a part with a varying thickness."""
    for mass in ("consistent", "lumped"):
        model = Model(3)
        model.material("m", E=1e9, nu=0.3, density=1000.0)
        model.mesh("s", grid(lambda a, b: (2 * a, b, 0 * a), 4, 2))
        model.shells("shell", on="s", material="m", thickness="0.01*(1 + x)", mass=mass)
        group = model.shell_groups["shell"]
        assert group.area.sum() == pytest.approx(2.0, rel=1e-12)
        assert group.mass.sum() == pytest.approx(1000.0 * 2.0 * 0.02, rel=1e-12)
        masses = [b for b in model.building.blocks if b.type.name == "director_mass3"]
        assert sum(b.par[:, 0].sum() for b in masses) == pytest.approx(40.0, rel=1e-12)


def test_pressure_follows_the_shell():
    """A closed box under internal pressure feels neither force nor moment; on a plate it acts against the normal."""
    model = model_of(grid(lambda a, b: (a, b, 0 * a), 2, 2), 1e9, 0.3, 0.1)
    model.pressure("p", on="s:body", value=3.0)
    model.fix("s:left")
    model.sensor("R", "reaction", on="s:left")
    model.linear_static_step()
    np.testing.assert_allclose(solve(model).steps[-1].series["sensor/R"][-1][:3], (0.0, 0.0, 3.0), atol=1e-9)


@EVERY
def test_stresses_on_both_faces(cell):
    """Pure bending of a strip turned in space: M/W on top and bottom along it, none in the middle."""
    M, h = 1.5, 0.1
    model = model_of(grid(lambda a, b: (0 * a, 10 * a, b), 5, 1, cell), 1.2e6, 0.0, h, orientation=(0.0, 1.0, 0.0))
    model.fix("s:left")
    on_edge(model, "right", (0.0, 0.0, -M), "moment")
    model.sensor("M11", "element", on="shell", element=2, quantity="M11")
    model.linear_static_step()
    found = solve(model)
    exact, near = M / (h**2 / 6), {"rtol": 0.03 if cell == "triangle" else 1e-3, "atol": 1e-3}
    # the normal is +x: a moment about -z bends the end towards +x, so that the top is compressed
    for face, sign in (("", -1.0), (" bottom", 1.0), (" middle", 0.0)):
        stress = last(found, f"stress{face} [Pa]")
        np.testing.assert_allclose(stress[:, 1], sign * exact, **near)
        assert np.abs(stress[:, [0, 2]]).max() < 0.02 * exact
        np.testing.assert_allclose(last(found, f"von Mises stress{face} [Pa]"), abs(sign) * exact, **near)
    assert found.sensor("M11").values[-1, 0] == pytest.approx(-M, rel=1e-6)


# --- wrong input -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"material": "m"}, "thickness"),
        ({"thickness": 0.1}, "material"),
        ({"material": "m", "thickness": 0.0}, "greater than 0"),
        ({"material": "m", "thickness": "y - 5"}, "greater than 0"),
        ({"material": "m", "thickness": 0.1, "layers": [{"material": "m", "thickness": 1.0}]}, "remove material"),
        ({"layers": [{"material": "m", "thickness": -1.0}]}, "thickness of layer 1"),
        ({"material": "m", "thickness": 0.1, "shear_correction": [1.0, 2.0, 3.0]}, "shear_correction"),
        ({"material": "m", "thickness": 0.1, "bending_factor": 0.0}, "bending_factor"),
        (
            {"layers": [{"material": "m", "thickness": 0.1}], "bending_material": "m"},
            "bending_material is for one material",
        ),
        (
            {"layers": [{"material": "m", "thickness": 0.1}], "bending_factor": 2.0},
            "bending_factor is for one material",
        ),
        ({"material": "m", "thickness": 0.1, "orientation": (0.0, 0.0, 0.0)}, "orientation"),
        ({"material": "m", "thickness": 0.1, "offset": [1.0, 2.0]}, "offset"),
    ],
)
def test_wrong_shells_are_refused(options, message):
    model = Model(3)
    model.material("m", E=1.0, nu=0.3, density=0.0)
    model.mesh("s", grid(lambda a, b: (a, b, 0 * a), 2, 2))
    with pytest.raises(ModelError, match=message):
        model.shells("shell", on="s", **options)


def test_layers_beyond_round_off_are_refused():
    model = Model(3)
    model.material("m", E=1.0, nu=0.3, density=0.0)
    model.material("hard", E=1e99, nu=0.3, density=0.0)
    model.mesh("s", grid(lambda a, b: (a, b, 0 * a), 2, 2))
    with pytest.raises(ModelError, match=r"layer 2 is 1.0e\+99 times stiffer than layer 1"):
        model.shells("shell", on="s", layers=[{"material": name, "thickness": 0.1} for name in ("m", "hard")])


def test_wrong_cells_are_refused():
    X = np.array(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0, 0), (1, 0.5, 0), (0.5, 1, 0), (0, 0.5, 0)))
    for cells, message in (
        ([("quad8", np.array([[0, 1, 2, 3, 6, 5, 4, 7]]))], "folds over itself"),
        ([("quad", np.array([[0, 1, 3, 2]]))], "folds over itself"),
        ([("triangle", np.array([[0, 4, 1]]))], "no area"),
    ):
        used = np.unique(np.concatenate([c.ravel() for _, c in cells]))
        number = np.searchsorted(used, cells[0][1])
        with pytest.raises(ModelError, match=message):
            model_of(Mesh(X[used], [(cells[0][0], number)]), 1.0, 0.3, 0.1)
    plane = Model(2)
    plane.material("m", E=1.0, nu=0.3, density=0.0)
    plane.mesh("s", grid(lambda a, b: (a, b, 0 * a), 1, 1))
    with pytest.raises(ModelError, match="dimension = 3"):
        plane.shells("shell", on="s", material="m", thickness=0.1)


@pytest.mark.parametrize("n", [3, 4])
def test_membranes_read_the_stiffness_of_their_rows(n):
    rng = np.random.default_rng(n)
    lines = membrane.MembraneColumns(n).strains
    A, X = rng.normal(size=(2, lines, lines)), rng.normal(size=(2, n, 3))
    stiffness = A @ A.transpose(0, 2, 1)
    par = membrane.membrane_rows(X, stiffness, rng.normal(size=(2, 3, lines)), damping=0.3)
    for e in range(2):
        S = np.zeros((lines, lines))
        membrane._matrix(par, e, S)
        assert (stiffness[e] == S).all()
