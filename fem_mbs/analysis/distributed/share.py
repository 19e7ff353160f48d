"""Share the elements of a model out: each process makes and keeps the parameters and unknowns of its own.

The numbers of nodes, unknowns, elements and outputs stay those of the whole model; the rows of a block are those of the
elements here (`fem_mbs.system.blocks.Share`).
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from fem_mbs.analysis.distributed.partition import elements_of
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.system.blocks import Block, Share
from fem_mbs.system.compile import Alone

__all__ = ["shared_out"]


def shared_out(
    blocks: list[Block], x: np.ndarray, cells: set[str]
) -> tuple[list[Block], list[tuple[int, np.ndarray]] | None, Any]:
    """Return blocks with the elements that this process has of plane and solid cells and shells, and the numbers of
    blocks with those of its elements, None for one process, which has all; what makes arrays once per machine.

    Parameters that are made later (`Block.rows`) are made of the elements here alone.

    Args:
        blocks: of the whole model.
        x: (n, dim) positions of the nodes.
        cells: names of the groups of such cells.
    """
    all_ranks = ranks()
    if all_ranks.size == 1:
        return blocks, None, Alone
    picks = elements_of(blocks, x, all_ranks.rank, all_ranks.size)
    own, none = dict(picks), np.empty(0, np.int64)
    found = [_cut(b, own.get(i, none)) if _large(b, cells) else b for i, b in enumerate(blocks)]
    return found, picks, all_ranks


def _cut(block: Block, elements: np.ndarray) -> Block:
    """Return a block with the rows of some of its elements."""
    own = copy(block)
    own.par, own.rows, own.nodes = block.rows_of(elements), None, block.nodes[elements]
    own.share = Share(elements, block.size, block.damped, block.nodes)
    return own


def _large(block: Block, cells: set[str]) -> bool:
    """Return whether a block has only elements of cells, whose rows nobody looks for by their numbers."""
    t = block.type
    plain = not (t.multipliers or t.reads or t.scalars or t.sections or t.shared)
    plain = plain and block.pairing is None and block.joint is None and not block.along
    return plain and all(name in cells for name, _, _ in block.groups)
