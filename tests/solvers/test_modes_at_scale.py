"""Modes, buckling factors and modal quantities of parts, by all ways through the libraries, against dense solutions."""

from __future__ import annotations

import importlib.util
import time

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import block_diag, csr_matrix, diags, hstack, identity, vstack
from scipy.sparse.linalg import LinearOperator, eigsh

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import modes as modes_module
from fem_mbs.solvers.eigen.block_lanczos import BlockLanczos
from fem_mbs.solvers.eigen.buckling import linear_buckling
from fem_mbs.solvers.eigen.modal_quantities import mac, participation, rigid_body_motions
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear import factors as F
from fem_mbs.solvers.linear import libraries
from fem_mbs.solvers.linear.constraint_equations import eliminate
from fem_mbs.solvers.linear.libraries import cholmod_status, one_blas_thread
from fem_mbs.solvers.linear.solver import make_solver


@pytest.fixture(scope="module")
def solids(checkout):
    spec = importlib.util.spec_from_file_location("solids", checkout / "benchmarks" / "solids.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bar(solids):
    """K, M of a cantilever of 540 dofs, and all its eigenvalues."""
    K, M = solids.cantilever(10, 1)
    return K, M, scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)


@pytest.fixture(params=["cholmod", "ldl", "superlu"])
def way(request, monkeypatch):
    """L L^T and SuperLU in the order of METIS; simplicial L D L^T; SuperLU alone."""
    if request.param == "superlu":
        monkeypatch.setattr(F, "has_cholmod", lambda: False)
    elif not cholmod_status()[0]:
        pytest.skip("scikit-sparse is not installed")
    elif request.param == "ldl":
        monkeypatch.setattr(F, "MOST_LU", 0)
    return request.param


def test_box_is_a_solid(solids):
    """No force under rigid motions, a state of constant strain in balance inside, mass and inertia of a box."""
    size = np.array([0.5, 0.3, 0.2])
    K, M, x = solids.box(3, 2, 2, size, E=3.0, nu=0.25, rho=2.0)
    dof = np.arange(3 * len(x)).reshape(-1, 3)
    R = rigid_body_motions(x, dof, 3 * len(x), size / 2)
    assert np.abs(K @ R).max() < 1e-13
    mass = 2.0 * size.prod()
    inertia = mass / 12.0 * (np.sum(size**2) - size**2)
    found = R.T @ (M @ R)
    assert found == pytest.approx(np.diag([mass] * 3 + list(inertia)), abs=1e-14)
    strain = np.array([[1.0, 0.3, -0.2], [0.3, -0.5, 0.1], [-0.2, 0.1, 0.7]])
    u = (x @ strain).ravel()
    inside = np.repeat(np.all((x > 0.0) & (x < size), axis=1), 3)
    assert inside.any()
    assert np.abs((K @ u)[inside]).max() < 1e-13
    G, lame = 1.2, 1.2  # nu = 1/4
    energy = 0.5 * size.prod() * (lame * np.trace(strain) ** 2 + 2.0 * G * np.sum(strain**2))
    assert 0.5 * u @ K @ u == pytest.approx(energy, rel=1e-12)


def test_tetrahedra_have_positive_volumes(solids):
    x, nodes = solids.mesh(2, 2, 2)
    corners = x[nodes.reshape(-1, 10)[:, :4]]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(0.01)
    i, j = np.array([[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]]).T  # the order of C3D10
    edges = x[nodes.reshape(-1, 10)[:, 4:]]
    assert edges == pytest.approx(0.5 * (corners[:, i] + corners[:, j]), abs=1e-15)


# --- modes -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("check", ["none", "probe", "inertia"])
def test_lowest(way, bar, check):
    K, M, exact = bar
    found = real_modes(K, M, 12, check=check)
    assert found.values == pytest.approx(exact[:12], rel=1e-9)
    assert found.residuals.max() < 1e-9
    assert found.backward.max() < 1e-13
    assert found.rigid == 0
    assert found.expected == (12 if check == "inertia" else None)
    assert found.vectors.T @ (M @ found.vectors) == pytest.approx(np.eye(12), abs=1e-9)
    assert found.effort.factorisations == (2 if check == "inertia" else 1)
    assert found.effort.analyses <= (1 if way != "ldl" else 2)
    assert found.shifts == (0.0,)


