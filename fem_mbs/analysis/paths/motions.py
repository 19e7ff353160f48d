"""Motions of a model as arrays over the ends of time steps: their rates, and states between others."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded
from scipy.spatial.transform import Rotation, RotationSpline

from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["Motion", "interpolated", "midpoint_share", "rates", "spline_through", "unweighted"]


@dataclass(frozen=True)
class Motion:
    """States Q (n + 1, N) and D (n + 1, ...) at the ends of steps, velocities and accelerations V, A (n + 1, N) as
    states keep them."""

    Q: np.ndarray
    D: np.ndarray
    V: np.ndarray
    A: np.ndarray

    def put(self, n: int, state: S.State) -> None:
        """Write the end of step n into a state."""
        state.Q[:], state.D[:], state.V[:2] = self.Q[n], self.D[n], self.V[n]


def _matrices(system: Compiled, D: np.ndarray) -> np.ndarray:
    """Return rotation matrices (..., k, 3, 3) of the nodes with rotations in space."""
    rows = len(system.system.rotations)
    return D[..., :rows, :].reshape(*D.shape[:-2], rows, 3, 3)


def _in_space(system: Compiled) -> bool:
    return system.dimension == 3 and bool(system.system.rotations.size)


def _vectors(R: np.ndarray) -> np.ndarray:
    """Return the rotation vectors (..., 3) of matrices (..., 3, 3)."""
    return Rotation.from_matrix(R.reshape(-1, 3, 3)).as_rotvec().reshape(R.shape[:-1])


def rates(system: Compiled, Q: np.ndarray, D: np.ndarray, h: float, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations (n + 1, N) as states keep them (spins in body axes), by compact differences.

    w a[n-1] + (1 - 2 w) a[n] + w a[n+1] = (q[n+1] - 2 q[n] + q[n-1])/h^2, and in the same way v from central
    differences; at rest at the start, extrapolated to the end.
    """
    V, A = np.zeros_like(Q), np.zeros_like(Q)
    V[1:-1] = (Q[2:] - Q[:-2]) / (2.0 * h)
    A[1:-1] = (Q[2:] - 2.0 * Q[1:-1] + Q[:-2]) / h**2
    if _in_space(system):
        rows, R = system.system.rotations, _matrices(system, D)
        spins = _vectors(R[:-1].swapaxes(-1, -2) @ R[1:]) / h  # the same in the axes of both ends
        V[1:-1, rows], A[1:-1, rows] = 0.5 * (spins[1:] + spins[:-1]), (spins[1:] - spins[:-1]) / h
    V[:, system.first_multiplier :] = A[:, system.first_multiplier :] = 0.0
    return unweighted(V, weight), unweighted(A, weight)


def midpoint_share(rates: np.ndarray, weight: float) -> np.ndarray:
    """Return a correction (n + 1, ...) of rates by compact differences with the weight w (`rates`).

    Rates plus correction are those of the mid-point rule, whose weight is 1/4, up to terms of second order in w - 1/4.
    The weight 1/4 itself cannot be used: it leaves oscillations from step to step undetermined.
    """
    share = np.zeros_like(rates)
    share[1:-1] = (weight - 0.25) * (rates[2:] - 2.0 * rates[1:-1] + rates[:-2])
    share[-1] = share[-2]
    return unweighted(share, weight)


def spline_through(a: np.ndarray) -> np.ndarray:
    """Return the values (n + 1, p) at ends of steps of a cubic spline that replaces the efforts a (n + 1, p) there in a
    forward run by the mid-point rule.

    The run uses mid-step values.  The mean of two neighbouring ones of a spline u is W u - (h^2/8) W u'', W with the
    weight 1/4; second derivatives of splines are differences over h^2 with the weight 1/6.  Setting this mean equal to
    that of a gives W_1/24 u = W_1/6 a, W_w x = w x[n-1] + (1 - 2 w) x[n] + w x[n+1].
    """
    b = a.copy()
    b[1:-1] += (a[2:] - 2.0 * a[1:-1] + a[:-2]) / 6.0
    bands = np.full((3, len(a)), 1.0 / 24.0)
    bands[1] = 1.0 - 2.0 / 24.0
    bands[1, 0], bands[0, 1], bands[1, -1], bands[2, -2] = 1.0, 0.0, 1.0, 0.0
    return solve_banded((1, 1), bands, b)


def unweighted(a: np.ndarray, weight: float) -> np.ndarray:
    """Return x with w x[n-1] + (1 - 2 w) x[n] + w x[n+1] = a[n]; x is zero at the start, and constant over the
    last step."""
    bands = np.full((3, len(a)), weight)
    bands[1] = 1.0 - 2.0 * weight
    right = a.copy()
    right[0] = right[-1] = 0.0
    bands[1, 0], bands[0, 1], bands[1, -1], bands[2, -2] = 1.0, 0.0, 1.0, -1.0
    return solve_banded((1, 1), bands, right.reshape(len(a), -1)).reshape(a.shape)


def interpolated(
    system: Compiled, times: np.ndarray, states: list[S.State], at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Q (n, N) and D (n, ...) at times (n,) [s] between states at rest at both ends."""
    Q = CubicSpline(times, np.array([s.Q[0] for s in states]), bc_type="clamped")(at)
    D = np.repeat(states[0].D[:1], len(at), axis=0)
    rows = system.system.rotations
    if system.dimension == 2 and rows.size:
        angle = Q[:, rows[:, 0]]
        D[:, : len(rows), 0], D[:, : len(rows), 1] = np.cos(angle), np.sin(angle)
    elif rows.size:
        R = np.array([_matrices(system, s.D[0]) for s in states])
        for k in range(len(rows)):
            D[:, k] = RotationSpline(times, Rotation.from_matrix(R[:, k]))(at).as_matrix().reshape(-1, 9)
    return Q, D
