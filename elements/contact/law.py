"""Normal force of a contact over the penetration y: power laws and tables, with damping or permanent indentation.

The elastic force is F(y) = K <y>^n (n = 1.5: Hertz 1882) or a table; <y> = max(y, 0).  Over a step it acts as its mean
int F dy/(y1 - y0), so its work is the change of its potential at any step.  What is lost:

none         F
damping      F (1 + b y')                          Hunt & Crossley (1975), b given
restitution  F (1 + c y'/y'_0)                     y'_0: speed of approach at the start of this contact;
             c = 3 (1 - e^2)/4                     Lankarani & Nikravesh (1990); Ma, Menon & Lankarani (1993), eq. 10
             c = 8 (1 - e)/(5 e)                   Flores, Machado, Silva & Martins (2011)
             (1 + c)/(1 - c e) = exp(c (1 + e))    Gonthier, McPhee, Lange & Piedboeuf (2004): exact
indentation  F on loading, on unloading and on reloading up to the largest penetration y_m so far
             F(y_m) (<y - y_p>/(y_m - y_p))^n,     y_p = (1 - e^2) y_m: Ma, Menon & Lankarani (1993), eqs 11 to 14

Dampers never pull: the force is cut off at zero.  A contact ends when the gap opens (y <= 0); y'_0 and y_m are then
forgotten, since the next blow meets another place.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.contract import DECAY, H, inner
from fem_mbs.elements.laws import ROW, piecewise_at, piecewise_energy, piecewise_mean

__all__ = [
    "APPROACH",
    "DEEPEST",
    "LAW",
    "LAW_COLUMNS",
    "LOSSES",
    "decay_force",
    "elastic_force",
    "normal_energy",
    "normal_force",
    "power_mean",
    "scale_law",
]

# columns of par from LAW on
LAW = 0
STIFFNESS, EXPONENT, KIND, LOSS, PIECES = range(LAW, LAW + 5)
LAW_COLUMNS = ("stiffness", "exponent", "loss kind", "loss", "pieces")
#: Names of what is lost, by the number in the column "loss kind".
LOSSES = ("none", "damping", "restitution", "indentation")
_DAMPING, _RESTITUTION, _INDENTATION = 1, 2, 3
# columns of hist: speed of approach, largest penetration of the present contact
APPROACH, DEEPEST = 0, 1


@inner
def power_mean(n, a, b):
    """Return the mean of <y>^n between a and b, and its derivative by b."""
    if a <= 0 and b <= 0:
        return 0.0, 0.0
    low, high = (a, b) if a < b else (b, a)
    top = b**n if b > 0 else 0.0
    if low <= 0:
        mean = high ** (n + 1) / ((n + 1) * (high - low))
        return mean, (top - mean) / (b - a)
    w = (high - low) / high
    if w == 0:
        return high**n, 0.5 * n * high ** (n - 1)
    mean = -math.expm1((n + 1) * math.log1p(-w)) * high**n / ((n + 1) * w)
    if w > 0.05:
        return mean, (top - mean) / (b - a)
    # int_0^1 t F'(a + t (b - a)) dt by Gauss' three points, where the quotient would cancel
    r = 0.5 * math.sqrt(0.6)
    slope = 0.0
    for i in range(3):
        t = 0.5 + (i - 1) * r
        slope += (8 / 18 if i == 1 else 5 / 18) * t * n * (a + t * (b - a)) ** (n - 1)
    return mean, slope


@inner
def _elastic_mean(par, e, tail, a, b):
    """Return the mean of the elastic force between the penetrations a and b, and its derivative by b."""
    if par[e, PIECES] > 0:
        return piecewise_mean(par, e, tail, int(par[e, PIECES]), a, b)
    mean, slope = power_mean(par[e, EXPONENT], a, b)
    return par[e, STIFFNESS] * mean, par[e, STIFFNESS] * slope


@inner
def elastic_force(par, e, tail, y):
    """Return the elastic force at the penetration y, and its slope."""
    if par[e, PIECES] > 0:
        return piecewise_at(par, e, tail, int(par[e, PIECES]), y)
    if y <= 0:
        return 0.0, 0.0
    n = par[e, EXPONENT]
    force = par[e, STIFFNESS] * y**n
    return force, n * force / y


@inner
def _unloading(par, e, deepest):
    """Return the stiffness and the permanent penetration y_p of the unloading curve from ``deepest`` > 0."""
    n = par[e, EXPONENT]
    left = par[e, LOSS] * deepest
    return par[e, STIFFNESS] * (deepest / (deepest - left)) ** n, left


@inner
def _indented_mean(par, e, a, b, deepest):
    """Return the mean of the force between a <= deepest and b, with its derivative by b, of an indented surface."""
    n = par[e, EXPONENT]
    k = left = unload = 0.0
    if deepest > 0:
        k, left = _unloading(par, e, deepest)
    if b <= deepest:
        mean, slope = power_mean(n, a - left, b - left)
        return k * mean, k * slope
    virgin, by_b = power_mean(n, max(a, deepest), b)
    virgin, by_b = par[e, STIFFNESS] * virgin, par[e, STIFFNESS] * by_b
    if a >= deepest:
        return virgin, by_b
    if deepest > 0:
        unload = k * power_mean(n, a - left, deepest - left)[0]
    mean = ((deepest - a) * unload + (b - deepest) * virgin) / (b - a)
    return mean, (par[e, STIFFNESS] * b**n - mean) / (b - a)


@inner
def _at(par, e, tail, y, deepest):
    """Return the force without dampers at the penetration y, and its slope."""
    if par[e, KIND] == _INDENTATION and y < deepest:
        k, left = _unloading(par, e, deepest)
        if y <= left:
            return 0.0, 0.0
        force = k * (y - left) ** par[e, EXPONENT]
        return force, par[e, EXPONENT] * force / (y - left)
    return elastic_force(par, e, tail, y)


@inner
def normal_energy(par, e, tail, y, deepest):
    """Return the stored energy at the penetration y, and the energy lost by indentation down to ``deepest``."""
    if par[e, KIND] != _INDENTATION:
        if par[e, PIECES] > 0:
            return piecewise_energy(par, e, tail, int(par[e, PIECES]), y), 0.0
        n = par[e, EXPONENT] + 1
        return (par[e, STIFFNESS] * y**n / n if y > 0 else 0.0), 0.0
    deepest = max(deepest, y)
    if deepest <= 0:
        return 0.0, 0.0
    n = par[e, EXPONENT] + 1
    k, left = _unloading(par, e, deepest)
    lost = par[e, STIFFNESS] * deepest**n / n * par[e, LOSS]
    return (k * (y - left) ** n / n if y > left else 0.0), lost


@inner
def normal_force(ctl, par, e, tail, hist, y0, y1, rate, approach):
    """Return the force N, the part of it that has a potential or goes into indentation, and dN/dy1, dN/d rate.

    ``rate`` is y' of the step; ``approach`` the speed of approach that counts if the contact begins in this step.
    One-state rules: y0 = y1, and dN/dy1 is half of the derivative by the penetration.
    """
    kind = par[e, KIND]
    if kind == _INDENTATION:
        mean, slope = _indented_mean(par, e, y0, y1, hist[e, DEEPEST])
    else:
        mean, slope = _elastic_mean(par, e, tail, y0, y1)
    factor, by_rate = 1.0, 0.0
    if kind == _DAMPING:
        by_rate = par[e, LOSS]
    elif kind == _RESTITUTION:
        first = hist[e, APPROACH]
        if hist[e, DEEPEST] <= 0:
            first = approach
            if rate > 0 and rate >= approach:  # the step begins slower than it touches: y'_0 = y'
                factor += par[e, LOSS]
                first = 0.0
        if first > 0:
            by_rate = par[e, LOSS] / first
    factor += by_rate * rate
    if factor <= 0:
        return 0.0, mean, 0.0, 0.0
    return mean * factor, mean, slope * factor, mean * by_rate


@inner
def decay_force(ctl, par, e, tail, hist, y0, y1):
    """Return the force that a rule with numerical damping adds in the step, and its derivative by y1.

    It grows with the change of the elastic force; the caller cuts the sum off at zero.
    """
    if ctl[DECAY] == 0:
        return 0.0, 0.0
    a = ctl[DECAY] / ctl[H]
    after, rise = _at(par, e, tail, y1, max(hist[e, DEEPEST], y0))
    change = after - _at(par, e, tail, y0, hist[e, DEEPEST])[0]
    if change * (y1 - y0) <= 0:
        return 0.0, 0.0
    return a * change, a * rise


# --- in numpy --------------------------------------------------------------------------------------------------------
def scale_law(par: np.ndarray, tail: int, factors: np.ndarray) -> None:
    """Multiply the forces of elements with parameters (n, ..), whose tables begin at the column ``tail``, by factors
    (n,)."""
    par[:, STIFFNESS] *= factors
    rows = par[:, tail : tail + ROW * int(par[0, PIECES])].reshape(len(par), -1, ROW)
    par[:, tail : tail + rows.shape[1] * ROW] = (
        rows * np.where(np.arange(ROW) > 0, factors[:, None, None], 1.0)
    ).reshape(len(par), -1)
