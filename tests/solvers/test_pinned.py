"""Counts of negative eigenvalues by springs, against dense ones: held, free, missed, multiple, close, buckling."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import block_diag, csr_matrix

from fem_mbs.solvers.eigen import buckling as buckling_module
from fem_mbs.solvers.eigen import modes as modes_module
from fem_mbs.solvers.eigen.buckling import linear_buckling
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear.factors import IndefiniteFactors, Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import LinearSolveError, NotPositiveDefinite
from fem_mbs.solvers.linear.pinned import choose_pins, count_negative


@pytest.fixture(scope="module")
def solids(checkout):
    spec = importlib.util.spec_from_file_location("solids", checkout / "benchmarks" / "solids.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bar(solids):
    """K, M of a cantilever of 540 dofs, with all eigenvalues and M-orthonormal vectors."""
    K, M = solids.cantilever(10, 1)
    return K, M, *scipy.linalg.eigh(K.toarray(), M.toarray())


@pytest.fixture
def only_springs(monkeypatch):
    """Counts by L D L^T are errors."""

    def refused(*_a, **_k):
        raise AssertionError("counted by L D L^T")

    monkeypatch.setattr(modes_module._RealProblem, "_inertia", refused)
    factor = buckling_module.factor
    monkeypatch.setattr(
        buckling_module,
        "factor",
        lambda *a, kind, **k: refused() if kind == "symmetric" else factor(*a, kind=kind, **k),
    )


def springs(K, M, values, vectors, shift, known):
    """Pencil and springs below a shift, by the first ``known`` modes; factors at shift zero or a negative one."""
    pencil, below = Pencil(K, M), 0.0 if values[0] > 1.0 else -0.1 * values[6]
    factors = PositiveFactors(pencil, below)
    stiff = values[:known] - below
    return pencil, choose_pins(factors, vectors[:, :known] / np.sqrt(stiff), 1.0 - (shift - below) / stiff)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 30])
def test_counts_of_a_held_bar(bar, k):
    K, M, values, vectors = bar
    shift = 0.5 * values[0] if k == 0 else 0.5 * (values[k - 1] + values[k])
    pencil, pins = springs(K, M, values, vectors, shift, k + 20)
    assert count_negative(pencil, shift, pins) == k == (values < shift).sum()
    assert (pins.size == 0) == (k == 0 and values[0] - shift > 0.05 * values[0])


def test_counts_of_a_free_bar(solids):
    K, M, _ = solids.box(10, 1, 1)
    values, vectors = scipy.linalg.eigh(K.toarray(), M.toarray())
    values[:6] = 0.0
    for k in (6, 8, 13):
        shift = 0.5 * (values[k - 1] + values[k])
        pencil, pins = springs(K, M, values, vectors, shift, 40)
        assert count_negative(pencil, shift, pins) == k


def test_count_does_not_rest_on_the_modes_that_were_given(bar):
    """Modes that were missed are counted, or the part is not held by the springs: never a smaller number."""
    K, M, values, vectors = bar
    counted = 0
    for shift in 0.5 * (values[6:20] + values[7:21]):
        for missing in range(6):
            kept = np.delete(np.arange(30), missing)
            pencil, pins = springs(K, M, values[kept], vectors[:, kept], shift, 29)
            if pins is None:
                continue
            try:
                assert count_negative(pencil, shift, pins) == (values < shift).sum()
                counted += 1
            except NotPositiveDefinite:
                pass
    assert counted > 20  # of 84; springs that hold the other modes hold most of the missed ones as well


def test_copies_are_counted(bar):
    K, M, values, vectors = bar
    copies = block_diag([K] * 5).tocsr(), block_diag([M] * 5).tocsr()
    shift = 0.5 * (values[3] + values[4])
    many = np.repeat(values, 5)
    whole = np.kron(np.eye(5), vectors)
    order = np.argsort(np.tile(values, 5), kind="stable")
    pencil, pins = springs(*copies, many, whole[:, order], shift, 60)
    assert count_negative(pencil, shift, pins) == 20


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-8])
def test_shift_close_to_an_eigenvalue(bar, gap):
    K, M, values, vectors = bar
    for side in (-1.0, 1.0):
        shift = values[9] * (1.0 + side * gap)
        pencil, pins = springs(K, M, values, vectors, shift, 30)
        assert count_negative(pencil, shift, pins) == 9 + (side > 0.0)


def test_shift_at_an_eigenvalue_gives_no_count():
    """Whole numbers, so that nothing is rounded: 2 is an eigenvalue, 6 the other."""
    pencil, pins = Pencil(csr_matrix([[4.0, 2.0], [2.0, 4.0]]), csr_matrix(np.eye(2))), np.array([0])
    with pytest.raises(LinearSolveError, match="An eigenvalue lies at the shift 2"):
        count_negative(pencil, 2.0, pins)
    assert count_negative(pencil, 2.0 + 1e-9, pins) == 1
    assert count_negative(pencil, 2.0 - 1e-9, pins) == 0


def test_springs_that_do_not_hold(bar):
    K, M, values, _ = bar
    with pytest.raises(NotPositiveDefinite):
        count_negative(Pencil(K, M), values[30] * 1.01, np.array([0]))


@pytest.mark.parametrize("seed", range(8))
def test_random_matrices_with_any_springs(seed):
    """The count is that of dense eigenvalues for every set of springs that makes the matrix positive definite."""
    rng = np.random.default_rng(seed)
    n = 60
    A = rng.standard_normal((n, n))
    K = csr_matrix(A @ A.T + np.diag(rng.uniform(0.0, 5.0, n)))
    M = csr_matrix(np.diag(rng.uniform(0.5, 2.0, n)))
    values = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    for k in (1, 5, 12):
        shift = 0.5 * (values[k - 1] + values[k])
        pencil = Pencil(K, M)
        pins = np.sort(rng.permutation(n)[: rng.integers(40, n)])
        try:
            assert count_negative(pencil, shift, pins) == k
        except NotPositiveDefinite:
            scaled = pencil.at(shift).toarray() + np.diag(10.0 * np.isin(np.arange(n), pins))
            assert np.linalg.eigvalsh(scaled)[0] < 1e-12


@pytest.mark.usefixtures("only_springs")
def test_bands_and_checks_are_counted_by_springs(bar):
    K, M, values, _ = bar
    assert real_modes(K, M, 12, check="inertia").expected == 12
    middle = 0.5 * (values[:-1] + values[1:])
    for band, first, last in (
        ((0.0, middle[25]), 0, 26),
        ((middle[4], middle[25]), 5, 26),
        ((middle[3], middle[3] * 1.0001), 0, 0),
    ):
        found = real_modes(K, M, band=band)
        assert found.expected == found.values.size == last - first
        assert found.values == pytest.approx(values[first:last], rel=1e-9)
        assert found.effort.factorisations == 2


@pytest.mark.usefixtures("only_springs")
def test_free_bodies_and_thin_plates(solids):
    for size, cells in (((1.0, 0.1, 0.1), (10, 1, 1)), ((1.0, 0.7, 0.01), (7, 5, 1))):
        K, M, _ = solids.box(*cells, size)
        values = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
        found = real_modes(K, M, band=(0.0, 0.5 * (values[14] + values[15])))
        assert found.rigid == 6
        assert found.expected == found.values.size == 15
        assert found.values[6:] == pytest.approx(values[6:15], rel=1e-7)


@pytest.mark.parametrize("sign", ["both", "positive", "negative"])
def test_buckling_loads_are_counted(request, solids, sign):
    """Of both signs, since K_g is indefinite; those of tension lie so close that springs do not hold the part."""
    if sign != "negative":
        request.getfixturevalue("only_springs")
    K, _, Kg = solids.cantilever(10, 1, stress=np.diag([-1.0, 0.3, 0.0]))
    exact = 1.0 / scipy.linalg.eigh(-Kg.toarray(), K.toarray(), eigvals_only=True)
    exact = exact[np.isfinite(exact)]
    if sign != "both":
        exact = exact[(exact > 0.0) == (sign == "positive")]
    exact = exact[np.argsort(np.abs(exact))][:6]
    found = linear_buckling(K, Kg, 6, sign=sign, check=True)
    assert found.factors == pytest.approx(exact, rel=1e-7)
    assert found.expected == 6


def test_fallback_counts_the_same(bar, monkeypatch):
    """Where the springs do not hold the part, L D L^T counts."""
    K, M, values, _ = bar
    monkeypatch.setattr(modes_module, "choose_pins", lambda *_: np.array([3]))
    used = []
    inertia = modes_module._RealProblem._inertia
    monkeypatch.setattr(modes_module._RealProblem, "_inertia", lambda self, *a: (used.append(1), inertia(self, *a))[1])
    assert real_modes(K, M, 12, check="inertia").expected == 12
    monkeypatch.setattr(modes_module, "choose_pins", lambda *_: None)
    found = real_modes(K, M, band=(0.0, 0.5 * (values[8] + values[9])))
    assert found.expected == found.values.size == 9
    assert len(used) == 2


def test_count_is_that_of_l_d_l(bar):
    K, M, values, vectors = bar
    for shift in np.random.default_rng(4).uniform(values[2], values[50], 12):
        pencil, pins = springs(K, M, values, vectors, shift, 80)
        assert count_negative(pencil, shift, pins) == IndefiniteFactors(pencil, shift).negative
