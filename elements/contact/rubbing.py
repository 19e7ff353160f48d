"""Friction between parts that deform, at a place that both share between their nodes.

Over the nodes k of both parts (those of the first one are the first ``group``) the place has the shares g_k, sum g = 0:
the vector from one part to the other is delta = sum g_k x_k, and their relative velocity where they touch

    q = sum g_k v_k - theta x delta,   theta = J^-1 sum r_k x v_k,   J = sum (r_k.r_k I - r_k r_k^T)

with the spin theta of the first part, that of its nodes by least squares (r_k from their mean).  The friction

    T = N m(|w|) w/|w|,   w = (I - delta delta^T/delta^2) q

acts on nodes by the rows of q: f_k = g_k T - lambda x r_k, lambda = J^-1 (delta x T).  Both resultants vanish at the
places where all is taken, the middle of a step, since sum r_k x (lambda x r_k) = J lambda; the work is T.w h, a loss.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import ONE_STATE, RULE, SF, TANGENT, WV, H, inner
from fem_mbs.elements.contact.faces import face_place_slopes
from fem_mbs.elements.kinematics import cross
from fem_mbs.elements.laws import friction_slopes

__all__ = ["friction_of", "no_friction"]

_GROUP = 3  # nodes of the first part, a triangle


@inner
def _turned(A, x, out):
    """Write A x to out (3,)."""
    for i in range(3):
        out[i] = A[i, 0] * x[0] + A[i, 1] * x[1] + A[i, 2] * x[2]


@inner
def _dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@inner
def _inverse(A, out):
    """Write the inverse of a symmetric matrix to out (3, 3); return its determinant."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for l in range(3):
            m, n = (l + 1) % 3, (l + 2) % 3
            out[i, l] = A[j, m] * A[k, n] - A[j, n] * A[k, m]
    det = A[0, 0] * out[0, 0] + A[0, 1] * out[0, 1] + A[0, 2] * out[0, 2]
    if det > 0:
        for i in range(3):
            for l in range(3):
                out[i, l] /= det
    return det


@inner
def _slide(group, x, v, g, arm, inverse, delta, theta, q, w):
    """Fill arm (n, 3), inverse (3, 3), delta, theta, q and w (3,) from places and velocities (n, 3) and shares (n,) of
    nodes; return delta^2, or 0 where there is no direction."""
    J, L, y = scratch(3, 3), scratch(3), scratch(3)
    n = x.shape[0]
    for i in range(3):
        delta[i] = q[i] = L[i] = y[i] = 0.0
        for k in range(n):
            delta[i] += g[k] * x[k, i]
            q[i] += g[k] * v[k, i]
        for k in range(group):
            y[i] += x[k, i] / group
        for k in range(group):
            arm[k, i] = x[k, i] - y[i]
        for j in range(3):
            J[i, j] = 0.0
    for k in range(group):
        cross(arm[k], v[k], y)
        size = _dot(arm[k], arm[k])
        for i in range(3):
            L[i] += y[i]
            J[i, i] += size
            for j in range(3):
                J[i, j] -= arm[k, i] * arm[k, j]
    size = _dot(delta, delta)
    if not (_inverse(J, inverse) > 0 and size > 0):
        return 0.0
    _turned(inverse, L, theta)
    cross(theta, delta, y)
    for i in range(3):
        q[i] -= y[i]
    along = _dot(q, delta) / size
    for i in range(3):
        w[i] = q[i] - delta[i] * along
    return size


@inner
def _forces(group, g, arm, inverse, delta, T, lever, f):
    """Fill the forces f (n, 3) of a friction T (3,), and lambda in ``lever`` (3,)."""
    y = scratch(3)
    cross(delta, T, y)
    _turned(inverse, y, lever)
    for k in range(g.shape[0]):
        for i in range(3):
            f[k, i] = g[k] * T[i]
        if k < group:
            cross(lever, arm[k], y)
            for i in range(3):
                f[k, i] -= y[i]


@inner
def _tensor_change(arm, change, z, out):
    """Add to out the change of (r.r I - r r^T) z by a ``change`` of r = arm."""
    a, b, c = _dot(arm, change), _dot(arm, z), _dot(change, z)
    for i in range(3):
        out[i] += 2 * a * z[i] - change[i] * b - arm[i] * c


