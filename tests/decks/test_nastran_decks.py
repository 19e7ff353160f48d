"""What Nastran's entries mean: tiny decks against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from places import SHARED_DECKS
from scipy.linalg import eigh

from fem_mbs.decks.formats import DECK_FORMATS
from fem_mbs.decks.nastran import control
from fem_mbs.decks.nastran.results.compare import compare_deck
from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import MeshError, ModelError, UnsupportedError
from fem_mbs.meshes.nastran.reader import read_bulk
from fem_mbs.meshes.vocabulary import Effect

CASE = "SPC = 1\nLOAD = 2\nDISPLACEMENT = ALL\nSPCFORCES = ALL\nFORCE = ALL\n"
E, G, NU = 1000.0, 400.0, 0.25
STEEL = f"MAT1,1,{E},{G},{NU}\n"
#: A bar of length 2 along x: A = .5, I1 = .02 (bending in x-y), I2 = .03, J = .04.
BAR = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCBAR,1,1,1,2,0.,1.,0.\n"
PBAR = "PBAR,1,1,.5,.02,.03,.04\n"
HELD = "SPC1,1,123456,1\n"
L = 2.0
CUBE = STEEL + (
    "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\nGRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\n"
    "GRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\nCHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\nPSOLID,1,1,0,,,FULL\n"
)


@pytest.fixture
def deck(tmp_path):
    """Reads a deck."""

    def read(bulk: str, case: str = CASE, sol: int = 101):
        path = tmp_path / "deck.bdf"
        path.write_text(f"SOL {sol}\nCEND\n{case}BEGIN BULK\n{bulk}ENDDATA\n")
        return read_bulk(path)

    return read


@pytest.fixture
def tables(deck):
    """Solves a deck: a list, per step, of tables quantity -> {number: row}; of beams {number: rows}."""

    def solve(bulk: str, case: str = CASE, sol: int = 101, accept: Accept = Accept.NORMAL):
        _, solution = solve_deck(deck(bulk, case, sol), accept=accept)
        out = []
        for step in solution.report.steps:
            found: dict[str, dict] = {}
            for t in step.prints or ():
                name = t.quantity + (f" {t.mode}" if t.mode else "")
                rows = found.setdefault(name, {})
                for id_, row in zip(t.ids, t.values, strict=True):
                    rows[id_] = np.array(row) if t.points is None else [*rows.get(id_, []), np.array(row)]
            out.append(found)
        return out

    return solve


def close(a, b, rtol=1e-8, atol=1e-10):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


# --- bars ------------------------------------------------------------------------------------------------------------
def test_bar_without_shear(tables):
    found = tables(BAR + PBAR + HELD + "FORCE,2,2,,1.,5.,6.,7.\nMOMENT,2,2,,1.,8.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2][:3], [5 * L / (E * 0.5), 6 * L**3 / (3 * E * 0.02), 7 * L**3 / (3 * E * 0.03)])
    close(found["DISPLACEMENT"][2][3:], [8 * L / (G * 0.04), -7 * L**2 / (2 * E * 0.03), 6 * L**2 / (2 * E * 0.02)])
    close(found["SPCFORCES"][1], [-5, -6, -7, -8, 14, -12])
    # moments of end A and B in planes 1 and 2, shear, axial force, torque
    close(found["CBAR"][1], [12, 14, 0, 0, 6, 7, 5, 8], atol=1e-8)


def test_bar_with_shear_factors(tables):
    section = "PBAR,1,1,.5,.02,.03,.04,,,\n" + ",,,,,,,,,\n".replace(",,,,,,,,,\n", ",0.,0.\n,.8,.6\n")
    found = tables(BAR + section + HELD + "FORCE,2,2,,1.,0.,6.,7.\n")[0]
    close(found["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.02) + 6 * L / (0.8 * G * 0.5))
    close(found["DISPLACEMENT"][2][2], 7 * L**3 / (3 * E * 0.03) + 7 * L / (0.6 * G * 0.5))


def test_bar_with_product_of_inertia(tables):
    found = tables(BAR + "PBAR,1,1,.5,.02,.03,.04\n,0.,0.\n,,,.01\n" + HELD + "FORCE,2,2,,1.,0.,6.,0.\n")[0]
    v, w = np.linalg.solve(3 * E / L**3 * np.array([[0.02, 0.01], [0.01, 0.03]]), [6, 0])
    close(found["DISPLACEMENT"][2][1:3], [v, w])


def test_shapes_of_sections(tables):
    for shape, sizes, inertia in (
        ("BAR", ".2,.3", 0.2 * 0.3**3 / 12),
        ("ROD", ".1", np.pi * 0.1**4 / 4),
        ("TUBE", ".2,.1", np.pi * (0.2**4 - 0.1**4) / 4),
        ("TUBE2", ".2,.1", np.pi * (0.2**4 - 0.1**4) / 4),
        ("BOX", ".2,.3,.03,.02", (0.2 * 0.3**3 - 0.16 * 0.24**3) / 12),
        ("I", ".3,.2,.2,.02,.03,.03", (0.2 * 0.3**3 - 0.18 * 0.24**3) / 12),
    ):
        found = tables(BAR + f"PBARL,1,1,,{shape}\n,{sizes}\n" + HELD + "MOMENT,2,2,,1.,0.,0.,1.\n")[0]
        close(found["DISPLACEMENT"][2][1], L**2 / (2 * E * inertia))


def test_bar_with_offsets(tables):
    """A line .3 above its grid points: a pull at the end bends it, by the moment of the arm."""
    bar = BAR.replace("CBAR,1,1,1,2,0.,1.,0.", "CBAR,1,1,1,2,0.,1.,0.,,+\n+,,,0.,.3,0.,0.,.3,0.")
    found = tables(bar + PBAR + HELD + "FORCE,2,2,,1.,5.,0.,0.\n")[0]
    turn = 5 * 0.3 * L / (E * 0.02)
    close(found["DISPLACEMENT"][2][5], turn)
    close(found["DISPLACEMENT"][2][1], turn * L / 2)
    close(found["DISPLACEMENT"][2][0], 5 * L / (E * 0.5) + turn * 0.3)
    close(found["CBAR"][1][[0, 2, 6]], [1.5, 1.5, 5], atol=1e-8)


def test_offsets_of_one_end(tables):
    """A bar whose ends are brought to (0, 0) and (2, 1) by an offset: as between grid points there."""
    bar = BAR.replace("CBAR,1,1,1,2,0.,1.,0.", "CBAR,1,1,1,2,0.,1.,0.,,+\n+,,,0.,0.,0.,0.,1.,0.")
    found = tables(bar + PBAR + HELD + "FORCE,2,2,,1.,5.,0.,0.\n")[0]
    plain = BAR.replace("GRID,2,,2.,0.,0.", "GRID,2,,2.,1.,0.\nGRID,3,,2.,0.,0.\nRBE2,9,2,123456,3")
    other = tables(plain + PBAR + HELD + "FORCE,2,3,,1.,5.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2], other["DISPLACEMENT"][3])
    close(found["CBAR"][1], other["CBAR"][1], atol=1e-8)


def test_pin_flags(tables):
    """Two bars between clamped points, pinned there: a simply supported beam."""
    text = STEEL + PBAR + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,4.,0.,0.\nSPC1,1,123456,1,3\n"
    text += "CBAR,1,1,1,2,0.,1.,0.,,+\n+,56\nCBAR,2,1,2,3,0.,1.,0.,,+\n+,,56\nFORCE,2,2,,1.,0.,6.,7.\n"
    found = tables(text)[0]
    close(found["DISPLACEMENT"][2][1:3], [6 * 4**3 / (48 * E * 0.02), 7 * 4**3 / (48 * E * 0.03)])
    close(found["SPCFORCES"][1], [0, -3, -3.5, 0, 0, 0], atol=1e-8)
    close(found["CBAR"][1][:4], [0, 0, -6, -7], atol=1e-7)


TWO_BARS = (
    STEEL + PBAR + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,4.,0.,0.\nSPC1,1,123456,1,3\nCBAR,1,1,1,2,0.,1.,0.\n"
)


def test_pin_flags_of_forces(tables):
    """The second bar takes neither axial nor shear force in plane 1 of its end A, but its moment."""
    text = TWO_BARS + "CBAR,2,1,2,3,0.,1.,0.,,+\n+,12\n"
    found = tables(text + "FORCE,2,2,,1.,5.,6.,0.\n")[0]
    EI = E * 0.02
    v, turn = np.linalg.solve([[12 * EI / L**3, -6 * EI / L**2], [-6 * EI / L**2, 5 * EI / L]], [6, 0])
    close(found["DISPLACEMENT"][2][[0, 1, 5]], [5 * L / (E * 0.5), v, turn])
    # constant moment -EI turn/L of a bar whose end A slides
    close(found["CBAR"][2], [-EI * turn / L, 0, -EI * turn / L, 0, 0, 0, 0, 0], atol=1e-8)


def test_pin_flags_of_forces_at_an_offset(tables):
    """An axial slide .3 above the grid points passes on no moment."""
    text = TWO_BARS + "CBAR,2,1,2,3,0.,1.,0.,,+\n+,1,,0.,.3,0.,0.,.3,0.\n"
    found = tables(text + "FORCE,2,2,,1.,5.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2][[0, 1, 5]], [5 * L / (E * 0.5), 0, 0])
    close(found["CBAR"][2], np.zeros(8), atol=1e-8)


def test_weight_of_a_bar_that_slides_stays_at_its_grid_points(tables):
    text = TWO_BARS.replace(STEEL, f"MAT1,1,{E},{G},{NU},.7\n") + "CBAR,2,1,2,3,0.,1.,0.,,+\n+,1\nGRAV,2,,9.,1.,0.,0.\n"
    found = tables(text)[0]
    close(found["DISPLACEMENT"][2][0], 0.7 * 0.5 * L * 9 * L / (E * 0.5))


def test_loads_on_bars_with_pin_flags(tables):
    """A simply supported beam of two bars: 5 w L^4/384 E I by a line load, alpha g L^2/8 by a gradient."""
    text = (
        TWO_BARS.replace("CBAR,1,1,1,2,0.,1.,0.", "CBAR,1,1,1,2,0.,1.,0.,,+\n+,56")
        + "CBAR,2,1,2,3,0.,1.,0.,,+\n+,,56\n"
    )
    found = tables(text + "PLOAD1,2,1,FY,FR,0.,3.,1.,3.\nPLOAD1,2,2,FY,FR,0.,3.,1.,3.\n")[0]
    close(found["DISPLACEMENT"][2][1], 5 * 3 * 4**4 / (384 * E * 0.02))
    close(found["CBAR"][1][[0, 2]], [0, -3 * 4**2 / 8], atol=1e-7)
    text = (
        text.replace(STEEL, f"MAT1,1,{E},{G},{NU},,.001\n")
        + "TEMPRB,3,1,0.,0.,5.,5.\nTEMPRB,3,2,0.,0.,5.,5.\nTEMPD,3,0.\n"
    )
    found = tables(text, CASE.replace("LOAD = 2", "TEMPERATURE(LOAD) = 3"))[0]
    close(found["DISPLACEMENT"][2][1], 0.001 * 5 * 4**2 / 8)
    close(found["CBAR"][1], np.zeros(8), atol=1e-8)


@pytest.mark.parametrize("k", [None, 0.8])
def test_line_moments(tables, k):
    """Of m per length on a clamped bar: m L^3/3 E I and m L^2/2 E I, and m L^2/2 G J; shear moves nothing more."""
    section = PBAR if k is None else f"PBAR,1,1,.5,.02,.03,.04\n,0.\n,{k},{k}\n"
    found = tables(BAR + section + HELD + "PLOAD1,2,1,MZE,FR,0.,3.,1.,3.\n")[0]
    close(found["DISPLACEMENT"][2][[1, 5]], [3 * L**3 / (3 * E * 0.02), 3 * L**2 / (2 * E * 0.02)])
    close(found["SPCFORCES"][1], [0, 0, 0, 0, 0, -3 * L], atol=1e-8)
    found = tables(BAR + section + HELD + "PLOAD1,2,1,MX,FR,0.,3.,1.,3.\nPLOAD1,2,1,MY,LE,0.,2.,2.,2.\n")[0]
    close(
        found["DISPLACEMENT"][2][[2, 3, 4]],
        [-2 * L**3 / (3 * E * 0.03), 3 * L**2 / (2 * G * 0.04), 2 * L**2 / (2 * E * 0.03)],
    )


def test_tubes(tables):
    text = (
        STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCTUBE,1,4,1,2\nPTUBE,4,1,.5,.1\nSPC1,1,123456,1\nSPC1,1,2356,2\n"
    )
    found = tables(text + "FORCE,2,2,,5.,1.,0.,0.\nMOMENT,2,2,,3.,1.,0.,0.\n", CASE + "STRESS = ALL\n")[0]
    A, J = np.pi / 4 * (0.5**2 - 0.3**2), np.pi / 32 * (0.5**4 - 0.3**4)
    close(found["DISPLACEMENT"][2][[0, 3]], [5 * L / (E * A), 3 * L / (G * J)])
    close(found["STRESS CTUBE"][1], [5 / A, 3 * 0.25 / J])


def test_orientation_by_grid_point_and_default(tables):
    load = "FORCE,2,2,,1.,0.,6.,0.\n"
    by_point = BAR.replace("1,2,0.,1.,0.", "1,2,9,,,2") + "GRID,9,,1.,0.,5.\nSPC1,1,123456,9\n"
    default = BAR.replace("1,2,0.,1.,0.", "1,2") + "BAROR,,,,,0.,0.,1.\n"
    for text in (by_point, default):
        found = tables(text + PBAR + HELD + load)[0]
        close(found["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.03))


def test_orientation_in_displacement_axes(tables):
    """The vector of a bar stands along the displacement axes of its first grid point."""
    text = BAR.replace("GRID,1,,0.,0.,0.", "GRID,1,,0.,0.,0.,7") + "CORD2R,7,,0.,0.,0.,1.,0.,0.,+\n+,0.,1.,0.\n"
    # system 7: x is y, y is z, z is x; the vector (0, 1, 0) there is z
    found = tables(text + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\n")[0]
    close(found["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.03))


def test_beam_shears_by_default(tables):
    text = BAR.replace("CBAR", "CBEAM") + "PBEAM,1,1,.5,.02,.03,0.,.04\n" + HELD + "FORCE,2,2,,1.,0.,6.,0.\n"
    found = tables(text)[0]
    close(found["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.02) + 6 * L / (G * 0.5))
    first, second = found["CBEAM"][1]
    close(first, [12, 0, 6, 0, 0, 0], atol=1e-8)
    close(second, [0, 0, 6, 0, 0, 0], atol=1e-8)


def test_beam_with_neutral_axis_beside_the_line(tables):
    text = BAR.replace("CBAR", "CBEAM") + "PBEAM,1,1,.5,.02,.03,0.,.04,,+\n+,0.,0.\n,0.,0.\n,0.,0.,,,.3,0.,.3,0.\n"
    found = tables(text + HELD + "FORCE,2,2,,1.,5.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2][5], 5 * 0.3 * L / (E * 0.02))


def test_rod(tables):
    text = BAR.replace("CBAR,1,1,1,2,0.,1.,0.", "CROD,1,1,1,2") + "PROD,1,1,.5,.04\n" + HELD
    found = tables(text + "FORCE,2,2,,1.,5.,0.,0.\nMOMENT,2,2,,1.,8.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2], [5 * L / (E * 0.5), 0, 0, 8 * L / (G * 0.04), 0, 0], atol=1e-9)
    close(found["CROD"][1], [5, 8])
    conrod = BAR.replace("CBAR,1,1,1,2,0.,1.,0.", "CONROD,1,1,2,1,.5,.04")
    again = tables(conrod + HELD + "FORCE,2,2,,1.,5.,0.,0.\nMOMENT,2,2,,1.,8.,0.,0.\n")[0]
    close(again["CONROD"][1], [5, 8])


# --- coordinate systems ----------------------------------------------------------------------------------------------
CYLINDER = "CORD2C,5,,0.,0.,0.,0.,0.,1.,+\n+,1.,0.,0.\n"


def test_places_in_systems(deck):
    text = CYLINDER + "CORD2S,6,5,1.,90.,0.,1.,90.,1.,+\n+,2.,90.,0.\nGRID,1,5,2.,90.,3.\nGRID,2,6,2.,90.,0.\n"
    text += "GRID,3\nGRID,4,,1.\nCORD1R,8,3,1,4\nGRID,5,8,1.,0.,0.\n"
    x = convert(deck(text + STEEL + "CONROD,1,1,2,1,1.\nCONROD,2,1,5,1,1.\nCONROD,3,4,2,1,1.\n", "")).conversion.grids.x
    close(x[0], [0, 2, 3], atol=1e-12)
    close(x[1], [0, 3, 0], atol=1e-12)  # 1 along the radius at 90 degrees, then 2 further along y
    close(x[4], [1, 0, 0], atol=1e-12)  # z along grid point 1, x towards 4


def test_supports_and_results_along_displacement_axes(tables):
    """Radial rods at 30 degrees, held across by the tangential component."""
    text = CYLINDER + STEEL + "GRID,1,5,1.,30.,0.,5\nGRID,2,5,3.,30.,0.,5\nCONROD,1,1,2,1,.5\n"
    text += "SPC1,1,123,1\nSPC1,1,23,2\nFORCE,2,2,5,7.,1.,0.,0.\n"
    found = tables(text)[0]
    close(found["DISPLACEMENT"][2], [7 * 2 / (E * 0.5), 0, 0, 0, 0, 0], atol=1e-12)
    close(found["SPCFORCES"][1], [-7, 0, 0, 0, 0, 0], atol=1e-9)


def test_force_along_a_cylindrical_system(tables):
    """A radial force pulls along the radius of its grid point."""
    text = CYLINDER + STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,0.,2.,0.\nCONROD,1,1,2,1,.5\nSPC1,1,123,1\nSPC1,1,13,2\n"
    found = tables(text + "FORCE,2,2,5,7.,1.,0.,0.\n")[0]
    close(found["DISPLACEMENT"][2][:3], [0, 7 * 2 / (E * 0.5), 0], atol=1e-12)


# --- constraints -----------------------------------------------------------------------------------------------------
def test_rigid_lever(tables):
    """A bar with a lever of 1 across at its end: the force at its tip twists and bends."""
    lever = "GRID,3,,2.,0.,1.\nRBE2,9,2,123456,3\n"
    found = tables(BAR + PBAR + HELD + lever + "FORCE,2,3,,6.,0.,1.,0.\n")[0]
    u = found["DISPLACEMENT"]
    close(u[2][3], -6 * 1 * L / (G * 0.04))
    close(u[3], u[2] + np.array([0, -u[2][3], 0, 0, 0, 0]))
    close(found["SPCFORCES"][1], [0, -6, 0, 6, 0, -12], atol=1e-8)


def test_rigid_bar_is_the_same(tables):
    lever = "GRID,3,,2.,0.,1.\n"
    load = "FORCE,2,3,,6.,1.,1.,0.\n"
    a = tables(BAR + PBAR + HELD + lever + "RBE2,9,2,123456,3\n" + load)[0]
    b = tables(BAR + PBAR + HELD + lever + "RBAR,9,2,3,123456\n" + load)[0]
    close(a["DISPLACEMENT"][3], b["DISPLACEMENT"][3])


def test_rigid_element_of_some_components_along_turned_axes(tables):
    """A point follows along its own x only, which stands at 45 degrees."""
    turn = "CORD2R,7,,0.,0.,0.,0.,0.,1.,+\n+,1.,1.,0.\nGRID,3,,2.,0.,0.,7\nRBE2,9,2,1,3\n"
    springs = "CELAS2,8,1.,3,2\nCELAS2,7,1.,3,3\n"
    found = tables(BAR + PBAR + HELD + turn + springs + "FORCE,2,2,,1.,5.,6.,0.\n")[0]
    u = found["DISPLACEMENT"]
    close(u[3][0], (u[2][0] + u[2][1]) / np.sqrt(2))
    close(u[3][1:3], 0)


def test_weighted_mean_shares_a_load(tables):
    """A force at the reference of an RBE3 goes to springs by weight and lever, as its closed form says."""
    x, w = np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0, 2.0])
    text = "".join(f"GRID,{i},,{v},0.,0.\nCELAS2,{i},10.,{i},2\n" for i, v in enumerate(x, 1))
    text += "SPC1,1,13,1,2,3\nGRID,9,,2.,0.,0.\nSPC1,1,1345,9\nRBE3,8,,9,26,1.,2,1,2,+\n+,2.,2,3\n"
    found = tables(text + "FORCE,2,9,,8.,0.,1.,0.\n")[0]
    centre = w @ x / w.sum()
    share = 8 * w / w.sum() + 8 * (2 - centre) * w * (x - centre) / (w @ (x - centre) ** 2)
    close([found["DISPLACEMENT"][i][1] for i in (1, 2, 3)], share / 10)


def test_equations(tables):
    text = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,2.,1.,0.\nCONROD,1,1,2,1,.5\n"
    text += (
        "CONROD,2,3,4,1,.5\nSPC1,1,123,1,3\nSPC1,1,23,2,4\nMPC,3,4,1,1.,2,1,-2.\nMPCADD,5,3\nFORCE,2,2,,10.,1.,0.,0.\n"
    )
    found = tables(text, CASE + "MPC = 5\n")[0]
    u = found["DISPLACEMENT"]
    close(u[4][0], 2 * u[2][0])
    k = E * 0.5 / 2
    close(u[2][0], 10 / (k + 4 * k))


def test_enforced_displacements(tables):
    case = "SPC = 1\nDISPLACEMENT = ALL\nFORCE = ALL\nSPCFORCES = ALL\nSUBCASE 1\n LOAD = 3\nSUBCASE 2\n LOAD = 4\n"
    text = BAR + PBAR + HELD + "SPC1,1,1,2\nSPCD,3,2,1,.1\nSPCD,4,2,1,.3\n"
    first, second = tables(text, case)
    close([first["CBAR"][1][6], second["CBAR"][1][6]], [E * 0.5 / L * 0.1, E * 0.5 / L * 0.3])
    close(second["SPCFORCES"][2][0], E * 0.5 / L * 0.3)
    found = tables(BAR + PBAR + HELD + "SPC,1,2,2,.2\n", CASE.replace("LOAD = 2\n", ""))[0]
    close(found["DISPLACEMENT"][2][1], 0.2)
    close(found["SPCFORCES"][2][1], 3 * E * 0.02 / L**3 * 0.2)


def test_enforced_displacements_in_a_combination_are_refused(deck):
    """Programs differ: some scale the displacements of such sets, others leave them out."""
    text = BAR + PBAR + HELD + "SPC1,1,1,2\nLOAD,2,1.,2.,5,1.,6\nSPCD,5,2,1,.1\nFORCE,6,2,,1.,0.,6.,0.\n"
    with pytest.raises(UnsupportedError, match=r"deck.bdf, line \d+: LOAD 2 combines the set 5 of SPCD"):
        convert(deck(text))


def test_supports_of_subcases(tables):
    """Clamped at both ends, then at the first alone; AUTOSPC takes what each leaves."""
    case = "LOAD = 2\nDISPLACEMENT = ALL\nSPCFORCES = ALL\nSUBCASE 1\n SPC = 4\nSUBCASE 2\n SPC = 1\n"
    text = BAR + PBAR + "SPC1,1,123456,1\nSPC1,3,12,2\nSPCADD,4,1,3\nFORCE,2,2,,6.,0.,1.,1.\n"
    first, second = tables(text, case)
    close(first["DISPLACEMENT"][2][1:3], [0, 6 * L**3 / (3 * E * 0.03)])
    close(first["SPCFORCES"][2][1], -6)
    close(second["DISPLACEMENT"][2][1:3], [6 * L**3 / (3 * E * 0.02), 6 * L**3 / (3 * E * 0.03)])
    close(second["SPCFORCES"][1][1], -6)


def test_permanent_supports_and_defaults(tables):
    text = BAR.replace("GRID,2,,2.,0.,0.", "GRID,2,,2.,0.,0.,,2") + "GRDSET,,,,,,,3\n"
    found = tables(text + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,7.\n")[0]
    close(found["DISPLACEMENT"][2][1], 0)
    assert found["DISPLACEMENT"][2][2] > 0  # its own PS takes the place of that of GRDSET


def test_autospc_holds_what_has_no_stiffness(tables, deck):
    text = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCONROD,1,1,2,1,.5\nSPC1,1,123,1\nFORCE,2,2,,5.,1.,1.,0.\n"
    found = tables(text)[0]
    close(found["DISPLACEMENT"][2][:3], [5 * 2 / (E * 0.5), 0, 0])
    notes = convert(deck(text)).notes
    assert [n.effect for n in notes] == [Effect.NONE]
    assert "2-2, 2-3" in notes[0].text
    with pytest.raises(ModelError, match=r"component 2 of grid point 2 has no stiffness, and AUTOSPC is off"):
        convert(deck(text + "PARAM,AUTOSPC,NO\n"))


# --- springs, bushes, masses -----------------------------------------------------------------------------------------
def test_springs(tables):
    text = "GRID,1,,0.,0.,0.,,23456\nGRID,2,,1.,0.,0.,,23456\nCELAS1,1,4,1,1\nPELAS,4,7.\nCELAS2,2,5.,1,1,2,1\n"
    found = tables(text + "FORCE,2,2,,1.,1.,0.,0.\n", CASE.replace("SPC = 1\n", ""))[0]
    close([found["DISPLACEMENT"][i][0] for i in (1, 2)], [1 / 7, 1 / 7 + 1 / 5])


def test_rotational_spring(tables):
    text = BAR + PBAR + "SPC1,1,12345,1\nCELAS2,9,50.,1,6\nMOMENT,2,2,,1.,0.,0.,1.\n"
    close(tables(text)[0]["DISPLACEMENT"][1][5], 1 / 50)


def test_bush_acts_at_its_place(tables):
    """Of a bush a quarter along its line, a force across at the free end also bends the rotation spring."""
    text = (
        "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nCBUSH,1,1,1,2,0.,1.,0.,,+\n+,.25\nPBUSH,1,K,10.,20.,30.,40.,50.,60.\n"
        + HELD
    )
    found = tables(text + "FORCE,2,2,,3.,0.,1.,0.\n")[0]
    moment = 3 * 1.5
    close(found["DISPLACEMENT"][2][5], moment / 60)
    close(found["DISPLACEMENT"][2][1], 3 / 20 + 1.5 * moment / 60)


def test_bush_in_a_system(tables):
    text = "GRID,1,,0.,0.,0.\nGRID,2,,0.,0.,0.\nCBUSH,1,1,1,2,,,,7\nPBUSH,1,K,10.,20.,30.,1.,1.,1.\n" + HELD
    text += "CORD2R,7,,0.,0.,0.,1.,0.,0.,+\n+,0.,1.,0.\n"  # its x is y
    found = tables(text + "FORCE,2,2,,3.,0.,1.,0.\n")[0]
    close(found["DISPLACEMENT"][2][1], 3 / 10)


MODES = "SPC = 1\nMETHOD = 4\nDISPLACEMENT = ALL\n"


def test_modes_of_a_mass_on_a_bar(tables):
    text = BAR + PBAR + HELD + "SPC1,1,1345,2\nCONM2,5,2,,.7\nEIGRL,4,,,1\n"
    found = tables(text, MODES, 103)[0]
    close(found["EIGENVALUES"][1][0], 3 * E * 0.02 / L**3 / 0.7)
    close(found["DISPLACEMENT 1"][2][1] ** 2 * 0.7, 1)


def test_offset_mass_and_its_inertia(tables):
    """A mass .4 beside the grid point, of inertia .2 about its centre, on a spring of rotation."""
    text = "GRID,1,,0.,0.,0.\nSPC1,1,12345,1\nCELAS2,1,9.,1,6\nCONM2,5,1,,.7,.4,0.,0.,,+\n+,.3,,.3,,,.2\nEIGRL,4,,,1\n"
    close(tables(text, MODES, 103)[0]["EIGENVALUES"][1][0], 9 / (0.2 + 0.7 * 0.4**2))


def test_mass_matrix(tables):
    text = "GRID,1,,0.,0.,0.,,23456\nCELAS2,1,9.,1,1\nCONM1,5,1,,.7,,.7,,,.7\nEIGRL,4,,,1\n"
    close(tables(text, MODES.replace("SPC = 1\n", ""), 103)[0]["EIGENVALUES"][1][0], 9 / 0.7)


def test_lumped_and_coupled_mass_times_wtmass(tables):
    """One bar, clamped: the mass is lumped at its ends, or that of Hermite's polynomials (without rotary inertia)."""
    heavy = BAR.replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{G},{NU},6.") + PBAR + HELD + "SPC1,1,1345,2\n"
    heavy += "PARAM,WTMASS,.1\nEIGRL,4,,,1\n"
    m = 0.6 * 0.5 * L
    close(tables(heavy, MODES, 103)[0]["EIGENVALUES"][1][0], 3 * E * 0.02 / L**3 / (m / 2))
    K = E * 0.02 / L**3 * np.array([[12, -6 * L], [-6 * L, 4 * L**2]])
    M = m / 420 * np.array([[156, -22 * L], [-22 * L, 4 * L**2]])
    least = np.linalg.eigvals(np.linalg.solve(M, K)).min()
    close(tables(heavy + "PARAM,COUPMASS,1\n", MODES, 103)[0]["EIGENVALUES"][1][0], least)


