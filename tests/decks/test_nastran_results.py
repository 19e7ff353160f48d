"""Element tables of Nastran decks: forces, stresses and strains against closed forms and printed listings."""

from __future__ import annotations

import numpy as np
import pytest
from places import DATA

from fem_mbs.decks.nastran.results.compare import compare_deck
from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.meshes.nastran.f06 import read_f06
from fem_mbs.meshes.nastran.reader import read_bulk

ASK = "SPC = 1\nLOAD = 2\nDISPLACEMENT = ALL\nFORCE(CORNER) = ALL\nSTRESS(CORNER) = ALL\nSTRAIN(FIBER,CORNER) = ALL\n"
E, G, NU, L = 1000.0, 400.0, 0.25, 2.0
STEEL = f"MAT1,1,{E},{G},{NU},3.\n"
LINE = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nSPC1,1,123456,1\n"
PULL = "FORCE,2,2,,1.,5.,6.,7.\nMOMENT,2,2,,1.,8.,0.,0.\n"
POINTS = np.array([[0.3, 0.2], [-0.3, 0.25], [-0.35, -0.2], [0.1, -0.4]])


@pytest.fixture
def deck(tmp_path):
    """Reads a deck."""

    def read(bulk: str, case: str = ASK, sol: int = 101):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def tables(deck):
    """Solves a deck: per step tables quantity -> {(number, point): row}; ``find`` adds the column names."""

    def solve(bulk: str, case: str = ASK, sol: int = 101):
        _, solution = solve_deck(deck(bulk, case, sol))
        out = []
        for step in solution.report.steps:
            found: dict[str, dict] = {}
            for t in step.prints or ():
                rows = found.setdefault(t.quantity + (f" {t.mode}" if t.mode else ""), {})
                for id_, point, row in zip(t.ids, t.points or [0] * len(t.ids), t.values, strict=True):
                    key = (id_, point) if not t.time or t.time == 1.0 else (id_, point, t.time)
                    rows[key] = np.array(row, float)
                    assert t.columns is None or len(t.columns) == len(row)
            out.append(found)
        return out

    return solve


def close(a, b, rtol=1e-7, atol=1e-9):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


# --- bars ------------------------------------------------------------------------------------------------------------
def bending(inertia: np.ndarray, arm: float) -> np.ndarray:
    """Return stresses at POINTS of a cantilever under forces 6 and 7 across it, a length ``arm`` from its tip."""
    curvature = np.linalg.solve(inertia, np.array([6.0, 7.0]) * arm)
    return -POINTS @ curvature


@pytest.mark.parametrize("product", [0.0, 0.01])
def test_stresses_of_bars_at_their_points(tables, product):
    points = ",".join(f"{v:g}" for v in POINTS.ravel())
    bar = f"CBAR,1,1,1,2,0.,1.,0.\nPBAR,1,1,.5,.02,.03,.04,,,\n,{points},\n,,,{product}\n"
    found = tables(LINE + bar + PULL)[0]
    inertia = np.array([[0.02, product], [product, 0.03]])
    a, b, axial = bending(inertia, L), np.zeros(4), 5 / 0.5
    whole = [*a, axial, axial + a.max(), axial + a.min(), *b, axial, axial]
    close(found["STRESS CBAR"][1, 0], whole, atol=1e-6)
    close(found["STRAIN CBAR"][1, 0], np.array(whole) / E, atol=1e-9)


@pytest.mark.parametrize(("station", "ends"), [("", 2), (",YESA,1.\n", 2), (",NO,1.\n", 1), (",YES,1.\n", 2)])
def test_stresses_of_beams_at_both_ends(tables, station, ends):
    points = ",".join(f"{v:g}" for v in POINTS.ravel())
    other = POINTS if "YES," not in station else 2.0 * POINTS
    if "YES," in station:
        station += "," + ",".join(f"{v:g}" for v in other.ravel()) + "\n"
    shear = ",0.,0.\n"
    bulk = LINE + "GRID,3,,3.,0.,0.\n" + "CBEAM,1,1,1,2,0.,1.,0.\nCBEAM,2,1,2,3,0.,1.,0.\n"
    bulk += f"PBEAM,1,1,.5,.02,.03,,.04\n,{points}\n{station}{shear}" + PULL.replace("2,2,", "2,3,")
    found = tables(bulk)[0]["STRESS CBEAM"]
    assert sorted(found) == [(1, k + 1) for k in range(ends)] + [(2, k + 1) for k in range(ends)]
    inertia = np.diag([0.02, 0.03])
    a = 10.0 + bending(inertia, 3.0)
    close(found[1, 1], [*a, a.max(), a.min()], atol=1e-6)
    if ends == 2:
        b = 10.0 + bending(inertia, 1.0) * (2.0 if "YES," in station else 1.0)
        close(found[1, 2], [*b, b.max(), b.min()], atol=1e-6)


