"""Map stability over one or two parameters: eigenvalues about a state that is recomputed at every point of a grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_harmonics, check_rotor, check_sought
from fem_mbs.analysis.steps.common.options import Sought, Turning, any_frame_key, harmonics_key
from fem_mbs.analysis.steps.common.values import valued, whole
from fem_mbs.analysis.steps.common.words import counted, sought
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import tables
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext

__all__ = ["KIND", "MapParameter", "Options", "StabilityMap", "StabilityMapReport"]


@dataclass(frozen=True, kw_only=True)
class MapParameter(Record):
    """A parameter of the map."""

    name: str = entry()
    unit: str = entry()
    values: list[float] = entry()


@dataclass(frozen=True, kw_only=True)
class StabilityMapReport(StepReport, type="stability_map"):
    """The largest growth rate over one or two parameters."""

    what: str = entry("that figures show", enum=["growth", "frequency"])
    parameters: list[MapParameter] = entry("one or two; rows go with the first, columns with the second")
    growth: list[list[float | None]] = entry("largest real part, null: no state or no modes", unit="1/s")
    frequency: list[list[float | None]] = entry("of the mode that has it", unit="Hz")
    stable: list[list[bool]] = entry()
    boundary: list[list[float]] = entry("points at which stability is lost, where refine asks for them")
    time: float = entry(unit="s", given=True)


@dataclass(frozen=True, kw_only=True)
class Options(Turning, Sought):
    """Options of a stability map."""

    parameters: Any = key(
        valued(
            "list of tables", "one or two tables, each with what it varies and its values",
            lambda v: isinstance(v, dict) or (isinstance(v, list) and 1 <= len(v) <= 2),
            tables(names=("load", "rotor", "element", "number", "name")),
        ),
        'one or two tables: `values` (rising), and `load` (a name, a list or "all": factors), `rotor` (speeds), '
        "or `element` and `number` (a number of elements as their type calls it: stiffness, damping, mass_damping, "
        "coefficient ...; with `factor = true` values multiply it); `name` for figures",
        unit="speeds: rad/s",
    )  # fmt: skip
    check: str = key(
        ANY_TEXT, '"none", or "probe" (look for copies of multiple eigenvalues)', "none", choices=("none", "probe")
    )
    frame: str = any_frame_key()
    harmonics: int | None = harmonics_key()
    refine: int = key(
        whole(0, 60), "so many times intervals in which stability is lost are halved: `boundary` of the summary", 0
    )
    what: str = key(ANY_TEXT, '"growth" or "frequency": what figures show', "growth", choices=("growth", "frequency"))


class StabilityMap(StepKind):
    """The largest growth rate Re p [1/s], and the frequency of the mode that has it, at every point of a grid."""

    name = "stability_map"
    Options = Options
    Report = StabilityMapReport
    noun = "stability map"
    quantity_names = ("growth_rate_max", "stable_share")
    positional = ("parameters", "count", "name")
    text = (
        "Add a stability map: largest growth rate and its frequency over one or two parameters; the steps before are\n"
        "made anew at every point, and small motions are about the state that they leave (`complex_modes_step`)."
    )
    notes = """\
The steps before are made anew at every point of the grid, up to the state that they leave. Its summary has the largest
growth rate (real part) and the frequency of that mode at every point."""
    linear = stands = True
    branches = "parameter"
    tables = ("fem_mbs.cli.report_stability:map_tables",)
    sentences = "fem_mbs.cli.report_stability:path_sentences"
    figures = ("fem_mbs.plot.figures:map_figures",)

    def check(self, step: PlannedStep, context: RunContext) -> None:
        from fem_mbs.analysis.stability_points import read_parameters

        owner, options = step.owner, step.options
        found = read_parameters(owner, options.parameters, context)
        if len(found) == 2 and found[0].name == found[1].name:
            raise ModelError(f"both parameters are the {found[0].name}", owner=owner, remedy="vary two different ones")
        check_sought(owner, options)
        check_harmonics(owner, options.frame, options.harmonics)
        rotors = [p for p in found if p.kind == "rotor"]
        if not rotors:
            check_rotor(owner, options, context.model)
        elif options.rotor not in ("", rotors[0].target) or options.speed is not None:
            raise ModelError(
                f'the speed of "{rotors[0].target}" is varied', owner=owner, remedy="remove rotor and speed"
            )

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.loading import chosen
        from fem_mbs.analysis.stability_points import read_parameters

        for p in read_parameters(step.owner, step.options.parameters, context):
            if p.kind == "load":
                chosen(context.compiled, p.target, step.owner, "load")

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> StabilityMapReport:
        from fem_mbs.analysis.stability_points import Points, boundary_of, largest, read_parameters

        owner, options = step.owner, step.options
        parameters = read_parameters(owner, options.parameters, context)
        points = Points(step, context, parameters)
        axes = [p.values for p in parameters]
        shape = tuple(a.size for a in axes)
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        growth, frequency, stable = np.zeros(len(grid)), np.zeros(len(grid)), np.zeros(len(grid), bool)
        eigenvalues = np.full((len(grid), 2 * options.count), np.nan)
        for k, values in enumerate(grid):  # of runs: each is a model of its own
            p = points.eigenvalues(values.tolist())
            growth[k], frequency[k], stable[k] = largest(p)
            some = np.column_stack((p.real, p.imag)).ravel()[: eigenvalues.shape[1]]
            eigenvalues[k, : some.size] = some
            context.tell(step, k + 1, len(grid))
        failed = np.isnan(growth)
        if failed.all():
            raise AnalysisError(f"{owner}: no point has a state with modes; the first: {points.failed[0]}")
        first_failure = points.failed[0] if failed.any() else ""
        boundary, lost = boundary_of(points, axes, stable.reshape(shape), failed.reshape(shape), options.refine)
        context.recorder.append(
            {
                "time": np.arange(1.0, len(grid) + 1.0), "parameters": grid, "growth": growth, "frequency": frequency,
                "eigenvalues": eigenvalues,
            },
            None,
        )  # fmt: skip
        rows = (shape[0], -1)
        warnings = [f"at {n} points: {text}" for text, n in points.warnings.items()]
        if failed.any():
            warnings.append(
                f"{int(failed.sum())} of {failed.size} points have no state or modes; the first: {first_failure}"
            )
        if lost:
            warnings.append(
                f"the boundary of stability is left out in {counted(lost, 'interval')}, where points between have no "
                f"state or modes; the last: {points.failed[-1]}"
            )
        return StabilityMapReport(
            name=step.name, what=options.what,
            parameters=[MapParameter(name=p.name, unit=p.unit, values=p.values.tolist()) for p in parameters],
            growth=_plain(growth.reshape(rows)), frequency=_plain(frequency.reshape(rows)),
            stable=stable.reshape(rows).tolist(),
            boundary=boundary,
            time=float(context.time),
            warnings=warnings,
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        many = 1 if isinstance(options.parameters, dict) else len(options.parameters)
        return f"stability over {counted(many, 'parameter')}, {sought(options)}"

    def quantities(self, report: StabilityMapReport) -> Iterator[tuple[str, Any, str]]:
        growth = [g for row in report.growth or [] for g in row if g is not None]
        stable = [s for row in report.stable or [] for s in row]
        if growth:
            yield "growth_rate_max", max(growth), "1/s"
        if stable:
            yield "stable_share", sum(stable) / len(stable), ""


KIND = StabilityMap()


def _plain(a: np.ndarray) -> list[list[float | None]]:
    return [[float(v) if np.isfinite(v) else None for v in row] for row in a]