def test_range_of_modes(tables):
    text = "".join(
        f"GRID,{i},,0.,0.,0.,,23456\nCELAS2,{i},{k},{i},1\nCONM2,9{i},{i},,1.\n"
        for i, k in ((1, 1.0), (2, 4.0), (3, 9.0), (4, 16.0))
    )
    case = "METHOD = 4\n"
    f = np.array([1, 2, 3, 4]) / (2 * np.pi)
    found = tables(text + f"EIGRL,4,{f[1] - 0.01:.6f},{f[2] + 0.01:.6f}\n", case, 103)[0]["EIGENVALUES"]
    close([row[2] for row in found.values()], f[1:3])
    found = tables(text + f"EIGRL,4,,{f[2] + 0.01:.6f}\n", case, 103)[0]["EIGENVALUES"]
    close([row[2] for row in found.values()], f[:3])
    found = tables(text + "EIGR,4,LAN,,,,3\n", case, 103)[0]["EIGENVALUES"]
    close([row[2] for row in found.values()], f[:3])


# --- loads -----------------------------------------------------------------------------------------------------------
def test_weight_and_rotation(tables):
    text = BAR.replace(f"MAT1,1,{E},{G},{NU}", f"MAT1,1,{E},{G},{NU},6.") + PBAR + HELD
    m = 6 * 0.5 * L
    found = tables(text + "GRAV,2,,9.81,0.,-1.,0.\n")[0]
    close(found["SPCFORCES"][1][[1, 5]], [m * 9.81, m / 2 * 9.81 * L])
    found = tables(text + "RFORCE,2,1,,.5,0.,0.,1.\n")[0]  # half a revolution per second about the end
    close(found["SPCFORCES"][1][0], -m / 2 * L * np.pi**2)


