"""Tyres on a road that is fixed in space: `tyre3`, and `relaxing_tyre3` with the deflections of its carcass as states.

The wheel is a thin disc of the radius r with a crown (a torus of the radius r_c at its rim) about the axis a through
its centre c, which may be eccentric in its node.  The road is the plane through o with the normal n, with a height z(X)
over the coordinate X = (c - o).e_1.  With h = n.(c - o), sin g = n.a, R = r - r_c

    y = R cos g + r_c + z(X) - h                     penetration of the lowest point of the disc
    N = N(y0, y1, (y1 - y0)/h) of `fem_mbs.elements.contact.law`, along the exact quotient of y:
        force N (n - <z'> e_1) on c, moment -N R q (a_m x n),   q = -(sin g0 + sin g1)/(cos g0 + cos g1)

so that elastic normal forces conserve energy at any step.  The frame of the contact is x = a x n'/|a x n'|,
y = n' x x, with the normal n' of the road at the wheel.  With the velocity v of c, the spin w and the arm
d = R (a x x) + (y - r_c) n'

    V_x = v.x,   V_sx = V_x - r_e w.a,   V_sy = (v + w x d).y,   V_r = V_x - t V_sx

r_e = R_e - b y is the effective rolling radius; t = 0 for practical slips, 1 for theoretical ones.  The speed of
transport is V_t = max(|V_r|, |V_s|/s_max, V_0).  Slips of `tyre3` are those of the motion,

    s_x = -V_sx/V_t,   s_y = -(V_sy + |V_r| k sin g)/V_t,        k: camber thrust over side force per angle

those of `relaxing_tyre3` follow over the relaxation lengths S_i, with the deflections u of the carcass as states,

    u_x' = -V_sx - V_t s_x(u),   u_y' = -(V_sy + |V_r| k sin g) - V_t s_y(u),   forces of s_i(u) - b T V_si/S_i

with s(u) of `fem_mbs.elements.contact.slip`, near u/S, so that slips rise as 1 - exp(-V t/S), and the damping T of
wheels that are not much faster than V_1: b = V_1^2/(V_x^2 + V_1^2).  Pacejka, Tire and Vehicle Dynamics (3rd ed.,
2012), chapter 7, the model of a single contact point.  Steady slips are those of `tyre3`.  At rest the
carcass is a spring of the stiffness K_i/S_i: the term |V_s| there has the factor (s/s_max)^2, and wheels much slower
than V_1 are transported by their spin alone, t + (1 - t) b in place of t.  Off the road deflections decay by
u' = -V_t u/S.

The forces F_x, F_y of `fem_mbs.elements.contact.slip` act along x on the velocity V_sx (force on c, moment -r_e F_x a),
and along y at the arm d.  The aligning moment is -t_p F_y r(V_r) about n', that of rolling resistance
-f N r_e r(r_e w.a) about a, with r(V) = V/sqrt(V^2 + V_1^2).

What the tangential forces take is dissipated, but for the energy of the carcass, int F.du along the ray to its
deflection.  Two-state rules: means of positions, axes and states, velocities over the step.  At rest only deflections
have forces.  Outputs: the forces and moments of the middle of the step, slips, camber, velocities; the loaded radius
h/cos g of its end.
"""

from __future__ import annotations

import math

import numpy as np

from fem_mbs.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SAMPLE,
    SF,
    SK,
    START,
    STRAIN,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.actuators.user import rate_gradient
from fem_mbs.elements.common import add_arm_tangent, add_force, clear
from fem_mbs.elements.contact.law import LAW_COLUMNS, PIECES, decay_force, elastic_force, normal_energy, normal_force
from fem_mbs.elements.contact.slip import SLIP_COLUMNS, slip_forces, slips_of_deflections, trail_factor
from fem_mbs.elements.duals import (
    add_product,
    add_scaled,
    apply,
    constant,
    inner_product,
    product,
    quotient,
    scaled,
    unit,
    vector_product,
)
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, cayley_vector, point, point_rate, rotate, spin
from fem_mbs.elements.laws import ROW, piecewise_at, piecewise_energy, piecewise_mean
from fem_mbs.elements.registry import ElementType

__all__ = ["COLUMNS", "FLOOR", "TYPES", "road_table"]

