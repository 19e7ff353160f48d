"""Write the XDMF files through which ParaView reads a result: XML that refers to the HDF5 files.

One file per step: ParaView's XDMF reader merges the times of all collections in a file without sorting them, and keeps
arrays of the grids it read before, so that a mode of the second step would show stresses of the first one. A file
holds one temporal collection; in it, per frame, one grid per block of elements and one of vertices for the rigid
bodies, all on the reference positions of all nodes. Node quantities (displacement, rotation, velocity) are vectors at
the points: "Warp By Vector" with the displacement shows the motion. Element quantities are cell data, on the grid of
their block only, and so are stresses at the nodes, which jump from part to part (`fem_mbs.results.fields`): tensors in
the order xx, yy, zz, xy, yz, zx, which is ParaView's.

Cells have the node order of Abaqus, meshio and VTK. VTK counts the triangles of wedges the other way round; its XDMF
reader takes them as they come, so their surface normals point inwards there, and integrals over them are negative.

Frames are complete datasets, or parts of one (hyperslabs) where a step has thousands of them or still goes on
(`fem_mbs.results.datasets`).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fem_mbs.files import file_word
from fem_mbs.results import store
from fem_mbs.results.fields import cell_kind, is_nodal, owner_of, split_key
from fem_mbs.results.folder import take
from fem_mbs.units import Units

__all__ = ["write_xdmf"]

# Cells by the names meshio uses -> XDMF topology; all others are polylines.  Xdmf 2 has two names for cells of
# second order; Xdmf 3 knows the long one only, and ends ParaView at the other.
_TOPOLOGY = {
    "vertex": "Polyvertex",
    "line3": "Edge_3",
    "triangle": "Triangle",
    "triangle6": "Triangle_6",
    "quad": "Quadrilateral",
    "quad8": "Quadrilateral_8",
    "tetra": "Tetrahedron",
    "tetra10": "Tetrahedron_10",
    "wedge": "Wedge",
    "wedge15": "Wedge_15",
    "hexahedron": "Hexahedron",
    "hexahedron20": "Hexahedron_20",
}


#: Name, XML of topology and geometry, block name and cell count of a grid.
_Grid: TypeAlias = tuple[str, str, str, int]


def _number(dtype: np.dtype) -> str:
    kind = {"f": "Float", "i": "Int", "u": "UInt", "b": "Char"}[dtype.kind]
    return f'NumberType="{kind}" Precision="{dtype.itemsize}"'


def _quoted(text: str) -> str:
    """Return a text as the value of an attribute; `xml.sax.saxutils` would load what opens addresses of the web."""
    return f'"{escape(text)}"'


class _Column:
    """A quantity of the frames of a step: shape of its rows, its name in ParaView, and the XML of the values."""

    def __init__(self, label: str, parts: list[store.Part], root: Path) -> None:
        self.label, self._parts, self._root = label, parts, root
        self.tail, self._dtype, _ = store.layout_of(parts[0])

    def attributes(self, center: str) -> Iterator[str]:
        """Yield the XML of the values at each frame."""
        components = self.tail[1] if len(self.tail) == 2 else 1
        kind = {1: "Scalar", 3: "Vector"}.get(components, "Matrix")
        # Xdmf 2 takes all sizes after the first for components only where there are three of them.
        sizes = (self.tail[0], 1, components) if kind == "Matrix" else self.tail
        shape = " ".join(str(size) for size in sizes)
        number_type = _number(self._dtype)
        begin = f'     <Attribute Name={_quoted(self.label)} AttributeType="{kind}" Center="{center}">\n'
        end = "</DataItem>\n     </Attribute>\n"
        for path, group, rows in self._parts:
            place = f"{Path(os.path.relpath(path, self._root)).as_posix()}:{group}"
            if store.layout_of((path, group, rows))[2]:
                before = f'{begin}      <DataItem Dimensions="{shape}" {number_type} Format="HDF">{place}/'
                yield from (f"{before}{number:08d}{end}" for number in range(rows))
                continue
            whole = " ".join(str(size) for size in (rows, *self.tail))
            zeros, ones = (" ".join([digit] * len(self.tail)) for digit in "01")
            count = " ".join(str(size) for size in self.tail)
            before = (
                f'{begin}      <DataItem ItemType="HyperSlab" Dimensions="{shape}">\n'
                f'       <DataItem Dimensions="3 {1 + len(self.tail)}" NumberType="Int" Format="XML">'
            )
            after = (
                f" {zeros} 1 {ones} 1 {count}</DataItem>\n"
                f'       <DataItem Dimensions="{whole}" {number_type} Format="HDF">{place}</DataItem>\n      {end}'
            )
            yield from (f"{before}{number}{after}" for number in range(rows))


def _grids(header: dict[str, Any], source: str) -> list[_Grid]:
    """Return all grids; ``source`` is the file of the header."""
    nodes = header["nodes"]
    number = _number(nodes.dtype)
    geometry = (
        f'     <Geometry GeometryType="XYZ">\n'
        f'      <DataItem Dimensions="{len(nodes)} 3" {number} Format="HDF">{source}:/header/nodes</DataItem>\n'
        f"     </Geometry>\n"
    )
    grids = []
    blocks = [(b["name"], b, f"/header/blocks/{k}/connectivity") for k, b in enumerate(header["blocks"])]
    bodies = {"connectivity": header["body_nodes"]}
    for name, block, dataset in [*blocks, ("bodies", bodies, "/header/body_nodes")]:
        connectivity = block["connectivity"]
        cells, size = connectivity.shape
        if cells == 0:
            continue
        kind = _TOPOLOGY.get(cell_kind(block), "Polyline")
        per_element = f' NodesPerElement="{size}"' if kind in ("Polyvertex", "Polyline") else ""
        topology = (
            f'     <Topology TopologyType="{kind}"{per_element} NumberOfElements="{cells}">\n'
            f'      <DataItem Dimensions="{cells} {size}" {_number(connectivity.dtype)} Format="HDF">{source}:{dataset}'
            f"</DataItem>\n     </Topology>\n"
        )
        grids.append((name, topology + geometry, name if dataset != "/header/body_nodes" else "", cells))
    return grids


def _text(
    number: int, entry: store.StepEntry, times: list[float], header: dict[str, Any], grids: list[_Grid], root: Path
) -> Iterator[str]:
    """Yield the XML file of a step, which has at least one frame."""
    columns = store.columns_of(entry, "frames")
    n_nodes = len(header["nodes"])
    cells_of = {block: cells for _, _, block, cells in grids}
    region_of = {block["name"]: block.get("region") for block in header["blocks"]}
    fields = {field["name"] for field in header.get("fields", [])}
    base = Units.of_header(header).told(base=True)
    at_nodes: list[Any] = []
    in_blocks: dict[Any, list[Any]] = {name: [] for _, _, name, _ in grids}
    fields_of: dict[str, list[_Column]] = {name: [] for name in in_blocks}
    for name, parts in columns.items():
        owner = owner_of(name, filter(None, in_blocks))
        label, region = split_key(name) if owner is None else (name[len(owner) + 1 :], None)
        field = owner is None and label in fields
        column = _Column(base.label(label if owner or field else name), parts, root)
        if not 1 <= len(column.tail) <= 2:
            continue
        if owner is not None and column.tail[0] == cells_of[owner]:
            in_blocks[owner].append(column)
        elif owner is None and is_nodal(name, (0, *column.tail), n_nodes) and not field:
            at_nodes.append(column)
        elif owner is None and column.tail[0] == n_nodes:
            for block in in_blocks:
                if region_of.get(block) == region:
                    fields_of[block].append(column)
    step_name = _quoted(f"{number + 1} {entry.name}")
    yield '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>\n'
    yield '<Xdmf Version="3.0">\n <Domain>\n'
    yield f'  <Grid Name={step_name} GridType="Collection" CollectionType="Temporal">\n'
    drawn = []  # per grid: its beginning, and the values of all frames
    for name, shape, block, _ in grids:
        values = [column.attributes("Node") for column in [*at_nodes, *fields_of[block]]]
        values += [column.attributes("Cell") for column in in_blocks[block]]
        drawn.append((f'    <Grid Name={_quoted(name)} GridType="Uniform">\n{shape}', values))
    for time in times:
        yield f'   <Grid Name={step_name} GridType="Collection" CollectionType="Spatial">\n'
        yield f'    <Time Value="{time!r}"/>\n'
        for begin, values in drawn:
            yield begin
            yield from map(next, values)
            yield "    </Grid>\n"
        yield "   </Grid>\n"
    yield "  </Grid>\n </Domain>\n</Xdmf>\n"


def _times(columns: dict[str, list[store.Part]]) -> list[float]:
    """Return the times of the frames of a step; numbers of the frames, from 0, if the times do not increase.

    Load factors of a path that turns back do not, nor do the two states at the time of an impact.
    """
    times: list[float] = []
    for path, group, _ in columns["time"]:
        with store.open_file(path) as file:
            times += file[group][()].tolist()
    if all(later > earlier for earlier, later in itertools.pairwise(times)):
        return times
    return [float(number) for number in range(len(times))]


@store.kept_open()
def write_xdmf(index: store.StoreIndex, header: dict[str, Any], directory: Path) -> list[Path]:
    """Write the XDMF files of all frames that `index` holds into the folder of the results; return their paths.

    The file is results.xdmf if frames of one step are there, else results-<number>-<step>.xdmf for each step.
    """
    grids = _grids(header, Path(os.path.relpath(index.header_path, directory)).as_posix())
    times_of = {}
    for number, entry in enumerate(index.steps):
        columns = store.columns_of(entry, "frames")
        if columns and grids:
            times_of[number] = _times(columns)
    single = directory / store.XDMF
    if len(times_of) == 1:
        paths = dict.fromkeys(times_of, single)
    else:
        names = {number: f"{number + 1}-{file_word(index.steps[number].name)}" for number in times_of}
        paths = {number: single.with_name(f"{single.stem}-{name}{single.suffix}") for number, name in names.items()}
    take(directory, [single, *paths.values()])
    if single not in paths.values():
        single.unlink(missing_ok=True)  # of the time when the run had come to one step only
    for number, path in paths.items():
        store.write_atomic(path, _text(number, index.steps[number], times_of[number], header, grids, directory))
    return list(paths.values())
