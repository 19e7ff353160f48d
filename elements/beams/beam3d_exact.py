"""Spatial beam whose limit is the geometrically exact (Reissner-Simo) beam: `exact_beam3`, strains = "exact".

The exact beam has the strains R^T x' - e_1 and the axial vector of R^T R', per reference length.  A beam of constant
strains is a helix, and its strains follow from the places of its two ends: they are the logarithm of the relative
rigid motion (Sonneville, Cardona & Bruls 2014, doi:10.1016/j.cma.2013.10.008).  With the section axes e_j of the ends
p and q, the chord l and the length L without stress,

    lambda_j = l.(e_j^p + e_j^q)/2,   r = axial vector of c_jk = e_j^p.e_k^q,   chi = (tr c - 1)/2
    psi = a r,   L (1 + Gamma_1, Gamma_2, Gamma_3) = a lambda - b (r.lambda) r
    a = psi/sin psi,   b = (a - 1)/sin^2 psi,   functions of chi = cos psi alone

and the basic strains [m] are d = (L Gamma, L psi): elongation, shear y and z, twist, bending y and z.  They are exact,
with one element, in every state of constant strains, however large.

With a shear force the bending varies along the element.  The shares c of this bending in the shear strains (MacNeal's
residual bending flexibility, 1/(1 + 12 EI/(GA L^2)) times d_2/L and d_3/L) enter the strains

    e_1 = d_1 + c_2 d_2 + c_3 d_3 - 0.4 L (c_2^2 + c_3^2),   e_2 = d_2 - c_2 d_1,   e_3 = d_3 - c_3 d_1
    e_4 = d_4 + c_2 d_5 + c_3 d_6,   e_5 = d_5 - c_2 d_4,   e_6 = d_6 - c_3 d_4

which makes the energy correct to third order in the strains.  Stresses sigma = S (e - e0) + s0, damping beta S de/dt
and fixed strains are those of `fem_mbs.elements.beams.beam3d`; S belongs to these strains.

Over a step lambda, r and chi are bilinear in chord and directors, with exact quotients; a and b are functions of one
scalar, with divided differences that do not cancel; products take means.  So energy, momentum and angular momentum are
exact at every step size.  The reported section forces are the forces at the ends in the section's axes.

Limits: the relative rotation of the ends stays below pi (`TURN_WARN`, `TURN_LIMIT`).

Dofs: (x_p, theta_p, x_q, theta_q), spatial axes.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DECAY,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRESSES,
    TANGENT,
    WATCH,
    WV,
    H,
    inline,
    inner,
    kernel,
)
from fem_mbs.elements.beams.beam3d_common import (
    DAMPING,
    FIXED,
    LENGTH,
    PAR_SHARES,
    REFERENCE,
    SCALE,
    STRESS,
    acting_forces,
    add_cross,
    add_skew,
    beam_types,
    composed,
    composition,
    curvature,
    decomposed,
    dot,
    end_rates,
    matrix,
    place,
    section_forces,
    shares,
    store_energy,
    store_force,
    store_tangent,
)
from fem_mbs.elements.beams.beam3d_natural import atan_difference
from fem_mbs.elements.beams.limits import space_turn, stretch
from fem_mbs.elements.registry import Watch

__all__ = ["TYPES", "coefficients"]

TURN_WARN, TURN_LIMIT = 1.5, 2.5

# scalars of a state: lambda 0..2, r 3..5, chi 6; then a, b, r.lambda
_CHI, _A, _B, _Q = 6, 7, 8, 9
# 2 (-1)^k/((2 k + 1)(2 k + 3)): the series of B(t) = ((1 + t) atan(sqrt t)/sqrt t - 1)/t
_SERIES = tuple(2.0 * (-1) ** k / ((2 * k + 1) * (2 * k + 3)) for k in range(15))
_SMALL, _TINY = 0.1, 0.003  # bounds of t below which 15 and 7 terms are exact to round-off


# --- a and b ---------------------------------------------------------------------------------------------------------
@inline
def _series(t0, t1, terms):
    """Return the values of `_bend` by the first ``terms`` of the series.

    Horner's rule at t1 evaluates B; its partial sums are the coefficients of the divided difference, which is evaluated
    at t0.
    """
    p = dp = d = s = 0.0
    for k in range(terms):
        s = s * t0 + dp
        dp = dp * t1 + p
        d = d * t0 + p
        p = p * t1 + _SERIES[terms - 1 - k]
    return p + (t0 - t1) * d, p, d, s, dp


@inner
def _far(t0, t1):
    """Return the values of `_bend` by the arctangent."""
    a0, a1, d, slope, own = atan_difference(t0, t1)
    c0, _ = _third(t0, a0, 0.0)
    c1, own1 = _third(t1, a1, own)
    if t1 > t0:
        e = (d - c0) / t1
        f = (slope - e) / t1
    else:
        e = (d - c1) / t0
        f = (slope - own1) / t0
    return a0 + c0, a1 + c1, d + e, slope + f, own + own1


@inline
def _bend(t0, t1):
    """Return B(t0), B(t1), the divided difference D = B[t0, t1], dD/dt1 and B'(t1)."""
    if t0 < _TINY and t1 < _TINY:
        return _series(t0, t1, 7)
    if t0 < _SMALL and t1 < _SMALL:
        return _series(t0, t1, 15)
    return _far(t0, t1)


