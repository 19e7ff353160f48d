"""Solid elements in whole analyses: transients that conserve, large deflections, modes, buckling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from solid_meshes import boundary_faces, grid

from fem_mbs import Model, solve
from fem_mbs.contract import KINETIC, STRAIN
from fem_mbs.elements.registry import element_type
from fem_mbs.elements.solids import loads as solid_loads
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.material import isotropic, plane
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.system.blocks import Block

E, NU, DENSITY = 2.0e6, 0.3, 1000.0


def add(model, label, type_name, nodes, par):
    """A block of finished parameters (what a builder of solids does)."""
    model.building.blocks.append(Block([(label, 0, len(nodes))], element_type(type_name), nodes, par))


def body(name, counts, size, nonlinear=1.0, lumped=False, nu=NU, **options):
    """A box of solid elements with its mass, its node sets "start" and "end" (x = 0, x = length)."""
    dim = len(counts)
    kinds = solid.KINDS if dim == 3 else solid_plane.KINDS
    cell = kinds[name][0]
    X, cells = grid(cell, counts, size)
    X = X - (0.0, *(0.5 * s for s in size[1:]))
    model = Model(dim)
    ends = {"start": np.flatnonzero(X[:, 0] < 1e-9), "end": np.flatnonzero(X[:, 0] > size[0] - 1e-9)}
    model.mesh("body", Mesh(X, node_sets=ends))
    if dim == 3:
        par = solid.parameters(X[cells], isotropic(E, nu), nonlinear, **options)
    else:
        par = solid_plane.parameters(X[cells], plane(isotropic(E, nu), "stress"), 1.0, nonlinear, **options)
    add(model, "body", name, cells, par)
    form = "lumped" if lumped else "mass"
    mass = f"{'solid' if dim == 3 else 'plane'}_{form}_{cell}"
    add(model, "mass", mass, cells, solid_mass.mass_parameters(cell, X[cells], DENSITY, lumped=lumped))
    return model, cell, X, cells


def traction(model, cell, X, cells, chosen, value, label="load"):
    """A traction on the faces whose nodes all are chosen, as a load that steps know by its name."""
    index = model.building.function_index(None, model.building.label("Force", label), load=True)
    for face, nodes in boundary_faces(cell, cells).items():
        nodes = nodes[chosen[nodes].all(axis=1)]
        par = solid_loads.traction_parameters(face, X[nodes], value, index)
        add(model, label, f"traction_{face}", nodes, par)


# --- transients ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "counts", "lumped"),
    [
        ("solid_hexahedron_incompatible", (3, 1, 1), False),
        ("solid_tetra10", (2, 1, 1), True),
        ("solid_hexahedron20_reduced", (2, 1, 1), False),
        ("solid_wedge15", (1, 1, 1), False),
        ("plane_quad8", (4, 1), False),
        ("plane_triangle6", (4, 1), True),
    ],
)
def test_a_soft_spinning_body_conserves(name, counts, lumped):
    """A block that bends and tumbles: energy and momenta constant to round-off, at a tenth of a turn per step."""
    size = (1.0, 0.3, 0.2)[: len(counts)]
    model, *_ = body(name, counts, size, lumped=lumped)
    if len(counts) == 3:
        model.initial(velocity=("0.4 + 8*y", "10*x**2", "2 - 15*x*y"), spin=None)
        model.initial(spin=(3.0, 5.0, 20.0), centre=(0.5, 0, 0))
    else:
        model.initial(velocity=("0.4 + 8*y", "10*x**2"))
        model.initial(spin=20.0, centre=(0.5, 0))
    model.transient_step(duration=0.9, h=0.03)
    step = solve(model).steps[0]
    assert abs(step.summary["energy"]["closing_error_relative"]) < 1e-10
    strain = step.series["ledger"][:, STRAIN]
    assert np.ptp(strain) > 1e-3 * step.series["ledger"][0, KINETIC]  # it does deform
    for name in ("linear momentum", "angular momentum"):
        momentum = step.series[name]
        assert np.ptp(momentum, axis=0).max() < 1e-10 * np.abs(momentum).max()


def test_damping_is_booked():
    model, *_ = body("plane_quad8", (4, 1), (1.0, 0.3), damping=2e-3)
    model.initial(velocity=("0", "10*x**2"))
    model.transient_step(duration=0.5, h=0.02)
    energy = solve(model).steps[0].summary["energy"]
    assert abs(energy["closing_error_relative"]) < 1e-10


# --- statics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["plane_quad8_reduced", "plane_triangle6", "solid_hexahedron_incompatible"])
def test_elastica(name):
    """Cantilever under P L^2/EI = 1 at its tip: 0.30172 L down, 0.05643 L back (Bisshopp & Drucker 1945)."""
    L, b = 1.0, 0.02
    counts, size = ((30, 1), (L, b)) if "plane" in name else ((40, 1, 1), (L, b, b))
    model, cell, X, cells = body(name, counts, size, nu=0.0)
    model.fix("body:start")
    P = E * b**3 / 12 / L**2 / b  # per area of the end
    value = (0.0, -P) if "plane" in name else (0.0, -P, 0.0)
    traction(model, cell, X, cells, X[:, 0] > L - 1e-9, value)
    model.static_step(increments=4)
    u = solve(model).steps[0].frames["displacement"][-1]
    tip = X[:, 0] > L - 1e-9
    back, down, _ = -u[tip].mean(axis=0)
    assert down == pytest.approx(0.30172 * L, rel=5e-3)
    assert back == pytest.approx(0.05643 * L, rel=1e-2)


# --- eigenvalues -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("solid_hexahedron20_reduced", (8, 1, 2)),
        ("solid_hexahedron_incompatible", (16, 1, 1)),
        ("solid_tetra10", (8, 1, 1)),
    ],
)
@pytest.mark.parametrize("nonlinear", [0.0, 1.0])
def test_modes_of_a_cantilever(name, counts, nonlinear):
    """First bending frequencies of a slender bar against Timoshenko's beam (effects of rotation and shear < 1 %)."""
    L, b = 10.0, 0.5
    model, *_ = body(name, counts, (L, b, b), nonlinear, nu=0.0)
    model.fix("body:start")
    model.modes_step(count=3)
    f = np.array(solve(model).steps[0].summary["frequencies_hz"])
    bending = np.sqrt(E * b * b / 12 / DENSITY) / L**2 / (2 * np.pi) * np.array((1.8751, 1.8751, 4.6941)) ** 2
    assert np.allclose(f, bending, rtol=2e-2)


