"""Scalar coordinates of two ends: the distance of two points, a displacement along a direction, an angle.

A `Coordinate` holds the compiled functions of one coordinate s.  `fem_mbs.elements.joints.coordinate_force` combines it
with a force law.  Its parameters are vectors in body axes of the ends, from a given column on:

length        offsets of both points: s = |P_b - P_a|, with the discrete gradient of `fem_mbs.elements.springs.spring`,
              (d0 + d1)/(n0 + n1) for the direction
displacement  direction e in end a, offsets of both points: s = (P_b - P_a).e
angle         plane: none, s is the difference of the rotations; space: u, v of end a, b, c of end b
              (`fem_mbs.elements.coordinates.angle_rows`); ``hist[:, 0]`` holds the angle at the start of the step, with
              its full turns

As in `fem_mbs.elements.coordinates`, row.U = s1 - s0 exactly, row1 = ds1/dU, G = d row/dU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.contract import FORCE, ONE_STATE, RULE, SF, SK, TANGENT, WV, H, inline, inner
from fem_mbs.elements.common import add_arm_tangent
from fem_mbs.elements.coordinates import (
    ANGLE_COLUMNS,
    ANGLE_ROOM,
    angle_gradient,
    angle_rows,
    angle_vectors,
    dot,
    nearest_angle,
    offset_rate,
    offset_rows,
    spring_rows,
)
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate, relative_angle, spin
from fem_mbs.late import dataclass

__all__ = ["ANGLE", "LENGTH", "OFFSET", "Coordinate", "coordinate"]

LENGTH, OFFSET, ANGLE = 0, 1, 2


@dataclass(frozen=True)
class Coordinate:
    """Holds a coordinate s of two ends: its names, and the compiled functions of its kinematics.

    ``workspace(dim)`` returns the work arrays of the other functions, their argument ``work``:

    ``rows(job, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G)`` -> s0, s1, s1 - s0 without
        cancellation; fills row, row1 (2 n,) and, for TANGENT, G (2 n, 2 n), which are zero at first.  For
        `force` kernels: one-state rules see two equal states, s0 = s1
    ``step(ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G)`` -> s0, s1, s1 - s0 of the step in every
        rule.  For `report` kernels, which get the true rows of the state
    ``rate(V, D, dof, rot, state, e, work)`` -> ds/dt at a state (0, 1), after ``step``
    ``turns(first, ctl, D, U, dof, rot, hist, e, par, column, work, row, row1, G)``: jobs START (``first``) and COMMIT

    ``spring``: `fem_mbs.elements.coordinates.spring_rows`, or the same for rows with few entries

    ``columns`` name the parameters, ``vectors`` counts the vectors among them; ``memory`` counts the columns of `hist`.
    """

    name: str
    unit: str
    force: str
    force_unit: str
    columns: tuple[str, ...]
    vectors: int
    memory: int
    workspace: Callable[..., Any]
    rows: Callable[..., Any]
    step: Callable[..., Any]
    rate: Callable[..., Any]
    turns: Callable[..., Any]
    spring: Callable[..., Any] = spring_rows


@inline
def _no_turns(first, ctl, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    """Store nothing: the state gives the coordinate."""


# --- length ----------------------------------------------------------------------------------------------------------
@inner
def _point_workspace(dim):
    """Return work arrays P, B, J of points and X of vectors."""
    n = 3 * (dim - 1)
    return np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n)), np.empty((4, dim))


@inner
def _length_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    """Return n0, n1, n1 - n0 of n = |P_b - P_a|, and fill its rows; at n = 0 the direction counts as zero."""
    P, B, J, X = work
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


@inner
def _length_step(ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    s0, s1, ds = _length_rows(FORCE, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G)
    return s0, s1, (s1 - s0 if ctl[RULE] == ONE_STATE else ds)


@inner
def _length_rate(V, D, dof, rot, state, e, work):
    P, _, _, X = work
    row, arm = (P1, R1) if state == 1 else (P0, R0)
    n = rate = 0.0
    for i in range(P.shape[2]):
        n += (P[1, row, i] - P[0, row, i]) ** 2
    for k in range(2):
        point_rate(V, D, dof, rot, state, e, k, P[k, arm], X[k], X[2 + k])
    if n > 0:
        for i in range(P.shape[2]):
            rate += (P[1, row, i] - P[0, row, i]) * (X[1, i] - X[0, i])
        rate /= math.sqrt(n)
    return rate


# --- displacement ----------------------------------------------------------------------------------------------------
@inline
def _offset_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    P, B, J, _ = work
    s0, s1 = offset_rows(job, Q, D, U, dof, rot, e, par, column, P, B, J, row, row1, G)
    ds = 0.0
    for i in range(row.shape[0]):
        ds += row[i] * U[dof[e, i]]
    return s0, s1, ds


@inner
def _offset_step(ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    s0, s1, ds = _offset_rows(FORCE, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G)
    return s0, s1, (s1 - s0 if ctl[RULE] == ONE_STATE else ds)


@inner
def _offset_rate(V, D, dof, rot, state, e, work):
    P, _, _, X = work
    return offset_rate(V, D, dof, rot, state, e, P, X[:2], X[2:])


# --- angle in the plane ----------------------------------------------------------------------------------------------
_A2, _B2 = 2, 5  # local dofs: rotations of both ends


@inner
def _no_workspace(dim):
    return ()


@inline
def _plane_angle_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    """Return s0, s1, s1 - s0 of phi_b - phi_a, unwrapped rotations, and fill its rows; all other entries keep their
    zeros."""
    a, b = dof[e, _A2], dof[e, _B2]
    dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
    row[_A2], row[_B2] = -kappa, kappa
    row1[_A2], row1[_B2] = -1 / (1 + 0.25 * U[a] * U[a]), 1 / (1 + 0.25 * U[b] * U[b])
    if job == TANGENT:
        G[_A2, _A2], G[_A2, _B2] = -by_a, -by_b
        G[_B2, _A2], G[_B2, _B2] = by_a, by_b
    s0 = Q[0, b] - Q[0, a]
    return s0, s0 + dphi, dphi


@inline
def _plane_angle_spring(job, ctl, stiffness, damping, force, row, row1, G, vel, fe, ke, k):
    """Write what `spring_rows` writes, for the two rows of the rotations; at one state the gradient is constant."""
    f = fe[k]
    for i in range(6):
        f[i] = 0.0
    for i in range(_A2, _B2 + 1, 3):
        f[i] = ctl[SF] * force * row[i]
    if job != TANGENT:
        return
    one_state = ctl[RULE] == ONE_STATE
    slope = 0.5 * stiffness + (0.0 if one_state else damping / ctl[H])
    by_rate = ctl[SF] * damping * ctl[WV] if one_state else 0.0
    K = ke[k]
    for i in range(6):
        for j in range(6):
            K[i, j] = 0.0
    for i in range(_A2, _B2 + 1, 3):
        for j in range(_A2, _B2 + 1, 3):
            K[i, j] = ctl[SK] * (slope * row[i] * row1[j] + force * G[i, j]) + by_rate * row[i] * row[j]


@inner
def _plane_angle_step(ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    a, b = dof[e, _A2], dof[e, _B2]
    s0, s1 = Q[0, b] - Q[0, a], Q[1, b] - Q[1, a]
    if ctl[RULE] == ONE_STATE:
        return s0, s1, s1 - s0
    ds = relative_angle(U[b], U[a])[0]
    return s0, s0 + ds, ds


@inner
def _plane_angle_rate(V, D, dof, rot, state, e, work):
    return V[state, dof[e, _B2]] - V[state, dof[e, _A2]]


# --- angle in space --------------------------------------------------------------------------------------------------
@inner
def _angle_workspace(dim):
    """Return work arrays W, T, Z of `angle_rows`, and C, S at the start and the end of the step for `_angle_rate`."""
    return np.empty((ANGLE_ROOM, 3)), np.empty((2, 3, 3)), np.empty((2, 6)), np.empty((2, 2))


@inline
def _angle_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    W, T, Z, _ = work
    ds, c1, s1 = angle_rows(job, D, U, dof, rot, e, par, column, W, T, Z, row, row1, G)
    if ctl[RULE] == ONE_STATE:
        s0 = nearest_angle(c1, s1, hist[e, 0])
        return s0, s0, 0.0
    return hist[e, 0], hist[e, 0] + ds, ds


@inner
def _angle_step(ctl, Q, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    W, T, Z, C = work
    if ctl[RULE] != ONE_STATE:
        ds = angle_rows(FORCE, D, U, dof, rot, e, par, column, W, T, Z, row, row1, G)[0]
        return hist[e, 0], hist[e, 0] + ds, ds
    C[0, 0], C[0, 1], C[1, 0], C[1, 1] = angle_vectors(D, rot, par, e, column, W)
    s0, s1 = nearest_angle(C[0, 0], C[0, 1], hist[e, 0]), nearest_angle(C[1, 0], C[1, 1], hist[e, 0])
    return s0, s1, s1 - s0


@inner
def _angle_rate(V, D, dof, rot, state, e, work):
    """Return dphi/dt of one-state rules."""
    W, _, Z, C = work
    x, y = Z[0, :3], Z[1, :3]
    angle_gradient(W, state, C[state, 0], C[state, 1], x)
    spin(V, D, dof, rot, state, e, 1, y)
    rate = dot(x, y)
    spin(V, D, dof, rot, state, e, 0, y)
    return rate - dot(x, y)


@inner
def _angle_turns(first, ctl, D, U, dof, rot, hist, e, par, column, work, row, row1, G):
    """Write the angle at the end of the step, or at the start, to `hist`."""
    W, T, Z, _ = work
    _, _, c1, s1 = angle_vectors(D, rot, par, e, column, W)
    near = hist[e, 0]  # START keeps the turns of an earlier analysis
    if not first and ctl[RULE] != ONE_STATE:
        near += angle_rows(FORCE, D, U, dof, rot, e, par, column, W, T, Z, row, row1, G)[0]
    hist[e, 0] = nearest_angle(c1, s1, near)  # not a sum of increments, whose round-off would add up


# --- any of them -----------------------------------------------------------------------------------------------------
def coordinate(kind: int, dimension: int) -> Coordinate:
    """Return the coordinate of a kind, LENGTH, OFFSET or ANGLE, in the plane (2) or in space (3)."""
    axes = "xyz"[:dimension]
    points = tuple(f"a{c}_{end} [m]" for end in "ab" for c in axes)
    if kind == LENGTH:
        return Coordinate(
            "length", "m", "force", "N", points, 2, 0,
            _point_workspace, _length_rows, _length_step, _length_rate, _no_turns,
        )  # fmt: skip
    if kind == OFFSET:
        return Coordinate(
            "displacement", "m", "force", "N", (*(f"e{c}" for c in axes), *points), 3, 0,
            _point_workspace, _offset_rows, _offset_step, _offset_rate, _no_turns,
        )  # fmt: skip
    if dimension == 2:
        return Coordinate(
            "angle", "rad", "moment", "N m", (), 0, 0,
            _no_workspace, _plane_angle_rows, _plane_angle_step, _plane_angle_rate, _no_turns,
            _plane_angle_spring,
        )  # fmt: skip
    return Coordinate(
        "angle", "rad", "moment", "N m", ANGLE_COLUMNS, 4, 1,
        _angle_workspace, _angle_rows, _angle_step, _angle_rate, _angle_turns,
    )  # fmt: skip
