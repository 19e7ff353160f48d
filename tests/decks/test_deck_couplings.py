"""Couplings and connectors of decks: how loads are shared (numbers as CalculiX 2.20 prints them), what turns freely."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, prints, run, steel, step

from fem_mbs.errors import InputError, ModelError


def tetra(kind):
    x = {1: (0.0, 0.0, 0.0), 2: (2.0, 0.0, 0.0), 3: (0.0, 1.0, 0.0), 4: (0.0, 0.0, 1.0)}
    nodes = {i: np.array(v) for i, v in x.items()}
    if kind == "C3D10":
        for k, (a, b) in enumerate(((1, 2), (2, 3), (3, 1), (1, 4), (2, 4), (3, 4))):
            nodes[5 + k] = (nodes[a] + nodes[b]) / 2
    return nodes, {1: list(nodes)}


def blocks(kind, count=1):
    """One block, or two, of lengths 1 and 3."""
    nodes, elements = brick((count, 1, 1), (4.0, 1.0, 1.0), kind)
    if kind == "C3D8":
        for x in nodes.values():
            x[0] = {0.0: 0.0, 2.0: 1.0, 4.0: 4.0}[x[0]]
    return nodes, elements


#: Nearly no stiffness but a spring of 1 in every direction of every node: displacements are forces.
SOFT = "*MATERIAL, NAME=M\n*ELASTIC\n1.E-6, 0.\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"


def shares(path, nodes, elements, kind, surface, load, settings="1, 6"):
    """Forces (3,) on nodes of the coupling by their numbers, and the notes."""
    ref, count = max(nodes) + 1, len(nodes)
    text = mesh_text(nodes, elements, kind) + f"*NODE, NSET=REF\n{ref}, 1., 1., 3.\n" + SOFT
    for d in (1, 2, 3):
        rows = "".join(f"{1000 * d + k}, {node}\n" for k, node in enumerate(nodes))
        text += f"*ELEMENT, TYPE=SPRING1, ELSET=S{d}\n{rows}*SPRING, ELSET=S{d}\n{d}\n1.\n"
    text += surface + f"*COUPLING, CONSTRAINT NAME=C, REF NODE={ref}, SURFACE=S\n*DISTRIBUTING\n{settings}\n"
    converted, (done,) = run(path, text, step(f"*STATIC\n*CLOAD\n{ref}, {load}\n*NODE PRINT, NSET=NALL\nU\n"))
    assert count <= len(prints(done, "U")[0]) <= count + 1
    return dict(zip(*prints(done, "U"), strict=True)), [str(n) for n in converted.notes]


FACES = "*SURFACE, NAME=S, TYPE=ELEMENT\nEALL, {}\n"
# kind, count, face, load, component -> CalculiX's displacements of nodes
CASES = {
    "C3D8": (2, "S2", "3, 1.", 2, {5: 0.05, 6: 0.1, 7: 0.6, 8: 0.175, 11: -0.15, 12: 0.225}),
    "C3D8 along": (
        2, "S2", "1, 1.", 0, {5: 0.05682, 6: 0.22727, 7: 0.27273, 8: 0.06818, 11: 0.17045, 12: 0.20455},
    ),
    "C3D8 moment": (
        2, "S2", "6, 1.", 1, {5: -0.04545, 6: -0.09091, 7: -0.09091, 8: -0.04545, 11: 0.13636, 12: 0.13636},
    ),
    "C3D20": (
        1, "S2", "3, 1.", 2,
        {5: 0.04167, 6: 0.29167, 7: -0.20833, 8: -0.45833, 13: -0.66667, 14: -0.16667, 15: 1.33333, 16: 0.83333},
    ),
    "C3D4": (0, "S1", "3, 1.", 2, {1: -0.5, 2: 0.5, 3: 1.0, 4: 0.0}),
    "C3D10": (0, "S1", "3, 1.", 2, {1: 0.0, 2: 0.0, 3: 0.0, 5: -1.0, 6: 2.0, 7: 0.0}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_nodes_count_by_their_share_in_the_area(tmp_path, case):
    count, face, load, k, expected = CASES[case]
    kind = case.split()[0]
    nodes, elements = blocks(kind, count) if count else tetra(kind)
    u, notes = shares(tmp_path / "d.inp", nodes, elements, kind, FACES.format(face), load)
    assert [u[i][k] for i in expected] == pytest.approx(list(expected.values()), abs=6e-6)
    assert not notes
    total = np.sum([u[i] for i in nodes], axis=0)
    assert total == pytest.approx(np.eye(7)[int(load[0]) - 1][:3], abs=2e-5)  # what acts on the reference


def test_a_surface_of_nodes_has_equal_weights(tmp_path):
    nodes, elements = blocks("C3D8", 2)
    rows = "*SURFACE, NAME=S, TYPE=NODE\n5\n6\n7\n8\n11\n12\n"
    u, notes = shares(tmp_path / "d.inp", nodes, elements, "C3D8", rows, "3, 1.")
    # at (1, 1), the mean at (5/3, 1/2): equal shares and those of the moments
    dx, dy = -2.0 / 3.0, 0.5
    x = np.array([nodes[i] for i in (5, 6, 7, 8, 11, 12)]) - [5.0 / 3.0, 0.5, 1.0]
    expected = 1.0 / 6.0 + dx * x[:, 0] / (x[:, 0] ** 2).sum() + dy * x[:, 1] / (x[:, 1] ** 2).sum()
    assert [u[i][2] for i in (5, 6, 7, 8, 11, 12)] == pytest.approx(expected.tolist(), abs=2e-5)
    assert any("equal weights" in n for n in notes)


# ---- directions ------------------------------------------------------------------------------------------------------
#: Local axes 1, 2, 3 along y, z, x.
TURNED = "*ORIENTATION, NAME=O\n0., 1., 0., 0., 0., 1.\n"


def held_block(coupling: str) -> str:
    """A bar along x, held at its foot, with a node 100 beyond its tip."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    nodes[100] = np.array([3.0, 0.5, 0.5])
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + steel(nu=0.0) + "*BOUNDARY\nFIX, 1, 3\n"
    return (
        text + "*SURFACE, NAME=S\n2, S4\n" + TURNED + "*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=S" + coupling
    )


