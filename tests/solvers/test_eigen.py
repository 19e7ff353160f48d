"""Eigenproblems with constraints against dense solutions, by the sparse and by the dense way."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import buckling, divergence, modes
from fem_mbs.solvers.eigen.buckling import linear_buckling
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear import saddle
from fem_mbs.solvers.linear.factors import Pencil
from fem_mbs.solvers.linear.libraries import ExactlySingular
from fem_mbs.solvers.linear.service import factor


@pytest.fixture(params=[10, 1000], ids=["sparse", "dense"])
def way(request, monkeypatch):
    for module in (modes, buckling, divergence):
        monkeypatch.setattr(module, "DENSE", request.param)


def problem(n=60, m=0, redundant=0, seed=1):
    """K positive, M positive and G (m + redundant, n)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    K = A @ A.T / n + np.diag(np.linspace(1.0, 100.0, n))
    M = np.diag(rng.uniform(0.5, 2.0, n))
    G = rng.normal(size=(m, n))
    return K, M, np.vstack((G, 2.0 * G[:redundant]))


def null(G, n):
    return scipy.linalg.null_space(G) if G.size else np.eye(n)


def sparse(*matrices):
    return tuple(csr_matrix(a) if a.size else csr_matrix(a.shape) for a in matrices)


@pytest.mark.parametrize(("m", "redundant"), [(0, 0), (5, 0), (5, 3)])
def test_modes(way, m, redundant):
    K, M, G = problem(m=m, redundant=redundant)
    Z = null(G, len(K))
    exact = scipy.linalg.eigh(Z.T @ K @ Z, Z.T @ M @ Z, eigvals_only=True)[:6]
    found = real_modes(*sparse(K, M), 6, check="inertia", G=csr_matrix(G))
    assert found.values == pytest.approx(exact, rel=1e-10)
    assert found.residuals.max() < 1e-10
    assert found.rigid == 0
    assert found.expected == 6
    assert found.vectors.T @ M @ found.vectors == pytest.approx(np.eye(6), abs=1e-9)
    assert np.abs(G @ found.vectors).max(initial=0.0) < 1e-9


def chain(n):
    """Free chain of unit springs."""
    K = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    K[0, 0] = K[-1, -1] = 1.0
    return K


def test_rigid_modes_are_counted_apart(way):
    n = 40
    K = scipy.linalg.block_diag(chain(n), 3.0 * chain(n))
    found = real_modes(*sparse(K, np.eye(2 * n)), 6)
    one = 4.0 * np.sin(np.arange(n) * np.pi / (2 * n)) ** 2
    exact = np.sort(np.concatenate((one, 3.0 * one)))[:6]
    assert found.rigid == 2
    assert (found.values[:2] == 0.0).all()
    assert found.values[2:] == pytest.approx(exact[2:], rel=1e-9)


def test_multiple_eigenvalues(way):
    n = 40
    K = scipy.linalg.block_diag(*[chain(n) + 0.1 * np.eye(n)] * 3)
    found = real_modes(*sparse(K, np.eye(3 * n)), 6, check="inertia")
    one = 0.1 + 4.0 * np.sin(np.arange(2) * np.pi / (2 * n)) ** 2
    assert found.values == pytest.approx(np.repeat(one, 3), rel=1e-9)
    assert found.expected == 6


def test_singular_mass(way):
    """Massless unknowns are condensed, not modes."""
    K, M, G = problem()
    M[:20, :20] = 0.0
    condensed = K[20:, 20:] - K[20:, :20] @ np.linalg.solve(K[:20, :20], K[:20, 20:])
    exact = scipy.linalg.eigh(condensed, M[20:, 20:], eigvals_only=True)[:5]
    assert real_modes(*sparse(K, M), 5, G=csr_matrix(G)).values == pytest.approx(exact, rel=1e-9)


