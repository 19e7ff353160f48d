"""The root of a function between two ends.

The module `scipy.optimize` has Brent's method, but takes .1 s to load; one event of a run is no reason for that.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["root_between"]

_ROUND_OFF = 2.0**-51


def root_between(
    f: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float], close: float
) -> float:
    """Return where a function is zero between two ends, to a distance ``close`` or to round-off.

    Inverse quadratic interpolation where three points lie on a course that this suits, else halves (Chandrupatla,
    Advances in Engineering Software 28 (1997), 145-149); the first point is that of the secant.

    Args:
        f: the function, which may jump.
        ends, values: the two ends and the values there, of which one is not positive and one not negative.
        close: distance of two points between which the function changes its sign that needs no further point.
    """
    (b, a), (fb, fa) = ends, values  # the latest point and one on the other side of the root; c is left behind
    if fb == fa:
        return a
    t = fa / (fa - fb)
    while True:
        best, least = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        part = (_ROUND_OFF * abs(best) + close) / abs(b - a) if b != a else 1.0
        if least == 0.0 or part > 0.5:
            return best
        x = a + min(1.0 - part, max(part, t)) * (b - a)
        fx = f(x)
        if (fx < 0.0) == (fa < 0.0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        else:
            t = 0.5
