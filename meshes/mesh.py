"""The mesh for the model builder: points, line, plane and solid cells, and named sets, checked at creation.

Set names.  A set of points (a Gmsh point group) lives in ``node_sets``, a set of cells (a line, surface or volume
group) in ``cell_sets``, a set of faces of solids or edges of plane cells in ``facet_sets``; the nodes of a cell or
facet set are asked for by the same name, so a group serves as both.  A file may use one name for a point group and for
a line group; then ``tip@0`` means the points and ``tip@1`` the cells, and the bare name is refused where it would be
ambiguous.  ``all`` means everything unless a set is called so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, FACETS, LINE_KINDS, MIRRORED, facets_of, mirrored_facets

__all__ = ["CELL_KINDS", "LINE_KINDS", "CellBlock", "Mesh"]

_ZERO_LENGTH = 1e-12  # of the mesh's largest extent: below this the direction of a cell is rounding noise
_LARGEST = 1e100  # [m] squares of larger coordinates overflow


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Cells of one kind, in the order of the file.

    ``cells`` (n, k) int64 holds point indices from 0; ``ids`` (n,) int64 the numbers by which messages name the cells
    (those of the file; by default 1..n over all blocks of the mesh).
    """

    kind: str
    cells: np.ndarray
    ids: np.ndarray = None  # type: ignore[assignment]  # numbered by `Mesh` where none are given


