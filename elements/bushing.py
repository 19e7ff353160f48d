"""Bushings with full stiffness and damping matrices between frames of two ends: `bushing2` (3x3), `bushing3` (6x6).

Frames: a point and axes e_i in end a, a point and axes f_i in end b, alike at the start.  Strains, with d = P_b - P_a:

    u_i   = d.((1 - w) e_i + w f_i) - u_i(start)          w = 0: in the frame of a, w = 1/2: in the mean frame
    phi_k = (e_j.f_i - e_i.f_j)/2, (i, j, k) cyclic        the axial vector of the relative rotation: n sin(angle)
    phi   = phi_b - phi_a                                  plane: the angle itself, any number of turns

All are bilinear in positions and directors (the plane angle has the quotient of `relative_angle`), so that their mean
rows are exact quotients and the force S (s0 + s1)/2 + C (s1 - s0)/h does the work V1 - V0 plus the dissipation, without
resultant and moment, at any step size (docs/theory.md).  In the mean frame exchanging both ends changes signs only.

The sine softens: it is 4 % below the angle at 30 degrees, 17 % at 60, and has its maximum at 90, where the model stops.

Parameters: w, offsets, axes (body axes of their ends), strains at the start, preload, S and C (upper triangles, order
u, phi).  Outputs: forces and moments in the frame (positive where the strain is), and strains at the end of the step.
"""

from __future__ import annotations

import numpy as np

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
from fem_mbs.elements.common import add_arm_tangent
from fem_mbs.elements.coordinates import end_velocities
from fem_mbs.elements.kinematics import P0, P1, R0, R1, point, point_rate, relative_angle, spin
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]


@inner
def _columns(dim):
    """First columns of: offsets, axes of a, axes of b, starting strains, preload, stiffness, damping."""
    ns = 3 * (dim - 1)
    axes = 1 + 2 * dim
    start = axes + 2 * dim * dim
    return 1, axes, axes + dim * dim, start, start + ns, start + 2 * ns, start + 2 * ns + ns * (ns + 1) // 2


@inner
def _matrix(par, e, first, out):
    k = first
    for i in range(out.shape[0]):
        for j in range(i, out.shape[0]):
            out[i, j] = out[j, i] = par[e, k]
            k += 1


@inner
def _vectors(Q, D, U, dof, rot, e, par, P, B, J):
    """Points and axes as `point` has them: rows 0, 1 of P, B, J: points of a, b; then the axes of a, those of b."""
    dim = P.shape[2]
    first = _columns(dim)[1]
    point(Q, D, U, dof, rot, e, 0, par, 1, P[0], B[0], J[0])
    point(Q, D, U, dof, rot, e, 1, par, 1 + dim, P[1], B[1], J[1])
    for k in range(2):
        for i in range(dim):
            m = 2 + dim * k + i
            point(Q, D, U, dof, rot, e, k, par, first + dim * (dim * k + i), P[m], B[m], J[m])


@inner
def _strains(par, e, P, state, s):
    """s (ns,) of a state; the plane angle is the caller's."""
    dim = P.shape[2]
    w = par[e, 0]
    at, arm = (P1, R1) if state == 1 else (P0, R0)
    start = _columns(dim)[3]
    for i in range(dim):
        s[i] = 0.0
        for p in range(dim):
            s[i] += (P[1, at, p] - P[0, at, p]) * ((1 - w) * P[2 + i, arm, p] + w * P[2 + dim + i, arm, p])
    if dim == 3:
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            s[3 + k] = 0.0
            for p in range(3):
                s[3 + k] += 0.5 * P[2 + j, arm, p] * P[5 + i, arm, p] - 0.5 * P[2 + i, arm, p] * P[5 + j, arm, p]
    for i in range(dim if dim == 2 else 6):
        s[i] -= par[e, start + i]


@inner
def _pair(c, k, l, a, b, Bk, Bl, Jk, Jl, tangent, row, row1, G):
    """Rows and tangent of the coordinate c a.b, added up: vectors a on end k, b on end l (0, 1), given as P rows."""
    dim, n = Bk.shape
    for j in range(n):
        for p in range(dim):
            am, bm = 0.5 * (a[R0, p] + a[R1, p]), 0.5 * (b[R0, p] + b[R1, p])
            if j >= dim:
                row[n * k + j] += c * Bk[p, j] * bm
                row[n * l + j] += c * Bl[p, j] * am
                row1[n * k + j] += c * Jk[p, j] * b[R1, p]
                row1[n * l + j] += c * Jl[p, j] * a[R1, p]
    if not tangent:
        return
    for p in range(dim):
        for i in range(dim, n):
            for j in range(dim, n):
                G[n * k + i, n * l + j] += 0.5 * c * Bk[p, i] * Jl[p, j]
                G[n * l + i, n * k + j] += 0.5 * c * Bl[p, i] * Jk[p, j]


