"""Harmonic response: steady vibrations about the state that the steps before have left."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.steps.common.checks import check_friction, check_preload
from fem_mbs.analysis.steps.common.options import RAYLEIGH_TEXT, TIME_TEXT, About
from fem_mbs.analysis.steps.common.values import (
    COUNT,
    FREQUENCY,
    RATIOS,
    RAYLEIGH,
    limited,
    number,
    spread,
    valued,
    whole,
)
from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import ANY_TEXT, FLAG, NUMBER
from fem_mbs.declarations.steps import PlannedStep, StepKind
from fem_mbs.declarations.texts import tables
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.report import StepReport
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import Ahead, RunContext
    from fem_mbs.model.model import Model
    from fem_mbs.model.sensors.sensor import Sensor

__all__ = ["HarmonicLoad", "HarmonicReport", "HarmonicResponse", "KIND", "Options", "Peak"]

METHODS = ("auto", "direct", "modal")
_SHOWN = 0.1  # [s] between two lines of progress

_LISTED = valued(
    "list or table", "a list, or a table", lambda v: isinstance(v, (list, dict)),
    tables(names=("spacing",), whole=("n",)),
)  # fmt: skip
_NAMED = valued(
    "name or list of names", '"all", a name or a list of names',
    lambda v: bool(v) and (all(isinstance(n, str) for n in v) if isinstance(v, list) else isinstance(v, str)),
)  # fmt: skip


def _table(what: str) -> Any:
    return valued(
        "table", f"a table of {what} by the names of loads",
        lambda v: isinstance(v, dict) and all(number(n) for n in v.values()), tables(),
    )  # fmt: skip


def _is_spectrum(rows: Any) -> bool:
    """Return whether these are rows [frequency, amplitude] or [frequency, amplitude, phase] of rising frequencies."""
    if not isinstance(rows, list) or not rows:
        return False
    if not all(isinstance(r, list) and len(r) in (2, 3) and all(number(v) for v in r) for r in rows):
        return False
    return all(a[0] < b[0] for a, b in itertools.pairwise(rows))


_SPECTRA = valued(
    "table",
    "a table of lists of rows [frequency, amplitude, phase], of rising frequencies, by the names of loads",
    lambda v: isinstance(v, dict) and all(_is_spectrum(rows) for rows in v.values()),
    tables(),
)


_INTERVALS = valued(
    "table", "a table {n, bias}, n a whole number of at least 2 and bias at least 1",
    lambda v: isinstance(v, dict) and {"n"} <= set(v) <= {"n", "bias"} and type(v["n"]) is int
    and 2 <= v["n"] <= 100_000 and number(v.get("bias", 3.0)) and v.get("bias", 3.0) >= 1.0,
    tables(whole=("n",)),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class HarmonicLoad(Record):
    """A load that acts."""

    name: str = entry("all, or all others: those that nothing was said of")
    amplitude: float = entry("of its function, of several the largest; of a spectrum the largest")
    phase: float = entry(unit="degrees")


@dataclass(frozen=True, kw_only=True)
class Peak(Record):
    """The largest response of a column of a sensor."""

    sensor: str = entry()
    column: str = entry()
    unit: str = entry()
    amplitude: float = entry("the largest")
    frequency: float = entry("at which it is", unit="Hz")
    phase: float = entry("there, of amplitude cos(2 pi f t + phase)", unit="degrees")


@dataclass(frozen=True, kw_only=True)
class HarmonicReport(StepReport, type="harmonic"):
    """Steady vibrations over the frequency."""

    time: float = entry("at which amplitudes were taken from functions", unit="s", given=True)
    method: str = entry(enum=["direct", "modal"])
    frequencies: list[float] = entry(unit="Hz")
    loads: list[HarmonicLoad] = entry()
    modes: int | None = entry("of the modal method", optional=True)
    natural_frequencies: list[float] | None = entry("of these", unit="Hz", optional=True)
    residual_vectors: int | None = entry("of the modal method", optional=True)
    structural: float = entry("loss factor")
    peaks: list[Peak] = entry()
    equations: int = entry(given=True)
    seconds: float = entry("wall time", unit="s")


@dataclass(frozen=True, kw_only=True)
class Options(About):
    """Options of a step of harmonic response."""

    frequencies: Any = key(
        _LISTED,
        'a rising list, or {start, end, n, spacing}, n intervals, equal ("linear") or of equal ratio ("log")',
        unit="Hz",
    )
    loads: Any = key(
        _NAMED,
        '"all" (but gravity and centrifugal loads), or a list of loads, "gravity", motions, driven joints, '
        'base excitations and references of controllers ("MOTOR.reference", with an amplitude where position = 0)',
        "all",
    )
    amplitudes: Any = key(
        _table("numbers"),
        "values that the functions of loads have as amplitudes, by their names (of gravity: a factor; of what is given "
        "by an acceleration or speed: of that; of a centrifugal load: of the square of the speed); "
        "of those it does not name the function's value at `time`",
        None,
    )
    phases: Any = key(
        _table("angles [degrees]"),
        "table of phases by the names of loads: amplitude cos(2 pi f t + phase); others have none",
        None,
        unit="degrees",
    )
    spectra: Any = key(
        _SPECTRA,
        "amplitudes that change with the frequency, by the names of loads: rows [frequency, amplitude, phase], or "
        "without phase, amplitude and phase linear between them; instead of `amplitudes` and `phases`",
        None,
        unit="Hz, degrees",
    )
    method: str = key(
        ANY_TEXT,
        '"direct" (a factorisation per frequency), "modal", or "auto": modal for large models without damping or '
        "where one of the keys of modes is given",
        METHODS[0],
        choices=METHODS,
    )
    modes: int | None = key(COUNT, "so many of the lowest, instead of `cutoff`", None)
    cutoff: float | None = key(
        FREQUENCY,
        "all modes up to this frequency are taken, beyond it the static deflections of the "
        "loads; none: twice the highest frequency",
        None,
        unit="Hz",
    )
    damping: Any = key(RATIOS, "ratio of all modes, or a list of ratios, its last one for all further modes", None)
    rayleigh: Any = key(RAYLEIGH, RAYLEIGH_TEXT, None, unit="1/s, s")
    structural: float = key(
        limited("a loss factor of at least 0", 0.0), "loss factor eta of the stiffness, K (1 + i eta)", 0.0
    )
    coriolis: bool = key(FLAG, "in the frame of a centrifugal load: with its Coriolis forces", False)
    intervals: Any = key(
        _INTERVALS,
        "table {n, bias}: of `frequencies` the first and the last one count, and there are n in each interval between "
        "them and the natural ones, the ends included; a bias above 1 (by default 3) draws them to the ends; by modes "
        "only",
        None,
    )
    residual: bool = key(
        FLAG,
        "whether modes are joined by static deflections of the loads; those of what is prescribed always are",
        True,
    )
    frames: int = key(
        whole(0), "shapes kept, evenly spread over the frequencies, in the size that they have; 0: none", 20
    )
    time: float | None = key(NUMBER, TIME_TEXT, None, unit="s")


class HarmonicResponse(StepKind):
    """Re(u exp(i w t)) with (K + i w C - w^2 M) u = f at every frequency."""

    name = "harmonic"
    Options = Options
    Report = HarmonicReport
    noun = "harmonic response"
    quantity_names = ("{column}.amplitude_max", "{column}.frequency_of_max")
    positional = ("frequencies", "name")
    text = (
        "Add a harmonic response: steady vibrations Re(u exp(i 2 pi f t)) about the state that the steps before have\n"
        "left, at each of ``frequencies`` f [Hz].  A load shakes with the amplitude that its time function has at\n"
        "``time`` [s], or that ``amplitudes`` {name: value} gives, as amplitude cos(2 pi f t + phase), by ``phases``\n"
        "{name: degrees}; ``spectra`` {name: [[f, amplitude, phase], ...]} change with the\n"
        "frequency; loads of the steps before stay as they are."
    )
    notes = """\
