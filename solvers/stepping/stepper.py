"""Compiled stepping of a block system: assembly, Newton-Raphson and the step loop in one piece of machine code.

Small models are bound by call overhead, so a whole run of steps is one call: `advance` predicts, assembles, solves and
commits step after step, writes the ledger, the recorded values and the frames into buffers, and comes back to Python
when

    DONE             the requested steps are made
    NEED_FACTOR      the matrix is wide: factor ``values`` and solve for ``rhs`` outside, then call again
    NEED_SOLVE       the same with the factors at hand
    NOT_CONVERGED    Newton-Raphson failed at step ``counter[STEP]``; the state is that of its start
    NEED_USER        forces of users' functions are to be found at the iterate: write them into ``hist``, call again
    SINGULAR         the banded matrix has no pivot in equation ``counter[WORST]``
    TURNED           a node, that of dof ``counter[WORST]``, turns by more than a quarter of a turn in step
                     ``counter[STEP]``; the state is that of its start

(reverse communication, as ARPACK does it).  The solver knows blocks of elements by their arrays and the addresses of
their two kernels only; see `fem_mbs.contract`.

Newton-Raphson keeps the factors of a step's first tangent while they contract the increment well (chord iterations),
since a tangent at the predicted state is as good as its prediction; ``full`` forms a new one in every iteration.
Convergence is judged per kind of row (forces, moments, constraints) against the largest element contribution of that
kind, and on increments that reach round-off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs import contract as C
from fem_mbs.contract import inline, inner, kernel
from fem_mbs.solvers.stepping import gauge as G
from fem_mbs.solvers.stepping.banded import band_factor, band_solve
from fem_mbs.solvers.stepping.predictor import turn_parts

# --- answers of `advance` ------------------------------------------------------------------------------------------
DONE, NEED_FACTOR, NEED_SOLVE, NOT_CONVERGED, SINGULAR, NEED_USER, TURNED = 0, 1, 2, 3, 4, 5, 6

# --- kinds of dofs -------------------------------------------------------------------------------------------------
POSITION, ROTATION, MULTIPLIER, SINK = 0, 1, 2, 3

# --- columns of the block table ------------------------------------------------------------------------------------
(
    N_EL, N_LOC, N_END, N_PAR, N_HIST, O_DOF, O_ROT, O_PAR, O_HIST, O_SLOT, N_OUT, O_OUT, O_EL, WATCHED, INERTIA,
    O_ALONG,
) = range(16)  # fmt: skip
N_TABLE = 16

# --- rules ---------------------------------------------------------------------------------------------------------
# NEWMARK is the family of the generalised-alpha rule, of which Newmark's and HHT's are members by their weights
MIDPOINT, NEWMARK, STATIC, EXPLICIT = 0, 1, 2, 3

# --- integer settings and counters of a run ------------------------------------------------------------------------
(
    PHASE,  # where `advance` goes on
    STEP,  # steps made since the start of the buffers
    ITERATION,  # of the running step
    REFACTOR,  # 1: the next iteration forms a new tangent
    FRESH,  # iteration in which the tangent was formed
    BANDED,  # 1: factor here, 0: outside
    FULL,  # 1: a new tangent in every iteration
    MAX_ITERATIONS,
    WORST,  # dof or equation to blame
    RULE_KIND,  # MIDPOINT, NEWMARK, STATIC or EXPLICIT
    PREDICTOR,  # 0: none, 1: h v0, 2: last increment, 3: linear extrapolation of the increments
    HISTORY,  # number of stored increments (0, 1, 2)
    FRAME_EVERY,
    N_FRAMES,  # frames in the buffer
    RESTART_EVERY,  # a new tangent at these steps, so that a restart is bit-equal
    STEP_OFFSET,  # steps of the analysis made before the buffers
    TOTAL_ITERATIONS,
    FACTORISATIONS,
    KL,
    KU,
    SLOW,  # 1: chord iterations contracted badly of late
    USER,  # 0: no users' forces; 1: they are asked for before an assembly; 2: their answers are there
    READS,  # 1: forces depend on multipliers
) = range(23)
N_COUNTER = 23

# --- real settings and results -------------------------------------------------------------------------------------
(RTOL, CTOL, FLOOR_X, FLOOR_T, NORM, WORST_VALUE, BETA, GAMMA, LENGTH, ALPHA_M, ALPHA_F, TURN) = range(12)
N_REAL = 12

_BEGIN, _ASSEMBLE, _UPDATE, _COMMIT = 0, 1, 2, 3
_ROUND_OFF = 4.0 * 2.0**-52
TILE = 64  # elements whose vectors and matrices the workspaces hold at a time
_QUARTER = 2.0  # Cayley vector of a quarter of a turn, 2 tan(pi/4)


class System(NamedTuple):
    """The frozen arrays of a compiled model (constant during a run but for ``hist`` and the state)."""

    table: np.ndarray  # (n_blocks, N_TABLE) int64
    dof: np.ndarray  # all dof tables, flat int32
    rot: np.ndarray  # all rotation tables, flat int32
    par: np.ndarray  # all parameters, flat
    hist: np.ndarray  # all element histories, flat
    slot: np.ndarray  # position of each element matrix entry in ``values``, flat int32
    equation: np.ndarray  # (N,) int32: equation of a dof, -1 for prescribed ones and the sink
    unknown: np.ndarray  # (n_eq,) int32: dof of an equation
    kind: np.ndarray  # (N,) int8
    positions: np.ndarray  # position dofs, int32
    rotations: np.ndarray  # (nr, 1 or 3) int32: rotation dofs of each row of D (without the identity)
    driven: np.ndarray  # prescribed dofs that move, int32
    driver: np.ndarray  # their time functions, int32
    driven_reference: np.ndarray  # value of the dof where the function is zero
    row_scale: np.ndarray  # (N,) scale of constraint rows
    part: np.ndarray  # (p + 1,) int32: where the nodes of each connected continuum begin in ``part_dofs``
    part_dofs: np.ndarray  # first dofs of its nodes, int32
    shared: np.ndarray  # (n, 2) int32: dofs without an equation of their own, and those whose unknown they share
    holding: np.ndarray  # (n, 3) int64: block, first and last element (exclusive) of what acts on prescribed dofs
    record: np.ndarray  # (n_record, 2) int32: source and index of the recorded values
    links: np.ndarray  # (n, 6) int64: what acts along beams; see `along`


class State(NamedTuple):
    """State and workspaces of a run; see `fem_mbs.contract` for the layouts."""

    Q: np.ndarray
    D: np.ndarray
    V: np.ndarray
    DD: np.ndarray
    U: np.ndarray
    past: np.ndarray  # (4, N) the last two increments, for the predictor; of Newmark's family a and dv/dt at the start
    reaction: np.ndarray  # (2, N) residual of the prescribed dofs over sf
    residual: np.ndarray
    values: np.ndarray  # matrix values, the last one a dump
    rhs: np.ndarray
    pivot: np.ndarray
    out: np.ndarray  # element outputs of the last step, flat
    energy: np.ndarray  # element energies of the last step, flat
    work: np.ndarray  # what elements, then driven dofs, have given to the model since the start of the analysis [J]
    fe: np.ndarray
    ke: np.ndarray
    along: np.ndarray  # forces on the node dofs of beams of what acts along them, flat
    peak: np.ndarray  # largest element contribution per kind of dof
    Qw: np.ndarray  # both rows equal: what one-state rules hand to the kernels
    Dw: np.ndarray
    Uw: np.ndarray


class Output(NamedTuple):
    """Buffers of a chunk of steps."""

    ledger: np.ndarray  # (n_steps, N_LEDGER)
    iterations: np.ndarray  # (n_steps,) int32
    residuals: np.ndarray  # (n_steps,)
    values: np.ndarray  # (n_steps, n_record)
    frame_Q: np.ndarray  # (n_frames, N)
    frame_V: np.ndarray
    frame_D: np.ndarray
    frame_out: np.ndarray
    frame_energy: np.ndarray
    frame_step: np.ndarray  # (n_frames,) int64


# --- what is recorded ----------------------------------------------------------------------------------------------
REC_Q, REC_V, REC_D, REC_REACTION, REC_OUT, REC_WORK = 0, 1, 2, 3, 4, 5


@inline
def copy(source, target):
    """Copy a row: an assignment of slices would compile numba's message about unequal shapes."""
    source, target = source.reshape(source.size), target.reshape(source.size)
    for i in range(source.size):
        target[i] = source[i]


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
        dof = system.dof[t[O_DOF] : t[O_DOF] + n * m].reshape((n, m))
        rot = system.rot[t[O_ROT] : t[O_ROT] + n * ends].reshape((n, ends))
        par = system.par[t[O_PAR] : t[O_PAR] + n * t[N_PAR]].reshape((n, t[N_PAR]))
        hist = system.hist[t[O_HIST] : t[O_HIST] + n * t[N_HIST]].reshape((n, t[N_HIST]))
        fe = state.fe[: TILE * m].reshape((TILE, m))
        ke = state.ke[: TILE * m * m].reshape((TILE, m, m))
        slot = system.slot[t[O_SLOT] : t[O_SLOT] + n * m * m].reshape((n, m * m))
        for e0 in range(0, n, TILE):
            e1 = min(e0 + TILE, n)
            C.call(kernels[b], job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke)
            for e in range(e0, e1):
                for i in range(m):
                    k = dof[e, i]
                    f = fe[e - e0, i]
                    r[k] += f
                    f = abs(f)
                    if f > peak[kind[k]]:
                        peak[kind[k]] = f
            if job == C.TANGENT:
                flat = ke.reshape((TILE, m * m))
                for e in range(e0, e1):
                    for i in range(m * m):
                        values[slot[e, i]] += flat[e - e0, i]
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
        dof = system.dof[t[O_DOF] : t[O_DOF] + n * m].reshape((n, m))
        rot = system.rot[t[O_ROT] : t[O_ROT] + n * ends].reshape((n, ends))
        par = system.par[t[O_PAR] : t[O_PAR] + n * t[N_PAR]].reshape((n, t[N_PAR]))
        hist = system.hist[t[O_HIST] : t[O_HIST] + n * t[N_HIST]].reshape((n, t[N_HIST]))
        fe = state.fe[: TILE * m].reshape((TILE, m))
        ke = state.ke[: TILE * m * m].reshape((TILE, m, m))
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
        dof = system.dof[t[O_DOF] : t[O_DOF] + n * m].reshape((n, m))
        rot = system.rot[t[O_ROT] : t[O_ROT] + n * ends].reshape((n, ends))
        par = system.par[t[O_PAR] : t[O_PAR] + n * t[N_PAR]].reshape((n, t[N_PAR]))
        hist = system.hist[t[O_HIST] : t[O_HIST] + n * t[N_HIST]].reshape((n, t[N_HIST]))
        fe = state.fe[: TILE * m].reshape((TILE, m))
        ke = state.ke[: TILE * m * m].reshape((TILE, m, m))
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
        dof = system.dof[t[O_DOF] : t[O_DOF] + n * m].reshape((n, m))
        rot = system.rot[t[O_ROT] : t[O_ROT] + n * ends].reshape((n, ends))
        par = system.par[t[O_PAR] : t[O_PAR] + n * t[N_PAR]].reshape((n, t[N_PAR]))
        hist = system.hist[t[O_HIST] : t[O_HIST] + n * t[N_HIST]].reshape((n, t[N_HIST]))
        fe = state.fe[: TILE * width].reshape((TILE, width))
        ke = state.ke[: TILE * m * m].reshape((TILE, m, m))
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


