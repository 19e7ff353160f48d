"""Nodes that turn: steady rotations, what moves with them, and turned directors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.analysis.start.initial import director_velocities
from fem_mbs.solvers.stepping import stepper as S

__all__ = ["Rotation", "crosses", "director_rates", "rotated", "transport", "turn_steadily"]


@dataclass(frozen=True)
class Rotation:
    """A steady rotation of some nodes of a model.

    ``owner`` names it in messages; ``axis`` (3,) of length 1, in the plane (0, 0, 1); ``point`` (dimension,) of the
    axis [m]; ``speed`` [rad/s]; ``nodes`` (n,) bool: which nodes turn.
    """

    owner: str
    axis: np.ndarray
    point: np.ndarray
    speed: float
    nodes: np.ndarray

    def at(self, speed: float) -> Rotation:
        """The same at another speed."""
        return replace(self, speed=float(speed))


def crosses(N: int, rows: np.ndarray, w: np.ndarray) -> csr_matrix:
    """Matrix (N, N) with [w]_x, w (k, 3), at dofs ``rows`` (k, 3)."""
    if not len(rows) or not len(w):
        return csr_matrix((N, N))
    a, b, c = rows.T
    x, y, z = w.T
    i, j = np.concatenate((b, c, c, a, a, b)), np.concatenate((c, b, a, c, b, a))
    return csr_matrix((np.concatenate((-x, x, -y, y, -z, z)), (i, j)), shape=(N, N))


def transport(system, rotation: Rotation, nodes: np.ndarray) -> csr_matrix:
    """P (N, N): velocities that displacements and rotations of ``nodes`` (n,) bool have by turning steadily."""
    n, N, dim = system.nodes.x.shape[0], system.n_dof, system.dimension
    place = system.offset[:n][nodes][:, None] + np.arange(dim)
    if dim == 2:
        a, b = place.T
        w = np.full(a.size, rotation.speed)
        return csr_matrix((np.concatenate((-w, w)), (np.concatenate((a, b)), np.concatenate((b, a)))), shape=(N, N))
    turning = nodes & system.nodes.rotational
    turns = system.offset[:n][turning][:, None] + 3 + np.arange(3)
    rows = np.vstack((place, turns))
    return crosses(N, rows, np.tile(rotation.speed * rotation.axis, (len(rows), 1)))


def turn_steadily(system, state: S.State, rotation: Rotation) -> None:
    """Give a state the velocities and accelerations of a steady rotation; other nodes rest."""
    n, dim = system.nodes.x.shape[0], system.dimension
    nodes, w = rotation.nodes, rotation.speed
    state.V[:] = 0.0
    place = system.offset[:n][nodes][:, None] + np.arange(dim)
    arm = state.Q[0, place] - rotation.point
    if dim == 2:
        state.V[:2, place] = w * np.column_stack((-arm[:, 1], arm[:, 0]))
        state.V[2, place] = -w * w * arm
    else:
        v = np.cross(w * rotation.axis, arm)
        state.V[:2, place] = v
        state.V[2, place] = np.cross(w * rotation.axis, v)
    turning = np.flatnonzero(nodes & system.nodes.rotational)
    if turning.size and dim == 2:
        state.V[:2, system.offset[turning] + 2] = w
    elif turning.size:
        R = state.D[0, system.rot_row[turning]].reshape(-1, 3, 3)
        state.V[:2, system.offset[turning][:, None] + 3 + np.arange(3)] = np.einsum("nji,j->ni", R, w * rotation.axis)
    director_velocities(system, state)


def rotated(D: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Directors (n, 2) or (n, 9) turned by rotation vectors (n, 1) or (n, 3) in spatial axes."""
    if D.shape[1] == 2:
        c, s = np.cos(theta[:, 0]), np.sin(theta[:, 0])
        return np.column_stack((c * D[:, 0] - s * D[:, 1], s * D[:, 0] + c * D[:, 1]))
    from scipy.spatial.transform import Rotation as Turn

    return (Turn.from_rotvec(theta).as_matrix() @ D.reshape(-1, 3, 3)).reshape(-1, 9)


def director_rates(D: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Rates of directors (n, 2) or (n, 9) of nodes with the spin W (n, 1) or (n, 3), in space in body axes."""
    if D.shape[1] == 2:
        return np.column_stack((-W[:, 0] * D[:, 1], W[:, 0] * D[:, 0]))
    return np.cross(D.reshape(-1, 3, 3), W[:, None, :]).reshape(-1, 9)
