"""The generated tables of docs/decks.md: what becomes of keywords and element types.

python -m fem_mbs.decks.reference docs/decks.md

writes them anew between the lines ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from fem_mbs.decks.abaqus.elements import element_words
from fem_mbs.decks.nastran.control import command_words, entry_words, parameter_words
from fem_mbs.errors import ModelError
from fem_mbs.meshes.abaqus.reader import keywords
from fem_mbs.meshes.vocabulary import word_table

__all__ = ["TABLES", "refreshed"]

#: Name of a table -> what makes its lines.
TABLES: dict[str, Callable[[], list[str]]] = {
    "keywords of Abaqus and CalculiX": lambda: word_table(keywords(), "keyword", "*"),
    "elements of Abaqus and CalculiX": lambda: word_table(element_words(), "element"),
    "entries of Nastran": lambda: word_table(entry_words(), "entry"),
    "parameters of Nastran": lambda: word_table(parameter_words(), "parameter"),
    "commands of Nastran": lambda: word_table(command_words(), "command"),
}
_PLACE = re.compile(r"(<!-- table: ([^>]*?) -->\n).*?(<!-- end of table -->)", re.S)


def refreshed(text: str) -> str:
    """Return the text of docs/decks.md with its tables as the readers make them.

    Raises:
        ModelError: a table that the text names is not known.
    """

    def fill(match: re.Match[str]) -> str:
        make = TABLES.get(match[2])
        if make is None:
            raise ModelError(f"the table {match[2]!r} is not known", remedy=f"known are {', '.join(TABLES)}")
        return match[1] + "\n".join(make()) + "\n" + match[3]

    return _PLACE.sub(fill, text)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
