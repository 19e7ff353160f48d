"""Modes of K x + G^T y = w^2 M x, G x = 0, with constraints G of any rank; and all modes of small problems.

Up to 300 unknowns they are computed dense, on a basis of the null space of G.  Beyond, the operator of Lanczos is the
saddle point [[K - s M, G^T], [G, 0]] (Ericsson & Ruhe 1980, doi:10.1090/S0025-5718-1980-0583502-2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.solvers.eigen.real_results import RealModes, is_rigid, lowest_elastic, mode_results
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError
from fem_mbs.solvers.linear.saddle import DENSE, negative_count, null_space, without_reactions
from fem_mbs.solvers.linear.service import factor

__all__ = ["constrained_modes", "dense_modes"]

_HELD = 1e-13  # strain energy of a rigid mode, over the sum of the absolute values it cancels from
_SEED = 7


def constrained_modes(K: Any, M: Any, G: Any, count: int) -> RealModes:
    """Return the ``count`` lowest modes (fewer, if the masses have fewer) of K x + G^T y = w^2 M x, G x = 0."""
    n, m = K.shape[0], G.shape[0]
    effort = Effort()
    shifts: list[float] = []
    if n <= DENSE or count >= n - m - 1:
        values, vectors = _null_space_modes(K, M, G, count)
    else:
        values, vectors = _sparse_modes(K, M, G, count, shifts, effort)
    if values.size == 0:
        raise AnalysisError("Modes: no mass can move; remove a support or give the parts a density")
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    rigid = is_rigid(K, vectors, _HELD)
    left_over = _mode_residuals(K, M, G, values, vectors, rigid)
    first = np.argsort(~rigid, kind="stable")  # rigid ones first
    values = np.where(rigid, 0.0, values)
    expected = None
    if count < n - m - 1:
        # count the eigenvalues below a shift just above the highest found
        top = values[-1]
        shift = top + 1e-6 * max(abs(top), 1e-300)
        expected = negative_count(K - shift * M, G) if shift > 0.0 else None
    residuals, backward = (r[first] for r in left_over)
    return RealModes(
        values[first], vectors[:, first], residuals, backward, int(rigid.sum()), expected, tuple(shifts), effort
    )


def _mode_residuals(K, M, G, values, vectors, rigid) -> tuple[np.ndarray, np.ndarray]:
    """Return `RealModes.residuals` and `RealModes.backward` of each pair, with the best multipliers."""
    KX, MX = K @ vectors, (M @ vectors) * values
    left = np.linalg.norm(without_reactions(KX - MX, G), axis=0)
    strained = np.linalg.norm(abs(K) @ np.abs(vectors), axis=0)
    size = np.where(rigid, strained, np.linalg.norm(KX, axis=0) + np.linalg.norm(MX, axis=0))
    most = strained + np.linalg.norm((abs(M) @ np.abs(vectors)) * values, axis=0)
    # where nothing resists at all, nothing is out of balance
    return tuple(left / np.where(a > 0.0, a, 1.0) for a in (size, most))


def _null_space_modes(K, M, G, count):
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
        near = lowest_elastic(values[: count + 6])
        if closer and np.isfinite(near) and not 1e-2 * near <= -shift <= 1e2 * near:
            shift, closer = -near, False  # values far from the shift lose digits
            continue
        return _normalised(Z @ z[:, keep[:count]], K, M)
    raise LooseError("Modes: K - s M is not positive for any shift; a massless part of the model is unstable")


def _sparse_modes(K, M, G, count, shifts: list[float], effort: Effort):
    n = K.shape[0]
    scale = float(np.abs(K.diagonal()).sum() / M.diagonal().sum())
    shift = -1e-9 * scale
    rng = np.random.default_rng(_SEED)
    values, vectors = np.zeros(0), np.zeros((n, 0))
    for _ in range(3):
        try:
            saddle = factor(K - shift * M, G, "saddle")
        except LinearSolveError as error:
            raise AnalysisError(f"Modes: the shifted stiffness cannot be factored: {error}") from None
        shifts.append(shift)
        effort.factorisations += 1

        def solve(b: np.ndarray, saddle=saddle) -> np.ndarray:
            effort.solves += 1
            return saddle.solve(b)[0]

        operator = LinearOperator((n, n), matvec=solve, dtype=float)
        start = saddle.solve(M @ rng.standard_normal(n))[0]
        wanted = min(n - 2, count + 4)
        try:
            values, vectors = eigsh(
                K, wanted, M, sigma=shift, OPinv=operator, v0=start, ncv=min(n - 1, max(2 * wanted + 1, 20)), tol=1e-14
            )  # fmt: skip
        except ArpackError as error:
            raise AnalysisError(f"Modes: Lanczos iteration failed: {error}") from None
        near = lowest_elastic(values)
        if not np.isfinite(near) or 1e-4 * near <= -shift <= 1e2 * near:
            break
        shift = -0.1 * near  # too far away: slow and inexact; too close: rigid modes drown the others
    keep = np.argsort(values)[:count]
    return _normalised(vectors[:, keep], K, M)


def _normalised(vectors, K, M):
    """Return the Rayleigh quotients of the vectors, and the vectors with x.M x = 1."""
    mass = np.einsum("ik,ik->k", vectors, M @ vectors)
    vectors = vectors / np.sqrt(np.where(mass > 0.0, mass, 1.0))
    return np.einsum("ik,ik->k", vectors, K @ vectors), vectors


def dense_modes(K: Any, M: Any, count: int | None, near: float | None, band: tuple[float, float] | None) -> RealModes:
    """Return the wanted modes of a small problem, selected from all of them."""
    n = K.shape[0]
    every = constrained_modes(K, M, csr_matrix((0, n)), n)
    values = every.values
    if band is not None:
        tiny = 1e-12 * np.abs(values).max(initial=0.0)
        keep = np.flatnonzero((values >= band[0] - tiny) & (values <= band[1] + tiny))
        if count is not None and keep.size > count:
            raise AnalysisError(f"Modes: {keep.size} lie in the band, more than {count}; take a narrower band")
    else:
        keep = np.argsort(values if near is None else np.abs(values - near), kind="stable")[:count]
    return mode_results(K, M, every.vectors[:, keep], keep.size, (), Effort())
