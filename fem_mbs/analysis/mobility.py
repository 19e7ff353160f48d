"""How a model can move at the start: dofs, constraints, redundant ones, motions that strain nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem_mbs.analysis.initial import _constraints, _control, _node_part
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S

__all__ = ["Mobility", "mobility"]

_LARGEST = 600  # dofs; beyond, dense ranks take too long and the softest bending drowns in round-off
_ZERO = 1e-12  # of the largest singular value, in scaled variables


@dataclass(frozen=True)
class Mobility:
    """Free dofs of the nodes, multipliers, and for small models (else None) the multipliers that repeat others and the
    independent motions that joints allow and that strain no element."""

    free: int
    multipliers: int
    redundant: int | None
    strain_free: int | None


def mobility(compiled: CompiledModel, state: S.State) -> Mobility:
    """Count the motions of a model at a state."""
    system = compiled.system
    first = system.first_multiplier
    free = np.flatnonzero(system.system.equation[:first] >= 0)
    m = system.n_dof - 1 - first
    independent = free.size - len(system.system.shared)
    if free.size > _LARGEST or m > _LARGEST:
        return Mobility(independent, m, None, None)
    K = _node_part(compiled, state, _control(compiled.model.gravity, stiffness=2.0))[free][:, free].toarray()
    d = np.sqrt(np.abs(np.diag(K)))
    d[d == 0.0] = 1.0
    G = _constraints(compiled, state)[:, free].toarray() / d
    norm = np.linalg.norm(G, axis=1, keepdims=True)
    norm[norm == 0.0] = 1.0
    rank = int(np.linalg.matrix_rank(G / norm, tol=_ZERO * max(1.0, m))) if len(G) else 0
    rows = np.vstack((K / np.outer(d, d), G / norm))
    stiff = int(np.linalg.matrix_rank(rows, tol=_ZERO * np.linalg.norm(rows, 2))) if free.size else 0
    return Mobility(independent, m, len(G) - rank, free.size - stiff)
