"""Sparse direct solvers: accuracy, effort, singular matrices, and both ways of calling CHOLMOD."""

from __future__ import annotations

import logging
import re
import shlex
import sys
import tomllib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import block_array, block_diag, coo_array, csc_array, diags_array, eye_array

from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.solvers.linear import libraries
from fem_mbs.solvers.linear import solver as linear
from fem_mbs.solvers.linear.libraries import LinearSolveError, cholmod_status
from fem_mbs.solvers.linear.solver import SingularMatrixError, make_solver

AVAILABLE, STATUS = cholmod_status()
needs_cholmod = pytest.mark.skipif(not AVAILABLE, reason=STATUS)
SOLVERS = ["superlu", pytest.param("cholmod", marks=needs_cholmod)]


def canonical(A) -> csc_array:
    A = csc_array(A)
    A.sum_duplicates()
    A.sort_indices()
    return A


def chain(elements: int, seed: int = 0, dofs: int = 6) -> csc_array:
    """Positive definite matrix with the pattern of a chain of beams."""
    rng = np.random.default_rng(seed)
    n = dofs * (elements + 1)
    B = rng.normal(size=(elements, 2 * dofs, 2 * dofs))
    local = dofs * np.arange(elements)[:, None] + np.arange(2 * dofs)
    rows = np.broadcast_to(local[:, :, None], B.shape)
    cols = np.broadcast_to(local[:, None, :], B.shape)
    K = coo_array(((B @ B.transpose(0, 2, 1)).ravel(), (rows.ravel(), cols.ravel())), shape=(n, n))
    return canonical(K + 0.1 * coo_array((np.ones(n), (np.arange(n), np.arange(n)))))


def constrained(elements: int = 40, m: int = 30, seed: int = 0, units: float = 1.0) -> tuple[csc_array, np.ndarray]:
    """KKT matrix [[K, G^T], [G, 0]] of a chain, constraints in other units, unknowns in a random order; mask."""
    rng = np.random.default_rng(seed)
    K = chain(elements, seed)
    n = K.shape[0]
    G = np.zeros((m, n))
    first = rng.choice(n - 8, size=m, replace=False)
    for j, i in enumerate(first):
        G[j, [i, i + 3, i + 7]] = rng.normal(size=3)
    G *= units
    A = block_array([[K, G.T], [G, None]]).tocsc()
    order = rng.permutation(n + m)
    mask = np.arange(n + m) >= n
    return canonical(A[order][:, order]), mask[order]


def disturbed(A: csc_array, size: float, seed: int = 1) -> csc_array:
    """A with every nonzero changed by a relative amount up to ``size``: no longer symmetric."""
    B = A.copy()
    B.data = B.data * (1 + size * np.random.default_rng(seed).uniform(-1, 1, size=len(B.data)))
    return B


def solver_for(A: csc_array, mask=None, prefer="superlu"):
    return make_solver(A.shape[0], A.indptr, A.indices, mask, prefer)


def backward_error(A: csc_array, x: np.ndarray, b: np.ndarray, scale: np.ndarray | float = 1.0) -> float:
    """Norm-wise, of the system with rows and columns multiplied by ``scale``."""
    scale = np.broadcast_to(scale, x.shape)
    norm = ((abs(A) @ scale) * scale).max()
    return float(np.abs((A @ x - b) * scale).max() / (norm * np.abs(x / scale).max() + np.abs(b * scale).max()))


