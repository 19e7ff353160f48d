"""*PRE-TENSION SECTION and *BOUNDARY, FIXED: two cubes on springs, as springs in series."""

import numpy as np
import pytest
from deck_text import brick, mesh_text, nset, prints, refused, run, step

E, K, FORCE, LOAD = 2.0e5, 1.0e5, 1000.0, 400.0
SPAN = 2.0 / E  # of two cubes in a row
MATERIAL = "*MATERIAL, NAME=M\n*ELASTIC\n2.E5, 0.\n*EXPANSION\n1.E-5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"


def cubes(section: str, steps: str, kind: str = "C3D8", faces: str = "1, S6") -> str:
    """Two cubes along x, held at x = 0, with springs of K altogether at x = 2; node 99 is the control node."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), kind)
    low, high = ([i for i, x in nodes.items() if x[0] == v] for v in (0.0, 2.0))
    text = mesh_text(nodes, elements, kind) + "*NODE\n99, 1., 0., 0.\n" + MATERIAL
    text += nset("LOW", low) + nset("HIGH", high) + nset("CONTROL", [99])
    springs = "".join(f"{100 + k}, {node}\n" for k, node in enumerate(high))
    text += f"*ELEMENT, TYPE=SPRING1, ELSET=SP\n{springs}*SPRING, ELSET=SP\n1\n{K / len(high)}\n"
    text += f"*SURFACE, NAME=CUT\n{faces}\n{section}*BOUNDARY\nLOW, 1, 3\nHIGH, 2, 3\n"
    return text + steps


PRINTS = "*NODE PRINT, NSET=HIGH\nU\n*NODE PRINT, NSET=CONTROL\nU\n"
SECTION = "*PRE-TENSION SECTION, SURFACE=CUT, NODE=99\n"
TENSION = f"*STATIC\n*CLOAD\n99, 1, {FORCE}\n"
ALONG = f"*STATIC\n*BOUNDARY, FIXED\n99, 1\n*CLOAD\nHIGH, 1, {LOAD / 4}\n"


def face_of(ahead: bool) -> str:
    """The face between both cubes, by the first of them or by the second."""
    _, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    nodes, _ = brick((2, 1, 1), (2.0, 1.0, 1.0))
    from fem_mbs.meshes.cells import FACETS

    number = 2 if ahead else 1
    for k, (_, local) in enumerate(FACETS["hexahedron"]):
        if all(nodes[elements[number][i]][0] == 1.0 for i in local):
            return f"{number}, S{k + 1}"
    raise AssertionError


def ends(summary) -> tuple[float, float]:
    """Displacement of the end and of the control node along x."""
    found = [p for p in summary["prints"] if p["quantity"] == "U"]
    return tuple(np.mean([v[0] for v in p["values"]]) for p in sorted(found, key=lambda p: p["set"], reverse=True))


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("nlgeom", [False, True])
def test_tension_lock_and_further_load(tmp_path, ahead, nlgeom):
    option = ("NLGEOM",) if nlgeom else ()
    steps = step(TENSION + PRINTS, *option) + step(ALONG) + step(f"*STATIC\n*CLOAD\nHIGH, 1, 0.\n99, 1, {2 * FORCE}\n")
    _, found = run(tmp_path / "a.inp", cubes(SECTION, steps, faces=face_of(ahead)))
    first, locked, last = (ends(s) for s in found)
    strains = 6.0 * FORCE / E if nlgeom else 1e-9
    assert first == pytest.approx((-FORCE / K, FORCE / K + FORCE * SPAN), rel=strains)
    assert locked[1] == pytest.approx(first[1], rel=1e-12)
    assert locked[0] - first[0] == pytest.approx(LOAD / (K + 1.0 / SPAN), rel=strains)
    assert last == pytest.approx(first, rel=1e-9)  # the force on the locked section does nothing


def test_shortening_given_normal_and_beam(tmp_path):
    """A prescribed shortening; the opposite normal turns signs; a beam gives way to an equation along it."""
    q = 1e-3
    moved = step(f"*STATIC\n*BOUNDARY\n99, 1, 1, {q}\n" + PRINTS)
    _, found = run(tmp_path / "a.inp", cubes(SECTION, moved, faces=face_of(False)))
    assert ends(found[0]) == pytest.approx((-q / (1.0 + K * SPAN), q), rel=1e-9)
    _, found = run(tmp_path / "b.inp", cubes(SECTION + "-1., 0., 0.\n", moved, faces=face_of(False)))
    assert ends(found[0]) == pytest.approx((q / (1.0 + K * SPAN), q), rel=1e-9)
    beam = (
        "*NODE\n50, 5., 0., 0.\n51, 6., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=B\n60, 50, 51\n"
        "*BEAM SECTION, ELSET=B, MATERIAL=M, SECTION=RECT\n.1, .1\n0., 1., 0.\n"
        "*ELEMENT, TYPE=SPRING1, ELSET=S2\n70, 50\n71, 51\n*SPRING, ELSET=S2\n1\n500.\n"
        "*PRE-TENSION SECTION, ELEMENT=60, NODE=99\n*BOUNDARY\n50, 2, 3\n51, 2, 3\n"
    )
    pull = step("*STATIC\n*CLOAD\n99, 1, 10.\n*NODE PRINT, NSET=NB\nU\n")
    _, found = run(tmp_path / "c.inp", cubes(beam + nset("NB", [50, 51, 99]), pull))
    _, values = prints(found[0], "U")
    assert values[:, 0] == pytest.approx([10.0 / 500.0, -10.0 / 500.0, 20.0 / 500.0], rel=1e-9)


def test_doubles_have_the_temperature_of_their_nodes(tmp_path):
    """Both cubes become longer by alpha T each; the shortening stands."""
    hot = step("*STATIC\n*TEMPERATURE\nNALL, 100.\n*BOUNDARY\n99, 1, 1, 0.\n" + PRINTS)
    nodes, _ = brick((2, 1, 1), (2.0, 1.0, 1.0))
    text = cubes(nset("NALL", list(nodes)) + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0.\n" + SECTION, hot,
                 faces=face_of(False))  # fmt: skip
    _, found = run(tmp_path / "a.inp", text)
    assert ends(found[0])[0] == pytest.approx(2e-3 / (1.0 + K * SPAN), rel=1e-9)


def test_shells_are_cut_along_edges(tmp_path):
    """A strip of two shells, held at both ends: tension q E b t/(2 a), whatever the rotations."""
    text = (
        "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n"
        "4, 0., 1., 0.\n5, 1., 1., 0.\n6, 2., 1., 0.\n99, 1., 0., 0.\n"
        "*ELEMENT, TYPE=S4, ELSET=EALL\n1, 1, 2, 5, 4\n2, 2, 3, 6, 5\n"
        "*MATERIAL, NAME=M\n*ELASTIC\n2.E5, 0.\n*SHELL SECTION, ELSET=EALL, MATERIAL=M\n.01\n"
        "*SURFACE, NAME=CUT\n1, S4\n*PRE-TENSION SECTION, SURFACE=CUT, NODE=99\n"
        "*BOUNDARY\n1, 1, 6\n4, 1, 6\n3, 1, 6\n6, 1, 6\n"
    )
    pull = step("*STATIC\n*BOUNDARY\n99, 1, 1, .001\n*NODE PRINT, NSET=ENDS\nRF\n")
    _, found = run(tmp_path / "a.inp", text + nset("ENDS", [1, 4]), pull)
    _, forces = prints(found[0], "RF")
    assert forces[:, 0].sum() == pytest.approx(-0.001 * 2e5 * 0.01 / 2.0, rel=1e-9)


BAD = {
    "a surface outside": (cubes(SECTION, step(TENSION), faces="1, S1"), "lies on the outside"),
    "a number that is no beam": (
        cubes("*PRE-TENSION SECTION, ELEMENT=1, NODE=99\n", step(TENSION)), "element 1 is no B31",
    ),
    "neither surface nor element": (
        cubes("*PRE-TENSION SECTION, NODE=99\n", step(TENSION)), "give either SURFACE=... or ELEMENT=...",
    ),
    "no normal": (cubes(SECTION + "0., 0., 0.\n", step(TENSION)), "the normal has no length"),
    "FIXED in vibrations": (
        cubes(SECTION, step(TENSION) + step("*STEADY STATE DYNAMICS, DIRECT\n1., 2., 2\n*BOUNDARY, FIXED\n99, 1\n"),
              faces=face_of(False)),
        "FIXED supports in STEADY STATE DYNAMICS are not supported",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_wrong_sections_are_refused(tmp_path, call, name):
    text, sentence = BAD[name]
    (tmp_path / "a.inp").write_text(text, encoding="utf-8")
    line = refused(call("run", "a.inp", cwd=tmp_path))
    assert sentence in line and "a.inp, line" in line
