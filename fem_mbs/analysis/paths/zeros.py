"""Zero dynamics: the motions that a model can make while the outputs of a path stand still.

About a state, increments q of the unknowns, multipliers y and efforts u obey

    M q'' + C q' + K q + G^T y = B u,   G q = 0,   Y q = e.

With T, a basis of the null space of [G; Y], and L, one of [G, B^T]^T (L^T B = 0), the rest is

    L^T M T z'' + L^T C T z' + L^T K T z = -L^T (M p'' + C p' + K p),   q = T z + p,   Y p = e.

L is not T, so that these matrices are unsymmetric: for a link whose tip is given they are m - N^T J and k of Ledesma &
Bayo (1993), eqs 23 and 24.  The eigenvalues s are the zeros of the transfer functions from the efforts to the outputs.
Those with a positive real part make the causal solution grow without bound; the bounded one begins before the path.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from scipy.linalg import eig, ordqz

from fem_mbs.late import dataclass

__all__ = ["Projected", "WEIGHT", "bounded", "decay_time", "null_space", "oscillation", "project", "zeros_of"]

#: Weight of the neighbours in K (w q[n-1] + (1 - 2 w) q[n] + w q[n+1]).  With less than a fourth, zeros at infinity
#: have one root inside of the unit circle and one outside, and changes of efforts do not ring from step to step.
WEIGHT = 0.22
_FADED, _FADED_SERIES = np.log(1e8), np.log(1e5)  # decay that counts as faded: of one zero, of many in series
_RANK = 1e-10  # singular values over the largest
_INFINITE = 1e-9  # 1/s of zeros at infinity, over the largest finite one


@dataclass(frozen=True)
class Projected:
    """Matrices of small motions about states, and their bases; arrays of many states have a first index (s, ...).

    Attributes:
        M, C, K: (n, n).
        G: (m, n) constraints, columns: (n, m) forces of their multipliers.
        B: (n, p) forces of the efforts, Y: (p, n) derivatives of the outputs.
        T: (n, k) motions that leave the outputs, L: (n, k) rows without efforts and multipliers.
        P: (n, m + p) motions of least norm per unit of each constraint and output.
        U: (p, n) efforts per unbalanced force.
    """

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    G: np.ndarray
    columns: np.ndarray
    B: np.ndarray
    Y: np.ndarray
    T: np.ndarray
    L: np.ndarray
    P: np.ndarray
    U: np.ndarray

    def __getitem__(self, number: int) -> Projected:
        """Return the matrices of one of many states."""
        return Projected(*(getattr(self, f.name)[number] for f in fields(self)))

    def steps(self, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the matrices (n, n) of q[n-1], q[n] and q[n+1] in the equations of steps of h [s]."""
        m, c, w = self.M / h**2, self.C / (2.0 * h), WEIGHT * self.K
        return m - c + w, self.K - 2.0 * (w + m), m + c + w


