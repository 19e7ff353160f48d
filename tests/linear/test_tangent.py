"""The matrices of a model at a state, against those of a mass on a spring and a damper, written down by hand."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from fem_mbs.model.model import Model
from fem_mbs.system.tangent import Matrices, constraint_rows, control, function_table, matrices_of

STIFFNESS, DAMPING, MASS, GRAVITY = 250.0, 7.0, 3.0, 9.81


def oscillator() -> Model:
    """A mass under the ground, on a spring of its own length, with a rod to the side."""
    model = Model(2, gravity=(0.0, -GRAVITY), elimination=False)
    model.node("bob", (0.0, -2.0))
    model.point_mass("mass", "bob", MASS)
    model.spring("spring", "ground", "bob", STIFFNESS, point_a=(0.0, 0.0), damping=DAMPING)
    model.joint("rod", "distance", "ground", "bob", point=(3.0, 2.0))
    return model


@pytest.fixture
def compiled():
    return oscillator().compile()


def inner(compiled, A) -> np.ndarray:
    """The part (2, 2) of the dofs of the bob."""
    dofs = compiled.system.position_dofs(0)
    return A[dofs][:, dofs].toarray()


def test_matrices_at_a_state(compiled):
    system, fun = compiled.system, function_table(np.zeros(0))
    matrices, state = matrices_of(system), compiled.system.initial_state()
    tangent = lambda **weights: inner(compiled, matrices.tangent(control(**weights), fun, state)[1])  # noqa: E731
    across, along = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    np.testing.assert_allclose(tangent(stiffness=2.0), STIFFNESS * along, atol=1e-12)
    np.testing.assert_allclose(tangent(mass=1.0), MASS * (across + along), atol=1e-12)
    both = tangent(stiffness=2.0, damping=1.0)
    np.testing.assert_allclose(both - tangent(stiffness=2.0), DAMPING * along, atol=1e-12)
    force = matrices.force(control(gravity=(0.0, -GRAVITY)), fun, state)[system.position_dofs(0)]
    np.testing.assert_allclose(force, [0.0, MASS * GRAVITY], atol=1e-12)


def test_what_joint_forces_give(compiled):
    """A rod of length l under the force F turns with the stiffness F/l across it; ``joints`` = 0 leaves it out."""
    system, fun = compiled.system, function_table(np.zeros(0))
    state, force = system.initial_state(), 40.0
    axis = np.array([3.0, 4.0]) / 5.0
    rows = constraint_rows(system, control(), fun, state).toarray()[:, system.position_dofs(0)]
    np.testing.assert_allclose(np.abs(rows), [np.abs(axis)], atol=1e-12)
    state.U[system.first_multiplier] = force
    matrices = Matrices(system)
    K, bare = (inner(compiled, matrices.tangent(control(2.0, joints=j), fun, state)[1]) for j in (None, 0.0))
    across = np.array([-axis[1], axis[0]])
    assert abs(across @ (K - bare) @ across) == pytest.approx(force / 5.0, rel=1e-12)


def test_scaled_rows_are_those_of_the_tangent(compiled):
    system, fun = compiled.system, function_table(np.zeros(0))
    state, ctl = system.initial_state(), control(1.0, mass=1.0)
    system.set_scales(ctl, fun, state)
    first = system.first_multiplier
    A = matrices_of(system).tangent(ctl, fun, state)[1][first:-1]
    scaled, plain = (constraint_rows(system, ctl, fun, state, scaled=s)[:, :first] for s in (True, False))
    assert abs(scaled - A[:, :first]).max() == 0.0
    scale = next(b.par[0, b.type.scale] for b in system.blocks if b.type.multipliers)
    assert scale != 1.0
    np.testing.assert_allclose(scaled.toarray(), scale * plain.toarray(), rtol=1e-14)


def test_the_pattern_is_found_once(compiled):
    """It lives as long as somebody uses it, and serves models with other parameters too."""
    system = compiled.system
    kept = matrices_of(system)
    assert matrices_of(system) is kept
    other = system.with_parameters({})
    assert matrices_of(other).compiled is other
    assert matrices_of(other)._indices is kept._indices
    del kept
    gc.collect()
    assert system.assembler() is None
