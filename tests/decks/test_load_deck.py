"""Decks read in Python: models to which sensors are added."""

import logging
from io import StringIO

import numpy as np
import pytest

from fem_mbs import load_deck, load_model, solve
from fem_mbs.errors import ModelError, UnsupportedError

CANTILEVER = """\
*NODE, NSET=NALL
1, 0., 0., 0.
2, 0.5, 0., 0.
3, 1., 0., 0.
*ELEMENT, TYPE=B31, ELSET=BEAM
10, 1, 2
11, 2, 3
*NSET, NSET=TIP
3
*BEAM SECTION, ELSET=BEAM, MATERIAL=STEEL, SECTION=RECT
0.02, 0.02
0., 1., 0.
*MATERIAL, NAME=STEEL
*ELASTIC
2.1e11, 0.3
*DENSITY
7850.
*BOUNDARY
1, 1, 6
*STEP
*FREQUENCY
4
*END STEP
*STEP
*STEADY STATE DYNAMICS, DIRECT
1., 3., 3
*CLOAD
3, 3, 1.0
*NODE PRINT, NSET=TIP
U
*END STEP
"""


def write(folder, text=CANTILEVER):
    path = folder / "beam.inp"
    path.write_text(text, encoding="utf-8")
    return path


def test_sensors_at_node_sets_and_nodes_give_responses(tmp_path):
    model = load_deck(write(tmp_path))
    assert [step.kind for step in model.steps] == ["modes", "harmonic"]
    model.sensor("by set", "displacement", on="deck:TIP")
    model.sensor("by number", "displacement", on="deck:#3")
    results = solve(model)
    by_set, by_number = results.response("by set"), results.response("by number")
    assert len(by_set.t) == 3 and np.all(np.abs(by_set.values[:, 2]) > 0.0)
    np.testing.assert_array_equal(by_set.values, by_number.values)


def test_content_that_is_not_supported(tmp_path, caplog):
    path = write(tmp_path, CANTILEVER.replace("*DENSITY", "*PLASTIC\n1e8, 0.\n*DENSITY"))
    with pytest.raises(UnsupportedError, match="PLASTIC"):
        load_deck(path)
    with caplog.at_level(logging.WARNING, "fem_mbs"):
        model = load_deck(path, accept="allow")
    assert "not the deck's results" in model.title and "PLASTIC" in caplog.text


def test_wrong_files_and_words(tmp_path):
    with pytest.raises(ModelError, match="accept = 'all' is none of strict, normal, allow"):
        load_deck(write(tmp_path), accept="all")
    with pytest.raises(ModelError, match=r"rod\.toml is no deck"):
        load_deck(tmp_path / "rod.toml")
    with pytest.raises(ModelError, match=r"not valid TOML.*load_deck"):
        load_model(write(tmp_path))


def test_a_response_without_sensors_has_no_empty_table(tmp_path):
    from rich.console import Console

    from fem_mbs.cli.report import print_report
    from fem_mbs.decks.abaqus.run import run_deck

    results = run_deck(write(tmp_path), tmp_path / "out")
    screen = StringIO()
    print_report(Console(file=screen, width=200), results)
    text = screen.getvalue()
    assert "largest amplitude" not in text
    assert "x, y, z: effective mass over total mass" in text


def test_step_kinds_have_names_of_their_own_in_the_list_of_a_deck():
    from fem_mbs.declarations.steps import StepKind, step_kinds

    nouns = [kind.noun for kind in step_kinds().values()]
    assert StepKind.noun not in nouns and len(set(nouns)) == len(nouns)
