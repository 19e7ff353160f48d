"""Membranes, and temperatures, centrifugal and edge loads of shells, against closed forms.

Timoshenko: S. Timoshenko, Analysis of bi-metal thermostats, J. Opt. Soc. Am. 11 (1925) 233-255.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp, trapezoid
from shell_meshes import ALL, LINEAR, QUADRATIC, flat, grid, last, linear_of, model_of

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.fields import fields_of
from fem_mbs.elements.shells.mass import mean_powers
from fem_mbs.errors import MeshError
from fem_mbs.meshes.mesh import Mesh

CELLS = pytest.mark.parametrize("cell", LINEAR)
EVERY = pytest.mark.parametrize("cell", ALL)
ELEMENTS = pytest.mark.parametrize("element", ["standard", "membrane"])
E, NU, RHO, ALPHA = 200e9, 0.3, 7800.0, 1.2e-5


def steel(mesh, thickness=0.01, nu=NU, density=RHO, **options):
    return model_of(mesh, E, nu, thickness, density, ALPHA, **options)


# --- membranes -------------------------------------------------------------------------------------------------------
@CELLS
def test_a_membrane_stretches_as_its_section(cell):
    """A distorted sheet pulled at one edge: constant strains, forces and stresses; nothing turns."""
    mesh = grid(lambda u, v: (2 * u + 0.3 * u * (1 - u) * (v - 0.3), v + 0.2 * u * v * (1 - v), 0 * u), 3, 3, cell)
    model = steel(mesh, element="membrane")
    model.fix("s", ["z"])
    model.fix("s:left", ["x"])
    model.fix("s:a", ["y"])
    share = np.diff(mesh.points[mesh.node_sets["right"], 1])
    forces = np.zeros(4)
    forces[:-1] += share / 2
    forces[1:] += share / 2
    for node, part in zip(mesh.node_sets["right"], forces, strict=True):
        model.force(f"F{node}", int(node), (1e4 * part, 0.0, 0.0))
    model.sensor("u", "displacement", on="s:c")
    model.sensor("N", "element", on="shell", element=4, quantity="N11")
    model.linear_static_step()
    found = solve(model)
    strain = 1e4 / (E * 0.01)
    np.testing.assert_allclose(found.sensor("u").values[-1][:2], (2 * strain, -NU * strain), rtol=1e-9)
    assert found.sensor("N").values[-1, 0] == pytest.approx(1e4, rel=1e-9)
    for face in ("", " middle", " bottom"):
        np.testing.assert_allclose(last(found, f"stress{face} [Pa]")[:, 0], 1e6, rtol=1e-6)


# --- residual bending flexibility ------------------------------------------------------------------------------------
def tip(place, count, **options):
    """Return the deflection, out of the plane, of the end of a strip of the thickness .01 under 10 N at each corner."""
    mesh = grid(place, count, 1)
    model = steel(mesh, nu=0.0, **options)
    model.fix("s:left")
    for corner in ("b", "c"):
        model.force(corner, f"s:{corner}", (0.0, 0.0, 10.0))
    model.sensor("u", "displacement", on="s:c")
    model.linear_static_step()
    return solve(model).sensor("u").values[-1, 2]


@pytest.mark.parametrize("axis", [None, [1.0, 0.4, 0.0]])
def test_residual_bending_makes_a_cantilever_exact(axis):
    """P L^3/3EI + P L/(5/6 G A) with any number of elements; a standard quadrilateral has 3/4 of the first."""
    L, width, h = 2.0, 0.5, 0.01
    bend, shear = 20.0 * L**3 / (E * width * h**3 / 12), 20.0 * L / (5 / 6 * E / 2 * width * h)
    for count in (1, 3):
        found = tip(flat(L, width), count, element="residual", orientation=axis)
        assert found == pytest.approx(bend / 3 + shear, rel=1e-8)
    assert tip(flat(L, width), 1, orientation=axis) == pytest.approx(bend / 4 + shear, rel=1e-8)


def test_residual_bending_leaves_constant_moments_as_they_are():
    """A crooked strip under a moment at its end bends like a circle either way; triangles have none to add."""

    def place(u, v):
        return 2 * u + 0.2 * u * (1 - u) * v, 0.5 * v, 0 * u

    found = {}
    for cell in ("quad", "triangle"):
        for element in ("standard", "residual"):
            model = steel(grid(place, 3, 1, cell), nu=0.0, element=element)
            model.fix("s:left")
            for corner in ("b", "c"):
                model.moment(corner, f"s:{corner}", (0.0, -5.0, 0.0))
            model.sensor("u", "displacement", on="s:c")
            model.linear_static_step()
            found[cell, element] = solve(model).sensor("u").values[-1, 2]
    exact = 10.0 * 2.0**2 / (2 * E * 0.5 * 0.01**3 / 12)
    assert found["quad", "residual"] == pytest.approx(exact, rel=1e-8)
    assert found["quad", "standard"] == pytest.approx(exact, rel=1e-8)
    assert found["triangle", "residual"] == found["triangle", "standard"]


def test_membranes_have_no_rotations():
    model = steel(grid(flat(1, 1), 2, 2), element="membrane")
    assert not model.building.rotational
    group = model.shell_groups["shell"]
    assert group.mass.sum() == pytest.approx(0.01 * RHO)
    with pytest.raises(ModelError, match="membranes have no offset"):
        steel(grid(flat(1, 1), 2, 2), element="membrane", offset=0.1)
    with pytest.raises(ModelError, match="membranes have no bending_factor"):
        steel(grid(flat(1, 1), 2, 2), element="membrane", bending_factor=2.0)
    with pytest.raises(ModelError, match="membranes have no shear_correction"):
        steel(grid(flat(1, 1), 2, 2), element="membrane", shear_correction=0.8)
    with pytest.raises(ModelError, match="element"):
        steel(grid(flat(1, 1), 2, 2), element="film")


@CELLS
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_a_cooled_membrane_is_a_drum(cell, mass):
    """A square drum under N = E h alpha T/(1 - nu) has the frequencies sqrt((i^2 + j^2) N/m)/(2 a)."""
    h, a, cooling = 0.001, 2.0, 100.0
    model = steel(grid(flat(a, a), 16, 16, cell), h, element="membrane", mass=mass)
    model.temperature("cold", on="shell", value=-cooling)
    model.fix("s:edges")
    model.fix("s", ["x", "y"])
    model.static_step()
    model.modes_step(4)
    N = E * h * ALPHA * cooling / (1 - NU)
    exact = np.sqrt(np.array((2, 5, 5, 8)) * N / (RHO * h)) / (2 * a)
    np.testing.assert_allclose(solve(model).steps[-1].report.frequencies_hz, exact, rtol=0.02)


@CELLS
def test_a_membrane_keeps_energy_and_momenta_in_free_flight(cell):
    """A warped, heated membrane that a pulse throws keeps energy and both momenta to round-off."""
    model = steel(grid(lambda a, b: (a, 0.6 * b, 0.1 * a * b), 3, 2, cell), 0.001, element="membrane")
    model.temperature("hot", on="shell", value="100*x", function="t/0.005 if t < 0.005 else 1")
    model.force("F", "s:c", (400.0, 100.0, 600.0), function="sin(200*pi*t) if t < 0.005 else 0")
    model.transient_step(0.015, 0.00025)
    step = solve(model).steps[0]
    free = step.time > 0.0052
    energy = step.series["ledger"][free, :3].sum(axis=1)
    assert np.ptp(energy) < 1e-10 * energy.mean()
    assert np.ptp(step.series["ledger"][free, 1]) > 0.01 * energy.mean()
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name][free]
        assert np.ptp(values, axis=0).max() < 1e-9 * np.abs(values).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * energy.mean()


# --- temperatures ----------------------------------------------------------------------------------------------------
@EVERY
def test_free_expansion_has_no_stress(cell):
    """A curved, eccentric shell at a uniform temperature grows by alpha T in all directions."""
    mesh = grid(lambda a, b: (np.cos(a), np.sin(a) + 0.1 * b * b, b), 2, 2, cell)
    model = steel(mesh, offset=0.02)
    model.temperature("T", on="s:body", value=70.0, reference=20.0)
    model.fix("s:a")
    model.sensor("u", "displacement", on="s:c")
    model.linear_static_step()
    found = solve(model)
    grown = ALPHA * 50.0 * (mesh.points[mesh.node_sets["c"][0]] - mesh.points[mesh.node_sets["a"][0]])
    np.testing.assert_allclose(found.sensor("u").values[-1], grown, rtol=1e-6)
    assert np.abs(last(found, "stress [Pa]")).max() < 1e-8 * E * ALPHA * 50.0


@pytest.mark.parametrize("cell", QUADRATIC)
def test_a_temperature_linear_over_a_quadratic_plate_makes_no_stress(cell):
    """Parallelograms: T = t x moves by alpha t (x^2 - y^2)/2 and alpha t x y, T = t y likewise, x and y exchanged."""
    t, model = 100.0, steel(grid(lambda u, v: (u + 0.1 * v, 0.5 * v, 0 * u), 2, 2, cell))
    model.temperature("T", on="shell", value=f"{t}*x + {t}*y")
    model.fix("s:a")
    model.sensor("u", "displacement", on="s:b")
    model.sensor("phi", "rotation", on="s:b")
    model.linear_static_step()
    found = solve(model)
    np.testing.assert_allclose(found.sensor("u").values[-1], np.array((0.5, -0.5, 0.0)) * ALPHA * t, atol=1e-12)
    assert found.sensor("phi").values[-1, 2] == pytest.approx(-ALPHA * t, rel=1e-9)
    assert np.abs(last(found, "stress [Pa]")).max() < 1e-8 * E * ALPHA * t


@EVERY
def test_gradient_in_a_clamped_plate(cell):
    """Moments (1 + nu) D alpha g and stresses E alpha g z/(1 - nu), without displacement."""
    h, g = 0.02, 500.0
    model = steel(grid(flat(1, 1), 2, 2, cell), h)
    model.temperature("T", on="shell", value=0.0, gradient=g)
    model.fix("s:edges")
    fixed = model.meshes["s"][0].node_sets["edges"]
    for component in ("M11", "M22", "M12"):
        model.sensor(component, "element", on="shell", element=3, quantity=component)
    model.sensor("u", "displacement", on=int(np.setdiff1d(np.arange(len(model.positions)), fixed)[0]))
    model.linear_static_step()
    found = solve(model)
    D = E * h**3 / 12 / (1 - NU**2)
    moments = [found.sensor(component).values[-1, 0] for component in ("M11", "M22", "M12")]
    np.testing.assert_allclose(moments, np.array((-1.0, -1.0, 0.0)) * (1 + NU) * D * ALPHA * g, rtol=1e-9, atol=1e-6)
    assert np.abs(found.sensor("u").values[-1]).max() < 1e-12
    for face, sign in (("", -1.0), (" bottom", 1.0), (" middle", 0.0)):
        stress = last(found, f"stress{face} [Pa]")
        exact = sign * E * ALPHA * g * h / 2 / (1 - NU)
        np.testing.assert_allclose(stress[:, :2], exact, rtol=1e-6, atol=1e-3)


@EVERY
def test_another_material_of_bending(cell):
    """A clamped plate: the membrane is pressed by its own expansion, the gradient acts on the material of bending."""
    h, g, t, E2, nu2, alpha2 = 0.02, 500.0, 20.0, 70e9, 0.2, 2.3e-5
    mesh = grid(flat(1, 1), 2, 2, cell)
    model = Model(3)
    model.mesh("s", mesh)
    model.material("steel", E=E, nu=NU, density=RHO, expansion=ALPHA)
    model.material("other", E=E2, nu=nu2, density=0.0, expansion=alpha2)
    model.shells("shell", "s", material="steel", thickness=h, bending_material="other")
    model.temperature("T", on="shell", value=t, gradient=g)
    model.fix("s:edges")
    for component in ("N11", "M11", "M22"):
        model.sensor(component, "element", on="shell", element=3, quantity=component)
    model.linear_static_step()
    found = solve(model)
    pressed, bent = E * ALPHA * t / (1 - NU), E2 * alpha2 * g * 0.5 * h / (1 - nu2)
    force, *moments = (found.sensor(c).values[-1, 0] for c in ("N11", "M11", "M22"))
    assert force == pytest.approx(-pressed * h, rel=1e-9)
    np.testing.assert_allclose(moments, -bent * h**2 / 6, rtol=1e-9)
    for face, sign in (("", -1.0), (" bottom", 1.0), (" middle", 0.0)):
        stress = last(found, f"stress{face} [Pa]")
        np.testing.assert_allclose(stress[:, :2], -pressed + sign * bent, rtol=1e-6, atol=1e-3)


@EVERY
def test_gradient_bends_a_free_plate_to_a_sphere(cell):
    """Curvature alpha g along both axes and no stress; the edge stands off by alpha g r^2/2."""
    g = 500.0
    model = steel(grid(flat(1, 0.5), 2, 2, cell))
    model.temperature("T", on="shell", value=0.0, gradient="500")
    model.fix("s:a")
    model.sensor("u", "displacement", on="s:c")
    model.linear_static_step()
    found = solve(model)
    # the top is longer: the plate bends down, against the normal
    assert found.sensor("u").values[-1, 2] == pytest.approx(-ALPHA * g * (1.0 + 0.25) / 2, rel=1e-6)
    assert np.abs(last(found, "stress [Pa]")).max() < 1e-6 * E * ALPHA * g * 0.01


@EVERY
def test_gradient_in_a_tube_that_keeps_its_form(cell):
    """A quarter of a long ring whose cuts cannot turn keeps its radius: stresses -E alpha g z around it."""
    R, h, g, n = 1.0, 0.02, 500.0, 8 if cell in LINEAR else 4
    mesh = grid(lambda u, v: (R * np.sin(u * np.pi / 2), 0.2 * v, R * np.cos(u * np.pi / 2)), n, 1, cell)
    model = steel(mesh, h, nu=0.0)
    model.temperature("T", on="shell", value=0.0, gradient=g)
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.fix("s", ["y", "rotation x", "rotation z"])
    model.linear_static_step()
    found = solve(model)
    x, _, z = mesh.points.T
    for face, sign in (("", -1.0), (" bottom", 1.0)):
        s = last(found, f"stress{face} [Pa]")
        around = (z * z * s[:, 0] + x * x * s[:, 2] - 2.0 * x * z * s[:, 5]) / R**2
        # to the first order in h/R; the polygon of linear cells has forces of its own
        np.testing.assert_allclose(around, sign * E * ALPHA * g * h / 2, rtol=0.04)


def test_a_bimetal_strip_bends_by_timoshenko():
    """Curvature and stresses of two bonded strips at a temperature, Timoshenko (1925), also at large rotations."""
    E1, E2, a1, a2, t1, t2 = 210e9, 70e9, 1.2e-5, 2.4e-5, 0.001, 0.0015
    h, m, n = t1 + t2, t1 / t2, E1 / E2
    kappa = 6 * (a2 - a1) * (1 + m) ** 2 / (h * (3 * (1 + m) ** 2 + (1 + m * n) * (m**2 + 1 / (m * n))))
    for T, length in ((1e-3, 0.2), (100.0, 2.0)):
        model = Model(3)
        for name, modulus, expansion in (("steel", E1, a1), ("aluminium", E2, a2)):
            model.material(name, E=modulus, nu=0.0, density=0.0, expansion=expansion)
        model.mesh("s", grid(flat(length, length / 10), 20, 1))
        layers = [{"material": "steel", "thickness": t1}, {"material": "aluminium", "thickness": t2}]
        model.shells("shell", on="s", layers=layers)
        model.temperature("T", on="shell", value=T)
        model.fix("s:left", ["x", "z", "rotation"])
        model.fix("s:a", ["y"])
        model.sensor("u", "displacement", on="s:b")
        for layer in (1, 2):
            model.sensor(f"S{layer}", "layer stress", on="shell", element=9, layer=layer)
        model.static_step(increments=4)
        found = solve(model)
        u = found.sensor("u").values[-1]
        # the upper strip grows more: the strip bends down
        k = kappa * T
        assert u[2] == pytest.approx(-(1 - np.cos(k * length)) / k, rel=1e-3)
        pull = 2 * k * (E1 * t1**3 + E2 * t2**3) / (12 * h)  # of the steel, which would be shorter
        assert found.sensor("S1").values[-1, 0] == pytest.approx(pull / t1, rel=2e-3)
        assert found.sensor("S2").values[-1, 0] == pytest.approx(-pull / t2, rel=2e-3)


@pytest.mark.parametrize("cell", ["quad", "quad8"])
def test_temperatures_follow_time_and_books_close(cell):
    """Heating does the work that the strain energy, the loss and the motion take."""
    model = steel(grid(lambda a, b: (a, 0.6 * b, 0.1 * a * b), 2, 1, cell), damping=1e-4)
    model.temperature("T", on="shell", value="100*x", gradient="2000*y", function="sin(80*t)")
    model.fix("s:left")
    model.sensor("u", "displacement", on="s:c")
    model.transient_step(0.02, 0.0005)
    found = solve(model)
    step = found.steps[0]
    energy = step.series["ledger"][:, :3].sum(axis=1)
    assert np.abs(found.sensor("u").values).max() > 5e-4
    assert np.abs(step.ledger("closing error")).max() < 1e-9 * np.abs(energy).max()


@EVERY
def test_a_heated_plate_buckles(cell):
    """A simply supported plate, held in its plane, buckles at alpha T = pi^2 h^2/(6 (1 + nu) a^2)."""
    h, a, n = 0.01, 1.0, 12 if cell in LINEAR else 6
    model = steel(grid(flat(a, a), n, n, cell), h)
    for edge, held in (("left", "x"), ("right", "x"), ("bottom", "y"), ("top", "y")):
        model.fix(f"s:{edge}", ["z", f"rotation {held}"])
    model.fix("s:edges", ["x", "y"])
    model.temperature("T", on="shell", value=1.0)
    model.buckling_step(count=1)
    (factor,) = solve(model).steps[0].report.load_factors
    assert ALPHA * factor == pytest.approx(
        np.pi**2 * h**2 / (6 * (1 + NU) * a**2), rel=0.03 if cell == "triangle6" else 0.015
    )


def test_temperatures_that_shells_cannot_take_are_refused():
    model = steel(grid(flat(1, 1), 2, 2), element="membrane")
    with pytest.raises(ModelError, match="membranes like"):
        model.temperature("T", on="shell", value=1.0, gradient=5.0)
    plain = Model(3)
    plain.material("m", E=1.0, nu=0.3, density=0.0)
    plain.mesh("s", grid(flat(1, 1), 2, 2))
    with pytest.raises(ModelError, match="no solid or plane part and no shell"):
        plain.temperature("none", on="s", value=1.0)
    plain.shells("shell", on="s", material="m", thickness=0.1)
    with pytest.raises(ModelError, match="have no expansion"):
        plain.temperature("T", on="shell", value=1.0)
    plane = Model(2)
    plane.material("m", E=1.0, nu=0.3, density=0.0, expansion=1.0)
    plane.mesh("s", Mesh(np.array(((0.0, 0), (1, 0), (0, 1))), [("triangle", np.array([[0, 1, 2]]))]))
    plane.planes("p", on="s", material="m")
    with pytest.raises(ModelError, match="is no shell"):
        plane.temperature("T", on="p", value=1.0, gradient=1.0)


# --- stresses of layers -----------------------------------------------------------------------------------------------
PLY = {"E": [140e9, 10e9, 10e9], "nu": [0.3, 0.3, 0.4], "G": [5e9, 5e9, 3.5e9], "expansion": [-0.3e-6, 28e-6, 28e-6]}
ANGLES, THICK = (0.0, 90.0, 30.0), (0.001, 0.002, 0.0015)


def laminate(cell="quad", element="standard"):
    model = Model(3)
    model.material("ply", density=1600.0, **PLY)
    model.mesh("s", grid(flat(1, 0.5), 2, 2, cell))
    layers = [{"material": "ply", "thickness": t, "angle": a} for t, a in zip(THICK, ANGLES, strict=True)]
    model.shells("shell", on="s", layers=layers, element=element, orientation=(0.0, 1.0, 0.0))
    model.field_names = ("stress", "layers")
    return model


def plies():
    """Stiffness and expansion of the plies in the axes of the shell, by tensors of rank 4 and 2; heights of faces."""
    (E1, E2, _), nu, G, a = PLY["E"], PLY["nu"][0], PLY["G"][0], PLY["expansion"]
    scale = 1 / (1 - nu * nu * E2 / E1)
    C = np.zeros((2, 2, 2, 2))
    C[0, 0, 0, 0], C[1, 1, 1, 1], C[0, 0, 1, 1] = E1 * scale, E2 * scale, nu * E2 * scale
    C[1, 1, 0, 0] = C[0, 0, 1, 1]
    C[0, 1, 0, 1] = C[0, 1, 1, 0] = C[1, 0, 0, 1] = C[1, 0, 1, 0] = G
    found = []
    for angle in np.radians(ANGLES):
        R = np.array(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))))
        found.append((np.einsum("abcd,ai,bj,ck,dl->ijkl", C, R, R, R, R), R.T @ np.diag(a[:2]) @ R, R))
    return found, np.concatenate(((0.0,), np.cumsum(THICK))) - sum(THICK) / 2


@EVERY
def test_layers_of_a_clamped_laminate_at_a_temperature(cell):
    """Clamped layers have the stresses -C (alpha (T + g z)) in their own axes."""
    T, g = 80.0, 3000.0
    model = laminate(cell)
    model.temperature("T", on="shell", value=T, gradient=g)
    model.fix("s:edges")
    for i, at in enumerate(("bottom", "middle", "top")):
        for layer in (1, 2, 3):
            model.sensor(f"S{layer}{i}", "layer stress", on="shell", element=1, layer=layer, at=at)
    model.linear_static_step()
    found = solve(model)
    field = last(found, "shell/layers stress [Pa]")
    count, nodes = {"quad": (4, 4), "triangle": (8, 3), "quad8": (4, 8), "triangle6": (8, 6)}[cell]
    assert field.shape == (count, nodes, 3, 3, 3)
    layers, z = plies()
    for k, (C, alpha, R) in enumerate(layers):
        for i, height in enumerate((z[k], (z[k] + z[k + 1]) / 2, z[k + 1])):
            S = R @ np.einsum("ijkl,kl->ij", C, -alpha * (T + g * height)) @ R.T
            exact = (S[0, 0], S[1, 1], S[0, 1])
            wide = np.broadcast_to(exact, field.shape[:2] + (3,))
            np.testing.assert_allclose(field[:, :, k, i], wide, rtol=1e-5, atol=1.0)
            np.testing.assert_allclose(found.sensor(f"S{k + 1}{i}").values[-1], exact, rtol=1e-9, atol=1e-3)


@CELLS
@ELEMENTS
def test_layers_of_a_strained_laminate(cell, element):
    """Layers at given strains and curvatures have C (eps + z kappa) in their own axes."""
    model = laminate(cell, element)
    eps, kappa = np.array(((2e-4, 3e-4), (3e-4, -1e-4))), np.array(((0.02, -0.01), (-0.01, 0.03)))
    kappa = kappa * (element == "standard")
    # the first axis of the elements is y, their second -x
    turn = np.array(((0.0, 1.0), (-1.0, 0.0)))
    linear = linear_of(model)
    compiled = linear.compiled
    u = np.zeros(linear.state.Q.shape[1])
    for node, (x, y, _) in enumerate(model.meshes["s"][0].points):
        change = turn.T @ kappa @ turn @ (x, y)  # of the director: the slope is its negative
        first = compiled.system.offset[node]
        u[first : first + 2] = turn.T @ eps @ turn @ (x, y)
        u[first + 2] = -0.5 * change @ (x, y)
        if element == "standard":
            u[first + 3 : first + 5] = -change[1], change[0]
    field = fields_of(compiled).of_shapes(linear, u[None])["shell/layers stress [Pa]"][0]
    layers, z = plies()
    for k, (C, _, R) in enumerate(layers):
        S = R @ np.einsum("ijkl,kl->ij", C, eps + z[k + 1] * kappa) @ R.T
        exact = (S[0, 0], S[1, 1], S[0, 1])
        np.testing.assert_allclose(field[:, :, k, 2], np.broadcast_to(exact, field.shape[:2] + (3,)), rtol=2e-5)


def test_wrong_layers_of_sensors_are_refused():
    model = laminate()
    for options, message in (
        ({"on": "skin"}, "skin"),
        ({"element": 4}, "elements 0 to 3"),
        ({"layer": 0}, "layers 1 to 3"),
        ({"layer": 4}, "layers 1 to 3"),
        ({"at": "mid"}, "bottom"),
    ):
        with pytest.raises(ModelError, match=message):
            model.sensor("S", "layer stress", **{"on": "shell", **options})


# --- thickness -------------------------------------------------------------------------------------------------------
@CELLS
def test_means_of_a_linear_thickness(cell):
    """Means of h, h^2 and h^3 over a distorted element against numerical integrals."""
    X = np.array(((0.0, 0.0, 0.0), (1.0, 0.1, 0.0), (1.3, 1.2, 0.0), (-0.1, 0.9, 0.0)))[: 4 if cell == "quad" else 3]
    h = np.array((1.0, 2.0, 4.0, 0.5))[: len(X)]
    x, w = np.polynomial.legendre.leggauss(8)
    x, w = 0.5 * (x + 1), 0.5 * w
    s, t = np.meshgrid(x, x)
    weight = np.outer(w, w)
    if cell == "quad":
        N = np.stack(((1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t))
        ds, dt = np.stack((t - 1, 1 - t, t, -t)), np.stack((s - 1, -s, s, 1 - s))
        J = np.einsum("aij,ac->ijc", ds, X), np.einsum("aij,ac->ijc", dt, X)
        weight = weight * np.cross(*J)[..., 2]
    else:  # the square folded to the triangle
        N = np.stack((1 - s, s * (1 - t), s * t))
        weight = weight * s
    value = np.einsum("aij,a->ij", N, h)
    exact = [(weight * value**k).sum() / weight.sum() for k in (1, 2, 3)]
    np.testing.assert_allclose(mean_powers(X[None], h[None])[0], exact, rtol=1e-12 if cell == "triangle" else 5e-3)


@CELLS
def test_a_tapered_cantilever_bends_as_its_beam(cell):
    """Deflection integral P (L - x)^2/(E I(x)) dx and stresses P (L - x)/W(x) of h = 0.04 - 0.02 x."""
    L, b, P = 1.0, 0.1, 100.0
    x = np.linspace(0, L, 20001)
    h = 0.04 - 0.02 * x
    exact = trapezoid(P * (L - x) ** 2 / (E * b * h**3 / 12), x)
    found = []
    mesh = grid(flat(L, b), 16, 2, cell)
    corners = 0.04 - 0.02 * mesh.points[mesh.blocks[0].cells][..., 0]
    for thickness in ("0.04 - 0.02*x", corners):
        model = steel(mesh, thickness, nu=0.0)
        assert model.shell_groups["shell"].mass.sum() == pytest.approx(RHO * b * L * 0.03, rel=1e-12)
        model.fix("s:left")
        for node, share in zip(mesh.node_sets["right"], (0.25, 0.5, 0.25), strict=True):
            model.force(f"F{node}", int(node), (0.0, 0.0, -P * share))
        model.sensor("u", "displacement", on="s:b")
        model.linear_static_step()
        results = solve(model)
        found.append(results.sensor("u").values[-1, 2])
        stress = last(results, "stress [Pa]")[:, 0]
    assert -found[0] == pytest.approx(exact, rel=0.01)
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    at = np.flatnonzero((mesh.points[:, 0] > 0.1) & (mesh.points[:, 0] < 0.8))
    h = 0.04 - 0.02 * mesh.points[at, 0]
    np.testing.assert_allclose(
        stress[at], P * (L - mesh.points[at, 0]) / (b * h**2 / 6), rtol=0.02 if cell == "quad" else 0.03
    )


@pytest.mark.parametrize("thickness", [[0.1, 0.2], np.full((4, 3), 0.1), "x", "0.1 if x < 0.6 else -1"])
def test_thicknesses_that_fit_no_element_are_refused(thickness):
    with pytest.raises(ModelError, match=r"thickness = .* must be"):
        steel(grid(flat(1, 1), 2, 2), thickness)


# --- edges -----------------------------------------------------------------------------------------------------------
def with_edges(mesh, nx, ny):
    """The mesh of `grid` of quadrilaterals with a line across its middle that two rows of shells share as a set too."""
    inner = np.arange((nx // 2 - 1) * ny, (nx // 2 + 1) * ny)  # columns of cells
    sets = {**mesh.facet_sets, "inner edge": [(0, inner, np.repeat((1, 3), ny))]}
    blocks = [(mesh.blocks[0].kind, mesh.blocks[0].cells)]
    return Mesh(mesh.points, blocks, node_sets=mesh.node_sets, cell_sets=mesh.cell_sets, facet_sets=sets)


@EVERY
def test_loads_on_an_edge(cell):
    """A strip without Poisson's effect under forces and moments per length at its end is a beam, stretched and bent."""
    L, b, h, nx = 1.0, 0.2, 0.01, 8 if cell in LINEAR else 4
    model = steel(grid(flat(L, b), nx, 1, cell), h, nu=0.0)
    model.fix("s:left")
    model.line_load("q", "s:right edge", (5e4, 0.0, -20.0), moment=(0.0, "30 + 0*z", 0.0))
    model.sensor("u", "displacement", on="s:b")
    model.linear_static_step()
    u = solve(model).sensor("u").values[-1]
    EI = E * h**3 / 12
    # the held edge of triangles lacks moments about the normal
    assert u[0] == pytest.approx(5e4 * L / (E * h), rel=0.02 if cell == "triangle" else 1e-3)
    assert u[2] == pytest.approx(-20 * L**3 / (3 * EI) - 30 * L**2 / (2 * EI), rel=0.01)