def test_nearest(way, bar):
    K, M, exact = bar
    near = 0.5 * (exact[20] + exact[21])
    order = np.argsort(np.abs(exact - near))[:7]
    found = real_modes(K, M, 7, near=near, check="inertia")
    assert found.values == pytest.approx(np.sort(exact[order]), rel=1e-9)
    assert found.residuals.max() < 1e-9
    assert found.expected == 7


def test_nearest_to_an_eigenvalue(way, bar):
    K, M, exact = bar
    found = real_modes(K, M, 1, near=exact[5])
    assert found.values == pytest.approx([exact[5]], rel=1e-9)


@pytest.mark.parametrize("most", [60, 4], ids=["whole", "halved"])
def test_band(way, bar, monkeypatch, most):
    K, M, exact = bar
    monkeypatch.setattr(modes_module, "_MOST", most)
    monkeypatch.setattr(modes_module, "_LOW", most)
    a, b = 0.5 * (exact[4] + exact[5]), 0.5 * (exact[25] + exact[26])
    found = real_modes(K, M, band=(a, b))
    assert found.values == pytest.approx(exact[5:26], rel=1e-9)
    assert found.expected == 21
    assert found.residuals.max() < 1e-9
    assert found.vectors.T @ (M @ found.vectors) == pytest.approx(np.eye(21), abs=1e-8)


def test_a_band_above_zero_holds_no_rigid_motion(way):
    """Two free bars of unequal springs: one motion each without strain."""
    rng, n = np.random.default_rng(3), 280
    change = diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n))
    K = csr_matrix(block_diag([change.T @ diags(rng.uniform(0.1, 1.7, n - 1)) @ change for _ in range(2)]))
    exact = np.linalg.eigvalsh(K.toarray())
    for first in (2, 0):
        band = (0.5 * exact[2], 0.5 * (exact[7] + exact[8])) if first else (0.0, 0.5 * (exact[7] + exact[8]))
        found = real_modes(K, csr_matrix(identity(2 * n)), band=band)
        assert found.values == pytest.approx(exact[first:8], rel=1e-8, abs=1e-12)


def test_a_band_from_zero_holds_a_rigid_motion_that_rounding_has_moved(way):
    """A free bar whose diagonal lacks 8 units of the last place: its rigid motion lies below zero by this rounding."""
    n = 560
    change = diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n))
    K = csr_matrix(change.T @ change - 8.0 * 2.0**-51 * identity(n))
    exact = 4.0 * np.sin(np.arange(6) * np.pi / (2 * n)) ** 2
    found = real_modes(K, csr_matrix(identity(n)), band=(0.0, 0.5 * (exact[4] + exact[5])))
    assert found.rigid == 1
    assert found.expected == 5
    assert found.values == pytest.approx(exact[:5], rel=1e-7)


def test_band_between_eigenvalues_holds_both(bar):
    K, M, exact = bar
    found = real_modes(K, M, band=(exact[4] * (1 + 1e-12), exact[9] * (1 - 1e-12)))
    assert found.values[[0, -1]] == pytest.approx(exact[[4, 9]], rel=1e-9)
    assert found.expected == 6


def test_empty_band_and_full_band(bar):
    K, M, exact = bar
    found = real_modes(K, M, band=(exact[4] * 1.001, exact[5] * 0.999))
    assert found.values.size == 0
    assert found.vectors.shape == (540, 0)
    with pytest.raises(AnalysisError, match="26 lie in the band, more than 20"):
        real_modes(K, M, 20, band=(0.0, 0.5 * (exact[25] + exact[26])))