Small steady vibrations about what the steps before have left: with a static step before, or `preload`, under its loads
and with its geometric stiffness; the loads of the step shake in addition. `response-<number>-<step>.csv` has amplitudes
and phases [degrees] of all sensors but those that are not linear (works, energies, von Mises stresses, envelopes);
`peaks` of the summary where they are largest."""
    linear = stands = distributed = True
    shapes = "vibration"
    tables = ("fem_mbs.cli.report_stability:harmonic_tables",)
    figures = ("fem_mbs.plot.figures:shapes_figures",)

    def prepare(self, model: Model, given: dict[str, Any], owner: str) -> dict[str, Any]:
        found = dict(given)
        if "frequencies" in given:
            found["frequencies"] = spread(given["frequencies"], owner, "frequencies", "Hz", 1_000_000, spaced=True)
        return found

    def check(self, step: PlannedStep, context: RunContext) -> None:
        owner, options = step.owner, step.options
        check_preload(step, context.model)
        check_friction(owner, context.system)
        if options.coriolis and context.turning is None:
            raise ModelError(
                "coriolis belongs to the frame of a centrifugal load, which the model does not have", owner=owner
            )
        if options.modes is not None and options.cutoff is not None:
            raise ModelError("modes and cutoff exclude each other", owner=owner, remedy="remove one")
        if options.method == "direct":
            for name in ("modes", "cutoff", "damping", "rayleigh", "intervals"):
                if getattr(options, name) is not None:
                    raise ModelError(
                        f'{name} belongs to modes, which method = "direct" does not take',
                        owner=owner,
                        remedy="remove it, or method",
                    )
            if not options.residual:
                raise ModelError(
                    'residual belongs to modes, which method = "direct" does not take', owner=owner, key="residual",
                    remedy="remove it, or method",
                )  # fmt: skip

    def check_distributed(self, step: PlannedStep, context: RunContext) -> None:
        if step.options.coriolis:
            raise ModelError(
                "coriolis is not distributed", owner=step.owner, key="coriolis", remedy="run it without --backend"
            )

    def look_ahead(self, step: PlannedStep, context: RunContext, ahead: Ahead) -> None:
        from fem_mbs.analysis.linear.harmonic import given_values, shakers

        compiled, options = context.compiled, step.options
        values = ahead.values(compiled, options.time)
        t = ahead.time if options.time is None else float(options.time)
        # (what is not known is taken for a load that acts)
        known = np.ones(len(compiled.loads)) if values is None else given_values(compiled, values, t or 0.0)
        shakers(compiled, known, t or 0.0, options, step.owner)

    def run(self, step: PlannedStep, context: RunContext, resumed: dict[str, Any] | None) -> HarmonicReport:
        from time import monotonic, perf_counter

        from fem_mbs.analysis.linear.harmonic import Harmonic, given_values, shakers
        from fem_mbs.analysis.small_motions import complex_frames
        from fem_mbs.analysis.stability.turning_frame import frame_coriolis

        began, owner, options = perf_counter(), step.owner, step.options
        linear = context.linear.at(context, options.preload, options.time)
        frequencies = np.asarray(options.frequencies, float)
        warnings = linear.notes
        given = given_values(linear.compiled, linear.values, linear.t)
        shaking, silent = shakers(linear.compiled, given, linear.t, options, owner)
        sensors = [s for s in context.compiled.sensors if not s.nonlinear]
        left_out = [f'"{s.name}"' for s in context.compiled.sensors if s.nonlinear]
        if left_out:
            warnings.append(f"not linear in small motions, and left out: {', '.join(left_out)}")
        coriolis = frame_coriolis(linear, owner) if options.coriolis else None
        job = Harmonic(linear, options, shaking, [s.name for s in sensors], owner, coriolis)
        warnings += silent + job.warnings
        if options.intervals is not None:
            frequencies = job.clustered(frequencies, options.intervals["n"], float(options.intervals.get("bias", 3.0)))
        n, kept = frequencies.size, []
        framed = set(np.unique(np.linspace(0, n - 1, min(options.frames, n)).round().astype(int)).tolist())
        values = np.zeros((n, len(job.columns)), complex)
        shown = monotonic()
        for i, frequency in enumerate(frequencies):
            u, values[i] = job.at(float(frequency))
            if i in framed:
                kept.append(u)
            if monotonic() - shown > _SHOWN:
                shown = monotonic()
                context.tell(step, i + 1, n)
        series, peaks, at = {"time": frequencies}, [], 0
        for sensor in sensors:
            k = len(sensor.columns)
            own = values[:, at : at + k]
            series[f"response/{sensor.name}"] = own.real.copy()
            series[f"response imaginary/{sensor.name}"] = own.imag.copy()
            peaks += [_peak(sensor, j, frequencies, a) for j, a in enumerate(own.T)]
            at += k
        frames = complex_frames(context, linear, np.column_stack(kept), frequencies[sorted(framed)]) if kept else None
        context.recorder.append(series, frames)
        context.linear.harmonic = job
        modal = job.modal
        return HarmonicReport(
            name=step.name, time=linear.t, method=job.method,
            frequencies=frequencies.tolist(),
            loads=[
                HarmonicLoad(
                    name=s.name, amplitude=float(abs(a)), phase=float(np.rad2deg(np.angle(a)))
                )
                for s in shaking
                for a in [max((s.amplitude_at(f) for f in frequencies), key=abs)]
            ],
            modes=None if modal is None else int(modal.frequencies.size),
            natural_frequencies=None if modal is None else (modal.frequencies / (2.0 * np.pi)).tolist(),
            residual_vectors=None if modal is None else modal.residual,
            structural=job.structural, peaks=peaks,
            equations=job.n_equations, seconds=round(perf_counter() - began, 4), warnings=warnings,
        )  # fmt: skip

    def sentence(self, options: Any) -> str:
        f = options.frequencies
        words = f"{len(f)} frequenc{'y' if len(f) == 1 else 'ies'} from {f[0]:g} to {f[-1]:g} {unit_of('Hz')}"
        return f"harmonic response at {words}"

    def quantities(self, report: HarmonicReport) -> Iterator[tuple[str, Any, str]]:
        for peak in report.peaks or []:
            yield f"{peak.column}.amplitude_max", peak.amplitude, peak.unit
            yield f"{peak.column}.frequency_of_max", peak.frequency, "Hz"


KIND = HarmonicResponse()


def _peak(sensor: Sensor, number: int, frequencies: np.ndarray, a: np.ndarray) -> Peak:
    """Return the peak of a column."""
    unit = sensor.unit or ""
    most = int(np.abs(a).argmax())
    return Peak(
        sensor=sensor.name, column=sensor.columns[number],
        unit=unit if isinstance(unit, str) else unit[number],
        amplitude=float(np.abs(a[most])), frequency=float(frequencies[most]),
        phase=float(np.rad2deg(np.angle(a[most]))),
    )  # fmt: skip
