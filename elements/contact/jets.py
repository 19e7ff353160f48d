"""Values with first and second derivatives over six variables: what a gap is composed of, differentiated exactly.

A jet is 28 numbers: the value, its gradient (6), and the upper half of its second derivatives row by row (21).  Every
function takes ``size``, 7 or 28: with 7 it leaves the second derivatives out.  Results may overwrite arguments.
"""

from __future__ import annotations

from fem_mbs.contract import inner

__all__ = ["JET", "SLOPE", "VARIABLES", "curved", "fixed", "mixed", "product", "step_up", "variable"]

VARIABLES, SLOPE, JET = 6, 7, 28


@inner
def fixed(size, value, out):
    """Set a jet to a constant."""
    out[0] = value
    for k in range(1, size):
        out[k] = 0.0


@inner
def variable(size, i, value, out):
    """Set a jet to the variable i."""
    fixed(size, value, out)
    out[1 + i] = 1.0


@inner
def mixed(size, a, x, b, y, out):
    """Set a jet to a x + b y."""
    for k in range(size):
        out[k] = a * x[k] + b * y[k]


@inner
def product(size, x, y, out):
    """Set a jet to x y."""
    if size > SLOPE:
        k = SLOPE
        for i in range(VARIABLES):
            for j in range(i, VARIABLES):
                out[k] = x[0] * y[k] + x[k] * y[0] + x[1 + i] * y[1 + j] + x[1 + j] * y[1 + i]
                k += 1
    for k in range(1, SLOPE):
        out[k] = x[0] * y[k] + x[k] * y[0]
    out[0] = x[0] * y[0]


@inner
def curved(size, f, slope, bend, x, out):
    """Set a jet to f(x), with the value, the first and the second derivative of f at x."""
    if size > SLOPE:
        k = SLOPE
        for i in range(VARIABLES):
            for j in range(i, VARIABLES):
                out[k] = slope * x[k] + bend * x[1 + i] * x[1 + j]
                k += 1
    for k in range(1, SLOPE):
        out[k] = slope * x[k]
    out[0] = f


@inner
def step_up(size, x, out):
    """Set a jet to a smooth step of x, 0 below 0 and 1 above 1, with two continuous derivatives: 6 x^5 - 15 x^4 +
    10 x^3."""
    t = x[0]
    if t <= 0:
        fixed(size, 0.0, out)
    elif t >= 1:
        fixed(size, 1.0, out)
    else:
        f = t * t * t * (10 + t * (6 * t - 15))
        curved(size, f, 30 * t * t * (1 - t) * (1 - t), 60 * t * (1 - t) * (1 - 2 * t), x, out)
