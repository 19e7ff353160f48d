"""Masses of shells as `director_mass3` elements, one per pair of nodes.

The kinetic energy of x + z d, interpolated between the nodes, is a quadratic form with a constant matrix over
positions and directors of all nodes.  It is a sum over pairs of nodes: a pair has the coupling of both, and its share
of what each has alone.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from fem_mbs.elements.shells.natural import LINES, lines_of
from fem_mbs.elements.shells.tying import CELLS
from fem_mbs.elements.solids.shapes import exact_rule, gradients, shape_functions

__all__ = ["pairs_of", "shell_masses", "surface_shares"]

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
        for x in (-(3.0**-0.5), 3.0**-0.5):
            for y in (-(3.0**-0.5), 3.0**-0.5):
                N = 0.25 * (1.0 + _X * x) * (1.0 + _Y * y)
                d = 0.25 * np.stack((_X * (1.0 + _Y * y), _Y * (1.0 + _X * x)))
                t = np.einsum("ka,eac->kec", d, X)
                found += np.linalg.norm(np.cross(t[0], t[1]), axis=1)[:, None, None] * np.outer(N, N)
    return found.sum(axis=2)[..., None] * np.eye(n) if lumped else found


def _quadratic_shares(X: np.ndarray, lumped: bool) -> np.ndarray:
    cell = next(name for name, n in CELLS.items() if n == X.shape[1])
    points, weights = exact_rule(cell)
    N = shape_functions(cell, points)
    t = np.einsum("qka,eac->kqec", gradients(cell, points), X)
    area = np.linalg.norm(np.cross(t[0], t[1]), axis=2)
    found = np.einsum("q,qe,qa,qb->eab", weights, area, N, N, optimize=True)
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
