"""Results of a run, in memory or in a folder; those on disk can be read while a run is active, after it has finished,
and after it was killed.

    results = Results.open("out")
    results.status                                   # "done", "running", "incomplete" or "failed: ..."
    t, values, columns = results.sensor("tip")
    results.steps[0].frames["displacement"][-1]      # (n_nodes, 3) of the last frame

`fem_mbs.results.writer.ResultsWriter` writes them; its docstring lists the contents.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.display import Shown, html_table, report_writer
from fem_mbs.errors import ResultsError
from fem_mbs.model.sensors.sensor import node_values
from fem_mbs.results import store
from fem_mbs.results.columns import Column, Columns
from fem_mbs.results.export.tables import sensor_frame, write_drives, write_responses, write_sensors
from fem_mbs.results.export.xdmf import write_xdmf
from fem_mbs.results.fields import node_frame
from fem_mbs.results.folder import take
from fem_mbs.results.named_steps import step_named
from fem_mbs.results.report import StepReport, Summary, mode_frame, report_of
from fem_mbs.results.series import SLOPES, Drives, Series, TupleSeries, sensor_columns, sensor_units, slopes_key
from fem_mbs.results.writer import finish
from fem_mbs.units import Units

if TYPE_CHECKING:
    import pandas

__all__ = ["FolderResults", "FolderStep", "Results", "Step", "export"]
R = TypeVar("R", bound=StepReport)


class Step:
    """One step of a run, the same for runs in memory and in folders.

    Attributes:
        number: of the step, from 0.
        name, type: of the step.
        info: what readers must know: "rule", "mid_step", "linear".
        ended: whether the run got to its end; `summary` is empty before.
        series: quantities with one row per recorded step, as arrays.
        frames: quantities of the whole model at the times `frame_times`.
        units: of the model, and those in which results are shown.
    """

    units: Units = Units()
    number: int
    name: str
    type: str
    info: dict[str, Any]
    ended: bool
    summary: dict[str, Any]
    series: Mapping[str, Any]
    frames: Mapping[str, Any]

    def __repr__(self) -> str:
        rows = len(self.series["time"]) if "time" in self.series else 0
        counts = f"{rows} rows, {len(self.frame_times)} frames"
        report = self.report
        state = "has not ended" if report is None else "failed" if report.failures else "done"
        return f"<Step {self.number} {self.name!r} ({self.type}): {counts}; {state}>"

    def _repr_html_(self) -> str:
        """Return the content of the step as tables of a notebook."""
        parts = [f"<p>{escape(repr(self))}</p>"]
        for title, held in (("Series", self.series), ("Frames", self.frames)):
            rows = ((name, " x ".join(map(str, np.shape(held[name])))) for name in held)
            parts.append(html_table(title, ("name", "rows x columns"), rows))
        return "".join(parts)

    @property
    def report(self) -> StepReport | None:
        """Return the results of the step as the report of its kind; None for a step that has not reached its end.

        Entries that the summary lacks are None.
        """
        if not self.ended:
            return None
        return report_of({"type": self.type, "name": self.name, **self.summary})

    def report_as(self, kind: builtins.type[R]) -> R | None:
        """Return the report if the step has got to its end and is of the kind with this report, else None."""
        report = self.report
        return report if isinstance(report, kind) else None

    @property
    def linear(self) -> bool:
        """Return whether the step is of small motions with rows of its own, which leave the state of the model
        unchanged."""
        return self.report is not None and self.report.linear

    @property
    def time(self) -> np.ndarray:
        """Return the times of the rows (n,) [s]; for shapes their numbers, for responses the frequencies or speeds."""
        return self.series["time"]

    def column(self, name: str) -> Any:
        """Return a series, to be read by parts (`Column`) where it is on disk."""
        return self.series[name]

    @property
    def frame_times(self) -> np.ndarray:
        """Return the times of the frames (m,) [s]."""
        return self.frames["time"][:] if "time" in self.frames else np.empty(0)

    @property
    def is_path(self) -> bool:
        """Return whether rows are equilibria at one time, which differ by their load factor."""
        return "load factor" in self.series and not np.ptp(self.series["time"])

    @property
    def mid_step(self) -> bool:
        """Return whether the mid-step sensors of this step hold values of the middle of time steps."""
        return bool(self.info.get("mid_step", recorded_kind(self.type).passes_time))

    def in_middle(self, sensor: Mapping[str, Any]) -> bool:
        """Return whether rows of a sensor, given by its header, are values of the middle of the time steps that end
        there: rates are differences over time steps by every rule."""
        if not sensor.get("mid_step"):
            return False
        steps = recorded_kind(self.type).passes_time and not self.info.get("linear")
        return self.mid_step or bool(sensor.get("rate") and steps)

    def mid_times(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that end a time step, and the times of the middle of these time steps [s]."""
        time = self.series["time"]
        size = self.series["step size"] if "step size" in self.series else np.diff(time, prepend=time[:1])
        rows = np.flatnonzero(size > 0)
        return rows, time[rows] - size[rows] / 2


