"""One step along an equilibrium path: prediction, correction, and whether it has stayed on the path.

A step is found from the last point by Newton-Raphson on R(u, f) = 0 and one condition; see `continuation`.
Newton-Raphson may land elsewhere than on the path: a step that is much longer than asked for, or longer than the
tangents at both of its ends say, that turns back, or within which the count changes although the path between does not
hold together, is refused and made shorter.  A step of arc length may also end behind a narrow bend and go on backwards
from there.  The sign of df times that of the determinant stays along a path, but for bifurcations: a step that
disagrees, and one at whose end the tangent has turned far, is refused too.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Protocol

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError
from fem_mbs.late import dataclass

__all__ = [
    "BEND", "FINE", "LONG", "STRAIGHT", "Critical", "PathSettings", "Point", "Problem", "Step", "Torn", "Walk",
    "advance", "check_sense", "find_step", "load_turns", "predict", "same_tangent", "step_length", "take_step",
    "tangent_behind",
]  # fmt: skip

LONG = 2.0  # times the length that was asked for, or that the tangents say, beyond which a step has left its path
_TURN = 0.5  # cosine between a step and the tangent at its end, below which the step is too long for its bend
BEND = 2.0**-6  # of the first size, up to which a bend is taken for a corner of the path
FINE = 2.0**-12  # arc length up to which steps go around corners: the other limb of a smooth bend is farther
STRAIGHT = 0.1  # of an increment, by which half a step onto a branch may miss its middle where the branch is steep


#: A step that was made: iterations, increment (n,), load factor at its end.
Step = tuple[int, np.ndarray, float]


class Problem(Protocol):
    """An equilibrium problem with a present configuration."""

    weight: np.ndarray  # (n,) metric W of increments; zero for multipliers

    def residual(self, factor: float) -> tuple[np.ndarray, bool]:
        """Return R (n,) at the present configuration, and whether it is small."""

    def factorise(self, factor: float) -> None:
        """Factor the tangent at the present configuration.

        Raises:
            AnalysisError: it is singular.
        """

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution of the last tangent for a right side."""

    def load(self, factor: float) -> np.ndarray:
        """Return dR/df (n,) at the present configuration."""

    def move(self, x: np.ndarray) -> bool:
        """Add an increment; return whether it was no more than round-off."""

    def increment(self) -> np.ndarray:
        """Return the sum of the increments since the last accepted point (n,)."""

    def save(self) -> Any: ...

    def restore(self, token: Any) -> None: ...

    def accept(self, factor: float) -> None:
        """Make the present configuration the start of the next step."""

    def negative(self, factor: float) -> int:
        """Return the number of negative eigenvalues of the tangent, on the null space of the constraints."""

    def reverses(self, count: int) -> bool:
        """Return whether the determinant is negative where `negative` has just found that count."""

    def blame(self) -> str:
        """Return a text that names the place of the largest residual."""


@dataclass(frozen=True)
class PathSettings:
    """How a path is followed.

    ``control`` "load", "displacement" or "arc"; ``size`` of the first step: of the load factor, of the displacement of
    unknown ``component``, or arc length; ``largest`` (arc length only: others keep their size), ``smallest`` sizes;
    ``spherical``: p of the arc length; ``rise``: bound of the load factor's change in a step of arc length; ``end`` of
    the load factor, ``end_displacement`` of the component (None: no end); ``points`` at most; ``stability``: count
    negative eigenvalues and find critical points, to ``tolerance`` of the load factor; ``branch``: number of the
    bifurcation from which the path goes on along the other branch (0: none), with ``branch_size`` (negative: to the
    other side); ``line_search``: always, else only after a failure.
    """

    control: str = "arc"
    size: float = 0.05
    largest: float = np.inf
    smallest: float = 1e-6
    spherical: float = 0.0
    rise: float = np.inf
    component: int = -1
    start_displacement: float = 0.0
    end: float | None = None
    end_displacement: float | None = None
    points: int = 200
    stability: bool = True
    tolerance: float = 1e-6
    branch: int = 0
    branch_size: float = 0.01
    line_search: bool = False
    iterations: int = 25


@dataclass(frozen=True)
class Point:
    """A point of the path: load factor, length of the path, iterations, negative eigenvalues (-1: not counted)."""

    factor: float
    length: float
    iterations: int
    negative: int


