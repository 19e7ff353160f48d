"""Solid and plane parts through the builder: closed forms, conservation, materials, temperatures, bad inputs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from solid_meshes import box_mesh, grid

from fem_mbs import Model, solve
from fem_mbs.elements.solids import recovery as solid_recovery
from fem_mbs.elements.solids import shapes as solid_shapes
from fem_mbs.elements.solids.material import orthotropic, turned
from fem_mbs.errors import ModelError
from fem_mbs.meshes.mesh import CellBlock, Mesh

E, NU, RHO = 2.0e6, 0.3, 1000.0


def part(cell, counts, size, dimension=None, distort=0.0, nu=NU, expansion=0.0, gravity=None, place=(0.0, 0.0, 0.0)):
    model = Model(len(counts), gravity=gravity)
    model.material("rubber", E=E, nu=nu, density=RHO, expansion=expansion)
    model.mesh("m", box_mesh(cell, counts, size, distort, place))
    return model


def on_symmetry_planes(model):
    """Free of rigid motion, free to swell."""
    for i, axis in enumerate("xyz"[: model.dimension]):
        model.fix(f"m:{axis}0", components=["xyz"[i]])


def last(model, step=-1):
    model.field_names = ("stress", "points")  # tables of the integration points too
    return solve(model).steps[step].frames


def stress_of(frames, model, name):
    """Stresses and strains (e, q, k) at the integration points of a group in the last frame."""
    strain = frames[f"{name}/points strain [-]"][-1].copy()
    strain[..., 3:] *= 2.0  # shear as gamma
    return frames[f"{name}/points stress [Pa]"][-1], strain


# --- statics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cell", "element", "counts"),
    [
        ("hexahedron", "incompatible", (40, 1, 1)),
        # a single row of reduced elements has motions without stiffness, which only the load would hold
        ("hexahedron20", "reduced", (12, 2, 2)),
        ("tetra10", "standard", (20, 1, 1)),
    ],
)
def test_cantilever_bends_like_the_elastica(cell, element, counts):
    """P L^2/EI = 1 at the tip: 0.30172 L down, 0.05643 L back (Bisshopp & Drucker 1945)."""
    L, b = 1.0, 0.02
    model = part(cell, counts, (L, b, b), nu=0.0)
    model.solids("beam", "m:body", "rubber", element=element)
    model.fix("m:x0")
    model.traction("load", "m:x1 faces", (0.0, 0.0, -E * b**4 / 12.0 / L**2 / b**2))
    model.static_step(increments=4)
    u = last(model)["displacement"][-1]
    back, _, down = -u[model.nodes_of("m:x1")].mean(axis=0)
    assert down == pytest.approx(0.30172 * L, rel=6e-3)
    assert back == pytest.approx(0.05643 * L, rel=1.2e-2)


@pytest.mark.parametrize("cell", ["tetra", "wedge", "wedge15", "hexahedron", "hexahedron20", "tetra10"])
def test_pressure_all_around_a_distorted_box(cell):
    """Under pressure p on all faces a linear body shrinks by p (1 - 2 nu)/E everywhere, on a distorted mesh too."""
    size = (1.0, 0.5, 0.4)
    model = part(cell, (2, 2, 2), size, distort=0.15)
    model.solids("body", "m", "rubber", kinematics="linear")
    on_symmetry_planes(model)
    p = 3.0
    model.pressure("squeeze", [f"m:{s} faces" for s in ("x0", "x1", "y0", "y1", "z0", "z1")], p)
    model.static_step()
    frames = last(model)
    strain = -p * (1.0 - 2.0 * NU) / E
    assert np.allclose(frames["displacement"][-1], strain * model.positions, rtol=0, atol=1e-5 * abs(strain))
    S, _ = stress_of(frames, model, "body")
    # (the pressure follows the faces: the reference's normals to first order in the strain only)
    assert np.allclose(S, -p * np.array([1, 1, 1, 0, 0, 0]), atol=1e-5 * p)


@pytest.mark.parametrize("state", ["stress", "strain"])
@pytest.mark.parametrize(("cell", "element"), [("quad", "standard"), ("quad8", "reduced"), ("triangle6", "standard")])
def test_plane_parts_under_tension(state, cell, element):
    """sigma along x: strain sigma/E in plane stress, (1 - nu^2) sigma/E in plane strain; thickness scales the load."""
    model = part(cell, (3, 2), (2.0, 1.0), distort=0.15)
    thick = 0.25
    model.planes("sheet", "m", "rubber", state=state, thickness=thick, element=element, kinematics="linear")
    on_symmetry_planes(model)
    sigma = 10.0
    model.traction("pull", "m:x1 faces", (sigma, 0.0))
    model.sensor("hold", "reaction", on="m:x0")
    model.static_step()
    solution = solve(model)
    u = solution.steps[0].frames["displacement"][-1]
    factor = 1.0 if state == "stress" else 1.0 - NU**2
    across = -NU if state == "stress" else -NU * (1.0 + NU)
    x = model.positions
    assert np.allclose(u[:, 0], factor * sigma / E * x[:, 0], rtol=0, atol=1e-11 * 2)
    assert np.allclose(u[:, 1], across * sigma / E * x[:, 1], rtol=0, atol=1e-11 * 2)
    force = solution.steps[-1].series["sensor/hold"][-1, 0]
    assert force == pytest.approx(-sigma * thick * 1.0, rel=1e-9)


def test_thick_cylinder_under_pressure():
    """Lame: u(r) = a^2 p/(E (b^2 - a^2)) ((1 - nu) r + (1 + nu) b^2/r) with free ends; the resultant is the ring's."""
    a, b, p = 1.0, 2.0, 100.0
    model = part("quad8", (12, 2), (b - a, 0.5), place=(a, 0.0))
    model.planes("ring", "m", "rubber", state="axisymmetric", kinematics="linear", element="reduced")
    model.fix("m:y0", components=["y"])
    model.pressure("inside", "m:x0 faces", p)
    model.static_step()
    frames = last(model)
    r = model.positions[:, 0]
    exact = a**2 * p / (E * (b**2 - a**2)) * ((1 - NU) * r + (1 + NU) * b**2 / r)
    assert np.allclose(frames["displacement"][-1][:, 0], exact, rtol=2e-4)
    S, _ = stress_of(frames, model, "ring")
    group = model.solid_groups["ring"]
    at = solid_recovery.point_positions("quad8", model.positions[group.nodes], "reduced")[..., 0]
    assert np.allclose(S[..., 2], a**2 * p / (b**2 - a**2) * (1 + b**2 / at**2), rtol=5e-3)
    assert group.mass.sum() == pytest.approx(RHO * np.pi * (b**2 - a**2) * 0.5, rel=1e-12)


