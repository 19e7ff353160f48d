"""Shells of 6 and 8 nodes against closed forms and the printed benchmarks of plates and shells.

Sources are those of `test_shells`.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.compiled import compile_model

CELLS = pytest.mark.parametrize("cell", ["quad8", "triangle6"])


def grid(place, nx, ny, cell="quad8", flip=False):
    """A mesh on the unit square mapped by ``place(u, v)``, with its edges and corners as sets; ``flip`` turns the
    normals."""
    u, v = np.meshgrid(np.linspace(0, 1, 2 * nx + 1), np.linspace(0, 1, 2 * ny + 1))
    points = np.column_stack([np.broadcast_to(c, u.shape).ravel() for c in place(u, v)]).astype(float)
    n = np.arange(len(points)).reshape(2 * ny + 1, 2 * nx + 1)

    def at(i, j):
        return n[i : 2 * ny - 1 + i : 2, j : 2 * nx - 1 + j : 2].ravel()

    a, b, c, d = at(0, 0), at(0, 2), at(2, 2), at(2, 0)
    ab, bc, cd, da, middle = at(0, 1), at(1, 2), at(2, 1), at(1, 0), at(1, 1)
    if flip:
        b, d, ab, bc, cd, da = d, b, da, cd, bc, ab
    if cell == "quad8":
        cells = np.column_stack((a, b, c, d, ab, bc, cd, da))
    else:
        halves = (a, b, c, ab, bc, middle), (a, c, d, middle, cd, da)
        cells = np.concatenate([np.column_stack(half) for half in halves])
    used, cells = np.unique(cells, return_inverse=True)
    cells = cells.reshape(-1, 8 if cell == "quad8" else 6)
    sets = {"left": n[:, 0], "right": n[:, -1], "bottom": n[0], "top": n[-1], "middle": n[ny, -1:]}
    sets |= {"a": n[0, :1], "b": n[0, -1:], "c": n[-1, -1:], "d": n[-1, :1]}
    sets = {name: np.searchsorted(used, nodes) for name, nodes in sets.items() if np.isin(nodes, used).all()}
    return Mesh(points[used], [(cell, cells)], node_sets=sets, cell_sets={"body": [(0, np.arange(len(cells)))]})


def model_of(mesh, E, nu, thickness, density=0.0, **options):
    model = Model(3)
    model.material("m", E=E, nu=nu, density=density)
    model.mesh("s", mesh)
    model.shells("shell", on="s", material="m", thickness=thickness, **options)
    return model


def shares(model, edge):
    """Nodes of an edge of equal elements, and their shares of an even load."""
    nodes = model.meshes["s"][0].node_sets[edge]
    count = len(nodes) // 2
    found = np.zeros(len(nodes))
    for i in range(count):
        found[2 * i : 2 * i + 3] += np.array((1.0, 4.0, 1.0)) / 6.0 / count
    return zip(nodes, found, strict=True)


def edge_force(model, edge, vector):
    for node, part in shares(model, edge):
        model.force(f"F{node}", int(node), tuple(part * np.array(vector)))


def moved(model, on, component):
    """Displacement of a node in a linear static step."""
    model.sensor("u", "displacement", on=on)
    model.linear_static_step()
    return solve(model).sensor("u").values[-1]["xyz".index(component)]


def linear_of(model):
    compiled = compile_model(model)
    return Linearised(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))


# --- the element -----------------------------------------------------------------------------------------------------
_BENT = np.array(
    ((-1, -1.1, 0.1), (1.2, -0.9, 0), (1, 1, 0.2), (-1.1, 0.9, -0.1), (0.1, -1, 0.2), (1.15, 0.1, 0.25), (0, 1, 0.2),
     (-1, 0.1, 0.1), (0.1, 0.05, 0.1))
)  # fmt: skip


@CELLS
@pytest.mark.parametrize("thickness", [0.2, 0.01])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_six_rigid_motions_and_no_other(cell, thickness, offset):
    """A curved, distorted element without support has six zero eigenvalues; others are those of bending or larger."""
    X = _BENT[:8] if cell == "quad8" else _BENT[[0, 1, 3, 4, 8, 7]]
    n = len(X)
    K = linear_of(model_of(Mesh(X, [(cell, np.arange(n)[None])]), 1.0, 0.3, thickness, offset=offset))
    K = K.tangent.toarray()[: 6 * n, : 6 * n]
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    assert np.abs(values[:6]).max() < 1e-13 * values[-1]
    assert values[6] > 3e-5 * thickness**2 * values[-1]


def _patch(cell):
    """MacNeal & Harder's patch of five quadrilaterals, with the middles of the sides; two triangles of each."""
    corners = np.array(
        ((0, 0, 0), (0.24, 0, 0), (0.24, 0.12, 0), (0, 0.12, 0), (0.04, 0.02, 0), (0.18, 0.03, 0), (0.16, 0.08, 0),
         (0.08, 0.08, 0))
    )  # fmt: skip
    cells = np.array(((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)))
    if cell == "triangle6":
        cells = np.concatenate((cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]))
    sides = np.stack((cells, np.roll(cells, -1, axis=1)), axis=2)
    sides.sort(axis=2)
    pairs, number = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
    points = np.vstack((corners, corners[pairs].mean(axis=1)))
    x, y, _ = points.T
    outer = (x == 0) | (x == 0.24) | (y == 0) | (y == 0.12)
    return Mesh(points, [(cell, np.hstack((cells, 8 + number.reshape(cells.shape))))]), outer


