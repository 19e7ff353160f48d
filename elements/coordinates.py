"""Relative coordinates of two ends and their exact quotients: displacement, cosine, angle; rows of joints and springs.

A coordinate s of the ends a and b has, over a step,

    row   with row.U = s1 - s0 exactly (U: dx and Cayley vector of either end),
    row1  = ds1/dU at the end of the step,
    G     = d row/dU, what a constant force along the row contributes to the tangent.

One-state rules see two equal states: row = row1 is the gradient there, G half of its derivative.  With these three,
`spring_rows` (a spring-damper on s) and `constraint_rows` (a constraint with a multiplier) serve every coordinate s:

- `offset_rows`     s = (P_b - P_a).e, e fixed in end a, points eccentric: bilinear, so the quotient takes the means
                    of both factors, ds = (dP_b - dP_a).e_m + d_m.de;
- `direction_rows`  s = a.b, a fixed in end a, b in end b: likewise;
- `angle_rows`      s = phi, the angle of z = (C, S), C = u.b + v.c, S = v.b - u.c, with u and v fixed in end a, b and c
                    in end b, all across the axis, which makes right-handed triads (u, v, n_a), (b, c, n_b).  phi is
                    then the twist of the rotation from a to b about the axis: of its quaternion (w, r) phi/2 is the
                    angle of (w, r.n).  It depends on the axis alone, not on the choice of u.  With c = 0 it is the
                    angle of the direction b, seen along the axis of a: of a universal joint, whose b stays across.
                    With z0, z1 of lengths n0, n1 and directions e0, e1 the exact quotient is
                    grad phi = dphi/(2 tan(dphi/2)) g.(grad C, grad S)|_m,
                    g = 2 R90 (e0 + e1)/((n0 + n1)(1 + e0.e1)); grad C|_m on end b is the moment
                    b_m x u_m + c_m x v_m.

Forces along these rows have no resultant and no moment.  Limits: |dphi| < pi per step; C = S = 0 has no angle: the axis
of b must not be opposite to that of a (c = 0: b must not be parallel to the axis).
"""

from __future__ import annotations

import math

from fem_mbs.contract import ONE_STATE, RULE, SF, SK, TANGENT, TWO, WV, H, inner
from fem_mbs.elements.common import add_arm_tangent
from fem_mbs.elements.kinematics import (
    P0,
    P1,
    R0,
    R1,
    atan_quotient,
    cayley_tangent,
    cross,
    point,
    point_rate,
    rotate,
    spin,
)

__all__ = [
    "ANGLE_COLUMNS",
    "ANGLE_ROOM",
    "angle_gradient",
    "angle_rows",
    "angle_vectors",
    "constraint_rows",
    "direction_rows",
    "dot",
    "end_velocities",
    "nearest_angle",
    "offset_rate",
    "offset_rows",
    "rate_row",
    "spring_rows",
]


@inner
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


# --- forces and constraints on a coordinate --------------------------------------------------------------------------
@inner
def constraint_rows(job, ctl, scale, multiplier, value, row, row1, G, fe, ke, k):
    """Write the rows of a constraint with the error ``value`` on a coordinate to fe[k], and their tangent to ke[k]."""
    n = row.shape[0]
    f = fe[k]
    f[n] = scale * value
    for i in range(n):
        f[i] = scale * multiplier * row[i]
    if job == TANGENT:
        K = ke[k]
        K[n, n] = 0.0
        for i in range(n):
            K[i, n] = scale * row[i]
            K[n, i] = scale * row1[i]
            for j in range(n):
                K[i, j] = ctl[TWO] * scale * multiplier * G[i, j]


@inner
def end_velocities(V, D, dof, rot, state, e, vel):
    """Fill vel (2 n,) with the velocities of both ends and their angular velocities in spatial axes."""
    for i in range(vel.shape[0]):
        vel[i] = V[state, dof[e, i]]
    if vel.shape[0] == 12:
        for k in range(2):
            spin(V, D, dof, rot, state, e, k, vel[6 * k + 3 : 6 * k + 6])


