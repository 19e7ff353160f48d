"""Calls of a model, each of which makes a part of its building, and reading of the building's content."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

__all__ = ["Built", "calls"]

P = ParamSpec("P")


def calls(method: Callable[Concatenate[Any, P], None]) -> Callable[Concatenate[Any, P], None]:
    """Return a method of a model that calls a method of its building, with the same signature and docstring."""

    @wraps(method)
    def call(model: Any, *args: P.args, **options: P.kwargs) -> None:
        method(model.building, *args, **options)

    return call


class Built:
    """An attribute of a model's building under the same name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else getattr(model.building, self.name)

    def __set__(self, model: Any, value: Any) -> None:
        setattr(model.building, self.name, value)
