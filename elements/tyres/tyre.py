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

with s(u) of `fem_mbs.elements.tyres.slip`, near u/S, so that slips rise as 1 - exp(-V t/S), and the damping T of
wheels that are not much faster than V_1: b = V_1^2/(V_x^2 + V_1^2).  Pacejka, Tire and Vehicle Dynamics (3rd ed.,
2012), chapter 7, the model of a single contact point.  Steady slips are those of `tyre3`.  At rest the
carcass is a spring of the stiffness K_i/S_i: the term |V_s| there has the factor (s/s_max)^2, and wheels much slower
than V_1 are transported by their spin alone, t + (1 - t) b in place of t.  Off the road deflections decay by
u' = -V_t u/S.

The forces F_x, F_y of `fem_mbs.elements.tyres.slip` act along x on the velocity V_sx (force on c, moment -r_e F_x a),
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

from fem_mbs.compiling.arrays import scratch
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
from fem_mbs.elements.common import add_arm_tangent, add_force, clear
from fem_mbs.elements.contact.law import PIECES, elastic_force, normal_energy
from fem_mbs.elements.duals import (
    add_product,
    add_scaled,
    apply,
    constant,
    product,
    scaled,
    vector_product,
)
from fem_mbs.elements.kinematics import DP, P0, P1, cayley_vector
from fem_mbs.elements.laws import ROW
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.tyres.layout import (
    AHEAD,
    ARM,
    AXLE,
    CAMBER_SINE,
    CHANGE,
    COLUMNS,
    CROWN,
    ENTRIES,
    FIRST,
    FORCE_X,
    FORCE_Y,
    LEAST_SPEED,
    LOAD,
    MEAN,
    MIDDLE,
    MORE,
    NUMBERS,
    RADIUS,
    RATE,
    RELAXATION,
    RESISTANCE,
    RIM_SPEED,
    ROAD_UP,
    ROLLING_ARM,
    ROLLING_SPEED,
    SECOND,
    SLIDING,
    SLIDING_Y,
    SLIP_LAW,
    SLIP_Y,
    SLIPS,
    SLOPE,
    SPIN,
    TAIL,
    TILTING,
    TRAIL,
    TRAIL_SHARE,
    UNIT_AXLE,
    UP,
    VECTOR,
    VECTORS,
    VELOCITY,
    WHEEL,
    X_AXIS,
    Y_AXIS,
)
from fem_mbs.elements.tyres.motion import end_of, fill_deflections, fill_place, fill_slips, normal_numbers, smooth_sign
from fem_mbs.elements.tyres.slip import slip_forces, slips_of_deflections, trail_factor

__all__ = ["TYPES", "road_table"]


@inner
def _add_normal(w, par, e, S, W, F, M):
    """Add N (n - <z'> e_1) to the force F (3, M) and -N R q (a_m x n) to the moment M (3, M) about the centre."""
    for j in range(w):
        S[SECOND, j] = S[LOAD, j] + S[MORE, j]
    scaled(w, S[SECOND], W[UP], F)
    product(w, S[SECOND], S[SLOPE], S[FIRST])
    for k in range(3):
        add_product(w, -1.0, S[FIRST], W[AHEAD, k], F[k])
    vector_product(w, W[AXLE], W[UP], W[VECTOR])
    product(w, S[SECOND], S[TILTING], S[FIRST])
    R = par[e, RADIUS] - par[e, CROWN]
    apply(w, -R * S[FIRST, 0], -R, S[FIRST], S[FIRST])
    scaled(w, S[FIRST], W[VECTOR], M)


@inner
def _tangential(w, par, e, S, W, work, F, M):
    """Fill force F and moment M about the centre, (3, M), of what slips cause; FIRST becomes the aligning moment."""
    slip_forces(w, par, e, SLIP_LAW, S[SLIPS : SLIPS + 2], S[LOAD], work, S[FORCE_X : FORCE_X + 2])
    for k in range(3):
        product(w, S[FORCE_X], W[X_AXIS, k], F[k])
        product(w, S[FORCE_Y], W[Y_AXIS, k], W[VECTOR, k])
        add_scaled(w, 1.0, W[VECTOR, k], F[k])
    vector_product(w, W[ARM], W[VECTOR], M)
    # about the axis: -r_e F_x, and rolling resistance
    smooth_sign(w, par, e, S[RIM_SPEED], S[SECOND])
    product(w, S[LOAD], S[SECOND], S[SECOND])
    constant(w, 0.0, S[FIRST])
    add_scaled(w, -par[e, RESISTANCE], S[SECOND], S[FIRST])
    add_scaled(w, -1.0, S[FORCE_X], S[FIRST])
    product(w, S[FIRST], S[ROLLING_ARM], S[FIRST])
    for k in range(3):
        add_product(w, 1.0, S[FIRST], W[UNIT_AXLE, k], M[k])
    # about the normal
    trail_factor(w, work[0], work[1], S[TRAIL_SHARE])
    smooth_sign(w, par, e, S[ROLLING_SPEED], S[FIRST])
    product(w, S[TRAIL_SHARE], S[FIRST], S[FIRST])
    product(w, S[FORCE_Y], S[FIRST], S[FIRST])
    apply(w, -par[e, TRAIL] * S[FIRST, 0], -par[e, TRAIL], S[FIRST], S[FIRST])
    for k in range(3):
        add_product(w, 1.0, S[FIRST], W[ROAD_UP, k], M[k])


