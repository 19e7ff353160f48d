"""Complex modes by the Lanczos and by the dense way against closed forms, QZ and ARPACK."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from complex_problems import agree, beam, check_pairs, random_problem, rigid, shaft, spectrum
from scipy.sparse.linalg import LinearOperator, eigs, splu

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import complex_dense
from fem_mbs.solvers.eigen import complex_modes as module
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.eigen.quadratic_pencil import Repeats
from fem_mbs.solvers.linear import saddle_factors
from fem_mbs.solvers.linear.libraries import cholmod_status

WAYS = {"lanczos": 0, "dense": 10_000, "subspace": 0}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """The ways to find modes; the subspace for pencils without constraints whose symmetric part is positive."""
    if request.param == "subspace":
        if not cholmod_status()[0]:
            pytest.skip("scikit-sparse is not installed")
        monkeypatch.setattr(saddle_factors, "SUPERNODAL", 0)
    monkeypatch.setattr(module, "DENSE", WAYS[request.param])
    return request.param


@pytest.fixture
def lanczos(monkeypatch):
    monkeypatch.setattr(module, "DENSE", 0)


def test_inverse_dynamics_of_a_link(way):
    """Ledesma & Bayo (1993): the unsymmetric masses m - N_b^T J_f of a link driven at its hub have real pairs +-p, the
    zeros of its tip: 2 g^2 sqrt(EI / rho A) / L^2, tan g = -tanh g."""
    n, EI, mass = 40, 33.333333, 0.2715
    K, M, J = beam(n, 1.0, EI, mass)
    held = np.setdiff1d(np.arange(2 * n + 2), (0, 2 * n))
    M = M.toarray()
    M[1] -= J  # the hub torque balances the moment of momentum
    K, M = K.toarray()[np.ix_(held, held)], M[np.ix_(held, held)]
    modes = complex_modes(M, np.zeros_like(M), K, count=6)
    exact = 2.0 * np.array([2.365020, 5.497804, 8.639380]) ** 2 * np.sqrt(EI / mass)
    assert exact == pytest.approx([123.952, 669.83, 1654.05], rel=1e-5)
    assert np.abs(modes.values.imag).max() < 1e-9 * exact[0]
    agree(modes.values.real, np.concatenate((exact, -exact)), 2e-5)
    check_pairs(modes, M, np.zeros_like(M), K)


# --- rigid-body motions ---------------------------------------------------------------------------------------------
def test_rigid_motions_by_the_projector(way):
    K, M, _ = beam(40)
    modes = complex_modes(M, 0.0 * M, K, count=4, rigid_motions=rigid(40))
    assert (modes.rigid, modes.zeros) == (2, 4)
    assert modes.values[2::2] == pytest.approx(1j * np.array([22.37329, 61.67282]), rel=1e-5)
    assert all(s == 0.0 for s in modes.shifts)
    check_pairs(modes, M, 0.0 * M, K)


def test_free_shaft_in_two_planes(way):
    """Four rigid motions, double elastic values."""
    M, C, K, _ = shaft(40, 0.0, pinned=False)
    modes = complex_modes(M, C, K, count=8)
    assert (modes.rigid, modes.zeros) == (4, 8)
    assert modes.values[4:].imag == pytest.approx(np.repeat([22.37329, 61.67282], 4) * np.tile([1, -1], 4), rel=1e-5)


@pytest.mark.parametrize("given", [False, True])
def test_hinged_beams_in_space(way, given):
    """A constraint, once and twice, between two free beams: three rigid motions, then the antisymmetric and symmetric
    modes (3.9266)^2 and (4.7300)^2."""
    K, M, _ = beam(20)
    K, M = (sp.csr_matrix(sp.block_diag((a, a))) for a in (K, M))
    G = np.zeros((2, 84))
    G[0, 40], G[0, 42], G[1] = 1.0, -1.0, 0.0
    G[1] = 3.0 * G[0]
    one, step, none = rigid(20), np.tile([1.0, 0.0], 21), np.zeros(42)
    R = np.column_stack((np.r_[step, step], np.r_[one[:, 1], one[:, 1] + step], np.r_[none, one[:, 1]]))
    modes = complex_modes(M, 0.0 * M, K, G, count=4, rigid_motions=R if given else None)
    assert (modes.rigid, modes.zeros) == (3, 6)
    assert modes.values[3::2].imag == pytest.approx([15.41821, 22.37329], rel=1e-5)
    check_pairs(modes, M, 0.0 * M, K, G)


def test_free_rotor_with_gyroscopic_coupling(way):
    """C acts on the rigid motions: one zero each instead of two, and p = +-2i twice."""
    K, M, _ = beam(20)
    M2, K2 = (sp.csr_matrix(sp.block_diag((a, a))) for a in (M, K))
    C = sp.csr_matrix(sp.bmat([[None, 2.0 * M], [-2.0 * M, None]]))
    modes = complex_modes(M2, C, K2, count=8)
    assert (modes.rigid, modes.zeros) == (4, 4)
    w = np.sqrt(1.0 + np.array([22.37333**2] * 2))
    assert modes.values[4:].imag == pytest.approx([2, -2, 2, -2, w[0] - 1, 1 - w[0], w[0] + 1, -w[0] - 1], rel=1e-5)
    check_pairs(modes, M2, C, K2)


def test_free_masses_have_zeros_only(way):
    modes = complex_modes(np.eye(3), np.diag([1.0, 0.0, 0.0]), np.zeros((3, 3)), count=2)
    assert (modes.rigid, modes.zeros) == (3, 5)
    assert modes.values == pytest.approx([0.0, 0.0, 0.0, -1.0])


def test_rigid_motion_with_a_damper(way):
    """A dashpot leaves one zero of two; a mechanism with follower forces has other left vectors than right ones."""
    K, M, _ = beam(40)
    C = sp.lil_matrix(M.shape)
    C[0, 0] = 3.0
    modes = complex_modes(M, C, K, count=5)
    exact = spectrum(M, C, K)
    exact = exact[np.argsort(np.abs(exact))]
    assert modes.rigid == 2
    assert modes.zeros == 3
    agree(modes.values[2:], exact[3:8], 1e-6)
    turned = K.toarray()
    turned[:, 3] += turned @ np.r_[0.2, np.zeros(81)]  # K R = 0 for other R, L as before
    modes = complex_modes(M, 0.0 * M, turned, count=4)
    for x, w in zip(modes.right[:, : modes.rigid].T, modes.left[:, : modes.rigid].T):
        assert np.linalg.norm(turned @ x) < 1e-9 * np.linalg.norm(np.abs(turned) @ np.abs(x))
        assert np.linalg.norm(turned.T @ w) < 1e-9 * np.linalg.norm(np.abs(turned.T) @ np.abs(w))


# --- against QZ ------------------------------------------------------------------------------------------------------
KINDS = ("plain", "gyro", "damped", "gyro overdamped", "gyro damped follower", "unsymmetric")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "redundant"), [(0, 0), (8, 3)])
def test_lowest(way, kind, m, redundant):
    model = random_problem(kind, m=m, redundant=redundant)
    modes = complex_modes(*model, count=10)
    exact = spectrum(*model)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:10], 1e-8)
    assert modes.biorthogonality < 1e-9
    check_pairs(modes, *model)


@pytest.mark.parametrize("kind", ["singular", "singular damped", "singular gyro damped unsymmetric"])
def test_singular_masses(way, kind):
    model = random_problem(kind, n=140, m=6)
    modes = complex_modes(*model, count=8)
    exact = spectrum(*model)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:8], 1e-8)
    check_pairs(modes, *model)


def test_no_masses_at_all(way):
    """C x' + K x = 0: relaxation."""
    _, C, K, _ = random_problem("damped", n=50)
    modes = complex_modes(0.0 * C, C, K, count=5)
    exact = np.sort(np.abs(scipy.linalg.eigvals(K, C)))[:5]
    assert -modes.values.real == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("near", [5j, -3.0 + 5.0j, -20.0, 5.0 - 30.0j])
