"""Sections and temperatures of shells in Nastran decks, against closed forms and laminate theory."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.errors import ModelError
from fem_mbs.meshes.nastran.reader import read_bulk

LENGTH, WIDTH, H, N = 4.0, 1.0, 0.1, 8


@pytest.fixture
def deck(tmp_path):
    """Reads a deck of statics."""

    def read(bulk: str, case: str = "LOAD = 2\n"):
        path = tmp_path / "deck.bdf"
        head = "SOL 101\nCEND\nSPC = 1\nDISPLACEMENT = ALL\nSPCFORCES = ALL\n"
        path.write_text(f"{head}{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def tables(deck):
    """Solves a deck: tables quantity -> {number: row}."""

    def solve(bulk: str, case: str = "LOAD = 2\n"):
        _, solution = solve_deck(deck(bulk, case))
        prints = solution.report.steps[0].prints
        return {t.quantity: dict(zip(t.ids, map(np.array, t.values), strict=True)) for t in prints}

    return solve


def close(a, b, rtol=1e-7, atol=1e-12):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def strip(section: str, element: str = "", n: int = N) -> str:
    """A cantilever of n shells along x, clamped at x = 0."""
    text = ""
    for i in range(n + 1):
        text += f"GRID,{2 * i + 1},,{LENGTH * i / n},0.,0.\nGRID,{2 * i + 2},,{LENGTH * i / n},{WIDTH},0.\n"
    for i in range(n):
        text += f"CQUAD4,{i + 1},1,{2 * i + 1},{2 * i + 3},{2 * i + 4},{2 * i + 2}{element}\n"
    return text + section + "SPC1,1,123456,1,2\n"


def plate(section: str, element: str = "") -> str:
    """A plate 2 by 1 on supports that let it strain freely in its plane."""
    text = "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,2.,1.,0.\nGRID,4,,0.,1.,0.\n"
    return text + f"CQUAD4,1,1,1,2,3,4{element}\n{section}SPC1,1,123,1\nSPC1,1,23,2\nSPC1,1,3,3,4\n"


PULL = "FORCE,2,2,,5.,1.,0.,0.\nFORCE,2,3,,5.,1.,0.,0.\nFORCE,2,1,,-5.,1.,0.,0.\nFORCE,2,4,,-5.,1.,0.,0.\n"
PUSH = "FORCE,2,17,,.5,0.,0.,1.\nFORCE,2,18,,.5,0.,0.,1.\n"
MAT8 = "MAT8,2,4000.,500.,.3,300.,,,,+\n+,0.,0.\n"


def plane(e1: float = 4000.0, e2: float = 500.0, nu: float = 0.3, g: float = 300.0) -> np.ndarray:
    """Return the plane stiffness (3, 3) of an orthotropic material along its axes."""
    return np.linalg.inv([[1 / e1, -nu / e1, 0], [-nu / e1, 1 / e2, 0], [0, 0, 1 / g]])


def turned(Q: np.ndarray, degrees: float) -> np.ndarray:
    """Return a plane stiffness in axes from which that of the material is turned by an angle."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    T = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])
    return T.T @ Q @ T


def strains(found: dict) -> np.ndarray:
    """Return strains xx, yy, xy of the plate."""
    u = found["DISPLACEMENT"]
    du = (u[2] - u[1]) / 2
    dv = u[4] - u[1]
    return np.array([du[0], dv[1], du[1] + dv[0]])


# --- PSHELL ----------------------------------------------------------------------------------------------------------
def test_bending_stiffness_of_a_sandwich(tables):
    """12 I/T^3 multiplies the bending stiffness alone."""
    section = f"MAT1,1,1000.,,0.\nPSHELL,1,1,{H},1,7.5\n"
    u = tables(strip(section) + PUSH)["DISPLACEMENT"][17]
    close(u[2], LENGTH**3 / (3 * 1000 * 7.5 * WIDTH * H**3 / 12), rtol=1e-5)
    close(tables(plate(section) + PULL)["DISPLACEMENT"][3][0], 10 * 2 / (1000 * H))


@pytest.mark.parametrize("angle", [0.0, 90.0, 30.0])
def test_an_orthotropic_material_of_a_shell(tables, angle):
    section = MAT8 + f"PSHELL,1,2,{H},2\n"
    found = strains(tables(plate(section, f",{angle}") + PULL))
    close(found, np.linalg.solve(turned(plane(), angle), [10 / H, 0, 0]), rtol=1e-6)