@pytest.mark.parametrize("prefer", SOLVERS)
@pytest.mark.parametrize("units", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("asymmetry", [0.0, 1e-6, 1e-3, 0.03, 0.1, 0.3])
def test_kkt_accuracy(prefer, units, asymmetry):
    A, mask = constrained(units=units)
    A = disturbed(A, asymmetry)
    solver = solver_for(A, mask, prefer)
    solver.factor(A.data)
    rng = np.random.default_rng(5)
    for _ in range(3):
        scale = np.where(mask, 1 / units, 1.0)  # in which all numbers are of order 1
        x = rng.normal(size=A.shape[0]) * scale
        b = A @ x
        y = solver.solve(b)
        assert backward_error(A, y, b, scale) < 5e-15
        assert np.abs((y - x) / scale).max() < 1e-11


@needs_cholmod
@pytest.mark.parametrize(
    ("asymmetry", "refinements", "krylov", "superlu"),
    # solves with the factors beyond the first, over 10 right-hand sides; with 30 % SuperLU takes over at once
    [(0.0, 40, 0, 0), (1e-6, 40, 0, 0), (1e-3, 80, 10, 0), (0.03, 80, 150, 0), (0.3, 20, 40, 1)],
)
def test_effort(asymmetry, refinements, krylov, superlu):
    A, mask = constrained(elements=100, m=60)
    A = disturbed(A, asymmetry)
    solver = solver_for(A, mask, "cholmod")
    solver.factor(A.data)
    for i in range(9):  # the first factorisation has solved once, to probe the matrix
        solver.solve(np.sin(np.arange(A.shape[0]) + i))
    c = solver.counts
    assert (c.cholmod, c.superlu, c.factorisations) == (1, superlu, 1 + superlu)
    assert c.solves == 9
    assert c.refinements <= refinements
    assert c.krylov <= krylov


@needs_cholmod
def test_loose_tolerance_saves_work():
    A, mask = constrained(elements=100, m=60)
    A = disturbed(A, 0.03)
    solver = solver_for(A, mask, "cholmod")
    solver.factor(A.data)
    b = np.sin(np.arange(A.shape[0]))
    work = []
    for tolerance in (2e-15, 1e-6):
        before = solver.counts.refinements + solver.counts.krylov
        x = solver.solve(b, tolerance)
        work.append(solver.counts.refinements + solver.counts.krylov - before)
        assert backward_error(A, x, b) < 5 * tolerance + 1e-14
    assert 2 * work[1] <= work[0]


@pytest.mark.parametrize("prefer", SOLVERS)
def test_one_analysis_per_pattern(prefer):
    A, mask = constrained()
    solver = solver_for(A, mask, prefer)
    b = np.ones(A.shape[0])
    for i in range(10):
        B = disturbed(A, 0.01, seed=i)
        solver.factor(B.data)
        assert backward_error(B, solver.solve(b), b) < 5e-14
    assert solver.counts.analyses == 1
    assert solver.counts.factorisations == 10
    assert getattr(solver.counts, prefer) == 10


@needs_cholmod
def test_superlu_keeps_the_job_for_a_while():
    """An indefinite K without factors in this order: CHOLMOD is tried again less and less often."""
    A, mask = constrained()
    bad = A.copy()
    bad.data[bad.indices == np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))] *= -1.0
    solver = solver_for(A, mask, "cholmod")
    for _ in range(40):
        solver.factor(bad.data)
    assert solver.counts.superlu == 40
    b = np.ones(A.shape[0])
    assert backward_error(bad, solver.solve(b), b) < 1e-13
    for _ in range(70):
        solver.factor(A.data)
    before = solver.counts.superlu
    for _ in range(5):
        solver.factor(A.data)
        solver.solve(b)
    assert solver.counts.superlu == before
    solver.reset()
    solver.factor(A.data)
    assert solver.counts.superlu == before


@pytest.mark.parametrize("prefer", SOLVERS)
@pytest.mark.parametrize("asymmetry", [0.0, 0.02, 0.3])
def test_reset_makes_it_as_new(prefer, asymmetry):
    """What a restarted run computes must equal the uninterrupted one, bit by bit."""
    A, mask = constrained(elements=60, m=40)
    matrices = [disturbed(A, asymmetry, seed=i).data for i in range(6)]
    b = np.cos(np.arange(A.shape[0]))
    used = solver_for(A, mask, prefer)
    for values in matrices:
        used.factor(values)
        used.solve(b)
    used.reset()
    fresh = solver_for(A, mask, prefer)
    for values in matrices:
        used.factor(values)
        fresh.factor(values)
        np.testing.assert_array_equal(used.solve(b), fresh.solve(b))


