"""Efforts for a given path: outputs are prescribed at some places, the efforts that move them act at others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fem_mbs.analysis.steps.common.checks import check_spin, count_steps
from fem_mbs.analysis.steps.common.options import RESTARTS_TEXT, Newton, TimeSteps
from fem_mbs.analysis.steps.common.values import NAMES, limited, named, valued, whole
from fem_mbs.analysis.steps.common.words import steps_in_words
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import Texts
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import EnergyBalance, StartReport, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.analysis.paths.places import Efforts, Outputs
    from fem_mbs.model.model import Model

__all__ = ["InversePath", "InversePathReport", "KIND", "Options", "motor_of"]


@dataclass(frozen=True, kw_only=True)
class InversePathReport(StepReport, type="inverse_path"):
    """Efforts that move outputs along a path, and the motion that they make."""

    rule: str = entry(given=True, enum=["midpoint"])
    n_steps: int = entry("time steps, of the times before and after the path too", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    path_start: float = entry("when the path begins", unit="s", given=True)
    path_end: float = entry("when it ends", unit="s", given=True)
    outputs: list[str] = entry("that follow the path")
    efforts: list[str] = entry("joints on which they act")
    path_errors: list[float] = entry(
        "largest distance of each output from its path when the efforts alone act, in the unit of the output"
    )
    forward_runs: int = entry("of the iteration")
    errors: list[float] = entry("largest error of an output over the size of its path, in each forward run")
    minimum_phase: bool = entry("whether no zero has a positive real part, so that the efforts are causal")
    growing_zeros: int = entry("zeros from efforts to outputs with positive real parts, at the start")
    slowest_growing_zero: float | None = entry("real part, which gives the time of pre-action", unit="1/s")
    slowest_decaying_zero: float | None = entry("real part, which gives the time of post-action", unit="1/s")
    zeros: list[list[float]] = entry("real and imaginary parts of the smallest ones at the start", unit="1/s")
    pre_action: float = entry("time of the window before the path", unit="s")
    post_action: float = entry("time of the window after the path", unit="s")
    left_at_ends: list[float] = entry("efforts left at start and end of the window, over their largest change")
    iterations: int = entry("of Newton-Raphson, in the last run")
    factorisations: int = entry("of the tangent", given=True)
    halved_steps: int = entry("time steps that were divided to converge")
    seconds: float = entry("wall time of the search and the steps", unit="s")
    start: StartReport = entry()
    constraint_error: float = entry(
        "largest error of a constraint at the end: lengths over the model's size, angles in rad"
    )
    energy: EnergyBalance = entry()
    linear_momentum: list[float] = entry("at the end", unit="N s")
    angular_momentum: list[float] = entry("at the end, about the origin", unit="N m s")


def _worked(value: Any, texts: Texts) -> Any:
    return {name: texts.function(v) for name, v in value.items()} if isinstance(value, Mapping) else value


OUTPUTS = valued(
    "table of functions", "a table of columns of sensors and functions of time",
    lambda v: isinstance(v, dict) and bool(v), _worked,
)  # fmt: skip
_TIME = limited("a finite number of at least 0", 0.0)


@dataclass(frozen=True, kw_only=True)
class Options(Newton, TimeSteps):
    """Options of an inverse step along a path."""

    outputs: Any = key(
        OUTPUTS,
        "columns of sensors of positions, displacements and angles, each with the function of its change since the "
        "step began, of the time since the path began; from rest to rest",
    )
    efforts: Any = key(
        NAMES, 'joints without drivers on whose coordinates the efforts act, "JOINT" or "JOINT.COORDINATE"; as many as '
        "outputs",
    )  # fmt: skip
    before: float | None = key(
        _TIME,
        "time before the path in which efforts may act",
        None,
        shows="10 h, and as long as growing zeros need",
        unit="s",
    )
    after: float | None = key(
        _TIME, "time after the path in which efforts go on", None, shows="as long as decaying zeros need", unit="s"
    )
    tolerance: float = key(
        limited("a number above 0 and at most 0.1", 0.0, 0.1, open_at="low"),
        "largest error of an output over the size of its path", 1e-4,
    )  # fmt: skip
    runs: int = key(whole(1, 200), "forward runs until the outputs follow the path", 25)
    frames: int = key(whole(0), "states kept for pictures and ParaView, evenly spread; 0: none", 100)
    restarts: int | None = key(whole(0), RESTARTS_TEXT, None)


def motor_of(effort: str) -> str:
    """Return the name of the motor of an effort, and of its sensor."""
    return f"effort {effort}"


class InversePath(StepKind):
    """A transient under efforts that are sought so that outputs follow a path."""

    name = "inverse_path"
    Options = Options
    Report = InversePathReport
    noun = "inverse dynamics along a path"
    positional = ("duration", "h", "name")
    quantity_names = ("path_error", "pre_action", "post_action")
    text = (
        "Add inverse dynamics of a path: the efforts on joints that move ``outputs``, columns of sensors, along a\n"
        "path of ``duration`` [s], in steps of h, with pre-action and post-action where they need it.  Every effort\n"
        'gets a motor and a sensor "effort JOINT".'
    )
    notes = """\
