"""Detection of parts that pass through each other in a static increment, in which nodes may move far.

Nodes are assumed to move along straight lines from one equilibrium to the next.  Consider two segments u and v, with w
from the first end of one to that of the other, or a triangle with the edges u, v and a point at w from its first
corner.  They meet at a time t at which u, v and w lie in a plane,

    det(u + t du, v + t dv, w + t dw) = 0,   0 < t <= 1,

a cubic equation, if their common point is inside of both (X. Provot, Graphics Interface 1997, 177-189).  In the plane a
segment and an end of another one meet at u x w = 0, a quadratic equation.  A rotation of a whole body by less than half
a turn is not mistaken for a passage: it moves the nodes by an affine map, so the determinant keeps its sign.

Types of elements that need no pairing have conditions of their own (`ElementType.crossed`).

Limit: a ball and an axis in space have no such condition, so a ball that passes through an axis is not detected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import AnalysisError
from fem_mbs.system.pairing import Pairing

__all__ = ["may_pass", "passages", "refuse_passages"]

_BOXES = 1_000_000  # pairs of boxes that are compared at once
_EDGE = 1e-9  # of a part's length, by which it is extended, so that a passage exactly over a node is detected
_FLAT = 1e-12  # leading coefficient of a polynomial, over the largest, below which it counts as zero


_State = tuple[np.ndarray, np.ndarray]  # coordinates (N,) and directors (rows, width)


def may_pass(compiled: Any) -> bool:
    """Return whether a compiled model has parts that may pass through each other in an increment."""
    return any(block.pairing is not None or block.type.crossed for block in compiled.blocks)


def refuse_passages(compiled: Any, before: _State, after: _State, where: str) -> None:
    """Check that no parts of a contact pass through each other between two states.

    Elements of pairs detect short passages; this check is for increments in which nodes move farther than the reach of
    pairs.

    Raises:
        AnalysisError: parts pass through each other; the message names them and ends in ``where``.
    """
    Q0, Q1 = before[0], after[0]
    for block in compiled.blocks:
        pairing: Pairing | None = block.pairing
        if pairing is None:
            if block.type.crossed:
                _refuse_crossing(block, before, after, compiled.nodes.names, where)
            continue
        moved = np.linalg.norm(Q1[pairing.dofs] - Q0[pairing.dofs], axis=1).max(initial=0.0)
        if 2.0 * moved <= pairing.reach + 2.0 * pairing.margin:
            continue  # pairs that were near before are still near: their elements check them
        places = [compiled.offset[of][:, :, None] + np.arange(compiled.dimension) for of in (pairing.a, pairing.b)]
        pairs = passages(pairing, *(q[at] for at in places for q in (Q0, Q1)))
        if not len(pairs):
            continue
        names = compiled.nodes.names
        one, two = (
            " to ".join(dict.fromkeys(f'"{names[int(n)]}"' for n in side[k]))
            for side, k in zip((pairing.a, pairing.b), pairs[0], strict=True)
        )
        more = f" and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
        raise AnalysisError(
            f"{pairing.owner}: {one} and {two}{more} pass through each other {where}; take smaller increments, or a "
            "start at which parts that hold each other touch"
        )


def _refuse_crossing(block: Any, before: _State, after: _State, names: Any, where: str) -> None:
    found = block.type.crossed(block, before, after)
    if not len(found):
        return
    ends = block.nodes[found[0], 1 : block.type.ends]
    ball = " to ".join(dict.fromkeys(f'"{names[int(n)]}"' for n in ends))
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise AnalysisError(
        f'Contact "{block.label(int(found[0]))}": {ball}{more} would pass through the surface {where}; take smaller '
        "increments, or a start at which parts that hold each other touch"
    )


def passages(pairing: Pairing, x0: np.ndarray, x1: np.ndarray, y0: np.ndarray, y1: np.ndarray) -> np.ndarray:
    """Return the pairs (m, 2) of parts that pass through each other while nodes move along straight lines.

    Args:
        x0, x1, y0, y1: (n_a, k, dim), (n_b, k, dim) positions of the nodes of both sets before and after [m].
    """
    y0, y1 = pairing.centres(y0), pairing.centres(y1)
    pairs = _boxes(_box(x0, x1), _box(y0, y1))
    pairs = pairs[pairing.distinct(pairs)]
    if not len(pairs):
        return pairs
    x, dx, y, dy = x0[pairs[:, 0]], (x1 - x0)[pairs[:, 0]], y0[pairs[:, 1]], (y1 - y0)[pairs[:, 1]]
    if x.shape[2] == 2:
        meet = np.zeros(len(pairs), bool)
        for one, d_one, two, d_two in ((x, dx, y, dy), (y, dy, x, dx)):
            for k in range(two.shape[1]):
                u, w = one[:, 1] - one[:, 0], two[:, k] - one[:, 0]
                meet |= _meet_in_plane(u, d_one[:, 1] - d_one[:, 0], w, d_two[:, k] - d_one[:, 0])
        return pairs[meet]
    triangles = x.shape[1] == 3
    if not triangles and y.shape[1] == 2 and (y[:, 0] == y[:, 1]).all():
        return pairs[:0]  # balls and axes: not detected
    u, w = (x[:, 1] - x[:, 0], dx[:, 1] - dx[:, 0]), (y[:, 0] - x[:, 0], dy[:, 0] - dx[:, 0])
    far, d_far = (x, dx) if triangles else (y, dy)
    first, last = (0, 2) if triangles else (0, 1)
    v = (far[:, last] - far[:, first], d_far[:, last] - d_far[:, first])
    return pairs[_meet(u, v, w, triangles)]


def _box(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper corners (n, dim) of the boxes that contain the paths of parts."""
    both = np.concatenate((before, after), axis=1)
    return both.min(axis=1), both.max(axis=1)


