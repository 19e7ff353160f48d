"""Bad decks end in one error with file and line, mutated ones in a deck or such an error."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from test_abaqus import DECKS, TRUSS, write

from fem_mbs.errors import MeshError
from fem_mbs.meshes.abaqus import files as abaqus_files
from fem_mbs.meshes.abaqus.reader import read_deck

# ---- bad decks -------------------------------------------------------------------------------------------------------

BAD = [
    ("1, 1, 2\n", "1, 1, 7\n", 6, "element 1 names node 7, which is not defined"),
    ("2, 2, 3\n", "1, 2, 3\n", 7, "element 1 is defined twice"),
    ("2, 2, 3\n", "2, 2\n", 7, "wrong number of entries for element 2"),
    ("1, 1, 2\n", "1, 1, x\n", 6, "'x', which is not a number"),
    ("1, 1, 2\n", "1, 1, 1.5\n", 6, "1.5 is not a node number"),
    ("2, 1., 0., 0.\n", "1, 1., 0., 0.\n", 3, "node 1 is defined twice"),
    ("2, 1., 0., 0.\n", "2, 1., 0., 0..\n", 3, "'0..', which is not a number"),
    ("2, 1., 0., 0.\n", "2, 1., nan, 0.\n", 3, "'nan', which is not a number"),
    ("2, 1., 0., 0.\n", "2, 1., 1e400, 0.\n", 3, "'1e400', which is not a number"),
    ("2, 1., 0., 0.\n", "2, 1. 0. 0.\n", 3, "which is not a number"),
    ("2, 1., 0., 0.\n", "0, 1., 0., 0.\n", 3, "the node number 0 is not"),
    ("2, 1., 0., 0.\n", "99999999999, 1., 0., 0.\n", 3, "the node number 99999999999 is not"),
    ("2, 1., 0., 0.\n", "2, 1., 0., 0., 1, 2, 3, 4, 5\n", 3, "9 entries; a node is"),
    ("T3D2", "T3D9", 5, "the element type 'T3D9' is not known"),
    ("*ELEMENT, TYPE=T3D2,", "*ELEMENT,", 5, "parameter TYPE is missing"),
    ("ELSET=EALL, MATERIAL", "ELSET=EAL, MATERIAL", 11, "the element set 'EAL' is not defined; did you mean EALL?"),
    ("MATERIAL=STEEL", "MATERIAL=STAHL", 11, "the material 'STAHL' is not defined"),
    ("*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n1.E-4\n", "", 6, "2 elements of type T3D2 without properties"),
    ("*MATERIAL, NAME=STEEL\n", "", 8, "it stands outside of a material"),
    ("2.1E11, 0.3", "2.1E11", 10, "1 entries; give 2 elastic constants"),
    ("2.1E11, 0.3", "2.1E11, 0.3, 20., 7.", 10, "4 entries; give 2 elastic constants and a temperature"),
    ("2.1E11, 0.3\n", "", 9, "no data; give 2 elastic constants"),
    ("1.E-4", "-1.E-4", 12, "the area or thickness is -0.0001"),
    ("0., 0., 1., 1.", "0., 0., 1.", 14, "3 numbers; give pairs"),
    ("0., 0., 1., 1.", "1., 0., 0., 1.", 13, "time must increase"),
    ("*BOUNDARY\n1, 1, 3", "*BOUNDARY\n9, 1, 3", 16, "node 9 is not defined"),
    ("*BOUNDARY\n1, 1, 3", "*BOUNDARY\nFIX, 1, 3", 16, "the node set 'FIX' is not defined"),
    ("*BOUNDARY\n1, 1, 3", "*BOUNDARY\n1, 3, 1", 16, "directions 3 to 1"),
    ("*BOUNDARY\n1, 1, 3", "*BOUNDARY\n1", 16, "1 entry; give node or set"),
    ("*BOUNDARY\n", "*BOUNDARY, AMPLITUDE=RAMPE\n", 15, "the amplitude 'RAMPE' is not defined; did you mean RAMP?"),
    ("*STATIC\n0.1, 1.\n", "", 17, "the step has no procedure"),
    ("*STATIC\n0.1, 1.", "*STATIC\n2., 1.", 19, "the increment 2 is longer than the step"),
    ("*STATIC\n0.1, 1.", "*FREQUENCY\n", 18, "the number of modes is missing"),
    ("*STATIC\n0.1, 1.", "*FREQUENCY\n-3", 19, "the number of modes is -3"),
    ("*STATIC\n0.1, 1.", "*STATIC\n*BUCKLE\n1", 19, "the step has a second procedure"),
    ("*CLOAD\n2, 1, 10.", "*CLOAD\n2, 1", 21, "entry 3 (value) is missing"),
    ("*CLOAD\n2, 1, 10.", "*CLOAD\n2, 9, 10.", 21, "the direction is 9"),
    ("*CLOAD\n2, 1, 10.", "*CLOAD\n2, 1, ten", 21, "'ten', which is not a number"),
    ("EALL, GRAV, 9.81, 0., 0., -1.", "EALL, GRAV, 9.81", 23, "the direction is missing or zero"),
    ("EALL, GRAV", "EALL, GRAVITY", 23, "the load 'GRAVITY' is not known"),
    ("EALL, GRAV", "EALLE, GRAV", 23, "the element set 'EALLE' is not defined; did you mean EALL?"),
    ("*END STEP\n", "", 17, "the file ends before *END STEP"),
    ("*STEP\n", "*END STEP\n", 17, "there is no *STEP before it"),
    ("*STEP\n", "*STEP\n*STATIC\n*STEP\n", 19, "has no *END STEP"),
    ("*STEP\n", "", 17, "it stands outside of a step"),
    ("*NODE PRINT, NSET=NALL", "*NODE PRINT, NSET=NONE", 24, "the node set 'NONE' is not defined"),
    ("*NODE, NSET=NALL\n", "", 1, "data before the first keyword"),
    ("*NODE, NSET", "*PART, NAME=A\n*NODE, NSET", 1, "no *END PART follows"),
    ("*NODE, NSET", "*INCLUDE, INPUT=deck.inp\n*NODE, NSET", 1, "'deck.inp' includes itself"),
    ("*NODE, NSET", "*INCLUDE, INPUT=../x.inp\n*NODE, NSET", 1, "'../x.inp' is outside the folder of the deck"),
    ("*NODE, NSET", "*INCLUDE, INPUT=/etc/passwd\n*NODE, NSET", 1, "outside the folder of the deck"),
    ("*NODE, NSET", "*INCLUDE, INPUT=x.inp\n*NODE, NSET", 1, "there is no file 'x.inp'"),
    ("*NODE, NSET", "*INCLUDE\n*NODE, NSET", 1, "parameter INPUT is missing"),
    ("*BOUNDARY", "*NSET, NSET=A\nB\n*NSET, NSET=B\nA\n*BOUNDARY", 18, "contains itself"),
    ("*BOUNDARY", "*NSET, NSET=A, GENERATE\n3, 1\n*BOUNDARY", 16, "cannot count from 3 to 1"),
    ("*BOUNDARY", "*NSET, NSET=A, GENERATE\n1, 2, 0\n*BOUNDARY", 16, "the increment is 0; give 1 or more"),
    (
        "*BOUNDARY",
        "*EQUATION\n2\n2, 1, 1., 2, 1, -1.\n*BOUNDARY",
        17,
        "coefficients of the first term's direction cancel",
    ),
    (
        "*BOUNDARY",
        "*EQUATION\n4\n2, 1, 1., 1, 1, 1., 2, 1, -3.,\n2, 1, 2.\n*BOUNDARY",
        17,
        "coefficients of the first term's direction cancel",
    ),
    (
        "*BOUNDARY",
        "*NODE\n2, 1., 0.5, 0.\n*BOUNDARY",
        16,
        "node 2 is defined twice, with other coordinates before (deck.inp, ",
    ),
    ("*BOUNDARY", "*DENSITY\n3., 0.\n-2., 10.\n*BOUNDARY", 17, "the density is -2; give 0 or more"),
    ("*STATIC\n0.1, 1.", "*DYNAMIC\n0., 1.", 19, "the increment is 0; give a positive number"),
    ("*BOUNDARY", "*NSET, NSET=A, GENERATE\n11, 99\n*BOUNDARY", 16, "no node from 11 to 99"),
    ("*BOUNDARY", "*NSET, NSET=A\n55\n*BOUNDARY", 16, "none of its nodes is defined"),
    ("*BOUNDARY", "*NSET, NSET=A\nC\n*BOUNDARY", 16, "the node set 'C' is not defined"),
    ("*BOUNDARY", "*NSET\n1\n*BOUNDARY", 15, "parameter NSET is missing"),
    ("*BOUNDARY", "*EQUATION\n3\n1, 1, 1., 2, 1, 1.\n*BOUNDARY", 16, "2 terms follow, 3 are announced"),
    ("*BOUNDARY", "*EQUATION\n1\n1, 1, 1., 2, 1, 1.\n*BOUNDARY", 17, "2 terms, but 1 are announced"),
    ("*BOUNDARY", "*EQUATION\n2\n1, 1, 1., 2, 1\n*BOUNDARY", 17, "5 entries; give node, direction and coefficient"),
    ("*BOUNDARY", "*MPC\n1, 2\n*BOUNDARY", 16, "the first entry is the type"),
    ("*BOUNDARY", "*RIGID BODY, NSET=NALL\n*BOUNDARY", 15, "parameter REF NODE is missing"),
    ("*BOUNDARY", "*SURFACE, NAME=A\nEALL, S9\n*BOUNDARY", 16, "T3D2 has no face 'S9'"),
    ("*BOUNDARY", "*TIE, NAME=T\nA, B\n*BOUNDARY", 16, "the surface 'A' is not defined"),
    ("*BOUNDARY", "*KINEMATIC\n1, 3\n*BOUNDARY", 15, "it stands alone"),
    ("*BOUNDARY", "*MATERIAL, NAME=STEEL\n*BOUNDARY", 15, "the material STEEL is defined twice"),
    ("*BOUNDARY", "*ORIENTATION, NAME=O\n1., 0., 0., 2., 0., 0.\n*BOUNDARY", 16, "they give no axes"),
    ("*BOUNDARY", "*TRANSFORM, NSET=NALL\n1., 0., 0.\n*BOUNDARY", 16, "3 entries; a transform"),
    ("*BOUNDARY", f"*NSET, NSET=A\n{'1, ' * 5000}\n*BOUNDARY", 16, "15000 characters; a line may have"),
    ("*BOUNDARY", "*NSET, NSET=A\n1\x00\n*BOUNDARY", 16, "byte 0x00 is not text"),
    ("*BOUNDARY", "*RESTART, READ, STEP=1\n*BOUNDARY", 15, "the model comes from a restart file"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), BAD, ids=lambda v: str(v)[:30])
def test_bad_decks(tmp_path, old, new, line, message):
    assert old in TRUSS
    with pytest.raises(MeshError) as error:
        read_deck(write(tmp_path, TRUSS.replace(old, new, 1)))
    text = str(error.value)
    assert message in text
    assert text.startswith(f"deck.inp, line {line}: ")
    assert "\n" not in text


def test_good_deck_of_the_bad_ones(tmp_path):
    assert read_deck(write(tmp_path, TRUSS)).unused == ()


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"** nothing\n", b"hello\n", bytes(range(256)) * 8, b"*HEADING\nx\n"]
)
def test_no_deck_at_all(tmp_path, content):
    with pytest.raises(MeshError, match=r"^deck\.inp"):
        read_deck(write(tmp_path, content))


def test_missing_file_and_folder(tmp_path):
    for path in (tmp_path / "none.inp", tmp_path):
        with pytest.raises(MeshError, match="no such file"):
            read_deck(path)


def test_errors_of_included_files(tmp_path):
    write(tmp_path, "1, 0., 0., 0.\n2, 1., 0., oops\n", "nodes.txt")
    head, rest = TRUSS.split("1, 0., 0., 0.\n2, 1., 0., 0.\n")
    with pytest.raises(MeshError, match=r"^nodes\.txt, line 2: \*NODE: .*'oops'"):
        read_deck(write(tmp_path, head + "*INCLUDE, INPUT=nodes.txt\n" + rest))
    write(tmp_path, "1, 0., 0., 0.\n2, 1., 0., 0.\n", "nodes.txt")
    deck = read_deck(write(tmp_path, head.replace("NALL", "NALL, INPUT=nodes.txt") + rest))
    assert_array_equal(deck.nsets["NALL"], [1, 2, 3])
    assert "nodes.txt" in deck.files
    write(tmp_path, "*INCLUDE, INPUT=b.inp\n", "a.inp")
    write(tmp_path, "*INCLUDE, INPUT=a.inp\n", "b.inp")
    with pytest.raises(MeshError, match=r"^b\.inp, line 1: .*includes itself"):
        read_deck(write(tmp_path, "*INCLUDE, INPUT=a.inp\n" + TRUSS))


def test_includes_that_multiply(tmp_path, monkeypatch):
    monkeypatch.setattr(abaqus_files, "MAX_FILES", 500)
    for k in range(1, 8):
        write(tmp_path, f"*INCLUDE, INPUT=f{k + 1}.inp\n" * 10, f"f{k}.inp")
    write(tmp_path, "", "f8.inp")
    with pytest.raises(MeshError, match="more than 500 files"):
        read_deck(write(tmp_path, "*NODE\n1, 0., 0., 0.\n*INCLUDE, INPUT=f1.inp\n"))


def test_include_through_a_link(tmp_path):
    """A link that leads out of the folder is outside of it."""
    (tmp_path / "deck").mkdir()
    write(tmp_path, "*NODE\n9, 0., 0., 0.\n", "secret.inp")
    (tmp_path / "deck" / "link.inp").symlink_to(tmp_path / "secret.inp")
    with pytest.raises(MeshError, match="outside the folder"):
        read_deck(write(tmp_path / "deck", "*INCLUDE, INPUT=link.inp\n" + TRUSS))


# ---- mutations -------------------------------------------------------------------------------------------------------

SOURCES = {p.name: p.read_text().splitlines() for p in sorted(DECKS.glob("*.inp"))} | {"truss": TRUSS.splitlines()}
WORDS = [
    "*", "**", ",", ",,", "=", '"', "0", "-1", "1e9", "99999999999999999999", "1.5D", "NALL", "EALL", "GENERATE",
    "*STEP", "*END STEP", "*INCLUDE, INPUT=portal.inp", "*NODE", "*ELEMENT, TYPE=C3D8", "*EQUATION", "TYPE=", "\t",
    "\x0c", "é", "*SURFACE, NAME=LID", "*NSET, NSET=X", "S1", "nan", "*BEAM SECTION", "*MATERIAL, NAME=M",
    "*ELASTIC, TYPE=ORTHO",
]  # fmt: skip


@st.composite
def mutated(draw):
    lines = list(SOURCES[draw(st.sampled_from(sorted(SOURCES)))])
    for _ in range(draw(st.integers(1, 4))):
        i = draw(st.integers(0, max(len(lines) - 1, 0)))
        what = draw(st.sampled_from(["delete", "copy", "swap", "cut", "insert", "word", "replace", "field", "end"]))
        line = lines[i] if lines else ""
        if not lines or what == "insert":
            lines.insert(i, draw(st.sampled_from(WORDS)))
        elif what == "delete":
            del lines[i]
        elif what == "copy":
            lines.insert(draw(st.integers(0, len(lines))), line)
        elif what == "swap":
            j = draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], line
        elif what == "cut":
            lines[i] = line[: draw(st.integers(0, len(line)))]
        elif what == "word":
            at = draw(st.integers(0, len(line)))
            lines[i] = line[:at] + draw(st.sampled_from(WORDS)) + line[at:]
        elif what == "replace":
            at = draw(st.integers(0, len(line)))
            lines[i] = line[:at] + draw(st.characters(codec="latin-1")) + line[at + 1 :]
        elif what == "field":
            fields = line.split(",")
            fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(WORDS))
            lines[i] = ",".join(fields)
        else:
            lines = lines[:i]
    return "\n".join(lines)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated())
def test_a_mutated_deck_is_read_or_refused(tmp_path, text):
    (tmp_path / "portal_nodes.inc").write_bytes((DECKS / "portal_nodes.inc").read_bytes())
    path = write(tmp_path, text.encode("utf-8", errors="replace"))
    try:
        deck = read_deck(path)
    except MeshError as error:
        assert re.match(r"[^\n]+?(, line \d+)?: ", str(error))
        assert "\n" not in str(error)
    else:
        assert np.isfinite(deck.x).all()
        assert all(np.isin(b.nodes[b.nodes > 0], deck.node_ids).all() for b in deck.blocks)
        assert all(np.isin(ids, deck.node_ids).all() for ids in deck.nsets.values())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_garbage_is_refused(tmp_path, data):
    try:
        deck = read_deck(write(tmp_path, b"*NODE\n1, 0., 0., 0.\n" + data))
    except MeshError as error:
        assert "\n" not in str(error)
    else:
        assert len(deck.node_ids)
