"""Least solutions of singular equations whose unknowns and rows are of several units."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import csr_matrix, diags, identity

from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.linear.service import factor

__all__ = ["least_solution"]

_DENSE = 600  # unknowns up to which the equations are solved with the least increments
_RANK, _SOFT = 1e-11, 1e-11  # of the largest singular value; of the diagonal of larger problems
_NOISE = 1e-10  # of the largest row or column of its kind


def least_solution(A: csr_matrix, b: np.ndarray, unit: np.ndarray, rows: list[int]) -> np.ndarray:
    """Return the least solution x (n,) of A x = b.

    Args:
        unit: sizes of unknowns (n,); 0: by their columns.
        rows: numbers of the rows of each kind, in their order, which have units in common.
    """

    def largest(axis: int) -> np.ndarray:
        return abs(diags(row) @ A @ diags(column)).max(axis=axis).toarray().ravel()

    row, column, some = np.ones(A.shape[0]), np.ones(A.shape[0]), unit == 0.0
    column = np.where(some, _reciprocal(largest(0), [unit.size]), unit)
    row = _reciprocal(largest(1), rows)
    column[some] *= _reciprocal(largest(0), [unit.size])[some]
    scaled = csr_matrix(diags(row) @ A @ diags(column))
    if A.shape[0] <= _DENSE:
        with one_blas_thread():
            return column * lstsq(scaled.toarray(), row * b, cond=_RANK)[0]
    factors = factor((scaled + _SOFT * identity(A.shape[0])).tocsc(), kind="plain")
    x = factors.solve(row * b)
    for _ in range(3):
        x = x + factors.solve(row * b - scaled @ x)
    return column * x


def _reciprocal(size: np.ndarray, kinds: list[int]) -> np.ndarray:
    """Return 1/size (n,), of each kind with a floor: what is that small is round-off."""
    out = np.ones(size.size)
    for last, count in zip(np.cumsum(kinds), kinds, strict=True):
        own = size[last - count : last]
        most = own.max(initial=0.0)
        if most > 0.0:
            out[last - count : last] = 1.0 / np.maximum(own, _NOISE * most)
    return out
