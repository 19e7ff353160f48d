"""The highest frequency of a model at a state, which bounds the steps of an explicit rule."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.loading import Loading
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping.layout import State

__all__ = ["highest_frequency"]

_DENSE = 200  # unknowns up to which all frequencies are computed
_CLOSE = 1e-3  # relative error of the highest frequency of more unknowns; the estimate is from below


def highest_frequency(compiled: CompiledModel, state: State) -> float:
    """Return the highest frequency [rad/s] of K u = w^2 M u at a state without loads; 0 where there is none or none
    is found."""
    from scipy.linalg import LinAlgError, eigh
    from scipy.sparse.linalg import eigsh

    linear = Linearised(compiled, state, 0.0, Loading(compiled))
    if not linear.eliminated:
        return 0.0
    K, M = linear.stiffness, linear.mass
    n = K.shape[0]
    if n == 0 or not K.nnz:
        return 0.0
    try:
        if n <= _DENSE:
            largest = eigh(K.toarray(), M.toarray(), eigvals_only=True, subset_by_index=(n - 1, n - 1))
        else:
            start = np.cos(np.arange(n) ** 2)  # some vector, always the same
            largest = eigsh(K, 1, M.tocsc(), which="LA", tol=_CLOSE, v0=start, return_eigenvectors=False)
    except (LinAlgError, RuntimeError):  # the mass is singular, which the first step tells, or ARPACK gave up
        return 0.0
    return float(np.sqrt(max(largest[0], 0.0)))
