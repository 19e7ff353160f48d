"""Fields of the mesh from reduced coordinates: against the whole model, peaks in time, mistakes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flexible_parts import beam
from solid_meshes import box_mesh

from fem_mbs import Model, solve
from fem_mbs.analysis.reduction.reduce import reduce_part
from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.errors import ModelError
from fem_mbs.parts import recovery as reduced_recovery
from fem_mbs.parts.recovery import displacements, hot_spots, peak_stresses, rotations, stresses


def bar(dim=3, parts=1):
    m = Model(dimension=dim)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    if dim == 2:
        m.mesh("box", box_mesh("quad8", (4, 2), (0.4, 0.1)))
        m.planes("box", on="box", material="steel", thickness=0.02)
    else:
        m.mesh("box", box_mesh("hexahedron20", (3, 1, 1), (0.4, 0.1, 0.1)))
        m.solids("box", on="box", material="steel")
    return m


ENDS = {"left": "box:x0", "right": "box:x1"}


LOADS = {2: np.array((2e4, 1e3)), 3: np.array((2e4, 1e3, -500.0))}


def held(dim):
    """Frame of the whole model, held at the left and pulled at the right."""
    m = bar(dim)
    m.fix("box:x0")
    m.force("pull", "box:x1", LOADS[dim] / len(m.nodes_of("box:x1")))
    m.linear_static_step()
    return solve(m).steps[-1].frames


def pulled(dim):
    """A part in all nodes of an end, held at the other, and its coordinates under the same load."""
    m = bar(dim)
    m.fix("box:x0")
    nodes = m.nodes_of("box:x1")
    part = reduce_part(m, {f"n{i}": {"on": np.array([i])} for i in nodes}, "guyan", recovery="stress", accuracy=0)
    return part, np.linalg.solve(part.stiffness, part.boundary.T @ np.tile(LOADS[dim] / len(nodes), len(nodes)))


@pytest.mark.parametrize("dim", [2, 3])
def test_static_fields_are_those_of_the_whole_model(dim):
    """Guyan's shapes are exact at rest: displacements, and stresses as results average them (in 7 digits)."""
    part, p = pulled(dim)
    wanted = held(dim)
    u = displacements(part, p)[0]
    np.testing.assert_allclose(u, wanted["displacement"][0, :, :dim], atol=1e-9 * np.abs(u).max())
    s = stresses(part, p)[0]
    assert s.shape == (len(part.recovery.stressed), 6)
    np.testing.assert_allclose(s, wanted["stress [Pa]"][0][part.recovery.stressed], atol=1e-6 * np.abs(s).max())
    peaks = peak_stresses(part, p)
    np.testing.assert_allclose(
        peaks.mises, wanted["von Mises stress [Pa]"][0][peaks.nodes], atol=1e-6 * peaks.mises.max()
    )


def test_stresses_of_a_loaded_state_are_counted():
    """A part about the end of its model's steps holds the stresses there; what its coordinates add comes on top."""
    found = []
    for part in (True, False):
        m = bar(2)
        m.fix("box:x0")
        m.force("pull", "box:x1", LOADS[2])
        m.force("push", "box:x1", (1e3, 0.0))
        m.static_step(vary=["pull"])
        if part:
            ends = {"end": {"on": "box:x1", "kind": "average"}}
            own = reduce_part(m, ends, modes=500, recovery="stress", state="end", accuracy=0)
            p = np.linalg.solve(own.stiffness, own.loads["push"])
            found.append(own)
        else:
            m.linear_static_step(loads=["push"])
            found.append([step.frames["stress [Pa]"][-1] for step in solve(m).steps])
    state, both = found[1]
    nodes = own.recovery.stressed
    np.testing.assert_allclose(own.recovery.rest, state[nodes], atol=1e-6 * np.abs(state).max())
    # strains of 6e-4 in the state: so much of what is added depends on the axes in which it counts
    added = (both - state)[nodes]
    atol = 1e-3 * np.abs(added).max()
    np.testing.assert_allclose(stresses(own, p)[0], both[nodes], atol=atol)
    np.testing.assert_allclose(stresses(own, p, increments=True)[0], added, atol=atol)


def test_stresses_of_rigid_motions_vanish():
    part = reduce_part(bar(), ENDS, modes=4, recovery="stress", accuracy=0)
    bending = np.abs(stresses(part, np.eye(part.size))).max()
    assert np.abs(stresses(part, part.rigid.T)).max() < 1e-8 * bending