@pytest.mark.parametrize(("dof", "axis"), [(3, 0), (4, 1)])
def test_loads_at_the_reference_are_in_its_axes(tmp_path, dof, axis):
    """Local 3 is x, the local moment 1 is about y: the support bears this force or moment."""
    text = held_block(", ORIENTATION=O\n*DISTRIBUTING\n1, 6\n")
    load = f"*STATIC\n*CLOAD\n100, {dof}, 6.\n*NODE PRINT, NSET=FIX\nRF\n"
    converted, (done,) = run(tmp_path / "d.inp", text, step(load))
    ids, force = prints(done, "RF")
    moment = np.cross(converted.deck.x[converted.conversion.nodes(ids)] - [3.0, 0.5, 0.5], force).sum(axis=0)
    borne = -force.sum(axis=0) if dof < 4 else -moment
    assert borne == pytest.approx(6.0 * np.eye(3)[axis], abs=1e-8)
    assert any("are those of the ORIENTATION" in n.text for n in converted.notes)


def test_directions_that_are_not_coupled_are_no_unknowns(tmp_path):
    """Only x is coupled: y and z of the reference, and its rotation about x, move nothing."""
    text = held_block("\n*KINEMATIC\n1, 1\n") + "*BOUNDARY\n100, 5, 6\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*CLOAD\n100, 1, 4.\n*NODE PRINT, NSET=NALL\nU\n"))
    ids, u = prints(done, "U")
    assert u[ids == 100][0] == pytest.approx([4.0 * 2.0 / 2.1e11, 0.0, 0.0], rel=1e-9)


def around(kinematic: str) -> str:
    """Springs of 1 at all nodes of a block without stiffness, whose end follows a node along cylindrical axes about
    x."""
    nodes, elements = brick((1, 2, 2), (1.0, 2.0, 2.0))
    text = mesh_text(nodes, elements) + "*NODE, NSET=REF\n100, 1., 1., 1.\n" + SOFT
    for d in (1, 2, 3):
        rows = "".join(f"{1000 * d + k}, {node}\n" for k, node in enumerate(nodes))
        text += f"*ELEMENT, TYPE=SPRING1, ELSET=S{d}\n{rows}*SPRING, ELSET=S{d}\n{d}\n1.\n"
    text += "*ORIENTATION, NAME=R, SYSTEM=CYLINDRICAL\n0., 1., 1., 1., 1., 1.\n"
    faces = "".join(f"{k}, S4\n" for k in elements)
    return text + f"*SURFACE, NAME=S\n{faces}*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=S, {kinematic}\n"