@inner
def _slopes(
    sf, by_x, by_v, group, N, normal, factor, curve, x, v, g, by_g, arm, inverse, delta, theta, q, w, size, lever, K
):
    """Add the tangent of the friction T = N factor w to K (3 n, 3 n).

    Args:
        by_x, by_v: derivatives of a place and a velocity by its unknown.
        normal: (3 n,) derivatives of N by the unknowns.
        factor, curve: m/|w|, and its derivative by |w| over |w|.
        by_g: (n, 3 n) derivatives of the shares by the places.
    """
    d_delta, dq, dT, dw, moved = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
    y, z, turn, d_lever, change = scratch(3), scratch(3), scratch(3), scratch(3), scratch(3)
    n = g.shape[0]
    along = _dot(q, delta)
    for j in range(3 * n):
        a, c = j // 3, j % 3
        for i in range(3):
            d_delta[i] = dq[i] = turn[i] = y[i] = moved[i] = 0.0
            for k in range(n):
                d_delta[i] += by_x * by_g[k, j] * x[k, i]
                dq[i] += by_x * by_g[k, j] * v[k, i]
        d_delta[c] += g[a] * by_x
        dq[c] += g[a] * by_v
        inside = a < group
        if inside:  # the spin changes: J d theta = dL - dJ theta
            moved[c] = by_v
            cross(arm[a], moved, turn)
            for k in range(group):
                _moved_arm(k, a, c, group, by_x, change)
                cross(change, v[k], z)
                for i in range(3):
                    turn[i] += z[i]
                _tensor_change(arm[k], change, theta, y)
            for i in range(3):
                turn[i] -= y[i]
            _turned(inverse, turn, z)
            cross(z, delta, y)
            for i in range(3):
                dq[i] -= y[i]
        cross(theta, d_delta, y)
        for i in range(3):
            dq[i] -= y[i]
        across, turned, slid = _dot(d_delta, q) + _dot(delta, dq), _dot(delta, d_delta), 0.0
        for i in range(3):
            dw[i] = dq[i] - (d_delta[i] * along + delta[i] * across) / size
            dw[i] += 2 * delta[i] * along * turned / (size * size)
            slid += w[i] * dw[i]
        for i in range(3):
            dT[i] = normal[j] * factor * w[i] + N * (factor * dw[i] + curve * slid * w[i])
            moved[i] = N * factor * w[i]
        cross(d_delta, moved, y)
        cross(delta, dT, z)
        for i in range(3):
            y[i] += z[i]
            z[i] = 0.0
        if inside:
            for k in range(group):
                _moved_arm(k, a, c, group, by_x, change)
                _tensor_change(arm[k], change, lever, z)
            for i in range(3):
                y[i] -= z[i]
        _turned(inverse, y, d_lever)
        for k in range(n):
            for i in range(3):
                K[3 * k + i, j] += sf * (by_x * by_g[k, j] * moved[i] + g[k] * dT[i])
            if k >= group:
                continue
            cross(d_lever, arm[k], y)
            for i in range(3):
                K[3 * k + i, j] -= sf * y[i]
            if inside:
                _moved_arm(k, a, c, group, by_x, change)
                cross(lever, change, y)
                for i in range(3):
                    K[3 * k + i, j] -= sf * y[i]


@inner
def _moved_arm(k, a, c, group, by_x, out):
    """Write the change of the arm of the node k by the component c of the node a of the group to out (3,)."""
    for i in range(3):
        out[i] = 0.0
    out[c] = by_x * ((1.0 if k == a else 0.0) - 1.0 / group)