def test_rotation_of_a_mass_beside_its_grid_point(tables):
    """A rigid body about an axis through the first grid point: m w x (w x r) of its centre of gravity, and w x J w."""
    body = "CONM2,5,2,,3.,.5,.2,.1,,+\n+,2.,.1,2.,.2,.3,3.\n"
    found = tables(BAR + PBAR + HELD + body + "RFORCE,2,1,,.5,0.,.6,.8\n")[0]["SPCFORCES"][1]
    w, r = np.pi * np.array([0, 0.6, 0.8]), np.array([L + 0.5, 0.2, 0.1])
    J = np.array([[2.0, -0.1, -0.2], [-0.1, 2.0, -0.3], [-0.2, -0.3, 3.0]])
    force = 3.0 * np.cross(w, np.cross(w, r))
    close(found[:3], force)
    close(found[3:], np.cross(r, force) + np.cross(w, J @ w))


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("CONM1,5,2,,3.,,3.,,,+\n+,3.,,,,1.,,,-1.5,+\n+,,2.,,1.5,,,,2.\n", "CONM1 with coupling"),
        ("GRID,3,,0.,1.,0.,,123456\nCTRIA3,5,9,1,2,3,,.1\nPSHELL,9,1,.1,1\n", "shells with offsets"),
        ("CONM2,5,2,,3.,.5\n", ""),
    ],
)
def test_rotation_names_masses_beside_grid_points(deck, entry, what):
    converted, _ = solve_deck(
        deck(BAR + PBAR + HELD + entry + "RFORCE,2,1,,.5,0.,0.,1.\n", CASE, 101), accept=Accept.NORMAL
    )
    told = [note.text for note in converted.notes if "have the acceleration of their grid points" in note.text]
    assert [text.partition("RFORCE: masses of ")[2].partition(" have ")[0] for text in told] == ([what] if what else [])


