"""References of controllers as inputs of linear steps: closed loops by the algebra of transfer functions (Ogata 2010,
Modern Control Engineering, 8.1)."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, linearise, solve

MASS, KP, KD, KI, FILTER, LAG = 2.0, 50.0, 3.0, 20.0, 0.02, 0.01
REFERENCE = "servo.reference"
FREQUENCIES = np.array([0.1, 0.5, 0.8, 2.0, 10.0])
#: Controllers: their further keys, and force over r - x at s.
CONTROLLERS = {
    "proportional": ({"kd": 0.0}, lambda s: KP + 0.0 * s),
    "with a rate": ({}, lambda s: KP + KD * s),
    "with an integral": ({"ki": KI}, lambda s: KP + KI / s + KD * s),
    "filtered, behind a lag": (
        {"ki": KI, "filter_time": FILTER, "lag": LAG},
        lambda s: (KP + KI / s + KD * s / (1.0 + FILTER * s)) / (1.0 + LAG * s),
    ),
}


def sledge(position=0.0, spring=0.0, **controller):
    """A mass on a rail, held at the reference by a controller."""
    model = Model(2)
    model.body("sledge", (0.0, 0.0), MASS, 0.1)
    model.joint("rail", "prismatic", "ground", "sledge", point=(0.0, 0.0), axis=(1.0, 0.0))
    if spring:
        model.joint_spring("spring", "rail", spring)
    model.motor("servo", joint="rail", position=position, **{"kp": KP, "kd": KD, **controller})
    model.sensor("x", "displacement", on="sledge")
    model.sensor("force", "element", on="servo", quantity="force")
    return model


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_transfer_functions_from_the_reference(controller):
    """x/r = C/(m s^2 + C) and F/r = m s^2 x/r, by harmonic response and by the state space."""
    options, law = CONTROLLERS[controller]
    s = 2j * np.pi * FREQUENCIES
    exact = law(s) / (MASS * s**2 + law(s))
    model = sledge(**options)
    space = linearise(model).state_space(REFERENCE, ["x", "force"])
    model.harmonic_step(FREQUENCIES, loads=[REFERENCE], amplitudes={REFERENCE: 1.0})
    found = solve(model)
    np.testing.assert_allclose(found.response("x").values[:, 0], exact, rtol=1e-10)
    np.testing.assert_allclose(found.response("force").values[:, 0], MASS * s**2 * exact, rtol=1e-10)
    rated = controller in ("with a rate", "with an integral")
    assert space.inputs == [REFERENCE, *[f"{REFERENCE}'"] * rated]
    columns = space.response(s)
    by_reference = columns[:, :, 0] + (s[:, None] * columns[:, :, 1] if rated else 0.0)
    np.testing.assert_allclose(by_reference[:, space.outputs.index("x.x")], exact, rtol=1e-10)


def test_the_reference_of_a_hydraulic_cylinder():
    """capacity p' = gain y - leakage p - area x', y = kp (r - x) + kd (r' - x'), m x'' = area p."""
    area, capacity, gain, leakage, kp, kd = 1e-3, 2e-12, 1e-2, 1e-11, 4.0, 0.05
    model = Model(2)
    model.body("sledge", (0.0, 0.0), MASS, 0.1)
    model.joint("rail", "prismatic", "ground", "sledge", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.hydraulic(
        "servo", joint="rail", area=area, capacity=capacity, gain=gain, leakage=leakage, kp=kp, kd=kd, position=0.0
    )
    model.sensor("x", "displacement", on="sledge")
    model.harmonic_step(FREQUENCIES, loads=[REFERENCE], amplitudes={REFERENCE: 1.0})
    s = 2j * np.pi * FREQUENCIES
    by_opening = gain * (kp + kd * s)
    exact = by_opening / (MASS * s**2 / area * (capacity * s + leakage) + area * s + by_opening)
    np.testing.assert_allclose(solve(model).response("x").values[:, 0], exact, rtol=1e-9)


def test_the_reference_moves_the_model_in_linear_statics_and_transients():
    """Named alone it is what all functions are, where there is no other: k x = kp (r - x) at rest."""
    model = sledge(position=0.3, spring=150.0)
    model.linear_static_step(loads=[REFERENCE])
    assert solve(model).sensor("x").values[-1, 0] == pytest.approx(KP * 0.3 / (KP + 150.0), rel=1e-12)
    paths = []
    for loads in ([REFERENCE], "all"):
        model = sledge(position="0.3*sin(4*t)", spring=150.0)
        model.linear_transient_step(0.5, 0.01, loads=loads)
        paths.append(solve(model).sensor("x").values)
    assert np.abs(paths[0]).max() > 0.05
    np.testing.assert_array_equal(paths[0], paths[1])


def test_a_controller_without_a_reference_is_named_by_none():
    model = sledge(position=None)
    model.harmonic_step(FREQUENCIES, loads=[REFERENCE], amplitudes={REFERENCE: 1.0})
    with pytest.raises(ModelError, match=r'no position of a controller, which is its reference, "servo.reference"'):
        solve(model)
