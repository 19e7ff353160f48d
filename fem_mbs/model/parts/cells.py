"""Cells of meshes that parts stand on, and the parts that have them."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building

__all__ = ["cell_owners", "cell_runs"]


def cell_runs(building: Building, owner: str, on, dimension: int) -> list[tuple[str, int, str, np.ndarray]]:
    """Return cells that a part stands on: mesh, block, kind, cells in the block; none twice, none of another
    part."""
    runs = []
    for place in [on] if isinstance(on, str) else list(on):
        mesh, _, name = str(place).partition(":")
        part, _ = building.find("mesh", mesh, building.meshes, owner)
        found = part.cells_of(name or None, dimension)
        if not sum(len(cells) for _, cells in found):
            what = {2: "triangles or quadrilaterals", 3: "tetrahedra, hexahedra or wedges"}[dimension]
            raise ModelError(
                f'"{place}" has no {what}', owner=owner, remedy='read the mesh with cells = "all", or mesh the body'
            )
        runs += [(mesh, block, part.blocks[block].kind, np.asarray(cells)) for block, cells in found if len(cells)]
    for mesh, block, _, cells in runs:
        taken = cell_owners(building, mesh, block)
        if (taken[cells] >= 0).any():
            i = int(cells[np.argmax(taken[cells] >= 0)])
            number = building.meshes[mesh][0].blocks[block].ids[i]
            other = building.cell_groups[taken[i]].part
            raise ModelError(
                f'cell {number} of mesh "{mesh}" already belongs to "{other}"', owner=owner, remedy="keep one"
            )
    for mesh, block in {(m, b) for m, b, _, _ in runs}:
        cells = np.concatenate([c for m, b, _, c in runs if (m, b) == (mesh, block)])
        values, counts = np.unique(cells, return_counts=True)
        if (counts > 1).any():
            number = building.meshes[mesh][0].blocks[block].ids[values[np.argmax(counts > 1)]]
            raise ModelError(
                f'cell {number} of mesh "{mesh}" is named twice in on', owner=owner, remedy="keep one of the sets"
            )
    return runs


def cell_owners(building: Building, mesh: str, block: int) -> np.ndarray:
    """Return number of the group that each cell of a mesh's block belongs to, -1: none."""
    taken = np.full(len(building.meshes[mesh][0].blocks[block].cells), -1)
    for i, group in enumerate(building.cell_groups):
        taken[group.elements(mesh, block, len(taken)) >= 0] = i
    return taken
