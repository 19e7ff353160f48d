"""Laws of a force over one coordinate or over its rate: piecewise cubics, stops; means over a step that do not cancel.

A piecewise cubic is n rows (a, c0, c1, c2, c3, V) of a parameter table: F = c0 + c1 z + c2 z^2 + c3 z^3, z = x - a,
from x = a to the a of the next row; the first row also serves everything before it.  F is continuous; V is its integral
at a.

The discrete force of a potential V(x) is the mean of F over the step, (V(x1) - V(x0))/(x1 - x0) = int F dx/(x1 - x0).
Simpson's rule gives it exactly for a cubic, and piece by piece as a weighted mean, with no difference of energies that
would cancel.  Its derivative by x1 is int (x - x0) F' dx/(x1 - x0)^2, cubic as well.  Where x0 = x1: F, and F'/2.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.contract import inner

__all__ = [
    "ROW",
    "friction_coefficient",
    "friction_slopes",
    "hinge_mean",
    "piecewise",
    "piecewise_at",
    "piecewise_energy",
    "piecewise_mean",
]

ROW = 6  # numbers of a piece


# --- compiled --------------------------------------------------------------------------------------------------------
@inner
def _piece(par, e, first, n, x):
    """Return the number of the piece that holds x."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high + 1) // 2
        if x >= par[e, first + ROW * middle]:
            low = middle
        else:
            high = middle - 1
    return low


@inner
def _value(par, e, row, x):
    z = x - par[e, row]
    return par[e, row + 1] + z * (par[e, row + 2] + z * (par[e, row + 3] + z * par[e, row + 4]))


@inner
def _slope(par, e, row, x):
    z = x - par[e, row]
    return par[e, row + 2] + z * (2 * par[e, row + 3] + z * 3 * par[e, row + 4])


@inner
def piecewise_at(par, e, first, n, x):
    """Return F(x) and F'(x) of the n pieces at par[e, first:]; zeros for n = 0.

    F' is the mean of both slopes where two pieces meet.  About rest harmonic balance makes the same of a damper whose
    slopes differ for either sense.
    """
    if n == 0:
        return 0.0, 0.0
    piece = _piece(par, e, first, n, x)
    row = first + ROW * piece
    slope = _slope(par, e, row, x)
    if piece > 0 and x == par[e, row]:
        slope = 0.5 * (slope + _slope(par, e, row - ROW, x))
    return _value(par, e, row, x), slope


@inner
def piecewise_energy(par, e, first, n, x):
    """Return V(x), the integral of F, of the n pieces at par[e, first:]; zero for n = 0."""
    if n == 0:
        return 0.0
    row = first + ROW * _piece(par, e, first, n, x)
    z = x - par[e, row]
    c = par[e, row + 2] / 2 + z * (par[e, row + 3] / 3 + z * par[e, row + 4] / 4)
    return par[e, row + 5] + z * (par[e, row + 1] + z * c)


@inner
def piecewise_mean(par, e, first, n, x0, x1):
    """Return the mean of F between x0 and x1, and its derivative by x1."""
    if n == 0:
        return 0.0, 0.0
    low, high = (x0, x1) if x0 <= x1 else (x1, x0)
    i0, i1 = _piece(par, e, first, n, low), _piece(par, e, first, n, high)
    if i0 == i1:
        row = first + ROW * i0
        middle = 0.5 * (x0 + x1)
        mean = (_value(par, e, row, x0) + 4 * _value(par, e, row, middle) + _value(par, e, row, x1)) / 6
        return mean, (2 * _slope(par, e, row, middle) + _slope(par, e, row, x1)) / 6
    mean = slope = 0.0
    for i in range(i0, i1 + 1):
        row = first + ROW * i
        left = low if i == i0 else par[e, row]
        right = high if i == i1 else par[e, row + ROW]
        middle = 0.5 * (left + right)
        part = (right - left) / (high - low)
        mean += part / 6 * (_value(par, e, row, left) + 4 * _value(par, e, row, middle) + _value(par, e, row, right))
        slope += part / 6 * (
            abs(left - x0) * _slope(par, e, row, left)
            + 4 * abs(middle - x0) * _slope(par, e, row, middle)
            + abs(right - x0) * _slope(par, e, row, right)
        )  # fmt: skip
    return mean, slope / (high - low)