def test_an_anisotropic_material_of_a_shell(tables):
    """MAT2 with all its constants; its axis is turned by the system that THETA names."""
    G = np.array([[900.0, 200.0, 90.0], [200.0, 700.0, -50.0], [90.0, -50.0, 300.0]])
    section = f"MAT2,2,900.,200.,90.,700.,-50.,300.\nPSHELL,1,2,{H},2\nCORD2R,5,,0.,0.,0.,0.,0.,1.,+\n+,3.,4.,0.\n"
    found = strains(tables(plate(section, ",5") + PULL))
    close(found, np.linalg.solve(turned(G, np.rad2deg(np.arctan2(4, 3))), [10 / H, 0, 0]), rtol=1e-6)


def test_transverse_shear_of_another_material(tables):
    """MID3: none, a MAT1, the moduli of a MAT8 and those of a MAT2."""
    bending = LENGTH**3 / (3 * 4000 * WIDTH * H**3 / 12)
    for mid3, more, G in (
        ("", "", np.inf),
        ("3", "MAT1,3,30.,.01\n", 0.01),
        ("3", "MAT1,3,30.,.02\nMAT1,2,4000.,,0.\n", 0.02),
        ("3", "MAT8,3,1.,1.,0.,1.,.02,.03\n", 0.02),
        ("3", "MAT2,3,.04,0.,0.,.05\n", 0.04),
    ):
        section = ("" if "MAT1,2" in more else MAT8.replace(",.3,", ",0.,")) + more + f"PSHELL,1,2,{H},2,,{mid3}\n"
        u = tables(strip(section) + PUSH)["DISPLACEMENT"][17][2]
        close(u, bending + LENGTH / (0.833333 * G * WIDTH * H), rtol=1e-5)


@pytest.mark.parametrize(("mid1", "mid3"), [("1", ""), ("1", "1"), ("1", "2"), ("4", "2")])
def test_another_material_of_bending(tables, mid1, mid3):
    """MID2: the membrane has E of MID1, bending that of MID2; stresses are in balance with forces and moments."""
    section = f"MAT1,1,1000.,,0.\nMAT1,2,300.,,0.\nMAT2,4,1000.,0.,0.,700.,0.,200.\nPSHELL,1,{mid1},{H},2,2.,{mid3}\n"
    both = PUSH + "FORCE,2,17,,.5,3.,0.,0.\nFORCE,2,18,,.5,3.,0.,0.\n"
    found = tables(strip(section) + both, "LOAD = 2\nSTRESS = ALL\n")
    u, G = found["DISPLACEMENT"][17], {"": np.inf, "1": 500.0, "2": 150.0}[mid3]
    close(u[0], 3.0 * LENGTH / (1000 * WIDTH * H), rtol=1e-6)
    bending = LENGTH**3 / (3 * 300 * 2.0 * WIDTH * H**3 / 12)
    close(u[2], bending + LENGTH / (5 / 6 * G * WIDTH * H), rtol=2e-5)
    row = found["STRESS CQUAD4"][4]
    middle = (4 - 0.5) * LENGTH / N
    outer = (LENGTH - middle) * 0.5 * H / (2.0 * WIDTH * H**3 / 12)  # 12 I/T^3 = 2
    top, bottom = (3.0 / (WIDTH * H) + side * outer for side in (-1.0, 1.0))
    close([row[1], row[9]], [bottom, top], rtol=1e-5)


def test_an_orthotropic_material_of_bending(tables):
    """MID2 a MAT8 along the strip: E1 bends it."""
    section = MAT8.replace(",.3,", ",0.,") + f"MAT1,1,1000.,,0.\nPSHELL,1,1,{H},2\n"
    u = tables(strip(section, ",90.") + PUSH)["DISPLACEMENT"][17]
    close(u[2], LENGTH**3 / (3 * 500 * WIDTH * H**3 / 12), rtol=1e-5)
    u = tables(strip(section) + PUSH)["DISPLACEMENT"][17]
    close(u[2], LENGTH**3 / (3 * 4000 * WIDTH * H**3 / 12), rtol=1e-5)


# --- laminates -------------------------------------------------------------------------------------------------------
LAMINATE = "PCOMP,1,,,,,{tref},,,+\n+,2,.03,20.,,2,.07,-50.\n"