@pytest.mark.parametrize("numbering", ["by nodes", "own units"])
def test_free_part(way, solids, numbering):
    """Six rigid modes; where translations are not seen, since every dof has its unit, one factorisation is in vain."""
    K, M, _ = solids.box(10, 1, 1)
    if numbering == "own units":
        D = diags(np.random.default_rng(1).uniform(0.5, 2.0, K.shape[0]))
        K, M = D @ K @ D, D @ M @ D
    exact = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    found = real_modes(K, M, 12)
    assert found.rigid == 6
    assert np.array_equal(found.values[:6], np.zeros(6))
    assert found.values[6:] == pytest.approx(exact[6:12], rel=1e-8)
    assert found.residuals.max() < 1e-8
    assert len(found.shifts) <= 2
    assert max(found.shifts) < 0.0
    found = real_modes(K, M, band=(0.0, 0.5 * (exact[11] + exact[12])))
    assert found.rigid == 6
    assert found.values.size == found.expected == 12


def test_free_part_that_passes_for_held(solids, monkeypatch):
    """Round-off may leave positive pivots; the modes then tell."""
    K, M, _ = solids.box(10, 1, 1)
    monkeypatch.setattr(F, "WEAK", 0.0)
    lifted = K + 1e-15 * diags(K.diagonal())  # sure to have positive pivots
    found = real_modes(lifted, M, 12, free=False)
    assert found.shifts[0] == 0.0
    assert found.shifts[-1] < 0.0
    assert found.rigid == 6
    assert found.residuals.max() < 1e-8


def test_slender_free_part(solids):
    """A bar 300 times as long as thick: its lowest value is 1e-11 of a typical one, the first shift far away."""
    K, M, _ = solids.box(300, 1, 1, (30.0, 0.1, 0.1))
    found = real_modes(K, M, 12)
    assert found.rigid == 6
    # bending: (4.73, 7.853, 10.996)^2/L^2 sqrt(E I/rho A)
    exact = np.array([4.730041, 7.853205, 10.995608]) ** 2 / 900.0 * np.sqrt(2.1e11 / 7850.0 / 1200.0)
    assert np.sqrt(found.values[6:]) == pytest.approx(np.repeat(exact, 2), rel=5e-3)
    assert found.effort.solves < 1500


def test_three_free_parts_of_one_kind(solids):
    """18 rigid modes, and elastic ones three by three, no copy missed."""
    K, M, _ = solids.box(10, 1, 1)
    exact = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)[6:9]
    K, M = block_diag([K] * 3).tocsr(), block_diag([M] * 3).tocsr()
    found = real_modes(K, M, 27, check="inertia")
    assert found.rigid == 18
    assert found.expected == 27
    assert found.values[18:] == pytest.approx(np.repeat(exact, 3), rel=1e-8)


def forgetful(monkeypatch, times, mode, M, for_good=False):
    """Make the first ``times`` iterations blind to a mode (n,), ``for_good`` or until random vectors look for more."""
    made = []

    class Forgetful(BlockLanczos):
        def __init__(self, apply, inner, draw, most, block):
            made.append(self)
            self.blind = len(made) <= times
            super().__init__(lambda *a: self.shown(apply(*a)), inner, lambda k: self.shown(draw(k)), most, block)

        def shown(self, X):
            return X - np.outer(mode, (M @ mode) @ X) if self.blind else X

        def widen(self, more):
            self.blind = self.blind and for_good
            super().widen(more)

    monkeypatch.setattr(modes_module, "BlockLanczos", Forgetful)
    return made


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_probe_measures_the_nearest_mode_that_is_not_known(shift):
    """Lanczos with as many steps as there are modes left finds the largest 1/|w^2 - s| exactly."""
    rng = np.random.default_rng(4)
    n = 12
    w2 = np.sort(rng.uniform(100.0, 900.0, n))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    m = rng.uniform(0.5, 2.0, n)
    K = csr_matrix(np.sqrt(m)[:, None] * (Q * w2) @ Q.T * np.sqrt(m))
    problem = modes_module._RealProblem(csr_matrix(0.5 * (K + K.T)), diags(m).tocsr())
    factors = problem._positive(shift)
    for known in (0, 1, 4):
        vectors = Q[:, :known] / np.sqrt(m)[:, None]
        assert problem._ritz(factors, vectors, n) == pytest.approx(1.0 / (w2[known] - shift), rel=1e-9)


