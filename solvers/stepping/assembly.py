"""Assembly of a block system in compiled code: residual, matrix values, prescribed rows, reports of the elements."""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.compiling.arrays import part
from fem_mbs.contract import inline, inner, kernel
from fem_mbs.solvers.stepping.layout import (
    N_EL,
    N_END,
    N_HIST,
    N_LOC,
    N_OUT,
    N_PAR,
    N_WATCH,
    O_ALONG,
    O_DOF,
    O_EL,
    O_HIST,
    O_OUT,
    O_PAR,
    O_ROT,
    O_SLOT,
    O_WATCH,
    TILE,
    WATCHED,
)

_U = np.uint64


@inline
def assemble(job, kernels, system, ctl, fun, Q, D, V, DD, U, state):
    """Assemble the residual, and the matrix values when ``job`` is TANGENT.

    Blocks and their tiles come in a fixed order, so that equal states give equal bits.
    """
    r = state.residual
    r[:] = 0.0
    peak = state.peak
    peak[:] = 0.0
    values = state.values
    if job == C.TANGENT:
        values[:] = 0.0
    kind = system.kind
    for b in range(system.table.shape[0]):
        t = system.table[b]
        n, m, ends = t[N_EL], t[N_LOC], t[N_END]
        dof = part(system.dof, t[O_DOF], n, m)
        rot = part(system.rot, t[O_ROT], n, ends)
        par = part(system.par, t[O_PAR], n, t[N_PAR])
        hist = part(system.hist, t[O_HIST], n, t[N_HIST])
        fe = part(state.fe, 0, TILE, m)
        ke = part(state.ke, 0, TILE, m, m)
        for e0 in range(0, n, TILE):
            e1 = min(e0 + TILE, n)
            C.call(kernels[b], job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
            # flat and with unsigned indices: see `fem_mbs.solvers.stepping.banded`
            some, forces = part(system.dof, t[O_DOF] + e0 * m, (e1 - e0) * m), part(state.fe, 0, (e1 - e0) * m)
            for i in range(_U((e1 - e0) * m)):
                k = _U(some[i])
                f = forces[i]
                r[k] += f
                f = abs(f)
                of = _U(kind[k])
                if f > peak[of]:
                    peak[of] = f
            if job == C.TANGENT:
                count = (e1 - e0) * m * m
                places, entries = part(system.slot, t[O_SLOT] + e0 * m * m, count), part(state.ke, 0, count)
                for i in range(_U(count)):
                    values[_U(places[i])] += entries[i]
    for i in range(system.shared.shape[0]):
        a, b = system.shared[i, 0], system.shared[i, 1]
        r[b] += r[a]
        r[a] = 0.0


@inner
def prescribed_rows(kernels, system, ctl, fun, Q, D, V, DD, U, state):
    """Assemble the residual of the prescribed dofs alone, from the elements that act on them."""
    r = state.residual
    for k in range(r.size):
        if system.equation[k] < 0:
            r[k] = 0.0
    for j in range(system.holding.shape[0]):
        b, first, last = system.holding[j, 0], system.holding[j, 1], system.holding[j, 2]
        t = system.table[b]
        n, m, ends = t[N_EL], t[N_LOC], t[N_END]
        dof = part(system.dof, t[O_DOF], n, m)
        rot = part(system.rot, t[O_ROT], n, ends)
        par = part(system.par, t[O_PAR], n, t[N_PAR])
        hist = part(system.hist, t[O_HIST], n, t[N_HIST])
        fe = part(state.fe, 0, TILE, m)
        ke = part(state.ke, 0, TILE, m, m)
        for e0 in range(first, last, TILE):
            e1 = min(e0 + TILE, last)
            C.call(kernels[b], C.FORCE, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
            for e in range(e0, e1):
                for i in range(m):
                    if system.equation[dof[e, i]] < 0:
                        r[dof[e, i]] += fe[e - e0, i]


@inline
def share(system, U):
    """Copy the increments of unknowns to the dofs that share them."""
    for i in range(system.shared.shape[0]):
        U[system.shared[i, 0]] = U[system.shared[i, 1]]


@inner
def along(kernels, system, ctl, fun, Q, D, V, DD, U, state, keep):
    """Put the forces of line loads, inertia and weight along beams on the beams' node dofs into ``state.along``.

    A row of ``system.links`` is the block of the beams and their first element, the block of what acts, its first
    element and the number of elements, and the beams' local dof where its own begin; ``O_ALONG`` says where the dofs of
    a block begin, -1: nothing acts along it.  Only for blocks that are watched, or all to ``keep``.
    """
    total = state.along
    end_dofs = 3 if system.rotations.shape[1] == 1 else 6
    for b in range(system.table.shape[0]):
        t = system.table[b]
        if t[O_ALONG] >= 0 and (keep or t[WATCHED] == 1):
            for k in range(t[O_ALONG], t[O_ALONG] + t[N_EL] * t[N_END] * end_dofs):
                total[k] = 0.0
    for link in range(system.links.shape[0]):
        b, own, s, first, count, start = system.links[link]
        if not (keep or system.table[b, WATCHED] == 1):
            continue
        t = system.table[s]
        n, m, ends = t[N_EL], t[N_LOC], t[N_END]
        width, each = system.table[b, N_END] * end_dofs, m // ends
        dof = part(system.dof, t[O_DOF], n, m)
        rot = part(system.rot, t[O_ROT], n, ends)
        par = part(system.par, t[O_PAR], n, t[N_PAR])
        hist = part(system.hist, t[O_HIST], n, t[N_HIST])
        fe = part(state.fe, 0, TILE, m)
        ke = part(state.ke, 0, TILE, m, m)
        for e0 in range(first, first + count, TILE):
            e1 = min(e0 + TILE, first + count)
            C.call(kernels[s], C.FORCE, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
            for e in range(e0, e1):
                at = system.table[b, O_ALONG] + (own + e - first) * width + start
                for i in range(m):  # (masses without rotation have fewer dofs per end)
                    total[at + i // each * end_dofs + i % each] += fe[e - e0, i] / ctl[C.SF]


@kernel
def report(job, reports, system, ctl, fun, state, ledger, keep):
    """Run the report kernels: LEDGER (sums into ``ledger``, element energies if ``keep``), OUTPUT, COMMIT or START."""
    width = 0
    for b in range(system.table.shape[0]):
        t = system.table[b]
        n, m, ends = t[N_EL], t[N_LOC], t[N_END]
        if job == C.OUTPUT:
            width = t[N_OUT]
            if width == 0 or not (keep or t[WATCHED] == 1):
                continue
        elif job == C.LEDGER:
            width = C.N_LEDGER
        else:
            width = 1
            if t[N_HIST] == 0:
                continue
        dof = part(system.dof, t[O_DOF], n, m)
        rot = part(system.rot, t[O_ROT], n, ends)
        par = part(system.par, t[O_PAR], n, t[N_PAR])
        hist = part(system.hist, t[O_HIST], n, t[N_HIST])
        fe = part(state.fe, 0, TILE, width)
        ke = part(state.ke, 0, TILE, m, m)
        for e0 in range(0, n, TILE):
            e1 = min(e0 + TILE, n)
            fe[:] = 0.0
            if job == C.OUTPUT and t[O_ALONG] >= 0:
                nodal = t[N_END] * (3 if system.rotations.shape[1] == 1 else 6)
                for e in range(e0, e1):
                    for i in range(nodal):
                        fe[e - e0, i] = state.along[t[O_ALONG] + e * nodal + i]
            C.call(
                reports[b],
                job,
                e0,
                e1,
                ctl,
                par,
                dof,
                rot,
                hist,
                fun,
                state.Q,
                state.D,
                state.V,
                state.DD,
                state.U,
                fe,
                ke,
            )
            if job == C.LEDGER:
                for e in range(e1 - e0):
                    for i in range(C.N_LEDGER):
                        ledger[i] += fe[e, i]
                    state.work[t[O_EL] + e0 + e] += fe[e, C.LOAD_WORK] + fe[e, C.DRIVER_WORK] - fe[e, C.DISSIPATED]
                if keep:
                    for e in range(e1 - e0):
                        state.energy[t[O_EL] + e0 + e] = fe[e, C.KINETIC] + fe[e, C.STRAIN]
            elif job == C.OUTPUT:
                o = t[O_OUT] + e0 * width
                for e in range(e1 - e0):
                    for i in range(width):
                        state.out[o + e * width + i] = fe[e, i]


@inner
def look(reports, system, ctl, fun, state, watched, step):
    """Keep in ``watched`` (n, 2) the largest values of the quantities that limit the elements, and their steps.

    The end of a step is looked at as soon as it is accepted.  The rows of a block begin at its ``O_WATCH``, those of an
    element stand together.
    """
    for b in range(system.table.shape[0]):
        t = system.table[b]
        n, m, ends, width = t[N_EL], t[N_LOC], t[N_END], t[N_WATCH]
        if width == 0:
            continue
        dof = part(system.dof, t[O_DOF], n, m)
        rot = part(system.rot, t[O_ROT], n, ends)
        par = part(system.par, t[O_PAR], n, t[N_PAR])
        hist = part(system.hist, t[O_HIST], n, t[N_HIST])
        fe = part(state.fe, 0, TILE, width)
        ke = part(state.ke, 0, TILE, m, m)
        for e0 in range(0, n, TILE):
            e1 = min(e0 + TILE, n)
            Q, D, V, DD, U = state.Q, state.D, state.V, state.DD, state.U
            C.call(reports[b], C.WATCH, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
            for e in range(e0, e1):
                for i in range(width):
                    k = t[O_WATCH] + e * width + i
                    if fe[e - e0, i] > watched[k, 0]:
                        watched[k, 0], watched[k, 1] = fe[e - e0, i], step