@inline
def configure(system, state, one_state):
    """Set the configuration at the end of the step from U: positions, directors, and in one-state rules angles."""
    Q, D, U = state.Q, state.D, state.U
    for k in system.positions:
        Q[1, k] = Q[0, k] + U[k]
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if plane:
            k = system.rotations[i, 0]
            u = 0.5 * U[k]
            f = 1.0 / (1.0 + u * u)
            c, s = (1.0 - u * u) * f, 2.0 * u * f
            a, b = D[0, i, 0], D[0, i, 1]
            D[1, i, 0], D[1, i, 1] = c * a - s * b, s * a + c * b
            if one_state:
                Q[1, k] = Q[0, k] + 2.0 * np.arctan(u)
        else:
            x, y, z = U[system.rotations[i, 0]], U[system.rotations[i, 1]], U[system.rotations[i, 2]]
            f = 1.0 / (1.0 + 0.25 * (x * x + y * y + z * z))
            # cay = I + f (t~ + t~^2/2)
            for j in range(3):
                a, b, c = D[0, i, j], D[0, i, 3 + j], D[0, i, 6 + j]
                p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
                D[1, i, j] = a + f * (p + 0.5 * (y * r - z * q))
                D[1, i, 3 + j] = b + f * (q + 0.5 * (z * p - x * r))
                D[1, i, 6 + j] = c + f * (r + 0.5 * (x * q - y * p))


