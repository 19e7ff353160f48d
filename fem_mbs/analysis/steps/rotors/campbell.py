"""Campbell diagrams: eigenvalues of a rotor over its speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_harmonics, check_turning
from fem_mbs.analysis.steps.common.options import PERIODIC, Speeds, any_frame_key, harmonics_key
from fem_mbs.analysis.steps.common.values import COUNT, listed, spread
from fem_mbs.analysis.steps.common.words import counted, rounding_of_rotation
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import RATIOS
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.rotors.campbell import Branches, Critical
    from fem_mbs.model.model import Model

__all__ = ["Campbell", "CampbellReport", "CriticalSpeed", "KIND", "Options", "WhirlBranch"]

_TOLERANCE = 1e-6  # between critical speeds of branches and those of the direct search


Whirl = Literal["forward", "backward", "mixed", "collective", "differential", "support", "none"]


@dataclass(frozen=True, kw_only=True)
class WhirlBranch(Record):
    """A branch of eigenvalues over the speed."""

    eigenvalues: list[list[float]] = entry("[re, im] by speed, im >= 0", unit="1/s")
    whirl: list[Whirl] = entry(
        "by speed; none: along lines, or not across the axis; in multi-blade coordinates of the blades, collective: "
        "all alike, differential: neighbours against each other, support: they move less than the rest"
    )


@dataclass(frozen=True, kw_only=True)
class CriticalSpeed(Record):
    """A speed at which an order of the speed excites a mode."""

    speed: float = entry(unit="rad/s")
    branch: int | None = entry("from 0; null: none that was followed")
    whirl: Whirl = entry("of the mode")
    order: float = entry()
    eigenvalue: list[float] = entry("[re, im]", unit="1/s")
    direct: list[float] | None = entry(
        "speed by the direct search, [re, im]; null: matrices are not quadratic in the speed", unit="rad/s"
    )


@dataclass(frozen=True, kw_only=True)
class CampbellReport(StepReport, type="campbell"):
    """Eigenvalues of a rotor over its speed."""

    rotor: str = entry()
    frame: str = entry("in which the eigenvalues are", enum=["fixed", "rotating", "multi-blade", "periodic"])
    harmonics: int | None = entry("of the turn, in the frame periodic", optional=True)
    speeds: list[float] = entry(unit="rad/s")
    orders: list[float] = entry("of excitation")
    branches: list[WhirlBranch] = entry()
    critical_speeds: list[CriticalSpeed] = entry()
    stable: list[bool] = entry("by speed")
    largest_residual: float = entry(given=True)
    biorthogonality: float = entry(given=True)
    seconds: float = entry("wall time", unit="s")


@dataclass(frozen=True, kw_only=True)
class Options(Speeds):
    """Options of a Campbell step."""

    count: int = key(COUNT, "of modes to follow, the lowest that oscillate", 6)
    orders: Any = key(
        RATIOS,
        "list of k, for critical speeds where a mode oscillates k times per turn; none: unbalance, [1] in the fixed "
        "frame and [0] in the rotating one",
        None,
    )
    frame: str = any_frame_key()
    harmonics: int | None = harmonics_key()


class Campbell(StepKind):
    """Branches of eigenvalues about the steady rotation at every speed, and critical speeds."""

    name = "campbell"
    Options = Options
    Report = CampbellReport
    noun = "Campbell diagram"
    quantity_names = ("critical_speed_#", "stable")
    positional = ("rotor", "speeds", "count", "name")
    text = (
        "Add a Campbell diagram: eigenvalues of a rotor over its speed, about the steady rotation next to the state\n"
        "that the steps before have left: branches, senses of whirl, critical speeds."
    )
    notes = """\
