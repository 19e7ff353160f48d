"""Linear buckling under loads without a potential against dense solutions, small and large."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import block_diag, csr_matrix, diags

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import divergence
from fem_mbs.solvers.eigen.divergence import unsymmetric_buckling


def column(n: int, skew: float, copies: int = 1):
    """A clamped beam by finite differences under an end load that partly follows."""
    K = diags([6.0, -4.0, -4.0, 1.0, 1.0], [0, 1, -1, 2, -2], shape=(n, n)).tolil()
    K[0, 0] += 1.0
    Kg = diags([-2.0, 1.0, 1.0], [0, 1, -1], shape=(n, n)).tolil()
    Kg[n - 1, n - 2] += skew
    return csr_matrix(block_diag([K] * copies)), csr_matrix(block_diag([Kg] * copies))


def exact(K, Kg) -> np.ndarray:
    """Real factors by size, by another way: f^-1 as eigenvalues of -K^-1 Kg."""
    inverse = scipy.linalg.eigvals(-np.linalg.solve(K.toarray(), Kg.toarray()))
    f = 1.0 / inverse[np.abs(inverse) > 1e-9 * np.abs(inverse).max()]
    f = f[np.abs(f.imag) < 1e-6 * np.abs(f)].real
    return f[np.argsort(np.abs(f))]


@pytest.mark.parametrize("dense", [1000, 10], ids=["dense", "recurrence"])
@pytest.mark.parametrize("skew", [0.3, -0.4])
@pytest.mark.parametrize("sign", ["both", "positive"])
def test_double_factors(monkeypatch, dense, skew, sign):
    monkeypatch.setattr(divergence, "DENSE", dense)
    K, Kg = column(40, skew, copies=2)
    want = exact(*column(40, skew))
    want = want if sign == "both" else want[want > 0.0]
    found = unsymmetric_buckling(K, Kg, csr_matrix((0, 80)), 6, sign)
    assert found.factors == pytest.approx(np.repeat(want[:3], 2), rel=1e-6)
    assert found.residuals.max() < 1e-8
    assert np.abs(found.vectors).max(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("dense", [1000, 10], ids=["dense", "recurrence"])
def test_constraints_and_their_copies(monkeypatch, dense):
    """Rows that repeat others change nothing; vectors obey them."""
    monkeypatch.setattr(divergence, "DENSE", dense)
    K, Kg = column(50, 0.3)
    rng = np.random.default_rng(3)
    G = rng.normal(size=(3, 50))
    G = np.vstack((G, 2.0 * G[:1]))
    Z = scipy.linalg.null_space(G)
    want = exact(csr_matrix(Z.T @ K @ Z), csr_matrix(Z.T @ Kg @ Z))
    found = unsymmetric_buckling(K, Kg, csr_matrix(G), 3)
    assert found.factors == pytest.approx(want[:3], rel=1e-7)
    assert np.abs(G @ found.vectors).max() < 1e-10
    assert found.residuals.max() < 1e-8


@pytest.mark.parametrize("dense", [1000, 10], ids=["dense", "recurrence"])
def test_complex_factors_are_counted_not_given(monkeypatch, dense):
    monkeypatch.setattr(divergence, "DENSE", dense)
    K = csr_matrix(np.diag(np.arange(1.0, 31.0)))
    Kg = -np.eye(30)
    Kg[0:2, 0:2] = [[-1.0, 3.0], [-3.0, -1.0]]
    found = unsymmetric_buckling(K, csr_matrix(Kg), csr_matrix((0, 30)), 2)
    assert found.factors == pytest.approx([3.0, 4.0])
    assert found.complex == 2


def test_a_state_that_has_diverged_and_a_loose_model():
    K, Kg = column(20, 0.3)
    f = exact(K, Kg)[0]
    with pytest.raises(AnalysisError, match="unstable already"):
        unsymmetric_buckling(K + 1.2 * f * Kg, Kg, csr_matrix((0, 20)), 2)
    with pytest.raises(AnalysisError, match="loose"):
        unsymmetric_buckling(0.0 * K, Kg, csr_matrix((0, 20)), 2)
    with pytest.raises(ValueError, match="sign must be one of"):
        unsymmetric_buckling(K, Kg, csr_matrix((0, 20)), 2, "up")
