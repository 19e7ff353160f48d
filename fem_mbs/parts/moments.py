"""Moments of a reduced part of which only the mass matrix is known, as from DMIG files or by MacNeal's method.

The mass matrix says all about small motions: mass, centre and inertia tensor are those of its rigid-body motions, and
Melzer's C1 and C2 its coupling of these with shapes.  What it does not say is how the inertia of the body changes with
its deformation (C4 but for its skew part, C3 but for its trace).  With the shapes f that are orthogonal to rigid-body
motions in the mass matrix (mean axes), int f dm = 0 and int c x f dm = 0, and what is not known is taken to be

    int c_a f_bk dm = 0,        int f_ak f_bl dm = delta_ab M_kl/dim,

which is right for small motions about any steady placement and has a positive kinetic energy in large ones; there the
inertia tensor lacks terms of first order in q, Coriolis forces among shapes are missing.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.parts.part import Moments, ReducedPart

__all__ = ["moments_of_mass"]

_SPREAD = 1e-3  # by which the masses along the axes may differ


def moments_of_mass(part: ReducedPart) -> Moments:
    """Return moments of a free part by its mass matrix and rigid-body motions alone; see above.

    Raises:
        ModelError: rigid-body motions have no mass, or another one along each axis (a matrix with a direction).
    """
    dim, R, M = part.dimension, part.rigid, part.mass
    rigid = R.T @ M @ R
    masses = np.diag(rigid)[:dim]
    if not masses.min() > 0.0 or np.ptp(masses) > _SPREAD * masses.max():
        shown = ", ".join(f"{m:.6g}" for m in masses)
        raise ModelError(
            f"its masses along the axes, {shown} {part.units.of('kg').unit}, are not those of a body",
            owner=Owner("Reduced part", part.name),
        )
    # rigid-body shapes: constant t, and W c
    k = R.shape[1]
    t, W = np.zeros((dim, k)), np.zeros((dim, dim, k))
    t[:, :dim] = np.eye(dim)
    mass = float(masses.mean())
    if dim == 2:
        W[:, :, 2] = [[0.0, -1.0], [1.0, 0.0]]
        first = np.array([rigid[1, 2], -rigid[0, 2]])
        own = np.outer(first, first) / mass
        second = own + 0.5 * (rigid[2, 2] - np.trace(own)) * np.eye(2)  # (only the trace matters)
    else:
        for i in range(3):
            W[:, :, 3 + i] = np.cross(np.eye(3)[i], np.eye(3)).T
        # p_ij = e_i . int e_j x c dm
        p = rigid[:3, 3:]
        first = 0.5 * np.array([p[1, 2] - p[2, 1], p[2, 0] - p[0, 2], p[0, 1] - p[1, 0]])
        J = rigid[3:, 3:]
        second = 0.5 * np.trace(J) * np.eye(3) - J
    linear = mass * t + np.einsum("bck,c->bk", W, first)
    mixed = np.einsum("a,bk->abk", first, t) + np.einsum("ac,bck->abk", second, W)
    bilinear = np.einsum("ack,c,bl->abkl", W, first, t)
    quadratic = mass * np.einsum("ak,bl->abkl", t, t) + bilinear + bilinear.transpose(1, 0, 3, 2)
    quadratic += np.einsum("ack,cd,bdl->abkl", W, second, W)
    # p = R a + f, f orthogonal to R in M
    A = np.linalg.solve(rigid, R.T @ M)
    S = np.eye(part.size) - R @ A
    own = np.einsum("abkl,km,ln->abmn", quadratic, A, A, optimize=True)
    own += np.einsum("ab,mn->abmn", np.eye(dim), S.T @ M @ S) / dim
    return Moments(mass, first, second, linear @ A, mixed @ A, own)
