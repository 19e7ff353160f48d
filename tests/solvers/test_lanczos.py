"""The two-sided Lanczos recurrence: Doan, Geradin & Kill's algorithm on a rotor in its rotating frame, a pinned
rotating shaft, a random pencil and a free beam (D1 to D5), and the recurrence itself on matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from complex_problems import agree, beam, check_pairs, rigid, shaft

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import complex_modes as module
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.eigen.lanczos import TwoSidedLanczos
from fem_mbs.solvers.eigen.quadratic_pencil import Inverse, QuadraticPencil

WAYS = {"lanczos": 0, "dense": 10_000}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request, monkeypatch):
    monkeypatch.setattr(module, "DENSE", request.param)
    return request.param


# --- D1 to D5 --------------------------------------------------------------------------------------------------------
def test_d1_rotor_in_the_rotating_frame(way):
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    M, C, K = np.eye(2), 2.0 * 3.0 * turn, (10.0**2 - 3.0**2) * np.eye(2)
    modes = complex_modes(M, C, K, count=4)
    assert modes.values == pytest.approx(np.array([7j, -7j, 13j, -13j]), rel=1e-10)
    # circular whirl, forward (7) and backward (13) as seen from the rotating frame
    assert modes.right[1] / modes.right[0] == pytest.approx(np.array([-1j, 1j, 1j, -1j]), rel=1e-9)
    check_pairs(modes, M, C, K)


SHAFT = (5.869609, 13.869609, 35.478684, 43.478684, 84.829462, 92.829462)


def test_d2_pinned_shaft(way):
    """n^2 pi^2 -+ Omega, the digits of 20 elements per plane."""
    model = shaft(20, 4.0)
    modes = complex_modes(*model, count=12)
    assert modes.values[::2].imag == pytest.approx(SHAFT, abs=1e-6)
    assert np.abs(modes.values.real).max() < 1e-9
    assert modes.biorthogonality < 1e-10
    assert (modes.rigid, modes.zeros) == (0, 0)
    check_pairs(modes, *model)


def chain(n=30):
    """Springs of unit stiffness between n places, held at one end."""
    K = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    K[-1, -1] = 1.0
    return K


def test_masses_that_joints_hold_leave_nothing_to_search():
    """The only mass is held by the constraint; with a damper elsewhere there is something to look for."""
    K, M, G = chain(), np.zeros((30, 30)), np.eye(30)[:1]
    M[0, 0] = 1.0
    with pytest.raises(AnalysisError, match="no mass can move"):
        _ = Inverse(QuadraticPencil(M, 0.0 * M, K, G), 0.0).unit
    C = np.zeros((30, 30))
    C[-1, -1] = 2.0
    pencil = QuadraticPencil(M, C, K, G)
    # p c + k = 0, with the stiffness of 29 springs in a row at the damper
    assert Inverse(pencil, 0.0).unit == pytest.approx(pencil.time * (1.0 / 29.0) / 2.0, rel=1e-9)


def recurrence(full, steps=40):
    inverse = Inverse(QuadraticPencil(*shaft(20, 4.0)), 0.0)
    lanczos = TwoSidedLanczos(inverse, steps, np.random.default_rng(1), full=full)
    lanczos.extend(steps)
    image = np.column_stack([inverse.right(d) for d in lanczos.D.T])
    return lanczos, image


def test_d3_the_recurrence():
    """G^T D = J, G^T A D = J T, T tridiagonal with equal lengths and signs eps."""
    lanczos, image = recurrence(full=True)
    J = np.diag(lanczos.eps)
    assert np.abs(np.abs(lanczos.eps) - 1.0).max() < 1e-14
    assert np.abs(lanczos.G.T @ lanczos.D - J).max() < 1e-10
    assert np.abs(lanczos.G.T @ image - J @ lanczos.T).max() < 1e-10 * np.abs(lanczos.T).max()
    band = np.triu(np.tril(lanczos.T, 1), -1)
    assert np.abs(lanczos.T - band).max() < 1e-10 * np.abs(band).max()
    assert np.linalg.norm(lanczos.D, axis=0) == pytest.approx(np.linalg.norm(lanczos.G, axis=0))


def test_d3_without_reorthogonalisation_copies_appear():
    """The lowest pair, which is simple, is found several times by three terms alone."""
    theta = {full: np.abs(recurrence(full, steps=100)[0].ritz().theta) for full in (True, False)}
    lowest = theta[True].max()  # three terms alone may also give values that are none at all
    copies = {full: int((np.abs(theta[full] - lowest) < 1e-6 * lowest).sum()) for full in theta}
    assert copies[True] == 2 and copies[False] > 2


def test_d4_random_unsymmetric(way):
    rng = np.random.default_rng(3)
    n = 60
    M, C, K = np.eye(n) + 0.1 * rng.normal(size=(n, n)) / np.sqrt(n), rng.normal(size=(n, n)), rng.normal(size=(n, n))
    inverse = np.linalg.inv(M)
    exact = scipy.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ C]]))
    exact = exact[np.argsort(np.abs(exact))][:6]
    modes = complex_modes(M, C, K, count=6)
    agree(modes.values, exact, 1e-8)
    check_pairs(modes, M, C, K)
    assert modes.biorthogonality < 1e-9


@pytest.mark.parametrize("shift", [None, 1.0, 5.0, 20.0])
def test_d5_free_beam(way, shift):
    """p = 0 twice per rigid motion, found as zeros, not as noise; then (4.7300 / L)^2 and (7.8532 / L)^2."""
    K, M, _ = beam(40)
    modes = complex_modes(M, 0.0 * M, K, count=4, shift=shift)
    assert (modes.rigid, modes.zeros) == (2, 4)
    assert (modes.values[:2] == 0.0).all()
    assert modes.values[2::2] == pytest.approx(1j * np.array([22.37329, 61.67282]), rel=1e-5)
    R = rigid(40)
    inside = R @ np.linalg.lstsq(R, modes.right[:, :2], rcond=None)[0]
    assert inside == pytest.approx(modes.right[:, :2], abs=1e-9)
    check_pairs(modes, M, 0.0 * M, K)


# --- the recurrence -------------------------------------------------------------------------------------------------
class Dense:
    """A matrix as operator; what `start` gives can be told."""

    def __init__(self, A):
        self.A, self.size, self.dtype = A, len(A), A.dtype

    def right(self, v):
        return self.A @ v

    def left(self, v):
        return self.A.T @ v

    def start(self, rng):
        return rng.normal(size=self.size), rng.normal(size=self.size)


@pytest.mark.parametrize("rounding", range(8))
@pytest.mark.parametrize("case", ["invariant", "orthogonal", "left"])
def test_breakdowns_are_cured(case, rounding):
    """A start within an invariant subspace of three vectors, or a left vector at right angles to the right one; the
    matrix rounded in several ways, as other libraries would."""
    rng = np.random.default_rng(2)
    n = 30
    X, values = rng.normal(size=(n, n)), np.arange(1.0, n + 1.0)
    A = X @ np.diag(values) @ np.linalg.inv(X)
    A *= 1.0 + 1e-15 * np.random.default_rng(rounding).normal(size=A.shape)
    d, g = rng.normal(size=(2, n))
    if case == "invariant":
        d = X[:, :3].sum(axis=1)
    elif case == "left":
        g = np.linalg.inv(X)[:3].sum(axis=0)
    else:
        g -= d * (g @ d) / (d @ d)
    lanczos = TwoSidedLanczos(Dense(A), n, rng, start=(d, g))
    lanczos.extend(n)
    assert lanczos.breakdowns >= 1
    assert np.abs(lanczos.G.T @ lanczos.D - np.diag(lanczos.eps)).max() < 1e-7
    assert lanczos.exhausted
    ritz = lanczos.ritz()
    order = np.argsort(ritz.theta.real)
    errors = np.abs(ritz.theta[order] - values)
    assert ritz.theta[order] == pytest.approx(values, rel=1e-6)
    right, left = lanczos.vectors(ritz, order)
    quotients = np.einsum("ik,ij,jk->k", left, A, right) / np.einsum("ik,ik->k", left, right)
    assert np.abs(quotients - values).max() < 1e-10
    # the estimates tell it: |error| <= |A v - t v| over the cosine of left and right vector (Wilkinson 1965, 2.8)
    condition = np.linalg.norm(np.linalg.inv(X), axis=1) * np.linalg.norm(X, axis=0)
    assert (errors <= condition * lanczos.estimates(ritz, order) * values).all()


def test_an_exhausted_space_is_told():
    A = np.diag(np.r_[np.arange(1.0, 6.0), np.zeros(20)])
    operator = Dense(A)
    operator.start = lambda rng: tuple(A @ (A @ v) for v in rng.normal(size=(2, 25)))
    lanczos = TwoSidedLanczos(operator, 20, np.random.default_rng(1))
    assert lanczos.extend(20) == 5
    assert lanczos.exhausted
    assert np.sort(lanczos.ritz().theta.real) == pytest.approx(np.arange(1.0, 6.0))


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_condensing_keeps_the_recurrence(kind):
    rng = np.random.default_rng(3)
    A = np.linalg.inv(rng.normal(size=(60, 60)) + (1j * rng.normal(size=(60, 60)) if kind == "complex" else 0.0))
    operator = Dense(A)
    lanczos = TwoSidedLanczos(operator, 36, rng)
    exact = scipy.linalg.eigvals(A)
    for _ in range(6):
        lanczos.extend(36)
        ritz = lanczos.ritz()
        order = np.argsort(-np.abs(ritz.theta))
        keep = 14
        while kind == "real" and not np.isin(ritz.theta[order[:keep]].conj(), ritz.theta[order[:keep]]).all():
            keep += 1
        assert np.abs(lanczos.G.T @ lanczos.D - np.diag(lanczos.eps)).max() < 1e-9
        image = lanczos.G.T @ (A @ lanczos.D) - np.diag(lanczos.eps) @ lanczos.T
        assert np.abs(image).max() < 1e-8 * np.abs(lanczos.T).max()
        lanczos.condense(ritz, order[:keep])
    best = order[:6]
    agree(exact, ritz.theta[best], 1e-9)
    assert lanczos.steps == keep