@CELLS
@pytest.mark.parametrize("state", ["membrane", "bending"])
def test_patch(cell, state):
    """MacNeal & Harder's patch test: the inner nodes and the resultants of constant strains or curvatures are exact."""
    mesh, outer = _patch(cell)
    linear = linear_of(model_of(mesh, 1e6, 0.25, 0.001))
    n = len(mesh.points)
    K = linear.tangent.toarray()[: 6 * n, : 6 * n]
    x, y, _ = mesh.points.T
    u = np.zeros((n, 6))
    if state == "membrane":
        u[:, 0], u[:, 1] = 1e-3 * (x + y / 2), 1e-3 * (y + x / 2)
        exact = np.array((1333.0, 1333.0, 400.0)) * 0.001
    else:
        u[:, 2], u[:, 3], u[:, 4] = 1e-3 * (x * x + x * y + y * y) / 2, 1e-3 * (y + x / 2), -1e-3 * (x + y / 2)
        exact = -np.array((1.111e-7, 1.111e-7, 3.333e-8))
    known, free = np.repeat(outer, 6), np.repeat(~outer, 6)
    found = np.where(known, u.ravel(), 0.0)
    found[free] = np.linalg.solve(K[np.ix_(free, free)], -K[np.ix_(free, known)] @ found[known])
    assert np.abs(found - u.ravel()).max() < 1e-6 * np.abs(u).max()
    full = np.zeros(linear.state.Q.shape[1])
    full[: 6 * n] = found
    (table,) = linear.output_changes(full).values()
    columns = slice(0, 3) if state == "membrane" else slice(3, 6)
    np.testing.assert_allclose(table[:, columns], np.tile(exact, (len(table), 1)), rtol=4e-4)  # the printed digits


# --- linear benchmarks -----------------------------------------------------------------------------------------------
#: form of the 6 x 1 elements -> relative errors that are allowed of extension, shear in the plane and out of it
_STRAIGHT = {
    ("quad8", "rectangle"): (0.005, 0.015, 0.01),
    ("quad8", "trapezoid"): (0.005, 0.095, 0.015),
    ("quad8", "parallelogram"): (0.005, 0.04, 0.01),
    ("triangle6", "rectangle"): (0.005, 0.02, 0.015),
    ("triangle6", "trapezoid"): (0.04, 0.26, 0.12),
    ("triangle6", "parallelogram"): (0.01, 0.11, 0.035),
}


@pytest.mark.parametrize(("cell", "form"), _STRAIGHT)
def test_straight_beam(cell, form):
    """Tip displacements of the slender cantilever of 6 x 1 elements by those of beam theory (MacNeal & Harder)."""
    tilt = {"rectangle": [0] * 7, "parallelogram": [0, 1, 1, 1, 1, 1, 0], "trapezoid": [0, 1, -1, 1, -1, 1, 0]}[form]

    def place(a, b):
        return 6 * a + np.interp(6 * a, np.arange(7), tilt) * 0.1 * (1 - 2 * b), 0.2 * b, 0 * a

    for i, (exact, tolerance) in enumerate(zip((3e-5, 0.1081, 0.4321), _STRAIGHT[cell, form], strict=True)):
        model = model_of(grid(place, 6, 1, cell), 1e7, 0.3, 0.1)
        model.fix("s:left")
        edge_force(model, "right", np.eye(3)[i])
        assert moved(model, "s:b", "xyz"[i]) == pytest.approx(exact, rel=tolerance)


