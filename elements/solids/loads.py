"""Loads on faces of solid elements: pressure that follows the face, and dead tractions.

Pressure p acts against the outward normal: with the tangents t1, t2 of the face (edges in the plane: n = (t_y, -t_x))

    f_a = -p integral of N_a n,   n = t1 x t2,   tangent  df_a = -p integral of N_a (dt1 x t2 + t1 x dt2).

n is quadratic in the positions (linear in the plane).  Over a step it is averaged along the straight path between both
states: the average of (t1_0 + s dt1) x (t2_0 + s dt2) over s in 0..1.  The work of a constant pressure
on a closed surface then is p times the change of the enclosed volume, exactly (the average vector field of Quispel &
McLaren 2008, doi:10.1088/1751-8113/41/4/045206).  Its moment about mid-positions is exact to O(h^2).

``pressure_<face>`` with the faces triangle, triangle6, quad, quad8 in space, line, line3 in the plane, and
``axisymmetric_pressure_line``, ``_line3`` about the y axis, where n is times the radius, and ``thickness`` is an angle.
Nodes are in the order of `fem_mbs.elements.solids.shapes.FACES`, with the outward normal.

``pressure_<face>_reduced`` (triangle6, quad, quad8) have the integration points that CalculiX takes on faces of
elements with reduced integration (`reduced_face`).  This is another discretisation; it agrees with full integration
where faces are plane parallelograms or triangles with straight sides.  With it the work on a closed surface is no
longer exactly the pressure times the change of volume.

``traction_<face>``: a traction t [Pa] per reference area, constant in direction; the shares w_a [m^2] of the nodes
in the area are parameters (`nodal_weights`): f_a = w_a t.

Both are times a function of time (index; negative: constant 1).  Dofs: displacements of the nodes.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    RULE,
    SF,
    SK,
    T0,
    T1,
    TANGENT,
    TM,
    inner,
    kernel,
)
from fem_mbs.elements.common import time_value
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.solids.shapes import exact_rule, gradients, jacobians, n_nodes, rule, shape_functions

__all__ = ["TYPES", "nodal_weights", "reduced_face", "traction_parameters"]

FACES3, FACES2 = ("triangle", "triangle6", "quad", "quad8"), ("line", "line3")
#: Faces with few points: three on the triangle, one on the bilinear and four on the quadratic quadrilateral.
REDUCED = {
    "triangle6_reduced": rule("triangle6"),
    "quad_reduced": (np.zeros((1, 2)), np.full(1, 4.0)),
    "quad8_reduced": rule("quad8", "reduced"),
}
_KINDS = (*FACES3, *FACES2, *REDUCED)
FUNCTION, PRESSURE, THICKNESS = 0, 1, 2  # columns of par of pressures
TRACTION = 1  # column of par of tractions, after FUNCTION; the weights of the nodes follow


def reduced_face(cell: str, name: str, face: str) -> str:
    """Return the suffix of the pressure type with the integration points that CalculiX uses on a face of a cell.

    ``name`` is the integration of the cell, "full" or "reduced".  The suffix is "_reduced", or "" for full integration.
    """
    few = {
        "triangle6": True,
        "quad": cell == "wedge" and name == "reduced",
        "quad8": (cell, name) != ("hexahedron20", "full"),
    }
    return "_reduced" if few.get(face, False) else ""


def _tables():
    rows, start, points, at = [], [], [], 0
    for kind in _KINDS:
        face = kind.removesuffix("_reduced")
        x, w = REDUCED[kind] if kind in REDUCED else exact_rule(face)
        table = np.hstack((w[:, None], shape_functions(face, x), gradients(face, x).reshape(len(w), -1)))
        rows.append(table.ravel())
        start.append(at)
        points.append(len(w))
        at += table.size
    return np.concatenate(rows), np.array(start), np.array(points)


_TABLE, _START, _POINTS = _tables()


@inner
def _mean_factor(ctl, fun, index):
    """Return the factor of a load for its work over a step."""
    if ctl[RULE] == ONE_STATE:
        return 0.5 * (time_value(fun, index, T0, 1.0) + time_value(fun, index, T1, 1.0))
    return time_value(fun, index, TM, 1.0)


@inner
def _tangents(Q, row, dof, n, at, t):
    """Fill t (2, 3) with the tangents of the face in space at a point of the table."""
    for k in range(2):
        for i in range(3):
            t[k, i] = 0.0
        for a in range(n):
            d = _TABLE[at + 1 + (1 + k) * n + a]
            for i in range(3):
                t[k, i] += d * Q[row, dof[3 * a + i]]


@inner
def _add_cross(a, b, factor, out):
    """Add factor a x b to out."""
    out[0] += factor * (a[1] * b[2] - a[2] * b[1])
    out[1] += factor * (a[2] * b[0] - a[0] * b[2])
    out[2] += factor * (a[0] * b[1] - a[1] * b[0])


@inner
def _normal(t0, t1, m):
    """Fill m (3,) with the mean of t_1 x t_2 along the straight path between two states."""
    for i in range(3):
        m[i] = 0.0
    _add_cross(t0[0], t0[1], 1.0 / 3.0, m)
    _add_cross(t1[0], t1[1], 1.0 / 3.0, m)
    _add_cross(t0[0], t1[1], 1.0 / 6.0, m)
    _add_cross(t1[0], t0[1], 1.0 / 6.0, m)


@inner
def _force3(face, job, e0, e1, ctl, par, dof, fun, Q, fe, ke):
    n = dof.shape[1] // 3
    t0, t1, m, A, B = scratch(2, 3), scratch(2, 3), scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        p = par[e, PRESSURE] * time_value(fun, par[e, FUNCTION], TM, 1.0)
        f[:] = 0.0
        if job == TANGENT:
            ke[e - e0] = 0.0
        for q in range(_POINTS[face]):
            at = _START[face] + q * (1 + 3 * n)
            _tangents(Q, 0, dof[e], n, at, t0)
            _tangents(Q, 1, dof[e], n, at, t1)
            _normal(t0, t1, m)
            w = ctl[SF] * p * _TABLE[at]
            for a in range(n):
                for i in range(3):
                    f[3 * a + i] += w * _TABLE[at + 1 + a] * m[i]
            if job == TANGENT:
                K = ke[e - e0]
                w = ctl[SK] * p * _TABLE[at]
                for i in range(3):
                    A[i] = t1[0, i] / 3.0 + t0[0, i] / 6.0
                    B[i] = t1[1, i] / 3.0 + t0[1, i] / 6.0
                for b in range(n):
                    d1, d2 = _TABLE[at + 1 + n + b], _TABLE[at + 1 + 2 * n + b]
                    x, y, z = d1 * B[0] - d2 * A[0], d1 * B[1] - d2 * A[1], d1 * B[2] - d2 * A[2]
                    j = 3 * b
                    for a in range(n):
                        c = w * _TABLE[at + 1 + a]
                        i = 3 * a
                        K[i, j + 1] += c * z
                        K[i, j + 2] -= c * y
                        K[i + 1, j] -= c * z
                        K[i + 1, j + 2] += c * x
                        K[i + 2, j] += c * y
                        K[i + 2, j + 1] -= c * x


@inner
def _report3(face, job, e0, e1, ctl, par, dof, fun, Q, U, fe):
    if job != LEDGER:
        return
    n = dof.shape[1] // 3
    t0, t1, m = scratch(2, 3), scratch(2, 3), scratch(3)
    for e in range(e0, e1):
        p = par[e, PRESSURE] * _mean_factor(ctl, fun, par[e, FUNCTION])
        for q in range(_POINTS[face]):
            at = _START[face] + q * (1 + 3 * n)
            _tangents(Q, 0, dof[e], n, at, t0)
            _tangents(Q, 1, dof[e], n, at, t1)
            _normal(t0, t1, m)
            for a in range(n):
                for i in range(3):
                    k = dof[e, 3 * a + i]
                    way = Q[1, k] - Q[0, k] if ctl[RULE] == ONE_STATE else U[k]
                    fe[e - e0, LOAD_WORK] -= p * _TABLE[at] * _TABLE[at + 1 + a] * m[i] * way


@inner
def _edge(ring, Q, row, dof, n, at):
    """Return the radius (1 in the plane) and the normal (t_y, -t_x) at a point of the table."""
    x, tx, ty = 0.0, 0.0, 0.0
    for a in range(n):
        x += _TABLE[at + 1 + a] * Q[row, dof[2 * a]]
        tx += _TABLE[at + 1 + n + a] * Q[row, dof[2 * a]]
        ty += _TABLE[at + 1 + n + a] * Q[row, dof[2 * a + 1]]
    return (x if ring else 1.0), ty, -tx


@inner
def _force2(face, ring, job, e0, e1, ctl, par, dof, fun, Q, fe, ke):
    n = dof.shape[1] // 2
    for e in range(e0, e1):
        f = fe[e - e0]
        p = par[e, PRESSURE] * par[e, THICKNESS] * time_value(fun, par[e, FUNCTION], TM, 1.0)
        f[:] = 0.0
        if job == TANGENT:
            ke[e - e0] = 0.0
        for q in range(_POINTS[face]):
            at = _START[face] + q * (1 + 2 * n)
            r0, x0, y0 = _edge(ring, Q, 0, dof[e], n, at)
            r1, x1, y1 = _edge(ring, Q, 1, dof[e], n, at)
            # weights of state 1 and of the product with it: mean of r n along the path
            rx, ry, r = x1 / 3.0 + x0 / 6.0, y1 / 3.0 + y0 / 6.0, r1 / 3.0 + r0 / 6.0
            mx, my = r1 * rx + r0 * (x0 / 3.0 + x1 / 6.0), r1 * ry + r0 * (y0 / 3.0 + y1 / 6.0)
            w = p * _TABLE[at]
            for a in range(n):
                c = w * _TABLE[at + 1 + a]
                f[2 * a] += ctl[SF] * c * mx
                f[2 * a + 1] += ctl[SF] * c * my
                if job == TANGENT:
                    K = ke[e - e0]
                    c *= ctl[SK]
                    for b in range(n):
                        d = c * r * _TABLE[at + 1 + n + b]
                        K[2 * a, 2 * b + 1] += d
                        K[2 * a + 1, 2 * b] -= d
                        if ring:
                            d = c * _TABLE[at + 1 + b]
                            K[2 * a, 2 * b] += d * rx
                            K[2 * a + 1, 2 * b] += d * ry


@inner
def _report2(face, ring, job, e0, e1, ctl, par, dof, fun, Q, U, fe):
    if job != LEDGER:
        return
    n = dof.shape[1] // 2
    for e in range(e0, e1):
        p = par[e, PRESSURE] * par[e, THICKNESS] * _mean_factor(ctl, fun, par[e, FUNCTION])
        for q in range(_POINTS[face]):
            at = _START[face] + q * (1 + 2 * n)
            r0, x0, y0 = _edge(ring, Q, 0, dof[e], n, at)
            r1, x1, y1 = _edge(ring, Q, 1, dof[e], n, at)
            mx = r1 * (x1 / 3.0 + x0 / 6.0) + r0 * (x0 / 3.0 + x1 / 6.0)
            my = r1 * (y1 / 3.0 + y0 / 6.0) + r0 * (y0 / 3.0 + y1 / 6.0)
            for a in range(n):
                i, j = dof[e, 2 * a], dof[e, 2 * a + 1]
                x, y = U[i], U[j]
                if ctl[RULE] == ONE_STATE:
                    x, y = Q[1, i] - Q[0, i], Q[1, j] - Q[0, j]
                fe[e - e0, LOAD_WORK] -= p * _TABLE[at] * _TABLE[at + 1 + a] * (mx * x + my * y)


@kernel
def _traction(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    for e in range(e0, e1):
        factor = -ctl[SF] * time_value(fun, par[e, FUNCTION], TM, 1.0)
        for a in range(dof.shape[1] // dim):
            for i in range(dim):
                fe[e - e0, dim * a + i] = factor * par[e, TRACTION + dim + a] * par[e, TRACTION + i]
        if job == TANGENT:
            ke[e - e0] = 0.0


@kernel
def _report_traction(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    for e in range(e0, e1):
        factor = _mean_factor(ctl, fun, par[e, FUNCTION])
        for a in range(dof.shape[1] // dim):
            for i in range(dim):
                k = dof[e, dim * a + i]
                way = Q[1, k] - Q[0, k] if ctl[RULE] == ONE_STATE else U[k]
                fe[e - e0, LOAD_WORK] += factor * par[e, TRACTION + dim + a] * par[e, TRACTION + i] * way


def _pressure(face, ring):
    """Return the kernels of a face; they pass its number to the code that all faces share."""
    number = _KINDS.index(face)
    if face not in FACES2:

        @kernel
        def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
            _force3(number, job, e0, e1, ctl, par, dof, fun, Q, fe, ke)

        @kernel
        def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
            _report3(number, job, e0, e1, ctl, par, dof, fun, Q, U, fe)

        return force, report

    @kernel
    def force_edge(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        _force2(number, ring, job, e0, e1, ctl, par, dof, fun, Q, fe, ke)

    @kernel
    def report_edge(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        _report2(number, ring, job, e0, e1, ctl, par, dof, fun, Q, U, fe)

    return force_edge, report_edge


def _types():
    for kind in REDUCED:
        n = n_nodes(kind.removesuffix("_reduced"))
        yield ElementType(f"pressure_{kind}", 3, n, False, ("function", "pressure [Pa]"), *_pressure(kind, False))
    for face in FACES3 + FACES2:
        dim = 3 if face in FACES3 else 2
        n = n_nodes(face)
        par = ("function", "pressure [Pa]")
        if dim == 3:
            yield ElementType(f"pressure_{face}", 3, n, False, par, *_pressure(face, False))
        else:
            yield ElementType(f"pressure_{face}", 2, n, False, (*par, "thickness [m]"), *_pressure(face, False))
            name = f"axisymmetric_pressure_{face}"
            yield ElementType(name, 2, n, False, (*par, "thickness [rad]"), *_pressure(face, True))
        par = ("function", *[f"traction {c} [Pa]" for c in "xyz"[:dim]], *[f"w{a} [m^2]" for a in range(1, n + 1)])
        yield ElementType(f"traction_{face}", dim, n, False, par, _traction, _report_traction)


TYPES = {t.name: t for t in _types()}


def nodal_weights(face: str, X, thickness=1.0, axisymmetric: bool = False) -> np.ndarray:
    """Return the areas (e, n) [m^2] that belong to the nodes of faces with nodes at X (e, n, dim): integrals of the
    shape functions.

    Those of edges are multiplied by the thickness [m], those of axisymmetric edges by the radius and an angle [rad].
    """
    X = np.asarray(X, float)
    p, w = exact_rule(face)
    T = jacobians(face, X, p)
    area = np.sqrt(np.linalg.det(np.swapaxes(T, -1, -2) @ T)) * w
    N = shape_functions(face, p)
    if axisymmetric:
        area = area * (X[:, :, 0] @ N.T)
    if X.shape[2] == 2:
        area = area * np.reshape(thickness, (-1, 1))
    return area @ N


def traction_parameters(face: str, X, traction, function=-1, thickness=1.0, axisymmetric: bool = False) -> np.ndarray:
    """Return parameter rows (e, n_par) of dead tractions (dim,) or (e, dim) [Pa] on faces with nodes at X (e, n,
    dim)."""
    X = np.asarray(X, float)
    dim = X.shape[2]
    weights = nodal_weights(face, X, thickness, axisymmetric)
    par = np.empty((len(X), 1 + dim + X.shape[1]))
    par[:, FUNCTION] = function
    par[:, TRACTION : TRACTION + dim], par[:, TRACTION + dim :] = traction, weights
    return par
