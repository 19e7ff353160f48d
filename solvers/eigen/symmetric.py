"""Symmetric eigenvalue problems on the null space of constraints: modes, buckling factors, counts of negative ones.

    modes      K x + G^T y = w^2 M x,           G x = 0
    buckling   (K + f Kg) x + G^T y = 0,        G x = 0

K, M, Kg are sparse over n unknowns, G (m, n) has any rank.  Large problems go to ARPACK (scipy's `eigsh`) with the
factors of the saddle point [[K - s M, G^T], [G, 0]] as its operator (shift-invert Lanczos: Ericsson & Ruhe 1980,
doi:10.1090/S0025-5718-1980-0583502-2), small ones are solved dense on a basis of the null space.  Every pair carries
its residual, and a Sturm count of the shifted matrix tells whether one was missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen.divergence import unsymmetric_buckling
from fem_mbs.solvers.linear.libraries import LinearSolveError, one_blas_thread
from fem_mbs.solvers.linear.saddle import DENSE, negative_count, null_space
from fem_mbs.solvers.linear.service import factor

__all__ = ["Buckling", "Modes", "buckling_factors", "symmetric_modes"]

_RIGID = 1e-13  # strain energy of a rigid mode over the sum of the absolute values that it cancels from
_SEED = 7


@dataclass(frozen=True)
class Modes:
    """Modes in ascending order: ``values`` w^2 (k,), ``vectors`` (n, k) with x.M x = 1, ``residuals`` (k,), how many
    are rigid-body modes (they come first), and how many the Sturm count says there should be (None: not known)."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    rigid: int
    expected: int | None


@dataclass(frozen=True)
class Buckling:
    """Load factors (k,) sorted by magnitude, ``vectors`` (n, k) with largest entry 1, ``residuals`` (k,)."""

    factors: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray


# --- modes -----------------------------------------------------------------------------------------------------------
def symmetric_modes(K, M, G, count: int) -> Modes:
    """The ``count`` lowest modes (fewer, if the masses have fewer) of K x + G^T y = w^2 M x, G x = 0.

    Raises:
        AnalysisError: no masses move, or the iteration fails.
    """
    K, M, G = (csr_matrix(a) for a in (K, M, G))
    n, m = K.shape[0], G.shape[0]
    if not np.any(M.diagonal() != 0.0):
        raise AnalysisError("Modes: nothing that can move has a mass; give the parts a density or add masses")
    with one_blas_thread():
        if n <= DENSE or count >= n - m - 1:
            values, vectors = _dense_modes(K, M, G, count)
        else:
            values, vectors = _sparse_modes(K, M, G, count)
    if values.size == 0:
        raise AnalysisError("Modes: no mass can move; remove a support or give the parts a density")
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    size = np.einsum("ik,ik->k", np.abs(vectors), abs(K) @ np.abs(vectors))
    rigid = np.abs(np.einsum("ik,ik->k", vectors, K @ vectors)) <= _RIGID * size
    residuals = _mode_residuals(K, M, G, values, vectors, rigid)
    first = np.argsort(~rigid, kind="stable")  # rigid ones first
    values = np.where(rigid, 0.0, values)
    expected = None
    if count < n - m - 1:
        # count the eigenvalues below a shift just above the highest found
        top = values[-1]
        shift = top + 1e-6 * max(abs(top), 1e-300)
        expected = negative_count(K - shift * M, G) if shift > 0.0 else None
    return Modes(values[first], vectors[:, first], residuals[first], int(rigid.sum()), expected)


def _mode_residuals(K, M, G, values, vectors, rigid) -> np.ndarray:
    """Residual of each pair after the best multipliers, over the forces in it (rigid modes: over what they cancel)."""
    R = K @ vectors - (M @ vectors) * values
    size = np.linalg.norm(K @ vectors, axis=0) + np.linalg.norm((M @ vectors) * values, axis=0)
    if G.shape[0]:
        # project out the constraint forces: R - G^T y with the least norm
        saddle = factor(identity(K.shape[0], format="csr"), G, "saddle")
        R = np.column_stack([saddle.solve(r)[0] for r in R.T])
    absolute = np.linalg.norm(abs(K) @ np.abs(vectors), axis=0)
    scale = np.where(rigid, absolute, size)
    # where nothing resists at all, nothing is out of balance
    return np.linalg.norm(R, axis=0) / np.where(scale > 0.0, scale, 1.0)


def _dense_modes(K, M, G, count):
    Z = null_space(G)
    Kz, Mz = Z.T @ (K @ Z), Z.T @ (M @ Z)
    Kz, Mz = 0.5 * (Kz + Kz.T), 0.5 * (Mz + Mz.T)
    shift = -1e-6 * np.trace(np.abs(Kz)) / np.trace(Mz) or -1.0
    closer = True
    for _ in range(60):
        # w^2 = s + 1/t of M z = t (K - s M) z: masses may be singular, K - s M is positive for s low enough
        try:
            t, z = scipy.linalg.eigh(Mz, Kz - shift * Mz)
        except np.linalg.LinAlgError:
            shift *= 10.0
            closer = False
            continue
        keep = np.flatnonzero(t > 1e-12 * t[-1])[::-1]
        values = shift + 1.0 / t[keep]
        near = _lowest_elastic(values[: count + 6])
        if closer and np.isfinite(near) and not 1e-2 * near <= -shift <= 1e2 * near:
            shift, closer = -near, False  # values far from the shift lose digits
            continue
        return _normalised(values[:count], Z @ z[:, keep[:count]], K, M)
    raise AnalysisError("Modes: K - s M is not positive for any shift; a massless part of the model is unstable")


