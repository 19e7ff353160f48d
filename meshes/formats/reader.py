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

import re
import tempfile
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass, late
from fem_mbs.meshes.formats.found import ALL, LINES, Found, add_arrays, from_meshio, quietly
from fem_mbs.meshes.formats.gmsh_index import CELL_TYPES, GmshIndex, read_index
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["MESH_FORMATS", "MeshFormat", "read_mesh", "register_format"]


@dataclass(frozen=True)
class MeshFormat:
    """A mesh format: suffixes of its files in lower case, its name, the content that is read, and its reader.

    ``load(where, data, kinds)`` gets the path for messages and calls of meshio, the content of the file, and the cells
    to take (meshio's name -> ours).
    """

    suffixes: tuple[str, ...]
    name: str
    text: str
    load: Callable[[str, bytes, dict[str, str]], Mesh]


def read_mesh(path: str | Path, cells: str = "lines") -> Mesh:
    """Read a mesh file of one of `MESH_FORMATS`, which its suffix names.

    Args:
        path: of the file.
        cells: "lines": line cells only; "all": plane and solid cells too.

    Raises MeshError, with the file, what is wrong and what to do, for whatever is not a sound mesh with such cells.
    Nothing is printed.
    """
    if cells not in ("lines", "all"):
        raise MeshError(f'{path}: cells = {cells!r} must be "lines" or "all"')
    where, kinds = str(path), LINES if cells == "lines" else ALL
    suffix = Path(where).suffix.lower()
    read = next((form.load for form in MESH_FORMATS if suffix in form.suffixes), None)
    try:
        if not Path(where).exists():
            raise MeshError(f"{where}: there is no such file; give a path that is right from {Path.cwd()}")
        if not Path(where).is_file():
            raise MeshError(f"{where}: is a folder or a device; give a mesh file (.msh, .vtu ...)")
        if read is None:
            known = ", ".join(s for form in MESH_FORMATS for s in form.suffixes)
            raise MeshError(
                f'{where}: the extension "{Path(where).suffix}" is not read; give a Gmsh .msh or a .vtu file '
                f"(read are {known})"
            )
        data = Path(where).read_bytes()
    except OSError as error:
        raise MeshError(f"{where}: cannot be opened ({error}); check path and permissions") from error
    if not data.strip():
        raise MeshError(f"{where}: the file is empty; save the mesh again")
    return read(where, data, kinds)


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
    for kind, cells, nodes in _runs(raw):
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
            missing = index.cell_types[cells[block_of[cells] < 0]]
            cells = cells[block_of[cells] >= 0]
            parts = [(int(b), place[cells[block_of[cells] == b]]) for b in np.unique(block_of[cells])]
            found.add_cells(name, parts, origin)
            for kind, count in zip(*np.unique(missing, return_counts=True), strict=True):
                found.lose(name, CELL_TYPES[int(kind)][0], int(count))
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


def _through_meshio(index: GmshIndex, where: str) -> Any:
    """Let meshio read the nodes and elements; it needs a file of its own for that (np.fromfile)."""
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


def _runs(raw: Any) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """Yield runs of one type, in the order of the file: type, indices of the cells in the file, and nodes (n, k)."""
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

    from fem_mbs.meshes.formats.meshio_formats import settled

    raw, said = quietly(where, lambda: vtu.read(where))
    if np.ndim(raw.points) == 2 and np.shape(raw.points)[1] == 2:
        raise MeshError(f"{where}: its points have 2 coordinates each, and VTU has 3; save it anew")
    found, kept, numbers = from_meshio(where, "VTU", raw, kinds)
    found.check_nodes()
    # programs write wedges with either sense of their triangles
    found.blocks = [
        CellBlock(block.kind, settled(block.kind, block.cells, found.points), block.ids)
        if block.kind.startswith("wedge") else block
        for block in found.blocks
    ]  # fmt: skip
    declared = re.search(rb"<Piece\b[^>]*\bNumberOfCells\s*=\s*[\"']\s*(\d{1,18})", head)
    if declared and int(declared[1]) > numbers:
        found.others["unknown"] += int(declared[1]) - numbers
        found.skipped.append(
            "cells of types that meshio does not know (poly lines: turn them into lines); it says: " + said
        )

    add_arrays(found, raw, kept)
    return found.mesh()


#: All formats that `read_mesh` reads.
MESH_FORMATS = [
    MeshFormat((".msh",), "Gmsh", "2.2 and 4.1, text and binary; physical groups become sets", _read_msh),
    MeshFormat((".vtu",), "VTK XML", "unstructured grid; whole-number arrays become sets", _read_vtu),
    MeshFormat(
        (".vtk",), "legacy VTK", "unstructured grid; whole-number arrays become sets",
        late("fem_mbs.meshes.formats.meshio_formats:read_vtk"),
    ),
    MeshFormat(
        (".e", ".exo", ".ex2"), "Exodus II", "Cubit, MOOSE; blocks, node and side sets become sets",
        late("fem_mbs.meshes.formats.exodus:read_exodus"),
    ),
    MeshFormat(
        (".med",), "MED", "Salome, Code_Aster; groups become sets",
        late("fem_mbs.meshes.formats.meshio_formats:read_med"),
    ),
    MeshFormat(
        (".unv",), "I-DEAS universal", "Salome, HyperMesh, Gmsh; groups become sets",
        late("fem_mbs.meshes.formats.universal:read_unv"),
    ),
    MeshFormat(
        (".inp",), "Abaqus", "the mesh of a deck; sets and surfaces become sets",
        late("fem_mbs.meshes.formats.abaqus_mesh:read_inp"),
    ),
    MeshFormat(
        (".bdf", ".nas", ".fem"), "Nastran bulk data", "properties, supports and HyperMesh's sets become sets",
        late("fem_mbs.meshes.formats.bulk_mesh:read_bdf"),
    ),
    MeshFormat(
        (".mesh", ".meshb"), "Medit", "text and binary; references become sets",
        late("fem_mbs.meshes.formats.meshio_formats:read_medit"),
    ),
]  # fmt: skip


def register_format(form: MeshFormat) -> None:
    """Add a format: `read_mesh`, model files and `fem-mbs list` know it from then on.

    Raises:
        MeshError: another format has one of its suffixes.
    """
    taken = {suffix: other.name for other in MESH_FORMATS for suffix in other.suffixes}
    for suffix in form.suffixes:
        if suffix in taken:
            raise MeshError(f'format "{form.name}": {suffix} belongs to {taken[suffix]}; choose another suffix')
    MESH_FORMATS.append(form)