def test_stresses_of_rods(tables):
    rods = "CROD,1,1,1,2\nPROD,1,1,.5,.04,.1\nCONROD,2,1,2,1,.25,.04,.2\nSPC1,1,2356,2\n"
    found = tables(LINE + rods + PULL)[0]
    turn = 8.0 * L / (2 * G * 0.04)
    stretch = 5.0 / (E * 0.75 / L)
    for name, number, c in (("CROD", 1, 0.1), ("CONROD", 2, 0.2)):
        stress = np.array([E * stretch / L, c * G * turn / L])
        close(found[f"STRESS {name}"][number, 0], stress)
        close(found[f"STRAIN {name}"][number, 0], stress / [E, G])


def test_points_of_stresses_are_no_unused_fields(deck):
    bulk = STEEL + patch(QUADS, "CQUAD4", np.zeros(3)) + "PSHELL,1,1,.2,1,,1\n,-.07\n"
    asked = [n.text for n in convert(deck(bulk, CASE)).notes]
    silent = [n.text for n in convert(deck(bulk, "SPC = 1\n")).notes]
    assert not any("PSHELL: Z1" in text for text in asked)
    assert any("PSHELL: Z1: not used: where stresses are printed" in text for text in silent)


# --- springs ---------------------------------------------------------------------------------------------------------
def test_springs_and_bushes(tables):
    bulk = LINE + "CELAS2,1,50.,2,1,,,,.5\nCELAS1,2,7,1,2,2,2\nPELAS,7,40.,,2.\nCBUSH,3,8,1,2,,,,0\n"
    bulk += "PBUSH,8,K,10.,20.,30.,400.,500.,600.,\n,,RCV,2.,3.,4.,5.\n"
    bulk += "FORCE,2,2,,1.,6.,0.,0.\nSPC1,1,3456,2\nSPC,1,2,2,.1\n"
    found = tables(bulk)[0]
    u = 6.0 / 60.0
    close(found["CELAS2"][1, 0], [50 * u])  # K (u1 - u2), the second end held
    close(found["STRESS CELAS2"][1, 0], [0.5 * 50 * u])
    close(found["CELAS1"][2, 0], [-40 * 0.1])
    close(found["STRESS CELAS1"][2, 0], [-2 * 40 * 0.1])
    # of the bush, whose place is in its middle: the rotations are zero
    close(found["CBUSH"][3, 0], [10 * u, 20 * 0.1, 0, 0, 0, 0])
    close(found["STRESS CBUSH"][3, 0], [2 * 10 * u, 2 * 20 * 0.1, 0, 0, 0, 0])
    close(found["STRAIN CBUSH"][3, 0], [4 * u, 4 * 0.1, 0, 0, 0, 0])


# --- shells ----------------------------------------------------------------------------------------------------------
#: Corners of four crooked quadrilaterals, or eight triangles, about grid point 9.
PLACES = {
    1: (0.0, 0.0), 2: (2.0, 0.1), 3: (4.0, 0.0), 4: (4.2, 1.5), 5: (4.0, 3.0), 6: (1.8, 3.1), 7: (0.0, 3.0),
    8: (0.1, 1.4), 9: (2.2, 1.6),
}  # fmt: skip
QUADS = {1: (1, 2, 9, 8), 2: (2, 3, 4, 9), 3: (9, 4, 5, 6), 4: (8, 9, 6, 7)}
STRAIN, CURVATURE = np.array([2e-3, -1e-3, 1.5e-3]), np.array([3e-3, 1e-3, 0.0])


