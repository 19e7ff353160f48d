"""Series of results: values of a sensor, amplitudes of a response, forces of drives, energies, over time or frequency.

series = results.sensor("tip")
series.t, series.values, series.columns, series.unit      # (n,), (n, k), k names, "m"
t, values, columns = results.sensor("tip")                # the same
series.to_dataframe()                                     # a table with the time as its index, in units of display

The summary has statistics of every sensor over a step: extremes with their times and places, mean, root mean square.
Sweeps have them as quantities; `STATISTICS` is the one list of what there is.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from fem_mbs.dataframes import dataframe, tables
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.display import html_table
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.records import Record, entry
from fem_mbs.results.store import kept_open
from fem_mbs.units import Units

if TYPE_CHECKING:
    import pandas
    import xarray

    from fem_mbs.results.reader import Results, Step

__all__ = [
    "ArraySeries", "ColumnStatistics", "Drives", "SLOPES", "STATISTICS", "Series", "StepSensors", "TupleSeries",
    "column_count", "columns_of", "of_step", "sensor_columns", "sensor_units", "sensors_of", "slopes_key", "statistics",
]  # fmt: skip


#: Entry of the info of a step: parameters by which its sensors have derivatives, with their values.
SLOPES = "sensitivities"
_ENDS = 5  # rows of a series at both ends that a notebook shows


def slopes_key(parameter: str, sensor: str) -> str:
    """Return the name of the series that holds the derivatives of a sensor with respect to a parameter."""
    return f"sensitivity/{parameter}/{sensor}"


@dataclass(frozen=True, eq=False)
class Series:
    """Values over time, or over another quantity.

    Attributes:
        name: of the sensor, or what the values are.
        t: (n,) what the rows belong to: times [s], load factors of a path, frequencies [Hz] of a response.
        values: (n, k), complex for a response.
        columns: names of the k columns.
        units: their units, "" where there is none.
        along: name and unit of ``t``.
        shown: the base of the model, in which the numbers are, and the units in which tables show them.

    ``units`` and ``along`` name units as declared, in SI; where the base of the model is another one, `shown.of`
    tells what they stand for.

    A series can be unpacked: ``t, values, columns = series``.
    """

    name: str
    t: np.ndarray
    values: np.ndarray
    columns: list[str]
    units: list[str]
    along: tuple[str, str] = ("time", "s")
    shown: Units = Units()

    @property
    def unit(self) -> str:
        """Return the unit of all columns; for columns with different units all of them, separated by commas."""
        return ", ".join(dict.fromkeys(self.units))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.t, self.values, self.columns))

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        reach = f", {self.along[0]} {self.t[0]:.6g} to {self.t[-1]:.6g} {self.along[1]}" if len(self.t) else ""
        return f"<Series {self.name!r}: {', '.join(self.columns)}{unit}; {len(self.t)} rows{reach}>"

    def _repr_html_(self) -> str:
        """Return the first and the last rows as a table of a notebook, in units of display."""
        units = [self.shown.of(unit) for unit in (self.along[1], *self.units)]
        heads = [f"{n} [{u.unit}]" if u.unit else n for n, u in zip((self.along[0], *self.columns), units, strict=True)]
        count = len(self.t)
        rows = [*range(count)] if count <= 2 * _ENDS else [*range(_ENDS), *range(count - _ENDS, count)]
        values = self.values.reshape(count, -1)
        cells = (
            [f"{u(number):.6g}" for u, number in zip(units, (self.t[k].item(), *values[k].tolist()), strict=True)]
            for k in rows
        )
        title = f"{self.name}: {count} rows"
        return html_table(title, heads, cells, count - len(rows)) or f"<p>{escape(title)}</p>"

    def rms(self) -> np.ndarray:
        """Return the root mean square (k,) of each column over ``t``, in its unit: of straight lines between the rows.

        Raises:
            ResultsError: the values are complex, ``t`` does not grow, or there are fewer than two rows.
        """
        t, values = self._rows("rms")
        step = np.diff(t)[:, None]
        if len(t) < 2 or (step < 0.0).any() or not step.any():
            raise ResultsError(f'Series "{self.name}": rms needs rows over a {self.along[0]} that grows')
        a, b = values[:-1], values[1:]
        return np.sqrt(np.sum(step * (a * a + a * b + b * b), axis=0) / (3.0 * np.sum(step)))

    def peak_to_peak(self) -> np.ndarray:
        """Return the largest less the smallest value (k,) of each column, in its unit.

        Raises:
            ResultsError: the values are complex, or there are none.
        """
        _, values = self._rows("peak_to_peak")
        return np.ptp(values, axis=0)

    def spectrum(self, window: str = "boxcar") -> Series:
        """Return amplitudes over the frequency [Hz], in the units of the columns: A sin(2 pi f t) has A at f.

        They are those of the discrete Fourier transform of all rows, one-sided, over the sum of the ``window`` (of
        `scipy.signal.get_window`).  Without a window, whole periods in the rows have no leakage.

        Raises:
            ResultsError: the rows are not evenly spaced in time.
        """
        from scipy.signal import get_window

        values, h = self._even("spectrum")
        n = len(values)
        weight = get_window(window, n)
        amplitudes = np.abs(np.fft.rfft(weight[:, None] * values, axis=0)) / weight.sum()
        amplitudes[1 : (n + 1) // 2] *= 2.0
        return Series(
            self.name, np.fft.rfftfreq(n, h), amplitudes, self.columns, self.units, ("frequency", "Hz"), self.shown
        )

    def psd(self, window: str = "hann", rows: int | None = None) -> Series:
        """Return the one-sided power spectral density over the frequency [Hz], in squares of the units per Hz.

        Its integral is the mean square of the values about their mean.  Averaged over half overlapping segments of
        ``rows`` rows (None: one segment) by Welch's method (`scipy.signal.welch`) with a ``window``.

        Raises:
            ResultsError: the rows are not evenly spaced in time, or fewer than ``rows``.
        """
        from scipy.signal import welch

        values, h = self._even("psd")
        count = len(values) if rows is None else rows
        if not 2 <= count <= len(values):
            raise ResultsError(f'Series "{self.name}": psd(rows={rows}) must be from 2 to its {len(values)} rows')
        f, density = welch(values, 1.0 / h, window=window, nperseg=count, axis=0)
        units = [f"({unit})^2/Hz" if unit else "1/Hz" for unit in self.units]
        return Series(self.name, f, density, self.columns, units, ("frequency", "Hz"), self.shown)

    def transfer(
        self, excitation: Series, rows: int | None = None, window: str = "hann", column: str | None = None
    ) -> Series:
        """Return the transfer function H1 = Gxy/Gxx from an excitation x to these values y, complex over the frequency
        [Hz].

        H1 is the least-squares estimate where noise is in y alone (Bendat & Piersol 2010, section 6.1.4).  Spectra are
        averaged over half overlapping segments by Welch's method (`scipy.signal.csd`); what the segments leak makes
        an error of order 1/(rows damping) near sharp resonances.  Times that only one of both series has are left out.

        Args:
            excitation: series with the same distance of times.
            rows: of a segment; None: a quarter of all.
            window: of `scipy.signal.get_window`.
            column: of the excitation, "x" or "road.x"; needed where it has several.

        Raises:
            ResultsError: the times are uneven or differ, fewer than two segments, or no excitation.
        """
        f, crossed, ingoing, _ = self._crossed(excitation, rows, window, column, "transfer")
        name = f"{self.name} / {excitation.name}"
        unit = excitation.units[excitation.place_of(column, "transfer")]
        units = [f"({own or 1})/({unit})" if unit else own for own in self.units]
        return Series(name, f, crossed / ingoing[:, None], self.columns, units, ("frequency", "Hz"), self.shown)

    def coherence(
        self, excitation: Series, rows: int | None = None, window: str = "hann", column: str | None = None
    ) -> Series:
        """Return the coherence |Gxy|^2/(Gxx Gyy), 0 to 1, with an excitation over the frequency [Hz].

        1: y follows from x by a linear system.  It is less with noise, other excitations, nonlinear behaviour or
        leakage.

        Args:
            excitation, rows, window, column: as of `transfer`.

        Raises:
            ResultsError: as `transfer`.
        """
        f, crossed, ingoing, out = self._crossed(excitation, rows, window, column, "coherence")
        power = ingoing[:, None] * out
        shared = np.divide(np.abs(crossed) ** 2, power, out=np.zeros_like(power), where=power > 0.0)
        name = f"{self.name} / {excitation.name}"
        return Series(name, f, shared, self.columns, [""] * len(self.columns), ("frequency", "Hz"), self.shown)

    def place_of(self, column: str | None, asked: str) -> int:
        """Return the place of a column, by its name with or without that of the series; None: the only one.

        Raises:
            ResultsError: there is no such column, or there are several; it says who ``asked``.
        """
        found = [k for k, name in enumerate(self.columns) if column in (None, name, name.removeprefix(f"{self.name}."))]
        if len(found) != 1:
            given = "one column" if column is None else f'one column, and "{column}" is none'
            raise ResultsError(f'Series "{self.name}": {asked} needs {given}; name one of {", ".join(self.columns)}')
        return found[0]

    def _crossed(
        self, excitation: Series, rows: int | None, window: str, column: str | None, asked: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return f (m,), Gxy (m, k), Gxx (m,) and Gyy (m, k) over segments of rows."""
        from scipy.signal import csd, welch

        y, x, h = self._together(excitation, asked)
        k = excitation.place_of(column, asked)
        count = len(y) // 4 if rows is None else rows
        if count < 4 or count + count - count // 2 > len(y):
            raise ResultsError(
                f'Series "{self.name}": {asked} needs two half overlapping segments or more, of 4 rows or more; '
                f"{count} rows in each of {len(y)} are no such; give rows from 4 to {2 * len(y) // 3}"
            )
        options = {"fs": 1.0 / h, "window": window, "nperseg": count, "axis": 0}
        f, ingoing = welch(x[:, k], **options)
        # a column that rounding alone moves is no excitation
        if not ingoing.max() * f[1] > (1e-12 * np.abs(x[:, k]).max()) ** 2:
            raise ResultsError(f'Series "{excitation.name}": {asked} needs an excitation, but it is constant')
        if not (ingoing > 0.0).all():
            raise ResultsError(
                f'Series "{excitation.name}": {asked} finds frequencies without any excitation; choose another window'
            )
        return f, csd(x[:, k, None], y, **options)[1], ingoing, welch(y, **options)[1]

    def _together(self, other: Series, asked: str) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the values (n, k) of both series at the times that both have, and the distance of these [s]."""
        own, h = self._even(asked)
        values, step = other._even(asked)
        shift = (other._rows(asked)[0][0] - self._rows(asked)[0][0]) / h
        first = round(shift)  # row of self at the first row of the other
        count = min(len(own) - max(first, 0), len(values) - max(-first, 0))
        if abs(step - h) * max(len(own), len(values)) > 1e-3 * h or abs(shift - first) > 1e-3 or count < 3:
            raise ResultsError(
                f'Series "{self.name}": {asked} needs an excitation at the same times, but "{other.name}" has others'
            )
        return own[max(first, 0) :][:count], values[max(-first, 0) :][:count], h

    def _rows(self, asked: str) -> tuple[np.ndarray, np.ndarray]:
        """Return ``t`` (n,) and values (n, k) of the rows that hold numbers."""
        if np.iscomplexobj(self.values):
            raise ResultsError(f'Series "{self.name}": {asked} needs real values, not amplitudes of vibrations')
        values = self.values.reshape(len(self.t), -1)
        good = np.isfinite(values).all(axis=1)
        if not good.any():
            raise ResultsError(f'Series "{self.name}": {asked} needs values, of which there are none')
        return self.t[good], values[good]

    def _even(self, asked: str) -> tuple[np.ndarray, float]:
        """Return values (n, k) at times that are evenly spaced, and their distance [s]; where steps meet the later row
        counts."""
        t, values = self._rows(asked)
        once = np.append(np.diff(t) != 0.0, True)
        t, values = t[once], values[once]
        steps = np.diff(t)
        if self.along[0] != "time" or len(t) < 3 or np.ptp(steps) > 1e-6 * abs(steps.mean()) or steps.mean() <= 0.0:
            raise ResultsError(
                f'Series "{self.name}": {asked} needs three rows or more that are evenly spaced in time; ask for one '
                "transient step, without events"
            )
        return values, float(steps.mean())

    def to_dataframe(self, base: bool = False) -> pandas.DataFrame:
        """Return a table with the columns of the series, and ``t`` as its index; labels name the units.

        ``attrs`` of the table has the name of the series, and the units of the columns by their labels.

        Args:
            base: give numbers in the units of the model; else in those of display.

        Raises:
            ResultsError: pandas is not installed.
        """
        named = [(self.along[0], self.along[1]), *zip(self.columns, self.units, strict=True)]
        values = self.values.reshape(len(self.t), -1)
        return dataframe(named, [self.t, *values.T], self.shown.told(base), self.name)

    def to_xarray(self) -> xarray.DataArray:
        """Return an array with the dimensions of ``along`` and "column"; units are coordinates of the columns.

        Raises:
            ResultsError: xarray is not installed.
        """
        over, unit = self.along
        array = tables("xarray").DataArray(
            self.values,
            dims=(over, "column"),
            coords={over: self.t, "column": self.columns, "unit": ("column", self.units)},
            name=self.name,
        )
        array[over].attrs["units"] = unit
        return array


@dataclass(frozen=True, eq=False, repr=False)
class TupleSeries(Series):
    """A series that takes the numbers 0, 1 and 2 as the tuple (t, values, columns), which it once was."""

    def __getitem__(self, number: int) -> Any:
        found = (self.t, self.values, self.columns)[number]
        _warn("a number takes an item of the tuple that sensor() once gave: take .t, .values or .columns")
        return found


@dataclass(frozen=True, eq=False, repr=False)
class ArraySeries(Series, NDArrayOperatorsMixin):
    """A series of a run in memory, which acts as the array that ``Solution.sensor`` once gave.

    ``array`` is that array: the rows of one step as they were computed, the first one of a mid-step quantity NaN.
    Where this differs from ``values``, use as an array gives a DeprecationWarning.
    """

    array: np.ndarray = field(default_factory=lambda: np.empty(0))

    def _old(self) -> np.ndarray:
        if not self._same:
            _warn(
                f'sensor("{self.name}") is no array: here it stands for the rows of one step as they were computed, '
                "with NaN in the first row of a mid-step quantity; take .values of sensor(name, step, raw=True)"
            )
        return self.array

    @cached_property
    def _same(self) -> bool:
        return np.array_equal(self.array, self.values, equal_nan=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        old = self._old()
        return np.array(old, dtype) if copy else np.asarray(old, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = [item._old() if isinstance(item, ArraySeries) else item for item in inputs]
        return getattr(ufunc, method)(*given, **options)

    def __getitem__(self, key: Any) -> Any:
        return self._old()[key]

    def __len__(self) -> int:
        return len(self._old())

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute of the array: ``shape``, ``max``, ``ravel`` ..."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._old(), name)


@dataclass(frozen=True, eq=False, repr=False)
class Drives(Series):
    """Forces and moments of motions and driven joints in a step; ``drives["name"]`` (n,) or (n, k) is the table of one
    sensor.

    ``old`` is the tuple that ``drives()`` returned in earlier versions: over a folder times, labels and values; in
    memory times and a dictionary of the tables.  Unpacking still gives it, with a DeprecationWarning.
    """

    by_sensor: dict[str, np.ndarray] = field(default_factory=dict)
    old: tuple[Any, ...] = ()

    @property
    def labels(self) -> list[str]:
        """Return the names of the columns with their units."""
        return [f"{name} [{unit}]" for name, unit in zip(self.columns, self.units, strict=True)]

    def __iter__(self) -> Iterator[Any]:
        _warn('drives() is no tuple: take .t, .values, .labels, or ["name of a sensor"]')
        return iter(self.old)

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            _warn('drives() is no tuple: take .t, .values, .labels, or ["name of a sensor"]')
            return self.old[key]
        if key not in self.by_sensor:
            raise ResultsError(f'Results: no drive "{key}": there are {", ".join(self.by_sensor) or "none"}')
        return self.by_sensor[key]


def _warn(text: str) -> None:
    """Warn of an old use, at the line of the caller outside of this module and of numpy."""
    level, frame = 1, inspect.currentframe()
    own = (__file__, str(Path(np.__file__).parent))
    while frame is not None and frame.f_code.co_filename.startswith(own):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"fem-mbs: {text}", DeprecationWarning, stacklevel=level)


def sensor_columns(sensor: dict[str, Any], count: int) -> list[str]:
    """Return the column names of a sensor; a single unnamed column takes the name of the sensor."""
    names = list(sensor.get("columns") or [])
    if len(names) == count:
        return names
    return [sensor["name"]] if count == 1 else [str(number + 1) for number in range(count)]


def sensor_units(sensor: dict[str, Any], count: int) -> list[str]:
    """Return the units of the columns of a sensor, "" where there is none."""
    unit = sensor.get("unit") or ""
    return list(unit) if isinstance(unit, (list, tuple)) else [unit] * count


# --- statistics ------------------------------------------------------------------------------------------------------
MOST = 100  # columns of one step in the summary

#: Names of the statistics of a column, and whether they are in the unit of the sensor.
STATISTICS = {
    "min": True, "max": True, "absmax": True, "end": True, "mean": True, "rms": True, "peak_to_peak": True,
    "time_of_min": False, "time_of_max": False,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ColumnStatistics(Record):
    """Statistics of one column of a sensor over a step, in its unit."""

    unit: str = entry("of the values", optional=True)
    min: float = entry("smallest value")
    max: float = entry("largest value")
    time_of_min: float = entry("of a path the load factor", unit="s")
    time_of_max: float = entry("of a path the load factor", unit="s")
    place_of_min: dict[str, float] | None = entry("where the smallest value is, of sensors over a part", optional=True)
    place_of_max: dict[str, float] | None = entry("where the largest value is, of sensors over a part", optional=True)
    mean: float | None = entry("over the time, by straight lines between the rows", optional=True)
    rms: float | None = entry("root mean square over the time, likewise", optional=True)
    end: float = entry("last value")

    def named(self) -> Iterator[tuple[str, float | None]]:
        """Yield the names in `STATISTICS` with their values, None for a missing one."""
        for name in STATISTICS:
            if name == "absmax":
                yield name, max(abs(self.min), abs(self.max))
            elif name == "peak_to_peak":
                yield name, self.max - self.min
            else:
                yield name, getattr(self, name)


@dataclass(frozen=True, kw_only=True)
class StepSensors(Record):
    """Statistics of the sensors over one step."""

    step: str = entry("its name")
    columns: dict[str, ColumnStatistics] = entry("by the names of the columns")
    left_out: int | None = entry(f"number of columns beyond the first {MOST}", optional=True)


def column_name(sensor: str, title: str) -> str:
    """Return the name of a column with that of its sensor in front."""
    return title if title == sensor or title.startswith(f"{sensor}.") else f"{sensor}.{title}"


def columns_of(header: dict[str, Any], count: int) -> Iterator[tuple[int, str, str]]:
    """Yield number, name and unit ("" for none) of the columns of a sensor that have statistics, given its header."""
    places = header.get("places", [])
    titles, units = sensor_columns(header, count), sensor_units(header, count)
    for k, (title, unit) in enumerate(zip(titles, units, strict=True)):
        if k not in places:
            yield k, column_name(header["name"], title), "" if unit == "-" else unit


def column_count(results: Results, header: dict[str, Any]) -> int:
    """Return the number of columns of a sensor that have statistics, given its header; its values are not read."""
    key = f"sensor/{header['name']}"
    shape = results.steps_with(key)[0].column(key).shape
    return sum(1 for _ in columns_of(header, int(np.prod(shape[1:], dtype=int))))


def statistics(header: dict[str, Any], t: np.ndarray, values: np.ndarray) -> dict[str, ColumnStatistics]:
    """Return the statistics of a sensor's columns with values (n, k) at t (n,), by their names; of none without values.

    Mean and root mean square are those of straight lines between the rows, and None where ``t`` does not grow.
    """
    places = sorted(header.get("places", []))
    titles = sensor_columns(header, values.shape[1])
    found = {}
    for k, name, unit in columns_of(header, values.shape[1]):
        good = np.isfinite(values[:, k])
        if not good.any():
            continue
        rows, time, own = np.flatnonzero(good), t[good], values[good, k]
        low, high = int(own.argmin()), int(own.argmax())
        step = np.diff(time)
        mean = rms = None
        if len(time) > 1 and (step >= 0.0).all() and step.any():
            a, b = own[:-1], own[1:]
            mean = float(np.sum(step * 0.5 * (a + b)) / step.sum())
            rms = float(np.sqrt(np.sum(step * (a * a + a * b + b * b)) / (3.0 * step.sum())))
        where = []
        for row in (low, high):  # the columns of places behind that of the value tell where it is
            behind = [j for j in places if j > k and not any(i not in places for i in range(k + 1, j))]
            mine = values[rows[row], behind]
            words = [titles[j].rpartition(" ")[2] for j in behind]
            where.append({w: float(v) for w, v in zip(words, mine, strict=True)} or None)
        found[name] = ColumnStatistics(
            unit=unit or None,  # type: ignore[arg-type]
            min=float(own[low]), max=float(own[high]), time_of_min=float(time[low]), time_of_max=float(time[high]),
            place_of_min=where[0], place_of_max=where[1], mean=mean, rms=rms, end=float(own[-1]),
        )  # fmt: skip
    return found


def of_step(results: Results, step: Step) -> Iterator[tuple[str, ColumnStatistics]]:
    """Yield names and statistics of all columns of the sensors in a step."""
    for sensor in results.header["sensors"]:
        key = f"sensor/{sensor['name']}"
        if key in step.series and len(step.series["time"]):
            series = results.sensor(sensor["name"], step.number)
            yield from statistics(sensor, series.t, series.values).items()


@kept_open()
def sensors_of(results: Results) -> list[StepSensors]:
    """Return the statistics of the sensors over the steps whose rows are states, in the order of the steps."""
    found = []
    for step in results.steps:
        kind = recorded_kind(step.type)
        if not kind.states:
            continue
        columns = dict(of_step(results, step))
        if columns:
            kept = dict(list(columns.items())[:MOST])
            found.append(StepSensors(step=step.name, columns=kept, left_out=len(columns) - len(kept) or None))
    return found
