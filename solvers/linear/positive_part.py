"""Solutions with N = H + S, H symmetric and positive definite, S skew, by the factors of H alone.

    (H + S) x = b,      (H - S) x = b  for the transpose,      T = H^-1 S

H has CHOLMOD's supernodal L L^T, the fast one; N has factors by SuperLU only, too many and too slow for large parts.
T is skew in the inner product of H, and in small motions of parts its eigenvalues +-i mu fall off quickly: a
few come from bearings (circulatory forces at some nodes), those of gyroscopic forces go with the inverse squares of
frequencies.  So corrections by H alone converge slowly because of a few vectors only.  Those are found once, by a block
Krylov method from random vectors, V = span(T X, T^2 X, T^3 X) (Musco & Musco 2015, Randomized block Krylov methods,
NIPS 28), orthonormal in the inner product of H, and every correction is of two levels (deflation; Nicolaides 1987,
SIAM J. Numer. Anal. 24, 355-365):

    x += V (V^T N V)^-1 V^T r,      then      x += H^-1 r,      r = b - N x.

V^T N V is the identity and a skew matrix, so it is as well conditioned as can be; its transpose serves N^T.  What is
left contracts by the largest mu outside of V: four to five digits per application of the factors for shafts of solids.
Columns are worked on together, for the factors are read from memory once for all of them: of 2e5 unknowns, one column
takes .15 s, 32 take .8 s.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs.solvers.linear.factors import Pencil, PositiveFactors
from fem_mbs.solvers.linear.krylov import flexible_gmres

__all__ = ["ROUND_OFF", "PositivePart"]

#: Backward error of a solution that is rounding.
ROUND_OFF = 1e-15
#: Corrections of a solution, the contraction from which on GMRES takes over, what one of its cycles aims at, and its
#: largest number of steps.
_CORRECTIONS, _SLOW, _CYCLE, _KRYLOV = 12, 0.05, 1e-8, 80
#: Columns worked on at a time; vectors per power of T and powers of which V is made.
_COLUMNS, _BLOCK, _POWERS = 32, 16, 3
#: Part of the largest of some vectors of unit size (squared) that is none; of a vector that is nothing outside of V; of
#: the matrix that is no skew part.
_DEPENDENT, _INSIDE, _SKEW = 1e-12, 1e-9, 1e-15
_SEED = 3


class PositivePart:
    """Solutions with a real matrix (n, n) whose symmetric part is positive definite.

    ``applications`` counts those of the factors, to one column each; ``corrections`` those beyond one per solution.

    Raises:
        LinearSolveError: the symmetric part is not positive definite.
    """

    def __init__(self, N: csc_matrix):
        self.N = csc_matrix(N)
        self.NT = self.N.T  # its rows: nothing is copied
        self.applications = self.corrections = 0
        self.error = 0.0
        pencil = Pencil(0.5 * (self.N + self.NT))
        self.factors = PositiveFactors(pencil)
        pencil.release()
        self.size = float(abs(self.N).sum(axis=1).max())

    def solve(self, b: np.ndarray, transposed: bool, aim: float = ROUND_OFF) -> np.ndarray:
        """Return x (n, k) of N x = b (n, k), or of N^T x = b, with backward errors of about ``aim``.

        ``error`` is the largest of them, more than ``aim`` where corrections do not converge."""
        x = np.empty_like(b)
        before, self.error = self.applications, 0.0
        for first in range(0, b.shape[1], _COLUMNS):
            some = slice(first, first + _COLUMNS)
            x[:, some] = self._solve(b[:, some], transposed, aim)
        self.corrections += self.applications - before - b.shape[1]
        return x

    def _solve(self, b: np.ndarray, transposed: bool, aim: float) -> np.ndarray:
        N = self.NT if transposed else self.N
        x, r, some = np.zeros_like(b), b, np.arange(b.shape[1])
        size = np.abs(b).max(axis=0)
        for _ in range(_CORRECTIONS):
            before = np.abs(r).max(axis=0)
            new = x[:, some] + self._both_levels(r, transposed)
            after = b[:, some] - N @ new
            left = np.abs(after).max(axis=0)
            scale = self.size * np.abs(new).max(axis=0) + size[some]
            floor = aim * scale
            for i in np.flatnonzero(left > np.maximum(_SLOW * before, floor)):
                new[:, i] = x[:, some[i]] + self._krylov(r[:, i], transposed)
                after[:, i] = b[:, some[i]] - N @ new[:, i]
                left[i] = np.abs(after[:, i]).max()
            better = left < before
            x[:, some[better]] = new[:, better]
            going = (left > floor) & (left <= 0.5 * before)  # neither there, nor at what rounding leaves
            part = np.where(better, left, before) / np.maximum(scale, 1e-300)
            self.error = max(self.error, float(part[~going].max(initial=0.0)))
            some, r = some[going], after[:, going]
            if some.size == 0:
                return x
        self.error = max(self.error, float(part[going].max()))
        return x

    def nearly(self, b: np.ndarray) -> np.ndarray:
        """Return H^-1 b (n, k)."""
        x = np.empty_like(b)
        for first in range(0, b.shape[1], _COLUMNS):
            some = slice(first, first + _COLUMNS)
            x[:, some] = self._apply(b[:, some])
        return x

    def _apply(self, r: np.ndarray) -> np.ndarray:
        self.applications += 1 if r.ndim == 1 else r.shape[1]
        return self.factors.solve(r if r.ndim == 1 else np.asfortranarray(r))

    def _both_levels(self, r: np.ndarray, transposed: bool) -> np.ndarray:
        """Return V (V^T N V)^-1 V^T r, and H^-1 of the remaining residual, (n,) or (n, k)."""
        V, inverse = self._space
        if V.shape[1] == 0:
            return self._apply(r)
        step = V @ ((inverse.T if transposed else inverse) @ (V.T @ r))
        return step + self._apply(r - (self.NT if transposed else self.N) @ step)

    def _krylov(self, r: np.ndarray, transposed: bool) -> np.ndarray:
        """Return a correction (n,) by flexible GMRES."""
        N = self.NT if transposed else self.N
        both = lambda v: self._both_levels(v, transposed)  # noqa: E731
        return flexible_gmres(lambda v: N @ v, both, r, min(_KRYLOV, r.size), _CYCLE, hopeless=False)[0]

    @cached_property
    def _space(self) -> tuple[np.ndarray, np.ndarray]:
        """Return V (n, j) and the inverse (j, j) of V^T N V; the first solution computes them, symmetric matrices
        need none.

        Forces H X come along with the vectors X, which are solutions for them: none are products with H.
        """
        n, S = self.N.shape[0], self._skew()
        V, HV = np.zeros((n, 0)), np.zeros((n, 0))
        if S.nnz == 0:
            return V, np.zeros((0, 0))
        X = np.random.default_rng(_SEED).standard_normal((n, min(_BLOCK, n)))
        for _ in range(_POWERS):
            HX = S @ X
            X = self._apply(HX)
            whole = _sizes(X, HX)
            for _ in range(2):  # the second time for what rounding has left
                part = V.T @ HX
                X, HX = X - V @ part, HX - HV @ part
            some = _sizes(X, HX) > _INSIDE * whole
            X, HX = X[:, some], HX[:, some]
            if X.shape[1] == 0:
                break  # few forces are skew: V holds all
            for _ in range(2):
                X, HX = _orthonormal(X, HX)
            V, HV = np.hstack((V, X)), np.hstack((HV, HX))
        return V, np.linalg.inv(V.T @ (self.N @ V))

    def _skew(self) -> csr_matrix:
        """Return the skew part S (n, n), without what is rounding; often few entries."""
        S = csr_matrix(self.N - self.NT)
        S.data[np.abs(S.data) <= _SKEW * self.size] = 0.0
        S.eliminate_zeros()
        return 0.5 * S


def _sizes(X: np.ndarray, HX: np.ndarray) -> np.ndarray:
    """Return the lengths (k,) of X (n, k) in the inner product of H."""
    return np.sqrt(np.maximum(np.einsum("ik,ik->k", X, HX), 0.0))


def _orthonormal(X: np.ndarray, HX: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a basis (n, j) of the span of X (n, k), orthonormal in the inner product of H, without dependent vectors,
    and H times it."""
    size = _sizes(X, HX)
    some = size > 0.0
    X, HX = X[:, some] / size[some], HX[:, some] / size[some]
    product = X.T @ HX
    values, vectors = np.linalg.eigh(0.5 * (product + product.T))
    keep = values > _DEPENDENT * values.max(initial=0.0)
    turn = vectors[:, keep] / np.sqrt(values[keep])
    return X @ turn, HX @ turn
