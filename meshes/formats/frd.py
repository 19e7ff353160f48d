"""Results files of CalculiX (.frd) in text: nodes, cells, and nodal values of its data sets.

Source of the format: the manual of CalculiX GraphiX, "Result Format" (K. Wittig).  A block begins with a line of its
own (2C nodes, 3C elements, 100C values), its lines with -1 (first of an entry), -2 (further ones), and ends with -3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.files import read_file
from fem_mbs.late import dataclass

__all__ = ["DataSet", "FrdFile", "read_frd"]

#: Number of an element type -> cell, nodes of the file in our order.
_TYPES: dict[int, tuple[str, Sequence[int]]] = {
    1: ("hexahedron", range(8)),
    2: ("wedge", range(6)),
    3: ("tetra", range(4)),
    4: ("hexahedron20", (*range(12), *range(16, 20), *range(12, 16))),
    5: ("wedge15", (*range(9), *range(12, 15), *range(9, 12))),
    6: ("tetra10", range(10)),
    7: ("triangle", range(3)),
    8: ("triangle6", range(6)),
    9: ("quad", range(4)),
    10: ("quad8", range(8)),
    11: ("line", range(2)),
    12: ("line3", (0, 2, 1)),
}
#: Format of a block -> width of whole numbers.
_WIDTHS = {0: 5, 1: 10}
_FLOAT = 12


@dataclass(frozen=True, eq=False)
class DataSet:
    """Values at the nodes: quantity as the file names it ("DISP"), step and number of the data set from 1, its value
    (time, or frequency [Hz] of modes), ``kind`` ("static", "time", "frequency", "load"), values (n, k), NaN at nodes
    without any."""

    quantity: str
    step: int
    number: int
    value: float
    kind: str
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class FrdFile:
    """Contents of a file: point_ids (n,), x (n, 3), cells (kind, nodes (m, k), numbers (m,)), data sets in order."""

    point_ids: np.ndarray
    x: np.ndarray
    cells: list[tuple[str, np.ndarray, np.ndarray]]
    sets: list[DataSet] = field(default_factory=list)


class _Lines:
    """Lines of a file with their numbers."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines, self.at = path, text.splitlines(), 0

    def fail(self, what: str) -> MeshError:
        return MeshError(f"{self.path.name}, line {self.at}: {what}; the file may be cut off or damaged")

    def next(self) -> str:
        if self.at >= len(self.lines):
            raise self.fail("the file ends within a block")
        self.at += 1
        return self.lines[self.at - 1]

    def block(self) -> list[str]:
        """Return the lines up to the end of a block, which are then read."""
        end = next((k for k in range(self.at, len(self.lines)) if self.lines[k][:3] == " -3"), None)
        if end is None:
            self.at = len(self.lines)
            raise self.fail("the file ends within a block")
        found, self.at = self.lines[self.at : end], end + 1
        return found

    def width(self, head: str) -> int:
        """Return the width of whole numbers of a block, whose first line ends with its format."""
        form = head.split()[-1]
        if form not in ("0", "1"):
            raise MeshError(
                f"{self.path.name}, line {self.at}: the block is binary; let CalculiX write text, by *NODE FILE and "
                "*EL FILE instead of *NODE OUTPUT and *ELEMENT OUTPUT"
            )
        return _WIDTHS[int(form)]

    def whole(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise self.fail(f"{text.strip()!r} is no whole number") from None

    def number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise self.fail(f"{text.strip()!r} is no number") from None

    def table(self, rows: list[str], width: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return whole numbers (m,) and ``count`` numbers (m, count) of lines of nodes."""
        size = 3 + width + _FLOAT * count
        letters = (
            np.array([row[:size].encode("ascii", "replace") for row in rows], f"S{size}")
            .view("S1")
            .reshape(len(rows), size)
        )

        def column(first: int, wide: int) -> np.ndarray:
            return np.ascontiguousarray(letters[:, first : first + wide]).view(f"S{wide}").ravel()

        try:
            ids = column(3, width).astype(np.int64)
            values = [column(3 + width + _FLOAT * k, _FLOAT).astype(float) for k in range(count)]
        except ValueError as error:
            raise self.fail(f"in the block before: {error}") from None
        return ids, np.array(values).reshape(count, -1).T


def read_frd(path: str | Path, quantity: str = "DISP") -> FrdFile:
    """Return nodes, cells and the data sets of a quantity in a results file of CalculiX.

    Raises:
        MeshError: there is no such file, it is binary, cut off or damaged, with its line.
    """
    path = Path(path)
    try:
        text = read_file(path).decode("latin-1")
    except OSError as error:
        raise MeshError(f"{path}: the file cannot be read ({error.strerror})") from None
    lines = _Lines(path, text)
    ids, x = np.empty(0, np.int64), np.empty((0, 3))
    cells: list[tuple[str, np.ndarray, np.ndarray]] = []
    sets: list[DataSet] = []
    step = 0
    while lines.at < len(lines.lines):
        head = lines.next()
        word = head[:6].strip()
        if word == "2C":
            ids, x = _nodes(lines, lines.width(head))
        elif word == "3C":
            cells = _cells(lines, lines.width(head), ids)
        elif word == "1PSTE" or head[4:10] == "1PSTEP":
            step = lines.whole(head.split()[-1])
        elif word.startswith("100C"):
            found = _data_set(lines, head, step, ids, quantity)
            sets += [found] if found is not None else []
        elif head.startswith(" 9999"):
            break
    if not len(ids):
        raise MeshError(f"{path.name}: the file has no nodes; it is no results file of CalculiX, or cut off")
    return FrdFile(ids, x, cells, sets)


def _nodes(lines: _Lines, width: int) -> tuple[np.ndarray, np.ndarray]:
    ids, x = lines.table(lines.block(), width, 3)
    order = np.argsort(ids, kind="stable")
    return ids[order], x[order]


def _cells(lines: _Lines, width: int, ids: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    tables: dict[int, list[list[int]]] = {}
    numbers: dict[int, list[int]] = {}
    current: list[int] = []
    for line in lines.block():
        if line[:3] == " -1":
            number, type_ = lines.whole(line[3 : 3 + width]), lines.whole(line[3 + width : 8 + width])
            if type_ not in _TYPES:
                raise lines.fail(f"element type {type_} is not known")
            current = []
            tables.setdefault(type_, []).append(current)
            numbers.setdefault(type_, []).append(number)
        else:
            row = line[3:].rstrip()
            current += [lines.whole(row[k : k + width]) for k in range(0, len(row), width)]
    found = []
    for type_, rows in tables.items():
        kind, order = _TYPES[type_]
        bad = next((n for n, row in zip(numbers[type_], rows, strict=True) if len(row) != len(order)), None)
        if bad is not None:
            raise lines.fail(f"element {bad} has not {len(order)} nodes")
        table = np.array(rows, np.int64)[:, list(order)]
        at = np.minimum(np.searchsorted(ids, table), max(len(ids) - 1, 0))
        if not len(ids) or (ids[at] != table).any():
            raise lines.fail("an element has a node that the file lacks")
        found.append((kind, at, np.array(numbers[type_], np.int64)))
    return found


def _data_set(lines: _Lines, head: str, step: int, ids: np.ndarray, quantity: str) -> DataSet | None:
    """Return the data set if it is of the quantity, else pass over it."""
    width = lines.width(head)
    value = lines.number(head[12:24])
    kinds = {"0": "static", "1": "time", "2": "frequency", "3": "load"}
    kind = kinds.get(head[56:58].strip(), "static")
    number = lines.whole(head[58:63])
    rows = lines.block()
    name = rows[0].split()[1] if rows and rows[0][:3] == " -4" and len(rows[0].split()) > 1 else ""
    if not name:
        raise lines.fail("the data set before has no name")
    if name != quantity:
        return None
    given = [row.split() for row in rows if row[:3] == " -5"]
    components = sum(len(words) < 7 or words[6] == "0" for words in given)  # others the reader computes
    own, table = lines.table([row for row in rows if row[:3] == " -1"], width, components)
    at = np.minimum(np.searchsorted(ids, own), max(len(ids) - 1, 0))
    if not len(ids) or (ids[at] != own).any():
        raise lines.fail("the data set before has a node that the file lacks")
    values = np.full((len(ids), components), np.nan)
    values[at] = table
    return DataSet(name, step, number, value, kind, values)
