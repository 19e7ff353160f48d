"""Complex modes: small motions exp(p t) about the state that the steps before have left, at rest or moving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import (
    check_harmonics,
    check_named,
    check_preload,
    check_rotor,
    check_sought,
)
from fem_mbs.analysis.steps.common.options import (
    MULTI_BLADE,
    PERIODIC,
    About,
    Sought,
    Turning,
    any_frame_key,
    harmonics_key,
)
from fem_mbs.analysis.steps.common.values import named
from fem_mbs.analysis.steps.common.words import counted, rounding_of_rotation, sought
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, FLAG
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.modes.eigenvalues import NEUTRAL, damping_ratio, growth_rates
from fem_mbs.results.report import StepReport

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.stability.linearisation import Linearisation
    from fem_mbs.solvers.eigen.complex_modes import ComplexModes

__all__ = ["BladeShares", "ComplexModesReport", "ComplexModesStep", "EigenvalueEffort", "KIND", "Options"]

_DOUBTFUL = 1e-3  # residual of a mode with which it has few digits
_MOST = 200  # eigenvalues in the table of a sweep


@dataclass(frozen=True, kw_only=True)
class EigenvalueEffort(Record):
    """Effort of the search for eigenvalues."""

    factorisations: int = entry()
    solves: int = entry()
    steps: int = entry("of the two-sided recurrence, and rounds of the subspace of large parts")
    breakdowns: int = entry("of the recurrence")
    corrections: int = entry()


@dataclass(frozen=True, kw_only=True)
class BladeShares(Record):
    """Motion of the blades of a rotor in a mode; shares are squares of displacements weighted by masses, of 1."""

    name: str = entry(
        "of the mode: the harmonic that leads, or support where the blades move less than the rest",
        enum=["collective", "forward", "backward", "differential", "mixed", "support"],
    )
    collective: float = entry("all blades alike")
    forward: float = entry("waves that run as the rotor turns, seen in space")
    backward: float = entry("waves that run against it")
    differential: float = entry("neighbours against each other, of an even number of blades")
    support: float = entry("what is not in blades")


@dataclass(frozen=True, kw_only=True)
class ComplexModesReport(StepReport, type="complex_modes"):
    """Eigenvalues and shapes of small motions about a state that may move."""

    eigenvalues: list[list[float]] = entry(
        "p of exp(p t), [real, imaginary] [1/s], one of each conjugate pair, rigid-body motions first as 0"
    )
    frequencies_hz: list[float] = entry("|imaginary|/2 pi", unit="Hz", member="frequency")
    damping_ratios: list[float] = entry("-real/|p|", member="damping_ratio")
    residuals: list[float] = entry("of right or left vectors, the larger")
    backward_errors: list[float] = entry()
    biorthogonality: float = entry("largest product of left and right vectors of two modes", given=True)
    rigid_body_modes: int = entry(minimum=0)
    zeros: int = entry("eigenvalues 0 that these stand for", given=True, minimum=0)
    frame: str = entry(enum=["fixed", "rotating", "multi-blade", "periodic"])
    blades: list[BladeShares] | None = entry("of modes in multi-blade coordinates, by mode", optional=True)
    rotor: str = entry("that turns steadily, empty: none")
    speed: float | None = entry("of the rotor, or of the frame", unit="rad/s", given=True)
    basis: str | None = entry("modal step whose shapes span the motions, empty: none", optional=True)
    stable: bool = entry("no damping ratio below -1e-6 among the modes found")
    time: float = entry(unit="s", given=True)
    covered: list[float | None] | None = entry(
        "of right-most modes: |imaginary| and |real| up to which was looked, null: all", unit="1/s", optional=True
    )
    equations: int = entry(given=True)
    constraints: int = entry(given=True)
    shifts: list[list[float]] = entry("where matrices were factored, [real, imaginary]", unit="1/s")
    effort: EigenvalueEffort = entry()


@dataclass(frozen=True, kw_only=True)
class Options(About, Turning, Sought):
    """Options of a step of complex modes."""

    frame: str = any_frame_key()
    harmonics: int | None = harmonics_key()
    coriolis: bool = key(FLAG, "at rest in the frame of a centrifugal load: with its Coriolis forces", False)
    basis: str = key(
        ANY_TEXT,
        "name of a modal step before, whose shapes alone span the motions (as CalculiX does); none: all motions",
        "",
    )


class ComplexModesStep(StepKind):
    """Eigenvalues p of (p^2 M + p C + K) x = 0."""

    name = "complex_modes"
    Options = Options
    Report = ComplexModesReport
    quantity_names = ("growth_rate_#",)
    positional = ("count", "name")
    text = (
        "Add damped, gyroscopic and unstable modes exp(p t), p = real + i imaginary [1/s], about the state that the\n"
        "steps before have left, at rest or in motion; with a ``rotor``, about the state in which it turns steadily\n"
        "with ``speed`` [rad/s] (None: as it does there)."
    )
    notes = """\
