"""The linear problem over the whole window: changes of efforts that change the outputs in a given way.

At the steps n = 0 ... N increments q[n], multipliers y[n] and efforts u[n] obey

    M[n] a[n] + C[n] v[n] + K[n] q[n] + G[n]^T y[n] = B[n] u[n] - r[n],      G q[n] = -gaps,      Y q[n] = e[n],
    W a[n] = (q[n+1] - 2 q[n] + q[n-1])/h^2,    W v[n] = (q[n+1] - q[n-1])/(2 h),

where W x[n] = w x[n-1] + (1 - 2 w) x[n] + w x[n+1].  The rows L[n]^T (`zeros`) eliminate y and u.  The remaining
equations f[n] = 0 are solved as W f = 0, which contains no rates:

    L[n]^T (M[n] (q[n+1] - 2 q[n] + q[n-1])/h^2 + C[n] (q[n+1] - q[n-1])/(2 h)) + W (L^T K q)[n] = -W (L^T r)[n].

W (L^T K q)[n] uses the K and L of each step.  With K[n] for both neighbours as well, a stiff part that turns by the
angle d from step to step would resist its rotation with EA d^2/L, and Newton's method would diverge.  M[n] and C[n]
stand outside of W; the error of this is of order h^2.  The basis L[n] is rotated within its span so that it changes as
little as possible from step to step.

This is one banded system of all steps: at the start all motions but those that grow are at rest, at the end none is
left that would grow.  It gives the bounded solution, which Ledesma & Bayo (1993), eqs 26 to 28, find in the frequency
domain for constant coefficients.  It is non-causal where the zero dynamics are unstable, and the causal one where they
are not (Devasia, Chen & Paden 1996, doi:10.1109/9.508898, call it stable inversion).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve_banded

from fem_mbs.analysis.paths.zeros import WEIGHT, Projected, bounded
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.late import dataclass

__all__ = ["Rows", "Window", "averaged", "check_size"]

_MEMORY = 2.0**31  # bytes of the banded matrix


def check_size(unknowns: int, steps: int, owner: Owner) -> None:
    """Refuse a window whose equations need too much memory.

    Raises:
        ModelError: naming their number.
    """
    if 8.0 * unknowns * 8.0 * unknowns * steps > _MEMORY:
        raise ModelError(
            f"{unknowns} motions besides the path in {steps} steps make too large a system for the whole window",
            owner=owner, remedy="reduce flexible parts to a few modes, take fewer elements or a larger h",
        )  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """The equations at s states, multiplied by L^T (which eliminates efforts and multipliers) and by U (which gives the
    efforts).

    Attributes:
        T, P, L, U, B: as in `Projected`, with a first index of the state.
        M, C, K: (s, k + p, n) products [L^T; U] M, [L^T; U] C, [L^T; U] K.
    """

    T: np.ndarray
    P: np.ndarray
    L: np.ndarray
    U: np.ndarray
    B: np.ndarray
    M: np.ndarray
    C: np.ndarray
    K: np.ndarray

    @classmethod
    def of(cls, at: Projected) -> Rows:
        """Return the rows of s states from their matrices and bases."""
        both = np.concatenate((at.L.swapaxes(1, 2), at.U), axis=1)
        return cls(at.T, at.P, at.L, at.U, at.B, *(both @ A for A in (at.M, at.C, at.K)))

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all states in one object; the bases L are rotated within their spans so that they change
        as little as possible from one state to the next."""
        all_ = cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))
        k = all_.L.shape[2]
        if not k:
            return all_
        W, _, V = np.linalg.svd(all_.L[1:].swapaxes(1, 2) @ all_.L[:-1])
        turns = np.concatenate((np.eye(k)[None], W @ V))
        for n in range(1, len(turns)):
            turns[n] = turns[n] @ turns[n - 1]
        rows = [A.copy() for A in (all_.M, all_.C, all_.K)]
        for A in rows:
            A[:, :k] = turns.swapaxes(1, 2) @ A[:, :k]
        return cls(all_.T, all_.P, all_.L @ turns, all_.U, all_.B, *rows)


