"""Plane and axisymmetric solid elements: triangles and quadrilaterals, linear or total-Lagrangian.

The formulas of `fem_mbs.elements.solids.space` with the components xx, yy, zz, xy (gamma_xy = 2 E_xy).  ``plane_*``:
E_zz = 0; plane stress and plane strain differ only in the matrix C (`fem_mbs.elements.solids.material.plane`), whose
row zz gives S_zz.
``axisymmetric_*``: about the y axis, x the radius (> 0 at the integration points); with h = u_x / X

    E_zz = h + h^2/2  (nonlinear),   h  (linear):   quadratic in the positions too, so steps stay exact.

The column ``thickness`` holds the thickness [m] of plane elements.  For axisymmetric elements it holds the angle [rad]
that the element fills; with 2 pi the forces are those of the whole ring.

C: 10 numbers, rows of the upper triangle.  Initial stresses per integration point (xx, yy, zz, xy) may follow the
parameters.  Outputs per integration point: second Piola-Kirchhoff stress of the step, strain at its end.  In plane
stress E_zz is given as zero.  Zero modes of one element beyond the rigid ones (three in the plane, one about an axis):
one of ``plane_quad8_reduced`` and of ``axisymmetric_triangle``, which do not spread over a mesh.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
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
from fem_mbs.elements.solids.shapes import gradients, n_nodes, rule, shape_functions
from fem_mbs.elements.solids.strains import heat, tail, with_initial_stresses

__all__ = ["COMPONENTS", "KINDS", "TYPES", "parameters"]

COMPONENTS = ("xx", "yy", "zz", "xy")
NONLINEAR, DAMPING, THICKNESS, STRAIN0, ELASTIC, FUNCTION, NODES = 0, 1, 2, 3, 7, 17, 18

#: type -> (cell, integration, axisymmetric)
KINDS = {
    f"{family}_{cell}{'_reduced' if name == 'reduced' else ''}": (cell, name, family == "axisymmetric")
    for family in ("plane", "axisymmetric")
    for cell, name in (
        ("triangle", "full"),
        ("triangle6", "full"),
        ("quad", "full"),
        ("quad8", "full"),
        ("quad8", "reduced"),
    )
}


def _tables():
    """Return weights, gradients and shape functions of all kinds in one array, where each kind begins, and its point
    count."""
    rows, start, points, at = [], [], [], 0
    for cell, name, _ in KINDS.values():
        x, w = rule(cell, name)
        table = np.hstack((w[:, None], gradients(cell, x).reshape(len(w), -1), shape_functions(cell, x)))
        rows.append(table.ravel())
        start.append(at)
        points.append(len(w))
        at += table.size
    return np.concatenate(rows), np.array(start), np.array(points)


_TABLE, _START, _POINTS = _tables()
_RING = np.array([k[2] for k in KINDS.values()])


@inner
def _geometry(kind, p, n, g, w):
    """Fill g and w with the shape functions' gradients and the volumes of the integration points.

    g[q, :2] holds the gradients, g[q, 2] the quotients N/X (zero in the plane), w (q,) the volumes.
    """
    width = 1 + 3 * n
    for q in range(_POINTS[kind]):
        at = _START[kind] + q * width
        a00, a01, a10, a11, radius = 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(n):
            X, Y = p[NODES + 2 * a], p[NODES + 2 * a + 1]
            d0, d1 = _TABLE[at + 1 + a], _TABLE[at + 1 + n + a]
            a00 += X * d0
            a01 += X * d1
            a10 += Y * d0
            a11 += Y * d1
            radius += X * _TABLE[at + 1 + 2 * n + a]
        det = a00 * a11 - a01 * a10
        w[q] = det * _TABLE[at] * p[THICKNESS]
        if _RING[kind]:
            w[q] *= radius
        for a in range(n):
            d0, d1 = _TABLE[at + 1 + a], _TABLE[at + 1 + n + a]
            g[q, 0, a] = (a11 * d0 - a10 * d1) / det
            g[q, 1, a] = (a00 * d1 - a01 * d0) / det
            g[q, 2, a] = _TABLE[at + 1 + 2 * n + a] / radius if _RING[kind] else 0.0


@inner
def _elasticity(p, C):
    """Fill C (4, 4) from the rows of its upper triangle."""
    k = ELASTIC
    for i in range(4):
        for j in range(i, 4):
            C[i, j] = p[k]
            C[j, i] = p[k]
            k += 1


@inner
def _gradient(g, u, n, A):
    """Fill A (5,) with the displacement gradient xx, xy, yx, yy, and u_x / X."""
    for k in range(5):
        A[k] = 0.0
    for a in range(n):
        x, y = u[a, 0], u[a, 1]
        A[0] += x * g[0, a]
        A[1] += x * g[1, a]
        A[2] += y * g[0, a]
        A[3] += y * g[1, a]
        A[4] += x * g[2, a]


@inner
def _strain(A, nonlinear, factor, E):
    """Add factor times Green's strain, or the small strain, of the displacement gradient A to E."""
    s = 0.5 if nonlinear else 0.0
    E[0] += factor * (A[0] + s * (A[0] * A[0] + A[2] * A[2]))
    E[1] += factor * (A[3] + s * (A[1] * A[1] + A[3] * A[3]))
    E[2] += factor * (A[4] + s * A[4] * A[4])
    E[3] += factor * (A[1] + A[2] + 2.0 * s * (A[0] * A[1] + A[2] * A[3]))


