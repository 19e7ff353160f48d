"""Spatial beams from the builder: deflections, places and axes, ends, masses, damping, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs.meshes.generate import arc, polyline

STRAINS = ("exact", "generalised", "corotational")
EA, GA, EIY, EIZ, GJ = 1e6, 1e5, 30.0, 80.0, 20.0
SECTION = {"EA": EA, "GA": GA, "EIy": EIY, "EIz": EIZ, "GJ": GJ, "rhoA": 1.0, "rhoIy": 2e-3, "rhoIz": 3e-3}
SMALL = 1e-4  # force whose deflections are linear to 1e-8


def cantilever(n=1, options=None, force=None, moment=None, x=(1.0, 0.0, 0.0), **section):
    m = Model(3)
    m.section("s", "stiffness", **{**SECTION, **section})
    m.line("b", (0.0, 0.0, 0.0), x, n)
    m.beams("b", "b", "s", **(options or {}))
    m.fix("b:start")
    if force is not None:
        m.force("f", "b:end", SMALL * np.array(force))
    if moment is not None:
        m.moment("m", "b:end", SMALL * np.array(moment))
    return m


def statics(m, on="b:end"):
    """Displacement and rotation of a place over the size of the load."""
    m.sensor("u", "displacement", on=on)
    m.sensor("r", "rotation", on=on)
    m.static_step()
    solution = solve(m)
    return solution.sensor("u").values[-1] / SMALL, solution.sensor("r").values[-1] / SMALL


def near(value, expected, tolerance=1e-5):
    expected = np.asarray(expected, float)
    assert np.abs(np.asarray(value) - expected).max() < tolerance * np.abs(expected).max()


def closed(step):
    """The energy ledger closes to round-off."""
    scale = np.abs(step.series["ledger"][:, :6]).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * scale


# --- statics ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("n", [1, 3])
def test_cantilever(strains, n):
    """Timoshenko's deflections under forces and moments, exact with one element."""
    u, r = statics(cantilever(n, {"strains": strains}, force=(1, 1, 1)))
    near(u, [1 / EA, 1 / (3 * EIZ) + 1 / GA, 1 / (3 * EIY) + 1 / GA])
    near(r, [0, -1 / (2 * EIY), 1 / (2 * EIZ)])
    u, r = statics(cantilever(n, {"strains": strains}, moment=(1, 1, 1)))
    near(r, [1 / GJ, 1 / EIY, 1 / EIZ])
    near(u, [0, 1 / (2 * EIZ), -1 / (2 * EIY)], 1e-4)


def test_orientation_turns_the_section():
    for orientation in ((0.0, 0.0, 1.0), ("0*x", 0.0, "1 + x"), lambda x: np.tile([0.0, 0.0, 2.0], (len(x), 1))):
        u, _ = statics(cantilever(1, {"orientation": orientation}, force=(0, 1, 1)))
        near(u[1:], [1 / (3 * EIY) + 1 / GA, 1 / (3 * EIZ) + 1 / GA])


@pytest.mark.parametrize("strains", STRAINS)
def test_beams_in_a_plane_are_plane_beams(strains):
    """The default axes bend a frame in the x-y plane by EIz, as the model of the plane does."""
    corners = np.array([(0.0, 0.0), (0.0, 1.0), (1.5, 1.5), (0.5, 2.0)])
    results = []
    for dimension in (2, 3):
        m = Model(dimension)
        m.section("s", "stiffness", **SECTION)
        points = corners if dimension == 2 else np.column_stack([corners, np.zeros(4)])
        m.mesh("b", polyline([tuple(p) for p in points], [2, 2, 2]))
        m.beams("b", "b", "s", strains=strains)
        m.fix("b:start")
        m.force("f", "b:end", (10.0, -5.0, 0.0)[:dimension])
        m.sensor("u", "displacement", on="b:end")
        m.static_step(4)
        results.append(solve(m).steps[-1].series["sensor/u"][-1])
    assert results[1][2] == 0.0
    # the second-order terms of plane co-rotational beams are those without shear
    near(results[1][:2], results[0], 1e-6 if strains == "corotational" else 1e-8)


