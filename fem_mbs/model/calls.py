"""Calls of a model, each of which adds a declaration, and reading of what its building holds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeVar

from fem_mbs.declarations.declaration import Declaration, arguments
from fem_mbs.declarations.docstrings import with_arguments
from fem_mbs.errors import ModelError, Owner

__all__ = ["Built", "LateCall", "adds", "named", "named_calls"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def adds(declaration: Callable[P, Declaration]) -> Callable[Concatenate[Any, P], None]:
    """Return a method of a model that adds a declaration, with the signature and docstring of the declaration.

    Its calls raise ModelError where an argument is unknown, missing or given twice.
    """

    def call(model: Any, *args: P.args, **options: P.kwargs) -> None:
        model.add(declaration.call(args, options))  # type: ignore[attr-defined]

    call.__doc__ = with_arguments(declaration.__doc__, declaration.keys())  # type: ignore[attr-defined]
    signature = inspect.signature(declaration)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[own, *signature.parameters.values()], return_annotation=None
    )
    return call


def named(word: str) -> Callable[[Callable[Concatenate[Any, P], R]], Callable[Concatenate[Any, P], R]]:
    """Return a decorator of methods whose calls raise ModelError, not TypeError, where an argument is unknown, missing
    or given twice; ``word``: what the call is about, for messages."""

    def decorate(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
        signature = inspect.signature(method)
        _, *others = signature.parameters.values()
        own = signature.replace(parameters=others)
        inner: Callable[..., R] = method

        @functools.wraps(method)
        def call(self: Any, *args: P.args, **options: P.kwargs) -> R:
            return inner(self, **arguments(own, word, args, options))

        return call

    return decorate


def named_calls(cls: type[T]) -> type[T]:
    """Give the calls of a class, those that `adds` made among them, the names under which the class has them."""
    for name, call in vars(cls).items():
        if isinstance(call, FunctionType):
            call.__name__, call.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return cls


class LateCall:
    """A call of a class that is made when it is first asked for: its signature and docstring need all of its keys.

    Args:
        make: returns the function with its signature and docstring.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, held: Any, owner: type | None = None) -> Any:
        call = self._make()
        call.__name__, call.__qualname__ = self._name, f"{self._owner.__qualname__}.{self._name}"
        call.__module__ = self._owner.__module__
        setattr(self._owner, self._name, call)
        return call.__get__(held, owner)


def _set(name: str, value: Any, building: Any) -> None:
    setattr(building, name, value)


class Built:
    """An attribute of a model's building under the same name; tables are read-only.

    Args:
        settable: it can be set.
    """

    def __init__(self, settable: bool = False) -> None:
        self._settable = settable

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        value = getattr(model.building, self.name)
        return MappingProxyType(value) if isinstance(value, dict) else value

    def __set__(self, model: Any, value: Any) -> None:
        if not self._settable:
            raise ModelError(
                f"{self.name} cannot be set", owner=Owner("Model"), key=self.name, value=value,
                remedy="it follows from the calls of the model",
            )  # fmt: skip
        model.amend(functools.partial(_set, self.name, value))
