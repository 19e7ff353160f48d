"""The Coriolis matrix of a model seen from a turning frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix, csr_matrix

from fem_mbs.declarations.kinds import shown
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.inertia_coordinates import constant_mass

__all__ = ["coriolis_matrix"]


def coriolis_matrix(system: Compiled, omega: ArrayLike, state: State | None = None) -> csr_matrix:
    """Return matrix G (N, N), skew, over all dofs, with the Coriolis force -G v of a frame that turns with omega
    [rad/s].

    With coordinates y of constant masses M_ij (positions of nodes, directors of beams and bodies; see
    `fem_mbs.elements.masses.director_mass`) the power of the force on velocities dy is -2 sum_ij M_ij dy_i . (omega x
    y_j'):

        G = 2 J^T (M (x) [omega]_x) J,   y' = J v   (of solids J is the identity).

    The equations of small motions in the frame are M a + (D + G) v + K u = f with the stiffness K of a linear step
    under a centrifugal load; that knows the place of the axis, which G does not need.  Velocities of rotation dofs are
    in global axes (the spin in the plane).

    Args:
        omega: angular velocity [rad/s]: (3,), in the plane a number.
        state: where directors are; None: the start.

    Raises:
        ModelError: omega of another dimension; a mass without a centre (nodal mass).
    """
    dim = system.dimension
    w = np.atleast_1d(np.asarray(omega, float))
    if w.shape != ((1,) if dim == 2 else (3,)) or not np.isfinite(w).all():
        raise ModelError(
            f"omega = {shown(omega)} must be {'a number' if dim == 2 else '3 numbers'}",
            owner=Owner("Coriolis matrix"),
            key="omega",
            value=omega,
        )
    turn = w[0] * np.array([[0.0, -1.0], [1.0, 0.0]]) if dim == 2 else _cross(w)
    D = (system.initial_state() if state is None else state).D[0]
    rows, columns, values = [], [], []
    for block in system.blocks:
        if not block.type.inertia:
            continue
        if block.type.name in solid_mass.TYPES or block.type.name in solid_condensed.TYPES:
            M, dof = solid_mass.masses_of(block.par, block.type.ends), block.dof
            G = 2.0 * np.einsum("eab,ij->eaibj", M, turn).reshape(len(M), dof.shape[1], -1)
        else:
            G, dof = _with_directors(system, block, turn, D)
        m = dof.shape[1]
        rows.append(np.repeat(dof, m, axis=1).ravel())
        columns.append(np.tile(dof, (1, m)).ravel())
        values.append(G.ravel())
    N = system.n_dof
    if not rows:
        return csr_matrix((N, N))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    G = coo_matrix(entries, shape=(N, N)).tocsr()
    keep = np.ones(N)
    keep[system.dummy] = 0.0
    held = csr_matrix((keep, (np.arange(N), np.arange(N))), shape=(N, N))
    return held @ G @ held


def _cross(v: np.ndarray) -> np.ndarray:
    """Return matrices (..., 3, 3) with _cross(v) a = v x a."""
    v = np.asarray(v, float)
    K = np.zeros((*v.shape[:-1], 3, 3))
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return K - np.swapaxes(K, -1, -2)


def _with_directors(system: Compiled, block, turn: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices (n, m, m) of masses of beams, bodies and points, and the dofs (n, m) of their nodes' full
    unknowns."""
    nodes, M, axes = constant_mass(block)
    dim, n = system.dimension, len(nodes)
    nrot = system.rotation_dofs
    size = dim + nrot
    dof = np.full((n, 2 * size), system.dummy, np.int64)
    per = M.shape[1] // 2  # coordinates of an end
    J = np.zeros((n, 2, per, dim, size))
    for a in range(2):
        real = nodes[:, a] >= 0
        node = np.where(real, nodes[:, a], 0)
        turning = real & system.nodes.rotational[node]
        dof[real, a * size : a * size + dim] = system.offset[node[real]][:, None] + np.arange(dim)
        dof[turning, a * size + dim : (a + 1) * size] = (system.offset[node[turning]] + dim)[:, None] + np.arange(nrot)
        J[:, a, 0, :, :dim] = np.eye(dim)
        R = D[system.rot_row[node]]
        if dim == 2:
            # the director of a beam: its axis turned with the node; its rate is the spin times the normal to it
            c, s = R[:, 0], R[:, 1]
            J[:, a, 1, 0, 2] = -(s * axes[:, 0] + c * axes[:, 1])
            J[:, a, 1, 1, 2] = c * axes[:, 0] - s * axes[:, 1]
        else:
            directors = np.swapaxes(R.reshape(n, 3, 3), 1, 2)
            J[:, a, 1:, :, 3:] = -_cross(directors)
    J = J.reshape(n, 2 * per, dim, size)
    full = np.zeros((n, 2 * per, dim, 2 * size))
    full[:, :per, :, :size], full[:, per:, :, size:] = J[:, :per], J[:, per:]
    G = 2.0 * np.einsum("eiap,eij,ab,ejbq->epq", full, M, turn, full, optimize=True)
    return G, dof