#: Least speed of transport of tyres with states [m/s]: at rest deflections creep by it over the relaxation length.
FLOOR = 1e-6
_MIDDLE = 2  # of a step, beside its ends 0 and 1
_SHAPE = len(LAW_COLUMNS)
_RADIUS, _CROWN, _ROLLING, _SHRINKING = range(_SHAPE, _SHAPE + 4)
_SLIP = _SHAPE + 4
_OPTIONS = _SLIP + len(SLIP_COLUMNS)
_CAMBER, _TRAIL, _RESISTANCE, _SMOOTH, _FLOOR, _LIMIT, _THEORETICAL = range(_OPTIONS, _OPTIONS + 7)
_SIGMA, _RETARDATION, _ROAD = _OPTIONS + 7, _OPTIONS + 9, _OPTIONS + 10
_NORMAL, _FORWARD, _ORIGIN, _CENTRE, _AXIS = range(_OPTIONS + 11, _OPTIONS + 26, 3)
#: Names of the parameters; the table of the normal force and that of the road follow, then the sizes of states.
COLUMNS = (
    *LAW_COLUMNS, "radius [m]", "crown radius [m]", "rolling radius [m]", "shrinking", *SLIP_COLUMNS,
    "camber thrust", "trail [m]", "rolling resistance", "smoothing speed [m/s]", "least speed [m/s]", "largest slip",
    "theoretical", "relaxation length x [m]", "relaxation length y [m]", "retardation [s]", "road pieces",
    *(f"{name}{c}{u}" for name, u in (("n", ""), ("e", ""), ("o", " [m]"), ("c", " [m]"), ("a", "")) for c in "xyz"),
)  # fmt: skip

_TAIL = len(COLUMNS)
_M = 9  # entries of numbers: the value, then the derivatives by dx, theta and two states
_END = 6  # unknowns of the wheel's node
_ROWS, _VECTORS = 21, 13
# numbers (rows of S), and vectors (rows of W) of `_evaluate`
(
    _N, _Q, _SLOPE, _DEPTH, _VX, _VSX, _VSY, _VR, _VT, _GAMMA, _RE, _ONE, _TWO, _THREE, _FX, _FY, _SX, _SY, _ZETA,
    _MORE, _SLOW,
) = range(_ROWS)  # fmt: skip
_AT, _AXLE, _VEL, _SPIN, _UP, _AHEAD, _ROADUP, _HAT, _X, _Y, _DOWN, _ARM, _V1 = range(_VECTORS)
# values of `_evaluate` that have no derivatives (entries of out)
_MEAN, _CHANGE, _RATE = range(3)


@inner
def _place(w, ctl, par, e, dof, rot, Q, D, V, U, at, P, B, J, PA, BA, JA, x, c, dv, W):
    """Fill the vectors of centre, axis, velocity and spin at a place of the step (0, 1, or the middle, 2)."""
    point(Q, D, U, dof, rot, e, 0, par, _CENTRE, P, B, J)
    point(Q, D, U, dof, rot, e, 0, par, _AXIS, PA, BA, JA)
    share = 0.5 * ctl[SK] / ctl[SF]
    middle = at == _MIDDLE
    if not middle:
        point_rate(V, D, dof, rot, at, e, 0, P[R1] if at == 1 else P[R0], x, c)
    if w > 1:
        rate_gradient(ctl, J, c, dv)
    for k in range(3):
        first = P[P0, k] if at != 1 else P[P1, k]
        last = P[P1, k] if at != 0 else P[P0, k]
        constant(w, 0.5 * (first + last) - par[e, _ORIGIN + k], W[_AT, k])
        first = PA[R0, k] if at != 1 else PA[R1, k]
        last = PA[R1, k] if at != 0 else PA[R0, k]
        constant(w, 0.5 * (first + last), W[_AXLE, k])
        constant(w, P[DP, k] / ctl[H] if middle else x[k], W[_VEL, k])
        constant(w, par[e, _NORMAL + k], W[_UP, k])
        constant(w, par[e, _FORWARD + k], W[_AHEAD, k])
        if w > 1:
            for j in range(_END):
                W[_AT, k, 1 + j] = share * J[k, j]
                W[_AXLE, k, 1 + j] = share * JA[k, j] if j >= 3 else 0.0
                W[_VEL, k, 1 + j] = dv[k, j]
    if not middle:
        spin(V, D, dof, rot, at, e, 0, x)
    for k in range(3):
        constant(w, U[dof[e, 3 + k]] / ctl[H] if middle else x[k], W[_SPIN, k])
        if w > 1:
            W[_SPIN, k, 4 + k] = 1 / ctl[H] if middle else ctl[WV]
    if w > 1 and not middle:  # the spin turns with its axes: d theta x w
        W[_SPIN, 0, 5] += x[2]
        W[_SPIN, 0, 6] -= x[1]
        W[_SPIN, 1, 6] += x[0]
        W[_SPIN, 1, 4] -= x[2]
        W[_SPIN, 2, 4] += x[1]
        W[_SPIN, 2, 5] -= x[0]


