"""Derivatives of a transient with respect to parameters of its model, found in one run: `sensitivities`.

    found = sensitivities("model.toml", ["section.rod.diameter", "damping"], ["transient.tip.y.absmax"])
    found.derivative("transient.tip.y.absmax", "damping")
    found.series("transient.tip.y", "damping").values

The time steps are differentiated with their own tangents, once for all parameters; docs/theory.md says how.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.formats import is_deck
from fem_mbs.declarations.kinds import shown
from fem_mbs.display import html_table
from fem_mbs.errors import ModelError, Owner, ResultsError
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.modelfile.paths import locate, refuse_idle, set_value
from fem_mbs.modelfile.read import build_model, check_model_data, load_model, parse_model_file
from fem_mbs.modelfile.writer import model_data
from fem_mbs.results import store
from fem_mbs.results.series import Series
from fem_mbs.sweeps.names import step_names

if TYPE_CHECKING:
    import pandas

    from fem_mbs.analysis.sensitivity.changed import Changed, Parameter
    from fem_mbs.analysis.sensitivity.quantities import Column, Columns, Quantity
    from fem_mbs.analysis.solution import Progress, Solution
    from fem_mbs.results.reader import Results

__all__ = ["FILES", "Sensitivities", "sensitivities"]

JSON, CSV, SERIES = "sensitivities.json", "sensitivities.csv", "sensitivity_series.csv"
FILES = (JSON, CSV, SERIES)
FORMAT = "fem-mbs sensitivities 1"
#: Tables of a model file whose keys are no properties of the model.
_OTHERS = {"step": "a step", "check": "a check"}


@dataclass
class Sensitivities:
    """Derivatives of a run with respect to parameters.

    Attributes:
        title: of the model.
        parameters: the parameters by their names, with their values.
        quantities: the numbers that were asked for, with their values, units and derivatives (n_par,).
        solution: the run itself.
        seconds: wall time of the run with its derivatives, without the models beside it; of making these.
        warnings: sentences on what to know.
        columns: all columns of the sensors with their derivatives.
    """

    title: str
    parameters: dict[str, float]
    quantities: list[Quantity]
    solution: Solution
    seconds: tuple[float, float]
    warnings: list[str] = field(default_factory=list)
    columns: Columns | None = None

    def __repr__(self) -> str:
        return f"<Sensitivities {self.title!r}: {len(self.quantities)} quantities by {', '.join(self.parameters)}>"

    def _repr_html_(self) -> str:
        """Return the derivatives as a table of a notebook."""
        return html_table(self.title, *self.table())

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return heads and rows of texts: quantity, value, and per parameter the derivative and the relative one, in
        units of display."""
        heads = ["quantity", "value", "unit"]
        for name in self.parameters:
            heads += [f"d/d {name}", "relative"]
        rows = []
        for q in self.quantities:
            shown = self.solution.units.of(q.unit)
            row = [q.name, f"{shown(q.value):.6g}", shown.unit]
            for slope, relative in zip(shown(q.slopes), self.relative(q.name), strict=True):
                row += [f"{slope:.6g}", "" if math.isnan(relative) else f"{relative:.4g}"]
            rows.append(row)
        return heads, rows

    def _number(self, parameter: str) -> int:
        names = list(self.parameters)
        if parameter not in names:
            raise ResultsError(f'Sensitivities: no parameter "{parameter}"; there are {", ".join(names)}')
        return names.index(parameter)

    def quantity(self, name: str) -> Quantity:
        """Return a number of the run with its derivatives, by its ``name``; also one that was not asked for.

        Raises:
            ModelError: there is no such number, or it has no derivative.
        """
        assert self.columns is not None
        return next((q for q in self.quantities if q.name == name), None) or self.columns.quantity(name)

    def derivative(self, quantity: str, parameter: str) -> float:
        """Return the derivative of a quantity, in its unit over that of the parameter.

        Raises:
            ModelError, ResultsError: there is no such quantity or parameter.
        """
        k = self._number(parameter)
        return float(self.quantity(quantity).slopes[k])

    def gradient(self, quantity: str) -> np.ndarray:
        """Return the derivatives (n_par,) of a quantity with respect to all parameters.

        Raises:
            ModelError: there is no such quantity.
        """
        return np.array(self.quantity(quantity).slopes)

    def relative(self, quantity: str) -> np.ndarray:
        """Return relative sensitivities (n_par,): change of the quantity over itself, per change of the parameter over
        itself; NaN where one is zero."""
        q, values = self.quantity(quantity), np.array(list(self.parameters.values()))
        if q.value == 0.0:
            return np.full(len(values), np.nan)
        return np.where(values != 0.0, q.slopes * values / q.value, np.nan)

    def column(self, column: str) -> Column:
        """Return a ``column`` of a sensor over the time, with its derivatives: step and column, "transient.tip.y".

        Raises:
            ResultsError: there is none.
        """
        assert self.columns is not None
        if column not in self.columns.of:
            raise ResultsError(f'Sensitivities: no column "{column}"; there are {", ".join(self.columns.of)}')
        return self.columns.of[column]

    def series(self, column: str, parameter: str) -> Series:
        """Return the derivative of a column of a sensor over the time, at the times of the results.

        Args:
            column: step and column: "transient.tip.y".
            parameter: its name.

        Raises:
            ResultsError: there is no such column or parameter.
        """
        k, own = self._number(parameter), self.column(column)
        return Series(
            f"d {column} / d {parameter}", own.t, own.slopes[k][:, None], [own.name], [own.unit],
            shown=self.solution.units,
        )  # fmt: skip

    def to_dataframe(self, base: bool = False) -> pandas.DataFrame:
        """Return a table with a row per quantity: its value, and its derivative with respect to each parameter.

        Args:
            base: give quantities in the units of the model; else in those of display.

        Raises:
            ResultsError: pandas is not installed.
        """
        from fem_mbs.dataframes import tables

        units = self.solution.units.told(base)
        shown = [units.of(q.unit) for q in self.quantities]
        data: dict[str, Any] = {
            "value": [s(q.value) for s, q in zip(shown, self.quantities, strict=True)],
            "unit": [s.unit for s in shown],
        }
        data |= {
            name: [float(s(q.slopes)[k]) for s, q in zip(shown, self.quantities, strict=True)]
            for k, name in enumerate(self.parameters)
        }
        return tables("pandas").DataFrame(data, index=[q.name for q in self.quantities])

    def write(self, directory: str | Path) -> list[Path]:
        """Write sensitivities.json, a table of the quantities (sensitivities.csv), and the derivatives of all columns
        over the time (sensitivity_series.csv) into the folder ``directory``; return their paths.  The tables are in
        units of display, sensitivities.json in those of the model.

        Raises:
            ResultsError: they cannot be written.
        """
        assert self.columns is not None
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        store.write_json(folder / JSON, self.to_json())
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["quantity", "value", "unit", *(f"d/d {name}" for name in self.parameters)])
        units = self.solution.units
        for q in self.quantities:
            shown = units.of(q.unit)
            writer.writerow([q.name, repr(shown(q.value)), shown.unit, *map(repr, shown(q.slopes).tolist())])
        store.write_atomic(folder / CSV, text.getvalue())
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        time = units.of("s")
        heads = ["column", "unit", f"time [{time.unit}]", "value", *(f"d/d {name}" for name in self.parameters)]
        writer.writerow(heads)
        for own in self.columns.of.values():
            shown = units.of(own.unit)
            rows = zip(time(own.t).tolist(), shown(own.values).tolist(), shown(own.slopes).T.tolist(), strict=True)
            for t, value, slopes in rows:
                writer.writerow([own.name, shown.unit, repr(t), repr(value), *map(repr, slopes)])
        store.write_atomic(folder / SERIES, text.getvalue())
        return [folder / JSON, folder / CSV, folder / SERIES]

    def write_results(
        self, directory: str | Path, source: str | Path | None = None, overwrite: bool = False
    ) -> Results:
        """Write the run with the derivatives of its sensors as a results folder, and return it; restart points are left
        out.

        Args:
            directory: the folder.
            source: the model file, by which the model is known in the folder; None: it is known by its title.
            overwrite: take the folder of another model, or one with other files in it, too.

        Raises:
            ResultsError: the folder cannot be used.
        """
        from fem_mbs.sweeps.sensitivity_results import write_run

        return write_run(self.solution, directory, source, overwrite)

    def to_json(self) -> dict[str, Any]:
        """Return parameters, quantities with their derivatives, and warnings, for JSON."""
        return {
            "format": FORMAT,
            "title": self.title,
            "shown": self.solution.units.to_json(),
            "parameters": [{"path": name, "value": value} for name, value in self.parameters.items()],
            "quantities": [
                {
                    "name": q.name, "value": q.value, "unit": q.unit, "derivatives": q.slopes.tolist(),
                    "relative": [None if math.isnan(v) else v for v in self.relative(q.name).tolist()],
                }
                for q in self.quantities
            ],
            "warnings": self.warnings,
        }  # fmt: skip


