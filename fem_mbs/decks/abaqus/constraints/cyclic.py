"""Cyclic symmetry of a deck: *TIE, CYCLIC SYMMETRY and *CYCLIC SYMMETRY MODEL as the model's `cyclic_symmetry`.

Both programs compute waves of a nodal diameter in FREQUENCY steps with *SELECT CYCLIC SYMMETRY MODES, and what is equal
in all sectors in other steps.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.loads import surface_facets
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import CyclicModel, DeckStep
from fem_mbs.meshes.cells import FACETS
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["make_cyclic_modes", "make_sectors"]


def make_sectors(conv: Conversion) -> None:
    """Let the faces of sectors follow each other.

    Raises:
        ModelError: a model without its tie, or the other way round, faces that do not meet.
    """
    deck = conv.deck
    taken: set[str] = set()
    for number, model in enumerate(deck.cyclic_models, 1):
        tie = next((t for t in deck.cyclic_ties if t.name == model.tie or not model.tie), None)
        if tie is None or (not model.tie and len(deck.cyclic_ties) > 1):
            given = f"TIE={model.tie}" if model.tie else "without TIE"
            known = ", ".join(t.name for t in deck.cyclic_ties) or "none"
            raise ModelError(
                f"*CYCLIC SYMMETRY MODEL {given} has no *TIE, CYCLIC SYMMETRY of its own (there are: {known})",
                place=model.where, remedy="name one",
            )  # fmt: skip
        taken.add(tie.name)
        name = f"cyclic symmetry {number}" + (f" {tie.name}" if tie.name else "")
        conv.places[name] = tie.where
        slave, master = (_nodes(conv, surface, tie.where) for surface in (tie.slave, tie.master))
        axis, point = _axis(conv, model)
        conv.model.cyclic_symmetry(name, slave, master, model.sectors, axis, point, tie.tolerance)
    idle = next((t for t in deck.cyclic_ties if t.name not in taken), None)
    if idle is not None:
        raise ModelError(
            "*TIE, CYCLIC SYMMETRY has no *CYCLIC SYMMETRY MODEL, which says how many sectors there are",
            place=idle.where, remedy="add it",
        )  # fmt: skip


def _axis(conv: Conversion, model: CyclicModel) -> tuple[np.ndarray | None, np.ndarray]:
    """Return direction of the axis, None in the plane, and a point of it.

    Raises:
        UnsupportedError: a plane model about an axis in its plane.
    """
    axis = model.b - model.a
    if not conv.plane:
        return axis, model.a
    if np.abs(axis[:2]).max() > 1e-9 * np.abs(axis).max():
        raise UnsupportedError("plane elements turn about an axis along z only", place=model.where)
    return None, model.a[:2]


def _nodes(conv: Conversion, name: str, where: str) -> np.ndarray:
    """Return the nodes (n,) of a surface that elements use."""
    surface = conv.deck.surfaces[name]
    if surface.kind != "element":
        found = conv.nodes(surface.nodes)
    else:
        parts = [np.empty(0, int)]
        for group, rows, faces in surface_facets(conv, name, where):
            for face in np.unique(faces):
                local = FACETS[group.cell][face][1]
                parts.append(group.nodes[rows[faces == face]][:, list(local)].ravel())
        found = np.concatenate(parts)
    found = np.unique(found)
    return found[conv.used[found]]


def make_cyclic_modes(conv: Conversion, step: DeckStep, name: str, preload: str, supports: list[str]) -> None:
    """Add modes by nodal diameters, as *SELECT CYCLIC SYMMETRY MODES asks for them.

    The programs list a wave twice, once for each direction; so half of the number is enough, but for the diameters 0
    and N/2, which have modes of one kind.

    Raises:
        ModelError: a model without cyclic symmetry, bounds of frequencies, nodal diameters that there are not.
    """
    low, high = step.nodal_diameters or (0, None)
    if not conv.deck.cyclic_models:
        raise ModelError(
            "*SELECT CYCLIC SYMMETRY MODES needs a *CYCLIC SYMMETRY MODEL", place=step.where, remedy="add it"
        )
    if not step.n_modes or np.isfinite(step.lower) or np.isfinite(step.upper):
        raise UnsupportedError(
            "bounds of FREQUENCY by nodal diameters are not supported", place=step.where,
            remedy="give the number of modes alone",
        )  # fmt: skip
    sectors = conv.deck.cyclic_models[0].sectors
    high = sectors // 2 if high is None else high
    if not 0 <= low <= high <= sectors // 2:
        raise ModelError(
            f"NMIN={low}, NMAX={high}: a wheel of {sectors} sectors has nodal diameters from 0 to {sectors // 2}",
            place=step.where, remedy="give numbers between them, NMAX not below NMIN",
        )  # fmt: skip
    single = low == 0 or 2 * high == sectors
    count = step.n_modes if single else (step.n_modes + 1) // 2
    conv.note(
        f"{step.where}: waves in both directions are one mode, of {count} modes of each nodal diameter", Effect.NONE
    )
    conv.model.cyclic_modes_step(
        count, name, preload=preload, supports=supports, nodal_diameters=list(range(low, high + 1))
    )
