"""Types of Python calls for editors and type checkers: what a key takes, as text of a stub."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import MISSING

from fem_mbs.declarations.declaration import Declaration, Key
from fem_mbs.declarations.kinds import Kind

__all__ = ["ALIASES", "annotation", "nested", "table_of"]

#: Names that the annotations use beside those of Python, and what they stand for.
ALIASES = {
    "Number": "float | floating[Any]",
    "Whole": "int | integer[Any]",
    "Vector": "Sequence[Number] | NDArray[Any]",
    "Rows": "Sequence[Vector] | NDArray[Any]",
    "Fields": "Sequence[Number | str] | NDArray[Any]",
    "Place": "str | Whole",
    "Places": "str | Whole | Sequence[str | Whole] | NDArray[Any]",
    "Function": "Number | str | Mapping[str, Any] | TimeFunction",
}

#: Label of a kind of value -> what Python calls take for it.
_TYPES = {
    "number": "Number",
    "whole number": "Whole",
    "2 or 3": "int",
    "true or false": "bool",
    "text": "str",
    "name": "str",
    "place": "Place",
    "place or list of places": "Places",
    "mesh, set, or two nodes": "str | Sequence[str | Whole]",
    "table of functions": "Mapping[str, Any]",
    "function": "Function",
    "list of numbers": "Vector",
    "list of two numbers": "Vector",
    "list of whole numbers": "Sequence[Whole] | NDArray[Any]",
    "list of points": "Rows",
    "list of pairs": "Rows",
    "list of numbers or expressions": "Fields | Callable[[NDArray[Any]], NDArray[Any]]",
    "list of numbers or of lists": "Vector | Rows",
    "list of names or [y, z]": "Sequence[str | Vector]",
    "3x3 list of numbers, or table": "Rows | Mapping[str, Any]",
    "6x6 list of numbers": "Rows",
    "number or list": "Number | Vector | Rows",
    "number or lists": "Number | Vector | Rows",
    "number or list of two": "Number | Vector",
    "number or expression": "Number | str",
    "number, expression or list": "Number | str | Vector",
    "whole number or list": "Whole | Sequence[Whole] | NDArray[Any]",
    "text or list": "str | Sequence[str]",
    "text or list of two": "str | Sequence[str]",
    "name or list of names": "str | Sequence[str]",
    "text or direction": "str | Vector",
    "text or list of numbers": "str | Vector",
    "table": "Mapping[str, Any]",
    "table of lists": "Mapping[str, Sequence[Any] | NDArray[Any]]",
    "table of lists of points": "Mapping[str, Rows]",
    "table of names": "Mapping[str, str]",
    "table of numbers": "Mapping[str, Number]",
    "list of tables": "Sequence[Mapping[str, Any]]",
    "list or table": "Vector | Mapping[str, Any]",
    "file, table or list of tables": "str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]]",
}


def table_of(declaration: type[Declaration]) -> str:
    """Return the name of the type of tables that make a declaration within another one."""
    return f"{declaration.__name__}Table"


def annotation(declaration: type[Declaration], name: str) -> str:
    """Return the annotation of a key in calls.

    Raises:
        KeyError: `_TYPES` does not know the kind of its values.
    """
    said = declaration.keys()[name]
    written = _written(declaration, name)
    if not isinstance(said.kind, Kind):
        found = f"{said.kind.__name__} | {table_of(said.kind)}"
    elif said.choices:
        found = f"Literal[{', '.join(json.dumps(str(word)) for word in said.choices)}]"
    elif said.label == "of Python":
        found = written.removesuffix(" | None")
    else:
        found = _TYPES[said.label]
    parts = [found, *(kind.__name__ for kind in said.objects)]
    if _may_be_none(said, written):
        parts.append("None")
    return " | ".join(parts)


def _may_be_none(said: Key, written: str) -> bool:
    return written != "Any" and "None" in written.split(" | ") if said.default is MISSING else said.default is None


def _written(declaration: type[Declaration], name: str) -> str:
    """Return the annotation of a field as its class has it."""
    return next(str(f.type) for f in dataclasses.fields(declaration) if f.name == name)  # type: ignore[arg-type]


def nested(declaration: type[Declaration]) -> Iterator[type[Declaration]]:
    """Yield the declarations whose tables stand within one, those in them first."""
    for said in declaration.keys().values():
        if not isinstance(said.kind, Kind):
            yield from nested(said.kind)
            yield said.kind
