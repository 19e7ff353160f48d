"""Matrices of a deck's substructures: stiffness and mass of the displacements that *RETAINED NODAL DOFS names.

All other displacements follow these as in statics (Guyan 1965, doi:10.2514/3.2874), under the constraints of the model:

    K = U^T k U,  M = U^T m U        U: displacements of the model by unit retained ones
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_matrix, vstack

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Boundary, Deck, DeckStep
from fem_mbs.solvers.linear.libraries import LinearSolveError
from fem_mbs.solvers.linear.service import factor

if TYPE_CHECKING:
    from fem_mbs.analysis.stability.linearisation import Linearisation

__all__ = ["SUBSTRUCTURE", "check_substructure", "part_of_deck", "retained_interfaces", "retained_matrices"]

SUBSTRUCTURE = "SUBSTRUCTURE GENERATE"
#: Unit displacements that are missed by more are not free.
_MISSED = 1e-6


#: Directions 1 to 6 as interfaces name them.
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")


def part_of_deck(deck: Deck) -> Deck:
    """Return a deck that is to become a part: with its only step SUBSTRUCTURE GENERATE alone, and the supports of the
    linear steps before it, but those of what it retains, which only hold the modes there.

    Raises:
        UnsupportedError: several such steps, a general step before it, supports that move.
    """
    found = [i for i, step in enumerate(deck.steps) if step.procedure == SUBSTRUCTURE]
    if not found:
        return deck
    if len(found) > 1:
        raise UnsupportedError("a second substructure of one deck is not supported", place=deck.steps[found[1]].where,
                               remedy="give it a deck of its own")  # fmt: skip
    own = deck.steps[found[0]]
    before = deck.steps[: found[0]]
    general = next((s for s in before if s.procedure != "FREQUENCY"), None)
    if general is not None:
        raise UnsupportedError(
            f"a substructure after a step {general.procedure} is not supported", place=own.where,
            remedy="give it a deck of its own, with FREQUENCY steps only",
        )  # fmt: skip
    retained = {(int(node), d) for ids, dofs, _ in own.retained for node in ids for d in dofs}
    kept: list[Boundary] = []
    for b in (b for step in before for b in step.boundaries):
        if b.value:
            raise UnsupportedError("supports of the part that move are not supported", place=b.where,
                                   remedy="hold them")  # fmt: skip
        for d in b.dofs:
            nodes = np.array([n for n in b.nodes.tolist() if (n, d) not in retained], np.int64)
            if len(nodes):
                kept.append(replace(b, nodes=nodes, dofs=(d,)))
    return replace(deck, steps=(own,), boundaries=(*deck.boundaries, *kept))


def retained_interfaces(conv: Conversion) -> dict[str, Any]:
    """Return keywords of `fem_mbs.reduce_part` that the deck's SUBSTRUCTURE GENERATE step says: retained nodes as
    interfaces, and the number of modes; nothing without such a step."""
    step = next((s for s in conv.deck.steps if s.procedure == SUBSTRUCTURE), None)
    if step is None:
        return {}
    directions: dict[int, set[int]] = {}
    for ids, dofs, _ in step.retained:
        for node in ids.tolist():
            directions.setdefault(node, set()).update(dofs)
    interfaces = {
        conv.deck.node_name(node): {
            "on": [int(conv.node(node))], "kind": "node", "components": [_COMPONENTS[d - 1] for d in sorted(own)],
        }
        for node, own in directions.items()
    }  # fmt: skip
    if not step.retained_modes:
        return {"interfaces": interfaces, "method": "guyan"}
    return {"interfaces": interfaces, "method": "craig_bampton", "modes": step.retained_modes}


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
                    place=where,
                    remedy="remove the support, or do not retain it (fem-mbs reduce takes supports of FREQUENCY steps)",
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
