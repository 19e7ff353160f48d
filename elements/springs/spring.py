"""Spring-dampers between two points: `spring2` (plane), `spring3` (space).

Formulation (discrete length quotient, after Crisfield & Shi 1993, eqs 9 and 20): with the vector d = P_b - P_a between
the points, of length n, at both ends of the step,

    w = (d0 + d1)/(n0 + n1),    w.(d1 - d0) = n1 - n0 exactly,    F = [k ((n0 + n1)/2 - L) + c (n1 - n0)/h] w

on b and -F on a.  The work over the step is V1 - V0 + c (n1 - n0)^2/h, the resultant and the moment vanish.  One-state
rules: F = [k (n - L) + c n'] d/n with n' from the velocities.

Ends a, b: dx and rotation each; the points may be eccentric (offset in body axes), and an offset on the fixed ground is
a position in space.  Limits: at n = 0 the direction is undefined; the part k d stays, the rest counts as zero.

Parameters: stiffness k, damping c, length L at rest, offsets of the points.
"""

from __future__ import annotations

import math

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
from fem_mbs.elements.common import DAMPING, FREE, STIFFNESS, add_arm_tangent, add_force, clear, spring_prestress
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

POINTS = 3  # column of par after those of `fem_mbs.elements.common`: the offsets of both points


@inner
def _length(P, row, d):
    """Fill d (dim,) with P_b - P_a at a state, and return its length."""
    n = 0.0
    for i in range(d.shape[0]):
        d[i] = P[1, row, i] - P[0, row, i]
        n += d[i] * d[i]
    return math.sqrt(n)


@inner
def _rate(V, D, dof, rot, state, e, P, row, d, n, v, c):
    """Return dn/dt at a state (0 where n = 0).

    v[k] and c[k] (2, dim) get the velocity of the point k and its part w x r.
    """
    rate = 0.0
    for k in range(2):
        point_rate(V, D, dof, rot, state, e, k, P[k, row], v[k], c[k])
    if n > 0:
        for i in range(d.shape[0]):
            rate += d[i] * (v[1, i] - v[0, i]) / n
    return rate


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)  # dofs of an end
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    P = np.empty((2, 5, dim))
    B = np.empty((2, dim, nd))
    J = np.empty((2, dim, nd))
    d0, d1, w, g, F = np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    v = np.empty((2, dim))
    c = np.empty((2, dim))
    A = np.empty((dim, dim))
    rate_row = np.empty(2 * nd)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, rest = par[e, STIFFNESS], par[e, FREE]
        damping = par[e, DAMPING] + ctl[DECAY] * stiffness
        point(Q, D, U, dof, rot, e, 0, par, POINTS, P[0], B[0], J[0])
        point(Q, D, U, dof, rot, e, 1, par, POINTS + dim, P[1], B[1], J[1])
        n0 = _length(P, P0, d0)
        n1 = _length(P, P1, d1)
        n = n0 + n1
        for i in range(dim):
            w[i] = (d0[i] + d1[i]) / n if n > 0 else 0.0
        dashpot = 0.0
        if one_state:
            if damping != 0:
                dashpot = damping * _rate(V, D, dof, rot, 1, e, P, R1, d1, n1, v, c)
        else:
            for i in range(dim):
                dashpot += damping / h * w[i] * (P[1, DP, i] - P[0, DP, i])
        # k/2 (d0 + d1) + (c n' - k L) w: the first part has no quotient, so it holds at length zero
        along = dashpot - stiffness * rest
        for i in range(dim):
            F[i] = 0.5 * stiffness * (d0[i] + d1[i]) + along * w[i]
        add_force(f, -sf, F, B[0], 0)
        add_force(f, sf, F, B[1], 1)
        if job != TANGENT:
            continue
        K = ke[e - e0]

        # A = dF/dd1 (one-state: half of it, without the rate)
        for i in range(dim):
            g[i] = d1[i] / n1 if n1 > 0 else 0.0  # dn1/dd1
        q = along / n if n > 0 else 0.0
        by_rate = 0.0 if one_state else damping / h
        for i in range(dim):
            for j in range(dim):
                A[i, j] = w[i] * g[j] * (by_rate - q)
            A[i, i] += 0.5 * stiffness + q
        for a in range(2):
            for b in range(2):
                factor = sk if a == b else -sk
                for i in range(nd):
                    for j in range(nd):
                        total = 0.0
                        for p in range(dim):
                            for r in range(dim):
                                total += B[a, p, i] * A[p, r] * J[b, r, j]
                        K[a * nd + i, b * nd + j] = factor * total
        add_arm_tangent(K, -sk, F, J[0], 0)
        add_arm_tangent(K, sk, F, J[1], 1)
        if one_state and damping != 0 and n1 > 0:
            _rate_row(ctl[WV], P, w, n1, v, c, rate_row)
            for a in range(2):
                factor = sf * damping if a == 1 else -sf * damping
                for i in range(nd):
                    total = 0.0
                    for p in range(dim):
                        total += B[a, p, i] * w[p]
                    for j in range(2 * nd):
                        K[a * nd + i, j] += factor * total * rate_row[j]