def test_near_a_value(way, near):
    model = random_problem("gyro damped follower", m=5)
    modes = complex_modes(*model, count=6, near=near)
    exact = spectrum(*model)
    agree(modes.values, exact[np.argsort(np.abs(exact - near))][:6], 1e-8)
    check_pairs(modes, *model)


def test_real_values_found_in_complex_arithmetic(way):
    """Stiffness-proportional damping b: overdamped modes near -1/b, single real values without conjugates."""
    K, M, _ = beam(60)
    K, M = K[2:, 2:], M[2:, 2:]
    modes = complex_modes(M, 0.5 * K, K, count=3, near=-3.0 + 1.6j)
    w = np.array([3.516015, 22.03449, 61.69721]) ** 2
    root = np.sqrt((0.25 * w) ** 2 - w + 0j)
    exact = [-0.25 * w[0] + root[0], -0.25 * w[0] - root[0], -0.25 * w[1] + root[1], -0.25 * w[2] + root[2]]
    agree(modes.values, exact, 1e-5)
    assert (modes.values[2:].imag == 0.0).all()


def test_complex_matrices(way):
    """Structural damping: no conjugates."""
    M, C, K, G = random_problem("gyro", m=4)
    K = K * (1.0 + 0.05j)
    modes = complex_modes(M, C, K, G, count=6)
    exact = spectrum(M, C, K, G)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:6], 1e-8)
    assert modes.residuals.max() < 1e-8


