"""Natural strains of the spatial co-rotational beam, and their exact difference quotients.

The element triad (Crisfield 1990, doi:10.1016/0045-7825(90)90106-V) has its first axis along the chord l; turning the
section triads of both ends by the shortest rotations onto the chord leaves them apart by the twist tau about it, and
the other two axes of the element triad lie midway.  Crisfield's formulas approximate these shortest rotations; here
they are exact.  With n = |l|, lambda_j = l.e_j of an end, c_jk = e_j^p.e_k^q,

    b2 = lambda_2/(n + lambda_1),  b3 = lambda_3/(n + lambda_1)      (tan(phi/2) times the direction across the chord)
    theta_y = 2 b3 A(t),  theta_z = -2 b2 A(t),  t = b2^2 + b3^2,  A = atan(sqrt t)/sqrt t
    C = [c22 + c33 - b2q c21 - b2p c12 - b3q c31 - b3p c13 + (b2p b2q + b3p b3q)(c11 - 1)]/2
    S = [c32 - c23 - b2q c31 - b3p c12 + b3q c21 + b2p c13 + (b3p b2q - b2p b3q)(c11 - 1)]/2,   tau = angle(C, S)

and the six strains  |l| - L,  L tau,  -L theta_y^p,  L theta_y^q,  -L theta_z^p,  L theta_z^q.

All of it is built from the scalars z = (n, lambda^p, lambda^q, c), whose quotients over a step are exact (n: divided
by the mean length; the others are bilinear).  Sums and products of quotients, the divided difference of A and the
angle quotient of (C, S) (docs/theory.md, sections 1 and 3) give an exact quotient of every strain: one that does not
cancel in short steps and turns with the body.  `adjoint` runs through them backwards: stresses on the strains become
forces on z.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner
from fem_mbs.elements.kinematics import atan_quotient

__all__ = ["adjoint", "adjoint_tangent", "means", "scalars", "strains", "variation"]

N_Z = 16  # n, lambda_p (3), lambda_q (3), c11 c12 .. c33
N_W = 13  # per state: r, b2, b3, t of p; the same of q; k, m, m', C, S
N_Y = 25  # per end: b2, b3, A, dA/dt, r, r r, lambda_2, lambda_3; then k, m, m', c12, c13, c21, c31, dtau/dC, dtau/dS
_END = 4
_K, _M, _MP, _C, _S = 8, 9, 10, 11, 12


@inner
def atan_difference(t0, t1):
    """Return A(t0), A(t1), the divided difference D = A[t0, t1], dD/dt1 and A'(t1), for A(t) = atan(sqrt t)/sqrt t."""
    if t0 < 0.1 and t1 < 0.1:
        # A = sum (-t)^k/(2k + 1); the divided differences of t^k are complete homogeneous sums
        a0 = a1 = 1.0
        p0 = p1 = 1.0
        h, dh, hh, total, slope, own = 1.0, 0.0, 1.0, 0.0, 0.0, 0.0
        sign, k = -1.0, 1
        while k < 24:
            f = sign / (2 * k + 1)
            total += f * h
            slope += f * dh
            own += f * hh
            p1 *= t1
            a1 += f * p1
            dh = h + t1 * dh
            p0 *= t0
            a0 += f * p0
            h = t1 * h + p0
            hh = (k + 1) * p1
            if h < 1e-18 and dh < 1e-18:
                break
            sign = -sign
            k += 1
        return a0, a1, total, slope, own
    x0, x1 = math.sqrt(t0), math.sqrt(t1)
    a0 = math.atan(x0) / x0 if t0 > 0.0 else 1.0
    a1 = math.atan(x1) / x1 if t1 > 0.0 else 1.0
    d = t1 - t0
    if t1 < 1e-3:
        own = -1 / 3 + t1 * (2 / 5 - t1 * (3 / 7 - t1 * 4 / 9))
    else:
        own = (1.0 / (1.0 + t1) - a1) / (2.0 * t1)
    if abs(d) > 0.05:
        total = (a1 - a0) / d
        return a0, a1, total, (own - total) / d, own
    u = d / ((x0 + x1) * (1.0 + x0 * x1))
    q, _ = atan_quotient(u)
    total = (x0 * q / (1.0 + x0 * x1) - math.atan(x0)) / (x0 * x1 * (x0 + x1))
    t = t0 + 2.0 / 3.0 * d  # mean-value point of the second divided difference
    a = math.atan(math.sqrt(t)) / math.sqrt(t)
    first = (1.0 / (1.0 + t) - a) / (2.0 * t)
    return a0, a1, total, -0.25 * (1.0 / (1.0 + t) ** 2 + 3.0 * first) / t, own


