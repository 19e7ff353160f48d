"""Read mesh files: Gmsh .msh (2.2 and 4.1, text and binary) and VTU here, others in `meshio_formats` and `exodus`.

Read are line cells or, on request, all cells that an element type stands on (`fem_mbs.meshes.cells`), the points they
use, and named sets; everything else the file holds is listed in ``Mesh.skipped``.  Points that neither such a cell nor
a point set uses are dropped (centres of arcs, inner points of surface meshes): they would be loose nodes of the model.

Gmsh: a point group is a node set, any other a cell set; a group without a name is called ``physical_<dim>_<tag>``.
Where groups of two dimensions have one name, the higher one is called ``name@2`` or ``name@3``.

VTU has no named sets, so whole-number arrays of one component make them.  An array of 0 and 1 gives one set with its
name (where it is 1); any other gives ``<name>_<value>`` for each value in it.  Point arrays give node sets, cell arrays
cell sets, on vertex cells node sets.  Arrays of more than 64 values are taken for numbering and listed as skipped.

Facet sets follow from cells: triangles and quadrilaterals of a cell set that are faces of solids of the mesh make a
facet set of the same name, and so do lines that are edges of plane cells in a mesh without solids.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, match_facets
from fem_mbs.meshes.formats.gmsh_index import CELL_TYPES, GmshIndex, read_index
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["read_mesh"]

LINES = {"line": "line2", "line3": "line3"}
ALL = {**LINES, **{kind: kind for kind in CELL_KINDS if DIMENSION[kind] > 1}}
_CORNERS = {1: {2: 2, 3: 2}, 2: {3: 3, 6: 3, 4: 4, 8: 4}}  # dimension, nodes of a cell -> its corners
_MAX_VALUES = 64


def read_mesh(path: str | Path, cells: str = "lines") -> Mesh:
    """Read a mesh file: Gmsh .msh, .vtu, .vtk, Exodus .e .exo .ex2, MED .med, Medit .mesh .meshb.

    Args:
        cells: "lines": line cells only; "all": plane and solid cells too.

    Raises MeshError, with the file, what is wrong and what to do, for whatever is not a sound mesh with such cells.
    Nothing is printed.
    """
    if cells not in ("lines", "all"):
        raise MeshError(f'{path}: cells = {cells!r} must be "lines" or "all"')
    where, kinds = str(path), LINES if cells == "lines" else ALL
    suffix = Path(where).suffix.lower()
    read = {".msh": _read_msh, ".vtu": _read_vtu}.get(suffix)
    if read is None and suffix in (".vtk", ".med", ".mesh", ".meshb"):
        from fem_mbs.meshes.formats.meshio_formats import read_other as read
    if read is None and suffix in (".e", ".exo", ".ex2"):
        from fem_mbs.meshes.formats.exodus import read_exodus as read
    try:
        if not Path(where).exists():
            raise MeshError(f"{where}: there is no such file; give a path that is right from {Path.cwd()}")
        if not Path(where).is_file():
            raise MeshError(f"{where}: is a folder or a device; give a mesh file (.msh, .vtu ...)")
        if read is None:
            raise MeshError(
                f'{where}: the extension "{Path(where).suffix}" is not read; give a Gmsh .msh or a .vtu file '
                "(or .vtk, .e, .exo, .med, .mesh)"
            )
        data = Path(where).read_bytes()
    except OSError as error:
        raise MeshError(f"{where}: cannot be opened ({error}); check path and permissions") from error
    if not data.strip():
        raise MeshError(f"{where}: the file is empty; save the mesh again")
    return read(where, data, kinds)


def quietly(where: str, read: Callable):
    """Run a meshio reader: suppress its prints, and turn each of its failures into a MeshError.

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
        """Raises MeshError where a cell or a set names a point that is not there."""
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
            parts = [(self.blocks[b].cells[c]) for b, c in parts if DIMENSION[self.blocks[b].kind] == top - 1]
            missing = total = 0
            for corners in {_CORNERS[top - 1][cells.shape[1]] for cells in parts}:
                wanted = [c[:, :corners] for c in parts if _CORNERS[top - 1][c.shape[1]] == corners]
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
        )


