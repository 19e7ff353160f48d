"""Transients: the motion of a model over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fem_mbs.analysis.steps.common.checks import (
    check_impacts,
    check_sought,
    check_spin,
    check_supports,
    count_steps,
)
from fem_mbs.analysis.steps.common.options import ALONG_TEXT, RESTARTS_TEXT, Along, Newton, RuleWeights, TimeSteps
from fem_mbs.analysis.steps.common.values import NAMES, named, number, valued, whole
from fem_mbs.analysis.steps.common.words import along_quantities, steps_in_words
from fem_mbs.analysis.transient.rules import (
    CHAIN,
    COARSEST,
    DEFAULTS,
    EXPLICIT,
    LOOSEST,
    RULE_TEXT,
    RULES,
    check_explicit,
    check_rolling,
    check_rule,
    rule_notes,
)
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, NUMBER
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import numbers
from fem_mbs.errors import ConvergenceError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import (
    BlowReport,
    EigenvaluesAlong,
    EnergyBalance,
    EventReport,
    ImpactReport,
    StartReport,
    StepReport,
)
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

__all__ = ["AdaptiveSteps", "KIND", "Options", "Transient", "TransientReport"]


@dataclass(frozen=True, kw_only=True)
class AdaptiveSteps(Record):
    """Adaptive time steps; the number of steps of the report then counts rows, and h is their interval."""

    tolerance: float = entry("largest local error of a step")
    accepted: int = entry("time steps")
    rejected: int = entry("time steps")
    computed: int = entry("steps solved: whole, in halves, and again")
    smallest_step: float = entry(unit="s")
    largest_step: float = entry(unit="s")


@dataclass(frozen=True, kw_only=True)
class TransientReport(StepReport, type="transient"):
    """Steps in time."""

    rule: str = entry(
        "of the integration",
        given=True,
        enum=list(RULES),
    )
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    adaptive: AdaptiveSteps | None = entry("adaptive steps only", optional=True)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    iterations: int = entry("of Newton-Raphson")
    factorisations: int = entry("of the tangent", given=True)
    halved_steps: int = entry("time steps that were divided to converge")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    events: list[EventReport] | None = entry(
        "in the order in which they happened; only where the model has events", optional=True
    )
    impacts: list[ImpactReport] | None = entry("pairs that have met; only where the model has impacts", optional=True)
    blows: list[BlowReport] | None = entry("in the order of time; only where the model has impacts", optional=True)
    constraint_error: float = entry(
        "largest error of a constraint at the end: lengths over the model's size, angles in rad"
    )
    energy: EnergyBalance = entry()
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)
    linear_momentum: list[float] = entry("at the end", unit="N s")
    angular_momentum: list[float] = entry("at the end, about the origin", unit="N m s")


@dataclass(frozen=True, kw_only=True)
class Options(RuleWeights, Newton, TimeSteps):
    """Options of a transient."""

    rule: str = key(ANY_TEXT, RULE_TEXT, "midpoint", choices=tuple(RULES))
    frames: int = key(whole(0), "states kept for pictures and ParaView, evenly spread; 0: none", 100)
    restarts: int | None = key(whole(0), RESTARTS_TEXT, None)
    adaptive: float = key(
        valued(
            "number", f"the largest local error of a step, 1e-12 to {COARSEST:g} (0: equal steps)",
            lambda v: number(v) and (v == 0.0 or 1e-12 <= v <= COARSEST), numbers,
        ),
        "largest local error of a step: displacements over the model's length, rotations in radians; h is then the "
        "first step, and the interval of the results; 0: all steps are h", 0.0,
    )  # fmt: skip
    eigenvalues: Any = key(Along, ALONG_TEXT, None)
    energy_tolerance: float = key(
        valued(
            "number", f"the energy error that iterations may leave, 1e-12 to {LOOSEST:g} (0: they go on to round-off)",
            lambda v: number(v) and (v == 0.0 or 1e-12 <= v <= LOOSEST), numbers,
        ),
        "accuracy to which a step is iterated: the error of the energy over the energy that parts and loads exchange; "
        "0: to round-off. The notes below say more", 0.0,
    )  # fmt: skip
    supports: Any = key(
        NAMES,
        "groups of `[[support]]`, `[[motion]]` and `[[pretension]]` that hold in this step. What the nonlinear step "
        "before has held and this one lacks is released at once, without work; what this one takes on stops velocities "
        "as a plastic blow, whose energy is work of drivers", "", shows="none",
    )  # fmt: skip
    decay: float = key(
        NUMBER, 'of `rule = "decaying"`: a in sigma = S [(1/2 + a) e_1 + (1/2 - a) e_0], 0 (the mid-point rule) to 1',
        DEFAULTS["decay"],
    )  # fmt: skip


class Transient(StepKind):
    """Time steps of an integration rule."""

    name = "transient"
    Options = Options
    Report = TransientReport
    quantity_names = ("stable", "unstable_from.load_factor", "unstable_from.time", "event.{event}.time",
                      "event.{event}.impulse", "event.{event}.loss")  # fmt: skip
    positional = ("duration", "h", "name")
    text = "Add a transient of ``duration`` [s] in steps of h."
    notes = f"""\
{rule_notes(RULES)}
It starts where the step before has left the model: from the static equilibrium, if that was a static step, with
velocities made consistent at the first transient; with a centrifugal load of `spin = true`, in steady rotation. All
rules but "decaying" and "explicit" are of second order: a step that is half as long has a fourth of the error, whatever
the size of the rotations; of the mid-point rule it is about (angle per step)^2/12 of a motion, 1 % at 0.3 rad.
`fem-mbs check` notes what turns by more than 30 degrees in a step: stable, with exact energy, but coarse. A step in
which a node turns by more than 90 degrees is made in parts; the summary counts them, and where parts do not help, or
the rule is "explicit", the run ends with an error. `fem-mbs check` refuses explicit steps above their limit of
stability at the start, 2/w of the highest frequency w.

