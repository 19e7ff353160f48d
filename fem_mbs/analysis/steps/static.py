"""Static steps: equilibria reached in load increments, or along a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_sought, check_supports, check_weight
from fem_mbs.analysis.steps.common.options import ALONG_TEXT, Along, Newton
from fem_mbs.analysis.steps.common.values import NAMES, limited, whole
from fem_mbs.analysis.steps.common.words import along_quantities, counted
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, FLAG, NUMBER, NUMBER_OR_INF, shown
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import ABSENT, Absent, Record, entry
from fem_mbs.results.report import EigenvaluesAlong, StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext

__all__ = ["CriticalPoint", "KIND", "Options", "Static", "StaticReport"]

CONTROLS = ("load", "displacement", "arc")
_NOT_NEGATIVE = limited("a number of at least 0", 0.0)


@dataclass(frozen=True, kw_only=True)
class CriticalPoint(Record):
    """A point of an equilibrium path at which the number of negative eigenvalues of the stiffness changes."""

    kind: str = entry("limit, bifurcation or other")
    load_factor: float = entry()
    path_length: float = entry(unit="m")
    error: float = entry("of the load factor")
    negative_before: int = entry("negative eigenvalues before it")
    negative_after: int = entry("negative eigenvalues after it")


@dataclass(frozen=True, kw_only=True)
class StaticReport(StepReport, type="static"):
    """Equilibria at rising load factors, or along a path."""

    t_start: float = entry(unit="s", given=True)
    t_end: float = entry("later than t_start where time passes over the increments", unit="s", given=True)
    increments: int = entry("or points of the path", minimum=1)
    cut_increments: int = entry("increments that were divided to converge")
    iterations: int = entry("of Newton-Raphson")
    strain_energy: float = entry("at the end", unit="J")
    negative_eigenvalues: int | Absent | None = entry(
        "of the stiffness at the end, without a path; null: not counted", default=ABSENT
    )
    snap_through: list[list[float]] | None = entry(
        "load factors, or times, between which the equilibrium jumped", optional=True
    )
    critical_points: list[CriticalPoint] | None = entry("of paths", optional=True)
    load_factor: float = entry("at the end")
    eigenvalues: EigenvaluesAlong | None = entry(optional=True)


@dataclass(frozen=True, kw_only=True)
class Options(Newton):
    """Options of a static step; an empty text or 0 means: not given."""

    increments: int = key(
        whole(1),
        "of load or displacement control, cut where Newton-Raphson does not converge; of arc length: so many steps at "
        "least to reach `until`",
        1,
    )
    duration: float = key(
        limited("a number of at least 0 [s]", 0.0),
        "that passes over the increments: all that `vary` does not name follows its function of "
        "time (loads act in full), and the next step goes on from its end; 0: none",
        0.0,
        unit="s",
    )
    ramp: bool = key(FLAG, "false: the loads act at once", True)
    vary: Any = key(
        NAMES,
        '"all" loads (and gravity, under that name), or a list of loads, motions and equations, which the load factor '
        "multiplies; loads that no step has varied do not act yet; with a duration none, if not given",
        "all",
    )
    until: float = key(NUMBER_OR_INF, "load factor at the end; inf, along an arc: that after `points`", 1.0)
    control: str = key(ANY_TEXT, '"load", "displacement" or "arc" (arc length)', CONTROLS[0], choices=CONTROLS)
    on: str = key(ANY_TEXT, "place of the displacement that is controlled, or that ends the path", "")
    component: str = key(ANY_TEXT, '"x", "y" or "z" of it', "")
    displacement: float = key(NUMBER, "its value at the end", 0.0, unit="m")
    size: float = key(
        _NOT_NEGATIVE,
        "first arc length: displacements over the model's size and rotations, root of the sum of squares; 0: 1/50",
        0.0,
    )
    largest: float = key(_NOT_NEGATIVE, "arc length; 0: ten times the first", 0.0)
    spherical: float = key(_NOT_NEGATIVE, "weight of the load factor in the arc length; 0: cylindrical", 0.0)
    points: int = key(whole(1), "of a path, at most", 200)
    stability: bool = key(
        FLAG, "count negative eigenvalues in every point, find limit points, bifurcations and jumps", False
    )
    tolerance: float = key(
        limited("a number between 0 and 0.1", 0.0, 0.1, open_at="low high"),
        "of the load factor of critical points, relative", 1e-6,
    )  # fmt: skip
    branch: int = key(
        whole(0), "number of the bifurcation or jump from which the path follows the other branch; 0: none", 0
    )
    branch_size: float = key(NUMBER, "first step onto the branch, as `size`; negative: to the other side", 0.01)
    line_search: bool = key(FLAG, "in every iteration; else only after a failure", False)
    eigenvalues: Any = key(Along, ALONG_TEXT, None)
    supports: Any = key(
        NAMES,
        "groups of `[[support]]`, `[[motion]]` and `[[pretension]]` that hold in this step. What the nonlinear step "
        "before has held and this one lacks is released: its reactions fade over the step in proportion",
        "",
        shows="none",
    )


def check_path_supports(step: PlannedStep, context: RunContext) -> None:
    """Refuse other supports than those of the step before in paths, whose length knows no part of the step.

    Raises:
        ModelError: the step follows a path.
    """
    from fem_mbs.analysis.switched import changes_supports

    o = step.options
    if changes_supports(step, context) and (o.control != "load" or o.stability or o.line_search):
        raise ModelError(
            "supports: along a path (control, stability, line_search) supports must be those of the nonlinear step "
            "before", owner=step.owner, key="supports", remedy="change them in a static step before",
        )  # fmt: skip


def check_effects(step: PlannedStep) -> None:
    """Refuse options of paths in a step that follows none, or another kind of path.

    Raises:
        ModelError: an option has no effect.
    """
    o = step.options
    arc = o.control == "arc"
    path = o.control != "load" or o.stability or o.line_search
    wanted = [(name, arc, 'control = "arc"') for name in ("size", "largest", "spherical")]
    wanted += [(name, path, "a path (control, stability, line_search)") for name in ("points", "on")]
    wanted += [("ramp", not path, "load increments, not to a path (control, stability, line_search)")]
    wanted += [("tolerance", o.stability or o.branch, "stability = true"), ("branch_size", o.branch, "a branch")]
    given = o.given()
    for name, effect, place in wanted:
        if not effect and name in given:
            raise ModelError(
                f"{name} = {shown(given[name])} belongs to {place}", owner=step.owner, key=name, value=given[name],
                remedy="remove it, or ask for that",
            )  # fmt: skip


class Static(StepKind):
    """Equilibria of the whole, nonlinear model."""

    name = "static"
    Options = Options
    Report = StaticReport
    quantity_names = ("critical_load_#", "stable", "unstable_from.load_factor", "unstable_from.time")
    positional = ("increments", "name")
    states = True
    text = (
        "Add a static equilibrium at the present time, reached in load increments; with ``duration`` [s], at times\n"
        "that pass over them, all loads, motions and equations following their functions."
    )
    notes = """\
