"""Kinds of values of step options, and lists of numbers made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from fem_mbs.declarations.declaration import plain
from fem_mbs.declarations.kinds import Kind, shown
from fem_mbs.declarations.texts import Worker, numbers, wholes
from fem_mbs.errors import ModelError

__all__ = [
    "COUNT", "FREQUENCY", "FREQUENCY_OR_ROOT", "NAMES", "NUMBER_OR_ROOT", "POSITIVE", "RATE_RANGE", "RATIOS",
    "RAYLEIGH", "RISING", "limited", "listed", "named", "number", "rising", "spread", "valued", "whole",
]  # fmt: skip

_LARGEST = 1e300  # numbers above overflow


def valued(label: str, what: str, good: Callable[[Any], bool], texts: Worker | None = None) -> Kind:
    """Return a kind of values for which ``good`` is true; ``what`` says what they must be, ``texts`` works out its
    expressions of parameters."""

    def check(value: Any) -> Any:
        if not good(value):
            raise ValueError(f"must be {what}")
        return value

    return Kind(label, check, texts)


def number(value: Any) -> bool:
    """Return whether this is a finite number."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < _LARGEST


def whole(low: int, most: int = 2**31 - 1) -> Kind:
    """Return whole numbers of at least ``low``."""
    what = f"a whole number of at least {low}" if most == 2**31 - 1 else f"a whole number from {low} to {most}"
    return valued(
        "whole number", what, lambda v: not isinstance(v, bool) and isinstance(v, int) and low <= v <= most, wholes
    )


def limited(what: str, low: float, high: float = _LARGEST, open_at: str = "") -> Kind:
    """Return numbers between two limits, which are not among them where ``open_at`` names them ("low", "high")."""

    def good(v: Any) -> bool:
        inside = number(v) and low <= v <= high
        return inside and not (v == low and "low" in open_at) and not (v == high and "high" in open_at)

    return valued("number", what, good, numbers)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(number(v) for v in value)


def _rising(value: Any, low: float, high: float) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) or math.isnan(v) for v in value):
        return False
    return low <= value[0] < value[1] <= high


COUNT = whole(1)
POSITIVE = limited("a finite number greater than 0", 0.0, open_at="low")
FREQUENCY = limited("a positive frequency [Hz]", 0.0, open_at="low")
#: Damping ratios of modes.
RATIOS = valued(
    "number or list", "a ratio of at least 0, or a list of them",
    lambda v: v != [] and all(number(r) and r >= 0.0 for r in (v if isinstance(v, list) else [v])),
    numbers,
)  # fmt: skip
#: Rayleigh's damping of modes.
RAYLEIGH = valued(
    "list of two numbers", "two numbers of at least 0",
    lambda v: isinstance(v, list) and len(v) == 2 and all(number(r) and r >= 0.0 for r in v),
    numbers,
)  # fmt: skip
NAMES = valued(
    "text or list", "a name or a list of names",
    lambda v: isinstance(v, str) or (isinstance(v, list) and all(isinstance(n, str) for n in v)),
)  # fmt: skip


def _number_or_root(what: str) -> Kind:
    said = f"{what}, or a list of two: real and imaginary part [1/s]"
    return valued("number or list of two", said, lambda v: number(v) or _pair(v), numbers)


FREQUENCY_OR_ROOT = _number_or_root("a frequency [Hz]")
NUMBER_OR_ROOT = _number_or_root("a number [1/s]")
RISING = valued(
    "list of two numbers", "a list of two numbers [low, high] with 0 <= low < high [Hz]",
    lambda v: _rising(v, 0.0, _LARGEST), numbers,
)  # fmt: skip
RATE_RANGE = valued(
    "list of two numbers", "a list of two numbers [low, high] with low < high [Hz]",
    lambda v: _rising(v, -math.inf, math.inf), numbers,
)  # fmt: skip


def named(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of an option that takes one or several."""
    return (value,) if isinstance(value, str) and value else tuple(value)


def listed(values: Any, owner: str, name: str) -> list[float]:
    """Return numbers, none negative, of a list or of one number.

    Raises:
        ModelError: they are something else.
    """
    found = plain(values)
    found = [found] if isinstance(found, (int, float)) else found
    if not isinstance(found, list) or not found or not all(number(v) and v >= 0.0 for v in found):
        raise ModelError(
            f"{name} = {shown(values)} must be a list of finite numbers, none negative",
            owner=owner,
            key=name,
            value=values,
        )
    return [float(v) for v in found]


def rising(values: Any, owner: str, name: str, unit: str) -> list[float]:
    """Return numbers of a ``unit``, none negative, that rise.

    Raises:
        ModelError: they do not.
    """
    found = listed(values, owner, name)
    for before, after in pairwise(found):
        if not after > before:
            raise ModelError(f"{name} must increase, but {after:g} {unit} comes after {before:g} {unit}", owner=owner)
    return found


def spread(given: Any, owner: str, name: str, unit: str, most: int, spaced: bool = False) -> list[float]:
    """Return rising numbers of a ``unit``: of a list, or of a table {start, end, n}, n intervals; where they may be
    ``spaced``, the table may have the spacing "linear" or "log".

    Raises:
        ModelError: the numbers or the table make no sense.
    """
    if not isinstance(given, dict):
        return rising(given, owner, name, unit)
    import numpy as np

    n, spacing = given.get("n"), given.get("spacing", "linear")
    keys = {"start", "end", "n"}
    good = keys <= set(given) <= keys | ({"spacing"} if spaced else set())
    if not good or isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= most:
        more = ', and may have spacing, "linear" or "log"' if spaced else ""
        raise ModelError(
            f"{name} = {shown(given)} must have start, end and n, a whole number of intervals{more}",
            owner=owner,
            key=name,
            value=given,
        )
    if spacing not in ("linear", "log"):
        raise ModelError(f'{name}.spacing = {shown(spacing)} must be "linear" or "log"', owner=owner)
    for limit in ("start", "end"):
        if not number(given[limit]) or given[limit] < 0.0:
            raise ModelError(
                f"{name}.{limit} = {shown(given[limit])} must be a finite number of at least 0", owner=owner
            )
    start, end = float(given["start"]), float(given["end"])
    if spacing == "log" and not start > 0.0:
        raise ModelError(f"{name}.start = {start:g} must be positive with logarithmic spacing", owner=owner)
    return rising((np.linspace if spacing == "linear" else np.geomspace)(start, end, n + 1), owner, name, unit)
