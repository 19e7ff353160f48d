"""Plane beam by the strains of the geometrically exact beam (Reissner), exact in energy and both momenta.

The two-node element has the strains of the configuration of constant strains through its end sections, an arc along
which the section turns evenly (in space the helicoidal one of Sonneville, Cardona & Bruls 2014,
doi:10.1016/j.cma.2013.10.008).  With the chord l = x_q - x_p, psi = theta_q - theta_p, the section axes t, n of the
mean rotation (theta_p + theta_q)/2 and the reference length L

    lambda_1 = l.t,  lambda_2 = l.n,  f = (psi/2)/sin(psi/2),
    1 + Gamma_1 = f lambda_1/L,  Gamma_2 = f lambda_2/L,  K = psi/L,

since the mean of the section's rotations over the element is sin(psi/2)/(psi/2) times that in the middle.  The strains
are exact where those of the beam are constant (pure bending, extension, shear, each of any size); they converge to the
exact beam x' = (1 + Gamma_1) t + Gamma_2 n, theta' = K with N = EA Gamma_1, Q = GA Gamma_2, M = EI K.

Moments that vary linearly bend the element within.  With Phi = 12 EI/(GA L^2) and the antisymmetric angle
theta_a = -Gamma_2 the rotation deviates from that of constant strains by -1.5 theta_b (1 - 4 s^2), s = -1/2 .. 1/2,
theta_b = c theta_a, c = 1/(1 + Phi).  This makes the antisymmetric mode more compliant (MacNeal's residual bending
flexibility); it adds terms of second order, by which the fibre is longer than its chord, and the share of bending in
Gamma_2 grows with the fibre:

    e = L Gamma_1 + c (1 - 0.4 c) L theta_a^2,  theta_s = theta_a (1 - c Gamma_1).

With theta_1,2 = theta_s -/+ psi/2 the energy is  EA/L e^2/2 + S_11 (theta_1^2 + theta_2^2)/2 + S_12 theta_1 theta_2,

    S = EI/((1 + Phi) L) [[4 + Phi, 2 - Phi], [2 - Phi, 4 + Phi]].

Over a step (docs/theory.md, section 1) the axes t, n turn by the parameter v = 2 tan(d(theta_p + theta_q)/4), which is
a weighted mean of those of the ends, v = w v_p + (1 - w) v_q, w = cos_p/(cos_p + cos_q) with the cosines of
d(theta)/2, so that lambda is bilinear; f has the divided difference f[psi_0, psi_1]; products take arithmetic means of
their factors.  The force on the chord is F = f_m (N t_m + V n_m), N and V conjugate to L Gamma_1 and L Gamma_2.  The
moments are w T - kappa m on v_p and (1 - w) T + kappa m on v_q with T = -l_m x F, kappa = d(psi)/(v_q - v_p) and m the
moment conjugate to psi.

Dofs: (x_p, vartheta_p, x_q, vartheta_q).  The rotation of a node is counted from the reference state, where the beam is
straight and unstressed, over any number of turns; |psi| < 2 pi.  With ``inextensible`` the strain e is held at zero at
the end of each step by a multiplier N.  Damping beta [s]: stiffness proportional, sigma += beta S d(strain)/dt.

Section forces: `fem_mbs.elements.beams.beam2d_common`.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
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
from fem_mbs.elements.beams.limits import STRETCH, plane_limits
from fem_mbs.elements.kinematics import relative_angle
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

EA, S11, S12, LENGTH, EX, EY, CURVATURE, DAMPING, SCALE = 0, 1, 2, 3, 4, 5, 6, 7, 8
N0, M0_P, M0_Q = 9, 10, 11
PAR = (
    "EA [N]",
    "S11 [N m]",
    "S12 [N m]",
    "length [m]",
    "ex [-]",  # direction of the chord in the reference state
    "ey [-]",
    "second_order",  # c, the share of bending in the antisymmetric angle; 0 without second-order terms
    "damping [s]",
    "scale",  # of the multiplier (inextensible beams)
    "N0 [N]",  # section forces of the unstrained element
    "M0_p [N m]",
    "M0_q [N m]",
)

#: x/sin x = sum c_k x^2k
_SERIES = (
    1.0, 1 / 6, 7 / 360, 31 / 15120, 127 / 604800, 73 / 3421440, 1414477 / 653837184000, 8191 / 37362124800,
    16931177 / 762187345920000,
)  # fmt: skip


@inner
def arc_factor(x0, x1):
    """Return f(x0), f(x1), f'(x1), the divided difference f[x0, x1] and its derivative by x1, for f(x) = x/sin x.

    Both values below 0.3 take a Taylor series; beyond, the formulas avoid differences that cancel.
    """
    if abs(x0) < 0.3 and abs(x1) < 0.3:
        # synthetic divisions of the polynomial in y = x^2 by y - y0, y - y1, y - y1
        y0, y1 = x0 * x0, x1 * x1
        b = _SERIES[8]
        e = b
        d = e
        for k in range(7, 1, -1):
            b = _SERIES[k] + y0 * b
            e = b + y1 * e
            d = e + y1 * d
        b = _SERIES[1] + y0 * b
        e = b + y1 * e
        f0 = _SERIES[0] + y0 * b
        f1 = f0 + (y1 - y0) * e
        s = x0 + x1
        return f0, f1, 2.0 * x1 * (e + (y1 - y0) * d), s * e, e + 2.0 * s * x1 * d
    delta = x1 - x0
    s0, s1, c1 = np.sin(x0), np.sin(x1), np.cos(x1)
    f0 = x0 / s0 if x0 != 0.0 else 1.0
    f1 = x1 / s1 if x1 != 0.0 else 1.0
    slope = (1.0 - f1 * c1) / s1 if x1 != 0.0 else 0.0
    if abs(delta) > 0.1:
        quotient = (f1 - f0) / delta
        return f0, f1, slope, quotient, (slope - quotient) / delta
    # x1 s0 - x0 s1 = delta (sin(x) cos(z) - x cos(x) sin(z)/z) with the middle x and half the difference z
    x, z = 0.5 * (x0 + x1), 0.5 * delta
    s, c, cz = np.sin(x), np.cos(x), np.cos(z)
    q = z * z
    w = 1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0)))
    dw = -z / 3.0 * (1.0 - q / 10.0 * (1.0 - q / 28.0 * (1.0 - q / 54.0)))
    product = s0 * s1
    quotient = (s * cz - x * c * w) / product
    change = 0.5 * (c * cz - s * z * w - c * w + x * s * w - x * c * dw)
    return f0, f1, slope, quotient, change / product - quotient * c1 / s1


@inner
def mean_axis(D, state, i, j, ex, ey, psi, mean):
    """Return the section's normal (2 components), the reference direction (ex, ey) rotated by the mean angle of both
    ends.

    ``mean`` is this angle [rad] and ``psi`` the difference of the angles of both ends.
    """
    c, s = D[state, i, 0] + D[state, j, 0], D[state, i, 1] + D[state, j, 1]
    n2 = c * c + s * s
    if n2 > 0.5:
        r = 1.0 / np.sqrt(n2)
        if abs(psi) > np.pi:
            r = -r
        c, s = r * c, r * s
    else:  # rotations about half a turn apart
        c, s = np.cos(mean), np.sin(mean)
    return c * ex - s * ey, s * ex + c * ey


# One function, because the tangent needs some 35 scalars of the force, which stay in registers here.
@inner
def beam_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, inextensible):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    # rows of derivatives with respect to (dx, dy) of the chord and the two rotations of the step
    dl1, dl2, dstrain, dangle = scratch(4), scratch(4), scratch(4), scratch(4)
    dF, dm = scratch(2, 4), scratch(2, 4)
    for e in range(e0, e1):
        r = e - e0
        px, py, pt, qx, qy, qt = dof[e, 0], dof[e, 1], dof[e, 2], dof[e, 3], dof[e, 4], dof[e, 5]
        i, j = rot[e, 0], rot[e, 1]
        length, share, ex, ey = par[e, LENGTH], par[e, CURVATURE], par[e, EX], par[e, EY]
        second, part = share * (1.0 - 0.4 * share), share / length
        # stiffness of the antisymmetric angle and of psi
        ka, kb = 2.0 * (par[e, S11] + par[e, S12]), 0.5 * (par[e, S11] - par[e, S12])
        k_axial = par[e, EA] / length
        vp, vq = (0.0, 0.0) if one_state else (U[pt], U[qt])
        dpsi, kappa, kappa_q, kappa_p = relative_angle(vq, vp)
        psi0 = Q[first, qt] - Q[first, pt]
        psi1 = psi0 + dpsi
        f0, f1, slope, f2, df2 = arc_factor(0.5 * psi0, 0.5 * psi1)
        # mean rotation and its weights
        ip, iq = 1.0 / (1.0 + 0.25 * vp * vp), 1.0 / (1.0 + 0.25 * vq * vq)
        cp, cq = np.sqrt(ip), np.sqrt(iq)
        weight = cp / (cp + cq)
        mean = 0.5 * (Q[first, qt] + Q[first, pt])
        t0x, t0y = mean_axis(D, first, i, j, ex, ey, psi0, mean)
        turned = mean if one_state or abs(psi1) < 2.0 else mean + np.arctan(0.5 * vp) + np.arctan(0.5 * vq)
        t1x, t1y = mean_axis(D, 1, i, j, ex, ey, psi1, turned)
        tx, ty = 0.5 * (t0x + t1x), 0.5 * (t0y + t1y)
        ax, ay = Q[first, qx] - Q[first, px], Q[first, qy] - Q[first, py]
        bx, by = Q[1, qx] - Q[1, px], Q[1, qy] - Q[1, py]
        mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
        l10, l20 = ax * t0x + ay * t0y, ay * t0x - ax * t0y
        l11, l21 = bx * t1x + by * t1y, by * t1x - bx * t1y
        l1, l2 = 0.5 * (l10 + l11), 0.5 * (l20 + l21)
        fm = 0.5 * (f0 + f1)
        a0, a1 = -f0 * l20 / length, -f1 * l21 / length
        am = 0.5 * (a0 + a1)
        x0, x1 = f0 * l10 - length, f1 * l11 - length
        xm = 0.5 * (x0 + x1)
        strain0, strain1 = x0 + second * length * a0 * a0, x1 + second * length * a1 * a1
        beta = par[e, DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / h
        b1, b0 = 0.5 + rate, 0.5 - rate
        if inextensible:
            scale = par[e, SCALE]
            N, kN = scale * U[dof[e, 6]] / sf, 0.0
        else:
            N, kN = k_axial * (b1 * strain1 + b0 * strain0) + par[e, N0], k_axial * b1
        # conjugate to the antisymmetric angle and to psi
        A = ka * (b1 * a1 * (1.0 - part * x1) + b0 * a0 * (1.0 - part * x0)) + par[e, M0_Q] - par[e, M0_P]
        B = kb * (b1 * psi1 + b0 * psi0) + 0.5 * (par[e, M0_P] + par[e, M0_Q])
        if one_state and beta != 0.0:
            # strain rates from the velocities; their geometric derivative is left out of the tangent
            vx, vy = V[1, qx] - V[1, px], V[1, qy] - V[1, py]
            spin, bend = 0.5 * (V[1, pt] + V[1, qt]), V[1, qt] - V[1, pt]
            r1 = f1 * (vx * t1x + vy * t1y + l21 * spin) + 0.5 * l11 * slope * bend
            r2 = f1 * (vy * t1x - vx * t1y - l11 * spin) + 0.5 * l21 * slope * bend
            A -= beta * ka * (r2 / length * (1.0 - part * x1) + part * a1 * r1)
            B += beta * kb * bend
            b1 += 0.5 * beta * ctl[WV]
            if not inextensible:
                N += beta * k_axial * (r1 - 2.0 * second * a1 * r2)
                kN += 0.5 * beta * ctl[WV] * k_axial
        normal = N - part * am * A
        shear = -A * (1.0 - part * xm) / length - 2.0 * second * am * N
        across = normal * l1 + shear * l2
        bending = B + 0.5 * f2 * across
        Gx, Gy = normal * tx - shear * ty, normal * ty + shear * tx
        Fx, Fy = fm * Gx, fm * Gy
        couple = my * Fx - mx * Fy
        mp, mq = weight * couple - kappa * bending, (1.0 - weight) * couple + kappa * bending
        fe[r, 0], fe[r, 1], fe[r, 2] = -sf * Fx, -sf * Fy, sf * mp
        fe[r, 3], fe[r, 4], fe[r, 5] = sf * Fx, sf * Fy, sf * mq
        if inextensible:
            fe[r, 6] = scale * strain1
        if job != TANGENT:
            continue
        hp, hq = 0.5 * ip, 0.5 * iq  # d(mean rotation), half of d(psi)
        dl1[0], dl1[1], dl1[2], dl1[3] = t1x, t1y, l21 * hp, l21 * hq
        dl2[0], dl2[1], dl2[2], dl2[3] = -t1y, t1x, -l11 * hp, -l11 * hq
        dangle[0], dangle[1], dangle[2], dangle[3] = 0.0, 0.0, -hp, hq
        dweight = 0.25 * weight * (1.0 - weight)  # d(weight) = dweight (-v_p ip, v_q iq)
        for k in range(4):
            dx = dangle[k]
            d2 = f1 * dl2[k] + l21 * slope * dx
            d1 = f1 * dl1[k] + l11 * slope * dx
            de = d1 - 2.0 * second * a1 * d2
            da = -d2 / length
            dA = ka * b1 * (da * (1.0 - part * x1) - part * a1 * d1)
            dN = kN * de
            dV = (0.5 * part * A * d1 - (1.0 - part * xm) * dA) / length - 2.0 * second * (am * dN + 0.5 * N * da)
            dN -= part * (am * dA + 0.5 * A * da)
            dstrain[k] = de
            turn = 0.0 if k < 2 else (hp if k == 2 else hq)
            df = 0.5 * slope * dx
            # t_m turns with half of t1
            ux, uy = -0.5 * turn * t1y, 0.5 * turn * t1x
            dF[0, k] = df * Gx + fm * (dN * tx - dV * ty + normal * ux - shear * uy)
            dF[1, k] = df * Gy + fm * (dN * ty + dV * tx + normal * uy + shear * ux)
            dB = 2.0 * kb * b1 * dx + 0.5 * df2 * dx * across
            dB += 0.5 * f2 * (dN * l1 + dV * l2 + 0.5 * (normal * dl1[k] + shear * dl2[k]))
            dc = my * dF[0, k] - mx * dF[1, k]
            if k == 0:
                dc -= 0.5 * Fy
            elif k == 1:
                dc += 0.5 * Fx
            dw, dk = 0.0, 0.0
            if k == 2:
                dw, dk = -dweight * vp * ip, kappa_p
            elif k == 3:
                dw, dk = dweight * vq * iq, kappa_q
            moment = kappa * dB + dk * bending
            dm[0, k] = weight * dc + dw * couple - moment
            dm[1, k] = (1.0 - weight) * dc - dw * couple + moment
        force_tangent(sk, dF, dm, ke[r])
        if inextensible:
            # forces of a unit N
            dV = -2.0 * second * am
            ux, uy = fm * (tx - dV * ty), fm * (ty + dV * tx)
            c, b = my * ux - mx * uy, 0.5 * kappa * f2 * (l1 + dV * l2)
            constraint_tangent(
                scale, dstrain[0], dstrain[1], dstrain[2], dstrain[3], ux, uy, weight * c - b,
                (1.0 - weight) * c + b, ke[r],
            )  # fmt: skip


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    beam_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, False)


@kernel
def force_inextensible(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    beam_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, True)


@inner
def strains(par, dof, rot, Q, D, state, e):
    """Return the strain e [m], the antisymmetric angle theta_s and the angle psi between the ends [rad] at a state."""
    p, q, length = dof[e, 2], dof[e, 5], par[e, LENGTH]
    psi = Q[state, q] - Q[state, p]
    x, y = mean_axis(D, state, rot[e, 0], rot[e, 1], par[e, EX], par[e, EY], psi, 0.5 * (Q[state, q] + Q[state, p]))
    lx, ly = Q[state, dof[e, 3]] - Q[state, dof[e, 0]], Q[state, dof[e, 4]] - Q[state, dof[e, 1]]
    f, _, _, _, _ = arc_factor(0.5 * psi, 0.5 * psi)
    a = f * (lx * y - ly * x) / length
    stretch, share = f * (lx * x + ly * y) - length, par[e, CURVATURE]
    return stretch + share * (1.0 - 0.4 * share) * length * a * a, a * (1.0 - share * stretch / length), psi


@inner
def report_block(job, e0, e1, ctl, par, dof, rot, Q, D, V, U, fe, ke, inextensible):
    if job == WATCH:
        plane_limits(e0, e1, par, dof, Q, LENGTH, False, fe)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    row = scratch(1, 7)
    for e in range(e0, e1):
        r = e - e0
        length = par[e, LENGTH]
        ka, kb = 2.0 * (par[e, S11] + par[e, S12]), 0.5 * (par[e, S11] - par[e, S12])
        k_axial = 0.0 if inextensible else par[e, EA] / length
        s0, a0, b0 = strains(par, dof, rot, Q, D, 0 if job == LEDGER else first, e)
        s1, a1, b1 = strains(par, dof, rot, Q, D, 1, e)
        if job == LEDGER:
            fe[r, STRAIN] = 0.5 * (k_axial * s1 * s1 + ka * a1 * a1 + kb * b1 * b1)
            fe[r, STRAIN] += a1 * (par[e, M0_Q] - par[e, M0_P]) + 0.5 * b1 * (par[e, M0_P] + par[e, M0_Q])
            if not inextensible:
                fe[r, STRAIN] += s1 * par[e, N0]
            beta = par[e, DAMPING] + ctl[DECAY]
            if beta != 0.0 and ctl[H] > 0.0:
                ds, da, db = s1 - s0, a1 - a0, b1 - b0
                fe[r, DISSIPATED] = beta * (k_axial * ds * ds + ka * da * da + kb * db * db) / ctl[H]
            continue
        strain, angle, psi = 0.5 * (s0 + s1), 0.5 * (a0 + a1), 0.5 * (b0 + b1)
        if job == STRESSES:
            fe[r, 0] = par[e, N0] + k_axial * strain
            fe[r, 1] = par[e, M0_P] + kb * psi - 0.5 * ka * angle
            fe[r, 2] = par[e, M0_Q] + kb * psi + 0.5 * ka * angle
        else:
            beam_block(FORCE, e, e + 1, ctl, par, dof, rot, Q, D, V, U, row, ke, inextensible)
            section_forces(fe[r], row, 1.0 / ctl[SF], D, first, rot[e, 0], rot[e, 1], par[e, EX], par[e, EY])
            fe[r, 4] = strain / length


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


def _types():
    bend = Watch(3.5, 6.0, "the angle between its end sections", "use more elements")
    watches = (bend, STRETCH)
    common = {"outputs": OUTPUTS, "prestress": prestress, "watches": watches, "stresses": 3, "sections": True}
    return {
        "exact_beam2": ElementType("exact_beam2", 2, 2, True, PAR, force, report, **common),
        "exact_beam2_inextensible": ElementType(
            "exact_beam2_inextensible", 2, 2, True, PAR, force_inextensible, report_inextensible,
            multipliers=1, scale=SCALE, **common,
        ),
    }  # fmt: skip


TYPES = _types()
