"""Stresses and strains of solids, as Nastran's tables have them: in the middle (point 0) and at the corners."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, Group
from fem_mbs.decks.nastran.results.state import ElementState, ElementTable
from fem_mbs.decks.nastran.results.tensors import in_space
from fem_mbs.elements.solids.shapes import local_nodes, rule

__all__ = ["solid_stresses", "solid_system"]

_CORNERS = {"CTETRA": 4, "CPENTA": 6, "CHEXA": 8}
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def solid_system(group: Group) -> int:
    """Return the system in which the stresses of solids are given: CORDM of PSOLID."""
    return int(group.section["cordm"])


def solid_stresses(state: ElementState, strain: bool = False, mises: bool = True) -> Iterator[ElementTable]:
    """Yield the stresses, or the strains, of solids along the axes of CORDM."""
    word, unit = ("STRAIN", "[-]") if strain else ("STRESS", "[stress]")
    last = "von Mises" if mises else "octahedral shear"
    names = tuple(f"{c} {unit}" for c in ("X", "Y", "Z", "XY", "YZ", "ZX", "A", "B", "C", "pressure", last))
    for group in state.conv.groups:
        if group.kind != "solid" or solid_system(group) < 0:
            continue
        part, k = state.part(group), _CORNERS[group.type]
        values = part.table(state.out)[int(strain)]
        points = rule(part.cell, part.integration)[0]
        off = np.linalg.norm(points - local_nodes(part.cell)[:k].mean(axis=0), axis=1)
        middle = values[:, off < off.min() + 1e-9].mean(axis=1, keepdims=True)
        found = np.concatenate((middle, part.at_nodes(values)[:, :k]), axis=1)
        found = _along(state.conv, group, found, strain)
        at = np.column_stack((np.zeros(len(group.ids), int), state.conv.grids.ids[part.nodes[:, :k]]))
        rows = in_space(found, strain, mises).reshape(-1, len(names))
        yield ElementTable(f"{word} {group.type}", names, np.repeat(group.ids, k + 1), rows, at.ravel())


def _along(conv: Conversion, group: Group, values: np.ndarray, strain: bool) -> np.ndarray:
    """Return components (n, m, 6) along the axes of CORDM in the middle of the elements."""
    system = solid_system(group)
    if not system:
        return values
    axes = conv.grids.system(system, group.section.where).axes_at(conv.grids.x[group.nodes].mean(axis=1))
    shear = 2.0 if strain else 1.0
    T = np.empty((*values.shape[:2], 3, 3))
    for c, (i, j) in enumerate(_PAIRS):
        T[..., i, j] = T[..., j, i] = values[..., c] / (1.0 if i == j else shear)
    T = np.einsum("nai,nmij,nbj->nmab", axes, T, axes)
    return np.stack([T[..., i, j] * (1.0 if i == j else shear) for i, j in _PAIRS], axis=-1)
