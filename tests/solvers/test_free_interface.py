"""Component modes with free interfaces: against dense algebra, for free, held and partly held components."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import block_diag, csr_matrix, diags

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.reduction.free_interface import InertiaRelief, free_interface


def frame(dimension: int, n: int = 14, held: tuple[int, ...] = ()) -> SimpleNamespace:
    """A bent row of n + 1 points, each linked to the next four by bars (and in space out of plane), so that nothing
    but rigid-body motions is free: K, M (N, N) without the ``held`` dofs, rigid-body motions (N, r)."""
    rng = np.random.default_rng(5)
    x = np.column_stack([np.arange(n + 1.0), *(rng.uniform(-0.8, 0.8, (dimension - 1, n + 1)))])
    N = dimension * (n + 1)
    K = np.zeros((N, N))
    for i in range(n + 1):
        for j in range(i + 1, min(i + 5, n + 1)):
            d = x[j] - x[i]
            a = np.zeros(N)
            a[dimension * i : dimension * (i + 1)], a[dimension * j : dimension * (j + 1)] = -d, d
            K += 3e4 / (d @ d) ** 1.5 * np.outer(a, a)
    m = rng.uniform(0.5, 2.0, N)
    M = np.diag(m)
    off = 0.2 * np.sqrt(m[:-dimension] * m[dimension:])
    M += np.diag(off, dimension) + np.diag(off, -dimension)
    R = [np.tile(e, n + 1) for e in np.eye(dimension)]
    for a in range(dimension):
        for b in range(a + 1, dimension):
            turn = np.zeros((n + 1, dimension))
            turn[:, a], turn[:, b] = -x[:, b], x[:, a]
            R.append(turn.ravel())
    keep = np.setdiff1d(np.arange(N), held)
    R = np.array(R).T
    if held:
        R = R @ scipy.linalg.null_space(R[list(held)])
    return SimpleNamespace(K=csr_matrix(K[np.ix_(keep, keep)]), M=csr_matrix(M[np.ix_(keep, keep)]), R=R[keep])


# dimension, dofs held, rigid-body modes left
CASES = [
    *((2, (0, 1, 5)[:k], 3 - k) for k in range(4)),
    *((3, (2, 7, 15, 23, 40, 44)[:k], 6 - k) for k in range(7)),
]


@pytest.mark.parametrize(("dimension", "held", "r"), CASES)
def test_against_all_modes(dimension, held, r):
    """Rigid-body modes, G_e and Psi are what the sums over all modes give (Hutton & Smith, H2)."""
    part = frame(dimension, held=held)
    n = part.K.shape[0]
    boundary = np.array([0, 3, n - 1])
    found = free_interface(part.K, part.M, boundary, count=7)
    w2, X = scipy.linalg.eigh(part.K.toarray(), part.M.toarray())
    assert found.rigid.shape == (n, r)
    assert found.supports.shape == (r,)
    assert found.rigid.T @ (part.M @ found.rigid) == pytest.approx(np.eye(r), abs=1e-12)
    assert np.abs(part.K @ found.rigid).max(initial=0.0) < 1e-11 * abs(part.K).max()
    # the same motions
    if r:
        assert np.linalg.matrix_rank(np.column_stack((found.rigid, part.R)), tol=1e-8) == r
    assert found.values == pytest.approx(w2[r : r + 7], rel=1e-9)
    assert found.next_value == pytest.approx(w2[r + 7], rel=1e-9)
    # all elastic modes, and those left out
    F = np.eye(n)[:, boundary]
    elastic = X[:, r:] @ (X[:, r:].T @ F / w2[r:, None])
    left_out = X[:, r + 7 :] @ (X[:, r + 7 :].T @ F / w2[r + 7 :, None])
    assert np.abs(found.relief(F) - elastic).max() < 1e-11 * np.abs(elastic).max()
    assert np.abs(found.attachments - left_out).max() < 1e-10 * np.abs(left_out).max()
    assert np.abs(found.flexibility - left_out[boundary]).max() < 1e-10 * np.abs(left_out).max()
    phi = found.shapes
    assert np.abs(phi.T @ (part.M @ phi) - np.eye(r + 7)).max() < 1e-10
    assert np.abs(phi.T @ (part.M @ found.attachments)).max() < 1e-10 * np.abs(found.attachments).max()


def test_elastic_flexibility_does_not_depend_on_the_supports():
    part = frame(3)
    F = np.random.default_rng(2).standard_normal((part.K.shape[0], 3))
    found = free_interface(part.K, part.M, F, count=4)
    # by hand: three points, as one holds a part statically determinate
    n = part.K.shape[0]
    held = np.array([0, 1, 2, 22, 23, n - 1])
    free = np.setdiff1d(np.arange(n), held)
    assert not np.array_equal(held, found.supports)
    P = np.eye(n) - (part.M @ found.rigid) @ found.rigid.T
    G = np.zeros((n, n))
    G[np.ix_(free, free)] = np.linalg.inv(part.K.toarray()[np.ix_(free, free)])
    Ge = P.T @ G @ P
    assert np.abs(found.relief(F) - Ge @ F).max() < 1e-9 * np.abs(Ge @ F).max()


def test_cutoff_is_complete_and_count_agrees():
    part = frame(3)
    w2 = scipy.linalg.eigh(part.K.toarray(), part.M.toarray(), eigvals_only=True)[6:]
    f = np.sqrt(w2) / (2.0 * np.pi)
    for k in (0, 3, 11):
        cut = 0.5 * (f[k] + f[k - 1]) if k else 0.5 * f[0]
        found = free_interface(part.K, part.M, np.array([0, 1]), cutoff=cut)
        assert found.frequencies == pytest.approx(f[:k], rel=1e-9)
        assert found.rigid.shape[1] == 6
        other = free_interface(part.K, part.M, np.array([0, 1]), count=k)
        assert np.abs(other.attachments - found.attachments).max() < 1e-10 * np.abs(found.attachments).max()


def test_beyond_six_rigid_body_modes():
    """Two parts that do not hang together, and a lump of mass: 3 + 3 + 2 rigid-body modes."""
    a, b = frame(2), frame(2, 9)
    K = block_diag((a.K, b.K, csr_matrix((2, 2))))
    M = block_diag((a.M, b.M, diags([4.0, 4.0])))
    found = free_interface(K, M, np.array([0, a.K.shape[0], K.shape[0] - 1]), count=5)
    w2 = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    assert found.rigid.shape[1] == 8
    assert found.values == pytest.approx(w2[8:13], rel=1e-9)
    # a force on the lump moves nothing elastic
    assert np.abs(found.attachments[:, 2]).max() < 1e-12 * np.abs(found.attachments).max()


def test_rigid_component():
    M = np.diag([2.0, 2.0, 0.5])
    M[1, 2] = M[2, 1] = 0.3
    found = free_interface(csr_matrix((3, 3)), csr_matrix(M), np.array([0, 1, 2]), count=4)
    assert found.rigid.shape == (3, 3) and found.values.size == 0
    assert np.abs(found.attachments).max() == 0.0
    assert found.next_value == np.inf


def test_block_solves_of_many_forces():
    """More right sides than one block, on a component large enough for Lanczos."""
    part = frame(3, 220)
    n = part.K.shape[0]
    boundary = np.arange(0, 150)
    found = free_interface(part.K, part.M, boundary, count=6)
    forces = np.eye(n)[:, boundary]
    x = found.relief(forces)
    balanced = forces - part.M @ (found.rigid @ (found.rigid.T @ forces))
    assert np.abs(part.K @ x - balanced).max() < 1e-14 * (abs(part.K) @ np.abs(x)).max()
    assert np.abs(found.rigid.T @ (part.M @ x)).max() < 1e-9 * np.abs(x).max()
    low = found.vectors @ (found.vectors.T @ forces / found.values[:, None])
    assert np.abs(found.attachments - (x - low)).max() < 1e-8 * np.abs(x).max()


@pytest.mark.parametrize(
    ("boundary", "options", "message"),
    [
        (np.array([0]), {}, "count of elastic modes or for a cut-off"),
        (np.array([0]), {"count": 1, "cutoff": 2.0}, "count of elastic modes or for a cut-off"),
        (np.array([0]), {"count": -1}, "must not be negative"),
        (np.array([0]), {"cutoff": 0.0}, "positive frequency"),
        (np.array([30]), {"count": 1}, r"0 \.\.\. 29"),
        (np.array([1, 1]), {"count": 1}, "each once"),
        (np.array([0.5]), {"count": 1}, "dofs"),
        (np.zeros((3, 1)), {"count": 1}, "30 rows"),
    ],
)
def test_wrong_calls(boundary, options, message):
    part = frame(2)
    with pytest.raises(ValueError, match=message):
        free_interface(part.K, part.M, boundary, **options)


def test_components_that_have_no_modes():
    part = frame(2)
    with pytest.raises(AnalysisError, match="nothing that can move has a mass"):
        free_interface(part.K, 0.0 * part.M, np.array([0]), count=2)
    loose = block_diag((part.K, csr_matrix((1, 1))))
    with pytest.raises(AnalysisError, match="massless"):
        free_interface(loose, block_diag((part.M, csr_matrix((1, 1)))), np.array([0]), count=2)
    pressed = part.K - 50.0 * diags(np.ones(30))
    with pytest.raises(AnalysisError, match="unstable"):
        free_interface(pressed, part.M, np.array([0]), count=2)


def test_motions_that_are_none():
    part = frame(2, held=(0, 1))
    with pytest.raises(AnalysisError, match="strains the component"):
        InertiaRelief(part.K, part.M, np.random.default_rng(1).standard_normal((28, 2)))
    with pytest.raises(AnalysisError, match="still singular"):
        InertiaRelief(part.K, part.M, np.zeros((28, 0)))
