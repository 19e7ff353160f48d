"""Masses of shells as `director_mass3` elements, one per pair of nodes.

The kinetic energy of x + z d, interpolated between the nodes, is a quadratic form with a constant matrix over
positions and directors of all nodes.  It is a sum over pairs of nodes: a pair has the coupling of both, and its share
of what each has alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np

from fem_mbs.elements.shells.natural import LINES, lines_of
from fem_mbs.elements.shells.tying import cell_of
from fem_mbs.elements.solids.shapes import exact_rule, gradients, shape_functions

__all__ = ["mean_powers", "pairs_of", "shell_masses", "surface_shares"]

_ABOUT_NORMAL = 1e-3  # Euler tensor in the surface over that along the normal: no rotation is without inertia
_X, _Y = np.array((-1.0, 1.0, 1.0, -1.0)), np.array((-1.0, -1.0, 1.0, 1.0))


def surface_shares(X: np.ndarray, lumped: bool = False) -> np.ndarray:
    """Return integrals (e, n, n) [m^2] of the products of shape functions over elements with nodes at X (e, n, 3);
    lumped: the sums of their rows on the diagonal, with mid-side nodes the diagonal scaled to the area."""
    e, n, _ = X.shape
    if n not in LINES:
        return _quadratic_shares(X, lumped)
    if n == 3:
        area = 0.5 * np.linalg.norm(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), axis=1)
        found = area[:, None, None] / 12.0 * (np.ones((3, 3)) + np.eye(3))
    else:
        found = np.zeros((e, 4, 4))
        for N, size in _points(X):
            found += size[:, None, None] * np.outer(N, N)
    return found.sum(axis=2)[..., None] * np.eye(n) if lumped else found


def mean_powers(X: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return means (e, 3) of h, h^2 and h^3 over elements with nodes at X (e, n, 3), of values h (e, n) there."""
    found = h[:, :1] ** np.array((1.0, 2.0, 3.0))
    rows = np.flatnonzero(np.ptp(h, axis=1) > 0.0)
    X, h = X[rows], h[rows]
    if X.shape[1] == 3:
        # of a linear function the mean of its m-th power is the mean of all products of m corner values
        products = [list(combinations_with_replacement(range(3), m)) for m in (1, 2, 3)]
        found[rows] = np.stack([h[:, p].prod(axis=2).mean(axis=1) for p in products], axis=1)
    else:
        total, area = np.zeros((len(rows), 3)), np.zeros((len(rows), 1))
        for N, size in _points(X) if X.shape[1] == 4 else _quadratic_points(X):
            total += size[:, None] * (h @ N)[:, None] ** np.array((1.0, 2.0, 3.0))
            area += size[:, None]
        found[rows] = total / area
    return found


def _points(X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield shape functions (4,) and areas (e,) [m^2] of the 2 x 2 integration points of quadrilaterals."""
    for x in (-(3.0**-0.5), 3.0**-0.5):
        for y in (-(3.0**-0.5), 3.0**-0.5):
            d = 0.25 * np.stack((_X * (1.0 + _Y * y), _Y * (1.0 + _X * x)))
            t = np.einsum("ka,eac->kec", d, X)
            yield 0.25 * (1.0 + _X * x) * (1.0 + _Y * y), np.linalg.norm(np.cross(t[0], t[1]), axis=1)


def _quadratic_points(X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield shape functions (n,) and areas (e,) [m^2] of the integration points of cells with nodes on their sides."""
    cell = cell_of(X)
    points, weights = exact_rule(cell)
    t = np.einsum("qka,eac->kqec", gradients(cell, points), X)
    area = weights[:, None] * np.linalg.norm(np.cross(t[0], t[1]), axis=2)
    yield from zip(shape_functions(cell, points), area, strict=True)


def _quadratic_shares(X: np.ndarray, lumped: bool) -> np.ndarray:
    N, area = (np.stack(part) for part in zip(*_quadratic_points(X), strict=True))
    found = np.einsum("qe,qa,qb->eab", area, N, N, optimize=True)
    if not lumped:
        return found
    # sums of rows are negative at corners (Hinton, Rock & Zienkiewicz 1976, doi:10.1002/eqe.4290040305)
    diagonal = np.einsum("eaa->ea", found)
    share = diagonal * (found.sum(axis=(1, 2)) / diagonal.sum(axis=1))[:, None]
    return share[..., None] * np.eye(len(share.T))


def pairs_of(n: int) -> np.ndarray:
    """Return all pairs of nodes (k, 2) of an element of n nodes."""
    return lines_of(n) if n in LINES else np.array(list(combinations(range(n), 2)))


def shell_masses(shares: np.ndarray, normals: np.ndarray, inertia: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return matrices (e, pairs, 8, 8) over (x, d1, d2, d3) of both nodes of every pair of `pairs_of`.

    Args:
        shares: (e, n, n) [m^2] of `surface_shares`.
        normals: (e, n, 3) at the nodes in body axes.
        inertia: (e, 3): mass per area [kg/m^2] and its first and second moment [kg/m, kg] about the middle surface.
        offset: (e,) [m] of the middle surface from the nodes along the normals.
    """
    n = shares.shape[1]
    pairs = pairs_of(n)
    m0, m1, m2 = inertia.T
    first, second = m1 + offset * m0, m2 + 2.0 * offset * m1 + offset**2 * m0

    def own(a, share):
        """Return the block of a node alone, with inertia against rotations about its normal."""
        found = block(a, a, share)
        N = normals[:, a]
        across = np.eye(3) - N[:, :, None] * N[:, None, :]
        found[:, 1:, 1:] += (_ABOUT_NORMAL * m2 * share)[:, None, None] * across
        return found

    def block(a, b, share):
        found = np.empty((len(share), 4, 4))
        found[:, 0, 0] = m0 * share
        found[:, 0, 1:] = (first * share)[:, None] * normals[:, b]
        found[:, 1:, 0] = (first * share)[:, None] * normals[:, a]
        found[:, 1:, 1:] = (second * share)[:, None, None] * normals[:, a, :, None] * normals[:, b, None, :]
        return found

    M = np.zeros((len(shares), len(pairs), 8, 8))
    for k, (i, j) in enumerate(pairs):
        M[:, k, :4, :4] = own(i, shares[:, i, i] / (n - 1))
        M[:, k, 4:, 4:] = own(j, shares[:, j, j] / (n - 1))
        M[:, k, :4, 4:] = block(i, j, shares[:, i, j])
        M[:, k, 4:, :4] = np.swapaxes(M[:, k, :4, 4:], 1, 2)
    return M