@inner
def _carcass(par, e, tail, y, u, S, work):
    """Return the energy of the deflections u (2,) at the penetration y: int F.du along the ray to them, by Gauss."""
    force = elastic_force(par, e, tail, y)[0]
    if force <= 0:
        return 0.0
    total = 0.0
    S[LOAD, 0] = force
    for k in range(5):
        t = 0.0
        weight = 64 / 225
        if k == 1 or k == 2:
            t, weight = math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 1800
        elif k > 2:
            t, weight = math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 1800
        t = 0.5 * (1 - t if k % 2 else 1 + t)
        for i in range(2):
            S[SLIPS + i, 0] = t * u[i] / par[e, RELAXATION + i]
        slips_of_deflections(1, par, e, SLIP_LAW, S[LOAD], work, S[SLIPS : SLIPS + 2])
        slip_forces(1, par, e, SLIP_LAW, S[SLIPS : SLIPS + 2], S[LOAD], work, S[FORCE_X : FORCE_X + 2])
        total += weight * (S[FORCE_X, 0] * u[0] + S[FORCE_Y, 0] * u[1])
    return total


@inner
def _evaluate(w, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out):
    """Fill normal (FN, MN) and tangential (FS, MS) forces and moments on the centre, (3, M), at a place of the step,
    and the rates G (2, M) of the deflections; return whether the tyre presses.  P, B, J become those of the centre."""
    PA, BA, JA, dv = scratch(5, 3), scratch(3, 6), scratch(3, 6), scratch(3, 6)
    x, c, ends, work = scratch(3), scratch(3), scratch(2, 5), scratch(5, ENTRIES)
    tail = TAIL
    road = tail + ROW * int(par[e, PIECES])
    for i in range(NUMBERS):
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
    fill_place(w, ctl, par, e, dof, rot, Q, D, V, U, at, P, B, J, PA, BA, JA, x, c, dv, W)
    fill_deflections(w, ctl, par, e, dof, Q, U, at, m, z)
    presses = normal_numbers(w, ctl, par, e, tail, road, hist, P, J, PA, JA, at, ends, S, W, out)
    if S[LOAD, 0] + S[MORE, 0] > 0:
        _add_normal(w, par, e, S, W, FN, MN)
    if not presses and m == 0:
        return False
    slides = fill_slips(w, par, e, m, z, presses, S, W, G, work)
    if not slides:
        for i in range(m):
            constant(w, 0.0, G[i])
            add_scaled(w, -par[e, LEAST_SPEED] / par[e, RELAXATION + i], z[i], G[i])
        return presses
    if presses:
        _tangential(w, par, e, S, W, work, FS, MS)
    return presses


@inner
def _fill_tangent(ctl, par, e, m, h, B, G, FN, MN, FS, MS, K):
    """Fill K but for what the turning of an eccentric centre adds."""
    one_state = ctl[RULE] == ONE_STATE
    n = WHEEL + m
    for j in range(n):
        for i in range(WHEEL):
            change = 0.0
            for k in range(3):
                change += B[k, i] * (FN[k, 1 + j] + FS[k, 1 + j])
            if i >= 3:
                change += MN[i - 3, 1 + j] + MS[i - 3, 1 + j]
            K[i, j] = -ctl[SF] * change
        for i in range(m):
            K[WHEEL + i, j] = -h * G[i, 1 + j] / par[e, par.shape[1] - m + i]
    for i in range(m):
        K[WHEEL + i, WHEEL + i] += h * ctl[WV] if one_state else 1.0


@inner
def _fill_outputs(presses, S, f):
    """Fill f with forces, moment, slips, camber and sliding speeds; a wheel off the road has none."""
    f[0] = S[LOAD, 0] + S[MORE, 0]
    if not presses:
        return
    f[1], f[2], f[3] = S[FORCE_X, 0], S[FORCE_Y, 0], S[FIRST, 0]
    f[4], f[5] = S[SLIPS, 0], math.atan(S[SLIP_Y, 0])
    f[6] = math.asin(min(max(S[CAMBER_SINE, 0], -1.0), 1.0))
    f[7], f[8] = S[SLIDING, 0], S[SLIDING_Y, 0]


