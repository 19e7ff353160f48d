"""Matrices of small motions about the state that the steps before have left, and models for control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_rotor
from fem_mbs.analysis.steps.common.options import Turning
from fem_mbs.analysis.steps.common.values import NAMES
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fem_mbs.analysis.context import Ahead, RunContext

__all__ = ["KIND", "Linearise", "LineariseReport", "Options"]

FORMS = ("state space", "descriptor")


@dataclass(frozen=True, kw_only=True)
class LineariseReport(StepReport, type="linearise"):
    """Matrices of small motions about a state, and a linear model with inputs and outputs."""

    time: float = entry(unit="s", given=True)
    equations: int = entry(given=True)
    constraints: int = entry(given=True)
    frame: str = entry(enum=["fixed", "rotating", "multi-blade"])
    rotor: str = entry("that turns steadily, empty: none")
    speed: float | None = entry("of the rotor", unit="rad/s", given=True)
    asymmetry: dict[str, float] = entry("of C and K, over their largest entries", given=True)
    states: int | None = entry("of the state-space model", optional=True)
    inputs: list[str] | None = entry("of the state-space model", optional=True)
    outputs: list[str] | None = entry("of the state-space model", optional=True)
    files: list[str] = entry("written beside the results")


@dataclass(frozen=True, kw_only=True)
class Options(Turning):
    """Options of a step that writes matrices."""

    inputs: Any = key(
        NAMES,
        'names of loads (and "gravity"), motions, driven joints, motors and references of controllers '
        '("MOTOR.reference") that drive a state-space model',
        [],
    )
    sensors: Any = key(
        NAMES, "names of the sensors that are its outputs, with ' or '' for their derivatives by time", []
    )
    form: str = key(
        ANY_TEXT, '"state space": dense, of minimal coordinates; "descriptor": sparse, with constraints', FORMS[0],
        choices=FORMS,
    )  # fmt: skip


class Linearise(StepKind):
    """Files of M, C, K, G, and of a linear model with inputs and outputs."""

    name = "linearise"
    Options = Options
    Report = LineariseReport
    noun = "matrices of small motions"
    text = (
        "Write the matrices of small motions about the state that the steps before have left to matrices_NAME.npz;\n"
        'with ``inputs`` and ``sensors`` also a state-space model, or its ``form`` "descriptor" with constraints, to\n'
        "state_space_NAME.npz.  In Python see `fem_mbs.linearise`."
    )
    notes = """\
It writes `matrices_NAME.npz` beside the results: M, C, K and constraints G of small motions about what the steps before
have left, and with inputs or sensors `state_space_NAME.npz` (docs/results.md)."""
    linear = stands = True

    def check(self, step: PlannedStep, context: RunContext) -> None:
        check_rotor(step.owner, step.options, context.model)

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.linear.ports import check_outputs
        from fem_mbs.analysis.loading import chosen

        inputs, sensors = step.options.inputs, step.options.sensors
        for name in [inputs] if isinstance(inputs, str) else inputs:
            chosen(context.compiled, [name], step.owner, "inputs", motions=True, controlled=True)
        check_outputs(context.compiled, [sensors] if isinstance(sensors, str) else sensors, step.owner)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> LineariseReport:
        from pathlib import Path

        from fem_mbs.analysis.small_motions import linearised
        from fem_mbs.analysis.stability.state_space import descriptor, matrices, state_space
        from fem_mbs.files import file_word, replacing
        from fem_mbs.results.folder import take

        options = step.options
        rotor = context.model.rotors[options.rotor] if options.rotor else None
        lin, warnings = linearised(context.end, rotor, options.speed, options.frame, blades=True)
        context.linear.linearisation = lin
        label = file_word(step.name)
        tables: dict[str, dict[str, Any]] = {f"matrices_{label}.npz": matrices(lin)}
        model = None
        if len(options.inputs) or len(options.sensors):
            make = state_space if options.form == FORMS[0] else descriptor
            model = make(lin, options.inputs, options.sensors, step.owner)
            tables[f"state_space_{label}.npz"] = model.arrays()
        context.linear.model = model
        directory = getattr(context.recorder, "directory", None)
        if directory is not None:
            take(Path(directory), [Path(directory) / name for name in tables])
            for name, table in tables.items():
                with replacing(Path(directory) / name) as part, part.open("wb") as stream:
                    np.savez_compressed(stream, **table)
        context.recorder.append({"time": np.array([context.time])})
        return LineariseReport(
            name=step.name, time=float(context.time), equations=int(lin.dofs.size),
            constraints=int(lin.G.shape[0]), frame=lin.frame, rotor=options.rotor,
            speed=lin.rotation.speed if lin.rotation is not None else None,
            asymmetry={name: _skew(A) for name, A in (("C", lin.C), ("K", lin.K))},
            states=None if model is None else len(model.states), inputs=None if model is None else model.inputs,
            outputs=None if model is None else model.outputs,
            files=list(tables) if directory is not None else [], warnings=warnings,
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        return "matrices of small motions" + (f", {options.form} model" if options.sensors else "")


KIND = Linearise()


def _skew(A: csr_matrix) -> float:
    """Return the largest difference of opposite entries over the largest entry."""
    size = float(abs(A).max()) if A.nnz else 0.0
    return float(abs(A - A.T).max()) / size if size > 0.0 else 0.0
