"""The gap between a plane triangle that deforms and a ball, and its weight, over six scalar products.

With u = a2 - a1, v = a3 - a1 of the corners and w = b - a1 of the ball's centre, the foot of the ball on the plane of
the triangle has the area coordinates l_1, l_2, l_3, and the distance d from it; the potential is W E(R - d), R the
radius of the ball and half the thickness of the face.  The face touches from both sides.

Beyond the edge i (l_i < 0) the triangle goes on for the width e_i (a part of its height there), over which W goes to
zero; so it does on the inside, and both triangles of an edge add up to 1:

    W = S_1 S_2 S_3 prod_i (1 + c_i 16 S_j (1 - S_j) S_k (1 - S_k)),   S_i a smooth step of l_i over -e_i .. e_i.

At a corner with k triangles in a plane every product is 1/4; c_i = 4/k - 1 makes their sum 1 there, too.

Limits: within e_i of a corner the sum of W differs from 1 by some percent.  At the border of a surface it ends within
e_i.  Sharp convex edges act as blunt ones: a ball that meets an edge between two faces sinks in until it is above one
of them.  A ball whose centre passes through the face is pushed to the other side.  `DEEP` warns before that and
`fem_mbs.elements.contact.pair.THROUGH` ends the run.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import inner
from fem_mbs.elements.contact.jets import JET, curved, fixed, mixed, product, step_up, variable
from fem_mbs.elements.contact.tubes import UU, UV, UW, VV, VW, WW, depth
from fem_mbs.elements.registry import Watch

__all__ = [
    "DEEP",
    "FACE_COLUMNS",
    "face_apart",
    "face_depth",
    "face_feet",
    "face_inside",
    "face_place_slopes",
    "face_places",
    "face_terms",
]

# columns of par
REACH, ACTIVE, WIDTHS, CORNERS = 5, 6, 7, 10
FACE_COLUMNS = (
    "distance [m]", "active", "width 1", "width 2", "width 3", "corner 1", "corner 2", "corner 3", "part a", "part b",
)  # fmt: skip
_SLACK = 1e-6  # over the reach and over widths: what is nearer to touching is looked at in full


@inner
def face_apart(par, e, I):
    """Return whether the ball is outside of a ball around the triangle and all beyond it that may touch, or has a gap,
    or a foot where the weight is zero.  What is within round-off of touching is not apart."""
    far = I[WW] + (I[UU] + I[VV] + 2 * I[UV]) / 9 - 2 * (I[UW] + I[VW]) / 3
    reach = par[e, REACH] + math.sqrt(max(I[UU], I[VV], I[UU] + I[VV] - 2 * I[UV]))
    if far > reach * reach:
        return True
    x, y, gap = face_places(par, e, I)
    if gap > _SLACK * reach:
        return True
    least = -1.0 - _SLACK
    return 1 - x - y < least * par[e, WIDTHS] or x < least * par[e, WIDTHS + 1] or y < least * par[e, WIDTHS + 2]


@inner
def face_terms(size, par, e, I, Y, W):
    """Fill the jets Y[0], W[0] of penetration and weight at the scalar products I (6,); ``size``: 7 or 28."""
    J, T, step = scratch(6, JET), scratch(3, JET), scratch(3, JET)
    for k in range(6):
        variable(size, k, I[k], J[k])
    product(size, J[UU], J[VV], T[0])
    product(size, J[UV], J[UV], T[1])
    mixed(size, 1.0, T[0], -1.0, T[1], T[0])
    curved(size, 1 / T[0, 0], -1 / T[0, 0] ** 2, 2 / T[0, 0] ** 3, T[0], T[0])
    product(size, J[VV], J[UW], T[1])
    product(size, J[UV], J[VW], T[2])
    mixed(size, 1.0, T[1], -1.0, T[2], T[1])
    product(size, T[0], T[1], step[1])  # l_2
    product(size, J[UU], J[VW], T[1])
    product(size, J[UV], J[UW], T[2])
    mixed(size, 1.0, T[1], -1.0, T[2], T[1])
    product(size, T[0], T[1], step[2])  # l_3
    product(size, step[1], J[UW], T[1])
    product(size, step[2], J[VW], T[2])
    mixed(size, -1.0, T[1], -1.0, T[2], T[1])
    mixed(size, 1.0, J[WW], 1.0, T[1], T[1])
    depth(size, par[e, REACH], T[1], Y[0])
    mixed(size, -1.0, step[1], -1.0, step[2], step[0])
    step[0, 0] += 1.0
    for i in range(3):
        width = par[e, WIDTHS + i]
        curved(size, 0.5 + 0.5 * step[i, 0] / width, 0.5 / width, 0.0, step[i], step[i])
        step_up(size, step[i], step[i])
    product(size, step[0], step[1], W[0])
    product(size, W[0], step[2], W[0])
    if W[0, 0] == 0:
        fixed(size, 0.0, W[0])
        return
    for i in range(3):  # step becomes S (1 - S)
        s = step[i, 0]
        curved(size, s * (1 - s), 1 - 2 * s, -2.0, step[i], step[i])
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        if step[j, 0] > 0 and step[k, 0] > 0:
            product(size, step[j], step[k], T[0])
            factor = 16 * par[e, CORNERS + i]
            curved(size, 1 + factor * T[0, 0], factor, 0.0, T[0], T[0])
            product(size, W[0], T[0], W[0])


@inner
def face_places(par, e, I):
    """Return the area coordinates l_2 and l_3 of the ball, and the gap from the plane of the triangle."""
    D = I[UU] * I[VV] - I[UV] * I[UV]
    x, y = (I[VV] * I[UW] - I[UV] * I[VW]) / D, (I[UU] * I[VW] - I[UV] * I[UW]) / D
    return x, y, math.sqrt(max(I[WW] - x * I[UW] - y * I[VW], 0.0)) - par[e, REACH]


@inner
def face_feet(par, e, I):
    """Return the area coordinates l_2 and l_3 of the ball."""
    x, y, _ = face_places(par, e, I)
    return x, y


@inner
def face_place_slopes(I, x, y, by_x, by_y):
    """Fill by_x, by_y (6,) with the derivatives of the area coordinates l_2 = x and l_3 = y by the scalar products."""
    D = I[UU] * I[VV] - I[UV] * I[UV]
    by_x[UU], by_x[VV], by_x[WW] = -x * I[VV] / D, (I[UW] - x * I[UU]) / D, 0.0
    by_x[UV], by_x[UW], by_x[VW] = (2 * I[UV] * x - I[VW]) / D, I[VV] / D, -I[UV] / D
    by_y[UU], by_y[VV], by_y[WW] = (I[VW] - y * I[VV]) / D, -y * I[UU] / D, 0.0
    by_y[UV], by_y[UW], by_y[VW] = (2 * I[UV] * y - I[UW]) / D, -I[UV] / D, I[UU] / D


@inner
def face_inside(par, e, x, y):
    """Return whether the foot with the area coordinates l_2 = x and l_3 = y is inside of the triangle."""
    return x > 0 and y > 0 and x + y < 1


@inner
def face_depth(par, e, I):
    """Return the penetration over the distance at which the ball touches, of a ball above its triangle; 0 elsewhere."""
    x, y, gap = face_places(par, e, I)
    return max(-gap / par[e, REACH], 0.0) if face_inside(par, e, x, y) else 0.0


DEEP = Watch(
    0.5, 0.95, "penetration over the distance at which it touches",
    "give a larger stiffness or ball, or take smaller steps", kind="Contact", unit="",
)  # fmt: skip