Steps are iterated to round-off. With `energy_tolerance` they end before: increments of displacements, rotations and
multipliers are then converged to this share of themselves, and all steps together change the energy by at most this
share of what parts and loads exchange, which the summary shows beside the error that resulted (`energy.tolerance`).
That takes about half of the iterations where steps resolve the motion. It belongs to "midpoint" and "decaying".

The energy ledger tells whether a run holds. "midpoint" and "decaying" close it to round-off: beyond 1e-6 of the energy
that is exchanged there is a warning, beyond 1e-3 the step has failed. The other rules keep the energy as far as their
steps resolve the motion: a warning beyond 5 %; beyond 50 % the step has failed, but for what "generalised-alpha", "hht"
and "newmark" with `gamma` above 1/2 lose, which is what they are for. The results of a failed step are complete, the
table marks it, `failures` of the summary says why, and the exit code is 1. A run that gains energy without bound, or
whose energies are not finite, stops with an error."""
    noun = "transient"
    passes_time = motion = takes_events = looks_at_limits = states = impacts = differentiated = True
    axis = "Time [s]"
    branches = "along"
    tables = ("fem_mbs.cli.report_stability:path_tables", "fem_mbs.cli.report:blow_tables")
    sentences = "fem_mbs.cli.report_stability:path_sentences"
    figures = ("fem_mbs.plot.figures:path_figures", "fem_mbs.plot.figures:blow_figures")

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, options = step.owner, step.options
        check_rule(owner, options, step.given)
        if options.eigenvalues is not None:
            check_sought(f"{owner}: eigenvalues", options.eigenvalues)
        count_steps(owner, options)
        check_supports(step, context.model)
        check_impacts(step, context.system)
        check_rolling(owner, context.system, options)
        if RULES[options.rule].kind == EXPLICIT:
            check_explicit(owner, context.system)
            iterative = Newton.keys()
            for name in step.given:
                if name in iterative:
                    raise ModelError(
                        f'{name} belongs to rules with iterations, rule = "{options.rule}" has none', owner=owner,
                        key=name, value=getattr(options, name), remedy="leave it out or change the rule",
                    )  # fmt: skip
            for group in set(named(options.supports)) - context.model.building.keeping:
                raise ModelError(
                    'rule = "explicit" knows only supports that hold the present place', owner=owner, key="supports",
                    value=group, remedy="give them present = true, or take another rule",
                )  # fmt: skip
        if RULES[options.rule].kind == CHAIN:
            self._check_tree(step, context)
        check_spin(owner, context)
        if context.model.building.eventful and options.adaptive:
            raise ModelError(
                "events are located within equal steps", owner=owner,
                remedy="remove adaptive, or the events and what locks or breaks by itself",
            )  # fmt: skip

    @staticmethod
    def _check_tree(step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.chains.tree import Tree

        Tree(context.compiled, step.owner)
        if step.options.eigenvalues is not None:
            raise ModelError(
                'eigenvalues need the forces of joints, which rule = "hamiltonian" has not', owner=step.owner,
                key="eigenvalues", remedy='remove it, or take rule = "midpoint"',
            )  # fmt: skip

    def fit_loads(self, step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.march import fit_turning_load

        fit_turning_load(step, context)

    def info(self, options: Any) -> dict[str, Any]:
        return {"rule": options.rule, "mid_step": RULES[options.rule].two_state}

    def begin(self, step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.march import begin
        from fem_mbs.analysis.switched import switched

        begin(step, switched(step, context))

    def check_stability(self, step: PlannedStep, context: RunContext) -> None:
        options = step.options
        if RULES[options.rule].kind != EXPLICIT:
            return
        from fem_mbs.analysis.linear.modes.highest import highest_frequency

        highest = highest_frequency(context.compiled, context.state)
        h = options.duration / count_steps(step.owner, options)
        if h * highest > 2.0:
            raise ModelError(
                f'h = {h:g} {unit_of("s")}: rule = "{options.rule}" is stable only for h below 2/w = '
                f"{2.0 / highest:.4g} {unit_of('s')}, with the highest frequency w of the model at its start",
                owner=step.owner,
                remedy='take a smaller h, or rule = "midpoint"',
            )

    def kernels(self, options: Any) -> tuple[str, ...]:
        return {EXPLICIT: ("explicit",), CHAIN: ("chains",)}.get(RULES[options.rule].kind, ("steps",))

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> TransientReport:
        from fem_mbs.analysis.march import march
        from fem_mbs.analysis.switched import switched

        held = switched(step, context)
        try:
            found = march(step, held, step.options.rule, resumed)
        except ConvergenceError as error:
            told = held.switched.jumps() if held.switched is not None else []
            if not told:
                raise
            raise ConvergenceError(f"{error}; {told[0]}") from None
        if held.switched is not None:
            held.switched.end(context, held)
        adaptive = found.pop("adaptive", None)
        return TransientReport(**found, adaptive=None if adaptive is None else AdaptiveSteps(**adaptive))

    def sentence(self, options: Any) -> str:
        asked = f", energy to {options.energy_tolerance:g}" if options.energy_tolerance else ""
        return f"{self.name}, rule {options.rule}, {steps_in_words(options, options.adaptive)}{asked}"

    def quantities(self, report: TransientReport) -> Iterator[tuple[str, Any, str]]:
        yield from along_quantities(report.eigenvalues)
        seen: set[Any] = set()
        for event in report.events or []:
            if event.name not in seen:
                seen.add(event.name)
                yield f"event.{event.name}.time", event.time, "s"
            for word, value, unit in (("impulse", event.impulse, ""), ("loss", event.loss, "J")):
                if value is not None and (event.name, word) not in seen:
                    seen.add((event.name, word))
                    yield f"event.{event.name}.{word}", value, unit


KIND = Transient()