def test_weight_hangs_on_the_support():
    model = part("tetra10", (2, 2, 2), (1.0, 0.5, 0.4), gravity=(0.0, 0.0, -9.81))
    model.solids("body", "m", "rubber", mass="lumped")
    model.fix("m:z0")
    model.sensor("foot", "reaction", on="m:z0")
    model.static_step()
    reaction = solve(model).steps[-1].series["sensor/foot"][-1, :3]
    assert np.allclose(reaction, (0, 0, RHO * 0.2 * 9.81), atol=1e-7)


def test_traction_and_pressure_by_expressions_and_per_face():
    """A traction x over a unit square gives 1/2, exact at the middles of faces; numbers per face go to their faces."""
    model = part("hexahedron", (4, 1, 1), (1.0, 1.0, 1.0))
    model.solids("body", "m", "rubber", kinematics="linear")
    model.fix("m:z0")
    model.traction("a", "m:z1 faces", (0.0, 0.0, "x"))
    model.pressure("b", "m:z1 faces", [1.0, 2.0, 3.0, 4.0])
    model.sensor("foot", "reaction", on="m:z0")
    model.static_step(name="t", vary=["a"])
    model.static_step(name="p", vary=["b"])
    solution = solve(model)
    assert solution.steps[0].series["sensor/foot"][-1, 2] == pytest.approx(-0.5, rel=1e-9)
    assert solution.steps[1].series["sensor/foot"][-1, 2] == pytest.approx(-0.5 + 2.5, rel=1e-5)


# --- materials -------------------------------------------------------------------------------------------------------
CONSTANTS = {"E": (3.0e6, 1.0e6, 2.0e6), "nu": (0.3, 0.25, 0.2), "G": (0.7e6, 0.5e6, 0.9e6)}


def random_axes(seed=3):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


