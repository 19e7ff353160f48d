"""Rotation vectors of unit quaternions: the function w of psi = w q, its slope and its divided differences.

A rotation by the angle |psi| has the quaternion (x, q) with x = cos(|psi|/2), |q| = sin(|psi|/2), hence

    psi = w(x) q,   w(x) = 2 acos(x)/sqrt(1 - x^2),   (1 - x^2) w' = x w - 2,   (1 - x^2) w'' = 3 x w' + w.

w is smooth from x = 1 (no rotation) through x = 0 (half a turn) to x = -1 (a full turn), where it has its only pole.
With z = (1 - x)/2 = sin^2(|psi|/4) it is 2 sum t_n z^n, t_0 = 1, t_n = t_(n-1) 2n/(2n + 1).
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner

__all__ = ["rotation_factor"]

_SMALL = 0.15  # below this z the series of _TERMS terms is exact to round-off
_TERMS = 26
_NEAR = 0.2  # difference of two x, over their distance from the pole, below which a quadrature replaces quotients
# Gauss-Legendre on [0, 1], six points
_P1, _P2, _P3 = 0.033765242898423975, 0.16939530676686776, 0.3806904069584015
_W1, _W2, _W3 = 0.08566224618958525, 0.1803807865240693, 0.23395696728634546


@inner
def _series(z0, z1):
    """Return w(x0), w(x1), the divided difference by x and its derivative by x1, from the series in z = (1 - x)/2."""
    t = 1.0
    w0 = w1 = 1.0
    quotient = slope = 0.0
    power0 = power1 = 1.0
    h, d = 1.0, 0.0  # (z1^n - z0^n)/(z1 - z0) and its derivative by z1
    for n in range(1, _TERMS):
        t *= 2.0 * n / (2.0 * n + 1.0)
        quotient -= t * h
        slope += 0.5 * t * d
        power0 *= z0
        power1 *= z1
        w0 += t * power0
        w1 += t * power1
        d = h + z1 * d
        h = z1 * h + power0
    return 2 * w0, 2 * w1, quotient, slope


@inner
def _closed(x):
    """Return w(x), w'(x) and w''(x)."""
    z = 0.5 * (1.0 - x)
    if z < _SMALL:
        w, _, dw, half = _series(z, z)
        return w, dw, 2 * half
    y2 = (1.0 - x) * (1.0 + x)
    y = math.sqrt(y2)
    w = 2 * math.atan2(y, x) / y
    dw = (x * w - 2) / y2
    return w, dw, (3 * x * dw + w) / y2


@inner
def rotation_factor(x0, x1):
    """Return ``w(x0)``, ``w(x1)``, the divided difference ``w[x0, x1] = (w1 - w0)/(x1 - x0)`` and its derivative by x1.

    Nothing cancels as x1 comes near x0, where they are w, w, w' and w''/2.
    """
    z0, z1 = 0.5 * (1.0 - x0), 0.5 * (1.0 - x1)
    if z0 < _SMALL and z1 < _SMALL:
        return _series(z0, z1)
    w0 = _closed(x0)[0]
    w1, dw1, _ = _closed(x1)
    step = x1 - x0
    if abs(step) > _NEAR * (1.0 + min(x0, x1)):
        quotient = (w1 - w0) / step
        return w0, w1, quotient, (dw1 - quotient) / step
    quotient = slope = 0.0
    for k in range(6):
        m = k if k < 3 else 5 - k
        p = _P1 if m == 0 else (_P2 if m == 1 else _P3)
        weight = _W1 if m == 0 else (_W2 if m == 1 else _W3)
        if k > 2:
            p = 1.0 - p
        _, dw, ddw = _closed(x0 + p * step)
        quotient += weight * dw
        slope += weight * p * ddw
    return w0, w1, quotient, slope
