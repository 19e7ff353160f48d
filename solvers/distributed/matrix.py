"""Sparse matrices that no process holds whole, with the rows and columns that its elements touch.

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
from fem_mbs.solvers.distinct import distinct
from fem_mbs.solvers.distributed.ranks import Ranks, libraries, ranks

__all__ = ["NOT_SYMMETRIC", "DistributedMatrix", "Layout", "compressed", "united", "united_places"]

#: Message for a matrix that has no L D L^T.
NOT_SYMMETRIC = (
    "is unsymmetric (loads follow the model, or have no potential; spins), which is not distributed; run it without "
    "--backend"
)


def compressed(A: Any) -> Any:
    """Return a matrix in compressed sparse rows; a distributed one as it is."""
    return A if isinstance(A, DistributedMatrix) else csr_matrix(A)


#: Numbers (r,) of rows and (c,) of columns, ascending.
Places = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Layout:
    """The numbering of PETSc, in which the unknowns of a rank follow each other.

    ``mine`` (k,): the unknowns of this rank, ascending, from number ``first`` on; ``place`` (n,): number of each
    unknown, once per machine; ``counts`` (ranks,).
    """

    mine: np.ndarray
    first: int
    place: np.ndarray
    counts: np.ndarray

    @staticmethod
    def of(own: csr_matrix, rows: np.ndarray, n: int, all_ranks: Ranks) -> Layout:
        """Give each of n unknowns to the rank whose share has most entries in its row.

        Args:
            own: the share of this rank, with ``rows`` (r,).
        """
        size, rank = all_ranks.size, all_ranks.rank
        entries = np.diff(own.indptr).astype(np.int64)
        claim = np.where(entries > 0, entries * size + (size - 1 - rank), 0)
        most = all_ranks.whole(claim, rows, n, largest=True)
        low, high = (-(-i * n // size) for i in (rank, rank + 1))  # rows without entries
        spare = low + np.flatnonzero(most[low:high] == 0)
        claimed = rows[(claim > 0) & (most[rows] == claim)]
        mine: np.ndarray = np.sort(np.concatenate((claimed, spare))).astype(_integer(n))
        counts = np.array(all_ranks.gathered(mine.size))
        first = int(counts[:rank].sum())
        return Layout(mine, first, all_ranks.whole(first + np.arange(mine.size, dtype=_integer(n)), mine, n), counts)


def _integer(n: int) -> type:
    """Return the type of numbers up to n."""
    return np.int32 if n < 2**31 else np.int64


class DistributedMatrix:
    """The sum over all ranks of sparse shares ``own`` (r, c), each in the rows and columns ``places`` of the whole.

    It behaves as a sparse matrix of scipy in products with vectors, sums, slices and transposes; vectors are whole
    (`Ranks.whole`).  Every method is called by all ranks.
    """

    #: numpy and scipy leave operators to this class
    __array_ufunc__ = None
    __array_priority__ = 100.0
    dtype = np.dtype(float)

    def __init__(
        self, own: csr_matrix, layout: Layout | None = None, places: Places | None = None,
        shape: tuple[int, int] | None = None,
    ):  # fmt: skip
        """Take the share ``own`` of this rank.  Without ``places`` it has all rows and columns, less empty ones."""
        own = csr_matrix(own)
        self.own, self.places = (own, places) if places is not None else _compact(own)
        self.shape = own.shape if shape is None else shape
        self._layout = layout

    @property
    def ranks(self) -> Ranks:
        return ranks()

    @cached_property
    def layout(self) -> Layout:
        if self._layout is None:
            return Layout.of(self.own, self.places[0], self.shape[0], self.ranks)
        return self._layout

    def of(self, own: csr_matrix, places: Places | None = None) -> DistributedMatrix:
        """Return a matrix of the same shape and layout of unknowns with another share, in ``places`` (None: those of
        this one)."""
        layout = self.__dict__.get("layout", self._layout)
        return DistributedMatrix(own, layout, self.places if places is None else places, self.shape)

    def laid_out(self, other: DistributedMatrix) -> DistributedMatrix:
        """Return this matrix with the layout of another one."""
        if self._layout is other.layout:
            return self
        return DistributedMatrix(self.own, other.layout, self.places, self.shape)

    def spread(self, places: Places | None = None) -> csr_matrix:
        """Return the share of this rank in the rows and columns of other ``places``, which hold its own; None: in all
        of the matrix."""
        rows, columns = (np.arange(n) for n in self.shape) if places is None else places
        return _spread(self.own, self.places, (rows, columns))

    # --- linear ----------------------------------------------------------------------------------------------------
    def _share(self, other: Any) -> DistributedMatrix:
        if isinstance(other, DistributedMatrix):
            return other
        if not issparse(other):
            raise TypeError(f"a distributed matrix and {type(other).__name__} have no sum")
        # one that all ranks have
        return DistributedMatrix(csr_matrix(other) if self.ranks.rank == 0 else csr_matrix(self.shape))

    def _with(self, other: Any, sign: float) -> DistributedMatrix:
        """Return the sum of the matrix and ``sign`` times another one."""
        other = self._share(other)
        places = united_places(self.places, other.places)
        one, two = self.spread(places), other.spread(places)
        return self.of(csr_matrix(one + two if sign > 0.0 else one - two), places)

    def __add__(self, other: Any) -> Any:
        return self.toarray() + other if isinstance(other, np.ndarray) else self._with(other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> DistributedMatrix:
        return self._with(other, -1.0)

    def __rsub__(self, other: Any) -> DistributedMatrix:
        return -self._with(other, -1.0)

    def __neg__(self) -> DistributedMatrix:
        return self.of(-self.own)

    def __mul__(self, factor: float) -> DistributedMatrix:
        return self.of(csr_matrix(self.own * float(factor)))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> DistributedMatrix:
        return self * (1.0 / float(divisor))

    def __getitem__(self, at: Any) -> DistributedMatrix:
        wanted = at if isinstance(at, tuple) else (at, slice(None))
        found = [_chosen(p, n, w) for p, n, w in zip(self.places, self.shape, wanted, strict=True)]
        (rows, row_places, height), (columns, column_places, width) = found
        own = self.own if isinstance(rows, slice) and row_places.size == self.places[0].size else self.own[rows]
        own = own if isinstance(columns, slice) and column_places.size == self.places[1].size else own[:, columns]
        same = all(isinstance(w, slice) for w in wanted) and (height, width) == self.shape
        layout = self.__dict__.get("layout", self._layout) if same else None
        return DistributedMatrix(own, layout, (row_places, column_places), (height, width))

    @property
    def T(self) -> DistributedMatrix:
        rows, columns = self.places
        layout = self.__dict__.get("layout", self._layout)
        return DistributedMatrix(csr_matrix(self.own.T), layout, (columns, rows), self.shape[::-1])

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """Return the whole of A x (n,) or (n, k) of a whole x."""
        rows, columns = self.places
        return self.ranks.whole(self.own @ x[columns], rows, self.shape[0])

    def __rmatmul__(self, x: np.ndarray) -> np.ndarray:
        """Return x A of x (n,) or (k, n)."""
        rows, columns = self.places
        return self.ranks.whole(self.own.T @ x.T[rows], columns, self.shape[1]).T

    def scaled(self, d: np.ndarray) -> DistributedMatrix:
        """Return diag(d) A diag(d)."""
        rows, columns = self.places
        out = self.own.copy()
        out.data *= d[columns][out.indices] * np.repeat(d[rows], np.diff(out.indptr))
        return self.of(out)

    def own_diagonal(self) -> np.ndarray:
        """Return the diagonal (r,) of the share of this rank, in its rows."""
        rows, columns = self.places
        at = np.minimum(np.searchsorted(columns, rows), max(columns.size - 1, 0))
        found = columns[at] == rows if columns.size else np.zeros(rows.size, bool)
        out = np.zeros(rows.size)
        here = np.flatnonzero(found)
        out[here] = np.asarray(self.own[here, at[here]]).ravel() if rows is not columns else self.own.diagonal()
        return out

    def diagonal(self) -> np.ndarray:
        """Return the diagonal (n,)."""
        return self.ranks.whole(self.own_diagonal(), self.places[0], self.shape[0])

    # --- sums ------------------------------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> csr_matrix:
        """Return the rows (k, c) of this rank in a square matrix: ``layout.mine``; columns are those of ``places``.

        Shares of rows go to the ranks that have them.  From then on the share of this rank is its rows: the sum stays,
        and the entries stand in memory once.
        """
        layout, (given, columns) = self.layout, self.places
        if given.size == layout.mine.size == self.shape[0]:  # this rank has all
            return self.own
        place = layout.place[given] - layout.first
        mine = (place >= 0) & (place < layout.mine.size)
        away = np.flatnonzero(~mine & (np.diff(self.own.indptr) > 0))
        away = away[np.argsort(place[away])]  # rows of other ranks, one rank after the other
        sent, kept = self.own[away], self.own[np.flatnonzero(mine)]
        row, column, value = self._received(sent, place[away] + layout.first, columns)
        together = united(columns, distinct(column))
        target = layout.mine, together
        kept = _spread(kept, (given[mine], columns), target)
        self.own = None  # the entries are in what is kept and sent
        if value.size:
            at = row - layout.first, np.searchsorted(together, column)
            kept = csr_matrix(kept + csr_matrix((value, at), shape=kept.shape))
        self.own, self.places = kept, target
        return kept

    def _received(
        self, sent: csr_matrix, numbers: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows, as numbers of PETSc, the columns and the values (e,) of entries from other ranks.

        Args:
            sent: rows for other ranks, in the ascending ``numbers`` (k,) of PETSc and in ``columns``.
        """
        ends = np.searchsorted(numbers, np.cumsum(self.layout.counts))
        number = np.diff(ends, prepend=0)
        row = self.ranks.exchanged(numbers, number)
        width = self.ranks.exchanged(np.diff(sent.indptr).astype(np.int64), number)
        entries = np.diff(sent.indptr[ends], prepend=0)
        column = self.ranks.exchanged(columns[sent.indices].astype(_integer(self.shape[1])), entries)
        return np.repeat(row, width), column, self.ranks.exchanged(sent.data, entries)

    def petsc(self) -> Any:
        """Return a matrix of PETSc, in the numbers of ``layout`` and with its whole diagonal."""
        PETSc, _, _ = libraries()
        layout, rows = self.layout, self.rows
        numbers = layout.place[self.places[1]].astype(PETSc.IntType)[rows.indices]
        n = self.shape[0]
        rows = _with_diagonal(csr_matrix((rows.data, numbers, rows.indptr), shape=(rows.shape[0], n)), layout.first)
        size = (rows.shape[0], n)
        A = PETSc.Mat().createAIJ(
            (size, size), comm=PETSc.COMM_WORLD,
            csr=(rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType, copy=False), rows.data),
        )  # fmt: skip
        A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        return A

    def toarray(self) -> np.ndarray:
        """Return the whole of a matrix with few rows or columns, on all ranks."""
        rows, columns = self.places
        out = np.zeros((rows.size, self.shape[1]))
        out[:, columns] = self.own.toarray()
        return self.ranks.whole(out, rows, self.shape[0])

    def gathered(self) -> csr_matrix:
        """Return the whole of a matrix with few entries, on all ranks."""
        rows, columns = self.places
        a = self.own.tocoo()
        parts = self.ranks.gathered((a.data, rows[a.row], columns[a.col]))
        value, row, column = (np.concatenate(part) for part in zip(*parts, strict=True))
        return csr_matrix((value, (row, column)), shape=self.shape)

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
        rows, columns = self._A.places
        return self._A.ranks.whole(self._rows @ x[columns], rows, self._A.shape[0])

    def max(self) -> float:
        """Return the largest entry."""
        return float(self._A.ranks.largest(np.array([self._rows.data.max(initial=0.0)]))[0])


