"""Sections from meshes, of thin walls and of plies: closed forms, printed values, and beams that feel their offsets."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from solid_meshes import grid

from fem_mbs import Model, ModelError, load_model, solve
from fem_mbs.elements.solids.material import isotropic, orthotropic
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.properties.computed_sections import read_computed
from fem_mbs.properties.materials import Material
from fem_mbs.properties.section_meshes import meshed_section
from fem_mbs.properties.section_solver import PlaneSection, SectionCells
from fem_mbs.properties.sections import make_section
from fem_mbs.properties.stresses import stress_matrix

E, NU = 2e11, 0.3
G = E / (2.0 * (1.0 + NU))
STEEL = Material("steel", E, NU, density=7800.0)
SOFT = Material("soft", E / 10.0, NU, density=1000.0)


def plane(kind: str, X: np.ndarray, cells: np.ndarray, nu: float = NU) -> PlaneSection:
    one = np.repeat(isotropic(E, nu)[None], len(cells), axis=0)
    return PlaneSection(X, [SectionCells(kind, cells, one, np.full(len(cells), 7800.0))])


def patches(*items, **more):
    def find(name: str) -> Material:
        return {"steel": STEEL, "soft": SOFT}[name]

    return read_computed("s", "mesh", {"patches": list(items), **more}, find)


def rectangle(y0: float, y1: float, z0: float, z1: float, n, **more) -> dict:
    return {"corners": [[y0, z0], [y1, z0], [y1, z1], [y0, z1]], "n": list(n), **more}


@pytest.mark.parametrize(("kind", "n"), [("quad8", 8), ("triangle6", 8)])
def test_a_rectangle_has_the_series_of_st_venant_and_the_shear_of_its_energy(kind, n):
    X, cells = grid(kind, (n, n // 2), (0.1, 0.05))
    s = plane(kind, X - [0.05, 0.025], cells)
    closed = make_section("r", "rectangle", height=0.1, width=0.05)
    C = s.stiffness
    assert np.diag(C)[[0, 4, 5]] == pytest.approx([E * closed.A, E * closed.Iy, E * closed.Iz], rel=1e-9)
    assert C[3, 3] == pytest.approx(G * closed.J, rel=2e-3)
    # energy of the exact stresses of flexure, by Gauss points
    g, w = np.polynomial.legendre.leggauss(24)
    points = np.stack(np.meshgrid(0.05 * g, 0.025 * g, indexing="ij"), axis=-1).reshape(-1, 2)
    tau = stress_matrix(closed, STEEL, points, "shear", "test")[:, 1:, 1:3]
    energy = np.einsum("k,kij,kij->j", 0.25 * closed.A * np.outer(w, w).ravel(), tau, tau)
    assert np.diag(C)[1:3] == pytest.approx(G / energy, rel=5e-3)
    assert abs(C - np.diag(np.diag(C))).max() < 1e-5 * C[0, 0]
    at = np.array([[0.02, 0.01], [-0.013, 0.004]])
    found, exact = s.stresses(at)[:, [0, 3, 5]], stress_matrix(closed, STEEL, at, "von Mises", "test")
    assert found == pytest.approx(exact, abs=0.02 * np.abs(exact[:, :, 1:4]).max())


def test_shear_coefficients_without_lateral_strain_are_those_of_engineers():
    """nu = 0: 5/6 of a rectangle, 6/7 of a circle (Cowper 1966, and the energy of a parabola)."""
    X, cells = grid("quad8", (6, 6), (1.0, 1.0))
    s = plane("quad8", X - 0.5, cells, 0.0)
    assert s.stiffness[1, 1] / (0.5 * E) == pytest.approx(5.0 / 6.0, rel=2e-4)


def test_an_ellipse_and_a_triangle_have_their_torsion_constants():
    """pi a^3 b^3/(a^2 + b^2), and sqrt(3)/80 of the side^4 (Timoshenko & Goodier, chapter 10)."""
    a, b = 0.06, 0.03
    X, cells = grid("quad8", (10, 10), (2.0, 2.0))
    X = X - 1.0
    y, z = X[:, 0] * np.sqrt(1.0 - 0.5 * X[:, 1] ** 2), X[:, 1] * np.sqrt(1.0 - 0.5 * X[:, 0] ** 2)
    s = plane("quad8", np.column_stack((a * y, b * z)), cells)
    assert s.stiffness[3, 3] / G == pytest.approx(math.pi * a**3 * b**3 / (a * a + b * b), rel=1e-4)
    # max shear 2 T/(pi a b^2) at the end of the short axis
    tau = s.stresses(np.array([[0.0, b * (1.0 - 1e-7)]]))[0, 3, 3]
    assert tau == pytest.approx(-2.0 / (math.pi * a * b * b), rel=1e-2)
    side = 0.1
    corners = side * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5 * math.sqrt(3.0)]])
    third, middle = corners.mean(axis=0), 0.5 * (corners + np.roll(corners, -1, axis=0))
    parts = [np.array([corners[i], middle[i], third, middle[i - 1]]).tolist() for i in range(3)]
    s = patches(*({"corners": part, "n": [6, 6]} for part in parts)).solved(STEEL)
    J = 1.0 / (s.flexibility[3, 3] * G)
    assert pytest.approx(math.sqrt(3.0) / 80.0 * side**4, rel=1e-3) == J


def channel(h: float, b: float, t: float) -> list[dict]:
    """A channel of middle lines h x b, open towards +z."""
    x = 0.5 * h
    return [
        rectangle(-x + t / 2, x - t / 2, -t / 2, t / 2, (20, 2)),
        *(rectangle(sign * x - t / 2, sign * x + t / 2, z0, z1, (2, n))
          for sign in (1, -1) for z0, z1, n in ((-t / 2, t / 2, 2), (t / 2, b, 12))),
    ]  # fmt: skip


def test_a_channel_has_its_shear_centre_and_warping_constant_behind_the_web():
    """e = b^2 h^2 t/(4 I) and Vlasov's constant of thin walls; the mesh tends to them with the thickness."""
    h, b, t = 0.2, 0.1, 0.002
    I = t * h**3 / 12 + b * t * h**2 / 2
    e, Cw = b**2 * h**2 * t / (4 * I), t * b**3 * h**2 / 12 * (3 * b * t + 2 * h * t) / (6 * b * t + h * t)
    lines = [[0.5 * h, b], [0.5 * h, 0.0], [-0.5 * h, 0.0], [-0.5 * h, b]]
    walls = read_computed("s", "thin_walled", {"walls": [{"points": lines, "thickness": t}]}, str).solved(STEEL)
    meshed = patches(*channel(h, b, t)).solved(STEEL)
    z = b * b * t / (2 * b * t + h * t)
    for s, rel in ((walls, 1e-4), (meshed, 0.02)):
        assert s.centroid == pytest.approx([0.0, z], abs=rel * b)
        assert s.shear_centre == pytest.approx([0.0, -e], abs=rel * b)
        assert s.warping_stiffness / E == pytest.approx(Cw, rel=3 * rel)
        J = 1.0 / (s.flexibility[3, 3] * G)
        assert pytest.approx((2 * b + h) * t**3 / 3, rel=max(rel, 1e-9)) == J


