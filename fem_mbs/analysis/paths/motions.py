"""Motions of a model as arrays over the ends of time steps: their rates, and states between others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded
from scipy.spatial.transform import Rotation, RotationSpline

from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["Motion", "interpolated", "rates"]


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
    bands = np.full((3, len(Q)), weight)
    bands[1] = 1.0 - 2.0 * weight
    # the ends: zero at the start; as in the step before at the end
    bands[1, 0], bands[0, 1], bands[1, -1], bands[2, -2] = 1.0, 0.0, 1.0, -1.0
    return tuple(solve_banded((1, 1), bands, a) for a in (V, A))


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