@EVERY
@pytest.mark.parametrize("axes", ["global", "local"])
def test_a_sheet_pulled_at_two_edges_stretches_evenly(cell, axes):
    """F L/(E A) with free rotations about the normal: triangles get moments L/8 of the force of a side at the ends."""
    model = steel(grid(lambda u, v: (2 * u + 0.1 * v, v, 0 * u), 3, 2, cell))
    model.fix("s", ["z"])
    model.fix("s:a", ["x", "y"])
    model.fix("s:b", ["y"])
    if axes == "global":
        pulls = {"right": (1e5, 0.0, 0.0), "left": (-1e5, 0.0, 0.0)}
    else:  # the edges are oblique: the pull has a part along them
        slant = np.hypot(1.0, 0.1)
        pulls = dict.fromkeys(("left", "right"), (10000.0 / slant, 100000.0 / slant, 0.0))
    for edge, q in pulls.items():
        model.line_load(edge, f"s:{edge} edge", np.array(q) / np.hypot(1.0, 0.1), axes=axes)
    model.sensor("u", "displacement", on="s:b")
    model.linear_static_step()
    found = solve(model)
    assert found.sensor("u").values[-1, 0] == pytest.approx(2.0 * 1e5 / (E * 0.01), rel=1e-9)
    np.testing.assert_allclose(
        last(found, "stress [Pa]")[:, :2], np.tile((1e7, 0.0), (len(model.positions), 1)), atol=1
    )


