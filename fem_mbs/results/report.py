"""Reports of runs: the typed form of summary.json, with its JSON schema.

`Summary` is the whole file, `StepReport` the base of the reports of steps.  A step kind declares its report as a frozen
dataclass with the value of ``type`` in JSON::

    @dataclass(frozen=True, kw_only=True)
    class ModesReport(StepReport, type="modes"):
        frequencies_hz: list[float] = entry("ascending", unit="Hz", member="frequency")

The class is known from then on: `report_of` reads a JSON object as the class of its type.  Two kinds may share a type;
the one that is linear about a state says ``linear=True``, and so does its JSON object.  Report classes import no
numerical modules, so that reading results stays fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from fem_mbs.dataframes import dataframe
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.model.checks import CheckReport
from fem_mbs.records import Record, Schema, entries, entry
from fem_mbs.results.series import StepSensors

if TYPE_CHECKING:
    import pandas

    from fem_mbs.results.reader import Results

__all__ = [
    "BlowReport", "CheckReport", "ClosingReport", "CountCheck", "EigenvaluesAlong", "EnergyBalance", "EventReport",
    "ImpactReport", "ModelCounts", "Moved", "PrintTable", "SpinReport", "StartReport", "StepReport", "Summary",
    "mode_frame", "report_classes", "report_of",
]  # fmt: skip

_known: dict[tuple[str, bool], type[StepReport]] = {}


@dataclass(frozen=True, kw_only=True)
class PrintTable(Record):
    """A table that a deck asked to be printed (docs/decks.md)."""

    quantity: str = entry(
        "as the deck names it: U, V, RF, S, E, ENER, ELSE, EVOL, EMAS; EMASI, COG, EMASIC with the sums of EMAS; "
        "SOF, SOM, SOCG, SOMCG, SOAREA of surfaces; K, M of substructures"
    )
    set: str | None = entry("null: the whole model")
    time: float = entry("total time; of steady vibrations the frequency [Hz]", unit="s")
    mode: int | None = entry("of shapes of modes", optional=True, minimum=1)
    total: bool | None = entry("a sum over the set, which has no ids", optional=True)
    ids: list[int] = entry("nodes or elements, in the order of the set")
    labels: list[str] | None = entry("INSTANCE.NUMBER of the ids, in a deck of parts and instances", optional=True)
    points: list[int] | None = entry(
        "integration points, beside the ids; of K and M directions 1 to 6; of Nastran corners (0: the middle), ends of "
        "beams, or plies",
        optional=True,
    )
    columns: list[str] | None = entry("names of the columns, with what they are in brackets", optional=True)
    values: list[list[float | None]] = entry("one row per id or point")


def _short(report: StepReport) -> str:
    """Return a report as one line: its numbers, and of lists how long they are."""
    told = []
    for item in entries(type(report)):
        value = getattr(report, item.name)
        unit = f" {item.unit}" if item.unit else ""
        if isinstance(value, bool | int | float):
            told.append(f"{item.name} = {value:.6g}{unit}" if isinstance(value, float) else f"{item.name} = {value}")
        elif isinstance(value, list) and value:
            first = f", the first {value[0]:.6g}{unit}" if isinstance(value[0], int | float) else ""
            told.append(f"{len(value)} {item.name}{first}")
    return f"<{type(report).__name__} {report.name!r}: {'; '.join(told)}>"


@dataclass(frozen=True, kw_only=True)
class StepReport(Record):
    """Report of a step of any kind."""

    #: Value of "type" in JSON; "" of this base, which stands for steps of unknown kinds.
    type: ClassVar[str] = ""
    #: Whether JSON has "linear": true.
    linear: ClassVar[bool] = False

    name: str = entry("of the step in the model")
    warnings: list[str] | None = entry("what limits the results' validity", optional=True)
    failures: list[str] | None = entry(
        "why the step has not reached its goal, or why its results do not hold; only then", optional=True, minItems=1
    )
    deck_step: int | None = entry(
        "number of the step of the deck that it stands for", optional=True, given=True, minimum=1
    )
    prints: list[PrintTable] | None = entry("what a deck asked to be printed", optional=True)

    def __init_subclass__(cls, type: str = "", linear: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = _short  # type: ignore[assignment, method-assign]  # the one of dataclasses has all numbers of all lists
        if type:
            cls.type, cls.linear = type, linear
            _known[type, linear] = cls

    def to_json(self) -> dict[str, Any]:
        """Return the report as the JSON object of summary.json: type and name first, what all steps have last."""
        out = super().to_json()
        common: dict[str, Any] = {e: out.pop(e) for e in ("warnings", "failures", "deck_step", "prints") if e in out}
        first = {"type": self.type, **({"linear": True} if self.linear else {})}
        return {**first, **out, **common}

    @classmethod
    def schema(cls, schema: Schema) -> dict[str, Any]:
        """Return the JSON schema of the report in full."""
        found = schema.object(cls)
        kind: dict[str, Any] = {"type": {"const": cls.type}}
        required = ["type", *found["required"]]
        if cls.linear:
            kind["linear"] = {"const": True, "description": "small motions about the state before"}
            required.insert(1, "linear")
        elif (cls.type, True) in _known:
            kind["linear"] = False
        return {**found, "properties": {**kind, **found["properties"]}, "required": required}


# --- parts that reports of several kinds have ------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class EnergyBalance(Record):
    """The energy of a step in time, and the error with which works account for its changes."""

    range: float | None = entry("of the total energy", unit="J")
    closing_error: float | None = entry("largest absolute value over the step", unit="J")
    closing_error_relative: float | None = entry("over the range")
    tolerance: float | None = entry(
        "that was asked for, of the relative error; without it, steps were iterated to round-off", optional=True
    )
    final: dict[str, float | None] = entry("columns of the energy ledger at the end", unit="J")


@dataclass(frozen=True, kw_only=True)
class SpinReport(Record):
    """The steady rotation with which a step starts."""

    speed: float = entry(unit="rad/s")
    speed_of_the_steps: float = entry("at which time steps turn by the angle that this speed gives", unit="rad/s")


@dataclass(frozen=True, kw_only=True)
class StartReport(Record):
    """How the velocities of the start were made consistent; empty where the step before has left them."""

    method: str | None = entry(optional=True)
    largest_change: float | None = entry(
        "of a velocity; of running starts from the rigid motion", unit="m/s, rad/s", optional=True
    )
    spin: SpinReport | None = entry(optional=True)
    missing_power: float | None = entry(
        "of running starts: what would keep the speed, beside what loads and drives of the model give; negative: the "
        "model speeds up",
        unit="W",
        optional=True,
    )


@dataclass(frozen=True, kw_only=True)
class EventReport(Record):
    """Something that a sensor has set off, or a lock or a joint that breaks by itself."""

    name: str = entry()
    time: float = entry(unit="s")
    action: str = entry(enum=["stop", "on", "off", "switch", "lock", "release", "slip", "break"])
    velocity_change: float | None = entry(
        "largest, where a driver changed its speed at once, or a lock closed", optional=True
    )
    impulse: float | None = entry("of the lock that closed, on its coordinate", unit="N s, N m s", optional=True)
    loss: float | None = entry("of energy by the blow of the lock that closed", unit="J", optional=True)


@dataclass(frozen=True, kw_only=True)
class BlowReport(Record):
    """A blow between a surface and a ball (`[[impact]]`)."""

    time: float = entry(unit="s")
    impact: str = entry("name of the declaration")
    surface: str = entry("what carries the surface")
    ball: str = entry("the node of the ball or point")
    mode: str = entry(
        "how it ends: the points that touch stick, slip, or slip against the slip before",
        enum=["frictionless", "stick", "slip", "reverse slip"],
    )
    normal_impulse: float = entry(unit="N s")
    friction_impulse: float = entry(unit="N s")
    approach: float = entry("normal speed before", unit="m/s")
    separation: float = entry("normal speed after all blows of the instant", unit="m/s")
    loss: float = entry("of kinetic energy", unit="J")
    rests: bool = entry("the contact stays closed: it was the last blow of a sequence that dies out")
    joint_impulses: dict[str, float] | None = entry(
        "sizes of the impulses that joints carry in all blows of the instant", unit="N s", optional=True
    )


@dataclass(frozen=True, kw_only=True)
class ImpactReport(Record):
    """All blows of one pair, and whether it has come to rest."""

    impact: str = entry("name of the declaration")
    surface: str = entry("what carries the surface")
    ball: str = entry("the node of the ball or point")
    blows: int = entry("number")
    normal_impulse: float = entry("sum", unit="N s")
    friction_impulse: float = entry("sum of sizes", unit="N s")
    loss: float = entry("sum", unit="J")
    closed: bool = entry("in contact at the end")
    rests_from: float | None = entry("since when it stays closed after blows", unit="s", optional=True)


@dataclass(frozen=True, kw_only=True)
class EigenvaluesAlong(Record):
    """Complex modes along a step, every few steps or points."""

    time: list[float] = entry(unit="s")
    load_factor: list[float] | None = entry("of static steps", optional=True)
    path_length: list[float] | None = entry("of paths", unit="m", optional=True)
    values: list[list[list[float] | None]] = entry(
        "[instant][branch]: [real, imaginary] [1/s], null where a branch was not found"
    )
    stable: bool = entry("no damping ratio below -1e-6 among those found")
    unstable_from: dict[str, float] | None = entry("the first instant with growth", optional=True)


@dataclass(frozen=True, kw_only=True)
class CountCheck(Record):
    """The number of eigenvalues by a count of signs, beside the number of those found."""

    expected: int = entry("up to the last one found")
    found: int = entry()


# --- the whole file --------------------------------------------------------------------------------------------------
def report_classes() -> tuple[type[StepReport], ...]:
    """Return the report classes of all step kinds."""
    return tuple(kind.Report for kind in step_kinds().values())


def report_of(data: Mapping[str, Any]) -> StepReport:
    """Return the report of a step, given its JSON object; a `StepReport` for a kind that is not known."""
    key = str(data.get("type", "")), bool(data.get("linear"))
    if key not in _known:
        step_kinds()  # the classes are known as soon as their modules are loaded
    return _known.get(key, StepReport).from_json(data)


@dataclass(frozen=True, kw_only=True)
class ModelCounts(Record):
    """Size of the model."""

    nodes: int = entry()
    unknowns: int = entry()
    multipliers: int = entry()
    elements: dict[str, int] = entry("by type")
    solver: str = entry("of the linear equations of time steps")


@dataclass(frozen=True, kw_only=True)
class Moved(Record):
    """A part that was moved to close the joints."""

    place: str = entry()
    displacement: float = entry("largest", unit="m")
    rotation: float = entry("largest", unit="rad")


@dataclass(frozen=True, kw_only=True)
class ClosingReport(Record):
    """Motions before the first step that close the joints; only where the model asks for it."""

    iterations: int = entry()
    gaps: dict[str, float] = entry("of joints, at first", unit="m, rad")
    largest_gap: float = entry("at last", unit="m, rad")
    moved: list[Moved] = entry()
    strain_energy: float = entry(unit="J")
    warnings: list[str] = entry()


@dataclass(frozen=True, kw_only=True)
class Summary(Record):
    """Summary of a run, the contents of summary.json."""

    title: str = entry("of the model")
    version: str = entry("of fem-mbs")
    model: ModelCounts = entry()
    parameters: dict[str, float] | None = entry("of the model, by name", optional=True)
    assembly: ClosingReport | None = entry(optional=True)
    steps: list[StepReport] = entry("in the order of the model")
    sensors: list[StepSensors] | None = entry("statistics of the sensors, by steps", optional=True)
    checks: list[CheckReport] | None = entry("of runs that have ended", optional=True)
    units: dict[str, str] | None = entry(
        "where the model tells them: base, in which all numbers are (a unit that is named here in SI stands for that "
        "of the base: m for mm), and units of display by quantity",
        optional=True,
    )
    skipped: list[str] | None = entry("what input files held and was not used", optional=True)
    departures: list[str] | None = entry(
        "what the deck asks for and the model lacks: the results are not those of the deck", optional=True
    )
    warnings: list[str] | None = entry("parts of the model that may be unintended", optional=True)
    status: str = entry("of the run", default="done", pattern="^(done|failed: .*)$")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read a summary; its steps become reports of their kinds."""
        steps = [report_of(step) for step in data.get("steps", [])]
        found = super().from_json({key: value for key, value in data.items() if key != "steps"})
        values = {e: getattr(found, e) for e in found.__dataclass_fields__}
        return cls(**{**values, "steps": steps})

    @property
    def failures(self) -> list[str]:
        """Return the steps that have not reached their goal, or have invalid results, and why."""
        return [f'step "{step.name}": {why}' for step in self.steps for why in step.failures or []]


