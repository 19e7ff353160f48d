"""Sparse matrices that no process holds whole, on vectors that every process has.

A matrix begins as a sum, ``own`` of which is the share of this rank: the entries of its elements.  All that is linear
in a matrix is done on the shares.  What is not (absolute values, factors) needs the sums: entries go to the ranks that
have their rows, are added up there, and PETSc takes these rows as they are.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.ranks import Ranks, libraries, ranks

__all__ = ["NOT_SYMMETRIC", "DistributedMatrix", "Layout", "compressed"]

#: What is said of a matrix that has no L D L^T.
NOT_SYMMETRIC = (
    "is unsymmetric (loads follow the model, or have no potential; spins), which is not distributed; run it without "
    "--backend"
)


def compressed(A: Any) -> Any:
    """Return a matrix in compressed sparse rows; a distributed one as it is."""
    return A if isinstance(A, DistributedMatrix) else csr_matrix(A)


@dataclass(frozen=True)
class Layout:
    """The numbering of PETSc, in which the unknowns of a rank follow each other.

    ``order`` (n,): unknown of each number; ``place`` (n,): number of each unknown; ``counts`` (ranks,).
    """

    order: np.ndarray
    place: np.ndarray
    counts: np.ndarray

    @staticmethod
    def of(own: csr_matrix, all_ranks: Ranks) -> Layout:
        """Give each unknown to the rank whose share has most entries in its row."""
        n, size = own.shape[0], all_ranks.size
        entries = np.diff(own.indptr).astype(np.int64)
        most = all_ranks.largest(entries * size + (size - 1 - all_ranks.rank))
        owner = size - 1 - most % size
        empty = most < size
        owner[empty] = np.arange(n)[empty] * size // max(n, 1)  # rows without entries
        order = np.argsort(owner, kind="stable")
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        return Layout(order, place, np.bincount(owner, minlength=size))

    def range_of(self, rank: int) -> slice:
        """Return the numbers of a rank."""
        first = int(self.counts[:rank].sum())
        return slice(first, first + int(self.counts[rank]))


class DistributedMatrix:
    """The sum over all ranks of their sparse shares ``own`` (n, m).

    It behaves as a sparse matrix of scipy in products with vectors, sums, slices and transposes.  Every method is
    called by all ranks.
    """

    #: numpy and scipy leave operators to this class
    __array_ufunc__ = None
    __array_priority__ = 100.0
    dtype = np.dtype(float)

    def __init__(self, own: csr_matrix, layout: Layout | None = None):
        self.own = csr_matrix(own)
        self.shape = self.own.shape
        self._layout = layout

    @property
    def ranks(self) -> Ranks:
        return ranks()

    @cached_property
    def layout(self) -> Layout:
        return Layout.of(self.own, self.ranks) if self._layout is None else self._layout

    def of(self, own: csr_matrix) -> DistributedMatrix:
        """Return a matrix of another share with the same layout of unknowns."""
        return DistributedMatrix(own, self.__dict__.get("layout", self._layout) if own.shape == self.shape else None)

    def laid_out(self, other: DistributedMatrix) -> DistributedMatrix:
        """Return this matrix with the layout of another one."""
        return DistributedMatrix(self.own, other.layout)

    # --- linear ----------------------------------------------------------------------------------------------------
    def _share(self, other: Any) -> csr_matrix:
        if isinstance(other, DistributedMatrix):
            return other.own
        if not issparse(other):
            raise TypeError(f"a distributed matrix and {type(other).__name__} have no sum")
        return csr_matrix(other) if self.ranks.rank == 0 else csr_matrix(self.shape)  # one that all ranks have

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return self.toarray() + other
        return self.of(csr_matrix(self.own + self._share(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> DistributedMatrix:
        return self.of(csr_matrix(self.own - self._share(other)))

    def __rsub__(self, other: Any) -> DistributedMatrix:
        return self.of(csr_matrix(self._share(other) - self.own))

    def __neg__(self) -> DistributedMatrix:
        return self.of(-self.own)

    def __mul__(self, factor: float) -> DistributedMatrix:
        return self.of(csr_matrix(self.own * float(factor)))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> DistributedMatrix:
        return self * (1.0 / float(divisor))

    def __getitem__(self, at: Any) -> DistributedMatrix:
        return self.of(csr_matrix(self.own[at]))

    @property
    def T(self) -> DistributedMatrix:
        return self.of(csr_matrix(self.own.T))

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """Return A x (n,) or (n, k) of what all ranks have."""
        if "rows" not in self.__dict__:
            return self.ranks.sum(self.own @ x)
        layout = self.layout
        real = [x.real, x.imag] if np.iscomplexobj(x) else [x]
        parts = []
        for part in real:
            out = np.empty((self.shape[0], *x.shape[1:]))
            out[layout.order] = self.ranks.joined(self.rows @ part, layout.counts)
            parts.append(out)
        return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]

    def __rmatmul__(self, x: np.ndarray) -> np.ndarray:
        """Return x A of x (n,) or (k, n)."""
        return (self.T @ x.T).T

    def scaled(self, d: np.ndarray) -> DistributedMatrix:
        """Return diag(d) A diag(d)."""
        out = self.own.copy()
        out.data *= d[out.indices] * np.repeat(d, np.diff(out.indptr))
        return self.of(out)

    def diagonal(self) -> np.ndarray:
        """Return the diagonal (n,)."""
        return self.ranks.sum(self.own.diagonal())

    # --- sums ------------------------------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> csr_matrix:
        """Return the rows of this rank (n_own, n) of a square matrix, in the order of ``layout``; columns are
        unknowns.  Shares of rows go to the ranks that have them."""
        layout, entries = self.layout, self.own.tocoo()
        at = layout.place[entries.row]
        order = np.argsort(at, kind="stable")
        ends = np.searchsorted(at[order], np.cumsum(layout.counts))
        sent = np.diff(ends, prepend=0)
        first = layout.range_of(self.ranks.rank).start
        row = self.ranks.exchanged(at[order], sent) - first
        column = self.ranks.exchanged(entries.col[order].astype(np.int64), sent)
        value = self.ranks.exchanged(entries.data[order], sent)
        return csr_matrix((value, (row, column)), shape=(int(layout.counts[self.ranks.rank]), self.shape[1]))

    def petsc(self) -> Any:
        """Return a matrix of PETSc, in the numbers of ``layout`` and with its whole diagonal."""
        PETSc, _, _ = libraries()
        layout, mine = self.layout, self.layout.range_of(self.ranks.rank)
        rows = self.rows
        own = csr_matrix((rows.data, layout.place[rows.indices], rows.indptr), shape=rows.shape)
        number = np.arange(own.shape[0])
        zeros = csr_matrix((np.zeros(number.size), (number, number + mine.start)), shape=own.shape)
        own = _union(own, zeros)
        size = (own.shape[0], self.shape[0])
        A = PETSc.Mat().createAIJ(
            (size, size), comm=PETSc.COMM_WORLD,
            csr=(own.indptr.astype(PETSc.IntType), own.indices.astype(PETSc.IntType), own.data),
        )  # fmt: skip
        A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        return A

    def toarray(self) -> np.ndarray:
        """Return the whole of a matrix with few rows or columns, on all ranks."""
        return self.ranks.sum(self.own.toarray())

    def gathered(self) -> csr_matrix:
        """Return the whole of a matrix with few entries, on all ranks."""
        return csr_matrix(sum(self.ranks.gathered(self.own)))

    def __abs__(self) -> _Sizes:
        return _Sizes(self)

    @property
    def nnz(self) -> int:
        """Return the number of entries of all shares."""
        return int(self.ranks.sum(np.array([self.own.nnz]))[0])

    def count_nonzero(self) -> int:
        """Return the number of entries of all shares that are not zero."""
        return int(self.ranks.sum(np.array([self.own.count_nonzero()]))[0])


class _Sizes:
    """Absolute values of a square distributed matrix."""

    def __init__(self, A: DistributedMatrix):
        self._A, self._rows = A, abs(A.rows)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        out = np.empty((self._A.shape[0], *x.shape[1:]))
        out[self._A.layout.order] = self._A.ranks.joined(self._rows @ x, self._A.layout.counts)
        return out

    def max(self) -> float:
        """Return the largest entry."""
        return float(self._A.ranks.largest(np.array([self._rows.data.max(initial=0.0)]))[0])


def _union(A: csr_matrix, zeros: csr_matrix) -> csr_matrix:
    """Return A with the places of ``zeros`` among its entries."""
    a, z = A.tocoo(), zeros.tocoo()
    place = np.concatenate((a.row, z.row)), np.concatenate((a.col, z.col))
    out = csr_matrix((np.concatenate((a.data, z.data)), place), shape=A.shape)
    out.sort_indices()
    return out