def patch(cells: dict, card: str, curvature: np.ndarray, more: str = "") -> str:
    """Return a plate whose edge has displacements of constant strains and curvatures (w,xx, w,yy); 9 is free."""
    ex, ey, g = STRAIN
    kx, ky, _ = curvature
    bulk = ""
    for k, (x, y) in PLACES.items():
        bulk += f"GRID,{k},,{x},{y},0.\n"
        if k == 9:
            continue
        w = 0.5 * (kx * x * x + ky * y * y)
        values = (ex * x + 0.5 * g * y, ey * y + 0.5 * g * x, w, ky * y, -kx * x, 0.0)
        bulk += "".join(f"SPC,1,{k},{c + 1},{v:.15g}\n" for c, v in enumerate(values))
    for number, corners in cells.items():
        bulk += f"{card},{number},1,{','.join(map(str, corners))}{more}\n"
    return bulk


def rotated(plane: np.ndarray, angle: float, shear: float) -> np.ndarray:
    """Return components along axes turned by an angle, by the tensor; ``shear`` 2 where the last one is gamma."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, s], [-s, c]])
    x, y, xy = plane
    T = R @ np.array([[x, xy / shear], [xy / shear, y]]) @ R.T
    return np.array([T[0, 0], T[1, 1], shear * T[0, 1]])


def direction(a: int, b: int) -> float:
    (xa, ya), (xb, yb) = PLACES[a], PLACES[b]
    return np.arctan2(yb - ya, xb - xa)


def element_angle(corners: tuple[int, ...]) -> float:
    """Return the angle of x of an element: along the first side, or between the diagonals 1-3 and 4-2."""
    if len(corners) == 3:
        return direction(corners[0], corners[1])
    return 0.5 * (direction(corners[0], corners[2]) + direction(corners[3], corners[1]))


PLANE = E / (1 - NU**2) * np.array([[1, NU, 0], [NU, 1, 0], [0, 0, (1 - NU) / 2]])
TRIANGLES = {
    1: (2, 3, 9),
    2: (3, 4, 9),
    3: (4, 5, 9),
    4: (5, 6, 9),
    5: (6, 7, 9),
    6: (7, 8, 9),
    7: (8, 1, 9),
    8: (9, 1, 2),
}
CASE = ASK.replace("LOAD = 2\n", "")


@pytest.mark.parametrize(("card", "cells"), [("CQUAD4", QUADS), ("CTRIA3", TRIANGLES)])
@pytest.mark.parametrize("material", [False, True], ids=["element", "material"])
def test_plates_of_constant_strain(tables, card, cells, material):
    """Membrane forces, stresses and strains along the axes of the element, or THETA from its first side (OMID)."""
    bulk = STEEL + patch(cells, card, np.zeros(3), ",30." if material else "") + "PSHELL,1,1,.2,1,,1\n,-.07\n"
    found = tables(bulk + ("PARAM,OMID,YES\n" if material else ""), CASE)[0]
    for number, corners in cells.items():
        angle = direction(*corners[:2]) + np.deg2rad(30.0) if material else element_angle(corners)
        stress, strain = rotated(PLANE @ STRAIN, angle, 1.0), rotated(STRAIN, angle, 2.0)
        for point in (0, *(corners if card == "CQUAD4" else ())):
            close(found[card][number, point][:6], [*(0.2 * stress), 0, 0, 0], atol=1e-7)
            row = found[f"STRESS {card}"][number, point]
            close(row[[0, 8]], [-0.07, 0.1])
            close(row[1:4], stress)
            close(row[9:12], stress)
            principal = np.linalg.eigvalsh(np.array([[stress[0], stress[2]], [stress[2], stress[1]]]))
            close(row[[6, 5]], principal)
            close(row[7], np.sqrt(principal[0] ** 2 + principal[1] ** 2 - principal[0] * principal[1]))
            a = np.deg2rad(row[4])
            close(rotated(stress, a, 1.0), [principal[1], principal[0], 0.0], atol=1e-7)
            row = found[f"STRAIN {card}"][number, point]
            close(row[1:4], strain)
            x, y, xy = strain
            close(row[7], np.sqrt(4 / 9 * (x * x + y * y - x * y) + xy * xy / 3))


@pytest.mark.parametrize("option", ["FIBER", "STRCUR"])
def test_plates_of_constant_curvature(tables, option):
    """MX stretches the bottom, Z1, where it is positive; strains are those of the fibres, or curvatures."""
    places = {k: (round(x), round(y * 2 / 3)) for k, (x, y) in PLACES.items()}
    bulk = STEEL + "".join(f"GRID,{k},,{x}.,{y}.,0.\n" for k, (x, y) in places.items())
    kx, ky = CURVATURE[:2]
    for k, (x, y) in places.items():
        if k != 9:
            values = (0.0, 0.0, 0.5 * (kx * x * x + ky * y * y), ky * y, -kx * x, 0.0)
            bulk += "".join(f"SPC,1,{k},{c + 1},{v:.15g}\n" for c, v in enumerate(values))
    bulk += "".join(f"CQUAD4,{n},1,{','.join(map(str, c))}\n" for n, c in QUADS.items()) + "PSHELL,1,1,.2,1,,1\n"
    found = tables(bulk, CASE.replace("FIBER", option))[0]
    moment = 0.2**3 / 12 * PLANE @ CURVATURE  # of w,xx and w,yy, which stretch the bottom
    top = -0.1 * PLANE @ CURVATURE
    close(found["CQUAD4"][1, 0][3:6], moment, rtol=1e-6)
    row = found["STRESS CQUAD4"][1, 0]
    close(row[1:4], -top, rtol=1e-6)
    close(row[9:12], top, rtol=1e-6)
    row = found["STRAIN CQUAD4"][1, 0]
    if option == "FIBER":
        close(row[1:4], 0.1 * CURVATURE, rtol=1e-6)
        close(row[9:12], -0.1 * CURVATURE, rtol=1e-6)
    else:
        assert len(row) == 14
        close(row[:3], 0.0, atol=1e-12)
        close(row[7:10], CURVATURE, rtol=1e-6)


def test_plies_by_classical_laminate_theory(tables):
    """Strains of all plies are e + z k: stresses Q(angle) (e + z k) along the fibres, in the middle of each ply."""
    E1, E2, nu12, G12 = 5000.0, 900.0, 0.3, 400.0
    plies = [(0.05, 30.0), (0.1, -45.0), (0.02, 90.0)]
    bulk = f"MAT8,1,{E1},{E2},{nu12},{G12},{G12},{G12}\n" + patch(QUADS, "CQUAD4", np.zeros(3), ",7")
    c, s = np.cos(0.4), np.sin(0.4)  # the axes of the material are those of a system turned about z
    bulk += f"CORD2R,7,,0.,0.,0.,0.,0.,1.,+\n+,{c:.15g},{s:.15g},0.\n"
    words = [w for t, a in plies for w in ("1", f"{t}", f"{a}", "YES")]
    bulk += "PCOMP,1,,,,,,,\n" + ",".join(["", *words[:8]]) + "\n" + ",".join(["", *words[8:]]) + "\n"
    found = tables(bulk, CASE)[0]
    nu21 = nu12 * E2 / E1
    Q = np.array([[E1, nu12 * E2, 0], [nu12 * E2, E2, 0], [0, 0, G12 * (1 - nu12 * nu21)]]) / (1 - nu12 * nu21)
    own = rotated(STRAIN, 0.4, 2.0)
    for number in QUADS:
        for k, (_, angle) in enumerate(plies):
            strain = rotated(own, np.deg2rad(angle), 2.0)
            close(found["PLY STRAIN CQUAD4"][number, k + 1][:3], strain)
            row = found["PLY STRESS CQUAD4"][number, k + 1]
            close(row[:3], Q @ strain)
            x, y, xy = Q @ strain
            close(row[8], np.hypot(0.5 * (x - y), xy))


@pytest.mark.parametrize("offset", ["", ",,.3"], ids=["grid", "ZOFFS"])
def test_moments_of_laminates_are_about_the_plane_of_z0(tables, offset):
    """Constant strains of the reference plane: N = A e, M = B e with A and B about this plane, Z0 above which the
    laminate begins; ZOFFS moves plane and laminate together."""
    bulk = f"MAT8,1,{E},{E},{NU},{E / 2 / (1 + NU)}\n" + patch(QUADS, "CQUAD4", np.zeros(3), offset)
    found = tables(bulk + "PCOMP,1,.05,,,,,,\n,1,.2\n", CASE)[0]
    for number, corners in QUADS.items():
        force = rotated(0.2 * PLANE @ STRAIN, element_angle(corners), 1.0)
        close(found["CQUAD4"][number, 0][:6], [*force, *(-(0.05 + 0.1) * force)], atol=1e-7)


def test_shear_between_plies(tables):
    """A strip under a force F at its end: the parabola 1.5 F/(b h) (1 - 4 z^2/h^2) on top of the plies."""
    bulk = STEEL.replace(f",{NU},", ",0.,").replace(f"{G}", f"{E / 2}")
    bulk += "".join(f"GRID,{2 * i + j + 1},,{i}.,{j}.,0.\n" for i in range(5) for j in (0, 1))
    bulk += "".join(f"CQUAD4,{i + 1},1,{2 * i + 1},{2 * i + 3},{2 * i + 4},{2 * i + 2}\n" for i in range(4))
    bulk += (
        "PCOMP,1,,,,,,,\n,1,.05,,,1,.1\n,1,.05\nSPC1,1,123456,1,2\nFORCE,2,9,,1.5,0.,0.,1.\nFORCE,2,10,,1.5,0.,0.,1.\n"
    )
    found = tables(bulk)[0]
    Q = 3.0
    close(found["CQUAD4"][2, 0][6:], [Q, 0.0], rtol=1e-6, atol=1e-6)
    z = np.array([-0.05, 0.05, 0.1])
    expected = 1.5 * Q / 0.2 * (1 - 4 * z**2 / 0.2**2)
    close([found["PLY STRESS CQUAD4"][2, k][3] for k in (1, 2, 3)], expected, rtol=1e-6, atol=1e-6)


# --- solids ----------------------------------------------------------------------------------------------------------
def test_solids_along_the_axes_of_cordm(tables):
    """A cube under tension along x, in axes turned by 30 degrees about z: in the middle and at the corners."""
    bulk = STEEL + "".join(
        f"GRID,{k},,{x}.,{y}.,{z}.\n"
        for k, (x, y, z) in enumerate(
            [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], 1
        )
    )
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    bulk += "CHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\nPSOLID,1,1,7,,,FULL\n"
    bulk += f"CORD2R,7,,0.,0.,0.,0.,0.,1.,+\n+,{c:.15g},{s:.15g},0.\n"
    bulk += "SPC1,1,1,1,4,5,8\nSPC1,1,2,1,2,5,6\nSPC1,1,3,1,2,3,4\n"
    bulk += "".join(f"FORCE,2,{k},,2.,1.,0.,0.\n" for k in (2, 3, 6, 7))
    found = tables(bulk)[0]
    p = 8.0
    assert sorted(point for _, point in found["STRESS CHEXA"]) == list(range(9))
    for row in found["STRESS CHEXA"].values():
        close(row, [p * c * c, p * s * s, 0, -p * c * s, 0, 0, p, 0, 0, -p / 3, p], atol=1e-8)
    ex, ey = p / E, -NU * p / E
    for row in found["STRAIN CHEXA"].values():
        shear = -2 * c * s * (ex - ey)
        close(row[:6], [c * c * ex + s * s * ey, s * s * ex + c * c * ey, ey, shear, 0, 0], atol=1e-12)
        close(row[6:], [ex, ey, ey, -(ex + 2 * ey) / 3, 2 / 3 * (ex - ey)], atol=1e-12)


# --- modes and transients --------------------------------------------------------------------------------------------
def test_stresses_of_modes_and_torsional_inertia_of_beams(tables):
    """A rod with a mass: unit modal mass moves 1/sqrt(m). A CBEAM turns by rho (I1 + I2) L/2 at its end."""
    case = "SPC = 1\nMETHOD = 3\nSTRESS = ALL\nDISPLACEMENT = ALL\n"
    rod = LINE.replace(",3.\n", ",0.\n") + "CROD,1,1,1,2\nPROD,1,1,.5\nCONM2,5,2,,4.\nSPC1,1,23456,2\nEIGRL,3,,,1\n"
    found = tables(rod, case, 103)[0]
    close(abs(found["STRESS CROD 1"][1, 0][0]), E / L / np.sqrt(4.0))
    beam = LINE + "CBEAM,1,1,1,2,0.,1.,0.\nPBEAM,1,1,.5,.02,.03,,.04\n,0.,0.\nSPC1,1,12356,2\nEIGRL,3,,,1\n"
    found = tables(beam, case, 103)[0]
    close(found["EIGENVALUES"][1, 0][0], G * 0.04 / L / (3.0 * 0.05 * L / 2), rtol=1e-6)


def test_stresses_in_time(tables):
    """A rod with a mass under a constant force: E u/L at each time."""
    case = "SPC = 1\nDLOAD = 2\nTSTEP = 3\nSTRESS = ALL\nDISPLACEMENT = ALL\n"
    bulk = LINE + "CROD,1,1,1,2\nPROD,1,1,.5\nCONM2,5,2,,4.\nSPC1,1,23456,2\nTSTEP,3,20,.02,5\n"
    bulk += "TLOAD2,2,4,,,0.,9.,0.,0.\nDAREA,4,2,1,6.\n"
    (found,) = tables(bulk, case, 109)
    u = {key: row[0] for key, row in found["DISPLACEMENT"].items() if key[0] == 2}
    stress = {(2, *key[1:]): row[0] for key, row in found["STRESS CROD"].items()}
    assert len(stress) == 5 and max(u.values()) > 0.01
    for key, value in stress.items():
        close(value, E / L * u[key], atol=1e-8)


# --- what is asked for -----------------------------------------------------------------------------------------------
def test_sets_and_commands_that_choose_elements(tables):
    bulk = LINE + "".join(f"CROD,{k},1,1,2\n" for k in range(1, 6)) + "PROD,1,1,.5\nSPC1,1,23456,2\n" + PULL
    found = tables(bulk, "SPC = 1\nLOAD = 2\nSET 4 = 2 THRU 4\nELSTRESS = 4\nFORCE = NONE\n")[0]
    assert sorted(found["STRESS CROD"]) == [(2, 0), (3, 0), (4, 0)]
    assert "CROD" not in found and "STRAIN CROD" not in found


def test_output_without_brackets_ends_no_case_control(tables):
    """OUTPUT heads the requests of results; what follows it, loads and supports too, counts."""
    bulk = LINE + "CROD,1,1,1,2\nPROD,1,1,.5\nSPC1,1,23456,2\n" + PULL
    found = tables(bulk, "OUTPUT\nSTRESS = ALL\nSUBCASE 1\nSPC = 1\nLOAD = 2\n")[0]
    close(found["STRESS CROD"][1, 0][0], 10.0)


def test_results_that_are_missing_are_named(deck):
    bulk = LINE + "CROD,1,1,1,2\nPROD,1,1,.5\nSPC1,1,23456,2\nEIGRL,3,,,1\n" + PULL
    case = "SPC = 1\nLOAD = 2\nGPFORCE = ALL\nMPCFORCES = NONE\nVELOCITY = ALL\n"
    texts = [n.text for n in convert(deck(bulk, case)).notes]
    assert any("line 5" in t and "GPFORCE: results missing" in t for t in texts)
    assert any("VELOCITY of SOL 101: results missing" in t for t in texts)
    assert not any("MPCFORCES" in t for t in texts)
    texts = [n.text for n in convert(deck(bulk, "SPC = 1\nMETHOD = 3\nSPCFORCES = ALL\n", 103)).notes]
    assert any("SPCFORCES of shapes: results missing" in t for t in texts)


# --- listings --------------------------------------------------------------------------------------------------------
def test_tables_of_listings():
    """Parts of listings of MSC Nastran 2018 and NX Nastran 10 (tests/data/README.md)."""
    found = {t.quantity: t for t in read_f06(DATA / "decks" / "tables.f06").tables}
    assert list(found) == ["STRESS CBAR", "STRESS CROD", "STRESS CQUAD4", "STRESS CHEXA", "PLY STRESS CQUAD4"]
    assert found["STRESS CBAR"].rows[0][4:9] == [-6.040721e-10, 62107.45, -62107.45, -45293.14, -45293.14]
    assert (found["STRESS CROD"].ids, found["STRESS CROD"].rows) == ([1, 2], [[-700.7184, 0.0], [-24504.52, 0.0]])
    quad = found["STRESS CQUAD4"]
    assert list(zip(quad.ids, quad.points, strict=True)) == [(6, 0), (6, 4)] and quad.named == {"CORNER", "VON MISES"}
    close(quad.values[1, [0, 1, 8, 9, 15]], [-0.125, -668.9612, 0.125, -827.4728, 9650.432])
    hexa = found["STRESS CHEXA"]
    assert hexa.points == [0, 2]
    close(hexa.values[1], [-280.6434, -978.387, 12308.71, 20.65732, -921.4196, 921.4196, 12438.54, -1051.95, -336.9047,
                           -3683.228, 13147.56])  # fmt: skip
    close(found["PLY STRESS CQUAD4"].values[0, :5], [-1.0334e9, -1.15676e9, 1.42525e8, -3.98587e6, -2.64089e5])


def test_tables_of_mystran():
    """Parts of a listing of MYSTRAN 6.35: forces and stresses of bars, rods, springs and shells."""
    found = {t.quantity: t for t in read_f06(DATA / "decks" / "tables_mystran.f06").tables}
    assert all(t.subcase == 92 for t in found.values())
    close(found["CBAR"].values[1], [-228.5211, 5.800469, -2555.446, -1.461326, 46.5385, 0.1452359, 2377.371, -219.4896])
    assert (found["CELAS1"].rows, found["STRESS CELAS1"].rows) == ([[465.6505]], [[349.2379]])
    assert (found["CROD"].rows[1], found["STRESS CROD"].rows[1]) == ([-6600.225, 0.0], [-6600.225, 0.0])
    close(found["CQUAD4"].values[0, [0, 7]], [24.95364, 4.598420e-3])
    close(found["STRESS CBAR"].values[1, 4:9], [1240.183, 1579.739, 900.6264, -5.840998, 52.50618])
    close(found["STRESS CQUAD4"].values[0, [0, 1, 7, 8, 15]], [-0.0625, 185.8681, 1012.013, 0.0625, 1043.937])
    close(found["STRESS CTRIA3"].values[0, [1, 7, 9, 15]], [57.61535, 909.569, 103.2627, 948.3748])


def test_bar_with_product_of_inertia_as_mystran_prints_it():
    """Displacements, forces of supports, forces and stresses of MYSTRAN's deck BAR-I12."""
    rows = {r.quantity: r for r in compare_deck(DATA / "decks" / "bar_i12.bdf") if r.quantity != "note"}
    assert {r.status for r in rows.values()} == {"ok"} and len(rows) == 10
    assert rows["STRESS CBAR, bending"].difference < 1e-9


