"""Content of a Nastran deck, with its own numbers: solution, case control, parameters and bulk data entries."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.text import MAX_ID, Entry

__all__ = ["BulkDeck", "Command", "Parameter", "Subcase"]


@dataclass(frozen=True)
class Command:
    """A case control command: NAME(options) = value."""

    name: str
    options: tuple[str, ...]
    value: str
    where: str

    @property
    def number(self) -> int | None:
        """The value as a whole number; None if it is none."""
        text = self.value.strip()
        return int(text) if text.isascii() and text.isdigit() and int(text[:11]) <= MAX_ID else None


@dataclass
class Subcase:
    """Commands in force in a subcase, by name; ``own`` those that stand in it."""

    number: int
    commands: dict[str, Command]
    where: str
    own: dict[str, Command] = field(default_factory=dict)

    def set(self, name: str) -> int:
        """Return the number of the set that a command selects, 0 for none."""
        command = self.commands.get(name)
        return 0 if command is None or command.number is None else command.number


@dataclass(frozen=True)
class Parameter:
    """A parameter (PARAM): its values, None where a field between them is blank, and where it stands."""

    values: tuple[Any, ...]
    where: str


@dataclass
class BulkDeck:
    """A deck; ``cards`` by name in the order of the file, ``unknown`` entries that the table does not have.

    sol: the solution, 0 where the file has no executive control.
    sets: case control sets, number -> numbers, or None for ALL.
    disputed: parameters that stand with another value elsewhere in the deck, or in a subcase of several, by name.
    """

    source: str
    files: list[str]
    sol: int
    sol_where: str
    title: str
    subcases: list[Subcase]
    sets: dict[int, set[int] | None]
    params: dict[str, Parameter]
    cards: dict[str, list[Card]]
    unknown: list[Entry]
    executive: list[Command]
    end: str
    disputed: dict[str, Parameter] = field(default_factory=dict)

    def of(self, *names: str) -> list[Card]:
        """Return the entries of these names, in their order."""
        return [card for name in names for card in self.cards.get(name, ())]

    def param(self, name: str, default: Any) -> Any:
        """Return the first value of a parameter."""
        found = self.params.get(name)
        return default if found is None else found.values[0]
