"""List all available types: elements, joints, sections, functions, sensors, steps, formats (`fem-mbs list`).

The lines come from a generated file of the package, so that they appear at once: the registries would import all
kernels.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from importlib import resources

from fem_mbs.errors import ModelError, Owner

__all__ = ["overview", "topic"]

_WIDTH = 110
_LINES = 3  # of names of a topic in the overview


def _lines() -> list[str]:
    return resources.files("fem_mbs.modelfile").joinpath("inventory.txt").read_text("utf-8").splitlines()


def _topics() -> dict[str, list[str]]:
    """Return the lines by their titles."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in _lines():
        if line.startswith("  "):
            found[title].append(line)
        else:
            title = line.removesuffix(":")
            found[title] = []
    return found


def _name(line: str) -> str:
    """Return the name of an entry."""
    return line[2:].partition("  ")[0]


def _words(topics: dict[str, list[str]]) -> str:
    """Return the first words of the titles that have entries."""
    return ", ".join(dict.fromkeys(title.split()[0] for title, entries in topics.items() if entries))


def overview() -> Iterator[str]:
    """Yield the titles with the names alone, so that they fit on a screen."""
    topics = _topics()
    for title, entries in topics.items():
        if not entries:
            yield title
            continue
        names = textwrap.wrap(", ".join(map(_name, entries)), _WIDTH)
        yield f"{title} ({len(entries)}):"
        yield from (f"  {line}" for line in names[:_LINES])
        if len(names) > _LINES:
            yield f"  ... and more: fem-mbs list {title.split()[0]}"
    yield "fem-mbs list TOPIC describes the entries of a topic, fem-mbs list all those of all topics:"
    yield from (f"  {line}" for line in textwrap.wrap(_words(topics), _WIDTH))


def topic(word: str) -> Iterator[str]:
    """Yield the topics whose title begins with a word; all lines for "all".

    Raises:
        ModelError: there is none.
    """
    topics = _topics()
    if word == "all":
        found = topics
    else:
        found = {title: entries for title, entries in topics.items() if title.startswith(word) and entries}
    if not found:
        raise ModelError(
            f'there is no topic "{word}"', owner=Owner("List"), remedy=f"take one of {_words(topics)}, or all"
        )
    for title, entries in found.items():
        yield f"{title}:" if entries else title
        yield from entries
        if title == "linear solvers":
            yield f"  on this machine: {_cholmod()}"


def _cholmod() -> str:
    from fem_mbs.solvers.linear.libraries import cholmod_status

    there, text = cholmod_status()
    return text if there else f"CHOLMOD is not available: {text}"
