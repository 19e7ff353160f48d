"""Inertia of hexahedra with incompatible modes, the modes condensed: for linear steps.

CalculiX gives the incompatible modes 1 - r_j^2 of its C3D8I masses, M33 over 24 + 9 dofs (u, alpha), integrated at
the 2 x 2 x 2 points.  Condensed with the static response of the modes, alpha = -K_aa^-1 K_au u
(Guyan 1965, doi:10.2514/3.2874), this is

    M = T^T M33 T,   T = [I; -K_aa^-1 K_au],

with which frequencies are exact to first order in w^2 over that of the modes.  All 1 - r_j^2 are 2/3 at the points, so
that alpha enters only by the mean internal motion z = Z u, Z (3, 24) = 2/3 of the sum of the three modes:

    2 T = v_a M_ab v_b + 2 m_a v_a.z + m z.z,   z = Z v,   m_a = sum_b M_ab,   m = sum_a m_a.

The modes are at rest in every linear field (the patch test), so translation, rotation and homogeneous strain have the
masses, centre and inertia of the standard matrix, exactly.  But Z depends on directions of the body and does not rotate
with it.  So angular momentum is not conserved through large rotations, and transients with large displacements refuse
this mass.

Modes of a model (`fem_mbs.analysis.linear.modes.inside`) need not condense.  With zeta, the mean motion relative to
Z u, T has the additional terms (m_a v_a + m Z v).zeta' + m zeta'.zeta'/2, and the strain energy zeta.K_z zeta/2, with
K_z = (4/9 P K_aa^-1 P^T)^-1, P alpha the sum of the three modes.  The six other combinations have no mass and are
condensed exactly.  This is the problem of CalculiX over 33 dofs per element.

Weight acts on the nodes by m_a (so does CalculiX's).  Damping as in `fem_mbs.elements.solids.mass`.
Type: ``solid_condensed_hexahedron``.  Dofs: displacements of the nodes.
"""

from __future__ import annotations

import numpy as np
from numba import float64

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
    declare,
    inner,
    kernel,
)
from fem_mbs.elements.masses.lumped import add_momentum
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.solids import space as solid
from fem_mbs.elements.solids.mass import ALPHA, FIRST, mass_parameters, masses_of
from fem_mbs.elements.solids.strains import add_product, forward, inverse3, strain_matrix

__all__ = ["INSIDE", "SPRING", "TYPES", "condensed_parameters", "inside"]

_N = 8
#: First column of Z, first column of K_z.
INSIDE = FIRST + _N * (_N + 1) // 2
SPRING = INSIDE + 9 * _N
_KIND = list(solid.KINDS).index("solid_hexahedron_incompatible")
_POINTS = 8
_SHARE = 2.0 / 3.0  # of a mode 1 - r^2 at the integration points, r^2 = 1/3


@inner
def _unpack(p, M, m):
    """Fill M (8, 8) with the masses and m (8,) with their row sums."""
    k = FIRST
    m[:] = 0.0
    for a in range(_N):
        for b in range(a, _N):
            M[a, b] = p[k]
            M[b, a] = p[k]
            m[a] += p[k]
            if b != a:
                m[b] += p[k]
            k += 1


