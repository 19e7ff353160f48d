"""Materials and sections: areas and moments by quadrature, torsion by finite volumes, published values, messages."""

# ruff: noqa: SIM300  (A, J and the like are measured values, not constants)

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.sparse.linalg import spsolve

from fem_mbs.errors import ModelError
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import STIFFNESS_NEEDS, Section, SectionStiffness, make_section
from fem_mbs.properties.shapes import SECTION_SHAPES

IPE200 = {"height": 0.2, "width": 0.1, "web_thickness": 0.0056, "flange_thickness": 0.0085, "root_radius": 0.012}

SHAPES = [
    ("rectangle", {"width": 0.03, "height": 0.05}),
    ("circle", {"diameter": 0.04}),
    ("tube", {"outer_diameter": 0.05, "inner_diameter": 0.03}),
    ("tube", {"outer_diameter": 0.05, "thickness": 0.002}),
    ("I", {"height": 0.2, "width": 0.1, "web_thickness": 0.006, "flange_thickness": 0.009}),
    ("I", {"height": 0.2, "width": 0.1, "thickness": 0.006}),
    ("I", IPE200),
    ("box", {"height": 0.2, "width": 0.1, "web_thickness": 0.006, "flange_thickness": 0.009}),
    ("box", {"height": 0.2, "width": 0.1, "thickness": 0.006}),
]
SHAPE_IDS = [f"{s}-{i}" for i, (s, _) in enumerate(SHAPES)]


def width_at(section: Section, y: float) -> list[tuple[float, float]]:
    """Intervals (z1, z2) of the section in z >= 0 at the height y, from the drawing of the shape."""
    d, y = dict(section.dimensions), abs(y)

    def half_chord(diameter: float) -> float:
        return math.sqrt(max(0.25 * diameter**2 - y * y, 0.0))

    match section.shape:
        case "rectangle":
            return [(0.0, d["width"] / 2)]
        case "circle":
            return [(0.0, half_chord(d["diameter"]))]
        case "tube":
            inner = d.get("inner_diameter", d["outer_diameter"] - 2 * d.get("thickness", 0))
            return [(half_chord(inner), half_chord(d["outer_diameter"]))]
        case "box":
            if y > d["height"] / 2 - d["flange_thickness"]:
                return [(0.0, d["width"] / 2)]
            return [(d["width"] / 2 - d["web_thickness"], d["width"] / 2)]
    top = d["height"] / 2 - d["flange_thickness"]
    if y > top:
        return [(0.0, d["width"] / 2)]
    r = d["root_radius"]
    drop = max(y - (top - r), 0.0)
    return [(0.0, d["web_thickness"] / 2 + r - math.sqrt(max(r * r - drop * drop, 0.0)))]


@pytest.mark.parametrize(("shape", "dims"), SHAPES, ids=SHAPE_IDS)
def test_area_and_moments_by_quadrature(shape, dims):
    section = make_section("s", shape, **dims)
    d = section.dimensions
    breaks = [0.0, section.half_height]
    if "flange_thickness" in d:
        top = d["height"] / 2 - d["flange_thickness"]
        breaks += [top, top - d.get("root_radius", 0.0)]
    if shape == "tube":
        breaks.append(0.5 * d.get("inner_diameter", d["outer_diameter"] - 2 * d.get("thickness", 0)))

    def integrate(f) -> float:
        edges = sorted(set(breaks))
        return 4.0 * sum(quad(f, a, b, epsabs=1e-16)[0] for a, b in zip(edges[:-1], edges[1:], strict=True))

    def powers(y: float, n: int) -> float:
        return sum((z2 ** (n + 1) - z1 ** (n + 1)) / (n + 1) for z1, z2 in width_at(section, y))

    assert section.A == pytest.approx(integrate(lambda y: powers(y, 0)), rel=1e-6)
    assert section.Iz == pytest.approx(integrate(lambda y: y * y * powers(y, 0)), rel=1e-6)
    assert section.Iy == pytest.approx(integrate(lambda y: powers(y, 2)), rel=1e-6)
    assert section.J <= (section.Iy + section.Iz) * (1 + 1e-12)  # St. Venant: the polar moment is the upper bound


