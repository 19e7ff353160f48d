"""Constraints of the mean rotation of many nodes to the rotation of a reference node: `mean_rotation2`,
`mean_rotation3`.

They hold for rotations of any size; each element is the term of one node.  With places s_i of the nodes about their
weighted mean at the start (body axes of the reference, sum w_i s_i = 0), the rotation R of the reference satisfies

    sum_i w_i (R s_i) x (x_i - x) = 0,

where x is any point, here the reference.  Of all rotations this one fits the nodes best: it is the polar factor of sum
w_i x_i s_i^T (Wahba 1965, doi:10.1137/1007077), for small rotations that of I_w theta = sum_i w_i s_i x u_i.  The
components along the directors are scalars, sum_i (R p_i).(x_i - x) = 0 with p_i = I_w^-1 w_i (e_k x s_i).  They are
bilinear in directors and positions like the coordinates of prismatic joints.  So the quotient with mean values is
exact, the multipliers do no work, and each term alone has neither resultant nor moment.

Ends: the reference, a node; one multiplier, in radians, which the terms of a constraint share
(`fem_mbs.system.compile.Block.joint`).  Output: the moment that the term exerts on the reference.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import ONE_STATE, OUTPUT, RULE, SF, kernel
from fem_mbs.elements.coordinates import constraint_rows, offset_rows
from fem_mbs.elements.kinematics import P0, P1, R1, cross
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

SCALE, COORDINATE = 0, 1  # columns of par; the vectors of the coordinate are followed by its value


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1, G = np.empty(2 * n), np.empty(2 * n), np.empty((2 * n, 2 * n))
    for e in range(e0, e1):
        _, s1 = offset_rows(job, Q, D, U, dof, rot, e, par, COORDINATE, P, B, J, row, row1, G)
        multiplier = U[dof[e, 2 * n]]
        constraint_rows(
            job, ctl, par[e, SCALE], multiplier, s1 - par[e, COORDINATE + 3 * dim], row, row1, G, fe, ke, e - e0
        )


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != OUTPUT:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1, G = np.empty(2 * n), np.empty(2 * n), np.empty((2 * n, 2 * n))
    p, d, moment = scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        offset_rows(0, Q, D, U, dof, rot, e, par, COORDINATE, P, B, J, row, row1, G)
        factor = -par[e, SCALE] / ctl[SF] * U[dof[e, 2 * n]]
        p[2] = d[2] = 0.0
        for i in range(dim):  # the moment p x d acts on the reference
            if ctl[RULE] == ONE_STATE:
                p[i], d[i] = P[2, R1, i], P[1, P1, i] - P[0, P1, i]
            else:
                p[i], d[i] = P[2, P0, i], P[2, P1, i]
        cross(p, d, moment)
        if dim == 2:
            fe[e - e0, 0] = factor * moment[2]
        else:
            for i in range(3):
                fe[e - e0, i] = factor * moment[i]


def _type(dimension):
    axes = "xyz"[:dimension]
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    return ElementType(
        name=f"mean_rotation{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        # the offsets that `offset_rows` reads are zero here
        par=("scale", *(f"p{c} [1/m]" for c in axes), *(f"a{c}_{end} [m]" for end in "ab" for c in axes), "start"),
        multipliers=1,
        scale=0,
        angular=True,
        outputs=moments,
        force=_force,
        report=_report,
    )


TYPES = {t.name: t for t in (_type(2), _type(3))}
