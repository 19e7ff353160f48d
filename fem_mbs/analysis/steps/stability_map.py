"""Map stability over one or two parameters: eigenvalues about a state that is recomputed at every point of a grid.

A parameter is the level of loads, the speed of a rotor, or a number of elements as their types name it (stiffness,
damping, the coefficient of friction).  At a point the steps before are made again with these values, up to the state;
its modes give the largest growth rate, Re p [1/s], and the frequency of the mode that has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.solution import Progress, Solution
from fem_mbs.analysis.steps.stability import COMPLEX_MODES_OPTIONS, check_stability, find_modes, linearised
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model.model import Step
from fem_mbs.results.eigenvalues import growth_rates
from fem_mbs.system.tangent import matrices_of

__all__ = ["STABILITY_MAP_OPTIONS", "Parameter", "check_map", "check_map_loads", "read_parameters", "run_stability_map"]

#: Options of a step that makes a stability map and their defaults.
STABILITY_MAP_OPTIONS: dict[str, Any] = {
    "parameters": (),  # one or two: {"load", "rotor" or "element" and "number", "values", ...}
    **{k: COMPLEX_MODES_OPTIONS[k] for k in ("count", "near", "which", "reach", "shift")},
    "check": "none",
    **{k: COMPLEX_MODES_OPTIONS[k] for k in ("rotor", "speed", "frame")},
    "refine": 0,  # how often intervals are halved in which stability is lost
    "what": "growth",  # or "frequency": what figures show
}

#: Steps that leave the state as it is.
_NEUTRAL_STEPS = ("linear_static", "modes", "buckling", "complex_modes", "stability_map", "linearise", "campbell",
                  "unbalance", "harmonic")  # fmt: skip
#: Columns of elements that are no numbers of their physics.
_NO_NUMBERS = ("scale", "function", "reference", "reference rate", "callback", "clock", "coordinate", "pieces",
               "rate pieces", "first", "last", "cubic", "along", "scale 1", "scale 2", "scale 3")  # fmt: skip
#: Numbers of which no body has negative ones.
_NOT_NEGATIVE = ("mass", "inertia", "length", "rotary inertia", "thickness")
_NEUTRAL = 1e-6  # damping ratio that rounding may leave of none
_AT_BOUNDARY = 1e-6  # width of an interval about the loss of stability, over its values
_KINDS = ("load", "rotor", "element")


@dataclass(frozen=True)
class Parameter:
    """A varied parameter: ``kind`` "load", "rotor" or "element", ``target`` its name (of loads names), ``number`` the
    column of elements, ``relative``: values are factors of what it is; ``values`` (n,), rising; ``name`` and ``unit``
    for figures."""

    kind: str
    target: Any
    number: str
    relative: bool
    values: np.ndarray
    name: str
    unit: str


def read_parameters(owner: str, given, model) -> list[Parameter]:
    """Return the parameters of a map.

    Raises:
        ModelError: naming the step, the parameter and what it may be.
    """
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str) or not 1 <= len(given) <= 2:
        raise ModelError(f"{owner}: parameters must be one or two tables, each with what it varies and its values")
    return [_parameter(f"{owner}: parameter {i}", entry, model) for i, entry in enumerate(given, 1)]


def _parameter(owner: str, entry, model) -> Parameter:
    known = (*_KINDS, "number", "factor", "values", "name")
    if not isinstance(entry, dict):
        raise ModelError(f"{owner}: {entry!r} must be a table with the keys {', '.join(known)}")
    for key in entry:
        if key not in known:
            raise ModelError(f'{owner}: unknown key "{key}"; there are {", ".join(known)}')
    kinds = [k for k in _KINDS if k in entry]
    if len(kinds) != 1:
        raise ModelError(
            f"{owner}: give one of load, rotor and element{', not ' + ' and '.join(kinds) if kinds else ''}"
        )
    kind, target = kinds[0], entry[kinds[0]]
    values = _values(owner, entry.get("values"))
    for key in ("number", "factor"):
        if key in entry and kind != "element":
            raise ModelError(f"{owner}: {key} belongs to element; remove it")
    number, unit, relative = "", "", bool(entry.get("factor", False))
    if kind == "load":
        words = [target] if isinstance(target, str) else target
        if not isinstance(words, (list, tuple)) or not words or not all(isinstance(w, str) for w in words):
            raise ModelError(f'{owner}: load = {target!r} must be the name of a load, a list of them, or "all"')
        name = f"load {', '.join(words)}"
    elif kind == "rotor":
        model.building.find("rotor", target, getattr(model, "rotors", {}), owner)
        name, unit = f"speed of {target}", "rad/s"
    else:
        number, target = entry.get("number"), (target,) if isinstance(target, str) else target
        if not isinstance(target, (list, tuple)) or not target or not all(isinstance(t, str) for t in target):
            raise ModelError(f"{owner}: element = {target!r} must be the name of elements, or a list of names")
        for element in target:
            columns = _columns(model, element, owner)
            if number not in columns:
                raise ModelError(f'{owner}: number = {number!r}; "{element}" has {", ".join(columns)}')
            least = values[0] if number in _NOT_NEGATIVE else 0.0
            if least < 0.0 or (number == "length" and least == 0.0):
                raise ModelError(f"{owner}: values = {values.tolist()}: {number} of {element} must be positive")
        name, unit = f"{number} of {', '.join(target)}", "" if relative else columns[number]
    return Parameter(kind, target, number or "", relative, values, str(entry.get("name", name)), unit)


def _values(owner: str, given) -> np.ndarray:
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all() or not (np.diff(values) > 0.0).all():
        raise ModelError(f"{owner}: values = {given!r} must be at least two finite numbers, rising")
    return values


def _columns(model, element, owner: str) -> dict[str, str]:
    """Return numbers of the elements of a name, with their units."""
    found: dict[str, str] = {}
    labels: dict[Any, Any] = {}
    for block in model.building.blocks:
        for label, _, _ in block.groups:
            labels.setdefault(label, []).append(block)
    if element not in labels:
        model.building.find("element", element, labels, owner)
    for block in labels[element]:
        found |= {name: unit for name, unit in _numbers(block) if name not in _NO_NUMBERS}
    return found


def _numbers(block) -> list[tuple[str, str]]:
    """Return names and units of the columns of a block.

    A beam has two numbers that its types call damping, of its strains [s] and of its masses [1/s]: they differ.
    """
    found = []
    for entry in block.type.par:
        name, _, unit = entry.partition(" [")
        unit = unit.rstrip("]")
        found.append(("mass_damping" if (name, unit) == ("damping", "1/s") else name, unit))
    return found


def check_map(owner: str, options: dict[str, Any], model) -> None:
    """Refuse options of a stability map that make no sense.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    found = read_parameters(owner, options["parameters"], model)
    if len(found) == 2 and found[0].name == found[1].name:
        raise ModelError(f"{owner}: both parameters are the {found[0].name}; vary two different ones")
    rotors = [p for p in found if p.kind == "rotor"]
    if rotors and (options["rotor"] not in ("", rotors[0].target) or options["speed"] is not None):
        raise ModelError(f'{owner}: the speed of "{rotors[0].target}" is varied; remove rotor and speed')
    refine = options["refine"]
    if isinstance(refine, bool) or not isinstance(refine, int) or not 0 <= refine <= 60:
        raise ModelError(f"{owner}: refine = {refine!r} must be a whole number from 0 to 60")
    if options["what"] not in ("growth", "frequency"):
        raise ModelError(f'{owner}: what = {options["what"]!r} must be "growth" or "frequency"')
    check_stability(owner, {**options, "rotor": rotors[0].target} if rotors else options, model)


