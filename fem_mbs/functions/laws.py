"""Functions of time: classes with value and first two derivatives.

`fem_mbs.functions.kinds.make_function` makes them from the entries of model files.  Times are in seconds if the model
is in SI units; values have the unit of their use.

Every function is evaluated element by element with operations whose rounding does not depend on their neighbours, so
``f(t)[k]`` and ``f(t[k:k+1])[0]`` are equal bit for bit: a run that is restarted or evaluates in other chunks repeats
itself (see :func:`fem_mbs.functions.expressions.libm`).

Where a function or its derivatives jump, values and derivatives are those to the right (expressions: the value is that
of the text).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import Expression, libm
from fem_mbs.late import dataclass

__all__ = [
    "Constant", "ConstantSpeed", "Derivative", "DoubleIntegral", "ExpressionFunction", "Harmonic", "Integral", "Jump",
    "NONE", "Product", "Scaled", "Smoothstep", "SpinUp", "StartUp", "Sum", "Table", "TimeFunction",
    "check_coefficients", "linear_table", "title_of",
]  # fmt: skip

#: No times.
NONE = np.zeros(0)
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
    integrated: how often what was given is integrated: the derivative of this order is that.
    """

    kinks: np.ndarray = NONE
    integrated: int = 0

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
                    owner=title_of(name),
                    remedy="use it only where it is defined, or change it there.",
                )


def title_of(name: str) -> Owner:
    """Return the function that messages name."""
    return Owner("Function", name)


def _shaped(values: Any, times: np.ndarray) -> Any:
    """Return a copy of its own, broadcast to the shape of ``times``; a numpy scalar for a single time."""
    own = np.empty(times.size)
    own[:] = values
    return own.reshape(times.shape)[()]


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


def linear_table(
    times: np.ndarray, values: np.ndarray, title: str, extrapolate: str = "hold", periodic: bool = False
) -> Table:
    with np.errstate(over="ignore"):
        slopes = np.diff(values) / np.diff(times)
    check_coefficients(slopes, times, title)
    coefficients = np.array([slopes, values[:-1]])
    return Table(times, values, coefficients, extrapolate, periodic, title)


def check_coefficients(coefficients: np.ndarray, times: np.ndarray, title: str) -> None:
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
    def integrated(self) -> int:
        return self.function.integrated

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

    integrated = 2
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
        """Return the integrals of g and of (b - t) g over [a, b], shape (n,)."""
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

    integrated = 1

    def _value(self, t: np.ndarray) -> Any:
        return self._at(t)[1]

    def _slopes(self, t: np.ndarray) -> Slopes:
        before = t < 0.0
        first, second = np.asarray(self.function(t), float), self.function._slopes(t)[0]
        return np.where(before, 0.0, first), np.where(before, 0.0, second)


class Derivative(TimeFunction):
    """The first derivative of another function; its own second derivative is a difference of low accuracy."""

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
