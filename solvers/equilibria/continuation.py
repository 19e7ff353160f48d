"""Equilibrium paths: load control, displacement control, arc length; critical points and branches.

A path is a curve of configurations u and load factors f with R(u, f) = 0.  Each point is found from the last by
Newton-Raphson on R = 0 and one more condition on the increment (du, df) of the step,

    load control            df = given
    displacement control    du_k = given
    arc length              du.W du + p^2 df^2 = ds^2       (p = 0: cylindrical, else spherical)

solved by two right sides per tangent (Riks 1979, doi:10.1016/0020-7683(79)90081-7; Crisfield 1981,
doi:10.1016/0045-7949(81)90108-5, with the condition linearised).  The step follows the last one's direction and adapts
to the effort.

`path_steps.py` beside this module makes and judges one step, `critical_points.py` finds where the number of negative
eigenvalues of the tangent changes, and starts other branches.

All three know a `Problem` only, neither meshes nor elements.

Theory: docs/theory.md, section 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError
from fem_mbs.solvers.equilibria.critical_points import branching, find_corner, find_critical, switch_branch, told_jump
from fem_mbs.solvers.equilibria.path_steps import (
    BEND,
    FINE,
    LONG,
    Critical,
    PathSettings,
    Point,
    Problem,
    Step,
    Torn,
    Walk,
    advance,
    check_sense,
    find_step,
    load_turns,
    step_length,
    take_step,
)  # fmt: skip

__all__ = ["follow"]

_DESIRED = 5  # iterations per point


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
    walk = Walk(factor, s.start_displacement)
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
            step, size = find_step(problem, walk, s, size, token)
        except ConvergenceError:
            if limit := _stopped(problem, walk, s, token):
                break
            raise
        step, reach = _landed(problem, walk, s, token, step, size)
        done, increment, new = step
        after = problem.negative(new) if counted else -1
        odd = counted and problem.reverses(after)
        turns = load_turns(problem, walk, s, step)
        found, corner = None, False
        try:
            # unasked too, where a bifurcation must be told from a limit point behind which the path goes on backwards
            if after != count and (s.stability or (odd != walk.odd and not turns)):
                corner, end = walk.around is not None, problem.save()
                if not corner:
                    try:
                        found, state, vector = find_critical(problem, walk, s, token, reach, count, after)
                    except ConvergenceError:
                        # in the corner of a path that turns sharply no step ends
                        corner = bool(turns) and odd != walk.odd and reach <= min(BEND * s.size, FINE)
                        if not corner:
                            raise
                if corner:
                    found = find_corner(problem, walk, s, token, end, reach, count, after)
            check_sense(walk, s, new, reach, odd != walk.odd, turns, found)
        except AnalysisError as error:
            if not isinstance(error, Torn | ConvergenceError):
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
                walk.notes.append(told_jump(found))
            if found.kind != "limit" and s.branch and branching(walk.criticals) == s.branch:
                count = switch_branch(problem, walk, s, state, vector, found, increment, on_point)
                walk.odd = bool(count % 2)
                continue
            if not corner:
                step, _ = find_step(problem, walk, s, size, token)
                step, _ = _landed(problem, walk, s, token, step, size)
                done, increment, new = step
        place = walk.displacement + (increment[s.component] if s.component >= 0 else 0.0)
        last = last or _ended(walk, s, new, place)
        advance(problem, walk, increment, new, place)
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


def _stopped(problem: Problem, walk: Walk, s: PathSettings, token: Any) -> bool:
    """Return whether load control stops because a limit point comes next; add that to the critical points.

    Steps of arc length from the last point, each twice as long as the one before, look for the limit point.
    """
    if s.control != "load" or walk.direction is None:
        return False
    arc = replace(s, control="arc", spherical=0.0, rise=np.inf, end=None, end_displacement=None)
    size = step_length(problem, s, walk.direction, 0.0)
    problem.restore(token)
    before = problem.negative(walk.factor)
    walk.tangent = None
    for _ in range(12):
        try:
            _, increment, new = take_step(problem, walk, arc, size, False)
            after = problem.negative(new)
            if after != before and step_length(problem, arc, increment, 0.0) <= LONG * size:
                found, _, _ = find_critical(problem, walk, arc, token, size, before, after)
                if found.kind == "limit":
                    walk.criticals.append(found)
                return found.kind == "limit"
        except AnalysisError:
            pass
        finally:
            problem.restore(token)
        size *= 2.0
    return False


def _clipped(walk: Walk, s: PathSettings, size: float) -> tuple[float, bool]:
    """Return the size of the next step, and whether it ends the path, where load or displacement give the end."""
    left = np.inf
    if s.control == "load" and s.end is not None:
        left = abs(s.end - walk.factor)
    elif s.control == "displacement" and s.end_displacement is not None:
        left = abs(s.end_displacement - walk.displacement)
    return (left, True) if size >= left * (1.0 - 1e-9) else (size, False)


def _ended(walk: Walk, s: PathSettings, new: float, place: float) -> bool:
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


def _landed(problem: Problem, walk: Walk, s: PathSettings, token: Any, step: Step, size: float) -> tuple[Step, float]:
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
    factor = s.end if by_load and s.end is not None else walk.factor + part * (new - walk.factor)
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
    return find_step(problem, walk, s, size, token)
