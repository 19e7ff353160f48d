"""Undamped modes of a wheel by nodal diameters, from one sector, about the state that the steps before have left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_friction, check_preload, check_supports
from fem_mbs.analysis.steps.common.options import Supported
from fem_mbs.analysis.steps.common.values import COUNT, named, valued
from fem_mbs.analysis.steps.common.words import counted
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, shown
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import wholes
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["CyclicModesReport", "CyclicModesStep", "KIND", "Options", "WheelParticipation"]

#: Rigid motions of a wheel that have effective masses.
_DIRECTIONS = ("along", "across", "about", "tilt")
DIAMETERS = valued(
    "list of whole numbers", "a list of different whole numbers of at least 0",
    lambda v: isinstance(v, list) and len(v) > 0 and len(set(map(str, v))) == len(v)
    and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in v),
    wholes,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WheelParticipation(Record):
    """Effective masses of the whole wheel in translations and rotations along its axis and across it."""

    directions: list[str] = entry("along, across: translations; about, tilt: rotations about the axis and across it")
    effective_mass: list[list[float]] = entry("[mode][direction], of both copies of a wave together", unit="kg, kg m^2")
    total: list[float] = entry("mass of the wheel by direction", unit="kg, kg m^2")
    sums: list[float] = entry("shares of the total mass of all modes, by direction")


@dataclass(frozen=True, kw_only=True)
class CyclicModesReport(StepReport, type="cyclic_modes"):
    """Natural frequencies and modes of a wheel of equal sectors."""

    sectors: int = entry()
    nodal_diameters: list[int] = entry("of each mode, ascending", minimum=0)
    frequencies_hz: list[float] = entry(
        "of each mode, ascending within a nodal diameter, rigid-body modes first as 0; negative: rate of growth over "
        "2 pi",
        unit="Hz", member="frequency",
    )  # fmt: skip
    copies: list[int] = entry("modes of the wheel that each stands for: 2 where waves run in both directions")
    rigid_modes: int = entry("rigid-body modes among them", minimum=0)
    residuals: list[float] = entry()
    participation: WheelParticipation | None = entry(optional=True)
    asymmetry: float = entry("of the stiffness, over its largest entry; the step takes the symmetric part", given=True)
    equations: int = entry("of the largest problem", given=True)


@dataclass(frozen=True, kw_only=True)
class Options(Supported):
    """Options of a step of modes by nodal diameters."""

    count: int = key(COUNT, "of modes of each nodal diameter; waves in both directions are one", 10)
    nodal_diameters: Any = key(
        DIAMETERS, "those wanted, from 0 to half of the sectors", None, shows="all, from 0 to half of the sectors"
    )
    check: str = key(
        ANY_TEXT, '"probe" (look from another start for what was missed) or "none"', "probe", choices=("probe", "none")
    )


class CyclicModesStep(StepKind):
    """Real modes of K u = w^2 M u of a wheel."""

    name = "cyclic_modes"
    Options = Options
    Report = CyclicModesReport
    quantity_names = ("nodal_diameter_*_frequency_#",)
    positional = ("count", "name")
    text = (
        "Add undamped modes of a wheel by nodal diameters, from one sector with a `cyclic_symmetry`, about the state\n"
        "that the steps before have left (at first: the start): the ``count`` lowest of each of ``nodal_diameters``."
    )
    notes = """\