def test_coupled_section():
    """A force through the beam's line twists it about the shear centre and bends it about the centroid."""
    places = {"shear_centre": [0.0, 0.1], "centroid": [0.05, 0.0]}
    u, r = statics(cantilever(1, {}, force=(0, 1, 0), **places))
    near(r[0], 0.1 / GJ)
    near(u[1], 1 / (3 * EIZ) + 1 / GA + 0.1**2 / GJ)
    u, r = statics(cantilever(1, {}, force=(1, 0, 0), **places))
    near(u[0], 1 / EA + 0.05**2 / EIZ)
    near(r[2], 0.05 / EIZ)


def test_offset_is_an_eccentric_beam():
    """The same as a section whose points all lie beside the line."""
    a = cantilever(2, {"offset": [0.0, 0.05, -0.1]}, force=(1, 1, 1))
    b = cantilever(2, {}, force=(1, 1, 1), centroid=[0.05, -0.1])
    for one, other in zip(statics(a), statics(b), strict=True):
        near(one, other, 1e-6)


def test_offsets_of_the_ends():
    """A line that leaves the nodes: as long as what lies between its ends."""
    u, _ = statics(cantilever(1, {"offset_start": [0.2, 0, 0], "offset_end": [-0.1, 0, 0]}, force=(0, 0, 1)))
    L = 0.7
    tip = 1.0 * (L**3 / 3 + 0.1 * L**2 / 2) + 0.1 * (L**2 / 2 + 0.1 * L)
    near(u[2], tip / EIY + L / GA)


def test_taper():
    """From 4 to 1 in stiffness, linear: one element is exact, and so are the parts of a line in any order."""
    results = []
    for n in (1, 5):
        model = Model(3)
        model.section("a", "stiffness", **{**SECTION, "EIz": 4 * EIZ})
        model.section("b", "stiffness", **SECTION)
        model.line("b", (0, 0, 0), (1, 0, 0), n)
        model.beams("b", "b", ["a", "b"])
        model.fix("b:start")
        model.force("f", "b:end", (0.0, SMALL, 0.0))
        results.append(statics(model)[0][1])
    s = np.linspace(0.0, 1.0, 200001)
    exact = trapezoid((1 - s) ** 2 / (EIZ * (4 - 3 * s)), s) + 1 / GA
    near(results, [exact, exact])


# --- curved and twisted lines ----------------------------------------------------------------------------------------
def quarter(n, strains, **options):
    m = Model(3)
    m.section("s", "stiffness", **SECTION)
    m.mesh("b", arc((0.0, 0.0, 0.0), 1.0, [0.0, 90.0], n))
    m.beams("b", "b", "s", strains=strains, curved=True, **options)
    m.fix("b:start")
    return m


@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("twist", [None, 0.5, [0.2, 1.0]])
def test_curved_and_twisted_beams_are_free_of_stress(strains, twist):
    m = quarter(4, strains, orientation=("x", "y", "1"), twist=twist)
    m.force("f", "b:end", (0.0, 0.0, 1e-12))
    u, _ = statics(m)
    assert np.abs(u * SMALL).max() < 1e-10
    model = quarter(3, strains, twist=twist)
    model.initial("all", velocity=(1.0, 2.0, 3.0))
    model.building.fixed.clear()
    model.transient_step(0.1, 0.01)
    solution = solve(model)
    assert np.abs(solution.steps[0].ledger("strain")).max() < 1e-20


@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("second_order", [True, False])
def test_curved_cantilever(strains, second_order):
    """A quarter ring under forces across and in its plane (Castigliano): an error of fourth order."""
    phi = np.linspace(0.0, np.pi / 2, 20001)
    bend, turn = np.sin(phi), 1.0 - np.cos(phi)
    exact = np.array([
        trapezoid(bend**2 / EIZ + bend**2 / EA + np.cos(phi) ** 2 / GA, phi),
        trapezoid(bend**2 / EIY + turn**2 / GJ, phi) + np.pi / 2 / GA,
    ])  # fmt: skip
    errors = []
    for n in (2, 4, 8):
        m = quarter(n, strains, second_order=second_order)
        m.force("f", "b:end", (0.0, 0.01 * SMALL, 0.01 * SMALL))
        errors.append(np.abs(100.0 * statics(m)[0][1:] / exact - 1.0))
    assert errors[0].max() < 3e-3
    assert errors[2].max() < 1e-5
    assert errors[0][1] / errors[1][1] == pytest.approx(16.0, abs=2.0)
    assert errors[1][1] / errors[2][1] == pytest.approx(16.0, abs=1.0)


