"""Doubts about nodes of different parts at one place that nothing connects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.model.connections.couplings import coupling_blocks

__all__ = ["doubts_of_loose_nodes"]

_NEAR = 1e-6  # of the size of the model
_MOST_NAMED = 3  # pairs


def doubts_of_loose_nodes(model: Any) -> Iterator[str]:
    """Yield a note on nodes of meshes at one place that belong to parts which no element, joint or equation connects.

    Nodes of two meshes stay two nodes wherever they are. Nodes that are both held are none of these: the ground
    connects them.
    """
    building = model.building
    pairs = _loose(building)
    if len(pairs):
        both = [(building.node_name(int(a)), building.node_name(int(b))) for a, b in pairs[:_MOST_NAMED]]
        named = ", ".join(f'"{a}" and "{b}"' for a, b in both)
        more = f" and {len(pairs) - _MOST_NAMED} more pairs" if len(pairs) > _MOST_NAMED else ""
        yield (
            f"{named}{more} are at one place, but nothing connects the parts that they belong to: add a joint (weld, "
            "pin), a [[tie]] between surfaces, or use one node for both"
        )


def _loose(building: Any) -> np.ndarray:
    """Return pairs (n, 2) of nodes of meshes at one place in parts that are not connected."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    x = np.asarray(building.positions, float)
    of_mesh = np.concatenate(
        [np.empty(0, int), *(first + np.arange(len(mesh.points)) for mesh, first in building.meshes.values())]
    )
    if len(of_mesh) < 2:
        return np.empty((0, 2), int)
    rows = [np.empty((0, 2), int)]
    for block in (*building.blocks, *coupling_blocks(building)):
        nodes = np.asarray(block.nodes)
        for end in range(1, nodes.shape[1]):
            rows += [nodes[:, [0, end]], nodes[:, [end - 1, end]]]
    links = np.concatenate(rows)
    links = links[(links >= 0).all(axis=1)]
    graph = coo_matrix((np.ones(len(links), np.int8), links.T), shape=(len(x), len(x)))
    part = connected_components(graph, directed=False)[1]
    size = float(np.ptp(x, axis=0).max())
    near = of_mesh[cKDTree(x[of_mesh]).query_pairs(_NEAR * size, output_type="ndarray")]
    held = np.zeros(len(x), bool)
    held[[node for node, _ in building.fixed]] = True
    loose = (part[near[:, 0]] != part[near[:, 1]]) & ~held[near].all(axis=1)
    found = near[loose]
    # of two parts that touch along a surface one pair says it
    _, first = np.unique(np.sort(part[found], axis=1), axis=0, return_index=True)
    return found[np.sort(first)]