@inner
def _rate(F, A, factor, E):
    """Add factor times the change of the strain along the displacement gradient A, at the deformation gradient F, to
    E."""
    E[0] += factor * (F[0] * A[0] + F[2] * A[2])
    E[1] += factor * (F[1] * A[1] + F[3] * A[3])
    E[2] += factor * F[4] * A[4]
    E[3] += factor * (F[0] * A[1] + F[1] * A[0] + F[2] * A[3] + F[3] * A[2])


@inner
def _strain_matrix(F, g, n, B):
    """Fill B (4, 2 n) with the derivatives of the strain by the displacements."""
    for a in range(n):
        x, y = g[0, a], g[1, a]
        for i in range(2):
            B[0, 2 * a + i] = F[2 * i] * x
            B[1, 2 * a + i] = F[2 * i + 1] * y
            B[3, 2 * a + i] = F[2 * i] * y + F[2 * i + 1] * x
        B[2, 2 * a] = F[4] * g[2, a]
        B[2, 2 * a + 1] = 0.0


@inner
def _stress(C, E, S):
    """Write C E to S."""
    for i in range(4):
        S[i] = C[i, 0] * E[0] + C[i, 1] * E[1] + C[i, 2] * E[2] + C[i, 3] * E[3]


@inner
def _force(kind, job, e0, e1, ctl, par, dof, fun, Q, V, U, fe, ke):
    n = dof.shape[1] // 2
    nl, nq = 2 * n, _POINTS[kind]
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    first_share = NODES + nl
    shared, first_stress, prestressed = tail(par.shape[1], first_share, nq, 4)
    g, w, C = np.empty((nq, 3, n)), np.empty(nq), scratch(4, 4)
    unit = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    A0, A1, Ad, F, F1, Fm, Fs = (
        scratch(5), scratch(5), scratch(5), scratch(5), scratch(5), scratch(5), scratch(5)
    )  # fmt: skip
    u0, u1, du = np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
    E, S, S0, T = scratch(4), scratch(4), cleared(4), scratch(4)
    Bm, Bs, CB = np.empty((4, nl)), np.empty((4, nl)), np.empty((4, nl))
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        nonlinear = p[NONLINEAR] != 0.0
        beta = p[DAMPING] + ctl[DECAY]
        level = heat(ctl, fun, p[FUNCTION])
        _geometry(kind, p, n, g, w)
        _elasticity(p, C)
        for a in range(n):
            for i in range(2):
                k = dof[e, 2 * a + i]
                X = p[NODES + 2 * a + i]
                u0[a, i], u1[a, i] = Q[0, k] - X, Q[1, k] - X
                du[a, i] = V[1, k] if one_state else U[k]
        for i in range(nl):
            f[i] = 0.0
        K = ke[e - e0] if job == TANGENT else CB
        if job == TANGENT:
            K[:] = 0.0
        for q in range(nq):
            gq = g[q]
            _gradient(gq, u0, n, A0)
            _gradient(gq, u1, n, A1)
            heated = level * p[first_share + q] if shared else level
            for c in range(4):
                E[c] = -heated * p[STRAIN0 + c]
            _strain(A0, nonlinear, 0.5, E)
            _strain(A1, nonlinear, 0.5, E)
            for k in range(5):
                Fm[k] = unit[k] + 0.5 * (A0[k] + A1[k])
                F1[k] = unit[k] + (A1[k] if nonlinear else 0.0)
                F[k] = Fm[k] if nonlinear else unit[k]
                Fs[k] = 0.5 * F1[k]
            if beta != 0.0:
                _gradient(gq, du, n, Ad)
                _rate(F1 if one_state else F, Ad, beta if one_state else beta / h, E)
                for k in range(5):
                    if one_state:
                        # sk is twice sf here, the rate is not: half of its derivative
                        Fs[k] += 0.5 * beta * (ctl[WV] * F1[k] + (Ad[k] if nonlinear else 0.0))
                    else:
                        Fs[k] += beta / h * F1[k]
            _stress(C, E, S)
            if prestressed:
                for c in range(4):
                    S0[c] = p[first_stress + 4 * q + c]
            # T: the stresses that rotate with the body: all, or the initial ones of a linear element
            for c in range(4):
                T[c] = S0[c] + (S[c] if nonlinear else 0.0)
            for a in range(n):
                x, y = gq[0, a], gq[1, a]
                sx, sy = T[0] * x + T[3] * y, T[3] * x + T[1] * y
                fx, fy = Fm[0] * sx + Fm[1] * sy + Fm[4] * T[2] * gq[2, a], Fm[2] * sx + Fm[3] * sy
                if not nonlinear:
                    fx += S[0] * x + S[3] * y + S[2] * gq[2, a]
                    fy += S[3] * x + S[1] * y
                f[2 * a] += sf * w[q] * fx
                f[2 * a + 1] += sf * w[q] * fy
            if job == TANGENT:
                _strain_matrix(F, gq, n, Bm)
                _strain_matrix(Fs, gq, n, Bs)
                c = sk * w[q]
                for i in range(4):
                    for j in range(nl):
                        s = C[i, 0] * Bs[0, j] + C[i, 1] * Bs[1, j] + C[i, 2] * Bs[2, j] + C[i, 3] * Bs[3, j]
                        CB[i, j] = c * s
                for i in range(nl):
                    b0, b1, b2, b3 = Bm[0, i], Bm[1, i], Bm[2, i], Bm[3, i]
                    for j in range(nl):
                        K[i, j] += b0 * CB[0, j] + b1 * CB[1, j] + b2 * CB[2, j] + b3 * CB[3, j]
                c *= 0.5
                for a in range(n):
                    sx = c * (T[0] * gq[0, a] + T[3] * gq[1, a])
                    sy = c * (T[3] * gq[0, a] + T[1] * gq[1, a])
                    sz = c * T[2] * gq[2, a]
                    for b in range(n):
                        s = sx * gq[0, b] + sy * gq[1, b]
                        K[2 * a, 2 * b] += s + sz * gq[2, b]
                        K[2 * a + 1, 2 * b + 1] += s


