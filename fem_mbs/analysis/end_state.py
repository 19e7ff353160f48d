"""The state that a run has reached, for analyses of small motions about it."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.loading import Loading
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping.layout import State

__all__ = ["EndState"]


@dataclass(frozen=True)
class EndState:
    """A state with its model.

    It holds the arrays, the state, the time [s], the levels of loads, whether a transient has begun (so that the
    velocities of the start are in the state), whether events have changed functions of the model, and the accelerations
    (N,) of a steady motion, angular ones in body axes; None: the equations of motion determine them.
    """

    compiled: CompiledModel
    state: State
    time: float
    loading: Loading
    started: bool = False
    switched: bool = False
    acceleration: np.ndarray | None = None

    @classmethod
    def at_start(cls, compiled: CompiledModel) -> EndState:
        """Return the start of a model, at rest, without loads."""
        return cls(compiled, compiled.system.initial_state(), 0.0, Loading(compiled))
