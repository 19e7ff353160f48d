"""Exodus II files (Cubit, Sandia's codes, MOOSE): netCDF-3 through scipy, netCDF-4 (HDF5) through h5py.

meshio 5.3 needs the package netCDF4, drops element blocks' names, side sets and numbers, and keeps Exodus's order of
mid-side nodes, which is not ours; so this module reads the file itself.  Element blocks are cell sets, node sets node
sets, side sets facet sets.  The sides 1 and 2 of shells (SHELL; TRI in space) are their faces, along and against the
normal: these are cell sets, the second one called NAME@back; the sides 3, 4 ... are their edges, of a set with both
NAME@edges.  Names and orders:
Schoof & Yarberry, EXODUS II, SAND92-2137, section 4.8.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.files import check_hdf5
from fem_mbs.meshes.cells import DIMENSION, match_facets
from fem_mbs.meshes.formats.found import BACK, Found, need, quietly
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["read_exodus"]

# beginning of the element type, nodes -> our kind in meshio's words
_TYPES = {
    ("HEX", 8): "hexahedron", ("HEX", 20): "hexahedron20",
    ("TET", 4): "tetra", ("TET", 10): "tetra10",
    ("WED", 6): "wedge", ("WED", 15): "wedge15",
    ("QUA", 4): "quad", ("QUA", 8): "quad8", ("SHE", 4): "quad", ("SHE", 8): "quad8",
    ("SHE", 3): "triangle", ("SHE", 6): "triangle6", ("TRI", 3): "triangle", ("TRI", 6): "triangle6",
    **{(name, n): kind for name in ("BAR", "BEA", "TRU", "EDG") for n, kind in ((2, "line"), (3, "line3"))},
}  # fmt: skip
# our node -> Exodus's, where the order differs: there the upright edges come before the upper ones
_ORDER = {
    "hexahedron20": (*range(12), 16, 17, 18, 19, 12, 13, 14, 15),
    "wedge15": (*range(9), 12, 13, 14, 9, 10, 11),
}
# corner nodes of the sides 1, 2, ...
_SIDES = {
    "hexahedron": ((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7)),
    "tetra": ((0, 1, 3), (1, 2, 3), (0, 3, 2), (0, 2, 1)),
    "wedge": ((0, 1, 4, 3), (1, 2, 5, 4), (0, 3, 5, 2), (0, 2, 1), (3, 4, 5)),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
}
_SIDES |= {f"{kind}{n}": _SIDES[kind] for kind, n in (("tetra", 10), ("hexahedron", 20), ("wedge", 15))}
_SIDES |= {"triangle6": _SIDES["triangle"], "quad8": _SIDES["quad"]}


def _open(where: str, data: bytes) -> Mapping[str, tuple[np.ndarray, str]]:
    """Return variables of the file: values, and the attribute elem_type."""
    if data[:8] == b"\x89HDF\r\n\x1a\n":
        need("h5py", where, "Exodus (netCDF-4)")
        import h5py

        wrong = check_hdf5(where)
        if wrong:
            raise MeshError(f"{where}: cannot be read as HDF5: {wrong}; save it anew")

        def text(value):
            return value.decode("latin-1") if isinstance(value, bytes) else str(value)

        with h5py.File(where, "r") as file:
            return {
                name: (np.asarray(item[()]), text(item.attrs.get("elem_type", "")))
                for name, item in file.items()
                if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiuS"
            }
    if data[:3] == b"CDF" and data[3:4] in (b"\1", b"\2"):
        from scipy.io import netcdf_file

        with netcdf_file(where, "r", mmap=False) as file:
            found = {}
            for name, item in file.variables.items():
                kind = getattr(item, "elem_type", b"")
                kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
                found[name] = np.asarray(item.data), kind
            return found
    raise MeshError(f"{where}: not an Exodus file that can be read (netCDF 64-bit offset or HDF5); save it anew")


def _names(variables, key: str, count: int, default: str) -> list[str]:
    table = variables[key][0] if key in variables else np.zeros((0, 1), "S1")
    ids = variables[{"eb_names": "eb_prop1", "ns_names": "ns_prop1", "ss_names": "ss_prop1"}[key]][0] if (
        {"eb_names": "eb_prop1", "ns_names": "ns_prop1", "ss_names": "ss_prop1"}[key] in variables
    ) else np.arange(1, count + 1)  # fmt: skip
    result = []
    for i in range(count):
        said = b"".join(table[i].astype("S1")).decode("latin-1") if i < len(table) else ""
        said = said.partition("\0")[0].strip()
        result.append(said or f"{default}_{ids[i] if i < len(ids) else i + 1}")
    return result


def read_exodus(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read an Exodus file; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`."""
    mesh, _ = quietly(where, lambda: _read(where, data, kinds))
    return mesh


