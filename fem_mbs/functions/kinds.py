"""Functions of time, for loads, prescribed motions and drivers.

:func:`make_function` turns what stands in a model file (a number, an expression such as ``"5*sin(2*pi*t)"``, or a table
with ``kind`` and parameters) into a :class:`TimeFunction`. Times are in seconds if the model is in SI units; values are
whatever they are used for. The kinds and their parameters are listed in FUNCTION_KINDS; the docstring of each class
says what it does.

Every function is evaluated element by element with operations that are rounded the same whatever surrounds them, so
``f(t)[k]`` and ``f(t[k:k+1])[0]`` are equal bit for bit: a run that is restarted or evaluates in other chunks repeats
itself (see :func:`fem_mbs.functions.expressions.libm`).

Where a function or its derivatives jump, values and derivatives are those to the right (expressions: the value is what
the text says).
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import Expression, compile_expression, libm

__all__ = ["FUNCTION_KINDS", "TimeFunction", "make_function"]

_NONE = np.zeros(0)
_EPS = np.finfo(float).eps
# Rounding allowed between a time and the end of a table that must not be left, relative to the table's span.
_END_TOLERANCE = 1e-9

Slopes = tuple[Any, Any]


class TimeFunction(ABC):
    """A function f(t) with its first and second derivative; made by :func:`make_function`, immutable.

    Attributes
    ----------
    kinks: sorted times, shape (n,), where f, f' or f'' jumps, so that step control can land on them. Jumps of higher
        derivatives, which no second-order integrator sees, are not among them. Of a periodic function: those of one
        period; :meth:`kinks_between` has all.
    """

    kinks: np.ndarray = _NONE

    @abstractmethod
    def _value(self, t: np.ndarray) -> Any:
        """Return f at the times t, shape (n,)."""

    @abstractmethod
    def _slopes(self, t: np.ndarray) -> Slopes:
        """Return (f', f'') at the times t, shape (n,); at a kink those to its right."""

    def __call__(self, t: Any) -> Any:
        """Return the values at t (any shape): float64 of the same shape."""
        times = np.asarray(t, dtype=float)
        with np.errstate(all="ignore"):  # NaN and infinity are the caller's to judge, see check()
            return _shaped(self._value(times.reshape(-1)), times)

    def jet(self, t: Any) -> tuple[Any, Any, Any]:
        """Return (f, f', f'') at t (any shape), each float64 of the same shape; at a kink the derivatives to its
        right."""
        times = np.asarray(t, dtype=float)
        flat = times.reshape(-1)
        with np.errstate(all="ignore"):
            return tuple(_shaped(v, times) for v in (self._value(flat), *self._slopes(flat)))

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        """Return the kinks with start < t <= end, sorted."""
        return self.kinks[(self.kinks > start) & (self.kinks <= end)]

    def check(self, t: Any, name: str = "", derivatives: bool = False) -> None:
        """Raise ModelError at the first of the times t where the value (or a derivative) is NaN or infinite."""
        times = np.ravel(np.asarray(t, dtype=float))
        parts = self.jet(times) if derivatives else (self(times),)
        for what, values in zip(("value", "first derivative", "second derivative"), parts, strict=False):
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                raise ModelError(
                    f"its {what} is {values[bad[0]]} at t = {times[bad[0]]:.6g}",
                    owner=_title(name),
                    remedy="use it only where it is defined, or change it there.",
                )


def _shaped(values: Any, times: np.ndarray) -> Any:
    """Return a copy of its own, broadcast to the shape of ``times``; a numpy scalar for a single time."""
    return np.array(np.broadcast_to(np.asarray(values, dtype=float), (times.size,))).reshape(times.shape)[()]


def _kinks(*times: float) -> np.ndarray:
    return np.unique(np.array(times, dtype=float))


# ----------------------------------------------------------------------------------------------------------------------
# Elementary laws.


@dataclass(frozen=True, eq=False)
class Constant(TimeFunction):
    """f = value."""

    value: float

    def _value(self, t: np.ndarray) -> Any:
        return self.value

    def _slopes(self, t: np.ndarray) -> Slopes:
        return 0.0, 0.0


@dataclass(frozen=True, eq=False)
class ConstantSpeed(TimeFunction):
    """f = offset + rate t."""

    rate: float
    offset: float

    def _value(self, t: np.ndarray) -> Any:
        return self.offset + self.rate * t

    def _slopes(self, t: np.ndarray) -> Slopes:
        return self.rate, 0.0


@dataclass(frozen=True, eq=False)
class Jump(TimeFunction):
    """f = start_value for t < start, end_value from t = start on."""

    start: float
    start_value: float
    end_value: float

    @property
    def kinks(self) -> np.ndarray:
        return _kinks(self.start)

    def _value(self, t: np.ndarray) -> Any:
        return np.where(np.isnan(t), t, np.where(t >= self.start, self.end_value, self.start_value))

    def _slopes(self, t: np.ndarray) -> Slopes:
        return 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Smoothstep(TimeFunction):
    """Cycloidal rise: with x = (t - start)/duration from 0 to 1, f = a + (b - a) (x - sin(2 pi x)/(2 pi)).

    a = start_value before, b = end_value after; velocity and acceleration are continuous.
    """

    start: float
    duration: float
    start_value: float
    end_value: float

    def _phase(self, t: np.ndarray) -> np.ndarray:
        return np.clip((t - self.start) / self.duration, 0.0, 1.0)

    def _value(self, t: np.ndarray) -> Any:
        x = self._phase(t)
        rise = self.start_value + (self.end_value - self.start_value) * (
            x - libm("sin", 2.0 * math.pi * x) / (2.0 * math.pi)
        )
        return np.where(x == 1.0, self.end_value, rise)

    def _slopes(self, t: np.ndarray) -> Slopes:
        x = self._phase(t)
        rate = (self.end_value - self.start_value) / self.duration
        s = libm("sin", math.pi * x)
        moving = (x > 0.0) & (x < 1.0)
        first = np.where(moving, rate * (2.0 * s * s), 0.0)  # 1 - cos(2 pi x), without cancellation
        second = np.where(moving, rate / self.duration * (2.0 * math.pi) * libm("sin", 2.0 * math.pi * x), 0.0)
        return first, second


@dataclass(frozen=True, eq=False)
class Harmonic(TimeFunction):
    """f = offset + amplitude sin(omega t + phase); phase in rad."""

    amplitude: float
    omega: float
    phase: float
    offset: float

    def _value(self, t: np.ndarray) -> Any:
        return self.offset + self.amplitude * libm("sin", self.omega * t + self.phase)

    def _slopes(self, t: np.ndarray) -> Slopes:
        x = self.omega * t + self.phase
        speed = self.amplitude * self.omega
        return speed * libm("cos", x), -(speed * self.omega) * libm("sin", x)


@dataclass(frozen=True, eq=False)
class SpinUp(TimeFunction):
    """Spin-up law of Simo & Vu-Quoc (1986), an angle:

    f = rate/T (t^2/2 + (T/2 pi)^2 (cos(2 pi t/T) - 1)) for 0 <= t <= T, rate (t - T/2) after, 0 before,
    with T = duration. Its velocity reaches ``rate``, its acceleration is rate/T (1 - cos(2 pi t/T)), continuous.
    """

    rate: float
    duration: float

    def _value(self, t: np.ndarray) -> Any:
        w, period = self.rate, self.duration
        x = np.clip(t, 0.0, period)
        # t^2/2 + (T/2 pi)^2 (cos(2 pi t/T) - 1) = (t - p)(t + p)/2 with p = (T/pi) sin(pi t/T): at small t the law is
        # of order t^4, which the difference of squares keeps.
        p = period / math.pi * libm("sin", math.pi * x / period)
        return np.where(t >= period, w * (t - 0.5 * period), w / period * (0.5 * (x - p) * (x + p)))

    def _slopes(self, t: np.ndarray) -> Slopes:
        w, period = self.rate, self.duration
        x = np.clip(t, 0.0, period)
        s = libm("sin", math.pi * x / period)
        first = w / period * (x - period / (2.0 * math.pi) * libm("sin", 2.0 * math.pi * x / period))
        moving = (t > 0.0) & (t < period)
        return np.where(t >= period, w, first), np.where(moving, w / period * (2.0 * s * s), 0.0)


@dataclass(frozen=True, eq=False)
class StartUp(TimeFunction):
    """Start-up law of Russell & Willmert (1991, eqs 19 and 35), an angle, from rest to constant speed:

    f'' = acceleration (1 + cos(pi t/T)) for 0 <= t <= T = duration, 0 after. The speed reached is acceleration T.
    """

    acceleration: float
    duration: float

    @property
    def kinks(self) -> np.ndarray:
        return _kinks(0.0)

    def _value(self, t: np.ndarray) -> Any:
        a, period = self.acceleration, self.duration
        x = np.clip(t, 0.0, period)
        p = period / math.pi * libm("sin", 0.5 * math.pi * x / period)  # (T/pi)^2 (1 - cos(pi t/T)) = 2 p^2
        run = a * period * np.maximum(t - period, 0.0)
        return a * (0.5 * x * x + 2.0 * p * p) + run

    def _slopes(self, t: np.ndarray) -> Slopes:
        a, period = self.acceleration, self.duration
        x = np.clip(t, 0.0, period)
        first = a * (x + period / math.pi * libm("sin", math.pi * x / period))
        c = libm("cos", 0.5 * math.pi * x / period)  # 1 + cos(pi t/T) = 2 c^2
        moving = (t >= 0.0) & (t < period)
        return np.where(t >= period, a * period, first), np.where(moving, a * (2.0 * c * c), 0.0)


# ----------------------------------------------------------------------------------------------------------------------
# Tables.


@dataclass(frozen=True, eq=False)
class Table(TimeFunction):
    """Piecewise polynomials over [times[i], times[i+1]): linear (kinds "table", "ramp", "hat") or cubic ("spline").

    Outside: extrapolate = "hold" (the end value), "linear" (the end slope) or "error" (a ModelError); or ``periodic``.
    ``coefficients`` (degree + 1, n - 1): of powers of t - times[i], the highest first.
    """

    times: np.ndarray
    values: np.ndarray
    coefficients: np.ndarray
    extrapolate: str
    periodic: bool
    title: str
    kinks: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):  # an infinite tolerance is capped
            object.__setattr__(self, "kinks", self._find_kinks())

    def _find_kinks(self) -> np.ndarray:
        c, t = self.coefficients, self.times
        dt = np.diff(t)
        slope_right, curvature_right = c[-2], 2.0 * c[-3] if len(c) > 2 else np.zeros(len(dt))
        if len(c) == 2:
            slope_left, curvature_left = slope_right, curvature_right
        else:
            slope_left = (3.0 * c[0] * dt + 2.0 * c[1]) * dt + c[2]
            curvature_left = 6.0 * c[0] * dt + 2.0 * c[1]
        # What is not a jump but rounding of the rows (linear) or of the spline, which is twice continuously
        # differentiable by construction.
        if len(c) == 2:
            size1 = 8.0 * _EPS * (np.max(np.abs(self.values)) + np.abs(c[0]) * np.max(np.abs(t))) / dt
            size2 = np.zeros(len(dt))
        else:
            size1 = np.full(len(dt), 1e-9 * np.max(np.abs(slope_right)))
            size2 = np.full(len(dt), 1e-9 * np.max(np.abs(curvature_right)))

        def jumps(left1: Any, right1: Any, left2: Any, right2: Any, a: Any, b: Any) -> Any:
            """Return the jumps between the pieces a (left) and b (right)."""
            # The cap is for rows so close that their difference drowns in rounding: they are meant as a jump.
            size = np.minimum(np.maximum(size1[a], size1[b]), 1e-6 * np.maximum(np.abs(left1), np.abs(right1)))
            first = np.abs(right1 - left1) > size
            return first | (np.abs(right2 - left2) > np.maximum(size2[a], size2[b]))

        left, right = slice(None, -1), slice(1, None)
        inner = jumps(slope_left[left], slope_right[right], curvature_left[left], curvature_right[right], left, right)
        found = list(t[1:-1][inner])
        if self.periodic:
            if jumps(slope_left[-1], slope_right[0], curvature_left[-1], curvature_right[0], -1, 0):
                found += [t[0], t[-1]]
        elif self.extrapolate != "error":
            hold = self.extrapolate == "hold"
            if jumps(0.0 if hold else slope_right[0], slope_right[0], 0.0, curvature_right[0], 0, 0):
                found.append(t[0])
            if jumps(slope_left[-1], 0.0 if hold else slope_left[-1], curvature_left[-1], 0.0, -1, -1):
                found.append(t[-1])
        return np.unique(np.array(found, dtype=float))

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        if not self.periodic or not self.kinks.size:
            return super().kinks_between(start, end)
        period = self.times[-1] - self.times[0]
        turns = np.arange(math.floor((start - self.times[0]) / period), math.ceil((end - self.times[0]) / period) + 1)
        once = self.kinks[self.kinks < self.times[-1]]
        every = (once[None, :] + period * turns[:, None]).ravel()
        return every[(every > start) & (every <= end)]

    def _locate(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return interval, time since its start, and -1, 0, 1 for times before, within and after the table."""
        first, last = self.times[0], self.times[-1]
        n = len(self.times)
        if self.periodic:
            period = last - first
            turn = np.floor((t - first) / period)
            tau = np.where(np.isfinite(t), t - period * turn, np.nan)
            # A time that rounding put just below a breakpoint belongs to what follows it.
            slack = 4.0 * _EPS * (np.abs(t) + abs(first) + period)
            k = np.searchsorted(self.times, tau + slack, side="right") - 1
            wrapped = k >= n - 1
            tau = np.where(wrapped, tau - period, tau)
            k = np.where(wrapped, 0, np.maximum(k, 0))
            return k, tau - self.times[k], np.zeros(t.shape)
        side = np.where(t < first, -1.0, np.where(t >= last, 1.0, 0.0))
        if self.extrapolate == "error":
            slack = _END_TOLERANCE * (last - first)
            outside = np.flatnonzero((t < first - slack) | (t > last + slack))
            if outside.size:
                raise ModelError(
                    f"t = {t[outside[0]]:.9g} is outside its table, which covers {first:.9g} to {last:.9g}",
                    owner=self.title,
                    remedy='extend the table or set extrapolate = "hold" or "linear".',
                )
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, n - 2)
        return k, t - self.times[k], side

    def _value(self, t: np.ndarray) -> Any:
        k, x, side = self._locate(t)
        f = _polynomial(self.coefficients[:, k], x)
        if self.periodic:
            return f
        before = after = 0.0
        if self.extrapolate == "linear":
            slope0, slope1 = self._end_slopes()
            before, after = slope0 * (t - self.times[0]), slope1 * (t - self.times[-1])
        return np.where(side < 0, self.values[0] + before, np.where(side > 0, self.values[-1] + after, f))

    def _slopes(self, t: np.ndarray) -> Slopes:
        k, x, side = self._locate(t)
        degree = len(self.coefficients) - 1
        powers = np.arange(degree, 0, -1.0)[:, None]
        c1 = self.coefficients[:-1, k] * powers
        first = _polynomial(c1, x)
        second = _polynomial(c1[:-1] * (powers[1:]), x) if degree > 1 else np.zeros(t.shape)
        if self.periodic:
            return first, second
        if self.extrapolate == "error":
            # Rounding beyond the ends continues the end pieces.
            return first, second
        slope0, slope1 = (0.0, 0.0) if self.extrapolate == "hold" else self._end_slopes()
        first = np.where(side < 0, slope0, np.where(side > 0, slope1, first))
        return first, np.where(side == 0, second, 0.0)

    def _end_slopes(self) -> tuple[float, float]:
        c, dt = self.coefficients, self.times[-1] - self.times[-2]
        if len(c) == 2:
            return float(c[0, 0]), float(c[0, -1])
        return float(c[-2, 0]), float((3.0 * c[0, -1] * dt + 2.0 * c[1, -1]) * dt + c[2, -1])


def _polynomial(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return Horner's rule along the first axis, the highest power first."""
    result = coefficients[0]
    for c in coefficients[1:]:
        result = result * x + c
    return result


def _linear_table(
    times: np.ndarray, values: np.ndarray, title: str, extrapolate: str = "hold", periodic: bool = False
) -> Table:
    with np.errstate(over="ignore"):
        slopes = np.diff(values) / np.diff(times)
    _check_coefficients(slopes, times, title)
    coefficients = np.array([slopes, values[:-1]])
    return Table(times, values, coefficients, extrapolate, periodic, title)


def _check_coefficients(coefficients: np.ndarray, times: np.ndarray, title: str) -> None:
    bad = np.flatnonzero(~np.isfinite(np.atleast_2d(coefficients)).all(axis=0))
    if bad.size:
        k = bad[0]
        raise ModelError(
            f"the slope between t = {float(times[k])!r} and t = {float(times[k + 1])!r} overflows",
            owner=title,
            remedy="set the times further apart or use other units.",
        )


# ----------------------------------------------------------------------------------------------------------------------
# Expressions and combinations.


@dataclass(frozen=True, eq=False)
class ExpressionFunction(TimeFunction):
    """f from a text, see :mod:`fem_mbs.functions.expressions`; kinks of switches linear in t are found, others can be
    given."""

    expression: Expression
    kinks: np.ndarray = field()  # no default: the base class's is shared

    def _value(self, t: np.ndarray) -> Any:
        return self.expression(t)

    def _slopes(self, t: np.ndarray) -> Slopes:
        return self.expression.jet(t)[1:]


class _Combined(TimeFunction):
    functions: tuple[TimeFunction, ...]

    @property
    def kinks(self) -> np.ndarray:
        return np.unique(np.concatenate([f.kinks for f in self.functions]))

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        return np.unique(np.concatenate([f.kinks_between(start, end) for f in self.functions]))


@dataclass(frozen=True, eq=False)
class Sum(_Combined):
    """f = f1 + f2 + ..."""

    functions: tuple[TimeFunction, ...]

    def _value(self, t: np.ndarray) -> Any:
        return sum((f._value(t) for f in self.functions[1:]), start=self.functions[0]._value(t))

    def _slopes(self, t: np.ndarray) -> Slopes:
        slopes = [f._slopes(t) for f in self.functions]
        return sum(s[0] for s in slopes), sum(s[1] for s in slopes)


@dataclass(frozen=True, eq=False)
class Product(_Combined):
    """f = f1 f2 ..."""

    functions: tuple[TimeFunction, ...]

    def _value(self, t: np.ndarray) -> Any:
        return math.prod((f._value(t) for f in self.functions[1:]), start=self.functions[0]._value(t))

    def _slopes(self, t: np.ndarray) -> Slopes:
        f = self.functions[0]
        v, d1, d2 = f._value(t), *f._slopes(t)
        for g in self.functions[1:]:
            w, e1, e2 = g._value(t), *g._slopes(t)
            v, d1, d2 = v * w, d1 * w + v * e1, d2 * w + 2.0 * (d1 * e1) + v * e2
        return d1, d2


@dataclass(frozen=True, eq=False)
class Scaled(TimeFunction):
    """f = factor g(t - delay)."""

    function: TimeFunction
    factor: float
    delay: float

    @property
    def kinks(self) -> np.ndarray:
        return self.function.kinks + self.delay

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        # One ulp more on both sides, then exact: the subtraction below rounds.
        margin = 4.0 * _EPS * (abs(start) + abs(end) + abs(self.delay))
        found = self.function.kinks_between(start - self.delay - margin, end - self.delay + margin) + self.delay
        return found[(found > start) & (found <= end)]

    def _shift(self, t: np.ndarray) -> np.ndarray:
        tau = t - self.delay
        if self.delay == 0.0 or not tau.size:
            return tau
        # At a kink of this function the delayed time must be that kink itself, not a neighbour by rounding.
        finite = tau[np.isfinite(tau)]
        if not finite.size:
            return tau
        slack = 4.0 * _EPS * (np.abs(t) + abs(self.delay))
        margin = 2.0 * float(np.max(slack[np.isfinite(tau)]))
        kinks = self.function.kinks_between(finite.min() - margin, finite.max() + margin)
        if not kinks.size:
            return tau
        k = np.clip(np.searchsorted(kinks, tau), 1, max(len(kinks) - 1, 1))
        left, right = kinks[k - 1], kinks[np.minimum(k, len(kinks) - 1)]
        near = np.where(np.abs(tau - left) <= np.abs(tau - right), left, right)
        return np.where(np.abs(tau - near) <= slack, near, tau)

    def _value(self, t: np.ndarray) -> Any:
        return self.factor * self.function._value(self._shift(t))

    def _slopes(self, t: np.ndarray) -> Slopes:
        d1, d2 = self.function._slopes(self._shift(t))
        return self.factor * d1, self.factor * d2


class DoubleIntegral(TimeFunction):
    """f with f'' = g and f(0) = f'(0) = 0, for t >= 0 (f = 0 before).

    Panels between the kinks of g, cut until Gauss's formula of 10 points agrees with itself on both halves; the sums up
    to each panel are kept, so that a value costs one formula.
    """

    _POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(10)
    _LONGEST = 0.25  # [s], of a panel at first

    def __init__(self, function: TimeFunction) -> None:
        self.function = function
        self._start = [0.0]  # of the panels, and f', f there
        self._rate = [0.0]
        self._sum = [0.0]

    @property
    def kinks(self) -> np.ndarray:
        return self.function.kinks

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        return self.function.kinks_between(start, end)

    def _moments(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return integrals of g and of (b - t) g over [a, b], shape (n,)."""
        half = 0.5 * (b - a)
        t = a[:, None] + half[:, None] * (self._POINTS + 1.0)
        g = self._WEIGHTS * np.asarray(self.function(t), float)
        # summed point by point: a product of matrices would round differently with the number of times
        return half * sum(g.T), half * sum(((b[:, None] - t) * g).T)

    def _append(self, a: float, b: float, depth: int = 0) -> None:
        ends = np.array([a]), np.array([b])
        middle = np.array([0.5 * (a + b)])
        rate, part = (v[0] for v in self._moments(*ends))
        r1, s1 = (v[0] for v in self._moments(ends[0], middle))
        r2, s2 = (v[0] for v in self._moments(middle, ends[1]))
        fine = r1 + r2, s1 + s2 + r1 * 0.5 * (b - a)
        size = abs(rate) + abs(r1) + abs(r2)
        if depth < 20 and abs(rate - fine[0]) > 1e-13 * size:
            self._append(a, float(middle[0]), depth + 1)
            self._append(float(middle[0]), b, depth + 1)
            return
        self._sum.append(self._sum[-1] + self._rate[-1] * (b - a) + part)
        self._rate.append(self._rate[-1] + rate)
        self._start.append(b)

    def _extend(self, end: float) -> None:
        while self._start[-1] < end:
            a = self._start[-1]
            b = a + self._LONGEST
            kinks = self.function.kinks_between(a, b)
            self._append(a, float(kinks[0]) if kinks.size else b)

    def _at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        later = np.where(np.isfinite(t), np.maximum(t, 0.0), 0.0)
        self._extend(float(later.max(initial=0.0)))
        start = np.array(self._start)
        k = np.clip(np.searchsorted(start, later, side="right") - 1, 0, len(start) - 1)
        rate, part = self._moments(start[k], later)
        r0, s0 = np.array(self._rate)[k], np.array(self._sum)[k]
        bad = np.where(np.isfinite(t), 0.0, np.nan)
        return s0 + r0 * (later - start[k]) + part + bad, r0 + rate + bad

    def _value(self, t: np.ndarray) -> Any:
        return self._at(t)[0]

    def _slopes(self, t: np.ndarray) -> Slopes:
        return self._at(t)[1], np.where(t >= 0.0, self.function(t), 0.0)


class Integral(DoubleIntegral):
    """f with f' = g and f(0) = 0, for t >= 0 (f = 0 before), by the same panels."""

    def _value(self, t: np.ndarray) -> Any:
        return self._at(t)[1]

    def _slopes(self, t: np.ndarray) -> Slopes:
        before = t < 0.0
        first, second = np.asarray(self.function(t), float), self.function._slopes(t)[0]
        return np.where(before, 0.0, first), np.where(before, 0.0, second)


class Derivative(TimeFunction):
    """The first derivative of another function; its own second derivative is a difference, and rough."""

    _STEP = 1e-4  # [s]

    def __init__(self, function: TimeFunction) -> None:
        self.function = function

    @property
    def kinks(self) -> np.ndarray:
        return self.function.kinks

    def kinks_between(self, start: float, end: float) -> np.ndarray:
        return self.function.kinks_between(start, end)

    def _value(self, t: np.ndarray) -> Any:
        return self.function._slopes(t)[0]

    def _slopes(self, t: np.ndarray) -> Slopes:
        e = self._STEP
        after, before = (np.asarray(self.function._slopes(s)[1], float) for s in (t + e, t - e))
        return self.function._slopes(t)[1], (after - before) / (2.0 * e)


# ----------------------------------------------------------------------------------------------------------------------
# From a model file.


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
    title = (owner if isinstance(owner, Owner) else Owner(owner)).within("function") if owner else _title(name)
    return _make(spec, _Context(title, Path(folder) if folder is not None else Path(), functions or {}, 1))


def _title(name: str) -> Owner:
    return Owner("Function", name)


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


def _from_expression(text: str, context: _Context, extra: np.ndarray = _NONE) -> ExpressionFunction:
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
    return _linear_table(np.array([start, _later(p, start, duration)]), np.array(_ends(p)), p.title)


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
    return _linear_table(np.array([start, peak, end]), np.array([0.0, p.number("value", 1.0), 0.0]), p.title)


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
    extra = np.unique(p.row("kinks")) if "kinks" in p.spec else _NONE
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
        return _linear_table(times, values, p.title, extrapolate, periodic)

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
    _check_coefficients(coefficients, times, p.title)
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


_TABLE_KEYS = ("extrapolate", "periodic")
_SPLINE_KEYS = (*_TABLE_KEYS, "ends", "start_slope", "end_slope")
_CSV_KEYS = ("file", "time_column", "value_column", "delimiter", "interpolation", *_SPLINE_KEYS)

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
