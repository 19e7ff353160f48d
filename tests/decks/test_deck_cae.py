"""Decks as Abaqus/CAE and its users write them, against closed forms: what only Abaqus has."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import prints, run, step
from scipy.sparse import csr_matrix

from fem_mbs.decks.abaqus.run import convert, run_deck
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect

E, RADIUS, LENGTH = 2.0e11, 0.01, 2.0
INERTIA = np.pi * RADIUS**4 / 4.0


def cantilever_of_the_plane(steps, kind="B23", section="section=CIRC\n0.01\n", n=8):
    """A part of beams along x, numbered from 1, by generation; its set Base and Tip in the assembly."""
    middle = kind.endswith("22")
    last = 1 + n * (2 if middle else 1)
    nodes = "1, 1, 2, 3\n" if middle else "1, 1, 2\n"
    return (
        f"*Heading\n*Part, name=Part-1\n*Node\n1, 0., 0.\n{last}, {LENGTH}, 0.\n*Ngen, nset=Line\n1, {last}\n"
        f"*Element, type={kind}, elset=First\n{nodes}*Elgen, elset=All\n1, {n}, {2 if middle else 1}\n"
        f"*Beam Section, elset=All, material=Steel, temperature=GRADIENTS, {section}0., 0., -1.\n*End Part\n"
        "*Assembly, name=Assembly\n*Instance, name=Part-1-1, part=Part-1\n*End Instance\n"
        f"*Nset, nset=Base, instance=Part-1-1\n1,\n*Nset, nset=Tip, instance=Part-1-1\n{last},\n*End Assembly\n"
        f"*Material, name=Steel\n*Density\n7850.,\n*Elastic\n{E}, 0.3\n" + steps
    )


@pytest.mark.parametrize("kind", ["B21", "B22", "B23"])
def test_beams_of_the_plane_with_a_circle_by_its_radius(tmp_path, kind):
    load = "*Step, name=Step-1\n*Static\n*Boundary\nBase, ENCASTRE\n*Cload\nTip, 2, 100.\n*Node print, nset=Tip\nU\n"
    load += "*End Step\n"
    converted, (done,) = run(tmp_path / "cae.inp", cantilever_of_the_plane(load, kind))
    _, u = prints(done, "U")
    bending = 100.0 * LENGTH**3 / (3.0 * E * INERTIA)
    assert u[0, 1] == pytest.approx(bending, rel=2e-4)  # and shear
    assert not any("CIRC" in n.text for n in converted.notes)


def test_beams_of_the_plane_stay_there_in_modes_and_buckling(tmp_path):
    """Transverse modes once each, with supports of both load cases of BUCKLE as CAE writes them."""
    cases = "".join(f"*Boundary, op=NEW, load case={k}\nBase, ENCASTRE\n" for k in (1, 2))
    steps = (
        "*Boundary\nBase, ENCASTRE\n*Step, name=Step-1, nlgeom=NO, perturbation\n*Frequency, eigensolver=Lanczos\n"
        "2, , , -10., ,\n*End Step\n*Step, name=Step-2, nlgeom=NO, perturbation\n*Buckle\n1, , 10, 30\n"
        f"{cases}*Cload\nTip, 1, -1.\n*End Step\n"
    )
    _, (modes, buckling) = run(tmp_path / "cae.inp", cantilever_of_the_plane(steps, "B23", n=12))
    area = np.pi * RADIUS**2
    root = np.array([1.8751041, 4.6940911])
    expected = root**2 / LENGTH**2 * np.sqrt(E * INERTIA / (7850.0 * area)) / (2.0 * np.pi)
    assert np.allclose(modes["frequencies_hz"], expected, rtol=2e-3)
    assert buckling["load_factors"][0] == pytest.approx(np.pi**2 * E * INERTIA / (4.0 * LENGTH**2), rel=2e-3)


def test_buckling_modes_with_other_supports_are_refused(tmp_path):
    cases = "*Boundary, load case=1\nBase, ENCASTRE\n*Boundary, load case=2\nBase, 1, 2\n"
    steps = f"*Step, perturbation\n*Buckle\n1\n{cases}*Cload\nTip, 1, -1.\n*End Step\n"
    (tmp_path / "cae.inp").write_text(cantilever_of_the_plane(steps))
    with pytest.raises(UnsupportedError, match="LOADCASE=2"):
        convert(read_deck(tmp_path / "cae.inp"))


def test_beams_of_the_plane_beside_others_are_refused(tmp_path):
    steps = "*Step\n*Static\n*End Step\n"
    text = cantilever_of_the_plane(steps).replace(
        "*Beam Section", "*Element, type=B31, elset=All\n100, 8, 9\n*Beam Section", 1
    )
    (tmp_path / "cae.inp").write_text(text)
    with pytest.raises(UnsupportedError, match="elements B31 beside beams or trusses of the plane"):
        convert(read_deck(tmp_path / "cae.inp"))


def test_moved_supports_of_the_only_perturbation(tmp_path):
    """A truss of the plane pulled by a support; names ASSEMBLY.INSTANCE.SET."""
    deck = (
        "*PART, NAME=P\n*NODE\n1, 0., 0.\n2, 3., 4.\n*NSET, NSET=A\n1\n*NSET, NSET=B\n2\n*ELEMENT, TYPE=T2D2, ELSET=T\n"
        "1, 1, 2\n*SOLID SECTION, ELSET=T, MATERIAL=M\n1e-4\n*END PART\n*ASSEMBLY, NAME=WHOLE\n"
        "*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*END ASSEMBLY\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n"
        "*STEP, PERTURBATION\n*STATIC\n*BOUNDARY\nWHOLE.I.A, 1, 2\nWHOLE.I.B, 1, 1, .003\nWHOLE.I.B, 2, 2, .004\n"
        "*NODE PRINT, NSET=WHOLE.I.B\nRF\n*END STEP\n"
    )
    _, (done,) = run(tmp_path / "cae.inp", deck)
    force = 2e11 * 1e-4 / 5.0 * 0.005
    assert np.allclose(prints(done, "RF")[1][0, :2], [0.6 * force, 0.8 * force], rtol=1e-9)


def test_moved_supports_of_one_perturbation_among_others_are_refused(tmp_path):
    one = "*Step, perturbation\n*Static\n*Boundary\nBase, ENCASTRE\nTip, 2, 2, .1\n*End Step\n"
    (tmp_path / "cae.inp").write_text(cantilever_of_the_plane(one + one))
    with pytest.raises(UnsupportedError, match="supports that move in a step STATIC of perturbation"):
        convert(read_deck(tmp_path / "cae.inp"))


def square(kind, loads, sets=""):
    """A square of 2 x 2 plane elements of side 1, its nodes 1 to 9 in rows."""
    return (
        "*NODE\n1, 0., 0.\n3, 1., 0.\n7, 0., 1.\n9, 1., 1.\n*NGEN, NSET=LOW\n1, 3\n*NGEN, NSET=HIGH\n7, 9\n"
        f"*NFILL\nLOW, HIGH, 2, 3\n*ELEMENT, TYPE={kind}\n1, 1, 2, 5, 4\n*ELGEN, ELSET=ALL\n1, 2, 1, 1, 2, 3, 2\n"
        "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n.01\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n"
        "*SURFACE, NAME=BOTTOM\n1, S1\n2, S1\n*SURFACE, NAME=RIGHT\n2, S2\n4, S2\n*SURFACE, NAME=TOP\n3, S3\n4, S3\n"
        f"*SURFACE, NAME=LEFT\n1, S4\n3, S4\n{sets}*BOUNDARY\n1, 1, 2\n3, 2\n*STEP\n*STATIC\n{loads}*END STEP\n"
    )


def test_shear_along_edges_of_one_point_elements(tmp_path):
    """Pure shear: the part of the direction along each edge has the full value; a warning for the elements."""
    loads = "*DSLOAD\nTOP, TRSHR, 3e6, 1., 5.\nBOTTOM, TRSHR, 3e6, -1., 2.\nRIGHT, TRSHR, 3e6, -7., 1.\n"
    loads += "LEFT, TRSHR, 3e6, 0., -1.\n*NODE PRINT, NSET=HIGH\nU\n"
    converted, (done,) = run(tmp_path / "shear.inp", square("CPS4R", loads))
    gamma = 3e6 / (2e11 / 2.6)
    _, u = prints(done, "U")
    assert np.allclose(u[:, 0], gamma, rtol=1e-9) and np.allclose(u[:, 1], 0.0, atol=1e-12)
    assert any("CPS4R: taken with full integration" in n.text and n.effect is Effect.DIFFERS for n in converted.notes)


def test_shear_along_a_face_of_bricks_and_shells(tmp_path):
    """Resultants: the value times the area along the projected direction."""
    brick = (
        "*NODE, NSET=ALL\n1, 0., 0., 0.\n2, 2., 0., 0.\n3, 2., 3., 0.\n4, 0., 3., 0.\n5, 0., 0., 1.\n6, 2., 0., 1.\n"
        "7, 2., 3., 1.\n8, 0., 3., 1.\n"
    )
    solid = "*ELEMENT, TYPE=C3D8, ELSET=E\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*SOLID SECTION, ELSET=E, MATERIAL=M\n"
    shell = "*ELEMENT, TYPE=S4R, ELSET=E\n1, 5, 6, 7, 8\n*SHELL GENERAL SECTION, ELSET=E, MATERIAL=M\n.1\n"
    for part, side, held in ((solid, "S2", "1, 1, 3\n2, 1, 3\n3, 1, 3\n4, 1, 3\n"), (shell, "SPOS", "5, 1, 6\n")):
        deck = (
            f"{brick}{part}*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n*SURFACE, NAME=S\n1, {side}\n*BOUNDARY\n{held}*STEP\n"
            "*STATIC\n*DSLOAD, FOLLOWER=NO\nS, TRSHR, 10., 3., 4., 99.\n"
            "*END STEP\n"
        )
        _, (done,) = run(tmp_path / "shear.inp", deck)
        assert np.allclose(done["reactions"]["force"], [-36.0, -48.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("orientation", ["", ", ORIENTATION=O"])
def test_edge_of_shells_in_a_coupling(tmp_path, orientation):
    """A strip of nu = 0 bends as a beam; the reference node carries the load to its edge, along the global axes."""
    deck = (
        "*NODE\n1, 0., 0., 0.\n11, 1., 0., 0.\n31, 0., .2, 0.\n41, 1., .2, 0.\n100, 1., .1, 0.\n*NGEN, NSET=A\n1, 11\n"
        "*NGEN, NSET=B\n31, 41\n*NFILL\nA, B, 2, 15\n*ELEMENT, TYPE=S4R\n1, 1, 2, 17, 16\n*ELGEN, ELSET=E\n"
        "1, 10, 1, 1, 2, 15, 10\n*SHELL GENERAL SECTION, ELSET=E, COMPOSITE\n.004, , M\n.006, , M\n"
        "*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.\n*NSET, NSET=BASE\n1, 16, 31\n"
        "*SURFACE, NAME=EDGE\n10, E2\n20, E2\n"
        "*ORIENTATION, NAME=O\n0., 0., 1., 1., 0., 0.\n"
        f"*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=EDGE{orientation}\n"
        "*DISTRIBUTING, WEIGHTING METHOD=UNIFORM\n"
        "*BOUNDARY\nBASE, 1, 6\n*STEP\n*STATIC\n*CLOAD\n100, 3, 10.\n*NSET, NSET=REF\n100\n"
        "*NODE PRINT, NSET=REF\nU\n*END STEP\n"
    )
    converted, (done,) = run(tmp_path / "edge.inp", deck)
    _, u = prints(done, "U")
    # ten linear elements along the strip: 1/(4 n^2) too stiff
    assert u[0, 2] == pytest.approx((1.0 - 1.0 / 400.0) * 10.0 / (3.0 * 2e11 * 0.2 * 0.01**3 / 12.0), rel=3e-4)
    assert any("rotation of node 100 about it is held" in n.text for n in converted.notes)


def test_distributing_some_directions_is_refused(tmp_path):
    """CalculiX couples all, Abaqus those that are named."""
    text = (
        "*NODE\n1, 0., 0., 0.\n4, 3., 0., 0.\n100, 3., 0., 0.\n*NGEN\n1, 4\n*ELEMENT, TYPE=B31\n1, 1, 2\n"
        "*ELGEN, ELSET=B\n1, 3\n*BEAM SECTION, ELSET=B, MATERIAL=M, SECTION=RECT\n.1, .1\n0., 1., 0.\n"
        "*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.\n*SURFACE, NAME=S, TYPE=NODE\n3\n4\n"
        "*COUPLING, REF NODE=100, SURFACE=S\n*DISTRIBUTING\n1, 3\n*BOUNDARY\n1, 1, 6\n"
        "*STEP\n*STATIC\n*CLOAD\n100, 3, 1.\n*END STEP\n"
    )
    (tmp_path / "cae.inp").write_text(text)
    with pytest.raises(UnsupportedError, match="distributing coupling of the directions 1, 2, 3 alone"):
        convert(read_deck(tmp_path / "cae.inp"))


def test_stabilised_statics_and_constant_resultants(tmp_path):
    loads = "*DSLOAD, FOLLOWER=NO, CONSTANT RESULTANT=YES\nTOP, TRSHR, 3e6, 1., 5.\n"
    stabilised = "*STATIC, STABILIZE, FACTOR=2e-4, ALLSDTOL=0.05, CONTINUE=NO"
    (tmp_path / "cae.inp").write_text(square("CPS4", loads).replace("*STATIC", stabilised))
    notes = convert(read_deck(tmp_path / "cae.inp")).notes
    found = {n.text: n.effect for n in notes if n.effect is not Effect.NONE}
    assert any("STABILIZE" in text and "without artificial damping" in text for text in found)
    assert set(found.values()) == {Effect.DIFFERS}


# ---- connectors ------------------------------------------------------------------------------------------------------
def connected(types, laws, steps, x2="1., 0., 0.", orientation=""):
    """A clamped node 1 and a mass at node 2, both of stiff short beams, between them a connector."""
    return (
        f"*NODE\n1, 0., 0., 0.\n2, {x2}\n3, -1., 0., 0.\n4, 9., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=B\n1, 3, 1\n2, 2, 4\n"
        "*BEAM SECTION, ELSET=B, SECTION=RECT, MATERIAL=M\n.3, .3\n0., 1., 0.\n*MATERIAL, NAME=M\n*ELASTIC\n2e15, 0.\n"
        "*DENSITY\n1e-9\n*ELEMENT, TYPE=CONN3D2, ELSET=C\n3, 1, 2\n"
        f"*CONNECTOR SECTION, ELSET=C, BEHAVIOR=LAW\n{types},\n{orientation}"
        f"*CONNECTOR BEHAVIOR, NAME=LAW\n{laws}*NSET, NSET=END\n2\n*BOUNDARY\n1, 1, 6\n3, 1, 6\n{steps}"
    )


TURNED = "*ORIENTATION, NAME=O\n.6, .8, 0., -.8, .6, 0.\n"


def elasticity(**laws):
    return "".join(f"*CONNECTOR ELASTICITY, COMPONENT={k[1:]}\n{v:g},\n" for k, v in laws.items())


PULL = "*STEP\n*STATIC\n*CLOAD\n2, 1, 10.\n2, 2, 20.\n2, 3, 30.\n*NODE PRINT, NSET=END\nU\n*END STEP\n"
HELD = "*BOUNDARY\n2, 4, 6\n"


def test_cartesian_springs_in_turned_axes(tmp_path):
    text = connected("CARTESIAN", elasticity(c1=1e3, c2=2e3, c3=5e3), HELD + PULL, orientation="O,\n")
    _, (done,) = run(tmp_path / "c.inp", text.replace("*CONNECTOR SECTION", TURNED + "*CONNECTOR SECTION", 1))
    axes = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    expected = axes.T @ (axes @ [10.0, 20.0, 30.0] / [1e3, 2e3, 5e3])
    assert np.allclose(prints(done, "U")[1][0], expected, rtol=1e-6)


@pytest.mark.parametrize("types", ["BUSHING", "CARTESIAN, CARDAN", "PROJECTION CARTESIAN, PROJECTION FLEXION-TORSION"])
def test_bushings_have_six_springs(tmp_path, types):
    laws = elasticity(c1=1e3, c2=2e3, c3=5e3, c4=40.0, c5=50.0, c6=60.0)
    turn = "*STEP\n*STATIC\n*CLOAD\n2, 1, 10.\n2, 2, 20.\n2, 3, 30.\n2, 4, 4.\n2, 5, 4.\n2, 6, 4.\n"
    text = connected(types, laws, turn + "*NODE PRINT, NSET=END\nU\n*END STEP\n", x2="0., 0., 0.")
    _, (done,) = run(tmp_path / "c.inp", text)
    assert np.allclose(prints(done, "U")[1][0], [0.01, 0.01, 0.006], rtol=1e-6)
    moved = done["reactions"]["moment"]
    assert np.allclose(moved, [-4.0, -4.0, -4.0], atol=1e-6)


def test_axial_connector_with_a_table(tmp_path):
    laws = "*CONNECTOR ELASTICITY, COMPONENT=1, NONLINEAR\n-8., -.02\n0., 0.\n10., .05\n"
    _, (done,) = run(tmp_path / "c.inp", connected("AXIAL", laws, HELD + "*BOUNDARY\n2, 2, 3\n" + PULL))
    assert prints(done, "U")[1][0, 0] == pytest.approx(0.05, rel=1e-4)  # and the beams


@pytest.mark.parametrize(
    ("types", "moment"),
    [
        ("HINGE", (1.0, 0.0, 0.0)),
        ("UJOINT", (1.0, 0.0, 0.0)),
        ("UJOINT", (0.0, 0.0, 1.0)),
        ("JOIN, CARDAN", (0.0, 1.0, 0.0)),
    ],
)
def test_torsion_springs_of_joints(tmp_path, types, moment):
    """A moment about the axis of a component turns it by moment over stiffness; the other free ones are held."""
    laws = elasticity(c4=200.0) if types == "HINGE" else elasticity(c4=200.0, c6=200.0)
    laws += elasticity(c5=200.0) if "CARDAN" in types else ""
    loads = "".join(f"2, {4 + k}, {v:g}\n" for k, v in enumerate(moment) if v)
    steps = f"*STEP\n*STATIC\n*CLOAD\n{loads}*NODE PRINT, NSET=FAR\nU\n*END STEP\n"
    text = connected(types, laws, steps, x2="0., 0., 0.").replace(
        "*NSET, NSET=END", "*NSET, NSET=FAR\n5\n*NSET, NSET=END"
    )
    text = text.replace("4, 9., 0., 0.\n", "4, 9., 0., 0.\n5, 0., 3., 1.\n").replace("2, 2, 4\n", "2, 2, 4\n12, 2, 5\n")
    _, (done,) = run(tmp_path / "c.inp", text)
    turn = np.array(moment) / 200.0
    assert np.allclose(prints(done, "U")[1][0], np.cross(turn, [0.0, 3.0, 1.0]), atol=1e-5)  # the beams bend


def test_damper_of_a_connector(tmp_path):
    """A mass on a spring and a damper, let go with a speed: x = v/w exp(-d t) sin(w t)."""
    laws = elasticity(c1=400.0) + "*CONNECTOR DAMPING, COMPONENT=1\n8.,\n"
    text = (
        "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=MASS, ELSET=MA\n1, 2\n*MASS, ELSET=MA\n4.,\n"
        "*ELEMENT, TYPE=CONN3D2, ELSET=C\n3, 1, 2\n*CONNECTOR SECTION, ELSET=C, BEHAVIOR=LAW\nCARTESIAN,\n"
        f"*CONNECTOR BEHAVIOR, NAME=LAW\n{laws}*NSET, NSET=END\n2\n*BOUNDARY\n1, 1, 3\n2, 2, 3\n"
        "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 3.\n*STEP\n*DYNAMIC, DIRECT, ALPHA=0.\n.0005, .2\n"
        "*NODE PRINT, NSET=END, FREQUENCY=400\nU\n*END STEP\n"
    )
    _, (done,) = run(tmp_path / "c.inp", text)
    w = np.sqrt(100.0 - 1.0)
    assert prints(done, "U")[1][0, 0] == pytest.approx(3.0 / w * np.exp(-0.2) * np.sin(0.2 * w), rel=1e-4)


WRONG = {
    "stop": ("CARTESIAN", "*CONNECTOR STOP, COMPONENT=1\n-1., 1.\n", "CONNECTOR STOP"),
    "coupled": ("CARTESIAN", "*CONNECTOR ELASTICITY\n1., 2.\n", "CONNECTOR ELASTICITY without COMPONENT"),
    "rigid": ("CARTESIAN", "*CONNECTOR ELASTICITY, COMPONENT=1, RIGID\n1.\n", "CONNECTOR ELASTICITY, RIGID"),
    "component": ("HINGE", elasticity(c1=1.0), "component 1 of a connector HINGE has no spring or damper here"),
    "type": ("RETRACTOR", elasticity(c1=1.0), "a connector RETRACTOR is not supported"),
    "table": ("BUSHING", "*CONNECTOR ELASTICITY, COMPONENT=1, NONLINEAR\n0., 0.\n1., 1.\n", "NONLINEAR laws"),
}


@pytest.mark.parametrize("case", WRONG)
def test_connectors_that_are_refused_by_name(tmp_path, case):
    types, laws, told = WRONG[case]
    (tmp_path / "c.inp").write_text(connected(types, laws, PULL, x2="0., 0., 0."))
    with pytest.raises((UnsupportedError, ModelError), match=told):
        convert(read_deck(tmp_path / "c.inp"))


def pulled(loads, steps=""):
    """A square of plane elements with loads and without supports; ``steps`` after the first."""
    text = square("CPS4", loads).replace("*BOUNDARY\n1, 1, 2\n3, 2\n", "")
    return text.replace("*SURFACE, NAME=BOTTOM", "*DENSITY\n7850.\n*SURFACE, NAME=BOTTOM", 1) + steps


def test_free_motions_without_load_are_held(tmp_path):
    """A square that edges pull has its strains, as Abaqus computes beside a warning; its modes stay free."""
    loads = "*DSLOAD\nRIGHT, P, -2e8\nLEFT, P, -2e8\n*NODE PRINT, NSET=HIGH\nU\n"
    modes = "*STEP, PERTURBATION\n*FREQUENCY\n4\n*END STEP\n"
    converted, (done, free) = run(tmp_path / "free.inp", pulled(loads, modes))
    _, u = prints(done, "U")
    assert u[2, 0] - u[0, 0] == pytest.approx(1e-3, rel=1e-9) and np.allclose(u[:, 1] - u[0, 1], 0.0, atol=1e-12)
    told = [n for n in converted.notes if "against 3 motions of rigid bodies" in n.text]
    assert told and told[0].effect is Effect.DIFFERS
    frequencies = np.array(free["frequencies_hz"])
    assert (np.abs(frequencies[:3]) < 1e-3 * frequencies[3]).all()


def test_free_motions_with_a_load_are_refused(tmp_path):
    (tmp_path / "pushed.inp").write_text(pulled("*DSLOAD\nRIGHT, P, -2e8\n"))
    with pytest.raises(ModelError, match="its loads push it where nothing holds it"):
        run_deck(tmp_path / "pushed.inp", tmp_path / "out")


def test_matrices(tmp_path):
    """*MATRIX GENERATE: the stiffness of a bar between its free ends, and its mass."""
    deck = (
        "*NODE\n1, 0., 0., 0.\n2, 2., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=T\n1, 1, 2\n*SOLID SECTION, ELSET=T, "
        "MATERIAL=M\n1e-4\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n*DENSITY\n7850.\n*BOUNDARY\n1, 2, 3\n2, 2, 3\n"
        "*STEP\n*MATRIX GENERATE, STIFFNESS, MASS\n*MATRIX OUTPUT, STIFFNESS, MASS\n*BOUNDARY\n1, 1\n*END STEP\n"
    )
    (tmp_path / "bar.inp").write_text(deck)
    run_deck(tmp_path / "bar.inp", tmp_path / "out")
    with np.load(tmp_path / "out" / "matrices_step_1.npz") as found:
        K, M = (csr_matrix(tuple(found[f"{k}_{part}"] for part in ("data", "indices", "indptr"))) for k in "KM")
        K, M = K.toarray(), M.toarray()
    assert M.sum() == pytest.approx(7850.0 * 2e-4)
    assert np.allclose(K, 1e7 * np.array([[1.0, -1.0], [-1.0, 1.0]]), rtol=1e-12)


def test_forces_per_volume_of_rings(tmp_path):
    """BZ along the axis, over the volume of the whole ring; BR is the radial BX."""
    found = {}
    for label in ("BR", "BX", "BZ"):
        deck = square("CAX4", f"*DLOAD\nALL, {label}, 5.\n*NODE PRINT, NSET=ALL\nU\n")
        deck = deck.replace("*BOUNDARY\n1, 1, 2\n3, 2\n", "*NSET, NSET=ALL\nLOW, HIGH, 4, 5, 6\n*BOUNDARY\nLOW, 1, 2\n")
        _, (done,) = run(tmp_path / "ring.inp", deck)
        found[label] = done["reactions"]["force"], prints(done, "U")[1]
    assert found["BZ"][0][1] == pytest.approx(-5.0 * np.pi, rel=1e-9)  # a cylinder of radius and height 1
    assert np.array_equal(found["BR"][1], found["BX"][1]) and found["BR"][1].any()


def test_rigid_bodies_of_abaqus_leave_steps_linear(tmp_path):
    """Without NLGEOM a load that bends the beam by its length moves the reference as in the linear closed form."""
    deck = (
        "*PART, NAME=P\n*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 1.25, 0., 0.\n*ELEMENT, TYPE=B31, ELSET=B\n1, 1, 2\n"
        "*NSET, NSET=BASE\n1\n*NSET, NSET=TIP\n2\n*NSET, NSET=REF\n3\n*BEAM SECTION, ELSET=B, MATERIAL=M, "
        "SECTION=RECT\n.01, .01\n0., 0., -1.\n*RIGID BODY, NSET=TIP, REF NODE=3\n*END PART\n*ASSEMBLY, NAME=A\n"
        "*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*END ASSEMBLY\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, .3\n"
        "*BOUNDARY\nI.BASE, ENCASTRE\n*STEP, NLGEOM=NO\n*STATIC\n*CLOAD\nI.REF, 2, 500.\n*NODE PRINT, NSET=I.REF\nU\n"
        "*END STEP\n"
    )
    _, (done,) = run(tmp_path / "rigid.inp", deck)
    assert done["linear"]
    EI, arm = 2e11 * 0.01**4 / 12.0, 0.25
    expected = 500.0 * (1.0 / 3.0 + arm + arm**2) / EI
    assert prints(done, "U")[1][0, 1] == pytest.approx(expected, rel=1e-3)


def test_general_sections_of_a_shape(tmp_path):
    """BEAM GENERAL SECTION, SECTION=CIRC with E, G of its own: a cantilever with shear, and its natural frequency."""
    E, G, r, F, rho = 2.1e11, 8e10, 0.01, 10.0, 7800.0
    rows = "".join(f"{i + 1}, {i / 10:.17g}, 0., 0.\n" for i in range(11))
    text = "*HEADING\n*PREPRINT, ECHO=NO\n*PART, NAME=P\n*NODE\n" + rows
    text += "*ELEMENT, TYPE=B31, ELSET=E\n" + "".join(f"{i}, {i}, {i + 1}\n" for i in range(1, 11))
    text += f"*BEAM GENERAL SECTION, ELSET=E, SECTION=CIRC, DENSITY={rho}\n{r}\n0., 0., -1.\n{E}, {G}\n*END PART\n"
    text += "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*NSET, NSET=ROOT, INSTANCE=I\n1\n"
    text += "*NSET, NSET=TIP, INSTANCE=I\n11\n*END ASSEMBLY\n*BOUNDARY\nROOT, 1, 6\n"
    text += step(f"*STATIC\n*CLOAD\nTIP, 2, {F}\n*NODE PRINT, NSET=TIP\nU\n") + step("*FREQUENCY\n1\n")
    _, done = run(tmp_path / "d.inp", text)
    area, inertia = np.pi * r**2, np.pi * r**4 / 4.0
    nu = 0.5 * E / G - 1.0
    k = 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu)  # Cowper
    exact = F / (3.0 * E * inertia) + F / (k * G * area)
    assert prints(done[0], "U")[1][0, 1] == pytest.approx(exact, rel=2e-3)
    first = 1.8751040687**2 * np.sqrt(E * inertia / (rho * area)) / (2.0 * np.pi)
    assert done[1]["frequencies_hz"][0] == pytest.approx(first, rel=2e-3)
