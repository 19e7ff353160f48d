"""Assemble the matrices of a model by its elements of this process: each process makes the share of its own."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.distributed.partition import elements_of
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import ElementSet, Matrices

__all__ = ["PartMatrices"]


class PartMatrices(Matrices):
    """Assembles forces (N,) and tangents (N, N).

    Forces are whole on all ranks.  Each rank holds the part of a tangent that its ``elements`` give.
    """

    def __init__(self, compiled: Compiled):
        self.compiled, self.ranks = compiled, ranks()
        picks = compiled.picks
        if picks is None:
            picks = elements_of(compiled.blocks, compiled.nodes.x, self.ranks.rank, self.ranks.size)
        self._picks = picks
        self.elements = ElementSet(compiled, self._picks)
        self._part = Matrices(self.elements)
        self.skewed = False

    def of(self, compiled: Compiled) -> PartMatrices:
        """Return an assembler with the same pattern and the same elements for a model of the same numbering."""
        if compiled is self.compiled:
            return self
        other = copy(self)
        other.compiled = compiled
        other.elements = ElementSet(compiled, self._picks)
        other._part = self._part.on(other.elements)
        return other

    def release(self, beyond: int = 0) -> None:
        self._part.release(beyond)

    def tangent(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> tuple[np.ndarray, DistributedMatrix]:
        """Return the residual (N,) and the tangent (N, N) of these blocks (all, if None)."""
        r, A = self._part.tangent(ctl, fun, state, self._mine(blocks))
        self.skewed = bool(self.ranks.largest(np.array([self._part.skewed], np.int64))[0])
        return self.ranks.sum(r), DistributedMatrix(csr_matrix(A))

    def mass(self, fun: np.ndarray, state: State) -> DistributedMatrix:
        """Return the mass (N, N), symmetric."""
        return DistributedMatrix(self._part.mass(fun, state))

    def submatrix(self, A: DistributedMatrix, dofs: np.ndarray) -> DistributedMatrix:
        """Return rows and columns of ascending ``dofs`` of a matrix (N, N)."""
        return DistributedMatrix(self._part.submatrix(A.own, dofs))

    def force(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> np.ndarray:
        """Return the residual (N,) alone."""
        return self.ranks.sum(self._part.force(ctl, fun, state, self._mine(blocks)))

    def _mine(self, blocks: Sequence[Block] | None) -> list[Block]:
        """Return the elements of this rank in blocks of the model."""
        if blocks is None:
            return self.elements.blocks
        wanted = {id(block) for block in blocks}
        pairs = zip(self._picks, self.elements.blocks, strict=True)
        return [own for (number, _), own in pairs if id(self.compiled.blocks[number]) in wanted]
