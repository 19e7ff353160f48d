"""Zero of a function whose values are expensive: each costs a time step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["zero"]

_MOST = 200  # values


def zero(
    value: Callable[[float], float], low: float, at_low: float, high: float, at_high: float, tolerance: float
) -> float:
    """Return a zero between ``low`` and ``high``, where the values have different signs.

    The parabola through the last three points gives the next one (D.E. Muller, MTAC 10 (1956), 208-215), so the gap of
    a free flight takes two or three values.  Where it leaves the interval, or the interval does not shrink to half in
    three values, the interval is halved.  The function is evaluated last at the zero that is returned.

    Args:
        at_low, at_high: the values at both ends.
        tolerance: change of the argument below which the zero counts as found.
    """
    points = [(low, at_low), (high, at_high)]
    x = low + (high - low) * at_low / (at_low - at_high)
    widths = [high - low]
    for _ in range(_MOST):
        if not low < x < high:
            x = 0.5 * (low + high)
        y = value(x)
        if y == 0.0:
            break
        points = [*points[-2:], (x, y)]
        if (y > 0.0) == (at_low > 0.0):
            low = x
        else:
            high = x
        widths.append(high - low)
        following = _of_parabola(points, low, high)
        if abs(following - x) <= tolerance or high - low <= tolerance:
            break
        slow = len(widths) > 3 and widths[-1] > 0.5 * widths[-4]
        x = 0.5 * (low + high) if slow else following
    return x


def _of_parabola(points: list[tuple[float, float]], low: float, high: float) -> float:
    """Return the zero in an interval of the parabola through three points, else the middle of the interval."""
    (x0, y0), (x1, y1), (x2, y2) = points
    first, second = (y1 - y2) / (x1 - x2), (y0 - y1) / (x0 - x1)
    curvature = (second - first) / (x0 - x2)
    slope = first + curvature * (x2 - x1)
    root = slope * slope - 4.0 * curvature * y2
    if root >= 0.0:
        # both zeros without cancellation
        q = -0.5 * (slope + np.copysign(np.sqrt(root), slope))
        steps = ([y2 / q] if q else []) + ([q / curvature] if curvature else [])
        for step in sorted(steps, key=abs):
            if low <= x2 + step <= high:
                return float(x2 + step)
    return 0.5 * (low + high)
