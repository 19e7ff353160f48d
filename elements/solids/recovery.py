"""Stresses of solid elements as numpy functions: at points, at nodes, true stresses, invariants.

Tensors are rows of components: six in space (xx, yy, zz, xy, yz, zx), four in the plane and about an axis (xx, yy, zz,
xy).  Shear components are those of the tensor: for principal strains halve the gammas first.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from fem_mbs.elements.solids.shapes import dimension, gradients, local_nodes, rule, shape_functions

__all__ = [
    "cauchy_stresses",
    "extrapolation",
    "nodal_average",
    "outputs",
    "point_positions",
    "principal",
    "principal_axes",
    "von_mises",
]

_PAIRS = {6: ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)), 4: ((0, 0), (1, 1), (2, 2), (0, 1))}


def outputs(table, components: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Return stresses and strains, each (e, q, k), of an OUTPUT table (e, 2 q k).

    ``components`` k is 6 in space, 4 in the plane and about an axis.  Strains have the engineering shear gamma.
    """
    table = np.asarray(table, float)
    parts = table.reshape(len(table), -1, 2, components)
    return parts[:, :, 0], parts[:, :, 1]


def point_positions(cell: str, x, name: str = "full") -> np.ndarray:
    """Return positions (e, q, dim) [m] of the integration points of cells with nodes at x (e, n, dim)."""
    return np.einsum("qn,eni->eqi", shape_functions(cell, rule(cell, name)[0]), np.asarray(x, float))


def _fitting(cell, count):
    """Return exponents of the polynomials that ``count`` integration points determine."""
    dim = dimension(cell)
    flat = {1: [(0, 0)], 3: [(0, 0), (1, 0), (0, 1)]}
    if cell in ("wedge", "wedge15"):
        along = {2: 2, 6: 2, 9: 3}[count]
        return [(*p, k) for k in range(along) for p in flat[count // along]]
    if cell in ("triangle", "triangle6"):
        return flat[count]
    if cell in ("tetra", "tetra10"):
        return [(0, 0, 0)] if count == 1 else [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    side = round(count ** (1 / dim))
    return list(product(range(side), repeat=dim))


@cache
def _extrapolation(cell, name):
    points, nodes = rule(cell, name)[0], local_nodes(cell)
    exponents = np.array(_fitting(cell, len(points)))
    at_points = np.prod(points[:, None, :] ** exponents, axis=2)
    at_nodes = np.prod(nodes[:, None, :] ** exponents, axis=2)
    return np.linalg.solve(at_points.T, at_nodes.T).T


def extrapolation(cell: str, name: str = "full") -> np.ndarray:
    """Return the matrix (n, q) that extrapolates values from the integration points to the nodes.

    It evaluates at the nodes the polynomial that the points determine (Hinton & Campbell 1974,
    doi:10.1002/nme.1620080303).

    Args:
        name: integration of the cell, "full" or "reduced", as in `fem_mbs.elements.solids.shapes.rule`.
    """
    return _extrapolation(cell, name).copy()


def nodal_average(cell: str, cells, values, n: int, name: str = "full", weights=None) -> np.ndarray:
    """Return values at the nodes (n, k), extrapolated from the integration points and averaged over the cells at a
    node.

    Args:
        cells: (e, nodes) numbers of nodes.
        values: (e, q, k) at the integration points.
        n: number of nodes; those without a cell get NaN.
        weights: (e,) of the cells in the average, for example volumes; None: equal.
    """
    cells, values = np.asarray(cells), np.asarray(values, float)
    weights = np.ones(len(cells)) if weights is None else np.asarray(weights, float)
    local = np.einsum("nq,eqk->enk", _extrapolation(cell, name), values) * weights[:, None, None]
    flat = cells.ravel()
    total = np.bincount(flat, np.repeat(weights, cells.shape[1]), minlength=n)
    total[total == 0.0] = np.nan
    columns = [np.bincount(flat, local[:, :, k].ravel(), minlength=n) / total for k in range(values.shape[2])]
    return np.stack(columns, axis=1)


def _tensors(values):
    """Return tensors (..., 3, 3) of components (..., 6 or 4)."""
    values = np.asarray(values, float)
    if values.shape[-1] not in _PAIRS:
        raise ValueError(f"a tensor has 6 components, in the plane 4, not {values.shape[-1]}")
    T = np.zeros((*values.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(_PAIRS[values.shape[-1]]):
        T[..., i, j] = values[..., k]
        T[..., j, i] = values[..., k]
    return T


def von_mises(stress) -> np.ndarray:
    """Return the equivalent stress (...,) [Pa] of stresses (..., 6 or 4): sqrt(3 J2) (von Mises 1913)."""
    s = np.asarray(stress, float)
    shear = np.sum(s[..., 3:] ** 2, axis=-1)
    x, y, z = s[..., 0], s[..., 1], s[..., 2]
    return np.sqrt(0.5 * ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) + 3.0 * shear)


def principal(stress) -> np.ndarray:
    """Return the principal values (..., 3) of tensors (..., 6 or 4), the largest first."""
    return np.linalg.eigvalsh(_tensors(stress))[..., ::-1]


def principal_axes(stress) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal values (..., 3), the largest first, and their unit vectors in the columns of (..., 3, 3)."""
    values, axes = np.linalg.eigh(_tensors(stress))
    return values[..., ::-1], axes[..., ::-1]


def cauchy_stresses(cell: str, X, x, stress, name: str = "full", axisymmetric: bool = False) -> np.ndarray:
    """Return the true stresses F S F^T / det F (e, q, 6 or 4) [Pa] in global axes.

    Args:
        X, x: nodes (e, n, dim) [m] in the reference and in the present configuration.
        stress: second Piola-Kirchhoff stresses S (e, q, 6 or 4) [Pa].
        axisymmetric: about y, x the radius: the hoop stretch is the ratio of the radii.  In the plane the stretch
            across it is one: exact in plane strain; in plane stress the change of thickness is left out.
    """
    X, x = np.asarray(X, float), np.asarray(x, float)
    points = rule(cell, name)[0]
    dN = gradients(cell, points)
    F2 = np.einsum("eni,qkn->eqik", x, dN) @ np.linalg.inv(np.einsum("eni,qkn->eqik", X, dN))
    F = np.zeros((*F2.shape[:2], 3, 3))
    dim = F2.shape[-1]
    F[..., :dim, :dim] = F2
    if dim == 2:
        N = shape_functions(cell, points)
        F[..., 2, 2] = (x[:, :, 0] @ N.T) / (X[:, :, 0] @ N.T) if axisymmetric else 1.0
    true = F @ _tensors(stress) @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]
    return np.stack([true[..., i, j] for i, j in _PAIRS[np.shape(stress)[-1]]], axis=-1)
