"""Points and profiles on curves that turn with a body: `point_on_curve2`, `point_on_curve3`, `curve_on_curve2`.

A curve rho(s) in the axes of its end a is a cubic spline of the arc length s, piece by piece a cubic; closed ones
repeat. Beyond the ends of open ones the first and the last piece continue.  At the end of the step, with e_k the axes
of a,

    e_k.(P_b - P_a) - rho_k(s) = 0                             k = 1 .. dim          ``point_on_curve``

and for two profiles rho(s) in a and eta(u) in b, which touch, with the axes f_k of b and an arm l [m],

    e_k.(P_b - P_a) + sum_m eta_m(u) e_k.f_m - rho_k(s) = 0    k = 1, 2              ``curve_on_curve``
    l (rho_1' e_2 - rho_2' e_1).(eta_1' f_1 + eta_2' f_2) = 0  the tangents agree

All are products of vectors with coefficients of s and u (`fem_mbs.elements.paths.forms`), exact in energy and both
momenta.  Quotients of a spline over several pieces add up those within pieces: no difference of near values is divided.

Ends: a, b, and a node whose first coordinates are s (and u).  Outputs: force and moment of the joint on a, the moment
about the point of contact.  The history holds the worst of all steps: how far beyond the end of a curve, and
(profiles) how much one bends more than the other can follow.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import FORCE, LEDGER, ONE_STATE, OUTPUT, RULE, SF, START, TANGENT, TWO, inner, kernel
from fem_mbs.elements.common import clear
from fem_mbs.elements.kinematics import P0, P1, R0, R1
from fem_mbs.elements.paths.forms import BEND, C0, C1, COEFFICIENTS, RATE, SLOPE, at_end, form_rows, vector
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

# columns of par: of `point_on_curve` scale, curve, vectors; of `curve_on_curve` scale, both curves, arm, side,
# vectors; of a curve the number of pieces, its length and whether it is closed; the tables of the pieces (start, then
# four coefficients per coordinate) end the row
SCALE, CURVE, CURVE_B = 0, 1, 4
_POINT_VECTORS, ARM, SIDE, _PROFILE_VECTORS = 4, 7, 8, 9
# rows of what `_evaluate` fills: values at both ends of the step, quotient, derivative at the end, and derivative of
# the quotient by the end
_V0, _V1, _WAY, _SLOPE, _BEND = range(5)


@inner
def _piece(par, e, table, width, pieces, s):
    """Return the piece on which s lies; beyond the ends the first or the last."""
    low, high = 0, pieces
    while high - low > 1:
        middle = (low + high) // 2
        if par[e, table + middle * width] <= s:
            low = middle
        else:
            high = middle
    return low


@inner
def _cubic(par, e, at, order, c):
    """Fill c (4,) with the coefficients of a derivative (0 or 1) of the cubic at a column."""
    if order == 0:
        for i in range(4):
            c[i] = par[e, at + i]
    else:
        c[0], c[1], c[2], c[3] = par[e, at + 1], 2.0 * par[e, at + 2], 3.0 * par[e, at + 3], 0.0


@inner
def _at(c, x):
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]))


@inner
def _quotient(c, x0, x1):
    return c[1] + c[2] * (x0 + x1) + c[3] * (x0 * x0 + x0 * x1 + x1 * x1)


@inner
def _evaluate(par, e, curve, table, dim, order, s0, s1, ds, out):
    """Fill out (5, dim) with the rows _V0 .. _BEND of a curve, or (order 1) of its derivative, for a step from s0 to
    s1 = s0 + ds."""
    pieces, length = int(par[e, curve]), par[e, curve + 1]
    width = 1 + 4 * dim
    lap0 = lap1 = 0.0
    if par[e, curve + 2] != 0.0:
        lap0, lap1 = math.floor(s0 / length), math.floor(s1 / length)
    t0, t1 = s0 - lap0 * length, s1 - lap1 * length
    k0, k1 = _piece(par, e, table, width, pieces, t0), _piece(par, e, table, width, pieces, t1)
    at0, at1 = table + k0 * width, table + k1 * width
    x0, x1 = t0 - par[e, at0], t1 - par[e, at1]
    long0 = (length if k0 == pieces - 1 else par[e, at0 + width]) - par[e, at0]
    long1 = (length if k1 == pieces - 1 else par[e, at1 + width]) - par[e, at1]
    same = k0 == k1 and lap0 == lap1
    last0, first1 = long0, 0.0  # where the step leaves the piece of s0, and enters that of s1
    if ds < 0.0:
        last0, first1 = 0.0, long1
    number0, number1 = lap0 * pieces + k0, lap1 * pieces + k1
    c0, c1 = scratch(4), scratch(4)
    for i in range(dim):
        _cubic(par, e, at0 + 1 + 4 * i, order, c0)
        _cubic(par, e, at1 + 1 + 4 * i, order, c1)
        out[_V0, i], out[_V1, i] = _at(c0, x0), _at(c1, x1)
        slope = _quotient(c1, x1, x1)
        if same:
            way, bend = _quotient(c1, x0, x1), c1[2] + c1[3] * (x0 + 2.0 * x1)
        else:
            way = _quotient(c0, x0, last0) * (last0 - x0) + _quotient(c1, first1, x1) * (x1 - first1)
            if abs(number1 - number0) > 1.0:
                way += _at(c1, first1) - _at(c0, last0)
            way /= ds
            bend = (slope - way) / ds
        out[_WAY, i], out[_SLOPE, i], out[_BEND, i] = way, slope, bend


@inner
def _movement(Q, U, k):
    """Return s at both ends of the step and the distance between."""
    ds = U[k]
    if ds == 0.0:
        ds = Q[1, k] - Q[0, k]
    return Q[0, k], Q[1, k], ds


@inner
def _constant(terms, C, t, row, i, j, factor):
    """Enter a term with a constant coefficient."""
    terms[t, 0], terms[t, 1], terms[t, 2] = row, i, j
    for k in range(COEFFICIENTS):
        C[t, k] = 0.0
    C[t, C0] = C[t, C1] = factor


@inner
def _function(terms, C, t, row, i, j, factor, F, k, which):
    """Enter a term with the coefficient factor F_k of coordinate ``which``."""
    _constant(terms, C, t, row, i, j, 0.0)
    C[t, C0], C[t, C1] = factor * F[_V0, k], factor * F[_V1, k]
    C[t, RATE + which], C[t, SLOPE + which] = factor * F[_WAY, k], factor * F[_SLOPE, k]
    C[t, BEND + 3 * which] = factor * F[_BEND, k]


@inner
def _two_functions(terms, C, t, row, i, j, factor, F, k, G, m):
    """Enter a term with the coefficient factor F_k(s) G_m(u)."""
    terms[t, 0], terms[t, 1], terms[t, 2] = row, i, j
    mean_f, mean_g = 0.5 * factor * (F[_V0, k] + F[_V1, k]), 0.5 * factor * (G[_V0, m] + G[_V1, m])
    C[t, C0], C[t, C1] = factor * F[_V0, k] * G[_V0, m], factor * F[_V1, k] * G[_V1, m]
    C[t, RATE], C[t, RATE + 1] = F[_WAY, k] * mean_g, G[_WAY, m] * mean_f
    C[t, SLOPE], C[t, SLOPE + 1] = factor * F[_SLOPE, k] * G[_V1, m], factor * F[_V1, k] * G[_SLOPE, m]
    C[t, BEND], C[t, BEND + 3] = F[_BEND, k] * mean_g, G[_BEND, m] * mean_f
    C[t, BEND + 1] = 0.5 * factor * F[_WAY, k] * G[_SLOPE, m]
    C[t, BEND + 2] = 0.5 * factor * G[_WAY, m] * F[_SLOPE, k]


@inner
def _moment_about(f, out, x, n, dim):
    """Write force and moment about the point with the arm x from end b, from the rows f of this end."""
    for i in range(dim):
        out[i] = f[n + i]
    if dim == 2:
        out[2] = f[n + 2] - (x[0] * f[n + 1] - x[1] * f[n])
    else:
        out[3] = f[n + 3] - (x[1] * f[n + 2] - x[2] * f[n + 1])
        out[4] = f[n + 4] - (x[2] * f[n] - x[0] * f[n + 2])
        out[5] = f[n + 5] - (x[0] * f[n + 1] - x[1] * f[n])


# --- a point on a curve ----------------------------------------------------------------------------------------------
@inner
def _point_vectors(Q, D, U, dof, rot, e, par, dim, P, B, J, own):
    """Fill the vectors: the point of b, that of a, and the axes of a."""
    for v in range(dim + 2):
        own[v] = 1 if v == 0 else 0
        vector(Q, D, U, dof, rot, e, own[v], par, _POINT_VECTORS + dim * v, v > 1, P[v], B[v], J[v])


@inner
def _point_terms(par, e, dim, s0, s1, ds, F, terms, C):
    table = _POINT_VECTORS + dim * (dim + 2)
    _evaluate(par, e, CURVE, table, dim, 0, s0, s1, ds, F)
    for k in range(dim):
        _constant(terms, C, 3 * k, k, 2 + k, 0, 1.0)
        _constant(terms, C, 3 * k + 1, k, 2 + k, 1, -1.0)
        _function(terms, C, 3 * k + 2, k, -1, -1, -1.0, F, k, 0)


@kernel
def _point_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((5, 5, dim)), np.empty((5, dim, n)), np.empty((5, dim, n))
    C, F, multipliers = scratch(9, COEFFICIENTS), scratch(5, 3), scratch(3)
    terms, own, at = np.empty((9, 3), np.int64), np.empty(5, np.int64), np.empty(1, np.int64)
    none = np.empty((0, 0))
    at[0] = 2 * n
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        s0, s1, ds = _movement(Q, U, dof[e, 2 * n])
        _point_vectors(Q, D, U, dof, rot, e, par, dim, P, B, J, own)
        _point_terms(par, e, dim, s0, s1, ds, F, terms, C)
        for i in range(dim):
            multipliers[i] = U[dof[e, 3 * n + i]]
        K = ke[e - e0] if job == TANGENT else none
        form_rows(job, ctl[TWO], par[e, SCALE], terms, 3 * dim, C, P, B, J, own, at, 3 * n, multipliers, fe[e - e0], K)


@kernel
def _point_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == LEDGER:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    if job != OUTPUT:
        for e in range(e0, e1):
            beyond = _beyond(par, e, CURVE, Q[1, dof[e, 2 * n]])
            hist[e, 0] = beyond if job == START else max(hist[e, 0], beyond)
        return
    P, B, J = np.empty((5, 5, dim)), np.empty((5, dim, n)), np.empty((5, dim, n))
    C, F, multipliers, x = scratch(9, COEFFICIENTS), scratch(5, 3), scratch(3), scratch(3)
    terms, own, at = np.empty((9, 3), np.int64), np.empty(5, np.int64), np.empty(1, np.int64)
    none, f = np.empty((0, 0)), np.empty(3 * n + dim)
    at[0] = 2 * n
    for e in range(e0, e1):
        s0, s1, ds = _movement(Q, U, dof[e, 2 * n])
        _point_vectors(Q, D, U, dof, rot, e, par, dim, P, B, J, own)
        if ctl[RULE] == ONE_STATE:
            s0, ds = s1, 0.0
            for v in range(dim + 2):
                at_end(P[v], B[v])
        _point_terms(par, e, dim, s0, s1, ds, F, terms, C)
        for i in range(dim):
            multipliers[i] = U[dof[e, 3 * n + i]]
        for i in range(f.shape[0]):
            f[i] = 0.0
        form_rows(FORCE, 1.0, par[e, SCALE], terms, 3 * dim, C, P, B, J, own, at, 3 * n, multipliers, f, none)
        for i in range(f.shape[0]):
            f[i] /= ctl[SF]
        for i in range(dim):
            x[i] = 0.5 * (P[0, R0, i] + P[0, R1, i])
        _moment_about(f, fe[e - e0], x, n, dim)


# --- two profiles in the plane ---------------------------------------------------------------------------------------
@inner
def _profile_vectors(Q, D, U, dof, rot, e, par, P, B, J, own):
    """Fill the vectors: the nodes of a and b, then the axes of a and of b."""
    for v in range(6):
        own[v] = v if v < 2 else (v - 2) // 2
        vector(Q, D, U, dof, rot, e, own[v], par, _PROFILE_VECTORS + 2 * v, v > 1, P[v], B[v], J[v])


@inner
def _profile_terms(par, e, a0, a1, da, b0, b1, db, F, G, terms, C):
    """Fill terms and coefficients for steps of both coordinates; F and G (5, 2) are work space."""
    table = _PROFILE_VECTORS + 12
    table_b = table + int(par[e, CURVE]) * 9
    _evaluate(par, e, CURVE, table, 2, 0, a0, a1, da, F)
    _evaluate(par, e, CURVE_B, table_b, 2, 0, b0, b1, db, G)
    for k in range(2):
        t = 5 * k
        _constant(terms, C, t, k, 2 + k, 1, 1.0)
        _constant(terms, C, t + 1, k, 2 + k, 0, -1.0)
        _function(terms, C, t + 2, k, -1, -1, -1.0, F, k, 0)
        _function(terms, C, t + 3, k, 2 + k, 4, 1.0, G, 0, 1)
        _function(terms, C, t + 4, k, 2 + k, 5, 1.0, G, 1, 1)
    _evaluate(par, e, CURVE, table, 2, 1, a0, a1, da, F)
    _evaluate(par, e, CURVE_B, table_b, 2, 1, b0, b1, db, G)
    for m in range(2):
        _two_functions(terms, C, 10 + 2 * m, 2, 3, 4 + m, par[e, ARM], F, 0, G, m)
        _two_functions(terms, C, 11 + 2 * m, 2, 2, 4 + m, -par[e, ARM], F, 1, G, m)


@kernel
def _profile_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    P, B, J = np.empty((6, 5, 2)), np.empty((6, 2, 3)), np.empty((6, 2, 3))
    C, F, G, multipliers = scratch(14, COEFFICIENTS), scratch(5, 2), scratch(5, 2), scratch(3)
    terms, own, at = np.empty((14, 3), np.int64), np.empty(6, np.int64), np.empty(2, np.int64)
    none = np.empty((0, 0))
    at[0], at[1] = 6, 7
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        a0, a1, da = _movement(Q, U, dof[e, 6])
        b0, b1, db = _movement(Q, U, dof[e, 7])
        _profile_vectors(Q, D, U, dof, rot, e, par, P, B, J, own)
        _profile_terms(par, e, a0, a1, da, b0, b1, db, F, G, terms, C)
        for i in range(3):
            multipliers[i] = U[dof[e, 9 + i]]
        K = ke[e - e0] if job == TANGENT else none
        form_rows(job, ctl[TWO], par[e, SCALE], terms, 14, C, P, B, J, own, at, 9, multipliers, fe[e - e0], K)


@kernel
def _profile_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == LEDGER:  # does no work: nothing to book
        return
    F = scratch(5, 2)
    if job != OUTPUT:
        for e in range(e0, e1):
            a0, b0, a1, b1 = Q[0, dof[e, 6]], Q[0, dof[e, 7]], Q[1, dof[e, 6]], Q[1, dof[e, 7]]
            beyond = max(_beyond(par, e, CURVE, a1), _beyond(par, e, CURVE_B, b1))
            against = -1.0
            for k in range(1, 5):  # also between, where a step may have leapt over a hollow
                x = 0.25 * k
                against = max(against, _interference(par, e, a0 + x * (a1 - a0), b0 + x * (b1 - b0), F))
            hist[e, 0] = beyond if job == START else max(hist[e, 0], beyond)
            hist[e, 1] = against if job == START else max(hist[e, 1], against)
        return
    P, B, J = np.empty((6, 5, 2)), np.empty((6, 2, 3)), np.empty((6, 2, 3))
    C, G, multipliers = scratch(14, COEFFICIENTS), scratch(5, 2), scratch(3)
    terms, own, at = np.empty((14, 3), np.int64), np.empty(6, np.int64), np.empty(2, np.int64)
    none, f, x = np.empty((0, 0)), np.empty(12), scratch(2)
    at[0], at[1] = 6, 7
    for e in range(e0, e1):
        a0, a1, da = _movement(Q, U, dof[e, 6])
        b0, b1, db = _movement(Q, U, dof[e, 7])
        _profile_vectors(Q, D, U, dof, rot, e, par, P, B, J, own)
        if ctl[RULE] == ONE_STATE:
            a0, da, b0, db = a1, 0.0, b1, 0.0
            for v in range(6):
                at_end(P[v], B[v])
        _profile_terms(par, e, a0, a1, da, b0, b1, db, F, G, terms, C)
        for i in range(3):
            multipliers[i] = U[dof[e, 9 + i]]
        for i in range(12):
            f[i] = 0.0
        form_rows(FORCE, 1.0, par[e, SCALE], terms, 14, C, P, B, J, own, at, 9, multipliers, f, none)
        for i in range(12):
            f[i] /= ctl[SF]
        table = _PROFILE_VECTORS + 12 + int(par[e, CURVE]) * 9
        _evaluate(par, e, CURVE_B, table, 2, 0, b0, b1, db, G)
        for i in range(2):  # the mean of eta_m f_m
            x[i] = 0.5 * (G[_V0, 0] * P[4, P0, i] + G[_V0, 1] * P[5, P0, i])
            x[i] += 0.5 * (G[_V1, 0] * P[4, P1, i] + G[_V1, 1] * P[5, P1, i])
        _moment_about(f, fe[e - e0], x, 3, 2)


# --- limits ----------------------------------------------------------------------------------------------------------
@inner
def _beyond(par, e, curve, s):
    """Return by how much a place lies beyond the ends of an open curve [m]; negative elsewhere."""
    return -1.0 if par[e, curve + 2] != 0.0 else max(-s, s - par[e, curve + 1])


@inner
def _interference(par, e, a1, b1, F):
    """Return minus the curvature of two profiles against each other over the sum of both.

    It is positive where one bends more than the other can follow.  F (5, 2) is work space.
    """
    table = _PROFILE_VECTORS + 12
    _evaluate(par, e, CURVE, table, 2, 1, a1, a1, 0.0, F)
    kappa_a = (F[_V1, 0] * F[_SLOPE, 1] - F[_V1, 1] * F[_SLOPE, 0]) / math.hypot(F[_V1, 0], F[_V1, 1]) ** 3
    _evaluate(par, e, CURVE_B, table + int(par[e, CURVE]) * 9, 2, 1, b1, b1, 0.0, F)
    kappa_b = (F[_V1, 0] * F[_SLOPE, 1] - F[_V1, 1] * F[_SLOPE, 0]) / math.hypot(F[_V1, 0], F[_V1, 1]) ** 3
    # side: the sign of the relative curvature at the start, twice where the tangents are opposite
    against = kappa_a + kappa_b if abs(par[e, SIDE]) == 2.0 else kappa_a - kappa_b
    if par[e, SIDE] > 0.0:
        against = -against
    return against / max(abs(kappa_a) + abs(kappa_b), 1e-300)


_END = Watch(
    0.0, 0.0, "way beyond the end", "end the run before, hold the point by a stop, or make the curve longer",
    kind="Joint", unit="m", history=0,
)  # fmt: skip
_INTERFERENCE = Watch(
    0.0, 0.0, "relative curvature of the wrong sign (the profiles cut into each other)",
    "make the profiles rounder, or the follower smaller", kind="Joint", unit="-", history=1,
)  # fmt: skip

_CURVE = ("pieces{}", "length{} [m]", "closed{}")


def _point_type(dimension):
    axes = "xyz"[:dimension]
    vectors = ("a{}_b [m]", "a{}_a [m]", *(f"e{k + 1}{{}}_a" for k in range(dimension)))
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    return ElementType(
        name=f"point_on_curve{dimension}",
        dimension=dimension,
        ends=3,
        rotational=True,
        par=("scale", *(c.format("") for c in _CURVE), *(v.format(c) for v in vectors for c in axes)),
        tables=True,
        multipliers=dimension,
        scale=0,
        outputs=(*(f"force {c} [N]" for c in axes), *moments),
        force=_point_force,
        report=_point_report,
        hist=1,
        watches=(_END,),
    )


TYPES = {
    t.name: t
    for t in (
        _point_type(2),
        _point_type(3),
        ElementType(
            name="curve_on_curve2",
            dimension=2,
            ends=3,
            rotational=True,
            par=(
                *("scale", *(c.format("") for c in _CURVE), *(c.format(" b") for c in _CURVE), "arm [m]", "side"),
                *(f"a{c}_{end} [m]" for end in "ab" for c in "xy"),
                *(f"e{k}{c}_{end}" for end in "ab" for k in (1, 2) for c in "xy"),
            ),
            tables=True,
            multipliers=3,
            scale=0,
            outputs=("force x [N]", "force y [N]", "moment [N m]"),
            force=_profile_force,
            report=_profile_report,
            hist=2,
            watches=(_END, _INTERFERENCE),
        ),
    )
}
