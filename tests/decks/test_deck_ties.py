"""Ties of solids, shells and nodes, against beams of one piece."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, step

from fem_mbs.decks.abaqus.run import convert
from fem_mbs.errors import ModelError
from fem_mbs.meshes.abaqus.reader import read_deck

E = 2.0e11
MATERIAL = f"*MATERIAL, NAME=M\n*ELASTIC\n{E}, 0.\n*DENSITY\n7850.\n"


def two_blocks(gap, tie):
    """Two unit cubes along x that stand a gap apart; the second one has the slave surface."""
    a, cells_a = brick((1, 1, 1), (1.0, 1.0, 1.0))
    b, cells_b = brick((1, 1, 1), (1.0, 1.0, 1.0), first=101, origin=(1.0 + gap, 0.0, 0.0), element=2)
    return (
        mesh_text(a | b, cells_a | cells_b)
        + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
        + MATERIAL
        + nset("BASE", at(a, 0, 0.0))
        + nset("TIP", at(b, 0, 2.0 + gap))
        + "*SURFACE, NAME=MASTER\n1, S4\n*SURFACE, NAME=SLAVE\n2, S6\n"
        + tie
        + "*BOUNDARY\nBASE, 1, 3\nTIP, 2, 3\n"
        + step("*STATIC\n*CLOAD\nTIP, 1, 2.5e8\n*NODE PRINT, NSET=TIP\nU\n")
    )


def test_slaves_move_onto_their_master(tmp_path):
    """With ADJUST, the default of both programs, the gap becomes part of the second block."""
    tie = "*TIE, NAME=T, POSITION TOLERANCE=.05\nSLAVE, MASTER\n"
    converted, (done,) = run(tmp_path / "gap.inp", two_blocks(0.02, tie))
    assert np.allclose(prints(done, "U")[1][:, 0], 1e9 / E * 2.02, rtol=1e-9)
    assert converted.deck.x[:, 0].max() == pytest.approx(2.02)


def test_a_tie_beyond_its_tolerance_is_refused(tmp_path):
    tie = "*TIE, NAME=T, POSITION TOLERANCE=.01\nSLAVE, MASTER\n"
    (tmp_path / "far.inp").write_text(two_blocks(0.02, tie))
    with pytest.raises(ModelError, match=r"stands 0\.02 away"):
        convert(read_deck(tmp_path / "far.inp"))


@pytest.mark.parametrize("free", [False, True])
def test_beams_tied_node_to_node(tmp_path, free):
    """Two beams in a row; without NO ROTATION they bend as one, with it the joint is a hinge at a prop."""
    deck = (
        "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 1., 0., 0.\n4, 2., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=B\n1, 1, 2\n"
        "2, 3, 4\n"
        f"*BEAM SECTION, ELSET=B, MATERIAL=M, SECTION=RECT\n.02, .02\n0., 0., -1.\n{MATERIAL}"
        "*NSET, NSET=ONE\n2\n*NSET, NSET=TWO\n3\n*SURFACE, TYPE=NODE, NAME=A\nONE, 1.\n*SURFACE, TYPE=NODE, NAME=Z\n"
        f"TWO, 1.\n*TIE, NAME=T, POSITION TOLERANCE=.01{', NO ROTATION' if free else ''}\nZ, A\n*BOUNDARY\n1, 1, 6\n"
        f"{'4, 2, 4' if free else '4, 3, 4'}\n"
        f"*STEP\n*STATIC\n*CLOAD\n{'2' if free else '4'}, 2, 10.\n*NODE PRINT, NSET=ONE\nU\n"
        f"*NODE PRINT, NSET=TWO\nU\n*END STEP\n"
    )
    _, (done,) = run(tmp_path / "beams.inp", deck)
    bending = 10.0 / (3.0 * E * 0.02**4 / 12.0)
    _, u = prints(done, "U", set="ONE")
    # the free end of both bends by (2 L)^3, whose middle by 5/16 of it; a hinge leaves the first beam alone
    assert u[0, 1] == pytest.approx(bending * (1.0 if free else 2.5), rel=1e-3)


def strip(x0, y, n=8, first=1, element=1, length=1.0, width=0.1):
    """Nodes and elements of a strip of n shells along x, at z = y."""
    nodes = {}
    for i in range(n + 1):
        for j in range(2):
            nodes[first + 2 * i + j] = np.array((x0 + length * i / n, width * j, y))
    cells = {element + i: [first + 2 * i, first + 2 * i + 2, first + 2 * i + 3, first + 2 * i + 1] for i in range(n)}
    return nodes, cells


@pytest.mark.parametrize("master", ["edge", "face"])
def test_edges_of_shells(tmp_path, master):
    """Two strips in a row, the second of which hangs with its edge on the edge or face of the first."""
    overlap = 0.0 if master == "edge" else 0.05
    a, cells_a = strip(0.0, 0.0)
    b, cells_b = strip(1.0 - overlap, 0.0, first=101, element=101)
    side = "8, E2" if master == "edge" else "8, SPOS"
    tip = ", ".join(map(str, at(b, 0, 2.0 - overlap)))
    deck = (
        mesh_text(a | b, cells_a | cells_b, "S4R")
        + f"*SHELL SECTION, ELSET=EALL, MATERIAL=M\n.01\n{MATERIAL}"
        + f"*SURFACE, NAME=MASTER\n{side}\n*SURFACE, NAME=SLAVE\n101, E4\n*TIE, NAME=T\nSLAVE, MASTER\n"
        + nset("BASE", at(a, 0, 0.0)) + f"*NSET, NSET=TIP\n{tip}\n*BOUNDARY\nBASE, 1, 6\n"
        + step("*STATIC\n*CLOAD\nTIP, 3, .5\n*NODE PRINT, NSET=TIP\nU\n")
    )  # fmt: skip
    _, (done,) = run(tmp_path / "strips.inp", deck)
    length = 2.0 - overlap
    expected = length**3 / (3.0 * E * 0.1 * 0.01**3 / 12.0)  # on a face the edge meets an element in its middle
    assert np.allclose(prints(done, "U")[1][:, 2], expected, rtol=6e-3 if master == "edge" else 0.02)


def plated(thickness, height, steps, held=True, n=20):
    """A bar of bricks with a plate of shells on top, whose nodes stand half its thickness above."""
    solids, cells = brick((n, 1, 1), (1.0, 0.1, height), kind="C3D8I")
    shells, plates = strip(0.0, height + 0.5 * thickness, n=3 * n // 2, first=1001, element=1001)
    top = ",\n".join(f"{e}, S2" for e in cells)
    ends = at(solids, 0, 0.0) + at(shells, 0, 0.0)
    return (
        mesh_text(solids, cells, "C3D8I", "BAR") + mesh_text(shells, plates, "S4R", "PLATE")
        + f"*SOLID SECTION, ELSET=BAR, MATERIAL=M\n*SHELL SECTION, ELSET=PLATE, MATERIAL=M\n{thickness}\n{MATERIAL}"
        + f"*SURFACE, NAME=TOP\n{top}\n*SURFACE, NAME=UNDER\nPLATE, SNEG\n*TIE, NAME=T, ADJUST=YES\nUNDER, TOP\n"
        + nset("TIP", at(solids, 0, 1.0)) + nset("BASE", ends)
        + ("*BOUNDARY\nBASE, 1, 6\n" if held else "") + steps
    )  # fmt: skip


def test_a_plate_on_a_bar_bends_as_one(tmp_path):
    load = step("*STATIC\n*CLOAD\nTIP, 3, 25.\n*NODE PRINT, NSET=TIP\nU\n")
    _, (done,) = run(tmp_path / "plated.inp", plated(0.02, 0.05, load))
    inertia = 0.1 * 0.07**3 / 12.0
    expected = 100.0 / (3.0 * E * inertia) + 100.0 * 1.2 / (0.5 * E * 0.1 * 0.07)
    assert np.allclose(prints(done, "U")[1][:, 2], expected, rtol=0.02)


def test_a_plate_on_a_bar_moves_freely(tmp_path):
    """Six motions of a rigid body: the half thickness between the plate's nodes and the bar resists none."""
    _, (done,) = run(tmp_path / "free.inp", plated(0.02, 0.05, step("*FREQUENCY\n7\n"), held=False))
    frequencies = np.array(done["frequencies_hz"])
    assert (np.abs(frequencies[:6]) < 1e-3 * frequencies[6]).all() and frequencies[6] > 100.0
