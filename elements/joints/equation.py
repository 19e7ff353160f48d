"""Terms of linear constraint equations, with shared multipliers: `equation2` (plane), `equation3` (space).

    sum over the terms  [ n.(x - X) + c.(rotation) + l:(R - R0) ]  -  value f(t)  =  0

One element holds the terms of one node; the elements of an equation share its multiplier
(`fem_mbs.system.compile.Block.joint`), and one of them holds the value.  n, c, l are coefficients of the position, of
the rotation and of the directors since the reference X, R0.  In the plane the rotation is the unwrapped angle.  In
space it is linear in the directors as well,

    c.a(R R0^T),  a = 1/2 sum_k D_k x d_k = sin(angle) axis,    so that  l_k = c x D_k / 2:

which agrees with the rotation vector up to terms of third order in the angle.  The constraint is exact in every step:
it is linear (the angle of the plane has its quotient), so the multiplier does exactly the work of the right side.  A
point P = x + R a of a node gives l_k = a_k n.  In the plane l:(R - R0) is p (cos - cos0) + q (sin - sin0).

f is a time function (a negative index: 0).  A driver that moves g = c(q) - F(t) gives the model the work
-lambda (F1 - F0).  Outputs: the force and the moment that the equation exerts on the node, and the moment of both about
the origin of the global axes.  ``small`` marks rotations that the equation assumes to be small; these have a limit.
``reported`` = 0 excludes a term from the outputs.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DRIVER_WORK,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    T0,
    T1,
    TANGENT,
    TWO,
    WATCH,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear, step_multiplier, time_value
from fem_mbs.elements.joints.reactions import node_moment
from fem_mbs.elements.kinematics import cayley_tangent, relative_angle
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

_SCALE, _FUNCTION, _VALUE, _REPORTED, _SMALL, _N = range(6)  # columns of par; from _N on n and X, then
_C2, _A2, _P2, _Q2 = 9, 10, 11, 12  # plane: c, angle of the reference, p, q
_L3, _R3 = 11, 20  # space: l and R0, row by row, vectors in columns


# --- plane -----------------------------------------------------------------------------------------------------------
@inner
def _angle_row(D, U, par, e, k, row, state):
    """Return the quotient of the term by the Cayley parameter U[k], its derivative, and dg/dU at the end of the
    step."""
    v = U[k]
    _, kappa, slope, _ = relative_angle(v, 0.0)
    c, p, q = par[e, _C2], par[e, _P2], par[e, _Q2]
    cm, sm = 0.5 * (D[state, row, 0] + D[1, row, 0]), 0.5 * (D[state, row, 1] + D[1, row, 1])
    t = 1.0 / (1.0 + 0.25 * v * v)
    c1, s1 = D[1, row, 0], D[1, row, 1]
    # the directors turn by t at the end of the step, their means by half of it
    return c * kappa + q * cm - p * sm, c * slope - 0.5 * t * (q * s1 + p * c1), t * (c + q * c1 - p * s1)


@kernel
def _force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale, k, row = par[e, _SCALE], dof[e, 2], rot[e, 0]
        multiplier = scale * U[dof[e, 3]]
        g = -par[e, _VALUE] * time_value(fun, par[e, _FUNCTION], T1, 0.0)
        for i in range(2):
            g += par[e, _N + i] * (Q[1, dof[e, i]] - par[e, _N + 2 + i])
            f[i] = multiplier * par[e, _N + i]
        by_step, slope, by_end = _angle_row(D, U, par, e, k, row, 0)
        g += par[e, _C2] * (Q[0, k] + 2.0 * math.atan(0.5 * U[k]) - par[e, _A2])
        g += par[e, _P2] * (D[1, row, 0] - math.cos(par[e, _A2])) + par[e, _Q2] * (D[1, row, 1] - math.sin(par[e, _A2]))
        f[2] = multiplier * by_step
        f[3] = scale * g
        if job == TANGENT:
            K = ke[e - e0]
            for i in range(2):
                K[i, 3] = K[3, i] = scale * par[e, _N + i]
            K[2, 3], K[3, 2] = scale * by_step, scale * by_end
            K[2, 2] = ctl[TWO] * multiplier * slope


@kernel
def _report2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    for e in range(e0, e1):
        f = fe[e - e0]
        if job == LEDGER:
            _book(ctl, par, dof, fun, Q, U, e, 3, f)
        elif job == OUTPUT:
            force = -par[e, _REPORTED] * par[e, _SCALE] / ctl[SF] * U[dof[e, 3]]
            f[0], f[1] = force * par[e, _N], force * par[e, _N + 1]
            one_state = ctl[RULE] == ONE_STATE
            row, v = rot[e, 0], 0.0 if one_state else U[dof[e, 2]]
            state = 1 if one_state else 0
            c, s = 0.5 * (D[state, row, 0] + D[1, row, 0]), 0.5 * (D[state, row, 1] + D[1, row, 1])
            f[2] = force * (par[e, _C2] * relative_angle(v, 0.0)[1] + par[e, _Q2] * c - par[e, _P2] * s)
            x = 0.5 * (Q[state, dof[e, 0]] + Q[1, dof[e, 0]])
            y = 0.5 * (Q[state, dof[e, 1]] + Q[1, dof[e, 1]])
            f[3] = f[2] + x * f[1] - y * f[0]


# --- space -----------------------------------------------------------------------------------------------------------
@inner
def _moment(D, par, e, row, state, out):
    """Fill out (3,) with the sum of d_k x l_k at the mean of a state and the end: the row of a spin."""
    x = y = z = 0.0
    for k in range(3):
        a = 0.5 * (D[state, row, k] + D[1, row, k])
        b = 0.5 * (D[state, row, 3 + k] + D[1, row, 3 + k])
        c = 0.5 * (D[state, row, 6 + k] + D[1, row, 6 + k])
        l, m, n = par[e, _L3 + k], par[e, _L3 + 3 + k], par[e, _L3 + 6 + k]
        x += b * n - c * m
        y += c * l - a * n
        z += a * m - b * l
    out[0], out[1], out[2] = x, y, z


@inner
def _turned(D, par, e, row, s, out):
    """Fill out (3,) with sum (s x d_k) x l_k = sum d_k (s.l_k) - s (d_k.l_k) at the end of the step."""
    out[0] = out[1] = out[2] = 0.0
    trace = 0.0
    for k in range(3):
        l, m, n = par[e, _L3 + k], par[e, _L3 + 3 + k], par[e, _L3 + 6 + k]
        along = s[0] * l + s[1] * m + s[2] * n
        for i in range(3):
            out[i] += D[1, row, 3 * i + k] * along
        trace += D[1, row, k] * l + D[1, row, 3 + k] * m + D[1, row, 6 + k] * n
    for i in range(3):
        out[i] -= s[i] * trace


@kernel
def _force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    T = scratch(3, 3)
    mean, end, s, turned = scratch(3), scratch(3), scratch(3), scratch(3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale, row = par[e, _SCALE], rot[e, 0]
        multiplier = scale * U[dof[e, 6]]
        g = -par[e, _VALUE] * time_value(fun, par[e, _FUNCTION], T1, 0.0)
        for i in range(3):
            g += par[e, _N + i] * (Q[1, dof[e, i]] - par[e, _N + 3 + i])
        for i in range(9):
            g += par[e, _L3 + i] * (D[1, row, i] - par[e, _R3 + i])
        _moment(D, par, e, row, 0, mean)
        for i in range(3):
            f[i] = multiplier * par[e, _N + i]
            f[3 + i] = multiplier * mean[i]
        f[6] = scale * g
        if job != TANGENT:
            continue
        K = ke[e - e0]
        _moment(D, par, e, row, 1, end)
        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T)
        for i in range(3):
            K[i, 6] = K[6, i] = scale * par[e, _N + i]
            K[3 + i, 6] = scale * mean[i]
            for j in range(3):
                K[6, 3 + j] += scale * end[i] * T[i, j]
        for j in range(3):
            s[0], s[1], s[2] = T[0, j], T[1, j], T[2, j]
            _turned(D, par, e, row, s, turned)
            for i in range(3):  # the mean directors turn by half of the end's
                K[3 + i, 3 + j] = 0.5 * ctl[TWO] * multiplier * turned[i]


@inner
def _look(e0, e1, par, rot, D, fe):
    """Write the rotation [rad] since the reference where the equation takes it as small, else 0."""
    for e in range(e0, e1):
        trace = 0.0
        for i in range(9):
            trace += D[1, rot[e, 0], i] * par[e, _R3 + i]
        small = par[e, _SMALL] != 0.0
        fe[e - e0, 0] = math.acos(max(min(0.5 * (trace - 1.0), 1.0), -1.0)) if small else 0.0


@kernel
def _report3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == WATCH:
        _look(e0, e1, par, rot, D, fe)
        return
    moment, x = scratch(3), scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        if job == LEDGER:
            _book(ctl, par, dof, fun, Q, U, e, 6, f)
        elif job == OUTPUT:
            force = -par[e, _REPORTED] * par[e, _SCALE] / ctl[SF] * U[dof[e, 6]]
            state = 1 if ctl[RULE] == ONE_STATE else 0
            _moment(D, par, e, rot[e, 0], state, moment)
            for i in range(3):
                f[i], f[3 + i] = force * par[e, _N + i], force * moment[i]
                x[i] = 0.5 * (Q[state, dof[e, i]] + Q[1, dof[e, i]])
            node_moment(x, f, f[6:9])
            for i in range(3):
                f[6 + i] += f[3 + i]


@inner
def _book(ctl, par, dof, fun, Q, U, e, at, f):
    """Write the work of the right side to the ledger row f."""
    if par[e, _FUNCTION] < 0.0 or par[e, _VALUE] == 0.0:
        return
    movement = time_value(fun, par[e, _FUNCTION], T1, 0.0) - time_value(fun, par[e, _FUNCTION], T0, 0.0)
    f[DRIVER_WORK] = -step_multiplier(ctl, Q, U, par[e, _SCALE], dof[e, at]) * par[e, _VALUE] * movement


# --- types -----------------------------------------------------------------------------------------------------------
# sin(angle) is 0.04 % below the angle at the first bound, 1.5 % at the second
_LIMIT = Watch(
    0.05, 0.3, "rotation of a node in an equation",
    "equations hold for small rotations only; use a coupling, a joint, or a linear static step",
    kind="Equation",
)  # fmt: skip


def _type(dimension, columns, outputs, force, report, *watches):
    return ElementType(
        name=f"equation{dimension}",
        dimension=dimension,
        ends=1,
        rotational=True,
        par=("scale", "function", "value", "reported", "small", *columns),
        multipliers=1,
        scale=0,
        outputs=outputs,
        force=force,
        report=report,
        watches=watches,
    )


_PARTS = (("force", "N"), ("moment", "N m"), ("origin moment", "N m"))
_MATRIX = tuple(f"{i}{k}" for i in "123" for k in "123")

TYPES = {
    t.name: t
    for t in (
        _type(
            2,
            ("nx", "ny", "x [m]", "y [m]", "c", "angle [rad]", "p", "q"),
            ("force x [N]", "force y [N]", "moment [N m]", "origin moment [N m]"),
            _force2,
            _report2,
        ),
        _type(
            3,
            (
                *(f"n{c}" for c in "xyz"), *(f"{c} [m]" for c in "xyz"),
                *(f"l{m}" for m in _MATRIX), *(f"r{m}" for m in _MATRIX),
            ),
            tuple(f"{part} {c} [{u}]" for part, u in _PARTS for c in "xyz"),
            _force3,
            _report3,
            _LIMIT,
        ),
    )
}  # fmt: skip