def test_more_than_there_are(way):
    model = random_problem("gyro damped", n=12, m=3)
    modes = complex_modes(*model, count=50)
    agree(modes.values, spectrum(*model), 1e-8)
    assert modes.values.size == 18


# --- multiple values, breakdowns, restarts ---------------------------------------------------------------------------
@pytest.mark.parametrize("copies", [2, 3])
def test_multiple_eigenvalues(way, copies):
    M, C, K, _ = random_problem("gyro damped", n=40)
    model = tuple(scipy.linalg.block_diag(*[a] * copies) for a in (M, C, K))
    modes = complex_modes(*model, count=4 * copies)
    one = spectrum(M, C, K)
    agree(modes.values, np.repeat(one[np.argsort(np.abs(one))][:4], copies), 1e-8)
    assert modes.biorthogonality < 1e-9
    check_pairs(modes, *model)


def test_defective_eigenvalue(way):
    """Critical damping: a chain of two, whose values rounding parts by its square root."""
    M, K = np.eye(3), np.diag([1.0, 9.0, 100.0])
    C = np.diag([2.0, 0.0, 0.1])
    modes = complex_modes(M, C, K, count=4)
    assert modes.values[:2] == pytest.approx([-1.0, -1.0], abs=1e-6)
    assert modes.values[2:] == pytest.approx([3j, -3j], rel=1e-10)


def test_a_spoilt_recurrence_begins_again(lanczos):
    """Soft unknowns without masses, unsymmetric matrices: the full space once went round and round here."""
    model = random_problem("singular gyro damped unsymmetric", n=110, m=5, redundant=2, seed=38)
    modes = complex_modes(*model, count=6)
    exact = spectrum(*model)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:6], 1e-8)
    assert modes.effort.steps < 600


def test_small_spaces_need_restarts(lanczos):
    model = random_problem("gyro damped", n=150)
    modes = complex_modes(*model, count=10, most_steps=44)
    exact = spectrum(*model)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:10], 1e-8)
    assert modes.effort.restarts >= 2
    check_pairs(modes, *model)