@inner
def _third(t, a, own):
    """Return C(t) = (A(t) - 1)/t and C'(t), from a = A(t) and own = A'(t), where A(t) = atan(sqrt t)/sqrt t."""
    if t < _SMALL:
        c = dc = 0.0
        for k in range(16, -1, -1):
            dc = dc * t + c
            c = c * t + (-1.0 if k % 2 == 0 else 1.0) / (2 * k + 3)
        return c, dc
    c = (a - 1.0) / t
    return c, (own - c) / t


@inline
def coefficients(x0, x1):
    """Return the functions a and b of chi at x0 and x1, and their divided differences Da and Db.

    The values are (a0, a1, Da, dDa/dx1, a'(x1), b0, b1, Db, dDb/dx1, b'(x1)).  With t = (1 - chi)/(1 + chi) =
    tan^2(psi/2), a = 1 + t B(t) and b = (1 + t)^2 B(t)/4.
    """
    u0, u1 = 1.0 / (1.0 + x0), 1.0 / (1.0 + x1)
    t0, t1 = max((1.0 - x0) * u0, 0.0), max((1.0 - x1) * u1, 0.0)
    B0, B1, D, slope, own = _bend(t0, t1)
    tau = -2.0 * u0 * u1  # dt/dchi over the step; at its end -2 u1^2
    end = -2.0 * u1 * u1
    da, dda = 0.5 * (B0 + B1) + 0.5 * (t0 + t1) * D, 0.5 * own + 0.5 * D + 0.5 * (t0 + t1) * slope
    g0, g1 = 1.0 + t0, 1.0 + t1
    square, sums = 0.5 * (g0 * g0 + g1 * g1), g0 + g1
    db = 0.25 * (square * D + 0.5 * (B0 + B1) * sums)
    ddb = 0.25 * (g1 * D + square * slope + 0.5 * own * sums + 0.5 * (B0 + B1))
    return (
        1.0 + t0 * B0, 1.0 + t1 * B1, tau * da, tau * (end * dda - u1 * da), end * (B1 + t1 * own),
        0.25 * g0 * g0 * B0, 0.25 * g1 * g1 * B1, tau * db, tau * (end * ddb - u1 * db),
        0.25 * end * g1 * (2.0 * B1 + g1 * own),
    )  # fmt: skip