def _divided(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return orthonormal bases (s, n, k) of the null spaces of A (s, m, n), pseudo-inverses (s, n, m), and ranks (s,).

    All bases have the same k = n - smallest rank.
    """
    s, m, n = A.shape
    if not m:
        return np.broadcast_to(np.eye(n), (s, n, n)), np.zeros((s, n, 0)), np.zeros(s, int)
    size = np.linalg.norm(A, axis=2)
    size = np.where(size > 0.0, size, 1.0)
    W, values, V = np.linalg.svd(A / size[:, :, None])
    ranks = np.count_nonzero(values > _RANK * values.max(axis=1, initial=0.0)[:, None], axis=1)
    rank = int(ranks.min(initial=min(m, n)))
    rows = W[:, :, :rank].swapaxes(1, 2) / size[:, None, :] / values[:, :rank, None]
    return V[:, rank:].swapaxes(1, 2), V[:, :rank].swapaxes(1, 2) @ rows, ranks


def null_space(A: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an orthonormal basis (n, k) of the null space of A (m, n), and the rank of A."""
    basis, _, rank = _divided(A[None])
    return basis[0], int(rank[0])


def project(
    M: np.ndarray, C: np.ndarray, K: np.ndarray, G: np.ndarray, columns: np.ndarray, B: np.ndarray, Y: np.ndarray
) -> tuple[Projected, np.ndarray]:
    """Return the matrices of s states with their bases, and the numbers of the singular states.

    A state is singular if an effort or an output depends linearly on others or on the constraints, or if the size of
    its bases differs from that of the first state.  The bases are valid only if no state is singular.
    """
    p, m = B.shape[2], G.shape[1]
    across = columns.swapaxes(1, 2)
    T, P, motions = _divided(np.concatenate((G, Y), axis=1))
    L, U, forces = _divided(np.concatenate((across, B.swapaxes(1, 2)), axis=1))
    bad = (motions - _ranks(G) < p) | (forces - _ranks(across) < p) | (motions != motions[0]) | (forces != forces[0])
    return Projected(M, C, K, G, columns, B, Y, T, L, P, U.swapaxes(1, 2)[:, m:]), np.flatnonzero(bad)


def _ranks(A: np.ndarray) -> np.ndarray:
    """Return the ranks (s,) of A (s, m, n)."""
    return _divided(A)[2]


def zeros_of(at: Projected) -> tuple[np.ndarray, int]:
    """Return the finite zeros s [1/s] (k,), and how many are at infinity beyond those of outputs that feel the
    efforts in their accelerations."""
    M, C, K = (at.L.T @ A @ at.T for A in (at.M, at.C, at.K))
    k = len(M)
    if not k:
        return np.zeros(0, complex), 0
    # in units of time in which stiffness and masses are of one size
    size = np.sqrt(np.linalg.norm(K) / np.linalg.norm(M)) if np.linalg.norm(M) > 0.0 and np.any(K) else 1.0
    one, none = np.eye(k), np.zeros((k, k))
    scale = np.linalg.norm(M) * size**2
    A = np.block([[none, one], [-K / scale, -C * size / scale]])
    E = np.block([[one, none], [none, M * size**2 / scale]])
    alpha, beta = eig(A, E, right=False, homogeneous_eigvals=True)
    far = np.abs(beta) <= _INFINITE * np.abs(alpha)
    return size * alpha[~far] / beta[~far], int(np.count_nonzero(far))


def oscillation(weight: float) -> float:
    """Return the factor per step by which what alternates from step to step decays in w x[n-1] + (1 - 2 w) x[n] + w
    x[n+1] = 0, w below 1/4."""
    return (1.0 - 2.0 * weight - np.sqrt(1.0 - 4.0 * weight)) / (2.0 * weight)


def decay_time(zeros: np.ndarray) -> float:
    """Return the time [s] in which motions with these zeros (k,) [1/s], growing or decaying, fade.

    One zero takes ln(1e8) over its real part.  Several real zeros of similar size act like first-order lags in series:
    a string of n elements has n of them.  The tail of their response is below exp(-a t)/prod(1 - a/rate) for every a
    below the smallest rate (Chernoff's bound); the time is that at which this bound is 1e-5.
    """
    rates = np.abs(zeros.real)
    single = _FADED / float(rates.min())
    rates = rates[np.abs(zeros.imag) < rates]
    if rates.size < 2:
        return single
    a = rates.min() * np.linspace(0.02, 0.98, 97)
    series = (_FADED_SERIES - np.log1p(-np.multiply.outer(a, 1.0 / rates)).sum(axis=1)) / a
    return max(single, float(series.min()))


def bounded(at: Projected, h: float, length: int, grow: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return conditions by which motions before and after a window stay bounded in steps of h [s].

    Motions outside of the window are those of constant coefficients, those of ``at``.

    Args:
        length: number of steps in the window; growth by less than a tenth in it is none.
        grow: number of motions that grow; None: as many as there are.

    Returns:
        rows (2 k - grow, 2 k) with rows @ (z[0], z[1]) = 0: what grows is all that there may be at the start; and rows
        (grow, 2 k) of the end, (z[N-1], z[N]): nothing grows any more.
    """
    before, here, after = (at.L.T @ A @ at.T for A in at.steps(h))
    k = len(here)
    if not k:
        return np.zeros((0, 0)), np.zeros((0, 0))
    one, none = np.eye(k), np.zeros((k, k))
    scale = max(np.linalg.norm(here), np.linalg.norm(after), 1e-300)
    F = np.block([[none, one], [-before / scale, -here / scale]])
    E = np.block([[one, none], [none, after / scale]])
    alpha, beta = eig(F, E, right=False, homogeneous_eigvals=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.sort(np.where(beta == 0.0, np.inf, np.abs(alpha) / np.abs(beta)))[::-1]
    limit = float(np.exp(0.1 / length))
    if grow is None:
        grow = int(np.count_nonzero(size > limit))
    elif 0 < grow < 2 * k:
        limit = float(np.sqrt(min(size[grow - 1], 1e300) * max(size[grow], 1e-300)))

    def conditions(growing: bool) -> np.ndarray:
        inside = grow if growing else 2 * k - grow
        if inside in (0, 2 * k):
            return np.eye(2 * k)[inside:]

        def first(a, b):
            return (np.abs(a) > limit * np.abs(b)) == growing

        return ordqz(F, E, sort=first, output="real")[-1][:, inside:].T

    return conditions(True), conditions(False)
