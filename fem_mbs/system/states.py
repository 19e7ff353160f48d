"""States of a compiled model: one instant as both ends of a step, displaced states, and the axes of spins.

Kernels take a state with two rows, the ends of a step (`fem_mbs.contract`).  Evaluations at one instant pass this
instant twice.  The multipliers of such a state stand in its unknowns ``U``.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.rotations import rotation_matrices
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping import motion
from fem_mbs.system.compiled import Compiled

__all__ = [
    "at_rest", "body_axes", "crosses", "director_rates", "director_velocities", "instant", "moved",
    "moved_all", "rates_of_directors", "rotated", "spatial_axes",
]  # fmt: skip


def instant(compiled: Compiled, state: S.State) -> S.State:
    """Return a state with row 0 of another at both ends, its multipliers as unknowns, and no accelerations."""
    first = compiled.first_multiplier
    new = compiled.initial_state()
    if not all(np.array_equal(row, state.Q[0]) for row in new.Q):  # the start may stand once for several processes
        new.Q[:] = state.Q[0]
    new.D[:] = state.D[0]
    if state.V[0].any():  # zeros that nobody writes take no memory
        new.V[:2] = state.V[0]
        director_velocities(compiled, new)
    new.U[first:-1] = state.Q[0, first:-1]
    return new


def at_rest(state: S.State) -> S.State:
    """Return a state without velocities and accelerations; other arrays are those of ``state``."""
    return state._replace(V=np.zeros(state.V.shape), DD=np.zeros(state.DD.shape))


def moved(compiled: Compiled, state: S.State, u: np.ndarray) -> S.State:
    """Return a state at rest, displaced from row 0 of another by u (N,), with the multipliers of that.

    Rotation dofs of u are Cayley vectors in spatial axes (in the plane angles' Cayley parameters).
    """
    first, system = compiled.first_multiplier, compiled.system
    new = compiled.initial_state()
    Q, D = moved_all(compiled, state.Q[:1], state.D[:1], u[None])
    for own in (system.positions, system.states, system.rotations if compiled.dimension == 2 else system.rotations[:0]):
        new.Q[:, own] = Q[0, own]
    new.D[:, : len(system.rotations)] = D[0, : len(system.rotations)]
    new.Q[:, first:-1] = state.U[first:-1]
    new.U[:] = state.U
    return new


def director_velocities(compiled: Compiled, state: S.State) -> None:
    """Fill the rates of directors at both ends from the velocities of row 0; row 1 becomes row 0."""
    state.D[1], state.V[1] = state.D[0], state.V[0]
    C.runner(motion.director_velocities, state.D[0].size)(compiled.system, state, 1.0, True)
    state.DD[0] = state.DD[1]


def body_axes(compiled: Compiled, state: S.State, v: np.ndarray) -> np.ndarray:
    """Return velocities (N,) as states keep them, spins in body axes, from those with spins in spatial axes."""
    return _turned(compiled, state, v, "nji,nj->ni")


def spatial_axes(compiled: Compiled, state: S.State, v: np.ndarray) -> np.ndarray:
    """Return velocities (N,) with spins in spatial axes from those of states."""
    return _turned(compiled, state, v, "nij,nj->ni")


def _turned(compiled: Compiled, state: S.State, v: np.ndarray, how: str) -> np.ndarray:
    rows, v = compiled.system.rotations, v.copy()
    if compiled.dimension == 3 and rows.size:
        v[rows] = np.einsum(how, state.D[0, : len(rows)].reshape(-1, 3, 3), v[rows])
    return v


def crosses(N: int, rows: np.ndarray, w: np.ndarray) -> csr_matrix:
    """Return the matrix (N, N) with [w]_x, w (k, 3), at dofs ``rows`` (k, 3)."""
    if not len(rows) or not len(w):
        return csr_matrix((N, N))
    a, b, c = rows.T
    x, y, z = w.T
    i, j = np.concatenate((b, c, c, a, a, b)), np.concatenate((c, b, a, c, b, a))
    return csr_matrix((np.concatenate((-x, x, -y, y, -z, z)), (i, j)), shape=(N, N))


def rotated(D: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return directors (n, 2) or (n, 9) rotated by rotation vectors (n, 1) or (n, 3) in spatial axes."""
    if D.shape[1] == 2:
        c, s = np.cos(theta[:, 0]), np.sin(theta[:, 0])
        return np.column_stack((c * D[:, 0] - s * D[:, 1], s * D[:, 0] + c * D[:, 1]))
    return (rotation_matrices(theta) @ D.reshape(-1, 3, 3)).reshape(-1, 9)


def director_rates(D: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return rates of directors (n, 2) or (n, 9) of nodes with the spin W (n, 1) or (n, 3), in space in body axes."""
    if D.shape[1] == 2:
        return np.column_stack((-W[:, 0] * D[:, 1], W[:, 0] * D[:, 0]))
    return np.cross(D.reshape(-1, 3, 3), W[:, None, :]).reshape(-1, 9)


def rates_of_directors(compiled: Compiled, D: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the rates (s, 2, nr, w) of directors D (s, 2, nr, w), from the velocities V (s, 3, N).

    Row 0 of each state counts for both rows of the result.
    """
    rows = compiled.system.rotations
    DD = np.zeros_like(D)
    if rows.size:
        W, own = V[:, 0, rows], D[:, 0, : len(rows)]
        rates = director_rates(own.reshape(-1, own.shape[-1]), W.reshape(-1, W.shape[-1]))
        DD[:, :, : len(rows)] = rates.reshape(own.shape)[:, None]
    return DD


def moved_all(compiled: Compiled, Q: np.ndarray, D: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates Q (s, N) and directors D (s, nr, w) of s states after displacements u (s, N); see `moved`."""
    system = compiled.system
    Q, D = Q.copy(), D.copy()
    for own in (system.positions, system.states):
        Q[:, own] += u[:, own]
    rows = system.rotations
    if not rows.size:
        return Q, D
    theta, own = u[:, rows], D[:, : len(rows)]
    if compiled.dimension == 2:
        Q[:, rows] += 2.0 * np.arctan(0.5 * theta)
    turned = _turned_by(own.reshape(-1, own.shape[-1]), theta.reshape(-1, theta.shape[-1]))
    D[:, : len(rows)] = turned.reshape(own.shape)
    return Q, D


def _turned_by(D: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return directors (n, 2) or (n, 9) rotated by Cayley vectors (n, 1) or (n, 3) in spatial axes."""
    if D.shape[1] == 2:
        u, a, b = 0.5 * theta[:, 0], D[:, 0], D[:, 1]
        f = 1.0 / (1.0 + u * u)
        c, s = (1.0 - u * u) * f, 2.0 * u * f
        return np.column_stack((c * a - s * b, s * a + c * b))
    # cay = I + f (t~ + t~^2/2)
    x, y, z = theta.T[:, :, None]
    f = 1.0 / (1.0 + 0.25 * (x * x + y * y + z * z))
    a, b, c = D[:, :3], D[:, 3:6], D[:, 6:]
    p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
    return np.column_stack((
        a + f * (p + 0.5 * (y * r - z * q)), b + f * (q + 0.5 * (z * p - x * r)), c + f * (r + 0.5 * (x * q - y * p))
    ))  # fmt: skip
