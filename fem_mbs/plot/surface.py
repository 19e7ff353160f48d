"""Convert the outer surface of solid parts and the area of plane parts to polygons.

Facets of solids that occur once are outside.  A few facets are cut into small pieces by their shape functions, so that
curved sides and colours look smooth; many are drawn as they are, mid-side nodes as corners; of very many, nodes near
each other are drawn as one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fem_mbs.elements.solids.shapes import CELLS, FACES, shape_functions
from fem_mbs.late import dataclass
from fem_mbs.results.fields import is_continuum

__all__ = ["Skin", "normals", "outer_facets"]

_POLYGONS = 6000  # pieces that a surface may be cut into for smoothness
_MOST_CUTS = 10
_MOST_FACETS = 150_000  # more are thinned out
_MESH_FACETS = 1500  # up to here the sides of all facets are drawn
_SHARP = np.cos(np.deg2rad(35.0))  # between normals: from here an edge is drawn
_CORNERS = {"triangle": 3, "triangle6": 3, "quad": 4, "quad8": 4}
_RINGS = {
    "triangle": [0, 1, 2],
    "triangle6": [0, 3, 1, 4, 2, 5],
    "quad": [0, 1, 2, 3],
    "quad8": [0, 4, 1, 5, 2, 6, 3, 7],
}
_TRIANGLES = {
    "triangle": [[0, 1, 2]],
    "triangle6": [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]],
    "quad": [[0, 1, 2], [0, 2, 3]],
    "quad8": [[0, 4, 7], [4, 1, 5], [5, 2, 6], [6, 3, 7], [4, 5, 6], [4, 6, 7]],
}


def outer_facets(blocks: list[tuple[str, np.ndarray]]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the facets that occur once among solid cells.

    Args:
        blocks: kind of cell and nodes (n, k) of each block.

    Returns:
        Per kind of facet: its name, its nodes (m, k), ordered with the normal outwards, and numbers (m,) of its block.
    """
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for number, (cell, cells) in enumerate(blocks):
        for facet, local in FACES[cell]:
            found.setdefault(facet, []).append((cells[:, list(local)], np.full(len(cells), number)))
    kinds = {k: (np.concatenate([a for a, _ in v]), np.concatenate([b for _, b in v])) for k, v in found.items()}
    outside: dict[Any, Any] = {}
    for corners in (3, 4):  # facets with and without mid-side nodes may meet
        names = [kind for kind in kinds if _CORNERS[kind] == corners]
        if not names:
            continue
        keys = np.sort(np.concatenate([kinds[kind][0][:, :corners] for kind in names]), axis=1)
        order = np.lexsort(keys.T)
        same = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
        alone = np.ones(len(keys), bool)
        alone[order[1:][same]] = False
        alone[order[:-1][same]] = False
        parts = np.split(alone, np.cumsum([len(kinds[kind][0]) for kind in names])[:-1])
        outside |= dict(zip(names, parts, strict=True))
    return [(kind, *(a[outside[kind]] for a in kinds[kind])) for kind in kinds if outside[kind].any()]


def normals(polygons: np.ndarray) -> np.ndarray:
    """Return vectors (m, 3) of the size of the areas of polygons (m, v, 3) (Newell's formula); vertices may repeat."""
    from_first = polygons - polygons[:, :1]
    return 0.5 * np.cross(from_first[:, :-1], from_first[:, 1:]).sum(axis=1)


