"""Decks that cannot become a model, and decks on the command line: one sentence with file and line, exit code 2."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from deck_text import at, block, brick, line_of, refused, steel, step
from places import SCHEMA

from fem_mbs.decks.abaqus.run import solve_deck
from fem_mbs.errors import InputError
from fem_mbs.meshes.vocabulary import Effect


def swapped(text: str) -> str:
    """The nodes of element 2 counted the wrong way round."""
    row = re.search(r"(?m)^2, (\d+), (\d+), (\d+), (\d+), (\d+), (\d+), (\d+), (\d+)$", text)
    n = row.groups()
    return text.replace(row.group(0), "2, " + ", ".join(n[4:] + n[:4]))


INSIDE_OUT = re.search(r"(?m)^2(, \d+){8}$", swapped(block())).group(0)
TIP_TWICE = "*EQUATION\n2\n3, 1, 1., 6, 1, -1.\n*EQUATION\n2\n3, 1, 1., 8, 1, -1.\n"
SHELL = block().replace(
    "*BOUNDARY",
    "*ELEMENT, TYPE=S4RSW, ELSET=SH\n9, 1, 2, 5, 4\n*SHELL SECTION, ELSET=SH, MATERIAL=STEEL\n.1\n*BOUNDARY",
    1,
)
TRUSS = (
    "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=EALL\n1, 1, 2\n" + steel()
    + "1e-4\n*BOUNDARY\n1, 1, 3\n" + step("*STATIC\n*CLOAD\n2, 1, 1.\n")
)  # fmt: skip
PLANE = (
    "*NODE\n1, 0., 0.\n2, 1., 0.\n3, 1., 1.\n4, 0., 1.\n*ELEMENT, TYPE=CPS4, ELSET=EALL\n1, 1, 2, 3, 4\n" + steel()
    + "*BOUNDARY\n1, 1, 2\n" + step("*STATIC\n*CLOAD\n2, 1, 1.\n")
)  # fmt: skip
ENGINEERING = "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1., 1., 1., 0., 0., 0., 0., 1.\n1.\n"
BARE = "*MATERIAL, NAME=A\n*ELASTIC\n1., 0.\n*SOLID SECTION, ELSET=EALL, MATERIAL=A\n"
BAD = {
    "inside out": (swapped(block()), INSIDE_OUT, "hexahedron 2 counts its nodes the wrong way round"),
    "loose": (block().replace("FIX, 1, 3", "FIX, 1, 1"), "*STEP", "the model is loose"),
    "unsupported element": (SHELL, "9, 1, 2", "types that are not supported: S4RSW (1 element, the first is 9)"),
    "dependent dof used twice": (
        block(TIP_TWICE), "2\n3, 1, 1., 8", "direction 1 of node 3 is the dependent one already",
    ),
    "dependent dof held": (
        block("*EQUATION\n2\n1, 1, 1., 3, 1, -1.\n"), "FIX, 1, 3",
        "direction 1 of node 1 is held, but depends on others",
    ),
    "support goes": (
        block(
            steps=step("*FREQUENCY\n1\n") + step("*MODAL DYNAMIC\n.1, 1.\n*BOUNDARY, OP=NEW\nFIX, 1, 2\n")
        ),
        "FIX, 1, 3",
        "is not there in step 2, and step 2 with MODAL DYNAMIC needs the same supports as all others",
    ),
    "no material constants": (
        block(material="*MATERIAL, NAME=A\n*DENSITY\n1.\n*SOLID SECTION, ELSET=EALL, MATERIAL=A\n"), "*MATERIAL",
        "has no elastic constants",
    ),
    "a law without elasticity": (
        block(material=BARE.replace("*ELASTIC", "*HYPERELASTIC")), "*MATERIAL",
        "*HYPERELASTIC of the material A, which the section of bad.inp, line 30 needs, is not supported",
    ),
    "no density for modes": (
        block(material=BARE, steps=step("*FREQUENCY\n2\n")), "*MATERIAL",
        "the material A has no density, and the FREQUENCY step of bad.inp, line ",
    ),
    "no density for motion": (
        block(material=BARE, steps=step("*DYNAMIC\n.1, 1.\n", "NLGEOM")), "*MATERIAL", "the material A has no density",
    ),
    "no density for turning": (
        block(material=BARE, steps=step("*STATIC\n*DLOAD\nEALL, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n")), "*MATERIAL",
        "the material A has no density, and the CENTRIF load of ",
    ),
    "everything held": (block("*BOUNDARY\nNALL, 1, 3\n"), None, "bad.inp: Model: every degree of freedom is held"),
    "impossible material": (block(material=steel(nu=0.5)), "*MATERIAL", "nu"),
    "no steps": (block(steps=""), "FIX, 1, 3", "the deck has no steps"),
    "cut off after the nodes": (block()[: block().index("*ELEMENT")], None, "line 13: the deck has no elements"),
    "nothing to compute": (
        block(steps=step("*HEAT TRANSFER\n1., 1.\n")), "*STEP", "no step of the deck can be computed",
    ),
    "buckling without loads": (block(steps=step("*BUCKLE\n1\n")), "*STEP", "the BUCKLE step has no loads"),
    "a surface of masses": (
        block("*ELEMENT, TYPE=MASS, ELSET=M\n99, 1\n*MASS, ELSET=M\n1.\n*SURFACE, NAME=S\nM\n"), "M\n*STEP",
        "MASS has no face",
    ),
    "MPC of another kind": (block("*MPC\nDIST, 1, 2, 3\n"), "DIST", "the MPC DIST is not supported"),
    "axes by nodes": (
        block("*ORIENTATION, NAME=O, DEFINITION=NODES\n1, 2, 3\n"), "*ORIENTATION", "DEFINITION=NODES is not read",
    ),
    "membranes beside their nodes": (
        block("*MEMBRANE SECTION, ELSET=EALL, MATERIAL=M, OFFSET=.5\n.1\n"), "*MEMBRANE", "OFFSET of membranes",
    ),
    "crooked plane": (
        block("*MPC\nPLANE, 1, 2, 4, 7\n"), "PLANE, 1", "does not lie on the plane of the first 3 nodes",
    ),
    "a node twice in a truss": (TRUSS.replace("1, 1, 2", "1, 1, 1"), "1, 1, 1\n", "element 1 has node 1 twice"),
    "beside the plane": (
        PLANE.replace("3, 1., 1.", "3, 1., 1., .5"), "1, 1, 2, 3, 4", "node 3 of plane element 1 has z = 0.5",
    ),
    "a spring that pushes": (
        block("*ELEMENT, TYPE=SPRINGA, ELSET=SP\n9, 1, 2\n*SPRING, ELSET=SP\n\n-1.\n"), "*SPRING", "stiffness = -1.0",
    ),
    "a pressure without value": (block(steps=step("*STATIC\n*DLOAD\nEALL, P1\n")), "EALL, P1", "value of the load is"),
    "axes from a table": (
        block("*DISTRIBUTION, NAME=DI\n, 1., 0., 0., 0., 1., 0.\n*ORIENTATION, NAME=O\nDJ\n"), "DJ\n*STEP",
        "the *DISTRIBUTION DJ is not defined; there are DI",
    ),
    "axes of some elements": (
        block("*DISTRIBUTION, NAME=DI\n1, 1., 0., 0., 0., 1., 0.\n*ORIENTATION, NAME=O\nDI\n"), "*DISTRIBUTION",
        "the line of all other elements is missing; begin it with a comma",
    ),
    "a spring without direction": (
        block("*ELEMENT, TYPE=SPRING1, ELSET=SP\n9, 1\n*SPRING, ELSET=SP\n\n1.\n"), "\n1.\n",
        "the line with the direction of SPRING1 is empty",
    ),
    "no shear modulus": (
        block(material=steel().replace("*ELASTIC\n210000000000.0, 0.3\n", ENGINEERING)), "*MATERIAL",
        "shear must be greater than 0",
    ),
    "centrifugal in part": (
        block(
            "*ELSET, ELSET=ONE\n1\n",
            steps=step("*STATIC\n*DLOAD\nONE, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n", "NLGEOM"),
        ),
        "ONE, CENTRIF", "CENTRIF of a part of the model (2 is missing) is not supported in a deck with step 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_decks(tmp_path, name):
    text, place, sentence = BAD[name]
    path = tmp_path / "bad.inp"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        solve_deck(path)
    message = str(caught.value)
    assert sentence in message
    assert "\n" not in message
    if place is not None:
        assert message.startswith(f"bad.inp, line {line_of(text, place)}: "), message


NOTED = {
    "a second section": (
        "*ELSET, ELSET=ONE\n1\n*MATERIAL, NAME=B\n*ELASTIC\n5., 0.\n*SOLID SECTION, ELSET=ONE, MATERIAL=B\n",
        "*SOLID SECTION, ELSET=ONE", "section a second one of element 1: the last counts, another stands in ",
        Effect.DIFFERS,
    ),
    "the same section again": (
        "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n", "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*STEP",
        "section a second one of element 1 (2 times)", Effect.NONE,
    ),
    "a set that names itself": ("*NSET, NSET=A\n1, 2\n*NSET, NSET=A\nA, 3\n", "A, 3", "A: the set itself", Effect.NONE),
    "a material without density": (
        "*ELSET, ELSET=ONE\n1\n*MATERIAL, NAME=B\n*ELASTIC\n5., 0.\n*SOLID SECTION, ELSET=ONE, MATERIAL=B\n",
        "*MATERIAL, NAME=B", "the material B has no density, so that its elements have no mass", Effect.DIFFERS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTED)
def test_oddities_are_noted(tmp_path, name):
    extra, place, sentence, effect = NOTED[name]
    text = block(extra, steps=step("*FREQUENCY\n2\n") if "density" in name else None)
    (tmp_path / "odd.inp").write_text(text, encoding="utf-8")
    converted, _ = solve_deck(tmp_path / "odd.inp")
    found = [n for n in converted.notes if sentence in str(n)]
    assert len(found) == 1, [str(n) for n in converted.notes]
    assert str(found[0]).startswith(f"odd.inp, line {line_of(text, place)}: ")
    assert found[0].effect is effect


# ---- the command line ------------------------------------------------------------------------------------------------


FILES = {
    "binary garbage": (bytes(range(256)) * 40, "byte"),
    "an empty file": (b"", ""),
    "cut off": (block()[:-30].encode(), "line"),
    "includes itself": (b"*INCLUDE, INPUT=bad.inp\n", "bad.inp"),
    "outside of its folder": (b"*INCLUDE, INPUT=../../etc/passwd\n", "folder"),
    "an enormous line": (b"*NODE\n1, " + b"9" * 30_000_000 + b"\n", "line 2"),
    "an element twice": (re.sub(r"(?m)^2((, \d+){8})$", r"1\1", block()).encode(), "defined twice"),
    "without section": (block(material="").encode(), "without properties"),
    "a mechanism": (block().replace("FIX, 1, 3", "FIX, 1, 1").encode(), "loose"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files_on_the_command_line(call, tmp_path, name):
    data, word = FILES[name]
    (tmp_path / "bad.inp").write_bytes(data)
    said = refused(call("run", "bad.inp", "-o", "out", cwd=tmp_path))
    assert "bad.inp" in said
    assert word in said


def test_a_run_of_a_deck(call, tmp_path):
    (tmp_path / "good.inp").write_text(block(), encoding="utf-8")
    done = call("run", "good.inp", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "good-results" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    (table,) = summary["steps"][0]["prints"]
    assert table["quantity"] == "U"
    assert table["set"] == "TIP"
    assert table["time"] == 1.0
    assert len(table["ids"]) == len(table["values"]) == 4
    assert summary["skipped"] == []
    assert (tmp_path / "good-results" / "results.h5").exists()
    explained = call("check", "good.inp", cwd=tmp_path)
    assert explained.returncode == 0
    assert "2 elements C3D8 (hexahedron, standard), STEEL" in explained.stdout
    assert "step 1: STATIC as linear statics, to t = 1, prints U" in explained.stdout


def test_strict_refuses_what_is_not_used(call, tmp_path):
    (tmp_path / "some.inp").write_text(block("*RESTART, WRITE\n"), encoding="utf-8")
    assert call("run", "some.inp", cwd=tmp_path).returncode == 0
    summary = json.loads((tmp_path / "some-results" / "summary.json").read_text(encoding="utf-8"))
    assert any("RESTART" in s for s in summary["skipped"])
    assert "RESTART" in refused(call("run", "some.inp", "--strict", cwd=tmp_path))
    assert "RESTART" in refused(call("check", "some.inp", "--strict", cwd=tmp_path))


def test_comparing_decks(call, tmp_path):
    """A reference that agrees, and one that does not."""
    (tmp_path / "pull.inp").write_text(block(material=steel(nu=0.0)), encoding="utf-8")
    u = 2.0 * 4.0 / 2.1e11
    tips = at(brick((2, 1, 1), (2.0, 1.0, 1.0))[0], 0, 2.0)

    def reference(value: float) -> None:
        rows = "".join(f"{i:10d} {value:13.6E} {0.0:13.6E} {0.0:13.6E}\n" for i in tips)
        head = "\n                        S T E P       1\n\n\n                                INCREMENT     1\n\n\n"
        table = f" displacements (vx,vy,vz) for set TIP and time  0.1000000E+01\n\n{rows}\n"
        (tmp_path / "pull.dat").write_text(head + table, encoding="utf-8")

    reference(u)
    done = call("compare-decks", tmp_path, "--json", tmp_path / "table.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 comparisons, 0 outside" in done.stdout
    (row,) = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert row["status"] == "ok"
    assert row["measured"] == pytest.approx(u, rel=1e-6)
    reference(1.01 * u)
    done = call("compare-decks", tmp_path)
    assert done.returncode == 1
    assert "outside" in done.stdout
    refused(call("compare-decks", tmp_path / "nowhere"))