@inner
def _report(kind, job, e0, e1, ctl, par, dof, fun, Q, U, fe):
    if job != LEDGER and job != OUTPUT:
        return
    n = dof.shape[1] // 2
    nq = _POINTS[kind]
    start = 0.0 if ctl[RULE] == ONE_STATE else 0.5
    first_share = NODES + 2 * n
    shared, first_stress, prestressed = tail(par.shape[1], first_share, nq, 4)
    g, w, C = np.empty((nq, 3, n)), np.empty(nq), scratch(4, 4)
    unit = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    A0, A1, Ad, F = scratch(5), scratch(5), scratch(5), scratch(5)
    u0, u1, du = np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
    E, E1, dE, S, green = scratch(4), scratch(4), scratch(4), scratch(4), scratch(4)
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        nonlinear = p[NONLINEAR] != 0.0
        beta = p[DAMPING] + ctl[DECAY]
        end = time_value(fun, p[FUNCTION], T1, 1.0)
        change = end - time_value(fun, p[FUNCTION], T0, 1.0)
        level = end if job == LEDGER else heat(ctl, fun, p[FUNCTION])
        _geometry(kind, p, n, g, w)
        _elasticity(p, C)
        for a in range(n):
            for i in range(2):
                k = dof[e, 2 * a + i]
                X = p[NODES + 2 * a + i]
                u0[a, i], u1[a, i], du[a, i] = Q[0, k] - X, Q[1, k] - X, U[k]
        for q in range(nq):
            _gradient(g[q], u0, n, A0)
            _gradient(g[q], u1, n, A1)
            share = p[first_share + q] if shared else 1.0
            for c in range(4):
                E[c] = -level * share * p[STRAIN0 + c]
                E1[c] = 0.0
                green[c] = 0.0
                dE[c] = 0.0
            _strain(A1, nonlinear, 1.0, E1)
            if job == OUTPUT:
                _strain(A0, nonlinear, start, E)
                _strain(A1, nonlinear, 1.0 - start, E)
                _stress(C, E, S)
                for c in range(4):
                    f[8 * q + c] = S[c] + (p[first_stress + 4 * q + c] if prestressed else 0.0)
                    f[8 * q + 4 + c] = E1[c]
                continue
            if change != 0.0:
                # work of heating: minus mean stress times change of the initial strain
                for c in range(4):
                    E[c] += 0.5 * (E1[c] + change * share * p[STRAIN0 + c])
                _strain(A0, nonlinear, 0.5, E)
                _stress(C, E, S)
                for c in range(4):
                    f[LOAD_WORK] -= w[q] * S[c] * change * share * p[STRAIN0 + c]
                    E[c] = -level * share * p[STRAIN0 + c]
            for c in range(4):
                E[c] += E1[c]
            _stress(C, E, S)
            for c in range(4):
                f[STRAIN] += 0.5 * w[q] * E[c] * S[c]
            if prestressed:
                _strain(A1, True, 1.0, green)
                for c in range(4):
                    f[STRAIN] += w[q] * p[first_stress + 4 * q + c] * green[c]
            if beta != 0.0 and ctl[H] > 0.0:
                _gradient(g[q], du, n, Ad)
                for k in range(5):
                    F[k] = unit[k] + (0.5 * (A0[k] + A1[k]) if nonlinear else 0.0)
                _rate(F, Ad, 1.0, dE)
                _stress(C, dE, S)
                for c in range(4):
                    f[DISSIPATED] += beta / ctl[H] * w[q] * dE[c] * S[c]


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
        """Return parameters with the stresses of ``outputs`` (n, 8 q) times ``factor`` added to the initial
        stresses."""
        stresses = outputs.reshape(len(par), points, 2, 4)[:, :, 0]
        return with_initial_stresses(par, first, points, stresses.reshape(len(par), -1), factor)

    return prestress


