"""Supports and temperatures that a deck takes from the results of a global model.

They become entries of the step like those that a deck gives itself: one for all nodes of the same value, or with an
amplitude each where the results pass time.  Displacements are those at the end of the global step, as in CalculiX;
results of our own whose step passes time are followed in time, as in Abaqus.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.analysis.global_motion import read_global_motion, read_global_temperature
from fem_mbs.errors import MeshError, ModelError, ResultsError
from fem_mbs.meshes.abaqus.deck import Amplitude, Boundary, Deck, DeckStep, Driven, Submodel, Temperature
from fem_mbs.model.loads.submodels import NEAR, GlobalMotion, interpolated

__all__ = ["with_submodels"]

#: Directions 4 to 6 of a deck are rotations.
_TURNS = 4


def with_submodels(deck: Deck) -> Deck:
    """Return a deck whose steps have the values of the global model.

    Raises:
        ModelError: results that cannot be used, nodes of no submodel or outside of the global model, with the line.
    """
    if not any(step.driven for step in deck.steps):
        return deck
    sources = _Sources(deck)
    steps = tuple(sources.filled(step) for step in deck.steps)
    return replace(deck, steps=steps, amplitudes={**deck.amplitudes, **sources.amplitudes})


class _Sources:
    """Results of global models, read once each, and the amplitudes that follow them."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.amplitudes: dict[str, Amplitude] = {}
        self._read: dict[tuple[str, int, bool], GlobalMotion] = {}
        self._order = np.argsort(deck.node_ids, kind="stable")

    def filled(self, step: DeckStep) -> DeckStep:
        boundaries, temperatures = list(step.boundaries), list(step.temperatures)
        for driven in step.driven:
            for submodel, nodes in self._submodels_of(driven):
                if driven.dofs:
                    boundaries += self._boundaries(step, driven, submodel, nodes)
                else:
                    temperatures += self._temperatures(driven, submodel, nodes)
        return replace(step, boundaries=tuple(boundaries), temperatures=tuple(temperatures), driven=())

    def _submodels_of(self, driven: Driven) -> list[tuple[Submodel, np.ndarray]]:
        """Return the submodels that nodes belong to, and which nodes; the last of several counts."""
        of = np.full(len(driven.nodes), -1)
        for i, submodel in enumerate(self.deck.submodels):
            of[np.isin(driven.nodes, submodel.nodes)] = i
        if (of < 0).any():
            raise ModelError(
                f"node {self.deck.node_name(int(driven.nodes[np.argmax(of < 0)]))} is in no *SUBMODEL",
                place=driven.where, remedy="name it there",
            )  # fmt: skip
        return [(self.deck.submodels[i], driven.nodes[of == i]) for i in np.unique(of)]

    def _positions(self, nodes: np.ndarray) -> np.ndarray:
        sorted_ids = self.deck.node_ids[self._order]
        return self.deck.x[self._order[np.searchsorted(sorted_ids, nodes)]]

    def _motion(self, driven: Driven, submodel: Submodel) -> GlobalMotion:
        key = (submodel.where, driven.step, bool(driven.dofs))
        if key not in self._read:
            read = read_global_motion if driven.dofs else read_global_temperature
            try:
                found = read(Path(self.deck.source).parent / submodel.file, driven.step)
            except (ModelError, MeshError, ResultsError) as error:
                raise ModelError(str(error), place=submodel.where) from None
            self._read[key] = found if submodel.elements is None else _part(found, submodel)
        return self._read[key]

    def _values(self, driven: Driven, submodel: Submodel, nodes: np.ndarray) -> tuple[GlobalMotion, Any, Any]:
        """Return the motion that is followed, displacements (t, n, 3) and rotations (t, n, 3) of nodes.

        Raises:
            ModelError: a node is too far from the global model.
        """
        motion = self._motion(driven, submodel)
        x = self._positions(nodes)[:, : motion.x.shape[1]]
        u, theta, distance, allowed = interpolated(motion, x, submodel.absolute)
        if submodel.relative is not None and submodel.absolute is None:
            allowed = allowed / NEAR * submodel.relative
        far = np.flatnonzero(distance > allowed)
        if far.size:
            k = far[np.argmax((distance - allowed)[far])]
            raise ModelError(
                f"node {self.deck.node_name(int(nodes[k]))} is {distance[k]:.4g} away from the elements of "
                f"{motion.where}, more than {allowed[k]:.4g}", place=driven.where,
                remedy="give *SUBMODEL an EXTERIOR TOLERANCE or ABSOLUTE EXTERIOR TOLERANCE, or other elements",
            )  # fmt: skip
        return motion, u, theta

    def _boundaries(
        self, step: DeckStep, driven: Driven, submodel: Submodel, nodes: np.ndarray
    ) -> list[Boundary]:  # fmt: skip
        motion, u, theta = self._values(driven, submodel, nodes)
        found = []
        for dof in driven.dofs:
            table = u if dof < _TURNS else theta
            k = (dof - 1) % 3
            values = table[:, :, k] if k < table.shape[2] else np.full(table.shape[:2], np.nan)
            if not np.isfinite(values).all():
                raise ModelError(f"{motion.where} has no direction {dof} at these nodes", place=driven.where,
                                 remedy="leave it out, and hold it by a *BOUNDARY of its own")  # fmt: skip
            patterns, which = np.unique(values, axis=1, return_inverse=True)
            which = which.ravel()
            order = np.argsort(which, kind="stable")
            for own in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
                course = patterns[:, which[own[0]]]
                name, value = None, float(course[-1])
                if motion.passes_time:
                    name, value = self._follow(motion, step, course, driven.where), 1.0
                found.append(Boundary(nodes[own], (dof,), value, name, "DISPLACEMENT", False, driven.where))
        return found

    def _follow(self, motion: GlobalMotion, step: DeckStep, course: np.ndarray, where: str) -> str:
        """Return the name of an amplitude that follows values over the times of the global step."""
        t = motion.times - motion.times[0]
        if step.duration > t[-1] * (1.0 + 1e-9):
            raise ModelError(
                f"the step lasts {step.duration:g}, {motion.where} only {t[-1]:g}", place=where,
                remedy="shorten the step, or run the global model longer",
            )  # fmt: skip
        name = f"submodel {len(self.amplitudes) + 1} of {where}"
        self.amplitudes[name] = Amplitude(name, "TABULAR", t, course.copy(), False, np.empty(0), where)
        return name

    def _temperatures(self, driven: Driven, submodel: Submodel, nodes: np.ndarray) -> list[Temperature]:
        _, values, _ = self._values(driven, submodel, nodes)
        levels, which = np.unique(values[-1, :, 0], return_inverse=True)
        return [Temperature(nodes[which == i], float(v), None, driven.where) for i, v in enumerate(levels)]


def _part(motion: GlobalMotion, submodel: Submodel) -> GlobalMotion:
    """Return the elements of a global model that GLOBAL ELSET names.

    Raises:
        ModelError: the results do not tell the numbers of elements, or lack some.
    """
    assert submodel.elements is not None
    if not motion.numbers:
        raise ModelError(
            f"{motion.where} does not tell the numbers of its elements, which GLOBAL ELSET names", place=submodel.where,
            remedy="remove GLOBAL ELSET",
        )  # fmt: skip
    missing = np.setdiff1d(submodel.elements, np.concatenate(motion.numbers))
    if missing.size:
        raise ModelError(f"{motion.where} has no element {missing[0]}, which GLOBAL ELSET names", place=submodel.where,
                         remedy="name elements of the global model")  # fmt: skip
    kept = [np.isin(numbers, submodel.elements) for numbers in motion.numbers]
    cells = [(kind, table[k]) for (kind, table), k in zip(motion.cells, kept, strict=True) if k.any()]
    return replace(motion, cells=cells, numbers=[n[k] for n, k in zip(motion.numbers, kept, strict=True) if k.any()])
