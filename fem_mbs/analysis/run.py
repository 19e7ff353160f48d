"""Run the steps of a model one after the other, into memory or into a results folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.context import Ahead, RunContext, make_context
from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.header import count_model, fingerprint, make_header
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.solution import Progress, Solution
from fem_mbs.analysis.start.closing import assemble
from fem_mbs.analysis.start.initial import check_start
from fem_mbs.errors import DiskFullError, FemMbsError, ModelError, Owner, ResultsError, UncompiledError
from fem_mbs.files import version
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel, Model
from fem_mbs.progress import say, showing, waiting
from fem_mbs.results.report import CheckReport, ClosingReport, StartReport, Summary, report_of
from fem_mbs.results.series import StepSensors, sensors_of
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.threads import analysis
from fem_mbs.units import in_units_of_model, unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.sensitivity.derivatives import Derivatives
    from fem_mbs.results.reader import Results

__all__ = ["Beginning", "inspect", "run", "run_to_end", "solve"]

log = logging.getLogger("fem_mbs")


@in_units_of_model
@waiting()
def solve(
    model: Model,
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[..., Any] | None = None,
    derivatives: Callable[[RunContext], Derivatives] | None = None,
    threads: int | None = None,
) -> Solution:
    """Run all steps of a model and keep the results in memory; ``progress``, ``watch`` and ``threads`` as in `run`.

    ``derivatives`` makes what follows the derivatives of the state from the context of the run; see
    `fem_mbs.sensitivities`.  Without ``progress`` a line on a terminal or in a notebook shows it (`fem_mbs.quiet`
    switches it off).

    Steps that have not reached their goal, or whose results do not hold, have "failures" in their summary; they are
    logged too.

    Raises:
        ModelError: the model cannot be computed.
        AnalysisError: a step has no valid result.
    """
    with analysis(threads):
        return _solve(model, progress, watch, derivatives)


def _solve(
    model: Model,
    progress: Callable[[Progress], None] | None,
    watch: Callable[..., Any] | None,
    derivatives: Callable[[RunContext], Derivatives] | None,
) -> Solution:
    """Run all steps into memory; arguments as in `solve`."""
    solution = Solution()
    context = make_context(model, solution, progress=progress or _line())
    solution.compiled = context.compiled
    if watch is not None:
        context = replace(context, recorder=watch(context, solution))
    if derivatives is not None:
        context = replace(context, derivatives=derivatives(context))
    columns = [check.column(solution.header["sensors"]) for check in model.checks]
    context = replace(
        context,
        outcomes=lambda: _outcomes(model, columns, solution),
        sensors=lambda: sensors_of(solution) if model.sensors else [],
    )
    look_ahead(context)
    try:
        run_steps(context)
    except BaseException as error:
        solution.fail(str(error) or type(error).__name__)
        raise
    for sentence in solution.failures:
        log.warning(sentence)
    return solution


def _line() -> Callable[[Progress], None] | None:
    """Return the default display of progress, None where no terminal or notebook shows it."""

    def show(p: Progress) -> None:
        at = f"load factor {p.load_factor:.4g}" if p.load_factor is not None else f"t = {p.time:.4g} {unit_of('s')}"
        say(f"{p.step}: {100 * p.done // max(p.total, 1)} %, {at}")

    return show if showing() else None


@in_units_of_model
@analysis()
def run_to_end(model: Model, compiled: CompiledModel | None = None) -> EndState:
    """Return the state to which the steps of a model lead, or its start if it has none; results are not kept.

    Args:
        compiled: the arrays of the model, if they are there.

    Raises:
        ModelError, AnalysisError: the model cannot be computed, or a step has no valid result.
    """
    if model.steps:
        return run_steps(make_context(model, Solution(), compiled=compiled)).end
    end = EndState.at_start(compiled or model.compile(stepping=False))
    motions = ~np.asarray(end.compiled.loads, bool)
    if model.assembling is not None:
        assemble(end.compiled, end.state, 0.0, motions)
    check_start(end.compiled, end.state, 0.0, motions)
    return end


@in_units_of_model
@waiting()
def run(
    model: Model,
    directory: str | Path,
    progress: Callable[[Progress], None] | None = None,
    restart: int | None = None,
    skipped: list[str] | Callable[[], list[str]] | None = None,
    watch: Callable[..., Any] | None = None,
    source: str | Path | None = None,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
    backend: str = "local",
    threads: int | None = None,
) -> Results:
    """Run all steps of a model into a results folder and return the opened `fem_mbs.results.reader.Results`.

    The folder belongs to the model: results of the same model in it are replaced, those of another one refused, and
    files that fem-mbs has not written there are left alone (`fem_mbs.results.folder`).

    Args:
        model: what is computed.
        directory: the folder.
        progress: is called with how far the run is.
        restart: number of the restart point in the folder to continue from (-1: the last; where the run was interrupted
            before its first point, from the start), None: from the start.
        skipped: plain sentences on what an input file held and was not used, for the summary; or what gives them when
            the run ends.
        source: the model file, by which the model is known in the folder; None: it is known by its title.
        inputs: files that the model was made of; a run that would remove one is refused.
        overwrite: take the folder of another model, or one with other files in it, too.
        backend: where linear steps get their matrices, a name of `fem_mbs.analysis.distributed.backends`; distributed
            runs begin with `fem_mbs.analysis.distributed.run.run_distributed`.
        watch: what the context of the run and its recorder are given to; it returns the recorder that is used instead.
        threads: number of threads, on which no result depends; None: that of `fem_mbs.use_threads`, else that of
            FEM_MBS_THREADS, else the number of processors that the process may use.

    Raises:
        InputError: the number of threads is none.
        ModelError, ResultsError: the model or the folder cannot be used.
        AnalysisError: a step has no valid result; what was computed before stays readable.
    """
    from fem_mbs.results import store

    with analysis(threads):
        context = make_context(model, progress=progress or _line(), skipped=skipped, backend=backend)
        with store.held(Path(directory)):
            return _run_into(directory, model, context, restart, watch, source, inputs, overwrite)


def _run_into(
    directory: str | Path,
    model: Model,
    context: RunContext,
    restart: int | None,
    watch: Callable[..., Any] | None,
    source: str | Path | None,
    inputs: Iterable[Path],
    overwrite: bool,
) -> Results:
    """Run all steps into a folder that no other run uses; arguments as in `run`."""
    from fem_mbs.analysis.recovery.part_results import write_parts
    from fem_mbs.results.reader import Results
    from fem_mbs.results.store import kept_open
    from fem_mbs.results.writer import ResultsWriter

    header = make_header(context.compiled)
    columns = [check.column(header["sensors"]) for check in model.checks]
    header["fingerprint"] = fingerprint(context)
    point = None
    recorder: Any
    if restart is not None:
        before = Results.open(directory)
        if before.header.get("fingerprint") != header["fingerprint"]:
            raise ResultsError(
                f'Results folder "{directory}": they come from another model or another fem-mbs '
                f"({before.header['version']} wrote them), or the model was changed since; run it from its start into "
                "another folder"
            )
        if restart == -1 and not before.restart_points and not before.complete:
            log.warning('Results folder "%s": no restart point yet; the run starts anew', directory)
            restart = None
    if restart is None:
        look_ahead(context)
        recorder = ResultsWriter(directory, header, source=source, inputs=inputs, overwrite=overwrite)
        write_parts(directory, model)
    else:
        point = before.restart(restart)
        if "last row" not in point:
            raise ResultsError(
                f'Results folder "{directory}": its restart points are of an older version of fem-mbs; run the model '
                "again without restart"
            )
        recorder = ResultsWriter.resume(directory, restart)

    def outcomes() -> list[CheckReport]:
        """Evaluate checks from what is on disk: a continued run has only its later rows in hand."""
        if not model.checks:
            return []
        with kept_open():
            return _outcomes(model, columns, Results.open(directory))

    def sensors() -> list[StepSensors]:
        """Evaluate the statistics of sensors from what is on disk."""
        if not model.sensors:
            return []
        with kept_open():
            return sensors_of(Results.open(directory))

    context = replace(context, recorder=recorder, outcomes=outcomes, sensors=sensors)
    if watch is not None:
        context = replace(context, recorder=watch(context, recorder))
    try:
        run_steps(context, point)
    except BaseException as error:
        _fail(context.recorder, error)
        raise
    with kept_open():
        results = Results.open(directory)
        results.write_sensors_csv()
        results.write_response_csv()
        results.write_drives_csv()
    return results


def _outcomes(model: Model, columns: list[tuple[str, int]], results: Any) -> list[CheckReport]:
    """Return the outcomes of a model's checks, given their sensors and numbers of columns, and results."""
    found = []
    for check, (name, column) in zip(model.checks, columns, strict=True):
        series = results.sensor(name)
        found.append(check.evaluate(series.t, series.values[:, column]))
    return found


