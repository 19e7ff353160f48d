"""Pattern of a sparse matrix from the equations of elements, and the place of every element matrix entry in it.

Columns are made one after the other from the elements that touch them, in time and memory linear in the element
matrices.  Nothing is sorted.  Where kernels run as Python, and for small models, numpy sorts instead: there the kernels
would take longer to compile than they save.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fem_mbs.contract import is_plain, kernel, shared_kernel
from fem_mbs.solvers.distinct import distinct

__all__ = ["add_entries", "band_slots", "element_slots", "is_small", "matrix_pattern"]

#: Entries of all element matrices up to which numpy sorts: it takes about 30 ms for so many.
SMALL = 100_000


@kernel
def _touching(n_eq, equations, starts):
    """Find the elements and local unknowns (places in ``equations``) at each equation, as compressed rows."""
    begin = np.zeros(n_eq + 1, np.int64)
    for k in equations:
        if k >= 0:
            begin[k + 1] += 1
    for i in range(n_eq):
        begin[i + 1] += begin[i]
    at = begin[:-1].copy()
    element, place = np.empty(begin[-1], np.int32), np.empty(begin[-1], np.int64)
    for e in range(starts.size - 1):
        for f in range(starts[e], starts[e + 1]):
            k = equations[f]
            if k >= 0:
                element[at[k]], place[at[k]] = e, f
                at[k] += 1
    return begin, element, place


@kernel
def _pattern(n_eq, equations, starts, begin, element):
    """Find indptr and sorted row indices of the columns, the whole diagonal included."""
    indptr = np.zeros(n_eq + 1, np.int64)
    mark = np.full(n_eq, -1, np.int32)
    for c in range(n_eq):
        mark[c] = c
        count = 1
        for t in range(begin[c], begin[c + 1]):
            e = element[t]
            for f in range(starts[e], starts[e + 1]):
                r = equations[f]
                if r >= 0 and mark[r] != c:
                    mark[r] = c
                    count += 1
        indptr[c + 1] = indptr[c] + count
    # the pattern is symmetric: the rows of column c are the columns with a row c, and those come in order
    indices = np.empty(indptr[-1], np.int32)
    at = indptr[:-1].copy()
    mark[:] = -1
    for c in range(n_eq):
        mark[c] = c
        indices[at[c]] = c
        at[c] += 1
        for t in range(begin[c], begin[c + 1]):
            e = element[t]
            for f in range(starts[e], starts[e + 1]):
                r = equations[f]
                if r >= 0 and mark[r] != c:
                    mark[r] = c
                    indices[at[r]] = c
                    at[r] += 1
    return indptr, indices


@kernel
def _slots(indptr, indices, equations, starts, matrices, begin, element, place, slot, diagonal):
    """Set slot[matrices[e] + i m + j], the place of the entry (i, j) of element e, for entries that have one."""
    n_eq = indptr.size - 1
    where = np.zeros(n_eq, np.int64)
    for c in range(n_eq):
        for k in range(indptr[c], indptr[c + 1]):
            where[indices[k]] = k
        diagonal[c] = where[c]
        for t in range(begin[c], begin[c + 1]):
            e = element[t]
            m = starts[e + 1] - starts[e]
            j = place[t] - starts[e]
            for i in range(m):
                r = equations[starts[e] + i]
                if r >= 0:
                    slot[matrices[e] + i * m + j] = where[r]


#: Types of the arguments of the kernels that only this module calls; see `fem_mbs.solvers.stepping.signatures`.
ARGUMENTS = {
    _touching: "int, i4 1, i8 1",
    _pattern: "int, i4 1, i8 1, i8 1, i4 1",
    _slots: "i8 1, i4 1, i4 1, i8 1, i8 1, i8 1, i4 1, i8 1, i4 1, i8 1",
}


def _flat(tables):
    """Join all tables (n, m) of equations; return them, where each element begins, and where its matrix begins."""
    equations = np.concatenate([np.empty(0, np.int32), *[np.ravel(t) for t in tables]]).astype(np.int32)
    widths = np.concatenate([np.empty(0, np.int64), *[np.full(len(t), t.shape[1], np.int64) for t in tables]])
    starts = np.concatenate(([0], np.cumsum(widths)))
    matrices = np.concatenate(([0], np.cumsum(widths**2)))
    return equations, starts, matrices


def is_small(shapes: Iterable[tuple[int, ...]]) -> bool:
    """Return whether numpy finds the pattern of tables of such shapes (n, m), and no kernel is needed."""
    return sum(n * m * m for n, m in shapes) <= SMALL


def _by_numpy(tables: Sequence[np.ndarray]) -> bool:
    return is_plain() or is_small(table.shape for table in tables)


def matrix_pattern(n_eq: int, tables: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return compressed columns (indptr (n_eq + 1,) int64, indices int32) of the matrix that elements fill.

    The whole diagonal is among them.

    Args:
        tables: one array (n, m) per block: equations of the local unknowns, negative: none.
    """
    if _by_numpy(tables):
        found = np.concatenate([np.arange(n_eq) * (n_eq + 1), _places(n_eq, tables)])
        columns, rows = np.divmod(distinct(found[found >= 0]), max(n_eq, 1))
        return np.searchsorted(columns, np.arange(n_eq + 1)), rows.astype(np.int32)
    equations, starts, _ = _flat(tables)
    begin, element, _ = _touching(n_eq, equations, starts)
    return _pattern(n_eq, equations, starts, begin, element)