def sensitivities(
    model: str | Path | Model | Callable[..., Model],
    parameters: Sequence[str] | Mapping[str, float],
    quantities: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    idle: bool = False,
) -> Sensitivities:
    """Run a model once and return the derivatives of quantities of its results with respect to parameters.

    Args:
        model: model file (TOML), a model, or a function that makes the model of its arguments.
        parameters: numbers by their paths as of `fem_mbs.sweep` ("section.rod.diameter", "gravity.2", or the name of a
            parameter); of a function its arguments by their names with their values.  With a mapping of a file, values
            other than those that it holds.
        quantities: names of quantities as of a sweep (statistics of sensors, checks, parameters), and
            "STEP.COLUMN.integral", "STEP.COLUMN@TIME"; none: largest absolute and last value of each column.
        progress: is called with how far the run is.
        idle: allow parameters on which no sensor depends.

    Raises:
        ModelError: the model, a parameter or a quantity; what has no derivative.
        AnalysisError: the run fails.
    """
    from fem_mbs.analysis.run import solve
    from fem_mbs.analysis.sensitivity.derivatives import Derivatives
    from fem_mbs.analysis.sensitivity.quantities import Columns, check_name, known_columns
    from fem_mbs.sweeps.sensitivity_results import keep_slopes

    owner = Owner("Sensitivities")
    if not parameters:
        raise ModelError("no parameter is named", owner=owner, remedy="give at least one path or name (--of PATH)")
    base, known = _parameters(model, parameters)
    if not base.sensors:
        raise ModelError("the model has no sensors", owner=owner, remedy="add a [[sensor]] of what is to be told")
    made: list[Derivatives] = []
    steps = list(step_names(step.name for step in base.steps))
    began, making = perf_counter(), [0.0]

    def derivatives(context: Any) -> Derivatives:
        start = perf_counter()
        for name in quantities:
            check_name(name, known_columns(context.compiled, steps), base)
        made.append(Derivatives(context, known))
        making[0] = perf_counter() - start
        return made[0]

    solution = solve(base, progress, derivatives=derivatives)
    seconds = perf_counter() - began - making[0], making[0]
    found, sizes = made[0], np.array([p.size for p in known])
    own = [_of_parameters(models, base) for models in found.models.of]
    columns = Columns(solution, found.results, own, steps, sizes)
    keep_slopes(solution, found.results, {p.name: p.value for p in known}, sizes)
    asked = list(quantities) or [f"{name}.{word}" for name in columns.of for word in ("absmax", "end")]
    result = Sensitivities(
        base.title, {p.name: p.value for p in known}, [columns.quantity(name) for name in asked], solution, seconds,
        found.warnings(), columns,
    )  # fmt: skip
    for k, p in enumerate(known if not idle else []):
        nothing = not any(np.any(column.slopes[k]) for column in columns.of.values()) and not any(own[k].values())
        if nothing:
            raise ModelError(
                f"a small change of {p.value:g} changes no sensor: it is a place in time at which something jumps, a "
                "number that is rounded, or nothing depends on it", owner=p.owner,
                remedy="vary it in a sweep, or name another",
            )  # fmt: skip
    return result


