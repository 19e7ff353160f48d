"""Centrifugal force in a frame that rotates at constant speed: `centrifugal2` (plane), `centrifugal3` (space).

With the constant-mass coordinates y of a beam or body (`fem_mbs.elements.masses.director_mass`, in the plane
`fem_mbs.elements.paths.hermite`), the axis n through the point c, P = I - n n^T, and c_i = c for positions, 0 for
directors,

    V = -w^2/2 sum_ij M_ij (P (y_i - c_i)).(P (y_j - c_j))

is quadratic in y: its gradient at the mean of two states is an exact quotient.  The function is the square of the
speed, so that a load factor multiplies the force.  The element serves statics, modes and buckling in the rotating
frame; a transient would miss the Coriolis force.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import LEDGER, POTENTIAL, SF, SK, T1, TANGENT, TM, inner, kernel
from fem_mbs.elements.common import clear, time_value
from fem_mbs.elements.kinematics import cayley_tangent, cross
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: FUNCTION of both; in the plane the point CENTRE2 and the direction DIRECTION2 of the element; in space
# the axis AXIS3 and its point CENTRE3; MASS2 and MASS3, the upper triangles of the mass matrices
FUNCTION = 0
CENTRE2, DIRECTION2, MASS2 = 1, 3, 5
AXIS3, CENTRE3, MASS3 = 1, 4, 7


@inner
def _matrix(par, e, first, n, M):
    k = first
    for i in range(n):
        for j in range(i, n):
            M[i, j] = M[j, i] = par[e, k]
            k += 1


# --- plane -----------------------------------------------------------------------------------------------------------
@inner
def _coordinates2(par, e, dof, rot, Q, D, state, y):
    """Fill y (4, 2) with positions relative to the axis and directors of both ends."""
    ex, ey = par[e, DIRECTION2], par[e, DIRECTION2 + 1]
    for a in range(2):
        n = rot[e, a]
        for i in range(2):
            y[2 * a, i] = Q[state, dof[e, 3 * a + i]] - par[e, CENTRE2 + i]
        y[2 * a + 1, 0] = D[state, n, 0] * ex - D[state, n, 1] * ey
        y[2 * a + 1, 1] = D[state, n, 1] * ex + D[state, n, 0] * ey


@kernel
def _force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    M = scratch(4, 4)
    y0, y1, z = scratch(4, 2), scratch(4, 2), scratch(4, 2)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, MASS2, 4, M)
        _coordinates2(par, e, dof, rot, Q, D, 0, y0)
        _coordinates2(par, e, dof, rot, Q, D, 1, y1)
        w2 = time_value(fun, par[e, FUNCTION], TM, 1.0)
        for i in range(4):
            for c in range(2):
                z[i, c] = 0.0
                for j in range(4):
                    z[i, c] -= 0.5 * w2 * M[i, j] * (y0[j, c] + y1[j, c])
        for a in range(2):
            d = 2 * a + 1
            mx, my = 0.5 * (y0[d, 0] + y1[d, 0]), 0.5 * (y0[d, 1] + y1[d, 1])
            f[3 * a], f[3 * a + 1] = ctl[SF] * z[2 * a, 0], ctl[SF] * z[2 * a, 1]
            f[3 * a + 2] = ctl[SF] * (mx * z[d, 1] - my * z[d, 0])
        if job != TANGENT:
            continue
        K = ke[e - e0]
        k = -0.5 * ctl[SK] * w2
        for a in range(2):
            da, i = 2 * a + 1, 3 * a
            mx, my = 0.5 * (y0[da, 0] + y1[da, 0]), 0.5 * (y0[da, 1] + y1[da, 1])
            for b in range(2):
                db, j = 2 * b + 1, 3 * b
                v = U[dof[e, j + 2]]
                t = 1.0 / (1.0 + 0.25 * v * v)
                gx, gy = -t * y1[db, 1], t * y1[db, 0]  # d of the end's director
                mxx, mxd = k * M[2 * a, 2 * b], k * M[2 * a, db]
                mdx, mdd = k * M[da, 2 * b], k * M[da, db]
                K[i, j], K[i, j + 1], K[i + 1, j], K[i + 1, j + 1] = mxx, 0.0, 0.0, mxx
                K[i, j + 2], K[i + 1, j + 2] = mxd * gx, mxd * gy
                K[i + 2, j], K[i + 2, j + 1] = -mdx * my, mdx * mx
                K[i + 2, j + 2] = mdd * (mx * gy - my * gx)
            v = U[dof[e, i + 2]]
            t = 0.5 * ctl[SK] / (1.0 + 0.25 * v * v)
            K[i + 2, i + 2] += t * (-y1[da, 1] * z[da, 1] - y1[da, 0] * z[da, 0])


@kernel
def _report2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    M, y = scratch(4, 4), scratch(4, 2)
    for e in range(e0, e1):
        _matrix(par, e, MASS2, 4, M)
        _coordinates2(par, e, dof, rot, Q, D, 1, y)
        w2 = time_value(fun, par[e, FUNCTION], T1, 1.0)
        for i in range(4):
            for j in range(4):
                fe[e - e0, POTENTIAL] -= 0.5 * w2 * M[i, j] * (y[i, 0] * y[j, 0] + y[i, 1] * y[j, 1])


# --- space -----------------------------------------------------------------------------------------------------------
@inner
def _across(par, e, v):
    """Replace v by P v, its component normal to the axis."""
    s = par[e, AXIS3] * v[0] + par[e, AXIS3 + 1] * v[1] + par[e, AXIS3 + 2] * v[2]
    for i in range(3):
        v[i] -= s * par[e, AXIS3 + i]


@inner
def _coordinates3(par, e, dof, rot, Q, D, state, y):
    """Fill y (8, 3) with positions relative to the point of the axis, and directors, of both ends."""
    for a in range(2):
        n = rot[e, a]
        for i in range(3):
            y[4 * a, i] = Q[state, dof[e, 6 * a + i]] - par[e, CENTRE3 + i]
            for b in range(3):
                y[4 * a + 1 + b, i] = D[state, n, 3 * i + b]


@kernel
def _force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    M = scratch(8, 8)
    y0, y1, z, ym = scratch(8, 3), scratch(8, 3), scratch(8, 3), scratch(8, 3)
    s, v, x = scratch(3), scratch(3), scratch(3)
    Y = scratch(2, 4, 6, 3)  # P times the change of each coordinate of an end by its six unknowns
    T = scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, MASS3, 8, M)
        _coordinates3(par, e, dof, rot, Q, D, 0, y0)
        _coordinates3(par, e, dof, rot, Q, D, 1, y1)
        w2 = time_value(fun, par[e, FUNCTION], TM, 1.0)
        for i in range(8):
            for c in range(3):
                ym[i, c] = 0.5 * (y0[i, c] + y1[i, c])
        for i in range(8):
            for c in range(3):
                z[i, c] = 0.0
                for j in range(8):
                    z[i, c] -= w2 * M[i, j] * ym[j, c]
            _across(par, e, z[i])
        for a in range(2):
            for c in range(3):
                f[6 * a + c] = ctl[SF] * z[4 * a, c]
            for b in range(3):
                cross(ym[4 * a + 1 + b], z[4 * a + 1 + b], v)
                for c in range(3):
                    f[6 * a + 3 + c] += ctl[SF] * v[c]
        if job != TANGENT:
            continue
        K = ke[e - e0]
        k = -0.5 * ctl[SK] * w2
        Y[:] = 0.0
        for a in range(2):
            r = 6 * a + 3
            cayley_tangent(U[dof[e, r]], U[dof[e, r + 1]], U[dof[e, r + 2]], T)
            for j in range(3):
                Y[a, 0, j, j] = 1.0
                _across(par, e, Y[a, 0, j])
                s[0], s[1], s[2] = T[0, j], T[1, j], T[2, j]
                for b in range(3):
                    cross(s, y1[4 * a + 1 + b], v)
                    # the mean director changes by half of it
                    cross(v, z[4 * a + 1 + b], x)
                    for c in range(3):
                        Y[a, 1 + b, 3 + j, c] = v[c]
                        K[r + c, r + j] += 0.5 * ctl[SK] * x[c]
                    _across(par, e, Y[a, 1 + b, 3 + j])
        for a in range(2):
            for b in range(2):
                for j in range(6):
                    for p in range(4):
                        for c in range(3):
                            s[c] = 0.0
                            for q in range(4):
                                s[c] += k * M[4 * a + p, 4 * b + q] * Y[b, q, j, c]
                        if p == 0:
                            for c in range(3):
                                K[6 * a + c, 6 * b + j] += s[c]
                        else:
                            cross(ym[4 * a + p], s, v)
                            for c in range(3):
                                K[6 * a + 3 + c, 6 * b + j] += v[c]


@kernel
def _report3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    M, y = scratch(8, 8), scratch(8, 3)
    for e in range(e0, e1):
        _matrix(par, e, MASS3, 8, M)
        _coordinates3(par, e, dof, rot, Q, D, 1, y)
        for i in range(8):
            _across(par, e, y[i])
        w2 = time_value(fun, par[e, FUNCTION], T1, 1.0)
        for i in range(8):
            for j in range(8):
                dot = y[i, 0] * y[j, 0] + y[i, 1] * y[j, 1] + y[i, 2] * y[j, 2]
                fe[e - e0, POTENTIAL] -= 0.5 * w2 * M[i, j] * dot


def _entries(n):
    return tuple(f"M{i}{j} [kg]" for i in range(1, n + 1) for j in range(i, n + 1))


TYPES = {
    "centrifugal2": ElementType(
        "centrifugal2",
        2,
        2,
        True,
        ("function", "cx [m]", "cy [m]", "ex [-]", "ey [-]", *_entries(4)),
        _force2,
        _report2,
    ),
    "centrifugal3": ElementType(
        "centrifugal3",
        3,
        2,
        True,
        ("function", "nx", "ny", "nz", "cx [m]", "cy [m]", "cz [m]", *_entries(8)),
        _force3,
        _report3,
    ),
}
