"""Complex modes in the frame of a centrifugal load, in the span of real modes, and of decks."""

from __future__ import annotations

import numpy as np
import pytest
from deck_text import at, brick, mesh_text, nset, run, steel, step

from fem_mbs import Model, ModelError, solve
from fem_mbs.decks.abaqus.run import convert
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect


def turning_point(dimension=2, speed=3.0):
    """A mass of 1 kg on springs of 100 N/m, seen from a frame that turns."""
    m = Model(dimension)
    m.node("a", (0.0,) * dimension)
    m.point_mass("mass", "a", 1.0)
    for axis in "xy":
        m.nodal_spring(axis, "a", axis, 100.0)
    if dimension == 3:
        m.fix("a", ["z"])
    m.centrifugal("spin", speed, **({"axis": (0, 0, 1)} if dimension == 3 else {}))
    m.static_step()
    return m


@pytest.mark.parametrize("dimension", [2, 3])
def test_rotor_in_the_rotating_frame(dimension):
    """D1: p = +-i (10 +- 3), in the plane and in space."""
    m = turning_point(dimension)
    m.complex_modes_step(count=2, coriolis=True)
    s = solve(m).summary["steps"][-1]
    np.testing.assert_allclose(np.array(s["eigenvalues"])[:, 1], (7.0, 13.0), rtol=1e-12)
    assert (s["frame"], s["speed"], s["stable"]) == ("rotating", pytest.approx(3.0), True)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_frame_may_turn_backward(dimension):
    """With Omega = -3: (91 - w^2) x + 6 i w y = 1, (91 - w^2) y - 6 i w x = 0, the other sense of the ellipse."""
    m = turning_point(dimension, speed=-3.0)
    m.force("push", "a", (1.0, 0.0, 0.0)[:dimension], 1.0)
    m.sensor("place", "displacement", on="a")
    m.harmonic_step([1.0], loads=["push"], coriolis=True)
    m.complex_modes_step(count=2, coriolis=True)
    found, w = solve(m), 2.0 * np.pi
    exact = np.linalg.solve([[91.0 - w * w, 6j * w], [-6j * w, 91.0 - w * w]], [1.0, 0.0])
    np.testing.assert_allclose(found.response("place").values[0, :2], exact, rtol=1e-9)
    assert found.summary["steps"][-1]["speed"] == pytest.approx(-3.0)
    # 42 x + 42 i y = 0: the slow mode runs around in the sense of the frame
    frames = found.steps[-1].frames
    x, y = (frames["displacement"] + 1j * frames["displacement imaginary"])[0, 0, :2]
    assert y / x == pytest.approx(1j, rel=1e-9)


def test_the_sense_of_a_frame_is_that_of_its_preload():
    """The speed is -3 rad/s at the time of the preload, and 3 rad/s now."""
    m = Model(2)
    m.node("a", (0.0, 0.0))
    m.point_mass("mass", "a", 1.0)
    for axis in "xy":
        m.nodal_spring(axis, "a", axis, 100.0)
    m.centrifugal("spin", "3 - 6*step(t - 1)")
    m.linear_static_step("spun", time=2.0)
    m.complex_modes_step(count=2, coriolis=True, preload="spun")
    assert solve(m).summary["steps"][-1]["speed"] == pytest.approx(-3.0)


def test_all_modes_are_a_complete_basis():
    """In the span of all modes nothing changes; in that of one there is one motion, without Coriolis forces."""
    m = turning_point()
    m.modes_step(2)
    m.complex_modes_step(count=2, name="both", coriolis=True, basis="modes")
    m.complex_modes_step(count=2, name="plain", basis="modes")
    *_, both, plain = solve(m).summary["steps"]
    np.testing.assert_allclose(np.array(both["eigenvalues"])[:, 1], (7.0, 13.0), rtol=1e-12)
    np.testing.assert_allclose(np.array(plain["eigenvalues"])[:, 1], np.sqrt(91.0), rtol=1e-12)
    assert plain["frame"] == "fixed" and any("2 modes" in text for text in plain["warnings"])


def row(**options):
    """Three masses in a row on springs; the last one may be held in a group of supports."""
    m = Model(2)
    for i, n in enumerate("abc"):
        m.node(n, (float(i), 0.0))
        m.point_mass(f"mass {n}", n, 1.0 + i)
        m.fix(n, ["y"])
        m.nodal_spring(f"spring {n}", n, "x", 100.0)
    m.spring("between", "a", "b", 300.0)
    m.fix("c", ["x"], **options)
    return m


def test_supports_of_a_basis_hold_in_its_span_and_are_named():
    m, held = row(group="end"), row()
    m.modes_step(2, supports="end")
    m.complex_modes_step(2, basis="modes")
    held.complex_modes_step(2)
    found, other = (solve(own).summary["steps"][-1] for own in (m, held))
    np.testing.assert_allclose(found["eigenvalues"], other["eigenvalues"], atol=1e-9)
    assert any('hold the supports of "end", so these hold here too' in text for text in found["warnings"])


