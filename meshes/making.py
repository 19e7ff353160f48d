"""How meshes are made: by this process alone, or by one of several for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fem_mbs.meshes.mesh import Mesh

__all__ = ["made", "made_by"]

Make = Callable[[], Mesh]

_ways: list[Callable[[Make], Mesh]] = []


def made(make: Make) -> Mesh:
    """Return the mesh that ``make`` reads or generates, in the way that `made_by` has set."""
    return _ways[-1](make) if _ways else make()


@contextmanager
def made_by(way: Callable[[Make], Mesh]) -> Iterator[None]:
    """Let ``way`` call what makes meshes within the block, as processes do that have their arrays in common."""
    _ways.append(way)
    try:
        yield
    finally:
        _ways.pop()
