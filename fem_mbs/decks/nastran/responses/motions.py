"""Supports that responses move: an equation per component, whose displacement is driven.

Over the frequency the displacement is the spectrum of the load over (i w)^n, over time its n-fold integral from zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem_mbs.decks.nastran.constraints.supports import axis_terms
from fem_mbs.decks.nastran.model import RESPONSES, Conversion
from fem_mbs.decks.nastran.responses.excitations import (
    Excitation,
    chosen_loads,
    course_of,
    moved_by,
    moving_supports,
    order_of,
)
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import DoubleIntegral, Integral, TimeFunction
from fem_mbs.meshes.nastran.deck import Subcase

__all__ = ["find_driven", "make_motions", "motion_name"]


def find_driven(conv: Conversion) -> dict[int, str]:
    """Return the components of the deck that responses move -> where."""
    out: dict[int, str] = {}
    if conv.deck.sol not in RESPONSES:
        return out
    names = ("RLOAD1", "RLOAD2") if conv.over_frequency else ("TLOAD1", "TLOAD2")
    for subcase in conv.deck.subcases:
        if not subcase.set("DLOAD"):
            continue
        for card, _ in chosen_loads(conv, subcase, names):
            if order_of(card) is not None:
                out |= dict.fromkeys(moved_by(conv, card, subcase), card.where)
    return out


def _displacement(conv: Conversion, loads: list[Excitation]) -> TimeFunction:
    """Return the displacement over time of a support that loads move."""
    parts = []
    for load in loads:
        (amount,) = load.moves.values()
        course = make_function(course_of(conv, replace(load, factor=load.factor * amount)))
        for kind in ((), (Integral,), (DoubleIntegral,))[load.order]:
            course = kind(course)
        parts.append(course)
    return parts[0] if len(parts) == 1 else make_function({"kind": "sum", "functions": parts})


def motion_name(conv: Conversion, dof: int) -> str:
    """Return the name of the equation by which a support moves."""
    return f"motion of {conv.grids.ids[dof // 6]}-{dof % 6 + 1}"


def make_motions(conv: Conversion) -> None:
    """Create the equations by which responses move supports; over frequency their spectra are those of the steps.

    Raises:
        UnsupportedError: subcases of transients move a support differently.
    """
    found: dict[int, tuple[Subcase, list[Excitation]]] = {}
    for subcase in conv.deck.subcases if find_driven(conv) else []:
        if not subcase.set("DLOAD"):
            continue
        own: dict[int, list[Excitation]] = {}
        names = ("RLOAD1", "RLOAD2") if conv.over_frequency else ("TLOAD1", "TLOAD2")
        for card, factor in chosen_loads(conv, subcase, names):
            order = order_of(card)
            for load in [] if order is None else moving_supports(conv, card, factor, order, subcase):
                own.setdefault(next(iter(load.moves)), []).append(load)
        for dof, loads in own.items():
            before = found.setdefault(dof, (subcase, loads))
            if before[0] is not subcase and not conv.over_frequency and before[1] != loads:
                raise UnsupportedError(
                    f"component {dof % 6 + 1} of grid point {conv.grids.ids[dof // 6]} moves otherwise in another "
                    "subcase, which is not supported over time",
                    place=loads[0].card.where, remedy="give the subcases decks of their own",
                )  # fmt: skip
    for dof in find_driven(conv):
        node, k = divmod(dof, 6)
        if not conv.used[node] or (k > 2 and not conv.rotational[node]):
            raise ModelError(
                f"component {k + 1} of grid point {conv.grids.ids[node]} moves, but no element has it",
                place=find_driven(conv)[dof], remedy="leave it out of SPCD",
            )  # fmt: skip
        course = make_function({"kind": "constant", "value": 1.0})
        if dof in found and not conv.over_frequency:
            course = _displacement(conv, found[dof][1])
        nodes, components, factors = axis_terms(node, k // 3, conv.grids.axes[node, k % 3])
        conv.model.equations(
            motion_name(conv, dof), np.zeros(len(nodes), int), nodes, components, factors, value=1.0, function=course,
            preferred=False,
        )  # fmt: skip
