"""Evaluation of element kernels at many states in one compiled call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from fem_mbs import contract as C
from fem_mbs.compiling.array_records import array
from fem_mbs.contract import call, declare, kernel

__all__ = ["States", "evaluate", "over_states"]


class States(NamedTuple):
    """The state arrays that kernels take (`fem_mbs.contract`), for s states.

    Attributes:
        Q: (s, 2, N) coordinates at both ends of a step; D: (s, 2, nr, w) directors, DD: their rates.
        V: (s, 3, N) velocities at both ends, and accelerations; U: (s, N) increments and multipliers.
        fun: (s, n_fun, 3) values of the time functions at start, middle and end.
    """

    Q: np.ndarray
    D: np.ndarray
    V: np.ndarray
    DD: np.ndarray
    U: np.ndarray
    fun: np.ndarray


@kernel
def over_states(where, job, ctl, par, dof, rot, hist, Q, D, V, DD, U, fun, fe, ke):
    """Call the kernel at the address ``where`` for all n elements of a block at every state.

    Fill fe (s, n, m) and ke (s, n, m, m).
    """
    for s in range(Q.shape[0]):
        call(where, job, 0, dof.shape[0], ctl, par, dof, rot, hist, fun[s], Q[s], D[s], V[s], DD[s], U[s], fe[s], ke[s])


declare(
    over_states,
    [types.intp, types.int64, *(array(c) for c in ("f8 1", "f8 2", "i4 2", "i4 2", "f8 2", "f8 3", "f8 4", "f8 3",
                                                   "f8 4", "f8 2", "f8 3", "f8 3", "f8 4"))],
)  # fmt: skip


def evaluate(
    function: Any, job: int, ctl: np.ndarray, tables: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    states: States, width: int, tangent: bool = False,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the results of an element kernel at every state: fe (s, n, width) and ke (s, n, width, width).

    Args:
        function: the kernel; job, ctl: its arguments (`fem_mbs.contract`).
        tables: par, dof, rot and hist of n elements.
        tangent: whether the kernel fills ke; otherwise ke is empty.
    """
    (s, n), w = (len(states.Q), len(tables[1])), width if tangent else 0
    fe, ke = np.zeros((s, n, width)), np.zeros((s, n if tangent else 0, w, w))
    run = C.runner(function, s * n * width * width)
    if s > 1 and isinstance(run, C.ElementKernel):
        over_states(C.address(run), job, ctl, *tables, *states, fe, ke)
        return fe, ke
    par, dof, rot, hist = tables
    for i, (Q, D, V, DD, U, fun) in enumerate(zip(*states, strict=True)):
        run(job, 0, n, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe[i], ke[i])
    return fe, ke
