"""Geometry of a ball on a surface: coordinates of its centre, arms to the point that touches, sliding velocity.

End a carries the surface, end b the ball.  The functions serve the forces of `fem_mbs.elements.contact.ball` and the
unilateral constraints of `fem_mbs.elements.contact.impact`.
"""

from __future__ import annotations

import math

from fem_mbs.contract import ONE_STATE, RULE, H, inner
from fem_mbs.elements.kinematics import P0, P1, R0, R1, cross, rotate, spin

__all__ = [
    "arm_slopes", "arms", "coordinates", "lever", "relative_velocity", "row_derivative", "slip_speed", "slip_velocity",
    "spins_of", "tangential", "turn",
]  # fmt: skip


@inner
def coordinates(Q, D, dof, rot, par, e, first, state, p, x, y):
    """Fill p (dim,) with the coordinates of the ball's centre in the axes of the surface, which par[e, first:] holds;
    x, y (dim,) are work arrays."""
    dim = p.shape[0]
    a, b = rot[e, 0], rot[e, 1]
    for k in range(dim):
        column = first + 3 * dim * k
        if dim == 3:
            if k == 0:
                rotate(D, state, a, par[e, column + 3], par[e, column + 4], par[e, column + 5], x)
                rotate(D, state, b, par[e, column + 6], par[e, column + 7], par[e, column + 8], y)
                for i in range(3):
                    y[i] += Q[state, dof[e, 6 + i]] - Q[state, dof[e, i]] - x[i]
            rotate(D, state, a, par[e, column], par[e, column + 1], par[e, column + 2], x)
            p[k] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
        else:
            ca, sa, cb, sb = D[state, a, 0], D[state, a, 1], D[state, b, 0], D[state, b, 1]
            x0 = cb * par[e, column + 4] - sb * par[e, column + 5] - ca * par[e, column + 2] + sa * par[e, column + 3]
            x1 = sb * par[e, column + 4] + cb * par[e, column + 5] - sa * par[e, column + 2] - ca * par[e, column + 3]
            x0 += Q[state, dof[e, 3]] - Q[state, dof[e, 0]]
            x1 += Q[state, dof[e, 4]] - Q[state, dof[e, 1]]
            u, v = par[e, column], par[e, column + 1]
            p[k] = (ca * u - sa * v) * x0 + (sa * u + ca * v) * x1


@inner
def lever(rho, L):
    """Fill L (dim, rotations) with the velocities at the arm rho (dim,) by unit spins about the node."""
    if rho.shape[0] == 2:
        L[0, 0], L[1, 0] = -rho[1], rho[0]
        return
    L[0, 0] = L[1, 1] = L[2, 2] = 0.0
    L[0, 1], L[0, 2] = rho[2], -rho[1]
    L[1, 0], L[1, 2] = -rho[2], rho[0]
    L[2, 0], L[2, 1] = rho[1], -rho[0]


@inner
def turn(spin_, rho, out):
    """Write spin x rho to out; in the plane the spin is spin_[0]."""
    if rho.shape[0] == 2:
        out[0], out[1] = -spin_[0] * rho[1], spin_[0] * rho[0]
    else:
        cross(spin_, rho, out)


@inner
def tangential(q, n, w):
    """Fill w (dim,) with the part of the relative velocity q across n, or zeros without n; return q.n and n.n."""
    along = size = 0.0
    for i in range(q.shape[0]):
        along += q[i] * n[i]
        size += n[i] * n[i]
    for i in range(q.shape[0]):
        w[i] = q[i] - n[i] * along / size if size > 0 else 0.0
    return along, size


@inner
def slip_speed(w):
    total = 0.0
    for i in range(w.shape[0]):
        total += w[i] * w[i]
    return math.sqrt(total)