@inner
def _tilt(par, e, column, R):
    """Return n.a of the axis with the arm R (3,), and cos g."""
    s = par[e, column] * R[0] + par[e, column + 1] * R[1] + par[e, column + 2] * R[2]
    return s, math.sqrt(max(1 - s * s, 0.0))


@inner
def _penetration(par, e, road, P, PA, end, out):
    """Fill out (5,) with y, X, sin g, cos g and z'(X) at an end of the step."""
    s, g = _tilt(par, e, _NORMAL, PA[R1 if end == 1 else R0])
    height = ahead = 0.0
    for k in range(3):
        d = P[P1 if end == 1 else P0, k] - par[e, _ORIGIN + k]
        height += par[e, _NORMAL + k] * d
        ahead += par[e, _FORWARD + k] * d
    pieces = int(par[e, _ROAD])
    z = piecewise_energy(par, e, road, pieces, ahead)
    crown = par[e, _CROWN]
    out[0] = (par[e, _RADIUS] - crown) * g + crown + z - height
    out[1], out[2], out[3] = ahead, s, g
    out[4] = piecewise_at(par, e, road, pieces, ahead)[0]


@inner
def _normal(w, ctl, par, e, tail, road, hist, P, J, PA, JA, at, ends, S, W, out):
    """Fill the numbers N, q, <z'>, mean penetration and what the rule adds to N; return whether the tyre presses."""
    share = 0.5 * ctl[SK] / ctl[SF]
    middle = at == _MIDDLE
    _penetration(par, e, road, P, PA, 1 if at == 1 else 0, ends[0])
    _penetration(par, e, road, P, PA, 0 if at == 0 else 1, ends[1])
    R = par[e, _RADIUS] - par[e, _CROWN]
    s0, s1, g0, g1 = ends[0, 2], ends[1, 2], ends[0, 3], ends[1, 3]
    both = g0 + g1
    if not both > 1e-9:  # the wheel lies flat
        return False
    q = -(s0 + s1) / both
    slope, by_x = piecewise_mean(par, e, road, int(par[e, _ROAD]), ends[0, 1], ends[1, 1])
    constant(w, q, S[_Q])
    constant(w, slope, S[_SLOPE])
    constant(w, 0.5 * (ends[0, 0] + ends[1, 0]), S[_DEPTH])
    for j in range(min(w - 1, _END)):
        dh = dx = ds = 0.0
        for k in range(3):
            dh += par[e, _NORMAL + k] * J[k, j]
            dx += par[e, _FORWARD + k] * J[k, j]
            if j >= 3:
                ds += par[e, _NORMAL + k] * JA[k, j]
        S[_Q, 1 + j] = 2 * share * (-ds / both - (s0 + s1) / (both * both) * (s1 / g1 * ds))
        S[_SLOPE, 1 + j] = 2 * share * by_x * dx
        S[_ONE, 1 + j] = ends[1, 4] * dx - dh - R * s1 / g1 * ds  # dy1
        S[_DEPTH, 1 + j] = share * S[_ONE, 1 + j]
    # the rate: of the step, or of the state
    if middle:
        constant(w, 0.0, S[_TWO])
        S[_TWO, 0] = (ends[1, 0] - ends[0, 0]) / ctl[H]
        for j in range(min(w - 1, _END)):
            S[_TWO, 1 + j] = S[_ONE, 1 + j] / ctl[H]
    else:  # y' = z' e_1.v - n.v + R q n.(w x a)
        inner_product(w, W[_AHEAD], W[_VEL], S[_THREE])
        product(w, S[_SLOPE], S[_THREE], S[_TWO])
        inner_product(w, W[_UP], W[_VEL], S[_THREE])
        add_scaled(w, -1.0, S[_THREE], S[_TWO])
        vector_product(w, W[_SPIN], W[_AXLE], W[_V1])
        inner_product(w, W[_UP], W[_V1], S[_THREE])
        add_product(w, R, S[_Q], S[_THREE], S[_TWO])
    y0, y1 = ends[0, 0], ends[1, 0]
    rate = S[_TWO, 0]
    N, mean, by_y, by_rate = normal_force(ctl, par, e, tail, hist, y0, y1, rate, rate)
    constant(w, N, S[_N])
    more, more_by_y = decay_force(ctl, par, e, tail, hist, y0, y1) if middle else (0.0, 0.0)
    if N + more <= 0:  # (what the rule adds never pulls)
        more, more_by_y = -N, 0.0
    constant(w, more, S[_MORE])
    if w > 1:
        for j in range(_END):
            S[_N, 1 + j] = 2 * share * by_y * S[_ONE, 1 + j] + by_rate * S[_TWO, 1 + j]
            S[_MORE, 1 + j] = more_by_y * S[_ONE, 1 + j] if N + more > 0 else -S[_N, 1 + j]
    out[_MEAN], out[_CHANGE], out[_RATE] = mean, y1 - y0, rate
    return N > 0


