"""Check all steps of a run before the first one: names and values that they need.

A run of many hours must not end with a word that is misspelt in its last step, so `run` and `fem-mbs check` both look
here.  Every step is asked what it would ask itself when its turn comes, with what is known of the time it begins at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.linear.harmonic import shakers
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.linear.ports import check_outputs
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.options import LINEAR, TIMED, count_steps
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.start.mobility import unheld
from fem_mbs.analysis.statics.steps import check_levels, controlled, varied
from fem_mbs.analysis.steps.stability_map import check_map_loads
from fem_mbs.analysis.transient.inverse import check_drivers
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.errors import ModelError
from fem_mbs.solvers.stepping.stepper import EXPLICIT

__all__ = ["check_stability", "check_steps"]

_DENSE = 200  # unknowns up to which all frequencies are computed
_CLOSE = 1e-3  # relative error of the highest frequency of more unknowns; the estimate is from below


def check_steps(run: Any) -> None:
    """Look at all steps and checks of a run (`fem_mbs.analysis.run._Run`) at its start.

    Raises:
        ModelError: the first thing that a step would refuse, naming the step, the key and what there is.
    """
    model, compiled = run.model, run.compiled
    t: float | None = 0.0  # at which a step begins; None: an event may have ended one before
    began: float | None = None  # when the first step that passes time does
    moved = False  # whether the state may be another one than at the start
    loading = Loading(compiled)
    for step, options, _ in run.plan:
        owner = f'Step "{step.name}"'
        if step.kind == "inverse":
            if not moved:
                check_drivers(compiled, run.state, step.name)
            elif not model.drivers():
                raise ModelError(f"{owner}: nothing is driven; add motions, or functions to joints")
        elif step.kind == "static":
            _check_static(run, step, options, loading)
        elif step.kind in LINEAR:
            at = options.get("time")
            _check_linear(run, step, options, t if at is None else float(at))
        if step.kind in TIMED:
            began = t if began is None else began
            loading.all_on()
        moved = moved or step.kind not in LINEAR
        if model.events and step.kind == "transient":
            t = None
        elif t is not None:
            t += float(options.get("duration") or 0.0)
    headers = [sensor.header for sensor in compiled.sensors]
    for check in model.checks:
        check.column(headers)
        if check.at is None or began is None or t is None:
            continue
        if not began - 1e-9 * t <= check.at <= t * (1.0 + 1e-9):
            raise ModelError(
                f'Check "{check.name}": at = {check.at:g} s is no time of the steps, which go from {began:g} to {t:g} s'
            )


def check_stability(run: Any) -> None:
    """Look whether explicit steps that begin at the start are stable there: h < 2/w of the highest frequency w.

    A run of such steps ends with an error as soon as the motion grows.  Later the frequencies may be other ones, so
    this says nothing of what `run` may try.

    Raises:
        ModelError: h is too large, naming the largest one.
    """
    for step, options, _ in run.plan:
        if step.kind in LINEAR:
            continue
        if step.kind != "transient" or RULES[options["rule"]].kind != EXPLICIT:
            return  # later steps begin at another state
        linear = Linearised(run.compiled, run.state, 0.0, Loading(run.compiled))
        highest = _highest_frequency(linear) if linear.eliminated else 0.0
        h = options["duration"] / count_steps(step.name, options)
        if h * highest > 2.0:
            raise ModelError(
                f'Step "{step.name}": h = {h:g} s: rule = "{options["rule"]}" is stable only for h below 2/w = '
                f"{2.0 / highest:.4g} s, with the highest frequency w of the model at its start; take a smaller h, or "
                'rule = "midpoint"'
            )
        return


def _highest_frequency(linear: Linearised) -> float:
    """The highest frequency [rad/s] of K u = w^2 M u; 0 where there is none, or none was found."""
    from scipy.linalg import LinAlgError, eigh
    from scipy.sparse.linalg import eigsh

    K, M = linear.stiffness, linear.mass
    n = K.shape[0]
    if n == 0 or not K.nnz:
        return 0.0
    try:
        if n <= _DENSE:
            largest = eigh(K.toarray(), M.toarray(), eigvals_only=True, subset_by_index=(n - 1, n - 1))
        else:
            start = np.cos(np.arange(n) ** 2)  # some vector, always the same
            largest = eigsh(K, 1, M.tocsc(), which="LA", tol=_CLOSE, v0=start, return_eigenvectors=False)
    except (LinAlgError, RuntimeError):  # the mass is singular, which the first step tells, or ARPACK gave up
        return 0.0
    return float(np.sqrt(max(largest[0], 0.0)))


def _check_static(run: Any, step: Any, options: dict[str, Any], loading: Loading) -> None:
    """What a static step would refuse; ``loading`` is brought to its end, with NaN for a factor that is not known."""
    owner = f'Step "{step.name}"'
    mask, weight = chosen(run.compiled, varied(step, options), owner, "vary", motions=True)
    if options["duration"]:
        loading.all_on(mask, weight)
    check_levels(loading, mask, weight, owner)
    loading.set(mask, weight, options["until"] if options["control"] == "load" else np.nan)
    if weight:
        _check_weight(run, owner)
    if options["on"]:
        controlled(run.model, run.system, options, owner)


def _check_linear(run: Any, step: Any, options: dict[str, Any], t: float | None) -> None:
    """What a linear step would refuse; its functions are taken at t."""
    compiled, owner = run.compiled, f'Step "{step.name}"'
    values = None if t is None else function_jets(compiled, t)[:, 0]
    if step.kind in ("linear_static", "linear_transient"):
        _, weight = chosen(compiled, options["loads"], owner, "loads", motions=True)
        if weight and step.kind == "linear_static":
            _check_weight(run, owner)
    elif step.kind == "buckling":
        mask, weight = chosen(compiled, options["loads"], owner, "loads")
        if not weight and not (mask if values is None else values[mask] != 0.0).any():
            raise ModelError(f"{owner}: no load acts at its time; add a force, moment or gravity")
    elif step.kind == "harmonic":
        # (what is not known is taken for a load that acts)
        shakers(compiled, np.ones(len(compiled.loads)) if values is None else values, t or 0.0, options, owner)
    elif step.kind == "linearise":
        for name in _listed(options["inputs"]):
            chosen(compiled, [name], owner, "inputs", motions=True)
        check_outputs(compiled, _listed(options["sensors"]), owner)
    elif step.kind == "stability_map":
        check_map_loads(compiled, options, owner)


def _check_weight(run: Any, owner: str) -> None:
    """Refuse equilibria of a model that falls: that is known without looking for them."""
    g = np.asarray(run.model.gravity, float)
    falls = unheld(run.compiled, run.state)[: g.size] & (g != 0.0)
    if falls.any():
        axes = ", ".join("xyz"[i] for i in np.flatnonzero(falls))
        raise ModelError(
            f"{owner}: nothing holds the model along {axes}, so nothing can bear its weight; add a support or a joint "
            "to the ground, or take gravity away"
        )


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
