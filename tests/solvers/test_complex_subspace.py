"""The Galerkin subspace of a quadratic pencil: complex modes with factors of the symmetric part alone, against QZ."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from complex_problems import agree, beam, check_pairs, random_problem, rigid, spectrum

from fem_mbs.solvers.eigen import complex_dense
from fem_mbs.solvers.eigen import complex_modes as module
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.eigen.complex_pairs import null_space_near
from fem_mbs.solvers.eigen.complex_subspace import GalerkinSubspace, _Matrix
from fem_mbs.solvers.eigen.quadratic_pencil import Inverse, QuadraticPencil
from fem_mbs.solvers.linear import saddle_factors
from fem_mbs.solvers.linear.libraries import cholmod_status

pytestmark = pytest.mark.skipif(not cholmod_status()[0], reason="scikit-sparse is not installed")


class _Never:
    """A recurrence that must not be begun."""

    def __init__(self, *given):
        raise AssertionError("the recurrence has taken over")


@pytest.fixture
def subspace(monkeypatch):
    """All pencils without constraints go to the subspace, and to nothing else."""
    monkeypatch.setattr(saddle_factors, "SUPERNODAL", 0)
    monkeypatch.setattr(module, "DENSE", 0)
    monkeypatch.setattr(module, "TwoSidedLanczos", _Never)


def found_as_by_qz(M, C, K, count, rel=1e-8):
    modes = complex_modes(M, C, K, count=count)
    exact = spectrum(M, C, K)
    agree(modes.values, exact[np.argsort(np.abs(exact))][: modes.values.size], rel)
    check_pairs(modes, M, C, K, None)
    assert modes.effort.factorisations <= 2  # the first shift may be too far from the eigenvalues
    assert modes.effort.corrections == 0
    return modes


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", ["", "gyro", "damped", "gyro damped follower", "overdamped", "gyro damped singular"])
def test_random_pencils(subspace, kind, seed):
    M, C, K, _ = random_problem(kind, n=160, seed=seed)
    modes = found_as_by_qz(M, C, K, 10)
    assert modes.residuals.max() <= 1e-9
    assert modes.biorthogonality <= 1e-8


def test_unstable_and_real_eigenvalues(subspace):
    """Negative damping, and dampers so strong that low eigenvalues are real."""
    M, C, K, _ = random_problem("gyro damped", n=160)
    assert found_as_by_qz(M, C - 0.5 * np.eye(160), K, 10).values.real.max() > 0.0
    strong = C + np.diag(np.r_[np.full(8, 200.0), np.zeros(152)])
    assert (found_as_by_qz(M, strong, K, 10).values.imag == 0.0).any()


@pytest.mark.parametrize("apart", [1e-4, 1e-7, 0.0])
def test_close_and_equal_eigenvalues(subspace, apart):
    M, C, K, _ = random_problem("gyro damped", n=80)
    two = [(M, C, K), (M, C, (1.0 + apart) * K), (M, C, K)]
    model = (scipy.linalg.block_diag(*a) for a in zip(*two, strict=True))
    found_as_by_qz(*model, 12, rel=1e-7)


def test_a_defective_eigenvalue(subspace):
    """Critical damping: p = -w twice, with one vector, found to the root of rounding, or as one."""
    w = np.linspace(1.0, 60.0, 120)
    C = np.diag(np.r_[2.0 * w[0], np.full(119, 0.1)])
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(120, 120)))[0]
    modes = complex_modes(*(turn @ a @ turn.T for a in (np.eye(120), C, np.diag(w**2))), count=6)
    near = np.abs(modes.values + 1.0) < 1e-5
    assert near.sum() in (1, 2)
    agree(modes.values[~near], [complex(-0.05, s * np.sqrt(k**2 - 0.0025)) for k in w[1:3] for s in (1, -1)], 1e-9)


def test_rigid_motions(subspace):
    """One shift beside zero; where it is too near or too far, another one."""
    K, M, _ = beam(60)
    C = 1e-3 * K
    modes = complex_modes(M, C, K, count=6)
    assert (modes.rigid, modes.zeros) == (2, 4)
    assert modes.effort.factorisations <= 2
    w = np.array([22.3732854, 61.6728229, 120.9033916])
    damped = -0.5e-3 * w**2 + 1j * w * np.sqrt(1.0 - (0.5e-3 * w) ** 2)
    agree(modes.values[2:], np.concatenate((damped, damped.conj())), 1e-5)


@pytest.mark.parametrize("others", [0, 1])
def test_motions_by_the_symmetric_part_alone(subspace, monkeypatch, others):
    """Rigid motions from rough vectors, beside forces that are skew; elastic shapes among the vectors are left out."""
    K, M, _ = beam(20)
    n = K.shape[0]
    rng = np.random.default_rng(3)
    A = rng.standard_normal((n, n))
    K = sp.csr_matrix(K + 1e-8 * K @ (A - A.T) @ K.T)  # skew, and does not resist the motions
    assert abs(K - K.T).max() > 1e-4 * abs(K).max()
    pencil = QuadraticPencil(M, 1e-3 * K, K)
    inverse, R = Inverse(pencil, 1e-3), rigid(20) / pencil.d[:, None]
    shapes = np.linalg.eigh(np.linalg.inv(pencil.K.toarray() + np.eye(n)))[1][:, -5:-2]
    vectors = np.hstack((R + 1e-4 * shapes[:, :2] @ np.diag(np.linalg.norm(R, axis=0)), shapes[:, :others]))
    if not others:  # corrections do all, no exact solution is needed
        monkeypatch.setattr(saddle_factors.SaddleFactors, "solve", None)
    for transposed in (False, True):
        X = null_space_near(inverse, vectors, transposed)
        assert X.shape[1] == 2
        Q = np.linalg.qr(R)[0]
        assert np.abs(X - Q @ (Q.T @ X)).max() <= 1e-7  # rounding of forces over the lowest stiffness
        assert np.abs((pencil.KT if transposed else pencil.K) @ X).max() <= 1e-13


def test_a_copy_that_the_start_has_not_seen_is_found(subspace, monkeypatch):
    """Of two equal parts side by side the random start moves only one: a probe looks at the other."""
    M, C, K, _ = random_problem("gyro damped", n=80)
    model = tuple(scipy.linalg.block_diag(a, a) for a in (M, C, K))
    explore, calls = GalerkinSubspace.explore, []

    class Half:
        def standard_normal(self, shape):
            X = np.random.default_rng(1).standard_normal(shape)
            X[80:] = 0.0
            return X

    def start(self, columns, *more):
        calls.append(columns)
        before, self.rng = self.rng, Half() if len(calls) == 1 else self.rng
        explore(self, columns, *more)
        self.rng = before

    monkeypatch.setattr(GalerkinSubspace, "explore", start)
    exact = spectrum(M, C, K)
    modes = complex_modes(*model, count=8)
    agree(modes.values, np.repeat(exact[np.argsort(np.abs(exact))][:4], 2), 1e-8)
    assert len(calls) == 3
    calls.clear()
    assert complex_modes(*model, count=8, check="none").values.size == 8
    assert len(calls) == 1


def test_where_the_subspace_does_not_converge_the_recurrence_takes_over(monkeypatch):
    monkeypatch.setattr(saddle_factors, "SUPERNODAL", 0)
    monkeypatch.setattr(module, "DENSE", 0)
    monkeypatch.setattr(module, "_GALERKIN_ROUNDS", 1)
    M, C, K, _ = random_problem("gyro damped follower", n=160)
    modes = complex_modes(M, C, K, count=8)
    exact = spectrum(M, C, K)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:8], 1e-8)
    assert modes.effort.steps > 20


def test_condensing_keeps_what_is_asked_for(subspace, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 0)
    monkeypatch.setattr(module, "_LEAST", 60)
    M, C, K, _ = random_problem("gyro damped follower", n=300)
    assert found_as_by_qz(M, C, K, 8).effort.restarts > 1


@pytest.mark.parametrize("kind", ["symmetric", "skew", "few", "any"])
def test_products_with_the_transpose(kind):
    rng = np.random.default_rng(0)
    A = sp.random(60, 60, 0.2, random_state=rng, data_rvs=rng.standard_normal, format="csr")
    if kind != "any":
        A = A + (-1.0 if kind == "skew" else 1.0) * A.T
    if kind == "few":
        A = A + sp.csr_matrix(([3.0], ([2], [7])), shape=A.shape)
    matrix, X = _Matrix(sp.csr_matrix(A)), rng.standard_normal((60, 4))
    assert (matrix.more is None) == (kind == "any")
    assert matrix.more is None or matrix.more.nnz == {"symmetric": 0, "skew": 0, "few": 2}[kind]
    assert matrix.transposed(X) == pytest.approx(A.T @ X, abs=1e-13)
    V = rng.standard_normal((60, 7))
    for found, exact in zip(matrix.projected(V, X), (V.T @ (A @ X), X.T @ (A @ V), X.T @ (A @ X)), strict=True):
        assert found == pytest.approx(exact, abs=1e-12)


def test_residuals_are_those_of_the_pencil():
    M, C, K, _ = random_problem("gyro damped follower", n=40)
    pencil = QuadraticPencil(*(sp.csr_matrix(a) for a in (M, C, K)))
    space = GalerkinSubspace(pencil, np.random.default_rng(2))
    N = pencil.shifted(0.01).toarray()
    space.about(0.01, lambda B: np.linalg.solve(0.5 * (N + N.T), B))
    space.explore(6)
    assert np.abs(space.V.T @ space.V - np.eye(space.size)).max() <= 1e-13
    ritz = space.ritz()
    some = np.argsort(np.abs(ritz.p))[:3]
    p, right, left = ritz.p[some], ritz.right[:, some], ritz.left[:, some]
    r, l, sizes = space.residuals(p, right, left)
    none = np.zeros((0, 3))
    x, w = space.vectors(right), space.vectors(left)
    exact = [pencil.residuals(p, v, none, pencil.absolute, t) for v, t in ((x, False), (w, True))]
    assert sizes == pytest.approx(np.maximum(exact[0][0], exact[1][0]), rel=1e-10)
    for residual, terms, known in zip((r, l), space.cancelled(p, right, left), exact, strict=True):
        assert np.linalg.norm(residual, axis=0) / terms == pytest.approx(known[1], rel=0.7)
    # Galerkin: residuals are orthogonal to the space, on both sides
    assert max(np.abs(space.V.T @ a).max() for a in (r, l)) <= 1e-12


def test_all_eigenvalues_by_the_inverse_operator():
    """The dense way without QZ: the same eigenvalues; QZ stands where masses or the matrix are singular."""
    M, C, K, _ = random_problem("gyro damped follower", n=40)
    p, x, w = complex_dense._by_inverse(M, C, K)
    agree(p, spectrum(M, C, K), 1e-9)
    for i in range(p.size):
        L = p[i] ** 2 * M + p[i] * C + K
        size = np.linalg.norm(L) * np.linalg.norm(x[:, i])
        assert np.linalg.norm(L @ x[:, i]) <= 1e-10 * size
        assert np.linalg.norm(w[:, i] @ L) <= 1e-10 * np.linalg.norm(L) * np.linalg.norm(w[:, i])
    assert complex_dense._by_inverse(np.diag(np.r_[0.0, np.ones(39)]), C, K) is None
    assert complex_dense._by_inverse(np.eye(2), np.zeros((2, 2)), np.zeros((2, 2))) is not None
