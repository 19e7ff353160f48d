"""Rotations by the Cayley map, and points on rotating ends: positions, work-conjugate rows, end-of-step Jacobians.

A step rotates the directors of an end by ``d1 = cay(theta) d0``, so that ``d1 - d0 = theta x (d0 + d1)/2`` exactly.  In
the plane theta is the scalar ``vartheta = 2 tan(dangle/2)``.  Two sorts of derivatives belong to it:

- over the step: a point ``P = x + R a`` moves by ``P1 - P0 = dx + theta x r_m`` with the mean arm
  ``r_m = (r0 + r1)/2``, hence a force F on it enters the rows of (dx, theta) as (F, r_m x F), with exact work;
- at the end of the step: ``delta P1 = delta x + delta w x r1`` with the spin ``delta w = T delta theta`` of the Cayley
  tangent ``T = (I + theta~/2)/(1 + |theta|^2/4)`` (plane: ``1/(1 + vartheta^2/4)``).

Series replace quotients of differences that would cancel in short steps.  Lengths are in metres, angles in radians.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner

__all__ = [
    "DP",
    "P0",
    "P1",
    "R0",
    "R1",
    "atan_quotient",
    "cayley_tangent",
    "cayley_vector",
    "cross",
    "point",
    "point_rate",
    "relative_angle",
    "rotate",
    "spin",
]

# rows of the array P that `point` fills: position at both ends, movement over the step, arm at both ends
P0, P1, DP, R0, R1 = 0, 1, 2, 3, 4


# --- angles ----------------------------------------------------------------------------------------------------------
@inner
def atan_quotient(u):
    """Return F(u) = atan(u)/u and F'(u); F is even and F(0) = 1; below 0.1, where F' would cancel, by a Taylor
    series."""
    if abs(u) < 0.1:
        q = u * u
        f = 1 - q * (1 / 3 - q * (1 / 5 - q * (1 / 7 - q * (1 / 9 - q * (1 / 11 - q * (1 / 13 - q * (1 / 15)))))))
        df = 10 / 11 - q * (12 / 13 - q * (14 / 15 - q * 16 / 17))
        df = -u * (2 / 3 - q * (4 / 5 - q * (6 / 7 - q * (8 / 9 - q * df))))
        return f, df
    f = math.atan(u) / u
    return f, (1 / (1 + u * u) - f) / u


@inner
def relative_angle(vb, va):
    """Return the increment of the angle of end b relative to end a, as a quotient over their Cayley parameters.

    The values are ``dphi = 2 atan(vb/2) - 2 atan(va/2)``, ``kappa = dphi/(vb - va)`` and the derivatives of kappa by vb
    and va.  A moment M between two ends that is conjugate to dphi enters the vartheta rows as -M kappa, M kappa: its
    work is M dphi and its resultant zero, exactly.  The functions are smooth for all values; each end turns by less
    than pi.
    """
    delta = 0.5 * (vb - va)
    den = 1 + 0.25 * va * vb
    if den > abs(delta):
        u = delta / den
        f, df = atan_quotient(u)
        dub = 0.5 * (1 + 0.25 * va * va) / (den * den)
        dua = -0.5 * (1 + 0.25 * vb * vb) / (den * den)
        return (
            2 * u * f,
            f / den,
            (df * dub - 0.25 * va * f / den) / den,
            (df * dua - 0.25 * vb * f / den) / den,
        )
    angle = math.atan2(delta, den)
    kappa = angle / delta
    return (
        2 * angle,
        kappa,
        0.5 * (1 / (1 + 0.25 * vb * vb) - kappa) / delta,
        0.5 * (kappa - 1 / (1 + 0.25 * va * va)) / delta,
    )


# --- rotations -------------------------------------------------------------------------------------------------------
@inner
def cross(a, b, out):
    """Write a x b (three components) to out."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@inner
def cayley_tangent(x, y, z, out):
    """Fill out (3, 3) with T(theta) = (I + theta~/2)/(1 + |theta|^2/4): spin (spatial axes) = T delta theta; T(0) =
    I."""
    f = 1 / (1 + 0.25 * (x * x + y * y + z * z))
    g = 0.5 * f
    out[0, 0] = out[1, 1] = out[2, 2] = f
    out[0, 1] = -g * z
    out[1, 0] = g * z
    out[1, 2] = -g * x
    out[2, 1] = g * x
    out[2, 0] = -g * y
    out[0, 2] = g * y


@inner
def cayley_vector(A, B, out):
    """Fill out (3,) with theta of B = cay(theta) A, for rotation matrices A, B (9,) row by row, less than pi apart."""
    trace = 0.0
    for i in range(9):
        trace += A[i] * B[i]  # trace of B A^T
    f = 2 / (1 + trace)
    x = y = z = 0.0
    for k in range(3):  # axial vector of B A^T - A B^T
        x += B[6 + k] * A[3 + k] - B[3 + k] * A[6 + k]
        y += B[k] * A[6 + k] - B[6 + k] * A[k]
        z += B[3 + k] * A[k] - B[k] * A[3 + k]
    out[0] = f * x
    out[1] = f * y
    out[2] = f * z


