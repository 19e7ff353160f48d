"""Run a model's steps: statics and transients one after the other, into memory or into a results folder."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.adaptive import AdaptiveStepping
from fem_mbs.analysis.assemble import assemble
from fem_mbs.analysis.events import Events, run_events
from fem_mbs.analysis.initial import Spin, check_start, consistent_velocities, constraint_error, start_rule
from fem_mbs.analysis.inverse import check_drivers
from fem_mbs.analysis.linear import BUCKLING_OPTIONS, MODES_OPTIONS, Linearised, run_buckling, run_modes
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.rules import OPTIONS as RULE_OPTIONS
from fem_mbs.analysis.rules import RULES, check_explicit, check_rule
from fem_mbs.analysis.statics import STATIC_OPTIONS, check_options, run_static
from fem_mbs.analysis.stepping import LEDGER_COLUMNS, Chunk, Settings, Stepping
from fem_mbs.checks import Outcome
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError, ResultsError
from fem_mbs.model import CompiledModel, Model, Step
from fem_mbs.sensors import node_values
from fem_mbs.solvers import stepper as S

__all__ = [
    "INVERSE_OPTIONS",
    "STATIC_OPTIONS",
    "STEP_OPTIONS",
    "TRANSIENT_OPTIONS",
    "Progress",
    "Solution",
    "StepResult",
    "inspect",
    "run",
    "solve",
]

_SETTINGS = {f.name: f.default for f in fields(Settings)}

#: Options of a transient step and their defaults.
TRANSIENT_OPTIONS: dict[str, Any] = {
    "duration": None,  # [s]
    "h": None,  # step [s]
    "rule": "midpoint",  # or another one of fem_mbs.analysis.rules
    "frames": 100,  # states kept for pictures and ParaView, evenly spread; 0: none
    "restarts": 0,  # restart points, evenly spread
    "adaptive": 0.0,  # largest local error of a step; 0: all steps are h
    **_SETTINGS,
}
#: Options of an inverse step and their defaults.
INVERSE_OPTIONS: dict[str, Any] = {
    "duration": None,
    "h": None,
    "dynamic": True,  # false: quasi-static, without inertia
    "frames": 100,
    "restarts": 0,
    **{k: v for k, v in _SETTINGS.items() if k not in ("beta", "gamma")},
}
#: Options of a static step and their defaults.
_STATIC: dict[str, Any] = {**STATIC_OPTIONS, **{k: v for k, v in _SETTINGS.items() if k not in RULE_OPTIONS}}
#: Options of all types of steps.
STEP_OPTIONS = {
    "transient": TRANSIENT_OPTIONS,
    "inverse": INVERSE_OPTIONS,
    "static": _STATIC,
    "modes": MODES_OPTIONS,
    "buckling": BUCKLING_OPTIONS,
}

_ENERGY_COLUMNS = LEDGER_COLUMNS[:7]
_TIMED = ("transient", "inverse")  # types of steps that pass time


@dataclass(frozen=True)
class Progress:
    """What a running analysis tells: step of the model, steps made and wanted, time, Newton iterations per step, energy
    error (closing error over the range of the energies), and the load factor of a static step (else None)."""

    step: str
    done: int
    total: int
    time: float
    iterations: float
    energy_error: float
    load_factor: float | None = None


@dataclass
class StepResult:
    """Series of one analysis step in memory: arrays with one row per time step, the first row being the start."""

    name: str
    type: str
    series: dict[str, np.ndarray] = field(default_factory=dict)
    frames: dict[str, np.ndarray] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    restarts: list[dict[str, Any]] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def time(self) -> np.ndarray:
        return self.series["time"]

    def ledger(self, column: str) -> np.ndarray:
        """A column of the energy ledger [J], by its name in LEDGER_COLUMNS."""
        return self.series["ledger"][:, _ENERGY_COLUMNS.index(column)]


class Solution:
    """The results of a run kept in memory: the same rows that a results folder would hold."""

    compiled: CompiledModel

    def __init__(self) -> None:
        self.steps: list[StepResult] = []
        self._parts: dict[str, dict[str, list[np.ndarray]]] = {}

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        self.steps.append(StepResult(name, type, info=info or {}))
        self._parts = {"series": {}, "frames": {}}

    def append(self, series=None, frames=None, restart=None) -> None:
        for kind, given in (("series", series), ("frames", frames)):
            for name, value in (given or {}).items():
                self._parts[kind].setdefault(name, []).append(np.array(value))
        if restart is not None:
            self.steps[-1].restarts.append(restart)

    def end_step(self, summary: dict[str, Any] | None = None) -> None:
        step = self.steps[-1]
        step.series = {k: np.concatenate(v) for k, v in self._parts["series"].items()}
        step.frames = {k: np.concatenate(v) for k, v in self._parts["frames"].items()}
        step.summary = summary or {}

    def close(self, summary: dict[str, Any] | None = None) -> None:
        self.summary = summary or {}

    def fail(self, message: str) -> None:
        if self.steps and not self.steps[-1].series and self._parts["series"]:
            self.end_step({"failed": message})

    def drives(self, step: int = -1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Times (n,) [s] of a step, and by the names of their sensors what motions and driven joints do then, (n,) or
        (n, 2): forces [N] and moments [N m] at the ends of time steps, of second order; see
        `fem_mbs.sensors.node_values`.  They can be given to loads as tables of time."""
        found = self.steps[step]
        table = {}
        for sensor in self.compiled.sensors:
            if sensor.kind == "drive":
                values = node_values(found.time, found.series[f"sensor/{sensor.name}"], found.info["mid_step"])
                table[sensor.name] = values[:, 0] if values.shape[1] == 1 else values
        return found.time, table

    def sensor(self, name: str, step: int = -1) -> np.ndarray:
        """Values (n, k) of a sensor in a step; mid-step quantities as they are computed, the first row NaN."""
        return self.steps[step].series[f"sensor/{name}"]


