"""Points that the conversion adds to the grid points of a deck, and what ties them to these.

Middles of edges, where an element with mid-side grid points leaves some of them blank: place, displacements and
rotations are the means of those of the two corners, so the edge stays straight and its displacements linear.  The shape
functions of elements that lack a mid-side point are those of the whole element under this condition.

Ends of bars with pin flags: a point at the end, offset included, with the axes of the bar, that follows the grid point
as a rigid arm in all components but the released ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card

__all__ = ["Tie", "add_middles", "add_pins", "blanks_filled"]


@dataclass(frozen=True)
class Tie:
    """An equation u[dependent] = sum of coefficients u[dofs] between components of the deck, and its entry."""

    dependent: int
    dofs: np.ndarray
    coefficients: np.ndarray
    where: str


def blanks_filled(
    conv: Conversion, card: Card, points: Sequence[int | None], edges: Sequence[tuple[int, int]]
) -> list[int]:
    """Return the grid points of an element with the middles that `add_middles` has made in the place of blanks.

    Args:
        points: corners, then mid-side grid points, 0 or None where blank.
        edges: corners at the ends of the edges, from 0, in the order of the mid-side grid points.
    """
    first = len(points) - len(edges)
    out = [int(p or 0) for p in points]
    for k, (a, b) in enumerate(edges):
        if not out[first + k]:
            out[first + k] = conv.middles[_edge(out[a], out[b])]
    return out


def _edge(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def add_middles(
    conv: Conversion, found: Iterable[tuple[Card, Sequence[int | None], Sequence[tuple[int, int]]]]
) -> None:
    """Make the middles of the edges of elements, of each edge one, in the place of mid-side grid points that are blank.

    Args:
        found: entry, points and edges of each element, as `blanks_filled` takes them.

    Raises:
        ModelError: corners that are not there.
    """
    new: dict[tuple[int, int], str] = {}
    for card, points, edges in found:
        first = len(points) - len(edges)
        for k, (a, b) in enumerate(edges):
            if points[first + k]:
                continue
            if not points[a] or not points[b]:
                raise ModelError(f"{card.name} {card.id} lacks a corner", place=card.where)
            edge = _edge(int(points[a] or 0), int(points[b] or 0))
            if edge not in conv.middles:
                new.setdefault(edge, card.where)
    if not new:
        return
    ends = np.array([[conv.grids.index(i, where) for i in edge] for edge, where in new.items()])
    nodes = conv.add_points(conv.grids.x[ends].mean(axis=1), np.tile(np.eye(3), (len(ends), 1, 1)))
    conv.middles |= dict(zip(new, conv.grids.ids[nodes].tolist(), strict=True))
    for node, pair, where in zip(nodes.tolist(), ends.tolist(), new.values(), strict=True):
        axes = conv.grids.axes[pair]
        conv.parents[node] = pair
        for part in (0, 3):
            dofs = np.concatenate([6 * n + part + np.arange(3) for n in pair])
            conv.ties += [
                Tie(6 * node + part + k, dofs, 0.5 * np.concatenate((axes[0, :, k], axes[1, :, k])), where)
                for k in range(3)
            ]


def add_pins(
    conv: Conversion,
    grid_points: np.ndarray,
    x: np.ndarray,
    axes: np.ndarray,
    digits: Sequence[str],
    where: Sequence[str],
) -> np.ndarray:
    """Make the ends of bars with pin flags; return their nodes (n,).

    Args:
        grid_points: (n,) nodes that the ends follow.
        x: (n, 3) places of the ends.
        axes: (n, 3, 3) of the bars, in rows.
        digits: released components of each end.
        where: file and line of each bar.
    """
    nodes = conv.add_points(x, axes)
    for k, (node, grid) in enumerate(zip(nodes.tolist(), grid_points.tolist(), strict=True)):
        conv.parents[node] = [grid]
        T = conv.rigid_motion(node, conv.grids.x[grid]) @ np.kron(np.eye(2), conv.grids.axes[grid].T)
        for c in range(6):
            if str(c + 1) not in digits[k]:
                conv.ties.append(Tie(6 * node + c, 6 * grid + np.arange(6), T[c], where[k]))
    return nodes
