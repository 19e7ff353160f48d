"""Steady rotations of nodes: velocities, accelerations, and the velocities of displacements that turn with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import crosses, director_velocities

__all__ = ["Rotation", "transport", "turn_steadily"]


@dataclass(frozen=True)
class Rotation:
    """A steady rotation of some nodes of a model.

    ``owner`` names it in messages; ``axis`` (3,) of length 1, in the plane (0, 0, 1); ``point`` (dimension,) of the
    axis [m]; ``speed`` [rad/s]; ``nodes`` (n,) bool: which nodes turn; ``blades``: number of equal ones, None: as
    found.
    """

    owner: str
    axis: np.ndarray
    point: np.ndarray
    speed: float
    nodes: np.ndarray
    blades: int | None = None

    def at(self, speed: float) -> Rotation:
        """Return the rotation at another speed."""
        return replace(self, speed=float(speed))


def transport(system: Compiled, rotation: Rotation, nodes: np.ndarray) -> csr_matrix:
    """Return P (N, N): velocities that displacements and rotations of ``nodes`` (n,) bool have by turning steadily."""
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


def turn_steadily(system: Compiled, state: S.State, rotation: Rotation) -> None:
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