# --- right-most ------------------------------------------------------------------------------------------------------
def test_rightmost_among_many_stable_ones(way):
    """Flutter at a frequency beyond the lowest ones: a scan along the imaginary axis finds it."""
    n = 150
    w = np.linspace(1.0, 60.0, n)
    M, C, K = np.eye(n), np.diag(0.02 * w), np.diag(w**2)
    C[100, 100] = -0.3  # at 40.6 rad/s
    modes = complex_modes(M, C, K, count=2, which="rightmost", reach=55.0)
    assert modes.values[0] == pytest.approx(0.15 + 1j * np.sqrt(w[100] ** 2 - 0.15**2), rel=1e-9)
    assert modes.covered[0] == pytest.approx(55.0)
    assert modes.covered[1] > 0.5
    check_pairs(modes, M, C, K)
    low = complex_modes(M, C, K, count=2, which="rightmost", reach=20.0)
    assert low.values[0].real < 0.0


def test_rightmost_of_a_free_beam(way):
    """Rigid motions are told once, though many discs see them."""
    K, M, _ = beam(70)
    modes = complex_modes(M, 1e-5 * K, K, count=2, which="rightmost", reach=1500.0)
    assert (modes.rigid, modes.zeros) == (2, 4)
    assert np.isrealobj(np.real_if_close(modes.right[:, :2], tol=1000))
    w = 22.373285
    assert modes.values[2] == pytest.approx(-0.5e-5 * w**2 + 1j * w, rel=1e-5)
    near = complex_modes(M, 1e-5 * K, K, count=3, near=3.0 + 8.0j)
    assert (near.rigid, near.zeros) == (2, 4)
    assert near.values[2] == pytest.approx(modes.values[2], rel=1e-8)


@pytest.mark.parametrize("kind", ["gyro damped follower", "unsymmetric"])
def test_rightmost(way, kind):
    model = random_problem(kind, m=5)
    modes = complex_modes(*model, count=6, which="rightmost", reach=40.0)
    exact = spectrum(*model)
    exact = exact[np.abs(exact.imag) <= 40.0]
    agree(modes.values, exact[np.argsort(-exact.real)][:6], 1e-8)
    assert (np.diff(modes.values.real) <= 1e-9).all()


@pytest.mark.parametrize(("load", "stable"), [(20.04, True), (20.06, False)])
def test_becks_column(way, load, stable):
    """Flutter of a column under a follower force at 20.0509 EI/L^2 (Beck 1952), where two pairs meet."""
    n = 30
    K, M, _ = beam(n)
    h = 1.0 / n
    e = [[36, 3 * h, -36, 3 * h], [3 * h, 4 * h**2, -3 * h, -(h**2)]]
    e = np.array([*e, [-36, -3 * h, 36, -3 * h], [3 * h, -(h**2), -3 * h, 4 * h**2]]) / (30 * h)
    geometric = np.zeros(K.shape)
    for i in range(0, 2 * n, 2):
        geometric[i : i + 4, i : i + 4] += e
    geometric[-2, -1] -= 1.0  # the load turns with the tip
    K, M = (K.toarray() - load * geometric)[2:, 2:], M[2:, 2:]
    modes = complex_modes(M, np.zeros_like(K), K, count=4)
    check_pairs(modes, M, np.zeros_like(K), K)
    assert np.abs(modes.values.imag) == pytest.approx(11.0, abs=0.5)
    assert (modes.values.real.max() < 1e-6) == stable
    most = complex_modes(M, np.zeros_like(K), K, count=2, which="rightmost", reach=100.0)
    assert (most.values.real.max() < 1e-6) == stable


# --- accuracy, units, effort -----------------------------------------------------------------------------------------
def test_units_change_nothing(lanczos):
    """Millimetres for metres, milliseconds for seconds, megagrams for kilograms, other multipliers: same digits."""
    M, C, K, G = shaft(30, 4.0)
    C = C + 0.01 * M
    n = K.shape[0]
    unit = np.where(np.arange(n) % 2 == 0, 1e3, 1.0)  # displacements in mm, rotations in rad
    D, time, force = sp.diags(1.0 / unit), 1e3, 1e-3
    other = complex_modes(
        force * D @ M @ D * time**2, force * D @ C @ D * time, force * D @ K @ D, 7e4 * G @ D, count=8
    )  # fmt: skip
    modes = complex_modes(M, C, K, G, count=8)
    assert other.values * time == pytest.approx(modes.values, rel=1e-9)
    assert other.effort == modes.effort
    assert other.residuals.max() < 1e-8


