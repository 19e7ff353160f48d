"""A reduced part as a body in motion: `flexible_body2_n`, `flexible_body3_n` with n modal coordinates q.

A frame (x, R), R = [d_1 d_2 d_3], moves with the part, and shapes Phi deform it in this frame:

    r(c) = x + sum_a d_a (c_a + Phi_a(c) q).

With y = (x, d_a, w_ak), w_ak = q_k d_a, the position r is *linear* in y, so that T = 1/2 sum M_ij y_i'.y_j' with a
constant matrix M, whose entries are the moments of the mass distribution (`fem_mbs.parts.part.Moments`, Melzer's
invariants).  Velocities of y are state of their own: x' and d' those of the node, w' in ``hist``.  Two-state rule:

    y1' = 2 (y1 - y0)/h - y0',    F = M (y1' - y0')/h

and, since d1 - d0 = theta x d_m and exactly

    w1 - w0 = theta x w_m + dq c,    c_a = d_a0 + theta x d_a0/2 = d_a1 - theta x d_a1/2,

the rows   x: F_x     theta: sum d_m x F_d + sum w_m x F_w     q_k: sum_a c_a.F_ak + K q_m + D dq/h.

Their work is the change of energy; they add up to the changes of M y' and of sum y x M y', so that energy and both
momenta are exact at any step.  (c_a is not the mean of the directors: theta x w_m holds a part of dq.)  One-state
rules use y'' of the state: w'' = q'' d + 2 q' d' + q d''.

Geometric stiffening by superposition (Wallrapp, Santos & Ryu 1990; Melzer 1994, 6.2): sum_j lambda_j K_j q beside K q,
with the loads lambda_j of the frame over the step, in its axes: acceleration less that of gravity, angular acceleration
and products of angular velocities, w = R0^T theta/h.  Accelerations are means over this step and the last one
(``hist``); without the mean, accelerations that alternate from step to step would amplify themselves.  The stiffening
has no potential, so the ledger books its work.

Weight: -sum_i M_ix g.y_i.  With M dense the cost of a body is three products with M of (1 + dim + dim n)^2 entries;
everything else is linear in n, except dim^2 n^2 products in the tangent.

Dofs: (x, theta, q).  Parameters: the mass, the frequency beside which the spin is watched (0: it is not), then M, K and
D row by row.  With stiffening follow the number of its matrices and, for each, the index of its load in `LOADS` and
K_j.  In the plane d_3 is left out.

Without stiffening by the loads of the frame the body lacks the geometric stiffness of centrifugal forces, which is
about (w/w_1)^2 of its own at the spin w and the lowest frequency w_1; the watch tells where that matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import (
    COMMIT,
    DECAY,
    DISSIPATED,
    GX,
    KINETIC,
    LEDGER,
    LOAD_WORK,
    LX,
    ONE_STATE,
    POTENTIAL,
    PX,
    RULE,
    SF,
    SK,
    START,
    STRAIN,
    TANGENT,
    WA,
    WATCH,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.kinematics import cayley_tangent, cross
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["LOADS", "frame_directors", "frame_turn", "make_type", "parameters", "row_in_space"]

#: Loads of the frame that stiffen.
LOADS = (
    "ax", "ay", "az", "alphax", "alphay", "alphaz", "wx2", "wy2", "wz2", "wxwy", "wywz", "wxwz",
)  # fmt: skip
ALPHA, SQUARES, PRODUCTS = 3, 6, 9  # first of the loads by angular acceleration, by squares and by products of w
SLOWEST, MATRIX = 1, 2  # columns of par: the lowest frequency, and M; K, D and the stiffening matrices follow


@inner
def frame_directors(A, row, dim, E):
    """Fill E (dim, 3) with the directors of the frame in A[row], or with their velocities.

    In the plane d_2 is d_1 rotated by a right angle.
    """
    if dim == 2:
        E[0, 0], E[0, 1], E[0, 2] = A[row, 0], A[row, 1], 0.0
        E[1, 0], E[1, 1], E[1, 2] = -A[row, 1], A[row, 0], 0.0
        return
    for a in range(3):
        for i in range(3):
            E[a, i] = A[row, 3 * i + a]


@inner
def frame_spin(v, dof, e, dim, E, out):
    """Fill out (3,) with the angular velocity of end 0 in spatial axes.

    v holds the rates of the dofs, those of rotations in body axes; E are the directors.
    """
    if dim == 2:
        out[0], out[1], out[2] = 0.0, 0.0, v[dof[e, 2]]
        return
    for i in range(3):
        out[i] = 0.0
        for a in range(3):
            out[i] += E[a, i] * v[dof[e, 3 + a]]


@inner
def frame_turn(U, dof, e, dim, out):
    """Fill out (3,) with the Cayley vector of end 0."""
    if dim == 2:
        out[0], out[1], out[2] = 0.0, 0.0, U[dof[e, 2]]
        return
    for i in range(3):
        out[i] = U[dof[e, 3 + i]]


@inner
def _products(M, X, out):
    """Fill out (ny, m) with M X, M symmetric (ny, ny)."""
    n, m = X.shape
    if m == 3:
        for i in range(n):
            x = y = z = 0.0
            for j in range(n):
                a = M[i, j]
                x += a * X[j, 0]
                y += a * X[j, 1]
                z += a * X[j, 2]
            out[i, 0], out[i, 1], out[i, 2] = x, y, z
        return
    for i in range(n):
        for c in range(m):
            out[i, c] = 0.0
        for j in range(n):
            a = M[i, j]
            if a != 0.0:
                for c in range(m):
                    out[i, c] += a * X[j, c]


@inner
def _products_of(w, load):
    """Fill the last six loads of ``load`` (12,) with the squares and products of the angular velocity w."""
    for i in range(3):
        load[6 + i] = w[i] * w[i]
        load[9 + i] = w[i if i < 2 else 0] * w[i + 1 if i < 2 else 2]


@inner
def _step_loads(ctl, dof, e, dim, V, U, d0, dm, turn, load, acc):
    """Fill the loads ``load`` (12,) of the frame over a step (module docstring), and return the angular velocity (3,).

    ``acc`` (3,) gets the acceleration less gravity in space.
    """
    h = ctl[H]
    first = 3 * (dim - 1)
    w = np.empty(3)
    for i in range(3):
        acc[i] = 2.0 / h * (U[dof[e, i]] / h - V[0, dof[e, i]]) - ctl[GX + i] if i < dim else 0.0
        if dim == 3:
            w[i] = (d0[i, 0] * turn[0] + d0[i, 1] * turn[1] + d0[i, 2] * turn[2]) / h
            load[3 + i] = 2.0 / h * (w[i] - V[0, dof[e, 3 + i]])
        else:
            w[i] = turn[i] / h
            load[3 + i] = 2.0 / h * (w[i] - V[0, dof[e, first - 1]]) if i == 2 else 0.0
    for i in range(3):
        load[i] = dm[i, 0] * acc[0] + dm[i, 1] * acc[1] + dm[i, 2] * acc[2] if i < dim else 0.0
    _products_of(w, load)
    return w


@inner
def _averaged(before, one_state, load):
    """Average the accelerations, the first six loads, with those of the last step in ``before`` (7,), if it has any.

    Returns the weight of this step.
    """
    if one_state or before[0] == 0.0:
        return 1.0
    for i in range(6):
        load[i] = 0.5 * (load[i] + before[1 + i])
    return 0.5


@inner
def row_in_space(k, dim):
    """Return the row in space, of (x, theta, q), of a local unknown."""
    if dim == 3 or k < 2:
        return k
    return k + 3


@inner
def _matrices(p, ny, n):
    """Return M (ny, ny), K and D (n, n) of a row of parameters."""
    stiff = MATRIX + ny * ny
    damp = stiff + n * n
    return (
        p[MATRIX:stiff].reshape((ny, ny)),
        p[stiff:damp].reshape((n, n)),
        p[damp : damp + n * n].reshape((n, n)),
    )


@inner
def _matrix_times(p, at, n, q0, q1, k):
    """Return row k of the stiffening matrix at p[at + 1:] times the mean of q0 and q1."""
    t = 0.0
    for j in range(n):
        t += p[at + 1 + k * n + j] * 0.5 * (q0[j] + q1[j])
    return t


@inner
def _frame_of_state(ctl, dof, e, V, d1, dm, dv, b, c, w, X, rate, v, u):
    """Fill rows x and d_a of X with sf times y'' in one-state rules, and fill dm, dv, b, c and w, the angular
    velocity."""
    dim = d1.shape[0]
    sf, wv, wa = ctl[SF], ctl[WV], ctl[WA]
    frame_spin(V[1], dof, e, dim, d1, w)
    frame_spin(V[2], dof, e, dim, d1, rate)
    for i in range(dim):
        X[0, i] = sf * (V[2, dof[e, i]] - ctl[GX + i])
    for a in range(dim):
        cross(w, d1[a], dv[a])
        cross(w, dv[a], v)
        cross(rate, d1[a], u)
        for i in range(3):
            dm[a, i] = c[a, i] = d1[a, i]
            X[1 + a, i] = sf * (u[i] + v[i])
            b[a, i] = wa * sf * d1[a, i] + 2.0 * sf * wv * dv[a, i] + X[1 + a, i]


@inner
def _frame_of_step(ctl, dof, e, V, U, turn, d0, d1, dm, dv, b, c, X, v, u):
    """Fill rows x and d_a of X in two-state rules, and fill dm, b and c.

    dv holds the velocities of the directors at the start of the step.
    """
    dim = d1.shape[0]
    h, sf = ctl[H], ctl[SF]
    for i in range(dim):
        X[0, i] = U[dof[e, i]] - h * V[0, dof[e, i]] - sf * ctl[GX + i]
    for a in range(dim):
        for i in range(3):
            dm[a, i] = 0.5 * (d0[a, i] + d1[a, i])
            b[a, i] = d1[a, i]
        cross(turn, dm[a], v)
        cross(turn, d0[a], u)
        for i in range(3):
            c[a, i] = d0[a, i] + 0.5 * u[i]
            X[1 + a, i] = v[i] - h * dv[a, i]


@inner
def _shapes(ctl, dof, hist, Q, V, U, e, turn, d0, d1, dm, dv, q0, q1, qe, X, mean, v):
    """Fill rows w_ak of X and their means, and the modal coordinates q0, q1 at both ends of the step.

    qe is the mean of q plus the damping of the rule times its rate.
    """
    dim, n = d1.shape[0], q0.shape[0]
    first = 3 * (dim - 1)
    sf = ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    for k in range(n):
        j = dof[e, first + k]
        if one_state:
            q0[k] = q1[k] = Q[1, j]
            rate, qm = V[1, j], Q[1, j]
        else:
            q0[k], q1[k] = Q[0, j], Q[0, j] + U[j]
            rate, qm = U[j] / ctl[H], Q[0, j] + 0.5 * U[j]
        qe[k] = qm + ctl[DECAY] * rate
        for a in range(dim):
            r = 1 + dim + a * n + k
            if one_state:  # one state in both rows: its mean is itself
                for i in range(3):
                    X[r, i] = sf * (V[2, j] * d1[a, i] + 2.0 * rate * dv[a, i]) + qm * X[1 + a, i]
                    mean[r, i] = q1[k] * d1[a, i]
                    if X.shape[1] == 12:
                        X[r, 9 + i] = rate * d1[a, i]
            else:
                cross(turn, dm[a], v)
                for i in range(3):
                    X[r, i] = qm * v[i] + U[j] * dm[a, i] - ctl[H] * hist[e, 3 * (a * n + k) + i]
                    mean[r, i] = 0.5 * (q0[k] * d0[a, i] + q1[k] * d1[a, i])
    for a in range(dim):
        for i in range(3):
            mean[1 + a, i] = dm[a, i]


@inner
def _tangent_columns(d1, q1, mean, X):
    """Fill columns of X for the tangent: y at the end of the step (3 to 5), and its mean (6 to 8)."""
    dim, n = d1.shape[0], q1.shape[0]
    for i in range(3):
        X[0, 3 + i] = X[0, 6 + i] = 0.0
    for a in range(dim):
        for i in range(3):
            X[1 + a, 3 + i], X[1 + a, 6 + i] = d1[a, i], mean[1 + a, i]
            for k in range(n):
                r = 1 + dim + a * n + k
                X[r, 3 + i], X[r, 6 + i] = q1[k] * d1[a, i], mean[r, i]


@inner
def _rows(ctl, dof, e, V, U, stiff, damp, mean, MX, c, qe, f, v):
    """Fill f (6 + n,) with the rows (x, theta, q) in space of inertia, weight, stiffness and damping."""
    dim, n = c.shape[0], qe.shape[0]
    first = 3 * (dim - 1)
    for i in range(3):
        f[i] = MX[0, i]
        f[3 + i] = 0.0
    for r in range(1, MX.shape[0]):
        cross(mean[r], MX[r, :3], v)
        for i in range(3):
            f[3 + i] += v[i]
    for k in range(n):
        t = 0.0
        for a in range(dim):
            r = 1 + dim + a * n + k
            t += c[a, 0] * MX[r, 0] + c[a, 1] * MX[r, 1] + c[a, 2] * MX[r, 2]
        for m in range(n):
            j = dof[e, first + m]
            rate = V[1, j] if ctl[RULE] == ONE_STATE else U[j] / ctl[H]
            t += ctl[SF] * (stiff[k, m] * qe[m] + damp[k, m] * rate)
        f[6 + k] = t


@inner
def _state_loads(ctl, dof, e, V, d1, load, pull, body):
    """Fill the loads ``load`` (12,) of the frame at a state.

    ``pull`` (3,) gets the acceleration less gravity in space, ``body`` (3,) the angular velocity in the frame's axes.
    """
    dim = d1.shape[0]
    for i in range(3):
        pull[i] = V[2, dof[e, i]] - ctl[GX + i] if i < dim else 0.0
        j = dof[e, 3 + i] if dim == 3 else dof[e, 2]
        body[i] = V[1, j] if dim == 3 or i == 2 else 0.0
        load[3 + i] = V[2, j] if dim == 3 or i == 2 else 0.0
    for i in range(dim):
        load[i] = d1[i, 0] * pull[0] + d1[i, 1] * pull[1] + d1[i, 2] * pull[2]
    _products_of(body, load)


@inner
def _stiffening_rows(ctl, p, base, count, load, q0, q1, f):
    """Add the rows of geometric stiffening to f (6 + n,)."""
    n = q0.shape[0]
    for m in range(count):
        at = base + 1 + m * (1 + n * n)
        amount = ctl[SF] * load[int(p[at])]
        for k in range(n):
            f[6 + k] += amount * _matrix_times(p, at, n, q0, q1, k)


@inner
def _frame_block(unit, half, kappa, ws, mass, r, y, y1, w, S, Z, F, B, K, u):
    """Add the block (x, spin) of row r of M X to K: dF_r = spin x B + kappa ((w.S) spin - S (w.spin))."""
    if r == 0:
        K[0, 3], K[0, 4], K[0, 5] = ws, B[2], -B[1]
        K[1, 3], K[1, 4], K[1, 5] = -B[2], ws, B[0]
        K[2, 3], K[2, 4], K[2, 5] = B[1], -B[0], ws
        for i in range(3):
            K[i, i] = unit * mass
            for j in range(3):
                K[i, 3 + j] -= kappa * S[i] * w[j]
        K[3, 1], K[3, 2] = -unit * Z[2], unit * Z[1]
        K[4, 0], K[4, 2] = unit * Z[2], -unit * Z[0]
        K[5, 0], K[5, 1] = -unit * Z[1], unit * Z[0]
        return
    # y x (spin x B) = (y.B) spin - B (y.spin); the mean of y turns too: half y1 (F.spin) - half (y1.F) spin
    t = y[0] * B[0] + y[1] * B[1] + y[2] * B[2]
    t -= half * (y1[0] * F[0] + y1[1] * F[1] + y1[2] * F[2])
    cross(y, S, u)
    for i in range(3):
        K[3 + i, 3 + i] += t
        for j in range(3):
            K[3 + i, 3 + j] += half * y1[i] * F[j] - B[i] * y[j] - kappa * u[i] * w[j]
    K[3, 4] -= ws * y[2]
    K[3, 5] += ws * y[1]
    K[4, 3] += ws * y[2]
    K[4, 5] -= ws * y[0]
    K[5, 3] -= ws * y[1]
    K[5, 4] += ws * y[0]


@inner
def _inertia_tangent(ctl, M, mean, X, MX, w, b, c, d1, K, u, v, B):
    """Add the tangent of inertia and weight by (x, spin, q) in space to K."""
    dim = d1.shape[0]
    ny = M.shape[0]
    n = (ny - 1 - dim) // dim
    one_state = ctl[RULE] == ONE_STATE
    half = 1.0 if one_state else 0.5
    unit = ctl[SF] * ctl[WA] if one_state else 1.0
    kappa = ctl[SF] * ctl[WV] if one_state else 0.0
    for r in range(ny):
        S, Z, F = MX[r, 3:6], MX[r, 6:9], MX[r, :3]
        for i in range(3):
            B[i] = S[i]
        if one_state:
            cross(w, S, u)
            for i in range(3):
                B[i] = F[i] - M[r, 0] * X[0, i] + unit * S[i] + kappa * u[i]
                if X.shape[1] == 12:
                    B[i] += 2.0 * kappa * MX[r, 9 + i]
        ws = kappa * (w[0] * S[0] + w[1] * S[1] + w[2] * S[2])
        _frame_block(unit, half, kappa, ws, M[0, 0], r, mean[r], X[r, 3:6], w, S, Z, F, B, K, u)
        if r < 1 + dim:
            continue
        a, k = (r - 1 - dim) // n, (r - 1 - dim) % n
        ca = c[a]
        cross(B, ca, u)
        t = ca[0] * S[0] + ca[1] * S[1] + ca[2] * S[2]
        for i in range(3):
            K[6 + k, i] += unit * M[r, 0] * ca[i]
            K[6 + k, 3 + i] += u[i] + ws * ca[i] - kappa * t * w[i]
            K[i, 6 + k] += M[r, 0] * b[a, i]
        cross(Z, b[a], u)
        cross(d1[a], F, v)
        for i in range(3):
            K[3 + i, 6 + k] += u[i] + half * v[i]


@inner
def _modal_tangent(ctl, M, stiff, damp, b, c, K):
    """Add the tangent of inertia, stiffness and damping by q to K."""
    dim, n = b.shape[0], stiff.shape[0]
    rate = ctl[SF] * ctl[WV] if ctl[RULE] == ONE_STATE else ctl[SF] / ctl[H]
    for a in range(dim):
        for m in range(dim):
            t = c[a, 0] * b[m, 0] + c[a, 1] * b[m, 1] + c[a, 2] * b[m, 2]
            for k in range(n):
                for j in range(n):
                    K[6 + k, 6 + j] += t * M[1 + dim + a * n + k, 1 + dim + m * n + j]
    for k in range(n):
        for j in range(n):
            K[6 + k, 6 + j] += (0.5 * ctl[SK] + ctl[DECAY] * rate) * stiff[k, j] + rate * damp[k, j]


@inner
def _stiffening_tangent(ctl, p, base, count, share, load, pull, dm, d1, q0, q1, K, dload, u):
    """Add the tangent of geometric stiffening by (x, spin, q) to K.

    `_rotation_load_tangent` adds the part of the loads by rotation.
    """
    n = q0.shape[0]
    one_state = ctl[RULE] == ONE_STATE
    by_acceleration = ctl[WA] if one_state else 2.0 / (ctl[H] * ctl[H])
    half = 1.0 if one_state else 0.5
    for m in range(count):
        at = base + 1 + m * (1 + n * n)
        what = int(p[at])
        dload[:] = 0.0
        if what < ALPHA:
            cross(d1[what], pull, u)
            for i in range(3):
                dload[i] = by_acceleration * dm[what, i]
                dload[3 + i] = half * u[i]
        for k in range(n):
            for j in range(n):
                K[6 + k, 6 + j] += 0.5 * ctl[SK] * load[what] * p[at + 1 + k * n + j]
            t = _matrix_times(p, at, n, q0, q1, k)
            for i in range(6):
                K[6 + k, i] += ctl[SF] * share * t * dload[i]


@inner
def _rotation_load_tangent(ctl, p, base, count, share, body, d0, q0, q1, K, u):
    """Add the tangent of geometric stiffening by angular velocity and angular acceleration, which are linear in
    theta, to K."""
    dim, n = d0.shape[0], q0.shape[0]
    one_state = ctl[RULE] == ONE_STATE
    for m in range(count):
        at = base + 1 + m * (1 + n * n)
        what = int(p[at])
        if what < ALPHA:
            continue
        # derivative of w, or of its rate, by theta
        if what >= SQUARES:
            unit = ctl[WV] if one_state else 1.0 / ctl[H]
        else:
            unit = ctl[WA] if one_state else 2.0 / (ctl[H] * ctl[H])
        for i in range(3):
            u[i] = 0.0
            for a in range(3):  # derivative of the load by w_a (its rate), times that of w_a (its rate) by theta
                if what < SQUARES:
                    t = 1.0 if a == what - ALPHA else 0.0
                elif what < PRODUCTS:
                    t = 2.0 * body[a] if a == what - SQUARES else 0.0
                else:
                    x, y = (what - PRODUCTS, what - PRODUCTS + 1) if what < PRODUCTS + 2 else (0, 2)
                    t = body[y] if a == x else (body[x] if a == y else 0.0)
                if dim == 3:
                    u[i] += t * unit * d0[a, i]
                elif a == 2 and i == 2:
                    u[i] += t * unit
        for k in range(n):
            t = _matrix_times(p, at, n, q0, q1, k)
            for i in range(3):
                K[6 + k, 3 + i] += ctl[SF] * (share if what < SQUARES else 1.0) * t * u[i]


@inner
def _spin_to_cayley(turn, K, T):
    """Transform the columns of the frame's spin into those of its Cayley vector."""
    cayley_tangent(turn[0], turn[1], turn[2], T)
    for i in range(K.shape[0]):
        x, y, z = K[i, 3], K[i, 4], K[i, 5]
        for j in range(3):
            K[i, 3 + j] = x * T[0, j] + y * T[1, j] + z * T[2, j]


