"""What a part's own loads are to a body in motion: sums of forces over 1, the position and the shapes.

Forces of a load at the state of the reduction are taken from the elements that make them, whatever these are, as nodal
forces and moments.  Moments of which it is known that forces on directors make them (forces at eccentric points, line
loads on beams) stay such forces, f_k on d_k, since these are constant where their moments are not: they count like
forces at points, with d_k for the position and theta x d_k for the shape.  What is left are moments at nodes, projected
on the rotations that nodes have in the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fem_mbs.analysis.invariants import directors_of
from fem_mbs.analysis.linear import Linearised
from fem_mbs.analysis.reduction_projection import NodalLoad
from fem_mbs.assembly import Block, Compiled
from fem_mbs.reduced_part import LoadMoments

__all__ = ["load_moments"]

_DUST = 1e-12  # of the moments at nodes: round-off of those that directors explain


def load_moments(
    linear: Linearised, Q: np.ndarray, origin: np.ndarray, loads: Sequence[NodalLoad]
) -> dict[str, LoadMoments]:
    """Moments of loads, by their names.

    Args:
        Q: (n_q, n) unknowns of problems per unit of the part's coordinates.
        origin: (dim,) from which positions count [m].
        loads: of the model, `fem_mbs.analysis.reduction_projection.nodal_loads`.
    """
    system = linear.system
    nodes, dim = system.nodes.x.shape[0], system.dimension
    at = system.offset[:nodes, None] + np.arange(dim)
    turning = np.flatnonzero(system.nodes.rotational)
    spins = system.offset[turning][:, None] + dim + np.arange(system.rotation_dofs)
    place = linear.state.Q[0][at] - origin
    directors = directors_of(linear.state.D[0][: turning.size])
    found = {}
    for name, index, forces in loads:
        on_directors = _on_directors(system, linear.state.D[0], index, turning.size)
        moments = forces[spins] - _moments_of(directors, on_directors)
        size = np.abs(forces[spins]).max(initial=0.0) + np.abs(on_directors).max(initial=0.0)
        moments[np.abs(moments) <= _DUST * size] = 0.0

        loaded = np.flatnonzero(forces[at].any(axis=1))
        f, x, shapes = forces[at[loaded]], place[loaded], _shapes(linear, Q, at[loaded])
        total = f.sum(axis=0)
        first = x.T @ f
        over = np.einsum("man,mb->anb", shapes, f, optimize=True)
        turned = np.flatnonzero(on_directors.any(axis=(1, 2)) | moments.any(axis=1))
        d, g, rotation = directors[turned], on_directors[turned], _shapes(linear, Q, spins[turned])
        first = first + np.einsum("mka,mkb->ab", d, g)
        over = over + np.einsum("mkan,mkb->anb", _carried(rotation, d), g, optimize=True)
        couples = np.einsum("man,mb->anb", rotation, moments[turned], optimize=True)
        r, n = couples.shape[0], couples.shape[1]
        found[name] = LoadMoments(
            np.concatenate((total[None], first, over.reshape(dim * n, dim))),
            np.concatenate((moments.sum(axis=0)[None], couples.reshape(r * n, r))),
        )
    return found


def _shapes(linear: Linearised, Q: np.ndarray, dofs: np.ndarray) -> np.ndarray:
    """Displacements or rotations (m, k, n) of dofs (m, k)."""
    return (linear.elimination.T[dofs.ravel()] @ Q).reshape(*dofs.shape, Q.shape[1])


def _moments_of(directors: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """sum_k d_k x f_k (m, 1 or 3)."""
    if directors.shape[2] == 3:
        return np.cross(directors, forces).sum(axis=1)
    turned = directors[..., 0] * forces[..., 1] - directors[..., 1] * forces[..., 0]
    return turned.sum(axis=1)[:, None]


def _carried(rotation: np.ndarray, d: np.ndarray) -> np.ndarray:
    """theta x d_k (m, k, dim, n) of rotations (m, 1 or 3, n) and directors (m, k, dim)."""
    if d.shape[2] == 2:
        return np.stack((-d[..., 1], d[..., 0]), axis=2)[..., None] * rotation[:, :, None, :]
    theta = np.moveaxis(rotation, 1, -1)[:, None]  # (m, 1, n, 3)
    return np.swapaxes(np.cross(theta, d[:, :, None, :]), 2, 3)


def _on_directors(system: Compiled, D: np.ndarray, function: int, count: int) -> np.ndarray:
    """Forces (count, dim, dim) on the directors of the nodes that rotate by loads of a function, where it is 1."""
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
    """(end, forces (m, dim, dim) on its directors) of some elements."""
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
