"""Shell elements `shell_triangle6` and `shell_quad8`: curved, 6 dofs per node, linear in their tied strains.

    V = (p - p0 - f pT).S (p - p0 - f pT)/2 + s0.(p - p0)

with the tied strains p of `fem_mbs.elements.shells.tying` and a constant matrix S (`quadratic_stiffness` beside it),
which holds material, layers, thickness and geometry.  Strains are sampled as (p_0 + p_1)/2, vectors at their means: p
is quadratic in positions and directors, so that energy and both momenta are kept at every step size (docs/theory.md,
section 1).  Temperatures f pT and damping beta S dp/dt as in `shell` beside it.

With the vectors w_i of the nodes (places and directions) sum sigma_k p_k is a form sum H_ij w_i.w_j/2, which gives
forces H_ij w_j on the vectors and the geometric stiffness.

Dofs: (x, theta) of every node.  Outputs: membrane forces N [N/m], moments M [N] and shear forces Q [N/m] at the middle
in the axes of the element (means over the step), the factor f of the temperatures, then the tied strains p - p0.
"""

from __future__ import annotations

import math

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
    WATCH,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.beams.beam3d_common import add_cross, add_skew, add_turned
from fem_mbs.elements.kinematics import cross, rotate, spin
from fem_mbs.elements.registry import ElementType, Watch
from fem_mbs.elements.shells.common import (
    angle_of_trace,
    prestress_of,
    stresses,
    trace_between,
    turn_columns,
    write_forces,
    write_ledger,
)
from fem_mbs.elements.shells.quadratic_stiffness import QuadraticColumns
from fem_mbs.elements.shells.shell import RESULTANTS, TURN_LIMIT, TURN_WARN
from fem_mbs.elements.shells.tying import CELLS, tying_of
from fem_mbs.elements.solids.strains import heat

__all__ = ["TYPES"]

_CELLS = tuple(CELLS)  # a cell is 0 or 1 in the tables below


def _tables():
    """Return the data of both cells that the kernel reads: sizes, columns, fields, products and their places."""
    ties, columns = [tying_of(cell) for cell in _CELLS], [QuadraticColumns(cell) for cell in _CELLS]
    most = max(len(t.base) for t in ties)
    base, rows = np.zeros((2, most), np.int64), np.zeros((2, most, max(CELLS.values())))
    for i, t in enumerate(ties):
        base[i, : len(t.base)], rows[i, : len(t.base), : t.nodes] = t.base, t.rows
    numbers = [
        (len(t.base), c.strains, c.reference, c.stress, c.stiffness, c.resultants, c.function, c.thermal)
        for t, c in zip(ties, columns, strict=True)
    ]
    blocks = np.cumsum([(0, *c.blocks) for c in columns], axis=1)
    ends = np.cumsum([0, *(len(t.factors) for t in ties)])
    return (
        np.array(numbers), blocks, base, rows, np.concatenate([t.products for t in ties]),
        np.concatenate([t.factors for t in ties]), ends,
    )  # fmt: skip


_NUMBERS, _BLOCKS, _BASE, _ROWS, _PRODUCTS, _FACTORS, _ENDS = _tables()
_FIELDS, _STRAINS, _REFERENCE, _STRESS, _STIFFNESS, _RESULTANTS, _FUNCTION, _THERMAL = range(8)
_DAMPING, _FIRST_VECTOR = 0, 1


@inner
def _place(par, e, n, dof, rot, Q, D, state, W, Z):
    """W (4 n, 3): vectors that turn with the nodes (offsets, normals, drilling vectors) at a state in spatial axes; Z
    (4 n, 3): the same, offsets with the positions."""
    for r in range(4 * n):
        o = _FIRST_VECTOR + 3 * r
        rotate(D, state, rot[e, r % n], par[e, o], par[e, o + 1], par[e, o + 2], W[r])
        for i in range(3):
            Z[r, i] = W[r, i] + Q[state, dof[e, 6 * r + i]] if r < n else W[r, i]


@inner
def _fields(cell, n, Z, F):
    """F (f, 3) = fields of the vectors Z."""
    for f in range(F.shape[0]):
        for i in range(3):
            F[f, i] = 0.0
        for a in range(n):
            w, o = _ROWS[cell, f, a], _BASE[cell, f] + a
            if w != 0.0:
                for i in range(3):
                    F[f, i] += w * Z[o, i]