@inner
def rate_row(ctl, row, G, vel, row1):
    """Fill row1 with ds'/dU of one-state rules; G is half of the derivative of row.

    The rate is s' = row.vel, with dv = WV dx and dw = dtheta x w + WV dtheta.
    """
    n = row.shape[0]
    for j in range(n):
        row1[j] = ctl[WV] * row[j]
        for i in range(n):
            row1[j] += 2 * vel[i] * G[i, j]
    if n == 12:
        for m in (3, 9):
            row1[m] += vel[m + 1] * row[m + 2] - vel[m + 2] * row[m + 1]
            row1[m + 1] += vel[m + 2] * row[m] - vel[m] * row[m + 2]
            row1[m + 2] += vel[m] * row[m + 1] - vel[m + 1] * row[m]


@inner
def spring_rows(job, ctl, stiffness, damping, force, row, row1, G, vel, fe, ke, k):
    """Write the rows of a force on a coordinate and their tangent to fe[k] and ke[k].

    The force is k (s0 + s1)/2 + c ds/h, in one-state rules k s + c s'.  One-state rules with damping read ``vel`` from
    `end_velocities`, and overwrite ``row1``.
    """
    n = row.shape[0]
    f = fe[k]
    for i in range(n):
        f[i] = ctl[SF] * force * row[i]
    if job != TANGENT:
        return
    K = ke[k]
    one_state = ctl[RULE] == ONE_STATE
    slope = 0.5 * stiffness + (0.0 if one_state else damping / ctl[H])
    for i in range(n):
        for j in range(n):
            K[i, j] = ctl[SK] * (slope * row[i] * row1[j] + force * G[i, j])
    if not one_state or damping == 0:
        return
    rate_row(ctl, row, G, vel, row1)
    for i in range(n):
        for j in range(n):
            K[i, j] += ctl[SF] * damping * row[i] * row1[j]


# --- displacement along a direction of end a -------------------------------------------------------------------------
@inner
def offset_rows(job, Q, D, U, dof, rot, e, par, column, P, B, J, row, row1, G):
    """Return s0, s1 of the coordinate s = (P_b - P_a).e, and fill its rows.

    par[e, column:] holds e (body axes of a) and the offsets of both points.  P (3, 5, dim), B, J (3, dim, n) are work
    arrays of point a, point b and the direction.  Afterwards P[2] holds e_m, d_m (rows `P0`, `P1`), e0 and e1 (rows
    `R0`, `R1`), with d = P_b - P_a.
    """
    dim = P.shape[2]
    n = B.shape[2]
    point(Q, D, U, dof, rot, e, 0, par, column + dim, P[0], B[0], J[0])
    point(Q, D, U, dof, rot, e, 1, par, column + 2 * dim, P[1], B[1], J[1])
    point(Q, D, U, dof, rot, e, 0, par, column, P[2], B[2], J[2])  # the direction is the arm of this point
    em, dm = P[2, P0], P[2, P1]
    s0 = s1 = 0.0
    for i in range(dim):
        s0 += (P[1, P0, i] - P[0, P0, i]) * P[2, R0, i]
        s1 += (P[1, P1, i] - P[0, P1, i]) * P[2, R1, i]
        em[i] = 0.5 * (P[2, R0, i] + P[2, R1, i])
        dm[i] = 0.5 * (P[1, P0, i] - P[0, P0, i] + P[1, P1, i] - P[0, P1, i])
    for j in range(n):
        row[j] = row[n + j] = 0.0
        for i in range(dim):
            row[j] -= B[0, i, j] * em[i]
            row[n + j] += B[1, i, j] * em[i]
            if j >= dim:
                row[j] += B[2, i, j] * dm[i]
    if job != TANGENT:
        return s0, s1
    for j in range(n):
        row1[j] = row1[n + j] = 0.0
        for i in range(dim):
            row1[j] -= J[0, i, j] * P[2, R1, i]
            row1[n + j] += J[1, i, j] * P[2, R1, i]
            if j >= dim:
                row1[j] += J[2, i, j] * (P[1, P1, i] - P[0, P1, i])
    for i in range(2 * n):
        for j in range(2 * n):
            G[i, j] = 0.0
    for p in range(dim):
        for i in range(n):
            for j in range(dim, n):  # d e_m
                G[i, j] -= 0.5 * B[0, p, i] * J[2, p, j]
                G[n + i, j] += 0.5 * B[1, p, i] * J[2, p, j]
        for i in range(dim, n):
            for j in range(n):  # d d_m
                G[i, j] -= 0.5 * B[2, p, i] * J[0, p, j]
                G[i, n + j] += 0.5 * B[2, p, i] * J[1, p, j]
    add_arm_tangent(G, -1.0, em, J[0], 0)
    add_arm_tangent(G, 1.0, em, J[1], 1)
    add_arm_tangent(G, 1.0, dm, J[2], 0)
    return s0, s1


