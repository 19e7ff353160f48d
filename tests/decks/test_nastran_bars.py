"""Bars, beams, rods and tubes of Nastran decks against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from nastran_decks import BAR, CASE, HELD, NU, PBAR, STEEL, E, G, L, close


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
