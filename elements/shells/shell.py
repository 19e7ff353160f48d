"""Shell elements `shell_triangle` and `shell_quad`: 6 dofs per node, linear in their natural strains.

    V = (p - p0 - f pT).S (p - p0 - f pT)/2 + s0.(p - p0)

with the natural strains p of `fem_mbs.elements.shells.natural` and a constant matrix S (`stiffness` beside it), which
holds material, layers, thickness and what keeps the element free of locking.  pT are the strains that temperatures give
to the free element, f their function of time; its factor over a step is the mean of both ends, and the work
-sigma_m.pT df of heating is booked as that of a load.  Strains are sampled as (p_0 + p_1)/2 and
their gradient at the mean vectors, f = sum sigma_k dp_k|_m: since p is quadratic in positions and directors that is an
exact difference quotient, so energy and both momenta are kept at every step size (docs/theory.md, section 1).  Damping
adds beta S dp/dt.

Elements are flat or twisted, and the layers of a section equally long: curved shells converge to thin ones, which miss
up to h/(sqrt(12) R) of the strain energy per direction of curvature (1.2 % at h/R = 0.04, 2.9 % at 0.1).  Those of 6
and 8 nodes hold these terms.

Dofs: (x, theta) of every node.  Outputs: membrane forces N [N/m], moments M [N] and shear forces Q [N/m] at the middle
in the axes of the element (means over the step), the factor f of the temperatures, then the natural strains p - p0.
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
from fem_mbs.elements.shells.natural import CELLS, Columns, Terms, lines_of
from fem_mbs.elements.solids.strains import heat

__all__ = ["RESULTANTS", "TYPES"]

RESULTANTS = ("N11 [N/m]", "N22 [N/m]", "N12 [N/m]", "M11 [N]", "M22 [N]", "M12 [N]", "Q1 [N/m]", "Q2 [N/m]")

#: relative rotation of the ends of a side [rad] beyond which its bending strain is no rotation any more
TURN_WARN, TURN_LIMIT = 1.5, 2.5


def _tables():
    """All terms of both cells one after another, where they begin and end, and the columns of each cell."""
    terms = [Terms(n) for n in (3, 4)]
    ends = np.cumsum([0, *(len(t.strain) for t in terms)])
    columns = []
    for n in (3, 4):
        c = Columns(n)
        columns.append((c.vectors, c.strains, c.reference, c.stress, c.stiffness, c.resultants, c.function, c.thermal))
    names = ("strain", "factor", "column", "place", "node", "row", "sign")
    owner = [np.full(Columns(n).vectors, -1) for n in (3, 4)]
    for n, t, own in zip((3, 4), terms, owner, strict=True):
        own[t.row[t.sign != 0.0]] = t.node[t.sign != 0.0]
        assert len(lines_of(n)) == Columns(n).lines
    widest = max(len(own) for own in owner)
    owner = np.array([np.pad(own, (0, widest - len(own))) for own in owner])
    return *(np.concatenate([getattr(t, name) for t in terms]) for name in names), ends, np.array(columns), owner


_TERM_STRAIN, _FACTOR, _COLUMN, _PLACE, _NODE, _ROW, _SIGN, _ENDS, _COLUMNS, _OWNER = _tables()
_VECTORS, _STRAINS, _REFERENCE, _STRESS, _STIFFNESS, _RESULTANTS, _FUNCTION, _THERMAL = range(8)
_DAMPING, _FIRST_VECTOR = 0, 1


@inner
def _place(par, e, n, dof, rot, Q, D, state, W, x):
    """Vectors W (r, 3) of the nodes and their positions x (n, 3) at a state, spatial axes."""
    for r in range(W.shape[0]):
        o = _FIRST_VECTOR + 3 * r
        rotate(D, state, rot[e, _OWNER[n - 3, r]], par[e, o], par[e, o + 1], par[e, o + 2], W[r])
    for a in range(n):
        for i in range(3):
            x[a, i] = Q[state, dof[e, 6 * a + i]]


@inner
def _factor(m, k, W, x, out):
    """out (3,) = factor k of term m."""
    for i in range(3):
        out[i] = 0.0
    for part in range(2):
        s = _SIGN[m, k, part]
        for i in range(3):
            out[i] += s * W[_ROW[m, k, part], i]
        if _PLACE[m, k] == 1:
            for i in range(3):
                out[i] += s * x[_NODE[m, k, part], i]


@inner
def _weight(par, e, m):
    return _FACTOR[m] * par[e, _COLUMN[m]] if _COLUMN[m] >= 0 else _FACTOR[m]


@inner
def _strains(par, e, n, W, x, A, B, p):
    """p (m,) = natural strains at a state, less those of the reference; A, B (3,) are work."""
    first = _COLUMNS[n - 3, _REFERENCE]
    for k in range(p.shape[0]):
        p[k] = -par[e, first + k]
    for m in range(_ENDS[n - 3], _ENDS[n - 2]):
        _factor(m, 0, W, x, A)
        _factor(m, 1, W, x, B)
        p[_TERM_STRAIN[m]] += _weight(par, e, m) * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2])


@inner
def _gradients(par, e, n, W, x, A, B, G):
    """G (m, 6 n) = gradients of the natural strains by places and spins of the nodes."""
    G[:] = 0.0
    for m in range(_ENDS[n - 3], _ENDS[n - 2]):
        _factor(m, 0, W, x, A)
        _factor(m, 1, W, x, B)
        w, g = _weight(par, e, m), G[_TERM_STRAIN[m]]
        for k in range(2):
            other = B if k == 0 else A
            for part in range(2):
                s, o = w * _SIGN[m, k, part], 6 * _NODE[m, k, part]
                if _PLACE[m, k] == 1:
                    for i in range(3):
                        g[o + i] += s * other[i]
                add_cross(W[_ROW[m, k, part]], other, s, g, o + 3)


@inner
def _couple(m, k, part, other, g, Wm, W1, K):
    """K += g times the second derivative of a product by a part of factor k and a part of the other factor.

    Rows take the mean vectors, columns those at the end of the step.
    """
    c = 1 - k
    r, q = 6 * _NODE[m, k, part], 6 * _NODE[m, c, other]
    v, w = Wm[_ROW[m, k, part]], W1[_ROW[m, c, other]]
    if _PLACE[m, k] == 1:
        if _PLACE[m, c] == 1:
            for i in range(3):
                K[r + i, q + i] += g
        add_skew(K, r, q + 3, -g, w)
    if _PLACE[m, c] == 1:
        add_skew(K, r + 3, q, g, v)
    add_turned(K, r + 3, q + 3, -g, w, v)


@inner
def _geometric(par, e, n, sigma, Wm, xm, W1, A, B, K):
    """K (6 n, 6 n) += half the second derivative of sum sigma p, by places and spins."""
    for m in range(_ENDS[n - 3], _ENDS[n - 2]):
        g = 0.5 * _weight(par, e, m) * sigma[_TERM_STRAIN[m]]
        _factor(m, 0, Wm, xm, A)
        _factor(m, 1, Wm, xm, B)
        for k in range(2):
            force = B if k == 0 else A
            for part in range(2):
                s = g * _SIGN[m, k, part]
                if s == 0.0:
                    continue
                o = 6 * _NODE[m, k, part] + 3
                add_turned(K, o, o, s, W1[_ROW[m, k, part]], force)
                for other in range(2):
                    t = s * _SIGN[m, 1 - k, other]
                    if t != 0.0:
                        _couple(m, k, part, other, t, Wm, W1, K)


@inner
def _matrix(par, e, first, S):
    """S (m, m) of an element."""
    k = first
    for i in range(S.shape[0]):
        for j in range(i, S.shape[0]):
            S[i, j] = S[j, i] = par[e, k]
            k += 1


@inner
def _rate_place(V, D, dof, rot, e, n, W, w, Wd, xd):
    """Rates Wd (r, 3) of the vectors W and velocities xd (n, 3) of the nodes at state 1; w (3,) is work."""
    for a in range(n):
        spin(V, D, dof, rot, 1, e, a, w)
        for r in range(W.shape[0]):
            if _OWNER[n - 3, r] == a:
                cross(w, W[r], Wd[r])
        for i in range(3):
            xd[a, i] = V[1, dof[e, 6 * a + i]]


@inner
def _rates(par, e, n, W, x, Wd, xd, work, p):
    """p (m,) = rates of the natural strains from the rates of the vectors; work (4, 3)."""
    A, B, a, b = work[0], work[1], work[2], work[3]
    for k in range(p.shape[0]):
        p[k] = 0.0
    for m in range(_ENDS[n - 3], _ENDS[n - 2]):
        _factor(m, 0, W, x, A)
        _factor(m, 1, W, x, B)
        _factor(m, 0, Wd, xd, a)
        _factor(m, 1, Wd, xd, b)
        rate = A[0] * b[0] + A[1] * b[1] + A[2] * b[2] + a[0] * B[0] + a[1] * B[1] + a[2] * B[2]
        p[_TERM_STRAIN[m]] += _weight(par, e, m) * rate


@inner
def _rate_gradients(par, e, n, W, x, Wd, xd, work, G):
    """G (m, 6 n) = gradients of the rates by places and spins, with velocities that turn with their node; work (4, 3).

    A vector V of a node that turns by phi more has the rate phi x V' more.
    """
    A, B, a, b = work[0], work[1], work[2], work[3]
    G[:] = 0.0
    for m in range(_ENDS[n - 3], _ENDS[n - 2]):
        _factor(m, 0, W, x, A)
        _factor(m, 1, W, x, B)
        _factor(m, 0, Wd, xd, a)
        _factor(m, 1, Wd, xd, b)
        w, g = _weight(par, e, m), G[_TERM_STRAIN[m]]
        for k in range(2):
            other, rate = (B, b) if k == 0 else (A, a)
            for part in range(2):
                s, o, r = w * _SIGN[m, k, part], 6 * _NODE[m, k, part], _ROW[m, k, part]
                if _PLACE[m, k] == 1:
                    for i in range(3):
                        g[o + i] += s * rate[i]
                add_cross(W[r], rate, s, g, o + 3)
                add_cross(Wd[r], other, s, g, o + 3)


@inner
def _force(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, U, fe, ke):
    n = dof.shape[1] // 6
    nl, first = 6 * n, _COLUMNS[n - 3]
    m = first[_STRAINS]
    sf, sk = ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    W, x = np.empty((2, first[_VECTORS], 3)), np.empty((2, n, 3))
    Wm, xm = np.empty((first[_VECTORS], 3)), np.empty((n, 3))
    A, B, p0, p1, v, sigma = np.empty(3), np.empty(3), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    S, Gm, G1, SG, T = np.empty((m, m)), np.empty((m, nl)), np.empty((m, nl)), np.empty(nl), np.empty((3, 3))
    Wd, xd, work, Gd = np.empty((first[_VECTORS], 3)), np.empty((n, 3)), np.empty((4, 3)), np.empty((m, nl))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, first[_STIFFNESS], S)
        _place(par, e, n, dof, rot, Q, D, 0, W[0], x[0])
        _place(par, e, n, dof, rot, Q, D, 1, W[1], x[1])
        for r in range(Wm.shape[0]):
            for i in range(3):
                Wm[r, i] = 0.5 * (W[0, r, i] + W[1, r, i])
        for a in range(n):
            for i in range(3):
                xm[a, i] = 0.5 * (x[0, a, i] + x[1, a, i])
        _strains(par, e, n, W[0], x[0], A, B, p0)
        _strains(par, e, n, W[1], x[1], A, B, p1)
        _gradients(par, e, n, Wm, xm, A, B, Gm)
        beta = par[e, _DAMPING] + ctl[DECAY]
        rate = 0.0 if one_state else beta / ctl[H]
        f1, f0 = 0.5 + rate, 0.5 - rate
        for k in range(m):
            v[k] = f1 * p1[k] + f0 * p0[k]
        if one_state and beta != 0.0:
            _rate_place(V, D, dof, rot, e, n, W[1], A, Wd, xd)
            _rates(par, e, n, W[1], x[1], Wd, xd, work, p0)
            for k in range(m):
                v[k] += beta * p0[k]
            f1 += 0.5 * beta * ctl[WV]
        level = heat(ctl, fun, par[e, first[_FUNCTION]])
        for k in range(m):
            v[k] -= level * par[e, first[_THERMAL] + k]
        stresses(par, e, first[_STRESS], S, v, sigma)
        for i in range(nl):
            f[i] = 0.0
        for k in range(m):
            for i in range(nl):
                f[i] += sf * sigma[k] * Gm[k, i]
        if job != TANGENT:
            continue
        K = ke[e - e0]
        K[:] = 0.0
        _gradients(par, e, n, W[1], x[1], A, B, G1)
        if one_state and beta != 0.0:
            # SK is twice SF here: half of the derivative of the rate
            _rate_gradients(par, e, n, W[1], x[1], Wd, xd, work, Gd)
            for k in range(m):
                for i in range(nl):
                    G1[k, i] += 0.5 * beta / f1 * Gd[k, i]
        for k in range(m):
            for i in range(nl):
                SG[i] = 0.0
            for j in range(m):
                s = f1 * S[k, j]
                for i in range(nl):
                    SG[i] += s * G1[j, i]
            for i in range(nl):
                g = Gm[k, i]
                if g != 0.0:
                    for j in range(nl):
                        K[i, j] += g * SG[j]
        _geometric(par, e, n, sigma, Wm, xm, W[1], A, B, K)
        turn_columns(U, dof, e, n, sk, T, K)


@inner
def _look(e0, e1, rot, D, fe):
    """Write the largest relative rotation of the ends of a side, in radians and in degrees."""
    n = rot.shape[1]
    for e in range(e0, e1):
        least = 3.0
        for k in range(n):
            least = min(least, trace_between(D, rot[e, k], rot[e, (k + 1) % n]))
        fe[e - e0, 0] = angle_of_trace(least)
        fe[e - e0, 1] = fe[e - e0, 0] * (180.0 / math.pi)


@inner
def _report(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, fe):
    if job == WATCH:
        _look(e0, e1, rot, D, fe)
    if job != LEDGER and job != OUTPUT and job != STRESSES:
        return
    n = dof.shape[1] // 6
    first = _COLUMNS[n - 3]
    m, at = first[_STRAINS], first[_RESULTANTS]
    one_state = ctl[RULE] == ONE_STATE
    W, x, A, B = np.empty((first[_VECTORS], 3)), np.empty((n, 3)), np.empty(3), np.empty(3)
    p0, p1, p, S = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
    Wd, xd, work = np.empty((first[_VECTORS], 3)), np.empty((n, 3)), np.empty((4, 3))
    for e in range(e0, e1):
        f = fe[e - e0]
        _matrix(par, e, first[_STIFFNESS], S)
        _place(par, e, n, dof, rot, Q, D, 0, W, x)
        _strains(par, e, n, W, x, A, B, p0)
        _place(par, e, n, dof, rot, Q, D, 1, W, x)
        _strains(par, e, n, W, x, A, B, p1)
        beta = par[e, _DAMPING] + ctl[DECAY]
        if job == LEDGER:
            write_ledger(par, e, first[_STRESS], first[_FUNCTION], first[_THERMAL], fun, S, p0, p1, beta, ctl[H], f)
            continue
        level = heat(ctl, fun, par[e, first[_FUNCTION]])
        for k in range(m):
            p[k] = p1[k] if one_state else 0.5 * (p0[k] + p1[k])
        if job == OUTPUT:
            f[8] = level
            for k in range(m):
                f[9 + k] = p[k]
        for k in range(m):
            p[k] -= level * par[e, first[_THERMAL] + k]
        if job == STRESSES:
            stresses(par, e, first[_STRESS], S, p, f)
            continue
        if beta != 0.0 and one_state:
            _rate_place(V, D, dof, rot, e, n, W, A, Wd, xd)
            _rates(par, e, n, W, x, Wd, xd, work, p0)
            for k in range(m):
                p[k] += beta * p0[k]
        elif beta != 0.0 and ctl[H] > 0.0:
            for k in range(m):
                p[k] += beta / ctl[H] * (p1[k] - p0[k])
        write_forces(par, e, at, 8, p, f)


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    _force(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, U, fe, ke)


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    _report(job, e0, e1, ctl, par, dof, rot, fun, Q, D, V, fe)


_WATCH = Watch(
    TURN_WARN, TURN_LIMIT, "rotation between two nodes of a side",
    f"a shell element bends by less than half a turn (pi = {math.pi:.3g} rad): take more elements",
    kind="Shell",
)  # fmt: skip


_BENDING = Watch(
    30.0, math.inf, "bending of one element",
    "an arc of one element is off by 0.1 % at 30 degrees, 1 % at 57: take more elements there", kind="Shell",
    unit="degrees",
)  # fmt: skip


_PRESTRESS = prestress_of([Columns(n) for n in CELLS.values()])


def _type(cell):
    c = Columns(CELLS[cell])
    outputs = (*RESULTANTS, "level [-]", *(f"p{i}" for i in range(1, c.strains + 1)))
    return ElementType(
        f"shell_{cell}", 3, c.nodes, True, c.names(), force, report, outputs=outputs, stresses=c.strains,
        prestress=_PRESTRESS, watches=(_WATCH, _BENDING),
    )  # fmt: skip


TYPES = {f"shell_{cell}": _type(cell) for cell in CELLS}