def solve(model: Model, progress: Callable[[Progress], None] | None = None) -> Solution:
    """Run all steps of a model and keep the results in memory.

    Raises:
        ModelError: the model cannot be computed.
        AnalysisError: a step has no valid result.
    """
    solution = Solution()
    job = _Run(model, solution, progress)
    solution.compiled = job.compiled
    job.run()
    return solution


def run(
    model: Model,
    directory: str | Path,
    progress: Callable[[Progress], None] | None = None,
    restart: int | None = None,
    skipped: list[str] | None = None,
):
    """Run all steps of a model into a results folder and return the opened `fem_mbs.results.Results`.

    Args:
        restart: number of the restart point in the folder to continue from (-1: the last), None: from the start.
        skipped: plain sentences on what an input file held and was not used, for the summary.

    Raises:
        ModelError, ResultsError: the model or the folder cannot be used.
        AnalysisError: a step has no valid result; what was computed before stays readable.
    """
    from fem_mbs.results import Results
    from fem_mbs.results_writer import ResultsWriter

    compiled = model.compile()
    header = make_header(compiled)
    columns = [check.column(header["sensors"]) for check in model.checks]
    job = _Run(model, None, progress, compiled, skipped)
    header["fingerprint"] = fingerprint(job)
    if restart is None:
        job.check()
        job.recorder = ResultsWriter(directory, header)
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
    try:
        job.run()
    except BaseException as error:
        job.recorder.fail(str(error) or type(error).__name__)
        raise
    results = Results.open(directory)
    results.write_sensors_csv()
    results.write_drives_csv()
    return results


def inspect(model: Model) -> tuple[CompiledModel, S.State, dict[str, Any]]:
    """Everything that `run` would look at before its first step: the compiled model, the state at the start with
    velocities that fit joints and motions, and what was done to them (empty if the first step is static), with what an
    assembly has moved.

    Raises:
        ModelError: the model cannot be computed.
    """
    job = _Run(model, None)
    job.check()
    step, options, settings = job.plan[0]
    if step.kind == "inverse":
        check_drivers(job.compiled, job.state, step.name)
    if step.kind in _TIMED and options.get("dynamic", True):
        job.start_report = consistent_velocities(job.compiled, job.state, 0.0, job._spin(step, options, 0.0))
        stepping = Stepping(
            job.system, job._transient_functions(), job.state, model.gravity,
            rule=_rule(options), t0=0.0, h=options["duration"] / _count_steps(step.name, options), settings=settings,
        )  # fmt: skip
        stepping.begin()
        job._check_inertia(stepping)
    report = job.start_report if job.assembly is None else {**job.start_report, "assembly": job.assembly}
    return job.compiled, job.state, report


