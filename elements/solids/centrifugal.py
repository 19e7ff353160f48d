"""Centrifugal force on solid and plane cells in a frame that rotates at constant speed w.

With the constant masses M_ab of a cell (`fem_mbs.elements.solids.mass`), the axis n through the point c and
P = I - n n^T (in the plane n = 0: the axis is across it, or n = e_y: that of axisymmetric cells),

    V = -w^2/2 sum_ab M_ab (P (x_a - c)).(P (x_b - c)),   f_a = -w^2 sum_b M_ab P (x_b - c),   K_ab = -w^2 M_ab P

(spin softening; de Veubeke & Geradin 1984, and Bathe, Finite element procedures, 1996, chapter 6).  f is linear in the
positions, so its value at the mean of two states is an exact quotient.  Where w^2 follows a function of time (so that a
load factor multiplies the force), the mean of both ends enters, and the work of its change is booked as that of a load.

Types: ``solid_centrifugal_<cell>`` (of membranes too), ``plane_centrifugal_<cell>``.  Dofs: displacements of the nodes.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import LEDGER, LOAD_WORK, POTENTIAL, SF, SK, T0, T1, TANGENT, inner, kernel
from fem_mbs.elements.common import time_value
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.solids.mass import CELLS2, CELLS3, MEMBRANES
from fem_mbs.elements.solids.shapes import n_nodes
from fem_mbs.elements.solids.strains import heat

__all__ = ["TYPES", "centrifugal_parameters"]

FUNCTION, AXIS = 0, 1  # columns of par; the point of the axis and the upper triangle of the mass matrix follow


@inner
def _read(p, n, dim, M, P):
    """Fill M (n, n) with the masses and P (dim, dim) with the projector of a parameter row."""
    for i in range(dim):
        for j in range(dim):
            P[i, j] = (1.0 if i == j else 0.0) - p[AXIS + i] * p[AXIS + j]
    k = AXIS + 2 * dim
    for a in range(n):
        for b in range(a, n):
            M[a, b] = p[k]
            M[b, a] = p[k]
            k += 1


@inner
def _arms(p, dof, Q, first, last, n, dim, P, y):
    """Fill y (n, dim) with P (x - c) at the mean of two rows of Q."""
    for a in range(n):
        for i in range(dim):
            y[a, i] = 0.0
        for j in range(dim):
            k = dof[a * dim + j]
            x = 0.5 * (Q[first, k] + Q[last, k]) - p[AXIS + dim + j]
            for i in range(dim):
                y[a, i] += P[i, j] * x


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    M, P, y = np.empty((n, n)), np.empty((dim, dim)), np.empty((n, dim))
    for e in range(e0, e1):
        _read(par[e], n, dim, M, P)
        _arms(par[e], dof[e], Q, 0, 1, n, dim, P, y)
        w2 = heat(ctl, fun, par[e, FUNCTION])
        for a in range(n):
            for i in range(dim):
                s = 0.0
                for b in range(n):
                    s += M[a, b] * y[b, i]
                fe[e - e0, a * dim + i] = -ctl[SF] * w2 * s
        if job == TANGENT:
            c = -0.5 * ctl[SK] * w2
            for a in range(n):
                for b in range(n):
                    for i in range(dim):
                        for j in range(dim):
                            ke[e - e0, a * dim + i, b * dim + j] = c * M[a, b] * P[i, j]


@inner
def _moment(M, y, n, dim):
    """Return sum_ab M_ab y_a . y_b."""
    s = 0.0
    for a in range(n):
        for b in range(n):
            for i in range(dim):
                s += M[a, b] * y[a, i] * y[b, i]
    return s


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    M, P, y = np.empty((n, n)), np.empty((dim, dim)), np.empty((n, dim))
    for e in range(e0, e1):
        _read(par[e], n, dim, M, P)
        w2 = time_value(fun, par[e, FUNCTION], T1, 1.0)
        change = w2 - time_value(fun, par[e, FUNCTION], T0, 1.0)
        _arms(par[e], dof[e], Q, 1, 1, n, dim, P, y)
        moment = _moment(M, y, n, dim)
        fe[e - e0, POTENTIAL] = -0.5 * w2 * moment
        if change != 0.0:
            _arms(par[e], dof[e], Q, 0, 0, n, dim, P, y)
            fe[e - e0, LOAD_WORK] = -0.25 * change * (moment + _moment(M, y, n, dim))


def centrifugal_parameters(masses, axis, point, function=-1.0) -> np.ndarray:
    """Return parameter rows (e, n_par) of cells with masses (e, n, n) [kg].

    Args:
        axis: (dim,) unit vector of the axis; in the plane zero (across it) or e_y.
        point: (dim,) of the axis [m].
        function: index of the function that is the square of the speed [rad^2/s^2]; negative: 1.
    """
    rows, columns = np.triu_indices(masses.shape[1])
    head = np.concatenate(([float(function)], axis, point))
    return np.column_stack((np.tile(head, (len(masses), 1)), masses[:, rows, columns]))


def _type(dim, cell):
    n = n_nodes(cell)
    par = ("function", *[f"n{c}" for c in "xyz"[:dim]], *[f"c{c} [m]" for c in "xyz"[:dim]])
    par += tuple(f"m{a}_{b} [kg]" for a in range(1, n + 1) for b in range(a, n + 1))
    name = f"{'solid' if dim == 3 else 'plane'}_centrifugal_{cell}"
    return ElementType(name, dim, n, False, par, force=force, report=report)


_CELLS = ((3, (*CELLS3, *MEMBRANES)), (2, CELLS2))
TYPES = {t.name: t for dim, cells in _CELLS for t in (_type(dim, cell) for cell in cells)}
