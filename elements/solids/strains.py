"""Compiled functions of solid elements in space: strains, their matrices, small dense algebra.

Components xx, yy, zz, xy, yz, zx with gamma = 2 E_xy; long directions of arrays (3 n displacements) come last, so that
inner loops run over neighbours.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import ONE_STATE, RULE, T0, T1, TM, inner
from fem_mbs.elements.common import time_value

__all__ = [
    "add_product",
    "cholesky",
    "forward",
    "gradient",
    "heat",
    "inverse3",
    "multiply",
    "rate",
    "strain",
    "strain_matrix",
    "tail",
    "with_initial_stresses",
]


@inner
def heat(ctl, fun, index):
    """Return the factor of the initial strains over a step: the mean of both ends, so that the work of heating is
    exact."""
    if ctl[RULE] == ONE_STATE:
        return time_value(fun, index, TM, 1.0)
    return 0.5 * (time_value(fun, index, T0, 1.0) + time_value(fun, index, T1, 1.0))


@inner
def tail(width, first, points, size):
    """Return the layout of a parameter row after the nodes.

    The values are: whether it holds shares of the initial strain at the points, the column where initial stresses
    (``size`` each) begin, and whether it holds these.
    """
    more = width - first
    shared = more == points or more == (1 + size) * points
    return shared, first + (points if shared else 0), more >= size * points


def with_initial_stresses(par, first, points, stresses, factor):
    """Return parameter rows with stresses (n, points * size) times a factor added to the initial stresses."""
    size = stresses.shape[1] // points
    _, start, present = tail(par.shape[1], first, points, size)
    par = par.copy() if present else np.pad(par, ((0, 0), (0, size * points)))
    par[:, start : start + size * points] += factor * stresses
    return par


@inner
def inverse3(J, out):
    """Write the inverse of a 3x3 matrix to out, and return its determinant."""
    out[0, 0] = J[1, 1] * J[2, 2] - J[1, 2] * J[2, 1]
    out[0, 1] = J[0, 2] * J[2, 1] - J[0, 1] * J[2, 2]
    out[0, 2] = J[0, 1] * J[1, 2] - J[0, 2] * J[1, 1]
    out[1, 0] = J[1, 2] * J[2, 0] - J[1, 0] * J[2, 2]
    out[1, 1] = J[0, 0] * J[2, 2] - J[0, 2] * J[2, 0]
    out[1, 2] = J[0, 2] * J[1, 0] - J[0, 0] * J[1, 2]
    out[2, 0] = J[1, 0] * J[2, 1] - J[1, 1] * J[2, 0]
    out[2, 1] = J[0, 1] * J[2, 0] - J[0, 0] * J[2, 1]
    out[2, 2] = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
    det = J[0, 0] * out[0, 0] + J[0, 1] * out[1, 0] + J[0, 2] * out[2, 0]
    for i in range(3):
        for j in range(3):
            out[i, j] /= det
    return det


@inner
def gradient(g, u, n, A):
    """Write sum_a u_a (x) g_a to A."""
    # nine sums side by side: each waits for its own last addition only
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(n):
        p, q, r = g[0, a], g[1, a], g[2, a]
        x, y, z = u[a, 0], u[a, 1], u[a, 2]
        xx += x * p
        xy += x * q
        xz += x * r
        yx += y * p
        yy += y * q
        yz += y * r
        zx += z * p
        zy += z * q
        zz += z * r
    A[0, 0], A[0, 1], A[0, 2] = xx, xy, xz
    A[1, 0], A[1, 1], A[1, 2] = yx, yy, yz
    A[2, 0], A[2, 1], A[2, 2] = zx, zy, zz


@inner
def strain(A, nonlinear, factor, E):
    """Add factor times Green's strain, or the small strain, of the displacement gradient A to E."""
    for i in range(3):
        j = (i + 1) % 3
        s, t = A[i, i], A[i, j] + A[j, i]
        if nonlinear:
            for k in range(3):
                s += 0.5 * A[k, i] * A[k, i]
                t += A[k, i] * A[k, j]
        E[i] += factor * s
        E[3 + i] += factor * t


@inner
def rate(F, A, factor, E):
    """Add factor times the symmetric part of F^T A, the change of the strain along the displacement gradient A, to
    E."""
    for i in range(3):
        j = (i + 1) % 3
        s, t = 0.0, 0.0
        for k in range(3):
            s += F[k, i] * A[k, i]
            t += F[k, i] * A[k, j] + F[k, j] * A[k, i]
        E[i] += factor * s
        E[3 + i] += factor * t


@inner
def strain_matrix(F, g, n, B):
    """Fill B (6, 3 n) with the derivatives of the strain by the displacements."""
    for c in range(3):
        d = (c + 1) % 3
        for a in range(n):
            for i in range(3):
                B[c, 3 * a + i] = F[i, c] * g[c, a]
                B[3 + c, 3 * a + i] = F[i, c] * g[d, a] + F[i, d] * g[c, a]


@inner
def multiply(C, B, factor, out):
    """Write factor C B to out, columns in the inner loop."""
    m = B.shape[1]
    for i in range(6):
        row = out[i]
        for j in range(m):
            row[j] = 0.0
        for k in range(6):
            c = factor * C[i, k]
            if c != 0.0:
                other = B[k]
                for j in range(m):
                    row[j] += c * other[j]


@inner
def add_product(A, B, K):
    """Add A^T B to K for A (6, m), B (6, k)."""
    k = B.shape[1]
    b0, b1, b2, b3, b4, b5 = B[0], B[1], B[2], B[3], B[4], B[5]
    for i in range(A.shape[1]):
        a0, a1, a2, a3, a4, a5 = A[0, i], A[1, i], A[2, i], A[3, i], A[4, i], A[5, i]
        row = K[i]
        for j in range(k):
            row[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j] + a4 * b4[j] + a5 * b5[j]


@inner
def cholesky(K):
    """Replace the lower triangle of K by L of K = L L^T."""
    for j in range(K.shape[0]):
        for i in range(j, K.shape[0]):
            s = K[i, j]
            for k in range(j):
                s -= K[i, k] * K[j, k]
            K[i, j] = np.sqrt(s) if i == j else s / K[j, j]


@inner
def forward(L, b):
    """Replace b (m, k) by L^-1 b."""
    for i in range(b.shape[0]):
        for k in range(i):
            c = L[i, k]
            for j in range(b.shape[1]):
                b[i, j] -= c * b[k, j]
        for j in range(b.shape[1]):
            b[i, j] /= L[i, i]
