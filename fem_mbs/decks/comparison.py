"""Comparison of decks with the results of other programs: rows, their table and the count of decks.

What compares a deck of a format is a module of that format (`fem_mbs.decks.formats`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.decks.formats import DECK_FORMATS
from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass

__all__ = ["SAME", "Row", "as_json", "compare_folder", "count_decks", "table"]

#: Largest difference where the element formulations are the same.
SAME = 1e-3


@dataclass(frozen=True)
class Row:
    """One comparison: measured and reference value where the difference is largest, relative difference, margin and
    the reason for it; status "ok", "outside", "missing", "refused" (the deck), or "not compared", with the reason in
    ``why``."""

    deck: str
    step: int
    quantity: str
    measured: float
    reference: float
    difference: float
    margin: float
    why: str
    status: str


def compare_folder(folder: str | Path, only: Iterable[str] = ()) -> list[Row]:
    """Return rows of all decks of a folder, or of those named ``only``, without their ending.

    Raises:
        MeshError: there are no decks.
    """
    folder, names = Path(folder), list(only)
    found = [(path, form) for path in sorted(folder.glob("*")) for form in DECK_FORMATS if form.within(path)]
    found = [(path, form) for path, form in found if not names or path.stem in names]
    if not found:
        raise MeshError(
            f"{folder}: there are no decks ({', '.join(e for f in DECK_FORMATS for e in f.suffixes)}) there"
        )
    return [row for path, form in found for row in form.compare(path)]


def table(rows: list[Row]) -> list[str]:
    """Return the rows as lines of text."""
    head = ("deck", "step", "quantity", "measured", "reference", "difference", "margin", "", "why")
    cells = [head] + [
        (
            r.deck, str(r.step or ""), r.quantity,
            *("" if np.isnan(v) else f"{v:.6g}" for v in (r.measured, r.reference)),
            "" if np.isnan(r.difference) else f"{r.difference:.1e}", "" if np.isnan(r.margin) else f"{r.margin:g}",
            r.status, r.why,
        ) for r in rows
    ]  # fmt: skip
    width = [max(len(c[i]) for c in cells) for i in range(len(head) - 1)]
    return ["  ".join([*(c[i].ljust(width[i]) for i in range(len(head) - 1)), c[-1]]).rstrip() for c in cells]


def count_decks(rows: list[Row]) -> dict[str, int]:
    """Return how many decks there are of each class, by their worst row.

    The classes: "outside of a margin", "with results missing", "refused", "within an explained margin" (a difference
    above that of the same formulation), "agree", "not compared" (there is nothing to compare with).
    """
    kinds = {
        "outside": "outside of a margin", "missing": "with results missing", "refused": "refused",
        "explained": "within an explained margin", "ok": "agree", "not compared": "not compared",
    }  # fmt: skip
    of: dict[str, set[str]] = {}
    for row in rows:
        status = "explained" if row.status == "ok" and row.difference > SAME else row.status
        of.setdefault(row.deck, set()).add(status)
    worst = [next(kinds[status] for status in kinds if status in found) for found in of.values()]
    return {kind: worst.count(kind) for kind in kinds.values() if kind in worst}


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the rows for a JSON file: numbers that are not there are null."""
    out = []
    for r in rows:
        d = asdict(r)
        out.append({k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in d.items()})
    return out
