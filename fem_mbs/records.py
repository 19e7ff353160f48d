"""Describe a JSON object by a frozen dataclass: its entries with text and unit, its JSON and its JSON schema.

    @dataclass(frozen=True, kw_only=True)
    class Critical(Record):
        \"\"\"A speed at which an order meets a branch.\"\"\"

        speed: float = entry("of the rotor", unit="rad/s")
        branch: int | None = entry("from 0; null: none that was followed")
        order: float | None = entry("multiple of the speed", optional=True)

`Record.to_json` and `Record.from_json` convert; `Schema` collects JSON schemas (draft 2020-12).  The types of entries
are bool, int, float, str, ``Any``, ``Literal``, other records, ``list`` and ``dict[str, ...]`` of these, and
``X | None``. ``None`` is null, but for an entry that is ``optional``: there it means that the object lacks the entry.
An entry that may be both null and missing has a type with ``Absent`` and the default ``ABSENT``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, field, fields, replace
from enum import Enum
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass

__all__ = ["ABSENT", "Absent", "Entry", "Record", "Schema", "entries", "entry", "json_value"]


class Absent(Enum):
    """Type of `ABSENT`, the value of an entry that the object lacks where null means something else."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT = Absent.ABSENT

_KEY = "fem_mbs entry"  # of the metadata of a field
_WORDS: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


@dataclass(frozen=True)
class Entry:
    """Description of one entry of a record.

    ``text`` and ``unit`` describe it; ``optional``: the object may lack it; ``given``: it repeats an option or tells
    how a result was computed, rather than what came of it; ``member``: the name of one number of a list, for tables of
    single numbers; ``key``: its name in JSON, "" that of the field; ``limits``: further keywords of JSON schema.
    ``name`` and ``hint`` (the type) come from the field.
    """

    text: str = ""
    unit: str = ""
    optional: bool = False
    given: bool = False
    member: str = ""
    key: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    hint: Any = None


def entry(
    text: str = "",
    unit: str = "",
    *,
    optional: bool = False,
    given: bool = False,
    member: str = "",
    key: str = "",
    default: Any = MISSING,
    **limits: Any,
) -> Any:
    """Return the dataclass field of an entry; arguments as in `Entry`. An optional entry has the default None."""
    told = Entry(text, unit, optional, given, member, key, limits)
    if optional and default is MISSING:
        default = None
    return field(default=default, metadata={_KEY: told})


_found: dict[type, tuple[Entry, ...]] = {}


def entries(record: type[Record]) -> tuple[Entry, ...]:
    """Return the entries of a record class, in the order of its fields."""
    if record not in _found:
        _found[record] = tuple(_entries(record))
    return _found[record]


def _entries(record: type[Record]) -> Iterator[Entry]:
    hints = get_type_hints(record)
    for item in fields(record):
        told: Entry = item.metadata.get(_KEY, Entry())
        yield replace(told, name=item.name, key=told.key or item.name, hint=hints[item.name])


@dataclass(frozen=True, kw_only=True)
class Record:
    """Base of frozen dataclasses that stand for JSON objects; see the module."""

    def to_json(self) -> dict[str, Any]:
        """Return the object as JSON types (`plain`), without the entries that it lacks."""
        out = {}
        for item in entries(type(self)):
            value = getattr(self, item.name)
            if value is ABSENT or (value is None and item.optional):
                continue
            out[item.key] = json_value(value)
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read an object. Unknown entries are passed over; those that an older version did not write are None."""
        given = {}
        for item in entries(cls):
            if item.key in data:
                given[item.name] = _decoded(item.hint, data[item.key])
            elif Absent not in get_args(item.hint):
                given[item.name] = None
        return cls(**given)


def _decoded(hint: Any, value: Any) -> Any:
    """Return a JSON value as the type ``hint``: records become objects, all else stays."""
    if not _holds_records(hint):
        return value
    if get_origin(hint) in (Union, UnionType):
        records = [part for part in get_args(hint) if part not in (NoneType, Absent)]
        hint = records[0] if len(records) == 1 else Any
    if value is None:
        return None
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json(value)
    inner = get_args(hint)
    if get_origin(hint) is list and isinstance(value, list):
        return [_decoded(inner[0], item) for item in value]
    if get_origin(hint) is dict and isinstance(value, dict):
        return {key: _decoded(inner[1], item) for key, item in value.items()}
    return value


@cache
def _holds_records(hint: Any) -> bool:
    """Return whether a type is a record or has one inside: long lists of numbers are not looked through."""
    if isinstance(hint, type) and issubclass(hint, Record):
        return True
    return any(_holds_records(part) for part in get_args(hint))


def json_value(value: Any) -> Any:
    """Convert `value` to JSON types: arrays become lists, records objects, NaN and infinity None.

    Raises ResultsError for anything that JSON cannot hold.
    """
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [json_value(value.real), json_value(value.imag)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ResultsError(f"Results: a {type(value).__name__} cannot be stored: give numbers, texts, lists or tables")


class Schema:
    """Collect the JSON schemas of records: each class once, in ``definitions``, to which the others refer."""

    #: Where the definitions stand in the document.
    PLACE: ClassVar[str] = "#/$defs/"

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}

    def of(self, record: type[Record]) -> dict[str, Any]:
        """Return a reference to the schema of a record class, which becomes a definition."""
        if record.__name__ not in self.definitions:
            self.definitions[record.__name__] = {}  # of a record that contains itself
            self.definitions[record.__name__] = self.object(record)
        return {"$ref": f"{self.PLACE}{record.__name__}"}

    def object(self, record: type[Record]) -> dict[str, Any]:
        """Return the schema of a record class in full."""
        found = entries(record)
        required = [e.key for e in found if not e.optional and Absent not in get_args(e.hint)]
        description = " ".join((record.__doc__ or "").partition("\n\n")[0].split())
        return {
            "type": "object",
            **({"description": description} if description else {}),
            "properties": {e.key: self.property(e) for e in found},
            **({"required": required} if required else {}),
        }

    def property(self, item: Entry) -> dict[str, Any]:
        """Return the schema of one entry, with its text and unit as the description."""
        hint = item.hint
        if item.optional:
            hint = _without(hint, NoneType)
        out = self.value(_without(hint, Absent))
        description = f"{item.text} [{item.unit}]".strip() if item.unit else item.text
        return {**out, **item.limits, **({"description": description} if description else {})}

    def value(self, hint: Any) -> dict[str, Any]:
        """Return the schema of a type."""
        inner = get_args(hint)
        if hint is Any:
            return {}
        if get_origin(hint) in (Union, UnionType):
            parts = [self.value(part) for part in inner]
            if all(set(part) == {"type"} for part in parts):
                return {"type": [part["type"] for part in parts]}
            return {"anyOf": parts}
        if get_origin(hint) is Literal:
            return {"enum": list(inner)}
        if get_origin(hint) is list:
            return {"type": "array", **({} if inner[0] is Any else {"items": self.value(inner[0])})}
        if get_origin(hint) is dict:
            return {"type": "object", **({} if inner[1] is Any else {"additionalProperties": self.value(inner[1])})}
        if isinstance(hint, type) and issubclass(hint, Record):
            return self.of(hint)
        return {"type": _WORDS[hint]}


def _without(hint: Any, part: Any) -> Any:
    """Return a union type without one of its members."""
    if get_origin(hint) not in (Union, UnionType) or part not in get_args(hint):
        return hint
    return reduce(or_, (p for p in get_args(hint) if p is not part))
