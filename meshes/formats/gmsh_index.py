"""Read what meshio omits from a Gmsh .msh file: numbers, physical groups; and check that its sections are complete.

meshio 5.3 reads coordinates and connectivity well.  Around them it loses or mangles what users rely on, as seen on
files that Gmsh 4.15 wrote:

- the name table is keyed by the name alone: of a point group and a line group with one name, one vanishes;
- of an entity in several groups only the first survives in ``gmsh:physical``; groups without a name are in no set;
- 2.2 writes a cell once per group, so "all lines" counts cells in two groups twice;
- 4.1 files with groups on some entities only, and partitioned ones, end in ValueError or KeyError;
- node and element numbers are dropped: a number used twice, a cell that names a missing node, or more rows than
  announced give a wrong mesh without a word, and a huge node number allocates a table of that size.

So this module walks the sections, checks that each holds what it announces, and returns numbers and groups; the reader
gives meshio a copy reduced to nodes and elements that passed.  Format: https://gmsh.info/doc/texinfo/gmsh.html#File-formats
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import NoReturn

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass

__all__ = ["CELL_TYPES", "GmshIndex", "read_index"]

# Gmsh element type: (meshio name, nodes, dimension)
CELL_TYPES = {
    1: ("line", 2, 1),
    2: ("triangle", 3, 2),
    3: ("quad", 4, 2),
    4: ("tetra", 4, 3),
    5: ("hexahedron", 8, 3),
    6: ("wedge", 6, 3),
    7: ("pyramid", 5, 3),
    8: ("line3", 3, 1),
    9: ("triangle6", 6, 2),
    10: ("quad9", 9, 2),
    11: ("tetra10", 10, 3),
    12: ("hexahedron27", 27, 3),
    13: ("wedge18", 18, 3),
    14: ("pyramid14", 14, 3),
    15: ("vertex", 1, 0),
    16: ("quad8", 8, 2),
    17: ("hexahedron20", 20, 3),
    18: ("wedge15", 15, 3),
    19: ("pyramid13", 13, 3),
    21: ("triangle10", 10, 2),
    23: ("triangle15", 15, 2),
    25: ("triangle21", 21, 2),
    26: ("line4", 4, 1),
    27: ("line5", 5, 1),
    28: ("line6", 6, 1),
    29: ("tetra20", 20, 3),
    30: ("tetra35", 35, 3),
    31: ("tetra56", 56, 3),
    36: ("quad16", 16, 2),
    37: ("quad25", 25, 2),
    38: ("quad36", 36, 2),
    92: ("hexahedron64", 64, 3),
    93: ("hexahedron125", 125, 3),
}

_ONCE = ("MeshFormat", "PhysicalNames", "Entities", "PartitionedEntities", "Nodes", "Elements")
_NOT_READ = {
    "Periodic": "periodic links ($Periodic)",
    "NodeData": "a field of node values ($NodeData)",
    "ElementData": "a field of cell values ($ElementData)",
    "ElementNodeData": "a field of cell node values ($ElementNodeData)",
    "GhostElements": "ghost cells ($GhostElements)",
    "Parametrizations": "parametrizations ($Parametrizations)",
    "InterpolationScheme": "an interpolation scheme ($InterpolationScheme)",
}
_CONVERT = "gmsh old.msh -save -format msh41 -o new.msh"
_LARGEST_NUMBER = 10_000_000


@dataclass
class GmshIndex:
    """Numbers and groups of a .msh file whose sections are whole.

    node_ids   (n,) int64 in the order of the file
    cell_ids   (m,) int64 in the order of the file, all types
    cell_types (m,) int64, keys of CELL_TYPES
    entities   (m,) int64, tag of the geometric entity (0: none)
    backward   (m,) bool, cells only in groups that use their curve backwards (negative tag; 2.2 files come reversed)
    groups     (dimension, tag) -> indices of its cells, in the order of the file
    names      (dimension, tag) -> name
    skipped    sentences on what is not used
    reduced    bytes of the file with only its format, nodes and elements
    """

    version: str
    binary: bool
    node_ids: np.ndarray
    cell_ids: np.ndarray
    cell_types: np.ndarray
    entities: np.ndarray
    backward: np.ndarray
    groups: dict[tuple[int, int], np.ndarray]
    names: dict[tuple[int, int], str]
    skipped: list[str]
    reduced: bytes = field(repr=False)


def read_index(data: bytes, where: str) -> GmshIndex:
    """Walk the bytes of a .msh file; ``where`` (its path) opens every message.  Raises MeshError."""
    sections = _sections(data, where)
    version, binary, size = _format(sections, where)
    for needed in ("Nodes", "Elements"):
        if needed not in sections:
            raise MeshError(
                f"{where}: no ${needed} section; save the mesh, not only the geometry (Gmsh: File > Save Mesh)"
            )

    def cursor(name: str) -> _Cursor:
        return _Cursor(sections[name][0].content, binary, size, f"{where}: section ${name}")

    names = _names(sections, where)
    if version == "2.2":
        node_ids = _nodes_22(cursor("Nodes"))
        if binary and not np.array_equal(node_ids, np.arange(1, len(node_ids) + 1)):
            # meshio refuses these
            raise MeshError(f"{where}: binary format 2.2 with gaps in the node numbers; convert it: {_CONVERT}")
        rows = (_rows_22_binary if binary else _rows_22_ascii)(cursor("Elements"))
    else:
        entities: dict[tuple[int, int], list[int]] | None = None
        # Cells of a partitioned mesh refer to its partitioned entities, which number anew
        for name in ("PartitionedEntities", "Entities"):
            if name in sections and entities is None:
                entities = _entities(cursor(name), partitioned=name == "PartitionedEntities")
        node_ids = _nodes_41(cursor("Nodes"))
        rows = _rows_41(cursor("Elements"), entities)
    _check_numbers(node_ids, where)
    rows.check_nodes(node_ids, where)

    skipped = []
    if rows.partitioned or "PartitionedEntities" in sections:
        skipped.append("the partition numbers of the cells")
    for name, found in sections.items():
        if name in _NOT_READ:
            skipped.append(_NOT_READ[name] + (f", {len(found)} times" if len(found) > 1 else ""))
        elif name not in _ONCE and name != "Comments":
            skipped.append(f"the section ${name}")
    return GmshIndex(
        version=version,
        binary=binary,
        node_ids=node_ids,
        cell_ids=_joined(rows.ids),
        cell_types=_joined(rows.types),
        entities=_joined(rows.entities),
        backward=_joined(rows.backward).astype(bool),
        groups={key: np.unique(_joined(parts)) for key, parts in rows.groups.items()},
        names=names,
        skipped=skipped,
        reduced=b"".join(sections[name][0].whole for name in ("MeshFormat", "Nodes", "Elements")),
    )


# ---- sections --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    content: bytes  # between the line $Name and the line $EndName
    whole: bytes  # with both


_BLANK = re.compile(rb"\s*")


def _next(data: bytes, at: int) -> int:
    """Return the place of the first byte from ``at`` on that is no white space."""
    found = _BLANK.match(data, at)
    return found.end() if found else at


def _sections(data: bytes, where: str) -> dict[str, list[_Section]]:
    """Return sections by name, in the order of the file."""
    sections: dict[str, list[_Section]] = {}
    header = re.compile(rb"\$([A-Za-z][A-Za-z0-9_]*)[ \t\r]*\n")
    at = _next(data, 0)
    while at < len(data):
        found = header.match(data, at)
        if not found:
            line = data.count(b"\n", 0, at) + 1
            raise MeshError(
                f"{where}: line {line} is {_shown(data[at:])} where a $Section should begin; save it anew in Gmsh"
            )
        name = found[1].decode()
        start = found.end()
        # from the line break on, so that an empty section is found too
        end = re.compile(rb"\n\$End" + found[1] + rb"[ \t\r]*(?:\n|\Z)").search(data, start - 1)
        if not end:
            raise MeshError(f"{where}: section ${name} has no $End{name}: the file is cut off; save it anew")
        if name in sections and name in _ONCE:
            raise MeshError(f"{where}: section ${name} comes twice; merge the files in Gmsh and save one")
        content = data[start : max(start, end.start())]
        sections.setdefault(name, []).append(_Section(content, data[at : end.end()].rstrip(b"\r\n") + b"\n"))
        at = _next(data, end.end())
    return sections


def _shown(data: bytes) -> str:
    """Return the beginning of some bytes, fit for a message."""
    return repr(data.split(b"\n", 1)[0][:40].decode("ascii", "replace").rstrip())


def _format(sections: dict[str, list[_Section]], where: str) -> tuple[str, bool, int]:
    """Return version, binary or not, and bytes per size_t."""
    if "MeshFormat" not in sections:
        old = " (Gmsh 1 files begin with $NOD)" if "NOD" in sections else ""
        raise MeshError(f"{where}: no $MeshFormat section{old}; save it from Gmsh as version 4.1 or 2.2")
    line, _, rest = sections["MeshFormat"][0].content.partition(b"\n")
    words = line.split()
    if len(words) != 3 or words[1] not in (b"0", b"1") or words[2] not in (b"4", b"8"):
        raise MeshError(f'{where}: $MeshFormat is {_shown(line)}, not like "4.1 0 8"; save it anew in Gmsh')
    version = {b"2": "2.2", b"2.2": "2.2", b"4.1": "4.1"}.get(words[0])
    if version is None:
        given = words[0][:10].decode("ascii", "replace")
        raise MeshError(f"{where}: Gmsh format {given}; 2.2 and 4.1 are read. Convert it: {_CONVERT}")
    binary = words[1] == b"1"
    if binary and rest[:4] != np.int32(1).tobytes():
        raise MeshError(f"{where}: binary file of the other byte order; convert it to ASCII where it was written")
    return version, binary, int(words[2])


def _names(sections: dict[str, list[_Section]], where: str) -> dict[tuple[int, int], str]:
    """Return (dimension, tag) -> name of the physical groups.  Gmsh does not escape quotes in names: the outer two
    count."""
    if "PhysicalNames" not in sections:
        return {}
    lines = [line for line in sections["PhysicalNames"][0].content.split(b"\n") if line.strip()]
    names: dict[tuple[int, int], str] = {}
    for line in lines[1:]:
        found = re.fullmatch(rb'\s*([0-3])\s+(-?\d{1,9})\s+"(.*)"\s*', line)
        if not found:
            raise MeshError(f'{where}: {_shown(line)} in $PhysicalNames is not like: 1 2 "name"')
        try:
            name = found[3].decode("utf-8")
        except UnicodeDecodeError:
            name = found[3].decode("latin-1")  # files of old editors
        key = (int(found[1]), abs(int(found[2])))
        if key in names:
            raise MeshError(
                f"{where}: physical group {key[1]} of dimension {key[0]} has two names: {names[key]!r}, {name!r}"
            )
        if name:
            names[key] = name
    if not lines or lines[0].strip() != str(len(lines) - 1).encode():
        count = _shown(lines[0]) if lines else "nothing"
        raise MeshError(
            f"{where}: $PhysicalNames announces {count} and holds {max(len(lines) - 1, 0)} names; mend the file"
        )
    return names


class _Cursor:
    """Numbers of one section in turn, from text or from bytes; every count is checked before it is believed."""

    def __init__(self, content: bytes, binary: bool, size: int, where: str):
        self.content = content
        self.binary = binary
        self.where = where
        self._unsigned = np.dtype(f"u{size}")
        self._words = [] if binary else content.split()
        self._at = 0

    def fail(self, text: str) -> NoReturn:
        raise MeshError(f"{self.where} {text}")

    def skip(self, n: int, width: int) -> int:
        """Return step over n numbers (of so many bytes in a binary file); the place where they begin."""
        start, step = self._at, n * (width if self.binary else 1)
        total = len(self.content) if self.binary else len(self._words)
        if n < 0 or start + step > total:
            self.fail("holds fewer numbers than it announces: the file is cut off or damaged; save it anew")
        self._at += step
        return start

    def ints(self, n: int) -> np.ndarray:
        """Return n integers (binary: int32) as int64."""
        return self._whole(n, np.dtype(np.int32))

    def sizes(self, n: int) -> np.ndarray:
        """Return n counts or numbers (binary: size_t) as int64."""
        values = self._whole(n, self._unsigned)
        if n and values.min() < 0:
            self.fail(f"holds the number {values.min()} where none below 0 can be; save it anew")
        return values

    def size(self) -> int:
        return int(self.sizes(1)[0])

    def skip_floats(self, n: int) -> None:
        self.skip(n, 8)

    def _whole(self, n: int, dtype: np.dtype) -> np.ndarray:
        start = self.skip(n, dtype.itemsize)
        if self.binary:
            return np.frombuffer(self.content, dtype, n, start).astype(np.int64)
        return self.whole_numbers(self._words[start : start + n])

    def whole_numbers(self, words: list[bytes]) -> np.ndarray:
        try:
            return np.array([int(word) for word in words], dtype=np.int64)
        except (ValueError, OverflowError):
            bad = next(word for word in words if not re.fullmatch(rb"[-+]?\d{1,18}", word))
            self.fail(f"holds {_shown(bad)} where a whole number should be; save it anew")

    def header_22(self) -> int:
        """Return the count that opens a 2.2 section: text, in binary files too."""
        line, _, rest = self.content.partition(b"\n")
        if not re.fullmatch(rb"\s*\d{1,18}\s*", line):
            self.fail(f"begins with {_shown(line)} where a count should be; save it anew")
        self.content = rest
        self._words = self._words[1:]
        return int(line)

    def finish(self) -> None:
        """Check that only a line break is left."""
        left = self.content[self._at :].strip(b"\r\n") if self.binary else self._words[self._at :]
        if left:
            self.fail("holds more than it announces: its counts are wrong; save it anew")


# ---- numbers and groups ----------------------------------------------------------------------------------------------


class _Rows:
    """Cells as they are met: numbers, types, entities, groups, and the nodes they name."""

    def __init__(self) -> None:
        self.ids: list[np.ndarray] = []
        self.types: list[np.ndarray] = []
        self.entities: list[np.ndarray] = []
        self.backward: list[np.ndarray] = []
        self.groups: dict[tuple[int, int], list[np.ndarray]] = {}
        self.nodes: list[np.ndarray] = []
        self.partitioned = False
        self.count = 0

    def add(
        self, kind: int, ids: np.ndarray, nodes: np.ndarray, entities: np.ndarray, backward: bool = False
    ) -> np.ndarray:
        """Take a run of cells of one type; gives their indices."""
        n = len(ids)
        self.ids.append(ids)
        self.types.append(np.full(n, kind))
        self.entities.append(entities)
        self.backward.append(np.full(n, backward, dtype=np.int64))
        self.nodes.append(nodes)
        self.count += n
        return np.arange(self.count - n, self.count)

    def into(self, dimension: int, tag: int, cells: np.ndarray) -> None:
        if tag:
            self.groups.setdefault((dimension, abs(int(tag))), []).append(cells)

    def check_nodes(self, node_ids: np.ndarray, where: str) -> None:
        for ids, nodes in zip(self.ids, self.nodes, strict=True):
            known = np.isin(nodes, node_ids)
            if not known.all():
                i, j = np.argwhere(~known)[0]
                raise MeshError(
                    f"{where}: cell {ids[i]} names node {nodes[i, j]}, which $Nodes does not hold; save it anew"
                )


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _check_numbers(node_ids: np.ndarray, where: str) -> None:
    if not len(node_ids):
        raise MeshError(f"{where}: the mesh has no nodes; mesh the curves before saving (Gmsh: Mesh > 1D)")
    if node_ids.min() < 1:
        raise MeshError(f"{where}: node number {node_ids.min()}; Gmsh counts from 1")
    values, counts = np.unique(node_ids, return_counts=True)
    if counts.max() > 1:
        twice = values[np.argmax(counts > 1)]
        raise MeshError(
            f"{where}: node number {twice} is given {counts.max()} times; renumber (Gmsh: RenumberMeshNodes;)"
        )
    # meshio allocates a table of this length
    if node_ids.max() > max(_LARGEST_NUMBER, 100 * len(node_ids)):
        raise MeshError(
            f"{where}: node number {node_ids.max()} for {len(node_ids)} nodes; renumber (Gmsh: RenumberMeshNodes;)"
        )


def _known_type(cursor: _Cursor, kind: int) -> tuple[str, int, int]:
    if kind not in CELL_TYPES:
        cursor.fail(f"holds cells of the Gmsh type {kind}, which is not known here; save lines of order 1 or 2 only")
    return CELL_TYPES[kind]


def _nodes_22(cursor: _Cursor) -> np.ndarray:
    count = cursor.header_22()
    if cursor.binary:
        record = np.dtype([("id", "i4"), ("x", "f8", 3)])
        start = cursor.skip(count, record.itemsize)
        ids = np.frombuffer(cursor.content, record, count, start)["id"].astype(np.int64)
        cursor.finish()
    else:
        rows = [line.split() for line in cursor.content.split(b"\n") if line.strip()]
        wrong = next((i for i, row in enumerate(rows) if len(row) != 4), None)
        if wrong is not None:
            cursor.fail(f"has the row {_shown(b' '.join(rows[wrong]))}, not a number and three coordinates; mend it")
        if len(rows) != count:
            cursor.fail(f"announces {count} nodes and holds {len(rows)}; save it anew")
        ids = cursor.whole_numbers([row[0] for row in rows])
    return ids


def _rows_22_ascii(cursor: _Cursor) -> _Rows:
    """Return one line per cell: number, type, number of tags, tags (group, entity, partitions), nodes."""
    count = cursor.header_22()
    lines = [line for line in cursor.content.split(b"\n") if line.strip()]
    if len(lines) != count:
        cursor.fail(f"announces {count} cells and holds {len(lines)}; save it anew")
    rows, start = _Rows(), 0
    try:
        table = [[int(word) for word in line.split()] for line in lines]
    except ValueError:
        table = []
        cursor.ints(len(cursor._words))  # names the word that is not a number
    for row, line in zip(table, lines, strict=True):
        nodes = _known_type(cursor, row[1])[1] if len(row) > 2 else 0
        if not nodes or row[2] < 0 or len(row) != 3 + row[2] + nodes or max(map(abs, row)) >= 2**31:
            cursor.fail(f"has the row {_shown(line)}, which does not fit its type and its number of tags; mend it")
    while start < count:  # runs of rows of the same type and number of tags
        kind, tags = table[start][1:3]
        stop = start
        while stop < count and table[stop][1] == kind and table[stop][2] == tags:
            stop += 1
        part = np.array(table[start:stop], dtype=np.int64)
        _add_22(rows, kind, part[:, 0], part[:, 3 : 3 + tags], part[:, 3 + tags :])
        start = stop
    return rows


def _rows_22_binary(cursor: _Cursor) -> _Rows:
    """Return runs of cells: type, number of cells, number of tags; then per cell number, tags, nodes; all int32."""
    count = cursor.header_22()
    rows = _Rows()
    while rows.count < count:
        kind, n, tags = (int(v) for v in cursor.ints(3))
        nodes = _known_type(cursor, kind)[1]
        if n < 1 or tags < 0:
            cursor.fail(f"has a run of {n} cells with {tags} tags; save it anew")
        part = cursor.ints(n * (1 + tags + nodes)).reshape(n, -1)
        _add_22(rows, kind, part[:, 0], part[:, 1 : 1 + tags], part[:, 1 + tags :])
    if rows.count != count:
        cursor.fail(f"announces {count} cells and holds {rows.count}; save it anew")
    cursor.finish()
    return rows


def _add_22(rows: _Rows, kind: int, ids: np.ndarray, tags: np.ndarray, nodes: np.ndarray) -> None:
    entities = tags[:, 1] if tags.shape[1] > 1 else np.zeros(len(ids), dtype=np.int64)
    cells = rows.add(kind, ids, nodes, entities)
    if tags.shape[1] > 0:
        for tag in np.unique(tags[:, 0]):
            rows.into(CELL_TYPES[kind][2], tag, cells[tags[:, 0] == tag])
    rows.partitioned |= tags.shape[1] > 2


def _entities(cursor: _Cursor, partitioned: bool) -> dict[tuple[int, int], list[int]]:
    """Return (dimension, tag) -> tags of its physical groups; a negative tag uses the entity backwards."""
    if partitioned:
        cursor.sizes(1)  # number of partitions
        cursor.ints(2 * cursor.size())  # ghost entities
    entities = {}
    for dimension, count in enumerate(cursor.sizes(4)):
        for _ in range(count):
            tag = int(cursor.ints(1)[0])
            if partitioned:
                cursor.ints(2)  # dimension and tag of the parent
                cursor.ints(cursor.size())  # partitions
            cursor.skip_floats(6 if dimension else 3)  # bounding box or position
            entities[dimension, tag] = cursor.ints(cursor.size()).tolist()
            if dimension:
                cursor.ints(cursor.size())  # boundary
    cursor.finish()
    return entities


def _nodes_41(cursor: _Cursor) -> np.ndarray:
    blocks, total, _, _ = (int(v) for v in cursor.sizes(4))
    parts = []
    for _ in range(blocks):
        parametric = int(cursor.ints(3)[2])
        if parametric:  # meshio refuses these
            cursor.fail("holds curve parameters with the coordinates; save it with Mesh.SaveParametric = 0")
        count = cursor.size()
        parts.append(cursor.sizes(count))
        cursor.skip_floats(3 * count)
    ids = _joined(parts)
    if len(ids) != total:
        cursor.fail(f"announces {total} nodes and holds {len(ids)}; save it anew")
    cursor.finish()
    return ids


def _rows_41(cursor: _Cursor, entities: dict[tuple[int, int], list[int]] | None) -> _Rows:
    """Return blocks of cells of one entity; without a section on entities no cell is in a group."""
    blocks, total, _, _ = (int(v) for v in cursor.sizes(4))
    rows = _Rows()
    for _ in range(blocks):
        dimension, entity, kind = (int(v) for v in cursor.ints(3))
        name, nodes, own = _known_type(cursor, kind)
        if own != dimension:
            cursor.fail(f"puts {name} cells into an entity of dimension {dimension}; save it anew")
        if entities is not None and (dimension, entity) not in entities:
            cursor.fail(
                f"names the entity {entity} of dimension {dimension}, which $Entities does not hold; save it anew"
            )
        tags = entities[dimension, entity] if entities is not None else []
        n = cursor.size()
        part = cursor.sizes(n * (1 + nodes)).reshape(n, 1 + nodes)
        backward = bool(tags) and max(tags) < 0
        cells = rows.add(kind, part[:, 0], part[:, 1:], np.full(n, entity), backward)
        for tag in tags:
            rows.into(dimension, tag, cells)
    if rows.count != total:
        cursor.fail(f"announces {total} cells and holds {rows.count}; save it anew")
    cursor.finish()
    return rows
