"""Mobility of a model at the start: dofs, constraints, redundant ones, motions without strain."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.start.initial import started, unloaded
from fem_mbs.analysis.start.redundancy import constraint_labels, find_constraints, sentences
from fem_mbs.analysis.start.running import road_normals
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import GROUND, Block

__all__ = ["Mobility", "mobility", "unheld"]

_LARGEST = 600  # dofs; beyond, dense ranks take too long and the softest bending drowns in round-off
_ROUND = 1e-9  # of the sum of magnitudes: a smaller sum counts as zero
_ZERO = 1e-12  # of the largest singular value, in scaled variables


@dataclass(frozen=True)
class Mobility:
    """Numbers of free dofs of the nodes, of multipliers and of redundant ones, and sentences on these.

    For small models (else None) there are also the independent motions that joints allow and that strain no element.
    """

    free: int
    multipliers: int
    redundant: int
    sentences: tuple[str, ...]
    strain_free: int | None


def unheld(compiled: CompiledModel, state: S.State, far: bool = False) -> np.ndarray:
    """Return axes (dim,) bool along which the whole model can move without strain and without a joint.

    Tyres hold along the normal of their road, also where they do not press yet. Where the model may move ``far``, so
    does everything else that may be loose at the start only: contacts and springs with play or stops on the ground.
    """
    system, dim = compiled.system, compiled.model.dimension
    first = system.first_multiplier
    places = system.offset[: len(system.nodes.x)][:, None] + np.arange(dim)
    found = np.asarray((system.system.equation[places] >= 0).all(axis=0))
    if not found.any():
        return found  # as of nearly every model
    for normals in road_normals(system):
        found &= ~np.any(np.abs(normals) > _ROUND, axis=0)
    for A in (unloaded(compiled, state).of_nodes(2.0, joints=0.0), started(compiled, state).gradients[:, :first]):
        for axis in np.flatnonzero(found):
            way = np.zeros(first)
            way[places[:, axis]] = 1.0
            found[axis] = np.abs(A @ way).max(initial=0.0) <= _ROUND * (abs(A) @ way).max(initial=0.0)
    if far and found.any() and any(_catches(block) for block in system.blocks):
        found[:] = False
    return found


def _catches(block: Block) -> bool:
    """Return whether elements between the ground and the model may have a stiffness elsewhere, and none here."""
    kind = block.type
    if kind.multipliers or kind.inertia or not (block.nodes[:, : kind.ends] == GROUND).any():
        return False
    return kind.linear is None or not kind.linear(block.par)


def mobility(compiled: CompiledModel, state: S.State) -> Mobility:
    """Count the motions of a model at a state.

    Only the stiffness of elements counts.  Tangents of weight, loads and velocities are left out: they change with the
    rotation of the model, without strain.

    Raises:
        ModelError: a stiffness is not finite; the message names the unknown.
    """
    system = compiled.system
    first = system.first_multiplier
    free = np.flatnonzero(system.movable)
    rows = started(compiled, state).gradients
    small = free.size <= _LARGEST and rows.shape[0] <= _LARGEST
    if small:
        rest = unloaded(compiled, state)
        K, mass = rest.of_nodes(2.0, joints=0.0), rest.M.diagonal()[:first]
        # weighed by masses where there are any, as a step is
        weights = mass if np.any(mass) else K.diagonal()
    else:  # masses would cost more than all else; they only tell units apart
        weights = np.where(system.system.kind[:first] == S.ROTATION, system.length**2, 1.0)
    found = find_constraints(system, rows, weights)
    said = tuple(sentences(found, constraint_labels(system)).values()) if found.loops else ()
    if not small:
        return Mobility(found.free, found.count, found.redundant, said, None)
    K = K[free][:, free].toarray()
    bad = ~np.isfinite(K).all(axis=1)
    if bad.any():
        worst = system.name_of(int(free[int(bad.argmax())]))
        raise ModelError(f"the stiffness at {worst} is not finite", remedy="check the numbers of its elements")
    d = np.sqrt(np.abs(np.diag(K)))
    d[d == 0.0] = 1.0
    G = rows[:, free].toarray() / d
    norm = np.linalg.norm(G, axis=1, keepdims=True)
    norm[norm == 0.0] = 1.0
    both = np.vstack((K / np.outer(d, d), G / norm))
    stiff = int(np.linalg.matrix_rank(both, tol=_ZERO * np.linalg.norm(both, 2))) if free.size else 0
    return Mobility(found.free, found.count, found.redundant, said, free.size - stiff)
