"""Inverse dynamics: the forces of drivers that produce their prescribed motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fem_mbs.analysis.steps.common.checks import check_sought, check_spin, count_steps
from fem_mbs.analysis.steps.common.options import ALONG_TEXT, RESTARTS_TEXT, Along, Newton, TimeSteps
from fem_mbs.analysis.steps.common.values import whole
from fem_mbs.analysis.steps.common.words import along_quantities, steps_in_words
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import FLAG
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import EigenvaluesAlong, EnergyBalance, StartReport, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.model.model import Model

__all__ = ["Inverse", "InverseReport", "KIND", "Options"]


@dataclass(frozen=True, kw_only=True)
class InverseReport(StepReport, type="inverse"):
    """Driving forces of a motion that drivers prescribe."""

    rule: str = entry("with inertia, or quasi-static", given=True, enum=["midpoint", "static"])
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    iterations: int = entry("of Newton-Raphson")
    factorisations: int = entry("of the tangent", given=True)
    halved_steps: int = entry("time steps that were divided to converge")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    constraint_error: float = entry(
        "largest error of a constraint at the end: lengths over the model's size, angles in rad"
    )
    energy: EnergyBalance = entry()
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)
    linear_momentum: list[float] = entry("at the end", unit="N s")
    angular_momentum: list[float] = entry("at the end, about the origin", unit="N m s")
    drivers: list[str] = entry("motions and joints whose forces were sought")
    redundant_constraints: int | None = entry("that repeat others, so that shares of forces are arbitrary")
    dynamic: bool = entry("whether inertia acts", given=True)


@dataclass(frozen=True, kw_only=True)
class Options(Newton, TimeSteps):
    """Options of an inverse step."""

    dynamic: bool = key(FLAG, "false: quasi-static, an equilibrium at every time without inertia", True)
    frames: int = key(whole(0), "states kept for pictures and ParaView, evenly spread; 0: none", 100)
    restarts: int | None = key(whole(0), RESTARTS_TEXT, None)
    eigenvalues: Any = key(Along, ALONG_TEXT, None)


class Inverse(StepKind):
    """A transient, or equilibria one after the other, in which drivers move all that can move."""

    name = "inverse"
    Options = Options
    Report = InverseReport
    noun = "inverse dynamics"
    quantity_names = ("stable", "unstable_from.load_factor", "unstable_from.time")
    positional = ("duration", "h", "name")
    text = (
        "Add inverse dynamics: the forces of motions and driven joints that produce their prescribed motion, over\n"
        '``duration`` [s] in steps of h.  Every driver so far gets a sensor "drive NAME", unless one looks at it\n'
        "already."
    )
    notes = """\
Motions and driven joints must leave nothing free but what deforms. Every driver gets a sensor "drive NAME"; the run
also writes `drives-<number>-<step>.csv`, time and forces at the ends of time steps, which functions of the kind `csv`
read (`interpolation = "spline"`), so that forces and moments of another model follow them."""
    passes_time = motion = joint_forces = states = True
    axis = "Time [s]"
    branches = "along"
    tables = ("fem_mbs.cli.report_stability:path_tables",)
    sentences = "fem_mbs.cli.report_stability:path_sentences"
    figures = ("fem_mbs.plot.figures:path_figures",)

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        seen = {s.given["on"] for s in model.sensors if s.kind == "drive"}
        names = {s.name for s in model.sensors}
        for driver in model.drivers():
            if driver not in seen and f"drive {driver}" not in names:
                model.sensor(f"drive {driver}", "drive", on=driver)
        return given

    def check(self, step: PlannedStep, context: RunContext) -> None:
        if step.options.eigenvalues is not None:
            check_sought(f"{step.owner}: eigenvalues", step.options.eigenvalues)
        count_steps(step.owner, step.options)
        check_spin(step.owner, context)

    def fit_loads(self, step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.march import fit_turning_load

        fit_turning_load(step, context)

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.transient.inverse import check_drivers

        if not ahead.moved:
            check_drivers(context.compiled, context.state, step.name)
        elif not context.model.drivers():
            raise ModelError("nothing is driven", owner=step.owner, remedy="add motions, or functions to joints")

    def info(self, options: Any) -> dict[str, Any]:
        rule = "midpoint" if options.dynamic else "static"
        return {"rule": rule, "mid_step": rule in RULES and RULES[rule].two_state}

    def begin(self, step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.march import begin

        if step.options.dynamic:
            begin(step, context)

    def kernels(self, options: Any) -> tuple[str, ...]:
        return ("steps",)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> InverseReport:
        from fem_mbs.analysis.march import march
        from fem_mbs.analysis.transient.inverse import check_drivers

        counts = check_drivers(context.compiled, context.state, step.name)
        found = march(step, context, self.info(step.options)["rule"], resumed)
        return InverseReport(**found, **counts, dynamic=step.options.dynamic)

    def sentence(self, options: Any) -> str:
        how = "with inertia" if options.dynamic else "quasi-static"
        return f"{self.name}, {how}, {steps_in_words(options)}"

    def quantities(self, report: InverseReport) -> Iterator[tuple[str, Any, str]]:
        yield from along_quantities(report.eigenvalues)


KIND = Inverse()
