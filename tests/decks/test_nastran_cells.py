"""Shells and solids of Nastran decks, and their grid points on edges, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from nastran_decks import BAR, CASE, HELD, NU, STEEL, E, G, L, close
from scipy.linalg import eigh

# --- shells ----------------------------------------------------------------------------------------------------------
PLATE = STEEL + (
    "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,2.,1.,0.\nGRID,4,,0.,1.,0.\nCQUAD4,1,1,1,2,3,4\nPSHELL,1,1,.1,1,,1\n"
)


def _strip(n: int, section: str = "PSHELL,1,1,.1,1,,1\n", element: str = "") -> str:
    """A cantilever of n shells along x, 4 long and 1 wide, clamped at x = 0."""
    text = STEEL
    for i in range(n + 1):
        text += f"GRID,{2 * i + 1},,{4 * i / n},0.,0.\nGRID,{2 * i + 2},,{4 * i / n},1.,0.\n"
    for i in range(n):
        text += f"CQUAD4,{i + 1},1,{2 * i + 1},{2 * i + 3},{2 * i + 4},{2 * i + 2}{element}\n"
    return text + section + "SPC1,1,123456,1,2\n"


def test_shell_in_tension_and_its_pressure(tables):
    held = "SPC1,1,1,1,4\nSPC1,1,2,1,2\nSPC1,1,3,1,2,3\n"
    found = tables(PLATE + held + "FORCE,2,2,,5.,1.,0.,0.\nFORCE,2,3,,5.,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][3][:2], [10 * 2 / (E * 0.1), -NU * 10 / (E * 0.1)])
    for load in ("PLOAD2,2,3.,1", "PLOAD4,2,1,3.", "PLOAD,2,3.,1,2,3,4", "PLOAD4,2,1,3.,,,,,,+\n+,,0.,0.,2."):
        found = tables(PLATE + "SPC1,1,123456,1,4\n" + load + "\n")[0]
        close(found["SPCFORCES"][1][2] + found["SPCFORCES"][4][2], -3 * 2)


def test_membrane_has_no_rotations(tables):
    """PSHELL without MID2 is a membrane: it stretches like a shell, and AUTOSPC holds the displacements across it."""
    held = "SPC1,1,1,1,4\nSPC1,1,2,1,2\n"
    flat = PLATE.replace(",.1,1,,1\n", ",.1\n")
    found = tables(flat + held + "FORCE,2,2,,5.,1.,0.,0.\nFORCE,2,3,,5.,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][3], [10 * 2 / (E * 0.1), -NU * 10 / (E * 0.1), 0, 0, 0, 0], atol=1e-12)


def test_thicknesses_of_the_corners(tables):
    """A strip whose thickness falls from .2 to .1: stretch P/E times the integral of 1/h."""
    n = 8
    text = _strip(n).replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{E / 2},0.")
    for i in range(n):
        a, b = (0.2 - 0.1 * (i + k) / n for k in (0, 1))
        card = f"CQUAD4,{i + 1},1,{2 * i + 1},{2 * i + 3},{2 * i + 4},{2 * i + 2}"
        text = text.replace(card + "\n", f"{card},,,+\n+,,,{a},{b},{b},{a}\n")
    found = tables(text + "FORCE,2,17,,.5,1.,0.,0.\nFORCE,2,18,,.5,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][17][0], 4 / E * np.log(2) / 0.1, rtol=2e-3)


def test_shell_strip_bends_like_a_beam(tables):
    """Without Poisson's effect a strip is a beam with shear: PL^3/3EI + PL/(5/6 GA)."""
    text = _strip(32).replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{E / 2},0.")
    found = tables(text + "FORCE,2,65,,.5,0.,0.,1.\nFORCE,2,66,,.5,0.,0.,1.\n")[0]
    close(found["DISPLACEMENT"][65][2], 4**3 / (3 * E * 0.1**3 / 12) + 4 / (5 / 6 * E / 2 * 0.1), rtol=1e-3)


