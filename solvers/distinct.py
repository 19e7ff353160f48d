"""Sorted distinct whole numbers.

`numpy.unique` puts integers into a hash table since version 2.3, which took 30 times as long as sorting for the places
of a matrix's entries: long sorted runs that a stable sort merges.
"""

from __future__ import annotations

import numpy as np

__all__ = ["distinct"]


def distinct(keys: np.ndarray) -> np.ndarray:
    """Return the distinct values of whole numbers (n,), rising."""
    ordered = np.sort(keys, kind="stable")
    return ordered[np.concatenate((np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]))]
