"""Arrays of the compiled stepping: tables of blocks, settings, counters, the state and the buffers of a run.

The solver knows blocks of elements by these arrays and the addresses of their two kernels only; see
`fem_mbs.contract`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.compiling.array_records import array_record

# --- answers of `advance` ------------------------------------------------------------------------------------------
DONE, NEED_FACTOR, NEED_SOLVE, NOT_CONVERGED, SINGULAR, NEED_USER, TURNED, NEED_ASSEMBLY = 0, 1, 2, 3, 4, 5, 6, 7

# --- kinds of dofs -------------------------------------------------------------------------------------------------
# STATE: state variables of elements, with equations of first order and no mass
POSITION, ROTATION, MULTIPLIER, SINK, STATE = 0, 1, 2, 3, 4
N_KIND = 5

# --- columns of the block table ------------------------------------------------------------------------------------
(
    N_EL, N_LOC, N_END, N_PAR, N_HIST, O_DOF, O_ROT, O_PAR, O_HIST, O_SLOT, N_OUT, O_OUT, O_EL, WATCHED, INERTIA,
    O_ALONG, N_WATCH, O_WATCH,
) = range(18)  # fmt: skip
N_TABLE = 18

# --- rules ---------------------------------------------------------------------------------------------------------
# NEWMARK stands for the generalised-alpha rule; its weights make it Newmark's or HHT's rule
# CHAIN: joint coordinates of trees (`fem_mbs.solvers.chains`)
MIDPOINT, NEWMARK, STATIC, EXPLICIT, CHAIN = 0, 1, 2, 3, 4

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
    RULE_KIND,  # MIDPOINT, NEWMARK, STATIC, EXPLICIT or CHAIN
    PREDICTOR,  # 0: none, 1: h v0, 2: last increment, 3: extrapolation of the increments
    HISTORY,  # number of stored increments, up to MOST_INCREMENTS; of Newmark's family up to 2
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
    NO_LEDGER,  # 1: energies, momenta and works are not computed
    OUTSIDE,  # 0: assemble here; 1: assemblies are asked for; 2: that of the iterate is there
    PATIENT,  # 1: a factorisation costs many solutions, so factors are kept while they contract at all well
) = range(26)
N_COUNTER = 26

# --- real settings and results -------------------------------------------------------------------------------------
(
    RTOL, CTOL, FLOOR_X, FLOOR_T, NORM, WORST_VALUE, BETA, GAMMA, LENGTH, ALPHA_M, ALPHA_F, TURN,
    ETOL,  # share of the exchanged energy that the iterations may leave as its error, 0: they go on to round-off
    WORK,  # of the residual before the last correction, over the step [J]
    ENERGY,  # at the end of the last step [J]
    CLOSING,  # sum of the errors of the steps' energy balances [J]
    LOWEST,  # energy so far, without the closing error [J]
    HIGHEST,
    LARGEST_KINETIC,
    REACH,  # size of the first correction with which the ratios below were measured, 0: they are not known
    NEXT_X,  # second correction over the square of the first one: displacements [m], rotations, multipliers
    NEXT_T,
    NEXT_L,
    NEXT_W,  # the same of the work of the residual [J]
    SURE,  # steps since these were measured
    ORDER,  # number of increments from which the first guess is extrapolated
    MISS,  # errors of first guesses from 2, 3 and 4 increments, of late
) = range(27)  # fmt: skip
N_REAL = 29
#: What a step remembers of those before it.
MEMORY = slice(ENERGY, N_REAL)
MOST_INCREMENTS = 4  # from which the first guess is extrapolated
TILE = 64  # elements whose vectors and matrices the workspaces hold at a time


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
    states: np.ndarray  # dofs that are state variables of elements, int32
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
    past: np.ndarray  # (4, N) the last increments, for the predictor; of Newmark's family two, a and dv/dt at the start
    reaction: np.ndarray  # (2, N) residual of the prescribed dofs over sf
    residual: np.ndarray
    values: np.ndarray  # matrix values, the last one a dump
    rhs: np.ndarray
    pivot: np.ndarray
    out: np.ndarray  # element outputs of the last step, flat
    energy: np.ndarray  # element energies of the last step, flat
    work: np.ndarray  # work of elements, then of driven dofs, on the model since the start of the analysis [J]
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
    # (n, 2): largest value of each watched quantity over the steps, and its step; nothing is watched without rows
    watched: np.ndarray


#: Types of these records in compiled code.
SYSTEM_RECORD = array_record(
    System,
    {
        "i8 2": "table holding links",
        "i4 1": "dof rot slot equation unknown positions states driven driver part part_dofs",
        "i4 2": "rotations shared record",
        "i1 1": "kind",
        "f8 1": "par hist driven_reference row_scale",
    },
)
STATE_RECORD = array_record(
    State,
    {
        "f8 3": "D DD Dw",
        "f8 2": "Q V past reaction Qw",
        "f8 1": "U residual values rhs out energy work fe ke along peak Uw",
        "i8 1": "pivot",
    },
)
OUTPUT_RECORD = array_record(
    Output,
    {
        "f8 3": "frame_D",
        "f8 2": "ledger values frame_Q frame_V frame_out frame_energy watched",
        "f8 1": "residuals",
        "i4 1": "iterations",
        "i8 1": "frame_step",
    },
)


# --- what is recorded ----------------------------------------------------------------------------------------------
REC_Q, REC_V, REC_D, REC_REACTION, REC_OUT, REC_WORK = 0, 1, 2, 3, 4, 5