def _read(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    variables = _open(where, data)
    if "coord" in variables:
        points = variables["coord"][0].T
    else:
        columns = [variables[f"coord{c}"][0] for c in "xyz" if f"coord{c}" in variables]
        if not columns:
            raise MeshError(f"{where}: holds no coordinates, so it is no Exodus mesh; save it anew")
        points = np.column_stack(columns)
    in_space = points.shape[1] == 3
    points = np.hstack([points.astype(float), np.zeros((len(points), 3 - points.shape[1]))])
    node_ids = variables["node_num_map"][0] if "node_num_map" in variables else np.arange(1, len(points) + 1)
    found = Found(where, "Exodus II", points, node_ids.astype(np.int64), [], kinds)
    blocks = sorted(int(m[1]) for m in (re.fullmatch(r"connect(\d+)", name) for name in variables) if m)
    block_names = _names(variables, "eb_names", max(blocks, default=0), "block")
    total = sum(len(variables[f"connect{i}"][0]) for i in blocks)
    element_ids = np.arange(1, total + 1)
    for key in ("elem_num_map", "elem_map"):
        if key in variables and len(np.unique(variables[key][0])) == total:
            element_ids = variables[key][0].astype(np.int64)
            break
    place = np.full((2, total), -1)  # block and cell in the mesh
    shells: set[int] = set()
    start = 0
    for i in blocks:
        table, kind = variables[f"connect{i}"]
        cells = table.astype(np.int64) - 1
        n = len(cells)
        name = _TYPES.get((kind.strip().upper()[:3], cells.shape[1] if cells.ndim == 2 else 0), kind.strip().lower())
        if name in kinds:
            if name in _ORDER:
                cells = cells[:, _ORDER[name]]
            place[0, start : start + n], place[1, start : start + n] = len(found.blocks), np.arange(n)
            beginning = kind.strip().upper()[:3]
            if DIMENSION[kinds[name]] == 2 and (beginning == "SHE" or (beginning == "TRI" and in_space)):
                shells.add(len(found.blocks))
            found.blocks.append(CellBlock(kinds[name], cells, element_ids[start : start + n]))
            found.add_cells(block_names[i - 1], [(len(found.blocks) - 1, np.arange(n))], f"element block {i}")
        else:
            found.others[name] += n
        start += n
    sets = sorted(int(m[1]) for m in (re.fullmatch(r"node_ns(\d+)", name) for name in variables) if m)
    for i in sets:
        name = _names(variables, "ns_names", max(sets), "nodes")[i - 1]
        nodes = np.unique(variables[f"node_ns{i}"][0].astype(np.int64) - 1)
        _check_numbers(where, f'node set "{name}"', "node", nodes, len(points))
        found.add_nodes(name, nodes, f"node set {i}")
    sides = sorted(int(m[1]) for m in (re.fullmatch(r"elem_ss(\d+)", name) for name in variables) if m)
    names = _names(variables, "ss_names", max(sides, default=0), "sides")
    extra = {}
    for i in sides:
        element = variables[f"elem_ss{i}"][0].astype(np.int64) - 1
        _check_numbers(where, f'side set "{names[i - 1]}"', "element", element, total)
        side = variables[f"side_ss{i}"][0].astype(np.int64) - 1
        facets, faces = _side_set(found, place[:, element], side, shells)
        # (the nodes of a name are those of its element block)
        name = names[i - 1] + ("@sides" if names[i - 1] in found.cell_sets else "")
        for suffix, parts in faces.items():
            if parts:
                found.add_cells(f"{name}{suffix}", parts, f"side set {i}")
        if facets:
            extra[name + ("@edges" if faces[""] else "")] = facets
        read = sum(len(f[1]) for f in facets) + sum(len(c[1]) for parts in faces.values() for c in parts)
        if len(element) > read:
            found.skipped.append(f'side set "{names[i - 1]}": sides of elements that are not read')
    found.sides = extra
    return found.mesh()


def _check_numbers(where: str, owner: str, what: str, places: np.ndarray, count: int) -> None:
    """Raise MeshError where a set names a node or an element (from 0 here, from 1 in the file) that the file lacks."""
    wrong = (places < 0) | (places >= count)
    if wrong.any():
        raise MeshError(f"{where}: the {owner} names {what} {places[wrong][0] + 1} of {count}; save it anew")


def _side_set(
    found: Found, place: np.ndarray, side: np.ndarray, shells: Container[int]
) -> tuple[list[tuple[int, np.ndarray, np.ndarray]], dict[str, list[tuple[int, np.ndarray]]]]:
    """Return our numbers of sides: their corners, looked up among the facets of the same cells; and the cells of
    ``shells`` (numbers of blocks) whose faces are named, by what their side adds to the name of the set."""
    result = []
    faces: dict[str, list[tuple[int, np.ndarray]]] = {"": [], BACK: []}
    for block in np.unique(place[0][place[0] >= 0]):
        kind, cells = found.blocks[block].kind, found.blocks[block].cells
        table = _SIDES.get(kind)
        if table is None or DIMENSION[kind] == 1:
            continue
        if block in shells:
            for number, suffix in enumerate(faces):
                mine = place[1, (place[0] == block) & (side == number)]
                if len(mine):
                    faces[suffix].append((int(block), mine))
        for number, local in enumerate(table, len(faces) if block in shells else 0):
            mine = place[1, (place[0] == block) & (side == number)]
            if len(mine):
                # which facet has these corners does not depend on the cell: ask the first
                one = [(0, kind, cells[mine[:1]])]
                facet = match_facets(one, cells[mine[:1]][:, local])[2][0]
                result.append((int(block), mine, np.full(len(mine), facet)))
    return result, faces
