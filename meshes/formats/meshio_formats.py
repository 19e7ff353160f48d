"""Mesh files that meshio reads and that need little besides: legacy VTK, MED (Salome, Code_Aster), Medit.

Sets: MED's groups; of the others whole-number arrays, as for VTU (`fem_mbs.meshes.formats.found`).  Two formats leave
room in the order of nodes: VTK's wedges are written with either sense of their triangles, and MED counts the nodes of
solids the other way round than most, with mid-side nodes wherever the writer put them.  There the nodes are brought
into our order by what the geometry says: cells of negative volume are mirrored, mid-side nodes go to the edges that
they lie on.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.files import check_hdf5
from fem_mbs.meshes.cells import DIMENSION, FACETS
from fem_mbs.meshes.formats.found import Found, add_arrays, from_meshio, need, quietly
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["read_med", "read_medit", "read_vtk", "settled"]

_MIRRORED = {
    "tetra": (0, 2, 1, 3),
    "hexahedron": (0, 3, 2, 1, 4, 7, 6, 5),
    "wedge": (0, 2, 1, 3, 5, 4),
    "triangle": (0, 2, 1),
    "quad": (0, 3, 2, 1),
}
_LINEAR = {"tetra10": "tetra", "hexahedron20": "hexahedron", "wedge15": "wedge", "triangle6": "triangle"}
_LINEAR["quad8"] = "quad"


def read_vtk(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read a legacy VTK file; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`."""
    return _read(where, kinds, "vtk", "legacy VTK")


