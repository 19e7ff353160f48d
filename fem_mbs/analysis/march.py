"""Steps that pass time: a transient, or equilibria one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.eigenvalue_paths import EigenvaluePath
from fem_mbs.analysis.solution import ENERGY_COLUMNS, energy_range, relative_error
from fem_mbs.analysis.start.initial import Spin, consistent_velocities, constraint_error, start_rule
from fem_mbs.analysis.steps.common import count_steps
from fem_mbs.analysis.transient.adaptive import AdaptiveStepping
from fem_mbs.analysis.transient.events import run_events
from fem_mbs.analysis.transient.ledger import check_growth, new_totals, update_totals
from fem_mbs.analysis.transient.rules import LATE, RULES, verdict
from fem_mbs.analysis.transient.stepping import Chunk, Settings, Stepping, settings_of
from fem_mbs.declarations.steps import PlannedStep
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError, Owner
from fem_mbs.model.model import CompiledModel
from fem_mbs.records import json_value
from fem_mbs.results.report import EnergyBalance, StartReport
from fem_mbs.solvers.stepping import stepper as S

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
            f'h = {spin.h:g} s is more than a quarter of a turn of "{frame.name}"',
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


def begin(step: PlannedStep, context: RunContext) -> None:
    """Make the velocities of the start consistent and factor the first step's matrices, as `march` would.

    Raises:
        ModelError: the step cannot start.
    """
    options, rule = step.options, step.kind.info(step.options)["rule"]
    context.now.start = consistent_velocities(context.compiled, context.state, 0.0, spin_of(step, context, 0.0))
    stepping = Stepping(
        context.system, transient_functions(context), context.state, context.model.gravity, rule=rule, t0=0.0,
        h=options.duration / count_steps(step.owner, options), settings=settings_of(options),
    )  # fmt: skip
    stepping.begin()
    check_inertia(context, stepping)


def march(step: PlannedStep, context: RunContext, rule: str, resumed: dict[str, Any] | None) -> dict[str, Any]:
    """Make a step that passes time by an integration rule, or "static"; return the entries of its report.

    Raises:
        ModelError, AnalysisError: the step cannot start, or not go to its end.
    """
    options = step.options
    n_steps = count_steps(step.owner, options)
    context.loading.all_on()
    settings, now = settings_of(options), context.now
    h = options.duration / n_steps
    frame_every = max(1, n_steps // options.frames) if options.frames else 0
    restart_every = max(1, n_steps // (options.restarts + 1)) if options.restarts else 0
    if resumed:
        now.time = float(resumed["t0"])
    tolerance = getattr(options, "adaptive", 0.0)
    adaptive = {"tolerance": tolerance, "duration": options.duration} if tolerance else {}

    def begun(t: float, h: float) -> Stepping:
        return (AdaptiveStepping if adaptive else Stepping)(
            context.system, transient_functions(context), context.state, context.model.gravity, rule=rule, t0=t, h=h,
            settings=settings, frame_every=frame_every, restart_every=restart_every, **adaptive,
        )  # fmt: skip

    stepping = begun(now.time, h)
    wanted = options.eigenvalues
    with_events = context.events is not None and step.kind.takes_events
    along = None
    if wanted is not None:
        along = EigenvaluePath(context, step.owner, wanted, context.events if with_events else None)
    late = now.time + LATE * options.duration

    def record_start(mid_step_valid: bool) -> None:
        columns = {"eigenvalues": along.here(time=now.time)} if along is not None else None
        context.rows.first(stepping, context.recorder, mid_step_valid=mid_step_valid, columns=columns)

    if resumed:
        stepping.restore(resumed)
        context.linear.restore(resumed)
        story = json.loads(resumed["story"])
        now.start, totals = StartReport.from_json(story["start"]), story["totals"]
        stepping.redundancy.earlier = story.get("redundancy", [])
        if along is not None:
            along.go_on(story["eigenvalues"], resumed["shapes"])
    elif rule == "static":
        context.state.V[:] = 0.0
        context.state.past[:] = 0.0
        _rest_at_start(step, context, settings)
        stepping.begin()
        record_start(mid_step_valid=True)
        totals = new_totals(stepping, late)
    else:
        if not now.started:
            spin = spin_of(step, context, now.time)
            now.start = consistent_velocities(context.compiled, context.state, now.time, spin)
        stepping.begin()
        check_inertia(context, stepping)
        record_start(mid_step_valid=False)
        if RULES[rule].kind == S.NEWMARK:
            # of loads that jump at the start the later value acts in the first step
            start_rule(
                _without_reserved(context), context.state, float(np.nextafter(now.time, np.inf)), h, stepping.weights
            )
        totals = new_totals(stepping, late)
    now.started = rule != "static"
    t0 = now.time
    last = None if with_events else n_steps  # with events rows may be more than steps

    def on_chunk(chunk: Chunk) -> None:
        check_growth(stepping, totals, chunk)
        update_totals(totals, chunk)
        frames = context.rows.frames(chunk.frames, chunk.frame_time) if len(chunk.frame_time) else None
        series = context.rows.series(chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record)
        if along is not None:
            series["eigenvalues"] = along.none(len(chunk.time))
            if totals["rows"] % along.every == 0 or totals["rows"] == last:
                now.time = float(chunk.time[-1])
                series["eigenvalues"][-1:] = along.here(time=now.time)
        restart = None
        due = restart_every and stepping.step % restart_every == 0 and stepping.step < n_steps
        if due and stepping.step // restart_every <= options.restarts:
            if stepping.solver is not None:
                stepping.solver.reset()
            story = {"summaries": json_value(context.reports), "start": now.start.to_json(), "totals": totals}
            story["redundancy"] = stepping.redundancy.warnings
            if along is not None:
                story["eigenvalues"] = along.story()
            restart = {
                "time": float(chunk.time[-1]),
                "t0": t0,
                "model step": step.number,
                "story": json.dumps(story),
                **stepping.snapshot(),
                **(along.shapes if along is not None else {}),
                **context.linear.snapshot(list(context.plan[step.number + 1 :])),
            }
        context.recorder.append(series, frames, restart)
        if context.progress is not None:
            error = relative_error(totals)
            iterations = float(chunk.iterations.mean())
            if isinstance(stepping, AdaptiveStepping):  # per step that was computed, not per row
                iterations = totals["iterations"] / max(stepping.computed, 1)
            done = round((float(chunk.time[-1]) - t0) / h)
            told = {"time": float(chunk.time[-1]), "iterations": iterations, "energy_error": error}
            context.tell(step, done, n_steps, **told)

    def due() -> int:
        """Return the number of steps to the next row at which eigenvalues are computed."""
        return along.every - totals["rows"] % along.every if along is not None else n_steps

    started = perf_counter()
    events: dict[str, Any] = {}
    if context.events is not None and with_events:
        before = len(context.events.happened)
        context.events.start(*context.rows.present(stepping))
        stepping, now.time = run_events(context.events, stepping, t0 + options.duration, on_chunk, begun, due)
        events["events"] = context.events.happened[before:]
        n_steps = int(totals["rows"])
    else:
        while stepping.step < n_steps:
            stepping.run(min(n_steps - stepping.step, due()), on_chunk)
        now.time = float(stepping.time(n_steps))
    elapsed = perf_counter() - started
    scale = energy_range(totals)
    if not np.isfinite(totals["lasting"]):  # an event has ended the run before
        totals["lasting"] = max(totals["last"][6], 0.0)
    told, failures = verdict(rule, settings, {**totals, "scale": scale})
    return {
        "name": step.name, "rule": rule, "n_steps": n_steps, "h": h,
        **({"adaptive": stepping.report()} if isinstance(stepping, AdaptiveStepping) else {}),
        "t_start": t0, "t_end": now.time, "iterations": int(totals["iterations"]),
        "factorisations": int(stepping.counter[S.FACTORISATIONS]), "halved_steps": stepping.halved_steps,
        "seconds": round(elapsed, 4), "start": now.start, **events,
        "warnings": [*stepping.warnings, *told], **({"failures": failures} if failures else {}),
        "constraint_error": constraint_error(context.compiled, context.state, now.time),
        "energy": EnergyBalance(
            range=scale, closing_error=totals["error"], closing_error_relative=relative_error(totals),
            final={c: float(v) for c, v in zip(ENERGY_COLUMNS, totals["last"][:7], strict=True)},
        ),
        "eigenvalues": None if along is None else along.report(),
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