def check_map_loads(compiled, options: dict[str, Any], owner: str) -> None:
    """Raise ModelError if a load that a map varies is none of the model."""
    for p in read_parameters(owner, options["parameters"], compiled.model):
        if p.kind == "load":
            chosen(compiled, p.target, owner, "load")


class _Points:
    """Eigenvalues at points of a map, each from a run of its own over one compiled model."""

    def __init__(self, run, number: int, parameters: list[Parameter], options: dict[str, Any], owner: str):
        self.run, self.parameters, self.options, self.owner = run, parameters, options, owner
        model = run.model
        self.steps = [_bare(s) for s in model.steps[:number] if s.kind not in _NEUTRAL_STEPS] + [model.steps[number]]
        self.compiled = model.compile()
        system = self.compiled.system
        self.matrices = matrices_of(system)  # whose pattern is that of all points
        self.functions = list(self.compiled.functions)
        self.loads = {
            i: chosen(self.compiled, p.target, owner, "load") for i, p in enumerate(parameters) if p.kind == "load"
        }
        self.warnings: dict[str, int] = {}
        self.failed: list[str] = []

    def eigenvalues(self, values) -> np.ndarray:
        """Return modes (k,) about the state with these values of the parameters; none where there is no such state.

        Raises:
            ModelError: the model cannot be computed with them.
        """
        options = dict(self.options)
        job = self._job(values, options)
        try:
            if len(self.steps) > 1:
                job.plan = job.plan[:-1]
                job.run()
            else:
                job.check()
            self._applied(job)
            lin, warnings = linearised(job, options)
            modes, rows, _ = find_modes(lin, options, self.owner)
        except AnalysisError as error:
            self.failed.append(str(error))
            return np.zeros(0, complex)
        for text in warnings:
            self.warnings[text] = self.warnings.get(text, 0) + 1
        p = modes.values[rows]
        return p[modes.rigid :] if p.size > modes.rigid else p

    def _job(self, values, options: dict[str, Any]):
        """A run with these values, about to make the steps before the map."""
        par: dict[int, np.ndarray] = {}
        model = copy(self.run.model)
        model.steps, model.checks = list(self.steps), []
        functions = list(self.functions)
        for i, (p, value) in enumerate(zip(self.parameters, values, strict=True)):
            if p.kind == "rotor":
                options["rotor"], options["speed"] = p.target, float(value)
            elif p.kind == "element":
                self._change(par, p, float(value))
            else:
                mask, weight = self.loads[i]
                for k in np.flatnonzero(mask):
                    functions[k] = _scaled(functions[k], float(value))
                if weight:
                    model.gravity = float(value) * np.asarray(model.gravity, float)
        system = self.compiled.system.with_parameters(par)
        compiled = replace(self.compiled, model=model, functions=functions, system=system)
        return type(self.run)(model, Solution(), None, compiled)

    def _change(self, par: dict[int, np.ndarray], p: Parameter, value: float) -> None:
        """Give elements the value of a parameter, in copies of their blocks' parameters by the blocks' numbers."""
        for i, block in enumerate(self.compiled.system.blocks):
            names = [name for name, _ in _numbers(block)]
            for label, first, last in block.groups:
                if label in p.target and p.number in names:
                    k = names.index(p.number)
                    own = par.setdefault(i, block.par.copy())
                    own[first:last, k] = value * block.par[first:last, k] if p.relative else value

    def _applied(self, job) -> None:
        """Refuse to vary loads that no step has applied."""
        for i, (mask, weight) in self.loads.items():
            if not (job.loading.factors[mask].any() or (weight and job.loading.weight)):
                raise ModelError(
                    f"{self.owner}: {self.parameters[i].name} does not act in the state; put a static step before"
                )


