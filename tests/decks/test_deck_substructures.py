"""Substructures of decks: matrices of retained displacements against those of a bar, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, run, steel, step

from fem_mbs import load_model, read_part, solve
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


def cantilever(n: int, size: float, origin: float, load: str, more: str = "") -> str:
    """A bar of C3D20 along x with the sets LEFT and RIGHT of its ends."""
    nodes, elements = brick((n, 1, 1), (size, 0.2, 0.3), "C3D20", origin=(origin, 0.0, 0.0))
    text = mesh_text(nodes, elements, "C3D20") + steel(E=E, nu=0.3, rho=RHO)
    text += nset("LEFT", at(nodes, 0, origin)) + nset("RIGHT", at(nodes, 0, origin + size))
    return text + more + load


def generated(modes: int, retained: str) -> str:
    """Steps of a substructure with modes."""
    held = "".join(f"{line}\n" for line in retained.split())
    chosen = f"*SELECT EIGENMODES, GENERATE\n1, {modes}, 1\n" if modes else ""
    modal = step(f"*FREQUENCY\n{modes}\n*BOUNDARY\n{held}") if modes else ""
    return modal + step(f"*SUBSTRUCTURE GENERATE, TYPE=Z1, MASS MATRIX=YES\n*RETAINED NODAL DOFS\n{held}{chosen}")


MOUNTED = """
dimension = 3
[[part]]
name = "arm"
file = "arm.h5"
%s
[[support]]
on = [%s]
[[step]]
type = "modes"
count = 4
"""


def frequencies(path) -> np.ndarray:
    (done,) = solve(load_model(path)).summary["steps"]
    return np.array(done["frequencies_hz"])


def test_part_of_a_substructure(tmp_path, fem_mbs):
    """Retained nodes are interfaces, the selected modes its modes; mounted and held there it has the frequencies of the
    whole deck, the better the more modes."""
    _, (done,) = run(
        tmp_path / "whole.inp", cantilever(6, 2.0, 0.0, "*BOUNDARY\nLEFT, 1, 3\n" + step("*FREQUENCY\n4\n"))
    )
    exact = np.array(done["frequencies_hz"])[:4]
    errors = []
    for modes in (4, 12):
        (tmp_path / "arm.inp").write_text(cantilever(6, 2.0, 0.0, generated(modes, "LEFT,1,3")))
        code, _, error = fem_mbs("reduce", tmp_path / "arm.inp", "-o", tmp_path / "arm.h5", "--overwrite")
        assert code == 0, error
        part = read_part(tmp_path / "arm.h5")
        assert (part.method, len(part.frequencies), len(part.interfaces)) == ("craig_bampton", modes, 8)
        np.testing.assert_allclose(part.frequencies[:4], exact, rtol=1e-6)  # the modes with held retained nodes
        nodes = ", ".join(f'"arm:{i.name}"' for i in part.interfaces)
        (tmp_path / "model.toml").write_text(MOUNTED % ("", nodes))
        found = frequencies(tmp_path / "model.toml")[:4]
        errors.append(np.abs(found / exact - 1.0).max())
    assert max(errors) < 1e-6  # held where the modes are: they are exact


def test_two_coupled_substructures(tmp_path, fem_mbs):
    """Halves of a bar, coupled at their retained nodes, against the whole bar."""
    _, (done,) = run(
        tmp_path / "whole.inp", cantilever(6, 2.0, 0.0, "*BOUNDARY\nLEFT, 1, 3\n" + step("*FREQUENCY\n3\n"))
    )
    exact = np.array(done["frequencies_hz"])[:3]
    errors = []
    for modes in (0, 8):
        for name, origin, retained in (("arm", 0.0, "LEFT,1,3 RIGHT,1,3"), ("tip", 1.0, "LEFT,1,3")):
            (tmp_path / f"{name}.inp").write_text(cantilever(3, 1.0, origin, generated(modes, retained)))
            code, _, error = fem_mbs("reduce", tmp_path / f"{name}.inp", "-o", tmp_path / f"{name}.h5", "--overwrite")
            assert code == 0, error
        arm, tip = (read_part(tmp_path / f"{name}.h5") for name in ("arm", "tip"))
        held = ", ".join(f'"arm:{i.name}"' for i in arm.interfaces if i.position[0] < 0.5)
        tied = [(i.name, k.name) for i in arm.interfaces for k in tip.interfaces if np.allclose(i.position, k.position)]
        assert len(tied) == 8
        rows = "".join(f'[[joint]]\ntype = "spherical"\na = "tip:{b}"\nb = "arm:{a}"\n' for a, b in tied)
        text = MOUNTED % ('[[part]]\nname = "tip"\nfile = "tip.h5"', held) + rows
        (tmp_path / "model.toml").write_text(text)
        errors.append(np.abs(frequencies(tmp_path / "model.toml")[:3] / exact - 1.0).max())
    assert errors[1] < 5e-4 and errors[1] < 0.02 * errors[0]


def test_part_in_a_model_file_without_a_file_of_its_own(tmp_path):
    (tmp_path / "arm.inp").write_text(cantilever(3, 1.0, 0.0, generated(5, "LEFT,1,3")))
    text = MOUNTED.replace('file = "arm.h5"', 'file = "arm.inp"\nreduce = {}') % ("", '"arm:1"')
    (tmp_path / "model.toml").write_text(text.replace('"arm:1"', ", ".join(f'"arm:{i}"' for i in (1, 4))))
    model = load_model(tmp_path / "model.toml")
    assert len(model.reduced_parts["arm"].interfaces) == 8
    (tmp_path / "arm.inp").write_text(cantilever(3, 1.0, 0.0, step("*FREQUENCY\n4\n")))
    with pytest.raises(InputError, match="no interface is named"):
        load_model(tmp_path / "model.toml")


def test_substructures_that_are_no_parts(tmp_path, fem_mbs):
    path = tmp_path / "arm.inp"
    for text, message in (
        (generated(3, "LEFT,1,3").replace("1, 3, 1", "2, 3, 1"), "the modes are not the lowest ones"),
        (step("*STATIC\n*CLOAD\nRIGHT, 1, 1.\n") + generated(0, "LEFT,1,3"), "after a step STATIC"),
        (generated(3, "LEFT,1,3").replace("*SUBSTRUCTURE G", "*SUBSTRUCTURE PATH\n*SUBSTRUCTURE G"), "fem-mbs reduce"),
    ):
        path.write_text(cantilever(3, 1.0, 0.0, text))
        code, _, error = fem_mbs("reduce", path, "-o", tmp_path / "a.h5", "--allow")
        assert code == 2 and message in error and "arm.inp, line" in error
    path.write_text(
        cantilever(
            3, 1.0, 0.0, generated(3, "LEFT,1,3").partition("*STEP")[2].partition("*STEP")[2].join(("*STEP", ""))
        )
    )
    with pytest.raises(InputError, match="the matrices are those of the retained displacements alone"):
        run(path, path.read_text())
