"""Where a tyre touches and how it slips: penetration, frame of the contact, speeds, slips, as numbers with derivatives.

The formulas stand in `fem_mbs.elements.tyres.tyre`.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import SF, SK, WV, H, inner
from fem_mbs.elements.actuators.user import rate_gradient
from fem_mbs.elements.contact.law import PIECES, decay_force, normal_force
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
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point, point_rate, rotate, spin
from fem_mbs.elements.laws import ROW, piecewise_at, piecewise_energy, piecewise_mean
from fem_mbs.elements.tyres.layout import (
    AHEAD,
    ARM,
    AXIS,
    AXLE,
    CAMBER,
    CAMBER_SINE,
    CENTRE,
    CHANGE,
    CROWN,
    DEPTH,
    DOWN,
    FIRST,
    FORWARD,
    LARGEST_SLIP,
    LEAST_SPEED,
    LOAD,
    MEAN,
    MIDDLE,
    MORE,
    NORMAL,
    ORIGIN,
    PLACE,
    RADIUS,
    RATE,
    RELAXATION,
    RETARDATION,
    RIM_SPEED,
    ROAD,
    ROAD_UP,
    ROLLING,
    ROLLING_ARM,
    ROLLING_SPEED,
    SECOND,
    SHRINKING,
    SLIDING,
    SLIDING_Y,
    SLIP_LAW,
    SLIPS,
    SLOPE,
    SLOWNESS,
    SMOOTH,
    SPEED,
    SPIN,
    THEORETICAL,
    TILTING,
    TRANSPORT,
    UNIT_AXLE,
    UP,
    VECTOR,
    VELOCITY,
    WHEEL,
    X_AXIS,
    Y_AXIS,
)
from fem_mbs.elements.tyres.slip import slips_of_deflections

__all__ = ["end_of", "fill_deflections", "fill_place", "fill_slips", "normal_numbers", "smooth_sign"]

_FLAT = 1e-9  # cosine of the camber of a wheel that lies flat: it has no lowest point, and no force


@inner
def fill_place(w, ctl, par, e, dof, rot, Q, D, V, U, at, P, B, J, PA, BA, JA, x, c, dv, W):
    """Fill the vectors of centre, axis, velocity and spin at a place of the step (0, 1, or the middle, 2)."""
    point(Q, D, U, dof, rot, e, 0, par, CENTRE, P, B, J)
    point(Q, D, U, dof, rot, e, 0, par, AXIS, PA, BA, JA)
    share = 0.5 * ctl[SK] / ctl[SF]
    middle = at == MIDDLE
    if not middle:
        point_rate(V, D, dof, rot, at, e, 0, P[R1] if at == 1 else P[R0], x, c)
    if w > 1:
        rate_gradient(ctl, J, c, dv)
    for k in range(3):
        first = P[P0, k] if at != 1 else P[P1, k]
        last = P[P1, k] if at != 0 else P[P0, k]
        constant(w, 0.5 * (first + last) - par[e, ORIGIN + k], W[PLACE, k])
        first = PA[R0, k] if at != 1 else PA[R1, k]
        last = PA[R1, k] if at != 0 else PA[R0, k]
        constant(w, 0.5 * (first + last), W[AXLE, k])
        constant(w, P[DP, k] / ctl[H] if middle else x[k], W[VELOCITY, k])
        constant(w, par[e, NORMAL + k], W[UP, k])
        constant(w, par[e, FORWARD + k], W[AHEAD, k])
        if w > 1:
            for j in range(WHEEL):
                W[PLACE, k, 1 + j] = share * J[k, j]
                W[AXLE, k, 1 + j] = share * JA[k, j] if j >= 3 else 0.0
                W[VELOCITY, k, 1 + j] = dv[k, j]
    if not middle:
        spin(V, D, dof, rot, at, e, 0, x)
    for k in range(3):
        constant(w, U[dof[e, 3 + k]] / ctl[H] if middle else x[k], W[SPIN, k])
        if w > 1:
            W[SPIN, k, 4 + k] = 1 / ctl[H] if middle else ctl[WV]
    if w > 1 and not middle:  # the spin turns with its axes: d theta x w
        W[SPIN, 0, 5] += x[2]
        W[SPIN, 0, 6] -= x[1]
        W[SPIN, 1, 6] += x[0]
        W[SPIN, 1, 4] -= x[2]
        W[SPIN, 2, 4] += x[1]
        W[SPIN, 2, 5] -= x[0]


@inner
def _tilt(par, e, column, R):
    """Return n.a of the axis with the arm R (3,), and cos g."""
    s = par[e, column] * R[0] + par[e, column + 1] * R[1] + par[e, column + 2] * R[2]
    return s, math.sqrt(max(1 - s * s, 0.0))


@inner
def _penetration(par, e, road, P, PA, end, out):
    """Fill out (5,) with y, X, sin g, cos g and z'(X) at an end of the step."""
    s, g = _tilt(par, e, NORMAL, PA[R1 if end == 1 else R0])
    height = ahead = 0.0
    for k in range(3):
        d = P[P1 if end == 1 else P0, k] - par[e, ORIGIN + k]
        height += par[e, NORMAL + k] * d
        ahead += par[e, FORWARD + k] * d
    pieces = int(par[e, ROAD])
    z = piecewise_energy(par, e, road, pieces, ahead)
    crown = par[e, CROWN]
    out[0] = (par[e, RADIUS] - crown) * g + crown + z - height
    out[1], out[2], out[3] = ahead, s, g
    out[4] = piecewise_at(par, e, road, pieces, ahead)[0]