# --- kinematics ------------------------------------------------------------------------------------------------------
@inline
def _scalars(E, l, y):
    """Fill y[:7] with lambda, r, chi of the section axes E (6, 3) and the chord l."""
    for j in range(3):
        y[j] = 0.5 * (
            l[0] * (E[j, 0] + E[3 + j, 0]) + l[1] * (E[j, 1] + E[3 + j, 1]) + l[2] * (E[j, 2] + E[3 + j, 2])
        )  # fmt: skip
    y[3] = 0.5 * (dot(E[2], E[4]) - dot(E[1], E[5]))
    y[4] = 0.5 * (dot(E[0], E[5]) - dot(E[2], E[3]))
    y[5] = 0.5 * (dot(E[1], E[3]) - dot(E[0], E[4]))
    y[6] = 0.5 * (dot(E[0], E[3]) + dot(E[1], E[4]) + dot(E[2], E[5]) - 1.0)


@inline
def _basic(y, a, b, length, d):
    """Fill d (6,) with the basic strains [m] of the scalars y, and y[7:] with a, b and r.lambda."""
    q = y[0] * y[3] + y[1] * y[4] + y[2] * y[5]
    y[_A], y[_B], y[_Q] = a, b, q
    for i in range(3):
        d[i] = a * y[i] - b * q * y[3 + i]
        d[3 + i] = length * a * y[3 + i]
    d[0] -= length


@inline
def _pull(s, y, q, bq, da, db, length, p):
    """Fill p (7,) with the forces on the scalars, conjugate to stresses s (6,) on the basic strains.

    y holds the means over the step of the scalars, of a and of b; q and bq are the means of r.lambda and of b r.lambda;
    da and db are the divided differences of a and b.
    """
    a, b = y[_A], y[_B]
    rho = s[0] * y[3] + s[1] * y[4] + s[2] * y[5]
    work = 0.0
    for i in range(3):
        m = length * s[3 + i]
        p[i] = a * s[i] - b * rho * y[3 + i]
        p[3 + i] = a * m - bq * s[i] - b * rho * y[i]
        work += s[i] * y[i] + m * y[3 + i]
    p[6] = da * work - db * q * rho


@inline
def _rows(y, q, bq, da, db, length, J):
    """Fill J (6, 7) with the gradient of the basic strains by the scalars; its row i is `_pull` of the unit stress
    i."""
    a, b = y[_A], y[_B]
    for i in range(3):
        for j in range(3):
            J[i, j] = -b * y[3 + i] * y[3 + j]
            J[i, 3 + j] = -b * y[3 + i] * y[j]
            J[3 + i, j] = J[3 + i, 3 + j] = 0.0
        J[i, i] += a
        J[i, 3 + i] -= bq
        J[i, 6] = da * y[i] - db * q * y[3 + i]
        J[3 + i, 3 + i] = length * a
        J[3 + i, 6] = length * da * y[3 + i]


@inline
def _own(y, da, db, length, J):
    """Fill J (6, 7) with the gradient of `_rows` at one state."""
    _rows(y, y[_Q], y[_B] * y[_Q], da, db, length, J)


@inline
def _second_derivative(s, y, y1, q, own, slope, length, A):
    """Add to A (7, 7) the derivative of `_pull` by the scalars y1 at the end of the step, at constant stresses s.

    ``own`` holds a' and b' at the end; ``slope`` holds the divided differences of a and b and their derivatives
    (da, dda, db, ddb).
    """
    b = y[_B]
    a1, b1 = own
    da, dda, db, ddb = slope
    rho = s[0] * y[3] + s[1] * y[4] + s[2] * y[5]
    work = 0.0
    for i in range(3):
        m, g, r, k = length * s[3 + i], s[i], y[3 + i], y[i]
        work += g * k + m * r
        for j in range(3):
            A[i, 3 + j] -= 0.5 * b * r * s[j]
            A[3 + i, j] -= 0.5 * y1[_B] * g * y1[3 + j]
            A[3 + i, 3 + j] -= 0.5 * (y1[_B] * g * y1[j] + b * k * s[j])
        A[i, 3 + i] -= 0.5 * b * rho
        A[3 + i, i] -= 0.5 * b * rho
        A[i, 6] += 0.5 * (a1 * g - b1 * rho * r)
        A[3 + i, 6] += 0.5 * (a1 * m - b1 * (y1[_Q] * g + rho * k))
        A[6, i] += 0.5 * (da * g - db * rho * y1[3 + i])
        A[6, 3 + i] += 0.5 * (da * m - db * (rho * y1[i] + q * g))
    A[6, 6] += dda * work - ddb * q * rho