@inner
def scalars(E, l, n, z, w):
    """Fill z (N_Z,) and the derived scalars w (N_W,) at one state: section axes E (6, 3), chord l (3,) of length n."""
    z[0] = n
    for j in range(6):
        z[1 + j] = E[j, 0] * l[0] + E[j, 1] * l[1] + E[j, 2] * l[2]
    for j in range(3):
        for k in range(3):
            z[7 + 3 * j + k] = E[j, 0] * E[3 + k, 0] + E[j, 1] * E[3 + k, 1] + E[j, 2] * E[3 + k, 2]
    for a in range(2):
        r = 1.0 / (n + z[1 + 3 * a])
        b2, b3 = r * z[2 + 3 * a], r * z[3 + 3 * a]
        w[_END * a], w[_END * a + 1], w[_END * a + 2], w[_END * a + 3] = r, b2, b3, b2 * b2 + b3 * b3
    b2p, b3p, b2q, b3q = w[1], w[2], w[5], w[6]
    k = z[7] - 1.0
    m, mp = b2p * b2q + b3p * b3q, b3p * b2q - b2p * b3q
    w[_K], w[_M], w[_MP] = k, m, mp
    c12, c13, c21, c31 = z[8], z[9], z[10], z[13]
    w[_C] = 0.5 * (z[11] + z[15] - b2q * c21 - b2p * c12 - b3q * c31 - b3p * c13 + m * k)
    w[_S] = 0.5 * (z[14] - z[12] - b2q * c31 - b3p * c12 + b3q * c21 + b2p * c13 + mp * k)


@inner
def strains(w, length, stretch, b):
    """Fill b (6,) with the natural strains [m] at a state; ``stretch`` = |l| - L."""
    b[0] = stretch
    b[1] = length * math.atan2(w[_S], w[_C])
    for a in range(2):
        t = w[_END * a + 3]
        f = (2.0 if a == 1 else -2.0) * length * atan_difference(t, t)[0]
        b[2 + a] = f * w[_END * a + 2]
        b[4 + a] = -f * w[_END * a + 1]


@inner
def means(z0, w0, z1, w1, y, x):
    """Fill y (N_Y,), the terms of the quotients over the step, and x (10,), further terms of their derivatives.

    x holds dD/dt1 and A'(t1) of both ends, then of the angle quotient of (C, S) the factor beta, the sum (hx, hy) of
    the unit vectors at both ends of the step, the derivatives of beta by C and S, and the length of (C, S) at the end.
    """
    for a in range(2):
        o = _END * a
        a0, a1, d, slope, own = atan_difference(w0[o + 3], w1[o + 3])
        i = 8 * a
        y[i], y[i + 1] = 0.5 * (w0[o + 1] + w1[o + 1]), 0.5 * (w0[o + 2] + w1[o + 2])
        y[i + 2], y[i + 3] = 0.5 * (a0 + a1), d
        y[i + 4], y[i + 5] = 0.5 * (w0[o] + w1[o]), w0[o] * w1[o]
        y[i + 6], y[i + 7] = 0.5 * (z0[2 + 3 * a] + z1[2 + 3 * a]), 0.5 * (z0[3 + 3 * a] + z1[3 + 3 * a])
        x[2 * a], x[2 * a + 1] = slope, own
    y[16], y[17], y[18] = 0.5 * (w0[_K] + w1[_K]), 0.5 * (w0[_M] + w1[_M]), 0.5 * (w0[_MP] + w1[_MP])
    y[19], y[20] = 0.5 * (z0[8] + z1[8]), 0.5 * (z0[9] + z1[9])
    y[21], y[22] = 0.5 * (z0[10] + z1[10]), 0.5 * (z0[13] + z1[13])
    c0, s0, c1, s1 = w0[_C], w0[_S], w1[_C], w1[_S]
    n0, n1 = math.sqrt(c0 * c0 + s0 * s0), math.sqrt(c1 * c1 + s1 * s1)
    ex, ey = c1 / n1, s1 / n1
    hx, hy = c0 / n0 + ex, s0 / n0 + ey
    sn, cs = (c0 * s1 - s0 * c1) / (n0 * n1), (c0 * c1 + s0 * s1) / (n0 * n1)
    tau = sn / (1.0 + cs)
    quotient, dquotient = atan_quotient(tau)
    beta = 2.0 * quotient / ((n0 + n1) * (1.0 + cs))
    y[23], y[24] = -beta * hy, beta * hx
    turn = (0.5 * dquotient / quotient * (1.0 + tau * tau) + sn / (1.0 + cs)) / n1
    x[4], x[5], x[6] = beta, hx, hy
    x[7] = beta * (-ey * turn - ex / (n0 + n1))  # d beta/dC1
    x[8] = beta * (ex * turn - ey / (n0 + n1))  # d beta/dS1
    x[9] = n1


