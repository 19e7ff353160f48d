"""Doubts about sets of meshes: supports and joints on one of several feet, or on one node of a part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.model.connections.couplings import Coupling
from fem_mbs.model.connections.forces import Bushing
from fem_mbs.model.connections.joints import Joint, Support
from fem_mbs.model.connections.ties import Tie

__all__ = ["doubts_of_sets"]

_HOLDING = (Support, Joint, Coupling, Tie, Bushing)
#: Words of names of sets by which a part stands or hangs on something.
_FEET = (
    "foot",
    "feet",
    "leg",
    "support",
    "bearing",
    "bolt",
    "screw",
    "hole",
    "clamp",
    "mount",
    "anchor",
    "pin",
    "fixing",
)
#: Words, beside numbers and single letters, that tell one of several from the others.
_SIDES = (
    "left",
    "right",
    "front",
    "rear",
    "back",
    "top",
    "bottom",
    "upper",
    "lower",
    "inner",
    "outer",
    "port",
    "starboard",
)
_PART = re.compile(r"[a-z]+|[0-9]+")


def doubts_of_sets(model: Any) -> Iterator[str]:
    """Yield notes on sets that hold less than their names, or the part, suggest."""
    named = [(d, word) for d in model.specifications for word in _words(d)]
    yield from _forgotten_feet(model, named)
    yield from _single_nodes(model, named)


def _words(said: Declaration) -> Iterator[str]:
    """Yield the texts in the keys of a declaration."""

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for part in value.values():
                yield from walk(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield from walk(part)

    for name in said.keys():  # noqa: SIM118 (a declaration, no mapping)
        yield from walk(getattr(said, name, None))


def _stem(name: str) -> tuple[str, ...] | None:
    """Return the words of a foot's name without those that tell it from its twins; None where it names no foot, or has
    no such word."""
    words = _PART.findall(name.lower())
    rest = tuple(w for w in words if not w.isdigit() and w not in _SIDES and len(w) > 1)
    if len(rest) == len(words) or not any(foot in word for word in rest for foot in _FEET):
        return None
    return rest


def _forgotten_feet(model: Any, named: list[tuple[Any, str]]) -> Iterator[str]:
    """Yield notes on sets that no table names while sets of like names are held."""
    used = {word for _, word in named}
    held = {word for d, word in named if isinstance(d, _HOLDING)}
    for mesh, (data, _) in model.meshes.items():
        twins: dict[tuple[str, ...], list[str]] = {}
        for full in dict.fromkeys(name.partition("@")[0] for name in data.set_names):
            stem = _stem(full)
            if stem is not None:
                twins.setdefault(stem, []).append(f"{mesh}:{full}")
        if mesh in held:
            continue  # the whole mesh is
        for places in twins.values():
            some, none = [p for p in places if p in held], [p for p in places if p not in used]
            if some and none:
                yield (
                    f"{_quoted(some)} {'is' if len(some) == 1 else 'are'} held, but nothing is on {_quoted(none)}: is "
                    "that one forgotten?"
                )


def _quoted(places: list[str]) -> str:
    return ", ".join(f'"{place}"' for place in places)


def _single_nodes(model: Any, named: list[tuple[Any, str]]) -> Iterator[str]:
    """Yield notes on solids, plane parts and shells that a set of one node alone holds."""
    groups = [*model.solid_groups.values(), *model.shell_groups.values()]
    for d in model.specifications:
        places = [d.on] if isinstance(d, Support) and isinstance(d.on, str) else getattr(d, "on", None)
        if not isinstance(d, Support) or d.components is not None or not isinstance(places, (list, tuple)):
            continue
        if len(places) != 1 or not isinstance(places[0], str) or ":" not in places[0]:
            continue
        mesh = places[0].partition(":")[0]
        others = [o for o, w in named if o is not d and isinstance(o, _HOLDING) and w.partition(":")[0] == mesh]
        if mesh not in model.meshes or others:
            continue
        nodes = np.unique(model.nodes_of(places[0], d.thing))
        part = next((g.part for g in groups if np.isin(nodes, g.nodes).all()), None)
        if nodes.size == 1 and part is not None:
            yield (
                f'the support on "{places[0]}" is all that holds "{part}", and holds one of its nodes: the part can '
                "turn about it, and stresses there have no limit as the mesh is refined; which nodes was the set to "
                "have?"
            )