def test_directions_in_cylindrical_axes(tmp_path):
    """A turned reference moves the nodes along their circles alone."""
    text = around("ORIENTATION=R\n*KINEMATIC\n2").replace("*SURFACE, NAME=S\n", "*SURFACE, NAME=ALL\n")
    nodes, _ = brick((1, 2, 2), (1.0, 2.0, 2.0))
    ring = [n for n in at(nodes, 0, 1.0) if not np.allclose(nodes[n][1:], 1.0)]
    text = text.replace("*COUPLING", "*SURFACE, NAME=S, TYPE=NODE\n" + "\n".join(map(str, ring)) + "\n*COUPLING")
    load = "*STATIC\n*BOUNDARY\n100, 4, 4, .01\n*CLOAD\n100, 2, 4.\n*NODE PRINT, NSET=NALL\nU\n"
    _, (done,) = run(tmp_path / "d.inp", text, step(load))
    u = dict(zip(*prints(done, "U"), strict=True))
    arm = np.array([nodes[n] for n in ring]) - [0.0, 1.0, 1.0]
    arm[:, 0] = 0.0
    tangent = np.cross([1.0, 0.0, 0.0], arm) / np.linalg.norm(arm, axis=1)[:, None]
    # each node gives a spring of 1 along its circle: the force on the reference is borne by their parts along y
    stiffness = tangent.T @ tangent
    v = np.linalg.solve(stiffness[1:, 1:], np.array([4.0, 0.0]) - 0.01 * (tangent.T @ np.linalg.norm(arm, axis=1))[1:])
    along = tangent[:, 1:] @ v + 0.01 * np.linalg.norm(arm, axis=1)
    for node, t, size in zip(ring, tangent, along, strict=True):
        assert u[node] == pytest.approx(size * t, abs=1e-5)
    with pytest.raises(ModelError, match="small rotations only"):
        run(tmp_path / "d.inp", text, step(load).replace("*STEP", "*STEP, NLGEOM", 1))


FREEDOMS = {
    "HINGE": 1, "JOIN, REVOLUTE": 1, "JOIN": 3, "WELD": 0, "JOIN, ALIGN": 0, "BEAM": 0, "TRANSLATOR": 1,
    "SLOT, ALIGN": 1, "CYLINDRICAL": 2, "SLOT, REVOLUTE": 2, "PLANAR": 3, "SLIDE-PLANE": 5, "SLOT": 4, "LINK": 5,
}  # fmt: skip


def two_beams(types, lines="", gap=0.0, steps=""):
    """Two beams along x, the first clamped, joined by a connector of an axis along y; nodes 2 and 3."""
    rows = f"1, 0., 0., 0.\n2, 1., 0., 0.\n3, {1.0 + gap}, 0., 0.\n4, {2.0 + gap}, 0., .3\n"
    return (
        f"*NODE, NSET=NALL\n{rows}*ELEMENT, TYPE=B31, ELSET=EALL\n1, 1, 2\n2, 3, 4\n"
        "*MATERIAL, NAME=M\n*ELASTIC\n2.1E11, .3\n*DENSITY\n7850.\n"
        "*BEAM SECTION, ELSET=EALL, MATERIAL=M, SECTION=RECT\n.02, .03\n0., 1., 0.\n"
        "*ORIENTATION, NAME=Y\n0., 1., 0., -1., 0., 0.\n"
        "*ELEMENT, TYPE=CONN3D2, ELSET=C\n3, 2, 3\n"
        f"*CONNECTOR SECTION, ELSET=C\n{types},\n{lines}*BOUNDARY\n1, 1, 6\n" + steps
    )


@pytest.mark.parametrize("types", FREEDOMS)
def test_connectors_leave_free_what_they_say(tmp_path, types):
    gap = 0.5 if types in ("LINK", "BEAM") else 0.0
    text = two_beams(types, gap=gap, steps=step("*FREQUENCY\n8\n"))
    _, (done,) = run(tmp_path / "d.inp", text)
    assert (np.abs(done["frequencies_hz"]) < 1e-3).sum() == FREEDOMS[types]  # the lowest of the others is at 1 Hz


