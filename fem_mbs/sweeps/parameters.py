"""Resolve parameters of a sweep: paths into a model file, lists of values, and the resulting variants.

A path is KIND.NAME.KEY: ``point_mass.tip.mass`` is the key ``mass`` of the [[point_mass]] called "tip",
``section.rod.diameter`` that of [section.rod].  Further parts go into inline tables and lists (counted from 1, as
messages count tables); ``gravity`` alone is a key before the first table.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from fem_mbs.declarations.declaration import plain
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import InputError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.modelfile.paths import NUMBER, WHOLE, locate, refuse_idle, set_value, split_path, value_of
from fem_mbs.modelfile.read import check_model_data

__all__ = [
    "MAX_VARIANTS",
    "Parameter",
    "Variant",
    "changed",
    "folder_name",
    "make_parameters",
    "make_variants",
    "values_of",
]

MAX_VARIANTS = 100_000  # of one sweep

_RANGE = re.compile(rf"({NUMBER}):({NUMBER}):({NUMBER})")


@dataclass(frozen=True)
class Parameter:
    """One swept number or text: its path, its short name in columns and folders, its keys in the file's tables, its
    values."""

    path: str
    label: str
    keys: tuple[str | int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Variant:
    """One combination of values, in the order of the parameters, with the name of its folder."""

    name: str
    values: tuple[Any, ...]


# --- values ----------------------------------------------------------------------------------------------------------
def values_of(text: str, path: str = "values") -> list[Any]:
    """Return the values that a text lists: ``0.01,0.012``, ``START:STOP:STEP`` (STOP included, to round-off), words,
    and TOML values ("quoted text", [1, 2], {...}, true); several ranges and values may follow each other.

    Raises:
        ModelError: nothing is listed, or a range has no values.
    """
    values: list[Any] = []
    for word in split_path(text, ","):
        word = word.strip()
        if not word:
            raise ModelError(
                f"{path}={text}: a value is missing; write {path}=START:STOP:STEP or {path}=VALUE,VALUE,..."
            )
        found = _RANGE.fullmatch(word)
        if found:
            values += _range(found, f"{path}={text}")
        elif re.fullmatch(rf"{NUMBER}:{NUMBER}", word):
            raise ModelError(f"{path}={text}: {word} has no step; write START:STOP:STEP")
        else:
            values.append(value_of(word, f"{path}={text}"))
    return values


def _range(found: re.Match, where: str) -> list[float | int]:
    # in decimals: 0:1:0.1 gives the numbers that one would write
    start, stop, step = (Decimal(group) for group in found.groups())
    if step == 0 or (stop - start) * step < 0:
        raise ModelError(
            f"the range {found[0]} has no values", owner=where, remedy=f"its step must lead from {start} to {stop}"
        )
    try:
        count = (stop - start) / step + Decimal("1e-9")
    except ArithmeticError:
        count = Decimal(MAX_VARIANTS)
    if count >= MAX_VARIANTS:
        raise ModelError(f"the range {found[0]} has more than {MAX_VARIANTS} values", owner=where)
    values = [start + k * step for k in range(int(count) + 1)]
    if abs(values[-1] - stop) <= abs(step) * Decimal("1e-6"):
        values[-1] = stop
    whole = all(WHOLE.fullmatch(group) for group in found.groups())
    return [int(v) if whole else float(v) for v in values]


# --- parameters ------------------------------------------------------------------------------------------------------
def make_parameters(
    file: Path, data: Mapping[str, Any], settings: Sequence[str] | Mapping[str, Any]
) -> list[Parameter]:
    """Return the parameters of ``settings`` ("PATH=VALUES" each, or values by path) in the tables of a file.

    Raises:
        ModelError: a path that leads nowhere or to several tables, values that are missing, given twice or of a type
            that does not fit there.
    """
    pairs: list[tuple[str, list[Any]]] = []
    for path, given in settings.items() if isinstance(settings, Mapping) else map(_halves, settings):
        if isinstance(given, str):
            values = values_of(given, path)
        elif isinstance(given, Iterable) and not isinstance(given, Mapping):
            values = [plain(v) for v in given]
        else:
            values = [plain(given)]
        if not values:
            raise ModelError(f"{path}: it has no values; give a list with at least one")
        pairs.append((path, values))
    if not pairs:
        raise ModelError(
            f"{file}: nothing is swept; give PATH=VALUES, such as section.rod.diameter=0.01,0.02 or step.1.h=1e-3"
        )
    found: list[Parameter] = []
    for path, values in pairs:
        keys = locate(data, path, file)
        for other in found:
            shared = min(len(keys), len(other.keys))
            if keys[:shared] == other.keys[:shared]:
                same = "is given twice" if keys == other.keys else f"and {other.path} change the same thing"
                raise ModelError(f"{path} {same}; give one list of values")
        for k, value in enumerate(values):
            if any(value == v and type(value) is type(v) for v in values[:k]):
                raise ModelError(f"{path}: the value {shown(value)} is given twice")
        found.append(Parameter(path, path, keys, tuple(values)))
    _check_values(file, data, found)
    return _labelled(found)


def _halves(text: str) -> tuple[str, str]:
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise ModelError(f'"{text}" does not say what to set; write PATH=VALUES, such as point_mass.tip.mass=0:20:5')
    return path.strip(), values


def _check_values(file: Path, data: Mapping[str, Any], parameters: list[Parameter]) -> None:
    """Check that every value is allowed at its place, the other parameters at their first values."""
    first = copy.deepcopy(dict(data))
    for p in parameters:
        set_value(first, p.keys, p.values[0])
    for p in parameters:
        for value in p.values:
            trial = copy.deepcopy(first)
            set_value(trial, p.keys, value)
            try:
                read = check_model_data(file, trial)
            except InputError as error:
                raise type(error)(f"{p.path} = {shown(value)}: {error}") from None
            except (TypeError, ValueError, OverflowError) as error:  # of types that no file can hold
                raise ModelError(f"{p.path} = {shown(value)}: cannot stand in a model file ({error})") from None
            refuse_idle(p.path, p.keys, read.parameters)


def _labelled(parameters: list[Parameter]) -> list[Parameter]:
    """Return short names: the last parts of the paths, as many as tell them apart."""
    out = []
    for p in parameters:
        parts = split_path(p.path, ".")
        for count in range(1, len(parts) + 1):
            label = ".".join(parts[-count:]).strip()
            if not label.isdigit() and not re.match(r"\d+(\.|$)", label):
                others = (split_path(o.path, ".")[-count:] for o in parameters if o is not p)
                if all(other != parts[-count:] for other in others):
                    break
        out.append(replace(p, label=label))
    return out


# --- variants --------------------------------------------------------------------------------------------------------
def make_variants(parameters: Sequence[Parameter], zipped: bool = False) -> list[Variant]:
    """Return all combinations of the values, the last parameter fastest; ``zipped``: the first values of all, the
    second ...

    Raises:
        ModelError: lists of different lengths to be paired, or too many variants.
    """
    lengths = [len(p.values) for p in parameters]
    if zipped and len(set(lengths)) > 1:
        told = ", ".join(f"{p.path} has {len(p.values)}" for p in parameters)
        raise ModelError(f"values can be paired only if there are equally many of each: {told}")
    count = lengths[0] if zipped else math.prod(lengths)
    if count > MAX_VARIANTS:
        raise ModelError(f"{count} variants are more than the {MAX_VARIANTS} of one sweep; take fewer values")
    combinations = (
        zip(*(p.values for p in parameters)) if zipped else itertools.product(*(p.values for p in parameters))
    )
    variants, names = [], set()
    for values in combinations:
        name = folder_name(parameters, values)
        if name.lower() in names:  # of a file system that knows no capitals
            name = f"{name[:80]}~{_short_digest(values)}"
        names.add(name.lower())
        variants.append(Variant(name, tuple(values)))
    return variants


def changed(data: Mapping[str, Any], parameters: Sequence[Parameter], values: Sequence[Any]) -> dict[str, Any]:
    """Return the tables of a file with other values."""
    out = copy.deepcopy(dict(data))
    for p, value in zip(parameters, values):
        set_value(out, p.keys, copy.deepcopy(value))
    return out


def folder_name(parameters: Sequence[Parameter], values: Sequence[Any]) -> str:
    """Return the name of the folder of a variant."""
    full = ",".join(f"{p.label}={shown(v) if not isinstance(v, str) else v}" for p, v in zip(parameters, values))
    name = re.sub(r"[^A-Za-z0-9_.,=+-]+", "_", full).strip(".")
    return name if name == full and len(name) <= 100 else f"{name[:80]}~{_short_digest(values)}"


def _short_digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:8]