def friction_of(ends, turn, mu, places):
    """Return the functions that add the friction of a face with a place of ``ends`` - 3 nodes, and tell its size.

    Args:
        turn: of v in the vector w - x u + turn z v between the parts.
        mu: column of the coefficient.
        places: ``places(par, e, I)`` returns the places x and z on the parts at scalar products I (6,).
    """

    m = 3 * ends

    @inner
    def taken(ctl, par, e, dof, S, state, I, Q, V, U, x, v, g):
        """Fill places and velocities (ends, 3), of the middle of the step or of a state, and the shares g (ends,);
        return both places."""
        one_state = ctl[RULE] == ONE_STATE
        p, z, _ = places(par, e, I)
        for k in range(ends):
            g[k] = S[2, k] - p * S[0, k] + turn * z * S[1, k]
            for i in range(3):
                d = dof[e, 3 * k + i]
                x[k, i] = Q[state, d] if one_state else 0.5 * (Q[0, d] + Q[1, d])
                v[k, i] = V[state, d] if one_state else U[d] / ctl[H]
        return p, z

    @inner
    def products(X, I):
        """Fill I (6,) with the scalar products of u, v, w, X (3, 3)."""
        I[0], I[1], I[2] = _dot(X[0], X[0]), _dot(X[1], X[1]), _dot(X[2], X[2])
        I[3], I[4], I[5] = _dot(X[0], X[1]), _dot(X[0], X[2]), _dot(X[1], X[2])

    @inner
    def rub(job, slot, ctl, par, e, term, dof, rot, S, X, Q, D, V, U, rows, N, normal, fe, ke):
        """Add the friction at the normal force N with derivatives ``normal`` (3 ends,) to the row ``slot`` of fe and
        ke; ``rows`` (6, 3 ends): derivatives of the scalar products at X."""
        x, v, arm, f = scratch(ends, 3), scratch(ends, 3), scratch(ends, 3), scratch(ends, 3)
        g, by_g, I, by_p, by_z = scratch(ends), scratch(ends, m), scratch(6), scratch(6), scratch(6)
        inverse, delta, theta, q, w = scratch(3, 3), scratch(3), scratch(3), scratch(3), scratch(3)
        T, lever = scratch(3), scratch(3)
        one_state = ctl[RULE] == ONE_STATE
        products(X, I)
        p, z = taken(ctl, par, e, dof, S, 1, I, Q, V, U, x, v, g)
        size = _slide(_GROUP, x, v, g, arm, inverse, delta, theta, q, w)
        if size == 0:
            return
        factor, _, curve = friction_slopes(par, e, mu, math.sqrt(_dot(w, w)))
        for i in range(3):
            T[i] = N * factor * w[i]
        _forces(_GROUP, g, arm, inverse, delta, T, lever, f)
        for k in range(ends):
            for i in range(3):
                fe[slot, 3 * k + i] += ctl[SF] * f[k, i]
        if job != TANGENT:
            return
        face_place_slopes(I, p, z, by_p, by_z)
        for j in range(m):
            dp = dz = 0.0
            for i in range(6):
                dp += by_p[i] * rows[i, j]
                dz += by_z[i] * rows[i, j]
            for k in range(ends):
                by_g[k, j] = turn * dz * S[1, k] - dp * S[0, k]
        by_x, by_v = (1.0, ctl[WV]) if one_state else (0.5, 1 / ctl[H])
        _slopes(
            ctl[SF], by_x, by_v, _GROUP, N, normal, factor, curve, x, v, g, by_g, arm, inverse, delta, theta, q, w,
            size, lever, ke[slot],
        )  # fmt: skip

    @inner
    def rubbed(ctl, par, e, term, dof, rot, S, state, X, Q, D, V, U):
        """Return the coefficient and the sliding speed of the step, or of a state of one-state rules."""
        x, v, arm, g, I = scratch(ends, 3), scratch(ends, 3), scratch(ends, 3), scratch(ends), scratch(6)
        inverse, delta, theta, q, w = scratch(3, 3), scratch(3), scratch(3), scratch(3), scratch(3)
        products(X, I)
        taken(ctl, par, e, dof, S, state, I, Q, V, U, x, v, g)
        if _slide(_GROUP, x, v, g, arm, inverse, delta, theta, q, w) == 0:
            return 0.0, 0.0
        speed = math.sqrt(_dot(w, w))
        return friction_slopes(par, e, mu, speed)[1], speed

    return rub, rubbed


def no_friction():
    """Return functions as of `friction_of` for parts that touch without friction."""

    @inner
    def rub(job, slot, ctl, par, e, term, dof, rot, S, X, Q, D, V, U, rows, N, normal, fe, ke):
        pass

    @inner
    def rubbed(ctl, par, e, term, dof, rot, S, state, X, Q, D, V, U):
        return 0.0, 0.0

    return rub, rubbed