@inner
def normal_numbers(w, ctl, par, e, tail, road, hist, P, J, PA, JA, at, ends, S, W, out):
    """Fill the numbers N, q, <z'>, mean penetration and what the rule adds to N; return whether the tyre presses."""
    share = 0.5 * ctl[SK] / ctl[SF]
    middle = at == MIDDLE
    _penetration(par, e, road, P, PA, 1 if at == 1 else 0, ends[0])
    _penetration(par, e, road, P, PA, 0 if at == 0 else 1, ends[1])
    R = par[e, RADIUS] - par[e, CROWN]
    s0, s1, g0, g1 = ends[0, 2], ends[1, 2], ends[0, 3], ends[1, 3]
    both = g0 + g1
    if not min(g0, g1) > _FLAT:
        return False
    q = -(s0 + s1) / both
    slope, by_x = piecewise_mean(par, e, road, int(par[e, ROAD]), ends[0, 1], ends[1, 1])
    constant(w, q, S[TILTING])
    constant(w, slope, S[SLOPE])
    constant(w, 0.5 * (ends[0, 0] + ends[1, 0]), S[DEPTH])
    for j in range(min(w - 1, WHEEL)):
        dh = dx = ds = 0.0
        for k in range(3):
            dh += par[e, NORMAL + k] * J[k, j]
            dx += par[e, FORWARD + k] * J[k, j]
            if j >= 3:
                ds += par[e, NORMAL + k] * JA[k, j]
        S[TILTING, 1 + j] = 2 * share * (-ds / both - (s0 + s1) / (both * both) * (s1 / g1 * ds))
        S[SLOPE, 1 + j] = 2 * share * by_x * dx
        S[FIRST, 1 + j] = ends[1, 4] * dx - dh - R * s1 / g1 * ds  # dy1
        S[DEPTH, 1 + j] = share * S[FIRST, 1 + j]
    # the rate: of the step, or of the state
    if middle:
        constant(w, 0.0, S[RIM_SPEED])
        S[RIM_SPEED, 0] = (ends[1, 0] - ends[0, 0]) / ctl[H]
        for j in range(min(w - 1, WHEEL)):
            S[RIM_SPEED, 1 + j] = S[FIRST, 1 + j] / ctl[H]
    else:  # y' = z' e_1.v - n.v + R q n.(w x a)
        inner_product(w, W[AHEAD], W[VELOCITY], S[SECOND])
        product(w, S[SLOPE], S[SECOND], S[RIM_SPEED])
        inner_product(w, W[UP], W[VELOCITY], S[SECOND])
        add_scaled(w, -1.0, S[SECOND], S[RIM_SPEED])
        vector_product(w, W[SPIN], W[AXLE], W[VECTOR])
        inner_product(w, W[UP], W[VECTOR], S[SECOND])
        add_product(w, R, S[TILTING], S[SECOND], S[RIM_SPEED])
    y0, y1 = ends[0, 0], ends[1, 0]
    rate = S[RIM_SPEED, 0]
    N, mean, by_y, by_rate = normal_force(ctl, par, e, tail, hist, y0, y1, rate, rate)
    constant(w, N, S[LOAD])
    more, more_by_y = decay_force(ctl, par, e, tail, hist, y0, y1) if middle else (0.0, 0.0)
    if N + more <= 0:  # (what the rule adds never pulls)
        more, more_by_y = -N, 0.0
    constant(w, more, S[MORE])
    if w > 1:
        for j in range(WHEEL):
            S[LOAD, 1 + j] = 2 * share * by_y * S[FIRST, 1 + j] + by_rate * S[RIM_SPEED, 1 + j]
            S[MORE, 1 + j] = more_by_y * S[FIRST, 1 + j] if N + more > 0 else -S[LOAD, 1 + j]
    out[MEAN], out[CHANGE], out[RATE] = mean, y1 - y0, rate
    return N > 0