@inner
def _slips(w, par, e, m, z, presses, S, W, G, work):
    """Fill the frame of the contact, its velocities, slips, and the rates G (2, M) of the deflections z (2, M); return
    False where the wheel lies flat."""
    # the normal of the road at the wheel
    for k in range(3):
        constant(w, par[e, _NORMAL + k], W[_V1, k])
        add_product(w, -1.0, S[_SLOPE], W[_AHEAD, k], W[_V1, k])
    unit(w, W[_V1], S[_ONE], W[_ROADUP])
    if not unit(w, W[_AXLE], S[_ONE], W[_HAT]):
        return False
    vector_product(w, W[_HAT], W[_ROADUP], W[_V1])
    if not unit(w, W[_V1], S[_ONE], W[_X]):
        return False
    vector_product(w, W[_ROADUP], W[_X], W[_Y])
    vector_product(w, W[_HAT], W[_X], W[_DOWN])
    inner_product(w, W[_ROADUP], W[_HAT], S[_GAMMA])
    R = par[e, _RADIUS] - par[e, _CROWN]
    constant(w, -par[e, _CROWN], S[_ONE])
    add_scaled(w, 1.0, S[_DEPTH], S[_ONE])
    scaled(w, S[_ONE], W[_ROADUP], W[_ARM])
    for k in range(3):
        add_scaled(w, R, W[_DOWN, k], W[_ARM, k])
    constant(w, par[e, _ROLLING], S[_RE])
    add_scaled(w, -par[e, _SHRINKING], S[_DEPTH], S[_RE])
    inner_product(w, W[_X], W[_VEL], S[_VX])
    inner_product(w, W[_SPIN], W[_HAT], S[_ONE])
    product(w, S[_RE], S[_ONE], S[_TWO])  # the speed of the rim, which _TWO keeps
    for j in range(w):
        S[_VSX, j] = S[_VX, j] - S[_TWO, j]
        S[_VR, j] = S[_VX, j] - par[e, _THEORETICAL] * S[_VSX, j]
    if m > 0:  # slow wheels: the speed of rolling alone
        slow = par[e, _SMOOTH] ** 2
        whole = slow + S[_VX, 0] ** 2
        apply(w, slow / whole, -2 * slow * S[_VX, 0] / whole**2, S[_VX], S[_SLOW])
        add_product(w, par[e, _THEORETICAL] - 1, S[_SLOW], S[_VSX], S[_VR])
    vector_product(w, W[_SPIN], W[_ARM], W[_V1])
    for k in range(3):
        add_scaled(w, 1.0, W[_VEL, k], W[_V1, k])
    inner_product(w, W[_Y], W[_V1], S[_VSY])
    for i in range(m):
        apply(w, z[i, 0] / par[e, _SIGMA + i], 1 / par[e, _SIGMA + i], z[i], S[_SX + i])
    if m > 0 and presses:
        slips_of_deflections(w, par, e, _SLIP, S[_N], work, S[_SX : _SX + 2])
    sign = _transport(w, par, e, m, presses, S)
    # what the slips come from: -V_sx, -(V_sy + |V_r| k sin g)
    apply(w, -S[_VSX, 0], -1.0, S[_VSX], G[0])
    apply(w, -S[_VSY, 0], -1.0, S[_VSY], G[1])
    add_product(w, -sign * par[e, _CAMBER], S[_VR], S[_GAMMA], G[1])
    if m == 0:
        for i in range(2):
            quotient(w, G[i], S[_VT], S[_SX + i])
        return True
    for i in range(2):
        if not presses:
            constant(w, 0.0, G[i])
        add_product(w, -1.0, S[_VT], S[_SX + i], G[i])
        add_product(w, -par[e, _RETARDATION] / par[e, _SIGMA + i], S[_SLOW], S[_VSX + i], S[_SX + i])
    return True


