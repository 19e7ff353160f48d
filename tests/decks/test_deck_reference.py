"""The generated tables of docs/decks.md."""

from __future__ import annotations

import pytest
from deck_text import block, steel

from fem_mbs.decks.abaqus.elements import element_words
from fem_mbs.decks.abaqus.run import convert
from fem_mbs.decks.reference import TABLES, refreshed
from fem_mbs.errors import InputError, ModelError
from fem_mbs.meshes.abaqus.reader import keywords, read_deck
from fem_mbs.meshes.vocabulary import Effect, Use, Word, first_sentence, word_table


def test_the_tables_are_fresh(checkout):
    text = (checkout / "docs" / "decks.md").read_text(encoding="utf-8")
    assert all(f"<!-- table: {name} -->" in text for name in TABLES)
    assert text == refreshed(text), "run python -m fem_mbs.decks.reference docs/decks.md"


def test_a_table_that_nobody_makes():
    with pytest.raises(ModelError, match="the table 'cards' is not known"):
        refreshed("<!-- table: cards -->\n<!-- end of table -->\n")


def test_rows_are_shared_and_ordered():
    words = [Word("C", Use.REFUSED, "no"), Word("B", Use.USED, "yes"), Word("A", Use.REFUSED, "no")]
    assert word_table(words, "card", "+")[2:] == ["| +B | used | yes |", "| +A, +C | refused | no |"]
    with pytest.raises(ValueError, match="A stands twice"):
        word_table([*words, Word("A", Use.USED, "yes")], "card")
    with pytest.raises(ValueError, match="no docstring"):
        first_sentence(lambda: None)


@pytest.mark.parametrize("word", [w for w in keywords() if w.use is not Use.USED], ids=lambda w: w.name)
def test_keywords_become_what_the_table_says(tmp_path, word):
    """Refused, passed over with a note, or an error that ``--allow`` does not pass."""
    path = tmp_path / "d.inp"
    head = f"*{word.name}, ELSET=EALL\n" if "SECTION" in word.name or word.name == "GAP" else f"*{word.name}\n"
    if word.text == "the procedure is not computed":
        path.write_text(block(steps=f"*STEP\n{head}*END STEP\n"), encoding="utf-8")
    else:
        path.write_text(block(material=steel().replace("*DENSITY", f"{head}*DENSITY")), encoding="utf-8")
    if word.use is Use.STOPPED:
        with pytest.raises(InputError, match=f"line [0-9]+: [*]{word.name}"):
            read_deck(path)
        return
    if word.use is Use.REFUSED:
        with pytest.raises(InputError, match=f"line [0-9]+: .*{word.name}"):
            convert(read_deck(path))
        return
    assert {n.effect for n in convert(read_deck(path)).notes} == {Effect.NONE}


def test_elements_of_every_family_are_named():
    used = {w.name for w in element_words() if w.use is Use.USED}
    assert {"C3D8I", "CPS8R", "B32R", "T3D2", "SPRINGA"} <= used
    assert not {"B31OS", "C3D27", "R3D4", "GAPUNI"} & used
