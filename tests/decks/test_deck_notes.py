"""What a deck holds and the model lacks: refused, or computed all the same and marked in every output."""

from __future__ import annotations

import json

import numpy as np
import pytest
from deck_text import at, block, brick, line_of, mesh_text, nset, prints, refused, run, steel, step

from fem_mbs.decks.abaqus.run import run_deck, solve_deck
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import ModelError
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.results.reader import Results

PULL = "*STATIC\n*CLOAD\nTIP, 1, 1.\n"
STATIC = step(PULL)
SURFACES = "*SURFACE, NAME=A\nEALL, S1\n*SURFACE, NAME=B\nEALL, S2\n"
HOT = (
    "*MATERIAL, NAME=STEEL\n*ELASTIC\n2., 0., 0.\n1., 0., 100.\n*EXPANSION\n1e-5\n"
    "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n"
)
TRACTION = "*MATERIAL, NAME=STEEL\n*ELASTIC, TYPE=TRACTION\n1., 2., 3.\n*ELASTIC\n2.1e11, 0.\n"
DROPPED = {
    "elasticity of tractions": (
        block(material=TRACTION + "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n"), "*MATERIAL",
        "*ELASTIC, TYPE=TRACTION of the material STEEL is not used",
    ),
    "contact": (block(SURFACES + "*CONTACT PAIR, INTERACTION=I\nA, B\n"), "*CONTACT PAIR", "keyword CONTACT PAIR"),
    "plasticity": (
        block(material=steel().replace("*DENSITY", "*PLASTIC\n1e8, 0.\n*DENSITY")), "*MATERIAL",
        "*PLASTIC of the material STEEL is not used",
    ),
    "model change": (
        block(steps=step(PULL + "*MODEL CHANGE, TYPE=ELEMENT, REMOVE\nEALL\n")), "*MODEL CHANGE", "MODEL CHANGE",
    ),
    "initial stress": (
        block("*INITIAL CONDITIONS, TYPE=STRESS\n1, 1., 0., 0., 0., 0., 0.\n"), "*INITIAL", "TYPE=STRESS",
    ),
    "mass scaling": (
        block(steps=step("*DYNAMIC, EXPLICIT\n1e-6, 1e-5, 1e-7\n")), "*STEP", "masses are not scaled",
    ),
    "an MPC of small rotations": (
        block("*MPC\nSTRAIGHT, 1, 2, 9\n", steps=step(PULL, "NLGEOM")), "STRAIGHT",
        "is computed for small rotations only",
    ),
    "a shift": (block(steps=step("*FREQUENCY\n2, , , 1e4\n")), "2, , , 1e4", "FREQUENCY, entries after the first 3"),
    "a law over temperature": (
        block(material=HOT, steps=step("*STATIC\n*TEMPERATURE\n1, 50.\n") + step("*STATIC\n*TEMPERATURE\n1, 90.\n")),
        "*MATERIAL",
        "the elasticity of STEEL depends on temperature, which varies in the deck; its value at 0 is taken",
    ),
    "temperatures linear in space": (
        block(steps=step("*STATIC\n*TEMPERATURE, LINTEMP\n0., 1., 0., 0., 20., 1., 30.\n")), "*TEMPERATURE",
        "keyword TEMPERATURE, LINTEMP: temperatures linear in space are not read",
    ),
    "a step": (block(steps=STATIC + step("*VISCO\n1., 2.\n")), "*STEP\n*VISCO", "VISCO is not"),
    "a keyword before the error that it causes": (
        block("*NODE, NSET=FREE\n99, 9., 9., 9.\n*EQUATION\n2\n99, 1, 1., 1, 1, 1.\n2\n99, 1, 1., 2, 1, 1.\n"
              + SURFACES + "*CONTACT PAIR, INTERACTION=I\nA, B\n"), "*CONTACT PAIR", "CONTACT PAIR",
    ),
    "another mesh": (
        block(steps=step("*STATIC\n*REFINE MESH, LIMIT=1\nS\n*CLOAD\nTIP, 1, 1.\n")), "*REFINE MESH",
        "keyword REFINE MESH: the mesh stays as it is",
    ),
    "a load without a number": (
        block(steps=step("*STATIC\n*DLOAD\nEALL, NEWTON\n")), "EALL, NEWTON", "entry DLOAD NEWTON",
    ),
    "an unknown keyword": (block("*FROBNICATE\n1, 2\n"), "*FROBNICATE", "keyword FROBNICATE: the keyword is not known"),
    "an unknown parameter": (
        block().replace("*CLOAD", "*CLOAD, SECTOR=2"), "*CLOAD, SECTOR", "parameter CLOAD, SECTOR",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPED)
def test_what_changes_the_answer_is_refused(tmp_path, name):
    text, place, sentence = DROPPED[name]
    path = tmp_path / "d.inp"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        solve_deck(path)
    message = str(caught.value)
    assert f"d.inp, line {line_of(text, place)}: " in message
    assert sentence in message
    assert "not supported" in message
    assert "--allow" in message


UNCHANGED = {
    "properties of contact without contact": block(
        "*SURFACE INTERACTION, NAME=I\n*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=HARD\n*FRICTION\n.2\n"
    ),
    "constants of radiation": block("*PHYSICAL CONSTANTS, ABSOLUTE ZERO=0., STEFAN BOLTZMANN=5.67e-8\n"),
    "a law of a material that no section has": block("*MATERIAL, NAME=OTHER\n*ELASTIC\n1., 0.\n*PLASTIC\n1e8, 0.\n"),
    "conductivity": block(material=steel().replace("*DENSITY", "*CONDUCTIVITY\n50.\n*DENSITY")),
    "a table over temperature at the initial temperature": block(
        "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 50.\n",
        material=HOT.replace("2., 0., 0.\n1.", "3.2e11, 0., 0.\n1e11"),
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_does_not_change_the_answer_is_a_note(tmp_path, name):
    path = tmp_path / "d.inp"
    path.write_text(UNCHANGED[name].replace("\n210000000000.0, 0.3\n", "\n210000000000.0, 0.0\n"), encoding="utf-8")
    converted, solution = solve_deck(path)
    assert all(n.effect is Effect.NONE for n in converted.notes), [n.line for n in converted.notes]
    assert "departures" not in solution.summary
    _, u = prints(solution.summary["steps"][0], "U")
    assert u[:, 0] == pytest.approx(4.0 * 2.0 / 2.1e11, rel=1e-9)


def test_a_deck_that_is_computed_all_the_same(call, tmp_path):
    """Every output says that it is not the deck's."""
    text, _, sentence = DROPPED["contact"]
    (tmp_path / "d.inp").write_text(text, encoding="utf-8")
    assert sentence in refused(call("run", "d.inp", cwd=tmp_path))
    assert sentence in refused(call("check", "d.inp", cwd=tmp_path))
    assert not (tmp_path / "d-results").exists()
    done = call("run", "d.inp", "--allow", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not the deck's results: d.inp, line" in done.stdout
    assert "not supported: d.inp, line" in call("check", "d.inp", "--allow", cwd=tmp_path).stdout
    summary = json.loads((tmp_path / "d-results" / "summary.json").read_text(encoding="utf-8"))
    assert [sentence in s for s in summary["departures"]] == [True]
    results = Results.open(tmp_path / "d-results")
    assert results.report.departures == summary["departures"]
    for title in (summary["title"], results.header["title"]):  # figures and the notebook show it
        assert title.endswith("(not the deck's results: 1 not supported)")
    assert "exclude each other" in refused(call("run", "d.inp", "--allow", "--strict", cwd=tmp_path))


def test_results_in_memory_are_marked(tmp_path):
    (tmp_path / "d.inp").write_text(DROPPED["contact"][0], encoding="utf-8")
    _, solution = solve_deck(tmp_path / "d.inp", accept=Accept.ALLOW)
    assert len(solution.summary["departures"]) == 1
    assert len(run_deck(tmp_path / "d.inp", tmp_path / "out", accept=Accept.ALLOW).summary["departures"]) == 1


# ---- meanings that are easily missed ---------------------------------------------------------------------------------
def test_a_circle_is_given_by_its_diameter(tmp_path):
    """Deflection of a cantilever, F L^3/(3 E I)."""
    n, length, d = 4, 10.0, 0.5
    nodes = {i + 1: np.array([length * i / n, 0.0, 0.0]) for i in range(n + 1)}
    text = mesh_text(nodes, {i: [i, i + 1] for i in range(1, n + 1)}, "B31")
    text += nset("TIP", [n + 1]) + "*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n"
    text += f"*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION=CIRC\n{d}\n0., 1., 0.\n*BOUNDARY\n1, 1, 6\n"
    converted, steps = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\nTIP, 2, 1000.\n*NODE PRINT, NSET=TIP\nU\n"))
    bending = 1000.0 * length**3 / (3.0 * 2e11 * np.pi * d**4 / 64.0)
    assert prints(steps[0], "U")[1][0, 1] == pytest.approx(bending, rel=5e-3)  # the rest is shear
    (note,) = [n for n in converted.notes if "CIRC" in n.text]
    assert note.effect is Effect.DIFFERS
    assert "a circle of this diameter" in note.text


def test_a_moment_on_the_reference_node_of_beams(tmp_path):
    """MPC BEAM from the nodes of a free end to a node without elements: rotation M L/(E I) of pure bending."""
    length, E = 10.0, 2.1e11
    nodes, elements = brick((10, 1, 1), (length, 1.0, 1.0), "C3D8I")
    tip = at(nodes, 0, length)
    nodes[1000] = np.array([length, 0.5, 0.5])
    text = mesh_text(nodes, elements, "C3D8I") + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", tip) + steel(E=E, nu=0.0)
    text += "*BOUNDARY\nFIX, 1, 3\n*MPC\n" + "".join(f"BEAM, {i}, 1000\n" for i in tip)
    moment = 1e5
    load = f"*STATIC\n*CLOAD\n1000, 5, {moment}\n*NODE PRINT, NSET=NALL\nU\n"
    converted, steps = run(tmp_path / "d.inp", text, step(load))
    angle = moment * length / (E / 12.0)
    ids, u = prints(steps[0], "U")
    assert u[ids == 1000][0, 2] == pytest.approx(-0.5 * angle * length, rel=1e-3)
    assert any("as a rigid body, as in Abaqus" in n.text and n.effect is Effect.DIFFERS for n in converted.notes)


def test_solids_before_beams_of_three_nodes(tmp_path):
    """The groups of a deck may come in any order."""
    nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0))
    nodes |= {9: np.array([0.5, 0.5, 2.0]), 10: np.array([0.5, 0.5, 3.0]), 11: np.array([0.5, 0.5, 4.0])}
    text = mesh_text(nodes, elements) + "*ELEMENT, TYPE=B32, ELSET=BEAM\n2, 9, 10, 11\n" + steel(nu=0.0)
    text += "*BEAM SECTION, ELSET=BEAM, MATERIAL=STEEL, SECTION=RECT\n.1, .1\n1., 0., 0.\n"
    text += nset("FIX", at(nodes, 2, 0.0)) + nset("TOP", at(nodes, 2, 1.0)) + "*BOUNDARY\nFIX, 1, 3\n9, 1, 6\n"
    load = "*STATIC\n*CLOAD\nTOP, 3, 1.\n11, 3, 1.\n*NODE PRINT, NSET=NALL\nU\n"
    _, steps = run(tmp_path / "d.inp", text, step(load))
    ids, u = prints(steps[0], "U")
    assert u[ids == 11][0, 2] == pytest.approx(2.0 / (2.1e11 * 0.01), rel=1e-9)
    assert u[ids == 5][0, 2] == pytest.approx(4.0 / 2.1e11, rel=1e-9)


def test_comparing_goes_on_after_bad_files(call, tmp_path):
    (tmp_path / "a.inp").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "b.inp").write_text(DROPPED["contact"][0], encoding="utf-8")
    (tmp_path / "c.inp").write_text(block(), encoding="utf-8")
    (tmp_path / "c.dat").write_bytes(b"\xff\xfe displacements (vx,vy,vz) for set TIP and time  x\n")
    done = call("compare-decks", tmp_path)
    assert "Traceback" not in done.stderr
    assert all(name in done.stdout for name in ("a  ", "b  ", "c  ")), done.stdout
    assert "refused" in done.stdout


def test_a_node_of_an_equation_alone_is_not_loose(tmp_path):
    """The mean motion of an end, and a force on it: directions that no equation names are no unknowns."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    tip = at(nodes, 0, 2.0)
    nodes[100] = np.array([5.0, 0.0, 0.0])
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + steel(nu=0.0)
    terms = ", ".join(f"{i}, 1, -0.25" for i in tip[:3])
    text += f"*BOUNDARY\nFIX, 1, 3\n*EQUATION\n5\n100, 1, 1., {terms},\n{tip[3]}, 1, -0.25\n"
    _, steps = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\n100, 1, 4.\n*NODE PRINT, NSET=NALL\nU\n"))
    ids, u = prints(steps[0], "U")
    assert u[ids == 100][0] == pytest.approx([4.0 * 2.0 / 2.1e11, 0.0, 0.0], rel=1e-9)


def test_an_expansion_of_zero_is_none(tmp_path):
    material = steel(nu=0.0).replace("*DENSITY", "*EXPANSION\n0.\n*DENSITY")
    text = block(material=material, steps=step("*STATIC\n*TEMPERATURE\nNALL, 50.\n*NODE PRINT, NSET=TIP\nU\n"))
    converted, steps = run(tmp_path / "d.inp", text)
    assert np.abs(prints(steps[0], "U")[1]).max() == 0.0
    assert [n.effect for n in converted.notes] == [Effect.NONE]


def _shown(tmp_path, text):
    path = tmp_path / "d.inp"
    path.write_text(text, encoding="utf-8")
    converted, solution = solve_deck(path)
    return [n.line for n in converted.notes if n.effect is Effect.DIFFERS], solution.summary["steps"]


def test_pressures_of_a_buckling_step_are_told(tmp_path):
    """CalculiX 2.20 has the factor of dead forces, 2.828767 for this bar; pressure that follows does not bend it."""
    nodes, elements = brick((6, 1, 1), (6.0, 1.0, 0.7), "C3D8I")
    text = mesh_text(nodes, elements, "C3D8I") + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 6.0))
    text += steel(1000.0, 0.3, 2.0) + "*BOUNDARY\nFIX, 1, 3\n"
    told, (pressed,) = _shown(tmp_path, text + step("*BUCKLE\n1\n*DLOAD\n6, P4, 1.\n"))
    assert len(told) == 1
    assert "CalculiX leaves it out" in told[0]
    told, (pushed,) = _shown(tmp_path, text + step("*BUCKLE\n1\n*CLOAD\nTIP, 1, -.175\n"))
    assert not told
    assert pushed["load_factors"][0] == pytest.approx(2.828767, rel=0.01)
    assert pressed["load_factors"][0] > 10.0 * pushed["load_factors"][0]


def test_forces_of_beams_with_offset_are_told(tmp_path):
    """The line of nodes is .15 beside the axis: a tension F bends by F e L^2/(2 E I); CalculiX 2.20: not at all."""
    text = "*NODE\n" + "".join(f"{i}, {i - 1}., 0., 0.\n" for i in range(1, 12)) + "*ELEMENT, TYPE=B31, ELSET=E\n"
    text += (
        "".join(f"{i}, {i}, {i + 1}\n" for i in range(1, 11))
        + "*NSET, NSET=TIP\n11\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.\n"
    )
    text += "*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT, OFFSET1=.5\n.3, .4\n0., 1., 0.\n*BOUNDARY\n1, 1, 6\n"
    told, (done,) = _shown(tmp_path, text + step("*STATIC\n*CLOAD\n11, 1, .003\n*NODE PRINT, NSET=TIP\nU\n"))
    assert len(told) == 1
    assert "OFFSET1" in told[0]
    bend = 0.003 * 0.15 * 10.0**2 / (2.0 * 1000.0 * 0.4 * 0.3**3 / 12.0)
    assert prints(done, "U")[1][0, 1] == pytest.approx(-bend, rel=1e-6)


def test_an_origin_of_axes_is_told(tmp_path):
    """a = c + (0, 1, 0), so that E1 lies along y: CalculiX 2.20 takes the axis from 0 to a, nearly that of x."""
    wood = (
        "*MATERIAL, NAME=STEEL\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n4., 1., 1., 0., 0., 0., 1., 1.,\n1.\n"
        "*ORIENTATION, NAME=O\n9., 1., 0., 8., 0., 0., 9., 0., 0.\n"
        "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL, ORIENTATION=O\n"
    )
    told, (done,) = _shown(tmp_path, block(material=wood))
    assert len(told) == 1
    assert "from its point c" in told[0]
    assert prints(done, "U")[1][:, 0] == pytest.approx(4.0 * 2.0 / 1.0, rel=1e-9)
