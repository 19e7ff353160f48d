"""Progress reports of a run, and results in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem_mbs.analysis.transient.stepping import LEDGER_COLUMNS
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.sensors import node_values
from fem_mbs.records import plain

__all__ = ["ENERGY_COLUMNS", "Progress", "Solution", "StepResult", "energy_range", "failed_steps", "relative_error"]

#: Energies, works and closing error among the columns of the ledger.
ENERGY_COLUMNS = LEDGER_COLUMNS[:7]


#: Range of the energy over its size below which a model is at rest.
_REST = 1e-9


@dataclass(frozen=True)
class Progress:
    """What a running analysis tells: step of the model, steps made and wanted, time, Newton iterations per step, energy
    error (closing error over the range of the energies), and the load factor of a static step (else None)."""

    step: str
    done: int
    total: int
    time: float
    iterations: float
    energy_error: float
    load_factor: float | None = None


@dataclass
class StepResult:
    """Series of one analysis step in memory: arrays with one row per time step, the first row being the start."""

    name: str
    type: str
    series: dict[str, np.ndarray] = field(default_factory=dict)
    frames: dict[str, np.ndarray] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    restarts: list[dict[str, Any]] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def time(self) -> np.ndarray:
        return self.series["time"]

    def ledger(self, column: str) -> np.ndarray:
        """A column of the energy ledger [J], by its name in LEDGER_COLUMNS."""
        return self.series["ledger"][:, ENERGY_COLUMNS.index(column)]


class Solution:
    """The results of a run kept in memory: the same rows that a results folder would hold."""

    compiled: CompiledModel

    def __init__(self) -> None:
        self.steps: list[StepResult] = []
        self._parts: dict[str, dict[str, list[np.ndarray]]] = {}

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        self.steps.append(StepResult(name, type, info=info or {}))
        self._parts = {"series": {}, "frames": {}}

    def append(self, series=None, frames=None, restart=None) -> None:
        for kind, given in (("series", series), ("frames", frames)):
            for name, value in (given or {}).items():
                self._parts[kind].setdefault(name, []).append(np.array(value))
        if restart is not None:
            self.steps[-1].restarts.append(restart)

    def end_step(self, summary: dict[str, Any] | None = None) -> None:
        step = self.steps[-1]
        step.series = {k: np.concatenate(v) for k, v in self._parts["series"].items()}
        step.frames = {k: np.concatenate(v) for k, v in self._parts["frames"].items()}
        step.summary = plain(summary or {})

    def close(self, summary: dict[str, Any] | None = None) -> None:
        """End the run; the summary is that of a results folder."""
        self.summary = {**plain(summary or {}), "status": "done"}

    def fail(self, message: str) -> None:
        if self.steps and not self.steps[-1].series and self._parts["series"]:
            self.end_step({"failed": message})

    def drives(self, step: int = -1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Times (n,) [s] of a step, and by the names of their sensors what motions and driven joints do then, (n,) or
        (n, 2): forces [N] and moments [N m] at the ends of time steps, of second order; see
        `fem_mbs.model.sensors.node_values`.  They can be given to loads as tables of time."""
        found = self.steps[step]
        table = {}
        for sensor in self.compiled.sensors:
            if sensor.kind == "drive":
                values = node_values(found.time, found.series[f"sensor/{sensor.name}"], found.info["mid_step"])
                table[sensor.name] = values[:, 0] if values.shape[1] == 1 else values
        return found.time, table

    def response(self, name: str, step: int = -1) -> np.ndarray:
        """Complex amplitudes (n, k) of a sensor in a step of harmonic response, by its frequencies (``time`` of the
        step)."""
        series = self.steps[step].series
        return series[f"response/{name}"] + 1j * series[f"response imaginary/{name}"]

    def sensor(self, name: str, step: int = -1) -> np.ndarray:
        """Values (n, k) of a sensor in a step; mid-step quantities as they are computed, the first row NaN."""
        return self.steps[step].series[f"sensor/{name}"]


def failed_steps(summary: dict[str, Any]) -> list[str]:
    """Which steps of a run's summary have not reached their goal, or have results that do not hold, and why."""
    return [f'step "{step["name"]}": {why}' for step in summary["steps"] for why in step.get("failures", [])]


def relative_error(totals: dict[str, Any]) -> float:
    """The closing error over what `energy_range` says; where next to nothing moves, over the energies themselves."""
    scale, magnitude = energy_range(totals), totals.get("magnitude", 0.0)
    scale = scale if scale > _REST * magnitude else magnitude
    scale = max(scale, totals.get("round_off", 0.0))
    return totals["error"] / scale if scale else 0.0


def energy_range(totals: dict[str, Any]) -> float:
    """What energy errors are measured against: the range of the total energy, at least the largest kinetic energy, both
    without the energy that came from nowhere, which would hide itself."""
    return max(totals["high"] - totals["low"], totals["kinetic"])