@inner
def _stored(par, e, m, rot, D, Q, dof, P, state, S, work):
    """Return the energy of the carcass at an end of the step; P is that of the centre."""
    if m == 0:
        return 0.0
    u, end = scratch(2), scratch(2)
    for i in range(2):
        u[i] = par[e, par.shape[1] - m + i] * Q[state, dof[e, WHEEL + i]]
    end_of(par, e, TAIL, rot, D, P, state, end)
    return _carcass(par, e, TAIL, end[0], u, S, work)


def _kernels(m):
    """Return both kernels of tyres with m states, 0 or 2."""
    n = WHEEL + m

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(5, 3), scratch(3, 6), scratch(3, 6)
        S, W, z, G = scratch(NUMBERS, ENTRIES), scratch(VECTORS, 3, ENTRIES), scratch(2, ENTRIES), scratch(2, ENTRIES)
        FN, MN, FS, MS = scratch(3, ENTRIES), scratch(3, ENTRIES), scratch(3, ENTRIES), scratch(3, ENTRIES)
        out, total = scratch(3), scratch(3)
        one_state = ctl[RULE] == ONE_STATE
        w = 1 + n if job == TANGENT else 1
        h = 1.0 if one_state and ctl[WV] == 0 else ctl[H]  # statics has no time
        share = 0.5 * ctl[SK] / ctl[SF]
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            at = 1 if one_state else MIDDLE
            _evaluate(w, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out)
            f = fe[e - e0]
            for k in range(3):
                total[k] = FN[k, 0] + FS[k, 0]
            add_force(f, -ctl[SF], total, B, 0)
            for k in range(3):
                f[3 + k] -= ctl[SF] * (MN[k, 0] + MS[k, 0])
            for i in range(m):
                d, size = dof[e, WHEEL + i], par[e, par.shape[1] - m + i]
                f[WHEEL + i] = (h * V[1, d] if one_state else U[d]) - h * G[i, 0] / size
            if job != TANGENT:
                continue
            K = ke[e - e0]
            _fill_tangent(ctl, par, e, m, h, B, G, FN, MN, FS, MS, K)
            add_arm_tangent(K, -ctl[SF] * 2 * share, total, J, 0)

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        if job == START or job == COMMIT or job == SAMPLE:
            return
        P, B, J = scratch(5, 3), scratch(3, 6), scratch(3, 6)
        S, W, z, G = scratch(NUMBERS, ENTRIES), scratch(VECTORS, 3, ENTRIES), scratch(2, ENTRIES), scratch(2, ENTRIES)
        FN, MN, FS, MS = scratch(3, ENTRIES), scratch(3, ENTRIES), scratch(3, ENTRIES), scratch(3, ENTRIES)
        out, theta, work, end = scratch(3), scratch(3), scratch(5, ENTRIES), scratch(2)
        one_state = ctl[RULE] == ONE_STATE
        still = one_state and ctl[WV] == 0 and ctl[WA] == 0
        tail = TAIL
        for e in range(e0, e1):
            f = fe[e - e0]
            if job == OUTPUT:
                at = 1 if one_state else MIDDLE
                presses = _evaluate(
                    1, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out
                )
                _fill_outputs(presses, S, f)
                end_of(par, e, tail, rot, D, P, 1, end)
                f[9], f[10] = end[1], end[0]
                for i in range(m):
                    f[11 + i] = par[e, par.shape[1] - m + i] * Q[1, dof[e, WHEEL + i]]
                continue
            # the energy of the end, and what was lost
            first, last = (0, 2) if one_state else (MIDDLE, MIDDLE + 1)
            power = lost = work_done = 0.0
            for at in range(first, last):
                _evaluate(1, ctl, par, e, m, hist, dof, rot, Q, D, V, U, at, P, J, S, W, z, G, FN, MN, FS, MS, B, out)
                if at == MIDDLE:
                    lost += (S[LOAD, 0] + S[MORE, 0] - out[MEAN]) * out[CHANGE]
                    for k in range(3):
                        work_done += FS[k, 0] * P[DP, k] + MS[k, 0] * U[dof[e, 3 + k]]
                else:
                    lost += 0.5 * ctl[H] * (S[LOAD, 0] - out[MEAN]) * out[RATE]
                    for k in range(3):
                        power += 0.5 * (FS[k, 0] * W[VELOCITY, k, 0] + MS[k, 0] * W[SPIN, k, 0])
                    if still:
                        cayley_vector(D[0, rot[e, 0]], D[1, rot[e, 0]], theta)
                        for k in range(3):
                            work_done += 0.5 * (FS[k, 0] * (P[P1, k] - P[P0, k]) + MS[k, 0] * theta[k])
            before = _stored(par, e, m, rot, D, Q, dof, P, 0, S, work)
            stored = _stored(par, e, m, rot, D, Q, dof, P, 1, S, work)
            end_of(par, e, tail, rot, D, P, 1, end)
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
