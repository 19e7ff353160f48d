"""Calls of a model, each of which adds a declaration, and reading of what its building holds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from fem_mbs.declarations.declaration import Declaration

__all__ = ["Built", "adds"]

P = ParamSpec("P")


def adds(declaration: Callable[P, Declaration]) -> Callable[Concatenate[Any, P], None]:
    """Return a method of a model that adds a declaration, with the signature and docstring of the declaration."""

    def call(model: Any, *args: P.args, **options: P.kwargs) -> None:
        model.add(declaration(*args, **options))

    call.__doc__ = declaration.__doc__
    signature = inspect.signature(declaration)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[own, *signature.parameters.values()], return_annotation=None
    )
    return call


class Built:
    """An attribute of a model's building under the same name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else getattr(model.building, self.name)

    def __set__(self, model: Any, value: Any) -> None:
        setattr(model.building, self.name, value)
