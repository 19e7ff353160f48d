"""Options and checks that several kinds of steps share."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fem_mbs.analysis.transient.rules import DEFAULTS
from fem_mbs.declarations.declaration import Declaration, key, plain
from fem_mbs.declarations.kinds import ANY_TEXT, NUMBER, Kind, shown
from fem_mbs.declarations.steps import PlannedStep, StepOptions, step_kind
from fem_mbs.declarations.texts import Worker, numbers, tables, wholes
from fem_mbs.errors import ModelError

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.model.model import CompiledModel, Model
    from fem_mbs.model.parts.rotors import Rotor
    from fem_mbs.results.report import EigenvaluesAlong
    from fem_mbs.system.compiled import Compiled

__all__ = [
    "ALONG_TEXT", "About", "Along", "COUNT", "FRAMES", "FRAME_TEXT", "MULTI_BLADE", "PERIODIC",
    "FREQUENCY_OR_ROOT", "FREQUENCY", "INCREMENT", "LOADS_TEXT",
    "NAMES", "NUMBER_OR_ROOT", "Newton", "POSITIVE", "RATE_RANGE", "RATIOS", "RAYLEIGH", "RAYLEIGH_TEXT", "REPORTS",
    "REPORT_TEXT", "RESTARTS_TEXT", "RISING",
    "RuleWeights", "SUPPORTS_TEXT", "Sought", "Supported",
    "Speeds", "TIME_TEXT", "TOTAL", "TimeSteps", "Turning", "UNASKED_RESTARTS", "WITHOUT_TEXT",
    "along_quantities", "check_friction", "check_named",
    "check_preload", "check_rotor", "check_sought", "check_spin", "check_stiffening", "check_supports", "check_turning",
    "check_weight", "check_without",
    "count_steps", "counted", "limited", "listed", "named", "number", "outside_tables", "rising", "rotor_of",
    "sought", "spread", "steps_in_words", "valued", "whole",
]  # fmt: skip

#: Tolerances beyond which what Newton-Raphson leaves would be seen in the results.
_COARSEST = {"rtol": 1e-3, "ctol": 1e-6}
#: No run waits for more steps.
_MOST_STEPS = 1e9
_LARGEST = 1e300  # numbers above overflow

#: What `supports` of a step are.
SUPPORTS_TEXT = (
    "groups of `[[support]]` that hold in this step besides those without a group, and `[[pretension]]` that it locks"
)
WITHOUT_TEXT = "names of `[[equation]]` and `[[tie]]` that do not act in this step"
#: Frames in which small motions are seen.
FRAMES = ("auto", "fixed", "rotating")
#: Those of eigenvalues alone: multi-blade coordinates, and harmonics of the turn where no frame makes coefficients
#: constant.
MULTI_BLADE, PERIODIC = "multi-blade", "periodic"
FRAME_TEXT = (
    'in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three or more equal '
    'blades); their coefficients must be constant there; "auto" takes the first for which they are; "periodic": by '
    "harmonics of the turn of the rotor, where no frame makes them constant (two blades, unequal blades)"
)


# --- values ----------------------------------------------------------------------------------------------------------
def valued(label: str, what: str, good: Callable[[Any], bool], texts: Worker | None = None) -> Kind:
    """Return a kind of values for which ``good`` is true; ``what`` says what they must be, ``texts`` works out its
    expressions of parameters."""

    def check(value: Any) -> Any:
        if not good(value):
            raise ValueError(f"must be {what}")
        return value

    return Kind(label, check, texts)


def number(value: Any) -> bool:
    """Return whether this is a finite number."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < _LARGEST


def whole(low: int, most: int = 2**31 - 1) -> Kind:
    """Return whole numbers of at least ``low``."""
    what = f"a whole number of at least {low}" if most == 2**31 - 1 else f"a whole number from {low} to {most}"
    return valued(
        "whole number", what, lambda v: not isinstance(v, bool) and isinstance(v, int) and low <= v <= most, wholes
    )


def limited(what: str, low: float, high: float = _LARGEST, open_at: str = "") -> Kind:
    """Return numbers between two limits, which are not among them where ``open_at`` names them ("low", "high")."""

    def good(v: Any) -> bool:
        inside = number(v) and low <= v <= high
        return inside and not (v == low and "low" in open_at) and not (v == high and "high" in open_at)

    return valued("number", what, good, numbers)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(number(v) for v in value)


def _rising(value: Any, low: float, high: float) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) or math.isnan(v) for v in value):
        return False
    return low <= value[0] < value[1] <= high


