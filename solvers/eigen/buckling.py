"""Linear buckling: (K + K_0 + f K_g) x = 0, or (K + K_0 + f K_g) x + G^T y = 0 with G x = 0 where constraints stay.

Problems of up to 300 unknowns are solved dense, on a basis of the null space of G.  Of larger ones constraints are best
eliminated before; else the factors are those of the saddle point [[K + K_0, G^T], [G, 0]].
K + K_0, the stiffness with that of a preload which does not grow, must be positive definite; it is factored once by
L L^T and serves ARPACK both as the inner product and, inverted, as the operator on -K_g x = (1/f) (K + K_0) x, so that
the factors nearest to zero come first, of either sign.  By Sylvester's law the number of negative eigenvalues of
K + K_0 + f K_g is that of the factors between 0 and f: two factorisations prove that none is missing.

Theory: docs/theory.md, section 8, "At scale".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.factors import largest_reciprocals
from fem_mbs.solvers.distributed.matrix import NOT_SYMMETRIC, DistributedMatrix, compressed
from fem_mbs.solvers.eigen import SIGNS
from fem_mbs.solvers.eigen.divergence import unsymmetric_buckling
from fem_mbs.solvers.linear.factors import PositiveFactors
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.pinned import choose_pins, count_negative
from fem_mbs.solvers.linear.saddle import DENSE, negative_count, null_space, without_reactions
from fem_mbs.solvers.linear.service import factor, pencil_of

__all__ = ["LinearBuckling", "linear_buckling"]

_WHICH = {"both": "LM", "positive": "LA", "negative": "SA"}
_SEED = 7
_SYMMETRIC = 1e-9  # difference of opposite entries of a symmetric matrix, over its largest entry


@dataclass(frozen=True)
class LinearBuckling:
    """Load factors (k,) sorted by magnitude, with their vectors and residuals.

    ``vectors`` (n, k) have largest entry 1; ``residuals`` (k,) are |(K + K_0) x + f K_g x + G^T y| over |(K + K_0) x|.
    ``expected`` is the number of factors of the wanted sign that the inertia counts up to the last magnitude (None: not
    counted, or unsymmetric matrices).  ``complex`` is the number of complex factors among these, which are no loads.
    """

    factors: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    expected: int | None
    effort: Effort
    complex: int = 0


def linear_buckling(
    K: csr_matrix,
    Kg: csr_matrix,
    count: int,
    preload: np.ndarray | None = None,
    sign: str = "both",
    check: bool = False,
    G: csr_matrix | None = None,
    symmetric: bool | None = None,
) -> LinearBuckling:
    """Return the ``count`` load factors f of smallest magnitude, fewer if there are fewer.

    Args:
        K, Kg: stiffness and geometric stiffness under unit load, sparse (n, n).
        preload: geometric stiffness K_0 (n, n) of loads that do not grow with f.
        sign: "both", "positive" or "negative" factors.
        check: count them by the inertia.
        G: constraints, sparse (m, n), of any rank.
        symmetric: True: take K_g by its symmetric part, K being symmetric.  False: take both as they are (loads
            without a potential); the real factors are loads of divergence (`fem_mbs.solvers.eigen.divergence`).
            None: decide by the matrices.

    Raises:
        AnalysisError: K + K_0 is not positive definite where G x = 0 (the part can move freely, or is already
            unstable), or the iteration fails.
        ValueError: another sign.
    """
    if sign not in SIGNS:
        raise ValueError(f"sign must be one of {', '.join(SIGNS)}, not {sign!r}")
    K, Kg = compressed(K), compressed(Kg)
    stiff = K if preload is None else compressed(K + preload)
    n = K.shape[0]
    G = csr_matrix((0, n)) if G is None else csr_matrix(G)
    if not Kg.nnz or not Kg.count_nonzero():
        empty = np.zeros(0)
        return LinearBuckling(empty, np.zeros((n, 0)), empty, 0 if check else None, Effort())
    if symmetric is None:
        symmetric = all(abs(A - A.T).max() <= _SYMMETRIC * abs(A).max() for A in (stiff, Kg))
    if not symmetric and isinstance(stiff, DistributedMatrix):
        raise AnalysisError(f"Buckling: the stiffness {NOT_SYMMETRIC}")
    if not symmetric:
        found = unsymmetric_buckling(stiff, Kg, G, count, sign)
        return LinearBuckling(found.factors, found.vectors, found.residuals, None, Effort(), found.complex)
    Kg = compressed(0.5 * (Kg + Kg.T))
    with one_blas_thread():
        if G.shape[0]:
            return _constrained(stiff, Kg, G, count, sign, check)
        if n <= DENSE:
            if isinstance(stiff, DistributedMatrix):
                stiff, Kg = stiff.gathered(), Kg.gathered()
            every = _constrained(stiff, Kg, G, n, "both", False)
            return _result(stiff, Kg, 1.0 / every.factors, every.vectors, count, sign, None, Effort(), check)
        pencil = pencil_of(stiff, -Kg)
        distributed = isinstance(stiff, DistributedMatrix)
        factors: Any
        try:
            factors = factor(stiff if distributed else pencil, kind="positive")
        except NotPositiveDefinite as error:
            what = "loose; hold it, so that every motion strains something"
            if preload is not None:
                what = f"{what}, or unstable already under its preload"
            raise LooseError(f"Buckling: the part is {what} ({error})") from None
        except LinearSolveError as error:
            raise AnalysisError(f"Buckling: the stiffness cannot be factored: {error}") from None
        start = factors.solve(Kg @ np.random.default_rng(_SEED).standard_normal(n))
        wanted = min(n - 2, count + 2)
        steps = min(n - 1, max(2 * wanted + 1, 30))
        if distributed:
            inverted, vectors = largest_reciprocals(stiff, Kg, factors, start, wanted, sign)
        else:
            inverted, vectors = _lanczos(stiff, Kg, factors.solve, start, wanted, steps, sign)
        return _result(stiff, Kg, inverted, vectors, count, sign, pencil, pencil.effort, check, factors)


def _lanczos(K, Kg, solve, start, wanted: int, steps: int, sign: str) -> tuple[np.ndarray, np.ndarray]:
    """Return reciprocals (k,) of the factors nearest to zero, and vectors (n, k); ``solve`` returns K^-1 b."""
    inverse = LinearOperator(K.shape, matvec=solve, dtype=float)
    try:
        return eigsh(-Kg, wanted, K, Minv=inverse, which=_WHICH[sign], v0=start, ncv=steps, tol=1e-13)
    except ArpackNoConvergence as error:  # fewer factors of this sign than wanted: zeros do not converge
        found = error.eigenvalues, error.eigenvectors
        if not np.any(found[0] * (-1.0 if sign == "negative" else 1.0) > 0.0) and sign == "both":
            raise AnalysisError(f"Buckling: Lanczos iteration failed: {error}") from None
        return found
    except ArpackError as error:
        raise AnalysisError(f"Buckling: Lanczos iteration failed: {error}") from None


def _constrained(K, Kg, G, count: int, sign: str, check: bool) -> LinearBuckling:
    """Return factors of (K + f Kg) x + G^T y = 0, G x = 0."""
    n, m = K.shape[0], G.shape[0]
    if negative_count(K, G) > 0:
        raise AnalysisError("Buckling: the state is unstable already; its stiffness has negative eigenvalues")
    try:
        if n <= DENSE or count >= n - m - 2:
            inverted, vectors = _dense(K, Kg, G)
        else:
            saddle = factor(K, G, "saddle")
            start = saddle.solve(np.random.default_rng(_SEED).standard_normal(n))[0]
            wanted = min(n - 3, count + 4)
            steps = min(n - 1, max(3 * wanted, 30))
            inverted, vectors = _lanczos(K, Kg, lambda b: saddle.solve(b)[0], start, wanted, steps, sign)
    except (LinearSolveError, np.linalg.LinAlgError):
        raise LooseError("Buckling: the model is loose; hold it, so that every motion strains something") from None
    factors, x = _wanted(inverted, vectors, count, sign, 1e-12)
    Kx = K @ x
    size = np.linalg.norm(Kx, axis=0)
    left = np.linalg.norm(without_reactions(Kx + (Kg @ x) * factors, G), axis=0)
    expected = None
    if check:
        far = np.abs(factors).max(initial=0.0) * (1.0 + 1e-6)
        sides = [s for s, name in ((1.0, "positive"), (-1.0, "negative")) if sign in ("both", name)]
        expected = sum(negative_count(K + s * far * Kg, G) for s in sides) if factors.size else 0
    return LinearBuckling(factors, x, left / np.where(size > 0.0, size, 1.0), expected, Effort())


def _dense(K, Kg, G) -> tuple[np.ndarray, np.ndarray]:
    Z = null_space(G)
    Kz, Gz = Z.T @ (K @ Z), Z.T @ (Kg @ Z)
    inverted, z = scipy.linalg.eigh(-0.5 * (Gz + Gz.T), 0.5 * (Kz + Kz.T))
    return inverted, Z @ z


def _wanted(inverted, vectors, count: int, sign: str, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the first factors (k,) of the wanted sign and their vectors (n, k) with largest entry 1.

    Reciprocals below ``least`` over the largest are round-off of Kg.
    """
    keep = np.abs(inverted) > least * np.abs(inverted).max(initial=0.0)
    if sign != "both":
        keep &= (inverted > 0.0) == (sign == "positive")
    keep = np.flatnonzero(keep)
    keep = keep[np.argsort(-np.abs(inverted[keep]), kind="stable")][:count]
    x = vectors[:, keep]
    if keep.size:
        x = x / x[np.abs(x).argmax(axis=0), np.arange(keep.size)]
    return 1.0 / inverted[keep], x


