"""The first guess of parts that turn: rigid motions recovered from positions, and extrapolated."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.predictor import choose_order, fit, turn, turn_parts, weights_of


def rotation(rng, dim, angle):
    """A rotation (3, 3) by an angle about a random axis, in the plane about z."""
    axis = np.array((0.0, 0.0, 1.0)) if dim == 2 else rng.normal(size=3)
    return Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()


def states(places, dim):
    """(first dofs, Q, past) of a body at three places (n, dim), the present one last."""
    before, start, now = places
    n = len(now)
    Q, past = np.zeros((2, dim * n + 1)), np.zeros((2, dim * n + 1))
    Q[0, :-1] = Q[1, :-1] = now.ravel()
    past[0, :-1], past[1, :-1] = (now - start).ravel(), (start - before).ravel()
    return dim * np.arange(n), Q, past


def fitted(places, dim, before=False):
    """R, a, b of the last step of three places, or of the one before it."""
    dofs, Q, past = states(places, dim)
    R, a, b = np.empty((3, 3)), np.empty(3), np.empty(3)
    fit(dofs, dim, Q, past, before, R, a, b)
    return R, a, b


def guess(dofs, dim, Q, past, U, part=None, equation=None):
    """U of `turn_parts` for parts that begin at ``part`` among the nodes."""
    n = Q.shape[1]
    system = SimpleNamespace(
        rotations=np.zeros((1, 1 if dim == 2 else 3)),
        part=np.array([0, len(dofs)] if part is None else part),
        part_dofs=np.asarray(dofs),
        equation=np.arange(n) if equation is None else equation,
    )
    turn_parts(system, Q, past, U)
    return U


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_rigid_motions_are_recovered(dim, before):
    """To round-off, up to 1.5 rad per step, of the last step or the one before it."""
    rng = np.random.default_rng(dim)
    for angle in (1e-7, 1e-3, 0.3, 1.5):
        X = rng.normal(size=(7, dim)) + 4.0
        turns = [rotation(rng, dim, angle), rotation(rng, dim, -0.4 * angle)]
        shifts = rng.normal(size=(2, dim))
        first = X @ turns[0][:dim, :dim].T + shifts[0]
        places = (X, first, first @ turns[1][:dim, :dim].T + shifts[1])
        R, a, b = fitted(places, dim, before)
        start, end = places[0 if before else 1], places[1 if before else 2]
        assert np.abs(R - turns[0 if before else 1]).max() < 1e-13
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14
        assert np.allclose(a[:dim], start.mean(axis=0), atol=1e-14)
        assert np.allclose(b[:dim], end.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("dim", [2, 3])
def test_deformed_bodies_get_the_best_rotation(dim):
    """That of the singular values of the correlation (Kabsch 1976, doi:10.1107/S0567739476001873)."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(9, dim))
    Y = X @ rotation(rng, dim, 0.5)[:dim, :dim].T + 0.1 * rng.normal(size=X.shape)
    R, _, _ = fitted((X, X, Y), dim)
    u, _, vt = np.linalg.svd((Y - Y.mean(axis=0)).T @ (X - X.mean(axis=0)))
    sign = np.eye(dim)
    sign[-1, -1] = np.linalg.det(u @ vt)
    assert np.abs(R[:dim, :dim] - u @ sign @ vt).max() < 1e-5  # six sweeps
    turned = (Y - Y.mean(axis=0)) - (X - X.mean(axis=0)) @ R[:dim, :dim].T
    best = (Y - Y.mean(axis=0)) - (X - X.mean(axis=0)) @ (u @ sign @ vt).T
    assert np.sum(turned**2) <= (1.0 + 1e-9) * np.sum(best**2)


def test_nodes_in_a_line_turn_about_no_axis_of_theirs():
    rng = np.random.default_rng(3)
    X = np.linspace(0.0, 1.0, 5)[:, None] * np.array((1.0, 2.0, -1.0))
    Y = X @ rotation(rng, 3, 0.4).T + 1.0
    R, a, b = fitted((X, X, Y), 3)
    assert np.abs((X - a) @ R.T + b - Y).max() < 1e-12
    R, _, _ = fitted((X[:1], X[:1], Y[:1]), 3)
    assert np.array_equal(R, np.eye(3))


def test_turn_is_a_rotation():
    rng = np.random.default_rng(0)
    for angle in (1e-9, 0.1, 2.5):
        d = rng.normal(size=3)
        d *= np.tan(0.5 * angle) / np.linalg.norm(d)
        R0 = rotation(rng, 3, 1.0)
        R = R0.copy()
        turn(d, R)
        wanted = Rotation.from_rotvec(angle * d / np.linalg.norm(d)).as_matrix() @ R0
        assert np.abs(R - wanted).max() < 1e-14