@inner
def spins_of(ctl, V, D, dof, rot, U, e, state, spins):
    """Fill spins (2, rotations) of both ends: of the step, per time, or of a state in one-state rules."""
    turns = spins.shape[1]
    dim = 2 if turns == 1 else 3
    for k in range(2):
        at = (dim + turns) * k + dim
        if ctl[RULE] != ONE_STATE:
            for i in range(turns):
                spins[k, i] = U[dof[e, at + i]] / ctl[H]
        elif turns == 1:
            spins[k, 0] = V[state, dof[e, at]]
        else:
            spin(V, D, dof, rot, state, e, k, spins[k])


@inner
def slip_velocity(ctl, V, U, dof, e, state, spins, rho, q, x):
    """Fill q (dim,) with the velocity of b relative to a at the arms rho (2, dim); x (dim,) is a work array."""
    dim = q.shape[0]
    n = 3 * (dim - 1)
    for i in range(dim):
        if ctl[RULE] == ONE_STATE:
            q[i] = V[state, dof[e, n + i]] - V[state, dof[e, i]]
        else:
            q[i] = (U[dof[e, n + i]] - U[dof[e, i]]) / ctl[H]
    for k in range(2):
        turn(spins[k], rho[k], x)
        for i in range(dim):
            q[i] += x[i] if k == 1 else -x[i]


@inner
def arms(P, r, direction, state, rho):
    """Fill rho (2, dim) with the arms from both nodes to where the ball touches, r below its centre.

    ``state``: 0 or 1, an end of the step, or 2, its middle; P (.., 5, dim) as of `offset_rows`.
    """
    for i in range(rho.shape[1]):
        centre0, centre1 = P[1, P0, i], P[1, P1, i]
        arm0, arm1 = P[1, R0, i], P[1, R1, i]
        node0, node1 = P[0, P0, i] - P[0, R0, i], P[0, P1, i] - P[0, R1, i]
        first = 1.0 if state == 0 else (0.5 if state == 2 else 0.0)
        last = 1 - first
        rho[1, i] = first * arm0 + last * arm1 - r * direction[i]
        rho[0, i] = first * (centre0 - node0) + last * (centre1 - node1) - r * direction[i]


@inner
def arm_slopes(r, two, J, total, arm):
    """Fill arm (2, dim, 2 n) with the derivatives of the arms of `arms` at the middle of a step.

    J (.., dim, n) is that of `offset_rows`, ``total`` (2 n, 2 n) the derivative of the row of the gap; ``two``: 2 in
    one-state rules, else 1.
    """
    dim, n = J.shape[1], J.shape[2]
    for i in range(dim):
        for j in range(2 * n):
            arm[0, i, j] = arm[1, i, j] = -r * total[n + i, j]
        for j in range(n):
            moved = two * 0.5 * J[1, i, j]
            arm[0, i, n + j] += moved
            if j >= dim:
                arm[1, i, n + j] += moved
        arm[0, i, i] -= two * 0.5


@inner
def relative_velocity(V, D, dof, rot, state, e, rho, spins, q, x):
    """Fill q (dim,) with the velocity of b relative to a at the arms rho (2, dim) at a state; spins (2, rotations) and
    x (dim,) are work arrays."""
    dim = q.shape[0]
    n = 3 * (dim - 1)
    for i in range(dim):
        q[i] = V[state, dof[e, n + i]] - V[state, dof[e, i]]
    for k in range(2):
        if dim == 2:
            spins[k, 0] = V[state, dof[e, n * k + 2]]
        else:
            spin(V, D, dof, rot, state, e, k, spins[k])
        turn(spins[k], rho[k], x)
        for i in range(dim):
            q[i] += x[i] if k == 1 else -x[i]


@inner
def row_derivative(grad, bend, rows, ends, G, two, total):
    """Fill total (2 n, 2 n) with the derivative of the row of the gap; ``two``: 2 in one-state rules, else 1."""
    dim, m = rows.shape
    for i in range(m):
        for j in range(m):
            total[i, j] = 0.0
            for k in range(dim):
                total[i, j] += grad[k] * G[k, i, j]
                for l in range(dim):
                    total[i, j] += rows[k, i] * bend[k, l] * ends[l, j]
            total[i, j] *= two
