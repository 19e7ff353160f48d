"""The data that the steps of one run share: frozen references, and named parts that change from step to step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.distributed.backends import backend_named
from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.kernels import prepare
from fem_mbs.analysis.linear.linearised import Linearised, Response
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.rows import Rows
from fem_mbs.analysis.solution import Progress
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.transient.events import Events
from fem_mbs.declarations.steps import PlannedStep, step_kind
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel, Model
from fem_mbs.results.report import CheckReport, ClosingReport, StartReport, StepReport
from fem_mbs.results.series import StepSensors
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.system.compile import with_acting
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.pairing import has_pairs, pair_up

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.harmonic import Harmonic
    from fem_mbs.analysis.sensitivity.derivatives import Derivatives
    from fem_mbs.analysis.stability.linearisation import Linearisation
    from fem_mbs.analysis.switched import Switched
    from fem_mbs.solvers.eigen.complex_modes import ComplexModes

__all__ = ["Ahead", "LinearFindings", "Now", "RunContext", "make_context"]

_SHAPES = "shapes of "  # before the names of steps in restart points
_LAW = "law "  # before the numbers of time functions there


@dataclass
class Now:
    """The changing part of a run: the ``time`` [s]; whether a transient has begun (``started``) and whether the
    start was checked (``checked``); what was done to the velocities (``start``) and the joints (``assembly``); tables
    (2, n) of times [s] and values that time functions follow since a step has found them, by their numbers
    (``laws``); accelerations (N,) of the state that a step of steady running has found, None once another step has
    changed the state (``acceleration``)."""

    time: float = 0.0
    started: bool = False
    checked: bool = False
    start: StartReport = field(default_factory=StartReport)
    assembly: ClosingReport | None = None
    laws: dict[int, np.ndarray] = field(default_factory=dict)
    acceleration: np.ndarray | None = None


@dataclass
class Ahead:
    """Knowledge of the start of a step before the first step runs.

    It holds its ``time`` [s] (None: an event may end a step before), whether the state may differ from the start
    (``moved``), and the levels of loads, with NaN for a factor that is not known.
    """

    loading: Loading
    time: float | None = 0.0
    moved: bool = False

    def values(self, compiled: CompiledModel, time: float | None = None) -> np.ndarray | None:
        """Return the values (n_fun,) of the time functions at ``time`` (None: where the step begins), if it is
        known."""
        t = self.time if time is None else float(time)
        return None if t is None else function_jets(compiled, t)[:, 0]


class LinearFindings:
    """Results of linear steps, and the matrices that they share while the state stays.

    Attributes:
        responses: responses of linear static steps by the names of the steps.
        ends: displacements (first,) from the state, and velocities (first,) or None, at the end of linear static steps
            and linear transients, by the names of the steps.
        linear: matrices of the last linear step.
        vectors: shapes (N, k) of the last modal or buckling step.
        below: number of shapes that this step left out below the first.
        shapes_of: shapes (N, k) of modal steps by the names of the steps.
        linearisation, complex_modes: matrices and modes of the last step of small motions.
        model: state space of the last step that made one.
        harmonic: response of the last harmonic step.
        reached: displacements (first,) from the state to where the last linear static step has ended; None: the state.
    """

    def __init__(self, backend: str = "local") -> None:
        self._make = backend_named(backend).make
        self.responses: dict[str, Response] = {}
        self.ends: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
        self.linear: Linearised | None = None
        self.vectors: np.ndarray | None = None
        self.below = 0
        self.shapes_of: dict[str, np.ndarray] = {}
        self.linearisation: Linearisation | None = None
        self.complex_modes: ComplexModes | None = None
        self.model: Any = None
        self.harmonic: Harmonic | None = None
        self.reached: np.ndarray | None = None
        self._key: tuple | None = None
        self._matrices: Any = None  # kept, so that their pattern is found once

    def at(
        self, context: RunContext, preload: str = "", time: float | None = None, passes: float = 0.0,
        supports: Sequence[str] = (), without: Sequence[str] = (),
    ) -> Linearised:  # fmt: skip
        """Return the matrices at the state after the steps before; they serve all steps until it changes.

        Args:
            preload: the linear static step at whose displaced place and stresses they are.
            time: at which functions are taken [s]; None: the present one, ``passes`` [s] later.
            supports: groups of supports that hold besides those of all steps.
            without: names of equations that do not act.
        """
        t = context.time + passes if time is None else float(time)
        loading, state = context.loading, context.state
        key = (
            t, preload, loading.factors.tobytes(), loading.weight, state.Q[0].tobytes(), tuple(supports),
            tuple(without),
        )  # fmt: skip
        if self.linear is None or self._key != key:
            self.linear = None  # two would take much memory
            response = self.responses[preload] if preload else None
            self.linear = self._make(context.compiled, state, t, loading, response, supports, without)
            self._key, self._matrices = key, self.linear.matrices
        return self.linear

    def forget(self) -> None:
        """Release the matrices, as those of other supports."""
        self.linear, self._key = None, None

    def snapshot(self, later: list[PlannedStep]) -> dict[str, np.ndarray]:
        """Return the data of linear steps that later steps may need, for restart points."""
        asked = {basis for step in later if (basis := getattr(step.options, "basis", ""))}
        return {f"{_SHAPES}{name}": self.shapes_of[name] for name in sorted(asked & set(self.shapes_of))}

    def restore(self, data: dict[str, Any]) -> None:
        """Restore the data that `snapshot` has saved."""
        for key, value in data.items():
            if key.startswith(_SHAPES):
                self.shapes_of[key.removeprefix(_SHAPES)] = value


@dataclass(frozen=True)
class RunContext:
    """The data of one run.  Steps change ``now``, ``state``, ``loading``, ``linear`` and ``reports``; the references
    stay.

    ``recorder`` takes rows; ``progress`` is called with `Progress`; ``events`` of the model, or None; ``outcomes``
    evaluates its checks, ``sensors`` gives the statistics of its sensors; ``skipped`` are sentences on unused content
    of an input file, or a function that returns them; ``switched`` are the supports that only the present step has, or
    lacks; ``derivatives`` are those of the state with respect to parameters, where they are asked for.
    """

    compiled: CompiledModel
    plan: tuple[PlannedStep, ...]
    rows: Rows
    events: Events | None
    state: State
    loading: Loading
    recorder: Any
    progress: Callable[[Progress], None] | None = None
    outcomes: Callable[[], list[CheckReport]] = list
    sensors: Callable[[], list[StepSensors]] = list
    skipped: list[str] | Callable[[], list[str]] = field(default_factory=list)
    now: Now = field(default_factory=Now)
    linear: LinearFindings = field(default_factory=LinearFindings)
    reports: list[StepReport] = field(default_factory=list)
    switched: Switched | None = None
    derivatives: Derivatives | None = None

    @property
    def model(self) -> Model:
        return self.compiled.model

    @property
    def system(self) -> Compiled:
        return self.compiled.system

    @property
    def turning(self) -> Any:
        """Return the rotating frame of a centrifugal load, or None."""
        return self.model.building.rotating

    @property
    def time(self) -> float:
        """Return the present time [s]."""
        return self.now.time

    @property
    def end(self) -> EndState:
        """Return the present state."""
        switched = self.events is not None and bool(self.events.happened)
        now = self.now
        loading = self.loading.in_motion() if now.started else self.loading
        return EndState(self.compiled, self.state, now.time, loading, now.started, switched, now.acceleration)

    def present(self) -> RunContext:
        """Return the context with the constraints that act now, after locks and breaking joints; itself where they have
        not changed.  The state shares all but work arrays over the equations."""
        events = self.events
        if events is None or events.switching.fits(self.system):
            return self
        switching = events.switching
        system = with_acting(self.system, switching.silent, switching.released)
        compiled = replace(self.compiled, system=system)
        events.compiled = compiled
        self.linear.forget()
        state = self.state
        state.Q[:, system.first_multiplier : -1][:, switching.silent] = 0.0
        own = system.initial_state()
        state = state._replace(values=own.values, rhs=own.rhs, pivot=own.pivot)
        return replace(self, compiled=compiled, state=state)

    def follow(self, number: int, times: np.ndarray, values: np.ndarray) -> None:
        """Let a time function follow values (n,) at times (n,) [s] from now on: a cubic spline that stays at its
        ends."""
        table = {"kind": "spline", "times": times.tolist(), "values": values.tolist(), "extrapolate": "hold"}
        self.now.laws[number] = np.vstack((times, values))
        self.compiled.functions[number] = make_function(table, owner=self.system.function_owner(number))

    def hold(self, number: int, value: float) -> None:
        """Make the time function ``number`` constant, with this value, from now on."""
        self.follow(number, self.time + np.array([0.0, 1.0]), np.full(2, value))

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return the tables that steps have found, for restart points."""
        return {f"{_LAW}{number}": table for number, table in self.now.laws.items()}

    def restore(self, data: dict[str, Any]) -> None:
        """Restore what `snapshot` has saved."""
        for key, table in data.items():
            if key.startswith(_LAW):
                self.follow(int(key.removeprefix(_LAW)), *np.asarray(table))

    def tell(self, step: PlannedStep, done: int, total: int, **more: float) -> None:
        """Report the progress of a step."""
        if self.progress is not None:
            told = {"time": self.now.time, "iterations": 0.0, "energy_error": 0.0, **more}
            self.progress(Progress(step.name, done, total, **told))