@inner
def velocities(system, state, h, real, newmark):
    """Set the velocities (and accelerations of Newmark's family) at the end of the step.

    u = h v0 + h^2 ((1/2 - beta) a0 + beta a1) and v1 = v0 + h ((1 - gamma) a0 + gamma a1) with the algorithmic
    acceleration a of (1 - am) a1 + am a0 = (1 - af) dv/dt_1 + af dv/dt_0 (Arnold & Bruels 2007, eqs 9-11).
    """
    D, V, U = state.D, state.V, state.U
    beta, gamma = real[BETA], real[GAMMA]
    # mid-point: v1 = 2 u/h - v0, which is Newmark's formula with gamma/beta = 2
    f = gamma / (beta * h)
    g = 1.0 - gamma / beta
    ga = h * (1.0 - 0.5 * gamma / beta) if newmark else 0.0
    fa = (1.0 - real[ALPHA_M]) / (1.0 - real[ALPHA_F])
    f0 = real[ALPHA_M] / (1.0 - real[ALPHA_F])
    fv = real[ALPHA_F] / (1.0 - real[ALPHA_F])
    for k in system.positions:
        if newmark:
            a0 = state.past[2, k]
            a = U[k] / (beta * h * h) - V[0, k] / (beta * h) - (0.5 / beta - 1.0) * a0
            V[1, k] = f * U[k] + g * V[0, k] + ga * a0
            V[2, k] = fa * a + f0 * a0 - fv * state.past[3, k]
        else:
            V[1, k] = f * U[k] + g * V[0, k]
    nr = system.rotations.shape[1]
    for i in range(system.rotations.shape[0]):
        for j in range(nr):
            k = system.rotations[i, j]
            # W in body axes: the Cayley vector keeps its components through its own rotation
            u = U[k]
            if nr == 3:
                u = (
                    D[0, i, j] * U[system.rotations[i, 0]]
                    + D[0, i, 3 + j] * U[system.rotations[i, 1]]
                    + D[0, i, 6 + j] * U[system.rotations[i, 2]]
                )
            V[1, k] = f * u + g * V[0, k]
            if newmark:
                a0 = state.past[2, k]
                a = u / (beta * h * h) - V[0, k] / (beta * h) - (0.5 / beta - 1.0) * a0
                V[1, k] += ga * a0
                V[2, k] = fa * a + f0 * a0 - fv * state.past[3, k]


