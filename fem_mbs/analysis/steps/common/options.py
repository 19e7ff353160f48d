"""Options that several kinds of steps share, and their texts."""

from __future__ import annotations

from typing import Any

from fem_mbs.analysis.steps.common.values import (
    COUNT,
    FREQUENCY,
    FREQUENCY_OR_ROOT,
    NAMES,
    NUMBER_OR_ROOT,
    POSITIVE,
    limited,
    valued,
    whole,
)
from fem_mbs.analysis.transient.rules import DEFAULTS
from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY_TEXT, NUMBER, Kind
from fem_mbs.declarations.steps import StepOptions
from fem_mbs.declarations.texts import tables, wholes
from fem_mbs.late import dataclass

__all__ = [
    "ALONG_TEXT", "About", "Along", "FRAMES", "INCREMENT", "LOADS_TEXT", "MOVING_TEXT", "MULTI_BLADE", "Newton",
    "PERIODIC", "RAYLEIGH_TEXT", "REPORTS",
    "REPORT_TEXT", "RESTARTS_TEXT", "RuleWeights", "SUPPORTS_TEXT", "Sought", "Speeds", "Supported", "TIME_TEXT",
    "TOTAL", "TimeSteps", "Turning", "UNASKED_RESTARTS", "WITHOUT_TEXT", "any_frame_key", "constant_frame_key",
    "harmonics_key",
]  # fmt: skip

#: Tolerances beyond which what Newton-Raphson leaves would be seen in the results.
_COARSEST = {"rtol": 1e-3, "ctol": 1e-6}
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
RAYLEIGH_TEXT = "alpha and beta: damping alpha + beta w^2 of modes with the circular frequencies w, added to `damping`"


def _tolerance(name: str) -> Kind:
    most = _COARSEST[name]
    return limited(f"a number above 0 and at most {most:g}", 0.0, most, open_at="low")


@dataclass(frozen=True, kw_only=True)
class Newton(StepOptions):
    """How Newton-Raphson and the step control behave (`fem_mbs.analysis.transient.settings.Settings`)."""

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


def constant_frame_key() -> Any:
    """Return the key of the frame in which small motions about a steady rotation have constant matrices."""
    return key(
        ANY_TEXT,
        'in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three or more '
        'equal blades); their coefficients must be constant there; "auto" takes the first for which they are',
        FRAMES[0],
        choices=(*FRAMES, MULTI_BLADE),
    )


def any_frame_key() -> Any:
    """Return the key of the frame of eigenvalues, also of rotors that no frame makes constant."""
    return key(
        ANY_TEXT,
        'in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three or more '
        'equal blades); their coefficients must be constant there; "auto" takes the first for which they are; '
        '"periodic": by harmonics of the turn of the rotor, where no frame makes them constant (two blades, unequal '
        "blades)",
        FRAMES[0],
        choices=(*FRAMES, MULTI_BLADE, PERIODIC),
    )


def harmonics_key() -> Any:
    """Return the key of the number of harmonics of `PERIODIC`."""
    return key(COUNT, 'of the turn of the rotor in the motions, of frame = "periodic"', None, shows="as many as needed")


@dataclass(frozen=True, kw_only=True)
class Turning(StepOptions):
    """The steady rotation that small motions are about, and the frame in which they are seen."""

    rotor: str = key(ANY_TEXT, "name of the rotor that turns", "")
    speed: float | None = key(NUMBER, "of the rotor, else the one that it has in the state", None, unit="rad/s")
    frame: str = constant_frame_key()


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
    f"{UNASKED_RESTARTS} while the run goes on, for a run into a folder that is interrupted (none with events or "
    "adaptive steps); 0: none"
)
LOADS_TEXT = '"all", or a list of loads (and "gravity"): they act in addition to what the state carries'
MOVING_TEXT = LOADS_TEXT.replace(
    '(and "gravity")', '(and "gravity"), motions and references of controllers ("MOTOR.reference")'
)
TIME_TEXT = "at which functions are taken, else the present time"
REPORT_TEXT = (
    '"total" (sensors, frames and prints are those of the state and the step together) or "increment" (what the step '
    "adds to the state alone)"
)
#: What linear steps report.
REPORTS = ("total", "increment")
TOTAL, INCREMENT = REPORTS


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