def prandtl(h: float, b: float, tw: float, tf: float, box: bool, d: float) -> float:
    """Torsion constant of a box or I by finite volumes on a quarter, cells of size d.

    Prandtl's function solves laplace(phi) = -2, is zero on the outer edge and constant on a hole, where the flux
    through the hole's edge equals 2 times its area: the hole is one unknown with the source of its whole area.
    """
    ny, nz = round(0.5 * h / d), round(0.5 * b / d)
    y, z = (np.arange(ny) + 0.5) * d, (np.arange(nz) + 0.5) * d
    if box:
        void = (y[:, None] < 0.5 * h - tf) & (z[None, :] < 0.5 * b - tw)
    else:
        void = (y[:, None] < 0.5 * h - tf) & (z[None, :] > 0.5 * tw)
    index = np.zeros((ny, nz), dtype=int)
    index[~void] = 1 + np.arange(np.count_nonzero(~void))
    n = index.max() + 1
    source = np.bincount(index.ravel(), minlength=n) * 2.0 * d * d
    diagonal = 2.0 * (np.bincount(index[-1], minlength=n) + np.bincount(index[:, -1], minlength=n))
    rows, columns, values = [], [], []
    for i, j in ((index[:-1], index[1:]), (index[:, :-1], index[:, 1:])):
        i, j = i.ravel(), j.ravel()
        i, j = i[i != j], j[i != j]
        g = np.where((i == 0) | (j == 0), 2.0, 1.0)  # the hole's edge is half a cell away
        rows += [i, j]
        columns += [j, i]
        values += [-g, -g]
        diagonal += np.bincount(i, g, n) + np.bincount(j, g, n)
    matrix = sparse.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (n, n))
    matrix = (matrix + sparse.diags(diagonal)).tocsc()
    phi = np.zeros(n)
    if box:
        phi = spsolve(matrix, source)
    else:  # unknown 0 is the outside, where phi = 0
        phi[1:] = spsolve(matrix[1:, 1:], source[1:])
    return 8.0 * d * d * float(phi[index].sum())


TORSION = [
    # shape, height, width, web, flange, tolerance
    ("box", 1.0, 1.0, 0.1, 0.1, 5e-4),
    ("box", 1.0, 1.0, 0.2, 0.2, 5e-4),
    ("box", 1.0, 1.0, 0.3, 0.3, 1e-3),
    ("box", 1.0, 0.5, 0.1, 0.1, 5e-4),
    ("box", 1.0, 0.5, 0.05, 0.1, 5e-4),
    ("box", 1.0, 1.0, 0.05, 0.2, 5e-4),
    ("box", 1.0, 1.0, 0.45, 0.45, 1e-2),
    ("I", 1.0, 1.0, 0.1, 0.1, 1e-2),
    ("I", 2.0, 0.8, 0.1, 0.2, 1e-2),
    ("I", 1.0, 1.0, 0.1, 0.2, 1e-2),
    ("I", 1.0, 0.8, 0.2, 0.1, 1e-2),
    ("I", 1.0, 0.8, 0.3, 0.1, 1e-2),
]


@pytest.mark.parametrize(("shape", "h", "b", "tw", "tf", "tolerance"), TORSION)
def test_torsion_by_finite_volumes(shape, h, b, tw, tf, tolerance):
    coarse, fine = (prandtl(h, b, tw, tf, shape == "box", d) for d in (1 / 80, 1 / 160))
    reference = fine + (fine - coarse) / (2 ** (4 / 3) - 1)  # order 4/3 at re-entrant corners
    section = make_section("s", shape, height=h, width=b, web_thickness=tw, flange_thickness=tf)
    assert section.J == pytest.approx(reference, rel=tolerance)


# Timoshenko & Goodier, Theory of Elasticity, 3rd ed., table in section 109: J = k1 a c^3 for a/c.
RECTANGLES = [(1, 0.1406), (1.2, 0.166), (1.5, 0.196), (2, 0.229), (2.5, 0.249), (3, 0.263), (4, 0.281), (5, 0.291)]


@pytest.mark.parametrize(("ratio", "k1"), [*RECTANGLES, (10, 0.312), (1e6, 1 / 3)])
def test_torsion_of_rectangles(ratio, k1):
    for width, height in ((1.0, ratio), (ratio, 1.0)):
        s = make_section("s", "rectangle", width=width, height=height)
        assert s.J == pytest.approx(k1 * ratio, abs=6e-4 * ratio)


def test_torsion_of_a_square_to_all_digits():
    # 0.1405770149... from 400 terms of the plain series.
    n = np.arange(1, 800, 2)
    plain = 1 / 3 - 64 / np.pi**5 * np.sum(np.tanh(n * np.pi / 2) / n**5.0)
    J = make_section("s", "rectangle", width=1, height=1).J
    assert J == pytest.approx(plain, rel=1e-13)
    assert J == pytest.approx(0.14057701495515, rel=1e-13)


def test_thin_box_is_bredt():
    section = make_section("s", "box", height=1, width=0.5, thickness=1e-4)
    assert section.J == pytest.approx(2 * (0.9999 * 0.4999) ** 2 / (1.4998 / 1e-4), rel=3e-4)