@kernel
def director_velocities(system, state, h, newmark):
    """Set the rates of directors at the end: by the mid-point recursion, or omega x d in one-state rules."""
    D, V, DD = state.D, state.V, state.DD
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if not newmark:
            for j in range(D.shape[2]):
                DD[1, i, j] = 2.0 * (D[1, i, j] - D[0, i, j]) / h - DD[0, i, j]
        elif plane:
            w = V[1, system.rotations[i, 0]]
            DD[1, i, 0], DD[1, i, 1] = -w * D[1, i, 1], w * D[1, i, 0]
        else:
            a, b, c = (
                V[1, system.rotations[i, 0]],
                V[1, system.rotations[i, 1]],
                V[1, system.rotations[i, 2]],
            )
            for j in range(3):
                x, y, z = D[1, i, 3 * j], D[1, i, 3 * j + 1], D[1, i, 3 * j + 2]
                # row j of R W~
                DD[1, i, 3 * j], DD[1, i, 3 * j + 1], DD[1, i, 3 * j + 2] = y * c - z * b, z * a - x * c, x * b - y * a


@inner
def normalise(system, D):
    """Make the directors of row 1 orthonormal again, up to the square of their round-off."""
    plane = system.rotations.shape[1] == 1
    for i in range(system.rotations.shape[0]):
        if plane:
            c, s = D[1, i, 0], D[1, i, 1]
            f = 1.5 - 0.5 * (c * c + s * s)
            D[1, i, 0], D[1, i, 1] = f * c, f * s
        else:
            # one Newton step of the polar decomposition: R (3 I - R^T R)/2
            R = D[1, i]
            g00 = R[0] * R[0] + R[3] * R[3] + R[6] * R[6]
            g11 = R[1] * R[1] + R[4] * R[4] + R[7] * R[7]
            g22 = R[2] * R[2] + R[5] * R[5] + R[8] * R[8]
            g01 = R[0] * R[1] + R[3] * R[4] + R[6] * R[7]
            g02 = R[0] * R[2] + R[3] * R[5] + R[6] * R[8]
            g12 = R[1] * R[2] + R[4] * R[5] + R[7] * R[8]
            for j in range(3):
                a, b, c = R[3 * j], R[3 * j + 1], R[3 * j + 2]
                R[3 * j] = 1.5 * a - 0.5 * (a * g00 + b * g01 + c * g02)
                R[3 * j + 1] = 1.5 * b - 0.5 * (a * g01 + b * g11 + c * g12)
                R[3 * j + 2] = 1.5 * c - 0.5 * (a * g02 + b * g12 + c * g22)