At every speed the model is linearised about its steady rotation. Branches are followed by bi-orthogonal products of
left and right vectors; `critical_speeds` lists where they meet the lines of the orders, with what the direct search, an
eigenproblem in the speed, gives for them (`direct`)."""
    linear = stands = True
    tables = ("fem_mbs.cli.report_stability:campbell_tables",)
    sentences = "fem_mbs.cli.report_stability:campbell_sentences"
    figures = ("fem_mbs.plot.figures:campbell_figures",)
    branches = "speed"

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        found = dict(given)
        if "speeds" in given:
            found["speeds"] = spread(given["speeds"], owner, "speeds", "rad/s", 100_000)
        if found.get("orders") is not None:
            found["orders"] = listed(found["orders"], owner, "orders")
        return found

    def check(self, step: PlannedStep, context: RunContext) -> None:
        if len(step.options.speeds) < 2:
            raise ModelError(
                f"speeds = {list(step.options.speeds)} must be at least two, since branches are followed from one "
                "to the next",
                owner=step.owner,
                remedy="for one speed take a step of complex modes",
            )
        options = step.options
        check_harmonics(step.owner, options.frame, options.harmonics)
        if options.frame == PERIODIC and min(options.speeds) <= 0.0:
            raise ModelError(
                f"speeds begin at {min(options.speeds):g} {unit_of('rad/s')}; a rotor at rest has no turn to count "
                "harmonics of",
                owner=step.owner, key="speeds", remedy='begin above 0, or take another frame than "periodic"',
            )  # fmt: skip
        check_turning(step, context)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> CampbellReport:
        from time import perf_counter

        from fem_mbs.analysis.rotors.campbell import Spinning, critical_speeds, follow, spinning_at, unsettled
        from fem_mbs.analysis.rotors.rotating import rotation_of
        from fem_mbs.analysis.stability.rotation import outside_tables
        from fem_mbs.analysis.transient.watch import out_of_range

        options = step.options
        began = perf_counter()
        speeds = np.asarray(options.speeds, float)
        rotor = context.model.rotors[options.rotor]
        if options.frame == PERIODIC:
            spinning = Spinning(context.end, rotor)
            spinning.take_harmonics(speeds, options.count, options.harmonics)
        else:
            spinning = spinning_at(context.end, rotor, options.frame, speeds, blades=True)
        found = follow(spinning, speeds, options.count, lambda done: context.tell(step, done, len(speeds)))
        frame = found.spectra[0].lin.frame
        orders = options.orders
        if orders is None:
            orders = [0.0] if frame == "rotating" else [1.0]
        critical = critical_speeds(spinning, found, list(orders))
        p = np.where(found.values.imag < 0.0, found.values.conj(), found.values)
        senses = [[s.whirl(pair) for s, pair in zip(found.spectra, row, strict=True)] for row in found.pairs]
        context.recorder.append(
            {"time": speeds, "frequency": p.imag.T / (2.0 * np.pi), "growth rate": p.real.T.copy()}, None
        )
        return CampbellReport(
            name=step.name, rotor=options.rotor, frame=frame, harmonics=spinning.harmonics,
            speeds=speeds.tolist(), orders=[float(k) for k in orders],
            branches=[
                WhirlBranch(eigenvalues=[[float(v.real), float(v.imag)] for v in row], whirl=sense)
                for row, sense in zip(p, senses, strict=True)
            ],
            critical_speeds=[_critical_entry(c) for c in critical],
            stable=[s.stable for s in found.spectra],
            largest_residual=max(float(s.residuals.max(initial=0.0)) for s in found.spectra),
            biorthogonality=max(s.biorthogonality for s in found.spectra),
            seconds=round(perf_counter() - began, 4),
            warnings=[
                *_warnings(found.lost, critical, frame), *_rounded(found), *_changing(unsettled(spinning, found)),
                *outside_tables(context.system, rotation_of(context.compiled, rotor, 0.0), speeds),
                *out_of_range(context.compiled.system, spinning.steady(max(speeds, key=abs)).state),
            ],
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        return f'Campbell diagram of rotor "{options.rotor}" at {counted(len(options.speeds), "speed")}'

    def quantities(self, report: CampbellReport) -> Iterator[tuple[str, Any, str]]:
        for k, found in enumerate(report.critical_speeds or [], 1):
            yield f"critical_speed_{k}", found.speed, "rad/s"
        yield "stable", all(report.stable or [True]), ""


KIND = Campbell()


def _critical_entry(c: Critical) -> CriticalSpeed:
    return CriticalSpeed(
        speed=c.speed, branch=c.branch, whirl=c.whirl, order=float(c.order),
        eigenvalue=[float(c.value.real), float(c.value.imag)],
        direct=None if c.direct is None else [float(c.direct.real), float(c.direct.imag)],
    )  # fmt: skip


def _rounded(found: Branches) -> Iterator[str]:
    """Yield a warning where rounding of inertia forces leaves branches few digits."""
    from fem_mbs.solvers.eigen.modal_quantities import FEW_DIGITS

    most = np.abs(found.values).max(axis=0, initial=0.0)
    shares = [spectrum.lost(float(size)) for spectrum, size in zip(found.spectra, most, strict=True)]
    k = int(np.argmax(shares))
    if shares[k] > FEW_DIGITS:
        yield f"digits of branches are lost: {rounding_of_rotation(float(found.speeds[k]), shares[k])}"


def _changing(found: list[tuple[int, float]]) -> list[str]:
    return [
        f"branch {b + 1} changes with more harmonics of the turn at {at[0]:g} {unit_of('rad/s')}"
        + (f" and {len(at) - 1} more speeds" if len(at) > 1 else "")
        + "; give more harmonics"
        for b in sorted({b for b, _ in found})
        for at in [[speed for branch, speed in found if branch == b]]
    ]


def _warnings(lost: list[tuple[int, float]], critical: list[Critical], frame: str) -> list[str]:
    out = []
    for b in sorted({b for b, _ in lost}):
        at = [speed for branch, speed in lost if branch == b]
        out.append(
            f"branch {b + 1} could not be told from others at {at[0]:g} {unit_of('rad/s')}"
            + (f" and {len(at) - 1} more speeds" if len(at) > 1 else "")
            + "; take smaller intervals there"
        )
    for c in critical:
        undamped = abs(c.value.real) <= 1e-8 * abs(c.value)
        if c.direct is not None and undamped and abs(c.direct - c.speed) > _TOLERANCE * c.speed:
            out.append(
                f"the critical speed {c.speed:.9g} {unit_of('rad/s')} is {c.direct.real:.9g} by the direct search; "
                "take smaller intervals"
            )
        if c.branch is None and c.whirl != "none":
            out.append(
                f"the critical speed {c.speed:.9g} {unit_of('rad/s')} lies on no branch that was followed; ask for "
                "more modes"
            )
    if frame == "rotating":
        out.append(
            "eigenvalues are those in the rotating frame, where unbalance rests: what has the frequency f there has "
            "f + n or f - n seen from outside, at n turns per second"
        )
    return out