def test_missed_mode_is_found_by_the_probe(monkeypatch, bar):
    K, M, exact = bar
    mode = real_modes(K, M, 8).vectors[:, 1]
    forgetful(monkeypatch, 1, mode, M)
    assert real_modes(K, M, 8, check="none").values == pytest.approx(np.delete(exact[:9], 1), rel=1e-9)
    made = forgetful(monkeypatch, 1, mode, M)
    assert real_modes(K, M, 8, check="probe").values == pytest.approx(exact[:8], rel=1e-9)
    assert len(made) == 1
    forgetful(monkeypatch, 1, mode, M)
    missed = real_modes(K, M, 8, check="inertia")
    assert missed.expected == 9
    assert missed.values == pytest.approx(np.delete(exact[:9], 1), rel=1e-9)


def test_missed_mode_of_a_band(monkeypatch, bar):
    K, M, exact = bar
    mode = real_modes(K, M, 8).vectors[:, 7]
    band = (0.5 * (exact[4] + exact[5]), 0.5 * (exact[12] + exact[13]))
    made = forgetful(monkeypatch, 1, mode, M, for_good=True)
    assert real_modes(K, M, band=band).values == pytest.approx(exact[5:13], rel=1e-9)
    assert len(made) == 2
    forgetful(monkeypatch, 99, mode, M, for_good=True)
    with pytest.raises(AnalysisError, match=r"8 lie between .* but only 7 were found"):
        real_modes(K, M, band=band)