def fingerprint(job: _Run) -> str:
    """A text that differs where the results of two models, or of two versions of the program, would differ."""
    compiled, system = job.compiled, job.system
    digest = hashlib.sha256(metadata.version("fem-mbs").encode())
    for block in system.blocks:
        digest.update(block.type.name.encode())
        for array in (block.nodes, block.par):
            digest.update(np.ascontiguousarray(array).tobytes())
    nodes, driven = system.nodes, system.driven
    for array in (nodes.x, nodes.rotation, system.fixed, driven.dofs, driven.functions, job.model.gravity):
        digest.update(np.ascontiguousarray(array).tobytes())
    length = sum(options["duration"] for step, options, _ in job.plan if step.kind in _TIMED)
    for f in compiled.functions:
        digest.update(np.asarray(f(np.linspace(0.0, length, 9)), float).tobytes())
    steps = [[step.kind, step.name, step.options] for step, _, _ in job.plan]
    words = [steps, [s.header for s in compiled.sensors], list(job.model.groups), job.model.initial_method]
    digest.update(json.dumps(words, sort_keys=True, default=str).encode())
    for speed in job.model.initial_velocities:
        for array in (speed.nodes, speed.velocity, speed.spin):
            digest.update(np.ascontiguousarray(array).tobytes())
    told = [job.model.initial_speeds, job.model.assembling, [replace(e, function=None) for e in job.model.events]]
    digest.update(repr(told).encode())
    for event in job.model.events:
        if event.function is not None:
            digest.update(np.asarray(event.function(np.linspace(0.0, length, 9)), float).tobytes())
    for callback in system.callbacks:
        digest.update(callback.fingerprint())
    return digest.hexdigest()


def make_header(compiled: CompiledModel) -> dict[str, Any]:
    """What a results folder says of the model."""
    model, system = compiled.model, compiled.system
    names = {**model.named_nodes, **{b.name: b.node for b in model.bodies.values()}}
    for mesh_name, (mesh, first) in model.meshes.items():
        for set_name, nodes in mesh.node_sets.items():
            if len(nodes) == 1:
                names[f"{mesh_name}:{set_name}"] = int(first + nodes[0])
    blocks = []
    for name, cells in model.groups.items():
        block = next(b for b, _ in _find_group(system, name) if b.type.outputs)
        blocks.append(
            {"name": name, "type": block.type.name, "connectivity": cells, "outputs": list(block.type.outputs)}
        )
    components = ["x", "y", "z"][: model.dimension]
    supports: dict[int, list[str]] = {}
    shaken = [
        dof
        for dof, owner in zip(system.driven.dofs, system.driven.owners, strict=True)
        if owner.startswith("Base excitation")
    ]
    for dof in [*system.fixed, *shaken]:
        node = int(np.searchsorted(system.offset, dof, side="right") - 1)
        k = int(dof - system.offset[node])
        supports.setdefault(node, []).append(components[k] if k < model.dimension else "rotation")
    joints, held = _joint_symbols(compiled)

    def padded(point) -> list[float]:
        return [*np.asarray(point, float).tolist(), *[0.0] * (3 - model.dimension)]

    bodies = []
    for body in model.bodies.values():
        R = np.eye(3)
        R[: model.dimension, : model.dimension] = model._rotation_matrix(body.node)
        points = [padded(p) for p in body.points]
        bodies.append({"name": body.name, "node": body.node, "points": points, "rotation": R.tolist()})
    return {
        "title": model.title,
        "version": metadata.version("fem-mbs"),
        "dimension": model.dimension,
        "nodes": model.positions,
        "node_names": names,
        "blocks": blocks,
        "bodies": bodies,
        "sensors": [s.header for s in compiled.sensors],
        "ledger": list(_ENERGY_COLUMNS),
        "supports": [{"node": n, "components": c} for n, c in supports.items()] + held,
        "joints": joints,
        "model": count_model(compiled),
    }


