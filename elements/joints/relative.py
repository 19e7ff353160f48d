"""Joints on relative coordinates, with multipliers: `direction3`, `offset2/3`, `hinge3`.

Other joints of a mechanism are composed of these, between any two ends (conventions as in
`fem_mbs.elements.joints.basic`; coordinates and their exact quotients in `fem_mbs.elements.coordinates`):

``direction3``  a.b - c = 0, a fixed in end a, b in end b: two of them align an axis, one makes a universal joint
``offset``      (P_b - P_a).e - p - f(t) = 0, e fixed in end a: a point of b on a plane (two: on a line) that moves with
                a; driven: a displacement along e
``hinge3``      phi - p - f(t) = 0: driven angle about a common axis, with any number of turns (`hist` counts them)

f is a time function (a negative index: 0); the work of a driver is booked as for the other joints.
Outputs: force and moment (`offset`: about its point on a, and "node moment": about the node of a) that the joint exerts
on end a, in global axes; "drive": the generalised force on the coordinate, positive where it does positive work as the
coordinate grows; and the coordinate itself at the end of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DRIVER_WORK,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    START,
    T0,
    T1,
    inner,
    kernel,
)
from fem_mbs.elements.common import step_multiplier, time_value
from fem_mbs.elements.coordinates import (
    ANGLE_COLUMNS,
    ANGLE_ROOM,
    angle_gradient,
    angle_rows,
    angle_vectors,
    constraint_rows,
    direction_rows,
    nearest_angle,
    offset_rows,
)
from fem_mbs.elements.joints.reactions import NODE_MOMENT, mean_arm, node_moment
from fem_mbs.elements.kinematics import P0, P1, R1, cross, rotate
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: SCALE of all; COSINE and VECTORS (a, then b) of `direction3`; FUNCTION, START_VALUE and COORDINATE,
# the vectors of the coordinate, of `offset` and `hinge3`
SCALE = 0
COSINE, VECTORS = 1, 2
FUNCTION, START_VALUE, COORDINATE = 1, 2, 3


@inner
def _driver_work(ctl, par, fun, Q, U, e, index):
    """Return the work of the driver of element e over the step; its function is par[e, FUNCTION]."""
    movement = time_value(fun, par[e, FUNCTION], T1, 0.0) - time_value(fun, par[e, FUNCTION], T0, 0.0)
    return -step_multiplier(ctl, Q, U, par[e, SCALE], index) * movement


# --- two directions --------------------------------------------------------------------------------------------------
@kernel
def _direction(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    W, T = scratch(8, 3), scratch(2, 3, 3)
    row, row1 = scratch(12), scratch(12)
    G = scratch(12, 12)
    for e in range(e0, e1):
        s1 = direction_rows(job, D, U, dof, rot, e, par, VECTORS, W, T, row, row1, G)
        multiplier = U[dof[e, 12]]
        constraint_rows(job, ctl, par[e, SCALE], multiplier, s1 - par[e, COSINE], row, row1, G, fe, ke, e - e0)


@kernel
def _report_direction(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != OUTPUT:  # does no work: nothing to book
        return
    A, B, C, M = scratch(2, 3), scratch(2, 3), scratch(3), scratch(2, 3)
    for e in range(e0, e1):
        for state in range(2):
            a, b = VECTORS, VECTORS + 3
            rotate(D, state, rot[e, 0], par[e, a], par[e, a + 1], par[e, a + 2], A[state])
            rotate(D, state, rot[e, 1], par[e, b], par[e, b + 1], par[e, b + 2], B[state])
        for i in range(3):
            M[0, i], M[1, i] = A[1, i], B[1, i]
            if ctl[RULE] != ONE_STATE:
                M[0, i], M[1, i] = 0.5 * (A[0, i] + A[1, i]), 0.5 * (B[0, i] + B[1, i])
        cross(M[1], M[0], C)
        for i in range(3):
            fe[e - e0, i] = par[e, SCALE] / ctl[SF] * U[dof[e, 12]] * C[i]


# --- displacement along a direction of a -----------------------------------------------------------------------------
@kernel
def _offset(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1 = np.empty(2 * n), np.empty(2 * n)
    G = np.empty((2 * n, 2 * n))
    for e in range(e0, e1):
        _, s1 = offset_rows(job, Q, D, U, dof, rot, e, par, COORDINATE, P, B, J, row, row1, G)
        error = s1 - par[e, START_VALUE] - time_value(fun, par[e, FUNCTION], T1, 0.0)
        constraint_rows(job, ctl, par[e, SCALE], U[dof[e, 2 * n]], error, row, row1, G, fe, ke, e - e0)


@kernel
def _report_offset(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1 = np.empty(2 * n), np.empty(2 * n)
    G = np.empty((2 * n, 2 * n))
    arm = scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        index = dof[e, 2 * n]
        if job == LEDGER:
            f[DRIVER_WORK] = _driver_work(ctl, par, fun, Q, U, e, index)
            continue
        _, s1 = offset_rows(FORCE, Q, D, U, dof, rot, e, par, COORDINATE, P, B, J, row, row1, G)
        multiplier = par[e, SCALE] / ctl[SF] * U[index]
        direction, d = P[2, P0], P[2, P1]
        if ctl[RULE] == ONE_STATE:
            for i in range(dim):
                direction[i] = P[2, R1, i]
                d[i] = P[1, P1, i] - P[0, P1, i]
        for i in range(dim):
            f[i] = multiplier * direction[i]
        if dim == 2:
            f[2] = multiplier * (d[0] * direction[1] - d[1] * direction[0])
        else:
            f[3] = multiplier * (d[1] * direction[2] - d[2] * direction[1])
            f[4] = multiplier * (d[2] * direction[0] - d[0] * direction[2])
            f[5] = multiplier * (d[0] * direction[1] - d[1] * direction[0])
        f[n] = -multiplier
        f[n + 1] = s1
        mean_arm(ctl, D, rot[e, 0], par, e, 3 + dim, arm)
        about = f[n + 2 : 2 * n + 2 - dim]
        node_moment(arm, f, about)
        for i in range(about.shape[0]):
            about[i] += f[dim + i]


# --- driven angle ----------------------------------------------------------------------------------------------------
@kernel
def _hinge(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    W, T, Z = scratch(ANGLE_ROOM, 3), scratch(2, 3, 3), scratch(2, 6)
    row, row1 = scratch(12), scratch(12)
    G = scratch(12, 12)
    for e in range(e0, e1):
        dphi, c1, s1 = angle_rows(job, D, U, dof, rot, e, par, COORDINATE, W, T, Z, row, row1, G)
        phi = nearest_angle(c1, s1, hist[e, 0]) if ctl[RULE] == ONE_STATE else hist[e, 0] + dphi
        error = phi - par[e, START_VALUE] - time_value(fun, par[e, FUNCTION], T1, 0.0)
        constraint_rows(job, ctl, par[e, SCALE], U[dof[e, 12]], error, row, row1, G, fe, ke, e - e0)


@kernel
def _report_hinge(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    W, T, Z = scratch(ANGLE_ROOM, 3), scratch(2, 3, 3), scratch(2, 6)
    row, row1 = scratch(12), scratch(12)
    G = scratch(12, 12)
    moment = scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        if job == LEDGER:
            f[DRIVER_WORK] = _driver_work(ctl, par, fun, Q, U, e, dof[e, 12])
            continue
        _, _, c1, s1 = angle_vectors(D, rot, par, e, COORDINATE, W)
        if job == START:
            hist[e, 0] = nearest_angle(c1, s1, hist[e, 0])  # keeps the turns of an earlier analysis
            continue
        if ctl[RULE] == ONE_STATE:
            phi = nearest_angle(c1, s1, hist[e, 0])
            angle_gradient(W, 1, c1, s1, moment)
        else:
            dphi, c1, s1 = angle_rows(FORCE, D, U, dof, rot, e, par, COORDINATE, W, T, Z, row, row1, G)
            phi = hist[e, 0] + dphi
            for i in range(3):
                moment[i] = row[9 + i]
        if job == COMMIT:
            hist[e, 0] = nearest_angle(c1, s1, phi)  # not a sum of increments, whose round-off would add up
        elif job == OUTPUT:
            multiplier = par[e, SCALE] / ctl[SF] * U[dof[e, 12]]
            for i in range(3):
                f[i] = multiplier * moment[i]
            f[3] = -multiplier
            f[4] = phi


def _offset_type(dimension):
    axes = "xyz"[:dimension]
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    return ElementType(
        name=f"offset{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            *("scale", "function", "displacement [m]"),
            *(f"e{c}" for c in axes),
            *(f"a{c}_{end} [m]" for end in "ab" for c in axes),
        ),
        multipliers=1,
        scale=0,
        outputs=(
            *(f"force {c} [N]" for c in axes),
            *moments,
            *("drive force [N]", "displacement [m]"),
            *NODE_MOMENT[dimension],
        ),
        force=_offset,
        report=_report_offset,
    )


_MOMENTS = tuple(f"moment {c} [N m]" for c in "xyz")

TYPES = {
    t.name: t
    for t in (
        ElementType(
            name="direction3",
            dimension=3,
            ends=2,
            rotational=True,
            par=("scale", "cosine", *(f"{v}{c}" for v in "ab" for c in "xyz")),
            multipliers=1,
            scale=0,
            angular=True,
            outputs=_MOMENTS,
            force=_direction,
            report=_report_direction,
        ),
        _offset_type(2),
        _offset_type(3),
        ElementType(
            name="hinge3",
            dimension=3,
            ends=2,
            rotational=True,
            par=("scale", "function", "angle [rad]", *ANGLE_COLUMNS),
            hist=1,
            turns=True,
            multipliers=1,
            scale=0,
            angular=True,
            outputs=(*_MOMENTS, "drive moment [N m]", "angle [rad]"),
            force=_hinge,
            report=_report_hinge,
        ),
    )
}
