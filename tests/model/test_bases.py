"""Numbers that are given in SI, those of standards and of defaults, mean the same in all bases of units."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve

#: Base -> sizes of its units of length, mass and time in SI.
SIZES = {
    "m kg s": (1.0, 1.0, 1.0),
    "mm t s": (1e-3, 1e3, 1.0),
    "mm kg ms": (1e-3, 1.0, 1e-3),
    "ft lbf s": (0.3048, 4.4482216152605 / 0.3048, 1.0),
}


def wheel(base, late=False, road=None, **tyre):
    """A wheel that rolls, slips and comes to rest, or rolls over a road; its numbers in a base."""
    length, mass, time = SIZES[base]
    metre, kilogram, second = 1.0 / length, 1.0 / mass, 1.0 / time
    newton = kilogram * metre / second**2
    model = Model(3, gravity=(0.0, 0.0, -9.81 * metre / second**2))
    if not late:
        model.units(base=base)
    model.body("wheel", (0.0, 0.0, 0.299 * metre), 20.0 * kilogram, np.array([0.8, 1.2, 0.8]) * kilogram * metre**2)
    stiffness = (2e5 * newton / metre, (5e4 * newton, 4e4 * newton))
    tyre |= {} if road is None else {"profile": road, "length": 4.0 * metre, "along": (1.0, 0.0, 0.0)}
    model.tyre(
        "tyre", "wheel", axis=(0.0, 1.0, 0.0), radius=0.3 * metre, stiffness=stiffness[0], slip_stiffness=stiffness[1],
        damping=0.05 * second / metre, rolling_resistance=0.05, **tyre,
    )  # fmt: skip
    model.initial("wheel", velocity=(0.3 * metre / second, 0.1 * metre / second, 0.0), spin=(0.0, 0.5 / second, 0.0))
    model.sensor("place", "position", on="wheel")
    model.transient_step(0.2 * second, 0.002 * second, frames=0)
    if late:
        model.units(base=base)
    return model, length


def places(base, **given):
    model, length = wheel(base, **given)
    return solve(model).sensor("place").values * length


@pytest.mark.parametrize("base", [base for base in SIZES if base != "m kg s"])
def test_the_slip_speed_of_a_tyre_is_the_same_speed_in_all_bases(base):
    np.testing.assert_allclose(places(base), places("m kg s"), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("base", [base for base in SIZES if base != "m kg s"])
def test_roads_of_a_class_are_the_same_roads_in_all_bases(base):
    """As the height below a wheel, a function of the distance ("time", at the speed 1), and of the time."""

    def road(name):
        metre = 1.0 / SIZES[name][0]
        return {"kind": "random", "road": "F", "speed": 1.0, "lowest": 0.2 / metre, "highest": 2.0 / metre, "seed": 3}

    first, other = places("m kg s", road=road("m kg s")), places(base, road=road(base))
    assert np.ptp(first[:, 2]) > 1e-3
    np.testing.assert_allclose(other, first, rtol=0.0, atol=1e-9)
    assert np.abs(first - places("m kg s")).max() > 1e-3


@pytest.mark.parametrize("base", SIZES)
def test_roads_in_time(base):
    """ISO 8608, class C, driven over at 20 m/s, with its own band: that of the same numbers in metres."""
    length, _, time = SIZES[base]

    def moved(road, base):
        model = Model(2)
        model.units(base=base)
        model.body("b", (0.0, 0.0), 1.0, 1.0)
        rise = {"kind": "smoothstep", "duration": 0.05 / SIZES[base][2]}
        function = {"kind": "product", "functions": [road, rise]}
        model.joint("drive", "position", "b", axis=(0.0, 1.0), function=function)
        model.sensor("y", "displacement", on="b")
        model.transient_step(0.05 / SIZES[base][2], 0.001 / SIZES[base][2], frames=0)
        return solve(model).sensor("y").values[:, 1] * SIZES[base][0]

    given = {"kind": "random", "lines": 40, "seed": 5}
    y = moved(given | {"road": "C", "speed": 20.0 * time / length}, base)
    same = given | {"roughness": 256e-6, "speed": 20.0, "lowest": 0.011 * 20.0, "highest": 2.83 * 20.0}
    np.testing.assert_allclose(y, moved(same, "m kg s"), rtol=0.0, atol=1e-9)
    own = moved(given | {"roughness": 256e-6 / length**3, "speed": 20.0 * time / length}, base)
    np.testing.assert_allclose(own, y, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("base", ["mm t s", "m kg s"])
def test_units_are_chosen_before_such_numbers(base):
    """A base that comes behind them would change their meaning."""
    road = {"kind": "sum", "functions": [{"kind": "random", "road": "A", "speed": 1.0}, 0.0]}

    def driven():
        model = Model(2)
        model.body("b", (0.0, 0.0), 1.0, 1.0)
        model.joint("drive", "position", "b", axis=(0.0, 1.0), function=road)
        model.transient_step(0.1, 0.01)
        model.units(base=base)
        return model

    models = [wheel(base, late=True)[0], wheel(base, late=True, road=road, slip_speed=1.0)[0], driven()]
    for model, name in zip(models, ["tyre", "profile", "road"], strict=True):
        if base == "m kg s":
            model.compile(stepping=False)
            continue
        with pytest.raises(ModelError, match="choose the units of the model before") as caught:
            model.compile(stepping=False)
        assert name in str(caught.value)