def test_units_do_not_matter(bar):
    """Tonnes and millimetres; and one third of the dofs in units of their own."""
    K, M, exact = bar
    D = diags(np.tile([1.0, 1e7, 1e-6], K.shape[0] // 3))
    for a, b in ((1e-3 * K, 1e-3 * M), (D @ K @ D, D @ M @ D)):
        assert real_modes(a, b, 8, check="inertia").values == pytest.approx(exact[:8], rel=1e-7)


def test_massless_dofs(way, bar):
    """Half of the masses missing: modes of the condensed problem."""
    K, M, _ = bar
    keep = diags((np.arange(K.shape[0]) % 6 < 3).astype(float))
    M = keep @ M @ keep
    t = scipy.linalg.eigh(M.toarray(), K.toarray(), eigvals_only=True)[::-1]
    found = real_modes(K, M, 8, check="inertia")
    assert found.values == pytest.approx(1.0 / t[:8], rel=1e-8)
    assert found.expected == 8


def test_unstable_stiffness_has_negative_values(way, bar):
    K, M, exact = bar
    shift = 0.5 * (exact[2] + exact[3])
    found = real_modes(K - shift * M, M, 6)
    assert found.values == pytest.approx(exact[:6] - shift, rel=1e-8, abs=1e-8 * shift)
    band = real_modes(K - shift * M, M, band=(2.0 * (exact[0] - shift), 0.0))
    assert band.expected == band.values.size == 3
    # an unstable mode just below a band from zero is not of it
    close = K - exact[0] * (1.0 + 1e-3) * M
    band = real_modes(close, M, band=(0.0, 0.5 * (exact[5] + exact[6]) - exact[0]))
    assert band.expected == 5
    # small differences of numbers of the size of the stiffness: rounding of the matrix shows
    assert band.values == pytest.approx(
        exact[1:6] - exact[0] * (1.0 + 1e-3), rel=1e-7, abs=4.0 * np.finfo(float).eps * exact[-1]
    )


def test_free_chain_of_whole_numbers(way):
    """Its last pivot is exactly zero."""
    n = 400
    K = diags([np.full(n - 1, -1.0), np.r_[1.0, np.full(n - 2, 2.0), 1.0], np.full(n - 1, -1.0)], [-1, 0, 1])
    exact = 4.0 * np.sin(np.arange(6) * np.pi / (2 * n)) ** 2
    found = real_modes(K, identity(n), 6, free=False)
    assert found.rigid == 1
    assert found.values == pytest.approx(exact, rel=1e-9)
    assert real_modes(K, identity(n), band=(0.0, exact[5])).values == pytest.approx(exact, rel=1e-9)


def test_small_problems_are_dense(bar):
    K, M, _ = bar
    K, M = K[:60, :60], M[:60, :60]
    exact = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    assert real_modes(K, M, 5).values == pytest.approx(exact[:5], rel=1e-9)
    near = exact[30] * 1.001
    order = np.sort(np.argsort(np.abs(exact - near))[:3])
    assert real_modes(K, M, 3, near=near).values == pytest.approx(exact[order], rel=1e-9)
    assert real_modes(K, M, band=(exact[7] * 0.999, exact[9] * 1.001)).values == pytest.approx(exact[7:10], rel=1e-9)


def test_wrong_questions(bar):
    K, M, _ = bar
    with pytest.raises(ValueError, match="count of modes or for a band"):
        real_modes(K, M)
    with pytest.raises(ValueError, match="a < b"):
        real_modes(K, M, band=(2.0, 1.0))
    with pytest.raises(ValueError, match="check must be"):
        real_modes(K, M, 3, check="maybe")
    with pytest.raises(AnalysisError, match="nothing that can move has a mass"):
        real_modes(K, 0.0 * M, 3)


def test_indefinite_factors_count_and_refuse(way, bar):
    K, M, exact = bar
    pencil = F.Pencil(K, M)
    b = np.cos(np.arange(540.0))
    for k in (0, 3, 11, 40):
        s = 0.5 * (exact[k] + exact[k + 1])
        found = F.IndefiniteFactors(pencil, s)
        assert found.negative == k + 1
        x = found.solve(b)
        assert np.abs((K - s * M) @ x - b).max() < 1e-7
    with pytest.raises(libraries.NotPositiveDefinite):
        F.PositiveFactors(pencil, 0.5 * (exact[0] + exact[1]))
    singular = F.Pencil(csr_matrix([[2.0, 1.0], [1.0, 0.5]]))
    with pytest.raises(libraries.LinearSolveError):
        F.PositiveFactors(singular)


def test_earlier_factors_stay(way, bar):
    """Two factorisations share the analysis, not the numbers."""
    K, M, _ = bar
    pencil = F.Pencil(K, M)
    first, second = F.PositiveFactors(pencil), F.PositiveFactors(pencil, -1e9)
    B = np.random.default_rng(1).normal(size=(540, 3))
    assert K @ first.solve(B) == pytest.approx(B, abs=1e-7)
    assert (K + 1e9 * M) @ second.solve(B[:, 0]) == pytest.approx(B[:, 0], abs=1e-7)
    assert pencil.effort.analyses == (0 if way == "superlu" else 1)
    assert pencil.effort.solves == 4


def test_wide_indices_where_narrow_ones_are_too_few(bar, monkeypatch):
    """Factors of more than 2^31 entries need indices of 64 bits; CHOLMOD says so after its analysis."""
    if not cholmod_status()[0]:
        pytest.skip("scikit-sparse is not installed")
    widths = []
    analysed = F.Pencil.analysed

    def narrow_fails(self, A, supernodal):
        widths.append(A.indices.dtype)
        if A.indices.dtype == np.int32:
            raise libraries.TooLarge("too many entries")
        return analysed(self, A, supernodal)

    monkeypatch.setattr(F.Pencil, "analysed", narrow_fails)
    K, M, exact = bar
    assert real_modes(K, M, 5, check="inertia").values == pytest.approx(exact[:5], rel=1e-9)
    assert widths == [np.int32, np.int64, np.int64]


class Factor05:
    """The interface of scikit-sparse 0.5 as its sources give it, on 0.4."""

    def __init__(self, A, *, lower=True, order=None, supernodal_mode=None):
        from sksparse.cholmod import analyze

        assert lower
        assert order in ("metis", "default")  # its own default is to take the unknowns as they come
        self.inner = analyze(A, mode=supernodal_mode, ordering_method=order, use_long=A.indices.dtype == np.int64)

    def copy(self):
        other = object.__new__(Factor05)
        other.inner = self.inner.copy()
        return other

    def get_perm(self):
        return self.inner.P()

    def factorize(self, A, ldl=None):
        assert isinstance(ldl, bool)
        self.inner.cholesky_inplace(A)
        pivots = np.abs(self.inner.D())
        self.rcond = pivots.min() / pivots.max()
        return self

    def get_factor(self, kind):
        assert kind == "LDL"
        return None, diags(self.inner.D())

    def solve(self, b):
        return self.inner.solve_A(b)


@pytest.mark.parametrize("most", [0, 10**6], ids=["ldl", "lu"])
def test_other_interface_of_scikit_sparse(bar, monkeypatch, most):
    cholmod = pytest.importorskip("sksparse.cholmod")
    if not hasattr(cholmod, "analyze"):
        pytest.skip("0.5 itself is installed")
    monkeypatch.setattr(cholmod, "CholeskyFactor", Factor05, raising=False)
    monkeypatch.setattr(libraries, "_load_cholmod", lambda: (libraries._Cholmod05, "0.5"))
    monkeypatch.setattr(F, "MOST_LU", most)
    K, M, exact = bar
    found = real_modes(K, M, 8, check="inertia")
    assert found.values == pytest.approx(exact[:8], rel=1e-9)
    assert found.expected == 8
    with pytest.raises(libraries.NotPositiveDefinite):
        F.PositiveFactors(F.Pencil(K, M), 2.0 * exact[0])
    A = K.tocsc().sorted_indices()
    solver = make_solver(A.shape[0], A.indptr, A.indices, prefer="cholmod")
    solver.factor(A.data)
    x = np.cos(np.arange(A.shape[0]))
    assert np.abs(A @ solver.solve(A @ x) - A @ x).max() < 1e-10 * np.abs(A @ x).max()
    assert solver.counts.cholmod == 1


# --- buckling --------------------------------------------------------------------------------------------------------
def column(n, tension=0.0):
    """Bending and geometric stiffness of a pinned column of n beams, EI = L = 1, under a unit compression.

    Factors: k^2 pi^2 but for the error of the mesh."""
    h = 1.0 / n
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h], [-12, -6 * h, 12, -6 * h],
                  [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3  # fmt: skip
    g = np.array([[36, 3 * h, -36, 3 * h], [3 * h, 4 * h * h, -3 * h, -h * h], [-36, -3 * h, 36, -3 * h],
                  [3 * h, -h * h, -3 * h, 4 * h * h]]) / (30.0 * h)  # fmt: skip
    dof = 2 * np.arange(n)[:, None] + np.arange(4)
    rows, cols = np.repeat(dof, 4, axis=1).ravel(), np.tile(dof, (1, 4)).ravel()
    K, G = (csr_matrix((np.tile(e.ravel(), n), (rows, cols)), shape=(2 * n + 2,) * 2) for e in (k, g))
    keep = np.setdiff1d(np.arange(2 * n + 2), (0, 2 * n))
    return K[keep][:, keep].tocsr(), -G[keep][:, keep].tocsr()


def test_euler_loads(way):
    K, Kg = column(200)
    found = linear_buckling(K, Kg, 4, check=True)
    assert found.factors == pytest.approx(np.pi**2 * np.array([1.0, 4.0, 9.0, 16.0]), rel=1e-6)
    assert found.residuals.max() < 1e-6
    assert found.expected == 4
    assert found.effort.factorisations == 3  # one to iterate, two to count
    assert linear_buckling(K, -Kg, 2, sign="negative").factors == pytest.approx(
        -(np.pi**2) * np.array([1.0, 4.0]), rel=1e-6
    )


def test_preload_is_added_or_taken_off(way):
    K, Kg = column(200)
    found = linear_buckling(K, Kg, 2, preload=5.0 * Kg)
    assert found.factors == pytest.approx(np.pi**2 * np.array([1.0, 4.0]) - 5.0, rel=1e-6)
    with pytest.raises(AnalysisError, match="unstable already under its preload"):
        linear_buckling(K, Kg, 2, preload=12.0 * Kg)
    with pytest.raises(AnalysisError, match="the part is loose"):
        linear_buckling(K - 12.0 * identity(K.shape[0]) * abs(K).max(), Kg, 2)


def test_both_signs(way):
    """Two columns, one in compression, one with 0.4 of the load in tension."""
    K, Kg = column(200)
    K2, Kg2 = block_diag((K, K)).tocsr(), block_diag((Kg, -0.4 * Kg)).tocsr()
    exact = np.pi**2 * np.array([1.0, -2.5, 4.0, 9.0, -10.0])
    found = linear_buckling(K2, Kg2, 5, check=True)
    assert found.factors == pytest.approx(exact, rel=1e-5)
    assert found.expected == 5
    for sign, expected in (("positive", exact[[0, 2, 3]]), ("negative", exact[[1, 4]])):
        found = linear_buckling(K2, Kg2, len(expected), sign=sign, check=True)
        assert found.factors == pytest.approx(expected, rel=1e-5)
        assert found.expected == len(expected)


def test_small_column_and_no_load():
    K, Kg = column(10)
    assert linear_buckling(K, Kg, 1, check=True).factors == pytest.approx([np.pi**2], rel=1e-4)
    assert linear_buckling(K, Kg, 3, sign="negative", check=True).expected == 0
    assert linear_buckling(K, 0.0 * Kg, 3).factors.size == 0
    with pytest.raises(ValueError, match="sign must be"):
        linear_buckling(K, Kg, 1, sign="up")


# --- modal quantities ------------------------------------------------------------------------------------------------
def test_effective_masses_sum_to_the_whole(solids):
    K, M, x = solids.box(4, 1, 1)
    n = K.shape[0]
    keep = np.flatnonzero(np.repeat(x[:, 0] > 0.0, 3))
    dof = np.full(n, -1)
    dof[keep] = np.arange(keep.size)
    K, M = K[keep][:, keep], M[keep][:, keep]
    point = np.array([0.0, 0.05, 0.05])
    R = rigid_body_motions(x, dof.reshape(-1, 3), keep.size, point)
    vectors = scipy.linalg.eigh(K.toarray(), M.toarray())[1] * 3.0  # any normalisation
    found = participation(M, vectors, R)
    assert found.modal == pytest.approx(np.full(keep.size, 9.0), rel=1e-9)
    assert found.effective.sum(axis=0) == pytest.approx(found.total, rel=1e-9)
    assert found.sum_of_shares[-1] == pytest.approx(np.ones(6), rel=1e-9)
    # the first two bending modes of a cantilever carry .613 and .188 of the mass (Bernoulli), less the clamped nodes'
    lateral = found.effective[:2, 1:3].sum(axis=0) / (7850.0 * 0.01)
    assert lateral == pytest.approx([0.613, 0.613], abs=0.02)
    assert found.factors[:, 0] * 3.0 == pytest.approx(vectors.T @ (M @ R[:, 0]) / 3.0, abs=1e-12)


def test_rigid_body_motions_with_rotations():
    dof = np.array([[0, 1, 2, 3, 4, 5], [6, -1, 7, -1, 8, -1]])
    R = rigid_body_motions([[0, 0, 0], [2.0, 0, 0]], dof, 9, (1.0, 0.0, 0.0))
    assert R[:3, 5].tolist() == [0.0, -1.0, 0.0]  # about z through x = 1
    assert R[[6, 7, 8], 4].tolist() == [0.0, -1.0, 1.0]  # about y
    assert R[5, 5] == 1.0
    with pytest.raises(ValueError, match="dofs must be"):
        rigid_body_motions([[0, 0, 0]], [[0, 1, 3]], 3)
    for places, numbers in (([[0, 0]], [[0, 1, 2]]), ([0, 0, 0], [[0, 1, 2]]), ([[0, 0, 0]], [[0, 1]])):
        with pytest.raises(ValueError, match="places must have shape"):
            rigid_body_motions(places, numbers, 3)


def test_mac():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 3))
    W = np.diag(rng.uniform(1.0, 2.0, 20))
    assert np.diag(mac(A, -2.0 * A)) == pytest.approx(np.ones(3))
    assert np.diag(mac(A, (1.0 + 2.0j) * A)) == pytest.approx(np.ones(3))
    B = scipy.linalg.qr(A, mode="economic")[0]
    assert mac(B, B) == pytest.approx(np.eye(3), abs=1e-14)
    expected = (A[:, 0] @ W @ B[:, 1]) ** 2 / (A[:, 0] @ W @ A[:, 0] * (B[:, 1] @ W @ B[:, 1]))
    assert mac(A, B, W)[0, 1] == pytest.approx(expected)
    with pytest.raises(ValueError, match="zero size"):
        mac(A, 0.0 * B)
    with pytest.raises(ValueError, match="Shapes"):
        mac(A, B[:4])
    with pytest.raises(ValueError, match="moves no mass"):
        participation(0.0 * W, A, B)


