"""Consistent mass of the plane beam from its cubic (Hermite) elastic line, with director velocities as state.

The line r(xi) = N1 x_p + N2 l d_p + N3 x_q + N4 l d_q is linear in y = (x_p, d_p, x_q, d_q), d the director along the
axis (Meijaard 1993, eqs 17-19 without the strain in front of d), so T = 1/2 sum M_ij y_i'.y_j' with the constant matrix

    M = rho A l / 420 [[156, 22 l, 54, -13 l], [22 l, 4 l^2, 13 l, -3 l^2],
                       [54, 13 l, 156, -22 l], [-13 l, -3 l^2, -22 l, 4 l^2]]

and the section's rotary inertia as an Euler tensor on linearly interpolated directors, rho I l [[2, 1], [1, 2]]/6.
Two-state rule (docs/theory.md, section 2): y1' = 2 (y1 - y0)/h - y0', rows M (y1' - y0')/h on x and d_m x (.)_d on
vartheta: exact in energy and both momenta.  The director velocities are state of their own: d'.d vanishes at mid-step,
at the ends to O(h^2).  Damping proportional to the mass: alpha M y'.  One-state rules use d'' = W' R90 d - W^2 d.

Dofs: (x_p, vartheta_p, x_q, vartheta_q).
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DISSIPATED,
    GX,
    KINETIC,
    LEDGER,
    LZ,
    ONE_STATE,
    POTENTIAL,
    PX,
    RULE,
    SF,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.registry import ElementType

MASS, LENGTH, ROTARY, EX, EY, DAMPING = 0, 1, 2, 3, 4, 5
PAR = ("mass [kg]", "length [m]", "rotary inertia [kg m^2]", "ex [-]", "ey [-]", "damping [1/s]")


@inner
def mass_matrix(m, length, rotary, M):
    """Fill M (4, 4) over (x_p, d_p, x_q, d_q); ``rotary`` is the rotary inertia of the whole element."""
    a, l2 = m / 420.0, length * length
    M[0, 0], M[0, 1], M[0, 2], M[0, 3] = 156.0 * a, 22.0 * a * length, 54.0 * a, -13.0 * a * length
    M[1, 1], M[1, 2], M[1, 3] = 4.0 * a * l2 + rotary / 3.0, 13.0 * a * length, -3.0 * a * l2 + rotary / 6.0
    M[2, 2], M[2, 3] = 156.0 * a, -22.0 * a * length
    M[3, 3] = 4.0 * a * l2 + rotary / 3.0
    for i in range(4):
        for j in range(i):
            M[i, j] = M[j, i]


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    M = scratch(4, 4)
    y, z = scratch(4, 2), scratch(4, 2)
    row = scratch(2, 2)  # conjugate vectors of the two rotations: R90 d_m
    col = scratch(2, 2)  # derivative of the inertia coordinate of the director
    drow = scratch(2, 2)
    for e in range(e0, e1):
        r = e - e0
        mass_matrix(par[e, MASS], par[e, LENGTH], par[e, ROTARY], M)
        ex, ey = par[e, EX], par[e, EY]
        alpha = par[e, DAMPING]
        unit = sf * (wa + alpha * wv) if one_state else 1.0 + 0.5 * alpha * h
        for a in range(2):
            kx, ky, kt, i = dof[e, 3 * a], dof[e, 3 * a + 1], dof[e, 3 * a + 2], rot[e, a]
            c, s = D[1, i, 0], D[1, i, 1]
            d1x, d1y = c * ex - s * ey, s * ex + c * ey
            if one_state:
                acc, w = V[2, kt], V[1, kt]
                y[2 * a, 0] = sf * (V[2, kx] + alpha * V[1, kx] - ctl[GX])
                y[2 * a, 1] = sf * (V[2, ky] + alpha * V[1, ky] - ctl[GX + 1])
                acc += alpha * w
                y[2 * a + 1, 0] = sf * (-acc * d1y - w * w * d1x)
                y[2 * a + 1, 1] = sf * (acc * d1x - w * w * d1y)
                f, g = sf * (wa + alpha * wv - w * w), sf * (acc + 2.0 * w * wv)
                row[a, 0], row[a, 1] = -d1y, d1x
                col[a, 0], col[a, 1] = -f * d1y - g * d1x, f * d1x - g * d1y
                drow[a, 0], drow[a, 1] = -d1x, -d1y
            else:
                c, s = D[0, i, 0], D[0, i, 1]
                d0x, d0y = c * ex - s * ey, s * ex + c * ey
                c, s = DD[0, i, 0], DD[0, i, 1]
                mx, my = 0.5 * (d0x + d1x), 0.5 * (d0y + d1y)
                y[2 * a, 0] = unit * U[kx] - h * V[0, kx] - sf * ctl[GX]
                y[2 * a, 1] = unit * U[ky] - h * V[0, ky] - sf * ctl[GX + 1]
                # d1 - d0 = vartheta R90 d_m exactly
                y[2 * a + 1, 0] = -unit * U[kt] * my - h * (c * ex - s * ey)
                y[2 * a + 1, 1] = unit * U[kt] * mx - h * (s * ex + c * ey)
                row[a, 0], row[a, 1] = -my, mx
                f = 1.0 / (1.0 + 0.25 * U[kt] * U[kt])
                col[a, 0], col[a, 1] = -unit * f * d1y, unit * f * d1x
                drow[a, 0], drow[a, 1] = -0.5 * f * d1x, -0.5 * f * d1y
        for i in range(4):
            for b in range(2):
                z[i, b] = M[i, 0] * y[0, b] + M[i, 1] * y[1, b] + M[i, 2] * y[2, b] + M[i, 3] * y[3, b]
        for a in range(2):
            fe[r, 3 * a], fe[r, 3 * a + 1] = z[2 * a, 0], z[2 * a, 1]
            fe[r, 3 * a + 2] = row[a, 0] * z[2 * a + 1, 0] + row[a, 1] * z[2 * a + 1, 1]
        if job != TANGENT:
            continue
        for a in range(2):
            for b in range(2):
                mxx, mxd = M[2 * a, 2 * b], M[2 * a, 2 * b + 1]
                mdx, mdd = M[2 * a + 1, 2 * b], M[2 * a + 1, 2 * b + 1]
                i, j = 3 * a, 3 * b
                ke[r, i, j], ke[r, i, j + 1] = unit * mxx, 0.0
                ke[r, i + 1, j], ke[r, i + 1, j + 1] = 0.0, unit * mxx
                ke[r, i, j + 2], ke[r, i + 1, j + 2] = mxd * col[b, 0], mxd * col[b, 1]
                ke[r, i + 2, j], ke[r, i + 2, j + 1] = unit * mdx * row[a, 0], unit * mdx * row[a, 1]
                ke[r, i + 2, j + 2] = mdd * (row[a, 0] * col[b, 0] + row[a, 1] * col[b, 1])
            ke[r, 3 * a + 2, 3 * a + 2] += drow[a, 0] * z[2 * a + 1, 0] + drow[a, 1] * z[2 * a + 1, 1]


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    M = scratch(4, 4)
    y, v, d = scratch(4, 2), scratch(4, 2), scratch(4, 2)
    for e in range(e0, e1):
        r = e - e0
        mass_matrix(par[e, MASS], par[e, LENGTH], par[e, ROTARY], M)
        ex, ey = par[e, EX], par[e, EY]
        for a in range(2):
            i = rot[e, a]
            for b in range(2):
                y[2 * a, b], v[2 * a, b] = Q[1, dof[e, 3 * a + b]], V[1, dof[e, 3 * a + b]]
                d[2 * a, b] = U[dof[e, 3 * a + b]]
            c, s = D[1, i, 0] - D[0, i, 0], D[1, i, 1] - D[0, i, 1]
            d[2 * a + 1, 0], d[2 * a + 1, 1] = c * ex - s * ey, s * ex + c * ey
            y[2 * a + 1, 0], y[2 * a + 1, 1] = D[1, i, 0] * ex - D[1, i, 1] * ey, D[1, i, 1] * ex + D[1, i, 0] * ey
            v[2 * a + 1, 0] = DD[1, i, 0] * ex - DD[1, i, 1] * ey
            v[2 * a + 1, 1] = DD[1, i, 1] * ex + DD[1, i, 0] * ey
        loss = 0.0
        for i in range(4):
            px, py = 0.0, 0.0
            for j in range(4):
                px += M[i, j] * v[j, 0]
                py += M[i, j] * v[j, 1]
                loss += M[i, j] * (d[i, 0] * d[j, 0] + d[i, 1] * d[j, 1])
            w = M[i, 0] + M[i, 2]  # weight of a rigid translation
            fe[r, KINETIC] += 0.5 * (v[i, 0] * px + v[i, 1] * py)
            fe[r, POTENTIAL] -= w * (ctl[GX] * y[i, 0] + ctl[GX + 1] * y[i, 1])
            fe[r, LZ] += y[i, 0] * py - y[i, 1] * px
            if i % 2 == 0:
                fe[r, PX] += px
                fe[r, PX + 1] += py
        if par[e, DAMPING] != 0.0 and ctl[H] > 0.0:
            fe[r, DISSIPATED] = par[e, DAMPING] * loss / ctl[H]


TYPES = {"hermite2": ElementType("hermite2", 2, 2, True, PAR, force, report, inertia=True)}
