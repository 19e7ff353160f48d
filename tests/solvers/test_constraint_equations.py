"""Constraint equations by elimination: against Lagrange multipliers, in chains, cycles and conflicts, and at scale."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, coo_matrix, csr_matrix, random, vstack

from fem_mbs.solvers.linear import constraint_equations
from fem_mbs.solvers.linear.constraint_equations import ConstraintConflict, eliminate


def stiffness(n, rng):
    A = rng.normal(size=(n, n))
    return A @ A.T / n + np.diag(np.linspace(1.0, 3.0, n))


def multiplier_solution(K, f, A, b, held, values):
    """u and lambda of K u + A^T lambda + H^T r = f, A u = b, u_held = values, by the pseudo-inverse (any rank)."""
    n = len(K)
    H = np.zeros((len(held), n))
    H[np.arange(len(held)), held] = 1.0
    G = np.vstack((A, H))
    saddle = np.block([[K, G.T], [G, np.zeros((len(G), len(G)))]])
    x = scipy.linalg.lstsq(saddle, np.concatenate((f, b, values)), cond=1e-12)[0]
    return x[:n]


def check(A, b, K, f, found, held=(), values=()):
    """u equal to that of multipliers, equations kept, forces in balance."""
    A = np.asarray(A)
    u = found.expand(np.linalg.solve(found.reduce(K).toarray(), found.reduce_force(f, K)))
    exact = multiplier_solution(K, f, A, b, np.asarray(held, dtype=int), np.asarray(values, dtype=float))
    size = np.abs(exact).max(initial=0.0) or 1.0
    assert np.abs(u - exact).max() < 1e-12 * size
    assert np.abs(A @ u - b).max(initial=0.0) < 1e-12 * max(size, np.abs(b).max(initial=0.0))
    r = f - K @ u
    balance = r - A.T @ found.multipliers(r) + found.reactions(r)
    assert np.abs(balance).max() < 1e-10 * np.abs(f).max()
    assert found.T[found.free].toarray() == pytest.approx(np.eye(found.free.size), abs=0.0)
    return u


@pytest.mark.parametrize("chosen", [True, False], ids=["preferred", "any"])
@pytest.mark.parametrize("seed", range(6))
def test_random_equations_equal_multipliers(seed, chosen):
    """Chains among 24 equations in 60 dofs, four dofs held, right sides and held values not zero."""
    rng = np.random.default_rng(seed)
    n, m = 60, 24
    dependent = rng.permutation(n)[:m]
    A = np.zeros((m, n))
    for i in range(m):
        # three others, dependent ones of later equations among them
        others = rng.choice(np.setdiff1d(np.arange(n), dependent[: i + 1]), 3, replace=False)
        A[i, others] = rng.uniform(-1.0, 1.0, 3)
        A[i, dependent[i]] = rng.choice((-1.0, 1.0)) * rng.uniform(0.7, 1.5)
    order = rng.permutation(m)
    A, dependent = A[order], dependent[order]
    b = rng.normal(size=m)
    held = np.setdiff1d(np.arange(n), dependent)[:4]
    values = rng.normal(size=4)
    found = eliminate(csr_matrix(A), b, dependent if chosen else None, held, values)
    if chosen:
        assert sorted(found.dependent) == sorted(dependent)
        assert (dependent[found.equations] == found.dependent).all()
    assert found.T.shape == (n, n - m - 4)
    assert not found.redundant
    check(A, b, stiffness(n, rng), rng.normal(size=n), found, held, values)


@pytest.mark.parametrize("seed", range(4))
def test_full_equations_and_multiples_of_them(seed):
    """Dense equations without preferred dofs, some of them sums of others."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 20))
    mix = rng.normal(size=(3, 9))
    A, b = np.vstack((A, mix @ A)), rng.normal(size=9)
    b = np.concatenate((b, mix @ b))
    order = rng.permutation(12)
    found = eliminate(csr_matrix(A[order]), b[order])
    assert len(found.redundant) == 3
    assert found.free.size == 11
    check(A[order], b[order], stiffness(20, rng), rng.normal(size=20), found)
    b[2] += 1e-3
    with pytest.raises(ConstraintConflict) as conflict:
        eliminate(csr_matrix(A[order]), b[order])
    assert np.flatnonzero(order == 2)[0] in conflict.value.equations