@CELLS
@pytest.mark.parametrize(
    ("thickness", "across", "along"), [(0.32, 0.005424, 0.001754), (0.0032, 5256.0, 1294.0)], ids=["thick", "thin"]
)
def test_twisted_beam(cell, thickness, across, along):
    """A strip twisted by a quarter turn (MacNeal & Harder; thin: Belytschko, Wong & Stolarski 1989)."""

    def place(a, b):
        t, y = a * np.pi / 2, 1.1 * (b - 0.5)
        return 12 * a, y * np.cos(t), y * np.sin(t)

    for component, exact in ((2, across), (1, along)):
        model = model_of(grid(place, 12, 2, cell), 29e6, 0.22, thickness)
        model.fix("s:left")
        edge_force(model, "right", np.eye(3)[component])
        tolerance = {"quad8": 0.011, "triangle6": 0.03}[cell] if thickness < 0.1 else 0.01
        assert moved(model, "s:middle", "xyz"[component]) == pytest.approx(exact, rel=tolerance)


@CELLS
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_scordelis_lo_roof(cell, mass):
    """Vertical displacement at the middle of the free edge under its weight; elements converge to 0.3006."""

    def place(a, b):
        t = np.radians(40) * a
        return 25 * np.sin(t), 25 * b, 25 * np.cos(t)

    model = model_of(grid(place, 8, 8, cell, flip=True), 4.32e8, 0.0, 0.25, density=360.0, mass=mass)
    model.gravity = (0.0, 0.0, -1.0)
    model.fix("s:bottom", ["x", "z"])
    model.fix("s:top", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    assert moved(model, "s:c", "z") == pytest.approx(-0.3006, rel=0.004 if cell == "quad8" else 0.022)


@CELLS
def test_pinched_shells(cell):
    """A cylinder with diaphragms (1.8248e-5 under a unit force) and a hemisphere with a hole (0.0935)."""

    def cylinder(a, b):
        t = a * np.pi / 2
        return 300 * np.sin(t), 300 * b, 300 * np.cos(t)

    n = 8 if cell == "quad8" else 16
    model = model_of(grid(cylinder, n, n, cell, flip=True), 3e6, 0.3, 3.0)
    model.fix("s:top", ["x", "z", "rotation y"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.force("F", "s:a", (0.0, 0.0, -0.25))
    assert moved(model, "s:a", "z") == pytest.approx(-1.8248e-5, rel=0.01 if cell == "quad8" else 0.025)

    def hemisphere(a, b):
        t, p = a * np.pi / 2, np.radians(72) * b
        return 10 * np.cos(t) * np.cos(p), 10 * np.sin(t) * np.cos(p), 10 * np.sin(p)

    model = model_of(grid(hemisphere, n, n, cell), 6.825e7, 0.3, 0.04)
    model.fix("s:a", ["z"])
    model.fix("s:left", ["y", "rotation x", "rotation z"])
    model.fix("s:right", ["x", "rotation y", "rotation z"])
    model.force("A", "s:a", (1.0, 0.0, 0.0))
    model.force("B", "s:b", (0.0, -1.0, 0.0))
    assert moved(model, "s:a", "x") == pytest.approx(0.0935, rel=0.01 if cell == "quad8" else 0.025)


@CELLS
@pytest.mark.parametrize(("clamped", "exact"), [(False, 4.062e-6), (True, 1.26e-6)])
def test_plates_under_pressure(cell, clamped, exact):
    """Deflection in the middle of a square plate (MacNeal & Harder), one quarter by 4 x 4 elements."""
    model = model_of(grid(lambda a, b: (a, b, 0 * a), 4, 4, cell), 1.7472e7, 0.3, 0.01)
    model.pressure("p", on="s:body", value=-1e-4)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:right", ["x", "y", "z", "rotation"] if clamped else ["z", "rotation x"])
    model.fix("s:top", ["x", "y", "z", "rotation"] if clamped else ["z", "rotation y"])
    assert moved(model, "s:a", "z") == pytest.approx(exact, rel=0.01 if cell == "quad8" else 0.03)


# --- modes and buckling ----------------------------------------------------------------------------------------------
@CELLS
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_modes_of_a_simply_supported_plate(cell, mass):
    """Kirchhoff's frequencies pi/2 (m^2 + n^2)/a^2 sqrt(D/rho h)."""
    E, nu, h, rho = 200e9, 0.3, 0.01, 8000.0
    model = model_of(grid(lambda a, b: (a, b, 0 * a), 6, 6, cell), E, nu, h, rho, mass=mass)
    for edge, held in (("left", "x"), ("right", "x"), ("bottom", "y"), ("top", "y")):
        model.fix(f"s:{edge}", ["z", f"rotation {held}"])
    model.fix("s", ["x", "y", "rotation z"])
    model.modes_step(4)
    found = np.array(solve(model).steps[0].report.frequencies_hz)
    D = E * h**3 / 12 / (1 - nu**2)
    exact = np.pi / 2 * np.array((2.0, 5.0, 5.0, 8.0)) * np.sqrt(D / (rho * h))
    np.testing.assert_allclose(found, exact, rtol=0.02 if cell == "quad8" else 0.035)


@CELLS
def test_plate_buckles(cell):
    """A simply supported square plate under uniaxial compression: N = 4 pi^2 D/b^2 (Bryan 1891)."""
    E, nu, h = 200e9, 0.3, 0.01
    model = model_of(grid(lambda a, b: (a, b, 0 * a), 6, 6, cell), E, nu, h)
    for edge, held in (("left", "x"), ("right", "x"), ("bottom", "y"), ("top", "y")):
        model.fix(f"s:{edge}", ["z", f"rotation {held}"])
    model.fix("s:left", ["x"])
    model.fix("s:a", ["y"])
    D = E * h**3 / 12 / (1 - nu**2)
    edge_force(model, "right", (-4 * np.pi**2 * D, 0.0, 0.0))
    model.buckling_step(count=1)
    (factor,) = solve(model).steps[0].report.load_factors
    assert factor == pytest.approx(1.0, rel=0.01 if cell == "quad8" else 0.03)


# --- large rotations -------------------------------------------------------------------------------------------------
@CELLS
def test_strip_rolls_up(cell):
    """A cantilever under an end moment becomes a full circle, here of 8 elements (Sze, Liu & Lo 2004, section 3.2)."""
    model = model_of(grid(lambda a, b: (12 * a, b, 0 * a), 8, 1, cell), 1.2e6, 0.0, 0.1)
    model.fix("s:left")
    for node, share in shares(model, "right"):
        model.moment(f"M{node}", int(node), (0.0, -50 * np.pi / 3 * share, 0.0))
    model.sensor("x", "position", on="s:b")
    model.static_step(increments=6)
    tip = solve(model).sensor("x").values[-1]
    np.testing.assert_allclose(tip, 0.0, atol=0.005 * 12)


@CELLS
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_energy_and_momenta_are_exact_in_free_flight(cell, mass):
    """A warped, eccentric shell, thrown by a pulse, keeps energy and both momenta to round-off at large rotations."""
    mesh = grid(lambda a, b: (a, 0.6 * b + 0.1 * a, 0.05 * a * b), 2, 1, cell)
    model = model_of(mesh, 2e9, 0.3, 0.01, 1500.0, offset=0.004, mass=mass)
    model.force("F", "s:c", (40.0, 10.0, 60.0), function="sin(50*pi*t) if t < 0.02 else 0")
    model.transient_step(0.06, 0.001)
    step = solve(model).steps[0]
    free = step.time > 0.0205
    energy = step.series["ledger"][free, :3].sum(axis=1)
    assert np.ptp(energy) < 1e-10 * energy.mean()
    assert np.ptp(step.series["ledger"][free, 1]) > 0.01 * energy.mean()  # it vibrates
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name][free]
        assert np.ptp(values, axis=0).max() < 1e-10 * np.abs(values).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * energy.mean()


# --- sections, loads, stresses ---------------------------------------------------------------------------------------
@CELLS
def test_cross_ply_cantilever_bends_as_its_section(cell):
    """An unsymmetric [0/90] strip under an end moment: curvature by the compliance of A, B, D, extension likewise."""
    model = Model(3)
    model.material("ply", E=[140e9, 10e9, 10e9], nu=[0.0, 0.0, 0.0], G=[5e9, 5e9, 3.5e9], density=0.0)
    model.mesh("s", grid(lambda a, b: (a, 0.1 * b, 0 * a), 5, 1, cell))
    layers = [{"material": "ply", "thickness": 0.002}, {"material": "ply", "thickness": 0.003, "angle": 90.0}]
    model.shells("shell", on="s", layers=layers)
    model.fix("s:left")
    for node, share in shares(model, "right"):
        model.moment(f"M{node}", int(node), (0.0, -share, 0.0))
    model.sensor("u", "displacement", on="s:b")
    model.linear_static_step()
    u = solve(model).sensor("u").values[-1]
    z = np.array((-0.0025, -0.0005, 0.0025))
    A, B, D = (np.diff(z**k / k) @ (140e9, 10e9) for k in (1, 2, 3))
    strain, curvature = np.linalg.solve(0.1 * np.array(((A, B), (B, D))), (0.0, -1.0))
    assert u[2] == pytest.approx(-curvature / 2, rel=1e-8)
    assert u[0] == pytest.approx(strain, rel=1e-8)


@CELLS
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


@CELLS
def test_stresses_on_faces(cell):
    """A quarter of a tube has p r/t around it on all faces, a strip that bends M/W on both."""

    def place(a, b):
        t = a * np.pi / 2
        return 2 * np.cos(t), b, 2 * np.sin(t)

    # x,u cross x,v points inwards: the pressure acts against the normal, outwards
    n = 2 if cell == "quad8" else 4
    model = model_of(grid(place, 3 * n, n, cell), 1e9, 0.0, 0.01)
    model.pressure("p", on="s:body", value=1000.0)
    for edge, held in (("left", ["z", "rotation x", "rotation y"]), ("right", ["x", "rotation y", "rotation z"])):
        model.fix(f"s:{edge}", held)
    model.fix("s:bottom", ["y"])
    model.linear_static_step()
    frames = solve(model).steps[0].frames
    for face in ("", " middle", " bottom"):
        mises = np.asarray(frames[f"von Mises stress{face} [Pa]"])[-1]
        # those of triangles scatter at nodes of curved surfaces: 23, 12, 6 % on 6 x 2 and two finer meshes
        np.testing.assert_allclose(mises, 2e5, rtol=0.02 if cell == "quad8" else 0.13)
        assert mises.mean() == pytest.approx(2e5, rel=0.02)

    h, M = 0.1, 1.5
    model = model_of(grid(lambda a, b: (0 * a, 10 * a, b), 5, 1, cell), 1.2e6, 0.0, h, orientation=(0.0, 1.0, 0.0))
    model.fix("s:left")
    for node, share in shares(model, "right"):
        model.moment(f"M{node}", int(node), (0.0, 0.0, -M * share))
    model.linear_static_step()
    frames = solve(model).steps[0].frames
    # the normal is +x: a moment about -z bends the end towards +x, so that the top is compressed
    for face, sign in (("", -1.0), (" bottom", 1.0), (" middle", 0.0)):
        stress = np.asarray(frames[f"stress{face} [Pa]"])[-1]
        np.testing.assert_allclose(stress[:, 1], sign * M / (h**2 / 6), rtol=1e-3, atol=1e-3)


@CELLS
@pytest.mark.parametrize("offset", [0.0, 0.02])
def test_layers_of_a_pressed_tube_have_strains_by_their_radii(cell, offset):
    """Two layers without lateral strains: strains w/r, and forces around that balance the pressure on the surface."""
    R, E, p = 1.0, (3e9, 1e9), 2e5
    r0 = R - offset
    mesh = grid(lambda u, v: (r0 * np.sin(u * np.pi / 2), 0.2 * v, r0 * np.cos(u * np.pi / 2)), 8, 1, cell)
    model = Model(3, "tube", fields=("stress", "layers"))
    for name, modulus in zip("ab", E, strict=True):
        model.material(name, E=modulus, nu=0.0, density=0.0)
    model.mesh("s", mesh)
    model.shells("shell", on="s", layers=[{"material": m, "thickness": 0.02} for m in "ab"], offset=offset)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:top", ["y", "rotation x", "rotation z"])
    model.pressure("p", on="s:body", value=-p)
    model.linear_static_step()
    found = np.asarray(solve(model).steps[0].frames["shell/layers stress [Pa]"])[-1]
    r = np.array(((0.98, 0.99, 1.0), (1.0, 1.01, 1.02)))
    w = p * r0 / (E[0] * np.log(r[0, 2] / r[0, 0]) + E[1] * np.log(r[1, 2] / r[1, 0]))
    exact = w / r * np.array(E)[:, None]
    around = found[..., 0] + found[..., 1]  # the tensor's other component is zero
    # those of single triangles oscillate about the mean, by 7 % on this mesh
    np.testing.assert_allclose(around.mean(axis=(0, 1)), exact, rtol=1e-3)
    if cell == "quad8":
        np.testing.assert_allclose(around, np.broadcast_to(exact, around.shape), rtol=1e-3)


@CELLS
@pytest.mark.parametrize("radius", [1.0, 0.5, 0.25, 0.1])
def test_stiffness_of_tight_bends_is_not_negative(cell, radius):
    """Elements bent about radii of one to a tenth of their thickness have six rigid motions and resist all others."""
    h = 0.1
    R = radius * h
    mesh = grid(lambda u, v: (R * np.sin(u), 0.5 * R * v, R * np.cos(u)), 1, 1, cell)
    model = model_of(mesh, 1e9, 0.3, h)
    n = 6 * len(mesh.points)
    K = linear_of(model).tangent.toarray()[:n, :n]
    K = 0.5 * (K + K.T)
    size = np.where(np.arange(len(K)) % 6 < 3, 1.0, 1.0 / R)  # rotations times the radius
    values = np.linalg.eigvalsh(K * np.outer(size, size))
    assert values[0] > -1e-9 * values[-1]
    assert np.sum(values < 1e-9 * values[-1]) == 6


@CELLS
def test_curved_beam_bends_as_winkler_s(cell):
    """A quarter of a ring under a moment: M/(h R) in the middle, as the neutral line lies inside (Winkler 1858)."""
    R, h, M = 1.0, 0.1, 1e3
    mesh = grid(lambda u, v: (R * np.sin(u * np.pi / 2), 0.1 * v, R * np.cos(u * np.pi / 2)), 12, 1, cell)
    model = model_of(mesh, 1e9, 0.0, h)
    model.fix("s:left", ["x", "y", "z", "rotation"])
    for node, share in shares(model, "right"):
        model.moment(f"M{node}", int(node), (0.0, 0.1 * M * share, 0.0))
    model.linear_static_step()
    model.sensor("turn", "rotation", on="s:b")
    found = solve(model)
    nodes = np.flatnonzero(np.abs(np.arctan2(*model.positions[:, [0, 2]].T) - np.pi / 4) < 0.01)
    assert nodes.size
    t = model.positions[nodes][:, [2, 0]] * (1.0, -1.0)
    neutral = h / np.log((R + h / 2) / (R - h / 2))
    # the moment turns the end to larger angles: outside is pulled
    for face, r in ((" middle", R), ("", R + h / 2), (" bottom", R - h / 2)):
        s = np.asarray(found.steps[0].frames[f"stress{face} [Pa]"])[-1][nodes]
        along = t[:, 0] ** 2 * s[:, 0] + t[:, 1] ** 2 * s[:, 2] + 2.0 * t[:, 0] * t[:, 1] * s[:, 5]
        # on the faces they differ by 7 % from those of a straight beam
        exact = M * (r - neutral) / (h * (R - neutral) * r)
        np.testing.assert_allclose(along, exact, rtol=0.02 if face == " middle" else 5e-3)
    turn = M * np.pi / 2 / (1e9 * h * (R - neutral))
    np.testing.assert_allclose(found.sensor("turn").values[-1, 1], turn, rtol=2e-3)


def test_cells_of_several_kinds_make_one_part():
    """A plate of quad8 and triangle6 cells has a group each, and bends as a whole."""
    mesh = grid(lambda a, b: (2 * a, b, 0 * a), 2, 1)
    quads = mesh.blocks[0].cells
    middle = len(mesh.points)
    a, b, c, d, ab, bc, cd, da = quads[1]
    points = np.vstack((mesh.points, (1.5, 0.5, 0.0)))
    triangles = np.array(((a, b, c, ab, bc, middle), (a, c, d, middle, cd, da)))
    both = Mesh(points, [("quad8", quads[:1]), ("triangle6", triangles)], node_sets=mesh.node_sets)
    model = model_of(both, 1.2e6, 0.0, 0.1)
    assert list(model.shell_groups) == ["shell quad8", "shell triangle6"]
    model.fix("s:left")
    for node, share in shares(model, "right"):
        model.moment(f"M{node}", int(node), (0.0, -1.0 * share, 0.0))
    assert moved(model, "s:b", "z") == pytest.approx(2.0**2 / 2 / (1.2e6 * 0.1**3 / 12), rel=1e-6)


def test_wrong_cells_are_refused():
    X = np.array(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0, 0), (1, 0.5, 0), (0.5, 1, 0), (0, 0.5, 0.0)))
    for order in ([0, 1, 3, 2, 4, 5, 6, 7], [0, 1, 2, 3, 5, 4, 6, 7]):
        with pytest.raises(ModelError, match="quad8 1 has no area or folds over itself"):
            model_of(Mesh(X, [("quad8", np.array([order]))]), 1.0, 0.3, 0.1)
