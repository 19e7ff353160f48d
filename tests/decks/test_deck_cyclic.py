"""Cyclic symmetry of decks: a sector against the whole wheel, which is a deck without it."""

import numpy as np
import pytest
from deck_text import mesh_text, nset, refused, run, step

from fem_mbs.decks.abaqus.compare import compare_deck

N, OMEGA = 6, 1000.0
STEEL = "*MATERIAL, NAME=M\n*ELASTIC\n2.1E11, .3\n*DENSITY\n7850.\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
SPIN = f"*STATIC\n*DLOAD\nEALL, CENTRIF, {OMEGA**2}, 0., 0., 0., 1., 0., 0.\n"
SECTOR = "*SURFACE, NAME=A, TYPE=NODE\nLOW\n*SURFACE, NAME=B, TYPE=NODE\nHIGH\n"
TIE = "*TIE, NAME=T, CYCLIC SYMMETRY\nA, B\n"
MODEL = f"*CYCLIC SYMMETRY MODEL, N={N}, NGRAPH={N}\n0., 0., 0., 1., 0., 0.\n"


def wheel(whole: bool, extra: str = "", steps: str = "") -> str:
    """A ring about x of two cells per sector, uneven along it, held at its inner radius in the middle of each."""
    around = 2 * (N if whole else 1)
    nodes, elements, table = {}, {}, {}
    for i in range(around + (0 if whole else 1)):
        a = 2.0 * np.pi * i / (2 * N)
        out = 1.3 if i % 2 else 1.0
        for j, r in enumerate((0.5, 0.8 * out, 1.0 * out)):
            for k, x in enumerate((0.0, 0.1)):
                table[i, j, k] = len(nodes) + 1
                nodes[len(nodes) + 1] = np.array((x, r * np.cos(a), r * np.sin(a)))
    for i in range(around):
        n = (i + 1) % around if whole else i + 1
        for j in range(2):
            cell = [table[p, q, k] for k in (0, 1) for p, q in ((i, j), (i, j + 1), (n, j + 1), (n, j))]
            elements[len(elements) + 1] = cell
    held = [table[i, 0, k] for i in range(1, around, 2) for k in (0, 1)]
    text = mesh_text(nodes, elements) + nset("HELD", held) + STEEL + "*BOUNDARY\nHELD, 1, 3\n"
    if not whole:
        for name, i in (("LOW", 0), ("HIGH", 2)):
            text += nset(name, [v for key, v in table.items() if key[0] == i])
    return text + extra + steps


def frequencies(found) -> np.ndarray:
    return np.array(found["frequencies_hz"])


