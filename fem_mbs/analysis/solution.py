"""Progress of a run, and results in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from fem_mbs.analysis.header import make_header
from fem_mbs.analysis.transient.chunk import ENERGY_COLUMNS
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.records import json_value
from fem_mbs.results.reader import Results, Step
from fem_mbs.results.report import StepReport, Summary
from fem_mbs.results.series import ArraySeries, Drives, Series
from fem_mbs.results.writer import check_header
from fem_mbs.units import Units

__all__ = ["ENERGY_COLUMNS", "Progress", "SeriesTable", "Solution", "StepResult", "energy_range", "relative_error"]

#: Range of the energy over its size below which a model is at rest.
_REST = 1e-9


@dataclass(frozen=True)
class Progress:
    """The progress of a running analysis.

    It holds the step of the model, steps made and wanted, time, Newton iterations per step, energy error (closing error
    over the range of the energies), and the load factor of a static step (else None).
    """

    step: str
    done: int
    total: int
    time: float
    iterations: float
    energy_error: float
    load_factor: float | None = None


class SeriesTable(dict[str, np.ndarray]):
    """The quantities of a step in memory by name."""

    def __missing__(self, name: str) -> np.ndarray:
        raise ResultsError(f'Results in memory: no quantity "{name}": there are {", ".join(self) or "none"}')


@dataclass(repr=False)
class StepResult(Step):
    """One step of a run in memory: arrays with one row per time step, the first row being the start."""

    name: str
    type: str
    series: Mapping[str, Any] = field(default_factory=SeriesTable)
    frames: Mapping[str, Any] = field(default_factory=SeriesTable)
    summary: dict[str, Any] = field(default_factory=dict)
    restarts: list[dict[str, Any]] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    number: int = 0
    ended: bool = False

    def ledger(self, column: str) -> np.ndarray:
        """Return a column of the energy ledger [J], by its name in LEDGER_COLUMNS."""
        return self.series["ledger"][:, ENERGY_COLUMNS.index(column)]


class Solution(Results):
    """The results of a run kept in memory: the same rows that a results folder would hold.

    The run calls `begin_step`, `append`, `end_step`, `close` and `fail`; `compiled` is the model that it ran.
    """

    compiled: CompiledModel
    directory = None

    def __init__(self) -> None:
        self.steps: list[StepResult] = []
        self.status = "running"
        self.summary: dict[str, Any] = {}
        self._parts: dict[str, dict[str, list[np.ndarray]]] = {}

    # --- written by the run ------------------------------------------------------------------------------------------
    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Begin a step."""
        self.steps.append(StepResult(name, type, info=info or {}, number=len(self.steps)))
        if hasattr(self, "compiled"):  # results made by hand have none
            self.steps[-1].units = self.compiled.model.shown_units or Units()
        self._parts = {"series": {}, "frames": {}}

    def append(
        self,
        series: Mapping[str, np.ndarray] | None = None,
        frames: Mapping[str, np.ndarray] | None = None,
        restart: dict[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Add rows and frames to the step, and a restart point that is kept."""
        for kind, given in (("series", series), ("frames", frames)):
            for name, value in (given or {}).items():
                self._parts[kind].setdefault(name, []).append(np.array(value))
        if restart is not None and keep:
            self.steps[-1].restarts.append(restart)

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """End the step with its report, and return it."""
        self._join()
        self.steps[-1].summary, self.steps[-1].ended = json_value(report or {}), True
        return report

    def _join(self) -> None:
        step = self.steps[-1]
        step.series = SeriesTable({k: np.concatenate(v) for k, v in self._parts["series"].items()})
        step.frames = SeriesTable({k: np.concatenate(v) for k, v in self._parts["frames"].items()})

    def close(self, summary: Summary | None = None) -> None:
        """End the run; the summary is that of a results folder."""
        self.status = "done"
        self.summary = {**json_value(summary or {}), "status": self.status}

    def fail(self, message: str) -> None:
        """End the run as failed; the rows so far stay."""
        self.status = f"failed: {message}"
        if self.steps and not self.steps[-1].series and self._parts["series"]:
            self._join()

    # --- read --------------------------------------------------------------------------------------------------------
    @cached_property
    def header(self) -> dict[str, Any]:  # type: ignore[override]
        """Return the description of the model: title, nodes, blocks, sensors."""
        return check_header(make_header(self.compiled))

    @property
    def restart_points(self) -> list[tuple[int, float]]:  # type: ignore[override]
        """Return (number of the step, time [s]) of each restart point."""
        return [(step.number, float(point["time"])) for step in self.steps for point in step.restarts]

    def restart(self, number: int = -1) -> dict[str, Any]:
        """Return the state of a restart point."""
        points = [point for step in self.steps for point in step.restarts]
        if not -len(points) <= number < len(points):
            raise ResultsError(f"{self.where}: {len(points)} restart points, no number {number}")
        return points[number]

    def sensor(self, name: str, step: int | str | None = None, raw: bool = False) -> ArraySeries:
        """Return the values of a sensor; see `fem_mbs.Results.sensor`.

        Use of the series as an array gives what this call once gave: the rows of one step, by default the last, as they
        were computed, the first one of a mid-step quantity NaN.
        """
        found = super().sensor(name, step, raw)
        key, own = f"sensor/{name}", self.steps if step is None else [self.step_at(step)]
        return _as_array(found, next(item.series[key] for item in reversed(own) if key in item.series))

    def response(self, name: str, step: int | str | None = None) -> ArraySeries:
        """Return the amplitudes of a sensor; see `fem_mbs.Results.response`."""
        found = super().response(name, step)
        return _as_array(found, found.values)

    def _old_drives(self, found: Drives) -> tuple[Any, ...]:
        return found.t, found.by_sensor


def _as_array(series: Series, array: np.ndarray) -> ArraySeries:
    given = (series.name, series.t, series.values, series.columns, series.units, series.along, series.shown)
    return ArraySeries(*given, array=array)


def relative_error(totals: dict[str, Any]) -> float:
    """Return the closing error over `energy_range`; where next to nothing moves, over the energies themselves."""
    scale, magnitude = energy_range(totals), totals.get("magnitude", 0.0)
    scale = scale if scale > _REST * magnitude else magnitude
    scale = max(scale, totals.get("round_off", 0.0))
    return totals["error"] / scale if scale else 0.0


def energy_range(totals: dict[str, Any]) -> float:
    """Return the reference of energy errors: the range of the total energy, at least the largest kinetic energy.

    Both exclude the energy of the closing error, which would hide itself.
    """
    return max(totals["high"] - totals["low"], totals["kinetic"])