@inner
def _quotient_tangent(half, d0, MX, K, v):
    """Add the derivative of c_a to K: dc = dtheta x d0/2, in one-state rules spin x d."""
    dim = d0.shape[0]
    n = (MX.shape[0] - 1 - dim) // dim
    for a in range(dim):
        for k in range(n):
            cross(d0[a], MX[1 + dim + a * n + k, :3], v)
            for i in range(3):
                K[6 + k, 3 + i] += half * v[i]


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    first = 3 * (dim - 1)  # local unknown of the first modal coordinate
    n = dof.shape[1] - first
    ny = 1 + dim + dim * n
    one_state = ctl[RULE] == ONE_STATE
    half = 1.0 if one_state else 0.5
    tangent = job == TANGENT
    # columns of X and of M X: y'' (sf times), y at the end (S), at the mean (Z), and q' d
    width = (12 if one_state and ctl[WV] != 0.0 else 9) if tangent else 3
    X, MX, mean = np.zeros((ny, width)), np.empty((ny, width)), np.zeros((ny, 3))
    d0, d1, dm = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    dv, b, c = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))  # b: derivative of w_ak by q_k
    turn, w = scratch(3), cleared(3)
    q0, q1, qe = np.empty(n), np.empty(n), np.empty(n)
    f, K = np.empty(6 + n), np.empty((6 + n, 6 + n))
    share = 1.0
    load, pull, body = cleared(12), cleared(3), cleared(3)
    base, memory = MATRIX + ny * ny + 2 * n * n, 3 * dim * n
    u, v, rate, B, T, dload = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3, 3), scratch(6)  # work
    for e in range(e0, e1):
        p = par[e]
        count = int(p[base]) if p.size > base else 0
        M, stiff, damp = _matrices(p, ny, n)
        frame_directors(D[0], rot[e, 0], dim, d0)
        frame_directors(D[1], rot[e, 0], dim, d1)
        frame_turn(U, dof, e, dim, turn)
        if one_state:
            _frame_of_state(ctl, dof, e, V, d1, dm, dv, b, c, w, X, rate, v, u)
        else:
            frame_directors(DD[0], rot[e, 0], dim, dv)
            _frame_of_step(ctl, dof, e, V, U, turn, d0, d1, dm, dv, b, c, X, v, u)
        _shapes(ctl, dof, hist, Q, V, U, e, turn, d0, d1, dm, dv, q0, q1, qe, X, mean, v)
        if tangent:
            _tangent_columns(d1, q1, mean, X)
        _products(M, X, MX)
        _rows(ctl, dof, e, V, U, stiff, damp, mean, MX, c, qe, f, v)
        if count:
            if one_state:
                _state_loads(ctl, dof, e, V, d1, load, pull, body)
            else:
                body[:] = _step_loads(ctl, dof, e, dim, V, U, d0, dm, turn, load, pull)
            share = _averaged(hist[e, memory:], one_state, load)
            _stiffening_rows(ctl, p, base, count, load, q0, q1, f)
        for k in range(first + n):
            fe[e - e0, k] = f[row_in_space(k, dim)]
        if not tangent:
            continue
        K[:, :] = 0.0
        _inertia_tangent(ctl, M, mean, X, MX, w, b, c, d1, K, u, v, B)
        _modal_tangent(ctl, M, stiff, damp, b, c, K)
        _stiffening_tangent(ctl, p, base, count, share, load, pull, dm, d1, q0, q1, K, dload, u)
        if not one_state:
            _spin_to_cayley(turn, K, T)
        _quotient_tangent(half, d0, MX, K, v)
        _rotation_load_tangent(ctl, p, base, count, share, body, d0, q0, q1, K, u)
        for k in range(first + n):
            row = row_in_space(k, dim)
            for j in range(first + n):
                ke[e - e0, k, j] = K[row, row_in_space(j, dim)]


