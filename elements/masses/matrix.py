"""Dense mass matrices over n nodes: `translational_mass2_n`, `turning_mass2_n` and those of space (3).

``translational_mass``  T = 1/2 sum m_ij v_i.v_j: the same in all directions of space (consistent masses of solids).  As
    `fem_mbs.elements.masses.lumped`, exact in energy and both momenta; the weight is that of the sums of the rows.

``turning_mass``  T = 1/2 sum_ij (Vb_i, W_i).M_ij (Vb_j, W_j) with the velocity Vb_i and the angular velocity W_i of
    each node in its own axes, which turn with it: the mass matrix of a finite element discretisation or a reduction
    that turns node by node (Zahariev, eq 4).  With the momenta (pb_i, hb_i) = sum_j M_ij (Vb_j, W_j), p_i = R_i pb_i
    and j_i = R_i hb_i, the motion follows p_i' = f_i, j_i' + v_i x p_i = m_i.  T is invariant under translations and
    rotations of the whole, so that both momenta, sum p_i and sum x_i x p_i + j_i, are kept.

Two-state rule of the second (as of `fem_mbs.elements.masses.nodal_mass`, which is that of one node): Vb is state of
its own (`hist`), with

    Vb1 = 2/h R0^T (I - theta~/2) dx - Vb0,      W1 = 2/h R0^T theta - W0,
    rows  (p1 - p0)/h   and   (j1 - j0 + dx x (p0 + p1)/2)/h.

Since (I - theta~/2) R1 = (I + theta~/2) R0, the work of the rows of node i is h (Vb_m, W_m)_i.((pb, hb)_1 - (pb,
hb)_0)_i; M is symmetric, so that all add up to T1 - T0.  Energy and both momenta are exact at any step.

The weight is a force w_i g at each node.  Parameters: the mass, sum m_ij (`turning_mass`: w_i), then the upper
triangle of the matrix.
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
    LZ,
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
from fem_mbs.elements.kinematics import cayley_tangent, cross, rotate
from fem_mbs.elements.registry import ElementType

__all__ = ["make_type"]


@inner
def _matrix(par, e, first, M):
    """Fill M (m, m) from its upper triangle in the columns from ``first`` on."""
    k = first
    for i in range(M.shape[0]):
        for j in range(i, M.shape[0]):
            M[i, j] = M[j, i] = par[e, k]
            k += 1


# --- the same in all directions --------------------------------------------------------------------------------------
@kernel
def _translational_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    h, sf = ctl[H], ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    M, a = np.empty((n, n)), np.empty(n)
    factor = sf * ctl[WA] if one_state else 1.0
    for e in range(e0, e1):
        _matrix(par, e, 1, M)
        if job == TANGENT:
            for i in range(n * dim):
                for j in range(n * dim):
                    ke[e - e0, i, j] = 0.0
        for c in range(dim):
            for i in range(n):
                k = dof[e, dim * i + c]
                a[i] = (sf * V[2, k] if one_state else U[k] - h * V[0, k]) - sf * ctl[GX + c]
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += M[i, j] * a[j]
                    if job == TANGENT:
                        ke[e - e0, dim * i + c, dim * j + c] = factor * M[i, j]
                fe[e - e0, dim * i + c] = total


@kernel
def _translational_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    M, x, p = np.empty((n, n)), scratch(3), scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, 1, M)
        for i in range(n):
            weight = 0.0
            for j in range(n):
                weight += M[i, j]
            for c in range(3):
                x[c] = p[c] = 0.0
            for c in range(dim):
                x[c] = Q[1, dof[e, dim * i + c]]
                for j in range(n):
                    p[c] += M[i, j] * V[1, dof[e, dim * j + c]]
                f[KINETIC] += 0.5 * p[c] * V[1, dof[e, dim * i + c]]
                f[POTENTIAL] -= weight * ctl[GX + c] * x[c]
                f[PX + c] += p[c]
            _add_moment(f, x, p)


@inner
def _add_moment(f, x, p):
    f[LX] += x[1] * p[2] - x[2] * p[1]
    f[LX + 1] += x[2] * p[0] - x[0] * p[2]
    f[LZ] += x[0] * p[1] - x[1] * p[0]


# --- turning with the nodes ------------------------------------------------------------------------------------------
# A node has six rows here also in the plane, of which this uses the first two and the last.
# Rows of the work arrays S and Z (15, n, 3) of a vector per node:
_DX, _TH, _V0, _W0, _V1, _W1, _P0, _J0, _P1, _J1, _A, _B, _X, _Y, _ACC = range(15)


@inner
def _row(k, dim):
    """Return the row 0 .. 5 of dof k of a node."""
    return 5 if dim == 2 and k == 2 else k


@inner
def _full_matrix(par, e, n, dim, M):
    """Fill M (6 n, 6 n)."""
    nd = 3 * (dim - 1)
    for i in range(M.shape[0]):
        for j in range(M.shape[0]):
            M[i, j] = 0.0
    k = n
    for i in range(n * nd):
        a = 6 * (i // nd) + _row(i % nd, dim)
        for j in range(i, n * nd):
            b = 6 * (j // nd) + _row(j % nd, dim)
            M[a, b] = M[b, a] = par[e, k]
            k += 1


@inner
def _turn_back(D, state, row, v, out):
    """Write R^T v (three components; v is not out)."""
    if D.shape[2] == 2:
        c, s = D[state, row, 0], D[state, row, 1]
        out[0], out[1], out[2] = c * v[0] + s * v[1], -s * v[0] + c * v[1], v[2]
        return
    for i in range(3):
        out[i] = D[state, row, i] * v[0] + D[state, row, 3 + i] * v[1] + D[state, row, 6 + i] * v[2]


@inner
def _turn(D, state, row, v, out):
    """Write R v (three components; v is not out)."""
    if D.shape[2] == 2:
        c, s = D[state, row, 0], D[state, row, 1]
        out[0], out[1], out[2] = c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]
        return
    rotate(D, state, row, v[0], v[1], v[2], out)


@inner
def _get(array, dof, e, node, dim, x, r):
    """Fill x and r (3,) with translation and rotation of a node in a row ``array`` of V or in U."""
    at = 3 * (dim - 1) * node
    for i in range(3):
        x[i] = array[dof[e, at + i]] if i < dim else 0.0
        r[i] = array[dof[e, at + 3 + i]] if dim == 3 else 0.0
    if dim == 2:
        r[2] = array[dof[e, at + 2]]


@inner
def _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, S):
    """Fill the rows _DX .. _W1 of S with increments and body velocities at both ends of the step.

    Where both rows hold one state, not a step (no increments and equal velocities), those at the end are those at the
    start.
    """
    n = S.shape[1]
    h = ctl[H]
    moved = False
    a, b = scratch(3), scratch(3)
    for k in range(n):
        _get(U, dof, e, k, dim, S[_DX, k], S[_TH, k])
        _get(V[0], dof, e, k, dim, a, S[_W0, k])
        _get(V[1], dof, e, k, dim, b, S[_W1, k])
        _turn_back(D, 0, rot[e, k], a, S[_V0, k])
        _turn_back(D, 1, rot[e, k], b, S[_V1, k])
        for i in range(3):
            moved = moved or S[_DX, k, i] != 0 or S[_TH, k, i] != 0 or a[i] != b[i] or S[_W0, k, i] != S[_W1, k, i]
    if ctl[RULE] == ONE_STATE:
        return
    for k in range(n):
        for i in range(3):
            S[_V0, k, i] = S[_V1, k, i] = hist[e, k * dim + i] if i < dim else 0.0
        if not moved:
            continue
        cross(S[_TH, k], S[_DX, k], a)
        for i in range(3):
            a[i] = S[_DX, k, i] - 0.5 * a[i]
        _turn_back(D, 0, rot[e, k], a, S[_V1, k])
        _turn_back(D, 0, rot[e, k], S[_TH, k], S[_W1, k])
        for i in range(3):
            S[_V1, k, i] = 2 / h * S[_V1, k, i] - S[_V0, k, i]
            S[_W1, k, i] = 2 / h * S[_W1, k, i] - S[_W0, k, i]


@inner
def _momenta(M, S, v, w, p, j):
    """Write the momenta in body axes to the rows p, j of S, from velocities in the rows v, w."""
    for a in range(S.shape[1]):
        for i in range(3):
            first = second = 0.0
            for b in range(S.shape[1]):
                for c in range(3):
                    first += M[6 * a + i, 6 * b + c] * S[v, b, c] + M[6 * a + i, 6 * b + 3 + c] * S[w, b, c]
                    second += M[6 * a + 3 + i, 6 * b + c] * S[v, b, c] + M[6 * a + 3 + i, 6 * b + 3 + c] * S[w, b, c]
            S[p, a, i], S[j, a, i] = first, second


@inner
def _write(f, node, sf, x, r, dim):
    """Write vectors x, r in space, times sf, to the rows f of a node."""
    at = 3 * (dim - 1) * node
    for i in range(dim):
        f[at + i] = sf * x[i]
    if dim == 2:
        f[at + 2] = sf * r[2]
    else:
        for i in range(3):
            f[at + 3 + i] = sf * r[i]


@inner
def _step_rows(h, M, D, rot, e, S):
    """Fill the rows _A, _B of S with forces and moments of a step, _P0 .. _J1 with the momenta in space."""
    a, b = scratch(3), scratch(3)
    _momenta(M, S, _V0, _W0, _P0, _J0)
    _momenta(M, S, _V1, _W1, _P1, _J1)
    for k in range(S.shape[1]):
        for state in range(2):
            p, j = _P0 + 2 * state, _J0 + 2 * state
            for i in range(3):
                a[i], b[i] = S[p, k, i], S[j, k, i]
            _turn(D, state, rot[e, k], a, S[p, k])
            _turn(D, state, rot[e, k], b, S[j, k])
        for i in range(3):
            a[i] = 0.5 * (S[_P0, k, i] + S[_P1, k, i])
        cross(S[_DX, k], a, b)
        for i in range(3):
            S[_A, k, i] = (S[_P1, k, i] - S[_P0, k, i]) / h
            S[_B, k, i] = (S[_J1, k, i] - S[_J0, k, i] + b[i]) / h


@inner
def _state_rows(M, D, V, dof, rot, e, dim, S):
    """Fill the rows _A, _B of S with forces and moments at a state, _ACC with accelerations in body axes, _P1, _J1 with
    the momenta in body axes; _P0, _J0, _X and _Y are work space."""
    a, b = scratch(3), scratch(3)
    _momenta(M, S, _V1, _W1, _P1, _J1)
    for k in range(S.shape[1]):
        _get(V[2], dof, e, k, dim, a, S[_Y, k])
        _turn_back(D, 1, rot[e, k], a, S[_ACC, k])
        cross(S[_W1, k], S[_V1, k], b)
        for i in range(3):
            S[_X, k, i] = S[_ACC, k, i] - b[i]
    _momenta(M, S, _X, _Y, _P0, _J0)
    for k in range(S.shape[1]):
        _add_gyroscopic(S, k, _P0, _J0)
        _turn(D, 1, rot[e, k], S[_P0, k], S[_A, k])
        _turn(D, 1, rot[e, k], S[_J0, k], S[_B, k])


@inner
def _add_gyroscopic(S, k, p, j):
    """Add W x pb to row p, and W x hb + Vb x pb to row j of node k."""
    a, b, c = scratch(3), scratch(3), scratch(3)
    cross(S[_W1, k], S[_P1, k], a)
    cross(S[_W1, k], S[_J1, k], b)
    cross(S[_V1, k], S[_P1, k], c)
    for i in range(3):
        S[p, k, i] += a[i]
        S[j, k, i] += b[i] + c[i]


@inner
def _step_columns(h, M, D, rot, e, m, a, b, T, S, Z):
    """Fill the rows _A, _B of Z with the change of those of a step by a translation a and Cayley vector b of node m."""
    n = S.shape[1]
    c, d = scratch(3), scratch(3)
    dv, dw, spin = scratch(3), scratch(3), scratch(3)
    for i in range(3):
        spin[i] = T[m, i, 0] * b[0] + T[m, i, 1] * b[1] + T[m, i, 2] * b[2]
    cross(b, S[_DX, m], c)
    cross(S[_TH, m], a, d)
    for i in range(3):
        c[i] = 2 / h * (a[i] - 0.5 * (c[i] + d[i]))
        d[i] = 2 / h * b[i]
    _turn_back(D, 0, rot[e, m], c, dv)
    _turn_back(D, 0, rot[e, m], d, dw)
    for k in range(n):
        for i in range(3):
            c[i] = d[i] = 0.0
            for q in range(3):
                c[i] += M[6 * k + i, 6 * m + q] * dv[q] + M[6 * k + i, 6 * m + 3 + q] * dw[q]
                d[i] += M[6 * k + 3 + i, 6 * m + q] * dv[q] + M[6 * k + 3 + i, 6 * m + 3 + q] * dw[q]
        _turn(D, 1, rot[e, k], c, Z[_A, k])
        _turn(D, 1, rot[e, k], d, Z[_B, k])
        if k == m:
            cross(spin, S[_P1, k], c)
            cross(spin, S[_J1, k], d)
            for i in range(3):
                Z[_A, k, i] += c[i]
                Z[_B, k, i] += d[i]
        cross(S[_DX, k], Z[_A, k], c)
        for i in range(3):
            Z[_B, k, i] += 0.5 * c[i]
        if k == m:
            for i in range(3):
                c[i] = 0.5 * (S[_P0, k, i] + S[_P1, k, i])
            cross(a, c, d)
            for i in range(3):
                Z[_B, k, i] += d[i]
        for i in range(3):
            Z[_A, k, i] /= h
            Z[_B, k, i] /= h


@inner
def _state_columns(ctl, M, D, rot, e, m, a, b, S, Z):
    """Fill the rows _A, _B of Z with the change of those at a state by a translation a and a spin b of node m."""
    n = S.shape[1]
    c, d, spin = scratch(3), scratch(3), scratch(3)
    for q in (_V0, _W0, _V1, _W1):
        for k in range(n):
            for i in range(3):
                Z[q, k, i] = 0.0
    _turn_back(D, 1, rot[e, m], b, spin)
    _turn_back(D, 1, rot[e, m], a, d)
    # _V1, _W1: change of the velocities; _V0, _W0: of their rates
    cross(spin, S[_V1, m], c)
    for i in range(3):
        Z[_V1, m, i] = ctl[WV] * d[i] - c[i]
        Z[_W1, m, i] = ctl[WV] * spin[i]
        Z[_W0, m, i] = ctl[WA] * spin[i]
    cross(spin, S[_ACC, m], c)
    for i in range(3):
        Z[_V0, m, i] = ctl[WA] * d[i] - c[i]
    cross(Z[_W1, m], S[_V1, m], c)
    cross(S[_W1, m], Z[_V1, m], d)
    for i in range(3):
        Z[_V0, m, i] -= c[i] + d[i]
    _momenta(M, Z, _V1, _W1, _P1, _J1)
    _momenta(M, Z, _V0, _W0, _P0, _J0)
    for k in range(n):
        _add_products(S, Z, k)
        _turn(D, 1, rot[e, k], Z[_P0, k], Z[_A, k])
        _turn(D, 1, rot[e, k], Z[_J0, k], Z[_B, k])
    cross(b, S[_A, m], c)
    cross(b, S[_B, m], d)
    for i in range(3):
        Z[_A, m, i] += c[i]
        Z[_B, m, i] += d[i]


@inner
def _add_products(S, Z, k):
    """Add the change of W x pb, W x hb + Vb x pb of node k to the rows _P0, _J0 of Z."""
    c, d = scratch(3), scratch(3)
    cross(Z[_W1, k], S[_P1, k], c)
    cross(S[_W1, k], Z[_P1, k], d)
    for i in range(3):
        Z[_P0, k, i] += c[i] + d[i]
    cross(Z[_W1, k], S[_J1, k], c)
    cross(S[_W1, k], Z[_J1, k], d)
    for i in range(3):
        Z[_J0, k, i] += c[i] + d[i]
    cross(Z[_V1, k], S[_P1, k], c)
    cross(S[_V1, k], Z[_P1, k], d)
    for i in range(3):
        Z[_J0, k, i] += c[i] + d[i]


@kernel
def _turning_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n, nd = rot.shape[1], 3 * (dim - 1)
    h, sf = ctl[H], ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    M, S, Z, T = np.empty((6 * n, 6 * n)), np.empty((15, n, 3)), np.empty((15, n, 3)), np.empty((n, 3, 3))
    column, a, b = np.empty(n * nd), scratch(3), scratch(3)
    for e in range(e0, e1):
        _full_matrix(par, e, n, dim, M)
        _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, S)
        if one_state:
            _state_rows(M, D, V, dof, rot, e, dim, S)
        else:
            _step_rows(h, M, D, rot, e, S)
        for k in range(n):
            for i in range(3):
                a[i] = S[_A, k, i] - (par[e, k] * ctl[GX + i] if i < dim else 0.0)
            _write(fe[e - e0], k, sf, a, S[_B, k], dim)
        if job != TANGENT:
            continue
        for k in range(n):
            cayley_tangent(S[_TH, k, 0], S[_TH, k, 1], S[_TH, k, 2], T[k])
        for m in range(n * nd):
            for i in range(3):
                a[i] = b[i] = 0.0
            r = _row(m % nd, dim)
            if r < 3:
                a[r] = 1.0
            else:
                b[r - 3] = 1.0
            if one_state:
                _state_columns(ctl, M, D, rot, e, m // nd, a, b, S, Z)
            else:
                _step_columns(h, M, D, rot, e, m // nd, a, b, T, S, Z)
            for k in range(n):
                _write(column, k, sf, Z[_A, k], Z[_B, k], dim)
            for i in range(n * nd):
                ke[e - e0, i, m] = column[i]


@kernel
def _turning_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = rot.shape[1]
    M, S = np.empty((6 * n, 6 * n)), np.empty((15, n, 3))
    a, b, x = scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        if job == START:
            for k in range(n):
                _get(V[1], dof, e, k, dim, a, b)
                _turn_back(D, 1, rot[e, k], a, x)
                for i in range(dim):
                    hist[e, k * dim + i] = x[i]
            continue
        _full_matrix(par, e, n, dim, M)
        _body_velocities(ctl, D, V, U, dof, rot, hist, e, dim, S)
        if job == COMMIT:
            for k in range(n):
                for i in range(dim):
                    hist[e, k * dim + i] = S[_V1, k, i]
        elif job == LEDGER:
            f = fe[e - e0]
            _momenta(M, S, _V1, _W1, _P1, _J1)
            for k in range(n):
                _turn(D, 1, rot[e, k], S[_P1, k], a)
                _turn(D, 1, rot[e, k], S[_J1, k], b)
                for i in range(3):
                    x[i] = Q[1, dof[e, 3 * (dim - 1) * k + i]] if i < dim else 0.0
                    f[KINETIC] += 0.5 * (S[_V1, k, i] * S[_P1, k, i] + S[_W1, k, i] * S[_J1, k, i])
                    f[POTENTIAL] -= par[e, k] * ctl[GX + i] * x[i] if i < dim else 0.0
                    f[PX + i] += a[i]
                    f[LX + i] += b[i]
                _add_moment(f, x, a)


def _pairs(m: int) -> tuple[str, ...]:
    return tuple(f"M{i} {j}" for i in range(1, m + 1) for j in range(i, m + 1))


def make_type(name: str, dimension: int, n: int) -> ElementType:
    """Return the type of a matrix over n nodes; the first word of its name says which."""
    if name.startswith("translational"):
        return ElementType(
            name,
            dimension,
            n,
            False,
            ("mass [kg]", *_pairs(n)),
            force=_translational_force,
            report=_translational_report,
            inertia=True,
        )
    weights = tuple(f"weight {k + 1} [kg]" for k in range(n))
    return ElementType(
        name, dimension, n, True, (*weights, *_pairs(n * 3 * (dimension - 1))), hist=n * dimension,
        force=_turning_force, report=_turning_report, inertia=True,
    )  # fmt: skip