#: Lists of reports with a number per mode, beside those whose members have a name.
_OF_MODES = ("nodal_diameters", "copies", "residuals", "backward_errors")


def mode_frame(results: Results, step: int | str | None, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.modes_to_dataframe`."""
    chosen = results.steps if step is None else [results.step_at(step)]
    for item in reversed(chosen):
        report = item.report
        found = [] if report is None else _of_modes(report)
        if found:
            count = len(found[0][2])
            named, columns = [("mode", "")], [np.arange(1, count + 1)]
            for text, unit, values in found:
                named.append((text, unit))
                columns.append(values)
            return dataframe(named, columns, results.units.told(base), item.name)
    where = "no step" if step is None else f'step "{chosen[0].name}" ({chosen[0].type})'
    raise ResultsError(f"{results.where}: {where} has modes: ask for a step of modes, buckling or complex modes")


def _of_modes(report: StepReport) -> list[tuple[str, str, np.ndarray]]:
    """Return names, units and values (n,) of what a report tells of each of its n modes; none of other reports.

    The first list with a name for its members says how many modes there are.
    """
    told = [(item, getattr(report, item.name)) for item in entries(type(report))]
    lists = [(item, value) for item, value in told if isinstance(value, list)]
    count = next((len(value) for item, value in lists if item.member in ("frequency", "load_factor")), None)
    if count is None:
        return []
    found = []
    for item, value in lists:
        if len(value) != count:
            continue
        if item.name == "eigenvalues":
            found.append(("eigenvalue", "1/s", np.asarray(value, float) @ np.array([1.0, 1.0j])))
        elif item.member or item.name in _OF_MODES:
            found.append(((item.member or item.name).replace("_", " "), item.unit, np.asarray(value)))
    part = getattr(report, "participation", None)
    masses = np.asarray(getattr(part, "effective_mass", None) or [], float)
    if masses.ndim == 2 and len(masses) == count and part is not None:
        for direction, column in zip(part.directions, masses.T, strict=True):
            unit = "kg m^2" if direction.startswith("r") else "kg"
            found.append((f"effective mass {direction}", unit, column))
    return found