@inner
def _transport(w, par, e, m, presses, S):
    """Fill V_t = max(|V_r|, what keeps slips below the largest, V_0), and return the sign of V_r."""
    sign = 1.0 if S[_VR, 0] >= 0 else -1.0
    rolling, least, most = abs(S[_VR, 0]), par[e, _FLOOR], par[e, _LIMIT]
    # |V_s|/s_max, with states times (s/s_max)^2, so that small deflections at rest keep their energy
    constant(w, 0.0, S[_THREE])
    for i in range(2):
        add_product(w, 1.0, S[_VSX + i], S[_VSX + i], S[_THREE])
    sliding = math.sqrt(S[_THREE, 0])
    apply(w, sliding / most, 0.5 / (sliding * most) if sliding > 0 else 0.0, S[_THREE], S[_THREE])
    if m > 0:
        constant(w, 0.0, S[_ONE])
        for i in range(2):
            add_product(w, 1 / most**2, S[_SX + i], S[_SX + i], S[_ONE])
        product(w, S[_ONE], S[_THREE], S[_THREE])
    if presses and S[_THREE, 0] > rolling and S[_THREE, 0] > least:
        apply(w, S[_THREE, 0], 1.0, S[_THREE], S[_VT])
    elif rolling > least:
        apply(w, rolling, sign, S[_VR], S[_VT])
    else:
        constant(w, least, S[_VT])
    return sign


@inner
def _add_normal(w, par, e, S, W, F, M):
    """Add N (n - <z'> e_1) to the force F (3, M) and -N R q (a_m x n) to the moment M (3, M) about the centre."""
    for j in range(w):
        S[_THREE, j] = S[_N, j] + S[_MORE, j]
    scaled(w, S[_THREE], W[_UP], F)
    product(w, S[_THREE], S[_SLOPE], S[_ONE])
    for k in range(3):
        add_product(w, -1.0, S[_ONE], W[_AHEAD, k], F[k])
    vector_product(w, W[_AXLE], W[_UP], W[_V1])
    product(w, S[_THREE], S[_Q], S[_ONE])
    R = par[e, _RADIUS] - par[e, _CROWN]
    apply(w, -R * S[_ONE, 0], -R, S[_ONE], S[_ONE])
    scaled(w, S[_ONE], W[_V1], M)


@inner
def _sign(w, par, e, V, out):
    """Fill out with V/sqrt(V^2 + V_1^2), the smooth sign of a speed."""
    smooth = math.sqrt(V[0] * V[0] + par[e, _SMOOTH] ** 2)
    apply(w, V[0] / smooth, par[e, _SMOOTH] ** 2 / smooth**3, V, out)


