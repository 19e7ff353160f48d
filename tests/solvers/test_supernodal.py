"""Factors by supernodes, matrices in the frames of parts that turn, and Broyden's update."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_array, coo_array, csc_array, tril
from scipy.spatial.transform import Rotation

from fem_mbs.solvers.linear.broyden import Broyden
from fem_mbs.solvers.linear.frames import NodeFrames
from fem_mbs.solvers.linear.libraries import NotPositiveDefinite, cholmod_status
from fem_mbs.solvers.linear.solver import make_solver
from fem_mbs.solvers.linear.supernodal import LEAST, MOST_MULTIPLIERS, SupernodalFactors, serves

needs_cholmod = pytest.mark.skipif(not cholmod_status()[0], reason=cholmod_status()[1])


def lattice(nodes: int, dofs: int = 3, reach: int = 4, seed: int = 0) -> csc_array:
    """A positive definite matrix whose nodes are coupled with ``reach`` neighbours on either side, blocks full."""
    rng = np.random.default_rng(seed)
    elements = nodes - reach
    B = rng.normal(size=(elements, (reach + 1) * dofs, (reach + 1) * dofs))
    local = dofs * np.arange(elements)[:, None] + np.arange((reach + 1) * dofs)
    rows, cols = (np.broadcast_to(a, B.shape).ravel() for a in (local[:, :, None], local[:, None, :]))
    n = nodes * dofs
    K = csc_array(coo_array(((B @ B.transpose(0, 2, 1)).ravel(), (rows, cols)), shape=(n, n)))
    K.sum_duplicates()
    K.sort_indices()
    return K


def constrained(nodes: int, m: int, seed: int = 0) -> tuple[csc_array, np.ndarray]:
    """[[K, G^T], [G, -D]] with unknowns in a random order, and the mask of the multipliers."""
    rng = np.random.default_rng(seed)
    K = lattice(nodes, seed=seed)
    n = K.shape[0]
    G = np.zeros((m, n))
    for j, i in enumerate(rng.choice(n - 8, size=m, replace=False)):
        G[j, [i, i + 3, i + 7]] = rng.normal(size=3)
    A = block_array([[K, csc_array(G.T)], [csc_array(G), -1e-9 * csc_array(np.eye(m))]]).tocsc()
    order = rng.permutation(n + m)
    A = csc_array(A[order][:, order])
    A.sort_indices()
    return A, (np.arange(n + m) >= n)[order]


def factors(A: csc_array, mask: np.ndarray) -> SupernodalFactors:
    S = csc_array(tril(A))
    S.sort_indices()
    made = SupernodalFactors(S.indices, S.indptr, mask)
    made.factor(S.data)
    return made


@needs_cholmod
@pytest.mark.parametrize("m", [0, 1, 20])
def test_solution_is_that_of_the_matrix(m):
    A, mask = constrained(200, m) if m else (lattice(200), np.zeros(600, bool))
    x = np.random.default_rng(3).normal(size=A.shape[0])
    np.testing.assert_allclose(factors(A, mask).solve(A @ x), x, atol=1e-8)


@needs_cholmod
def test_indefinite_matrices_and_dependent_constraints_are_refused():
    K = lattice(100, reach=24)  # (with fewer entries, L D L^T serves, which indefinite matrices have, too)
    K.data[K.indptr[7] + np.searchsorted(K.indices[K.indptr[7] : K.indptr[8]], 7)] = -1.0
    with pytest.raises(NotPositiveDefinite):
        factors(K, np.zeros(300, bool))
    K, G = lattice(100), np.zeros((2, 300))
    G[:, 5] = 1.0, 2.0
    A = csc_array(block_array([[K, csc_array(G.T)], [csc_array(G), 1e-9 * csc_array(np.eye(2))]]))
    with pytest.raises(NotPositiveDefinite):
        factors(A, np.arange(302) >= 300)


@needs_cholmod
@pytest.mark.parametrize("m", [0, 12, MOST_MULTIPLIERS + 1])
def test_the_solver_of_a_step_loop_is_exact_with_both_kinds_of_factors(m):
    A, mask = constrained(600, m) if m else (lattice(600), np.zeros(1800, bool))
    assert serves(A.shape[0], m) == (m <= MOST_MULTIPLIERS)
    B = A.copy()
    B.data = B.data * (1.0 + 0.02 * np.random.default_rng(1).uniform(-1.0, 1.0, len(B.data)))
    solver = make_solver(A.shape[0], A.indptr, A.indices, mask, "cholmod")
    solver.factor(B.data)
    x = np.random.default_rng(2).normal(size=A.shape[0])
    np.testing.assert_allclose(solver.solve(B @ x), x, atol=1e-9)
    assert solver.counts.superlu == 0


@needs_cholmod
def test_an_indefinite_matrix_is_solved_all_the_same():
    K = lattice(600)
    assert K.shape[0] >= LEAST
    shifted = csc_array(K - 3.0 * csc_array(np.eye(K.shape[0])))
    shifted.sort_indices()
    solver = make_solver(K.shape[0], shifted.indptr, shifted.indices, None, "cholmod")
    solver.factor(shifted.data)
    x = np.cos(np.arange(K.shape[0]))
    np.testing.assert_allclose(solver.solve(shifted @ x), x, atol=1e-7)


# --- frames ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dim", [2, 3])
def test_matrix_in_the_frames_of_its_parts(dim):
    """T_m^T A T_1 against the dense product: two parts, axes in any order, a node that is partly held."""
    rng = np.random.default_rng(5)
    A = lattice(9, dim, 3)
    nodes = dim * np.arange(9)[:, None] + np.array([rng.permutation(dim) for _ in range(9)])
    part = np.array([0] * 4 + [1] * 5)
    nodes[2, 0] = -1  # this node keeps its axes
    turns = rng.normal(size=(4, 3))
    turns[:, : 3 if dim == 2 else 0] = np.where(np.arange(3) < 2, 0.0, turns)[:, : 3 if dim == 2 else 0]
    left, right = Rotation.from_rotvec(turns).as_matrix()[:, :dim, :dim].reshape(2, 2, dim, dim)
    frames = NodeFrames(nodes, part, A.indptr, A.indices)
    assert frames.count == 8
    T = [np.eye(9 * dim), np.eye(9 * dim)]
    for k, R in enumerate((left, right)):
        for a in np.flatnonzero(nodes.min(axis=1) >= 0):
            T[k][np.ix_(nodes[a], nodes[a])] = R[part[a]]
    turned = A.copy()
    frames.matrix(turned.data, left, right)
    np.testing.assert_allclose(turned.toarray(), T[0].T @ A.toarray() @ T[1], atol=1e-12)
    b = rng.normal(size=9 * dim)
    np.testing.assert_allclose(frames.into(b, left), T[0].T @ b, atol=1e-14)
    np.testing.assert_allclose(frames.back(b, right), T[1] @ b, atol=1e-14)


def test_nodes_without_a_common_pattern_keep_their_axes():
    A = lattice(6).toarray()
    A[0, 12] = A[12, 0] = 0.0  # node 0, in x, has another pattern than in y and z; so has node 4
    A = csc_array(A)
    nodes = 3 * np.arange(6)[:, None] + np.arange(3)
    assert NodeFrames(nodes, np.zeros(6, int), A.indptr, A.indices).count == 4


# --- Broyden ---------------------------------------------------------------------------------------------------------
def iterations(update: bool) -> int:
    """Count the iterations for a linear system with an approximate inverse whose error is .3, in few directions."""
    rng = np.random.default_rng(4)
    a = np.linalg.qr(rng.normal(size=(60, 3)))[0]
    E = a @ np.diag((1.0, -0.7, 0.5)) @ a.T
    A = np.eye(60) + 0.3 * E / np.linalg.norm(E, 2)
    b, x, broyden = rng.normal(size=60), np.zeros(60), Broyden()
    scale = 10.0 ** rng.uniform(-1.0, 1.0, 60)
    for count in range(1, 100):
        z = b - A @ x
        x = x + (broyden.step(z, scale) if update else z)
        if np.abs(b - A @ x).max() < 1e-13:
            return count
    raise AssertionError("no convergence")


def test_broyden_takes_fewer_iterations():
    assert iterations(True) <= 8 < 20 < iterations(False)


def test_broyden_is_exact_in_one_dimension():
    """The secant method: of a linear equation it finds the solution after two steps."""
    broyden, x = Broyden(), np.zeros(1)
    for _ in range(2):
        x = x + broyden.step(1.0 - 1.4 * x, np.ones(1))
    np.testing.assert_allclose(1.4 * x, 1.0, rtol=1e-15)
