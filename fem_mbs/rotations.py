"""Rotation matrices of rotation vectors, and back, of many at once.

The module `scipy.spatial.transform` has these as well, but takes .1 s to load.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["rotation_matrices", "rotation_vectors"]


def rotation_matrices(vectors: ArrayLike) -> np.ndarray:
    """Return the rotation matrices (.., 3, 3) of rotation vectors (.., 3) [rad] (Rodrigues 1840)."""
    v = np.asarray(vectors, float)
    angle = np.sqrt(np.einsum("...i,...i", v, v))
    half = np.sinc(angle / (2.0 * np.pi))  # sin(angle/2) / (angle/2)
    a, b = np.sinc(angle / np.pi), 0.5 * half * half
    along = b[..., None] * v
    R = v[..., :, None] * along[..., None, :]
    across = a[..., None] * v
    cosine = np.cos(angle)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        R[..., i, i] += cosine
        R[..., k, j] += across[..., i]
        R[..., j, k] -= across[..., i]
    return R


def rotation_vectors(matrices: ArrayLike) -> np.ndarray:
    """Return the rotation vectors (.., 3) [rad], of at most half a turn, of rotation matrices (.., 3, 3).

    The quaternion is the row of its products with itself that belongs to the largest of its four numbers (Shepperd
    1978).
    """
    R = np.asarray(matrices, float)
    products = np.empty((*R.shape[:-2], 4, 4))
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    trace = diagonal.sum(axis=-1)
    products[..., 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        products[..., 1 + i, 1 + i] = 1.0 - trace + 2.0 * diagonal[..., i]
        products[..., 0, 1 + i] = products[..., 1 + i, 0] = R[..., k, j] - R[..., j, k]
        products[..., 1 + j, 1 + k] = products[..., 1 + k, 1 + j] = R[..., k, j] + R[..., j, k]
    largest = np.diagonal(products, axis1=-2, axis2=-1).argmax(axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    q *= np.where(q[..., :1] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    return q[..., 1:] * np.divide(angle, sine, out=np.zeros_like(sine), where=sine > 0.0)