@inner
def offset_rate(V, D, dof, rot, state, e, P, v, c):
    """Return ds/dt at a state, from the work array of `offset_rows`; v, c (2, dim) are work arrays."""
    at, arm = (P1, R1) if state == 1 else (P0, R0)
    direction = P[2, arm]
    for k in range(2):
        point_rate(V, D, dof, rot, state, e, k, P[k, arm], v[k], c[k])
    rate = dot(v[1], direction) - dot(v[0], direction)
    point_rate(V, D, dof, rot, state, e, 0, direction, v[0], c[0])  # c = w_a x e
    for i in range(c.shape[1]):
        rate += (P[1, at, i] - P[0, at, i]) * c[0, i]
    return rate


# --- cosine of two directions ----------------------------------------------------------------------------------------
@inner
def direction_rows(job, D, U, dof, rot, e, par, column, W, T, row, row1, G):
    """Return s1 of the coordinate s = a.b in space, and fill its rows.

    par[e, column:] holds a and b in body axes.  W (8, 3) and T (2, 3, 3) are work arrays; afterwards W[6] is the moment
    a_m x b_m on end a.
    """
    for k in range(2):
        i = column + 3 * k
        for state in range(2):
            rotate(D, state, rot[e, k], par[e, i], par[e, i + 1], par[e, i + 2], W[2 * k + state])
        for i in range(3):
            W[4 + k, i] = 0.5 * (W[2 * k, i] + W[2 * k + 1, i])
    a1, b1, am, bm, moment, x = W[1], W[3], W[4], W[5], W[6], W[7]
    cross(am, bm, moment)
    for i in range(12):
        row[i] = 0.0
    for i in range(3):
        row[3 + i] = moment[i]
        row[9 + i] = -moment[i]
    if job != TANGENT:
        return dot(a1, b1)
    for i in range(12):
        row1[i] = 0.0
        for j in range(12):
            G[i, j] = 0.0
    cross(a1, b1, x)
    for k in range(2):
        j = 6 * k + 3
        cayley_tangent(U[dof[e, j]], U[dof[e, j + 1]], U[dof[e, j + 2]], T[k])
        for c in range(3):
            part = x[0] * T[k, 0, c] + x[1] * T[k, 1, c] + x[2] * T[k, 2, c]
            row1[j + c] = part if k == 0 else -part
    spun, turned = W[0], W[2]  # the vectors at the start are not needed any more
    for k in range(2):
        for c in range(3):
            for i in range(3):
                spun[i] = T[k, i, c]
            if k == 0:  # (spin x a1) x b_m / 2
                cross(spun, a1, turned)
                cross(turned, bm, x)
            else:  # a_m x (spin x b1) / 2
                cross(spun, b1, turned)
                cross(am, turned, x)
            for i in range(3):
                G[3 + i, 6 * k + 3 + c] = 0.5 * x[i]
                G[9 + i, 6 * k + 3 + c] = -0.5 * x[i]
    return dot(a1, b1)


