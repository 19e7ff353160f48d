"""Share a compiled model out: each process keeps the parameters and unknowns of its own elements.

The numbers of nodes, unknowns, elements and outputs stay those of the whole model; the rows of a block are those of the
elements here (`fem_mbs.system.blocks.Share`).
"""

from __future__ import annotations

from copy import copy

import numpy as np

from fem_mbs.analysis.distributed.partition import elements_of
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block, Share
from fem_mbs.system.compiled import joined_parameters

__all__ = ["share_out"]


def share_out(compiled: CompiledModel, keep_model: bool = True) -> None:
    """Drop from a compiled model what the elements of plane and solid cells and shells of other processes have.

    All ranks call it, when everything that looks at the whole model is done: headers, checks, sensors.  Without
    ``keep_model`` the elements of the model that it was compiled from are dropped as well; it has none from then on.
    """
    if not keep_model:
        compiled.model.building.blocks.clear()
    system, all_ranks = compiled.system, ranks()
    if system.picks is not None or all_ranks.size == 1:
        return
    system.picks = elements_of(system, all_ranks.rank, all_ranks.size)
    own = dict(system.picks)
    cells = {*compiled.model.solid_groups, *compiled.model.shell_groups}
    blocks, histories = [], []
    for number, block in enumerate(system.blocks):
        history = system.block_history(block)
        if _large(block, cells):
            elements = own.get(number, np.empty(0, np.int64))
            block, history = _cut(block, elements), history[elements]
        blocks.append(block)
        histories.append(history.ravel())
    table = system.system.table.copy()
    table[:, S.N_EL] = [block.size for block in blocks]
    empty = np.empty(0, np.int32)  # of the compiled step alone
    system.blocks = blocks
    system.system = system.system._replace(
        table=table, par=joined_parameters(blocks, table), hist=np.concatenate([np.empty(0), *histories]), dof=empty,
        rot=empty,
    )  # fmt: skip


def _cut(block: Block, elements: np.ndarray) -> Block:
    """Return a block with the rows of some of its elements."""
    own = copy(block)
    own.share = Share(elements, block.size, block.damped)
    for name in ("nodes", "par", "dof", "rot"):
        setattr(own, name, getattr(block, name)[elements])
    return own


def _large(block: Block, cells: set[str]) -> bool:
    """Return whether a block has only elements of cells, whose rows nobody looks for by their numbers."""
    t = block.type
    plain = not (t.multipliers or t.reads or t.scalars or t.sections or t.shared)
    plain = plain and block.pairing is None and block.joint is None and not block.along
    return plain and all(name in cells for name, _, _ in block.groups)