def test_frequencies_of_a_spinning_sector_are_those_of_the_wheel(tmp_path):
    """After a linear preload, and after one with NLGEOM; every nodal diameter at once."""
    select = f"*FREQUENCY\n6\n*SELECT CYCLIC SYMMETRY MODES, NMIN=0, NMAX={N // 2}\n"
    for options in ((), ("NLGEOM",)):
        of_wheel = step(SPIN, *options) + step("*FREQUENCY\n12\n", "PERTURBATION")
        of_sector = step(SPIN, *options) + step(select, "PERTURBATION")
        _, whole = run(tmp_path / "whole.inp", wheel(True, steps=of_wheel))
        _, sector = run(tmp_path / "sector.inp", wheel(False, SECTOR + TIE + MODEL, of_sector))
        found = sector[1]
        assert found["nodal_diameters"] == [n for n in range(N // 2 + 1) for _ in range(6)]
        every = np.sort(np.repeat(frequencies(found), found["copies"]))
        assert every[:12] == pytest.approx(frequencies(whole[1]), rel=1e-6)


def test_statics_and_frequencies_without_selection_are_those_of_equal_sectors(tmp_path):
    """Faces as surfaces of elements, given the other way round."""
    low, high = "*SURFACE, NAME=A\n1, S3\n2, S3\n", "*SURFACE, NAME=B\n3, S5\n4, S5\n"
    tie = "*TIE, NAME=T, CYCLIC SYMMETRY, POSITION TOLERANCE=1.E-3\nB, A\n"
    model = MODEL.replace("NGRAPH", "TIE=T, ELSET=EALL, NGRAPH")
    prints = "*NODE PRINT, NSET=TIP\nU\n"
    answers = []
    for whole in (True, False):
        extra = "" if whole else low + high + tie + model
        steps = step(SPIN + prints) + step("*FREQUENCY\n2\n")
        _, found = run(tmp_path / "a.inp", wheel(whole, nset("TIP", [5, 6, 11, 12]) + extra, steps))
        table = next(p for p in found[0]["prints"] if p["quantity"] == "U")
        answers.append(np.array(table["values"]))
    assert answers[1] == pytest.approx(answers[0], rel=1e-9, abs=1e-12)
    select = step("*FREQUENCY\n3\n*SELECT CYCLIC SYMMETRY MODES, NMAX=0\n")
    _, of_waves = run(tmp_path / "b.inp", wheel(False, SECTOR + TIE + MODEL, select))
    assert frequencies(of_waves[0])[:2] == pytest.approx(frequencies(found[1]), rel=1e-9)


BAD = {
    "no model": (SECTOR + TIE, step(SPIN), "has no *CYCLIC SYMMETRY MODEL"),
    "no tie": (SECTOR + MODEL, step(SPIN), "has no *TIE, CYCLIC SYMMETRY of its own"),
    "another tie": (
        SECTOR + TIE + MODEL.replace("NGRAPH", "TIE=U, NGRAPH"), step(SPIN), "TIE=U has no *TIE, CYCLIC SYMMETRY",
    ),
    "part of a sector": (SECTOR + TIE + MODEL.replace("N=6", "N=6.5"), step(SPIN), "N=6.5; give a whole number"),
    "another number": (SECTOR + TIE + MODEL.replace("N=6", "N=7"), step(SPIN), "do not meet the other face"),
    "an axis without length": (
        SECTOR + TIE + MODEL.replace("1., 0., 0.", "0., 0., 0."), step(SPIN), "both points of the axis are the same",
    ),
    "a diameter": (
        SECTOR + TIE + MODEL, step("*FREQUENCY\n2\n*SELECT CYCLIC SYMMETRY MODES, NMIN=1, NMAX=4\n"),
        "has nodal diameters from 0 to 3",
    ),
    "modes without sectors": (
        "", step("*FREQUENCY\n2\n*SELECT CYCLIC SYMMETRY MODES, NMIN=1, NMAX=1\n"), "needs a *CYCLIC SYMMETRY MODEL",
    ),
    "bounds": (
        SECTOR + TIE + MODEL, step("*FREQUENCY\n2, 0., 1e5\n*SELECT CYCLIC SYMMETRY MODES, NMIN=1, NMAX=1\n"),
        "bounds of FREQUENCY by nodal diameters",
    ),
    "several stages": (
        SECTOR + TIE.replace("CYCLIC SYMMETRY", "MULTISTAGE") + MODEL, step(SPIN), "keyword TIE, MULTISTAGE",
    ),
    "loads of a sector": (
        SECTOR + TIE + MODEL, step(SPIN.replace("*DLOAD", "*DLOAD, SECTOR=2")), "parameter DLOAD, SECTOR",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_wrong_sectors_are_refused(tmp_path, call, name):
    extra, steps, sentence = BAD[name]
    (tmp_path / "a.inp").write_text(wheel(False, extra, steps), encoding="utf-8")
    line = refused(call("run", "a.inp", cwd=tmp_path))
    assert sentence in line and "a.inp, line" in line


def test_comparison_by_nodal_diameters(tmp_path):
    """The reference lists waves twice, with a column for the diameter; a wrong frequency is outside."""
    select = step("*FREQUENCY\n4\n*SELECT CYCLIC SYMMETRY MODES, NMIN=1, NMAX=1\n")
    deck = tmp_path / "a.inp"
    _, found = run(deck, wheel(False, SECTOR + TIE + MODEL, select))
    w = 2.0 * np.pi * np.repeat(frequencies(found[0]), 2)
    for factor, status in ((1.0, "ok"), (1.01, "outside")):
        rows = "".join(
            f"    1 {k:10d}   {f**2:.7E}   {f:.7E}   {f / 6.2831853:.7E}   0.0000000E+00\n"
            for k, f in enumerate(factor * w, 1)
        )
        head = (
            "\n                        S T E P       1\n\n\n     E I G E N V A L U E   O U T P U T\n\n"
            "  NODAL   MODE NO    EIGENVALUE                      FREQUENCY\n DIAMETER                 "
            "                   REAL PART            IMAGINARY PART\n"
            "                                    (RAD/TIME)      (CYCLES/TIME)   (RAD/TIME)\n\n"
        )
        (tmp_path / "a.dat.ref").write_text(head + rows, encoding="utf-8")
        rows_of = [row for row in compare_deck(deck) if "frequencies" in row.quantity]
        assert [row.status for row in rows_of] == [status]
        assert rows_of[0].quantity.startswith("frequencies of nodal diameter 1")
