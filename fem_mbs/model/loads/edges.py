"""Loads on the edges of shells: forces and moments per length, as work-equivalent ones of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.elements.shells.stiffness import side_bulge
from fem_mbs.elements.shells.surface import normals
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import facets_of
from fem_mbs.model.building import Building
from fem_mbs.model.parts.cells import cell_owners
from fem_mbs.properties.shells import ShellGroup

__all__ = ["Edges", "edge_resultants", "edges_of"]

_PLACES, _FACTORS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True)
class Edges:
    """Edges of one kind, each once: ``nodes`` (m, 2 or 3) in the order around their elements, the third in the middle;
    ``normals`` (m, 2 or 3, 3) of the elements there; ``bulges`` (m,) of `side_bulge`."""

    nodes: np.ndarray
    normals: np.ndarray
    bulges: np.ndarray


def edges_of(building: Building, owner: Owner, on: str) -> list[Edges]:
    """Return the edges of shells in a set of edges "mesh:set".

    Raises:
        ModelError: there is no such set, or it holds faces or edges of other parts.
    """
    mesh, _, name = on.partition(":")
    part, start = building.find("mesh", mesh, building.meshes, owner)
    found: dict[str, list[Edges]] = {}
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
        table = part.blocks[block].cells[cells]
        bulges = np.zeros(len(cells))
        for g in np.unique(groups):
            group, mine = building.cell_groups[g], groups == g
            assert isinstance(group, ShellGroup)
            if group.bends:
                rows = group.elements(mesh, block, len(part.blocks[block].cells))[cells[mine]]
                bulges[mine] = side_bulge(kind, np.broadcast_to(group.drilling, len(group.nodes))[rows])
        D = normals(building.positions[start + table])
        local = np.broadcast_to(np.arange(table.shape[1]), table.shape)
        for (facet, rows, nodes), (_, _, at) in zip(
            facets_of(kind, table, facets), facets_of(kind, local, facets), strict=True
        ):
            edges = Edges(start + nodes, np.take_along_axis(D[rows], at[..., None], axis=1), bulges[rows])
            found.setdefault(facet, []).append(edges)
    joined = []
    for parts in found.values():
        nodes = np.concatenate([edges.nodes for edges in parts])
        _, first = np.unique(np.sort(nodes, axis=1), axis=0, return_index=True)  # two shells may share an edge
        first = np.sort(first)
        D, bulges = np.concatenate([e.normals for e in parts]), np.concatenate([e.bulges for e in parts])
        joined.append(Edges(nodes[first], D[first], bulges[first]))
    return joined


def edge_resultants(
    building: Building, owner: Owner, edges: list[Edges], key: str, value: Any, local: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return nodes (n,) of edges, on them the resultants (n, 3) of a vector per length, and, if it is a force, its
    moments (n, 3) about the normals by the bulges of the edges.

    Args:
        value: 3 numbers or expressions of x, y, z of the nodes, between which it is interpolated.
        local: the numbers are along the edge (counter-clockwise about the normal), outwards across it, along the
            normal; else along x, y, z.

    Raises:
        ModelError: ``value`` is not of this kind, or not finite.
    """
    total, moments = np.zeros((building.n_nodes, 3)), np.zeros((building.n_nodes, 3))
    used = np.unique(np.concatenate([kind.nodes.ravel() for kind in edges]))
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
    for kind in edges:
        nodes = kind.nodes
        for s, factor in zip(_PLACES, _FACTORS, strict=True):
            N, slope = _shapes(nodes.shape[1], s)
            along = np.einsum("a,eac->ec", slope, x[nodes])
            density = np.einsum("a,eac->ec", N, values[nodes])
            if local:
                density = np.einsum("ei,eij->ej", density, _axes(along, np.einsum("a,eac->ec", N, kind.normals)))
            density = density * (factor * np.linalg.norm(along, axis=1))[:, None]
            np.add.at(total, nodes, N[:, None] * density[:, None, :])
            if kind.bulges.any():
                # the side of ends i, j bulges by 4 N_i N_j (w_i - w_j) bulge across (w: rotations about the normal)
                across = np.cross(kind.normals[:, 0], x[nodes[:, 1]] - x[nodes[:, 0]])
                w = 4.0 * N[0] * N[1] * kind.bulges * np.einsum("ec,ec->e", density, across)
                np.add.at(moments, nodes[:, 0], w[:, None] * kind.normals[:, 0])
                np.add.at(moments, nodes[:, 1], -w[:, None] * kind.normals[:, 1])
    return used, total[used], moments[used]


def _axes(along: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return axes (m, 3, 3) in rows: along edges (m, 3), outwards across them, along the normals (m, 3)."""
    along = along / np.linalg.norm(along, axis=1)[:, None]
    outwards = np.cross(along, normal)
    outwards /= np.linalg.norm(outwards, axis=1)[:, None]
    return np.stack((along, outwards, np.cross(outwards, along)), axis=1)


def _shapes(n: int, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return shape functions (n,) of a line of 2 or 3 nodes at s (-1 to 1), the third in the middle, and their
    derivatives."""
    if n == 2:
        return np.array((0.5 * (1.0 - s), 0.5 * (1.0 + s))), np.array((-0.5, 0.5))
    return (
        np.array((0.5 * s * (s - 1.0), 0.5 * s * (s + 1.0), 1.0 - s * s)),
        np.array((s - 0.5, s + 0.5, -2.0 * s)),
    )