@dataclass(frozen=True, eq=False)
class Mesh:
    """Points, cells and named sets.

    points     (n, 3) float64 [m]; (n, 2) is accepted and gets z = 0
    blocks     cells, one block per run of cells of one kind: `CellBlock`, or its fields in a tuple
    node_sets  name -> point indices (m,) int64
    cell_sets  name -> ((block, cell indices in it), ...)
    facet_sets name -> ((block, cell indices (m,), local facets (m,)), ...): faces of solid and edges of plane cells,
               numbered from 0 in the order of `fem_mbs.meshes.cells.FACETS` (Abaqus's S1 is 0)
    point_ids  (n,) int64, the numbers by which messages name the points (those of the file; by default 1..n)
    source     the file it came from, or what made it
    format     for example "Gmsh 4.1 ASCII"
    skipped    plain sentences: what the file holds and was not read
    lost       set of cells, or "" of the whole -> kinds of plane and solid cells that it has in the file and no element
               knows -> their number

    Raises MeshError for coordinates that are not finite, numbers used twice, cells with an unknown or repeated node or
    without length, and sets that point outside the mesh.  The arrays are made read-only.
    """

    points: np.ndarray
    blocks: Sequence[CellBlock] = ()
    node_sets: Mapping[str, np.ndarray] = field(default_factory=dict)
    cell_sets: Mapping[str, Sequence[tuple[int, np.ndarray]]] = field(default_factory=dict)
    point_ids: np.ndarray = None  # type: ignore[assignment]  # numbered from 1 where none are given
    source: str = ""
    format: str = ""
    skipped: Sequence[str] = ()
    facet_sets: Mapping[str, Sequence[tuple[int, np.ndarray, np.ndarray]]] = field(default_factory=dict)
    lost: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for block in self.blocks:
            counts[block.kind] = counts.get(block.kind, 0) + len(block.cells)
        cells = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no cells"
        sets = len(self.node_sets) + len(self.cell_sets) + len(self.facet_sets)
        source = f" {self.source!r}" if self.source else ""
        return f"<Mesh{source}: {len(self.points)} points; {cells}; {sets} sets>"

    def __post_init__(self) -> None:
        def put(name, value):
            object.__setattr__(self, name, value)

        try:
            points = np.array(self.points, dtype=float)
        except (TypeError, ValueError):
            points = np.empty(0)
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            self._fail("points must be n rows of 3 (or 2) numbers")
        if points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        put("points", _frozen(points))
        put("point_ids", self._numbers(self.point_ids, len(points), 1, "node"))
        self._check_points()

        blocks, start = [], 1
        for i, block in enumerate(self.blocks):
            block = block if isinstance(block, CellBlock) else CellBlock(*block)
            if block.kind not in CELL_KINDS:
                self._fail(f"block {i}: unknown cell kind {block.kind!r}; use one of {', '.join(CELL_KINDS)}")
            cells = _integers(block.cells)
            if cells is None or cells.ndim != 2 or cells.shape[1] != CELL_KINDS[block.kind]:
                self._fail(f"block {i}: {block.kind} cells need {CELL_KINDS[block.kind]} whole numbers each")
            ids = self._numbers(block.ids, len(cells), start, "cell")
            blocks.append(CellBlock(block.kind, _frozen(cells), ids))
            start += len(cells)
        put("blocks", tuple(blocks))
        if blocks:
            self._no_twice(np.concatenate([block.ids for block in blocks]), "cell")
        for block in blocks:
            self._check_cells(block)

        put("node_sets", {str(k): self._subset(v, len(points), f'node set "{k}"') for k, v in self.node_sets.items()})
        put("cell_sets", {str(k): self._cell_set(str(k), v) for k, v in self.cell_sets.items()})
        put("facet_sets", {str(k): self._facet_set(str(k), v) for k, v in self.facet_sets.items()})
        put("skipped", tuple(self.skipped))

    # ---- checks ------------------------------------------------------------------------------------------------------

    def _fail(self, text: str) -> NoReturn:
        raise MeshError(f"{self.source}: {text}" if self.source else f"mesh: {text}")

    def _numbers(self, ids, n: int, start: int, what: str) -> np.ndarray:
        numbers = np.arange(start, start + n) if ids is None else _integers(ids)
        if numbers is None or numbers.shape != (n,):
            self._fail(f"{what} numbers must be {n} whole numbers")
        self._no_twice(numbers, what)
        return _frozen(numbers)

    def _no_twice(self, numbers: np.ndarray, what: str) -> None:
        values, counts = np.unique(numbers, return_counts=True)
        if np.any(counts > 1):
            i = int(np.argmax(counts > 1))
            self._fail(f"{what} number {values[i]} is given {counts[i]} times; renumber the mesh")

    def _check_points(self) -> None:
        bad = ~(np.abs(self.points) < _LARGEST).all(axis=1)  # also catches NaN
        if bad.any():
            i = int(np.argmax(bad))
            x = ", ".join(f"{v:g}" for v in self.points[i])
            self._fail(f"node {self.point_ids[i]} lies at ({x}); coordinates must be finite numbers")

    def _check_cells(self, block: CellBlock) -> None:
        cells, ids = block.cells, block.ids
        outside = ((cells < 0) | (cells >= len(self.points))).any(axis=1)
        if outside.any():
            i = int(np.argmax(outside))
            self._fail(f"cell {ids[i]} refers to point {cells[i].tolist()}, but there are {len(self.points)} points")
        ordered = np.sort(cells, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if repeated.any():
            i = int(np.argmax(repeated))
            nodes = ", ".join(str(v) for v in self.point_ids[cells[i]])
            self._fail(f"cell {ids[i]} ({block.kind}) uses a node twice (nodes {nodes}); remove it or mend its nodes")
        if not len(cells) or block.kind not in LINE_KINDS:
            return
        size = np.ptp(self.points, axis=0).max()
        ends = self.points[_halves(cells)]  # (n, halves, 2, 3)
        length = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1)
        flat = (length <= _ZERO_LENGTH * size).any(axis=1)
        if flat.any():
            i = int(np.argmax(flat))
            a, b = self.point_ids[_halves(cells)[i, int(np.argmin(length[i]))]]
            self._fail(
                f"cell {ids[i]} ({block.kind}) has no length: its nodes {a} and {b} lie {length[i].min():g} m apart; "
                f"merge the nodes and remove the cell"
            )

    def _subset(self, indices, n: int, what: str) -> np.ndarray:
        subset = _integers(indices)
        if subset is None or subset.ndim != 1:
            self._fail(f"{what} must be a list of indices")
        if len(subset) and (subset.min() < 0 or subset.max() >= n):
            self._fail(f"{what} has indices {subset.min()} to {subset.max()}, outside 0 to {n - 1}")
        return _frozen(_ascending(subset))

    def _cell_set(self, name: str, parts) -> tuple[tuple[int, np.ndarray], ...]:
        merged: dict[int, list[np.ndarray]] = {}
        for block, indices in parts:
            if not 0 <= block < len(self.blocks):
                self._fail(f'cell set "{name}" refers to block {block}, but there are {len(self.blocks)} blocks')
            subset = self._subset(indices, len(self.blocks[block].cells), f'cell set "{name}"')
            merged.setdefault(int(block), []).append(subset)
        return tuple((block, _frozen(_ascending(np.concatenate(merged[block])))) for block in sorted(merged))

    def _facet_set(self, name: str, parts) -> tuple[tuple[int, np.ndarray, np.ndarray], ...]:
        merged: dict[int, list[np.ndarray]] = {}
        for block, indices, facets in parts:
            if not 0 <= block < len(self.blocks):
                self._fail(f'facet set "{name}" refers to block {block}, but there are {len(self.blocks)} blocks')
            kind = self.blocks[block].kind
            count = len(FACETS.get(kind, ()))
            cells, local = _integers(indices), _integers(facets)
            if cells is None or local is None or cells.ndim != 1 or cells.shape != local.shape:
                self._fail(f'facet set "{name}" must have as many cells as facets, all whole numbers')
            for what, values, n in (
                ("cells", cells, len(self.blocks[block].cells)),
                (f"facets of {kind}", local, count),
            ):
                if len(values) and (values.min() < 0 or values.max() >= n):
                    self._fail(f'facet set "{name}" has {what} {values.min()} to {values.max()}, outside 0 to {n - 1}')
            merged.setdefault(int(block), []).append(np.stack((cells, local)))
        result = []
        for block in sorted(merged):
            pairs = np.unique(np.concatenate(merged[block], axis=1), axis=1)
            result.append((block, _frozen(pairs[0]), _frozen(pairs[1])))
        return tuple(result)

    # ---- sets --------------------------------------------------------------------------------------------------------

    @property
    def read(self) -> dict[str, int]:
        """Content of the mesh: points, cells of each kind, sets."""
        counts = {"points": len(self.points)}
        for block in self.blocks:
            counts[block.kind] = counts.get(block.kind, 0) + len(block.cells)
        counts |= {"node sets": len(self.node_sets), "cell sets": len(self.cell_sets)}
        return counts | ({"facet sets": len(self.facet_sets)} if self.facet_sets else {})

    @property
    def set_names(self) -> list[str]:
        """Every name that `nodes_of` understands, with @0 and @1 where a name is used for points and for cells."""
        others = [*self.cell_sets, *(name for name in self.facet_sets if name not in self.cell_sets)]
        twice = self.node_sets.keys() & set(others)
        points = [f"{name}@0" if name in twice else name for name in self.node_sets]
        return points + [f"{name}@1" if name in twice else name for name in others]

    def _resolve(self, name: str) -> tuple[str, bool, bool]:
        """Return the bare name, and whether it is a set of points and of cells or facets."""
        points, cells = name in self.node_sets, self._has_cells(name)
        if points or cells:
            return name, points, cells
        bare, _, dimension = name.rpartition("@")
        if dimension == "0" and bare in self.node_sets:
            return bare, True, False
        if dimension == "1" and self._has_cells(bare):
            return bare, False, True
        close = get_close_matches(name, self.set_names, n=1)
        known = f"it has {', '.join(self.set_names)}" if self.set_names else "it has no named sets"
        self._fail(f'no set "{name}" in the mesh; {known}' + (f'. Did you mean "{close[0]}"?' if close else ""))

    def _numbered(self, name: str) -> np.ndarray | None:
        """Return the index (1,) of the point that "#12" names; None: the name is that of a set."""
        if name in self.node_sets or self._has_cells(name):
            return None
        if not (name.startswith("#") and name[1:].isascii() and name[1:].isdigit()):
            return None
        found = np.flatnonzero(self.point_ids == int(name[1:]))
        if not found.size:
            self._fail(f"no point has the number {name[1:]}; give another, or the name of a set")
        return found

    def _has_cells(self, name: str) -> bool:
        """Return whether a set of cells or facets has this name."""
        return name in self.cell_sets or name in self.facet_sets

    def _everything(self, name: str | None) -> bool:
        return name is None or (name == "all" and "all" not in self.node_sets and not self._has_cells("all"))

    def lines(self, name: str | None = None) -> np.ndarray:
        """Return connectivity (n, 2) int64 of two-node line elements, of the cell set ``name`` or (None, "all")
        of the whole mesh.

        The order is that of the file.  A three-node cell gives two elements, from its first end to its middle node and
        on to its second end: the geometry of a curved cell is kept at all three nodes.
        """
        parts = [self.blocks[b].cells[indices] for b, indices in self.cells_of(name, 1)]
        halves = [_halves(cells).reshape(-1, 2) for cells in parts]
        return np.concatenate(halves) if halves else np.empty((0, 2), dtype=np.int64)

    def cells_of(self, name: str | None, dimension: int) -> list[tuple[int, np.ndarray]]:
        """Return cells of a dimension, 1 lines, 2 plane, 3 solid, of the cell set ``name`` or (None, "all") of the
        whole mesh: indices in it, in the order of the file.  Empty only for the whole mesh."""
        if name is None or self._everything(name):
            return [(b, np.arange(len(k.cells))) for b, k in enumerate(self.blocks) if DIMENSION[k.kind] == dimension]
        bare, _, cells = self._resolve(name)
        parts = [
            (b, c) for b, c in self.cell_sets.get(bare, ()) if cells and DIMENSION[self.blocks[b].kind] == dimension
        ]
        if parts:
            return parts
        what = {1: "line", 2: "plane", 3: "solid"}[dimension]
        group = {1: "line", 2: "surface", 3: "volume"}[dimension]
        if not cells:
            held = f"{len(self.node_sets[bare])} points"
        elif bare in self.cell_sets:
            kinds = {self.blocks[b].kind: 0 for b, _ in self.cell_sets[bare]}
            held = f"{', '.join(kinds) or 'no'} cells"
        else:
            held = "facets"
        self._fail(f'set "{name}" holds {held} and no {what} cells; name a {group} group')

    def facets(self, name: str) -> Sequence[tuple[int, np.ndarray, np.ndarray]]:
        """Return the facet set ``name``: block, cells (m,) in it and local facets (m,)."""
        bare = name if name in self.facet_sets else name.removesuffix("@1")
        if bare in self.facet_sets:
            return self.facet_sets[bare]
        self._resolve(name)  # an unknown name ends here
        known = ", ".join(self.facet_sets) or "none"
        self._fail(f'set "{name}" holds no faces of solids or edges of plane cells; facet sets: {known}')

    def nodes_of(self, name: str) -> np.ndarray:
        """Return point indices (n,) int64, ascending, by ``name``: of a node set, of the cells of a cell set, of the
        facets of a facet set, or of "all" cells; "#12" is the point with the number 12."""
        if self._everything(name):
            return np.unique(np.concatenate([np.empty(0, np.int64), *[block.cells.ravel() for block in self.blocks]]))
        if (numbered := self._numbered(name)) is not None:
            return numbered
        bare, points, cells = self._resolve(name)
        if points and cells:
            self._fail(f'"{name}" is a set of points and a set of lines; write "{name}@0" or "{name}@1"')
        if points:
            return self.node_sets[bare]
        if bare in self.cell_sets:
            parts = [self.blocks[b].cells[indices].ravel() for b, indices in self.cell_sets[bare]]
        else:
            parts = [nodes.ravel() for _, nodes in self.facet_nodes(bare)]
        return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))

    def facet_nodes(self, name: str) -> list[tuple[str, np.ndarray]]:
        """Return nodes (m, k) of the facets of the facet set ``name``, by kind of facet, ordered so that the normal
        points outwards."""
        result = []
        for block, cells, facets in self.facets(name):
            kind, table = self.blocks[block].kind, self.blocks[block].cells
            result += [(facet, nodes) for facet, _, nodes in facets_of(kind, table[cells], facets)]
        return result

    def node(self, name: str) -> int:
        """Return the index of the only point of a point set; of a name used twice, the point set is meant."""
        if (numbered := self._numbered(name)) is not None:
            return int(numbered[0])
        bare, points, _ = self._resolve(name)
        nodes = self.node_sets[bare] if points else self.nodes_of(name)
        if len(nodes) != 1:
            what = "point set" if points else "line set"
            self._fail(f'{what} "{name}" has {len(nodes)} nodes where a single node is needed; name a set of one point')
        return int(nodes[0])

    def unreferenced(self) -> np.ndarray:
        """Return indices (n,) int64 of points that no cell and no node set uses."""
        used = np.zeros(len(self.points), dtype=bool)
        for block in self.blocks:
            used[block.cells] = True
        for nodes in self.node_sets.values():
            used[nodes] = True
        return np.flatnonzero(~used)

    def only_in_cells(self) -> np.ndarray:
        """Return indices (n,) int64 of points that plane and solid cells use, and no line cell and no node set."""
        used, others = np.zeros(len(self.points), dtype=bool), np.zeros(len(self.points), dtype=bool)
        for block in self.blocks:
            (used if block.kind in LINE_KINDS else others)[block.cells] = True
        for nodes in self.node_sets.values():
            used[nodes] = True
        return np.flatnonzero(others & ~used)

    # ---- placing -----------------------------------------------------------------------------------------------------

    def transformed(
        self, scale: float = 1.0, rotation: ArrayLike | None = None, translate: ArrayLike | None = None
    ) -> Mesh:
        """Return the mesh with its points at ``translate + scale * rotation @ x``.

        ``rotation`` (3, 3) must be a proper rotation; ``translate`` (3,) or (2,) [m].
        """
        if not (np.ndim(scale) == 0 and np.isfinite(scale) and scale > 0):
            self._fail(f"scale {scale!r} must be a positive number")
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), rtol=0, atol=1e-9):
            self._fail("rotation must be a 3x3 matrix with R R^T = 1")
        if np.linalg.det(turn) < 0:
            self._fail("rotation has determinant -1, a reflection; give a proper rotation")
        shift = np.zeros(3)
        if translate is not None:
            given = np.asarray(translate, dtype=float)
            if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
                self._fail(f"translate {translate!r} must be 2 or 3 finite numbers [m]")
            shift[: len(given)] = given
        if scale == 1.0 and not shift.any() and np.array_equal(turn, np.eye(3)):
            return self
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported with the node's number
            points = shift + scale * (self.points @ turn.T)
        return replace(self, points=points)

    def mirrored(self, normal: np.ndarray, point: np.ndarray) -> Mesh:
        """Return the image in a plane, with plane and solid cells of the same sense and facets of the same places.

        Args:
            normal: unit vector across the plane, (3,).
            point: of the plane, (3,) [m].
        """
        points = self.points - 2.0 * np.outer((self.points - point) @ normal, normal)
        blocks = [
            CellBlock(b.kind, b.cells[:, MIRRORED[b.kind]] if b.kind in MIRRORED else b.cells, b.ids)
            for b in self.blocks
        ]
        facets = {
            name: [(b, cells, mirrored_facets(self.blocks[b].kind)[local]) for b, cells, local in parts]
            for name, parts in self.facet_sets.items()
        }
        return replace(self, points=points, blocks=blocks, facet_sets=facets)


def _halves(cells: np.ndarray) -> np.ndarray:
    """Return (n, k - 1, 2): the two-node pieces of each cell, in order along it."""
    along = cells if cells.shape[1] == 2 else cells[:, [0, 2, 1]]
    return np.stack([along[:, :-1], along[:, 1:]], axis=2)


def _integers(values) -> np.ndarray | None:
    """Return the values as a fresh int64 array, or None if they are not whole numbers."""
    try:
        array = np.array(values)
    except ValueError:  # rows of different lengths
        return None
    if array.size == 0:
        return array.astype(np.int64)
    return array.astype(np.int64) if array.dtype.kind in "iu" else None


def _ascending(indices: np.ndarray) -> np.ndarray:
    """Return indices (n,) in ascending order, each once; meshes have thousands of sets that are so already."""
    return indices if indices.size < 2 or (indices[1:] > indices[:-1]).all() else np.unique(indices)


def _frozen(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