@inner
def predict(system, state, ctl, fun, counter):
    """Set the first guess of U, and the given increments of driven dofs."""
    U, past, Q, V, D = state.U, state.past, state.Q, state.V, state.D
    h = ctl[C.H]
    kind = counter[PREDICTOR]
    history = counter[HISTORY]
    if kind >= 2 and history == 0:
        kind = 1
    elif kind == 3 and history == 1:
        kind = 2
    still = counter[RULE_KIND] == STATIC
    for k in system.unknown:
        if system.kind[k] == MULTIPLIER:
            U[k] = ctl[C.SF] * Q[0, k]  # the last multipliers are the best guess
            continue
        if still or kind == 0:
            U[k] = 0.0
        elif kind == 2:
            U[k] = past[0, k]
        elif kind == 3:
            U[k] = 2.0 * past[0, k] - past[1, k]
        else:
            U[k] = h * V[0, k]
    if kind == 1 and not still and system.rotations.shape[1] == 3:
        for i in range(system.rotations.shape[0]):
            a, b, c = system.rotations[i, 0], system.rotations[i, 1], system.rotations[i, 2]
            for j in range(3):
                k = system.rotations[i, j]
                if system.equation[k] >= 0:
                    U[k] = h * (D[0, i, 3 * j] * V[0, a] + D[0, i, 3 * j + 1] * V[0, b] + D[0, i, 3 * j + 2] * V[0, c])
    if kind == 3 and not still:
        turn_parts(system, Q, past, U)
    for i in range(system.driven.size):
        k = system.driven[i]
        step = system.driven_reference[i] + fun[system.driver[i], C.T1] - Q[0, k]
        U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, U)


@inline
def update(system, state, one_state):
    """Add the increment in ``rhs`` to U; return the largest displacement and the largest rotation in it."""
    U, x = state.U, state.rhs
    size_x, size_t = 0.0, 0.0
    for i in range(x.size):
        k = system.unknown[i]
        d = x[i]
        kind = system.kind[k]
        if kind == ROTATION and one_state:
            continue
        U[k] += d
        if kind == POSITION:
            size_x = max(size_x, abs(d))
            if np.isnan(d):
                size_x = np.nan
        elif kind == ROTATION:
            size_t = max(size_t, abs(d))
            if np.isnan(d):
                size_t = np.nan
    if one_state:
        # increments are spins at the current state: compose them with the rotation of the step
        nr = system.rotations.shape[1]
        for i in range(system.rotations.shape[0]):
            if nr == 1:
                k = system.rotations[i, 0]
                j = system.equation[k]
                if j >= 0:
                    d = x[j]
                    size_t = max(size_t, abs(d))
                    U[k] = (U[k] + d) / (1.0 - 0.25 * U[k] * d)
            else:
                ka, kb, kc = system.rotations[i, 0], system.rotations[i, 1], system.rotations[i, 2]
                ja, jb, jc = system.equation[ka], system.equation[kb], system.equation[kc]
                a = x[ja] if ja >= 0 else 0.0
                b = x[jb] if jb >= 0 else 0.0
                c = x[jc] if jc >= 0 else 0.0
                p, q, r = U[ka], U[kb], U[kc]
                size_t = max(size_t, abs(a), abs(b), abs(c))
                f = 1.0 / (1.0 - 0.25 * (a * p + b * q + c * r))
                U[ka] = f * (a + p + 0.5 * (b * r - c * q))
                U[kb] = f * (b + q + 0.5 * (c * p - a * r))
                U[kc] = f * (c + r + 0.5 * (a * q - b * p))
    share(system, U)
    return size_x, size_t


@inline
def small_residual(system, state, real, counter):
    """Return whether every free row is small against the largest contribution of its kind; remember the worst."""
    r, peak = state.residual, state.peak
    worst, at = 0.0, -1
    tx = real[RTOL] * peak[POSITION]
    tt = real[RTOL] * max(peak[ROTATION], 1e-3 * peak[POSITION] * real[LENGTH])
    for k in system.unknown:
        kind = system.kind[k]
        limit = tx if kind == POSITION else (tt if kind == ROTATION else real[CTOL] * system.row_scale[k])
        a = abs(r[k])
        if not a <= worst * limit:
            worst, at = a / limit if limit > 0.0 else np.inf, k
            if np.isnan(a):
                break
    counter[WORST] = at
    real[WORST_VALUE] = worst
    return worst <= 1.0


@inner
def constraints_met(system, state, real):
    """Return whether all constraints hold to some units of round-off at the last iterate.

    Where constraints depend on each other, the increments of the nodes tell nothing about those that contradict.
    """
    for k in system.unknown:
        if system.kind[k] == MULTIPLIER and not abs(state.residual[k]) <= 1e3 * real[CTOL] * system.row_scale[k]:
            return False
    return True


@inner
def turned(system, U, counter, real):
    """Return whether a node turns by more than a quarter of a turn in the step; ``counter[WORST]`` names it then.

    Two nodes that turn by less turn by less than half a turn against each other, so that all angles between them are
    known.  ``real[TURN]`` keeps the largest Cayley vector of a rotation in a step.
    """
    largest = real[TURN] ** 2
    for i in range(system.rotations.shape[0]):
        size = 0.0
        for j in range(system.rotations.shape[1]):
            size += U[system.rotations[i, j]] ** 2
        if size > _QUARTER**2:
            counter[WORST] = system.rotations[i, 0]
            return True
        largest = max(largest, size)
    real[TURN] = np.sqrt(largest)
    return False