def test_closed_walls_and_two_cells_have_the_torsion_of_bredt():
    """4 A^2/int ds/t; of two equal cells side by side the wall between them carries nothing."""
    h, b, t, tw = 0.2, 0.1, 0.002, 0.003
    box = [
        {"points": [[h / 2, -b / 2], [h / 2, b / 2]], "thickness": t},
        {"points": [[-h / 2, -b / 2], [-h / 2, b / 2]], "thickness": t},
        {"points": [[h / 2, b / 2], [-h / 2, b / 2]], "thickness": tw},
        {"points": [[h / 2, -b / 2], [-h / 2, -b / 2]], "thickness": tw},
    ]
    s = read_computed("s", "thin_walled", {"walls": box}, str).solved(STEEL)
    closed = 4 * (b * h) ** 2 / (2 * b / t + 2 * h / tw)
    assert s.stiffness[3, 3] / G == pytest.approx(closed + (2 * b * t**3 + 2 * h * tw**3) / 3)
    flow = s.stresses(np.array([[0.0, b / 2], [h / 2, 0.0]]))
    assert flow[0, 3, 3] == pytest.approx(-1.0 / (2 * b * h * tw), rel=1e-3)
    assert flow[1, 5, 3] == pytest.approx(1.0 / (2 * b * h * t), rel=1e-3)
    middle = [{**w, "points": [w["points"][0], [w["points"][0][0], 0.0], w["points"][1]]} for w in box[:2]]
    middle += [*box[2:], {"points": [[h / 2, 0.0], [-h / 2, 0.0]], "thickness": tw}]
    two = read_computed("s", "thin_walled", {"walls": middle}, str).solved(STEEL)
    assert two.stiffness[3, 3] - s.stiffness[3, 3] == pytest.approx(G * h * tw**3 / 3, rel=1e-6)
    thin = [rectangle(*q) for q in (
        (-h / 2 + t / 2, h / 2 - t / 2, b / 2 - tw / 2, b / 2 + tw / 2, (16, 2)),
        (-h / 2 + t / 2, h / 2 - t / 2, -b / 2 - tw / 2, -b / 2 + tw / 2, (16, 2)),
        *((y - t / 2, y + t / 2, z0, z1, (2, n)) for y in (h / 2, -h / 2) for z0, z1, n in (
            (-b / 2 - tw / 2, -b / 2 + tw / 2, 2), (-b / 2 + tw / 2, b / 2 - tw / 2, 12),
            (b / 2 - tw / 2, b / 2 + tw / 2, 2))),
    )]  # fmt: skip
    assert patches(*thin).solved(STEEL).stiffness[3, 3] == pytest.approx(s.stiffness[3, 3], rel=0.015)