def test_a_basis_that_violates_equations_of_its_step_is_refused():
    """It had an eigenvalue 0 more, since three shapes depend on each other where two masses are tied."""
    m = row(group="end")
    m.equation("tie", [("a", "x", 1.0), ("b", "x", -1.0)])
    m.modes_step(3, without="tie")
    m.complex_modes_step(2, basis="modes")
    with pytest.raises(ModelError, match=r'violate constraints of this step: node "[ab]", x'):
        solve(m)


@pytest.mark.parametrize("method", ["direct", "modal"])
def test_vibrations_in_the_rotating_frame(method):
    """(91 - w^2) x - 6 i w y = 1, (91 - w^2) y + 6 i w x = 0: a force along x also moves the point along y."""
    m = turning_point()
    m.force("push", "a", (1.0, 0.0), 1.0)
    m.sensor("place", "displacement", on="a")
    f = np.array([0.5, 1.0, 3.0])
    m.harmonic_step(f, loads=["push"], method=method, coriolis=True)
    for k, w in enumerate(2.0 * np.pi * f):
        exact = np.linalg.solve([[91.0 - w * w, -6j * w], [6j * w, 91.0 - w * w]], [1.0, 0.0])
        np.testing.assert_allclose(solve(m).response("place").values[k, :2], exact, rtol=1e-9)


def test_preload():
    """About a linear static step with the load on: the same for a point that does not move."""
    m = turning_point()
    m.steps.clear()
    m.linear_static_step("on")
    m.complex_modes_step(count=2, coriolis=True, preload="on")
    s = solve(m).summary["steps"][-1]
    np.testing.assert_allclose(np.array(s["eigenvalues"])[:, 1], (7.0, 13.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"basis": "shapes"}, "name of a modal step before it"),
        ({"coriolis": True, "preload": "on"}, "preload"),
        ({"coriolis": True, "rotor": "r"}, "turns by itself"),
    ],
)
def test_wrong_options(options, said):
    m = turning_point()
    m.rotor("r")
    m.complex_modes_step(**options)
    with pytest.raises(ModelError, match=said):
        solve(m)


def test_frame_that_does_not_turn():
    m = turning_point()
    m.steps.clear()
    m.complex_modes_step(coriolis=True)
    with pytest.raises(ModelError, match="does not act yet"):
        solve(m)


SQUARE = 4e6  # omega^2 of the deck
SPIN = f"*STATIC\n*DLOAD\nEALL, CENTRIF, {SQUARE}, 0., 0., 0., 0., 0., 1.\n"


def shaft(steps: str) -> str:
    nodes, elements = brick((2, 2, 5), (0.1, 0.1, 1.0), "C3D20R", origin=(-0.05, -0.05, 0.0))
    ends = [*at(nodes, 2, 0.0), *at(nodes, 2, 1.0)]
    return mesh_text(nodes, elements, "C3D20R") + nset("ENDS", ends) + steel() + "*BOUNDARY\nENDS, 1, 3\n" + steps


def test_complex_frequency(tmp_path):
    """A square shaft in bearings that turn with it: both whirls, from the modes of the FREQUENCY step; with many modes
    they are those of all motions."""
    steps = step(SPIN, "NLGEOM") + step("*FREQUENCY\n20\n", "PERTURBATION")
    steps += step("*COMPLEX FREQUENCY, CORIOLIS\n4\n", "PERTURBATION")
    converted, (_, real, found) = run(tmp_path / "shaft.inp", shaft(steps))
    assert not [n for n in converted.notes if n.effect is not Effect.NONE]
    assert found["type"] == "complex_modes" and found["speed"] == pytest.approx(np.sqrt(SQUARE))
    f = np.array(found["frequencies_hz"])
    # bending at f0, whirl at f0 -+ n but for the rotary inertia: seen from the shaft
    outside = np.sqrt(np.array(real["frequencies_hz"][0]) ** 2 + SQUARE / (2 * np.pi) ** 2)
    n = np.sqrt(SQUARE) / (2 * np.pi)
    np.testing.assert_allclose(f[:2], (outside - n, outside + n), rtol=2e-2)
    m = converted.model
    m.steps.pop()
    m.complex_modes_step(4, "all", coriolis=True)
    every = solve(m).summary["steps"][-1]
    np.testing.assert_allclose(f[:2], every["frequencies_hz"][:2], rtol=1e-4)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (step(SPIN, "NLGEOM") + step("*COMPLEX FREQUENCY, CORIOLIS\n4\n"), "needs a FREQUENCY step"),
        (step("*FREQUENCY\n4\n") + step("*COMPLEX FREQUENCY, CORIOLIS\n4\n"), "needs a CENTRIF load"),
    ],
)
def test_wrong_decks(tmp_path, steps, said):
    path = tmp_path / "shaft.inp"
    path.write_text(shaft(steps))
    with pytest.raises(ModelError, match=said):
        convert(read_deck(path))
