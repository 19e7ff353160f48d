"""How forces that velocities bring change with the place, which tangents of damped elements leave out."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.analysis.stability.rotation import director_rates, rotated
from fem_mbs.solvers.stepping import stepper as S
from fem_mbs.system.compile import Block

__all__ = ["rate_stiffness"]

_DIFFERENCE = 1e-3  # of rotations [rad], and of positions over an element's length, in differences of order 4


def rate_stiffness(lin) -> csr_matrix:
    """Derivative (N, N) by the place of the forces that velocities bring in damped elements, less what the tangents
    have of it, by differences of order 4 of single elements' forces."""
    N = lin.system.n_dof
    total = csr_matrix((N, N))
    resting, shaken = lin.rest(), lin.shaken()
    for block in lin.velocity_dependent(lin.others):
        if block.type.multipliers or "callback" in block.type.par:
            continue
        # not by the present velocities: a straight shaft that spins is not strained, but is as soon as it bends
        if not np.any(_forces_of(lin, block, shaken) - _forces_of(lin, block, resting)):
            continue
        change = _by_differences(lin, block)
        m = block.type.local_dofs
        here = np.zeros((block.size, m, m))
        for state, sign in ((lin.state, 1.0), (resting, -1.0)):
            for _, first, last, _, ke in lin.matrices.tiles(C.TANGENT, lin.control(2.0), lin.fun, state, [block]):
                here[first:last] += sign * ke
        here[:, :, block.type.node_dofs :] = 0.0  # columns of multipliers are those of the moving state
        change -= here
        rows = np.repeat(block.dof, m, axis=1).ravel()
        columns = np.tile(block.dof, (1, m)).ravel()
        total += csr_matrix((change.ravel(), (rows, columns)), shape=(N, N))
    return _without_sink(lin.system, total)


def _without_sink(system, A: csr_matrix) -> csr_matrix:
    keep = np.ones(system.n_dof)
    keep[system.sink] = 0.0
    A = A.tocsr()
    A.data *= np.repeat(keep, np.diff(A.indptr)) * keep[A.indices]
    A.eliminate_zeros()
    return A


def _forces_of(lin, block: Block, state: S.State) -> np.ndarray:
    """Forces (n, m) of the elements of a block."""
    out = np.zeros((block.size, block.type.local_dofs))
    for _, first, last, fe, _ in lin.matrices.tiles(C.FORCE, lin.control(2.0), lin.fun, state, [block]):
        out[first:last] = fe
    return out


def _by_differences(lin, block: Block) -> np.ndarray:
    """Derivatives (n, m, m) by positions and spins of what velocities bring to the forces of elements.

    Every element gets nodes of its own, so that all can be moved at a time.
    """
    n, m = block.dof.shape
    ends = block.rot.shape[1]
    s, dim = lin.state, lin.system.dimension
    nrot = lin.system.rotation_dofs
    dof = np.arange(n * m, dtype=np.int32).reshape(n, m)
    rot = np.arange(n * ends, dtype=np.int32).reshape(n, ends)
    hist = lin.system.block_history(block)
    each, turning = block.type.end_dofs, block.type.rotational
    fun, ctl = lin.fun, lin.control(2.0)
    out = np.zeros((n, m, m))

    def rates(local: int, step: np.ndarray) -> np.ndarray:
        Q, U, V = (a[..., block.dof].reshape(*a.shape[:-1], n * m) for a in (s.Q, s.U, s.V))
        Q, V, D = Q.copy(), V.copy(), s.D[:, block.rot].reshape(2, n * ends, -1)
        end, k = divmod(local, each)
        if k < dim or dim == 2:
            Q[:, dof[:, local]] += step
        if turning and k >= dim:
            theta = np.zeros((n, nrot))
            theta[:, k - dim] = step
            D[:, rot[:, end]] = rotated(D[0, rot[:, end]], theta)
        DD = np.zeros_like(D)
        if turning:
            for a in range(ends):
                at = dof[:, a * each + dim : a * each + dim + nrot]
                DD[:, rot[:, a]] = director_rates(D[0, rot[:, a]], V[0, at])
        found = []
        for velocities, rates_of in ((V, DD), (np.zeros_like(V), np.zeros_like(DD))):
            fe = np.zeros((n, m))
            block.type.force(
                C.FORCE, 0, n, ctl, block.par, dof, rot, hist.copy(), fun, Q, D, velocities, rates_of, U, fe,
                np.zeros((0, 0, 0)),
            )  # fmt: skip
            found.append(fe)
        return found[0] - found[1]

    sizes = _sizes(lin.system, block)
    for local in range(block.type.node_dofs):
        turn = turning and local % each >= dim
        e = _DIFFERENCE * (np.ones(n) if turn else sizes)
        near = rates(local, e) - rates(local, -e)
        far = rates(local, 2.0 * e) - rates(local, -2.0 * e)
        out[:, :, local] = (8.0 * near - far) / (12.0 * e)[:, None]
    return out


def _sizes(system, block: Block) -> np.ndarray:
    """Extents (n,) of elements [m]; the model's length for those that have none."""
    x = np.where((block.nodes >= 0)[..., None], system.nodes.x[block.nodes], np.nan)
    some = np.flatnonzero((block.nodes >= 0).sum(axis=1) > 1)
    extent = np.zeros(block.size)
    extent[some] = np.linalg.norm(np.nanmax(x[some], axis=1) - np.nanmin(x[some], axis=1), axis=1)
    return np.where(extent > 1e-9 * system.length, extent, system.length)
