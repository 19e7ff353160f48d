"""Paths through nodes on which joints slide: cubics of the place s between two nodes, and the share of each in a step.

Elements of sliding joints have the ends b (what slides), p, q (both ends of one piece of the path) and a node whose
first coordinate is s.  The columns of their parameters begin with the scale of the multipliers and `PATH_COLUMNS`.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import inner
from fem_mbs.elements.registry import Watch

__all__ = [
    "BEYOND_THE_END",
    "CUBIC",
    "FIRST",
    "LAST",
    "LENGTH",
    "PATH_COLUMNS",
    "START",
    "beyond_the_end",
    "divided",
    "place",
    "shape_polynomials",
    "value",
]

START, LENGTH, CUBIC, FIRST, LAST = range(1, 6)
PATH_COLUMNS = ("start [m]", "length [m]", "cubic", "first", "last")


@inner
def shape_polynomials(length, cubic, c):
    """Fill c (4, 4) with the coefficients of 1, xi, xi^2, xi^3 of the functions of P_p, d_p, P_q, d_q."""
    for i in range(4):
        for j in range(4):
            c[i, j] = 0.0
    c[0, 0] = 1.0
    if cubic == 0.0:
        c[0, 1], c[2, 1] = -1.0, 1.0
        return
    c[0, 2], c[0, 3] = -3.0, 2.0
    c[1, 1], c[1, 2], c[1, 3] = length, -2.0 * length, length
    c[2, 2], c[2, 3] = 3.0, -2.0
    c[3, 2], c[3, 3] = -length, length


@inner
def value(c, x):
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]))


@inner
def divided(c, x0, x1):
    """Return (c(x1) - c(x0))/(x1 - x0), and its derivative by x1."""
    return c[1] + c[2] * (x0 + x1) + c[3] * (x0 * x0 + x0 * x1 + x1 * x1), c[2] + c[3] * (x0 + 2.0 * x1)


@inner
def place(par, e, s0, s1, ds, where):
    """Fill ``where`` (7,) with the weights and places of the element in a step from s0 to s1.

    They are the weights of the element at both ends of the step, both places in it (xi), its part of the distance ds,
    and the places (xi) between which this part lies.
    """
    a, length = par[e, START], par[e, LENGTH]
    low, high = a, a + length
    if par[e, FIRST] != 0.0:
        low = -np.inf
    if par[e, LAST] != 0.0:
        high = np.inf
    where[0] = 1.0 if low <= s0 < high else 0.0
    where[1] = 1.0 if low <= s1 < high else 0.0
    where[2], where[3] = (s0 - a) / length, (s1 - a) / length
    c0, c1 = min(max(s0, low), high), min(max(s1, low), high)
    if where[0] == 1.0 and where[1] == 1.0:
        where[4] = 1.0
    elif c0 == c1 or ds == 0.0:
        where[4] = 0.0
        c0 = c1 = min(max(s1, a), a + length)
    else:
        where[4] = (c1 - c0) / ds
    where[5], where[6] = (c0 - a) / length, (c1 - a) / length


@inner
def beyond_the_end(e0, e1, par, dof, Q, D, fe):
    """Write the distances [m] of the points beyond the ends of their lines; negative elsewhere."""
    place = 9 if D.shape[2] == 2 else 18  # of the fourth end
    for e in range(e0, e1):
        s = Q[1, dof[e, place]]
        below = par[e, START] - s if par[e, FIRST] != 0.0 else -1.0
        above = s - par[e, START] - par[e, LENGTH] if par[e, LAST] != 0.0 else -1.0
        fe[e - e0, 0] = max(below, above)


BEYOND_THE_END = Watch(
    0.0, 0.0, "way beyond the end", "end the run before, hold the point by a stop, or make the line longer",
    kind="Joint", unit="m",
)  # fmt: skip
