"""Matrices of one sector of a wheel about a state at rest, whose two faces meet (`fem_mbs.model.connections.cyclic`).

The model holds the equations of motions that are equal in all sectors.  Here their rows are taken out again; the faces
come back as terms that a phase multiplies (`fem_mbs.solvers.eigen.sectors`).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_diag, coo_matrix, csr_matrix, vstack

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.linear.modes.inside import unknowns_inside
from fem_mbs.analysis.linear.modes.rigid import rigid_directions
from fem_mbs.model.connections.cyclic import CyclicFaces, rows_of_faces
from fem_mbs.solvers.eigen.sectors import SectorMatrices
from fem_mbs.solvers.stepping.layout import POSITION

__all__ = ["sector_matrices", "wheel_participation"]


def sector_matrices(linear: Linearised) -> SectorMatrices:
    """Return stiffness, mass and constraints of a sector over the dofs of nodes, and the internal unknowns of elements
    behind them."""
    n, system = linear.first, linear.system
    K, M = linear.balanced_tangent[:n][:, :n], linear.mass_matrix[:n][:, :n]
    faces = linear.compiled.model.cyclic
    inner = np.setdiff1d(np.arange(linear.constraints.shape[0]), rows_of_faces(linear.compiled))
    near, far, own, sign = (list(part) for part in zip(*(_terms(linear, face) for face in faces), strict=True))
    rows = linear.constraints[inner]
    scale = np.ones(n)
    scale[system.system.kind[:n] == POSITION] = system.length
    inside = unknowns_inside(linear)
    parts = [rows, vstack(near, format="csr"), vstack(far, format="csr")]
    if inside is not None:
        C = inside.coupling[:, :n]
        K = csr_matrix(block_diag((K, inside.stiffness)))
        M = inside.whole(M, C)
        m = C.shape[0]
        parts = [csr_matrix((A.data, A.indices, A.indptr), shape=(A.shape[0], n + m)) for A in parts]
        scale = np.concatenate((scale, np.full(m, system.length)))
    return SectorMatrices(
        csr_matrix(0.5 * (K + K.T)), M, parts[0], linear.preferred()[inner], parts[1], parts[2],
        np.concatenate(sign), np.concatenate(own), np.setdiff1d(np.arange(n), linear.owned), scale,
    )  # fmt: skip


def wheel_participation(
    linear: Linearised, sector: SectorMatrices, diameters: np.ndarray, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return effective masses (k, 4) of waves in motions of the whole wheel, and the wheel's masses (4,) in them.

    The motions are translations along the axis and across it, and rotations about it and about lines across it.  Waves
    of the nodal diameter 0 take part along and about the axis, those of 1 across it: there each stands for the
    mode of both directions of running.

    Args:
        diameters: (k,) of the waves.
        vectors: (n, k) complex, of unit mass over the sector.
    """
    faces = linear.compiled.model.cyclic[0]
    dim, count = linear.system.dimension, faces.sectors
    point = np.append(faces.point, np.zeros(3 - dim))
    axis = faces.axis if dim == 3 else np.array((0.0, 0.0, 1.0))
    first = np.linalg.svd(axis[None])[2][1]
    across = first + 1j * np.cross(axis, first)
    rigid = rigid_directions(linear, point)[: linear.first]
    r = np.zeros((sector.M.shape[0], 6))
    r[: linear.first] = rigid
    motions = np.stack((r[:, :3] @ axis, r[:, :3] @ across, r[:, 3:] @ axis, r[:, 3:] @ across), axis=1)
    share = np.array((1.0, 0.5, 1.0, 0.5)) * count
    total = share * np.einsum("ik,ik->k", motions.conj(), sector.M @ motions).real
    effective = share * np.abs(vectors.conj().T @ (sector.M @ motions)) ** 2
    effective[diameters != 0, 0::2] = 0.0
    effective[diameters != 1, 1::2] = 0.0
    return effective, total


def _terms(linear: Linearised, faces: CyclicFaces) -> tuple[csr_matrix, csr_matrix, np.ndarray, np.ndarray]:
    """Return terms (f, n) of the nodes of a face, those of the other face turned by one sector, dofs (f,) of the
    former, and the signs (f,) of the turn."""
    system, dim = linear.system, linear.system.dimension
    i, k = np.nonzero(faces.weights)
    axis = faces.on_axis
    node = np.concatenate((faces.nodes, axis))
    other = np.concatenate((faces.others[i, k], axis))
    weight = np.concatenate((faces.weights[i, k], np.ones(len(axis))))
    follows = np.concatenate((i, len(faces.nodes) + np.arange(len(axis))))
    spin = np.concatenate((faces.turning, system.nodes.rotational[axis]))
    turn = faces.rotation
    rotations = (np.flatnonzero(spin), dim, turn if dim == 3 else np.eye(1))
    near, far, own = [], [], []
    for some, first, R in ((np.arange(len(node)), 0, turn), rotations):
        size, place = len(R), np.full(len(node), -1)
        place[some] = np.arange(len(some))
        dofs = (system.offset[node[some]] + first)[:, None] + np.arange(size)
        f = np.arange(dofs.size)
        near.append(coo_matrix((np.ones(f.size), (f, dofs.ravel())), shape=(f.size, linear.first)))
        mine = np.flatnonzero(place[follows] >= 0)
        row = (place[follows[mine]] * size)[:, None, None] + np.arange(size)[:, None]
        column = (system.offset[other[mine]] + first)[:, None, None] + np.arange(size)
        value = -weight[mine, None, None] * R
        entries = (a.ravel() for a in np.broadcast_arrays(value, row, column))
        data, rows, columns = entries
        far.append(coo_matrix((data, (rows, columns)), shape=(f.size, linear.first)))
        own.append(np.where((some < len(faces.nodes))[:, None], dofs, -1).ravel())
    sign = np.full(sum(map(len, own)), float(faces.turn))
    return vstack(near, format="csr"), vstack(far, format="csr"), np.concatenate(own), sign
