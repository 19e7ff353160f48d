"""A mesh in the making, `Found`, and what the readers of several formats share: calls of meshio, sets from arrays."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, dimension_of, match_facets
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["ALL", "BACK", "LINES", "Found", "add_arrays", "from_meshio", "need", "quietly"]

LINES = {"line": "line2", "line3": "line3"}
ALL = {**LINES, **{kind: kind for kind in CELL_KINDS if DIMENSION[kind] > 1}}
_CORNERS = {1: {2: 2, 3: 2}, 2: {3: 3, 6: 3, 4: 4, 8: 4}}  # dimension, nodes of a cell -> its corners
_MAX_VALUES = 64
#: What a name gets that a file gives to the back of shells, the side against their normal: cells have no sides.
BACK = "@back"


def need(package: str, where: str, form: str) -> None:
    """Raise MeshError where a package that a format needs is not installed."""
    try:
        import_module(package)
    except ImportError as error:
        raise MeshError(
            f"{where}: {form} files need the package {package}, which is not installed ({error}); install it, or save "
            "the mesh as Gmsh .msh or .vtu"
        ) from error


def quietly(where: str, read: Callable[[], Any]) -> tuple[Any, str]:
    """Run a meshio reader: its prints are kept from the terminal, and each of its ways to fail becomes a MeshError.

    Those are ReadError (often without text), SystemExit, and whatever numpy, struct, zlib or the XML parser raise.
    Gives the result and what was printed.
    """
    from meshio._mesh import topological_dimension

    topological_dimension.setdefault("wedge15", 3)  # meshio 5.3 reads such cells and then stops at this table
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # before 2.4, numpy stops at the first word that is not a number, and only warns
            warnings.filterwarnings("error", "string or file could not be read to its end")
            result = read()
    except MeshError:
        raise
    except (Exception, SystemExit) as error:
        text = " ".join(f"{said.getvalue()} {error}".split())[:200] or "no reason given"
        raise MeshError(
            f"{where}: damaged or not of its format ({type(error).__name__}: {text}); save it anew"
        ) from error
    return result, " ".join(said.getvalue().split())


@dataclass
class Found:
    """A mesh in the making: all points of the file, its cells of ``kinds`` (meshio's name -> ours), sets in terms of
    the file's cells."""

    where: str
    format: str
    points: np.ndarray
    point_ids: np.ndarray
    skipped: list[str]
    kinds: dict[str, str]
    blocks: list[CellBlock] = field(default_factory=list)
    node_sets: dict[str, np.ndarray] = field(default_factory=dict)
    cell_sets: dict[str, list[tuple[int, np.ndarray]]] = field(default_factory=dict)
    others: Counter = field(default_factory=Counter)
    sides: dict[str, list[tuple[int, np.ndarray, np.ndarray]]] = field(default_factory=dict)
    lost: dict[str, Counter] = field(default_factory=dict)

    def lose(self, name: str, kind: str, count: int) -> None:
        """Note cells of a set that are of no kind that elements have."""
        if count and self.kinds is not LINES and dimension_of(kind):
            self.lost.setdefault(name, Counter())[kind] += count

    def add_nodes(self, name: str, nodes: np.ndarray, origin: str) -> None:
        if name in self.node_sets:
            raise MeshError(f'{self.where}: two sets of points are called "{name}" (one is {origin}); rename one')
        self.node_sets[name] = nodes

    def add_cells(self, name: str, parts: list[tuple[int, np.ndarray]], origin: str) -> None:
        dimensions = {DIMENSION[self.blocks[b].kind] for b, _ in parts}
        if name in self.cell_sets and dimensions != {DIMENSION[self.blocks[b].kind] for b, _ in self.cell_sets[name]}:
            name = f"{name}@{max(dimensions)}"
        if name in self.cell_sets:
            raise MeshError(f'{self.where}: two sets of lines are called "{name}" (one is {origin}); rename one')
        self.cell_sets[name] = parts

    def check_nodes(self) -> None:
        """Raise MeshError where a cell or a set names a missing point."""
        n = len(self.points)
        for nodes in [block.cells for block in self.blocks] + list(self.node_sets.values()):
            if nodes.size and (nodes.min() < 0 or nodes.max() >= n):
                wrong = nodes.min() if nodes.min() < 0 else nodes.max()
                raise MeshError(f"{self.where}: a cell names point {wrong} of {n} (from 0); save it anew")

    def facet_sets(self) -> dict[str, list[tuple[int, np.ndarray, np.ndarray]]]:
        """Return facets of the cells of the highest dimension that cells one dimension lower, in sets, lie on."""
        top = max(DIMENSION[block.kind] for block in self.blocks)
        found = dict(self.sides)
        if top == 1:
            return found
        bodies = [(i, block.kind, block.cells) for i, block in enumerate(self.blocks) if DIMENSION[block.kind] == top]
        for name, parts in self.cell_sets.items():
            sides = [self.blocks[b].cells[c] for b, c in parts if DIMENSION[self.blocks[b].kind] == top - 1]
            missing = total = 0
            for corners in {_CORNERS[top - 1][cells.shape[1]] for cells in sides}:
                wanted = [c[:, :corners] for c in sides if _CORNERS[top - 1][c.shape[1]] == corners]
                block, cell, facet = match_facets(bodies, np.concatenate(wanted))
                missing, total = missing + int((block < 0).sum()), total + len(block)
                for b in np.unique(block[block >= 0]):
                    found.setdefault(name, []).append((int(b), cell[block == b], facet[block == b]))
            if missing and name in found:
                what = {2: "edge of plane cells", 3: "face of solid cells"}[top]
                self.skipped.append(f'in the facet set "{name}": {missing} of {total} cells that are no {what}')
        return found

    def mesh(self) -> Mesh:
        """Drop what no cell and no point set uses, and let `Mesh` check the rest."""
        lines = self.kinds is LINES
        self.skipped += [
            f"{_number(n, f'{kind} cell')} (no element here uses this type)" for kind, n in self.others.items()
        ]
        if not sum(len(block.cells) for block in self.blocks):
            other = ", ".join(f"{n} {kind}" for kind, n in self.others.items()) or "no cells at all"
            none, mesh = (
                ("no line cells of 2 or 3 nodes", "curves") if lines else ("no cells that are used", "the part")
            )
            raise MeshError(
                f"{self.where}: {none}, but {other}; mesh {mesh}, and put those to be used in a "
                f"physical group (Gmsh saves only cells in groups once there is a group)"
            )
        self.check_nodes()
        used = np.zeros(len(self.points), dtype=bool)
        for nodes in [block.cells for block in self.blocks] + list(self.node_sets.values()):
            used[nodes] = True
        loose = self.point_ids[~used]
        if len(loose):
            listed = ", ".join(str(v) for v in loose[:10]) + (", ..." if len(loose) > 10 else "")
            self.skipped.append(
                f"{_number(len(loose), 'point')} that no {'line ' if lines else ''}cell and no point set uses "
                f"(nodes {listed})"
            )
        facet_sets = self.facet_sets()
        for kind, n in self.others.items():
            self.lose("", kind, n)
        new = np.cumsum(used) - 1
        return Mesh(
            points=self.points[used],
            blocks=[CellBlock(block.kind, new[block.cells], block.ids) for block in self.blocks],
            node_sets={name: new[nodes] for name, nodes in self.node_sets.items()},
            cell_sets=self.cell_sets,
            point_ids=self.point_ids[used],
            source=self.where,
            format=self.format,
            skipped=self.skipped,
            facet_sets=facet_sets,
            lost=self.lost,
        )


def _number(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def from_meshio(
    where: str, form: str, raw: Any, kinds: dict[str, str]
) -> tuple[Found, list[tuple[int, str, int]], int]:
    """Return points and cells of what meshio has read, numbered from 0; which of its blocks were kept (block of the
    file, its type, block of the mesh, -1: vertices), and the number of cells in the file."""
    points = np.asarray(raw.points)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or points.dtype.kind not in "fiu":
        raise MeshError(f"{where}: points must have 3 coordinates each; save it anew")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    found = Found(where, form, points.astype(float), np.arange(len(points)), [], kinds)
    kept: list[tuple[int, str, int]] = []
    numbers = 0
    for i, block in enumerate(raw.cells):
        n = len(block.data)
        if block.type in kinds:
            kept.append((i, block.type, len(found.blocks)))
            cells = np.asarray(block.data).astype(np.int64)
            found.blocks.append(CellBlock(kinds[block.type], cells, np.arange(numbers, numbers + n)))
        elif block.type == "vertex":
            kept.append((i, block.type, -1))
        else:
            found.others[block.type] += n
        numbers += n
    return found, kept, numbers


def add_arrays(found: Found, raw: Any, kept: list[tuple[int, str, int]]) -> None:
    """Add sets from integer arrays of points and cells."""
    for name, array in (raw.point_data or {}).items():
        values, why = _set_values([array])
        for value, label in values:
            found.add_nodes(label(name), np.flatnonzero(np.ravel(array) == value), f"point array {name}")
        if why:
            found.skipped.append(f'point array "{name}": {why}')
    unused = [(i, block.type) for i, block in enumerate(raw.cells) if i not in {k for k, _, _ in kept}]
    for name, arrays in (raw.cell_data or {}).items():
        values, why = _set_values([arrays[i] for i, _, _ in kept])
        for value, label in values:
            where_true = [(i, kind, block, np.flatnonzero(np.ravel(arrays[i]) == value)) for i, kind, block in kept]
            nodes = [raw.cells[i].data[cells, 0] for i, kind, _, cells in where_true if kind == "vertex" and len(cells)]
            parts = [(block, cells) for _, kind, block, cells in where_true if kind != "vertex" and len(cells)]
            if nodes:
                found.add_nodes(label(name), np.unique(np.concatenate(nodes)).astype(np.int64), f"cell array {name}")
            if parts:
                found.add_cells(label(name), parts, f"cell array {name}")
                for i, kind in unused:
                    found.lose(label(name), kind, int(np.count_nonzero(np.ravel(arrays[i]) == value)))
        if why:
            found.skipped.append(f'cell array "{name}": {why}')
    found.skipped += [f'field array "{name}"' for name in raw.field_data or {}]


def _set_values(arrays: list[np.ndarray]) -> tuple[list[tuple[int, Callable[[str], str]]], str]:
    """Return the values of an array that make sets, each with the name it gives, and why there are none."""
    if any(a.dtype.kind not in "iub" or a.size != len(a) for a in arrays):
        return [], "not whole numbers of one component"
    values = np.unique(np.concatenate([np.ravel(a).astype(np.int64) for a in arrays])) if arrays else np.empty(0)
    if len(values) > _MAX_VALUES:
        return [], f"{len(values)} different values, taken for a numbering"
    if set(values.tolist()) <= {0, 1}:
        return ([(1, lambda name: name)], "") if 1 in values else ([], "0 everywhere")
    return [(int(v), partial(_numbered, v)) for v in values.tolist()], ""


def _numbered(value: Any, name: str) -> str:
    return f"{name}_{value}"
