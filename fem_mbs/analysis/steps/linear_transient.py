"""Linear transients: small motions about the state that the steps before have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import (
    check_friction,
    check_named,
    check_preload,
    check_supports,
    check_without,
    count_steps,
)
from fem_mbs.analysis.steps.common.options import (
    INCREMENT,
    MOVING_TEXT,
    RAYLEIGH_TEXT,
    REPORT_TEXT,
    REPORTS,
    TOTAL,
    WITHOUT_TEXT,
    About,
    RuleWeights,
    TimeSteps,
)
from fem_mbs.analysis.steps.common.values import COUNT, NAMES, RATIOS, RAYLEIGH, named, whole
from fem_mbs.analysis.transient.rules import (
    BOUNDED,
    DEFAULTS,
    LINEAR_DEFAULTS,
    RULE_TEXT,
    check_rule,
    rule_notes,
    weights,
)
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, NUMBER
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import EnergyBalance, StartReport, StepReport
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext

__all__ = ["KIND", "LinearTransient", "LinearTransientReport", "Options"]

#: Rules of linear transients.
_RULES = ("midpoint", "newmark", "hht", "generalised-alpha")
_SHOWN = 0.1  # [s] between two lines of progress


@dataclass(frozen=True, kw_only=True)
class LinearTransientReport(StepReport, type="transient", linear=True):
    """Small motions over time about the state before."""

    rule: str = entry("of the integration", given=True)
    n_steps: int = entry("time steps", given=True, minimum=1)
    h: float = entry("length of a time step", unit="s", given=True, exclusiveMinimum=0)
    t_start: float = entry(unit="s", given=True)
    t_end: float = entry(unit="s", given=True)
    equations: int = entry("unknowns of the linear system", given=True)
    factorisations: int = entry("of its matrix", given=True)
    iterations: int = entry("one per time step")
    seconds: float = entry("wall time of the steps", unit="s")
    start: StartReport = entry()
    energy: EnergyBalance = entry()


@dataclass(frozen=True, kw_only=True)
class Options(RuleWeights, About, TimeSteps):
    """Options of a linear transient."""

    rule: str = key(ANY_TEXT, RULE_TEXT, _RULES[0], choices=_RULES)
    loads: Any = key(NAMES, MOVING_TEXT, "all")
    time: float | None = key(
        NUMBER, "at which it starts and functions are taken, else the present time", None, unit="s"
    )
    start: str = key(
        ANY_TEXT,
        "name of a linear static step or linear transient before, from whose end it goes on: displacements, of a "
        "transient velocities too; after a static step it is at rest but for given velocities and what is driven",
        "",
    )
    report: str = key(ANY_TEXT, REPORT_TEXT, TOTAL, choices=REPORTS)
    supports: Any = key(
        NAMES,
        "groups of `[[support]]` and `[[pretension]]` that hold in this step, those with `present` where `start` has "
        "left them; what `start` has held and this one lacks is released at once", "", shows="none",
    )  # fmt: skip
    without: Any = key(NAMES, WITHOUT_TEXT, "", shows="none")
    modes: int | None = key(
        COUNT,
        "by so many of the lowest modes alone, each integrated exactly under loads linear over the time steps; `rule` "
        "then has no meaning. What further modes would add, static deflections too, is left out",
        None,
    )
    damping: Any = key(
        RATIOS, "ratio of all modes, or a list of ratios, its last one for all further modes; with `modes`", None
    )
    rayleigh: Any = key(RAYLEIGH, f"{RAYLEIGH_TEXT}; with `modes`", None, unit="1/s, s")
    frames: int = key(whole(0), "states kept for pictures and ParaView, evenly spread; 0: none", 100)
    alpha: float = key(
        NUMBER,
        'of `rule = "hht"`: -1/3 (most damping) to 0 (none); half of the default of a transient, '
        f"{DEFAULTS['alpha']:g}, since eliminated constraints have no oscillating multipliers that it must damp",
        LINEAR_DEFAULTS["alpha"],
    )


class LinearTransient(StepKind):
    """M u'' + C u' + K u = f(t) about a state, which stays as it is; time goes on."""

    name = "linear_transient"
    Options = Options
    Report = LinearTransientReport
    positional = ("duration", "h", "name")
    text = (
        "Add a linear transient: small motions about the state that the steps before have left, which stays as it is;\n"
        "time goes on.  After a transient they begin with the velocities that this has left, without ``start``."
    )
    notes = rule_notes(_RULES)
    noun = "linear transient"
    linear = motion = states = True
    recorded = "transient"
    axis = "Time [s]"
    carries = ("start",)

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, options = step.owner, step.options
        count_steps(owner, options)
        check_rule(owner, options, step.given)
        alone = [name for name in ("damping", "rayleigh") if getattr(options, name) is not None]
        if options.modes is None and alone:
            raise ModelError(f"{alone[0]} belongs to modes", owner=owner, key=alone[0], remedy="give modes, too")
        if options.modes is not None and "rule" in step.given:
            raise ModelError(
                "modes are integrated exactly, and rule has no meaning", owner=owner, key="rule",
                value=options.rule, remedy="remove rule or modes",
            )  # fmt: skip
        if options.modes is not None:
            context.system.refuse_states(owner, "modes do", "remove modes")
        check_preload(step, context.model)
        check_supports(step, context.model)
        for group in named(options.supports):
            if group in context.model.building.step_motions:
                raise ModelError(
                    "motions of groups act in no linear transient", owner=owner, key="supports", value=group,
                    remedy="give the motion no group, or take a transient",
                )  # fmt: skip
        check_without(step, context)
        if options.start:
            about = check_named(step, context.model, "start")
            if about != options.preload:
                raise ModelError(
                    f'start = "{options.start}" is about preload = "{about}", and so must this step be, not about "'
                    f'{options.preload}"',
                    owner=owner,
                )
        check_friction(owner, context.system)

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.loading import chosen

        chosen(context.compiled, step.options.loads, step.owner, "loads", motions=True, controlled=True)

    def info(self, options: Any) -> dict[str, Any]:
        told = {"increments": True} if options.report == INCREMENT else {}
        return {"rule": "modal" if options.modes else options.rule, "mid_step": False, "linear": True, **told}

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> LinearTransientReport:
        from time import monotonic, perf_counter

        from fem_mbs import contract as C
        from fem_mbs.analysis.linear.linearised import MOVES
        from fem_mbs.analysis.linear.modal_transient import ModalTransient
        from fem_mbs.analysis.linear.rows import LinearRows
        from fem_mbs.analysis.linear.transient import LinearTransient
        from fem_mbs.analysis.solution import ENERGY_COLUMNS, energy_range, relative_error
        from fem_mbs.analysis.start.given import given_velocities
        from fem_mbs.analysis.start.initial import consistent_velocities

        options = step.options
        linear = context.linear.at(
            context, options.preload, options.time, supports=named(options.supports), without=named(options.without)
        )  # fmt: skip
        rows = LinearRows(context, linear)
        n_steps = count_steps(step.owner, options)
        h = options.duration / n_steps
        increments = options.report == INCREMENT
        state = linear.moved(np.zeros(context.system.n_dof))
        place, velocity = context.linear.ends[options.start] if options.start else (None, None)
        start, notes = StartReport(method="given", largest_change=0.0), linear.notes
        if velocity is None and place is None and linear.moves:
            state.V[0] = context.state.V[0]
            start = consistent_velocities(context.compiled, state, linear.t, current=True)
            velocity = linear.spatial(state.V[0])
            told = f"{MOVES}: its velocities go on, and the matrices are those of its place at rest"
            notes = [*linear.redundancy, told]
        elif velocity is None and (place is not None or context.model.initial_method == "given"):
            # of what is prescribed they follow from its functions
            velocity = linear.spatial(given_velocities(context.compiled))
        elif velocity is None:
            start = consistent_velocities(context.compiled, state, linear.t)
            velocity = linear.spatial(state.V[0])
        rule = weights(options.rule, options)
        kind = LinearTransient if options.modes is None else ModalTransient
        job = kind(linear, options, rule, step.name, h, velocity, place, _kept(context, options, place))
        every = max(1, n_steps // options.frames) if options.frames else n_steps + 1
        totals = {"low": np.inf, "high": -np.inf, "kinetic": 0.0, "error": 0.0}
        last = np.zeros(C.N_LEDGER + 1)
        shown, sensors = monotonic(), rows.sensors(increments)

        def take(k: int, t: float, u, v, a, ledger, forces) -> None:
            nonlocal shown
            framed = bool(options.frames) and k % every == 0
            change = job.change(t, u, v, a, forces, framed)
            time = np.array([t])
            frames = None
            if framed:
                rates = np.zeros(context.system.n_dof)
                rates[: v.size] = v
                frames = rows.frames(change, change["Q"], time, increments, rates)
            record, row = rows.record(change), ledger[None].copy()
            if increments:
                row[0, [C.STRAIN, C.POTENTIAL]] -= job.at_state
            series = context.rows.series(
                time, row, np.ones(1), np.zeros(1), record, sensors=sensors, rates=rows.rates(a)
            )
            context.recorder.append(series, frames)
            energy = ledger[C.KINETIC] + ledger[C.STRAIN] + ledger[C.POTENTIAL]
            totals["low"], totals["high"] = min(totals["low"], energy), max(totals["high"], energy)
            totals["kinetic"] = max(totals["kinetic"], ledger[C.KINETIC])
            totals["error"] = max(totals["error"], abs(ledger[-1]))
            last[:] = ledger
            if monotonic() - shown > _SHOWN:
                shown = monotonic()
                error = totals["error"] / (energy_range(totals) or 1.0)
                context.tell(step, k, n_steps, time=t, iterations=1.0, energy_error=error)

        started = perf_counter()
        job.run(linear.t, n_steps, take)
        context.linear.ends[step.name] = (job.u, job.v)
        context.now.time = linear.t + options.duration
        return LinearTransientReport(
            name=step.name, rule="modal" if options.modes else options.rule, n_steps=n_steps, h=h,
            t_start=linear.t, t_end=context.time, equations=job.n_equations, factorisations=1,
            iterations=n_steps, seconds=round(perf_counter() - started, 4), start=start,
            warnings=[*notes, *job.warnings, *_open(relative_error(totals), options), *rows.no_works()],
            energy=EnergyBalance(
                range=energy_range(totals), closing_error=totals["error"],
                closing_error_relative=relative_error(totals),
                final={c: float(v) for c, v in zip(ENERGY_COLUMNS, [*last[:6], last[-1]], strict=True)},
            ),
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        how = f"by {options.modes} modes" if options.modes else f"rule {options.rule}"
        return (
            f"linear transient of {options.duration:g} {unit_of('s')} in steps of {options.h:g} {unit_of('s')}, {how}"
        )


KIND = LinearTransient()


def _open(error: float, options: Options) -> list[str]:
    """Return a warning where the ledger does not close: its ``error`` as a share of the energy that is exchanged."""
    if error <= BOUNDED.told:
        return []
    how = (
        "by modes works are sums over the steps, which miss what vibrates within them"
        if options.modes
        else "the steps do not resolve the motion, or the rule damps it"
    )
    return [
        f"the energy ledger stays open by {error:.2g} of the energy that parts and loads exchange: {how}; take shorter "
        "steps, and look whether what is prescribed jumps at the start"
    ]


def _kept(context: RunContext, options: Options, place: np.ndarray | None) -> np.ndarray | None:
    """Return displacements (first,) from the state at which supports hold what the step before has reached, or None."""
    groups = [name for name in named(options.supports) if name in context.model.building.keeping]
    if not groups or place is None:
        return None
    first = context.system.first_multiplier
    dofs = np.concatenate([context.compiled.step_supports[name] for name in groups])
    kept = np.zeros(first)
    kept[dofs] = place[dofs]
    return kept
