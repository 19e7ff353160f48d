"""Calls of commands without typer's conversion of values, whose library takes longer to load than a small model to run.

Most calls give texts, paths and flags only, which need no conversion.  Everything else is left to typer: numbers, help,
and all that may be wrong.  The declarations are the same ones, and `tests/cli/test_direct.py` compares the values.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo, ParameterInfo

__all__ = ["direct_call"]

_PATHS: tuple[Any, ...] = (Path, Path | None)
_SINGLE: tuple[Any, ...] = (str, str | None, *_PATHS)
_REPEATED: Any = list[str] | None


def direct_call(groups: Sequence[Typer], arguments: Sequence[str]) -> Callable[[], None] | None:
    """Return the call of the command that arguments name, or None if it is left to typer.

    Args:
        groups: that the commands are registered in.
        arguments: of the program.
    """
    commands = (info for group in groups for info in group.registered_commands)
    for command in commands:
        function = command.callback
        if function and arguments[:1] == [command.name or function.__name__]:
            values = _values(function, arguments[1:])
            return None if values is None else partial(function, **values)
    return None


def _values(function: Callable, tokens: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of the parameters of a command, or None if typer has to find them."""
    hints = get_type_hints(function, include_extras=True)
    defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    infos: dict[str, ParameterInfo] = {name: hints[name].__metadata__[0] for name in defaults}
    kinds: dict[str, Any] = {name: hints[name].__origin__ for name in defaults}
    places = [name for name, info in infos.items() if isinstance(info, ArgumentInfo)]
    if any(kinds[name] not in _SINGLE for name in places):
        return None
    options = {word: name for name, info in infos.items() if name not in places for word in _words(name, info)}
    given: dict[str, Any] = {}
    left = iter(tokens)
    for token in left:
        if token in options:
            name = options[token]
            value = True if kinds[name] is bool else _value(kinds[name], next(left, ""))
        elif places:
            name = places.pop(0)
            value = _value(kinds[name], token)
        else:
            return None
        repeated = kinds[name] == _REPEATED
        if value is None or (name in given and not repeated):
            return None
        given[name] = [*given.get(name, ()), value] if repeated else value
    values = defaults | given
    if inspect.Parameter.empty in values.values():
        return None
    for name, info in infos.items():
        if info.callback is not None:
            values[name] = info.callback(values[name])
    return values


def _words(name: str, info: ParameterInfo) -> list[str]:
    """Return the names of an option; typer's class takes the first one for a default."""
    declared = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    return declared or [f"--{name.replace('_', '-')}"]


def _value(kind: Any, token: str) -> str | Path | None:
    """Return the value that a word stands for, or None if typer has to find it."""
    if kind not in (*_SINGLE, _REPEATED) or not token or token.startswith("-"):
        return None
    if kind not in _PATHS:
        return token
    readable = os.access(token, os.R_OK) or not os.path.lexists(token)
    return Path(token) if readable else None