def _of_parameters(models: Sequence[Changed], base: Model) -> dict[str, float]:
    """Return the derivatives of the parameters of a model file, some of which are expressions of others."""
    from fem_mbs.analysis.sensitivity.changed import derivative

    def value(name: str) -> Callable[[Any], float]:
        return lambda context: float(context.model.parameters[name])

    return {name: float(derivative(models, value(name))) for name in base.parameters}


# --- parameters ------------------------------------------------------------------------------------------------------
def _parameters(
    model: str | Path | Model | Callable[..., Model], parameters: Sequence[str] | Mapping[str, float]
) -> tuple[Model, list[Parameter]]:
    """Return the model and its parameters.

    Raises:
        ModelError: wrong names or values.
    """
    from fem_mbs.analysis.sensitivity.changed import Parameter

    names = [parameters] if isinstance(parameters, str) else list(parameters)
    if len(set(names)) < len(names):
        raise ModelError("a parameter is named twice", owner=Owner("Sensitivities"))
    if not isinstance(model, (str, Path, Model)):
        if not isinstance(parameters, Mapping):
            raise ModelError(
                "a function that makes the model needs the values of its arguments", owner=Owner("Sensitivities"),
                remedy='give parameters = {"length": 1.0}',
            )  # fmt: skip
        build = model
        values = {name: _number(name, value) for name, value in parameters.items()}

        def maker(name: str) -> Callable[[float], Model]:
            return lambda value: build(**{**values, name: value})

        return build(**values), [Parameter(n, v, abs(v) or 1.0, maker(n)) for n, v in values.items()]
    file = Path("model") if isinstance(model, Model) else Path(model)
    if not isinstance(model, Model) and is_deck(file):
        raise ModelError(f"{file}: a deck has no named values; write a model file (TOML) of it")
    data = model_data(model) if isinstance(model, Model) else parse_model_file(file)
    if isinstance(parameters, Mapping):
        data = _with(data, [(locate(data, n, file), _number(n, v)) for n, v in parameters.items()])
    read = check_model_data(file, data)
    found = []
    for name in names:
        keys = locate(data, name, file)
        refuse_idle(name, keys, read.parameters)
        value = _value(name, data, keys, read)

        def make(value: float, keys: tuple[str | int, ...] = keys) -> Model:
            return build_model(check_model_data(file, _with(data, [(keys, value)])))

        found.append(Parameter(name, value, abs(value) or 1.0, make))
    if isinstance(model, Model) and not isinstance(parameters, Mapping):
        return build_model(read), found
    return (build_model(read) if isinstance(parameters, Mapping) else load_model(file)), found