def test_against_arpack(lanczos):
    M, C, K, _ = shaft(100, 4.0, pinned=False)
    n = K.shape[0]
    K = K + 5.0 * sp.identity(n) + sp.diags(np.where(np.arange(n) % 2 == 0, 300.0, 0.0))
    C = C + 0.1 * M
    lu = splu(sp.csc_matrix(K))

    def inverse(v):
        return np.concatenate((-lu.solve(C @ v[:n] + M @ v[n:]), v[:n]))

    theta = eigs(LinearOperator((2 * n, 2 * n), inverse, dtype=float), 12, tol=1e-12, return_eigenvectors=False)
    modes = complex_modes(M, C, K, count=12)
    agree(modes.values, 1.0 / theta, 1e-7)


def test_effort_of_a_long_shaft(lanczos):
    """2004 unknowns, one factorisation.  Residuals cannot be small where K x cancels from displacements rounded to 16
    digits (their floor is 1e-16 w_max^2 / w^2); they are at round-off over what they cancel from."""
    model = shaft(500, 4.0)
    modes = complex_modes(*model, count=6)
    assert modes.values[::2].imag == pytest.approx([np.pi**2 - 4.0, np.pi**2 + 4.0, 4.0 * np.pi**2 - 4.0], rel=1e-5)
    assert modes.backward.max() < 1e-14
    assert modes.effort.factorisations == 1
    assert modes.effort.solves < 300


@pytest.mark.skipif(not cholmod_status()[0], reason="scikit-sparse is not installed")
@pytest.mark.parametrize("kind", ["gyro", "gyro damped follower"])
@pytest.mark.parametrize("shift", [None, 0.5])
def test_symmetric_part_by_cholmod(lanczos, monkeypatch, kind, shift):
    """Large matrices: factors of the symmetric part, iterated to solutions with the matrix and with its transpose."""
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    M, C, K, G = random_problem(kind, m=5, redundant=2)
    modes = complex_modes(M, C, K, G, count=8, shift=shift)
    exact = spectrum(M, C, K, G)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:8], 1e-8)
    check_pairs(modes, M, C, K, G)
    symmetric = kind == "gyro" and shift is None
    assert modes.effort.factorisations == (1 if symmetric else 2)
    assert modes.effort.corrections > 0


@pytest.mark.skipif(not cholmod_status()[0], reason="scikit-sparse is not installed")
def test_indefinite_matrices_go_to_superlu(lanczos, monkeypatch):
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    M, C, K, _ = random_problem("gyro damped")
    K = K - 100.0 * M  # unstable
    modes = complex_modes(M, C, K, count=8)
    exact = spectrum(M, C, K)
    agree(modes.values, exact[np.argsort(np.abs(exact))][:8], 1e-8)
    free = beam(40)
    assert complex_modes(free[1], 0.0 * free[1], free[0], count=4).rigid == 2


@pytest.mark.parametrize("case", ["soft mount", "strong damper"])
def test_values_of_very_different_size(way, case):
    """Elastic modes beside others thousands of times nearer to zero, whose rounding errors would drown them."""
    K, M, _ = beam(60)
    C = sp.csr_matrix(M.shape)
    exact = np.array([1e-2j, -1e-2j, 1e-2j, -1e-2j, 22.373288j, -22.373288j])
    if case == "strong damper":
        C = sp.csr_matrix(([1e4], ([120], [120])), shape=M.shape)[2:, 2:]
        K, M = K[2:, 2:], M[2:, 2:]
        exact = np.array([-3e-4, 15.41821j, -15.41821j])  # nearly clamped and propped
    else:
        K = K + 1e-4 * M
    modes = complex_modes(M, C, K, count=exact.size)
    agree(modes.values, exact, 1e-3)
    assert ((modes.residuals <= 1e-8) | (modes.backward <= 1e-12)).all()


