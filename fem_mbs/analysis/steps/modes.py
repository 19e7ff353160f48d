"""Undamped modes about the state that the steps before have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_friction, check_preload, check_supports, check_without
from fem_mbs.analysis.steps.common.options import WITHOUT_TEXT, Supported
from fem_mbs.analysis.steps.common.values import (
    COUNT,
    FREQUENCY,
    NAMES,
    RATE_RANGE,
    RISING,
    limited,
    named,
    valued,
    whole,
)
from fem_mbs.analysis.steps.common.words import counted
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import CountCheck, StepReport
from fem_mbs.solvers.eigen import CHECKS
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.linear.modes.inside import Inside
    from fem_mbs.solvers.eigen.modes import RealModes

__all__ = ["Components", "KIND", "LeftOut", "Modes", "ModesReport", "Options", "Participation"]


@dataclass(frozen=True, kw_only=True)
class LeftOut(Record):
    """How many of the modes found lie outside of the bounds that are asked for."""

    below: int = entry()
    above: int = entry()


@dataclass(frozen=True, kw_only=True)
class Components(Record):
    """Size of a component mode synthesis: cut-off, kept modes, unknowns."""

    cutoff_hz: float = entry(unit="Hz")
    kept: dict[str, int] = entry("free modes by component, rigid-body ones included")
    unknowns: int = entry()
    dofs: int = entry("of all components, those of interfaces in each")
    seconds: dict[str, float] = entry(unit="s")


@dataclass(frozen=True, kw_only=True)
class Participation(Record):
    """Participation factors and effective masses, in translations and rotations about the axes of coordinates."""

    directions: list[str] = entry()
    factors: list[list[float]] = entry("[mode][direction]")
    effective_mass: list[list[float]] = entry("[mode][direction]", unit="kg, kg m^2")
    total: list[float] = entry("mass by direction", unit="kg, kg m^2")
    sums: list[float] = entry("shares of the total mass of all modes, by direction")


@dataclass(frozen=True, kw_only=True)
class ModesReport(StepReport, type="modes"):
    """Natural frequencies and modes about a state."""

    frequencies_hz: list[float] = entry(
        "ascending, rigid-body modes first as 0; negative: rate of growth over 2 pi", unit="Hz", member="frequency"
    )
    rigid_body_modes: int = entry(minimum=0)
    residuals: list[float] = entry()
    asymmetry: float = entry("of the stiffness, over its largest entry; the step takes the symmetric part", given=True)
    equations: int = entry(given=True)
    components: Components | None = entry(optional=True)
    count_check: CountCheck | None = entry(optional=True)
    backward_errors: list[float] | None = entry(optional=True)
    shifts: list[float] | None = entry("where the matrix was factored", unit="1/s^2", optional=True)
    factorisations: int | None = entry(optional=True, given=True)
    solves: int | None = entry(optional=True, given=True)
    left_out: LeftOut | None = entry(optional=True)
    participation: Participation = entry()


def _masters(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    for table in value:
        if not isinstance(table, dict) or set(table) != {"on", "components"}:
            return False
        words = table["components"]
        words = [words] if isinstance(words, str) else words
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            return False
    return True


MASTERS = valued("list of tables", "a list of tables {on = place, components = [...]}", _masters)


@dataclass(frozen=True, kw_only=True)
class Options(Supported):
    """Options of a modal step."""

    count: int = key(COUNT, "of modes", 10)
    without: Any = key(NAMES, WITHOUT_TEXT, "", shows="none")
    near: float | None = key(
        limited("a frequency of at least 0 [Hz]", 0.0),
        "frequency that the modes are to be nearest to, by the squares of frequencies, else the lowest",
        None,
        unit="Hz",
    )
    band: Any = key(
        RISING, "[low, high]: all modes between them, proved to be complete; `count` does not matter", None, unit="Hz"
    )
    within: Any = key(
        RATE_RANGE,
        "[low, high]: of the modes found only those between them are kept; `left_out` of the summary counts the others",
        None,
        unit="Hz",
    )
    check: str = key(
        ANY_TEXT,
        '"probe" (look from another start for what was missed), "inertia" (count them by a factorisation) or "none"',
        "probe",
        choices=CHECKS,
    )
    component_cutoff: float | None = key(
        FREQUENCY,
        "by synthesis of the `[[component]]`s, whose elastic modes up to this frequency are kept "
        "(where they say nothing else); about the start, without loads; none: of the whole model",
        None,
        unit="Hz",
    )
    masters: Any = key(
        MASTERS,
        "{on = place, components = [...]}: displacements that keep their inertia and carry that of all others, which "
        "follow them as in statics (Guyan)",
        None,
        shows="none: no reduction",
    )
    held_modes: int = key(
        whole(0), "of a reduction to `masters`: lowest modes with these held that are kept besides (Craig, Bampton)", 0
    )


class Modes(StepKind):
    """Real modes of K u = w^2 M u."""

    name = "modes"
    Options = Options
    Report = ModesReport
    positional = ("count", "name")
    text = (
        "Add undamped modes about the state that the steps before have left (at first: the start): the ``count``\n"
        "lowest, or with ``near`` [Hz] those of the nearest squares of frequencies, or all of a ``band`` (low, high)\n"
        "[Hz]."
    )
    noun = "modes"
    linear = stands = distributed = True
    shapes = "real"
    axis = "Mode [-]"
    carries = ("basis",)
    tables = ("fem_mbs.cli.report:modes_tables",)
    figures = ("fem_mbs.plot.figures:shapes_figures",)

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, options = step.owner, step.options
        check_preload(step, context.model)
        check_without(step, context)
        check_supports(step, context.model)
        check_friction(owner, context.system)
        context.system.refuse_states(owner, "undamped modes do", "take complex_modes")
        for a, b in (("within", "band"), ("near", "band")):
            if getattr(options, a) is not None and getattr(options, b) is not None:
                raise ModelError(f"{a} and {b} exclude each other", owner=owner, remedy="remove one")
        if options.held_modes and options.masters is None:
            raise ModelError("held_modes needs masters", owner=owner, remedy="name masters, or remove held_modes")
        if options.component_cutoff is None:
            return
        for name in ("near", "band", "preload", "supports", "without", "masters"):
            if getattr(options, name) not in (None, ""):
                raise ModelError(f"component_cutoff and {name} exclude each other", owner=owner, remedy="remove one")
        if not context.model.components:
            raise ModelError(
                "component_cutoff needs components", owner=owner, remedy="name sets of groups with [[component]]"
            )

    def check_distributed(self, step: PlannedStep, context: RunContext) -> None:
        for name in ("component_cutoff", "masters"):
            if getattr(step.options, name) is not None:
                raise ModelError(
                    f"{name} is not distributed", owner=step.owner, key=name,
                    remedy="remove it, or run without --backend",
                )  # fmt: skip
        inside = next((block for block in context.system.blocks if block.type.inside), None)
        if inside is not None:
            raise ModelError(
                f"the internal unknowns of elements of type {inside.type.name} take part in modes, which is not "
                "distributed", owner=step.owner, remedy="take another formulation, or run without --backend",
            )  # fmt: skip

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> ModesReport:
        from fem_mbs.analysis.linear.rows import record_shapes

        linear = context.linear.at(
            context, step.options.preload, supports=named(step.options.supports), without=named(step.options.without)
        )
        report, series, vectors = _found(linear, step, context)
        context.linear.below = 0 if report.left_out is None else report.left_out.below
        context.linear.shapes_of[step.name] = vectors
        squares = (2.0 * np.pi * np.asarray(series["frequency"])) ** 2
        record_shapes(context, linear, vectors, series, squares)
        return report

    def sentence(self, options: Any) -> str:
        if options.component_cutoff is not None:
            many = counted(options.count, "lowest mode")
            return f"the {many}, by components with their modes up to {options.component_cutoff:g} {unit_of('Hz')}"
        if options.band is not None:
            low, high = options.band
            return f"all modes from {low:g} to {high:g} {unit_of('Hz')}"
        if options.near is None:
            return f"the {counted(options.count, 'lowest mode')}"
        return f"{counted(options.count, 'mode')}, those nearest to {options.near:g} {unit_of('Hz')}"


KIND = Modes()


def _found(
    linear: Linearised, step: PlannedStep, context: RunContext
) -> tuple[ModesReport, dict[str, np.ndarray], np.ndarray]:
    """Return report, series and vectors (N, k) of a modal step, of unit modal mass."""
    from fem_mbs.analysis.linear.modes.inside import unknowns_inside
    from fem_mbs.solvers.eigen.modes import real_modes, translates

    options, owner = step.options, step.owner
    K, M, G = linear.stiffness, linear.mass, linear.rows
    linear.release()
    n, free = K.shape[0], None
    inside = None if G.shape[0] or options.component_cutoff is not None else unknowns_inside(linear)
    if inside is not None:
        free = translates(K)
        K, M = inside.problem(linear, K, M)
    w2 = [None if f is None else (2.0 * np.pi * np.asarray(f, float)) ** 2 for f in (options.near, options.band)]
    components = left_out = proof = None
    if G.shape[0]:
        if options.masters is not None:
            raise AnalysisError(f"{owner}: a mechanism as large as this is not reduced to masters; remove masters")
        if options.near is not None or options.band is not None:
            raise AnalysisError(
                f"{owner}: modes near a frequency or in a band need joints that can be eliminated, which those "
                "of this large mechanism cannot; ask for the lowest"
            )
        found = real_modes(K, M, options.count, G=G)
        found.vectors[:] /= np.sqrt(np.einsum("ik,ik->k", found.vectors, M @ found.vectors))
    elif options.component_cutoff is not None:
        from fem_mbs.analysis.components.synthesis import component_modes

        found, kept_modes = component_modes(linear, float(options.component_cutoff), options.count, owner)
        components = Components(**kept_modes)
    elif options.masters is not None:
        found = _condensed(linear, K, M, step, context, w2)
    elif w2[1] is not None:
        found = real_modes(K, M, band=tuple(w2[1]))
    else:
        near = None if w2[0] is None else float(w2[0])
        found = real_modes(K, M, options.count, near=near, free=free, check=options.check)
    f = np.sign(found.values) * np.sqrt(np.abs(found.values)) / (2.0 * np.pi)
    count = len(f)
    vectors, others, residuals = linear.expand(found.vectors[:n]), found.vectors[n:], found.residuals
    warnings = linear.notes
    unstable = int((found.values < 0.0).sum())
    if unstable:
        warnings.append(
            f"{unstable} squares of frequencies are negative: the state is unstable; such a frequency is given as a "
            "negative number, its size is the rate of growth over 2 pi"
        )
    if linear.unsymmetric:
        warnings.append(
            f"the stiffness is unsymmetric by {linear.asymmetry:.2g} of its largest entry (loads that follow the model "
            "or have no potential); its symmetric part was taken, complex_modes take it whole"
        )
    if any("centrifugal" in b.type.name for b in linear.system.blocks):
        warnings.append(
            "Coriolis forces of the turning frame are left out; they couple motions to and from the axis with those "
            "around it"
        )
    if found.expected is not None:
        proof = CountCheck(expected=int(found.expected), found=len(f))
        if found.expected > len(f):
            warnings.append(
                f"{found.expected} modes lie below the highest found, but only {len(f)} were found; ask for more"
            )
    rigid, backward = found.rigid, found.backward
    if options.within is not None:
        low, high = (float(v) for v in options.within)
        kept = (f >= low) & (f <= high)
        below, above = int((f < low).sum()), int((f > high).sum())
        left_out = LeftOut(below=below, above=above)
        if below + above:
            warnings.append(
                f"of the {count} modes computed {below} below {low:g} {unit_of('Hz')} and {above} above {high:g} "
                f"{unit_of('Hz')} are left out"
            )
        if high < np.inf and not above:
            warnings.append(
                f"no mode above {high:g} {unit_of('Hz')} was reached: there may be more below it; ask for more"
            )
        f, vectors, others, residuals = f[kept], vectors[:, kept], others[:, kept], residuals[kept]
        rigid = int(kept[:rigid].sum())
        backward = backward[kept]
    factored = not G.shape[0]  # the report of models with joints leaves out shifts and factorisations
    report = ModesReport(
        name=step.name, frequencies_hz=f.tolist(), rigid_body_modes=rigid, residuals=residuals.tolist(),
        asymmetry=linear.asymmetry, equations=K.shape[0], components=components, count_check=proof,
        backward_errors=backward.tolist() if factored else None,
        shifts=[float(s) for s in found.shifts] if factored else None,
        factorisations=found.effort.factorisations if factored else None,
        solves=found.effort.solves if factored else None, left_out=left_out,
        participation=_shares(linear, vectors, inside, others), warnings=warnings,
    )  # fmt: skip
    return report, {"frequency": f, "residual": residuals}, vectors


def _condensed(
    linear: Linearised, K: csr_matrix, M: csr_matrix, step: PlannedStep, context: RunContext, w2: list[Any]
) -> RealModes:
    """Return the modes of the model reduced to masters; ``w2``: what they are near to, and their band."""
    from fem_mbs.analysis.linear.modes.masters import condensed_modes, unknowns_of_masters

    options, owner = step.options, step.owner
    masters = unknowns_of_masters(linear, context.model.building, options.masters, owner)
    if w2[1] is not None:
        wanted: dict[str, Any] = {"band": tuple(w2[1])}
    else:
        wanted = {"count": options.count, "near": None if w2[0] is None else float(w2[0]), "check": options.check}
    return condensed_modes(K, M, masters, options.held_modes, owner, **wanted)


def _shares(linear: Linearised, vectors: np.ndarray, inside: Inside | None, others: np.ndarray) -> Participation:
    """Return the `_participation` of modes.

    Raises:
        AnalysisError: a mode moves no mass.
    """
    from fem_mbs.analysis.linear.spurious import unseen_motions

    try:
        return _participation(linear, vectors, inside, others)
    except ValueError as error:
        unseen = unseen_motions(linear)
        raise AnalysisError(str(error) if unseen is None else f"a mode moves no mass: {unseen.text}") from None


def _participation(linear: Linearised, vectors: np.ndarray, inside: Inside | None, others: np.ndarray) -> Participation:
    """Return factors and effective masses in translations and rotations about the axes of coordinates; ``others`` (m,
    k) are the modes' values of the unknowns ``inside`` elements, which are at rest in motions of the whole."""
    from fem_mbs.analysis.linear.modes.rigid import rigid_directions
    from fem_mbs.solvers.eigen.modal_quantities import participation

    names = ["x", "y", "z", "rx", "ry", "rz"]
    wanted = [0, 1, 5] if linear.system.dimension == 2 else list(range(6))
    directions = rigid_directions(linear)[:, wanted]
    if inside is not None:
        rest = np.zeros((len(others), directions.shape[1]))
        M = inside.mass_of_all(linear)
        found = participation(M, np.vstack((vectors, others)), np.vstack((directions, rest)))
    elif linear.eliminated and not linear.elimination.dependent.size:
        free = linear.elimination.free  # no dependent unknowns: the mass matrix of the free ones serves
        found = participation(linear.mass, vectors[free], directions[free])
    else:
        found = participation(linear.mass_matrix, vectors, directions)
    return Participation(
        directions=[names[i] for i in wanted],
        factors=found.factors.tolist(),
        effective_mass=found.effective.tolist(),
        total=found.total.tolist(),
        sums=found.sum_of_shares[-1].tolist() if len(found.share) else [0.0] * len(wanted),
    )