Under load control every equilibrium must join the last one. The step compares their distance with the distance that
the tangents at both predict, and cuts the increment where it is larger. Where the jump remains, `snap_through` in the
summary gives the load factors before and after it. A model that is loose at the start, or that jumps, is moved down its
potential energy to the next stable equilibrium. `negative_eigenvalues` in the summary counts the negative eigenvalues
of the stiffness at the end of the step, for models of up to 5000 equations. If there are any, the equilibrium is
unstable, and a warning gives the load factor from which on. For loads without a potential (follower forces, moments
about fixed axes in space) this count decides nothing and is `null` unless it is 0. Such a model is called unstable only
where the determinant of its stiffness is negative; else a warning recommends a `complex_modes` step about the state.

Paths (`control = "arc"` or `"displacement"`, `stability`, `line_search`) refuse steps that leave the path. If a preload
or another load puts the model out of balance at the start, the path begins at the next equilibrium, and a warning says
so. A path that ends after `points` before it reaches `until` or `displacement` has failed, and so has a `branch` whose
bifurcation does not exist: the results are complete, the summary has `failures`, and the exit code is 1. Load control
that meets a limit point before `until` ends below it in the same way; its `critical_points` hold the limit point.

`critical_points` in the summary tells three kinds apart. The load factor turns at a "limit". Eigenvalues of the
stiffness pass zero at a "bifurcation". They change their sign without passing zero at a "jump", where the stiffness
jumps: a contact opens, a cable slackens, a law has a corner. A limit point may also lie where the stiffness jumps. A
warning tells each jump of the stiffness. A branch may begin at a jump, though it need not."""
    noun = "nonlinear statics"
    path = equilibrium = looks_at_limits = differentiated = True
    axis = "Load factor [-]"
    branches = "along"
    tables = ("fem_mbs.cli.report_stability:path_tables", "fem_mbs.cli.report:static_tables")
    sentences = "fem_mbs.cli.report_stability:path_sentences"
    figures = ("fem_mbs.plot.figures:load_path_figures", "fem_mbs.plot.figures:path_figures")

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, o = step.owner, step.options
        check_supports(step, context.model)
        check_path_supports(step, context)
        if o.eigenvalues is not None:
            check_sought(f"{owner}: eigenvalues", o.eigenvalues)
        if o.duration and (o.control != "load" or o.stability or o.line_search):
            raise ModelError(
                f"duration = {o.duration:g}: time passes under load control only",
                owner=owner,
                remedy="remove control, stability and line_search, or the duration",
            )
        given = bool(o.on) or bool(o.component) or o.displacement != 0.0
        if o.control == "displacement" and not (o.on and o.component and o.displacement != 0.0):
            raise ModelError('control = "displacement" needs on, component and displacement', owner=owner)
        if given and not (o.on and o.component):
            raise ModelError(
                "on, component and displacement belong together", owner=owner, remedy="give all of them or none"
            )
        axes = "xyz"[: context.model.dimension]
        if given and o.component not in axes:
            raise ModelError(
                f"component = {shown(o.component)} must be one of {', '.join(axes)}",
                owner=owner,
                key="component",
                value=o.component,
            )
        if np.isinf(o.until) and (o.control != "arc" or o.until < 0.0):
            raise ModelError(
                f'until = {o.until} needs control = "arc"', owner=owner, key="until", value=o.until,
                remedy="give a load factor",
            )  # fmt: skip
        if o.branch and o.control == "load":
            raise ModelError(f'branch = {o.branch} needs control = "arc" or "displacement"', owner=owner)
        if o.branch and not o.branch_size:
            raise ModelError("branch_size = 0 does not lead anywhere", owner=owner, remedy="give a small number")
        check_effects(step)

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.loading import chosen
        from fem_mbs.analysis.statics.equilibria import check_levels, controlled, varied

        owner, options, loading = step.owner, step.options, ahead.loading
        mask, weight = chosen(context.compiled, varied(step), owner, "vary", motions=True)
        if options.duration:
            loading.all_on(mask, weight)
        check_levels(loading, mask, weight, owner)
        loading.set(mask, weight, options.until if options.control == "load" else float("nan"))
        if weight:
            check_weight(owner, context, far=True)
        if options.on:
            controlled(context.model, context.system, options, owner)

    def moves(self, step: PlannedStep, context: RunContext) -> Any:
        from fem_mbs.analysis.loading import chosen
        from fem_mbs.analysis.statics.equilibria import varied

        return chosen(context.compiled, varied(step), step.owner, "vary", motions=True)[0]

    def kernels(self, options: Any) -> tuple[str, ...]:
        path = options.control != "load" or options.stability or options.line_search
        return ("statics",) if path else ("steps",)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> StaticReport:
        from fem_mbs.analysis.statics.equilibria import run_static
        from fem_mbs.analysis.switched import switched

        held = switched(step, context)
        found = run_static(step, held)
        if held.switched is not None:
            held.switched.end(context, held)
        points = found.pop("critical_points", None)
        criticals = None if points is None else [CriticalPoint(**point) for point in points]
        return StaticReport(**found, critical_points=criticals)

    def sentence(self, options: Any) -> str:
        if options.control == "arc":
            return f"static, along a path of at most {counted(options.points, 'point')}"
        what = "increment" if options.control == "load" else f"increment of the displacement of {options.on}"
        return f"static, {counted(options.increments, what)}"

    def quantities(self, report: StaticReport) -> Iterator[tuple[str, Any, str]]:
        for k, point in enumerate(report.critical_points or [], 1):
            yield f"critical_load_{k}", point.load_factor, ""
        yield from along_quantities(report.eigenvalues)


KIND = Static()
