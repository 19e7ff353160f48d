"""Shell elements of all cells: those of natural strains (3 and 4 nodes) and those of tied strains (6 and 8 nodes)."""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.shells import natural, stiffness, tying
from fem_mbs.elements.shells.quadratic_stiffness import (
    axes_at_nodes,
    forces_at_nodes,
    middle_of_nodes,
    node_curvatures,
    quadratic_rows,
    quadratic_stiffness,
)
from fem_mbs.elements.solids.shapes import local_nodes

__all__ = [
    "CELLS", "CORNERS", "area_vectors", "curvatures", "frames", "free_strains", "in_element", "middle_shares",
    "node_axes", "node_forces", "normals", "rows_of", "triads", "turned_tensors",
]  # fmt: skip

#: cell -> number of nodes
CELLS = {**natural.CELLS, **tying.CELLS}
#: number of nodes -> number of corners, which come first
CORNERS = {3: 3, 4: 4, 6: 3, 8: 4}


def _quadratic(X: np.ndarray) -> bool:
    return X.shape[1] > 4


def normals(X: np.ndarray) -> np.ndarray:
    """Return unit normals (e, n, 3) at the nodes of elements with nodes at X (e, n, 3) [m]."""
    return tying.surface_normals(X) if _quadratic(X) else natural.normals(X)


def area_vectors(X: np.ndarray) -> np.ndarray:
    """Return vectors (e, n + 1, 3) normal to quadratic elements with nodes at X (e, n, 3), at the nodes and the middle,
    as long as the area per area in natural coordinates."""
    cell = tying.cell_of(X)
    at = local_nodes(cell)
    t = tying.tangents(cell, X, np.vstack((at, at.mean(axis=0))))
    return np.cross(t[:, :, 0], t[:, :, 1])


def frames(X: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the axes (e, 3, 3) of elements in rows, the third along the normal of the plane of the corners (of a
    quadrilateral: across both diagonals); arguments as in `stiffness.frames`."""
    return stiffness.frames(X[:, : CORNERS[X.shape[1]]], axis)


def node_axes(X: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the axes (e, n, 3, 3) of stresses at the nodes of elements with nodes at X (e, n, 3) and axes (e, 3, 3):
    on quadratic ones those of the element, turned with the normal."""
    if _quadratic(X):
        return axes_at_nodes(X, axes)
    return np.broadcast_to(axes[:, None], (*X.shape[:2], 3, 3))


def triads(x: np.ndarray) -> np.ndarray:
    """Return right-angled triads (e, n, 3, 3) in rows that turn with the surface at the nodes of elements with nodes at
    x (e, n, 3); of linear ones with the element, (e, 1, 3, 3)."""
    if _quadratic(x):
        cell = tying.cell_of(x)
        N = normals(x)
        first = tying.tangents(cell, x, local_nodes(cell))[:, :, 0]
    else:
        N = normals(x).sum(axis=1, keepdims=True)
        N /= np.linalg.norm(N, axis=2)[..., None]
        first = x[:, 1] - x[:, 0] if x.shape[1] == 3 else x[:, 1] + x[:, 2] - x[:, 0] - x[:, 3]
        first = first[:, None]
    first = first - (first * N).sum(axis=2)[..., None] * N
    first /= np.linalg.norm(first, axis=2)[..., None]
    return np.stack((first, np.cross(N, first), N), axis=2)


def turned_tensors(stress: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return symmetric tensors (e, n, 6), xx, yy, zz, xy, yz, zx, turned by matrices (e, n or 1, 3, 3)."""
    xx, yy, zz, xy, yz, zx = np.moveaxis(stress, 2, 0)
    S = np.moveaxis(np.array(((xx, xy, zx), (xy, yy, yz), (zx, yz, zz))), (0, 1), (2, 3))
    S = turn @ S @ np.swapaxes(turn, 2, 3)
    return np.stack([S[..., i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))], axis=2)


def rows_of(X, offset, axes, section, shear, drilling=1.0, damping=0.0, rotation=None) -> np.ndarray:
    """Return parameter rows (e, n_par) of shell elements.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        offset: (e,) distance [m] of the middle surface from the nodes along the normals.
        axes: (e, 3, 3) axes of the elements in rows.
        section: (e, 6, 6) matrix that gives membrane forces [N/m] and moments [N] by membrane strains and curvatures.
        shear: (e, 2, 2) transverse shear stiffness [N/m].
        drilling: (e,) share of the rotations about the normal in the strains of triangles of three nodes.
        damping: ratio beta [s] of damping to stiffness.
        rotation: (e, n, 3, 3) rotation matrices of the nodes at the reference; None: identities.
    """
    middle = X + offset[:, None, None] * normals(X)
    if _quadratic(X):
        matrix, forces = quadratic_stiffness(middle, axes, section, shear)
        return quadratic_rows(X, offset, matrix, forces, damping, rotation)
    made = stiffness.shell_stiffness(middle, axes, section, shear, drilling)
    membrane, bending = (np.trace(section[:, k, k], axis1=1, axis2=2) for k in (slice(3), slice(3, 6)))
    return natural.shell_rows(X, offset, made.matrix, made.middle, damping, rotation, bending / membrane)


def node_forces(X, offset, axes, section, shear, drilling=1.0) -> np.ndarray:
    """Return membrane forces and moments (e, n, 6, m) at the nodes by the strains of the kernels; arguments as in
    `rows_of`."""
    middle = X + offset[:, None, None] * normals(X)
    if _quadratic(X):
        return forces_at_nodes(middle, axes, section, shear)[:, :, :6]
    return stiffness.shell_stiffness(middle, axes, section, shear, drilling).resultants[:, 1:, :6]


def curvatures(X, offset, axes, section) -> np.ndarray:
    """Return the curvature (e, n, 2, 2) [1/m] of the middle surface at the nodes in `node_axes` that stresses count;
    linear elements have none.  Arguments as in `rows_of`."""
    if _quadratic(X):
        return node_curvatures(X + offset[:, None, None] * normals(X), axes, section)
    return np.zeros((*X.shape[:2], 2, 2))


def in_element(values: np.ndarray) -> np.ndarray:
    """Return the values that elements use of values (e, n, ...) at their nodes: linear ones the mean."""
    if values.shape[1] > 4:
        return values
    return np.broadcast_to(values.mean(axis=1, keepdims=True), values.shape)


def middle_shares(n: int) -> np.ndarray:
    """Return the shares (n,) of the values of nodes in that which the forces and moments at the middle belong to."""
    if n <= 4:
        return np.full(n, 1.0 / n)
    return middle_of_nodes(n)


def free_strains(X, offset, axes, strain) -> np.ndarray:
    """Return the strains (e, m) of the kernels of elements that strain and bend freely, as by temperatures.

    Args:
        X, offset, axes: as in `rows_of`.
        strain: (e, n, 6) membrane strains 11, 22, 12 (gamma) and curvatures [1/m] at the nodes, in `node_axes`; of
            membranes (e, n, 3) strains.  Linear elements take the mean.
    """
    if _quadratic(X):
        return tying.free_strains(X, offset, axes, strain)
    mean = strain.mean(axis=1)
    if strain.shape[2] == 3:
        return natural.membrane_strains(X, axes, mean)
    return natural.uniform_strains(X, offset, axes, mean)