def test_two_materials_bend_about_the_weighted_centroid():
    """A strip of steel on a soft one: EA, centroid, EI by the parallel axes, mass and its centre."""
    h, b = 0.02, 0.05
    s = patches(
        rectangle(0.0, h, -b / 2, b / 2, (3, 6), material="steel"),
        rectangle(-h, 0.0, -b / 2, b / 2, (3, 6), material="soft"),
    ).solved(None)  # fmt: skip
    A = b * h
    EA = 1.1 * E * A
    y = (E * A * h / 2 - 0.1 * E * A * h / 2) / EA
    EI = 1.1 * E * b * h**3 / 12 + E * A * (h / 2 - y) ** 2 + 0.1 * E * A * (h / 2 + y) ** 2
    assert s.centroid == pytest.approx([y, 0.0], abs=1e-9)
    assert 1.0 / s.flexibility[5, 5] == pytest.approx(EI, rel=1e-9)
    assert s.stiffness[0, 0] == pytest.approx(EA, rel=1e-9)
    assert s.mass == pytest.approx(8800.0 * A)
    assert s.mass_centre == pytest.approx([(7800 - 1000) * h / 2 / 8800, 0.0], abs=1e-12)
    top = s.stresses(np.array([[h, 0.0]]))[0, 0]
    assert top[5] - top[0] * 0.0 == pytest.approx(-E * (h - y) / EI, rel=1e-6)


