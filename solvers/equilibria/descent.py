"""Equilibria of unstable or snapping models: minimisation of the potential by a proximal point method.

Newton-Raphson from afar may find any equilibrium, also an unstable one: a rod that starts beside the vertical ends
upside down.  A real part moves down its potential V.  The proximal point method (Martinet 1970; Rockafellar 1976,
doi:10.1137/0314056) does this by minimising

    V(u) + mu/2 |u - u_k|_W^2

again and again from u_k = the last minimum.  Each minimum is an equilibrium with springs of stiffness mu W to the last
configuration, which Newton-Raphson finds.  It is a minimum, not a saddle, where the tangent with mu W is positive
definite; where it is not, mu grows.  V falls in every step.  As mu shrinks the steps become those of Newton-Raphson.

The module knows a `Problem` only, neither meshes nor elements.

Theory: docs/theory.md, section 7.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError

__all__ = ["Problem", "descend"]

_STEPS = 200  # minima on the way
_INNER = 15  # residuals for one of them
_CLOSE = 1e-3  # residual of a minimum on the way, over the first one
_TINY = 1e-7  # increment that ends them in any case
_LARGEST = 1e8  # mu
_NEAR = 1e-3  # step from which on the end is tried without springs
_HOME = 0.1  # how far this may lead


class Problem(Protocol):
    """An equilibrium problem with a present configuration, as in `fem_mbs.solvers.equilibria.path_steps`."""

    weight: np.ndarray

    def residual(self, factor: float) -> tuple[np.ndarray, bool]: ...

    def factorise(self, factor: float, stiffen: float = 0.0) -> None: ...

    def solve(self, b: np.ndarray) -> np.ndarray: ...

    def move(self, x: np.ndarray) -> bool: ...

    def increment(self) -> np.ndarray: ...

    def accept(self, factor: float) -> None: ...

    def save(self) -> Any: ...

    def restore(self, token: Any) -> None: ...

    def held(self, stiffen: float) -> np.ndarray:
        """Return the stiffness (n,) of the springs of a factor."""

    def definite(self, factor: float, stiffen: float) -> bool:
        """Return whether the tangent with these springs is positive definite on the null space of the constraints."""

    def blame(self) -> str: ...


def descend(problem: Problem, factor: float, iterations: int) -> tuple[int, float]:
    """Find the equilibrium downhill from an accepted configuration, and accept it.

    Configurations on the way are accepted too, so that rotations add up and loads do their work.  ``iterations`` of
    Newton-Raphson at most lead to each of them.

    Returns:
        The number of iterations, and the distance along the way: the largest displacement over the model's size, or
        rotation.

    Raises:
        ConvergenceError: there is none within reach; the configuration is the initial one.
    """
    start = problem.save()
    done, mu, way = 0, 1.0, 0.0
    most = min(iterations + 1, _INNER)
    for _ in range(_STEPS):
        token = problem.save()
        try:
            count = _minimum(problem, factor, mu, most)
        except AnalysisError:
            problem.restore(token)
            mu *= 10.0
            if mu > _LARGEST:
                break
            continue
        done += count
        step = _size(problem, problem.increment())
        problem.accept(factor)
        way += step
        if step < _NEAR:
            found = _end(problem, factor, most)
            if found is not None:
                way += _size(problem, problem.increment())
                problem.accept(factor)
                return done + found, way
        mu *= 0.25 if count <= 6 else 1.0
    where = problem.blame()
    problem.restore(start)
    raise ConvergenceError(f"no equilibrium was found, worst residual at {where}")


def _size(problem: Problem, x: np.ndarray) -> float:
    """Return the largest displacement over the model's size, or rotation, of an increment."""
    return float((np.abs(x) * np.sqrt(problem.weight)).max(initial=0.0))


def _minimum(problem: Problem, factor: float, mu: float, most: int) -> int:
    """Solve for the equilibrium with springs to the accepted configuration, within ``most`` residuals.

    Returns:
        The number of residuals.

    Raises:
        AnalysisError: none was found, or no minimum.
    """
    springs = problem.held(mu)
    first, step = 0.0, np.inf
    for k in range(1, most + 1):
        r, small = problem.residual(factor)
        r += springs * problem.increment()
        # residuals in one unit: over the springs they are displacements
        size = _size(problem, r / np.where(springs > 0.0, springs, np.inf))
        if not np.isfinite(size):
            raise AnalysisError("the residual is not finite")
        if k == 1:
            first = size
        if small if k == 1 else size <= _CLOSE * first or step <= _TINY:
            if not problem.definite(factor, mu):
                raise AnalysisError("this is no minimum")
            return k
        problem.factorise(factor, mu)
        x = problem.solve(-r)
        problem.move(x)
        step = _size(problem, x)
    raise ConvergenceError("no convergence")


def _end(problem: Problem, factor: float, most: int) -> int | None:
    """Solve without springs by Newton-Raphson, within ``most`` residuals; return the number of iterations.

    Where this leads far away, or to an equilibrium that is no minimum, return None and restore the configuration.  A
    configuration that is an equilibrium already stays.
    """
    token = problem.save()
    try:
        for k in range(most):
            r, small = problem.residual(factor)
            if small:
                step = _size(problem, problem.increment())
                if step <= 1e-9 or (step <= _HOME and problem.definite(factor, 0.0)):
                    return k
                break
            problem.factorise(factor)
            problem.move(problem.solve(-r))
    except AnalysisError:
        pass
    problem.restore(token)
    return None