The places that move and the joints on which efforts act are others: the tip of a flexible arm and its hub. Where the
zeros between them have positive real parts (a non-minimum-phase system), the bounded efforts begin before the path; the
step looks at the zeros, and makes its window longer than the path by `before` and `after`. It begins from the
equilibrium with the outputs in their present places, and ends at rest. Its rows are those of a forward run under the
efforts alone; the summary tells how far the outputs are off. The run writes `drives-<number>-<step>.csv`, the efforts
at the ends of time steps, which functions of the kind `csv` read (`interpolation = "spline"`). Later steps keep the
last efforts. Zeros without damping (a load that swings below its carriage) count as causal: the load is at rest before
the path, and goes on swinging after it. An output far from the effort asks for a
smoother path: four continuous derivatives for a load below a carriage."""
    passes_time = motion = joint_forces = states = True
    axis = "Time [s]"

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        from fem_mbs.model.connections.joint_parts import joint_coordinate

        if not isinstance(given.get("efforts"), str | list | tuple):
            return given  # refused with the other options
        known = {label for block in model.building.blocks for label, _, _ in block.groups}
        sensors = {s.name for s in model.sensors}
        for effort in named(given["efforts"]):
            joint, coordinate = _joint_of(model, effort)
            key, _ = joint_coordinate(model.building, joint, coordinate, owner)
            if key in model.joints[joint].driven:
                raise ModelError(
                    f'efforts: the {key} of joint "{joint}" is driven', owner=owner, key="efforts", value=effort,
                    remedy="remove its function, or name another joint",
                )  # fmt: skip
            motor = motor_of(effort)
            if motor not in known:
                model.motor(motor, joint=joint, coordinate=coordinate, force=0.0)
            if motor not in sensors:
                model.sensor(motor, "effort", on=motor)
        return given

    def check(self, step: PlannedStep, context: RunContext) -> None:
        options, owner = step.options, step.owner
        count_steps(owner, options)
        check_spin(owner, context)
        efforts = named(options.efforts)
        if len(set(efforts)) < len(efforts):
            twice = next(e for e in efforts if efforts.count(e) > 1)
            raise ModelError(
                f'efforts: "{twice}" is named twice', owner=owner, key="efforts", value=twice, remedy="remove one"
            )
        if len(efforts) != len(options.outputs):
            raise ModelError(
                f"{len(efforts)} efforts ({', '.join(efforts)}) cannot move {len(options.outputs)} outputs "
                f"({', '.join(options.outputs)})",
                owner=owner, key="efforts", remedy="name as many efforts as outputs",
            )  # fmt: skip
        if context.model.events:
            raise ModelError("a path knows no events", owner=owner, remedy="remove them, or take a transient step")

    def places(self, step: PlannedStep, context: RunContext) -> tuple[Outputs, Efforts]:
        """Return the outputs and the efforts of a step.

        Raises:
            ModelError: as `look_ahead`.
        """
        from fem_mbs.analysis.paths.places import find_efforts, find_outputs

        efforts = named(step.options.efforts)
        outputs = find_outputs(context.compiled, step.options.outputs, step.options.duration, step.owner)
        return outputs, find_efforts(context.compiled, efforts, [motor_of(e) for e in efforts])

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        self.places(step, context)
        if not ahead.moved and context.model.starts_moving:
            raise ModelError(
                "a path begins at rest", owner=step.owner, remedy="remove the initial velocities of the model"
            )
        ahead.time = None  # the window is longer than the path

    def info(self, options: Any) -> dict[str, Any]:
        return {"rule": "midpoint", "mid_step": True}

    def kernels(self, options: Any) -> tuple[str, ...]:
        return ("steps", "many states")

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> InversePathReport:
        from fem_mbs.analysis.paths.run import run_path

        return InversePathReport(**run_path(step, context, *self.places(step, context), resumed))

    def sentence(self, options: Any) -> str:
        moved = ", ".join(options.outputs)
        return f"efforts on {', '.join(named(options.efforts))} that move {moved} along a path, " + steps_in_words(
            options
        )

    def quantities(self, report: InversePathReport) -> Any:
        yield "path_error", report.errors[-1], ""
        yield "pre_action", report.pre_action, "s"
        yield "post_action", report.post_action, "s"


def _joint_of(model: Model, effort: str) -> tuple[str, str | None]:
    """Return the joint and the coordinate that an effort names."""
    joint, dot, coordinate = effort.rpartition(".")
    if effort in model.joints or not dot or joint not in model.joints:
        return effort, None
    return joint, coordinate


KIND = InversePath()
