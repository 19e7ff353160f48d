"""What the time steps do with the unknowns: configuration, velocities, directors, first guesses, increments."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs import contract as C
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.motion import (
    configure,
    director_velocities,
    normalise,
    predict,
    update,
    velocities,
)

H = 0.3
#: Without compilation they are called as they stand, otherwise by their Python functions.
_director_velocities = getattr(director_velocities, "py_func", director_velocities)


def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def cay(a):
    return np.linalg.solve(np.eye(3) - tilde(a) / 2, np.eye(3) + tilde(a) / 2)


def turn2(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


class Bodies:
    """Two bodies in space (or the plane) with a multiplier and a state variable, all at random, as the kernels see
    them: dofs of places, then of rotations, by body; the first dof of all has the equation 0."""

    def __init__(self, dimension, seed=0):
        rng = np.random.default_rng(seed)
        turns = 3 if dimension == 3 else 1
        each = dimension + turns
        n = 2 * each + 3  # (the last entry is that of missing dofs)
        dofs = np.arange(2 * each).reshape(2, each)
        self.positions, rotations = dofs[:, turns:].ravel(), dofs[:, :turns]
        kind = np.full(n, S.POSITION)
        kind[rotations] = S.ROTATION
        self.multiplier, self.state_variable = n - 3, n - 2
        kind[self.multiplier], kind[self.state_variable] = S.MULTIPLIER, S.STATE
        self.rotations = rotations
        self.unknown = np.arange(n - 1)
        equation = np.append(np.arange(n - 1), -1)
        self.system = SimpleNamespace(
            positions=self.positions, states=np.array([self.state_variable]), rotations=rotations, kind=kind,
            unknown=self.unknown, equation=equation, shared=np.zeros((0, 2), int), driven=np.zeros(0, int),
            driver=np.zeros(0, int), driven_reference=np.zeros(0),
        )  # fmt: skip
        width = 9 if dimension == 3 else 2
        self.R = Rotation.random(2, rng).as_matrix() if dimension == 3 else np.array([turn2(0.4), turn2(-2.0)])
        D = np.zeros((2, 3, width))
        D[:, :2] = self.R.reshape(2, 9) if dimension == 3 else self.R[:, :, 0]
        self.state = SimpleNamespace(
            Q=np.tile(rng.normal(size=n), (2, 1)), D=D, V=rng.normal(size=(3, n)), DD=rng.normal(size=(2, 3, width)),
            U=0.8 * rng.normal(size=n), past=rng.normal(size=(4, n)), rhs=0.5 * rng.normal(size=n - 1),
        )  # fmt: skip

    def directors(self, row=1):
        """Rotations (2, 3, 3) or (2, 2, 2)."""
        D = self.state.D[row, :2]
        if D.shape[1] == 9:
            return D.reshape(2, 3, 3)
        return np.stack((D, np.column_stack((-D[:, 1], D[:, 0]))), axis=2)


@pytest.mark.parametrize("one_state", [False, True])
@pytest.mark.parametrize("dimension", [2, 3])
def test_configurations_turn_by_the_cayley_transform(dimension, one_state):
    b = Bodies(dimension)
    Q = b.state.Q.copy()
    U = b.state.U
    configure(b.system, b.state, one_state)
    moved = [*b.positions, b.state_variable]
    assert b.state.Q[1, moved] == pytest.approx(Q[0, moved] + U[moved], abs=1e-15)
    for R, R0, theta in zip(b.directors(), b.R, U[b.rotations], strict=True):
        if dimension == 3:
            assert pytest.approx(cay(theta) @ R0, abs=1e-14) == R
        else:
            assert pytest.approx(turn2(2.0 * np.arctan(theta[0] / 2.0)) @ R0, abs=1e-14) == R
    if dimension == 2:
        k = b.rotations[:, 0]
        turned = 2.0 * np.arctan(U[k] / 2.0) if one_state else 0.0
        assert b.state.Q[1, k] == pytest.approx(Q[0, k] + turned, abs=1e-14)


@pytest.mark.parametrize(("dimension", "held"), [(2, None), (2, 0), (3, None), (3, 0), (3, 1), (3, 2)])
def test_increments_of_one_state_rules_are_spins_at_the_present_state(dimension, held):
    b = Bodies(dimension)
    if held is not None:  # this component of the second body is prescribed: it has no unknown
        k = b.rotations[1, held]
        b.system.unknown = np.delete(b.system.unknown, k)
        b.system.equation = np.where(b.system.equation > k, b.system.equation - 1, b.system.equation)
        b.system.equation[k] = -1
        b.state.rhs = np.delete(b.state.rhs, k)
    x = np.zeros(b.state.U.size)
    x[b.system.unknown] = b.state.rhs
    U = b.state.U.copy()
    size_x, size_t = update(b.system, b.state, True)
    rest = [*b.positions, b.state_variable, b.multiplier]
    assert b.state.U[rest] == pytest.approx(U[rest] + x[rest], abs=1e-15)
    for old, new, d in zip(U[b.rotations], b.state.U[b.rotations], x[b.rotations], strict=True):
        if dimension == 3:
            assert cay(new) == pytest.approx(cay(d) @ cay(old), abs=1e-14)
        else:
            assert np.arctan(new / 2) == pytest.approx(np.arctan(old / 2) + np.arctan(d / 2), abs=1e-14)
    assert size_x == abs(x[b.positions]).max()
    variable = abs(x[b.state_variable]) / max(1.0, abs(b.state.Q[1, b.state_variable]))
    assert size_t == max(abs(x[b.rotations]).max(), variable)


def test_increments_of_two_state_rules_add():
    b = Bodies(3)
    U = b.state.U.copy()
    size_x, size_t = update(b.system, b.state, False)
    assert b.state.U[:-1] == pytest.approx(U[:-1] + b.state.rhs, abs=1e-15)
    variable = abs(b.state.rhs[b.state_variable]) / max(1.0, abs(b.state.Q[1, b.state_variable]))
    assert (size_x, size_t) == (
        abs(b.state.rhs[b.positions]).max(), max(abs(b.state.rhs[b.rotations]).max(), variable)
    )  # fmt: skip


@pytest.mark.parametrize("name", ["positions", "rotations", "state_variable"])
@pytest.mark.parametrize("one_state", [False, True])
def test_increments_that_are_no_numbers_are_told(name, one_state):
    b = Bodies(2)
    b.state.rhs[np.ravel(getattr(b, name))[0]] = np.nan
    sizes = update(b.system, b.state, one_state)
    if name == "rotations" and one_state:
        assert np.isnan(b.state.U[b.rotations[0, 0]])  # the residual tells it
    else:
        assert np.isnan(sizes).tolist() == [name == "positions", name != "positions"]


@pytest.mark.parametrize("dimension", [2, 3])
def test_directors_become_orthonormal_to_the_square_of_their_error(dimension):
    b = Bodies(dimension)
    b.state.D[1, :2] += 1e-6 * np.random.default_rng(3).normal(size=b.state.D[1, :2].shape)
    near = b.directors().copy()
    normalise(b.system, b.state.D)
    for R, before in zip(b.directors(), near, strict=True):
        assert pytest.approx(np.eye(len(R)), abs=1e-10) == R.T @ R
        left, _, right = np.linalg.svd(before)  # the nearest rotation
        assert pytest.approx(left @ right, abs=1e-10) == R


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(
    "rule", [(0.5, 1.0, 0.0, 0.0, False), (0.3025, 0.6, 0.0, 0.0, True), (0.4, 0.7, 0.1, 0.3, True)]
)
def test_velocities_satisfy_the_formulas_of_the_rule(rule, dimension):
    """Newmark's formulas with the algorithmic acceleration (Arnold & Bruels 2007, eqs 9-11); in body axes turns."""
    beta, gamma, am, af, newmark = rule
    b = Bodies(dimension)
    V0, past, U = b.state.V[0].copy(), b.state.past, b.state.U
    real = np.zeros(40)
    real[[S.BETA, S.GAMMA, S.ALPHA_M, S.ALPHA_F]] = beta, gamma, am, af
    velocities(b.system, b.state, H, real, newmark)
    u = U.copy()
    for k, R in zip(b.rotations, b.R, strict=True):
        if dimension == 3:
            u[k] = R.T @ U[k]
    for k in [*b.positions, b.state_variable, *b.rotations.ravel()]:
        v1, dv1 = b.state.V[1, k], b.state.V[2, k]
        if not newmark:
            assert v1 == pytest.approx(2.0 * u[k] / H - V0[k], abs=1e-13)
            continue
        a0, dv0 = past[2, k], past[3, k]
        a1 = ((1 - af) * dv1 + af * dv0 - am * a0) / (1 - am)
        assert u[k] == pytest.approx(H * V0[k] + H * H * ((0.5 - beta) * a0 + beta * a1), abs=1e-13)
        assert v1 == pytest.approx(V0[k] + H * ((1 - gamma) * a0 + gamma * a1), abs=1e-13)


