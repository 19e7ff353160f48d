"""Collocation at Chebyshev points, by which validation files solve boundary-value problems of beams."""

from __future__ import annotations

import numpy as np

__all__ = ["differentiation"]


def differentiation(n: int, length: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the n + 1 Chebyshev points x of 0 to ``length``, from the end to the start, and the matrix (n + 1, n + 1)
    that takes values there to derivatives there (L.N. Trefethen, "Spectral methods in Matlab", SIAM 2000, chapter 6).
    """
    k = np.arange(n + 1)
    points = np.cos(np.pi * k / n)
    weights = np.where((k == 0) | (k == n), 2.0, 1.0) * (-1.0) ** k
    d = weights[:, None] / weights / (points[:, None] - points + np.eye(n + 1))
    np.fill_diagonal(d, 0.0)
    d -= np.diag(d.sum(axis=1))
    return 0.5 * length * (points + 1.0), 2.0 / length * d