@inner
def present(system, state, h, real, counter):
    """Set the configuration of U, and the arrays with both ends alike that kernels of one-state rules get."""
    one_state = counter[RULE_KIND] != MIDPOINT
    configure(system, state, one_state)
    if not one_state:
        return
    if counter[RULE_KIND] == NEWMARK:
        velocities(system, state, h, real, True)
    for row in range(2):
        copy(state.Q[1], state.Qw[row])
        copy(state.D[1], state.Dw[row])
    for k in range(state.U.size):
        # no increment, but the multipliers
        state.Uw[k] = state.U[k] if system.kind[k] == MULTIPLIER else 0.0


@inner
def commit(kernels, reports, system, state, output, ctl, fun, counter, real):
    """Accept the step: set velocities, write ledger, outputs and frame, then make its end the start of the next."""
    Q, D, V, DD, U = state.Q, state.D, state.V, state.DD, state.U
    rule = counter[RULE_KIND]
    newmark = rule == NEWMARK
    h, sf = ctl[C.H], ctl[C.SF]
    normalise(system, D)
    for i in range(system.rotations.shape[0]):
        if system.rotations.shape[1] == 1:
            k = system.rotations[i, 0]
            Q[1, k] = Q[0, k] + 2.0 * np.arctan(0.5 * U[k])
        else:
            for j in range(3):
                k = system.rotations[i, j]
                Q[1, k] = Q[0, k] + U[k]
    for i in range(system.driven.size):
        # no accumulated round-off in what is prescribed
        k = system.driven[i]
        Q[1, k] = system.driven_reference[i] + fun[system.driver[i], C.T1]
    if rule == MIDPOINT or newmark:
        velocities(system, state, h, real, newmark)
    if rule != STATIC:
        director_velocities(system, state, h, rule != MIDPOINT)
    for k in range(Q.shape[1]):
        if system.kind[k] == MULTIPLIER:
            Q[1, k] = U[k] / sf
        state.reaction[1, k] = state.residual[k] / sf if system.equation[k] < 0 and system.kind[k] < MULTIPLIER else 0.0
    step = counter[STEP]
    number = counter[STEP_OFFSET] + step + 1
    frame = counter[FRAME_EVERY] > 0 and number % counter[FRAME_EVERY] == 0
    row = output.ledger[step]
    row[:] = 0.0
    if system.links.shape[0] > 0:
        if rule != MIDPOINT:
            for k in range(2):
                copy(Q[1], state.Qw[k])
                copy(D[1], state.Dw[k])
            for k in range(U.size):
                state.Uw[k] = U[k] if system.kind[k] == MULTIPLIER else 0.0
            along(kernels, system, ctl, fun, state.Qw, state.Dw, V, DD, state.Uw, state, frame)
        else:
            along(kernels, system, ctl, fun, Q, D, V, DD, U, state, frame)
    for job in (C.LEDGER, C.OUTPUT, C.COMMIT):
        report(job, reports, system, ctl, fun, state, row, frame)
    for i in range(system.driven.size):
        k = system.driven[i]
        f = state.reaction[1, k]
        if rule != MIDPOINT:  # one-state rules: the mean of both ends
            f = 0.5 * (f + state.reaction[0, k])
        work = f * (U[k] if rule == MIDPOINT else Q[1, k] - Q[0, k])
        row[C.DRIVER_WORK] += work
        state.work[state.energy.size + i] += work
    output.iterations[step] = counter[ITERATION]
    output.residuals[step] = real[WORST_VALUE]
    for i in range(system.record.shape[0]):
        source, k = system.record[i, 0], system.record[i, 1]
        if source == REC_Q:
            v = Q[1, k]
        elif source == REC_V:
            v = V[1, k]
        elif source == REC_D:
            v = D[1].reshape(D.shape[1] * D.shape[2])[k]
        elif source == REC_REACTION:
            v = state.reaction[1, k]
        elif source == REC_WORK:
            v = state.work[k]
        else:
            v = state.out[k]
        output.values[step, i] = v
    if frame:
        n = counter[N_FRAMES]
        copy(Q[1], output.frame_Q[n])
        copy(V[1], output.frame_V[n])
        copy(D[1], output.frame_D[n])
        copy(state.out, output.frame_out[n])
        copy(state.energy, output.frame_energy[n])
        output.frame_step[n] = number
        counter[N_FRAMES] = n + 1
    if newmark:
        am, af = real[ALPHA_M], real[ALPHA_F]
        for k in range(V.shape[1]):
            a = (1.0 - af) * V[2, k] + af * state.past[3, k] - am * state.past[2, k]
            state.past[2, k] = a / (1.0 - am)
            state.past[3, k] = V[2, k]
    if newmark or rule == MIDPOINT:
        for k in range(U.size):
            state.past[1, k] = state.past[0, k]
            state.past[0, k] = U[k]
        counter[HISTORY] = min(counter[HISTORY] + 1, 2)
    copy(Q[1], Q[0])
    copy(D[1], D[0])
    copy(V[1], V[0])
    copy(DD[1], DD[0])
    copy(state.reaction[1], state.reaction[0])
    counter[STEP] = step + 1
    counter[TOTAL_ITERATIONS] += counter[ITERATION]
    if counter[RESTART_EVERY] > 0 and number % counter[RESTART_EVERY] == 0:
        counter[REFACTOR] = 1


