"""Steps that pass time: a transient, or equilibria one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.solution import ENERGY_COLUMNS, energy_range, relative_error
from fem_mbs.analysis.start.initial import Spin, consistent_velocities, constraint_error, start_rule
from fem_mbs.analysis.steps.common.checks import count_steps
from fem_mbs.analysis.steps.common.options import UNASKED_RESTARTS
from fem_mbs.analysis.switched import start_moving
from fem_mbs.analysis.transient.adaptive import AdaptiveStepping
from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.events import run_events
from fem_mbs.analysis.transient.ledger import check_growth, new_totals, update_totals
from fem_mbs.analysis.transient.rules import CHAIN, LATE, NEWMARK, RULES, verdict
from fem_mbs.analysis.transient.settings import Settings, settings_of
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.declarations.steps import PlannedStep
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError, Owner
from fem_mbs.late import late_module
from fem_mbs.model.model import CompiledModel
from fem_mbs.records import json_value
from fem_mbs.results.report import EnergyBalance, StartReport
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compile import with_acting
from fem_mbs.system.compiled import Compiled
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis import eigenvalue_paths
    from fem_mbs.analysis.blows import stepping as blow_stepping
    from fem_mbs.analysis.chains import stepping as chain_stepping
    from fem_mbs.analysis.chains import tree
else:
    blow_stepping = late_module("fem_mbs.analysis.blows.stepping")
    chain_stepping = late_module("fem_mbs.analysis.chains.stepping")
    tree = late_module("fem_mbs.analysis.chains.tree")
    eigenvalue_paths = late_module("fem_mbs.analysis.eigenvalue_paths")

__all__ = ["begin", "check_inertia", "fit_turning_load", "march", "spin_of", "transient_functions"]


def spin_of(step: PlannedStep, context: RunContext, t: float, rule: str = "") -> Spin | None:
    """Return the rotation with which a step starts at the time t [s] under a centrifugal load, else None."""
    frame = context.turning
    if frame is None:
        return None
    options = step.options
    exact = (rule or step.kind.info(options)["rule"]) == "midpoint"
    h = options.duration / count_steps(step.owner, options) if exact else 0.0
    return Spin(Owner("Centrifugal load", frame.name), float(frame.law(np.float64(t))), frame.axis, frame.point, h)


def fit_turning_load(step: PlannedStep, context: RunContext) -> None:
    """Fit a centrifugal load to the speed of the steps, where a transient continues its rotation.

    Raises:
        ModelError: a step is more than a quarter of a turn.
    """
    frame = context.turning
    if frame is None or not frame.spin:
        return
    spin = spin_of(step, context, sum(before.duration for before in context.plan[: step.number]))
    assert spin is not None
    if not abs(spin.speed * spin.h) < 0.5 * np.pi:
        raise ModelError(
            f'h = {spin.h:g} {unit_of("s")} is more than a quarter of a turn of "{frame.name}"',
            owner=step.owner,
            remedy="take a smaller one",
        )
    context.compiled.functions[frame.function] = lambda t: spin.of_step(frame.law(t)) ** 2


def _without_reserved(context: RunContext) -> CompiledModel:
    """Return the compiled model with the functions of reserved loads at zero."""
    compiled, reserved = context.compiled, context.loading.reserved
    functions = [np.zeros_like if r else f for f, r in zip(compiled.functions, reserved, strict=True)]
    return replace(compiled, functions=functions)


def transient_functions(context: RunContext) -> list[Any]:
    """Return the time functions of a transient, in which the rotating model itself replaces the centrifugal load."""
    functions = _without_reserved(context).functions
    if context.turning is not None:
        functions[context.turning.function] = np.zeros_like
    return functions if context.events is None else context.events.functions(functions)


def stepping_kind(compiled: Compiled) -> type[Stepping]:
    """Return the class of the equal steps of a model."""
    return blow_stepping.BlowStepping if any(block.type.unilateral for block in compiled.blocks) else Stepping


def begin(step: PlannedStep, context: RunContext) -> None:
    """Make the velocities of the start consistent and factor the first step's matrices, as `march` would.

    Raises:
        ModelError: the step cannot start.
    """
    options, rule = step.options, step.kind.info(step.options)["rule"]
    context = _with_brakes(step, context)
    context.now.start = consistent_velocities(context.compiled, context.state, 0.0, spin_of(step, context, 0.0))
    stepping = stepping_kind(context.system)(
        context.system, transient_functions(context), context.state, context.model.gravity, rule=rule, t0=0.0,
        h=options.duration / count_steps(step.owner, options), settings=settings_of(options),
    )  # fmt: skip
    stepping.begin()
    check_inertia(context, stepping)


def _with_brakes(step: PlannedStep, context: RunContext) -> RunContext:
    """Return the context in which brakes slip that the velocities given for the start move."""
    events, model = context.events, context.model
    if events is None or not step.kind.takes_events or not model.starts_moving:
        return context
    silent = events.switching.without_brakes()
    if silent is None:
        return context
    free = replace(context.compiled, system=with_acting(context.system, silent, events.switching.released))
    consistent_velocities(free, context.state, context.time, spin_of(step, context, context.time))
    events.switching.begin(free, context.state)
    return context.present()


def march(
    step: PlannedStep, context: RunContext, rule: str, resumed: dict[str, Any] | None,
    keep: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Make a step that passes time by an integration rule, or "static"; return the entries of its report.

    Args:
        keep: what restart points of the step hold besides.

    Raises:
        ModelError, AnalysisError: the step cannot start, or not go to its end.
    """
    context.loading.all_on()
    if resumed:
        context.now.time = float(resumed["t0"])
        context.restore(resumed)
    it = _March(step, context, rule, keep or {})
    if resumed:
        it.go_on(resumed)
    else:
        it.start()
    began = perf_counter()
    it.pass_time()
    return it.report(perf_counter() - began)