@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("n", [2, 6])
def test_twisted_cantilever(strains, n):
    """A quarter turn of the section along the line, between stiff and weak bending: exact."""
    s = np.linspace(0.0, 1.0, 20001)
    a = 0.5 * np.pi * s
    weight = (1 - s) ** 2
    exact = [
        trapezoid(weight * (np.sin(a) ** 2 / EIY + np.cos(a) ** 2 / EIZ), s) + 1 / GA,
        trapezoid(weight * np.sin(a) * np.cos(a) * (1 / EIZ - 1 / EIY), s),
    ]
    for twist in (0.5 * np.pi, [0.0, 0.5 * np.pi]):
        u, _ = statics(cantilever(n, {"twist": twist, "strains": strains}, force=(0, 1, 0)))
        near(u[1:], exact, 1e-6)


# --- ends and fixed strains ------------------------------------------------------------------------------------------
def propped(releases, n=2, strains="exact"):
    """Clamped at both ends but for the releases, loaded in the middle."""
    m = Model(3)
    m.section("s", "stiffness", **{**SECTION, "GA": np.inf})
    m.line("b", (0, 0, 0), (1, 0, 0), n)
    m.beams("b", "b", "s", releases=releases, strains=strains)
    m.fix(["b:start", "b:end"])
    return m


@pytest.mark.parametrize(
    ("releases", "y", "z"),
    [
        ({}, 192, 192),
        ({"end": ["rotation z"]}, 768 / 7, 192),
        ({"start": "rotation y"}, 192, 768 / 7),
        ({"start": ["rotation z"], "end": ["rotation z", "rotation y"]}, 48, 768 / 7),
        ({"start": ["rotation y", "rotation z"], "end": "rotation"}, 48, 48),
    ],
)
def test_releases(releases, y, z):
    m = propped(releases)
    mid = m.meshes["b"][0].points
    m.force("f", int(np.argmin(np.abs(mid[:, 0] - 0.5))), (0.0, SMALL, SMALL))
    u, _ = statics(m, int(np.argmin(np.abs(mid[:, 0] - 0.5))))
    near(u[1:], [1 / (y * EIZ), 1 / (z * EIY)])


def test_releases_turn_far_and_do_no_work():
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.section("s", "stiffness", **SECTION)
    m.line("b", (0, 0, 0), (1, 0, 0), 2)
    m.beams("b", "b", "s", releases={"start": ["rotation y", "rotation z"]})
    m.fix("b:start")
    m.sensor("tip", "position", on="b:end")
    m.transient_step(2.0, 0.005, frames=0)
    solution = solve(m)
    closed(solution.steps[0])
    assert solution.sensor("tip").values[:, 0].min() < -0.9  # it swings through


def test_release_in_the_plane():
    m = Model(2)
    m.section("s", "stiffness", **{**SECTION, "GA": np.inf})
    m.line("b", (0, 0), (1, 0), 2)
    m.beams("b", "b", "s", releases={"end": "rotation"})
    m.fix(["b:start", "b:end"])
    m.force("f", 1, (0.0, SMALL))
    u, _ = statics(m, 1)
    near(u[1], 7 / (768 * EIZ))
    assert m.named_nodes["b end"] == 3


def test_fixed_strains():
    force = (1, 1, 1)
    for strains in STRAINS:
        u, r = statics(cantilever(2, {"fixed": "all", "strains": strains}, force, force))
        assert np.abs(u).max() < 1e-12
        assert np.abs(r).max() < 1e-12
        u, _ = statics(cantilever(2, {"fixed": ["bending y"], "strains": strains}, force))
        assert abs(u[2]) < 1e-7
        near(u[:2], [1 / EA, 1 / (3 * EIZ) + 1 / GA])
        u, r = statics(cantilever(2, {"fixed": "torsion", "inextensible": True, "strains": strains}, force, (1, 0, 0)))
        assert abs(u[0]) < 1e-7
        assert abs(r[0]) < 1e-7
        near(u[2], 1 / (3 * EIY) + 1 / GA)
    u, _ = statics(cantilever(1, {"fixed": "extension"}, force, EA=np.inf))
    near(u[1:], [1 / (3 * EIZ) + 1 / GA, 1 / (3 * EIY) + 1 / GA])
    u, _ = statics(cantilever(1, {"shear": False}, force))
    near(u[1:], [1 / (3 * EIZ), 1 / (3 * EIY)])