@inner
def rotate(D, state, row, x, y, z, out):
    """Fill out (3,) with R (x, y, z), R = D[state, row]: from body to spatial axes."""
    out[0] = D[state, row, 0] * x + D[state, row, 1] * y + D[state, row, 2] * z
    out[1] = D[state, row, 3] * x + D[state, row, 4] * y + D[state, row, 5] * z
    out[2] = D[state, row, 6] * x + D[state, row, 7] * y + D[state, row, 8] * z


@inner
def spin(V, D, dof, rot, state, e, k, out):
    """Fill out (3,) with the angular velocity of end k of element e at a state, in spatial axes (space, end dofs 6)."""
    j = 6 * k + 3
    rotate(D, state, rot[e, k], V[state, dof[e, j]], V[state, dof[e, j + 1]], V[state, dof[e, j + 2]], out)


# --- points on ends --------------------------------------------------------------------------------------------------
@inner
def point(Q, D, U, dof, rot, e, k, par, column, P, B, J):
    """Fill P, B, J of the point with the offset par[e, column:] (body axes) on end k of element e.

    The shape of D says whether the model is in the plane or in space.  ``P`` (5, dim) has the rows `P0` .. `R1`; ``B``
    (dim, 3 or 6): ``P1 - P0 = B U``, so a force F on the point is B^T F in the rows of the end; ``J`` (dim, 3 or 6):
    dP1/dU.
    """
    if D.shape[2] == 2:
        j = 3 * k
        n = rot[e, k]
        ix, iy = dof[e, j], dof[e, j + 1]
        v = U[dof[e, j + 2]]
        ax, ay = par[e, column], par[e, column + 1]
        r0x = D[0, n, 0] * ax - D[0, n, 1] * ay
        r0y = D[0, n, 1] * ax + D[0, n, 0] * ay
        r1x = D[1, n, 0] * ax - D[1, n, 1] * ay
        r1y = D[1, n, 1] * ax + D[1, n, 0] * ay
        rx, ry = 0.5 * (r0x + r1x), 0.5 * (r0y + r1y)
        t = 1 / (1 + 0.25 * v * v)
        P[0, 0], P[0, 1] = Q[0, ix] + r0x, Q[0, iy] + r0y
        P[1, 0], P[1, 1] = Q[1, ix] + r1x, Q[1, iy] + r1y
        P[2, 0], P[2, 1] = U[ix] - v * ry, U[iy] + v * rx
        P[3, 0], P[3, 1] = r0x, r0y
        P[4, 0], P[4, 1] = r1x, r1y
        B[0, 0], B[0, 1], B[0, 2] = 1.0, 0.0, -ry
        B[1, 0], B[1, 1], B[1, 2] = 0.0, 1.0, rx
        J[0, 0], J[0, 1], J[0, 2] = 1.0, 0.0, -t * r1y
        J[1, 0], J[1, 1], J[1, 2] = 0.0, 1.0, t * r1x
        return
    j = 6 * k
    n = rot[e, k]
    ax, ay, az = par[e, column], par[e, column + 1], par[e, column + 2]
    rotate(D, 0, n, ax, ay, az, P[3])
    rotate(D, 1, n, ax, ay, az, P[4])
    x, y, z = U[dof[e, j + 3]], U[dof[e, j + 4]], U[dof[e, j + 5]]
    rx, ry, rz = 0.5 * (P[3, 0] + P[4, 0]), 0.5 * (P[3, 1] + P[4, 1]), 0.5 * (P[3, 2] + P[4, 2])
    for i in range(3):
        m = dof[e, j + i]
        P[0, i] = Q[0, m] + P[3, i]
        P[1, i] = Q[1, m] + P[4, i]
        P[2, i] = U[m]
        for c in range(3):
            B[i, c] = J[i, c] = 1.0 if i == c else 0.0
    P[2, 0] += y * rz - z * ry
    P[2, 1] += z * rx - x * rz
    P[2, 2] += x * ry - y * rx
    B[0, 3], B[0, 4], B[0, 5] = 0.0, rz, -ry  # column j: e_j x r_m
    B[1, 3], B[1, 4], B[1, 5] = -rz, 0.0, rx
    B[2, 3], B[2, 4], B[2, 5] = ry, -rx, 0.0
    # column j of J: T e_j x r1 with T = f (I + theta~/2), T e_j = f (e_j + theta x e_j/2)
    f = 1 / (1 + 0.25 * (x * x + y * y + z * z))
    rx, ry, rz = f * P[4, 0], f * P[4, 1], f * P[4, 2]
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    J[0, 3], J[1, 3], J[2, 3] = z * rz + y * ry, -y * rx - rz, ry - z * rx
    J[0, 4], J[1, 4], J[2, 4] = rz - x * ry, x * rx + z * rz, -z * ry - rx
    J[0, 5], J[1, 5], J[2, 5] = -x * rz - ry, rx - y * rz, y * ry + x * rx


@inner
def point_rate(V, D, dof, rot, state, e, k, r, v, c):
    """Fill v (dim,) with the velocity of the point with the arm r (spatial axes) on end k at a state.

    c (dim,) gets its part w x r.
    """
    if D.shape[2] == 2:
        w = V[state, dof[e, 3 * k + 2]]
        c[0], c[1] = -w * r[1], w * r[0]
    else:
        spin(V, D, dof, rot, state, e, k, v)
        cross(v, r, c)
    n = 3 * (v.shape[0] - 1)
    for i in range(v.shape[0]):
        v[i] = V[state, dof[e, n * k + i]] + c[i]
