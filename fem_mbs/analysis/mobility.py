"""How a model can move at the start: dofs, constraints, redundant ones, motions that strain nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem_mbs.analysis.initial import _constraints, _control, _node_part
from fem_mbs.analysis.redundancy import constraint_labels, find_constraints, sentences
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S

__all__ = ["Mobility", "mobility"]

_LARGEST = 600  # dofs; beyond, dense ranks take too long and the softest bending drowns in round-off
_ZERO = 1e-12  # of the largest singular value, in scaled variables


@dataclass(frozen=True)
class Mobility:
    """Free dofs of the nodes, multipliers, those that repeat others, what is to be said of them (sentences), and for
    small models (else None) the independent motions that joints allow and that strain no element."""

    free: int
    multipliers: int
    redundant: int
    sentences: tuple[str, ...]
    strain_free: int | None


def mobility(compiled: CompiledModel, state: S.State) -> Mobility:
    """Count the motions of a model at a state."""
    system = compiled.system
    first = system.first_multiplier
    free = np.flatnonzero(system.system.equation[:first] >= 0)
    K = _node_part(compiled, state, _control(compiled.model.gravity, stiffness=2.0))
    mass = _node_part(compiled, state, _control(compiled.model.gravity, mass=1.0)).diagonal()
    rows = _constraints(compiled, state)
    # weighed by masses where there are any, as a step is
    found = find_constraints(system, rows, mass if np.any(mass) else K.diagonal())
    said = tuple(sentences(found, constraint_labels(system)).values()) if found.loops else ()
    if free.size > _LARGEST or found.count > _LARGEST:
        return Mobility(found.free, found.count, found.redundant, said, None)
    K = K[free][:, free].toarray()
    d = np.sqrt(np.abs(np.diag(K)))
    d[d == 0.0] = 1.0
    G = rows[:, free].toarray() / d
    norm = np.linalg.norm(G, axis=1, keepdims=True)
    norm[norm == 0.0] = 1.0
    both = np.vstack((K / np.outer(d, d), G / norm))
    stiff = int(np.linalg.matrix_rank(both, tol=_ZERO * np.linalg.norm(both, 2))) if free.size else 0
    return Mobility(found.free, found.count, found.redundant, said, free.size - stiff)
