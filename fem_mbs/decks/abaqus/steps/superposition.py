"""Number and damping of the modes of modal steps, from the steps before and from the deck."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.steps.sequence import StepToMake
from fem_mbs.errors import ModelError
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["modal_damping", "modes_before"]


def modes_before(item: StepToMake) -> int:
    """Return the number of modes of the last FREQUENCY step.

    Raises:
        ModelError: there is none with a number of modes.
    """
    step, steps = item.step, item.conv.deck.steps
    modes = next((steps[m.index].n_modes for m in reversed(item.before.made) if "basis" in m.kind.carries), 0)
    if not modes:
        remedy = "add it, or give DIRECT" if step.procedure == "STEADY STATE DYNAMICS" else "add it"
        raise ModelError(
            f"{step.procedure} needs a FREQUENCY step with a number of modes before it, whose modes it takes",
            place=step.where, remedy=remedy,
        )  # fmt: skip
    return modes


def modal_damping(item: StepToMake, modes: int) -> dict[str, Any]:
    """Return the damping options of a step by modes; modes without a ratio are undamped.

    Raises:
        ModelError: Rayleigh's factors of some of the modes.
    """
    conv, step = item.conv, item.step
    if any(any(m.damping) for m in conv.deck.materials.values()):
        conv.note(f"{step.where}: the *DAMPING of materials acts as well (CalculiX leaves it out)", Effect.DIFFERS)
    options: dict[str, Any] = {}
    if step.modal_damping:
        ratios = np.zeros(modes + 1)
        for first, last, ratio in step.modal_damping:
            ratios[first - 1 : last] = ratio
        ratios[modes:] = 0.0
        options["damping"] = ratios.tolist()
    _, last, alpha, beta = step.rayleigh
    if last and last < modes:
        raise ModelError(
            f"MODAL DAMPING, RAYLEIGH is given for modes up to {last} of {modes}", place=step.where,
            remedy="give it for all, or ratios of each",
        )  # fmt: skip
    if alpha or beta:
        options["rayleigh"] = [alpha, beta]
    moved = [b.where for b in step.base_motions] + [b.where for b in step.boundaries if b.value]
    if options and moved and not conv.deck.of_abaqus:
        conv.note(
            f"{moved[0]}: *MODAL DAMPING acts on the motion relative to the supports, as in Abaqus; CalculiX "
            "damps that of the supports too", Effect.DIFFERS,
        )  # fmt: skip
    return options