def _fail(recorder: Any, error: BaseException) -> None:
    """Write to the results what ended the run; a failure to write must not hide it.

    Raises:
        FemMbsError: as ``error``, also saying that the last rows are lost; ResultsError where ``error`` is another.
    """
    try:
        recorder.fail(str(error) or type(error).__name__)
    except ResultsError as lost:
        if isinstance(error, DiskFullError):
            return
        if isinstance(error, FemMbsError):
            raise type(error)(f"{error}; the last rows are lost ({lost})") from error
        raise


@dataclass(frozen=True)
class Beginning:
    """The start of a run: the compiled model, its state with velocities that fit joints and motions, what was done to
    the velocities (all None if the first step is static), and what an assembly has moved (None without one).

    ``tried`` is False where kernels are missing and must not be compiled: joints or velocities were not looked at."""

    compiled: CompiledModel
    state: S.State
    start: StartReport
    assembly: ClosingReport | None
    tried: bool = True


@in_units_of_model
@analysis()
def inspect(model: Model) -> Beginning:
    """Make the checks of `run` before its first step, with the stability of explicit steps in addition.

    Raises:
        ModelError: the model cannot be computed.
    """
    context = make_context(model)
    tried = True
    try:
        check_beginning(context)
    except UncompiledError:
        context.now.checked, tried = True, False
    look_ahead(context)
    moving = next((step for step in context.plan if not step.kind.linear), None)
    first = context.plan[0]
    try:
        if moving is not None:
            moving.kind.check_stability(moving, context)
        first.kind.begin(first, context)
    except UncompiledError:
        tried = False
    return Beginning(context.compiled, context.state, context.now.start, context.now.assembly, tried)


