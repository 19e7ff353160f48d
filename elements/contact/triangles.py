"""The signed distance to a surface of triangles, its gradient, its exact quotient over a step; the tree that finds it.

The nearest point c of the surface to p lies on a face, an edge or a corner.  With the normal n of that feature,

    d(p) = sign((p - c).n) |p - c|,   s = d - r,

n of a face, the sum of both normals at an edge, the sum weighted by the angles at a corner (J.A. Baerentzen, H. Aanaes,
IEEE Trans. Vis. Comput. Graph. 11 (2005), 243-253: the sign is that of inside and outside of a closed surface).  Behind
an open surface d is negative down to ``depth``; beyond its border, and deeper, it is positive.

The gradient over a step is Gonzalez' quotient with the mean g of the gradients at both ends,

    gamma = g + (s1 - s0 - g.dp) dp/|dp|^2,   so that s1 - s0 = gamma.dp;

what is below the round-off of s is left out, since dp/|dp|^2 would amplify it.

All elements of a block with one surface share its table: the rows of their parameters hold it one after the other, each
``width`` numbers, and the element is ``row`` rows after the first.  The table begins with the nodes of a tree of boxes,
8 numbers each (lower and upper corner; the right child, or -1 - the first triangle of a leaf; the number of its
triangles), followed by triangles, 40 numbers each (corners; normals of the face, of the edges ab, bc, ca and of the
corners; zero at the border of an open surface).  A left child follows its parent.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64

from fem_mbs.compiling.arrays import integers, scratch
from fem_mbs.contract import declare, inner, kernel

__all__ = [
    "NODE",
    "TRIANGLE",
    "TRIANGLE_COLUMNS",
    "mesh_apart",
    "mesh_depth",
    "mesh_gap",
    "mesh_gaps",
    "mesh_quotient",
    "mesh_remember",
    "tree_table",
]

#: Sizes of a node of the tree and of a triangle in the table; the width of rows is a multiple of the second.
NODE, TRIANGLE = 8, 40
_LEAF = 4  # triangles of a leaf
# columns of par
BALL = 5
ROW, WIDTH, FACES, DEPTH = range(BALL + 1, BALL + 5)
TRIANGLE_COLUMNS = ("ball radius [m]", "row", "width", "first triangle", "depth [m]")
#: Column of the number of pieces of a tabled force, whose rows come before the surface in the table.
_PIECES, _PIECE = 4, 6
_AFTER = BALL + len(TRIANGLE_COLUMNS) + 4 + 27  # columns: friction, axes
# columns of hist: a bound of the gap at a place p, and p
NEAR = 2


@inner
def _place(par, e, t):
    """Return row and column of the number t of the table."""
    width = int(par[e, WIDTH])
    return e - int(par[e, ROW]) + t // width, _AFTER + _PIECE * int(par[e, _PIECES]) + t % width


@inner
def _box_distance(par, e, node, p):
    """Return the square of the distance of p to the box of a node."""
    row, column = _place(par, e, NODE * node)
    total = 0.0
    for i in range(3):
        low, high = par[row, column + i] - p[i], p[i] - par[row, column + 3 + i]
        beyond = max(low, high, 0.0)
        total += beyond * beyond
    return total


@inner
def _nearest_in(par, row, column, p, c):
    """Fill c (3,) with p minus the nearest point of a triangle; return its feature: 0 face, 1 .. 3 edges, 4 .. 6
    corners.

    Source: C. Ericson, Real-Time Collision Detection, Morgan Kaufmann 2005, section 5.1.5.
    """
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for i in range(3):
        a, b, k = par[row, column + i], par[row, column + 3 + i], par[row, column + 6 + i]
        d1 += (b - a) * (p[i] - a)
        d2 += (k - a) * (p[i] - a)
        d3 += (b - a) * (p[i] - b)
        d4 += (k - a) * (p[i] - b)
        d5 += (b - a) * (p[i] - k)
        d6 += (k - a) * (p[i] - k)
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    v = w = 0.0  # c = a + v (b - a) + w (k - a)
    if d1 <= 0 and d2 <= 0:
        feature = 4
    elif d3 >= 0 and d4 <= d3:
        feature, v = 5, 1.0
    elif d6 >= 0 and d5 <= d6:
        feature, w = 6, 1.0
    elif vc <= 0 and d1 >= 0 and d3 <= 0:
        feature, v = 1, d1 / (d1 - d3)
    elif vb <= 0 and d2 >= 0 and d6 <= 0:
        feature, w = 3, d2 / (d2 - d6)
    elif va <= 0 and d4 >= d3 and d5 >= d6:
        feature, w = 2, (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        feature = 0
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    for i in range(3):
        a, b, k = par[row, column + i], par[row, column + 3 + i], par[row, column + 6 + i]
        if feature == 5:
            c[i] = p[i] - b
        elif feature == 6:
            c[i] = p[i] - k
        else:
            c[i] = p[i] - a - v * (b - a) - w * (k - a)
    return feature


@inner
def _nearest(par, e, p, c):
    """Fill c (3,) with p minus the nearest point of the surface; return its triangle and its feature."""
    stack = integers(64)
    far = scratch(64)
    best, triangle, feature = math.inf, -1, 0
    x = scratch(3)
    stack[0], far[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        if far[top] >= best:
            continue
        node = stack[top]
        row, column = _place(par, e, NODE * node)
        child, count = int(par[row, column + 6]), int(par[row, column + 7])
        if count > 0:
            for k in range(-1 - child, -1 - child + count):
                at, first = _place(par, e, int(par[e, FACES]) + TRIANGLE * k)
                kind = _nearest_in(par, at, first, p, x)
                size = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
                if size < best:
                    best, triangle, feature = size, k, kind
                    for i in range(3):
                        c[i] = x[i]
            continue
        near, other = node + 1, child
        a, b = _box_distance(par, e, near, p), _box_distance(par, e, other, p)
        if b < a:
            near, other, a, b = other, near, b, a
        stack[top], far[top] = other, b
        stack[top + 1], far[top + 1] = near, a
        top += 2
    return triangle, feature


@inner
def _distance(par, e, p, grad, edge):
    """Return the signed distance at p (3,), and 1/distance where the nearest point is on an edge or a corner, else 0.

    Fills grad (3,) with the gradient, and edge (3,) with the direction of the edge, not of unit length, or zeros.
    """
    c = scratch(3)
    triangle, feature = _nearest(par, e, p, c)
    row, column = _place(par, e, int(par[e, FACES]) + TRIANGLE * triangle)
    normal = column + 9 + 3 * feature
    size = along = length = 0.0
    for i in range(3):
        size += c[i] * c[i]
        along += (c[i] if feature > 0 else p[i] - par[row, column + i]) * par[row, normal + i]
        length += par[row, normal + i] ** 2
        edge[i] = 0.0
    size = math.sqrt(size)
    sign = -1.0 if along < 0 and size <= par[e, DEPTH] else 1.0
    if feature == 0:
        for i in range(3):
            grad[i] = par[row, normal + i] if sign * along >= 0 else -par[row, normal + i]
        return sign * abs(along), 0.0
    for i in range(3):
        if size > 0:
            grad[i] = sign * c[i] / size
        else:
            grad[i] = par[row, normal + i] / math.sqrt(length) if length > 0 else 0.0
    if feature < 4:
        first, last = column + 3 * (feature - 1), column + 3 * (feature % 3)
        for i in range(3):
            edge[i] = par[row, last + i] - par[row, first + i]
    return sign * size, sign / size if size > 0 else 0.0


@inner
def mesh_gap(par, e, p, grad):
    """Return the gap s at the coordinates p (3,) of the centre, and fill grad (3,) with its gradient."""
    edge = scratch(3)
    return _distance(par, e, p, grad, edge)[0] - par[e, BALL]


@inner
def mesh_apart(par, e, hist, p0, p1, grad):
    """Return whether the ball is off the surface at p0 and p1; most answers need no search."""
    bound = hist[e, NEAR]
    if bound > 0:
        a = b = 0.0
        for i in range(3):
            a += (p0[i] - hist[e, NEAR + 1 + i]) ** 2
            b += (p1[i] - hist[e, NEAR + 1 + i]) ** 2
        if max(a, b) < bound * bound:
            return True
    return mesh_gap(par, e, p0, grad) >= 0 and mesh_gap(par, e, p1, grad) >= 0


@inner
def mesh_remember(par, e, hist, p, grad):
    """Keep in hist how far the ball may move from p without a touch; a distance changes by no more than that."""
    moved = 0.0
    for i in range(3):
        moved += (p[i] - hist[e, NEAR + 1 + i]) ** 2
    bound = hist[e, NEAR]
    if bound > 0 and 4 * moved < bound * bound:
        return
    edge = scratch(3)
    distance = _distance(par, e, p, grad, edge)[0]
    if par[e, DEPTH] < math.inf:  # the back of an open surface begins without a touch
        distance = abs(distance) - max(par[e, DEPTH] - par[e, BALL], 0.0)
    bound = distance - par[e, BALL]
    hist[e, NEAR] = bound if bound > 0 else 0.0
    for i in range(3):
        hist[e, NEAR + 1 + i] = p[i]


@inner
def mesh_quotient(par, e, p0, p1, dp, grad, bend):
    """Fill grad (3,) with the exact quotient of the gap, and bend (3, 3) with its derivative by p1."""
    g, t = scratch(3), scratch(3)
    s0 = _distance(par, e, p0, g, t)[0]
    s1, curvature = _distance(par, e, p1, grad, t)
    along = length = size = 0.0
    for i in range(3):
        length += t[i] * t[i]
    for i in range(3):
        for j in range(3):
            bend[i, j] = -curvature * grad[i] * grad[j]
            if length > 0:
                bend[i, j] -= curvature * t[i] * t[j] / length
        bend[i, i] += curvature
    row, column = _place(par, e, 0)  # the box around all
    length = 0.0
    for i in range(3):
        t[i] = grad[i]
        grad[i] = 0.5 * (grad[i] + g[i])
        along += grad[i] * dp[i]
        size += dp[i] * dp[i]
        length = max(length, abs(p0[i]), abs(p1[i]), abs(par[row, column + i]), abs(par[row, column + 3 + i]))
    rest = s1 - s0 - along
    left = abs(rest) <= 2e-15 * length or size == 0
    for i in range(3):
        g[i] = t[i] - grad[i]
        for j in range(3):
            g[i] -= 0.5 * bend[j, i] * dp[j]
    for i in range(3):
        for j in range(3):
            bend[i, j] *= 0.5
    if left:
        return
    rest /= size
    for i in range(3):
        grad[i] += rest * dp[i]
        bend[i, i] += rest
        for j in range(3):
            bend[i, j] += dp[i] * (g[j] / size - 2 * rest * dp[j] / size)


@inner
def mesh_depth(par, e, p, work):
    """Return 0: a surface of triangles has a nearest face for every place."""
    return 0.0


@kernel
def mesh_gaps(par, centres, gaps):
    """Fill gaps (n,) at the coordinates centres (n, 3) of balls, one per row of par."""
    grad = scratch(3)
    for e in range(gaps.shape[0]):
        gaps[e] = mesh_gap(par, e, centres[e], grad)


declare(mesh_gaps, (float64[:, ::1], float64[:, ::1], float64[::1]))


# --- the table, in numpy ----------------------------------------------------------------------------------------------
def tree_table(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, int, bool]:
    """Return the table of a surface, the place of its first triangle in it, and whether the surface is closed.

    Args:
        points: (n, 3) [m], each corner once.
        triangles: (t, 3), counter-clockwise from outside; no two have an edge in the same direction.
    """
    boxes, order = _tree(points[triangles])
    faces, closed = _normals(points, triangles)
    first = -(-NODE * len(boxes) // TRIANGLE) * TRIANGLE
    table = np.zeros(first + TRIANGLE * len(triangles))
    table[: NODE * len(boxes)] = np.ravel(boxes)
    table[first:].reshape(-1, TRIANGLE)[:, :30] = np.hstack((points[triangles].reshape(-1, 9), faces))[order]
    return table, first, closed


def _normals(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return normals (t, 21) of face, edges and corners of triangles, and whether each edge has two of them."""
    x = points[triangles]
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    sides = np.roll(x, -1, axis=1) - x
    sides /= np.linalg.norm(sides, axis=2)[:, :, None]
    angles = np.arccos(np.clip(-np.einsum("tki,tki->tk", sides, np.roll(sides, 1, axis=1)), -1.0, 1.0))
    corners = np.zeros_like(points)
    np.add.at(corners, triangles, angles[:, :, None] * normal[:, None, :])
    ends = np.sort(np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2), axis=2).reshape(-1, 2)
    _, which, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    edges = np.zeros((len(count), 3))
    np.add.at(edges, which, np.repeat(normal, 3, axis=0))
    border = count[which] < 2
    edges[which[border]] = 0.0
    corners[np.unique(ends[border])] = 0.0
    made = np.concatenate((normal[:, None], edges[which].reshape(-1, 3, 3), corners[triangles]), axis=1)
    return made.reshape(-1, 21), not border.any()


def _tree(x: np.ndarray) -> tuple[list[tuple[float, ...]], np.ndarray]:
    """Return the nodes of a tree over triangles with corners x (t, 3, 3), and the triangles in the order of its leaves.

    Boxes are cut at the median of the centres along their longest side.
    """
    low, high, centres = x.min(axis=1), x.max(axis=1), x.mean(axis=1)
    order = np.arange(len(x))
    nodes: list[tuple[float, ...]] = []
    work = [(0, len(x), -1)]  # first, last, the parent whose right child it is
    while work:
        first, last, parent = work.pop()
        mine = order[first:last]
        lower, upper = low[mine].min(axis=0), high[mine].max(axis=0)
        if parent >= 0:
            nodes[parent] = (*nodes[parent][:6], float(len(nodes)), 0.0)
        if last - first <= _LEAF:
            nodes.append((*lower, *upper, float(-1 - first), float(last - first)))
            continue
        middle = (first + last) // 2
        axis = int(np.argmax(np.ptp(centres[mine], axis=0)))
        order[first:last] = mine[np.argpartition(centres[mine, axis], middle - first)]
        work += [(middle, last, len(nodes)), (first, middle, -1)]
        nodes.append((*lower, *upper, 0.0, 0.0))
    return nodes, order
