"""Modes of a deck.

FREQUENCY                      modes_step; with PERTURBATION about the preloaded state
COMPLEX FREQUENCY, CORIOLIS    complex_modes_step in the span of the modes of the last FREQUENCY step
BUCKLE                         buckling_step of the loads of the step; with PERTURBATION about the preloaded state
"""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.constraints.cyclic import make_cyclic_modes
from fem_mbs.decks.abaqus.steps.sequence import StepToMake
from fem_mbs.errors import ModelError
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["add_buckling", "add_complex_modes", "add_modes"]


def add_modes(item: StepToMake) -> None:
    """Add real modes: the lowest, those of a band, or those of a cyclic part by its nodal diameters.

    Raises:
        ModelError: a lower bound alone.
    """
    conv, step = item.conv, item.step
    if item.before.moved and not step.perturbation:
        conv.note(
            f"{step.where}: FREQUENCY without PERTURBATION is computed about the state that the steps before have left",
            Effect.NONE,
        )
    if step.nodal_diameters is not None:
        make_cyclic_modes(conv, step, item.name, item.about, item.supports)
        return
    bounded = np.isfinite(step.upper) or np.isfinite(step.lower)
    if bounded and not step.n_modes:
        if not np.isfinite(step.upper):
            raise ModelError(
                "FREQUENCY with a lower bound needs an upper one, or the number of modes", place=step.where
            )
        band = (max(step.lower, 0.0) if np.isfinite(step.lower) else 0.0, step.upper)
        conv.model.modes_step(
            10, item.name, band=band, preload=item.about, supports=item.supports, without=item.without
        )
        return
    within = (float(step.lower), float(step.upper)) if bounded else None  # of the lowest, as in CalculiX
    conv.model.modes_step(
        step.n_modes, item.name, within=within, preload=item.about, supports=item.supports, without=item.without
    )


def add_complex_modes(item: StepToMake) -> None:
    """Add complex modes with Coriolis forces; both programs compute in the span of the modes of the last FREQUENCY
    step.

    Raises:
        ModelError: no such step, or nothing that says how the frame turns.
    """
    conv, step = item.conv, item.step
    basis = next((m.name for m in reversed(item.before.made) if "basis" in m.kind.carries), "")
    if not basis:
        raise ModelError("COMPLEX FREQUENCY needs a FREQUENCY step before it, whose modes it takes", place=step.where)
    if conv.model.building.rotating is None:
        raise ModelError("CORIOLIS needs a CENTRIF load, which says how the frame turns", place=step.where)
    conv.model.complex_modes_step(step.n_modes, item.name, coriolis=True, basis=basis, preload=item.about)


def add_buckling(item: StepToMake) -> None:
    """Add buckling by the loads of the step.

    Raises:
        ModelError: it has none.
    """
    conv, step = item.conv, item.step
    loads = item.need_loads("BUCKLE step")
    if not step.perturbation and item.before.moved:
        conv.note(
            f"{step.where}: BUCKLE without PERTURBATION is computed about the state of the steps before", Effect.DIFFERS
        )
    conv.model.buckling_step(
        step.n_modes, loads=loads, name=item.name, sign="positive", preload=item.about, supports=item.supports
    )
