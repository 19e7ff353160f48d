"""Tables of sensors, responses and drives, as CSV files and data frames, in the units of display."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.dataframes import dataframe
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.files import file_word
from fem_mbs.results import store
from fem_mbs.results.series import sensor_columns, sensor_units
from fem_mbs.units import Units

if TYPE_CHECKING:
    import pandas

    from fem_mbs.results.reader import Results, Step

__all__ = ["csv_lines", "csv_rows", "sensor_frame", "sensors_in", "write_drives", "write_responses", "write_sensors"]

_CSV_ROWS = 20_000  # rows held in memory while a table is written


def _path(results: Results, target: Path, kind: str, step: Step) -> Path:
    """Return the file of a step's table, listed as one of the results."""
    label = file_word(step.name)
    path = target / f"{kind}-{step.number + 1}-{label}.csv"
    results.take(path)
    return path


@store.kept_open()
def write_sensors(results: Results, target: Path) -> list[Path]:
    """Write one table per step, sensors-<number>-<step>.csv (`Results.write_sensors_csv`); return their paths."""
    paths = []
    for step in results.steps:
        sensors = sensors_in(results.header, step)
        if sensors:
            paths.append(_path(results, target, "sensors", step))
            store.write_atomic(paths[-1], csv_lines(step, sensors, results.units))
    return paths


@store.kept_open()
def write_responses(results: Results, target: Path) -> list[Path]:
    """Write one table per step of harmonic response, response-<number>-<step>.csv (`Results.write_response_csv`);
    return their paths."""
    paths = []
    for step in results.steps:
        sensors = [s for s in results.header["sensors"] if f"response/{s['name']}" in step.series]
        if not sensors:
            continue
        label, factor = results.units.column("frequency [Hz]")
        head, table = [label], [factor * step.series["time"][:, None]]
        for sensor in sensors:
            found = results.response(sensor["name"], step.number)
            for column, name, unit in zip(found.values.T, found.columns, found.units, strict=True):
                full = name if name.startswith(sensor["name"]) else f"{sensor['name']} {name}"
                amplitude = f"{full} amplitude"
                label, factor = results.units.column(f"{amplitude} [{unit}]") if unit else (amplitude, 1.0)
                head += [label, f"{full} phase [deg]"]
                table.append(np.column_stack((factor * np.abs(column), np.rad2deg(np.angle(column)))))
        paths.append(_path(results, target, "response", step))
        store.write_atomic(paths[-1], csv_rows(head, np.hstack(table)))
    return paths


@store.kept_open()
def write_drives(results: Results, target: Path) -> list[Path]:
    """Write one table per inverse step, drives-<number>-<step>.csv (`Results.write_drives_csv`); return their paths."""
    paths = []
    for step in results.steps:
        if not recorded_kind(step.type).joint_forces:
            continue
        found = results.drives(step.number)
        head = ",".join(f'"{name}"' for name in ["time [s]", *found.labels]) + "\n"
        rows = (",".join(repr(float(v)) for v in row) + "\n" for row in np.column_stack((found.t, found.values)))
        paths.append(_path(results, target, "drives", step))
        store.write_atomic(paths[-1], itertools.chain([head], rows))
    return paths


# --- all sensors of a step ---------------------------------------------------------------------------------------
def sensors_in(header: dict[str, Any], step: Step) -> list[dict[str, Any]]:
    """Return the sensors of a header that a step holds values of."""
    return [sensor for sensor in header["sensors"] if f"sensor/{sensor['name']}" in step.series]


class _Line:
    """Receive one line from csv.writer."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def csv_rows(head: list[str], table: np.ndarray) -> Iterator[str]:
    """Yield the lines of a table (n, k) below its head."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    for row in (head, *table.tolist()):
        writer.writerow(row)
        yield line.text


