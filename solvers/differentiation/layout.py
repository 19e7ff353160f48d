"""Arrays of the differentiation of time steps: derivatives of the state with respect to scaled parameters, and data
that later steps use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.compiling.array_records import array_record

# --- flags -----------------------------------------------------------------------------------------------------------
(
    PHASE,  # phase in which `advance` continues
    NUMBER,  # index of the parameter
    ROUND,  # corrections of the present solution that were made
    LONE,  # 1: only the last step of the state is differentiated, an equilibrium
    COUNT,  # steps that were differentiated
    PROBE,  # sizes of larger differences that are still to be tried
    CUTS,  # how often the differences were made smaller because of an event or a kink
    OWN,  # 1: the tangent at the end of the step is factored, 0: the factors that the run has left are used
    HELD,  # value of COUNT up to which OWN is 1
    SPENT,  # corrections in the step after the first one of each parameter
    KEPT,  # 1: kinks do not make the differences of this step smaller any more
    REACTIONS,  # 1: reactions at prescribed dofs are differentiated
) = range(12)
N_FLAGS = 12
# --- phases ----------------------------------------------------------------------------------------------------------
STEPPING, TANGENT, RESIDUAL, SOLVED = range(4)
# --- real values -----------------------------------------------------------------------------------------------------
(
    DEFECT,  # largest last correction over the solution, of solutions that have not converged
    LAST,  # last correction over the solution
    RATE,  # ratio of successive corrections with the factors of the run
    OWN_RATE,  # the same ratio with the tangent at the end of the step
    MEAN,  # mean number of corrections per step with the factors of the run
    LEFT,  # estimated relative error of a solution below which no correction follows
    UNEVEN,  # last ratio of the even part of a difference to its odd part (`solutions.unevenness`)
    FLOOR,  # change of motions below which kinks do not make differences smaller
    SYSTEMATIC,  # weight of truncation against that of round-off
) = range(9)
N_REALS = 9
#: Number of earlier solutions that are kept for extrapolation.
N_PAST = 3


class Follow(NamedTuple):
    """Derivatives of a state, and the state at the start of the present step.

    Arrays whose name begins with ``d`` are derivatives with respect to the scaled parameters, their first index.
    """

    flags: np.ndarray  # (N_FLAGS,) int64
    reals: np.ndarray  # (N_REALS,)
    motion: np.ndarray  # (n_par,) changes of positions over the model's length, and of rotations [rad], in differences
    size: np.ndarray  # (n_par,) changes e of the scaled parameters in differences
    force: np.ndarray  # (n_par,) size of right sides over size of solutions
    level: np.ndarray  # (n_par,) size of right sides, a maximum over earlier steps that decays
    usual: np.ndarray  # (n_par,) mean unevenness (`solutions.unevenness`) over the size of differences
    probes: np.ndarray  # (2, n_eq) solutions of larger differences
    kinks: np.ndarray  # (n_par,) int64: number of steps in which a kink lay between the changed states
    known: np.ndarray  # (n_par,) int64: number of solutions in ``past_x``
    order: np.ndarray  # (n_par,) int64: number of these from which the next one is extrapolated
    past_x: np.ndarray  # (n_par, N_PAST, n_eq) solutions of the last steps, the last one first
    total: np.ndarray  # (n_eq,) solution of the step
    x: np.ndarray  # (n_eq,) right side of a correction, then the correction
    zero: np.ndarray  # (N,) zeros
    Q: np.ndarray  # (N,) start of the step
    D: np.ndarray  # (nr, ..)
    V: np.ndarray
    DD: np.ndarray
    past: np.ndarray  # (4, N)
    reaction: np.ndarray
    work: np.ndarray
    hist: np.ndarray
    dQ: np.ndarray  # (n_par, N) derivatives at the start of the step, then at its end
    dD: np.ndarray  # (n_par, nr, ..)
    dV: np.ndarray
    dDD: np.ndarray
    dpast: np.ndarray  # (n_par, 4, N)
    dreaction: np.ndarray
    dwork: np.ndarray
    dhist: np.ndarray
    dpar: np.ndarray  # (n_par, parameters of all elements)
    dplace: np.ndarray  # (n_par, n_driven) places of supports
    dctl: np.ndarray  # (n_par, N_CTL) control values: gravity
    dfuns: np.ndarray  # (n_par * n_steps, n_fun, 3) time functions, all steps of one parameter after each other
    dvalues: np.ndarray  # (n_par, n_steps, n_record) results: recorded values
    dledger: np.ndarray  # (n_par, n_steps, N_LEDGER)
    fun_plus: np.ndarray  # (n_fun, 3)
    fun_minus: np.ndarray
    ctl_plus: np.ndarray
    ctl_minus: np.ndarray


FOLLOW = array_record(
    Follow,
    {
        "f8 3": "dD dDD dpast dfuns dvalues dledger past_x",
        "f8 2": "D DD past dQ dV dreaction dwork dhist dpar dplace dctl fun_plus fun_minus probes",
        "f8 1": "reals motion size force level usual total x zero Q V reaction work hist ctl_plus ctl_minus",
        "i8 1": "flags kinks known order",
    },
)
