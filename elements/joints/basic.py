"""Joints with multipliers: `point2/3`, `position2/3`, `angle2`, `orientation3`.

A joint has constraints g(q, t) = 0, enforced at the **end** of the step, and multipliers Lambda = lambda sf/s acting
through the gradient at **mid-step**, an exact difference quotient: lambda.(g1 - g0) is their work, so an ideal joint
does none and nothing drifts.  With s the scale of the joint:

    constraint rows  s g(q1, t1),        node rows  s G_m^T Lambda  (= sf G_m^T lambda)

``point``        P_b - P_a = 0, points eccentric in body axes (pin in the plane, spherical joint in space)
``position``     n.P - p - f(t) = 0: one coordinate of a point along a direction n fixed in space
``angle2``       theta_b - theta_a - phi - f(t) = 0: driven relative rotation; constant: what a weld adds to a pin
``orientation3`` three conditions between a triad on a and one on b: a1'.b2 = a2'.b3 = a3'.b1 = 0, where a' is the triad
                 of a turned about its first vector by f(t); f = 0 is a weld's share

f is a time function (a negative index: 0).  A driver's work lambda.(quotient of the part that depends on t) is booked:
with the signs above, a driver that moves g = c(q) - f(t) gives the model the work -lambda (f1 - f0).  One-state rules
take f at the end, and book the mean of the multipliers at both ends.  Limits: each end turns less than pi per step.
Outputs: the force and the moment that the joint exerts on end a (`position`: on its only end), in global axes: forces
at its point on a, "node moment" the moment of the force about the node of a; "drive": the generalised force on what f
drives, positive where it does positive work as f grows.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DRIVER_WORK,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    T0,
    T1,
    TANGENT,
    TWO,
    inner,
    kernel,
)
from fem_mbs.elements.common import add_arm_tangent, add_force, clear, step_multiplier, time_value
from fem_mbs.elements.joints.reactions import NODE_MOMENT, mean_arm, node_moment
from fem_mbs.elements.kinematics import (
    P1,
    cayley_tangent,
    cross,
    point,
    relative_angle,
    rotate,
)
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: SCALE of all; POINTS, both offsets, of `point`; FUNCTION, PLACE and DIRECTION of `position`,
# the offset follows; ANGLE and ANGLE_FUNCTION of `angle2`; TRIAD_A and TRIAD_B, matrices row by row, of `orientation3`
SCALE, POINTS = 0, 1
FUNCTION, PLACE, DIRECTION = 1, 2, 3
ANGLE, ANGLE_FUNCTION = 1, 2
TRIAD_A, TRIAD_B = 2, 11


# --- points ----------------------------------------------------------------------------------------------------------
@kernel
def _point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    P = np.empty((2, 5, dim))
    B = np.empty((2, dim, nd))
    J = np.empty((2, dim, nd))
    force = np.empty(dim)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        for i in range(dim):
            force[i] = U[dof[e, 2 * nd + i]]
        for k in range(2):
            sign = scale if k == 1 else -scale
            point(Q, D, U, dof, rot, e, k, par, POINTS + dim * k, P[k], B[k], J[k])
            add_force(f, sign, force, B[k], k)
            if job == TANGENT:
                K = ke[e - e0]
                add_arm_tangent(K, ctl[TWO] * sign, force, J[k], k)
                for i in range(dim):
                    for j in range(nd):
                        K[k * nd + j, 2 * nd + i] = sign * B[k, i, j]
                        K[2 * nd + i, k * nd + j] = sign * J[k, i, j]
        for i in range(dim):
            f[2 * nd + i] = scale * (P[1, P1, i] - P[0, P1, i])


@kernel
def _report_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != OUTPUT:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    arm = scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        for i in range(dim):
            f[i] = par[e, SCALE] / ctl[SF] * U[dof[e, 6 * (dim - 1) + i]]
        mean_arm(ctl, D, rot[e, 0], par, e, POINTS, arm)
        node_moment(arm, f, f[dim:])


# --- one coordinate of a point ---------------------------------------------------------------------------------------
@kernel
def _position(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    P = np.empty((5, dim))
    B = np.empty((dim, nd))
    J = np.empty((dim, nd))
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        n = par[e, DIRECTION : DIRECTION + dim]
        multiplier = U[dof[e, nd]]
        point(Q, D, U, dof, rot, e, 0, par, DIRECTION + dim, P, B, J)
        add_force(f, scale * multiplier, n, B, 0)
        g = -par[e, PLACE] - time_value(fun, par[e, FUNCTION], T1, 0.0)
        for i in range(dim):
            g += n[i] * P[P1, i]
        f[nd] = scale * g
        if job == TANGENT:
            K = ke[e - e0]
            add_arm_tangent(K, ctl[TWO] * scale * multiplier, n, J, 0)
            for i in range(dim):
                for j in range(nd):
                    K[j, nd] += scale * n[i] * B[i, j]
                    K[nd, j] += scale * n[i] * J[i, j]


@kernel
def _report_position(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    for e in range(e0, e1):
        f = fe[e - e0]
        index = dof[e, 3 if D.shape[2] == 2 else 6]
        if job == LEDGER:
            movement = time_value(fun, par[e, FUNCTION], T1, 0.0) - time_value(fun, par[e, FUNCTION], T0, 0.0)
            f[DRIVER_WORK] = -step_multiplier(ctl, Q, U, par[e, SCALE], index) * movement
        elif job == OUTPUT:
            dim = 2 if D.shape[2] == 2 else 3
            f[dim] = -par[e, SCALE] / ctl[SF] * U[index]
            for i in range(dim):
                f[i] = f[dim] * par[e, DIRECTION + i]


# --- relative angle in the plane -------------------------------------------------------------------------------------
@kernel
def _angle(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        a, b = dof[e, 2], dof[e, 5]
        moment = scale * U[dof[e, 6]]
        dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
        f[2] = -moment * kappa
        f[5] = moment * kappa
        f[6] = scale * (Q[0, b] - Q[0, a] + dphi - par[e, ANGLE] - time_value(fun, par[e, ANGLE_FUNCTION], T1, 0.0))
        if job == TANGENT:
            K = ke[e - e0]
            moment *= ctl[TWO]
            K[2, 2], K[2, 5], K[2, 6] = -moment * by_a, -moment * by_b, -scale * kappa
            K[5, 2], K[5, 5], K[5, 6] = moment * by_a, moment * by_b, scale * kappa
            K[6, 2] = -scale / (1 + 0.25 * U[a] * U[a])
            K[6, 5] = scale / (1 + 0.25 * U[b] * U[b])


@kernel
def _report_angle(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    for e in range(e0, e1):
        f = fe[e - e0]
        index = dof[e, 6]
        if job == LEDGER:
            movement = time_value(fun, par[e, ANGLE_FUNCTION], T1, 0.0) - time_value(
                fun, par[e, ANGLE_FUNCTION], T0, 0.0
            )
            f[DRIVER_WORK] = -step_multiplier(ctl, Q, U, par[e, SCALE], index) * movement
        elif job == OUTPUT:
            moment = par[e, SCALE] / ctl[SF] * U[index]
            f[0] = moment
            if ctl[RULE] != ONE_STATE:
                f[0] *= relative_angle(U[dof[e, 5]], U[dof[e, 2]])[1]
            f[1] = -moment


# --- relative orientation in space -----------------------------------------------------------------------------------
@inner
def _triads(D, rot, par, e, state, A, B):
    """Fill A and B (3, 3) with the triads of ends a and b at a state, a vector per row, in spatial axes."""
    for i in range(3):
        a, b = TRIAD_A + i, TRIAD_B + i
        rotate(D, state, rot[e, 0], par[e, a], par[e, a + 3], par[e, a + 6], A[i])
        rotate(D, state, rot[e, 1], par[e, b], par[e, b + 3], par[e, b + 6], B[i])


@inner
def _turn(A, cosine, sine, X):
    """Fill X (3, 3) with the triad A (rows), its second and third vector rotated about the first."""
    for i in range(3):
        X[0, i] = A[0, i]
        X[1, i] = cosine * A[1, i] + sine * A[2, i]
        X[2, i] = cosine * A[2, i] - sine * A[1, i]


@inner
def _target(ctl, fun, index):
    """Return the target angle f at both ends of the step; one-state rules know the end only."""
    f1 = time_value(fun, index, T1, 0.0)
    return (f1 if ctl[RULE] == ONE_STATE else time_value(fun, index, T0, 0.0)), f1


@kernel
def _orientation(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    A0, B0, A1, B1 = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    X, XM = scratch(3, 3), scratch(3, 3)
    T = scratch(2, 3, 3)
    m, c, d, s = scratch(3), scratch(3), scratch(3), scratch(3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        _triads(D, rot, par, e, 0, A0, B0)
        _triads(D, rot, par, e, 1, A1, B1)
        f0, f1 = _target(ctl, fun, par[e, FUNCTION])
        mean_cos, mean_sin = 0.5 * (math.cos(f0) + math.cos(f1)), 0.5 * (math.sin(f0) + math.sin(f1))
        for i in range(3):
            for j in range(3):
                A0[i, j] = 0.5 * (A0[i, j] + A1[i, j])  # from here on the means
                B0[i, j] = 0.5 * (B0[i, j] + B1[i, j])
        if job == TANGENT:
            K = ke[e - e0]
            cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T[0])
            cayley_tangent(U[dof[e, 9]], U[dof[e, 10]], U[dof[e, 11]], T[1])
        for i in range(3):
            k = (i + 1) % 3
            multiplier = U[dof[e, 12 + i]]
            _turn(A1, math.cos(f1), math.sin(f1), X)
            f[12 + i] = scale * (X[i, 0] * B1[k, 0] + X[i, 1] * B1[k, 1] + X[i, 2] * B1[k, 2])
            if job == TANGENT:
                cross(B1[k], X[i], c)  # gradient of g1 by the spin of b, and minus that of a
                for j in range(3):
                    K[12 + i, 3 + j] = -scale * (c[0] * T[0, 0, j] + c[1] * T[0, 1, j] + c[2] * T[0, 2, j])
                    K[12 + i, 9 + j] = scale * (c[0] * T[1, 0, j] + c[1] * T[1, 1, j] + c[2] * T[1, 2, j])
            _turn(A0, mean_cos, mean_sin, XM)
            cross(B0[k], XM[i], m)
            for j in range(3):
                f[3 + j] -= scale * multiplier * m[j]
                f[9 + j] += scale * multiplier * m[j]
            if job == TANGENT:
                _turn(A1, mean_cos, mean_sin, X)
                for j in range(3):
                    K[3 + j, 12 + i] = -scale * m[j]
                    K[9 + j, 12 + i] = scale * m[j]
                    for end in range(2):  # dm = (spin_b x b1) x a_m/2 + b_m x (spin_a x a1)/2
                        s[0], s[1], s[2] = T[end, 0, j], T[end, 1, j], T[end, 2, j]
                        if end == 1:
                            cross(s, B1[k], d)
                            cross(d, XM[i], c)
                        else:
                            cross(s, X[i], d)
                            cross(B0[k], d, c)
                        for r in range(3):
                            entry = 0.5 * ctl[TWO] * scale * multiplier * c[r]
                            K[3 + r, 3 + 6 * end + j] -= entry
                            K[9 + r, 3 + 6 * end + j] += entry


@inner
def _by_angle(A0, B0, A1, B1, f0, f1, i):
    """Return the difference quotient of condition i = 1, 2 by the target angle (condition 0 does not depend on it)."""
    u = 0.5 * (f1 - f0)
    half = math.sin(u) / u if abs(u) > 1e-8 else 1.0
    dcos, dsin = -half * math.sin(0.5 * (f0 + f1)), half * math.cos(0.5 * (f0 + f1))
    k = (i + 1) % 3
    part = 0.0
    for state in range(2):
        A, B = (A1, B1) if state == 1 else (A0, B0)
        for j in range(3):
            if i == 1:
                part += (dcos * A[1, j] + dsin * A[2, j]) * B[k, j]
            else:
                part += (dcos * A[2, j] - dsin * A[1, j]) * B[k, j]
    return 0.5 * part


@kernel
def _report_orientation(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    A0, B0, A1, B1 = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    X = scratch(3, 3)
    m = scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        state0 = 1 if job == OUTPUT and ctl[RULE] == ONE_STATE else 0
        _triads(D, rot, par, e, state0, A0, B0)
        _triads(D, rot, par, e, 1, A1, B1)
        if job == LEDGER:
            f0, f1 = time_value(fun, par[e, FUNCTION], T0, 0.0), time_value(fun, par[e, FUNCTION], T1, 0.0)
            for i in range(1, 3):
                multiplier = step_multiplier(ctl, Q, U, scale, dof[e, 12 + i])
                f[DRIVER_WORK] += multiplier * (f1 - f0) * _by_angle(A0, B0, A1, B1, f0, f1, i)
            continue
        f0, f1 = _target(ctl, fun, par[e, FUNCTION])
        f[3] = 0.0
        for i in range(1, 3):
            f[3] += scale / ctl[SF] * U[dof[e, 12 + i]] * _by_angle(A0, B0, A1, B1, f0, f1, i)
        for i in range(3):
            f[i] = 0.0
            for j in range(3):
                A0[i, j] = 0.5 * (A0[i, j] + A1[i, j])
                B0[i, j] = 0.5 * (B0[i, j] + B1[i, j])
        _turn(A0, 0.5 * (math.cos(f0) + math.cos(f1)), 0.5 * (math.sin(f0) + math.sin(f1)), X)
        for i in range(3):
            cross(B0[(i + 1) % 3], X[i], m)
            for j in range(3):
                f[j] += scale / ctl[SF] * U[dof[e, 12 + i]] * m[j]


def _offsets(dimension, suffixes):
    return tuple(f"a{c}{suffix} [m]" for suffix in suffixes for c in "xyz"[:dimension])


def _point_type(dimension):
    return ElementType(
        name=f"point{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=("scale", *_offsets(dimension, ("_a", "_b"))),
        multipliers=dimension,
        scale=0,
        outputs=(*(f"force {c} [N]" for c in "xyz"[:dimension]), *NODE_MOMENT[dimension]),
        force=_point,
        report=_report_point,
    )


def _position_type(dimension):
    direction = tuple(f"n{c}" for c in "xyz"[:dimension])
    return ElementType(
        name=f"position{dimension}",
        dimension=dimension,
        ends=1,
        rotational=True,
        par=("scale", "function", "position [m]", *direction, *_offsets(dimension, ("",))),
        multipliers=1,
        scale=0,
        outputs=(*(f"force {c} [N]" for c in "xyz"[:dimension]), "drive force [N]"),
        force=_position,
        report=_report_position,
    )


TYPES = {
    t.name: t
    for t in (
        _point_type(2),
        _point_type(3),
        _position_type(2),
        _position_type(3),
        ElementType(
            name="angle2",
            dimension=2,
            ends=2,
            rotational=True,
            par=("scale", "angle [rad]", "function"),
            multipliers=1,
            scale=0,
            angular=True,
            outputs=("moment [N m]", "drive moment [N m]"),
            force=_angle,
            report=_report_angle,
        ),
        ElementType(
            name="orientation3",
            dimension=3,
            ends=2,
            rotational=True,
            # triads as 3x3 matrices row by row, vectors in columns, in the body axes of either end
            par=("scale", "function", *(f"{t}{i}{j}" for t in "ab" for i in "123" for j in "123")),
            multipliers=3,
            scale=0,
            angular=True,
            outputs=(*(f"moment {c} [N m]" for c in "xyz"), "drive moment [N m]"),
            force=_orientation,
            report=_report_orientation,
        ),
    )
}