# --- at scale --------------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_twenty_modes_of_a_solid_bar(solids):
    """Little more than the bare calls of the library, at 36 300 dofs; the same values; a coarser mesh nearby, above."""
    sksparse = pytest.importorskip("sksparse.cholmod")
    if not hasattr(sksparse, "analyze"):
        pytest.skip("the bare calls are those of scikit-sparse 0.4")
    K, M = solids.cantilever(50, 5)
    start = time.process_time()
    found = real_modes(K, M, 20)
    ours = time.process_time() - start
    with one_blas_thread():
        start = time.process_time()
        bare = sksparse.analyze(K, mode="supernodal", ordering_method="metis")
        bare.cholesky_inplace(K)
        inverse = LinearOperator(K.shape, matvec=bare.solve_A, dtype=float)
        values = np.sort(eigsh(K, 20, M, sigma=0.0, OPinv=inverse)[0])
        theirs = time.process_time() - start
    assert found.effort.factorisations == found.effort.analyses == 1
    assert found.values == pytest.approx(values, rel=1e-8)
    assert found.residuals.max() < 1e-7
    coarse = real_modes(*solids.cantilever(40, 4), 20)
    assert found.values == pytest.approx(coarse.values, rel=0.01)
    assert np.all(found.values < coarse.values)
    assert ours < 1.8 * theirs, f"{ours:.1f} s, bare {theirs:.1f} s"  # 1.1 to 1.2 measured; the machine may be busy