# --- angle about an axis ---------------------------------------------------------------------------------------------
#: Columns of par: vectors in body axes of end a (u, v) and of end b (b, c).
ANGLE_COLUMNS = tuple(f"{vector}{c}" for vector in "uvbc" for c in "xyz")
# rows of the array W of vectors (spatial axes): u, v, b, c at the start of the step, at its end, and their means; then
# the moments of grad C, grad S, grad phi on end b, the gradients by b and c at the means and the end, two to work with
_U0, _V0, _B0, _C0, _U1, _V1, _B1, _C1, _UM, _VM, _BM, _CM, _MC, _MS, _M, _Q, _P, _Q1, _P1, _X, _Y = range(21)
#: Number of rows of W.
ANGLE_ROOM = 21


@inner
def angle_vectors(D, rot, par, e, column, W):
    """Fill u, v, b, c in W (ANGLE_ROOM, 3) from body axes in par[e, column:], and return C0, S0, C1, S1."""
    for state in range(2):
        for i in range(4):
            j = column + 3 * i
            end = 1 if i > 1 else 0
            rotate(D, state, rot[e, end], par[e, j], par[e, j + 1], par[e, j + 2], W[4 * state + i])
    for i in range(4):
        for j in range(3):
            W[_UM + i, j] = 0.5 * (W[_U0 + i, j] + W[_U1 + i, j])
    return (
        dot(W[_U0], W[_B0]) + dot(W[_V0], W[_C0]),
        dot(W[_V0], W[_B0]) - dot(W[_U0], W[_C0]),
        dot(W[_U1], W[_B1]) + dot(W[_V1], W[_C1]),
        dot(W[_V1], W[_B1]) - dot(W[_U1], W[_C1]),
    )


@inner
def _moments(W, first, of_c, of_s):
    """Write the gradients of C and S by the spin of end b, which are opposite to those by the spin of end a, to of_c
    and of_s (3,); ``first``: row of u."""
    u, v, b, c = W[first], W[first + 1], W[first + 2], W[first + 3]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        of_c[i] = b[j] * u[k] - b[k] * u[j] + c[j] * v[k] - c[k] * v[j]  # b x u + c x v
        of_s[i] = b[j] * v[k] - b[k] * v[j] - c[j] * u[k] + c[k] * u[j]  # b x v - c x u


@inner
def nearest_angle(c, s, near):
    """Return the angle of (c, s) plus the number of full turns that bring it nearest to ``near``."""
    angle = math.atan2(s, c)
    return angle + 2 * math.pi * math.floor((near - angle) / (2 * math.pi) + 0.5)


@inner
def angle_gradient(W, state, c, s, out):
    """Write the gradient of phi by the spin of end b less that of end a to out (3,); (c, s) = (C, S) at the state."""
    _moments(W, _U1 if state == 1 else _U0, W[_X], W[_Y])
    for i in range(3):
        out[i] = (c * W[_Y, i] - s * W[_X, i]) / (c * c + s * s)


