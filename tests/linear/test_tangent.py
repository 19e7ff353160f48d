"""The matrices of a model at a state, against those of a mass on a spring and a damper, written down by hand."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from fem_mbs.model.model import Model
from fem_mbs.solvers.stepping.motion import configure
from fem_mbs.system.states import body_axes, instant, moved, spatial_axes
from fem_mbs.system.tangent import ElementSet, Level, Matrices, Tangent, control, function_table, matrices_of
from fem_mbs.validation import ziegler_1952_pendulum

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
    system = compiled.system
    here = Tangent(system, system.initial_state(), Level(np.zeros(0), (0.0, -GRAVITY)))
    across, along = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    np.testing.assert_allclose(inner(compiled, here.K), STIFFNESS * along, atol=1e-12)
    np.testing.assert_allclose(inner(compiled, here.M), MASS * (across + along), atol=1e-12)
    np.testing.assert_allclose(inner(compiled, here.C), DAMPING * along, atol=1e-12)
    assert here.residual[system.position_dofs(0)] == pytest.approx([0.0, MASS * GRAVITY], abs=1e-12)
    assert here.under(Level(np.zeros(0))).residual[system.position_dofs(0)] == pytest.approx([0.0, 0.0], abs=1e-12)
    here.release()
    np.testing.assert_allclose(inner(compiled, here.K), STIFFNESS * along, atol=1e-12)


@pytest.mark.parametrize(("build", "follows"), [(oscillator, False), (ziegler_1952_pendulum.build, True)])
def test_unsymmetric_stiffness_is_known_before_it_was_asked_for(build, follows):
    """A force that turns with its body makes K unsymmetric; springs, rods and weight do not."""
    compiled = build().compile()
    system = compiled.system
    here = Tangent(system, system.initial_state(), Level(np.ones(len(compiled.loads))))
    assert here.skewed == follows
    assert (abs(here.K - here.K.T).max() > 1e-9 * abs(here.K).max()) == follows


def test_matrices_of_a_moving_mass(compiled):
    """Across its spring, stretched by a rate s', a damper resists with C s'/l per unit of displacement."""
    system, speed = compiled.system, 0.7
    state = system.initial_state()
    state.V[:2, system.position_dofs(0)[1]] = -speed
    here = Tangent(system, instant(system, state), Level(np.zeros(0)))
    assert here.moving and here.speed == pytest.approx(speed / system.length)
    K = STIFFNESS * np.diag([0.0, 1.0]) + DAMPING * speed / 2.0 * np.diag([1.0, 0.0])
    np.testing.assert_allclose(inner(compiled, here.K), K, atol=1e-8)
    np.testing.assert_allclose(inner(compiled, here.C), np.diag([0.0, DAMPING]), atol=1e-9)
    assert here.residual[system.position_dofs(0)] == pytest.approx([0.0, -DAMPING * speed], abs=1e-12)
    assert here.largest_force == pytest.approx(DAMPING * speed)


def test_tangent_of_some_elements(compiled):
    system = compiled.system
    number = next(i for i, block in enumerate(system.blocks) if block.type.name.startswith("spring"))
    par = system.blocks[number].par.copy()
    par[:, system.blocks[number].type.column("stiffness")] *= 3.0
    some = ElementSet(system, [(number, np.array([0]))], {0: par})
    fun, state = function_table(np.zeros(0)), system.initial_state()
    K = Matrices(some).tangent(control(2.0), fun, state)[1]
    np.testing.assert_allclose(inner(compiled, K), np.diag([0.0, 3.0 * STIFFNESS]), atol=1e-12)
    assert Matrices(some).mass(fun, state).nnz == 0


def test_displaced_states_keep_their_multipliers(compiled):
    system = compiled.system
    state = system.initial_state()
    state.Q[0, system.first_multiplier] = 5.0
    here = instant(system, state)
    there = moved(system, here, np.arange(system.n_dof, dtype=float))
    assert here.U[system.first_multiplier] == there.U[system.first_multiplier] == 5.0
    at = system.position_dofs(0)
    assert there.Q[:, at] - state.Q[0, at] == pytest.approx(np.tile(at, (2, 1)).astype(float))
    assert not there.V.any() and not there.U[: system.first_multiplier].any()


@pytest.mark.parametrize("dimension", [2, 3])
def test_displaced_states_are_those_of_a_time_step(dimension):
    """The steps turn directors by Cayley's formula, node by node; arrays of all nodes give the same numbers."""
    model = Model(dimension, elimination=False)
    rng = np.random.default_rng(4)
    for k in range(3):
        inertia = 0.1 if dimension == 2 else (0.1, 0.2, 0.3)
        model.body(f"b{k}", rng.normal(size=dimension), 1.0, inertia)
    system = model.compile().system
    state = system.initial_state()
    for _ in range(2):
        u = np.zeros(system.n_dof)
        u[: system.first_multiplier] = rng.normal(size=system.first_multiplier)
        there, step = moved(system, state, u), system.initial_state()
        step.Q[0], step.D[0], step.U[:] = state.Q[0], state.D[0], u
        configure(system.system, step, True)
        for row in (0, 1):
            np.testing.assert_array_equal(there.Q[row, : system.first_multiplier], step.Q[1, : system.first_multiplier])
            np.testing.assert_array_equal(there.D[row], step.D[1])
        state = there


