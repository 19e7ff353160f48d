"""Texts in place of numbers: where a model file may have an expression of its parameters.

A kind of value names the function that finds the expressions in a value (`Kind.texts`); the one who works them out is
given as `Texts`, because declarations know neither parameters nor expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

__all__ = ["Texts", "Worker", "fields", "function", "mixed", "numbers", "tables", "wholes"]

#: How near to a whole number a result must be to count as one.
_WHOLE = 1e-9


class Texts(Protocol):
    """Work out texts of a model file; each raises ValueError where a text cannot be worked out."""

    def number(self, text: str) -> float | int:
        """Return the value of an expression of parameters."""

    def field(self, text: str) -> str | float | int:
        """Return an expression of x, y, z or t with values instead of parameters: a text, or what remains alone."""

    def function(self, value: Any) -> Any:
        """Return a function of time with values instead of parameters."""


Worker = Callable[[Any, Texts], Any]


def numbers(value: Any, texts: Texts) -> Any:
    """Return a number, or lists of numbers, with every text worked out."""
    if isinstance(value, str):
        return texts.number(value)
    return [numbers(v, texts) for v in value] if isinstance(value, list) else value


def wholes(value: Any, texts: Texts) -> Any:
    """Return whole numbers; a result counts as one within round-off (n = "2/0.1" is 20)."""
    if isinstance(value, list):
        return [wholes(v, texts) for v in value]
    if not isinstance(value, str):
        return value
    found = texts.number(value)
    if isinstance(found, float) and abs(found) < 2.0**53 and abs(found - round(found)) <= _WHOLE * max(1.0, abs(found)):
        return round(found)
    return found


def fields(value: Any, texts: Texts) -> Any:
    """Return numbers or expressions of x, y, z with values instead of parameters."""
    if isinstance(value, str):
        return texts.field(value)
    return [fields(v, texts) for v in value] if isinstance(value, list) else value


def mixed(value: Any, texts: Texts) -> Any:
    """Return a word, or a list of numbers: texts in the list are expressions, one alone is a word."""
    return numbers(value, texts) if isinstance(value, list) else value


def places(value: Any, texts: Texts) -> Any:
    """Return a list of words or lists of numbers: texts in the inner lists are expressions, others are words."""
    return [mixed(v, texts) for v in value] if isinstance(value, list) else value


def function(value: Any, texts: Texts) -> Any:
    """Return a function of time with values instead of parameters."""
    return texts.function(value)


def tables(names: Collection[str] = (), whole: Collection[str] = ()) -> Worker:
    """Return a function that evaluates numbers in tables within lists.

    ``names`` are keys with words, ``whole`` keys with whole numbers.
    """

    def work(value: Any, texts: Texts) -> Any:
        if isinstance(value, dict):
            return {
                k: v if k in names else wholes(v, texts) if k in whole else work(v, texts) for k, v in value.items()
            }
        if isinstance(value, list):
            return [work(v, texts) for v in value]
        return numbers(value, texts)

    return work
