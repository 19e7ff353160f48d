"""Two joint coordinates in a fixed ratio, with a multiplier: `coupling2/3` (angles among them), `pulley2/3` (none).

    p s_a + q s_b - c = 0

between a coordinate s_a of the ends a, b and a coordinate s_b of the ends c, d, each an angle or a displacement
(`fem_mbs.elements.coordinates`): gears, a rack and its pinion, a screw (both coordinates on the same two ends), a rope
over pulleys.  The constraint holds at the end of the step, its multiplier acts along both exact quotients, so that it
does no work; each coordinate's forces have neither resultant nor moment.  Angles count their turns (space: `hist`).
Couplings are constraints in radians, pulleys in metres.

Outputs: the generalised force on each coordinate (a moment on an angle, a force on a displacement; positive where it
does positive work as the coordinate grows), both coordinates at the end of the step, and the force
and moment of each pair on the first end of its coordinate, about the point there, in global axes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import COMMIT, FORCE, LEDGER, ONE_STATE, RULE, SF, START, TANGENT, inner, kernel
from fem_mbs.elements.coordinates import (
    ANGLE_ROOM,
    angle_gradient,
    angle_rows,
    angle_vectors,
    constraint_rows,
    nearest_angle,
    offset_rows,
)
from fem_mbs.elements.joints.reactions import node_moment
from fem_mbs.elements.kinematics import P0, P1, R1, relative_angle
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: scale, two kinds, two factors, value, then the vectors of both coordinates
_SCALE, _KIND, _FACTOR, _VALUE, _FIRST = 0, 1, 3, 5, 6
_OWN = 0  # column of the vectors of one coordinate in its row of `_split`


@inner
def _split(par, dof, rot, e, pp, pd, pr):
    """Fill rows 0 and 1 of pp, pd, pr with the parameters, dofs and rotations of the two ends of either coordinate."""
    m, nd = pp.shape[1], pd.shape[1]
    for k in range(2):
        for i in range(m):
            pp[k, i] = par[e, _FIRST + k * m + i]
        for i in range(nd):
            pd[k, i] = dof[e, k * nd + i]
        for i in range(2):
            pr[k, i] = rot[e, 2 * k + i]


@inner
def _plane_angle(job, Q, U, dof, k, row, row1, G):
    """Return theta_b - theta_a in the plane at the end of the step, and fill its rows."""
    a, b = dof[k, 2], dof[k, 5]
    dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
    for i in range(6):
        row[i] = row1[i] = 0.0
    row[2], row[5] = -kappa, kappa
    if job == TANGENT:
        for i in range(6):
            for j in range(6):
                G[i, j] = 0.0
        row1[2], row1[5] = -1 / (1 + 0.25 * U[a] * U[a]), 1 / (1 + 0.25 * U[b] * U[b])
        G[2, 2], G[2, 5], G[5, 2], G[5, 5] = -by_a, -by_b, by_a, by_b
    return Q[0, b] - Q[0, a] + dphi


@inner
def _value(job, ctl, angular, turned, Q, D, U, dof, rot, par, k, P, B, J, W, T, Z, row, row1, G):
    """Return one coordinate at the end of the step, and fill its rows; ``turned`` is its angle at the start of the
    step."""
    if angular == 0:
        _, s1 = offset_rows(job, Q, D, U, dof, rot, k, par, _OWN, P, B, J, row, row1, G)
        return s1
    if D.shape[2] == 2:
        return _plane_angle(job, Q, U, dof, k, row, row1, G)
    dphi, c1, s1 = angle_rows(job, D, U, dof, rot, k, par, _OWN, W, T, Z, row, row1, G)
    return nearest_angle(c1, s1, turned) if ctl[RULE] == ONE_STATE else turned + dphi


@kernel
def _coupling(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    pp, pd, pr = np.empty((2, 4 * dim)), np.empty((2, 2 * n), np.int32), np.empty((2, 2), np.int32)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    W, T, Z = scratch(ANGLE_ROOM, 3), scratch(2, 3, 3), scratch(2, 6)
    r, r1, g = np.empty(2 * n), np.empty(2 * n), np.empty((2 * n, 2 * n))
    row, row1, G = np.empty(4 * n), np.empty(4 * n), np.zeros((4 * n, 4 * n))
    for e in range(e0, e1):
        _split(par, dof, rot, e, pp, pd, pr)
        error = -par[e, _VALUE]
        for k in range(2):
            angular, factor = par[e, _KIND + k], par[e, _FACTOR + k]
            error += factor * _value(job, ctl, angular, hist[e, k], Q, D, U, pd, pr, pp, k, P, B, J, W, T, Z, r, r1, g)
            at = 2 * n * k
            for i in range(2 * n):
                row[at + i] = factor * r[i]
                if job == TANGENT:
                    row1[at + i] = factor * r1[i]
                    for j in range(2 * n):
                        G[at + i, at + j] = factor * g[i, j]
        constraint_rows(job, ctl, par[e, _SCALE], U[dof[e, 4 * n]], error, row, row1, G, fe, ke, e - e0)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == LEDGER:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    pp, pd, pr = np.empty((2, 4 * dim)), np.empty((2, 2 * n), np.int32), np.empty((2, 2), np.int32)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    W, T, Z = scratch(ANGLE_ROOM, 3), scratch(2, 3, 3), scratch(2, 6)
    r, r1, g = np.empty(2 * n), np.empty(2 * n), np.empty((2 * n, 2 * n))
    direction, d = scratch(3), scratch(3)
    for e in range(e0, e1):
        _split(par, dof, rot, e, pp, pd, pr)
        for k in range(2):
            angular = par[e, _KIND + k]
            counted = angular != 0 and dim == 3
            if (job == START or job == COMMIT) and not counted:
                continue
            if job == START:
                _, _, c1, s1 = angle_vectors(D, pr, pp, k, 0, W)
                hist[e, k] = nearest_angle(c1, s1, hist[e, k])  # keeps the turns of an earlier analysis
                continue
            value = _value(FORCE, ctl, angular, hist[e, k], Q, D, U, pd, pr, pp, k, P, B, J, W, T, Z, r, r1, g)
            if job == COMMIT:
                _, _, c1, s1 = angle_vectors(D, pr, pp, k, 0, W)
                hist[e, k] = nearest_angle(c1, s1, value)  # not a sum of increments, whose round-off would add up
            else:
                f = fe[e - e0]
                force = -par[e, _SCALE] / ctl[SF] * U[dof[e, 4 * n]] * par[e, _FACTOR + k]
                f[k], f[2 + k] = force, value
                wrench = f[4 + k * n : 4 + (k + 1) * n]
                if angular == 0:
                    for i in range(dim):
                        direction[i], d[i] = P[2, P0, i], P[2, P1, i]
                        if ctl[RULE] == ONE_STATE:
                            direction[i], d[i] = P[2, R1, i], P[1, P1, i] - P[0, P1, i]
                        wrench[i] = -force * direction[i]
                    node_moment(d, wrench, wrench[dim:])
                elif dim == 2:
                    wrench[2] = -force * (1.0 if ctl[RULE] == ONE_STATE else r[5])
                else:
                    for i in range(3):
                        direction[i] = r[9 + i]
                    if ctl[RULE] == ONE_STATE:
                        _, _, c1, s1 = angle_vectors(D, pr, pp, k, 0, W)
                        angle_gradient(W, 1, c1, s1, direction)
                    for i in range(3):
                        wrench[3 + i] = -force * direction[i]


_PARTS = {
    2: ("force x", "force y", "moment"),
    3: ("force x", "force y", "force z", "moment x", "moment y", "moment z"),
}
#: Names of force and moment on the first end of either coordinate.
_WRENCHES = {
    dimension: tuple(f"{part} {k} [{'N' if 'force' in part else 'N m'}]" for k in "ab" for part in parts)
    for dimension, parts in _PARTS.items()
}


def _type(dimension):
    columns = tuple(f"{vector}{c}" for vector in "uvbc" for c in "xyz"[:dimension])
    return ElementType(
        name=f"coupling{dimension}",
        dimension=dimension,
        ends=4,
        rotational=True,
        # a coordinate's columns are those of an angle (u, v, b, c) or of a displacement (direction, offsets, zeros)
        par=(
            *("scale", "angular_a", "angular_b", "factor_a", "factor_b", "value"),
            *(f"{c}_a" for c in columns),
            *(f"{c}_b" for c in columns),
        ),
        hist=2,
        turns=dimension == 3,
        multipliers=1,
        scale=0,
        angular=True,
        outputs=("force a", "force b", "coordinate a", "coordinate b", *_WRENCHES[dimension]),
        force=_coupling,
        report=_report,
    )


_COUPLINGS = (_type(2), _type(3))
_PULLEYS = tuple(replace(t, name=f"pulley{t.dimension}", angular=False) for t in _COUPLINGS)

TYPES = {t.name: t for t in (*_COUPLINGS, *_PULLEYS)}
