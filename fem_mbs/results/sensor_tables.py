"""Tables of the sensors of a step: a row per row of the step, with time, places on a path and all columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.results.series import sensor_columns, sensor_units
from fem_mbs.units import Units

if TYPE_CHECKING:
    from fem_mbs.results.reader import Step

__all__ = ["csv_lines", "csv_rows", "sensor_head", "sensor_rows", "sensors_in"]

_CSV_ROWS = 20_000  # rows held in memory while a table is written


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
    """Return what rows of a path differ by."""
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
