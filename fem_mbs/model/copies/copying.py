"""Copies of declarations: shifted, turned or mirrored, under other names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.declarations.kinds import CELLS, PLACE, PLACES
from fem_mbs.errors import ModelError
from fem_mbs.model.connections.joints import Joint
from fem_mbs.model.copies.movement import Copy, Copying, Movement, reflection
from fem_mbs.model.copies.rules import RULES, moved
from fem_mbs.model.materials import CrossSection, LinearMaterial
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.rotations import rotation_matrices

__all__ = ["copies_of"]

#: Tables of things with places, of groups, and of joints.
_PLACES = ("mesh", "node", "body", "part")
_GROUPS = ("beam", "truss", "solid", "plane", "shell")
#: Keys with names of things that are no places.
_NAMED_KEYS = {
    "joint": ("joint",),
    "curve": ("curve",),
    "curve_b": ("curve",),
    "a": (*_PLACES, *_GROUPS),
    "on": (*_PLACES, *_GROUPS),
}


def _movement(copy: Copy, dimension: int) -> Movement:
    """Return the movement from one copy to the next."""
    found = Movement(np.eye(3), np.zeros(3), dimension)
    if copy.mirror is not None:
        if copy.count > 1:
            raise ModelError("a mirror has one image", owner=copy.thing, key="count", remedy="remove count")
        found = reflection(copy.mirror, dimension)
    if copy.rotate is not None:
        r = copy.rotate
        if dimension == 2 and r.axis is not None:
            raise ModelError("axis is for copies in space", owner=copy.thing, key="rotate.axis", remedy="remove it")
        axis = np.asarray([0.0, 0.0, 1.0] if r.axis is None else r.axis, float)
        if axis.shape != (3,) or not axis.any():
            raise ModelError("axis must be 3 numbers, not all 0", owner=copy.thing, key="rotate.axis", value=r.axis)
        point = found.padded([0.0] * dimension if r.point is None else _sized(copy, "rotate.point", r.point, dimension))
        R = rotation_matrices(np.deg2rad(r.angle) * axis / np.linalg.norm(axis))
        found = Movement(R, point - R @ point, dimension).after(found)
    if copy.translate is not None:
        shift = found.padded(_sized(copy, "translate", copy.translate, dimension))
        found = Movement(np.eye(3), shift, dimension).after(found)
    if copy.mirror is None and copy.rotate is None and copy.translate is None:
        raise ModelError("it lies on the original", owner=copy.thing, remedy="give mirror, rotate or translate")
    return found


def _sized(copy: Copy, name: str, value: Any, dimension: int) -> Any:
    if len(value) != dimension:
        raise ModelError(f"{name} must have {dimension} numbers", owner=copy.thing, key=name, value=value)
    return value


def copies_of(copy: Copy, said: Sequence[tuple[str, Any]], dimension: int) -> list[tuple[str, Declaration]]:
    """Return the declarations that a copy makes, each with its table, in the order of the originals.

    Args:
        copy: what is copied, and how.
        said: tables and declarations of the model so far.
        dimension: of the model.

    Raises:
        ModelError: names of nothing, things that cannot be copied (so), or names that are taken.
    """
    words = [copy.of] if isinstance(copy.of, str) else list(copy.of)
    chosen: list[tuple[str, Any]] = []
    counts: dict[str, int] = {}
    numbers = []
    for table, _ in said:
        counts[table] = counts.get(table, 0) + 1
        numbers.append(counts[table])
    for word in words:
        found = [(t, d) for (t, d), number in zip(said, numbers, strict=True) if word in _labels(t, d, number)]
        if not found:
            raise ModelError(
                f'there is nothing called "{word}"', owner=copy.thing, key="of", value=word, remedy=_known(said)
            )
        chosen += [pair for pair in found if not any(pair[1] is other for _, other in chosen)]
    chosen.sort(key=lambda pair: next(i for i, (_, d) in enumerate(said) if d is pair[1]))
    for table, d in chosen:
        if type(d) not in RULES and not isinstance(d, SensorRequest):
            raise ModelError(
                f"{d.thing} cannot be copied", owner=copy.thing, key="of",
                remedy=f"leave it out ({table} is none of {', '.join(k.owner for k in RULES)}), and write it by hand",
            )  # fmt: skip
    step, taken = _movement(copy, dimension), {_name(d) for _, d in said}
    names: dict[str, set[str]] = {}
    for table, d in chosen:
        names.setdefault(table, set()).add(_name(d))
    out: list[tuple[str, Declaration]] = []
    movement = Movement(np.eye(3), np.zeros(3), dimension)
    for i in range(1, copy.count + 1):
        movement = step.after(movement)
        out += _one_copy(copy, i, movement, said, chosen, names, taken)
    return out


def _one_copy(
    copy: Copy,
    i: int,
    movement: Movement,
    said: Sequence[tuple[str, Any]],
    chosen: list[tuple[str, Any]],
    names: Mapping[str, set[str]],
    taken: set[str],
) -> list[tuple[str, Declaration]]:
    suffix = (
        copy.suffix if copy.suffix is not None else "" if copy.prefix else " copy" if copy.count == 1 else " copy {i}"
    )
    ends = copy.prefix.replace("{i}", str(i)), suffix.replace("{i}", str(i))

    def rename(name: str) -> str:
        return ends[0] + name + ends[1]

    c = Copying(movement, names, rename, copy.thing)
    c.materials = {d.name: d for _, d in said if isinstance(d, LinearMaterial)}
    c.sections = {d.name: d for _, d in said if isinstance(d, CrossSection)}
    c.said = [d for _, d in said]
    found: list[tuple[str, Declaration]] = []
    for table, d in chosen:
        changes: dict[str, Any] = {}
        for name, key_ in d.keys().items():
            if key_.kind in (PLACE, PLACES, CELLS):
                near = (*_PLACES, *_GROUPS) if name in ("a", "b", "on") else _PLACES
                changes[name] = c.reference(getattr(d, name), near)
            elif name in _NAMED_KEYS and isinstance(getattr(d, name), (str, list)):
                changes[name] = c.reference(getattr(d, name), _NAMED_KEYS[name])
        if isinstance(d, SensorRequest) and isinstance(changes.get("on"), str):
            changes["on"] = c.reference(d.on, tuple(names))  # type: ignore[attr-defined]
        try:
            changes |= moved(d, c)
        except (ValueError, IndexError, TypeError):  # numbers of a shape that its own check refuses
            raise ModelError(
                f"{d.thing}: a vector or matrix of it has the wrong number of values",
                owner=copy.thing,
                remedy="correct it; then it can be copied",
            ) from None
        if _name(d):  # most supports have none
            changes["name"] = rename(_name(d))
            if changes["name"] in taken:
                raise ModelError(
                    f'the name "{changes["name"]}" is already taken', owner=copy.thing,
                    remedy="give another prefix or suffix, with {i} where there are several copies",
                )  # fmt: skip
        found.append((table, replace(d, **changes)))
    sections = [("section", section) for name, section in c.made.items() if name not in taken]
    taken |= {_name(d) for _, d in [*found, *sections] if _name(d)}
    made = [*sections, *found, *_welds(copy, c, rename)]
    for _, d in made:
        d.mark_made()
    return made


def _welds(copy: Copy, c: Copying, rename: Callable[[str], str]) -> list[tuple[str, Declaration]]:
    words = [copy.share] if isinstance(copy.share, str) else list(copy.share or ())
    found: list[tuple[str, Declaration]] = []
    for word in words:
        other = c.reference(word, _PLACES)
        if other == word:
            raise ModelError(
                f'"{word}" is not copied, so it is shared as it is', owner=copy.thing, key="share", value=word,
                remedy="remove it, or name a place of what is copied",
            )  # fmt: skip
        found.append(("joint", Joint(rename(f"{word} shared"), "weld", a=word, b=other)))
    return found


def _labels(table: str, said: Any, number: int) -> set[str]:
    """Return the names by which a table can be referred to: its name, or its table and name or number from 1."""
    name = _name(said)
    return {f"{table}.{number}", *((name, f"{table}.{name}") if name else ())}


def _name(said: Any) -> str:
    return getattr(said, "name", None) or ""


def _known(said: Sequence[tuple[str, Any]]) -> str:
    return f"there are {', '.join(dict.fromkeys(_name(d) for t, d in said if _name(d) and t != 'parameters'))}"