def test_combined_loads_and_subcases(tables):
    case = "SPC = 1\nDISPLACEMENT = ALL\nSUBCASE 1\n LOAD = 2\nSUBCASE 2\n LOAD = 7\n"
    text = BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\nFORCE,3,2,,1.,5.,0.,0.\nLOAD,7,2.,3.,2,-1.,3\n"
    first, second = tables(text, case)
    close(second["DISPLACEMENT"][2][:2], [-2 * 5 * L / (E * 0.5), 6 * first["DISPLACEMENT"][2][1]])


def test_sets_with_ten_digits_are_selected(tables):
    text = BAR + PBAR + "SPC1,1000000001,123456,1\nFORCE,1000000002,2,,1.,0.,6.,0.\n"
    found = tables(text, "SPC = 1000000001\nLOAD = 1000000002\nDISPLACEMENT = ALL\n")[0]
    close(found["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.02))


@pytest.mark.parametrize("k", [None, 0.8])
def test_line_load(tables, k):
    """A uniform load on a clamped bar: w L^4/8 E I, with shear w L^2/2 k G A more; forces are those of the section."""
    section = PBAR if k is None else f"PBAR,1,1,.5,.02,.03,.04\n,0.\n,{k},{k}\n"
    found = tables(BAR + section + HELD + "PLOAD1,2,1,FYE,FR,0.,3.,1.,3.\n")[0]
    shear = 0 if k is None else 3 * L**2 / (2 * k * G * 0.5)
    close(found["DISPLACEMENT"][2][1], 3 * L**4 / (8 * E * 0.02) + shear)
    close(found["CBAR"][1][[0, 2, 4]], [3 * L**2 / 2, 0, 3 * L], atol=1e-8)


def test_line_loads_of_other_kinds(tables):
    slanted = BAR.replace("GRID,2,,2.,0.,0.", "GRID,2,,3.,4.,0.") + PBAR + HELD
    found = tables(slanted + "PLOAD1,2,1,FY,LE,0.,-2.,5.,-2.\n")[0]
    close(found["SPCFORCES"][1][1], 2 * 5)
    found = tables(slanted + "PLOAD1,2,1,FY,FRPR,0.,-2.,1.,-2.\n")[0]  # snow: per length seen from above
    close(found["SPCFORCES"][1][1], 2 * 3)
    found = tables(BAR + PBAR + HELD + "PLOAD1,2,1,FY,LE,1.5,-2.\n")[0]
    close(found["SPCFORCES"][1][[1, 5]], [2, 3])
    found = tables(BAR + PBAR + HELD + "PLOAD1,2,1,FY,FR,0.,0.,1.,3.\n")[0]  # a triangle
    close(found["SPCFORCES"][1][[1, 5]], [-3, -3 * 2 / 3 * L])


HELD_CUBE = "SPC1,1,1,1,4,5,8\nSPC1,1,2,1,2,5,6\nSPC1,1,3,1,2,3,4\n"


@pytest.mark.parametrize(
    "load",
    ["PLOAD4,2,1,-3.,,,,2,7", "PLOAD4,2,1,3.,,,,2,7,+\n+,,1.,0.,0.", "PLOAD,2,3.,2,3,7,6"],
    ids=["normal", "vector", "PLOAD"],
)
def test_pressure_on_a_solid(tables, load):
    found = tables(CUBE + HELD_CUBE + load + "\n")[0]
    close(found["DISPLACEMENT"][7][:3], [3 / E, -NU * 3 / E, -NU * 3 / E])


def test_pressure_that_varies_over_a_face(tables):
    """Intensities of corners by the right-hand rule of the outward normal: 2, 3, 7, 6."""
    found = tables(CUBE + "SPC1,1,123,1,4,5,8\nPLOAD4,2,1,-1.,-1.,0.,0.,2,7\n")[0]
    rows = found["SPCFORCES"]
    close(sum(rows.values())[:3], [-0.5, 0, 0], atol=1e-9)
    # the resultant stands at z = 1/3: forces along x of the supports at z = 1 balance its moment
    close(rows[5][0] + rows[8][0], -0.5 / 3)


def test_faces_of_a_tetrahedron(tables):
    text = (
        STEEL
        + "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\nCTETRA,1,1,1,2,3,4\nPSOLID,1,1\n"
    )
    found = tables(text + "SPC1,1,123,1,2,3\nPLOAD4,2,1,6.,,,,1,3\n")[0]  # the face without grid point 3: y = 0
    total = sum(found["SPCFORCES"].values())
    close(total[:3], [0, -3, 0], atol=1e-9)


def test_temperatures(tables):
    hot = f"MAT1,1,{E},{G},{NU},,1.-2,20.\n"
    case = CASE.replace("LOAD = 2\n", "TEMPERATURE(LOAD) = 3\n")
    bar = BAR.replace(STEEL, hot) + PBAR + HELD + "TEMPD,3,50.\n"
    found = tables(bar, case)[0]
    close(found["DISPLACEMENT"][2][0], 0.01 * 30 * L)
    close(found["CBAR"][1][6], 0, atol=1e-8)
    found = tables(bar + "SPC1,1,1,2\n", case)[0]
    close(found["CBAR"][1][6], -0.01 * 30 * E * 0.5)
    rod = (
        BAR.replace(STEEL, hot).replace("CBAR,1,1,1,2,0.,1.,0.", "CONROD,1,1,2,1,.5")
        + "SPC1,1,123,1\nSPC1,1,13,2\nCELAS2,9,5.,2,2\nTEMPD,3,50.\n"
    )
    close(tables(rod, case)[0]["CONROD"][1][0], -0.01 * 30 * E * 0.5)
    found = tables(
        CUBE.replace(STEEL, hot)
        + HELD_CUBE
        + "TEMPD,3,0.\nTEMP,3,1,50.,2,50.,3,50.\nTEMP,3,4,50.,5,50.,6,50.\nTEMP,3,7,50.,8,50.\n",
        case,
    )[0]
    close(found["DISPLACEMENT"][7][:3], [0.3, 0.3, 0.3])


GRADIENTS = "TEMPRB,3,1,50.,70.,3.,5.,-2.,4.\n"


@pytest.mark.parametrize("shear", ["", ",0.,0.\n,.8,.6\n"])
def test_gradients_of_temperature_in_bars(tables, shear):
    """Free: curvature -alpha dT/dy, linear along the bar.  Clamped: the forces that take its end back."""
    bar = BAR.replace(STEEL, f"MAT1,1,{E},{G},{NU},,2.-3,10.\n") + PBAR.replace("\n", ",,,\n") + shear + GRADIENTS
    case = "TEMPERATURE(LOAD) = 3\n" + CASE.replace("LOAD = 2\n", "")
    found = tables(bar + HELD, case)[0]
    a = 2e-3
    v, w = (-a * L**2 * (first / 3 + last / 6) for first, last in ((3, 5), (-2, 4)))
    turns = [a * L * (-2 + 4) / 2, -a * L * (3 + 5) / 2]
    close(found["DISPLACEMENT"][2], [a * L * 50, v, w, 0, *turns])
    close(found["CBAR"][1], 0, atol=1e-9)
    k1, k2 = (0.8, 0.6) if shear else (np.inf, np.inf)
    found = tables(bar + HELD + "SPC1,1,123456,2\n", case)[0]["SPCFORCES"][2]
    for (at, turn, sign), u, theta, inertia, k in (
        ((1, 5, 1), v, turns[1], 0.02, k1), ((2, 4, -1), w, -turns[0], 0.03, k2)
    ):  # fmt: skip
        EI = E * inertia
        flexibility = np.array([[L**3 / (3 * EI) + L / (k * G * 0.5), L**2 / (2 * EI)], [L**2 / (2 * EI), L / EI]])
        force, moment = -np.linalg.solve(flexibility, [u, theta])
        close(found[[at, turn]], [force, sign * moment])
    close(found[0], -E * 0.5 * a * 50)


def test_temperatures_of_several_rods(tables):
    """TEMPRB names further elements; those of grid points count for the others."""
    text = STEEL.replace("\n", ",,2.-3\n") + "PROD,1,1,.5\n" + "".join(f"GRID,{i},,{i}.,0.,0.\n" for i in range(1, 6))
    text += "".join(f"CROD,{i},1,{i},{i + 1}\n" for i in range(1, 5)) + "SPC1,1,123,1\nSPC1,1,23,2,THRU,5\n"
    text += "TEMPRB,3,1,10.,30.\n,\n,3,THRU,4\nTEMPD,3,7.\n"
    found = tables(text, "TEMPERATURE(LOAD) = 3\n" + CASE.replace("LOAD = 2\n", ""))[0]["DISPLACEMENT"]
    close([found[i][0] for i in range(2, 6)], 2e-3 * np.cumsum([20, 7, 20, 20]))


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


# --- buckling, other steps -------------------------------------------------------------------------------------------
def column(method: str) -> str:
    """Euler's column with 8 bars: load factors pi^2 k^2 E I/L^2, I = .02 and .03."""
    text = STEEL + "".join(f"GRID,{i},,{i / 4},0.,0.\n" for i in range(1, 10))
    text += "".join(f"CBAR,{i},1,{i},{i + 1},0.,1.,0.\n" for i in range(1, 9)) + "PBAR,1,1,5.,.02,.03,.04\n"
    return text + f"SPC1,1,1234,1\nSPC1,1,234,9\nFORCE,2,9,,1.,-1.,0.,0.\n{method}\n"


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("EIGRL,4,0.,100.", [0.02, 0.03]),
        ("EIGB,4,INV,60.,230.,,,", [0.03, 4 * 0.02]),
        ("EIGB,4,INV,0.,400.,,1,", [0.02]),
        ("EIGRL,4,0.,,3", [0.02, 0.03, 4 * 0.02]),
    ],
    ids=["upper bound", "both bounds", "bound and number", "number"],
)
def test_range_of_load_factors(tables, method, expected):
    case = "SPC = 1\nSUBCASE 1\n LOAD = 2\nSUBCASE 2\n METHOD = 4\n"
    found = tables(column(method), case, 105)[1]["EIGENVALUES"]
    close([row[0] for row in found.values()], [np.pi**2 * E * i / L**2 for i in expected], rtol=3e-3)