@inner
def hinge_mean(y0, y1):
    """Return the mean of max(y, 0) between y0 and y1, and its derivative by y1."""
    if y0 >= 0 and y1 >= 0:
        return 0.5 * (y0 + y1), 0.5
    if y0 <= 0 and y1 <= 0:
        return 0.0, 0.0
    width = abs(y1 - y0)
    if y1 > 0:
        q = y1 / width
        return 0.5 * q * y1, q * (1 - 0.5 * q)
    q = y0 / width
    return 0.5 * q * y0, 0.5 * q * q


@inner
def friction_coefficient(par, e, first, w):
    """Return m(w) = tanh(w/w_s) (mu + (mu_0 - mu) exp(-(w/w_0)^2)) of a sliding speed w, and m'(w).

    par[e, first:] holds mu, mu_0, w_0 (0: mu alone) and w_s.
    """
    ws, w0 = par[e, first + 3], par[e, first + 2]
    t = math.tanh(w / ws)
    level, slope = par[e, first], 0.0
    if w0 > 0:
        more = (par[e, first + 1] - level) * math.exp(-((w / w0) ** 2))
        level += more
        slope = -2 * w / (w0 * w0) * more
    return t * level, (1 - t * t) / ws * level + t * slope


@inner
def friction_slopes(par, e, first, w):
    """Return m(w)/w of a sliding speed w >= 0, m(w), and (d(m/w)/dw)/w: friction along a surface, of a vector."""
    m, slope = friction_coefficient(par, e, first, w)
    if w < 1e-9 * par[e, first + 3]:
        return friction_coefficient(par, e, first, 0.0)[1], m, 0.0
    return m / w, m, (slope - m / w) / (w * w)


# --- in numpy --------------------------------------------------------------------------------------------------------
def piecewise(points, interpolation: str = "linear", stiffness: float = 0.0, cubic: float = 0.0) -> np.ndarray:
    """Return rows (n, 6) of a piecewise cubic: a table, plus stiffness x + cubic x^3.

    Args:
        points: (k, 2) of x, strictly rising, and F; beyond its ends the table goes on along its last slopes; an empty
            one counts as zero.
        interpolation: "linear", or "spline": natural cubic, twice continuously differentiable.

    V is zero at x = 0.
    """
    points = np.asarray(points, float).reshape(-1, 2)
    if len(points) == 0:
        a, c = np.zeros(1), np.zeros((1, 4))
    else:
        x, f = points.T
        if interpolation == "spline" and len(x) > 2:
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(x, f, bc_type="natural")
            inner_c = spline.c[::-1].T
            slopes = spline(x[[0, -1]], 1)
        else:
            slope = np.diff(f) / np.diff(x)
            inner_c = np.column_stack((f[:-1], slope, np.zeros((len(slope), 2))))
            slopes = slope[[0, -1]]
        a = np.concatenate((x[:1], x))
        c = np.zeros((len(a), 4))
        c[1:-1] = inner_c
        c[0, :2], c[-1, :2] = (f[0], slopes[0]), (f[-1], slopes[1])
    # k x + m x^3 about each a
    c = c + np.column_stack(
        (stiffness * a + cubic * a**3, stiffness + 3 * cubic * a**2, 3 * cubic * a, np.full_like(a, cubic))
    )
    z = np.diff(a)
    parts = z * (c[:-1, 0] + z * (c[:-1, 1] / 2 + z * (c[:-1, 2] / 3 + z * c[:-1, 3] / 4)))
    V = np.concatenate(([0.0], np.cumsum(parts)))
    rows = np.ascontiguousarray(np.column_stack((a, c, V)))
    rows[:, 5] -= piecewise_energy(rows.reshape(1, -1), 0, 0, len(rows), 0.0)
    return rows