@inline
def _turning(E, X):
    """Fill X (4, 3) with the gradients of r and chi by the spin of p; those by the spin of q are the negatives."""
    X[:] = 0.0
    add_cross(E[2], E[4], 0.5, X[0], 0)
    add_cross(E[1], E[5], -0.5, X[0], 0)
    add_cross(E[0], E[5], 0.5, X[1], 0)
    add_cross(E[2], E[3], -0.5, X[1], 0)
    add_cross(E[1], E[3], 0.5, X[2], 0)
    add_cross(E[0], E[4], -0.5, X[2], 0)
    for j in range(3):
        add_cross(E[j], E[3 + j], 0.5, X[3], 0)


@inline
def _scalar_rows(E, l, B):
    """Fill B (7, 9) with the gradient of the scalars by chord and spins of p and q."""
    for j in range(3):
        for i in range(3):
            B[j, i] = 0.5 * (E[j, i] + E[3 + j, i])
            B[j, 3 + i] = B[j, 6 + i] = 0.0
        add_cross(E[j], l, 0.5, B[j], 3)
        add_cross(E[3 + j], l, 0.5, B[j], 6)
    X = scratch(4, 3)
    _turning(E, X)
    for j in range(4):
        for i in range(3):
            B[3 + j, i] = 0.0
            B[3 + j, 3 + i], B[3 + j, 6 + i] = X[j, i], -X[j, i]


@inline
def _resultant(p, E, l, out):
    """Fill out (9,) with the force on the chord and the moments of both ends, from forces p (7,) on the scalars."""
    u, v = scratch(3), scratch(3)
    for i in range(3):
        u[i] = 0.5 * (p[0] * E[0, i] + p[1] * E[1, i] + p[2] * E[2, i])
        v[i] = 0.5 * (p[0] * E[3, i] + p[1] * E[4, i] + p[2] * E[5, i])
        out[i] = u[i] + v[i]
        out[3 + i] = 0.0
    add_cross(E[2], E[4], 0.5 * p[3], out, 3)
    add_cross(E[1], E[5], -0.5 * p[3], out, 3)
    add_cross(E[0], E[5], 0.5 * p[4], out, 3)
    add_cross(E[2], E[3], -0.5 * p[4], out, 3)
    add_cross(E[1], E[3], 0.5 * p[5], out, 3)
    add_cross(E[0], E[4], -0.5 * p[5], out, 3)
    for j in range(3):
        add_cross(E[j], E[3 + j], 0.5 * p[6], out, 3)
    for i in range(3):
        out[6 + i] = -out[3 + i]
    add_cross(u, l, 1.0, out, 3)
    add_cross(v, l, 1.0, out, 6)


