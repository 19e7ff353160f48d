"""Solutions with unsymmetric matrices by the factors of their symmetric part, and complex modes of parts by them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from complex_problems import beam
from solid_meshes import grid

from fem_mbs import Model, solve
from fem_mbs.analysis.stability import linearisation
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.linear import positive_part, saddle_factors
from fem_mbs.solvers.linear.factors import WEAK
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, cholmod_status
from fem_mbs.solvers.linear.positive_part import PositivePart
from fem_mbs.solvers.linear.saddle_factors import SaddleFactors, SingularShift

pytestmark = pytest.mark.skipif(not cholmod_status()[0], reason="scikit-sparse is not installed")


def bar(n=400, gyroscopic=0.0, bearings=0.0, free=1e-8):
    """A chain of nodes of two directions: stiffness and a little of the mass, K + s^2 M; between the directions
    s 2 Omega M P, and circulatory forces at the two ends."""
    off = np.full(n - 1, -1.0)
    chain = sp.diags([off, np.r_[1.0, np.full(n - 2, 2.0), 1.0] + free, off], [-1, 0, 1])
    ends = sp.diags(np.r_[1.0, np.zeros(n - 2), 1.0])
    across = gyroscopic * free * sp.identity(n) + bearings * ends
    return sp.csc_matrix(sp.bmat([[chain + 0.1 * ends, -across], [across, chain + 0.1 * ends]]))


def right_sides(n, count):
    return np.random.default_rng(4).standard_normal((n, count))


@pytest.mark.parametrize("transposed", [False, True], ids=["matrix", "transpose"])
@pytest.mark.parametrize("count", [1, 5, 70])
def test_solutions_of_many_columns(transposed, count):
    N = bar(gyroscopic=3e3, bearings=0.05)
    factors, b = PositivePart(N), right_sides(N.shape[0], count)
    x = factors.solve(b, transposed)
    A = N.T if transposed else N
    assert np.abs(A @ x - b).max() <= 1e-12 * np.abs(x).max()
    exact = np.linalg.solve(A.toarray(), b)
    assert np.abs(x - exact).max() <= 1e-9 * np.abs(exact).max()


def test_few_applications_of_the_factors(monkeypatch):
    """A space of the slow vectors instead of many corrections."""
    N = bar(gyroscopic=3e2, bearings=0.05)
    b = right_sides(N.shape[0], 30)
    used = []
    for powers in (positive_part._POWERS, 0):
        monkeypatch.setattr(positive_part, "_POWERS", powers)
        factors = PositivePart(N)
        factors._space  # noqa: B018  its own applications apart
        before = factors.applications
        x = factors.solve(b, False)
        assert np.abs(N @ x - b).max() <= 1e-12 * np.abs(x).max()
        used.append((factors.applications - before) / b.shape[1])
        assert factors.corrections == factors.applications - before - b.shape[1]
    assert used[0] <= 3.5
    assert used[1] > 2.0 * used[0]


def test_rough_solutions_take_fewer():
    N = bar(gyroscopic=3e3, bearings=0.2)
    b, used = right_sides(N.shape[0], 30), []
    for aim in (1e-15, 1e-8):
        factors = PositivePart(N)
        x = factors.solve(b, False, aim)
        assert np.abs(N @ x - b).max() <= aim * (factors.size * np.abs(x).max() + np.abs(b).max()) + 1e-13
        used.append(factors.corrections)
    assert used[1] < used[0]


def test_forces_at_few_nodes_are_exact():
    """Bearings alone: their four vectors are the whole space, and a solution takes one application but for rounding."""
    N = bar(bearings=0.3)
    factors = PositivePart(N)
    V, inverse = factors._space
    assert V.shape[1] == 4
    product = V.T @ (N @ V)
    assert 0.5 * (product + product.T) == pytest.approx(np.eye(4), abs=1e-10)
    assert inverse @ product == pytest.approx(np.eye(4), abs=1e-12)
    b = right_sides(N.shape[0], 3)
    x = factors._both_levels(b, True)
    assert np.abs(N.T @ x - b).max() <= 1e-9 * np.abs(b).max()


def test_symmetric_matrices_need_no_space():
    N = bar()
    factors = PositivePart(N)
    b = right_sides(N.shape[0], 2)
    x = factors.solve(b, False)
    assert np.abs(N @ x - b).max() <= 1e-12 * np.abs(x).max()
    assert factors._space[0].shape[1] == 0
    assert factors.applications <= 6


def test_skew_parts_larger_than_the_symmetric_one():
    """All vectors are slow, and more than the space holds: GMRES goes on."""
    rng = np.random.default_rng(3)
    n = 300
    B = sp.random(n, n, 0.02, random_state=rng, data_rvs=rng.standard_normal)
    N = sp.csc_matrix(sp.diags(np.linspace(1.0, 4.0, n)) + 2.0 * (B - B.T))
    factors, b = PositivePart(N), right_sides(n, 3)
    for transposed, A in ((False, N), (True, N.T)):
        x = factors.solve(b, transposed)
        assert np.abs(A @ x - b).max() <= 1e-12 * np.abs(b).max()
    assert factors.corrections > 10 * 6


def test_where_corrections_do_not_converge_superlu_takes_over(monkeypatch):
    rng = np.random.default_rng(3)
    n = 300
    B = sp.random(n, n, 0.02, random_state=rng, data_rvs=rng.standard_normal)
    N = sp.csc_matrix(sp.diags(np.linspace(1.0, 4.0, n)) + 2.0 * (B - B.T))
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    monkeypatch.setattr(saddle_factors, "_UNSYMMETRIC", 1)
    monkeypatch.setattr(positive_part, "_KRYLOV", 2)
    effort = Effort()
    factors, b = SaddleFactors(N, sp.csr_matrix((0, n)), effort), right_sides(n, 3)
    assert factors.positive is not None
    x = factors.solve(b)[0]
    assert np.abs(N @ x - b).max() <= 1e-12 * np.abs(b).max()
    assert factors.positive is None
    assert effort.factorisations == 2


def test_indefinite_symmetric_parts_are_refused():
    N = bar(bearings=0.1) - 1e-3 * sp.identity(800)
    with pytest.raises(LinearSolveError, match="not positive definite"):
        PositivePart(sp.csc_matrix(N))


@pytest.mark.parametrize(("free", "singular"), [(2e-15, True), (1e-11, False)])
def test_pivots_of_rounding_may_be_positive(monkeypatch, free, singular):
    """A chain that nothing holds but for rounding has positive pivots; its inverse tells."""
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    off, n = np.full(399, -1.0), 400
    chain = sp.csc_matrix(sp.diags([off, np.r_[1.0, np.full(n - 2, 2.0), 1.0] + free, off], [-1, 0, 1]))
    assert PositivePart(chain).factors.weakest > WEAK
    if singular:
        with pytest.raises(SingularShift):
            SaddleFactors(chain, sp.csr_matrix((0, n)), Effort())
    else:
        factors, b = SaddleFactors(chain, sp.csr_matrix((0, n)), Effort()), right_sides(n, 2)
        x = factors.solve(b)[0]
        assert np.abs(chain @ x - b).max() <= 1e-14 * np.abs(x).max()


# --- complex modes ---------------------------------------------------------------------------------------------------
def shaft():
    """A square bar of 8 x 2 x 2 quadratic hexahedra, free to spin in damped bearings at its ends."""
    x, cells = grid("hexahedron20", (8, 2, 2), (1.0, 0.1, 0.1))
    x = x - (0.0, 0.05, 0.05)
    ends = {"left": np.flatnonzero(x[:, 0] == 0.0), "right": np.flatnonzero(x[:, 0] == 1.0)}
    model = Model(3, "shaft of solids")
    model.mesh("shaft", Mesh(x, blocks=[CellBlock("hexahedron20", cells)], node_sets=ends))
    model.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.solids("solid", "shaft", "steel")
    for end, place in (("left", 0.0), ("right", 1.0)):
        model.node(end, (place, 0.0, 0.0))
        model.coupling(f"face {end}", end, f"shaft:{end}")
        for axis in "yz":
            model.nodal_spring(f"bearing {end} {axis}", end, axis, 5e7, 5e3)
    model.nodal_spring("thrust bearing", "left", "x", 1e8, 1e3)
    model.rotor("shaft", axis=(1.0, 0.0, 0.0))
    model.complex_modes_step(6, rotor="shaft", speed=500.0)
    return model


def test_a_spinning_shaft_of_solids(monkeypatch):
    """A free spin, gyroscopic and circulatory forces: what SuperLU finds, in few applications of the factors."""
    monkeypatch.setattr(linearisation, "LARGE", 0)
    superlu = solve(shaft()).summary["steps"][-1]
    assert superlu["effort"]["corrections"] == 0
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    monkeypatch.setattr(saddle_factors, "_UNSYMMETRIC", 1)
    iterated = solve(shaft()).summary["steps"][-1]
    p, exact = (np.array(s["eigenvalues"]) @ (1.0, 1j) for s in (iterated, superlu))
    assert (
        (iterated["rigid_body_modes"], iterated["zeros"]) == (superlu["rigid_body_modes"], superlu["zeros"]) == (1, 2)
    )
    assert p == pytest.approx(exact, rel=1e-8)
    assert iterated["shifts"] == pytest.approx(np.array(superlu["shifts"]), rel=1e-3)
    assert max(iterated["residuals"]) <= 1e-8
    assert iterated["biorthogonality"] <= 1e-10
    effort = iterated["effort"]
    assert effort["factorisations"] == 1  # beside zero
    assert effort["steps"] <= 15  # rounds of the subspace
    assert effort["corrections"] == 0  # no exact solutions: the symmetric part alone serves the free spin too


def test_a_recurrence_about_a_trial_shift_goes_on():
    """Rigid motions: a shift that serves is not tried and then used, but used at once."""
    K, M, _ = beam(60)
    modes = complex_modes(M, 0.0 * M, K, count=6, shift=None)
    given = complex_modes(M, 0.0 * M, K, count=6, shift=modes.shifts[0].real)
    assert modes.rigid == 2
    assert modes.values == pytest.approx(given.values, rel=1e-8)
    assert modes.effort.factorisations <= 1 + 4
    assert modes.effort.steps < given.effort.steps + 3 * 40