def test_mass_goes_the_same_way_and_frequencies_agree():
    rng = np.random.default_rng(5)
    A = np.zeros((3, 12))
    A[0, [0, 1, 2]] = 1.0, -0.5, -0.5
    A[1, [3, 0]] = 1.0, -2.0
    A[2, [4, 3, 7]] = 1.0, -1.0, 0.25
    found = eliminate(csr_matrix(A), preferred=[0, 3, 4])
    K, M = stiffness(12, rng), stiffness(12, rng)
    Z = scipy.linalg.null_space(A)
    exact = scipy.linalg.eigh(Z.T @ K @ Z, Z.T @ M @ Z, eigvals_only=True)
    ours = scipy.linalg.eigh(found.reduce(K).toarray(), found.reduce(M).toarray(), eigvals_only=True)
    assert ours == pytest.approx(exact, rel=1e-12)
    reduced = found.reduce(K).toarray()
    assert (
        np.array_equal(found.T.toarray().T @ K @ found.T.toarray(), reduced)
        or np.abs(reduced - reduced.T).max() < 1e-15
    )


def test_rotation_of_axes_changes_nothing():
    """The same machine in turned axes: node 1 is the mean of nodes 0 and 2, node 3 keeps its distances to node 0."""
    rng = np.random.default_rng(2)
    n = 15
    A = np.zeros((4, n))
    for c in range(3):
        A[c, [3 + c, c, 6 + c]] = 1.0, -0.5, -0.5
    e = np.array([0.3, -0.8, 0.5])
    A[3, 9:12], A[3, 0:3] = e, -e
    b = np.array([0.0, 0.0, 0.0, 0.01])
    K, f = stiffness(n, rng), rng.normal(size=n)
    R = scipy.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn = scipy.linalg.block_diag(*[R] * 5)
    u = check(A, b, K, f, eliminate(csr_matrix(A), b))
    turned = eliminate(csr_matrix(A @ turn.T), b)
    v = check(A @ turn.T, b, turn @ K @ turn.T, turn @ f, turned)
    assert turn.T @ v == pytest.approx(u, abs=1e-12)


def test_long_chain_goes_in_any_order():
    n = 3000
    order = np.random.default_rng(1).permutation(n - 1)
    rows = np.repeat(np.arange(n - 1), 2)
    cols = np.column_stack((order + 1, order)).ravel()
    A = coo_matrix((np.tile([1.0, -1.0], n - 1), (rows, cols)), shape=(n - 1, n)).tocsr()
    found = eliminate(A, np.full(n - 1, 0.5), order + 1)
    assert found.free.tolist() == [0]
    assert np.array_equal(found.T.toarray().ravel(), np.ones(n))
    assert found.u0 == pytest.approx(0.5 * np.arange(n), rel=1e-12)


def test_cycles_are_solved_and_told():
    A = np.array([[1.0, 0.5, 1.0, 0.0], [0.5, 1.0, 0.0, 1.0]])
    found = eliminate(csr_matrix(A), [1.0, 2.0], [0, 1])
    assert found.cycles == ((0, 1),)
    assert found.dependent.tolist() == [0, 1]
    rng = np.random.default_rng(1)
    check(A, np.array([1.0, 2.0]), stiffness(4, rng), rng.normal(size=4), found)


@pytest.mark.parametrize("n", [3, 500], ids=["short", "long"])
def test_ring_repeats_itself(n):
    """u_0 = u_1 = ... = u_0: the last one follows; with a gap it contradicts."""
    i = np.arange(n)
    A = coo_matrix(
        (np.tile([1.0, -1.0], n), (np.repeat(i, 2), np.column_stack((i, (i + 1) % n)).ravel())), shape=(n, n)
    )
    found = eliminate(A, preferred=i)
    assert found.cycles == (tuple(range(n)),)
    assert len(found.redundant) == 1
    assert len(found.redundant[0].others) == n - 1
    assert np.array_equal(found.T.toarray().ravel(), np.ones(n))
    b = np.zeros(n)
    b[1] = 1e-6
    with pytest.raises(ConstraintConflict, match="contradict each other by 1e-06") as conflict:
        eliminate(A, b, preferred=i)
    assert conflict.value.equations == tuple(range(n))


def test_repeated_equation_is_dropped():
    A = csr_matrix([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [-2.0, 2.0, 0.0, 0.0]])
    found = eliminate(A, [0.1, 0.0, -0.2], [0, 2, 0])
    assert [(r.equation, r.others) for r in found.redundant] == [(2, (0,))]
    assert found.equations.tolist() == [0, 1]