def test_runs_are_repeatable(lanczos):
    model = random_problem("gyro damped", m=5)
    first, second = (complex_modes(*model, count=8) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.right, second.right)


# --- wrong inputs ----------------------------------------------------------------------------------------------------
def test_wrong_arguments():
    M, C, K, G = random_problem("gyro", n=10, m=2)
    bad = np.array(K)
    bad[3, 4] = np.nan
    for change, message in (
        ({"which": "best"}, "nearest"),
        ({"check": "twice"}, "probe"),
        ({"count": 0}, "count"),
        ({"near": np.inf}, "near"),
        ({"reach": -1.0}, "reach"),
        ({"most_steps": 9}, "most_steps"),
        ({"M": M[:5, :5]}, r"M has shape \(5, 5\)"),
        ({"G": G[:, :4]}, r"G has shape \(2, 4\)"),
        ({"K": bad}, r"K\[3, 4\] is nan"),
        ({"rigid_motions": np.ones((10, 1))}, "K resists"),
        ({"rigid_motions": np.ones((9, 1))}, r"\(10, r\)"),
    ):
        arguments = {"M": M, "C": C, "K": K, "G": G} | change
        if "rigid_motions" in change:
            arguments["G"] = None
        with pytest.raises(ValueError, match=message):
            complex_modes(**arguments)


def test_wrong_rigid_motions():
    K, M, _ = beam(10)
    R = rigid(10)
    C = sp.csr_matrix(([1.0], ([0], [0])), shape=K.shape)
    with pytest.raises(ValueError, match="dependent"):
        complex_modes(M, 0.0 * M, K, rigid_motions=np.column_stack((R, R[:, 0] - R[:, 1])))
    with pytest.raises(ValueError, match="C resists"):
        complex_modes(M, C, K, rigid_motions=R)
    with pytest.raises(ValueError, match="violate the constraints"):
        complex_modes(M, 0.0 * M, K, np.eye(22)[:1], rigid_motions=R)


def test_problems_without_an_answer(way):
    M, C, K, _ = random_problem("gyro", n=10)
    with pytest.raises(AnalysisError, match="has a mass"):
        complex_modes(0.0 * M, 0.0 * C, K)
    with pytest.raises(AnalysisError, match="none of 10 unknowns free"):
        complex_modes(M, C, K, np.eye(10))
    with pytest.raises(AnalysisError, match="no unknowns"):
        complex_modes(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0)))


def test_a_shift_on_an_eigenvalue(lanczos):
    n = 30
    M, K = np.eye(n), np.diag(np.arange(1.0, n + 1.0) ** 2)
    with pytest.raises(AnalysisError, match="is an eigenvalue; move it") as error:
        complex_modes(M, 0.0 * M, K, shift=3j)
    (told,) = re.findall(r"the shift (\S+) is", str(error.value))
    assert complex(told) == pytest.approx(3j)
    modes = complex_modes(M, 0.0 * M, K, count=1, near=3j)  # not given as a shift: moved beside it
    assert modes.values == pytest.approx(np.array([3j, -3j]))


def test_reach_may_be_a_low_frequency(way):
    n = 40
    M, C, K = np.eye(n), np.diag(np.linspace(0.02, 0.01, n)), np.diag((0.1 * np.arange(1.0, n + 1.0)) ** 2)
    modes = complex_modes(M, C, K, count=2, which="rightmost", reach=0.45)  # of the four below, number 4 decays least
    assert modes.values.imag.max() == pytest.approx(0.4, rel=1e-3)


