"""The energy account of a transient: exchanged energy, gains and losses of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.rules import HOPELESS, SETTLING
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ConvergenceError
from fem_mbs.units import unit_of

__all__ = ["check_growth", "new_totals", "update_totals"]


def new_totals(stepping: Stepping, late: float) -> dict[str, Any]:
    """Return the account of energies at the start; a gain that exists at all times from ``late`` [s] on is lasting."""
    totals = {"low": stepping.initial_energy, "high": stepping.initial_energy, "error": 0.0, "iterations": 0}
    totals["kinetic"] = float(stepping.first_row[0])
    totals["magnitude"] = float(np.abs(stepping.first_row[:3]).max())
    totals["round_off"] = stepping.round_off()
    totals["late"], totals["lasting"] = late, np.inf
    totals["rows"] = totals["gain"] = totals["loss"] = totals["settling"] = 0
    return totals


def check_growth(stepping: Stepping, totals: dict[str, Any], chunk: Chunk) -> None:
    """Stop a run that has become unstable, before its rows are kept.

    Every row is compared with those before it, however the steps are cut into chunks.

    Raises:
        ConvergenceError: a value is not finite, or the closing error gains energy beyond all measure.
    """
    finite = np.isfinite(chunk.ledger).all(axis=1)
    row = int(np.argmin(finite)) if not finite.all() else -1
    if row < 0:
        closing = chunk.ledger[:, 6]
        gain = np.maximum(closing, 0.0)
        energy = chunk.ledger[:, :3].sum(axis=1) - closing

        def largest(key: str, values: np.ndarray) -> np.ndarray:
            return np.maximum(np.maximum.accumulate(values), totals[key])

        scale = largest("high", energy) - np.minimum(np.minimum.accumulate(energy), totals["low"])
        scale = np.maximum(scale, largest("kinetic", chunk.ledger[:, 0] - gain))
        magnitude = largest("magnitude", np.abs(chunk.ledger[:, :3]).max(axis=1) - gain)
        scale = np.maximum(scale, np.maximum(1e-9 * magnitude, totals["round_off"]))
        if stepping.overshoots:
            settling = np.arange(len(gain)) + totals["rows"] < SETTLING
            scale += largest("settling", np.where(settling, gain, 0.0))
        grown = gain > HOPELESS * scale
        row = int(np.argmax(grown)) if grown.any() else -1
    if row >= 0:
        bound = ""
        if stepping.explicit:
            bound = "; the explicit rule is stable only for h below 2/w of the highest frequency"
        raise ConvergenceError(
            f"{stepping.rule} steps at t = {chunk.time[row]:.6g} {unit_of('s')} (h = {stepping.h:.3g} {unit_of('s')}): "
            "the motion grows without "
            f'bound, by energy that comes from nowhere{bound}; take a smaller h, or rule = "midpoint"'
        )


def update_totals(totals: dict[str, Any], chunk: Chunk) -> None:
    """Add rows to the account of energies."""
    closing = chunk.ledger[:, 6]
    gain = np.maximum(closing, 0.0)
    energy = chunk.ledger[:, :3].sum(axis=1) - closing  # energy explained by works and losses
    totals["low"] = min(totals["low"], float(energy.min()))
    totals["high"] = max(totals["high"], float(energy.max()))
    totals["kinetic"] = max(totals["kinetic"], float((chunk.ledger[:, 0] - gain).max()))
    totals["error"] = max(totals["error"], float(np.abs(closing).max()))
    totals["gain"] = max(totals["gain"], float(gain.max()))
    totals["loss"] = max(totals["loss"], -float(closing.min()))
    totals["settling"] = max(totals["settling"], float(gain[: max(SETTLING - totals["rows"], 0)].max(initial=0.0)))
    totals["lasting"] = min(totals["lasting"], float(gain[chunk.time >= totals["late"]].min(initial=np.inf)))
    totals["rows"] += len(chunk.time)
    largest = np.abs(chunk.ledger[:, :3]).max(axis=1) - gain
    totals["magnitude"] = max(totals["magnitude"], float(largest.max()))
    totals["iterations"] += int(chunk.iterations.sum())
    totals["last"] = chunk.ledger[-1].tolist()
