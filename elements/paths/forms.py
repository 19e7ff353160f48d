"""Constraints that are sums of products, g_m = sum_t c_t(s) w_t.z_t: coefficients times products of two vectors.

w and z are positions of points or directions that turn with ends of the element (or there is no product: w.z = 1), the
coefficients are functions of up to two coordinates s that belong to the joint, places along a line or a curve.
Products of vectors are invariants of the motion of the whole, so that their discrete gradients conserve both momenta
(Gonzalez 1996).  With means over the step (m) and quotients c' = (c1 - c0)/(s1 - s0),

    c1 w1.z1 - c0 w0.z0 = c_m (w_m.(z1 - z0) + z_m.(w1 - w0)) + c' (w.z)_m (s1 - s0)

is exact: forces lambda c_m w_m act on z, lambda c_m z_m on w, and lambda c' (w.z)_m on s.  The multipliers do no work
where the constraints hold at both ends of the step; the forces have no moment, and no resultant where the coefficients
of the points add up to zero.
"""

from __future__ import annotations

from fem_mbs.contract import TANGENT, inner
from fem_mbs.elements.common import add_arm_tangent, add_force
from fem_mbs.elements.kinematics import DP, P0, P1, R0, R1, point

__all__ = ["BEND", "C0", "C1", "COEFFICIENTS", "RATE", "SLOPE", "at_end", "form_rows", "vector"]

# columns of the coefficients: values at both ends of the step, quotients by both coordinates, derivatives at the end,
# and derivatives of the quotients by the coordinates at the end (row by row)
C0, C1, RATE, SLOPE, BEND = 0, 1, 2, 4, 6
COEFFICIENTS = 10


@inner
def vector(Q, D, U, dof, rot, e, end, par, column, direction, P, B, J):
    """Fill P, B, J like `point` for a point or, with ``direction``, for a direction that turns with the end."""
    point(Q, D, U, dof, rot, e, end, par, column, P, B, J)
    if direction:
        for i in range(P.shape[1]):
            P[P0, i], P[P1, i] = P[R0, i], P[R1, i]
            for j in range(P.shape[1]):
                B[i, j] = J[i, j] = 0.0


@inner
def at_end(P, B):
    """Replace the start of the step by its end: what one-state rules ask for."""
    dim = P.shape[1]
    for i in range(dim):
        P[P0, i], P[R0, i] = P[P1, i], P[R1, i]
    x, y = P[R1, 0], P[R1, 1]
    if dim == 2:
        B[0, 2], B[1, 2] = -y, x
        return
    z = P[R1, 2]
    B[0, 3], B[0, 4], B[0, 5] = 0.0, z, -y
    B[1, 3], B[1, 4], B[1, 5] = -z, 0.0, x
    B[2, 3], B[2, 4], B[2, 5] = y, -x, 0.0


@inner
def _product(P, i, j, state):
    """Return the product of vectors i and j at a state; 1 for i < 0."""
    if i < 0:
        return 1.0
    total = 0.0
    for c in range(P.shape[2]):
        total += P[i, state, c] * P[j, state, c]
    return total


@inner
def _add_pair_tangent(K, two, force, c, i, j, at, q, P, B, J, own, first_row, mean):
    """Add what the tangent of one term gets from the motion of its vector j, whose partner is i."""
    dim, n = P.shape[2], B.shape[2]
    a, b = own[j] * n, own[i] * n
    for d in range(dim):
        mean[d] = 0.5 * (P[i, P0, d] + P[i, P1, d])
    cm = 0.5 * (c[C0] + c[C1])
    add_arm_tangent(K, two * force * cm, mean, J[j], own[j])
    for k in range(n):
        row = end = 0.0
        for d in range(dim):
            row += B[j, d, k] * mean[d]
            end += J[j, d, k] * P[i, P1, d]
        K[a + k, first_row] += q * cm * row
        K[first_row, a + k] += q * c[C1] * end
        for p in range(at.shape[0]):
            K[a + k, at[p]] += 0.5 * two * force * c[SLOPE + p] * row
            K[at[p], a + k] += 0.5 * two * force * c[RATE + p] * end
        for m in range(n):
            both = 0.0
            for d in range(dim):
                both += B[j, d, k] * J[i, d, m]
            K[a + k, b + m] += 0.5 * two * force * cm * both


@inner
def form_rows(job, two, scale, terms, count, C, P, B, J, own, at, first, multipliers, f, K):
    """Add forces and constraints of the first ``count`` terms to f (n_loc,) and, for TANGENT, to K (n_loc, n_loc).

    Args:
        two: factor of the node-node block of constraint tangents, `fem_mbs.contract.TWO`.
        terms: (n, 3) constraint, and numbers of both vectors (-1: none).
        C: (n, COEFFICIENTS) coefficients.
        P, B, J, own: vectors as of `vector`, and their ends.
        at: (1 or 2,) local unknowns of the coordinates; first: local unknown of the first multiplier.
        multipliers: (constraints,) of the step.
    """
    dim = P.shape[2]
    work = P[0, DP]  # the movement of the first vector: of no use here
    for t in range(count):
        m, i, j = terms[t, 0], terms[t, 1], terms[t, 2]
        c = C[t]
        force = scale * multipliers[m]
        start, end = _product(P, i, j, P0), _product(P, i, j, P1)
        middle = 0.5 * (start + end)
        f[first + m] += scale * c[C1] * end
        for p in range(at.shape[0]):
            f[at[p]] += force * c[RATE + p] * middle
        if i >= 0:
            cm = 0.5 * (c[C0] + c[C1])
            for d in range(dim):
                work[d] = 0.5 * (P[j, P0, d] + P[j, P1, d])
            add_force(f, force * cm, work, B[i], own[i])
            for d in range(dim):
                work[d] = 0.5 * (P[i, P0, d] + P[i, P1, d])
            add_force(f, force * cm, work, B[j], own[j])
        if job != TANGENT:
            continue
        for p in range(at.shape[0]):
            K[first + m, at[p]] += scale * c[SLOPE + p] * end
            K[at[p], first + m] += scale * c[RATE + p] * middle
            for r in range(at.shape[0]):
                K[at[p], at[r]] += two * force * c[BEND + 2 * p + r] * middle
        if i >= 0:
            _add_pair_tangent(K, two, force, c, i, j, at, scale, P, B, J, own, first + m, work)
            _add_pair_tangent(K, two, force, c, j, i, at, scale, P, B, J, own, first + m, work)