@pytest.mark.parametrize("how", ["constants", "matrix", "triangle"])
@pytest.mark.parametrize("each", [False, True])
def test_turned_orthotropic_material(how, each):
    """A uniform stress in a body with turned material axes gives the strain of the turned compliance."""
    model = part("hexahedron20", (2, 1, 1), (1.0, 0.5, 0.4), distort=0.1)
    C = orthotropic(CONSTANTS["E"], CONSTANTS["nu"], CONSTANTS["G"])
    if how == "constants":
        model.solid_material("wood", **CONSTANTS, density=500.0)
    else:
        model.solid_material("wood", stiffness=C if how == "matrix" else C[np.triu_indices(6)], density=500.0)
    axes = random_axes()  # rows: material axes
    model.solids("body", "m", "wood", kinematics="linear", orientation=np.tile(axes, (2, 1, 1)) if each else axes)
    stress = np.array([3.0, -2.0, 1.0, 0.5, -0.4, 0.8])
    xx, yy, zz, xy, yz, zx = stress
    tensor = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    for i, axis in enumerate("xyz"):
        model.traction(f"{axis}0", f"m:{axis}0 faces", -tensor[i])
        model.traction(f"{axis}1", f"m:{axis}1 faces", tensor[i])
    # three points hold it without a reaction
    x = model.positions
    corner, along, up = (int(np.argmin(np.linalg.norm(x - p, axis=1))) for p in ((0, 0, 0), (1, 0, 0), (0, 0.5, 0)))
    model.fix(corner, components=["x", "y", "z"])
    model.fix(along, components=["y", "z"])
    model.fix(up, components=["z"])
    model.static_step()
    S, strain = stress_of(last(model), model, "body")
    assert np.allclose(S, stress, atol=1e-7)
    assert np.allclose(strain, np.linalg.solve(turned(C, axes.T), stress), rtol=0, atol=1e-7 * np.abs(strain).max())


def test_isotropic_materials_of_both_kinds_agree():
    forces = []
    for kind in ("plain", "solid"):
        model = Model(2)
        if kind == "plain":
            model.material("m", E=E, nu=NU, density=1.0, expansion=1e-5)
        else:
            model.solid_material("m", E=E, nu=NU, density=1.0, expansion=1e-5)
        model.mesh("m", box_mesh("quad", (2, 1), (1.0, 0.2)))
        model.planes("p", "m", "m")
        forces.append(model.building.blocks[0].par)
        group = model.solid_groups["p"]
        assert np.array_equal(group.material.expansion, [1e-5, 1e-5, 1e-5, 0, 0, 0])
    assert np.array_equal(*forces)


# --- temperature -----------------------------------------------------------------------------------------------------
ALPHA, HOT = 1.2e-3, 20.0


@pytest.mark.parametrize("cell", ["tetra10", "hexahedron", "hexahedron20", "wedge15"])
def test_a_free_body_swells_without_stress(cell):
    """A linear field of temperature in a free body of quadratic cells, or a uniform one, makes no stress."""
    model = part(cell, (2, 2, 2), (1.0, 0.5, 0.4), distort=0.1, expansion=ALPHA)
    model.solids("body", "m", "rubber", kinematics="linear")
    on_symmetry_planes(model)
    model.temperature("sun", "body", 293.0 + HOT, reference=293.0)
    model.static_step(increments=2)
    frames = last(model)
    assert np.allclose(frames["displacement"][-1], ALPHA * HOT * model.positions, atol=1e-10)
    S, strain = stress_of(frames, model, "body")
    assert np.allclose(S, 0.0, atol=1e-8 * E * ALPHA * HOT)
    assert np.allclose(strain[..., :3], ALPHA * HOT, rtol=1e-8)


