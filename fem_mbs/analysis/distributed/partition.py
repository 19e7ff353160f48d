"""Give each element of a model to one process, by recursive bisection of their places (Simon 1991,
doi:10.1016/0956-0521(91)90014-V)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.system.blocks import Block

__all__ = ["bisected", "elements_of"]


#: Elements whose places are computed at a time.
_TOGETHER = 1 << 16


def elements_of(blocks: Sequence[Block], x: np.ndarray, rank: int, size: int) -> list[tuple[int, np.ndarray]]:
    """Return numbers of blocks with the numbers (k,) of the elements of a rank, as `ElementSet` takes them.

    Elements weigh by the entries of their matrices; those without nodes belong to where the axes are.

    Args:
        blocks: with all of their elements.
        x: (n, dim) positions of the nodes.
    """
    if size == 1:
        return [(number, np.arange(block.size)) for number, block in enumerate(blocks) if block.size]
    places, weights = [], []
    for block in blocks:
        places += [_middles(block.nodes[at : at + _TOGETHER], x) for at in range(0, block.size, _TOGETHER)]
        weights.append(np.full(block.size, float(block.type.local_dofs) ** 2))
    if not places:
        return []
    owner = bisected(np.concatenate(places), np.concatenate(weights), size)
    picks, first = [], 0
    for number, block in enumerate(blocks):
        own = np.flatnonzero(owner[first : first + block.size] == rank)
        first += block.size
        if own.size:
            picks.append((number, own))
    return picks


def _middles(nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the means (n, dim) of the nodes of elements (n, ends), without those on the ground."""
    known = nodes >= 0
    count = np.maximum(known.sum(axis=1), 1)[:, None]
    return (x[np.where(known, nodes, 0)] * known[:, :, None]).sum(axis=1) / count


def bisected(places: np.ndarray, weights: np.ndarray, parts: int) -> np.ndarray:
    """Return the part (n,) of each of the ``places`` (n, dim): boxes of about the same weight.

    Boxes are cut across their longest side, for any number of ``parts``.
    """
    owner = np.zeros(len(places), np.int64)
    boxes = [(np.arange(len(places)), 0, parts)]
    while boxes:
        own, first, count = boxes.pop()
        if count == 1:
            owner[own] = first
            continue
        left = count // 2
        if own.size:
            side = int(np.ptp(places[own], axis=0).argmax())
            own = own[np.argsort(places[own, side], kind="stable")]
        sums = np.cumsum(weights[own])
        cut = int(np.searchsorted(sums, sums[-1] * left / count, side="right")) if own.size else 0
        boxes += [(own[:cut], first, left), (own[cut:], first + left, count - left)]
    return owner
