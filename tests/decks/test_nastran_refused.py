"""What Nastran decks hold that is refused, dropped or named."""

from __future__ import annotations

import pytest
from nastran_decks import BAR, CASE, HELD, PBAR, STEEL, E, L, close

from fem_mbs.decks.nastran import control
from fem_mbs.decks.nastran.run import convert, solve_deck
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import MeshError, ModelError, UnsupportedError
from fem_mbs.meshes.vocabulary import Effect


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