def test_a_laminated_tube_has_the_stiffness_of_classical_lamination():
    """EA, EI, GJ of thin walls: A_xx - A_xs^2/A_ss (no hoop force) and A_ss of the plies; +-angles are balanced."""
    E1, E2, nu12, G12 = 140e9, 10e9, 0.3, 5e9
    Q = orthotropic((E1, E2, E2), (nu12, nu12, 0.4), (G12, G12, 3.5e9))
    from fem_mbs.properties.solids import SolidMaterial

    carbon = SolidMaterial("carbon", Q, 1600.0)
    inner, t, angles = 0.1, 0.25e-3, (45.0, -45.0, 0.0, 0.0, -45.0, 45.0)
    plies = [{"material": "carbon", "thickness": t, "angle": angle} for angle in angles]
    s = read_computed("s", "laminated_tube", {"inner_diameter": inner, "plies": plies}, lambda n: carbon).solved(None)
    nu21 = nu12 * E2 / E1
    q = np.array([[E1, nu12 * E2, 0], [nu12 * E2, E2, 0], [0, 0, G12 * (1 - nu12 * nu21)]]) / (1 - nu12 * nu21)
    A = np.zeros((3, 3))
    for angle in np.radians(angles):
        c, n = math.cos(angle), math.sin(angle)
        T = np.array([[c * c, n * n, n * c], [n * n, c * c, -n * c], [-2 * n * c, 2 * n * c, c * c - n * n]])
        A += t * T.T @ q @ T
    k = A[0, 0] - A[0, 1] ** 2 / A[1, 1]
    R = inner / 2 + 3 * t
    C = s.stiffness
    assert C[0, 0] == pytest.approx(2 * math.pi * R * k, rel=5e-3)
    assert C[4, 4] == pytest.approx(math.pi * R**3 * k, rel=5e-3)
    assert C[3, 3] == pytest.approx(2 * math.pi * R**3 * A[2, 2], rel=5e-3)
    assert s.mass == pytest.approx(1600.0 * 2 * math.pi * R * 6 * t, rel=1e-3)
    tube = make_section("t", "tube", outer_diameter=0.12, inner_diameter=0.1)
    plain = read_computed("s", "laminated_tube", {"inner_diameter": 0.1, "plies": [
        {"material": "steel", "thickness": 0.01}]}, lambda n: STEEL).solved(None)  # fmt: skip
    assert plain.stiffness[3, 3] == pytest.approx(G * tube.J, rel=1e-4)
    exact = stress_matrix(tube, STEEL, np.array([[0.0, 0.055]]), "xy", "test")[0, 1, 1]
    assert plain.stresses(np.array([[0.0, 0.055]]))[0, 3, 1] == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("angle", [0.0, 30.0, 90.0])
def test_a_ply_at_an_angle_has_its_modulus_and_its_coupling(angle):
    """Off-axis compliances of a strip: S11, and S16 of the shear strain by a pull (Jones 1999, section 2.6)."""
    from fem_mbs.properties.solids import SolidMaterial

    E1, E2, nu12, G12 = 140e9, 10e9, 0.3, 5e9
    carbon = SolidMaterial("carbon", orthotropic((E1, E2, E2), (nu12, nu12, 0.4), (G12, G12, 3.5e9)), 1600.0)
    strip = rectangle(-0.001, 0.001, -0.02, 0.02, (2, 12), material="carbon", angle=angle)
    s = read_computed("s", "mesh", {"patches": [strip]}, lambda name: carbon).solved(None)
    c, n = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    S11 = c**4 / E1 + n**4 / E2 + (1 / G12 - 2 * nu12 / E1) * c * c * n * n
    S16 = (2 / E1 + 2 * nu12 / E1 - 1 / G12) * c**3 * n - (2 / E2 + 2 * nu12 / E1 - 1 / G12) * c * n**3
    assert s.flexibility[0, 0] * s.area == pytest.approx(S11, rel=1e-6)
    assert s.flexibility[2, 0] * s.area == pytest.approx(S16, rel=1e-6, abs=1e-9 * S11)


MODEL = """
dimension = 3
[material.steel]
E = 2e11
nu = 0.3
density = 7800
[section.c]
shape = "thin_walled"
walls = [{ points = [[0.1, 0.1], [0.1, 0.0], [-0.1, 0.0], [-0.1, 0.1]], thickness = 0.002 }]
[mesh.m]
line = { start = [0, 0, 0], end = [2, 0, 0], n = 1 }
[[beam]]
name = "b"
on = "m"
section = "c"
material = "steel"
[[support]]
on = "m:start"
[[force]]
name = "push"
on = "m:end"
vector = [0, 100.0, 0]
[[sensor]]
name = "tip"
kind = "rotation"
on = "m:end"
[[sensor]]
name = "web"
kind = "stress"
on = "b"
at = 0.5
fibre = [0.0, 0.0]
component = "xy"
[[sensor]]
name = "most"
kind = "stress envelope"
on = "b"
[[step]]
type = "linear_static"
"""


