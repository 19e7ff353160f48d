"""A point that slides along a line of beams or trusses: `beam_slide2` (plane), `beam_slide3` (space).

The elastic line of all beams together is r(s) = sum_j c_j(s) y_j, with the cubic (Hermite) shape functions c_j of the
place s [m] along the undeformed line and y = (P_p, d_p, P_q, d_q) of each beam: ends and directors along its axis
(trusses: linear functions of the ends).  The point P_b of another part stays on it, P_b - r(s) = 0 at the end of the
step.  One element stands for one beam; s and the multipliers belong to all of a joint, and s0, s1 may lie in
different elements.  With mean shape functions c_av and divided differences,

    r1 - r0 = c_av (y1 - y0) + (c(s1) - c(s0))/(s1 - s0) y_m (s1 - s0)

is exact, so that the multiplier does no work.  It acts on y by -c_av, and on s by -(c1 - c0)/(s1 - s0) y_m, which must
vanish (no friction).  An element between s0 and s1 has the weight of its part of the distance.  Energy and linear
momentum are exact, angular momentum to O(h^2), since the point at mid-step is not the mean of the line's points.
Beyond the ends of the line, the cubics of the first and the last beam continue.

Ends: b (the point), p, q (the beam), and a node whose first coordinate is s.  Outputs: the force that the joint exerts
on the beam, where the point is on it.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import OUTPUT, SF, TANGENT, TWO, WATCH, kernel
from fem_mbs.elements.common import add_arm_tangent, add_force, clear
from fem_mbs.elements.kinematics import P0, P1, R0, R1, point
from fem_mbs.elements.paths.path import (
    BEYOND_THE_END,
    CUBIC,
    LENGTH,
    PATH_COLUMNS,
    beyond_the_end,
    divided,
    place,
    shape_polynomials,
    value,
)
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

SCALE = 0  # column of par

_VECTORS = 6
# vectors: point on b, then of the beam's ends p and q the points and the axes; the end each belongs to
_ENDS = (0, 1, 1, 2, 2)


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    s_at, first = 3 * n, 4 * n  # local unknowns: s, multipliers
    P, B, J = np.empty((5, 5, dim)), np.empty((5, dim, n)), np.empty((5, dim, n))
    c, where = scratch(4, 4), scratch(7)
    mean, end, slope = scratch(4), scratch(4), scratch(4)  # c_av, c(s1), dc/ds at s1
    way, bend = scratch(4), scratch(4)  # divided differences of c by s, and their derivative by s1
    force = np.empty(dim)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale, length = par[e, SCALE], par[e, LENGTH]
        k = dof[e, s_at]
        ds = U[k]
        if ds == 0.0:
            ds = Q[1, k] - Q[0, k]
        place(par, e, Q[0, k], Q[1, k], ds, where)
        here = where[1]
        if here == 0.0 and where[0] == 0.0 and where[4] == 0.0:
            continue
        shape_polynomials(length, par[e, CUBIC], c)
        for i in range(dim):
            force[i] = U[dof[e, first + i]]
        for v in range(5):
            owner = _ENDS[v]
            point(Q, D, U, dof, rot, e, owner, par, _VECTORS + dim * v, P[v], B[v], J[v])
            if v == 2 or v == 4:  # a direction: keep the arm, drop the position of the end
                for i in range(dim):
                    P[v, P0, i], P[v, P1, i] = P[v, R0, i], P[v, R1, i]
                    for j in range(dim):
                        B[v, i, j] = J[v, i, j] = 0.0
        for j in range(4):
            end[j] = here * value(c[j], where[3])
            mean[j] = 0.5 * (where[0] * value(c[j], where[2]) + end[j])
            slope[j] = here * divided(c[j], where[3], where[3])[0] / length
            quotient, change = divided(c[j], where[5], where[6])
            way[j] = where[4] * quotient / length
            if where[0] == 1.0 and here == 1.0:
                bend[j] = change / (length * length)
            else:
                bend[j] = (slope[j] - way[j]) / ds
        # the point of b
        add_force(f, here * scale, force, B[0], 0)
        for i in range(dim):
            g = here * P[0, P1, i]
            for j in range(4):
                g -= end[j] * P[j + 1, P1, i]
            f[first + i] = scale * g
        # the line, and the displacement along it
        for j in range(4):
            v = j + 1
            add_force(f, -scale * mean[j], force, B[v], _ENDS[v])
            for i in range(dim):
                f[s_at] -= scale * way[j] * force[i] * 0.5 * (P[v, P0, i] + P[v, P1, i])
        if job != TANGENT:
            continue
        K = ke[e - e0]
        two = ctl[TWO] * scale
        add_arm_tangent(K, two * here, force, J[0], 0)
        for i in range(dim):
            for m in range(n):
                K[m, first + i] += scale * here * B[0, i, m]
                K[first + i, m] += scale * here * J[0, i, m]
        for j in range(4):
            v = j + 1
            at = n * _ENDS[v]
            add_arm_tangent(K, -two * mean[j], force, J[v], _ENDS[v])
            for i in range(dim):
                middle = 0.5 * (P[v, P0, i] + P[v, P1, i])
                K[first + i, s_at] -= scale * slope[j] * P[v, P1, i]
                K[s_at, first + i] -= scale * way[j] * middle
                K[s_at, s_at] -= two * bend[j] * force[i] * middle
                for m in range(n):
                    K[at + m, first + i] -= scale * mean[j] * B[v, i, m]
                    K[first + i, at + m] -= scale * end[j] * J[v, i, m]
                    K[at + m, s_at] -= 0.5 * two * slope[j] * force[i] * B[v, i, m]
                    K[s_at, at + m] -= 0.5 * two * way[j] * force[i] * J[v, i, m]


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == WATCH:
        beyond_the_end(e0, e1, par, dof, Q, D, fe)
    if job != OUTPUT:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    where = scratch(7)
    for e in range(e0, e1):
        k = dof[e, 3 * n]
        place(par, e, Q[0, k], Q[1, k], Q[1, k] - Q[0, k], where)
        for i in range(dim):
            fe[e - e0, i] = where[1] * par[e, SCALE] / ctl[SF] * U[dof[e, 4 * n + i]]


def _type(dimension):
    axes = "xyz"[:dimension]
    vectors = ("a{}_b [m]", "a{}_p [m]", "e{}_p", "a{}_q [m]", "e{}_q")
    return ElementType(
        name=f"beam_slide{dimension}",
        dimension=dimension,
        ends=4,
        rotational=True,
        par=(
            "scale",
            *PATH_COLUMNS,
            *(v.format(c) for v in vectors for c in axes),
        ),
        multipliers=dimension,
        scale=0,
        outputs=tuple(f"force {c} [N]" for c in axes),
        force=_force,
        report=_report,
        watches=(BEYOND_THE_END,),
    )


TYPES = {t.name: t for t in (_type(2), _type(3))}