@inline
def _geometric(p, E, E1, l, K):
    """Add to K (9, 9) the derivative of `_resultant` by directors and chord at constant p.

    E and l are means over the step, E1 the directors at its end.
    """
    u, v, u1, v1 = scratch(3), scratch(3), scratch(3), scratch(3)
    W = scratch(3, 3)
    for i in range(3):
        u[i] = 0.5 * (p[0] * E[0, i] + p[1] * E[1, i] + p[2] * E[2, i])
        v[i] = 0.5 * (p[0] * E[3, i] + p[1] * E[4, i] + p[2] * E[5, i])
        u1[i] = 0.5 * (p[0] * E1[0, i] + p[1] * E1[1, i] + p[2] * E1[2, i])
        v1[i] = 0.5 * (p[0] * E1[3, i] + p[1] * E1[4, i] + p[2] * E1[5, i])
    add_skew(K, 0, 3, -0.5, u1)
    add_skew(K, 0, 6, -0.5, v1)
    add_skew(K, 3, 0, 0.5, u)
    add_skew(K, 6, 0, 0.5, v)
    # w x b, then x g, summed over pairs (b, g): w to W w - tr(W) w with W = sum b g^T
    for side in range(2):
        o = 3 * side  # the end that turns
        c = 3 - o  # the other one
        f = 0.5 if side == 0 else -0.5
        x, y, z, n = f * p[3], f * p[4], f * p[5], 0.5 * p[6]
        for j in range(3):
            W[0, j] = n * E[c, j] - z * E[c + 1, j] + y * E[c + 2, j]
            W[1, j] = z * E[c, j] + n * E[c + 1, j] - x * E[c + 2, j]
            W[2, j] = x * E[c + 1, j] - y * E[c, j] + n * E[c + 2, j]
        arm, turned = (u1, c) if side == 0 else (v1, c)
        for i in range(3):
            for j in range(3):
                f = 0.5 * (E1[o, i] * W[0, j] + E1[o + 1, i] * W[1, j] + E1[o + 2, i] * W[2, j])
                K[3 + o + i, 3 + o + j] += f + 0.5 * arm[i] * l[j]
                K[3 + turned + i, 3 + o + j] -= f
        f = 0.0
        for j in range(3):
            f += 0.5 * dot(E1[o + j], W[j])
        g = f + 0.5 * dot(arm, l)
        for i in range(3):
            K[3 + o + i, 3 + o + i] -= g
            K[3 + turned + i, 3 + o + i] += f


@inline
def _joined(S, f, M, M1, W, C):
    """Fill C (6, 6) with f M^T S M1.

    M and M1 are matrices of `composition` with g = 0, whose zero entries are skipped.  W (6, 6) is a work array.
    """
    for i in range(6):
        x0, x1, x2, x3, x4, x5 = f * S[i, 0], f * S[i, 1], f * S[i, 2], f * S[i, 3], f * S[i, 4], f * S[i, 5]
        for j in range(1, 3):
            W[i, j] = (
                x0 * M1[0, j] + x1 * M1[1, j] + x2 * M1[2, j] + x3 * M1[3, j] + x4 * M1[4, j] + x5 * M1[5, j]
            )  # fmt: skip
        W[i, 0] = x0 + M1[1, 0] * x1 + M1[2, 0] * x2
        W[i, 3] = x3 + M1[4, 3] * x4 + M1[5, 3] * x5
        W[i, 4], W[i, 5] = x4 + M1[3, 4] * x3, x5 + M1[3, 5] * x3
    for j in range(6):
        C[0, j] = W[0, j] + M[1, 0] * W[1, j] + M[2, 0] * W[2, j]
        C[3, j] = W[3, j] + M[4, 3] * W[4, j] + M[5, 3] * W[5, j]
        C[4, j], C[5, j] = W[4, j] + M[3, 4] * W[3, j], W[5, j] + M[3, 5] * W[3, j]
    for i in range(1, 3):
        for j in range(6):
            C[i, j] = (
                M[0, i] * W[0, j] + M[1, i] * W[1, j] + M[2, i] * W[2, j]
                + M[3, i] * W[3, j] + M[4, i] * W[4, j] + M[5, i] * W[5, j]
            )  # fmt: skip


# --- the element -----------------------------------------------------------------------------------------------------
@inner
def _strain_rates(V, D, dof, rot, e, a, M, J, B, out):
    """Fill out (6,) with the rates of the strains at state 1, from the velocities.

    M J B is the gradient of the strains at state 1, and a (2, 3) holds the offset arms of the ends.
    """
    x, y, d = scratch(9), scratch(7), scratch(6)
    end_rates(V, D, dof, rot, e, a, x)
    for i in range(7):
        y[i] = 0.0
        for j in range(9):
            y[i] += B[i, j] * x[j]
    for i in range(6):
        d[i] = 0.0
        for j in range(7):
            d[i] += J[i, j] * y[j]
    for i in range(6):
        out[i] = 0.0
        for j in range(6):
            out[i] += M[i, j] * d[j]


