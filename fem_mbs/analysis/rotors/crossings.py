"""Where a branch of eigenvalues crosses a line: roots of functions that are dear to evaluate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["interpolated_root", "root_between"]

_SECANTS = 8  # steps before Brent's method takes over
_NOISE = 3e-12  # relative change of a speed that may come from rounding of eigenvalues


def interpolated_root(x: np.ndarray, y: np.ndarray, k: int) -> float:
    """Return where the polynomial through the points k - 1 to k + 2, those that there are, is zero between k and k + 1,
    at whose ends y has different signs."""
    from scipy.interpolate import BarycentricInterpolator
    from scipy.optimize import brentq

    some = slice(max(k - 1, 0), k + 3)
    return float(brentq(BarycentricInterpolator(x[some], y[some]), x[k], x[k + 1]))


def root_between(
    f: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float], first: float, close: float
) -> float:
    """Return a root of f between the ends, at which it has the ``values``, of different signs, to within ``close``.

    The secant method from a good ``first`` guess, whose steps may not leave the bracket; then Brent's method.
    """
    known = dict(zip(ends, values, strict=True))
    before = np.inf
    at = min(max(first, ends[0]), ends[1])
    for _ in range(_SECANTS):
        if at not in known:
            known[at] = f(at)
        if known[at] == 0.0:
            return at
        # the nearest other point on either side
        low = max((s for s in known if (known[s] > 0.0) == (values[0] > 0.0)), default=ends[0])
        high = min((s for s in known if (known[s] > 0.0) == (values[1] > 0.0)), default=ends[1])
        other = min((s for s in known if s != at), key=lambda s: abs(s - at))
        slope = (known[at] - known[other]) / (at - other)
        new = at - known[at] / slope if slope != 0.0 else np.inf
        step = abs(new - at)
        if step <= close or (step <= _NOISE * abs(at) and step > 0.3 * before):
            return at  # there, or where rounding of f does not let it come nearer
        if not low < new < high:
            break
        at, before = new, step
    from scipy.optimize import brentq

    return float(brentq(lambda s: known[s] if s in known else f(s), low, high, xtol=close, rtol=1e-14))
