"""Submodels: nodes that take displacements and temperatures from the results of a global model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.constraints import dof_of
from fem_mbs.meshes.abaqus.deck import Driven, Submodel
from fem_mbs.meshes.abaqus.text import Card, where

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["driven_nodes", "submodel"]


def submodel(deck: Reading, card: Card) -> None:
    """Read nodes that follow the results INPUT of a global model: those of TYPE=NODE."""
    if deck.step is not None:
        card.fail("it stands in a step; put it before the first *STEP")
    kind = card.get("TYPE", "NODE")
    if kind != "NODE":
        card.fail(f"TYPE={kind} is not read; give TYPE=NODE, whose displacements follow the global model")
    file = (card.params.get("INPUT") or "").strip().strip('"')
    if not file:
        card.fail("parameter INPUT is missing; write INPUT=results folder, or INPUT=NAME.frd of CalculiX")
    card.taken.add("INPUT")
    elset = card.get("GLOBAL ELSET")
    relative, absolute = card.number("EXTERIOR TOLERANCE", np.nan), card.number("ABSOLUTE EXTERIOR TOLERANCE", np.nan)
    for name, value in (("EXTERIOR", relative), ("ABSOLUTE EXTERIOR", absolute)):
        if value < 0.0:
            card.fail(f"{name} TOLERANCE={value:g}; give a positive number")
    nodes = [deck.mesh.nodes(row, f) for row, fields in card.rows() for f in fields if f]
    if not nodes:
        card.fail("no nodes; give the nodes or sets that follow the global model")
    elements = None if elset is None else deck.mesh.elset(card, elset)
    deck.submodels.append(
        Submodel(
            np.unique(np.concatenate(nodes)), file, elements, None if np.isnan(relative) else relative,
            None if np.isnan(absolute) else absolute, where(card),
        )
    )  # fmt: skip


def driven_nodes(deck: Reading, card: Card) -> None:
    """Read which nodes follow the global model in a step: of *BOUNDARY in which directions, of *TEMPERATURE."""
    if deck.step is None:
        card.fail("SUBMODEL stands outside of a step; put it between *STEP and *END STEP")
    if not deck.submodels:
        card.fail("there is no *SUBMODEL before it; add one, with INPUT=results of the global model")
    card.flag("SUBMODEL")
    if card.has("DATA SET"):
        card.fail("DATA SET is not read: submodels do not follow modes of the global model; give STEP")
    step = card.count("STEP", 0)
    if not step:
        card.fail("parameter STEP is missing; give the number of the step of the global model")
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        dofs: tuple[int, ...] = ()
        if card.keyword == "BOUNDARY":
            first = dof_of(row, fields, 1)
            last = dof_of(row, fields, 2) if len(fields) > 2 and fields[2] else first
            if last < first:
                row.fail(f"directions {first} to {last}; give numbers from 1 to 6 that rise")
            dofs = tuple(range(first, last + 1))
        deck.surplus(row, fields, 3 if dofs else 1)
        deck.step.lists["driven"].append(Driven(nodes, dofs, step, where(row)))