def _joint_symbols(compiled: CompiledModel) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Joints, and supports that joints to the ground amount to, for figures: node, and point in its body's axes."""
    model, dim = compiled.model, compiled.model.dimension
    joints: dict[str, dict[str, Any]] = {}
    supports = []
    for block in compiled.system.blocks:
        kind = block.type.name
        if not block.type.multipliers or block.type.angular:
            continue
        for name, first, _ in block.groups:
            if name not in model.joints:
                continue
            end = int(block.nodes[first].argmax())
            suffix = f"_{'ab'[end]}" if block.type.ends == 2 else ""
            column = [block.type.column(f"a{c}{suffix}") for c in "xyz"[:dim]]
            place = {"name": name, "type": model.joints[name].kind, "node": int(block.nodes[first, end])}
            place["point"] = block.par[first, column].tolist()
            joints.setdefault(name, place)  # one symbol, whatever the joint is made of
            if kind == f"point{dim}" and block.nodes[first].min() < 0:
                supports.append({**place, "components": list("xyz"[:dim])})
            elif kind == f"position{dim}" and block.par[first, block.type.column("function")] < 0.0:
                normal = np.abs(block.par[first, [block.type.column(f"n{c}") for c in "xyz"[:dim]]])
                if normal.max() > 0.999:
                    supports.append({**place, "components": ["xyz"[int(normal.argmax())]]})
    for name, node in compiled.merged_joints:
        joints.setdefault(name, {"name": name, "type": model.joints[name].kind, "node": node, "point": [0.0] * dim})
    return list(joints.values()), supports


def count_model(compiled: CompiledModel) -> dict[str, Any]:
    """Counts for reports: nodes, elements by type, unknowns, solver."""
    system = compiled.system
    return {
        "nodes": int(system.nodes.x.shape[0]),
        "unknowns": int(system.n_equations),
        "multipliers": sum(b.n_multipliers for b in system.blocks),
        "elements": {b.type.name: b.size for b in system.blocks},
        "solver": f"banded (half-bandwidth {system.bandwidth})" if system.banded else "sparse",
    }


def _find_group(system, name: str):
    return [(b, first) for b in system.blocks for n, first, _ in b.groups if n == name]


def _options(step: Step, known: dict[str, Any]) -> tuple[dict[str, Any], Settings]:
    owner = f'Step "{step.name}"'
    for key in step.options:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else f"; it takes {', '.join(known)}"
            raise ModelError(f'{owner}: unknown key "{key}"{hint}')
    options = {**known, **step.options}
    choices = {
        "rule": tuple(RULES),
        "newton": ("chord", "full"),
        "predictor": ("none", "velocity", "increment", "extrapolation"),
        "solver": ("auto", "cholmod", "superlu"),
    }
    for key, allowed in choices.items():
        if key in options and options[key] not in allowed:
            raise ModelError(f"{owner}: {key} = {options[key]!r} must be one of {', '.join(allowed)}")
    for key in ("frames", "restarts", "increments", "max_iterations", "halvings", "count", "points", "branch"):
        if key in options:
            v, low = options[key], 1 if key in ("increments", "max_iterations", "count", "points") else 0
            if isinstance(v, bool) or not isinstance(v, int) or v < low:
                raise ModelError(f"{owner}: {key} = {v!r} must be a whole number of at least {low}")
            if key == "halvings" and v > 20:
                raise ModelError(f"{owner}: halvings = {v!r} would cut a step into {2**20} parts and more; at most 20")
    if "rule" in options:
        check_rule(owner, options, step.options)
    for key in ("rtol", "ctol"):
        v = options.get(key, 1.0)
        if isinstance(v, bool) or not isinstance(v, (int, float)) or not 0.0 < v < np.inf:
            raise ModelError(f"{owner}: {key} = {v!r} must be a positive number")
    return options, Settings(**{k: options[k] for k in _SETTINGS if k in options})


