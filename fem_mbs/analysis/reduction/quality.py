"""Assess a reduced part: its modes, estimates of their errors, mass, shares of the mass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

__all__ = ["accuracy_of", "effective_shares", "free_modes_of", "mass_properties"]

#: Relative error of a frequency by rounded matrices: no estimate is smaller.
_ROUND_OFF = 1e-13


def mass_properties(inertia: np.ndarray, origin: np.ndarray) -> dict[str, Any]:
    """Return mass, place of its centre, and inertia about that, of T = R^T M R."""
    if inertia.shape[0] == 3:
        m = inertia[0, 0]
        c = np.array([inertia[1, 2], -inertia[0, 2]]) / m if m > 0.0 else np.zeros(2)
        return {"mass": float(m), "center": origin + c, "inertia": inertia[2, 2] - m * c @ c}
    m = inertia[0, 0]
    first = inertia[:3, 3:]  # m [c]_x^T
    c = np.array([first[1, 2], first[2, 0], first[0, 1]]) / m if m > 0.0 else np.zeros(3)
    J = inertia[3:, 3:] - m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return {"mass": float(m), "center": origin + c, "inertia": J}


def effective_shares(gravity: np.ndarray, inertia: np.ndarray, mass: np.ndarray, b: int) -> np.ndarray:
    """Return the share (3 or 6,) of the mass, and of the moments of inertia, that the component modes move while
    interfaces accelerate as a rigid whole (held interfaces); ``b``: number of interface components, which come
    first."""
    total = inertia.diagonal()
    W = mass[b:, b:]
    if not W.size:
        return np.zeros(total.size)
    carried = np.einsum("kj,kj->j", gravity[b:], np.linalg.lstsq(W, gravity[b:], rcond=None)[0])
    return carried / np.where(total > 0.0, total, np.inf)


def accuracy_of(
    K: csr_matrix, M: csr_matrix, Q: np.ndarray, modes: tuple[np.ndarray, np.ndarray],
    flexibility: Callable[[np.ndarray], np.ndarray], following: float,
) -> list[dict[str, float]]:  # fmt: skip
    """Return estimated errors of elastic modes of the part with free interfaces.

    Args:
        K, M, Q: of the full part, sparse (n_q, n_q), and its unknowns (n_q, n) in the reduced coordinates.
        modes: w^2 (k,), p (n, k).
        flexibility: G r of residuals (n_q, k), what the basis leaves out.
        following: the lowest w^2 left out; NaN or infinite where it is not known.
    """
    values, P = modes
    if not values.size:
        return []
    U = Q @ P
    KU, MU = K @ U, M @ U
    mass = np.einsum("ik,ik->k", U, MU)
    R = KU - MU * values
    residual = np.linalg.norm(R, axis=0) / (np.linalg.norm(KU, axis=0) + np.linalg.norm(MU * values, axis=0))
    energy = np.einsum("ik,ik->k", R, flexibility(R)) / mass
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = 1.0 - values / following if np.isfinite(following) else np.ones(values.size)
        relative = np.where((gap > 0.0) & (values > 0.0), np.maximum(0.5 * energy / (values * gap), _ROUND_OFF), np.inf)
    return [
        {"frequency_hz": float(np.sqrt(max(w, 0.0)) / (2.0 * np.pi)), "relative_error": float(e), "residual": float(s)}
        for w, e, s in zip(values, relative, residual, strict=True)
    ]


def free_modes_of(
    K: np.ndarray, M: np.ndarray, rigid: np.ndarray | None = None, count: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest modes w^2 (k,), p (n, k) with p.M p = 1 of a reduced part, its ``rigid`` motions (n, r) first.

    Where K is positive definite but for these, 1/w^2 are the largest eigenvalues of (M, K), to which round-off of the
    stiffest coordinates does nothing; those without mass follow at rest.

    Raises:
        numpy.linalg.LinAlgError: neither K nor M is positive definite.
    """
    R = np.zeros((K.shape[0], 0)) if rigid is None else rigid
    r = R.shape[1]
    N = np.eye(K.shape[0])
    if r:
        for _ in range(2):
            R = scipy.linalg.solve_triangular(np.linalg.cholesky(R.T @ M @ R), R.T, lower=True).T
        scale = np.sqrt(np.maximum(np.abs(K.diagonal()), 1e-300))
        N = scipy.linalg.null_space((M @ R / scale[:, None]).T) / scale[:, None]
    elastic = N.shape[1] if count is None else min(max(count - r, 0), N.shape[1])
    if not elastic:
        return np.zeros(r)[:count], R[:, :count]
    A = N.T @ K @ N
    size = 1.0 / np.sqrt(np.maximum(np.abs(A.diagonal()), 1e-300))
    N = N * size
    A, W = A * np.outer(size, size), N.T @ M @ N
    n = N.shape[1]
    A, W = 0.5 * (A + A.T), 0.5 * (W + W.T)
    try:
        mu, V = scipy.linalg.eigh(W, A, subset_by_index=(n - elastic, n - 1))
    except np.linalg.LinAlgError:
        values, V = scipy.linalg.eigh(A, W, subset_by_index=(0, elastic - 1))
        return np.concatenate((np.zeros(r), values)), np.column_stack((R, N @ V))
    keep = mu > 1e-15 * mu.max(initial=0.0)
    mu, V = mu[keep][::-1], V[:, keep][:, ::-1]
    values = np.concatenate((np.zeros(r), 1.0 / mu))
    return values, np.column_stack((R, N @ (V / np.sqrt(mu))))
