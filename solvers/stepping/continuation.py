"""Equilibrium paths: load control, displacement control, arc length; critical points and branches.

A path is a curve of configurations u and load factors f with R(u, f) = 0.  Each point is found from the last by
Newton-Raphson on R = 0 and one more condition on the increment (du, df) of the step,

    load control            df = given
    displacement control    du_k = given
    arc length              du.W du + p^2 df^2 = ds^2       (p = 0: cylindrical, else spherical)

solved by two right sides per tangent (Riks 1979, doi:10.1016/0020-7683(79)90081-7; Crisfield 1981,
doi:10.1016/0045-7949(81)90108-5, with the condition linearised).  The step follows the last one's direction and adapts
to the effort.

Where the number of negative eigenvalues of the tangent changes between two points, the point of the change is bracketed
by the sign of its smallest eigenvalue mu along the step, and told apart by its vector x: a limit point where x.dR/df is
not zero (the load factor turns), a bifurcation where it is (Wriggers & Simo 1990, doi:10.1002/nme.1620300110).  Where
mu does not become small however narrow the bracket is, the stiffness jumps (a contact opens, a rope slackens): a limit
point if the tangents before and behind it turn the load factor, else a jump.  The count of negative eigenvalues is the
Morse index of the path, so that a branch may begin at a jump as at a bifurcation.  The other branch starts in the
direction of x, less its part along the path, with x.W du given.

Newton-Raphson may land elsewhere than on the path: a step that is much longer than asked for, or longer than the
tangents at both of its ends say, that turns back, or within which the count changes although the path between does not
hold together, is refused and made shorter.  A step of arc length may also end behind a narrow bend and go on backwards
from there.  The sign of df times that of the determinant stays along a path, but for bifurcations: a step that
disagrees, and one at whose end the tangent has turned far, is refused too.

The module knows a `Problem` only, neither meshes nor elements.

Theory: docs/theory.md, section 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError

__all__ = ["Critical", "PathSettings", "Point", "Problem", "branching", "follow"]

_DESIRED = 5  # iterations per point
_LIMIT = 1e-4  # of the cosine between null vector and load: beyond, the load factor turns
_LONG = 2.0  # times the length that was asked for, or that the tangents say, beyond which a step has left its path
_TORN = 10.0  # times the length between the ends of a bracket, beyond which the path between them is none
_TURN = 0.5  # cosine between a step and the tangent at its end, below which the step is too long for its bend
_BEND = 2.0**-6  # of the first size, up to which a bend is taken for a corner of the path
_FINE = 2.0**-12  # arc length up to which steps go around corners: the other limb of a smooth bend is farther
_JUMP = 0.05  # of the eigenvalues at the ends of a step, what a jump leaves of them at those of a narrow bracket
_SMOOTH = 12  # evaluations of a bracket, after which the eigenvalues at its ends say nothing on a place where they jump
_NARROW = 1e-6  # of a step, a bracket by which jumps are told
_STRAIGHT = 0.1  # of an increment, by which half a step onto a branch may miss its middle where the branch is steep
_STEEP = 50.0  # times the length that was asked for, beyond which no branch goes


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
class _Walk:
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


def follow(
    problem: Problem, factor: float, settings: PathSettings, on_point: Callable[[Point], None]
) -> tuple[float, list[Critical], dict[str, Any]]:
    """Follow a path from the present configuration at a load factor.

    Calls ``on_point`` for every accepted point.  Returns the last load factor, the critical points, and an account:
    "cuts" of steps, "iterations", "left", the steps that had left the path and were refused, "notes", sentences,
    "ended", whether the path came to its end, and "limit", whether load control stopped below a limit point, which is
    the last of the critical points then.

    Raises:
        ConvergenceError: no step of the smallest size leads on.
    """
    s = settings
    walk = _Walk(factor, s.start_displacement)
    size = s.size
    largest = s.largest if s.control == "arc" else min(s.largest, s.size)
    counted = s.stability or s.control == "arc"
    count = problem.negative(factor) if counted else -1
    walk.odd = counted and problem.reverses(count)
    ended = limit = False
    for _ in range(s.points):
        size, last = _clipped(walk, s, size)
        token = problem.save()
        try:
            step, size = _find(problem, walk, s, size, token)
        except ConvergenceError:
            if limit := _stopped(problem, walk, s, token):
                break
            raise
        step, reach = _landed(problem, walk, s, token, step, size)
        done, increment, new = step
        after = problem.negative(new) if counted else -1
        odd = counted and problem.reverses(after)
        turns = _turns(problem, walk, s, step)
        found, corner = None, False
        try:
            # unasked too, where a bifurcation must be told from a limit point behind which the path goes on backwards
            if after != count and (s.stability or (odd != walk.odd and not turns)):
                corner, end = walk.around is not None, problem.save()
                if not corner:
                    try:
                        found, state, vector = _critical(problem, walk, s, token, reach, count, after)
                    except ConvergenceError:
                        # in the corner of a path that turns sharply no step ends
                        corner = bool(turns) and odd != walk.odd and reach <= min(_BEND * s.size, _FINE)
                        if not corner:
                            raise
                if corner:
                    found = _corner(problem, walk, s, token, end, reach, count, after)
            _oriented(walk, s, new, reach, odd != walk.odd, turns, found)
        except AnalysisError as error:
            if not isinstance(error, _Torn | ConvergenceError):
                raise
            problem.restore(token)
            walk.cuts, walk.left = walk.cuts + 1, walk.left + 1
            size = 0.5 * reach
            if size < s.smallest:
                if limit := _stopped(problem, walk, s, token):
                    break
                raise ConvergenceError(
                    f"path at load factor {walk.factor:.6g}: it ends there, or goes on where no step finds it; "
                    "take smaller steps, or look at what changes there"
                ) from None
            continue
        if found is not None:
            if s.stability:
                walk.criticals.append(found)
            if s.stability and found.jumps:
                walk.notes.append(_told(found))
            if found.kind != "limit" and s.branch and branching(walk.criticals) == s.branch:
                count = _switch(problem, walk, s, state, vector, found, increment, on_point)
                walk.odd = bool(count % 2)
                continue
            if not corner:
                step, _ = _find(problem, walk, s, size, token)
                step, _ = _landed(problem, walk, s, token, step, size)
                done, increment, new = step
        place = walk.displacement + (increment[s.component] if s.component >= 0 else 0.0)
        last = last or _ended(walk, s, new, place)
        _advance(problem, walk, increment, new, place)
        count, walk.odd = after, odd
        on_point(Point(new, walk.length, done, after if s.stability else -1))
        if last:
            ended = True
            break
        size = min(max(size * min(2.0, max(0.5, np.sqrt(_DESIRED / max(done, 1)))), s.smallest), largest)
    account = {
        "cuts": walk.cuts, "iterations": walk.iterations, "left": walk.left, "notes": walk.notes, "ended": ended,
        "limit": limit,
    }  # fmt: skip
    return walk.factor, walk.criticals, account


class _Torn(AnalysisError):
    """Raised for a step that has left its path: its ends lie on different branches."""


def _advance(problem, walk: _Walk, increment: np.ndarray, new: float, place: float) -> None:
    """Make the end of a step the start of the next."""
    walk.length += float(np.sqrt(increment @ (problem.weight * increment)))
    walk.direction, walk.rise = increment, new - walk.factor
    walk.factor, walk.displacement = new, place
    walk.tangent, walk.ahead, walk.around = walk.ahead, None, None
    problem.accept(new)


def branching(criticals: list[Critical]) -> int:
    """Return the number of critical points from which a branch may be followed."""
    return sum(c.kind != "limit" for c in criticals)


def _told(found: Critical) -> str:
    """Return a sentence on a jump of the stiffness."""
    turns = ", and the load factor turns there" if found.kind == "limit" else ""
    return (
        f"the stiffness jumps at load factor {found.factor:.6g} (a contact, a slack member, a corner of a law): its "
        f"negative eigenvalues change from {found.before} to {found.after} without passing zero{turns}"
    )


def _stopped(problem, walk: _Walk, s: PathSettings, token) -> bool:
    """Return whether load control stops because a limit point comes next; add that to the critical points.

    Steps of arc length from the last point, each twice as long as the one before, look for the limit point.
    """
    if s.control != "load" or walk.direction is None:
        return False
    arc = replace(s, control="arc", spherical=0.0, rise=np.inf, end=None, end_displacement=None)
    size = _length(problem, s, walk.direction, 0.0)
    problem.restore(token)
    before = problem.negative(walk.factor)
    walk.tangent = None
    for _ in range(12):
        try:
            _, increment, new = _step(problem, walk, arc, size, False)
            after = problem.negative(new)
            if after != before and _length(problem, arc, increment, 0.0) <= _LONG * size:
                found, _, _ = _critical(problem, walk, arc, token, size, before, after)
                if found.kind == "limit":
                    walk.criticals.append(found)
                return found.kind == "limit"
        except AnalysisError:
            pass
        finally:
            problem.restore(token)
        size *= 2.0
    return False


def _clipped(walk: _Walk, s: PathSettings, size: float) -> tuple[float, bool]:
    """Return the size of the next step, and whether it ends the path, where load or displacement give the end."""
    left = np.inf
    if s.control == "load" and s.end is not None:
        left = abs(s.end - walk.factor)
    elif s.control == "displacement" and s.end_displacement is not None:
        left = abs(s.end_displacement - walk.displacement)
    return (left, True) if size >= left * (1.0 - 1e-9) else (size, False)


def _ended(walk: _Walk, s: PathSettings, new: float, place: float) -> bool:
    """Return whether the step from the walk's last point passes an end that does not clip the steps."""
    if (
        s.control != "load"
        and s.end is not None
        and (walk.factor - s.end) * (new - s.end) <= 0.0 != walk.factor - s.end
    ):
        return True
    return (
        s.control != "displacement"
        and s.end_displacement is not None
        and (walk.displacement - s.end_displacement) * (place - s.end_displacement) <= 0.0
    )


