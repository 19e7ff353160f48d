"""Nodes that share unknowns against the same joints with multipliers."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, load_model, solve
from fem_mbs import run as run_to_folder
from fem_mbs.validation.case import constancy, energy_error

KINDS = {2: ("pin", "weld"), 3: ("spherical", "weld")}


def links(dimension: int, elimination: bool, kinds=None, held: bool = False) -> Model:
    """Four flexible links in a zigzag, joined at coinciding nodes; a branch makes three nodes meet at one place."""
    space = dimension == 3
    gravity = None if not held else -2.0 * np.eye(dimension)[-1]
    model = Model(dimension, "links", gravity=gravity, elimination=elimination)
    more = {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3} if space else {"EI": 20.0, "rhoI": 3e-3}
    model.section("link", "stiffness", EA=2e4, GA=8e3, rhoA=1.1, **more)
    corners = np.array([(0, 0, 0), (1, 0.3, 0.1), (1.8, -0.2, 0.3), (2.7, 0.4, 0), (1.4, 1.0, 0.6)], float)[
        :, :dimension
    ]
    for k, (start, end) in enumerate(((0, 1), (1, 2), (2, 3), (1, 4))):
        model.line(f"{k}", corners[start], corners[end], 3)
        model.beams(f"link {k}", f"{k}", "link")
    first, second = kinds or KINDS[dimension]
    model.joint("a", first, "0:end", "1:start")
    model.joint("b", second, "1:end", "2:start")
    model.joint("c", first, "0:end", "3:start")
    if held:
        model.fix("0:start")
    else:
        spin = (0.3, 0.5, 1.2) if space else 1.2
        model.initial("0", velocity=(0.1, 0.2, 0.3)[:dimension], spin=spin)
    model.sensor("tip", "position", on="2:end")
    model.sensor("branch", "position", on="3:end")
    return model


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("dimension", [2, 3])
def test_both_ways_agree(dimension, held):
    """To Newton's tolerance over 1e3 steps; fewer unknowns, the same conservation."""
    found = []
    for elimination in (True, False):
        model = links(dimension, elimination, held=held)
        model.transient_step(10.0, 0.01, frames=0)
        system = model.compile().system
        solution = solve(model)
        step = solution.steps[0]
        assert energy_error(step) < 1e-11
        if not held:
            assert constancy(step, "angular momentum") < 1e-11
        found.append(
            (
                system.n_equations,
                np.hstack((solution.steps[-1].series["sensor/tip"], solution.steps[-1].series["sensor/branch"])),
            )
        )
    (fewer, shared), (more, constrained) = found
    freedoms = 2 * 2 + 3 if dimension == 2 else 2 * 3 + 6
    assert more - fewer == 2 * freedoms
    assert np.abs(shared - constrained).max() < 1e-8
    assert np.abs(shared[:300] - constrained[:300]).max() < 1e-11


@pytest.mark.parametrize("dimension", [2, 3])
def test_statics_modes_and_buckling(dimension):
    """A hung frame: equilibrium, frequencies and load factors are those with multipliers."""
    found = []
    for elimination in (True, False):
        model = links(dimension, elimination, kinds=("weld", "weld"), held=True)
        model.force("F", "2:end", 0.5 * np.eye(dimension)[0])
        model.static_step(increments=2)
        model.modes_step(count=6)
        model.buckling_step(count=2, loads="F")
        model.static_step(name="path", vary="F", until=2.0, increments=4, stability=True)
        solution = solve(model)
        found.append(
            (
                solution.steps[0].series["sensor/tip"][-1],
                solution.steps[1].summary["frequencies_hz"],
                solution.steps[2].summary["load_factors"],
                solution.steps[3].series["sensor/tip"][-1],
            )
        )
    for a, b in zip(*found, strict=True):
        assert np.asarray(a) == pytest.approx(np.asarray(b), rel=1e-8, abs=1e-10)


def test_a_ring_of_pins_is_not_redundant():
    """Three nodes pinned pairwise: the third pin says nothing new, and nothing is singular."""
    model = links(2, True)
    model.joint("d", "pin", "1:start", "3:start")
    model.transient_step(0.1, 0.01)
    assert model.compile().system.first_multiplier == model.compile().system.n_dof - 1
    assert energy_error(solve(model).steps[0]) < 1e-10


def test_what_keeps_its_multipliers():
    def multipliers(model):
        system = model.compile().system
        return system.n_dof - 1 - system.first_multiplier

    assert multipliers(links(3, True)) == 0
    assert multipliers(links(3, False)) == 12
    model = links(3, True)
    model.sensor("force", "reaction", on="b")  # a weld: six of them
    assert multipliers(model) == 6
    model = links(3, True)
    model.fix("0:end", ["x"])  # joints a and c touch a support
    assert multipliers(model) == 6
    model = links(2, True)
    model.body("wheel", (3.0, 0.4), mass=1.0, inertia=0.1)
    model.joint("eccentric", "pin", "2:end", "wheel")
    assert multipliers(model) == 2


def test_figures_show_merged_joints(tmp_path):
    model = links(2, True)
    model.transient_step(0.02, 0.01)
    results = run_to_folder(model, tmp_path / "out")
    assert {j["name"] for j in results.header["joints"]} == {"a", "b", "c"}


def test_model_file(tmp_path):
    text = 'dimension = 2\n{}[mesh.m]\nline = {{start = [0, 0], end = [1, 0], n = 1}}\n[section.s]\nshape = "circle"\n'
    text += 'diameter = 0.1\n[material.steel]\nE = 2e11\ndensity = 7800\n[[beam]]\non = "m"\nsection = "s"\n'
    text += 'material = "steel"\n[[step]]\ntype = "transient"\nduration = 0.1\nh = 0.1\n'
    for line, expected in (("", True), ("elimination = false\n", False)):
        path = tmp_path / "m.toml"
        path.write_text(text.format(line))
        assert load_model(path).elimination is expected
