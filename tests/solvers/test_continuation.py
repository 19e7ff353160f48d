"""Equilibrium paths of problems in one and two unknowns, with closed forms for limits, bifurcations and branches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from fem_mbs.errors import AnalysisError, ConvergenceError
from fem_mbs.solvers.equilibria.continuation import follow
from fem_mbs.solvers.equilibria.path_steps import PathSettings, _searched


class Numeric:
    """R(u, f) = force(u) - f load, with its stiffness."""

    def __init__(self, force, stiffness, load, n):
        self.force, self.stiffness, self.direction = force, stiffness, np.array(load, float)
        self.weight = np.ones(n)
        self.start = np.zeros(n)
        self.step = np.zeros(n)
        self.factorisations = 0

    @property
    def u(self):
        return self.start + self.step

    def residual(self, factor):
        r = self.force(self.u) - factor * self.direction
        return r, bool(np.abs(r).max() < 1e-12 * max(1.0, abs(factor)))

    def factorise(self, factor):
        self.K = self.stiffness(self.u)
        self.factorisations += 1

    def solve(self, b):
        try:
            return np.linalg.solve(self.K, b)
        except np.linalg.LinAlgError:
            raise AnalysisError("singular") from None

    def load(self, factor):
        return -self.direction

    def move(self, x):
        self.step = self.step + x
        return bool(np.abs(x).max() < 1e-15)

    def increment(self):
        return self.step.copy()

    def save(self):
        return self.start.copy(), self.step.copy()

    def restore(self, token):
        self.start, self.step = (a.copy() for a in token)

    def accept(self, factor):
        self.start, self.step = self.u, np.zeros_like(self.start)

    def negative(self, factor):
        return int((np.linalg.eigvalsh(self.stiffness(self.u)) < 0.0).sum())

    def reverses(self, count):
        return bool(np.linalg.det(self.stiffness(self.u)) < 0.0)

    def blame(self):
        return "the unknown"


def snap():
    """f = u (1 - u)(1 - u/2): limit points at u = 1 -+ 1/sqrt 3, f = +-1/(3 sqrt 3)."""
    return Numeric(
        lambda u: u * (1.0 - u) * (1.0 - 0.5 * u),
        lambda u: np.array([[1.0 - 3.0 * u[0] + 1.5 * u[0] ** 2]]),
        [1.0],
        1,
    )


def pitchfork():
    """u1 = f and u2 (1 - u1 + u2^2) = 0: from f = 1 on the branch f = 1 + u2^2."""
    return Numeric(
        lambda u: np.array([u[0] - 0.5 * u[1] ** 2, u[1] * (1.0 - u[0] + u[1] ** 2)]),
        lambda u: np.array([[1.0, -u[1]], [-u[1], 1.0 - u[0] + 3.0 * u[1] ** 2]]),
        [1.0, 0.0],
        2,
    )


def walk(problem, **settings):
    points = []
    places = []

    def on_point(point):
        points.append(point)
        places.append(problem.u.copy())

    answer = follow(problem, 0.0, PathSettings(**settings), on_point)
    return points, np.array(places), answer


LIMIT = 1.0 / (3.0 * np.sqrt(3.0))


@pytest.mark.parametrize("spherical", [0.0, 1.0])
def test_limit_points_by_arc_length(spherical):
    points, u, (_, criticals, counts) = walk(
        snap(), size=0.05, points=60, end=0.5, largest=0.1, spherical=spherical, tolerance=1e-8
    )
    assert [c.kind for c in criticals] == ["limit", "limit"]
    assert criticals[0].factor == pytest.approx(LIMIT, rel=1e-7)
    assert criticals[1].factor == pytest.approx(-LIMIT, rel=1e-7)
    assert criticals[0].length == pytest.approx(1.0 - 1.0 / np.sqrt(3.0), abs=2e-3)
    assert [(c.before, c.after) for c in criticals] == [(0, 1), (1, 0)]
    assert points[-1].factor == 0.5  # the last step ends there, not beyond
    assert u[-1, 0] > 2.0
    assert u[-1, 0] * (1.0 - u[-1, 0]) * (1.0 - 0.5 * u[-1, 0]) == pytest.approx(0.5, rel=1e-10)
    between = (u[:, 0] > 1.0 - 1.0 / np.sqrt(3.0)) & (u[:, 0] < 1.0 + 1.0 / np.sqrt(3.0))
    assert (np.array([p.negative for p in points])[between] == 1).all()
    assert (np.array([p.negative for p in points])[~between] == 0).all()
    assert counts["cuts"] == 0


def test_displacement_control_passes_a_limit():
    points, u, (factor, criticals, _) = walk(
        snap(), control="displacement", component=0, size=0.1, end_displacement=1.5, points=50
    )
    assert u[-1, 0] == pytest.approx(1.5, rel=1e-12)
    assert len(points) == 15
    assert factor == pytest.approx(1.5 * -0.5 * 0.25, rel=1e-10)
    assert [c.kind for c in criticals] == ["limit", "limit"][:1]


def test_arc_length_lands_on_its_end():
    """Long steps of arc length end on the load, or beyond the limit point, where it falls, on the displacement."""
    points, _, (factor, _, _) = walk(snap(), size=0.08, largest=0.3, points=40, end=0.1)
    assert points[-1].factor == factor == 0.1
    points, u, (factor, _, _) = walk(snap(), size=0.08, largest=0.3, points=40, component=0, end_displacement=1.3)
    assert u[-1, 0] == pytest.approx(1.3, rel=1e-12)
    assert factor == pytest.approx(1.3 * -0.3 * 0.35, rel=1e-9)
    assert points[-1].negative == 1


def test_load_control_ends_on_its_load_and_not_beyond_a_limit():
    points, _u, (factor, criticals, _) = walk(snap(), control="load", size=0.05, end=0.15)
    assert factor == 0.15
    assert not criticals
    assert len(points) == 3
    # beyond the limit load the only equilibrium is far away: the walk ends below, and tells the limit point
    points, u, (factor, criticals, account) = walk(
        snap(), control="load", size=0.05, end=0.25, smallest=1e-3, iterations=4, tolerance=1e-8
    )
    assert [c.kind for c in criticals] == ["limit"]
    assert criticals[0].factor == pytest.approx(LIMIT, rel=1e-7)
    assert LIMIT - 2e-3 < factor == points[-1].factor < LIMIT
    assert u[-1, 0] < 1.0 - 1.0 / np.sqrt(3.0)
    assert (account["limit"], account["ended"]) == (True, False)


def test_load_control_that_ends_for_another_reason_says_so():
    """u = 1/2 - sqrt(1/4 - f) ends at f = 1/4, and the load factor does not turn there: R is not a number beyond."""
    problem = Numeric(
        lambda u: np.where(u < 0.5, u * (1.0 - u), np.nan), lambda u: np.array([[1.0 - 2.0 * u[0]]]), [1.0], 1
    )
    with pytest.raises(ConvergenceError, match=r"path at load factor 0\.2.*: no step of size"):
        walk(problem, control="load", size=0.05, end=0.4, smallest=1e-3)


def test_bifurcation_is_told_and_the_path_goes_on():
    points, u, (_, criticals, _) = walk(pitchfork(), size=0.15, points=12, largest=0.15, tolerance=1e-9)
    assert [c.kind for c in criticals] == ["bifurcation"]
    assert criticals[0].factor == pytest.approx(1.0, rel=1e-8)
    assert np.abs(u[:, 1]).max() == 0.0  # the trivial path
    assert [p.negative for p in points][-1] == 1


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_branch_switching(side):
    points, u, (_, criticals, _) = walk(
        pitchfork(), size=0.15, points=30, largest=0.2, branch=1, branch_size=0.05 * side, end=2.5
    )
    on = np.abs(u[:, 1]) > 1e-6
    assert on.sum() > 5
    f = np.array([p.factor for p in points])
    # u1 = f + u2^2/2 and 1 - u1 + u2^2 = 0
    assert np.abs(f[on] - (1.0 + 0.5 * u[on, 1] ** 2)).max() < 1e-9
    assert len(set(np.sign(u[on, 1]))) == 1
    assert all(p.negative == 0 for p, here in zip(points, on, strict=True) if here)
    assert criticals[0].kind == "bifurcation"


def torn():
    """u1 = f but for a jump of the stiffness: u2 (k + u1 u2^2) = 0 with k = 1/2 below u1 = 1/2, -1/2 above, where the
    count changes though no eigenvalue vanishes; the solutions u2^2 = 1/(2 u1) begin nowhere near."""

    def k(u):
        return 0.5 if u[0] < 0.5 else -0.5

    return Numeric(
        lambda u: np.array([u[0], u[1] * (k(u) + u[0] * u[1] ** 2)]),
        lambda u: np.array([[1.0, 0.0], [u[1] ** 3, k(u) + 3.0 * u[0] * u[1] ** 2]]),
        [1.0, 0.0],
        2,
    )


@pytest.mark.parametrize("branch_size", [0.5, 1.0, 1.4])
def test_no_branch_is_made_up_where_none_begins(branch_size):
    """A solution that is not joined to the point where the count changes is refused."""
    with pytest.raises(
        ConvergenceError,
        match=r"branch at load factor 0\.5: no point of it was found; of 12 steps .* the stiffness jumps there",
    ):
        walk(torn(), end=2.0, size=0.1, branch=1, branch_size=branch_size, points=20)


def test_a_jump_of_the_stiffness_is_no_bifurcation():
    _, u, (_, criticals, account) = walk(torn(), end=1.0, size=0.1, points=30, tolerance=1e-9)
    assert [(c.kind, c.jumps, c.before, c.after) for c in criticals] == [("jump", True, 0, 1)]
    assert criticals[0].factor == pytest.approx(0.5, rel=1e-8)
    assert np.abs(u[:, 1]).max() == 0.0
    assert any("the stiffness jumps at load factor 0.5" in text for text in account["notes"])


@pytest.mark.parametrize("soft", [-0.01, -0.5, -20.0])
def test_a_limit_point_where_the_stiffness_jumps(soft):
    """f = u up to u = 1, then 1 + soft (u - 1): the load factor turns in a corner."""
    problem = Numeric(
        lambda u: np.where(u < 1.0, u, 1.0 + soft * (u - 1.0)),
        lambda u: np.array([[1.0 if u[0] < 1.0 else soft]]),
        [1.0],
        1,
    )
    _, u, (_, criticals, account) = walk(problem, size=0.07, largest=0.07, points=30, tolerance=1e-8)
    assert [(c.kind, c.jumps) for c in criticals] == [("limit", True)]
    assert criticals[0].factor == pytest.approx(1.0, rel=1e-5)
    assert u[-1, 0] > 1.5
    assert any("the load factor turns there" in text for text in account["notes"])


@pytest.mark.parametrize("stability", [False, True])
@pytest.mark.parametrize(("soft", "weight"), [(-3.0, 1.0), (-1.5, 0.01), (-10.0, 3.0)])
def test_paths_go_around_a_corner(soft, weight, stability):
    """The same behind a spring of stiffness 1: the load point turns back where the stiffness jumps, and the path with
    it by more than a right angle."""

    def law(u):
        return u[1] if u[1] < 1.0 else 1.0 + soft * (u[1] - 1.0)

    def slope(u):
        return 1.0 if u[1] < 1.0 else soft

    problem = Numeric(
        lambda u: np.array([u[0] - u[1], law(u) - u[0] + u[1]]),
        lambda u: np.array([[1.0, -1.0], [-1.0, 1.0 + slope(u)]]),
        [1.0, 0.0],
        2,
    )
    problem.weight = np.array([1.0, weight])
    points, u, (_, criticals, account) = walk(
        problem,
        size=0.1,
        largest=0.1,
        points=200,
        stability=stability,
        tolerance=1e-7,
        component=1,
        end_displacement=1.0 - 1.5 / soft,
    )
    assert account["ended"]
    f = np.array([p.factor for p in points])
    assert u[:, 1] == pytest.approx(np.where(u[:, 1] < 1.0, f, 1.0 + (f - 1.0) / soft), abs=1e-9)
    assert u[:, 0] == pytest.approx(u[:, 1] + f, abs=1e-9)
    assert (np.diff(u[:, 1]) > 0.0).all()
    assert f[-1] == pytest.approx(-0.5, rel=1e-9)
    assert [(c.kind, c.jumps) for c in criticals] == [("limit", True)] * stability
    assert all(c.factor == pytest.approx(1.0, rel=1e-5) for c in criticals)


M, K = 1.0, 4.0


def guyed(c):
    """A strut u1 with ropes at its top, u2 aside: energy u1^2/2 - f u1 - M u2^2/2 + K/2 sum <+-u2 - c (u1 - 1)>^2.

    Both ropes slacken at u1 = f = 1, where the stiffness of u2 falls from 2 K - M to -M.  On the branch one is taut:
    M u2 = K (u2 - c (u1 - 1)) and u1 - f = c M u2.
    """

    def taut(u):
        pull = np.array([u[1], -u[1]]) - c * (u[0] - 1.0)
        return np.where(pull > 0.0, pull, 0.0), pull > 0.0

    def force(u):
        pull, _ = taut(u)
        return np.array([u[0] - c * K * pull.sum(), -M * u[1] + K * (pull[0] - pull[1])])

    def stiffness(u):
        _, on = taut(u)
        rows = np.array([[-c, 1.0], [-c, -1.0]])[on]
        return np.diag([1.0, -M]) + K * rows.T @ rows

    return Numeric(force, stiffness, [1.0, 0.0], 2)


@pytest.mark.parametrize("c", [0.5, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_branch_that_begins_where_ropes_slacken(c, side):
    """At c = 0.1 the branch goes 7.5 times as far along the path as aside."""
    problem = guyed(c)
    problem.start[:] = 1.0 - 1.0 / (1.0 + 2.0 * K * c * c), 0.0  # f = 0: u1 = 2 K c^2 (1 - u1)
    points, u, (_, criticals, account) = walk(
        problem, end=3.0, size=0.1, largest=0.2, points=60, branch=1, branch_size=0.05 * side
    )
    assert [(x.kind, x.before, x.after) for x in criticals] == [("jump", 0, 1)]
    assert criticals[0].factor == pytest.approx(1.0, rel=1e-5)
    on = np.abs(u[:, 1]) > 1e-3
    assert on.sum() > 5
    f, aside = np.array([p.factor for p in points])[on], K * c / (K - M) * (u[on, 0] - 1.0)
    assert u[on, 1] == pytest.approx(side * aside, rel=1e-9)
    assert f == pytest.approx(u[on, 0] - c * M * aside, rel=1e-9)
    assert f[-1] == 3.0
    assert all(p.negative == 0 for p in np.array(points, object)[on])
    assert account["ended"]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_branch_beside_a_softer_direction(side):
    """A spring of stiffness K/20 elsewhere has the smallest eigenvalue on both sides of the jump, and takes no part."""
    two = guyed(0.5)
    problem = Numeric(
        lambda u: np.append(two.force(u), K / 20.0 * u[2]),
        lambda u: scipy.linalg.block_diag(two.stiffness(u), [[K / 20.0]]),
        [1.0, 0.0, 0.0],
        3,
    )
    problem.start[0] = 1.0 - 1.0 / (1.0 + 0.5 * K)
    _, u, (_, criticals, _) = walk(
        problem, end=3.0, size=0.1, largest=0.2, points=60, branch=1, branch_size=0.05 * side
    )
    assert [(x.kind, x.before, x.after) for x in criticals] == [("jump", 0, 1)]
    on = np.abs(u[:, 1]) > 1e-3
    assert on.sum() > 5
    assert u[on, 1] == pytest.approx(side * 0.5 * K / (K - M) * (u[on, 0] - 1.0), rel=1e-9)
    assert np.abs(u[:, 2]).max() < 1e-12


@pytest.mark.parametrize("skew", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_transcritical_branch(skew, side):
    """Energy w^2/2 - f w + v^2 (1 - w)/2 + v^3/3: v = 0, w = f, and from f = 1 on v = w - 1, w = f + v^2/2, with the
    unknowns u = (w, v + skew w), in which the null vector is not normal to the path."""
    T = np.array([[1.0, 0.0], [-skew, 1.0]])  # (w, v) of u

    def force(u):
        w, v = T @ u
        return T.T @ np.array([w - 0.5 * v * v, v * (1.0 - w) + v * v])

    def stiffness(u):
        w, v = T @ u
        return T.T @ np.array([[1.0, -v], [-v, 1.0 - w + 2.0 * v]]) @ T

    problem = Numeric(force, stiffness, T.T @ [1.0, 0.0], 2)
    points, u, (_, criticals, _) = walk(problem, size=0.1, largest=0.1, points=40, branch=1, branch_size=0.05 * side)
    assert criticals[0].kind == "bifurcation"
    assert criticals[0].factor == pytest.approx(1.0, rel=1e-5)
    w, v = T @ u.T
    on = np.abs(v) > 1e-3
    assert on.sum() > 5
    assert v[on] == pytest.approx(w[on] - 1.0, rel=1e-9)
    assert np.array([p.factor for p in points])[on] == pytest.approx(w[on] - 0.5 * v[on] ** 2, rel=1e-9)


@pytest.mark.parametrize("stability", [False, True])
@pytest.mark.parametrize(
    ("k", "weight", "size"),
    [(0.33297, 0.0547, 0.034139), (0.0930599, 0.879971, 0.269519), (0.22121, 0.656575, 0.181249)],
)
def test_paths_do_not_turn_back_at_a_narrow_bend(k, weight, size, stability):
    """Snap-through behind a soft spring k: both unknowns turn back at the limit points, in a bend that a long step
    passes to land on the far limb, from where the path would go on backwards."""
    top = 1.0 / LIMIT
    problem = Numeric(
        lambda u: np.array([k * (u[0] - u[1]), top * u[1] * (1.0 - u[1]) * (1.0 - 0.5 * u[1]) - k * (u[0] - u[1])]),
        lambda u: np.array([[k, -k], [-k, k + top * (1.0 - 3.0 * u[1] + 1.5 * u[1] ** 2)]]),
        [1.0, 0.0],
        2,
    )
    problem.weight = np.array([1.0, weight])
    points, u, (_, criticals, account) = walk(
        problem, size=size, smallest=size * 2.0**-12, stability=stability, component=1, end_displacement=2.2
    )
    assert account["ended"]
    assert u[-1, 1] == pytest.approx(2.2, rel=1e-9)
    assert (np.diff(u[:, 1]) > 0.0).all()
    assert [c.kind for c in criticals] == ["limit", "limit"] * stability
    assert {p.negative for p in points} == ({0, 1} if stability else {-1})


def test_load_control_does_not_jump_over_a_limit():
    """Newton-Raphson would find the far branch of the snap-through beyond the limit load; the path does not."""
    _, u, (factor, criticals, account) = walk(snap(), control="load", end=0.4, size=0.2, smallest=1e-4, stability=False)
    assert u.max() < 1.0 - 1.0 / np.sqrt(3.0)
    assert LIMIT - 2e-4 < factor < LIMIT
    assert account["limit"]
    assert criticals[0].factor == pytest.approx(LIMIT, rel=1e-6)


def test_paths_tell_whether_they_came_to_their_end():
    for points, ended in ((3, False), (200, True)):
        assert walk(snap(), end=0.15, size=0.01, largest=0.02, points=points)[2][2]["ended"] is ended


def test_effort():
    problem = snap()
    points, _, (_, _, counts) = walk(problem, size=0.05, points=40, largest=0.1, stability=False)
    assert counts["iterations"] <= 5 * len(points)
    assert problem.factorisations <= counts["iterations"] + len(points)


def test_line_search_takes_the_work_out_of_an_increment():
    """Twice Newton's increment on a cubic spring ends as far on the other side; half of it is right."""
    problem = Numeric(lambda u: u**3, lambda u: np.diag(3.0 * u**2), [1.0], 1)
    problem.start[:] = 1.0
    x, _ = _searched(problem, 0.0, np.array([-2.0]), 0.0, problem.force(problem.u))
    assert x[0] == pytest.approx(-1.0)
    short, _ = _searched(problem, 0.0, np.array([-0.05]), 0.0, problem.force(problem.u))
    assert short[0] < -0.2  # stretched
    assert (problem.u == 1.0).all()
