"""Interfaces that depend on the same unknowns: sets with common nodes, those of a reduced part within a part."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_parts import beam
from solid_meshes import box_mesh

from fem_mbs import Model, ModelError, reduce_part, solve

ENDS = {"left": "rod:start", "right": "rod:end"}


def assembly() -> Model:
    """Two reduced rods in a line, welded to each other."""
    rod = reduce_part(beam(4), ENDS, modes=4)
    m = Model(3)
    m.reduced_part("a", rod)
    m.reduced_part("b", rod, position=(1.0, 0.0, 0.0))
    m.joint("weld", "weld", a="a:right", b="b:left")
    return m


def clamped(part) -> np.ndarray:
    """Frequencies [Hz] of a part that is held at its interface "left"."""
    m = Model(3)
    m.reduced_part("part", part)
    m.fix("part:left")
    m.modes_step(8)
    return np.array(solve(m).summary["steps"][0]["frequencies_hz"])


@pytest.mark.parametrize("places", [("a:left", "b:right"), ("a:left", "a:right", "b:right")], ids=["ends", "middle"])
def test_reduced_parts_in_a_part(places):
    """With all modes a part of parts has their frequencies, whichever of their interfaces it keeps."""
    whole = assembly()
    whole.fix("a:left")
    whole.modes_step(8)
    exact = np.array(solve(whole).summary["steps"][0]["frequencies_hz"])
    names = ("left", "right") if len(places) == 2 else ("left", "middle", "right")
    part = reduce_part(assembly(), dict(zip(names, places)), modes=26 - 6 * len(places))
    assert part.stiffness.shape == (26, 26)
    assert clamped(part) == pytest.approx(exact, rel=1e-8)
    x = np.array([interface.position for interface in part.interfaces])
    assert x[:, 0] == pytest.approx(np.linspace(0.0, 2.0, len(places)))
    assert np.abs(part.stiffness @ part.rigid).max() < 1e-9 * np.abs(part.stiffness).max()


def plate() -> Model:
    m = Model(2)
    m.mesh("bar", box_mesh("quad8", (8, 2), (1.0, 0.2)))
    m.material("steel", E=2.1e11, nu=0.3, density=7800.0)
    m.planes("bar", on="bar", material="steel", thickness=0.01)
    return m


def test_means_of_sets_with_common_nodes():
    """The corner belongs to both sets; each interface moves as the mean of its nodes, and all modes are there."""
    spec = {
        "side": {"on": "bar:x0", "kind": "average"},
        "bottom": {"on": "bar:y0", "kind": "average", "components": ["y"]},
    }
    m = plate()
    n = 2 * m.n_nodes
    part = reduce_part(m, spec, modes=n - 4)
    assert part.stiffness.shape == (n, n)
    side, bottom = part.interfaces
    assert np.intersect1d(side.nodes, bottom.nodes).size == 1
    u = part.recovery.displacement  # (nodes, 2, n)
    assert u[side.nodes].mean(axis=0) == pytest.approx(part.boundary[:2], abs=1e-12)
    assert u[bottom.nodes, 1].mean(axis=0) == pytest.approx(part.boundary[3], abs=1e-12)
    m.modes_step(8)
    exact = np.array(solve(m).summary["steps"][0]["frequencies_hz"])[3:]
    held = np.linalg.eigvals(np.linalg.solve(part.mass, part.stiffness))
    found = np.sqrt(np.sort(held.real)[3:8]) / (2.0 * np.pi)
    assert found == pytest.approx(exact, rel=1e-7)


def test_motions_that_follow_from_others_are_refused():
    """Both sides of the weld are one place; a node of a set that is tied rigidly moves with the set."""
    with pytest.raises(
        ModelError, match='Interface "twin": its "x" follows from the motions of "end", "mid", by nodes'
    ):
        reduce_part(assembly(), {"end": "a:left", "mid": "a:right", "twin": "b:left"}, modes=2)
    with pytest.raises(ModelError, match='Interface "again": its "rz" follows from the motions of "left"'):
        reduce_part(beam(4), {**ENDS, "again": {"on": "rod:start", "components": ["rz"]}}, modes=2)
    with pytest.raises(ModelError, match=r'Interface "bottom": it shares node .* with interface "side"; leave it out'):
        reduce_part(plate(), {"side": "bar:x0", "bottom": {"on": "bar:y0", "kind": "average"}}, modes=2)
