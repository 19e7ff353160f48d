"""Friction between two tubes, or a tube and a ball, whose nodes may rotate.

The places x along a and z along b give the four ends k (a1, a2, b1, b2) the shares g_k = -(1 - x), -x, 1 - z, z: the
vector from the place P_a on the axis of a to P_b on that of b is delta = sum g_k x_k.  Both surfaces touch at the point
P_a + alpha delta = P_b - beta delta with alpha + beta = 1 (the radii over their sum).  Let s_k = alpha at the ends of a
and -beta at those of b.  The velocity of b relative to a at this point, across delta, is

    w = (I - delta delta^T/delta^2) sum g_k (v_k + s_k omega_k x delta),

and the friction T = N m(|w|) w/|w| gives the forces g_k T and the moments s_k g_k delta x T on the ends.  All
quantities belong to the middle of a step: the loss is T.w h, and the forces and moments add up to zero, since
sum g_k = 0 and sum s_k g_k = -1.

The friction on a part without rotations acts at its axis (its alpha or beta is 0).  Each penetration of
`fem_mbs.elements.contact.tubes` has friction at its own places x and z.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import ONE_STATE, RULE, SF, TANGENT, WV, H, inner
from fem_mbs.elements.contact.tubes import term_places
from fem_mbs.elements.kinematics import cross, spin
from fem_mbs.elements.laws import friction_slopes

__all__ = ["ARM_COLUMNS", "friction_of_tubes"]

#: Columns after those of friction: the shares alpha and beta of delta from either axis to the surface.
ARM_COLUMNS = ("arm a", "arm b")
_ENDS = 4


@inner
def _dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@inner
def _slide(x, v, turn, g, s, delta, around, q, w):
    """Fill delta, ``around`` = sum g_k s_k omega_k, the relative velocity q and its part w across delta, each (3,);
    return delta^2.

    ``x``, ``v``, ``turn``: places, velocities and spins (4, 3) of the ends; ``g``, ``s``: their shares (4,).
    """
    for i in range(3):
        delta[i] = around[i] = 0.0
        for k in range(_ENDS):
            delta[i] += g[k] * x[k, i]
            around[i] += g[k] * s[k] * turn[k, i]
    cross(around, delta, q)
    for i in range(3):
        for k in range(_ENDS):
            q[i] += g[k] * v[k, i]
    size = _dot(delta, delta)
    along = _dot(q, delta) / size if size > 0 else 0.0
    for i in range(3):
        w[i] = q[i] - delta[i] * along
    return size


def friction_of_tubes(dim, mu):
    """Return two functions with the arguments of those of `fem_mbs.elements.contact.rubbing.friction_of`: the first
    adds the friction of a penetration, the second returns its coefficient and sliding speed.

    ``mu`` is the column of the coefficient.
    """
    n = 3 * (dim - 1)  # dofs of an end
    turns = n - dim
    first = 0 if dim == 3 else 2  # component of the first rotation
    arm_at = mu + 4

    @inner
    def taken(ctl, par, e, k, dof, rot, state, I, Q, D, V, U, x, v, turn, g, s, by_x, by_z):
        """Fill the arrays of the ends for the penetration k.

        x, v, turn (4, 3): places, velocities and spins at the middle of the step, in one-state rules at ``state``;
        g, s (4,): shares; by_x, by_z (6,): derivatives of the places x and z by the scalar products I.
        """
        one_state = ctl[RULE] == ONE_STATE
        p, z = term_places(par, e, k, I, by_x, by_z)
        g[0], g[1], g[2], g[3] = p - 1.0, -p, 1.0 - z, z
        for a in range(_ENDS):
            s[a] = par[e, arm_at] if a < 2 else -par[e, arm_at + 1]
            for i in range(3):
                x[a, i] = v[a, i] = turn[a, i] = 0.0
            for i in range(dim):
                d = dof[e, n * a + i]
                x[a, i] = Q[state, d] if one_state else 0.5 * (Q[0, d] + Q[1, d])
                v[a, i] = V[state, d] if one_state else U[d] / ctl[H]
            if not one_state:
                for i in range(turns):
                    turn[a, first + i] = U[dof[e, n * a + dim + i]] / ctl[H]
            elif dim == 2:
                turn[a, 2] = V[state, dof[e, n * a + 2]]
            else:
                spin(V, D, dof, rot, state, e, a, turn[a])

    @inner
    def products(X, I):
        for i in range(6):
            I[i] = 0.0
        for i in range(dim):
            I[0] += X[0, i] * X[0, i]
            I[1] += X[1, i] * X[1, i]
            I[2] += X[2, i] * X[2, i]
            I[3] += X[0, i] * X[1, i]
            I[4] += X[0, i] * X[2, i]
            I[5] += X[1, i] * X[2, i]

    @inner
    def rub(job, slot, ctl, par, e, term, dof, rot, S, X, Q, D, V, U, rows, N, normal, fe, ke):
        """Add the friction of the penetration ``term`` at its normal force N with derivatives ``normal`` (4 dim,) by
        the places to the row ``slot`` of fe and ke; ``rows`` (6, 4 dim): derivatives of the scalar products at X."""
        x, v, turn, g, s = scratch(4, 3), scratch(4, 3), scratch(4, 3), scratch(4), scratch(4)
        I, by_p, by_z, by_g = scratch(6), scratch(6), scratch(6), scratch(4)
        delta, around, q, w, T, lever = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
        d_delta, dq, dT, d_lever, y, unit = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
        one_state = ctl[RULE] == ONE_STATE
        products(X, I)
        taken(ctl, par, e, term, dof, rot, 1, I, Q, D, V, U, x, v, turn, g, s, by_p, by_z)
        size = _slide(x, v, turn, g, s, delta, around, q, w)
        if size == 0:
            return
        factor, _, curve = friction_slopes(par, e, mu, math.sqrt(_dot(w, w)))
        for i in range(3):
            T[i] = N * factor * w[i]
        cross(delta, T, lever)
        for k in range(_ENDS):
            for i in range(dim):
                fe[slot, n * k + i] += ctl[SF] * g[k] * T[i]
            for i in range(turns):
                fe[slot, n * k + dim + i] += ctl[SF] * g[k] * s[k] * lever[first + i]
        if job != TANGENT:
            return
        rate = ctl[WV] if one_state else 1 / ctl[H]
        moved = 1.0 if one_state else 0.5
        along = _dot(q, delta)
        for j in range(_ENDS * n):
            a, c = j // n, j % n
            pressed = 0.0
            for i in range(3):
                d_delta[i] = dq[i] = 0.0
            for k in range(_ENDS):
                by_g[k] = 0.0
            if c < dim:
                at = a * dim + c
                pressed = normal[at]
                dp = dz = 0.0
                for i in range(6):
                    dp += moved * by_p[i] * rows[i, at]
                    dz += moved * by_z[i] * rows[i, at]
                by_g[0], by_g[1], by_g[2], by_g[3] = dp, -dp, -dz, dz
                for k in range(_ENDS):
                    cross(turn[k], delta, y)
                    for i in range(3):
                        d_delta[i] += by_g[k] * x[k, i]
                        dq[i] += by_g[k] * (v[k, i] + s[k] * y[i])
                d_delta[c] += moved * g[a]
                dq[c] += rate * g[a]
                cross(around, d_delta, y)
            else:
                for i in range(3):
                    unit[i] = 0.0
                unit[first + c - dim] = rate
                if one_state and dim == 3:  # the spin turns with its axes: d theta x spin
                    for i in range(3):
                        y[i] = 0.0
                    y[c - dim] = 1.0
                    cross(y, turn[a], d_lever)
                    for i in range(3):
                        unit[i] += d_lever[i]
                for i in range(3):
                    unit[i] *= g[a] * s[a]
                cross(unit, delta, y)
            for i in range(3):
                dq[i] += y[i]
            across, turned, slid = _dot(d_delta, q) + _dot(delta, dq), _dot(delta, d_delta), 0.0
            for i in range(3):
                y[i] = dq[i] - (d_delta[i] * along + delta[i] * across) / size
                y[i] += 2 * delta[i] * along * turned / (size * size)
                slid += w[i] * y[i]
            for i in range(3):
                dT[i] = pressed * factor * w[i] + N * (factor * y[i] + curve * slid * w[i])
            cross(d_delta, T, d_lever)
            cross(delta, dT, y)
            for k in range(_ENDS):
                for i in range(dim):
                    ke[slot, n * k + i, j] += ctl[SF] * (by_g[k] * T[i] + g[k] * dT[i])
                for i in range(turns):
                    l = first + i
                    ke[slot, n * k + dim + i, j] += (
                        ctl[SF] * s[k] * (by_g[k] * lever[l] + g[k] * (d_lever[l] + y[l]))
                    )  # fmt: skip

    @inner
    def rubbed(ctl, par, e, term, dof, rot, S, state, X, Q, D, V, U):
        """Return the coefficient m and the sliding speed [m/s] of the step, in one-state rules at ``state``."""
        x, v, turn, g, s = scratch(4, 3), scratch(4, 3), scratch(4, 3), scratch(4), scratch(4)
        I, by_p, by_z = scratch(6), scratch(6), scratch(6)
        delta, around, q, w = scratch(3), scratch(3), scratch(3), scratch(3)
        products(X, I)
        taken(ctl, par, e, term, dof, rot, state, I, Q, D, V, U, x, v, turn, g, s, by_p, by_z)
        if _slide(x, v, turn, g, s, delta, around, q, w) == 0:
            return 0.0, 0.0
        speed = math.sqrt(_dot(w, w))
        return friction_slopes(par, e, mu, speed)[1], speed

    return rub, rubbed
