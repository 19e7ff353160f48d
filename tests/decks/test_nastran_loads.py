"""Loads and temperatures of Nastran decks against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from nastran_decks import BAR, CASE, CUBE, HELD, NU, PBAR, STEEL, E, G, L, close

from fem_mbs.decks.nastran.run import solve_deck
from fem_mbs.decks.notes import Accept


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