COUNT = whole(1)
POSITIVE = limited("a finite number greater than 0", 0.0, open_at="low")
FREQUENCY = limited("a positive frequency [Hz]", 0.0, open_at="low")
#: Damping ratios of modes.
RATIOS = valued(
    "number or list", "a ratio of at least 0, or a list of them",
    lambda v: v != [] and all(number(r) and r >= 0.0 for r in (v if isinstance(v, list) else [v])),
    numbers,
)  # fmt: skip
#: Rayleigh's damping of modes.
RAYLEIGH = valued(
    "list of two numbers", "two numbers of at least 0",
    lambda v: isinstance(v, list) and len(v) == 2 and all(number(r) and r >= 0.0 for r in v),
    numbers,
)  # fmt: skip
RAYLEIGH_TEXT = "alpha and beta: damping alpha + beta w^2 of modes with the circular frequencies w, added to `damping`"
NAMES = valued(
    "text or list", "a name or a list of names",
    lambda v: isinstance(v, str) or (isinstance(v, list) and all(isinstance(n, str) for n in v)),
)  # fmt: skip


def _number_or_root(what: str) -> Kind:
    said = f"{what}, or a list of two: real and imaginary part [1/s]"
    return valued("number or list of two", said, lambda v: number(v) or _pair(v), numbers)


FREQUENCY_OR_ROOT = _number_or_root("a frequency [Hz]")
NUMBER_OR_ROOT = _number_or_root("a number [1/s]")
RISING = valued(
    "list of two numbers", "a list of two numbers [low, high] with 0 <= low < high [Hz]",
    lambda v: _rising(v, 0.0, _LARGEST), numbers,
)  # fmt: skip
RATE_RANGE = valued(
    "list of two numbers", "a list of two numbers [low, high] with low < high [Hz]",
    lambda v: _rising(v, -math.inf, math.inf), numbers,
)  # fmt: skip


# --- options ---------------------------------------------------------------------------------------------------------
def _tolerance(name: str) -> Kind:
    most = _COARSEST[name]
    return limited(f"a number above 0 and at most {most:g}", 0.0, most, open_at="low")


