"""Notes on content of a deck that its model lacks, and the decision whether the deck is computed all the same."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.vocabulary import Effect

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
    """Which decks are computed.

    Attributes:
        STRICT: decks without notes: the model holds all of their content.
        NORMAL: decks without dropped content (`Effect.DROPPED`).
        ALLOW: all decks; dropped content is left out.
    """

    STRICT = "strict"
    NORMAL = "normal"
    ALLOW = "allow"

    @classmethod
    def of(cls, strict: bool, allow: bool) -> Accept:
        """Return the member for the options --strict and --allow.

        Raises:
            ModelError: both are given.
        """
        if strict and allow:
            raise ModelError("--strict and --allow exclude each other; remove one")
        return cls.STRICT if strict else cls.ALLOW if allow else cls.NORMAL


def check_notes(notes: Iterable[Note], accept: Accept) -> None:
    """Refuse a deck whose notes ``accept`` excludes.

    Raises:
        ModelError: STRICT, and there are notes.
        UnsupportedError: NORMAL, and there is dropped content.
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
        remedy="remove it from the deck, or compute without it by --allow (accept=Accept.ALLOW in Python)",
    )