@inner
def _rows(job, par, e, P, B, J, X, row, row1, G):
    """Rows (ns, 2 n), their ends row1 and tangents G (ns, 2 n, 2 n); the plane angle is the caller's."""
    dim, n = P.shape[2], B.shape[2]
    w = par[e, 0]
    tangent = job == TANGENT
    row[:] = 0.0
    row1[:] = 0.0
    if tangent:
        G[:] = 0.0
    em, dm, e1, d1 = X[0], X[1], X[2], X[3]
    for p in range(dim):
        d1[p] = P[1, P1, p] - P[0, P1, p]
        dm[p] = 0.5 * (P[1, P0, p] - P[0, P0, p] + d1[p])
    for s in range(dim):
        a, b = 2 + s, 2 + dim + s
        for p in range(dim):
            e1[p] = (1 - w) * P[a, R1, p] + w * P[b, R1, p]
            em[p] = 0.5 * ((1 - w) * P[a, R0, p] + w * P[b, R0, p] + e1[p])
        for j in range(n):
            for p in range(dim):
                row[s, j] -= B[0, p, j] * em[p]
                row[s, n + j] += B[1, p, j] * em[p]
                row1[s, j] -= J[0, p, j] * e1[p]
                row1[s, n + j] += J[1, p, j] * e1[p]
                if j >= dim:
                    row[s, j] += (1 - w) * B[a, p, j] * dm[p]
                    row[s, n + j] += w * B[b, p, j] * dm[p]
                    row1[s, j] += (1 - w) * J[a, p, j] * d1[p]
                    row1[s, n + j] += w * J[b, p, j] * d1[p]
        if not tangent:
            continue
        g = G[s]
        for k in range(2):  # the end of the axis
            c, m = ((1 - w), a) if k == 0 else (w, b)
            if c == 0:
                continue
            for p in range(dim):
                for j in range(dim, n):
                    for i in range(n):
                        # d e_m turns the forces on the points; d d_m those on the axis
                        g[i, n * k + j] -= 0.5 * c * B[0, p, i] * J[m, p, j]
                        g[n + i, n * k + j] += 0.5 * c * B[1, p, i] * J[m, p, j]
                        g[n * k + j, i] -= 0.5 * c * B[m, p, j] * J[0, p, i]
                        g[n * k + j, n + i] += 0.5 * c * B[m, p, j] * J[1, p, i]
            add_arm_tangent(g, c, dm, J[m], k)
        add_arm_tangent(g, -1.0, em, J[0], 0)
        add_arm_tangent(g, 1.0, em, J[1], 1)
    if dim == 2:
        return
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for turn in range(2):
            c, a, b = (0.5, 2 + j, 5 + i) if turn == 0 else (-0.5, 2 + i, 5 + j)
            _pair(c, 0, 1, P[a], P[b], B[a], B[b], J[a], J[b], tangent, row[3 + k], row1[3 + k], G[3 + k])
            if tangent:
                for p in range(3):
                    em[p], e1[p] = 0.5 * (P[b, R0, p] + P[b, R1, p]), 0.5 * (P[a, R0, p] + P[a, R1, p])
                add_arm_tangent(G[3 + k], c, em, J[a], 0)
                add_arm_tangent(G[3 + k], c, e1, J[b], 1)


