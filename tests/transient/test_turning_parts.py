"""Solids in large rotation: one factorisation for many steps, and the motion of Newton's full iteration."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, solve
from fem_mbs.solvers.linear.libraries import cholmod_status
from fem_mbs.validation.case import energy_error

pytestmark = pytest.mark.skipif(not cholmod_status()[0], reason=cholmod_status()[1])


def disc(dim: int, joint: bool = False, **options) -> Model:
    """A square of 1 m (in space a block) that spins with 20 rad/s about a corner, .02 rad in a step."""
    model = Model(dim, gravity=(0.0, -9.81, 0.0)[:dim])
    if dim == 3:
        model.mesh("part", box={"size": (1.0, 1.0, 0.2), "n": (12, 12, 2)})
        model.solid_material("rubber", 1e8, 0.3, density=1000.0)
        model.solids("part", "part", "rubber")
    else:
        model.mesh("part", rectangle={"size": (1.0, 1.0), "n": (45, 45)})
        model.material("rubber", E=1e8, nu=0.3, density=1000.0)
        model.planes("part", "part", "rubber", thickness=0.1)
    x = model.positions
    corner = np.flatnonzero(np.abs(x[:, :2] - x[:, :2].min(axis=0)).max(axis=1) < 1e-9)
    centre = x[corner[0]]
    if joint:
        model.joint("hinge", "pin" if dim == 2 else "spherical", int(corner[0]))
    else:
        model.fix([int(k) for k in corner])
    model.initial("all", spin=20.0 if dim == 2 else (0.0, 0.0, 20.0), centre=tuple(centre))
    model.transient_step(0.03, 1e-3, frames=1, restarts=0, **options)
    return model


@pytest.mark.parametrize(("dim", "joint"), [(2, False), (3, False), (3, True)])
def test_factors_turn_with_the_part(dim, joint):
    step = solve(disc(dim, joint)).steps[0]
    full = solve(disc(dim, joint, newton="full")).steps[0]
    assert step.report.factorisations <= 6 < 30 <= full.report.factorisations
    assert energy_error(step, constant=True) < 1e-12
    for name in ("linear momentum", "angular momentum"):
        a, b = step.series[name], full.series[name]
        np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


def test_one_state_rules_take_their_factors_along_too():
    options = {"rule": "generalised-alpha"}
    step, full = (solve(disc(3, newton=newton, **options)).steps[0] for newton in ("chord", "full"))
    assert step.report.factorisations <= 6 < full.report.factorisations
    a, b = (s.series["linear momentum"] for s in (step, full))
    np.testing.assert_allclose(a, b, atol=1e-8 * np.abs(b).max())
