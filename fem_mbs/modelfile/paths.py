"""Paths to single values in the tables of a model file, and texts of a command line as values.

A path is KIND.NAME.KEY: ``point_mass.tip.mass`` is the key ``mass`` of the [[point_mass]] called "tip".  Further parts
go into inline tables and lists (counted from 1, as messages count tables); ``gravity`` alone is a key before the first
table, and the name of a parameter alone is that parameter.
"""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fem_mbs.declarations.declaration import plain
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError
from fem_mbs.functions.parameters import Parameters
from fem_mbs.modelfile.schema import TABLES, Document

__all__ = ["NUMBER", "WHOLE", "locate", "refuse_idle", "set_value", "split_path", "value_of", "with_values"]

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
WHOLE = re.compile(r"[+-]?\d+")
_BY_NAME = {t.name: t for t in TABLES}


def split_path(text: str, mark: str) -> list[str]:
    """Split at ``mark`` outside of quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == mark and depth <= 0:
            parts.append("")
            continue
        parts[-1] += character
    return parts


def value_of(word: str, where: str) -> Any:
    """Return the number, flag, TOML value or word that a text of the command line is.

    Raises:
        ModelError: it begins like a TOML value and is none.
    """
    if WHOLE.fullmatch(word) and len(word) < 1000:
        return int(word)
    if re.fullmatch(NUMBER, word):
        return float(word)
    if word in ("true", "false"):
        return word == "true"
    if word[0] in "\"'[{":
        try:
            return tomllib.loads(f"value = {word}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise ModelError(f"{word} is not a value of TOML ({error})", owner=where) from None
    return word


def _listing(names: Iterable[Any]) -> str:
    names = list(names)
    return ", ".join(map(str, names[:30])) + (f" and {len(names) - 30} more" if len(names) > 30 else "") or "nothing"


def locate(data: Mapping[str, Any], path: str, file: Path) -> tuple[str | int, ...]:
    """Return the keys and indices that lead to what a path names; the last key may be one that the file leaves to its
    default.  The name of a parameter alone is a path, too.

    Raises:
        ModelError: the path leads nowhere, to several things, or to a whole table.
    """
    parts = [part.strip() for part in split_path(path, ".")]
    parts = [part[1:-1] if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part for part in parts]
    named = data.get("parameters")
    named = named if isinstance(named, dict) else {}
    if len(parts) == 1 and parts[0] in named:
        if Document.keys().get(parts[0]) is not None or parts[0] in _BY_NAME:
            raise ModelError(f"{path}: a parameter and a key of the file have this name; write parameters.{path}")
        parts = ["parameters", *parts]
    if len(parts) == 2 and parts[0] == "parameters" and isinstance(named.get(parts[1]), dict):
        parts.append("value")

    def missing(what: str, known: Iterable[Any]) -> ModelError:
        known = [str(name) for name in known]
        if not keys:
            known += [str(name) for name in named]
        close = difflib.get_close_matches(str(parts[len(keys)]), known, n=1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        return ModelError(f"{path}: {what}{hint} (there are {_listing(known)})")

    keys: list[str | int] = []
    node: Any = data
    if not all(parts):
        raise ModelError(f"{path}: a part of the path is empty; write KIND.NAME.KEY")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        where = ".".join(parts[:number])
        if isinstance(node, dict):
            if part not in node:
                # a key that has its default so far; what may stand there is seen when its values are checked
                values = ("function", "parameters")  # whose entries are values, not keys
                table = number == 0 or (parts[0] in _BY_NAME and parts[0] not in values and number > 1)
                top = number == 0 and Document.keys().get(part) is None
                if not last or not table or top:
                    raise missing(f"{file} has no {part!r}" if not where else f'{where} has no "{part}"', node)
                return (*keys, part)
            keys.append(part)
        elif isinstance(node, list) and node and all(isinstance(entry, dict) for entry in node):
            chosen = _entries(node, part, where)
            if not chosen:
                names = [_name_of(e, k, where) for k, e in enumerate(node)]
                raise missing(f'there is no {where} "{part}"', names)
            if len(chosen) > 1:
                listed = " or ".join(f"{where}.{k + 1}" for k in chosen)
                raise ModelError(f'{path}: {len(chosen)} tables are called {where} "{part}"; write {listed}')
            keys.append(chosen[0])
        elif isinstance(node, list):
            if not re.fullmatch(r"\d+", part) or not 1 <= int(part) <= len(node):
                raise missing(f'{where} = {shown(node)} has no "{part}"', range(1, len(node) + 1))
            keys.append(int(part) - 1)
        else:
            raise ModelError(f"{path}: {where} = {shown(node)} is a single value, without parts")
        node = node[keys[-1]]
    whole = len(keys) <= 2 and isinstance(node, dict) and parts[0] != "function"
    if whole or (len(keys) == 1 and parts[0] in _BY_NAME):
        inside = node if isinstance(node, dict) else [_name_of(e, k, parts[0]) for k, e in enumerate(node)]
        raise ModelError(f"{path}: this names a whole table; write {path}.KEY with one of {_listing(inside)}")
    return tuple(keys)


def _entries(entries: list[dict[str, Any]], part: str, kind: str) -> list[int]:
    """Return the tables of a list that a word selects: by name, of steps by type too, or else the number, from 1."""
    named = [k for k, entry in enumerate(entries) if entry.get("name") == part]
    if not named and kind == "step":  # steps without a name are called by their type
        named = [k for k, entry in enumerate(entries) if "name" not in entry and entry.get("type") == part]
    if not named and re.fullmatch(r"\d+", part) and 1 <= int(part) <= len(entries):
        named = [int(part) - 1]
    return named


def _name_of(entry: dict[str, Any], index: int, kind: str) -> str:
    name = entry.get("name", entry.get("type") if kind == "step" else None)
    return str(index + 1) if name is None else str(name)


def set_value(data: dict[str, Any], keys: tuple[str | int, ...], value: Any) -> None:
    """Set what the keys of `locate` lead to."""
    node: Any = data
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value


def refuse_idle(path: str, keys: Sequence[str | int], parameters: Parameters) -> None:
    """Refuse to set a parameter that nothing uses: that would change nothing.

    Args:
        path: as the user has written it.
        keys: of `locate`.
        parameters: of the file after it was read.

    Raises:
        ModelError: nothing uses it.
    """
    if keys[0] == "parameters" and keys[1] not in parameters.used:
        raise ModelError(
            f"{path}: no expression uses the parameter {keys[1]}, so its value changes nothing; use it, or set the "
            "keys that are meant"
        )


def with_values(
    data: Mapping[str, Any], file: Path, values: Mapping[str, Any] | Sequence[str]
) -> tuple[dict[str, Any], list[tuple[str, tuple[str | int, ...]]]]:
    """Return the tables of a file with other values, and each path with its keys.

    Args:
        data: the tables.
        file: for messages.
        values: by path, or texts "PATH=VALUE" as on the command line.

    Raises:
        ModelError: a path that leads nowhere, one that is given twice, or a text without a value.
    """
    out = copy.deepcopy(dict(data))
    paths: list[tuple[str, tuple[str | int, ...]]] = []
    for path, value in values.items() if isinstance(values, Mapping) else map(_setting, values):
        keys = locate(data, path, file)
        if any(keys == others for _, others in paths):
            raise ModelError(f"{path} is set twice; give one value")
        set_value(out, keys, plain(value))
        paths.append((path, keys))
    return out, paths


def _setting(text: str) -> tuple[str, Any]:
    path, equals, word = text.partition("=")
    if not equals or not path.strip() or not word.strip():
        raise ModelError(f'"{text}" does not say what to set; write PATH=VALUE, such as point_mass.tip.mass=5')
    return path.strip(), value_of(word.strip(), text)