# --- inertia ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mass", ["hermite", "consistent", "lumped"])
@pytest.mark.parametrize("offset", [None, [0.0, 0.1, 0.2]])
def test_kinetic_energy_of_a_turning_beam(mass, offset):
    """Mass, its place and its moments as the ledger sees them."""
    m = Model(3)
    m.section("s", "stiffness", **SECTION)
    m.line("b", (0, 0, 0), (1, 0, 0), 3)
    m.beams("b", "b", "s", mass=mass, offset=offset)
    v, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.4])
    m.initial("all", velocity=v, spin=w, centre=(0.0, 0.0, 0.0))
    m.transient_step(0.01, 0.01, frames=0)
    step = solve(m).steps[0]
    J = np.diag([5e-3, 2e-3, 3e-3])
    a = np.zeros(3) if offset is None else np.array(offset)
    x, weight = np.polynomial.legendre.leggauss(4)
    x, weight = 0.5 * (x + 1), 0.5 * weight
    if mass == "lumped":
        x, weight = np.linspace(0, 1, 4), np.array([1, 2, 2, 1]) / 6
    speed = v + np.cross(w, np.column_stack([x, 0 * x, 0 * x]) + a)
    assert step.ledger("kinetic")[0] == pytest.approx(
        0.5 * weight @ (speed**2).sum(axis=1) + 0.5 * w @ J @ w, rel=1e-13
    )
    np.testing.assert_allclose(step.series["linear momentum"][0], weight @ speed, rtol=1e-13)


@pytest.mark.parametrize("strains", STRAINS)
@pytest.mark.parametrize("mass", ["hermite", "lumped"])
def test_free_flight_conserves(strains, mass):
    m = Model(3)
    m.section("s", "stiffness", **{**SECTION, "mass_centre": [0.02, -0.03], "shear_centre": [0.01, 0.0]})
    m.mesh("b", arc((0.0, 0.0, 0.0), 1.0, [0.0, 90.0], 3))
    m.beams("b", "b", "s", strains=strains, mass=mass, curved=True, twist=0.3)
    m.initial("all", velocity=(1.0, 0.0, 0.3), spin=(1.0, 2.0, -1.5), centre=(0.0, 0.0, 0.0))
    m.initial("b:end", velocity=(0.0, 0.2, 0.0), method="projection")
    m.transient_step(1.0, 0.01, frames=0)
    step = solve(m).steps[0]
    closed(step)
    for key in ("linear momentum", "angular momentum"):
        values = step.series[key]
        assert np.abs(values - values[0]).max() < 1e-10 * np.abs(values).max()
    assert np.ptp(step.ledger("strain")) > 1e-4


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mass", ["hermite", "consistent", "lumped"])
def test_mass_damping(dimension, mass):
    """A free beam loses its speed by (2 - alpha h)/(2 + alpha h) per step, and all of it is booked."""
    m = Model(dimension)
    m.section("s", "stiffness", **SECTION)
    m.line("b", (0.0,) * dimension, (1.0, *(0.0,) * (dimension - 1)), 2)
    m.beams("b", "b", "s", mass=mass, mass_damping=2.0)
    m.initial("all", velocity=(1.0, 0.5, 0.2)[:dimension])
    m.transient_step(1.0, 0.1, frames=0)
    step = solve(m).steps[0]
    closed(step)
    p = step.series["linear momentum"]
    near(p[-1], p[0] * (1.8 / 2.2) ** 10, 1e-10)
    assert step.ledger("dissipated")[-1] == pytest.approx(step.ledger("kinetic")[0] - step.ledger("kinetic")[-1])


def test_stiffness_damping_is_booked():
    m = cantilever(2, {"damping": 0.01}, force=(0, 1e4, 1e4))
    m.transient_step(0.5, 0.01, frames=0)
    step = solve(m).steps[0]
    closed(step)
    assert step.ledger("dissipated")[-1] > 0.0