@pytest.mark.parametrize("prefer", SOLVERS)
def test_the_caller_may_reuse_the_arrays(prefer):
    A, mask = constrained()
    values = A.data.copy()
    solver = solver_for(A, mask, prefer)
    solver.factor(values)
    b = np.ones(A.shape[0])
    expected = solver.solve(b)
    kept = b.copy()
    values[:] = np.nan
    np.testing.assert_array_equal(solver.solve(b), expected)
    np.testing.assert_array_equal(b, kept)
    b[:] = 0.0
    assert not solver.solve(b).any()


@pytest.mark.parametrize("prefer", SOLVERS)
def test_large_models_use_one_thread_and_are_solved(prefer):
    A, mask = constrained(elements=400, m=200)
    assert A.shape[0] > linear.THREADS_MATTER
    A = disturbed(A, 0.01)
    solver = solver_for(A, mask, prefer)
    solver.factor(A.data)
    b = np.ones(A.shape[0])
    assert backward_error(A, solver.solve(b), b) < 5e-14


# --- singular matrices ------------------------------------------------------------------------------------------------
def free_chain(n: int = 20, stiffness: np.ndarray | float = 1.0) -> csc_array:
    """Springs in a row without a support: K of rank n - 1."""
    i, k = np.arange(n - 1), np.broadcast_to(stiffness, n - 1)
    rows, cols = np.concatenate([i, i + 1, i, i + 1]), np.concatenate([i, i + 1, i + 1, i])
    return canonical(coo_array((np.concatenate([k, k, -k, -k]), (rows, cols)), shape=(n, n)))


def zero_row():
    A = chain(5)
    A.data[A.indices == 7] = 0.0
    return A, None, [7], "row are zero"


def zero_column():
    A = chain(5)
    A.data[A.indptr[9] : A.indptr[10]] = 0.0
    return A, None, [9], "column are zero"


def mechanism():
    return free_chain(), None, range(20), "without any force"


def loose_part():
    """A well-supported chain beside a free one; only dofs of the free one may be named."""
    A = canonical(block_array([[chain(4), None], [None, free_chain()]]))
    return A, None, range(30, 50), "without any force"


def redundant():
    """The same constraint twice: multipliers 36 and 38."""
    K = chain(5)
    G = np.zeros((3, 36))
    G[0, [0, 3]] = 1.0, -1.0
    G[1, [7, 9]] = 1.0, 2.0
    G[2] = 2 * G[0]
    A = canonical(block_array([[K, G.T], [G, None]]))
    return A, np.arange(39) >= 36, [36, 38], "redundant"


def overconstrained():
    """More constraints than unknowns."""
    G = np.random.default_rng(0).normal(size=(5, 4))
    A = canonical(block_array([[np.eye(4), G.T], [G, None]]))
    return A, np.arange(9) >= 4, range(4, 9), "redundant"


def empty_constraint():
    K = chain(5)
    G = np.zeros((2, 36))
    G[0, 3] = 1.0
    A = block_array([[K, G.T], [G, np.eye(2)]]).tocsc()
    A = canonical(A)
    A.data[(A.indices >= 36) & (np.repeat(np.arange(38), np.diff(A.indptr)) >= 36)] = 0.0
    return A, np.arange(38) >= 36, [37], "are zero"


def not_a_number():
    A = chain(5)
    A.data[A.indptr[4]] = np.nan
    return A, None, [A.indices[A.indptr[4]]], "unknown 4 is nan"


def infinite():
    A = chain(5)
    A.data[-1] = np.inf
    return A, None, [35], "unknown 35 is inf"


def all_zero():
    A = chain(5)
    A.data[:] = 0.0
    return A, None, [0], r"zero \(and 35 more\)"


