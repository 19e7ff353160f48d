"""A mesh format in one file, as a package beside fem-mbs would add one: a chain of points, one per line."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.formats.found import Found
from fem_mbs.meshes.formats.reader import MeshFormat, register_format
from fem_mbs.meshes.mesh import CellBlock, Mesh


def read_chain(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read lines "x y z"; consecutive points are joined by line cells, the first is the set "start"."""
    try:
        points = np.array([[float(word) for word in line.split()] for line in data.decode().splitlines() if line])
    except ValueError as error:
        raise MeshError(f"{where}: {error}; write three numbers per line") from None
    n = len(points)
    found = Found(where=where, format="chain", points=points, point_ids=np.arange(1, n + 1), skipped=[], kinds=kinds)
    cells = np.column_stack((np.arange(n - 1), np.arange(1, n)))
    found.blocks.append(CellBlock("line2", cells, np.arange(1, n)))
    found.add_nodes("start", np.array([0]), "first line")
    return found.mesh()


FORMAT = MeshFormat((".chain",), "chain", "points, one per line", read_chain)

register_format(FORMAT)
