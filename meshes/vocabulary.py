"""Keywords of a file format, what becomes of them, and the Markdown table of them.

A reader makes the rows from the tables by which it reads, so that the documentation cannot differ from it:

    words = [Word("GRID", Use.USED, "nodes"), Word("CGAP", Use.REFUSED, "contact is not computed")]
    print(*word_table(words, "card"), sep="\\n")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from fem_mbs.late import dataclass

__all__ = ["Effect", "Use", "Word", "first_sentence", "word_table"]


class Effect(StrEnum):
    """Effect on the results of content that is not used.

    Attributes:
        NONE: nothing: it concerns output, or the conduct of the other program.
        DIFFERS: the model has another form of it, whose difference a note states.
        DROPPED: the answer is not that of the file.
    """

    NONE = "note"
    DIFFERS = "warning"
    DROPPED = "not supported"


class Use(StrEnum):
    """Treatment of a keyword.

    Attributes:
        USED: the model holds it.
        PASSED: a note says that it is not used; the results are the same.
        REFUSED: an error names it; ``--allow`` computes without it.
        STOPPED: an error names it; the file cannot be understood without it.
    """

    USED = "used"
    PASSED = "passed over"
    REFUSED = "refused"
    STOPPED = "refused always"


@dataclass(frozen=True)
class Word:
    """A keyword: its name in the file, what becomes of it, and what it gives or why it is not used."""

    name: str
    use: Use
    text: str


def first_sentence(function: Callable) -> str:
    """Return the first sentence of a docstring on one line, without its full stop.

    Raises:
        ValueError: the function has no docstring.
    """
    text = " ".join((function.__doc__ or "").split())
    if not text:
        raise ValueError(f"{function.__name__} has no docstring; add a sentence that says what it reads")
    return text.split(". ")[0].removesuffix(".")


def word_table(words: Iterable[Word], heading: str, mark: str = "") -> list[str]:
    """Return the lines of a Markdown table in the order of `Use`; words of one use and text share a row.

    Args:
        words: of each name one.
        heading: what a word is called, for the head of the table.
        mark: stands before every name.

    Raises:
        ValueError: a name stands twice.
    """
    rows: dict[tuple[Use, str], list[str]] = {}
    seen: set[str] = set()
    for word in words:
        if word.name in seen:
            raise ValueError(f"{word.name} stands twice in the table; give it one row")
        seen.add(word.name)
        rows.setdefault((word.use, word.text), []).append(mark + word.name)
    order = sorted(rows, key=lambda row: list(Use).index(row[0]))
    lines = [f"| {heading} | | |", "|---|---|---|"]
    return lines + [f"| {', '.join(sorted(rows[use, text]))} | {use} | {text} |" for use, text in order]
