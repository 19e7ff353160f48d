"""Membranes `membrane_triangle` and `membrane_quad`: shells without bending, nodes have positions alone.

    V = (p - p0 - f pT).S (p - p0 - f pT)/2 + s0.(p - p0),    p = l.l/2 of every side and diagonal with the chord l

p is Green's strain of a line times the square of its length.  A triangle is the St. Venant-Kirchhoff element of
constant strain; a quadrilateral has the membrane stresses of shells, without rotations about the normal
(`fem_mbs.elements.shells.stiffness`).  Strains are sampled as (p_0 + p_1)/2, chords at the mean positions: since p is
quadratic in the positions that is an exact difference quotient, so energy and both momenta are kept at every step size
(docs/theory.md, section 1).  Temperatures and damping as in shells (`shell` beside it).

Dofs: positions of the nodes.  Outputs: membrane forces N [N/m] at the middle in the axes of the element (means over the
step), the factor f of the temperatures, then the natural strains p - p0.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    DECAY,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRESSES,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.registry import ElementType
from fem_mbs.elements.shells.common import prestress_of, stresses, write_forces, write_ledger
from fem_mbs.elements.shells.natural import CELLS, LINES
from fem_mbs.elements.solids.strains import heat

__all__ = ["FORCES", "TYPES", "MembraneColumns", "membrane_rows"]

FORCES = ("N11 [N/m]", "N22 [N/m]", "N12 [N/m]")
_ENDS = np.array([(*LINES[3], *[(0, 0)] * 3), LINES[4]])  # nodes of the lines of triangles and quadrilaterals
_DAMPING, _REFERENCE = 0, 1


class MembraneColumns:
    """Columns of the parameter table of an element of ``n`` nodes; ``strains`` is the number of natural strains."""

    def __init__(self, n: int) -> None:
        k = self.strains = len(LINES[n])
        self.damping, self.reference = _DAMPING, _REFERENCE
        self.stress = self.reference + k
        self.stiffness = self.stress + k
        self.resultants = self.stiffness + k * (k + 1) // 2
        self.function = self.resultants + 3 * k
        self.thermal = self.function + 1
        self.count = self.thermal + k

    def names(self) -> tuple[str, ...]:
        """Return the names of the columns, units in square brackets."""
        s = range(1, self.strains + 1)
        return (
            "damping [s]",
            *(f"p{i} [m^2]" for i in s),
            *(f"s{i} [N/m]" for i in s),
            *(f"S{i}_{j} [N/m^3]" for i in s for j in s if j >= i),
            *(f"R{i}_{j} [N/m^3]" for i in range(1, 4) for j in s),
            "function",
            *(f"T{i} [m^2]" for i in s),
        )


def membrane_rows(X, stiffness, resultants, damping=0.0) -> np.ndarray:
    """Return parameter rows (e, n_par) of membranes with nodes at X (e, n, 3) [m].

    Args:
        stiffness: (e, k, k) matrix over the natural strains.
        resultants: (e, 3, k) membrane forces at the middle, by the natural strains.
        damping: ratio beta [s] of damping to stiffness.
    """
    lines, c = np.array(LINES[X.shape[1]]), MembraneColumns(X.shape[1])
    chord = X[:, lines[:, 1]] - X[:, lines[:, 0]]
    par = np.zeros((len(X), c.count))
    par[:, c.damping] = damping
    par[:, c.reference : c.stress] = 0.5 * (chord**2).sum(axis=2)
    rows, columns = np.triu_indices(c.strains)
    par[:, c.stiffness : c.resultants] = stiffness[:, rows, columns]
    par[:, c.resultants : c.function] = resultants.reshape(len(X), -1)
    par[:, c.function] = -1.0
    return par


@inner
def _lines(n):
    return 3 if n == 3 else 6


@inner
def _chords(Q, row, dof, e, n, L):
    """L (k, 3) = chords of the lines in a row of Q (positions or velocities)."""
    for k in range(L.shape[0]):
        a, b = 3 * _ENDS[n - 3, k, 0], 3 * _ENDS[n - 3, k, 1]
        for i in range(3):
            L[k, i] = Q[row, dof[e, b + i]] - Q[row, dof[e, a + i]]


@inner
def _strain(par, e, L, p):
    """p (k,) = natural strains of the chords L, less those of the reference."""
    for k in range(p.shape[0]):
        p[k] = 0.5 * (L[k, 0] ** 2 + L[k, 1] ** 2 + L[k, 2] ** 2) - par[e, _REFERENCE + k]


@inner
def _matrix(par, e, S):
    at = _REFERENCE + 2 * S.shape[0]
    for i in range(S.shape[0]):
        for j in range(i, S.shape[0]):
            S[i, j] = S[j, i] = par[e, at]
            at += 1


@inner
def _columns(m):
    """Columns of the stress, resultants, function and thermal strains of an element of m lines."""
    resultants = _REFERENCE + 2 * m + m * (m + 1) // 2
    return _REFERENCE + m, resultants, resultants + 3 * m, resultants + 3 * m + 1


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    n = dof.shape[1] // 3
    m = _lines(n)
    stress, _, function, thermal = _columns(m)
    sf, sk, one_state = ctl[SF], ctl[SK], ctl[RULE] == ONE_STATE
    L0, L1, Lm, Lv = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    p0, p1, v, S = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, S)
        _chords(Q, 0, dof, e, n, L0)
        _chords(Q, 1, dof, e, n, L1)
        _strain(par, e, L0, p0)
        _strain(par, e, L1, p1)
        beta = par[e, _DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / ctl[H]
        f1, f0 = 0.5 + rate, 0.5 - rate
        level = heat(ctl, fun, par[e, function])
        for k in range(m):
            v[k] = f1 * p1[k] + f0 * p0[k] - level * par[e, thermal + k]
            for i in range(3):
                Lm[k, i] = 0.5 * (L0[k, i] + L1[k, i])
                Lv[k, i] = L1[k, i]
        if one_state and beta != 0.0:
            _chords(V, 1, dof, e, n, Lv)
            f1 += 0.5 * beta * ctl[WV]
            for k in range(m):
                for i in range(3):
                    v[k] += beta * L1[k, i] * Lv[k, i]
                    # SK is twice SF here: half of the derivative of the rate
                    Lv[k, i] = L1[k, i] + 0.5 * beta / f1 * Lv[k, i]
        for i in range(f.shape[0]):
            f[i] = 0.0
        if job == TANGENT:
            ke[e - e0] = 0.0
        for k in range(m):
            sigma = par[e, stress + k]
            for j in range(m):
                sigma += S[k, j] * v[j]
            a, b = 3 * _ENDS[n - 3, k, 0], 3 * _ENDS[n - 3, k, 1]
            for i in range(3):
                f[a + i] -= sf * sigma * Lm[k, i]
                f[b + i] += sf * sigma * Lm[k, i]
            if job == TANGENT:
                K = ke[e - e0]
                for i in range(3):
                    g = 0.5 * sk * sigma
                    K[a + i, a + i] += g
                    K[b + i, b + i] += g
                    K[a + i, b + i] -= g
                    K[b + i, a + i] -= g
                    for j in range(m):
                        c, d = 3 * _ENDS[n - 3, j, 0], 3 * _ENDS[n - 3, j, 1]
                        for q in range(3):
                            g = sk * f1 * S[k, j] * Lm[k, i] * Lv[j, q]
                            K[a + i, c + q] += g
                            K[b + i, d + q] += g
                            K[a + i, d + q] -= g
                            K[b + i, c + q] -= g


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    n = dof.shape[1] // 3
    m = _lines(n)
    stress, resultants, function, thermal = _columns(m)
    one_state = ctl[RULE] == ONE_STATE
    L, Lv = np.empty((m, 3)), np.empty((m, 3))
    p0, p1, p, S = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, S)
        _chords(Q, 0, dof, e, n, L)
        _strain(par, e, L, p0)
        _chords(Q, 1, dof, e, n, L)
        _strain(par, e, L, p1)
        beta = par[e, _DAMPING] + ctl[DECAY]
        if job == LEDGER:
            write_ledger(par, e, stress, function, thermal, fun, S, p0, p1, beta, ctl[H], f)
            continue
        level = heat(ctl, fun, par[e, function])
        for k in range(m):
            p[k] = p1[k] if one_state else 0.5 * (p0[k] + p1[k])
        if job == OUTPUT:
            f[3] = level
            for k in range(m):
                f[4 + k] = p[k]
        for k in range(m):
            p[k] -= level * par[e, thermal + k]
        if job == STRESSES:
            stresses(par, e, stress, S, p, f)
            continue
        if beta != 0.0 and one_state:
            _chords(V, 1, dof, e, n, Lv)
            for k in range(m):
                for i in range(3):
                    p[k] += beta * L[k, i] * Lv[k, i]
        elif beta != 0.0 and ctl[H] > 0.0:
            for k in range(m):
                p[k] += beta / ctl[H] * (p1[k] - p0[k])
        write_forces(par, e, resultants, 3, p, f)


_PRESTRESS = prestress_of([MembraneColumns(n) for n in CELLS.values()])


def _type(cell):
    c = MembraneColumns(CELLS[cell])
    outputs = (*FORCES, "level [-]", *(f"p{i} [m^2]" for i in range(1, c.strains + 1)))
    return ElementType(
        f"membrane_{cell}", 3, CELLS[cell], False, c.names(), force, report, outputs=outputs, stresses=c.strains,
        prestress=_PRESTRESS,
    )  # fmt: skip


TYPES = {f"membrane_{cell}": _type(cell) for cell in CELLS}