def _compact(own: csr_matrix) -> tuple[csr_matrix, Places]:
    """Return the rows and columns of a share that have entries, and their numbers; of a square one the same."""
    rows, columns = np.flatnonzero(np.diff(own.indptr)), distinct(own.indices)
    if own.shape[0] == own.shape[1]:
        rows = columns = united(rows, columns)
    cut = own[rows]
    indices = np.searchsorted(columns, cut.indices)
    return csr_matrix((cut.data, indices, cut.indptr), shape=(rows.size, columns.size)), (rows, columns)


def _spread(own: csr_matrix, given: Places, wanted: Places) -> csr_matrix:
    """Return a share of ``given`` rows and columns in ``wanted`` ones, which hold them."""
    (rows, columns), (all_rows, all_columns) = given, wanted
    indptr, indices = own.indptr, own.indices
    if rows.size != all_rows.size:
        widths = np.zeros(all_rows.size + 1, indptr.dtype)
        widths[1 + np.searchsorted(all_rows, rows)] = np.diff(indptr)
        indptr = np.cumsum(widths, dtype=indptr.dtype)
    if columns.size != all_columns.size:
        indices = np.searchsorted(all_columns, columns).astype(indices.dtype)[indices]
    return csr_matrix((own.data, indices, indptr), shape=(all_rows.size, all_columns.size))


