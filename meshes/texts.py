"""Numbers in the text of decks, and text in messages."""

from __future__ import annotations

import math
import re

__all__ = ["is_number", "number", "short"]

_BARE_EXPONENT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([+-]\d+)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?")


def number(text: str) -> float:
    """Return a finite number in C's or Fortran's spelling (1.5e3, 1.5D3, 1.5+3); ValueError for anything else."""
    if not _NUMBER.fullmatch(text):
        bare = _BARE_EXPONENT.fullmatch(text)
        if bare is None:
            raise ValueError(text)
        text = f"{bare[1]}e{bare[2]}"
    elif "D" in text or "d" in text:
        text = text.replace("D", "e").replace("d", "e")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def is_number(text: str) -> bool:
    """Return whether `number` reads the text."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def short(text: str) -> str:
    """Return text in quotes, cut to what fits in a message."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
