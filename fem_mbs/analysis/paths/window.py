"""The linear problem over the whole window: changes of efforts that change the outputs in a given way.

At the steps n = 0 ... N increments q[n], multipliers y[n] and efforts u[n] obey

    M (q[n+1] - 2 q[n] + q[n-1])/h^2 + C (q[n+1] - q[n-1])/(2 h) + K (w q[n+1] + (1 - 2 w) q[n] + w q[n-1])
        + G^T y[n] = B u[n],      G q[n] = 0,      Y q[n] = e[n],

with matrices that change from step to step.  The equations without y and u (`zeros`) are one banded system of all
steps: at the start all motions but those that grow are at rest, at the end none is left that would grow.  This is the
bounded solution, which Ledesma & Bayo (1993), eqs 26 to 28, find in the frequency domain for constant coefficients.
It is non-causal where the zero dynamics are unstable, and the causal one where they are not (Devasia, Chen & Paden
1996, doi:10.1109/9.508898, call it stable inversion).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve_banded

from fem_mbs.analysis.paths.zeros import Projected, bounded
from fem_mbs.errors import AnalysisError, ModelError, Owner

__all__ = ["Window", "check_size"]

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


class Window:
    """The equations of a window of N steps of h [s], about the states of a motion.

    Args:
        at: (N + 1) matrices of the states at the ends of steps.
        rests: those of the equilibria before and after the window.
    """

    def __init__(
        self, at: Sequence[Projected], rests: tuple[Projected, Projected], h: float, owner: Owner
    ) -> None:  # fmt: skip
        self.at, self.h, self.owner = at, h, owner
        n, k = len(at) - 1, at[0].T.shape[1]
        self.start, _ = bounded(rests[0], h, n)
        _, self.end = bounded(rests[1], h, n, 2 * k - len(self.start))
        self.rests = rests
        first = len(self.start)
        self.bands = first + k - 1, 3 * k - 1 - first
        self._last: tuple | None = None

    def solve(self, particular: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return increments q (N + 1, n) of the motion, and changes u (N + 1, p) of the efforts.

        Args:
            particular: (N + 1, n) increments with the wanted changes of outputs and gaps.
            residual: (N + 1, n) forces out of balance.

        Raises:
            AnalysisError: the equations are singular.
        """
        at, n, k = self.at, len(self.at) - 1, self.at[0].T.shape[1]
        z = self._banded(particular, residual) if k else np.zeros((n + 1, 0))
        q = particular + np.array([a.T @ now for a, now in zip(at, z, strict=True)])
        u = np.empty((n + 1, at[0].B.shape[1]))
        for i, a in enumerate(at[1:-1], start=1):
            before, here, after = self._steps(a)
            u[i] = a.U @ (residual[i] + before @ q[i - 1] + here @ q[i] + after @ q[i + 1])
        u[0], u[-1] = 2.0 * u[1] - u[2], 2.0 * u[-2] - u[-3]
        return q, u

    def _steps(self, at: Projected) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the matrices of the steps of a state; neighbours may share them."""
        if self._last is None or self._last[0] is not at:
            self._last = at, at.steps(self.h)
        return self._last[1]

    def _banded(self, particular: np.ndarray, residual: np.ndarray) -> np.ndarray:
        at, n, k, (low, up) = self.at, len(self.at) - 1, self.at[0].T.shape[1], self.bands
        matrix, right = np.zeros((low + up + 1, (n + 1) * k)), np.zeros((n + 1) * k)

        def put(row: int, column: int, block: np.ndarray) -> None:
            i, j = np.indices(block.shape)
            matrix[up + (row + i) - (column + j), column + j] = block

        # the conditions at both ends are about the bases of the equilibria there
        rests = np.zeros_like(particular[0]), self._rest(particular[-1])
        for rows, row, two, basis, rest in (
            (self.start, 0, (0, 1), self.rests[0].T, rests[0]),
            (self.end, (n + 1) * k - len(self.end), (n - 1, n), self.rests[1].T, rests[1]),
        ):
            for half, step in enumerate(two):
                part = rows[:, half * k : (half + 1) * k] @ basis.T
                put(row, step * k, part @ at[step].T)
                right[row : row + len(rows)] += part @ (rest - particular[step])
        first = len(self.start)
        for i, a in enumerate(at[1:-1]):
            row = first + i * k
            right[row : row + k] -= a.L.T @ residual[i + 1]
            for j, part in enumerate(self._steps(a)):
                block = a.L.T @ part
                put(row, (i + j) * k, block @ at[i + j].T)
                right[row : row + k] -= block @ particular[i + j]
        try:
            import warnings

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
        a = self.at[-1]
        K = a.L.T @ a.K
        return particular - a.T @ np.linalg.lstsq(K @ a.T, K @ particular, rcond=1e-10)[0]
