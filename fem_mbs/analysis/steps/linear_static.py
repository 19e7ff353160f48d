"""Linear statics: small displacements about the state that the steps before have left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import (
    check_friction,
    check_preload,
    check_supports,
    check_weight,
    check_without,
)
from fem_mbs.analysis.steps.common.options import (
    INCREMENT,
    MOVING_TEXT,
    REPORT_TEXT,
    REPORTS,
    TIME_TEXT,
    TOTAL,
    WITHOUT_TEXT,
    Supported,
)
from fem_mbs.analysis.steps.common.values import NAMES, limited, named
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, NUMBER
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.analysis.linear.linearised import Linearised, Response

__all__ = ["KIND", "LinearStatic", "LinearStaticReport", "Options", "Reactions"]

_TURNED = 0.1  # [rad] beyond which a warning calls rotations large


@dataclass(frozen=True, kw_only=True)
class Reactions(Record):
    """Sum of the forces of supports and motions, and its moment about the origin."""

    force: list[float] = entry(unit="N")
    moment: list[float] = entry(unit="N m")


@dataclass(frozen=True, kw_only=True)
class LinearStaticReport(StepReport, type="static", linear=True):
    """Small displacements about the state before."""

    time: float = entry("at which functions of time are taken", unit="s", given=True)
    largest_displacement: float = entry(unit="m")
    largest_displacement_at: str = entry("node")
    reactions: Reactions = entry()
    strain_energy: float = entry(unit="J")


#: What another time does beside the loads of the step.
OF_THE_STATE = "loads that the state carries change to their values there as well, whether `loads` names them or not"


@dataclass(frozen=True, kw_only=True)
class Options(Supported):
    """Options of a linear static step."""

    loads: Any = key(NAMES, MOVING_TEXT, "all")
    time: float | None = key(NUMBER, f"{TIME_TEXT}; {OF_THE_STATE}", None, unit="s")
    without: Any = key(NAMES, WITHOUT_TEXT, "", shows="none")
    duration: float = key(
        limited("a number of at least 0 [s]", 0.0),
        f"that passes: functions are taken at its end, where the next step begins; {OF_THE_STATE}; 0: none",
        0.0,
        unit="s",
    )
    report: str = key(ANY_TEXT, REPORT_TEXT, TOTAL, choices=REPORTS)


class LinearStatic(StepKind):
    """K u = f about a state, which stays as it is; with a duration time goes on."""

    name = "linear_static"
    Options = Options
    Report = LinearStaticReport
    quantity_names = ("reaction_force.*", "reaction_moment.*")
    text = (
        "Add linear statics: small displacements about the state that the steps before have left (at first: the\n"
        "start), which stays as it is; with a ``duration`` [s] time goes on."
    )
    noun = "linear statics"
    linear = stands = states = equilibrium = distributed = True
    axis = "Time [s]"
    carries = ("preload", "start")
    tables = ("fem_mbs.cli.report:linear_static_tables",)

    def check(self, step: PlannedStep, context: RunContext) -> None:
        check_preload(step, context.model)
        check_without(step, context)
        check_supports(step, context.model)
        check_friction(step.owner, context.system)
        if step.options.duration and step.options.time is not None:
            raise ModelError("time and duration exclude each other", owner=step.owner, remedy="remove one")

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.loading import chosen

        if chosen(context.compiled, step.options.loads, step.owner, "loads", motions=True, controlled=True)[1]:
            check_weight(step.owner, context)

    def info(self, options: Any) -> dict[str, Any]:
        return {**super().info(options), **({"increments": True} if options.report == INCREMENT else {})}

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> LinearStaticReport:
        from fem_mbs import contract as C
        from fem_mbs.analysis.linear.rows import LinearRows

        options = step.options
        linear = context.linear.at(
            context, options.preload, options.time, options.duration, named(options.supports), named(options.without)
        )
        context.now.time += options.duration
        rows, increments = LinearRows(context, linear), options.report == INCREMENT
        response = _respond(linear, options, step.owner, _kept(context, options, linear.t))
        context.linear.reached = _reached(context, options, response)
        change = linear.reported.change(
            response.u, response.forces, response.mask, response.values, y=response.y,
            outputs=linear.reported.reporting, energy=True, weight=response.weight,
        )  # fmt: skip
        ledger = np.zeros((1, C.N_LEDGER + 1))
        ledger[0, C.STRAIN] = change["energy"].sum()
        potential, gradient, curvature = linear.reported.potential(response.weight)
        ledger[0, C.POTENTIAL] = gradient @ response.u + 0.5 * response.u @ (curvature @ response.u)
        if not increments:
            ledger[0, C.STRAIN] += linear.reported.base["energy"].sum()
            ledger[0, C.POTENTIAL] += potential
        time, record = np.array([linear.t]), rows.record(change)
        context.linear.responses[step.name] = rows.with_totals(response, change, record)
        context.linear.ends[step.name] = (response.u, None)
        frames = rows.frames(change, response.u, time, increments)
        series = context.rows.series(
            time, ledger, np.zeros(1), np.zeros(1), record, sensors=rows.sensors(increments)
        )  # fmt: skip
        context.recorder.append(series, frames)
        return _report(step, linear, response, float(ledger[0, C.STRAIN]), rows.no_works())

    def sentence(self, options: Any) -> str:
        return "linear statics"

    def quantities(self, report: LinearStaticReport) -> Iterator[tuple[str, Any, str]]:
        found = report.reactions
        if found is None:
            return
        for name, unit, values in (("force", "N", found.force), ("moment", "N m", found.moment)):
            axes = ["z"] if len(values or []) == 1 else "xyz"
            for axis, value in zip(axes, values or [], strict=False):
                yield f"reaction_{name}.{axis}", value, unit


KIND = LinearStatic()


def _kept(context: RunContext, options: Options, time: float) -> np.ndarray | None:
    """Return displacements (first,) from the state at which supports hold what the step before has reached, and to
    which motions of groups lead; None: no such are there.

    About a preload that is where it has ended, so that they do not move.
    """
    model, compiled, reached = context.model, context.compiled, context.linear.reached
    names = named(options.supports)
    moving = [compiled.step_motions[name] for name in names if name in compiled.step_motions]
    groups = [name for name in names if name in model.building.keeping]
    if options.preload or not (moving or (groups and reached is not None)):
        return None
    kept = np.zeros(context.system.first_multiplier)
    if reached is not None and groups:
        dofs = np.concatenate([compiled.step_supports[name] for name in groups])
        kept[dofs] = reached[dofs]
    t = np.array([time])
    start = context.system.initial_state().Q[0]
    for motion in moving:
        values = np.array([float(compiled.functions[i](t)[0]) for i in motion.functions])
        kept[motion.dofs] = start[motion.dofs] + values - context.state.Q[0, motion.dofs]
    return kept


def _reached(context: RunContext, options: Options, response: Response) -> np.ndarray:
    """Return displacements (first,) from the state to where a step ends, those of its preload included."""
    u = response.u[: context.system.first_multiplier]
    if not options.preload:
        return u
    return u + context.linear.responses[options.preload].u[: len(u)]


def _respond(linear: Linearised, options: Options, owner: str, kept: np.ndarray | None) -> Response:
    """Return the response of a linear static step."""
    from fem_mbs.analysis.loading import chosen

    mask, weight = chosen(linear.compiled, options.loads, owner, "loads", motions=True, controlled=True)
    if isinstance(options.loads, str):
        mask = mask | ~linear.loads  # motions and equations too
    return linear.respond(mask, weight, whole=True, owner=owner, kept=kept)


def _report(
    step: PlannedStep, linear: Linearised, response: Response, energy: float, notes: list[str]
) -> LinearStaticReport:
    """Return the report of a linear static step with a strain ``energy`` [J]; totals, or increments alone."""
    from fem_mbs.analysis.linear.linearised import UNSYMMETRIC

    system = linear.system
    displacement = linear.system.nodal(response.u)
    turned = float(np.abs(displacement[:, 3:]).max(initial=0.0))
    forces = response.forces
    if step.options.report != INCREMENT:
        displacement += linear.reported.displacements
        forces = forces + linear.reported.base["reaction"]
    size = np.linalg.norm(displacement[:, :3], axis=1)
    most = int(size.argmax())
    forces = linear.system.nodal(forces)
    x = np.zeros((len(size), 3))
    x[:, : system.dimension] = system.nodes.x
    warnings = [*linear.notes, *_repeated(linear)]
    if turned > _TURNED:
        warnings.append(
            f"rotations reach {turned:.2g} rad: small ones are assumed, take a static step (large displacements)"
        )
    if linear.unsymmetric:
        warnings.append(UNSYMMETRIC)
    if linear.equilibrium.unseen is not None:
        warnings.append(
            f"{linear.equilibrium.unseen.text}. The loads do no work on it, and the displacements are those without it"
        )
    return LinearStaticReport(
        name=step.name, time=linear.t,
        largest_displacement=float(size[most]), largest_displacement_at=system.nodes.names[most],
        reactions=Reactions(
            force=forces[:, :3].sum(axis=0).tolist(),
            moment=(np.cross(x, forces[:, :3]) + forces[:, 3:]).sum(axis=0).tolist(),
        ),
        strain_energy=energy, warnings=[*warnings, *notes],
    )  # fmt: skip


def _repeated(linear: Linearised) -> list[str]:
    """Return the equations that the elimination has dropped as redundant."""
    n = len(linear.elimination.redundant) if linear.eliminated and not linear.multipliers.size else 0
    return [f"{n} constraints repeat others and were left out"] if n else []
