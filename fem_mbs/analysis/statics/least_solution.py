"""Solution of least norm of singular linear equations whose unknowns and rows have different units."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import csr_matrix, diags, identity

from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.linear.service import factor

__all__ = ["least_solution"]

_DENSE = 600  # unknowns up to which the solution has the least norm, by singular values
_RANK = 1e-11  # singular values over the largest that count as zero
_SOFT = 1e-11  # number that is added to the diagonal of larger problems, after scaling
_NOISE = 1e-10  # entry of a row or column over the largest of its kind, below which it may be round-off


def least_solution(A: csr_matrix, b: np.ndarray, unit: np.ndarray, rows: list[int]) -> np.ndarray:
    """Return the solution x (n,) of A x = b with the least norm, after rows and columns are scaled.

    Above `_DENSE` unknowns, a small number on the diagonal makes the equations regular, and the solution is refined.

    Args:
        unit: (n,) sizes of the unknowns, by which columns are scaled; 0: scaled by the largest entry of the column.
        rows: how many successive rows have the same unit, for each unit; they add up to the number of rows.
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
    """Return 1/size (n,), where a size below `_NOISE` times the largest of its kind is replaced by this bound.

    ``kinds``: how many successive entries are of each kind.
    """
    out = np.ones(size.size)
    for last, count in zip(np.cumsum(kinds), kinds, strict=True):
        own = size[last - count : last]
        most = own.max(initial=0.0)
        if most > 0.0:
            out[last - count : last] = 1.0 / np.maximum(own, _NOISE * most)
    return out
