"""Flexible GMRES (Saad 1993, doi:10.1137/0914028), for corrections of solutions by approximate factors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["flexible_gmres"]

#: Steps before the contraction is judged.
_FIRST = 5


def flexible_gmres(
    multiply: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    r: np.ndarray,
    steps: int,
    reduction: float,
    hopeless: bool = True,
) -> tuple[np.ndarray, int, bool]:
    """Solve A d = r, preconditioned from the right, by one cycle without restarts.

    Args:
        multiply: A v (n,) of a vector v (n,).
        precondition: an approximate solution z (n,) of A z = v; it may change from step to step.
        r: right side (n,), not zero.
        steps: largest number of steps; so many vectors are kept twice.
        reduction: of the norm of the residual that is wanted.
        hopeless: stop early when the residual shrinks too slowly to arrive within ``steps``.

    Returns:
        d (n,), the number of steps, and whether the residual arrived at ``reduction``.
    """
    beta = float(np.linalg.norm(r))
    V, Z = np.empty((steps + 1, r.size)), []
    V[0] = r / beta
    H = np.zeros((steps + 1, steps))
    cs, sn, g = np.zeros(steps), np.zeros(steps), np.zeros(steps + 1)
    g[0] = beta
    k, arrived = 0, False
    while k < steps:
        Z.append(precondition(V[k]))
        w = multiply(Z[k])
        for _ in range(2):  # Gram and Schmidt's classical scheme, twice is enough (Giraud et al. 2005)
            along = V[: k + 1] @ w
            w -= along @ V[: k + 1]
            H[: k + 1, k] += along
        H[k + 1, k] = np.linalg.norm(w)
        if H[k + 1, k] > 0.0:
            V[k + 1] = w / H[k + 1, k]
        for i in range(k):  # the earlier Givens rotations, then a new one
            H[i, k], H[i + 1, k] = cs[i] * H[i, k] + sn[i] * H[i + 1, k], cs[i] * H[i + 1, k] - sn[i] * H[i, k]
        length = float(np.hypot(H[k, k], H[k + 1, k]))
        if not length > 0.0:
            break  # breakdown: the preconditioner is of no use here
        cs[k], sn[k] = H[k, k] / length, H[k + 1, k] / length
        exact = H[k + 1, k] == 0.0
        H[k, k] = length
        g[k], g[k + 1] = cs[k] * g[k], -sn[k] * g[k]
        k += 1
        arrived = exact or abs(g[k]) <= reduction * beta
        if arrived or (hopeless and k >= _FIRST and abs(g[k]) > beta * reduction ** (k / steps)):
            break
    d = np.zeros_like(r)
    if k == 0:
        return d, 1, False
    y = np.linalg.solve(np.triu(H[:k, :k]), g[:k])
    for i in range(k):
        d += y[i] * Z[i]
    return d, k, arrived
