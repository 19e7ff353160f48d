"""Everything public says what it is and what its parameters mean."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import fem_mbs
from fem_mbs.results.modes.mac import Mac
from fem_mbs.results.series import Series
from fem_mbs.show.page import View
from fem_mbs.sweeps.optimise import Optimum

OTHERS = {"Series": Series, "Mac": Mac, "View": View, "Optimum": Optimum}  # what public calls return


def members(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield a function, or a class with its public methods and properties, with their names."""
    yield name, thing
    if not inspect.isclass(thing):
        return
    for own in dir(thing):
        found = inspect.getattr_static(thing, own)
        if own.startswith("_"):
            continue
        if isinstance(found, property):
            yield f"{name}.{own}", found.fget
        elif isinstance(found, (staticmethod, classmethod)):
            yield f"{name}.{own}", found.__func__
        elif inspect.isfunction(found):
            yield f"{name}.{own}", found


def undescribed(thing: Any) -> list[str]:
    """Return the parameters that a docstring does not name."""
    if inspect.isclass(thing) and (issubclass(thing, Exception) or "__init__" not in vars(thing)):
        return []
    text = inspect.getdoc(thing) or ""
    return [
        parameter
        for parameter in inspect.signature(thing).parameters
        if parameter not in ("self", "cls") and not re.search(rf"(?<!\w){re.escape(parameter)}(?!\w)", text)
    ]


@pytest.mark.parametrize("name", [*(n for n in fem_mbs.__all__ if n != "__version__"), *OTHERS])
def test_public_names_are_described(name):
    thing = OTHERS.get(name) or getattr(fem_mbs, name)
    silent = [own for own, found in members(name, thing) if not inspect.getdoc(found)]
    assert not silent, f"no docstring: {', '.join(silent)}"
    left = {own: told for own, found in members(name, thing) if (told := undescribed(found))}
    assert not left, f"parameters without a word: {left}"


def test_what_is_not_described_is_found():
    def silent(a, b):
        """Add a to another one."""

    class Thing:
        """A thing."""

        def call(self):
            pass

    assert undescribed(silent) == ["b"]
    assert [own for own, found in members("Thing", Thing) if not inspect.getdoc(found)] == ["Thing.call"]