@inner
def _strains(par, e, cell, F, p):
    """p (m,) = tied strains of the fields F, less those of the reference."""
    first = _NUMBERS[cell, _REFERENCE]
    for k in range(p.shape[0]):
        p[k] = -par[e, first + k]
    for m in range(_ENDS[cell], _ENDS[cell + 1]):
        a, b = F[_PRODUCTS[m, 1]], F[_PRODUCTS[m, 2]]
        p[_PRODUCTS[m, 0]] += _FACTORS[m] * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@inner
def _rates(cell, F, Fd, p):
    """p (m,) = rates of the tied strains from the rates Fd of the fields F."""
    for k in range(p.shape[0]):
        p[k] = 0.0
    for m in range(_ENDS[cell], _ENDS[cell + 1]):
        a, b, c, d = F[_PRODUCTS[m, 1]], F[_PRODUCTS[m, 2]], Fd[_PRODUCTS[m, 1]], Fd[_PRODUCTS[m, 2]]
        rate = a[0] * d[0] + a[1] * d[1] + a[2] * d[2] + c[0] * b[0] + c[1] * b[1] + c[2] * b[2]
        p[_PRODUCTS[m, 0]] += _FACTORS[m] * rate


@inner
def _add_gradients(cell, n, W, F, places, G):
    """G (m, 6 n) += gradients of the tied strains by spins that turn the vectors W, and with ``places`` by positions,
    where the other factors of the products are F."""
    for m in range(_ENDS[cell], _ENDS[cell + 1]):
        g = G[_PRODUCTS[m, 0]]
        for k in range(2):
            f, other = _PRODUCTS[m, 1 + k], F[_PRODUCTS[m, 2 - k]]
            for a in range(n):
                w = _FACTORS[m] * _ROWS[cell, f, a]
                if w == 0.0:
                    continue
                if places and _BASE[cell, f] == 0:
                    for i in range(3):
                        g[6 * a + i] += w * other[i]
                add_cross(W[_BASE[cell, f] + a], other, w, g, 6 * a + 3)


@inner
def _form(cell, n, sigma, form):
    """form (4 n, 4 n) = second derivatives of sum sigma p by the vectors of the nodes (times the unit matrix)."""
    form[:] = 0.0
    for m in range(_ENDS[cell], _ENDS[cell + 1]):
        g, r, q = _FACTORS[m] * sigma[_PRODUCTS[m, 0]], _PRODUCTS[m, 1], _PRODUCTS[m, 2]
        for a in range(n):
            for b in range(n):
                w = g * _ROWS[cell, r, a] * _ROWS[cell, q, b]
                form[_BASE[cell, r] + a, _BASE[cell, q] + b] += w
                form[_BASE[cell, q] + b, _BASE[cell, r] + a] += w


@inner
def _forces(n, form, Z, T):
    """T (4 n, 3) = forces on the vectors: the form times the vectors Z."""
    for r in range(4 * n):
        for i in range(3):
            T[r, i] = 0.0
        for q in range(4 * n):
            w = form[r, q]
            if w != 0.0:
                for i in range(3):
                    T[r, i] += w * Z[q, i]


@inner
def _geometric(n, form, T, Wm, W1, s, K):
    """K (6 n, 6 n) += half the second derivative of sum sigma p by positions and spins.

    Rows take the mean vectors Wm, columns those W1 at the end of the step; T are the forces on the vectors at the mean;
    s (3,) is work.
    """
    for a in range(n):
        o = 6 * a
        for r in range(a, 4 * n, n):
            add_turned(K, o + 3, o + 3, 0.5, W1[r], T[r])
        for b in range(n):
            q = 6 * b
            for i in range(3):
                K[o + i, q + i] += 0.5 * form[a, b]
            # positions of a with the vectors of b that turn, vectors of a that turn with positions of b
            s[0] = s[1] = s[2] = 0.0
            for c in range(b, 4 * n, n):
                for i in range(3):
                    s[i] += form[a, c] * W1[c, i]
            add_skew(K, o, q + 3, -0.5, s)
            s[0] = s[1] = s[2] = 0.0
            for r in range(a, 4 * n, n):
                for i in range(3):
                    s[i] += form[r, b] * Wm[r, i]
            add_skew(K, o + 3, q, 0.5, s)
            for r in range(a, 4 * n, n):
                for c in range(b, 4 * n, n):
                    if form[r, c] != 0.0:
                        add_turned(K, o + 3, q + 3, -0.5 * form[r, c], W1[c], Wm[r])


