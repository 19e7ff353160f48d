"""Steady vibrations (K (1 + i eta) + i w C - w^2 M) q = f(w) of sparse matrices, constraints eliminated before.

`DirectResponse` solves at every frequency.  `ModalResponse` projects on the modes up to a cut-off and on residual
vectors.  These are first the static displacements of the forces that the modes do not represent: the residual
flexibility of mode acceleration, as shapes (Dickens, Nakagawa & Wittbrodt 1997, Computers & Structures 62, 985).  Then
follow the static displacements of their own inertia forces (Wilson, Yuan & Dickens 1982, doi:10.1002/eqe.4290100606).
Projected on their span too, K and M keep terms in w^2 that a constant flexibility omits: 2 j powers of (w / cut-off)^2,
with j vectors of a force.

Theory: docs/theory.md, section 8, "Harmonic response".
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csc_matrix, csr_matrix, diags

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.distributed.matrix import compressed
from fem_mbs.solvers.eigen.modes import RealModes, real_modes
from fem_mbs.solvers.linear.libraries import Effort, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.saddle_factors import SINGULAR_GROWTH, SingularShift
from fem_mbs.solvers.linear.service import factor, pencil_of

__all__ = ["DirectResponse", "ModalResponse", "SingularShift"]

_REFINEMENTS = 2
#: Residual vectors of a force: its static deflection, that of the inertia forces of the last one, and so on.
_BLOCKS = 4
#: Shift of free parts over the square of the cut-off; relative size below which a residual vector is dependent.
_SHIFT, _DEPENDENT = 1e-4, 1e-12
#: Distance of w^2 from the square of an undamped natural frequency, relative, at which the response has no digits.
_RESONANT = 1e-13


class DirectResponse:
    """Solutions with the matrices themselves: K, C, M (n, n) sparse, which may be unsymmetric, ``structural`` eta."""

    def __init__(self, K, C, M, structural: float, highest: float):
        """Take the largest frequency ``highest`` [rad/s], which sets the scales."""
        K, C, M = (csr_matrix(A) for A in (K, C, M))
        size = sum(
            (f * np.asarray(abs(A).max(axis=1).todense()).ravel() if A.nnz else 0.0)
            for A, f in ((K, 1.0), (C, highest), (M, highest**2))
        ) + np.zeros(K.shape[0])
        self.d = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        D = diags(self.d)
        self.K, self.C, self.M = (csr_matrix(D @ A @ D) for A in (K, C, M))
        self.structural, self.effort = structural, Effort()
        self.damped = bool(self.C.count_nonzero())
        self._sizes = abs(self.K), abs(self.C), abs(self.M)

    def matrix(self, w: float) -> csc_matrix:
        """Return the scaled matrix at w [rad/s], real where nothing damps."""
        A = self.K - w * w * self.M
        if self.structural:
            A = A + 1j * self.structural * self.K
        if self.damped and w:
            A = A + 1j * w * self.C
        return csc_matrix(A)

    def solve(self, w: float, f: np.ndarray) -> np.ndarray:
        """Return q (n,) complex at w [rad/s] under forces f (n,) complex.

        Raises:
            SingularShift: the matrix is singular to working precision.
            AnalysisError: it cannot be factored.
        """
        if not f.size or not np.any(f):
            return np.zeros(f.size, complex)
        A = self.matrix(w)
        factors = factor(A, kind="general", effort=self.effort)
        b = self.d * f
        x = factors.solve(b)[0]
        for _ in range(_REFINEMENTS):
            x = x + factors.solve(b - A @ x)[0]
        size = sum(s * (S @ np.abs(x)) for S, s in zip(self._sizes, (1.0, w, w * w), strict=True)).max()
        if not size <= SINGULAR_GROWTH * np.abs(b).max():
            raise SingularShift("The dynamic stiffness is singular to working precision")
        return self.d * x


class ModalResponse:
    """Solutions in the span of modes, all up to ``cutoff`` [rad/s] or the ``count`` lowest, and of residual vectors of
    the forces B (n, k) real: symmetric K, M and any C (n, n), sparse.

    Attributes:
        frequencies: of the modes [rad/s], (r,); ``vectors`` (n, r + s): modes and residual vectors, ``residual`` s.
        proportions: a (r + s,) [s] and b (r + s,) [1/s], so that ratios and Rayleigh damping are forces
            (K V a + M V b) z' of the coordinates z of the vectors V.

    Args:
        ratios: (j,) damping ratios of the modes, the last one for all that follow, residual vectors included.
        rayleigh: factors alpha [1/s] and beta [s] of damping alpha M + beta K, added.

    Raises:
        AnalysisError: nothing has a mass, or the state is unstable.
    """

    def __init__(
        self, K, C, M, B: np.ndarray, structural: float, ratios: np.ndarray, cutoff: float, count: int | None = None,
        rayleigh: tuple[float, float] = (0.0, 0.0),
    ):  # fmt: skip
        K, C, M = (compressed(A) for A in (K, C, M))
        self.structural = structural
        found: RealModes
        if count is None:
            found = real_modes(K, M, band=(-_SHIFT * cutoff**2, cutoff**2))
        else:
            found = real_modes(K, M, min(count, K.shape[0]))
        values, vectors = found.values.copy(), found.vectors
        scale = cutoff**2 if count is None else max(float(values.max(initial=0.0)), 1e-300)
        values[np.abs(values) < 1e-12 * scale] = 0.0
        if (values < 0.0).any():
            raise AnalysisError("the state is unstable: a square of a natural frequency is negative; lower the loads")
        self.frequencies = np.sqrt(values)
        shift = -_SHIFT * scale if (values == 0.0).any() else 0.0
        R, k, m = _residual_vectors(K, M, B, vectors, shift)
        self.vectors, self.residual = np.hstack((vectors, R)), R.shape[1]
        self.k, self.m = np.concatenate((values, k)), np.concatenate((np.ones(values.size), m))
        number = np.minimum(np.arange(self.k.size), max(ratios.size - 1, 0))
        own = 2.0 * ratios[number] * np.sqrt(self.k * self.m) if ratios.size else np.zeros(self.k.size)
        stiff = np.divide(own, self.k, out=np.zeros(self.k.size), where=self.k > 0.0) + rayleigh[1]
        self.proportions = stiff, np.full(self.k.size, float(rayleigh[0]))
        self.c = own + rayleigh[0] * self.m + rayleigh[1] * self.k
        self.C = self.vectors.T @ (C @ self.vectors) if C.count_nonzero() else None

    def solve(self, w: float, f: np.ndarray) -> np.ndarray:
        """Return q (n,) complex at w [rad/s] under forces f (n,) complex, combinations of B.

        Raises:
            SingularShift: an undamped mode is excited at its frequency.
        """
        return self.vectors @ self.amplitudes(w, f, np.zeros_like(f))[0]

    def amplitudes(self, w: float, f: np.ndarray, carried: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates y (r + s,) complex of the vectors as `solve`, and those that ratios and Rayleigh
        damping see: y less the static displacements of the forces ``carried`` (n,), those of what is prescribed."""
        at_rest = (self.vectors.T @ carried) / np.where(self.k > 0.0, self.k, np.inf)
        y = self._coordinates(w, self.vectors.T @ f + 1j * w * self.c * at_rest)
        return y, y - at_rest

    def _coordinates(self, w: float, g: np.ndarray) -> np.ndarray:
        a = self.k * (1.0 + 1j * self.structural) + 1j * w * self.c - w * w * self.m
        zero = np.abs(a) <= _RESONANT * (self.k + w * w * self.m)
        if self.C is not None:
            with one_blas_thread():
                return np.asarray(scipy.linalg.solve(np.diag(a) + 1j * w * self.C, g))
        if (zero & (np.abs(g) > _RESONANT * np.abs(g).max(initial=0.0))).any():
            raise SingularShift("An undamped mode is excited at its frequency")
        return np.where(zero, 0.0, g / np.where(zero, 1.0, a))