@inner
def _rates(V, D, dof, rot, state, e, par, P, X, r):
    """r (ns,) = rates of the strains at a state from the velocities there."""
    dim = P.shape[2]
    w = par[e, 0]
    at, arm = (P1, R1) if state == 1 else (P0, R0)
    va, vb, x, y = X[0], X[1], X[2], X[3]
    point_rate(V, D, dof, rot, state, e, 0, P[0, arm], va, x)
    point_rate(V, D, dof, rot, state, e, 1, P[1, arm], vb, x)
    for i in range(dim):
        a, b = P[2 + i, arm], P[2 + dim + i, arm]
        r[i] = 0.0
        for p in range(dim):
            r[i] += (vb[p] - va[p]) * ((1 - w) * a[p] + w * b[p])
        point_rate(V, D, dof, rot, state, e, 0, a, y, x)
        for p in range(dim):
            r[i] += (1 - w) * (P[1, at, p] - P[0, at, p]) * x[p]
        point_rate(V, D, dof, rot, state, e, 1, b, y, x)
        for p in range(dim):
            r[i] += w * (P[1, at, p] - P[0, at, p]) * x[p]
    if dim == 2:
        r[2] = V[state, dof[e, 5]] - V[state, dof[e, 2]]
        return
    spin(V, D, dof, rot, state, e, 0, va)
    spin(V, D, dof, rot, state, e, 1, vb)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        r[3 + k] = 0.0
        for turn in range(2):
            c, a, b = (0.5, 2 + j, 5 + i) if turn == 0 else (-0.5, 2 + i, 5 + j)
            # (a.b)' = (w_a - w_b).(a x b)
            for p in range(3):
                q, t = (p + 1) % 3, (p + 2) % 3
                r[3 + k] += c * (va[p] - vb[p]) * (P[a, arm, q] * P[b, arm, t] - P[a, arm, t] * P[b, arm, q])


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    one_state = ctl[RULE] == ONE_STATE
    h = ctl[H]
    P = np.empty((2 + 2 * dim, 5, dim))
    B, J = np.empty((2 + 2 * dim, dim, n)), np.empty((2 + 2 * dim, dim, n))
    X = np.empty((4, dim))
    row, row1, rate_row = np.empty((n, 2 * n)), np.empty((n, 2 * n)), np.empty((n, 2 * n))
    G = np.empty((n, 2 * n, 2 * n))
    S, C = np.empty((n, n)), np.empty((n, n))
    s0, s1, rate, force, vel = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(2 * n)
    _, _, _, start, preload, stiff, damp = _columns(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, stiff, S)
        _matrix(par, e, damp, C)
        for i in range(n):
            for j in range(n):
                C[i, j] += ctl[DECAY] * S[i, j]
        _vectors(Q, D, U, dof, rot, e, par, P, B, J)
        _strains(par, e, P, 0, s0)
        _strains(par, e, P, 1, s1)
        _rows(job, par, e, P, B, J, X, row, row1, G)
        if dim == 2:
            a, b = dof[e, 2], dof[e, 5]
            dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
            s0[2] = Q[0, b] - Q[0, a] - par[e, start + 2]
            s1[2] = s0[2] + dphi
            row[2, 2], row[2, 5] = -kappa, kappa
            row1[2, 2], row1[2, 5] = -1 / (1 + 0.25 * U[a] * U[a]), 1 / (1 + 0.25 * U[b] * U[b])
            if job == TANGENT:
                G[2, 2, 2], G[2, 2, 5] = -by_a, -by_b
                G[2, 5, 2], G[2, 5, 5] = by_a, by_b
        if one_state:
            end_velocities(V, D, dof, rot, 1, e, vel)
        for k in range(n):
            rate[k] = 0.0
            for i in range(2 * n):
                rate[k] += row[k, i] * (vel[i] if one_state else U[dof[e, i]] / h)
        for k in range(n):
            force[k] = par[e, preload + k]
            for m in range(n):
                force[k] += 0.5 * S[k, m] * (s0[m] + s1[m]) + C[k, m] * rate[m]
        for i in range(2 * n):
            total = 0.0
            for k in range(n):
                total += force[k] * row[k, i]
            f[i] = ctl[SF] * total
        if job != TANGENT:
            continue
        K = ke[e - e0]
        by_rate = 0.0 if one_state else 1 / h
        for i in range(2 * n):
            for j in range(2 * n):
                K[i, j] = 0.0
        for k in range(n):
            for j in range(2 * n):
                slope = 0.0
                for m in range(n):
                    slope += (0.5 * S[k, m] + by_rate * C[k, m]) * row1[m, j]
                for i in range(2 * n):
                    K[i, j] += ctl[SK] * (row[k, i] * slope + force[k] * G[k, i, j])
        if not one_state:
            continue
        # rates s' = row.vel: as in `coordinates.spring_rows`
        for k in range(n):
            for j in range(2 * n):
                rate_row[k, j] = ctl[WV] * row[k, j]
                for i in range(2 * n):
                    rate_row[k, j] += 2 * vel[i] * G[k, i, j]
            if n == 6:
                for m in (3, 9):
                    rate_row[k, m] += vel[m + 1] * row[k, m + 2] - vel[m + 2] * row[k, m + 1]
                    rate_row[k, m + 1] += vel[m + 2] * row[k, m] - vel[m] * row[k, m + 2]
                    rate_row[k, m + 2] += vel[m] * row[k, m + 1] - vel[m + 1] * row[k, m]
        for k in range(n):
            for j in range(2 * n):
                slope = 0.0
                for m in range(n):
                    slope += C[k, m] * rate_row[m, j]
                for i in range(2 * n):
                    K[i, j] += ctl[SF] * row[k, i] * slope


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    one_state = ctl[RULE] == ONE_STATE
    P = np.empty((2 + 2 * dim, 5, dim))
    B, J = np.empty((2 + 2 * dim, dim, n)), np.empty((2 + 2 * dim, dim, n))
    X = np.empty((4, dim))
    row, row1 = np.empty((n, 2 * n)), np.empty((n, 2 * n))
    G = np.empty((n, 1, 1))
    S, C = np.empty((n, n)), np.empty((n, n))
    s0, s1, ds, rate, before = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    _, _, _, start, preload, stiff, damp = _columns(dim)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, stiff, S)
        _matrix(par, e, damp, C)
        for i in range(n):
            for j in range(n):
                C[i, j] += ctl[DECAY] * S[i, j]
        _vectors(Q, D, U, dof, rot, e, par, P, B, J)
        _strains(par, e, P, 0, s0)
        _strains(par, e, P, 1, s1)
        if dim == 2:
            a, b = dof[e, 2], dof[e, 5]
            s0[2] = Q[0, b] - Q[0, a] - par[e, start + 2]
            s1[2] = Q[1, b] - Q[1, a] - par[e, start + 2] if one_state else s0[2] + relative_angle(U[b], U[a])[0]
        if one_state:  # the force of the end; work by the trapezoidal rule
            _rates(V, D, dof, rot, 0, e, par, P, X, before)
            _rates(V, D, dof, rot, 1, e, par, P, X, rate)
            for k in range(n):
                ds[k] = s1[k] - s0[k]
        else:
            _rows(0, par, e, P, B, J, X, row, row1, G)
            if dim == 2:
                ds[2] = s1[2] - s0[2]
            for k in range(n):
                if dim == 3 or k < 2:
                    ds[k] = 0.0
                    for i in range(2 * n):
                        ds[k] += row[k, i] * U[dof[e, i]]
                rate[k] = before[k] = ds[k] / ctl[H]
        for k in range(n):
            force, loss, stress = par[e, preload + k], 0.0, 0.0
            for m in range(n):
                stress += S[k, m] * s1[m]
                force += S[k, m] * (s1[m] if one_state else 0.5 * (s0[m] + s1[m])) + C[k, m] * rate[m]
                loss += 0.5 * C[k, m] * (before[m] + rate[m])
            if job == LEDGER:
                f[STRAIN] += (0.5 * stress + par[e, preload + k]) * s1[k]
                f[DISSIPATED] += loss * ds[k]
            else:
                f[k] = force
                f[n + k] = s1[k]


