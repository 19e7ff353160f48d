"""Write cells with fields as VTU files for ParaView: XML with the arrays as raw bytes at its end.

Written here and not by meshio, whose 5.3 knows no wedges of 15 nodes; it reads these files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from fem_mbs.meshes.cells import MIRRORED

__all__ = ["write_vtu"]

#: meshio's name of a cell -> VTK's number (vtkCellType.h)
_NUMBERS = {
    "vertex": 1,
    "line": 3,
    "triangle": 5,
    "quad": 9,
    "tetra": 10,
    "hexahedron": 12,
    "wedge": 13,
    "line3": 21,
    "triangle6": 22,
    "quad8": 23,
    "tetra10": 24,
    "hexahedron20": 25,
    "wedge15": 26,
}
#: VTK counts the triangles of wedges the other way round (vtkWedge.h), as meshio knows of linear ones; the faces and
#: the volume of vtkQuadraticWedge follow them.
_ORDER = {kind: MIRRORED[kind] for kind in ("wedge", "wedge15")}
_TYPES = {"f8": "Float64", "f4": "Float32", "i8": "Int64", "i4": "Int32", "u1": "UInt8"}


def write_vtu(
    path: str | Path,
    points: np.ndarray,
    cells: Sequence[tuple[str, np.ndarray]],
    point_data: Mapping[str, np.ndarray],
    cell_data: Mapping[str, Sequence[np.ndarray]],
) -> Path:
    """Write a VTU file; it appears under its name when it is whole.

    Args:
        points: (n, 3) [m].
        cells: cells of one kind each: meshio's name, numbers of points (m, k) in our order.
        point_data: name -> (n,) or (n, k).
        cell_data: name -> one array (m,) or (m, k) for each entry of cells.
    """
    target = Path(path)
    part = target.with_name(target.name + ".part")
    try:
        with part.open("wb") as stream:
            stream.writelines(_content(points, cells, point_data, cell_data))
        os.replace(part, target)
    except OSError as error:
        error.filename = error.filename or str(target)  # the error of a full disk names no file
        raise
    finally:
        part.unlink(missing_ok=True)
    return target


def _content(points, cells, point_data, cell_data) -> Iterator[bytes]:
    arrays: list[bytes] = []
    at = 0

    def entry(name: str, values) -> str:
        nonlocal at
        array = np.ascontiguousarray(values)
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        if kind not in _TYPES:
            array, kind = np.ascontiguousarray(array, float), "f8"
        raw = array.tobytes()
        columns = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
        text = f'<DataArray type="{_TYPES[kind]}" Name={quoteattr(name)}{columns} format="appended" offset="{at}"/>\n'
        arrays.append(np.uint64(len(raw)).tobytes() + raw)
        at += len(arrays[-1])
        return text

    connectivity = [np.asarray(own)[:, _ORDER.get(kind, slice(None))].ravel() for kind, own in cells]
    sizes = np.concatenate([np.full(len(own), np.shape(own)[1]) for _, own in cells])
    kinds = np.concatenate([np.full(len(own), _NUMBERS[kind], np.uint8) for kind, own in cells])
    order = "LittleEndian" if sys.byteorder == "little" else "BigEndian"
    head = [
        f'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="{order}" '
        f'header_type="UInt64">\n<UnstructuredGrid>\n'
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(kinds)}">\n<Points>\n',
        entry("Points", np.asarray(points, float)),
        "</Points>\n<Cells>\n",
        entry("connectivity", np.concatenate(connectivity).astype(np.int64)),
        entry("offsets", np.cumsum(sizes).astype(np.int64)),
        entry("types", kinds),
        "</Cells>\n<PointData>\n",
        *(entry(name, values) for name, values in point_data.items()),
        "</PointData>\n<CellData>\n",
        *(entry(name, np.concatenate(list(values))) for name, values in cell_data.items()),
        '</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_',
    ]
    yield "".join(head).encode()
    yield from arrays
    yield b"\n</AppendedData>\n</VTKFile>\n"