def _result(K, Kg, inverted, vectors, count, sign, pencil, effort, check, stiff=None) -> LinearBuckling:
    """Return the wanted factors; ``stiff``: factors of K, where it has any."""
    factors, x = _wanted(inverted, vectors, count, sign, 1e-11)
    Kx, Gx = K @ x, Kg @ x
    if factors.size:  # Rayleigh quotients: errors of the vectors enter squared
        bending = np.einsum("ik,ik->k", x, Gx)
        factors = np.where(
            bending != 0.0, -np.einsum("ik,ik->k", x, Kx) / np.where(bending != 0.0, bending, 1.0), factors
        )
    size = np.linalg.norm(Kx, axis=0)
    residuals = np.linalg.norm(Kx + Gx * factors, axis=0) / np.where(size > 0.0, size, 1.0)
    expected = None
    if check and factors.size:
        expected = 0
        for side, name in ((1.0, "positive"), (-1.0, "negative")):
            if sign in ("both", name):
                far = side * np.abs(factors).max() * (1.0 + 1e-6)
                expected += _count(pencil or pencil_of(K, -Kg), far, K, stiff, inverted, vectors)
    elif check:
        expected = 0
    return LinearBuckling(factors, x, residuals, expected, effort)


def _count(pencil: Any, f: float, K, stiff, inverted, vectors) -> int:
    """Return the number of load factors between 0 and f, or very little beyond.

    ``stiff`` are factors of K, and vectors (n, k) those of load factors 1/``inverted`` near to f and below.
    """
    for measured in (False, True) if isinstance(stiff, PositiveFactors) else ():
        strain = np.sqrt(np.einsum("ik,ik->k", vectors, K @ vectors))
        pins = choose_pins(stiff, vectors / strain, 1.0 - f * inverted, measured)
        for move in (0.0, 1e-7, 1e-6, 1e-5):
            if pins is None:
                break
            try:
                return count_negative(pencil, f * (1.0 + move), pins)
            except NotPositiveDefinite:
                break
            except LinearSolveError:
                continue  # a load factor lies there
    message = ""
    for move in (0.0, 1e-7, 1e-6, 1e-5):
        try:
            return factor(pencil, kind="symmetric", shift=f * (1.0 + move)).negative
        except LinearSolveError as error:
            message = str(error)
    raise AnalysisError(f"Buckling: factors up to {f:.6g} cannot be counted: {message}")