def test_a_beam_feels_the_shear_centre_of_its_section(tmp_path):
    """A force at the web of a channel twists it: T = -F zs, phi = T L/GJ; in the plane this is an error."""
    file = tmp_path / "m.toml"
    file.write_text(MODEL)
    m = load_model(file)
    section = m.sections["c"]
    s = section.computed.solved(m.materials["steel"])
    found = solve(m)
    zs = float(s.shear_centre[1])
    assert found.sensor("tip").values[-1, 0] == pytest.approx(zs * 100.0 * 2.0 * s.flexibility[3, 3], rel=1e-6)
    assert found.sensor("web").values[-1, 0] == pytest.approx(s.stresses(np.zeros((1, 2)))[0, 3, 1] * 100.0, rel=1e-6)
    Iz = 0.002 * 0.2**3 / 12 + 0.1 * 0.002 * 0.2**2 / 2 + 2 * 0.1 * 0.002**3 / 12
    assert found.sensor("most").values[-1, 0] == pytest.approx(200.0 * 0.1 / Iz, rel=1e-6)
    again = pickle.loads(pickle.dumps(section))
    assert again.properties(m.materials["steel"]).stiffness == pytest.approx(section.properties(STEEL).stiffness)
    plane_model = Model(2)
    plane_model.material("steel", E, NU, density=7800.0)
    plane_model.section("c", "thin_walled", walls=[
        {"points": [[0.1, 0.1], [0.1, 0.0], [-0.1, 0.0], [-0.1, 0.1]], "thickness": 0.002}])  # fmt: skip
    plane_model.line("l", (0.0, 0.0), (1.0, 0.0), 1)
    with pytest.raises(ModelError, match="are coupled"):
        plane_model.beams("b", "l", "c", "steel")
    plane_model.section("r", "mesh", patches=[rectangle(-0.05, 0.05, -0.02, 0.02, (6, 3))])
    plane_model.beams("b 2", "l", "r", "steel")
    plane_model.fix("l:start")
    plane_model.force("push", "l:end", (0.0, 100.0))
    plane_model.sensor("y", "displacement", on="l:end")
    plane_model.linear_static_step()
    exact = 100.0 / (3 * E * 0.04 * 0.1**3 / 12) + 100.0 / (G * 5 / 6 * 0.004)
    assert solve(plane_model).sensor("y").values[-1, 1] == pytest.approx(exact, rel=1e-3)


def test_the_origin_moves_the_section():
    quarter = rectangle(0.0, 0.02, 0.0, 0.05, (2, 4))
    s = patches(quarter, origin="centroid").solved(STEEL)
    assert s.centroid == pytest.approx([0.0, 0.0], abs=1e-9)
    # the 6x6 matrix of a section that is moved is that of the section, turned to the other point
    line = [{"points": [[0.1, 0.1], [0.1, 0.0], [-0.1, 0.0], [-0.1, 0.06]], "thickness": 0.004}]
    here, there = (
        read_computed("s", "thin_walled", {"walls": line, "origin": origin}, str).solved(STEEL)
        for origin in ([0.0, 0.0], [0.02, -0.05])
    )
    H = np.eye(6)  # forces at the other point: T, My, Mz of forces at -(0.02, -0.05)
    H[3, 1], H[3, 2], H[4, 0], H[5, 0] = -0.05, -0.02, 0.05, 0.02
    found = H.T @ there.flexibility @ H
    assert found == pytest.approx(here.flexibility, rel=1e-6, abs=1e-9 * np.abs(here.flexibility).max())
    s = patches(quarter, origin=[0.01, 0.0], rotate=90.0).solved(STEEL)
    assert s.centroid == pytest.approx([-0.025, 0.0], abs=1e-9)


