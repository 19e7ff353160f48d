"""Plane co-rotational beam, Kirchhoff or Timoshenko, exact in energy and both momenta.

Formulation: Crisfield & Shi 1993, eqs 31-43 (local rotations theta_l = theta - alpha against the chord), with the exact
mid-step rule of docs/theory.md, section 4, as the default.  With the chords L0, L1 of a step, their lengths n0, n1
and directions e0, e1

    w = (L0 + L1)/(n0 + n1),                               w.(L1 - L0) = n1 - n0,
    g = 2 R90 (e0 + e1)/((n0 + n1)(1 + e0.e1)),            g.(L1 - L0) = 2 tan(d_alpha/2) = tau,   L_m x g = 1,
    kappa_i = (d_theta_i - d_alpha)/(vartheta_i - tau),    vartheta = 2 tan(d_theta/2),

the forces of the step are  m_i = M_i kappa_i  on vartheta_i  and  F = N w - (m_1 + m_2) g  on q, -F on p.

Strains: n - L and theta_1, theta_2 (local rotations), joined in the axial strain of the element

    e = n - L + L (2 theta_1^2 - theta_1 theta_2 + 2 theta_2^2)/30

with the second-order terms (Meijaard 1993, eq. 16), and in the end moments  M_i = sum_j S_ij theta_j,

    S = EI/((1 + phi) L) [[4 + phi, 2 - phi], [2 - phi, 4 + phi]].

Since e is quadratic in (n, theta), its gradient at the averaged strains is the exact quotient (docs/theory.md,
section 1).  With ``inextensible`` the modified strain e is held at zero at the end of each step by a multiplier N.

``rule`` (co-rotational variants of the paper's section 5, for comparison; two-state rules only):
    0  exact (default)
    1  accumulated: mean of f/n at both ends, alpha advanced by it (eq. 35): energy exact, alpha drifts, L drifts
    2  geometric: the same force, alpha from the geometry: energy drifts
    3  secant: f_m/n_m, local rotations advanced by vartheta - tau, tau = f_m.dL/n_m: energy and L exact, they drift
    4  gradient: f_m/n_m scaled to the true d_alpha: energy exact, no drift of alpha, L drifts slightly

Dofs: (x_p, vartheta_p, x_q, vartheta_q).  The rotation of a node is counted from the reference state, where the beam is
straight and unstressed; there is no limit on turns of a node, only |theta_l| < pi.  Damping beta [s]: stiffness
proportional, sigma += beta S d(strain)/dt.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DECAY,
    DISSIPATED,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    START,
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
from fem_mbs.elements.kinematics import relative_angle
from fem_mbs.elements.registry import ElementType

EXACT, ACCUMULATED, GEOMETRIC, SECANT, GRADIENT = 0, 1, 2, 3, 4
EA, S11, S12, LENGTH, EX, EY, CURVATURE, VARIANT, DAMPING, SCALE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N0, M0_P, M0_Q = 10, 11, 12
PAR = (
    "EA [N]",
    "S11 [N m]",
    "S12 [N m]",
    "length [m]",
    "ex [-]",  # direction of the chord in the reference state
    "ey [-]",
    "second_order",  # 1 or 0: weight of the second-order terms
    "rule",
    "damping [s]",
    "scale",  # of the multiplier (inextensible beams)
    "N0 [N]",  # section forces of the unstrained element
    "M0_p [N m]",
    "M0_q [N m]",
)


@inner
def local_angle(c, s, ex, ey, ux, uy):
    """Return the angle [rad] from the chord direction (ux, uy) to the section axis of an end.

    The section axis is the reference direction (ex, ey), rotated by the angle with cosine c and sine s.
    """
    dx, dy = c * ex - s * ey, s * ex + c * ey
    return np.arctan2(ux * dy - uy * dx, ux * dx + uy * dy)


@inner
def axial_strain(n2, length, t1, t2, second):
    """Return the elongation plus second-order terms of the local rotations t1, t2 [m]; n2 is the squared chord
    length."""
    return (n2 - length * length) / (np.sqrt(n2) + length) + second * length * (
        2.0 * t1 * t1 - t1 * t2 + 2.0 * t2 * t2
    ) / 30.0


@inner
def _exact_turn(e0x, e0y, e1x, e1y, G, n1, dx, dy, va, vb):
    """Return the discrete gradient (gx, gy) of the chord's rotation, exact in energy and both momenta, and its
    derivatives.

    The values are, in this order: the gradient; its derivative by the chord (gxx, gxy, gyx, gyy); the derivative (tx,
    ty) of the increment of the chord's rotation; the increments of both local rotations; and for p and q each the
    quotient kappa and its derivatives by the own rotation and by the chord's rotation.
    """
    f1x, f1y = -e1y, e1x
    c = 1.0 + e0x * e1x + e0y * e1y
    f = 2.0 / (G * c)
    gx, gy = -f * (e0y + e1y), f * (e0x + e1x)
    tau = gx * dx + gy * dy
    dla, kap_a, kaa, kat = relative_angle(va, tau)
    dlb, kap_b, kbb, kbt = relative_angle(vb, tau)
    # d(g) = p (f1.d) - g (e1.d)/G, with the derivative of e1 along f1; d(alpha) = f1.d/n1
    q = (e0x * f1x + e0y * f1y) / (n1 * c)
    ppx, ppy = -f * e1x / n1 - gx * q, -f * e1y / n1 - gy * q
    gxx, gxy = ppx * f1x - gx * e1x / G, ppx * f1y - gx * e1y / G
    gyx, gyy = ppy * f1x - gy * e1x / G, ppy * f1y - gy * e1y / G
    tx, ty = f1x / n1, f1y / n1  # d(d_alpha)/d(dL)
    jt = 1.0 + 0.25 * tau * tau  # d(tau)/d(d_alpha)
    kat *= jt
    kbt *= jt
    return gx, gy, gxx, gxy, gyx, gyy, tx, ty, dla, dlb, kap_a, kaa, kat, kap_b, kbb, kbt


@inner
def _variant_turn(variant, ax, ay, bx, by, n0, n1, dx, dy, va, vb):
    """Return the values of `_exact_turn` for the other rules."""
    e0x, e0y, e1x, e1y = ax / n0, ay / n0, bx / n1, by / n1
    f1x, f1y = -e1y, e1x
    b2 = bx * bx + by * by
    f0x, f0y = -e0y, e0x
    if variant == ACCUMULATED or variant == GEOMETRIC:
        gx, gy = 0.5 * (f0x / n0 + f1x / n1), 0.5 * (f0y / n0 + f1y / n1)
        # d(f/n) = (R90 - 2 f e^T)/n^2 d
        gxx, gxy = -f1x * e1x / b2, (-0.5 - f1x * e1y) / b2
        gyx, gyy = (0.5 - f1y * e1x) / b2, -f1y * e1y / b2
    else:
        mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
        m2 = mx * mx + my * my
        gx, gy = -my / m2, mx / m2
        gxx, gxy = my * mx / (m2 * m2), -0.5 / m2 + my * my / (m2 * m2)
        gyx, gyy = 0.5 / m2 - mx * mx / (m2 * m2), -mx * my / (m2 * m2)
    dalpha = gx * dx + gy * dy
    tx, ty = gx + dx * gxx + dy * gyx, gy + dx * gxy + dy * gyy
    if variant == GEOMETRIC or variant == GRADIENT:
        true = np.arctan2(e0x * e1y - e0y * e1x, e0x * e1x + e0y * e1y)
        if variant == GRADIENT:
            ratio = true / dalpha if abs(dalpha) > 1e-9 else 1.0
            if abs(dalpha) > 1e-9:
                rx = (f1x / n1 - ratio * tx) / dalpha
                ry = (f1y / n1 - ratio * ty) / dalpha
            else:
                rx, ry = 0.0, 0.0
            gxx, gxy = ratio * gxx + gx * rx, ratio * gxy + gx * ry
            gyx, gyy = ratio * gyx + gy * rx, ratio * gyy + gy * ry
            gx, gy = ratio * gx, ratio * gy
        dalpha = true
        tx, ty = f1x / n1, f1y / n1
    if variant == SECANT:
        # tangents of half angles throughout: local rotations advance by vartheta - tau
        dta, kap_a, kaa, kat = va, 1.0, 0.0, 0.0
        dtb, kap_b, kbb, kbt = vb, 1.0, 0.0, 0.0
    else:
        # plain angles: the row of vartheta gets the factor d(theta)/vartheta, the chord's force does not
        dta, kap_a, kaa, kat = relative_angle(va, 0.0)
        dtb, kap_b, kbb, kbt = relative_angle(vb, 0.0)
        kat, kbt = 0.0, 0.0
    dla, dlb = dta - dalpha, dtb - dalpha
    return gx, gy, gxx, gxy, gyx, gyy, tx, ty, dla, dlb, kap_a, kaa, kat, kap_b, kbb, kbt


@inner
def _moment_tangent(
    b1, s11, s12, N, second, ga, gb, tx, ty, ia, ib, Pa, Pb, kap_a, kaa, kat, kap_b, kbb, kbt, dN, ds, dm
):  # fmt: skip
    """Fill dm (2, 4) with the derivatives of the end moments and ds (4,) with those of the sum of their conjugate
    moments.

    ``second`` is the weight of the second-order terms times the length.
    """
    # end moments: b1 S d(theta) + ga d(N) + N d(ga),  d(ga) = second L (2 d(ta) - d(tb)/2)/30
    caa = b1 * s11 + N * second / 15.0
    cab = b1 * s12 - N * second / 60.0
    sa = -(caa + cab)
    dm[0, 0], dm[0, 1] = sa * tx + ga * dN[0], sa * ty + ga * dN[1]
    dm[0, 2], dm[0, 3] = caa * ia + ga * dN[2], cab * ib + ga * dN[3]
    dm[1, 0], dm[1, 1] = sa * tx + gb * dN[0], sa * ty + gb * dN[1]
    dm[1, 2], dm[1, 3] = cab * ia + gb * dN[2], caa * ib + gb * dN[3]
    for j in range(4):
        ds[j] = dm[0, j] + dm[1, j]
        dm[0, j] *= kap_a
        dm[1, j] *= kap_b
    dm[0, 0] += Pa * kat * tx
    dm[0, 1] += Pa * kat * ty
    dm[0, 2] += Pa * kaa
    dm[1, 0] += Pb * kbt * tx
    dm[1, 1] += Pb * kbt * ty
    dm[1, 3] += Pb * kbb


@inner
def _chord_tangent(NG, msum, exact, wx, wy, e1x, e1y, gx, gy, gxx, gxy, gyx, gyy, dN, ds, dm, dF):
    """Fill dF (2, 4) with the derivative of the force on the chord, F = N w - (sum of moments) g; NG = N/G."""
    for j in range(4):
        s = dm[0, j] + dm[1, j] if exact else ds[j]
        dF[0, j] = wx * dN[j] - gx * s
        dF[1, j] = wy * dN[j] - gy * s
    dF[0, 0] += NG * (1.0 - wx * e1x) - msum * gxx
    dF[0, 1] += -NG * wx * e1y - msum * gxy
    dF[1, 0] += -NG * wy * e1x - msum * gyx
    dF[1, 1] += NG * (1.0 - wy * e1y) - msum * gyy


@inner
def beam_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, inextensible):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    # rows of derivatives with respect to (dx, dy) of the chord and the two rotations of the step
    dN, ds = scratch(4), scratch(4)
    dF, dm = scratch(2, 4), scratch(2, 4)
    for e in range(e0, e1):
        r = e - e0
        px, py, pt, qx, qy, qt = dof[e, 0], dof[e, 1], dof[e, 2], dof[e, 3], dof[e, 4], dof[e, 5]
        length, s11, s12, second = par[e, LENGTH], par[e, S11], par[e, S12], par[e, CURVATURE]
        variant = int(par[e, VARIANT])
        k_axial = par[e, EA] / length
        ax, ay = Q[first, qx] - Q[first, px], Q[first, qy] - Q[first, py]
        bx, by = Q[1, qx] - Q[1, px], Q[1, qy] - Q[1, py]
        a2, b2 = ax * ax + ay * ay, bx * bx + by * by
        n0, n1 = np.sqrt(a2), np.sqrt(b2)
        e0x, e0y, e1x, e1y = ax / n0, ay / n0, bx / n1, by / n1
        f1x, f1y = -e1y, e1x
        G = n0 + n1
        wx, wy = (ax + bx) / G, (ay + by) / G
        va, vb, dx, dy = 0.0, 0.0, 0.0, 0.0
        if not one_state:
            va, vb, dx, dy = U[pt], U[qt], U[qx] - U[px], U[qy] - U[py]
        # local rotations at the start
        if one_state:
            ex, ey = par[e, EX], par[e, EY]
            ta0 = local_angle(D[1, rot[e, 0], 0], D[1, rot[e, 0], 1], ex, ey, e1x, e1y)
            tb0 = local_angle(D[1, rot[e, 1], 0], D[1, rot[e, 1], 1], ex, ey, e1x, e1y)
            variant = EXACT
        else:
            ta0, tb0 = hist[e, 0], hist[e, 1]
        # gradient of the chord's rotation: vector (gx, gy), its derivative, and the increments of the local rotations
        ia, ib = 1.0 / (1.0 + 0.25 * va * va), 1.0 / (1.0 + 0.25 * vb * vb)
        if variant == EXACT:
            gx, gy, gxx, gxy, gyx, gyy, tx, ty, dla, dlb, kap_a, kaa, kat, kap_b, kbb, kbt = _exact_turn(
                e0x, e0y, e1x, e1y, G, n1, dx, dy, va, vb
            )
        else:
            gx, gy, gxx, gxy, gyx, gyy, tx, ty, dla, dlb, kap_a, kaa, kat, kap_b, kbb, kbt = _variant_turn(
                variant, ax, ay, bx, by, n0, n1, dx, dy, va, vb
            )
            if variant == SECANT:
                ia, ib = 1.0, 1.0
        ta1, tb1 = ta0 + dla, tb0 + dlb
        tam, tbm = 0.5 * (ta0 + ta1), 0.5 * (tb0 + tb1)
        # axial strain, its gradient (1, ga, gb) at the mean strains and at the end
        ga, gb = second * length * (4.0 * tam - tbm) / 30.0, second * length * (4.0 * tbm - tam) / 30.0
        ga1, gb1 = second * length * (4.0 * ta1 - tb1) / 30.0, second * length * (4.0 * tb1 - ta1) / 30.0
        strain0 = axial_strain(a2, length, ta0, tb0, second)
        strain1 = axial_strain(b2, length, ta1, tb1, second)
        beta = par[e, DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / h
        if inextensible:
            scale = par[e, SCALE]
            N = scale * U[dof[e, 6]] / sf
            kN = 0.0
        else:
            kN = k_axial * (0.5 + rate)
            N = k_axial * ((0.5 + rate) * strain1 + (0.5 - rate) * strain0) + par[e, N0]
        b1, b0 = 0.5 + rate, 0.5 - rate
        ba, bb = b1 * ta1 + b0 * ta0, b1 * tb1 + b0 * tb0
        Ma, Mb = s11 * ba + s12 * bb - par[e, M0_P], s12 * ba + s11 * bb + par[e, M0_Q]
        if one_state and beta != 0.0:
            # strain rates from the velocities; their geometric derivative is left out of the tangent
            vx, vy = V[1, qx] - V[1, px], V[1, qy] - V[1, py]
            spin = (f1x * vx + f1y * vy) / n1
            ra, rb = V[1, pt] - spin, V[1, qt] - spin
            Ma += beta * (s11 * ra + s12 * rb)
            Mb += beta * (s12 * ra + s11 * rb)
            if not inextensible:
                N += beta * k_axial * (e1x * vx + e1y * vy + ga1 * ra + gb1 * rb)
            b1 += 0.5 * beta * ctl[WV]
            kN += 0.5 * beta * ctl[WV] * k_axial * (0.0 if inextensible else 1.0)
        Pa, Pb = Ma + N * ga, Mb + N * gb
        ma, mb = Pa * kap_a, Pb * kap_b
        exact = variant == EXACT
        msum = ma + mb if exact else Pa + Pb
        Fx, Fy = N * wx - msum * gx, N * wy - msum * gy
        fe[r, 0], fe[r, 1], fe[r, 2] = -sf * Fx, -sf * Fy, sf * ma
        fe[r, 3], fe[r, 4], fe[r, 5] = sf * Fx, sf * Fy, sf * mb
        if inextensible:
            fe[r, 6] = scale * strain1
        if job != TANGENT:
            continue
        # increments of local rotations: d(ta1) = ia d(va) - t.d
        # axial force
        gt = ga1 + gb1
        dN[0], dN[1] = kN * (e1x - gt * tx), kN * (e1y - gt * ty)
        dN[2], dN[3] = kN * ga1 * ia, kN * gb1 * ib
        _moment_tangent(
            b1, s11, s12, N, second * length, ga, gb, tx, ty, ia, ib, Pa, Pb, kap_a, kaa, kat, kap_b, kbb, kbt,
            dN, ds, dm,
        )  # fmt: skip
        _chord_tangent(N / G, msum, exact, wx, wy, e1x, e1y, gx, gy, gxx, gxy, gyx, gyy, dN, ds, dm, dF)
        force_tangent(sk, dF, dm, ke[r])
        if inextensible:
            qa, qb = ga * kap_a, gb * kap_b
            ux, uy = wx - (qa + qb) * gx, wy - (qa + qb) * gy
            constraint_tangent(scale, e1x - gt * tx, e1y - gt * ty, ga1 * ia, gb1 * ib, ux, uy, qa, qb, ke[r])


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    beam_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, False)


@kernel
def force_inextensible(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    beam_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, True)


@inner
def report_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, inextensible):
    if job == WATCH:
        plane_limits(e0, e1, par, dof, Q, LENGTH, True, fe)
        return
    one_state = ctl[RULE] == ONE_STATE
    first = 1 if one_state else 0
    row = scratch(1, 7)
    for e in range(e0, e1):
        r = e - e0
        length, s11, s12, second = par[e, LENGTH], par[e, S11], par[e, S12], par[e, CURVATURE]
        variant = EXACT if one_state else int(par[e, VARIANT])
        px, py, qx, qy = dof[e, 0], dof[e, 1], dof[e, 3], dof[e, 4]
        bx, by = Q[1, qx] - Q[1, px], Q[1, qy] - Q[1, py]
        b2 = bx * bx + by * by
        n1 = np.sqrt(b2)
        ux, uy = bx / n1, by / n1
        i, j = rot[e, 0], rot[e, 1]
        ta = local_angle(D[1, i, 0], D[1, i, 1], par[e, EX], par[e, EY], ux, uy)
        tb = local_angle(D[1, j, 0], D[1, j, 1], par[e, EX], par[e, EY], ux, uy)
        if job != START and (variant == ACCUMULATED or variant == SECANT):
            ax, ay = Q[0, qx] - Q[0, px], Q[0, qy] - Q[0, py]
            a2 = ax * ax + ay * ay
            if variant == ACCUMULATED:
                gx, gy = -0.5 * (ay / a2 + by / b2), 0.5 * (ax / a2 + bx / b2)
            else:
                m2 = 0.25 * ((ax + bx) ** 2 + (ay + by) ** 2)
                gx, gy = -0.5 * (ay + by) / m2, 0.5 * (ax + bx) / m2
            dalpha = gx * (U[qx] - U[px]) + gy * (U[qy] - U[py])
            ta, tb = U[dof[e, 2]], U[dof[e, 5]]
            if variant == ACCUMULATED:
                ta, tb = 2.0 * np.arctan(0.5 * ta), 2.0 * np.arctan(0.5 * tb)
            ta, tb = hist[e, 0] + ta - dalpha, hist[e, 1] + tb - dalpha
        if job == START or job == COMMIT:
            hist[e, 0], hist[e, 1] = ta, tb
            continue
        ax, ay = Q[0, qx] - Q[0, px], Q[0, qy] - Q[0, py]
        ta0, tb0 = hist[e, 0], hist[e, 1]
        strain0 = axial_strain(ax * ax + ay * ay, length, ta0, tb0, second)
        strain = axial_strain(b2, length, ta, tb, second)
        k_axial = 0.0 if inextensible else par[e, EA] / length
        beta = par[e, DAMPING] + ctl[DECAY]
        if job == LEDGER:
            fe[r, STRAIN] = 0.5 * (k_axial * strain * strain + s11 * (ta * ta + tb * tb)) + s12 * ta * tb
            fe[r, STRAIN] += tb * par[e, M0_Q] - ta * par[e, M0_P] + (0.0 if inextensible else strain * par[e, N0])
            if beta != 0.0 and ctl[H] > 0.0:
                da, db, de = ta - ta0, tb - tb0, strain - strain0
                fe[r, DISSIPATED] = (
                    beta * (k_axial * de * de + s11 * (da * da + db * db) + 2.0 * s12 * da * db) / ctl[H]
                )
        elif job == OUTPUT or job == STRESSES:
            # rates of the strains times beta; stresses that stiffen are elastic
            ra, rb, stretch = 0.0, 0.0, 0.0
            if job == OUTPUT and beta != 0.0:
                if one_state:
                    vx, vy = V[1, qx] - V[1, px], V[1, qy] - V[1, py]
                    spin = (ux * vy - uy * vx) / n1
                    ra, rb = beta * (V[1, dof[e, 2]] - spin), beta * (V[1, dof[e, 5]] - spin)
                    stretch = beta * (ux * vx + uy * vy)
                    stretch += second * length * ((4.0 * ta - tb) * ra + (4.0 * tb - ta) * rb) / 30.0
                elif ctl[H] > 0.0:
                    rate = beta / ctl[H]
                    ra, rb, stretch = rate * (ta - ta0), rate * (tb - tb0), rate * (strain - strain0)
            # mean of both ends of the step, or the end for one-state rules
            f = 0.0 if one_state else 0.5
            strain = f * strain0 + (1.0 - f) * strain
            am, bm = f * ta0 + (1.0 - f) * ta, f * tb0 + (1.0 - f) * tb
            M_p, M_q = par[e, M0_P] - s11 * am - s12 * bm, par[e, M0_Q] + s12 * am + s11 * bm
            if job == STRESSES:
                fe[r, 0], fe[r, 1], fe[r, 2] = k_axial * strain + par[e, N0], M_p, M_q
                continue
            beam_block(FORCE, e, e + 1, ctl, par, dof, rot, hist, Q, D, V, U, row, ke, inextensible)
            # moments conjugate to the mean local rotations; the rules conserve these
            if inextensible:
                N = par[e, SCALE] * U[dof[e, 6]] / ctl[SF]
            else:
                N = k_axial * (strain + stretch) + par[e, N0]
            M_p -= s11 * ra + s12 * rb
            M_q += s12 * ra + s11 * rb
            k = N * second * length / 30.0
            row[0, 2], row[0, 5] = ctl[SF] * (k * (4.0 * am - bm) - M_p), ctl[SF] * (k * (4.0 * bm - am) + M_q)
            section_forces(fe[r], row, 1.0 / ctl[SF], D, first, i, j, par[e, EX], par[e, EY])
            fe[r, 4] = strain / length


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    report_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, False)


@kernel
def report_inextensible(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    report_block(job, e0, e1, ctl, par, dof, rot, hist, Q, D, V, U, fe, ke, True)


def prestress(par, stresses, factor):
    """Return parameters with ``factor`` times the stresses (n, 3) of the job STRESSES added to the initial section
    forces."""
    par = par.copy()
    par[:, N0 : M0_Q + 1] += factor * stresses
    return par


_BENDING = bending_watch("an arc of one element is off by 0.015 % at 30 degrees, 0.1 % at 57")
_COMMON = {
    "outputs": OUTPUTS, "prestress": prestress, "stresses": 3, "sections": True,
    "watches": (_BENDING, STRETCH),
}  # fmt: skip
TYPES = {
    "beam2": ElementType("beam2", 2, 2, True, PAR, force, report, hist=2, **_COMMON),
    "beam2_inextensible": ElementType(
        "beam2_inextensible", 2, 2, True, PAR, force_inextensible, report_inextensible, hist=2, multipliers=1,
        scale=SCALE, **_COMMON,
    ),
}  # fmt: skip