# Rolled sections, EN 10365, from manufacturers' tables: [cm2, cm4, cm4, cm4].
ROLLED = [
    ("IPE 200", 200, 100, 5.6, 8.5, 12, 28.48, 1943, 142.4, 6.98),
    ("HE 200 B", 200, 200, 9.0, 15.0, 18, 78.08, 5696, 2003, 59.28),
    ("HE 300 B", 300, 300, 11.0, 19.0, 27, 149.1, 25170, 8563, 185.0),
]


@pytest.mark.parametrize(("name", "h", "b", "tw", "tf", "r", "A", "Iz", "Iy", "J"), ROLLED)
def test_rolled_sections(name, h, b, tw, tf, r, A, Iz, Iy, J):
    s = make_section(name, "I", height=h, width=b, web_thickness=tw, flange_thickness=tf, root_radius=r)
    assert s.A / 1e2 == pytest.approx(A, rel=5e-4)
    assert s.Iz / 1e4 == pytest.approx(Iz, rel=5e-4)
    assert s.Iy / 1e4 == pytest.approx(Iy, rel=5e-4)
    assert s.J / 1e4 == pytest.approx(J, rel=0.025)
    # Finite volumes with cells of 0.05 to 0.125 mm, which were checked to be fine enough.
    assert s.J / 1e4 == pytest.approx({"IPE 200": 6.844, "HE 200 B": 59.56, "HE 300 B": 187.3}[name], rel=0.012)


NU = [0.0, 0.25, 0.3, 0.49, -0.5]


@pytest.mark.parametrize("nu", NU)
def test_shear_coefficients(nu):
    def both(shape, **dims):
        s = make_section("s", shape, **dims)
        return s.shear_coefficient_y(nu), s.shear_coefficient_z(nu)

    # Cowper (1966), table 1.
    rectangle, circle = 10 * (1 + nu) / (12 + 11 * nu), 6 * (1 + nu) / (7 + 6 * nu)
    thin_tube, thin_square = 2 * (1 + nu) / (4 + 3 * nu), 20 * (1 + nu) / (48 + 39 * nu)
    assert both("rectangle", width=1, height=3) == pytest.approx((rectangle,) * 2)
    assert both("circle", diameter=3) == pytest.approx((circle,) * 2)
    assert both("tube", outer_diameter=1, inner_diameter=1e-6) == pytest.approx((circle,) * 2)
    assert both("tube", outer_diameter=1, thickness=1e-6) == pytest.approx((thin_tube,) * 2, rel=1e-5)
    assert both("box", height=2, width=2, thickness=0.1) == pytest.approx((thin_square,) * 2)
    # Without flanges the walls are rectangles; without a web the flanges of an I are.
    assert both("box", height=1, width=0.1, web_thickness=0.01, flange_thickness=1e-6)[0] == pytest.approx(
        rectangle, rel=2e-3
    )
    lone_web = {"height": 1, "width": 0.1, "web_thickness": 0.01, "flange_thickness": 1e-6}
    assert both("I", **lone_web)[0] == pytest.approx(rectangle, rel=2e-3)
    lone_flanges = {"height": 1, "width": 1, "web_thickness": 1e-6, "flange_thickness": 0.1}
    assert both("I", **lone_flanges)[1] == pytest.approx(rectangle, rel=1e-5)
    assert both("general", A=1) == (1.0, 1.0)
    assert both("general", A=1, ky=0.8) == (0.8, 1.0)
    assert both("general", A=1, k=math.inf) == (math.inf, math.inf)


@pytest.mark.parametrize(("shape", "webs"), [("I", 1), ("box", 2)])
@pytest.mark.parametrize(("h", "b", "tw", "tf"), [(0.2, 0.1, 0.004, 0.008), (0.1, 0.3, 0.01, 0.002), (1, 1, 0.1, 0.1)])
def test_box_and_i_without_lateral_contraction_by_shear_flow(shape, webs, h, b, tw, tf):
    """For nu = 0 Cowper's coefficient is that of the energy of Jourawski's shear flow on the centre lines."""
    s = make_section("s", shape, height=h, width=b, web_thickness=tw, flange_thickness=tf)
    hm, bm, t = h - tf, b - (tw if shape == "box" else 0), webs * tw
    area, moment = hm * t + 2 * bm * tf, t * hm**3 / 12 + bm * tf * hm**2 / 2
    web = quad(lambda y: (bm * tf * hm / 2 + t / 2 * (hm**2 / 4 - y**2)) ** 2 / t, -hm / 2, hm / 2)[0]
    flanges = 4 * quad(lambda z: (tf * hm / 2 * z) ** 2 / tf, 0, bm / 2)[0]
    k = moment**2 / area / (web + flanges)
    assert s.shear_coefficient_y(0.0) == pytest.approx(k, rel=1e-10)
    if b <= h:  # Poisson's ratio matters little, except for wide flanges
        assert s.shear_coefficient_y(0.3) == pytest.approx(k, rel=0.1)


