"""Parts of the kernels that shells of all cells and membranes share, over their strains p (m,) and matrix S (m, m)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from fem_mbs.contract import DISSIPATED, LOAD_WORK, STRAIN, T0, T1, inner
from fem_mbs.elements.common import time_value
from fem_mbs.elements.kinematics import cayley_tangent

__all__ = [
    "angle_of_trace",
    "prestress_of",
    "stresses",
    "trace_between",
    "turn_columns",
    "write_forces",
    "write_ledger",
]


@inner
def trace_between(D, a, b):
    """Return the trace of the rotation between the rows a and b of the directors D (2, nr, 9) at the end of the
    step."""
    trace = 0.0
    for i in range(9):
        trace += D[1, a, i] * D[1, b, i]
    return trace


@inner
def angle_of_trace(trace):
    """Return the angle [rad] of a rotation with a trace."""
    return math.acos(max(min(0.5 * (trace - 1.0), 1.0), -1.0))


@inner
def stresses(par, e, initial, S, p, sigma):
    """sigma (m,) = initial stresses, from the column ``initial`` on, and S p."""
    for i in range(p.shape[0]):
        sigma[i] = par[e, initial + i]
        for j in range(p.shape[0]):
            sigma[i] += S[i, j] * p[j]


@inner
def write_forces(par, e, first, count, p, f):
    """f (count,) = forces by the strains p, with the coefficients from the column ``first`` on."""
    for i in range(count):
        f[i] = 0.0
        for k in range(p.shape[0]):
            f[i] += par[e, first + p.shape[0] * i + k] * p[k]


@inner
def write_ledger(par, e, initial, function, thermal, fun, S, p0, p1, beta, h, f):
    """Write the strain energy at the end, the work of heating and the loss over the step to the ledger f.

    p0, p1 (m,) are the strains at both states; ``initial``, ``function`` and ``thermal`` the columns of the initial
    stresses, of the function of the temperatures and of their strains.
    """
    end = time_value(fun, par[e, function], T1, 1.0)
    change = end - time_value(fun, par[e, function], T0, 1.0)
    energy = loss = work = 0.0
    for i in range(p1.shape[0]):
        elastic = rate = mean = 0.0
        for j in range(p1.shape[0]):
            T = par[e, thermal + j]
            elastic += S[i, j] * (p1[j] - end * T)
            rate += S[i, j] * (p1[j] - p0[j])
            mean += S[i, j] * (0.5 * (p0[j] + p1[j]) - (end - 0.5 * change) * T)
        T = par[e, thermal + i]
        energy += par[e, initial + i] * p1[i] + 0.5 * (p1[i] - end * T) * elastic
        loss += (p1[i] - p0[i]) * rate
        work -= mean * change * T
    f[STRAIN] = energy
    f[LOAD_WORK] = work
    if beta != 0.0 and h > 0.0:
        f[DISSIPATED] = beta / h * loss


@inner
def turn_columns(U, dof, e, n, scale, T, K):
    """K (6 n, 6 n) by positions and spins of n nodes becomes that by positions and rotation increments, times a scale;
    T (3, 3) is work."""
    for a in range(n):
        o = 6 * a + 3
        cayley_tangent(U[dof[e, o]], U[dof[e, o + 1]], U[dof[e, o + 2]], T)
        for i in range(6 * n):
            x, y, z = K[i, o], K[i, o + 1], K[i, o + 2]
            for j in range(3):
                K[i, o + j] = x * T[0, j] + y * T[1, j] + z * T[2, j]
    for i in range(6 * n):
        for j in range(6 * n):
            K[i, j] *= scale


class _Columns(Protocol):
    """Columns of a parameter table that `prestress_of` uses."""

    count: int
    stress: int
    strains: int


def prestress_of(layouts: Sequence[_Columns]) -> Callable[[np.ndarray, np.ndarray, float], np.ndarray]:
    """Return the function that adds ``factor`` times the stresses (e, m) of the job STRESSES to the initial ones of
    parameter rows, which have one of the layouts."""

    def prestress(par: np.ndarray, stresses: np.ndarray, factor: float) -> np.ndarray:
        c = next(c for c in layouts if c.count == par.shape[1])
        par = par.copy()
        par[:, c.stress : c.stress + c.strains] += factor * stresses
        return par

    return prestress