@inner
def fill_slips(w, par, e, m, z, presses, S, W, G, work):
    """Fill the frame of the contact, its velocities, slips, and the rates G (2, M) of the deflections z (2, M); return
    False where the wheel lies flat."""
    # the normal of the road at the wheel
    for k in range(3):
        constant(w, par[e, NORMAL + k], W[VECTOR, k])
        add_product(w, -1.0, S[SLOPE], W[AHEAD, k], W[VECTOR, k])
    unit(w, W[VECTOR], S[FIRST], W[ROAD_UP])
    if not unit(w, W[AXLE], S[FIRST], W[UNIT_AXLE]):
        return False
    vector_product(w, W[UNIT_AXLE], W[ROAD_UP], W[VECTOR])
    if not unit(w, W[VECTOR], S[FIRST], W[X_AXIS]):
        return False
    vector_product(w, W[ROAD_UP], W[X_AXIS], W[Y_AXIS])
    vector_product(w, W[UNIT_AXLE], W[X_AXIS], W[DOWN])
    inner_product(w, W[ROAD_UP], W[UNIT_AXLE], S[CAMBER_SINE])
    R = par[e, RADIUS] - par[e, CROWN]
    constant(w, -par[e, CROWN], S[FIRST])
    add_scaled(w, 1.0, S[DEPTH], S[FIRST])
    scaled(w, S[FIRST], W[ROAD_UP], W[ARM])
    for k in range(3):
        add_scaled(w, R, W[DOWN, k], W[ARM, k])
    constant(w, par[e, ROLLING], S[ROLLING_ARM])
    add_scaled(w, -par[e, SHRINKING], S[DEPTH], S[ROLLING_ARM])
    inner_product(w, W[X_AXIS], W[VELOCITY], S[SPEED])
    inner_product(w, W[SPIN], W[UNIT_AXLE], S[FIRST])
    product(w, S[ROLLING_ARM], S[FIRST], S[RIM_SPEED])  # the speed of the rim, which RIM_SPEED keeps
    for j in range(w):
        S[SLIDING, j] = S[SPEED, j] - S[RIM_SPEED, j]
        S[ROLLING_SPEED, j] = S[SPEED, j] - par[e, THEORETICAL] * S[SLIDING, j]
    if m > 0:  # slow wheels: the speed of rolling alone
        slow = par[e, SMOOTH] ** 2
        whole = slow + S[SPEED, 0] ** 2
        apply(w, slow / whole, -2 * slow * S[SPEED, 0] / whole**2, S[SPEED], S[SLOWNESS])
        add_product(w, par[e, THEORETICAL] - 1, S[SLOWNESS], S[SLIDING], S[ROLLING_SPEED])
    vector_product(w, W[SPIN], W[ARM], W[VECTOR])
    for k in range(3):
        add_scaled(w, 1.0, W[VELOCITY, k], W[VECTOR, k])
    inner_product(w, W[Y_AXIS], W[VECTOR], S[SLIDING_Y])
    for i in range(m):
        apply(w, z[i, 0] / par[e, RELAXATION + i], 1 / par[e, RELAXATION + i], z[i], S[SLIPS + i])
    if m > 0 and presses:
        slips_of_deflections(w, par, e, SLIP_LAW, S[LOAD], work, S[SLIPS : SLIPS + 2])
    sign = _transport(w, par, e, m, presses, S)
    # sliding speeds of the slips: -V_sx, -(V_sy + |V_r| k sin g)
    apply(w, -S[SLIDING, 0], -1.0, S[SLIDING], G[0])
    apply(w, -S[SLIDING_Y, 0], -1.0, S[SLIDING_Y], G[1])
    add_product(w, -sign * par[e, CAMBER], S[ROLLING_SPEED], S[CAMBER_SINE], G[1])
    if m == 0:
        for i in range(2):
            quotient(w, G[i], S[TRANSPORT], S[SLIPS + i])
        return True
    for i in range(2):
        if not presses:
            constant(w, 0.0, G[i])
        add_product(w, -1.0, S[TRANSPORT], S[SLIPS + i], G[i])
        add_product(w, -par[e, RETARDATION] / par[e, RELAXATION + i], S[SLOWNESS], S[SLIDING + i], S[SLIPS + i])
    return True