def _tell_limits(model: Model, plan: Sequence[PlannedStep]) -> None:
    """Warn where limits of brakes, pins, joints or supports stand in a model whose steps do not look at them."""
    building = model.building
    limits = [lock.name for lock in building.locks.values() if lock.limit is not None or lock.breaks_at is not None]
    limits += [b.name for b in building.breakings.values() if b.force is not None or b.moment is not None]
    if not limits or any(step.kind.looks_at_limits for step in plan):
        return
    names = ", ".join(f'"{name}"' for name in limits)
    told = f"limits are looked at in transients and static steps only: {names} hold whatever comes"
    if told not in building.warnings:
        building.warnings.append(told)


def make_context(
    model: Model,
    recorder: Any = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    compiled: CompiledModel | None = None,
    skipped: list[str] | Callable[[], list[str]] | None = None,
    backend: str = "local",
) -> RunContext:
    """Return the context of a run at the start of a model, its steps planned and checked by themselves.

    Args:
        recorder: takes rows, as `fem_mbs.analysis.solution.Solution`.
        compiled: the arrays of the model, if they are there.
        backend: where linear steps get their matrices, a name of `fem_mbs.analysis.distributed.backends`.

    Raises:
        ModelError: the model cannot be computed, or a step makes no sense.
    """
    kinds = [step_kind(step.kind) for step in model.steps]
    if compiled is None:
        linear = all(kind.linear for kind in kinds)  # others are refused where processes share the elements out
        compiled = model.compile(stepping=not linear, sharing=backend_named(backend).sharing if linear else None)
    if not kinds:
        raise ModelError(
            "it has no steps",
            owner=Owner("Model"),
            remedy="add one, such as a transient step; only fem-mbs reduce needs none",
        )
    plan = tuple(
        kind.plan(i, step.name, step.options) for i, (kind, step) in enumerate(zip(kinds, model.steps, strict=True))
    )
    context = RunContext(
        compiled, plan, Rows(compiled), None, compiled.system.initial_state(), Loading(compiled), recorder, progress,
        skipped=skipped or [], linear=LinearFindings(backend),
    )  # fmt: skip
    if has_pairs(compiled.system):
        pair_up(compiled.system, context.state)
    for step in plan:
        if backend_named(backend).distributed:
            step.kind.check_distributed(step, context)
        if not step.kind.impacts:
            compiled.system.refuse_impacts(
                step.owner, f"acts by blows in time, which a step of type {step.kind.name} does not have",
                "take a transient, or contact in place of the impact",
            )  # fmt: skip
        step.kind.check(step, context)
    _tell_limits(model, plan)
    prepare(compiled.system.blocks, plan)
    moving = next((step for step in plan if step.kind.passes_time), None)
    if moving is not None:
        moving.kind.fit_loads(moving, context)
    # events keep the functions as they are now
    return replace(context, events=Events(compiled)) if model.building.eventful else context
