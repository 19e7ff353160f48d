"""Run the steps of a model one after the other, into memory or into a results folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.header import count_model, find_group, fingerprint, make_header
from fem_mbs.analysis.linear.sensors import LinearSensors
from fem_mbs.analysis.linear_runs import LinearRuns
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.options import LINEAR, STEP_OPTIONS, TIMED, count_steps, read_options, rule_of, step_info
from fem_mbs.analysis.recovered import RecoveredNodes
from fem_mbs.analysis.solution import (
    ENERGY_COLUMNS,
    Progress,
    Solution,
    energy_range,
    relative_error,
)
from fem_mbs.analysis.start.closing import assemble
from fem_mbs.analysis.start.initial import Spin, check_start, consistent_velocities, constraint_error, start_rule
from fem_mbs.analysis.statics.steps import check_options, run_static, varied
from fem_mbs.analysis.step_checks import check_stability, check_steps
from fem_mbs.analysis.steps.eigenvalue_paths import EigenvaluePath, check_eigenvalues
from fem_mbs.analysis.steps.linear import check_linear
from fem_mbs.analysis.steps.rotors import RotorRuns, check_rotor_step
from fem_mbs.analysis.transient.adaptive import AdaptiveStepping
from fem_mbs.analysis.transient.events import Events, run_events
from fem_mbs.analysis.transient.inverse import check_drivers
from fem_mbs.analysis.transient.rules import HOPELESS, LATE, RULES, SETTLING, check_explicit, check_rule, verdict
from fem_mbs.analysis.transient.stepping import Chunk, Settings, Stepping
from fem_mbs.errors import AnalysisError, ConvergenceError, DiskFullError, FemMbsError, ModelError, ResultsError
from fem_mbs.model.checks import Outcome
from fem_mbs.model.model import CompiledModel, Model, Step
from fem_mbs.results.fields import MODAL
from fem_mbs.solvers.stepping import stepper as S

__all__ = ["inspect", "run", "solve"]

log = logging.getLogger("fem_mbs")


def solve(model: Model, progress: Callable[[Progress], None] | None = None, watch: Callable | None = None) -> Solution:
    """Run all steps of a model and keep the results in memory; ``watch`` as in `run`.

    Steps that have not reached their goal, or whose results do not hold, have "failures" in their summary; they are
    logged too.

    Raises:
        ModelError: the model cannot be computed.
        AnalysisError: a step has no valid result.
    """
    solution = Solution()
    job = _Run(model, solution, progress)
    solution.compiled = job.compiled
    if watch is not None:
        job.recorder = watch(job, solution)
    job.look_ahead()
    job.run()
    for sentence in solution.failures:
        log.warning(sentence)
    return solution


def run(
    model: Model,
    directory: str | Path,
    progress: Callable[[Progress], None] | None = None,
    restart: int | None = None,
    skipped: list[str] | Callable[[], list[str]] | None = None,
    watch: Callable | None = None,
    source: str | Path | None = None,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
):
    """Run all steps of a model into a results folder and return the opened `fem_mbs.results.reader.Results`.

    The folder belongs to the model: results of the same model in it are replaced, those of another one refused, and
    files that fem-mbs has not written there are left alone (`fem_mbs.results.folder`).

    Args:
        restart: number of the restart point in the folder to continue from (-1: the last), None: from the start.
        skipped: plain sentences on what an input file held and was not used, for the summary; or what gives them when
            the run ends.
        source: the model file, by which the model is known in the folder; None: it is known by its title.
        inputs: files that the model was made of; a run that would remove one is refused.
        overwrite: take the folder of another model, or one with other files in it, too.
        watch: what the run and its recorder are given to; it returns the recorder that is used instead.

    Raises:
        ModelError, ResultsError: the model or the folder cannot be used.
        AnalysisError: a step has no valid result; what was computed before stays readable.
    """
    from fem_mbs.analysis.part_results import write_parts
    from fem_mbs.results.reader import Results
    from fem_mbs.results.writer import ResultsWriter

    compiled = _compile(model)
    header = make_header(compiled)
    columns = [check.column(header["sensors"]) for check in model.checks]
    job = _Run(model, None, progress, compiled, skipped)
    header["fingerprint"] = fingerprint(job)
    if restart is None:
        job.look_ahead()
        job.recorder = ResultsWriter(directory, header, source=source, inputs=inputs, overwrite=overwrite)
        write_parts(directory, model)
    else:
        before = Results.open(directory)
        if before.header.get("fingerprint") != header["fingerprint"]:
            raise ResultsError(
                f'Results folder "{directory}": they come from another model, or this one was changed since; run it '
                "from its start into another folder"
            )
        job.point = before.restart(restart)
        job.recorder = ResultsWriter.resume(directory, restart)

    def outcomes() -> list[Outcome]:
        """The checks of the model, from what is on disk: a continued run has only its later rows in hand."""
        found, so_far = [], Results.open(directory) if model.checks else None
        for check, (name, column) in zip(model.checks, columns, strict=True):
            t, values, _ = so_far.sensor(name)
            found.append(check.evaluate(t, values[:, column]))
        return found

    job.outcomes = outcomes
    if watch is not None:
        job.recorder = watch(job, job.recorder)
    try:
        job.run()
    except BaseException as error:
        _fail(job.recorder, error)
        raise
    results = Results.open(directory)
    results.write_sensors_csv()
    results.write_response_csv()
    results.write_drives_csv()
    return results


def _fail(recorder: Any, error: BaseException) -> None:
    """Have the results say what ended the run; that this cannot be written must not hide what it was.

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


