"""Inertia of solid and plane cells: consistent mass and lumped mass, both constant matrices in the parameters.

Consistent: M_ab = integral of rho N_a N_b.  Lumped: diagonal, in proportion to that of the consistent matrix with the
right total (Hinton, Rock & Zienkiewicz 1976, doi:10.1002/eqe.4290040305); all its masses are positive.  Over a step

    sf (M (v1 - v0)/h) = M (dx - h v0),   v1 = 2 dx/h - v0,   minus sf m_a g with m_a = sum_b M_ab   (lumped: M_aa),

exact in energy and both momenta (docs/theory.md, section 2).  Damping proportional to the mass, sf alpha M dx/h, loses
alpha dx.M dx/h in a step.

Types: ``solid_mass_<cell>`` and ``solid_lumped_<cell>`` in space, ``plane_mass_<cell>`` and ``plane_lumped_<cell>`` in
the plane (times the thickness; of axisymmetric bodies times 2 pi r: the motion then is along the radius and the axis,
and momenta along the radius have no meaning).  Dofs: displacements of the nodes.  `mass_parameters` makes the rows;
`mass_rows` those of membranes, triangles and quadrilaterals in space.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    DISSIPATED,
    GX,
    KINETIC,
    LEDGER,
    ONE_STATE,
    POTENTIAL,
    RULE,
    SF,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.masses.lumped import add_momentum
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.solids.shapes import (
    determinants,
    dimension,
    exact_rule,
    jacobians,
    local_nodes,
    n_nodes,
    rule,
    shape_functions,
)

__all__ = ["TYPES", "linear_images", "mass_matrices", "mass_parameters", "mass_rows", "masses_of"]

MASS, ALPHA, FIRST = 0, 1, 2
CELLS3 = ("tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15")
CELLS2 = ("triangle", "triangle6", "quad", "quad8")
MEMBRANES = ("triangle", "quad")


@inner
def _unpack(p, n, M):
    """Fill M (n, n) from the rows of its upper triangle, or from its diagonal."""
    k = FIRST
    if p.shape[0] < FIRST + n * (n + 1) // 2:
        for a in range(n):
            for b in range(n):
                M[a, b] = 0.0
            M[a, a] = p[k + a]
        return
    for a in range(n):
        for b in range(a, n):
            M[a, b] = p[k]
            M[b, a] = p[k]
            k += 1


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    M, y = np.empty((n, n)), np.empty((n, dim))
    for e in range(e0, e1):
        f, alpha = fe[e - e0], par[e, ALPHA]
        _unpack(par[e], n, M)
        factor = 1.0 + 0.5 * alpha * h
        for b in range(n):
            for i in range(dim):
                k = dof[e, b * dim + i]
                rate = sf * (V[2, k] + alpha * V[1, k]) if one_state else factor * U[k] - h * V[0, k]
                y[b, i] = rate - sf * ctl[GX + i]
        for a in range(n):
            # sums of all directions side by side
            s0, s1, s2 = 0.0, 0.0, 0.0
            for b in range(n):
                m = M[a, b]
                s0 += m * y[b, 0]
                s1 += m * y[b, 1]
                s2 += m * y[b, dim - 1]
            f[a * dim], f[a * dim + 1] = s0, s1
            f[a * dim + dim - 1] = s2
        if job == TANGENT:
            K = ke[e - e0]
            K[:] = 0.0
            c = sf * (wa + alpha * wv) if one_state else factor
            for a in range(n):
                for b in range(n):
                    for i in range(dim):
                        K[a * dim + i, b * dim + i] = c * M[a, b]


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = dof.shape[1] // dim
    M, x, v, s, u = np.empty((n, n)), scratch(3), scratch(3), scratch(3), scratch(3)
    for e in range(e0, e1):
        f = fe[e - e0]
        _unpack(par[e], n, M)
        loss = 0.0
        for a in range(n):
            m = 0.0
            for i in range(dim):
                s[i], u[i] = 0.0, 0.0
            for b in range(n):
                m += M[a, b]
                for i in range(dim):
                    s[i] += M[a, b] * V[1, dof[e, b * dim + i]]
                    u[i] += M[a, b] * U[dof[e, b * dim + i]]
            for i in range(dim):
                k = dof[e, a * dim + i]
                x[i], v[i] = Q[1, k], V[1, k]
                f[KINETIC] += 0.5 * v[i] * s[i]
                f[POTENTIAL] -= m * ctl[GX + i] * x[i]
                loss += u[i] * U[k]
            add_momentum(f.reshape(1, f.shape[0]), 0, dim, 1.0, x, s)
        if par[e, ALPHA] != 0.0 and ctl[H] > 0.0:
            f[DISSIPATED] = par[e, ALPHA] * loss / ctl[H]


def mass_matrices(
    cell: str, X, density, thickness=1.0, axisymmetric: bool = False, points: str | None = None
) -> np.ndarray:
    """Return consistent masses (e, n, n) [kg] of cells with nodes at X (e, n, dim) [m].

    Args:
        density: [kg/m^3], a number or (e,).
        thickness: [m] of plane cells; of axisymmetric ones (about y, radius x) the angle [rad] that they fill.
        axisymmetric: whether the cells are axisymmetric.
        points: integration, "full" or "reduced" as in `fem_mbs.elements.solids.shapes.rule`; None: exact for straight
            sides.
    """
    X = np.asarray(X, float)
    scale = np.broadcast_to(np.asarray(density, float), (len(X),))
    if dimension(cell) == 2:
        scale = scale * thickness
    if axisymmetric:
        return _integrated(cell, X, scale, points, True)
    det, straight = linear_images(cell, X)
    unit = _integrated(cell, local_nodes(cell)[None], np.ones(1), points)[0]
    M = (scale * det)[:, None, None] * unit
    bent = np.flatnonzero(~straight)
    if bent.size:
        M[bent] = _integrated(cell, X[bent], scale[bent], points)
    return M


def linear_images(cell: str, X: np.ndarray, tolerance: float = 1e-13) -> tuple[np.ndarray, np.ndarray]:
    """Return the Jacobian determinant (e,) in the middle of cells, and which cells (e,) are linear images of the local
    cell.

    There the Jacobian is constant, so that the mass is that of the local cell times its determinant.  ``tolerance`` is
    relative to the size of the cells.
    """
    local = local_nodes(cell)
    middle = local.mean(axis=0, keepdims=True)
    J = jacobians(cell, X, middle)[:, 0]
    centre = np.einsum("n,eni->ei", shape_functions(cell, middle)[0], X)
    arms = X - centre[:, None]
    off = np.abs(arms - (local - middle) @ np.swapaxes(J, 1, 2)).max(axis=(1, 2))
    return determinants(cell, X, middle)[:, 0], off <= tolerance * np.abs(arms).max(axis=(1, 2))


def _integrated(cell, X, scale, points: str | None, axisymmetric: bool = False) -> np.ndarray:
    """Return mass matrices (e, n, n) by integration, of a mass per volume or area (e,)."""
    p, w = exact_rule(cell) if points is None else rule(cell, points)
    N = shape_functions(cell, p)
    volume = determinants(cell, X, p) * w
    if axisymmetric:
        volume = volume * (X[:, :, 0] @ N.T)
    volume *= scale[:, None]
    pairs = (N[:, :, None] * N[:, None, :]).reshape(len(w), -1)
    return (volume @ pairs).reshape(len(X), N.shape[1], N.shape[1])


def mass_parameters(
    cell: str, X, density, damping=0.0, thickness=1.0, lumped: bool = False, axisymmetric: bool = False,
    points: str | None = None,
) -> np.ndarray:  # fmt: skip
    """Return parameter rows (e, n_par) of inertia types from nodes X (e, n, dim) [m].

    ``damping`` is alpha [1/s], proportional to the mass; for the others see `mass_matrices`.
    """
    return mass_rows(mass_matrices(cell, X, density, thickness, axisymmetric, points), damping, lumped)


def mass_rows(M, damping=0.0, lumped: bool = False) -> np.ndarray:
    """Return parameter rows (e, n_par) of inertia types with masses M (e, n, n) [kg].

    ``damping`` is alpha [1/s], proportional to the mass; ``lumped``: the diagonal, scaled to the total mass.
    """
    total = M.sum(axis=(1, 2))
    if lumped:
        diagonal = np.einsum("eaa->ea", M)
        entries = diagonal * (total / diagonal.sum(axis=1))[:, None]
    else:
        rows, columns = np.triu_indices(M.shape[1])
        entries = M.reshape(len(M), -1).take(rows * M.shape[1] + columns, axis=1)
    par = np.empty((len(M), FIRST + entries.shape[1]))
    par[:, MASS], par[:, ALPHA], par[:, FIRST:] = total, damping, entries
    return par


def masses_of(par: np.ndarray, n: int) -> np.ndarray:
    """Return mass matrices (e, n, n) [kg] from parameter rows, consistent or lumped."""
    M = np.zeros((len(par), n, n))
    if par.shape[1] < FIRST + n * (n + 1) // 2:
        M[:, range(n), range(n)] = par[:, FIRST : FIRST + n]
        return M
    rows, columns = np.triu_indices(n)
    M[:, rows, columns] = M[:, columns, rows] = par[:, FIRST : FIRST + len(rows)]
    return M


def _type(name, dim, cell, lumped):
    n = n_nodes(cell)
    if lumped:
        entries = [f"m{a} [kg]" for a in range(1, n + 1)]
    else:
        entries = [f"m{a}_{b} [kg]" for a in range(1, n + 1) for b in range(a, n + 1)]
    par = ("mass [kg]", "damping [1/s]", *entries)
    return ElementType(name, dim, n, False, par, force=force, report=report, inertia=True)


TYPES = {
    f"{kind}_{form}_{cell}": _type(f"{kind}_{form}_{cell}", dim, cell, form == "lumped")
    for kind, dim, cells in (("solid", 3, (*CELLS3, *MEMBRANES)), ("plane", 2, CELLS2))
    for form in ("mass", "lumped")
    for cell in cells
}
