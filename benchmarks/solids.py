"""Stiffness and mass of a box of quadratic tetrahedra: test matrices of solid parts of any size, in a few lines."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix

#: The six tetrahedra of a cube around its diagonal (Kuhn), corners as offsets along x, y, z; positive volumes.
_KUHN = np.array(
    [
        [[0, 0, 0], np.eye(3, dtype=int)[a], np.eye(3, dtype=int)[a] + np.eye(3, dtype=int)[b], [1, 1, 1]]
        for a, b in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2))
    ]
)
_KUHN[3:, 1:3] = _KUHN[3:, 2:0:-1]
_EDGES = np.array([[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]])


def _points(order: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Points (q, 4) in volume coordinates and weights (q,) that sum to one, by collapsing a cube; exact to order 5."""
    g, w = np.polynomial.legendre.leggauss(order)
    g, w = 0.5 * (g + 1.0), 0.5 * w
    a, b, c = (x.ravel() for x in np.meshgrid(g, g, g, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * (1.0 - a) ** 2 * (1.0 - b) * 6.0
    y, z = b * (1.0 - a), c * (1.0 - a) * (1.0 - b)
    return np.column_stack((1.0 - a - y - z, a, y, z)), weight


def tet10(x: np.ndarray, E: float, nu: float, rho: float, stress: np.ndarray) -> tuple[np.ndarray, ...]:
    """K, M and K_g (t, 30, 30) of straight-sided tetrahedra with corners x (t, 4, 3) under a uniform stress (3, 3).

    Nodes: corners, then edges.  K_g_(ar)(bs) = delta_rs integral of N_a,i sigma_ij N_b,j."""
    L, weight = _points()
    edges = np.concatenate((np.ones((len(x), 1, 4)), x.transpose(0, 2, 1)), axis=1)
    dL = np.linalg.inv(edges)[:, :, 1:]  # gradients of the volume coordinates (t, 4, 3)
    volume = np.abs(np.linalg.det(edges)) / 6.0
    i, j = _EDGES.T
    N = np.concatenate((L * (2.0 * L - 1.0), 4.0 * L[:, i] * L[:, j]), axis=1)
    dN = np.concatenate(
        (
            (4.0 * L - 1.0)[None, :, :, None] * dL[:, None],
            4.0 * (L[None, :, i, None] * dL[:, None, j] + L[None, :, j, None] * dL[:, None, i]),
        ),
        axis=2,
    )  # (t, q, 10, 3)
    G, lame = E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    # K_(ar)(bs) = integral of lame N_a,r N_b,s + G (N_a,s N_b,r + delta_rs N_a,i N_b,i)
    P = np.einsum("q,tqar,tqbs->tarbs", weight, dN, dN)
    K = lame * P + G * P.transpose(0, 1, 4, 3, 2)
    K += G * np.einsum("taibi,rs->tarbs", P, np.eye(3))
    M = rho * np.einsum("q,qa,qb,rs->arbs", weight, N, N, np.eye(3))
    Kg = np.einsum("taibj,ij,rs->tarbs", P, stress, np.eye(3))
    v = volume[:, None, None]
    return v * K.reshape(-1, 30, 30), v * M.reshape(1, 30, 30), v * Kg.reshape(-1, 30, 30)


def mesh(nx: int, ny: int, nz: int, size=(1.0, 0.1, 0.1)) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (m, 3) of a box of nx x ny x nz cubes and their elements' nodes (cubes, 6, 10)."""
    shape = np.array([nx, ny, nz])
    corners = 2 * _KUHN  # on the grid of half cubes
    local = np.concatenate((corners, (corners[:, _EDGES[:, 0]] + corners[:, _EDGES[:, 1]]) // 2), axis=1)
    cubes = 2 * np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 1, 1, 3)
    at = cubes + local
    grid = 2 * shape + 1
    x = np.stack(np.meshgrid(*(np.arange(g) for g in grid), indexing="ij"), axis=-1).reshape(-1, 3)
    return 0.5 * x * (np.asarray(size) / shape), (at[..., 0] * grid[1] + at[..., 1]) * grid[2] + at[..., 2]


def box(nx: int, ny: int, nz: int, size=(1.0, 0.1, 0.1), E=2.1e11, nu=0.3, rho=7850.0, stress=None):
    """K, M (n, n) of a free box of nx x ny x nz cubes of six tetrahedra, and the places of its nodes (n/3, 3); with a
    uniform stress (3, 3) also K_g."""
    x, nodes = mesh(nx, ny, nz, size)
    given = np.zeros((3, 3)) if stress is None else np.asarray(stress, dtype=float)
    elements = tet10(_KUHN * (np.asarray(size) / (nx, ny, nz)), E, nu, rho, given)
    n = 3 * len(x)
    dof = (3 * nodes[..., None] + np.arange(3)).reshape(len(nodes), 6, 30).astype(np.int32)
    rows = np.broadcast_to(dof[..., :, None], (*dof.shape, 30)).ravel()
    cols = np.broadcast_to(dof[..., None, :], (*dof.shape, 30)).ravel()
    matrices = [
        coo_matrix((np.broadcast_to(e, (len(nodes), 6, 30, 30)).ravel(), (rows, cols)), shape=(n, n)).tocsc()
        for e in elements[: 2 if stress is None else 3]
    ]
    return (*matrices[:2], x, *matrices[2:])


def cantilever(nx: int, n: int, stress=None) -> tuple[csc_matrix, ...]:
    """K, M (and K_g) of a steel bar of 1 x .1 x .1 m, nx x n x n cubes, clamped at x = 0."""
    K, M, x, *more = box(nx, n, n, stress=stress)
    free = np.repeat(x[:, 0] > 0.0, 3)
    return tuple(a[free][:, free].tocsc() for a in (K, M, *more))