def _bare(step: Step) -> Step:
    """Return a step without what it only shows on its way."""
    options = {k: v for k, v in step.options.items() if k not in ("frames", "restarts", "eigenvalues")}
    return replace(step, options=options | ({"frames": 0} if step.kind in ("transient", "inverse") else {}))


def _scaled(function, factor: float):
    return lambda t: factor * function(t)


def _largest(p: np.ndarray) -> tuple[float, float, bool]:
    """Return growth rate [1/s] and frequency [Hz] of the right-most of modes p (k,), and whether it is stable."""
    if p.size == 0:
        return np.nan, np.nan, False
    growth = growth_rates(p)
    k = int(growth.argmax())
    return float(growth[k]), float(abs(p[k].imag)) / (2.0 * np.pi), bool(growth[k] <= _NEUTRAL * abs(p[k]))


def run_stability_map(run, step, options: dict[str, Any]) -> dict[str, Any]:
    """Make a step of a run that maps stability: one row per point, and its summary; the run stays in its state."""
    owner = f'Step "{step.name}"'
    parameters = read_parameters(owner, options["parameters"], run.model)
    number = next(i for i, (s, _, _) in enumerate(run.plan) if s is step)
    points = _Points(run, number, parameters, options, owner)
    axes = [p.values for p in parameters]
    shape = tuple(a.size for a in axes)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    growth, frequency, stable = np.zeros(len(grid)), np.zeros(len(grid)), np.zeros(len(grid), bool)
    eigenvalues = np.full((len(grid), 2 * options["count"]), np.nan)
    for k, values in enumerate(grid):  # of runs: each is a model of its own
        p = points.eigenvalues(values)
        growth[k], frequency[k], stable[k] = _largest(p)
        some = np.column_stack((p.real, p.imag)).ravel()[: eigenvalues.shape[1]]
        eigenvalues[k, : some.size] = some
        if run.progress:
            run.progress(Progress(step.name, k + 1, len(grid), run.t, 0.0, 0.0))
    failed = np.isnan(growth)
    if failed.all():
        raise AnalysisError(f"{owner}: no point has a state with modes; the first: {points.failed[0]}")
    first_failure = points.failed[0] if failed.any() else ""
    boundary, lost = _boundary(points, axes, stable.reshape(shape), failed.reshape(shape), options["refine"])
    run.recorder.append(
        {
            "time": np.arange(1.0, len(grid) + 1.0), "parameters": grid, "growth": growth, "frequency": frequency,
            "eigenvalues": eigenvalues,
        },
        None,
    )  # fmt: skip
    rows = (shape[0], -1)
    warnings = [f"at {n} points: {text}" for text, n in points.warnings.items()]
    if failed.any():
        warnings.append(
            f"{int(failed.sum())} of {failed.size} points have no state or modes; the first: {first_failure}"
        )
    if lost:
        warnings.append(
            f"the boundary of stability is left out in {lost} {'interval' if lost == 1 else 'intervals'}, where points "
            f"between have no state or modes; the last: {points.failed[-1]}"
        )
    return {
        "type": "stability_map", "name": step.name, "what": options["what"],
        "parameters": [{"name": p.name, "unit": p.unit, "values": p.values.tolist()} for p in parameters],
        "growth": _plain(growth.reshape(rows)), "frequency": _plain(frequency.reshape(rows)),
        "stable": stable.reshape(rows).tolist(),
        "boundary": boundary,
        "time": float(run.t),
        "warnings": warnings,
    }  # fmt: skip


