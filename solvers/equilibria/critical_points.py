"""Critical points of an equilibrium path: limit points, bifurcations, jumps of the stiffness, and other branches.

Where the number of negative eigenvalues of the tangent changes between two points, the point of the change is bracketed
by the sign of its smallest eigenvalue mu along the step, and told apart by its vector x: a limit point where x.dR/df is
not zero (the load factor turns), a bifurcation where it is (Wriggers & Simo 1990, doi:10.1002/nme.1620300110).  Where
mu does not become small however narrow the bracket is, the stiffness jumps (a contact opens, a rope slackens): a limit
point if the tangents before and behind it turn the load factor, else a jump.  The count of negative eigenvalues is the
Morse index of the path, so that a branch may begin at a jump as at a bifurcation.  The other branch starts in the
direction of x, less its part along the path, with x.W du given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError
from fem_mbs.solvers.equilibria.path_steps import (
    LONG,
    STRAIGHT,
    Critical,
    PathSettings,
    Point,
    Problem,
    Torn,
    Walk,
    advance,
    predict,
    same_tangent,
    step_length,
    take_step,
    tangent_behind,
)  # fmt: skip

__all__ = ["branching", "find_corner", "find_critical", "switch_branch", "told_jump"]

_LIMIT = 1e-4  # of the cosine between null vector and load: beyond, the load factor turns
_TORN = 10.0  # times the length between the ends of a bracket, beyond which the path between them is none
_JUMP = 0.05  # share of the eigenvalues at the ends of a step that remains at the ends of a narrow bracket in a jump
_SMOOTH = 12  # evaluations of a bracket, after which eigenvalues at its ends no longer locate a jump
_NARROW = 1e-6  # of a step, width of a bracket that identifies a jump
_RESOLVED = 1e-9  # of the load factor, a bracket within which the tangent may be singular throughout
_STEEP = 50.0  # times the length that was asked for, beyond which no branch goes


def branching(criticals: list[Critical]) -> int:
    """Return the number of critical points from which a branch may be followed."""
    return sum(c.kind != "limit" for c in criticals)


def told_jump(found: Critical) -> str:
    """Return a sentence on a jump of the stiffness."""
    turns = ", and the load factor turns there" if found.kind == "limit" else ""
    return (
        f"the stiffness jumps at load factor {found.factor:.6g} (a contact, a slack member, a corner of a law): its "
        f"negative eigenvalues change from {found.before} to {found.after} without passing zero{turns}"
    )


def _share(ma: float, mb: float, smooth: bool) -> float:
    """Return the place in a bracket, from 0 to 1, to look at next: the zero of the line through the eigenvalues at its
    ends, or the middle."""
    if ma * mb >= 0.0 or not smooth:
        return 0.5
    return min(max(ma / (ma - mb), 0.02), 0.98)  # not onto an end: the bracket must shrink from both sides


def find_critical(
    problem: Problem, walk: Walk, s: PathSettings, token: Any, size: float, before: int, after: int
) -> tuple[Critical, Any, np.ndarray]:
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
        _, u, factor = take_step(problem, walk, s, part * size, s.line_search)
        if step_length(problem, s, u, factor - walk.factor) > LONG * max(part * size, 1e-9) and s.control == "arc":
            raise Torn("a step within a bracket is longer than asked for")
        return (
            factor, problem.negative(factor), _smallest(problem, factor), problem.save(),
            float(np.sqrt(u @ (problem.weight * u))), u,
        )  # fmt: skip

    low, high = 0.0, 1.0
    a, b = at(0.0), at(1.0)
    first = best = b
    failures = 0
    # bound for the eigenvalues in a jump, from those at the ends of the step
    left = _JUMP * max(abs(a[2][0]), abs(b[2][0]))

    def jumping() -> bool:
        return max(abs(a[2][0]), abs(b[2][0])) > left

    for k in range(60):
        tight = abs(a[0] - b[0]) <= s.tolerance * max(abs(a[0]), abs(b[0])) and high - low < 0.01
        if (tight and (high - low < _NARROW or not jumping())) or high - low < 1e-12:
            break
        smooth = k % 3 < 2 and not (k > _SMOOTH and jumping())
        part = low + (high - low) * _share(a[2][0], b[2][0], smooth)
        try:
            middle = at(part)
        except AnalysisError:  # no convergence, or the tangent of this very point is singular
            failures += 1
            # Newton-Raphson does not converge at a corner, and round-off makes narrow brackets singular all over
            resolved = max(s.tolerance, _RESOLVED) * max(abs(a[0]), abs(b[0]))
            narrow = abs(a[0] - b[0]) <= resolved and high - low < 0.01
            if failures > 8:
                if narrow:
                    break
                raise
            # from elsewhere between the ends it may succeed
            part = low + (0.1 + 0.09 * failures) * (high - low)
            try:
                middle = at(part)
            except AnalysisError:
                if narrow:
                    break
                raise
        if abs(middle[2][0]) < abs(best[2][0]):
            best = middle
        if middle[1] == before:
            low, a = part, middle
        else:
            high, b = part, middle
    whole = step_length(problem, s, first[5], 0.0)
    gap = step_length(problem, s, b[5] - a[5], 0.0)
    if gap > _TORN * (high - low) * whole + 1e-6 * whole and gap > 1e-3 * whole:
        raise Torn("the path does not hold together where the count changes")
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


def _smallest(problem: Problem, factor: float, start: np.ndarray | None = None) -> tuple[float, np.ndarray]:
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


def _most_negative(problem: Problem, factor: float, mu: float, x: np.ndarray) -> np.ndarray:
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


def find_corner(
    problem: Problem, walk: Walk, s: PathSettings, token: Any, end: Any, size: float, before: int, after: int
) -> Critical:
    """Return the limit point in a corner that a short step goes around (`_around`): where the count changes along the
    tangent. Leaves the problem at the ``end`` of the step."""
    walk.around = None
    problem.restore(token)
    x, df, _ = predict(problem, walk, s, size)
    try:
        behind = tangent_behind(problem, walk, s, token, x, df)
    except AnalysisError:
        raise Torn("the path bends sharply") from None
    if walk.ahead is None or not same_tangent(problem, walk.ahead, behind):
        raise Torn("the end of a step does not join the corner")
    low, high = 0.0, 1.0
    while high - low > _NARROW:
        part = 0.5 * (low + high)
        problem.restore(token)
        problem.move(part * x)
        low, high = (part, high) if problem.negative(walk.factor + part * df) == before else (low, part)
    problem.restore(end)
    part = 0.5 * (low + high)
    return Critical(
        "limit", float(walk.factor + part * df), walk.length + part * step_length(problem, s, x, 0.0), before, after,
        0.5 * (high - low) * abs(df), True,
    )  # fmt: skip


def switch_branch(
    problem: Problem,
    walk: Walk,
    s: PathSettings,
    state: Any,
    vector: np.ndarray,
    found: Critical,
    way: np.ndarray,
    on_point: Callable[[Point], None],
) -> int:
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
            if isinstance(error, Torn):
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
    advance(problem, walk, increment, new, place)
    on_point(Point(new, walk.length, done, after))
    return after


def _branch_step(
    problem: Problem, walk: Walk, s: PathSettings, found: Critical, token: Any, vector: np.ndarray, amount: float
):
    """Return a step onto a branch with its point, and the count of negative eigenvalues there.

    Raises:
        Torn: the point lies on no branch that begins at the bifurcation: half way out its point is not half as far, or
            nearer; it is too far away; or its count is not between those before and after the bifurcation.
    """
    step = take_step(problem, walk, s, 0.0, False, (vector, amount))
    _, increment, new = step
    way, rise = step_length(problem, s, increment, 0.0), abs(new - found.factor)
    if way > _STEEP * abs(amount):
        raise Torn("too far away")
    after = problem.negative(new)
    if not min(found.before, found.after) <= after <= max(found.before, found.after):
        raise Torn("with other counts of negative eigenvalues than those of a branch")
    point = problem.save()
    problem.restore(token)
    _, half, between = take_step(problem, walk, s, 0.0, False, (vector, 0.5 * amount))
    apart = step_length(problem, s, half - 0.5 * increment, 0.0)
    # where the path moves on along the branch this is longer than asked for, and straight if the step is short enough
    allowed = 0.4 if way <= LONG * abs(amount) else STRAIGHT
    if apart > allowed * way or abs(between - found.factor) > 0.8 * rise + 1e-3 * abs(found.factor):
        raise Torn("not joined to the critical point")
    problem.restore(point)
    return step, after
