"""Materials whose tables depend on temperature, in fields that are not the same everywhere.

Every element takes the values at the mean temperature of its nodes at the end of the linear STATIC steps, and the
secant of its expansion from the mean temperature of its nodes at the start.  Elements of a part are sorted into
classes, each with a material of its own: as many as there are temperatures, at most `_CLASSES`.  A class has the mean
temperature of its elements.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.meshes.abaqus.deck import Material
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["sort_by_temperature"]

#: Classes of temperature of a part: with more the temperature is off by half the range over so many at most.
_CLASSES = 256
#: Of the range of temperatures: differences that count as none.
_SAME = 1e-9


def sort_by_temperature(conv: Conversion) -> None:
    """Divide parts whose material depends on temperature into classes, where the deck's temperature is not the same
    everywhere."""
    if not conv.groups or conv.temperatures is not None:
        return
    states = conv.temperature_states
    if states is None:
        return
    first, last = states
    groups: list[Group] = []
    materials = dict(conv.deck.materials)
    for group in conv.groups:
        material = materials.get(getattr(group.section, "material", None) or "")
        if material is None or not _depends(material):
            groups.append(group)
            continue
        start, end = first[group.nodes].mean(axis=1), last[group.nodes].mean(axis=1)
        number = _classes(np.column_stack((start, end)))
        count = int(number.max()) + 1
        if count == 1:
            materials[material.name + " "] = _at(material, material.name + " ", start.mean(), end.mean())
            groups.append(_part(group, np.ones(len(group.ids), bool), group.name, material.name + " "))
        for k in range(count if count > 1 else 0):
            mine = number == k
            T0, T1 = float(start[mine].mean()), float(end[mine].mean())
            name = f"{material.name} of {group.name} {k + 1}"
            materials[name] = _at(material, name, T0, T1)
            part = _part(group, mine, f"{group.name} {k + 1}", name)
            conv.places[part.name] = conv.places[f"section of {part.name}"] = group.section.where
            groups.append(part)
        conv.note(
            f"{material.where}: {material.name} depends on temperature: elements of {group.name} have the values at "
            f"the mean temperature of their nodes, {end.min():g} to {end.max():g}, in {count} classes", Effect.NONE,
        )  # fmt: skip
    conv.groups = groups
    conv.deck = replace(conv.deck, materials=materials)


def _depends(material: Material) -> bool:
    """Return whether values of a material vary over temperature."""
    tables = [material.elastic.constants if material.elastic is not None else None,
              material.expansion.coefficients if material.expansion is not None else None,
              material.density[:, :1] if material.density is not None else None]  # fmt: skip
    return any(t is not None and len(t) > 1 and (t != t[0]).any() for t in tables)


def _classes(values: np.ndarray) -> np.ndarray:
    """Return the number (n,) of the class of each row of temperatures (n, 2) at start and end."""
    span = np.ptp(values, axis=0)
    scale = np.where(span > 0.0, span, 1.0)
    same = np.round((values - values.min(axis=0)) / scale / _SAME)
    _, number = np.unique(same, axis=0, return_inverse=True)
    # where start and end go their own ways, pairs of coarser classes of each
    for steps in (_CLASSES, int(np.sqrt(_CLASSES))):
        if number.max() < _CLASSES:
            break
        coarse = np.minimum((values - values.min(axis=0)) / scale * steps, steps - 1).astype(int)
        _, number = np.unique(coarse, axis=0, return_inverse=True)
    return number.ravel()


def _part(group: Group, mine: np.ndarray, name: str, material: str) -> Group:
    return replace(
        group, name=name, ids=group.ids[mine], nodes=group.nodes[mine],
        axes=None if group.axes is None else group.axes[mine], section=replace(group.section, material=material),
    )  # fmt: skip


def _at(material: Material, name: str, start: float, end: float) -> Material:
    """Return a material with its values at the temperature ``end``, and the secant of its expansion from ``start``."""

    def value(table: np.ndarray, temperature: np.ndarray, at: float) -> np.ndarray:
        order = np.argsort(temperature)
        return np.array([np.interp(at, temperature[order], column[order]) for column in table.T])

    elastic, expansion, density = material.elastic, material.expansion, material.density
    if elastic is not None and len(elastic.constants) > 1:
        row = value(elastic.constants, elastic.temperature, end)
        elastic = replace(elastic, constants=row[None], temperature=np.array([end]))
    if expansion is not None and len(expansion.coefficients) > 1:
        c, T = expansion.coefficients, expansion.temperature
        if abs(end - start) > _SAME * max(abs(start), abs(end), 1.0):
            change = value(c, T, end) * (end - expansion.zero) - value(c, T, start) * (start - expansion.zero)
            row = change / (end - start)
        else:
            row = value(c, T, end)
        expansion = replace(expansion, coefficients=row[None], temperature=np.array([end]))
    if density is not None and len(density) > 1:
        density = np.column_stack((value(density[:, :1], density[:, 1], end), [end]))
    return replace(material, name=name, elastic=elastic, expansion=expansion, density=density)
