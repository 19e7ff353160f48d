"""Things that are made or loaded at their first use: methods of dataclasses, and modules that few models need.

Python writes the methods of a dataclass as text and compiles this, which takes .5 ms for each class; a command loads
some 500 of them and uses a tenth.  `dataclass` here has the meaning of `dataclasses.dataclass`, to which type checkers
take it, and calls it at the first use.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "default", "finish", "late", "late_module"]

_lock = threading.RLock()
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_FIELDS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")


class _Late:
    """Stands for an attribute that `dataclasses.dataclass` makes; asking for it makes all of the class."""

    def __init__(self, cls: type, name: str, options: dict[str, Any]):
        self.cls, self.name, self.options = cls, name, options

    def __get__(self, held: Any, owner: type | None = None) -> Any:
        finish(self.cls)
        made: Any = vars(self.cls).get(self.name)
        if made is None and self.name != "__hash__":  # the class has none of its own, but perhaps a base
            return getattr(owner if held is None else held, self.name)
        return made.__get__(held, owner) if hasattr(made, "__get__") else made


def finish(cls: type) -> None:
    """Make the methods of a class, unless they are made.

    `dataclasses.dataclass` makes them for a copy of the class.  Each one then replaces its stand-in.  So another thread
    finds either the stand-in or the method, and never none.
    """
    with _lock:
        late = {name: value for name, value in vars(cls).items() if isinstance(value, _Late) and value.cls is cls}
        if not late:
            return
        own = {name: value for name, value in vars(cls).items() if name not in (*late, "__dict__", "__weakref__")}
        copied = type.__new__(type(cls), cls.__name__, cls.__bases__, {**own, "__qualname__": cls.__qualname__})
        dataclasses.dataclass(copied, **next(iter(late.values())).options)
        made = vars(copied)
        for name in (*made["__dataclass_fields__"], "__doc__"):  # a field has given way to its default, if it has one
            if name in own and name not in made:
                delattr(cls, name)
            elif name in made and made[name] is not own.get(name):
                setattr(cls, name, made[name])
        for name in late:
            if name in made:
                setattr(cls, name, _belonging(made[name], copied, cls))
            else:
                delattr(cls, name)


def _belonging(method: Any, copied: type, cls: type) -> Any:
    """Return a method of a copied class as one of the class.  Methods of frozen classes hold their class in a cell."""
    for cell in getattr(method, "__closure__", None) or ():
        if cell.cell_contents is copied:
            cell.cell_contents = cls
    return method


def default(cls: type, name: str) -> Any:
    """Return the default of a field of a class, whose methods need not be made for that."""
    value = getattr(cls, name)
    return value.default if isinstance(value, dataclasses.Field) else value


def late(place: str) -> Callable[..., Any]:
    """Return a function that loads the one at a place, "module:name", when it is called.

    Registries of readers and builders name those so that few models need; `tests/architecture/test_late.py` finds
    places at which there is nothing.
    """
    module, _, name = place.partition(":")

    def call(*given: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*given, **options)

    call.__name__ = call.__qualname__ = name
    return call


class _LateModule:
    """Stands for a module, which is loaded when something of it is asked for."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


def late_module(name: str) -> Any:
    """Return a stand-in for a module of that name, which loads the module at its first use.

    Type checkers see the module itself through an import within ``if TYPE_CHECKING``.
    """
    return _LateModule(name)


def _names(cls: type, options: dict[str, Any]) -> list[str]:
    """Return the names of the attributes that a dataclass gets."""
    equal, frozen = options.get("eq", True), options.get("frozen", False)
    names = [*_FIELDS, "__init__", "__repr__"]
    names += ["__eq__", "__hash__"] if equal or options.get("unsafe_hash") else []
    names += _ORDER if options.get("order") else ()
    names += ("__setattr__", "__delattr__") if frozen else ()
    names += ("__replace__",) if sys.version_info >= (3, 13) else ()
    own = vars(cls)
    return [name for name in names if own.get(name) is None and options.get(name.strip("_"), True)]


def _begin(cls: type, options: dict[str, Any]) -> type:
    if options.get("slots") or options.get("weakref_slot"):  # these make another class
        return dataclasses.dataclass(cls, **options)
    for name in _names(cls, options):
        setattr(cls, name, _Late(cls, name, options))
    return cls


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> type | Callable[[type], type]:
        """Make a class a dataclass; the arguments are those of `dataclasses.dataclass`."""
        return _begin(cls, options) if cls is not None else lambda made: _begin(made, options)