@pytest.mark.parametrize("damping", [0.0, 0.02, 3.0])
def test_parts_that_nothing_couples(way, damping):
    """A gyroscopic part, a free bar, and a bar with damping in proportion, whose numbers alternate: the modes of all
    are those of each, among them those of the free motion."""
    gyro = random_problem("gyro damped", n=24)[:3]
    bars = []
    for free in (True, False):
        K = sp.diags((-np.ones(29), np.r_[1.0, np.full(28, 2.0), 1.0 if free else 2.0], -np.ones(29)), (-1, 0, 1))
        K = 400.0 * K.toarray()
        bars.append((np.eye(30), 0.0 * K if free else damping * (0.02 * K + np.eye(30)), K))
    order = np.random.default_rng(4).permutation(84)
    whole = [scipy.linalg.block_diag(*parts)[np.ix_(order, order)] for parts in zip(gyro, *bars, strict=True)]
    modes = complex_modes(*whole, count=30)
    assert (modes.rigid, modes.zeros) == (1, 2)
    assert np.ptp(modes.right[np.isin(order, np.arange(24, 54)), 0]) < 1e-10
    exact = np.concatenate([spectrum(*part) for part in (gyro, bars[1])] + [spectrum(*bars[0])])
    exact = exact[np.abs(exact) > 1e-3]
    agree(modes.values[1:], exact[np.argsort(np.abs(exact))][:30], 1e-8)
    check_pairs(modes, *whole)
    assert modes.biorthogonality < 1e-8


def test_a_singular_part_beyond_the_wanted_modes_is_told(way):
    """Two massless unknowns with one stiffness between them, beside 40 masses."""
    n = 40
    M, K = np.eye(n + 2), np.diag(np.arange(1.0, n + 3.0) ** 2)
    M[n:, n:] = 0.0
    K[n:, n:] = [[1e6, -1e6], [-1e6, 1e6]]
    with pytest.raises(AnalysisError, match="singular"):
        complex_modes(M, 0.0 * M, K, count=2)


def test_unknowns_without_stiffness_and_mass(way):
    M, C, K, _ = random_problem("gyro", n=20)
    for a in (M, C, K):
        a[4] = a[:, 4] = 0.0
    with pytest.raises(AnalysisError, match="singular"):
        complex_modes(M, C, K, count=4)


def test_dependent_forces_of_independent_constraints(way):
    """Both constraints act by the same forces, as joints do that jam by friction."""
    M, C, K, _ = random_problem("gyro", n=10)
    with pytest.raises(AnalysisError, match="singular"):
        complex_modes(M, C, K, np.eye(10)[:2], count=2, columns=np.eye(10)[:, [0, 0]])


def test_a_pair_that_cannot_be_proved_is_refused(monkeypatch):
    """A damped part with a massless unknown, whose pairs are improved, beside 150 masses; no factors next to them."""
    n = 150
    M, C, K = np.eye(n + 2), np.zeros((n + 2, n + 2)), np.diag(np.arange(1.0, n + 3.0) ** 2)
    M[-1, -1] = 0.0
    C[n:, n:], K[n:, n:] = [[0.1, 0.3], [-0.3, 0.2]], [[2.0, -1.0], [-1.0, 2.0]]
    modes = complex_modes(M, C, K, count=n // 2 + 2)
    agree(modes.values, spectrum(*(a[n:, n:] for a in (M, C, K))), 1e-8)
    monkeypatch.setattr(complex_dense, "beside", lambda *of: None)
    with pytest.raises(AnalysisError, match="singular next to p"):
        complex_modes(M, C, K, count=n // 2 + 2)


def test_a_mode_that_is_nearly_free():
    """A frequency next to zero beside stiff ones is exact for matrices that differ by less than rounding: its own terms
    are too small to judge it by."""
    r, n, soft = np.random.default_rng(2), 8, 0.01
    K = np.diag(np.r_[r.uniform(1.0, 20.0, n - 1) * 1e9, soft])
    C = r.standard_normal((n, n))
    C = (C - C.T) * 2e4
    C[-1] *= 1e-6
    C[:, -1] *= 1e-6
    modes = complex_modes(sp.csr_matrix(np.eye(n)), sp.csr_matrix(C), sp.csr_matrix(K), None, 2 * n)
    companion = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]])
    expected = np.sort(np.abs(np.linalg.eigvals(companion)))[2:]
    assert np.sort(np.abs(modes.values))[:2] == pytest.approx([np.sqrt(soft)] * 2, rel=1e-9)
    assert np.sort(np.abs(modes.values))[2:] == pytest.approx(expected, rel=1e-8)


