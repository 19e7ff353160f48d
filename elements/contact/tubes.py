"""The gaps between two straight tubes, or a tube and a ball, and their weights, over six scalar products.

A tube is a segment with a radius.  With u, v the segments a1 a2 and b1 b2, w = b1 - a1, R the sum of the radii, the
variables are I = (u.u, v.v, w.w, u.v, u.w, v.w): they say all about the shape and nothing about place and direction.
The contact has the potential

    sum_k W_k E(y_k),   y_k = R - d_k,

    k = 0         the nearest points of both axes (crossing tubes),                W = Z chi_a chi_b
    k = 1, 2      b1 and b2 over the axis of a,                                    W = (1 - Z) share_b chi_a
    k = 3, 4      a1 and a2 over the axis of b,                                    W = (1 - Z) share_a chi_b

Z is a smooth step of sin^2 of the angle between the axes, as C. Meier, W.A. Wall, A. Popp, Comput. Methods Appl. Mech.
Eng. 308 (2016), 377-413, and 315 (2017), 972-1010, blend the contact of points with that of lines: nearest points of
parallel tubes are not unique.  A ball b has b1 = b2, Z = 0 and share_b = 1.

Where an end of a tube is that of another tube of the same line, the axis goes on straight beyond it, and chi is a
smooth step over the width ``end`` (a part of its length) to both sides of the node: chi of both tubes add up to 1, and
what slides over the node goes from one to the other without a jump.  At a free end ("end" = 0) the tube ends in a
half-sphere: nearest points stay in 0 .. 1 there, and chi = 1.

Limits: at a node with an angle theta between its tubes chi add up to 1 within R theta/(end length).  Where both axes
meet (d = 0) there is no direction, and no force.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import inner
from fem_mbs.elements.contact.jets import JET, curved, fixed, mixed, product, step_up, variable

__all__ = [
    "NONE",
    "TERMS",
    "TUBE_COLUMNS",
    "depth",
    "term_places",
    "tube_apart",
    "tube_inside",
    "tube_lines",
    "tube_places",
    "tube_terms",
]

#: Contributions of two tubes.
TERMS = 5
# columns of par from TUBE on
TUBE = 5
REACH, ACTIVE, IS_BALL, ENDS = range(TUBE, TUBE + 4)
SHARE_A, SHARE_B, SINE0, SINE1 = range(ENDS + 4, ENDS + 8)
TUBE_COLUMNS = (
    "distance [m]", "active", "ball", "end a1", "end a2", "end b1", "end b2", "share a", "share b", "lower sine",
    "upper sine", "part a", "part b",
)  # fmt: skip
UU, VV, WW, UV, UW, VW = range(6)
#: Distance from the middle of a part up to which a place is inside of it.
INSIDE = 0.5 + 1e-9
#: A penetration that is not known, since its weight is zero.
NONE = -1e300


@inner
def _window(size, low, high, x, work, out):
    """Set out to chi at the place x along an axis whose ends have the widths ``low`` and ``high``."""
    fixed(size, 1.0, out)
    if low > 0:
        curved(size, 0.5 + 0.5 * x[0] / low, 0.5 / low, 0.0, x, work)
        step_up(size, work, work)
        product(size, work, out, out)
    if high > 0:
        curved(size, 0.5 + 0.5 * (1 - x[0]) / high, -0.5 / high, 0.0, x, work)
        step_up(size, work, work)
        product(size, work, out, out)


@inner
def _bounded(x, low, high):
    """Return the place x along an axis, not beyond its free ends."""
    if low == 0 and x < 0:
        return 0.0
    if high == 0 and x > 1:
        return 1.0
    return x


@inner
def depth(size, reach, d2, y):
    """Set y to reach - sqrt(d2)."""
    d = math.sqrt(d2[0]) if d2[0] > 0 else 0.0
    if d == 0:
        fixed(size, reach, y)
    else:
        curved(size, reach - d, -0.5 / d, 0.25 / (d * d2[0]), d2, y)


@inner
def _over_axis(size, reach, low, high, ll, lw, ww, T, y, chi):
    """Set y and chi of a point over an axis: ll, lw, ww are the jets of l.l, l.p and p.p of the axis l and the point p
    from its first end."""
    x = lw[0] / ll[0]
    at = _bounded(x, low, high)
    if at != x:  # nearest to a free end
        fixed(size, 1.0, chi)
        mixed(size, 1.0, ww, -2 * at, lw, T[0])
        mixed(size, 1.0, T[0], at * at, ll, T[0])
        depth(size, reach, T[0], y)
        return
    curved(size, 1 / ll[0], -1 / ll[0] ** 2, 2 / ll[0] ** 3, ll, T[0])
    product(size, T[0], lw, T[0])  # the place x
    _window(size, low, high, T[0], T[1], chi)
    product(size, T[0], lw, T[1])
    mixed(size, 1.0, ww, -1.0, T[1], T[1])
    depth(size, reach, T[1], y)


@inner
def _nearest(par, e, I):
    """Return the nearest places of both axes, which are not parallel, not beyond their free ends."""
    a1, a2, b1, b2 = par[e, ENDS], par[e, ENDS + 1], par[e, ENDS + 2], par[e, ENDS + 3]
    D = I[UU] * I[VV] - I[UV] * I[UV]
    x = _bounded((I[VV] * I[UW] - I[UV] * I[VW]) / D, a1, a2)
    z = (x * I[UV] - I[VW]) / I[VV]
    at = _bounded(z, b1, b2)
    if at != z:
        x = _bounded((I[UW] + at * I[UV]) / I[UU], a1, a2)
    return x, at


@inner
def _crossing(size, par, e, I, J, T, y, weight):
    """Set y and chi_a chi_b of the nearest points of both axes; ``J`` (6, ..) are the jets of the variables, T work."""
    a1, a2, b1, b2 = par[e, ENDS], par[e, ENDS + 1], par[e, ENDS + 2], par[e, ENDS + 3]
    x, z = _nearest(par, e, I)
    on_a, on_b = (a1 == 0 and x == 0) or (a2 == 0 and x == 1), (b1 == 0 and z == 0) or (b2 == 0 and z == 1)
    if on_a and on_b:  # both at free ends: w + z v - x u
        fixed(size, 1.0, weight)
        mixed(size, 1.0, J[WW], z * z, J[VV], T[0])
        mixed(size, 1.0, T[0], x * x, J[UU], T[0])
        mixed(size, 1.0, T[0], 2 * z, J[VW], T[0])
        mixed(size, 1.0, T[0], -2 * x, J[UW], T[0])
        mixed(size, 1.0, T[0], -2 * x * z, J[UV], T[0])
        depth(size, par[e, REACH], T[0], y)
        return
    if on_a:  # the end of a over the axis of b: p = x u - w
        mixed(size, x, J[UV], -1.0, J[VW], T[2])
        mixed(size, x * x, J[UU], -2 * x, J[UW], T[3])
        mixed(size, 1.0, T[3], 1.0, J[WW], T[3])
        _over_axis(size, par[e, REACH], b1, b2, J[VV], T[2], T[3], T, y, weight)
        return
    if on_b:  # p = w + z v
        mixed(size, 1.0, J[UW], z, J[UV], T[2])
        mixed(size, 1.0, J[WW], 2 * z, J[VW], T[3])
        mixed(size, 1.0, T[3], z * z, J[VV], T[3])
        _over_axis(size, par[e, REACH], a1, a2, J[UU], T[2], T[3], T, y, weight)
        return
    product(size, J[UU], J[VV], T[0])
    product(size, J[UV], J[UV], T[1])
    mixed(size, 1.0, T[0], -1.0, T[1], T[0])
    curved(size, 1 / T[0, 0], -1 / T[0, 0] ** 2, 2 / T[0, 0] ** 3, T[0], T[0])  # 1/D
    product(size, J[VV], J[UW], T[1])
    product(size, J[UV], J[VW], T[2])
    mixed(size, 1.0, T[1], -1.0, T[2], T[1])
    product(size, T[0], T[1], T[1])  # place on a
    product(size, J[UV], J[UW], T[2])
    product(size, J[UU], J[VW], T[3])
    mixed(size, 1.0, T[2], -1.0, T[3], T[2])
    product(size, T[0], T[2], T[2])  # place on b
    _window(size, a1, a2, T[1], T[0], weight)
    _window(size, b1, b2, T[2], T[0], T[3])
    product(size, weight, T[3], weight)
    product(size, T[1], J[UW], T[1])
    product(size, T[2], J[VW], T[2])
    mixed(size, 1.0, J[WW], -1.0, T[1], T[0])
    mixed(size, 1.0, T[0], 1.0, T[2], T[0])
    depth(size, par[e, REACH], T[0], y)


@inner
def tube_places(par, e, I):
    """Return the nearest places of both segments, from 0 to 1, and the gap; of parallel ones the middle of where they
    lie side by side."""
    if par[e, IS_BALL] > 0 or I[VV] == 0:
        x, z = min(max(I[UW] / I[UU], 0.0), 1.0), 0.0
    else:
        D = I[UU] * I[VV] - I[UV] * I[UV]
        if 1e-12 * I[UU] * I[VV] < D:
            x = min(max((I[VV] * I[UW] - I[UV] * I[VW]) / D, 0.0), 1.0)
        else:
            first, last = I[UW] / I[UU], (I[UW] + I[UV]) / I[UU]
            x = 0.5 * (min(max(first, 0.0), 1.0) + min(max(last, 0.0), 1.0))
        z = min(max((x * I[UV] - I[VW]) / I[VV], 0.0), 1.0)
        x = min(max((I[UW] + z * I[UV]) / I[UU], 0.0), 1.0)
    d2 = I[WW] + z * z * I[VV] + x * x * I[UU] + 2 * z * I[VW] - 2 * x * I[UW] - 2 * x * z * I[UV]
    return x, z, math.sqrt(max(d2, 0.0)) - par[e, REACH]


@inner
def tube_lines(par, e, I):
    """Return the nearest places of both axes, also beyond their ends; of parallel ones those of `tube_places`."""
    if par[e, IS_BALL] > 0 or I[VV] == 0:
        return I[UW] / I[UU], 0.0
    D = I[UU] * I[VV] - I[UV] * I[UV]
    if 1e-12 * I[UU] * I[VV] < D:
        return (I[VV] * I[UW] - I[UV] * I[VW]) / D, (I[UV] * I[UW] - I[UU] * I[VW]) / D
    x, z, _ = tube_places(par, e, I)
    return x, z


@inner
def _over(lw, ll, low, high, of_lw, of_ll, by):
    """Return the place lw/ll of a point along an axis, kept between ``low`` and ``high`` (free ends).

    Add its derivatives by the scalar products lw and ll, at the indices ``of_lw`` and ``of_ll``, to by (6,).
    """
    place = lw / ll
    at = _bounded(place, low, high)
    if at == place:
        by[of_lw] += 1 / ll
        by[of_ll] -= place / ll
    return at


@inner
def term_places(par, e, k, I, by_x, by_z):
    """Return the places x and z along both axes at which the penetration k acts; fill by_x and by_z (6,) with their
    derivatives by the scalar products I (6,)."""
    a1, a2, b1, b2 = par[e, ENDS], par[e, ENDS + 1], par[e, ENDS + 2], par[e, ENDS + 3]
    for i in range(6):
        by_x[i] = by_z[i] = 0.0
    if k == 1:
        return _over(I[UW], I[UU], a1, a2, UW, UU, by_x), 0.0
    if k == 2:
        x = _over(I[UW] + I[UV], I[UU], a1, a2, UW, UU, by_x)
        by_x[UV] = by_x[UW]
        return x, 1.0
    if k >= 3:
        lw = -I[VW] if k == 3 else I[UV] - I[VW]
        z = _over(lw, I[VV], b1, b2, VW, VV, by_z)
        by_z[VW] = -by_z[VW]
        if k == 4:
            by_z[UV] = -by_z[VW]
        return k - 3.0, z
    x, z = _nearest(par, e, I)
    on_a, on_b = (a1 == 0 and x == 0) or (a2 == 0 and x == 1), (b1 == 0 and z == 0) or (b2 == 0 and z == 1)
    if on_a and on_b:
        return x, z
    if on_a:
        by_z[UV], by_z[VW], by_z[VV] = x / I[VV], -1 / I[VV], -z / I[VV]
        return x, z
    if on_b:
        by_x[UW], by_x[UV], by_x[UU] = 1 / I[UU], z / I[UU], -x / I[UU]
        return x, z
    D = I[UU] * I[VV] - I[UV] * I[UV]
    by_x[UU], by_x[VV], by_x[UV] = -x * I[VV] / D, (I[UW] - x * I[UU]) / D, (2 * I[UV] * x - I[VW]) / D
    by_x[UW], by_x[VW] = I[VV] / D, -I[UV] / D
    by_z[UU], by_z[VV], by_z[UV] = -(I[VW] + z * I[VV]) / D, -z * I[UU] / D, (I[UW] + 2 * I[UV] * z) / D
    by_z[UW], by_z[VW] = I[UV] / D, -I[UU] / D
    return x, z


@inner
def tube_inside(par, e, x, z):
    """Return whether the places x and z are between the ends of both segments.

    A tolerance counts a place exactly at a node as inside of both segments that meet there.
    """
    return abs(x - 0.5) <= INSIDE and (abs(z - 0.5) <= INSIDE or par[e, IS_BALL] > 0)


@inner
def tube_apart(par, e, I):
    """Return whether both parts, with all beyond their ends that may touch, are apart."""
    reach = par[e, REACH]
    low, high = max(par[e, ENDS], par[e, ENDS + 1]), max(par[e, ENDS + 2], par[e, ENDS + 3])
    beyond = low * math.sqrt(I[UU]) + high * math.sqrt(I[VV])
    return tube_places(par, e, I)[2] > math.sqrt(reach * reach + beyond * beyond) - reach


@inner
def tube_terms(size, par, e, I, Y, W):
    """Fill the jets Y, W (5, 28) of penetrations and weights at the scalar products I (6,); ``size``: 7 or 28."""
    J, T = scratch(6, JET), scratch(6, JET)
    reach = par[e, REACH]
    a1, a2, b1, b2 = par[e, ENDS], par[e, ENDS + 1], par[e, ENDS + 2], par[e, ENDS + 3]
    for k in range(6):
        variable(size, k, I[k], J[k])
    if par[e, IS_BALL] > 0:
        _over_axis(size, reach, a1, a2, J[UU], J[UW], J[WW], T, Y[1], W[1])
        return
    # the step Z of the angle, in T[5]
    sine = 1.0 - I[UV] * I[UV] / (I[UU] * I[VV])
    if sine <= par[e, SINE0]:
        fixed(size, 0.0, T[5])
    elif sine >= par[e, SINE1]:
        fixed(size, 1.0, T[5])
    else:
        product(size, J[UU], J[VV], T[0])
        curved(size, 1 / T[0, 0], -1 / T[0, 0] ** 2, 2 / T[0, 0] ** 3, T[0], T[0])
        product(size, J[UV], J[UV], T[1])
        product(size, T[0], T[1], T[0])
        width = par[e, SINE1] - par[e, SINE0]
        curved(size, (1.0 - T[0, 0] - par[e, SINE0]) / width, -1 / width, 0.0, T[0], T[0])
        step_up(size, T[0], T[5])
    if T[5, 0] > 0:
        _crossing(size, par, e, I, J, T, Y[0], W[0])
        product(size, W[0], T[5], W[0])
    if T[5, 0] < 1:
        curved(size, 1.0 - T[5, 0], -1.0, 0.0, T[5], T[5])
        for k in range(2):
            # b1, b2 over a
            if k == 0:
                _over_axis(size, reach, a1, a2, J[UU], J[UW], J[WW], T, Y[1], W[1])
                mixed(size, -1.0, J[VW], 0.0, J[VW], T[2])
                _over_axis(size, reach, b1, b2, J[VV], T[2], J[WW], T, Y[3], W[3])
            else:
                mixed(size, 1.0, J[UW], 1.0, J[UV], T[2])
                mixed(size, 1.0, J[WW], 2.0, J[VW], T[3])
                mixed(size, 1.0, T[3], 1.0, J[VV], T[3])
                _over_axis(size, reach, a1, a2, J[UU], T[2], T[3], T, Y[2], W[2])
                mixed(size, 1.0, J[UV], -1.0, J[VW], T[2])
                mixed(size, 1.0, J[WW], -2.0, J[UW], T[3])
                mixed(size, 1.0, T[3], 1.0, J[UU], T[3])
                _over_axis(size, reach, b1, b2, J[VV], T[2], T[3], T, Y[4], W[4])
        for k in range(1, TERMS):
            product(size, W[k], T[5], W[k])
            share = par[e, SHARE_B] if k < 3 else par[e, SHARE_A]
            mixed(size, share, W[k], 0.0, W[k], W[k])