def _sparse_modes(K, M, G, count):
    n = K.shape[0]
    scale = float(np.abs(K.diagonal()).sum() / M.diagonal().sum())
    shift = -1e-9 * scale
    rng = np.random.default_rng(_SEED)
    values = vectors = None
    for _ in range(3):
        try:
            saddle = factor(K - shift * M, G, "saddle")
        except LinearSolveError as error:
            raise AnalysisError(f"Modes: the shifted stiffness cannot be factored: {error}") from None
        operator = LinearOperator((n, n), matvec=lambda b, saddle=saddle: saddle.solve(b)[0], dtype=float)
        start = saddle.solve(M @ rng.standard_normal(n))[0]
        wanted = min(n - 2, count + 4)
        try:
            values, vectors = eigsh(
                K, wanted, M, sigma=shift, OPinv=operator, v0=start, ncv=min(n - 1, max(2 * wanted + 1, 20)), tol=1e-14
            )  # fmt: skip
        except ArpackError as error:
            raise AnalysisError(f"Modes: Lanczos iteration failed: {error}") from None
        near = _lowest_elastic(values)
        if not np.isfinite(near) or 1e-4 * near <= -shift <= 1e2 * near:
            break
        shift = -0.1 * near  # too far away: slow and inexact; too close: rigid modes drown the others
    keep = np.argsort(values)[:count]
    return _normalised(values[keep], vectors[:, keep], K, M)


def _lowest_elastic(values) -> float:
    """Smallest magnitude among values that are not those of rigid modes; infinite if there is none."""
    size = np.abs(values)
    return float(size[size > 1e-6 * size.max(initial=0.0)].min(initial=np.inf))


def _normalised(values, vectors, K, M):
    """Rayleigh quotients of the vectors, and x.M x = 1."""
    mass = np.einsum("ik,ik->k", vectors, M @ vectors)
    vectors = vectors / np.sqrt(np.where(mass > 0.0, mass, 1.0))
    return np.einsum("ik,ik->k", vectors, K @ vectors), vectors


# --- buckling --------------------------------------------------------------------------------------------------------
def buckling_factors(K, Kg, G, count: int) -> Buckling:
    """Load factors f of smallest magnitude, of both signs, with (K + f Kg) x + G^T y = 0, G x = 0.

    K is symmetric and must be positive on the null space of G.  A Kg that is not symmetric (loads without a potential)
    is taken as it is: the real factors are then loads of divergence (`fem_mbs.solvers.eigen.divergence`).

    Raises:
        AnalysisError: K is not positive (unstable or loose at the start), or the iteration fails.
    """
    K, Kg, G = (csr_matrix(a) for a in (K, Kg, G))
    n, m = K.shape[0], G.shape[0]
    if negative_count(K, G) > 0:
        raise AnalysisError("Buckling: the state is unstable already; its stiffness has negative eigenvalues")
    if abs(Kg - Kg.T).max() > 1e-9 * abs(Kg).max():
        found = unsymmetric_buckling(K, Kg, G, count)
        return Buckling(found.factors, found.vectors, found.residuals)
    Kg = csr_matrix(0.5 * (Kg + Kg.T))
    with one_blas_thread():
        if n <= DENSE or count >= n - m - 2:
            inverse, vectors = _dense_buckling(K, Kg, G)
        else:
            inverse, vectors = _sparse_buckling(K, Kg, G, count)
    # factors beyond all reason are round-off of Kg
    keep = np.flatnonzero(np.abs(inverse) > 1e-12 * np.abs(inverse).max(initial=0.0))
    keep = keep[np.argsort(-np.abs(inverse[keep]), kind="stable")][:count]
    factors, vectors = 1.0 / inverse[keep], vectors[:, keep]
    if vectors.shape[1]:
        vectors = vectors / vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    R = K @ vectors + (Kg @ vectors) * factors
    if m:
        saddle = factor(identity(n, format="csr"), G, "saddle")
        R = np.column_stack([saddle.solve(r)[0] for r in R.T]) if R.shape[1] else R
    size = np.linalg.norm(K @ vectors, axis=0)
    return Buckling(factors, vectors, np.linalg.norm(R, axis=0) / np.where(size > 0.0, size, 1.0))


def _dense_buckling(K, Kg, G):
    Z = null_space(G)
    Kz, Gz = Z.T @ (K @ Z), Z.T @ (Kg @ Z)
    try:
        inverse, z = scipy.linalg.eigh(-0.5 * (Gz + Gz.T), 0.5 * (Kz + Kz.T))
    except np.linalg.LinAlgError:
        raise AnalysisError("Buckling: the model is loose; hold it, so that every motion strains something") from None
    return inverse, Z @ z


def _sparse_buckling(K, Kg, G, count):
    n = K.shape[0]
    try:
        saddle = factor(K, G, "saddle")
    except LinearSolveError:
        raise AnalysisError("Buckling: the model is loose; hold it, so that every motion strains something") from None
    inverse = LinearOperator((n, n), matvec=lambda b: saddle.solve(b)[0], dtype=float)
    start = saddle.solve(np.random.default_rng(_SEED).standard_normal(n))[0]
    wanted = min(n - 3, count + 4)
    lanczos = {"which": "LM", "v0": start, "ncv": min(n - 1, max(3 * wanted, 30)), "tol": 1e-13}
    try:
        return eigsh(-Kg, wanted, K, Minv=inverse, **lanczos)
    except ArpackError as error:
        raise AnalysisError(f"Buckling: Lanczos iteration failed: {error}") from None
