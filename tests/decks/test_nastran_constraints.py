"""Coordinate systems, constraints, springs and masses of Nastran decks against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from nastran_decks import BAR, CASE, HELD, NU, PBAR, STEEL, E, G, L, close

from fem_mbs.decks.nastran.run import convert
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.vocabulary import Effect

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