def test_parts_that_touch_keep_their_own_stresses():
    """Two materials: at the nodes between them a value for each."""
    m = Model(dimension=3)
    m.material("steel", E=2.1e11, nu=0.0, density=7850)
    m.material("soft", E=1e10, nu=0.0, density=2000)
    mesh = box_mesh("hexahedron", (2, 1, 1), (0.4, 0.1, 0.1))
    m.mesh("box", replace(mesh, cell_sets={"low": [(0, [0])], "high": [(0, [1])]}))
    m.solids("hard", on="box:low", material="steel")
    m.solids("weak", on="box:high", material="soft")
    part = reduce_part(m, ENDS, "guyan", recovery="stress", accuracy=0)
    _, counts = np.unique(part.recovery.stressed, return_counts=True)
    assert sorted(counts) == [1] * 8 + [2] * 4
    p = np.zeros(part.size)
    p[6] = 1e-4  # the right end along x: one force in both
    s = stresses(part, p)[0]
    np.testing.assert_allclose(s[:, 0], s[0, 0], rtol=1e-9)


def moving(part, m=40):
    """Coordinates of a motion whose first two elastic modes swing."""
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 1.0, m)
    p = np.sin(2.0 * np.pi * np.outer(t, (1.0, 2.0, 3.0))) @ rng.normal(size=(3, part.size)) * 1e-5
    return t, p


def test_peaks_over_time(monkeypatch):
    part = reduce_part(bar(), ENDS, modes=4, recovery="stress", accuracy=0)
    t, p = moving(part)
    mises = von_mises(stresses(part, p))
    monkeypatch.setattr(reduced_recovery, "_BLOCK", 6 * len(part.recovery.stressed) * 7)  # seven instants at a time
    peaks = peak_stresses(part, p)
    np.testing.assert_allclose(peaks.mises, mises.max(axis=0), rtol=1e-12)
    np.testing.assert_allclose(mises[peaks.frame, np.arange(len(peaks.nodes))], peaks.mises, rtol=1e-12)
    spots = hot_spots(part, t, p, count=3, apart=0.1)
    first = spots[0]
    row = np.flatnonzero(part.recovery.stressed == first.node)[0]
    assert first.time == t[first.frame] and mises[first.frame, row] == pytest.approx(first.mises, rel=1e-12)
    assert first.mises == pytest.approx(mises.max(), rel=1e-12)
    np.testing.assert_allclose(von_mises(first.stress), first.mises, rtol=1e-12)
    x = np.array([spot.position for spot in spots])
    gaps = np.linalg.norm(x[:, None] - x, axis=2)[np.triu_indices(len(x), 1)]
    assert len(spots) == 3 and gaps.min() > 0.1
    assert [spot.mises for spot in spots] == sorted((spot.mises for spot in spots), reverse=True)
    assert len(hot_spots(part, t, p, count=1000, apart=0.0)) <= len(part.recovery.stressed)
    assert len(hot_spots(part, t, p, apart=10.0)) == 1


def test_rotations_of_beams():
    m = Model(dimension=3)
    m.section("s", "stiffness", EA=2.8e7, EI=14000.0, GJ=1e4, GA=np.inf, rhoA=1.2, rhoI=1e-4)
    m.line("b", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 4)
    m.beams("b", "b", "s", orientation=(0.0, 1.0, 0.0))
    part = reduce_part(m, {"root": "b:start", "tip": "b:end"}, modes=4)
    turn = part.rigid[:, 3:].T
    np.testing.assert_allclose(rotations(part, turn), np.tile(np.eye(3)[:, None], (1, 5, 1)), atol=1e-9)
    with pytest.raises(ModelError, match="holds no stresses"):
        stresses(part, turn)


def test_stresses_of_beams_alone_are_refused():
    """They are not kept, and a part without any would look as if nothing strained it."""
    with pytest.raises(ModelError, match="solid and plane parts, and it has none; remove recovery"):
        reduce_part(beam(2), {"root": "rod:start", "tip": "rod:end"}, modes=1, recovery="stress")


def test_mistakes():
    part = reduce_part(bar(), ENDS, modes=2, recovery="stress", accuracy=0)
    with pytest.raises(ModelError, match="14 coordinates"):
        displacements(part, np.zeros(3))
    with pytest.raises(ModelError, match="2 rows of coordinates"):
        hot_spots(part, [0.0], np.zeros((2, 14)))
    with pytest.raises(ModelError, match="no displacements of its nodes"):
        displacements(replace(part, recovery=None), np.zeros(14))
    with pytest.raises(ModelError, match='must be true, false or "stress"'):
        reduce_part(bar(), ENDS, modes=2, recovery="all")
