"""Assemble the matrices of a model by its elements of this process: each process makes the share of its own, in the
dofs that these touch."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.distributed.partition import elements_of
from fem_mbs.solvers.distinct import distinct
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import ElementSet, Matrices

__all__ = ["PartMatrices"]


class PartMatrices(Matrices):
    """Assembles forces (N,) and tangents (N, N).

    Each rank evaluates its ``elements`` in the dofs that they touch, and holds the part of a tangent that these give.
    Forces are whole (`Ranks.whole`).
    """

    def __init__(self, compiled: Compiled):
        self.compiled, self.ranks = compiled, ranks()
        picks = compiled.picks
        if picks is None:
            picks = elements_of(compiled.blocks, compiled.nodes.x, self.ranks.rank, self.ranks.size)
        self._picks = picks
        self.elements = ElementSet(compiled, picks)
        #: The dofs (k,) of the elements here, and the rows of their directors; the last of each stand for none.
        self.dofs = _touched([block.dof for block in self.elements.blocks], compiled.dummy)
        self.rows = _touched([block.rot for block in self.elements.blocks], int(compiled.nodes.rotational.sum()))
        self._part = Matrices(self.elements.renumbered(self.dofs, self.rows))
        self.skewed = False

    def of(self, compiled: Compiled) -> PartMatrices:
        """Return an assembler with the same pattern and the same elements for a model of the same numbering."""
        if compiled is self.compiled:
            return self
        other = copy(self)
        other.compiled = compiled
        other.elements = ElementSet(compiled, self._picks)
        other._part = self._part.on(other.elements.renumbered(self.dofs, self.rows))
        return other

    def release(self, beyond: int = 0) -> None:
        self._part.release(beyond)

    def tangent(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> tuple[np.ndarray, DistributedMatrix]:
        """Return the residual (N,) and the tangent (N, N) of these blocks (all, if None)."""
        r, A = self._part.tangent(ctl, fun, self._seen(state), self._mine(blocks))
        self.skewed = bool(self.ranks.largest(np.array([self._part.skewed], np.int64))[0])
        return self._whole(r), self._placed(A)

    def mass(self, fun: np.ndarray, state: State) -> DistributedMatrix:
        """Return the mass (N, N), symmetric."""
        return self._placed(self._part.mass(fun, self._seen(state)))

    def submatrix(self, A: DistributedMatrix, dofs: np.ndarray) -> DistributedMatrix:
        """Return rows and columns of ascending ``dofs`` of a matrix (N, N)."""
        if any(places is not self.dofs for places in A.places):
            return A[dofs, dofs]
        number = np.minimum(np.searchsorted(dofs, self.dofs), dofs.size - 1)
        here = np.flatnonzero(dofs[number] == self.dofs)
        number = number[here].astype(self.dofs.dtype)
        own = self._part.submatrix(A.own, here)
        return DistributedMatrix(own, places=(number, number), shape=(dofs.size, dofs.size))

    def force(
        self, ctl: np.ndarray, fun: np.ndarray, state: State, blocks: Sequence[Block] | None = None
    ) -> np.ndarray:
        """Return the residual (N,) alone."""
        return self._whole(self._part.force(ctl, fun, self._seen(state), self._mine(blocks)))

    def _seen(self, state: State) -> State:
        """Return the part of a state that the elements of this process use."""
        dofs, rows = self.dofs, self.rows
        return state._replace(
            Q=state.Q.take(dofs, 1), V=state.V.take(dofs, 1), U=state.U[dofs], D=state.D.take(rows, 1),
            DD=state.DD.take(rows, 1),
        )  # fmt: skip

    def _whole(self, r: np.ndarray) -> np.ndarray:
        return self.ranks.whole(r, self.dofs, self.compiled.n_dof)

    def _placed(self, A: csr_matrix) -> DistributedMatrix:
        n = self.compiled.n_dof
        return DistributedMatrix(csr_matrix(A), places=(self.dofs, self.dofs), shape=(n, n))

    def _mine(self, blocks: Sequence[Block] | None) -> list[Block]:
        """Return the elements of this rank in blocks of the model."""
        if blocks is None:
            return self._part.compiled.blocks
        wanted = {id(block) for block in blocks}
        pairs = zip(self._picks, self._part.compiled.blocks, strict=True)
        return [own for (number, _), own in pairs if id(self.compiled.blocks[number]) in wanted]


def _touched(tables: list[np.ndarray], none: int) -> np.ndarray:
    """Return all numbers in tables (n, k) of numbers, ascending, and last the one that stands for ``none``."""
    return distinct(np.concatenate([np.array([none], np.int32), *map(np.ravel, tables)]))