def _boxes(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the pairs (m, 2) of boxes that overlap."""
    order = np.argsort(b[0][:, 0], kind="stable")
    low, high = b[0][order], b[1][order]
    found = []
    count = max(1, _BOXES // max(1, len(low)))
    by_low = np.argsort(a[0][:, 0], kind="stable")
    for start in range(0, len(by_low), count):
        rows = by_low[start : start + count]
        last = int(np.searchsorted(low[:, 0], a[1][rows, 0].max(), "right"))
        overlap = np.ones((len(rows), last), bool)
        for i in range(low.shape[1]):
            overlap &= (a[0][rows, i, None] <= high[None, :last, i]) & (low[None, :last, i] <= a[1][rows, i, None])
        one, two = np.nonzero(overlap)
        found.append(np.column_stack((rows[one], order[two])))
    pairs = np.concatenate([np.empty((0, 2), np.int64), *found])
    return pairs[np.lexsort(pairs.T[::-1])]


def _det(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.einsum("ni,ni->n", np.cross(u, v), w)


def _zeros(coefficients: np.ndarray) -> np.ndarray:
    """Return the real zeros in 0 < t <= 1 of a polynomial with ``coefficients``, highest power first."""
    size = np.abs(coefficients).max(initial=0.0)
    if not size > 0.0:
        return np.empty(0)
    rising = np.flatnonzero(np.abs(coefficients) > _FLAT * size)
    zeros = np.roots(coefficients[rising[0] :])
    zeros = zeros[np.abs(zeros.imag) <= 1e-9 * (1.0 + np.abs(zeros.real))].real
    return zeros[(zeros > 0.0) & (zeros <= 1.0)]


_Moving = tuple[np.ndarray, np.ndarray]  # vectors (m, 3) before, and their changes


def _meet(u: _Moving, v: _Moving, w: _Moving, triangles: bool) -> np.ndarray:
    """Return which pairs (m,) bool meet at a time t in 0 < t <= 1.

    ``u``, ``v``, ``w``: the vectors of the module's docstring; ``triangles``: u and v are edges of triangles, w belongs
    to points.
    """
    (u0, du), (v0, dv), (w0, dw) = u, v, w
    table = np.column_stack((
        _det(du, dv, dw),
        _det(u0, dv, dw) + _det(du, v0, dw) + _det(du, dv, w0),
        _det(du, v0, w0) + _det(u0, dv, w0) + _det(u0, v0, dw),
        _det(u0, v0, w0),
    ))  # fmt: skip
    meet = np.zeros(len(u0), bool)
    for k, row in enumerate(table):
        for t in _zeros(row):
            a, b, c = u0[k] + t * du[k], v0[k] + t * dv[k], w0[k] + t * dw[k]
            x, z = np.linalg.lstsq(np.column_stack((a, b if triangles else -b)), c, rcond=None)[0]
            inside = min(x, z) >= -_EDGE and (x + z if triangles else max(x, z)) <= 1.0 + _EDGE
            meet[k] |= bool(inside)
    return meet


def _meet_in_plane(u: np.ndarray, du: np.ndarray, w: np.ndarray, dw: np.ndarray) -> np.ndarray:
    """Return which segments u (m, 2) pass over points (m,) bool; ``w``: the points from the first ends of the segments,
    ``du``, ``dw``: changes."""

    def cross(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]

    table = np.column_stack((cross(du, dw), cross(u, dw) + cross(du, w), cross(u, w)))
    meet = np.zeros(len(u), bool)
    for k, row in enumerate(table):
        for t in _zeros(row):
            a, c = u[k] + t * du[k], w[k] + t * dw[k]
            meet[k] |= bool(-_EDGE * (a @ a) <= a @ c <= (1.0 + _EDGE) * (a @ a))
    return meet
