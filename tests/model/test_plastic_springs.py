"""Springs that yield: loops of force over length in statics and over time, both against return mapping in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.validation.case import energy_error

STIFFNESS, LIMIT = 200.0, 30.0


def mapped(path, hardening):
    """Return forces (n,) along elongations (n,): return mapping with kinematic hardening."""
    H = STIFFNESS * hardening / (STIFFNESS - hardening)
    p, out = 0.0, []
    for x in path:
        over = STIFFNESS * (x - p) - H * p
        if abs(over) > LIMIT:
            p += (over - np.sign(over) * LIMIT) / (STIFFNESS + H)
        out.append(STIFFNESS * (x - p))
    return np.array(out)


def stretched(hardening, dimension):
    model = Model(dimension)
    model.node("end", (1.0, *(0.0,) * (dimension - 1)))
    model.point_mass("mass", "end", 1.0)
    model.fix("end", ["y", "z"][: dimension - 1])
    model.motion("pull", "end", "x", {"kind": "harmonic", "amplitude": 0.4, "frequency": 1.0})
    model.spring("link", "ground", "end", STIFFNESS, point_a=(0.0,) * dimension, yield_force=LIMIT, hardening=hardening)
    model.sensor("force", "element", on="link", quantity="force")
    model.sensor("length", "element", on="link", quantity="length")
    return model


@pytest.mark.parametrize("hardening", [0.0, 50.0])
@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
def test_loop_over_time(hardening, rule):
    """The force of the end of a step (Newmark) is that of the map; the mean (mid-point) lies between two of them."""
    model = stretched(hardening, 2)
    model.transient_step(2.0, 0.005, frames=0, rule=rule)
    step = solve(model).steps[0]
    length, force = step.series["sensor/length"].ravel(), step.series["sensor/force"].ravel()
    length[0] = 1.0
    expected = mapped(length - 1.0, hardening)
    if rule == "newmark":
        np.testing.assert_allclose(force[1:], expected[1:], atol=1e-9)
        return
    low, high = np.minimum(expected[:-1], expected[1:]), np.maximum(expected[:-1], expected[1:])
    assert ((force[1:] >= low - 1e-9) & (force[1:] <= high + 1e-9)).all()
    assert energy_error(step) < 1e-12
    area = float(np.sum(force[1:] * np.diff(length)))
    stored = float(step.ledger("strain")[-1])
    assert float(step.ledger("dissipated")[-1]) == pytest.approx(area - stored, rel=1e-9)


def test_permanent_set_in_statics():
    """A force beyond the yield force with hardening, then none: x = F/k + (F - F_y)/H, then (F - F_y)/H."""
    model = Model(3)
    model.node("end", (1.0, 0.0, 0.0))
    model.fix("end", ["y", "z"])
    model.spring("link", "ground", "end", STIFFNESS, point_a=(0.0, 0.0, 0.0), yield_force=LIMIT, hardening=50.0)
    ramps = {"kind": "table", "times": [0.0, 1.0, 2.0], "values": [0.0, 1.0, 0.0]}
    model.force("pull", "end", (40.0, 0.0, 0.0), function=ramps)
    model.sensor("length", "element", on="link", quantity="length")
    for _ in range(2):
        model.static_step(increments=4, duration=1.0, ramp=False)
    steps = solve(model).steps
    flowed = (40.0 - LIMIT) / (STIFFNESS * 50.0 / (STIFFNESS - 50.0))
    assert steps[0].series["sensor/length"].ravel()[-1] == pytest.approx(1.0 + 40.0 / STIFFNESS + flowed, rel=1e-10)
    assert steps[1].series["sensor/length"].ravel()[-1] == pytest.approx(1.0 + flowed, rel=1e-10)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({"hardening": 5.0}, "hardening belongs to yield_force"),
        ({"yield_force": 0.0}, "yield_force"),
        ({"yield_force": 1.0, "hardening": 200.0}, "hardening = 200 must be less than the stiffness 200"),
        ({"yield_force": 1.0, "stops": [0.5, 2.0], "stop_stiffness": 1e3}, "a spring that yields has no stops"),
        ({"yield_force": 1.0, "cubic": 3.0}, "a spring that yields has no cubic"),
        ({"yield_force": 1.0, "stiffness": None, "damping": 1.0}, "needs its elastic stiffness"),
    ],
)
def test_wrong_input(law, message):
    model = Model(2)
    model.node("end", (1.0, 0.0))
    with pytest.raises(ModelError, match='Spring "link"') as error:
        model.spring("link", "ground", "end", **{"stiffness": STIFFNESS, "point_a": (0.0, 0.0), **law})
    assert message in str(error.value)
