"""Bending of one element beyond which the errors of its formulation show in the results.

Measured on a straight cantilever that a moment bends to an arc, displacement of the end, one element: co-rotational
beams 0.015 % at 30 degrees and 0.1 % at 57; generalised strains 12 % at 30 degrees (they measure sines); quadrilateral
shells 0.1 % at 30 degrees and 0.9 % at 57.  The default beams are exact there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fem_mbs.elements.registry import Watch

__all__ = ["bending_watch", "plane_bending", "space_bending"]

_MOST = 30.0  # [degrees] per element


def plane_bending(par, dof, rot, Q, D):
    """Return the angle (n,) [degrees] by which the end sections of each element in the plane have turned against each
    other."""
    return np.rad2deg(np.abs(Q[dof[:, 5]] - Q[dof[:, 2]]))


def space_bending(triad: int) -> Callable:
    """Return a function like `plane_bending` of beams in space: the angle between the normals of the end sections.

    ``triad``: first of the parameters (18,) that hold the axes of the element at both ends, as their nodes have them.
    """

    def bending(par, dof, rot, Q, D):
        R = D.reshape(-1, 3, 3)
        axes = [par[:, triad + 9 * k : triad + 9 * k + 9].reshape(-1, 3, 3)[:, :, 0] for k in range(2)]
        p, q = (np.einsum("eij,ej->ei", R[rot[:, k]], axes[k]) for k in range(2))
        return np.rad2deg(np.arctan2(np.linalg.norm(np.cross(p, q), axis=1), (p * q).sum(axis=1)))

    return bending


def bending_watch(values: Callable, error: str) -> Watch:
    """Return the watch of an angle [degrees] of bending; ``error``: what the results are off by."""
    return Watch(
        values,
        _MOST,
        math.inf,
        "bending of one element",
        f"{error}: take more elements there",
        unit="degrees",
        from_start=True,
    )
