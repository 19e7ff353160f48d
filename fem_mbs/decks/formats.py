"""The formats of decks: by their endings, what reads a deck, makes a model of it, runs, describes and compares it.

A format is one line of `DECK_FORMATS`. Its modules are named, and imported when they are needed.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from fem_mbs.decks.notes import Note
    from fem_mbs.model.model import Model

__all__ = ["DECK_FORMATS", "AnyConverted", "DeckFormat", "deck_format", "is_deck", "need_format"]


class AnyConverted(Protocol):
    """A deck of any format as a model."""

    model: Model

    @property
    def notes(self) -> list[Note]:
        """Notes on content of the deck that is not used."""


@dataclass(frozen=True)
class DeckFormat:
    """A format of decks.

    Args:
        name: of the programs.
        suffixes: endings of its files.
        text: what is read.
        reader: module with a function ``read``; see `read`.
        runner: module with ``convert``, ``run_deck``, ``describe`` and ``named_nodes``.
        comparison: module with ``compare_deck``.
        results: endings of files with results.
        reduction: "module:function", what a deck itself says of its reduction; see `own_reduction`.
        shared: endings that other programs use, too; such a file of a folder is a deck only beside results.
    """

    name: str
    suffixes: tuple[str, ...]
    text: str
    reader: str
    runner: str
    comparison: str
    results: tuple[str, ...]
    shared: tuple[str, ...] = ()
    reduction: str = ""

    def read(self, path: str | Path) -> Any:
        """Return the content of a deck."""
        module, function = self.reader.split(":")
        return getattr(import_module(module), function)(path)

    def convert(self, deck: Any, **options: Any) -> AnyConverted:
        """Return the model of a deck; options ``part`` and ``accept``."""
        return import_module(self.runner).convert(deck, **options)

    def run(self, path: str | Path, folder: str | Path, **options: Any) -> Any:
        """Run a deck into a results folder."""
        return import_module(self.runner).run_deck(path, folder, **options)

    def describe(self, converted: AnyConverted) -> list[str]:
        """Return the content of a deck, line by line."""
        return import_module(self.runner).describe(converted)

    def named_nodes(self, converted: AnyConverted) -> dict[str, Any]:
        """Return nodes (n,) of the model by the names that the deck has for them."""
        return import_module(self.runner).named_nodes(converted)

    def own_reduction(self, converted: AnyConverted) -> dict[str, Any]:
        """Return keywords of `fem_mbs.reduce_part` that the deck gives, with ``interfaces``; nothing where it gives
        none."""
        if not self.reduction:
            return {}
        module, function = self.reduction.split(":")
        return getattr(import_module(module), function)(converted)

    def compare(self, path: Path) -> list[Any]:
        """Return rows of the comparison with the results beside a deck."""
        return import_module(self.comparison).compare_deck(path)

    def within(self, path: Path) -> bool:
        """Return whether a file of a folder is a deck of this format."""
        suffix = path.suffix.lower()
        if suffix not in self.suffixes:
            return False
        return suffix not in self.shared or any(path.with_suffix(end).exists() for end in self.results)


#: Formats of decks.
DECK_FORMATS: tuple[DeckFormat, ...] = (
    DeckFormat(
        "Abaqus and CalculiX", (".inp",), "with their steps (docs/decks.md)", "fem_mbs.meshes.abaqus.reader:read_deck",
        "fem_mbs.decks.abaqus.run", "fem_mbs.decks.abaqus.compare", (".dat.ref", ".dat"),
        reduction="fem_mbs.decks.abaqus.run:own_reduction",
    ),
    DeckFormat(
        "Nastran", (".bdf", ".nas", ".dat"), "bulk data with SOL 101, 103, 105 (docs/decks.md)",
        "fem_mbs.meshes.nastran.reader:read_bulk", "fem_mbs.decks.nastran.run", "fem_mbs.decks.nastran.results.compare",
        (".f06",), (".dat",),
    ),
)  # fmt: skip


def deck_format(path: str | Path) -> DeckFormat | None:
    """Return the format of a deck by the ending of its name; None if it is no deck."""
    suffix = Path(path).suffix.lower()
    return next((form for form in DECK_FORMATS if suffix in form.suffixes), None)


def is_deck(path: str | Path) -> bool:
    """Return whether a file is a deck, by the ending of its name."""
    return deck_format(path) is not None


def need_format(path: str | Path) -> DeckFormat:
    """Return the format of a deck.

    Raises:
        ModelError: the file is no deck.
    """
    form = deck_format(path)
    if form is None:
        known = ", ".join(end for form in DECK_FORMATS for end in form.suffixes)
        raise ModelError(f"{path} is no deck; these end in {known}")
    return form