@dataclass(frozen=True)
class Critical:
    """A critical point: its kind, load factor, the path's length there, negative eigenvalues before and after, half of
    the bracket of the load factor, and whether the stiffness jumps there.

    At a "limit" the load factor turns; at a "bifurcation" eigenvalues pass zero on a path that goes on; at a "jump"
    they change their sign there without passing zero.
    """

    kind: str
    factor: float
    length: float
    before: int
    after: int
    error: float
    jumps: bool = False


@dataclass
class Walk:
    """Holds the position on a path: last point, direction and step size."""

    factor: float
    displacement: float = 0.0  # of the settings' component
    length: float = 0.0
    direction: np.ndarray | None = None
    rise: float = 0.0  # df of the last step
    reach: float = np.inf  # length of the tangent at its end, per load factor
    tangent: np.ndarray | None = None  # du/df at its end, if it is known
    ahead: np.ndarray | None = None  # the same at the end of a step of arc length under way
    sense: float = 0.0  # sign of df along the path, at the start of that step
    odd: bool = False  # whether the determinant is negative at its end
    around: np.ndarray | None = None  # du/df behind a corner, for a step around it
    cuts: int = 0
    iterations: int = 0
    left: int = 0  # steps refused since they had left the path
    criticals: list[Critical] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bent: bool = False  # whether a note says that a step ended behind a narrow bend


class Torn(AnalysisError):
    """Raised for a step that has left its path: its ends lie on different branches."""


def advance(problem: Problem, walk: Walk, increment: np.ndarray, new: float, place: float) -> None:
    """Make the end of a step the start of the next."""
    walk.length += float(np.sqrt(increment @ (problem.weight * increment)))
    walk.direction, walk.rise = increment, new - walk.factor
    walk.factor, walk.displacement = new, place
    walk.tangent, walk.ahead, walk.around = walk.ahead, None, None
    problem.accept(new)


def step_length(problem: Problem, s: PathSettings, increment: np.ndarray, rise: float) -> float:
    return float(np.sqrt(increment @ (problem.weight * increment) + s.spherical**2 * rise**2))