@pytest.mark.parametrize("dim", [2, 3])
def test_steady_motions_are_extrapolated_exactly(dim):
    """A body that turns by one rotation per step while its middle moves with a constant acceleration."""
    rng = np.random.default_rng(dim)
    X = rng.normal(size=(6, dim))
    X -= X.mean(axis=0)
    R, v, w = rotation(rng, dim, 0.7)[:dim, :dim], rng.normal(size=dim), rng.normal(size=dim)
    places = [X @ np.linalg.matrix_power(R, k).T + k * v + k * k * w for k in range(4)]
    dofs, Q, past = states(places[:3], dim)
    U = guess(dofs, dim, Q, past, np.full(Q.shape[1], 9.0))
    # the middle goes on as it did: its increments grow by 2 w, of which a straight guess knows the last two
    wanted = places[3] - places[2]
    assert np.abs(U[:-1].reshape(-1, dim) - wanted).max() < 1e-12
    assert U[-1] == 9.0
    straight = (2.0 * past[0] - past[1])[:-1].reshape(-1, dim)
    assert np.abs(straight - wanted).max() > 0.1


def test_rotations_that_grow_are_extrapolated_to_second_order():
    """About one axis by angles that grow linearly the next angle is exact: R_1 R_2^T R_1."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 3))
    X -= X.mean(axis=0)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angles = np.cumsum([0.0, 0.2, 0.35, 0.5])
    places = [X @ Rotation.from_rotvec(a * axis).as_matrix().T for a in angles]
    dofs, Q, past = states(places[:3], 3)
    U = guess(dofs, 3, Q, past, np.zeros(Q.shape[1]))
    assert np.abs(U[:-1].reshape(-1, 3) - (places[3] - places[2])).max() < 1e-12


def test_what_is_held_or_deforms_keeps_its_guess():
    """Held dofs keep theirs, and so does a part whose shape has changed by more than a straight way would strain it."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5, 3))
    X -= X.mean(axis=0)
    R = rotation(rng, 3, 0.05)
    stiff = [X @ np.linalg.matrix_power(R, k).T for k in range(4)]
    soft = [x * (1.0 + 0.02 * k) + 10.0 for k, x in enumerate(stiff)]
    places = [np.concatenate(pair) for pair in zip(stiff, soft, strict=True)]
    dofs, Q, past = states(places[:3], 3)
    equation = np.arange(Q.shape[1])
    equation[[0, 4]] = -1
    U = guess(dofs, 3, Q, past, np.full(Q.shape[1], 9.0), [0, 5, 10], equation)
    moved = np.concatenate(((places[3] - places[2]).ravel()[:15], np.full(16, 9.0)))
    moved[[0, 4]] = 9.0
    assert np.abs(U - moved).max() < 1e-12


def chosen(u, predictor=3, rule=S.MIDPOINT):
    """Orders that are chosen after every increment of a sequence u, one position of size 1."""
    system = SimpleNamespace(unknown=np.array([0]), kind=np.array([S.POSITION]))
    state = SimpleNamespace(U=np.zeros(1), past=np.zeros((4, 1)))
    real, counter = np.zeros(S.N_REAL), np.zeros(S.N_COUNTER, np.int64)
    real[S.LENGTH], counter[S.PREDICTOR], counter[S.RULE_KIND] = 1.0, predictor, rule
    orders = []
    for x in u:
        state.U[0] = x
        choose_order(system, state, real, counter)
        state.past[1:] = state.past[:-1].copy()
        state.past[0] = x
        counter[S.HISTORY] = min(counter[S.HISTORY] + 1, S.MOST_INCREMENTS)
        orders.append(int(real[S.ORDER]))
    return orders


@pytest.mark.parametrize("order", [2, 3, 4])
def test_extrapolations_are_exact_for_polynomials(order):
    rng = np.random.default_rng(order)
    values = np.polynomial.Polynomial(rng.normal(size=order))(np.arange(5.0))
    assert np.dot(weights_of(float(order)), values[3::-1]) == pytest.approx(values[4], abs=1e-12)


@pytest.mark.parametrize(("wh", "order"), [(0.1, 4), (0.7, 4), (1.3, 2), (2.5, 2)])
def test_the_order_follows_how_well_steps_resolve_the_motion(wh, order):
    """The error of order k of a vibration is (2 sin(w h/2))^k of its increments: below w h = pi/3 higher ones win.

    Of one vibration alone another order is the best where its difference passes zero.
    """
    orders = chosen(np.cos(wh * np.arange(400.0)))
    assert orders[:2] == [0, 0]  # nothing to compare yet
    assert orders[2] == 2
    often = np.bincount(orders[20:], minlength=5)
    assert np.argmax(often) == order
    assert often[order] > 1.8 * (often.sum() - often[order])


def test_other_rules_and_predictors_have_no_order():
    u = np.cos(0.1 * np.arange(9.0))
    assert set(chosen(u, predictor=2)) == {0}
    assert set(chosen(u, rule=S.NEWMARK)) == {0}