@inner
def adjoint(y, s, length, p):
    """Fill p (N_Z,) with sum_i s_i (quotient of strain i with respect to z)."""
    ac, as_ = length * s[1] * y[23], length * s[1] * y[24]
    k = y[16]
    p[0] = s[0]
    for a in range(2):
        i = 8 * a
        o = 8 - i
        b2, b3, A, D = y[i], y[i + 1], y[i + 2], y[i + 3]
        f = length if a == 1 else -length
        ty, tz = f * s[2 + a], f * s[4 + a]
        at = 2.0 * D * (b3 * ty - b2 * tz)
        # g2, g3: k times b of the other end less the direction cosines, the gradient of 2 C; that of 2 S is crossed
        ca, cb = (y[19], y[20]) if a == 0 else (y[21], y[22])
        g2, g3 = k * y[o] - ca, k * y[o + 1] - cb
        sign = -1.0 if a == 0 else 1.0
        u2 = -2.0 * A * tz + 2.0 * b2 * at + 0.5 * (ac * g2 + sign * as_ * g3)
        u3 = 2.0 * A * ty + 2.0 * b3 * at + 0.5 * (ac * g3 - sign * as_ * g2)
        v = -y[i + 5] * (y[i + 6] * u2 + y[i + 7] * u3)
        p[0] += v
        p[1 + 3 * a], p[2 + 3 * a], p[3 + 3 * a] = v, y[i + 4] * u2, y[i + 4] * u3
    b2p, b3p, b2q, b3q = y[0], y[1], y[8], y[9]
    p[7] = 0.5 * (ac * y[17] + as_ * y[18])
    p[8] = -0.5 * (ac * b2p + as_ * b3p)
    p[9] = 0.5 * (as_ * b2p - ac * b3p)
    p[10] = 0.5 * (as_ * b3q - ac * b2q)
    p[11] = p[15] = 0.5 * ac
    p[12], p[14] = -0.5 * as_, 0.5 * as_
    p[13] = -0.5 * (ac * b3q + as_ * b2q)


@inner
def variation(z1, w0, w1, x, dz, dy):
    """Fill dy (N_Y,) with the change of `means` for a change dz (N_Z,) at the end of the step."""
    db = (0.0, 0.0, 0.0, 0.0)
    for a in range(2):
        i, o = 8 * a, _END * a
        r = w1[o]
        dr = -r * r * (dz[0] + dz[1 + 3 * a])
        d2 = r * dz[2 + 3 * a] + z1[2 + 3 * a] * dr
        d3 = r * dz[3 + 3 * a] + z1[3 + 3 * a] * dr
        dt = 2.0 * (w1[o + 1] * d2 + w1[o + 2] * d3)
        dy[i], dy[i + 1] = 0.5 * d2, 0.5 * d3
        dy[i + 2], dy[i + 3] = 0.5 * x[2 * a + 1] * dt, x[2 * a] * dt
        dy[i + 4], dy[i + 5] = 0.5 * dr, w0[o] * dr
        dy[i + 6], dy[i + 7] = 0.5 * dz[2 + 3 * a], 0.5 * dz[3 + 3 * a]
        db = (d2, d3, db[0], db[1])
    d2q, d3q, d2p, d3p = db
    b2p, b3p, b2q, b3q = w1[1], w1[2], w1[5], w1[6]
    k, m, mp = w1[_K], w1[_M], w1[_MP]
    dm = d2p * b2q + b2p * d2q + d3p * b3q + b3p * d3q
    dmp = d3p * b2q + b3p * d2q - d2p * b3q - b2p * d3q
    dy[16], dy[17], dy[18] = 0.5 * dz[7], 0.5 * dm, 0.5 * dmp
    dy[19], dy[20], dy[21], dy[22] = 0.5 * dz[8], 0.5 * dz[9], 0.5 * dz[10], 0.5 * dz[13]
    c12, c13, c21, c31 = z1[8], z1[9], z1[10], z1[13]
    dc = 0.5 * (
        dz[11] + dz[15] - d2q * c21 - b2q * dz[10] - d2p * c12 - b2p * dz[8]
        - d3q * c31 - b3q * dz[13] - d3p * c13 - b3p * dz[9] + dm * k + m * dz[7]
    )  # fmt: skip
    ds = 0.5 * (
        dz[14] - dz[12] - d2q * c31 - b2q * dz[13] - d3p * c12 - b3p * dz[8]
        + d3q * c21 + b3q * dz[10] + d2p * c13 + b2p * dz[9] + dmp * k + mp * dz[7]
    )  # fmt: skip
    ex, ey = w1[_C] / x[9], w1[_S] / x[9]
    angle = (ex * ds - ey * dc) / x[9]
    dbeta = x[7] * dc + x[8] * ds
    dy[23] = -x[6] * dbeta - x[4] * ex * angle
    dy[24] = x[5] * dbeta - x[4] * ey * angle