@pytest.mark.parametrize("prefer", SOLVERS)
@pytest.mark.parametrize(
    "case",
    [
        zero_row,
        zero_column,
        mechanism,
        loose_part,
        redundant,
        overconstrained,
        empty_constraint,
        not_a_number,
        infinite,
        all_zero,
    ],
)
def test_singular(prefer, case):
    A, mask, where, reason = case()
    solver = solver_for(A, mask, prefer)
    with pytest.raises(SingularMatrixError, match=reason) as caught:
        solver.factor(A.data)
    assert isinstance(caught.value, AnalysisError)
    assert caught.value.index in where
    assert f"equation {caught.value.index}:" in str(caught.value)
    with pytest.raises(RuntimeError, match="before factor"):
        solver.solve(np.ones(A.shape[0]))


@pytest.mark.parametrize("prefer", SOLVERS)
def test_becoming_singular_on_the_way(prefer):
    """Only the first matrix is examined closely; later ones must not give nonsense silently."""
    A = free_chain()
    values = A.data.copy()
    values[0] += 1.0  # held at the first node
    solver = solver_for(A, None, prefer)
    b = np.arange(20.0)
    for _ in range(3):
        solver.factor(values)
        solver.solve(b)

    def again():
        solver.factor(A.data)
        return solver.solve(b)

    with pytest.raises(SingularMatrixError):
        again()
    solver.factor(values)
    assert backward_error(csc_array((values, A.indices, A.indptr)), solver.solve(b), b) < 1e-14


@pytest.mark.parametrize("prefer", SOLVERS)
def test_singular_k_with_a_regular_kkt_matrix(prefer):
    """A mechanism that its constraints hold: K alone has no inverse, the whole has."""
    K = free_chain()
    G = np.zeros((1, 20))
    G[0, 10] = 1.0
    A = canonical(block_array([[K, G.T], [G, None]]))
    solver = solver_for(A, np.arange(21) >= 20, prefer)
    solver.factor(A.data)
    b = np.sin(np.arange(21.0))
    assert backward_error(A, solver.solve(b), b) < 1e-14


@pytest.mark.parametrize("prefer", SOLVERS)
def test_massless_node_held_by_constraints(prefer):
    """A zero diagonal that is not a multiplier's."""
    A = canonical(np.array([[2.0, -1, 0, 0], [-1, 2, 0, 1], [0, 0, 0, -1], [0, 1, -1, 0]]))
    solver = solver_for(A, np.array([False, False, False, True]), prefer)
    solver.factor(A.data)
    b = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(solver.solve(b), np.linalg.solve(A.toarray(), b), rtol=1e-13)


@pytest.mark.parametrize("prefer", SOLVERS)
@pytest.mark.parametrize("n", [100, 3000])
def test_ill_conditioned_is_not_singular(prefer, n):
    """Springs in a row held at one end: condition about n^2 times the spread of stiffness."""
    stiffness = np.geomspace(1.0, 1e3, n - 1)
    A = free_chain(n, stiffness)
    A.data[0] += 1.0
    solver = solver_for(A, None, prefer)
    solver.factor(A.data)
    b = np.zeros(n)
    b[-1] = 1.0
    expected = 1.0 + np.concatenate([[0.0], np.cumsum(1 / stiffness)])
    np.testing.assert_allclose(solver.solve(b), expected, rtol=1e-8)