@inner
def angle_rows(job, D, U, dof, rot, e, par, column, W, T, Z, row, row1, G):
    """Return dphi, C1, S1 of the angle phi over the step, and fill its rows.

    par[e, column:] holds u, v, b, c.  W (ANGLE_ROOM, 3), T (2, 3, 3), Z (2, 6) are work arrays.  The caller counts full
    turns.
    """
    c0, s0, c1, s1 = angle_vectors(D, rot, par, e, column, W)
    mc, ms, m, x, y = W[_MC], W[_MS], W[_M], W[_X], W[_Y]
    q, p, q1, p1 = W[_Q], W[_P], W[_Q1], W[_P1]
    _moments(W, _UM, mc, ms)
    dc = ds = 0.0
    for i in range(3):
        theta = U[dof[e, 9 + i]] - U[dof[e, 3 + i]]
        dc += theta * mc[i]
        ds += theta * ms[i]
    n0, n1 = math.sqrt(c0 * c0 + s0 * s0), math.sqrt(c1 * c1 + s1 * s1)
    sn, cs = (c0 * ds - s0 * dc) / (n0 * n1), (c0 * c1 + s0 * s1) / (n0 * n1)  # of dphi, the sine without cancellation
    dphi = math.atan2(sn, cs)
    ex, ey = c1 / n1, s1 / n1  # e1
    hx, hy = c0 / n0 + ex, s0 / n0 + ey  # e0 + e1
    tau = sn / (1 + cs)  # tan(dphi/2)
    quotient, dquotient = atan_quotient(tau)
    beta = 2 * quotient / ((n0 + n1) * (1 + cs))
    gc, gs = -beta * hy, beta * hx  # gradient of phi by C and S
    for i in range(3):
        q[i] = gc * W[_UM, i] + gs * W[_VM, i]
        p[i] = gc * W[_VM, i] - gs * W[_UM, i]
        q1[i] = gc * W[_U1, i] + gs * W[_V1, i]
        p1[i] = gc * W[_V1, i] - gs * W[_U1, i]
        m[i] = gc * mc[i] + gs * ms[i]  # b_m x q + c_m x p
    for i in range(12):
        row[i] = 0.0
    for i in range(3):
        row[3 + i] = -m[i]
        row[9 + i] = m[i]
    if job != TANGENT:
        return dphi, c1, s1

    for i in range(12):
        row1[i] = 0.0
        for j in range(12):
            G[i, j] = 0.0
    cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T[0])
    cayley_tangent(U[dof[e, 9]], U[dof[e, 10]], U[dof[e, 11]], T[1])
    _moments(W, _U1, x, y)  # spin of b -> C1, S1
    for end in range(2):
        sign = 1.0 if end == 1 else -1.0
        for j in range(3):
            k = 3 * end + j
            Z[0, k] = sign * (x[0] * T[end, 0, j] + x[1] * T[end, 1, j] + x[2] * T[end, 2, j])
            Z[1, k] = sign * (y[0] * T[end, 0, j] + y[1] * T[end, 1, j] + y[2] * T[end, 2, j])
    spun, turned = W[_U0], W[_V0]  # the vectors at the start are not needed any more
    # d beta = (bx, by).dz1, d e1 = R90 e1 dphi, so that d(gc, gs) = R90 (e0 + e1) d beta - beta e1 dphi
    turn = (0.5 * dquotient / quotient * (1 + tau * tau) + sn / (1 + cs)) / n1
    bx = beta * (-ey * turn - ex / (n0 + n1))
    by = beta * (ex * turn - ey / (n0 + n1))
    for k in range(6):
        end = 1 if k >= 3 else 0
        column_k = 3 + k + 3 * end
        by_angle = (ex * Z[1, k] - ey * Z[0, k]) / n1
        dbeta = bx * Z[0, k] + by * Z[1, k]
        dgc = -hy * dbeta - beta * ex * by_angle
        dgs = hx * dbeta - beta * ey * by_angle
        for i in range(3):
            spun[i] = T[end, i, k - 3 * end]
        if end == 1:  # d b_m x q + d c_m x p
            cross(spun, W[_B1], y)
            cross(y, q, x)
            cross(spun, W[_C1], y)
            cross(y, p, turned)
        else:  # b_m x d q + c_m x d p
            cross(spun, q1, y)
            cross(W[_BM], y, x)
            cross(spun, p1, y)
            cross(W[_CM], y, turned)
        row1[column_k] = by_angle
        for i in range(3):
            part = mc[i] * dgc + ms[i] * dgs + 0.5 * (x[i] + turned[i])
            G[9 + i, column_k] = part
            G[3 + i, column_k] = -part
    return dphi, c1, s1