class Window:
    """The equations of a window of N steps of h [s], about the states of a motion.

    Args:
        at: equations at the N + 1 ends of steps.
        rests: matrices at the equilibria before and after the window.
    """

    def __init__(self, at: Rows, rests: tuple[Projected, Projected], h: float, owner: Owner) -> None:
        self.at, self.h, self.owner = at, h, owner
        n, k = len(at.T) - 1, at.T.shape[2]
        self.start, _ = bounded(rests[0], h, n)
        _, self.end = bounded(rests[1], h, n, 2 * k - len(self.start))
        self.rests = rests
        first = len(self.start)
        self.bands = first + k - 1, 3 * k - 1 - first

    def solve(self, particular: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return increments q (N + 1, n) of the motion, and changes W u (N + 1, p) of the efforts.

        Args:
            particular: (N + 1, n) increments with the wanted changes of outputs and gaps.
            residual: (N + 1, n) forces out of balance.

        Raises:
            AnalysisError: the equations are singular.
        """
        at, k = self.at, self.at.T.shape[2]
        z = self._banded(particular, residual) if k else np.zeros((len(at.T), 0))
        q = particular + _times(at.T, z)
        u = np.empty((len(q), at.B.shape[2]))
        u[1:-1] = averaged(_times(at.U, residual), WEIGHT)[1:-1]
        for step, block in enumerate(self._blocks(slice(k, None))):
            u[1:-1] += _times(block, _shifted(q, step))
        u[0], u[-1] = 2.0 * u[1] - u[2], 2.0 * u[-2] - u[-3]
        return q, u

    def _blocks(self, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the matrices (N - 1, k, n) of q[n-1], q[n] and q[n+1] in the equations of the inner ends of steps, for
        the chosen ``rows`` of `Rows`."""
        m, c = self.at.M[1:-1, rows] / self.h**2, self.at.C[1:-1, rows] / (2.0 * self.h)
        K = WEIGHT * self.at.K[:, rows]
        return m - c + K[:-2], (1.0 / WEIGHT - 2.0) * K[1:-1] - 2.0 * m, m + c + K[2:]

    def _banded(self, particular: np.ndarray, residual: np.ndarray) -> np.ndarray:
        at, n, k, (low, up) = self.at, len(particular) - 1, self.at.T.shape[2], self.bands
        matrix, right = np.zeros((low + up + 1, (n + 1) * k)), np.zeros((n + 1) * k)
        # the conditions at both ends are about the bases of the equilibria there
        rests = np.zeros_like(particular[0]), self._rest(particular[-1])
        for rows, row, two, basis, rest in (
            (self.start, 0, (0, 1), self.rests[0].T, rests[0]),
            (self.end, (n + 1) * k - len(self.end), (n - 1, n), self.rests[1].T, rests[1]),
        ):
            for half, step in enumerate(two):
                part = rows[:, half * k : (half + 1) * k] @ basis.T
                i, j = np.indices((len(rows), k))
                matrix[up + row + i - step * k - j, step * k + j] = part @ at.T[step]
                right[row : row + len(rows)] += part @ (rest - particular[step])
        first = len(self.start)
        inner = -averaged(_times(at.L.swapaxes(1, 2), residual), WEIGHT)[1:-1]
        i, j = np.indices((k, k))
        columns = k * np.arange(n - 1)[:, None, None] + j
        for step, block in enumerate(self._blocks(slice(0, k))):
            matrix[up + first + i - step * k - j, columns + step * k] = block @ _shifted(at.T, step)
            inner -= _times(block, _shifted(particular, step))
        right[first : first + inner.size] = inner.ravel()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", LinAlgWarning)
                z = solve_banded((low, up), matrix, right, overwrite_ab=True, check_finite=False)
        except (LinAlgError, LinAlgWarning, ValueError):
            z = np.full(right.size, np.nan)
        if not np.isfinite(z).all():
            raise AnalysisError(
                f"{self.owner}: the equations of the window are singular: no bounded efforts move the outputs along "
                "the path"
            )
        return z.reshape(n + 1, k)

    def _rest(self, particular: np.ndarray) -> np.ndarray:
        """Return increments (n,) at rest with the outputs of others (n,), at the end."""
        T = self.at.T[-1]
        K = self.at.K[-1, : T.shape[1]]
        return particular - T @ np.linalg.lstsq(K @ T, K @ particular, rcond=1e-10)[0]


def averaged(a: np.ndarray, w: float) -> np.ndarray:
    """Return w a[n-1] + (1 - 2 w) a[n] + w a[n+1] (n + 1, ...); before and after the window a has its first and last
    value."""
    wide = np.concatenate((a[:1], a, a[-1:]))
    return a + w * (wide[2:] - 2.0 * a + wide[:-2])


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return products (s, m) of matrices (s, m, n) and vectors (s, n)."""
    return np.einsum("smn,sn->sm", A, x)


def _shifted(a: np.ndarray, step: int) -> np.ndarray:
    """Return the entries a[n-1] (step 0), a[n] (step 1) or a[n+1] (step 2) for all inner n, (N - 1, ...)."""
    return a[step : len(a) - 2 + step]
