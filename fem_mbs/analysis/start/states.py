"""Rates of the state variables of elements, which the state and the time give: x' = g."""

from __future__ import annotations

import numpy as np

from fem_mbs.system.tangent import Tangent

__all__ = ["state_rates"]


def state_rates(here: Tangent) -> np.ndarray:
    """Return x' (N,) of the state variables at a state, over their sizes; zero elsewhere.  The velocities of their dofs
    do not matter."""
    compiled = here.compiled
    states, out = compiled.system.states, np.zeros(compiled.n_dof)
    blocks = [block for block in compiled.blocks if block.type.states]
    if not blocks:
        return out
    V = here.state.V.copy()
    V[:, states] = 0.0
    V[1] = V[0]
    at = here.at(here.state._replace(V=V))
    # the rows of state variables are x' - g; (the weight of velocities, for kernels to know of time)
    out[states] = -at.matrices.force(at.control(damping=1.0), at.functions, at.state, blocks)[states]
    return out