@pytest.mark.parametrize("dimension", [2, 3])
def test_rates_of_directors(dimension):
    b = Bodies(dimension)
    b.state.D[1, :2] = np.random.default_rng(4).permutation(b.state.D[0, :2])
    DD0 = b.state.DD[0].copy()
    _director_velocities(b.system, b.state, H, False)
    mean = 0.5 * (DD0[:2] + b.state.DD[1, :2])
    assert mean == pytest.approx((b.state.D[1, :2] - b.state.D[0, :2]) / H, abs=1e-13)
    _director_velocities(b.system, b.state, H, True)
    for R, rate, k in zip(b.directors(), b.state.DD[1], b.rotations, strict=False):
        W = b.state.V[1, k]
        if dimension == 3:
            assert rate.reshape(3, 3) == pytest.approx(R @ tilde(W), abs=1e-14)
        else:
            assert rate == pytest.approx(W[0] * R[:, 1], abs=1e-14)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
@pytest.mark.parametrize("history", [0, 1, 2])
@pytest.mark.parametrize("dimension", [2, 3])
def test_first_guesses(dimension, kind, history, static, monkeypatch):
    from fem_mbs.solvers.stepping import motion

    monkeypatch.setattr(motion, "turn_parts", lambda system, Q, past, U: None)
    b = Bodies(dimension)
    driven = b.positions[1], b.rotations[1, 0]
    b.system.driven, b.system.driver = np.array(driven), np.array([0, 1])
    b.system.driven_reference = np.array([0.2, -0.1])
    b.system.unknown = np.setdiff1d(b.system.unknown, driven)
    b.system.equation = np.full(b.system.equation.size, -1)
    b.system.equation[b.system.unknown] = np.arange(b.system.unknown.size)
    counter = np.zeros(80, int)
    counter[S.PREDICTOR], counter[S.HISTORY] = kind, history
    counter[S.RULE_KIND] = S.STATIC if static else S.MIDPOINT
    ctl = np.zeros(C.N_CTL)
    ctl[C.H], ctl[C.SF] = H, 0.7
    fun = np.random.default_rng(5).normal(size=(2, 3))
    Q, V, past = b.state.Q, b.state.V, b.state.past
    predict(b.system, b.state, ctl, fun, counter, np.zeros(S.N_REAL))
    speed = V[0].copy()
    if dimension == 3:
        for k, R in zip(b.rotations, b.R, strict=True):
            speed[k] = R @ V[0, k]
    used = min(kind, (1, 2, 3)[history])  # as far as steps are known
    guess = (0.0 * speed, H * speed, past[0], 2.0 * past[0] - past[1])[0 if static else used]
    free = np.setdiff1d([*b.positions, *b.rotations.ravel(), b.state_variable], driven)
    assert b.state.U[free] == pytest.approx(guess[free], abs=1e-14)
    assert b.state.U[b.multiplier] == 0.7 * Q[0, b.multiplier]
    ends = b.system.driven_reference + fun[:, C.T1] - Q[0, list(driven)]
    assert b.state.U[driven[0]] == pytest.approx(ends[0], abs=1e-15)
    assert b.state.U[driven[1]] == pytest.approx(2.0 * np.tan(ends[1] / 2.0), abs=1e-13)
