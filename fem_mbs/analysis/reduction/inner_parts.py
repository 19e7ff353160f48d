"""Recover the meshes of reduced parts within the model of a part: their nodes follow those of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.recovery.recovered import RecoveredNodes
from fem_mbs.analysis.reduction.projection import NodalLoad
from fem_mbs.model.parts.reduced import PlacedPart
from fem_mbs.parts.part import Recovery
from fem_mbs.parts.recovery import heated_by, need_recovery, stresses, turned

__all__ = ["keeps_inner_stresses", "with_inner_parts"]


def keeps_inner_stresses(linear: Linearised) -> bool:
    """Return whether a reduced part of the model has stresses of its mesh."""
    parts = [placed.part.recovery for placed in linear.compiled.model.reduced_parts.values()]
    return any(recovery is not None and recovery.stress is not None for recovery in parts)


def with_inner_parts(
    recovery: Recovery, linear: Linearised, u: np.ndarray, stress: bool, loads: Sequence[NodalLoad]
) -> Recovery:
    """Return the recovery of a model with the nodes of the reduced parts in it behind its own.

    Displacements and rotations are those of small motions about the state of the model, stresses are in its axes.
    Parts that hold no fields of their mesh add nothing.

    Args:
        u: (N, n) all dofs per unit of the n coordinates of the new part.
        stress: whether stresses are kept.
        loads: those of the model; the ones that are heat in an inner part add to ``heat``.
    """
    inner = RecoveredNodes(linear.compiled, most=None)
    if not inner.parts:
        return recovery
    state, dim, first = linear.state, linear.system.dimension, inner.first
    at = inner.columns(state.Q[:1], np.zeros_like(state.V[:1]), state.D[:1])["displacement"][0]
    moved, turns = inner.small(state, u)
    fields = [(placed, first + rows.start, need_recovery(placed.part)) for placed, rows in inner.parts]
    turning = np.concatenate([start + own.turning for _, start, own in fields])
    axes = slice(3) if dim == 3 else slice(2, 3)
    whole = replace(
        recovery,
        x=np.concatenate((recovery.x, inner.x + at[:, :dim])),
        names=(*recovery.names, *(f"{placed.name}:{name}" for placed, _, own in fields for name in own.names)),
        displacement=np.concatenate((recovery.displacement, np.moveaxis(moved[:, :, :dim], 0, 2))),
        turning=np.concatenate((recovery.turning, turning)),
        rotation=np.concatenate((recovery.rotation, np.moveaxis(turns[:, turning - first, axes], 0, 2))),
        cells=(*recovery.cells, *((kind, start + nodes) for _, start, own in fields for kind, nodes in own.cells)),
    )
    return _with_stresses(whole, linear, u, inner, loads) if stress else whole


def _with_stresses(
    recovery: Recovery, linear: Linearised, u: np.ndarray, inner: RecoveredNodes, loads: Sequence[NodalLoad]
) -> Recovery:
    """Return the recovery with stresses of the inner parts behind those of the model."""
    stressed = [(placed, rows) for placed, rows in inner.parts if need_recovery(placed.part).stress is not None]
    if not stressed:
        return recovery
    assert recovery.stress is not None and recovery.stressed is not None
    n = u.shape[1]
    nodes, shapes = [recovery.stressed], [recovery.stress]
    rest = [np.zeros((len(recovery.stressed), 6)) if recovery.rest is None else recovery.rest]
    for placed, rows in stressed:
        own = need_recovery(placed.part, True)
        R = inner.rotations(placed, linear.state.D[:1])
        q = linear.state.Q[:1, inner.scalars(placed)]
        assert own.stress is not None
        by_unit = np.einsum("nak,km->mna", own.stress, u[inner.scalars(placed)], optimize=True)
        nodes.append(inner.first + rows.start + np.asarray(own.stressed))
        shapes.append(np.moveaxis(turned(by_unit, np.repeat(R, n, axis=0)), 0, 2))
        rest.append(turned(stresses(heated_by(placed.part, placed.heat), q, _levels(linear, placed, loads)), R)[0])
    edges = np.cumsum([len(part) for part in nodes])
    heat = {name: np.pad(values, ((0, edges[-1] - edges[0]), (0, 0))) for name, values in recovery.heat.items()}
    for load in loads:
        for (placed, _), first, last in zip(stressed, edges[:-1], edges[1:], strict=True):
            for name in set(load.name.split(" + ")) & set(placed.heat):
                table = heat.setdefault(load.name, np.zeros((edges[-1], 6)))
                R = inner.rotations(placed, linear.state.D[:1])
                table[first:last] += turned(placed.heat[name][None], R)[0]
    whole = np.concatenate(rest)
    return replace(
        recovery, stress=np.concatenate(shapes), stressed=np.concatenate(nodes), rest=whole if whole.any() else None,
        heat=heat,
    )  # fmt: skip


def _levels(linear: Linearised, placed: PlacedPart, loads: Sequence[NodalLoad]) -> dict[str, np.ndarray]:
    """Return factors (1,) of the state on the loads that heat a part."""
    now = linear.level().values
    return {
        name: now[[load.function]] for load in loads for name in load.name.split(" + ") if name in placed.heat
    }  # fmt: skip
