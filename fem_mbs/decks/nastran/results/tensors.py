"""Principal values and equivalent stresses and strains of Nastran's tables.

Stresses and strains in a plane are rows x, y, xy, in space x, y, z, xy, yz, zx; the shear of strains is gamma.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.solids.recovery import principal, von_mises

__all__ = ["in_plane", "in_space", "turned"]


def _tensor(values: np.ndarray, strain: bool) -> np.ndarray:
    """Return components of tensors: half of gamma where they are strains."""
    first = values.shape[-1] // 2 + (values.shape[-1] == 3)
    out = np.array(values, float)
    out[..., first:] *= 0.5 if strain else 1.0
    return out


def turned(values: np.ndarray, c: np.ndarray, s: np.ndarray, strain: bool = False) -> np.ndarray:
    """Return components (..., 3) in a plane along axes turned by an angle with cosine c and sine s (...,)."""
    x, y, xy = np.moveaxis(_tensor(values, strain), -1, 0)
    both = 2.0 * c * s * xy
    shear = (c * c - s * s) * xy - c * s * (x - y)
    return np.stack((c * c * x + s * s * y + both, s * s * x + c * c * y - both, shear * (2.0 if strain else 1.0)), -1)


def in_plane(values: np.ndarray, strain: bool = False, mises: bool = True) -> np.ndarray:
    """Return (..., 7): components x, y, xy, the angle [degrees] of the larger principal value from x, the principal
    values, and the equivalent value of von Mises, of strains sqrt(4/9 (x^2 + y^2 - x y) + xy^2/3); or the largest shear
    (of strains gamma)."""
    x, y, xy = np.moveaxis(_tensor(values, strain), -1, 0)
    angle = np.rad2deg(0.5 * np.arctan2(2.0 * xy, x - y))
    middle, radius = 0.5 * (x + y), np.hypot(0.5 * (x - y), xy)
    if mises:
        last = np.sqrt(x * x + y * y - x * y + 3.0 * xy * xy) * (2.0 / 3.0 if strain else 1.0)
    else:
        last = radius * (2.0 if strain else 1.0)
    more = np.stack((angle, middle + radius, middle - radius, last), -1)
    return np.concatenate((np.asarray(values, float), more), axis=-1)


def in_space(values: np.ndarray, strain: bool = False, mises: bool = True) -> np.ndarray:
    """Return (..., 11): components x, y, z, xy, yz, zx, principal values A (the largest), B (the smallest) and C, the
    mean pressure, and the equivalent value of von Mises, of strains 2/3 of that of the tensor; or the octahedral shear
    (of strains gamma)."""
    tensor = _tensor(values, strain)
    A, C, B = np.moveaxis(principal(tensor), -1, 0)
    equivalent = von_mises(tensor)
    if mises:
        last = equivalent * (2.0 / 3.0 if strain else 1.0)
    else:
        last = equivalent * np.sqrt(2.0) / 3.0 * (2.0 if strain else 1.0)
    pressure = -tensor[..., :3].mean(axis=-1)
    return np.concatenate((np.asarray(values, float), np.stack((A, B, C, pressure, last), -1)), axis=-1)