def test_rigid_end_by_elimination_equals_multipliers(solids):
    """A bar whose free face follows six dofs of their own, with a heavy mass on them."""
    K, M, x = solids.box(8, 1, 1)
    n = K.shape[0]
    point = np.array([1.0, 0.05, 0.05])
    face = np.flatnonzero(x[:, 0] == 1.0)
    R = rigid_body_motions(x, np.arange(n).reshape(-1, 3), n, point)
    rows = (3 * face[:, None] + np.arange(3)).ravel()
    A = hstack((identity(n, format="csr")[rows], csr_matrix(-R[rows])))
    K, M = block_diag((K, csr_matrix((6, 6)))), block_diag((M, diags([50.0] * 3 + [2.0] * 3)))
    held = np.flatnonzero(np.repeat(x[:, 0] == 0.0, 3))
    found = eliminate(A, preferred=rows, held=held)
    k, m = found.reduce(K), found.reduce(M)
    assert k.shape[0] > 300
    ours = real_modes(k, m, 10, check="inertia")
    G = vstack((A, identity(n + 6, format="csr")[held]))
    theirs = real_modes(K, M, 10, G=G)
    assert ours.values == pytest.approx(theirs.values, rel=1e-7)
    assert ours.expected == 10
    shapes = found.T @ ours.vectors
    assert np.diag(mac(shapes, theirs.vectors, csr_matrix(M)))[:1] == pytest.approx(1.0)
    assert np.abs(A @ shapes).max() < 1e-13 * np.abs(shapes).max()
