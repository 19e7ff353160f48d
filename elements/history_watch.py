"""Limits of validity that depend on the history variables of an element, not on one state."""

from __future__ import annotations

from fem_mbs.elements.registry import Watch
from fem_mbs.late import dataclass

__all__ = ["HistoryWatch"]


@dataclass(frozen=True)
class HistoryWatch(Watch):
    """Describes a limit like `Watch`, with ``values(par, dof, rot, Q, D, hist)``.

    ``hist`` (n, n_hist) holds the history variables of the elements.
    """