@kernel
def equilibrium(job, kernels, system, ctl, fun, state, real, counter):
    """Assemble the residual (and tangent) of statics at the configuration of U, driven dofs included.

    Returns:
        Whether the residual is small.
    """
    Q, U = state.Q, state.U
    for i in range(system.driven.size):
        k = system.driven[i]
        step = system.driven_reference[i] + fun[system.driver[i], C.T1] - Q[0, k]
        U[k] = step if system.kind[k] == POSITION else 2.0 * np.tan(0.5 * step)
    share(system, U)
    configure(system, state, True)
    for row in range(2):
        copy(Q[1], state.Qw[row])
        copy(state.D[1], state.Dw[row])
    for k in range(U.size):
        state.Uw[k] = U[k] if system.kind[k] == MULTIPLIER else 0.0
    assemble(job, kernels, system, ctl, fun, state.Qw, state.Dw, state.V, state.DD, state.Uw, state)
    return small_residual(system, state, real, counter)


@kernel
def compose(system, state):
    """Add the increment in ``rhs`` to U on the rotation group; return the size of its displacements and rotations."""
    return update(system, state, True)


@kernel
def accept(kernels, reports, system, state, output, ctl, fun, counter, real):
    """Make the end of a static step its start, and write ledger, outputs, records and frame of it."""
    commit(kernels, reports, system, state, output, ctl, fun, counter, real)