def cowper(h: float, b: float, inside, nu: float, d: float) -> float:
    """Cowper's coefficient (1966, eqs 18-20) for shear along y by finite volumes on a quarter, cells of size d.

    chi is harmonic with the normal derivative F.n on the edge, F = -(nu y^2/2 + (1 - nu/2) z^2, (2 + nu) y z): so the
    flux grad chi - F vanishes there, and its sources inside are 2 (1 + nu) y. k = 2 (1 + nu) Iz / (nu/2 (Iy - Iz)
    - A/Iz int y (chi + y z^2) dA).
    """
    y, z = (np.arange(round(0.5 * h / d)) + 0.5) * d, (np.arange(round(0.5 * b / d)) + 0.5) * d
    Y, Z = np.meshgrid(y, z, indexing="ij")
    mask = inside(Y, Z)
    n = np.count_nonzero(mask)
    index = np.full(mask.shape, -1)
    index[mask] = np.arange(n)
    right = 2 * (1 + nu) * Y[mask] * d * d
    diagonal, rows, columns, values = np.zeros(n), [], [], []
    Ye, Ze = Y[:-1] + 0.5 * d, Z[:, :-1] + 0.5 * d  # on the faces between cells
    faces = [
        (index[:-1], index[1:], -(0.5 * nu * Ye**2 + (1 - 0.5 * nu) * Z[:-1] ** 2)),
        (index[:, :-1], index[:, 1:], -(2 + nu) * Y[:, :-1] * Ze),
    ]
    for i, j, flux in faces:
        both = (i >= 0) & (j >= 0)
        i, j, flux = i[both], j[both], flux[both] * d
        rows, columns, values = [*rows, i, j], [*columns, j, i], [*values, np.ones(2 * i.size)]
        diagonal -= np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
        right += np.bincount(i, flux, n) - np.bincount(j, flux, n)
    bottom = index[0][mask[0]]  # y = 0, where chi = 0
    diagonal[bottom] -= 2
    right[bottom] += (1 - 0.5 * nu) * z[mask[0]] ** 2 * d
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    chi = spsolve(sparse.csc_matrix(entries, (n, n)) + sparse.diags(diagonal).tocsc(), right)
    y, z = Y[mask], Z[mask]
    A, Iz, Iy, mixed = (4 * d * d * float(np.sum(f)) for f in (np.ones(n), y * y, z * z, y * (chi + y * z * z)))
    return 2 * (1 + nu) * Iz / (0.5 * nu * (Iy - Iz) - A / Iz * mixed)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49])
@pytest.mark.parametrize(("shape", "h", "b"), [("rectangle", 1, 1), ("I", 1, 0.5), ("I", 1, 2), ("box", 1, 0.5)])
def test_shear_coefficients_by_finite_volumes(shape, h, b, nu):
    if shape == "rectangle":
        k = make_section("s", shape, height=h, width=b).shear_coefficient_y(nu)
        assert k == pytest.approx(cowper(h, b, lambda y, z: y > 0, nu, 1 / 60), rel=1e-3)
        return
    ratios = []
    for t in (0.05, 0.025):  # the formulas are those of thin walls: extrapolate to none

        def inside(y, z, t=t):
            return (y > 0.5 * h - t) | ((z > 0.5 * b - t) if shape == "box" else (z < 0.5 * t))

        s = make_section("s", shape, height=h, width=b, thickness=t)
        ratios.append(cowper(h, b, inside, nu, t / 8) / s.shear_coefficient_y(nu))
    assert 2 * ratios[1] - ratios[0] == pytest.approx(1.0, abs=6e-3)


def test_turned_box():
    box = make_section("s", "box", height=0.2, width=0.1, web_thickness=0.004, flange_thickness=0.008)
    turned = make_section("s", "box", height=0.1, width=0.2, web_thickness=0.008, flange_thickness=0.004)
    assert box.shear_coefficient_z(0.3) == pytest.approx(turned.shear_coefficient_y(0.3))
    assert (box.Iy, box.J) == pytest.approx((turned.Iz, turned.J))