@inner
def _rate_row(wv, P, w, n, v, c, row):
    """Fill row (2 nd,) with d(n')/dU at one state, n' = w.d', with dv = WV dU and, in space, dW = WV R^T dtheta.

    A velocity w x r changes by WV (dtheta x r) + dtheta x (w x r).  v, c: velocities and w x r of the points.
    """
    dim = w.shape[0]
    nd = 3 * (dim - 1)
    rate = 0.0
    for i in range(dim):
        rate += w[i] * (v[1, i] - v[0, i])
    for k in range(2):
        s = 1.0 if k == 1 else -1.0
        r = P[k, R1]
        j = k * nd
        if dim == 2:
            # q: by position, (d' - n' w)/n
            qx = s * (v[1, 0] - v[0, 0] - rate * w[0]) / n
            qy = s * (v[1, 1] - v[0, 1] - rate * w[1]) / n
            bx, by = qx + s * wv * w[0], qy + s * wv * w[1]
            row[j], row[j + 1] = bx, by
            row[j + 2] = r[0] * by - r[1] * bx + s * (c[k, 0] * w[1] - c[k, 1] * w[0])
        else:
            qx = s * ((v[1, 0] - v[0, 0] - rate * w[0]) / n + wv * w[0])
            qy = s * ((v[1, 1] - v[0, 1] - rate * w[1]) / n + wv * w[1])
            qz = s * ((v[1, 2] - v[0, 2] - rate * w[2]) / n + wv * w[2])
            row[j], row[j + 1], row[j + 2] = qx, qy, qz
            row[j + 3] = r[1] * qz - r[2] * qy + s * (c[k, 1] * w[2] - c[k, 2] * w[1])
            row[j + 4] = r[2] * qx - r[0] * qz + s * (c[k, 2] * w[0] - c[k, 0] * w[2])
            row[j + 5] = r[0] * qy - r[1] * qx + s * (c[k, 0] * w[1] - c[k, 1] * w[0])


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    nd = 3 * (dim - 1)
    h = ctl[H]
    one_state = ctl[RULE] == ONE_STATE
    P = np.empty((2, 5, dim))
    B = np.empty((2, dim, nd))
    J = np.empty((2, dim, nd))
    d0, d1 = np.empty(dim), np.empty(dim)
    v = np.empty((2, dim))
    c = np.empty((2, dim))
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, rest = par[e, STIFFNESS], par[e, FREE]
        damping = par[e, DAMPING] + ctl[DECAY] * stiffness
        point(Q, D, U, dof, rot, e, 0, par, POINTS, P[0], B[0], J[0])
        point(Q, D, U, dof, rot, e, 1, par, POINTS + dim, P[1], B[1], J[1])
        n0 = _length(P, P0, d0)
        n1 = _length(P, P1, d1)
        if one_state:  # the force of the end; work by the trapezoidal rule
            elongation = n1 - rest
            rate = _rate(V, D, dof, rot, 1, e, P, R1, d1, n1, v, c)
            mean_rate = 0.5 * (rate + _rate(V, D, dof, rot, 0, e, P, R0, d0, n0, v, c))
            dn = n1 - n0
        else:
            elongation = 0.5 * (n0 + n1) - rest
            dn = 0.0
            for i in range(dim):
                if n0 + n1 > 0:
                    dn += (d0[i] + d1[i]) / (n0 + n1) * (P[1, DP, i] - P[0, DP, i])
            rate = mean_rate = dn / h
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (n1 - rest) ** 2
            f[DISSIPATED] = damping * mean_rate * dn
        else:
            f[0] = stiffness * elongation + damping * rate
            f[1] = n1


def _type(dimension):
    offsets = tuple(f"a{c}_{end} [m]" for end in "ab" for c in "xyz"[:dimension])
    return ElementType(
        name=f"spring{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=("stiffness [N/m]", "damping [N s/m]", "length [m]", *offsets),
        outputs=("force [N]", "length [m]"),
        force=_force,
        report=_report,
        prestress=spring_prestress,
    )


TYPES = {f"spring{dimension}": _type(dimension) for dimension in (2, 3)}
