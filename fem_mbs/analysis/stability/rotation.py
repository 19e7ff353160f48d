"""Steady rotations of nodes: velocities, accelerations, and the velocities of displacements that turn with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import crosses, director_velocities
from fem_mbs.units import unit_of

__all__ = ["Rotation", "outside_tables", "transport", "turn_steadily"]


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


def outside_tables(system: Compiled, rotation: Rotation, speeds: Sequence[float] | np.ndarray) -> list[str]:
    """Return sentences on bearings whose tables do not reach the speeds with which a rotation at ``speeds`` [rad/s]
    turns them: about their axes, a less b."""
    from fem_mbs.elements.springs.bearing import ROW, VECTORS

    out = []
    for block in system.blocks:
        if not block.type.name.startswith("bearing"):
            continue
        turning = rotation.nodes[block.nodes] & (block.nodes >= 0)
        first = block.type.column("rows")
        for i in range(block.size):
            axis = block.par[i, VECTORS : VECTORS + 3] if system.dimension == 3 else (0.0, 0.0, 1.0)
            share = float(turning[i, 0]) - float(turning[i, 1:].any())
            own = share * float(np.dot(axis, rotation.axis)) * np.asarray(speeds, float)
            rows = int(block.par[i, first])
            low, high = block.par[i, first + 1], block.par[i, first + 1 + ROW * (rows - 1)]
            if rows > 1 and (own.min() < low or own.max() > high):
                worst = own[np.maximum(low - own, own - high).argmax()]
                out.append(
                    f'the table of bearing "{block.label(i)}" goes from {low:g} to {high:g} {unit_of("rad/s")}; beyond '
                    f"it has constant values, and it turns with {worst:g} {unit_of('rad/s')} about its axis"
                )
    return out
