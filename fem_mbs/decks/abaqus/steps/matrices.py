"""Matrices of a deck: MATRIX GENERATE and SUBSTRUCTURE GENERATE as linearise_step."""

from __future__ import annotations

from fem_mbs.decks.abaqus.steps.sequence import StepToMake
from fem_mbs.decks.abaqus.substructures import SUBSTRUCTURE, check_substructure
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["add_matrices", "add_substructure"]


def add_matrices(item: StepToMake) -> None:
    """Add the matrices of the whole model."""
    item.conv.note(
        f"{item.step.where}: mass, damping, stiffness and constraints of the free directions are in "
        f"matrices_{item.name.replace(' ', '_')}.npz; loads and single elements have no matrices", Effect.DIFFERS,
    )  # fmt: skip
    item.conv.model.linearise_step(item.name)


def add_substructure(item: StepToMake) -> None:
    """Add the matrices of what the step retains.

    Raises:
        UnsupportedError: general steps stand before it.
    """
    if item.before.last or item.before.moved:
        raise UnsupportedError(f"{SUBSTRUCTURE} after other general steps is not supported", place=item.step.where,
                               remedy="give it a deck of its own")  # fmt: skip
    check_substructure(item.conv, item.step)
    item.conv.model.linearise_step(item.name)