class _Run:
    """One run: compiled model, state, time, and the recorder that takes the rows."""

    def __init__(self, model, recorder, progress=None, compiled=None, skipped=None, point=None):
        self.model, self.recorder, self.progress = model, recorder, progress
        self.compiled: CompiledModel = compiled or model.compile()
        self.skipped = skipped or []
        self.system = self.compiled.system
        self.state = self.system.initial_state()
        self.point = point
        self.t = 0.0
        self.loading = Loading(self.compiled)
        self.summaries: list[dict[str, Any]] = []
        self.start_report: dict[str, Any] = {}
        self.started = False
        self.assembly: dict[str, Any] | None = None
        self.outcomes: Callable[[], list[Outcome]] = list
        if not model.steps:
            raise ModelError("Model: it has no steps; add a static or a transient step")
        self.plan = [(s, *_options(s, STEP_OPTIONS[s.kind])) for s in model.steps]
        self.frame = model._rotating
        for step, options, _ in self.plan:
            if step.kind in _TIMED:
                _count_steps(step.name, options)
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
        first = next(((s, o) for s, o, _ in self.plan if s.kind in _TIMED), None)
        if first is None:
            return
        step, options = first
        spin = self._spin(step, options, 0.0)
        if not abs(spin.speed * spin.h) < np.pi:
            raise ModelError(
                f'Step "{step.name}": h = {spin.h:g} s is more than half a turn of "{frame.name}"; take a smaller one'
            )
        self.compiled.functions[frame.function] = lambda t: spin.of_step(frame.law(t)) ** 2

    def _spin(self, step: Step, options: dict[str, Any], t: float) -> Spin | None:
        """The rotation with which a transient starts."""
        frame = self.frame
        if frame is None:
            return None
        h = options["duration"] / _count_steps(step.name, options) if _rule(options) == "midpoint" else 0.0
        return Spin(f'Centrifugal load "{frame.name}"', float(frame.law(np.float64(t))), frame.axis, frame.point, h)

    def _transient_functions(self) -> list[Callable]:
        """Time functions of a transient, in which the model itself turns."""
        functions = list(self.compiled.functions)
        if self.frame is not None:
            functions[self.frame.function] = np.zeros_like
        return functions if self.events is None else self.events.functions(functions)

    def assemble(self) -> None:
        """Close the joints, once, where the model asks for it."""
        if self.model.assembling is not None and self.assembly is None:
            self.assembly = assemble(self.compiled, self.state, 0.0, self._varied())

    def check(self) -> None:
        """Everything that can be said against the start before a results folder is touched."""
        self.assemble()
        check_start(self.compiled, self.state, 0.0, self._varied())

    def _varied(self) -> np.ndarray:
        """Motions (n_fun,) bool that the static steps before the first transient bring in."""
        varied = np.zeros(len(self.compiled.functions), bool)
        for step, options, _ in self.plan:
            if step.kind in _TIMED:
                break
            if step.kind == "static":
                varied |= chosen(self.compiled, options["vary"], f'Step "{step.name}"', "vary", motions=True)[0]
        return varied & ~np.asarray(self.compiled.loads, bool)

    def run(self) -> None:
        self.assemble()  # a continued run too: it tells of it
        if self.point is None:
            self.check()
        run_step = {
            "transient": self._transient, "inverse": self._inverse, "static": self._static,
            "modes": self._linear, "buckling": self._linear,
        }  # fmt: skip
        first = int(self.point["model step"]) if self.point else 0
        self.summaries = json.loads(self.point["story"])["summaries"] if self.point else []
        for number, (step, options, settings) in enumerate(self.plan):
            if number < first:
                continue
            resumed = self.point if self.point is not None and number == first else None
            if resumed is None:
                self.recorder.begin_step(step.name, step.kind, _step_info(options))
            summary = run_step[step.kind](number, step, options, settings, resumed)
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
            "skipped": self.skipped,
        }

    # --- rows ------------------------------------------------------------------------------------------------------
    def _series(self, time, ledger, iterations, residual, record, mid_step_valid=True) -> dict[str, np.ndarray]:
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
            last = self.compiled.sensors[i + 1].first if i + 1 < len(self.compiled.sensors) else record.shape[1]
            values = sensor.evaluate(record[:, sensor.first : last], ledger)
            if sensor.mid_step and not mid_step_valid:
                values = np.full_like(values, np.nan)
            rows[f"sensor/{sensor.name}"] = np.asarray(values, float)
        return rows

    def _frames(self, chunk_frames: dict[str, np.ndarray], time: np.ndarray) -> dict[str, np.ndarray]:
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
        out = {"time": time, "displacement": displacement, "rotation": rotation, "velocity": velocity}
        for name, cells in self.model.groups.items():
            energy = np.zeros((nf, len(cells)))
            for block, first in _find_group(system, name):
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

    def _first_rows(self, stepping: Stepping, mid_step_valid: bool = False, **extra: np.ndarray) -> None:
        """The start of a step as row and frame number zero."""
        state = self.state
        values, ledger = self._present_row(stepping)
        t = np.array([stepping.t0])
        series = self._series(t, ledger, np.zeros(1), np.zeros(1), values, mid_step_valid)
        frames = {
            "Q": state.Q[:1],
            "V": state.V[:1],
            "D": state.D[:1],
            "out": state.out[None, :],
            "energy": state.energy[None, :],
        }
        place = extra.get("path length", extra.get("load factor", t))
        self.recorder.append({**series, **extra}, self._frames(frames, place))

    # --- transient -------------------------------------------------------------------------------------------------
    def _transient(self, number: int, step: Step, options, settings, resumed) -> dict[str, Any]:
        n_steps = _count_steps(step.name, options)
        rule = _rule(options)
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
        if resumed:
            stepping.restore(resumed)
            story = json.loads(resumed["story"])
            self.start_report, totals = story["start"], story["totals"]
            stepping.redundancy.earlier = story.get("redundancy", [])
        elif rule == "static":
            self.state.V[:] = 0.0
            self.state.past[:] = 0.0
            self._rest_at_start(step, settings)
            stepping.begin()
            self._first_rows(stepping, mid_step_valid=True)
            totals = _new_totals(stepping)
        else:
            if not self.started:
                spin = self._spin(step, options, self.t)
                self.start_report = consistent_velocities(self.compiled, self.state, self.t, spin)
            stepping.begin()
            self._check_inertia(stepping)
            self._first_rows(stepping)
            if RULES[rule].kind == S.NEWMARK:
                start_rule(self.compiled, self.state, self.t, h, stepping.weights)
            totals = _new_totals(stepping)
        self.started = rule != "static"
        t0 = self.t

        def on_chunk(chunk: Chunk) -> None:
            _update_totals(totals, chunk)
            frames = self._frames(chunk.frames, chunk.frame_time) if len(chunk.frame_time) else None
            series = self._series(chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record)
            restart = None
            due = restart_every and stepping.step % restart_every == 0 and stepping.step < n_steps
            if due and stepping.step // restart_every <= options["restarts"]:
                if stepping.solver is not None:
                    stepping.solver.reset()
                story = {"summaries": self.summaries, "start": self.start_report, "totals": totals}
                story["redundancy"] = stepping.redundancy.warnings
                restart = {
                    "time": float(chunk.time[-1]),
                    "t0": t0,
                    "model step": number,
                    "story": json.dumps(story),
                    **stepping.snapshot(),
                }
            self.recorder.append(series, frames, restart)
            if self.progress:
                error = totals["error"] / (_energy_range(totals) or 1.0)
                iterations = float(chunk.iterations.mean())
                done = round((float(chunk.time[-1]) - t0) / h)
                self.progress(Progress(step.name, done, n_steps, float(chunk.time[-1]), iterations, error))

        started = perf_counter()
        events: dict[str, Any] = {}
        if self.events is not None and step.kind == "transient":
            before = len(self.events.happened)
            self.events.start(*self._present_row(stepping))
            stepping, self.t = run_events(self.events, stepping, t0 + options["duration"], on_chunk, begun)
            events["events"] = self.events.happened[before:]
            n_steps = int(totals["rows"])
        else:
            stepping.run(n_steps - stepping.step, on_chunk)
            self.t = float(stepping.time(n_steps))
        elapsed = perf_counter() - started
        scale = _energy_range(totals)
        return {
            "type": step.kind, "name": step.name, "rule": rule, "n_steps": n_steps, "h": h,
            **({"adaptive": stepping.report()} if adaptive else {}),
            "t_start": t0, "t_end": self.t, "iterations": int(totals["iterations"]),
            "factorisations": int(stepping.counter[S.FACTORISATIONS]), "halved_steps": stepping.halved_steps,
            "seconds": round(elapsed, 4), "start": self.start_report, **events,
            "warnings": [*stepping.redundancy.warnings, *stepping.watcher.warnings],
            "constraint_error": constraint_error(self.compiled, self.state, self.t),
            "energy": {
                "range": scale, "closing_error": totals["error"],
                "closing_error_relative": totals["error"] / scale if scale else 0.0,
                "final": {c: float(v) for c, v in zip(_ENERGY_COLUMNS, totals["last"][:7], strict=True)},
            },
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

    # --- modes, buckling -------------------------------------------------------------------------------------------
    def _linear(self, number: int, step: Step, options, settings, resumed) -> dict[str, Any]:
        """Modes or buckling shapes about the state that the steps before have left, one frame per shape."""
        linear = Linearised(self.compiled, self.state, self.t, self.loading)
        if step.kind == "modes":
            summary, series, vectors = run_modes(linear, options)
        else:
            summary, series, vectors = run_buckling(linear, options, step.name)
        shapes = np.arange(1.0, vectors.shape[1] + 1.0)
        frames = self._frames(linear.shapes(vectors), shapes) if len(shapes) else None
        self.recorder.append({"time": shapes, **series}, frames)
        return {"type": step.kind, "name": step.name, **summary}


def _rule(options: dict[str, Any]) -> str:
    """Integration rule of a step that passes time: an inverse step knows the mid-point rule and statics."""
    return options.get("rule", "midpoint" if options.get("dynamic", True) else "static")


def _new_totals(stepping: Stepping) -> dict[str, Any]:
    totals = {"low": stepping.initial_energy, "high": stepping.initial_energy, "error": 0.0, "iterations": 0}
    totals["kinetic"] = float(stepping.first_row[0])
    totals["rows"] = 0
    return totals


def _count_steps(name: str, options: dict[str, Any]) -> int:
    ratio = options["duration"] / options["h"]
    n = round(ratio)
    if n < 1 or abs(ratio - n) > 1e-6 * max(1.0, ratio):
        whole = max(1, int(np.ceil(ratio)))
        raise ModelError(
            f'Step "{name}": duration = {options["duration"]:g} s is not a whole number of steps '
            f"h = {options['h']:g} s; take h = {options['duration'] / whole:.9g}"
        )
    return n


def _step_info(options: dict[str, Any]) -> dict[str, Any]:
    """What readers must know of a step: of the mid-point rule, forces belong to the middle of its steps."""
    rule = _rule(options) if "duration" in options else "static"
    return {"rule": rule, "mid_step": rule in RULES and RULES[rule].two_state}


def _update_totals(totals: dict[str, Any], chunk: Chunk) -> None:
    energy = chunk.ledger[:, :3].sum(axis=1)
    totals["low"] = min(totals["low"], float(energy.min()))
    totals["high"] = max(totals["high"], float(energy.max()))
    totals["kinetic"] = max(totals["kinetic"], float(chunk.ledger[:, 0].max()))
    totals["error"] = max(totals["error"], float(np.abs(chunk.ledger[:, 6]).max()))
    totals["rows"] += len(chunk.time)
    totals["iterations"] += int(chunk.iterations.sum())
    totals["last"] = chunk.ledger[-1].tolist()


def _energy_range(totals: dict[str, Any]) -> float:
    """What energy errors are measured against: the range of the total energy, at least the largest kinetic energy."""
    return max(totals["high"] - totals["low"], totals["kinetic"])