@pytest.mark.parametrize("cell", ["CQUAD8", "CTRIA6"])
def test_shells_with_grid_points_on_their_sides(tables, cell):
    """A strip of 4 x 1 is a beam: P L^3/3EI + PL/(5/6 GA) by a force, q L^4/8EI + q L^2/(2 5/6 GA) by a pressure."""
    n = {(i, j): 1 + 3 * i + j for i in range(9) for j in range(3)}
    text = STEEL.replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{E / 2},0.")
    text += "".join(f"GRID,{k},,{i / 2},{j / 2},0.\n" for (i, j), k in n.items())
    quads = [((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))]
    halves = [((0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 1)), ((0, 0), (2, 2), (0, 2), (1, 1), (1, 2), (0, 1))]
    cells = [[n[2 * e + i, j] for i, j in c] for e in range(4) for c in (quads if cell == "CQUAD8" else halves)]
    for k, c in enumerate(cells, 1):
        first, rest = ",".join(map(str, c[:6])), ",".join(map(str, c[6:]))
        text += f"{cell},{k},1,{first}" + (f",+\n+,{rest}\n" if rest else "\n")
    text += "PSHELL,1,1,.1,1,,1\nSPC1,1,123456,1,2,3\n"
    bending, shear = E * 0.1**3 / 12, 5 / 6 * E / 2 * 0.1
    rtol = 3e-3 if cell == "CQUAD8" else 1e-2  # 4 x 1 x 2 triangles are 0.6 % too soft
    found = tables(text + "FORCE,2,25,,.5,0.,0.,1.\nFORCE,2,27,,.5,0.,0.,1.\n")[0]
    close(found["DISPLACEMENT"][26][2], 4**3 / (3 * bending) + 4 / shear, rtol=rtol)
    for load in (f"PLOAD2,2,1.,1,THRU,{len(cells)}\n", f"PLOAD4,2,1,1.,,,,THRU,{len(cells)}\n"):
        found = tables(text + load)[0]
        close(found["DISPLACEMENT"][26][2], 4**4 / (8 * bending) + 16 / (2 * shear), rtol=rtol)


# --- mid-side grid points that are blank ------------------------------------------------------------------------------
def _edge_of_means(number: int, a: int, b: int, components: str) -> str:
    """Equations: the displacements of a grid point are the means of two others."""
    return "".join(f"MPC,3,{number},{c},1.,{a},{c},-.5,+\n+,,{b},{c},-.5\n" for c in components)


def test_a_blank_point_of_a_solid(tables):
    """The result is that of a deck with the point, tied by equations to the corners of its edge."""
    corners = [(0.0, 0, 0), (2, 0.1, 0), (2.2, 1, 0.1), (0, 1.2, 0), (0, 0, 1), (2, 0, 1.1), (2, 1, 1.2), (0.1, 1, 1)]
    edges = [
        *((k, (k + 1) % 4) for k in range(4)),
        *((k, k + 4) for k in range(4)),
        *((4 + k, 4 + (k + 1) % 4) for k in range(4)),
    ]
    points = np.array([*corners, *((np.array(corners[a]) + corners[b]) / 2 for a, b in edges)])
    grids = [f"GRID,{k},,{x[0]!r},{x[1]!r},{x[2]!r}\n" for k, x in enumerate(points.tolist(), 1)]
    text = STEEL + "PSOLID,1,1,0,,,FULL\nSPC1,1,123,1,4,5,8\nFORCE,2,7,,1.,1.,2.,3.\nFORCE,2,11,,1.,0.,2.,0.\n"
    first = "CHEXA,1,1,1,2,3,4,5,6,+\n+,7,8,9,10,11,12,13,{},+\n+,15,16,17,18,19,20\n"
    whole = tables(text + "".join(grids) + first.format(14) + _edge_of_means(14, 2, 6, "123"), CASE + "MPC = 3\n")[0]
    blank = tables(text + "".join(grids[:13] + grids[14:]) + first.format(""))[0]
    assert sorted(blank["DISPLACEMENT"]) == [k for k in range(1, 21) if k != 14]
    for k, row in blank["DISPLACEMENT"].items():
        close(row, whole["DISPLACEMENT"][k], rtol=1e-9, atol=1e-12)


