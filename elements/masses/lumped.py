"""Masses with a constant matrix: nodal (point mass, lumped beams and trusses, plane rigid body) and linear-consistent.

    sf (M (v1 - v0)/h) = M (dx - h v0),   v1 = 2 dx/h - v0,      minus sf M g,

with W in place of v for the rotation in the plane (W1 = 2 vartheta/h - W0).  It is exact in energy and both momenta
(Simo & Wong 1991; docs/theory.md, section 2).  Gravity has the potential -M g.x.  Damping proportional to the mass,
sf alpha M dx/h, loses alpha dx.M dx/h in a step.

Dofs: nodal (x, rotation in the plane); linear (x_p, x_q), mass m l [[2, 1], [1, 2]]/6.
"""

from __future__ import annotations

from fem_mbs.contract import (
    DISSIPATED,
    GX,
    KINETIC,
    LEDGER,
    LX,
    LZ,
    ONE_STATE,
    POTENTIAL,
    PX,
    RULE,
    SF,
    TANGENT,
    WA,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.registry import ElementType

# columns of par: of `mass2`, with its rotary inertia, and of the others
MASS, INERTIA2, DAMPING2 = range(3)
DAMPING = 1


@kernel
def force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        r = e - e0
        alpha = par[e, DAMPING2]
        f = 1.0 + 0.5 * alpha * h
        for i in range(3):
            m = par[e, INERTIA2] if i == 2 else par[e, MASS]
            k = dof[e, i]
            inertia = sf * (V[2, k] + alpha * V[1, k]) if one_state else f * U[k] - h * V[0, k]
            fe[r, i] = m * inertia - (0.0 if i == 2 else sf * m * ctl[GX + i])
            if job == TANGENT:
                for j in range(3):
                    ke[r, i, j] = 0.0
                ke[r, i, i] = m * (sf * (wa + alpha * wv) if one_state else f)


@kernel
def report2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    for e in range(e0, e1):
        r = e - e0
        m, x, y = par[e, MASS], Q[1, dof[e, 0]], Q[1, dof[e, 1]]
        vx, vy, w = V[1, dof[e, 0]], V[1, dof[e, 1]], V[1, dof[e, 2]]
        fe[r, KINETIC] = 0.5 * (m * (vx * vx + vy * vy) + par[e, INERTIA2] * w * w)
        fe[r, POTENTIAL] = -m * (ctl[GX] * x + ctl[GX + 1] * y)
        fe[r, PX], fe[r, PX + 1] = m * vx, m * vy
        fe[r, LZ] = m * (x * vy - y * vx) + par[e, INERTIA2] * w
        if par[e, DAMPING2] != 0.0 and ctl[H] > 0.0:
            ux, uy, turn = U[dof[e, 0]], U[dof[e, 1]], U[dof[e, 2]]
            fe[r, DISSIPATED] = par[e, DAMPING2] * (m * (ux * ux + uy * uy) + par[e, INERTIA2] * turn * turn) / ctl[H]


@kernel
def force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        r = e - e0
        m, alpha = par[e, MASS], par[e, DAMPING]
        f = 1.0 + 0.5 * alpha * h
        for i in range(3):
            k = dof[e, i]
            inertia = sf * (V[2, k] + alpha * V[1, k]) if one_state else f * U[k] - h * V[0, k]
            fe[r, i] = m * (inertia - sf * ctl[GX + i])
            if job == TANGENT:
                for j in range(3):
                    ke[r, i, j] = 0.0
                ke[r, i, i] = m * (sf * (wa + alpha * wv) if one_state else f)


@kernel
def linear_force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    dim = dof.shape[1] // 2
    for e in range(e0, e1):
        r = e - e0
        m6, alpha = par[e, MASS] / 6.0, par[e, DAMPING]
        f = 1.0 + 0.5 * alpha * h
        for i in range(dim):
            p, q = dof[e, i], dof[e, dim + i]
            if one_state:
                ap = sf * (V[2, p] + alpha * V[1, p] - ctl[GX + i])
                aq = sf * (V[2, q] + alpha * V[1, q] - ctl[GX + i])
            else:
                ap, aq = f * U[p] - h * V[0, p] - sf * ctl[GX + i], f * U[q] - h * V[0, q] - sf * ctl[GX + i]
            fe[r, i], fe[r, dim + i] = m6 * (2.0 * ap + aq), m6 * (ap + 2.0 * aq)
            if job == TANGENT:
                for j in range(2 * dim):
                    ke[r, i, j] = 0.0
                    ke[r, dim + i, j] = 0.0
                k = m6 * (sf * (wa + alpha * wv) if one_state else f)
                ke[r, i, i], ke[r, i, dim + i], ke[r, dim + i, i], ke[r, dim + i, dim + i] = 2 * k, k, k, 2 * k


@inner
def add_momentum(fe, r, dim, m, x, v):
    """Add the linear momentum m v and the angular momentum x x m v to the ledger row r."""
    for i in range(dim):
        fe[r, PX + i] += m * v[i]
    fe[r, LZ] += m * (x[0] * v[1] - x[1] * v[0])
    if dim == 3:
        fe[r, LX] += m * (x[1] * v[2] - x[2] * v[1])
        fe[r, LX + 1] += m * (x[2] * v[0] - x[0] * v[2])


@kernel
def linear_report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    ends = 2
    dim = dof.shape[1] // ends
    for e in range(e0, e1):
        r = e - e0
        m6 = par[e, MASS] / 6.0
        for a in range(ends):
            # row a of the mass matrix: momentum m6 (v_a + v_p + v_q) at the position x_a
            xa = Q[1][dof[e, a * dim : (a + 1) * dim]]
            va = V[1][dof[e, a * dim : (a + 1) * dim]]
            s = va + V[1][dof[e, :dim]] + V[1][dof[e, dim:]]
            for i in range(dim):
                fe[r, KINETIC] += 0.5 * m6 * va[i] * s[i]
                fe[r, POTENTIAL] -= 3.0 * m6 * ctl[GX + i] * xa[i]
            add_momentum(fe, r, dim, m6, xa, s)
        if par[e, DAMPING] != 0.0 and ctl[H] > 0.0:
            loss = 0.0
            for i in range(dim):
                p, q = U[dof[e, i]], U[dof[e, dim + i]]
                loss += p * p + p * q + q * q
            fe[r, DISSIPATED] = 2.0 * par[e, DAMPING] * m6 * loss / ctl[H]


@kernel
def report3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    for e in range(e0, e1):
        r = e - e0
        m = par[e, MASS]
        x, v = Q[1][dof[e]], V[1][dof[e]]
        for i in range(3):
            fe[r, KINETIC] += 0.5 * m * v[i] * v[i]
            fe[r, POTENTIAL] -= m * ctl[GX + i] * x[i]
        add_momentum(fe, r, 3, m, x, v)
        if par[e, DAMPING] != 0.0 and ctl[H] > 0.0:
            u = U[dof[e]]
            fe[r, DISSIPATED] = par[e, DAMPING] * m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / ctl[H]


def _linear(name, dimension):
    return ElementType(name, dimension, 2, False, _PAR, force=linear_force, report=linear_report, inertia=True)


_PAR = ("mass [kg]", "damping [1/s]")


TYPES = {
    "mass2": ElementType(
        "mass2", 2, 1, True, ("mass [kg]", "inertia [kg m^2]", "damping [1/s]"), force2, report2, inertia=True
    ),
    "mass3": ElementType("mass3", 3, 1, False, _PAR, force3, report3, inertia=True),
    "linear_mass2": _linear("linear_mass2", 2),
    "linear_mass3": _linear("linear_mass3", 3),
}