def test_unstable_state_has_negative_squares(way):
    K, M, G = problem()
    exact = scipy.linalg.eigh(K, M, eigvals_only=True)
    shifted = K - 0.5 * (exact[1] + exact[2]) * M
    found = real_modes(*sparse(shifted, M), 4, G=csr_matrix(G))
    assert found.values == pytest.approx(exact[:4] - 0.5 * (exact[1] + exact[2]), rel=1e-8)


@pytest.mark.parametrize(("m", "redundant"), [(0, 0), (4, 2)])
@pytest.mark.parametrize("below", [0, 1, 5])
def test_negative_count(way, m, redundant, below):
    K, _, G = problem(m=m, redundant=redundant, seed=3)
    Z = null(G, len(K))
    values = scipy.linalg.eigvalsh(Z.T @ K @ Z)
    level = 0.5 * (values[below] + (values[below - 1] if below else 0.0))
    assert saddle.negative_count(*sparse(K - level * np.eye(len(K)), G)) == below
    assert saddle.negative_count(K - level * np.eye(len(K)), G) == below


def test_negative_count_of_a_badly_scaled_matrix(way):
    """One stiffness a billion times the other hides no soft negative one."""
    K = np.diag(np.r_[np.full(30, 1e9), np.full(29, 1.0), -1e-4])
    assert saddle.negative_count(*sparse(K, np.zeros((0, 60)))) == 1


@pytest.mark.parametrize(("m", "redundant"), [(0, 0), (4, 2)])
def test_buckling_of_both_signs(way, m, redundant):
    K, _, G = problem(m=m, redundant=redundant)
    B = np.random.default_rng(5).normal(size=K.shape)
    B = B + B.T
    Z = null(G, len(K))
    inverse = scipy.linalg.eigh(-Z.T @ B @ Z, Z.T @ K @ Z, eigvals_only=True)
    exact = 1.0 / inverse[np.argsort(-np.abs(inverse))][:5]
    found = linear_buckling(*sparse(K, B), 5, G=csr_matrix(G))
    assert found.factors == pytest.approx(exact, rel=1e-8)
    assert (found.factors > 0.0).any()
    assert (found.factors < 0.0).any()
    assert found.residuals.max() < 1e-8
    assert np.abs(found.vectors).max(axis=0) == pytest.approx(1.0)


def test_buckling_without_symmetry(way):
    K, _, G = problem()
    B = np.random.default_rng(6).normal(size=K.shape)
    inverse = scipy.linalg.eigvals(-B, K)
    real = inverse[np.abs(inverse.imag) < 1e-10].real
    found = linear_buckling(*sparse(K, B), 20, G=csr_matrix(G))
    largest = real[np.abs(real).argmax()]
    assert np.min(np.abs(found.factors - 1.0 / largest)) < 1e-7 / abs(largest)
    assert found.residuals.max() < 1e-6


def test_errors(way):
    K, M, G = problem(m=4)
    with pytest.raises(AnalysisError, match="nothing that can move has a mass"):
        real_modes(*sparse(K, 0.0 * M), 3, G=csr_matrix(G))
    Z = null(G, len(K))
    first, second = scipy.linalg.eigvalsh(Z.T @ K @ Z)[:2]
    for level in (50.0, 0.5 * (first + second)):  # several negative eigenvalues, and one
        with pytest.raises(AnalysisError, match="unstable already"):
            linear_buckling(*sparse(K - level * np.eye(len(K)), M), 3, G=csr_matrix(G))
    with pytest.raises(ValueError, match="eliminate the constraints"):
        real_modes(*sparse(K, M), 3, near=1.0, G=csr_matrix(G))