def test_conflicts_name_equations_and_dofs():
    def conflict(*arguments, **options):
        with pytest.raises(ConstraintConflict) as raised:
            eliminate(*arguments, **options)
        return raised.value.equations, raised.value.dofs

    twice = csr_matrix([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0], [3.0, -3.0, 0.0]])
    assert conflict(twice, [0.0, 0.0, 0.1], [0, 2, 0]) == ((0, 2), (0, 1))
    assert conflict(twice, held=[0, 1], values=[0.0, 1e-3]) == ((0,), (0, 1))
    assert conflict(csr_matrix((1, 3)), [1.0]) == ((0,), ())


def test_other_dofs_where_the_preferred_one_cannot_be():
    A = csr_matrix([[0.0, 1.0, -1.0, 0.0], [1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, -1.0]])
    found = eliminate(A, preferred=[1, 0, 1])
    assert found.replaced.tolist() == [2]
    assert found.free.size == 1
    assert np.array_equal(found.T.toarray().ravel(), np.ones(4))
    found = eliminate(A, preferred=[1, 0, 3], held=[1], values=[2.0])
    assert found.replaced.tolist() == [0]
    assert found.u0 == pytest.approx(np.full(4, 2.0))
    # the first dof of all
    found = eliminate(csr_matrix([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]), preferred=[0, 0])
    assert found.replaced.tolist() == [1]
    # a dof that the equation does not contain
    found = eliminate(A, preferred=[3, 0, 1])
    assert found.replaced.tolist() == [0]
    assert found.free.size == 1


def test_equations_of_held_dofs_only():
    A = csr_matrix([[1.0, -2.0, 0.0]])
    found = eliminate(A, [0.0], held=[0, 1], values=[0.2, 0.1])
    assert [(r.equation, r.others) for r in found.redundant] == [(0, ())]
    assert found.free.tolist() == [2]


def test_nothing_to_eliminate():
    found = eliminate(csr_matrix((0, 3)), held=[1], values=[0.5])
    assert found.expand(np.array([1.0, 2.0])).tolist() == [1.0, 0.5, 2.0]
    with pytest.raises(ValueError, match="give the matrix"):
        found.reduce_force(np.ones(3))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"b": [0.0]}, "b must have shape"),
        ({"preferred": [0, 9]}, "preferred dofs"),
        ({"held": [1, 1]}, "each once"),
        ({"held": [3]}, "held dofs"),
        ({"b": [0.0, np.nan]}, "finite"),
    ],
)
def test_wrong_arguments(change, text):
    with pytest.raises(ValueError, match=text):
        eliminate(csr_matrix([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), **change)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(6, 18), st.booleans(), st.booleans())
