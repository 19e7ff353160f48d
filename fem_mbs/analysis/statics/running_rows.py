"""Results of a steady motion: its row of sensors and its frame, and the speeds of what spins."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.start.running import frame_of
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.system.states import instant
from fem_mbs.system.tangent import Tangent

__all__ = ["record_instant", "relative_spins"]

_SPINS = 1e-6  # speed over the largest one, below which a node does not spin


def record_instant(context: RunContext) -> None:
    """Record the present, moving state of a run as a row of sensors and a frame, with the forces of this instant."""
    system, state = context.system, context.state
    values = function_jets(context.compiled, context.time)[:, 0]
    stepping = Stepping(
        system, context.loading.functions(), state, context.model.gravity, rule="midpoint", t0=context.time, h=1e-3,
        settings=Settings(),
    )  # fmt: skip
    stepping.begin()
    here = Tangent(system, instant(system, state), context.loading.level(values))
    for number, block in enumerate(system.blocks):
        width = block.size * len(block.type.outputs)
        if width:
            state.out[block.first_output : block.first_output + width] = here.outputs(number).ravel()
    held = np.flatnonzero(system.system.equation < 0)
    state.reaction[:, held] = here.force()[held]
    context.rows.first(stepping, context.recorder, mid_step_valid=True)


def relative_spins(context: RunContext) -> dict[str, float]:
    """Return the speeds [rad/s] of bodies and nodes that spin in the frame of their running start, by their names."""
    system, model = context.system, context.model
    here = instant(system, context.state)
    frame = frame_of(context.compiled, here)
    W = here.V[0, system.system.rotations] - frame.body_spins(system, here)
    speeds = np.linalg.norm(W, axis=1)
    rows = np.full(len(system.nodes.x), -1)
    rows[system.nodes.rotational] = system.rot_row[system.nodes.rotational]
    found = {}
    for node in np.flatnonzero(frame.nodes & system.nodes.rotational):
        speed = float(speeds[rows[node]])
        if speed > _SPINS * speeds.max():
            found[model.building.node_name(int(node))] = speed
    return found