class _March:
    """A step that passes time, from its first row to its report."""

    def __init__(self, step: PlannedStep, context: RunContext, rule: str, keep: dict[str, Any]) -> None:
        self.step, self.context, self.rule, self.options, self.keep = step, context, rule, step.options, keep
        self.n_steps = count_steps(step.owner, self.options)
        self.settings = settings_of(self.options)
        self.h, self.t0 = self.options.duration / self.n_steps, context.now.time
        self.with_events = context.events is not None and step.kind.takes_events
        asked = self.options.restarts
        self.keep_restarts = asked is not None
        # A run in memory that fails leaves nothing to go on from.
        self.pauses = self.keep_restarts or context.recorder.directory is not None
        # Adaptive steps end at restart points, so that these change them.
        fixed = not self.with_events and not getattr(self.options, "adaptive", 0.0)
        self.restarts = asked if asked is not None else UNASKED_RESTARTS if fixed else 0
        every = max(1, self.n_steps // (self.restarts + 1)) if self.restarts else 0
        self.restart_every = 0 if self.with_events else every
        self.stepping = self.begun(self.t0, self.h)
        self.along: eigenvalue_paths.EigenvaluePath | None = None
        if getattr(self.options, "eigenvalues", None) is not None:
            events = context.events if self.with_events else None
            self.along = eigenvalue_paths.EigenvaluePath(context, step.owner, self.options.eigenvalues, events)
        self.late = self.t0 + LATE * self.options.duration
        self.totals: dict[str, Any] = {}
        self.happened: dict[str, Any] = {}
        self.points = 0  # restart points
        self.earlier = 0 if context.events is None else len(context.events.happened)  # events of steps before

    def begun(self, t: float, h: float) -> Stepping:
        """Return time steps of h that begin at the present state and the time t."""
        context, options = self.context, self.options
        kind = stepping_kind(context.system)
        more: dict[str, Any] = {}
        if tolerance := getattr(options, "adaptive", 0.0):
            kind, more = AdaptiveStepping, {"tolerance": tolerance, "duration": options.duration}
        elif self.rule in RULES and RULES[self.rule].kind == CHAIN:
            kind, more = chain_stepping.ChainStepping, {"tree": tree.Tree(context.compiled, self.step.owner)}
        return kind(
            context.system, transient_functions(context), context.state, context.model.gravity, rule=self.rule, t0=t,
            h=h, settings=self.settings, restart_every=self.restart_every, pauses=self.pauses,
            frame_every=max(1, self.n_steps // options.frames) if options.frames else 0, **more,
        )  # fmt: skip

    def after_events(self, t: float, h: float) -> Stepping:
        """Return time steps of h that begin at the present state and the time t, with the constraints that act now."""
        self.stepping = self.take(self.context.present()).begun(t, h)
        return self.stepping

    def take(self, context: RunContext) -> _March:
        """Go on with another context of the run."""
        self.context = context
        if self.along is not None:
            self.along.context = context
        return self

    # --- the start -------------------------------------------------------------------------------------------------
    def go_on(self, resumed: dict[str, Any]) -> None:
        """Continue from a restart point."""
        story = json.loads(resumed["story"])
        if self.context.events is not None:
            self.context.events.go_on(story["events"], self.stepping.two_state)
            self.after_events(*story["span"])
            self.earlier, self.points = story["earlier"], story["points"]
        self.stepping.restore(resumed)
        self.context.rows.resume(resumed["last row"])
        self.context.linear.restore(resumed)
        self.context.now.start, self.totals = StartReport.from_json(story["start"]), story["totals"]
        self.stepping.redundancy.earlier = story.get("redundancy", [])
        if self.along is not None:
            self.along.go_on(story["eigenvalues"], resumed["shapes"])
        self.context.now.started = self.rule != "static"

    def start(self) -> None:
        """Make the state of the start consistent, and record it."""
        context, now, stepping = self.context, self.context.now, self.stepping
        derivatives = context.derivatives
        if self.rule == "static":
            context.state.V[:] = 0.0
            context.state.past[:] = 0.0
            _rest_at_start(self.step, context, self.settings)
            stepping.begin()
            self.record_start(mid_step_valid=True)
        else:
            if not now.started:
                slipping = _with_brakes(self.step, context)
                if slipping is not context:
                    self.stepping = stepping = self.take(slipping).begun(self.t0, self.h)
                    context = slipping
                spin = spin_of(self.step, context, now.time)
                now.start = consistent_velocities(context.compiled, context.state, now.time, spin)
                if derivatives is not None:
                    derivatives.start_moving(lambda other: spin_of(self.step, other, now.time), now.time)
                stepping.begin()
            elif not start_moving(context, stepping):
                stepping.begin()
            check_inertia(context, stepping)
            if derivatives is not None:
                derivatives.begin(stepping, transient_functions)
            self.record_start(mid_step_valid=False)
            if RULES[self.rule].kind == NEWMARK:
                # of loads that jump at the start the later value acts in the first step
                later = float(np.nextafter(now.time, np.inf))

                def start(other: RunContext, state: S.State) -> None:
                    start_rule(_without_reserved(other), state, later, self.h, stepping.weights)

                if derivatives is not None:
                    derivatives.start_rule(start)
                start(context, context.state)
        self.totals = new_totals(stepping, self.late)
        now.started = self.rule != "static"

    def record_start(self, mid_step_valid: bool) -> None:
        """Record row and frame number zero."""
        context = self.context
        columns = {"eigenvalues": self.along.here(time=context.now.time)} if self.along is not None else None
        context.rows.first(self.stepping, context.recorder, mid_step_valid=mid_step_valid, columns=columns)
        if context.derivatives is not None:
            context.derivatives.first_row(self.stepping, mid_step_valid)

    # --- its steps -------------------------------------------------------------------------------------------------
    def pass_time(self) -> None:
        """Make all steps, with the events that happen."""
        context, now = self.context, self.context.now
        if context.events is not None and self.with_events:
            if self.stepping.step == 0:
                context.events.start(*context.rows.present(self.stepping), self.stepping.two_state)
            end = self.t0 + self.options.duration
            self.stepping, now.time = run_events(
                context.events, self.stepping, end, self.on_chunk, self.after_events, self.steps_at_once, self.h
            )
            self.happened["events"] = context.events.happened[self.earlier :]
            self.n_steps = int(self.totals["rows"])
            return
        while self.stepping.step < self.n_steps:
            self.stepping.run(min(self.n_steps - self.stepping.step, self.steps_to_eigenvalues()), self.on_chunk)
        now.time = float(self.stepping.time(self.n_steps))

    def steps_to_eigenvalues(self) -> int:
        """Return the number of steps to the next row at which eigenvalues are computed."""
        return self.n_steps if self.along is None else self.along.every - self.totals["rows"] % self.along.every

    def steps_at_once(self) -> int:
        """Return the number of steps to the next row with eigenvalues, or the next restart point."""
        most = self.steps_to_eigenvalues()
        return min(most, max(self.steps_to_point(), 1)) if self.points < self.restarts else most

    def steps_to_point(self) -> int:
        """Return the number of steps to the next restart point of a run with events, evenly spread in time."""
        stepping, share = self.stepping, (self.points + 1) / (self.restarts + 1)
        left = self.t0 + share * self.options.duration - float(stepping.time(stepping.step))
        return int(np.ceil(left / stepping.h - 1e-9))

    def on_chunk(self, chunk: Chunk) -> None:
        """Record the rows of some steps, and their restart point."""
        context, totals, along = self.context, self.totals, self.along
        check_growth(self.stepping, totals, chunk)
        update_totals(totals, chunk)
        frames = context.rows.frames(chunk.frames, chunk.frame_time) if len(chunk.frame_time) else None
        series = context.rows.series(
            chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record, longer=chunk.longer
        )
        if context.derivatives is not None:
            context.derivatives.rows(chunk)
        if along is not None:
            series["eigenvalues"] = along.none(len(chunk.time))
            # with events rows may be more than steps
            if totals["rows"] % along.every == 0 or (totals["rows"] == self.n_steps and not self.with_events):
                context.now.time = float(chunk.time[-1])
                series["eigenvalues"][-1:] = along.here(time=context.now.time)
        point = self.restart_point(float(chunk.time[-1]))
        context.recorder.append(series, frames, point, keep=self.keep_restarts)
        if context.progress is not None:
            iterations = float(chunk.iterations.mean())
            if isinstance(self.stepping, AdaptiveStepping):  # per step that was computed, not per row
                iterations = totals["iterations"] / max(self.stepping.computed, 1)
            done = round((float(chunk.time[-1]) - self.t0) / self.h)
            told = {"time": float(chunk.time[-1]), "iterations": iterations, "energy_error": relative_error(totals)}
            context.tell(self.step, done, self.n_steps, **told)

    def restart_point(self, time: float) -> dict[str, Any] | None:
        """Return the data of a restart point at ``time`` [s], if one is due."""
        stepping, context, along = self.stepping, self.context, self.along
        if self.with_events:
            # steps count from the last event, and a part of a step is no place to go on from
            whole = stepping.step > 0 and time == float(stepping.time(stepping.step))
            due = whole and self.points < self.restarts and self.steps_to_point() <= 0
            stepping.counter[S.REFACTOR] |= due
        else:
            due = bool(self.restart_every) and stepping.step % self.restart_every == 0 and stepping.step < self.n_steps
            due = due and stepping.step // self.restart_every <= self.restarts
        if not (due and self.pauses):
            return None
        self.points += 1
        if stepping.solver is not None and self.keep_restarts:
            # A run that goes on begins with a new solver, whose pivots and round-off may be others.
            stepping.solver.reset()
        story = {
            "summaries": json_value(context.reports), "start": context.now.start.to_json(), "totals": self.totals,
            "redundancy": stepping.redundancy.warnings, **({} if along is None else {"eigenvalues": along.story()}),
        }  # fmt: skip
        if context.events is not None:
            story["events"], story["span"] = context.events.story(), (stepping.t0, stepping.h)
            story["earlier"], story["points"] = self.earlier, self.points
        return {
            "time": time,
            "t0": self.t0,
            "model step": self.step.number,
            "story": json.dumps(story),
            "last row": context.rows.last,
            **stepping.snapshot(),
            **(along.shapes if along is not None else {}),
            **context.linear.snapshot(list(context.plan[self.step.number + 1 :])),
            **context.snapshot(),
            **self.keep,
        }

    # --- report and messages ----------------------------------------------------------------------------------------
    def report(self, seconds: float) -> dict[str, Any]:
        """Return the entries of the report; ``seconds`` is the time that the steps took."""
        context, stepping, totals = self.context, self.stepping, self.totals
        scale = energy_range(totals)
        if not np.isfinite(totals["lasting"]):  # an event has ended the run before
            totals["lasting"] = max(totals["last"][6], 0.0)
        told, failures = verdict(self.rule, self.settings, {**totals, "scale": scale})
        now = context.now
        return {
            "name": self.step.name, "rule": self.rule, "n_steps": self.n_steps, "h": self.h,
            **({"adaptive": stepping.report()} if isinstance(stepping, AdaptiveStepping) else {}),
            **stepping.entries(),
            "t_start": self.t0, "t_end": now.time, "iterations": int(totals["iterations"]),
            "factorisations": int(stepping.counter[S.FACTORISATIONS]), "halved_steps": stepping.halved_steps,
            "seconds": round(seconds, 4), "start": now.start, **self.happened,
            "warnings": [*stepping.warnings, *told, *(context.switched.jumps() if context.switched else [])],
            **({"failures": failures} if failures else {}),
            "constraint_error": constraint_error(context.compiled, context.state, now.time),
            "energy": EnergyBalance(
                range=scale, closing_error=totals["error"], closing_error_relative=relative_error(totals),
                tolerance=self.settings.energy_tolerance or None,
                final={c: float(v) for c, v in zip(ENERGY_COLUMNS, totals["last"][:7], strict=True)},
            ),
            "eigenvalues": None if self.along is None else self.along.report(),
            "linear_momentum": totals["last"][7 : 7 + context.model.dimension],
            "angular_momentum": totals["last"][12:13] if context.model.dimension == 2 else totals["last"][10:13],
        }  # fmt: skip


def _rest_at_start(step: PlannedStep, context: RunContext, settings: Settings) -> None:
    """Find the equilibrium at the time at which a quasi-static step begins."""
    functions = transient_functions(context)
    first = Stepping(
        context.system, functions, context.state, context.model.gravity, rule="static",
        t0=context.time, h=0.0, settings=settings,
    )  # fmt: skip
    first.begin()
    try:
        first.single(lambda chunk: None)
    except AnalysisError as error:
        raise ConvergenceError(
            f"{step.owner}: no equilibrium was found at its start ({error}); put a static step before it, "
            "which brings the loads on in increments"
        ) from None


def check_inertia(context: RunContext, stepping: Stepping) -> None:
    """Refuse a free dof without mass, stiffness and constraint, which has no equation of motion.

    Raises:
        ModelError: naming it.
    """
    system = context.system
    ctl, state = stepping.ctl, context.state
    now = np.array([stepping.t0])
    fun = stepping.evaluate(now, now, now)[0]
    diagonal = np.zeros(system.n_dof)
    for block, _fe, ke in system.element_arrays(C.TANGENT, ctl, fun, state):
        nd = block.type.node_dofs
        np.add.at(diagonal, block.dof, np.abs(np.einsum("eii->ei", ke)))
        np.add.at(diagonal, block.dof[:, :nd], np.abs(ke[:, :nd, nd:]).sum(axis=2))
    shared = system.system.shared
    np.add.at(diagonal, shared[:, 1], diagonal[shared[:, 0]])
    diagonal[shared[:, 0]] = diagonal[shared[:, 1]]
    first = system.first_multiplier
    lost = np.flatnonzero((system.system.equation[:first] >= 0) & (diagonal[:first] == 0.0))
    if lost.size:
        raise ModelError(
            f"{system.name_of(int(lost[0]))} has neither mass nor stiffness (singular inertia)",
            owner=Owner("Model"),
            remedy="give it a mass or inertia, or hold it",
        )