# --- point masses ----------------------------------------------------------------------------------------------------
def test_point_masses_in_space():
    """Inertia about the mass centre, and the mass centre beside the node: energy and weight."""
    J, arm, v, w = (
        np.diag([0.3, 0.4, 0.5]),
        np.array([0.1, -0.2, 0.3]),
        np.array([1.0, 0, 0]),
        np.array([0.5, 1.0, 2.0]),
    )
    for offset in (None, arm):
        m = Model(3)
        m.section("s", "stiffness", **{**SECTION, "rhoA": 0.0, "rhoIy": 0.0, "rhoIz": 0.0})
        m.line("b", (0, 0, 0), (1, 0, 0), 1)
        m.beams("b", "b", "s")
        m.point_mass("m", ["b:start", "b:end"], 2.0, inertia=(0.3, 0.4, 0.5), offset=offset)
        m.initial("all", velocity=v, spin=w, centre=(0.0, 0.0, 0.0))
        m.transient_step(0.001, 0.001, frames=0)
        a = np.zeros(3) if offset is None else offset
        energy = sum(np.sum((v + np.cross(w, np.array([x, 0, 0]) + a)) ** 2) + 0.5 * w @ J @ w for x in (0.0, 1.0))
        assert solve(m).steps[0].ledger("kinetic")[0] == pytest.approx(energy, rel=1e-12)
    m = cantilever(1, {}, rhoA=0.0, rhoIy=0.0, rhoIz=0.0)
    m.gravity[:] = (0.0, 0.0, -SMALL)
    m.point_mass("m", "b:end", 1.0, offset=(0.2, 0.1, 0.0))
    _, r = statics(m)
    near(r, [-0.1 / GJ, (0.5 + 0.2) / EIY, 0.0])