@given(
    st.sampled_from(["rectangle", "circle", "tube", "I", "box"]),
    st.floats(0.05, 1),
    st.floats(0.05, 1),
    st.floats(0.02, 0.45),
    st.floats(0.02, 0.45),
    st.floats(1e-3, 1e3),
)
@settings(max_examples=150, deadline=None)
def test_scaling_and_bounds(shape, h, b, web, flange, scale):
    dims = {
        "rectangle": {"height": h, "width": b},
        "circle": {"diameter": h},
        "tube": {"outer_diameter": h, "thickness": web * h},
        "I": {
            "height": h,
            "width": b,
            "web_thickness": web * min(h, b) / 2,
            "flange_thickness": flange * min(h, b) / 2,
        },
        "box": {"height": h, "width": b, "web_thickness": web * b, "flange_thickness": flange * h},
    }[shape]
    s = make_section("s", shape, **dims)
    big = make_section("s", shape, **{k: v * scale for k, v in dims.items()})
    assert big.A == pytest.approx(s.A * scale**2)
    assert (big.Iy, big.Iz, big.J) == pytest.approx((s.Iy * scale**4, s.Iz * scale**4, s.J * scale**4))
    assert 0 < s.J
    if shape != "I":  # its fitted corrections are meant for thin walls
        assert s.J <= (s.Iy + s.Iz) * (1 + 1e-9)
    for k in (s.shear_coefficient_y(0.3), s.shear_coefficient_z(0.3)):
        assert 0 < k < 1
    assert big.shear_coefficient_y(0.3) == pytest.approx(s.shear_coefficient_y(0.3))


def test_stiffness():
    steel = Material("steel", 210e9, 0.3, density=7850)
    s = make_section("rod", "rectangle", width=0.01, height=0.02)
    k = s.stiffness(steel, "beam")
    G = 210e9 / 2.6
    kappa = 13 / 15.3
    assert dataclasses.asdict(k) == pytest.approx(
        {
            "EA": 210e9 * 2e-4,
            "GAy": kappa * G * 2e-4,
            "GAz": kappa * G * 2e-4,
            "GJ": G * 0.02 * 0.01**3 * 0.22868,
            "EIy": 210e9 * 0.02 * 0.01**3 / 12,
            "EIz": 210e9 * 0.01 * 0.02**3 / 12,
            "rhoA": 7850 * 2e-4,
            "rhoIy": 7850 * 0.02 * 0.01**3 / 12,
            "rhoIz": 7850 * 0.01 * 0.02**3 / 12,
            "rhoIx": 7850 * 0.01 * 0.02 * (0.01**2 + 0.02**2) / 12,
        },
        rel=1e-5,
    )


def test_direct_stiffness():
    s = make_section("s", "stiffness", EA=2.8e7, EI=14000, GA=1e7, rhoA=1.2, rhoI=6e-4)
    k = s.stiffness(None, "plane beam")
    assert (k.EA, k.GAy, k.EIz, k.rhoA, k.rhoIz) == (2.8e7, 1e7, 14000, 1.2, 6e-4)
    assert math.isnan(k.GJ)
    assert k.EIy == k.EIz
    with pytest.raises(ModelError, match='Section "s": a beam needs GJ of shape "stiffness"; give it'):
        s.stiffness(None, "beam")
    stiff = make_section("s", "stiffness", EA=1, EIz=2, EIy=3, GJ=4, rhoA=0).stiffness(None, "beam")
    assert stiff == SectionStiffness(1, math.inf, math.inf, 4, 3, 2, 0, 0, 0)
    cable = make_section("s", "stiffness", EA=1, rhoA=1)
    assert cable.stiffness(None, "truss").EA == 1
    with pytest.raises(ModelError, match="a plane beam needs EIz"):
        cable.stiffness(None, "plane beam")


def test_general_section_tells_what_is_missing():
    rubber = Material("rubber", 1e6, 0.49, density=1000)
    s = make_section("s", "general", A=1e-4)
    assert s.stiffness(rubber, "truss").EA == 100
    assert math.isnan(s.stiffness(rubber).EIz)
    with pytest.raises(ModelError, match='a beam needs J, Iy, Iz of shape "general"; give them'):
        s.stiffness(rubber, "beam")
    with pytest.raises(ModelError, match="a plane beam needs Iz of"):
        s.stiffness(rubber, "plane beam")
    full = make_section("s", "general", A=1e-4, I=2e-9, J=3e-9, k=math.inf).stiffness(rubber, "beam")
    assert (full.GAy, full.EIy, full.EIz) == (math.inf, 2e-3, 2e-3)
    with pytest.raises(ModelError, match="needs a material"):
        s.stiffness(None)


def test_units_out_of_range():
    heavy = Material("m", 1e300, density=1)
    with pytest.raises(ModelError, match="EA overflows"):
        make_section("s", "general", A=1e20).stiffness(heavy, "truss")
    with pytest.raises(ModelError, match="EA underflows"):
        make_section("s", "general", A=1e-200).stiffness(Material("m", 1e-200, density=1), "truss")


@pytest.mark.parametrize(
    ("shape", "dims"),
    [
        *SHAPES,
        ("general", {"A": 1.0, "Iz": 2.0, "ky": math.inf}),
        ("stiffness", {"EA": 1.0, "GAy": 3.0, "rhoA": 0.0}),
    ],
)
def test_sections_can_be_copied_and_are_frozen(shape, dims):
    s = make_section("s", shape, **dims)
    for other in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s)):
        assert repr(other) == repr(s)
    with pytest.raises(dataclasses.FrozenInstanceError):
        s.A = 1.0
    with pytest.raises(TypeError):
        s.dimensions["height"] = 1.0