def _residual_vectors(
    K, M, B: np.ndarray, vectors: np.ndarray, shift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return residual vectors (n, s) of the forces B (n, k), their stiffnesses (s,) and masses (s,), which may be zero.

    They are the static displacements of the forces beyond the modes (n, r), then those of the inertia forces of these
    shapes, and so on, orthogonal to the modes and to each other by K and M.
    """
    none = np.zeros((K.shape[0], 0)), np.zeros(0), np.zeros(0)
    B = B[:, np.any(B != 0.0, axis=0)]
    left = B - M @ (vectors @ (vectors.T @ B))  # the share that excites no mode
    size, rest = np.linalg.norm(B, axis=0), np.linalg.norm(left, axis=0)
    left = left[:, rest > 1e-10 * size]
    if not left.shape[1]:
        return none
    try:
        factors = factor(pencil_of(K, M) if shift else K, kind="positive", shift=shift)
    except NotPositiveDefinite:
        raise AnalysisError("the state is unstable, or moves freely without mass; lower the loads or hold it") from None
    A, blocks = K - shift * M, []
    for _ in range(_BLOCKS):
        R = factors.solve(np.ascontiguousarray(left)).reshape(K.shape[0], -1)
        for _ in range(_REFINEMENTS):
            R = R + factors.solve(np.ascontiguousarray(left - A @ R)).reshape(R.shape)
            R = R - vectors @ (vectors.T @ (M @ R))
        work = np.sqrt(np.maximum(np.einsum("ik,ik->k", R, A @ R), 0.0))
        if not work.any():
            break
        blocks.append(R[:, work > 0.0] / work[work > 0.0])
        left = M @ blocks[-1]  # inertia forces of the last ones
    if not blocks:
        return none
    R = np.hstack(blocks)
    value, turn = np.linalg.eigh(R.T @ (A @ R))
    keep = value > _DEPENDENT * max(value.max(initial=0.0), 1e-300)
    R = R @ (turn[:, keep] / np.sqrt(value[keep]))
    mass, turn = np.linalg.eigh(R.T @ (M @ R))
    mass = np.maximum(mass, 0.0)
    return R @ turn, 1.0 + shift * mass, mass
