"""Buckling, modes about states and subcases of Nastran decks; listings of MSC Nastran."""

from __future__ import annotations

import numpy as np
import pytest
from nastran_decks import BAR, CASE, CUBE, HELD, NU, PBAR, STEEL, E, L, close
from places import SHARED_DECKS

from fem_mbs.decks.formats import DECK_FORMATS
from fem_mbs.decks.nastran.results.compare import compare_deck
from fem_mbs.decks.nastran.run import convert
from fem_mbs.errors import ModelError, UnsupportedError


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