def test_blank_points_of_shells(tables):
    """Two shells, one turned, share an edge without its point; displacement axes of a corner are turned."""
    text = STEEL + "PSHELL,1,1,.1,1,,1\nCORD2R,7,,0.,0.,0.,1.,1.,3.,+\n+,1.,0.,-1.\nSPC1,1,123456,1,8,6\n"
    places = {
        1: (0, 0),
        2: (1, 0),
        3: (1.1, 1),
        4: (2, 0),
        5: (2.1, 1),
        6: (0, 1),
        7: (0.5, 0),
        8: (0, 0.5),
        9: (0.55, 1),
        10: (1.5, 0),
        11: (2.05, 0.5),
        12: (1.6, 1),
    }
    text += "".join(f"GRID,{k},,{x},{y},0.,{7 if k == 3 else ''}\n" for k, (x, y) in places.items())
    load = "FORCE,2,4,,1.,1.,2.,3.\nMOMENT,2,5,,1.,.1,.2,0.\nPLOAD4,2,1,.7\n"
    cells = "CQUAD8,1,1,1,2,3,6,7,{0},+\n+,9,8\nCQUAD8,2,1,2,4,5,3,10,11,+\n+,12,{0}\n"
    blank = tables(text + load + cells.format(""))[0]
    # the mean of turned components: equations in the axes of the deck
    z = np.array([1.0, 1.0, 3.0]) / np.sqrt(11.0)
    y = np.cross(z, [1.0, 0.0, -1.0])
    y /= np.linalg.norm(y)
    axes = np.array([np.cross(y, z), y, z])
    equations = ""
    for c in range(6):
        part = 3 * (c // 3)
        terms = [(13, c + 1, 1.0), (2, c + 1, -0.5)]
        terms += [(3, part + k + 1, -0.5 * float(axes[k, c - part])) for k in range(3)]
        fields = [f"{g},{k},{a!r}" for g, k, a in terms]
        equations += f"MPC,3,{fields[0]},{fields[1]},+\n+,,{fields[2]},{fields[3]},+\n+,,{fields[4]}\n"
    whole = tables(text + "GRID,13,,1.05,.5,0.\n" + load + cells.format(13) + equations, CASE + "MPC = 3\n")[0]
    for k, row in blank["DISPLACEMENT"].items():
        close(row, whole["DISPLACEMENT"][k], rtol=1e-8, atol=1e-10)


def test_coupled_masses_of_rods(tables):
    """5/12 and 1/12 of the mass along a rod, half of it at each end across: two rods in a line, with springs across."""
    m = 0.3 * 0.5 * 2.0
    text = f"MAT1,1,{E},{G},{NU},.3\nGRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,4.,0.,0.\n"
    text += "CROD,1,1,1,2\nCONROD,2,2,3,1,.4,,,.03\n"
    text += "PROD,1,1,.5\nSPC1,1,123456,1\nSPC1,1,3,2,3\nCELAS2,5,7.,2,2\nCELAS2,6,9.,3,2\nEIGRL,4,,,4\n"
    found = tables(text + "PARAM,COUPMASS,1\n", "SPC = 1\nMETHOD = 4\n", 103)[0]["EIGENVALUES"]
    k, j = E * 0.5 / 2.0, E * 0.4 / 2.0
    along = [[5 * (m + m), m], [m, 5 * m]]
    axial = eigh([[k + j, -j], [-j, j]], np.array(along) / 12.0, eigvals_only=True)
    close([row[0] for row in found.values()], sorted([7 / m, 9 / (m / 2), *axial]), rtol=1e-9)
    load = "GRAV,2,,9.,1.,0.,0.\n"
    weight = tables(text + load + "PARAM,COUPMASS,1\n")[0]["SPCFORCES"]
    close(weight[1][0], -2 * m * 9)


def test_without_autospc_masses_move_freely_in_dynamics(tables):
    """A rod with a mass at its end: two directions without stiffness have the frequency zero."""
    text = (
        STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCONROD,1,1,2,1,.5\nSPC1,1,123456,1\nCONM2,9,2,,.7\nEIGRL,4,,,3\n"
    )
    found = tables(text + "PARAM,AUTOSPC,NO\n", "SPC = 1\nMETHOD = 4\n", 103)[0]["EIGENVALUES"]
    close([row[0] for row in found.values()], [0, 0, E * 0.5 / L / 0.7], atol=1e-6)


def test_shell_offset(tables):
    """Pulled at its grid points, a strip .3 above them bends as by the moment of the arm."""
    text = _strip(8, element=",,.3").replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{E / 2},0.")
    found = tables(text + "FORCE,2,17,,.5,1.,0.,0.\nFORCE,2,18,,.5,1.,0.,0.\n")[0]
    # the moment about y of a pull below the middle plane
    close(found["DISPLACEMENT"][17][4], -0.3 * 4 / (E * 0.1**3 / 12), rtol=1e-6)


def test_laminate_couples_stretch_and_bending(tables):
    """Two plies of E and 2 E: closed form of the unsymmetric section of a strip without Poisson's effect."""
    plies = "PCOMP,1,,,,,,,,+\n+,1,.1,0.,,2,.1,0.\nMAT8,2,2000.,2000.,0.,1000.,1000.,1000.\n"
    text = _strip(8, plies).replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{E / 2},0.")
    found = tables(text + "FORCE,2,17,,.5,1.,0.,0.\nFORCE,2,18,,.5,1.,0.,0.\n")[0]
    A, B = 0.1 * E + 0.1 * 2 * E, 0.05 * 0.1 * (2 * E - E)
    D = 3 * E * 0.1 * (0.05**2 + 0.1**2 / 12)
    strain, curvature = np.linalg.solve([[A, B], [B, D]], [1, 0])
    close(found["DISPLACEMENT"][17][0], 4 * strain, rtol=1e-6)
    close(abs(found["DISPLACEMENT"][17][4]), abs(4 * curvature), rtol=1e-6)


def test_angle_of_a_ply(tables):
    """A strip of one orthotropic ply at 90 degrees has the modulus across the fibres."""
    plies = "PCOMP,1,,,,,,,,+\n+,2,.1,90.\nMAT8,2,4000.,500.,0.,300.,300.,300.\n"
    found = tables(_strip(2, plies) + "FORCE,2,5,,.5,1.,0.,0.\nFORCE,2,6,,.5,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][5][0], 4 / (500 * 0.1))
    turned = _strip(2, plies.replace("90.", "0."), element=",90.")
    again = tables(turned + "FORCE,2,5,,.5,1.,0.,0.\nFORCE,2,6,,.5,1.,0.,0.\n")[0]
    close(again["DISPLACEMENT"][5][0], 4 / (500 * 0.1))


def test_nonstructural_mass_of_shells(tables):
    heavy = PLATE.replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{G},{NU},6.").replace(",.1,1,,1\n", ",.1,1,,1,,.4\n")
    found = tables(heavy + "SPC1,1,123456,1,4\nGRAV,2,,10.,0.,0.,-1.\n")[0]
    total = sum(found["SPCFORCES"].values())
    close(total[2], (6 * 0.1 + 0.4) * 2 * 10 / 2 + (6 * 0.1 + 0.4) * 2 * 10 / 2)


def test_tapered_beam(tables):
    """A pull on a bar whose area falls linearly from .5 to .25: P L/E times the mean of 1/A."""
    station = "PBEAM,1,1,.5,.02,.03,0.,.04,,+\n+,0.,0.\n,YES,1.,.25,.01,.015,0.,.02,0.,+\n+,0.,0.\n"
    found = tables(BAR.replace("CBAR", "CBEAM") + station + HELD + "FORCE,2,2,,5.,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2][0], 5 * L / E * np.log(2) / 0.25)
