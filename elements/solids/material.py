"""Elasticity matrices of solid elements, components xx, yy, zz, xy, yz, zx with engineering shear strains.

Plain numpy functions for model builders; the kernels take the finished matrices.
"""

from __future__ import annotations

import numpy as np

__all__ = ["isotropic", "orthotropic", "plane", "thermal_strain", "turned"]

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def isotropic(E, nu) -> np.ndarray:
    """Return the elasticity matrix (6, 6) [Pa] of Young's modulus E [Pa] and Poisson's ratio nu; (..., 6, 6) for
    arrays.

    Raises:
        ValueError: E is not positive or nu not between -1 and 0.5.
    """
    E, nu = np.broadcast_arrays(np.asarray(E, float), np.asarray(nu, float))
    if np.any(E <= 0.0) or np.any(nu <= -1.0) or np.any(nu >= 0.5):
        raise ValueError(f"elasticity needs E > 0 and -1 < nu < 0.5, not E = {E}, nu = {nu}")
    G, first = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    C = np.zeros((*E.shape, 6, 6))
    C[..., :3, :3] = first[..., None, None]
    for i in range(6):
        C[..., i, i] += 2 * G if i < 3 else G
    return C


def orthotropic(E, nu, G) -> np.ndarray:
    """Return the elasticity matrix (6, 6) [Pa] of an orthotropic material in its material axes.

    Args:
        E: moduli E1, E2, E3 [Pa].
        nu: ratios nu12, nu13, nu23: strain along the second axis from stress along the first.
        G: shear moduli G12, G13, G23 [Pa].

    Raises:
        ValueError: the matrix of the constants is not positive definite, so no material has them.
    """
    E1, E2, E3 = E
    n12, n13, n23 = nu
    G12, G13, G23 = G
    s = np.zeros((6, 6))
    s[:3, :3] = ((1 / E1, -n12 / E1, -n13 / E1), (-n12 / E1, 1 / E2, -n23 / E2), (-n13 / E1, -n23 / E2, 1 / E3))
    s[3, 3], s[4, 4], s[5, 5] = 1 / G12, 1 / G23, 1 / G13
    scale = 1 / np.sqrt(np.abs(np.diag(s)))
    if not np.linalg.eigvalsh(s * np.outer(scale, scale))[0] > 0.0:
        raise ValueError(f"no material has the constants E = {E}, nu = {nu}, G = {G}: its energy is not positive")
    return np.linalg.inv(s)


def _tensor_turn(axes) -> np.ndarray:
    """Return T (..., 6, 6): engineering strains in material axes = T times those in global axes (Bond 1943)."""
    a = np.asarray(axes, float)
    T = np.empty((*a.shape[:-2], 6, 6))
    for i, (p, q) in enumerate(_PAIRS):
        for j, (k, m) in enumerate(_PAIRS):
            first, second = a[..., k, p] * a[..., m, q], a[..., m, p] * a[..., k, q]
            strain = first if j < 3 else 0.5 * (first + second)
            T[..., i, j] = strain if i < 3 else 2.0 * (first if j < 3 else 0.5 * (first + second))
    return T


def turned(C, axes) -> np.ndarray:
    """Return the matrix in global axes of C (..., 6, 6) in material axes, the columns of ``axes`` (..., 3, 3)."""
    T = _tensor_turn(axes)
    return np.swapaxes(T, -1, -2) @ np.asarray(C, float) @ T


def plane(C, kind: str) -> np.ndarray:
    """Return the matrix (..., 4, 4) over xx, yy, zz, xy of ``kind`` "stress", "strain" or "axisymmetric".

    In plane stress zz is condensed: its row and column are zero.  A material must have the plane as a plane of
    symmetry (no coupling with yz, zx).

    Raises:
        ValueError: an unknown kind, or a material that couples the plane with shear out of it.
    """
    C = np.asarray(C, float)
    if kind not in ("stress", "strain", "axisymmetric"):
        raise ValueError(f'kind {kind!r} is not one of "stress", "strain", "axisymmetric"')
    if np.abs(C[..., :4, 4:]).max() > 1e-9 * np.abs(C).max():
        raise ValueError("the material couples the plane with shear out of it; turn its axes into the plane")
    C4 = C[..., :4, :4].copy()
    if kind == "stress":
        C4 -= C[..., :4, 2:3] * C[..., 2:3, :4] / C[..., 2:3, 2:3]
        C4[..., 2, :], C4[..., :, 2] = 0.0, 0.0
    return C4


def thermal_strain(expansion, change, axes=None) -> np.ndarray:
    """Return the initial strains (..., 6) of a change (...) of temperature [K].

    ``expansion`` [1/K] is a number, or three values along material axes: the columns of ``axes`` (3, 3), global axes if
    None.
    """
    a = np.broadcast_to(np.asarray(expansion, float), (3,))
    tensor = np.diag(a) if axes is None else np.asarray(axes) @ np.diag(a) @ np.asarray(axes).T
    row = np.array([tensor[i, j] * (1.0 if i == j else 2.0) for i, j in _PAIRS])
    return np.asarray(change, float)[..., None] * row
