"""Quadratic pencils with known eigenvalues for the tests of complex modes, and what their pairs must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp


def beam(n, length=1.0, EI=1.0, m=1.0):
    """Stiffness, mass and mass per rotation about the first end (2n + 2,) of n Hermite beam elements, free."""
    h = length / n
    ke = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2]])
    ke = EI / h**3 * np.vstack((ke, [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]))
    me = [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2]]
    me = m * h / 420 * np.array([*me, [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]])
    rows = (2 * np.arange(n)[:, None, None] + np.arange(4)[:, None]).repeat(4, axis=2)
    at = (rows.ravel(), rows.transpose(0, 2, 1).ravel())
    K, M = (sp.csr_matrix((np.tile(e.ravel(), n), at), shape=(2 * n + 2,) * 2) for e in (ke, me))
    return K, M, M @ rigid(n, length)[:, 1]


def rigid(n, length=1.0):
    """Translation and rotation (2n + 2, 2)."""
    x = np.linspace(0.0, length, n + 1)
    return np.column_stack((np.tile([1.0, 0.0], n + 1), np.column_stack((x, np.ones(n + 1))).ravel()))


def shaft(n, speed, pinned=True):
    """M, C, K, G of a shaft of n elements in two planes, seen from the frame that rotates with it (EI = m = L = 1)."""
    K, M, _ = beam(n)
    N = 2 * n + 2
    G = sp.csr_matrix((np.ones(4), (np.arange(4), [0, N - 2, N, 2 * N - 2])), shape=(4, 2 * N))
    C = sp.bmat([[None, -2.0 * speed * M], [2.0 * speed * M, None]])
    M2, K2 = sp.block_diag((M, M)), sp.block_diag((K - speed**2 * M,) * 2)
    return tuple(sp.csr_matrix(a) for a in (M2, C, K2)) + (G if pinned else None,)


def random_problem(kind, n=70, m=0, redundant=0, seed=1):
    """Dense M, C, K, G; ``kind`` names what is in it."""
    rng = np.random.default_rng(seed)
    A, B, D = rng.normal(size=(3, n, n))
    K = A @ A.T / n + np.diag(np.linspace(1.0, 1e4, n))
    M, C = np.diag(rng.uniform(0.5, 2.0, n)), np.zeros((n, n))
    if "gyro" in kind:
        C += 3.0 * (B - B.T) / np.sqrt(n)
    if "damped" in kind:
        C += (6.0 if "over" in kind else 0.3) * D @ D.T / n
    if "follower" in kind:
        K += 2.0 * (D - D.T) / np.sqrt(n)
    if "unsymmetric" in kind:
        K, C, M = K + B, C + D, M + 0.1 * A / np.sqrt(n)
    if "singular" in kind:
        M[: n // 4] = M[:, : n // 4] = 0.0
    G = rng.normal(size=(m, n))
    return M, C, K, np.vstack((G, 2.0 * G[:redundant]))


def spectrum(M, C, K, G=None):
    """All finite eigenvalues by QZ on the null space of G."""
    M, C, K = (a.toarray() if sp.issparse(a) else np.asarray(a) for a in (M, C, K))
    if G is not None and G.shape[0]:
        Z = scipy.linalg.null_space(G.toarray() if sp.issparse(G) else G)
        M, C, K = (Z.T @ a @ Z for a in (M, C, K))
    one, none = np.eye(len(K)), np.zeros_like(K)
    a, b = scipy.linalg.eig(
        np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]]), right=False, homogeneous_eigvals=True
    )
    finite = np.abs(b) > 1e-13 * np.abs(a)
    p = a[finite] / b[finite]
    return p[np.abs(p) < 1e6]


def agree(found, exact, rel):
    """Each exact value is found, one for one."""
    found = list(found)
    for p in exact:
        at = int(np.argmin(np.abs(np.array(found) - p)))
        assert abs(found.pop(at) - p) <= rel * max(abs(p), 1e-300)


def check_pairs(modes, M, C, K, G=None, rel=1e-8):
    """Residuals of right and left vectors computed anew, constraints, normalisation and conjugates."""
    M, C, K = (sp.csr_matrix(a) for a in (M, C, K))
    n = K.shape[0]
    G = sp.csr_matrix((0, n)) if G is None else sp.csr_matrix(G)
    Z = scipy.linalg.null_space(G.toarray()) if G.shape[0] else np.eye(n)
    for i in range(modes.rigid, modes.values.size):
        p, x, w, y = modes.values[i], modes.right[:, i], modes.left[:, i], modes.multipliers[:, i]
        terms = [p**2 * (M @ x), p * (C @ x), K @ x, G.T @ y]
        assert np.linalg.norm(sum(terms)) <= rel * sum(np.linalg.norm(t) for t in terms)
        terms = [p**2 * (M.T @ w.conj()), p * (C.T @ w.conj()), K.T @ w.conj()]
        assert np.linalg.norm(Z.T @ sum(terms)) <= rel * sum(np.linalg.norm(t) for t in terms)
        assert max(np.abs(G @ x).max(initial=0.0), np.abs(G @ w).max(initial=0.0) / np.abs(w).max()) < 1e-10
        assert np.abs(x).max() == pytest.approx(1.0)
        assert w.conj() @ (2.0 * p * (M @ x) + C @ x) == pytest.approx(1.0, rel=1e-9)
    complex_ones = modes.values[modes.values.imag != 0.0]
    assert np.array_equal(complex_ones[1::2], complex_ones[::2].conj())
    assert (complex_ones[::2].imag > 0.0).all()
    assert modes.residuals.max() <= 1e-8
