"""Why a step failed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.transient.stepping import Stepping

__all__ = ["failure"]


def failure(stepping: Stepping, problem: int, fighting: str | None = None) -> AnalysisError | ModelError:
    """Return the error of a step that failed with the code ``problem``; ``fighting``: constraints that are known to
    contradict each other."""
    undefined = _undefined(stepping)
    if undefined is not None:
        return undefined
    worst = int(stepping.counter[S.WORST])
    where = stepping.compiled.name_of(worst) if worst >= 0 else "an unknown place"
    step = stepping.place()
    if problem == S.TURNED:
        cut = "" if stepping.explicit else f", also with the step cut into {2**stepping.settings.halvings} parts"
        return ConvergenceError(
            f"{step}: {where} turns by more than a quarter of a turn{cut}: what lies between is not resolved; take "
            "a smaller h, and check the speeds, and joints near configurations in which they cannot move"
        )
    fighting = fighting or stepping.redundancy.contradiction(
        stepping.state.residual, stepping.compiled.system.row_scale
    )
    if fighting:
        return ConvergenceError(
            f"{step}: the constraints of {fighting} contradict each other from here on; let drivers of one loop "
            "agree, or remove one of these joints"
        )
    if problem == S.SINGULAR and worst >= 0 and stepping.compiled.system.kind[worst] == S.STATE:
        return AnalysisError(
            f"{step}: nothing settles {where} there: its rate depends neither on itself nor on what can move; release "
            "what it controls, give its law a return (a leakage, a tracking time), or leave it out"
        )
    if problem == S.SINGULAR:
        return AnalysisError(
            f"{step}: the system matrix is singular at {where}; it has no mass, stiffness or support there, "
            "or constraints contradict or repeat each other"
        )
    if stepping.explicit:
        return ConvergenceError(
            f"{step}: the accelerations are not finite; the explicit rule is stable only for h below 2/w of the "
            'highest frequency: take a smaller h, or rule = "midpoint"'
        )
    settings, excess = stepping.settings, stepping.real[S.WORST_VALUE]
    return ConvergenceError(
        f"{step}: Newton-Raphson did not converge in {settings.max_iterations} iterations, also not with the "
        f"step cut into {2**settings.halvings} parts; worst residual, {excess:.3g} times "
        f"its tolerance, at {where}; take a smaller h or check loads and supports there"
    )


def _undefined(stepping: Stepping) -> ModelError | None:
    """Return the error of a time function that is not finite in the step that failed, None if all are."""
    start, h = stepping.span()
    t = start + h * np.array([0.0, 0.5, 1.0])
    for i, f in enumerate(stepping.functions):
        values = np.asarray(f(t), float)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return ModelError(
                f"its function is {values[bad[0]]} at t = {t[bad[0]]:.6g} {unit_of('s')}",
                owner=stepping.compiled.function_owner(i),
                key="function",
                remedy="use one that is defined there, or end the step before",
            )
    return None
