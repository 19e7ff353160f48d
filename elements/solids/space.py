"""Solid elements: tetrahedra, hexahedra and wedges, linear or total-Lagrangian St. Venant-Kirchhoff.

With the displacement gradient H = sum_a u_a (x) grad N_a (reference gradients), F = I + H, at an integration point

    nonlinear 1:  E = (H + H^T + H^T H)/2     (Green's strain, quadratic in the positions)
    nonlinear 0:  E = (H + H^T)/2             (small strains, for linear statics, modes and buckling)
    S = C (E + G alpha - E0) + beta C dE/dt + S0,   V = integral of (E - E0).C (E - E0)/2 + S0.E

Over a step E is sampled as (E_0 + E_1)/2 and its gradient at mid-positions, f_a = sum w F_m S grad N_a: since E is
quadratic that is an exact difference quotient, so energy and both momenta are kept at every step size (Simo & Tarnow
1992, doi:10.1007/BF00913408, section 3; docs/theory.md, section 1).  E0 is an initial (thermal) strain, beta
Kelvin-Voigt damping.  A function of time and factors at the integration points may multiply E0.  Its factor over a step
is the mean of both ends, and the work -S_m dE0 of heating is booked as that of a load.

Initial stresses S0 per integration point, appended to the parameters (point by point: xx, yy, zz, xy, yz, zx) by
`prestress`, work on Green's strain in linear elements too: these get their geometric stiffness from them.

``solid_hexahedron_incompatible`` (C3D8I) has nine enhanced strains per element, the symmetric part of a_j (x) G_j,
G_j = (det J_c/det J) J_c^-T grad_r(1 - r_j^2), J_c the Jacobian at the centre: the modes of Taylor, Beresford & Wilson
(1976, doi:10.1002/nme.1620100602), seen as assumed strains (Simo & Rifai 1990, doi:10.1002/nme.1620290802).  Added to
Green's strain (Klinkel & Wagner 1997, doi:10.1002/(SICI)1097-0207(19970315)40:5<833::AID-NME91>3.0.CO;2-Q) alpha is a
linear function of E and is condensed exactly, without iteration, in both states of a step.

Components xx, yy, zz, xy, yz, zx in global axes, shear strains gamma = 2 E_xy.  C: 21 numbers, rows of the upper
triangle.  Dofs: displacements of the nodes, in the order of `fem_mbs.elements.solids.shapes`.  Outputs per integration
point: second Piola-Kirchhoff stress of the step (mean of its ends) and strain at its end;
`fem_mbs.elements.solids.recovery.cauchy_stresses` converts the first into true stresses.

Zero modes of one element beyond the six rigid ones: six of ``solid_hexahedron20_reduced``, one of
``solid_wedge_reduced``.  They do not spread over a mesh, but a single row of m reduced hexahedra keeps m + 1 of them.
St. Venant-Kirchhoff material softens in strong compression, to instability near a stretch of 0.58; enhanced strains can
hourglass there earlier.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    T0,
    T1,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import time_value
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.solids.shapes import gradients, n_nodes, rule
from fem_mbs.elements.solids.strains import (
    add_product,
    cholesky,
    forward,
    gradient,
    heat,
    inverse3,
    multiply,
    rate,
    strain,
    strain_matrix,
    tail,
    with_initial_stresses,
)

__all__ = ["COMPONENTS", "KINDS", "TYPES", "parameters"]

COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "zx")
NONLINEAR, DAMPING, STRAIN0, ELASTIC, FUNCTION, NODES = 0, 1, 2, 8, 29, 30

#: type -> (cell, integration, incompatible modes)
KINDS = {
    "solid_tetra": ("tetra", "full", False),
    "solid_tetra10": ("tetra10", "full", False),
    "solid_hexahedron": ("hexahedron", "full", False),
    "solid_hexahedron_incompatible": ("hexahedron", "full", True),
    "solid_hexahedron20": ("hexahedron20", "full", False),
    "solid_hexahedron20_reduced": ("hexahedron20", "reduced", False),
    "solid_wedge": ("wedge", "full", False),
    "solid_wedge_reduced": ("wedge", "reduced", False),
    "solid_wedge15": ("wedge15", "full", False),
}


def _tables():
    """Return weights, gradients and points of all kinds in one array, where each kind begins, and its number of
    points."""
    rows, start, points, at = [], [], [], 0
    for cell, name, _ in KINDS.values():
        x, w = rule(cell, name)
        table = np.hstack((w[:, None], gradients(cell, x).reshape(len(w), -1), x))
        rows.append(table.ravel())
        start.append(at)
        points.append(len(w))
        at += table.size
    return np.concatenate(rows), np.array(start), np.array(points)


_TABLE, _START, _POINTS = _tables()


@inner
def _jacobian(p, n, at, J):
    """Write the derivatives of the places by the local coordinates to J (3, 3), from the gradients at ``at``."""
    # nine sums side by side: each waits for its own last addition only
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(n):
        x, y, z = p[NODES + 3 * a], p[NODES + 3 * a + 1], p[NODES + 3 * a + 2]
        r, s, t = _TABLE[at + a], _TABLE[at + n + a], _TABLE[at + 2 * n + a]
        xx += x * r
        xy += x * s
        xz += x * t
        yx += y * r
        yy += y * s
        yz += y * t
        zx += z * r
        zy += z * s
        zz += z * t
    J[0, 0], J[0, 1], J[0, 2] = xx, xy, xz
    J[1, 0], J[1, 1], J[1, 2] = yx, yy, yz
    J[2, 0], J[2, 1], J[2, 2] = zx, zy, zz


@inner
def _geometry(kind, p, n, g, w, gm, J, Ji):
    """Fill g (q, 3, n) with the gradients of the shape functions and w (q,) with the volumes of the integration points.

    gm (q, 3, 3) gets the gradients of the incompatible modes, gm[q, :, j] of mode j, where the kind has them.
    """
    width = 4 + 3 * n
    for q in range(_POINTS[kind]):
        at = _START[kind] + q * width
        _jacobian(p, n, at + 1, J)
        det = inverse3(J, Ji)
        w[q] = det * _TABLE[at]
        for i in range(3):
            gi = g[q, i]
            x, y, z = Ji[0, i], Ji[1, i], Ji[2, i]
            for a in range(n):
                gi[a] = x * _TABLE[at + 1 + a] + y * _TABLE[at + 1 + n + a] + z * _TABLE[at + 1 + 2 * n + a]
        if gm.shape[0] > 0:
            for j in range(3):
                r = -2.0 * _TABLE[at + 1 + 3 * n + j] / det
                for i in range(3):
                    gm[q, i, j] = r
    if gm.shape[0] > 0:
        for i in range(3):
            for k in range(3):
                s = 0.0
                for a in range(n):
                    s += p[NODES + 3 * a + i] * _CENTRE[k, a]
                J[i, k] = s
        det = inverse3(J, Ji)
        for q in range(_POINTS[kind]):
            for j in range(3):
                for i in range(3):
                    gm[q, i, j] *= det * Ji[j, i]


_CENTRE = np.ascontiguousarray(gradients("hexahedron", np.zeros((1, 3)))[0])


@inner
def _elasticity(p, C):
    """Fill C (6, 6) from the rows of its upper triangle."""
    k = ELASTIC
    for i in range(6):
        for j in range(i, 6):
            C[i, j] = p[k]
            C[j, i] = p[k]
            k += 1


@inner
def _enhance(gm, w, C, identity, BG, CG, L, count):
    """Fill BG (q, 6, 9), the enhanced strains per alpha, CG (q, 6, 9) = w C BG, and L, the factor of their
    stiffness."""
    L[:] = 0.0
    for q in range(count):
        strain_matrix(identity, gm[q], 3, BG[q])
        multiply(C, BG[q], w[q], CG[q])
        add_product(BG[q], CG[q], L)
    cholesky(L)


@inner
def _stresses(C, E, S, w, BG, CG, L, r):
    """Fill S (q, 6) with C (E + BG alpha), where alpha balances the enhanced strains: sum w BG^T S = 0."""
    if L.shape[0] > 0:
        m = L.shape[0]
        for j in range(m):
            s = 0.0
            for q in range(E.shape[0]):
                for c in range(6):
                    s -= CG[q, c, j] * E[q, c]
            r[j, 0] = s
        forward(L, r)
        for i in range(m - 1, -1, -1):
            s = r[i, 0]
            for k in range(i + 1, m):
                s -= L[k, i] * r[k, 0]
            r[i, 0] = s / L[i, i]
    for q in range(E.shape[0]):
        for i in range(6):
            s = 0.0
            for k in range(6):
                s += C[i, k] * E[q, k]
            for j in range(L.shape[0]):
                s += CG[q, i, j] * r[j, 0] / w[q]
            S[q, i] = s


_INCOMPATIBLE = np.array([k[2] for k in KINDS.values()])


@inner
def _displacements(p, dof, Q, V, U, e, rate_of_state, u0, u1, du):
    """Fill u0, u1 (n, 3) with the displacements at both ends of the step, du (n, 3) with their change.

    At a state (``rate_of_state``) du gets their rate.
    """
    for a in range(u0.shape[0]):
        for i in range(3):
            k = dof[e, 3 * a + i]
            X = p[NODES + 3 * a + i]
            u0[a, i], u1[a, i] = Q[0, k] - X, Q[1, k] - X
            du[a, i] = V[1, k] if rate_of_state else U[k]


@inner
def _point_strains(ctl, nonlinear, beta, gq, n, u0, u1, du, A0, A1, Ad, F1, identity, Fm, Fs, E):
    """Add the mean strain and the rule's damping to E (6,), and fill the deformation gradients of one point.

    Fm (3, 3) is that of the mean, Fs half the derivative of the strain by the displacements at the end.
    """
    one_state = ctl[RULE] == ONE_STATE
    gradient(gq, u0, n, A0)
    gradient(gq, u1, n, A1)
    strain(A0, nonlinear, 0.5, E)
    strain(A1, nonlinear, 0.5, E)
    for i in range(3):
        for j in range(3):
            Fm[i, j] = identity[i, j] + 0.5 * (A0[i, j] + A1[i, j])
            F1[i, j] = identity[i, j] + (A1[i, j] if nonlinear else 0.0)
            Fs[i, j] = 0.5 * F1[i, j]
    if beta == 0.0:
        return
    gradient(gq, du, n, Ad)
    if one_state:
        rate(F1, Ad, beta, E)
    else:
        rate(Fm if nonlinear else identity, Ad, beta / ctl[H], E)
    for i in range(3):
        for j in range(3):
            if one_state:
                # sk is twice sf here, the rate is not: half of its derivative
                Fs[i, j] += 0.5 * beta * (ctl[WV] * F1[i, j] + (Ad[i, j] if nonlinear else 0.0))
            else:
                Fs[i, j] += beta / ctl[H] * F1[i, j]


@inner
def _symmetric(v, first, out):
    """Fill out (3, 3) from the components xx, yy, zz, xy, yz, zx at v[first:]."""
    out[0, 0], out[1, 1], out[2, 2] = v[first], v[first + 1], v[first + 2]
    out[0, 1] = out[1, 0] = v[first + 3]
    out[1, 2] = out[2, 1] = v[first + 4]
    out[2, 0] = out[0, 2] = v[first + 5]


@inner
def _point_stress(p, stress, prestressed, nonlinear, s, Fm, A0, P, S3):
    """Fill P (3, 3) with the first Piola-Kirchhoff stress of one point, and S3 with the stresses that rotate with
    the body."""
    _symmetric(s, 0, S3)
    for i in range(3):
        for j in range(3):
            if nonlinear:
                P[i, j] = Fm[i, 0] * S3[0, j] + Fm[i, 1] * S3[1, j] + Fm[i, 2] * S3[2, j]
            else:
                P[i, j] = S3[i, j]
                S3[i, j] = 0.0
    if not prestressed:
        return
    # S3 is now zero for a linear element, since only its initial stresses rotate with the body
    _symmetric(p, stress, A0)
    for i in range(3):
        for j in range(3):
            P[i, j] += Fm[i, 0] * A0[0, j] + Fm[i, 1] * A0[1, j] + Fm[i, 2] * A0[2, j]
    for i in range(3):
        for j in range(3):
            S3[i, j] += A0[i, j]


@inner
def _geometric(c, S3, gq, n, Sg, Kg):
    """Add c g^T S g of one point, the factor of the identity in the geometric stiffness, to Kg (n, n)."""
    for i in range(3):
        x, y, z = c * S3[i, 0], c * S3[i, 1], c * S3[i, 2]
        for a in range(n):
            Sg[i, a] = x * gq[0, a] + y * gq[1, a] + z * gq[2, a]
    g0, g1, g2 = Sg[0], Sg[1], Sg[2]
    for a in range(n):
        x, y, z = gq[0, a], gq[1, a], gq[2, a]
        row = Kg[a]
        for b in range(n):
            row[b] += x * g0[b] + y * g1[b] + z * g2[b]


@inner
def _condense(sk, L, Lm, Ls, K):
    """Subtract sk Lm^T L^-1 Ls of the incompatible modes from K, with the factor L of their stiffness."""
    forward(L, Lm)
    forward(L, Ls)
    nl = Lm.shape[1]
    for i in range(nl):
        row = K[i]
        for k in range(L.shape[0]):
            c = sk * Lm[k, i]
            other = Ls[k]
            for j in range(nl):
                row[j] -= c * other[j]


@inner
def _force(kind, job, e0, e1, ctl, par, dof, fun, Q, V, U, fe, ke):
    n = dof.shape[1] // 3
    nl, nq = 3 * n, _POINTS[kind]
    modes = 9 if _INCOMPATIBLE[kind] else 0
    nm = nq if modes > 0 else 0
    sf, sk = ctl[SF], ctl[SK]
    first_share = NODES + nl
    shared, first_stress, prestressed = tail(par.shape[1], first_share, nq, 6)
    g, w, gm = np.empty((nq, 3, n)), np.empty(nq), np.empty((nm, 3, 3))
    C, identity = scratch(6, 6), np.eye(3)
    J, Ji, P, S3 = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    A0, A1, Ad, F1 = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    Fm, Fs = np.empty((nq, 3, 3)), np.empty((nq, 3, 3))
    u0, u1, du = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    E, S = np.empty((nq, 6)), np.empty((nq, 6))
    Bm, Bs, CB = np.empty((6, nl)), np.empty((6, nl)), np.empty((6, nl))
    Kg, Sg = np.empty((n, n)), np.empty((3, n))
    BG, CG, L = np.empty((nm, 6, 9)), np.empty((nm, 6, 9)), np.empty((modes, modes))
    r, Lm, Ls = np.empty((modes, 1)), np.empty((modes, nl)), np.empty((modes, nl))
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        nonlinear = p[NONLINEAR] != 0.0
        beta = p[DAMPING] + ctl[DECAY]
        level = heat(ctl, fun, p[FUNCTION])
        _geometry(kind, p, n, g, w, gm, J, Ji)
        _elasticity(p, C)
        _displacements(p, dof, Q, V, U, e, ctl[RULE] == ONE_STATE, u0, u1, du)
        for q in range(nq):
            T = level * p[first_share + q] if shared else level
            for c in range(6):
                E[q, c] = -T * p[STRAIN0 + c]
            _point_strains(
                ctl, nonlinear, beta, g[q], n, u0, u1, du, A0, A1, Ad, F1, identity, Fm[q], Fs[q], E[q]
            )  # fmt: skip
        if modes > 0:
            _enhance(gm, w, C, identity, BG, CG, L, nq)
        _stresses(C, E, S, w, BG, CG, L, r)
        for i in range(nl):
            f[i] = 0.0
        if job == TANGENT:
            K = ke[e - e0]
            K[:] = 0.0
            Kg[:] = 0.0
            Lm[:] = 0.0
            Ls[:] = 0.0
        for q in range(nq):
            gq = g[q]
            _point_stress(p, first_stress + 6 * q, prestressed, nonlinear, S[q], Fm[q], A0, P, S3)
            for i in range(3):
                x, y, z = sf * w[q] * P[i, 0], sf * w[q] * P[i, 1], sf * w[q] * P[i, 2]
                for a in range(n):
                    f[3 * a + i] += x * gq[0, a] + y * gq[1, a] + z * gq[2, a]
            if job == TANGENT:
                strain_matrix(Fm[q] if nonlinear else identity, gq, n, Bm)
                strain_matrix(Fs[q], gq, n, Bs)
                if modes > 0:
                    add_product(CG[q], Bm, Lm)
                    add_product(CG[q], Bs, Ls)
                multiply(C, Bs, sk * w[q], CB)
                add_product(Bm, CB, K)
                if nonlinear or prestressed:
                    _geometric(0.5 * sk * w[q], S3, gq, n, Sg, Kg)
        if job == TANGENT:
            if nonlinear or prestressed:
                for a in range(n):
                    for b in range(n):
                        for i in range(3):
                            K[3 * a + i, 3 * b + i] += Kg[a, b]
            if modes > 0:
                _condense(sk, L, Lm, Ls, K)


@inner
def _enhanced_strains(p, first_share, shared, end, C, E, E1, dE, w, BG, CG, L, r):
    """Add the part of the incompatible modes to the strains E1 (nq, 6) at the end of the step; E and dE are work."""
    for q in range(w.shape[0]):
        T = end * p[first_share + q] if shared else end
        for c in range(6):
            E[q, c] = E1[q, c] - T * p[STRAIN0 + c]
    _stresses(C, E, dE, w, BG, CG, L, r)
    for q in range(w.shape[0]):
        for c in range(6):
            for j in range(L.shape[0]):
                E1[q, c] += BG[q, c, j] * r[j, 0]


@inner
def _heating_work(p, first_share, shared, end, change, nonlinear, g, u0, A0, C, E, E1, S, w, BG, CG, L, r):
    """Return the work of heating: minus the mean stress times the change of the initial strain; E, S are work."""
    level = end - 0.5 * change
    n = u0.shape[0]
    for q in range(w.shape[0]):
        gradient(g[q], u0, n, A0)
        T = level * p[first_share + q] if shared else level
        for c in range(6):
            E[q, c] = 0.5 * E1[q, c] - T * p[STRAIN0 + c]
        strain(A0, nonlinear, 0.5, E[q])
    _stresses(C, E, S, w, BG, CG, L, r)
    work = 0.0
    for q in range(w.shape[0]):
        T = change * p[first_share + q] if shared else change
        for c in range(6):
            work -= w[q] * S[q, c] * T * p[STRAIN0 + c]
    return work


@inner
def _report(kind, job, e0, e1, ctl, par, dof, fun, Q, U, fe):
    if job != LEDGER and job != OUTPUT:
        return
    n = dof.shape[1] // 3
    nl, nq = 3 * n, _POINTS[kind]
    modes = 9 if _INCOMPATIBLE[kind] else 0
    nm = nq if modes > 0 else 0
    one_state = ctl[RULE] == ONE_STATE
    first_share = NODES + nl
    shared, first_stress, prestressed = tail(par.shape[1], first_share, nq, 6)
    g, w, gm = np.empty((nq, 3, n)), np.empty(nq), np.empty((nm, 3, 3))
    C, identity = scratch(6, 6), np.eye(3)
    J, Ji, A0, A1, Ad = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    Fm = scratch(3, 3)
    u0, u1, du = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    E, E1, dE, S, green = np.empty((nq, 6)), np.empty((nq, 6)), np.empty((nq, 6)), np.empty((nq, 6)), scratch(6)
    BG, CG, L = np.empty((nm, 6, 9)), np.empty((nm, 6, 9)), np.empty((modes, modes))
    r = np.empty((modes, 1))
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        nonlinear = p[NONLINEAR] != 0.0
        beta = p[DAMPING] + ctl[DECAY]
        _geometry(kind, p, n, g, w, gm, J, Ji)
        _elasticity(p, C)
        for a in range(n):
            for i in range(3):
                k = dof[e, 3 * a + i]
                X = p[NODES + 3 * a + i]
                u0[a, i], u1[a, i], du[a, i] = Q[0, k] - X, Q[1, k] - X, U[k]
        energy = 0.0
        start = 0.0 if one_state else 0.5
        end = time_value(fun, p[FUNCTION], T1, 1.0)
        level = end if job == LEDGER else heat(ctl, fun, p[FUNCTION])
        for q in range(nq):
            gradient(g[q], u0, n, A0)
            gradient(g[q], u1, n, A1)
            gradient(g[q], du, n, Ad)
            T = level * p[first_share + q] if shared else level
            for c in range(6):
                E[q, c] = -T * p[STRAIN0 + c]
                E1[q, c] = 0.0
                dE[q, c] = 0.0
                green[c] = 0.0
            strain(A1, nonlinear, 1.0, E1[q])
            if job == LEDGER:
                for c in range(6):
                    E[q, c] += E1[q, c]
            else:
                strain(A0, nonlinear, start, E[q])
                strain(A1, nonlinear, 1.0 - start, E[q])
            if beta != 0.0:
                for i in range(3):
                    for j in range(3):
                        Fm[i, j] = identity[i, j] + (0.5 * (A0[i, j] + A1[i, j]) if nonlinear else 0.0)
                rate(Fm, Ad, 1.0, dE[q])
            if prestressed:
                strain(A1, True, 1.0, green)
                for c in range(6):
                    energy += w[q] * p[first_stress + 6 * q + c] * green[c]
        if modes > 0:
            _enhance(gm, w, C, identity, BG, CG, L, nq)
        _stresses(C, E, S, w, BG, CG, L, r)
        if job == OUTPUT:
            if modes > 0:
                _enhanced_strains(p, first_share, shared, end, C, E, E1, dE, w, BG, CG, L, r)
            for q in range(nq):
                for c in range(6):
                    f[12 * q + c] = S[q, c] + (p[first_stress + 6 * q + c] if prestressed else 0.0)
                    f[12 * q + 6 + c] = E1[q, c]
            continue
        for q in range(nq):
            for c in range(6):
                energy += 0.5 * w[q] * E[q, c] * S[q, c]
        f[STRAIN] = energy
        change = end - time_value(fun, p[FUNCTION], T0, 1.0)
        if change != 0.0:
            f[LOAD_WORK] = _heating_work(
                p, first_share, shared, end, change, nonlinear, g, u0, A0, C, E, E1, S, w, BG, CG, L, r
            )
        if beta != 0.0 and ctl[H] > 0.0:
            _stresses(C, dE, S, w, BG, CG, L, r)
            loss = 0.0
            for q in range(nq):
                for c in range(6):
                    loss += w[q] * dE[q, c] * S[q, c]
            f[DISSIPATED] = beta / ctl[H] * loss


def _kernels(kind):
    """Return the kernels of a kind; they pass its number to the code that all kinds share."""

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        _force(kind, job, e0, e1, ctl, par, dof, fun, Q, V, U, fe, ke)

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        _report(kind, job, e0, e1, ctl, par, dof, fun, Q, U, fe)

    return force, report


def _prestress(first, points):
    def prestress(par, outputs, factor):
        """Return parameters with the stresses of ``outputs`` (n, 12 q) times ``factor`` added to the initial
        stresses."""
        stresses = outputs.reshape(len(par), points, 2, 6)[:, :, 0]
        return with_initial_stresses(par, first, points, stresses.reshape(len(par), -1), factor)

    return prestress


def _type(name, number):
    cell, _, _ = KINDS[name]
    n, points = n_nodes(cell), int(_POINTS[number])
    force, report = _kernels(number)
    par = ("nonlinear", "damping [s]", *[f"strain0 {c}" for c in COMPONENTS])
    par += tuple(f"C{i}{j} [Pa]" for i in range(1, 7) for j in range(i, 7)) + ("function",)
    par += tuple(f"{c}{a} [m]" for a in range(1, n + 1) for c in "XYZ")
    outputs = [
        label
        for q in range(1, points + 1)
        for label in (
            *[f"S_{c} {q} [Pa]" for c in COMPONENTS],
            *[f"{'E' if i < 3 else 'gamma'}_{c} {q} [-]" for i, c in enumerate(COMPONENTS)],
        )
    ]
    return ElementType(
        name,
        3,
        ends=n,
        rotational=False,
        par=par,
        force=force,
        report=report,
        outputs=tuple(outputs),
        prestress=_prestress(NODES + 3 * n, points),
        tables=True,
    )


TYPES = {name: _type(name, number) for number, name in enumerate(KINDS)}


def parameters(X, elasticity, nonlinear=1.0, damping=0.0, strain0=0.0, function=-1.0) -> np.ndarray:
    """Return parameter rows (e, n_par) of solid elements with nodes at X (e, n, 3) [m].

    Args:
        elasticity: symmetric matrix (6, 6) or (e, 6, 6) [Pa] in global axes, components xx, yy, zz, xy, yz, zx.
        nonlinear: 1 or 0, a number or (e,).
        damping: ratio beta [s] of damping to stiffness, a number or (e,).
        strain0: initial strain (6,) or (e, 6), shear as gamma.
        function: index of a time function, the factor of the initial strain; negative: constant 1.

    Factors of the initial strain at the integration points (q) may follow these columns, for temperatures that vary in
    an element, and after them initial stresses.
    """
    X = np.asarray(X, float)
    par = np.empty((len(X), NODES + 3 * X.shape[1]))
    par[:, NONLINEAR], par[:, DAMPING] = nonlinear, damping
    par[:, STRAIN0:ELASTIC] = strain0
    rows, columns = np.triu_indices(6)
    par[:, ELASTIC:FUNCTION] = np.asarray(elasticity, float)[..., rows, columns]
    par[:, FUNCTION] = function
    par[:, NODES:] = X.reshape(len(X), -1)
    return par
