"""Derivatives by positions of the forces that velocities cause in damped elements.

The tangents of these elements leave that part out where the model moves.  It is found by differences of order 4 of the
forces of single elements.

Theory: docs/theory.md, section 9, "The matrices".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import at_rest, director_rates, director_velocities, rotated

if TYPE_CHECKING:
    from fem_mbs.system.tangent import Tangent

__all__ = ["rate_stiffness"]

_DIFFERENCE = 1e-3  # of rotations [rad], and of positions over an element's length, in differences of order 4


def rate_stiffness(at: Tangent, blocks: list[Block]) -> csr_matrix:
    """Return the derivative (N, N) by positions of the forces that velocities cause in ``blocks``.

    The part that the tangents contain already is subtracted.
    """
    N = at.compiled.n_dof
    total = csr_matrix((N, N))
    resting, random = at_rest(at.state), _random_velocities(at)
    for block in blocks:
        if block.type.multipliers or "callback" in block.type.par:
            continue
        # the present velocities do not tell: a straight shaft that spins is not strained, but is as soon as it bends
        if not np.any(_forces_of(at, block, random) - _forces_of(at, block, resting)):
            continue
        change = _by_differences(at, block)
        m = block.type.local_dofs
        here = np.zeros((block.size, m, m))
        for state, sign in ((at.state, 1.0), (resting, -1.0)):
            for _, first, last, _, ke in at.matrices.tiles(C.TANGENT, at.control(2.0), at.functions, state, [block]):
                here[first:last] += sign * ke
        here[:, :, block.type.node_dofs :] = 0.0  # columns of multipliers are those of the moving state
        change -= here
        rows = np.repeat(block.dof, m, axis=1).ravel()
        columns = np.tile(block.dof, (1, m)).ravel()
        total += csr_matrix((change.ravel(), (rows, columns)), shape=(N, N))
    return _without_dummy(at.compiled, total)


def _random_velocities(at: Tangent) -> S.State:
    """Return the state with random velocities, by which elements tell whether their forces depend on velocities."""
    state = at.compiled.initial_state()
    state.Q[:], state.D[:], state.U[:] = at.state.Q[0], at.state.D[0], at.state.U
    state.V[:2] = at.speed * np.random.default_rng(5).uniform(-1.0, 1.0, at.compiled.n_dof)
    director_velocities(at.compiled, state)
    return state


def _without_dummy(system: Compiled, A: csr_matrix) -> csr_matrix:
    keep = np.ones(system.n_dof)
    keep[system.dummy] = 0.0
    A = A.tocsr()
    A.data *= np.repeat(keep, np.diff(A.indptr)) * keep[A.indices]
    A.eliminate_zeros()
    return A


def _forces_of(at: Tangent, block: Block, state: S.State) -> np.ndarray:
    """Return the forces (n, m) of the elements of a block."""
    out = np.zeros((block.size, block.type.local_dofs))
    for _, first, last, fe, _ in at.matrices.tiles(C.FORCE, at.control(2.0), at.functions, state, [block]):
        out[first:last] = fe
    return out


def _by_differences(at: Tangent, block: Block) -> np.ndarray:
    """Return derivatives (n, m, m) by positions and rotations of the forces that velocities cause in elements.

    Every element gets nodes of its own, so that all can be displaced at the same time.
    """
    n, m = block.dof.shape
    ends = block.rot.shape[1]
    s, dim = at.state, at.compiled.dimension
    nrot = at.compiled.rotation_dofs
    dof = np.arange(n * m, dtype=np.int32).reshape(n, m)
    rot = np.arange(n * ends, dtype=np.int32).reshape(n, ends)
    hist = at.compiled.block_history(block)
    each, turning = block.type.end_dofs, block.type.rotational
    fun, ctl = at.functions, at.control(2.0)
    out = np.zeros((n, m, m))

    def is_rotation(local: int) -> bool:
        """Return whether a local dof is a rotation of an end: coordinates of no node follow those of the ends."""
        return turning and local < ends * each and local % each >= dim

    def rates(local: int, step: np.ndarray) -> np.ndarray:
        Q, U, V = (a[..., block.dof].reshape(*a.shape[:-1], n * m) for a in (s.Q, s.U, s.V))
        Q, V, D = Q.copy(), V.copy(), s.D[:, block.rot].reshape(2, n * ends, -1)
        end, k = divmod(local, each)
        turned = is_rotation(local)
        if not turned or dim == 2:
            Q[:, dof[:, local]] += step
        if turned:
            theta = np.zeros((n, nrot))
            theta[:, k - dim] = step
            D[:, rot[:, end]] = rotated(D[0, rot[:, end]], theta)
        DD = np.zeros_like(D)
        if turning:
            for a in range(ends):
                spin = dof[:, a * each + dim : a * each + dim + nrot]
                DD[:, rot[:, a]] = director_rates(D[0, rot[:, a]], V[0, spin])
        found = []
        for velocities, rates_of in ((V, DD), (np.zeros_like(V), np.zeros_like(DD))):
            fe = np.zeros((n, m))
            # directors in the order that kernels are compiled for
            block.type.force(
                C.FORCE, 0, n, ctl, block.par, dof, rot, hist.copy(), fun, Q, np.ascontiguousarray(D), velocities,
                np.ascontiguousarray(rates_of), U, fe, np.zeros((0, 0, 0)),
            )  # fmt: skip
            found.append(fe)
        return found[0] - found[1]

    sizes = _sizes(at.compiled, block)
    for local in range(block.type.node_dofs):
        e = _DIFFERENCE * (np.ones(n) if is_rotation(local) else sizes)
        near = rates(local, e) - rates(local, -e)
        far = rates(local, 2.0 * e) - rates(local, -2.0 * e)
        out[:, :, local] = (8.0 * near - far) / (12.0 * e)[:, None]
    return out


def _sizes(system: Compiled, block: Block) -> np.ndarray:
    """Return extents (n,) of elements [m]; the model's length for those that have none."""
    x = np.where((block.nodes >= 0)[..., None], system.nodes.x[block.nodes], np.nan)
    some = np.flatnonzero((block.nodes >= 0).sum(axis=1) > 1)
    extent = np.zeros(block.size)
    extent[some] = np.linalg.norm(np.nanmax(x[some], axis=1) - np.nanmin(x[some], axis=1), axis=1)
    return np.where(extent > 1e-9 * system.length, extent, system.length)
