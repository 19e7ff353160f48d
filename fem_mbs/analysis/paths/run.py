"""A step along a path: the search, and the recorded run under the efforts that it has found."""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.march import march
from fem_mbs.analysis.paths.places import Efforts, Outputs
from fem_mbs.analysis.paths.search import Found, Request, search
from fem_mbs.analysis.transient.settings import settings_of
from fem_mbs.declarations.steps import PlannedStep
from fem_mbs.errors import ModelError
from fem_mbs.solvers.stepping import layout as S

__all__ = ["run_path"]

_STORY = "path story"  # in restart points
_SHOWN = 20  # zeros in the summary


def run_path(
    step: PlannedStep, context: RunContext, outputs: Outputs, efforts: Efforts, resumed: dict[str, Any] | None
) -> dict[str, Any]:
    """Find the efforts, make the steps, and return the entries of the report.

    Raises:
        ModelError, AnalysisError: the path cannot be followed, or the steps cannot be made.
    """
    if resumed:
        told = json.loads(str(resumed[_STORY]))
        searched = 0.0
    else:
        began = perf_counter()
        context.loading.all_on()
        found = _sought(step, context, outputs, efforts)
        _begin_from(context, found.start.state)
        for k, number in enumerate(efforts.functions):
            context.follow(number, found.times, found.efforts[:, k])
        told = _told(found, outputs, efforts, context.time)
        searched = perf_counter() - began
    whole = replace(step, options=replace(step.options, duration=told["t_end"] - told["t_start"]))
    made = march(whole, context, "midpoint", resumed, keep={_STORY: json.dumps(told)})
    warnings = [*made.pop("warnings", []), *told.pop("warnings")]
    made.pop("eigenvalues", None)
    seconds = round(made.pop("seconds") + searched, 4)
    return {**told, **made, "seconds": seconds, "warnings": warnings}


def _sought(step: PlannedStep, context: RunContext, outputs: Outputs, efforts: Efforts) -> Found:
    options = step.options
    if np.any(context.state.V[0]):
        raise ModelError(
            "a path begins at rest, but the step before leaves the model in motion", owner=step.owner,
            remedy="let it come to rest before, or take a static step",
        )  # fmt: skip
    asked = Request(
        outputs, efforts, options.duration, options.h, options.before, options.after, options.tolerance, options.runs,
        settings_of(options), step.owner,
    )  # fmt: skip
    return search(asked, context, lambda run, error: context.tell(step, run, options.runs))


def _begin_from(context: RunContext, state: S.State) -> None:
    """Move the state of the run to the equilibrium from which the path begins."""
    own, first = context.state, context.system.first_multiplier
    own.Q[:], own.D[:], own.V[:], own.past[:] = state.Q[0], state.D[0], 0.0, 0.0
    own.Q[:, first:-1] = state.U[first:-1]


def _told(found: Found, outputs: Outputs, efforts: Efforts, t: float) -> dict[str, Any]:
    """Return the entries of the report that the search gives."""
    real = found.zeros.real
    growing = np.sort(real[real > 1e-3 * np.abs(found.zeros)])
    decaying = np.sort(-real[real < -1e-3 * np.abs(found.zeros)])
    # one of each conjugate pair
    shown = found.zeros[found.zeros.imag >= 0.0]
    shown = shown[np.lexsort((shown.real, np.round(np.abs(shown), 9)))][:_SHOWN]
    path_start = float(t + found.before)
    end = float(found.times[-1])
    return {
        "path_start": path_start, "path_end": end - found.after, "t_start": t, "t_end": end,
        "outputs": outputs.names, "efforts": efforts.joints,
        "path_errors": found.output_errors.tolist(), "forward_runs": len(found.errors), "errors": found.errors,
        "minimum_phase": found.growing == 0, "growing_zeros": found.growing,
        "slowest_growing_zero": float(growing[0]) if growing.size else None,
        "slowest_decaying_zero": -float(decaying[0]) if decaying.size else None,
        "zeros": [[float(z.real), float(z.imag)] for z in shown],
        "pre_action": found.before, "post_action": found.after, "left_at_ends": list(found.left),
        "warnings": found.warnings,
    }  # fmt: skip
