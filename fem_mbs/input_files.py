"""Find the files that a model file names, compute their digests, and adapt their paths to another folder."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["digest_of", "files_of", "inputs_of", "moved"]

_FILE_KEYS = ("file", "visual", "triangles", "results")
_NO_FILES = "parameters"  # a table whose names are free, and whose texts are expressions
_ABAQUS = re.compile(
    rb"^\s*\*(?:INCLUDE|SUBMODEL)\s*,(?:[^\r\n]*,)?\s*INPUT\s*=\s*([^\r\n,]+)", re.IGNORECASE | re.MULTILINE
)
_NASTRAN = re.compile(rb"^\s*INCLUDE\s*'?([^'\r\n$]+)", re.IGNORECASE | re.MULTILINE)
#: Ending of decks -> how they name the files that they include.
_INCLUDES = {
    ".inp": _ABAQUS, ".bdf": _NASTRAN, ".nas": _NASTRAN, ".fem": _NASTRAN, ".dat": _NASTRAN, ".inc": _NASTRAN,
    ".blk": _NASTRAN,
}  # fmt: skip


def files_of(value: Any) -> Iterator[str]:
    """Files that the tables of a model file name: every text under a key ``file`` (of meshes, of reduced parts, and of
    functions and shapes as tables), ``visual`` or ``triangles``, which may also be lists of them, and folders under
    ``results`` (of imperfections)."""
    if isinstance(value, Mapping):
        value = {key: given for key, given in value.items() if key != _NO_FILES}
        for key in _FILE_KEYS:
            given = value.get(key)
            yield from (v for v in (given if isinstance(given, list) else [given]) if isinstance(v, str))
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from files_of(item)


def moved(value: Any, prefix: str) -> Any:
    """The same tables for a model file in another folder, from which ``prefix`` leads to the old one."""
    if isinstance(value, Mapping):
        out = {k: v if k == _NO_FILES else moved(v, prefix) for k, v in value.items()}
        for key in _FILE_KEYS:
            if isinstance(value.get(key), str):
                out[key] = _from(prefix, value[key])
            elif isinstance(value.get(key), list):
                out[key] = [_from(prefix, v) if isinstance(v, str) else moved(v, prefix) for v in value[key]]
        return out
    return [moved(v, prefix) for v in value] if isinstance(value, list) else value


def _from(prefix: str, path: str) -> str:
    return path if Path(path).is_absolute() else f"{prefix}/{path}"


def digest_of(data: Mapping[str, Any], folder: Path, known: dict[Path, str]) -> str:
    """A number that changes with anything that a model file says, and with the meshes, tables and parts that it names;
    ``known`` remembers those that were read."""
    digest = hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode())
    for path in sorted({folder / name for name in files_of(data)}):
        digest.update(_digest_of_path(path, known).encode())
    return digest.hexdigest()


def _digest_of_path(path: Path, known: dict[Path, str]) -> str:
    """Of a file, with what it includes; of a folder, with all that is in it."""
    if path not in known:
        known[path] = "its own"  # a file that includes itself
        try:
            known[path] = _read(path, known)
        except (OSError, ValueError):
            known[path] = "missing"
    return known[path]


def _read(path: Path, known: dict[Path, str]) -> str:
    if path.is_dir():
        inside = [p for p in sorted(path.rglob("*")) if p.is_file()]
        told = [[p.relative_to(path).as_posix(), _digest_of_path(p, known)] for p in inside]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    for name in sorted(set(_named_in(path))):
        digest.update(_digest_of_path(path.parent / name, known).encode())
    return digest.hexdigest()


def _named_in(path: Path) -> list[str]:
    """Files that a model file or a deck names."""
    if path.suffix.lower() == ".toml":
        return list(files_of(tomllib.loads(path.read_text(encoding="utf-8-sig"))))
    pattern = _INCLUDES.get(path.suffix.lower())
    if pattern is None:
        return []
    return [found.decode(errors="replace").strip().strip('"') for found in pattern.findall(path.read_bytes())]


def inputs_of(path: str | Path) -> set[Path]:
    """All files that a model file or a deck is made of: itself, those that it names, what they name and so on; of a
    folder all that is in it.  Files that cannot be read are the business of who reads them."""
    found: set[Path] = set()
    waiting = [Path(path)]
    while waiting:
        here = waiting.pop()
        if here in found:
            continue
        found.add(here)
        try:
            if here.is_dir():
                waiting += [inside for inside in here.rglob("*") if inside.is_file()]
            else:
                waiting += [here.parent / name for name in _named_in(here)]
        except (OSError, ValueError):
            continue
    return found
