"""Derivatives of equilibria: of arms that turn far in one increment, by a closed form; works that have none."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, sensitivities


def arm(size=1.0, increments=1, stiffness=40.0, EA=1e7, EI=1e8):
    """A stiff arm in a hinge with a spring, which a force across its first direction turns."""
    m = Model(2)
    size, stiffness = m.parameter("size", size), m.parameter("stiffness", stiffness)
    m.material("steel", E=2e9, density=3000.0)
    m.section("bar", "stiffness", EA=EA, EI=EI, GA=EI, rhoA=1.0, rhoI=1.0)
    m.line("arm", (0.0, 0.0), (1.0, 0.0), 1)
    m.beams("arm", "arm", "bar")
    m.joint("hinge", "revolute", "ground", "arm:start")
    m.joint_spring("spring", "hinge", stiffness=stiffness)
    m.motor("drive", "hinge", position=0.0, kp=stiffness)
    m.force("push", "arm:end", (0.0, 16.0 * size))
    m.sensor("turn", "joint", on="hinge")
    m.sensor("work", "work", on="push")
    m.sensor("of drive", "work", on="drive")
    m.static_step(increments=increments)
    return m


@pytest.mark.parametrize("increments", [1, 3])
def test_a_turn_of_one_increment_has_the_derivative_of_its_equilibrium(increments):
    """2 k phi = F L cos(phi): dphi/dF = L cos(phi)/(2 k + F L sin(phi)); the arm is rigid to 1e-6."""
    found = sensitivities(lambda size: arm(size, increments), {"size": 1.0})
    phi = float(found.solution.sensor("turn", 0).values[-1, 0])
    expected = 16.0 * np.cos(phi) / (80.0 + 16.0 * np.sin(phi))
    assert found.solution.sensitivity("turn", "size", 0).values[-1, 0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("increments", [1, 3])
@pytest.mark.parametrize("EA", [1e8, 1e9, 1e10])
def test_the_stiffness_along_an_arm_leaves_the_derivative_of_its_turn(increments, EA):
    """The arm is rigid to 16/EA; differences that strain it are wrong by EA/k times their square."""
    found = sensitivities(lambda size: arm(size, increments, EA=EA, EI=1e10), {"size": 1.0})
    phi = float(found.solution.sensor("turn", 0).values[-1, 0])
    expected = 16.0 * np.cos(phi) / (80.0 + 16.0 * np.sin(phi))
    # what is found has changed by no more than 1e-7 of itself, and the arm gives way by as much
    assert found.solution.sensitivity("turn", "size", 0).values[-1, 0] == pytest.approx(expected, rel=1e-7 + 16.0 / EA)


def test_works_of_static_steps_have_no_derivatives():
    """They belong to the way, which equilibria do not know; zeros or parts of them would be taken for derivatives."""
    found = sensitivities(lambda stiffness: arm(stiffness=stiffness, increments=2), {"stiffness": 40.0})
    for name in ("work", "of drive"):
        assert abs(found.solution.sensor(name, 0).values[-1, 0]) > 0.1
        assert np.isnan(found.solution.sensitivity(name, "stiffness", 0).values[-1, 0])


@pytest.mark.parametrize("vary", ["all", ["push"]])
def test_the_weight_that_does_not_act_yet_has_no_derivative(vary):
    """At the start of a static step the load factor is zero, and so is the energy of the weight."""

    def hung(g):
        m = Model(2, gravity=(0.0, -g))
        m.node("n", (1.0, 0.5))
        m.point_mass("mass", "n", 2.0)
        for c, k in (("x", 100.0), ("y", 50.0)):
            m.nodal_spring(c, "n", c, k)
        m.force("push", "n", (1.0, 0.0))
        m.sensor("energy", "energy")
        m.static_step(increments=2, vary=vary)
        m.static_step(increments=1, vary=["gravity"], name="weight")
        return m

    found = sensitivities(hung, {"g": 3.0})

    def slope(factor):  # of -m g (y + u) + k u^2/2 with m g = k u, the weight multiplied by the factor
        return 2.0 * factor * 0.5 - factor**2 * 2.0**2 * 3.0 / 50.0

    levels = [0.0, 0.5, 1.0] if vary == "all" else [0.0, 0.0, 0.0]
    np.testing.assert_allclose(found.series("static.energy", "g").values[:, 0], [*map(slope, levels)], atol=1e-8)
    levels = [levels[-1], 1.0]
    np.testing.assert_allclose(found.series("weight.energy", "g").values[:, 0], [*map(slope, levels)], atol=1e-8)
