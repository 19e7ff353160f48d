"""Derivatives of a state with respect to scaled parameters, and what is kept of them between time steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.array_records import array_record

# --- flags -----------------------------------------------------------------------------------------------------------
(
    PHASE,  # where `advance` goes on
    NUMBER,  # parameter
    ROUND,  # corrections of the solution made
    LONE,  # 1: an equilibrium is differentiated, the last step of the state
    COUNT,  # steps differentiated
    PROBE,  # larger differences still to be tried
    CUTS,  # reductions of the differences by an event
    OWN,  # 1: the step is solved with its own tangent, 0: with the factors that the run has left
    HELD,  # count of steps up to which all have their own tangents
    SPENT,  # corrections in the step beyond the first solutions
    KEPT,  # 1: kinks reduce the differences of the step no more
    REACTIONS,  # 1: residuals of prescribed dofs are asked for
) = range(12)
N_FLAGS = 12
# --- phases ----------------------------------------------------------------------------------------------------------
STEPPING, TANGENT, RESIDUAL, SOLVED = range(4)
# --- real values -----------------------------------------------------------------------------------------------------
(
    DEFECT,  # largest last correction over the solution, where corrections have not become small
    LAST,  # last correction over the solution
    RATE,  # corrections over those before, with the factors of the run
    OWN_RATE,  # the same with the step's own tangent
    MEAN,  # mean number of corrections per step with the factors of the run
    LEFT,  # what is left of a solution, below which no correction follows
    UNEVEN,  # part of the last difference without a sign
    FLOOR,  # change of motions below which kinks do not reduce differences
) = range(8)
N_REALS = 8
#: Solutions that are extrapolated.
N_PAST = 3


class Follow(NamedTuple):
    """Derivatives of a state with respect to scaled parameters, the first index of those with a ``d``; and the start of
    the running step."""

    flags: np.ndarray  # (N_FLAGS,) int64
    reals: np.ndarray  # (N_REALS,)
    motion: np.ndarray  # (n_par,) changes of positions over the model's length, and of rotations, in differences
    size: np.ndarray  # (n_par,) steps of the differences
    force: np.ndarray  # (n_par,) right sides over solutions
    level: np.ndarray  # (n_par,) right sides, of steps some time ago
    usual: np.ndarray  # (n_par,) mean unevenness of laws over the sizes of differences
    probes: np.ndarray  # (2, n_eq) solutions of larger differences
    kinks: np.ndarray  # (n_par,) int64: steps in which laws had a kink
    known: np.ndarray  # (n_par,) int64: number of solutions in ``past_x``
    order: np.ndarray  # (n_par,) int64: number of them that are extrapolated
    past_x: np.ndarray  # (n_par, N_PAST, n_eq) solutions of the last steps, the last one first
    total: np.ndarray  # (n_eq,) solution of the step
    x: np.ndarray  # (n_eq,) right side, then correction of the solution
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
    dplace: np.ndarray  # (n_par, n_driven) of the places of supports
    dctl: np.ndarray  # (n_par, N_CTL) of the weight
    dfuns: np.ndarray  # (n_par * n_steps, n_fun, 3) time functions, steps of a parameter side by side
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