@inner
def adjoint_tangent(y, dy, s, length, dp):
    """Fill dp (N_Z,) with the change of `adjoint` for a change dy (N_Y,) of the means, at constant stresses s."""
    f = length * s[1]
    ac, as_, dac, das = f * y[23], f * y[24], f * dy[23], f * dy[24]
    k, dk = y[16], dy[16]
    dp[0] = 0.0
    for a in range(2):
        i = 8 * a
        o = 8 - i
        b2, b3, A, D = y[i], y[i + 1], y[i + 2], y[i + 3]
        d2, d3, dA, dD = dy[i], dy[i + 1], dy[i + 2], dy[i + 3]
        f = length if a == 1 else -length
        ty, tz = f * s[2 + a], f * s[4 + a]
        at = 2.0 * D * (b3 * ty - b2 * tz)
        dat = 2.0 * dD * (b3 * ty - b2 * tz) + 2.0 * D * (d3 * ty - d2 * tz)
        u2, u3 = -2.0 * A * tz + 2.0 * b2 * at, 2.0 * A * ty + 2.0 * b3 * at
        v2 = -2.0 * dA * tz + 2.0 * (d2 * at + b2 * dat)
        v3 = 2.0 * dA * ty + 2.0 * (d3 * at + b3 * dat)
        ca, cb = (y[19], y[20]) if a == 0 else (y[21], y[22])
        dca, dcb = (dy[19], dy[20]) if a == 0 else (dy[21], dy[22])
        g2, g3 = k * y[o] - ca, k * y[o + 1] - cb
        h2, h3 = dk * y[o] + k * dy[o] - dca, dk * y[o + 1] + k * dy[o + 1] - dcb
        sign = -1.0 if a == 0 else 1.0
        u2 += 0.5 * (ac * g2 + sign * as_ * g3)
        u3 += 0.5 * (ac * g3 - sign * as_ * g2)
        v2 += 0.5 * (dac * g2 + ac * h2 + sign * (das * g3 + as_ * h3))
        v3 += 0.5 * (dac * g3 + ac * h3 - sign * (das * g2 + as_ * h2))
        w = y[i + 6] * u2 + y[i + 7] * u3
        dw = dy[i + 6] * u2 + y[i + 6] * v2 + dy[i + 7] * u3 + y[i + 7] * v3
        dv = -dy[i + 5] * w - y[i + 5] * dw
        dp[0] += dv
        dp[1 + 3 * a] = dv
        dp[2 + 3 * a] = dy[i + 4] * u2 + y[i + 4] * v2
        dp[3 + 3 * a] = dy[i + 4] * u3 + y[i + 4] * v3
    b2p, b3p, b2q, b3q = y[0], y[1], y[8], y[9]
    d2p, d3p, d2q, d3q = dy[0], dy[1], dy[8], dy[9]
    dp[7] = 0.5 * (dac * y[17] + ac * dy[17] + das * y[18] + as_ * dy[18])
    dp[8] = -0.5 * (dac * b2p + ac * d2p + das * b3p + as_ * d3p)
    dp[9] = 0.5 * (das * b2p + as_ * d2p - dac * b3p - ac * d3p)
    dp[10] = 0.5 * (das * b3q + as_ * d3q - dac * b2q - ac * d2q)
    dp[11] = dp[15] = 0.5 * dac
    dp[12], dp[14] = -0.5 * das, 0.5 * das
    dp[13] = -0.5 * (dac * b3q + ac * d3q + das * b2q + as_ * d2q)
