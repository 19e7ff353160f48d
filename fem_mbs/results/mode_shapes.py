"""Shapes of results as displacements of the nodes of another model: what imperfections are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from fem_mbs.errors import ResultsError
from fem_mbs.results.reader import Results

__all__ = ["read_shape", "shape_of"]

#: Distance over the size of the results below which two nodes stand at one place.
_NEAR = 1e-6


def shape_of(results: Any, step: str | int, number: int) -> np.ndarray:
    """Return displacements (n, 3) of a shape, or of the last state of a step; of shapes the largest component is 1.

    Args:
        results: a `Results` or a solution in memory.
        step: name, or number from 1.
        number: of the shape, from 1; of a step that has states 0 for the last one.

    Raises:
        ResultsError: there is no such step or shape.
    """
    named = [s for i, s in enumerate(results.steps, 1) if step in (s.name, i)]
    if not named:
        known = ", ".join(f'"{s.name}"' for s in results.steps)
        raise ResultsError(f"{results.where}: there is no step {step}; there are {known}")
    chosen = named[0]
    frames = np.asarray(chosen.frames["displacement"])
    if not 0 <= number <= len(frames) or not len(frames):
        raise ResultsError(
            f'{results.where}: step "{chosen.name}" has no shape {number}; there are {len(frames)}'
        )  # fmt: skip
    u = np.array(frames[number - 1], float)
    if number == 0:
        return u
    largest = u.ravel()[np.abs(u).argmax()]
    if largest == 0.0:
        raise ResultsError(f'{results.where}: shape {number} of step "{chosen.name}" moves no node')
    return u / largest


def read_shape(folder: str, step: str | int, number: int, x: np.ndarray) -> np.ndarray:
    """Return the displacements (m, 3) that a shape of a results folder has at places x (m, 2 or 3).

    Raises:
        ResultsError: the folder has no such step or shape, or no node at a place.
    """
    results = Results.open(folder)
    u = shape_of(results, step, number)
    known = np.asarray(results.header["nodes"], float)
    places = np.zeros((len(x), 3))
    places[:, : x.shape[1]] = x
    size = float(np.ptp(known, axis=0).max()) or 1.0
    far, at = cKDTree(known).query(places)
    if (far > _NEAR * size).any():
        worst = int(far.argmax())
        raise ResultsError(
            f"{results.where}: no node stands at {places[worst].tolist()} (the next one is {far[worst]:.3g} away); the "
            "mesh must be that of the results"
        )  # fmt: skip
    return u[at]