def _places(n_eq: int, tables: Sequence[np.ndarray]) -> np.ndarray:
    """Return column n_eq + row (k,) of all element matrix entries, -1 for those without an equation."""
    found = [np.empty(0, np.int64)]
    for table in tables:
        rows, columns = np.asarray(table, np.int64)[:, :, None], np.asarray(table, np.int64)[:, None, :]
        found.append(np.where((rows >= 0) & (columns >= 0), columns * n_eq + rows, -1).ravel())
    return np.concatenate(found)


def element_slots(
    indptr: np.ndarray, indices: np.ndarray, tables: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (k,) int32 of element matrix entries in the columns of `matrix_pattern`, and of the diagonal.

    Entries come row by row and block after block; those without an equation are one past the last place.
    """
    n_eq = indptr.size - 1
    if _by_numpy(tables):
        known = np.repeat(np.arange(n_eq), np.diff(indptr)) * n_eq + indices
        wanted = _places(n_eq, tables)
        places = np.where(wanted >= 0, np.searchsorted(known, wanted), indices.size)
        return places.astype(np.int32), np.searchsorted(known, np.arange(n_eq) * (n_eq + 1))
    equations, starts, matrices = _flat(tables)
    begin, element, place = _touching(n_eq, equations, starts)
    slot = np.full(matrices[-1], indices.size, np.int32)
    diagonal = np.empty(n_eq, np.int64)
    _slots(indptr, indices, equations, starts, matrices, begin, element, place, slot, diagonal)
    return slot, diagonal


def band_slots(equations: np.ndarray, n_eq: int, band: int) -> np.ndarray:
    """Return the places (e m m,) int64 of the entries of elements with ``equations`` (e, m) in a matrix of the
    half-bandwidth ``band``; entries without an equation are one past the last place."""
    m, width = equations.shape[1], 3 * band + 1
    r, c = np.repeat(equations, m, axis=1), np.tile(equations, (1, m))
    places = c.astype(np.int64) * width + 2 * band + r - c
    return np.where((r >= 0) & (c >= 0), places, n_eq * width).ravel()


@shared_kernel
def add_entries(matrices, rows, low, high, slot, values):
    """Add rows of element matrices (e, m, m) at their places (e m m,) to the values of the columns.

    Added are local rows i with ``low`` <= rows[e, i] < ``high``; ranges of rows have no places in common.  Places
    behind the last are those of entries without an equation.

    Returns:
        The largest difference of opposite entries of an element matrix, which costs little while it is at hand.
    """
    m = matrices.shape[1]
    k = 0
    skew = 0.0
    for e in range(matrices.shape[0]):
        A = matrices[e]
        for i in range(m):
            if low <= rows[e, i] < high:
                row = A[i]
                for j in range(m):
                    s = slot[k + j]
                    if s < values.size:
                        values[s] += row[j]
                for j in range(i):
                    skew = max(skew, abs(row[j] - A[j, i]))
            k += m
    return skew