def _type(name, number):
    cell, _, ring = KINDS[name]
    n, points = n_nodes(cell), int(_POINTS[number])
    force, report = _kernels(number)
    par = ("nonlinear", "damping [s]", "thickness [rad]" if ring else "thickness [m]")
    par += tuple(f"strain0 {c}" for c in COMPONENTS)
    par += tuple(f"C{i}{j} [Pa]" for i in range(1, 5) for j in range(i, 5)) + ("function",)
    par += tuple(f"{c}{a} [m]" for a in range(1, n + 1) for c in "XY")
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
        2,
        ends=n,
        rotational=False,
        par=par,
        force=force,
        report=report,
        outputs=tuple(outputs),
        prestress=_prestress(NODES + 2 * n, points),
        tables=True,
    )


TYPES = {name: _type(name, number) for number, name in enumerate(KINDS)}


def parameters(X, elasticity, thickness=1.0, nonlinear=1.0, damping=0.0, strain0=0.0, function=-1.0) -> np.ndarray:
    """Return parameter rows (e, n_par) of plane or axisymmetric elements with nodes at X (e, n, 2) [m].

    Args:
        elasticity: symmetric matrix (4, 4) or (e, 4, 4) [Pa] over xx, yy, zz, xy; see
            `fem_mbs.elements.solids.material.plane`.
        thickness: thickness [m], a number or (e,); of axisymmetric elements the angle [rad], 2 pi for whole rings.
        nonlinear: 1 or 0, a number or (e,).
        damping: ratio beta [s] of damping to stiffness, a number or (e,).
        strain0: initial strain (4,) or (e, 4), shear as gamma; in plane stress its zz has no effect.
        function: index of a time function, the factor of the initial strain; negative: constant 1.

    Further columns may follow, as in `fem_mbs.elements.solids.space.parameters`.
    """
    X = np.asarray(X, float)
    par = np.empty((len(X), NODES + 2 * X.shape[1]))
    par[:, NONLINEAR], par[:, DAMPING], par[:, THICKNESS] = nonlinear, damping, thickness
    par[:, STRAIN0:ELASTIC] = strain0
    rows, columns = np.triu_indices(4)
    par[:, ELASTIC:FUNCTION] = np.asarray(elasticity, float)[..., rows, columns]
    par[:, FUNCTION] = function
    par[:, NODES:] = X.reshape(len(X), -1)
    return par
