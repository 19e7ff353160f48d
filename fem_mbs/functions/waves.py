"""Amplitudes of decks that are no tables, as functions of time, and functions that others replace for a while.

    SMOOTH STEP   between the points of a table A + (B - A) s^3 (10 - 15 s + 6 s^2), constant outside
    PERIODIC      A0 + sum_n (A_n cos n w (t - t0) + B_n sin n w (t - t0))     from t0 on, before it A0
    MODULATED     A0 + A sin w1 (t - t0) sin w2 (t - t0)                        from t0 on, before it A0
    DECAY         A0 + A exp(-(t - t0)/td)                                      from t0 on, before it A0

Source: Abaqus Analysis User's Guide, "Amplitude curves".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass

__all__ = ["WAVES", "Overlaid", "Wave"]

WAVES = ("SMOOTH STEP", "PERIODIC", "MODULATED", "DECAY")


@dataclass(frozen=True, eq=False)
class Wave(TimeFunction):
    """``factor`` times one of `WAVES` whose time counts from ``start``.

    ``data``: of SMOOTH STEP times and values in turn; of PERIODIC N, w, t0, A0, A_1, B_1, ...; of MODULATED A0, A, t0,
    w1, w2; of DECAY A0, A, t0, td.
    """

    kind: str
    data: np.ndarray
    factor: float
    start: float

    def __post_init__(self) -> None:
        times = self.data[::2] if self.kind == "SMOOTH STEP" else self.data[2:3]
        object.__setattr__(self, "kinks", np.asarray(times, float) + self.start)

    def _jet(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the amplitude and its derivatives at its own times (n,)."""
        data = self.data
        if self.kind == "SMOOTH STEP":
            return _smooth_steps(data[::2], data[1::2], t)
        zero = np.zeros_like(t)
        if self.kind == "PERIODIC":
            _, w, t0, mean = data[:4]
            n = w * np.arange(1, len(data[4::2]) + 1)[:, None]
            A, B = data[4::2][:, None], data[5::2][:, None]
            c, s = np.cos(n * (t - t0)), np.sin(n * (t - t0))
            found = ((A * c + B * s).sum(0), (n * (B * c - A * s)).sum(0), (-(n**2) * (A * c + B * s)).sum(0))
        elif self.kind == "MODULATED":
            mean, A, t0, w1, w2 = data
            s1, c1, s2, c2 = (f(w * (t - t0)) for w in (w1, w2) for f in (np.sin, np.cos))
            found = (
                A * s1 * s2, A * (w1 * c1 * s2 + w2 * s1 * c2),
                A * (2.0 * w1 * w2 * c1 * c2 - (w1**2 + w2**2) * s1 * s2),
            )  # fmt: skip
        else:
            mean, A, t0, td = data
            e = A * np.exp(-np.maximum(t - t0, 0.0) / td)
            found = e, -e / td, e / td**2
        on = t >= t0
        value, first, second = (np.where(on, f, zero) for f in found)
        return mean + value, first, second

    def _value(self, t: np.ndarray) -> Any:
        return self.factor * self._jet(t - self.start)[0]

    def _slopes(self, t: np.ndarray) -> tuple[Any, Any]:
        _, first, second = self._jet(t - self.start)
        return self.factor * first, self.factor * second


def _smooth_steps(times: np.ndarray, values: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if len(times) < 2:
        return np.full(t.shape, values[0]), np.zeros(t.shape), np.zeros(t.shape)
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    width, rise = times[k + 1] - times[k], values[k + 1] - values[k]
    s = np.clip((t - times[k]) / width, 0.0, 1.0)
    return (
        values[k] + rise * s**3 * (10.0 - 15.0 * s + 6.0 * s**2), rise / width * 30.0 * (s * (1.0 - s)) ** 2,
        rise / width**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Overlaid(TimeFunction):
    """A function but in some spans of time (start, end], which others describe; at a start the earlier value counts."""

    line: TimeFunction
    spans: tuple[tuple[float, float, TimeFunction], ...]

    def __post_init__(self) -> None:
        inner = [f.kinks[(f.kinks >= a) & (f.kinks <= b)] for a, b, f in self.spans]
        object.__setattr__(self, "kinks", np.unique(np.concatenate([self.line.kinks, *inner])))

    def _value(self, t: np.ndarray) -> Any:
        out = np.array(self.line(t), float)
        for start, end, function in self.spans:
            on = (t > start) & (t <= end)
            out[on] = function(t[on])
        return out

    def _slopes(self, t: np.ndarray) -> tuple[Any, Any]:
        _, first, second = self.line.jet(t)
        first, second = np.array(first, float), np.array(second, float)
        for start, end, function in self.spans:
            on = (t >= start) & (t < end)
            _, first[on], second[on] = function.jet(t[on])
        return first, second
