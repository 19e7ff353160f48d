"""Linear buckling about the state that the steps before have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_friction, check_preload, check_stiffening, check_supports
from fem_mbs.analysis.steps.common.options import LOADS_TEXT, Supported
from fem_mbs.analysis.steps.common.values import COUNT, NAMES, named
from fem_mbs.analysis.steps.common.words import counted
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, FLAG
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import entry
from fem_mbs.results.report import CountCheck, StepReport
from fem_mbs.solvers.eigen import SIGNS

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["Buckling", "BucklingReport", "KIND", "Options"]

_ASYMMETRIC = 1e-6


@dataclass(frozen=True, kw_only=True)
class BucklingReport(StepReport, type="buckling"):
    """Load factors at which a state loses stability."""

    load_factors: list[float] = entry("by magnitude, of both signs", member="load_factor")
    residuals: list[float] = entry()
    asymmetry: float = entry("of the geometric stiffness", given=True)
    equations: int = entry(given=True)
    complex_factors: int | None = entry(
        "of loads without a potential, left out among the lowest", optional=True, minimum=0
    )
    count_check: CountCheck | None = entry(optional=True)


@dataclass(frozen=True, kw_only=True)
class Options(Supported):
    """Options of a buckling step."""

    count: int = key(COUNT, "of load factors", 4)
    loads: Any = key(NAMES, LOADS_TEXT + ", and grow until the model buckles", "all")
    sign: str = key(ANY_TEXT, '"both", "positive" or "negative" factors', "both", choices=SIGNS)
    check: bool = key(FLAG, "count the factors by the inertia", False)


class Buckling(StepKind):
    """Factors f of K u = -f Kg u, with the geometric stiffness of the loads."""

    name = "buckling"
    Options = Options
    Report = BucklingReport
    positional = ("count",)
    text = (
        "Add linear buckling about the state that the steps before have left: factors of smallest magnitude by which\n"
        "``loads`` must be added for the model to lose its stability."
    )
    noun = "buckling"
    linear = stands = equilibrium = distributed = True
    shapes = "real"
    axis = "Mode [-]"
    tables = ("fem_mbs.cli.report:buckling_tables",)
    figures = ("fem_mbs.plot.figures:shapes_figures",)

    def check(self, step: PlannedStep, context: RunContext) -> None:
        check_preload(step, context.model)
        check_supports(step, context.model)
        check_stiffening(step.owner, "buckling", context.model)
        check_friction(step.owner, context.system)

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.loading import chosen

        mask, weight = chosen(context.compiled, step.options.loads, step.owner, "loads")
        values = ahead.values(context.compiled)
        if not weight and not (mask if values is None else values[mask] != 0.0).any():
            raise ModelError("no load acts at its time", owner=step.owner, remedy="add a force, moment or gravity")

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> BucklingReport:
        from fem_mbs.analysis.linear.rows import record_shapes

        linear = context.linear.at(context, step.options.preload, supports=named(step.options.supports))
        report, series, vectors = _found(linear, step)
        context.linear.below = 0
        record_shapes(context, linear, vectors, series)
        return report

    def sentence(self, options: Any) -> str:
        return f"linear buckling, {counted(options.count, 'load factor')}"


KIND = Buckling()


def _found(linear: Linearised, step: PlannedStep) -> tuple[BucklingReport, dict[str, np.ndarray], np.ndarray]:
    """Return report, series and vectors (N, k) of a buckling step."""
    from fem_mbs.analysis.loading import chosen
    from fem_mbs.solvers.eigen.buckling import linear_buckling

    options, owner = step.options, step.owner
    mask, weight = chosen(linear.compiled, options.loads, owner, "loads")
    if not weight and not np.any(linear.values[mask]):
        raise ModelError("no load acts at its time", owner=owner, remedy="add a force, moment or gravity")
    K = linear.stiffness
    unsymmetric = linear.unsymmetric
    Kg = linear.reduce(linear.geometric_stiffness(linear.respond(mask, weight, owner=owner)))
    skew = abs(Kg - Kg.T)
    asymmetry = float(skew.max() / max(abs(Kg).max(), 1e-300)) if Kg.nnz else 0.0
    warnings = linear.notes
    unpotential = asymmetry > _ASYMMETRIC or unsymmetric
    if unpotential:
        what = "stiffness at the state" if unsymmetric else f"geometric stiffness by {asymmetry:.2g}"
        warnings.append(
            f"the {what} is unsymmetric: loads without a potential; the factors are loads of divergence, flutter may "
            "come first, which complex_modes about loaded states tells"
        )
    K = linear.whole_stiffness if unpotential else K
    found = linear_buckling(
        K, Kg, options.count, sign=options.sign, check=options.check, G=linear.rows, symmetric=not unpotential
    )
    counted = None
    if found.expected is not None:
        counted = CountCheck(expected=int(found.expected), found=len(found.factors))
        if found.expected > len(found.factors):
            warnings.append(
                f"{found.expected} factors lie up to the last one found, but only {len(found.factors)} were asked "
                "for or found; ask for more"
            )
    report = BucklingReport(
        name=step.name, load_factors=found.factors.tolist(), residuals=found.residuals.tolist(), asymmetry=asymmetry,
        equations=K.shape[0], complex_factors=found.complex or None, count_check=counted, warnings=warnings,
    )  # fmt: skip
    return report, {"load factor": found.factors, "residual": found.residuals}, linear.expand(found.vectors)