@pytest.mark.parametrize("norm", ["MASS", "MAX"])
def test_comparison_of_modes_by_their_displacements(tmp_path, norm):
    """A shape of another size and sign: forces and stresses of the listing follow its displacements."""
    case = "SPC = 1\nMETHOD = 1\nDISPLACEMENT = ALL\nFORCE = ALL\nSTRESS = ALL\n"
    deck = tmp_path / "a.bdf"
    deck.write_text(
        f"SOL 103\nCEND\n{case}BEGIN BULK\n{SVANBERG.format('CBAR')}{SECTIONS['CBAR']}EIGRL,1,,,1\nENDDATA\n"
    )
    _, solution = solve_deck(deck)
    found = {t.quantity: t for t in solution.report.steps[0].prints}
    factor = -1.0 if norm == "MASS" else -3.0 / np.abs(np.array(found["DISPLACEMENT"].values)).max()
    lines = ["   R E A L   E I G E N V A L U E S", f"  1  1  {found['EIGENVALUES'].values[0][0]}  1. 1. 1. 1."]
    lines.append("   R E A L   E I G E N V E C T O R   N O .          1")
    for i, row in zip(found["DISPLACEMENT"].ids, found["DISPLACEMENT"].values, strict=True):
        lines.append(f"  {i}  G  " + "  ".join(f"{factor * v:.8e}" for v in row))
    lines += [
        f" EIGENVALUE = {found['EIGENVALUES'].values[0][0]}",
        "  S T R E S S E S   I N   B A R   E L E M E N T S   ( C B A R )",
    ]
    for i, row in zip(found["STRESS CBAR"].ids, found["STRESS CBAR"].values, strict=True):
        v = (
            factor * np.array(row)[[0, 1, 2, 3, 4, 6, 5, 7, 8, 9, 10, 12, 11]]
        )  # turned over, the largest is the smallest
        lines += [
            "0  " + "  ".join([str(i), *(f"{x:.8e}" for x in v[:7])]),
            "   " + "  ".join(f"{x:.8e}" for x in v[7:]),
        ]
    (tmp_path / "a.f06").write_text("\n".join(lines))
    rows = [r for r in compare_deck(deck) if r.quantity.startswith("STRESS")]
    assert [r.status for r in rows] == ["ok"] * 3 and max(r.difference for r in rows) < 1e-7