@pytest.mark.parametrize("cell", ["quad", "quad8"])
def test_a_force_that_follows_the_edge_bends_the_elastica(cell):
    """The tip of a strip under F L^2/EI = 6 across its turning end: EI theta'' = -F cos(theta - theta_L)."""

    def slope(s, y):
        return np.stack((y[1], -6.0 * np.cos(y[0] - y[4]), np.cos(y[0]), np.sin(y[0]), 0.0 * s))

    def ends(a, b):
        return np.array((a[0], a[2], a[3], b[1], b[0] - b[4]))

    s = np.linspace(0.0, 1.0, 50)
    exact = solve_bvp(slope, ends, s, np.stack((2.5 * s, 2.5 + 0 * s, s, s, 2.5 + 0 * s)), tol=1e-8)
    assert exact.success
    assert exact.y[4, -1] > 1.5
    h, n = 0.01, 12 if cell == "quad" else 5
    model = steel(grid(flat(1.0, 0.1), n, 1, cell), h, nu=0.0)
    model.fix("s:left")
    model.line_load("F", "s:right edge", (0.0, 0.0, 6.0 * E * h**3 / 12), axes="local")
    model.sensor("x", "position", on="s:b")
    model.static_step(increments=8)
    x = solve(model).sensor("x").values[-1]
    np.testing.assert_allclose(x, (exact.y[2, -1], 0.0, exact.y[3, -1]), atol=3e-3)


