"""Interfaces of reduced parts: `flexible_point{2,3}_n` and `flexible_orientation{2,3}_n`.

They tie a node (x_n, D), D = [D_1 D_2 D_3], to a body in n modal coordinates q (`fem_mbs.elements.flexible.body`):

``point``        x_n - x - sum_a d_a (c_a + Phi_a q) = 0
``orientation``  (t_c.D_b - t_b.D_c)/2 = 0 for (b, c) = (2, 3), (3, 1), (1, 2), with the directors of the body there,
                 t_b = d_b + sum_a d_a (psi x e_b)_a, psi = Psi q: to first order in psi, as linear parts turn (in the
                 plane the last row alone)

Both are linear in y = (x, d_a, q_k d_a), the second times D, so that their difference quotients are exact:
w1 - w0 = theta x w_m + dq c with c_a = d_a0 + theta x d_a0/2, and a force F on a vector u = sum_a d_a U_ak q_k enters
the rows of theta as u_m x F and those of q as c_a U_ak.F; the multipliers do the work lambda.(g1 - g0), zero for a tie.
Constraints hold at the end of the step, multipliers act at its middle; see `fem_mbs.elements.joints.basic`.

The place may have displacements of second order, d_a s_a with s_a = -q.H_a q/2: H_a is the geometric stiffness per unit
of a force at the interface along a, and -F_a q.H_a q/2 is the work of that force (quadratic modes: the ends of a bent
beam come closer).  s_a enters like a coordinate, with ds = -dq.H_a q_m exactly.  So forces at interfaces stiffen a
body, and all quotients stay exact.

Dofs: (x, theta) of the frame and of the node, q, multipliers.  Parameters: the scale, then c (dim) and Phi (dim, n),
or Psi (1 or 3, n), row by row; after Phi, where there are any, the number of the H_a, then of each a and H_a (n, n).
Outputs: force or moment of the tie on the body.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import ONE_STATE, OUTPUT, RULE, SF, TANGENT, TWO, inner, kernel
from fem_mbs.elements.flexible.body import frame_directors, frame_turn
from fem_mbs.elements.kinematics import cayley_tangent, cross
from fem_mbs.elements.registry import ElementType

__all__ = ["make_type"]

SCALE, PLACE, ROTATIONS = 0, 1, 1  # columns of par: PLACE of points, the shapes follow; ROTATIONS of orientations


@inner
def _directors(ctl, dof, rot, D, U, e, dim, d0, d1, c, turn):
    """Fill the directors d0, d1 of the frame at both ends of the step, their quotients c, and its Cayley vector
    ``turn``."""
    u = scratch(3)
    frame_directors(D[0], rot[e, 0], dim, d0)
    frame_directors(D[1], rot[e, 0], dim, d1)
    frame_turn(U, dof, e, dim, turn)
    for a in range(dim):
        cross(turn, d0[a], u)
        for i in range(3):
            c[a, i] = d0[a, i] + 0.5 * u[i] if ctl[RULE] != ONE_STATE else d1[a, i]


@inner
def _turned(K, turn, column):
    """Transform the columns of a spin into those of a Cayley vector."""
    T = scratch(3, 3)
    cayley_tangent(turn[0], turn[1], turn[2], T)
    for i in range(K.shape[0]):
        a, b, c = K[i, column], K[i, column + 1], K[i, column + 2]
        for j in range(3):
            K[i, column + j] = a * T[0, j] + b * T[1, j] + c * T[2, j]


@inner
def _row(k, dim, n, last):
    """Return the row in space of a local unknown; the rows are (x, theta) twice, q, three multipliers.

    ``last``: the plane's multiplier is the last of three.
    """
    nd = 3 * (dim - 1)
    if k < 2 * nd:
        end, i = k // nd, k % nd
        return 6 * end + (i if dim == 3 or i < 2 else 5)
    if k < 2 * nd + n:
        return 12 + k - 2 * nd
    return 12 + k - 2 * nd + (2 if dim == 2 and last else 0)


@inner
def _give(job, f, K, dim, n, last, fe, ke):
    """Copy vector and matrix from the unknowns in space to the local unknowns."""
    m = fe.shape[0]
    for k in range(m):
        fe[k] = f[_row(k, dim, n, last)]
    if job == TANGENT:
        for k in range(m):
            i = _row(k, dim, n, last)
            for j in range(m):
                ke[k, j] = K[i, _row(j, dim, n, last)]


@kernel
def _point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    n = dof.shape[1] - 2 * nd - dim
    d0, d1, c = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    g, G, E = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))  # shapes by d0, c and d1
    turn, r0, r1, rm, F, u = scratch(3), scratch(3), scratch(3), scratch(3), cleared(3), scratch(3)
    f, K = np.empty(15 + n), np.empty((15 + n, 15 + n))
    base = PLACE + dim + dim * n
    for e in range(e0, e1):
        s = par[e, SCALE]
        count = int(par[e, base]) if par.shape[1] > base else 0
        _directors(ctl, dof, rot, D, U, e, dim, d0, d1, c, turn)
        for i in range(3):
            r0[i] = r1[i] = 0.0
            for a in range(dim):
                r0[i] += d0[a, i] * par[e, PLACE + a]
                r1[i] += d1[a, i] * par[e, PLACE + a]
            for k in range(n):
                g[k, i] = G[k, i] = E[k, i] = 0.0
                for a in range(dim):
                    shape = par[e, PLACE + dim + a * n + k]
                    g[k, i] += d0[a, i] * shape
                    G[k, i] += c[a, i] * shape
                    E[k, i] += d1[a, i] * shape
                j = dof[e, 2 * nd + k]
                r0[i] += g[k, i] * Q[0, j]
                r1[i] += E[k, i] * Q[1, j]
        for m in range(count):  # s_a is like a coordinate: s1 d1 - s0 d0 = theta x (s d)_m + ds c, ds = -dq.H q_m
            at = base + 1 + m * (1 + n * n)
            a = int(par[e, at])
            for k in range(n):
                before = after = 0.0
                for j in range(n):
                    q = dof[e, 2 * nd + j]
                    before += par[e, at + 1 + k * n + j] * Q[0, q]
                    after += par[e, at + 1 + k * n + j] * Q[1, q]
                q = dof[e, 2 * nd + k]
                for i in range(3):
                    r0[i] -= 0.5 * Q[0, q] * before * d0[a, i]
                    r1[i] -= 0.5 * Q[1, q] * after * d1[a, i]
                    g[k, i] -= 0.5 * (before + after) * d0[a, i]
                    G[k, i] -= 0.5 * (before + after) * c[a, i]
                    E[k, i] -= after * d1[a, i]
        for i in range(3):
            rm[i] = 0.5 * (r0[i] + r1[i])
        for i in range(dim):
            F[i] = s * U[dof[e, 2 * nd + n + i]]
        f[:] = 0.0
        cross(rm, F, u)
        for i in range(3):
            f[i], f[6 + i], f[3 + i] = -F[i], F[i], -u[i]
        for k in range(n):
            f[12 + k] = -(F[0] * G[k, 0] + F[1] * G[k, 1] + F[2] * G[k, 2])
        for i in range(dim):
            f[12 + n + i] = s * (Q[1, dof[e, nd + i]] - Q[1, dof[e, i]] - r1[i])
        if job == TANGENT:
            K[:, :] = 0.0
            w = 0.5 * ctl[TWO]
            t = r1[0] * F[0] + r1[1] * F[1] + r1[2] * F[2]
            for i in range(3):
                K[3 + i, 3 + i] += w * t
                for j in range(3):
                    K[3 + i, 3 + j] -= w * r1[i] * F[j]
            m = 12 + n
            K[m, 4], K[m, 5] = -s * r1[2], s * r1[1]  # - spin x r1
            K[m + 1, 3], K[m + 1, 5] = s * r1[2], -s * r1[0]
            K[m + 2, 3], K[m + 2, 4] = -s * r1[1], s * r1[0]
            K[4, m], K[5, m] = -s * rm[2], s * rm[1]
            K[3, m + 1], K[5, m + 1] = s * rm[2], -s * rm[0]
            K[3, m + 2], K[4, m + 2] = -s * rm[1], s * rm[0]
            for i in range(3):
                K[m + i, i] = K[i, m + i] = -s
                K[m + i, 6 + i] = K[6 + i, m + i] = s
            for a in range(count):
                at = base + 1 + a * (1 + n * n)
                b = int(par[e, at])
                t = w * (c[b, 0] * F[0] + c[b, 1] * F[1] + c[b, 2] * F[2])
                for k in range(n):
                    for j in range(n):
                        K[12 + k, 12 + j] += t * par[e, at + 1 + k * n + j]
            for k in range(n):
                cross(E[k], F, u)
                for i in range(3):
                    K[3 + i, 12 + k] = -w * u[i]
                    K[m + i, 12 + k] = -s * E[k, i]
                    K[12 + k, m + i] = -s * G[k, i]
            _turned(K, turn, 3)
            for k in range(n):  # dc = dtheta x d0/2
                cross(g[k], F, u)
                for i in range(3):
                    K[12 + k, 3 + i] -= w * u[i]
        _give(job, f, K, dim, n, False, fe[e - e0], ke[e - e0] if job == TANGENT else K)


@kernel
def _report_point(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != OUTPUT:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    for e in range(e0, e1):
        for i in range(dim):
            fe[e - e0, i] = par[e, SCALE] / ctl[SF] * U[dof[e, dof.shape[1] - dim + i]]


# --- orientation -----------------------------------------------------------------------------------------------------
@inner
def _shape(par, e, n, dim, k, a, b):
    """Return (psi_k x e_b)_a, psi_k the rotation of the shape k."""
    if a == b:
        return 0.0
    i = 3 - a - b
    value = par[e, ROTATIONS + (i * n if dim == 3 else 0) + k]
    return value if (a - b) % 3 == 1 else -value


@inner
def _vectors(par, dof, rot, Q, D, e, state, dim, d, t, B):
    """Fill t and B (dim, 3) with the directors of the body at the interface and of the node; d: directors of the
    frame."""
    nd = 3 * (dim - 1)
    n = dof.shape[1] - 2 * nd - (3 if dim == 3 else 1)
    frame_directors(D[state], rot[e, 1], dim, B)
    for b in range(dim):
        for i in range(3):
            t[b, i] = d[b, i]
        for a in range(dim):
            part = 0.0
            for k in range(n):
                part += _shape(par, e, n, dim, k, a, b) * Q[state, dof[e, 2 * nd + k]]
            for i in range(3):
                t[b, i] += d[a, i] * part


@inner
def _rows(k, dim):
    """Return the indices of the vectors b and c of the row k."""
    return (k + 1) % 3, (k + 2) % 3


@inner
def _pairs(dof, U, e, dim, N):
    """Fill N (dim, dim) so that the multipliers times the rows add up to sum N_bc t_b.D_c."""
    N[:, :] = 0.0
    for k in range(3):
        if dim == 2 and k < 2:
            continue
        b, c = _rows(k, dim)
        half = 0.5 * U[dof[e, dof.shape[1] - (3 - k)]]
        N[c, b] += half
        N[b, c] -= half


@inner
def _shape_vectors(par, e, n, k, d, out):
    """Fill out (dim, 3) with the change of the directors t_b by the shape k; d are the directors of the frame."""
    dim = d.shape[0]
    for b in range(dim):
        for i in range(3):
            out[b, i] = 0.0
        for a in range(dim):
            shape = _shape(par, e, n, dim, k, a, b)
            for i in range(3):
                out[b, i] += d[a, i] * shape


@inner
def _condition_rows(job, s, m, tm, t, Bm, B, f, K, u, v):
    """Write the rows of the conditions, from m on, and their blocks with both spins."""
    dim = t.shape[0]
    for k in range(3):
        if dim == 2 and k < 2:
            continue
        b, a = _rows(k, dim)
        f[m + k] = 0.5 * s * (
            t[a, 0] * B[b, 0] + t[a, 1] * B[b, 1] + t[a, 2] * B[b, 2]
            - t[b, 0] * B[a, 0] - t[b, 1] * B[a, 1] - t[b, 2] * B[a, 2]
        )  # fmt: skip
        if job == TANGENT:
            cross(t[a], B[b], u)
            cross(t[b], B[a], v)
            for i in range(3):
                K[m + k, 3 + i] = 0.5 * s * (u[i] - v[i])
                K[m + k, 9 + i] = -K[m + k, 3 + i]
            cross(tm[a], Bm[b], u)
            cross(tm[b], Bm[a], v)
            for i in range(3):
                K[3 + i, m + k] = 0.5 * s * (u[i] - v[i])
                K[9 + i, m + k] = -K[3 + i, m + k]


@inner
def _spin_block(w, t, tm, Nm, N1, K):
    """Add the tangent of the moment on the frame by both spins to K."""
    for b in range(t.shape[0]):
        p = t[b, 0] * Nm[b, 0] + t[b, 1] * Nm[b, 1] + t[b, 2] * Nm[b, 2]
        q = tm[b, 0] * N1[b, 0] + tm[b, 1] * N1[b, 1] + tm[b, 2] * N1[b, 2]
        for i in range(3):
            K[3 + i, 3 + i] -= w * p  # (spin x t) x N = t (spin.N) - spin (t.N)
            K[3 + i, 9 + i] += w * q  # t x (spin x N) = spin (t.N) - N (t.spin)
            for j in range(3):
                K[3 + i, 3 + j] += w * t[b, i] * Nm[b, j]
                K[3 + i, 9 + j] -= w * N1[b, i] * tm[b, j]


@inner
def _modal_rows(job, s, w, m, k, G, E, B, Bm, Nm, N1, f, K, u, v):
    """Add the row of the shape k and its blocks; G and E are its changes of t_b over the step and at its end."""
    dim = B.shape[0]
    for b in range(dim):
        f[12 + k] += s * (G[b, 0] * Nm[b, 0] + G[b, 1] * Nm[b, 1] + G[b, 2] * Nm[b, 2])
        if job == TANGENT:
            cross(E[b], Nm[b], u)
            cross(N1[b], G[b], v)  # G.(spin x N) = spin.(N x G)
            for i in range(3):
                K[3 + i, 12 + k] += w * u[i]
                K[12 + k, 9 + i] += w * v[i]
    if job != TANGENT:
        return
    for r in range(3):
        if dim == 2 and r < 2:
            continue
        b, a = _rows(r, dim)
        for i in range(3):
            K[m + r, 12 + k] += 0.5 * s * (E[a, i] * B[b, i] - E[b, i] * B[a, i])
            K[12 + k, m + r] += 0.5 * s * (G[a, i] * Bm[b, i] - G[b, i] * Bm[a, i])


@kernel
def _orientation(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    n = dof.shape[1] - 2 * nd - (3 if dim == 3 else 1)
    m = 12 + n
    d0, d1, c = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    t, tm, B, Bm = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    g, G, E = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    N, Nm, N1 = np.empty((dim, dim)), np.empty((dim, 3)), np.empty((dim, 3))
    turn, turned, u, v = scratch(3), cleared(3), scratch(3), scratch(3)
    f, K = np.empty(15 + n), np.empty((15 + n, 15 + n))
    for e in range(e0, e1):
        s = par[e, SCALE]
        w = 0.5 * ctl[TWO] * s
        _directors(ctl, dof, rot, D, U, e, dim, d0, d1, c, turn)
        _vectors(par, dof, rot, Q, D, e, 0, dim, d0, tm, Bm)
        _vectors(par, dof, rot, Q, D, e, 1, dim, d1, t, B)
        _pairs(dof, U, e, dim, N)
        f[:] = 0.0
        K[:, :] = 0.0
        for b in range(dim):
            for i in range(3):
                tm[b, i] = 0.5 * (tm[b, i] + t[b, i])
                Bm[b, i] = 0.5 * (Bm[b, i] + B[b, i])
        for b in range(dim):
            for i in range(3):
                Nm[b, i] = N1[b, i] = 0.0
                for a in range(dim):
                    Nm[b, i] += N[b, a] * Bm[a, i]
                    N1[b, i] += N[b, a] * B[a, i]
            cross(tm[b], Nm[b], u)
            for i in range(3):
                f[3 + i] += s * u[i]
                f[9 + i] -= s * u[i]
        _condition_rows(job, s, m, tm, t, Bm, B, f, K, u, v)
        if job == TANGENT:
            _spin_block(w, t, tm, Nm, N1, K)
        for k in range(n):
            _shape_vectors(par, e, n, k, c, G)
            _shape_vectors(par, e, n, k, d1, E)
            _modal_rows(job, s, w, m, k, G, E, B, Bm, Nm, N1, f, K, u, v)
        if job == TANGENT:
            for i in range(3):
                for j in range(m):
                    K[9 + i, j] = -K[3 + i, j]
            _turned(K, turn, 3)
            if dim == 3:
                for i in range(3):
                    turned[i] = U[dof[e, 9 + i]]
            else:
                turned[2] = U[dof[e, 5]]
            _turned(K, turned, 9)
            for k in range(n):  # dc = dtheta x d0/2
                _shape_vectors(par, e, n, k, d0, g)
                for b in range(dim):
                    cross(g[b], Nm[b], u)
                    for i in range(3):
                        K[12 + k, 3 + i] += w * u[i]
        _give(job, f, K, dim, n, True, fe[e - e0], ke[e - e0] if job == TANGENT else K)


@kernel
def _report_orientation(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    d, t, tm, B, Bm = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    N, u, v = np.empty((dim, dim)), scratch(3), scratch(3)
    for e in range(e0, e1):
        before = 1 if ctl[RULE] == ONE_STATE else 0
        frame_directors(D[before], rot[e, 0], dim, d)
        _vectors(par, dof, rot, Q, D, e, before, dim, d, tm, Bm)
        frame_directors(D[1], rot[e, 0], dim, d)
        _vectors(par, dof, rot, Q, D, e, 1, dim, d, t, B)
        _pairs(dof, U, e, dim, N)
        for b in range(dim):
            for i in range(3):
                u[i] = 0.0
                for a in range(dim):
                    u[i] += 0.5 * N[b, a] * (Bm[a, i] + B[a, i])
                tm[b, i] = 0.5 * (tm[b, i] + t[b, i])
            cross(tm[b], u, v)
            for i in range(3 if dim == 3 else 1):
                fe[e - e0, i] -= par[e, SCALE] / ctl[SF] * v[i if dim == 3 else 2]


def make_type(name: str, dimension: int, modes: int) -> ElementType:
    """Return the type of a tie to a body with that number of modal coordinates; all types share their kernels."""
    turns = 3 if dimension == 3 else 1
    axes = "xyz"[:dimension]
    point = name.startswith("flexible_point")
    outputs = (
        [f"force {c} [N]" for c in axes] if point else [f"moment {c} [N m]" for c in ("xyz" if turns == 3 else "z")]
    )
    return ElementType(
        name, dimension, 2, True, ("scale", *(f"c{c} [m]" for c in axes)) if point else ("scale",),
        _point if point else _orientation, _report_point if point else _report_orientation,
        multipliers=dimension if point else turns, outputs=tuple(outputs), scale=0, angular=not point, tables=True,
        scalars=modes,
    )  # fmt: skip