def read_med(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read a MED file; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`."""
    return _read(where, kinds, "med", "MED", "h5py")


def read_medit(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read a Medit file, text or binary; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`."""
    return _read(where, kinds, "medit", "Medit binary" if Path(where).suffix.lower() == ".meshb" else "Medit")


def _read(where: str, kinds: dict[str, str], module: str, form: str, package: str = "") -> Mesh:
    """Read a file by a module of meshio; ``package`` is what that needs beyond numpy."""
    if package:
        need(package, where, form)
        wrong = check_hdf5(where)
        if wrong:
            raise MeshError(f"{where}: cannot be read as HDF5: {wrong}; save it anew")
    reader = import_module(f"meshio.{module}")
    with tempfile.TemporaryDirectory(prefix="fem-mbs-") as folder:
        path = _with_groups(where, Path(folder)) if module == "med" else where
        raw, _ = quietly(where, lambda: reader.read(path))
    if np.ndim(raw.points) != 2 or not len(raw.points):
        raise MeshError(f"{where}: holds no points; save it anew")
    for holder in (raw.point_data, raw.cell_data):
        if "medit:ref" in holder:
            holder["ref"] = holder.pop("medit:ref")
    tags = None
    if module == "med":
        tags = raw.point_data.pop("point_tags", None), raw.cell_data.pop("cell_tags", None)
    found, kept, _ = from_meshio(where, form, raw, kinds)
    found.check_nodes()
    blocks = []
    for block in found.blocks:
        free = module == "med" or (module == "vtk" and block.kind.startswith("wedge"))
        cells = settled(block.kind, block.cells, found.points) if free else block.cells
        blocks.append(CellBlock(block.kind, cells, block.ids))
    found.blocks = blocks
    if tags is not None:
        _med_groups(found, raw, kept, *tags)
        raw.field_data = {}
    add_arrays(found, raw, kept)
    return found.mesh()


def _with_groups(where: str, folder: Path) -> str:
    """Return the path of a MED file in which every family has a list of groups, which meshio asks for; Gmsh leaves out
    empty ones, so that a copy in the folder gets them."""
    import h5py

    def bare(file) -> list:
        found: list = []
        file.visititems(lambda _, item: found.append(item) if "NUM" in item.attrs and "GRO" not in item else None)
        return [item for item in found if "/FAS/" in f"{item.name}/"]

    try:
        with h5py.File(where) as file:
            if not bare(file):
                return where
        copy = folder / "whole.med"
        copy.write_bytes(Path(where).read_bytes())
        with h5py.File(copy, "r+") as file:
            for family in bare(file):
                groups = family.create_group("GRO")
                groups.attrs["NBR"] = 0
                groups["NOM"] = np.empty((0, 80), np.int8)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise MeshError(f"{where}: damaged or not of its format ({error}); save it anew") from error
    return str(copy)


def _med_groups(found: Found, raw, kept, point_tags, cell_tags) -> None:
    """Read the groups of MED, which puts every node and cell into one family, and a family into any number of
    groups."""
    if point_tags is not None:
        for name, families in _families(raw.point_tags).items():
            nodes = np.flatnonzero(np.isin(point_tags, families))
            if len(nodes):
                found.add_nodes(name, nodes, "a group of nodes")
    if cell_tags is None:
        return
    if len(cell_tags) != len(raw.cells):
        found.skipped.append("groups of cells: only some types of cells have families")
        return
    for name, families in _families(raw.cell_tags).items():
        parts: list[tuple[int, np.ndarray]] = []
        points: list[np.ndarray] = []
        for i, kind, block in kept:
            cells = np.flatnonzero(np.isin(cell_tags[i], families))
            if len(cells) and kind == "vertex":
                points.append(np.asarray(raw.cells[i].data)[cells, 0])
            elif len(cells):
                parts.append((block, cells))
        for dimension in sorted({DIMENSION[found.blocks[b].kind] for b, _ in parts}):
            same = [(b, c) for b, c in parts if DIMENSION[found.blocks[b].kind] == dimension]
            found.add_cells(name, same, "a group of cells")
        for i, block in enumerate(raw.cells):
            if i not in {k for k, _, _ in kept}:
                found.lose(name, block.type, int(np.isin(cell_tags[i], families).sum()))
        if points:
            found.add_nodes(name, np.unique(np.concatenate(points)).astype(np.int64), "a group of point cells")
        if not parts and not points:
            found.skipped.append(f'group "{name}": cells of types not used')


def _families(table: dict[int, list[str]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for family, names in table.items():
        for name in names:
            groups.setdefault(str(name).strip("\0 "), []).append(family)
    return groups


def _axes(kind: str, x: np.ndarray) -> np.ndarray:
    """Return directions (n, dim, dim) of the local coordinates in the middle of cells with corners x (n, k, dim)."""
    if kind in ("triangle", "tetra"):
        return x[:, 1:] - x[:, :1]
    if kind == "quad":
        return np.stack((x[:, 1] + x[:, 2] - x[:, 0] - x[:, 3], x[:, 2] + x[:, 3] - x[:, 0] - x[:, 1]), axis=1)
    if kind == "wedge":
        low, high = x[:, :3], x[:, 3:]
        return np.stack(
            (low[:, 1] - low[:, 0] + high[:, 1] - high[:, 0], low[:, 2] - low[:, 0] + high[:, 2] - high[:, 0],
             high.sum(axis=1) - low.sum(axis=1)), axis=1,
        )  # fmt: skip
    signs = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)] * 2, float)
    signs[4:, 2] = 1.0
    return np.einsum("nki,kj->nji", x, signs)


def settled(kind: str, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return cells (n, k) with their nodes in our order: none inside out, mid-side nodes on their edges.

    Plane cells are mirrored only in a mesh in the x-y plane: elsewhere they have no wrong side.
    """
    linear = _LINEAR.get(kind, kind)
    if linear not in _MIRRORED or not len(cells):
        return cells
    cells = cells.copy()
    corners = len(_MIRRORED[linear])
    if DIMENSION[kind] == 3 or not points[:, 2].any():
        dim = DIMENSION[kind]
        inside_out = np.linalg.det(_axes(linear, points[cells[:, :corners], :dim])) < 0.0
        cells[inside_out, :corners] = cells[inside_out][:, _MIRRORED[linear]]
    if kind == linear:
        return cells
    edges = np.array([ends for _, ends in sorted(_edges(kind).items())])
    middle = 0.5 * (points[cells[:, edges[:, 0]]] + points[cells[:, edges[:, 1]]])
    length = np.linalg.norm(points[cells[:, edges[:, 0]]] - points[cells[:, edges[:, 1]]], axis=2)
    off = np.linalg.norm(points[cells[:, corners:]] - middle, axis=2)
    odd = np.flatnonzero((off > 0.25 * length).any(axis=1))
    for first in range(0, len(odd), 4096):  # all distances at once would take much memory
        rows = odd[first : first + 4096]
        distance = np.linalg.norm(points[cells[rows, corners:]][:, None] - middle[rows][:, :, None], axis=3)
        nearest = distance.argmin(axis=2)
        one_each = (np.sort(nearest, axis=1) == np.arange(len(edges))).all(axis=1)
        good = rows[one_each]
        cells[good, corners:] = np.take_along_axis(cells[good, corners:], nearest[one_each], axis=1)
    return cells


def _edges(kind: str) -> dict[int, tuple[int, int]]:
    """Return mid-side node of a quadratic cell -> the corners of its edge."""
    edges = {}
    if DIMENSION[kind] == 2:
        return {nodes[2]: (nodes[0], nodes[1]) for _, nodes in FACETS[kind]}
    for _, nodes in FACETS[kind]:
        n = len(nodes) // 2
        for i in range(n):
            edges[nodes[n + i]] = (nodes[i], nodes[(i + 1) % n])
    return edges