def test_a_mesh_file_with_regions(tmp_path):
    X, cells = grid("quad", (4, 4), (0.04, 0.02))
    mesh = Mesh(X, [("quad", cells)], cell_sets={"lower": ((0, np.arange(8)),)})
    from fem_mbs.errors import Owner

    s = meshed_section(mesh, {"lower": SOFT}, Owner("Section", "s"))
    assert [int((w >= 0).sum()) for w in s.materials] == [8]
    found = s.solve(STEEL)
    assert found.stiffness[0, 0] == pytest.approx(0.55 * E * 8e-4)
    assert np.ptp(s.points, axis=0) == pytest.approx([0.02, 0.04])  # mesh y is y, mesh x is z
    with pytest.raises(ModelError, match='no set of cells "upper"'):
        meshed_section(mesh, {"upper": SOFT}, Owner("Section", "s"))


@pytest.mark.parametrize(
    ("shape", "given", "word"),
    [
        ("mesh", {}, '"file" or "patches"'),
        ("mesh", {"patches": [rectangle(0, 1, 0, 1, (1, 1)), rectangle(1, 2, 0, 1, (1, 2))]}, "lies inside"),
        ("mesh", {"patches": [rectangle(0, 1, 0, 1, (1, 1)), rectangle(3, 4, 0, 1, (1, 1))]}, "do not touch"),
        ("mesh", {"patches": [rectangle(0, 1, 0, 1, (1, 0))]}, "two whole numbers"),
        ("mesh", {"patches": [{"corners": []}]}, '"n" is missing'),
        ("mesh", {"patches": [rectangle(0, 1, 0, 0, (1, 1))]}, "has no area"),
        ("mesh", {"plies": []}, 'unknown key "plies"'),
        ("thin_walled", {"walls": [{"points": [[0, 0], [1, 0]], "thickness": 0.1}]}, "straight line"),
        ("thin_walled", {"walls": [{"points": [[0, 0], [1, 0]], "thickness": 0.1},
                                   {"points": [[0.5, 0], [0.5, 1]], "thickness": 0.1}]}, "do not all touch"),
        ("thin_walled", {"walls": [{"points": [[0, 0], [1, 0], [1, 1], [0.5, 0]], "thickness": 0.1}]}, "ends inside"),
        ("thin_walled", {"walls": [{"points": [[0, 0], [1, 0]], "thickness": 0.0}]}, "greater than 0"),
        ("laminated_tube", {"inner_diameter": 1.0}, 'needs "plies"'),
        ("thin_walled", {"walls": [{"points": [[0, 0], [1, 0], [1, 1]], "thickness": 0.1}], "origin": "middle"},
         "shear_centre"),
    ],
)  # fmt: skip
def test_wrong_sections_end_in_one_error(shape, given, word):
    with pytest.raises(ModelError, match=word):
        read_computed("s", shape, given, lambda name: STEEL)


def test_materials_that_would_have_no_effect_are_refused():
    own = patches(rectangle(0, 1, 0, 1, (1, 1), material="steel"))
    with pytest.raises(ModelError, match="would have no effect"):
        own.solved(STEEL)
    with pytest.raises(ModelError, match="have no material"):
        patches(rectangle(0, 1, 0, 1, (1, 1))).solved(None)


def test_pilkeys_channel_and_rectangles_have_the_printed_shear_coefficients():
    """Analysis and Design of Elastic Beams (2002), examples 6.2 and 6.5, Poisson's ratio 0.3."""
    c, t = 1.0, 0.1
    s = patches(*channel(2.0 * c, c, t)).solved(Material("m", 1.0, 0.3, density=0.0))
    assert s.centroid[1] == pytest.approx(0.24937, rel=1e-3)
    assert s.shear_centre[1] - s.centroid[1] == pytest.approx(-0.62056, rel=1e-3)
    moved = patches(*channel(2.0 * c, c, t), origin="shear_centre").solved(Material("m", 1.0, 0.3, density=0.0))
    shear = s.area * np.diag(moved.flexibility)[1:3] / 2.6  # A G F
    assert shear == pytest.approx([2.34102, 3.09621], rel=2e-3)
    assert 2.6 / s.flexibility[3, 3] == pytest.approx(0.00133, rel=0.02)
    X, cells = grid("quad8", (16, 8), (2.0, 1.0))
    flat = plane("quad8", X - [1.0, 0.5], cells)
    assert 2.0 * G * np.diag(flat.flexibility)[1:3] == pytest.approx([1.20056, 1.27479], rel=2e-4)