@inner
def _tangential(w, par, e, S, W, work, F, M):
    """Fill force F and moment M about the centre, (3, M), of what slips cause; _ONE becomes the aligning moment."""
    slip_forces(w, par, e, _SLIP, S[_SX : _SX + 2], S[_N], work, S[_FX : _FX + 2])
    for k in range(3):
        product(w, S[_FX], W[_X, k], F[k])
        product(w, S[_FY], W[_Y, k], W[_V1, k])
        add_scaled(w, 1.0, W[_V1, k], F[k])
    vector_product(w, W[_ARM], W[_V1], M)
    # about the axis: -r_e F_x, and rolling resistance
    _sign(w, par, e, S[_TWO], S[_THREE])
    product(w, S[_N], S[_THREE], S[_THREE])
    constant(w, 0.0, S[_ONE])
    add_scaled(w, -par[e, _RESISTANCE], S[_THREE], S[_ONE])
    add_scaled(w, -1.0, S[_FX], S[_ONE])
    product(w, S[_ONE], S[_RE], S[_ONE])
    for k in range(3):
        add_product(w, 1.0, S[_ONE], W[_HAT, k], M[k])
    # about the normal
    trail_factor(w, work[0], work[1], S[_ZETA])
    _sign(w, par, e, S[_VR], S[_ONE])
    product(w, S[_ZETA], S[_ONE], S[_ONE])
    product(w, S[_FY], S[_ONE], S[_ONE])
    apply(w, -par[e, _TRAIL] * S[_ONE, 0], -par[e, _TRAIL], S[_ONE], S[_ONE])
    for k in range(3):
        add_product(w, 1.0, S[_ONE], W[_ROADUP, k], M[k])


@inner
def _carcass(par, e, tail, y, u, S, work):
    """Return the energy of the deflections u (2,) at the penetration y: int F.du along the ray to them, by Gauss."""
    force = elastic_force(par, e, tail, y)[0]
    if force <= 0:
        return 0.0
    total = 0.0
    S[_N, 0] = force
    for k in range(5):
        t = 0.0
        weight = 64 / 225
        if k == 1 or k == 2:
            t, weight = math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 1800
        elif k > 2:
            t, weight = math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 1800
        t = 0.5 * (1 - t if k % 2 else 1 + t)
        for i in range(2):
            S[_SX + i, 0] = t * u[i] / par[e, _SIGMA + i]
        slips_of_deflections(1, par, e, _SLIP, S[_N], work, S[_SX : _SX + 2])
        slip_forces(1, par, e, _SLIP, S[_SX : _SX + 2], S[_N], work, S[_FX : _FX + 2])
        total += weight * (S[_FX, 0] * u[0] + S[_FY, 0] * u[1])
    return total


@inner
def _deflections(w, ctl, par, e, dof, Q, U, at, m, z):
    """Fill the deflections z (2, M) of a place of the step."""
    share = 0.5 * ctl[SK] / ctl[SF]
    for i in range(m):
        k, size = dof[e, _END + i], par[e, par.shape[1] - m + i]
        constant(w, size * (Q[0, k] + 0.5 * U[k] if at == _MIDDLE else Q[at, k]), z[i])
        if w > 1:
            z[i, 1 + _END + i] = share * size


@inner
def _evaluate(w, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out):
    """Fill normal (FN, MN) and tangential (FS, MS) forces and moments on the centre, (3, M), at a place of the step,
    and the rates G (2, M) of the deflections; return whether the tyre presses.  P, B, J become those of the centre."""
    PA, BA, JA, dv = scratch(5, 3), scratch(3, 6), scratch(3, 6), scratch(3, 6)
    x, c, ends, work = scratch(3), scratch(3), scratch(2, 5), scratch(5, _M)
    tail = _TAIL
    road = tail + ROW * int(par[e, PIECES])
    for i in range(_ROWS):
        constant(w, 0.0, S[i])
    for k in range(3):
        constant(w, 0.0, FN[k])
        constant(w, 0.0, MN[k])
        constant(w, 0.0, FS[k])
        constant(w, 0.0, MS[k])
    for i in range(2):
        constant(w, 0.0, G[i])
    for i in range(3):
        out[i] = 0.0
    _place(w, ctl, par, e, dof, rot, Q, D, V, U, at, P, B, J, PA, BA, JA, x, c, dv, W)
    _deflections(w, ctl, par, e, dof, Q, U, at, m, z)
    presses = _normal(w, ctl, par, e, tail, road, hist, P, J, PA, JA, at, ends, S, W, out)
    if S[_N, 0] + S[_MORE, 0] > 0:
        _add_normal(w, par, e, S, W, FN, MN)
    if not presses and m == 0:
        return False
    slides = _slips(w, par, e, m, z, presses, S, W, G, work)
    if not slides:
        for i in range(m):
            constant(w, 0.0, G[i])
            add_scaled(w, -par[e, _FLOOR] / par[e, _SIGMA + i], z[i], G[i])
        return presses
    if presses:
        _tangential(w, par, e, S, W, work, FS, MS)
    return presses


