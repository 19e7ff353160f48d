"""Substructures of decks: matrices of retained displacements against those of a bar, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, run, steel, step

from fem_mbs.decks.abaqus.compare import compare_deck
from fem_mbs.errors import InputError

E, RHO, LENGTH = 2.1e11, 7800.0, 2.0


def bar(load: str, held: str = "NALL, 2, 3") -> str:
    nodes, elements = brick((2, 1, 1), (LENGTH, 1.0, 1.0))
    text = mesh_text(nodes, elements) + steel(E=E, nu=0.0, rho=RHO)
    text += nset("LEFT", at(nodes, 0, 0.0)) + nset("RIGHT", at(nodes, 0, LENGTH)) + f"*BOUNDARY\n{held}\n"
    return text + step(load)


RETAINED = "*SUBSTRUCTURE GENERATE\n*RETAINED NODAL DOFS, SORTED=NO\nRIGHT, 1\nLEFT, 1, 1\n"
MASS = "*SUBSTRUCTURE MATRIX OUTPUT, STIFFNESS=YES, MASS=YES, OUTPUT FILE=MATRIX, FILE NAME=a\n"


def test_stiffness_and_mass_of_a_bar(tmp_path):
    """Ends that move as a whole have E A/L, and the mass of linear displacements."""
    _, (done,) = run(tmp_path / "d.inp", bar(RETAINED + MASS))
    tables = {t["quantity"]: t for t in done["prints"]}
    assert tables["K"]["points"] == [1] * 8 and len(set(tables["K"]["ids"])) == 8
    ends = np.kron(np.eye(2), np.ones((4, 1)))
    K, M = (ends.T @ np.array(tables[name]["values"]) @ ends for name in ("K", "M"))
    assert pytest.approx(E / LENGTH * np.array([[1.0, -1.0], [-1.0, 1.0]]), rel=1e-9) == K
    assert pytest.approx(RHO * LENGTH / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]]), rel=1e-9) == M


def test_comparison_with_both_kinds_of_files(tmp_path):
    """What CalculiX writes for *USER ELEMENT and for *MATRIX ASSEMBLE; a wrong entry is outside."""
    path = tmp_path / "d.inp"
    _, (done,) = run(path, bar(RETAINED))
    (table,) = done["prints"]
    ids, K = table["ids"], np.array(table["values"])
    n = len(ids)
    lower = [(i, j) for i in range(n) for j in range(i + 1)]
    assembled = "".join(f"{ids[i]:10d} 1 {ids[j]:10d} 1 {K[i, j]:.13E}\n" for i, j in lower)
    rows = "\n".join(" ".join(f"{K[i, j]:.13E}" for j in range(i + 1)) for i in range(n))
    element = f"**\n** GENERATION OF SUBSTRUCTURE\n*USER ELEMENT NODES={n:10d} LINEAR\n** ELEMENT NODES\n**"
    element += " ".join(map(str, ids)) + "\n 1\n" + "".join(f"{k} 1\n" for k in range(2, n + 1))
    element += f"*MATRIX TYPE=STIFFNESS\n{rows}\n"
    for text in (assembled, element):
        path.with_suffix(".dat.ref").write_text(text)
        (row,) = compare_deck(path)
        assert (row.quantity, row.status) == ("K", "ok") and row.difference < 1e-12
        path.with_suffix(".dat.ref").write_text(text.replace(f"{K[0, 0]:.13E}", f"{2.0 * K[0, 0]:.13E}"))
        assert [r.status for r in compare_deck(path)] == ["outside"]


@pytest.mark.parametrize(
    ("load", "held", "message"),
    [
        (RETAINED, "NALL, 2, 3\nLEFT, 1", "is held in a retained direction"),
        (RETAINED.replace("LEFT, 1, 1", "LEFT, 1, 4"), "NALL, 2, 3", "has no direction 4"),
        (RETAINED.replace("LEFT", "RIGHT"), "NALL, 2, 3", "retained twice"),
        ("*SUBSTRUCTURE GENERATE\n", "NALL, 2, 3", "retains nothing"),
        (RETAINED, "LEFT, 3", "the model can move with the retained displacements held"),
        (RETAINED.replace("LEFT, 1, 1", "LEFT, 2, 1"), "NALL, 2, 3", "the directions are 2 to 1"),
    ],
)
def test_what_cannot_be_retained(tmp_path, load, held, message):
    with pytest.raises(InputError, match=message) as caught:
        run(tmp_path / "d.inp", bar(load, held))
    assert "d.inp, line" in str(caught.value)


def test_displacements_that_depend_on_each_other(tmp_path):
    text = bar(RETAINED)
    first, second = at(brick((2, 1, 1), (LENGTH, 1.0, 1.0))[0], 0, 0.0)[:2]
    text = text.replace("*BOUNDARY", f"*EQUATION\n2\n{first}, 1, 1., {second}, 1, -1.\n*BOUNDARY")
    with pytest.raises(InputError, match="depend on each other by equations"):
        run(tmp_path / "d.inp", text)
