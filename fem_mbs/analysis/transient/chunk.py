"""Rows of consecutive steps, and the columns of their ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from fem_mbs import contract as C
from fem_mbs.late import dataclass

__all__ = ["Chunk", "ENERGY_COLUMNS", "LEDGER_COLUMNS", "LongerParts", "Slopes", "WORKS", "joined"]

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


@dataclass(frozen=True)
class LongerParts:
    """Half a step and the whole step, for the row of a shorter ``part``: times (1,) and records (1, k) at their ends.

    Quantities of the middle of these parts lie on a line over their lengths, to second order.
    """

    part: float
    half: tuple[np.ndarray, np.ndarray]
    whole: tuple[np.ndarray, np.ndarray]

    def of(self, value: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a quantity of the part from its ``value`` (time, record) of half and the whole step."""
        half, whole = value(*self.half), value(*self.whole)
        return half + (2.0 * self.part - 1.0) * (whole - half)


@dataclass
class Chunk:
    """Results of consecutive steps: times (n,), ledger (n, 13), iterations, record (n, k), the frames among them, and
    the derivatives of ledger and record where a run finds them.

    ``longer``: of a row of a short part of a step, the longer parts by which its rates are known.
    """

    time: np.ndarray
    ledger: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray
    record: np.ndarray
    frame_time: np.ndarray
    frames: dict[str, np.ndarray] = field(default_factory=dict)
    slopes: Slopes | None = None
    longer: LongerParts | None = None


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