@pytest.mark.parametrize("sign", ["positive", "negative"])
def test_buckling_of_one_sign_with_constraints(way, sign):
    """The wanted sign, and the count of its factors, on the null space of constraints."""
    K, _, G = problem(m=4, redundant=2)
    B = np.random.default_rng(5).normal(size=K.shape)
    B = B + B.T
    Z = null(G, len(K))
    factors = 1.0 / scipy.linalg.eigh(-Z.T @ B @ Z, Z.T @ K @ Z, eigvals_only=True)
    some = factors[(factors > 0.0) == (sign == "positive")]
    exact = some[np.argsort(np.abs(some))][:4]
    found = linear_buckling(*sparse(K, B), 4, sign=sign, check=True, G=csr_matrix(G))
    assert found.factors == pytest.approx(exact, rel=1e-8)
    assert found.expected == 4


@pytest.mark.parametrize("pinned", [True, False])
def test_buckling_counts_of_each_sign(monkeypatch, pinned):
    """Counts come from springs that hold what has buckled, or from the signs of L D L^T if it has too many."""
    monkeypatch.setattr(buckling, "DENSE", 10)
    if not pinned:
        monkeypatch.setattr(buckling, "choose_pins", lambda *arguments: None)
    K, _, _ = problem()
    B = np.random.default_rng(5).normal(size=K.shape)
    B = B + B.T
    factors = 1.0 / scipy.linalg.eigh(-B, K, eigvals_only=True)
    for sign, some in (("both", factors), ("positive", factors[factors > 0.0]), ("negative", factors[factors < 0.0])):
        exact = some[np.argsort(np.abs(some))][:4]
        found = linear_buckling(*sparse(K, B), 4, sign=sign, check=True)
        assert found.factors == pytest.approx(exact, rel=1e-8)
        assert found.expected == 4


# --- factors ---------------------------------------------------------------------------------------------------------
def test_factors_of_every_kind():
    """One way to them: solutions against dense ones, the count of negative eigenvalues, what a kind does not take."""
    K, M, G = problem(m=4)
    b = np.random.default_rng(2).normal(size=60)
    skew = np.random.default_rng(3).normal(size=K.shape)
    full = np.block([[K, G.T], [G, np.zeros((4, 4))]])
    exact = np.linalg.solve(full, np.r_[b, np.zeros(4)])
    k, g = sparse(K, G)
    assert factor(k, kind="positive").solve(b) == pytest.approx(np.linalg.solve(K, b), rel=1e-9)
    lowest = scipy.linalg.eigh(K, M, eigvals_only=True)[:4]
    found = factor(Pencil(k, csr_matrix(M)), kind="symmetric", shift=0.5 * (lowest[2] + lowest[3]))
    assert found.negative == 3
    for judged in (True, False):
        x, y = factor(k, g, "saddle", judged=judged).solve(b)
        assert np.r_[x, y] == pytest.approx(exact, rel=1e-8, abs=1e-10 * np.abs(exact).max())
    x, _ = factor(k, g, "saddle", damping=1e-3, judged=False).solve(b)
    d, size = np.sqrt(np.diag(K)), np.linalg.norm(G / np.sqrt(np.diag(K)), axis=1)
    damped = np.block([[K, G.T], [G, -1e-3 * np.diag(size**2)]])
    assert x == pytest.approx(np.linalg.solve(damped, np.r_[b, np.zeros(4)])[:60], rel=1e-8, abs=1e-10 / d.min())
    full[:60, :60] += skew
    x, _ = factor(csr_matrix(K + skew), g, "general").solve(b, transposed=True)
    assert x == pytest.approx(np.linalg.solve(full.T, np.r_[b, np.zeros(4)])[:60], rel=1e-8, abs=1e-9)
    assert factor(csr_matrix(K + skew), kind="plain").solve(b, "T") == pytest.approx(np.linalg.solve((K + skew).T, b))
    with pytest.raises(ValueError, match='"positive" take no constraints; ask for "saddle"'):
        factor(k, g, "positive")
    with pytest.raises(ValueError, match='"cholesky" are not known'):
        factor(k, kind="cholesky")
    with pytest.raises(ExactlySingular):
        factor(csr_matrix((60, 60)), g, "saddle", judged=False)
