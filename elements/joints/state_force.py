"""Force elements with state variables on one coordinate: a `Coordinate` combined with a `StateLaw`.

The force F acts in the direction in which the coordinate s grows, and depends on state variables x (m,) of the element,

    x' = g(s, s', x, t),   F = F(s, s', x, t).

The state variables are unknowns of the model beside the positions.  The mid-point rule samples F and g at the means of
s and x, with s' = (s1 - s0)/h,

    rows += -SF F row,   x1 - x0 - h g(s_m, s', x_m, t_m) = 0,

one-state rules take F and x' - g at the end of the step; at rest g = 0.  Unknowns are x/size: a step's equation is its
error in units of ``size``.  Equations of x are multiplied by h, in statics and linearisations by 1, so that at one
state their rows of stiffness and damping are -dg/ds, -dg/dx and -dg/ds', 1.

The parameters of such an element are those of the law, those of the coordinate, and the sizes of the state variables.
Where an element does without a state variable of its type, its unknown is the dummy entry, and its value zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SAMPLE,
    SF,
    SK,
    START,
    STRAIN,
    T0,
    T1,
    TANGENT,
    TM,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.coordinates import dot, end_velocities, rate_row
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, Coordinate, coordinate
from fem_mbs.elements.registry import ElementType
from fem_mbs.late import dataclass

__all__ = ["StateLaw", "no_power", "nothing_stored", "state_force", "state_types"]

_BEGINNING = 0  # column of par of laws with samples: the coordinate from which the users' counts


@inner
def nothing_stored(par, e, tail, x):
    """Return no energy: the state variables are signals."""
    return 0.0


@inner
def no_power(par, e, tail, fun, time, s, rate, x):
    """Return no powers: the work of the force is all that is fed in."""
    return 0.0, 0.0, 1.0


@dataclass(frozen=True)
class StateLaw:
    """Holds a force with state variables over a coordinate s and its rate: compiled functions and names.

    ``law(par, e, tail, fun, time, hist, s, rate, x, F, Fx, g, gs, gx)`` fills F (3,) with the force in the direction of
        s and its derivatives by s and s', Fx (m,) with those by x, g (m,) with x', gs (m, 2) with its derivatives by s
        and s', gx (m, m) with those by x; ``time`` is a column of the time functions
    ``stored(par, e, tail, x)`` -> energy [J] in the state variables
    ``powers(par, e, tail, fun, time, s, rate, x)`` -> power lost, power fed in [W], and the factor with which the work
        of the force counts as fed in

    ``par(coordinate)`` names the parameters before those of the coordinate, the same number for each coordinate;
    ``sample`` tells the index of the clock among them (`fem_mbs.system.callbacks`), -1: none.  ``names`` are those of
    the state variables with units, ``memory(m)`` counts the columns of `hist` after the first.
    """

    par: Callable[[Coordinate], tuple[str, ...]]
    names: Callable[[Coordinate], tuple[str, ...]]
    law: Callable[..., Any]
    stored: Callable[..., Any]
    powers: Callable[..., Any]
    sample: int = -1
    memory: Callable[[int], int] | None = None


@inner
def _means(Q, U, par, dof, e, n, sizes, state, x):
    """Fill x (m,) with state variables: of the start (0), of the end (1), or the means of the step (2)."""
    for i in range(x.shape[0]):
        k = dof[e, n + i]
        value = Q[0, k] + 0.5 * U[k] if state == 2 else Q[state, k]
        x[i] = par[e, sizes + i] * value


@inner
def _state_rows(job, ctl, par, dof, V, U, e, n, sizes, row, along, quick, parts, fe, ke, k):
    """Write the rows of the state variables to fe[k] and ke[k], and the columns of the force by them.

    ``along`` and ``quick`` (n,) are the derivatives of s and s' by the increments of the ends, those of a place with
    the weight of the stiffness.
    """
    Fx, g, gs, gx = parts
    m = g.shape[0]
    one_state = ctl[RULE] == ONE_STATE
    f, dummy = fe[k], U.shape[0] - 1
    h = 1.0 if one_state and ctl[WV] == 0 else ctl[H]  # statics has no time
    share = 0.5 * ctl[SK] / ctl[SF]
    for i in range(m):
        d, size = dof[e, n + i], par[e, sizes + i]
        if d == dummy:
            f[n + i] = 0.0
            continue
        f[n + i] = (h * V[1, d] if one_state else U[d]) - h * g[i] / size
    if job != TANGENT:
        return
    K = ke[k]
    for i in range(m):
        d, size = dof[e, n + i], par[e, sizes + i]
        active = d != dummy
        for j in range(n):
            K[n + i, j] = -h * (gs[i, 0] * along[j] + gs[i, 1] * quick[j]) / size if active else 0.0
            K[j, n + i] = -ctl[SF] * share * Fx[i] * size * row[j] if active else 0.0
        for j in range(m):
            K[n + i, n + j] = 0.0
            if active and dof[e, n + j] != dummy:
                K[n + i, n + j] = -h * share * gx[i, j] * par[e, sizes + j] / size
                if i == j:
                    K[n + i, n + i] += h * ctl[WV] if one_state else 1.0


@functools.cache
def _kernels(workspace, rows, step, rate_at, turns, spring, vectors: int, first: int, clock: int, law, stored, powers):
    """Return kernels `force` and `report` of a law on a coordinate, whose ``vectors`` start at the parameter
    ``first``."""

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        dim = 2 if D.shape[2] == 2 else 3
        n = 6 * (dim - 1)
        m = dof.shape[1] - n
        tail = first + vectors * dim
        work = workspace(dim)
        row, row1, vel, G = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, n))
        along, quick, x = np.zeros(n), np.zeros(n), np.zeros(m)
        F, Fx, g, gs, gx = np.zeros(3), np.zeros(m), np.zeros(m), np.zeros((m, 2)), np.zeros((m, m))
        one_state = ctl[RULE] == ONE_STATE
        for e in range(e0, e1):
            s0, s1, ds = rows(job, ctl, Q, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
            if one_state:
                end_velocities(V, D, dof, rot, 1, e, vel)
                rate = dot(row, vel)
            else:
                rate = ds / ctl[H]
            _means(Q, U, par, dof, e, n, tail, 1 if one_state else 2, x)
            law(par, e, tail, fun, TM, hist, s1 if one_state else 0.5 * (s0 + s1), rate, x, F, Fx, g, gs, gx)
            if job == TANGENT:
                for j in range(n):
                    along[j] = 0.5 * ctl[SK] / ctl[SF] * row1[j]
                    quick[j] = row1[j] / ctl[H]
                if one_state:
                    rate_row(ctl, row, G, vel, quick)
            spring(job, ctl, -F[1], -F[2], -F[0], row, row1, G, vel, fe, ke, e - e0)
            parts = (Fx, g, gs, gx)
            _state_rows(job, ctl, par, dof, V, U, e, n, tail, row, along, quick, parts, fe, ke, e - e0)

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        dim = 2 if D.shape[2] == 2 else 3
        n = 6 * (dim - 1)
        m = dof.shape[1] - n
        tail = first + vectors * dim
        work = workspace(dim)
        row, row1, G, x = np.empty(n), np.empty(n), np.empty((n, n)), np.zeros(m)
        F, Fx, g, gs, gx = np.zeros(3), np.zeros(m), np.zeros(m), np.zeros((m, 2)), np.zeros((m, m))
        one_state = ctl[RULE] == ONE_STATE
        for e in range(e0, e1):
            if job == START or job == COMMIT:
                turns(job == START, ctl, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
                continue
            f = fe[e - e0]
            s0, s1, ds = step(ctl, Q, D, U, dof, rot, hist, e, par, first, work, row, row1, G)
            rate0 = rate1 = ds / ctl[H]
            if one_state:
                rate0 = rate_at(V, D, dof, rot, 0, e, work)
                rate1 = rate_at(V, D, dof, rot, 1, e, work)
            s, time = (s1, T1) if one_state else (0.5 * (s0 + s1), TM)
            _means(Q, U, par, dof, e, n, tail, 1 if one_state else 2, x)
            if job == SAMPLE:
                f[0], f[1] = s - par[e, _BEGINNING], rate1
                for i in range(m):
                    f[2 + i] = x[i]
                f[2 + m] = fun[int(par[e, clock]), time]
                continue
            law(par, e, tail, fun, time, hist, s, rate1, x, F, Fx, g, gs, gx)
            if job == LEDGER:
                lost, fed, factor = powers(par, e, tail, fun, time, s, rate1, x)
                mean, change = F[0], 0.0
                if one_state:  # by the trapezoidal rule
                    _means(Q, U, par, dof, e, n, tail, 0, x)
                    change = -stored(par, e, tail, x)
                    lost0, fed0, _ = powers(par, e, tail, fun, T0, s0, rate0, x)
                    lost, fed = 0.5 * (lost + lost0), 0.5 * (fed + fed0)
                    law(par, e, tail, fun, T0, hist, s0, rate0, x, F, Fx, g, gs, gx)
                    mean = 0.5 * (mean + F[0])
                _means(Q, U, par, dof, e, n, tail, 1, x)
                f[STRAIN] = stored(par, e, tail, x)
                if one_state and ctl[WV] == 0:  # statics has no time: all that is stored, and all work, is fed in
                    f[LOAD_WORK] = mean * ds + change + f[STRAIN]
                else:
                    f[DISSIPATED] = ctl[H] * lost
                    f[LOAD_WORK] = ctl[H] * fed + factor * mean * ds
            elif job == OUTPUT:
                f[0] = F[0]
                f[1] = s1
                _means(Q, U, par, dof, e, n, tail, 1, x)
                for i in range(m):
                    f[2 + i] = x[i]

    return force, report


def state_force(name: str, dimension: int, s: Coordinate, law: StateLaw, names: tuple[str, ...]) -> ElementType:
    """Return the element type of a law with the state variables ``names`` (with units) on a coordinate; both dimensions
    share kernels where these are equal."""
    par = law.par(s)
    force, report = _kernels(
        s.workspace, s.rows, s.step, s.rate, s.turns, s.spring, s.vectors, len(par), law.sample, law.law, law.stored,
        law.powers,
    )  # fmt: skip
    memory = law.memory(len(names)) if law.memory is not None else 0
    return ElementType(
        name=name,
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(*par, *s.columns, *(f"size {entry}" for entry in names)),
        hist=1 + memory if memory else s.memory,
        turns=s.memory > 0,
        outputs=(f"{s.force} [{s.force_unit}]", f"{s.name} [{s.unit}]", *names),
        force=force,
        report=report,
        scalars=len(names),
        states=True,
        at_end=(s.name, *(entry.split(" [")[0] for entry in names)),
    )


def state_types(family: str, law: StateLaw) -> dict[str, ElementType]:
    """Return the types of a law on all coordinates, by names FAMILY_length2 ..."""
    found = {}
    for word, kind in (("length", LENGTH), ("offset", OFFSET), ("angle", ANGLE)):
        for dimension in (2, 3):
            s, name = coordinate(kind, dimension), f"{family}_{word}{dimension}"
            found[name] = state_force(name, dimension, s, law, law.names(s))
    return found
