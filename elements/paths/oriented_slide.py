"""Bodies that slide along a line of nodes and turn with it: `prismatic_slide2/3`, `cylindrical_slide3`.

Between two nodes p, q of the line it is r(s) = sum_j c_j(s) y_j with the cubic (Hermite) shape functions c_j of the
place s [m] along the undeformed line and y = (P_p, d_p, P_q, d_q), points and tangents fixed in the nodes.
Neighbouring elements have the tangent of their node in common, so that line and tangent are continuous.  b has a point
P_b and a triad e_k, the last along the line.  At the end of the step, with the arm l [m] that makes lengths of all
constraints,

    e_k.(P_b - r(s)) = 0          k = 1 .. dim       the point is on the line
    l e_k.r'(s) = 0               k = 1 .. dim - 1   e_dim is along the tangent
    l e_2.w(s) = 0                prismatic in space: w = (1 - xi) w_p + xi w_q, a direction of the section

All are products of vectors with coefficients of s (`fem_mbs.elements.paths.forms`), exact in energy and both momenta,
also where a step passes from one element to another (`fem_mbs.elements.paths.path`: every element has the weight of
its part of the distance).

Ends: b, p, q, and a node whose first coordinate is s.  Outputs: force and moment of the joint on the line, the moment
about the point on it, where it is.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import FORCE, ONE_STATE, OUTPUT, RULE, SF, TANGENT, TWO, WATCH, inner, kernel
from fem_mbs.elements.common import clear
from fem_mbs.elements.kinematics import R0, R1
from fem_mbs.elements.paths.forms import BEND, C0, C1, COEFFICIENTS, RATE, SLOPE, at_end, form_rows, vector
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

SCALE, ARM, _VECTORS = 0, 6, 7  # columns of par; those of the path are between
# vectors: point of b, its triad, then points and tangents of the ends p and q, then the sections' directions
_MOST_VECTORS, _MOST_TERMS = 10, 25


@inner
def _coefficients(c, factor, where, length, ds, out):
    """Fill the coefficients ``out`` of a cubic c of xi, times a factor, from what `place` says."""
    end = where[1] * value(c, where[3])
    quotient, change = divided(c, where[5], where[6])
    way = where[4] * quotient / length
    slope = where[1] * divided(c, where[3], where[3])[0] / length
    bend = change / (length * length) if where[0] == 1.0 and where[1] == 1.0 else (slope - way) / ds
    for i in range(COEFFICIENTS):
        out[i] = 0.0
    out[C0], out[C1] = factor * where[0] * value(c, where[2]), factor * end
    out[RATE], out[SLOPE], out[BEND] = factor * way, factor * slope, factor * bend


@inner
def _enter(terms, t, row, i, j):
    terms[t, 0], terms[t, 1], terms[t, 2] = row, i, j


@inner
def _fill(par, e, where, ds, dim, twist, terms, C):
    """Fill terms and coefficients of an element; return the number of terms."""
    length, arm = par[e, LENGTH], par[e, ARM]
    c, slope, line = scratch(4, 4), scratch(4), scratch(4)
    shape_polynomials(length, par[e, CUBIC], c)
    t = 0
    for k in range(dim):
        for i in range(COEFFICIENTS):
            C[t, i] = 0.0
        C[t, C0], C[t, C1] = where[0], where[1]
        _enter(terms, t, k, 1 + k, 0)
        t += 1
    for j in range(4):
        slope[0], slope[1], slope[2] = c[j, 1] / length, 2.0 * c[j, 2] / length, 3.0 * c[j, 3] / length
        slope[3] = 0.0
        for k in range(dim):
            _coefficients(c[j], -1.0, where, length, ds, C[t])
            _enter(terms, t, k, 1 + k, 1 + dim + j)
            t += 1
        for k in range(dim - 1):
            _coefficients(slope, arm, where, length, ds, C[t])
            _enter(terms, t, dim + k, 1 + k, 1 + dim + j)
            t += 1
    if twist:
        for j in range(2):
            line[0], line[1], line[2], line[3] = 1.0 - j, 2.0 * j - 1.0, 0.0, 0.0
            _coefficients(line, arm, where, length, ds, C[t])
            _enter(terms, t, 2 * dim - 1, 2, 5 + dim + j)
            t += 1
    return t


@inner
def _vectors(Q, D, U, dof, rot, e, par, dim, count, P, B, J, own):
    for v in range(count):
        if v <= dim:
            own[v] = 0
            is_point = v == 0
        elif v <= dim + 4:
            own[v] = 1 + (v - dim - 1) // 2
            is_point = (v - dim - 1) % 2 == 0
        else:
            own[v] = 1 + v - dim - 5
            is_point = False
        vector(Q, D, U, dof, rot, e, own[v], par, _VECTORS + dim * v, not is_point, P[v], B[v], J[v])


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    count = (par.shape[1] - _VECTORS) // dim
    twist = count > dim + 5
    rows = 2 * dim - 1 + (1 if twist else 0)
    P, B, J = np.empty((_MOST_VECTORS, 5, dim)), np.empty((_MOST_VECTORS, dim, n)), np.empty((_MOST_VECTORS, dim, n))
    C, where, multipliers = scratch(_MOST_TERMS, COEFFICIENTS), scratch(7), scratch(6)
    terms, own, at = np.empty((_MOST_TERMS, 3), np.int64), np.empty(_MOST_VECTORS, np.int64), np.empty(1, np.int64)
    none = np.empty((0, 0))
    at[0] = 3 * n
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        k = dof[e, 3 * n]
        ds = U[k]
        if ds == 0.0:
            ds = Q[1, k] - Q[0, k]
        place(par, e, Q[0, k], Q[1, k], ds, where)
        if where[0] == 0.0 and where[1] == 0.0 and where[4] == 0.0:
            continue
        _vectors(Q, D, U, dof, rot, e, par, dim, count, P, B, J, own)
        used = _fill(par, e, where, ds, dim, twist, terms, C)
        for i in range(rows):
            multipliers[i] = U[dof[e, 4 * n + i]]
        K = ke[e - e0] if job == TANGENT else none
        form_rows(job, ctl[TWO], par[e, SCALE], terms, used, C, P, B, J, own, at, 4 * n, multipliers, fe[e - e0], K)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == WATCH:
        beyond_the_end(e0, e1, par, dof, Q, D, fe)
    if job != OUTPUT:  # does no work: nothing to book
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    count = (par.shape[1] - _VECTORS) // dim
    twist = count > dim + 5
    rows = 2 * dim - 1 + (1 if twist else 0)
    P, B, J = np.empty((_MOST_VECTORS, 5, dim)), np.empty((_MOST_VECTORS, dim, n)), np.empty((_MOST_VECTORS, dim, n))
    C, where, multipliers, arm = scratch(_MOST_TERMS, COEFFICIENTS), scratch(7), scratch(6), scratch(3)
    terms, own, at = np.empty((_MOST_TERMS, 3), np.int64), np.empty(_MOST_VECTORS, np.int64), np.empty(1, np.int64)
    none, f = np.empty((0, 0)), np.empty(4 * n + rows)
    at[0] = 3 * n
    for e in range(e0, e1):
        k = dof[e, 3 * n]
        s1 = Q[1, k]
        s0 = s1 if ctl[RULE] == ONE_STATE else Q[0, k]
        place(par, e, s0, s1, s1 - s0, where)
        if where[0] == 0.0 and where[1] == 0.0:
            continue
        _vectors(Q, D, U, dof, rot, e, par, dim, count, P, B, J, own)
        if ctl[RULE] == ONE_STATE:
            for v in range(count):
                at_end(P[v], B[v])
        used = _fill(par, e, where, 1.0, dim, twist, terms, C)
        for i in range(rows):
            multipliers[i] = U[dof[e, 4 * n + i]]
        for i in range(f.shape[0]):
            f[i] = 0.0
        for i in range(dim):
            arm[i] = 0.5 * (P[0, R0, i] + P[0, R1, i])
        form_rows(FORCE, 1.0, par[e, SCALE], terms, used, C, P, B, J, own, at, 4 * n, multipliers, f, none)
        for i in range(n):
            f[i] /= ctl[SF]
        out = fe[e - e0]
        for i in range(dim):
            out[i] = f[i]
        if dim == 2:
            out[2] = f[2] - (arm[0] * f[1] - arm[1] * f[0])
        else:
            out[3] = f[3] - (arm[1] * f[2] - arm[2] * f[1])
            out[4] = f[4] - (arm[2] * f[0] - arm[0] * f[2])
            out[5] = f[5] - (arm[0] * f[1] - arm[1] * f[0])


def _type(name, dimension, rows, sections):
    axes = "xyz"[:dimension]
    vectors = ("a{}_b [m]", *(f"e{k + 1}{{}}_b" for k in range(dimension)), "a{}_p [m]", "e{}_p", "a{}_q [m]", "e{}_q")
    moments = ("moment [N m]",) if dimension == 2 else tuple(f"moment {c} [N m]" for c in axes)
    return ElementType(
        name=f"{name}{dimension}",
        dimension=dimension,
        ends=4,
        rotational=True,
        par=("scale", *PATH_COLUMNS, "arm [m]", *(v.format(c) for v in (*vectors, *sections) for c in axes)),
        multipliers=rows,
        scale=0,
        outputs=(*(f"force {c} [N]" for c in axes), *moments),
        force=_force,
        report=_report,
        watches=(BEYOND_THE_END,),
    )


TYPES = {
    t.name: t
    for t in (
        _type("prismatic_slide", 2, 3, ()),
        _type("cylindrical_slide", 3, 5, ()),
        _type("prismatic_slide", 3, 6, ("w{}_p", "w{}_q")),
    )
}
