"""Places that overlap: what acts on each node of several sets acts once on the nodes that these share."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, solve
from fem_mbs.errors import ModelError

BOTH = ["rod:end", "rod"]


def rod() -> Model:
    m = Model(2)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("bar", "rectangle", width=0.02, height=0.03)
    m.line("rod", (0.0, 0.0), (1.0, 0.0), 4)
    m.beams("rod", "rod", "bar", "steel")
    return m


def reaction(m: Model) -> np.ndarray:
    m.fix("rod:start")
    m.sensor("support", "reaction", on="rod:start")
    m.linear_static_step()
    return solve(m).sensor("support").values[-1]


def test_forces_and_moments_act_once_on_each_node():
    m = rod()
    m.force("push", BOTH, (0.0, 2.0))
    m.moment("turn", BOTH, 3.0)
    # five nodes, at 0, 1/4 ... 1
    np.testing.assert_allclose(reaction(m), [0.0, -10.0, -(2.0 * 2.5 + 3.0 * 5)], atol=1e-9)


def test_masses_stand_once_on_each_node():
    m = rod()
    m.gravity = np.array((0.0, -10.0))
    own = reaction(rod_of_weight())
    m.point_mass("balls", BOTH, 2.0)
    m.disc("discs", BOTH, 1.0, 0.1)
    np.testing.assert_allclose(reaction(m)[1] - own[1], 10.0 * 5 * 3.0, rtol=1e-9)


def rod_of_weight() -> Model:
    m = rod()
    m.gravity = np.array((0.0, -10.0))
    return m


def test_initial_velocities_are_given_once():
    m = rod()
    m.initial(BOTH, velocity=(0.0, 2.0))
    m.initial("rod:end", velocity=(1.0, 0.0))  # another table adds up
    m.sensor("speed", "velocity", on="rod:end")
    m.transient_step(1e-4, h=1e-4)
    np.testing.assert_allclose(solve(m).sensor("speed").values[0], [1.0, 2.0])


def test_springs_to_the_ground_stand_once():
    m = Model(2)
    m.body("a", (0.0, 0.0), 4.0, 1.0)
    m.fix("a", ["y", "rotation"])
    m.nodal_spring("spring", ["a", "a"], "x", 100.0)
    m.modes_step(1)
    np.testing.assert_allclose(solve(m).steps[0].series["frequency"], 5.0 / (2.0 * np.pi), rtol=1e-12)


def test_equal_weights_of_a_coupling():
    """The reference follows the mean of five nodes, also where one is named twice."""
    found = []
    for nodes in (BOTH, "rod"):
        m = rod()
        m.body("plate", (0.5, 0.0), 1.0, 1.0)
        m.coupling("seat", "plate", nodes, kind="distributing")
        m.force("push", "rod:end", (0.0, 2.0))
        m.sensor("seat", "displacement", on="plate")
        m.fix("rod:start")
        m.linear_static_step()
        found.append(solve(m).sensor("seat").values[-1])
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_a_face_that_two_sets_hold_is_refused():
    m = Model(3)
    m.solid_material("rubber", E=1e6, nu=0.3, density=1e3)
    m.grid("block", "box", size=(1.0, 1.0, 1.0), n=(1, 1, 1))
    m.solids("block", "block", "rubber")
    for load, value in ((m.pressure, 1.0), (m.traction, (1.0, 0.0, 0.0))):
        with pytest.raises(ModelError, match='a face of cell 1 of mesh "block" is named twice in on; keep one'):
            load(load.__name__, ["block:right", "block:right"], value)
    m.pressure("load", ["block:right", "block:top"], 1.0)


def test_a_reaction_of_several_places_is_refused():
    with pytest.raises(ModelError, match="must be one place or name; give each place a sensor"):
        rod().sensor("both", "reaction", on=["rod:start", "rod:end"])


def test_a_spring_takes_its_table_as_an_array():
    rows = np.array([(0.0, 0.0), (1.0, 50.0)])
    m = Model(2)
    m.body("a", (0.0, 0.0), 1.0, 1.0)
    m.spring("spring", "a", "ground", point_b=(1.0, 0.0), table=rows, damping_table=rows)
    rows *= 9.0  # what was said stays
    m.force("push", "a", (-5.0, 0.0))
    m.sensor("way", "displacement", on="a")
    m.static_step()
    np.testing.assert_allclose(solve(m).sensor("way").values[-1, 0], -0.1, rtol=1e-9)


def test_options_of_steps_stay_as_they_were_given():
    m = rod()
    m.fix("rod:start")
    m.force("push", "rod:end", (0.0, 2.0))
    m.force("more", "rod:end", (0.0, 5.0))
    frequencies, loads, amplitudes = np.array([10.0, 20.0]), ["push"], {"push": 2.0}
    m.harmonic_step(frequencies, loads=loads, amplitudes=amplitudes)
    m.linear_static_step(loads=loads)
    frequencies *= 7.0
    loads.append("more")
    amplitudes["push"] = 9.0
    m.sensor("way", "displacement", on="rod:end")
    results = solve(m)
    np.testing.assert_array_equal(results.steps[0].time, [10.0, 20.0])
    assert results.sensor("way", 1).values[-1, 1] == pytest.approx(2.0 / (3.0 * 2e11 * 0.02 * 0.03**3 / 12.0), rel=1e-2)
