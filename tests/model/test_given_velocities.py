"""Velocities of the start that could have no effect are refused; all others act."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, reduce_part, solve


def hinged(**initial):
    """A body on a hinge about z through the origin."""
    model = Model(3)
    model.body("b", (1.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.3))
    model.joint("hinge", "revolute", "ground", "b", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.initial("b", **initial)
    return started(model, "b")


def started(model, place):
    model.sensor("v", "velocity", on=place)
    model.transient_step(1e-3, 1e-4, frames=0)
    return solve(model).sensor("v").values[0]


def test_least_strain_rates_do_not_look_at_given_velocities():
    with pytest.raises(ModelError, match=r'method = "strain-free" looks at .*"b", y would have no effect'):
        hinged(velocity=(0.0, 1.0, 0.0), method="strain-free")
    v = 2.0 * 1.0 / (2.0 + 0.3)  # what a projection leaves of the momentum about the hinge
    np.testing.assert_allclose(hinged(velocity=(5.0, 1.0, 2.0)), (0.0, v, 0.0), atol=1e-12)


def test_methods_must_not_differ():
    model = Model(3)
    model.body("b", (1.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.3))
    model.initial("b", velocity=(1.0, 0.0, 0.0), method="given")
    model.initial("b", velocity=(1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match='method = "projection", but another one says "given"'):
        model.initial("b", spin=(1.0, 0.0, 0.0), method="projection")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"velocity": (1.0, 0.0, 0.0), "centre": (0.0, 0.0, 0.0)}, "centre belongs to a spin"),
        ({}, "it gives no velocity"),
        ({"method": "given"}, "it gives no velocity"),
    ],
)
def test_keys_without_effect(given, told):
    model = Model(3)
    model.body("b", (1.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.3))
    with pytest.raises(ModelError, match=told):
        model.initial("b", **given)


@pytest.mark.parametrize("dimension", [2, 3])
def test_places_without_rotations_do_not_spin_in_place(dimension):
    def spun(**given):
        model = Model(dimension)
        model.node("n", (1.0, 0.0, 0.0)[:dimension])
        model.point_mass("m", "n", 1.0)
        model.initial("n", spin=3.0 if dimension == 2 else (0.0, 0.0, 3.0), **given)
        return started(model, "n")

    with pytest.raises(ModelError, match="cannot spin in place; give centre"):
        spun()
    np.testing.assert_allclose(spun(centre=(0.0, 0.0, 0.0)[:dimension]), (0.0, 3.0, 0.0)[:dimension], atol=1e-12)


def test_velocities_of_interfaces_alone_would_be_lost():
    """Interfaces of a reduced part have no mass: a projection does not see what is given to them."""
    rod = Model(3)
    rod.material("steel", E=2e11, density=7850.0)
    rod.section("bar", "circle", diameter=0.02)
    rod.line("rod", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
    rod.beams("rod", on="rod", material="steel", section="bar")
    part = reduce_part(rod, {"left": "rod:start", "right": "rod:end"}, modes=4)

    def start(*places, **given):
        model = Model(3)
        model.reduced_part("rod", part)
        for place in places:
            model.initial(place, velocity=(0.0, 2.0, 0.0), **given)
        return started(model, "rod:right")

    for places in (["rod:right"], [["rod:left", "rod:right"]]):
        with pytest.raises(ModelError, match="has no mass of its own, as all to which this velocity is given"):
            start(*places)
    np.testing.assert_allclose(start("rod"), (0.0, 2.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(start(["rod", "rod:right"]), (0.0, 2.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(start("all"), (0.0, 2.0, 0.0), atol=1e-12)


def test_velocities_of_held_places_would_be_lost():
    """What is held or driven has the rate of its function; the same velocity may be given too."""

    def start(speed):
        model = Model(3)
        model.body("b", (1.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.3))
        model.motion("drive", "b", "x", "3*t")
        model.initial("b", velocity=(speed, 0.0, 0.0))
        return started(model, "b")

    with pytest.raises(ModelError, match='"b", x is held or driven, as all to which this velocity is given'):
        start(1.0)
    np.testing.assert_allclose(start(3.0), (3.0, 0.0, 0.0), atol=1e-12)


def test_loads_strain_nothing():
    """A block under pressure on an open face, on a base that starts with a speed: all of it has the speed, although the
    pressure turns with its face."""
    model = Model(3)
    model.solid_material("rubber", E=1e6, nu=0.3, density=1e3)
    model.grid("block", "box", size=(0.1, 0.1, 1.0), n=(1, 1, 4))
    model.solids("block", on="block", material="rubber")
    model.fix("block:bottom")
    model.base_excitation("drive", (0.3, -0.2, 0.1), displacement="t")
    model.pressure("wind", "block:left", 1e3)
    model.sensor("v", "velocity", on="block:top_back_right")
    model.transient_step(1e-3, 1e-3, frames=0)
    np.testing.assert_allclose(solve(model).sensor("v").values[0], (0.3, -0.2, 0.1), rtol=1e-9)
