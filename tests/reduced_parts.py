"""Reduced parts of random point masses, for tests."""

from __future__ import annotations

import numpy as np

from fem_mbs.parts.part import Interface, Moments, ReducedPart
from fem_mbs.parts.sid import FlexibleBodyData

N, MODES = 7, 3


def points(seed=1, dim=3):
    """Masses (N,), places (N, dim), shapes (N, dim, n)."""
    rng = np.random.default_rng(seed)
    return rng.random(N) + 0.1, rng.normal(size=(N, dim)), 0.3 * rng.normal(size=(N, dim, MODES))


def moments_of(m, c, phi):
    return Moments(
        m.sum(), m @ c, np.einsum("i,ia,ib->ab", m, c, c), np.einsum("i,iak->ak", m, phi),
        np.einsum("i,ia,ibk->abk", m, c, phi), np.einsum("i,iak,ibl->abkl", m, phi, phi),
    )  # fmt: skip


def random_data(seed=1, dim=3, **options):
    m, c, phi = points(seed, dim)
    A = np.random.default_rng(seed).normal(size=(2, MODES, MODES))
    K, D = A @ np.swapaxes(A, 1, 2)
    return FlexibleBodyData.from_moments(moments_of(m, c, phi), K, D, **options), (m, c, phi, K, D)


def stiff():
    rng = np.random.default_rng(11)
    names = ("ax", "az", "alphay", "wx2", "wxwy", "left.x", "left.ry")
    A = rng.normal(size=(len(names), MODES, MODES))
    return dict(zip(names, A + np.swapaxes(A, 1, 2), strict=True))


def free_part(stiffening=None, seed=1):
    """A free part in space of random masses and shapes, with two interfaces at masses."""
    m, c, phi = points(seed)
    K = random_data(seed)[1][3]
    n = 6 + MODES
    shapes = np.zeros((N, 3, n))
    for a in range(3):
        shapes[:, a, a] = 1.0
        shapes[:, :, 3 + a] = np.cross(np.eye(3)[a], c)
    shapes[:, :, 6:] = phi
    M = np.einsum("i,iak,ial->kl", m, shapes, shapes)
    stiffness = np.zeros((n, n))
    stiffness[6:, 6:] = K
    rng = np.random.default_rng(2)
    boundary = []
    for i in range(2):
        turn = np.hstack((np.zeros((3, 3)), np.eye(3), rng.normal(size=(3, MODES))))
        boundary.append(np.vstack((shapes[i], turn)))
    six = ("x", "y", "z", "rx", "ry", "rz")
    rigid = np.vstack((np.eye(6), np.zeros((MODES, 6))))
    own = {}
    for name, value in (stiffening or {}).items():
        own[name] = np.zeros((n, n))
        own[name][6:, 6:] = value
    return ReducedPart(
        "points", 3, "test",
        (Interface("left", c[0], six, np.array([0])), Interface("right", c[1], six, np.array([1]))),
        stiffness, M, np.concatenate(boundary), rigid, M[:, :3], np.zeros(3), np.zeros(0),
        moments=moments_of(m, c, shapes), stiffening=own,
    )  # fmt: skip
