"""*IMPERFECTION and RIKS: columns with the shape of their buckling mode, against the amplified deflection."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import refused, step
from deck_text import run as run_deck

from fem_mbs import Model, ModelError, load_model, run, solve
from fem_mbs.decks.abaqus.run import convert
from fem_mbs.errors import ResultsError
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.results.modes.shapes import shape_of

N = 20
E, B, H = 2.1e11, 0.02, 0.01
EULER = np.pi**2 * E * B * H**3 / 12.0  # of length 1, two hinges
AMPLITUDE = 1e-4


def column(extra: str = "") -> str:
    """A hinged column of length 1 along x that bends in the plane x, y."""
    rows = "".join(f"{i + 1}, {i / N:.17g}, 0., 0.\n" for i in range(N + 1))
    text = f"*NODE, NSET=NALL\n{rows}*ELEMENT, TYPE=B31, ELSET=EALL\n"
    text += "".join(f"{i}, {i}, {i + 1}\n" for i in range(1, N + 1))
    text += extra + f"*MATERIAL, NAME=M\n*ELASTIC\n{E}, 0.\n*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION=RECT\n"
    text += f"{B}, {H}\n0., 0., 1.\n*BOUNDARY\n1, 1, 4\n{N + 1}, 2, 3\nNALL, 3, 3\n"
    return text


BUCKLE = step(f"*BUCKLE\n2\n*CLOAD\n{N + 1}, 1, -1.\n")
PATH = f"*STATIC, RIKS\n.1, 1., , , .5\n*CLOAD\n{N + 1}, 1, {-EULER:.17g}\n*NODE PRINT, NSET=NALL\nU\n"
SHAPE = "".join(f"{i + 1}, 0., {AMPLITUDE * np.sin(np.pi * i / N):.17g}\n" for i in range(N + 1))


@pytest.mark.parametrize("kind", ["other deck", "own deck", "table"])
def test_a_column_with_the_shape_of_its_mode(tmp_path, kind):
    """The amplitude grows by 1/(1 - P/P_cr) (Young), at P = 1/2 by 2: the column moves by what it had."""
    (tmp_path / "modes.inp").write_text(column() + BUCKLE, encoding="utf-8")
    if kind == "other deck":
        text = column(f"*IMPERFECTION, FILE=modes, STEP=1\n1, {AMPLITUDE}\n") + step(PATH, "NLGEOM, INC=200")
    elif kind == "own deck":
        text = column(f"*IMPERFECTION, FILE=d, STEP=1\n1, {AMPLITUDE}\n") + BUCKLE + step(PATH, "NLGEOM, INC=200")
    else:
        text = column("*IMPERFECTION\n" + SHAPE) + step(PATH, "NLGEOM, INC=200")
    converted, done = run_deck(tmp_path / "d.inp", text)
    x = converted.model.positions
    np.testing.assert_allclose(x[:, 1], AMPLITUDE * np.sin(np.pi * x[:, 0]), rtol=5e-3, atol=1e-12)
    path = done[-1]
    assert path["load_factor"] == pytest.approx(0.5, rel=1e-6)
    last = [p for p in path["prints"] if p["quantity"] == "U"][-1]
    ids, u = np.array(last["ids"]), np.array(last["values"])
    assert u[ids == N // 2 + 1, 1] == pytest.approx([AMPLITUDE], rel=2e-2)
    if kind == "own deck":
        assert done[0]["load_factors"][0] == pytest.approx(EULER, rel=5e-3)


def test_a_path_without_an_end_and_one_that_ends_at_a_displacement(tmp_path):
    """Without a load factor the path has INC points; with a node it ends at its displacement."""
    load = f"*CLOAD\n{N + 1}, 1, {-EULER:.17g}\n*NODE PRINT, NSET=NALL\nU\n"
    text = column("*IMPERFECTION\n" + SHAPE)
    _, done = run_deck(tmp_path / "d.inp", text + step("*STATIC, RIKS\n.1, 1.\n" + load, "NLGEOM, INC=7"))
    assert done[0]["increments"] == 7 and "failures" not in done[0]
    middle = N // 2 + 1
    ends = f"*STATIC, RIKS\n.1, 1., , , , {middle}, 2, .03\n" + load
    _, done = run_deck(tmp_path / "e.inp", text + step(ends, "NLGEOM, INC=100"))
    ids, u = (np.array([p for p in done[0]["prints"] if p["quantity"] == "U"][-1][k]) for k in ("ids", "values"))
    assert u[ids == middle, 1] == pytest.approx([0.03], rel=1e-6)
    # at this deflection the load of the elastica is just above Euler's: 1 + (pi w)^2/8, less the imperfection's share
    assert done[0]["load_factor"] == pytest.approx(1.0 + (np.pi * 0.03) ** 2 / 8.0 - AMPLITUDE / 0.03, rel=5e-3)


BAD = {
    "no other deck": (column("*IMPERFECTION, FILE=other, STEP=1\n1, 1.\n") + BUCKLE, "there is no deck other.inp"),
    "no such step": (column("*IMPERFECTION, FILE=a, STEP=3\n1, 1.\n") + BUCKLE, "has no step 3"),
    "no such mode": (column("*IMPERFECTION, FILE=a, STEP=1\n9, 1.\n") + BUCKLE, "has no shape 9"),
    "no loads": (column() + step("*STATIC, RIKS\n", "NLGEOM"), "the step with RIKS has no loads"),
    "loads that may take others' place": (
        column() + step(f"*STATIC\n*CLOAD\n{N // 2 + 1}, 2, 1.\n", "NLGEOM") + step(PATH, "NLGEOM"),
        "*CLOAD in a step with RIKS after *CLOAD of step 1",
    ),
    "a step behind": (column() + step(PATH, "NLGEOM") + BUCKLE, "steps after one with RIKS are not supported"),
    "after a linear step": (
        column() + step("*STATIC\n*DLOAD\nEALL, P1, 1.\n") + step(PATH, "NLGEOM"),
        "after the linear step 1",
    ),
    "a direction": (column() + step("*STATIC, RIKS\n1., 1., , , , 2, 7, 1.\n"), "the direction is 7"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(tmp_path, call, name):
    text, sentence = BAD[name]
    (tmp_path / "a.inp").write_text(text, encoding="utf-8")
    line = refused(call("run", "a.inp", cwd=tmp_path))
    assert sentence in line and "a.inp, line" in line


FILE = """
dimension = 2
[section.s]
shape = "stiffness"
EA = 1e7
EI = 1.0
rhoA = 1.0
[mesh.b.polyline]
points = [[0, 0], [1, 0]]
n = 16
{imperfection}
[[beam]]
name = "b"
on = "b"
section = "s"
[[support]]
on = "b:start"
components = ["x", "y"]
[[support]]
on = "b:end"
components = ["y"]
[[force]]
name = "P"
on = "b:end"
vector = [-9.8696044, 0]
[[sensor]]
name = "u"
kind = "displacement"
on = "b:start"
[[step]]
{step}
"""
STEPS = {"modes": 'type = "buckling"\ncount = 1', "path": 'type = "static"\nincrements = 4\nuntil = 0.5'}
IMPERFECTIONS = {
    "expressions": '[[imperfection]]\non = "b"\ndisplacement = [0, "sin(pi*x)"]\nfactor = 1e-4\n',
    "results": '[[imperfection]]\nresults = "out"\nstep = "buckling"\nmode = 1\nfactor = 1e-4\n',
}


@pytest.mark.parametrize("kind", IMPERFECTIONS)
def test_imperfections_of_model_files(tmp_path, kind):
    """The same column, by expressions and by the shape of a results folder."""
    first, path = tmp_path / "modes.toml", tmp_path / "model.toml"
    first.write_text(FILE.format(imperfection="", step=STEPS["modes"]), encoding="utf-8")
    run(load_model(first), tmp_path / "out")
    path.write_text(FILE.format(imperfection=IMPERFECTIONS[kind], step=STEPS["path"]), encoding="utf-8")
    model = load_model(path)
    x = model.positions
    np.testing.assert_allclose(x[:, 1], 1e-4 * np.sin(np.pi * x[:, 0]), rtol=1e-4, atol=1e-12)
    u = np.array(solve(model).steps[0].frames["displacement"])[-1]
    assert u[:, 1].max() == pytest.approx(1e-4, rel=1e-2)


def test_wrong_imperfections():
    def line() -> Model:
        m = Model(2)
        m.section("s", "stiffness", EA=1.0, EI=1.0, rhoA=1.0)
        m.line("b", (0, 0), (1, 0), 2)
        return m

    m = line()
    with pytest.raises(ModelError, match="give displacement, or results"):
        m.imperfection("b")
    with pytest.raises(ModelError, match="must be 2 numbers"):
        m.imperfection("b", displacement=[0.0, 0.0, 1.0])
    m.imperfection("b", displacement=np.array([[0.0, 0.0], [0.0, 0.1], [0.0, 0.0]]))
    np.testing.assert_array_equal(m.positions[:, 1], [0.0, 0.1, 0.0])
    m.beams("b", "b", "s")
    with pytest.raises(ModelError, match="make the imperfection before the parts"):
        m.imperfection("b", displacement=[0.0, 1.0])


def test_the_deck_has_the_moved_nodes(tmp_path):
    text = column("*IMPERFECTION\n5, .001, .002, .003\nNALL, 0., 1.\n") + BUCKLE
    (tmp_path / "d.inp").write_text(text, encoding="utf-8")
    x = convert(read_deck(tmp_path / "d.inp")).conversion.deck.x
    np.testing.assert_allclose(x[4], (4 / N + 0.001, 1.002, 0.003), rtol=1e-14)


def test_shapes_about_a_state(tmp_path):
    """Shapes of results about a state are those alone, with 1 as their largest component."""
    m = Model(2)
    m.section("s", "stiffness", EA=1e5, EI=1.0, rhoA=1.0)
    m.line("b", (0, 0), (1, 0), 8)
    m.beams("b", "b", "s")
    m.fix("b:start", ["x", "y"])
    m.fix("b:end", ["y"])
    m.force("P", "b:end", (2e4, 0.0))
    m.static_step(1)
    m.modes_step(1, "modes")
    solution = solve(m)
    u = shape_of(solution, "modes", 1)
    x = np.linspace(0.0, 1.0, 9)
    assert u[:, 0] == pytest.approx(np.zeros(9), abs=1e-3)
    assert u[:, 1] == pytest.approx(np.sin(np.pi * x), abs=1e-2)
    assert shape_of(solution, 1, 0)[-1, 0] == pytest.approx(0.2, rel=1e-9)
    with pytest.raises(ResultsError, match="there is no step swing"):
        shape_of(solution, "swing", 1)
