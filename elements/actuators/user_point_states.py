"""Forces of users' Python functions on points, with state variables: families `user_states_point2_`, `_point3_`.

As `user_point` of `fem_mbs.elements.actuators.user`; every point has m state variables z of its own, and the function
returns force and rates z'.  They come back in `hist` as a linear law about the arguments x*, v*, z*,

    F = F* + Fx (x - x*) + Fv (v - v*) + Fz (z - z*),   z' = g* + gx (x - x*) + gv (v - v*) + gz (z - z*).

The equations of z are those of `fem_mbs.elements.joints.state_force`.  The number m is the end of the type's name.
Outputs: the force, and z at the end of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SAMPLE,
    SF,
    SK,
    START,
    T1,
    TANGENT,
    TM,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.actuators.user import rate_gradient
from fem_mbs.elements.common import add_arm_tangent, add_force, clear, time_value
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate
from fem_mbs.elements.registry import ElementType

__all__ = ["law_arrays", "make_type"]

_POINT = 0  # column of par: the offset; callback, clock and the sizes follow
_AT = 0  # column of hist from which on the law stands, in the order of `law_arrays`


def law_arrays(d: int, m: int) -> list[tuple[int, ...]]:
    """Return the shapes of F*, x*, v*, z*, Fx, Fv, Fz, g*, gx, gv, gz, as they follow each other in `hist`, for points
    in d dimensions."""
    return [(d,), (d,), (d,), (m,), (d, d), (d, d), (d, m), (m,), (m, d), (m, d), (m, m)]


@inner
def _law(hist, e, x, v, z, F, g, by, rates):
    """Fill F (d,), g (m,), and the slopes ``by`` (d, 2 d + m) of F and ``rates`` (m, 2 d + m) of g by x, v, z."""
    d, m = x.shape[0], z.shape[0]
    first = _AT + 3 * d + m
    for i in range(d):
        F[i] = hist[e, _AT + i]
        for j in range(d):
            by[i, j] = hist[e, first + i * d + j]
            by[i, d + j] = hist[e, first + (d + i) * d + j]
        for j in range(m):
            by[i, 2 * d + j] = hist[e, first + 2 * d * d + i * m + j]
    first += 2 * d * d + d * m
    for i in range(m):
        g[i] = hist[e, first + i]
        for j in range(d):
            rates[i, j] = hist[e, first + m + i * d + j]
            rates[i, d + j] = hist[e, first + m + (m + i) * d + j]
        for j in range(m):
            rates[i, 2 * d + j] = hist[e, first + m + 2 * m * d + i * m + j]
    for j in range(2 * d + m):
        if j < d:
            change = x[j] - hist[e, _AT + d + j]
        elif j < 2 * d:
            change = v[j - d] - hist[e, _AT + d + j]
        else:
            change = z[j - 2 * d] - hist[e, _AT + d + j]
        for i in range(d):
            F[i] += by[i, j] * change
        for i in range(m):
            g[i] += rates[i, j] * change


@inner
def _states(Q, U, par, dof, e, n, state, z):
    """Fill z (m,) with the state variables of the start (0), of the end (1), or their means (2)."""
    m = z.shape[0]
    for i in range(m):
        k = dof[e, n + i]
        z[i] = par[e, par.shape[1] - m + i] * (Q[0, k] + 0.5 * U[k] if state == 2 else Q[state, k])


@inner
def _tangent(ctl, par, e, B, J, dv, by, rates, K):
    """Fill K but for what the arm's turning adds."""
    d, n = J.shape
    m = rates.shape[0]
    one_state = ctl[RULE] == ONE_STATE
    h = 1.0 if one_state and ctl[WV] == 0 else ctl[H]
    share = 0.5 * ctl[SK] / ctl[SF]
    first = par.shape[1] - m
    for j in range(n):
        for i in range(n):
            total = 0.0
            for p in range(d):
                for r in range(d):
                    total += B[p, i] * (by[p, r] * share * J[r, j] + by[p, d + r] * dv[r, j])
            K[i, j] = -ctl[SF] * total
        for k in range(m):
            total = column = 0.0
            for r in range(d):
                total += rates[k, r] * share * J[r, j] + rates[k, d + r] * dv[r, j]
                column += B[r, j] * by[r, 2 * d + k]
            K[n + k, j] = -h * total / par[e, first + k]
            K[j, n + k] = -ctl[SF] * share * column * par[e, first + k]
    for k in range(m):
        for q in range(m):
            K[n + k, n + q] = -h * share * rates[k, 2 * d + q] * par[e, first + q] / par[e, first + k]
        K[n + k, n + k] += h * ctl[WV] if one_state else 1.0


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    d = 2 if D.shape[2] == 2 else 3
    n = 3 * (d - 1)
    m = dof.shape[1] - n
    one_state = ctl[RULE] == ONE_STATE
    h = 1.0 if one_state and ctl[WV] == 0 else ctl[H]  # statics has no time
    P, B, J, dv = np.empty((5, d)), np.empty((d, n)), np.empty((d, n)), np.empty((d, n))
    x, v, w, F, z, g = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(m), np.empty(m)
    by, rates = np.empty((d, 2 * d + m)), np.empty((m, 2 * d + m))
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        point(Q, D, U, dof, rot, e, 0, par, _POINT, P, B, J)
        if one_state:
            point_rate(V, D, dof, rot, 1, e, 0, P[R1], v, w)
        for i in range(d):
            x[i] = P[P1, i] if one_state else 0.5 * (P[P0, i] + P[P1, i])
            if not one_state:
                v[i] = P[DP, i] / ctl[H]
        _states(Q, U, par, dof, e, n, 1 if one_state else 2, z)
        _law(hist, e, x, v, z, F, g, by, rates)
        f = fe[e - e0]
        add_force(f, -ctl[SF], F, B, 0)
        for k in range(m):
            at = dof[e, n + k]
            f[n + k] = (h * V[1, at] if one_state else U[at]) - h * g[k] / par[e, par.shape[1] - m + k]
        if job == TANGENT:
            rate_gradient(ctl, J, w, dv)
            _tangent(ctl, par, e, B, J, dv, by, rates, ke[e - e0])
            # in one-state rules the arm changes by its full derivative, not by half
            add_arm_tangent(ke[e - e0], -ctl[SF] * (2.0 if one_state else 1.0), F, J, 0)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == START or job == COMMIT:
        return
    d = 2 if D.shape[2] == 2 else 3
    n = 3 * (d - 1)
    m = dof.shape[1] - n
    one_state = ctl[RULE] == ONE_STATE
    P, B, J = np.empty((5, d)), np.empty((d, n)), np.empty((d, n))
    x, v, w, F, z, g = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(m), np.empty(m)
    before, by, rates = np.zeros(d), np.empty((d, 2 * d + m)), np.empty((m, 2 * d + m))
    for e in range(e0, e1):
        f = fe[e - e0]
        point(Q, D, U, dof, rot, e, 0, par, _POINT, P, B, J)
        if one_state:
            point_rate(V, D, dof, rot, 0, e, 0, P[R0], v, w)
            _states(Q, U, par, dof, e, n, 0, z)
            _law(hist, e, P[P0], v, z, before, g, by, rates)
            point_rate(V, D, dof, rot, 1, e, 0, P[R1], v, w)
        for i in range(d):
            x[i] = P[P1, i] if one_state else 0.5 * (P[P0, i] + P[P1, i])
            if not one_state:
                v[i] = P[DP, i] / ctl[H]
        _states(Q, U, par, dof, e, n, 1 if one_state else 2, z)
        _law(hist, e, x, v, z, F, g, by, rates)
        if job == LEDGER:
            for i in range(d):
                if one_state:
                    f[LOAD_WORK] += 0.5 * (before[i] + F[i]) * (P[P1, i] - P[P0, i])
                else:
                    f[LOAD_WORK] += F[i] * P[DP, i]
        elif job == OUTPUT:
            _states(Q, U, par, dof, e, n, 1, z)
            for i in range(d):
                f[i] = F[i]
            for i in range(m):
                f[d + i] = z[i]
        elif job == SAMPLE:
            for i in range(d):
                f[i], f[d + i] = x[i], v[i]
            for i in range(m):
                f[2 * d + i] = z[i]
            f[2 * d + m] = time_value(fun, par[e, _POINT + d + 1], T1 if one_state else TM, 0.0)


def make_type(name: str, dimension: int, n: int) -> ElementType:
    """Return the type of a force on a point with n state variables."""
    axes, states = "xyz"[:dimension], tuple(f"state {i + 1}" for i in range(n))
    return ElementType(
        name=name,
        dimension=dimension,
        ends=1,
        rotational=True,
        par=(*(f"a{c} [m]" for c in axes), "callback", "clock", *(f"size {state}" for state in states)),
        hist=_AT + sum(int(np.prod(shape)) for shape in law_arrays(dimension, n)),
        outputs=(*(f"force {c} [N]" for c in axes), *states),
        force=_force,
        report=_report,
        scalars=n,
        states=True,
        at_end=states,
    )
