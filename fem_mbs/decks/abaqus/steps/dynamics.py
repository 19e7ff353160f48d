"""Transients of a deck.

DYNAMIC         linear_transient_step, with NLGEOM transient_step, by HHT's rule
MODAL DYNAMIC   linear_transient_step by the modes of the last FREQUENCY step
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.materials import density_of
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.steps.sequence import StepPlan, StepToMake
from fem_mbs.decks.abaqus.steps.superposition import modal_damping, modes_before
from fem_mbs.decks.abaqus.time import is_general
from fem_mbs.errors import ModelError
from fem_mbs.meshes.abaqus.deck import DeckStep, OutputRequest
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["add_modal_transient", "add_transient"]

#: Time steps of a DYNAMIC step without DIRECT: at least so many, if its first increment is longer.
_LEAST = 10
#: Time steps beyond which automatic increments become adaptive ones, and their tolerance over the model's length.
_MANY, _TOLERANCE = 20000, 1e-3
#: Time steps of an EXPLICIT step, whose own increments are as long as a wave needs across the smallest element: each
#: stands for so many of these, but there are so many at least and at most.
_WAVES, _FEWEST, _MOST = 5, 200, 5000


def add_transient(item: StepToMake) -> None:
    """Add a transient, linear or not.

    Raises:
        ModelError: it cannot go on from the steps before.
    """
    conv, step = item.conv, item.step
    if any(_is_modal(conv, m) for m in item.before.made):
        raise ModelError("DYNAMIC after MODAL DYNAMIC is not supported", place=step.where,
                         remedy="give it a deck of its own")  # fmt: skip
    # explicit increments that the program chooses, or too many of them
    free = step.explicit and not step.duration / _MANY <= step.increment < step.duration
    if step.explicit:
        if not free:
            conv.note(f"{step.where}: EXPLICIT is not used; the step is implicit", Effect.NONE)
        if step.min_increment > 0.0:
            conv.note(f"{step.where}: masses are not scaled for the least explicit increment {step.min_increment:g}")
    n = _time_steps(conv, step, free)
    frames = _every(item.prints, n) if step.direct else 100
    options: dict[str, Any] = {"rule": "hht", "alpha": step.alpha, "frames": frames}
    if conv.is_nonlinear(step):
        _nonlinear(item, free, n, options)
        return
    if free:
        conv.note(
            f"{step.where}: EXPLICIT is not used: the step has {n} implicit time steps of {step.duration / n:.3g}, "
            "which damp vibrations of less than some ten of them", Effect.DIFFERS,
        )  # fmt: skip
    conv.model.linear_transient_step(
        step.duration, step.duration / n, name=item.name, start=item.before.last, supports=item.supports,
        without=item.without, **options,
    )  # fmt: skip
    item.before.after_transient(item.name)


def _time_steps(conv: Conversion, step: DeckStep, free: bool) -> int:
    """Return the number of time steps of a DYNAMIC step."""
    if free:
        return _explicit_steps(conv, step)
    h = step.increment if step.direct else min(step.increment, step.duration / _LEAST)
    return max(1, round(step.duration / h))


def _nonlinear(item: StepToMake, free: bool, n: int, options: dict[str, Any]) -> None:
    """Add a transient with large displacements, whose increments are adaptive where the program may choose them."""
    conv, step = item.conv, item.step
    if item.before.swung:
        raise ModelError("a nonlinear DYNAMIC step cannot go on from a linear one", place=step.where,
                         remedy="give NLGEOM to the DYNAMIC steps before it, too")  # fmt: skip
    if free or (not step.direct and n > _MANY):
        how = "EXPLICIT is not used: the" if free else "the"
        conv.note(
            f"{step.where}: {how} increments of DYNAMIC are adaptive, with a local error of {_TOLERANCE:g}",
            Effect.DIFFERS if free else Effect.NONE,
        )
        conv.model.transient_step(
            step.duration, step.duration / 1000, item.name, rule="midpoint", adaptive=_TOLERANCE,
            supports=item.supports,
        )  # fmt: skip
    else:
        conv.model.transient_step(step.duration, step.duration / n, item.name, supports=item.supports, **options)
    item.before.after_motion()


def _explicit_steps(conv: Conversion, step: DeckStep) -> int:
    """Return the number of implicit time steps of an explicit step of the deck.

    The length of each is the time that a wave needs across the smallest element.
    """
    shortest = step.duration / _FEWEST
    for group in conv.groups:
        name = getattr(group.section, "material", None)
        material = conv.deck.materials.get(name or "")
        if material is None or material.elastic is None or material.density is None:
            continue
        x = conv.deck.x[group.nodes]
        sides = np.linalg.norm(x - np.roll(x, 1, axis=1), axis=2)
        speed = np.sqrt(float(material.elastic.constants[0, 0]) / density_of(conv, material))
        shortest = min(shortest, _WAVES * float(sides[sides > 0.0].min()) / speed)
    return int(np.clip(step.duration / shortest, _FEWEST, _MOST))


def add_modal_transient(item: StepToMake) -> None:
    """Add a transient by modes, which goes on from the one before.

    Raises:
        ModelError: other general steps stand before it.
    """
    conv, step, made = item.conv, item.step, item.before.made
    other = next((m for m in made if is_general(conv.deck.steps[m.index]) and not _is_modal(conv, m)), None)
    if other is not None:
        raise ModelError(
            f"MODAL DYNAMIC after step {other.index + 1} ({conv.deck.steps[other.index].procedure}) is not supported",
            place=step.where, remedy="give it a deck without that step",
        )  # fmt: skip
    modes = modes_before(item)
    n = max(1, round(step.duration / step.increment))
    if not step.direct:
        conv.note(f"{step.where}: the increments of MODAL DYNAMIC are all as long as the first one", Effect.NONE)
    start = next((m.name for m in reversed(made) if _is_modal(conv, m)), "")
    conv.model.linear_transient_step(
        step.duration, step.duration / n, name=item.name, start=start, modes=modes, frames=_every(item.prints, n),
        **modal_damping(item, modes),
    )  # fmt: skip
    item.before.after_transient(item.name)


def _is_modal(conv: Conversion, plan: StepPlan) -> bool:
    return conv.deck.steps[plan.index].procedure == "MODAL DYNAMIC"


def _every(prints: tuple[OutputRequest, ...], n: int) -> int:
    """Return number of states to keep of n time steps, so that every printed one is among them."""
    every = [o.frequency for o in prints if o.frequency > 0 and o.variables]
    if not every:
        return min(n, 100)
    return max(1, n // int(np.gcd.reduce(every)))