@inner
def _scalar_stiffness(C, J, J1, CJ, A):
    """Fill A (7, 7) with J^T C J1 for gradients of `_rows` and `_own`, whose zero entries are skipped.

    CJ (6, 7) is a work array.
    """
    for i in range(6):
        for j in range(7):
            CJ[i, j] = C[i, 0] * J1[0, j] + C[i, 1] * J1[1, j] + C[i, 2] * J1[2, j]
        for j in range(3):
            CJ[i, 3 + j] += C[i, 3 + j] * J1[3 + j, 3 + j]
            CJ[i, 6] += C[i, 3 + j] * J1[3 + j, 6]
    for i in range(7):
        for j in range(7):
            A[i, j] = J[0, i] * CJ[0, j] + J[1, i] * CJ[1, j] + J[2, i] * CJ[2, j]
    for j in range(7):
        for i in range(3):
            A[3 + i, j] += J[3 + i, 3 + i] * CJ[3 + i, j]
            A[6, j] += J[3 + i, 6] * CJ[3 + i, j]


@inner
def _fixed_gradients(par, e, fixed, M, J, B, M1, J1, B1, gm, g1, Gm, G1):
    """Fill Gm and G1 with the gradients of the fixed strains by chord and spins, at mid-step and at the end of the
    step."""
    for i in range(fixed):
        k = int(par[e, FIXED + i])
        for j in range(7):
            gm[j] = g1[j] = 0.0
            for n in range(6):
                gm[j] += M[k, n] * J[n, j]
                g1[j] += M1[k, n] * J1[n, j]
        for j in range(9):
            Gm[i, j] = G1[i, j] = 0.0
            for n in range(7):
                Gm[i, j] += gm[n] * B[n, j]
                G1[i, j] += g1[n] * B1[n, j]


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    fixed = dof.shape[1] - 12
    E, EM, l, lm = scratch(2, 6, 3), scratch(6, 3), scratch(2, 3), scratch(3)
    a, am = scratch(2, 2, 3), scratch(2, 3)
    y, ym, d, dm, es = scratch(2, 10), scratch(10), scratch(2, 6), scratch(6), scratch(2, 6)
    c, S, M, M1 = scratch(2, 2), scratch(6, 6), scratch(6, 6), scratch(6, 6)
    C, CM = scratch(6, 6), scratch(6, 6)
    sigma, s, v, p, f9 = scratch(6), scratch(6), scratch(6), scratch(7), scratch(9)
    J, J1, CJ, A = scratch(6, 7), scratch(6, 7), scratch(6, 7), scratch(7, 7)
    B, B1, AB, K = scratch(7, 9), scratch(7, 9), scratch(7, 9), scratch(9, 9)
    G1, Gm, gm, g1 = scratch(6, 9), scratch(6, 9), scratch(7), scratch(7)
    for e in range(e0, e1):
        f = fe[e - e0]
        length = par[e, LENGTH]
        matrix(par, e, S)
        shares(par, e, c)
        for state in range(2):
            place(par, e, dof, rot, Q, D, state, E[state], l[state], a[state])
            _scalars(E[state], l[state], y[state])
        a0, a1, da, dda, own_a, b0, b1, db, ddb, own_b = coefficients(y[0, _CHI], y[1, _CHI])
        _basic(y[0], a0, b0, length, d[0])
        _basic(y[1], a1, b1, length, d[1])
        for state in range(2):
            composed(d[state], c, 0.0, length, es[state])
        for i in range(3):
            lm[i] = 0.5 * (l[0, i] + l[1, i])
            for j in range(6):
                EM[j, i] = 0.5 * (E[0, j, i] + E[1, j, i])
            for k in range(2):
                am[k, i] = 0.5 * (a[0, k, i] + a[1, k, i])
        for i in range(10):
            ym[i] = 0.5 * (y[0, i] + y[1, i])
        q, bq = ym[_Q], 0.5 * (b0 * y[0, _Q] + b1 * y[1, _Q])
        # mean stresses
        beta = par[e, DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / h
        f1, f0 = 0.5 + rate, 0.5 - rate
        for i in range(6):
            dm[i] = 0.5 * (d[0, i] + d[1, i])
            v[i] = f1 * es[1, i] + f0 * es[0, i] - par[e, REFERENCE + i]
        if job == TANGENT or (one_state and beta != 0.0):
            _own(y[1], own_a, own_b, length, J1)
            _scalar_rows(E[1], l[1], B1)
            composition(d[1], c, 0.0, length, M1)
        if one_state and beta != 0.0:
            # rates from the velocities; their geometric derivative is left out of the tangent
            _strain_rates(V, D, dof, rot, e, a[1], M1, J1, B1, s)
            for i in range(6):
                v[i] += beta * s[i]
            f1 += 0.5 * beta * ctl[WV]
        for i in range(6):
            sigma[i] = par[e, STRESS + i]
            for j in range(6):
                sigma[i] += S[i, j] * v[j]
        for i in range(fixed):
            sigma[int(par[e, FIXED + i])] += par[e, SCALE] * U[dof[e, 12 + i]] / sf
        decomposed(sigma, dm, c, 0.0, length, s)
        _pull(s, ym, q, bq, da, db, length, p)
        _resultant(p, EM, lm, f9)
        store_force(par, e, sf, fixed, f9, am, es[1], f)
        if job != TANGENT:
            continue
        # K = B^T (J^T (M^T f1 S M1 + curvature) J1 + second derivative) B1 + geometric part, by chord and spins
        composition(dm, c, 0.0, length, M)
        _joined(S, f1, M, M1, CM, C)
        curvature(sigma, c, 0.0, length, C)
        _rows(ym, q, bq, da, db, length, J)
        _scalar_stiffness(C, J, J1, CJ, A)
        _second_derivative(s, ym, y[1], q, (own_a, own_b), (da, dda, db, ddb), length, A)
        _scalar_rows(EM, lm, B)
        for i in range(7):
            for j in range(3):
                AB[i, j] = A[i, 0] * B1[0, j] + A[i, 1] * B1[1, j] + A[i, 2] * B1[2, j]
                t = A[i, 3] * B1[3, 3 + j] + A[i, 4] * B1[4, 3 + j] + A[i, 5] * B1[5, 3 + j] + A[i, 6] * B1[6, 3 + j]
                AB[i, 3 + j] = A[i, 0] * B1[0, 3 + j] + A[i, 1] * B1[1, 3 + j] + A[i, 2] * B1[2, 3 + j] + t
                AB[i, 6 + j] = A[i, 0] * B1[0, 6 + j] + A[i, 1] * B1[1, 6 + j] + A[i, 2] * B1[2, 6 + j] - t
        for j in range(9):
            for i in range(3):
                K[i, j] = B[0, i] * AB[0, j] + B[1, i] * AB[1, j] + B[2, i] * AB[2, j]
                t = B[3, 3 + i] * AB[3, j] + B[4, 3 + i] * AB[4, j] + B[5, 3 + i] * AB[5, j] + B[6, 3 + i] * AB[6, j]
                K[3 + i, j] = B[0, 3 + i] * AB[0, j] + B[1, 3 + i] * AB[1, j] + B[2, 3 + i] * AB[2, j] + t
                K[6 + i, j] = B[0, 6 + i] * AB[0, j] + B[1, 6 + i] * AB[1, j] + B[2, 6 + i] * AB[2, j] - t
        _geometric(p, EM, E[1], lm, K)
        _fixed_gradients(par, e, fixed, M, J, B, M1, J1, B1, gm, g1, Gm, G1)
        store_tangent(par, e, dof, U, sf, sk, fixed, f, a[1], am, K, G1, Gm, ke[e - e0])


@inner
def _look(e0, e1, par, dof, rot, Q, D, fe):
    """Write the quantities of the watches at the end of the step."""
    E, l, arms = scratch(6, 3), scratch(3), scratch(2, 3)
    for e in range(e0, e1):
        place(par, e, dof, rot, Q, D, 1, E, l, arms)
        fe[e - e0, 0] = space_turn(E)
        fe[e - e0, 1] = stretch(math.sqrt(dot(l, l)), fe[e - e0, 0], par[e, LENGTH])


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == WATCH:
        _look(e0, e1, par, dof, rot, Q, D, fe)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    one_state = ctl[RULE] == ONE_STATE
    start = 1.0 if one_state else 0.5  # weight of the end: outputs are means over the step
    fixed = dof.shape[1] - 12
    E, l, arms = scratch(2, 6, 3), scratch(2, 3), scratch(2, 2, 3)
    y, d, es, slopes = scratch(2, 10), scratch(2, 6), scratch(2, 6), scratch(2, 2)
    c, S, sigma, s, rates = scratch(2, 2), scratch(6, 6), scratch(6), scratch(6), scratch(6)
    p, f9, acting = scratch(7), scratch(9), scratch(12)
    M, J, B = scratch(6, 6), scratch(6, 7), scratch(7, 9)
    for e in range(e0, e1):
        f = fe[e - e0]
        if job == OUTPUT:
            acting_forces(f, acting)
        length = par[e, LENGTH]
        matrix(par, e, S)
        shares(par, e, c)
        beta = par[e, DAMPING] + ctl[DECAY]
        loss = beta != 0.0 and ctl[H] > 0.0
        for state in range(2):
            if state == 0 and (not loss if job == LEDGER else one_state):
                continue
            place(par, e, dof, rot, Q, D, state, E[state], l[state], arms[state])
            _scalars(E[state], l[state], y[state])
            a, _, da, _, _, b, _, db, _, _ = coefficients(y[state, _CHI], y[state, _CHI])
            slopes[state, 0], slopes[state, 1] = da, db
            _basic(y[state], a, b, length, d[state])
            composed(d[state], c, 0.0, length, es[state])
        if job == LEDGER:
            store_energy(par, e, S, loss, es, beta / ctl[H] if loss else 0.0, f)
            continue
        for i in range(6):
            rates[i] = 0.0
        if job == OUTPUT and beta != 0.0:
            if one_state:
                _own(y[1], slopes[1, 0], slopes[1, 1], length, J)
                _scalar_rows(E[1], l[1], B)
                composition(d[1], c, 0.0, length, M)
                _strain_rates(V, D, dof, rot, e, arms[1], M, J, B, rates)
            elif loss:
                for i in range(6):
                    rates[i] = (es[1, i] - es[0, i]) / ctl[H]
        for state in range(1 if one_state else 0, 2):
            weight = start if state == 1 else 1.0 - start
            for i in range(6):
                sigma[i] = par[e, STRESS + i]
                for j in range(6):
                    sigma[i] += S[i, j] * (es[state, j] - par[e, REFERENCE + j] + beta * rates[j])
            if job == STRESSES:
                for i in range(6):
                    f[i] += weight * sigma[i]
                continue
            for i in range(fixed):
                sigma[int(par[e, FIXED + i])] += par[e, SCALE] * U[dof[e, 12 + i]] / ctl[SF]
            decomposed(sigma, d[state], c, 0.0, length, s)
            q = y[state, _Q]
            _pull(s, y[state], q, y[state, _B] * q, slopes[state, 0], slopes[state, 1], length, p)
            _resultant(p, E[state], l[state], f9)
            section_forces(f9, acting, E[state], arms[state], weight, f)
            f[8] += weight * es[state, 0] / length
            f[9] += weight * d[state, 3] / length


_TURN = Watch(
    TURN_WARN, TURN_LIMIT, "rotation between the ends",
    f"a beam element bends and twists by less than half a turn (pi = {math.pi:.3g} rad): take more elements",
)  # fmt: skip

TYPES = dict(beam_types("exact_beam3", PAR_SHARES, force, report, _TURN))