def test_two_metals_have_the_torsion_that_pilkey_prints():
    """Example 5.13: bars of aluminium and copper, 15 x 2 each: EA/E = 83.36, J = 106.22 in terms of aluminium."""
    al, cu = (Material(name, E, 0.3, density=0.0) for name, E in (("al", 10.4e6), ("cu", 18.5e6)))
    bars = [rectangle(-1.0, 1.0, z, z + 15.0, (4, 20), material=name) for z, name in ((0.0, "al"), (15.0, "cu"))]
    s = read_computed("s", "mesh", {"patches": bars}, lambda name: {"al": al, "cu": cu}[name]).solved(None)
    assert s.stiffness[0, 0] / al.E == pytest.approx(83.36, rel=1e-4)
    assert 1.0 / (al.G * s.flexibility[3, 3]) == pytest.approx(106.22, rel=1e-3)


def lipped_profile() -> list[dict]:
    """A profile without symmetry: two flanges with slanted ends and a web; nu = 0."""
    parts = []
    for left, right in (((-10, -10), (110, 100)), ((0, -10), (100, 110)), ((-10, -10), (110, 110))):
        y0 = {((-10, -10), (110, 100)): 0, ((0, -10), (100, 110)): 90}.get((left, right), 100)
        edges = (left, (45, 45), (55, 55), right)
        for (a0, a1), (b0, b1), n in zip(edges[:-1], edges[1:], (12, 3, 12), strict=True):
            parts.append({"corners": [[y0, a0], [y0 + 10, a1], [y0 + 10, b1], [y0, b0]], "n": [3, n]})
    return [*parts, rectangle(10, 90, 45, 55, (20, 3))]


def test_a_profile_without_symmetry_has_the_values_of_another_program():
    """Values of another program, sectionproperties 3.0.2 (its tests, custom section, a mesh of size 0.5)."""
    s = patches(*lipped_profile()).solved(Material("m", 1.0, 0.0, density=1.0))
    assert s.mass == pytest.approx(4250.0, rel=1e-9)
    assert s.centroid == pytest.approx([65.01961, 49.33333], rel=1e-6)
    assert s.second == pytest.approx(np.array([[7.705415e6, 1.654722e5], [1.654722e5, 3.842278e6]]), rel=1e-5)
    assert 2.0 / s.flexibility[3, 3] == pytest.approx(3.473083e5, rel=3e-3)
    assert s.shear_centre == pytest.approx([67.95580, 51.37486], rel=1e-3)
    assert s.warping_stiffness == pytest.approx(7.535654e9, rel=2e-3)
    moved = patches(*lipped_profile(), origin="shear_centre").solved(Material("m", 1.0, 0.0, density=1.0))
    assert 2.0 / np.diag(moved.flexibility)[1:3] == pytest.approx([9.545730e2, 2.952086e3], rel=3e-3)


def test_the_library_sectionproperties_agrees():
    """The same profile in the library itself, where it is installed."""
    pytest.importorskip("sectionproperties")
    from sectionproperties.analysis import Section
    from sectionproperties.pre import Geometry
    from shapely import Polygon

    corners = [(-10, 0), (110, 0), (100, 10), (55, 10), (55, 90), (100, 90), (110, 100), (110, 110), (-10, 110),
               (-10, 100), (0, 90), (45, 90), (45, 10), (-10, 10)]  # fmt: skip
    other = Section(geometry=Geometry(Polygon(corners)).create_mesh(mesh_sizes=5))
    other.calculate_geometric_properties()
    other.calculate_warping_properties()
    s = patches(*lipped_profile()).solved(Material("m", 1.0, 0.0, density=1.0))
    assert 2.0 / s.flexibility[3, 3] == pytest.approx(other.get_j(), rel=5e-3)
    assert s.shear_centre[::-1] == pytest.approx(other.get_sc(), rel=2e-3)