def _landed(problem, walk: _Walk, s: PathSettings, token, step, size: float):
    """Return a step and its size: the given one, or where it passes the path's end the one onto this end.

    The latter comes from Newton-Raphson, started from the part of the increment that lies before the end, with the load
    factor, or the displacement, given instead of the size.  Where that fails, the step stays as it was.
    """
    done, increment, new = step
    place = walk.displacement + (increment[s.component] if s.component >= 0 else 0.0)
    if not _ended(walk, s, new, place):
        return step, size
    by_load = s.control != "load" and s.end is not None and (walk.factor - s.end) * (new - s.end) <= 0.0
    way = place - walk.displacement
    part = (s.end - walk.factor) / (new - walk.factor) if by_load else (s.end_displacement - walk.displacement) / way
    if not 0.0 < part < 1.0:
        return step, size
    problem.restore(token)
    walk.ahead = None
    target = part * way
    factor = s.end if by_load else walk.factor + part * (new - walk.factor)
    try:
        problem.move(part * increment)
        for iteration in range(1, s.iterations + 1):
            r, small = problem.residual(factor)
            if not np.isfinite(r).all():
                break
            u = problem.increment()
            if small and (by_load or abs(u[s.component] - target) <= 1e-12 * abs(target)):
                walk.iterations += iteration
                length = float(np.sqrt(u @ (problem.weight * u) + s.spherical**2 * (factor - walk.factor) ** 2))
                return (done + iteration, u, factor), length if s.control == "arc" else size
            problem.factorise(factor)
            x = problem.solve(-r)
            if not by_load:
                v = problem.solve(-problem.load(factor))
                df = (target - u[s.component] - x[s.component]) / v[s.component]
                x, factor = x + df * v, factor + df
            problem.move(x)
    except AnalysisError:
        pass
    problem.restore(token)
    return _find(problem, walk, s, size, token)