class FolderStep(Step):
    """One step of a run in a folder; quantities are read when they are asked for, frames row by row (`Column`)."""

    def __init__(self, number: int, entry: store.StepEntry) -> None:
        self.number = number
        self.name = entry.name
        self.type = entry.type
        self.info = entry.info
        self.ended = entry.ended
        self.summary = entry.summary
        self._entry = entry

    @cached_property
    def series(self) -> Columns:  # type: ignore[override]
        """Return the quantities with one row per recorded step."""
        return Columns(self._entry, "series")

    def column(self, name: str) -> Column:
        """Return a series without reading it."""
        return self.series.column(name)

    @cached_property
    def frames(self) -> Columns:  # type: ignore[override]
        """Return the quantities of the whole model at the times `frame_times`."""
        return Columns(self._entry, "frames")


class Results(Shown):
    """The results of a run, in memory (`fem_mbs.solve`) or in a folder (`fem_mbs.run`, `Results.open`).

    Attributes:
        header: what is known of the model: title, nodes, blocks, sensors.
        steps: the steps that the run has begun.
        status: "done", "running", "incomplete" or "failed: ...".
        summary: contents of summary.json; empty for a run that has not ended.
        directory: of the files; None of a run in memory.
        restart_points: (number of the step, time [s]) of each restart point.
    """

    header: dict[str, Any]
    steps: Sequence[Step]
    status: str
    summary: dict[str, Any]
    directory: Path | None
    restart_points: list[tuple[int, float]]

    @staticmethod
    def open(directory: str | Path) -> FolderResults:
        """Open the result in the folder ``directory``, whether finished, running, failed or killed, as it is at this
        moment.

        Raises ResultsError if there is none.
        """
        for _ in range(50):
            try:
                return FolderResults(store.read_index(Path(directory)))
            except FileNotFoundError:
                continue  # the run ended between two looks at its folder
        raise store.folder_error(directory, "its files keep changing: wait for the run to end")

    def __repr__(self) -> str:
        steps = ", ".join(f"{step.name} ({step.type})" for step in self.steps)
        where = "in memory" if self.directory is None else repr(str(self.directory))
        return f"<Results {where}: {self.status}; {steps or 'no steps'}>"

    @property
    def where(self) -> str:
        """Return the place of the results, for messages."""
        return "Results in memory" if self.directory is None else f'Results folder "{self.directory}"'

    def folder(self) -> Path:
        """Return the folder of the files.

        Raises:
            ResultsError: the results are in memory.
        """
        if self.directory is None:
            raise ResultsError("Results in memory: they have no folder to write into: give one, or use fem_mbs.run")
        return self.directory

    def restart(self, number: int = -1) -> dict[str, Any]:
        """Return the state of a restart point (``number`` from 0, -1: the last), bit for bit as it was appended."""
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        """Return whether the run has finished."""
        return self.status == "done"

    @property
    def report(self) -> Summary | None:
        """Return the contents of summary.json, typed; None for a run that has not ended."""
        return Summary.from_json(self.summary) if self.summary else None

    @cached_property
    def units(self) -> Units:
        """Return the base of the model, in which all results are, and the units in which they are shown."""
        return Units.of_header(self.header)

    @property
    def failures(self) -> list[str]:
        """Return the steps that have not reached their goal, or have invalid results, and why."""
        report = self.report
        return [] if report is None else report.failures

    def node(self, name: str | int) -> int:
        """Return the number of a node given by name, or check a number."""
        names = self.header["node_names"]
        if isinstance(name, str) and name in names:
            return int(names[name])
        if not isinstance(name, str) and 0 <= name < len(self.header["nodes"]):
            return int(name)
        known = ", ".join(itertools.islice(names, 8)) or "none has a name"
        raise ResultsError(f'{self.where}: no node "{name}": give 0 .. {len(self.header["nodes"]) - 1} or {known}')

    @cached_property
    def _sensors(self) -> dict[str, dict[str, Any]]:
        return {sensor["name"]: sensor for sensor in self.header["sensors"]}

    def sensor_entry(self, name: str) -> dict[str, Any]:
        """Return the entry of a sensor in the header.

        Raises:
            ResultsError: no sensor has this name.
        """
        if name in self._sensors:
            return self._sensors[name]
        known = ", ".join(sensor["name"] for sensor in self.header["sensors"]) or "none"
        raise ResultsError(f'{self.where}: no sensor "{name}": there are {known}')

    def step_at(self, step: int | str) -> Step:
        """Return a step, given its number (from 0; -1: the last) or its name.

        Raises:
            ResultsError: there is none, or several steps have this name.
        """
        if isinstance(step, str):
            found = step_named(self.where, self.steps, step)
            if found is None:
                known = ", ".join(f'"{item.name}"' for item in self.steps) or "none"
                raise ResultsError(f'{self.where}: no step "{step}": there are {known}')
            return found
        if not -len(self.steps) <= step < len(self.steps):
            raise ResultsError(f"{self.where}: {len(self.steps)} steps, no number {step}")
        return self.steps[step]

    def steps_with(self, key: str, step: int | str | None = None) -> list[Step]:
        """Return the steps that hold the series ``key``: the one of ``step`` (number or name), or all transient ones,
        or else all."""
        if step is not None:
            found = [item for item in (self.step_at(step),) if key in item.series]
        else:
            found = [item for item in self.steps if key in item.series]
            found = [item for item in found if recorded_kind(item.type).passes_time] or found
        if not found:
            raise ResultsError(f'{self.where}: no step holds "{key}" yet')
        return found

    def sensor(self, name: str, step: int | str | None = None, raw: bool = False) -> Series:
        """Return the values (n, k) of a sensor at times t (n,) [s]; ``t, values, columns = ...`` unpacks them.

        Without `step` (a number or a name), all transient steps one after another, or all steps if none is transient.
        Reactions, joint and section forces of a transient step belong to the middle of time steps and may alternate
        about the truth from one to the next: the mean of each two consecutive ones is returned, at the time between
        them, unless `raw` asks for the values themselves at the middle of each time step.

        Of a path, a static step asked for by its number or name in which no time passes, t are the load factors.

        Raises ResultsError for an unknown sensor or step.
        """
        return self._of_sensor(name, f"sensor/{name}", step, raw)

    @property
    def sensitivity_parameters(self) -> dict[str, float]:
        """Return the parameters by which the results hold derivatives of the sensors, with their values."""
        return next((dict(step.info[SLOPES]) for step in self.steps if SLOPES in step.info), {})

    def sensitivity(self, name: str, parameter: str, step: int | str | None = None, raw: bool = False) -> Series:
        """Return the derivatives (n, k) of the columns of a sensor with respect to a parameter at times t (n,) [s], in
        units of the sensor over that of the parameter.

        Args:
            name: of the sensor.
            parameter: its name, one of `sensitivity_parameters`.
            step: number or name, as of `sensor`.
            raw: whether mid-step quantities are left as they were computed, as of `sensor`.

        Raises:
            ResultsError: there are no derivatives, no such parameter, sensor or step.
        """
        known = self.sensitivity_parameters
        if not known:
            raise ResultsError(f"{self.where}: it holds no derivatives; run fem-mbs sensitivities")
        if parameter not in known:
            raise ResultsError(f'{self.where}: no derivatives by "{parameter}"; there are {", ".join(known)}')
        return self._of_sensor(name, slopes_key(parameter, name), step, raw)

    def _of_sensor(self, name: str, key: str, step: int | str | None, raw: bool) -> Series:
        """Return a series with the columns of a sensor by its ``key``."""
        sensor = self.sensor_entry(name)
        times, values = [], []
        found = self.steps_with(key, step)
        if step is not None and found[0].is_path:
            data = np.asarray(found[0].series[key])
            factor = np.asarray(found[0].series["load factor"])
            return self._series(sensor, factor, data.reshape(len(factor), -1), along=("load factor", "-"))
        for item in found:
            time, data = item.series["time"], item.series[key]
            data = data.reshape(len(time), -1)
            if item.in_middle(sensor):
                rows, time = item.mid_times()
                data = data[rows]
                if not raw:
                    places, later = sensor.get("places", []), data[1:]
                    time, data = (time[1:] + time[:-1]) / 2, (data[1:] + data[:-1]) / 2
                    data[:, places] = later[:, places]
            times.append(time)
            values.append(data)
        return self._series(sensor, np.concatenate(times), np.concatenate(values))

    def _series(self, sensor: dict[str, Any], t: np.ndarray, values: np.ndarray, **options: Any) -> Series:
        count = values.shape[1]
        columns, units = sensor_columns(sensor, count), sensor_units(sensor, count)
        return TupleSeries(sensor["name"], t, values, columns, units, shown=self.units, **options)

    def energy(self, step: int | str | None = None) -> Series:
        """Return the energy ledger [J] of a ``step``, or as `ledger` of all, as a series (n, k); its columns are those
        of `ledger`."""
        found = self.ledger(step)
        time = found.pop("time")
        values = np.column_stack(list(found.values()))
        return Series("energy", time, values, list(found), ["J"] * len(found), shown=self.units)

    def ledger(self, step: int | str | None = None) -> dict[str, np.ndarray]:
        """Return the energy ledger [J]: "time" [s], the columns of the header, "total" and "closing error".

        "total" is the sum of the energies; columns with "work" in their name are work done on the model, those with
        "dissipat" or "damp" energy lost. Works and losses are those since the start of the step; of several steps one
        after another (no `step`) since the start of the first. The closing error is total - work + dissipation, less
        its value in the first row of the step. Columns of these two names written by the run itself are returned
        instead.
        """
        names = list(self.header["ledger"])
        before = dict.fromkeys((n for n in names if _ledger_kind(n) in ("work", "dissipation")), 0.0)
        parts = []
        for item in self.steps_with("ledger", step):
            data = item.series["ledger"]
            part = {"time": item.series["time"], **{name: data[:, column] for column, name in enumerate(names)}}
            total, balance = np.zeros(len(data)), np.zeros(len(data))
            for name in names:
                kind = _ledger_kind(name)
                total += part[name] if kind == "energy" else 0.0
                balance += part[name] * {"energy": 1, "dissipation": 1, "work": -1, "derived": 0}[kind]
            part.setdefault("total", total)
            part.setdefault("closing error", balance - balance[:1])
            for name, value in before.items():
                part[name] = part[name] + value
                before[name] = float(part[name][-1]) if len(data) else value
            parts.append(part)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def to_dataframe(self, step: int | str = -1, base: bool = False) -> pandas.DataFrame:
        """Return all sensors of a step as a table over the time [s], of a path over the load factor: a row per row of
        the step, the columns of `write_sensors_csv`, whose labels name the units.

        Args:
            step: its number (from 0; -1: the last) or its name.
            base: give numbers in the units of the model; else in those of display.

        Raises:
            ResultsError: there is no such step, it has no sensors, or pandas is not installed.
        """
        return sensor_frame(self, self.step_at(step), base)

    def nodes_to_dataframe(self, step: int | str = -1, frame: int = -1, base: bool = False) -> pandas.DataFrame:
        """Return one frame of a step as a table: a row per node, with its place at the start and what the frame holds
        of the nodes (displacements, rotations, velocities, stresses).

        Args:
            step: its number (from 0; -1: the last) or its name.
            frame: its number (from 0; -1: the last).
            base: give numbers in the units of the model; else in those of display.

        Raises:
            ResultsError: there is no such step or frame, or pandas is not installed.
        """
        return node_frame(self, self.step_at(step), frame, base)

    def modes_to_dataframe(self, step: int | str | None = None, base: bool = False) -> pandas.DataFrame:
        """Return the modes, load factors or eigenvalues of a step as a table: a row per mode, by its number from 1.

        Args:
            step: its number (from 0; -1: the last) or its name; None: the last one with modes.
            base: give numbers in the units of the model; else in those of display.

        Raises:
            ResultsError: there is no such step, it has no modes, or pandas is not installed.
        """
        return mode_frame(self, step, base)

    def write_report(self, path: str | Path | None = None) -> Path:
        """Write the report of the run, one HTML file, and return its path; by default report.html in the folder.

        Raises:
            ResultsError: the file cannot be written, or another file has its name.
        """
        target = Path(path) if path is not None else self.folder() / "report.html"
        self.take(target)
        return report_writer()(self, target)

    def write_sensors_csv(self, directory: str | Path | None = None) -> list[Path]:
        """Write one table per step, sensors-<number>-<step>.csv, with time and all sensors, into the folder of the
        results or ``directory``; return their paths.

        Numbers are in the units of display, which the heads of the columns name.

        Mid-step quantities are interpolated to the times of the rows (for equal time steps the mean of the two
        neighbours); where there is no neighbour, at the first and the last row, the cell is empty.
        """
        return write_sensors(self, Path(directory) if directory is not None else self.folder())

    def response(self, name: str, step: int | str | None = None) -> Series:
        """Return the complex amplitudes a (n, k) of the sensor ``name`` over the frequencies f = t (n,) [Hz] of a step
        of harmonic response, by default the last: the sensor changes as Re(a exp(i 2 pi f t)).

        Raises ResultsError for an unknown sensor or step.
        """
        sensor = self.sensor_entry(name)
        item = self.steps_with(f"response/{name}", step)[-1]
        parts = (item.series[f"{key}/{name}"] for key in ("response", "response imaginary"))
        real, imaginary = (part.reshape(len(part), -1) for part in parts)
        return self._series(sensor, item.series["time"], real + 1j * imaginary, along=("frequency", "Hz"))

    def write_response_csv(self, directory: str | Path | None = None) -> list[Path]:
        """Write one table per step of harmonic response, response-<number>-<step>.csv, into the folder of the results
        or ``directory``: frequencies, and amplitudes and phases [degrees] of all sensors; return their paths."""
        return write_responses(self, Path(directory) if directory is not None else self.folder())

    def drives(self, step: int | str | None = None) -> Drives:
        """Return the forces and moments of motions and driven joints in a step, by default the last: (n, k) at times t
        (n,) [s].

        Forces [N] and moments [N m] are those at the ends of time steps, of second order
        (`fem_mbs.model.sensors.sensor.node_values`); loads can take them as tables of time.  ``drives["name"]`` is the
        table of one sensor.

        Raises ResultsError for an unknown step.
        """
        item = self.step_at(-1 if step is None else step)
        if "time" not in item.series:
            raise ResultsError(f'{self.where}: no step holds "time" yet')
        time = item.series["time"]
        tables: dict[str, np.ndarray] = {}
        columns: list[str] = []
        units: list[str] = []
        for sensor in self.header["sensors"]:
            if sensor["kind"] in ("drive", "effort") and f"sensor/{sensor['name']}" in item.series:
                raw = item.series[f"sensor/{sensor['name']}"].reshape(len(time), -1)
                tables[sensor["name"]] = node_values(time, raw, item.mid_step and sensor["mid_step"])
                columns += sensor_columns(sensor, raw.shape[1])
                units += sensor_units(sensor, raw.shape[1])
        values = np.column_stack(list(tables.values())) if tables else np.zeros((len(time), 0))
        by_sensor = {name: table[:, 0] if table.shape[1] == 1 else table for name, table in tables.items()}
        found = Drives("drives", time, values, columns, units, shown=self.units, by_sensor=by_sensor)
        return replace(found, old=self._old_drives(found))

    def _old_drives(self, found: Drives) -> tuple[Any, ...]:
        """Return the tuple that `drives` returned in earlier versions."""
        return found.t, found.labels, found.values

    def write_drives_csv(self) -> list[Path]:
        """Write one table per inverse step, drives-<number>-<step>.csv: time, and what drives at that time, in a form
        that functions of the kind "csv" read; return their paths."""
        return write_drives(self, self.folder())

    def take(self, *paths: Path) -> None:
        """List files ``paths`` that are about to be made of results in a folder, as its own
        (`fem_mbs.results.folder.take`)."""
        if self.directory is not None:
            take(self.directory, paths)