def test_any_equations_span_the_null_space(seed, m, n, choose, substitute):
    """Small integers, so that dependencies abound: T spans the null space, or the right sides contradict."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, size=(m, n)) * (rng.random((m, n)) < 0.4)
    b = A @ rng.integers(-2, 3, size=n)
    preferred = rng.integers(-1, n, size=m) if choose else None
    with pytest.MonkeyPatch.context() as patch:
        if substitute:
            patch.setattr(constraint_equations, "_DENSE", 0)  # to the end, instead of Q R
        found = eliminate(csr_matrix(A), b, preferred)
    rank = np.linalg.matrix_rank(A)
    assert found.free.size == n - rank
    assert len(found.redundant) == m - rank
    assert found.dependent.size == rank
    T = found.T.toarray()
    size = max(np.abs(T).max(initial=1.0), 1.0)
    assert np.abs(A @ T).max(initial=0.0) < 1e-12 * size
    assert np.abs(A @ found.u0 - b).max() < 1e-11 * max(np.abs(found.u0).max(), 1.0)
    for r in found.redundant:  # indeed a combination of those named
        others = A[list(r.others)]
        assert np.linalg.matrix_rank(np.vstack((others, A[[r.equation]]))) == np.linalg.matrix_rank(others)


def rigid_bodies(bodies, nodes, rng):
    """Equations u_i = u_0 + theta x r_i for ``nodes`` nodes of each body, 6 dofs of its reference first."""
    r = rng.uniform(-1.0, 1.0, size=(bodies, nodes, 3))
    width = 6 + 3 * nodes
    row, col, data = [], [], []
    base = width * np.arange(bodies)[:, None]
    first = 3 * nodes * np.arange(bodies)[:, None] + 3 * np.arange(nodes)
    for c in range(3):
        d, e = (c + 1) % 3, (c + 2) % 3
        for dof, value in (
            (base + 6 + 3 * np.arange(nodes) + c, np.ones((bodies, nodes))),
            (base + c + 0 * first, -np.ones((bodies, nodes))),
            (base + 3 + d + 0 * first, -r[..., e]),
            (base + 3 + e + 0 * first, r[..., d]),
        ):
            row.append((first + c).ravel())
            col.append(dof.ravel())
            data.append(value.ravel())
    shape = (3 * nodes * bodies, width * bodies)
    A = coo_matrix((np.concatenate(data), (np.concatenate(row), np.concatenate(col))), shape=shape).tocsr()
    preferred = (base[:, :, None] + 6 + np.arange(3 * nodes)[None, None]).ravel()
    return A, preferred


@pytest.mark.parametrize("chosen", [True, False], ids=["preferred", "any"])
def test_hundred_thousand_equations(chosen):
    """Rigid bodies in rows of five, each tied to a node of the one before: chains; far below 2 s when idle."""
    rng = np.random.default_rng(3)
    bodies, nodes = 400, 84
    A, preferred = rigid_bodies(bodies, nodes, rng)
    width = 6 + 3 * nodes
    n = A.shape[1]
    behind = np.flatnonzero(np.arange(bodies) % 5)
    follow = behind[:, None] * width + np.arange(3)
    before = follow - width + 6 + 30
    rows = np.arange(follow.size)
    tie = coo_matrix(
        (np.repeat([1.0, -1.0], rows.size), (np.tile(rows, 2), np.concatenate((follow.ravel(), before.ravel())))),
        shape=(rows.size, n),
    )
    A = vstack((A, tie)).tocsr()
    preferred = np.concatenate((preferred, follow.ravel()))
    assert A.shape[0] > 1e5
    start = time.process_time()
    found = eliminate(A, preferred=preferred if chosen else None)
    spent = time.process_time() - start
    assert found.free.size == n - A.shape[0]
    assert abs(A @ found.T).max() < 1e-12 * abs(found.T).max()
    assert spent < 4.0, f"{spent:.2f} s"


def test_reduced_matrices_at_scale_keep_their_symmetry():
    rng = np.random.default_rng(4)
    K = block_diag([random(300, 300, density=0.02, random_state=rng, format="csr") for _ in range(20)]).tocsr()
    K = K + K.T
    A, preferred = rigid_bodies(10, 150, rng)
    A = csr_matrix((A.data, A.indices, A.indptr), (A.shape[0], K.shape[0]))  # and dofs without equations
    found = eliminate(A, preferred=preferred)
    reduced = found.reduce(K)
    direct = found.T.T @ K @ found.T
    assert abs(reduced - direct).max() < 1e-12 * abs(direct).max()
    assert abs(reduced - reduced.T).max() < 1e-12 * abs(direct).max()


@pytest.mark.parametrize("n", [24, 144, 1440])
def test_a_preferred_dof_that_others_nearly_cancel_is_replaced(n):
    """Mean displacement and turn of a ring of nodes: the last y less the first one leaves nothing of the turn."""
    a = 2.0 * np.pi * np.arange(n) / n
    A = np.zeros((3, 2 * n))
    A[0, 0::2] = A[1, 1::2] = 1.0
    A[2, 0::2], A[2, 1::2] = -np.sin(a), np.cos(a)
    found = eliminate(csr_matrix(A), preferred=np.array([0, 1, 2 * n - 1]))
    T = found.T.toarray()
    assert np.abs(A @ T).max() < 1e-12 * n
    assert np.abs(T).max() < 100.0
    assert found.replaced.size == (0 if n == 24 else 1)


def test_pivots_are_kept_whatever_the_units():
    """A cycle in metres and radians, and the same in millimetres, have the same dependent dofs."""
    A = np.array([[1.0, 2.0, 1.0, 0.0], [0.3, 1.0, 0.0, 1.0]])
    dependent = []
    for unit in (1.0, 1e3, 1e-6):
        scaled = A * np.array([1.0, unit, 1.0, 1.0])
        found = eliminate(csr_matrix(scaled), preferred=np.array([0, 1]))
        assert not found.replaced.size
        dependent.append(found.dependent.tolist())
    assert dependent == [[0, 1]] * 3