@pytest.mark.parametrize("cell", ["triangle", "quad8"])
def test_work_of_loads_that_follow_an_edge_is_booked(cell):
    """A strip thrown by forces and moments that turn with its end: the books close at large rotations."""
    model = steel(grid(flat(0.5, 0.1), 3, 1, cell), 0.002)
    q = {"vector": (2e4, 1e4, 8e3), "moment": (400.0, 0.0, 30.0)}
    model.line_load("q", "s:right edge", axes="local", function="sin(400*t)", **q)
    model.sensor("turn", "rotation", on="s:b")
    model.transient_step(0.012, 0.0002)
    found = solve(model)
    step = found.steps[0]
    energy = step.series["ledger"][:, :3].sum(axis=1)
    assert np.abs(found.sensor("turn").values).max() > 0.5
    assert np.abs(step.ledger("closing error")).max() < 1e-9 * np.abs(energy).max()


def test_an_edge_of_two_shells_is_loaded_once():
    """Forces of the set of both sides of a line, which grow along it: resultant and place of a linear load."""
    nx, ny = 4, 3
    mesh = with_edges(grid(flat(1.0, 0.6), nx, ny), nx, ny)
    model = steel(mesh)
    model.line_load("q", "s:inner edge", (0.0, 0.0, "100*y"))
    model.fix("s:left")
    model.sensor("R", "reaction", on="s:left")
    model.linear_static_step()
    R = solve(model).sensor("R").values[-1]
    total = 100 * 0.6**2 / 2
    assert R[2] == pytest.approx(-total, rel=1e-9)
    block = next(b for b in model.building.blocks if b.type.name == "force3")
    F = block.par[:, block.type.column("Fz")]
    y = mesh.points[block.nodes[:, 0], 1]
    assert F.sum() == pytest.approx(total)
    assert F @ y == pytest.approx(100 * 0.6**3 / 3)


