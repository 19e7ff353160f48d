"""Models with changed parameters, and derivatives of what models are made of by differences of theirs.

A parameter is anything that changes the numbers of a model and leaves its elements, unknowns and sensors as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs.analysis.context import RunContext, make_context
from fem_mbs.analysis.run import check_beginning
from fem_mbs.analysis.sensitivity.alike import alike
from fem_mbs.analysis.sensitivity.follower import Changes
from fem_mbs.analysis.solution import Solution
from fem_mbs.errors import InputError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.units import unit_of

__all__ = ["Changed", "ChangedModels", "Parameter", "derivative"]

#: Change of a parameter over its size, to both sides, in differences of models.  The errors of the derivatives are
#: proportional to its fourth power (with two models, which are enough for linear parameters, to its square); round-off
#: and the tolerances of closed mechanisms and computed sections are divided by it.  An error of the places at the
#: start violates the derivatives of constraints, and enters the reactions of the first steps over h^2.
STEP = 3e-4
#: The same to one side: errors are of its square.
SIDE = 3e-5
#: Weights of differences of fourth order, by the change over `STEP`.
_CENTRAL = {1.0: 2.0 / 3.0, -1.0: -2.0 / 3.0, 2.0: -1.0 / 12.0, -2.0: 1.0 / 12.0}
_STRAIGHT = 1e-9  # even part of a change (same sign on both sides) over its odd part, below which it counts as linear
_JUMP = 0.05  # change that does not depend on the side, over the one that does, from which on numbers jump
_ROUND_OFF = 1e-9  # of a number of an element over the largest of its kind
#: Arrays of the state at the start of a model.
_START = ("Q", "D", "V", "DD")
_BESIDE = 1e-9  # of the duration, to both sides of the time of a jump
_REST = 1e-14  # of a number that is the round-off of others, over the largest of the elements
_TINY = 1e-12  # of a length over that of the model
#: Arrays of a compiled system that a parameter must not change.
_FIXED = (
    "table", "dof", "rot", "slot", "equation", "unknown", "kind", "positions", "rotations", "driven", "driver",
    "shared", "holding", "record", "links",
)  # fmt: skip


@dataclass(frozen=True)
class Changed:
    """A model with one changed parameter: the change over the parameter's size, and the weight in its derivative."""

    change: float
    weight: float
    context: RunContext


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, value and size, and what makes the model with another value."""

    name: str
    value: float
    size: float
    make: Callable[[float], Model]

    @property
    def owner(self) -> Owner:
        """Return the name in messages."""
        return Owner("Sensitivity", self.name)


def derivative(models: Sequence[Changed], function: Callable[[RunContext], Any]) -> Any:
    """Return the derivative of a function of a model with respect to a scaled parameter.

    What is infinite in all models, as the place of a stop that is not there, has the derivative 0.
    """
    values = [function(one.context) for one in models]
    infinite = np.all([np.isinf(value) & (value == values[0]) for value in values], axis=0)
    return sum(one.weight * np.where(infinite, 0.0, value) for one, value in zip(models, values, strict=True))


class ChangedModels:
    """The models by whose differences a run is differentiated, per parameter.

    Attributes:
        of: models of each parameter.
        parameters: the parameters.
    """

    def __init__(self, context: RunContext, parameters: Sequence[Parameter]) -> None:
        """Make the models.

        Raises:
            ModelError: a parameter changes more than numbers, or the model cannot be made with a changed one.
        """
        self.parameters = list(parameters)
        check_beginning(context)
        self.of = [self._around(context, p) for p in parameters]

    def _around(self, context: RunContext, p: Parameter) -> list[Changed]:
        """Return two or four models with a changed parameter; near the end of its range the changes are smaller."""
        return _wide(context, p) or _beside(context, p)

    def changes(self) -> Changes:
        """Return the derivatives of element parameters, places of supports, weight, and the state of the start."""

        def every(function: Callable[[RunContext], np.ndarray]) -> np.ndarray:
            return np.array([derivative(models, function) for models in self.of])

        def weight(context: RunContext) -> np.ndarray:
            gravity = np.zeros(3)
            gravity[: len(context.model.gravity)] = context.model.gravity
            return gravity

        state = {
            name: every(lambda context, name=name: getattr(context.state, name)[0].copy())  # type: ignore[misc]
            for name in _START
        }
        return Changes(
            every(lambda context: context.system.system.par.copy()),
            every(lambda context: context.system.system.driven_reference.copy()), every(weight), state,
        )  # fmt: skip


def _wide(context: RunContext, p: Parameter) -> list[Changed] | None:
    """Return models with a parameter changed to both sides: two where the model is linear in it, else four for
    differences of fourth order.  Return None if one of the models is refused."""
    found: dict[float, RunContext] = {}
    try:
        for pair in ((1.0, -1.0), (2.0, -2.0)):
            for k in pair:
                other, _ = _made(context, p, k * STEP)
                if other is None:
                    return None
                found[k] = other
            high, low = (found[k] for k in pair)
            _check_smooth(p, context, low, high)
            _check_jumps(p, context, low, high)
            if pair[0] == 1.0 and _linear(context, low, high):
                return [Changed(k * STEP, 0.5 * k / STEP, found[k]) for k in pair]
    except ModelError:  # of which differences over less may know nothing
        return None
    return [Changed(k * STEP, weight / STEP, found[k]) for k, weight in _CENTRAL.items()]


def _linear(context: RunContext, low: RunContext, high: RunContext) -> bool:
    """Return whether element parameters, places of supports, weight and the state at the start are linear in a
    parameter, and time functions do not depend on it.

    ``low`` and ``high``: the models with the parameter changed by the same amount to both sides of ``context``.
    """
    if not all(alike(f, g) for f, g in zip(low.compiled.functions, high.compiled.functions, strict=True)):
        return False

    def numbers(own: RunContext) -> list[np.ndarray]:
        system, state = own.system.system, own.state
        start = [getattr(state, name)[0].ravel() for name in _START]
        return [system.par, system.driven_reference, np.asarray(own.model.gravity, float), *start]

    for a, middle, b in zip(numbers(low), numbers(context), numbers(high), strict=True):
        some = np.isfinite(middle)
        a, middle, b = a[some], middle[some], b[some]
        even, odd, size = np.abs(a + b - 2.0 * middle), np.abs(b - a), np.abs(middle)
        changed = odd > _REST * size.max(initial=0.0)
        if np.any(changed & (even > _STRAIGHT * odd + 8.0 * np.finfo(float).eps * size)):
            return False
    return True


def _beside(context: RunContext, p: Parameter) -> list[Changed]:
    """Return models near a parameter of which a value farther away is refused: to both sides, or else to one.

    Raises:
        ModelError: neither side gives a model.
    """
    low, low_error = _made(context, p, -SIDE)
    high, high_error = _made(context, p, SIDE)
    if low is not None and high is not None:
        _check_smooth(p, context, low, high)
        _check_jumps(p, context, low, high)
        return [Changed(SIDE, 0.5 / SIDE, high), Changed(-SIDE, -0.5 / SIDE, low)]
    side, near, error = (1.0, high, low_error) if high is not None else (-1.0, low, high_error)
    far, _ = _made(context, p, 2.0 * side * SIDE)
    if near is None or far is None:
        assert error is not None
        raise ModelError(
            f"a value beside {p.value:g} gives no model: {error}", owner=p.owner,
            remedy="take a value inside of the range that its key allows",
        )  # fmt: skip
    # parabola through three values
    return [
        Changed(0.0, -1.5 * side / SIDE, context), Changed(side * SIDE, 2.0 * side / SIDE, near),
        Changed(2.0 * side * SIDE, -0.5 * side / SIDE, far),
    ]  # fmt: skip


def _made(context: RunContext, p: Parameter, change: float) -> tuple[RunContext | None, InputError | None]:
    """Return the start of a run with a changed parameter, or why there is none.

    Raises:
        ModelError: the changed model has other elements, unknowns or sensors.
    """
    try:
        other = make_context(p.make(p.value + change * p.size), Solution())
        check_beginning(other)
    except InputError as error:
        return None, error
    reason = _different(context, other)
    if reason:
        raise ModelError(
            f"a change of its value changes {reason}: there is no derivative", owner=p.owner,
            remedy="vary it in a sweep (fem-mbs sweep)",
        )  # fmt: skip
    return other, None


def _check_smooth(p: Parameter, context: RunContext, low: RunContext, high: RunContext) -> None:
    """Refuse a parameter with which what elements are made of jumps, as signs of modes of a reduced part do.

    Raises:
        ModelError: naming the elements.
    """
    for block, a, b in zip(context.system.blocks, low.system.blocks, high.system.blocks, strict=True):
        low_par, par, high_par = (np.where(np.isinf(own), 0.0, own) for own in (a.par, block.par, b.par))
        even, odd = np.abs(low_par + high_par - 2.0 * par), np.abs(high_par - low_par)
        size = _ROUND_OFF * np.abs(par).max(axis=0, initial=0.0) + _TINY * context.system.length
        size = size + _REST * np.abs(par).max(initial=0.0)
        jumps = even > _JUMP * odd + size
        if jumps.any():
            element = int(np.flatnonzero(jumps.any(axis=1))[0])
            raise ModelError(
                f'the numbers of "{block.label(element)}" ({block.type.name}) jump as it changes a little',
                owner=p.owner,
                remedy="it is rounded or chosen from cases there, or the part is reduced to modes whose signs change: "
                "keep the modes, or vary the parameter in a sweep",
            )  # fmt: skip


def _check_jumps(p: Parameter, context: RunContext, low: RunContext, high: RunContext) -> None:
    """Refuse a parameter that moves the time at which a time function jumps: samples of it do not tell.

    Raises:
        ModelError: naming what has the function.
    """
    end = sum(step.duration for step in context.plan)
    for i, (f, g) in enumerate(zip(low.compiled.functions, high.compiled.functions, strict=True)):
        if not (hasattr(f, "kinks_between") and hasattr(g, "kinks_between")):
            continue
        early, late = (own.kinks_between(-_BESIDE * end, end) for own in (f, g))
        beside = _BESIDE * end * np.array([[-1.0], [1.0]])
        jump = np.abs(np.diff(g(late + beside), axis=0))[0] if late.size else np.zeros(0)
        moved = np.ones(late.size, bool) if early.size != late.size else early != late
        bad = np.flatnonzero(moved & (jump > _JUMP * np.abs(g(late)) if late.size else moved))
        if bad.size:
            raise ModelError(
                f"it moves the time {late[bad[0]]:.6g} {unit_of('s')} at which the function of "
                f"{context.system.function_owner(i)} jumps, which has no derivative in time steps", owner=p.owner,
                remedy="let the function rise over some time steps (ramp, smoothstep)",
            )  # fmt: skip


def _different(one: RunContext, other: RunContext) -> str:
    """Return a difference of two models other than of numbers, "" if there is none."""
    a, b = one.system, other.system
    if a.n_dof != b.n_dof:
        return f"the number of unknowns from {a.n_dof - 1} to {b.n_dof - 1}"
    names = [[block.type.name for block in system.blocks] for system in (a, b)]
    if names[0] != names[1]:
        return "the elements that the model is made of"
    for name in _FIXED:
        u, v = getattr(a.system, name), getattr(b.system, name)
        if u.shape != v.shape or not np.array_equal(u, v):
            return "how unknowns and elements are numbered"
    if a.system.par.shape != b.system.par.shape or a.system.hist.shape != b.system.hist.shape:
        return "the number of parameters of elements"
    if len(one.compiled.functions) != len(other.compiled.functions):
        return "the number of time functions"
    if [s.columns for s in one.compiled.sensors] != [s.columns for s in other.compiled.sensors]:
        return "the columns of sensors"
    steps = [[(s.name, dict(s.options)) for s in context.model.steps] for context in (one, other)]
    if steps[0] != steps[1]:
        return "the steps of the analysis"
    return ""
