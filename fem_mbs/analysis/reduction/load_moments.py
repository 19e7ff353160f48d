"""Compute the moments of a part's loads for a body in motion: sums of forces over 1, the position and the shapes.

Forces of a load at the state of the reduction are taken from the elements that make them, whatever these are, as nodal
forces and moments.  Moments of which it is known that forces on directors make them (forces at eccentric points, line
loads on beams) stay such forces, f_k on d_k, since these are constant where their moments are not: they count like
forces at points, with d_k for the position and theta x d_k for the shape.  What is left are moments at nodes, projected
on the rotations that nodes have in the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.reduction.invariants import directors_of
from fem_mbs.analysis.reduction.projection import NodalLoad
from fem_mbs.parts.part import LoadMoments
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled

__all__ = ["load_moments"]

_DUST = 1e-12  # of the moments at nodes: round-off of those that directors explain


def load_moments(
    linear: Linearised, Q: np.ndarray, origin: np.ndarray, loads: Sequence[NodalLoad]
) -> dict[str, LoadMoments]:
    """Return moments of loads, by their names.

    Args:
        Q: (n_q, n) unknowns of problems per unit of the part's coordinates.
        origin: (dim,) from which positions count [m].
        loads: of the model, `fem_mbs.analysis.reduction.projection.nodal_loads`.
    """
    system = linear.system
    nodes, dim = system.nodes.x.shape[0], system.dimension
    at = system.offset[:nodes, None] + np.arange(dim)
    turning = np.flatnonzero(system.nodes.rotational)
    spins = system.offset[turning][:, None] + dim + np.arange(system.rotation_dofs)
    place = linear.state.Q[0][at] - origin
    directors = directors_of(linear.state.D[0][: turning.size])
    levers = _levers(directors)
    found = {}
    for name, index, forces in loads:
        f = forces[at]
        on_directors = _on_directors(system, linear.state.D[0], index, turning.size)
        moments = forces[spins] - _moments_of(directors, on_directors)
        size = np.abs(forces[spins]).max(initial=0.0) + np.abs(on_directors).max(initial=0.0)
        moments[np.abs(moments) <= _DUST * size] = 0.0
        # share of each dof in component a of a shape, times component b of the force there
        over, couples = np.zeros((linear.first, dim, dim)), np.zeros((linear.first, spins.shape[1], spins.shape[1]))
        for a in range(dim):
            over[at[:, a], a] = f
        over[spins] = np.einsum("mkca,mkb->mcab", levers, on_directors)
        for a in range(spins.shape[1]):
            couples[spins[:, a], a] = moments
        found[name] = LoadMoments(
            np.concatenate(
                (
                    f.sum(axis=0)[None],
                    place.T @ f + np.einsum("mka,mkb->ab", directors, on_directors),
                    _projected(linear, Q, over),
                )
            ),
            np.concatenate((moments.sum(axis=0)[None], _projected(linear, Q, couples))),
        )
    return found


def _projected(linear: Linearised, Q: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Return generalised forces (k n, k), row a n + j, of forces (first, k, k) on dofs of nodes."""
    k = forces.shape[1]
    found = Q.T @ (linear.elimination.T.T @ forces.reshape(linear.first, k * k))
    return np.swapaxes(found.reshape(-1, k, k), 0, 1).reshape(-1, k)


def _levers(directors: np.ndarray) -> np.ndarray:
    """Return e_c x d_k (m, k, 1 or 3, dim) of directors (m, k, dim): how they move with rotations c."""
    if directors.shape[2] == 2:
        return np.stack((-directors[..., 1], directors[..., 0]), axis=-1)[:, :, None, :]
    return np.cross(np.eye(3), directors[:, :, None, :])


def _moments_of(directors: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Return sum_k d_k x f_k (m, 1 or 3)."""
    if directors.shape[2] == 3:
        return np.cross(directors, forces).sum(axis=1)
    turned = directors[..., 0] * forces[..., 1] - directors[..., 1] * forces[..., 0]
    return turned.sum(axis=1)[:, None]


def _on_directors(system: Compiled, D: np.ndarray, function: int, count: int) -> np.ndarray:
    """Return forces (count, dim, dim) on the directors of the nodes that rotate by loads of a function, where it is
    1."""
    dim = system.dimension
    whole = np.zeros((count + 1, dim, dim))  # (the last row is that of points without rotation)
    for block in system.blocks:
        kind = block.type.name[:-1]
        if kind not in ("force", "follower", "line_load"):
            continue
        mine = np.flatnonzero(block.par[:, block.type.column("function")].astype(int) == function)
        for end, forces in _of_ends(block, mine, D, dim):
            np.add.at(whole, np.minimum(block.rot[mine, end], count), forces)
    return whole[:count]


def _of_ends(block: Block, mine: np.ndarray, D: np.ndarray, dim: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (end, forces (m, dim, dim) on its directors) of some elements."""
    par = block.par[mine]
    if block.type.name[:-1] != "line_load":
        force, arm = par[:, 1 : 1 + dim], par[:, 1 + dim : 1 + 2 * dim]
        if block.type.name.startswith("follower"):
            axes = directors_of(D)[block.rot[mine, 0]]
            force = np.einsum("mb,mbi->mi", force, axes)
        yield 0, arm[:, :, None] * force[:, None, :]
        return
    for end in range(2):
        if dim == 2:  # on the section's axis ex d_1 + ey d_2
            forces = par[:, 5 + 4 * end : 7 + 4 * end]
            yield end, par[:, 1:3, None] * forces[:, None, :]
        else:
            yield end, par[:, 4 + 12 * end : 13 + 12 * end].reshape(-1, 3, 3)
