"""Derivatives of single numbers of a run: statistics and integrals of sensors, values at a time, checks, parameters.

A name is that of a sweep's quantity (``transient.tip.x.absmax``); besides there are ``integral``, over the time, and
``@TIME``, the value at a time (``transient.tip.x@0.5``).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import trapezoid

from fem_mbs.declarations.steps import recorded_kind, step_kind
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.checks import measure
from fem_mbs.results.series import STATISTICS, columns_of, statistics
from fem_mbs.units import messages_in, unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.solution import Solution
    from fem_mbs.model.model import CompiledModel, Model

__all__ = ["Column", "Columns", "Quantity", "check_name", "known_columns"]

#: Statistics that are times of rows.
_TIMES = [word for word, valued in STATISTICS.items() if not valued]
#: What a quantity of a column can be.
WORDS = (*(word for word, valued in STATISTICS.items() if valued), "integral")
_READ = 1e-7  # change of a series over its size, in differences of root mean squares


@dataclass(frozen=True)
class Column:
    """A column of a sensor over a step: t (n,), values (n,) and their derivatives (n_par, n) with respect to the
    parameters; rows without values are left out."""

    name: str
    unit: str
    t: np.ndarray
    values: np.ndarray
    slopes: np.ndarray


@dataclass(frozen=True)
class Quantity:
    """A number of a run: its name, value and unit, and its derivatives (n_par,)."""

    name: str
    value: float
    unit: str
    slopes: np.ndarray


def known_columns(compiled: CompiledModel, steps: Sequence[str]) -> list[str]:
    """Return the names of all columns of sensors that a run will have, given distinct names of its steps."""
    headers = [sensor.header for sensor in compiled.sensors]
    columns = [name for header in headers for _, name, _ in columns_of(header, len(header["columns"]))]
    moved = [name for name, step in zip(steps, compiled.model.steps, strict=True) if step_kind(step.kind).states]
    return [f"{name}.{column}" for name in moved for column in columns]


def check_name(name: str, columns: Sequence[str], model: Model) -> None:
    """Refuse what is no quantity with a derivative, given the columns that there are.

    Raises:
        ModelError: naming those that are near.
    """
    column, _, word = name.rpartition(".")
    if column in columns and word in _TIMES:
        raise ModelError(
            f'"{name}" is the time of a row and has no derivative', owner=Owner("Sensitivities"), key="quantity",
            value=name, remedy=f"take {column}.max or {column}.min",
        )  # fmt: skip
    known = [f"{column}.{word}" for column in columns for word in WORDS]
    known += [f"check.{check.name}" for check in model.checks] + [f"parameter.{own}" for own in model.parameters]
    if name in known or ("@" in name and name.rpartition("@")[0] in columns):
        return
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.5) or known[:8]
    raise ModelError(
        f'"{name}" is no quantity that has a derivative', owner=Owner("Sensitivities"), key="quantity", value=name,
        remedy="there are statistics, integrals and values at a time (@TIME) of sensors, checks and parameters"
        + (f": {', '.join(near)}" if near else ""),
    )  # fmt: skip


class Columns:
    """All columns of the sensors of a run with their derivatives, and numbers made of them.

    Args:
        solution: the run.
        results: of each parameter, the derivatives of its rows.
        parameters: of each parameter, the derivatives of the parameters of the model file by their names.
        names: of the steps, distinct.
        sizes: (n_par,) of the parameters, by which they are scaled in ``results`` and ``parameters``.
    """

    def __init__(
        self, solution: Solution, results: list[Solution], parameters: list[dict[str, float]], names: list[str],
        sizes: np.ndarray,
    ) -> None:  # fmt: skip
        self.solution, self.parameters, self.sizes = solution, parameters, sizes
        self.of: dict[str, Column] = {}
        self._sensors: dict[tuple[str, int], list[str]] = {}
        for name, step in zip(names, solution.steps, strict=True):
            if not recorded_kind(step.type).states:
                continue
            for header in solution.header["sensors"]:
                series = solution.sensor(header["name"], step.number)
                changed = [found.sensor(header["name"], step.number).values for found in results]
                for k, column, unit in columns_of(header, series.values.shape[1]):
                    good = np.isfinite(series.values[:, k])
                    slopes = np.array([values[good, k] for values in changed]).reshape(len(results), good.sum())
                    slopes = slopes / sizes[:, None]
                    self.of[f"{name}.{column}"] = Column(
                        f"{name}.{column}", unit, series.t[good], series.values[good, k], slopes
                    )
                    self._sensors.setdefault((header["name"], k), []).append(f"{name}.{column}")

    def quantity(self, name: str) -> Quantity:
        """Return a number of the run with its derivatives.

        Raises:
            ModelError: there is no such number, or it has no derivative.
        """
        model = self.solution.compiled.model
        check_name(name, list(self.of), model)
        kind, _, rest = name.partition(".")
        if kind == "check":
            return self._check(name, rest)
        if kind == "parameter":
            slopes = np.array([own.get(rest, 0.0) for own in self.parameters]) / self.sizes
            return Quantity(name, float(model.parameters[rest]), "", slopes)
        column, at, time = name.rpartition("@")
        if at:
            with messages_in(model.shown_units):
                return self._at(self.of[column], name, time)
        column, _, word = name.rpartition(".")
        return self._made(self.of[column], name, word)

    def _made(self, column: Column, name: str, word: str) -> Quantity:
        """Return a statistic or the integral of a column."""
        t, values = column.t, column.values
        if word == "integral":
            if len(t) < 2 or not (np.diff(t) >= 0.0).all():
                raise ModelError(f'"{name}" needs rows over a time that passes', owner=Owner("Sensitivities"))
            slopes = trapezoid(column.slopes, t, axis=1)
            unit = f"{column.unit} s" if column.unit else "s"
            return Quantity(name, float(trapezoid(values, t)), unit, slopes)

        def of(values: np.ndarray) -> float:
            own = next(iter(statistics({"name": "x", "columns": ["x"]}, t, values[:, None]).values()))
            found = dict(own.named())[word]
            if found is None:
                raise ModelError(f'"{name}" needs rows over a time that passes', owner=Owner("Sensitivities"))
            return found

        low, high = int(values.argmin()), int(values.argmax())
        largest = high if abs(values[high]) >= abs(values[low]) else low
        rows: dict[str, Callable[[np.ndarray], Any]] = {
            "min": lambda s: s[:, low],
            "max": lambda s: s[:, high],
            "absmax": lambda s: np.sign(values[largest]) * s[:, largest],
            "end": lambda s: s[:, -1],
            "peak_to_peak": lambda s: s[:, high] - s[:, low],
        }
        if word in rows:
            return Quantity(name, of(values), column.unit, rows[word](column.slopes))
        return Quantity(name, of(values), column.unit, self._differences(of, column))

    @staticmethod
    def _differences(of: Callable[[np.ndarray], float], column: Column) -> np.ndarray:
        """Return derivatives of a smooth function of a series."""
        found = []
        for slope in column.slopes:
            size, largest = float(np.abs(column.values).max()), float(np.abs(slope).max())
            e = _READ * size / largest if size > 0.0 and largest > 0.0 else 1.0
            found.append((of(column.values + e * slope) - of(column.values - e * slope)) / (2.0 * e))
        return np.array(found)

    def _at(self, column: Column, name: str, text: str) -> Quantity:
        """Return the value of a column at a time, on the straight line between two rows."""
        try:
            time = float(text)
        except ValueError:
            time = np.nan
        slack = 1e-9 * max(abs(float(column.t[0])), abs(float(column.t[-1])))
        if not column.t[0] - slack <= time <= column.t[-1] + slack:
            raise ModelError(
                f'"{name}": {text} is no time from {column.t[0]:g} to {column.t[-1]:g} {unit_of("s")}',
                owner=Owner("Sensitivities"), key="quantity", value=name,
            )  # fmt: skip
        slopes = np.array([np.interp(time, column.t, slope) for slope in column.slopes])
        return Quantity(name, float(np.interp(time, column.t, column.values)), column.unit, slopes)

    def _check(self, name: str, check_name: str) -> Quantity:
        """Return the value that a check measures."""
        check = next(c for c in self.solution.compiled.model.checks if c.name == check_name)
        sensor, k = check.column(self.solution.header["sensors"])
        columns = [self.of[c] for c in self._sensors.get((sensor, k), [])]
        moving = [c for c in columns if len(np.unique(c.t)) > 1] or columns
        t, values = (np.concatenate([getattr(c, part) for c in moving]) for part in ("t", "values"))
        slopes = np.concatenate([c.slopes for c in moving], axis=1)
        measured, time = measure(t, values, check.quantity, check.at)
        if measured is None or time is None:
            raise ModelError(f'the check "{check_name}" measures nothing in this run', owner=Owner("Sensitivities"))
        if check.quantity == "at":
            found = np.array([np.interp(time, t, slope) for slope in slopes])
        else:
            row = int(np.flatnonzero((t == time) & (values == measured))[0])
            found = slopes[:, row]
        return Quantity(name, measured, moving[0].unit, found)