@inner
def _transport(w, par, e, m, presses, S):
    """Fill V_t = max(|V_r|, what keeps slips below the largest, V_0), and return the sign of V_r."""
    sign = 1.0 if S[ROLLING_SPEED, 0] >= 0 else -1.0
    rolling, least, most = abs(S[ROLLING_SPEED, 0]), par[e, LEAST_SPEED], par[e, LARGEST_SLIP]
    # |V_s|/s_max, with states times (s/s_max)^2, so that small deflections at rest keep their energy
    constant(w, 0.0, S[SECOND])
    for i in range(2):
        add_product(w, 1.0, S[SLIDING + i], S[SLIDING + i], S[SECOND])
    sliding = math.sqrt(S[SECOND, 0])
    apply(w, sliding / most, 0.5 / (sliding * most) if sliding > 0 else 0.0, S[SECOND], S[SECOND])
    if m > 0:
        constant(w, 0.0, S[FIRST])
        for i in range(2):
            add_product(w, 1 / most**2, S[SLIPS + i], S[SLIPS + i], S[FIRST])
        product(w, S[FIRST], S[SECOND], S[SECOND])
    if presses and S[SECOND, 0] > rolling and S[SECOND, 0] > least:
        apply(w, S[SECOND, 0], 1.0, S[SECOND], S[TRANSPORT])
    elif rolling > least:
        apply(w, rolling, sign, S[ROLLING_SPEED], S[TRANSPORT])
    else:
        constant(w, least, S[TRANSPORT])
    return sign


@inner
def smooth_sign(w, par, e, V, out):
    """Fill out with V/sqrt(V^2 + V_1^2), the smooth sign of a speed."""
    smooth = math.sqrt(V[0] * V[0] + par[e, SMOOTH] ** 2)
    apply(w, V[0] / smooth, par[e, SMOOTH] ** 2 / smooth**3, V, out)


@inner
def fill_deflections(w, ctl, par, e, dof, Q, U, at, m, z):
    """Fill the deflections z (2, M) of a place of the step."""
    share = 0.5 * ctl[SK] / ctl[SF]
    for i in range(m):
        k, size = dof[e, WHEEL + i], par[e, par.shape[1] - m + i]
        constant(w, size * (Q[0, k] + 0.5 * U[k] if at == MIDDLE else Q[at, k]), z[i])
        if w > 1:
            z[i, 1 + WHEEL + i] = share * size


@inner
def end_of(par, e, tail, rot, D, P, state, out):
    """Fill out (2,) with penetration and loaded radius at an end of the step; P is that of the centre."""
    axis, row, ends = scratch(2, 3), scratch(5, 3), scratch(5)
    rotate(D, state, rot[e, 0], par[e, AXIS], par[e, AXIS + 1], par[e, AXIS + 2], axis[0])
    for k in range(3):
        row[R0, k] = row[R1, k] = axis[0, k]
    _penetration(par, e, tail + ROW * int(par[e, PIECES]), P, row, state, ends)
    out[0] = ends[0]
    above = (par[e, RADIUS] - par[e, CROWN]) * ends[3] + par[e, CROWN] - ends[0]  # of the centre over the road
    out[1] = above / ends[3] if ends[3] > 0 else 0.0