def test_a_hinge_turns_about_its_axis(tmp_path):
    """A force at a hinge between a cantilever and a beam on a support bends the cantilever alone: F L^3/(3 E I)."""
    pull = step("*STATIC\n*BOUNDARY\n4, 3, 3\n*CLOAD\n2, 3, 50.\n*NODE PRINT, NSET=NALL\nU\n")
    _, (done,) = run(tmp_path / "d.inp", two_beams("HINGE", "Y,\n", steps=pull))
    inertia = 0.02 * 0.03**3 / 12.0
    assert prints(done, "U")[1][1:3, 2] == pytest.approx(50.0 / (3.0 * 2.1e11 * inertia), rel=5e-3)


BAD_CONNECTORS = {
    "unknown": (two_beams("RETRACTOR"), "a connector RETRACTOR is not supported"),
    "apart": (two_beams("HINGE", gap=0.1), r"the nodes of connector 3 \(HINGE\) are not at one place"),
    "beside the axis": (two_beams("SLOT", "Y,\n", gap=0.1), r"connector 3 \(SLOT\) are not on its first axis"),
    "other axes": (two_beams("SLOT", "Y, Z\n"), "axes of its own at the second node are not read"),
    "a behaviour": (
        two_beams("HINGE").replace("SECTION, ELSET=C", "SECTION, ELSET=C, BEHAVIOR=B"), "the behavior B is not defined",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CONNECTORS)
def test_bad_connectors(tmp_path, case):
    text, message = BAD_CONNECTORS[case]
    with pytest.raises(InputError, match=f"line [0-9]+.*{message}"):
        run(tmp_path / "d.inp", text, step("*FREQUENCY\n8\n"))


# ---- mean rotations --------------------------------------------------------------------------------------------------
def twisted(*rows):
    """A block held on one side; node 101 carries the axis (0, 0, 3) of the mean rotation of the other side."""
    nodes, elements = brick((1, 1, 2), (1.0, 1.0, 2.0))
    top = at(nodes, 2, 2.0)
    triple = ", ".join(f"{n}, {n}, {n}" for n in top)
    text = mesh_text(nodes, elements) + "*NODE, NSET=REF\n101, 0., 0., 3.\n" + steel(1000.0, 0.3, 1.0)
    text += (
        nset("LOW", at(nodes, 2, 0.0)) + nset("TOP", top) + "*BOUNDARY\nLOW, 1, 3\n" + f"*MPC\nMEANROT, {triple}, 101\n"
    )
    return nodes, top, text + "".join(rows)


WATCHED = "*NODE PRINT, NSET=NALL\nU\n*NODE PRINT, NSET=REF\nU, RF\n*EL PRINT, ELSET=EALL\nELSE\n"


@pytest.mark.parametrize("given", ["*BOUNDARY\n101, 1, 1, .02\n", "*CLOAD\n101, 1, 5.\n"])
def test_mean_rotations(tmp_path, given):
    """Node 101 has the mean angle of the nodes, and its force does the work that the block stores."""
    nodes, top, text = twisted(step("*STATIC\n" + given + WATCHED))
    _, (done,) = run(tmp_path / "d.inp", text)
    tables = [p for p in done["prints"] if p["quantity"] == "U"]
    u = dict(zip(tables[0]["ids"], np.array(tables[0]["values"]), strict=True))
    angle = tables[1]["values"][0][0]
    x, moved = np.array([nodes[n] for n in top]), np.array([u[n] for n in top])
    arm = (x - x.mean(axis=0)) * (1.0, 1.0, 0.0)
    turned = np.cross([0.0, 0.0, 1.0], arm) / np.sum(arm**2, axis=1)[:, None]
    assert np.sum(turned * (moved - moved.mean(axis=0))) / len(top) == pytest.approx(angle, rel=1e-9)
    moment = prints(done, "RF")[1][0][0] if "BOUNDARY" in given else 5.0
    energy = np.sum(prints(done, "ELSE")[1])
    assert 0.5 * moment * angle == pytest.approx(energy, rel=1e-9) and angle > 0.0


BAD_ROTATIONS = {
    "NLGEOM": (lambda text: text.replace("*STEP", "*STEP, NLGEOM"), "small rotations in space only"),
    "nodes once": (lambda text: text.replace("MEANROT, ", "MEANROT, 1, "), "every node three times"),
    "no axis": (lambda text: text.replace("101, 0., 0., 3.", "101, 0., 0., 0."), "stands at the origin"),
}


@pytest.mark.parametrize("case", BAD_ROTATIONS)
def test_bad_mean_rotations(tmp_path, case):
    change, message = BAD_ROTATIONS[case]
    _, _, text = twisted(step("*STATIC\n*CLOAD\n101, 1, 5.\n" + WATCHED))
    with pytest.raises(InputError, match=f"line [0-9]+.*{message}"):
        run(tmp_path / "d.inp", change(text))


def test_a_mean_that_is_held(tmp_path):
    """The node of DCOUP3D is the mean of four nodes: held, it takes the force that moves them."""
    nodes, elements = brick((1, 1, 2), (1.0, 1.0, 2.0))
    text = mesh_text(nodes, elements) + "*NODE, NSET=REF\n101, 0., 0., 3.\n" + steel(1000.0, 0.0, 1.0)
    text += nset("LOW", at(nodes, 2, 0.0)) + nset("TOP", at(nodes, 2, 2.0)) + "*BOUNDARY\nLOW, 1, 3\n"
    text += "*ELEMENT, TYPE=DCOUP3D, ELSET=D\n101, 101\n*DISTRIBUTING COUPLING, ELSET=D\nTOP, 1.\n"
    _, (done,) = run(tmp_path / "d.inp", text, step("*STATIC\n*BOUNDARY\n101, 1, 2\n101, 3, 3, .02\n" + WATCHED))
    assert prints(done, "RF")[1][0] == pytest.approx([0.0, 0.0, 1000.0 / 2.0 * 0.02], abs=1e-9)


@pytest.mark.parametrize("kind", ["*KINEMATIC\n1, 2\n6, 6\n", "*DISTRIBUTING\n"])
def test_couplings_of_the_plane(tmp_path, kind):
    """A slender strip in plane stress bends under a moment and a force at the node to which its end is coupled."""
    n, height, length = 20, 0.1, 2.0
    nodes = [f"{1 + 3 * i + j}, {length * i / n}, {height * (0.5 * j - 0.5)}" for i in range(n + 1) for j in range(3)]
    mids = [f"{201 + 2 * i + j}, {length * (i + 0.5) / n}, {height * (j - 0.5)}" for i in range(n) for j in range(2)]
    cells = [f"{i + 1}, {3 * i + 1}, {3 * i + 4}, {3 * i + 6}, {3 * i + 3}, {201 + 2 * i}, {3 * i + 5}, {202 + 2 * i}, "
             f"{3 * i + 2}" for i in range(n)]  # fmt: skip
    deck = (
        "*NODE\n" + "\n".join((*nodes, *mids, "999, 2.5, 0.")) + "\n*ELEMENT, TYPE=CPS8R, ELSET=E\n" + "\n".join(cells)
        + "\n*SOLID SECTION, ELSET=E, MATERIAL=M\n.01\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.\n"
        f"*SURFACE, NAME=END\n{n}, S2\n*COUPLING, CONSTRAINT NAME=C, REF NODE=999, SURFACE=END\n{kind}"
        "*BOUNDARY\n1, 1, 2\n2, 1, 2\n3, 1, 2\n*STEP\n*STATIC\n*CLOAD\n999, 2, 10.\n999, 6, 7.\n"
        "*NSET, NSET=REF\n999\n*NODE PRINT, NSET=REF\nU\n*END STEP\n"
    )  # fmt: skip
    _, (done,) = run(tmp_path / "plane.inp", deck)
    EI = 2e11 * 0.01 * height**3 / 12.0
    moment = 7.0 + 10.0 * 0.5  # at the end of the strip
    turn = moment * length / EI + 10.0 * length**2 / (2.0 * EI)
    tip = moment * length**2 / (2.0 * EI) + 10.0 * length**3 / (3.0 * EI)
    assert prints(done, "U")[1][0, 1] == pytest.approx(tip + 0.5 * turn, rel=2e-3)


def test_held_nodes_of_a_coupling_hold_its_reference(tmp_path):
    """A square of plane elements of nu = 0 is pulled by a reference; a coupled node at rest holds it across."""
    deck = (
        "*NODE\n1, 0., 0.\n2, 1., 0.\n3, 0., 1.\n4, 1., 1.\n9, 2., .5\n*NGEN, NSET=ONE\n1, 2\n"
        "*ELEMENT, TYPE=CPS4, ELSET=E\n1, 1, 2, 4, 3\n"
        "*SOLID SECTION, ELSET=E, MATERIAL=M\n.01\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.\n"
        "*SURFACE, NAME=END\n1, S2\n*COUPLING, CONSTRAINT NAME=C, REF NODE=9, SURFACE=END\n*KINEMATIC\n1, 2\n"
        "*NSET, NSET=REF\n9\n*BOUNDARY\n1, 1, 2\n3, 1, 2\n2, 2\n*STEP\n*STATIC\n*CLOAD\n9, 1, 2e6\n9, 6, 1e5\n"
        "*NODE PRINT, NSET=REF\nU\n*NODE PRINT, NSET=ONE\nU\n*END STEP\n"
    )
    _, (done,) = run(tmp_path / "held.inp", deck)
    _, u = prints(done, "U", set="REF")
    _, own = prints(done, "U", set="ONE")
    assert own[1, 1] == pytest.approx(0.0, abs=1e-15)
    turn = -(u[0, 0] - own[1, 0]) / 0.5  # the node below the reference moves by the rotation, too
    assert u[0, 1] == pytest.approx(turn * 1.0, rel=1e-9) and turn != 0.0


def test_rotations_that_distributing_does_not_name(tmp_path):
    """Their moments and supports have no effect in CalculiX 2.20: displacements there with and without are the same."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    text += "*NODE\n99, 2.2, .3, .5\n*SURFACE, NAME=S\n2, S4\n*BOUNDARY\nFIX, 1, 3\n" + steel(1000.0, 0.3, 2.0)
    text += "*COUPLING, REF NODE=99, SURFACE=S, CONSTRAINT NAME=C\n*DISTRIBUTING\n1, 4\n"
    push = "*STATIC\n*CLOAD\n99, 2, .3\n99, 4, .8\n"
    show = "*NODE PRINT, NSET=TIP\nU\n"
    _, (alone,) = run(tmp_path / "d.inp", text, step(push + show))
    for more in ("*CLOAD\n99, 6, -.6\n", "*BOUNDARY\n99, 6, 6, .1\n"):
        converted, (done,) = run(tmp_path / "e.inp", text, step(push + more + show))
        np.testing.assert_array_equal(prints(done, "U")[1], prints(alone, "U")[1])
        assert ["*DISTRIBUTING" in str(n) for n in converted.notes if n.effect.name == "DIFFERS"] == [True]
    np.testing.assert_allclose(prints(alone, "U")[1][0], [2.725247e-03, 2.050615e-02, -1.240696e-02], rtol=5e-7)


def test_moments_on_a_rigid_body_that_turns(tmp_path):
    """Moments M of CalculiX 2.20 do work on the rotation vector t, so that they are T(t)^-T M about fixed axes: these
    give the rotation that it prints; a warning tells the difference."""
    nodes, elements = brick((2, 1, 1), (2.0, 1.0, 0.8))
    text = mesh_text(nodes, elements) + nset("FIX", at(nodes, 0, 0.0)) + nset("TIP", at(nodes, 0, 2.0))
    text += steel(1000.0, 0.0, 2.0) + "*BOUNDARY\nFIX, 1, 3\n*NODE, NSET=ROT\n99, 2., .5, .4\n*NODE\n98, 2., .5, .4\n"
    text += "*RIGID BODY, NSET=TIP, REF NODE=98, ROT NODE=99\n"
    M, turned = np.array([8.0, 0.0, -12.0]), np.array([3.052182e-01, 0.0, -2.433904e-01])
    a, S = np.linalg.norm(turned), np.cross(turned, np.eye(3)).T
    T = np.eye(3) + (1.0 - np.cos(a)) / a**2 * S + (a - np.sin(a)) / a**3 * S @ S  # spatial change per change of t
    moment = "".join(f"99, {k}, {v:.12g}\n" for k, v in enumerate(np.linalg.solve(T.T, M), 1))
    converted, (done,) = run(
        tmp_path / "d.inp", text, step("*STATIC\n1., 1.\n*CLOAD\n" + moment + "*NODE PRINT, NSET=ROT\nU\n", "NLGEOM")
    )
    last = np.array(done["prints"][-1]["values"])[0]
    np.testing.assert_allclose(last, turned, atol=2e-6)
    assert ["rotation vector" in str(n) for n in converted.notes if n.effect.name == "DIFFERS"] == [True] * 3
