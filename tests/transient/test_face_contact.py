"""Contact of faces that deform: those of reduced parts, lengths of beams on them, friction, and both ways.

References are conservation, closed forms, and the same model in another description.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, reduce_part, run, solve, write_part
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model
from fem_mbs.validation.case import constancy, energy_error

CORNERS = ("bottom_front_left", "bottom_front_right", "bottom_back_left", "top_front_left")
MU = 0.3


def block(model, kind="hexahedron"):
    model.mesh("m", box={"size": (0.4, 0.3, 0.1), "n": (4, 3, 1), "kind": kind})
    model.solid_material("soft", 1e7, 0.3, density=1000.0)
    model.solids("block", "m", "soft")
    return model


def ball_on(model, faces):
    """A ball that slides over faces, over edges and corners of their triangles."""
    model.body("ball", (0.09, 0.1, 0.151), mass=0.2, inertia=np.full(3, 1e-4))
    model.initial("ball", velocity=(2.0, 0.8, -1.0))
    model.contact("touch", faces, "ball", surface="faces", ball=0.05, stiffness=1e5)
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.01, 2.5e-4, frames=0)
    return solve(model).steps[0]


def conserved(step, elastic=True, tolerance=1e-11):
    assert np.nanmax(step.series["sensor/force"]) > 10.0
    assert energy_error(step, constant=elastic) < tolerance
    assert constancy(step, "linear momentum") < tolerance
    assert constancy(step, "angular momentum") < tolerance
    if not elastic:
        lost = step.ledger("dissipated")
        assert lost[-1] > 0.01
        assert (np.diff(lost) >= -1e-15).all()


# --- reduced parts ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def part():
    return reduce_part(block(Model(3)), {name: f"m:{name}" for name in CORNERS}, modes=500)


def test_faces_of_a_reduced_part_are_those_of_the_part(part):
    """With all modes the forces differ by the strains of second order alone, with few by the modes left out."""
    forces = []
    for modes in (None, 40):
        model = Model(3)
        model.reduced_part("p", part, modes=modes)
        step = ball_on(model, "p:surface")
        conserved(step)
        forces.append(step.series["sensor/force"][1:])
    full = ball_on(block(Model(3)), "m:top").series["sensor/force"][1:]
    assert np.abs(forces[0] - full).max() < 2e-3 * full.max()
    assert np.abs(forces[1] - full).max() < 2e-2 * full.max()


@pytest.mark.parametrize("modes", [20, 40])
def test_faces_of_a_part_with_an_interface_that_turns(modes):
    """Its nodes without mass are pressed, with the stiffness of the contact alone."""
    part = reduce_part(block(Model(3)), {"left": "m:left"}, modes=500)
    model = Model(3)
    model.reduced_part("p", part, modes=modes)
    conserved(ball_on(model, "p:surface"))


FILE = """
dimension = 3

[[part]]
name = "p"
file = "part.h5"
modes = 20

[[body]]
name = "ball"
position = [0.09, 0.1, 0.151]
mass = 0.2
inertia = [1e-4, 1e-4, 1e-4]

[[initial]]
on = "ball"
velocity = [2.0, 0.8, -1.0]

[[contact]]
name = "touch"
a = "p:surface"
b = "ball"
surface = "faces"
ball = 0.05
stiffness = 1e5

[[sensor]]
name = "force"
kind = "contact"
on = "touch"