@inner
def _end_of(par, e, tail, rot, D, P, state, out):
    """Fill out (2,) with penetration and loaded radius at an end of the step; P is that of the centre."""
    axis, row, ends = scratch(2, 3), scratch(5, 3), scratch(5)
    rotate(D, state, rot[e, 0], par[e, _AXIS], par[e, _AXIS + 1], par[e, _AXIS + 2], axis[0])
    for k in range(3):
        row[R0, k] = row[R1, k] = axis[0, k]
    _penetration(par, e, tail + ROW * int(par[e, PIECES]), P, row, state, ends)
    out[0] = ends[0]
    above = (par[e, _RADIUS] - par[e, _CROWN]) * ends[3] + par[e, _CROWN] - ends[0]  # of the centre over the road
    out[1] = above / ends[3] if ends[3] > 0 else 0.0


def _kernels(m):
    """Return both kernels of tyres with m states, 0 or 2."""
    n = _END + m

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(5, 3), scratch(3, 6), scratch(3, 6)
        S, W, z, G = scratch(_ROWS, _M), scratch(_VECTORS, 3, _M), scratch(2, _M), scratch(2, _M)
        FN, MN, FS, MS = scratch(3, _M), scratch(3, _M), scratch(3, _M), scratch(3, _M)
        out, total = scratch(3), scratch(3)
        one_state = ctl[RULE] == ONE_STATE
        w = 1 + n if job == TANGENT else 1
        h = 1.0 if one_state and ctl[WV] == 0 else ctl[H]  # statics has no time
        share = 0.5 * ctl[SK] / ctl[SF]
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            at = 1 if one_state else _MIDDLE
            _evaluate(w, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out)
            f = fe[e - e0]
            for k in range(3):
                total[k] = FN[k, 0] + FS[k, 0]
            add_force(f, -ctl[SF], total, B, 0)
            for k in range(3):
                f[3 + k] -= ctl[SF] * (MN[k, 0] + MS[k, 0])
            for i in range(m):
                d, size = dof[e, _END + i], par[e, par.shape[1] - m + i]
                f[_END + i] = (h * V[1, d] if one_state else U[d]) - h * G[i, 0] / size
            if job != TANGENT:
                continue
            K = ke[e - e0]
            for j in range(n):
                for i in range(_END):
                    change = 0.0
                    for k in range(3):
                        change += B[k, i] * (FN[k, 1 + j] + FS[k, 1 + j])
                    if i >= 3:
                        change += MN[i - 3, 1 + j] + MS[i - 3, 1 + j]
                    K[i, j] = -ctl[SF] * change
                for i in range(m):
                    K[_END + i, j] = -h * G[i, 1 + j] / par[e, par.shape[1] - m + i]
            for i in range(m):
                K[_END + i, _END + i] += h * ctl[WV] if one_state else 1.0
            add_arm_tangent(K, -ctl[SF] * 2 * share, total, J, 0)

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        if job == START or job == COMMIT or job == SAMPLE:
            return
        P, B, J = scratch(5, 3), scratch(3, 6), scratch(3, 6)
        S, W, z, G = scratch(_ROWS, _M), scratch(_VECTORS, 3, _M), scratch(2, _M), scratch(2, _M)
        FN, MN, FS, MS = scratch(3, _M), scratch(3, _M), scratch(3, _M), scratch(3, _M)
        out, u, theta, work, end = scratch(3), scratch(2), scratch(3), scratch(5, _M), scratch(2)
        one_state = ctl[RULE] == ONE_STATE
        still = one_state and ctl[WV] == 0 and ctl[WA] == 0
        tail = _TAIL
        for e in range(e0, e1):
            f = fe[e - e0]
            if job == OUTPUT:
                at = 1 if one_state else _MIDDLE
                presses = _evaluate(
                    1, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out
                )
                f[0] = S[_N, 0] + S[_MORE, 0]
                if presses:
                    f[1], f[2], f[3] = S[_FX, 0], S[_FY, 0], S[_ONE, 0]
                    f[4], f[5] = S[_SX, 0], math.atan(S[_SY, 0])
                    f[6] = math.asin(min(max(S[_GAMMA, 0], -1.0), 1.0))
                    f[7], f[8] = S[_VSX, 0], S[_VSY, 0]
                _end_of(par, e, tail, rot, D, P, 1, end)
                f[9], f[10] = end[1], end[0]
                for i in range(m):
                    f[11 + i] = par[e, par.shape[1] - m + i] * Q[1, dof[e, _END + i]]
                continue
            # the energy of the end, and what was lost
            first, last = (0, 2) if one_state else (_MIDDLE, _MIDDLE + 1)
            power = lost = work_done = 0.0
            for at in range(first, last):
                _evaluate(1, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out)
                if at == _MIDDLE:
                    lost += (S[_N, 0] + S[_MORE, 0] - out[_MEAN]) * out[_CHANGE]
                    for k in range(3):
                        work_done += FS[k, 0] * P[DP, k] + MS[k, 0] * U[dof[e, 3 + k]]
                else:
                    lost += 0.5 * ctl[H] * (S[_N, 0] - out[_MEAN]) * out[_RATE]
                    for k in range(3):
                        power += 0.5 * (FS[k, 0] * W[_VEL, k, 0] + MS[k, 0] * W[_SPIN, k, 0])
                    if still:
                        cayley_vector(D[0, rot[e, 0]], D[1, rot[e, 0]], theta)
                        for k in range(3):
                            work_done += 0.5 * (FS[k, 0] * (P[P1, k] - P[P0, k]) + MS[k, 0] * theta[k])
            stored = before = 0.0
            if m > 0:
                for state in range(2):
                    for i in range(m):
                        u[i] = par[e, par.shape[1] - m + i] * Q[state, dof[e, _END + i]]
                    _end_of(par, e, tail, rot, D, P, state, end)
                    before, stored = stored, _carcass(par, e, tail, end[0], u, S, work)
            _end_of(par, e, tail, rot, D, P, 1, end)
            f[STRAIN] = normal_energy(par, e, tail, end[0], 0.0)[0] + stored
            if still:  # statics has no time: all work is fed in
                f[LOAD_WORK] = work_done + stored - before
            elif one_state:
                f[DISSIPATED] = lost - ctl[H] * power - (stored - before)
            else:
                f[DISSIPATED] = lost - work_done - (stored - before)

    return force, report