def test_material():
    m = Material("aluminium", 6.895e10, G=2.6519e10, density=2766.67)
    assert m.nu == pytest.approx(0.30001, abs=1e-5)
    assert m.G == 2.6519e10
    assert Material("m", 2.6, density=0).G == pytest.approx(1.0)  # nu = 0.3
    assert Material("m", 2.6, 0.3, density=0, G=1.0).nu == pytest.approx(0.3)
    assert Material("m", 1, density=0) == Material("m", 1.0, 0.3, density=0.0)
    assert isinstance(Material("m", np.float64(1), density=np.int64(3)).density, float)


MATERIAL_ERRORS = [
    ({"E": 0, "density": 1}, "E = 0.0 must be greater than 0"),
    ({"E": -1, "density": 1}, "E = -1.0 must be greater than 0"),
    ({"E": math.nan, "density": 1}, "E = nan is not finite"),
    ({"E": math.inf, "density": 1}, "E = inf is not finite"),
    ({"E": "210e9", "density": 1}, "E = '210e9' is not a number"),
    ({"E": True, "density": 1}, "E = True is not a number"),
    ({"E": 10**400, "density": 1}, "is not finite"),
    ({"E": 1}, '"density" is missing'),
    ({"E": 1, "density": -1}, "density = -1.0 must be 0 or more"),
    ({"E": 1, "density": math.nan}, "density = nan"),
    ({"E": 1, "density": 1, "nu": 0.5}, "nu = 0.5 must lie between -1 and 0.5"),
    ({"E": 1, "density": 1, "nu": -1}, "nu = -1.0 must lie"),
    ({"E": 1, "density": 1, "nu": math.nan}, "nu = nan"),
    ({"E": 1, "density": 1, "G": 0}, "G = 0.0 must be greater"),
    ({"E": 1, "density": 1, "G": 0.1}, "E = 1.0 and G = 0.1 mean nu = 4, which must lie"),
    ({"E": 2.6, "density": 1, "G": 1, "nu": 0.2}, "E, G and nu = 0.2 contradict"),
]


@pytest.mark.parametrize(("keys", "message"), MATERIAL_ERRORS)
def test_material_errors(keys, message):
    with pytest.raises(ModelError, match=r'^Material "m"') as info:
        Material("m", **keys)
    assert message in str(info.value)


SECTION_ERRORS = [
    ("rectangel", {}, "unknown shape 'rectangel' (did you mean \"rectangle\"?); shapes: rectangle,"),
    ("i", {"height": 1}, 'did you mean "I"'),
    (3, {}, "unknown shape 3"),
    ("rectangle", {"height": 1}, 'shape "rectangle" needs "width"'),
    ("rectangle", {"height": 1, "widht": 1}, 'unknown key "widht" for shape "rectangle" (did you mean "width"?)'),
    ("rectangle", {"height": 0, "width": 1}, "height = 0.0 must be greater than 0"),
    ("rectangle", {"height": -1, "width": 1}, "height = -1.0"),
    ("rectangle", {"height": math.nan, "width": 1}, "height = nan is not finite"),
    ("rectangle", {"height": "1", "width": 1}, "height = '1' is not a number"),
    ("rectangle", {"height": 1e200, "width": 1}, "units"),
    ("rectangle", {"height": 1e-200, "width": 1e-200}, "A = 0.0"),
    ("circle", {"diameter": True}, "diameter = True is not a number"),
    ("circle", {"radius": 1}, 'unknown key "radius"'),
    ("tube", {"outer_diameter": 1}, 'needs either "inner_diameter" or "thickness"'),
    ("tube", {"outer_diameter": 1, "inner_diameter": 0.5, "thickness": 0.1}, "needs either"),
    ("tube", {"outer_diameter": 1, "inner_diameter": 1}, "inner_diameter = 1.0 must be smaller"),
    ("tube", {"outer_diameter": 1, "thickness": 0.5}, "thickness = 0.5 must be smaller than half"),
    ("box", {"height": 1, "width": 1}, 'needs "web_thickness"'),
    ("box", {"height": 1, "width": 1, "thickness": 0.5}, "two flanges of flange_thickness = 0.5"),
    ("box", {"height": 2, "width": 1, "thickness": 0.5}, "two webs of web_thickness = 0.5"),
    ("box", {"height": 1, "width": 1, "thickness": 0.1, "web_thickness": 0.1}, "not both"),
    ("I", {"height": 1, "width": 1, "web_thickness": 1, "flange_thickness": 0.1}, "web_thickness = 1.0 must be"),
    ("I", {"height": 1, "width": 1, "web_thickness": 0.1, "flange_thickness": 0.6}, "two flanges"),
    (
        "I",
        {"height": 9, "width": 1, "web_thickness": 0.1, "flange_thickness": 2},
        "flange_thickness = 2.0 is more than",
    ),
    ("I", {"height": 1, "width": 9, "web_thickness": 0.9, "flange_thickness": 0.1}, "web_thickness = 0.9 is more than"),
    ("I", {"height": 1, "width": 1, "thickness": 0.1, "root_radius": 0.5}, "root_radius = 0.5 does not fit"),
    ("I", {"height": 1, "width": 1, "thickness": 0.1, "root_radius": -1}, "root_radius = -1.0 must be 0 or more"),
    ("general", {}, 'needs "A"'),
    ("general", {"A": 1, "I": 1, "Iz": 1}, 'give "I" or "Iz", not both'),
    ("general", {"A": 1, "Iz": 0}, "Iz = 0.0 must be greater"),
    ("general", {"A": 1, "J": math.inf}, "J = inf is not finite"),
    ("general", {"A": 1, "k": -math.inf}, "k = -inf"),
    ("stiffness", {"EA": 1}, 'needs "rhoA"; 0 for a section without mass'),
    ("stiffness", {"EA": 1, "rhoA": -1}, "rhoA = -1.0 must be 0 or more"),
    ("stiffness", {"EA": 1, "rhoA": 1, "GA": 0}, "GA = 0.0 must be greater"),
    ("stiffness", {"EA": 1, "rhoA": math.inf}, "rhoA = inf is not finite"),
    ("stiffness", {"EA": 1, "rhoA": 1, "GA": math.nan}, "GA = nan"),
]


