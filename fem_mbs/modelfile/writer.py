"""The tables of a model file as TOML text, for files that a program has changed (comments are not kept)."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["model_text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def model_text(data: Mapping[str, Any]) -> str:
    """Return TOML that reads back as ``data``: tables of two levels ([material.steel], [[joint]]), all below them
    inline."""
    plain = {k: v for k, v in data.items() if not isinstance(v, dict) and not _is_list_of_tables(v)}
    parts = [_lines(plain)] if plain else []
    for name, value in data.items():
        if name in plain:
            continue
        head = _key(name)
        if isinstance(value, list):
            parts += [f"[[{head}]]\n{_lines(entry)}" for entry in value]
            continue
        own = {k: v for k, v in value.items() if not isinstance(v, dict)}
        if own or not value:
            parts.append(f"[{head}]\n{_lines(own)}")
        parts += [f"[{head}.{_key(k)}]\n{_lines(v)}" for k, v in value.items() if isinstance(v, dict)]
    return "\n".join(parts)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(k)} = {_value(v)}\n" for k, v in table.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)  # inf, -inf and nan are TOML
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} cannot stand in a model file")