def same_tangent(problem: Problem, a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two tangents agree in all displacements, also in those with little weight in the metric."""
    inside = problem.weight > 0.0
    return bool(np.abs(a - b)[inside].max() < STRAIGHT * np.abs(b)[inside].max())


def load_turns(problem: Problem, walk: Walk, s: PathSettings, step: Step) -> bool | None:
    """Return whether the load factor reverses at the end of a step of arc length; None where that is not known."""
    if s.control != "arc" or walk.ahead is None:
        return None
    _, increment, new = step
    return (increment @ (problem.weight * walk.ahead) + s.spherical**2 * (new - walk.factor)) * walk.sense < 0.0


def check_sense(
    walk: Walk, s: PathSettings, new: float, size: float, reverses: bool, turns: bool | None, found: Critical | None
) -> None:
    """Refuse a step of arc length from whose end the path would go on backwards.

    Raises:
        Torn: the load factor turns within it though the determinant keeps its sign, or does not at a limit point.
    """
    if turns is None or turns == reverses or (found is not None and found.jumps):
        return
    if reverses and (found is None or found.kind != "limit"):
        return
    if size > BEND * s.size:
        raise Torn("a step ends behind a bend")
    note = "steps end behind a bend that is too narrow for them, and the path may turn back there; take smaller steps"
    if not walk.bent:
        walk.bent = True
        walk.notes.append(f"at load factor {new:.6g} {note}")


def find_step(problem: Problem, walk: Walk, s: PathSettings, size: float, token: Any) -> tuple[Step, float]:
    """Return a step of the given size, or of a smaller one; (iterations, increment, load factor) and the size."""
    search = s.line_search
    walk.around = None
    trouble = ""
    while size >= s.smallest:
        try:
            step = take_step(problem, walk, s, size, search)
            _judge(problem, walk, s, size, step)
            return step, size
        except AnalysisError as error:
            walk.left += isinstance(error, Torn)
            trouble = str(error)
            problem.restore(token)
            walk.cuts += 1
            size *= 0.5
            search = True
    if (corner := _around(problem, walk, s, token)) is not None:
        return corner
    raise ConvergenceError(
        f"path at load factor {walk.factor:.6g}: no step of size {s.smallest:.3g} and more converged ({trouble}); "
        "take smaller steps, or look at the supports and loads there"
    )


def tangent_behind(problem: Problem, walk: Walk, s: PathSettings, token: Any, x: np.ndarray, df: float) -> np.ndarray:
    """Return du/df behind a corner, at a first guess (x, df) of a step; leaves the problem at the start of the step.

    Raises:
        AnalysisError: there is none; behind a corner the tangent stays, behind a smooth bend it goes on to turn.
    """
    tangents = []
    for far in (1.0, 2.0):
        problem.restore(token)
        problem.move(far * x)
        problem.factorise(walk.factor + far * df)
        tangents.append(problem.solve(-problem.load(walk.factor + far * df)))
    problem.restore(token)
    near, beyond = tangents
    if not step_length(problem, s, beyond - near, 0.0) < STRAIGHT * step_length(problem, s, near, 0.0):
        raise AnalysisError("the path bends")
    return near


def _around(problem: Problem, walk: Walk, s: PathSettings, token: Any) -> tuple[Step, float] | None:
    """Return a step of arc length around a corner, where the stiffness jumps, and its size; None if there is none.

    The path may turn by more than a right angle there, so that no step forward finds it.  Where the determinant changes
    its sign, the load factor turns: the step goes along the tangent behind the corner, with df the other way.
    """
    if s.control != "arc" or walk.direction is None:
        return None
    size = min(BEND * s.size, FINE)
    while size >= s.smallest:
        walk.around = None
        problem.restore(token)
        try:
            x, df, _ = predict(problem, walk, s, size)
            problem.move(x)
            if problem.reverses(problem.negative(walk.factor + df)) != walk.odd:
                walk.around = tangent_behind(problem, walk, s, token, x, df)
                step = take_step(problem, walk, s, size, False)
                _, increment, new = step
                near = step_length(problem, s, increment, new - walk.factor) <= LONG * size
                if near and problem.reverses(problem.negative(new)) != walk.odd:
                    problem.factorise(new)
                    walk.ahead = problem.solve(-problem.load(new))
                    if same_tangent(problem, walk.ahead, walk.around):
                        return step, size
        except AnalysisError:
            pass
        size *= 0.5
    walk.around = None
    problem.restore(token)
    return None


def _judge(problem: Problem, walk: Walk, s: PathSettings, size: float, step: Step) -> None:
    """Refuse a step that has left its path.

    Raises:
        Torn: it is longer than asked for or than the tangents at its ends allow, turns back, or ends behind a bend.
    """
    _, increment, new = step
    rise = new - walk.factor
    length = step_length(problem, s, increment, rise)
    walk.ahead = None
    if s.control == "arc":
        if length > LONG * size:
            raise Torn(f"a step is {length:.3g} long where {size:.3g} was asked for")
        if walk.direction is not None:
            along = increment @ (problem.weight * walk.direction) + s.spherical**2 * rise * walk.rise
            far = 0.0 if size > BEND * s.size else -0.5
            if along < far * length * step_length(problem, s, walk.direction, walk.rise):
                raise Torn("a step turns back")
        problem.factorise(new)
        v = problem.solve(-problem.load(new))
        if np.isfinite(v).all():
            walk.ahead = v
            along = increment @ (problem.weight * v) + s.spherical**2 * rise
            if size > BEND * s.size and abs(along) < _TURN * length * step_length(problem, s, v, 1.0):
                raise Torn("the path bends within a step")
        return
    if s.control == "load":
        # of a path in one piece, somewhere the tangent is as long as the step
        problem.factorise(new)
        v = problem.solve(-problem.load(new))
        after = np.sqrt(v @ (problem.weight * v)) * abs(rise)
        if length > 1.5 * LONG * max(after, walk.reach * abs(rise)):
            raise Torn(f"the next equilibrium is {length:.3g} away; the path turns back or ends between")


def predict(problem: Problem, walk: Walk, s: PathSettings, size: float) -> tuple[np.ndarray, float, float]:
    """Return the first guess (du, df) of a step, along the tangent of the path in the direction of the last step,
    and the step's size."""
    W = problem.weight
    if walk.tangent is None:
        problem.factorise(walk.factor)
        walk.tangent = problem.solve(-problem.load(walk.factor))
    v = walk.tangent
    walk.reach = float(np.sqrt(v @ (W * v)))
    if s.control == "load":
        df = np.sign(s.end - walk.factor) * size if s.end is not None else size
        return df * v, df, size
    if s.control == "displacement":
        if v[s.component] == 0.0:
            raise AnalysisError("the load does not move the controlled displacement")
        assert s.end_displacement is not None
        sign = np.sign(s.end_displacement - s.start_displacement)
        df = sign * size / v[s.component]
        return df * v, df, size
    if walk.around is not None:
        v = walk.around
    length = np.sqrt(v @ (W * v) + s.spherical**2)
    size = min(size, s.rise * length)
    df = size / length
    if walk.around is not None:
        return -walk.sense * df * v, -walk.sense * df, size
    if walk.direction is not None:
        along = v @ (W * walk.direction) + s.spherical**2 * walk.rise
        df *= -1.0 if along < 0.0 else 1.0
    elif s.end is not None and s.end < walk.factor:
        df = -df
    walk.sense = np.sign(df)
    return df * v, df, size


def take_step(
    problem: Problem,
    walk: Walk,
    s: PathSettings,
    size: float,
    search: bool,
    given: tuple[np.ndarray, float] | None = None,
) -> Step:
    """Solve equilibrium and the condition of the step by Newton-Raphson; return iterations, increment, load factor.

    ``given`` (vector x, amount a): the condition x.W du = a, started at du = a x / x.W x, instead of the control's.
    """
    W = problem.weight
    if given is None:
        x, df, size = predict(problem, walk, s, size)
    else:
        vector, amount = given
        x, df = amount / (vector @ (W * vector)) * vector, 0.0
    problem.move(x)
    factor = walk.factor + df
    for iteration in range(1, s.iterations + 1):
        r, small = problem.residual(factor)
        if not np.isfinite(r).all():
            raise AnalysisError("the residual is not finite")
        if small:
            walk.iterations += iteration
            return iteration, problem.increment(), factor
        problem.factorise(factor)
        x = problem.solve(-r)
        if given is None and s.control == "load":
            df = 0.0
        else:
            v = problem.solve(-problem.load(factor))
            u = problem.increment()
            if given is not None:
                g, a, b = vector @ (W * u) - amount, W * vector, 0.0
            elif s.control == "displacement":
                a = np.zeros_like(u)
                a[s.component] = 1.0
                assert s.end_displacement is not None
                sign = np.sign(s.end_displacement - s.start_displacement)
                g, b = u[s.component] - sign * size, 0.0
            else:
                rise = factor - walk.factor
                a, b = W * u, s.spherical**2 * rise
                g = 0.5 * (u @ (W * u) + s.spherical**2 * rise**2 - size**2)
            bottom = a @ v + b
            if bottom == 0.0:
                raise AnalysisError("the path has no tangent here")
            df = -(g + a @ x) / bottom
            x = x + df * v
        if search:
            x, df = _searched(problem, factor, x, df, r)
        tiny = problem.move(x)
        factor += df
        if tiny and iteration > 1 and abs(df) <= 1e-12 * max(1.0, abs(factor)):
            walk.iterations += iteration
            return iteration, problem.increment(), factor
    raise ConvergenceError(f"no convergence in {s.iterations} iterations, worst at {problem.blame()}")


def _searched(problem: Problem, factor: float, x: np.ndarray, df: float, r: np.ndarray):
    """Search along an increment for the length at which the residual does no work on it (Crisfield 1982).

    Returns the increment and the change of the load factor.
    """
    s0 = x @ r
    if s0 == 0.0:
        return x, df
    eta = 1.0
    for _ in range(4):
        token = problem.save()
        problem.move(eta * x)
        after, _ = problem.residual(factor + eta * df)
        problem.restore(token)
        ratio = (x @ after) / s0
        if abs(ratio) <= 0.8:
            break
        # secant through the start, where the ratio is 1; back by half where that leads nowhere
        eta = float(np.clip(eta / (1.0 - ratio), 0.1, 10.0)) if ratio < 1.0 else 0.5 * eta
    return eta * x, eta * df
