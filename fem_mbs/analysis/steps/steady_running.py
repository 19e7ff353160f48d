"""Steady running: the motion of vehicles at constant speed, and the efforts that keep it steady."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.values import NAMES, named
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.steps import PlannedStep, StepKind, StepOptions
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext

__all__ = ["KIND", "Options", "SteadyRunning", "SteadyRunningReport"]

_MOST = 3  # efforts: one for each direction


@dataclass(frozen=True, kw_only=True)
class SteadyRunningReport(StepReport, type="steady_running"):
    """A steady motion."""

    time: float = entry(unit="s", given=True)
    speed: float = entry("of the body that the running start names", unit="m/s")
    efforts: dict[str, float] = entry("values of their functions that keep the motion steady")
    missing_force: float | None = entry(
        "along the way, on the body that the running start names, which would keep the speed; only without "
        "efforts", unit="N",
    )  # fmt: skip
    missing_power: float | None = entry("of this force", unit="W")
    spins: dict[str, float] = entry(
        "of bodies and nodes that spin relative to the rest of the model, by their names", unit="rad/s"
    )
    iterations: int = entry("of Newton's method")
    parts: int = entry("number of parts in which the speed was raised", given=True)
    out_of_balance: float = entry("largest unbalanced force over the largest force of an element")
    equations: int = entry(given=True)


@dataclass(frozen=True, kw_only=True)
class Options(StepOptions):
    """Options of a step of steady running."""

    efforts: Any = key(
        NAMES,
        "motors, loads and driven joints whose functions get the constant values that keep the motion steady, at most "
        "3: "
        "the first balances the forces along the way, the second those across it (steering), the third those along the "
        "normal of both", "",
        shows="none",
    )  # fmt: skip


class SteadyRunning(StepKind):
    """The steady motion of the running starts of a model."""

    name = "steady_running"
    Options = Options
    Report = SteadyRunningReport
    quantity_names = ("missing_power", "effort_*")
    positional = ("efforts", "name")
    text = (
        "Add the steady motion of the running start of the model, straight ahead or in a curve, under all forces,\n"
        "also those that depend on velocities; the functions of ``efforts`` get the values that keep it steady."
    )
    notes = """\
`[[running]]` gives the motion: a velocity without a spin is steady travel straight ahead, a spin with a centre is a
steady turn. The step finds places, attitudes and the spins of wheels from the balance of all forces: drag, lift,
rolling resistance, slip forces of tyres, dampers, gyroscopic moments, centrifugal forces. Later steps go on from this
state, with the efforts that were found: a transient runs on steadily, and `complex_modes` gives the modes about this
motion. The body that the running start names keeps its place along the way. With two efforts it also keeps its place
across the way, so that the radius of a curve is as given; without the second one the radius follows from the given
spin. Without efforts a force on this body keeps the speed. The summary gives this force and its power; the next
transient does not have it. A static step before gives a better first guess. Each part that spins must do so about an
axis through its place."""
    noun = "steady running"
    motion = states = True
    axis = "Time [s]"

    def check(self, step: PlannedStep, context: RunContext) -> None:
        model, owner, efforts = context.model, step.owner, named(step.options.efforts)
        if model.dimension != 3:
            raise ModelError("steady running is for models in space", owner=owner, remedy="take a transient step")
        if not model.runnings:
            raise ModelError(
                "nothing runs", owner=owner, remedy="add [[running]], with the body that moves and its velocity"
            )
        if len(efforts) > _MOST or len(set(efforts)) < len(efforts):
            raise ModelError(
                f"efforts: {', '.join(efforts)} must be at most {_MOST} different names", owner=owner, key="efforts",
                value=step.options.efforts, remedy="name a drive and a steering effort",
            )  # fmt: skip
        if len(model.runnings) > 1:
            places = ", ".join(run.place for run in model.runnings)
            raise ModelError(
                f"{len(model.runnings)} mechanisms run ({places})", owner=owner,
                remedy="keep one running start; others may begin with it in a transient",
            )  # fmt: skip
        context.system.refuse_impacts(owner, "has no steady motion", "take contact in place of the impact")

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        self.functions(step, context)
        ahead.loading.all_on()

    def functions(self, step: PlannedStep, context: RunContext) -> list[int]:
        """Return the numbers of the time functions (k,) of the efforts.

        Raises:
            ModelError: there is no such effort, or it has several functions, or it moves nodes.
        """
        from fem_mbs.analysis.loading import chosen

        compiled, owner, found = context.compiled, step.owner, []
        for name in named(step.options.efforts):
            mask, _ = chosen(compiled, [name], owner, "efforts", motions=True)
            numbers = np.flatnonzero(mask)
            if numbers.size != 1 or np.isin(numbers, compiled.system.driven.functions).any():
                raise ModelError(
                    f'efforts: "{name}" has {numbers.size} functions, or prescribes dofs of nodes', owner=owner,
                    key="efforts", value=name, remedy="name a motor, a load or a driven joint with one function",
                )  # fmt: skip
            found.append(int(numbers[0]))
        return found

    def kernels(self, options: Any) -> tuple[str, ...]:
        return ("steps",)

    def info(self, options: Any) -> dict[str, Any]:
        return {"rule": "midpoint", "mid_step": False}

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> SteadyRunningReport:
        from fem_mbs.analysis.statics.running import steady_running
        from fem_mbs.analysis.statics.running_rows import record_instant, relative_spins

        names, functions = named(step.options.efforts), self.functions(step, context)
        context.loading.all_on()
        found = steady_running(context.compiled, context.state, context.time, context.loading, functions, step.owner)
        for number, value in zip(functions, found.efforts, strict=True):
            context.hold(number, float(value))
        own = context.state
        own.Q[:], own.D[:], own.V[:], own.DD[:], own.past[:] = (
            found.state.Q[0], found.state.D[0], found.state.V[0], found.state.DD[0], 0.0
        )  # fmt: skip
        own.V[2] = 0.0
        record_instant(context)
        context.now.acceleration = found.state.V[2].copy()
        context.now.started = True
        return SteadyRunningReport(
            name=step.name, time=context.time, speed=found.speed,
            efforts={name: float(v) for name, v in zip(names, found.efforts, strict=True)},
            missing_force=found.force,
            missing_power=None if found.force is None else found.force * found.speed,
            spins=relative_spins(context), iterations=found.iterations, parts=found.parts,
            out_of_balance=found.out, equations=int((context.system.system.equation >= 0).sum()),
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        efforts = named(options.efforts)
        return "steady running" + (f" by {', '.join(efforts)}" if efforts else "")

    def quantities(self, report: SteadyRunningReport) -> Iterator[tuple[str, Any, str]]:
        if report.missing_power is not None:
            yield "missing_power", report.missing_power, "W"
        for name, value in report.efforts.items():
            yield f"effort_{name}", value, ""


KIND = SteadyRunning()