def inspect(model: Model) -> tuple[CompiledModel, S.State, dict[str, Any]]:
    """Everything that `run` would look at before its first step: the compiled model, the state at the start with
    velocities that fit joints and motions, and what was done to them (empty if the first step is static), with what an
    assembly has moved; and the stability of explicit steps, which `run` finds out by going.

    Raises:
        ModelError: the model cannot be computed.
    """
    job = _Run(model, None)
    job.look_ahead()
    check_stability(job)
    step, options, settings = job.plan[0]
    if step.kind in TIMED and options.get("dynamic", True):
        job.start_report = consistent_velocities(job.compiled, job.state, 0.0, job._spin(step, options, 0.0))
        stepping = Stepping(
            job.system, job._transient_functions(), job.state, model.gravity,
            rule=rule_of(options), t0=0.0, h=options["duration"] / count_steps(step.name, options), settings=settings,
        )  # fmt: skip
        stepping.begin()
        job._check_inertia(stepping)
    report = job.start_report if job.assembly is None else {**job.start_report, "assembly": job.assembly}
    return job.compiled, job.state, report


class _Run:
    """One run: compiled model, state, time, and the recorder that takes the rows."""

    def __init__(self, model, recorder, progress=None, compiled=None, skipped=None, point=None):
        self.model, self.recorder, self.progress = model, recorder, progress
        self.compiled: CompiledModel = compiled or _compile(model)
        self.skipped = skipped or []
        self.system = self.compiled.system
        self.fields = fields_of(self.compiled)
        self.recovered = RecoveredNodes(self.compiled)
        self.state = self.system.initial_state()
        self.point = point
        self.t = 0.0
        self.loading = Loading(self.compiled)
        self.summaries: list[dict[str, Any]] = []
        self.linear = LinearRuns(self)
        self.rotors = RotorRuns(self)
        self.start_report: dict[str, Any] = {}
        self.started = self.checked = False
        self.assembly: dict[str, Any] | None = None
        self.outcomes: Callable[[], list[Outcome]] = list
        if not model.steps:
            raise ModelError("Model: it has no steps; add a static or a transient step")
        self.plan = [(s, *read_options(s, STEP_OPTIONS[s.kind])) for s in model.steps]
        self.frame = model.building.rotating
        for step, options, _ in self.plan:
            check_eigenvalues(f'Step "{step.name}"', options, model)
            if step.kind in TIMED:
                count_steps(step.name, options)
                if step.kind == "transient" and RULES[options["rule"]].kind == S.EXPLICIT:
                    check_explicit(f'Step "{step.name}"', self.system)
                if self.frame is not None and not self.frame.spin:
                    raise ModelError(
                        f'Step "{step.name}": centrifugal loads belong to static, modal and buckling steps; in a '
                        "transient the model itself turns (a driven joint, or initial velocities with spin): with "
                        "spin = true of the load it starts from the trimmed state"
                    )
            elif step.kind == "static":
                check_options(f'Step "{step.name}"', options, model)
            elif step.kind in LINEAR:
                if step.kind == "linear_transient":
                    count_steps(step.name, options)
                    check_rule(f'Step "{step.name}"', options, step.options)
                check_linear(f'Step "{step.name}"', step.kind, options, model)
            if step.kind in ("campbell", "unbalance"):
                check_rotor_step(f'Step "{step.name}"', step.kind, options, model)

        self._trim_for_steps()
        self.events = Events(self.compiled) if model.events else None
        for step, options, _ in self.plan if self.events else ():
            if step.kind == "transient" and options["restarts"]:
                raise ModelError(
                    f'Step "{step.name}": restarts = {options["restarts"]}: a transient with events has no restart '
                    "points; take restarts = 0"
                )
            if options.get("adaptive"):
                raise ModelError(
                    f'Step "{step.name}": events are located within equal steps; remove adaptive, or the events'
                )

    def _trim_for_steps(self) -> None:
        """Where a transient goes on with the rotation, the load is that of the speed which its steps have."""
        frame = self.frame
        if frame is None or not frame.spin:
            return
        number = next((i for i, (s, _, _) in enumerate(self.plan) if s.kind in TIMED), None)
        if number is None:
            return
        step, options, _ = self.plan[number]
        spin = self._spin(step, options, sum(o.get("duration", 0.0) for _, o, _ in self.plan[:number]))
        if not abs(spin.speed * spin.h) < 0.5 * np.pi:
            raise ModelError(
                f'Step "{step.name}": h = {spin.h:g} s is more than a quarter of a turn of "{frame.name}"; take a '
                "smaller one"
            )
        self.compiled.functions[frame.function] = lambda t: spin.of_step(frame.law(t)) ** 2

    def _spin(self, step: Step, options: dict[str, Any], t: float) -> Spin | None:
        """The rotation with which a transient starts."""
        frame = self.frame
        if frame is None:
            return None
        h = options["duration"] / count_steps(step.name, options) if rule_of(options) == "midpoint" else 0.0
        return Spin(f'Centrifugal load "{frame.name}"', float(frame.law(np.float64(t))), frame.axis, frame.point, h)

    def _without_reserved(self) -> CompiledModel:
        """The compiled model with the functions of reserved loads at zero."""
        reserved = self.loading.reserved
        functions = [np.zeros_like if r else f for f, r in zip(self.compiled.functions, reserved, strict=True)]
        return replace(self.compiled, functions=functions)

    def _transient_functions(self) -> list[Callable]:
        """Time functions of a transient, in which the model itself turns."""
        functions = self._without_reserved().functions
        if self.frame is not None:
            functions[self.frame.function] = np.zeros_like
        return functions if self.events is None else self.events.functions(functions)

    def assemble(self) -> None:
        """Close the joints, once, where the model asks for it."""
        if self.model.assembling is not None and self.assembly is None:
            self.assembly = assemble(self.compiled, self.state, 0.0, self._varied())

    def check(self) -> None:
        """Everything that can be said against the start before a results folder is touched."""
        if self.checked:
            return
        self.assemble()
        check_start(self.compiled, self.state, 0.0, self._varied())
        self.checked = True

    def look_ahead(self) -> None:
        """Everything that can be said against the start and all steps before a results folder is touched."""
        self.check()
        check_steps(self)

    def _varied(self) -> np.ndarray:
        """Motions (n_fun,) bool that the static steps before the first transient bring in; where there are linear steps
        only, all."""
        if all(step.kind in LINEAR for step, _, _ in self.plan):
            return ~np.asarray(self.compiled.loads, bool)
        found = np.zeros(len(self.compiled.functions), bool)
        for step, options, _ in self.plan:
            if step.kind in TIMED:
                break
            if step.kind == "static":
                found |= chosen(self.compiled, varied(step, options), f'Step "{step.name}"', "vary", motions=True)[0]
        return found & ~np.asarray(self.compiled.loads, bool)

    def run(self) -> None:
        self.assemble()  # a continued run too: it tells of it
        if self.point is None:
            self.check()
        marching = {"transient": self._transient, "inverse": self._inverse, "static": self._static}
        linear = {
            "linear_static": self.linear.static, "linear_transient": self.linear.transient,
            "modes": self.linear.shapes, "buckling": self.linear.shapes,
            "campbell": self.rotors.campbell, "unbalance": self.rotors.unbalance,
            "complex_modes": self.linear.complex, "linearise": self.linear.linearise,
            "stability_map": self.linear.map, "harmonic": self.linear.harmonic_response,
        }  # fmt: skip
        first = int(self.point["model step"]) if self.point else 0
        self.summaries = json.loads(self.point["story"])["summaries"] if self.point else []
        for number, (step, options, settings) in enumerate(self.plan):
            if number < first:
                continue
            resumed = self.point if self.point is not None and number == first else None
            if resumed is None:
                kind = "transient" if step.kind == "linear_transient" else step.kind
                self.recorder.begin_step(step.name, kind, step_info(step.kind, options))
            if step.kind in LINEAR:
                summary = linear[step.kind](step, options)
            else:
                summary = marching[step.kind](number, step, options, settings, resumed)
            self.summaries.append(summary)
            self.recorder.end_step(summary)
        self.recorder.close(self.summary())

    def summary(self) -> dict[str, Any]:
        return {
            "title": self.model.title,
            "version": metadata.version("fem-mbs"),
            "model": count_model(self.compiled),
            **({"assembly": self.assembly} if self.assembly is not None else {}),
            "steps": self.summaries,
            "checks": [outcome.as_dict() for outcome in self.outcomes()],
            "skipped": self.skipped() if callable(self.skipped) else self.skipped,
            **({"warnings": self.model.warnings} if self.model.warnings else {}),
        }

    # --- rows ------------------------------------------------------------------------------------------------------
    def series(
        self, time, ledger, iterations, residual, record, mid_step_valid=True, sensors: LinearSensors | None = None
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Columns of rows; of linear steps ``record`` has changes, of which ``sensors`` make readings."""
        dim = self.model.dimension
        rows = {
            "time": time,
            "ledger": ledger[:, :7],
            "linear momentum": ledger[:, 7 : 7 + dim],
            "angular momentum": ledger[:, 12:13] if dim == 2 else ledger[:, 10:13],
            "iterations": iterations.astype(np.int32),
            "residual": residual,
        }
        for i, sensor in enumerate(self.compiled.sensors):
            own = record[:, sensor.first : sensor.last]
            values = sensor.evaluate(own, ledger) if sensors is None else sensors.of(i, own, ledger)
            if sensor.mid_step and not mid_step_valid:
                values = np.full_like(values, np.nan)
            rows[f"sensor/{sensor.name}"] = np.asarray(values, float)
        return rows

    def frames(
        self, chunk_frames: dict[str, np.ndarray], time: np.ndarray, about: S.State | None = None,
        shapes: bool = False, moved: dict[str, np.ndarray] | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Columns of the frames. ``about``: the state that a linear analysis is about, ``moved`` how its stresses
        change (`Fields.frames`); ``shapes``: displacements of any size, which have no stresses."""
        system, dim = self.system, self.model.dimension
        nf, n = len(time), system.nodes.x.shape[0]
        Q, V, D = chunk_frames["Q"], chunk_frames["V"], chunk_frames["D"]
        displacement, velocity, rotation = (np.zeros((nf, n, 3)) for _ in range(3))
        for i in range(dim):
            displacement[:, :, i] = Q[:, system.offset[:n] + i] - system.nodes.x[:, i]
            velocity[:, :, i] = V[:, system.offset[:n] + i]
        where = np.flatnonzero(system.nodes.rotational)
        if where.size and dim == 2:
            rotation[:, where, 2] = Q[:, system.offset[where] + 2] - system.nodes.rotation[where]
        elif where.size:
            from scipy.spatial.transform import Rotation

            start = np.swapaxes(system.nodes.rotation[where], 1, 2)
            R = D[:, : where.size].reshape(nf, -1, 3, 3) @ start
            rotation[:, where] = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_rotvec().reshape(nf, -1, 3)
        out = {"time": time, "displacement": displacement, "rotation": rotation}
        if not shapes:
            out["velocity"] = velocity
        solids = {part.name for part in self.fields.parts}
        if not shapes:
            out |= self.fields.frames(Q, chunk_frames, system.offset, moved)
        if len(self.recovered.x):
            more = self.recovered.columns(Q, V, D)
            fields = (
                {} if shapes else self.recovered.stresses(Q, D if about is None else np.repeat(about.D[:1], nf, axis=0))
            )
            for name, values in fields.items():
                out.setdefault(name, np.full((nf, n, *values.shape[2:]), np.nan, np.float32))
            more |= fields
            for name, values in out.items():
                if values.ndim > 1 and values.shape[1] == n and "/points " not in name and "/energy " not in name:
                    out[name] = self.recovered.extended(values, more.get(name))
        for name, cells in self.model.groups.items():
            if name in solids:
                continue
            energy = np.zeros((nf, len(cells)))
            for block, first in find_group(system, name):
                k = len(block.type.outputs)
                if k:
                    at = block.first_output + first * k
                    values = chunk_frames["out"][:, at : at + len(cells) * k].reshape(nf, len(cells), k)
                    for i, label in enumerate(block.type.outputs):
                        out[f"{name}/{label}"] = values[:, :, i]
                if block.type.ends == 2:
                    at = block.first_element + first
                    energy += chunk_frames["energy"][:, at : at + len(cells)]
            out[f"{name}/energy [J]"] = energy
        for name, placed in self.model.reduced_parts.items():
            out[f"{name}/{MODAL}"] = Q[:, system.first_scalar + placed.scalars]
        return out

    def _present_row(self, stepping: Stepping) -> tuple[np.ndarray, np.ndarray]:
        """Recorded values (1, k) and ledger (1, 13) of the start of a step."""
        state, record = self.state, self.system.system.record
        sources = {
            S.REC_Q: state.Q[0],
            S.REC_V: state.V[0],
            S.REC_D: state.D[0].ravel(),
            S.REC_REACTION: state.reaction[0],
            S.REC_WORK: state.work,
        }
        values = np.array([[sources.get(a, state.out)[k] for a, k in record]]).reshape(1, -1)
        return values, stepping.first_row[None, :]

    def _first_rows(
        self, stepping: Stepping, mid_step_valid: bool = False, place: np.ndarray | None = None, **extra: np.ndarray
    ) -> None:
        """The start of a step as row and frame number zero; ``place`` of the frame, if it is no other of the values."""
        state = self.state
        values, ledger = self._present_row(stepping)
        t = np.array([stepping.t0])
        series = self.series(t, ledger, np.zeros(1), np.zeros(1), values, mid_step_valid)
        frames = {
            "Q": state.Q[:1],
            "V": state.V[:1],
            "D": state.D[:1],
            "out": state.out[None, :],
            "energy": state.energy[None, :],
        }
        if place is None:
            place = extra.get("path length", extra.get("load factor", t))
        self.recorder.append({**series, **extra}, self.frames(frames, place))

    # --- transient -------------------------------------------------------------------------------------------------
    def _transient(self, number: int, step: Step, options, settings, resumed) -> dict[str, Any]:
        n_steps = count_steps(step.name, options)
        rule = rule_of(options)
        self.loading.all_on()
        h = options["duration"] / n_steps
        frame_every = max(1, n_steps // options["frames"]) if options["frames"] else 0
        restart_every = max(1, n_steps // (options["restarts"] + 1)) if options["restarts"] else 0
        if resumed:
            self.t = float(resumed["t0"])
        tolerance = options.get("adaptive")
        adaptive = {"tolerance": tolerance, "duration": options["duration"]} if tolerance else {}

        def begun(t: float, h: float) -> Stepping:
            return (AdaptiveStepping if adaptive else Stepping)(
                self.compiled.system, self._transient_functions(), self.state, self.model.gravity, rule=rule, t0=t, h=h,
                settings=settings, frame_every=frame_every, restart_every=restart_every, **adaptive,
            )  # fmt: skip

        stepping = begun(self.t, h)
        wanted = options["eigenvalues"]
        with_events = self.events is not None and step.kind == "transient"
        along = None
        if wanted is not None:
            along = EigenvaluePath(self, f'Step "{step.name}"', wanted, self.events if with_events else None)
        late = self.t + LATE * options["duration"]
        if resumed:
            stepping.restore(resumed)
            self.linear.restore(resumed)
            story = json.loads(resumed["story"])
            self.start_report, totals = story["start"], story["totals"]
            stepping.redundancy.earlier = story.get("redundancy", [])
            if along is not None:
                along.go_on(story["eigenvalues"], resumed["shapes"])
        elif rule == "static":
            self.state.V[:] = 0.0
            self.state.past[:] = 0.0
            self._rest_at_start(step, settings)
            stepping.begin()
            self._first_rows(
                stepping, mid_step_valid=True, **({"eigenvalues": along.here(time=self.t)} if along else {})
            )
            totals = _new_totals(stepping, late)
        else:
            if not self.started:
                spin = self._spin(step, options, self.t)
                self.start_report = consistent_velocities(self.compiled, self.state, self.t, spin)
            stepping.begin()
            self._check_inertia(stepping)
            self._first_rows(stepping, **({"eigenvalues": along.here(time=self.t)} if along else {}))
            if RULES[rule].kind == S.NEWMARK:
                # of loads that jump at the start the later value acts in the first step
                start_rule(
                    self._without_reserved(), self.state, float(np.nextafter(self.t, np.inf)), h, stepping.weights
                )
            totals = _new_totals(stepping, late)
        self.started = rule != "static"
        t0 = self.t
        last = None if with_events else n_steps  # with events rows may be more than steps

        def on_chunk(chunk: Chunk) -> None:
            _check_growth(stepping, totals, chunk)
            _update_totals(totals, chunk)
            frames = self.frames(chunk.frames, chunk.frame_time) if len(chunk.frame_time) else None
            series = self.series(chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record)
            if along is not None:
                series["eigenvalues"] = along.none(len(chunk.time))
                if totals["rows"] % along.every == 0 or totals["rows"] == last:
                    self.t = float(chunk.time[-1])
                    series["eigenvalues"][-1:] = along.here(time=self.t)
            restart = None
            due = restart_every and stepping.step % restart_every == 0 and stepping.step < n_steps
            if due and stepping.step // restart_every <= options["restarts"]:
                if stepping.solver is not None:
                    stepping.solver.reset()
                story = {"summaries": self.summaries, "start": self.start_report, "totals": totals}
                story["redundancy"] = stepping.redundancy.warnings
                if along is not None:
                    story["eigenvalues"] = along.story()
                restart = {
                    "time": float(chunk.time[-1]),
                    "t0": t0,
                    "model step": number,
                    "story": json.dumps(story),
                    **stepping.snapshot(),
                    **(along.shapes if along is not None else {}),
                    **self.linear.snapshot([o for _, o, _ in self.plan[number + 1 :]]),
                }
            self.recorder.append(series, frames, restart)
            if self.progress:
                error = relative_error(totals)
                iterations = float(chunk.iterations.mean())
                if adaptive:  # per step that was computed, not per row
                    iterations = totals["iterations"] / max(stepping.computed, 1)
                done = round((float(chunk.time[-1]) - t0) / h)
                self.progress(Progress(step.name, done, n_steps, float(chunk.time[-1]), iterations, error))

        def due() -> int:
            """Steps to the next row at which eigenvalues are computed."""
            return along.every - totals["rows"] % along.every if along is not None else n_steps

        started = perf_counter()
        events: dict[str, Any] = {}
        if with_events:
            before = len(self.events.happened)
            self.events.start(*self._present_row(stepping))
            stepping, self.t = run_events(self.events, stepping, t0 + options["duration"], on_chunk, begun, due)
            events["events"] = self.events.happened[before:]
            n_steps = int(totals["rows"])
        else:
            while stepping.step < n_steps:
                stepping.run(min(n_steps - stepping.step, due()), on_chunk)
            self.t = float(stepping.time(n_steps))
        elapsed = perf_counter() - started
        scale = energy_range(totals)
        if not np.isfinite(totals["lasting"]):  # an event has ended the run before
            totals["lasting"] = max(totals["last"][6], 0.0)
        told, failures = verdict(rule, settings, {**totals, "scale": scale})
        return {
            "type": step.kind, "name": step.name, "rule": rule, "n_steps": n_steps, "h": h,
            **({"adaptive": stepping.report()} if adaptive else {}),
            "t_start": t0, "t_end": self.t, "iterations": int(totals["iterations"]),
            "factorisations": int(stepping.counter[S.FACTORISATIONS]), "halved_steps": stepping.halved_steps,
            "seconds": round(elapsed, 4), "start": self.start_report, **events,
            "warnings": [*stepping.warnings, *told], **({"failures": failures} if failures else {}),
            "constraint_error": constraint_error(self.compiled, self.state, self.t),
            "energy": {
                "range": scale, "closing_error": totals["error"],
                "closing_error_relative": relative_error(totals),
                "final": {c: float(v) for c, v in zip(ENERGY_COLUMNS, totals["last"][:7], strict=True)},
            },
            **(along.summary() if along is not None else {}),
            "linear_momentum": totals["last"][7 : 7 + self.model.dimension],
            "angular_momentum": totals["last"][12:13] if self.model.dimension == 2 else totals["last"][10:13],
        }  # fmt: skip

    def _inverse(self, number: int, step: Step, options, settings, resumed) -> dict[str, Any]:
        """A transient, or equilibria one after the other, in which drivers move all that can move."""
        counts = check_drivers(self.compiled, self.state, step.name)
        return {**self._transient(number, step, options, settings, resumed), **counts, "dynamic": options["dynamic"]}

    def _rest_at_start(self, step: Step, settings: Settings) -> None:
        """Equilibrium at the time at which a quasi-static step begins."""
        functions = self._transient_functions()
        first = Stepping(
            self.system, functions, self.state, self.model.gravity, rule="static", t0=self.t, h=0.0, settings=settings
        )  # fmt: skip
        first.begin()
        try:
            first.single(lambda chunk: None)
        except AnalysisError as error:
            raise ConvergenceError(
                f'Step "{step.name}": no equilibrium was found at its start ({error}); put a static step before it, '
                "which brings the loads on in increments"
            ) from None

    def _check_inertia(self, stepping: Stepping) -> None:
        """A free dof without mass, stiffness and constraint has no equation of motion."""
        system = self.system
        ctl, state = stepping.ctl, self.state
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
                f"Model: {system.name_of(int(lost[0]))} has neither mass nor stiffness (singular inertia); "
                "give it a mass or inertia, or hold it"
            )

    # --- static ----------------------------------------------------------------------------------------------------
    def _static(self, number: int, step: Step, options, settings, resumed) -> dict[str, Any]:
        return run_static(self, step, options, settings)


def _compile(model: Model) -> CompiledModel:
    """The arrays that the steps of a model need."""
    return model.compile(stepping=any(step.kind not in LINEAR for step in model.steps))


def _new_totals(stepping: Stepping, late: float) -> dict[str, Any]:
    """Account of energies at the start; a gain that is there at all times from ``late`` [s] on lasts."""
    totals = {"low": stepping.initial_energy, "high": stepping.initial_energy, "error": 0.0, "iterations": 0}
    totals["kinetic"] = float(stepping.first_row[0])
    totals["magnitude"] = float(np.abs(stepping.first_row[:3]).max())
    totals["round_off"] = stepping.round_off()
    totals["late"], totals["lasting"] = late, np.inf
    totals["rows"] = totals["gain"] = totals["loss"] = totals["settling"] = 0
    return totals


def _check_growth(stepping: Stepping, totals: dict[str, Any], chunk: Chunk) -> None:
    """Stop a run that has become unstable, before its rows are kept.

    Every row is judged by those before it, however the steps are cut into chunks.

    Raises:
        ConvergenceError: a value is not finite, or energy comes from nowhere beyond all measure.
    """
    finite = np.isfinite(chunk.ledger).all(axis=1)
    row = int(np.argmin(finite)) if not finite.all() else -1
    if row < 0:
        closing = chunk.ledger[:, 6]
        gain = np.maximum(closing, 0.0)
        energy = chunk.ledger[:, :3].sum(axis=1) - closing

        def largest(key: str, values: np.ndarray) -> np.ndarray:
            return np.maximum(np.maximum.accumulate(values), totals[key])

        scale = largest("high", energy) - np.minimum(np.minimum.accumulate(energy), totals["low"])
        scale = np.maximum(scale, largest("kinetic", chunk.ledger[:, 0] - gain))
        magnitude = largest("magnitude", np.abs(chunk.ledger[:, :3]).max(axis=1) - gain)
        scale = np.maximum(scale, np.maximum(1e-9 * magnitude, totals["round_off"]))
        if stepping.overshoots:
            settling = np.arange(len(gain)) + totals["rows"] < SETTLING
            scale += largest("settling", np.where(settling, gain, 0.0))
        grown = gain > HOPELESS * scale
        row = int(np.argmax(grown)) if grown.any() else -1
    if row >= 0:
        bound = ""
        if stepping.explicit:
            bound = "; the explicit rule is stable only for h below 2/w of the highest frequency"
        raise ConvergenceError(
            f"{stepping.rule} steps at t = {chunk.time[row]:.6g} s (h = {stepping.h:.3g} s): the motion grows without "
            f'bound, by energy that comes from nowhere{bound}; take a smaller h, or rule = "midpoint"'
        )


def _update_totals(totals: dict[str, Any], chunk: Chunk) -> None:
    closing = chunk.ledger[:, 6]
    gain = np.maximum(closing, 0.0)
    energy = chunk.ledger[:, :3].sum(axis=1) - closing  # what works and losses account for
    totals["low"] = min(totals["low"], float(energy.min()))
    totals["high"] = max(totals["high"], float(energy.max()))
    totals["kinetic"] = max(totals["kinetic"], float((chunk.ledger[:, 0] - gain).max()))
    totals["error"] = max(totals["error"], float(np.abs(closing).max()))
    totals["gain"] = max(totals["gain"], float(gain.max()))
    totals["loss"] = max(totals["loss"], -float(closing.min()))
    totals["settling"] = max(totals["settling"], float(gain[: max(SETTLING - totals["rows"], 0)].max(initial=0.0)))
    totals["lasting"] = min(totals["lasting"], float(gain[chunk.time >= totals["late"]].min(initial=np.inf)))
    totals["rows"] += len(chunk.time)
    largest = np.abs(chunk.ledger[:, :3]).max(axis=1) - gain
    totals["magnitude"] = max(totals["magnitude"], float(largest.max()))
    totals["iterations"] += int(chunk.iterations.sum())
    totals["last"] = chunk.ledger[-1].tolist()