# In one piece: it leaves for Python in the middle of a step, and goes on in the phase that it left.
@kernel
def advance(kernels, reports, system, state, output, ctl, funs, counter, real, rank):
    """Make the steps of ``funs`` (n_steps, n_fun, 3); see the module's docstring for the answers.

    With ``rank.flags[SMALL]`` set it returns after the step in which a pivot has become small.  It is one long function
    on purpose: it leaves and resumes in the middle of a step (``counter[PHASE]``), so its phases share one loop, and
    each phase that calls a kernel would be compiled once per caller.
    """
    system, state, output, rank = C.borrow(system), C.borrow(state), C.borrow(output), C.borrow(rank)
    ctl, funs, counter, real = C.borrow(ctl), C.borrow(funs), C.borrow(counter), C.borrow(real)
    n_steps = funs.shape[0]
    one_state = counter[RULE_KIND] != MIDPOINT
    h = ctl[C.H]
    Q, D, U = state.Q, state.D, state.U
    # what the kernels see: of a one-state rule both ends of the step alike
    Qk, Dk, Uk = (state.Qw, state.Dw, state.Uw) if one_state else (Q, D, U)
    n = system.unknown.size
    banded = counter[BANDED] == 1
    kl, ku = counter[KL], counter[KU]
    width = 2 * kl + ku + 1
    while counter[STEP] < n_steps and not (counter[PHASE] == _BEGIN and rank.flags[G.SMALL] == 1):
        fun = funs[counter[STEP]]
        if counter[PHASE] == _BEGIN:
            counter[ITERATION] = 0
            counter[FRESH] = -1
            if (counter[STEP_OFFSET] + counter[STEP]) % 8 == 0:
                counter[SLOW] = 0  # try chord iterations again
            if counter[RULE_KIND] == STATIC:
                counter[SLOW] = 1  # load increments are large: no tangent serves twice
            real[NORM] = 0.0
            # increments below this are round-off of the coordinates, which grow as a model flies away
            far = real[LENGTH]
            for k in system.positions:
                far = max(far, abs(Q[0, k]))
            real[FLOOR_X] = _ROUND_OFF * far
            real[FLOOR_T] = _ROUND_OFF
            if banded or counter[HISTORY] == 0 or rank.flags[G.MODE] == G.DEPENDENT:
                # narrow matrices cost less than a stale tangent's extra iterations; wide ones are kept while they serve
                # (but null vectors must be those of the step)
                counter[REFACTOR] = 1
            predict(system, state, ctl, fun, counter)
            counter[PHASE] = _ASSEMBLE
        if counter[PHASE] == _ASSEMBLE:
            tangent = counter[REFACTOR] == 1 or counter[FULL] == 1
            job = C.TANGENT if tangent else C.FORCE
            present(system, state, h, real, counter)
            if counter[USER] == 1:
                counter[USER] = 2
                return NEED_USER
            if counter[USER] == 2:
                counter[USER] = 1
            # one call for all rules, since every call of a compiled function may be compiled into the caller
            assemble(job, kernels, system, ctl, fun, Qk, Dk, state.V, state.DD, Uk, state)
            if small_residual(system, state, real, counter):
                counter[PHASE] = _COMMIT
            else:
                if counter[ITERATION] >= counter[MAX_ITERATIONS] or np.isnan(real[WORST_VALUE]):
                    counter[PHASE] = _BEGIN
                    counter[REFACTOR] = 1
                    return NOT_CONVERGED
                for i in range(n):
                    state.rhs[i] = -state.residual[system.unknown[i]]
                if rank.flags[G.MODE] == G.DEPENDENT:
                    G.release(rank, system.unknown, U, state.rhs)
                counter[PHASE] = _UPDATE
                if tangent:
                    counter[FRESH] = counter[ITERATION]
                    counter[REFACTOR] = 0
                    counter[FACTORISATIONS] += 1
                if banded:
                    ab = state.values[: n * width].reshape((n, width))
                    if tangent:
                        if rank.flags[G.MODE] != G.PLAIN:
                            G.regularise(rank, state.values, kl + ku, width)
                        bad = band_factor(n, kl, ku, ab, state.pivot)
                        if bad >= 0:
                            counter[WORST] = system.unknown[bad]
                            counter[PHASE] = _BEGIN
                            counter[REFACTOR] = 1
                            return SINGULAR
                        for c in range(rank.null.shape[0]):
                            G.start_vector(rank, c)
                            band_solve(n, kl, ku, ab, state.pivot, rank.null[c])
                            G.null_vector(rank, c)
                        if rank.flags[G.WATCHED] == 1:
                            G.lowest_pivot(rank, state.values, kl + ku, width)
                    band_solve(n, kl, ku, ab, state.pivot, state.rhs)
                    G.balance(rank, system.unknown, U, state.rhs)
                else:
                    return NEED_FACTOR if tangent else NEED_SOLVE
        if counter[PHASE] == _UPDATE:
            size_x, size_t = update(system, state, one_state)
            counter[ITERATION] += 1
            counter[PHASE] = _ASSEMBLE
            norm = max(size_x / real[LENGTH], size_t)
            if np.isnan(norm):
                counter[PHASE] = _BEGIN
                counter[REFACTOR] = 1
                return NOT_CONVERGED
            last = real[NORM]
            real[NORM] = norm
            floor = size_x <= real[FLOOR_X] and size_t <= real[FLOOR_T]
            if floor and counter[READS] == 1 and counter[ITERATION] == 1:
                # multipliers alone have changed: what they press is not in the tangent where they were zero
                floor = False
                counter[REFACTOR] = 1
            # increments that no longer shrink and are just above round-off: nothing more to gain
            stalled = (
                last > 0.0 and norm > 0.3 * last and size_x <= 1e3 * real[FLOOR_X] and size_t <= 1e3 * real[FLOOR_T]
            )
            # (a tangent formed anew in every iteration is never two iterations old)
            met = rank.flags[G.MODE] == G.PLAIN or constraints_met(system, state, real)
            if met and (floor or (stalled and (counter[ITERATION] >= 3 or counter[ITERATION] - counter[FRESH] >= 2))):
                # the last correction belongs to the step: what it leaves of the residual, and the forces of supports
                real[WORST_VALUE] *= norm / last if last > 0.0 else 0.0
                present(system, state, h, real, counter)
                prescribed_rows(kernels, system, ctl, fun, Qk, Dk, state.V, state.DD, Uk, state)
                counter[PHASE] = _COMMIT
            else:
                if last > 0.0 and norm > 0.03 * last and counter[ITERATION] - counter[FRESH] >= 2:
                    counter[SLOW] = 1
                if counter[SLOW] == 1 or norm > 1e-2:
                    # the tangent's error is of the order of the increment
                    counter[REFACTOR] = 1
        if counter[PHASE] == _COMMIT:
            if counter[RULE_KIND] != STATIC and turned(system, U, counter, real):
                counter[PHASE] = _BEGIN
                counter[REFACTOR] = 1
                return TURNED
            commit(kernels, reports, system, state, output, ctl, fun, counter, real)
            counter[PHASE] = _BEGIN
    return DONE
