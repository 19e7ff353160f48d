"""Real modes as they are answered: values, vectors, residuals, rigid-body modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.linear.libraries import Effort

__all__ = [
    "RealModes", "as_modes", "is_rigid", "lowest_elastic", "magnitudes", "mode_results", "translates", "without_zeros",
]  # fmt: skip

_RIGID = 2e-15  # strain energy of a rigid mode over the sum of the absolute values it cancels from (5e-17 measured)


@dataclass(frozen=True)
class RealModes:
    """Modes in ascending order: ``values`` w^2 (k,), ``vectors`` (n, k) with x.M x = 1, ``residuals`` (k,).

    ``rigid``: how many are rigid-body modes (their values are zero); ``expected``: how many the inertia counts in the
    range they span (None: not asked for); ``shifts``: where K - s M was factored to iterate; ``effort``: counts.

    A residual is |K x - w^2 M x| over |K x| + |w^2 M x|, for rigid modes over | |K| |x| |.  Slender parts with fine
    meshes cannot have small ones, since the strains of a low mode cancel from displacements rounded to 16 digits;
    ``backward`` (k,), the same over | |K| |x| | + w^2 | |M| |x| |, tells whether they are solved to that round-off.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    backward: np.ndarray
    rigid: int
    expected: int | None
    shifts: tuple[float, ...]
    effort: Effort


def as_modes(K: csr_matrix, M: csr_matrix, vectors: np.ndarray, rigid: int) -> RealModes:
    """Return given modes (n, k) in ascending order, with their Rayleigh quotients and residuals.

    The first ``rigid`` are rigid-body motions.
    """
    found = mode_results(csr_matrix(K), csr_matrix(M), vectors, None, (), Effort())
    values = np.where(np.arange(found.values.size) < rigid, 0.0, found.values)
    return replace(found, values=values, rigid=rigid)


def without_zeros(M: Any) -> Any:
    """Return a matrix without the zeros it stores, two thirds of a solid's mass on the pattern of its stiffness."""
    if isinstance(M, DistributedMatrix) or np.count_nonzero(M.data) > 0.8 * M.nnz:
        return M
    M = M.copy()
    M.eliminate_zeros()
    return M


def mode_results(
    K: Any, M: Any, vectors: np.ndarray, expected: int | None, shifts: tuple[float, ...], effort: Effort
) -> RealModes:
    """Return modes of vectors (n, k) in ascending order, with their Rayleigh quotients and residuals."""
    KX, MX = K @ vectors, M @ vectors
    mass = np.einsum("ik,ik->k", vectors, MX)
    norm = np.sqrt(np.where(mass > 0.0, mass, 1.0))
    vectors, KX, MX = vectors / norm, KX / norm, MX / norm
    values = np.einsum("ik,ik->k", vectors, KX)
    size = np.abs(vectors)
    strained, moved = magnitudes(K) @ size, magnitudes(M) @ size
    rigid = np.abs(values) <= _RIGID * np.einsum("ik,ik->k", size, strained)
    values = np.where(rigid, 0.0, values)
    left = np.linalg.norm(KX - MX * values, axis=0)
    most = np.linalg.norm(strained, axis=0) + np.linalg.norm(moved * values, axis=0)
    size = np.where(rigid, most, np.linalg.norm(KX, axis=0) + np.linalg.norm(MX * values, axis=0))
    left_over = [left / np.where(a > 0.0, a, 1.0) for a in (size, most)]
    k = np.argsort(values, kind="stable")
    residuals, backward = (r[k] for r in left_over)
    return RealModes(values[k], vectors[:, k], residuals, backward, int(rigid.sum()), expected, shifts, effort)


def is_rigid(K: Any, vectors: np.ndarray, tolerance: float = _RIGID) -> np.ndarray:
    """Return which vectors (n, k) cause no strain beyond round-off."""
    bound = np.einsum("ik,ik->k", np.abs(vectors), magnitudes(K) @ np.abs(vectors))
    return np.abs(np.einsum("ik,ik->k", vectors, K @ vectors)) <= tolerance * bound


def magnitudes(A: Any) -> Any:
    """Return |A|, entry by entry, on the pattern of A; only values are copied."""
    if isinstance(A, DistributedMatrix) or A.format not in ("csr", "csc"):
        return abs(A)
    return type(A)((np.abs(A.data), A.indices, A.indptr), shape=A.shape)


def translates(K: csr_matrix) -> bool:
    """Return whether a translation causes no strain, for dofs numbered node by node; then the part is free."""
    n = K.shape[0]
    size = magnitudes(K)
    for stride in (3, 6, 2, 1):
        if n % stride == 0:
            v = np.zeros(n)
            v[::stride] = 1.0
            if np.all(np.abs(K @ v) <= 1e-11 * (size @ v)):
                return True
    return False


def lowest_elastic(values: np.ndarray) -> float:
    """Return the smallest magnitude among values that are not those of rigid modes; infinite if there is none."""
    size = np.abs(values)
    return float(size[size > 1e-6 * size.max(initial=0.0)].min(initial=np.inf))