def united(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the numbers, ascending, of either of two ascending arrays: ``a`` itself where it holds all."""
    if a is b:
        return a
    at = np.minimum(np.searchsorted(a, b), max(a.size - 1, 0))
    new = b[a[at] != b] if a.size else b
    return np.sort(np.concatenate((a, new.astype(a.dtype, copy=False)))) if new.size else a


def united_places(a: Places, b: Places) -> Places:
    """Return the rows and columns of either of two shares."""
    return united(a[0], b[0]), united(a[1], b[1])


def _chosen(places: np.ndarray, size: int, wanted: Any) -> tuple[Any, np.ndarray, int]:
    """Return which of ``places`` (k,), ascending numbers below ``size``, are among the ``wanted`` ones (a slice, a mask
    or numbers), their numbers among these, ascending, and how many are wanted."""
    if isinstance(wanted, slice):
        low, high, step = wanted.indices(size)
        if step == 1:
            first, last = np.searchsorted(places, (low, max(high, low)))
            return slice(first, last), places[first:last] - low, max(high - low, 0)
        wanted = np.arange(low, high, step)
    wanted = np.atleast_1d(np.asarray(wanted))
    wanted = np.flatnonzero(wanted) if wanted.dtype == bool else wanted
    order = None if (wanted[1:] > wanted[:-1]).all() else np.argsort(wanted, kind="stable")
    ascending = wanted if order is None else wanted[order]
    number = np.minimum(np.searchsorted(ascending, places), max(wanted.size - 1, 0))
    here = np.flatnonzero(ascending[number] == places) if wanted.size else np.empty(0, np.int64)
    number = number[here]
    if order is not None:
        number = order[number]
        turn = np.argsort(number)
        here, number = here[turn], number[turn]
    return here, number, wanted.size


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