@pytest.mark.parametrize(("shape", "dims", "message"), SECTION_ERRORS)
def test_section_errors(shape, dims, message):
    with pytest.raises(ModelError, match=r'^Section "s"') as info:
        make_section("s", shape, **dims)
    assert message in str(info.value)


def test_none_counts_as_not_given():
    s = make_section("s", "tube", outer_diameter=1, inner_diameter=None, thickness=0.1)
    assert s.A == pytest.approx(math.pi * (0.25 - 0.16))


any_number = st.one_of(st.floats(), st.floats(1e-3, 1.0), st.integers(), st.none(), st.booleans(), st.text(max_size=3))


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_dimensions_give_a_section_or_a_model_error(data):
    shape = data.draw(st.sampled_from(sorted(SECTION_SHAPES)))
    dims = {key: data.draw(any_number) for key in SECTION_SHAPES[shape] if data.draw(st.booleans())}
    material = Material("m", 1.0, density=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            section = make_section("s", shape, **dims)
            for needs in STIFFNESS_NEEDS:
                values = section.stiffness(material, needs)
                assert all(getattr(values, key) >= 0 for key in STIFFNESS_NEEDS[needs])
        except ModelError as error:
            message = str(error)
        else:
            return
    assert message.startswith('Section "s"')


# --- whole sections, for beams in space ------------------------------------------------------------------------------
STEEL = Material("steel", 210e9, 0.3, density=7850)
PLACES = {"centroid": [0.03, -0.02], "shear_centre": [-0.05, 0.01], "rotate": 25.0}


def test_stiffness_over_the_line():
    """Energy of the line's strains = that of the strains at the centroid and the shear centre, principal axes."""
    plain = make_section("s", "rectangle", width=0.02, height=0.05)
    p = make_section("s", "rectangle", width=0.02, height=0.05, **PLACES).properties(STEEL)
    k = plain.stiffness(STEEL, "beam")
    diagonal = np.array([k.EA, k.GAy, k.GAz, k.GJ, k.EIy, k.EIz])
    np.testing.assert_allclose(plain.properties(STEEL).stiffness, np.diag(diagonal), rtol=1e-15)
    eps, gy, gz, kx, ky, kz = e = np.random.default_rng(0).normal(size=6)
    (yc, zc), (ys, zs), c, s = [0.03, -0.02], [-0.05, 0.01], math.cos(math.radians(25)), math.sin(math.radians(25))
    gy, gz = gy - zs * kx, gz + ys * kx
    local = [eps + zc * ky - yc * kz, c * gy + s * gz, c * gz - s * gy, kx, c * ky + s * kz, c * kz - s * ky]
    assert e @ p.stiffness @ e == pytest.approx(diagonal @ np.square(local), rel=1e-13)
    np.testing.assert_allclose(p.stiffness @ p.flexibility, np.eye(6), atol=1e-10)


def test_infinite_stiffness_is_no_flexibility():
    s = make_section("s", "stiffness", EA=math.inf, EI=3, GJ=4, rhoA=0, centroid=[0.5, 0])
    p = s.properties(None)
    assert p.stiffness[0, 0] == p.stiffness[5, 5] == math.inf
    assert p.stiffness[0, 5] == -math.inf
    assert p.flexibility[0, 0] == pytest.approx(0.5**2 / 3)
    assert p.flexibility[1, 1] == 0.0
    for needs in ("truss", "plane beam"):
        with pytest.raises(ModelError, match=f"EA is infinite; a {needs} needs a finite one"):
            make_section("s", "stiffness", EA=math.inf, EI=3, rhoA=0).stiffness(None, needs)


def test_inertia_of_the_section():
    numbers = {"EA": 1, "EI": 1, "GJ": 1, "rhoA": 2.0, "rhoIy": 3e-3, "rhoIz": 5e-3}
    p = make_section("s", "stiffness", **numbers, centroid=[0.1, 0.2]).properties(None)
    np.testing.assert_array_equal(p.mass_centre, [0.1, 0.2])
    np.testing.assert_allclose(p.euler, np.diag([0.0, 5e-3, 3e-3]), atol=1e-18)
    p = make_section("s", "stiffness", **numbers, rhoIx=6e-3, rotate=90, mass_centre=[0, 0.1]).properties(None)
    np.testing.assert_allclose(p.euler, np.diag([1e-3, 2e-3, 4e-3]), atol=1e-17)
    for bad in (9e-3, 1e-3):
        with pytest.raises(ModelError, match=f"rhoIx = {bad:g}.*belong to no distribution of mass"):
            make_section("s", "stiffness", **numbers, rhoIx=bad).properties(None)


def matrix(m=2.0, y=0.1, z=-0.2, J=(0.03, 0.01, 0.025)):
    tilde = np.array([[0.0, -z, y], [z, 0.0, 0.0], [-y, 0.0, 0.0]])
    M = np.block([[m * np.eye(3), -m * tilde], [m * tilde, np.diag(J) - m * tilde @ tilde]])
    return {"stiffness": np.diag([5.0, 4, 3, 2, 1, 6]).tolist(), "mass": M.tolist()}


def test_matrices():
    given = matrix()
    given["stiffness"][3][4] = given["stiffness"][4][3] = 0.5
    s = make_section("s", "matrix", **given)
    p = s.properties(None)
    assert p.stiffness.tolist() == given["stiffness"]
    assert p.rhoA == 2.0
    np.testing.assert_allclose(p.mass_centre, [0.1, -0.2])
    np.testing.assert_allclose(p.euler, np.diag([0.0025, 0.0225, 0.0075]), atol=1e-16)
    again = pickle.loads(pickle.dumps(s))
    assert repr(again) == repr(s)
    assert make_section("s", "matrix", **{**given, "mass": np.zeros((6, 6))}).properties(None).rhoA == 0.0
    with pytest.raises(ModelError, match='shape "matrix" is for beams in space alone'):
        s.stiffness(None, "truss")


def test_matrices_that_are_none():
    good = matrix()

    def change(key, i, j, value, both=True):
        M = np.array(good[key])
        M[i, j] = value
        if both:
            M[j, i] = value
        return {**good, key: M.tolist()}

    for keys, message in (
        (change("stiffness", 0, 1, 1.0, False), r"stiffness must be symmetric; \[0\]\[1\] = 1"),
        (change("stiffness", 0, 1, 9.0), "stiffness is not positive definite"),
        (change("stiffness", 2, 2, 0.0), r"stiffness\[2\]\[2\] = 0 must be greater than 0"),
        (change("mass", 1, 1, 3.0), r"mass\[1\]\[1\] = 3 should be 2"),
        (change("mass", 0, 1, 1.0), r"mass\[0\]\[1\] = 1 should be 0"),
        (matrix(J=(0.05, 0.01, 0.02)), "belong to no distribution of mass"),
        ({**good, "mass": [[1.0]]}, "mass must be a 6x6 matrix"),
        ({"mass": good["mass"]}, 'needs "stiffness", a 6x6 matrix'),
        ({**good, "centroid": [0, 0]}, 'shape "matrix" has no centroid'),
        ({**good, "EA": 1}, 'unknown key "EA"'),
    ):
        with pytest.raises(ModelError, match=f'^Section "s": .*{message}'):
            make_section("s", "matrix", **keys)
    for key, value in (("centroid", [1]), ("shear_centre", "ab"), ("mass_centre", 3.0)):
        with pytest.raises(ModelError, match=f"{key} = .* must be two numbers"):
            make_section("s", "circle", diameter=1, **{key: value})


def test_places_are_for_space():
    s = make_section("s", "circle", diameter=0.1, mass_centre=[0.01, 0])
    assert s.stiffness(STEEL, "beam").EA > 0
    assert pickle.loads(pickle.dumps(s)) == s
    for needs in ("truss", "plane beam"):
        with pytest.raises(ModelError, match=f"are for beams in space; a {needs} has none"):
            s.stiffness(STEEL, needs)
