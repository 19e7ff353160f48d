"""What a deck holds and its model lacks, and whether the deck is computed all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Effect

__all__ = ["Accept", "Note", "check_notes"]

_SHOWN = 5  # notes in one error


@dataclass(frozen=True)
class Note:
    """A feature of a deck that the model lacks: a sentence with file and line, and its effect on the results."""

    text: str
    effect: Effect

    def __str__(self) -> str:
        return self.text

    @property
    def line(self) -> str:
        """The sentence for the screen, after the word for its effect."""
        return f"{self.effect}: {self.text}"


class Accept(StrEnum):
    """Decks that are computed: ``STRICT``, those of which everything is used; ``NORMAL``, those whose results are the
    deck's, or differ from it in a way that a warning states; ``ALLOW``, all."""

    STRICT = "strict"
    NORMAL = "normal"
    ALLOW = "allow"

    @classmethod
    def of(cls, strict: bool, allow: bool) -> Accept:
        """Return the choice of two options.

        Raises:
            ModelError: both are given.
        """
        if strict and allow:
            raise ModelError("--strict and --allow exclude each other; remove one")
        return cls.STRICT if strict else cls.ALLOW if allow else cls.NORMAL


def check_notes(notes: Iterable[Note], accept: Accept) -> None:
    """Refuse a deck of which something is not used.

    Raises:
        ModelError: naming what, with file and line, and the remedy.
    """
    if accept is Accept.ALLOW:
        return
    bad = [n for n in notes if accept is Accept.STRICT or n.effect is Effect.DROPPED]
    if not bad:
        return
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    what = "; ".join(n.text for n in bad[:_SHOWN]) + more
    if accept is Accept.STRICT:
        raise ModelError(f"{what}: not used", remedy="remove it from the deck, or leave out --strict")
    raise UnsupportedError(
        f"{what}: not supported, and the results would not be the deck's",
        remedy="remove it from the deck, or compute without it by --allow (allow = True in Python)",
    )