@cache
def _pieces(kind: str, cuts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return shape functions (p, k) at the corners of the pieces of a facet, and these corners (pieces, v)."""
    if cuts == 1:
        return np.eye(len(CELLS[kind][1])), np.array([_RINGS[kind]])
    steps = np.arange(cuts + 1)
    i, j = (a.ravel() for a in np.meshgrid(steps, steps, indexing="ij"))
    number = np.full((cuts + 2, cuts + 2), -1)
    if _CORNERS[kind] == 4:
        points = np.column_stack((i, j)) * (2.0 / cuts) - 1.0
        number[i, j] = np.arange(len(i))
        a, b = (v.ravel() for v in np.meshgrid(steps[:-1], steps[:-1], indexing="ij"))
        corners = [number[a, b], number[a + 1, b], number[a + 1, b + 1], number[a, b + 1]]
        pieces = np.column_stack(corners)
    else:
        inside = i + j <= cuts
        i, j = i[inside], j[inside]
        points = np.column_stack((i, j)) / cuts
        number[i, j] = np.arange(len(i))
        low, high = i + j < cuts, i + j < cuts - 1
        first = [number[i, j][low], number[i + 1, j][low], number[i, j + 1][low]]
        second = [number[i + 1, j][high], number[i + 1, j + 1][high], number[i, j + 1][high]]
        pieces = np.concatenate((np.column_stack(first), np.column_stack(second)))
    return shape_functions(kind, points), pieces


@dataclass
class _Patch:
    """Facets of one kind: their nodes (m, k), regions (m,) of the fields, numbers (m,) of their blocks in the header,
    and how they are cut."""

    kind: str
    nodes: np.ndarray
    region: np.ndarray
    block: np.ndarray
    cuts: int = 1

    @property
    def corners(self) -> int:
        """Return the number of corners of a piece."""
        return _pieces(self.kind, self.cuts)[1].shape[1]

    def at_corners(self, values: np.ndarray, abreast: int) -> np.ndarray:
        """Return values (n, ...) of the nodes at the corners of the pieces: (m * pieces, abreast, ...); the last corner
        is repeated where a piece has fewer."""
        shapes, pieces = _pieces(self.kind, self.cuts)
        if self.cuts == 1:
            at_points = values[self.nodes]
        else:
            at_points = np.tensordot(values[self.nodes], shapes, axes=(1, 1))  # (m, ..., p)
            at_points = np.moveaxis(at_points, -1, 1)
        taken = pieces[:, np.minimum(np.arange(abreast), pieces.shape[1] - 1)]
        return at_points[:, taken].reshape(-1, abreast, *values.shape[1:])


class Skin:
    """The surface of the solid and plane parts of a model, and its edges.

    Args:
        header: of the results.

    ``edges`` (e, 3): nodes of the lines to be drawn, both ends first, -1 for no node in the middle; ``sharp`` (e,)
    tells which of them are edges of the body and not only sides of facets; ``solid`` whether all facets have an inside.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        self.nodes: np.ndarray = header["nodes"]
        numbered = [
            (number, block)
            for number, block in enumerate(header["blocks"])
            if is_continuum(block) and len(block["connectivity"])
        ]
        blocks = [block for _, block in numbered]
        space = [block for block in blocks if CELLS[block["cell"]][0] == 3]
        plane = [(number, block) for number, block in numbered if CELLS[block["cell"]][0] == 2]
        solid = np.array([number for number, block in numbered if CELLS[block["cell"]][0] == 3], int)
        region = np.array([int(block.get("region") or 0) for block in space], int)
        facets = outer_facets([(block["cell"], block["connectivity"]) for block in space])
        patches = [_Patch(kind, nodes, region[owner], solid[owner]) for kind, nodes, owner in facets]
        for number, block in plane:
            own = np.full(len(block["connectivity"]), int(block.get("region") or 0))
            patches.append(_Patch(block["cell"], block["connectivity"], own, np.full(len(own), number)))
        self.solid = not plane
        self.regions = 1 + max((int(block.get("region") or 0) for block in blocks), default=0)
        self._merge: Any = None
        self._facets = patches
        self.count = sum(len(patch.nodes) for patch in patches)
        self.edges, self.sharp = _edges(patches, self.nodes, self.solid)
        if self.count > _MESH_FACETS:
            self.edges, self.sharp = self.edges[self.sharp], self.sharp[self.sharp]
        if self.count > _MOST_FACETS:
            patches = self._thin(patches)
        total = sum(len(patch.nodes) for patch in patches)
        for patch in patches:
            patch.cuts = int(np.clip(np.sqrt(_POLYGONS / max(total, 1)), 1, _MOST_CUTS))
        self._patches = patches
        self._abreast = max((patch.corners for patch in patches), default=3)  # vertices of a polygon in memory
        self._region = np.concatenate(
            [np.repeat(patch.region, len(_pieces(patch.kind, patch.cuts)[1])) for patch in patches]
            or [np.empty(0, int)]
        )

    def __len__(self) -> int:
        return len(self._region)

    def _thin(self, patches: list[_Patch]) -> list[_Patch]:
        """Join nodes near each other, region by region, until few enough triangles are left."""
        from scipy.sparse import csr_matrix

        rings = [(patch, [[0, 1, 2]] if _CORNERS[patch.kind] == 3 else [[0, 1, 2], [0, 2, 3]]) for patch in patches]
        triangles = np.concatenate([patch.nodes[:, ring] for patch, both in rings for ring in both])
        region = np.concatenate([patch.region for patch, both in rings for _ in both])
        n = len(self.nodes)
        corner = triangles + n * region[:, None]  # a node is another one in each region
        keys, flat = np.unique(corner, return_inverse=True)
        flat = flat.reshape(corner.shape)
        points = self.nodes[keys % n]
        area = np.linalg.norm(normals(self.nodes[triangles]), axis=1).sum()
        size = np.sqrt(2.0 * area / _MOST_FACETS)
        for _ in range(8):
            cell = np.column_stack((keys // n, np.floor((points - points.min(axis=0)) / size).astype(int)))
            _, own = np.unique(cell, axis=0, return_inverse=True)
            own = own.ravel()
            joined = own[flat]
            a, b, c = joined.T
            keep = (a != b) & (b != c) & (c != a)
            _, first = np.unique(np.sort(joined, axis=1), axis=0, return_index=True)
            keep &= np.isin(np.arange(len(joined)), first)
            if keep.sum() <= _MOST_FACETS:
                break
            size *= 1.25
        weight = 1.0 / np.bincount(own)[own]
        self._merge = csr_matrix((weight, (own, keys % n)), shape=(own.max() + 1, n))
        return [_Patch("triangle", joined[keep], region[keep], np.zeros(int(keep.sum()), int))]

    def _values(self, values: np.ndarray) -> np.ndarray:
        if self._merge is None:
            return values
        flat = np.nan_to_num(values.reshape(len(values), -1))
        return (self._merge @ flat).reshape(-1, *values.shape[1:])

    def polygons(self, position: np.ndarray) -> np.ndarray:
        """Return the pieces (m, v, 3) of the surface for nodes at ``position`` (n, 3); short ones repeat a vertex."""
        values = self._values(position)
        parts = [patch.at_corners(values, self._abreast) for patch in self._patches]
        return np.concatenate(parts) if parts else np.empty((0, self._abreast, 3))

    def at_corners(self, by_region: dict[int, np.ndarray]) -> np.ndarray:
        """Return values (m, v) at the corners of the pieces, given those at the nodes (n,) for each region; NaN where a
        region has none."""
        if self.regions == 1 and set(by_region) == {0} and self._patches:
            own = self._values(np.asarray(by_region[0], float))
            return np.concatenate([patch.at_corners(own, self._abreast) for patch in self._patches])
        found = np.full((len(self), self._abreast), np.nan)
        for region, values in by_region.items():
            where = self._region == region
            if where.any():
                own = self._values(np.asarray(values, float))
                found[where] = np.concatenate([patch.at_corners(own, self._abreast) for patch in self._patches])[where]
        return found

    def drawn_nodes(self, region: int) -> np.ndarray:
        """Return the nodes (k,) of the facets of a region."""
        nodes = [patch.nodes[patch.region == region].ravel() for patch in self._facets]
        return np.unique(np.concatenate(nodes)) if nodes else np.empty(0, int)

    @property
    def cuts(self) -> int:
        """Return the number of pieces into which an edge is divided."""
        return max([patch.cuts for patch in self._patches] + [2 if (self.edges[:, 2] >= 0).any() else 1])

    def lines(self, position: np.ndarray, sharp_only: bool = False) -> np.ndarray:
        """Return the edges as curves (e, cuts + 1, 3); those with a node in the middle are parabolas."""
        edges = self.edges[self.sharp] if sharp_only else self.edges
        s = np.linspace(-1.0, 1.0, self.cuts + 1)
        points = position[edges]
        straight = edges[:, 2] < 0
        points[straight, 2] = points[straight, :2].mean(axis=1)
        return np.einsum("sk,ekx->esx", shape_functions("line3", s[:, None]), points)

    def triangles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all facets, cut at their nodes: nodes (t, 3), regions (t,) and numbers (t,) of blocks of triangles."""
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for patch in self._facets:
            corners = _TRIANGLES[patch.kind]
            parts = patch.nodes[:, corners].reshape(-1, 3)
            found.append((parts, np.repeat(patch.region, len(corners)), np.repeat(patch.block, len(corners))))
        if not found:
            return np.empty((0, 3), int), np.empty(0, int), np.empty(0, int)
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]

    def vertices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return nodes and regions (v,) of the vertices of the surface, and these of its triangles (t, 3).

        A node on the border of two regions is a vertex of each, so that values may jump there.
        """
        triangles, regions, _ = self.triangles()
        n = len(self.nodes)
        keys, index = np.unique(triangles + n * regions[:, None], return_inverse=True)
        return keys % n, keys // n, index.reshape(triangles.shape)

    def outside(self, nodes: np.ndarray) -> np.ndarray:
        """Select the nodes that lie on the surface."""
        corners = [patch.nodes.ravel() for patch in self._facets]
        return np.intersect1d(nodes, np.concatenate(corners)) if corners else nodes[:0]


def _edges(patches: list[_Patch], nodes: np.ndarray, solid: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return edges (e, 3) of facets, every one once, and which of them are sharp or at a border."""
    sides, direction, regions = [], [], []
    for patch in patches:
        corners = _CORNERS[patch.kind]
        area = normals(nodes[patch.nodes[:, :corners]])
        area /= np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-300)
        for k in range(corners):
            a, b = patch.nodes[:, k], patch.nodes[:, (k + 1) % corners]
            m = patch.nodes[:, corners + k] if patch.kind in ("triangle6", "quad8") else np.full(len(a), -1)
            sides.append(np.column_stack((a, b, m)))
            direction.append(area)
            regions.append(patch.region)
    if not sides:
        return np.empty((0, 3), int), np.empty(0, bool)
    side, area, region = np.concatenate(sides), np.concatenate(direction), np.concatenate(regions)
    low, high = np.minimum(side[:, 0], side[:, 1]), np.maximum(side[:, 0], side[:, 1])
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    first = np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])]
    start = np.flatnonzero(first)
    count = np.diff(np.r_[start, len(order)])
    one, two = order[start], order[start + np.minimum(count - 1, 1)]
    cosine = np.einsum("ei,ei->e", area[one], area[two])
    sharp = (count != 2) | (np.abs(cosine) < _SHARP if not solid else cosine < _SHARP) | (region[one] != region[two])
    return side[one], sharp
