"""Functions of time from a model file, for loads, prescribed motions and drivers.

:func:`make_function` turns an entry of a model file (a number, an expression such as ``"5*sin(2*pi*t)"``, or a table
with ``kind`` and parameters) into a :class:`fem_mbs.functions.laws.TimeFunction`.  The kinds and their parameters are
listed in FUNCTION_KINDS; the docstrings of the classes describe them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.functions.laws import (
    NONE,
    Constant,
    ConstantSpeed,
    ExpressionFunction,
    Harmonic,
    Jump,
    Product,
    Scaled,
    Smoothstep,
    SpinUp,
    StartUp,
    Sum,
    Table,
    TimeFunction,
    check_coefficients,
    linear_table,
    title_of,
)
from fem_mbs.functions.spectra import (
    ROAD_BAND,
    ROAD_WAVE_NUMBER,
    ROADS,
    PowerDensity,
    RandomSignal,
    line_edges,
    road_density,
)
from fem_mbs.late import dataclass
from fem_mbs.units import base_at_hand, from_si, unit_of

__all__ = ["FUNCTION_KINDS", "FUNCTION_WORDS", "make_function"]


def make_function(
    spec: Any,
    name: str = "",
    folder: str | Path | None = None,
    functions: Mapping[str, TimeFunction] | None = None,
    owner: str = "",
) -> TimeFunction:
    """Return a TimeFunction from what a model file says.

    Parameters
    ----------
    spec: a number (constant); a text: the name of one of ``functions``, else an expression of t; a dict with ``kind``
        and the parameters in FUNCTION_KINDS; or a TimeFunction, which is returned as it is.
    name: of the function, for messages; or
    owner: the thing that has it, such as 'Force "F"'.
    folder: where relative paths of CSV files start; the current folder if not given.
    functions: named functions that ``spec`` (and sums, products, ...) may refer to.

    Raises ModelError, naming function, key, value and remedy.
    """
    title = (owner if isinstance(owner, Owner) else Owner(owner)).within("function") if owner else title_of(name)
    return _make(spec, _Context(title, Path(folder) if folder is not None else Path(), functions or {}, 1))


@dataclass(frozen=True)
class _Context:
    title: Owner
    folder: Path
    functions: Mapping[str, TimeFunction]
    depth: int

    def inner(self, part: str) -> _Context:
        return _Context(self.title.within(part), self.folder, self.functions, self.depth + 1)


_MAX_NESTING = 20  # functions within functions; a dict that contains itself ends here


def _make(spec: Any, context: _Context) -> TimeFunction:
    if context.depth > _MAX_NESTING:
        raise ModelError(
            f"nested deeper than {_MAX_NESTING} functions",
            owner=Owner(context.title.word, context.title.name, context.title.link, f"{context.title.part[:60]}..."),
            remedy="name a function of its own for the inner ones",
        )
    if isinstance(spec, TimeFunction):
        return spec
    if isinstance(spec, Real) and not isinstance(spec, bool | np.bool_):
        return Constant(_number(spec, context.title, "value"))
    if isinstance(spec, str):
        return context.functions[spec] if spec in context.functions else _from_expression(spec, context)
    if isinstance(spec, Mapping):
        return _from_mapping(spec, context)
    hint = " (a Python function has no exact derivatives; write an expression or a table)" if callable(spec) else ""
    raise ModelError(
        f"{spec!r} is not a function of time{hint}",
        owner=context.title,
        remedy='give a number, an expression of t such as "5*sin(2*pi*t)", or a table with kind = ...',
    )


def _from_mapping(spec: Mapping[Any, Any], context: _Context) -> TimeFunction:
    title = context.title
    if "kind" not in spec:
        raise ModelError('"kind" is missing', owner=title, remedy=f"kinds are {', '.join(_KINDS)}.")
    kind = spec["kind"]
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ModelError(
            f"unknown kind {kind!r}{_nearest(kind, _KINDS)}", owner=title, remedy=f"kinds are {', '.join(_KINDS)}."
        )
    builder, keys = _KINDS[kind]
    for key in spec:
        if key != "kind" and key not in keys:
            raise ModelError(
                f'unknown key "{key}" for kind "{kind}"{_nearest(key, keys)}',
                owner=title,
                remedy=f"its keys are {', '.join(keys)}.",
            )
    return builder(_Parameters(spec, context))


def _nearest(word: Any, words: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(word).lower().replace("-", "_"), list(words), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _number(value: Any, title: str, key: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ModelError(f"{key} = {value!r} is not a number.", owner=title, key=key, value=value)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ModelError(
            f"{key} = {value!r} is not finite", owner=title, key=key, value=value, remedy="give a finite number."
        )
    return result


class _Parameters:
    """The keys of one function, read with checks."""

    def __init__(self, spec: Mapping[str, Any], context: _Context) -> None:
        self.spec = spec
        self.context = context
        self.title = context.title
        self.kind = spec["kind"]

    def error(self, what: str) -> ModelError:
        return ModelError(what, owner=self.title)

    def required(self, key: str) -> Any:
        if key not in self.spec:
            raise self.error(f'kind "{self.kind}" needs "{key}".')
        return self.spec[key]

    def number(self, key: str, default: float | None = None) -> float:
        if default is not None and key not in self.spec:
            return default
        return _number(self.required(key), self.title, key)

    def positive(self, key: str, default: float | None = None) -> float:
        value = self.number(key, default)
        if value <= 0.0:
            raise self.error(f"{key} = {value!r} must be greater than 0.")
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        value = self.number(key, float(default))
        if value != round(value):
            raise self.error(f"{key} = {value!r} must be a whole number.")
        if not least <= value <= most:
            raise self.error(f"{key} = {value:g} must be from {least} to {most}.")
        return int(value)

    def flag(self, key: str) -> bool:
        value = self.spec.get(key, False)
        if not isinstance(value, bool | np.bool_):
            raise self.error(f"{key} = {value!r} must be true or false.")
        return bool(value)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        value = self.spec.get(key, choices[0])
        if value not in choices:
            raise self.error(f"{key} = {value!r}{_nearest(value, choices)} must be one of {', '.join(choices)}.")
        return value

    def text(self, key: str) -> str:
        value = self.required(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{key} = {value!r} must be a text.")
        return value

    def row(self, key: str) -> np.ndarray:
        """Return a list of finite numbers, shape (n,)."""
        values = self.required(key)
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray):
            raise self.error(f"{key} = {values!r} must be a list of numbers.")
        return np.array([_number(v, self.title, f"{key}[{i}]") for i, v in enumerate(values)], dtype=float)

    def inner(self, spec: Any, part: str) -> TimeFunction:
        return _make(spec, self.context.inner(part))


def _from_expression(text: str, context: _Context, extra: np.ndarray = NONE) -> ExpressionFunction:
    try:
        expression = compile_expression(text)
    except ModelError as exc:
        known = f" Named functions: {', '.join(context.functions)}." if context.functions else ""
        said = f"{exc.text}; {exc.remedy}" if exc.remedy else exc.text
        raise ModelError(
            f'expression "{exc.owner.name}"{exc.owner.part and f" at {exc.owner.part}"}: {said}{known}',
            owner=context.title,
        ) from None
    return ExpressionFunction(expression, np.union1d(expression.kinks, extra))


def _constant(p: _Parameters) -> TimeFunction:
    return Constant(p.number("value"))


def _constant_speed(p: _Parameters) -> TimeFunction:
    return ConstantSpeed(p.number("rate"), p.number("offset", 0.0))


def _ends(p: _Parameters) -> tuple[float, float]:
    """Return the values before and after a change; equal ones would make the function a constant in disguise."""
    a, b = p.number("start_value", 0.0), p.number("end_value", 1.0)
    if a == b:
        raise p.error(f'start_value and end_value are both {a!r}; give two values, or use kind = "constant".')
    return a, b


def _step(p: _Parameters) -> TimeFunction:
    return Jump(p.number("start", 0.0), *_ends(p))


def _later(p: _Parameters, start: float, duration: float) -> float:
    if not (start + duration > start and math.isfinite(start + duration)):
        raise p.error(f"duration = {duration!r} vanishes beside start = {start!r}; make it longer.")
    return start + duration


def _ramp(p: _Parameters) -> TimeFunction:
    start, duration = p.number("start", 0.0), p.positive("duration")
    return linear_table(np.array([start, _later(p, start, duration)]), np.array(_ends(p)), p.title)


def _smoothstep(p: _Parameters) -> TimeFunction:
    start, duration = p.number("start", 0.0), p.positive("duration")
    _later(p, start, duration)
    return Smoothstep(start, duration, *_ends(p))


def _hat(p: _Parameters) -> TimeFunction:
    start, duration = p.number("start", 0.0), p.positive("duration")
    end = _later(p, start, duration)
    peak = p.number("peak", start + 0.5 * duration)
    if not start < peak < end:
        raise p.error(f"peak = {peak!r} must lie between start = {start!r} and start + duration = {end!r}.")
    return linear_table(np.array([start, peak, end]), np.array([0.0, p.number("value", 1.0), 0.0]), p.title)


def _harmonic(p: _Parameters) -> TimeFunction:
    given = [key for key in ("frequency", "omega") if key in p.spec]
    if len(given) != 1:
        both = "not both" if given else "one of them is missing"
        raise p.error(f'give either "frequency" (1/s) or "omega" (rad/s); {both}.')
    omega = p.number("omega") if given == ["omega"] else 2.0 * math.pi * p.number("frequency")
    return Harmonic(p.number("amplitude", 1.0), omega, p.number("phase", 0.0), p.number("offset", 0.0))


def _spin_up(p: _Parameters) -> TimeFunction:
    return SpinUp(p.number("rate"), p.positive("duration"))


def _start_up(p: _Parameters) -> TimeFunction:
    return StartUp(p.number("acceleration"), p.positive("duration", 1.0))


def _expression(p: _Parameters) -> TimeFunction:
    extra = np.unique(p.row("kinks")) if "kinks" in p.spec else NONE
    return _from_expression(p.text("expression"), p.context, extra)


_EXTRAPOLATE = ("hold", "linear", "error")
_SPLINE_ENDS = ("natural", "clamped", "periodic", "not-a-knot")


def _check_times(times: np.ndarray, title: str, rows: Sequence[str]) -> None:
    bad = np.flatnonzero(np.diff(times) <= 0.0)
    if bad.size:
        k = bad[0]
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise ModelError(
            f"times must increase, but {rows[k]} is {float(times[k])!r} and {rows[k + 1]} is "
            f"{float(times[k + 1])!r}{more}",
            owner=title,
            remedy="sort the rows and give each time once (for a jump use two times close together).",
        )


def _closed(times: np.ndarray, values: np.ndarray, title: str) -> np.ndarray:
    """Return the values with the last made equal to the first, which it must be up to rounding."""
    if abs(values[-1] - values[0]) > 1e-9 * np.max(np.abs(values)):
        raise ModelError(
            f"a periodic table must end with the value it starts with, but {float(values[0])!r} at t = "
            f"{float(times[0])!r} is not {float(values[-1])!r} at t = {float(times[-1])!r}",
            owner=title,
            remedy="add the closing row or make it not periodic.",
        )
    return np.append(values[:-1], values[0])


def _tabulated(p: _Parameters, times: np.ndarray, values: np.ndarray, spline: bool, rows: Sequence[str]) -> Table:
    if len(times) < 2:
        raise p.error(f"a table needs at least 2 rows, not {len(times)}.")
    _check_times(times, p.title, rows)
    if "periodic" in p.spec and "extrapolate" in p.spec and p.flag("periodic"):
        raise p.error("periodic and extrapolate exclude each other; leave one out.")
    extrapolate = p.choice("extrapolate", _EXTRAPOLATE)
    periodic = p.flag("periodic")
    if not spline:
        for key in ("ends", "start_slope", "end_slope"):
            if key in p.spec:
                raise p.error(f'"{key}" belongs to a spline; set interpolation = "spline" or leave it out.')
        if periodic:
            values = _closed(times, values, p.title)
        return linear_table(times, values, p.title, extrapolate, periodic)

    ends = p.choice("ends", _SPLINE_ENDS)
    if periodic and "ends" in p.spec and ends != "periodic":
        raise p.error(f'periodic = true does not go with ends = "{ends}"; leave ends out.')
    periodic = periodic or ends == "periodic"
    if periodic and "extrapolate" in p.spec:
        raise p.error('ends = "periodic" and extrapolate exclude each other; leave one out.')
    condition: Any = "periodic" if periodic else ends
    if not periodic and ends == "clamped":
        condition = ((1, p.number("start_slope", 0.0)), (1, p.number("end_slope", 0.0)))
    elif "start_slope" in p.spec or "end_slope" in p.spec:
        raise p.error('start_slope and end_slope need ends = "clamped".')
    if periodic:
        if len(times) < 3:
            raise p.error(f"a periodic spline needs at least 3 rows, not {len(times)}.")
        values = _closed(times, values, p.title)
    from scipy.interpolate import CubicSpline

    with np.errstate(all="ignore"):
        try:
            coefficients = CubicSpline(times, values, bc_type=condition).c
        except (ValueError, np.linalg.LinAlgError) as exc:
            raise p.error(f"no spline goes through these rows ({exc}); set the times further apart.") from None
    check_coefficients(coefficients, times, p.title)
    return Table(times, values, coefficients, extrapolate, periodic, p.title)


def _table_or_spline(p: _Parameters) -> TimeFunction:
    times, values = p.row("times"), p.row("values")
    if len(times) != len(values):
        raise p.error(f"{len(times)} times but {len(values)} values; give as many of each.")
    return _tabulated(p, times, values, p.kind == "spline", [f"times[{i}]" for i in range(len(times))])


def _csv(p: _Parameters) -> TimeFunction:
    spline = p.choice("interpolation", ("linear", "spline")) == "spline"
    path = p.context.folder / p.text("file")
    where = f'file "{p.text("file")}"'
    if path.exists() and not path.is_file():
        raise p.error(f"{where} is no file of rows; give a text file.")
    try:
        if path.exists() and not path.is_file():  # a device may never end
            raise p.error(f"{where} is no file; name one with rows of numbers.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "not a text file in UTF-8"
        raise p.error(f"{where} cannot be read ({reason}).") from None
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise p.error(f"{where} has no rows.")
    delimiter = p.spec.get("delimiter")
    if delimiter is None:
        delimiter = next((c for c in ";,\t" if c in lines[0][1]), " ")
    elif delimiter not in (",", ";", "\t", "|", ":", " "):
        raise p.error(f"delimiter = {delimiter!r} must be a comma, semicolon, tab, bar, colon or space.")
    if delimiter == " ":
        rows = [(number, line.split()) for number, line in lines]
    else:
        rows = [(number, [c.strip().strip('"') for c in line.split(delimiter)]) for number, line in lines]
    header = rows[0][1] if not any(_is_number(c) for c in rows[0][1]) else None
    if header is not None:
        rows = rows[1:]
    columns = [_column(p, key, default, header, where) for key, default in (("time_column", 1), ("value_column", 2))]
    data = np.empty((len(rows), 2))
    for i, (number, cells) in enumerate(rows):
        for j, column in enumerate(columns):
            if column >= len(cells):
                raise p.error(f"{where}, line {number}: no column {column + 1}, it has {len(cells)} ({delimiter!r}).")
            cell = cells[column]
            if not _is_number(cell):
                hint = "; write decimals with a point" if "," in cell else ""
                raise p.error(f"{where}, line {number}, column {column + 1}: {cell!r} is not a number{hint}.")
            data[i, j] = float(cell)
            if not math.isfinite(data[i, j]):
                raise p.error(f"{where}, line {number}, column {column + 1}: {cell!r} is not finite.")
    return _tabulated(p, data[:, 0].copy(), data[:, 1].copy(), spline, [f"{where} line {n}" for n, _ in rows])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _column(p: _Parameters, key: str, default: int, header: list[str] | None, where: str) -> int:
    """Return the index of a column that is given by number, counted from 1, or by its name in the header."""
    value = p.spec.get(key, default)
    if isinstance(value, str):
        if header is None:
            raise p.error(f"{key} = {value!r}: {where} has no header line; give the number of the column.")
        if value not in header:
            names = ", ".join(header)
            raise p.error(f"{key} = {value!r}{_nearest(value, header)} is not in the header of {where}: {names}.")
        return header.index(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise p.error(f"{key} = {value!r} must be a name or a number counted from 1.")
    return value - 1


def _parts(p: _Parameters) -> tuple[TimeFunction, ...]:
    parts = p.required("functions")
    if isinstance(parts, str | bytes | Mapping) or not isinstance(parts, Sequence) or not parts:
        raise p.error(f"functions = {parts!r} must be a list of at least one function.")
    return tuple(p.inner(part, f"functions[{i}]") for i, part in enumerate(parts))


def _sum(p: _Parameters) -> TimeFunction:
    return Sum(_parts(p))


def _product(p: _Parameters) -> TimeFunction:
    return Product(_parts(p))


def _scaled(p: _Parameters) -> TimeFunction:
    return Scaled(p.inner(p.required("function"), "function"), p.number("factor", 1.0), p.number("delay", 0.0))


_MAX_LINES = 100_000
_MAX_SEED = 2**53  # the whole numbers that a file's numbers hold exactly


def _random(p: _Parameters) -> TimeFunction:
    given = [key for key in ("densities", "road", "roughness") if key in p.spec]
    if len(given) != 1:
        raise p.error(
            f'give one of "densities" (with frequencies), "road" (class {", ".join(ROADS)}) and "roughness" [m^3]; '
            f"{len(given)} of them are given."
        )
    seed, lines = p.whole("seed", 0, 0, _MAX_SEED), p.whole("lines", 500, 1, _MAX_LINES)
    logarithmic = p.choice("spacing", ("linear", "logarithmic")) == "logarithmic"
    density, low, high = _table_density(p) if given == ["densities"] else _road(p, given[0])
    if not low < high:
        raise p.error(f"lowest = {low!r} must be below highest = {high!r}.")
    if logarithmic and low <= 0.0:
        raise p.error(f'lowest = {low!r} must be greater than 0 with spacing = "logarithmic".')
    base = "" if given == ["densities"] else base_at_hand()
    signal = RandomSignal(
        density, line_edges(low, high, lines, logarithmic), logarithmic, seed, p.number("delay", 0.0), base
    )
    if not (np.isfinite(signal.amplitudes).all() and signal.amplitudes.any()):
        raise p.error(
            f"its density from {low!r} to {high!r} {unit_of('Hz')} is 0 or overflows; change densities or the band."
        )
    return signal


def _table_density(p: _Parameters) -> tuple[PowerDensity, float, float]:
    """Return the density through given points, and the band within them."""
    for key in ("speed", "exponent"):
        if key in p.spec:
            raise p.error(f'"{key}" belongs to a road; give "road" or "roughness", or leave it out.')
    shape = p.choice("interpolation", ("logarithmic", "linear"))
    density = PowerDensity(p.row("frequencies"), p.row("densities"), shape == "logarithmic")
    density.check(p.title)
    first, last = float(density.frequencies[0]), float(density.frequencies[-1])
    low, high = p.number("lowest", first), p.number("highest", last)
    if low < first or high > last:
        raise p.error(
            f"the band from lowest = {low!r} to highest = {high!r} leaves the table, which covers {first!r} to "
            f"{last!r} {unit_of('Hz')}; extend the table, or narrow the band."
        )
    return density, low, high


def _road(p: _Parameters, key: str) -> tuple[PowerDensity, float, float]:
    """Return the density that a wheel sees on a road, and its band: by default that of ISO 8608.

    The numbers of ISO 8608 are in metres; those of the file are in the base of the model.
    """
    for other in ("frequencies", "interpolation"):
        if other in p.spec:
            raise p.error(f'"{other}" belongs to "densities"; leave it out of a road.')
    if key == "road":
        roughness = from_si(ROADS[p.choice("road", tuple(ROADS))], "m^3")
    else:
        roughness = p.positive("roughness")
    speed = p.positive("speed")
    first, last, at = (from_si(number, "1/m") for number in (*ROAD_BAND, ROAD_WAVE_NUMBER))
    low, high = p.positive("lowest", first * speed), p.positive("highest", last * speed)
    return road_density(roughness, p.positive("exponent", 2.0), speed, low, high, at), low, high


_TABLE_KEYS = ("extrapolate", "periodic")
_SPLINE_KEYS = (*_TABLE_KEYS, "ends", "start_slope", "end_slope")
_CSV_KEYS = ("file", "time_column", "value_column", "delimiter", "interpolation", *_SPLINE_KEYS)
_RANDOM_KEYS = (
    "frequencies", "densities", "interpolation", "road", "roughness", "exponent", "speed", "lowest", "highest", "lines",
    "spacing", "seed", "delay",
)  # fmt: skip

_KINDS: dict[str, tuple[Callable[[_Parameters], TimeFunction], tuple[str, ...]]] = {
    "constant": (_constant, ("value",)),
    "constant_speed": (_constant_speed, ("rate", "offset")),
    "step": (_step, ("start", "start_value", "end_value")),
    "ramp": (_ramp, ("start", "duration", "start_value", "end_value")),
    "smoothstep": (_smoothstep, ("start", "duration", "start_value", "end_value")),
    "hat": (_hat, ("start", "duration", "peak", "value")),
    "harmonic": (_harmonic, ("amplitude", "frequency", "omega", "phase", "offset")),
    "spin_up": (_spin_up, ("rate", "duration")),
    "start_up": (_start_up, ("acceleration", "duration")),
    "random": (_random, _RANDOM_KEYS),
    "table": (_table_or_spline, ("times", "values", *_TABLE_KEYS)),
    "spline": (_table_or_spline, ("times", "values", *_SPLINE_KEYS)),
    "csv": (_csv, _CSV_KEYS),
    "expression": (_expression, ("expression", "kinks")),
    "sum": (_sum, ("functions",)),
    "product": (_product, ("functions",)),
    "scaled": (_scaled, ("function", "factor", "delay")),
}

# Kind: its keys in a model file.
FUNCTION_KINDS: dict[str, tuple[str, ...]] = {kind: keys for kind, (_, keys) in _KINDS.items()}

# Keys whose values are words, flags or columns, not numbers.
FUNCTION_WORDS = frozenset(
    (
        "file", "time_column", "value_column", "delimiter", "interpolation", "extrapolate", "ends", "periodic", "road",
        "spacing",
    )
)  # fmt: skip