@inner
def _matrix(par, e, cell, S):
    """S (m, m) of an element."""
    k = _NUMBERS[cell, _STIFFNESS]
    S[:] = 0.0
    for block in range(3):
        for i in range(_BLOCKS[cell, block], _BLOCKS[cell, block + 1]):
            for j in range(i, _BLOCKS[cell, block + 1]):
                S[i, j] = S[j, i] = par[e, k]
                k += 1


@inner
def _material(cell, S, f1, Gm, G1, SG, K):
    """K (6 n, 6 n) = Gm^T f1 S G1; SG (6 n,) is work."""
    K[:] = 0.0
    nl = K.shape[0]
    for block in range(3):
        low, high = _BLOCKS[cell, block], _BLOCKS[cell, block + 1]
        for k in range(low, high):
            for i in range(nl):
                SG[i] = 0.0
            for j in range(low, high):
                s = f1 * S[k, j]
                for i in range(nl):
                    SG[i] += s * G1[j, i]
            for i in range(nl):
                g = Gm[k, i]
                if g != 0.0:
                    for j in range(nl):
                        K[i, j] += g * SG[j]


@inner
def _rate_place(V, D, dof, rot, e, n, W, w, Wd, Zd):
    """Compute the rates Wd and Zd (4 n, 3) at state 1 of the vectors of `_place`, from W; w (3,) is scratch space."""
    for a in range(n):
        spin(V, D, dof, rot, 1, e, a, w)
        for r in range(a, 4 * n, n):
            cross(w, W[r], Wd[r])
            for i in range(3):
                Zd[r, i] = Wd[r, i] + V[1, dof[e, 6 * a + i]] if r < n else Wd[r, i]