@pytest.mark.parametrize("prefer", SOLVERS)
@example(2432, 5, 3.0, True)  # multipliers with entries of their own: scales by the stiffness hid an error of 1e-8
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.0, 1e-3, 0.3, 3.0]), st.booleans())
def test_any_small_matrix(prefer, seed, n, asymmetry, with_multipliers):
    """Any pattern and any values: solved to round-off, or refused where the matrix is singular to some digits."""
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5)
    S = D + D.T + asymmetry * D * rng.normal(size=(n, n))
    if seed % 2:
        S += np.diag(rng.uniform(0, 5, size=n))
    A = canonical(S)
    mask = rng.uniform(size=n) < 0.3 if with_multipliers else None
    solver = solver_for(A, mask, prefer)
    b = rng.normal(size=n)
    try:
        solver.factor(A.data)
        x = solver.solve(b)
    except SingularMatrixError as error:
        scale = 1 / np.sqrt(np.abs(S).max(axis=0) + 1e-300)
        assert 0 <= error.index < n
        assert np.linalg.cond(S * scale * scale[:, None]) > 1e9
    else:
        assert np.abs(S @ x - b).max() <= 1e-11 * (np.abs(S).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


# --- wrong calls ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("prefer", SOLVERS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_right_hand_side_not_finite(prefer, value):
    A = chain(3)
    solver = solver_for(A, None, prefer)
    solver.factor(A.data)
    b = np.ones(24)
    b[5] = value
    with pytest.raises(LinearSolveError, match="equation 5 is") as caught:
        solver.solve(b)
    assert caught.value.index == 5


@pytest.mark.parametrize(
    ("n", "indptr", "indices", "mask", "message"),
    [
        (0, [0], [], None, "at least one"),
        (2, [0, 1], [0], None, "indptr must have shape"),
        (2, [0, 1, 3], [0, 1], None, "run from 0 to 2"),
        (2, [0, 2, 1], [0], None, "must not decrease"),
        (2, [0, 1, 2], [0, 2], None, "indices must be in"),
        (2, [0, 1, 2], [-1, 1], None, "indices must be in"),
        (2, [0, 2, 3], [1, 0, 1], None, "ascend"),
        (2, [0, 2, 3], [0, 0, 1], None, "duplicates"),
        (2, [0, 1, 2], [0, 1], [True], "multipliers must have shape"),
    ],
)
def test_bad_pattern(n, indptr, indices, mask, message):
    with pytest.raises(ValueError, match=message):
        make_solver(n, np.array(indptr), np.array(indices, dtype=int), mask, "superlu")


def test_bad_shapes():
    A = chain(3)
    solver = solver_for(A)
    with pytest.raises(RuntimeError, match="before factor"):
        solver.solve(np.ones(24))
    with pytest.raises(ValueError, match="values must have shape"):
        solver.factor(A.data[:-1])
    solver.factor(A.data)
    with pytest.raises(ValueError, match="rhs must have shape"):
        solver.solve(np.ones(23))


def test_unknown_solver():
    with pytest.raises(ModelError, match='"pardiso" is not known; choose "auto"'):
        solver_for(chain(2), prefer="pardiso")


# --- with and without scikit-sparse -----------------------------------------------------------------------------------
@pytest.fixture
def no_cholmod(monkeypatch):
    """As if scikit-sparse were not installed."""
    monkeypatch.setitem(sys.modules, "sksparse", None)
    libraries._load_cholmod.cache_clear()
    linear._notice.cache_clear()
    yield
    monkeypatch.undo()
    libraries._load_cholmod.cache_clear()
    linear._notice.cache_clear()


def test_without_cholmod_one_notice(no_cholmod, caplog):
    A = chain(3)
    with caplog.at_level(logging.WARNING, logger="fem_mbs"):
        solvers = [solver_for(A, prefer="auto") for _ in range(3)]
    assert {s.name for s in solvers} == {"superlu"}
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "fem-mbs[cholmod]" in caplog.text
    available, text = cholmod_status()
    assert not available
    assert "SuperLU is used" in text
    with pytest.raises(ModelError, match=re.escape(libraries.INSTALL_CHOLMOD)):
        solver_for(A, prefer="cholmod")


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("sksparse.cholmod", "scikit-sparse is not installed"),
        ("packaging", "scikit-sparse cannot be loaded (no packaging)"),
    ],
)
def test_what_is_missing_is_told(no_cholmod, monkeypatch, missing, reason):
    """scikit-sparse itself, or a module that it imports."""

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "sksparse":
                raise ModuleNotFoundError(f"no {missing}", name=missing)

    monkeypatch.delitem(sys.modules, "sksparse")
    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    available, text = cholmod_status()
    assert not available
    assert text.startswith(reason)


