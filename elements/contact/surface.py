"""The gap between a ball and a surface of a body, and its discrete gradient over the coordinates in the body's axes.

The centre of the ball has the coordinates p_k = d.e_k in the axes e_k of the surface.  Surfaces are

plane   s = p_n - r, n the last axis: a half-space below it
core    s = side (|c(p)| - R) - r, where c_k(p_k) is what p_k exceeds -h_k .. h_k by: a sphere (h = 0), a cylinder (h
        infinite along the last axis), a capsule (h = half the distance of its ends), a box with edges of the radius R;
        side = -1: the ball is inside, in a bowl or a bore

r, R the radii of ball and core, h the half sizes.  Over a step the gradient is the exact quotient

    s1 - s0 = side sum_k (c0 + c1)_k/(|c0| + |c1|) kappa_k (p1 - p0)_k,   kappa_k = (c1 - c0)_k/(p1 - p0)_k.

Limits: where c = 0 (the centre of the ball in the core) there is no direction, and no force.  `DEEP` warns before that
and ends the run.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.contract import inner
from fem_mbs.elements.registry import Watch

__all__ = [
    "CORE",
    "DEEP",
    "PLANE",
    "SURFACE",
    "SURFACE_COLUMNS",
    "gap",
    "gap_apart",
    "gap_depth",
    "gap_rows",
    "gaps",
    "nothing_kept",
]

PLANE, CORE = 0.0, 1.0
# columns of par from SURFACE on
SURFACE = 5
BALL, KIND, RADIUS, SIDE, HALF = range(SURFACE, SURFACE + 5)
SURFACE_COLUMNS = ("ball radius [m]", "surface", "radius [m]", "side", *(f"half size {k} [m]" for k in (1, 2, 3)))


@inner
def _beyond(p, half):
    """Return the excess of p over the interval -half .. half, and its derivative."""
    if p >= half:
        return p - half, 1.0
    if p <= -half:
        return p + half, 1.0
    return 0.0, 0.0


@inner
def _quotient(p0, p1, dp, half):
    """Return the quotient (c1 - c0)/(p1 - p0) and its derivative by p1; dp = p1 - p0 without cancellation."""
    if half == 0 or (p0 >= half and p1 >= half) or (p0 <= -half and p1 <= -half):
        return 1.0, 0.0
    if -half < p0 < half and -half < p1 < half:
        return 0.0, 0.0
    if dp == 0:
        return 1.0, 0.0
    after, slope = _beyond(p1, half)
    quotient = (after - _beyond(p0, half)[0]) / dp
    return quotient, (slope - quotient) / dp


@inner
def gap(par, e, p, grad):
    """Return the gap s at the coordinates p (dim,) of the centre, and fill grad (dim,) with its gradient."""
    dim = p.shape[0]
    if par[e, KIND] == PLANE:
        for k in range(dim):
            grad[k] = 0.0
        grad[dim - 1] = 1.0
        return p[dim - 1] - par[e, BALL]
    n = 0.0
    for k in range(dim):
        c, slope = _beyond(p[k], par[e, HALF + k])
        grad[k] = c * slope
        n += c * c
    n = math.sqrt(n)
    side = par[e, SIDE]
    for k in range(dim):
        grad[k] = side * grad[k] / n if n > 0 else 0.0
    return side * (n - par[e, RADIUS]) - par[e, BALL]


@inner
def gap_rows(par, e, p0, p1, dp, grad, bend):
    """Fill grad (dim,) with the exact quotient of the gap, and bend (dim, dim) with its derivative by p1."""
    dim = p0.shape[0]
    for k in range(dim):
        grad[k] = 0.0
        for m in range(dim):
            bend[k, m] = 0.0
    if par[e, KIND] == PLANE:
        grad[dim - 1] = 1.0
        return
    n0 = n1 = 0.0
    for k in range(dim):
        n0 += _beyond(p0[k], par[e, HALF + k])[0] ** 2
        n1 += _beyond(p1[k], par[e, HALF + k])[0] ** 2
    n0, n1 = math.sqrt(n0), math.sqrt(n1)
    total = n0 + n1
    if total == 0:
        return
    side = par[e, SIDE]
    for k in range(dim):
        half = par[e, HALF + k]
        quotient, by_p = _quotient(p0[k], p1[k], dp[k], half)
        after, slope = _beyond(p1[k], half)
        both = (_beyond(p0[k], half)[0] + after) / total
        grad[k] = side * quotient * both
        bend[k, k] += side * (by_p * both + quotient * slope / total)
        for m in range(dim):
            other, by_m = _beyond(p1[m], par[e, HALF + m])
            if n1 > 0:
                bend[k, m] -= side * quotient * both * other * by_m / (n1 * total)


@inner
def gap_apart(par, e, hist, p0, p1, work):
    """Return whether the ball is off the surface at p0 and p1; work (dim,)."""
    return gap(par, e, p0, work) >= 0 and gap(par, e, p1, work) >= 0


@inner
def gap_depth(par, e, p, work):
    """Return the penetration over that at which the centre of a ball outside reaches the core; 0 elsewhere."""
    if par[e, KIND] == PLANE or par[e, SIDE] < 0:
        return 0.0
    return max(-gap(par, e, p, work), 0.0) / (par[e, BALL] + par[e, RADIUS])


DEEP = Watch(
    0.5, 0.95, "penetration over the distance at which the surface loses the ball",
    "give a larger stiffness, ball or radius, or take smaller steps", kind="Contact", unit="",
)  # fmt: skip


@inner
def nothing_kept(par, e, hist, p, work):
    """Keep nothing of an accepted state: these gaps are found at once."""


# --- in numpy --------------------------------------------------------------------------------------------------------
def gaps(p: np.ndarray, surface: float, radius: float, side: float, half: np.ndarray, ball: float) -> np.ndarray:
    """Return the gaps (n,) at the coordinates p (n, dim) of centres of balls; ``half`` (dim,) are the half sizes."""
    if surface == PLANE:
        return p[:, -1] - ball
    distance = np.linalg.norm(np.maximum(np.abs(p) - half, 0.0), axis=1)
    return side * (distance - radius) - ball
