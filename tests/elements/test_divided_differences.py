"""Functions with divided differences that lose no digits as their arguments meet, against integrals in long double.

For a smooth f, f[x0, x1] is the mean of f'(x0 + t (x1 - x0)) over 0 < t < 1, and its derivative by x1 that of t f''.
"""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.elements.beams.beam2d_exact import arc_factor
from fem_mbs.elements.beams.beam3d_natural import atan_difference
from fem_mbs.elements.laws import hinge_mean
from fem_mbs.elements.springs.rotation_vector import rotation_factor

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_T, _W = np.longdouble(0.5) * (1 + np.longdouble(_NODES)), np.longdouble(0.5) * np.longdouble(_WEIGHTS)


def _arc(x):
    """x/sin x, its first and second derivative; a series where these cancel."""
    s, c = np.sin(x), np.cos(x)
    y = x * x
    near = np.abs(x) < 0.02
    with np.errstate(all="ignore"):
        f, df, ddf = x / s, (s - x * c) / s**2, (x * (1 + c * c) - 2 * s * c) / s**3
    one, two = np.longdouble(1), np.longdouble(2)
    return (
        np.where(near, 1 + y / 6 + 7 * y**2 / 360 + 31 * y**3 / 15120, f),
        np.where(near, x / 3 + 7 * x * y / 90 + 31 * x * y**2 / 2520, df),
        np.where(near, one / 3 + 7 * y / 30 + 31 * y**2 / 504 + two * 127 * 56 * y**3 / 1209600, ddf),
    )


def _vector(x):
    """2 acos(x)/sqrt(1 - x^2), its first and second derivative."""
    y = (1 - x) * (1 + x)
    w = 2 * np.arccos(x) / np.sqrt(y)
    dw = (x * w - 2) / y
    return w, dw, (3 * x * dw + w) / y


def _atan(t):
    """atan(sqrt t)/sqrt t, its first and second derivative; a series where these cancel."""
    near = t < 0.3
    far = np.where(near, np.longdouble(1), t)
    a = np.arctan(np.sqrt(far)) / np.sqrt(far)
    b = 1 / (1 + far)
    da = (b - a) / (2 * far)
    k = np.arange(60)[:, None]
    c = (-1.0) ** k / np.longdouble(2 * k + 1)
    t = np.where(near, t, 0)
    series = [
        (factor * c * t ** np.maximum(k - i, 0)).sum(axis=0)
        for i, factor in enumerate((np.ones_like(k), k, k * (k - 1)))
    ]
    return tuple(np.where(near, *both) for both in zip(series, (a, da, -(b * b + 3 * da) / (2 * far)), strict=True))


def _exact(function, x0, x1):
    x0, x1 = np.longdouble(x0), np.longdouble(x1)
    _, df, ddf = function(x0 + _T * (x1 - x0))
    return function(x0)[0], function(x1)[0], function(x1)[1], _W @ df, _W @ (_T * ddf)


_DIFFERENCES = (0.0, 1e-9, -1e-4, 0.01, -0.05, 0.0999, 0.1001, -0.3)


@pytest.mark.parametrize("x0", [0.0, 1e-3, 0.05, -0.2, 0.28, 0.31, -0.7, 1.1, 1.5])
@pytest.mark.parametrize("difference", _DIFFERENCES)
def test_factor_of_arcs(x0, difference):
    found = arc_factor(x0, x0 + difference)
    for value, exact in zip(found, _exact(_arc, x0, x0 + difference), strict=True):
        assert value == pytest.approx(float(exact), rel=4e-13, abs=2e-14)


@pytest.mark.parametrize("x0", [0.98, 0.72, 0.69, 0.4, 0.0, -0.5, -0.8])
@pytest.mark.parametrize("difference", [*_DIFFERENCES, -0.7])
def test_factor_of_rotation_vectors(x0, difference):
    x1 = x0 + difference
    if not -0.9 < x1 < 0.99:
        x1 = x0 - difference
    found = rotation_factor(x0, x1)
    w0, w1, _, quotient, slope = _exact(_vector, x0, x1)
    for value, exact in zip(found, (w0, w1, quotient, slope), strict=True):
        assert value == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("t0", [0.0, 1e-6, 0.02, 0.06, 0.098, 0.3, 1.7])
@pytest.mark.parametrize("difference", [0.0, 1e-9, 1e-4, 0.01, 0.039, 0.2])
def test_half_angle_of_a_tangent(t0, difference):
    t1 = t0 + difference
    a0, a1, quotient, slope, own = atan_difference(t0, t1)
    w0, w1, dw, exact, rise = (np.ravel(a)[0] for a in _exact(_atan, np.array([t0]), np.array([t1])))
    for value, known in zip((a0, a1, quotient, own), (w0, w1, exact, dw), strict=True):
        assert value == pytest.approx(float(known), rel=1e-11)
    assert slope == pytest.approx(float(rise), rel=1e-9 + difference**2)  # of a tangent; by its mean-value point


def test_mean_of_what_acts_on_one_side():
    """int max(y, 0) dy / (y1 - y0) and its derivative by y1, for steps on one side, on the other, and over the edge."""
    for y0 in (-2.0, -0.7, -0.3, 0.0, 0.4, 3.0):
        for y1 in (-2.1, -0.8, -0.2, 0.1, 0.5, 2.0):
            mean, slope = hinge_mean(y0, y1)
            primitive = 0.5 * (max(y1, 0.0) ** 2 - max(y0, 0.0) ** 2)
            assert mean == pytest.approx(primitive / (y1 - y0), rel=1e-13, abs=1e-15)
            assert slope == pytest.approx((max(y1, 0.0) - mean) / (y1 - y0), rel=1e-12, abs=1e-14)
    for y in (-0.5, 0.0, 0.5):
        assert hinge_mean(y, y) == (max(y, 0.0), 0.5 * (y >= 0.0))