[[step]]
type = "transient"
duration = 0.01
h = 2.5e-4
frames = 4
restarts = 3
"""


def test_files_and_restart_points_of_faces_of_a_reduced_part(part, tmp_path):
    """From a file, that file written again, and a restart point: the same bits; by calls the same up to round-off."""
    called = Model(3)
    called.reduced_part("p", part, modes=20)
    force = np.array(ball_on(called, "p:surface").series["sensor/force"])
    assert np.nanmax(force) > 10.0
    write_part(tmp_path / "part.h5", part)
    path, again = tmp_path / "model.toml", tmp_path / "again.toml"
    path.write_text(FILE, encoding="utf-8")
    write_model(load_model(path), again)
    runs = [run(load_model(path), tmp_path / "whole"), run(load_model(again), tmp_path / "again")]
    runs.append(run(load_model(again), tmp_path / "again", restart=1))
    first, *others = ({name: np.array(a) for name, a in results.steps[0].series.items()} for results in runs)
    np.testing.assert_allclose(first["sensor/force"], force, rtol=0.0, atol=1e-11 * np.nanmax(force))
    for other in others:
        for name, series in first.items():
            assert np.array_equal(series, other[name], equal_nan=True), name


def test_surface_nodes_of_a_reduced_part_fall_on_a_plane(part):
    model = Model(3)
    model.reduced_part("p", part, position=(0.0, 0.0, 0.001), rotation=(0.0, 0.02, 0.0), modes=30)
    model.initial("p", velocity=(0.0, 0.0, -1.0))
    model.contact("touch", "ground", "p:surface", point=(0.0, 0.0, -0.02), axis=(0.0, 0.0, 1.0), stiffness=1e5)
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.04, 2.5e-4, frames=0)
    step = solve(model).steps[0]
    assert np.nanmax(step.series["sensor/force"]) > 10.0
    assert energy_error(step, constant=True) < 1e-11


def test_faces_between_interfaces(part):
    """A retained set is a face; single retained nodes are one where they are all of it."""
    top = reduce_part(
        block(Model(3)), {"feet": "m:bottom", "lid": {"on": "m:top", "kind": "average"}},
        modes=40,
    )  # fmt: skip
    model = Model(3)
    model.reduced_part("p", top)
    conserved(ball_on(model, "p:lid"))
    model = Model(3)
    model.reduced_part("p", part)
    model.body("ball", (0.09, 0.1, 0.151), mass=0.2, inertia=np.full(3, 1e-4))
    with pytest.raises(ModelError, match=r'no face of reduced part "p" has all its nodes in .*; retain the nodes "m '):
        model.contact("t", [f"p:{name}" for name in CORNERS], "ball", surface="faces", ball=0.05, stiffness=1e5)


def test_reduced_parts_without_faces(part):
    from dataclasses import replace

    for found, words in (
        (replace(part, recovery=None), "holds no displacements of its nodes"),
        (replace(part, recovery=replace(part.recovery, cells=())), "has no solids or shells"),
    ):
        model = Model(3)
        model.reduced_part("p", found)
        model.body("ball", (0.09, 0.1, 0.151), mass=0.2, inertia=np.full(3, 1e-4))
        with pytest.raises(ModelError, match=words):
            model.contact("t", "p:surface", "ball", surface="faces", ball=0.05, stiffness=1e5)


# --- lengths of beams ------------------------------------------------------------------------------------------------
def beam_on_block(**law):
    model = block(Model(3))
    model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
    model.line("line", (0.03, 0.11, 0.121), (0.43, 0.19, 0.125), 5)
    model.beams("rod", "line", "rod")
    model.initial("line:all", velocity=(1.0, 0.6, -1.0))
    law = {"ball": 0.02, "stiffness": 1e5, "along": True} | law
    model.contact("touch", "m:top", "rod", surface="faces", **law)
    model.sensor("force", "contact", on="touch")
    return model


@pytest.mark.parametrize("law", [{}, {"coefficient": MU, "smoothing": 0.01}, {"damping": 0.2}], ids=str)
def test_a_beam_falls_on_faces(law):
    model = beam_on_block(**law)
    model.transient_step(0.02, 2.5e-4, frames=0)
    conserved(solve(model).steps[0], elastic=not law)


def test_what_lines_on_faces_do_not_have():
    with pytest.raises(ModelError, match="lines on faces have no table"):
        beam_on_block(stiffness=None, table=[[0, 0], [1, 1e5]])
    with pytest.raises(ModelError, match="has more than 64 places"):
        beam_on_block(spacing=1e-4)
    with pytest.raises(ModelError, match="beams have no faces"):
        beam_on_block(both=True)


# --- friction, both ways ---------------------------------------------------------------------------------------------
def two_blocks(both, **law):
    model = block(Model(3))
    model.mesh("n", box={"size": (0.15, 0.12, 0.06), "n": (2, 2, 1), "start": (0.1, 0.1, 0.112)})
    model.solids("top", "n", "soft")
    model.initial("n:all", velocity=(1.0, 0.5, -1.0))
    law = {"ball": 0.01, "stiffness": 1e5} | law
    model.contact("touch", "m:top", "n:bottom", surface="faces", both=both, **law)
    model.sensor("force", "contact", on="touch")
    model.sensor("friction", "contact", on="touch", quantity="friction force")
    return model


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("law", [{}, {"coefficient": MU, "smoothing": 0.01}], ids=["smooth", "rough"])
def test_a_block_falls_on_a_block(both, law):
    model = two_blocks(both, **law)
    model.transient_step(0.01, 2.5e-4, frames=0)
    step = solve(model).steps[0]
    conserved(step, elastic=not law)
    force, friction = (step.series[f"sensor/{name}"] for name in ("force", "friction"))
    # at the largest force all of it slides
    k = int(np.nanargmax(force))
    assert friction[k] == pytest.approx((MU if law else 0.0) * force[k], rel=0.02)


def test_friction_in_newmark_steps():
    """The force of a state, and its tangent."""
    model = two_blocks(False, coefficient=MU, smoothing=0.01)
    model.transient_step(0.01, 5e-5, rule="newmark", frames=0)
    step = solve(model).steps[0]
    reference = two_blocks(False, coefficient=MU, smoothing=0.01)
    reference.transient_step(0.01, 5e-5, frames=0)
    other = solve(reference).steps[0]
    assert step.ledger("dissipated")[-1] == pytest.approx(other.ledger("dissipated")[-1], rel=2e-3)


def test_friction_does_not_turn_bodies():
    model = block(Model(3))
    model.body("ball", (0.09, 0.1, 0.151), mass=0.2, inertia=np.full(3, 1e-4))
    with pytest.raises(ModelError, match='"ball" is a body, which friction would turn'):
        model.contact("t", "m:top", "ball", surface="faces", ball=0.05, stiffness=1e5, coefficient=0.1, smoothing=0.01)


def test_a_coarse_face_does_not_swallow_a_finer_one():
    """A corner of a below between the nodes of b: nodes of b alone do not see it, both ways do."""
    depths = []
    for both in (False, True):
        model = Model(3)
        model.solid_material("soft", 1e7, 0.3, density=1000.0)
        model.mesh("m", box={"size": (0.1, 0.1, 0.1), "n": (1, 1, 1), "start": (0.15, 0.15, 0.0)})
        model.mesh("n", box={"size": (0.4, 0.4, 0.1), "n": (1, 1, 1), "start": (0.0, 0.0, 0.112)})
        model.solids("small", "m", "soft")
        model.solids("large", "n", "soft")
        model.initial("n:all", velocity=(0.0, 0.0, -1.0))
        model.contact("touch", "m:top", "n:bottom", surface="faces", ball=0.01, stiffness=1e5, both=both)
        model.sensor("force", "contact", on="touch")
        model.transient_step(0.01, 2.5e-4, frames=0)
        depths.append(np.nanmax(solve(model).steps[0].series["sensor/force"]))
    assert depths[0] == 0.0
    assert depths[1] > 10.0


# --- passing through -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("surface", "way"), [("beams", 0.1), ("beams", 0.09), ("faces", 0.06), ("faces", 0.055)])
def test_statics_do_not_jump_through(surface, way):
    """In one or two increments a ball goes from above one part to below another one, or to the middle of it."""
    model = Model(3)
    if surface == "beams":
        model.section("rod", "stiffness", EA=1e6, EI=50.0, GA=4e5, GJ=40.0, rhoA=1.0, rhoI=1e-4)
        model.line("line", (0.0, 0.0, 0.0), (0.4, 0.0, 0.0), 4)
        model.beams("rod", "line", "rod")
        model.fix("line:start")
        model.fix("line:end")
        a, radius = "rod", 0.02
    else:
        block(model)
        model.fix("m:bottom", ["x", "y", "z"])
        a, radius = "m:top", None
    z = 0.1 if surface == "faces" else 0.0
    y = 0.07 if surface == "faces" else 0.0
    model.body("ball", (0.06, y, z + 0.05), mass=1.0, inertia=np.full(3, 1e-3))
    model.motion("along", "ball", "x", "0.083*t")
    model.motion("down", "ball", "z", f"-{way}*t")
    model.fix("ball", ["y", "rotation x", "rotation y", "rotation z"])
    model.contact("touch", a, "ball", surface=surface, radius=radius, ball=0.01, stiffness=1e2)
    model.static_step(increments=1, duration=1.0)
    with pytest.raises(AnalysisError, match=r'Contact "touch": (passing through each other|penetration over the dist)'):
        solve(model)
