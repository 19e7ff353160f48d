"""Imperfections of a deck: nodes moved by displacements, or by shapes of a step of another deck that stands beside it.

Abaqus reads the shapes from the results file of another job.  Here the deck of that job is computed, up to the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError, ResultsError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Deck, Imperfection
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.results.modes.shapes import shape_of

__all__ = ["imperfect"]

#: Procedures whose steps have shapes.
_SHAPES = ("FREQUENCY", "BUCKLE")


def imperfect(deck: Deck, solve: Callable[[Deck], tuple]) -> Deck:
    """Return a deck whose nodes stand where its imperfections have them.

    Args:
        solve: computes a deck and returns it converted, with its results and the number of the step of the model for
            each step of the deck.

    Raises:
        ModelError: there is no such deck, step, shape or node.
    """
    if not deck.imperfections:
        return deck
    x = deck.x.copy()
    solved: dict[tuple[Path, int], tuple] = {}
    for entry in deck.imperfections:
        if not entry.file:
            x[deck.nodes_in(entry.nodes)] += entry.vectors
            continue
        path = _deck_of(deck, entry)
        key = path, entry.step
        if key not in solved:
            solved[key] = _solved(deck, entry, path, solve)
        other, step, results = solved[key]
        place = {other.node_name(int(n)): i for i, n in enumerate(other.node_ids)}
        ids = entry.nodes if len(entry.nodes) else deck.node_ids
        names = [deck.node_name(int(n)) for n in ids]
        lost = next((n for n in names if n not in place), None)
        if lost is not None:
            raise ModelError(f"the deck {path.name} has no node {lost}", place=entry.where,
                             remedy="the shapes must be those of the same mesh")  # fmt: skip
        of = np.array([place[n] for n in names])
        at = deck.nodes_in(np.asarray(ids))
        shapes = other.steps[entry.step - 1].procedure in _SHAPES
        for number, factor in entry.modes:
            try:
                u = shape_of(results, step, number if shapes else 0)
            except ResultsError as error:
                raise ModelError(str(error), place=entry.where) from None
            x[at] += factor * u[of]
    return replace(deck, x=x, imperfections=())


def _deck_of(deck: Deck, entry: Imperfection) -> Path:
    """Return the deck of the job whose results an imperfection names: a file beside the deck, or the deck itself.

    Raises:
        ModelError: there is none.
    """
    folder = Path(deck.source).parent
    wanted = Path(entry.file).name.lower()
    known = {p.stem.lower(): p for p in sorted(folder.iterdir()) if p.suffix.lower() == ".inp"}
    for name in (wanted, Path(wanted).stem):
        if name in known:
            return known[name]
    raise ModelError(
        f"there is no deck {entry.file.lower()}.inp beside it, whose shapes the imperfection takes", place=entry.where,
        remedy="put the deck of that job there, or give displacements of nodes",
    )  # fmt: skip


def _solved(deck: Deck, entry: Imperfection, path: Path, solve: Callable[[Deck], tuple]) -> tuple:
    """Return a deck, the number of its step in the results, and the results.

    Raises:
        UnsupportedError, ModelError: its step does not exist, or has no shapes.
    """
    same = path.resolve() == Path(deck.source).resolve()
    other = replace(deck, imperfections=()) if same else read_deck(path)
    if not 1 <= entry.step <= len(other.steps):
        raise ModelError(f"the deck {path.name} has no step {entry.step}", place=entry.where,
                         remedy=f"it has {len(other.steps)}")  # fmt: skip
    own = other.steps[entry.step - 1]
    if own.procedure not in (*_SHAPES, "STATIC"):
        raise UnsupportedError(
            f"step {entry.step} of {path.name} is {own.procedure}; shapes are taken of {', '.join(_SHAPES)} and STATIC",
            place=entry.where,
        )  # fmt: skip
    needed = other.steps[: entry.step]
    converted, results = solve(replace(other, steps=needed))
    step = next((k for k, plan in enumerate(converted.steps, 1) if plan.index == entry.step - 1), 0)
    if not step:
        raise UnsupportedError(f"step {entry.step} of {path.name} is not computed", place=entry.where)
    return converted.deck, step, results