class FolderResults(Results):
    """A result in a folder, on which `Results.open` looks; rows are read when they are asked for."""

    directory: Path

    def __init__(self, index: store.StoreIndex) -> None:
        self._index = index
        self.directory = index.directory
        self.status = index.status
        self.summary = index.end.get("summary", {})
        self.steps = [FolderStep(number, entry) for number, entry in enumerate(index.steps)]
        self.restart_points = [(entry.step, entry.time) for entry in index.restarts]
        with store.open_file(index.header_path) as file:
            self.header = store.read_header(file)
        for step in self.steps:
            step.units = self.units

    def restart(self, number: int = -1) -> dict[str, Any]:
        """Return the state of a restart point (``number`` from 0, -1: the last), bit for bit as it was appended."""
        entries = self._index.restarts
        if not -len(entries) <= number < len(entries):
            raise store.folder_error(self.directory, f"{len(entries)} restart points, no number {number}")
        return store.read_restart(entries[number])

    def write_xdmf(self) -> list[Path]:
        """Write the frames for ParaView: results.xdmf, or results-<number>-<step>.xdmf where several steps have frames;
        return the paths."""
        return write_xdmf(self._index, self.header, self.directory)


def _ledger_kind(name: str) -> str:
    low = name.lower()
    if low in ("total", "closing error"):
        return "derived"
    if "work" in low:
        return "work"
    return "dissipation" if "dissipat" in low or "damp" in low else "energy"


def export(directory: str | Path) -> list[Path]:
    """Write the XDMF files and the sensor tables of a folder, also for a run that was killed or is active.

    Complete a run that was killed while it joined its segments. Return the paths written.
    """
    folder = Path(directory)
    index = store.read_index(folder)
    if index.status == "done" and (folder / store.SEGMENTS).is_dir():
        lock = store.acquire_lock(folder / store.SEGMENTS)
        try:
            finish(folder)
        finally:
            store.release_lock(lock)
    results = Results.open(folder)
    return [*results.write_xdmf(), *results.write_sensors_csv(), *results.write_response_csv()]
