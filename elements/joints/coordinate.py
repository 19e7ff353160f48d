"""One coordinate of two ends by its kind: the length between points, a displacement along a direction, an angle.

What acts on a coordinate (`fem_mbs.elements.springs.nonlinear`, `motor`, `user`) is written once for all kinds.  The
first parameters of such an element are the kind and what the kind needs:

LENGTH  offsets of both points (body axes): n = |P_b - P_a|, with the quotient of `fem_mbs.elements.springs.spring`,
        (d0 + d1)/(n0 + n1) for the direction
OFFSET  direction e in end a, offsets: (P_b - P_a).e
ANGLE   plane: nothing, the difference of the rotations; space: u, v of end a, b of end b (`coordinates.angle_rows`);
        `hist` holds the angle at the start of the step, so any number of turns counts

As in `fem_mbs.elements.coordinates`, row.U = s1 - s0 exactly, row1 = ds1/dU, G = d row/dU.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.contract import ONE_STATE, RULE, TANGENT, inner
from fem_mbs.elements.common import add_arm_tangent
from fem_mbs.elements.coordinates import (
    angle_gradient,
    angle_rows,
    angle_vectors,
    dot,
    nearest_angle,
    offset_rate,
    offset_rows,
)
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate, relative_angle, spin

__all__ = [
    "ANGLE",
    "LENGTH",
    "OFFSET",
    "coordinate_columns",
    "coordinate_count",
    "coordinate_rate",
    "coordinate_rows",
    "coordinate_step",
    "coordinate_turns",
    "workspace",
]

LENGTH, OFFSET, ANGLE = 0, 1, 2


def coordinate_columns(kind: int, dimension: int) -> tuple[str, ...]:
    """Names of the first parameter columns of an element on a coordinate."""
    axes = "xyz"[:dimension]
    offsets = tuple(f"a{c}_{end} [m]" for end in "ab" for c in axes)
    if kind == LENGTH:
        return ("coordinate", *offsets)
    if kind == OFFSET:
        return ("coordinate", *(f"e{c}" for c in axes), *offsets)
    return ("coordinate", *((f"{v}{c}" for v in "uvb" for c in axes) if dimension == 3 else ()))


@inner
def coordinate_count(kind, dim):
    """Number of the parameter columns that `coordinate_columns` names."""
    if kind == LENGTH:
        return 1 + 2 * dim
    if kind == OFFSET:
        return 1 + 3 * dim
    return 10 if dim == 3 else 1


@inner
def workspace(dim):
    """Work arrays of the functions below, in their order, and row, row1, vel (2 n,), G (2 n, 2 n)."""
    n = 3 * (dim - 1)
    return (
        np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n)),
        np.empty((16, 3)), np.empty((2, 3, 3)), np.empty((2, 6)), np.empty((4, dim)),
        np.empty(2 * n), np.empty(2 * n), np.empty(2 * n), np.empty((2 * n, 2 * n)),
    )  # fmt: skip


# --- length ----------------------------------------------------------------------------------------------------------
@inner
def _length_rows(job, Q, D, U, dof, rot, e, par, column, P, B, J, X, row, row1, G):
    """Coordinate n = |P_b - P_a|; returns n0, n1, n1 - n0.  At n = 0 the direction counts as zero."""
    dim = P.shape[2]
    n = B.shape[2]
    d0, d1, w, g = X[0], X[1], X[2], X[3]
    point(Q, D, U, dof, rot, e, 0, par, column, P[0], B[0], J[0])
    point(Q, D, U, dof, rot, e, 1, par, column + dim, P[1], B[1], J[1])
    n0 = n1 = 0.0
    for i in range(dim):
        d0[i], d1[i] = P[1, P0, i] - P[0, P0, i], P[1, P1, i] - P[0, P1, i]
        n0 += d0[i] * d0[i]
        n1 += d1[i] * d1[i]
    n0, n1 = math.sqrt(n0), math.sqrt(n1)
    total = n0 + n1
    dn = 0.0
    for i in range(dim):
        w[i] = (d0[i] + d1[i]) / total if total > 0 else 0.0
        g[i] = d1[i] / n1 if n1 > 0 else 0.0
        dn += w[i] * (P[1, DP, i] - P[0, DP, i])
    for j in range(n):
        row[j] = row[n + j] = row1[j] = row1[n + j] = 0.0
        for i in range(dim):
            row[j] -= B[0, i, j] * w[i]
            row[n + j] += B[1, i, j] * w[i]
            row1[j] -= J[0, i, j] * g[i]
            row1[n + j] += J[1, i, j] * g[i]
    if job != TANGENT:
        return n0, n1, dn
    for k in range(2):
        for i in range(n):
            along = 0.0
            for p in range(dim):
                along += B[k, p, i] * w[p]
            for m in range(2):
                sign = 1.0 if k == m else -1.0
                for j in range(n):
                    # dw/dd1 = (I - w g^T)/(n0 + n1)
                    part = -along * row1[m * n + j] * (1.0 if m == 1 else -1.0)
                    for p in range(dim):
                        part += B[k, p, i] * J[m, p, j]
                    G[k * n + i, m * n + j] = sign * part / total if total > 0 else 0.0
    add_arm_tangent(G, -1.0, w, J[0], 0)
    add_arm_tangent(G, 1.0, w, J[1], 1)
    return n0, n1, dn


# --- angle in the plane ----------------------------------------------------------------------------------------------
@inner
def _plane_angle_rows(job, Q, U, dof, e, row, row1, G):
    """Coordinate phi_b - phi_a of unwrapped rotations; returns phi0 and dphi."""
    a, b = dof[e, 2], dof[e, 5]
    dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
    for i in range(6):
        row[i] = row1[i] = 0.0
    row[2], row[5] = -kappa, kappa
    row1[2], row1[5] = -1 / (1 + 0.25 * U[a] * U[a]), 1 / (1 + 0.25 * U[b] * U[b])
    if job == TANGENT:
        for i in range(6):
            for j in range(6):
                G[i, j] = 0.0
        G[2, 2], G[2, 5] = -by_a, -by_b
        G[5, 2], G[5, 5] = by_a, by_b
    return Q[0, b] - Q[0, a], dphi


# --- any of them -----------------------------------------------------------------------------------------------------
@inner
def coordinate_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G):
    """Fills row, row1 and, for TANGENT, G; returns s0, s1 and s1 - s0 without cancellation.

    `force` kernels only: of one-state rules both rows of the state are alike, and s0 = s1.
    """
    dim = P.shape[2]
    kind = int(par[e, 0])
    if kind == LENGTH:
        return _length_rows(job, Q, D, U, dof, rot, e, par, 1, P, B, J, X, row, row1, G)
    if kind == OFFSET:
        s0, s1 = offset_rows(job, Q, D, U, dof, rot, e, par, 1, P, B, J, row, row1, G)
        ds = 0.0
        for i in range(row.shape[0]):
            ds += row[i] * U[dof[e, i]]
        return s0, s1, ds
    if dim == 2:
        s0, ds = _plane_angle_rows(job, Q, U, dof, e, row, row1, G)
        return s0, s0 + ds, ds
    ds, c1, s1 = angle_rows(job, D, U, dof, rot, e, par, 1, W, T, Z, row, row1, G)
    if ctl[RULE] == ONE_STATE:
        s0 = nearest_angle(c1, s1, hist[e, 0])
        return s0, s0, 0.0
    return hist[e, 0], hist[e, 0] + ds, ds


@inner
def coordinate_step(ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G):
    """The same for `report` kernels, which see the true rows: s0, s1, s1 - s0 of the step in every rule."""
    if ctl[RULE] != ONE_STATE:
        return coordinate_rows(0, ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G)
    dim = P.shape[2]
    kind = int(par[e, 0])
    if kind == ANGLE:
        if dim == 2:
            s0, s1 = Q[0, dof[e, 5]] - Q[0, dof[e, 2]], Q[1, dof[e, 5]] - Q[1, dof[e, 2]]
        else:
            c0, z0, c1, z1 = angle_vectors(D, rot, par, e, 1, W)
            s0, s1 = nearest_angle(c0, z0, hist[e, 0]), nearest_angle(c1, z1, hist[e, 0])
    elif kind == OFFSET:
        s0, s1 = offset_rows(0, Q, D, U, dof, rot, e, par, 1, P, B, J, row, row1, G)
    else:
        s0, s1, _ = _length_rows(0, Q, D, U, dof, rot, e, par, 1, P, B, J, X, row, row1, G)
    return s0, s1, s1 - s0


@inner
def coordinate_rate(V, D, dof, rot, state, e, par, P, W, Z, X):
    """ds/dt at a state (0, 1) from the velocities there, after `coordinate_step`."""
    dim = P.shape[2]
    kind = int(par[e, 0])
    if kind == OFFSET:
        return offset_rate(V, D, dof, rot, state, e, P, X[:2], X[2:])
    if kind == LENGTH:
        row, arm = (P1, R1) if state == 1 else (P0, R0)
        n = rate = 0.0
        for i in range(dim):
            n += (P[1, row, i] - P[0, row, i]) ** 2
        for k in range(2):
            point_rate(V, D, dof, rot, state, e, k, P[k, arm], X[k], X[2 + k])
        if n > 0:
            for i in range(dim):
                rate += (P[1, row, i] - P[0, row, i]) * (X[1, i] - X[0, i])
            rate /= math.sqrt(n)
        return rate
    if dim == 2:
        return V[state, dof[e, 5]] - V[state, dof[e, 2]]
    c0, z0, c1, z1 = angle_vectors(D, rot, par, e, 1, W)
    x, y = Z[0, :3], Z[1, :3]
    if state == 1:
        angle_gradient(W, 1, c1, z1, x)
    else:
        angle_gradient(W, 0, c0, z0, x)
    spin(V, D, dof, rot, state, e, 1, y)
    rate = dot(x, y)
    spin(V, D, dof, rot, state, e, 0, y)
    return rate - dot(x, y)


@inner
def coordinate_turns(first, D, U, dof, rot, hist, e, par, W, T, Z, row, row1, G, ctl):
    """Jobs START (``first``) and COMMIT: the angle at the end of the step, or at the start, goes to `hist`."""
    if int(par[e, 0]) != ANGLE or D.shape[2] == 2:
        return
    _, _, c1, s1 = angle_vectors(D, rot, par, e, 1, W)
    near = hist[e, 0]  # START: turns of an earlier analysis count on
    if not first and ctl[RULE] != ONE_STATE:
        near += angle_rows(0, D, U, dof, rot, e, par, 1, W, T, Z, row, row1, G)[0]
    hist[e, 0] = nearest_angle(c1, s1, near)  # not the sum: round-off must not add up
