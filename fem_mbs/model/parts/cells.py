"""Cells of meshes that parts stand on, and the parts that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fem_mbs.elements.registry import element_type
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import CELL_KINDS, DIMENSION, dimension_of
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.building import Building
from fem_mbs.system.blocks import Block

__all__ = ["MANY", "KindOfCells", "add_block", "add_rows", "cell_owners", "cell_runs", "kinds_of_cells"]

Run = tuple[str, int, str, np.ndarray]


#: Elements of one kind of a part from which on their parameters are made when they are needed: a model that several
#: processes share out never has them all.
MANY = 1 << 14
_AT_ONCE = 1 << 16  # cells that are compared at a time, for the memory


@dataclass(frozen=True, eq=False)
class KindOfCells:
    """The cells of one kind that a part stands on.

    Attributes:
        kind: "hexahedron", "tri" ...
        name: of the part; of a part with several kinds followed by the kind.
        where: (n,) their numbers among all cells of the part.
        nodes: (n, k) of the model.
        ids: (n,) their numbers in the meshes.
        places: mesh, block, cells in the block and the first of them in this group, for each run.
    """

    kind: str
    name: str
    where: np.ndarray
    nodes: np.ndarray
    ids: np.ndarray
    places: list[tuple[str, int, np.ndarray, int]]


def kinds_of_cells(building: Building, word: str, name: str, runs: Sequence[Run]) -> Iterator[KindOfCells]:
    """Yield the cells of a part, runs of `cell_runs`, kind by kind; ``word`` is what messages call a part.

    Raises:
        ModelError: the name of a group is taken.
    """
    first = np.concatenate(([0], np.cumsum([len(cells) for *_, cells in runs])))
    kinds = list(dict.fromkeys(kind for _, _, kind, _ in runs))
    for kind in kinds:
        label = name if len(kinds) == 1 else f"{name} {kind}"
        if label != name:
            building.label(word, label)
        mine = [i for i, run in enumerate(runs) if run[2] == kind]
        where = np.concatenate([np.arange(first[i], first[i + 1]) for i in mine])
        nodes, ids, places, at = [], [], [], 0
        for mesh, block, _, cells in (runs[i] for i in mine):
            part, start = building.meshes[mesh]
            nodes.append(_picked(part.blocks[block].cells, cells, start))
            ids.append(_picked(part.blocks[block].ids, cells))
            places.append((mesh, block, cells, at))
            at += len(cells)
        yield KindOfCells(kind, label, where, _joined(nodes), _joined(ids), places)


def _picked(table: np.ndarray, cells: np.ndarray, start: int = 0) -> np.ndarray:
    """Return ``start`` plus the rows of some cells; all of many as they are, read-only as the mesh has them."""
    if start == 0 and MANY <= len(cells) == len(table) and np.array_equal(cells, np.arange(len(table))):
        return table
    return start + table[cells]


def _joined(tables: list[np.ndarray]) -> np.ndarray:
    return tables[0] if len(tables) == 1 else np.concatenate(tables)


def add_rows(
    building: Building, label: str, type_name: str, nodes: np.ndarray, rows: Callable[[np.ndarray], np.ndarray],
    damping: float,
) -> None:  # fmt: skip
    """Add a block with what makes its parameters (`Block.rows`); of few elements they are made at once.

    ``damping``: that of all elements, by which analyses know without parameters whether the block damps.
    """
    if len(nodes) < MANY:
        add_block(building, label, type_name, nodes, rows(np.arange(len(nodes))))
        return
    made = Block([(label, 0, len(nodes))], element_type(type_name), nodes, None, rows=rows, lossy=damping != 0.0)  # type: ignore[arg-type]
    building.blocks.append(made)


def add_block(building: Building, label: str, type_name: str, nodes: np.ndarray, par: np.ndarray) -> None:
    """Add a block of one group with its parameters."""
    building.blocks.append(Block([(label, 0, len(nodes))], element_type(type_name), nodes, par))


def cell_runs(building: Building, owner: str, on, dimension: int) -> list[Run]:
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
        _check_whole(part, str(place), name, dimension, owner)
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
    _check_doubled(building, owner, runs)
    return runs


def _check_whole(mesh: Mesh, place: str, name: str, dimension: int, owner: str) -> None:
    """Raise ModelError if a mesh file has cells of a part that no element knows: they would be holes in it."""
    missing = {kind: n for kind, n in mesh.lost.get(name, {}).items() if dimension_of(kind) == dimension}
    if missing:
        listed = ", ".join(f"{n} of the kind {kind}" for kind, n in missing.items())
        raise ModelError(
            f'"{place}" has cells that no element knows, and would have holes there: {listed}', owner=owner, key="on",
            value=place, remedy=f"mesh it with {', '.join(k for k in CELL_KINDS if DIMENSION[k] == dimension)} "
            "(Gmsh makes these of second order with Mesh.SecondOrderIncomplete = 1), or name sets without such cells",
        )  # fmt: skip


def _check_doubled(building: Building, owner: str, runs: list[Run]) -> None:
    """Raise ModelError if two cells of a part have the same nodes: the part would be there twice."""
    numbers = np.random.default_rng(0).integers(0, 2**63, building.n_nodes, np.uint64)
    for kind in dict.fromkeys(run[2] for run in runs):
        found = []
        for mesh, b, other, cells in runs:
            part, start = building.meshes[mesh]
            block = part.blocks[b]
            for k in range(0, len(cells) if other == kind else 0, _AT_ONCE):
                own = cells[k : k + _AT_ONCE]
                found.append((mesh, block.ids[own], numbers[start + block.cells[own]].sum(axis=1)))
        # cells whose nodes have the same sum of random numbers of 63 bits have the same nodes
        sums = np.concatenate([own for *_, own in found])
        order = np.argsort(sums, kind="stable")
        same = np.flatnonzero(np.diff(sums[order]) == 0)
        if len(same):
            names = [(mesh, number) for mesh, ids, _ in found for number in ids.tolist()]
            (mesh, first), (_, second) = (names[order[k]] for k in (same[0], same[0] + 1))
            raise ModelError(
                f'cells {first} and {second} of mesh "{mesh}" have the same nodes, the part would be there twice',
                owner=owner, key="on", remedy="remove one, or put them into parts of their own",
            )  # fmt: skip


def cell_owners(building: Building, mesh: str, block: int) -> np.ndarray:
    """Return number of the group that each cell of a mesh's block belongs to, -1: none."""
    taken = np.full(len(building.meshes[mesh][0].blocks[block].cells), -1)
    for i, group in enumerate(building.cell_groups):
        taken[group.elements(mesh, block, len(taken)) >= 0] = i
    return taken
