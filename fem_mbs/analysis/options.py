"""Options of the steps of a run: their names, defaults and checks."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

import numpy as np

from fem_mbs.analysis.linear.transient import LINEAR_TRANSIENT_OPTIONS
from fem_mbs.analysis.statics.steps import STATIC_OPTIONS
from fem_mbs.analysis.steps.harmonic import HARMONIC_OPTIONS
from fem_mbs.analysis.steps.linear import BUCKLING_OPTIONS, LINEAR_STATIC_OPTIONS, MODES_OPTIONS
from fem_mbs.analysis.steps.rotors import CAMPBELL_OPTIONS, UNBALANCE_OPTIONS
from fem_mbs.analysis.steps.stability import COMPLEX_MODES_OPTIONS, LINEARISE_OPTIONS
from fem_mbs.analysis.steps.stability_map import STABILITY_MAP_OPTIONS
from fem_mbs.analysis.transient.rules import OPTIONS as RULE_OPTIONS
from fem_mbs.analysis.transient.rules import RULES, check_rule
from fem_mbs.analysis.transient.stepping import Settings
from fem_mbs.errors import ModelError
from fem_mbs.model.model import Step

__all__ = ["LINEAR", "REQUIRED", "STEP_OPTIONS", "TIMED", "count_steps", "read_options", "rule_of", "step_info"]

#: Types of steps that pass time, and those that are linear about a state.
TIMED = ("transient", "inverse")
LINEAR = (
    "linear_static", "linear_transient", "modes", "buckling", "campbell", "unbalance", "complex_modes", "linearise",
    "stability_map", "harmonic",
)  # fmt: skip
#: Options that have no default where a step takes them.
REQUIRED = ("duration", "h", "speeds", "unbalances", "frequencies")

#: Tolerances beyond which what Newton-Raphson leaves would be seen in the results.
_COARSEST = {"rtol": 1e-3, "ctol": 1e-6}
#: No run waits for more steps.
_MOST_STEPS = 1e9

_SETTINGS = {f.name: f.default for f in fields(Settings)}


#: Options of a transient step and their defaults.
TRANSIENT_OPTIONS: dict[str, Any] = {
    "duration": None,  # [s]
    "h": None,  # step [s]
    "rule": "midpoint",  # or another one of fem_mbs.analysis.transient.rules
    "frames": 100,  # states kept for pictures and ParaView, evenly spread; 0: none
    "restarts": 0,  # restart points, evenly spread
    "adaptive": 0.0,  # largest local error of a step; 0: all steps are h
    "eigenvalues": None,  # along it: a table of fem_mbs.analysis.steps.eigenvalue_paths.EIGENVALUES_OPTIONS
    **_SETTINGS,
}


#: Options of an inverse step and their defaults.
INVERSE_OPTIONS: dict[str, Any] = {
    "duration": None,
    "h": None,
    "dynamic": True,  # false: quasi-static, without inertia
    "frames": 100,
    "restarts": 0,
    "eigenvalues": None,
    **{k: v for k, v in _SETTINGS.items() if k not in ("beta", "gamma")},
}


#: Options of a static step and their defaults.
_STATIC: dict[str, Any] = {**STATIC_OPTIONS, **{k: v for k, v in _SETTINGS.items() if k not in RULE_OPTIONS}}


#: Options of all types of steps.
STEP_OPTIONS = {
    "transient": TRANSIENT_OPTIONS,
    "inverse": INVERSE_OPTIONS,
    "static": _STATIC,
    "linear_static": LINEAR_STATIC_OPTIONS,
    "linear_transient": LINEAR_TRANSIENT_OPTIONS,
    "modes": MODES_OPTIONS,
    "buckling": BUCKLING_OPTIONS,
    "campbell": CAMPBELL_OPTIONS,
    "unbalance": UNBALANCE_OPTIONS,
    "complex_modes": COMPLEX_MODES_OPTIONS,
    "linearise": LINEARISE_OPTIONS,
    "stability_map": STABILITY_MAP_OPTIONS,
    "harmonic": HARMONIC_OPTIONS,
}


def read_options(step: Step, known: dict[str, Any]) -> tuple[dict[str, Any], Settings]:
    owner = f'Step "{step.name}"'
    for key in step.options:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else f"; it takes {', '.join(known)}"
            raise ModelError(f'{owner}: unknown key "{key}"{hint}')
    options = {**known, **step.options}
    choices = {
        "rule": tuple(RULES),
        "newton": ("chord", "full"),
        "predictor": ("none", "velocity", "increment", "extrapolation"),
        "solver": ("auto", "cholmod", "superlu"),
    }
    for key, allowed in choices.items():
        if key in options and options[key] not in allowed:
            raise ModelError(f"{owner}: {key} = {options[key]!r} must be one of {', '.join(allowed)}")
    for key in ("frames", "restarts", "increments", "max_iterations", "halvings", "count", "points", "branch"):
        if key in options:
            v, low = options[key], 1 if key in ("increments", "max_iterations", "count", "points") else 0
            if isinstance(v, bool) or not isinstance(v, int) or v < low:
                raise ModelError(f"{owner}: {key} = {v!r} must be a whole number of at least {low}")
            if key == "halvings" and v > 20:
                raise ModelError(f"{owner}: halvings = {v!r} would cut a step into {2**20} parts and more; at most 20")
    if "rule" in options:
        check_rule(owner, options, step.options)
    for key, most in _COARSEST.items():
        v = options.get(key, most)
        if isinstance(v, bool) or not isinstance(v, (int, float)) or not 0.0 < v <= most:
            raise ModelError(f"{owner}: {key} = {v!r} must be a number above 0 and at most {most:g}")
    return options, Settings(**{k: options[k] for k in _SETTINGS if k in options})


def rule_of(options: dict[str, Any]) -> str:
    """Integration rule of a step that passes time: an inverse step knows the mid-point rule and statics."""
    return options.get("rule", "midpoint" if options.get("dynamic", True) else "static")


def count_steps(name: str, options: dict[str, Any]) -> int:
    ratio = options["duration"] / options["h"]
    if not ratio <= _MOST_STEPS:
        raise ModelError(
            f'Step "{name}": duration = {options["duration"]:g} s in steps of h = {options["h"]:g} s makes {ratio:.3g} '
            f"steps; at most {_MOST_STEPS:g} can be made: take a larger h"
        )
    n = round(ratio)
    if n < 1 or abs(ratio - n) > 1e-6 * max(1.0, ratio):
        whole = max(1, int(np.ceil(ratio)))
        raise ModelError(
            f'Step "{name}": duration = {options["duration"]:g} s is not a whole number of steps '
            f"h = {options['h']:g} s; take h = {options['duration'] / whole:.9g}"
        )
    return n


def step_info(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """What readers must know of a step: of the mid-point rule, forces belong to the middle of its steps."""
    rule = rule_of(options) if "h" in options else "static"
    linear = {"linear": True} if kind in LINEAR else {}
    return {"rule": rule, "mid_step": kind in TIMED and rule in RULES and RULES[rule].two_state, **linear}
