"""Matrices of a deck's substructures: stiffness and mass of the displacements that *RETAINED NODAL DOFS names.

All other displacements follow these as in statics (Guyan 1965, doi:10.2514/3.2874), under the constraints of the model:

    K = U^T k U,  M = U^T m U        U: displacements of the model by unit retained ones
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix, vstack

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import DeckStep
from fem_mbs.solvers.linear.libraries import LinearSolveError
from fem_mbs.solvers.linear.service import factor

if TYPE_CHECKING:
    from fem_mbs.analysis.stability.linearisation import Linearisation

__all__ = ["SUBSTRUCTURE", "check_substructure", "retained_matrices"]

SUBSTRUCTURE = "SUBSTRUCTURE GENERATE"
#: Unit displacements that are missed by more are not free.
_MISSED = 1e-6


def check_substructure(conv: Conversion, step: DeckStep) -> None:
    """Refuse retained displacements that do not exist, that supports hold or whose nodes have axes of their own.

    Raises:
        ModelError: with the line of *RETAINED NODAL DOFS.
    """
    if not step.retained:
        raise ModelError("the substructure retains nothing", place=step.where, remedy="add *RETAINED NODAL DOFS")
    boundaries = (*conv.deck.boundaries, *(b for s in conv.deck.steps for b in s.boundaries))
    seen: set[tuple[int, int]] = set()
    for ids, dofs, where in step.retained:
        nodes = conv.nodes(ids)
        if conv.transform_of(nodes)[1].any():
            raise UnsupportedError("retained displacements in the axes of a *TRANSFORM are not supported", place=where,
                                   remedy="remove the transform of the nodes")  # fmt: skip
        there = conv.used[nodes][:, None] & (conv.rotational[nodes][:, None] | (np.array(dofs) <= 3))
        if not there.all():
            node, k = np.argwhere(~there)[0]
            raise ModelError(f"node {conv.name_of(int(nodes[node]))} has no direction {dofs[k]}", place=where,
                             remedy="leave it out")  # fmt: skip
        for b in boundaries:
            held = np.isin(ids, b.nodes)
            if held.any() and set(dofs) & set(b.dofs):
                raise ModelError(
                    f"node {conv.name_of(int(nodes[held.argmax()]))} is held in a retained direction ({b.where})",
                    place=where, remedy="remove the support, or do not retain it",
                )  # fmt: skip
        pairs = [(int(node), d) for node in nodes for d in dofs]
        if len(seen | set(pairs)) < len(seen) + len(pairs):
            raise ModelError("a displacement is retained twice", place=where, remedy="name it once")
        seen |= set(pairs)


def retained_matrices(
    conv: Conversion, step: DeckStep, linear: Linearisation
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:  # fmt: skip
    """Return ids (a,) of nodes, directions (a,) from 1, and the symmetric matrices (a, a) "K" [N/m], "M" [kg] if the
    deck asks for masses.

    Raises:
        ModelError: the retained displacements depend on each other, or the model moves with them held.
    """
    ids = np.concatenate([np.repeat(nodes, len(dofs)) for nodes, dofs, _ in step.retained])
    dofs = np.concatenate([np.tile(dofs, len(nodes)) for nodes, dofs, _ in step.retained])
    places = linear.system.offset[conv.nodes(ids)] + dofs - 1
    at = np.full(linear.system.n_dof, -1)
    at[linear.dofs] = np.arange(len(linear.dofs))
    columns, a, n = at[places], len(places), len(linear.dofs)
    where = step.retained[0][2]
    if (columns < 0).any():
        k = int(np.argmin(columns))
        raise ModelError(f"node {conv.deck.node_name(int(ids[k]))} cannot move in direction {dofs[k]}", place=where,
                         remedy="do not retain it")  # fmt: skip
    picks = coo_matrix((np.ones(a), (np.arange(a), columns)), shape=(a, n)).tocsr()
    rows = vstack((picks, linear.G), format="csr")  # of dependent rows the first ones stay
    U = np.zeros((n, a))
    try:
        saddle = factor(linear.K, rows, "saddle")
        for k, unit in enumerate(np.eye(a, rows.shape[0])):
            U[:, k] = saddle.solve(np.zeros(n), unit)[0]
    except LinearSolveError:
        raise ModelError("the model can move with the retained displacements held", place=where,
                         remedy="retain more, or hold it") from None  # fmt: skip
    size = np.abs(U).max(initial=1.0)
    if not np.abs(picks @ U - np.eye(a)).max() < _MISSED or not np.abs(linear.G @ U).max(initial=0.0) < _MISSED * size:
        raise ModelError("the retained displacements depend on each other by equations or couplings", place=where,
                         remedy="retain those that are independent")  # fmt: skip
    found = {"K": linear.K} | ({"M": linear.M} if step.retained_mass else {})
    dense = {name: U.T @ (A @ U) for name, A in found.items()}
    return ids, dofs, {name: 0.5 * (A + A.T) for name, A in dense.items()}