@inner
def _force(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, U, fe, ke):
    n = dof.shape[1] // 6
    cell, nl, r = 0 if n == 6 else 1, 6 * n, 4 * n
    m, nf, initial = _NUMBERS[cell, _STRAINS], _NUMBERS[cell, _FIELDS], _NUMBERS[cell, _STRESS]
    function, thermal = _NUMBERS[cell, _FUNCTION], _NUMBERS[cell, _THERMAL]
    sf, sk = ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    W, Z, F = np.empty((2, r, 3)), np.empty((2, r, 3)), np.empty((2, nf, 3))
    Wm, Zm, Fm, T, form = np.empty((r, 3)), np.empty((r, 3)), np.empty((nf, 3)), np.empty((r, 3)), np.empty((r, r))
    p0, p1, v, sigma, s = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(3)
    S, Gm, G1, SG, C = np.empty((m, m)), np.empty((m, nl)), np.empty((m, nl)), np.empty(nl), np.empty((3, 3))
    Wd, Zd, Fd, Gd = np.empty((r, 3)), np.empty((r, 3)), np.empty((nf, 3)), np.empty((m, nl))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, cell, S)
        for state in range(2):
            _place(par, e, n, dof, rot, Q, D, state, W[state], Z[state])
            _fields(cell, n, Z[state], F[state])
        for i in range(r):
            for j in range(3):
                Wm[i, j] = 0.5 * (W[0, i, j] + W[1, i, j])
                Zm[i, j] = 0.5 * (Z[0, i, j] + Z[1, i, j])
        _strains(par, e, cell, F[0], p0)
        _strains(par, e, cell, F[1], p1)
        beta = par[e, _DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / ctl[H]
        f1, f0 = 0.5 + rate, 0.5 - rate
        for k in range(m):
            v[k] = f1 * p1[k] + f0 * p0[k]
        if one_state and beta != 0.0:
            _rate_place(V, D, dof, rot, e, n, W[1], s, Wd, Zd)
            _fields(cell, n, Zd, Fd)
            _rates(cell, F[1], Fd, p0)
            for k in range(m):
                v[k] += beta * p0[k]
            f1 += 0.5 * beta * ctl[WV]
        level = heat(ctl, fun, par[e, function])
        for k in range(m):
            v[k] -= level * par[e, thermal + k]
        stresses(par, e, initial, S, v, sigma)
        _form(cell, n, sigma, form)
        _forces(n, form, Zm, T)
        for i in range(nl):
            f[i] = 0.0
        for i in range(r):
            o = 6 * (i % n)
            add_cross(Wm[i], T[i], sf, f, o + 3)
            if i < n:
                for j in range(3):
                    f[o + j] += sf * T[i, j]
        if job != TANGENT:
            continue
        K = ke[e - e0]
        Gm[:] = 0.0
        G1[:] = 0.0
        _fields(cell, n, Zm, Fm)
        _add_gradients(cell, n, Wm, Fm, True, Gm)
        _add_gradients(cell, n, W[1], F[1], True, G1)
        if one_state and beta != 0.0:
            # a vector that turns by phi more has the rate phi x V' more; SK is twice SF here: half of the derivative
            Gd[:] = 0.0
            _add_gradients(cell, n, W[1], Fd, True, Gd)
            _add_gradients(cell, n, Wd, F[1], False, Gd)
            for k in range(m):
                for i in range(nl):
                    G1[k, i] += 0.5 * beta / f1 * Gd[k, i]
        _material(cell, S, f1, Gm, G1, SG, K)
        _geometric(n, form, T, Wm, W[1], s, K)
        turn_columns(U, dof, e, n, sk, C, K)


@inner
def _look(e0, e1, rot, D, fe):
    """Write the largest relative rotation of two neighbouring nodes of a side."""
    corners = rot.shape[1] // 2
    for e in range(e0, e1):
        least = 3.0
        for k in range(corners):
            middle = rot[e, corners + k]
            least = min(least, trace_between(D, rot[e, k], middle))
            least = min(least, trace_between(D, middle, rot[e, (k + 1) % corners]))
        fe[e - e0, 0] = angle_of_trace(least)


@inner
def _report(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, fe):
    if job == WATCH:
        _look(e0, e1, rot, D, fe)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    n = dof.shape[1] // 6
    cell, r = 0 if n == 6 else 1, 4 * n
    m, nf, initial = _NUMBERS[cell, _STRAINS], _NUMBERS[cell, _FIELDS], _NUMBERS[cell, _STRESS]
    function, thermal = _NUMBERS[cell, _FUNCTION], _NUMBERS[cell, _THERMAL]
    one_state = ctl[RULE] == ONE_STATE
    W, Z, F, s = np.empty((r, 3)), np.empty((r, 3)), np.empty((nf, 3)), np.empty(3)
    Wd, Zd, Fd = np.empty((r, 3)), np.empty((r, 3)), np.empty((nf, 3))
    p0, p1, p, S = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, cell, S)
        _place(par, e, n, dof, rot, Q, D, 0, W, Z)
        _fields(cell, n, Z, F)
        _strains(par, e, cell, F, p0)
        _place(par, e, n, dof, rot, Q, D, 1, W, Z)
        _fields(cell, n, Z, F)
        _strains(par, e, cell, F, p1)
        beta = par[e, _DAMPING] + ctl[DECAY]
        if job == LEDGER:
            write_ledger(par, e, initial, function, thermal, fun, S, p0, p1, beta, ctl[H], f)
            continue
        level = heat(ctl, fun, par[e, function])
        for k in range(m):
            p[k] = p1[k] if one_state else 0.5 * (p0[k] + p1[k])
        if job == OUTPUT:
            f[8] = level
            for k in range(m):
                f[9 + k] = p[k]
        for k in range(m):
            p[k] -= level * par[e, thermal + k]
        if job == STRESSES:
            stresses(par, e, initial, S, p, f)
            continue
        if beta != 0.0 and one_state:
            _rate_place(V, D, dof, rot, e, n, W, s, Wd, Zd)
            _fields(cell, n, Zd, Fd)
            _rates(cell, F, Fd, p0)
            for k in range(m):
                p[k] += beta * p0[k]
        elif beta != 0.0 and ctl[H] > 0.0:
            for k in range(m):
                p[k] += beta / ctl[H] * (p1[k] - p0[k])
        write_forces(par, e, _NUMBERS[cell, _RESULTANTS], 8, p, f)


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    _force(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, U, fe, ke)


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    _report(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, fe)


_WATCH = Watch(
    0.5 * TURN_WARN, 0.5 * TURN_LIMIT, "rotation between two neighbouring nodes of a side",
    f"a shell element bends by less than half a turn (pi = {math.pi:.3g} rad): take more elements",
    kind="Shell",
)  # fmt: skip


_PRESTRESS = prestress_of([QuadraticColumns(cell) for cell in _CELLS])


def _type(cell):
    c = QuadraticColumns(cell)
    outputs = (*RESULTANTS, "level [-]", *(f"p{i}" for i in range(1, c.strains + 1)))
    return ElementType(
        f"shell_{cell}", 3, c.nodes, True, c.names(), force, report, outputs=outputs, stresses=c.strains,
        prestress=_PRESTRESS, watches=(_WATCH,),
    )  # fmt: skip


TYPES = {f"shell_{cell}": _type(cell) for cell in _CELLS}