@pytest.mark.parametrize("kinematics", ["linear", "nonlinear"])
def test_a_held_body_bears_the_thermal_stress(kinematics):
    """All displacements held but one node's: -E alpha T/(1 - 2 nu) in all directions."""
    model = part("hexahedron", (2, 2, 2), (1.0, 1.0, 1.0), expansion=ALPHA)
    model.solids("body", "m:body", "rubber", kinematics=kinematics)
    for s in ("x0", "x1", "y0", "y1", "z0", "z1"):
        model.fix(f"m:{s}")
    model.temperature("sun", "m:body", HOT)
    model.static_step()
    S, _ = stress_of(last(model), model, "body")
    assert np.allclose(S, -E * ALPHA * HOT / (1 - 2 * NU) * np.array([1, 1, 1, 0, 0, 0]), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(("cell", "element"), [("hexahedron20", "reduced"), ("tetra10", "standard")])
def test_a_gradient_of_temperature_bends_a_free_beam(cell, element):
    """T = g z: curvature alpha g without stress; deflection -alpha g x^2/2 of the axis."""
    L, b, g = 1.0, 0.1, 30.0
    model = part(cell, (6, 2, 2), (L, b, b), expansion=ALPHA, place=(0.0, -b / 2, -b / 2))
    model.solids("beam", "m", "rubber", element=element, kinematics="linear")
    x = model.positions
    low, high = (int(np.argmin(np.linalg.norm(x - (0, 0, z), axis=1))) for z in (-b / 2, b / 2))
    model.fix("m:x0", components=["x"])
    model.fix(low, components=["y", "z"])
    model.fix(high, components=["y"])
    model.temperature("sun", "m", f"{g}*z")
    model.static_step()
    frames = last(model)
    u = frames["displacement"][-1]
    bent = -0.5 * ALPHA * g * (x[:, 0] ** 2 - x[:, 2] ** 2 + x[:, 1] ** 2)
    exact = np.column_stack((ALPHA * g * x[:, 0] * x[:, 2], ALPHA * g * x[:, 1] * x[:, 2], bent - bent[low]))
    assert np.allclose(u, exact, rtol=0, atol=1e-8 * ALPHA * g * L**2)
    S, _ = stress_of(frames, model, "beam")
    assert np.abs(S).max() < 1e-6 * E * ALPHA * g * b


def test_orthotropic_expansion_turns_with_the_axes():
    model = part("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0))
    alphas = np.array([1e-3, 2e-3, 5e-3])
    model.solid_material("wood", **CONSTANTS, density=1.0, expansion=alphas)
    axes = random_axes(7)
    model.solids("body", "m", "wood", kinematics="linear", orientation=axes)
    model.fix(0)
    model.fix(4, components=["y", "z"])
    model.fix(2, components=["z"])
    model.temperature("sun", "body", 10.0)
    model.static_step()
    S, strain = stress_of(last(model), model, "body")
    tensor = 10.0 * axes.T @ np.diag(alphas) @ axes
    exact = [tensor[0, 0], tensor[1, 1], tensor[2, 2], 2 * tensor[0, 1], 2 * tensor[1, 2], 2 * tensor[2, 0]]
    assert np.allclose(strain, exact, rtol=1e-9, atol=1e-14)
    assert np.abs(S).max() < 1e-6


@pytest.mark.parametrize("kinematics", ["linear", "nonlinear"])
def test_a_free_cube_grows_as_the_reference_says(kinematics):
    """alpha dT = 0.13, where CalculiX 2.20 has a growth of 0.13 with NLGEOM too."""
    alpha, change = 1.3e-3, 100.0
    green = {"linear": change * alpha, "nonlinear": np.sqrt(1.0 + 2.0 * alpha * change) - 1.0}[kinematics]
    cases = [(change, green)]
    if kinematics == "nonlinear":
        cases.append((change * (1.0 + 0.5 * alpha * change), alpha * change))
    for given, growth in cases:
        m = Model(3)
        m.material("m", E=2.1e5, nu=0.3, density=1.0, expansion=alpha)
        m.grid("g", "box", size=(1.0, 1.0, 1.0), n=(1, 1, 1))
        m.solids("s", "g", "m", kinematics=kinematics)
        for side, component in (("left", "x"), ("front", "y"), ("bottom", "z")):
            m.fix(f"g:{side}", component)
        m.temperature("t", "g", given)
        m.sensor("u", "largest displacement", on="g:right", component="x")
        m.static_step(2)
        assert solve(m).sensor("u").values[-1, 0] == pytest.approx(growth, rel=1e-9)


def test_nodes_heated_and_several_temperatures():
    """Those of several calls add up; NaN keeps the reference.  Within a quad8 they are linear through 2 x 2 Gauss
    points: values on the side xi = 1 are xi (1 + xi)/2 between the nodes, (xi + 1/3)/2 there."""
    model = part("quad8", (2, 1), (2.0, 1.0), expansion=ALPHA)
    model.planes("sheet", "m", "rubber", kinematics="linear")
    model.fix("m:x0", components=["x"])
    model.fix(0, components=["y"])
    T = 4.0 * model.positions[:, 0]
    model.temperature("a", "m", T)
    model.temperature("b", "m:x1", 0.5)
    nothing = np.full(model.n_nodes, np.nan)
    model.temperature("c", "m", nothing)
    block = model.building.blocks[0]
    group = model.solid_groups["sheet"]
    N = solid_shapes.shape_functions("quad8", solid_shapes.rule("quad8")[0])
    x = model.positions[group.nodes, 0] @ N.T
    xi = 2.0 * x - 3.0  # of the second element
    assert np.allclose(block.par[:, -9:], 4.0 * x + np.where(x > 1.0, 0.5 * (xi + 1.0 / 3.0) / 2.0, 0.0))
    model.static_step()
    solve(model)


def test_heating_in_time_is_booked_as_work():
    """A body heated while it flies: energy = start + work of heating, to round-off; momenta stay."""
    model = part("hexahedron", (3, 1, 1), (1.0, 0.3, 0.2), expansion=ALPHA)
    model.solids("body", "m", "rubber", element="incompatible")
    model.temperature("sun", "m", f"{HOT}*x", function="1 + 2*t")
    model.initial(velocity=("0.4", "10*x**2", "2"))
    model.initial(spin=(3.0, 5.0, 20.0), centre=(0.5, 0, 0))
    model.transient_step(duration=0.6, h=0.03)
    step = solve(model).steps[0]
    energy = step.summary["energy"]
    assert abs(energy["closing_error_relative"]) < 1e-10
    work = step.series["ledger"][-1, 4]
    assert abs(work) > 1e-4 * step.series["ledger"][0, 0]
    for name in ("linear momentum", "angular momentum"):
        momentum = step.series[name]
        assert np.ptp(momentum, axis=0).max() < 1e-10 * np.abs(momentum).max()


# --- dynamics --------------------------------------------------------------------------------------------------------
def test_a_part_of_two_kinds_flies_and_conserves():
    """Hexahedra and wedges glued at their nodes: energy and momenta to round-off; one group of results per kind."""
    X, cells = grid("hexahedron", (4, 1, 1), (1.0, 0.3, 0.2))
    last_one = cells[-1]
    wedges = last_one[[[0, 1, 3, 4, 5, 7], [1, 2, 3, 5, 6, 7]]]
    model = Model(3)
    model.material("rubber", E=E, nu=NU, density=RHO)
    model.mesh("m", Mesh(X, [CellBlock("hexahedron", cells[:-1]), CellBlock("wedge", wedges)]))
    model.solids("body", "m", "rubber", element="incompatible")
    assert [*model.groups] == ["body hexahedron", "body wedge"]
    assert [g.type for g in model.solid_groups.values()] == ["solid_hexahedron_incompatible", "solid_wedge"]
    assert sum(g.mass.sum() for g in model.solid_groups.values()) == pytest.approx(RHO * 0.06, rel=1e-12)
    model.initial(velocity=("0.4 + 8*y", "10*x**2", "2 - 15*x*y"))
    model.initial(spin=(3.0, 5.0, 20.0), centre=(0.5, 0, 0))
    model.transient_step(duration=0.6, h=0.03)
    step = solve(model).steps[0]
    assert abs(step.summary["energy"]["closing_error_relative"]) < 1e-10
    for name in ("linear momentum", "angular momentum"):
        momentum = step.series[name]
        assert np.ptp(momentum, axis=0).max() < 1e-10 * np.abs(momentum).max()


def test_mass_damping_slows_a_flying_body():
    """v' = -alpha v of a body without forces; what is lost is booked."""
    model = part("tetra", (1, 1, 1), (1.0, 1.0, 1.0))
    model.solids("body", "m", "rubber", mass_damping=0.8)
    model.initial(velocity=(2.0, 0.0, 0.0))
    model.transient_step(duration=1.0, h=0.01)
    step = solve(model).steps[0]
    momentum = step.series["linear momentum"][:, 0]
    assert momentum[-1] / momentum[0] == pytest.approx(np.exp(-0.8), rel=1e-4)
    assert abs(step.summary["energy"]["closing_error_relative"]) < 1e-10


# --- what is refused -------------------------------------------------------------------------------------------------
def solid(**options):
    def act(model):
        model.solids("body", options.pop("on", "m:body"), options.pop("material", "rubber"), **options)

    return act


def inverted(model):
    X, cells = grid("hexahedron", (2, 1, 1))
    cells[1, :4], cells[1, 4:] = cells[1, 4:].copy(), cells[1, :4].copy()
    model.mesh("bad", Mesh(X, [CellBlock("hexahedron", cells, [11, 42])]))
    model.solids("x", "bad", "rubber")


def loaded(call):
    def act(model):
        model.solids("body", "m:body", "rubber")
        call(model)

    return act


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (solid(material="iron"), 'Solid "body": no material "iron"; there are rubber'),
        (solid(on="m:tail"), 'no set "tail" in the mesh'),
        (solid(on="n"), 'Solid "body": no mesh "n"; there are m'),
        (solid(on="m:x0"), 'set "x0" holds 4 points and no solid cells; name a volume group'),
        (solid(element="fine"), 'element = "fine" must be one of "standard", "incompatible", "reduced"'),
        (solid(element="reduced"), 'no reduced elements for hexahedron; use element = "standard"'),
        (solid(kinematics="small"), 'kinematics = "small" must be one of "nonlinear", "linear"'),
        (solid(mass="heavy"), 'mass = "heavy" must be one of "consistent", "lumped"'),
        (solid(damping=-1), "damping = -1 must be a finite number of at least 0"),
        (solid(orientation=[1, 2, 3]), r"orientation must be 3x3, .* not of shape \(3,\)"),
        (solid(orientation=np.diag((1.0, 1.0, -1.0))), "right-handed unit vectors at right angles"),
        (solid(on=["m:body", "m"]), 'cell 1 of mesh "m" is named twice in on'),
        (loaded(lambda m: m.solids("b2", "m", "rubber")), 'Solid "b2": cell 1 of mesh "m" already belongs to "body"'),
        (loaded(lambda m: m.planes("b2", "m", "rubber")), "plane elements are for dimension = 2; in space use solids"),
        (inverted, 'Solid "x", mesh "bad": hexahedron 42 counts its nodes the wrong way round'),
        (lambda m: m.pressure("p", "m:x0 faces", 1.0), 'holds faces of cell 1, which no solid or plane part uses'),
        (loaded(lambda m: m.pressure("p", "m", 1.0)), 'must name a set of faces .*; there are m:x0 faces'),
        (loaded(lambda m: m.pressure("p", "m:x0", 1.0)), 'set "x0" holds no faces of solids'),
        (loaded(lambda m: m.pressure("p", "m:x0 faces", [[1.0]])), "must be a finite number, an expression, or one"),
        (loaded(lambda m: m.pressure("p", "m:x0 faces", "1/x")), "must be a finite number, an expression, or one"),
        (
            loaded(lambda m: m.pressure("p", "m:x0 faces", 1.0, integration="full")),
            'integration = "full" must be one of "exact", "reduced"',
        ),
        (loaded(lambda m: m.traction("p", "m:x0 faces", (1.0, 2.0))), "must be 3 numbers or expressions"),
        (loaded(lambda m: m.temperature("t", "body", 3.0)), 'material "rubber" has no expansion; give it one'),
        (lambda m: m.temperature("t", "m", 3.0), 'no solid or plane part and no shell stands on "m"'),
        (lambda m: m.solid_material("c", E=1.0, nu=0.3), '"density" is missing'),
        (lambda m: m.solid_material("c", density=1.0), "no elasticity; give E and nu, or stiffness"),
        (lambda m: m.solid_material("c", E=(1, 2, 3), density=1.0), "nu = None must be 3 finite numbers"),
        (lambda m: m.solid_material("c", E=(1, 1, 1), nu=(0.9, 0.9, 0.9), G=(1, 1, 1), density=1.0), "is not positive"),
        (lambda m: m.solid_material("c", stiffness=np.ones((6, 6)), density=1.0), "stiffness is not positive"),
        (lambda m: m.solid_material("c", stiffness=np.triu(np.ones((6, 6))), density=1.0), "is not symmetric"),
        (lambda m: m.solid_material("rubber", E=1.0, nu=0.3, density=1.0), "the name is already taken"),
    ],
)  # fmt: skip
def test_refused(act, message):
    model = part("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0), place=(0.0, 0.0, 0.0))
    with pytest.raises(Exception, match=message) as caught:
        act(model)
    assert isinstance(caught.value, ModelError) or "no set" in str(caught.value) or "holds" in str(caught.value)
    assert not re.search(r"array\(", str(caught.value))


def test_a_second_function_for_the_heat_of_an_element():
    model = part("quad", (1, 1), (1.0, 1.0), expansion=ALPHA)
    model.planes("p", "m", "rubber")
    model.temperature("a", "p", 1.0, function="t")
    with pytest.raises(ModelError, match='element 1 of "p" follows another function of time already'):
        model.temperature("b", "p", 1.0, function="2*t")


def test_solid_materials_are_not_for_beams():
    model = Model(3)
    model.solid_material("wood", **CONSTANTS, density=1.0)
    model.section("s", "circle", diameter=0.1)
    model.line("l", (0, 0, 0), (1, 0, 0), 1)
    with pytest.raises(ModelError, match='material "wood" is for solids'):
        model.beams("b", "l", "s", "wood")


def test_cells_without_a_part_are_found():
    """Half of the mesh forgotten: its nodes hang loose."""
    X, cells = grid("hexahedron", (2, 1, 1))
    model = Model(3)
    model.material("rubber", E=E, nu=NU, density=RHO)
    mesh = Mesh(X, [CellBlock("hexahedron", cells)], cell_sets={"first": [(0, [0])]})
    model.mesh("m", mesh)
    model.solids("body", "m:first", "rubber")
    with pytest.raises(ModelError, match="no element, body or joint uses node"):
        model.compile()


# --- temperature in linear steps -------------------------------------------------------------------------------------
def heated_column(kinematics, element="incompatible"):
    """A column between walls: the force of a change T of temperature is E A alpha T."""
    L, b = 1.0, 0.04
    model = part("hexahedron", (16, 2, 2), (L, b, b), nu=0.0, expansion=1e-3)
    model.solids("column", "m", "rubber", element=element, kinematics=kinematics)
    model.fix("m:x0")
    model.fix("m:x1")
    return model, 4 * np.pi**2 * b**2 / 12.0 / L**2 / 1e-3


@pytest.mark.parametrize("kinematics", ["linear", "nonlinear"])
def test_a_heated_column_buckles(kinematics):
    """Euler: 4 pi^2 E I/L^2 (shear takes half a percent off)."""
    model, critical = heated_column(kinematics)
    model.temperature("heat", "column", 1.0)
    model.buckling_step(2, loads=["heat"])
    factors = solve(model).steps[-1].summary["load_factors"]
    assert factors == pytest.approx([critical] * 2, rel=2.5e-2)


@pytest.mark.parametrize("kinematics", ["linear", "nonlinear"])
def test_heat_lowers_the_frequencies_of_a_column(kinematics):
    """By a root of 1 - T/T_crit, nearly: the mode of a clamped beam is nearly its buckle (and the heat thickens a
    column of large displacements: half a percent)."""
    found = []
    for share in (0.0, 0.5):
        model, critical = heated_column(kinematics)
        model.temperature("heat", "column", share * critical)
        model.linear_static_step(name="hot")
        model.modes_step(2, preload="hot")
        found.append(np.array(solve(model).steps[-1].summary["frequencies_hz"]))
    assert found[1] / found[0] == pytest.approx(np.sqrt(0.5) * np.ones(2), rel=2.2e-2)


def test_heat_in_a_linear_static_step():
    model = part("hexahedron20", (2, 2, 2), (1.0, 1.0, 1.0), expansion=ALPHA)
    model.solids("body", "m:body", "rubber", kinematics="linear")
    on_symmetry_planes(model)
    model.fix("m:z1", components=["z"])
    model.temperature("sun", "m:body", HOT)
    model.linear_static_step()
    S, _ = stress_of(last(model), model, "body")
    assert np.allclose(S, -E * ALPHA * HOT * np.array([0, 0, 1, 0, 0, 0]), atol=1e-6 * E * ALPHA * HOT)


def test_a_pressure_on_a_whole_shell_is_told_its_sets_of_cells():
    m = Model(3)
    m.material("steel", E=2e11, nu=0.3, density=7800.0)
    m.grid("pipe", "tube", radius=0.5, height=1.0, n=(6, 2))
    m.shells("pipe", "pipe", "steel", 0.01)
    with pytest.raises(ModelError, match=r"must name a set of faces .*; there are pipe:bottom, pipe:top, pipe:all$"):
        m.pressure("inside", "pipe", 1.0)
    m.pressure("all", "pipe:all", 1.0)
