"""Steady vibrations of a deck: STEADY STATE DYNAMICS as harmonic_step, direct or by the modes of the last FREQUENCY
step."""

from __future__ import annotations

from typing import Any

from fem_mbs.decks.abaqus.steps.sequence import StepToMake
from fem_mbs.decks.abaqus.steps.superposition import modal_damping, modes_before
from fem_mbs.decks.abaqus.vibrations import make_vibrations
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["add_vibrations"]


def add_vibrations(item: StepToMake) -> None:
    """Add steady vibrations, direct or by as many modes as the last FREQUENCY step has.

    Modes alone count, as in CalculiX and Abaqus, without the static deflections of the others.

    Raises:
        UnsupportedError: materials with different structural damping.
    """
    conv, step = item.conv, item.step
    options: dict[str, Any] = {"method": "direct"}
    if not step.direct:
        modes = modes_before(item)
        options = {"method": "modal", "modes": modes, "residual": False, **modal_damping(item, modes)}
    loss = {m.structural for m in conv.deck.materials.values()}
    if len(loss) > 1:
        raise UnsupportedError("materials with different STRUCTURAL damping are not supported", place=step.where,
                               remedy="give all the same")  # fmt: skip
    options["structural"] = max(loss, default=0.0)
    if conv.model.building.rotating is not None and step.perturbation:
        options["coriolis"] = True
        conv.note(
            f"{step.where}: vibrations in the frame of the CENTRIF load have its Coriolis forces (Abaqus leaves them "
            "out, CalculiX multiplies by them wrongly)",
            Effect.DIFFERS,
        )
    loads = {load: item.plan.shakes[load] for load in item.loads}
    make_vibrations(conv, item.index, item.name, item.about, loads, options)