# --- one step --------------------------------------------------------------------------------------------------------
def _find(problem, walk: _Walk, s: PathSettings, size: float, token) -> tuple[tuple[int, np.ndarray, float], float]:
    """Return a step of the given size, or of a smaller one; (iterations, increment, load factor) and the size."""
    search = s.line_search
    walk.around = None
    trouble = ""
    while size >= s.smallest:
        try:
            step = _step(problem, walk, s, size, search)
            _judge(problem, walk, s, size, step)
            return step, size
        except AnalysisError as error:
            walk.left += isinstance(error, _Torn)
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


def _behind(problem, walk: _Walk, s: PathSettings, token, x: np.ndarray, df: float) -> np.ndarray:
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
    if not _length(problem, s, beyond - near, 0.0) < _STRAIGHT * _length(problem, s, near, 0.0):
        raise AnalysisError("the path bends")
    return near


def _same(problem, a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two tangents agree in all displacements, also in those with little weight in the metric."""
    inside = problem.weight > 0.0
    return bool(np.abs(a - b)[inside].max() < _STRAIGHT * np.abs(b)[inside].max())


def _around(problem, walk: _Walk, s: PathSettings, token):
    """Return a step of arc length around a corner, where the stiffness jumps, and its size; None if there is none.

    The path may turn by more than a right angle there, so that no step forward finds it.  Where the determinant changes
    its sign, the load factor turns: the step goes along the tangent behind the corner, with df the other way.
    """
    if s.control != "arc" or walk.direction is None:
        return None
    size = min(_BEND * s.size, _FINE)
    while size >= s.smallest:
        walk.around = None
        problem.restore(token)
        try:
            x, df, _ = _predict(problem, walk, s, size)
            problem.move(x)
            if problem.reverses(problem.negative(walk.factor + df)) != walk.odd:
                walk.around = _behind(problem, walk, s, token, x, df)
                step = _step(problem, walk, s, size, False)
                _, increment, new = step
                near = _length(problem, s, increment, new - walk.factor) <= _LONG * size
                if near and problem.reverses(problem.negative(new)) != walk.odd:
                    problem.factorise(new)
                    walk.ahead = problem.solve(-problem.load(new))
                    if _same(problem, walk.ahead, walk.around):
                        return step, size
        except AnalysisError:
            pass
        size *= 0.5
    walk.around = None
    problem.restore(token)
    return None


def _length(problem, s: PathSettings, increment: np.ndarray, rise: float) -> float:
    return float(np.sqrt(increment @ (problem.weight * increment) + s.spherical**2 * rise**2))


def _judge(problem, walk: _Walk, s: PathSettings, size: float, step) -> None:
    """Refuse a step that has left its path.

    Raises:
        _Torn: it is longer than asked for or than the tangents at its ends allow, turns back, or ends behind a bend.
    """
    _, increment, new = step
    rise = new - walk.factor
    length = _length(problem, s, increment, rise)
    walk.ahead = None
    if s.control == "arc":
        if length > _LONG * size:
            raise _Torn(f"a step is {length:.3g} long where {size:.3g} was asked for")
        if walk.direction is not None:
            along = increment @ (problem.weight * walk.direction) + s.spherical**2 * rise * walk.rise
            far = 0.0 if size > _BEND * s.size else -0.5
            if along < far * length * _length(problem, s, walk.direction, walk.rise):
                raise _Torn("a step turns back")
        problem.factorise(new)
        v = problem.solve(-problem.load(new))
        if np.isfinite(v).all():
            walk.ahead = v
            along = increment @ (problem.weight * v) + s.spherical**2 * rise
            if size > _BEND * s.size and abs(along) < _TURN * length * _length(problem, s, v, 1.0):
                raise _Torn("the path bends within a step")
        return
    if s.control == "load":
        # of a path in one piece, somewhere the tangent is as long as the step
        problem.factorise(new)
        v = problem.solve(-problem.load(new))
        after = np.sqrt(v @ (problem.weight * v)) * abs(rise)
        if length > 1.5 * _LONG * max(after, walk.reach * abs(rise)):
            raise _Torn(f"the next equilibrium is {length:.3g} away; the path turns back or ends between")


def _turns(problem, walk: _Walk, s: PathSettings, step) -> bool | None:
    """Return whether the load factor reverses at the end of a step of arc length; None where that is not known."""
    if s.control != "arc" or walk.ahead is None:
        return None
    _, increment, new = step
    return (increment @ (problem.weight * walk.ahead) + s.spherical**2 * (new - walk.factor)) * walk.sense < 0.0


def _oriented(walk: _Walk, s: PathSettings, new: float, size: float, reverses: bool, turns, found) -> None:
    """Refuse a step of arc length from whose end the path would go on backwards.

    Raises:
        _Torn: the load factor turns within it though the determinant keeps its sign, or does not at a limit point.
    """
    if turns is None or turns == reverses or (found is not None and found.jumps):
        return
    if reverses and (found is None or found.kind != "limit"):
        return
    if size > _BEND * s.size:
        raise _Torn("a step ends behind a bend")
    note = "steps end behind a bend that is too narrow for them, and the path may turn back there; take smaller steps"
    if not walk.bent:
        walk.bent = True
        walk.notes.append(f"at load factor {new:.6g} {note}")


def _predict(problem, walk: _Walk, s: PathSettings, size: float) -> tuple[np.ndarray, float, float]:
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


def _step(problem, walk: _Walk, s: PathSettings, size: float, search: bool, given=None):
    """Solve equilibrium and the condition of the step by Newton-Raphson; return iterations, increment, load factor.

    ``given`` (vector x, amount a): the condition x.W du = a, started at du = a x / x.W x, instead of the control's.
    """
    W = problem.weight
    if given is None:
        x, df, size = _predict(problem, walk, s, size)
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


def _searched(problem, factor: float, x: np.ndarray, df: float, r: np.ndarray):
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


# --- critical points -------------------------------------------------------------------------------------------------
def _smallest(problem, factor: float, start=None) -> tuple[float, np.ndarray]:
    """Return the eigenvalue mu of smallest magnitude of K x + G^T y = mu W x, and x with x.W x = 1, by inverse
    iteration."""
    W = problem.weight
    problem.factorise(factor)
    if start is None:
        start = np.random.default_rng(3).standard_normal(W.size)
    x, mu = start, np.inf
    for _ in range(60):
        x = x / np.sqrt(x @ (W * x))
        y = problem.solve(W * x)
        product = y @ (W * x)
        y_size = np.sqrt(y @ (W * y))
        new = product / y_size**2
        x = y
        if abs(new - mu) <= 1e-10 * abs(new):
            mu = new
            break
        mu = new
    # of two of opposite signs, between which the iteration does not decide, the magnitude is right
    return float(np.copysign(1.0 / y_size, mu)), x / np.sqrt(x @ (W * x))


def _most_negative(problem, factor: float, mu: float, x: np.ndarray) -> np.ndarray:
    """Return the vector x with x.W x = 1 of the negative eigenvalue of smallest magnitude.

    ``mu`` > 0 is the eigenvalue of smallest magnitude of all.  Power iteration works on 1/mu - K^-1 W, of which the
    wanted one is the largest eigenvalue.
    """
    W = problem.weight
    problem.factorise(factor)
    inside = W > 0.0  # multipliers follow from the rest
    x = np.where(inside, x + np.random.default_rng(3).standard_normal(W.size) / np.sqrt(np.where(inside, W, 1.0)), 0.0)
    for _ in range(200):
        x = x / np.sqrt(x @ (W * x))
        x = np.where(inside, x / mu - problem.solve(W * x), 0.0)
    return x / np.sqrt(x @ (W * x))


def _corner(problem, walk: _Walk, s: PathSettings, token, end, size: float, before: int, after: int) -> Critical:
    """Return the limit point in a corner that a short step goes around (`_around`): where the count changes along the
    tangent. Leaves the problem at the ``end`` of the step."""
    walk.around = None
    problem.restore(token)
    x, df, _ = _predict(problem, walk, s, size)
    try:
        behind = _behind(problem, walk, s, token, x, df)
    except AnalysisError:
        raise _Torn("the path bends sharply") from None
    if walk.ahead is None or not _same(problem, walk.ahead, behind):
        raise _Torn("the end of a step does not join the corner")
    low, high = 0.0, 1.0
    while high - low > _NARROW:
        part = 0.5 * (low + high)
        problem.restore(token)
        problem.move(part * x)
        low, high = (part, high) if problem.negative(walk.factor + part * df) == before else (low, part)
    problem.restore(end)
    part = 0.5 * (low + high)
    return Critical(
        "limit", float(walk.factor + part * df), walk.length + part * _length(problem, s, x, 0.0), before, after,
        0.5 * (high - low) * abs(df), True,
    )  # fmt: skip


def _critical(problem, walk: _Walk, s: PathSettings, token, size: float, before: int, after: int):
    """Find the point between the last accepted one and the end of the step where the count changes.

    Regula falsi (Illinois) on the smallest eigenvalue, safeguarded by the counts, brackets the point.  The problem is
    restored to the start of the step.

    Where the eigenvalues at the ends of the bracket do not fall with its width, the bracket is made narrow: the
    eigenvalue then jumps there.

    Returns:
        The point, its state and its null vector.
    """

    def at(part: float):
        problem.restore(token)
        if part == 0.0:
            none = np.zeros_like(problem.weight)
            return walk.factor, before, _smallest(problem, walk.factor), problem.save(), 0.0, none
        _, u, factor = _step(problem, walk, s, part * size, s.line_search)
        if _length(problem, s, u, factor - walk.factor) > _LONG * max(part * size, 1e-9) and s.control == "arc":
            raise _Torn("a step within a bracket is longer than asked for")
        return (
            factor, problem.negative(factor), _smallest(problem, factor), problem.save(),
            float(np.sqrt(u @ (problem.weight * u))), u,
        )  # fmt: skip

    low, high = 0.0, 1.0
    a, b = at(0.0), at(1.0)
    first = best = b
    failures = 0
    left = _JUMP * max(abs(a[2][0]), abs(b[2][0]))  # what a jump leaves of the eigenvalues at the ends of the step

    def jumping() -> bool:
        return max(abs(a[2][0]), abs(b[2][0])) > left

    for k in range(60):
        tight = abs(a[0] - b[0]) <= s.tolerance * max(abs(a[0]), abs(b[0])) and high - low < 0.01
        if (tight and (high - low < _NARROW or not jumping())) or high - low < 1e-12:
            break
        ma, mb = a[2][0], b[2][0]
        part = 0.5 * (low + high)
        if ma * mb < 0.0 and k % 3 < 2 and not (k > _SMOOTH and jumping()):
            part = low + (high - low) * ma / (ma - mb)
            # not onto an end: the bracket must shrink from both sides
            part = min(max(part, low + 0.02 * (high - low)), high - 0.02 * (high - low))
        try:
            middle = at(part)
        except ConvergenceError:
            failures += 1
            if failures > 8:
                if tight:  # Newton-Raphson does not converge at a corner
                    break
                raise
            # from elsewhere between the ends it may succeed
            part = low + (0.1 + 0.09 * failures) * (high - low)
            middle = at(part)
        if abs(middle[2][0]) < abs(best[2][0]):
            best = middle
        if middle[1] == before:
            low, a = part, middle
        else:
            high, b = part, middle
    whole = _length(problem, s, first[5], 0.0)
    gap = _length(problem, s, b[5] - a[5], 0.0)
    if gap > _TORN * (high - low) * whole + 1e-6 * whole and gap > 1e-3 * whole:
        raise _Torn("the path does not hold together where the count changes")
    W = problem.weight
    jumps = jumping()
    if jumps:
        # the side on which more eigenvalues are negative knows the directions that have become so
        best = b if after > before else a
        factor, _, (mu, vector), state, length, _ = best
        along = []
        for end in (a, b):
            problem.restore(end[3])
            problem.factorise(end[0])
            v = problem.solve(-problem.load(end[0]))
            along.append(first[5] @ (W * v))
        kind = "limit" if along[0] * along[1] < 0.0 else "jump"
        problem.restore(state)
        if mu > 0.0:
            vector = _most_negative(problem, factor, mu, vector)
    else:
        best = min((a, b, best), key=lambda entry: abs(entry[2][0]))
        factor, _, (_, vector), state, length, _ = best
        problem.restore(state)
        load = problem.load(factor)
        scaled = np.where(W > 0.0, load / np.sqrt(np.where(W > 0.0, W, 1.0)), 0.0)
        cosine = abs(vector @ load) / max(float(np.linalg.norm(scaled)), 1e-300)
        kind = "limit" if cosine > _LIMIT else "bifurcation"
    found = Critical(kind, float(factor), walk.length + length, before, after, 0.5 * abs(a[0] - b[0]), jumps)
    problem.restore(token)
    return found, state, vector


def _branch_step(problem, walk: _Walk, s: PathSettings, found: Critical, token, vector, amount: float):
    """Return a step onto a branch with its point, and the count of negative eigenvalues there.

    Raises:
        _Torn: the point lies on no branch that begins at the bifurcation: half way out its point is not half as far, or
            nearer; it is too far away; or its count is not between those before and after the bifurcation.
    """
    step = _step(problem, walk, s, 0.0, False, (vector, amount))
    _, increment, new = step
    way, rise = _length(problem, s, increment, 0.0), abs(new - found.factor)
    if way > _STEEP * abs(amount):
        raise _Torn("too far away")
    after = problem.negative(new)
    if not min(found.before, found.after) <= after <= max(found.before, found.after):
        raise _Torn("with other counts of negative eigenvalues than those of a branch")
    point = problem.save()
    problem.restore(token)
    _, half, between = _step(problem, walk, s, 0.0, False, (vector, 0.5 * amount))
    apart = _length(problem, s, half - 0.5 * increment, 0.0)
    # where the path moves on along the branch this is longer than asked for, and straight if the step is short enough
    allowed = 0.4 if way <= _LONG * abs(amount) else _STRAIGHT
    if apart > allowed * way or abs(between - found.factor) > 0.8 * rise + 1e-3 * abs(found.factor):
        raise _Torn("not joined to the critical point")
    problem.restore(point)
    return step, after


def _switch(problem, walk: _Walk, s: PathSettings, state, vector, found: Critical, way, on_point) -> int:
    """Go to the first point of the other branch; return the count of negative eigenvalues there.

    ``way`` is the increment of the path's step over the critical point: on the path itself, x.W du stays zero if x has
    no part along it.

    Raises:
        ConvergenceError: no point of a branch was found, with what was found instead.
    """
    problem.restore(state)
    problem.accept(found.factor)
    walk.length, walk.factor, walk.tangent, walk.ahead = found.length, found.factor, None, None
    token = problem.save()
    W = problem.weight
    vector = vector - (vector @ (W * way)) / (way @ (W * way)) * way
    vector = vector / np.sqrt(vector @ (W * vector))
    # of both sides the one towards the displacement that ends the path, else that of the largest entry
    largest = vector[np.abs(vector * W).argmax()]
    if s.component >= 0 and s.end_displacement is not None and vector[s.component] != 0.0:
        largest = vector[s.component] * (s.end_displacement - s.start_displacement)
    vector = np.sign(largest) * vector
    amount = s.branch_size
    elsewhere: dict[str, int] = {}
    lost = 0
    for _ in range(12):
        try:
            (done, increment, new), after = _branch_step(problem, walk, s, found, token, vector, amount)
            break
        except AnalysisError as error:
            if isinstance(error, _Torn):
                elsewhere[str(error)] = elsewhere.get(str(error), 0) + 1
            else:
                lost += 1
            problem.restore(token)
            walk.cuts += 1
            amount *= 0.5
    else:
        why = [f"{n} led to equilibria {what}" for what, n in elsewhere.items()]
        why += [f"{lost} did not converge"] if lost else []
        remedy = "take another branch_size, or a smaller tolerance of critical points"
        if found.jumps:
            remedy = "the stiffness jumps there, and no branch need begin"
        raise ConvergenceError(
            f"branch at load factor {found.factor:.6g}: no point of it was found; of 12 steps of "
            f"{abs(s.branch_size):.3g} to {2.0 * abs(amount):.2g} of the model's size, {' and '.join(why)}; {remedy}"
        )
    refused = sum(elsewhere.values())
    if refused:
        walk.left += refused
        walk.notes.append(
            f"branch at load factor {found.factor:.6g}: {refused} first steps led to other equilibria and were "
            f"refused; the branch begins with a step of {abs(amount):.3g} of the model's size instead of "
            f"{abs(s.branch_size):.3g}"
        )
    several = abs(found.after - found.before)
    if several > 1:
        walk.notes.append(
            f"branch at load factor {found.factor:.6g}: {several} eigenvalues change their sign there; more than one "
            "branch begins, and the path follows one of them"
        )
    place = walk.displacement + (increment[s.component] if s.component >= 0 else 0.0)
    _advance(problem, walk, increment, new, place)
    on_point(Point(new, walk.length, done, after))
    return after