def _number(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


# ---- Gmsh ------------------------------------------------------------------------------------------------------------


def _read_msh(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    if not data.lstrip().startswith(b"$"):
        other = " (an ANSYS Fluent mesh has the same extension)" if data.lstrip().startswith(b"(") else ""
        raise MeshError(
            f"{where}: not a Gmsh file, it does not begin with $MeshFormat{other}; save a .msh 4.1 from Gmsh"
        )
    index = read_index(data, where)
    raw = _through_meshio(index, where)
    found = Found(
        where=where,
        format=f"Gmsh {index.version} {'binary' if index.binary else 'ASCII'}",
        points=np.asarray(raw.points, dtype=float),
        point_ids=index.node_ids,
        skipped=index.skipped,
        kinds=kinds,
    )
    m = len(index.cell_ids)
    vertex, block_of, place = (np.full(m, -1, dtype=np.int64) for _ in range(3))  # per cell of the file
    for kind, cells, nodes in _runs(index, raw):
        if kind == "vertex":
            vertex[cells] = nodes[:, 0]
        elif kind in kinds:
            if kind in LINES:
                turned = index.backward[cells]
                nodes[turned, :2] = nodes[turned, 1::-1]
            keep, same = _merged_22(index, cells, nodes) if index.version == "2.2" else (np.arange(len(cells)),) * 2
            block_of[cells], place[cells] = len(found.blocks), same
            found.blocks.append(CellBlock(kinds[kind], nodes[keep], index.cell_ids[cells[keep]]))
        else:
            found.others[kind] += len(cells)

    for key in sorted(index.names.keys() | index.groups.keys()):
        dimension, tag = key
        cells = index.groups.get(key, np.empty(0, dtype=np.int64))
        name = index.names.get(key, f"physical_{dimension}_{tag}")
        origin = f"physical group {tag} of dimension {dimension}"
        if dimension == 0 and len(cells):
            found.add_nodes(name, np.unique(vertex[cells]), origin)
        elif dimension > 0 and (block_of[cells] >= 0).any():
            cells = cells[block_of[cells] >= 0]
            parts = [(int(b), place[cells[block_of[cells] == b]]) for b in np.unique(block_of[cells])]
            found.add_cells(name, parts, origin)
        else:
            # Gmsh drops the groups of all cells when it saves 2.2 with Mesh.SaveAll
            none = "no cells in the file" + (
                ", save it without Mesh.SaveAll or as 4.1" if index.version == "2.2" else ""
            )
            found.skipped.append(f'{origin}, "{name}": ' + ("cells of types not used" if len(cells) else none))
    return found.mesh()


def _merged_22(index: GmshIndex, cells: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of cells to keep, and for each row its place among them; format 2.2 repeats a cell per group.

    A cell repeated within one group is a second cell (two trusses side by side), and is kept.
    """
    group = np.zeros(len(index.cell_ids), dtype=np.int64)
    for (dimension, tag), members in index.groups.items():
        if dimension > 0:
            group[members] = tag
    where = np.column_stack([index.entities[cells], nodes])
    same = np.unique(np.column_stack([where, group[cells]]), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(same, kind="stable")
    runs = np.flatnonzero(np.diff(same[order], prepend=-1))  # where a new cell-in-group begins
    copy = np.empty(len(cells), dtype=np.int64)
    copy[order] = np.arange(len(cells)) - np.repeat(runs, np.diff(runs, append=len(cells)))
    _, first, inverse = np.unique(np.column_stack([where, copy]), axis=0, return_index=True, return_inverse=True)
    keep = np.sort(first)
    return keep, np.searchsorted(keep, first)[inverse.reshape(-1)]


def _through_meshio(index: GmshIndex, where: str):
    """Read the nodes and elements by meshio, which needs a separate file (np.fromfile)."""
    from meshio import gmsh

    try:
        with tempfile.TemporaryDirectory(prefix="fem-mbs-") as folder:
            copy = Path(folder) / "reduced.msh"
            copy.write_bytes(index.reduced)
            raw, _ = quietly(where, lambda: gmsh.read(copy))
    except OSError as error:
        raise MeshError(f"{where}: no room for a temporary copy in {tempfile.gettempdir()} ({error})") from error
    names = [block.type for block in raw.cells for _ in range(len(block.data))]
    if len(raw.points) != len(index.node_ids) or names != [CELL_TYPES[kind][0] for kind in index.cell_types.tolist()]:
        raise MeshError(f"{where}: the counts of nodes or cells contradict each other; save it anew")
    return raw


def _runs(index: GmshIndex, raw) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (type, indices of the cells in the file, nodes (n, k)) of runs of one type, in the order of the file."""
    start = 0
    for kind, run in groupby(raw.cells, key=lambda block: block.type):
        nodes = np.concatenate([np.asarray(block.data, dtype=np.int64) for block in run])
        yield kind, np.arange(start, start + len(nodes)), nodes
        start += len(nodes)


# ---- VTU -------------------------------------------------------------------------------------------------------------


def _read_vtu(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    head = data.partition(b"<AppendedData")[0]
    if b"<VTKFile" not in head:
        raise MeshError(f"{where}: not a VTU file, it has no <VTKFile> tag; save it as an unstructured grid (.vtu)")
    pieces = len(re.findall(rb"<Piece\b", head))
    if pieces > 1:
        # meshio 5.3 keeps the cells of the last piece only
        raise MeshError(
            f"{where}: holds {pieces} pieces and one is read; merge them (ParaView: Merge Blocks) and save it anew"
        )
    from meshio import vtu

    raw, said = quietly(where, lambda: vtu.read(where))
    found, kept, numbers = from_meshio(where, "VTU", raw, kinds)
    declared = re.search(rb"<Piece\b[^>]*\bNumberOfCells\s*=\s*[\"']\s*(\d{1,18})", head)
    if declared and int(declared[1]) > numbers:
        found.others["unknown"] += int(declared[1]) - numbers
        found.skipped.append(
            "cells of types that meshio does not know (poly lines: turn them into lines); it says: " + said
        )

    add_arrays(found, raw, kept)
    return found.mesh()


def from_meshio(where: str, form: str, raw, kinds: dict[str, str]) -> tuple[Found, list[tuple[int, str, int]], int]:
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


def add_arrays(found: Found, raw, kept: list[tuple[int, str, int]]) -> None:
    """Add sets from whole-number arrays of points and cells."""
    for name, array in (raw.point_data or {}).items():
        values, why = _set_values([array])
        for value, label in values:
            found.add_nodes(label(name), np.flatnonzero(np.ravel(array) == value), f"point array {name}")
        if why:
            found.skipped.append(f'point array "{name}": {why}')
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
    return [(v, lambda name, v=v: f"{name}_{v}") for v in values.tolist()], ""