def _type(name, m):
    force, report = _kernels(m)
    states = tuple(f"deflection {c} [m]" for c in "xy"[:m])
    return ElementType(
        name=name,
        dimension=3,
        ends=1,
        rotational=True,
        par=COLUMNS,
        tables=True,
        hist=2,  # (those of the law of contact, which elastic and damped forces leave zero)
        outputs=(
            "normal force [N]", "longitudinal force [N]", "lateral force [N]", "aligning moment [N m]", "slip [-]",
            "slip angle [rad]", "camber [rad]", "sliding speed x [m/s]", "sliding speed y [m/s]", "loaded radius [m]",
            "penetration [m]", *states,
        ),
        force=force,
        report=report,
        scalars=m,
        states=m > 0,
        at_end=("loaded radius", "penetration", *(state.split(" [")[0] for state in states)),
    )  # fmt: skip


TYPES = {name: _type(name, m) for name, m in (("tyre3", 0), ("relaxing_tyre3", 2))}


# --- in numpy --------------------------------------------------------------------------------------------------------
def road_table(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return rows (n, 6) of a road with the heights z (k,) [m] at the places x (k,) [m], strictly rising: the pieces
    (`fem_mbs.elements.laws`) of its slope, whose integral is the height.

    Between the places the height is a cubic spline with level ends, beyond them it is constant.
    """
    from scipy.interpolate import CubicSpline

    c = CubicSpline(x, z, bc_type="clamped").c
    inside = np.column_stack((x[:-1], c[2], 2 * c[1], 3 * c[0], np.zeros(len(x) - 1), z[:-1]))
    before, after = (np.array([[x[i] - shift, 0.0, 0.0, 0.0, 0.0, z[i]]]) for i, shift in ((0, 1.0), (-1, 0.0)))
    return np.concatenate((before, inside, after))
