"""Derivatives by positions of the forces that velocities cause in damped elements.

The tangents of these elements leave that part out where the model moves.  It is found by differences of order 4 of the
forces of single elements.

Theory: docs/theory.md, section 9, "The matrices".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.solvers.many_states import States, evaluate
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import director_rates, rates_of_directors, rotated

if TYPE_CHECKING:
    from fem_mbs.system.tangent import Tangent

__all__ = ["rate_derivatives", "rate_stiffness"]

_DIFFERENCE = 1e-3  # of rotations [rad], and of positions over an element's length, in differences of order 4
_OFFSETS = np.array([1.0, -1.0, 2.0, -2.0])
_TOGETHER = 100_000  # coordinates of elements that are displaced at the same time


def rate_stiffness(at: Tangent, blocks: Sequence[Block]) -> csr_matrix:
    """Return the derivative (N, N) by positions of the forces that velocities cause in ``blocks``.

    The part that the tangents contain already is subtracted.
    """
    N = at.compiled.n_dof
    total = csr_matrix((N, N))
    s = at.state
    state = States(s.Q[None], s.D[None], s.V[None], s.DD[None], s.U[None], at.functions[None])
    for block in blocks:
        change = rate_derivatives(
            at.compiled, block, at.control(2.0), state, at.compiled.block_history(block), at.speed
        )
        if change is None:
            continue
        m = block.type.local_dofs
        rows = np.repeat(block.dof, m, axis=1).ravel()
        columns = np.tile(block.dof, (1, m)).ravel()
        total += csr_matrix((change[0].ravel(), (rows, columns)), shape=(N, N))
    return _without_dummy(at.compiled, total)


def rate_derivatives(
    compiled: Compiled, block: Block, ctl: np.ndarray, states: States, hist: np.ndarray, speed: float
) -> np.ndarray | None:
    """Return the derivatives (s, n, m, m) by positions of the velocity-dependent forces in the n elements of a block,
    minus the part that their tangents contain already.  Return None if the forces do not depend on velocities.

    Args:
        ctl: control values with which kernels give the force at one state.
        states: s states, each the same at both ends of a step.
        hist: history of the block.
        speed: scale of angular velocities [rad/s].
    """
    if block.type.multipliers or "callback" in block.type.par:
        return None
    m, tables = block.type.local_dofs, (block.par, block.dof, block.rot, hist)
    resting = states._replace(V=np.zeros_like(states.V), DD=np.zeros_like(states.DD))
    moves = ctl.copy()
    moves[C.WV] = 1.0  # contacts rub in motion alone
    # Test with random velocities: the present ones may cause no force, but a change of it.  A straight shaft that spins
    # has no strain rate, a bent one has.
    moving, still = (
        evaluate(block.type.force, C.FORCE, moves, tables, at, m)[0]
        for at in (_random_velocities(compiled, states, speed), resting)
    )
    if not np.any(moving - still):
        return None
    change = _by_differences(compiled, block, moves, states, hist)
    own = [evaluate(block.type.force, C.TANGENT, ctl, tables, at, m, tangent=True)[1] for at in (states, resting)]
    here = own[0] - own[1]
    here[..., block.type.node_dofs :] = 0.0  # columns of multipliers are those of the moving state
    return change - here


def _random_velocities(compiled: Compiled, states: States, speed: float) -> States:
    """Return the states with random velocities, to find out whether forces of elements depend on velocities."""
    V = np.zeros_like(states.V)
    V[:, :2] = speed * np.random.default_rng(5).uniform(-1.0, 1.0, compiled.n_dof)
    return states._replace(V=V, DD=rates_of_directors(compiled, states.D, V))


def _without_dummy(system: Compiled, A: csr_matrix) -> csr_matrix:
    keep = np.ones(system.n_dof)
    keep[system.dummy] = 0.0
    A = A.tocsr()
    A.data *= np.repeat(keep, np.diff(A.indptr)) * keep[A.indices]
    A.eliminate_zeros()
    return A


def _by_differences(
    compiled: Compiled, block: Block, ctl: np.ndarray, states: States, hist: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Return derivatives (s, n, m, m) by positions and rotations of the velocity-dependent forces of elements.

    Every element gets nodes of its own, so that all can be displaced at the same time.
    """
    n, m = block.dof.shape
    e = np.empty((m, n))
    out = np.zeros((len(states.Q), n, m, m))
    sizes = _sizes(compiled, block)
    apart = _Apart(compiled, block, states)
    for local in range(block.type.node_dofs):
        e[local] = _DIFFERENCE * (np.ones(n) if apart.is_rotation(local) else sizes)
    together = max(1, _TOGETHER // (len(states.Q) * n * m))
    for first in range(0, block.type.node_dofs, together):
        some = np.arange(first, min(first + together, block.type.node_dofs))
        moved = apart.displaced(np.repeat(some, 4), (e[some, None] * _OFFSETS[:, None]).reshape(-1, n))
        moving, still = (
            evaluate(block.type.force, C.FORCE, ctl, (block.par, apart.dof, apart.rot, hist), at, m)[0]
            for at in (moved, moved._replace(V=np.zeros_like(moved.V), DD=np.zeros_like(moved.DD)))
        )
        f = (moving - still).reshape(len(states.Q), some.size, 4, n, m)
        change = 8.0 * (f[:, :, 0] - f[:, :, 1]) - (f[:, :, 2] - f[:, :, 3])
        out[..., some] = np.moveaxis(change / (12.0 * e[some])[..., None], 1, -1)
    return out


class _Apart:
    """The elements of a block with nodes of their own, so that all can be displaced at the same time."""

    def __init__(self, compiled: Compiled, block: Block, states: States):
        n, m = block.dof.shape
        self.type, self.dim, self.turns = block.type, compiled.dimension, compiled.rotation_dofs
        self.n, self.m, self.ends = n, m, block.rot.shape[1]
        self.dof = np.arange(n * m, dtype=np.int32).reshape(n, m)
        self.rot = np.arange(n * self.ends, dtype=np.int32).reshape(n, self.ends)
        self.Q, self.V, self.U = (a[..., block.dof.ravel()] for a in (states.Q, states.V, states.U))
        self.D, self.fun = states.D[:, :, block.rot.ravel()], states.fun

    def is_rotation(self, local: int) -> bool:
        """Return whether a local dof is a rotation of an end: coordinates of no node follow those of the ends."""
        each = self.type.end_dofs
        return self.type.rotational and local < self.ends * each and local % each >= self.dim

    def displaced(self, local: np.ndarray, step: np.ndarray) -> States:
        """Return the s states, each with every one of the local dofs (j,) displaced by its steps (j, n) at both ends of
        a step: s * j states."""
        count, j, dim = len(self.Q), local.size, self.dim
        each, elements = self.type.end_dofs, (self.n, self.ends)
        Q, V, U, D, fun = (np.repeat(a, j, axis=0) for a in (self.Q, self.V, self.U, self.D, self.fun))
        places = Q.reshape(count, j, 2, self.n, self.m)
        directors = D.reshape(count, j, 2, *elements, -1)
        theta = np.zeros((self.ends, j, self.n, self.turns))
        for i, k in enumerate(local):
            turned = self.is_rotation(int(k))
            if not turned or dim == 2:
                places[:, i, :, :, k] += step[i]
            if turned:
                theta[k // each, i, :, k % each - dim] = step[i]
        DD = np.zeros_like(D)
        if self.type.rotational:
            rates = DD.reshape(directors.shape)
            spins = V.reshape(count, j, 3, self.n, self.m)
            for a in range(self.ends):
                some = np.array([self.is_rotation(int(k)) and k // each == a for k in local])
                end = directors[..., a, :]
                if some.any():
                    end[:, some] = _over(rotated, end[:, some, :1], theta[a, some][:, None])
                at = slice(a * each + dim, a * each + dim + self.turns)
                rates[..., a, :] = _over(director_rates, end[:, :, :1], spins[:, :, :1, :, at])
        return States(Q, D, V, DD, U, fun)


def _over(function: Callable, D: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Apply a function of directors (n, w) and vectors (n, k) to arrays (..., n, w) and (..., n, k)."""
    # scipy does not accept read-only views
    spread = np.array(np.broadcast_to(vectors, (*D.shape[:-1], vectors.shape[-1])))
    return function(D.reshape(-1, D.shape[-1]), spread.reshape(-1, vectors.shape[-1])).reshape(D.shape)


def _sizes(system: Compiled, block: Block) -> np.ndarray:
    """Return extents (n,) of elements [m]; the model's length for those that have none."""
    x = np.where((block.nodes >= 0)[..., None], system.nodes.x[block.nodes], np.nan)
    some = np.flatnonzero((block.nodes >= 0).sum(axis=1) > 1)
    extent = np.zeros(block.size)
    extent[some] = np.linalg.norm(np.nanmax(x[some], axis=1) - np.nanmin(x[some], axis=1), axis=1)
    return np.where(extent > 1e-9 * system.length, extent, system.length)
