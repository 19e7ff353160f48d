"""Loads on the edges of shells: forces and moments per length, as work-equivalent ones of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.meshes.cells import facets_of
from fem_mbs.model.building import Building
from fem_mbs.model.parts.cells import cell_owners
from fem_mbs.properties.shells import ShellGroup

__all__ = ["edge_resultants", "edges_of"]

_PLACES, _FACTORS = np.polynomial.legendre.leggauss(3)


def edges_of(building: Building, owner: Owner, on: str) -> list[np.ndarray]:
    """Return the edges of shells in a set of edges "mesh:set", each once, as tables of nodes (m, 2 or 3).

    Raises:
        ModelError: there is no such set, or it holds faces or edges of other parts.
    """
    mesh, _, name = on.partition(":")
    part, start = building.find("mesh", mesh, building.meshes, owner)
    found: dict[str, list[np.ndarray]] = {}
    for block, cells, facets in part.facets(name):
        groups = cell_owners(building, mesh, block)[cells]
        kind = part.blocks[block].kind
        bad = [k for k, g in enumerate(groups) if g < 0 or not isinstance(building.cell_groups[g], ShellGroup)]
        if bad:
            number = part.blocks[block].ids[cells[bad[0]]]
            raise ModelError(
                f'"{on}" holds an edge or a face of cell {number}, which is no shell', owner=owner,
                remedy="give the shell before its loads; forces on faces are tractions",
            )  # fmt: skip
        for facet, _, nodes in facets_of(kind, part.blocks[block].cells[cells], facets):
            found.setdefault(facet, []).append(start + nodes)
    tables = []
    for parts in found.values():
        table = np.concatenate(parts)
        _, first = np.unique(np.sort(table, axis=1), axis=0, return_index=True)  # two shells may share an edge
        tables.append(table[np.sort(first)])
    return tables


def edge_resultants(
    building: Building, owner: Owner, edges: list[np.ndarray], key: str, value: Any
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return nodes (n,) of edges, and on them the resultants (n, 3) of a vector per length.

    Args:
        value: 3 numbers or expressions of x, y, z of the nodes, between which it is interpolated.

    Raises:
        ModelError: ``value`` is not of this kind, or not finite.
    """
    total = np.zeros((building.n_nodes, 3))
    used = np.unique(np.concatenate([table.ravel() for table in edges]))
    values = np.zeros_like(total)
    x = building.positions
    parts = list(value) if isinstance(value, (list, tuple, np.ndarray)) else []
    if len(parts) != 3:
        raise ModelError(f"{key} = {shown(value)} must be 3 numbers or expressions", owner=owner, key=key, value=value)
    for i, part in enumerate(parts):
        if isinstance(part, str):
            values[used, i] = compile_expression(part, ("x", "y", "z"))(*x[used].T)
        else:
            values[used, i] = building.number(part, owner, key)
    if not np.isfinite(values).all():
        raise ModelError(
            f"{key} = {shown(value)} is not finite everywhere on the edges", owner=owner, key=key, value=value
        )
    for table in edges:
        for s, factor in zip(_PLACES, _FACTORS, strict=True):
            N, slope = _shapes(table.shape[1], s)
            length = factor * np.linalg.norm(np.einsum("a,eac->ec", slope, x[table]), axis=1)
            density = length[:, None] * np.einsum("a,eac->ec", N, values[table])
            np.add.at(total, table, N[:, None] * density[:, None, :])
    return used, total[used]


def _shapes(n: int, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return shape functions (n,) of a line of 2 or 3 nodes at s (-1 to 1), the third in the middle, and their
    derivatives."""
    if n == 2:
        return np.array((0.5 * (1.0 - s), 0.5 * (1.0 + s))), np.array((-0.5, 0.5))
    return (
        np.array((0.5 * s * (s - 1.0), 0.5 * s * (s + 1.0), 1.0 - s * s)),
        np.array((s - 0.5, s + 0.5, -2.0 * s)),
    )
