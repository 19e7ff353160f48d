"""Stresses in beams and trusses of all shapes of sections: closed forms, tables, resultants, extremes and messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import make_section
from fem_mbs.properties.shapes import SHAPES
from fem_mbs.properties.stresses import end_forces, outline, stress_matrix
from fem_mbs.results.reader import Results

E, NU, LENGTH = 2e11, 0.3, 2.0
STEEL = Material("steel", E, NU, density=0.0)
N, VY, VZ, T = 9000.0, 700.0, -300.0, 90.0
SECTIONS = {
    "rectangle": {"height": 0.1, "width": 0.05},
    "circle": {"diameter": 0.08},
    "tube": {"outer_diameter": 0.1, "thickness": 0.02},
    "I": {"height": 0.2, "width": 0.1, "web_thickness": 0.006, "flange_thickness": 0.01},
    "box": {"height": 0.2, "width": 0.1, "web_thickness": 0.004, "flange_thickness": 0.006},
}


def cantilever(section: dict, n: int = 2, dimension: int = 3, **options) -> Model:
    """A clamped beam along x with forces and a torque at its end."""
    m = Model(dimension)
    m.material("steel", E, NU, density=1.0)
    m.section("s", **section)
    m.line("l", (0.0,) * dimension, (LENGTH, 0.0, 0.0)[:dimension], n)
    m.beams("b", "l", "s", "steel", **options)
    m.fix("l:start")
    m.force("push", "l:end", (N, VY, VZ)[:dimension])
    if dimension == 3:
        m.moment("turn", "l:end", (T, 0.0, 0.0))
    m.linear_static_step()
    return m


def per_force(shape: str, points, what: str = "von Mises", nu: float = NU, **more) -> np.ndarray:
    section = make_section("s", shape, **SECTIONS[shape], **more)
    return stress_matrix(section, Material("m", E, nu, density=0.0), np.atleast_2d(points), what, "test")


@pytest.mark.parametrize("shape", SECTIONS)
def test_a_cantilever_has_the_stresses_of_its_section_forces(shape):
    """N/A + My z/Iy - Mz y/Iz with the moments of the forces at the end; the shear is that of the shape."""
    m = cantilever({"shape": shape, **SECTIONS[shape]})
    section = m.sections["s"]
    fibres = SHAPES[shape].fibres(section.dimensions)
    for name, point in fibres.items():
        for what in ("normal", "von Mises"):
            m.sensor(f"{name} {what}", "stress", on="b", element=0, at=0.25, fibre=name, component=what)
        m.sensor(f"{name} by place", "stress", on="b", along=0.125, fibre=list(point), component="normal")
    found = solve(m)
    x = LENGTH - 0.25
    for name, (y, z) in fibres.items():
        normal = N / section.A + -VZ * x * z / section.Iy - VY * x * y / section.Iz
        shear = per_force(shape, (y, z))[0, 1:] @ [N, VY, VZ, T, 0.0, 0.0]
        mises = math.sqrt(normal**2 + 3.0 * shear @ shear)
        for what, value in (("normal", normal), ("by place", normal), ("von Mises", mises)):
            assert found.sensor(f"{name} {what}").values[-1, 0] == pytest.approx(value, rel=1e-8, abs=1.0), (name, what)


@pytest.mark.parametrize("shape", SECTIONS)
def test_shear_stresses_have_the_shear_forces_and_the_torque_as_resultants(shape):
    """Integrals of tau over the material."""
    d = SECTIONS[shape]
    h, b = d.get("height", d.get("diameter", d.get("outer_diameter"))), d.get("width")
    b = h if b is None else b
    n = 500
    y, z = (side * ((np.arange(n) + 0.5) / n - 0.5) for side in (h, b))
    points = np.stack(np.meshgrid(y, z, indexing="ij"), axis=-1).reshape(-1, 2)
    section = make_section("s", shape, **d)
    points = points[SHAPES[shape].holds(section.dimensions, points)]
    weights = np.full(len(points), section.A / len(points))
    if shape == "rectangle":
        g, w = np.polynomial.legendre.leggauss(16)
        points = np.stack(np.meshgrid(0.5 * h * g, 0.5 * b * g, indexing="ij"), axis=-1).reshape(-1, 2)
        weights = 0.25 * section.A * np.outer(w, w).ravel()
    tau = SHAPES[shape].shear_stress(section.dimensions, NU, points)
    turn = points[:, 0, None] * tau[:, 1] - points[:, 1, None] * tau[:, 0]
    found = np.vstack((np.einsum("k,kij->ij", weights, tau), (weights @ turn)[None]))
    # open walls have half of their torque at their ends; no shear flow of the box is in its corners
    torque = 0.5 if shape == "I" else 1.0
    walls = {"I": 0.02, "box": 0.04}.get(shape, 3e-3)
    scale = np.array([1.0, 1.0, 0.5 * h])[:, None] / np.array([1.0, 1.0, 0.5 * h])
    np.testing.assert_allclose(found / scale, np.diag([1.0, 1.0, torque]), atol=walls)


def test_circle_and_rectangle_have_the_stresses_of_timoshenko_and_goodier():
    """Theory of Elasticity, articles 109, 122 and 124: tables of torsion and of bending by a force, nu = 1/4."""
    area = math.pi * 0.04**2
    assert per_force("circle", (0.0, 0.0))[0, 1, 1] == pytest.approx((3 + 2 * NU) / (2 * (1 + NU)) / area)
    for ratio, k in ((1.0, 0.208), (2.0, 0.246), (4.0, 0.282), (10.0, 0.312)):  # long over short side
        for height, width in ((ratio, 1.0), (1.0, ratio)):
            s = make_section("s", "rectangle", height=height, width=width)
            point = (0.0, 0.5) if height >= width else (0.5, 0.0)
            tau = np.abs(stress_matrix(s, STEEL, np.array([point]), "torsion", "test")[0, :, 3]).max()
            assert tau == pytest.approx(1.0 / (k * ratio), rel=3e-3)
    for ratio, centre, edge in ((2.0, 0.983, 1.033), (1.0, 0.940, 1.126), (0.5, 0.856, 1.396), (0.25, 0.805, 1.988)):
        s = make_section("s", "rectangle", height=ratio, width=1.0)  # the force is along the height
        material, points = Material("m", E, 0.25, density=0.0), np.array([[0.0, 0.0], [0.0, 0.5]])
        tau = stress_matrix(s, material, points, "xy", "test")[:, 1, 1] * ratio / 1.5
        assert tau == pytest.approx([centre, edge], rel=2e-3)


def test_thin_walls_have_the_shear_of_bredt_and_of_open_walls():
    thin = make_section("s", "tube", outer_diameter=0.1, thickness=1e-4)
    tau = stress_matrix(thin, STEEL, np.array([[0.0, 0.05]]), "xy", "test")[0, 1]
    assert tau[1] == pytest.approx(2.0 / thin.A, rel=2e-3)
    assert tau[3] == pytest.approx(-1.0 / (2.0 * math.pi * 0.05**2 * 1e-4), rel=4e-3)
    tau = per_force("box", [(0.0, 0.05), (0.1, 0.0)])
    flow = 1.0 / (2.0 * (0.2 - 0.006) * (0.1 - 0.004))
    assert tau[0, 1, 3] == pytest.approx(-flow / 0.004)
    assert tau[1, 2, 3] == pytest.approx(flow / 0.006)
    i = make_section("s", "I", **SECTIONS["I"])
    tau = per_force("I", [(0.1, 0.0), (0.0, 0.003), (0.0, 0.0)])
    assert tau[0, 2, 3] == pytest.approx(0.01 / i.J)
    assert tau[1, 1, 3] == pytest.approx(-0.006 / i.J)
    Q = 0.1 * 0.01 * 0.095 + 0.5 * 0.006 * 0.09**2
    assert tau[2, 1, 1] == pytest.approx(Q / (i.Iz * 0.006))


def test_a_product_of_inertia_turns_the_axes_and_the_neutral_line():
    """An angle section: sigma from the two coupled equations of bending in any axes."""
    Iy, Iz, Iyz, A = 3e-7, 5e-7, -2.4e-7, 1e-3
    section = {"shape": "general", "A": A, "Iy": Iy, "Iz": Iz, "Iyz": Iyz, "J": 1e-9, "k": math.inf}
    m = cantilever(section)
    point = (0.03, -0.01)
    m.sensor("s", "stress", on="b", element=0, at=0.0, fibre=list(point))
    m.sensor("tip", "displacement", on="l:end")
    found = solve(m)
    My, Mz = -VZ * LENGTH, VY * LENGTH
    # eps = z ky - y kz: My = E (Iy ky - Iyz kz), Mz = E (Iz kz - Iyz ky)
    ky, kz = np.linalg.solve([[Iy, -Iyz], [-Iyz, Iz]], [My, Mz])
    assert found.sensor("s").values[-1, 0] == pytest.approx(N / A + point[1] * ky - point[0] * kz)
    tip = found.sensor("tip").values[-1]
    assert tip[1:] == pytest.approx([kz * LENGTH**2 / 3 / E, -ky * LENGTH**2 / 3 / E])


def test_offsets_of_centroid_and_shear_centre_and_turned_axes_count():
    """The forces of the line at other points of the section; T = -zs Vy + ys Vz more about the shear centre."""
    more = {"centroid": (0.01, 0.02), "shear_centre": (-0.03, 0.005), "rotate": 30.0}
    section = make_section("s", "rectangle", **SECTIONS["rectangle"], **more)
    plain = make_section("s", "rectangle", **SECTIONS["rectangle"])
    point = np.array([0.012, 0.033])
    forces = np.array([N, VY, VZ, T, 40.0, -70.0])
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    R = np.array([[c, -s], [s, c]])
    own = forces.copy()
    own[1:3] = R.T @ forces[1:3]
    own[3] = T - (-0.03 * VZ - 0.005 * VY)
    own[4:] = R.T @ [40.0 - 0.02 * N, -70.0 + 0.01 * N]
    expected = stress_matrix(plain, STEEL, (R.T @ (point - [0.01, 0.02]))[None], "von Mises", "test")[0] @ own
    expected[1:] = R @ expected[1:]
    found = stress_matrix(section, STEEL, point[None], "von Mises", "test")[0] @ forces
    assert found == pytest.approx(expected)


def test_moments_between_the_ends_are_parabolas_under_a_line_load():
    """q L^2/8 in the middle of one element, by a sensor of the middle."""
    m = Model(2)
    m.material("steel", E, NU, density=1.0)
    m.section("s", "rectangle", height=0.1, width=0.05)
    m.line("l", (0.0, 0.0), (LENGTH, 0.0), 1)
    m.beams("b", "l", "s", "steel")
    m.fix("l:start", ["x", "y"])
    m.fix("l:end", ["y"])
    m.line_load("q", "b", (0.0, -5000.0))
    m.sensor("bottom", "stress", on="b", along=0.5, fibre="bottom")
    m.sensor("extremes", "stress envelope", on="b", stations=5)
    m.sensor("chosen", "stress envelope", on="b", stations=3, fibres=["bottom", [0.0, 0.0]])
    m.linear_static_step()
    found = solve(m)
    bottom = 5000.0 * LENGTH**2 / 8.0 / (0.05 * 0.1**2 / 6.0)
    assert found.sensor("bottom").values[-1, 0] == pytest.approx(bottom)
    assert found.sensor("chosen").values[-1, 0] == pytest.approx(bottom)
    high, e, at, y, _, low, *_, y_low, _ = found.sensor("extremes").values[-1]
    assert (high, e, at, y) == pytest.approx((bottom, 0.0, 0.5, -0.05))
    assert (low, y_low) == pytest.approx((-bottom, 0.05))
    space = end_forces(np.array([[0.0, 0, 6, 0, 1, 0], [0.0, 0, -6, 0, 1, 0]]), 2.0, np.array([0.5]))
    assert space[0, 4] == pytest.approx(1.0 + 6.0 * 2.0 / 4.0)  # My' = Vz


def test_the_envelope_finds_place_and_time(tmp_path):
    """A taper that is loaded at its end, with a force that comes and goes: sigma(x) is largest inside."""
    from fem_mbs import run

    m = Model(3)
    m.material("steel", E, NU, density=7800.0)
    m.section("thick", "circle", diameter=0.1)
    m.section("thin", "circle", diameter=0.04)
    m.line("l", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), 20)
    m.beams("b", "l", ["thick", "thin"], "steel")
    m.fix("l:start")
    m.force("push", "l:end", (0.0, 600.0, 800.0))
    m.sensor("env", "stress envelope", on="b", stations=2)
    m.sensor("mises", "stress envelope", on="b", component="von Mises", stations=2)
    m.linear_static_step()
    found = solve(m).sensor("env").values[-1]
    x = np.linspace(0.0, LENGTH, 2001)
    d = 0.1 - 0.06 * x / LENGTH
    sigma = 1000.0 * (LENGTH - x) * 32.0 / (math.pi * d**3)
    assert found[0] == pytest.approx(sigma.max(), rel=2e-3)
    place = (found[1] + found[2]) / 20 * LENGTH
    assert place == pytest.approx(x[sigma.argmax()], abs=0.11)
    assert np.dot(found[3:5], (-0.6, -0.8)) == pytest.approx(np.hypot(*found[3:5]), rel=2e-3)  # where the force pulls
    assert found[5] == pytest.approx(-found[0], rel=1e-3)
    results = run(m, tmp_path / "out")
    assert Results.open(results.directory).sensor("env").values[-1] == pytest.approx(found)
    header = {s["name"]: s for s in results.header["sensors"]}
    assert header["env"]["places"] == [1, 2, 3, 4, 6, 7, 8, 9] and header["mises"]["places"] == [1, 2, 3, 4]


def test_places_are_no_means_of_two_time_steps(tmp_path):
    """Values of the middle of steps are averaged, the element and the station of an extreme are those of one row."""
    import csv

    from fem_mbs import run

    m = Model(3)
    m.material("steel", E, NU, density=7800.0)
    m.section("s", "circle", diameter=0.05)
    m.line("l", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2)
    m.beams("b", "l", "s", "steel")
    m.fix("l:start")
    m.force("push", "l:end", (0.0, 100.0, 0.0))
    m.sensor("env", "stress envelope", on="b")
    m.sensor("top", "stress", on="b", at=0.0, fibre="top", component="von Mises")
    m.transient_step(0.01, 0.001)
    results = run(m, tmp_path / "out")
    raw = results.sensor("env", raw=True).values
    t, values, _ = results.sensor("env")
    assert set(values[:, 1]) <= {0.0, 1.0} and set(values[:, 2]) <= {0.0, 0.5, 1.0}
    assert len(set(raw[:, 1])) == 2  # the wave has run along both elements
    assert values[:, 0] == pytest.approx(0.5 * (raw[1:, 0] + raw[:-1, 0]))
    with open(next((tmp_path / "out").glob("sensors-*.csv")), newline="") as stream:
        rows = list(csv.reader(stream))
    assert {row[rows[0].index("env env.max element [-]")] for row in rows[2:-1]} <= {"0.0", "1.0"}
    found = results.report.sensors[0].columns["env.max"]
    assert found.max == values[:, 0].max() and found.time_of_max == t[values[:, 0].argmax()]
    assert found.place_of_max["element"] == 0.0 and found.place_of_max["at"] == 0.0


def test_a_truss_has_its_force_over_its_area():
    m = Model(2)
    m.material("steel", E, NU, density=1.0)
    m.section("s", "general", A=2e-4)
    m.line("l", (0.0, 0.0), (1.0, 0.0), 2)
    m.trusses("t", "l", "s", "steel")
    m.fix("l:start", ["x", "y"])
    m.fix("l", ["y"])
    m.force("pull", "l:end", (500.0, 0.0))
    m.sensor("s", "stress", on="t", element=1)
    m.sensor("e", "stress envelope", on="t")
    m.sensor("two", "stress envelope", on="t", fibres=[[0.0, 0.0], [0.001, 0.0]])
    m.linear_static_step()
    found = solve(m)
    assert found.sensor("s").values[-1, 0] == pytest.approx(500.0 / 2e-4)
    assert found.sensor("e").values[-1, 0] == pytest.approx(500.0 / 2e-4)
    assert found.sensor("two").values[-1, :2] == pytest.approx([500.0 / 2e-4, 0.0])


def test_sums_of_two_linear_steps_are_not_sums_of_mises_stresses():
    """A step about a preload: von Mises of the sum of the forces."""
    m = cantilever({"shape": "rectangle", **SECTIONS["rectangle"]})
    m.sensor("vm", "stress", on="b", element=0, at=0.0, fibre="right", component="von Mises")
    for what in ("normal", "xy"):
        m.sensor(what, "stress", on="b", element=0, at=0.0, fibre="right", component=what)
    m.sensor("env", "stress envelope", on="b", component="von Mises", fibres=["right"], stations=2)
    m.linear_static_step("more", loads=["push"], preload="linear static")
    m.linear_static_step("change", loads=["turn"], report="increment", preload="linear static")
    found = solve(m)
    for step in ("linear static", "more", "change"):
        vm, normal, xy, env = (found.sensor(name, step).values[-1, 0] for name in ("vm", "normal", "xy", "env"))
        assert vm == pytest.approx(math.sqrt(normal**2 + 3.0 * xy**2), rel=1e-6)
        assert env >= vm * (1.0 - 1e-9)
    twice, once = (found.sensor("normal", step).values[-1, 0] for step in ("more", "linear static"))
    assert 1.8 * once < twice < 2.0 * once  # the pull stiffens what comes after it


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"fibre": "tpo"}, '"top"'),
        ({"fibre": [0.2, 0.0]}, "outside of the material"),
        ({}, 'needs "fibre"'),
        ({"fibre": "top", "element": 7}, "elements 0 to 1"),
        ({"fibre": "top", "along": 0.5, "at": 0.5}, "not both"),
        ({"fibre": "top", "along": 1.5}, "from 0 to 1"),
        ({"fibre": "top", "component": "mises"}, "von Mises"),
        ({"fibre": "top", "on": "c"}, "b"),
    ],
)
def test_wrong_keys_end_in_one_error(options, word):
    m = cantilever({"shape": "rectangle", **SECTIONS["rectangle"]})
    with pytest.raises(ModelError, match=word):
        m.sensor("s", "stress", **{"on": "b", **options})


def test_sections_without_dimensions_say_what_they_lack():
    general = make_section("g", "general", A=1.0, I=1.0, J=1.0)
    assert stress_matrix(general, STEEL, np.array([[1.0, 0.0]]), "normal", "test")[0, 0, 5] == -1.0
    with pytest.raises(ModelError, match="no shear stresses"):
        stress_matrix(general, STEEL, np.array([[1.0, 0.0]]), "von Mises", "test")
    with pytest.raises(ModelError, match="no outline"):
        outline(general, STEEL, "test")
    stiff = make_section("k", "stiffness", EA=1.0, EI=1.0, GJ=1.0, rhoA=0.0)
    with pytest.raises(ModelError, match="has stiffnesses and no area"):
        stress_matrix(stiff, STEEL, np.array([[1.0, 0.0]]), "normal", "test")
    with pytest.raises(ModelError, match="belongs to no area"):
        make_section("g", "general", A=1.0, I=1.0, Iyz=1.0)
