"""Cuts through plane and solid cells: which nodes lie on a cut, and which cells have their doubles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import MeshError
from fem_mbs.meshes.cells import DIMENSION, FACETS, facets_of

__all__ = ["Facets", "cut_cells", "facets_across", "facets_behind", "mean_normal"]

#: Facets of cells: (block, cells in it (m,), local facets (m,)).
Facets = Sequence[tuple[int, np.ndarray, np.ndarray]]

_CORNERS = {"line2": 2, "line3": 2, "triangle": 3, "triangle6": 3, "quad": 4, "quad8": 4}


def _keys(kind: str, cells: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the corner nodes (m, 4) of facets, ascending, -1 where there are fewer; they name the facet."""
    keys = np.full((len(cells), 4), -1)
    for facet, rows, nodes in facets_of(kind, cells, numbers):
        corners = _CORNERS[facet]
        keys[rows, 4 - corners :] = np.sort(nodes[:, :corners], axis=1)
    return keys


def _all_facets(blocks: Sequence[tuple[str, np.ndarray]], picked: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return keys (f, 4), blocks (f,), cells (f,) and local numbers (f,) of all facets of the cells ``picked``."""
    keys, places = [np.empty((0, 4), int)], [np.empty((3, 0), int)]
    for b, ((kind, cells), mine) in enumerate(zip(blocks, picked, strict=True)):
        if not len(mine):
            continue
        each = len(FACETS[kind])
        rows, numbers = np.repeat(mine, each), np.tile(np.arange(each), len(mine))
        keys.append(_keys(kind, cells[rows], numbers))
        places.append(np.stack((np.full(len(rows), b), rows, numbers)))
    block, cell, number = np.concatenate(places, axis=1)
    return np.concatenate(keys), block, cell, number


def cut_cells(blocks: Sequence[tuple[str, np.ndarray]], cut: Facets) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the nodes (n,) on a cut, ascending, and for each block where its cells (m, k) have the doubles of them.

    The cells on the side of the ``cut``'s own cells get the doubles, all others keep the nodes.  Cells that meet the
    cut in an edge or a corner lie on the side to which facets at the cut connect them.

    Args:
        blocks: (kind, cells (m, k)) of all cells.
        cut: facets inside of the body, each given by the cell on one and the same side.

    Raises:
        MeshError: a facet lies on the outside, or the two sides are connected around the cut.
    """
    nodes = np.unique(np.concatenate([
        table.ravel() for b, cells, numbers in cut
        for _, _, table in facets_of(blocks[b][0], blocks[b][1][cells], numbers)
    ]))  # fmt: skip
    on = np.zeros(max(int(cells.max(initial=0)) for _, cells in blocks) + 1, bool)
    on[nodes] = True
    dimension = max(DIMENSION[blocks[b][0]] for b, _, _ in cut)
    near = [
        np.flatnonzero(on[cells].any(axis=1)) if DIMENSION[kind] == dimension else np.empty(0, int)
        for kind, cells in blocks
    ]
    first = np.concatenate(([0], np.cumsum([len(mine) for mine in near])))
    keys, block, cell, number = _all_facets(blocks, near)
    own = first[block] + np.concatenate([np.searchsorted(near[b], cell[block == b]) for b in range(len(blocks))])
    keep = on[np.maximum(keys, 0)].any(axis=1, where=keys >= 0)
    keys, own, block, cell, number = (a[keep] for a in (keys, own, block, cell, number))
    wanted = np.concatenate([_keys(blocks[b][0], blocks[b][1][cells], n) for b, cells, n in cut])
    _, names = np.unique(np.concatenate((wanted, keys)), axis=0, return_inverse=True)
    names = names.reshape(-1)
    cutting = np.isin(names[len(wanted) :], names[: len(wanted)])
    names = names[len(wanted) :]
    order = np.argsort(names, kind="stable")
    same = np.flatnonzero(names[order][1:] == names[order][:-1])
    a, b = order[same], order[same + 1]
    across = cutting[a]
    alone = np.setdiff1d(np.flatnonzero(cutting), np.concatenate((a, b)))
    if alone.size:
        raise MeshError(
            f"facet {int(number[alone[0]]) + 1} of a {blocks[block[alone[0]]][0]} cell lies on the outside of the "
            "body; a cut goes through its inside"
        )
    through = (own[a[~across]], own[b[~across]])
    graph = coo_matrix((np.ones(len(through[0]), np.int8), through), shape=(first[-1], first[-1]))
    _, part = connected_components(graph, directed=False)
    given = np.concatenate([first[k] + np.searchsorted(near[k], cells) for k, cells, _ in cut])
    sides = np.concatenate((own[a[across]], own[b[across]]))
    ours = np.unique(part[given])
    others = np.unique(part[np.setdiff1d(sides, given)])
    if np.isin(ours, others).any() or np.isin(own[a[across]], given)[np.isin(own[b[across]], given)].any():
        raise MeshError(
            "its two sides are connected around the cut, or the cut is given from both sides; name all facets of a "
            "surface that goes through the body, by the cells on one side"
        )
    mine = np.isin(part, ours)
    doubled = []
    for k, (_, cells) in enumerate(blocks):
        mask = np.zeros(cells.shape, bool)
        rows = near[k][mine[first[k] : first[k + 1]]]
        mask[rows] = on[cells[rows]]
        doubled.append(mask)
    return nodes, doubled


def facets_across(
    blocks: Sequence[tuple[str, np.ndarray]], picked: Sequence[np.ndarray], x: np.ndarray, point: np.ndarray,
    normal: np.ndarray,
) -> Facets:  # fmt: skip
    """Return the facets between cells whose middles lie on different sides of a plane, by the cells behind it.

    Args:
        picked: of each block the cells (m,) that the plane may cut.
        x: (n, 3) places of the nodes.
    """
    keys, block, cell, number = _all_facets(blocks, picked)
    behind = np.zeros(len(keys), bool)
    for b, (_, cells) in enumerate(blocks):
        mine = block == b
        behind[mine] = (x[cells[cell[mine]]].mean(axis=1) - point) @ normal < 0.0
    _, names = np.unique(keys, axis=0, return_inverse=True)
    names = names.reshape(-1)
    order = np.argsort(names, kind="stable")
    same = np.flatnonzero(names[order][1:] == names[order][:-1])
    one, other = order[same], order[same + 1]
    mixed = behind[one] != behind[other]
    found = np.where(behind[one[mixed]], one[mixed], other[mixed])
    return [(int(k), cell[found[block[found] == k]], number[found[block[found] == k]]) for k in np.unique(block[found])]


def facets_behind(blocks: Sequence[tuple[str, np.ndarray]], cut: Facets, x: np.ndarray, normal: np.ndarray) -> Facets:
    """Return the facets of a cut, given by cells on either side, by the cells behind them along a direction."""
    wanted = np.concatenate([_keys(blocks[b][0], blocks[b][1][cells], n) for b, cells, n in cut])
    on = np.zeros(len(x), bool)
    on[wanted[wanted >= 0]] = True
    near = [
        np.flatnonzero(on[cells].sum(axis=1) >= 2) if DIMENSION[kind] > 1 else np.empty(0, int)
        for kind, cells in blocks
    ]
    keys, block, cell, number = _all_facets(blocks, near)
    _, names = np.unique(np.concatenate((wanted, keys)), axis=0, return_inverse=True)
    names = names.reshape(-1)
    mine = np.flatnonzero(np.isin(names[len(wanted) :], names[: len(wanted)]))
    middle = np.empty((len(mine), 3))
    for b, (_, cells) in enumerate(blocks):
        of = block[mine] == b
        middle[of] = x[cells[cell[mine[of]]]].mean(axis=1)
    corners = keys[mine]
    used = corners >= 0
    centre = np.where(used[:, :, None], x[corners], 0.0).sum(axis=1) / used.sum(axis=1)[:, None]
    kept = mine[(middle - centre) @ normal < 0.0]
    return [(int(k), cell[kept[block[kept] == k]], number[kept[block[kept] == k]]) for k in np.unique(block[kept])]


def mean_normal(
    blocks: Sequence[tuple[str, np.ndarray]], cut: Facets, x: np.ndarray, one_side: bool = True
) -> np.ndarray:
    """Return the mean outward normal (3,) of facets, by area, of their own cells; without ``one_side`` that of the side
    on which the first one's cell lies.

    Edges have the direction across them in the plane of their cell.
    """
    found = []
    for b, cells, numbers in cut:
        kind, table = blocks[b]
        for facet, rows, nodes in facets_of(kind, table[cells], numbers):
            p = x[nodes]
            if _CORNERS[facet] > 2:
                last = p[:, 3] if _CORNERS[facet] == 4 else p[:, 0]
                found.append(0.5 * np.cross(p[:, 2] - p[:, 0], last - p[:, 1]))
                continue
            along = p[:, 1] - p[:, 0]
            out = p[:, :2].mean(axis=1) - x[table[cells[rows]]].mean(axis=1)
            out -= along * (np.sum(out * along, axis=1) / np.sum(along * along, axis=1))[:, None]
            length = np.linalg.norm(along, axis=1) / np.linalg.norm(out, axis=1)
            found.append(out * length[:, None])
    normals = np.concatenate(found)
    if not one_side:
        normals = np.where((normals @ normals[0] < 0.0)[:, None], -normals, normals)
    total = normals.sum(axis=0)
    size = np.linalg.norm(total)
    if not size > 1e-9 * np.linalg.norm(normals, axis=1).sum():
        raise MeshError("the facets have no mean normal; give the direction")
    return total / size