def sensor_head(step: Step, sensors: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return names and declared units of the columns of `sensor_rows`."""
    found = [("time", "s"), *((name, "-" if name == "load factor" else "m") for name in _along(step))]
    for sensor in sensors:
        count = int(np.prod(step.column(f"sensor/{sensor['name']}").shape[1:], dtype=int))
        names = sensor_columns(sensor, count)
        for name, unit in zip(names, sensor_units(sensor, count), strict=True):
            found.append((sensor["name"] if names == [sensor["name"]] else f"{sensor['name']} {name}", unit))
    return found


def _along(step: Step) -> list[str]:
    """Return the names of the columns that identify rows of a path."""
    return [name for name in ("load factor", "path length") if name in step.series]


def sensor_rows(step: Step, sensors: list[dict[str, Any]]) -> Iterator[np.ndarray]:
    """Yield the rows (n, k) of the table of a step, some thousands at a time, in the units of the model.

    Mid-step quantities are interpolated to the times of the rows; NaN where there is no neighbour.
    """
    columns = [step.column(f"sensor/{sensor['name']}") for sensor in sensors]
    time = step.series["time"]
    places = [step.series[name] for name in _along(step)]
    middle = any(step.in_middle(sensor) for sensor in sensors)
    rows, mids = step.mid_times() if middle else (np.empty(0, int), np.empty(0))
    for start in range(0, len(time), _CSV_ROWS):
        stop = min(start + _CSV_ROWS, len(time))
        table = [np.asarray(values[start:stop])[:, None] for values in (time, *places)]
        for sensor, column in zip(sensors, columns, strict=True):
            if not step.in_middle(sensor):
                table.append(column[start:stop].reshape(stop - start, -1))
                continue
            # One value more at both ends, to interpolate to the first and last times of this part.
            low, high = np.searchsorted(rows, (start, stop))
            use = slice(max(low - 1, 0), min(high + 1, len(rows)))
            part = column[int(rows[use][0]) : int(rows[use][-1]) + 1] if len(rows[use]) else column[0:0]
            values = part.reshape(len(part), -1)[rows[use] - rows[use][:1]]
            table.append(_interpolate(time[start:stop], mids[use], values, sensor.get("places", [])))
        yield np.hstack(table)


def csv_lines(step: Step, sensors: list[dict[str, Any]], units: Units) -> Iterator[str]:
    """Yield the lines of the table of a step in units of display."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    shown = [units.column(f"{name} [{unit}]") if unit else (name, 1.0) for name, unit in sensor_head(step, sensors)]
    factors = np.array([factor for _, factor in shown])
    writer.writerow([label for label, _ in shown])
    yield line.text
    for table in sensor_rows(step, sensors):
        for row in (table * factors).tolist():
            writer.writerow(["" if value != value else repr(value) for value in row])
            yield line.text


def _interpolate(at: np.ndarray, times: np.ndarray, values: np.ndarray, places: Sequence[int] = ()) -> np.ndarray:
    """Return `values` (n, k) given at `times` (n,) linearly interpolated to `at` (m,); NaN outside of them.

    Columns ``places`` take the later of two rows.
    """
    if len(times) == 0:
        return np.full((len(at), values.shape[1]), np.nan)
    out = np.stack([np.interp(at, times, column, np.nan, np.nan) for column in values.T], axis=1)
    if len(places):
        later = np.minimum(np.searchsorted(times, at), len(times) - 1)
        inside = np.isfinite(out[:, places[0]])[:, None]
        out[:, places] = np.where(inside, values[later][:, places], np.nan)
    return out


def sensor_frame(results: Results, step: Step, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.to_dataframe`."""
    sensors = sensors_in(results.header, step)
    if not sensors:
        raise ResultsError(
            f'{results.where}: step "{step.name}" ({step.type}) has no rows of sensors: ask for '
            "modes_to_dataframe, or a series by its own call"
        )
    named, parts = sensor_head(step, sensors), list(sensor_rows(step, sensors))
    table = np.vstack(parts) if parts else np.empty((0, len(named)))
    order = list(range(len(named)))
    if step.is_path:  # the load factor tells its rows apart, not the time
        factor = [text for text, _ in named].index("load factor")
        order = [factor, *(k for k in order if k != factor)]
    columns = [table[:, k] for k in order]
    return dataframe([named[k] for k in order], columns, results.units.told(base), step.name)
