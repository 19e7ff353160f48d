"""Check the tangent of a mid-point step against differences, and the residuals of its iterations.

The checks serve new elements and doubts about convergence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.analysis.start.initial import consistent_velocities
from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.model import Model
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.motion import configure
from fem_mbs.system.tangent import Matrices

__all__ = ["TangentCheck", "newton_residuals", "tangent_check"]

_LARGEST = 300  # unknowns; the differences are dense


class TangentCheck(NamedTuple):
    """Largest deviation of the tangent from differences, and from its transpose, over its largest entry."""

    error: float
    asymmetry: float


def tangent_check(model: Model, h: float, size: float = 0.3, seed: int = 1, decay: float = 0.0) -> TangentCheck:
    """Compare the tangent of a step of length h with central differences of order 4, at a random increment.

    Args:
        model: which is taken at its start.
        h: time step [s].
        seed: of the random increment.
        size: of the random increment: displacements over the model's length, rotations in radians.
        decay: that of the decaying rule; 0: the mid-point rule.

    Raises:
        ModelError: the model is wrong, or too large for dense differences.
    """
    compiled = model.compile()
    system = compiled.system
    if system.n_dof > _LARGEST:
        raise ModelError(
            f"{system.n_dof} unknowns are too many for dense differences",
            owner=Owner("Tangent check"),
            remedy=f"take at most {_LARGEST}",
        )
    state = system.initial_state()
    functions, settings = list(compiled.functions), Settings(decay=decay)
    stepping = Stepping(system, functions, state, model.gravity, rule="decaying", t0=0.0, h=h, settings=settings)
    stepping.begin()
    now = np.zeros(1)
    fun = stepping.evaluate(now, now + 0.5 * h, now + h)[0]
    rng = np.random.default_rng(seed)
    unit = np.ones(system.n_dof)
    kind = system.system.kind
    unit[kind == S.POSITION] = system.length
    U = size * unit * rng.uniform(-1.0, 1.0, system.n_dof)
    U[kind == S.SINK] = 0.0

    matrices = Matrices(system)

    def at(increment: np.ndarray):
        state.U[:] = increment
        configure(system.system, state, False)
        return matrices.tangent(stepping.ctl, fun, state)

    K = at(U)[1].toarray()
    differences = np.zeros_like(K)
    for j in np.flatnonzero(kind != S.SINK):
        step = np.zeros(system.n_dof)
        step[j] = 2e-4 * unit[j]
        r1, r2 = at(U + step)[0] - at(U - step)[0], at(U + 2.0 * step)[0] - at(U - 2.0 * step)[0]
        differences[:, j] = (8.0 * r1 - r2) / (12.0 * step[j])
    inner = kind != S.SINK
    K, differences = K[np.ix_(inner, inner)], differences[np.ix_(inner, inner)]
    largest = float(np.abs(K).max())
    return TangentCheck(float(np.abs(K - differences).max()) / largest, float(np.abs(K - K.T).max()) / largest)


def newton_residuals(model: Model, newton: str = "full") -> np.ndarray:
    """Return scaled residuals r_0, r_1 ... of the iterations of the first mid-point step of a model that begins with a
    transient, from rest as the first guess; NaN where one is not below all before it.

    The residual of a step is known in units of its tolerance; with a tolerance of r_k/2 the step ends at the next
    iteration below that.

    Args:
        newton: "full" or "chord".

    Raises:
        ModelError: the model is wrong.
        AnalysisError: the step does not converge.
    """
    found: list[float] = []
    tolerance = 1e3
    while tolerance > 1e-13:
        settings = Settings(newton=newton, predictor="none", max_iterations=30, rtol=tolerance, ctol=tolerance)
        k, r = _first_step(model, settings)
        r *= tolerance
        if k < len(found) or r > tolerance:  # round-off: the step ended because increments no longer shrink
            break
        found += [np.nan] * (k - len(found)) + [r]
        tolerance = 0.5 * r
    return np.array(found)


def _first_step(model: Model, settings: Settings) -> tuple[int, float]:
    """Return the iterations of the first step, and its residual in units of the tolerance."""
    compiled = model.compile()
    state = compiled.system.initial_state()
    consistent_velocities(compiled, state, 0.0, None)
    stepping = Stepping(
        compiled.system, compiled.functions, state, model.gravity, rule="midpoint", t0=0.0,
        h=model.steps[0].options["h"], settings=settings,
    )  # fmt: skip
    stepping.begin()
    rows: list[Chunk] = []
    stepping.single(rows.append)
    return int(rows[0].iterations[0]), float(rows[0].residual[0])
