"""Decks of Abaqus and CalculiX: what is read, what is listed as not used, and how bad decks end."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from places import DECKS, SHARED_DECKS

from fem_mbs.errors import MeshError
from fem_mbs.meshes.abaqus import text as abaqus_text
from fem_mbs.meshes.abaqus.deck import (
    BeamSection,
    Dashpot,
    MembraneSection,
    PointMass,
    RotaryInertia,
    ShellSection,
    SolidSection,
    Spring,
)
from fem_mbs.meshes.abaqus.elements import element_type, faces
from fem_mbs.meshes.abaqus.mesh import DeckMesh
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect

# Decks that are not ours to keep: beside the checkout, or where the variable says.

TRUSS = """*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=EALL
1, 1, 2
2, 2, 3
*MATERIAL, NAME=STEEL
*ELASTIC
2.1E11, 0.3
*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL
1.E-4
*AMPLITUDE, NAME=RAMP
0., 0., 1., 1.
*BOUNDARY
1, 1, 3
*STEP
*STATIC
0.1, 1.
*CLOAD
2, 1, 10.
*DLOAD
EALL, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=NALL
U
*END STEP
"""


def write(folder: Path, text: str | bytes, name: str = "deck.inp") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture(scope="module")
def portal():
    return read_deck(DECKS / "portal.inp")


@pytest.fixture(scope="module")
def block():
    return read_deck(DECKS / "block.inp")


@pytest.fixture(scope="module")
def quirks():
    return read_deck(DECKS / "quirks.inp")


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_mesh(portal):
    assert portal.title == ("A portal with a platform", "of our own")
    assert_array_equal(portal.node_ids, np.arange(1, 11))
    assert_allclose(portal.x[8], [5, 3, 1])
    assert_allclose(portal.x[portal.nodes_in(np.array([7, 2]))], [[5, 3, 0], [0, 1.5, 0]])
    blocks = {b.type: b for b in portal.blocks}
    assert list(blocks)[:4] == ["B32", "B31", "T3D2", "S4R"]
    assert_array_equal(blocks["B31"].ids, [2, 3, 4, 5])
    assert_array_equal(blocks["B31"].nodes, [[3, 4], [4, 5], [5, 6], [5, 7]])
    assert (blocks["S4R"].family, blocks["S4R"].shape) == ("shell", "S4")
    with pytest.raises(ValueError, match="read-only"):
        blocks["B31"].ids[0] = 7


def test_sets(portal):
    assert_array_equal(portal.nsets["FRAME"], [1, 2, 3, 4, 5, 6])  # the data lines of the included file
    assert_array_equal(portal.nsets["EXTRA"], [7, 8, 9, 10])
    assert_array_equal(portal.nsets["EVEN"], [2, 4, 6, 8])
    assert_array_equal(portal.nsets["MANY"], [1, 6, 2, 4, 8, 3])  # in order, each once
    assert_array_equal(portal.nsets["OFPLATE"], [5, 7, 8, 9])
    assert_array_equal(portal.elsets["BEAMS"], [1, 2, 3, 4, 5])  # two keywords, sets and a number


def test_materials(portal, block):
    steel = portal.materials["STEEL"]
    assert steel.elastic.kind == "isotropic"
    assert_allclose(steel.elastic.constants, [[2.1e11, 0.3]])
    assert np.isnan(steel.elastic.temperature).all()
    assert steel.density[0, 0] == 7850
    assert (steel.expansion.zero, steel.expansion.coefficients[0, 0]) == (20, 1.2e-5)
    assert steel.damping == (0.1, 2e-4)
    assert steel.others == ("PLASTIC",)
    table = portal.materials["TABLE"].elastic
    assert_allclose(table.constants, [[2.1e11, 0.3], [2.0e11, 0.29]])
    assert_allclose(table.temperature, [20, 100])
    ortho = block.materials["ORTHO"]
    assert ortho.elastic.kind == "orthotropic"
    assert_allclose(ortho.elastic.constants[0, [0, 1, 5, 8]], [500000, 157200, 300000, 126200])
    assert_allclose(ortho.elastic.temperature, [294])
    assert_allclose(ortho.expansion.coefficients, [[1e-5, 2e-5, 3e-5]])
    engineering = block.materials["ENGINEERING"]
    assert engineering.elastic.constants.shape == (1, 9)
    assert np.isnan(engineering.elastic.temperature[0])
    assert_allclose(engineering.density, [[1e-9, 20], [2e-9, 40]])
    aniso = block.materials["ANISO"].elastic
    assert_allclose(aniso.constants[0], np.arange(1, 22))
    assert aniso.constants[1, 20] == 22
    assert_allclose(aniso.temperature, [20, 40])


def test_beam_sections(portal):
    column, girder, strut, general = portal.of_type(BeamSection)
    assert (column.shape, column.material, column.offsets) == ("RECT", "STEEL", (0.5, 0.0))
    assert_allclose(column.dimensions, [0.2, 0.3])
    assert_allclose(column.n1, [0, 0, 1])
    assert girder.n1 is None
    assert girder.shape == "PIPE"
    assert_allclose(strut.dimensions, [0.2, 0.1, 0.01, 0.01, 0.02, 0.02])
    assert general.general == (2.1e11, 8e10)
    assert general.density == 7850
    assert general.material is None
    assert_allclose(general.dimensions, [1e-3, 2e-6, 0, 3e-6, 4e-6])
    extra = portal.normals[0]  # the additional node of the strut
    assert_array_equal(extra.elements, [4, 4])
    assert_array_equal(extra.nodes, [5, 6])
    assert_allclose(extra.vectors, [[5, 6, 9]] * 2)
    assert_allclose(portal.normals[1].vectors, [[0, 0, 2]])


def test_other_sections(portal, block):
    (rod,) = portal.of_type(SolidSection)
    assert rod.value == 2.5e-4
    plate, layered = portal.of_type(ShellSection)
    assert (plate.thickness, plate.offset, plate.orientation) == (0.01, 0.5, "LOCAL")
    assert layered.material is None
    assert layered.thickness == pytest.approx(0.005)
    assert [(s.thickness, s.material, s.orientation) for s in layered.layers] == [
        (0.002, "STEEL", "LOCAL"),
        (0.003, "TABLE", None),
    ]
    assert portal.of_type(MembraneSection)[0].thickness == 0.001
    assert portal.of_type(PointMass)[0].mass == 12.5
    assert_allclose(portal.of_type(RotaryInertia)[0].inertia, [1, 2, 3, 0.1, 0.2, 0.3])
    assert portal.nodal_thickness == {9: (0.012,)}
    assert block.of_type(SolidSection)[0].orientation == "ROUND"
    # the upper element has two sections: the later one counts
    assert [s.material for s in block.section_of(np.array([1, 2, 3]))] == ["ORTHO", "ANISO", "ANISO"]
    assert block.section_of(np.array([4])) == [None]
    local, around = portal.orientations["LOCAL"], block.orientations["ROUND"]
    assert (local.system, local.axis, local.angle) == ("rectangular", 3, 30)
    assert_allclose(local.b, [-1, 1, 0])
    assert around.system == "cylindrical"
    assert_allclose(around.b, [0, 0, 1])


def test_springs(portal):
    cable, ground, hinge = portal.of_type(Spring)
    assert (cable.type, cable.dofs, cable.linear) == ("SPRINGA", (), False)
    assert_allclose(cable.law[:, :2], [[0, 0], [10, 0.1], [30, 0.2]])
    assert (ground.dofs, ground.linear) == ((6,), True)
    assert ground.law[0, 0] == 1e5
    assert hinge.dofs == (6, 6)
    assert_allclose(hinge.law, [[1e4, 20], [2e4, 100]])
    (damper,) = portal.of_type(Dashpot)
    assert damper.law[0, 0] == 150
    assert_array_equal(damper.elements, [15])


@pytest.mark.parametrize(
    ("kind", "nodes", "data", "dofs", "value"),
    [
        ("SPRINGA", "1, 2", "\n10.\n", (), 10),
        ("SPRINGA", "1, 2", "10.\n", (), 10),
        ("SPRINGA", "1, 2", "10\n", (), 10),
        ("SPRINGA", "1, 2", "1, 1\n10.\n", (), 10),
        ("SPRING1", "1", "3\n10\n", (3,), 10),
        ("SPRING2", "1, 2", "1, 2\n1.D1\n", (1, 2), 10),
    ],
)
def test_spellings_of_springs(tmp_path, kind, nodes, data, dofs, value):
    text = f"*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT,TYPE={kind},ELSET=E\n1,{nodes}\n*SPRING,ELSET=E\n{data}*STEP\n*STATIC\n"
    (spring,) = read_deck(write(tmp_path, text + "*END STEP\n")).of_type(Spring)
    assert (spring.dofs, spring.law[0, 0]) == (dofs, value)


def test_constraints(portal, block):
    (equation,) = portal.equations
    assert_array_equal(equation.nodes, [3, 4, 5])
    assert_allclose(equation.coefficients, [1, -0.5, -0.5])
    link, straight = portal.mpcs
    assert (link.kind, link.nodes.tolist()) == ("LINK", [3, 5])
    assert (straight.kind, straight.nodes.tolist()) == ("STRAIGHT", [3, 4, 5, 7])
    assert [m.nodes.tolist() for m in block.mpcs] == [[1, 20], [2, 20], [3, 20], [4, 20]]
    (body,) = block.rigid_bodies
    assert (body.ref_node, body.rotation_node, body.nodes.tolist()) == (20, 21, [1, 2, 3, 4])
    grip, spread = block.couplings
    assert (grip.kind, grip.name, grip.ref_node, grip.dofs, grip.orientation) == (
        "kinematic",
        "GRIP",
        22,
        (1, 2),
        "ROUND",
    )
    assert_array_equal(grip.nodes, [9, 10, 11, 12])
    assert (spread.kind, spread.ref_node) == ("distributing", 23)
    assert_array_equal(spread.nodes, [13, 14])
    assert_allclose(spread.weights, [1, 2])
    (glue,) = block.ties
    assert (glue.slave, glue.master, glue.tolerance, glue.adjust) == ("CORNERS", "FLOOR", 0.01, False)
    (turned,) = portal.transforms
    assert turned.system == "cylindrical"
    assert_array_equal(turned.nodes, [1, 6])


def test_equations_of_sets(tmp_path):
    text = TRUSS.replace("*STEP", "*NSET, NSET=A\n1, 2\n*EQUATION\n2\nA, 2, 1., 3, 2, -1.\n*STEP", 1)
    found = [(e.nodes.tolist(), e.dofs.tolist()) for e in read_deck(write(tmp_path, text)).equations]
    assert found == [([1, 3], [2, 2]), ([2, 3], [2, 2])]


def test_surfaces(block):
    lid, floor, skin, corners = (block.surfaces[n] for n in ("LID", "FLOOR", "SKIN", "CORNERS"))
    assert_array_equal(lid.nodes, [9, 10, 11, 12])
    assert (lid.elements.tolist(), lid.faces.tolist()) == ([2], ["S2"])
    assert_array_equal(floor.nodes, [1, 2, 3, 4])
    # the free faces: all but the one that the two bricks share
    assert sorted(zip(skin.elements.tolist(), skin.faces.tolist())) == [
        *((1, f"S{i}") for i in (1, 3, 4, 5, 6)),
        *((2, f"S{i}") for i in (2, 3, 4, 5, 6)),
    ]
    assert corners.kind == "node"
    assert_array_equal(corners.nodes, [1, 9, 10, 11, 12])


def test_steps(portal):
    first, second = portal.steps
    assert (first.procedure, first.nlgeom, first.max_increments, first.title) == ("DYNAMIC", True, 500, "Pushed aside")
    assert (first.increment, first.duration, first.min_increment, first.max_increment) == (0.01, 0.5, 1e-6, 0.05)
    assert (first.alpha, first.direct) == (-0.1, False)
    assert second.direct
    assert second.nlgeom  # stays on
    assert second.amplitude == "STEP"  # loads of dynamic steps come at once
    assert second.number == 2
    assert second.new == {"BOUNDARY", "CLOAD", "DLOAD"}
    assert second.boundaries[0].fixed
    (pushed,) = first.boundaries
    assert (pushed.value, pushed.dofs, pushed.amplitude, pushed.nodes.tolist()) == (0.02, (1,), "PULSE", [6])
    assert [(b.dofs, b.nodes.tolist()) for b in portal.boundaries] == [((1, 2, 3), [1, 6]), ((1, 2, 3), [2])]
    force, moment = first.cloads
    assert (force.dof, force.value, force.amplitude) == (2, -1000, "LONG")
    assert (moment.dof, moment.nodes.tolist()) == (6, [1, 6])
    gravity, line, pressure, along = first.dloads
    assert (gravity.kind, gravity.value) == ("gravity", 9.81)
    assert_allclose(gravity.direction, [0, -1, 0])
    assert_array_equal(gravity.elements, [1, 2, 3, 4, 5])
    assert (line.kind, line.face) == ("pressure", 1)
    assert (pressure.kind, pressure.face, pressure.value) == ("pressure", 0, 1000)
    assert along.kind == "body"
    assert_allclose(along.direction, [1, 0, 0])
    assert first.temperatures[0].value == 80
    feet, beams, drawn = first.outputs
    assert (feet.kind, feet.variables, feet.totals, feet.frequency) == ("node print", ("RF",), "only", 5)
    assert_array_equal(feet.ids, [1, 6])
    assert (beams.variables, beams.global_axes) == (("S", "ENER", "EVOL"), True)
    assert drawn.options == {"OUTPUT": "2D"}
    assert drawn.set_name is None


def test_amplitudes_and_initial_conditions(portal):
    pulse = portal.amplitudes["PULSE"]
    assert_allclose(pulse.t, [0, 0.1, 0.2, 0.3, 0.4])
    assert_allclose(pulse.value, [0, 1, 1, 0, 0])
    assert not pulse.total_time
    assert portal.amplitudes["LONG"].total_time
    speed, warm = portal.initial_conditions
    assert (speed.kind, speed.dof, speed.value) == ("VELOCITY", 2, -1.5)
    assert (warm.kind, warm.dof, warm.value, len(warm.nodes)) == ("TEMPERATURE", 0, 20, 6)


def test_procedures(block):
    static, modes, buckling, complex_modes = block.steps
    assert (static.procedure, static.duration, static.amplitude) == ("STATIC", 1.0, "RAMP")
    assert not any(step.nlgeom for step in block.steps)
    assert static.dsloads[0].value == 2.5
    spin, push = static.dloads
    assert spin.kind == "centrifugal"
    assert_allclose(spin.point, [0, 0, 1])
    assert_allclose(spin.direction, [0, 0, 2])
    assert push.face == 4
    assert (modes.n_modes, modes.lower, modes.upper, modes.perturbation) == (7, 0.01, 1e5, True)
    assert modes.options == {"STORAGE": "YES"}
    assert (buckling.n_modes, buckling.tolerance) == (3, 1e-3)
    assert (complex_modes.procedure, complex_modes.supported) == ("COMPLEX FREQUENCY", True)
    assert (complex_modes.n_modes, complex_modes.coriolis) == (4, True)


def test_spellings(quirks):
    assert_allclose(quirks.x[1:3], [[1, 0, 0], [1, 1, 0]])
    assert_array_equal(quirks.nsets["NALL"], [1, 2, 3, 4])
    assert_array_equal(quirks.elsets["LONG NAME, WITH COMMA"], [10])
    assert_array_equal(quirks.blocks[0].nodes, [[1, 2, 3, 5]])
    assert_array_equal(quirks.elsets["BOTH"], [10, 11])
    assert_array_equal(quirks.nsets["SELF"], [1, 2])
    assert_array_equal(quirks.nsets["LATER"], [3])
    assert list(quirks.materials) == ["AB"]
    assert quirks.materials["AB"].density[0, 0] == 1.5e-3
    assert [b.dofs for b in quirks.boundaries] == [(1, 2, 3, 4, 5, 6), (1,), (2,)]
    (step,) = quirks.steps
    assert not step.nlgeom
    assert_array_equal(step.dloads[0].elements, [10, 11])  # gravity without a set: the whole model
    assert [o.kind for o in step.outputs] == ["node print", "el print", "el file"]
    assert step.outputs[0].options == {"TIMEPOINTS": "t1"}
    assert step.outputs[1].frequency == 0


@pytest.mark.parametrize("ending", [b"\r\n", b"\r"])
def test_line_endings(tmp_path, ending):
    ours = read_deck(write(tmp_path, TRUSS))
    other = read_deck(write(tmp_path, TRUSS.encode().replace(b"\n", ending), "other.inp"))
    assert_array_equal(ours.x, other.x)
    assert other.materials["STEEL"].elastic.constants[0, 0] == 2.1e11


def test_nothing_is_dropped_silently(tmp_path, block, portal):
    assert [(u.kind, u.name, u.effect) for u in block.unused] == [
        ("keyword", "CONTACT PAIR", Effect.DROPPED),
        ("parameter", "FREQUENCY, STORAGE", Effect.NONE),
        ("section", "a second one of element 2", Effect.DIFFERS),
    ]
    assert [(m.others, m.where) for m in portal.materials.values() if m.others] == [
        (("PLASTIC",), "portal.inp, line 46")
    ]
    text = TRUSS.replace("NSET=NALL\n", "NSET=NALL, WEIGHT=2\n", 1).replace(
        "*STEP", "*FROBNICATE\n1, 2\n*PREPRINT\n*STEP", 1
    )
    text = text.replace(
        "*ELEMENT", "*ELEMENT, TYPE=DC3D4\n7, 1, 2, 3, 1\n8, 1, 2, 3, 2\n*NSET, NSET=S\n1, 77\n*ELEMENT", 1
    )
    found = {(u.kind, u.name): u for u in read_deck(write(tmp_path, text)).unused}
    assert ("parameter", "NODE, WEIGHT") in found
    assert found["keyword", "FROBNICATE"].effect is Effect.DROPPED
    assert found["keyword", "PREPRINT"].effect is Effect.NONE
    assert found["element type", "DC3D4"].count == 2
    assert found["set member", "S: node 77"].line == 9


@pytest.mark.parametrize(
    ("old", "new", "name", "line"),
    [
        ("2, 1., 0., 0.\n", "2, 1., 0., 0., 0., 0., 1.\n", "NODE, direction of the normal", 3),
        ("1.E-4\n", "1.E-4, 7.\n", "SOLID SECTION, entries after the first 1", 12),
        ("1.E-4\n", "1.E-4\n7.\n", "SOLID SECTION, lines after the first", 13),
        ("*STATIC\n0.1, 1.", "*FREQUENCY\n4, , , 1.E3", "FREQUENCY, entries after the first 3", 19),
        ("*STATIC\n0.1, 1.", "*BUCKLE\n4, 0.01, 18, 30", "BUCKLE, entries after the first 2", 19),
        ("*BOUNDARY\n1, 1, 3", "*BOUNDARY\n1, 1, 11", "BOUNDARY in directions other than 1 to 6", 16),
        ("2, 1, 10.", "2, 11, 10.", "CLOAD in directions other than 1 to 6", 21),
        ("EALL, GRAV", "EALL, CORIO", "DLOAD CORIO", 23),
        ("*BOUND", "*AMPLITUDE, NAME=P, DEFINITION=SPECTRUM\n1, 2.\n*BOUND", "AMPLITUDE, DEFINITION=SPECTRUM", 15),
        ("*STEP", "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 2, 3., 4.\n*STEP", "INITIAL CONDITIONS, entries after", 18),
        ("*STEP", "*INITIAL CONDITIONS, TYPE=STRESS\n1, 1., 2.\n*STEP", "INITIAL CONDITIONS, TYPE=STRESS", 17),
        ("*ELASTIC", "*ELASTIC, DEPENDENCIES=1", "ELASTIC, DEPENDENCIES", 9),
    ],
    ids=lambda v: str(v)[:30],
)  # fmt: skip
def test_surplus_is_listed(tmp_path, old, new, name, line):
    assert old in TRUSS
    (found,) = read_deck(write(tmp_path, TRUSS.replace(old, new, 1))).unused
    assert found.name.startswith(name)
    assert found.line == line


def test_long_tables_of_supports_and_loads(tmp_path, monkeypatch):
    """Lines alike are one entry with many nodes, read at once; the result is that of reading line by line."""
    text = TRUSS.replace("*BOUNDARY\n1, 1, 3\n", "*BOUNDARY\n1, 1, 3\n2, 1, 3\n3, 2\n1, 4, 4, 0.5\n")
    text = text.replace("2, 1, 10.\n", "2, 1, 10.\n1, 1, 10.\n2, 3, -1.D0\n").replace(
        "*NODE PRINT", "*TEMPERATURE\n1, 5.\n2, 5.\n3, 6.\n*NODE PRINT"
    )

    def flat(deck):
        step = deck.steps[0]
        return (
            [(n, d, b.value) for b in deck.boundaries for n in b.nodes.tolist() for d in b.dofs],
            [(n, c.dof, c.value) for c in step.cloads for n in c.nodes.tolist()],
            [(n, t.value) for t in step.temperatures for n in t.nodes.tolist()],
        )

    deck = read_deck(write(tmp_path, text))
    assert [b.nodes.tolist() for b in deck.boundaries] == [[1, 2], [3], [1]]
    assert deck.boundaries[1].where == "deck.inp, line 18"
    assert [c.nodes.tolist() for c in deck.steps[0].cloads] == [[2, 1], [2]]
    assert [t.nodes.tolist() for t in deck.steps[0].temperatures] == [[1, 2], [3]]
    monkeypatch.setattr(DeckMesh, "runs", lambda self, card, least, width: None)
    assert flat(read_deck(write(tmp_path, text))) == flat(deck)
    # twice the same load is two loads
    monkeypatch.undo()
    twice = read_deck(write(tmp_path, text.replace("1, 1, 10.\n", "2, 1, 10.\n")))
    assert [c.nodes.tolist() for c in twice.steps[0].cloads] == [[2], [2], [2]]


def test_section_of_a_set_of_everything(tmp_path):
    """Masses in the set of a solid section are left to their own keyword; beams in it are a mistake."""
    text = TRUSS.replace("*MATERIAL", "*ELEMENT, TYPE=MASS, ELSET=EALL\n3, 3\n*ELSET, ELSET=M\n3\n*MATERIAL", 1)
    with pytest.raises(MeshError, match=r"line 9: .*1 element of type MASS without properties.*add \*MASS"):
        read_deck(write(tmp_path, text))
    deck = read_deck(write(tmp_path, text.replace("*STEP", "*MASS, ELSET=M\n2.\n*STEP", 1)))
    assert_array_equal(deck.of_type(SolidSection)[0].elements, [1, 2])
    assert isinstance(deck.section_of(np.array([3]))[0], PointMass)
    with pytest.raises(MeshError, match=r"line 15: .*element 3 of the set EALL is of type B31"):
        read_deck(write(tmp_path, text.replace("TYPE=MASS", "TYPE=B31").replace("3, 3\n", "3, 3, 1\n")))


def test_mesh_without_a_model(tmp_path):
    deck = read_deck(write(tmp_path, TRUSS[: TRUSS.index("*MATERIAL")]))
    assert deck.steps == ()
    assert_array_equal(deck.blocks[0].ids, [1, 2])


@pytest.mark.parametrize(
    ("name", "family", "n", "shape"),
    [
        ("C3D20R", "solid", 20, "C3D20"),
        ("C3D10", "solid", 10, "C3D10"),
        ("C3D8I", "solid", 8, "C3D8"),
        ("S8R5", "shell", 8, "S8"),
        ("STRI65", "shell", 6, "STRI65"),
        ("B32OS", "beam", 3, "B32"),
        ("CPS4R", "plane stress", 4, "CPS4"),
        ("T3D3", "truss", 3, "T3D3"),
        ("SPRINGA", "spring", 2, "SPRINGA"),
        ("U1", "beam", 2, "U1"),
        ("MASS", "mass", 1, "MASS"),
        ("DCOUP3D", "distributing coupling", 1, "DCOUP3D"),
        ("SC8R", "continuum shell", 8, "SC8"),
    ],
)
def test_element_types(name, family, n, shape):
    kind = element_type(name)
    assert (kind.family, kind.n_nodes, kind.shape) == (family, n, shape)


@pytest.mark.parametrize("name", ["", "C3D", "C3D9", "C3D81", "BEAM", "MASSES", "SPRINGB", "S", "D8", "Ä"])
def test_no_such_element_type(name):
    assert element_type(name) is None


@pytest.mark.parametrize("name", ["C3D4", "C3D10", "C3D6", "C3D15", "C3D8", "C3D20"])
def test_faces_close_the_element(name):
    """Each edge of a solid lies in two faces, once in each direction; mid-side nodes lie in two faces."""
    kind = element_type(name)
    corners = {4: 4, 10: 4, 6: 6, 15: 6, 8: 8, 20: 8}[kind.n_nodes]
    edges, middle = [], []
    for nodes in faces(kind).values():
        own = [i for i in nodes.tolist() if i < corners]
        edges += list(zip(own, own[1:] + own[:1]))
        middle += [i for i in nodes.tolist() if i >= corners]
        assert len(nodes) == len(own) * (1 if kind.n_nodes == corners else 2)
    assert sorted(edges) == sorted((b, a) for a, b in edges)
    assert len(set(edges)) == len(edges)
    assert sorted(middle) == sorted([*range(corners, kind.n_nodes)] * 2)


# ---- decks of others -------------------------------------------------------------------------------------------------


def shared_decks() -> list:
    found = sorted(SHARED_DECKS.glob("*.inp")) if SHARED_DECKS.is_dir() else []
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=f"no decks in {SHARED_DECKS}"))]


@pytest.mark.parametrize("path", shared_decks(), ids=lambda p: p.stem if p else "none")
def test_decks_of_calculix(path):
    deck = read_deck(path)
    text = path.read_text().upper()
    assert len(deck.steps) == len(re.findall(r"(?m)^\*STEP", text))
    assert sum(len(b.ids) for b in deck.blocks) > 0
    assert np.isfinite(deck.x).all()
    # what these decks ask for is understood
    assert not [u.name for u in deck.unused if u.effect is not Effect.NONE]
    assert all(deck.section_of(b.ids).count(None) == 0 for b in deck.blocks if b.family != "distributing coupling")


# ---- tables of numbers -----------------------------------------------------------------------------------------------

NUMBER = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(-1e6, 1e6).map(lambda v: f"{v:.6e}"),
    st.floats(-1e6, 1e6).map(lambda v: f"{v:.6E}".replace("E", "D")),
    st.sampled_from(["1.", "-.5", "+3", "1.5+3", "2-1", "", " ", "x", "1 2", "nan", "0x1", "1_0", "inf", "1e999"]),
)
LINE = st.builds(
    lambda fields, gap, tail: gap.join(fields) + tail,
    st.lists(NUMBER, min_size=1, max_size=6),
    st.sampled_from([",", ", ", " , ", ",  "]),
    st.sampled_from(["", "", ",", " ", ", ", "\r"]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(LINE, st.sampled_from(["", "   "])), max_size=6))
def test_numpy_and_python_read_the_same_numbers(lines):
    """The fast way gives what the slow one gives, or leaves the lines to it."""
    data = "\n".join(lines).encode()
    fast = abaqus_text._fast(data)
    card = abaqus_text.Card("NODE", {}, "f", 1, [abaqus_text.Piece("f", 1, data)])
    try:
        slow = abaqus_text._slow(card)
    except MeshError:
        assert fast is None
        return
    if fast is not None:
        assert_allclose(fast[0], slow[0], rtol=1e-15)
        assert_array_equal(fast[1][fast[1] > 0], slow[1][slow[1] > 0])


def test_large_tables_are_not_read_line_by_line(tmp_path, monkeypatch):
    n = 120_000
    i = np.arange(1, n + 1)
    nodes = "\n".join(f"{k}, {0.001 * k:.6e}, -1.5, 2.D0" for k in i)
    elements = "\n".join(f"{k}, {k},\n {k + 1}" for k in i[:-1])  # over two lines each
    text = TRUSS.replace("1, 0., 0., 0.\n2, 1., 0., 0.\n3, 1., 1., 0.", nodes).replace("1, 1, 2\n2, 2, 3", elements)
    monkeypatch.setattr(abaqus_text, "_slow", lambda card: pytest.fail("read line by line"))
    calls = []
    monkeypatch.setattr(abaqus_text, "_fast", lambda chunk, f=abaqus_text._fast: calls.append(len(chunk)) or f(chunk))
    deck = read_deck(write(tmp_path, text))
    assert len(calls) <= 4 + len(text) // (1 << 22)  # nodes, elements, supports, loads
    assert_allclose(deck.x[-1], [0.001 * n, -1.5, 2])
    assert_array_equal(deck.blocks[0].nodes, np.column_stack([i[:-1], i[1:]]))


def test_one_keyword_for_each_element(tmp_path, monkeypatch):
    """Some programs repeat the keyword for every element: it is read as one, and lines keep their numbers."""
    n = 20_000
    nodes = "\n".join(f"{k}, {k}., 0., 0." for k in range(1, n + 1))
    head = "*ELEMENT, TYPE=T3D2, ELSET=EALL\n"
    elements = head.join(f"{k}, {k}, {k + 1}\n" for k in range(1, n))
    text = TRUSS.replace("1, 0., 0., 0.\n2, 1., 0., 0.\n3, 1., 1., 0.", nodes).replace("1, 1, 2\n2, 2, 3\n", elements)
    calls = []
    monkeypatch.setattr(abaqus_text, "_fast", lambda chunk, f=abaqus_text._fast: calls.append(len(chunk)) or f(chunk))
    deck = read_deck(write(tmp_path, text))
    assert_array_equal(deck.elsets["EALL"], np.arange(1, n))
    assert len(calls) == 4  # nodes, elements, supports, loads
    with pytest.raises(MeshError, match=rf"^deck\.inp, line {n + 15}: .*element 7: T3D2 has 2 nodes"):
        read_deck(write(tmp_path, text.replace("\n7, 7, 8\n", "\n7, 7\n")))


def test_comments_keep_the_line_numbers(tmp_path):
    text = TRUSS.replace("2, 1., 0., 0.\n", "** a comment, 1, 2, 3\n\n  ** another\n2, 1., 0., 0.\n").replace(
        "2, 2, 3\n", "2, 2, 3x\n"
    )
    with pytest.raises(MeshError, match=r"^deck\.inp, line 10: "):
        read_deck(write(tmp_path, text))


def test_surplus_node_numbers_and_missing_coordinates(tmp_path):
    """As CalculiX: an element takes the numbers that it needs of its lines, a coordinate that is missing is zero."""
    text = TRUSS.replace("1, 1, 2\n2, 2, 3\n", "1, 1, 2, 3\n2, 2, 3, 1\n", 1).replace("1, 0., 0., 0.\n", "1\n", 1)
    assert text.count("\n1\n") == 1
    deck = read_deck(write(tmp_path, text))
    (block,) = deck.blocks
    assert block.nodes.tolist() == [[1, 2], [2, 3]]
    assert_array_equal(deck.x[0], np.zeros(3))
    (note,) = [u for u in deck.unused if "surplus" in u.name]
    assert (note.effect, note.count, note.reason) == (Effect.DIFFERS, 2, "T3D2 has 2 nodes")


@pytest.mark.parametrize("lines", ["1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n", "1, 1, 2, 3, 4, 5,\n6, 7, 8, 9, 10\n"])
def test_surplus_node_numbers_of_solids(tmp_path, lines):
    nodes = "".join(f"{i}, {i % 2}., {i // 2 % 2}., {i // 4}.\n" for i in range(1, 25))
    second = lines.replace("1, 1,", "2, 11,", 1)
    text = f"*NODE\n{nodes}*ELEMENT, TYPE=C3D8I\n{lines}{second}"
    (block,) = read_deck(write(tmp_path, text)).blocks
    assert block.nodes.tolist() == [[1, *range(2, 9)], [11, *range(2, 9)]]


def test_equations_are_removed(tmp_path):
    equations = "*EQUATION\n2\n1, 1, 1., 2, 1, -1.\n2\n1, 2, 1., 2, 2, -1.\n2\n3, 1, 1., 2, 1, -1.\n"
    text = TRUSS.replace("*BOUNDARY", equations + "*EQUATION, REMOVE\n1, 2, 3\n*BOUNDARY", 1)
    deck = read_deck(write(tmp_path, text))
    assert [(e.nodes[0], e.dofs[0]) for e in deck.equations] == [(1, 1), (3, 1)]
    with pytest.raises(MeshError, match="no equation before it has a dependent direction 2 to 3 of 3"):
        read_deck(write(tmp_path, text.replace("REMOVE\n1, 2", "REMOVE\n3, 2")))
    within = TRUSS.replace("*BOUNDARY", equations + "*BOUNDARY", 1)
    some = read_deck(write(tmp_path, within.replace("*STATIC", "*EQUATION, REMOVE\n1, 1, 2\n*STATIC", 1)))
    assert [e.until for e in some.equations] == [1, 1, 0]
    every = read_deck(write(tmp_path, within.replace("*STATIC", "*EQUATION, REMOVE ALL\n*STATIC", 1)))
    assert [e.until for e in every.equations] == [1, 1, 1]
    with pytest.raises(MeshError, match="REMOVE ALL has no data lines"):
        read_deck(write(tmp_path, within.replace("*STATIC", "*EQUATION, REMOVE ALL\n1, 1\n*STATIC", 1)))
