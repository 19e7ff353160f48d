"""Values with first and second derivatives over six variables: what a gap is composed of, differentiated exactly.

A jet is 28 numbers: the value, its gradient (6), and the upper half of its second derivatives row by row (21).  Every
function takes ``size``, 7 or 28: with 7 it leaves the second derivatives out.  Results may overwrite arguments.
"""

from __future__ import annotations

from fem_mbs.contract import inner

__all__ = ["JET", "SLOPE", "VARIABLES", "curved", "fixed", "mixed", "product", "step_quotient", "step_up", "variable"]

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


@inner
def step_quotient(size, x0, x1, dI, noise, g, bend):
    """Fill g (6,) with the difference quotient of a jet over a step, so that g.dI is the change of its value; return
    this change.

    ``x0`` and ``x1``: the jet at both states, ``dI`` (6,): changes of the variables.  With ``size`` = 28 (second
    derivatives) fill bend (6, 6) with the derivatives of g by the variables at the end of the step.
    """
    change = x1[0] - x0[0]
    length = 0.0
    for i in range(6):
        g[i] = 0.5 * (x0[1 + i] + x1[1 + i])
        change -= g[i] * dI[i]
        length += dI[i] * dI[i]
    kept = abs(change) > noise and length > 0
    if size == JET:
        k = SLOPE
        for i in range(6):
            for j in range(i, 6):
                bend[i, j] = bend[j, i] = 0.5 * x1[k]
                k += 1
        if kept:
            for j in range(6):
                slope = x1[1 + j] - g[j]  # of ``change`` by variable j, from x1, since bend changes in this loop
                k = SLOPE
                for i in range(6):
                    for l in range(i, 6):
                        if l == j or i == j:
                            slope -= 0.5 * x1[k] * dI[i + l - j]
                        k += 1
                for i in range(6):
                    bend[i, j] += dI[i] * (slope - 2 * change * dI[j] / length) / length
                bend[j, j] += change / length
    if kept:
        for i in range(6):
            g[i] += change * dI[i] / length
    total = 0.0
    for i in range(6):
        total += g[i] * dI[i]
    return total