def _type(dimension):
    axes = "xyz"[:dimension]
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    angles = ("angle [rad]",) if dimension == 2 else tuple(f"rotation {c}" for c in axes)
    n = 3 * (dimension - 1)
    at = 1 + 2 * dimension + 2 * dimension**2 + n
    pairs = [f"{i}{j}" for i in range(1, n + 1) for j in range(i, n + 1)]

    def prestress(par, outputs, factor):
        """Parameters with the forces of ``outputs`` times ``factor`` more, as preload."""
        par = par.copy()
        par[:, at : at + n] += factor * outputs[:, :n]
        return par

    def angle(par, dof, rot, Q, D):
        """Relative rotation [rad] of both frames, (n,), for directors D (nr, 9)."""
        R = D.reshape(-1, 3, 3)
        A, B = (par[:, 7 + 9 * k : 16 + 9 * k].reshape(-1, 3, 3) for k in range(2))  # axes in rows
        a, b = (np.einsum("epq,eiq->eip", R[rot[:, k]], X) for k, X in ((0, A), (1, B)))
        return np.arccos(np.clip(0.5 * (np.einsum("eip,eip->e", a, b) - 1.0), -1.0, 1.0))

    return ElementType(
        name=f"bushing{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            "mean frame",
            *(f"a{c}_{end} [m]" for end in "ab" for c in axes),
            *(f"{v}{i}{c}" for v in "ef" for i in range(1, dimension + 1) for c in axes),
            *(f"start {i}" for i in range(1, n + 1)),
            *(f"preload {i}" for i in range(1, n + 1)),
            *(f"S{p}" for p in pairs),
            *(f"C{p}" for p in pairs),
        ),
        outputs=(*(f"force {c} [N]" for c in axes), *moments, *(f"displacement {c} [m]" for c in axes), *angles),
        force=_force,
        report=_report,
        prestress=prestress,
        watch=None
        if dimension == 2
        else Watch(
            angle, 1.0, 0.5 * np.pi, "the relative rotation of the bushing",
            "its rotations count by their sine; use a joint with springs for large ones", kind="Bushing",
        ),
    )  # fmt: skip


TYPES = {t.name: t for t in (_type(2), _type(3))}
