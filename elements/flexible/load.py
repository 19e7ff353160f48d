"""Loads on the surface and inside of reduced parts: `flexible_load2_n`, `flexible_load3_n` with n modal coordinates.

Forces f_i at points c_i of a body in n modal coordinates q (`fem_mbs.elements.flexible.body`) and moments m_i at nodes
with the rotations Psi_i q need of the body but constant sums, since r = x + sum_a d_a (c_a + Phi_a q) is linear in
y = (x, d_a, w_ak), w_ak = q_k d_a:

    L = (sum f_i, sum c_ia f_i, sum Phi_iak f_i)      C = (sum m_i, sum Psi_iak m_i)

They turn with the frame ("follower": F_j = sum_b d_bm L_jb, d_bm the mean of both ends of the step), as pressures do,
or keep their directions in space (F_j = L_j).  With theta, w_m and c_a as there, the forces have the rows

    x: F_x     theta: sum d_am x F_a + sum w_m x F_w     q_k: sum_a c_a.F_ak

whose work is exactly F.(y1 - y0); constant loads of fixed direction have the potential -L.y.  Moments are projected on
the rotation of the frame and, to first order, on Psi q in it: rows H_0 (the mean direction, if it turns) and

    q_k: sum_a C_ak,a (turning: constant)     sum_a d_am.C_ak (fixed)

with the work H_0.theta (in the plane M times the change of the angle, its potential) plus rows times dq.  All are
booked as work of loads, with the factor f(t) in the middle of a step (one-state rules: the mean of f at both ends).
The output is that factor at the end of a step.

Dofs: (x, theta) of the frame, q.  Parameters: index of the time function (negative: constant 1), whether it turns (1,
0), then L (1 + dim + dim n, dim) and C (1 + r n, r), r = 1 or 3 rotations, row by row, in the axes of the frame if they
turn, else in those of space.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import LEDGER, LOAD_WORK, ONE_STATE, OUTPUT, RULE, SF, SK, T0, T1, TANGENT, TM, inner, kernel
from fem_mbs.elements.common import time_value
from fem_mbs.elements.flexible.body import frame_directors, frame_turn, row_in_space
from fem_mbs.elements.kinematics import cayley_tangent, cayley_vector, cross, relative_angle
from fem_mbs.elements.registry import ElementType

__all__ = ["make_type", "parameters"]

FUNCTION, TURNING, FORCES = range(3)  # columns of par; the moments follow the forces


@inner
def _tables(par, e, ny, dim, n, r):
    """Return L (ny, dim) and C (1 + r n, r) of an element."""
    moments = FORCES + ny * dim
    return (
        par[e, FORCES:moments].reshape((ny, dim)),
        par[e, moments : moments + (1 + r * n) * r].reshape((1 + r * n, r)),
    )


@inner
def _vector(L, j, d, turns, out):
    """Fill out (3,) with row j of L in spatial axes: turned with the directors d, or unchanged."""
    for i in range(3):
        out[i] = 0.0
    for b in range(L.shape[1]):
        if turns:
            for i in range(3):
                out[i] += L[j, b] * d[b, i]
        else:
            out[b] = L[j, b]


@inner
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def _turned_arm(K, row, y, y1, F, g, c, turns):
    """Add the derivative of y_m x F_m by the spin of the end to K; c is half of the factor.

    y_m and, if it turns, F_m change by half of what they do at the end.
    """
    # (s x y1) x F = y1 (s.F) - s (y1.F) and y x (s x g) = s (y.g) - g (y.s)
    t = -_dot(y1, F)
    if turns:
        t += _dot(y, g)
    for i in range(3):
        K[row + i, 3 + i] += c * t
        for j in range(3):
            K[row + i, 3 + j] += c * y1[i] * F[j]
            if turns:
                K[row + i, 3 + j] -= c * g[i] * y[j]


@inner
def _turned_vector(K, row, g, c):
    """Add c (s x g), the derivative of a vector that turns with the end, to K; c is half of the factor."""
    K[row, 4] += c * g[2]
    K[row, 5] -= c * g[1]
    K[row + 1, 3] -= c * g[2]
    K[row + 1, 5] += c * g[0]
    K[row + 2, 3] += c * g[1]
    K[row + 2, 4] -= c * g[0]


@inner
def _frame_rows(factor, tangent, turns, L, d1, dm, f, K, F, g, u):
    """Fill the rows f of the forces on the frame (x, d_a), and add their tangent to K."""
    half = 0.5 * factor  # of tangents, times ctl[SK]
    _vector(L, 0, dm, turns, F)
    for i in range(3):
        f[i], f[3 + i] = factor * F[i], 0.0
    if tangent and turns:
        _vector(L, 0, d1, turns, g)
        _turned_vector(K, 0, g, half)
    for a in range(dm.shape[0]):
        _vector(L, 1 + a, dm, turns, F)
        _vector(L, 1 + a, d1, turns, g)
        cross(dm[a], F, u)
        for i in range(3):
            f[3 + i] += factor * u[i]
        if tangent:
            _turned_arm(K, 3, dm[a], d1[a], F, g, half, turns)


@inner
def _shape_rows(factor, tangent, turns, L, k, q0, q1, d0, d1, dm, c, f, K, F, g, y, y1, u, w):
    """Add the rows of the forces on the vectors q_k d_a of the shape k to f, and their tangent to K."""
    dim = dm.shape[0]
    n = f.shape[0] - 6
    half = 0.5 * factor
    t = 0.0
    for a in range(dim):
        _vector(L, 1 + dim + a * n + k, dm, turns, F)
        t += _dot(c[a], F)
        for i in range(3):
            y1[i] = q1 * d1[a, i]
            y[i] = 0.5 * (q0 * d0[a, i] + y1[i])
        cross(y, F, u)
        for i in range(3):
            f[3 + i] += factor * u[i]
        if not tangent:
            continue
        _vector(L, 1 + dim + a * n + k, d1, turns, g)
        _turned_arm(K, 3, y, y1, F, g, half, turns)
        cross(d1[a], F, u)
        cross(g, c[a], w)  # c.(s x g) = s.(g x c)
        for i in range(3):
            K[3 + i, 6 + k] += half * u[i]
            if turns:
                K[6 + k, 3 + i] += half * w[i]
    f[6 + k] = factor * t


@inner
def _moment_rows(factor, tangent, turns, kappa, C, d1, dm, f, K, F, g, u):
    """Add the rows of the moments on the frame and on the rotations of the shapes to f, and their tangent to K."""
    dim = dm.shape[0]
    n = f.shape[0] - 6
    half = 0.5 * factor
    if dim == 2:
        f[5] += factor * C[0, 0] * kappa
        for k in range(n):
            f[6 + k] += factor * C[1 + k, 0]
    else:
        _vector(C, 0, dm, turns, F)
        for i in range(3):
            f[3 + i] += factor * F[i]
        if tangent and turns:
            _vector(C, 0, d1, turns, g)
            _turned_vector(K, 3, g, half)
        for k in range(n):
            for a in range(3):
                j = 1 + a * n + k
                if turns:
                    f[6 + k] += factor * C[j, a]
                    continue
                f[6 + k] += factor * (dm[a, 0] * C[j, 0] + dm[a, 1] * C[j, 1] + dm[a, 2] * C[j, 2])
                if tangent:
                    cross(d1[a], C[j], u)  # (s x d).C = s.(d x C)
                    for i in range(3):
                        K[6 + k, 3 + i] += half * u[i]


@inner
def _spin_to_cayley(factor, turn, slope, C, K, u, T):
    """Transform the columns of the frame's spin into those of its Cayley vector."""
    if C.shape[1] == 1:
        for i in range(K.shape[0]):
            K[i, 5] /= 1.0 + 0.25 * turn[2] * turn[2]
        K[5, 5] += factor * C[0, 0] * slope
        return
    cayley_tangent(turn[0], turn[1], turn[2], T)
    for i in range(K.shape[0]):
        u[0], u[1], u[2] = K[i, 3], K[i, 4], K[i, 5]
        for j in range(3):
            K[i, 3 + j] = u[0] * T[0, j] + u[1] * T[1, j] + u[2] * T[2, j]


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    first = 3 * (dim - 1)
    n = dof.shape[1] - first
    ny = 1 + dim + dim * n
    r = 3 if dim == 3 else 1
    d0, d1, dm, c = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    turn, F, u = scratch(3), scratch(3), scratch(3)
    f, K = np.empty(6 + n), np.empty((6 + n, 6 + n))
    tangent = job == TANGENT
    g, y, y1, w, T = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3, 3)  # work
    for e in range(e0, e1):
        turns = par[e, TURNING] > 0.5
        L, C = _tables(par, e, ny, dim, n, r)
        factor = time_value(fun, par[e, FUNCTION], TM, 1.0)
        frame_directors(D[0], rot[e, 0], dim, d0)
        frame_directors(D[1], rot[e, 0], dim, d1)
        frame_turn(U, dof, e, dim, turn)
        for a in range(dim):
            cross(turn, d0[a], u)
            for i in range(3):
                dm[a, i] = 0.5 * (d0[a, i] + d1[a, i])
                c[a, i] = d0[a, i] + 0.5 * u[i]
        K[:, :] = 0.0
        _frame_rows(factor, tangent, turns, L, d1, dm, f, K, F, g, u)
        for k in range(n):
            j = dof[e, first + k]
            _shape_rows(factor, tangent, turns, L, k, Q[0, j], Q[1, j], d0, d1, dm, c, f, K, F, g, y, y1, u, w)
        _, kappa, slope, _ = relative_angle(turn[2], 0.0)
        _moment_rows(factor, tangent, turns, kappa, C, d1, dm, f, K, F, g, u)
        for k in range(first + n):
            fe[e - e0, k] = -ctl[SF] * f[row_in_space(k, dim)]
        if not tangent:
            continue
        _spin_to_cayley(factor, turn, slope, C, K, u, T)
        for k in range(n):  # dc = dtheta x d0/2
            for a in range(dim):
                _vector(L, 1 + dim + a * n + k, dm, turns, F)
                cross(d0[a], F, u)
                for i in range(3):
                    K[6 + k, 3 + i] += 0.5 * factor * u[i]
        for k in range(first + n):
            for j in range(first + n):
                ke[e - e0, k, j] = -ctl[SK] * K[row_in_space(k, dim), row_in_space(j, dim)]


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == OUTPUT:
        for e in range(e0, e1):
            fe[e - e0, 0] = time_value(fun, par[e, FUNCTION], T1, 1.0)
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    first = 3 * (dim - 1)
    n = dof.shape[1] - first
    ny = 1 + dim + dim * n
    r = 3 if dim == 3 else 1
    d0, d1, dm = np.empty((dim, 3)), np.empty((dim, 3)), np.empty((dim, 3))
    F, u = scratch(3), cleared(3)
    for e in range(e0, e1):
        turns = par[e, TURNING] > 0.5
        one_state = ctl[RULE] == ONE_STATE
        L, C = _tables(par, e, ny, dim, n, r)
        frame_directors(D[0], rot[e, 0], dim, d0)
        frame_directors(D[1], rot[e, 0], dim, d1)
        for a in range(dim):
            for i in range(3):
                dm[a, i] = 0.5 * (d0[a, i] + d1[a, i])
        for i in range(dim):
            k = dof[e, i]
            u[i] = Q[1, k] - Q[0, k] if one_state else U[k]
        _vector(L, 0, dm, turns, F)
        work = F[0] * u[0] + F[1] * u[1] + (F[2] * u[2] if dim == 3 else 0.0)
        for a in range(dim):
            _vector(L, 1 + a, dm, turns, F)
            for i in range(3):
                work += F[i] * (d1[a, i] - d0[a, i])
        if dim == 2:
            k = dof[e, 2]
            work += C[0, 0] * (Q[1, k] - Q[0, k] if one_state else relative_angle(U[k], 0.0)[0])
        else:
            frame_turn(U, dof, e, dim, u)
            if one_state:
                cayley_vector(D[0, rot[e, 0]], D[1, rot[e, 0]], u)
            _vector(C, 0, dm, turns, F)
            work += _dot(F, u)
        for k in range(n):
            m = dof[e, first + k]
            q0, q1 = Q[0, m], Q[1, m]
            dq = q1 - q0 if one_state else U[m]
            for a in range(dim):
                _vector(L, 1 + dim + a * n + k, dm, turns, F)
                for i in range(3):
                    work += F[i] * (q1 * d1[a, i] - q0 * d0[a, i])
            if dim == 2:
                work += C[1 + k, 0] * dq
                continue
            for a in range(3):
                j = 1 + a * n + k
                work += dq * (C[j, a] if turns else dm[a, 0] * C[j, 0] + dm[a, 1] * C[j, 1] + dm[a, 2] * C[j, 2])
        if one_state:
            factor = 0.5 * (time_value(fun, par[e, FUNCTION], T0, 1.0) + time_value(fun, par[e, FUNCTION], T1, 1.0))
        else:
            factor = time_value(fun, par[e, FUNCTION], TM, 1.0)
        fe[e - e0, LOAD_WORK] = factor * work


def parameters(forces: np.ndarray, moments: np.ndarray, rotation: np.ndarray | None = None) -> np.ndarray:
    """Return one row of parameters, without the index of the time function.

    Args:
        forces: L (1 + dim + dim n, dim), in the axes of the frame.
        moments: C (1 + r n, r), in the axes of the frame.
        rotation: (dim, dim) of these axes, for loads that keep the directions that it gives them; without it they turn
            with the frame.
    """
    if rotation is None:
        return np.concatenate(((1.0,), forces.ravel(), moments.ravel()))
    fixed = moments @ rotation.T if moments.shape[1] == 3 else moments
    return np.concatenate(((0.0,), (forces @ rotation.T).ravel(), fixed.ravel()))


def make_type(name: str, dimension: int, modes: int) -> ElementType:
    """Return the type of a load on a body with that number of modal coordinates; all types share their kernels."""
    return ElementType(
        name, dimension, 1, True, ("function", "turning"), _force, _report, tables=True, scalars=modes,
        outputs=("level",), at_end=("level",),
    )  # fmt: skip