def section_matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B, D of the laminate."""
    z = np.array([-0.05, -0.02, 0.05])
    Q = [turned(plane(), 20.0), turned(plane(), -50.0)]
    return tuple(sum(q * (b**k - a**k) / k for q, a, b in zip(Q, z[:-1], z[1:], strict=True)) for k in (1, 2, 3))


def test_global_plies_are_the_plies(tables):
    A, B, D = section_matrices()
    expected = np.linalg.solve(np.block([[A, B], [B, D]]), [10, 0, 0, 0, 0, 0])[:3]
    by_plies = LAMINATE.format(tref="0.")
    by_numbers = "PCOMPG,1,,,,,0.,,,+\n+,11,2,.03,20.,,,,,+\n+,12,2,.07,-50.\n"
    for text in (by_plies, by_numbers):
        free = plate(MAT8 + text).replace("SPC1,1,3,3,4\n", "SPC1,1,3,4\n")  # it warps
        close(strains(tables(free + PULL)), expected, rtol=1e-5)


def test_nonstructural_mass_of_a_laminate(tables):
    heavy = MAT8.replace("300.,,,,", "300.,,,6.,") + LAMINATE.replace("PCOMP,1,,", "PCOMP,1,,.4").format(tref="0.")
    found = tables(plate(heavy) + "GRAV,2,,10.,0.,0.,-1.\n")["SPCFORCES"]
    close(sum(found.values())[2], (6 * H + 0.4) * 2 * 10)


def test_very_stiff_transverse_shear_leaves_the_plane_as_it_is(tables):
    """AUTOSPC looks at each grid point's own stiffness: the moduli across must not dwarf the rest."""
    stiff = MAT8.replace("300.,,,,", "300.,1.+15,1.+15,,")
    for section in (f"PCOMP,1,,,,,0.,,,+\n+,2,{H},0.\n", f"PSHELL,1,2,{H},2,,2\n"):
        close(strains(tables(plate(stiff + section) + PULL))[0], 10 / H / 4000, rtol=1e-6)


# --- temperatures ----------------------------------------------------------------------------------------------------
HEAT = "TEMPERATURE(LOAD) = 3\n"


def test_temperature_of_a_shell(tables):
    section = f"MAT1,1,1000.,,.3,,2.-3,15.\nPSHELL,1,1,{H},1,,1\nTEMPD,3,55.\n"
    close(strains(tables(plate(section), HEAT)), np.array([1, 1, 0]) * 2e-3 * 40)
    clamped = section + "SPC1,1,1,2,3,4\nSPC1,1,2,3,4\n"
    force = tables(plate(clamped), HEAT)["SPCFORCES"]
    close(force[2][0] + force[3][0], -1000 / 0.7 * 2e-3 * 40 * H)


def test_temperature_of_a_laminate(tables):
    """Its own reference temperature counts, not that of the material; the free plate warps."""
    material = MAT8.replace("+,0.,0.", "+,1.-3,4.-3,99.")
    A, B, D = section_matrices()
    z = np.array([-0.05, -0.02, 0.05])
    forces = np.zeros(6)
    for angle, a, b in ((20.0, z[0], z[1]), (-50.0, z[1], z[2])):
        c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        alpha = np.array([1e-3 * c * c + 4e-3 * s * s, 1e-3 * s * s + 4e-3 * c * c, 2 * c * s * (1e-3 - 4e-3)])
        flow = turned(plane(), angle) @ alpha * 30
        forces += np.concatenate((flow * (b - a), flow * (b * b - a * a) / 2))
    expected = np.linalg.solve(np.block([[A, B], [B, D]]), forces)[:3]
    bulk = plate(material + LAMINATE.format(tref="20.") + "TEMP,3,1,50.,2,50.,3,50.\nTEMP,3,4,50.\n")
    close(strains(tables(bulk.replace("SPC1,1,3,3,4\n", "SPC1,1,3,4\n"), HEAT)), expected, rtol=1e-5)


# --- errors ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("section", "message"),
    [
        (f"MAT1,1,1000.,,0.\nPSHELL,1,1,{H},-1\n", "of plane strain \\(MID2 = -1\\) is not supported"),
        (f"MAT1,1,1000.,,0.\nPSHELL,1,1,{H},3\n", "3"),
        (f"MAT1,1,1000.,,0.\nPSHELL,1,1,{H},1,-2.\n", "12I/T\\*\\*3 = -2 is not positive"),
        (f"MAT2,2,1.,2.,0.,1.,0.,1.\nPSHELL,1,2,{H},2\n", "MAT2 2: its stiffness is not positive definite"),
        (MAT8 + f"MAT2,3,1.,2.,0.,1.\nPSHELL,1,2,{H},2,,3\n", "its transverse shear stiffness is not positive"),
        (MAT8 + "PCOMPG,1,,,,,0.,,,+\n+,11,2,,20.\n", "ply 1 needs a material and a thickness"),
    ],
)  # fmt: skip
def test_wrong_sections(deck, section, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(plate(section) + PULL))
    assert "deck.bdf, line" in str(caught.value)
