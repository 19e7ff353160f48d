"""Rigid body in space: `rigid3`.  Its node is the mass centre.

Formulation: Simo & Wong 1991 (doi:10.1002/nme.1620310103) with the Cayley map.  Over a step, with body angular velocity
W and the inertia tensor J in body axes,

    W1 = 2 R0^T theta/h - W0,    rows:  (m/h)(v1 - v0) - m g,    (R1 J W1 - R0 J W0)/h   (conjugate to theta)

so that theta.(R1 J W1 - R0 J W0) = h (T1 - T0), and angular momentum changes by h times the moment, exactly.  One-state
rules: m (a - g) and R (J A + W x J W), A = dW/dt in body axes; their tangent takes dW = WV R^T dspin, dA = WA R^T dspin
(the increments of a rule in body axes, without the curvature of the rotation group within a step).  WA = 0 (statics)
leaves the weight.

Parameters: mass m, inertia about the mass centre in body axes.  The body axes are those of space at the reference.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
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
from fem_mbs.elements.common import clear
from fem_mbs.elements.kinematics import cayley_tangent, cross, rotate
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

MASS, JXX, JYY, JZZ, JXY, JYZ, JZX = range(7)  # columns of par


@inner
def _inertia(par, e, W, out):
    """Write J W in body axes to out."""
    out[0] = par[e, JXX] * W[0] + par[e, JXY] * W[1] + par[e, JZX] * W[2]
    out[1] = par[e, JXY] * W[0] + par[e, JYY] * W[1] + par[e, JYZ] * W[2]
    out[2] = par[e, JZX] * W[0] + par[e, JYZ] * W[1] + par[e, JZZ] * W[2]


@inner
def _unrotate(D, state, row, x, y, z, out):
    """Write R^T (x, y, z) to out: from spatial to body axes."""
    out[0] = D[state, row, 0] * x + D[state, row, 3] * y + D[state, row, 6] * z
    out[1] = D[state, row, 1] * x + D[state, row, 4] * y + D[state, row, 7] * z
    out[2] = D[state, row, 2] * x + D[state, row, 5] * y + D[state, row, 8] * z


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf = ctl[H], ctl[SF]
    one_state = ctl[RULE] == ONE_STATE
    dynamic = not one_state or ctl[WA] != 0
    W, X, Y, Z, L0, L1 = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
    T = scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        mass = par[e, MASS]
        n = rot[e, 0]
        for i in range(3):
            f[i] = -sf * mass * ctl[GX + i]
        if not dynamic:
            continue
        ix, iy, iz = dof[e, 3], dof[e, 4], dof[e, 5]
        if one_state:
            for i in range(3):
                f[i] += sf * mass * V[2, dof[e, i]]
                W[i] = V[1, dof[e, 3 + i]]
                X[i] = V[2, dof[e, 3 + i]]
            _inertia(par, e, W, L1)
            _inertia(par, e, X, Y)
            cross(W, L1, Z)
            rotate(D, 1, n, Y[0] + Z[0], Y[1] + Z[1], Y[2] + Z[2], X)
            for i in range(3):
                f[3 + i] = sf * X[i]
            for i in range(L0.size):
                L0[i] = X[i]
        else:
            x, y, z = U[ix], U[iy], U[iz]
            s = 2 * sf / h
            for i in range(3):  # v1 - v0 = 2 (dx/h - v0)
                f[i] += s * mass * (U[dof[e, i]] / h - V[0, dof[e, i]])
                W[i] = V[0, dof[e, 3 + i]]
            _inertia(par, e, W, X)
            rotate(D, 0, n, X[0], X[1], X[2], L0)
            _unrotate(D, 0, n, x, y, z, X)
            for i in range(3):
                W[i] = 2 * X[i] / h - W[i]
            _inertia(par, e, W, X)
            rotate(D, 1, n, X[0], X[1], X[2], L1)
            for i in range(3):
                f[3 + i] = sf / h * (L1[i] - L0[i])
        if job != TANGENT:
            continue
        K = ke[e - e0]

        if one_state:
            for i in range(3):
                K[i, i] = sf * ctl[WA] * mass
            for j in range(3):
                X[0], X[1], X[2] = D[1, n, 3 * j], D[1, n, 3 * j + 1], D[1, n, 3 * j + 2]  # R^T e_j
                _inertia(par, e, X, Y)
                cross(X, L1, Z)
                for i in range(3):
                    T[i, j] = ctl[WA] * Y[i] + ctl[WV] * Z[i]
                cross(W, Y, Z)
                for i in range(3):
                    T[i, j] += ctl[WV] * Z[i]
                rotate(D, 1, n, T[0, j], T[1, j], T[2, j], X)
                for i in range(3):
                    K[3 + i, 3 + j] = sf * X[i]
            for j in range(3):  # dspin x L0
                X[0] = X[1] = X[2] = 0.0
                X[j] = 1.0
                cross(X, L0, Y)
                for i in range(3):
                    K[3 + i, 3 + j] += Y[i] * sf
        else:
            for i in range(3):
                K[i, i] = 2 * sf / (h * h) * mass
            cayley_tangent(x, y, z, T)
            for j in range(3):
                X[0], X[1], X[2] = T[0, j], T[1, j], T[2, j]
                cross(X, L1, Y)
                X[0], X[1], X[2] = D[0, n, 3 * j], D[0, n, 3 * j + 1], D[0, n, 3 * j + 2]  # R0^T e_j
                _inertia(par, e, X, Z)
                rotate(D, 1, n, Z[0], Z[1], Z[2], X)
                for i in range(3):
                    K[3 + i, 3 + j] = sf / h * (Y[i] + 2 / h * X[i])


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    W, X, L = scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        mass = par[e, MASS]
        x, y, z = Q[1, dof[e, 0]], Q[1, dof[e, 1]], Q[1, dof[e, 2]]
        for i in range(3):
            W[i] = V[1, dof[e, 3 + i]]
        _inertia(par, e, W, X)
        rotate(D, 1, rot[e, 0], X[0], X[1], X[2], L)
        for i in range(3):
            v = V[1, dof[e, i]]
            f[KINETIC] += 0.5 * (mass * v * v + W[i] * X[i])
            f[POTENTIAL] -= mass * ctl[GX + i] * Q[1, dof[e, i]]
            f[PX + i] = mass * v
        f[LX] = L[0] + y * f[PX + 2] - z * f[PX + 1]
        f[LX + 1] = L[1] + z * f[PX] - x * f[PX + 2]
        f[LX + 2] = L[2] + x * f[PX + 1] - y * f[PX]


TYPES = {
    "rigid3": ElementType(
        name="rigid3",
        dimension=3,
        ends=1,
        rotational=True,
        par=("mass [kg]", *(f"J{c} [kg m^2]" for c in ("xx", "yy", "zz", "xy", "yz", "zx"))),
        force=_force,
        report=_report,
        inertia=True,
    )
}
