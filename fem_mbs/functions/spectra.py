"""Stationary random functions of time with a given power spectral density, and the spectra of roads.

A random function is a sum of harmonics with random phases (spectral representation, Shinozuka & Deodatis 1991):

    f(t) = sum_k a_k sin(2 pi f_k (t - delay) + phi_k),      a_k^2/2 = integral of S over the cell of line k

S is one-sided [unit^2/Hz].  The cells divide the band; a_k^2/2 is the exact integral of S over its cell, so the mean
square of the function over a long time is the integral of S over the band, for any number of lines.

The profile of a road of ISO 8608 has the displacement density G(n) = G(n0) (n/n0)^-w over the wave number n
[cycles/m], with n0 = 0.1 cycles/m and w = 2.  A wheel that runs at the speed v sees S(f) = G(f/v)/v.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import libm
from fem_mbs.functions.laws import Slopes, TimeFunction
from fem_mbs.late import dataclass

__all__ = [
    "ROADS", "ROAD_BAND", "ROAD_WAVE_NUMBER", "PowerDensity", "RandomSignal", "bases_of", "line_edges", "road_density",
]  # fmt: skip

#: Geometric means of the displacement density G(n0) [m^3] of the road classes (ISO 8608: 16e-6 at class A, times 4
#: from class to class).
ROADS = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}
ROAD_WAVE_NUMBER = 0.1  # n0 [cycles/m]
#: Wave numbers [cycles/m] over which ISO 8608 describes roads driven on: waves of 90 m to 0.35 m.
ROAD_BAND = (0.011, 2.83)
_TIMES = 256  # evaluated at once: bounds the memory


@dataclass(frozen=True, eq=False)
class PowerDensity:
    """A one-sided power spectral density through points, by straight lines, or by straight lines over logarithms.

    Attributes:
        frequencies: (n,) [Hz], growing.
        densities: (n,) [unit^2/Hz].
        logarithmic: lines are straight over the logarithms of both, that is, pieces S = c f^m.
    """

    frequencies: np.ndarray
    densities: np.ndarray
    logarithmic: bool

    def check(self, title: Owner | str) -> None:
        """Raise ModelError for points that make no density."""
        f, s = self.frequencies, self.densities
        if len(f) != len(s) or len(f) < 2:
            raise ModelError(
                f"{len(f)} frequencies and {len(s)} densities",
                owner=title,
                remedy="give 2 or more, and as many of each",
            )
        bad = np.flatnonzero(np.diff(f) <= 0.0)
        if bad.size:
            k = int(bad[0])
            raise ModelError(
                f"frequencies must increase, but frequencies[{k}] is {float(f[k])!r} and frequencies[{k + 1}] is "
                f"{float(f[k + 1])!r}",
                owner=title,
                remedy="sort the points and give each frequency once",
            )
        for key, values in (("frequencies", f), ("densities", s)):
            low = np.flatnonzero(values <= 0.0 if self.logarithmic else values < 0.0)
            if low.size:
                need = "greater than 0" if self.logarithmic else "0 or greater"
                remedy = 'set interpolation = "linear"' if self.logarithmic and values[low[0]] == 0.0 else "change it"
                raise ModelError(
                    f"{key}[{low[0]}] = {float(values[low[0]])!r} must be {need}", owner=title, remedy=remedy
                )
        if not s.any():
            raise ModelError("all densities are 0", owner=title, remedy="give a density, or leave the function out")

    def power(self, edges: np.ndarray) -> np.ndarray:
        """Return the integrals of the density (n - 1,) between edges (n,) [Hz] within its points."""
        total = self._running(edges)
        return np.diff(total)

    def _running(self, at: np.ndarray) -> np.ndarray:
        """Return the integral from the first point up to frequencies (n,)."""
        f, s = self.frequencies, self.densities
        whole = np.concatenate(([0.0], np.cumsum(self._pieces(f[:-1], s[:-1], f[1:], s[1:], f[1:]))))
        k = np.clip(np.searchsorted(f, at, side="right") - 1, 0, len(f) - 2)
        return whole[k] + self._pieces(f[k], s[k], f[k + 1], s[k + 1], at)

    def _pieces(self, f0: Any, s0: Any, f1: Any, s1: Any, end: Any) -> np.ndarray:
        """Return the integrals from f0 to ``end`` of pieces from (f0, s0) to (f1, s1)."""
        if not self.logarithmic:
            x = end - f0
            return x * (s0 + 0.5 * x * (s1 - s0) / (f1 - f0))
        # S = s0 (f/f0)^m: f0 s0 (e^{p L} - 1)/p, p = m + 1, L = log(end/f0); the limit p = 0 is f0 s0 L
        length = np.log(end / f0)
        x = (np.log(s1 / s0) / np.log(f1 / f0) + 1.0) * length
        small = np.abs(x) < 1e-8
        quotient = np.where(small, 1.0 + 0.5 * x, np.expm1(x) / np.where(small, 1.0, x))
        return f0 * s0 * length * quotient


def road_density(
    roughness: float, exponent: float, speed: float, low: float, high: float, at: float = ROAD_WAVE_NUMBER
) -> PowerDensity:
    """Return the density over the frequency that a wheel sees on a road.

    Args:
        roughness: G(n0) [m^3].
        exponent: w.
        speed: v [m/s].
        low, high: the band [Hz].
        at: n0 [cycles/m].
    """
    f = np.array([low, high])
    density = roughness * (f / (speed * at)) ** -exponent / speed
    return PowerDensity(f, density, True)


def line_edges(low: float, high: float, lines: int, logarithmic: bool) -> np.ndarray:
    """Return the bounds (lines + 1,) of the cells of a band, of equal widths or of equal ratios."""
    edges = np.geomspace(low, high, lines + 1) if logarithmic else np.linspace(low, high, lines + 1)
    edges[0], edges[-1] = low, high
    return edges


@dataclass(frozen=True, eq=False)
class RandomSignal(TimeFunction):
    """f = sum_k a_k sin(2 pi f_k (t - delay) + phi_k); phases of a seed.

    ``edges`` (n + 1,) [Hz] bound the cells of the lines; each line is in the middle of its cell (of cells of equal
    ratios: at the geometric mean).  The phases are the first n numbers of the generator PCG64 of the seed, whose stream
    numpy keeps fixed, so a seed gives the same bits everywhere.  ``base`` of a road is the base of units in which its
    numbers are (`fem_mbs.units.BASES`), "" of densities.
    """

    density: PowerDensity
    edges: np.ndarray
    logarithmic: bool
    seed: int
    delay: float
    base: str = ""
    amplitudes: np.ndarray = field(init=False)
    omegas: np.ndarray = field(init=False)
    phases: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.edges[:-1], self.edges[1:]
        middle = np.sqrt(low * high) if self.logarithmic else 0.5 * (low + high)
        raw = np.random.PCG64(self.seed).random_raw(len(middle))
        object.__setattr__(self, "amplitudes", np.sqrt(2.0 * np.maximum(self.density.power(self.edges), 0.0)))
        object.__setattr__(self, "omegas", 2.0 * math.pi * middle)
        object.__setattr__(self, "phases", 2.0 * math.pi * ((raw >> np.uint64(11)) * 2.0**-53))

    def _sum(self, word: str, factors: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return sum_k factors_k sin or cos of the arguments at t (n,)."""
        found = np.empty(t.shape)
        for start in range(0, len(t), _TIMES):
            part = slice(start, start + _TIMES)
            x = (t[part, None] - self.delay) * self.omegas + self.phases
            # added one after another: the rounding of a time does not depend on how many there are
            found[part] = np.add.accumulate(factors * libm(word, x), axis=1)[:, -1]
        return found

    def _value(self, t: np.ndarray) -> Any:
        return self._sum("sin", self.amplitudes, t)

    def _slopes(self, t: np.ndarray) -> Slopes:
        speed = self.amplitudes * self.omegas
        return self._sum("cos", speed, t), self._sum("sin", -speed * self.omegas, t)


def bases_of(function: TimeFunction) -> set[str]:
    """Return the bases of units in which the roads in a function, or in those that it combines, have their numbers."""
    parts = [*getattr(function, "functions", ()), *([function.function] if hasattr(function, "function") else ())]
    own = {function.base} if isinstance(function, RandomSignal) and function.base else set()
    return own.union(*map(bases_of, parts))