The displacements of sector j are those of the sector of the model, turned by j sectors and multiplied by
exp(i n j 2 pi/N) for the nodal diameter n."""
    noun = "modes by nodal diameters"
    linear = stands = True
    shapes = "complex"
    axis = "Mode [-]"
    tables = ("fem_mbs.cli.report:cyclic_modes_tables",)
    figures = ("fem_mbs.plot.figures:shapes_figures", "fem_mbs.plot.figures:diameters_figures")

    def check(self, step: PlannedStep, context: RunContext) -> None:
        if not context.model.cyclic:
            raise ModelError(
                "modes by nodal diameters need a cyclic symmetry",
                owner=step.owner,
                remedy="add [[cyclic_symmetry]], or take modes",
            )
        check_preload(step, context.model)
        check_supports(step, context.model)
        check_friction(step.owner, context.system)
        context.system.refuse_states(step.owner, "undamped modes do", "take complex_modes of the whole wheel")
        most = context.model.cyclic[0].sectors // 2
        for n in step.options.nodal_diameters or ():
            if n > most:
                raise ModelError(
                    f"nodal_diameters = {shown(step.options.nodal_diameters)}: a wheel of "
                    f"{context.model.cyclic[0].sectors} sectors has nodal diameters from 0 to {most}",
                    owner=step.owner, key="nodal_diameters", value=n,
                )  # fmt: skip

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> CyclicModesReport:
        linear = context.linear.at(context, step.options.preload, supports=named(step.options.supports))
        return _found(step, context, linear)

    def sentence(self, options: Any) -> str:
        diameters = options.nodal_diameters
        of = "all nodal diameters" if diameters is None else "the nodal diameters " + ", ".join(map(str, diameters))
        return f"the {counted(options.count, 'lowest mode')} of each of {of}"

    def quantities(self, report: CyclicModesReport) -> Iterator[tuple[str, Any, str]]:
        seen: dict[int, int] = {}
        for n, f in zip(report.nodal_diameters or [], report.frequencies_hz or [], strict=True):
            seen[n] = seen.get(n, 0) + 1
            yield f"nodal_diameter_{n}_frequency_{seen[n]}", f, "Hz"


KIND = CyclicModesStep()


def _found(step: PlannedStep, context: RunContext, linear: Linearised) -> CyclicModesReport:
    """Make the step: its rows, one frame per mode, and its report."""
    from fem_mbs.analysis.linear.modes.cyclic import sector_matrices, wheel_participation
    from fem_mbs.analysis.small_motions import scaled_frames
    from fem_mbs.solvers.eigen.sectors import sector_modes

    options, sectors = step.options, context.model.cyclic[0].sectors
    unsymmetric = linear.unsymmetric
    sector = sector_matrices(linear)
    wanted = options.nodal_diameters
    diameters = sorted(range(sectors // 2 + 1) if wanted is None else wanted)
    found = []
    for done, n in enumerate(diameters):
        context.tell(step, done, len(diameters))
        try:
            found.append(sector_modes(sector, 2.0 * np.pi * n / sectors, options.count, options.check))
        except AnalysisError as error:
            raise type(error)(f"nodal diameter {n}: {error}", owner=step.owner) from None
    number = np.concatenate([np.full(len(modes.values), n) for n, modes in zip(diameters, found, strict=True)])
    w2, residuals = (np.concatenate([getattr(modes, name) for modes in found]) for name in ("values", "residuals"))
    X = np.zeros((context.system.n_dof, len(w2)), complex)
    X[: linear.first] = np.concatenate([modes.vectors[: linear.first] for modes in found], axis=1)
    f = np.sign(w2) * np.sqrt(np.abs(w2)) / (2.0 * np.pi)
    warnings = linear.notes
    unstable = int((w2 < 0.0).sum())
    if unstable:
        warnings.append(
            f"{unstable} squares of frequencies are negative: the state is unstable; such a frequency is given as a "
            "negative number, its size is the rate of growth over 2 pi"
        )
    if unsymmetric:
        warnings.append(
            f"the stiffness is unsymmetric by {linear.asymmetry:.2g} of its largest entry (loads that follow the model "
            "or have no potential); its symmetric part was taken"
        )
    if any("centrifugal" in b.type.name for b in linear.system.blocks):
        warnings.append(
            "Coriolis forces of the turning frame are left out; they couple motions to and from the axis with those "
            "around it"
        )
    mode = np.arange(1.0, len(w2) + 1.0)
    series = {"time": mode, "frequency": f, "nodal diameter": number.astype(float), "residual": residuals}
    context.recorder.append(series, scaled_frames(context, linear, X, mode))
    vectors = np.concatenate([modes.vectors for modes in found], axis=1)
    effective, total = wheel_participation(linear, sector, number, vectors)
    keep = [1, 2] if context.model.dimension == 2 else [0, 1, 2, 3]
    part = WheelParticipation(
        directions=[_DIRECTIONS[i] for i in keep], effective_mass=effective[:, keep].tolist(),
        total=total[keep].tolist(),
        sums=(effective.sum(axis=0) / np.where(total > 0.0, total, 1.0))[keep].tolist(),
    )  # fmt: skip
    copies = [modes.copies for modes in found for _ in modes.values]
    return CyclicModesReport(
        name=step.name, sectors=sectors, nodal_diameters=number.tolist(), frequencies_hz=f.tolist(), copies=copies,
        rigid_modes=sum(modes.rigid for modes in found), residuals=residuals.tolist(),
        participation=part, asymmetry=linear.asymmetry, equations=max(modes.equations for modes in found),
        warnings=warnings,
    )  # fmt: skip