@dataclass(frozen=True, kw_only=True)
class Newton(StepOptions):
    """How Newton-Raphson and the step control behave (`fem_mbs.analysis.transient.stepping.Settings`)."""

    rtol: float = key(
        _tolerance("rtol"), "largest residual over the largest element contribution of its kind, at most 1e-3", 1e-12
    )
    ctol: float = key(_tolerance("ctol"), "constraint error over the length of the model, at most 1e-6", 1e-14)
    max_iterations: int = key(whole(1), "of Newton-Raphson in a step", 25)
    newton: str = key(
        ANY_TEXT, '"chord" (one tangent per step while it contracts well) or "full"', "chord", choices=("chord", "full")
    )
    predictor: str = key(
        ANY_TEXT, '"none", "velocity", "increment" or "extrapolation"', "extrapolation",
        choices=("none", "velocity", "increment", "extrapolation"),
    )  # fmt: skip
    halvings: int = key(
        valued(
            "whole number", f"a whole number from 0 to 20: more would cut a step into {2**20} parts and more",
            lambda v: not isinstance(v, bool) and isinstance(v, int) and 0 <= v <= 20, wholes,
        ),
        "how often a step that does not converge is halved", 10,
    )  # fmt: skip
    solver: str = key(
        ANY_TEXT, '"auto", "cholmod" or "superlu", of models that are not banded', "auto",
        choices=("auto", "cholmod", "superlu"),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RuleWeights(StepOptions):
    """Options of rules of Newmark's family; `fem_mbs.analysis.transient.rules.check_rule` knows their ranges."""

    beta: float = key(NUMBER, "of Newmark's rule, 1/12 to 1", DEFAULTS["beta"])
    gamma: float = key(NUMBER, "of Newmark's rule, 1/2 to 1", DEFAULTS["gamma"])
    alpha: float = key(
        NUMBER, 'of `rule = "hht"`: -1/3 (most damping) to 0 (none: Newmark\'s average acceleration)', DEFAULTS["alpha"]
    )
    rho_inf: float = key(
        NUMBER, 'of `rule = "generalised-alpha"`: spectral radius at infinite frequency, 0 (most damping) to 1',
        DEFAULTS["rho_inf"],
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TimeSteps(StepOptions):
    """The time that passes, in equal steps."""

    duration: float = key(POSITIVE, "of the step", unit="s")
    h: float = key(POSITIVE, "time step; the duration is a whole number of them", unit="s")


@dataclass(frozen=True, kw_only=True)
class About(StepOptions):
    """The place that a linear step is about."""

    preload: str = key(
        ANY_TEXT,
        "name of a linear static step before, about whose displaced place the step is linear, with its stresses and "
        "loads, which stay constant",
        "",
    )


@dataclass(frozen=True, kw_only=True)
class Supported(About):
    """The place that a linear step is about, and supports of its own."""

    supports: Any = key(NAMES, SUPPORTS_TEXT, "", shows="none")


@dataclass(frozen=True, kw_only=True)
class Turning(StepOptions):
    """The steady rotation that small motions are about, and the frame in which they are seen."""

    rotor: str = key(ANY_TEXT, "name of the rotor that turns", "")
    speed: float | None = key(NUMBER, "of the rotor, else the one that it has in the state", None, unit="rad/s")
    frame: str = key(
        ANY_TEXT,
        'in which small motions are seen, "fixed" or "rotating": their coefficients must be constant there; "auto" '
        "takes the first for which they are",
        "auto",
        choices=FRAMES,
    )


@dataclass(frozen=True, kw_only=True)
class Sought(StepOptions):
    """Which complex modes are sought."""

    count: int = key(COUNT, "of modes; a conjugate pair is one, rigid-body motions come in addition", 6)
    near: Any = key(
        FREQUENCY_OR_ROOT,
        "frequency that they are to be nearest to, 0: the lowest, or [real, imaginary], the eigenvalue p of exp(p t)",
        0.0,
        unit="Hz or 1/s",
    )
    which: str = key(
        ANY_TEXT, '"nearest", or "rightmost": the largest real parts', "nearest", choices=("nearest", "rightmost")
    )
    reach: float | None = key(
        FREQUENCY,
        'frequency up to which those of `which = "rightmost"` are sought, else those of the 2 count + 10 lowest',
        None,
        unit="Hz",
    )
    shift: Any = key(
        NUMBER_OR_ROOT, "where the matrices are factored, or [real, imaginary]; else near `near`", None, unit="1/s"
    )
    check: str = key(
        ANY_TEXT, '"probe" (look from another start for copies of multiple eigenvalues) or "none"', "probe",
        choices=("none", "probe"),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Along(Declaration):
    """Complex modes along a step."""

    owner = "Step"

    every: int = key(COUNT, "steps, increments or points from one computation to the next", 10)
    count: int = key(COUNT, "of modes; a conjugate pair is one", 5)
    near: Any = key(FREQUENCY_OR_ROOT, "as of `complex_modes`", 0.0)
    which: str = key(ANY_TEXT, "as of `complex_modes`", "nearest", choices=("nearest", "rightmost"))
    reach: float | None = key(FREQUENCY, "as of `complex_modes`", None, unit="Hz")
    check: str = key(ANY_TEXT, "as of `complex_modes`", "probe", choices=("none", "probe"))

    @property
    def shift(self) -> None:
        """Return the point near which the matrices are factored, `near`."""
        return None


ALONG_TEXT = (
    "complex modes along it, a table {every = 10, count = 5}: every so many steps, increments or points that many "
    "modes; also `near`, `which`, `reach`, `check` as of `complex_modes`"
)
#: Restart points of a step that asks for none; they serve until the run has ended.
UNASKED_RESTARTS = 20
RESTARTS_TEXT = (
    "points from which `fem-mbs run --restart` can continue, evenly spread, kept in the results; not given: "
    f"{UNASKED_RESTARTS} while the run goes on, for a run that is interrupted (none with events or adaptive steps); "
    "0: none"
)
LOADS_TEXT = '"all", or a list of loads (and "gravity"): they act in addition to what the state carries'
TIME_TEXT = "at which functions are taken, else the present time"
REPORT_TEXT = (
    '"total" (sensors, frames and prints are those of the state and the step together) or "increment" (what the step '
    "adds to the state alone)"
)
#: What linear steps report.
REPORTS = ("total", "increment")
TOTAL, INCREMENT = REPORTS


# --- checks ----------------------------------------------------------------------------------------------------------
def check_sought(owner: str, options: Sought | Along) -> None:
    """Refuse a choice of complex modes that makes no sense.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    if options.reach is not None and options.which != "rightmost":
        raise ModelError(
            f'reach = {options.reach:g} belongs to which = "rightmost"',
            owner=owner,
            remedy="remove it, or ask for those",
        )


def check_rotor(owner: str, options: Turning, model: Model) -> None:
    """Refuse an unknown rotor, and options that have no sense without one.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    if options.rotor:
        rotor_of(model, options.rotor, owner)
    elif options.speed is not None:
        raise ModelError(
            f"speed = {shown(options.speed)} needs a rotor",
            owner=owner,
            key="speed",
            value=options.speed,
            remedy="name it in rotor",
        )
    elif options.frame not in FRAMES[:2]:
        raise ModelError(f'frame = "{options.frame}" needs a rotor', owner=owner, remedy="name it in rotor")


def rotor_of(model: Model, name: str, owner: str) -> Rotor:
    """Return a rotor of the model.

    Raises:
        ModelError: there is none of this name.
    """
    if name not in model.rotors:
        close = difflib.get_close_matches(name, model.rotors, n=1)
        there = f"there are {', '.join(model.rotors)}" if model.rotors else "none exists"
        raise ModelError(
            f'no rotor "{name}"', owner=owner, key="rotor", value=name,
            remedy=f'did you mean "{close[0]}"?' if close else there,
        )  # fmt: skip
    return model.rotors[name]


def check_named(step: PlannedStep, model: Model, option: str) -> str:
    """Refuse the name of a step that does not stand before this one, or was made about another state; return the
    preload that the named step is about.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    wanted = getattr(step.options, option)
    earlier: dict[str, str] = {}
    moved = ""
    for other in model.steps[: step.number]:
        kind = step_kind(other.kind)
        if option in kind.carries:
            earlier[other.name] = other.options.get("preload", "")
        elif not kind.linear and wanted in earlier:
            moved = other.name
    if wanted not in earlier:
        what = {"start": "linear static step or linear transient", "basis": "modal step"}.get(
            option, "linear static step"
        )
        raise ModelError(
            f'{option} = "{wanted}" must be the name of a {what} before it',
            owner=step.owner,
            remedy=f"there are {', '.join(earlier) or 'none'}",
        )
    if moved and option != "basis":
        raise ModelError(
            f'{option} = "{wanted}": step "{moved}" has moved the model since',
            owner=step.owner,
            remedy="put the linear static step behind it",
        )
    return earlier[wanted]


def check_preload(step: PlannedStep, model: Model) -> None:
    """Refuse an unknown preload, one that is about another preload, or one that a reduced part does not support.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    preload = step.options.preload
    if not preload:
        return
    about = check_named(step, model, "preload")
    if about:
        raise ModelError(
            f'preload = "{preload}" is itself about the preload "{about}"',
            owner=step.owner,
            remedy="bring all loads on in one linear static step",
        )
    check_stiffening(step.owner, f'preload = "{preload}"', model)


def check_supports(step: PlannedStep, model: Model) -> None:
    """Refuse groups of supports that the model does not have.

    Raises:
        ModelError: naming the step, the group and those that there are.
    """
    for name in named(step.options.supports):
        if not step.kind.linear and name in model.building.step_supports and name not in model.building.keeping:
            raise ModelError(
                f'the supports of group "{name}" hold the places at the start, which a nonlinear step has left',
                owner=step.owner, key="supports", value=name, remedy="give them present = true",
            )  # fmt: skip
        if name not in model.building.step_supports:
            known = ", ".join(f'"{k}"' for k in model.building.step_supports) or "none"
            raise ModelError(
                f'no support has the group "{name}" (there are {known})', owner=step.owner, key="supports", value=name
            )


def check_without(step: PlannedStep, context: RunContext) -> None:
    """Refuse names of equations that the model does not have.

    Raises:
        ModelError: naming the step, the equation and those that there are.
    """
    from fem_mbs.model.connections.terms import names_of_equations

    there = names_of_equations(context.system)
    for name in named(step.options.without):
        if name not in there:
            known = ", ".join(f'"{k}"' for k in there) or "none"
            raise ModelError(
                f'no equation or tie is called "{name}" (there are {known})', owner=step.owner, key="without",
                value=name, remedy="correct the name",
            )  # fmt: skip


def named(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of an option that takes one or several."""
    return (value,) if isinstance(value, str) and value else tuple(value)


def check_stiffening(owner: str, what: str, model: Model) -> None:
    """Refuse stiffening by stresses of a model with a reduced part.

    Raises:
        ModelError: naming the step and the part.
    """
    if model.reduced_parts:
        raise ModelError(
            f'{what} asks for what stresses stiffen, which reduced part "{next(iter(model.reduced_parts))}" '
            "does not know",
            owner=owner,
            remedy='describe it by its elements, or reduce it at the end of a static step (state = "end")',
        )


def check_friction(owner: str, system: Compiled) -> None:
    """Refuse symmetric matrices of a model whose friction depends on the force of a joint.

    Raises:
        ModelError: naming the friction and what to take.
    """
    for block in system.blocks:
        if not any(block.reads or ()):
            continue
        running = block.par[:, block.type.column("reference rate")] >= 0
        first = next((i for i, joint in enumerate(block.reads or ()) if joint and running[i]), None)
        if first is not None:
            raise ModelError(
                f'friction "{block.label(first)}" on a running surface depends on the force of its joint, which '
                "symmetric matrices do not know",
                owner=owner,
                remedy="take complex_modes, or a static or transient step",
            )


def check_weight(owner: str, context: RunContext) -> None:
    """Refuse equilibria of a model that can fall freely, before looking for them.

    Raises:
        ModelError: naming the directions.
    """
    import numpy as np

    from fem_mbs.analysis.start.mobility import unheld

    g = np.asarray(context.model.gravity, float)
    falls = unheld(context.compiled, context.state)[: g.size] & (g != 0.0)
    if falls.any():
        axes = ", ".join("xyz"[i] for i in np.flatnonzero(falls))
        raise ModelError(
            f"nothing holds the model along {axes}, so nothing can bear its weight",
            owner=owner,
            remedy="add a support or a joint to the ground, or take gravity away",
        )


def count_steps(owner: str, options: TimeSteps) -> int:
    """Return the number of steps of length h in the duration.

    Raises:
        ModelError: the duration is not a whole number of steps, or there are too many.
    """
    ratio = options.duration / options.h
    if not ratio <= _MOST_STEPS:
        raise ModelError(
            f"duration = {options.duration:g} s in steps of h = {options.h:g} s makes {ratio:.3g} steps",
            owner=owner,
            remedy=f"at most {_MOST_STEPS:g} can be made: take a larger h",
        )
    n = round(ratio)
    if n < 1 or abs(ratio - n) > 1e-6 * max(1.0, ratio):
        whole_steps = max(1, math.ceil(ratio))
        raise ModelError(
            f"duration = {options.duration:g} s is not a whole number of steps h = {options.h:g} s",
            owner=owner,
            remedy=f"take h = {options.duration / whole_steps:.9g}",
        )
    return n


def check_spin(owner: str, context: RunContext) -> None:
    """Refuse a centrifugal load that is not part of the motion in a step in which the model itself turns.

    Raises:
        ModelError: saying which steps such a load belongs to.
    """
    if context.turning is not None and not context.turning.spin:
        raise ModelError(
            "centrifugal loads belong to static, modal and buckling steps",
            owner=owner,
            remedy=(
                "in a transient the model itself turns (a driven joint, or initial velocities with spin): with "
                "spin = true of the load it starts from the trimmed state"
            ),
        )


# --- words -----------------------------------------------------------------------------------------------------------
def counted(n: int, what: str) -> str:
    """Return a number of things by their singular noun."""
    return f"{n} {what}" + ("" if n == 1 or what.endswith("s") else "s")


def steps_in_words(options: TimeSteps, adaptive: float = 0.0) -> str:
    """Describe the steps of a duration."""
    n = round(options.duration / options.h)
    return ("adaptive steps, results every" if adaptive else f"{counted(n, 'step')} of") + f" {options.h:g} s"


def sought(options: Sought) -> str:
    """Describe the selection of complex modes in words."""
    if options.which == "rightmost":
        return "of largest growth"
    near = options.near
    if near == 0.0:
        return "the lowest"
    return (
        f"nearest to {near:g} Hz" if isinstance(near, (int, float)) else f"nearest to {near[0]:g} + {near[1]:g} i 1/s"
    )


def along_quantities(along: EigenvaluesAlong | None) -> Iterator[tuple[str, Any, str]]:
    """Yield whether a step with eigenvalues along it was stable, and from where it was not."""
    if along is not None:
        yield "stable", along.stable, ""
        first = along.unstable_from or {}
        for name, unit in (("load_factor", ""), ("time", "s")):
            if name in first:
                yield f"unstable_from.{name}", first[name], unit


# --- rotors ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Speeds(StepOptions):
    """A rotor and its speeds."""

    rotor: str = key(
        valued("name", "the name of what turns; add a rotor to the model", lambda v: isinstance(v, str) and bool(v)),
        "name of the rotor that turns",
    )
    speeds: Any = key(
        valued("list or table", "a list, or a table", lambda v: isinstance(v, (list, dict)), tables(whole=("n",))),
        "an increasing list, or {start, end, n}, n equal intervals",
        unit="rad/s",
    )


def listed(values: Any, owner: str, name: str) -> list[float]:
    """Return numbers, none negative, of a list or of one number.

    Raises:
        ModelError: they are something else.
    """
    found = plain(values)
    found = [found] if isinstance(found, (int, float)) else found
    if not isinstance(found, list) or not found or not all(number(v) and v >= 0.0 for v in found):
        raise ModelError(
            f"{name} = {shown(values)} must be a list of finite numbers, none negative",
            owner=owner,
            key=name,
            value=values,
        )
    return [float(v) for v in found]


def rising(values: Any, owner: str, name: str, unit: str) -> list[float]:
    """Return numbers of a ``unit``, none negative, that rise.

    Raises:
        ModelError: they do not.
    """
    found = listed(values, owner, name)
    for before, after in pairwise(found):
        if not after > before:
            raise ModelError(f"{name} must increase, but {after:g} {unit} comes after {before:g} {unit}", owner=owner)
    return found


def spread(given: Any, owner: str, name: str, unit: str, most: int, spaced: bool = False) -> list[float]:
    """Return rising numbers of a ``unit``: of a list, or of a table {start, end, n}, n intervals; where they may be
    ``spaced``, the table may have the spacing "linear" or "log".

    Raises:
        ModelError: the numbers or the table make no sense.
    """
    if not isinstance(given, dict):
        return rising(given, owner, name, unit)
    import numpy as np

    n, spacing = given.get("n"), given.get("spacing", "linear")
    keys = {"start", "end", "n"}
    good = keys <= set(given) <= keys | ({"spacing"} if spaced else set())
    if not good or isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= most:
        more = ', and may have spacing, "linear" or "log"' if spaced else ""
        raise ModelError(
            f"{name} = {shown(given)} must have start, end and n, a whole number of intervals{more}",
            owner=owner,
            key=name,
            value=given,
        )
    if spacing not in ("linear", "log"):
        raise ModelError(f'{name}.spacing = {shown(spacing)} must be "linear" or "log"', owner=owner)
    for limit in ("start", "end"):
        if not number(given[limit]) or given[limit] < 0.0:
            raise ModelError(
                f"{name}.{limit} = {shown(given[limit])} must be a finite number of at least 0", owner=owner
            )
    start, end = float(given["start"]), float(given["end"])
    if spacing == "log" and not start > 0.0:
        raise ModelError(f"{name}.start = {start:g} must be positive with logarithmic spacing", owner=owner)
    return rising((np.linspace if spacing == "linear" else np.geomspace)(start, end, n + 1), owner, name, unit)


def check_turning(step: PlannedStep, context: RunContext) -> None:
    """Refuse an unknown rotor, and loads that would count twice or not at all while it turns.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    owner, model = step.owner, context.model
    rotor_of(model, step.options.rotor, f"{owner}: rotor")
    for block in context.system.blocks:
        first = next((i for i, joint in enumerate(block.reads or ()) if joint), None)
        if first is not None:
            raise ModelError(
                f'friction "{block.label(first)}" depends on the force of its joint, which {step.kind.name} steps '
                "do not know",
                owner=owner,
                remedy="map the stability over the rotor's speed (stability_map), or take the friction between points",
            )
    if context.turning is not None:
        raise ModelError(
            f'centrifugal load "{context.turning.name}" would count twice, since the rotor turns here',
            owner=owner,
            remedy="remove the load",
        )


def outside_tables(compiled: CompiledModel, speeds: Any) -> list[str]:
    """Return sentences on bearings whose tables do not reach the speeds."""
    from fem_mbs.elements.springs.bearing import ROW

    out = []
    for block in compiled.system.blocks:
        if not block.type.name.startswith("bearing"):
            continue
        first = block.type.column("rows")
        for i in range(block.size):
            rows = int(block.par[i, first])
            low, high = block.par[i, first + 1], block.par[i, first + 1 + ROW * (rows - 1)]
            if rows > 1 and (speeds[0] < low or speeds[-1] > high):
                out.append(
                    f'the table of bearing "{block.label(i)}" goes from {low:g} to {high:g} rad/s; beyond it has '
                    "constant values"
                )
    return out
