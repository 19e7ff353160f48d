"""Bushings with full stiffness and damping matrices between frames of two ends: `bushing2` (3x3), `bushing3` (6x6).

Frames: a point and axes e_i in end a, a point and axes f_i in end b, alike at the start.  Strains, with d = P_b - P_a:

    u   = components of d in the frame of a, or in the frame half-way between both, less those at the start
    phi = rotation vector of b's frame against a's, less that at the start; plane: the angle, any number of turns

The rotation vector has one set of components for both frames.  Its quaternion (x, q) gives psi = w(x) q
(`fem_mbs.elements.springs.rotation_vector`) and the half-way frame,

    u = x l + q (q.l)/(1 + x) - q x m,   l_i = d.(e_i + f_i)/2,   m_i = d.(e_i - f_i)/2;   plane: x, q of phi/2.

Exact quotients over a step: l, m and c_ij = e_i.f_j are bilinear in positions and directors, and the matrix B of
products of (x, q) is linear in c.  With r = (q0 + q1)/2 of both quaternions, B1 r - B0 r = (q1 - q0)(1 + q0.q1)/2, so

    Delta q = Delta B r/rho,   rho = (1 + q0.q1)/2,

whose limit is the differential.  Products take the product rule of means, w and 1/(1 + x) their divided differences.
The force S (s0 + s1)/2 + C (s1 - s0)/h hence does the work V1 - V0 plus the dissipation, without resultant and moment,
at any step size.  In the half-way frame exchanging both ends changes signs only.

`hist` (space): the quaternion at the start of the step, whose sign counts the turns of the parts, and the largest
angle since the start of the analysis.  Limits: in a step each end turns by less than pi, also relative to the other
end.  In space the rotation vector has its pole at a full turn; three quarters of a turn end in an error.

Parameters: weight of f in the frame (0: of a, 1/2: half-way), offsets, axes (body axes of their ends), strains at the
start, preload, S and C (upper triangles, order u, phi).  Outputs, in the frame: the force; the moment that acts, about
the point of b (half-way frame: about the middle of both points); both positive where the strain is; strains at the end
of the step; in space also the moments dV/dphi, which are S times the strains: they differ from the acting ones where
the rotation has not the direction of the moment.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import (
    COMMIT,
    DECAY,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    START,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import add_arm_tangent
from fem_mbs.elements.coordinates import end_velocities, nearest_angle
from fem_mbs.elements.kinematics import P0, P1, R0, R1, cross, point, point_rate, relative_angle, spin
from fem_mbs.elements.registry import ElementType, Watch
from fem_mbs.elements.springs.rotation_vector import rotation_factor

__all__ = ["TYPES"]

WEIGHT, POINTS = 0, 1  # first columns of par; `_columns` counts the others, which depend on the dimension

LIMIT = 4.7  # [rad]: a step of less than pi that passes a full turn still ends at a measured angle above it


@inner
def _columns(dim):
    """Return the first columns of offsets, axes of a, axes of b, strains at the start, preload, stiffness and
    damping."""
    ns = 3 * (dim - 1)
    axes = 1 + 2 * dim
    start = axes + 2 * dim * dim
    return 1, axes, axes + dim * dim, start, start + ns, start + 2 * ns, start + 2 * ns + ns * (ns + 1) // 2


@inner
def _matrix(par, e, first, out):
    k = first
    for i in range(out.shape[0]):
        for j in range(i, out.shape[0]):
            out[i, j] = out[j, i] = par[e, k]
            k += 1


@inner
def _vectors(Q, D, U, dof, rot, e, par, P, B, J):
    """Fill P, B, J as `point` does: rows 0 and 1 for the points of a and b, then the axes of a, then the axes of b."""
    dim = P.shape[2]
    first = _columns(dim)[1]
    point(Q, D, U, dof, rot, e, 0, par, POINTS, P[0], B[0], J[0])
    point(Q, D, U, dof, rot, e, 1, par, POINTS + dim, P[1], B[1], J[1])
    for k in range(2):
        for i in range(dim):
            m = 2 + dim * k + i
            point(Q, D, U, dof, rot, e, k, par, first + dim * (dim * k + i), P[m], B[m], J[m])


# --- scalars y: l and m (frame of a: d.e_i and zeros); then (x, q) in space, the angle of the frames in the plane ----
@inner
def _weights(par, e, part, out):
    """Fill ``out`` with the weights of e_i and f_i in the axes of l (part 0) or m (part 1)."""
    if par[e, WEIGHT] == 0:
        out[0], out[1] = (1.0, 0.0) if part == 0 else (0.0, 0.0)
    else:
        out[0], out[1] = 0.5, (0.5 if part == 0 else -0.5)


@inner
def _quaternion(P, state, near, B, q):
    """Fill q (4,) with the quaternion (x, q) of b's frame relative to a's at a state.

    Of both signs it takes the one nearer to ``near``, x >= 0 where ``near`` is zero.  B (4, 4) is a work array.
    """
    arm = R1 if state == 1 else R0
    trace = 0.0
    for i in range(3):
        for j in range(3):
            c = 0.0
            for p in range(3):
                c += P[2 + i, arm, p] * P[5 + j, arm, p]
            B[1 + i, 1 + j] = c
        trace += B[1 + i, 1 + i]
    B[0, 0] = 0.25 * (1 + trace)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        B[0, 1 + k] = B[1 + k, 0] = 0.25 * (B[1 + j, 1 + i] - B[1 + i, 1 + j])
    for k in range(3):
        B[1 + k, 1 + k] = 0.5 * B[1 + k, 1 + k] + 0.25 * (1 - trace)
        for j in range(k):
            B[1 + k, 1 + j] = B[1 + j, 1 + k] = 0.25 * (B[1 + k, 1 + j] + B[1 + j, 1 + k])
    best = 0
    for k in range(1, 4):
        if B[k, k] > B[best, best]:
            best = k
    size = alike = 0.0
    for k in range(4):
        q[k] = B[k, best]
        size += q[k] * q[k]
        alike += q[k] * near[k]
    if alike == 0:
        alike = q[0]
    size = math.copysign(1 / math.sqrt(size), alike)
    for k in range(4):
        q[k] *= size


@inner
def _frame_angle(P, state, near):
    """Return the angle of b's frame relative to a's at a state in the plane, with the number of turns nearest to
    ``near``."""
    arm = R1 if state == 1 else R0
    c = P[2, arm, 0] * P[4, arm, 0] + P[2, arm, 1] * P[4, arm, 1]
    s = P[2, arm, 0] * P[4, arm, 1] - P[2, arm, 1] * P[4, arm, 0]
    return nearest_angle(c, s, near)


@inner
def _scalars(par, e, P, state, y):
    """Write l and m of a state to y; the caller adds the rotation."""
    dim = P.shape[2]
    at, arm = (P1, R1) if state == 1 else (P0, R0)
    mean = par[e, WEIGHT] != 0
    for i in range(dim):
        along_e = along_f = 0.0
        for p in range(dim):
            d = P[1, at, p] - P[0, at, p]
            along_e += d * P[2 + i, arm, p]
            along_f += d * P[2 + dim + i, arm, p]
        y[i] = 0.5 * (along_e + along_f) if mean else along_e
        y[dim + i] = 0.5 * (along_e - along_f) if mean else 0.0


@inner
def _axis_rows(tangent, par, e, part, P, B, J, X, row, row1, G):
    """Fill rows dim part + i with the rows and tangents of l (part 0) or m (part 1)."""
    dim, n = P.shape[2], B.shape[2]
    em, dm, e1, d1, weight = X[0], X[1], X[2], X[3], X[4]
    _weights(par, e, part, weight)
    if weight[0] == 0:
        return
    for p in range(dim):
        d1[p] = P[1, P1, p] - P[0, P1, p]
        dm[p] = 0.5 * (P[1, P0, p] - P[0, P0, p] + d1[p])
    for i in range(dim):
        a, b, s = 2 + i, 2 + dim + i, dim * part + i
        for p in range(dim):
            e1[p] = weight[0] * P[a, R1, p] + weight[1] * P[b, R1, p]
            em[p] = 0.5 * (weight[0] * P[a, R0, p] + weight[1] * P[b, R0, p] + e1[p])
        for j in range(n):
            for p in range(dim):
                row[s, j] -= B[0, p, j] * em[p]
                row[s, n + j] += B[1, p, j] * em[p]
                row1[s, j] -= J[0, p, j] * e1[p]
                row1[s, n + j] += J[1, p, j] * e1[p]
                if j >= dim:
                    row[s, j] += weight[0] * B[a, p, j] * dm[p]
                    row[s, n + j] += weight[1] * B[b, p, j] * dm[p]
                    row1[s, j] += weight[0] * J[a, p, j] * d1[p]
                    row1[s, n + j] += weight[1] * J[b, p, j] * d1[p]
        if not tangent:
            continue
        g = G[s]
        for k in range(2):  # the end of the axis
            c, m = weight[k], (a if k == 0 else b)
            if c == 0:
                continue
            for p in range(dim):
                for j in range(dim, n):
                    for r in range(n):
                        # d e_m changes the forces on the points, d d_m those on the axis
                        g[r, n * k + j] -= 0.5 * c * B[0, p, r] * J[m, p, j]
                        g[n + r, n * k + j] += 0.5 * c * B[1, p, r] * J[m, p, j]
                        g[n * k + j, r] -= 0.5 * c * B[m, p, j] * J[0, p, r]
                        g[n * k + j, n + r] += 0.5 * c * B[m, p, j] * J[1, p, r]
            add_arm_tangent(g, c, dm, J[m], k)
        add_arm_tangent(g, -1.0, em, J[0], 0)
        add_arm_tangent(g, 1.0, em, J[1], 1)


@inner
def _times(X, r, factor, M):
    """Add factor 4 B(X) r to M (4, 3), with the vectors X_ij (3, 3, 3) in place of c_ij in B, and without constants."""
    for p in range(3):
        trace = X[0, 0, p] + X[1, 1, p] + X[2, 2, p]
        M[0, p] += factor * trace * r[0]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            skew = X[j, i, p] - X[i, j, p]
            M[0, p] += factor * skew * r[1 + k]
            part = skew * r[0] - trace * r[1 + k]
            for l in range(3):
                part += (X[k, l, p] + X[l, k, p]) * r[1 + l]
            M[1 + k, p] += factor * part


@inner
def _quaternion_rows(tangent, P, J, q0, q1, row, row1, G):
    """Fill rows (4, 12) and tangents (4, 12, 12) of (x, q)."""
    X, Y = scratch(3, 3, 3), scratch(3, 3, 3)
    M, N = cleared(4, 3), scratch(4, 3)
    r, dr, spun = scratch(4), scratch(4), scratch(3)
    rho = 0.5
    for k in range(4):
        r[k] = 0.5 * (q0[k] + q1[k])
        rho += 0.5 * q0[k] * q1[k]
    for i in range(3):
        for j in range(3):
            for p in range(3):  # c1 - c0 = (theta_b - theta_a).(f_m x e_m)
                a, b = (p + 1) % 3, (p + 2) % 3
                e_a, e_b = P[2 + i, R0, a] + P[2 + i, R1, a], P[2 + i, R0, b] + P[2 + i, R1, b]
                f_a, f_b = P[5 + j, R0, a] + P[5 + j, R1, a], P[5 + j, R0, b] + P[5 + j, R1, b]
                X[i, j, p] = 0.25 * (f_a * e_b - f_b * e_a)
    _times(X, r, 0.25 / rho, M)
    for k in range(4):
        for p in range(3):
            row[k, 3 + p], row[k, 9 + p] = -M[k, p], M[k, p]
    if not tangent:
        return
    for end in range(2):
        sign = 1.0 if end == 1 else -1.0
        for c in range(3, 6):
            # relative spin of b in the axes of a; at the end of the step only the moved axes of each body are known
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                at = 2 + 3 * end
                spun[i] = 0.0
                for p in range(3):
                    spun[i] += sign * J[at + j, p, c] * P[at + k, R1, p]
            turn = 1.0 if end == 0 else -1.0  # a's axes: psi' = W x psi/2 + ...; b's: with the other sign
            for p in range(3):
                a, b = (p + 1) % 3, (p + 2) % 3
                dr[1 + p] = 0.25 * (q1[0] * spun[p] + turn * (spun[a] * q1[1 + b] - spun[b] * q1[1 + a]))
            dr[0] = -0.25 * (spun[0] * q1[1] + spun[1] * q1[2] + spun[2] * q1[3])
            drho = 0.0
            for k in range(4):
                drho += q0[k] * dr[k]
                row1[k, 6 * end + c] = 2 * dr[k]
            for i in range(3):
                for j in range(3):
                    for p in range(3):
                        a, b = (p + 1) % 3, (p + 2) % 3
                        if end == 0:
                            f_a, f_b = P[5 + j, R0, a] + P[5 + j, R1, a], P[5 + j, R0, b] + P[5 + j, R1, b]
                            Y[i, j, p] = 0.25 * (f_a * J[2 + i, b, c] - f_b * J[2 + i, a, c])
                        else:
                            e_a, e_b = P[2 + i, R0, a] + P[2 + i, R1, a], P[2 + i, R0, b] + P[2 + i, R1, b]
                            Y[i, j, p] = 0.25 * (J[5 + j, a, c] * e_b - J[5 + j, b, c] * e_a)
            for k in range(4):
                for p in range(3):
                    N[k, p] = -drho / rho * M[k, p]
            _times(Y, r, 0.25 / rho, N)
            _times(X, dr, 0.25 / rho, N)
            for k in range(4):
                for p in range(3):
                    G[k, 3 + p, 6 * end + c] = -N[k, p]
                    G[k, 9 + p, 6 * end + c] = N[k, p]


@inner
def _strains(par, e, dim, y, z):
    """Fill z with the strains of the scalars y."""
    start = _columns(dim)[3]
    mean = par[e, WEIGHT] != 0
    if dim == 2:
        x, q = math.cos(0.5 * y[4]), math.sin(0.5 * y[4])
        z[0] = x * y[0] + q * y[3] if mean else y[0]
        z[1] = x * y[1] - q * y[2] if mean else y[1]
        for i in range(2):
            z[i] -= par[e, start + i]
        return
    q = y[7:10]
    factor = rotation_factor(y[6], y[6])[0]
    along = (q[0] * y[0] + q[1] * y[1] + q[2] * y[2]) / (1 + y[6]) if mean else 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        z[k] = y[6] * y[k] + along * q[k] - q[i] * y[3 + j] + q[j] * y[3 + i] if mean else y[k]
        z[3 + k] = factor * q[k]
    for i in range(6):
        z[i] -= par[e, start + i]


@inner
def _chain(par, e, dim, y0, y1, A, DA):
    """Fill A (n, ny) with z1 - z0 = A (y1 - y0), exactly, and DA (n, ny, ny) = dA/dy1; at equal states A = dz/dy."""
    mean = par[e, WEIGHT] != 0
    A[:] = 0.0
    DA[:] = 0.0
    if dim == 2:
        A[2, 4] = 1.0
        if not mean:
            A[0, 0] = A[1, 1] = 1.0
            return
        middle, u = 0.25 * (y0[4] + y1[4]), 0.25 * (y1[4] - y0[4])
        c0, s0, c1, s1 = math.cos(0.5 * y0[4]), math.sin(0.5 * y0[4]), math.cos(0.5 * y1[4]), math.sin(0.5 * y1[4])
        if abs(u) < 0.02:
            S, DS = 1 - u * u / 6 * (1 - u * u / 20), -u / 3 * (1 - u * u / 10 * (1 - u * u / 28))
        else:
            S = math.sin(u) / u
            DS = (math.cos(u) - S) / u
        dx, dq = -0.5 * S * math.sin(middle), 0.5 * S * math.cos(middle)
        ddx = -0.125 * (DS * math.sin(middle) + S * math.cos(middle))
        ddq = 0.125 * (DS * math.cos(middle) - S * math.sin(middle))
        for k in range(2):
            m, sign = 3 - k, 1.0 - 2.0 * k  # z_0 = x l_0 + q m_1, z_1 = x l_1 - q m_0
            A[k, k], A[k, m] = 0.5 * (c0 + c1), 0.5 * sign * (s0 + s1)
            l_m, m_m = 0.5 * (y0[k] + y1[k]), 0.5 * (y0[m] + y1[m])
            A[k, 4] = dx * l_m + sign * dq * m_m
            DA[k, k, 4], DA[k, m, 4] = -0.25 * s1, 0.25 * sign * c1
            DA[k, 4, k], DA[k, 4, m] = 0.5 * dx, 0.5 * sign * dq
            DA[k, 4, 4] = ddx * l_m + sign * ddq * m_m
        return
    w0, w1, dw, ddw = rotation_factor(y0[6], y1[6])
    slope = rotation_factor(y1[6], y1[6])[2]
    for k in range(3):
        A[3 + k, 6], A[3 + k, 7 + k] = 0.5 * dw * (y0[7 + k] + y1[7 + k]), 0.5 * (w0 + w1)
        DA[3 + k, 6, 6] = 0.5 * ddw * (y0[7 + k] + y1[7 + k])
        DA[3 + k, 6, 7 + k], DA[3 + k, 7 + k, 6] = 0.5 * dw, 0.5 * slope
    if not mean:
        A[0, 0] = A[1, 1] = A[2, 2] = 1.0
        return
    # g = q.l/(1 + x), its quotient g' = (by_x, by_q, by_l) and what that changes by with y1
    p0, p1 = 1 / (1 + y0[6]), 1 / (1 + y1[6])
    s0 = y0[7] * y0[0] + y0[8] * y0[1] + y0[9] * y0[2]
    s1 = y1[7] * y1[0] + y1[8] * y1[1] + y1[9] * y1[2]
    pm, g_m, by_x = 0.5 * (p0 + p1), 0.5 * (p0 * s0 + p1 * s1), -0.5 * p0 * p1 * (s0 + s1)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        q_m = 0.5 * (y0[7 + k] + y1[7 + k])
        a, d = A[k], DA[k]
        # x l_k
        a[k] += 0.5 * (y0[6] + y1[6])
        a[6] += 0.5 * (y0[k] + y1[k])
        d[k, 6] += 0.5
        d[6, k] += 0.5
        # q_k g
        a[7 + k] += g_m
        a[6] += q_m * by_x
        d[7 + k, 6] -= 0.5 * p1 * p1 * s1
        d[6, 7 + k] += 0.5 * by_x
        d[6, 6] += 0.5 * q_m * p0 * p1 * p1 * (s0 + s1)
        for m in range(3):
            l, q = 0.5 * (y0[m] + y1[m]), 0.5 * (y0[7 + m] + y1[7 + m])
            a[7 + m] += q_m * pm * l
            a[m] += q_m * pm * q
            d[7 + k, 7 + m] += 0.5 * p1 * y1[m]
            d[7 + k, m] += 0.5 * p1 * y1[7 + m]
            d[6, 7 + m] -= 0.5 * q_m * p0 * p1 * y1[m]
            d[6, m] -= 0.5 * q_m * p0 * p1 * y1[7 + m]
            d[7 + m, 7 + k] += 0.5 * pm * l
            d[m, 7 + k] += 0.5 * pm * q
            d[7 + m, 6] -= 0.5 * q_m * p1 * p1 * l
            d[m, 6] -= 0.5 * q_m * p1 * p1 * q
            d[7 + m, m] += 0.5 * q_m * pm
            d[m, 7 + m] += 0.5 * q_m * pm
        # -(q x m)_k
        a[7 + i] -= 0.5 * (y0[3 + j] + y1[3 + j])
        a[3 + j] -= 0.5 * (y0[7 + i] + y1[7 + i])
        a[7 + j] += 0.5 * (y0[3 + i] + y1[3 + i])
        a[3 + i] += 0.5 * (y0[7 + j] + y1[7 + j])
        d[7 + i, 3 + j] -= 0.5
        d[3 + j, 7 + i] -= 0.5
        d[7 + j, 3 + i] += 0.5
        d[3 + i, 7 + j] += 0.5


@inner
def _states(par, e, Q, dof, U, hist, one_state, P, y0, y1, z0, z1, work):
    """Fill the scalars y0, y1 and strains z0, z1 at both ends of the step, from the points and axes in P; work is
    (4, 4)."""
    dim = P.shape[2]
    _scalars(par, e, P, 0, y0)
    _scalars(par, e, P, 1, y1)
    if dim == 3:
        _quaternion(P, 0, hist[e], work, y0[6:10])
        _quaternion(P, 1, y0[6:10], work, y1[6:10])
    else:
        a, b = dof[e, 2], dof[e, 5]
        start = par[e, _columns(2)[3] + 2]
        z0[2] = Q[0, b] - Q[0, a] - start
        dphi = Q[1, b] - Q[1, a] - start - z0[2] if one_state else relative_angle(U[b], U[a])[0]
        z1[2] = z0[2] + dphi
        y0[4] = _frame_angle(P, 0, z0[2])
        y1[4] = y0[4] + dphi
    _strains(par, e, dim, y0, z0)
    _strains(par, e, dim, y1, z1)


@inner
def _rows(tangent, par, e, dof, U, P, B, J, y0, y1, X, A, DA, yrow, yrow1, yG, row, row1, G):
    """Fill the rows (n, 2 n) of the strains, their derivatives row1 at the end of the step, and tangents G (n, 2 n,
    2 n)."""
    dim, n = P.shape[2], B.shape[2]
    ny = yrow.shape[0]
    yrow[:] = 0.0
    yrow1[:] = 0.0
    if tangent:
        yG[:] = 0.0
    _axis_rows(tangent, par, e, 0, P, B, J, X, yrow, yrow1, yG)
    _axis_rows(tangent, par, e, 1, P, B, J, X, yrow, yrow1, yG)
    if dim == 3:
        _quaternion_rows(tangent, P, J, y0[6:10], y1[6:10], yrow[6:10], yrow1[6:10], yG[6:10])
    else:
        a, b = dof[e, 2], dof[e, 5]
        _, kappa, by_b, by_a = relative_angle(U[b], U[a])
        yrow[4, 2], yrow[4, 5] = -kappa, kappa
        yrow1[4, 2], yrow1[4, 5] = -1 / (1 + 0.25 * U[a] * U[a]), 1 / (1 + 0.25 * U[b] * U[b])
        if tangent:
            yG[4, 2, 2], yG[4, 2, 5] = -by_a, -by_b
            yG[4, 5, 2], yG[4, 5, 5] = by_a, by_b
    _chain(par, e, dim, y0, y1, A, DA)
    row[:] = 0.0
    for k in range(n):
        for m in range(ny):
            if A[k, m] != 0:
                for i in range(2 * n):
                    row[k, i] += A[k, m] * yrow[m, i]
    if not tangent:
        return
    G[:] = 0.0
    row1[:] = 0.0
    for k in range(n):
        for m in range(ny):
            if A[k, m] != 0:
                for i in range(2 * n):
                    for j in range(2 * n):
                        G[k, i, j] += A[k, m] * yG[m, i, j]
            for l in range(ny):
                if DA[k, m, l] != 0:
                    for i in range(2 * n):
                        for j in range(2 * n):
                            G[k, i, j] += DA[k, m, l] * yrow[m, i] * yrow1[l, j]
    _chain(par, e, dim, y1, y1, A, DA)
    for k in range(n):
        for m in range(ny):
            if A[k, m] != 0:
                for i in range(2 * n):
                    row1[k, i] += A[k, m] * yrow1[m, i]


@inner
def _rates(V, D, dof, rot, state, e, par, P, y, X, A, DA, rate, r):
    """Fill r (n,) with the rates of the strains at a state with the scalars y, from the velocities there; rate (ny,)
    is work."""
    dim = P.shape[2]
    at, arm = (P1, R1) if state == 1 else (P0, R0)
    va, vb, x, v, weight = X[0], X[1], X[2], X[3], X[4]
    point_rate(V, D, dof, rot, state, e, 0, P[0, arm], va, x)
    point_rate(V, D, dof, rot, state, e, 1, P[1, arm], vb, x)
    for part in range(2):
        _weights(par, e, part, weight)
        for i in range(dim):
            total = 0.0
            for k in range(2):
                axis = P[2 + dim * k + i, arm]
                point_rate(V, D, dof, rot, state, e, k, axis, v, x)  # x = w x axis
                for p in range(dim):
                    total += weight[k] * ((vb[p] - va[p]) * axis[p] + (P[1, at, p] - P[0, at, p]) * x[p])
            rate[dim * part + i] = total
    if dim == 2:
        rate[4] = V[state, dof[e, 5]] - V[state, dof[e, 2]]
    else:
        spin(V, D, dof, rot, state, e, 0, va)
        spin(V, D, dof, rot, state, e, 1, vb)
        for i in range(3):  # in the axes of a
            v[i] = 0.0
            for p in range(3):
                v[i] += (vb[p] - va[p]) * P[2 + i, arm, p]
        q = y[7:10]
        cross(v, q, x)
        rate[6] = -0.5 * (v[0] * q[0] + v[1] * q[1] + v[2] * q[2])
        for i in range(3):
            rate[7 + i] = 0.5 * (y[6] * v[i] + x[i])
    _chain(par, e, dim, y, y, A, DA)
    for k in range(r.shape[0]):
        r[k] = 0.0
        for m in range(rate.shape[0]):
            r[k] += A[k, m] * rate[m]


@inner
def _acting(par, e, y0, y1, z0, z1, force, X, out):
    """Fill out (3,) with the acting moment in the axes of the frame, at the middle of two states.

    ``force`` holds the forces conjugate to the strains.
    """
    start = _columns(3)[3]
    q, u, v, x = X[0], X[1], X[2], 0.0
    size = 0.0
    for k in range(4):
        size += (y0[6 + k] + y1[6 + k]) ** 2
    size = 1 / math.sqrt(size)
    x = size * (y0[6] + y1[6])
    for k in range(3):
        q[k] = size * (y0[7 + k] + y1[7 + k])
        u[k] = 0.5 * (z0[k] + z1[k]) + par[e, start + k]
    moment = force[3:6]
    w, _, dw, _ = rotation_factor(x, x)
    if par[e, WEIGHT] == 0:
        cross(q, moment, u)
        cross(q, u, v)
        for k in range(3):
            out[k] = moment[k] + 0.5 * w * u[k] - 0.5 * dw * v[k]
        return
    along = q[0] * moment[0] + q[1] * moment[1] + q[2] * moment[2]
    part = 0.5 * (dw + w / (1 + x)) * along
    cross(u, force[0:3], v)
    cross(q, v, u)
    for k in range(3):
        out[k] = 0.5 * w * moment[k] - part * q[k] - 0.5 * u[k] / (1 + x)


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    ny = 5 * (dim - 1)
    tangent = job == TANGENT
    one_state = ctl[RULE] == ONE_STATE
    h = ctl[H]
    P = np.empty((2 + 2 * dim, 5, dim))
    B, J = np.empty((2 + 2 * dim, dim, n)), np.empty((2 + 2 * dim, dim, n))
    X, work = np.empty((5, dim)), scratch(4, 4)
    row, row1, rate_row = np.empty((n, 2 * n)), np.empty((n, 2 * n)), np.empty((n, 2 * n))
    G = np.empty((n, 2 * n, 2 * n))
    yrow, yrow1, yG = np.empty((ny, 2 * n)), np.empty((ny, 2 * n)), np.empty((ny, 2 * n, 2 * n))
    y0, y1, A, DA = np.zeros(ny), np.zeros(ny), np.empty((n, ny)), np.empty((n, ny, ny))
    S, C = np.empty((n, n)), np.empty((n, n))
    s0, s1, rate, force, vel = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(2 * n)
    _, _, _, _, preload, stiff, damp = _columns(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, stiff, S)
        _matrix(par, e, damp, C)
        for i in range(n):
            for j in range(n):
                C[i, j] += ctl[DECAY] * S[i, j]
        _vectors(Q, D, U, dof, rot, e, par, P, B, J)
        _states(par, e, Q, dof, U, hist, one_state, P, y0, y1, s0, s1, work)
        _rows(tangent, par, e, dof, U, P, B, J, y0, y1, X, A, DA, yrow, yrow1, yG, row, row1, G)
        if one_state:
            end_velocities(V, D, dof, rot, 1, e, vel)
        for k in range(n):
            rate[k] = 0.0
            for i in range(2 * n):
                rate[k] += row[k, i] * (vel[i] if one_state else U[dof[e, i]] / h)
        for k in range(n):
            force[k] = par[e, preload + k]
            for m in range(n):
                force[k] += 0.5 * S[k, m] * (s0[m] + s1[m]) + C[k, m] * rate[m]
        for i in range(2 * n):
            total = 0.0
            for k in range(n):
                total += force[k] * row[k, i]
            f[i] = ctl[SF] * total
        if not tangent:
            continue
        K = ke[e - e0]
        by_rate = 0.0 if one_state else 1 / h
        for i in range(2 * n):
            for j in range(2 * n):
                K[i, j] = 0.0
        for k in range(n):
            for j in range(2 * n):
                slope = 0.0
                for m in range(n):
                    slope += (0.5 * S[k, m] + by_rate * C[k, m]) * row1[m, j]
                for i in range(2 * n):
                    K[i, j] += ctl[SK] * (row[k, i] * slope + force[k] * G[k, i, j])
        if not one_state:
            continue
        # rates s' = row.vel: as in `coordinates.spring_rows`
        for k in range(n):
            for j in range(2 * n):
                rate_row[k, j] = ctl[WV] * row[k, j]
                for i in range(2 * n):
                    rate_row[k, j] += 2 * vel[i] * G[k, i, j]
            if n == 6:
                for m in (3, 9):
                    rate_row[k, m] += vel[m + 1] * row[k, m + 2] - vel[m + 2] * row[k, m + 1]
                    rate_row[k, m + 1] += vel[m + 2] * row[k, m] - vel[m] * row[k, m + 2]
                    rate_row[k, m + 2] += vel[m] * row[k, m + 1] - vel[m + 1] * row[k, m]
        for k in range(n):
            for j in range(2 * n):
                slope = 0.0
                for m in range(n):
                    slope += C[k, m] * rate_row[m, j]
                for i in range(2 * n):
                    K[i, j] += ctl[SF] * row[k, i] * slope


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    if dim == 2 and job != LEDGER and job != OUTPUT:
        return
    n = 3 * (dim - 1)
    ny = 5 * (dim - 1)
    one_state = ctl[RULE] == ONE_STATE
    P = np.empty((2 + 2 * dim, 5, dim))
    B, J = np.empty((2 + 2 * dim, dim, n)), np.empty((2 + 2 * dim, dim, n))
    X, work = np.empty((5, dim)), scratch(4, 4)
    row, row1, G = np.empty((n, 2 * n)), np.empty((n, 2 * n)), np.empty((n, 1, 1))
    yrow, yrow1, yG = np.empty((ny, 2 * n)), np.empty((ny, 2 * n)), np.empty((ny, 1, 1))
    y0, y1, A, DA = np.zeros(ny), np.zeros(ny), np.empty((n, ny)), np.empty((n, ny, ny))
    S, C = np.empty((n, n)), np.empty((n, n))
    s0, s1, ds, rate, before = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    force, yrate = np.empty(n), np.empty(ny)
    _, _, _, _, preload, stiff, damp = _columns(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, stiff, S)
        _matrix(par, e, damp, C)
        for i in range(n):
            for j in range(n):
                C[i, j] += ctl[DECAY] * S[i, j]
        _vectors(Q, D, U, dof, rot, e, par, P, B, J)
        _states(par, e, Q, dof, U, hist, one_state, P, y0, y1, s0, s1, work)
        if dim == 3 and (job == START or job == COMMIT):
            for k in range(4):
                hist[e, k] = y1[6 + k]
            size = math.sqrt(y1[7] * y1[7] + y1[8] * y1[8] + y1[9] * y1[9])
            angle = 2 * math.atan2(size, y1[6])
            hist[e, 4] = angle if job == START else max(angle, hist[e, 4])
            continue
        if one_state:  # the force of the end; work by the trapezoidal rule
            _rates(V, D, dof, rot, 0, e, par, P, y0, X, A, DA, yrate, before)
            _rates(V, D, dof, rot, 1, e, par, P, y1, X, A, DA, yrate, rate)
            for k in range(n):
                ds[k] = s1[k] - s0[k]
        else:
            _rows(False, par, e, dof, U, P, B, J, y0, y1, X, A, DA, yrow, yrow1, yG, row, row1, G)
            for k in range(n):
                ds[k] = 0.0
                for i in range(2 * n):
                    ds[k] += row[k, i] * U[dof[e, i]]
                rate[k] = before[k] = ds[k] / ctl[H]
        for k in range(n):
            force[k], loss, stress = par[e, preload + k], 0.0, 0.0
            for m in range(n):
                stress += S[k, m] * s1[m]
                force[k] += S[k, m] * (s1[m] if one_state else 0.5 * (s0[m] + s1[m])) + C[k, m] * rate[m]
                loss += 0.5 * C[k, m] * (before[m] + rate[m])
            if job == LEDGER:
                f[STRAIN] += (0.5 * stress + par[e, preload + k]) * s1[k]
                f[DISSIPATED] += loss * ds[k]
        if job == LEDGER:
            continue
        for k in range(n):
            f[k], f[n + k] = force[k], s1[k]
        if dim == 3:
            for k in range(3):
                f[12 + k] = force[3 + k]
            if one_state:
                _acting(par, e, y1, y1, s1, s1, force, X, f[3:6])
            else:
                _acting(par, e, y0, y1, s0, s1, force, X, f[3:6])


_ANGLE = Watch(
    4.0, LIMIT, "the relative rotation of the bushing",
    "its rotation vector ends at a full turn; use a joint with springs for parts that turn", kind="Bushing", history=4,
)  # fmt: skip


def _type(dimension):
    axes = "xyz"[:dimension]
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    angles = ("angle [rad]",) if dimension == 2 else tuple(f"rotation {c} [rad]" for c in axes)
    conjugate = () if dimension == 2 else tuple(f"conjugate moment {c} [N m]" for c in axes)
    n = 3 * (dimension - 1)
    at = 1 + 2 * dimension + 2 * dimension**2 + n
    pairs = [f"{i}{j}" for i in range(1, n + 1) for j in range(i, n + 1)]
    forces = [0, 1, 2] if dimension == 2 else [0, 1, 2, 12, 13, 14]

    def prestress(par, outputs, factor):
        """Return parameters with the forces of ``outputs`` times ``factor`` added to the preload."""
        par = par.copy()
        par[:, at : at + n] += factor * outputs[:, forces]
        return par

    return ElementType(
        name=f"bushing{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            "mean frame",
            *(f"a{c}_{end} [m]" for end in "ab" for c in axes),
            *(f"{v}{i}{c}" for v in "ef" for i in range(1, dimension + 1) for c in axes),
            *(f"start {i}" for i in range(1, n + 1)),
            *(f"preload {i}" for i in range(1, n + 1)),
            *(f"S{p}" for p in pairs),
            *(f"C{p}" for p in pairs),
        ),
        hist=0 if dimension == 2 else 5,
        turns=dimension == 3,
        outputs=(
            *(f"force {c} [N]" for c in axes), *moments, *(f"displacement {c} [m]" for c in axes), *angles, *conjugate,
        ),
        force=_force,
        report=_report,
        prestress=prestress,
        watches=() if dimension == 2 else (_ANGLE,),
    )  # fmt: skip


TYPES = {t.name: t for t in (_type(2), _type(3))}
