"""Components that keep their inertia in a reduction of a Nastran deck: ASET, OMIT, BSET, QSET.

The components that are in no set of the a-set follow the others as in statics.  Statics is the same without this; modes
are those of the reduced model (`fem_mbs.analysis.linear.modes.masters`).  QSET holds the amplitudes of the lowest modes
with the a-set held, as many as it has components (MSC Nastran: component modes of the residual structure).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.nastran.constraints.rows import Rows
from fem_mbs.decks.nastran.constraints.supports import Supports, known_nodes
from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["check_reduction", "find_masters", "is_reduced", "modal_coordinates"]

_KEPT = ("ASET", "ASET1", "BSET", "BSET1")
_OMITTED = ("OMIT", "OMIT1")
_MODAL = ("QSET", "QSET1")
_NAMES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")


def is_reduced(conv: Conversion) -> bool:
    """Return whether the deck reduces its model to some of its components."""
    return bool(conv.deck.of(*_KEPT, *_OMITTED))


def check_reduction(conv: Conversion, solution: int) -> None:
    """Note where a reduction changes a solution other than modes."""
    cards = conv.deck.of(*_KEPT, *_OMITTED)
    if not cards:
        if conv.deck.of(*_MODAL):
            conv.note("QSET without a reduction has no effect", Effect.NONE, conv.deck.of(*_MODAL)[0].where)
        return
    if solution == 101:
        conv.note(f"{cards[0].name}: static condensation changes no result of statics", Effect.NONE, cards[0].where)
    elif solution != 103:
        conv.note(f"{cards[0].name}: this solution is computed without reduction", where=cards[0].where)


def _components(conv: Conversion, names: tuple[str, ...]) -> dict[int, str]:
    """Return components of the deck that entries name -> their place."""
    out: dict[int, str] = {}
    for card in conv.deck.of(*names):
        for node, digits in _members(conv, card):
            for k in conv.grids.components(node, digits, card.where):
                out[6 * node + k] = card.where
    return out


def _members(conv: Conversion, card: Card) -> list[tuple[int, str | None]]:
    if card.name.endswith("1"):
        ids = conv.grids.own_ids.tolist() if card["ids"] == "ALL" else card["ids"]
        return [(node, card["c"]) for node in known_nodes(conv, card, ids)]
    points = [(card[f"g{k}"], card[f"c{k}"]) for k in "1234"]
    return [(conv.grids.index(g, card.where, scalar=True), c) for g, c in points if g is not None]


def modal_coordinates(conv: Conversion) -> int:
    """Return how many coordinates of modes the deck has.

    Raises:
        UnsupportedError: elements end at them.
    """
    found = _components(conv, _MODAL)
    for dof, where in found.items():
        if conv.used[dof // 6]:
            raise UnsupportedError(
                f"QSET names {conv.grids.ids[dof // 6]}, at which elements end, which is not supported", place=where,
                remedy="name scalar points of their own",
            )  # fmt: skip
    return len(found)


def find_masters(conv: Conversion, subcase: Subcase, rows: Rows, supports: Supports) -> list[dict[str, Any]] | None:
    """Return the masters of the modes of a subcase, as `fem_mbs.model.model.Model.modes_step` takes them; None where
    the deck reduces nothing.

    Raises:
        ModelError: a component is dependent on others.
        UnsupportedError: some, but not all components along turned axes of a grid point are masters.
    """
    if not is_reduced(conv):
        return None
    size = len(conv.grids.ids)
    exists = np.repeat(np.column_stack((conv.used, conv.rotational)), 3, axis=1).ravel()
    exists[[*supports.held, *supports.extra.get(subcase.set("SPC"), {})]] = False
    kept = _components(conv, _KEPT)
    clash = next((dof for dof in kept if dof in rows.dependent), None)
    if clash is not None:
        raise ModelError(
            f"component {clash % 6 + 1} of grid point {conv.grids.ids[clash // 6]} is in the a-set, but depends on "
            f"others ({rows.dependent[clash]})",
            place=kept[clash], remedy="remove it from the set",
        )  # fmt: skip
    exists[list(rows.dependent)] = False
    chosen = np.zeros(6 * size, bool)
    if kept:
        chosen[list(kept)] = True
        chosen[_references(conv)] = True
    else:
        chosen[:] = True
        chosen[list(_components(conv, _OMITTED))] = False
    return _masters(conv, chosen & exists)


def _references(conv: Conversion) -> list[int]:
    """Return the components of SUPORT, which are in the a-set."""
    out: list[int] = []
    for card in conv.deck.of("SUPORT"):
        words = card["terms"]
        for k in range(0, len(words) - 1, 2):
            node = conv.grids.index(words[k], card.where)
            out += [6 * node + c for c in conv.grids.components(node, words[k + 1], card.where)]
    return out


def _masters(conv: Conversion, chosen: np.ndarray) -> list[dict[str, Any]]:
    by_component: list[list[int]] = [[] for _ in range(6)]
    for node, part in np.argwhere(chosen.reshape(-1, 2, 3).any(axis=2)).tolist():
        own = chosen.reshape(-1, 2, 3)[node, part]
        if conv.grids.turned[node] and not own.all():
            where = next((card.where for card in conv.deck.of(*_KEPT, *_OMITTED)), "")
            raise UnsupportedError(
                f"grid point {conv.grids.ids[node]}, whose axes are turned, is in the a-set with some of its "
                "components only, which is not supported",
                place=where, remedy="put all three of its displacements or rotations into the set",
            )  # fmt: skip
        for k in np.flatnonzero(own).tolist():
            by_component[3 * part + k].append(node)
    found = [{"on": nodes, "components": [name]} for nodes, name in zip(by_component, _NAMES, strict=True) if nodes]
    if not found:
        card = conv.deck.of(*_KEPT, *_OMITTED)[0]
        raise ModelError("the a-set has no component that can move", place=card.where, remedy="name others")
    return found
