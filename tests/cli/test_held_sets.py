"""`fem-mbs check` on sets that hold less than meant, and on motions with and without weight."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model
from fem_mbs.cli.check import explain
from fem_mbs.cli.doubts.held_sets import doubts_of_sets
from fem_mbs.meshes.mesh import Mesh


def bracket(names: dict[str, list[int]], hold: list, load: str | None = None) -> Model:
    """Return a block of cells with named sets of points, of which some are held."""
    x, y = (g.ravel() for g in np.meshgrid(np.arange(4.0), np.arange(2.0), indexing="ij"))
    cells = np.array([[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(3)])
    sets = {name: np.array(nodes) for name, nodes in names.items()}
    m = Model(2, gravity=(0, -9.81))
    m.material("steel", 2e11, 0.3, density=7800.0)
    m.mesh("part", Mesh(np.column_stack((x, y)), [("quad", cells)], node_sets=sets), cells="all")
    m.planes("part", "part", "steel", thickness=0.01)
    for on in hold:
        m.fix(on)
    if load is not None:
        m.force("push", load, (0.0, 100.0))
    m.modes_step(2)
    return m


FEET = {"left foot": [0, 1], "right foot": [6, 7]}


@pytest.mark.parametrize(
    ("names", "hold", "load", "said"),
    [
        (FEET, ["part:left foot"], None, 'nothing is on "part:right foot"'),
        ({"bolt_1": [0, 1], "bolt_2": [2, 3], "bolt_3": [6, 7]}, ["part:bolt_1", "part:bolt_3"], None, "part:bolt_2"),
        (FEET, ["part:left foot", "part:right foot"], None, None),
        (FEET, [["part:left foot", "part:right foot"]], None, None),
        (FEET, ["part:left foot"], "part:right foot", None),  # the other one is loaded: meant so
        (FEET, [], None, None),
        ({"left": [0, 1], "right": [6, 7]}, ["part:left"], None, None),  # a cantilever, ends that are no feet
        ({"left foot": [0, 1], "right hand": [6, 7]}, ["part:left foot"], None, None),
        ({"support": [0]}, ["part:support"], None, "holds one of its nodes"),
        ({"support": [0, 1]}, ["part:support"], None, None),
        ({"a": [0], "b": [6, 7]}, ["part:a", "part:b"], None, None),  # something else holds it too
    ],
    ids=range(11),
)
def test_feet_that_are_forgotten_and_supports_of_one_node(names, hold, load, said, tmp_path):
    m = bracket(names, hold, load)
    doubts = list(doubts_of_sets(m))
    assert (doubts == []) if said is None else (len(doubts) == 1 and said in doubts[0])
    if said is not None and hold and "foot" in hold[0]:
        m.save(tmp_path / "model.toml")
        assert any(line.startswith("note: ") and said in line for line in explain(tmp_path / "model.toml"))


def test_one_node_with_some_components_is_a_statically_determinate_support():
    m = bracket({"corner": [0], "other": [6]}, [])
    m.fix("part:corner", ["x", "y"])
    m.fix("part:other", ["y"])
    assert list(doubts_of_sets(m)) == []


def mechanism(gravity: float) -> Model:
    """Return a crank with a hanging elastic link, and a loose block of solids, at rest."""
    m = Model(3, gravity=(0.0, 0.0, -gravity))
    m.material("steel", 2e11, 0.3, density=7800.0)
    m.section("s", "circle", diameter=0.02)
    m.body("crank", position=(0.5, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("pivot", "revolute", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0))
    m.line("link", (1.0, 0.0, 0.0), (1.0, 0.0, -1.0), n=2)
    m.beams("link", on="link", section="s", material="steel")
    m.joint("pin", "revolute", "crank", "link:start", axis=(0, 1, 0))
    m.mesh("box", box_mesh("hexahedron", (1, 1, 1), (1.0, 1.0, 1.0), place=(5.0, 0.0, 0.0)), cells="all")
    m.solids("box", "box", "steel")
    m.force("push", "link:end", (3.0, 2.0, 1.0))
    m.transient_step(0.1, 0.01)
    return m


def test_motions_are_counted_the_same_with_weight_and_without(tmp_path):
    told = []
    for k, gravity in enumerate((0.0, 9.81, 1e4)):
        mechanism(gravity).save(tmp_path / f"{k}.toml")
        lines = explain(tmp_path / f"{k}.toml")
        told.append([line for line in lines if line.startswith(("mobility:", "it can move", "every motion without"))])
    assert told[0] == told[1] == told[2] and len(told[0]) == 2
    assert "it can move in 8 independent ways" in told[0][1]  # crank, link, and six of the block
