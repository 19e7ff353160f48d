"""Rows of consecutive steps, and the columns of their ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from fem_mbs import contract as C
from fem_mbs.late import dataclass

__all__ = ["Chunk", "ENERGY_COLUMNS", "LEDGER_COLUMNS", "Slopes", "WORKS", "joined"]

#: Columns of the ledger that a run keeps: energies [J], works since the start [J], closing error [J], momenta.
LEDGER_COLUMNS = (
    "kinetic", "strain", "potential", "dissipated", "load work", "driver work", "closing error",
    "px", "py", "pz", "lx", "ly", "lz",
)  # fmt: skip
#: Energies, works and closing error among them.
ENERGY_COLUMNS = LEDGER_COLUMNS[:7]
#: Columns of the ledger that are works, summed up over the steps.
WORKS = slice(C.DISSIPATED, C.DRIVER_WORK + 1)


@dataclass
class Slopes:
    """Derivatives of rows with respect to parameters: ledger (n_par, n, 13) and record (n_par, n, k)."""

    ledger: np.ndarray
    record: np.ndarray


@dataclass
class Chunk:
    """Results of consecutive steps: times (n,), ledger (n, 13), iterations, record (n, k), the frames among them, and
    the derivatives of ledger and record where a run finds them.

    ``longer``: of a row of a short part of a step, time (1,) and record (1, k) at the end of a longer part, by which
    its rates are known.
    """

    time: np.ndarray
    ledger: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray
    record: np.ndarray
    frame_time: np.ndarray
    frames: dict[str, np.ndarray] = field(default_factory=dict)
    slopes: Slopes | None = None
    longer: tuple[np.ndarray, np.ndarray] | None = None


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Return consecutive chunks as one."""
    if len(chunks) == 1:
        return chunks[0]
    names = ("time", "ledger", "iterations", "residual", "record", "frame_time")
    rows = {name: np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in names}
    # a chunk may hold room for a frame that it does not have
    frames = {
        name: np.concatenate([chunk.frames[name][: len(chunk.frame_time)] for chunk in chunks])
        for name in chunks[0].frames
    }
    return Chunk(**rows, frames=frames)  # type: ignore[arg-type]
