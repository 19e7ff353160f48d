"""Inertia in space with a constant matrix over positions and directors: `director_mass3`.

With y = (x_p, d1_p, d2_p, d3_p, x_q, d1_q, d2_q, d3_q), d_k the directors (columns of the node's rotation),

    T = 1/2 sum M_ij y_i'.y_j'

holds for the Hermite beam (Meijaard 1993, eqs 17-19), for linear and lumped beams, with offsets, mass centres beside
the axis and the sections' rotary inertia (Euler tensors) folded into M, and for rigid bodies referred to any point.
Two-state rule (docs/theory.md, section 2): y1' = 2 (y1 - y0)/h - y0', rows M (y1' - y0')/h on x and, since d1 - d0 =
theta x d_m, sum_d d_m x (.)_d on theta: exact in energy and both momenta.  The director velocities are state of their
own: d'.d vanishes at mid-step, at the ends to O(h^2).  One-state rules use d_k'' = R (A x e_k + W x (W x e_k)).

Weight: -sum_i w_i g.y_i, w_i the sum of row i over both positions.  Damping proportional to the mass: alpha M y'.

Dofs: (x_p, theta_p, x_q, theta_q).
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import (
    DISSIPATED,
    GX,
    KINETIC,
    LEDGER,
    LX,
    ONE_STATE,
    POTENTIAL,
    PX,
    RULE,
    SF,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.kinematics import cayley_tangent, cross, rotate, spin
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

PAR = ("mass [kg]", "damping [1/s]", *(f"M{i}{j} [kg]" for i in range(1, 9) for j in range(i, 9)))
DAMPING, _FIRST = 1, 2  # columns of par: damping, and the upper triangle of the mass matrix


@inner
def _matrix(par, e, M):
    k = _FIRST
    for i in range(8):
        for j in range(i, 8):
            M[i, j] = M[j, i] = par[e, k]
            k += 1


@inner
def _coordinates(ctl, dof, rot, D, V, DD, U, e, alpha, row, end, y, w, acc, v, x):
    """Fill y (8, 3) with sf times the accelerations less gravity; M y are the forces of inertia and weight.

    ``row`` and ``end`` (8, 3) get the directors at mid-step and at the end of the step.
    """
    h, sf = ctl[H], ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    for a in range(2):
        n, j = rot[e, a], 6 * a
        if one_state:
            spin(V, D, dof, rot, 1, e, a, w)
            rotate(D, 1, n, V[2, dof[e, j + 3]], V[2, dof[e, j + 4]], V[2, dof[e, j + 5]], acc)
        for i in range(3):
            k = dof[e, j + i]
            if one_state:
                y[4 * a, i] = sf * (V[2, k] + alpha * V[1, k] - ctl[GX + i])
            else:
                y[4 * a, i] = U[k] - h * V[0, k] + 0.5 * alpha * h * U[k] - sf * ctl[GX + i]
        for b in range(3):
            m = 4 * a + 1 + b
            for i in range(3):
                end[m, i] = D[1, n, 3 * i + b]
                row[m, i] = 0.5 * (D[0, n, 3 * i + b] + end[m, i])
            if one_state:
                cross(w, end[m], v)
                cross(w, v, x)
                cross(acc, end[m], y[m])
                for i in range(3):
                    y[m, i] = sf * (y[m, i] + x[i] + alpha * v[i])
            else:
                # d1 - d0 = theta x d_m exactly
                v[0], v[1], v[2] = U[dof[e, j + 3]], U[dof[e, j + 4]], U[dof[e, j + 5]]
                cross(v, row[m], x)
                for i in range(3):
                    y[m, i] = (1.0 + 0.5 * alpha * h) * x[i] - h * DD[0, n, 3 * i + b]


@inner
def _products(M, y, row, zz, f, v):
    """Fill zz (8, 3) with M y, and f (12,) with the rows of both ends."""
    for i in range(8):
        for c in range(3):
            zz[i, c] = 0.0
            for j in range(8):
                zz[i, c] += M[i, j] * y[j, c]
    for a in range(2):
        j = 6 * a
        for i in range(3):
            f[j + i] = zz[4 * a, i]
            f[j + 3 + i] = 0.0
        for b in range(3):
            m = 4 * a + 1 + b
            cross(row[m], zz[m], v)
            for i in range(3):
                f[j + 3 + i] += v[i]


@inner
def _by_spin(ctl, dof, rot, D, V, e, unit, end, y, Y, w, acc, v, x):
    """Fill Y[a, b] (3, 3) with the derivative of the inertia coordinate of director b by the spin of end a, column
    by column."""
    sf, wv = ctl[SF], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    for a in range(2):
        if one_state:
            spin(V, D, dof, rot, 1, e, a, w)
        for b in range(3):
            m = 4 * a + 1 + b
            for c in range(3):
                x[0] = x[1] = x[2] = 0.0
                x[c] = 1.0
                cross(x, end[m], v)  # dspin x d
                if one_state:
                    # all vectors turn: dspin x y; dW = WV dspin, dA = WA dspin in body axes
                    cross(x, y[m], acc)
                    for i in range(3):
                        Y[a, b, i, c] = acc[i] + unit * v[i]
                    cross(w, v, acc)
                    for i in range(3):
                        Y[a, b, i, c] += sf * wv * acc[i]
                    cross(w, end[m], v)
                    cross(x, v, acc)
                    for i in range(3):
                        Y[a, b, i, c] += sf * wv * acc[i]
                else:
                    for i in range(3):
                        Y[a, b, i, c] = unit * v[i]


@inner
def _block(M, unit, row, Y, a, b, K, v, x, B):
    """Write the block of the rows of end a and the columns of end b to K, by dx and spins.

    `_turned_directors` adds the derivative of the mean directors.
    """
    i0, j0 = 6 * a, 6 * b
    mxx = unit * M[4 * a, 4 * b]
    for i in range(3):
        for j in range(3):
            K[i0 + i, j0 + j] = mxx if i == j else 0.0
            t = 0.0
            for k in range(3):
                t += M[4 * a, 4 * b + 1 + k] * Y[b, k, i, j]
            K[i0 + i, j0 + 3 + j] = t
    # (sum_i M_ix d_m,i)~
    for i in range(3):
        v[i] = 0.0
        for k in range(3):
            v[i] += unit * M[4 * a + 1 + k, 4 * b] * row[4 * a + 1 + k, i]
    i1 = i0 + 3
    K[i1, j0], K[i1, j0 + 1], K[i1, j0 + 2] = 0.0, -v[2], v[1]
    K[i1 + 1, j0], K[i1 + 1, j0 + 1], K[i1 + 1, j0 + 2] = v[2], 0.0, -v[0]
    K[i1 + 2, j0], K[i1 + 2, j0 + 1], K[i1 + 2, j0 + 2] = -v[1], v[0], 0.0
    for c in range(3):
        B[0, c] = B[1, c] = B[2, c] = 0.0
        for k in range(3):
            for i in range(3):
                x[i] = 0.0
                for m in range(3):
                    x[i] += M[4 * a + 1 + k, 4 * b + 1 + m] * Y[b, m, i, c]
            cross(row[4 * a + 1 + k], x, v)
            for i in range(3):
                B[i, c] += v[i]
    for i in range(3):
        for c in range(3):
            K[i1 + i, j0 + 3 + c] = B[i, c]


@inner
def _turned_directors(half, end, zz, a, K):
    """Add the derivative of the mean directors of end a by its spin to K: (dspin x d1) x z times ``half``.

    ``half`` is 1/2, in one-state rules 1.
    """
    i1 = 6 * a + 3
    for k in range(3):
        m = 4 * a + 1 + k
        t = end[m, 0] * zz[m, 0] + end[m, 1] * zz[m, 1] + end[m, 2] * zz[m, 2]
        for i in range(3):
            for c in range(3):
                K[i1 + i, i1 + c] += half * end[m, i] * zz[m, c]
            K[i1 + i, i1 + i] -= half * t


@inner
def _spins_to_cayley(U, dof, e, K, x, T):
    """Transform the columns of both spins into those of the Cayley vectors."""
    for b in range(2):
        j = 6 * b + 3
        cayley_tangent(U[dof[e, j]], U[dof[e, j + 1]], U[dof[e, j + 2]], T)
        for i in range(12):
            x[0], x[1], x[2] = K[i, j], K[i, j + 1], K[i, j + 2]
            for c in range(3):
                K[i, j + c] = x[0] * T[0, c] + x[1] * T[1, c] + x[2] * T[2, c]


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    one_state = ctl[RULE] == ONE_STATE
    M = scratch(8, 8)
    y, zz = scratch(8, 3), scratch(8, 3)  # inertia coordinates and the forces on them
    row, end = cleared(8, 3), cleared(8, 3)
    Y = scratch(2, 3, 3, 3)
    w, acc, v, x, B, T = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3, 3), scratch(3, 3)  # work
    for e in range(e0, e1):
        _matrix(par, e, M)
        alpha = par[e, DAMPING]
        # one unit of dx in the inertia coordinate of a position, and of a director's change
        unit = ctl[SF] * (ctl[WA] + alpha * ctl[WV]) if one_state else 1.0 + 0.5 * alpha * ctl[H]
        _coordinates(ctl, dof, rot, D, V, DD, U, e, alpha, row, end, y, w, acc, v, x)
        _products(M, y, row, zz, fe[e - e0], v)
        if job != TANGENT:
            continue
        K = ke[e - e0]
        _by_spin(ctl, dof, rot, D, V, e, unit, end, y, Y, w, acc, v, x)
        for a in range(2):
            for b in range(2):
                _block(M, unit, row, Y, a, b, K, v, x, B)
            _turned_directors(1.0 if one_state else 0.5, end, zz, a, K)
        if not one_state:
            _spins_to_cayley(U, dof, e, K, x, T)


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    M = scratch(8, 8)
    y, v, d, p = cleared(8, 3), scratch(8, 3), scratch(8, 3), scratch(3)
    x = scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, M)
        for a in range(2):
            n = rot[e, a]
            for i in range(3):
                k = dof[e, 6 * a + i]
                y[4 * a, i], v[4 * a, i], d[4 * a, i] = Q[1, k], V[1, k], Q[1, k] - Q[0, k]
                for b in range(3):
                    m = 4 * a + 1 + b
                    y[m, i], v[m, i] = D[1, n, 3 * i + b], DD[1, n, 3 * i + b]
                    d[m, i] = D[1, n, 3 * i + b] - D[0, n, 3 * i + b]
        loss = 0.0
        for i in range(8):
            p[0] = p[1] = p[2] = 0.0
            for j in range(8):
                for c in range(3):
                    p[c] += M[i, j] * v[j, c]
                    loss += d[i, c] * M[i, j] * d[j, c]
            weight = M[i, 0] + M[i, 4]
            cross(y[i], p, x)
            for c in range(3):
                f[KINETIC] += 0.5 * v[i, c] * p[c]
                f[POTENTIAL] -= weight * ctl[GX + c] * y[i, c]
                f[LX + c] += x[c]
            if i == 0 or i == 4:
                for c in range(3):
                    f[PX + c] += p[c]
        if par[e, DAMPING] != 0.0 and ctl[H] > 0.0:
            f[DISSIPATED] = par[e, DAMPING] * loss / ctl[H]


TYPES = {"director_mass3": ElementType("director_mass3", 3, 2, True, PAR, force, report, inertia=True)}
