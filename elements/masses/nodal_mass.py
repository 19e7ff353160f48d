"""A dense mass matrix in the body axes of a node: `nodal_mass2` (3x3), `nodal_mass3` (6x6).

With the velocity Vb and the angular velocity W of the node in its own axes and a constant symmetric matrix,

    T = (Vb.A Vb + 2 Vb.B W + W.C W)/2,     p = R (A Vb + B W),     j = R (B^T Vb + C W),

the motion follows Kirchhoff's equations p' = f, j' + v x p = m; in inertial axes they are the generalised Newton-Euler
equations of Zahariev (eq 2).  A rigid body has A = m I and a skew B; added masses and condensed finite element models
have neither, and T is then no quadratic form in positions and directors.

Two-state rule: Vb is state of its own (`hist`), as director velocities are, with

    Vb1 = 2/h R0^T (I - theta~/2) dx - Vb0,      W1 = 2/h R0^T theta - W0,
    rows  (p1 - p0)/h   and   (j1 - j0 + dx x (p0 + p1)/2)/h.

The rows add up to the change of p and of x x p + j.  Since (I - theta~/2) R1 = (I + theta~/2) R0 for the Cayley map,
dx.(p1 - p0) + theta.(dx x (p0 + p1)/2) = h Vb_m.(pb1 - pb0) with the mean body velocity Vb_m, and theta.(j1 - j0) =
h W_m.(hb1 - hb0): their work is T1 - T0.  So energy and both momenta are kept exactly at any step; Vb agrees with
R^T v, with which every analysis starts, to O(h^2).

Weight: a mass m at the offset c (A = m I only).  Parameters: m, c, upper triangle of the matrix (v before omega).
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    GX,
    KINETIC,
    LEDGER,
    LX,
    ONE_STATE,
    POTENTIAL,
    PX,
    RULE,
    SF,
    START,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.kinematics import cayley_tangent, cross
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

MASS, ARM = 0, 1  # columns of par; the upper triangle of the matrix follows

# rows of the array S (16, 3): vectors of one element
_DX, _TH, _V0, _W0, _V1, _W1, _P0, _J0, _P1, _J1, _G, _C0, _C1, _X, _Y, _Z = range(16)


@inner
def _load(par, e, dim, M, S):
    """Fill M (6, 6) with the mass matrix, and row _X of S with the arm of the weight.

    The plane lies in x and y; its matrix has the rows and columns 0, 1, 5.
    """
    for i in range(3):
        S[_X, i] = par[e, ARM + i] if i < dim else 0.0
    n = 3 * (dim - 1)
    k = ARM + dim
    for i in range(6):
        for j in range(6):
            M[i, j] = 0.0
    for i in range(n):
        for j in range(i, n):
            a, b = (5 if dim == 2 and i == 2 else i), (5 if dim == 2 and j == 2 else j)
            M[a, b] = M[b, a] = par[e, k]
            k += 1


@inner
def _rotation(D, state, row, R):
    if D.shape[2] == 2:
        c, s = D[state, row, 0], D[state, row, 1]
        R[0, 0], R[0, 1], R[0, 2] = c, -s, 0.0
        R[1, 0], R[1, 1], R[1, 2] = s, c, 0.0
        R[2, 0], R[2, 1], R[2, 2] = 0.0, 0.0, 1.0
        return
    for i in range(3):
        for j in range(3):
            R[i, j] = D[state, row, 3 * i + j]


@inner
def _get(array, dof, e, dim, x, r):
    """Fill x and r (3,) with the translations and rotations of element e in a row ``array`` of V or in U."""
    for i in range(3):
        x[i] = array[dof[e, i]] if i < dim else 0.0
        r[i] = array[dof[e, dim + i]] if dim == 3 else 0.0
    if dim == 2:
        r[2] = array[dof[e, 2]]


@inner
def _multiply(M, v, w, p, j):
    """Write p = A v + B w and j = B^T v + C w."""
    for i in range(3):
        p[i] = j[i] = 0.0
        for k in range(3):
            p[i] += M[i, k] * v[k] + M[i, 3 + k] * w[k]
            j[i] += M[3 + i, k] * v[k] + M[3 + i, 3 + k] * w[k]


@inner
def _turn(R, v, out):
    for i in range(3):
        out[i] = R[i, 0] * v[0] + R[i, 1] * v[1] + R[i, 2] * v[2]


@inner
def _turn_back(R, v, out):
    for i in range(3):
        out[i] = R[0, i] * v[0] + R[1, i] * v[1] + R[2, i] * v[2]


@inner
def _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, R0, R1, S):
    """Fill rows _V0 .. _W1 of S with Vb and W of both ends of the step, rows _DX and _TH with dx and theta.

    Where both rows hold one state, not a step (U = 0 and equal velocities), Vb1 = Vb0.
    """
    _rotation(D, 0, rot[e, 0], R0)
    _rotation(D, 1, rot[e, 0], R1)
    h = ctl[H]
    _get(U, dof, e, dim, S[_DX], S[_TH])
    _get(V[0], dof, e, dim, S[_Y], S[_W0])
    _get(V[1], dof, e, dim, S[_Z], S[_W1])
    if ctl[RULE] == ONE_STATE:
        _turn_back(R0, S[_Y], S[_V0])
        _turn_back(R1, S[_Z], S[_V1])
        return
    moved = False
    for i in range(3):
        moved = moved or S[_DX, i] != 0 or S[_TH, i] != 0 or S[_Y, i] != S[_Z, i] or S[_W0, i] != S[_W1, i]
        S[_V0, i] = S[_V1, i] = hist[e, i] if i < dim else 0.0
    if not moved:
        return
    cross(S[_TH], S[_DX], S[_Y])
    for i in range(3):
        S[_Y, i] = S[_DX, i] - 0.5 * S[_Y, i]
    _turn_back(R0, S[_Y], S[_V1])
    _turn_back(R0, S[_TH], S[_W1])
    for i in range(3):
        S[_V1, i] = 2 / h * S[_V1, i] - S[_V0, i]
        S[_W1, i] = 2 / h * S[_W1, i] - S[_W0, i]


@inner
def _write(f, sf, x, r, dim):
    """Write the rows f of the end from vectors x, r in space, times sf."""
    for i in range(dim):
        f[i] = sf * x[i]
    if dim == 2:
        f[2] = sf * r[2]
    else:
        for i in range(3):
            f[3 + i] = sf * r[i]


@inner
def _state_rows(D, V, dof, e, M, R1, d, acc, S, a, b, vb, wb):
    """Fill a, b (3,) with the momentum rows at a state; d is the moment of the weight.

    acc gets the acceleration in body axes; S gets the momenta and their rates.
    """
    dim = 2 if D.shape[2] == 2 else 3
    # p' = R (pb' + W x pb), j' + v x p = R (hb' + W x hb + Vb x pb), Vb' = R^T a - W x Vb
    _get(V[2], dof, e, dim, a, wb)
    _turn_back(R1, a, acc)
    cross(S[_W1], S[_V1], b)
    for i in range(3):
        vb[i] = acc[i] - b[i]
    _multiply(M, S[_V1], S[_W1], S[_P1], S[_J1])
    _multiply(M, vb, wb, a, b)
    cross(S[_W1], S[_P1], S[_X])
    cross(S[_W1], S[_J1], S[_Y])
    cross(S[_V1], S[_P1], S[_Z])
    for i in range(3):
        a[i] += S[_X, i]
        b[i] += S[_Y, i] + S[_Z, i]
    _turn(R1, a, S[_X])
    _turn(R1, b, S[_Y])
    for i in range(3):
        a[i] = S[_X, i] - S[_G, i]
        b[i] = S[_Y, i] - d[i]


@inner
def _step_rows(h, M, R0, R1, d, S, a, b, c, acc):
    """Fill a, b (3,) with the momentum rows of a step; d is the moment of the weight."""
    _multiply(M, S[_V0], S[_W0], a, b)
    _turn(R0, a, S[_P0])
    _turn(R0, b, S[_J0])
    _multiply(M, S[_V1], S[_W1], a, b)
    _turn(R1, a, S[_P1])
    _turn(R1, b, S[_J1])
    for i in range(3):
        c[i] = 0.5 * (S[_P0, i] + S[_P1, i])
    cross(S[_DX], c, acc)
    for i in range(3):
        a[i] = (S[_P1, i] - S[_P0, i]) / h - S[_G, i]
        b[i] = (S[_J1, i] - S[_J0, i] + acc[i]) / h - d[i]


@inner
def _state_column(ctl, M, R1, acc, S, a, b, c, d, dv, dw, spin, vb, wb, dp, dj):
    """Fill dp, dj (3,) with the change of the momentum rows at a state by a unit translation a and spin b."""
    _turn_back(R1, b, spin)
    _turn_back(R1, a, d)
    cross(spin, S[_V1], dv)
    for i in range(3):
        dv[i] = ctl[WV] * d[i] - dv[i]
        dw[i] = ctl[WV] * spin[i]
    cross(spin, acc, dp)
    for i in range(3):
        d[i] = ctl[WA] * d[i] - dp[i]
    cross(dw, S[_V1], dp)
    cross(S[_W1], dv, dj)
    for i in range(3):
        d[i] -= dp[i] + dj[i]  # change of Vb'
        c[i] = ctl[WA] * spin[i]
    _multiply(M, d, c, vb, wb)
    _multiply(M, dv, dw, dp, dj)
    cross(dw, S[_P1], d)
    cross(S[_W1], dp, c)
    for i in range(3):
        vb[i] += d[i] + c[i]
    cross(dw, S[_J1], d)
    cross(S[_W1], dj, c)
    for i in range(3):
        wb[i] += d[i] + c[i]
    cross(dv, S[_P1], d)
    cross(S[_V1], dp, c)
    for i in range(3):
        wb[i] += d[i] + c[i]
    _turn(R1, vb, dp)
    _turn(R1, wb, dj)
    cross(b, S[_X], d)
    cross(b, S[_Y], c)
    for i in range(3):
        dp[i] += d[i]
        dj[i] += c[i]
    cross(b, S[_C1], d)
    cross(d, S[_G], c)
    for i in range(3):
        dj[i] -= c[i]


@inner
def _step_column(h, M, R0, R1, T, S, a, b, c, d, dv, dw, spin, vb, wb, dp, dj):
    """Fill dp, dj (3,) with the change of the momentum rows of a step by a unit translation a and Cayley vector b."""
    for i in range(3):
        spin[i] = T[i, 0] * b[0] + T[i, 1] * b[1] + T[i, 2] * b[2]
    cross(b, S[_DX], c)
    cross(S[_TH], a, d)
    for i in range(3):
        c[i] = a[i] - 0.5 * (c[i] + d[i])
    _turn_back(R0, c, dv)
    _turn_back(R0, b, dw)
    _multiply(M, dv, dw, vb, wb)
    _turn(R1, vb, dp)
    _turn(R1, wb, dj)
    cross(spin, S[_P1], c)
    cross(spin, S[_J1], d)
    for i in range(3):
        dp[i] = (2 / h * dp[i] + c[i]) / h
        dj[i] = (2 / h * dj[i] + d[i]) / h
        c[i] = 0.5 * (S[_P0, i] + S[_P1, i]) / h
    cross(a, c, d)
    cross(S[_DX], dp, c)
    for i in range(3):
        dj[i] += d[i] + 0.5 * c[i]
    cross(spin, S[_C1], d)
    cross(d, S[_G], c)
    for i in range(3):
        dj[i] -= 0.5 * c[i]


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    h, sf = ctl[H], ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    n = 3 * (dim - 1)
    M = scratch(6, 6)
    R0, R1, T = scratch(3, 3), scratch(3, 3), scratch(3, 3)
    S = scratch(16, 3)
    dv, dw, spin, vb, wb = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)  # work
    a, b, c, d = scratch(3), scratch(3), scratch(3), scratch(3)
    acc, dp, dj, column = scratch(3), scratch(3), scratch(3), np.empty(n)
    for e in range(e0, e1):
        _load(par, e, dim, M, S)
        for i in range(3):
            acc[i] = S[_X, i]
        _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, R0, R1, S)
        _turn(R0, acc, S[_C0])
        _turn(R1, acc, S[_C1])
        for i in range(3):
            S[_G, i] = par[e, MASS] * ctl[GX + i] if i < dim else 0.0
            c[i] = 0.5 * (S[_C0, i] + S[_C1, i])
        cross(c, S[_G], d)  # moment of the weight
        if one_state:
            _state_rows(D, V, dof, e, M, R1, d, acc, S, a, b, vb, wb)
        else:
            _step_rows(h, M, R0, R1, d, S, a, b, c, acc)
        _write(fe[e - e0], sf, a, b, dim)
        if job != TANGENT:
            continue
        K = ke[e - e0]
        if not one_state:
            cayley_tangent(S[_TH, 0], S[_TH, 1], S[_TH, 2], T)
        for k in range(n):
            # unit increments: translation a, Cayley vector or spin b
            for i in range(3):
                a[i] = b[i] = 0.0
            if k < dim:
                a[k] = 1.0
            elif dim == 2:
                b[2] = 1.0
            else:
                b[k - 3] = 1.0
            if one_state:
                _state_column(ctl, M, R1, acc, S, a, b, c, d, dv, dw, spin, vb, wb, dp, dj)
            else:
                _step_column(h, M, R0, R1, T, S, a, b, c, d, dv, dw, spin, vb, wb, dp, dj)
            _write(column, sf, dp, dj, dim)
            for i in range(n):
                K[i, k] = column[i]


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    M = scratch(6, 6)
    R0, R1 = scratch(3, 3), scratch(3, 3)
    S = scratch(16, 3)
    p, j, x = scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        if job == START:
            _rotation(D, 1, rot[e, 0], R1)
            _get(V[1], dof, e, dim, S[_Y], S[_Z])
            _turn_back(R1, S[_Y], x)
            for i in range(dim):
                hist[e, i] = x[i]
            continue
        _load(par, e, dim, M, S)
        for i in range(3):
            x[i] = S[_X, i]
        _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, R0, R1, S)
        if job == COMMIT:
            for i in range(dim):
                hist[e, i] = S[_V1, i]
        elif job == LEDGER:
            f = fe[e - e0]
            _turn(R1, x, S[_C1])
            _multiply(M, S[_V1], S[_W1], p, j)
            for i in range(3):
                f[KINETIC] += 0.5 * (S[_V1, i] * p[i] + S[_W1, i] * j[i])
            _turn(R1, p, S[_P1])
            _turn(R1, j, S[_J1])
            for i in range(3):
                x[i] = Q[1, dof[e, i]] if i < dim else 0.0
                if i < dim:
                    f[POTENTIAL] -= par[e, MASS] * ctl[GX + i] * (x[i] + S[_C1, i])
                f[PX + i] = S[_P1, i]
            cross(x, S[_P1], p)
            for i in range(3):
                f[LX + i] = S[_J1, i] + p[i]


def _type(dimension):
    axes = "xyz"[:dimension]
    n = 3 * (dimension - 1)
    pairs = (f"M{i}{j}" for i in range(1, n + 1) for j in range(i, n + 1))
    return ElementType(
        name=f"nodal_mass{dimension}",
        dimension=dimension,
        ends=1,
        rotational=True,
        par=("mass [kg]", *(f"c{c} [m]" for c in axes), *pairs),
        hist=dimension,
        force=_force,
        report=_report,
        inertia=True,
    )


TYPES = {t.name: t for t in (_type(2), _type(3))}
