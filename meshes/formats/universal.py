"""Read universal files (.unv) of I-DEAS, as Salome, HyperMesh, Gmsh and measuring systems write them.

Read are nodes (datasets 15, 781, 2411), elements (780, 2412), groups (2417, 2429, 2430, 2432, 2435, 2452, 2467, 2477)
and Cartesian coordinate systems of nodes (2420).  Groups of nodes become node sets, those of elements cell sets.

Nodes of elements of second order stand around the edges, corner, middle, corner; the middles go behind the corners.

Source: Structural Dynamics Research Laboratory (University of Cincinnati), "Universal file datasets".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.formats.found import Found
from fem_mbs.meshes.formats.meshio_formats import settled
from fem_mbs.meshes.mesh import CellBlock, Mesh

__all__ = ["read_unv"]

_TRIANGLE, _TRIANGLE6 = ("triangle", 3), ("triangle6", 6)
_QUAD, _QUAD8 = ("quad", 4), ("quad8", 8)
#: Finite element descriptor -> meshio's name of the cell, number of nodes.
_CELLS: dict[int, tuple[str, int]] = {
    11: ("line", 2), 21: ("line", 2), 22: ("line", 2), 23: ("line3", 3), 24: ("line3", 3),
    **dict.fromkeys((41, 51, 61, 71, 81, 91), _TRIANGLE), **dict.fromkeys((42, 52, 62, 72, 82, 92), _TRIANGLE6),
    **dict.fromkeys((44, 54, 64, 74, 84, 94), _QUAD), **dict.fromkeys((45, 55, 65, 75, 85, 95), _QUAD8),
    111: ("tetra", 4), 112: ("wedge", 6), 113: ("wedge15", 15), 115: ("hexahedron", 8), 116: ("hexahedron20", 20),
    118: ("tetra10", 10), 161: ("vertex", 1),
}  # fmt: skip
#: Descriptors of beams, whose nodes stand on a line of their own.
_LONG = {22: ("line3", 3)}  # Salome's quadratic edges
_BEAMS = (11, 21, 22, 23, 24)
#: Where the nodes of our order stand in that of the file.
_ORDER: dict[str, tuple[int, ...]] = {
    "line3": (0, 2, 1),
    "triangle6": (0, 2, 4, 1, 3, 5),
    "quad8": (0, 2, 4, 6, 1, 3, 5, 7),
    "tetra10": (0, 2, 4, 9, 1, 3, 5, 6, 7, 8),
    "wedge15": (0, 2, 4, 9, 11, 13, 1, 3, 5, 10, 12, 14, 6, 7, 8),
    "hexahedron20": (0, 2, 4, 6, 12, 14, 16, 18, 1, 3, 5, 7, 13, 15, 17, 19, 8, 9, 10, 11),
}
_GROUPS = {2435: 4, 2452: 4, 2467: 4, 2477: 4, 2417: 2, 2429: 2, 2430: 2, 2432: 2}  # numbers per entity
_NODE, _ELEMENT = 7, 8  # codes of entities
_HARMLESS = (151, 164, 2448)  # header, units, ...


class _Lines:
    """The lines of a dataset, taken one after the other."""

    def __init__(self, where: str, number: int, lines: list[str], first: int) -> None:
        self.where, self.number, self.lines, self.first, self.at = where, number, lines, first, 0

    @property
    def left(self) -> bool:
        return self.at < len(self.lines)

    def text(self) -> str:
        if not self.left:
            raise MeshError(f"{self.where}: dataset {self.number} ends in line {self.first + self.at}; save it anew")
        self.at += 1
        return self.lines[self.at - 1]

    def whole(self, least: int) -> list[int]:
        return self._numbers(self.text(), least, int)

    def floats(self, least: int, skip: int = 0) -> list[float]:
        return self._numbers(self.text()[skip:].replace("D", "E").replace("d", "e"), least, float)

    def _numbers(self, text: str, least: int, kind: Callable) -> list:
        try:
            found = [kind(part) for part in text.split()]
        except ValueError:
            found = []
        if len(found) < least:
            raise MeshError(
                f"{self.where}, line {self.first + self.at - 1}: {text.strip()[:60]!r} of dataset {self.number} is not "
                f"a line of {least} numbers; save it anew"
            )
        return found


def _datasets(where: str, data: bytes) -> list[_Lines]:
    text = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    marks = [i for i, line in enumerate(text) if line.strip() == "-1"]
    if len(marks) < 2 or any(line.strip() for line in text[: marks[0]]):
        raise MeshError(f"{where}: not a universal file, it does not begin with -1; save it as I-DEAS universal (.unv)")
    if len(marks) % 2:
        raise MeshError(f"{where}: the dataset of line {marks[-1] + 1} has no end; the file may have been cut off")
    out = []
    for begin, end in zip(marks[::2], marks[1::2], strict=True):
        head = text[begin + 1].split() if begin + 1 < end else []
        if not head or not head[0].rstrip("bB").isdigit():
            raise MeshError(f"{where}, line {begin + 2}: a dataset begins with its number; save it anew")
        out.append(_Lines(where, int(head[0].rstrip("bB")), text[begin + 2 : end], begin + 3))
    return out


def read_unv(where: str, data: bytes, kinds: dict[str, str]) -> Mesh:
    """Read a universal file; ``kinds`` as in `fem_mbs.meshes.formats.found.Found`."""
    ids: list[int] = []
    systems_of: list[int] = []
    x: list[list[float]] = []
    systems: dict[int, tuple[int, np.ndarray]] = {}
    elements: dict[str, list[tuple[int, list[int]]]] = {}
    others: dict[int, list[int]] = {}
    groups: list[tuple[str, list[int], list[int]]] = []
    skipped: list[str] = []
    for dataset in _datasets(where, data):
        if dataset.number in (781, 2411):
            while dataset.left:
                head = dataset.whole(2)
                ids.append(head[0])
                systems_of.append(head[1])
                x.append(dataset.floats(3)[:3])
        elif dataset.number == 15:
            while dataset.left:
                row = dataset.floats(7)
                ids.append(int(row[0]))
                systems_of.append(int(row[1]))
                x.append(row[4:7])
        elif dataset.number in (780, 2412):
            _elements(dataset, elements, others)
        elif dataset.number == 2420:
            _systems(dataset, systems)
        elif dataset.number in _GROUPS:
            groups += _groups(dataset, skipped)
        elif dataset.number not in _HARMLESS:
            skipped.append(f"dataset {dataset.number}")
    if not ids:
        raise MeshError(f"{where}: holds no nodes (datasets 15, 781, 2411); save it anew")
    node_ids, points = np.array(ids, np.int64), np.array(x, float)
    if len(np.unique(node_ids)) < len(node_ids):
        twice = node_ids[np.sort(np.unique(node_ids, return_index=True)[1]).size :]
        raise MeshError(f"{where}: {len(twice)} nodes stand in it twice; save it anew")
    for number in np.unique(systems_of).tolist():
        points = _placed(where, points, np.array(systems_of) == number, number, systems)
    found = Found(where, "I-DEAS universal", points, node_ids, skipped, kinds)
    _check_groups(found, elements, others, groups)
    _blocks(found, elements, groups)
    for number, unread in others.items():
        found.others[f"universal type {number}"] += len(unread)
    return found.mesh()


def _elements(dataset: _Lines, elements: dict[str, list[tuple[int, list[int]]]], others: dict[int, list[int]]) -> None:
    """Read elements into lists by kind of cell, and the numbers of those of kinds that are not known."""
    while dataset.left:
        head = dataset.whole(6 if dataset.number == 2412 else 8)
        number, descriptor, count = head[0], head[1], head[5] if dataset.number == 2412 else head[7]
        if descriptor in _BEAMS:
            dataset.text()  # orientation node, cross sections
        nodes: list[int] = []
        while len(nodes) < count:
            nodes += dataset.whole(1)
        known = _LONG.get(descriptor) if count == 3 else None
        known = known or _CELLS.get(descriptor)
        if known is None or known[1] != count:
            others.setdefault(descriptor, []).append(number)
            continue
        elements.setdefault(known[0], []).append((number, nodes))


def _systems(dataset: _Lines, systems: dict[int, tuple[int, np.ndarray]]) -> None:
    """Read coordinate systems: type (0 Cartesian) and a matrix (4, 3): three axes in rows, and the origin."""
    dataset.text(), dataset.text()
    while dataset.left:
        number, kind = dataset.whole(2)[:2]
        dataset.text()
        systems[number] = kind, np.array([dataset.floats(3)[:3] for _ in range(4)])


def _placed(
    where: str, points: np.ndarray, mine: np.ndarray, number: int, systems: dict[int, tuple[int, np.ndarray]]
) -> np.ndarray:
    """Return points (n, 3) with those of a coordinate system in global axes."""
    kind, matrix = systems.get(number, (0, np.vstack((np.eye(3), np.zeros(3)))))
    if kind != 0:
        raise MeshError(
            f"{where}: nodes stand in the coordinate system {number}, which is not Cartesian; save it in global axes"
        )
    points = points.copy()
    points[mine] = points[mine] @ matrix[:3] + matrix[3]
    return points


def _groups(dataset: _Lines, skipped: list[str]) -> list[tuple[str, list[int], list[int]]]:
    """Return name, nodes and elements of the groups of a dataset."""
    out = []
    per = _GROUPS[dataset.number]
    while dataset.left:
        if not dataset.lines[dataset.at].strip():
            dataset.at += 1
            continue
        head = dataset.whole(2)
        count = head[-1]
        name = dataset.text().strip() or f"group_{head[0]}"
        values: list[int] = []
        while len(values) < per * count:
            values += dataset.whole(per)
        codes, tags = values[0 : per * count : per], values[1 : per * count : per]
        nodes = [tag for code, tag in zip(codes, tags, strict=True) if code == _NODE]
        cells = [tag for code, tag in zip(codes, tags, strict=True) if code == _ELEMENT]
        if len(nodes) + len(cells) < count:
            skipped.append(
                f'in the group "{name}": {count - len(nodes) - len(cells)} entries that are no node, element'
            )
        out.append((name, nodes, cells))
    return out


def _check_groups(
    found: Found, elements: dict[str, list[tuple[int, list[int]]]], others: dict[int, list[int]],
    groups: list[tuple[str, list[int], list[int]]],
) -> None:  # fmt: skip
    """Raise MeshError where a group names a node or an element that the file lacks."""
    numbers = {number for entries in elements.values() for number, _ in entries}
    numbers = numbers.union(*others.values())
    there = set(found.point_ids.tolist())
    for name, nodes, members in groups:
        for what, named, known in (("node", nodes, there), ("element", members, numbers)):
            missing = next((number for number in named if number not in known), None)
            if missing is not None:
                raise MeshError(
                    f'{found.where}: the group "{name}" names {what} {missing}, which is not there; save it anew'
                )


def _blocks(
    found: Found, elements: dict[str, list[tuple[int, list[int]]]], groups: list[tuple[str, list[int], list[int]]]
) -> None:
    """Enter cells and sets."""
    order = np.argsort(found.point_ids, kind="stable")
    ids = found.point_ids[order]
    block_of: dict[int, tuple[int, int]] = {}
    points_of: dict[int, int] = {}
    for kind, entries in elements.items():
        numbers = np.array([number for number, _ in entries], np.int64)
        odd = next((k for k, (_, nodes) in enumerate(entries) if len(nodes) != len(entries[0][1])), None)
        if odd is not None:
            raise MeshError(
                f"{found.where}: element {numbers[odd]} has {len(entries[odd][1])} nodes, others of its type "
                f"{len(entries[0][1])}; save it anew"
            )
        named = np.array([nodes for _, nodes in entries], np.int64)
        at = np.minimum(np.searchsorted(ids, named), len(ids) - 1)
        wrong = ids[at] != named
        if wrong.any():
            i, j = divmod(int(wrong.argmax()), named.shape[1])
            raise MeshError(
                f"{found.where}: element {numbers[i]} names node {named[i, j]}, which is not there; save it anew"
            )
        cells = order[at][:, list(_ORDER.get(kind, range(named.shape[1])))]
        if kind == "vertex":
            points_of |= dict(zip(numbers.tolist(), cells[:, 0].tolist(), strict=True))
        elif kind not in found.kinds:
            found.others[kind] += len(cells)
        else:
            block_of |= {number: (len(found.blocks), row) for row, number in enumerate(numbers.tolist())}
            cells = settled(found.kinds[kind], cells, found.points)
            found.blocks.append(CellBlock(found.kinds[kind], cells, numbers))
    for name, nodes, members in groups:
        at = np.minimum(np.searchsorted(ids, nodes), len(ids) - 1) if nodes else np.empty(0, np.int64)
        places = order[at[ids[at] == np.array(nodes, np.int64)]] if nodes else np.empty(0, np.int64)
        lone = [points_of[m] for m in members if m in points_of]
        if len(places) or lone:
            found.add_nodes(name, np.unique(np.concatenate((places, lone)).astype(np.int64)), "a group")
        rows = np.array([block_of[m] for m in members if m in block_of], np.int64).reshape(-1, 2)
        parts = [(int(b), rows[rows[:, 0] == b, 1]) for b in np.unique(rows[:, 0])]
        for dimension in sorted({DIMENSION[found.blocks[b].kind] for b, _ in parts}):
            found.add_cells(name, [p for p in parts if DIMENSION[found.blocks[p[0]].kind] == dimension], "a group")
        if not len(places) and not lone and not parts:
            found.skipped.append(f'group "{name}": nothing of it is used')
