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
        number = np.int32 if n < 2**31 else np.int64
        order = np.argsort(owner, kind="stable").astype(number)
        place = np.empty(n, number)
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
        return self if self._layout is other.layout else DistributedMatrix(self.own, other.layout)

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
        unknowns.

        Shares of rows go to the ranks that have them.  From then on the share of this rank is its rows: the sum stays,
        and the entries stand in memory once.
        """
        layout, own = self.layout, self.own
        mine = layout.order[layout.range_of(self.ranks.rank)]
        if mine.size == own.shape[0]:
            return own
        given = np.diff(own.indptr)
        given[mine] = 0
        away = layout.order[given[layout.order] > 0]  # rows of other ranks, one rank after the other
        kept, sent = own[mine], own[away]
        del own
        rows = kept + self._received(sent, away)
        places = np.zeros(self.shape[0], rows.indptr.dtype)
        places[mine] = np.diff(rows.indptr)  # unknowns of a rank stand in ascending order
        self.own = csr_matrix((rows.data, rows.indices, np.concatenate(([0], np.cumsum(places)))), shape=self.shape)
        return rows

    def _received(self, sent: csr_matrix, away: np.ndarray) -> csr_matrix:
        """Return what other ranks send to the rows of this one; ``sent`` are rows ``away`` (k,) of others."""
        layout = self.layout
        first, count = layout.range_of(self.ranks.rank).start, int(layout.counts[self.ranks.rank])
        ends = np.searchsorted(layout.place[away], np.cumsum(layout.counts))
        number = np.diff(ends, prepend=0)
        row = self.ranks.exchanged(layout.place[away], number) - first
        width = self.ranks.exchanged(np.diff(sent.indptr).astype(np.int64), number)
        entries = np.diff(sent.indptr[ends], prepend=0)
        column = self.ranks.exchanged(sent.indices.astype(np.int32), entries)
        value = self.ranks.exchanged(sent.data, entries)
        return csr_matrix((value, (np.repeat(row, width), column)), shape=(count, self.shape[1]))

    def petsc(self) -> Any:
        """Return a matrix of PETSc, in the numbers of ``layout`` and with its whole diagonal."""
        PETSc, _, _ = libraries()
        layout, mine = self.layout, self.layout.range_of(self.ranks.rank)
        rows = self.rows
        if self.ranks.size > 1:
            numbers = layout.place.astype(PETSc.IntType)[rows.indices]
            rows = csr_matrix((rows.data.copy(), numbers, rows.indptr), shape=rows.shape)
        rows = _with_diagonal(rows, mine.start)
        size = (rows.shape[0], self.shape[0])
        A = PETSc.Mat().createAIJ(
            (size, size), comm=PETSc.COMM_WORLD,
            csr=(rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType, copy=False), rows.data),
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
        rows = A.rows
        self._A, self._rows = A, csr_matrix((np.abs(rows.data), rows.indices, rows.indptr), shape=rows.shape)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        out = np.empty((self._A.shape[0], *x.shape[1:]))
        out[self._A.layout.order] = self._A.ranks.joined(self._rows @ x, self._A.layout.counts)
        return out

    def max(self) -> float:
        """Return the largest entry."""
        return float(self._A.ranks.largest(np.array([self._rows.data.max(initial=0.0)]))[0])


def _with_diagonal(rows: csr_matrix, first: int) -> csr_matrix:
    """Return rows ``first`` ... of a matrix with sorted columns, and with the places of its diagonal among the
    entries."""
    rows = rows if rows.has_sorted_indices else rows.sorted_indices()  # others may have its places in common
    here = rows.indices == np.repeat(np.arange(first, first + rows.shape[0]), np.diff(rows.indptr))
    missing = np.setdiff1d(np.arange(rows.shape[0]), np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[here])
    if not missing.size:
        return rows
    a = rows.tocoo()
    place = np.concatenate((a.row, missing)), np.concatenate((a.col, missing + first))
    out = csr_matrix((np.concatenate((a.data, np.zeros(missing.size))), place), shape=rows.shape)
    out.sort_indices()
    return out