def test_the_remedy_for_a_missing_cholmod(checkout):
    """The message and the README give the same commands, with names and bounds that pyproject.toml allows."""
    commands = [shlex.split(c) for c in re.findall(r'pip install(?: "[^"]+")+', libraries.INSTALL_CHOLMOD)]
    assert [c[2:] for c in commands] == [["fem-mbs[cholmod]"], ["fem-mbs[cholmod]", "scikit-sparse<0.5"]]
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    assert all(shlex.join(c).replace("'", '"') in readme for c in commands)
    assert "older than 7.4" in libraries.INSTALL_CHOLMOD
    assert "older than 7.4" in readme
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    (extra,) = project["project"]["optional-dependencies"]["cholmod"]
    assert extra == "scikit-sparse>=0.4.14"  # so the bound leaves 0.4.14 to 0.4.16
    # the setup of a checkout decides by the same version of SuiteSparse
    setup = (checkout / ".ci" / "setup.sh").read_text(encoding="utf-8")
    assert "limit='<0.5'" in setup
    assert '"${sub:-0}" -ge 4' in setup


def test_asking_for_superlu_gives_no_notice(no_cholmod, caplog):
    with caplog.at_level(logging.DEBUG, logger="fem_mbs"):
        solver_for(chain(2), prefer="superlu")
    assert not caplog.records


@needs_cholmod
def test_cholmod_is_the_automatic_choice():
    assert solver_for(chain(2), prefer="auto").name == "cholmod"
    assert STATUS.startswith("CHOLMOD by scikit-sparse 0.")
    assert "BLAS" in STATUS


DEBIAN = "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/x86_64-linux-gnu/"


@pytest.mark.parametrize(
    ("mapped", "expected"),
    [
        (["blas/libblas.so.3.11.0"], "reference BLAS"),
        (["openblas-pthread/libblas.so.3", "openblas-pthread/libopenblasp-r0.3.21.so"], "BLAS: OpenBLAS"),
        (["openblas-pthread/libopenblasp-r0.3.21.so"], "BLAS: OpenBLAS"),
        (["atlas/libblas.so.3.10.3"], "BLAS: ATLAS"),
        # numpy's own OpenBLAS does not help CHOLMOD
        (["numpy.libs/libscipy_openblas64_-32a4.so", "blas/libblas.so.3.11.0"], "reference BLAS"),
        (["blas/libblas.so.3.11.0", "other/libopenblas.so.0"], "reference BLAS"),
        (["libm.so.6"], "BLAS not known"),
    ],
)
def test_blas_in_use(mapped, expected):
    maps = "".join(f"{DEBIAN}{name}\n" for name in mapped) + "7fff-7fff rw-p 00000000 00:00 0 [stack]\n"
    assert libraries._blas_text(maps).startswith(expected)


@needs_cholmod
@pytest.mark.parametrize("push", [0.0, -0.05, -10.0])
def test_unknowns_without_stiffness_that_constraints_hold(push):
    """A massless node follows two others and carries a load; ``push``: its stiffness over that of the others."""
    n = 40
    K = diags_array([-np.ones(n - 1), np.full(n, 2.5), -np.ones(n - 1)], offsets=[-1, 0, 1])
    K = block_diag((K, coo_array([[push]])))
    G = coo_array(([1.0, -0.5, -0.5], ([0, 0, 0], [n, 3, 17])), shape=(1, n + 1))
    A = csc_array(block_array([[K, G.T], [G, coo_array((1, 1))]]) + 0.0 * eye_array(n + 2))
    A.sort_indices()
    solver = solver_for(A, np.arange(n + 2) == n + 1, "cholmod")
    solver.factor(A.data)
    x = np.random.default_rng(3).normal(size=n + 2)
    assert np.abs(solver.solve(A @ x) - x).max() < 1e-12
    assert solver.counts.superlu == (1 if push == -10.0 else 0)