def _plain(a: np.ndarray) -> list[list[float | None]]:
    return [[float(v) if np.isfinite(v) else None for v in row] for row in a]


def _boundary(
    points: _Points, axes, stable: np.ndarray, failed: np.ndarray, refine: int
) -> tuple[list[list[float]], int]:
    """Return points [p1, p2] at which stability is lost, along both parameters, after ``refine`` halvings of intervals,
    and the number of intervals in which that cannot be said because a point between their ends has no state or
    modes."""
    if refine == 0:
        return [], 0
    found, lost = [], 0
    for along in range(len(axes)):
        change = np.moveaxis(stable, along, 0)
        bad = np.moveaxis(failed, along, 0)
        pairs = np.argwhere((change[1:] != change[:-1]) & ~bad[1:] & ~bad[:-1])
        for i, *other in pairs:
            low, high = (float(axes[along][i + k]) for k in (0, 1))
            fixed = [float(axes[1 - along][j]) for j in other]
            before = bool(change[(i, *other)])
            for _ in range(refine):
                middle = 0.5 * (low + high)
                values = [middle, *fixed] if along == 0 else [*fixed, middle]
                p = points.eigenvalues(values)
                if p.size == 0:
                    break
                if _largest(p)[2] != before:
                    high = middle
                else:
                    low = middle
            # the point of divergence itself has no state; elsewhere nothing is known of what lies between
            if p.size == 0 and high - low > _AT_BOUNDARY * max(abs(low), abs(high)):
                lost += 1
                continue
            middle = 0.5 * (low + high)
            found.append([middle, *fixed] if along == 0 else [*fixed, middle])
    return found, lost
