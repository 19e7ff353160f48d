"""Element loops and assembly by several threads, for models that are large enough.

Elements go to the threads in pieces of a fixed number.  Each element writes its vector and its matrix to places of its
own.  Sums are made row by row: a thread owns a range of rows and adds all that comes to them, in the order of the
elements, which is the order of one thread too.  So results are the same bits for any number of threads, and the same as
those of `fem_mbs.solvers.stepping.assembly.assemble`, which does all this in compiled code for small models.

Compiled code runs without the lock of Python here (`fem_mbs.contract.shared_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.contract import ElementKernel, call_by_address, kernel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.pattern import add_entries
from fem_mbs.threads import side_by_side, thread_count

__all__ = ["TOGETHER", "add_matrices", "add_vectors", "assemble", "evaluate", "threads_for"]

#: Entries of element matrices from which on several threads evaluate elements: 0.35 ms for beams, 1.2 ms for quadratic
#: hexahedra.  It pays from half of this on (``python benchmarks/threads.py loops``; docs/performance.md).
PAYS = 1 << 16
#: The same for the additions of matrices, which take a twentieth to a fifth of the time.
PAYS_ADDING = 1 << 19
#: Entries of the matrices of a whole model from which on the time steps leave their assembly to `assemble`, which
#: takes some 0.1 ms more with one thread.
OUTSIDE = 1 << 17
#: Entries of element matrices in a piece: 0.1 to 0.3 ms.
PIECE = 1 << 14
#: Entries that an element has at least as work, over those of its matrix, where only its vector is asked for.
_VECTOR = 0.25
#: Entries of element matrices that are evaluated before they are added: 8 MB.
TOGETHER = 1 << 20
#: Entries by which the rows of some elements are divided into ranges.
_SAMPLE = 2048


def evaluate(
    function: Any, job: int, first: int, last: int, ctl: np.ndarray, par: np.ndarray, dof: np.ndarray, rot: np.ndarray,
    hist: np.ndarray, fun: np.ndarray, Q: np.ndarray, D: np.ndarray, V: np.ndarray, DD: np.ndarray, U: np.ndarray,
    fe: np.ndarray, ke: np.ndarray,
) -> None:  # fmt: skip
    """Call a kernel (`fem_mbs.contract.SIGNATURE`) for elements ``first`` ... ``last`` - 1, in several threads where
    that pays.

    ``function`` is a kernel of an element type, its address, or a Python function, which one thread runs.
    """
    n, entries = last - first, dof.shape[1] ** 2
    call: Callable[..., object] = function
    if isinstance(function, ElementKernel):  # (it is compiled by this thread)
        call = partial(call_by_address, function.address)
    elif not callable(function):
        call = partial(call_by_address, function)
    each = entries if job == C.TANGENT else max(_VECTOR * entries, 1.0)
    size = max(1, int(PIECE / each))
    if call is function or n <= size or n * each < PAYS or thread_count() == 1:
        call(job, first, last, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
        return

    def piece(number: int) -> None:
        low = first + number * size
        high = min(low + size, last)
        rows = slice(low - first, high - first)
        matrices = ke[rows] if ke.shape[0] else ke
        call(job, low, high, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe[rows], matrices)

    side_by_side(piece, -(-n // size))


def _ranges(rows: np.ndarray, parts: int) -> np.ndarray:
    """Return where ranges of rows begin and end (parts + 1,), with about as many entries of ``rows`` (n, m) in each."""
    flat = rows.reshape(-1)
    some = np.sort(flat[:: max(1, flat.size // _SAMPLE)])
    inner = some.clip(0)[np.arange(1, parts) * some.size // parts]
    return np.concatenate(([0], inner, [np.iinfo(np.int32).max])).astype(np.int64)


def add_matrices(rows: np.ndarray, ke: np.ndarray, slot: np.ndarray, values: np.ndarray) -> float:
    """Add element matrices (n, m, m) to ``values`` at ``slot`` (n m m,), as `add_entries` does, row by row.

    Args:
        rows: (n, m), the row of the matrix for each local row, negative: none.  Threads own ranges of these.

    Returns:
        The largest difference of opposite entries of an element matrix.
    """
    parts = thread_count() if ke.size >= PAYS_ADDING else 1
    if parts == 1:
        return C.runner(add_entries, slot.size)(ke, rows, 0, np.iinfo(np.int32).max, slot, values)
    borders = _ranges(rows, parts)
    skew = np.zeros(parts)

    def part(number: int) -> None:
        skew[number] = add_entries(ke, rows, borders[number], borders[number + 1], slot, values)

    side_by_side(part, parts)
    return float(skew.max())


@kernel
def add_vectors(fe, dof, kind, r, peak):
    """Add element vectors (n, m) to the residual, and find the largest entries of each kind of row."""
    for e in range(dof.shape[0]):
        for i in range(dof.shape[1]):
            k = dof[e, i]
            f = fe[e, i]
            r[k] += f
            f = abs(f)
            if f > peak[kind[k]]:
                peak[kind[k]] = f


def threads_for(table: np.ndarray) -> int:
    """Return the number of threads that evaluate the elements of a model with this table of blocks."""
    return thread_count() if int((table[:, S.N_EL] * table[:, S.N_LOC] ** 2).sum()) >= OUTSIDE else 1


def assemble(
    job: int, kernels: np.ndarray, system: S.System, ctl: np.ndarray, fun: np.ndarray, Q: np.ndarray, D: np.ndarray,
    V: np.ndarray, DD: np.ndarray, U: np.ndarray, state: S.State,
) -> None:  # fmt: skip
    """Assemble residual and matrix values as `fem_mbs.solvers.stepping.assembly.assemble` does, to the same bits."""
    r, peak, values = state.residual, state.peak, state.values
    r[:], peak[:] = 0.0, 0.0
    if job == C.TANGENT:
        values[:] = 0.0
    for function, row in zip(kernels, system.table, strict=True):
        n, m = int(row[S.N_EL]), int(row[S.N_LOC])

        def cut(array: np.ndarray, begin: int, width: int, n=n) -> np.ndarray:
            return array[begin : begin + n * width].reshape(n, width)

        dof, rot = cut(system.dof, row[S.O_DOF], m), cut(system.rot, row[S.O_ROT], int(row[S.N_END]))
        par = cut(system.par, row[S.O_PAR], int(row[S.N_PAR]))
        hist = cut(system.hist, row[S.O_HIST], int(row[S.N_HIST]))
        slot = system.slot[row[S.O_SLOT] : row[S.O_SLOT] + n * m * m]
        step = max(1, min(n, TOGETHER // (m * m)))
        fe, ke = np.empty((step, m)), np.empty((step if job == C.TANGENT else 0, m, m))
        for first in range(0, n, step):
            last = min(first + step, n)
            own = fe[: last - first], ke[: last - first]
            evaluate(int(function), job, first, last, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, *own)
            add_vectors(own[0], dof[first:last], system.kind, r, peak)
            if job == C.TANGENT:
                rows = system.equation[dof[first:last]]  # not dofs, of which some share an equation
                add_matrices(rows, own[1], slot[first * m * m : last * m * m], values[:-1])
    for a, b in system.shared:
        r[b] += r[a]
        r[a] = 0.0