def test_damaged_listings_are_read_as_far_as_they_go(tmp_path):
    """Every cut of the lines, and lines of other tables among them, leaves whole rows."""
    lines = (DATA / "decks" / "tables.f06").read_text().splitlines()
    path = tmp_path / "a.f06"
    for k in range(len(lines)):
        path.write_text("\n".join([*lines[:k], *lines[k + 1 :]]))
        for table in read_f06(path).tables:
            assert table.values.ndim == 2 and len(table.values) == len(table.ids) == len(table.points)
    path.write_text("\n".join(line.replace("GRID CS", "GP").replace(" 6 ", " x ") for line in lines))
    assert {t.quantity for t in read_f06(path).tables} >= {"STRESS CBAR", "STRESS CROD"}


SVANBERG = (
    "MAT1,501,1440.E6,,.33,5.37078819\nSPC1,1,123456,1\n"
    + "".join(f"GRID,{k},,{k - 1}.,0.,0.\n" for k in range(1, 7))
    + "".join(f"{{0}},{k},101,{k},{k + 1},0.,1.,0.\n" for k in range(1, 6))
)
SECTIONS = {
    "CBEAM": "PBEAM,101,501,15000.,2500.,250.,0.0,25000.,0.0\n,.1,.1,-.1,.1,-.1,-.1,.1,-.1\n,0.0,0.0\n",
    "CBAR": "PBAR,101,501,15000.,2500.,250.,25000.,0.0,,+\n+,.1,.1,-.1,.1,-.1,-.1,.1,-.1\n",
}
#: Eigenvalues as MSC Nastran 2018.2 prints them (NASTRAN_CoFE, testing/system_verification/002 and 003).
PRINTED = {
    "CBEAM": [8.523157e4, 8.523157e5, 3.073544e6, 2.238404e7, 2.624517e7, 3.073544e7, 7.798132e7, 8.969640e7],
    "CBAR": [8.523157e4, 8.523157e5, 3.073544e6, 2.238404e7, 2.624517e7, 3.073544e7, 7.798132e7, 1.674074e8],
}