@inner
def _rates(ctl, dof, rot, hist, Q, D, V, DD, U, e, dim, d0, d1, dv, W):
    """Fill W (dim n, 3) with w' at the end of the step, or at its start where both rows hold the same state."""
    first = 3 * (dim - 1)
    n = dof.shape[1] - first
    node = rot[e, 0]
    frame_directors(D[0], node, dim, d0)
    frame_directors(D[1], node, dim, d1)
    frame_directors(DD[1], node, dim, dv)
    one_state = ctl[RULE] == ONE_STATE
    moved = False
    for k in range(dof.shape[1]):
        j = dof[e, k]
        moved = moved or U[j] != 0.0 or V[0, j] != V[1, j]
    for a in range(dim):
        for k in range(n):
            j = dof[e, first + k]
            for i in range(3):
                if one_state:
                    W[a * n + k, i] = V[1, j] * d1[a, i] + Q[1, j] * dv[a, i]
                    continue
                before = hist[e, 3 * (a * n + k) + i]
                W[a * n + k, i] = before
                if moved:
                    W[a * n + k, i] = 2.0 / ctl[H] * (Q[1, j] * d1[a, i] - Q[0, j] * d0[a, i]) - before


@inner
def _watch_spin(e0, e1, par, dof, V, dim, fe):
    """Write the spin over the lowest frequency."""
    for e in range(e0, e1):
        square = 0.0
        for k in range(dim, 3 * (dim - 1)):
            square += V[1, dof[e, k]] ** 2
        fe[e - e0, 0] = math.sqrt(square) / par[e, SLOWEST] if par[e, SLOWEST] > 0.0 else 0.0


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    first = 3 * (dim - 1)
    n = dof.shape[1] - first
    ny = 1 + dim + dim * n
    d0, d1, dm, dv = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    W = np.empty((dim * n, 3))
    y, rate, P = np.zeros((ny, 3)), np.zeros((ny, 3)), np.empty((ny, 3))
    x, turn, load, pull = scratch(3), scratch(3), cleared(12), cleared(3)
    base, memory = MATRIX + ny * ny + 2 * n * n, 3 * dim * n
    one_state = ctl[RULE] == ONE_STATE
    if job == WATCH:
        _watch_spin(e0, e1, par, dof, V, dim, fe)
        return
    for e in range(e0, e1):
        if job == START:
            hist[e, memory] = 0.0
            frame_directors(D[1], rot[e, 0], dim, d1)
            frame_directors(DD[1], rot[e, 0], dim, dv)
            for a in range(dim):
                for k in range(n):
                    j = dof[e, first + k]
                    for i in range(3):
                        hist[e, 3 * (a * n + k) + i] = V[1, j] * d1[a, i] + Q[1, j] * dv[a, i]
            continue
        _rates(ctl, dof, rot, hist, Q, D, V, DD, U, e, dim, d0, d1, dv, W)
        if job == COMMIT:
            for r in range(dim * n):
                for i in range(3):
                    hist[e, 3 * r + i] = W[r, i]
        p = par[e]
        count = int(p[base]) if p.size > base and ctl[H] > 0.0 else 0
        if count:
            for a in range(dim):
                for i in range(3):
                    dm[a, i] = 0.5 * (d0[a, i] + d1[a, i])
            frame_turn(U, dof, e, dim, turn)
            _step_loads(ctl, dof, e, dim, V, U, d0, dm, turn, load, pull)
            if job == COMMIT:
                hist[e, memory] = 0.0 if one_state else 1.0
                for i in range(6):
                    hist[e, memory + 1 + i] = load[i]
            _averaged(hist[e, memory:], one_state, load)
        if job != LEDGER:
            continue
        f = fe[e - e0]
        M, stiff, damp = _matrices(p, ny, n)
        for i in range(dim):
            y[0, i], rate[0, i] = Q[1, dof[e, i]], V[1, dof[e, i]]
        for a in range(dim):
            for i in range(3):
                y[1 + a, i], rate[1 + a, i] = d1[a, i], dv[a, i]
                for k in range(n):
                    y[1 + dim + a * n + k, i] = Q[1, dof[e, first + k]] * d1[a, i]
                    rate[1 + dim + a * n + k, i] = W[a * n + k, i]
        _products(M, rate, P)
        for r in range(ny):
            cross(y[r], P[r], x)
            for i in range(3):
                f[KINETIC] += 0.5 * rate[r, i] * P[r, i]
                f[POTENTIAL] -= M[r, 0] * ctl[GX + i] * y[r, i]
                f[LX + i] += x[i]
        for i in range(3):
            f[PX + i] = P[0, i]
        for k in range(n):
            i = dof[e, first + k]
            for m in range(n):
                j = dof[e, first + m]
                f[STRAIN] += 0.5 * Q[1, i] * stiff[k, m] * Q[1, j]
                if ctl[H] > 0.0:
                    loss = damp[k, m] + ctl[DECAY] * stiff[k, m]
                    f[DISSIPATED] += (Q[1, i] - Q[0, i]) * loss * (Q[1, j] - Q[0, j]) / ctl[H]
        for m in range(count):
            at = base + 1 + m * (1 + n * n)
            for k in range(n):
                i = dof[e, first + k]
                for l in range(n):
                    j = dof[e, first + l]
                    share = p[at + 1 + k * n + l] * (Q[1, i] - Q[0, i]) * 0.5 * (Q[0, j] + Q[1, j])
                    f[LOAD_WORK] -= load[int(p[at])] * share