@inner
def _product(p, M, m, y, z, out):
    """Write the mass times y (24,) to out (24,), and Z y to z (3,)."""
    total = 0.0
    for i in range(3):
        z[i] = 0.0
    for k in range(3 * _N):
        for i in range(3):
            z[i] += p[INSIDE + 3 * _N * i + k] * y[k]
    c0, c1, c2 = 0.0, 0.0, 0.0
    for a in range(_N):
        total += m[a]
        c0 += m[a] * y[3 * a]
        c1 += m[a] * y[3 * a + 1]
        c2 += m[a] * y[3 * a + 2]
    c0 += total * z[0]
    c1 += total * z[1]
    c2 += total * z[2]
    for a in range(_N):
        for i in range(3):
            s = m[a] * z[i]
            for b in range(_N):
                s += M[a, b] * y[3 * b + i]
            k = INSIDE + 3 * a + i
            out[3 * a + i] = s + p[k] * c0 + p[k + 3 * _N] * c1 + p[k + 6 * _N] * c2


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, wa, wv = ctl[H], ctl[SF], ctl[WA], ctl[WV]
    one_state = ctl[RULE] == ONE_STATE
    M, m, y, z = scratch(_N, _N), scratch(_N), np.empty(3 * _N), scratch(3)
    for e in range(e0, e1):
        p, f, alpha = par[e], fe[e - e0], par[e, ALPHA]
        _unpack(p, M, m)
        factor = 1.0 + 0.5 * alpha * h
        for j in range(3 * _N):
            k = dof[e, j]
            y[j] = sf * (V[2, k] + alpha * V[1, k]) if one_state else factor * U[k] - h * V[0, k]
        _product(p, M, m, y, z, f)
        for a in range(_N):
            for i in range(3):
                f[3 * a + i] -= sf * m[a] * ctl[GX + i]
        if job == TANGENT:
            K = ke[e - e0]
            c = sf * (wa + alpha * wv) if one_state else factor
            total = m.sum()
            for a in range(_N):
                for i in range(3):
                    row = K[3 * a + i]
                    for j in range(3 * _N):
                        s = m[a] * p[INSIDE + 3 * _N * i + j] + m[j // 3] * p[INSIDE + 3 * _N * (j % 3) + 3 * a + i]
                        for k in range(3):
                            at = INSIDE + 3 * _N * k
                            s += total * p[at + 3 * a + i] * p[at + j]
                        row[j] = c * s
                    for b in range(_N):
                        row[3 * b + i] += c * M[a, b]


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER:
        return
    M, m, v, u, x = scratch(_N, _N), scratch(_N), np.empty(3 * _N), np.empty(3 * _N), scratch(3)
    s, loss, z = np.empty(3 * _N), np.empty(3 * _N), scratch(3)
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        _unpack(p, M, m)
        for j in range(3 * _N):
            v[j], u[j] = V[1, dof[e, j]], U[dof[e, j]]
        _product(p, M, m, v, z, s)
        for a in range(_N):
            for i in range(3):
                x[i] = Q[1, dof[e, 3 * a + i]]
                f[KINETIC] += 0.5 * v[3 * a + i] * s[3 * a + i]
                f[POTENTIAL] -= m[a] * ctl[GX + i] * x[i]
            add_momentum(f.reshape(1, f.shape[0]), 0, 3, 1.0, x, s[3 * a : 3 * a + 3])
        if p[ALPHA] != 0.0 and ctl[H] > 0.0:
            _product(p, M, m, u, z, loss)
            for j in range(3 * _N):
                f[DISSIPATED] += p[ALPHA] * loss[j] * u[j] / ctl[H]


@kernel
def _condense(par, Z, K):
    """Fill Z (e, 3, 24) with the summed static response of the modes to displacements, and K with K_z (e, 3, 3)."""
    n = 3 * _N + 3
    g, w, gm = scratch(_POINTS, 3, _N), scratch(_POINTS), scratch(_POINTS, 3, 3)
    J, Ji, C, identity = scratch(3, 3), scratch(3, 3), scratch(6, 6), np.eye(3)
    BG, CG, L = scratch(_POINTS, 6, 9), scratch(_POINTS, 6, 9), scratch(9, 9)
    B, F, R = np.empty((6, n - 3)), scratch(3, 3), np.empty((9, n))
    for e in range(par.shape[0]):
        solid._geometry(_KIND, par[e], _N, g, w, gm, J, Ji)
        solid._elasticity(par[e], C)
        solid._enhance(gm, w, C, identity, BG, CG, L, _POINTS)
        R[:] = 0.0
        for q in range(_POINTS):
            strain_matrix(identity, g[q], _N, B)
            add_product(CG[q], B, R[:, : n - 3])
        for i in range(3):
            R[i, n - 3 + i] = R[3 + i, n - 3 + i] = R[6 + i, n - 3 + i] = 1.0
        forward(L, R)
        for j in range(8, -1, -1):
            for k in range(j + 1, 9):
                for c in range(n):
                    R[j, c] -= L[k, j] * R[k, c]
            for c in range(n):
                R[j, c] /= L[j, j]
        for i in range(3):
            for c in range(n):
                s = _SHARE * (R[i, c] + R[3 + i, c] + R[6 + i, c])
                if c < n - 3:
                    Z[e, i, c] = -s
                else:
                    F[i, c - n + 3] = _SHARE * s
        inverse3(F, K[e])


declare(_condense, (float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1]))


def condensed_parameters(stiffness: np.ndarray, density, damping=0.0) -> np.ndarray:
    """Return parameter rows (e, n_par).

    Args:
        stiffness: parameter rows of ``solid_hexahedron_incompatible`` by `fem_mbs.elements.solids.space.parameters`.
        density: [kg/m^3], a number or (e,).
        damping: alpha [1/s], proportional to the mass.
    """
    stiffness = np.ascontiguousarray(stiffness, float)
    X = stiffness[:, solid.NODES : solid.NODES + 3 * _N].reshape(-1, _N, 3)
    par = np.empty((len(X), SPRING + 6))
    par[:, :INSIDE] = mass_parameters("hexahedron", X, density, damping)
    Z, K = np.empty((len(X), 3, 3 * _N)), np.empty((len(X), 3, 3))
    _condense(stiffness, Z, K)
    par[:, INSIDE:SPRING] = Z.reshape(len(X), -1)
    par[:, SPRING:] = K[:, *np.triu_indices(3)]
    return par


def inside(par: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stiffness (e, 3, 3), mass (e, 3, 3) and the masses that couple with the nodes (e, 3, 24), of the
    unknowns zeta."""
    K = np.empty((len(par), 3, 3))
    rows, columns = np.triu_indices(3)
    K[:, rows, columns] = K[:, columns, rows] = par[:, SPRING:]
    M = masses_of(par[:, :INSIDE], _N)
    total = M.sum(axis=(1, 2))[:, None, None]
    C = total * par[:, INSIDE:SPRING].reshape(-1, 3, 3 * _N)
    C += np.einsum("ea,ij->eiaj", M.sum(axis=2), np.eye(3)).reshape(C.shape)
    return K, total * np.eye(3), C


_PAR = (
    "mass [kg]",
    "damping [1/s]",
    *[f"m{a}_{b} [kg]" for a in range(1, _N + 1) for b in range(a, _N + 1)],
    *[f"z{i}_{a}{j} [-]" for i in "xyz" for a in range(1, _N + 1) for j in "xyz"],
    *[f"k{c} [N/m]" for c in ("xx", "xy", "xz", "yy", "yz", "zz")],
)

TYPES = {
    "solid_condensed_hexahedron": ElementType(
        "solid_condensed_hexahedron", 3, _N, False, _PAR, force=force, report=report, inertia=True, inside=inside
    )
}