@pytest.mark.parametrize("card", ["CBEAM", "CBAR"])
def test_modes_of_a_cantilever_as_msc_nastran_prints_them(tables, card):
    """A CBEAM has inertia about its axis, the eighth mode; a CBAR has none. Bending stress of the first mode."""
    case = "SPC = 1\nMETHOD = 1\nSTRESS = ALL\n"
    found = tables(SVANBERG.format(card) + SECTIONS[card] + "EIGRL,1,,,8\n", case, 103)[0]
    close([found["EIGENVALUES"][k, 0][0] for k in range(1, 9)], PRINTED[card], rtol=3e-7)
    first = found[f"STRESS {card} 1"][1, 1 if card == "CBEAM" else 0][:4]
    close(np.abs(first), 6.210745e4, rtol=3e-7)


def test_comparison_finds_wrong_stresses(tmp_path):
    """A listing with another stress is outside of its margin; with the right one it agrees."""
    bulk = (
        "SOL 101\nCEND\n"
        + ASK
        + "BEGIN BULK\n"
        + LINE
        + "CROD,1,1,1,2\nPROD,1,1,.5\nSPC1,1,23456,2\n"
        + PULL
        + "ENDDATA\n"
    )
    (tmp_path / "a.bdf").write_text(bulk)
    head = "0" + 30 * " " + "SUBCASE 1\n  S T R E S S E S   I N   R O D   E L E M E N T S     ( C R O D )\n"
    for value, status in (("1.000000E+01", "ok"), ("1.100000E+01", "outside")):
        (tmp_path / "a.f06").write_text(f"{head}             1   {value}             0.0\n")
        rows = {r.quantity: r for r in compare_deck(tmp_path / "a.bdf")}
        assert rows["STRESS CROD, axial"].status == status