def test_an_empty_range_of_load_factors_is_an_error(deck):
    case = "SPC = 1\nSUBCASE 1\n LOAD = 2\nSUBCASE 2\n METHOD = 4\n"
    with pytest.raises(ModelError, match=r"deck.bdf, line \d+: the range 5 to 3 is empty"):
        convert(deck(column("EIGB,4,INV,5.,3.,"), case, 105))


def test_where_nothing_can_move_reactions_balance_the_loads(tables):
    found = tables(BAR + PBAR + "SPC1,1,123456,1,2\nFORCE,2,2,,1.,5.,6.,7.\n")[0]
    close(found["DISPLACEMENT"][2], np.zeros(6))
    close(found["SPCFORCES"][2], [-5, -6, -7, 0, 0, 0])


def test_modes_about_a_tension(tables):
    """A massless bar under tension T with a mass in its middle: frequencies of a string with little bending."""
    text = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,2.,0.,0.\nCONROD,1,1,2,1,.5\nCONROD,2,2,3,1,.5\n"
    text += "SPC1,1,123,1\nSPC1,1,23,3\nCONM2,9,2,,.7\nFORCE,2,3,,4.,1.,0.,0.\nEIGRL,4,,,2\n"
    text += "CELAS2,7,1.-4,2,2\nCELAS2,8,1.-4,2,3\n"
    case = "SPC = 1\nSUBCASE 1\n LOAD = 2\nSUBCASE 2\n METHOD = 4\n STATSUB = 1\n"
    found = tables(text, case, 103)[-1]["EIGENVALUES"]
    close([row[0] for row in found.values()], [(2 * 4 + 1e-4) / 0.7] * 2)


