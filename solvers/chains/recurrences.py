"""Kinematics, energy matrix and slopes of the energy of a tree of rigid segments, by recurrences along its branches.

Th. van Holten, "On the use of Hamiltonian concepts in rotordynamics", European Rotorcraft Forum: the kinetic energy
is T = q'^T A(q) q'/2 (eq. 1), the momenta are p = A q' (eq. 6), and A follows from recurrences for the turns and
places of the segments (eqs 25-36).  Here the derivatives of the paper's matrices [H] and rows (R) stand as twists:
dH_k/dq_i is H_k times the skew matrix of the axis of i, and dR_k/dq_i the velocity of the mass centre of k for a unit
rate of i.  The sums over the segments that hang on i are taken once, from the free ends to the root, so that an entry
of A takes a constant number of operations (Featherstone, "Rigid body dynamics algorithms", 2008, sect. 6.2).  The
derivative of T at constant rates, which the paper takes by differences, is exact:

    dT/dq_i = h_i . [xi_i, s_i]

with the momentum h_i of all that hangs on i, the twist xi_i of segment i, the unit twist s_i, and the bracket of
twists.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import cleared, scratch
from fem_mbs.contract import inner

__all__ = ["factor", "hold", "matrix", "move", "place", "potential", "slopes", "solve"]


@inner
def _cross(a, i, b, j, out, k):
    """out[k:k+3] = a[i:i+3] x b[j:j+3]."""
    out[k] = a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1]
    out[k + 1] = a[i + 2] * b[j] - a[i] * b[j + 2]
    out[k + 2] = a[i] * b[j + 1] - a[i + 1] * b[j]


@inner
def _turned(turn, vector, j):
    """Return component j of the product of a rotation matrix (9,) and a vector (3,)."""
    return turn[3 * j] * vector[0] + turn[3 * j + 1] * vector[1] + turn[3 * j + 2] * vector[2]


@inner
def place(chain, work, q):
    """Set turns, hinges, mass centres and unit twists at the coordinates q (n,); eqs 25, 26, 28, 32-33."""
    n = q.size
    identity = cleared(9)
    identity[0] = identity[4] = identity[8] = 1.0
    origin = cleared(3)
    for k in range(n):
        b = chain.before[k]
        frame = identity if b < 0 else work.turn[b]
        start = origin if b < 0 else work.hinge[b]
        hinge, unit, turn = work.hinge[k], work.unit[k], work.turn[k]
        slides = chain.slides[k] == 1
        axis = chain.axis[k]
        for j in range(3):
            u = _turned(frame, axis, j)
            hinge[j] = start[j] + _turned(frame, chain.arm[k], j)
            unit[j] = 0.0 if slides else u
            unit[3 + j] = u
        if slides:
            for j in range(3):
                hinge[j] += q[k] * unit[3 + j]
            for j in range(9):
                turn[j] = frame[j]
        else:
            c, s = np.cos(q[k]), np.sin(q[k])
            x, y, z = axis[0], axis[1], axis[2]
            d = 1.0 - c
            for j in range(3):
                f0, f1, f2 = frame[3 * j], frame[3 * j + 1], frame[3 * j + 2]
                turn[3 * j] = f0 * (c + d * x * x) + f1 * (d * x * y + s * z) + f2 * (d * x * z - s * y)
                turn[3 * j + 1] = f0 * (d * x * y - s * z) + f1 * (c + d * y * y) + f2 * (d * y * z + s * x)
                turn[3 * j + 2] = f0 * (d * x * z + s * y) + f1 * (d * y * z - s * x) + f2 * (c + d * z * z)
            _cross(hinge, 0, unit, 0, unit, 3)  # the velocity at the origin, hinge x axis
        for j in range(3):
            work.place[k, j] = hinge[j] + _turned(turn, chain.centre[k], j)


@inner
def _spatial_inertia(chain, work, k, out):
    """Set mass, first moments (3,) and second moments xx, yy, zz, xy, yz, zx about the origin of segment k."""
    m, c, R, J = chain.mass[k], work.place[k], work.turn[k], chain.inertia[k]
    out[0] = m
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for j in range(3):
        out[1 + j] = m * c[j]
    for row in range(6):
        a = row % 3
        b = a if row < 3 else (a + 1) % 3
        value = m * ((square if row < 3 else 0.0) - c[a] * c[b])
        for i in range(3):
            for j in range(3):
                value += R[3 * a + i] * J[3 * i + j] * R[3 * b + j]
        out[4 + row] = value


@inner
def _momentum(total, twist, out):
    """out = wrench (6,) of a body of mass and moments ``total`` (10,) that moves with a twist (6,)."""
    _cross(total, 1, twist, 3, out, 0)  # S x v
    _cross(twist, 0, total, 1, out, 3)  # w x S
    for j in range(3):
        i, k = (j + 1) % 3, (j + 2) % 3
        # second moments: xx yy zz at 4, xy yz zx at 7
        out[j] += total[4 + j] * twist[j] + total[7 + j] * twist[i] + total[7 + k] * twist[k]
        out[3 + j] += total[0] * twist[3 + j]


@inner
def matrix(chain, work):
    """Set the energy matrix A at the present place; eqs 18 and 23, entries of segments on other branches are zero."""
    n = chain.before.size
    wrench = scratch(6)
    for k in range(n):
        _spatial_inertia(chain, work, k, work.total[k])
        for j in range(n):
            work.matrix[k, j] = 0.0
    for k in range(n - 1, -1, -1):
        b = chain.before[k]
        if b >= 0:
            for j in range(10):
                work.total[b, j] += work.total[k, j]
        _momentum(work.total[k], work.unit[k], wrench)
        i = k
        while i >= 0:
            value = 0.0
            for j in range(6):
                value += wrench[j] * work.unit[i, j]
            work.matrix[k, i] = work.matrix[i, k] = value
            i = chain.before[i]


@inner
def potential(chain, work, q):
    """Return the potential energy [J] of weight and springs at the present place."""
    value = 0.0
    for k in range(q.size):
        for j in range(3):
            value -= chain.mass[k] * chain.gravity[j] * work.place[k, j]
        stretch = q[k] - chain.free[k]
        value += 0.5 * chain.stiffness[k] * stretch * stretch
    return value


@inner
def move(chain, work):
    """Set the twists of the segments for the rates of the coordinates."""
    for k in range(chain.before.size):
        b = chain.before[k]
        for j in range(6):
            work.spin[k, j] = work.rate[k] * work.unit[k, j] + (0.0 if b < 0 else work.spin[b, j])


@inner
def hold(chain, work):
    """Set the momenta of the segments and all that hang on them, for the twists of the segments."""
    n = chain.before.size
    own = scratch(6)
    for k in range(n):
        for j in range(6):
            work.held[k, j] = 0.0
    for k in range(n - 1, -1, -1):
        m, c, R, J = chain.mass[k], work.place[k], work.turn[k], chain.inertia[k]
        xi, held = work.spin[k], work.held[k]
        _cross(xi, 0, c, 0, own, 3)
        for j in range(3):
            own[3 + j] = m * (own[3 + j] + xi[3 + j])
        _cross(c, 0, own, 3, own, 0)
        for i in range(3):
            local = 0.0
            for j in range(3):
                local += J[3 * i + j] * (R[j] * xi[0] + R[3 + j] * xi[1] + R[6 + j] * xi[2])
            for j in range(3):
                own[j] += R[3 * j + i] * local
        b = chain.before[k]
        for j in range(6):
            held[j] += own[j]
            if b >= 0:
                work.held[b, j] += held[j]


@inner
def slopes(chain, work, q, share):
    """Add ``share`` times dH/dq = -dT/dq + dV/dq at the present place and rates; eq. 8."""
    bracket = scratch(6)
    move(chain, work)
    hold(chain, work)
    for k in range(q.size):
        # [xi, s] = (w x u, w x s + v x u)
        xi, unit, total = work.spin[k], work.unit[k], work.total[k]
        _cross(xi, 3, unit, 0, bracket, 0)
        _cross(xi, 0, unit, 3, bracket, 3)
        for j in range(3):
            bracket[3 + j] += bracket[j]
        _cross(xi, 0, unit, 0, bracket, 0)
        value = chain.stiffness[k] * (q[k] - chain.free[k])
        for j in range(6):
            value -= work.held[k, j] * bracket[j]
        # weight: - u . (S x g) - m g . s
        _cross(total, 1, chain.gravity, 0, bracket, 0)
        for j in range(3):
            value -= unit[j] * bracket[j] + total[0] * chain.gravity[j] * unit[3 + j]
        work.slope[k] += share * value


@inner
def factor(a, out):
    """Set the lower triangle of ``out`` to the Cholesky factor of a symmetric matrix (n, n); False: it has none."""
    n = a.shape[0]
    for j in range(n):
        d = a[j, j]
        for k in range(j):
            d -= out[j, k] * out[j, k]
        if not d > 0.0:
            return False
        d = np.sqrt(d)
        out[j, j] = d
        for i in range(j + 1, n):
            v = a[i, j]
            for k in range(j):
                v -= out[i, k] * out[j, k]
            out[i, j] = v / d
    return True


@inner
def solve(lower, b, x):
    """Set x (n,) to the solution of L L^T x = b; x may be b."""
    n = b.size
    for i in range(n):
        v = b[i]
        for k in range(i):
            v -= lower[i, k] * x[k]
        x[i] = v / lower[i, i]
    for i in range(n - 1, -1, -1):
        v = x[i]
        for k in range(i + 1, n):
            v -= lower[k, i] * x[k]
        x[i] = v / lower[i, i]