class Counted(Repeats):
    """How often results were made of parts that are solved apart."""

    made = 0

    def result(self, name, given, make):
        def counted():
            self.made += name[0] == "apart"
            return make()

        return super().result(name, given, counted)


def test_a_part_that_comes_again_is_solved_once(lanczos):
    """Bending and torsion of a shaft; its speed is in the bending and in the scales of all unknowns."""
    M, C, K, _ = random_problem("gyroscopic", 90)
    n = 60
    twist = sp.diags([2.0 + np.arange(n) / n, -np.ones(n - 1), -np.ones(n - 1)], [0, 1, -1])
    repeats = Counted()

    def compare(speed, stiffness):
        mass = sp.block_diag((M, sp.identity(n))).tocsr()
        damping = sp.block_diag((speed * C, sp.csr_matrix((n, n)))).tocsr()
        held = sp.block_diag((K + speed**2 * np.eye(90), stiffness * twist)).tocsr()
        before = repeats.made
        found, alone = (complex_modes(mass, damping, held, count=12, repeats=a) for a in (repeats, None))
        check_pairs(found, mass, damping, held)
        assert found.values == pytest.approx(alone.values, rel=1e-12)
        return repeats.made - before

    assert [compare(speed, 1.0) for speed in (0.5, 1.0, 3.0)] == [2, 1, 1]  # the bending has other matrices each time
    assert compare(3.0, 1.2) == 1
    assert compare(3.0, 1.2) == 0


def test_parts_with_complex_stiffness_have_no_conjugates(lanczos):
    """Bending, and torsion with structural damping: p of the torsion are +- i sqrt((1 + i eta) k) of its real k."""
    M, C, K, _ = random_problem("gyroscopic", 90)
    n, loss = 60, 0.2
    twist = sp.diags([2.0 + np.arange(n) / n, -np.ones(n - 1), -np.ones(n - 1)], [0, 1, -1])
    mass = sp.block_diag((M, sp.identity(n))).tocsr()
    damping = sp.block_diag((C, sp.csr_matrix((n, n)))).tocsr()
    stiffness = sp.block_diag((K, (1.0 + 1j * loss) * twist)).tocsr()
    found = complex_modes(mass, damping, stiffness, count=8)
    root = 1j * np.sqrt((1.0 + 1j * loss) * np.linalg.eigvalsh(twist.toarray()))
    every = np.concatenate((spectrum(M, C, K), root, -root))
    exact = every[np.argsort(np.abs(every))][: found.values.size]
    assert found.values.size >= 8
    assert np.abs(found.values[:, None] - exact).min(axis=0).max() < 1e-8 * np.abs(exact).max()
    assert np.abs(found.values[:, None] - exact).min(axis=1).max() < 1e-8 * np.abs(exact).max()


def test_parts_without_mass_that_damp_have_modes_of_first_order(way):
    """A filter 1 + p d, a damper beside a spring, and an oscillator that nothing couples: no eigenvalue is lost."""
    M = sp.diags([0.0, 0.0, 0.0, 2.0]).tocsr()
    C = sp.block_diag(([[0.25]], [[1.0, -1.0], [-1.0, 1.0]], [[0.4]])).tocsr()
    K = sp.block_diag(([[1.0]], [[3.0, 0.0], [0.0, 6.0]], [[50.0]])).tocsr()
    found = complex_modes(M, C, K, count=6).values
    pair = np.roots([2.0, 0.4, 50.0])
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex([-4.0, -2.0, *pair]), rtol=1e-12)
