"""Flexible GMRES against dense solutions."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.solvers.linear.krylov import flexible_gmres


@pytest.fixture
def problem():
    rng = np.random.default_rng(4)
    A = np.diag(np.linspace(1.0, 30.0, 40)) + 0.2 * rng.standard_normal((40, 40))
    return A, rng.standard_normal(40)


def test_the_solution_is_that_of_the_matrix(problem):
    A, b = problem
    x, steps, arrived = flexible_gmres(lambda v: A @ v, lambda v: v / A.diagonal(), b, 40, 1e-12)
    assert arrived and steps < 40
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-10)


def test_the_residual_is_the_least_over_the_directions(problem):
    """After k steps the norm is that of the least squares over the preconditioned Krylov vectors; GMRES never grows."""
    A, b = problem
    norms = []
    for steps in (1, 3, 6):
        x, taken, arrived = flexible_gmres(lambda v: A @ v, lambda v: v, b, steps, 1e-14, hopeless=False)
        assert taken == steps and not arrived
        K = np.column_stack([np.linalg.matrix_power(A, k) @ b for k in range(steps)])
        best = b - A @ K @ np.linalg.lstsq(A @ K, b, rcond=None)[0]
        norms.append(np.linalg.norm(b - A @ x))
        assert norms[-1] == pytest.approx(np.linalg.norm(best), rel=1e-8)
    assert norms[0] > norms[1] > norms[2]


def test_a_changing_preconditioner_is_no_harm(problem):
    """The directions are kept as they were preconditioned, unlike those of ordinary GMRES."""
    A, b = problem
    count = iter(range(100))
    x, _, arrived = flexible_gmres(
        lambda v: A @ v, lambda v: v / A.diagonal() * (1.0 + 0.3 * (next(count) % 3)) + 0.01 * v, b, 40, 1e-10
    )
    assert arrived
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-8)


def test_slow_convergence_ends_early():
    """A cyclic shift: the residual stays what it is until the last step."""
    A, b = np.roll(np.eye(30), 1, axis=0), np.eye(30)[0]
    assert flexible_gmres(lambda v: A @ v, lambda v: v, b, 30, 1e-10)[1:] == (5, False)
    x, steps, arrived = flexible_gmres(lambda v: A @ v, lambda v: v, b, 30, 1e-10, hopeless=False)
    assert arrived and steps == 30
    np.testing.assert_allclose(A @ x, b, atol=1e-12)


def test_useless_preconditioner(problem):
    A, b = problem
    x, steps, arrived = flexible_gmres(lambda v: A @ v, lambda v: 0.0 * v, b, 10, 1e-10)
    assert (steps, arrived) == (1, False) and not x.any()