def test_buckling_of_rods_in_several_subcases(tables):
    """Each subcase of buckling has the loads that STATSUB names; the stress of a rod acts across it alone."""
    places = {1: (0.0, 0.0), 2: (2.0, 1.0), 3: (4.0, 0.0)}
    text = STEEL + "PROD,1,1,.5\nCROD,1,1,1,2\nCROD,2,1,2,3\nSPC1,1,123456,1,3\nSPC1,1,3,2\nEIGRL,4,,,2\n"
    text += "".join(f"GRID,{k},,{x},{y},0.\n" for k, (x, y) in places.items())
    text += "FORCE,2,2,,1.,0.,-1.,0.\nFORCE,3,2,,1.,3.,-1.,0.\n"
    case = (
        "SPC = 1\nMETHOD = 4\nSUBCASE 1\n LOAD = 2\nSUBCASE 2\n LOAD = 3\nSUBCASE 3\n ANALYSIS = BUCK\n STATSUB = 1\n"
    )
    found = tables(text, case + "SUBCASE 4\n ANALYSIS = BUCK\n STATSUB = 2\n", 105)
    assert len(found) == 4
    feet = [np.array(places[2]) - places[k] for k in (1, 3)]
    length = np.hypot(2.0, 1.0)
    K = sum(E * 0.5 / length**3 * np.outer(d, d) for d in feet)
    for load, step in (((0.0, -1.0), found[1]), ((3.0, -1.0), found[3])):
        u = np.linalg.solve(K, load)
        across = [np.eye(2) - np.outer(d, d) / length**2 for d in feet]
        stress = sum(E * 0.5 / length**3 * (d @ u) * P for d, P in zip(feet, across, strict=True))
        factors = -1.0 / np.linalg.eigvals(np.linalg.solve(K, stress)).real
        factors = factors[np.argsort(np.abs(factors))]
        close([row[0] for row in step["EIGENVALUES"].values()], factors, rtol=1e-7)


