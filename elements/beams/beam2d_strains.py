"""Plane beam by generalised strains: the plane case of Besseling's and Meijaard's beam.

Meijaard 1993, eqs 2-6 and 16, in the plane.  With the chord l = x_q - x_p and the section axes e_x, e_y of both ends

    e1 = |l| - L,   e5 = l.e_y^p,   e6 = -l.e_y^q,   e = e1 + (2 e5^2 + e5 e6 + 2 e6^2)/(30 L)

and the energy  EA/L e^2/2 + EI/((1 + phi) L^3) [(4 + phi)(e5^2 + e6^2)/2 + (phi - 2) e5 e6].  e5 and e6 are bilinear
in l and the directors, so their mid-step gradient is an exact quotient; e composes at the averaged strains
(docs/theory.md, section 1).  To first order e5 = -L theta_1 and e6 = L theta_2 of `fem_mbs.elements.beams.beam2d`.
Where the end sections rotate far against each other, this element is softer, since its strains are sines.

Dofs: (x_p, vartheta_p, x_q, vartheta_q).  ``inextensible``: e = 0 at the end of each step, with a multiplier N.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    STRESSES,
    TANGENT,
    WATCH,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.beams.beam2d_common import OUTPUTS, constraint_tangent, force_tangent, section_forces
from fem_mbs.elements.beams.limits import STRETCH, bending_watch, plane_limits
from fem_mbs.elements.registry import ElementType

EA, S55, S56, LENGTH, EX, EY, CURVATURE, DAMPING, SCALE = 0, 1, 2, 3, 4, 5, 6, 7, 8
N0, M0_P, M0_Q = 9, 10, 11
PAR = (
    "EA [N]",
    "S11 [N m]",  # (4 + phi) EI/((1 + phi) L)
    "S12 [N m]",  # (2 - phi) EI/((1 + phi) L)
    "length [m]",
    "ex [-]",
    "ey [-]",
    "second_order",
    "damping [s]",
    "scale",
    "N0 [N]",  # section forces of the unstrained element
    "M0_p [N m]",
    "M0_q [N m]",
)


@inner
def axial(n2, length, e5, e6, second):
    """Return the elongation plus second-order terms of the bending strains e5, e6 [m]; n2 is the squared chord
    length."""
    return (n2 - length * length) / (np.sqrt(n2) + length) + second * (2.0 * e5 * e5 + e5 * e6 + 2.0 * e6 * e6) / (
        30.0 * length
    )


@inner
def _rates(V, dof, e, bx, by, p1x, p1y, q1x, q1y):
    """Return the velocity of the chord at the end of the step (2 components), and the rates of both bending strains."""
    px, py, qx, qy = dof[e, 0], dof[e, 1], dof[e, 3], dof[e, 4]
    vx, vy = V[1, qx] - V[1, px], V[1, qy] - V[1, py]
    v5 = -vx * p1y + vy * p1x - V[1, dof[e, 2]] * (bx * p1x + by * p1y)
    v6 = vx * q1y - vy * q1x + V[1, dof[e, 5]] * (bx * q1x + by * q1y)
    return vx, vy, v5, v6


@inner
def block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, inextensible):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    # derivatives with respect to the chord (2) and the two rotations of the step
    d5, d6, dN, ds5, ds6 = cleared(4), cleared(4), scratch(4), scratch(4), scratch(4)
    dF, dm = scratch(2, 4), scratch(2, 4)
    for e in range(e0, e1):
        r = e - e0
        length, second = par[e, LENGTH], par[e, CURVATURE]
        k_axial = par[e, EA] / length
        k55, k56 = par[e, S55] / length**2, -par[e, S56] / length**2
        ex, ey = par[e, EX], par[e, EY]
        px, py, qx, qy = dof[e, 0], dof[e, 1], dof[e, 3], dof[e, 4]
        ax, ay = Q[first, qx] - Q[first, px], Q[first, qy] - Q[first, py]
        bx, by = Q[1, qx] - Q[1, px], Q[1, qy] - Q[1, py]
        a2, b2 = ax * ax + ay * ay, bx * bx + by * by
        n1 = np.sqrt(b2)
        G = np.sqrt(a2) + n1
        wx, wy, ux, uy = (ax + bx) / G, (ay + by) / G, bx / n1, by / n1
        mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
        i, j = rot[e, 0], rot[e, 1]
        # section axes e_x of both ends, at start and end; e_y = R90 e_x
        p0x, p0y = D[first, i, 0] * ex - D[first, i, 1] * ey, D[first, i, 1] * ex + D[first, i, 0] * ey
        p1x, p1y = D[1, i, 0] * ex - D[1, i, 1] * ey, D[1, i, 1] * ex + D[1, i, 0] * ey
        q0x, q0y = D[first, j, 0] * ex - D[first, j, 1] * ey, D[first, j, 1] * ex + D[first, j, 0] * ey
        q1x, q1y = D[1, j, 0] * ex - D[1, j, 1] * ey, D[1, j, 1] * ex + D[1, j, 0] * ey
        pmx, pmy, qmx, qmy = 0.5 * (p0x + p1x), 0.5 * (p0y + p1y), 0.5 * (q0x + q1x), 0.5 * (q0y + q1y)
        e50, e51 = -ax * p0y + ay * p0x, -bx * p1y + by * p1x
        e60, e61 = ax * q0y - ay * q0x, bx * q1y - by * q1x
        e5, e6 = 0.5 * (e50 + e51), 0.5 * (e60 + e61)
        f = second / (30.0 * length)
        g5, g6 = f * (4.0 * e5 + e6), f * (4.0 * e6 + e5)
        h5, h6 = f * (4.0 * e51 + e61), f * (4.0 * e61 + e51)
        strain0, strain1 = axial(a2, length, e50, e60, second), axial(b2, length, e51, e61, second)
        beta = par[e, DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / h
        b1, b0 = 0.5 + rate, 0.5 - rate
        r5, r6 = b1 * e51 + b0 * e50, b1 * e61 + b0 * e60
        N, kN = k_axial * (b1 * strain1 + b0 * strain0) + par[e, N0], k_axial * b1
        if one_state and beta != 0.0:
            # strain rates from the velocities; their geometric derivative is left out of the tangent
            vx, vy, v5, v6 = _rates(V, dof, e, bx, by, p1x, p1y, q1x, q1y)
            r5 += beta * v5
            r6 += beta * v6
            N += beta * k_axial * (ux * vx + uy * vy + h5 * v5 + h6 * v6)
            b1 += 0.5 * beta * ctl[WV]
            kN += 0.5 * beta * ctl[WV] * k_axial
        scale = 1.0
        if inextensible:
            scale = par[e, SCALE]
            N, kN = scale * U[dof[e, 6]] / sf, 0.0
        s5, s6 = k55 * r5 + k56 * r6 + N * g5, k56 * r5 + k55 * r6 + N * g6
        s5 += par[e, M0_P] / length
        s6 += par[e, M0_Q] / length
        lp, lq = mx * pmx + my * pmy, mx * qmx + my * qmy
        Fx, Fy = N * wx - s5 * pmy + s6 * qmy, N * wy + s5 * pmx - s6 * qmx
        fe[r, 0], fe[r, 1], fe[r, 2] = -sf * Fx, -sf * Fy, -sf * s5 * lp
        fe[r, 3], fe[r, 4], fe[r, 5] = sf * Fx, sf * Fy, sf * s6 * lq
        if inextensible:
            fe[r, 6] = scale * strain1
        if job != TANGENT:
            continue
        ia, ib = 1.0 / (1.0 + 0.25 * U[dof[e, 2]] ** 2), 1.0 / (1.0 + 0.25 * U[dof[e, 5]] ** 2)
        d5[0], d5[1], d5[2] = -p1y, p1x, -ia * (bx * p1x + by * p1y)
        d6[0], d6[1], d6[3] = q1y, -q1x, ib * (bx * q1x + by * q1y)
        for c in range(4):
            t = h5 * d5[c] + h6 * d6[c]
            if c == 0:
                t += ux
            elif c == 1:
                t += uy
            dN[c] = kN * t
            ds5[c] = b1 * (k55 * d5[c] + k56 * d6[c]) + g5 * dN[c] + N * f * (2.0 * d5[c] + 0.5 * d6[c])
            ds6[c] = b1 * (k56 * d5[c] + k55 * d6[c]) + g6 * dN[c] + N * f * (2.0 * d6[c] + 0.5 * d5[c])
            dF[0, c] = wx * dN[c] - pmy * ds5[c] + qmy * ds6[c]
            dF[1, c] = wy * dN[c] + pmx * ds5[c] - qmx * ds6[c]
            dm[0, c], dm[1, c] = -lp * ds5[c], lq * ds6[c]
        c = N / G
        dF[0, 0] += c * (1.0 - wx * ux)
        dF[0, 1] -= c * wx * uy
        dF[1, 0] -= c * wy * ux
        dF[1, 1] += c * (1.0 - wy * uy)
        # the mean section axes turn with the end: d e_y = -e_x1 d(vartheta)/2
        dF[0, 2] -= 0.5 * ia * s5 * p1x
        dF[1, 2] -= 0.5 * ia * s5 * p1y
        dF[0, 3] += 0.5 * ib * s6 * q1x
        dF[1, 3] += 0.5 * ib * s6 * q1y
        dm[0, 0] -= 0.5 * s5 * pmx
        dm[0, 1] -= 0.5 * s5 * pmy
        dm[0, 2] -= 0.5 * ia * s5 * (-mx * p1y + my * p1x)
        dm[1, 0] += 0.5 * s6 * qmx
        dm[1, 1] += 0.5 * s6 * qmy
        dm[1, 3] += 0.5 * ib * s6 * (-mx * q1y + my * q1x)
        force_tangent(sk, dF, dm, ke[r])
        if inextensible:
            rx, ry = ux + h5 * d5[0] + h6 * d6[0], uy + h5 * d5[1] + h6 * d6[1]
            cx, cy = wx - g5 * pmy + g6 * qmy, wy + g5 * pmx - g6 * qmx
            constraint_tangent(scale, rx, ry, h5 * d5[2], h6 * d6[3], cx, cy, -g5 * lp, g6 * lq, ke[r])


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, False)


@kernel
def force_inextensible(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, True)


@inner
def report_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, inextensible):
    if job == WATCH:
        plane_limits(e0, e1, par, dof, Q, LENGTH, True, fe)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    s, row = scratch(2, 3), scratch(1, 7)
    for e in range(e0, e1):
        r = e - e0
        length, second, ex, ey = par[e, LENGTH], par[e, CURVATURE], par[e, EX], par[e, EY]
        k_axial = 0.0 if inextensible else par[e, EA] / length
        k55, k56 = par[e, S55] / length**2, -par[e, S56] / length**2
        i, j = rot[e, 0], rot[e, 1]
        for a in range(2):
            x, y = Q[a, dof[e, 3]] - Q[a, dof[e, 0]], Q[a, dof[e, 4]] - Q[a, dof[e, 1]]
            s[a, 1] = -x * (D[a, i, 1] * ex + D[a, i, 0] * ey) + y * (D[a, i, 0] * ex - D[a, i, 1] * ey)
            s[a, 2] = x * (D[a, j, 1] * ex + D[a, j, 0] * ey) - y * (D[a, j, 0] * ex - D[a, j, 1] * ey)
            s[a, 0] = axial(x * x + y * y, length, s[a, 1], s[a, 2], second)
        if job == LEDGER:
            e1_, e5, e6 = s[1, 0], s[1, 1], s[1, 2]
            fe[r, STRAIN] = 0.5 * (k_axial * e1_ * e1_ + k55 * (e5 * e5 + e6 * e6)) + k56 * e5 * e6
            fe[r, STRAIN] += (e5 * par[e, M0_P] + e6 * par[e, M0_Q]) / length + (
                0.0 if inextensible else e1_ * par[e, N0]
            )
            beta = par[e, DAMPING] + ctl[DECAY]
            if beta != 0.0 and ctl[H] > 0.0:
                e1_, e5, e6 = s[1, 0] - s[0, 0], s[1, 1] - s[0, 1], s[1, 2] - s[0, 2]
                loss = k_axial * e1_ * e1_ + k55 * (e5 * e5 + e6 * e6) + 2.0 * k56 * e5 * e6
                fe[r, DISSIPATED] = beta * loss / ctl[H]
        else:
            # mean of both ends of the step, or the end for one-state rules
            f = 0.0 if one_state else 0.5
            g = 1.0 - f
            e1_, e5, e6 = f * s[0, 0] + g * s[1, 0], f * s[0, 1] + g * s[1, 1], f * s[0, 2] + g * s[1, 2]
            if job == STRESSES:
                fe[r, 0] = k_axial * e1_ + par[e, N0]
                fe[r, 1] = (k55 * e5 + k56 * e6) * length + par[e, M0_P]
                fe[r, 2] = (k56 * e5 + k55 * e6) * length + par[e, M0_Q]
                continue
            block(FORCE, e, e + 1, ctl, par, dof, rot, Q, D, V, U, row, ke, inextensible)
            section_forces(fe[r], row, 1.0 / ctl[SF], D, first, i, j, ex, ey)
            fe[r, 4] = e1_ / length


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    report_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, False)


@kernel
def report_inextensible(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    report_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, True)


def prestress(par, stresses, factor):
    """Return parameters with ``factor`` times the stresses (n, 3) of the job STRESSES added to the initial section
    forces."""
    par = par.copy()
    par[:, N0 : M0_Q + 1] += factor * stresses
    return par


_BENDING = bending_watch("generalised strains measure sines, an arc of one element is off by 12 % at 30 degrees")
_COMMON = {
    "outputs": OUTPUTS, "prestress": prestress, "stresses": 3, "sections": True,
    "watches": (_BENDING, STRETCH),
}  # fmt: skip
TYPES = {
    "strain_beam2": ElementType("strain_beam2", 2, 2, True, PAR, force, report, **_COMMON),
    "strain_beam2_inextensible": ElementType(
        "strain_beam2_inextensible", 2, 2, True, PAR, force_inextensible, report_inextensible, multipliers=1,
        scale=SCALE, **_COMMON,
    ),
}  # fmt: skip