def test_axes_of_spins():
    model = Model(3, elimination=False)
    model.body("top", (0.0, 0.0, 0.0), 1.0, (0.1, 0.2, 0.3))
    system = model.compile().system
    state = system.initial_state()
    state.D[:, 0] = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]  # turned by 90 degrees about z
    v = np.zeros(system.n_dof)
    rows = system.system.rotations[0]
    v[rows] = 1.0, 2.0, 3.0
    assert body_axes(system, state, v)[rows] == pytest.approx([2.0, -1.0, 3.0])
    assert spatial_axes(system, state, body_axes(system, state, v)) == pytest.approx(v)


def test_what_joint_forces_give(compiled):
    """A rod of length l under the force F turns with the stiffness F/l across it; ``joints`` = 0 leaves it out."""
    system, force = compiled.system, 40.0
    here = Tangent(system, system.initial_state(), Level(np.zeros(0)))
    axis = np.array([3.0, 4.0]) / 5.0
    rows = here.gradients.toarray()[:, system.position_dofs(0)]
    np.testing.assert_allclose(np.abs(rows), [np.abs(axis)], atol=1e-12)
    here.state.U[system.first_multiplier] = force
    K, bare = (inner(compiled, here.of_nodes(2.0, joints=j)) for j in (None, 0.0))
    across = np.array([-axis[1], axis[0]])
    assert abs(across @ (K - bare) @ across) == pytest.approx(force / 5.0, rel=1e-12)


def test_scaled_rows_are_those_of_the_tangent(compiled):
    system = compiled.system
    here = Tangent(system, system.initial_state(), Level(np.zeros(0)))
    system.set_scales(control(1.0, mass=1.0), here.functions, here.state)
    first = system.first_multiplier
    scaled, plain = here.G[:, :first], here.gradients[:, :first]
    assert abs(scaled - here.K[first:-1, :first]).max() == 0.0
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
    assert matrices_of(other)._places is kept._places
    del kept
    gc.collect()
    assert system.assembler() is None


def test_places_are_found_again(compiled):
    """Those of large models are freed beside factors; the matrices are the same bits afterwards."""
    system = compiled.system
    state, fun = instant(system, system.initial_state()), function_table(np.zeros(0))
    kept = matrices_of(system)
    dofs = np.arange(system.first_multiplier)
    before = kept.tangent(control(2.0), fun, state)[1]
    part = kept.submatrix(before, dofs)
    kept.release()
    assert "slot" in vars(kept._places)  # not of a small one
    kept.release(beyond=0)
    assert "slot" not in vars(kept._places)
    after = kept.tangent(control(2.0), fun, state)[1]
    assert np.array_equal(before.data, after.data)
    assert np.array_equal(before.indices, after.indices)
    assert (part != kept.submatrix(after, dofs)).nnz == 0
    assert np.array_equal(part.toarray(), before.toarray()[np.ix_(dofs, dofs)])