It stands about what the steps before have left: an equilibrium, an instant of a transient (its matrices are held as
they are then), or, with `rotor`, the state in which that turns steadily, which is found from there. Loads that no step
has brought in do not act."""
    noun = "complex modes"
    linear = stands = True
    shapes = "complex"
    axis = "Mode [-]"
    tables = ("fem_mbs.cli.report_stability:complex_modes_tables",)
    sentences = "fem_mbs.cli.report_stability:complex_modes_sentences"
    figures = ("fem_mbs.plot.figures:shapes_figures", "fem_mbs.plot.figures:roots_figures")

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, options = step.owner, step.options
        check_preload(step, context.model)
        check_sought(owner, options)
        check_rotor(owner, options, context.model)
        if options.coriolis and context.turning is None:
            raise ModelError(
                "coriolis belongs to the frame of a centrifugal load, which the model does not have", owner=owner
            )
        if (options.coriolis or options.basis) and options.rotor:
            raise ModelError(
                "a rotor turns by itself, with all its modes",
                owner=owner,
                remedy="remove coriolis and basis, or the rotor",
            )
        if options.frame == PERIODIC and not options.rotor:
            raise ModelError('frame = "periodic" needs a rotor', owner=owner, remedy="name it in rotor")
        check_harmonics(owner, options.frame, options.harmonics)
        if options.basis:
            check_named(step, context.model, "basis")

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> ComplexModesReport:
        options = step.options
        if options.coriolis or options.basis or options.preload:
            return _at_rest(step, context)
        return _moving(step, context)

    def sentence(self, options: Any) -> str:
        about = f" of {options.rotor} turning" if options.rotor else ""
        return f"{counted(options.count, 'complex mode')}{about}, {sought(options)}"

    def quantities(self, report: ComplexModesReport) -> Iterator[tuple[str, Any, str]]:
        for k, (growth, _) in enumerate((report.eigenvalues or [])[:_MOST], 1):
            yield f"growth_rate_{k}", growth, "1/s"


KIND = ComplexModesStep()


def _moving(step: PlannedStep, context: RunContext) -> ComplexModesReport:
    """Make the step about a state that may move: its rows, one frame per mode, and its report."""
    from fem_mbs.analysis.small_motions import linearised, modes_of

    options = step.options
    rotor = context.model.rotors[options.rotor] if options.rotor else None
    lin, warnings = linearised(context.end, rotor, options.speed, options.frame, blades=True)
    modes, rows, X, shares, more = modes_of(lin, options.frame, options, options.harmonics, step.owner)
    warnings += [*more, *_rounding_of_rotation(lin, shares)]
    context.linear.linearisation, context.linear.complex_modes = lin, modes
    p = modes.values[rows]
    blades = None
    if lin.frame == MULTI_BLADE:
        from dataclasses import asdict

        from fem_mbs.analysis.rotors.multiblade import blade_motions

        blades = [BladeShares(name=m.name, **asdict(m)) for m in blade_motions(lin, p, X)]
    about = {
        "frame": PERIODIC if options.frame == PERIODIC else lin.frame, "rotor": options.rotor,
        "speed": lin.rotation.speed if lin.rotation is not None else None,
        **({"blades": blades} if blades is not None else {}),
        "stable": bool((growth_rates(p) <= NEUTRAL * np.abs(p)).all()), "time": float(context.time),
        **({"covered": list(modes.covered)} if modes.covered is not None else {}),
        "equations": int(lin.dofs.size), "constraints": int(lin.G.shape[0]),
    }  # fmt: skip
    return _finished(step, context, modes, rows, lin, X, about, warnings)


def _rounding_of_rotation(lin: Linearisation, shares: np.ndarray) -> Iterator[str]:
    """Yield a warning where the inertia forces of a rotation are so large that their rounding changes the modes."""
    from fem_mbs.solvers.eigen.modal_quantities import FEW_DIGITS

    doubtful = shares > FEW_DIGITS
    if lin.rotation is not None and doubtful.any():
        many = f"digits are lost in {doubtful.sum()} of the modes"
        yield f"{many}: {rounding_of_rotation(lin.rotation.speed, float(shares.max()))}"


def _at_rest(step: PlannedStep, context: RunContext) -> ComplexModesReport:
    """Make the step about a state at rest, perhaps seen from the frame of a centrifugal load, perhaps in the span of
    shapes of a modal step: its rows, one frame per mode, and its report."""
    from fem_mbs.analysis.small_motions import selection, upper_rows
    from fem_mbs.analysis.stability.turning_frame import turning_modes

    options = step.options
    linear = context.linear.at(context, options.preload)
    basis = context.linear.shapes_of[options.basis] if options.basis else None
    modes, X, speed = turning_modes(linear, basis, options.coriolis, 2 * options.count, selection(options), step.owner)
    rows = upper_rows(modes, options.count)
    warnings = linear.notes
    if basis is not None:
        warnings.append(
            f'the motions are those of the {basis.shape[1]} modes of "{options.basis}": what others would add is '
            "missing, most in the highest"
        )
        of_basis = next(step.options for step in context.plan if step.name == options.basis)
        if groups := ", ".join(f'"{name}"' for name in named(of_basis.supports)):
            warnings.append(f'the modes of "{options.basis}" hold the supports of {groups}, so these hold here too')
    about = {
        "frame": "fixed" if speed is None else "rotating", "rotor": "", "speed": speed, "basis": options.basis,
        "stable": bool((damping_ratio(modes.values[rows]) >= -NEUTRAL).all()), "time": linear.t,
        "equations": int(linear.stiffness.shape[0]), "constraints": int(linear.rows.shape[0]),
    }  # fmt: skip
    return _finished(step, context, modes, rows, linear, X[:, rows], about, warnings)


def _finished(
    step: PlannedStep, context: RunContext, modes: ComplexModes, rows: np.ndarray, lin: Linearisation | Linearised,
    X: np.ndarray, about: dict[str, Any], warnings: list[str],
) -> ComplexModesReport:  # fmt: skip
    """Record the modes in ``rows`` with their shapes X (N, k), and report on them; ``about`` are the entries of the
    report on the state and the equations."""
    from fem_mbs.analysis.small_motions import scaled_frames

    p = modes.values[rows]
    if not rows.size and step.options.which == "nearest":
        raise AnalysisError(f"{step.owner}: nothing that can move has a mass; give the parts a density or add masses")
    if rows.size < modes.rigid + step.options.count:
        warnings.append(f"there are no more than these {rows.size} modes")
    doubtful = rows[modes.rigid :][modes.residuals[rows[modes.rigid :]] > _DOUBTFUL]
    if doubtful.size:
        warnings.append(
            f"forces of {doubtful.size} of the modes cancel to the round-off of their numbers (residuals up to "
            f"{modes.residuals[doubtful].max():.1e}, backward errors {modes.backward[doubtful].max():.1e}): as many of "
            "their digits are lost; look at speeds, stiffnesses and masses that are far larger than the others"
        )
    number = np.arange(1.0, rows.size + 1.0)
    series = {
        "time": number, "eigenvalue": np.column_stack((p.real, p.imag)), "frequency": np.abs(p.imag) / (2.0 * np.pi),
        "damping ratio": damping_ratio(p), "residual": modes.residuals[rows],
    }  # fmt: skip
    context.recorder.append(series, scaled_frames(context, lin, X, number) if rows.size else None)
    effort = modes.effort
    return ComplexModesReport(
        name=step.name,
        eigenvalues=np.column_stack((p.real, p.imag)).tolist(),
        frequencies_hz=series["frequency"].tolist(),
        damping_ratios=series["damping ratio"].tolist(),
        residuals=modes.residuals[rows].tolist(),
        backward_errors=modes.backward[rows].tolist(),
        biorthogonality=modes.biorthogonality,
        rigid_body_modes=modes.rigid, zeros=modes.zeros,
        **about,
        shifts=[[s.real, s.imag] for s in modes.shifts],
        effort=EigenvalueEffort(
            factorisations=effort.factorisations, solves=effort.solves, steps=effort.steps,
            breakdowns=effort.breakdowns, corrections=effort.corrections,
        ),
        warnings=warnings,
    )  # fmt: skip