def parameters(
    matrix: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, stiffening: Mapping[str, np.ndarray] | None = None,
    slowest: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """Return one row of parameters.

    Args:
        matrix: M (1 + dim + dim n, squared) of `fem_mbs.parts.part.Moments.matrix`.
        stiffness, damping: K and D (n, n).
        stiffening: K_j (n, n) of loads among `LOADS`.
        slowest: lowest frequency [rad/s], beside which the spin is watched; 0: it is not.
    """
    row = [(matrix[0, 0], slowest), matrix.ravel(), stiffness.ravel(), damping.ravel()]
    if stiffening:
        row.append((len(stiffening),))
        for name, K in stiffening.items():
            row += [(LOADS.index(name),), K.ravel()]
    return np.concatenate(row)


_SPIN = Watch(
    0.2, math.inf, "its rotation",
    "centrifugal forces change its stiffness by about the square of that, which it lacks: reduce the part with "
    "stiffening = the interface that carries it, and give stiffening = \"all\" here, or cut it in several parts",
    kind="Reduced part", unit="times its lowest frequency",
)  # fmt: skip


def make_type(name: str, dimension: int, modes: int) -> ElementType:
    """Return the type of a body with that number of modal coordinates; all types share their kernels."""
    return ElementType(
        name, dimension, 1, True, ("mass [kg]", "slowest [rad/s]"), _force, _report,
        hist=3 * dimension * modes + 7, inertia=True, tables=True, scalars=modes, watches=(_SPIN,),
    )  # fmt: skip