@pytest.mark.parametrize(
    ("tables_", "modulus"),
    [
        ("MATT1,1,9\nTABLEM1,9\n,0.,1000.,100.,600.,ENDT\n", 800.0),
        ("MATT1,1,9\nTABLEM2,9,10.\n,0.,1.,100.,.5,ENDT\n", E * 0.8),
        ("MATT1,1,9\nTABLEM3,9,10.,2.\n,0.,1.,100.,.5,ENDT\n", E * 0.9),
        ("MATT1,1,9\nTABLEM4,9,10.,2.,0.,900.\n,.5,.01,ENDT\n", E * (0.5 + 0.01 * 20.0)),
    ],
)
def test_materials_over_temperature(tables, tables_, modulus):
    text = BAR + PBAR + HELD + "FORCE,2,2,,5.,1.,0.,0.\nTEMPD,6,50.\n" + tables_
    found = tables(text, CASE + "TEMPERATURE(MATERIAL) = 6\n")[0]
    close(found["DISPLACEMENT"][2][0], 5 * L / (modulus * 0.5))
    close(tables(text, CASE)[0]["DISPLACEMENT"][2][0], 5 * L / (E * 0.5))  # nothing selects a temperature


def test_materials_over_temperatures_that_vary(deck):
    text = (
        BAR
        + PBAR
        + HELD
        + "FORCE,2,2,,5.,1.,0.,0.\nTEMPD,6,50.\nTEMP,6,2,60.\nMATT1,1,9\nTABLEM1,9\n,0.,1.,9.,1.,ENDT\n"
    )
    with pytest.raises(UnsupportedError, match="over a temperature that varies"):
        convert(deck(text, CASE + "TEMPERATURE(MATERIAL) = 6\n"))
    with pytest.raises(UnsupportedError, match="at several temperatures"):
        convert(deck(text + "TEMPD,7,5.\n", CASE + "SUBCASE 1\nTEMP(MATE) = 6\nSUBCASE 2\nTEMP(MATE) = 7\n"))


def test_temperatures_of_a_solid_in_several_subcases(tables):
    """A cube that expands freely: changes by 20, by -10 and by none."""
    text = CUBE.replace(STEEL, f"MAT1,1,{E},,{NU},,.001,30.\n") + "SPC1,1,123,1\nSPC1,1,23,2\nSPC1,1,3,4\n"
    text += "TEMPD,3,50.\nTEMPD,4,20.\nFORCE,2,7,,1.,0.,0.,1.\nFORCE,2,5,,-1.,0.,0.,1.\n"
    cases = [f"SUBCASE {k}\nTEMPERATURE(LOAD) = {t}\n" for k, t in ((1, 3), (2, 4))] + ["SUBCASE 3\nLOAD = 2\n"]
    found = tables(text, "SPC = 1\nDISPLACEMENT = ALL\nSTRESS = ALL\n" + "".join(cases))
    for one, change in zip(found, (20.0, -10.0), strict=False):
        close(one["DISPLACEMENT"][7][:3], [0.001 * change] * 3)
        close(np.array(one["STRESS CHEXA"][1])[:, :6], np.zeros((9, 6)), atol=1e-9)
    alone = tables(text, "SPC = 1\nLOAD = 2\nDISPLACEMENT = ALL\n")[0]
    close(found[2]["DISPLACEMENT"][7], alone["DISPLACEMENT"][7])
    other = text + "TEMP,4,1,90.\n"
    with pytest.raises(UnsupportedError, match="not multiples of one field"):
        tables(other, "SPC = 1\n" + "".join(cases))


def test_properties_without_elements_change_nothing(deck):
    bulk = BAR + PBAR + HELD + "FORCE,2,2,,1.,5.,6.,7.\n"
    assert convert(deck(bulk + "PBEND,9,1,.1\nPELAST,9,3\n")).notes
    with pytest.raises(ModelError, match="PBEND is not known"):
        convert(deck(bulk + "PBEND,9,1,.1\nCBEND,9,9,1,2\n"))


@pytest.mark.parametrize("um", ["UM,1,2,2,2", "UM,3,2,9,6", "UM,9,26"])
def test_other_dependent_components_of_a_weighted_mean(tables, um):
    """The equations of an RBE3 are the same, whichever of their components depend on the others."""
    text = STEEL + "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,3.,0.,0.\nGRID,9,,2.,0.,0.\n"
    text += "".join(f"CELAS2,{k},{10.0 * k},{k},2\n" for k in (1, 2, 3)) + "CELAS2,4,7.,9,2\nCELAS2,5,9.,9,6\n"
    text += "SPC1,1,13,1,2,3\nSPC1,1,1345,9\nFORCE,2,9,,3.,0.,1.,0.\nMOMENT,2,9,,2.,0.,0.,1.\n"
    plain = "RBE3,8,,9,26,1.,2,1,2,+\n+,2.,2,3"
    usual = tables(text + plain + "\n")[0]["DISPLACEMENT"]
    other = tables(text + plain + f",+\n+,{um}\n")[0]["DISPLACEMENT"]
    assert sorted(usual) == sorted(other)
    for k, row in usual.items():
        close(other[k], row, rtol=1e-9)


