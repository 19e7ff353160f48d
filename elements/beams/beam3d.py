"""Spatial beams: generalised strains (Besseling, Meijaard) and natural strains (co-rotational).

Ends P = x + R a with rigid offsets a, section triads [e_x e_y e_z] = R A, chord l = P_q - P_p.

- ``strain_beam3``  generalised strains, Meijaard 1993 (doi:10.1007/BF00045886 gives the same) eq 2:
      b1 = |l| - L,  b2 = L (e_z^p.e_y^q - e_y^p.e_z^q)/2,
      b3 = -l.e_z^p,  b4 = l.e_z^q,  b5 = l.e_y^p,  b6 = -l.e_y^q
  with his second-order terms, eq 16:
      e1 = b1 + (2 b3^2 + b3 b4 + 2 b4^2 + 2 b5^2 + b5 b6 + 2 b6^2)/(30 L)
      e2 = b2 + (b4 b5 - b3 b6)/L
      e3, e4 = b3, b4 +- b2 (b5 + b6)/(6 L),   e5, e6 = b5, b6 -+ b2 (b3 + b4)/(6 L)
- ``corotational_beam3``  natural strains against the element triad (`fem_mbs.elements.beams.beam3d_natural`): the
  elongation |l| - L, the twist tau and the rotations theta_p, theta_q of both end sections across the chord.  With
  d1 = |l| - L, (d3, -d2) = L (theta_p + theta_q)/2, d4 = L tau, (d5, d6) = L (theta_q - theta_p), the shares (k2, k3)
  of bending in (d2, d3)/L (`fem_mbs.elements.beams.beam3d_exact`), w = (d2, d3)/L - k and u = k - (d2, d3)/(2 L):
      e1 = d1 + (d5^2 + d6^2)/(24 L) - (d2^2 + d3^2)/(2 L) + k2 d2 + k3 d3 - 0.4 L (k2^2 + k3^2)
      (e2, e3) = (d2, d3) + d1 w - d4 (d5, d6)/(6 L),   e4 = d4 + u2 d5 + u3 d6,   (e5, e6) = (d5, d6) + d4 w
  which are the strains of the exact beam to second order.

For the theories to which they converge see docs/theory.md, section 4.  Stresses are sigma = S (e - e0) + s0, with the
full symmetric S, reference strains e0 (initial curvature and twist) and initial stresses s0.  Kelvin-Voigt damping adds
beta S de/dt.  The reported section forces are the forces at the ends in the section's axes.

Over a step: the basic strains are bilinear, or made of bilinear scalars, with exact quotients; e is quadratic in them,
so its gradient at their mean is exact; sigma is the mean stress (docs/theory.md, section 1).  Energy, momentum and
angular momentum are exact at every step size.

Types with ``_fixed`` hold strains at e0 at the end of the step, each by a multiplier, which is its stress.

Limits: the generalised twist L sin(phi) allows no more than a quarter turn per element (`TWIST_WARN`, `TWIST_LIMIT`).

Dofs: (x_p, theta_p, x_q, theta_q), spatial axes.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import cleared, scratch
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
    inner,
    kernel,
)
from fem_mbs.elements.beams import beam3d_natural as natural_strains
from fem_mbs.elements.beams.beam3d_common import (
    DAMPING,
    FIXED,
    LENGTH,
    PAR,
    PAR_SHARES,
    REFERENCE,
    SCALE,
    SECOND,
    STRESS,
    acting_forces,
    add_cross,
    add_skew,
    add_turned,
    beam_types,
    composed,
    composition,
    curvature,
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
from fem_mbs.elements.beams.limits import bending_watch, space_bending, space_turn, space_twist, stretch
from fem_mbs.elements.registry import Watch

__all__ = ["TYPES"]

TWIST_WARN, TWIST_LIMIT = 0.3, 0.5 * math.pi

_NZ, _NW, _NY = natural_strains.N_Z, natural_strains.N_W, natural_strains.N_Y


# --- kinematics ------------------------------------------------------------------------------------------------------
@inner
def _stretch(l, length):
    """Return |l| and |l| - L, the difference without cancellation."""
    n2 = dot(l, l)
    n = math.sqrt(n2)
    return n, (n2 - length * length) / (n + length)


@inner
def _generalised(E, l, length, stretch, b):
    b[0] = stretch
    b[1] = 0.5 * length * (dot(E[2], E[4]) - dot(E[1], E[5]))
    b[2], b[3], b[4], b[5] = -dot(l, E[2]), dot(l, E[5]), dot(l, E[1]), -dot(l, E[4])


@inner
def _along(b, d):
    """Fill d (6,) with elongation, shear y and z, twist, bending y and z [m], from the natural strains b (6,) of the
    ends."""
    d[0], d[1], d[2], d[3] = b[0], 0.5 * (b[4] - b[5]), 0.5 * (b[3] - b[2]), b[1]
    d[4], d[5] = b[2] + b[3], b[4] + b[5]


@inner
def _at_ends(s, t):
    """Fill t (6,) with the stresses conjugate to the natural strains of the ends.

    s (6,) are the stresses conjugate to the strains that `_along` computes.
    """
    t[0], t[1] = s[0], s[3]
    t[2], t[3] = s[4] - 0.5 * s[2], s[4] + 0.5 * s[2]
    t[4], t[5] = s[5] + 0.5 * s[1], s[5] - 0.5 * s[1]


@inner
def _rows(E, l, w, length, B):
    """Fill B (6, 9) with the gradient of the generalised strains by chord and spins of p and q; w is the gradient of
    |l|."""
    for i in range(3):
        B[0, i] = w[i]
        B[1, i] = 0.0
        B[2, i], B[3, i], B[4, i], B[5, i] = -E[2, i], E[5, i], E[1, i], -E[4, i]
        for j in range(6):
            B[j, 3 + i] = 0.0
            B[j, 6 + i] = 0.0
    f = 0.5 * length
    add_cross(E[2], E[4], f, B[1], 3)
    add_cross(E[1], E[5], -f, B[1], 3)
    for i in range(3):
        B[1, 6 + i] = -B[1, 3 + i]
    add_cross(E[2], l, -1.0, B[2], 3)
    add_cross(E[5], l, 1.0, B[3], 6)
    add_cross(E[1], l, 1.0, B[4], 3)
    add_cross(E[4], l, -1.0, B[5], 6)


@inner
def _resultant(p, w, E, l, out):
    """Fill out (9,) with the force on the chord and the moments on both ends.

    They are the resultants of the forces p (16,) conjugate to the scalars z of the natural strains.
    """
    u = (
        p[1] * E[0, 0] + p[2] * E[1, 0] + p[3] * E[2, 0],
        p[1] * E[0, 1] + p[2] * E[1, 1] + p[3] * E[2, 1],
        p[1] * E[0, 2] + p[2] * E[1, 2] + p[3] * E[2, 2],
    )
    v = (
        p[4] * E[3, 0] + p[5] * E[4, 0] + p[6] * E[5, 0],
        p[4] * E[3, 1] + p[5] * E[4, 1] + p[6] * E[5, 1],
        p[4] * E[3, 2] + p[5] * E[4, 2] + p[6] * E[5, 2],
    )
    for i in range(3):
        out[i] = p[0] * w[i] + u[i] + v[i]
        out[3 + i] = 0.0
    for j in range(3):
        x, y, z = p[7 + 3 * j], p[8 + 3 * j], p[9 + 3 * j]
        g = (
            x * E[3, 0] + y * E[4, 0] + z * E[5, 0],
            x * E[3, 1] + y * E[4, 1] + z * E[5, 1],
            x * E[3, 2] + y * E[4, 2] + z * E[5, 2],
        )
        add_cross(E[j], g, 1.0, out, 3)
    for i in range(3):
        out[6 + i] = -out[3 + i]
    add_cross(u, l, 1.0, out, 3)
    add_cross(v, l, 1.0, out, 6)


@inner
def _natural_rows(y, w, E, l, length, unit, t, p, B):
    """Fill B (6, 9) with the gradient, by chord and spins, of the strains that `_along` computes.

    y holds the means of the parts of the natural strains, w the gradient of |l|.  unit (6,), which holds zeros, t (6,)
    and p (16,) are work arrays.
    """
    for i in range(6):
        unit[i] = 1.0
        _at_ends(unit, t)
        natural_strains.adjoint(y, t, length, p)
        _resultant(p, w, E, l, B[i])
        unit[i] = 0.0


@inner
def _strain_rates(V, D, dof, rot, e, a, M, B, out):
    """Fill out (6,) with the rates of the strains at state 1, from the velocities.

    M B is the gradient of the strains at state 1, and a (2, 3) holds the offset arms of the ends.
    """
    x, b = scratch(9), scratch(6)
    end_rates(V, D, dof, rot, e, a, x)
    for i in range(6):
        b[i] = 0.0
        for j in range(9):
            b[i] += B[i, j] * x[j]
    for i in range(6):
        out[i] = 0.0
        for j in range(6):
            out[i] += M[i, j] * b[j]


@inner
def _scalar_rows(E, l, u, B):
    """Fill B (16, 9) with the gradient of the scalars z by chord and spins at one state; u is the unit chord."""
    B[:] = 0.0
    for i in range(3):
        B[0, i] = u[i]
    for j in range(6):
        for i in range(3):
            B[1 + j, i] = E[j, i]
        add_cross(E[j], l, 1.0, B[1 + j], 3 if j < 3 else 6)
    for j in range(3):
        for k in range(3):
            add_cross(E[j], E[3 + k], 1.0, B[7 + 3 * j + k], 3)
            for i in range(3):
                B[7 + 3 * j + k, 6 + i] = -B[7 + 3 * j + k, 3 + i]


@inner
def _geometric(p, w, u, G, E, E1, l, K):
    """Add to K (9, 9) the derivative of `_resultant` by directors and chord at constant p.

    E and l are means over the step, E1 the directors at its end.
    """
    f = p[0] / G
    cp, cq, cp1, cq1 = cleared(3), cleared(3), cleared(3), cleared(3)
    g = scratch(3)
    for i in range(3):
        for j in range(3):
            K[i, j] -= f * w[i] * u[j]
        K[i, i] += f
        for j in range(3):
            cp[i] += p[1 + j] * E[j, i]
            cq[i] += p[4 + j] * E[3 + j, i]
            cp1[i] += p[1 + j] * E1[j, i]
            cq1[i] += p[4 + j] * E1[3 + j, i]
    add_skew(K, 0, 3, -0.5, cp1)
    add_skew(K, 0, 6, -0.5, cq1)
    add_skew(K, 3, 0, 0.5, cp)
    add_skew(K, 6, 0, 0.5, cq)
    add_turned(K, 3, 3, 0.5, cp1, l)
    add_turned(K, 6, 6, 0.5, cq1, l)
    for j in range(3):
        for i in range(3):
            g[i] = p[7 + 3 * j] * E[3, i] + p[8 + 3 * j] * E[4, i] + p[9 + 3 * j] * E[5, i]
        if g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0:
            add_turned(K, 3, 3, 0.5, E1[j], g)
            add_turned(K, 6, 3, -0.5, E1[j], g)
        for i in range(3):
            g[i] = p[7 + j] * E[0, i] + p[10 + j] * E[1, i] + p[13 + j] * E[2, i]
        if g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0:
            add_turned(K, 6, 6, 0.5, E1[3 + j], g)
            add_turned(K, 3, 6, -0.5, E1[3 + j], g)


# --- second-order strains and stresses -------------------------------------------------------------------------------
@inner
def _second_order(b, length, second, e):
    """Fill e (6,) with the strains of second order from the generalised strains b; ``second`` is 1, or 0 to leave
    them out."""
    f, h, g = second / (30.0 * length), second / (6.0 * length), second / length
    e[0] = b[0] + f * (
        2.0 * (b[2] * b[2] + b[3] * b[3] + b[4] * b[4] + b[5] * b[5]) + b[2] * b[3] + b[4] * b[5]
    )  # fmt: skip
    e[1] = b[1] + g * (b[3] * b[4] - b[2] * b[5])
    y, z = h * b[1] * (b[4] + b[5]), h * b[1] * (b[2] + b[3])
    e[2], e[3], e[4], e[5] = b[2] + y, b[3] - y, b[4] - z, b[5] + z


@inner
def _composition(b, length, second, M):
    """Fill M (6, 6) with the derivative de/db of `_second_order`."""
    f, h, g = second / (30.0 * length), second / (6.0 * length), second / length
    M[:] = 0.0
    for i in range(6):
        M[i, i] = 1.0
    M[0, 2], M[0, 3] = f * (4.0 * b[2] + b[3]), f * (4.0 * b[3] + b[2])
    M[0, 4], M[0, 5] = f * (4.0 * b[4] + b[5]), f * (4.0 * b[5] + b[4])
    M[1, 2], M[1, 3], M[1, 4], M[1, 5] = -g * b[5], g * b[4], g * b[3], -g * b[2]
    y, z, t = h * (b[4] + b[5]), h * (b[2] + b[3]), h * b[1]
    M[2, 1], M[2, 4], M[2, 5] = y, t, t
    M[3, 1], M[3, 4], M[3, 5] = -y, -t, -t
    M[4, 1], M[4, 2], M[4, 3] = -z, -t, -t
    M[5, 1], M[5, 2], M[5, 3] = z, t, t


@inner
def _curvature(sigma, length, second, C):
    """Add 1/2 sum_i sigma_i d2e_i/db2 to C (6, 6): the derivative of the composition by the mean of the basic
    strains."""
    f, h, g = 0.5 * second / (30.0 * length), 0.5 * second / (6.0 * length), 0.5 * second / length
    n, t = f * sigma[0], g * sigma[1]
    for i in range(2, 6):
        C[i, i] += 4.0 * n
    C[2, 3] += n
    C[3, 2] += n
    C[4, 5] += n
    C[5, 4] += n
    C[2, 5] -= t
    C[5, 2] -= t
    C[3, 4] += t
    C[4, 3] += t
    y, z = h * (sigma[2] - sigma[3]), h * (sigma[5] - sigma[4])
    for i in range(2):
        C[1, 4 + i] += y
        C[4 + i, 1] += y
        C[1, 2 + i] += z
        C[2 + i, 1] += z


# --- the element -----------------------------------------------------------------------------------------------------
@inner
def _means(G, n1, E, l, a, w, u, EM, lm, am):
    """Fill EM, lm, am with the means of the triads, the chord and the arms over the step.

    w gets the direction of the chord in its discrete gradient, u the direction at the end of the step.
    """
    for i in range(3):
        w[i], u[i], lm[i] = (l[0, i] + l[1, i]) / G, l[1, i] / n1, 0.5 * (l[0, i] + l[1, i])
        for j in range(6):
            EM[j, i] = 0.5 * (E[0, j, i] + E[1, j, i])
        for k in range(2):
            am[k, i] = 0.5 * (a[0, k, i] + a[1, k, i])


@inner
def _strain_stiffness(f1, second, natural, sigma, c, g, length, S, M, M1, v, C):
    """Fill C (6, 6) with M^T f1 S M1 plus the derivative of the composition M."""
    for i in range(6):
        for j in range(6):
            C[i, j] = 0.0
            for k in range(6):
                C[i, j] += f1 * S[i, k] * M1[k, j]
    if second != 0.0:
        for j in range(6):
            for i in range(6):
                v[i] = 0.0
                for k in range(6):
                    v[i] += M[k, i] * C[k, j]
            for i in range(6):
                C[i, j] = v[i]
        if natural:
            curvature(sigma, c, g, length, C)
        else:
            _curvature(sigma, length, second, C)


@inner
def _chord_stiffness(B, C, B1, CB, K):
    """Fill K (9, 9) with B^T C B1; CB (6, 9) is a work array."""
    for i in range(6):
        for j in range(9):
            CB[i, j] = 0.0
            for k in range(6):
                CB[i, j] += C[i, k] * B1[k, j]
    for i in range(9):
        for j in range(9):
            K[i, j] = 0.0
            for k in range(6):
                K[i, j] += B[k, i] * CB[k, j]


@inner
def _natural_tangent(y, z, W, x, s, w, u, l, E, EM, lm, length, t, dp, dy, f9, BZ, p, K):
    """Add the second derivative of the natural strains to K, and write their forces on the scalars z to p."""
    _at_ends(s, t)
    natural_strains.adjoint(y, t, length, p)
    _scalar_rows(E[1], l[1], u, BZ)
    for j in range(9):
        for i in range(_NZ):
            dp[i] = BZ[i, j]
        natural_strains.variation(z[1], W[0], W[1], x, dp, dy)
        natural_strains.adjoint_tangent(y, dy, t, length, dp)
        _resultant(dp, w, EM, lm, f9)
        for i in range(9):
            K[i, j] += f9[i]
    _resultant(p, w, EM, lm, f9)


@inner
def _fixed_gradients(par, e, fixed, M, B, M1, B1, Gm, G1):
    """Fill Gm and G1 with the gradients of the fixed strains by chord and spins, at mid-step and at the end of the
    step."""
    for i in range(fixed):
        k = int(par[e, FIXED + i])
        for j in range(9):
            G1[i, j] = Gm[i, j] = 0.0
            for m in range(6):
                G1[i, j] += M1[k, m] * B1[m, j]
                Gm[i, j] += M[k, m] * B[m, j]


@inner
def block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, natural):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    fixed = dof.shape[1] - 12
    g, c, t = 0.0, cleared(2, 2), scratch(6)
    E, EM, l, lm = scratch(2, 6, 3), scratch(6, 3), scratch(2, 3), scratch(3)
    a, am = scratch(2, 2, 3), scratch(2, 3)
    w, u = scratch(3), scratch(3)
    b, bm, es = scratch(2, 6), scratch(6), scratch(2, 6)
    S, M, M1, C, CB = scratch(6, 6), scratch(6, 6), scratch(6, 6), scratch(6, 6), scratch(6, 9)
    B, B1, K, G1, Gm = scratch(6, 9), scratch(6, 9), scratch(9, 9), scratch(6, 9), scratch(6, 9)
    sigma, s, f9, v, unit = scratch(6), scratch(6), scratch(9), scratch(6), cleared(6)
    z, W, y, x = scratch(2, _NZ), scratch(2, _NW), scratch(_NY), scratch(10)
    y1, x1, p, dp, dy = scratch(_NY), scratch(10), cleared(_NZ), scratch(_NZ), scratch(_NY)
    BZ = scratch(_NZ, 9)
    for e in range(e0, e1):
        f = fe[e - e0]
        length, second = par[e, LENGTH], par[e, SECOND]
        matrix(par, e, S)
        if natural:
            shares(par, e, c)
            g = second / length
        G = 0.0
        n1 = 1.0
        for state in range(2):
            place(par, e, dof, rot, Q, D, state, E[state], l[state], a[state])
            n1, stretch = _stretch(l[state], length)
            G += n1
            if natural:
                natural_strains.scalars(E[state], l[state], n1, z[state], W[state])
                natural_strains.strains(W[state], length, stretch, t)
                _along(t, b[state])
                composed(b[state], c, g, length, es[state])
            else:
                _generalised(E[state], l[state], length, stretch, b[state])
                _second_order(b[state], length, second, es[state])
        _means(G, n1, E, l, a, w, u, EM, lm, am)
        if natural:
            natural_strains.means(z[0], W[0], z[1], W[1], y, x)
            _natural_rows(y, w, EM, lm, length, unit, t, p, B)
        else:
            _rows(EM, lm, w, length, B)
        # mean stresses
        beta = par[e, DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / h
        f1, f0 = 0.5 + rate, 0.5 - rate
        for i in range(6):
            bm[i] = 0.5 * (b[0, i] + b[1, i])
            v[i] = f1 * es[1, i] + f0 * es[0, i] - par[e, REFERENCE + i]
        need_end = job == TANGENT or (one_state and beta != 0.0)
        if need_end:
            if natural:
                natural_strains.means(z[1], W[1], z[1], W[1], y1, x1)
                _natural_rows(y1, u, E[1], l[1], length, unit, t, p, B1)
                composition(b[1], c, g, length, M1)
            else:
                _rows(E[1], l[1], u, length, B1)
                _composition(b[1], length, second, M1)
        if one_state and beta != 0.0:
            # rates from the velocities; their geometric derivative is left out of the tangent
            _strain_rates(V, D, dof, rot, e, a[1], M1, B1, s)
            for i in range(6):
                v[i] += beta * s[i]
            f1 += 0.5 * beta * ctl[WV]
        for i in range(6):
            sigma[i] = par[e, STRESS + i]
            for j in range(6):
                sigma[i] += S[i, j] * v[j]
        for i in range(fixed):
            k = int(par[e, FIXED + i])
            sigma[k] += par[e, SCALE] * U[dof[e, 12 + i]] / sf
        if natural:
            composition(bm, c, g, length, M)
        else:
            _composition(bm, length, second, M)
        for i in range(6):
            s[i] = 0.0
            for j in range(6):
                s[i] += M[j, i] * sigma[j]
        for j in range(9):
            f9[j] = 0.0
            for i in range(6):
                f9[j] += s[i] * B[i, j]
        store_force(par, e, sf, fixed, f9, am, es[1], f)
        if job != TANGENT:
            continue
        # K = B^T (M^T f1 S M1 + curvature) B1 + geometric part, by chord and spins
        _strain_stiffness(f1, second, natural, sigma, c, g, length, S, M, M1, v, C)
        _chord_stiffness(B, C, B1, CB, K)
        if natural:
            _natural_tangent(y, z, W, x, s, w, u, l, E, EM, lm, length, t, dp, dy, f9, BZ, p, K)
        else:
            p[0] = s[0]
            p[2], p[3], p[5], p[6] = s[4], -s[2], -s[5], s[3]
            p[12], p[14] = -0.5 * length * s[1], 0.5 * length * s[1]
        _geometric(p, w, u, G, EM, E[1], lm, K)
        _fixed_gradients(par, e, fixed, M, B, M1, B1, Gm, G1)
        store_tangent(par, e, dof, U, sf, sk, fixed, f, a[1], am, K, G1, Gm, ke[e - e0])


@inner
def _look(e0, e1, par, dof, rot, Q, D, fe, natural):
    """Write the quantities of the watches of both types at the end of the step."""
    E, l, a = scratch(6, 3), scratch(3), scratch(2, 3)
    for e in range(e0, e1):
        f = fe[e - e0]
        place(par, e, dof, rot, Q, D, 1, E, l, a)
        bending, change = space_bending(E), stretch(math.sqrt(dot(l, l)), space_turn(E), par[e, LENGTH])
        if natural:
            f[0], f[1] = bending, change
        else:
            f[0], f[1], f[2] = space_twist(E), bending, change


@inner
def block_report(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, natural):
    if job == WATCH:
        _look(e0, e1, par, dof, rot, Q, D, fe, natural)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    one_state = ctl[RULE] == ONE_STATE
    start = 1.0 if one_state else 0.5  # weight of the end: outputs are means over the step
    fixed = dof.shape[1] - 12
    g, c, t = 0.0, cleared(2, 2), scratch(6)
    E, l, a, w = scratch(2, 6, 3), scratch(2, 3), scratch(2, 2, 3), scratch(2, 3)
    b, es, z, W = scratch(2, 6), scratch(2, 6), scratch(2, _NZ), scratch(2, _NW)
    y, x, p, B = scratch(_NY), scratch(10), scratch(_NZ), scratch(6, 9)
    S, M, sigma, s, f9 = scratch(6, 6), scratch(6, 6), scratch(6), scratch(6), scratch(9)
    rates, unit, acting = scratch(6), cleared(6), scratch(12)
    for e in range(e0, e1):
        f = fe[e - e0]
        if job == OUTPUT:
            acting_forces(f, acting)
        length, second = par[e, LENGTH], par[e, SECOND]
        matrix(par, e, S)
        if natural:
            shares(par, e, c)
            g = second / length
        beta = par[e, DAMPING] + ctl[DECAY]
        loss = beta != 0.0 and ctl[H] > 0.0
        for state in range(2):
            if state == 0 and (not loss if job == LEDGER else one_state):
                continue
            place(par, e, dof, rot, Q, D, state, E[state], l[state], a[state])
            n, stretch = _stretch(l[state], length)
            for i in range(3):
                w[state, i] = l[state, i] / n
            if natural:
                natural_strains.scalars(E[state], l[state], n, z[state], W[state])
                natural_strains.strains(W[state], length, stretch, t)
                _along(t, b[state])
                composed(b[state], c, g, length, es[state])
            else:
                _generalised(E[state], l[state], length, stretch, b[state])
                _second_order(b[state], length, second, es[state])
        if job == LEDGER:
            store_energy(par, e, S, loss, es, beta / ctl[H] if loss else 0.0, f)
            continue
        for i in range(6):
            rates[i] = 0.0
        if job == OUTPUT and beta != 0.0:
            if one_state:
                if natural:
                    natural_strains.means(z[1], W[1], z[1], W[1], y, x)
                    _natural_rows(y, w[1], E[1], l[1], length, unit, t, p, B)
                    composition(b[1], c, g, length, M)
                else:
                    _rows(E[1], l[1], w[1], length, B)
                    _composition(b[1], length, second, M)
                _strain_rates(V, D, dof, rot, e, a[1], M, B, rates)
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
            if natural:
                composition(b[state], c, g, length, M)
            else:
                _composition(b[state], length, second, M)
            for i in range(6):
                s[i] = 0.0
                for j in range(6):
                    s[i] += M[j, i] * sigma[j]
            if natural:
                natural_strains.means(z[state], W[state], z[state], W[state], y, x)
                _at_ends(s, t)
                natural_strains.adjoint(y, t, length, p)
                _resultant(p, w[state], E[state], l[state], f9)
            else:
                _rows(E[state], l[state], w[state], length, B)
                for j in range(9):
                    f9[j] = 0.0
                    for i in range(6):
                        f9[j] += s[i] * B[i, j]
            section_forces(f9, acting, E[state], a[state], weight, f)
            f[8] += weight * es[state, 0] / length
            f[9] += weight * b[state, 3 if natural else 1] / length


@kernel
def force_generalised(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, False)


@kernel
def force_natural(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, True)


@kernel
def report_generalised(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block_report(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, False)


@kernel
def report_natural(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block_report(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, True)


_TWIST = Watch(
    TWIST_WARN, TWIST_LIMIT, "twist",
    'generalised strains measure its sine: take more elements, or strains = "corotational"',
)  # fmt: skip
_SINES = bending_watch("generalised strains measure sines, an arc of one element is off by 12 % at 30 degrees")
_ARCS = bending_watch("an arc of one element is off by 0.015 % at 30 degrees, 0.1 % at 57")


TYPES = dict(
    [
        *beam_types("strain_beam3", PAR, force_generalised, report_generalised, _TWIST, _SINES),
        *beam_types("corotational_beam3", PAR_SHARES, force_natural, report_natural, _ARCS),
    ]
)