def test_free_body_has_six_rigid_modes():
    model, *_ = body("solid_tetra10", (2, 1, 1), (1.0, 0.5, 0.5), 0.0)
    model.modes_step(count=8)
    summary = solve(model).steps[0].summary
    assert summary["rigid_body_modes"] == 6
    assert summary["frequencies_hz"][6] > 1.0


@pytest.mark.parametrize("name", ["solid_hexahedron20_reduced", "solid_tetra10", "plane_quad8"])
@pytest.mark.parametrize("nonlinear", [0.0, 1.0])
def test_buckling_step(name, nonlinear):
    """Euler's column by a linear buckling step: stresses, their geometric stiffness and the factor."""
    L, b = 10.0, 0.5
    size, counts = ((L, b), (10, 1)) if "plane" in name else ((L, b, b), (8, 1, 2))
    model, cell, X, cells = body(name, counts, size, nonlinear, nu=0.0)
    model.fix("body:start")
    area, inertia = (b, b**3 / 12) if "plane" in name else (b * b, b**4 / 12)
    value = np.zeros(len(size))
    value[0] = -1.0 / area
    traction(model, cell, X, cells, X[:, 0] > L - 1e-9, value)
    model.buckling_step(count=1)
    factor = solve(model).steps[0].summary["load_factors"][0]
    euler = np.pi**2 * E * inertia / (4 * L * L)
    assert factor == pytest.approx(euler, rel=2e-2)


def test_stiffening_by_tension():
    """Modes about a stretched state: the frequency of a pulled bar rises as its static solution says."""
    L, b = 10.0, 0.5
    results = []
    for pull in (0.0, 2e-4 * E):
        model, cell, X, cells = body("solid_hexahedron20_reduced", (8, 1, 2), (L, b, b), 1.0, nu=0.0)
        model.fix("body:start")
        traction(model, cell, X, cells, X[:, 0] > L - 1e-9, (pull, 0.0, 0.0))
        model.static_step(increments=2)
        model.modes_step(count=1)
        results.append(solve(model).steps[1].summary["frequencies_hz"][0])
    # Rayleigh's quotient of the beam under a dead end force: f^2 grows by about N (integral w'^2)/(integral m w^2)
    x = np.linspace(0, L, 2001)
    k, s = 1.8751041 / L, 0.7340955
    w = np.cosh(k * x) - np.cos(k * x) - s * (np.sinh(k * x) - np.sin(k * x))
    slope = np.gradient(w, x)
    growth = 2e-4 * E * trapezoid(slope**2, x) / (DENSITY * trapezoid(w**2, x)) / (2 * np.pi) ** 2
    assert results[1] ** 2 - results[0] ** 2 == pytest.approx(growth, rel=0.1)