# --- wrong input -----------------------------------------------------------------------------------------------------
WRONG = [
    ({"strains": "green"}, 'strains = "green" must be one of exact, generalised, corotational, natural'),
    ({"rule": "secant"}, 'beams in space have "exact" only'),
    ({"orientation": (1, 0, 0)}, "orientation .1, 0, 0. is parallel to element 0"),
    ({"orientation": (1, 0)}, "orientation = .1, 0. must be 3 numbers or expressions"),
    ({"orientation": ("1/x", 0, 0)}, 'orientation is not finite at node "b 1"'),
    ({"offset": (0, 0, 1), "offset_end": (0, 0, 1)}, "give offset, or offset_start and offset_end, not both"),
    ({"offset_start": (1, 0, 0)}, "with its offsets element 0 has no length"),
    ({"fixed": "bending"}, 'fixed = "bending" must be of .*did you mean "bending'),
    ({"releases": {"middle": "rotation"}}, "must be a table of start and end"),
    ({"releases": {"end": ["x"]}}, 'releases, end: "x" must be of rotation, rotation x'),
    ({"twist": [0.0, 1.0, 2.0]}, "twist = .* must be a rate"),
    ({"section": ["s", "s", "s"]}, "must be a name or .start, end."),
    ({"section": ["s", "t"]}, 'no section "t"'),
    ({"mass_damping": -1.0}, "mass_damping = -1.0 must be a finite number of at least 0"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_beams(options, message):
    m = Model(3)
    m.section("s", "stiffness", **SECTION)
    m.line("b", (0, 0, 0), (1, 0, 0), 1)
    with pytest.raises(ModelError, match=f'^Beam "b": .*{message}'):
        m.beams("b", "b", **{"section": "s", **options})


def test_what_is_for_space():
    m = Model(2)
    m.section("s", "stiffness", **SECTION)
    m.section("e", "stiffness", centroid=[0.1, 0], **SECTION)
    m.line("b", (0, 0), (1, 0), 1)
    for k, (key, value) in enumerate(
        {"curved": True, "twist": 1.0, "offset": (0, 0, 1), "orientation": (0, 1, 0)}.items()
    ):
        with pytest.raises(ModelError, match=f"{key} is for beams in space"):
            m.beams(f"b{k}", "b", "s", **{key: value})
    with pytest.raises(ModelError, match="tapered beams are for space"):
        m.beams("t", "b", ["s", "s"])
    with pytest.raises(ModelError, match="a plane beam has none"):
        m.beams("e", "b", "e")
    with pytest.raises(ModelError, match='"torsion" must be of extension'):
        m.beams("f", "b", "s", fixed="torsion")


# --- the model file --------------------------------------------------------------------------------------------------
FILE = """
[section.thick]
shape = "box"
width = 0.05
height = 0.1
thickness = 0.004
shear_centre = [0.0, 0.01]
rotate = 10

[section.thin]
shape = "box"
width = 0.03
height = 0.06
thickness = 0.003
shear_centre = [0.0, 0.005]
rotate = 10

[section.blade]
shape = "matrix"
stiffness = [[1e7, 0, 0, 0, 0, 0], [0, 1e6, 0, 0, 0, 0], [0, 0, 1e6, 0, 0, 0],
    [0, 0, 0, 1e4, 100, 0], [0, 0, 0, 100, 1e4, 0], [0, 0, 0, 0, 0, 1e5]]
mass = [[2, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
    [0, 0, 0, 0.02, 0, 0], [0, 0, 0, 0, 0.01, 0], [0, 0, 0, 0, 0, 0.01]]

[material.steel]
E = 2.1e11
density = 7850

[mesh.arm]
line = {start = [0, 0, 0], end = [1, 0, 0], n = 3}

[mesh.bow]
arc = {center = [1, 1, 0], radius = 1, angles = [-90, 0], n = 4}

[[beam]]
name = "arm"
on = "arm"
section = ["thick", "thin"]
material = "steel"
orientation = [0, "1 + x", 0]
offset_start = [0, 0.01, 0]
releases = {end = ["rotation y"]}
fixed = ["torsion"]
mass_damping = 0.1

[[beam]]
name = "bow"
on = "bow"
section = "blade"
curved = true
twist = [0, 0.5]
strains = "corotational"

[[point_mass]]
at = "bow:end"
mass = 1
inertia = [0.1, 0.1, 0.1]
offset = [0.1, 0, 0]

[[joint]]
type = "weld"
a = "arm:end"
b = "bow:start"

[[support]]
on = "arm:start"

[[step]]
type = "transient"
duration = 0.02
h = 0.01
"""


def test_model_file(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(FILE)
    model = load_model(path)
    types = {b.type.name for b in model.building.blocks}
    assert types >= {"exact_beam3_fixed1", "corotational_beam3", "director_mass3"}
    assert len(model.groups["bow"]) == 4
    step = solve(model).steps[0]
    assert step.time[-1] == pytest.approx(0.02)
    # nothing moves it: its energies are round-off, and measured so
    assert step.summary["energy"]["closing_error_relative"] < 0.1
    assert "failures" not in step.summary
    path.write_text(FILE.replace('releases = {end = ["rotation y"]}', "releases = {top = 1}"))
    with pytest.raises(ModelError, match=r"releases = \{top = 1\} must be a table"):
        load_model(path)


def test_check_of_a_model_file(tmp_path):
    from fem_mbs.cli.check import _section_numbers

    path = tmp_path / "model.toml"
    path.write_text(FILE)
    model = load_model(path)
    numbers = list(_section_numbers(model, "steel", ["thick", "thin"], "beam", 1.0))
    assert numbers[0] == "EA = 2.386e+08 - 1.058e+08 N"
    assert numbers[-1].startswith("mass 6.28")


def test_messages_count_elements_as_sensors_do():
    """From 0: the third element of a part is number 2 in its messages, and in the key `element` of its sensors."""
    m = Model(3)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("s", "circle", diameter=0.1)
    m.polyline("bent", [(0, 0, 0), (2, 0, 0), (2, 1, 0)], [2, 1])
    with pytest.raises(ModelError, match="is parallel to element 2"):
        m.beams("along it", "bent", "s", "steel", orientation=(0.0, 1.0, 0.0))
    m.beams("bent", "bent", "s", "steel")
    m.sensor("N", "element", on="bent", element=2, quantity="N")
    with pytest.raises(ModelError, match='"bent" has elements 0 to 2'):
        m.sensor("N 3", "element", on="bent", element=3, quantity="N")
