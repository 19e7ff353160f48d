"""Broyden's update of the inverse of a Jacobian, from the increments of an iteration alone (Kelley 1995, section 7.3).

An iteration with factors of a matrix near the Jacobian contracts linearly.  What each increment leaves tells about the
difference of both along that increment; the update takes it into account, for the price of some scalar products.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Broyden"]


class Broyden:
    """Increments of one sequence of Newton's iteration with a fixed approximate inverse."""

    def __init__(self) -> None:
        self._steps: list[np.ndarray] = []
        self._squares: list[float] = []

    def restart(self) -> None:
        """Forget the increments: a new sequence begins."""
        self._steps.clear()
        self._squares.clear()

    def step(self, z: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the next increment (n,) from z (n,), that of the fixed inverse, for the sequence that is at the last
        one.

        Args:
            scale: (n,) sizes of the unknowns, by which increments are measured.
        """
        z = z / scale
        for k in range(len(self._steps)):
            part = float(self._steps[k] @ z) / self._squares[k]
            if k + 1 < len(self._steps):
                z = z + part * self._steps[k + 1]
            elif abs(part) < 0.5:  # a larger one: the last increment has been of no use, and tells nothing
                z = z / (1.0 - part)
            else:
                self.restart()
                break
        square = float(z @ z)
        if square > 0.0 and np.isfinite(square):
            self._steps.append(z)
            self._squares.append(square)
        return z * scale