def check_beginning(context: RunContext) -> None:
    """Refuse an impossible start, once, before a results folder is touched.

    Raises:
        ModelError: joints that are open, or contradict each other.
    """
    if context.now.checked:
        return
    _assemble(context)
    check_start(context.compiled, context.state, 0.0, _moved_at_start(context))
    context.now.checked = True


def look_ahead(context: RunContext) -> None:
    """Refuse everything that a later step or check would refuse, before a results folder is touched.

    A run of many hours must not end by a misspelt word in its last step.

    Raises:
        ModelError: the first thing that a step would refuse, naming the step, the key and the valid choices.
    """
    check_beginning(context)
    model = context.model
    ahead = Ahead(Loading(context.compiled))
    began: float | None = None  # when the first step that passes time does
    for step in context.plan:
        step.kind.look_ahead(step, context, ahead)
        if step.kind.passes_time:
            began = ahead.time if began is None else began
            ahead.loading.all_on()
        ahead.moved = ahead.moved or not step.kind.linear
        if model.events and step.kind.takes_events:
            ahead.time = None
        elif ahead.time is not None:
            ahead.time += step.duration
    t, headers = ahead.time, [sensor.header for sensor in context.compiled.sensors]
    for check in model.checks:
        check.column(headers)
        if check.at is None or began is None or t is None:
            continue
        if not began - 1e-9 * t <= check.at <= t * (1.0 + 1e-9):
            raise ModelError(
                f"at = {check.at:g} {unit_of('s')} is no time of the steps, which go from {began:g} to {t:g} "
                f"{unit_of('s')}",
                owner=Owner("Check", check.name),
            )


def run_steps(context: RunContext, point: dict[str, Any] | None = None) -> RunContext:
    """Make the steps of a run, from the start or from a restart point, and close its results; return the context with
    the constraints that act at its end.

    Raises:
        ModelError, AnalysisError: as of the steps.
    """
    _assemble(context)  # a continued run too: it tells of it
    if point is None:
        check_beginning(context)
    first = int(point["model step"]) if point else 0
    context.reports[:] = map(report_of, json.loads(point["story"])["summaries"]) if point else []
    for step in context.plan[first:]:
        resumed = point if step.number == first else None
        kind = step.kind
        if resumed is None:
            context.recorder.begin_step(step.name, kind.recorded or kind.name, kind.info(step.options))
        if context.derivatives is not None:
            context.derivatives.begin_step(step)
        if not kind.linear:
            context.now.acceleration = None
        context.reports.append(context.recorder.end_step(kind.run(step, context, resumed)))
        if context.derivatives is not None:
            context.derivatives.end_step()
        if not kind.linear:
            context.linear.reached = None
        context = context.present()
    context.recorder.close(_summary(context))
    return context


def _summary(context: RunContext) -> Summary:
    skipped = context.skipped
    return Summary(
        title=context.model.title, version=version(), model=count_model(context.compiled),
        parameters=dict(context.model.parameters) or None,
        units=None if context.model.shown_units is None else context.model.shown_units.to_json(),
        assembly=context.now.assembly, steps=list(context.reports), sensors=context.sensors() or None,
        checks=context.outcomes(),
        skipped=skipped() if callable(skipped) else skipped, departures=context.model.departures or None,
        warnings=context.model.warnings or None,
    )  # fmt: skip


def _assemble(context: RunContext) -> None:
    """Close the joints, once, where the model asks for it."""
    if context.model.assembling is not None and context.now.assembly is None:
        context.now.assembly = assemble(context.compiled, context.state, 0.0, _moved_at_start(context))


def _moved_at_start(context: RunContext) -> np.ndarray:
    """Return motions (n_fun,) bool that the static steps before the first transient apply; all where there are
    linear steps only."""
    motions = ~np.asarray(context.compiled.loads, bool)
    if all(step.kind.linear for step in context.plan):
        return motions
    found = np.zeros(len(motions), bool)
    for step in context.plan:
        if step.kind.passes_time:
            break
        found |= step.kind.moves(step, context)
    return found & motions
