"""Lists that steps take: speeds, frequencies, unbalances."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.parts.rotors import Unbalance

__all__ = ["frequencies_of", "numbers_of", "speeds_of", "unbalances_of"]


def numbers_of(values: Any, owner: str, key: str) -> list[float]:
    values = [values] if np.ndim(values) == 0 and not isinstance(values, (dict, str)) else values
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all() or (found < 0.0).any():
        raise ModelError(f"{owner}: {key} = {values!r} must be a list of finite numbers, none negative")
    return found.tolist()


def speeds_of(b: Building, speeds: Any, owner: str) -> list[float]:
    if isinstance(speeds, dict):
        known = {"start", "end", "n"}
        n = speeds.get("n")
        if set(speeds) != known or isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 100_000:
            raise ModelError(f"{owner}: speeds = {speeds!r} must have start, end and n, a whole number of intervals")
        ends = (b.number(speeds[k], owner, f"speeds.{k}", 0.0) for k in ("start", "end"))
        speeds = np.linspace(*ends, n + 1)
    found = numbers_of(speeds, owner, "speeds")
    if (np.diff(found) <= 0.0).any():
        k = int(np.flatnonzero(np.diff(found) <= 0.0)[0])
        raise ModelError(f"{owner}: speeds must increase, but {found[k + 1]:g} comes after {found[k]:g}")
    return found


def frequencies_of(b: Building, given: Any, owner: str) -> list[float]:
    """Return rising frequencies [Hz] of a list, or of {start, end, n, spacing}."""
    if isinstance(given, dict):
        n, spacing = given.get("n"), given.get("spacing", "linear")
        whole = isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= 1_000_000
        if not {"start", "end", "n"} <= set(given) <= {"start", "end", "n", "spacing"} or not whole:
            raise ModelError(
                f"{owner}: frequencies = {given!r} must have start, end and n, a whole number of intervals, and "
                'may have spacing, "linear" or "log"'
            )
        if spacing not in ("linear", "log"):
            raise ModelError(f'{owner}: frequencies.spacing = {spacing!r} must be "linear" or "log"')
        start, end = (b.number(given[k], owner, f"frequencies.{k}", 0.0) for k in ("start", "end"))
        if spacing == "log" and not start > 0.0:
            raise ModelError(f"{owner}: frequencies.start = {start:g} Hz must be positive with logarithmic spacing")
        given = (np.linspace if spacing == "linear" else np.geomspace)(start, end, n + 1)
    found = numbers_of(given, owner, "frequencies")
    if (np.diff(found) <= 0.0).any():
        k = int(np.flatnonzero(np.diff(found) <= 0.0)[0])
        raise ModelError(f"{owner}: frequencies must increase, but {found[k + 1]:g} comes after {found[k]:g}")
    return found


def unbalances_of(b: Building, given: Any, owner: str) -> list[Unbalance]:
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(u, dict) for u in given):
        raise ModelError(f"{owner}: unbalances = {given!r} must be a list of tables with at, amount and phase")
    found = []
    for k, u in enumerate(given, 1):
        here = f"{owner}: unbalances {k}"
        if not {"at", "amount"} <= set(u) <= {"at", "amount", "phase"}:
            raise ModelError(f"{here} has the keys {', '.join(u) or 'none'}; it takes at, amount and phase")
        node = b.node_of(u["at"], here) if isinstance(u["at"], str) else b.nodes_of(u["at"], here)
        if np.size(node) != 1:
            raise ModelError(f"{here}: at = {u['at']!r} must be one node")
        amount = b.number(u["amount"], here, "amount", 0.0)
        found.append(Unbalance(int(np.ravel(node)[0]), amount, b.number(u.get("phase", 0.0), here, "phase")))
    return found
