"""Classes that are made late, each with values of its fields; ``made`` makes another one like it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from fem_mbs.late import dataclass as late_dataclass


class _Made:
    """Base of the classes below, without fields."""

    values: ClassVar[tuple] = (1, "x")


def _plain(decorate: Any = late_dataclass) -> Any:
    @decorate
    class Plain(_Made):
        """Fields with a default, one that is made, and one by keyword."""

        a: int
        b: str = "y"
        c: list = field(default_factory=list)
        d: float = field(default=2.0, kw_only=True)
        shared: ClassVar[int] = 3

    return Plain


def _frozen(decorate: Any = late_dataclass) -> Any:
    @decorate(frozen=True)
    class Frozen(_Made):
        a: int
        b: str = field(default="y", repr=False)

    return Frozen


def _ordered(decorate: Any = late_dataclass) -> Any:
    @decorate(order=True, kw_only=False)
    class Base(_Made):
        a: int = 0

    @decorate(order=True, unsafe_hash=True)
    class Ordered(Base):
        b: str = "z"

        def __repr__(self) -> str:
            return f"Ordered with {self.a}"

    return Ordered


def _unhashable(decorate: Any = late_dataclass) -> Any:
    @decorate(eq=True)
    class Unhashable(_Made):
        a: int = 1
        b: str = ""

        def __post_init__(self) -> None:
            self.b = self.b.upper()

    return Unhashable


Plain, Frozen, Ordered, Unhashable = _plain(), _frozen(), _ordered(), _unhashable()
for _kind, _make in ((Plain, _plain), (Frozen, _frozen), (Ordered, _ordered), (Unhashable, _unhashable)):
    _kind.made = staticmethod(_make)
    _kind.__qualname__ = _kind.__name__