# --- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("bulk", "message"),
    [
        ("CGAP,1\n", "line .*: CGAP is not known: not supported"),
        ("PARAM,FOO,1\n", "PARAM,FOO is not known"),
        ("SPC1,1,1,2\nMPC,3,2,1,1.,1,1,1.\n", "component 1 of grid point 2 is held, but depends on others"),
        ("RBE2,8,1,123456,2\nRBE2,9,1,1,2\n", "is dependent already"),
        ("GRID,3,,2.,0.,0.\nRBE2,8,2,1,3\nMPC,3,2,1,1.,3,1,-1.\n", "depend on each other in a circle"),
        ("CBAR,3,77,1,2,0.,1.,0.\n", "there is no property of bars 77"),
        ("CBAR,3,1,1,2,1.,0.,0.\n", "the orientation of CBAR 3 lies along it"),
        ("CBAR,3,1,1,1,1.,0.,0.\n", "CBAR 3 has no length"),
        ("CBAR,3,1,1,99,0.,1.,0.\n", "there is no grid point 99"),
        ("PBARL,6,1,,HAT\n,1.\nCBAR,3,6,1,2,0.,1.,0.\n", "the section HAT of PBARL is not supported"),
        (
            "CBEAM,3,6,1,2,0.,1.,0.\nPBEAM,6,1,.5,.02,.03,0.,.04,3.,+\n+,,,,,,,,,+\n+,0.,0.,,,,,,,+\n+,,,.1,.2\n",
            "the offset M1, M2 of the nonstructural mass is not used",
        ),
        ("FORCE,2,2,55,1.,1.,0.,0.\n", "there is no coordinate system 55"),
        ("CORD2R,5,,0.,0.,0.,1.,0.,0.,+\n+,2.,0.,0.\n", "lie on one line"),
        ("CORD2R,5,5,0.,0.,0.,1.,0.,0.,+\n+,0.,1.,0.\n", "the system 5 is defined by itself"),
        ("CHEXA,4,1,1,2\nPSOLID,1,1\n", "CHEXA 4 needs 8 corners"),
        ("CELAS2,4,1.,1,7\n", "component 7 is none of 1 to 6"),
        ("LOAD,2,1.,1.,77\n", "there is no load set 77"),
        ("RBE3,9,,2,123456,1.,123,1\n", "do not determine the components"),
        ("GRID,3,,1.,1.,0.\nRBE3,9,,2,1,1.,1,1,3,+\n+,UM,1,12\n", "UM of RBE3 9 must name as many"),
        ("GRID,3,,1.,1.,0.\nRBE3,9,,2,1,1.,1,1,3,+\n+,UM,1\n", "UM of RBE3 9 needs pairs"),
        ("PLOAD1,2,44,FY,FR,0.,1.\n", "there is no bar 44"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(deck, bulk, message):
    case = CASE + "MPC = 3\n" if "MPC" in bulk else CASE
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,7.\n" + bulk, case))
    assert "deck.bdf, line" in str(caught.value)


@pytest.mark.parametrize(
    ("case", "sol", "message"),
    [
        ("SPC = 9\n", 101, "there is no set 9 of SPC"),
        ("LOAD = 9\n", 101, "there is no load set 9"),
        ("MPC = 9\n", 101, "there is no set 9 of MPC"),
        ("METHOD = 9\n", 103, "there is no method 9"),
        ("SPC = 1\n", 103, "no subcase has a METHOD"),
        ("SPC = 1\nK2GG = STIFF\n", 101, "there is no DMIG STIFF"),
        ("SPC = 1\nFOO = 1\n", 101, "the command FOO is not known"),
        ("SPC = 1\n", 200, "SOL 200 is not supported"),
    ],
)
def test_case_control_errors(deck, case, sol, message):
    with pytest.raises(ModelError, match=message) as caught:
        convert(deck(BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,7.\n", case, sol))
    assert "deck.bdf, line" in str(caught.value)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("SPC = 1\nLOAD = 2.\n", "LOAD selects a set by its number, and '2.' is none"),
        ("SPC = 1\nLOAD =\n", "LOAD selects a set by its number, and a blank is none"),
        ("SPC = 1\nLOAD = 99999999999\n", "LOAD selects a set by its number"),
        ("SPC = 1, 2\nLOAD = 2\n", "SPC selects a set by its number, and '1, 2' is none"),
        ("SPC = 1\nTEMP(LOAD) = ALL\n", "TEMPERATURE selects a set by its number"),
        ("SPC = 1\nOUTPUT(XYPLOT)\nXTITLE = A\nLOAD = 2\n", r"LOAD stands behind OUTPUT\(XYPLOT\)"),
        ("SPC = 1\nSUBCASE 1\nOUTPUT(PLOT)\nSUBCASE 2\n", r"SUBCASE stands behind OUTPUT\(PLOT\)"),
    ],
)
def test_a_selection_that_is_no_number_is_an_error(deck, case, message):
    with pytest.raises(MeshError, match=rf"deck.bdf, line \d: {message}"):
        deck(BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,7.\n", case)


@pytest.mark.parametrize(
    ("case", "bulk", "message"),
    [
        ("PARAM,WTMASS,1.\n", "PARAM,WTMASS,2.\n", r"line \d+: PARAM,WTMASS has another value in deck.bdf, line 3;"),
        ("", "PARAM,WTMASS,1.\nPARAM,WTMASS,2.\n", r"line 18: PARAM,WTMASS has another value in deck.bdf, line 17;"),
        ("SUBCASE 1\nSUBCASE 2\nPARAM,WTMASS,2.\n", "", "line 5: PARAM,WTMASS in a subcase"),
        ("SUBCASE=1\n\nSUBCASE=2\nPARAM,WTMASS,2.\n", "", "line 6: PARAM,WTMASS in a subcase"),
    ],
)
def test_a_parameter_with_several_values_is_refused(deck, case, bulk, message):
    text = BAR + PBAR + HELD + "CONM2,5,2,,3.\nGRAV,2,,10.,0.,-1.,0.\n" + bulk
    with pytest.raises(UnsupportedError, match=f"deck.bdf, {message}"):
        convert(deck(text, case + CASE))


def test_the_same_parameter_twice_and_those_of_output_change_nothing(tables):
    text = BAR + PBAR + HELD + "CONM2,5,2,,3.\nGRAV,2,,10.,0.,-1.,0.\nPARAM,WTMASS,2.\nPARAM,POST,-1\nPARAM,POST,0\n"
    found = tables(text, "PARAM,WTMASS,2.\n" + CASE)[0]
    close(found["DISPLACEMENT"][2][1], -2 * 3 * 10 * L**3 / (3 * E * 0.02))


def test_subcases_with_different_equations_are_refused(deck):
    case = "LOAD = 2\nSPC = 1\nSUBCASE 1\nMPC = 3\nSUBCASE 2\n"
    text = BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,7.\nMPC,3,2,1,1.,2,2,1.\n"
    with pytest.raises(UnsupportedError, match=r"deck.bdf, line 7: MPC = none in subcase 2 and 3 in subcase 1"):
        convert(deck(text, case))


def test_dropped_content_is_left_out_with_allow(deck, tables):
    text = BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\nCGAP,1\n"
    with pytest.raises(UnsupportedError):
        convert(deck(text))
    close(tables(text, accept=Accept.ALLOW)[0]["DISPLACEMENT"][2][1], 6 * L**3 / (3 * E * 0.02))
    converted = convert(deck(text), accept=Accept.ALLOW)
    assert len(converted.model.departures) == 1
    assert "not the deck's results" in converted.model.title


LIMITS = "MAT1,1,1000.,400.,.25,,,,,\n,9.,9.,9.\n"


def test_fields_without_effect_are_named(deck):
    notes = convert(deck(LIMITS + BAR.removeprefix(STEEL) + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\n")).notes
    assert [n.effect for n in notes if "MAT1: SC, SS, ST: not used: limits of stress" in n.text] == [Effect.NONE]


def test_a_field_that_nothing_reads_is_dropped_content(deck, monkeypatch):
    """A field of an entry in use that neither the model nor the list of unused fields knows stops the deck."""
    monkeypatch.setitem(control.UNUSED_FIELDS, "MAT1", ())
    with pytest.raises(UnsupportedError, match=r"deck.bdf, line \d+: MAT1: SC, SS, ST: not used"):
        convert(deck(LIMITS + BAR.removeprefix(STEEL) + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\n"))


def test_what_holds_at_many_places_is_said_once(deck):
    text = BAR + PBAR + HELD + "FORCE,2,2,,1.,0.,6.,0.\n" + "".join(f"CONM2,{n},2,,0.\n" for n in (7, 8, 9))
    (note,) = [n for n in convert(deck(text)).notes if "no mass" in n.text]
    assert note.text.endswith("CONM2 has no mass (and 2 more)")


def test_a_loose_model_is_an_error_with_a_place(deck):
    with pytest.raises(ModelError, match=r"deck.bdf, line .*loose"):
        solve_deck(deck(BAR + PBAR + "FORCE,2,2,,1.,0.,6.,0.\n", CASE.replace("SPC = 1\n", "")))


# --- listings of MSC Nastran -----------------------------------------------------------------------------------------
def shared_decks() -> list:
    folder = SHARED_DECKS.parent / "nastran"
    found = sorted(p for p in folder.rglob("*") if DECK_FORMATS[1].within(p)) if folder.is_dir() else []
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=f"no decks in {folder}"))]


@pytest.mark.parametrize("path", shared_decks(), ids=lambda p: p.stem if p else "none")
def test_against_msc_nastran(path):
    rows = compare_deck(path)
    bad = [r for r in rows if r.status in ("outside", "missing")]
    assert not bad, bad
    if rows[0].status == "refused":
        pytest.skip(rows[0].why)
    assert any(r.status == "ok" for r in rows), rows