def _with(data: Mapping[str, Any], values: Sequence[tuple[tuple[str | int, ...], float]]) -> dict[str, Any]:
    """Return the tables of a file with other values."""
    import copy

    out = copy.deepcopy(dict(data))
    for keys, value in values:
        set_value(out, keys, value)
    return out


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ModelError(f"{shown(value)} is no number", owner=Owner("Sensitivity", name), value=value)
    return float(value)


def _value(name: str, data: Mapping[str, Any], keys: tuple[str | int, ...], read: Any) -> float:
    """Return the value of a parameter of a file.

    Raises:
        ModelError: it is a word, a count, a list, or has no value in the file.
    """
    owner = Owner("Sensitivity", name)
    if keys[0] in _OTHERS:
        raise ModelError(
            f"it is a key of {_OTHERS[str(keys[0])]}, which is no property of the model", owner=owner,
            remedy="vary it in a sweep (fem-mbs sweep)",
        )  # fmt: skip
    node: Any = data
    for key in keys:
        if isinstance(node, Mapping) and key not in node:
            raise ModelError("the file leaves it to its default", owner=owner, remedy="write its value into the file")
        node = node[key]
    if isinstance(node, str) and keys[0] == "parameters":
        raise ModelError(
            f"it is the expression {shown(node)} of others", owner=owner, remedy="name those that it is made of"
        )
    if isinstance(node, str):
        raise ModelError(
            f"{shown(node)} is a text, not a number", owner=owner,
            remedy="name a number, or the parameters of its expression",
        )  # fmt: skip
    if isinstance(node, bool) or not isinstance(node, (int, float)):
        raise ModelError(f"{shown(node)} is no number", owner=owner, remedy="name one number (lists count from 1)")
    return float(node)
