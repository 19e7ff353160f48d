"""Linear buckling of large parts: (K + K_0 + f K_g) x = 0 without constraints (eliminated before).

K + K_0, the stiffness with that of a preload which does not grow, must be positive definite; it is factored once by
L L^T and serves ARPACK both as the inner product and, inverted, as the operator on -K_g x = (1/f) (K + K_0) x, so that
the factors nearest to zero come first, of either sign.  By Sylvester's law the number of negative eigenvalues of
K + K_0 + f K_g is that of the factors between 0 and f: two factorisations prove that none is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen.divergence import SIGNS
from fem_mbs.solvers.eigen.symmetric import buckling_factors
from fem_mbs.solvers.linear.factors import Pencil
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.saddle import DENSE
from fem_mbs.solvers.linear.service import factor

__all__ = ["SIGNS", "LinearBuckling", "linear_buckling"]

_WHICH = {"both": "LM", "positive": "LA", "negative": "SA"}
_SEED = 7


@dataclass(frozen=True)
class LinearBuckling:
    """Load factors (k,) sorted by magnitude, ``vectors`` (n, k) with largest entry 1, ``residuals`` (k,):
    |(K + K_0) x + f K_g x| over |(K + K_0) x|.

    ``expected``: how many factors of the wanted sign the inertia counts up to the last magnitude (None: not asked for).
    """

    factors: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    expected: int | None
    effort: Effort


def linear_buckling(K, Kg, count: int, preload=None, sign: str = "both", check: bool = False) -> LinearBuckling:
    """The ``count`` load factors f of smallest magnitude, fewer if there are fewer.

    Args:
        K, Kg: stiffness and geometric stiffness under unit load, symmetric, sparse (n, n).
        preload: geometric stiffness K_0 (n, n) of loads that do not grow with f.
        sign: "both", "positive" or "negative" factors.
        check: count them by the inertia.

    Raises:
        AnalysisError: K + K_0 is not positive definite (loose, or unstable under the preload), or the iteration fails.
        ValueError: another sign.
    """
    if sign not in SIGNS:
        raise ValueError(f"sign must be one of {', '.join(SIGNS)}, not {sign!r}")
    K, Kg = csr_matrix(K), csr_matrix(Kg)
    stiff = K if preload is None else csr_matrix(K + preload)
    n = K.shape[0]
    if not Kg.nnz or not np.any(Kg.data):
        empty = np.zeros(0)
        return LinearBuckling(empty, np.zeros((n, 0)), empty, 0 if check else None, Effort())
    with one_blas_thread():
        if n <= DENSE:
            every = buckling_factors(stiff, Kg, csr_matrix((0, n)), n)
            return _result(stiff, Kg, 1.0 / every.factors, every.vectors, count, sign, None, Effort(), check)
        pencil = Pencil(stiff, -Kg)
        try:
            factors = factor(pencil, kind="positive")
        except NotPositiveDefinite as error:
            what = "loose; hold it, so that every motion strains something"
            if preload is not None:
                what = f"{what}, or unstable already under its preload"
            raise AnalysisError(f"Buckling: the part is {what} ({error})") from None
        except LinearSolveError as error:
            raise AnalysisError(f"Buckling: the stiffness cannot be factored: {error}") from None
        inverse = LinearOperator((n, n), matvec=factors.solve, dtype=float)
        start = factors.solve(Kg @ np.random.default_rng(_SEED).standard_normal(n))
        wanted = min(n - 2, count + 2)
        steps = min(n - 1, max(2 * wanted + 1, 30))
        try:
            inverted, vectors = eigsh(
                -Kg, wanted, stiff, Minv=inverse, which=_WHICH[sign], v0=start, ncv=steps, tol=1e-13
            )
        except ArpackNoConvergence as error:  # fewer factors of this sign than wanted: zeros do not converge
            inverted, vectors = error.eigenvalues, error.eigenvectors
            if not np.any(inverted * (-1.0 if sign == "negative" else 1.0) > 0.0) and sign == "both":
                raise AnalysisError(f"Buckling: Lanczos iteration failed: {error}") from None
        except ArpackError as error:
            raise AnalysisError(f"Buckling: Lanczos iteration failed: {error}") from None
        return _result(stiff, Kg, inverted, vectors, count, sign, pencil, pencil.effort, check)


def _result(K, Kg, inverted, vectors, count, sign, pencil, effort, check) -> LinearBuckling:
    # factors beyond all reason are round-off of Kg
    keep = np.abs(inverted) > 1e-11 * np.abs(inverted).max(initial=0.0)
    if sign != "both":
        keep &= (inverted > 0.0) == (sign == "positive")
    keep = np.flatnonzero(keep)
    keep = keep[np.argsort(-np.abs(inverted[keep]), kind="stable")][:count]
    factors, x = 1.0 / inverted[keep], vectors[:, keep]
    if keep.size:
        x = x / x[np.abs(x).argmax(axis=0), np.arange(keep.size)]
    Kx, Gx = K @ x, Kg @ x
    if keep.size:  # Rayleigh quotients: errors of the vectors enter squared
        bending = np.einsum("ik,ik->k", x, Gx)
        factors = np.where(
            bending != 0.0, -np.einsum("ik,ik->k", x, Kx) / np.where(bending != 0.0, bending, 1.0), factors
        )
    size = np.linalg.norm(Kx, axis=0)
    residuals = np.linalg.norm(Kx + Gx * factors, axis=0) / np.where(size > 0.0, size, 1.0)
    expected = None
    if check and keep.size:
        expected = 0
        for side, name in ((1.0, "positive"), (-1.0, "negative")):
            if sign in ("both", name):
                expected += _count(pencil or Pencil(K, -Kg), side * np.abs(factors).max() * (1.0 + 1e-6))
    elif check:
        expected = 0
    return LinearBuckling(factors, x, residuals, expected, effort)


def _count(pencil: Pencil, f: float) -> int:
    """Number of load factors between 0 and f, or very little beyond."""
    message = ""
    for move in (0.0, 1e-7, 1e-6, 1e-5):
        try:
            return factor(pencil, kind="symmetric", shift=f * (1.0 + move)).negative
        except LinearSolveError as error:
            message = str(error)
    raise AnalysisError(f"Buckling: factors up to {f:.6g} cannot be counted: {message}")
