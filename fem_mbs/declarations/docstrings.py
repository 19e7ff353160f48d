"""Docstrings of calls that declarations make: what a class says of its keys, completed by the texts of the keys."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fem_mbs.declarations.declaration import Key

__all__ = ["argument_text", "documented", "with_arguments"]

_ITEM = "    "  # indentation of an argument


def argument_text(said: Key) -> str:
    """Return the meaning of a key, with its unit and its default."""
    told = "" if said.default is MISSING else said.default_text  # only files may go without
    return f"{said.meaning} (default {told})" if told else said.meaning


def with_arguments(text: str | None, keys: Mapping[str, Key]) -> str:
    """Return a docstring whose "Args" have every key, in the order of ``keys``.

    What the docstring says of one key alone stands instead of the text of the key; what it says of several follows it.
    """
    head, given, tail = _sections(text)
    if not keys:
        return _joined(head, tail)
    lines = []
    for name, said in keys.items():
        own, shared = given.get(name, ("", False))
        words = argument_text(said)
        if own and shared:
            words = f"{words}; {own}"
        elif own:
            words = own if not said.unit or "[" in own else f"{own} [{said.unit}]"
        lines.append(f"{_ITEM}{name}: {words}".rstrip(" "))
    return _joined(head, ["Args:", *lines], tail)


def documented(text: str | None) -> list[str]:
    """Return the names that the "Args" of a docstring describe."""
    return list(_sections(text)[1])


def _joined(*sections: list[str]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section)


def _sections(text: str | None) -> tuple[list[str], dict[str, tuple[str, bool]], list[str]]:
    """Return the lines in front of the arguments, arguments -> (text, whether others share it), the lines behind."""
    lines = inspect.cleandoc(text or "").splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith(("Args:", "Raises:", "Returns:"))]
    start = next((i for i in heads if lines[i].startswith("Args:")), None)
    if start is None:
        cut = heads[0] if heads else len(lines)
        return _trimmed(lines[:cut]), {}, _trimmed(lines[cut:])
    stop = next((i for i in range(start + 1, len(lines)) if lines[i] and not lines[i].startswith(" ")), len(lines))
    found: dict[str, tuple[str, bool]] = {}
    names: list[str] = []
    for line in lines[start + 1 : stop]:
        if line.startswith(_ITEM) and not line.startswith(_ITEM + " "):
            before, _, words = line.strip().partition(": ")
            names = [name.strip() for name in before.rstrip(":").split(",")]
            found.update((name, (words, len(names) > 1)) for name in names)
        else:
            found.update((name, (f"{found[name][0]} {line.strip()}".strip(), found[name][1])) for name in names)
    return _trimmed(lines[:start]), found, _trimmed(lines[stop:])


def _trimmed(lines: list[str]) -> list[str]:
    """Return lines without empty ones at the end."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
