"""Block Lanczos against dense eigenvalues: restarts, multiple values, masses of low rank, both signs, breakdowns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.solvers.eigen.block_lanczos import BlockLanczos, SlowError, largest

N = 200


class Problem:
    """K, M (N, N) with given values, and the operator K^-1 M."""

    def __init__(self, values, rank=N, seed=1):
        rng = np.random.default_rng(seed)
        lower = np.eye(N) + 0.02 * rng.standard_normal((N, N))
        turn = np.linalg.qr(rng.standard_normal((N, N)))[0] if rank == N else np.eye(N)
        self.M = lower @ np.diag((np.arange(N) < rank) * 1.0) @ lower.T
        self.K = lower @ turn @ np.diag(values) @ turn.T @ lower.T
        self.factors = scipy.linalg.lu_factor(self.K)
        self.rng, self.columns = rng, 0

    def apply(self, _, MX):
        self.columns += MX.shape[1]
        return scipy.linalg.lu_solve(self.factors, MX)

    def lanczos(self, most, block):
        return BlockLanczos(
            self.apply, csr_matrix(self.M), lambda k: self.apply(None, self.M @ self.rng.standard_normal((N, k))),
            most, block,
        )  # fmt: skip

    def found(self, count, most=100, block=8, **options):
        """Values t (k,) and vectors, their residuals and products checked."""
        lanczos = self.lanczos(most, block)
        t, _, S, k = largest(lanczos, lambda t, left: count, 300, **options)
        X = lanczos.rotate(S[:, :k])
        assert pytest.approx(np.eye(k), abs=1e-12) == X.T @ self.M @ X
        assert np.abs(scipy.linalg.lu_solve(self.factors, self.M @ X) - X * t[:k]).max() < 1e-11 * np.abs(t[0])
        return t[:k], lanczos


def spread(seed=2):
    return np.sort(np.random.default_rng(seed).uniform(1.0, 1e4, N))


@pytest.mark.parametrize("block", [1, 3, 8])
@pytest.mark.parametrize("most", [150, 40], ids=["whole", "restarted"])
def test_lowest_values(block, most):
    values = spread()
    t, lanczos = Problem(values).found(10, most, block)
    assert 1.0 / t == pytest.approx(values[:10], rel=1e-11)
    assert lanczos.basis.shape[1] <= most


def test_a_block_saves_applications():
    """Of eight columns at a time, and without a restart, far fewer passes over the factors than columns."""
    problem = Problem(spread())
    _, lanczos = problem.found(12, 150, 8)
    assert lanczos.steps <= 16


def test_values_of_both_signs_nearest_to_zero_first():
    values = spread() - 3000.0
    t, _ = Problem(values).found(9)
    assert np.all(np.diff(np.abs(t)) <= 0.0)
    assert np.sort(1.0 / t) == pytest.approx(np.sort(values[np.argsort(np.abs(values))[:9]]), rel=1e-10)


def test_copies():
    """Many more than a block has columns."""
    values = spread()
    values[:30] = 0.5
    exact = np.r_[np.full(30, 0.5), values[30:40]]
    t, _ = Problem(values).found(40, 150, 4, probe=4)
    assert 1.0 / t == pytest.approx(exact, rel=1e-10)


def test_search_costs_no_more_steps_than_it_needs():
    _, without = Problem(spread()).found(10, 150, 8)
    _, with_search = Problem(spread()).found(10, 150, 8, probe=4)
    assert with_search.steps <= without.steps + 3


@pytest.mark.parametrize("rank", [3, 30])
def test_masses_of_low_rank(rank):
    """No more values than masses; all of them are found, and the basis ends there."""
    problem = Problem(spread(), rank)
    exact = scipy.linalg.eigh(problem.M, problem.K, eigvals_only=True)[::-1][:rank]
    t, lanczos = problem.found(40, 100)
    assert lanczos.exhausted
    assert t == pytest.approx(exact, rel=1e-10)


def test_whole_spectrum():
    values = spread()
    t, _ = Problem(values).found(N, N)
    assert np.sort(1.0 / t) == pytest.approx(values, rel=1e-9)


def test_slow_iteration_is_an_error():
    with pytest.raises(SlowError):
        largest(Problem(spread()).lanczos(100, 2), lambda t, left: 20, 5)
