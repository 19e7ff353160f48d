"""Points of a stability map: small motions about states that are computed anew with other parameters.

A parameter is the level of loads, the speed of a rotor, or a number of elements as their types name it (stiffness,
damping, the coefficient of friction).  At a point the steps before are made again with these values, up to the state.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.run import run_to_end
from fem_mbs.analysis.small_motions import linearised, modes_of
from fem_mbs.analysis.steps.common.checks import rotor_of
from fem_mbs.analysis.steps.common.options import PERIODIC
from fem_mbs.declarations.kinds import shown
from fem_mbs.declarations.steps import PlannedStep, step_kind
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel, Model, Step
from fem_mbs.results.modes.eigenvalues import NEUTRAL, growth_rates
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import matrices_of

__all__ = ["Parameter", "Points", "boundary_of", "largest", "read_parameters"]

#: Columns of elements that are no numbers of their physics.
_NO_NUMBERS = ("scale", "function", "reference", "reference rate", "callback", "clock", "coordinate", "pieces",
               "rate pieces", "first", "last", "cubic", "along", "scale 1", "scale 2", "scale 3")  # fmt: skip
#: Numbers of which no body has negative ones.
_NOT_NEGATIVE = ("mass", "inertia", "length", "rotary inertia", "thickness")
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


def read_parameters(owner: str, given: Any, context: RunContext) -> list[Parameter]:
    """Return the parameters of a map.

    Raises:
        ModelError: naming the step, the parameter and what it may be.
    """
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str) or not 1 <= len(given) <= 2:
        raise ModelError("parameters must be one or two tables, each with what it varies and its values", owner=owner)
    return [_parameter(f"{owner}: parameter {i}", entry, context) for i, entry in enumerate(given, 1)]


def _parameter(owner: str, entry: Any, context: RunContext) -> Parameter:
    known = (*_KINDS, "number", "factor", "values", "name")
    if not isinstance(entry, dict):
        raise ModelError(f"{shown(entry)} must be a table with the keys {', '.join(known)}", owner=owner)
    for key in entry:
        if key not in known:
            raise ModelError(f'unknown key "{key}"', owner=owner, remedy=f"there are {', '.join(known)}")
    kinds = [k for k in _KINDS if k in entry]
    if len(kinds) != 1:
        raise ModelError(
            f"give one of load, rotor and element{', not ' + ' and '.join(kinds) if kinds else ''}", owner=owner
        )
    kind, target = kinds[0], entry[kinds[0]]
    values = _values(owner, entry.get("values"))
    for key in ("number", "factor"):
        if key in entry and kind != "element":
            raise ModelError(f"{key} belongs to element", owner=owner, remedy="remove it")
    number: Any = None
    unit, relative = "", bool(entry.get("factor", False))
    if kind == "load":
        words = [target] if isinstance(target, str) else target
        if not isinstance(words, (list, tuple)) or not words or not all(isinstance(w, str) for w in words):
            raise ModelError(
                f'load = {shown(target)} must be the name of a load, a list of them, or "all"',
                owner=owner,
                key="load",
                value=target,
            )
        name = f"load {', '.join(words)}"
    elif kind == "rotor":
        rotor_of(context.model, target, owner)
        name, unit = f"speed of {target}", "rad/s"
    else:
        number, target = entry.get("number"), (target,) if isinstance(target, str) else target
        if not isinstance(target, (list, tuple)) or not target or not all(isinstance(t, str) for t in target):
            raise ModelError(
                f"element = {shown(target)} must be the name of elements, or a list of names",
                owner=owner,
                key="element",
                value=target,
            )
        for element in target:
            columns = _columns(context.system, element, owner)
            if number not in columns:
                raise ModelError(
                    f"number = {shown(number)}",
                    owner=owner,
                    key="number",
                    value=number,
                    remedy=f'"{element}" has {", ".join(columns)}',
                )
            least = values[0] if number in _NOT_NEGATIVE else 0.0
            if least < 0.0 or (number == "length" and least == 0.0):
                raise ModelError(f"values = {values.tolist()}: {number} of {element} must be positive", owner=owner)
        name, unit = f"{number} of {', '.join(target)}", "" if relative else columns[number]
    return Parameter(kind, target, number or "", relative, values, str(entry.get("name", name)), unit)


def _values(owner: str, given: Any) -> np.ndarray:
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all() or not (np.diff(values) > 0.0).all():
        raise ModelError(
            f"values = {shown(given)} must be at least two finite numbers, rising",
            owner=owner,
            key="values",
            value=given,
        )
    return values


def _columns(system: Compiled, element: str, owner: str) -> dict[str, str]:
    """Return numbers of the elements of a name, with their units."""
    found: dict[str, str] = {}
    labels: dict[str, list[Block]] = {}
    for block in system.blocks:
        for label, _, _ in block.groups:
            labels.setdefault(label, []).append(block)
    if element not in labels:
        close = difflib.get_close_matches(element, labels, n=1)
        there = f"there are {', '.join(labels)}" if labels else "none exists"
        raise ModelError(
            f'no element "{element}"', owner=owner, remedy=f'did you mean "{close[0]}"?' if close else there
        )
    for block in labels[element]:
        found |= {name: unit for name, unit in _numbers(block) if name not in _NO_NUMBERS}
    return found


def _numbers(block: Block) -> list[tuple[str, str]]:
    """Return names and units of the columns of a block.

    A beam has two numbers that its types call damping, of its strains [s] and of its masses [1/s]: they differ.
    """
    found = []
    for entry in block.type.par:
        name, _, unit = entry.partition(" [")
        unit = unit.rstrip("]")
        found.append(("mass_damping" if (name, unit) == ("damping", "1/s") else name, unit))
    return found


class Points:
    """Eigenvalues at points of a map, each from a run of its own over one compiled model."""

    def __init__(self, step: PlannedStep, context: RunContext, parameters: list[Parameter]):
        self.context, self.parameters, self.options, self.owner = context, parameters, step.options, step.owner
        model = context.model
        before = zip(context.plan[: step.number], model.steps, strict=False)
        self.steps = [_bare(own) for planned, own in before if not planned.kind.stands]
        owner = self.owner
        self.compiled = model.compile()
        system = self.compiled.system
        self.matrices = matrices_of(system)  # whose pattern is that of all points
        self.functions = list(self.compiled.functions)
        self.loads = {
            i: chosen(self.compiled, p.target, owner, "load") for i, p in enumerate(parameters) if p.kind == "load"
        }
        self.warnings: dict[str, int] = {}
        self.failed: list[str] = []

    def eigenvalues(self, values: Sequence[float]) -> np.ndarray:
        """Return modes (k,) about the state with these values of the parameters; none where there is no such state.

        Raises:
            ModelError: the model cannot be computed with them.
        """
        rotor, speed = self.options.rotor, self.options.speed
        for p, value in zip(self.parameters, values, strict=True):
            if p.kind == "rotor":
                rotor, speed = p.target, float(value)
        model, compiled = self._varied(values)
        try:
            end = run_to_end(model, compiled)
            self._applied(end)
            frame = self.options.frame
            if frame == PERIODIC and speed == 0.0:
                frame = "fixed"  # a rotor at rest has no turn
            lin, warnings = linearised(end, model.rotors[rotor] if rotor else None, speed, frame, blades=True)
            modes, rows, _, _, more = modes_of(lin, frame, self.options, self.options.harmonics, self.owner)
        except AnalysisError as error:
            self.failed.append(str(error))
            return np.zeros(0, complex)
        for text in warnings + more:
            self.warnings[text] = self.warnings.get(text, 0) + 1
        p = modes.values[rows]
        return p[modes.rigid :] if p.size > modes.rigid else p

    def _varied(self, values: Sequence[float]) -> tuple[Model, CompiledModel]:
        """Return the model with these values and the steps before the map, and its arrays."""
        par: dict[int, np.ndarray] = {}
        model = copy(self.context.model)
        model.steps, model.checks = list(self.steps), []
        functions = list(self.functions)
        for i, (p, value) in enumerate(zip(self.parameters, values, strict=True)):
            if p.kind == "element":
                self._change(par, p, float(value))
            elif p.kind == "load":
                mask, weight = self.loads[i]
                for k in np.flatnonzero(mask):
                    functions[k] = _scaled(functions[k], float(value))
                if weight:
                    model.gravity = float(value) * np.asarray(model.gravity, float)
        system = self.compiled.system.with_parameters(par)
        return model, replace(self.compiled, model=model, functions=functions, system=system)

    def _change(self, par: dict[int, np.ndarray], p: Parameter, value: float) -> None:
        """Give elements the value of a parameter, in copies of their blocks' parameters by the blocks' numbers."""
        for i, block in enumerate(self.compiled.system.blocks):
            names = [name for name, _ in _numbers(block)]
            for label, first, last in block.groups:
                if label in p.target and p.number in names:
                    k = names.index(p.number)
                    own = par.setdefault(i, block.par.copy())
                    own[first:last, k] = value * block.par[first:last, k] if p.relative else value

    def _applied(self, end: EndState) -> None:
        """Refuse to vary loads that no step has applied."""
        for i, (mask, weight) in self.loads.items():
            if not (end.loading.factors[mask].any() or (weight and end.loading.weight)):
                raise ModelError(
                    f"{self.parameters[i].name} does not act in the state",
                    owner=self.owner,
                    remedy="put a static step before",
                )


def _bare(step: Step) -> Step:
    """Return a step without options that only concern its output."""
    options = {k: v for k, v in step.options.items() if k not in ("frames", "restarts", "eigenvalues")}
    if step_kind(step.kind).passes_time:
        options["frames"] = 0
    return replace(step, options=options)


def _scaled(function: Callable, factor: float) -> Callable:
    return lambda t: factor * function(t)


def largest(p: np.ndarray) -> tuple[float, float, bool]:
    """Return growth rate [1/s] and frequency [Hz] of the right-most of modes p (k,), and whether it is stable."""
    if p.size == 0:
        return np.nan, np.nan, False
    growth = growth_rates(p)
    k = int(growth.argmax())
    return float(growth[k]), float(abs(p[k].imag)) / (2.0 * np.pi), bool(growth[k] <= NEUTRAL * abs(p[k]))


def boundary_of(
    points: Points, axes: list[np.ndarray], stable: np.ndarray, failed: np.ndarray, refine: int
) -> tuple[list[list[float]], int]:
    """Return points [p1, p2] at which stability is lost, along both parameters, after ``refine`` halvings of intervals.

    Return also the number of intervals without an answer, because a point between their ends has no state or modes.
    """
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
                if largest(p)[2] != before:
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
