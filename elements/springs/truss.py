"""Co-rotational truss and cable, in the plane and in space.

Formulation (Crisfield & Shi 1993, "An energy conserving co-rotational procedure for non-linear dynamics with finite
elements", eqs 1-24).  With the chords L0, L1 of lengths n0, n1 at both ends of a step the internal force is

    F = N_av w,     w = (L0 + L1) / (n0 + n1),     so that  w.(L1 - L0) = n1 - n0  exactly (their eqs 9, 18-20),

and N_av is the discrete derivative of the energy V(n) between n0 and n1: the work over a step is V1 - V0.

``strain`` selects
    0  co-rotational engineering strain: N = EA (n - L)/L + N0
    1  Green's strain (their eqs 25-28; Simo & Tarnow): the axial force per reference length is exact with (L0 + L1)/2
    2  averaged unit vectors (their eqs 29-30): close to, but not exactly, conserving; for comparison
``tension_only`` = 1 makes a cable: no force where n < L, with V = EA <n - L>^2 / (2 L).

Outputs: the axial force with which the bar pulls at its ends (of Green's strain: n/L times that per reference length),
with the damper's share, and the strain.

Dofs: (x_p, x_q), 2 x 2 or 2 x 3.  Damping c [N s/m] acts on the rate of length.  Limit: a chord of length zero has no
direction; the mid-step form needs n0 + n1 > 0 only, so a step through 180 degrees is harmless.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.registry import ElementType

CO_ROTATIONAL, GREEN, AVERAGE = 0, 1, 2
EA, LENGTH, STRAIN_KIND, TENSION_ONLY, PRESTRESS, DAMPING = 0, 1, 2, 3, 4, 5
PAR = ("EA [N]", "length [m]", "strain", "tension_only", "prestress [N]", "damping [N s/m]")


@inner
def elongation(n2, length, green):
    """Return the stretch s(n) of the squared chord n2, without cancellation: n - L, or (n^2 - L^2)/(2 L) for
    ``green``."""
    if green:
        return (n2 - length * length) / (2.0 * length)
    return (n2 - length * length) / (np.sqrt(n2) + length)


@inner
def axial_force(s0, s1, k, n0, tension_only):
    """Return the discrete derivative of V = n0 s + k s^2/2 between s0 and s1, and its derivative by s1.

    With ``tension_only`` V is k <s + n0/k>^2/2, zero in compression.
    """
    if not tension_only:
        return n0 + 0.5 * k * (s0 + s1), 0.5 * k
    a, b = s0 + n0 / k, s1 + n0 / k
    if a >= 0.0 and b >= 0.0:
        return 0.5 * k * (a + b), 0.5 * k
    if a <= 0.0 and b <= 0.0:
        return 0.0, 0.0
    q = b - a
    if b > 0.0:
        return 0.5 * k * b * b / q, 0.5 * k * b * (q - a) / (q * q)
    return -0.5 * k * a * a / q, 0.5 * k * a * a / (q * q)


@inner
def force_change(s0, s1, k, n0, tension_only):
    """Return the change of the axial force between s0 and s1 and its derivative by s1, for rules with numerical
    damping."""
    if not tension_only:
        return k * (s1 - s0), k
    a, b = k * s0 + n0, k * s1 + n0
    return max(b, 0.0) - max(a, 0.0), k if b > 0.0 else 0.0


@kernel
def force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        px, py, qx, qy = dof[e, 0], dof[e, 1], dof[e, 2], dof[e, 3]
        ax, ay = Q[0, qx] - Q[0, px], Q[0, qy] - Q[0, py]
        bx, by = Q[1, qx] - Q[1, px], Q[1, qy] - Q[1, py]
        length = par[e, LENGTH]
        kind = int(par[e, STRAIN_KIND])
        a2, b2 = ax * ax + ay * ay, bx * bx + by * by
        n0, n1 = np.sqrt(a2), np.sqrt(b2)
        green = kind == GREEN
        s0, s1 = elongation(a2, length, green), elongation(b2, length, green)
        N, dN = axial_force(s0, s1, par[e, EA] / length, par[e, PRESTRESS], par[e, TENSION_ONLY] != 0.0)
        if ctl[DECAY] != 0.0:
            change, slope = force_change(s0, s1, par[e, EA] / length, par[e, PRESTRESS], par[e, TENSION_ONLY] != 0.0)
            N += ctl[DECAY] / h * change
            dN += ctl[DECAY] / h * slope
        # w and its derivative: dw = (I - w r^T) / g  with r the derivative of the denominator
        ux, uy = bx / n1, by / n1
        if kind == CO_ROTATIONAL:
            g = n0 + n1
            wx, wy = (ax + bx) / g, (ay + by) / g
            wxx, wxy, wyx, wyy = (1.0 - wx * ux) / g, -wx * uy / g, -wy * ux / g, (1.0 - wy * uy) / g
            sx, sy = ux, uy
        elif green:
            g = 2.0 * length
            wx, wy = (ax + bx) / g, (ay + by) / g
            wxx, wxy, wyx, wyy = 1.0 / g, 0.0, 0.0, 1.0 / g
            sx, sy = bx / length, by / length
        else:
            wx, wy = 0.5 * (ax / n0 + ux), 0.5 * (ay / n0 + uy)
            g = 2.0 * n1
            wxx, wxy, wyx, wyy = (1.0 - ux * ux) / g, -ux * uy / g, -uy * ux / g, (1.0 - uy * uy) / g
            sx, sy = ux, uy
        c = par[e, DAMPING]
        rx, ry = 0.0, 0.0  # derivative of the damper's force
        if c != 0.0:
            if one_state:
                vx, vy = V[1, qx] - V[1, px], V[1, qy] - V[1, py]
                rate = ux * vx + uy * vy
                N += c * rate
                # sk is twice sf here, the rate is not: half of its derivative
                f = 0.5 * c
                rx = f * (ctl[WV] * ux + (vx - rate * ux) / n1)
                ry = f * (ctl[WV] * uy + (vy - rate * uy) / n1)
            else:
                # n1 - n0 from the increments does not cancel as the step goes to zero
                dx, dy = U[qx] - U[px], U[qy] - U[py]
                N += c * ((ax + bx) * dx + (ay + by) * dy) / ((n0 + n1) * h)
                rx, ry = c * ux / h, c * uy / h
        fx, fy = sf * N * wx, sf * N * wy
        r = e - e0
        fe[r, 0], fe[r, 1], fe[r, 2], fe[r, 3] = -fx, -fy, fx, fy
        if job == TANGENT:
            tx, ty = dN * sx + rx, dN * sy + ry
            kxx, kxy = sk * (N * wxx + wx * tx), sk * (N * wxy + wx * ty)
            kyx, kyy = sk * (N * wyx + wy * tx), sk * (N * wyy + wy * ty)
            k = ke[r]
            k[0, 0], k[0, 1], k[0, 2], k[0, 3] = kxx, kxy, -kxx, -kxy
            k[1, 0], k[1, 1], k[1, 2], k[1, 3] = kyx, kyy, -kyx, -kyy
            k[2, 0], k[2, 1], k[2, 2], k[2, 3] = -kxx, -kxy, kxx, kxy
            k[3, 0], k[3, 1], k[3, 2], k[3, 3] = -kyx, -kyy, kyx, kyy


@kernel
def force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    a, b, u, w, s, rate_d = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        a2, b2 = 0.0, 0.0
        for i in range(3):
            a[i] = Q[0, dof[e, 3 + i]] - Q[0, dof[e, i]]
            b[i] = Q[1, dof[e, 3 + i]] - Q[1, dof[e, i]]
            a2 += a[i] * a[i]
            b2 += b[i] * b[i]
        length = par[e, LENGTH]
        kind = int(par[e, STRAIN_KIND])
        n0, n1 = np.sqrt(a2), np.sqrt(b2)
        green = kind == GREEN
        s0, s1 = elongation(a2, length, green), elongation(b2, length, green)
        N, dN = axial_force(s0, s1, par[e, EA] / length, par[e, PRESTRESS], par[e, TENSION_ONLY] != 0.0)
        if ctl[DECAY] != 0.0:
            change, slope = force_change(s0, s1, par[e, EA] / length, par[e, PRESTRESS], par[e, TENSION_ONLY] != 0.0)
            N += ctl[DECAY] / h * change
            dN += ctl[DECAY] / h * slope
        # dw = (I - p u^T) / g with p = w (co-rotational), 0 (Green) or u (averaged unit vectors)
        g = n0 + n1 if kind == CO_ROTATIONAL else (2.0 * length if green else 2.0 * n1)
        for i in range(3):
            u[i] = b[i] / n1
            w[i] = 0.5 * (a[i] / n0 + u[i]) if kind == AVERAGE else (a[i] + b[i]) / g
            s[i] = b[i] / length if green else u[i]
            rate_d[i] = 0.0
        c = par[e, DAMPING]
        if c != 0.0:
            rate = 0.0
            if one_state:
                for i in range(3):
                    rate += u[i] * (V[1, dof[e, 3 + i]] - V[1, dof[e, i]])
                for i in range(3):
                    v = V[1, dof[e, 3 + i]] - V[1, dof[e, i]]
                    rate_d[i] = 0.5 * c * (ctl[WV] * u[i] + (v - rate * u[i]) / n1)
            else:
                for i in range(3):
                    rate += (a[i] + b[i]) * (U[dof[e, 3 + i]] - U[dof[e, i]]) / ((n0 + n1) * h)
                    rate_d[i] = c * u[i] / h
            N += c * rate
        r = e - e0
        for i in range(3):
            fe[r, i] = -sf * N * w[i]
            fe[r, 3 + i] = sf * N * w[i]
        if job == TANGENT:
            for i in range(3):
                p = w[i] if kind == CO_ROTATIONAL else (0.0 if green else u[i])
                for j in range(3):
                    k = sk * (N * ((1.0 if i == j else 0.0) - p * u[j]) / g + w[i] * (dN * s[j] + rate_d[j]))
                    ke[r, i, j] = k
                    ke[r, i, 3 + j] = -k
                    ke[r, 3 + i, j] = -k
                    ke[r, 3 + i, 3 + j] = k


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = dof.shape[1] // 2
    for e in range(e0, e1):
        r = e - e0
        if job != LEDGER and job != OUTPUT:
            return
        a2, b2, da, db = 0.0, 0.0, 0.0, 0.0
        for i in range(dim):
            p, q = dof[e, i], dof[e, dim + i]
            a, b, d = Q[0, q] - Q[0, p], Q[1, q] - Q[1, p], U[q] - U[p]
            a2 += a * a
            b2 += b * b
            da += a * d
            db += b * d
        n0, n1 = np.sqrt(a2), np.sqrt(b2)
        dn = (da + db) / (n0 + n1)
        length = par[e, LENGTH]
        k, pre = par[e, EA] / length, par[e, PRESTRESS]
        tension_only = par[e, TENSION_ONLY] != 0.0
        green = int(par[e, STRAIN_KIND]) == GREEN
        s0, s1 = elongation(a2, length, green), elongation(b2, length, green)
        if job == LEDGER:
            t = s1 + pre / k if tension_only else s1
            if tension_only:
                fe[r, STRAIN] = 0.5 * k * max(t, 0.0) ** 2
            else:
                fe[r, STRAIN] = pre * s1 + 0.5 * k * s1 * s1
            if (par[e, DAMPING] != 0.0 or ctl[DECAY] != 0.0) and ctl[H] > 0.0:
                # the damper's force acts along w: its path is w.(L1 - L0)
                kind = int(par[e, STRAIN_KIND])
                path = dn if kind == CO_ROTATIONAL else (da + db) / (2.0 * length)
                if kind == AVERAGE:
                    path = 0.5 * (da / n0 + db / n1)
                change = force_change(s0, s1, k, pre, tension_only)[0]
                fe[r, DISSIPATED] = (par[e, DAMPING] * dn + ctl[DECAY] * change) * path / ctl[H]
        else:
            one_state = ctl[RULE] == ONE_STATE
            N = axial_force(s1 if one_state else s0, s1, k, pre, tension_only)[0]
            if one_state:
                if par[e, DAMPING] != 0.0:
                    rate = 0.0
                    for i in range(dim):
                        p, q = dof[e, i], dof[e, dim + i]
                        rate += (Q[1, q] - Q[1, p]) * (V[1, q] - V[1, p]) / n1
                    N += par[e, DAMPING] * rate
            elif ctl[H] > 0.0:
                change = force_change(s0, s1, k, pre, tension_only)[0]
                N += (par[e, DAMPING] * dn + ctl[DECAY] * change) / ctl[H]
            fe[r, 0] = N
            if green:  # the force of the present length, not that of the reference one
                fe[r, 0] *= (2.0 * n1 if one_state else n0 + n1) / (2.0 * length)
            fe[r, 1] = s1 / length


def prestress(par, outputs, factor):
    """Return parameters with the axial forces of ``outputs`` (n, 2) times ``factor`` added to the initial forces.

    Green's strain takes forces per reference length.
    """
    par = par.copy()
    green = (par[:, STRAIN_KIND] == GREEN) & (par[:, TENSION_ONLY] == 0.0)
    par[:, PRESTRESS] += factor * np.where(green, par[:, EA] * outputs[:, 1], outputs[:, 0])
    return par


def _type(name, dimension, force):
    return ElementType(
        name,
        dimension,
        ends=2,
        rotational=False,
        par=PAR,
        force=force,
        report=report,
        outputs=("N [N]", "strain [-]"),
        prestress=prestress,
    )


TYPES = {"truss2": _type("truss2", 2, force2), "truss3": _type("truss3", 3, force3)}