def test_edge_loads_that_fit_no_edge_are_refused():
    mesh = with_edges(grid(flat(1, 1), 2, 2), 2, 2)
    model = steel(mesh, element="membrane")
    for name, options, message in (
        ("a", {"on": "s:left"}, "holds no faces of solids or edges"),
        ("b", {"on": "s:right edge", "axes": "edge"}, "axes"),
        ("c", {"on": "s:right edge", "vector": (1.0, 2.0)}, "must be 3 numbers"),
        ("d", {"on": "s:right edge", "vector": ("1/(x - 1)", 0.0, 0.0)}, "not finite"),
    ):
        with pytest.raises((ModelError, MeshError), match=message):
            model.line_load(name, **{"vector": (1.0, 0.0, 0.0), **options})
    model.line_load("m", "s:right edge", (0.0, 0.0, 0.0), moment=(1.0, 0.0, 0.0))
    model.fix("s:left")
    model.linear_static_step()
    with pytest.raises(ModelError, match="rotation"):
        solve(model)
    other = Model(3)
    other.material("m", E=1.0, nu=0.3, density=0.0)
    other.mesh("s", mesh)
    other.mesh("t", mesh)
    other.shells("shell", on="t", material="m", thickness=0.1)
    with pytest.raises(ModelError, match="which is no shell"):
        other.line_load("q", "s:right edge", (1.0, 0.0, 0.0))


# --- moving frames ---------------------------------------------------------------------------------------------------
@CELLS
@ELEMENTS
def test_a_rotating_disc_widens(cell, element):
    """A quarter of a full disc: u = rho w^2 R^3 (1 - nu)/(4 E) at the rim."""
    R, speed = 0.5, 100.0

    def place(u, v):
        # the unit square mapped to a quarter of a disc
        x, y = u, v
        return R * x * np.sqrt(1 - y * y / 2), R * y * np.sqrt(1 - x * x / 2), 0 * x

    model = steel(grid(place, 10, 10, cell), element=element)
    model.fix("s", ["z"])
    model.fix("s:left", ["x"])
    model.fix("s:bottom", ["y"])
    if element == "standard":
        for edge in ("left", "bottom"):
            model.fix(f"s:{edge}", ["rotation z"])
    model.centrifugal("spin", speed=speed, axis=(0.0, 0.0, 1.0))
    model.sensor("u", "displacement", on="s:b")
    model.linear_static_step()
    exact = RHO * speed**2 * R**3 * (1 - NU) / (4 * E)
    assert solve(model).sensor("u").values[-1, 0] == pytest.approx(exact, rel=0.02)
